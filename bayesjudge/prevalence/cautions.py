"""What the counts say against an estimate: named, with the numbers, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import gammaln

from bayesjudge.core.intervals import wilson
from bayesjudge.core.results import Caution
from bayesjudge.prevalence.data import Counts

#: A shift between labelled and other items rarer than this under random labelling is reported.
SHIFT_P = 0.01


def youden_interval(counts: Counts, ci_prob: float = 0.95) -> tuple[Any, Any, Any]:
    """Youden's J = sensitivity + specificity - 1 with Newcombe's interval.

    Parameters
    ----------
    counts : Counts
        Labelled items.
    ci_prob : float
        Coverage that the interval aims at.

    Returns
    -------
    value, low, high : float or numpy.ndarray
        ``nan`` where a class of labels is empty.

    References
    ----------
    Newcombe (1998), Stat. Med. 17, 873-890, method 10.
    """
    q1, low1, high1 = wilson(counts.correct_pass, counts.correct_n, ci_prob)
    q0, low0, high0 = wilson(counts.incorrect_fail, counts.incorrect_n, ci_prob)
    value = q1 + q0 - 1
    return (
        value,
        value - np.hypot(q1 - low1, q0 - low0),
        value + np.hypot(high1 - q1, high0 - q0),
    )


def shift_p_value(counts: Counts) -> np.ndarray:
    """How surprising the labelled pass rate is, were the labelled items a random sample.

    Given the passes among all items, the labelled passes are hypergeometric. This is the posterior
    predictive check of the labelled pass rate with the unknown pass rate conditioned away.

    Parameters
    ----------
    counts : Counts
        Labelled and test items.

    Returns
    -------
    numpy.ndarray
        Two-sided p-value by system: the probability of a count that is as improbable or more.
    """
    n, k, m, a = np.broadcast_arrays(
        *(
            np.atleast_1d(x)
            for x in (counts.test_n, counts.test_pass, counts.labelled_n, counts.labelled_pass)
        )
    )
    found = []
    for n_i, k_i, m_i, a_i in zip(n, k, m, a, strict=True):
        passes = k_i + a_i
        x = np.arange(max(0, m_i - (n_i + m_i - passes)), min(m_i, passes) + 1)
        logs = _log_choose(passes, x) + _log_choose(n_i + m_i - passes, m_i - x)
        weights = np.exp(logs - logs.max())
        observed = weights[a_i - x[0]]
        found.append(weights[weights <= observed * (1 + 1e-9)].sum() / weights.sum())
    return np.array(found)


def cautions_of(counts: Counts) -> tuple[Caution, ...]:
    """List what a reader should know before believing an estimate from these counts.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels.

    Returns
    -------
    tuple of Caution
        Among ``weak-judge``, ``empty-class``, ``pass-rate-out-of-range``, ``label-shift`` and
        ``unparsed-verdicts``.
    """
    return tuple(_weak(counts)) + tuple(_surprising(counts)) + tuple(_unparsed(counts))


def _each(counts: Counts, *values: Any) -> Iterator[tuple[Any, ...]]:
    """``(" in system 'x'" or "", value, …)`` for each system."""
    names = [""] if counts.systems is None else [f" in system {s!r}" for s in counts.systems]
    columns = [np.broadcast_to(np.atleast_1d(v), (len(names),)) for v in values]
    yield from zip(names, *columns, strict=True)


def _weak(counts: Counts) -> Iterator[Caution]:
    j, low, high = youden_interval(counts)
    for where, value, lo, hi, m1, m0 in _each(
        counts, j, low, high, counts.correct_n, counts.incorrect_n
    ):
        if m1 == 0 or m0 == 0:
            kind, rate = ("good", "sensitivity") if m1 == 0 else ("bad", "specificity")
            yield Caution(
                "empty-class",
                f"no labelled item is {kind}{where}, so the labels say nothing of the judge's "
                f"{rate}; label more items",
            )
        elif lo <= 0:
            yield Caution(
                "weak-judge",
                f"sensitivity + specificity - 1 is {value:.2f} ({lo:.2f} to {hi:.2f}){where}, not "
                "clearly above 0: the judge may be no better than chance, and its verdicts say "
                "little; use a better judge or more labels",
            )


def _surprising(counts: Counts) -> Iterator[Caution]:
    with np.errstate(invalid="ignore", divide="ignore"):
        p = np.divide(counts.test_pass, counts.test_n)
        q1 = np.divide(counts.correct_pass, counts.correct_n)
        wrong = 1 - np.divide(counts.incorrect_fail, counts.incorrect_n)
    for where, rate, low, high in _each(counts, p, np.minimum(wrong, q1), np.maximum(wrong, q1)):
        if rate < low or rate > high:
            yield Caution(
                "pass-rate-out-of-range",
                f"the pass rate {rate:.3f}{where} lies outside [{low:.3f}, {high:.3f}], the range "
                "that the labelled items allow: chance, or the labelled items differ from the rest",
            )
    if counts.calibration != "random":
        return
    for where, p_value, rate, labelled in _each(
        counts, shift_p_value(counts), p, np.divide(counts.labelled_pass, counts.labelled_n)
    ):
        if p_value < SHIFT_P:
            yield Caution(
                "label-shift",
                f"the judge passed {labelled:.1%} of the labelled items and {rate:.1%} of the "
                f"others{where}; a random sample would differ so with probability {p_value:.1e}: "
                "the labelled items were not drawn at random; declare how they were drawn",
            )


def _unparsed(counts: Counts) -> Iterator[Caution]:
    for where, count, total in _each(counts, counts.unparsed, counts.test_n + counts.labelled_n):
        if count:
            yield Caution(
                "unparsed-verdicts",
                f"{count} verdicts could not be read{where} (estimates rest on {total} items); "
                "a rate that differs between good and bad items matters",
            )


def _log_choose(n: Any, k: Any) -> Any:
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
