"""The answer of the module: how far a judge agrees with people, and what that is enough for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bayesjudge.core.answer import (
    MOST_NAMED,
    SURE,
    Answer,
    as_estimates,
    chance,
    data_of,
    how_chosen,
    labelled_words,
    listed,
    numbers,
    percents,
    points,
)
from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Estimate, Row
from bayesjudge.core.fit import Fit
from bayesjudge.core.planning import OUT_OF_REACH
from bayesjudge.core.worth import Worth, worth_words
from bayesjudge.judge.data import Judged
from bayesjudge.judge.quality import WITH_PERSON, quality
from bayesjudge.judge.selection import Measure, select
from bayesjudge.judge.worth import worth as worth_in_labels
from bayesjudge.truth.agreement import among
from bayesjudge.truth.pairs import with_ends

#: With a smaller chance systems were not labelled at one rate.
UNEVEN = 1e-4
#: What is quoted of each kind of judge.
QUOTED = {
    "verdicts": ("accuracy", "kappa", "ac1", "sensitivity", "specificity", "ppv", "npv"),
    "classes": ("accuracy", "kappa", "ac1", "recall", "precision"),
    "grades": ("mean_error", "mean_absolute_error", "correlation", "weighted_kappa"),
    "scores": ("auc",),
}


def answer(*results: Estimate | Fit, ci_prob: float = 0.95, interval: Any = None) -> Answer:
    """Say how far the judge agrees with people, and for what that is good enough.

    Parameters
    ----------
    *results : Estimate or Fit
        One of them from `quality`.
    ci_prob : float, default 0.95
        Probability of the intervals.
    interval : optional
        Not used: intervals are equal-tailed.

    Returns
    -------
    Answer
        The sentence; notes on what the judge is enough for; the numbers.

    Raises
    ------
    InputError
        If no result is from `quality`.

    Examples
    --------
    >>> from bayesjudge import Verdicts
    >>> from bayesjudge.judge import quality
    >>> table = Verdicts.from_counts([[38, 20], [2, 40], [144, 206]], calibration="random")
    >>> print(answer(quality(table)).text)
    This judge agrees with people on 78 % of outputs (70 to 85 %, 95 % interval): Cohen's kappa \
0.57 (0.42 to 0.70).
    """
    estimates = as_estimates(results, ci_prob)
    judged = data_of(estimates, Judged)
    with checking("judge.answer") as require:
        require(judged is not None, "expected the result of judge.quality")
    assert judged is not None
    (agreement,) = [estimate for estimate in estimates if isinstance(estimate.data, Judged)][:1]
    worth = worth_in_labels(judged, ci_prob=ci_prob)
    names = {_name(judged, *at): each for at, each in worth.items()}
    if len(judged.judges) > 1:
        text, notes = _of_judges(judged, agreement, ci_prob)
    elif len(judged.systems) > 1:
        text, notes = _of_systems(judged, agreement)
        whole = _whole(judged)
        if whole is not None:
            (overall,) = worth_in_labels(whole, ci_prob=ci_prob).values()
            of_systems = text
            text, notes = _of_one(whole, quality(whole, ci_prob=ci_prob), overall, ci_prob)
            notes = *notes, of_systems
    else:
        (its_worth,) = worth.values()
        text, notes = _of_one(judged, agreement, its_worth, ci_prob)
    sentence = worth_words(names) if len(names) > 1 else ""
    if sentence and judged.complete:
        sentence = f"{sentence[:-1]}, if many other outputs have a verdict and no label."
    quoted = [name for name in QUOTED[judged.kind] if name in agreement]
    return Answer(
        text,
        basis=_basis(judged),
        why=f"Quoted: {agreement.method}, the posterior of what both said, for labels chosen "
        f"{how_chosen(judged.design)}.",
        quoted=agreement.only(*quoted),
        notes=tuple(filter(None, (*notes, sentence, *_behind_errors(judged, agreement)))),
        worth=names,
    )


def _name(judged: Judged, judge: str, system: str) -> str:
    several = (judge, len(judged.judges)), (system, len(judged.systems))
    return " on ".join(name for name, n in several if n > 1)


def _basis(judged: Judged) -> str:
    labelled = judged.labelled if judged.people is None else judged.people.labelled_n
    rest = judged.seen - (labelled if judged.design.same_items else 0)
    return f"{labelled_words(labelled, rest, judged.design)}."


def _behind_errors(judged: Judged, agreement: Estimate) -> tuple[str, ...]:
    """Of several people: what rates are about, what these people say, and what worth counts."""
    if judged.people is None:
        return ()
    out = judged.people.labelled_n - judged.labelled
    rows = [row for _, _, row in agreement.only(WITH_PERSON).rows()]
    says = f": {percents(rows[0])} of outputs" if len(rows) == 1 else ""
    return (
        "These numbers are about the truth behind people's errors, estimated from all labels of "
        f"{listed(judged.people.people)}, not about what they say.",
        f"How often the judge says what one of them says is another number{says}.",
        f"Worth is beside the {judged.labelled:,} outputs that two labelled alike, or that were "
        f"adjudicated; {out:,} others are left out, so it is more than beside one person's labels.",
    )


def _of_one(
    judged: Judged, agreement: Estimate, worth: Worth, ci_prob: float
) -> tuple[str, tuple[str, ...]]:
    """One judge and one system: how far the two agree, and for what that is good enough."""
    errs = _errs(judged, agreement)
    text, more = f"This judge {errs}.", ""
    if "kappa" in agreement:
        text = _agrees(judged, agreement, ci_prob)
        more = f"It {errs}." if judged.kind == "verdicts" else ""
    elif judged.kind == "grades":
        more = _off(agreement, ci_prob)
    elif judged.kind == "scores":
        more = _calibrated(judged, ci_prob)
    uses = [*_to_measure(judged, agreement, worth, ci_prob), *_for_what(judged, agreement)]
    first, last = (more, "") if judged.kind == "scores" else ("", more)
    return text, tuple(filter(None, (first, *uses, last, _weakest(judged, agreement))))


def _agrees(judged: Judged, rates: Estimate, ci_prob: float) -> str:
    """As ``This judge agrees with people on 78 % of outputs (70 to 85 %): Cohen's kappa 0.57``."""
    does = "agrees with people" if judged.people is None else "is right"
    text = f"This judge {does} on {percents(rates['accuracy'], ci_prob, ' of outputs')}"
    if np.isnan(rates["kappa"].value):
        return f"{text}."
    return f"{text}: Cohen's kappa {numbers(rates['kappa'])}."


def _errs(judged: Judged, agreement: Estimate) -> str:
    name = judged.pass_name
    if judged.kind == "verdicts":
        hits = _percent(agreement["sensitivity"].value)
        wrong = _percent(1 - agreement["specificity"].value)
        if judged.people is not None:
            known = "is so," if name else "is truly good and"
        else:
            known = "people do," if name else "people pass and"
        passes = f"calls {name!r}" if name else "passes"
        return f"{passes} {hits} of what {known} {wrong} of the rest"
    if judged.kind == "classes":
        return "has the recall below"
    if judged.kind == "grades":
        error = agreement["mean_error"]
        more = "more" if error.value >= 0 else "less"
        size = numbers(Row(*(abs(x) for x in error))).partition(" (")[0]
        r = agreement["correlation"].value
        return f"correlates {r:.2f} with people, and gives {size} {more} on average"
    auc = percents(agreement["auc"], agreement.ci_prob, " of pairs")
    return f"scores a good output above a bad one in {auc}"


def _percent(share: float) -> str:
    return "an unknown share" if np.isnan(share) else f"{100 * share:.0f} %"


def _to_measure(judged: Judged, rates: Estimate, worth: Worth, ci_prob: float) -> list[str]:
    """What it adds to labels, and how far off it is without any."""
    uses = []
    if worth.known and judged.design.is_sample:
        added = f"it is worth {worth} on top of your {worth.labels:,}"
        if judged.complete:
            added = f"beside your {worth.labels:,} it is worth up to {worth}"
            added += ", if many more outputs have a verdict and no label"
        uses.append(f"To measure with labels: {added}.")
    elif worth.known:
        alone = max(round(worth.labels + worth.value), 0)
        uses.append(
            f"To measure with labels: with it your {worth.labels:,} tell as much as "
            f"{alone:,} random {'one' if alone == 1 else 'ones'}."
        )
    name = judged.pass_name
    gap = f"its share of {name!r}" if name else "its pass rate"
    if judged.kind == "grades":
        error, gap = rates["mean_error"], "its mean"
        known = f"{numbers(error, ci_prob)} off"
    elif judged.kind == "verdicts" and "judge_less_people" in rates:
        error = rates["judge_less_people"]
        known = f"off by {points(error, ci_prob)}"
    elif judged.kind == "scores" and _are_probabilities(judged):
        error = _mean(judged, lambda said, truth: said - truth, ci_prob)
        gap, known = "its mean", f"off by {points(error, ci_prob)}"
    else:
        return uses
    if np.isnan(error.value):
        answer = f"how far {gap} is off cannot be told"
    elif error.value == 0 or error.low <= 0 <= error.high:
        answer = f"{gap} may be right, or {known}"
    else:
        size = Row(abs(error.value), *sorted(map(abs, error[1:])))
        shown = numbers if judged.kind == "grades" else points
        answer = f"no, {gap} is {shown(size, ci_prob)} too {'high' if error.value > 0 else 'low'}"
    return [*uses, f"To measure without labels: {answer}."]


def _for_what(judged: Judged, rates: Estimate) -> list[str]:
    """Which errors the judge makes on single outputs."""
    name = judged.pass_name
    if judged.kind == "verdicts" and "ppv" in rates:
        wrong = percents(_less(rates["ppv"])), percents(_less(rates["npv"]))
        passes, fails = (f"of what it calls {name!r}", "of the rest") if name else (
            "of its passes", "of its fails")  # fmt: skip
        accepted = f"that {wrong[0]} {passes} are wrong, and {wrong[1]} {fails}"
    elif judged.kind == "classes" and "accuracy" in rates:
        accepted = f"that {percents(_less(rates['accuracy']))} are wrong"
    elif judged.kind == "grades":
        off = numbers(rates["mean_absolute_error"])
        accepted = f"errors of {off} on average, either way"
    elif judged.kind == "scores" and judged.design.is_sample:
        return ["To decide about single outputs: only beyond scores at which few verdicts are "
                "wrong, which `judge.trust` looks for (--trust)."]  # fmt: skip
    else:
        return []
    return [f"To decide about single outputs: only if you accept {accepted}."]


def _off(agreement: Estimate, ci_prob: float) -> str:
    kappa = numbers(agreement["weighted_kappa"], ci_prob)
    return f"Kappa with quadratic weights (far misses count more): {kappa}."


def _weakest(judged: Judged, rates: Estimate) -> str:
    """The grade at which it is farthest off, or the class that it misses most."""
    if judged.kind == "grades":
        return _weak(judged, rates)
    rows = {at["class"]: row for _, at, row in rates.only("recall").rows()}
    known = {name: row for name, row in rows.items() if not np.isnan(row.value)}
    if judged.kind != "classes" or not known:
        return ""
    worst = min(known, key=lambda name: known[name].value)
    return f"It is weakest on {worst!r}, of which it finds {percents(known[worst])}."


def _less(row: Row) -> Row:
    return Row(1 - row.value, 1 - row.high, 1 - row.low)


def _weak(judged: Judged, agreement: Estimate) -> str:
    """The score at which people's mean is farthest from the judge's."""
    far: tuple[float, str, Row] | None = None
    for _, at, row in agreement.only("people_mean").rows():
        name = str(at["score"])
        if " to " in name or np.isnan(row.low):
            continue
        level = float(name)
        off = max(row.low - level, level - row.high, 0.0)
        if off > 0 and (far is None or off > far[0]):
            far = off, name, row
    if far is None:
        return ""
    return f"Where it is weak: what it gives {far[1]}, people give {numbers(far[2])} on average."


def _calibrated(judged: Judged, ci_prob: float) -> str:
    """Whether a judge's probabilities are too sure: how sure it is, against how often it is right.

    Shown is the side, its passes or its fails, on which the two are farther apart.
    """
    if not _are_probabilities(judged):
        return ""
    (pairs,) = judged.pairs.values()
    said, truth = pairs.said, pairs.truth
    gap = _mean(judged, lambda p, good: np.maximum(p, 1 - p) - ((p >= 0.5) == good), ci_prob)
    if np.isnan(gap.low) or gap.low <= 0 <= gap.high:
        return f"No clear over- or underconfidence: it is {points(gap, ci_prob)} surer than right."
    shares, draws = pairs.shares(judged.design), pairs.draws(judged.design)
    sides = [side for side in (said >= 0.5, said < 0.5) if shares @ side > 0]
    side = max(sides, key=lambda side: abs(shares @ (side * (said - truth))))
    (says,), (people,) = (among(shares[None], what, side) for what in (said, truth))
    row = Row(*with_ends(float(people), among(draws, truth, side), ci_prob))
    kind = "overconfident" if gap.value > 0 else "underconfident"
    return (
        f"It is {kind}: where it says {100 * says:.0f} % on average, people pass {percents(row)}."
    )


def _are_probabilities(judged: Judged) -> bool:
    """Whether scores lie between 0 and 1, and labels are a random sample."""
    return bool(judged.table.scale == (0, 1)) and judged.design.is_sample


def _mean(judged: Judged, of: Callable[[Any, Any], Any], ci_prob: float) -> Row:
    """Mean over all outputs of a function of what one judge and people said."""
    (pairs,) = judged.pairs.values()
    values = of(pairs.said, pairs.truth)
    shares, draws = pairs.shares(judged.design), pairs.draws(judged.design)
    return Row(*with_ends(float(shares @ values), draws @ values, ci_prob))


def _whole(judged: Judged) -> Judged | None:
    """All systems as one, if labels are a random sample of all: as many of each, but for chance."""
    verdicts = judged.verdicts
    if verdicts is None or judged.people is not None or not judged.design.is_sample:
        return None
    from scipy.stats import chi2_contingency

    counts = np.array([(p.labelled, p.all_n.sum() - p.labelled) for p in judged.pairs.values()])
    seen = counts.any(axis=1)
    if not judged.complete and chi2_contingency(counts[seen]).pvalue < UNEVEN:
        return None
    return Judged(replace(verdicts, dim="stratum"), tuned=judged.tuned)


def _of_systems(judged: Judged, agreement: Estimate) -> tuple[str, tuple[str, ...]]:
    """One judge of several systems: where it is best and worst."""
    main = {"grades": "correlation", "scores": "auc"}.get(judged.kind, "accuracy")
    main = main if main in agreement else "youden" if "youden" in agreement else "recall"
    rows = {at["system"]: row for _, at, row in agreement.only(main).rows() if "class" not in at}
    known = {name: row for name, row in rows.items() if not np.isnan(row.value)}
    if not known:
        return "The labels do not tell how good the judge is on any of these.", ()
    order = sorted(known, key=lambda name: -known[name].value)
    words = percents if main in ("accuracy", "auc", "recall") else numbers
    what = {
        "accuracy": "The judge is right on {} of outputs of {}",
        "auc": "Good scores above bad in {} of pairs of {}",
        "correlation": "The judge correlates {} with people on {}",
    }.get(main, "The judge has sensitivity + specificity - 1 of {} on {}")
    first, last = order[0], order[-1]
    text = what.format(words(known[first]), first)
    if len(order) > 1:
        text += f", {words(known[last])} of {last}"
        text += f"; {len(order) - 2} between" if len(order) > 2 else ""
    return f"{text}.", (_level(agreement),)


def _level(estimate: Estimate) -> str:
    """What the intervals of a first sentence of two are: there it would be too long."""
    return f"These are {100 * estimate.ci_prob:g} % intervals."


def _of_judges(judged: Judged, agreement: Estimate, ci_prob: float) -> tuple[str, tuple[str, ...]]:
    """Several judges: which is best, and for what it is enough."""
    if judged.verdicts is None:
        main = "correlation" if judged.kind == "grades" else "auc"
        rows = {
            at["judge"]: row for _, at, row in agreement.only(main).rows() if "system" not in at
        }
        if not rows:
            return "The numbers of each judge are below.", ()
        order = sorted(rows, key=lambda name: -rows[name].value)
        each = [f"{name} {numbers(rows[name])}" for name in order[:MOST_NAMED]]
        heading = "Correlation with people" if judged.kind == "grades" else "Area under the curve"
        return f"{heading}: {listed(each)}.", ()
    measure: Measure = "accuracy" if "prevalence" in judged.design.identifies else "youden"
    compared = select(judged, measure=measure, ci_prob=ci_prob)
    if len(judged.systems) > 1:
        return selection_words(compared, compared)
    text, notes = selection_words(compared, agreement)
    best = str(compared.quantities["difference"].labels[0][0])  # judges are in their order
    of_best = _alone(judged, best)
    rates = quality(of_best, ci_prob=ci_prob)
    elsewhere = Worth(
        np.nan, np.nan, np.nan, of_best.labelled, ci_prob
    )  # a sentence for all judges
    uses = [*_to_measure(of_best, rates, elsewhere, ci_prob), *_for_what(of_best, rates)]
    return text, (*notes, *(f"For {best}, {use[:1].lower()}{use[1:]}" for use in uses))


def _alone(judged: Judged, judge: str) -> Judged:
    """One of several judges."""
    verdicts = judged.verdicts
    assert verdicts is not None
    columns = verdicts.judge_of_column == judged.judges.index(judge)
    kept: dict[str, Any] = {"judges": (judge,), "judge_of_column": np.zeros(columns.sum(), int)}
    return Judged(replace(verdicts, response=verdicts.response[:, columns], unparsed=0, **kept))


def selection_words(compared: Estimate, counted: Estimate) -> tuple[str, tuple[str, ...]]:
    """``new is better than old with probability 0.98: right on 93 % of outputs, old on 80 %.``"""
    measure = next(name for name in ("accuracy", "youden") if name in compared)
    shrunk, rows = (
        {at["judge"]: row for _, at, row in estimate.only(measure).rows()}
        for estimate in (compared, counted)
    )
    best, *others = sorted(shrunk, key=lambda name: -shrunk[name].value)
    second = others[0]
    surely = compared["p_better", best, second].value
    value = percents if measure == "accuracy" else numbers
    kind = "right on {} of outputs" if measure == "accuracy" else "sensitivity + specificity - 1 {}"
    is_better = f"{best} is better than {second} with probability {chance(surely)}"
    if len(rows) > 2:
        p_best = compared["p_best", best].value
        is_better = f"{best} is best of {len(rows)} with probability {chance(p_best)}"
    text = f"{is_better}: {kind.format(value(rows[best]))}, {second} {value(rows[second])}."
    notes = [_level(compared)]
    if len(rows) > 2:
        expected = value(shrunk[best], compared.ci_prob)
        notes.append(
            f"The best of {len(rows)} is partly luck: of other outputs expect {expected} of {best}."
        )
    needed, gap = (compared[name, best, second] for name in ("labels_needed", "difference"))
    if surely < SURE and needed.value > OUT_OF_REACH * compared.data.seen:
        notes.append(f"Whether {best} or {second} is better cannot be decided with these outputs.")
    elif surely < SURE:
        by = points(Row(gap.value, np.nan, np.nan)) if measure == "accuracy" else f"{gap.value:.2f}"
        notes.append(
            f"If {best} and {second} differ by {by} (gaps as counted are partly luck), some "
            f"{_rounded(needed.value):,} labels in all decide which is better."
        )
    return text, tuple(notes)


def _rounded(number: float) -> int:
    """To two digits."""
    digits = max(len(str(int(number))) - 2, 0)
    return int(np.ceil(number / 10**digits) * 10**digits)
