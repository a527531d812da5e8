"""``bayesjudge plan``: how many labels, of which items, before they are bought."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

import bayesjudge as bj
from bayesjudge.cli.options import Seed, Written, are
from bayesjudge.cli.plan_pass import (
    Judge,
    Plan,
    by_split,
    judge_of,
    page_of_plan,
    plan_pass,
    show_plan,
)
from bayesjudge.cli.plan_shopping import OfPilot, plan_shopping
from bayesjudge.core.errors import checking
from bayesjudge.render.page import Line, Table

if TYPE_CHECKING:
    import pandas as pd

_ASSUMED = Parameter(group=Group("What is assumed to be true", sort_key=1))
_WANTED = Parameter(group=Group("What is wanted", sort_key=0), negative="")
#: Numbers of labels that are compared if none are given.
LABELS = (50, 100, 200, 400)
#: How much worse than guessed the judge is tried, and the share of tables that are to be narrow.
WORSE, NINE_IN_TEN = 0.05, 0.9
CI_PROB, PROBABILITY, POWER, ITEMS = 0.95, 0.95, 0.8, 1000


def plan(
    *,
    at_least: Annotated[float | None, _WANTED] = None,
    width: Annotated[float | None, _WANTED] = None,
    labelled: Annotated[list[int] | None, _WANTED] = None,
    probability: Annotated[float | None, _WANTED] = None,
    power: Annotated[float | None, _WANTED] = None,
    ci_prob: Annotated[float | None, _WANTED] = None,
    of_pilot: OfPilot = OfPilot(),
    prevalence: Annotated[float | None, _ASSUMED] = None,
    agreement: Annotated[float | None, _ASSUMED] = None,
    sensitivity: Annotated[float | None, _ASSUMED] = None,
    specificity: Annotated[float | None, _ASSUMED] = None,
    items: Annotated[int | None, _ASSUMED] = None,
    seed: Seed = 1,
    written: Written = Written(),
) -> None:
    r"""Say how many human labels to buy, to show that a threshold is met or for an interval.

    How many until the share of good outputs is shown to be at least 0.8: `--at-least 0.8`. How many
    for an interval 0.1 wide, from end to end: `--width 0.1`. With neither, the widths that 50 to
    400 labels give. Each for several ways to choose what is labelled: a random sample, with the
    judge or without; half passed and half failed by the judge; half good and half bad. Guess what
    is true; try a few guesses. Or bring a `--pilot`, some labelled rows, and prices: then one list
    says what to buy, of labels, judged items, calls and judges, and what it costs. The document of
    --json has `inputs`, the options; `answer`; `rows`, one per number of labels and way of spending
    them; and `labels_needed` by strategy, null if none do.

    ```
    bayesjudge plan --at-least 0.8 --agreement 0.85
    bayesjudge plan --at-least 0.8 --agreement 0.85 --prevalence 0.9
    bayesjudge plan --width 0.1 --prevalence 0.7 --sensitivity 0.9 --specificity 0.7
    bayesjudge plan --pilot run.csv --price label=1.50 --price call=0.01 --width 0.1
    ```

    Parameters
    ----------
    at_least : float
        Share of good outputs that is to be shown: labels until `bayesjudge gate` is likely to pass.
    width : float
        Width of the interval that is wanted, from its lower to its upper end (twice what stands
        after a "±"), as a share of items.
    labelled : list[int]
        Number of labels to give the width for. May be repeated; by default 50, 100, 200 and 400.
    probability : float
        With --at-least: probability that a pass must reach, as in `bayesjudge gate` (default 0.95).
    power : float
        With --at-least: the chance of a pass that is wanted (default 0.8).
    ci_prob : float
        With widths: probability of every interval (default 0.95).
    prevalence : float
        Share of items that people would pass, in [0, 1]. With --at-least it may be left out: three
        guesses are tried.
    agreement : float
        Share of items on which judge and people agree, if that is all that is known of the judge:
        it is taken to be right as often on good outputs as on bad ones, and a range tells how much
        that matters.
    sensitivity : float
        Share of good items that the judge passes.
    specificity : float
        Share of bad items that the judge fails.
    items : int
        Items that the judge sees and nobody labels; the labelled ones come on top. The estimate
        without the judge has no use for them.

    Raises
    ------
    InputError
        If an option is out of its range, or options do not go together.
    """
    sure = PROBABILITY if probability is None else probability
    wanted = POWER if power is None else power
    level = CI_PROB if ci_prob is None else ci_prob
    if of_pilot.pilot is not None:
        guesses: dict[str, Any] = {"prevalence": prevalence, "agreement": agreement}
        guesses |= {"sensitivity": sensitivity, "specificity": specificity, "labelled": labelled}
        goal: dict[str, Any] = {"width": width, "at_least": at_least, "items": items}
        goal |= {"probability": sure, "power": wanted, "ci_prob": level, "random_seed": seed}
        show_plan(plan_shopping(of_pilot, goal, guesses), written)
        return
    given = {"labelled": labelled, "width": width, "ci_prob": ci_prob}
    passing = {"probability": probability, "power": power}
    with checking("options") as require:
        written.check_files(require)
        require(width is None or 0 < width < 1, "must lie in (0, 1)", width=width)
        for kind in (given, passing):
            other = at_least is not None if kind is given else at_least is None
            said = [f"--{n.replace('_', '-')}" for n, v in kind.items() if v is not None]
            words = "is about widths: leave it out with" if kind is given else "needs"
            for name in said if other else ():
                require(False, f"{name} {words} --at-least")
        shares = {"prevalence": prevalence, "sensitivity": sensitivity, "specificity": specificity}
        for name, share in shares.items():
            inside = share is None or 0 <= share <= 1
            require(inside, f"--{name} must lie in [0, 1], got {share}")
        require(items is None or items >= 1, "must be 1 or more", items=items)
        unused = of_pilot.given
        require(not unused, f"{are(unused)} of a pilot: --pilot FILE")
    items = ITEMS if items is None else items
    assumed = judge_of(agreement, sensitivity, specificity)
    if at_least is not None:
        shown = plan_pass(at_least, prevalence, assumed, items, sure, wanted)
        show_plan(shown, written)
        return
    with checking("options") as require:
        need = "--prevalence is needed: the share of items that people would pass, as you expect it"
        require(prevalence is not None, need)
        rates = "--agreement, or --sensitivity and --specificity, are needed: how the judge errs"
        require(assumed is not None, rates)
    if prevalence is not None and assumed is not None:
        how = {"items": items, "ci_prob": level}
        sizes = tuple(labelled or LABELS)
        shown = _plan_widths(sizes, width, prevalence, assumed, how, seed)
        show_plan(shown, written)


def _plan_widths(
    sizes: tuple[int, ...],
    width: float | None,
    prevalence: float,
    judge: Judge,
    given: dict[str, Any],
    seed: int,
) -> Plan:
    sensitivity, specificity = judge.rates
    how: dict[str, Any] = {"prevalence": prevalence, "sensitivity": sensitivity}
    how |= {"specificity": specificity, **given}
    table = bj.prevalence.budget.plan(sizes, **how, random_seed=seed)
    budget = bj.prevalence.budget
    needed = {} if width is None else budget.labels_by_design(width, **how)
    sure = {} if width is None else budget.labels_by_design(width, **how, chance=NINE_IN_TEN)
    differs = _if_errors_differ(width, judge, how)
    answer = _answer(table, needed, sure, width, how, differs)
    answer += _if_worse(width, judge, how, max(sizes), seed)
    inputs = {**how, "labelled": sizes, "width": width, "seed": seed}
    caption = "Expected width of the interval, by labels"
    below = _below(judge, max(sizes), how["items"])
    page = replace(
        page_of_plan(inputs, answer, table.to_dict("records"), _table(table), below, needed, sure),
        pictures=lambda: {caption: bj.prevalence.plot_plan(table, width=width)},
    )
    return Plan(page, "Assumed", {**how, **judge.inputs})


def _if_errors_differ(width: float | None, judge: Judge, how: dict[str, Any]) -> list[str]:
    """How far a number moves with the errors of a judge of whom the agreement is known."""
    if width is None or judge.agreement is None:
        return []
    counts = []
    for q1, q0 in judge.splits(how["prevalence"]):
        asked = {**how, "sensitivity": q1, "specificity": q0}
        counts.append(bj.prevalence.budget.labels_by_design(width, **asked)["random sample"])
    return by_split(counts)


def _if_worse(
    width: float | None, judge: Judge, how: dict[str, Any], labels: int, seed: int
) -> list[str]:
    """What it costs if the judge errs more than was guessed."""
    q1, q0 = (max(rate - WORSE, 0.0) for rate in judge.rates)
    if q1 + q0 <= 1:
        return []
    budget, asked = bj.prevalence.budget, {**how, "sensitivity": q1, "specificity": q0}
    if width is None:
        asked |= {"labelled": labels, "calibration": "random", "random_seed": seed}
        cost = f"it is {budget.expected_width(**asked).width:.3f} wide"
    else:
        needed = budget.labels_by_design(width, **asked)["random sample"]
        cost = f"it {_takes(needed, how['items'], ' labels')}"
    return [
        f"If the judge is right {100 * WORSE:g} points less often than guessed, on good outputs "
        f"and on bad ones, {cost}."
    ]


def _takes(labels: int | None, items: int, noun: str = "", about: str = "") -> str:
    """How many labels; none was looked for beyond as many as there are items."""
    return (
        f"takes more than {items:,}{noun}" if labels is None else f"takes {about}{labels:,}{noun}"
    )


def _answer(
    table: pd.DataFrame,
    needed: dict[str, int | None],
    sure: dict[str, int | None],
    width: float | None,
    how: dict[str, Any],
    differs: Sequence[str],
) -> list[str]:
    """The sentence that opens the screen, and what it rests on."""
    if width is None:
        most = table[table["labelled"] == table["labelled"].max()].set_index("strategy")
        widths = most["expected_width"]
        sample, people = widths["random sample"], widths["people only"]
        return [
            f"{most['labelled'].iloc[0]} labels of a random sample are expected to give an "
            f"interval {sample:.3f} wide, and {people:.3f} if the judge is left out.",
            f"9 tables of 10 reach {most['width_90']['random sample']:.3f}.",
        ]
    sample, items = needed["random sample"], how["items"]
    lines = [
        f"An interval {width:g} wide {_takes(sample, items, ' labels', 'about ')} of a random "
        f"sample; without the judge it {_takes(needed['people only'], items)}."
    ]
    if sample is not None:
        lines.append(
            f"For 9 tables of 10 to be as narrow, it {_takes(sure['random sample'], items)}."
        )
    lines += differs
    by_truth = needed["half good, half bad"]
    lines.append(
        f"Chosen by the judge's verdict it {_takes(needed['by verdict'], items)}; with labels "
        f"chosen by truth, half good and half bad, it {_takes(by_truth, items)}."
    )
    if None in needed.values():
        lines.append(f"No more labels were tried than there are items: --items {items}.")
    return lines


def _table(table: pd.DataFrame) -> Table:
    numbers = ["labels", "good", "bad", "width", "expected", "± error", "9 of 10"]
    lines: list[Line] = []
    last = None
    for row in table.itertuples(index=False):
        cells = [f"{row.correct_n:.0f}", f"{row.incorrect_n:.0f}", f"{row.width:.3f}"]
        cells += [f"{x:.3f}" for x in (row.expected_width, row.mc_error, row.width_90)]
        size = "" if row.labelled == last else str(row.labelled)
        lines.append(Line([size, row.strategy, row.calibration, *cells]))
        last = row.labelled
    return Table(["labels", "strategy", "--calibration", *numbers[1:]], lines, numbers)


def _below(judge: Judge, labels: int, items: int) -> str:
    """What the columns are, and when labels by truth pay."""
    sensitivity, specificity = judge.rates
    low, high = bj.prevalence.budget.judge_regime(
        sensitivity, specificity, labelled=labels, items=items
    )
    regime = f"With {labels} labels by truth this judge tells "
    if low != low:
        regime += "less than labels of a random sample alone, whatever the prevalence"
    else:
        regime += "more than labels of a random sample alone if the prevalence is between "
        regime += f"{low:.3f} and {high:.3f}"
    return (
        "width: of the closed form's interval at the data expected; expected: of the posterior's, "
        "averaged over simulated data, and 9 of 10: what nine tables of ten reach; as a share of "
        f"items.\n{regime}; a random sample takes both."
    )
