"""The answer of the module: what the judge is worth, how it errs, and what that is enough for."""

from __future__ import annotations

from collections.abc import Mapping
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
from bayesjudge.core.screen import how_many
from bayesjudge.core.worth import Worth, worth_words
from bayesjudge.judge.data import Judged
from bayesjudge.judge.quality import WITH_PERSON
from bayesjudge.judge.selection import Measure, select
from bayesjudge.judge.worth import worth as worth_in_labels

#: What is quoted of each kind of judge.
QUOTED = {
    "verdicts": ("accuracy", "kappa", "ac1", "sensitivity", "specificity", "ppv", "npv"),
    "classes": ("accuracy", "kappa", "ac1", "recall", "precision"),
    "grades": ("mean_error", "mean_absolute_error", "correlation", "weighted_kappa"),
    "scores": ("auc",),
}


def answer(*results: Estimate | Fit, ci_prob: float = 0.95, interval: Any = None) -> Answer:
    """Say what the judge is worth in labels, how it errs, and for what that is good enough.

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
    This judge is worth 37 labels on top of your 100: it passes 95 % of what people pass and 34 % \
of the rest.
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
        "Worth counts labels that two gave alike, or that were adjudicated; "
        f"{how_many(out, 'labelled output')} without one left out of it.",
    )


def _of_one(
    judged: Judged, agreement: Estimate, worth: Worth, ci_prob: float
) -> tuple[str, tuple[str, ...]]:
    """One judge and one system."""
    errs = _errs(judged, agreement)
    text = f"This judge {errs}."
    if worth.known and judged.design.is_sample:
        more = max(round(worth.value), 0)
        number = {0: "no label", 1: "1 label"}.get(more, f"{more:,} labels")
        text = f"This judge is worth {number} on top of your {worth.labels:,}: it {errs}."
        if judged.complete:
            text = f"This judge is worth up to {number} beside your {worth.labels:,}: it {errs}."
    elif worth.known:
        alone = max(round(worth.labels + worth.value), 0)
        text = (
            f"With this judge your {worth.labels:,} labels tell as much as "
            f"{alone:,} random {'one' if alone == 1 else 'ones'}: it {errs}."
        )
    return text, tuple(filter(None, _for_what(judged, agreement, worth, ci_prob)))


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
        if "accuracy" not in agreement:
            return "has the recall below"
        return (
            f"puts {_percent(agreement['accuracy'].value)} of outputs into the class people choose"
        )
    if judged.kind == "grades":
        error = agreement["mean_error"]
        more = "more" if error.value >= 0 else "less"
        size = numbers(Row(*(abs(x) for x in error))).partition(" (")[0]
        r = agreement["correlation"].value
        return f"correlates {r:.2f} with people, and gives {size} {more} on average"
    auc = _percent(agreement["auc"].value)
    return f"scores a good output above a bad one in {auc} of pairs"


def _percent(share: float) -> str:
    return "an unknown share" if np.isnan(share) else f"{100 * share:.0f} %"


def _for_what(judged: Judged, rates: Estimate, worth: Worth, ci_prob: float) -> list[str]:
    """For what the judge is enough: a share with labels, one without, single outputs."""
    uses = []
    if worth.known and judged.design.is_sample:
        many = " if many more outputs have a verdict and no label" * judged.complete
        uses.append(
            f"To measure with labels: it saves {worth}{many}.".replace(" more label", " label")
        )
    if judged.kind == "verdicts" and "accuracy" in rates:
        gap = rates["judge_less_people"]
        size = Row(abs(gap.value), *sorted(map(abs, gap[1:])))
        high = "too high" if gap.value > 0 else "too low"
        passes = f"its share of {judged.pass_name!r}" if judged.pass_name else "its pass rate"
        if np.isnan(gap.value):
            uses.append(f"To measure without labels: how far {passes} is off cannot be told.")
        elif gap.low <= 0 <= gap.high:
            ends = points(gap, ci_prob).partition(" (")[2]
            uses.append(f"To measure without labels: {passes} may be right (off by {ends}.")
        else:
            uses.append(f"To measure without labels: {passes} is {points(size, ci_prob)} {high}.")
        good, bad = rates["ppv"], rates["npv"]
        said = f"of what it calls {judged.pass_name!r}" if judged.pass_name else "of its passes"
        uses.append(
            f"To decide about single outputs: {said} {percents(_less(good))} are wrong, and of "
            f"{'the rest' if judged.pass_name else 'its fails'} {percents(_less(bad))}."
        )
    who = "People and judge agree" if judged.people is None else "The judge is right"
    if "kappa" in rates and not np.isnan(rates["kappa"].value):
        uses.append(
            f"{who} on {percents(rates['accuracy'])} of outputs: Cohen's kappa "
            f"{numbers(rates['kappa'])}, Gwet's AC1 {numbers(rates['ac1'])}."
        )
    if judged.kind == "grades":
        uses.append(
            f"Kappa with quadratic weights {numbers(rates['weighted_kappa'], ci_prob)}; mean error "
            f"{numbers(rates['mean_error'])}; off by {numbers(rates['mean_absolute_error'])} on "
            "average, either way."
        )
        uses.append(_weak(judged, rates))
    if judged.kind == "classes":
        rows = {at["class"]: row for _, at, row in rates.only("recall").rows()}
        known = {name: row for name, row in rows.items() if not np.isnan(row.value)}
        if known:
            worst = min(known, key=lambda name: known[name].value)
            uses.append(f"It is weakest on {worst!r}, of which it finds {percents(known[worst])}.")
    return uses


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
    """Several judges: which is best."""
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
    return selection_words(compared)


def selection_words(compared: Estimate) -> tuple[str, tuple[str, ...]]:
    """``new is better than old with probability 0.98: right on 93 % of outputs, old on 80 %.``"""
    measure = next(name for name in ("accuracy", "youden") if name in compared)
    rows: Mapping[Any, Row] = {at["judge"]: row for _, at, row in compared.only(measure).rows()}
    best, *others = sorted(rows, key=lambda name: -rows[name].value)
    second = others[0]
    surely = compared["p_better", best, second].value
    value = percents if measure == "accuracy" else numbers
    kind = "right on {} of outputs" if measure == "accuracy" else "sensitivity + specificity - 1 {}"
    is_better = f"{best} is better than {second} with probability {chance(surely)}"
    if len(rows) > 2:
        p_best = compared["p_best", best].value
        is_better = f"{best} is best of {len(rows)} with probability {chance(p_best)}"
    text = f"{is_better}: {kind.format(value(rows[best]))}, {second} {value(rows[second])}."
    looks = compared["observed", best].value
    shrunk = "of values shrunk towards each other; the table has them as counted."
    notes = [f"{_level(compared)[:-1]} {shrunk}"]
    if len(rows) > 2 and looks - rows[best].value > 0.005:
        notes.append(
            f"On these labels {best} looks better than it is ({100 * looks:.0f} % as counted): the "
            f"best of {len(rows)} is partly luck."
        )
    needed = compared["labels_needed", best, second].value
    if surely < SURE:
        many = f"some {_rounded(needed):,} labels in all" if needed < 1e5 else "no number of labels"
        notes.append(f"Whether {best} or {second} is better would take {many}.")
    return text, tuple(notes)


def _rounded(number: float) -> int:
    """To two digits."""
    digits = max(len(str(int(number))) - 2, 0)
    return int(np.ceil(number / 10**digits) * 10**digits)
