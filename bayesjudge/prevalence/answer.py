"""The answer of the module: what people would say of the outputs, of every table of one judge."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import singledispatch
from statistics import NormalDist
from typing import Any

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.answer import (
    MOST_NAMED,
    Answer,
    as_estimates,
    data_of,
    entries,
    few_of,
    follow_selection,
    judges_share,
    labelled_words,
    listed,
    owned,
    percent_of,
    percents,
    quote,
    share_words,
    shares_of_two,
    would_pass,
)
from bayesjudge.core.comparing import differences_of
from bayesjudge.core.diagnosis import selection_of
from bayesjudge.core.estimate import Estimate, Interval, Row, Target
from bayesjudge.core.fit import Fit
from bayesjudge.core.intervals import jeffreys, z_score
from bayesjudge.core.names import short_names
from bayesjudge.core.periods import in_time
from bayesjudge.core.screen import first_of, how_many
from bayesjudge.core.worth import worth_words
from bayesjudge.prevalence._bounds import judged_so, verdicts_without_label
from bayesjudge.prevalence._by_verdict import errors
from bayesjudge.prevalence._pooled import lowest_words
from bayesjudge.prevalence._worth import worth_of
from bayesjudge.prevalence.cautions import OVERALL, untested
from bayesjudge.prevalence.closed_form import closed_forms, naive
from bayesjudge.prevalence.data import Counts
from bayesjudge.truth.within_classes import within_classes

#: Places of methods that the study of counts puts elsewhere than their rank does
#: (``benchmarks/prevalence/advice.py``).
PLACES = {methods.POST_STRATIFIED.id: 39, methods.HUMAN_ONLY.id: 51}
#: Of a number that rests on labels of another run.
IF_AS_ELSEWHERE = "If the judge errs as it did elsewhere, "
UNTESTED = "No item of this run has a human label that would tell whether it does."
#: Of what a share is if outputs without a verdict were dropped, and what it says nothing of.
JUDGED = "the outputs that the judge could judge"
LEFT_OUT = "{n} without a verdict are left out, and may be better or worse."
#: Part of a share, or of its complement, from which on what the prior adds to it is told.
MUCH = 0.25
#: Whose rates of the judge are told, if not those of the quoted method.
BY = {methods.ROGAN_GLADEN.id: "On the labelled items alone the judge"}


def answer(
    *results: Estimate | Fit,
    ci_prob: float = 0.95,
    interval: Interval | None = None,
    target: Target | None = None,
) -> Answer:
    """Say what people would say of the outputs, and quote the method that suits the labels.

    Of `Counts`: what share they would pass. Quoted is a sampled model that pools systems or strata,
    if there is one; otherwise the exact posterior, the sampled one, or the closed form of the label
    design. In settings drawn at random the posterior's interval score is 1.01 to 1.09 times that of
    the best method of each setting, which nobody knows beforehand
    (``benchmarks/prevalence/advice.py``). If data and declared label design are all but impossible
    together (``contradiction``), the answer says so, and no number: ``known`` is then False.

    Of `Items`: which system is better, by how much and how surely, on the items that they share. If
    rows repeat an item, the closed form of the label design is quoted, with variances by item,
    whose coverage was studied (``benchmarks/prevalence/items.py``). Of `ClassCounts`: the share of
    each class, or how often ours wins. Of `Scores`: what people would give or pass on average, by
    the difference estimator, whose coverage and width were studied
    (``benchmarks/prevalence/scores.py``); with labels by truth, by Rogan-Gladen on mean scores,
    which the design leaves; of several systems by `scores.by_system` and `paired_difference` or
    `unpaired_difference`.

    Parameters
    ----------
    *results : Estimate or Fit
        Of one table, for example all of `closed_forms` and a fit.
    ci_prob : float, default 0.95
        Probability of the intervals; an estimate must have been made at it.
    interval : {"eti", "hdi", "eti_bounded"}, optional
        Kind of interval of the fits.
    target : {"population", "items"}, optional
        Which items the fits are asked about; by default what suits each fit's model.

    Returns
    -------
    Answer
        ``str(answer)`` is the text; ``answer.quoted`` the numbers.

    Raises
    ------
    InputError
        If nothing was given, or no result has the quantity that answers.

    Examples
    --------
    >>> from bayesjudge.prevalence import closed_forms, exact
    >>> counts = Counts(350, 206, 36, 36, 64, 45, calibration="random")
    >>> print(answer(*closed_forms(counts), exact(counts)).text)
    People would pass 38 % of outputs like these (30 to 46 %, 95 % interval); the judge passes 58 %.
    """
    estimates = as_estimates(results, ci_prob, interval, target)
    known = [
        estimate.data
        for estimate in estimates
        if told_of.dispatch(type(estimate.data)) is not of_counts
    ]
    data = known[0] if known else data_of(estimates, Counts)
    quoted = told_of(data, estimates, results, ci_prob)
    seen = selection_of(data)
    if seen is not None and seen.instead is not None:
        valid = valid_of(data, quoted, seen, ci_prob)
        return quoted if valid is None else follow_selection(quoted, seen, valid)
    worth = worth_of(data, ci_prob) if quoted.known else {}
    sentence = worth_words(worth)
    return replace(quoted, worth=worth, notes=(*quoted.notes, sentence)) if sentence else quoted


@singledispatch
def valid_of(data: Any, declared: Answer, seen: Any, ci_prob: float) -> Answer | None:
    """What labels tell that go with a column: by verdict, or within its classes; or bounds.

    None if that cannot be told of such a table.
    """
    from bayesjudge.prevalence.exact import exact

    if seen.untold:
        estimate = within_classes(declared.quoted, seen, ci_prob, data)
        return told_of(data, [estimate], [estimate], ci_prob)
    part = type(data).of(seen.instead)
    estimates = [*closed_forms(part, ci_prob=ci_prob)]
    estimates += [] if part.adds_up else [exact(part, ci_prob=ci_prob)]
    return answer(*estimates, ci_prob=ci_prob)


@singledispatch
def told_of(
    counts: Any, estimates: Sequence[Estimate], results: Sequence[Estimate | Fit], ci_prob: float
) -> Answer:
    """What results of one kind of table say; of no table, what counts would."""
    strata = any(OVERALL in estimate for estimate in estimates)
    quantity = OVERALL if strata else "prevalence"
    chosen = quote(
        estimates,
        quantity,
        methods.JUDGE,
        judge_of=lambda: None if counts is None else naive(counts, ci_prob=ci_prob),
        rank=lambda estimate: PLACES.get(estimate.method.id, estimate.method.rank),
    )
    name = "" if counts is None else counts.pass_name
    quoted = chosen.whole
    against = _contradicted(quoted, counts)
    rows = {name: row for name, row in chosen.rows.items() if name not in against}
    wrong = bool(against) and (strata or not rows)
    more: tuple[str, ...] = ()
    if wrong:
        text, *cure = _contradictory((), counts)
        more = tuple(cure)
    elif chosen.silent:
        text = _unknown({} if chosen.uncorrected else rows, counts, name)
    elif len(chosen.rows) == 1:
        whose = "these outputs" if quoted.target == "items" else "outputs like these"
        whose = JUDGED if getattr(counts, "dropped", False) else whose
        text = share_words(next(iter(rows.values())), whose, ci_prob, name)
        judge = judges_share(chosen.judge_rows, name)
        if counts is not None and not chosen.unknown and untested(counts).all():
            text = f"{IF_AS_ELSEWHERE}{text[:1].lower()}{text[1:]}"
            more = (f"{UNTESTED} {judge[2:3].upper()}{judge[3:]}{'.' * bool(judge)}".rstrip(),)
            judge = ""
        text += f"{judge}."
    else:
        text, more = _several(rows, "" if counts is None else counts.dim, ci_prob, name)
        if counts is not None and not chosen.unknown and untested(counts).all():
            more = (f"That holds if the judge errs as it did elsewhere. {UNTESTED}", *more)
    if against and not wrong:
        more = (" ".join(_contradictory(against, counts)), *more)
    if counts is not None and counts.dropped:
        more = (*more, LEFT_OUT.format(n=how_many(int(np.sum(counts.unparsed)), "output")))
    notes = (
        *more,
        *labels_to_buy({} if chosen.uncorrected else rows, counts),
        *lowest_words(quoted),
        *_rates(estimates, quoted, counts, name),
        *_added(estimates, counts, rows),
    )
    return Answer(
        text,
        basis=_basis(counts),
        why=f"Shown: {quoted.method}, not to be quoted." if wrong else _why(quoted, counts),
        quoted=chosen.shares,
        judge=chosen.judge,
        notes=more if wrong else notes,
        known=not (chosen.unknown or wrong),
    )


#: What the answer of a table is that has none of its own.
of_counts = told_of.dispatch(object)


def labels_to_buy(rows: Mapping[str, Row], counts: Counts | None) -> tuple[str, ...]:
    """Which labels by verdict are missing where there is no value; in all strata together."""
    if counts is None or not counts.predictive:
        return ()
    counts = counts.merged() if counts.adds_up else counts
    valued = {name for name, row in rows.items() if not np.isnan(row.value)}
    sentences = []
    for verdict, without in verdicts_without_label(counts).items():
        places = zip(counts.systems or ("",), np.atleast_1d(without), strict=True)
        names = [name for name, there in places if there and name not in valued]
        if names:
            where = f" in {listed(first_of(names, MOST_NAMED))}" if counts.systems else ""
            those = judged_so(verdict, counts.pass_name)
            sentences.append(f"No item that {those} has a label{where}: label some that {those}.")
    return tuple(sentences)


def _added(
    estimates: Sequence[Estimate], counts: Counts | None, rows: dict[str, Row]
) -> tuple[str, ...]:
    """That the prior makes a large part of a share, where labels by verdict hold few errors."""
    weighed = next(
        (estimate for estimate in estimates if estimate.method == methods.POST_STRATIFIED), None
    )
    if counts is None or not counts.predictive or counts.adds_up or weighed is None:
        return ()
    shares = entries(weighed.only("prevalence"))
    alone = {"".join(map(str, key[1:])): row.value for key, row in shares.items()}
    far = {
        name: alone[name]
        for name, row in rows.items()
        if abs(row.value - alone[name]) >= MUCH * min(row.value, 1 - row.value)  # not of nan
    }
    if not far:
        return ()
    each = [percent_of(x, 2) + f" of {owned(name)}" * bool(name) for name, x in far.items()]
    names = listed(first_of(each, MOST_NAMED)) + " outputs" * bool(counts.systems)
    return (
        f"Labels alone, weighed by how often the judge says so, give {names}: the difference is "
        "the prior's, of errors that the labels do not show and do not exclude.",
    )


def _contradicted(quoted: Estimate, counts: Counts | None) -> tuple[str, ...]:
    """Systems whose data and declared design contradict each other; ``""`` of one entry."""
    places = [set(c.where) for c in quoted.cautions if c.id == "contradiction"]
    if counts is None or not places:
        return ()
    return tuple(name for name in counts.systems or ("",) if {name} in places or set() in places)


def _contradictory(systems: Sequence[str], counts: Counts | None) -> tuple[str, str]:
    """That no number of these data can be quoted, and what to do."""
    where = f" in {listed(first_of(systems, MOST_NAMED))}" if systems else ""
    none = f"no number of {'it' if len(systems) == 1 else 'them'}" if systems else "no number"
    text = (
        f"Labels, verdicts and the declared label design contradict each other{where}: {none} can "
        "be quoted."
    )
    if counts is not None and counts.design.is_sample:
        return text, (
            "If items were labelled by what the judge said of them, such as all that it passed "
            "and a part of the rest, declare by_verdict; if not, check the two columns."
        )
    return text, "Check how items were chosen for labels, and which label means pass."


def _several(
    rows: dict[str, Row], dim: str, ci_prob: float, name: str
) -> tuple[str, tuple[str, ...]]:
    """Shares of two systems or more; what the judge says of each is a column of the table."""
    if dim != "judge":
        shares, between = shares_of_two(rows, ci_prob)
        return f"{would_pass(shares, name)}.", between
    names, between = few_of(rows)  # judges of the same outputs
    short = short_names(rows)
    parts = [
        f"by {owned(short[system])} verdicts {percents(rows[system], None if i else ci_prob)}"
        for i, system in enumerate(names)
    ]
    would = f"call {name!r}" if name else "pass"
    return f"Of these outputs people would {would} {listed(parts)}.", between


def _unknown(rows: dict[str, Row], counts: Counts | None, name: str) -> str:
    labelled = 0 if counts is None else int(np.sum(counts.labelled_n))
    row = next(iter(rows.values()), None)
    if row is None or np.isnan(row.value):
        said = "there is no estimate" if labelled else "no item is labelled"
    else:
        said = f"anything from {100 * row.low:.0f} to {100 * row.high:.0f} % fits"
    cure = (
        "Labels on a random sample of these items would tell."
        if labelled == 0 or counts is None or not counts.labels_tell_prevalence
        else "More labels would tell."
    )
    share = f"people would {f'call {name!r}' if name else 'pass'}"
    return f"These data cannot tell what share of outputs {share}: {said}. {cure}"


def _basis(counts: Counts | None) -> str:
    if counts is None:
        return ""
    labelled, rest = int(np.sum(counts.labelled_n)), int(np.sum(counts.test_n))
    text = f"{how_many(rest, 'item')}, none of them labelled."
    if labelled:
        text = f"{labelled_words(labelled, rest, counts.design)}."
    if counts.adds_up:
        text = f"{text[:-1]}, in {len(counts.places)} strata."
    unparsed = int(np.sum(counts.unparsed))
    return text + (f" {how_many(unparsed, 'row', 'have')} no verdict." if unparsed else "")


def _why(quoted: Estimate, counts: Counts | None) -> str:
    method = quoted.method
    if method == methods.EXACT_POOLED:
        return f"Quoted: {method}, the posterior in which groups tell of each other."
    if method in (methods.FULLY_POOLED, methods.PARTIALLY_POOLED):
        return f"Quoted: {method}, since it was chosen to share what labels tell of the judge."
    if method.computed != "formula":
        design = "" if counts is None else f" for labels chosen {_in_words(counts)}"
        return f"Quoted: {method}, the posterior that takes verdicts and labels together{design}."
    if method == methods.JUDGE:
        return f"Shown: {method}, which no label corrects."
    return f"Quoted: {method}, the closed form that suits these labels."


def _in_words(counts: Counts) -> str:
    words = {
        "random": "at random",
        "by_truth": "by truth",
        "separate": "elsewhere",
        "by_verdict": "by verdict",
        "known_propensity": "with known probabilities",
    }
    return words.get(counts.design.name, "so")


def _rates(
    estimates: Sequence[Estimate], quoted: Estimate, counts: Counts | None, name: str
) -> tuple[str, ...]:
    """How the judge errs, if there is one number of it; of another method, by which."""
    if counts is not None and counts.predictive and counts.systems is None:
        return _checked(counts, quoted.ci_prob, name)
    for estimate in (quoted, *estimates):
        rates = entries(estimate)
        if ("sensitivity",) in rates and ("specificity",) in rates:
            passes, fails = rates[("sensitivity",)], rates[("specificity",)]
            if np.isnan(passes.value) or np.isnan(fails.value):
                continue
            whose = (
                "The judge"
                if estimate is quoted
                else BY.get(estimate.method.id, f"By {estimate.method} the judge")
            )
            if name:
                sentence = (
                    f"agrees on {percents(passes)} of the outputs people call '{name}' and on "
                )
                return (f"{whose} {sentence}{percents(fails)} of the others.",)
            sentence = (
                f"passes {percents(passes)} of good outputs and fails {percents(fails)} of bad ones"
            )
            return (f"{whose} {sentence}.",)
    return ()


def _checked(counts: Counts, ci_prob: float, name: str) -> tuple[str, ...]:
    """How often labelled passes and fails of the judge are wrong, as counted."""
    passed = int(counts.labelled_pass)
    failed = int(counts.labelled_n) - passed
    wrong = passed - int(counts.correct_pass), failed - int(counts.incorrect_fail)
    said = []
    for w, total, kind in zip(wrong, (passed, failed), _kinds(name), strict=True):
        if total:
            row = Row(*(float(x) for x in jeffreys(w, total, ci_prob)))
            were = "was" if w == 1 else "were"
            said.append(f"of {total:,} labelled {kind} {w:,} {were} wrong: {percents(row)}")
    text = "; ".join(said)
    if not text or np.ndim(counts.test_n) or not (passed and failed):
        return (f"{text[:1].upper()}{text[1:]}.",) if text else ()
    return f"{text[:1].upper()}{text[1:]}.", _rates_in_words(counts, ci_prob, name)


def _rates_in_words(counts: Counts, ci_prob: float, name: str) -> str:
    """How much of what is good the judge finds, and how many of these items it got wrong."""
    rates = errors(counts, ci_prob)
    items = f"of these {int(counts.test_n + counts.labelled_n):,} items"
    row = rates.missed if name else rates.passed
    number = f"{row.low:,.0f} to {row.high:,.0f}"
    number = number if row.high > row.low else f"{row.value:,.0f}"  # all of one kind labelled
    if name:
        sentence = f"it finds {percents(rates.sensitivity)} of the outputs that people call "
        sentence += f"'{name}'; {items} it missed {number} such"
    else:
        sentence = f"it passes {percents(rates.sensitivity)} of good outputs and fails "
        sentence += (
            f"{percents(rates.specificity)} of bad ones; {items} {number} are bad ones that "
        )
        sentence += "it passed"
    return f"By these labels {sentence}."


def _kinds(name: str) -> tuple[str, str]:
    """What the judge passed and failed."""
    if name:
        return f"outputs that the judge called '{name}',", "others,"
    return "passes of the judge", "fails"


def differences(
    *results: Estimate | Fit, ci_prob: float = 0.95, interval: Interval | None = None
) -> list[dict[str, Any]]:
    """Differences of every two systems; see `contrasts`. From a fit, or from the quoted intervals.

    Without a fit, ends are those of independent estimates (MOVER: Zou & Donner 2008), and
    ``probability`` is that of the normal distribution with the same distance from estimate to end.
    """
    for result in results:
        if (
            isinstance(result, Fit)
            and getattr(result.data, "dim", "") == "system"
            and result.data.systems
        ):
            return differences_of(result, ci_prob)
    quoted = answer(*results, ci_prob=ci_prob, interval=interval).quoted
    if quoted.quantities.get("prevalence") is None or quoted.dims != ("system",):
        return []
    rows = {key[-1]: row for key, row in entries(quoted).items()}
    gaps = []
    for first, second in itertools.combinations(rows, 2):
        a, b = rows[first], rows[second]
        gap = a.value - b.value
        if np.isnan(gap):
            continue
        down = float(np.hypot(a.value - a.low, b.high - b.value))
        up = float(np.hypot(a.high - a.value, b.value - b.low))
        gaps.append(
            {
                "first": first,
                "second": second,
                "value": gap,
                "low": gap - down,
                "high": gap + up,
                "probability": _above_0(gap, down if gap > 0 else up, ci_prob),
                "method": f"{quoted.method}, difference of independent estimates",
            }
        )
    return gaps


def _above_0(gap: float, side: float, ci_prob: float) -> float:
    """Probability that a normal variable is above 0, half of whose central interval is `side`."""
    if not side > 0:  # no interval, or one of no width
        return float("nan") if np.isnan(side) else float(np.heaviside(gap, 0.5))
    return NormalDist().cdf(z_score(ci_prob) * gap / side)


#: Which differences of periods `neighbours` shows, after "Differences of systems".
IN_TIME = ", the first from the last and then neighbours in time"


def neighbours(differences: list[dict[str, Any]]) -> tuple[list[Any], list[Any]]:
    """Differences of systems that follow each other in rank, and the others.

    Periods follow each other in time, and the first is compared with the last before that.
    """
    score: dict[str, float] = {}
    for row in differences:
        score[row["first"]] = score.get(row["first"], 0) + row["value"]
        score[row["second"]] = score.get(row["second"], 0) - row["value"]
    periods = in_time(score)
    order = periods or sorted(score, key=lambda name: -score[name])
    ends = {frozenset((periods[0], periods[-1]))} if periods else set()
    near = {frozenset(pair) for pair in itertools.pairwise(order)} | ends
    split: tuple[list[Any], list[Any]] = ([], [])

    def place(row: dict[str, Any]) -> tuple[bool, int]:
        pair = row["first"], row["second"]
        return frozenset(pair) not in ends, min(map(order.index, pair))

    for row in sorted(differences, key=place):
        split[frozenset((row["first"], row["second"])) not in near].append(row)
    return split
