"""How far do neighbours, criteria prompts and presentation orders move real judges?

    python benchmarks/bias/real.py [--data ../shared/data] [--items 500]

The folder has what the documentation of the data calls bias_neighbours, composo and llmbar. Writes
to benchmarks/bias/results: ``real.md`` (everything in words and tables), ``real_prompts.csv``,
``real_neighbours.csv``, ``real_orders.csv`` and ``real.png``. Closed forms use all
responses; the posteriors use a random `--items` of them, with the closed forms of the same beside.

Quick: ``--items 40 --judges full --prompts criteria``

Found: a reworded prompt moves the mean of eight scores by an RMS of .51 to .59 points of nine
(judge `full`), twice its repeat noise of .24; NUTS and the closed form agree to a hundredth on 500
items. No published set of neighbours (40 at most) lets scores be released as they are: 761 would be
needed at a failure probability of .01.
"""

import argparse
import gzip
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from bayesjudge import InputError, bias

RESULTS = Path(__file__).parent / "results"
#: Beside a developer's checkout.
DATA = Path(__file__).parents[3] / "shared" / "data"
PROMPTS = ("cal-low", "cal-cross", "criteria")
JUDGES = ("full", "mini")
SEED = 1


# Published neighbours ----------------------------------------------------------------------------


def neighbours(folder):
    """Four judges on Arena-Hard: score changes of 2 to 40 re-judged items, scale 1 to 5."""
    found = json.loads((folder / "bias_neighbours/neighbour_differences.json").read_text())
    rows = []
    for judge, own in found["judges"].items():
        for kind in ("intrinsic", "formatting"):
            shifts = bias.Shifts.from_differences(own[kind]["diffs"], scale=(1, 5))
            row = {"judge": judge, "kind": kind, "neighbours": len(own[kind]["diffs"])}
            row |= numbers("rms", bias.rms_shift(shifts, interval="distribution_free"))
            row |= numbers("posterior", bias.exact(shifts, step=1, prior="spread"))
            if kind == "formatting":
                row |= certified(shifts, row["rms"])
            rows.append(row)
    return pd.DataFrame(rows)


def numbers(name, estimate):
    row = estimate["rms_shift", "perturbed"]
    return {name: row.value, f"{name}_low": row.low, f"{name}_high": row.high}


def certified(shifts, rms):
    """Hold the source's shrinkage, which takes the measured shift as true, against ours."""
    about = {"tolerance": 0.5, "failure_prob": 0.01, "units": "range"}
    card = bias.certificates.certify(shifts, **about)
    return {
        "alpha_of_source": float(
            bias.certificates.noise.largest_alpha(rms / 4, tolerance=0.5, failure_prob=0.01)
        ),
        "alpha_certified": card.alpha,
        "rests_on": "the scale alone" if card.range_only else "neighbours",
        "neighbours_needed": card.needed,
        "scores_as_they_are": "certified"
        if bias.certificates.certify(shifts, **about, alpha=1.0).certified
        else "refused",
    }


def refusals(folder):
    """Collect the refusals, and their reasons."""
    judges = json.loads((folder / "bias_neighbours/neighbour_differences.json").read_text())[
        "judges"
    ]
    few = bias.Shifts.from_differences(judges["qwq-32b"]["formatting"]["diffs"], scale=(1, 5))
    about = {"tolerance": 0.5, "failure_prob": 0.01, "units": "range"}
    own = judges["deepseek-r1-32b"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        left = bias.certificates.noise.without_repeat_noise(
            own["formatting"]["value"], own["intrinsic"]["value"]
        )
    try:
        bias.fit(few)
    except InputError as error:
        unsigned = str(error.problems[0])
    return {
        "Two neighbours (qwq-32b), released as they are": bias.certificates.certify(
            few, **about, alpha=1.0
        ).reason,
        "Two neighbours, RMS shift": bias.rms_shift(few).cautions[0].text,
        f"Repeat noise subtracted (deepseek-r1-32b), {left:g} is left": str(caught[0].message),
        "NUTS for sizes without a sign": unsigned,
    }


# Prompts -----------------------------------------------------------------------------------------


def scores_of(folder, judge, prompt, key):
    """Scores 1 to 10, eight an item's response; of items with one key the last counts."""
    path = folder / f"composo/{prompt}_both_k8.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        found = {key(item): item[f"{judge}_scores"] for item in map(json.loads, file)}
    rows = [
        (f"{name}/{response}", prompt, score)
        for name, responses in found.items()
        for response, scores in enumerate(responses)
        for score in scores
    ]
    return pd.DataFrame(rows, columns=["item", "variant", "score"]).astype({"score": float})


def by_subset_and_id(item):
    return f"{item['subset']}/{item['id']}"


def by_id(item):
    """Not unique: 1,730 items have 1,692 ids."""
    return item["id"]


def shifts_of(tables, kept=None):
    table = pd.concat(tables)
    known = set(tables[0]["item"]) if kept is None else kept
    return bias.Shifts.from_frame(
        table[table["item"].isin(known)],
        scale=(1, 10),
        design="item",
        baseline="base",
        repeats="mean",
        missing="drop",
    )


def prompts(folder, judge, changed, size):
    """Shift of each prompt from the base prompt, in several ways."""
    rows, cards = [], []
    for method, key in (
        ("closed form, joined by id alone", by_id),
        ("closed form", by_subset_and_id),
    ):
        tables = {p: scores_of(folder, judge, p, key) for p in ("base", *changed)}
        for prompt in changed:
            shifts = shifts_of([tables["base"], tables[prompt]])
            rows += rows_of(bias.variance_parts(shifts), prompt, method, len(shifts.lengths))
            if key is by_subset_and_id:
                cards.append(card_of(shifts, prompt))
    names = np.sort(tables["base"]["item"].unique())
    kept = set(np.random.default_rng(SEED).choice(names, size, replace=False))
    whole = shifts_of(list(tables.values()), kept)
    joint = bias.fit(whole, random_seed=SEED)
    for prompt in changed:
        shifts = whole.only(perturbation=prompt)
        fit = bias.fit(shifts, random_seed=SEED)
        n = len(shifts.lengths)
        rows += rows_of(bias.variance_parts(shifts), prompt, f"closed form, {size} items", n)
        rows += rows_of(bias.exact(shifts), prompt, f"Dirichlet, worst-case prior, {size} items", n)
        rows += rows_of(fit.estimate(), prompt, f"NUTS, {size} items", n, fit)
        rows += rows_of(joint.estimate(), prompt, f"NUTS, prompts at once, {size} items", n, joint)
    about = {"judge": judge, "converged": joint.converged, "cautions": joint.cautions}
    return pd.DataFrame(rows).assign(judge=judge), pd.DataFrame(cards).assign(judge=judge), about


def rows_of(estimate, prompt, method, neighbours, fit=None):
    rows = []
    for quantity, where, row in estimate.rows():
        if where.get("perturbation", prompt) != prompt:
            continue
        one = {"prompt": prompt, "quantity": quantity, "method": method}
        one |= {**row._asdict(), "n": neighbours}
        rows.append(one | ({} if fit is None else {"converged": fit.converged}))
    return rows


def card_of(shifts, prompt):
    card = bias.certificates.certify(shifts, tolerance=0.5, failure_prob=0.05, units="points")
    return {
        "prompt": prompt,
        "neighbours": card.neighbours,
        "shift_bound": card.shift_bound,
        "alpha": card.alpha,
        "rests_on": "the scale alone" if card.range_only else "neighbours",
    }


# Presentation orders -----------------------------------------------------------------------------


def orders(folder):
    """LLMBar Natural: six judges, ten prompts that show both answers, 100 pairs in both orders.

    Five further prompts rate each answer by itself, so that there is no order; their equal scores
    are stored as a win of answer 2 in one order and of answer 1 in the other.
    """
    table = pd.read_csv(folder / "llmbar/judgments_natural.csv.gz")
    rated = table["score_1"].notna()
    equal = (table["score_1"] == table["score_2"])[rated]
    swapped = (table["order1"] != table["order2"])[rated]
    assert (equal == swapped).all(), "rating prompts are inconsistent where scores are equal only"
    table = table[~rated]
    read = bias.Orders.from_frame(table, judge=["llm", "strategy"], missing="drop")
    each = pd.DataFrame({"pairs": read.pairs, "unparsed": read.missing}, index=read.judges)
    named = table[["llm", "strategy"]].drop_duplicates().set_axis(["judge", "prompt"], axis=1)
    each = each.join(named.set_index(named["judge"] + ", " + named["prompt"]))
    found = bias.position_bias(read).table.set_index("judge").join(each).reset_index(drop=True)
    return found[["judge", "prompt", "quantity", "value", "low", "high", "pairs", "unparsed"]]


def orders_shown(table):
    shown = table.assign(text=[interval(row) for row in table.itertuples()])
    keys = ["judge", "prompt", "pairs", "unparsed"]
    wide = shown.pivot(index=keys, columns="quantity", values="text").reset_index()
    return wide[[*keys, "consistency", "primacy", "recency", "position_preference"]]


# On paper ----------------------------------------------------------------------------------------


def interval(row):
    return f"{row.value:.3f} ({row.low:.3f}, {row.high:.3f})"


def prompts_shown(table):
    shown = table.assign(text=[interval(row) for row in table.itertuples()])
    keys = ["judge", "prompt", "method", "n"]
    shown["order"] = range(len(shown))
    first = shown.groupby(keys)["order"].min()
    wide = shown.pivot(index=keys, columns="quantity", values="text").fillna("")
    wide = wide.loc[first.sort_values().index].reset_index()
    wide = wide.sort_values(["judge", "prompt"], kind="stable")
    return wide[[*keys, "rms_shift", "mean_shift", "repeat_noise"]]


def as_markdown(table):
    rows = [table.columns, ["---"] * table.shape[1], *table.astype(object).to_numpy()]
    return ["| " + " | ".join(map(shown, row)) + " |" for row in rows]


def shown(value):
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else f"{value:.3f}"
    return str(value)


def draw(changes, places):
    figure, axes = plt.subplots(
        1, 3, figsize=(17, 6.4), layout="constrained", width_ratios=[3, 3, 4]
    )
    rms = changes[changes["quantity"] == "rms_shift"]
    methods = list(dict.fromkeys(rms["method"]))
    for ax, judge in zip(axes, changes["judge"].unique(), strict=False):
        for colour, method in enumerate(methods):
            own = rms[(rms["judge"] == judge) & (rms["method"] == method)]
            at = np.arange(len(own)) + 0.13 * (colour - (len(methods) - 1) / 2)
            ax.hlines(at, own["low"], own["high"], color=f"C{colour}", lw=2)
            ax.plot(own["value"], at, "o", color=f"C{colour}", ms=4, label=method)
        names = changes["prompt"].unique()
        ax.set_yticks(range(len(names)), names)
        ax.invert_yaxis()
        ax.set(title=f"RMS shift from the base prompt: {judge}", xlabel="score points")
        ax.grid(axis="x", alpha=0.3)
    own = places[places["quantity"] == "consistency"]
    prompts_ = sorted(own["prompt"].unique())
    for colour, (judge, rows) in enumerate(own.groupby("judge")):
        at = np.array([prompts_.index(p) for p in rows["prompt"]]) + 0.12 * (colour - 2.5)
        axes[2].hlines(at, rows["low"], rows["high"], color=f"C{colour}", lw=1.5, alpha=0.6)
        axes[2].plot(rows["value"], at, "o", color=f"C{colour}", ms=3, label=judge)
    axes[2].set_yticks(range(len(prompts_)), prompts_, fontsize="small")
    axes[2].invert_yaxis()
    axes[2].set(title="LLMBar Natural: same winner in both orders", xlabel="share of pairs")
    axes[2].grid(axis="x", alpha=0.3)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower left", ncols=2)
    figure.legend(*axes[2].get_legend_handles_labels(), loc="outside lower right", ncols=3)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument(
        "--items", type=int, default=500, help="responses that are sampled with NUTS"
    )
    parser.add_argument("--judges", nargs="+", default=JUDGES, choices=JUDGES)
    parser.add_argument("--prompts", nargs="+", default=PROMPTS, choices=PROMPTS)
    asked = parser.parse_args()
    near, places = neighbours(asked.data), orders(asked.data)
    made = [prompts(asked.data, judge, asked.prompts, asked.items) for judge in asked.judges]
    changes, cards = (pd.concat([one[i] for one in made]) for i in (0, 1))
    RESULTS.mkdir(exist_ok=True)
    for name, table in (("neighbours", near), ("prompts", changes), ("orders", places)):
        table.to_csv(RESULTS / f"real_{name}.csv", index=False, float_format="%.5g")
    draw(changes, places).savefig(RESULTS / "real.png", dpi=80)
    lines = ["# Real judges", "", "Made by `python benchmarks/bias/real.py --data FOLDER`.", ""]
    lines += ["## Published neighbours", "", NEIGHBOURS, "", *as_markdown(near), ""]
    lines += [f"- {name}: {text}" for name, text in refusals(asked.data).items()]
    lines += ["", "## Prompts", "", PROMPTS_TEXT, "", *as_markdown(prompts_shown(changes)), ""]
    lines += [CARDS, "", *as_markdown(cards), "", *cautions_shown(one[2] for one in made)]
    lines += ["", "## Presentation order", "", ORDERS, "", *as_markdown(orders_shown(places))]
    (RESULTS / "real.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


def cautions_shown(abouts):
    lines = ["What the fits of all prompts at once said of themselves:", ""]
    for about in abouts:
        lines.append(f"- {about['judge']}: converged {about['converged']}")
        lines += [f"  - {c.id}: {c.text}" for c in about["cautions"]]
    return lines


NEIGHBOURS = """
Sizes of score changes on a scale from 1 to 5, without a sign. `rms` has the distribution-free
interval, `posterior` is the exact Dirichlet posterior (its prior spread over all sizes).
Certificates: tolerance half of the range, failure probability .01.
""".strip()
PROMPTS_TEXT = """
Mean of eight scores (1 to 10) under a changed prompt, less that under the base prompt. The
documented figures of the judge full (mean shift -.191, -.011, -.063; RMS .592, .525, .593; repeat
noise .233, .233, .236) are those of the rows "joined by id alone". Ids are not unique: 1,730 items
of five subsets have 1,692 ids, so that some 38 items are lost, and some are compared with the
scores of another item. Joined by subset and id, as in all other rows, the RMS shifts are smaller.

The Dirichlet posterior has one pseudo-neighbour at the largest shift that the scale allows: its
upper end is what a certificate may rest on, and it estimates too much. NUTS is fitted to one prompt
at a time, and to all three at once, which moves the RMS shifts down by 1 to 7 %: items that move
under one prompt move under the others too, and the model has them independent. The fit says so.
""".strip()
CARDS = """
Certificates for scores released by these judges (tolerance .5 points, failure probability .05, all
responses; four responses share a question, so that neighbours are not quite independent):
""".strip()
ORDERS = """
The five prompts that rate each answer by itself are left out: there is no order in them, and their
equal scores (132 of 700 pairs) are stored as if the second answer had won in both orders.
""".strip()


if __name__ == "__main__":
    main()
