"""The answer of the module: which judge agrees with people, and how surely."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bayesjudge.core.answer import (
    Answer,
    as_estimates,
    chance,
    entries,
    listed,
    percents,
    preferred,
)
from bayesjudge.core.estimate import Caution, Estimate, Interval, Row
from bayesjudge.core.fit import Fit
from bayesjudge.core.screen import how_many
from bayesjudge.ratings.data import Ratings
from bayesjudge.ratings.metrics import Definition

#: The definition by which judges are named best.
MAIN = str(Definition("hit_rate", "hard", "hard"))
#: Cautions of endorsements and of response sets, on which the hit rate of choices does not rest.
OF_ENDORSEMENTS = {"choices-stand-in", "not-identified", "ties-at-the-cutoff"}
#: Best judges closer than this probability to a coin's are not told apart.
SURE = 0.95


def answer(
    *results: Estimate | Fit, ci_prob: float = 0.95, interval: Interval | None = None
) -> Answer:
    """Say which judge agrees best with people, and how surely.

    Quoted is agreement by the model that draws judges together with people, if it was sampled:
    its intervals hold .85 to .90 where those of the bootstrap hold .24 to .40
    (``benchmarks/ratings/best.py``); otherwise agreement as counted.

    Parameters
    ----------
    *results : Estimate or Fit
        Of one `Ratings`: `agreement`'s or `performance`'s ``estimate()``, and ``best_estimate()``.
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
        If nothing was given.
    """
    made = as_estimates(results, ci_prob, interval)
    ratings = next((one.data for one in made if isinstance(one.data, Ratings)), None)
    if not any("hit_rate" in one for one in made):
        text = "These ratings cannot tell which judge agrees with people: no judge rated items "
        text += "that people rated. Name the judges, and let them rate the same items."
        return Answer(text, _basis(ratings), "", quoted=made[0], known=False)

    def rank(one: Estimate) -> float:
        return 0 if "judges tracking people" in one.method else 1 + ("judges" in one.method)

    quoted = preferred(made, "hit_rate", rank).only("hit_rate")
    quoted = replace(quoted, cautions=tuple(filter(_matters, quoted.cautions)))
    rows = {str(key[-1]): row for key, row in entries(quoted).items()}
    sampled = "Bayesian" in quoted.method
    named = _named_best([one for one in made if ("Bayesian" in one.method) == sampled])
    best = named.get(MAIN, {})
    why = "it draws judges together with people" if sampled else "intervals by resampling items"
    return Answer(
        _told(rows, best, sampled, ci_prob),
        basis=_basis(ratings),
        why=f"Quoted: {quoted.method}, {why}.",
        quoted=quoted,
        notes=(*_others(named, rows), *_instead_of_people(made)),
    )


def _matters(caution: Caution) -> bool:
    """Whether a caution is about the choices that the hit rate compares."""
    other = caution.name == "no-interval" and "hit_rate" not in caution.text
    return caution.name not in OF_ENDORSEMENTS and not other


def _told(rows: dict[str, Row], best: dict[str, float], sampled: bool, ci_prob: float) -> str:
    names = sorted(rows, key=lambda name: -np.nan_to_num(rows[name].value, nan=-1))
    first = names[0]
    text = f"{first} chooses as most people do on {percents(rows[first], ci_prob)} of items"
    if len(names) == 1:
        return f"{text}."
    text += f", {names[1]} on {percents(rows[names[1]])}"
    text += f", {names[-1]} on {percents(rows[names[-1]])}" if len(names) > 2 else ""
    if first in best:
        top = max(best, key=lambda name: best[name])
        kind = "probability" if sampled else "share of resamples"
        text += f"; {top} is best" if best[top] >= SURE else f"; which is best is open: {top}"
        text += f" ({kind} {best[top]:.2f})"
    return f"{text}."


def _named_best(made: list[Estimate]) -> dict[str, dict[str, float]]:
    """How often each judge is best, by definition of agreement."""
    named: dict[str, dict[str, float]] = {}
    for one in made:
        if "best" in one and one.quantities["best"].dims == ("definition", "judge"):
            for key, row in entries(one).items():
                if key[0] == "best":
                    named.setdefault(str(key[1]), {})[str(key[2])] = row.value
    return named


def _others(named: dict[str, dict[str, float]], rows: dict[str, Row]) -> tuple[str, ...]:
    """How many definitions of agreement name another judge, and how many are sure."""
    first = max(rows, key=lambda name: np.nan_to_num(rows[name].value, nan=-1))
    if len(rows) < 2 or len(named) < 2:
        return ()
    tops = [{j for j, x in of.items() if x >= max(of.values()) - 1e-9} for of in named.values()]
    apart = [next(iter(top)) for top in tops if len(top) == 1]
    other = sum(name != first for name in apart)
    tied = len(tops) - len(apart)
    if other:
        text = f"{other} of {len(named)} definitions of agreement name another judge: they measure "
        text += "different things"
    else:
        which = " that tell the judges apart" if tied else ""
        text = f"All {len(apart)} definitions of agreement{which} name {first}"
    text += f"; {tied} of {len(named)} do not tell them apart" if tied else ""
    sure = sum(max(of.values()) >= SURE for of in named.values())
    return (f"{text}; {sure or 'none'} of {len(named)} surely ({SURE:g} or more).",)


def _instead_of_people(made: list[Estimate]) -> tuple[str, ...]:
    """Whether a judge could replace a person, if annotators are known by name."""
    tested = next((one for one in made if "passes" in one), None)
    if tested is None:
        return ()
    few = next((c for c in tested.cautions if c.name == "few-annotators"), None)
    if few is not None:
        return (f"Whether a judge could replace a person is not known: {few.text}.",)
    rows = [(str(key[-1]), row.value) for key, row in entries(tested).items() if key[0] == "passes"]
    told = [f"{judge} {chance(value)}" for judge, value in rows]
    return (
        "Probability that a judge stands in for half of the annotators or more: "
        f"{listed(told)} (the published test asks more, see --details).",
    )


def _basis(ratings: Ratings | None) -> str:
    if ratings is None:
        return ""
    counted = {"choice": ratings.chosen, "response set": ratings.endorsed}
    answers = [how_many(int(n.sum()), name) for name, n in counted.items() if n.any()]
    return (
        f"{how_many(len(ratings.items or ratings.chosen[0]), 'item')}, "
        f"{listed(answers)} of people and "
        f"{how_many(len(ratings.judges), 'judge')}."
    )
