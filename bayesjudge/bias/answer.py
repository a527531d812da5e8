"""The answer of the module: how far changes move scores, and what can be promised."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from bayesjudge.bias.certificates.bounds import (
    neighbours_needed,
    predictive_bound,
    spared,
    tail_bound,
)
from bayesjudge.bias.certificates.certificate import Certificate
from bayesjudge.bias.data import Shifts
from bayesjudge.bias.position import Orders, chance_ahead
from bayesjudge.core import methods
from bayesjudge.core.answer import (
    MOST_NAMED,
    Answer,
    as_estimates,
    chance,
    claim,
    data_of,
    listed,
    mirrored,
    numbers,
    percent_of,
    percents,
    points,
    preferred,
    rows_of,
)
from bayesjudge.core.estimate import Estimate, Interval, Row
from bayesjudge.core.fit import Fit
from bayesjudge.core.screen import how_many

#: What assumes that shifts are normal, and is quoted last if a few are much larger than the rest.
NORMAL = (methods.VARIANCE_PARTS, methods.NORMAL_SHIFTS, methods.RMS_SHIFT_NORMAL)
#: What a pair can do when its answers swap places, in the order in which it is told.
PARTS = ("consistency", "primacy", "recency", "tie_in_one_order")
#: Judges whose position bias is told by name, if there are no more.
MOST_PAIRED = 2
#: Probability of moving further than is promised: the default of ``bayesjudge bias``.
MISSED = 0.05
#: Changed scores from which on the next one is likely enough to stay within the largest.
FEWEST_PREDICTED = neighbours_needed(MISSED, basis="predictive")


def answer(
    *results: Estimate | Fit | Certificate, ci_prob: float = 0.95, interval: Interval | None = None
) -> Answer:
    """Say how far irrelevant changes move scores, and what can be promised of released ones.

    The RMS shift is the answer; a mean shift is a sentence of its own if its interval excludes 0.
    Quoted is the exact posterior under a spread prior if it was made, otherwise the variance parts;
    if a few shifts are much larger than the rest, normal intervals cover too little
    (``benchmarks/bias/intervals.py``), and the RMS shift as measured is quoted, with an interval
    that assumes no distribution.

    Parameters
    ----------
    *results : Estimate, Fit or Certificate
        Of one `Shifts`, for example all of `closed_forms`, or of one `Orders`.
    ci_prob : float, default 0.95
        Probability of the intervals; an estimate must have been made at it.
    interval : {"eti", "hdi"}, optional
        Kind of interval of the fits.

    Returns
    -------
    Answer
        ``str(answer)`` is the text; ``answer.quoted`` the numbers.

    Raises
    ------
    InputError
        If nothing was given, or no result has an RMS shift or a position preference.
    """
    cards = [estimate for estimate in results if isinstance(estimate, Certificate)]
    rest = [estimate for estimate in results if not isinstance(estimate, Certificate)]
    estimates = as_estimates(rest, ci_prob, interval)
    for estimate in estimates:
        if isinstance(estimate.data, Orders):
            return _orders(estimate, ci_prob)
    for estimate in estimates:
        if "position_shift" in estimate:
            return _positions(estimate, ci_prob)
    shifts = data_of(estimates, Shifts)
    heavy = any(c.id == "heavy-tailed-shifts" for estimate in estimates for c in estimate.cautions)

    def rank(estimate: Estimate) -> float:
        normal = estimate.method in NORMAL
        return estimate.method.rank + 100 * (heavy and normal)

    quoted = preferred(estimates, "rms_shift", rank).only("rms_shift")
    noise = [c for each in estimates for c in each.cautions if c.id.startswith("repeat-noise")]
    quoted = replace(quoted, cautions=tuple(dict.fromkeys((*quoted.cautions, *noise[:1]))))
    rows = _changed(quoted, shifts)
    if not rows:
        more = []
        text = "Nothing was changed, so that these scores cannot tell how far a change moves them. "
        text += "Scores of the same items after the change would tell."
    else:
        text, *more = _sentences(rows, rows_of(estimates, "mean_shift"), estimates, shifts, ci_prob)
    moved = next((estimate for estimate in estimates if "share_moved" in estimate), None)
    notes = () if moved is None else _moved_more(moved, order=list(rows))
    notes += tuple(card.promise for card in cards)
    if rows and moved is None and not cards and shifts is not None:
        notes = _promised(shifts)
    why = (
        "the shifts have no outliers"
        if not heavy
        else ("a few shifts are much larger than the rest, where normal intervals cover too little")
    )
    return Answer(
        text,
        basis=_basis(shifts),
        why=f"Quoted: {quoted.method}, since {why}.",
        quoted=quoted,
        notes=(*more, *notes),
        known=bool(rows),
    )


def _positions(shifts: Estimate, ci_prob: float) -> Answer:
    """How far the place in the prompt moves scores, by judge."""
    each: dict[str, dict[str, Row]] = {}
    for (judge, place), row in rows_of([shifts], "position_shift").items():
        each.setdefault(str(judge), {})[str(place)] = row
    biased = {c.numbers["name"] for c in shifts.cautions if c.id == "position-bias"}
    sentences = []
    for judge, rows in each.items():
        ranked = sorted(rows, key=lambda place: rows[place].value)
        high, low = ranked[-1], ranked[0]
        who = "The judge" if len(each) == 1 else judge
        gap = f"{rows[high].value - rows[low].value:.2g} points"
        sentences.append(
            f"{who} scores an answer {gap} higher in place {high} than in place {low}"
            if judge in biased
            else f"{who} is not seen to mind the place: the largest gap, {gap}, may be chance"
        )
    return Answer(
        "; ".join(sentences[:MOST_NAMED]) + ".",
        basis="",
        why="Quoted: least squares within answers, with intervals by answer.",
        quoted=shifts,
        notes=tuple(
            (f"{judge}, " if len(each) > 1 else "")
            + "by place, against the mean of all: "
            + ", ".join(f"{place} {numbers(row, ci_prob)}" for place, row in rows.items())
            for judge, rows in list(each.items())[:MOST_NAMED]
        ),
    )


def _changed(quoted: Estimate, shifts: Shifts | None) -> dict[tuple[Any, ...], Row]:
    """Rows of the perturbations, the largest shift first; no reruns."""
    reruns = () if shifts is None else shifts.reruns
    every = rows_of([quoted], "rms_shift").items()
    rows = [(where, row) for where, row in every if where[-1] not in reruns]
    return dict(sorted(rows, key=lambda pair: -np.nan_to_num(pair[1].value)))


def _sentences(
    rows: dict[tuple[Any, ...], Row],
    means: dict[tuple[Any, ...], Row],
    estimates: list[Estimate],
    shifts: Shifts | None,
    ci_prob: float,
) -> list[str]:
    """How far each change moves a score, the largest first; then the directions that are known.

    Of verdicts: how many flip, which is the square of the RMS shift, and the share of 1s.
    """
    named, again = list(rows)[:MOST_NAMED], _again(estimates)
    first, *others = named
    verdicts = shifts is not None and _verdicts(shifts)
    unit = "" if shifts is None else points_of(shifts.scale)
    if verdicts:
        verb, by, unchanged = "flips", "", percent_of(again**2)
        size = percents(Row(*np.square(rows[first])), ci_prob, " of verdicts")
        size += f"; the RMS shift, {rows[first].value:.2g}, is its root"
        sizes = [percents(Row(*np.square(rows[place]))) for place in others]
    else:
        what = "a score" if shifts is None else _moved_by(shifts)
        verb, by, unchanged = f"moves {what} by", " by", f"{again:.2g}"
        size = numbers(rows[first], ci_prob, f"{unit}, root mean square")
        sizes = [numbers(rows[place]) for place in others]
    parts = [
        f"'{place[-1]}'{_of_judge(place)}{by if i else f' {verb}'} {x}"
        for i, (place, x) in enumerate(zip(others, sizes, strict=True))
    ]
    if again:
        parts.append(f"judging the same text again{by if parts else f' {verb}'} {unchanged}")
    scale = "" if verdicts else _on_scale(shifts)
    text = listed(parts)
    sentences = [f"'{first[-1]}'{_of_judge(first)} {verb} {size}{'' if text else scale}."]
    sentences += [f"{text[:1].upper()}{text[1:]}{scale}."] if text else []
    known = [place for place in named if place in means and _moves(means[place])]
    if known:
        sentences += [f"{_directions(known, means, verdicts=verdicts, unit=unit)}."]
    left = len(rows) - len(named)
    return sentences + ([f"{how_many(left, 'further change')} below."] if left else [])


def _moved_more(moved: Estimate, order: list[tuple[Any, ...]]) -> tuple[str, ...]:
    """Which share of scores moved by more than the limit, and what that says of a promise."""
    limit = f"more than {moved.method.setting} points"
    rows = rows_of([moved], "share_moved")
    named = [place for place in order if place in rows][:MOST_NAMED]
    shares = [
        f"{percents(rows[place], None if i else moved.ci_prob)}"
        f"{'' if i else f' of scores moved by {limit}'} under '{place[-1]}'{_of_judge(place)}"
        for i, place in enumerate(named)
    ]
    again = [rows[place] for place in rows if place not in order]
    most = max((row.value for row in again), default=np.nan)
    unchanged = f" ({percent_of(most)} if the same text is judged again)" * bool(again)
    less = limit.replace("more than ", "")
    if max(rows[place].low for place in named) > MISSED:
        end = f": {less} or less cannot be promised"
    elif max(rows[place].high for place in named) <= MISSED:
        end = f": {less} or less can be promised of {percent_of(1 - MISSED)} of scores"
    else:
        end = f": more changed scores would show whether at most {percent_of(MISSED)} move so far"
    return (f"{listed(shares)}{unchanged}{end}.",)


def _promised(shifts: Shifts) -> tuple[str, ...]:
    """Within how many points 95 % of changes stay, by order statistics, in one line."""
    if _verdicts(shifts) or not np.isfinite(shifts.largest):
        return ()
    groups = dict(shifts._groups(reruns=False))
    fewest = min(group.lengths.size for group in groups.values())
    sure = int(spared(fewest, MISSED, MISSED)) >= 0
    if not sure and fewest < FEWEST_PREDICTED:
        needed = f"{FEWEST_PREDICTED} changed scores of each kind would tell more"
        return (f"Of another such change nothing is promised but the ends of the scale; {needed}.",)
    bounds = {where: _bound(group, sure) for where, group in groups.items()}
    worst = sorted(bounds, key=lambda where: -bounds[where])[:MOST_NAMED]
    alone = len(bounds) == 1
    sizes = [
        f"{bounds[place]:.2g}"
        + points_of(shifts.scale) * (not i)
        + ("" if alone else f" ('{place[-1]}'{_of_judge(place)})")
        for i, place in enumerate(worst)
    ]
    what = _moved_by(shifts)
    share = percent_of(1 - MISSED)
    more = "For a limit of your own: --limit NUMBER."
    if sure:
        promise = f"With probability {share}, at most 1 in {round(1 / MISSED)} such changes moves "
        return (f"{promise}{what} by more than {listed(sizes)}. {more}",)
    promise = f"The next such change moves {what} by at most {listed(sizes)} with probability "
    return (f"{promise}{share}, on average over what might have been measured. {more}",)


def _bound(group: Shifts, sure: bool) -> float:
    """Length that 95 % of shifts do not exceed, or that the next one does not."""
    if sure:
        return tail_bound(
            group.lengths, largest=group.largest, shift_prob=MISSED, estimation_prob=MISSED
        )
    return predictive_bound(group.lengths, largest=group.largest, failure_prob=MISSED)


def _moved_by(shifts: Shifts) -> str:
    """What a change moves."""
    single = shifts.design == "item" and len(shifts.scores) == 1
    return "a score" if single else f"these {shifts.dim} scores, as a vector,"


def _verdicts(shifts: Shifts) -> bool:
    """Whether scores are verdicts, 0 or 1, changed item by item."""
    single = shifts.design == "item" and len(shifts.scores) == 1
    return single and shifts.scale == (0, 1) and set(shifts.lengths.tolist()) <= {0.0, 1.0}


def _of_judge(where: tuple[Any, ...]) -> str:
    return f" of {where[0]}" if len(where) > 1 else ""


def _directions(
    known: list[tuple[Any, ...]], means: dict[tuple[Any, ...], Row], *, verdicts: bool, unit: str
) -> str:
    """``'format' raises scores by 2.2 points on average (1.0 to 3.4), 'tone' by 1.1 (0.2 to 2.0)``.

    Of verdicts it is the share of 1s that is raised, by points.
    """
    what, say = ("the share of 1s", points) if verdicts else ("scores", numbers)
    average = "" if verdicts else f"{unit} on average"
    parts: list[str] = []
    before = ""
    for place in known:
        mean = means[place]
        moves = _moves(mean)
        size = mean if mean.value > 0 else mirrored(mean)
        verb = "" if moves == before else f" {moves} {what}"
        direction = f"'{place[-1]}'{_of_judge(place)}{verb} by "
        parts.append(direction + say(size, None, "" if parts else average))
        before = moves
    return listed(parts)


def _moves(mean: Row) -> str:
    """Which way scores move; nothing where the interval of the mean shift does not say."""
    if mean.low > 0 or mean.high < 0:
        return "raises" if mean.value > 0 else "lowers"
    return ""


def _again(estimates: list[Estimate]) -> float:
    """How far scores move that are judged again unchanged; 0 if nothing was."""
    again = [row.value for row in rows_of(estimates, "repeat_noise").values()]
    return float(np.nanmax(again)) if np.isfinite(again).any() else 0.0


def points_of(scale: tuple[float, float]) -> str:
    """`` points``; nothing on a scale on which a point is all of it."""
    return "" if scale[1] - scale[0] <= 1 else " points"


def _on_scale(shifts: Shifts | None) -> str:
    if shifts is None or not np.isfinite(shifts.span):
        return ""
    return f", on a scale of {shifts.scale[0]:g} to {shifts.scale[1]:g}"


def _orders(bias: Estimate, ci_prob: float) -> Answer:
    """Of pairs judged in both presentation orders."""
    lead = bias.quantities["position_preference"]
    judges = [str(at[0]) for at in lead.labels]
    most = int(np.argmax(np.abs(lead.value)))
    order = np.argsort(-lead.value, kind="stable").tolist()  # that of the table
    shown = order if len(judges) <= MOST_PAIRED else [most]
    text, *others = [
        f"{_lead(judges[i], lead.row(i), None if n else ci_prob)}." for n, i in enumerate(shown)
    ]
    if len(shown) < len(judges):
        others.append(f"That is the most of {len(judges)} judges.")
    parts = [_parts(bias, judges[i]) for i in shown]
    data = bias.data
    assert isinstance(data, Orders)
    pairs = how_many(int(data.pairs.sum()), "pair")
    basis = f"{pairs} in both orders, {how_many(len(judges), 'judge')}."
    return Answer(
        text,
        basis,
        f"Quoted: {bias.method}, which is exact.",
        bias.only("position_preference"),
        notes=(*others, *_winners(bias, data, shown, ci_prob), *parts),
    )


def _lead(judge: str, row: Row, ci_prob: float | None) -> str:
    """``gpt prefers the answer shown first, which wins 31 points more often than the second``."""
    side = "first" if row.value >= 0 else "second"
    size = row if row.value >= 0 else mirrored(row)
    verb = claim(float(size.low > 0), "prefers", "prefer")
    won = points(size, ci_prob, " more often than the other")
    return f"{_named(judge)} {verb} the answer shown {side}, which wins {won}"


def _parts(bias: Estimate, judge: str) -> str:
    """What becomes of a pair when its answers swap places; the parts add up to all pairs."""
    same, first, second, tie = _hundred([bias[name, judge].value for name in PARTS])
    parts = [f"the first place both times in {first} %", f"the second place in {second} %"]
    parts += [f"a tie in one order only in {tie} %"] * bool(tie)
    return (
        f"When the answers swap places, {_named(judge, 'the judge')} names the same winner (or a "
        f"tie) both times in {same} % of the pairs, {listed(parts)}."
    )


def _hundred(shares: list[float]) -> list[int]:
    """Whole percents that add up to 100: the largest remainders are rounded up."""
    whole = np.floor(100 * np.array(shares) + 1e-9).astype(int)
    order = np.argsort(whole - 100 * np.array(shares), kind="stable")
    whole[order[: 100 - whole.sum()]] += 1
    return whole.tolist()


def _winners(bias: Estimate, data: Orders, shown: Iterable[int], ci_prob: float) -> Iterator[str]:
    """Which answer wins with the place taken out: points over both orders."""
    if data.answers is None:
        return
    ahead, (first, other) = chance_ahead(data, ci_prob=ci_prob), data.answers
    for i in shown:
        judge, prob, names = data.judges[i], float(ahead[i]), (first, other)
        if bias["win_rate", judge, first].value < 0.5:
            prob, names = 1 - prob, (other, first)
        row = bias["win_rate", judge, names[0]]
        verb = claim(prob, "wins", "win")
        by = f" by {judge}" if len(data.judges) > 1 else ""
        yield (
            f"Over both orders {names[0]} {verb}{by}: {percents(row)} of the points, half a point "
            f"each for a tie; it is better than {names[1]} with probability {chance(prob)}."
        )


def _named(judge: str, alone: str = "The judge") -> str:
    return alone if judge == "judge" else judge


def _basis(shifts: Shifts | None) -> str:
    if shifts is None:
        return ""
    kinds = len(shifts._changed)
    return (
        f"{how_many(len(shifts.items), 'item')}, "
        f"{how_many(len(shifts.lengths), 'changed score')}, {how_many(kinds, 'kind')} of change, "
        f"{how_many(len(shifts.judges), 'judge')}."
    )
