"""`answer`: who leads for people, and where the judge likes a system more than people do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bayesjudge.core.answer import (
    PROBABLE,
    SURE,
    Answer,
    as_estimates,
    chance,
    listed,
    percent_of,
    preferred,
)
from bayesjudge.core.estimate import Estimate, Interval, Row
from bayesjudge.core.fit import Fit
from bayesjudge.core.methods import JUDGE_BATTLES
from bayesjudge.core.screen import few, how_many
from bayesjudge.core.worth import Worth, worth_of_widths, worth_words
from bayesjudge.leaderboard.closed_form import ELO, rivals
from bayesjudge.leaderboard.data import Battles
from bayesjudge.leaderboard.laplace import approximate
from bayesjudge.leaderboard.model import CalibratedBattles
from bayesjudge.leaderboard.standings import elo_points, standings

#: Cautions with which the prior says how far systems are apart, and so what the judge is worth.
RESTS_ON_PRIOR = {"unconnected", "one-sided"}
#: Most favourites that are named.
MOST_NAMED = 3


def answer(
    *results: Estimate | Fit, ci_prob: float = 0.95, interval: Interval | None = None
) -> Answer:
    """Say which system leads for people, by how much and how surely.

    A posterior is quoted if there is one; then the prediction-powered estimate, then people's
    verdicts alone. Without people's verdicts the judge's own leaderboard is quoted, as the judge's,
    and the answer is not known.

    Parameters
    ----------
    *results : Estimate or Fit
        Of `closed_forms`, `approximate` or `fit`.
    ci_prob : float, default 0.95
        Probability of the intervals.
    interval : {"eti", "hdi"}, optional
        Kind of interval of a fit.

    Returns
    -------
    Answer
        Its notes tell the judge's favourites, how sharp the judge is, what the order of answers is
        worth, and which systems are not separated from the first.

    Raises
    ------
    InputError
        If nothing was given, or an estimate was made at another probability.
    """
    estimates = [e for e in as_estimates(results, ci_prob, interval) if "strength" in e]
    battles = next(estimate.data for estimate in estimates if isinstance(estimate.data, Battles))
    of_judges = [estimate for estimate in estimates if _is_judges(estimate)]
    of_people = [estimate for estimate in estimates if estimate not in of_judges]
    wanted = of_people if battles.labelled else of_judges
    quoted = preferred(wanted or estimates, "strength", lambda estimate: estimate.method.rank)
    fit = next((r for r in results if isinstance(r, Fit) and r.method == quoted.method), None)
    beside = of_judges[0] if of_judges and quoted not in of_judges else None
    known = not _is_judges(quoted) and battles.labelled > 0
    linked = fit is not None and not {c.id for c in fit.cautions} & RESTS_ON_PRIOR
    more = max((battles.verdicts[j] for j in battles.judges), default=0) > battles.labelled
    worth = {"": _worth(fit, ci_prob)} if fit and known and linked and more else {}
    notes = [] if fit is None or not known else [*_notes(fit, ci_prob), worth_words(worth)]
    return Answer(
        _sentence(quoted, fit, battles, known),
        basis=_basis(battles),
        why=_why(quoted, battles, known),
        quoted=elo_points(quoted),
        judge=beside and elo_points(beside),
        notes=tuple(filter(None, notes)),
        known=known,
        worth=worth,
    )


def _is_judges(estimate: Estimate) -> bool:
    return estimate.method.id.split(":")[0] == JUDGE_BATTLES.id


def _sentence(quoted: Estimate, fit: Fit | None, battles: Battles, known: bool) -> str:
    strength = quoted.quantities["strength"].value
    top = int(np.argmax(strength))
    first, second = (battles.systems[i] for i in (top, rivals(strength)[top]))
    row = quoted["lead", first]
    points, two = elo(row, quoted.ci_prob), len(battles.systems) == 2
    behind = f"{points} ahead of {second}"
    gap, rest = (points, second) if two else (behind, "the rest")
    at = " at equal length" if quoted.method.id.endswith(":equal-length") else ""
    if not known:
        who = quoted.method.setting.removesuffix(":equal-length").removesuffix(":half")
        who = "The judge" if who == "judge" else f"The judge {who}"
        if not _is_judges(quoted):
            return f"People were not asked; by judge and prior {first} is {behind}{at}."
        return f"{who} prefers {first}{at}: {gap}; without people's verdicts, theirs is unknown."
    if fit is None:
        sure, words = row.low > 0, ""
        leads = f"People prefer {first} to {rest}"
    else:
        likely = float((fit.draws("strength").argmax(axis=1) == top).mean())
        sure, words = likely >= PROBABLE, f", first with probability {chance(likely)}"
        probably = "" if likely >= SURE else "probably "
        leads = f"People {probably}prefer {first} to {rest}"
    if not sure:
        leads, gap = "No system leads for people yet", f"{first} is {behind}"
    return f"{leads}{at}: {gap}{words}."


def elo(row: Row, ci_prob: float | None = None) -> str:
    """``45 Elo points (12 to 80, 95 % interval)``."""
    value, low, high = (f"{ELO * x:.0f}".replace("-0", "0") for x in row)
    level = "" if ci_prob is None else f", {percent_of(ci_prob)} interval"
    return f"{value} Elo points ({low} to {high}{level})"


def _basis(battles: Battles) -> str:
    many = f"{how_many(battles.battles, 'battle')} of {how_many(len(battles.systems), 'system')}"
    said = battles.labelled
    heard = [name for name in battles.judges if battles.verdicts[name]]
    judges = f"; judged by {few(heard, 3)}" if heard else ""
    verdict = "people's verdict"
    if battles.averaged > 1:
        verdict = f"a verdict of {battles.averaged} people, their average where they differ"
    verdict += f", {battles.settled:,} settled" if battles.settled else ""
    return f"{many}, {said:,} of them with {verdict}{judges}."


def _why(quoted: Estimate, battles: Battles, known: bool) -> str:
    if not known:
        return f"Quoted: {quoted.method}; no battle has people's verdict."
    if quoted.method.computed == "formula":
        return f"Quoted: {quoted.method}."
    if sum(battles.verdicts.values()) == battles.labelled:
        return f"Quoted: {quoted.method.brief}, of people's verdicts alone."
    return (
        f"Quoted: {quoted.method}: it learns from the judge's battles as far as people's verdicts "
        "agree with them."
    )


def _notes(fit: Fit, ci_prob: float) -> list[str]:
    """What the posterior says of the judge, and of systems that are not separated."""
    notes = []
    table = standings(fit, ci_prob=ci_prob)
    tied = list(table.index[(table["rank_low"] == 1)])[1:]
    if tied:
        notes.append(f"Not separated from the first (all ranks at once): {few(tied, MOST_NAMED)}.")
    ends = [(1 - ci_prob) / 2, (1 + ci_prob) / 2]
    for j, judge in enumerate(fit.data.judges):
        who = "the judge" if len(fit.data.judges) == 1 else f"the judge {judge}"
        notes += _favourites(fit, j, who, ends)
        if len(fit.data.judges) == 1:
            sharp = fit.draws("sharpness")[:, 0]
            low, high = np.quantile(sharp, ends)
            if low > 1 or high < 1:
                notes.append(
                    f"Between two systems, people's gap is {sharp.mean():.2f} times the judge's "
                    f"({low:.2f} to {high:.2f})."
                )
        if "order_effect" in fit.idata["posterior"]:
            order = fit.draws("order_effect")[:, j]
            low, high = np.quantile(order, ends)
            if low > 0 or high < 0:
                row = Row(abs(order.mean()), *sorted((abs(low), abs(high))))
                place = "first" if low > 0 else "second"
                notes.append(f"For {who}, being shown {place} is worth {elo(row)}.")
    return notes


def _worth(fit: Fit, ci_prob: float) -> Worth:
    """Worth of the judges in people's verdicts: contrasts with them, and of people alone."""
    battles, model = fit.data, fit.spec
    assert isinstance(model, CalibratedBattles)
    no_judge = np.zeros((len(battles.first), 0, 3))
    people = replace(battles, judges=(), verdict=no_judge, unparsed=())
    alone = approximate(people, model, random_seed=fit.idata.attrs["random_seed"])
    without, judged = (
        float(np.sqrt(posterior.draws("strength").var(axis=0).sum())) for posterior in (alone, fit)
    )
    items = max(battles.verdicts.values())
    return worth_of_widths(without, judged, battles.labelled, items=items, ci_prob=ci_prob)


def _favourites(fit: Fit, judge: int, who: str, ends: list[float]) -> list[str]:
    """Systems that a judge likes more, or less, than people do, by more than chance."""
    favour = fit.draws("judge_favour")[:, judge]
    mean, (low, high) = favour.mean(axis=0), np.quantile(favour, ends, axis=0)
    sure = [i for i in np.argsort(-np.abs(mean)) if low[i] > 0 or high[i] < 0]
    liked = []
    for i in sure[:MOST_NAMED]:
        row = Row(abs(mean[i]), *sorted((abs(low[i]), abs(high[i]))))
        way = "more" if mean[i] > 0 else "less"
        name = fit.data.systems[i]
        liked.append(f"{name} {elo(row).replace(' (', f' {way} (', 1)}")
    if not liked:
        return []
    return [f"{who[:1].upper()}{who[1:]} likes {listed(liked)} than people do."]
