"""The answer: what is so behind people's errors, and what these people say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayesjudge.core import methods
from bayesjudge.core.answer import (
    Answer,
    entries,
    judges_share,
    labelled_words,
    listed,
    percent_of,
    percents,
    quote,
    shares_of_two,
)
from bayesjudge.core.estimate import Estimate, Row
from bayesjudge.prevalence.answer import answer as answer  # of every table of one judge
from bayesjudge.prevalence.answer import told_of, valid_of
from bayesjudge.prevalence.cautions import OVERALL
from bayesjudge.prevalence.closed_form import naive
from bayesjudge.prevalence.exact import exact
from bayesjudge.prevalence.people.data import PeopleCounts
from bayesjudge.prevalence.people.model import EACH, OVERALL_EACH
from bayesjudge.truth.within_classes import bounds_of

#: Whose passes `EACH` are.
WHO = ("a person drawn at random", "most of them")
#: Most people whose rates are told.
MOST = 3


@told_of.register(PeopleCounts)
def _answer(
    counts: PeopleCounts, estimates: Sequence[Estimate], results: Sequence[Any], ci_prob: float
) -> Answer:
    strata = any(OVERALL in estimate for estimate in estimates)
    quoted = quote(
        estimates,
        OVERALL if strata else "prevalence",
        methods.JUDGE,
        judge_of=lambda: naive(counts.most, ci_prob=ci_prob),
    )
    good = f"'{counts.pass_name}'" if counts.pass_name else "good"
    between: tuple[str, ...] = ()
    if quoted.silent:
        text = f"These data cannot tell what share of outputs is {good} behind people's errors. "
        text += "Items that two people labelled would tell."
    elif len(quoted.rows) == 1:
        (row,), are = quoted.rows.values(), f" of outputs like these are {good}"
        text = f"Behind people's errors {percents(row, ci_prob, are)}"
        text += f"{judges_share(quoted.judge_rows, counts.pass_name)}."
    else:
        shares, between = shares_of_two(quoted.rows, ci_prob)
        text = f"In truth {shares} are {good}."
    return Answer(
        text,
        basis=_basis(counts),
        why=f"Quoted: {quoted.whole.method}{_reason(quoted.whole)}.",
        quoted=quoted.shares,
        judge=quoted.judge,
        notes=()
        if quoted.silent
        else (
            *between,
            *_these_people(estimates, quoted.whole, strata),
            *_rates(counts, quoted.whole),
        ),
        known=not quoted.unknown,
    )


@valid_of.register(PeopleCounts)
def _valid(counts: PeopleCounts, declared: Answer, seen: Any, ci_prob: float) -> Answer | None:
    if seen.untold and counts.systems and not counts.adds_up:
        return None  # classes are strata, and systems cannot be as well
    part = PeopleCounts.of(seen.instead, counts.people[0])
    estimate = bounds_of(exact(part, ci_prob=ci_prob), seen)
    return told_of(part, [estimate], [estimate], ci_prob)


def _reason(quoted: Estimate) -> str:
    posterior = quoted.method in (methods.EXACT_PEOPLE, methods.NUTS_PEOPLE)
    return ", the posterior that lets people err too" * posterior


def _these_people(estimates: Sequence[Estimate], quoted: Estimate, strata: bool) -> tuple[str, ...]:
    """What these people say, which is another question."""
    sentences = []
    for name, who in zip(OVERALL_EACH if strata else EACH, WHO, strict=True):
        estimate = next((result for result in (quoted, *estimates) if name in result), None)
        if estimate is None:
            continue
        rows = {
            "".join(map(str, key[1:])): row for key, row in entries(estimate.only(name)).items()
        }
        several = len(rows) > 1
        share = shares_of_two(rows, None)[0] if several else percents(next(iter(rows.values())))
        sentences.append(f"{who} would pass {share}")
    return (f"What these people say: {'; '.join(sentences)}.",) if sentences else ()


def _rates(counts: PeopleCounts, quoted: Estimate) -> tuple[str, ...]:
    """How each person and the judge err, of some of them."""
    by_name = entries(quoted)
    sentences = []
    for name in (*counts.unchosen[:MOST], counts.judge):
        rows: list[Row] = [by_name.get((rate, name)) for rate in ("sensitivity", "specificity")]  # type: ignore[misc]
        if None not in rows:
            sentences.append(f"{name} {percents(rows[0])} and {percents(rows[1])}")
    if not sentences or counts.pass_name:
        return ()
    return (f"Good outputs passed and bad ones failed: {'; '.join(sentences)}.",)


def _basis(counts: PeopleCounts) -> str:
    text = labelled_words(counts.labelled_n, counts.test_n, counts.design)
    people = (
        f"by {listed(counts.people)}"
        if len(counts.people) <= MOST
        else f"by {len(counts.people)} people"
    )
    shared = "no item by two of them"
    if counts.shared_n:
        shared = f"{counts.shared_n:,} items by two or more, who agree on "
        shared += percent_of(counts.agreement)
    known = int(counts.verdicts.count[counts.verdicts.is_labelled].sum())
    settled = f", {known:,} adjudicated" if known else ""
    return f"{text} {people}; {shared}{settled}."
