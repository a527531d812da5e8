"""The answer of the module: the total that people would give, and what the criteria do to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bayesjudge.core import methods
from bayesjudge.core.answer import (
    MOST_NAMED,
    Answer,
    Claim,
    as_estimates,
    data_of,
    difference_words,
    few_of,
    first_percent,
    follow_selection,
    how_chosen,
    listed,
    percent_of,
    percents,
    quote,
)
from bayesjudge.core.diagnosis import selection_of
from bayesjudge.core.estimate import Estimate, Interval, Row
from bayesjudge.core.fit import Fit
from bayesjudge.core.names import short_names
from bayesjudge.core.screen import first_of, how_many
from bayesjudge.rubric.criteria import REACH, CannotJudge, cannot_judge
from bayesjudge.rubric.data import Rubric
from bayesjudge.rubric.totals import within_classes

#: A criterion is proposed for people if the total's interval becomes this part of its width.
NARROWER = 0.9
#: Of what a sentence speaks.
MEASURES = {"youden": "sensitivity + specificity - 1", "correlation": "correlation with people",
            "auc": "area under the curve"}  # fmt: skip


def answer(
    *results: Estimate | Fit,
    ci_prob: float = 0.95,
    interval: Interval | None = None,
    reach: float | Mapping[str, float] = REACH,
) -> Answer:
    """Say what total people would give, which criterion costs most, and whom it should be given to.

    Parameters
    ----------
    *results : Estimate or Fit
        Of one rubric: `total`, and as wanted `meets`, `by_criterion` and `differences`.
    ci_prob : float, default 0.95
        Probability of the intervals; an estimate must have been made at it.
    interval : {"eti", "hdi"}, optional
        Kind of interval of fits.
    reach : float or mapping of str to float, default 0.5
        As of `cannot_judge`.

    Returns
    -------
    Answer
        ``str(answer)`` is the text; ``answer.quoted`` the totals.

    Raises
    ------
    InputError
        If nothing was given, or no result has a total.

    Examples
    --------
    >>> from bayesjudge.rubric import simulate, total
    >>> table = simulate(outputs=400, labelled=100, random_seed=1)
    >>> pairs = {f"c{i}": (f"judge_c{i}", f"human_c{i}") for i in range(1, 5)}
    >>> rubric = Rubric.from_frame(table, criteria=pairs, calibration="random")
    >>> print(answer(*total(rubric)).text)
    People would give outputs like these 61 % of the points (57 to 65 %, 95 % interval); \
the judge gives 58 %.
    """
    estimates = as_estimates(results, ci_prob, interval)
    rubric = data_of(estimates, Rubric)
    declared = _as_declared(estimates, rubric, ci_prob, reach)
    if rubric is None or rubric.place is None:
        return declared
    estimate = within_classes(rubric, ci_prob)
    valid = _as_declared([estimate], rubric, ci_prob, reach)
    valid = replace(valid, quoted=estimate, notes=_within(estimate))
    return follow_selection(declared, selection_of(rubric), valid)


def _within(estimate: Estimate) -> tuple[str, ...]:
    """What people would say of each criterion."""
    rows = [(" of ".join(map(str, at.values())), row)
            for quantity, at, row in estimate.rows() if quantity == "criterion_met"]  # fmt: skip
    each = first_of([f"{name} {percents(row)}" for name, row in rows], MOST_NAMED)
    return (f"Criteria are met so: {listed(each)}.",) if rows else ()


def _as_declared(
    estimates: Sequence[Estimate],
    rubric: Rubric | None,
    ci_prob: float,
    reach: float | Mapping[str, float],
) -> Answer:
    """What results say, if labels came as was declared."""
    quoted = quote(estimates, "total", methods.JUDGE_SCORE)
    compared = next((estimate for estimate in estimates if "difference" in estimate), None)
    if len(quoted.rows) == 1:
        (row,), judged = quoted.rows.values(), quoted.judge_rows.get("")
        text = f"People would give outputs like these {percents(row, ci_prob, ' of the points')}"
        text += f"; the judge gives {first_percent(judged)} %." if judged else "."
        more: tuple[str, ...] = ()
    else:
        text, *more_of_each = _of_systems(quoted.rows, compared, ci_prob)
        more = tuple(more_of_each)
    notes = [
        *more,
        *_met(estimates),
        *(
            note
            for estimate in estimates
            if "criterion_met" in estimate
            for note in _criteria(estimate, reach)
        ),
    ]
    return Answer(
        text,
        basis="" if rubric is None else _basis(rubric),
        why=f"Quoted: {quoted.whole.method}, output by output: errors on its criteria may be "
        "related.",
        quoted=quoted.shares,
        judge=quoted.judge,
        notes=tuple(notes),
        known=not quoted.unknown,
        lead=None if compared is None or len(quoted.rows) > 2 else _lead(compared),
    )


def _lead(compared: Estimate) -> Claim:
    (_, at, row), *_ = compared.only("difference").rows()
    return Claim.of({**at, **row._asdict()})


def _basis(rubric: Rubric) -> str:
    part = f", {rubric.partly:,} in part" if rubric.partly else ""
    kind = "criteria of its own each" if rubric.own_criteria else f"{len(rubric.criteria)} criteria"
    text = f"{how_many(len(rubric.judged), 'output')}, {kind}, {int(rubric.whole.sum()):,} "
    text += f"labelled throughout{part} ({how_chosen(rubric.design)})"
    lost = int(rubric.lost.sum())
    return text + (
        f"; {how_many(lost, 'failed call')} counted as {rubric.failed}." if lost else "."
    )


def _of_systems(rows: Mapping[str, Row], compared: Estimate | None, ci_prob: float) -> list[str]:
    """The totals of the best and the worst; of two, after their difference."""
    names, between = few_of(rows)
    short = short_names(rows)
    each = [
        f"{short[name]} {percents(rows[name], None if i else ci_prob)}"
        for i, name in enumerate(names)
    ]
    text = f"Of the points people would give {listed(each)}."
    if compared is None or len(rows) > 2:
        return [text, *between]
    (_, at, row), *_ = compared.only("difference").rows()
    ends = {end: short.get(str(at[end]), at[end]) for end in ("first", "second")}
    return [f"{difference_words({**ends, **row._asdict()}, ci_prob)}.", text]


def _met(estimates: Sequence[Estimate]) -> list[str]:
    """The share of outputs that meet all criteria, or have so high a total."""
    notes = []
    for estimate in estimates:
        for quantity in {"all_met", "at_least"} & {*estimate.quantities}:
            rows = [(at, f"{at.get('system', '')} {percents(row)}".strip())
                    for _, at, row in estimate.rows()]  # fmt: skip
            words = "that meet every criterion"
            if quantity == "at_least":
                words = f"with a total of {percent_of(float(str(rows[0][0]['total'])))} or more"
            notes.append(f"Outputs {words}: {listed([text for _, text in rows[:MOST_NAMED]])}.")
    return notes


def _criteria(criteria: Estimate, reach: Any) -> list[str]:
    """Which criterion costs most, which the judge cannot judge, which to give to people."""
    notes = []
    of = _by_system(criteria, "points_lost")
    for system, rows in list(of.items())[:MOST_NAMED]:
        whose = f" of {system}" if system else ""
        name, row = max(rows.items(), key=lambda entry: entry[1].value)
        notes.append(f"Most points{whose} are lost on {name}: {percents(row, None, ' of all')}.")
    cannot = cannot_judge(criteria, reach)
    left = len(cannot) - MOST_NAMED
    notes += map(cannot_words, cannot[:MOST_NAMED])
    notes += [f"So it is with {left} more: --details."] if left > 0 else []
    now, given = (_by_system(criteria, name) for name in ("width_now", "width_if_given"))
    for system, rows in list(given.items())[:MOST_NAMED]:
        name, width = min(rows.items(), key=lambda entry: entry[1].value)
        before = now[system][name].value
        if width.value < NARROWER * before:
            whose = f" of {system}" if system else ""
            notes.append(
                f"Give {name}{whose} to people: if they judged it on every output, the interval "
                f"would be {100 * width.value:.1f} points wide, in place of {100 * before:.1f}."
            )
    return notes


def cannot_words(reason: CannotJudge) -> str:
    """Why a criterion is not for the judge."""
    where = f" for {reason.system}" if reason.system else ""
    return (
        f"The judge cannot judge {reason.criterion}{where}: its {MEASURES[reason.measure]} is "
        f"{reason.row.value:.2f} ({reason.row.low:.2f} to {reason.row.high:.2f}), below the "
        f"{reason.reach:.2f} that is asked of it."
    )


def _by_system(estimate: Estimate, quantity: str) -> dict[str, dict[str, Row]]:
    """Rows of a quantity by system and criterion."""
    by_system: dict[str, dict[str, Row]] = {}
    for _, at, row in estimate.only(quantity).rows():
        if row.value == row.value:
            by_system.setdefault(str(at.get("system", "")), {})[str(at["criterion"])] = row
    return by_system
