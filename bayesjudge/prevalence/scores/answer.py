"""The answer of the module: the mean of what people say, where a judge gives numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.answer import (
    Answer,
    as_estimates,
    difference_words,
    entries,
    listed,
    numbers,
    percents,
    points,
    preferred,
    says_little,
    would_pass,
)
from bayesjudge.core.estimate import Estimate, Interval, Row, pass_name_in
from bayesjudge.core.fit import Fit
from bayesjudge.core.periods import kind_of
from bayesjudge.core.screen import how_many
from bayesjudge.prevalence.answer import CHOSEN
from bayesjudge.prevalence.scores.closed_form import judge_bias, judge_mean
from bayesjudge.prevalence.scores.data import Scores
from bayesjudge.prevalence.scores.paired import PairedScores
from bayesjudge.prevalence.scores.unpaired import differences

#: Most systems that a sentence names.
MOST_NAMED = 5
#: A number that is not known.
NONE = Row(np.nan, np.nan, np.nan)


def answer(
    *results: Estimate | Fit, ci_prob: float = 0.95, interval: Interval | None = None
) -> Answer:
    """Say what people would give or pass on average, and quote the method that suits the labels.

    The difference estimator is quoted, whose coverage and width were studied
    (``benchmarks/prevalence/scores.py``); with labels by truth, Rogan-Gladen on mean scores, which
    the design leaves.

    Parameters
    ----------
    *results : Estimate or Fit
        Of one `Scores`, for example all of `closed_forms` and a fit; or of several systems,
        `by_system` and `paired_difference` or `unpaired_difference`.
    ci_prob : float, default 0.95
        Probability of the intervals; an estimate must have been made at it.
    interval : {"eti", "hdi", "eti_bounded"}, optional
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
    scores = next((one.data for one in made if isinstance(one.data, Scores)), None)
    quantity = next((q for one in made for q in ("mean_score", "prevalence") if q in one), "")

    quoted = preferred(made, quantity, lambda one: one.method.rank).only(quantity)
    if "system" in quoted.quantities[quantity].dims:
        compared = next((one for one in made if "difference" in one), None)
        own_means = next(
            (one.only(quantity) for one in made if one.method == methods.JUDGE_SCORE), None
        )
        name = pass_name_in(made)
        return _of_systems(quoted, own_means, quantity, ci_prob, compared, name)
    judge = next((one for one in made if one.method == methods.JUDGE_SCORE), None)
    if judge is None and scores is not None:
        judge = judge_mean(scores, ci_prob=ci_prob)
    own = None if judge is None else entries(judge).get((quantity,))
    row = quoted[quantity]
    numeric = quantity == "mean_score"
    span = 1.0
    if scores is not None:
        span = float(np.ptp([scores.in_units(x) for x in (0.0, 1.0)]))
    unknown = quoted.method == methods.JUDGE_SCORE or says_little(row, span)
    if unknown:
        text = "These data cannot tell what people would say on average. Labels on a random sample "
        text += "of these items would tell."
    elif numeric:
        text = f"People would give outputs like these {numbers(row, ci_prob)} on average"
        text += _on_scale(scores.truth_scale) if scores is not None else ""
        text += "." if scores is None or own is None else f"; the judge gives {_own(scores, own)}."
    else:
        share, _, ends = percents(row, ci_prob).partition(" (")
        name = "" if scores is None else scores.pass_name
        text = f"{would_pass(f'{share} of outputs like these', name)} ({ends}"
        said = None if scores is None or own is None else _own(scores, own)
        text += (
            "." if said is None else f"; the judge's scores average {said}{_way_up(scores, own)}."
        )
    return Answer(
        text,
        basis=_basis(scores),
        why=f"Quoted: {quoted.method}, which corrects the judge's scores by the labelled items.",
        quoted=quoted,
        judge=judge and judge.only(quantity),
        notes=() if scores is None or unknown else _bias(scores, ci_prob),
        known=not unknown,
    )


def knows_bias(scores: Scores) -> bool:
    """Whether labels are a random sample, which alone tells how much more the judge gives."""
    return "prevalence" in scores.design.identifies and scores.propensity is None


def _bias(scores: Scores, ci_prob: float) -> tuple[str, ...]:
    """``Of the same output the judge gives 0.42 more than people (0.29 to 0.55).``"""
    if not knows_bias(scores):
        return ()
    row = judge_bias(scores, ci_prob=ci_prob)["judge_less_people"]
    if np.isnan(row.low):
        return ()
    more = "more" if row.value >= 0 else "less"
    size = row if row.value >= 0 else Row(-row.value, -row.high, -row.low)
    words = numbers if scores.numeric else points
    value, _, ends = words(size, ci_prob).partition(" (")
    if size.low <= 0:
        return (
            f"Whether the judge is too lenient or too strict is not known: it gives {value} "
            f"{more} than people on average ({ends}.",
        )
    kind = "lenient" if row.value > 0 else "strict"
    return (f"The judge is too {kind}: it gives {value} {more} than people on average ({ends}.",)


def _bias_of_systems(scores: Mapping[str, Scores], ci_prob: float) -> tuple[str, ...]:
    """``The judge gives a 0.42 more than people (0.29 to 0.55) on average, and b 0.1 less (…).``"""
    found: list[str] = []
    unknown: list[str] = []
    for name, one in scores.items():
        row = judge_bias(one, ci_prob=ci_prob)["judge_less_people"] if knows_bias(one) else NONE
        if np.isnan(row.low):
            continue
        if row.low <= 0 <= row.high:
            unknown.append(name)
            continue
        more = "more" if row.value > 0 else "less"
        size = row if row.value > 0 else Row(-row.value, -row.high, -row.low)
        level = None if found else ci_prob
        value, _, ends = (numbers if one.numeric else points)(size, level).partition(" (")
        found.append(f"{name} {value} {more}{'' if found else ' than people on average'} ({ends}")
    left = len(found) - MOST_NAMED
    found = found[:MOST_NAMED] + [f"{left} more"] * (left > 0)
    told = f"The judge gives {listed(found)}" if found else ""
    if unknown:
        many = f"{len(unknown)} {kind_of(scores, several=True)}"
        whom = listed(unknown if len(unknown) <= MOST_NAMED else [many])
        told += "; w" if told else "W"
        told += f"hether it gives {whom} more or less than people is not known"
    return (f"{told}.",) if told else ()


def _on_scale(scale: tuple[float, float] | None) -> str:
    return "" if scale is None else f", on a scale of {scale[0]:g} to {scale[1]:g}"


def _own(scores: Scores, row: Row) -> str:
    """The judge's mean on its own scale, which is named if the truths have another one."""
    least, most = scores.truth_scale or (0.0, 1.0)
    share = (row.value - least) / (most - least)
    if isinstance(scores.scale, str):
        return f"{share:.2f} as a probability"
    low, high = scores.scale
    one = Row(*(low + (high - low) * (np.array(row) - least) / (most - least)))
    named = "" if scores.scale == scores.truth_scale else _on_scale(scores.scale)
    return f"{numbers(one).partition(' (')[0]}{named}"


def _way_up(scores: Scores | None, row: Row | None) -> str:
    """A mean score as the share that the table of methods has of it, if its scale is another."""
    if scores is None or row is None or scores.scale in ((0.0, 1.0), "log_odds"):
        return ""
    return f" ({100 * row.value:.0f} % of the way up)"


def _of_systems(
    quoted: Estimate,
    judge: Estimate | None,
    quantity: str,
    ci_prob: float,
    compared: Estimate | None,
    name: str,
) -> Answer:
    """Each system's estimate, the highest first; of two, after their difference."""
    numeric = quantity == "mean_score"
    words = numbers if numeric else percents
    rows = [(where["system"], row) for _, where, row in quoted.rows()]
    known = [one for one in rows if not np.isnan(one[1].value)]
    known.sort(key=lambda one: -one[1].value)
    found = [] if compared is None or len(rows) > 2 else differences(compared)
    level = None if found else ci_prob
    each = [f"{one} {words(row, None if i else level)}" for i, (one, row) in enumerate(known)]
    more = [f"{len(each) - MOST_NAMED} more"] if len(each) > MOST_NAMED else []
    would = "give on average" if numeric else f"call {name!r}" if name else "pass"
    text = f"People would {would}: {listed([*each[:MOST_NAMED], *more])}."
    why = f"Quoted: {quoted.method}, which corrects the judge's scores by the labelled items"
    if compared is not None and found:
        text = f"{difference_of_scores(found[0], ci_prob)}. {text}"
        why += f"; of the difference and its probability: {found[0]['method']}, "
        paired = "item by item, which need not be the difference of the two means"
        why += paired if isinstance(compared.data, PairedScores) else "of independent samples"
        told = (*compared.cautions, *quoted.cautions)
        quoted = replace(quoted, cautions=tuple(dict.fromkeys(told)))
    kinds = kind_of((str(name) for name, _ in rows), several=True)
    if not known:
        text = f"These data cannot tell what people would say of any of {len(rows)} {kinds}."
    return Answer(
        text,
        basis=f"{len(rows)} {kinds}, {_compared(compared)}.",
        why=f"{why}.",
        quoted=quoted,
        judge=judge if numeric else None,  # else it is no share of passes
        notes=_bias_of_systems(quoted.data, ci_prob) if known else (),
        known=bool(known),
    )


def difference_of_scores(found: dict[str, Any], ci_prob: float | None = None) -> str:
    """``x is better than y: 5.8 points (3.4 to 8.1) on a scale of 0 to 100``; of shares in %."""
    if found["scale"] is None:
        return difference_words(found, ci_prob, name=found.get("pass_name", ""))

    def told(row: Row, level: float | None) -> str:
        value, _, ends = numbers(row, level).partition(" (")
        return f"{value} point{'' if value == '1' else 's'} ({ends}{_on_scale(found['scale'])[1:]}"

    return difference_words(found, ci_prob, told)


def _compared(compared: Estimate | None) -> str:
    """On what two systems or more are compared."""
    if compared is None:
        return "each by itself"
    if not isinstance(compared.data, PairedScores):
        return "compared as independent samples"
    pairs, labelled = compared.data, compared.data.labelled
    if len(pairs.shared) > 1:
        several = len(labelled) < len(pairs.shared)
        return "compared by two on the items that they share" + (
            f"; {how_many(len(pairs.shared) - len(labelled), 'pair')} have too few labels of both"
            if several
            else ""
        )
    (pair,) = labelled
    shared, apart = how_many(pairs.shared[pair], "item"), pairs.alone[pair]
    text = f"compared on the {shared} that they share, of which {labelled[pair]:,} have labels of "
    text += "both"
    if apart:
        text += f"; {how_many(apart, 'item')} of one system only {'is' if apart == 1 else 'are'} "
        text += "not compared"
    return text


def _basis(scores: Scores | None) -> str:
    if scores is None:
        return ""
    labelled = int(scores.n[scores.known].sum())
    chosen = CHOSEN.get(scores.design.name, scores.design.meaning)
    text = f"{how_many(int(scores.n.sum()), 'item')}, {labelled:,} of them labelled ({chosen})"
    text += f"; {scores.rows:,} rows, which count by item." if scores.rows else "."
    return text + (
        f" {how_many(scores.unscored, 'score')} could not be read." if scores.unscored else ""
    )
