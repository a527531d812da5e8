"""The answer of the module: how far a judge agrees with people, and what that is enough for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
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
    mirrored,
    numbers,
    percent_of,
    percents,
    points,
)
from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Estimate, Row
from bayesjudge.core.fit import Fit
from bayesjudge.core.intervals import added
from bayesjudge.core.planning import OUT_OF_REACH
from bayesjudge.core.screen import first_of
from bayesjudge.core.worth import Worth, worth_words
from bayesjudge.judge.data import Judged
from bayesjudge.judge.quality import MOST_LEVELS, WITH_PERSON, quality
from bayesjudge.judge.selection import Measure, select
from bayesjudge.judge.worth import worth as worth_in_labels
from bayesjudge.truth.agreement import among
from bayesjudge.truth.pairs import with_ends

#: With a smaller chance systems were not labelled at one rate.
UNEVEN = 1e-4
#: A difference that is 0 but for rounding.
EQUAL = 1e-9
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
        One of them from `quality`; another from `trust` says which outputs a score decides.
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
            of_systems = text, _favours(judged, agreement)
            text, notes = _of_one(whole, quality(whole, ci_prob=ci_prob), overall, ci_prob)
            notes = *notes, *of_systems
    else:
        (its_worth,) = worth.values()
        trusted = next((estimate for estimate in estimates if "pass_from" in estimate), None)
        text, notes = _of_one(judged, agreement, its_worth, ci_prob, trusted)
    words_for = worth_words if judged.design.is_sample else _as_random_ones
    sentence = words_for(names) if len(names) > 1 else ""
    if sentence and judged.complete and judged.design.is_sample:
        sentence = f"{sentence[:-1]}, if many other outputs have a verdict and no label."
    quoted = [name for name in QUOTED[judged.kind] if name in agreement]
    return Answer(
        text,
        basis=_basis(judged),
        why=f"Quoted: {agreement.method}, the posterior of what "
        f"{'both said' if judged.people is None else 'is true and what the judge said'}, for "
        f"labels chosen {how_chosen(judged.design)}.",
        quoted=agreement.only(*quoted),
        notes=tuple(filter(None, (*notes, sentence, *_behind_errors(judged, agreement)))),
        worth=names,
    )


def _as_random_ones(worth: Mapping[str, Worth]) -> str:
    """How many random labels would tell as much as these, which were not, do with each judge."""
    known = {name: each for name, each in worth.items() if each.known}
    parts = [f"{_in_all(each):,} random ones with {name}" for name, each in known.items()]
    tell = "With a judge the labels, which are not a random sample, tell as much as "
    return f"{tell}{listed(first_of(parts, MOST_NAMED))}." if parts else ""


def _in_all(worth: Worth) -> int:
    """Random labels that would tell as much as those there are with the judge."""
    return max(round(worth.labels + worth.value), 0)


def _name(judged: Judged, judge: str, system: str) -> str:
    several = (judge, len(judged.judges)), (system, len(judged.systems))
    return " on ".join(name for name, n in several if n > 1)


def _basis(judged: Judged) -> str:
    labelled = judged.labelled if judged.people is None else judged.people.labelled_n
    rest = judged.seen - (labelled if judged.design.same_items else 0)
    rows = 0 if judged.scores is None else sum(table.rows for table in judged.scores.values())
    means = f"; {rows:,} rows: those of an item count as one, by their means" if rows else ""
    return f"{labelled_words(labelled, rest, judged.design)}{means}."


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
    judged: Judged,
    agreement: Estimate,
    worth: Worth,
    ci_prob: float,
    trusted: Estimate | None = None,
) -> tuple[str, tuple[str, ...]]:
    """One judge and one system: how far the two agree, and for what that is good enough."""
    errs = _errs(judged, agreement)
    text, more = f"This judge {errs}.", ""
    if "kappa" in agreement:
        text = _agrees(judged, agreement, ci_prob)
        more = f"It {errs}." if judged.kind == "verdicts" else ""
    elif judged.kind == "grades":
        more = _off(judged, agreement, ci_prob)
    elif judged.kind == "scores":
        more = _calibrated(judged, ci_prob)
    uses = _to_measure(judged, agreement, worth, ci_prob)
    uses += _for_what(judged, agreement) if trusted is None else [_beyond(trusted)]
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
        hits, wrong = agreement["sensitivity"], _less(agreement["specificity"])
        known, others = ("people do", "they do not") if name else ("people pass", "they fail")
        if judged.people is not None:
            known, others = ("is so", "is not") if name else ("is truly good", "is truly bad")
        passes = f"calls {name!r}" if name else "passes"
        return f"{passes} {percents(hits)} of what {known}, and {percents(wrong)} of what {others}"
    if judged.kind == "classes":
        return "has the recall below"
    if judged.kind == "grades":
        error = agreement["mean_error"]
        more = "more" if error.value >= 0 else "less"
        size = numbers(Row(*(abs(x) for x in error))).partition(" (")[0]
        r, (least, most) = agreement["correlation"].value, judged.table.truth_scale
        scale = f"on a scale of {least:g} to {most:g}"
        gives = "the same" if abs(error.value) < EQUAL else f"{size} {more}"
        return f"correlates {r:.2f} with people, and gives {gives} on average, {scale}"
    auc = percents(agreement["auc"], agreement.ci_prob, " of pairs")
    return f"scores a good output above a bad one in {auc}"


def _to_measure(judged: Judged, rates: Estimate, worth: Worth, ci_prob: float) -> list[str]:
    """What it adds to labels, and how far off it is without any."""
    uses = []
    if worth.known and judged.design.is_sample:
        adds = f"it is worth {worth} on top of your {worth.labels:,}"
        if judged.complete:
            adds = f"beside your {worth.labels:,} it is worth up to {worth}"
            adds += ", if many more outputs have a verdict and no label"
        uses.append(f"To measure with labels: {adds}.")
    elif worth.known:
        alone = _in_all(worth)
        uses.append(
            f"To measure with labels: with it your {worth.labels:,} tell as much as "
            f"{alone:,} random {'one' if alone == 1 else 'ones'}."
        )
    what, error = _gap(judged, rates, ci_prob)
    if error is None:
        return uses
    off = _off_by(error, numbers if judged.kind == "grades" else points, ci_prob)
    if np.isnan(error.value):
        answer = f"how far {what} is off cannot be told"
    elif abs(error.value) < EQUAL or error.low <= 0 <= error.high:
        answer = f"{what} may be right" + (
            f"; as counted it is {off}" if abs(error.value) >= EQUAL else ""
        )
    else:
        answer = f"no, {what} is {off}"
    return [*uses, f"To measure without labels: {answer}."]


def _gap(judged: Judged, rates: Estimate, ci_prob: float) -> tuple[str, Row | None]:
    """How far the judge's own share or mean is off; of classes the one that is farthest off.

    Its interval is one of all classes together (Bonferroni).
    """
    name = judged.pass_name
    if judged.kind == "grades":
        return "its mean", rates["mean_error"]
    if judged.kind == "scores" and _are_probabilities(judged):
        return "its mean", _mean(judged, lambda said, truth: said - truth, ci_prob)
    if judged.kind == "verdicts" and "judge_less_people" in rates:
        return f"its share of {name!r}" if name else "its pass rate", rates["judge_less_people"]
    if judged.kind != "classes" or "accuracy" not in rates:
        return "", None
    names = judged.table.classes
    off = {
        name: _mean(judged, partial(_of_class, k), 1 - (1 - ci_prob) / len(names))
        for k, name in enumerate(names)
    }
    farthest = max(off, key=lambda name: abs(np.nan_to_num(off[name].value)))
    return f"its share of {farthest!r}, the farthest off,", off[farthest]


def _of_class(k: int, said: np.ndarray, truth: np.ndarray) -> np.ndarray:
    return 1.0 * (said == k) - (truth == k)


def _off_by(error: Row, shown: Callable[..., str], ci_prob: float) -> str:
    """``5 points (-1 to 12, 95 % interval) too high``."""
    size = mirrored(error) if error.value < 0 else error
    return f"{shown(size, ci_prob)} too {'low' if error.value < 0 else 'high'}"


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
                "wrong, if there are any: --trust looks for them."]  # fmt: skip
    else:
        return []
    return [f"To decide about single outputs: only if you accept {accepted}."]


def _beyond(trusted: Estimate) -> str:
    """Which single outputs a score decides."""
    cuts = {"passes from {:.3g} on": "pass_from", "fails down to {:.3g}": "fail_to"}
    known = {words: trusted[name].value for words, name in cuts.items()}
    stand = [words.format(cut) for words, cut in known.items() if not np.isnan(cut)]
    answer = f"{listed(stand)} can stand" if stand else "no score is high or low enough"
    return f"To decide about single outputs: {answer}."


def _off(judged: Judged, agreement: Estimate, ci_prob: float) -> str:
    kappa = numbers(agreement["weighted_kappa"], ci_prob)
    text = f"Kappa with quadratic weights (far misses count more): {kappa}."
    (pairs,) = judged.pairs.values()
    shares, apart = pairs.shares(judged.design), np.abs(pairs.said - pairs.truth)
    if len(np.unique(pairs.truth)) <= MOST_LEVELS:
        same, near = (percent_of(shares @ (apart <= most)) for most in (0, 1))
        text += f" The same grade on {same} of outputs, within 1 on {near}."
    lowest, highest = (
        (level, among(shares[None], pairs.said, pairs.truth == level)[0])
        for level in (pairs.truth.min(), pairs.truth.max())
    )
    what = "gives {1:.1f} on average to what people give {0:g}"
    return f"{text} It {what.format(*lowest)}, and {highest[1]:.1f} to {highest[0]:g}."


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
    counts = np.array([(p.labelled, p.all_n.sum() - p.labelled) for p in judged.pairs.values()])
    seen = counts.any(axis=1)
    if not judged.complete:
        from scipy.stats import chi2_contingency  # slow to load

        if chi2_contingency(counts[seen]).pvalue < UNEVEN:
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
    return f"{text}.", tuple(filter(None, (_level(agreement), _favours(judged, agreement))))


def _favours(judged: Judged, agreement: Estimate) -> str:
    """Of two systems with outputs of their own: which of them the judge's own numbers favour."""
    grades = judged.kind == "grades"
    off = agreement.only("mean_error" if grades else "judge_less_people")
    rows = [row for *_, row in off.rows()]
    shared = judged.verdicts is not None and judged.verdicts.item is not None
    if len(rows) != 2 or shared or any(np.isnan(row.low) for row in rows):
        return ""
    gap = Row(*added(rows[0], mirrored(rows[1])))
    favoured, size = (
        (judged.systems[0], gap) if gap.value >= 0 else (judged.systems[1], mirrored(gap))
    )
    verb = "favours" if size.low > 0 else "may favour"
    by = (numbers if grades else points)(size, agreement.ci_prob)
    return f"To compare {listed(judged.systems)} without labels: it {verb} {favoured}, by {by}."


def _level(estimate: Estimate) -> str:
    """What the intervals of a first sentence of two are: there it would be too long."""
    return f"These are {100 * estimate.ci_prob:g} % intervals."


def _of_judges(judged: Judged, agreement: Estimate, ci_prob: float) -> tuple[str, tuple[str, ...]]:
    """Several judges: which is best, and for what it is enough."""
    alone = len(judged.systems) == 1
    if judged.verdicts is None:
        main = "correlation" if judged.kind == "grades" else "auc"
        if not alone:
            return "The numbers of each judge are below.", ()
        rows = {str(at["judge"]): row for _, at, row in agreement.only(main).rows()}
        order = sorted(rows, key=lambda name: -rows[name].value)
        each = [f"{name} {numbers(rows[name])}" for name in order[:MOST_NAMED]]
        heading = "Correlation with people" if judged.kind == "grades" else "Area under the curve"
        text, best = f"{heading}: {listed(each)}.", order[0]
        notes: tuple[str, ...] = (_level(agreement),)
    else:
        measure: Measure = "accuracy" if "prevalence" in judged.design.identifies else "youden"
        compared = select(judged, measure=measure, ci_prob=ci_prob)
        text, notes = selection_words(compared, agreement if alone else compared)
        best = str(compared.quantities["difference"].labels[0][0])  # judges are in their order
    if not alone:
        return text, notes
    of_best = _alone(judged, best)
    rates = quality(of_best, ci_prob=ci_prob)
    elsewhere = Worth(np.nan, np.nan, np.nan, of_best.labelled, ci_prob)  # a sentence for all
    uses = [_calibrated(of_best, ci_prob)] if judged.kind == "scores" else []
    uses += [*_to_measure(of_best, rates, elsewhere, ci_prob), *_for_what(of_best, rates)]
    each = [f"For {best}, {use[:1].lower()}{use[1:]}" for use in filter(None, uses)]
    return text, (*notes, *each)


def _alone(judged: Judged, judge: str) -> Judged:
    """One of several judges."""
    verdicts = judged.verdicts
    if verdicts is None:
        of_judge = {at: table for at, table in (judged.scores or {}).items() if at[0] == judge}
        return Judged(scores=of_judge, tuned=judged.tuned)
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
    shown = points if measure == "accuracy" else numbers
    as_counted = Row(rows[best].value - rows[second].value, np.nan, np.nan)
    if abs(as_counted.value - gap.value) > 1e-9:
        notes.append(
            f"The difference is {shown(gap, compared.ci_prob)}, drawn together since the better of "
            f"several looks better than it is (as counted {shown(as_counted)})."
        )
    if surely < SURE and needed.value > OUT_OF_REACH * compared.data.seen:
        notes.append(f"Whether {best} or {second} is better cannot be decided with these outputs.")
    elif surely < SURE:
        by, labels = shown(Row(gap.value, np.nan, np.nan)), _rounded(needed.value)
        notes.append(
            f"If {best} and {second} differ by {by}, some {labels:,} labels in all decide which is "
            "better."
        )
    return text, tuple(notes)


def _rounded(number: float) -> int:
    """To two digits."""
    digits = max(len(str(int(number))) - 2, 0)
    return int(np.ceil(number / 10**digits) * 10**digits)
