"""Bias of a pass rate, and of its correction, and the labels from which on correcting pays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayesjudge.core.errors import expect
from bayesjudge.prevalence.budget.allocation import check_rates


class CorrectionBias(NamedTuple):
    """Expected error of the pass rate and of its correction, in shares.

    Parameters
    ----------
    naive : float or numpy.ndarray
        Of the judge's pass rate, exact.
    corrected : float or numpy.ndarray
        Of Rogan and Gladen's correction, to second order in the labels.
    """

    naive: Any
    corrected: Any


def correction_bias(
    prevalence: Any, *, sensitivity: Any, specificity: Any, positives: Any, negatives: Any
) -> CorrectionBias:
    r"""Compute the bias of the pass rate, and of its correction by few labels.

    .. math::

       E[\hat p] - \theta = (1 - \theta)(1 - q_0) - \theta (1 - q_1), \qquad
       E[\hat\theta] - \theta \approx \frac{-(1 - \theta) q_0 (1 - q_0) / m_0
       + \theta q_1 (1 - q_1) / m_1}{(q_0 + q_1 - 1)^2}

    Parameters
    ----------
    prevalence : float or array_like
        True share of good outputs, in [0, 1]. Arguments broadcast.
    sensitivity, specificity : float or array_like
        Of the judge, in [0, 1], with a sum above 1.
    positives, negatives : float or array_like
        Labelled items that are good (:math:`m_1`) and bad (:math:`m_0`), 1 or more.

    Returns
    -------
    CorrectionBias
        Both.

    Raises
    ------
    InputError
        If a rate is out of range, the judge is no better than chance, or a size is below 1.

    References
    ----------
    Lee et al. (2025), Proposition B.1.

    Examples
    --------
    >>> rates = {"sensitivity": 0.9, "specificity": 0.7}
    >>> found = correction_bias(0.2, **rates, positives=50, negatives=50)
    >>> round(float(found.naive), 4), round(float(found.corrected), 4)
    (0.22, -0.0083)
    """
    theta, q1, q0 = _checked("correction_bias", prevalence, sensitivity, specificity)
    sizes = np.all(np.asarray(positives) >= 1) and np.all(np.asarray(negatives) >= 1)
    expect("correction_bias", sizes, f"sizes must be 1 or more, got {positives=}, {negatives=}")
    return _biases(theta, q1, q0, positives, negatives)


def labels_to_correct(
    prevalence: Any, *, sensitivity: Any, specificity: Any, positive_share: float = 0.5
) -> Any:
    r"""Count the labels from which on the correction is less biased than the pass rate.

    Parameters
    ----------
    prevalence : float or array_like
        True share of good outputs, in [0, 1].
    sensitivity, specificity : float or array_like
        Of the judge, in [0, 1], with a sum above 1.
    positive_share : float, default 0.5
        Share of the labels that are of good items, inside (0, 1).

    Returns
    -------
    float or numpy.ndarray
        Labels, to second order; not rounded. Infinite where the pass rate happens to be right. For
        a symmetric judge of accuracy q and equal shares it is :math:`2q / (2q - 1)^2`, whatever the
        prevalence.

    Raises
    ------
    InputError
        If a rate is out of range, or the judge is no better than chance.

    Notes
    -----
    It is a rule of bias alone. Correcting also costs width: `judge_regime` and `plan` tell what few
    labels do to the interval.

    References
    ----------
    Lee et al. (2025), Propositions 5.1 and B.1.

    Examples
    --------
    >>> round(float(labels_to_correct(0.9, sensitivity=0.8, specificity=0.8)), 2)
    4.44
    """
    fits = 0 < positive_share < 1
    expect("labels_to_correct", fits, "must lie inside (0, 1)", positive_share=positive_share)
    # the bias of the correction falls as one over the labels: that of a single one, were it split
    theta, q1, q0 = _checked("labels_to_correct", prevalence, sensitivity, specificity)
    naive, of_one = _biases(theta, q1, q0, positive_share, 1 - positive_share)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.isclose(naive, 0, atol=1e-12), np.inf, np.abs(of_one / naive))[()]


def _biases(
    theta: np.ndarray, q1: np.ndarray, q0: np.ndarray, positives: Any, negatives: Any
) -> CorrectionBias:
    naive = (1 - theta) * (1 - q0) - theta * (1 - q1)
    of_good = theta * q1 * (1 - q1) / positives
    of_bad = (1 - theta) * q0 * (1 - q0) / negatives
    return CorrectionBias(naive[()], ((of_good - of_bad) / (q0 + q1 - 1) ** 2)[()])


def _checked(subject: str, prevalence: Any, sensitivity: Any, specificity: Any) -> list[np.ndarray]:
    check_rates(subject, prevalence=prevalence, sensitivity=sensitivity, specificity=specificity)
    theta, q1, q0 = np.broadcast_arrays(
        *(np.asarray(value, float) for value in (prevalence, sensitivity, specificity))
    )
    better = bool(np.all(q1 + q0 > 1))
    expect(subject, better, "sensitivity + specificity must be above 1: no better than chance")
    return [theta, q1, q0]
