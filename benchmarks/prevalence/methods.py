"""How does each estimator of a prevalence do if its assumptions hold, and if they do not?

    python benchmarks/prevalence/methods.py                 # 1,000 tables a setting
    python benchmarks/prevalence/methods.py --study shift   # one of designs, shift, weak, systems

Four studies of 1000 test items, all intervals at 95 %:

- ``designs``: six ways to come by labels. The posterior is shown under each design that a user can
  declare, right or wrong; the closed forms and two other packages, `judgy` and `ppi_py` (where
  they are installed), have nothing to declare.
- ``shift``: half of the test items are good, but 25 to 75 % of the labelled ones (Lee et al.,
  Figure 5; specificity .7, sensitivity .9, 200 labels).
- ``weak``: judges whose sensitivity + specificity - 1 goes down to 0; 200 labels, half of each
  kind. What counts is that an interval is wide, and that a caution says why.
- ``systems``: five systems under one judge, one of them without labels (each in turn). The judge's
  rates are the same for all, or differ from system to system as they do on XSTest. Sampled with
  NUTS, so that there are a tenth as many tables.

Writes to benchmarks/prevalence/results: ``methods_STUDY.csv``, and of all four together
``methods.md`` and ``.png``.

Quick: ``--replications 50 --study shift --workers 1``

Found: the posterior under the design that is declared truthfully covers .948 to .986; declared
wrongly, down to 0. Under label shift Rogan-Gladen is biased by .008 at most and the posterior with
labels by truth by .022, all others by .10 to .25. With a judge no better than chance eq. (6) has no
answer for half of the tables, where the posterior's interval is .98 wide.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from bayesjudge import Estimate, Quantity, datasets, lab, prevalence

RESULTS = Path(__file__).parent / "results"
SEED, TEST_ITEMS, AT_ONCE, CI_PROB = 20_271, 1000, 50, 0.95
#: How labels came about, with the share of good ones where they are no sample of the test items.
DESIGNS = pd.DataFrame(
    [
        ("random", "random", 200, np.nan, 0.7, 0.9, 0.7),
        ("random, judge passes all", "random", 200, np.nan, 0.9, 0.96, 0.25),
        ("random, 40 labels", "random", 40, np.nan, 0.7, 0.9, 0.7),
        ("other source, fewer good", "shifted", 200, 0.4, 0.7, 0.9, 0.7),
        ("50 good, 50 bad", "balanced", 100, 0.5, 0.9, 0.95, 0.6),
        ("50 passes, 50 fails", "by_verdict", 100, np.nan, 0.9, 0.95, 0.6),
    ],
    columns=["design", "drawn", "labels", "good", "prevalence", "sensitivity", "specificity"],
)
#: The design that a user who knows how the labels came about declares.
DECLARED = {
    "random": "random",
    "shifted": "separate",
    "balanced": "by_truth",
    "by_verdict": "by_verdict",
}
WEAK = [0.0, 0.05, 0.1, 0.2, 0.3, 0.5]


def draw(setting: Mapping[str, Any], rng: np.random.Generator) -> prevalence.Counts:
    """Draw `AT_ONCE` tables as so many systems; they declare the design that is right."""
    shape, m = AT_ONCE, int(setting["labels"])
    theta, q1, q0 = (setting[name] for name in ("prevalence", "sensitivity", "specificity"))
    if setting["drawn"] == "by_verdict":  # from among the items themselves, so many of each verdict
        passed = rng.binomial(TEST_ITEMS, theta * q1 + (1 - theta) * (1 - q0), shape)
        ppv = theta * q1 / (theta * q1 + (1 - theta) * (1 - q0))
        npv = (1 - theta) * q0 / ((1 - theta) * q0 + theta * (1 - q1))
        hits, caught = rng.binomial(m // 2, ppv, shape), rng.binomial(m // 2, npv, shape)
        cells = (hits + m // 2 - caught, hits, caught + m // 2 - hits, caught)
        test = (np.full(shape, TEST_ITEMS - m), passed - m // 2)
    else:
        good = np.full(shape, round(m * setting["good"]))
        if setting["drawn"] == "shifted":
            good = rng.binomial(m, setting["good"], shape)
        elif setting["drawn"] == "random":
            good = rng.binomial(m, theta, shape)
        cells = (good, rng.binomial(good, q1), m - good, rng.binomial(m - good, q0))
        test = (
            np.full(shape, TEST_ITEMS),
            rng.binomial(TEST_ITEMS, theta * q1 + (1 - theta) * (1 - q0), shape),
        )
    names = tuple(f"table {i}" for i in range(shape))
    return prevalence.Counts(*test, *cells, calibration=DECLARED[setting["drawn"]], systems=names)


def as_if(counts: prevalence.Counts, calibration: str, method: Callable[..., Estimate]) -> Estimate:
    """Apply a method as if the labels had come about in another way."""
    return method(replace(counts, calibration=calibration))


def each(counts: prevalence.Counts, method: Callable[..., tuple[float, float, float]]) -> Estimate:
    """Apply another package's method, which reads arrays, to one table after another."""
    found = []
    for name in counts.systems or ():
        one = counts.system(name)
        truth = np.repeat([1, 0], [one.correct_n, one.incorrect_n])
        parts = (one.correct_pass, one.correct_n - one.correct_pass)
        more = (one.incorrect_n - one.incorrect_fail, one.incorrect_fail)
        verdict = np.repeat([1, 0, 1, 0], [*parts, *more])
        unlabelled = np.repeat([1, 0], [one.test_pass, one.test_n - one.test_pass])
        try:
            found.append(method(truth, verdict, unlabelled))
        except ValueError:  # refused
            found.append((np.nan, np.nan, np.nan))
    made = Quantity.over(tuple(np.array(found).T), {"system": counts.systems or ()})
    return Estimate({"prevalence": made}, method="peer", ci_prob=CI_PROB, source="its own")


def judgy(truth: np.ndarray, verdict: np.ndarray, unlabelled: np.ndarray) -> Any:
    """Rogan-Gladen with judgy's bootstrap of the labelled items, 500 resamples for speed."""
    from judgy import estimate_success_rate

    np.random.seed(SEED)  # noqa: NPY002 - the generator that judgy draws from
    return estimate_success_rate(truth, verdict, unlabelled, bootstrap_iterations=500)


def ppi_py(truth: np.ndarray, verdict: np.ndarray, unlabelled: np.ndarray) -> Any:
    """PPI++ as its authors wrote it."""
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    arrays = [part.astype(float) for part in (truth, verdict, unlabelled)]
    low, high = ppi_mean_ci(*arrays, alpha=1 - CI_PROB)
    return (*np.ravel(ppi_mean_pointestimate(*arrays)), *np.ravel(low), *np.ravel(high))


def five() -> dict[str, Callable[..., Estimate]]:
    """List the estimators of Lee et al., Table 1, as if nobody had asked how labels were drawn."""
    made: dict[str, Callable[..., Estimate]] = {
        "(i) judge's pass rate": prevalence.naive,
        "(ii) labels only": prevalence.human_only,
        "(iii) difference, PPI": partial(prevalence.difference, g="identity"),
        "(iii) difference, PPI++": prevalence.difference,
        "(iv) conditional calibration": prevalence.conditional_calibration,
        "(v) Rogan-Gladen": prevalence.rogan_gladen,
        "(v) with bootstrap": partial(prevalence.bootstrap, resamples=1000),
    }
    return made


def posterior(calibration: str) -> Callable[..., Estimate]:
    """Return the exact posterior of one declared design, boundary-extended if that is defined."""
    kind = "eti" if calibration == "by_verdict" else "eti_bounded"
    return partial(as_if, calibration=calibration, method=partial(prevalence.exact, interval=kind))


def peers() -> dict[str, Callable[..., Estimate]]:
    """Other packages, where they are installed."""
    both = {"judgy": judgy, "ppi_py": ppi_py}
    found = {name: partial(each, method=one) for name, one in both.items() if find_spec(name)}
    for name in sorted(both.keys() - found.keys()):
        print(f"{name} is not installed: its row is left out")
    return found


def designs(replications: int, **how: Any) -> pd.DataFrame:
    """Every method under six ways to come by labels."""
    methods = {
        **{name: partial(as_if, calibration="random", method=one) for name, one in five().items()},
        "post-stratified": partial(
            as_if, calibration="by_verdict", method=prevalence.post_stratified
        ),
        **peers(),
        "posterior, random": posterior("random"),
        "posterior, by_truth": posterior("by_truth"),
        "posterior, by_verdict": posterior("by_verdict"),
    }
    settings = DESIGNS.fillna({"good": -1}).to_dict("records")
    return _covered("designs", methods, settings, replications, **how)


def shift(replications: int, **how: Any) -> pd.DataFrame:
    """Lee et al., Figure 5: the labelled items have another share of good ones."""
    same = {"drawn": "shifted", "labels": 200, "prevalence": 0.5, "sensitivity": 0.9}
    settings = [
        {**same, "specificity": 0.7, "good": good} for good in (0.25, 0.375, 0.5, 0.625, 0.75)
    ]
    methods = {
        **{name: partial(as_if, calibration="random", method=one) for name, one in five().items()},
        "posterior, random": posterior("random"),
        "posterior, by_truth": posterior("by_truth"),
    }
    return _covered("shift", methods, settings, replications, **how)


def weak(replications: int, **how: Any) -> pd.DataFrame:
    """Judges from useless to middling, at two prevalences."""
    settings = [
        {
            "drawn": "balanced",
            "labels": 200,
            "good": 0.5,
            "prevalence": theta,
            "sensitivity": 0.5 + youden / 2,
            "specificity": 0.5 + youden / 2,
        }
        for youden in WEAK
        for theta in (0.2, 0.9)
    ]
    methods: dict[str, Callable[..., Estimate]] = {
        "(i) judge's pass rate": prevalence.naive,
        "(v) Rogan-Gladen": prevalence.rogan_gladen,
        "(v) with bootstrap": partial(prevalence.bootstrap, resamples=1000),
        "posterior, by_truth": posterior("by_truth"),
    }
    return _covered("weak", methods, settings, replications, **how)


def xstest_rates() -> pd.DataFrame:
    """Rates of five systems, as people and GPT-4 saw them: index system, a column a rate."""
    seen = datasets.xstest_counts()
    good, bad = seen["tp"] + seen["fn"], seen["fp"] + seen["tn"]
    rates = {"prevalence": good / (good + bad), "sensitivity": seen["tp"] / good}
    return pd.DataFrame({**rates, "specificity": seen["tn"] / bad})


def rates_of(setting: Mapping[str, Any]) -> pd.DataFrame:
    """Take the true rates of a setting: as on XSTest, or the judge's the same for all."""
    rates = xstest_rates()
    if setting["judge"] == "same for all":
        rates[["sensitivity", "specificity"]] = 0.9, 0.7
    return rates


def draw_systems(setting: Mapping[str, Any], rng: np.random.Generator) -> prevalence.Counts:
    """Draw 390 answers of each system and 60 labelled ones, of the new system none."""
    rates = rates_of(setting)
    theta, q1, q0 = rates.to_numpy().T
    labels = np.where(rates.index == setting["new"], 0, 60)
    good = rng.binomial(labels, theta)
    return prevalence.Counts(
        test_n=np.full(5, 390),
        test_pass=rng.binomial(390, theta * q1 + (1 - theta) * (1 - q0)),
        correct_n=good,
        correct_pass=rng.binomial(good, q1),
        incorrect_n=labels - good,
        incorrect_fail=rng.binomial(labels - good, q0),
        calibration="random",
        systems=tuple(rates.index),
    )


def true_prevalences(setting: Mapping[str, Any]) -> dict[str, float]:
    """By the names that an estimate has."""
    return {f"prevalence[{name}]": value for name, value in rates_of(setting)["prevalence"].items()}


def systems(replications: int, **how: Any) -> pd.DataFrame:
    """Several systems, the judge's rates partially pooled."""
    settings = [
        {"judge": judge, "new": name}
        for judge in ("same for all", "as on XSTest")
        for name in xstest_rates().index
    ]
    # pooled fully, the model refuses a system without labels
    sampled = partial(prevalence.fit, cores=1, progress=False)
    methods = {"partial pooling": partial(sampled, model=prevalence.PooledErrorRates())}
    study = lab.coverage(
        methods,
        settings,
        draw_data=draw_systems,
        truth=true_prevalences,
        replications=replications // 10,
        batch=10,
        random_seed=SEED,
        path=RESULTS / "methods_systems.jsonl",
        **how,
    )
    table = study.table
    new = table["quantity"] == "prevalence[" + table["new"] + "]"
    return table.assign(which=np.where(new, "without labels", "with 60 labels"))


def _covered(
    name: str,
    methods: Mapping[str, Callable[..., Any]],
    settings: list[dict[str, Any]],
    replications: int,
    **how: Any,
) -> pd.DataFrame:
    study = lab.coverage(
        methods,
        settings,
        draw_data=draw,
        truth=only_prevalence,
        replications=replications // AT_ONCE,
        batch=1,
        random_seed=SEED,
        path=RESULTS / f"methods_{name}.jsonl",
        **how,
    )
    return study.table


def only_prevalence(setting: Mapping[str, Any]) -> dict[str, float]:
    """Only the prevalence is compared."""
    return {"prevalence": setting["prevalence"]}


STUDIES = {"designs": designs, "shift": shift, "weak": weak, "systems": systems}
#: Which declared design claims which way to come by labels.
CLAIMS = {
    "posterior, random": ("random", "random, judge passes all", "random, 40 labels"),
    "posterior, by_truth": ("other source, fewer good", "50 good, 50 bad"),
    "posterior, by_verdict": ("50 passes, 50 fails",),
}


def grid_of(table: pd.DataFrame, column: str, shown: Callable[[pd.Series], str]) -> str:
    """Write a Markdown table: a row a method, a column a setting."""
    cells = table.assign(cell=table.apply(shown, axis=1)).pivot(
        index="method", columns=column, values="cell"
    )
    cells = cells.loc[table["method"].drop_duplicates(), table[column].drop_duplicates()]
    head = [
        f"| method | {' | '.join(map(str, cells.columns))} |",
        "|---" * (len(cells.T) + 1) + "|",
    ]
    return "\n".join(
        [*head, *(f"| {name} | {' | '.join(row)} |" for name, *row in cells.itertuples())]
    )


def both(row: pd.Series) -> str:
    """Coverage and width, and the share of tables without an answer where there are any."""
    if row["n"] == 0:
        return "no answer"
    silent = f" ({row['unanswered']:.0%} no answer)" if row["unanswered"] > 0.0005 else ""
    return f"{row['coverage']:.3f} / {row['width']:.3f}{silent}"


def text_of(found: Mapping[str, pd.DataFrame]) -> str:
    """Write down what was found."""
    error = {
        name: np.sqrt(
            CI_PROB * (1 - CI_PROB) / (table["n"] + table["n"] * table["unanswered"]).max()
        )
        for name, table in found.items()
    }
    designs, shifted, weakest = (found[name] for name in ("designs", "shift", "weak"))
    own = [
        designs[(designs["method"] == method) & designs["design"].isin(claims)]["coverage"]
        for method, claims in CLAIMS.items()
    ]
    claimed = pd.concat(own)
    best = designs[designs["method"].isin(CLAIMS)]["coverage"].min()
    biases = shifted.pivot(index="method", columns="good", values="bias")
    several = found["systems"].groupby(["judge", "which", "method"], sort=False)
    table = several.agg(
        coverage=("coverage", "mean"), least=("coverage", "min"), width=("width", "mean")
    ).reset_index()
    rows = [
        f"| {r.judge} | {r.which} | {r.method} | {r.coverage:.3f} | {r.least:.3f} | {r.width:.3f} |"
        for r in table.itertuples()
    ]
    useless = weakest[weakest["sensitivity"] <= 0.5 + min(WEAK) / 2]
    widths = useless[useless["method"] == "posterior, by_truth"]["width"]
    silent = useless[useless["method"] == "(v) Rogan-Gladen"]["unanswered"]
    largest = biases.abs().max(axis=1)
    others = largest.drop([name for name in largest.index if name.startswith("(v)")])
    others = others.drop("posterior, by_truth")
    weakest = weakest.assign(
        case=[
            f"J={2 * q - 1:.2f}, θ={t:g}"
            for q, t in zip(weakest["sensitivity"], weakest["prevalence"], strict=True)
        ]
    )
    return f"""# Every method where its assumptions hold, and where they do not

Made by `python benchmarks/prevalence/methods.py`. Cells are coverage / mean width of 95 %
intervals. The Monte Carlo error of a coverage of .95 is {error["designs"]:.3f} in the first table,
{error["shift"]:.3f} under shift and with weak judges, {error["systems"]:.3f} for one of several
systems.

## How the labels came about

{grid_of(designs, "design", both)}

The posterior under the design that is declared truthfully covers {claimed.min():.3f} to
{claimed.max():.3f}; declared wrongly, down to {best:.3f}. Nothing but knowing how the labels were
drawn tells which column one is in.

## Labels from a source with another share of good items (bias)

Half of the test items are good; columns are the share among the labelled ones (Lee et al., Fig. 5).

{grid_of(shifted, "good", lambda row: f"{row['bias']:+.3f}")}

Largest bias of Rogan-Gladen {largest["(v) Rogan-Gladen"]:.3f}, of the posterior with labels
declared `by_truth` {largest["posterior, by_truth"]:.3f}; of the others {others.min():.3f} to
{others.max():.3f}. Coverage and width:

{grid_of(shifted, "good", both)}

## Weak judges

J = sensitivity + specificity - 1; 100 good and 100 bad labels.

{grid_of(weakest, "case", both)}

At J = 0 the posterior's interval is {widths.min():.2f} to {widths.max():.2f} wide; eq. (6) gives
none in {silent.min():.0%} to {silent.max():.0%} of the tables. Which method raised which caution,
and how often, is in `methods_weak.csv`.

## Several systems under one judge

Means over five systems, or over the five that are each the new one; `least` is the worst system.
A system without labels gets an interval that allows for a judge who behaves differently there.

| judge's rates | system | pooling | coverage | least | width |
|---|---|---|---|---|---|
{chr(10).join(rows)}
"""


def draw_figure(found: Mapping[str, pd.DataFrame]) -> plt.Figure:
    """Coverage by design, bias by shift, width by strength of the judge."""
    figure = plt.figure(figsize=(9, 10.5), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=[5, 4])
    draw_coverage(found["designs"], above.subplots())
    left, right = below.subplots(1, 2)
    draw_bias(found["shift"], left)
    draw_width(found["weak"][found["weak"]["prevalence"] == 0.9], right)
    handles, labels = left.get_legend_handles_labels()
    below.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return figure


def draw_coverage(table: pd.DataFrame, ax: Any) -> None:
    """A cell for each method and design, red where coverage is far from what was asked."""
    cells = table.pivot(index="method", columns="design", values="coverage")
    cells = cells.loc[table["method"].unique(), table["design"].unique()]
    ax.imshow((cells - CI_PROB).abs().fillna(0), cmap="Reds", vmin=0, vmax=2, aspect="auto")
    for (i, j), value in np.ndenumerate(cells.to_numpy()):
        ax.text(j, i, "–" if np.isnan(value) else f"{value:.2f}", ha="center", va="center")
    ax.set_xticks(range(cells.shape[1]), [name.replace(", ", ",\n") for name in cells.columns])
    ax.set_yticks(range(cells.shape[0]), cells.index)
    ax.tick_params(length=0)
    ax.set_title("Coverage of 95 % intervals, by how labels were chosen", loc="left")


def draw_bias(table: pd.DataFrame, ax: Any) -> None:
    for i, (method, part) in enumerate(table.groupby("method", sort=False)):
        ours = method == "posterior, by_truth"
        how = {"color": f"C{i % 10}", "ls": "--" if i % 2 else "-", "lw": 3 if ours else 1.3}
        ax.plot(part["good"], part["bias"], label=method, **how)
    ax.axhline(0, color="k", lw=0.8)
    ax.set_title("Bias of the share of good outputs (.5)", loc="left")
    ax.set_xlabel("share of good items among the labelled")


def draw_width(table: pd.DataFrame, ax: Any) -> None:
    for i, (method, part) in enumerate(table.groupby("method", sort=False)):
        ax.plot(2 * part["sensitivity"] - 1, part["width"], "o-", color=f"C{i}", label=method)
        if method == "posterior, by_truth":
            for row in part.itertuples():
                place = (2 * row.sensitivity - 1 + 0.01, row.width + 0.02)
                ax.annotate(f"{row.coverage:.2f}", place)
    ax.set_title("Mean width; numbers: the posterior's coverage", loc="left")
    ax.set_xlabel("sensitivity + specificity - 1")
    ax.legend(frameon=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=1000, help=f"multiple of {AT_ONCE}")
    parser.add_argument("--study", choices=list(STUDIES), action="append", help="all by default")
    parser.add_argument("--workers", type=int, help="processes; all cores by default")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    parser.add_argument("--redraw", action="store_true", help="text and picture from the tables")
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    files = {name: RESULTS / f"methods_{name}.csv" for name in STUDIES}
    for name in () if asked.redraw else asked.study or STUDIES:
        begin = time.perf_counter()
        table = STUDIES[name](asked.replications, workers=asked.workers, resume=not asked.fresh)
        table.to_csv(files[name], index=False, float_format="%.4g")
        print(f"{name}: {time.perf_counter() - begin:.0f} s", flush=True)
    if not all(file.exists() for file in files.values()):
        return
    found = {name: pd.read_csv(file) for name, file in files.items()}
    text = text_of(found)
    (RESULTS / "methods.md").write_text(text, encoding="utf-8")
    draw_figure(found).savefig(RESULTS / "methods.png", dpi=110)


if __name__ == "__main__":
    main()
