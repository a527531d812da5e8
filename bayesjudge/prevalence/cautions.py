"""What the counts say against an estimate: named, with the numbers, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bayesjudge.core.answer import MOST_NAMED, listed
from bayesjudge.core.diagnosis import AGAINST, findings, selection_of
from bayesjudge.core.estimate import Assumption, Caution, Place, Target
from bayesjudge.core.intervals import added, jeffreys, wilson, z_score
from bayesjudge.core.label_design import SAME_JUDGE, STRATUM_SHARES
from bayesjudge.core.screen import first_of, how_many
from bayesjudge.prevalence._bounds import judged_so, verdicts_without_label
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.diagnosis import contradictory, granted
from bayesjudge.verdicts.groups import plural

#: Of several strata: their prevalences weighed by their shares of the items.
OVERALL = "overall_prevalence"
#: A shift between labelled and other items rarer than this under random labelling is reported;
#: of several systems the alarms of all of them together are that rare (Bonferroni).
SHIFT_P = 0.01
#: A pass rate outside the range that the judge's error rates allow is reported if it is rarer than
#: this (2 standard errors), of all systems together too.
RANGE_P = 0.02275
#: Labels and verdicts that are rarer than this under the declared model contradict it.
CONTRADICTION_P = 1e-6


def above_chance(counts: Counts, ci_prob: float = 0.95) -> tuple[Any, Any, Any]:
    """By how much the judge beats chance on the labelled items, as in `judge.quality`."""
    n1, n0 = _classes(counts)
    hits, caught = counts.rate_labels["correct_pass"], counts.rate_labels["incorrect_fail"]
    return added(jeffreys(hits, n1, ci_prob), jeffreys(caught, n0, ci_prob), less=1)


def _classes(counts: Counts) -> tuple[Any, Any]:
    """How many labelled items of each kind the design chose: good and bad, or passed and failed."""
    if counts.predictive:
        return counts.labelled_pass, counts.labelled_n - counts.labelled_pass
    return counts.rate_labels["correct_n"], counts.rate_labels["incorrect_n"]


def shift_p_value(counts: Counts) -> np.ndarray:
    """How surprising the labelled pass rate is, were the labelled items a random sample."""
    columns = counts.test_n, counts.test_pass, counts.labelled_n, counts.labelled_pass
    n, k, m, a = np.broadcast_arrays(*map(np.atleast_1d, columns))
    p_values = []
    for n_i, k_i, m_i, a_i in zip(n, k, m, a, strict=True):
        passes, fails = k_i + a_i, n_i - k_i + m_i - a_i
        least = max(0, m_i - fails)
        # hypergeometric: each number of labelled passes by how likely it is next to the one before
        x = np.arange(least, min(m_i, passes), dtype=float)
        steps = np.log((passes - x) * (m_i - x)) - np.log((x + 1) * (fails - m_i + x + 1))
        logs = np.append(0.0, np.cumsum(steps))
        weights = np.exp(logs - logs.max())
        observed = weights[a_i - least]
        p_values.append(weights[weights <= observed * (1 + 1e-9)].sum() / weights.sum())
    return np.array(p_values)


#: For labels of other systems.
BORROW = (
    "read all systems and let them share what labels tell of the judge (bayesjudge prevalence "
    "--by COLUMN --calibration random --pooling partial; in Python PooledErrorRates())"
)
#: The same of several judges.
BORROW_EACH = f"take one judge's column, {BORROW}"


@findings.register
def _of_counts(counts: Counts, target: Target) -> Iterator[Caution]:
    # that every item is labelled is good news if the answer is about these items
    complete = () if target == "items" else (_complete,)
    for group in (_weak, *complete, _surprising, _drawn_otherwise, _unparsed, _transported):
        yield from group(counts)


@granted.register
def _assumed(counts: Counts) -> tuple[Assumption, ...]:
    """What the declared design, and external labels, assume."""
    more = () if counts.external_labels is None else (SAME_JUDGE,)
    strata = (STRATUM_SHARES,) if counts.adds_up and counts.propensity is None else ()
    return tuple(dict.fromkeys((counts.design.assumption, *more, *strata)))


def untested(counts: Counts) -> np.ndarray:
    """Which systems have labels of another run alone."""
    if counts.external_labels is None:
        return np.zeros(len(counts.places), bool)
    external = np.atleast_1d(np.sum(counts.external_labels[::2], axis=0))
    return (external > 0) & (np.atleast_1d(counts.labelled_n) == 0)


def _transported(counts: Counts) -> Iterator[Caution]:
    for where, alone in _each(counts, untested(counts)):
        if alone:
            yield Caution.of("untested-rates", where=where)
    if counts.label_systems:
        shown = ", ".join(counts.label_systems[:3]) + (", …" if counts.label_systems[3:] else "")
        yield Caution.of(
            "other-systems",
            "counts",
            shown=shown,
            remedy=BORROW_EACH if counts.dim == "judge" else BORROW,
        )


def contradictions(
    counts: Counts, better_than_chance: bool, place: Place | None = None
) -> Iterator[Caution]:
    """Say if the data are all but impossible under the model; of `place`, if it is given.

    Two shares are compared on the angular scale, on which a share of n items has variance 1 / n.
    """
    if counts.predictive:
        first = counts.correct_pass, counts.labelled_pass
        failed = counts.labelled_n - counts.labelled_pass
        second = failed - counts.incorrect_fail, failed
    else:
        good, hits, bad, caught = counts.rate_labels.values()
        first, second = (hits, good), (bad - caught, bad)
    tests: list[tuple[str, Any]] = []
    if better_than_chance:
        tests.append(("chance", _rarely_less(first, second)))
    if not counts.predictive:
        seen = counts.test_pass, counts.test_n
        above = np.maximum(_rarely_less(first, seen), _rarely_less(second, seen))
        below = np.maximum(_rarely_less(seen, first), _rarely_less(seen, second))
        tests.append(("range", np.minimum(above, below)))
    if counts.identifies("prevalence") and counts.propensity is None:
        labelled = counts.labelled_pass, counts.labelled_n
        seen = counts.test_pass, counts.test_n
        less, more = _rarely_less(labelled, seen), _rarely_less(seen, labelled)
        tests.append(("sample", 2 * np.minimum(less, more)))
    for test, p_values in tests:
        for where, p_value in _each(counts, p_values):
            if p_value < CONTRADICTION_P:
                yield Caution.of("contradiction", test, where=place or where, p_value=p_value)


def _rarely_less(first: tuple[Any, Any], other: tuple[Any, Any]) -> Any:
    """Probability that the first share is seen so far below the second, were they the same."""
    (k1, n1), (k2, n2) = first, other
    angles = [
        2 * np.arcsin(np.sqrt(np.divide(k + 3 / 8, n + 3 / 4))) for k, n in ((k1, n1), (k2, n2))
    ]
    variance = np.divide(1.0, np.maximum(n1, 0.5)) + np.divide(1.0, np.maximum(n2, 0.5))
    return _normal((angles[0] - angles[1]) / np.sqrt(variance))


def _each(counts: Counts, *values: Any) -> Iterator[tuple[Any, ...]]:
    """``(place, value, …)`` for each system."""
    names: Sequence[tuple[str, ...]] = [(name,) for name in counts.systems or ()] or [()]
    places = list(map(Place, names, counts.places))
    columns = [np.broadcast_to(np.atleast_1d(v), (len(places),)) for v in values]
    yield from zip(places, *columns, strict=True)


def _weak(counts: Counts) -> Iterator[Caution]:
    if counts.adds_up:  # one judge: what all strata say of it
        counts = counts.merged()
    by_verdict = counts.predictive
    what = "positive + negative predictive value" if by_verdict else "sensitivity + specificity"
    sizes = (*_classes(counts), *counts.rate_labels.values())
    bounds = tuple(verdicts_without_label(counts).values()) if by_verdict else (False, False)
    weak: list[tuple[str, str]] = []
    rows = _each(counts, *above_chance(counts), *bounds, *sizes)
    for where, value, low, high, passes, fails, n1, n0, *labels in rows:
        good, hits, bad, caught = labels
        alike = of_one_kind(good, hits, bad, caught, where)
        if n1 == 0 and n0 == 0:
            yield Caution.of("no-labels", "counts", where=where)
        elif passes or fails:
            those = judged_so("pass" if passes else "fail", counts.pass_name)
            yield Caution.of("empty-class", "verdict", where=where, those=those)
        elif alike is not None:
            yield alike
        elif (n1 == 0 or n0 == 0) and by_verdict:  # there are no such items
            those = judged_so("pass" if n1 == 0 else "fail", counts.pass_name)
            yield Caution.of("no-such-verdict", where=where, those=those)
        elif n1 == 0 or n0 == 0:
            kind = "good" if n1 == 0 else "bad"
            yield Caution.of("empty-class", "rate", where=where, kind=kind)
        elif high < 0:
            yield Caution.of(
                "inverted-judge", "rates", where=where, what=what, value=value, low=low, high=high
            )
        elif low <= 0:
            weak.append((str(where), f"{value:.2f} ({low:.2f} to {high:.2f})"))
    if weak:
        of = len(counts.places), plural(counts.kind)
        yield weak_judge(what, weak, *of)


def weak_judge(what: str, weak: Sequence[tuple[str, str]], of: int, kinds: str) -> Caution:
    """Where the judge may be no better than chance: one sentence, however many there are."""
    named = [f"{value}{where}" for where, value in weak]
    if len(weak) == 1:
        return Caution.of("weak-judge", "one", what=what, value=named[0])
    values = listed(first_of(named, MOST_NAMED))
    return Caution.of(
        "weak-judge", "several", what=what, weak=len(weak), of=of, kinds=kinds, values=values
    )


def of_one_kind(good: Any, hits: Any, bad: Any, caught: Any, where: Place) -> Caution | None:
    """Labels that are all good or all bad, where the judge says otherwise of some."""
    wrong, labelled = round(good - hits + bad - caught), round(good + bad)
    if not wrong or min(good, bad) > 0:
        return None
    kind, did = ("bad", "failed") if good else ("good", "passed")
    return Caution.of(
        "empty-class", "all-wrong", where=where, kind=kind, did=did, wrong=wrong, labelled=labelled
    )


def _complete(counts: Counts) -> Iterator[Caution]:
    for where, items in _each(counts, counts.test_n):
        if items == 0 and counts.propensity is None:
            yield Caution.of("all-labelled", where=where)


def _surprising(counts: Counts) -> Iterator[Caution]:
    if not counts.predictive:
        yield from _out_of_range(counts)
    if counts.identifies("prevalence"):
        yield from _shifted(counts)


@contradictory.register
def _contradicted(counts: Counts) -> dict[str, tuple[Caution, ...]]:
    """What contradicts each assumption, by its id, whatever design was declared."""
    seen = selection_of(counts)
    chosen = (seen.caution,) if seen else ()
    shifted = (*_shifted(counts), *chosen)
    by_verdict = counts.design.identifies == {"predictive_values"}
    against = {
        "random-labels": shifted,
        "random-labels-by-propensity": shifted,
        "stated-propensities": (*_drawn_otherwise(counts), *chosen),
        # labels by verdict differ in their pass rate by design
        "random-labels-by-verdict": chosen if by_verdict else shifted,
        "same-judge": (
            *(c for c in _weak(counts) if c.id in AGAINST["same-judge"]),
            *(() if counts.predictive else _out_of_range(counts)),
        ),
        "errors-cancel": tuple(_lopsided(counts)),
    }
    if counts.design.check is not None:
        against[counts.design.assumption.id] = tuple(counts.design.check(counts))
    return against


def _drawn_otherwise(counts: Counts) -> Iterator[Caution]:
    """Classes of items that were labelled more or less often than stated."""
    if counts.propensity is None:
        return
    from scipy.special import bdtr, bdtrc

    items, stated = counts.test_n + counts.labelled_n, counts.propensity
    labels = counts.labelled_n
    fewer = bdtr(labels, items, stated)
    more = np.where(labels == 0, 1.0, bdtrc(np.maximum(labels - 1, 0), items, stated))
    p_values = np.minimum(1.0, 2 * np.minimum(fewer, more))
    rows = _each(counts, p_values, labels, items, stated)
    for where, p_value, labelled, total, expected in rows:
        if p_value < SHIFT_P / len(counts.places):
            yield Caution.of(
                "propensity-mismatch",
                where=where,
                labelled=labelled,
                total=total,
                expected=expected,
                p_value=p_value,
            )


def _lopsided(counts: Counts) -> Iterator[Caution]:
    """Errors of the two kinds that do not cancel: at the labelled items, if they are a sample.

    Else each kind is weighed by how many items there are of it at the judge's own pass rate.
    """
    wrong_fails = counts.correct_n - counts.correct_pass
    wrong_passes = counts.incorrect_n - counts.incorrect_fail
    if not counts.identifies("prevalence"):
        yield from _lopsided_by_kind(counts, wrong_passes, wrong_fails)
        return
    rarer, total = np.minimum(wrong_fails, wrong_passes), wrong_fails + wrong_passes
    p_values = np.minimum(1.0, 2 * _at_most(rarer, total))
    for where, p_value, fails, passes in _each(counts, p_values, wrong_fails, wrong_passes):
        if p_value < SHIFT_P / len(counts.places):
            yield Caution.of(
                "errors-do-not-cancel",
                "labelled",
                where=where,
                errs=_wrong(passes, fails, counts.pass_name),
            )


def _lopsided_by_kind(counts: Counts, wrong_passes: Any, wrong_fails: Any) -> Iterator[Caution]:
    """By Newcombe's interval of the difference of the weighed shares."""
    items = np.asarray(counts.test_n)
    passed = np.asarray(counts.test_pass)
    if counts.design.same_items:
        items, passed = items + counts.labelled_n, passed + counts.labelled_pass
    share = np.divide(passed, np.maximum(items, 1))
    if counts.predictive:  # of passes and of fails
        sizes = counts.labelled_pass, counts.labelled_n - counts.labelled_pass
        weights = share, 1 - share
    else:  # of bad and of good items, as many as the judge says
        sizes, weights = (counts.incorrect_n, counts.correct_n), (1 - share, share)
    level = 1 - SHIFT_P / len(counts.places)
    (first, low1, high1), (two, low2, high2) = (
        tuple(w * np.asarray(x) for x in wilson(k, n, level))
        for k, n, w in zip((wrong_passes, wrong_fails), sizes, weights, strict=True)
    )
    gap = first - two
    low = gap - np.hypot(first - low1, high2 - two)
    high = gap + np.hypot(high1 - first, two - low2)
    for where, passes, fails, least, most in _each(counts, first, two, low, high):
        if least > 0 or most < 0:
            errs = _wrong(f"{1000 * passes:.0f}", f"{1000 * fails:.0f}", counts.pass_name)
            yield Caution.of("errors-do-not-cancel", "weighed", where=where, errs=errs)


def _wrong(passes: int | str, fails: int | str, name: str) -> str:
    if name:
        return f"called {passes} others {name!r} and missed {fails} {name!r} ones"
    return f"passed {passes} bad and failed {fails} good ones"


def _out_of_range(counts: Counts) -> Iterator[Caution]:
    # each rate moved towards one half, as in source 1, eq. (7), so that none is known for sure
    good, hits, bad, caught = counts.rate_labels.values()
    sizes = [np.asarray(n) for n in (counts.test_n, bad, good)]
    parts = (counts.test_pass, bad - caught, hits)
    shares = [(k + 1) / (n + 2) for k, n in zip(parts, sizes, strict=True)]
    variances = [q * (1 - q) / (n + 2) for q, n in zip(shares, sizes, strict=True)]
    seen, wrong, hit = shares
    (least, low), (most, high) = (
        (pick(wrong, hit), np.where(pick(wrong, hit) == wrong, *variances[1:]))
        for pick in (np.minimum, np.maximum)
    )
    off = np.maximum(
        (least - seen) / np.sqrt(variances[0] + low), (seen - most) / np.sqrt(variances[0] + high)
    )
    farthest = z_score(1 - 2 * RANGE_P / len(counts.places))
    apart = not counts.design.same_items or counts.external_labels is not None
    remedy = (
        "; if they were chosen by what the judge said of them, declare by_verdict; if they are of "
        f"other systems, {BORROW}"
        if apart
        else ""
    )
    for where, rate, start, end, sds in _each(counts, seen, least, most, off):
        if sds > farthest:
            yield Caution.of(
                "pass-rate-out-of-range",
                where=where,
                rate=rate,
                start=start,
                end=end,
                sds=sds,
                remedy=remedy,
            )


def _shifted(counts: Counts) -> Iterator[Caution]:
    rate, labelled = (
        np.divide(k, np.maximum(n, 1))
        for k, n in (
            (counts.test_pass, counts.test_n),
            (counts.labelled_pass, counts.labelled_n),
        )
    )
    for where, p_value, other, share in _each(counts, shift_p_value(counts), rate, labelled):
        if p_value < SHIFT_P / len(counts.places):
            yield Caution.of(
                "label-shift", "counts", where=where, labelled=share, other=other, p_value=p_value
            )


def _unparsed(counts: Counts) -> Iterator[Caution]:
    items = counts.test_n + counts.labelled_n
    seen = [(n, where, total) for where, n, total in _each(counts, counts.unparsed, items) if n]
    if not seen:
        return
    seen.sort(key=lambda row: -row[0])
    several = len(seen) > 1
    where = str(seen[0][1])
    if several:
        where = f": {', '.join(f'{n}{place}' for n, place, _ in seen[:3])}"
    where += ", …" if len(seen) > 3 else ""
    count, total = int(sum(row[0] for row in seen)), int(np.sum(items) if several else seen[0][2])
    yield Caution.of(
        "unparsed-verdicts", "verdicts", count=count, place=where, total=how_many(total, "item")
    )


@np.vectorize
def _normal(z: float) -> float:
    """Distribution function of the standard normal."""
    return math.erfc(-z / math.sqrt(2)) / 2


@np.vectorize
def _at_most(k: int, n: int) -> float:
    """Probability of at most `k` heads of `n`, the last term first: loading SciPy takes longer."""
    below = np.arange(k, 0, -1)  # a head less multiplies the probability by this over what is left
    terms = np.cumprod(below / (n - below + 1))
    log_last = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(log_last - n * math.log(2)) * (1 + terms.sum())
