"""Other packages' signatures over this package's estimators: switch by one import.

Intervals are this package's, and differ from theirs where those do not hold what they promise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesjudge.core.errors import checking, expect
from bayesjudge.prevalence import Counts, rogan_gladen


def estimate_success_rate(
    test_labels: Sequence[Any],
    test_preds: Sequence[Any],
    unlabeled_preds: Sequence[Any],
    bootstrap_iterations: int = 20000,
    confidence_level: float = 0.95,
) -> tuple[float, float, float]:
    """Pass rate corrected for the judge's errors, with the signature of ``judgy``.

    The estimate is judgy's. The interval is Lang and Reiczigel's in place of a bootstrap that
    leaves out the draws in which the judge does badly, and does not draw the unlabelled verdicts
    again. `bayesjudge.prevalence.closed_forms` gives what suits how the labels were drawn.

    Parameters
    ----------
    test_labels, test_preds : sequence of 0 or 1
        People's labels and the judge's verdicts on the labelled items.
    unlabeled_preds : sequence of 0 or 1
        The judge's verdicts on the other items.
    bootstrap_iterations : int, default 20000
        Taken for judgy's sake: nothing is drawn.
    confidence_level : float, default 0.95
        Of the interval.

    Returns
    -------
    tuple of float
        Estimate, lower and upper end.

    Raises
    ------
    InputError
        If lengths differ, a value is neither 0 nor 1 (0.9 is not 0), or the judge is no better than
        chance. It is a ValueError, as judgy's are.

    Examples
    --------
    >>> labels, preds = [1] * 50 + [0] * 50, [1] * 45 + [0] * 5 + [0] * 40 + [1] * 10
    >>> rate = estimate_success_rate(labels, preds, [1] * 60 + [0] * 40)
    >>> [round(x, 3) for x in rate]
    [0.571, 0.396, 0.743]
    """
    given = {"test_labels": test_labels, "test_preds": test_preds}
    given |= {"unlabeled_preds": unlabeled_preds}
    arrays = {}
    with checking("estimate_success_rate") as require:
        for name, values in given.items():
            arrays[name] = np.asarray(values)
            require(
                arrays[name].ndim == 1 and arrays[name].size, f"{name} must be a list, not empty"
            )
            odd = [x for x in np.unique(arrays[name]).tolist() if x not in (0, 1)][:3]
            require(not odd, "must hold 0 and 1 only", **{name: odd})
        t, v = arrays["test_labels"], arrays["test_preds"]
        words = f"test_labels and test_preds have {t.size} and {v.size} values; one each is needed"
        require(t.size == v.size, words)
        require(bootstrap_iterations > 0, "bootstrap_iterations must be positive")
    u = arrays["unlabeled_preds"] == 1
    good, passed = t == 1, v == 1
    hits, caught = int((good & passed).sum()), int((~good & ~passed).sum())
    labels = (int(good.sum()), hits, int((~good).sum()), caught)
    counts = Counts(u.size, int(u.sum()), *labels, calibration="separate")
    value, low, high = rogan_gladen(counts, ci_prob=confidence_level)["prevalence"]
    return value, low, high


def point_estimator(p: float, q0: float, q1: float) -> float:
    """Corrected share, with the signature of source 1's code (Lee et al. 2025).

    Parameters
    ----------
    p : float
        The judge's pass rate on the test items.
    q0, q1 : float
        Its specificity and sensitivity.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    InputError
        If a rate is no share, or q0 + q1 <= 1.

    Examples
    --------
    >>> round(point_estimator(0.62, 0.7, 0.9), 3)
    0.533
    """
    _require_rates(p=p, q0=q0, q1=q1)
    words = "the judge is no better than chance, so that its errors cannot be corrected"
    problem = f"q0 + q1 = {q0 + q1:.3f}, expected more than 1: {words}"
    expect("point_estimator", q0 + q1 > 1, problem)
    return float(np.clip((p + q0 - 1) / (q0 + q1 - 1), 0, 1))


def confidence_interval(
    p: float, q0: float, q1: float, n: int, m0: int, m1: int, alpha: float = 0.05
) -> tuple[float, float]:
    """Interval of the corrected share, with the signature of source 1's code.

    Parameters
    ----------
    p : float
        The judge's pass rate on the test items.
    q0, q1 : float
        Its specificity and sensitivity on the labelled items.
    n, m0, m1 : int
        Test items; labelled items that are bad, and that are good.
    alpha : float, default 0.05
        Probability that the interval misses.

    Returns
    -------
    tuple of float
        Lower and upper end: eqs. 6-8 of the source, which hold what they promise, rather than its
        printed listing.

    Raises
    ------
    InputError
        If a rate is no share of its items, or q0 + q1 <= 1.

    Examples
    --------
    >>> low, high = confidence_interval(0.62, 0.7, 0.9, 1000, 100, 100)
    >>> round(low, 3), round(high, 3)
    (0.43, 0.636)
    """
    _require_rates(p=p, q0=q0, q1=q1)
    shares = {"p": (p, n), "q0": (q0, m0), "q1": (q1, m1)}
    with checking("confidence_interval") as require:
        for name, (rate, size) in shares.items():
            near = abs(rate * size - round(rate * size)) < 1e-6 * max(size, 1)
            require(near, f"{name}={rate} is not a share of {size} items")
    passed, caught, hits = (round(rate * size) for rate, size in shares.values())
    counts = Counts(n, passed, m1, hits, m0, caught, calibration="by_truth")
    _, low, high = rogan_gladen(counts, ci_prob=1 - alpha)["prevalence"]
    return low, high


def _require_rates(**rates: float) -> None:
    with checking("rates") as require:
        for name, rate in rates.items():
            require(0 <= rate <= 1, f"{name}={rate} must lie between 0 and 1")
