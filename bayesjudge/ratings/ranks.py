"""When do two definitions of performance rank judges alike? Source 5, Section 5 and Appendix B."""

from __future__ import annotations

from typing import Any

import numpy as np


def mse_difference(
    human: np.ndarray, first: np.ndarray, second: np.ndarray, members: np.ndarray
) -> Any:
    r"""Squared error of one judge less that of another, between soft response sets.

    .. math:: \delta = \|\Lambda(\theta - \theta^z)\|^2 - \|\Lambda(\theta - \theta^w)\|^2

    Parameters
    ----------
    human, first, second : numpy.ndarray, shape (..., Q)
        Shares of response sets of people, of judge z and of judge w.
    members : numpy.ndarray, shape (K, Q)
        Which option is in which set.

    Returns
    -------
    float or numpy.ndarray
        Below 0 the first judge is better.
    """
    errors = [(((human - judge) @ members.T) ** 2).sum(axis=-1) for judge in (first, second)]
    return errors[0] - errors[1]


def error_keeps_ranking(
    stable: np.ndarray,
    observed: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    members: np.ndarray,
) -> Any:
    r"""Whether raters' errors leave the order of two judges by squared error as it is.

    With :math:`M = \Lambda^T\Lambda` the order is kept if and only if

    .. math:: 2\,\mathrm{sign}(\delta^*)\,(\theta^* - \theta)^T M (\theta^w - \theta^z)
              < |\delta^*|.

    Parameters
    ----------
    stable, observed : numpy.ndarray, shape (..., Q)
        People's shares of response sets without and with errors.
    first, second : numpy.ndarray, shape (..., Q)
        Shares of judge z and of judge w, which make no errors.
    members : numpy.ndarray, shape (K, Q)
        Which option is in which set.

    Returns
    -------
    bool or numpy.ndarray of bool
        False also where the judges tie without errors.

    Notes
    -----
    The source's Lemma B.1 asks instead that the product and :math:`\delta^*` have the same sign,
    and calls that necessary and sufficient. It is neither: where the signs differ, the order is
    always kept, and where they agree, it may be kept or not (`lemma_as_printed`).

    References
    ----------
    Source 5, Lemma B.1 and its proof, from which the condition above follows.
    """
    delta = mse_difference(stable, first, second, members)
    product = _product(stable, observed, first, second, members)
    return 2 * np.sign(delta) * product < np.abs(delta)


def lemma_as_printed(
    stable: np.ndarray,
    observed: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    members: np.ndarray,
) -> Any:
    """Condition of Lemma B.1 as the source prints it, kept to show where it fails.

    Parameters
    ----------
    stable, observed, first, second : numpy.ndarray, shape (..., Q)
        As in `error_keeps_ranking`.
    members : numpy.ndarray, shape (K, Q)
        Which option is in which set.

    Returns
    -------
    bool or numpy.ndarray of bool
        Whether eq. (8) holds.
    """
    delta = mse_difference(stable, first, second, members)
    return np.sign(_product(stable, observed, first, second, members)) == np.sign(delta)


def _product(stable: Any, observed: Any, first: Any, second: Any, members: np.ndarray) -> Any:
    shift, gap = (stable - observed) @ members.T, (second - first) @ members.T
    return (shift * gap).sum(axis=-1)
