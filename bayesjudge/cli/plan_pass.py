"""``bayesjudge plan --at-least``: how many labels until a gate is likely to pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

import bayesjudge as bj
from bayesjudge.cli.options import Written
from bayesjudge.cli.output import deliver, say
from bayesjudge.core.calls import called
from bayesjudge.core.errors import InputError, checking, expect
from bayesjudge.core.progress import progress
from bayesjudge.core.screen import how_many
from bayesjudge.decide.power import PEOPLE, STRATEGIES, items_to_pass
from bayesjudge.render.page import Line, Page, Table
from bayesjudge.render.screen import columns, open_console, opening, wrapped

SAMPLE = "random sample"
#: Where shares are guessed if none is expected: parts of the way from the threshold to 1.
GUESSES = (0.25, 0.5, 0.75)
#: Ways in which errors may split that are looked at.
SPLITS = 201
#: Ways of choosing of which the range is told, of a judge known by its agreement.
RANGED = (SAMPLE, "by verdict")


class Plan(NamedTuple):
    """The page of a plan, and what its screen lists first under a heading."""

    page: Page
    heading: str
    inputs: Mapping[str, Any]


class Judge(NamedTuple):
    """What is assumed of the judge: how often it is right on good and on bad outputs."""

    rates: tuple[float, float]
    agreement: float | None = None

    @property
    def inputs(self) -> dict[str, Any]:
        """For the list of what is assumed."""
        known: dict[str, Any] = {} if self.agreement is None else {"agreement": self.agreement}
        words = " (as often right on good outputs as on bad ones)" * (self.agreement is not None)
        q1, q0 = self.rates
        return {**known, "sensitivity": f"{q1:g}{words}", "specificity": f"{q0:g}{words}"}

    def splits(self, prevalence: float) -> list[tuple[float, float]]:
        """The rates assumed; of an agreement also those that tell most and least of the truth."""
        if self.agreement is None or not 0 < prevalence < 1:
            return [self.rates]
        agreed, bad = self.agreement, 1 - prevalence
        ends = max(0.0, agreed - bad), min(prevalence, agreed)
        right = np.linspace(*ends, SPLITS)  # good outputs that it passes, of all outputs
        passed = bad - agreed + 2 * right
        with np.errstate(invalid="ignore", divide="ignore"):
            together = right - prevalence * passed
            tells = np.where(together > 0, together**2 / (passed * (1 - passed)), np.nan)
        most, least = np.nanargmax(tells), np.nanargmin(tells)
        pair = right / prevalence, (agreed - right) / bad
        return [self.rates, *((float(pair[0][i]), float(pair[1][i])) for i in (most, least))]


def judge_of(
    agreement: float | None, sensitivity: float | None, specificity: float | None
) -> Judge | None:
    """Check what is said of the judge, if anything is."""
    with checking("options") as require:
        both = (sensitivity is None) == (specificity is None)
        require(both, "--sensitivity and --specificity come together; or say --agreement")
        once = agreement is None or (sensitivity is None and specificity is None)
        require(once, "--agreement stands for --sensitivity and --specificity: leave them out")
        inside = agreement is None or 0.5 < agreement <= 1
        words = "agreement by chance tells nothing: leave the judge out"
        require(inside, f"--agreement must lie in (0.5, 1], got {agreement}; {words}")
    if agreement is not None:
        return Judge((agreement, agreement), agreement)
    if sensitivity is None or specificity is None:
        return None
    better = sensitivity + specificity > 1
    words = "with --sensitivity + --specificity of 1 or less it is no better than chance"
    problem = f"the judge tells nothing, {words}: leave it out, or turn its verdicts"
    expect("options", better, problem)
    return Judge((sensitivity, specificity))


def plan_pass(
    at_least: float,
    prevalence: float | None,
    judge: Judge | None,
    items: int,
    probability: float,
    power: float,
) -> Plan:
    """Answer how many labels it takes until a gate is likely to pass."""
    with checking("options") as require:
        inside = 0 < at_least < 1
        percent = f": write {at_least / 100:g} for {at_least:g} %" if 1 < at_least < 100 else ""
        require(inside, f"--at-least must lie in (0, 1), got {at_least:g}{percent}")
        sure = 0.5 <= probability < 1
        require(sure, f"--probability must lie in [0.5, 1), got {probability:g}")
        require(0 < power < 1, f"--power must lie in (0, 1), got {power:g}")
    if prevalence is not None and prevalence < at_least:
        words = f"--prevalence {prevalence:g} is below --at-least {at_least:g}: then more labels "
        words += "make a fail likely, not a pass; expect a higher share, ask for a lower one, or "
        raise InputError("options", [f"{words}plan an interval: --width 0.1"])
    about: dict[str, Any] = {"at_least": at_least, "probability": probability, "power": power}
    inputs = {**about, "prevalence": prevalence, "agreement": judge and judge.agreement}
    inputs |= dict(zip(("sensitivity", "specificity"), judge.rates, strict=True)) if judge else {}
    inputs |= {"items": items}
    if prevalence is None:
        guesses = [round(at_least + part * (1 - at_least), 6) for part in GUESSES]
        rows = _rows(guesses, judge, items, about, [SAMPLE, PEOPLE])
        answer = _answer_of_guesses(rows, guesses, judge, about, items)
    elif prevalence == at_least:
        rows, answer = [], _at_the_threshold(about)
    else:
        rows = _rows([prevalence], judge, items, about, list(STRATEGIES))
        answer = _answer(rows, prevalence, judge, about, items)
    alone = prevalence is not None
    needed = {row["strategy"]: row["labelled"] for row in rows if alone and row["split"] == 0}
    kept = [{name: value for name, value in row.items() if name != "split"} for row in rows]
    page = page_of_plan(inputs, answer, kept, _table(rows), _below(rows, judge, about), needed)
    return Plan(page, "Wanted and assumed", {**inputs, **(judge.inputs if judge else {})})


def page_of_plan(
    inputs: Mapping[str, Any],
    answer: Sequence[str],
    rows: Sequence[Any],
    table: Table,
    below: str,
    needed: Mapping[str, Any] = MappingProxyType({}),
    sure: Mapping[str, Any] = MappingProxyType({}),
) -> Page:
    """The page of a plan; `sure` are labels with which 9 of 10 tables are narrow enough."""
    first, *notes = answer
    return Page(
        "bayesjudge plan",
        first,
        notes,
        command="plan",
        line=called("plan"),
        inputs=inputs,
        numbers=table,
        below=below,
        fields=lambda: {
            "answer": {"text": " ".join(answer)},
            "rows": rows,
            "labels_needed": {**needed},
            **({"labels_needed_90": sure} if sure else {}),
        },
    )


def show_plan(plan: Plan, written: Written) -> None:
    """Show a plan: its answer, what that rests on, its table and what the columns are."""
    page = plan.page
    if written.on_screen:
        console = open_console()
        wrapped(console, " ".join([page.sentence, *page.notes]), "", "", style="bold")
        console.print()
        shown = {name.replace("_", " "): v for name, v in plan.inputs.items() if v is not None}
        opening(console, plan.heading, shown)
        table = page.numbers
        if table.lines:
            left = [name for name in table.columns if name not in table.numbers]
            columns(console, table.columns, [line.cells for line in table.lines], left)
        say(f"\n{page.below}")
    deliver(page, written)


def _rows(
    guesses: Sequence[float],
    judge: Judge | None,
    items: int,
    about: Mapping[str, Any],
    strategies: Sequence[str],
) -> list[dict[str, Any]]:
    """One row per prevalence, way of choosing and of splitting the judge's errors."""
    every = []
    for prevalence in guesses:
        for i, rates in enumerate(judge.splits(prevalence) if judge else [(None, None)]):
            known = [name for name in strategies if judge or name == PEOPLE]
            wanted = [name for name in known if not i or name in RANGED]
            every += [(prevalence, i, rates, strategy) for strategy in wanted]
    # without a judge it is done at once
    with progress(None if judge else False, "planning", total=len(every)) as bar:
        rows = []
        for case in every:
            rows.append(_row(*case, items, about))
            bar.advance()
    return rows


def _row(
    prevalence: float,
    split: int,
    rates: tuple[float | None, float | None],
    strategy: str,
    items: int,
    about: Mapping[str, Any],
) -> dict[str, Any]:
    assumed = {"prevalence": prevalence, "sensitivity": rates[0], "specificity": rates[1]}
    asked: dict[str, Any] = {**assumed, "items": items}
    asked |= {"at_least": about["at_least"], "probability": about["probability"]}
    needs = bj.decide.labels_to_pass(power=about["power"], strategies=[strategy], **asked)
    labels = needs[strategy]
    chance = bj.decide.chance_to_pass(labelled=labels or items, strategy=strategy, **asked)
    row = {**assumed, "strategy": strategy, "calibration": STRATEGIES[strategy]}
    return {**row, "labelled": labels, "chance": round(chance, 4), "split": split}


# Sentences ---------------------------------------------------------------------------------------


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"


def by_split(counts: Sequence[int | None]) -> list[str]:
    """Tell how much a number depends on how the judge's errors split, if it does."""
    ends = _ends(counts, "out of reach")
    words = "by how the judge's errors split between good and bad outputs"
    return [f"The number may differ ({ends}, {words})."] if ends else []


def _counts(rows: Sequence[Mapping[str, Any]], strategy: str, prevalence: float) -> list[Any]:
    return [
        row["labelled"]
        for row in rows
        if row["strategy"] == strategy and row["prevalence"] == prevalence
    ]


def _at_the_threshold(about: Mapping[str, Any]) -> list[str]:
    share = _percent(about["at_least"])
    wrong = _percent(1 - about["probability"])
    return [
        f"No number of labels shows that people would pass at least {share} if they would pass "
        f"{share} exactly.",
        f"A gate then passes {wrong} of the time at most, however many labels there are. Ask for a "
        "share below what you expect, or make the outputs better.",
    ]


def _answer(
    rows: Sequence[Mapping[str, Any]],
    prevalence: float,
    judge: Judge | None,
    about: Mapping[str, Any],
    items: int,
) -> list[str]:
    """The sentence that opens the screen, and what it rests on."""
    people = _counts(rows, PEOPLE, prevalence)[0]
    counts = _counts(rows, SAMPLE, prevalence) if judge else [people]
    if counts[0] is None:
        return _out_of_reach(rows, prevalence, judge, about, items)
    without = f"more than the {items:,} items" if people is None else f"{people:,}"
    return [
        f"About {how_many(counts[0], 'label')} of a random sample are likely to show that people "
        f"would pass at least {_percent(about['at_least'])} of outputs.",
        f"The chance is {_percent(about['power'])} if they would pass {_percent(prevalence)}, and "
        f"what is shown is {_percent(about['probability'])} sure.",
        *by_split(counts),
        "A judge saves some of the labels (--agreement)."
        if judge is None
        else f"Without the judge it takes {without}.",
    ]


def _out_of_reach(
    rows: Sequence[Mapping[str, Any]],
    prevalence: float,
    judge: Judge | None,
    about: Mapping[str, Any],
    items: int,
) -> list[str]:
    which = SAMPLE if judge else PEOPLE
    chance = next(row["chance"] for row in rows if row["strategy"] == which)
    wanted = items_to_pass(about["at_least"], prevalence, about["probability"], about["power"])
    share, most = _percent(prevalence), _percent(round(chance, 2))
    least = _percent(about["at_least"])
    return [
        f"With {how_many(items, 'item')} no number of labels is likely to show a share of at least "
        f"{least}.",
        f"If people would pass {share} of outputs, even {how_many(items, 'label')} show it with a "
        f"chance of {most} only.",
        f"About {float(f'{wanted:.3g}'):,.0f} items, all of them labelled, would do; or ask for a "
        f"share further below {share}, or accept a lower chance (--power).",
    ]


def _answer_of_guesses(
    rows: Sequence[Mapping[str, Any]],
    guesses: Sequence[float],
    judge: Judge | None,
    about: Mapping[str, Any],
    items: int,
) -> list[str]:
    labels, nouns = list[str](), list[str]()
    for guess in guesses:
        counts = _counts(rows, SAMPLE if judge else PEOPLE, guess)
        known = sorted(n for n in counts if n is not None)
        each = f"{known[0]:,}" if known else f"more than the {items:,} items"
        if known and len(known) < len(counts):
            each += " or more"
        elif len({*known}) > 1:
            each += f" to {known[-1]:,}"
        labels.append(each)
        nouns.append(" labels of a random sample" * bool(known))
    share, middle = _percent(about["at_least"]), len(guesses) // 2
    passed = [_percent(guess) for guess in guesses]
    each = ", ".join(f"{n} if {guess}" for n, guess in zip(labels, passed, strict=True))
    return [
        f"To show that people would pass at least {share} of outputs takes "
        f"{labels[middle]}{nouns[middle]} if they would pass {passed[middle]}.",
        f"It depends on how many they would pass: {each}; if {share} exactly, no "
        f"number will do. With so many `bayesjudge gate` passes with a chance of "
        f"{_percent(about['power'])}, and a pass is {_percent(about['probability'])} sure.",
    ]


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    ranged = _are_ranged(rows)
    several = len({row["prevalence"] for row in rows}) > 1
    head = ["people pass"] * several + ["strategy", "--calibration", "labels", "chance"]
    lines = []
    for row in rows:
        if row["split"]:
            continue
        every = _counts(rows, row["strategy"], row["prevalence"])
        cells = [_percent(row["prevalence"])] * several + [row["strategy"], row["calibration"]]
        cells += [_number(row["labelled"]), f"{row['chance']:.2f}"]
        lines.append(Line(cells + [_ends(every)] * ranged))
    return Table([*head, *["range"] * ranged], lines, ("people pass", "labels", "chance", "range"))


def _number(labels: int | None) -> str:
    return "–" if labels is None else f"{labels:,}"


def _ends(counts: Sequence[int | None], beyond: str = "–") -> str:
    """From the fewest to the most labels, of several splits."""
    known = sorted(n for n in counts if n is not None)
    if len({*counts}) < 2 or not known:
        return ""
    return f"{known[0]:,} to {f'{known[-1]:,}' if len(known) == len(counts) else beyond}"


def _are_ranged(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a number differs by how the judge's errors split."""
    return any(_ends(_counts(rows, row["strategy"], row["prevalence"])) for row in rows)


def _below(rows: Sequence[Mapping[str, Any]], judge: Judge | None, about: Mapping[str, Any]) -> str:
    """What the columns are, and what to do next."""
    lines = []
    if rows:
        sure, gate = _percent(about["probability"]), f"--at-least {about['at_least']:g}"
        text = f"chance: that `bayesjudge gate {gate}` passes, {sure} sure, with so many labels"
        if any(row["labelled"] is None for row in rows):
            text += " (–: it takes more than there are items; the chance is that of as many)"
        lines.append(f"{text}.")
    if _are_ranged(rows):
        lines.append(
            "range: from a judge whose verdicts tell most of people's labels to one whose verdicts "
            "tell least; the agreement alone does not say which it is."
        )
    lines.append(
        f"`bayesjudge label TABLE --gate {about['at_least']:g}` draws what to label and stops by "
        "itself as soon as it is decided."
    )
    return "\n".join(lines)
