"""Does the overall interval of strata cover, and does splitting a table move the answer?

    python benchmarks/prevalence/strata.py                # 1,000 tables a setting, 20 of `exact`
    python benchmarks/prevalence/strata.py --rule         # how many labels `exact` needs
    python benchmarks/prevalence/strata.py --pooled       # few labels, by `fit` with pooled priors

Nominal 95 %. 4,000 test items and 1,600 labels (half of them of good items, or a random sample) in
1, 5, 20 or 100 strata of equal size. ``alike``: all strata have the same prevalence and judge, as
after a split at random; ``unlike``: both differ from stratum to stratum. ``before`` is the overall
row as it was: each stratum clipped and with a weight of its own, the ends combined by MOVER.

``--rule``: the overall value of `exact`, given whatever the rule says, in 2, 5 and 20 strata with
labels in proportion to the number of strata (strata_rule.csv, a row a table). ``--pooled``: 20
strata of 200 items, prevalence .03, 40 good and 40 bad labels each (strata_pooled.csv, a row a
table). Both write as they go and go on after the last row.

Writes to benchmarks/prevalence/results: strata.csv and strata.md.

Quick: ``--runs 4 --exact-runs 1``

Found: with 300 tables a setting, Rogan-Gladen covers .94 or more whatever the number of strata
(before: .51 in 20 strata alike at a prevalence of .03, and nothing in 100), PPI++ .90 or more (.47
before, in 100). With 100 S labels in each of S strata the overall value of `exact` covers 106 of
112 tables (55 of 57 where the prevalence is .03), with 25 S only 51 of 57 at .03, and with 400 S
106 of 112: no more than 19 tables a setting, so that a few per cent cannot be told. At 20 strata of
200 items and 80 labels, `fit` with pooled priors covers 58 of 60, its mean .031 for .03.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pandas as pd

from bayesjudge import prevalence
from bayesjudge.core.intervals import z_score
from bayesjudge.truth import influence, inversion

exact_module = importlib.import_module("bayesjudge.prevalence.exact")

RESULTS = Path(__file__).parent / "results"
ITEMS, LABELS, SEED, Z = 4000, 1600, 20_282, z_score(0.95)
STRATA = (1, 5, 20, 100)
#: Design, prevalence, sensitivity and specificity.
SETTINGS = (
    ("by_truth", 0.03, 0.9, 0.9),
    ("by_truth", 0.03, 0.9, 0.7),
    ("by_truth", 0.3, 0.9, 0.9),
    ("random", 0.03, 0.9, 0.9),
    ("random", 0.3, 0.9, 0.9),
    ("random", 0.3, 1.0, 1.0),
)


class Table(NamedTuple):
    """Counts of one table, one entry a stratum, and what is true of it."""

    counts: prevalence.Counts
    truth: float


def tables(setting: tuple[str, float, float, float], strata: int, unlike: bool) -> Iterator[Table]:
    """Draw tables without end."""
    design, theta, hit, caught = setting
    rng = np.random.default_rng([SEED, strata])
    n, m = ITEMS // strata, LABELS // strata
    step = np.linspace(-1, 1, strata) if unlike and strata > 1 else np.zeros(strata)
    good = theta * (1 + 0.9 * step)
    q1, q0 = hit - 0.09 * np.abs(step[::-1]), caught - 0.09 * np.abs(step)
    names = [str(i) for i in range(strata)]
    while True:
        m1 = np.full(strata, m // 2) if design == "by_truth" else rng.binomial(m, good)
        rate = good * q1 + (1 - good) * (1 - q0)
        cells = (np.full(strata, n), rng.binomial(n, rate), m1, rng.binomial(m1, q1))
        cells += (m - m1, rng.binomial(m - m1, q0))
        counts = prevalence.Counts(*cells, calibration=design, systems=names, dim="stratum")
        yield Table(counts, float(good.mean()))


def rogan_gladen(c: prevalence.Counts) -> influence.Interval:
    """Make the overall row of `prevalence.rogan_gladen`, not clipped."""
    p, q0, q1 = (
        c.test_pass / c.test_n,
        c.incorrect_fail / c.incorrect_n,
        c.correct_pass / c.correct_n,
    )
    sizes = (c.test_n, c.incorrect_n, c.correct_n)
    raw = np.where(q0 + q1 > 1, inversion.invert(p, q0, q1), np.nan)
    _, low, high = inversion.lang_reiczigel(p, q0, q1, *sizes, Z, c.shares)
    bias = inversion.ratio_bias(c.shares, p, q0, q1, c.incorrect_n, c.correct_n)
    return influence.Interval(*(x - bias for x in influence.weighed(c.shares, raw, low, high)))


def difference(c: prevalence.Counts) -> influence.Interval:
    """Make the overall row of `prevalence.difference`, not clipped."""
    patterns = influence.of_verdicts(c.test_pass, c.test_n, _labels(c))
    parts, _ = influence.difference(*patterns, Z, shares=c.shares)
    return influence.weighed(c.shares, *parts)


def post_stratified(c: prevalence.Counts) -> influence.Interval:
    """Make the overall row of `prevalence.post_stratified`, not clipped."""
    passed, labelled = c.labelled_pass, c.labelled_n
    items, labels, good = (
        np.stack([passes, whole - passes], axis=-1)
        for passes, whole in (
            (c.test_pass + passed, c.test_n + labelled),
            (passed, labelled),
            (c.correct_pass, c.correct_n),
        )
    )
    parts = influence.post_stratified(items, labels, good, good, Z, share=c.shares)
    return influence.weighed(c.shares, *parts)


def before_rogan_gladen(c: prevalence.Counts) -> influence.Interval:
    """Each stratum clipped, then weighed."""
    p, q0, q1 = (
        c.test_pass / c.test_n,
        c.incorrect_fail / c.incorrect_n,
        c.correct_pass / c.correct_n,
    )
    raw = np.where(q0 + q1 > 1, inversion.invert(p, q0, q1), np.nan)
    found = inversion.lang_reiczigel(p, q0, q1, c.test_n, c.incorrect_n, c.correct_n, Z)
    return _mover(c.shares, raw, found.low, found.high)


def before_difference(c: prevalence.Counts) -> influence.Interval:
    """Each stratum weighed by its own labels and clipped, then all weighed."""
    n, m = c.test_n, c.labelled_n
    p, passed, good = c.test_pass / n, c.labelled_pass / m, c.correct_n / m
    covariance, pooled = (
        c.correct_pass / m - good * passed,
        (n * c.test_pass / n + m * passed) / (n + m),
    )
    spread = pooled * (1 - pooled) * (n + m) / (n + m - 1)
    best = np.divide(covariance, (1 + m / n) * spread, out=np.zeros(n.size), where=spread > 0)
    weight = np.clip(best, 0, 1)
    rest = good * (1 - good) + weight**2 * passed * (1 - passed) - 2 * weight * covariance
    half = Z * np.sqrt(weight**2 * p * (1 - p) / n + np.maximum(rest, 0) / m)
    value = weight * p + good - weight * passed
    return _mover(c.shares, value, value - half, value + half)


def _mover(shares: Any, *columns: Any) -> influence.Interval:
    value, low, high = (np.clip(x, 0, 1) for x in columns)
    below, above = (np.sqrt(np.sum((shares * (value - end)) ** 2)) for end in (low, high))
    whole = np.sum(shares * value)
    return influence.Interval(whole, whole - below, whole + above)


def _labels(c: prevalence.Counts) -> tuple[Any, ...]:
    missed, passed = c.correct_n - c.correct_pass, c.incorrect_n - c.incorrect_fail
    return c.correct_pass, missed, passed, c.incorrect_fail


def exact(c: prevalence.Counts) -> influence.Interval:
    """Make the overall row of `prevalence.exact`."""
    return influence.Interval(*prevalence.exact(c)["overall_prevalence"])


METHODS: dict[str, dict[str, Callable[[prevalence.Counts], influence.Interval]]] = {
    "by_truth": {
        "Rogan-Gladen, before": before_rogan_gladen,
        "Rogan-Gladen": rogan_gladen,
        "exact": exact,
    },
    "random": {
        "PPI++, before": before_difference,
        "PPI++": difference,
        "post-stratified": post_stratified,
        "exact": exact,
    },
}


def study(runs: int, exact_runs: int) -> pd.DataFrame:
    """One row a setting, number of strata and method."""
    rows = []
    for setting, unlike, strata in itertools.product(SETTINGS, (False, True), STRATA):
        if unlike and strata == 1:
            continue
        for name, method in METHODS[setting[0]].items():
            if name == "exact" and (strata == 100 or unlike):
                continue
            count = exact_runs if name == "exact" else runs
            drawn = itertools.islice(tables(setting, strata, unlike), count)
            found = np.array([(*method(t.counts), t.truth) for t in drawn])
            answered = found[~np.isnan(found[:, 0])]
            _, low, high, truth = np.clip(answered, 0, 1).T
            rows.append(
                {
                    **dict(zip(("design", "prevalence", "q1", "q0"), setting, strict=True)),
                    **{"kind": "unlike" if unlike else "alike", "strata": strata, "method": name},
                    **{"tables": count, "answered": len(answered) / count},
                    "covered": np.mean((low <= truth) & (truth <= high)) if len(truth) else np.nan,
                    "bias": np.mean(answered[:, 0] - truth) if len(truth) else np.nan,
                    "width": np.mean(high - low) if len(truth) else np.nan,
                }
            )
    return pd.DataFrame(rows)


#: Of `--rule`: prevalences, strata, labels a stratum over the number of strata.
RULE = tuple(itertools.product((0.03, 0.3), (2, 5, 20), (25, 100, 400)))


def rule_row(setting: tuple[float, int, int], number: int) -> dict[str, Any]:
    """Take the overall interval of `exact` for one table, the rule left aside."""
    theta, strata, times = setting
    rng = np.random.default_rng([SEED, round(theta * 100), strata, times, number])
    labels = np.full(strata, times * strata)
    good = rng.binomial(labels, theta)
    passes = rng.binomial(5 * labels, theta * 0.9 + (1 - theta) * 0.1)
    cells = (5 * labels, passes, good, rng.binomial(good, 0.9))
    cells += (labels - good, rng.binomial(labels - good, 0.9))
    names = [str(i) for i in range(strata)]
    counts = prevalence.Counts(*cells, calibration="random", systems=names, dim="stratum")
    with patch.object(exact_module, "_few_labels", lambda counts: None):
        value, low, high = prevalence.exact(counts)["overall_prevalence"]
    return {
        **{"prevalence": theta, "strata": strata, "labels_over_strata": times, "table": number},
        **{"value": value, "low": low, "high": high, "covered": low <= theta <= high},
    }


def pooled_row(setting: tuple[float, int, int], number: int) -> dict[str, Any]:
    """Take the overall interval of `fit` with pooled priors for one table of few labels."""
    theta, strata, half = setting
    rng = np.random.default_rng([SEED, 7, number])
    labels, rate = np.full(strata, half), theta * 0.9 + (1 - theta) * 0.1
    cells = (np.full(strata, 200), rng.binomial(200, rate, strata), labels)
    cells += (rng.binomial(labels, 0.9), labels, rng.binomial(labels, 0.9))
    names = [str(i) for i in range(strata)]
    counts = prevalence.Counts(*cells, calibration="by_truth", systems=names, dim="stratum")
    fit = prevalence.fit(
        counts, prevalence.PooledErrorRates(), random_seed=number, progress=False, cores=1
    )
    value, low, high = fit.estimate()["overall_prevalence"]
    return {
        **{"prevalence": theta, "strata": strata, "table": number, "converged": fit.converged},
        **{"value": value, "low": low, "high": high, "covered": low <= theta <= high},
    }


def row_by_row(name: str, settings: Any, runs: int, make: Callable[..., dict[str, Any]]) -> None:
    """Write one row a table, going on after the last one of the file."""
    path = RESULTS / name
    done = sum(1 for _ in path.open()) - 1 if path.exists() else 0
    every = ((setting, number) for number in range(runs) for setting in settings)
    with path.open("a", newline="") as file:
        for setting, number in itertools.islice(every, max(done, 0), None):
            row = make(setting, number)
            writer = csv.DictWriter(file, list(row))
            if file.tell() == 0:
                writer.writeheader()
            writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()})
            file.flush()
    table = pd.read_csv(path)
    by = [column for column in ("prevalence", "strata", "labels_over_strata") if column in table]
    table["width"] = table["high"] - table["low"]
    told = {"table": "size", "value": "mean", "width": "mean", "covered": "mean"}
    print(table.groupby(by).agg(told).rename(columns={"table": "tables"}).to_string())


def written(table: pd.DataFrame) -> str:
    """Write the page of results."""
    shown = table.round({"answered": 2, "covered": 3, "bias": 4, "width": 4})
    return "\n".join(
        [
            "# Strata: coverage and bias of the overall prevalence",
            "",
            "Made by `python benchmarks/prevalence/strata.py`: nominal 95 %, 4,000 items and 1,600",
            "labels in all, whatever the number of strata. `answered`: share of tables for which",
            "the method gives an overall value (else it says why not); the rest is of these.",
            "`bias` is that of the value before it is clipped.",
            "",
            _markdown(shown),
            "",
        ]
    )


def _markdown(table: pd.DataFrame) -> str:
    """Make a Markdown table."""
    rows = [list(map(str, table.columns)), ["---"] * table.shape[1]]
    rows += [[f"{x:g}" if isinstance(x, float) else str(x) for x in row] for row in table.values]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def main() -> None:
    """Run the study and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--exact-runs", type=int, default=20)
    parser.add_argument("--rule", action="store_true", help="how many labels `exact` needs")
    parser.add_argument("--pooled", action="store_true", help="few labels, by `fit`")
    asked = parser.parse_args()
    if asked.rule:
        row_by_row("strata_rule.csv", RULE, asked.runs, rule_row)
        return
    if asked.pooled:
        row_by_row("strata_pooled.csv", [(0.03, 20, 40)], asked.runs, pooled_row)
        return
    table = study(asked.runs, asked.exact_runs)
    table.to_csv(RESULTS / "strata.csv", index=False, float_format="%.4f")
    (RESULTS / "strata.md").write_text(written(table))
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
