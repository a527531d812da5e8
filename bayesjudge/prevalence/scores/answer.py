"""The answer of the module: the mean of what people say, where a judge gives numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.answer import (
    Answer,
    Claim,
    Quoted,
    difference_words,
    few_of,
    how_chosen,
    listed,
    mirrored,
    numbers,
    points,
    quote,
    share_words,
    shares_of_two,
    would_pass,
)
from bayesjudge.core.estimate import Estimate, Row, pass_name_in
from bayesjudge.core.names import short_names
from bayesjudge.core.periods import kind_of
from bayesjudge.core.screen import first_of, how_many
from bayesjudge.core.worth import Worth, worth_of_pairs
from bayesjudge.prevalence._samples import sample_of
from bayesjudge.prevalence._worth import at_random, worth_of
from bayesjudge.prevalence.answer import answer as answer  # of every table of one judge
from bayesjudge.prevalence.answer import told_of
from bayesjudge.prevalence.closed_form import naive
from bayesjudge.prevalence.scores.closed_form import judge_bias
from bayesjudge.prevalence.scores.data import Scores
from bayesjudge.prevalence.scores.paired import PairedScores
from bayesjudge.prevalence.scores.unpaired import differences

#: Most systems that a sentence names.
MOST_NAMED = 5
#: A number that is not known.
NONE = Row(np.nan, np.nan, np.nan)


@told_of.register(Scores)
@told_of.register(dict)
def _answer(
    data: Scores | dict[str, Scores],
    estimates: Sequence[Estimate],
    results: Sequence[Any],
    ci_prob: float,
) -> Answer:
    scores = data if isinstance(data, Scores) else None
    quantity = next(
        (q for estimate in estimates for q in ("mean_score", "prevalence") if q in estimate), ""
    )
    span = 1.0 if scores is None else float(np.ptp([scores.in_units(x) for x in (0.0, 1.0)]))
    quoted = quote(
        estimates,
        quantity,
        methods.JUDGE_SCORE,
        judge_of=lambda: None if scores is None else naive(scores, ci_prob=ci_prob),
        span=span,
    )
    if scores is None:
        compared = next((estimate for estimate in estimates if "difference" in estimate), None)
        return _of_systems(quoted, quantity, ci_prob, compared, estimates)
    (row,), judged = quoted.rows.values(), quoted.judge_rows.get("")
    said = "" if judged is None else _judges_mean(scores, judged)
    more: tuple[str, ...] = ()
    if quoted.silent:
        text = "These data cannot tell what people would say on average. Labels on a random sample "
        text += "of these items would tell."
    elif quantity == "mean_score":
        text = f"People would give outputs like these {numbers(row, ci_prob)} on average"
        text += f"{_on_scale(scores.truth_scale)}."
        more = (f"The judge gives {said}.",) if said else ()
    else:
        text = f"{share_words(row, 'outputs like these', ci_prob, scores.pass_name)}."
        more = (f"The judge's scores average {said}{_way_up(scores, judged)}.",) if said else ()
    return Answer(
        text,
        basis=_basis(scores),
        why=f"Quoted: {_why(quoted.whole)}.",
        quoted=quoted.shares,
        judge=quoted.judge,
        notes=() if quoted.silent else (*more, *_bias(quoted.whole, ci_prob)),
        known=not quoted.unknown,
    )


def _why(quoted: Estimate) -> str:
    """How labels correct the scores."""
    by = "curves fitted to the labels" if quoted.method == methods.STACKED else "the labelled items"
    return f"{quoted.method}, which corrects the judge's scores by {by}"


@worth_of.register(Scores)
def _worth(scores: Scores, ci_prob: float) -> Mapping[str, Worth]:
    """By the correlation of the scores with people, as a straight line uses it."""
    if not at_random(scores):
        return {}
    labelled, others = sample_of(scores).patterns()
    items = float(labelled.n.sum() + others.n.sum())
    return {"": worth_of_pairs(*labelled, items=items, ci_prob=ci_prob)}


@worth_of.register(dict)
def _worth_by_system(scores: Mapping[str, Scores], ci_prob: float) -> Mapping[str, Worth]:
    worths = {name: worth_of(table, ci_prob) for name, table in scores.items()}
    return {name: worth[""] for name, worth in worths.items() if worth}


def knows_bias(scores: Scores) -> bool:
    """Whether labels are a random sample, which alone tells how much more the judge gives."""
    return "prevalence" in scores.design.identifies and scores.propensity is None


def _bias(quoted: Estimate, ci_prob: float) -> tuple[str, ...]:
    """``Of the same output the judge gives 0.42 more than people (0.29 to 0.55).``"""
    scores = quoted.data
    if not knows_bias(scores) or quoted.method == methods.WITHIN_CLASSES:
        return ()
    row = judge_bias(scores, ci_prob=ci_prob)["judge_less_people"]
    if np.isnan(row.low):
        return ()
    more = "more" if row.value >= 0 else "less"
    size = row if row.value >= 0 else mirrored(row)
    words = numbers if scores.numeric else points
    gives = f"it gives {words(size, ci_prob, f' {more} than people on average')}"
    gives += _stretched(scores)
    if size.low <= 0:
        return (f"The judge may be too lenient or too strict: {gives}.",)
    return (f"The judge is too {'lenient' if row.value > 0 else 'strict'}: {gives}.",)


def _stretched(scores: Scores) -> str:
    """How two scales are compared, which are two."""
    if scores.truth_scale in (None, scores.scale) or isinstance(scores.scale, str):
        return ""
    assert scores.truth_scale is not None
    (low, high), (least, most) = scores.scale, scores.truth_scale
    return f", its scale of {low:g} to {high:g} stretched to people's, {least:g} to {most:g}"


def _bias_of_systems(scores: Mapping[str, Scores], ci_prob: float) -> tuple[str, ...]:
    """``The judge gives a 0.42 more than people (0.29 to 0.55) on average, and b 0.1 less (…).``"""
    findings: list[str] = []
    unknown: list[str] = []
    for name, table in scores.items():
        row = judge_bias(table, ci_prob=ci_prob)["judge_less_people"] if knows_bias(table) else NONE
        if np.isnan(row.low):
            continue
        if row.low <= 0 <= row.high:
            unknown.append(name)
            continue
        more = "more" if row.value > 0 else "less"
        size = row if row.value > 0 else mirrored(row)
        words, level = numbers if table.numeric else points, None if findings else ci_prob
        of = f" {more}{'' if findings else f' than people on average{_stretched(table)}'}"
        findings.append(f"{name} {words(size, level, of)}")
    sentence = f"The judge gives {listed(first_of(findings, MOST_NAMED))}" if findings else ""
    if unknown:
        many = f"{len(unknown)} {kind_of(scores, several=True)}"
        whom = listed(unknown if len(unknown) <= MOST_NAMED else [many])
        sentence += "; it" if sentence else "The judge"
        sentence += f" may give {whom} more or less than people do"
    return (f"{sentence}.",) if sentence else ()


def _on_scale(scale: tuple[float, float] | None) -> str:
    return "" if scale is None else f", on a scale of {scale[0]:g} to {scale[1]:g}"


def _judges_mean(scores: Scores, row: Row) -> str:
    """The judge's mean on its own scale, which is named if the truths have another one."""
    least, most = scores.truth_scale or (0.0, 1.0)
    share = (row.value - least) / (most - least)
    if isinstance(scores.scale, str):
        return f"{share:.2f} as a probability"
    low, high = scores.scale
    scaled = Row(*(low + (high - low) * (np.array(row) - least) / (most - least)))
    named = "" if scores.scale == scores.truth_scale else _on_scale(scores.scale)
    return f"{numbers(scaled).partition(' (')[0]}{named}"


def _way_up(scores: Scores | None, row: Row | None) -> str:
    """A mean score as the share that the table of methods has of it, if its scale is another."""
    if scores is None or row is None or scores.scale in ((0.0, 1.0), "log_odds"):
        return ""
    return f" ({100 * row.value:.0f} % of the way up)"


def _of_systems(
    whole: Quoted,
    quantity: str,
    ci_prob: float,
    compared: Estimate | None,
    estimates: Sequence[Estimate],
) -> Answer:
    """Each system's estimate, the highest first; of two, after their difference."""
    quoted, numeric = whole.shares, quantity == "mean_score"
    rows = [(str(where["system"]), row) for _, where, row in quoted.rows()]
    known = [named for named in rows if not np.isnan(named[1].value)]
    known.sort(key=lambda named: -named[1].value)
    gaps = [] if compared is None or len(rows) > 2 else differences(compared)
    text, notes = _each(dict(known), numeric, ci_prob, pass_name_in(estimates))
    why = f"Quoted: {_why(whole.whole)}"
    if compared is not None and gaps:
        notes = (text, *notes)
        text = f"{difference_of_scores(gaps[0], ci_prob)}."
        why += f". The difference is by {gaps[0]['method']}"
        if isinstance(compared.data, PairedScores):
            why += ", item by item: it need not be the difference of the two means"
        cautions = (*compared.cautions, *quoted.cautions)
        quoted = replace(quoted, cautions=tuple(dict.fromkeys(cautions)))
    kinds = kind_of((str(name) for name, _ in rows), several=True)
    if not known:
        text = f"These data cannot tell what people would say of any of {len(rows)} {kinds}."
    return Answer(
        text,
        basis=f"{len(rows)} {kinds}, {_compared(compared)}.",
        why=f"{why}.",
        quoted=quoted,
        judge=whole.judge if numeric else None,  # else it is no share of passes
        notes=(*notes, *_bias_of_systems(quoted.data, ci_prob)) if known else (),
        known=bool(known),
        lead=Claim.of(gaps[0]) if known and gaps else None,
    )


def _each(
    rows: dict[str, Row], numeric: bool, ci_prob: float, name: str
) -> tuple[str, tuple[str, ...]]:
    """What people would give or pass of the best system and of the worst."""
    if not numeric:
        shares, between = shares_of_two(rows, ci_prob)
        return f"{would_pass(shares, name)}.", between
    names, between = few_of(rows)
    short = short_names(rows)
    levels = [ci_prob, None]
    parts = [
        f"{short[system]} {numbers(rows[system], level)}"
        for system, level in zip(names, levels, strict=False)
    ]
    return f"People would give {listed(parts)} on average.", between


def difference_of_scores(gap: Mapping[str, Any], ci_prob: float | None = None) -> str:
    """``x is better than y: 5.8 points (3.4 to 8.1) on a scale of 0 to 100``; of shares in %."""
    if gap["scale"] is None:
        return difference_words(gap, ci_prob, name=gap.get("pass_name", ""))

    def in_points(row: Row, level: float | None) -> str:
        low, high = gap["scale"]
        return f"{numbers(row, level, ' points')} on a {low:g} to {high:g} scale"

    return difference_words(gap, ci_prob, in_points)


def _compared(compared: Estimate | None) -> str:
    """On what two systems or more are compared."""
    if compared is None:
        return "each by itself"
    if not isinstance(compared.data, PairedScores):
        return "compared as independent samples"
    pairs, labelled = compared.data, compared.data.labelled
    if len(pairs.shared) > 1:
        missing = len(pairs.shared) - len(labelled)
        few = f"; {how_many(missing, 'pair')} have too few labels of both" if missing else ""
        return f"compared by two on the items that they share{few}"
    (pair,) = labelled
    shared, apart = how_many(pairs.shared[pair], "item"), pairs.alone[pair]
    text = f"compared on the {shared} that they share, of which {labelled[pair]:,} have labels of "
    text += "both"
    if apart:
        text += f"; {how_many(apart, 'item')} of one system only {'is' if apart == 1 else 'are'} "
        text += "not compared"
    return text


def _basis(scores: Scores) -> str:
    labelled = int(scores.n[scores.known].sum())
    chosen = how_chosen(scores.design)
    text = f"{how_many(int(scores.n.sum()), 'item')}, {labelled:,} of them labelled ({chosen})"
    text += f"; {scores.rows:,} rows, which count by item." if scores.rows else "."
    return text + (
        f" {how_many(scores.unscored, 'row', 'have')} no score." if scores.unscored else ""
    )
