"""How a rater's response set becomes a forced choice: the matrices of source 5, Section 3.

Axes are named throughout: K options, Q response sets. Shares of response sets are arrays whose last
axis is Q, shares of options arrays whose last axis is K.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from bayesjudge.core.errors import checking


def all_response_sets(options: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """List every non-empty set of options, small ones first.

    Parameters
    ----------
    options : sequence of str
        What a rater may choose from.

    Returns
    -------
    tuple of tuple of str
        ``2 ** len(options) - 1`` of them; options keep their order within a set.

    Examples
    --------
    >>> all_response_sets(["yes", "no"])
    (('yes',), ('no',), ('yes', 'no'))
    """
    return tuple(
        chosen for size in range(1, len(options) + 1) for chosen in combinations(options, size)
    )


def membership(options: Sequence[str], sets: Sequence[Sequence[str]]) -> np.ndarray:
    """Which option is in which response set: the source's Lambda.

    Parameters
    ----------
    options : sequence of str, length K
        What a rater may choose from.
    sets : sequence of sequence of str, length Q
        The admissible response sets.

    Returns
    -------
    numpy.ndarray, shape (K, Q)
        1 where the option is in the set, else 0.

    Examples
    --------
    >>> membership(["yes", "no"], [["yes"], ["no"], ["yes", "no"]]).astype(int).tolist()
    [[1, 0, 1], [0, 1, 1]]
    """
    return np.array([[float(option in chosen) for chosen in sets] for option in options])


def error_matrix(members: np.ndarray, rate: float, skew: float = 0.0, positive: int = 0) -> Any:
    r"""Build the error matrix E from an error rate and a skew.

    A rater errs with probability `rate`; the response set then given instead of :math:`v^*` is
    :math:`v \neq v^*` with probability proportional to
    :math:`\exp(\pm\,\mathrm{skew})`, plus where v holds the positive option, minus where not.

    Parameters
    ----------
    members : numpy.ndarray, shape (K, Q)
        From `membership`.
    rate : float
        Probability of an error, in [0, 1].
    skew : float, default 0
        Above 0, errors favour sets that hold the positive option; below 0, the others.
    positive : int, default 0
        Row of the positive option.

    Returns
    -------
    numpy.ndarray, shape (Q, Q)
        Columns sum to 1: column v* holds the probabilities of what is given instead of v*.

    Raises
    ------
    InputError
        Where `rate` is not a probability.

    Examples
    --------
    >>> members = membership(["yes", "no"], [["yes"], ["no"], ["yes", "no"]])
    >>> error_matrix(members, 0.2).tolist()
    [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    """
    with checking("error_matrix") as require:
        require(0 <= rate <= 1, f"rate must lie in [0, 1], got {rate!r}")
    q = members.shape[1]
    if q == 1:
        return np.ones((1, 1))
    weight = np.exp(skew * np.where(members[positive] > 0, 1.0, -1.0))
    off = np.tile(weight[:, None], (1, q)) * (1 - np.eye(q))
    return (1 - rate) * np.eye(q) + rate * off / off.sum(axis=0)


def choice_matrix(members: np.ndarray, strength: float | Sequence[float] = 0.0) -> np.ndarray:
    r"""Build the forced-choice matrix F whose choices decay along the order of the options.

    .. math:: F_{kv} \propto \exp(-\gamma r_k)

    with r the rank of option k among the members of set v, 0 for the first.

    Parameters
    ----------
    members : numpy.ndarray, shape (K, Q)
        From `membership`.
    strength : float or sequence of float, default 0
        Selection strength gamma: above 0, earlier options are preferred; one value, or one a set.

    Returns
    -------
    numpy.ndarray, shape (K, Q)
        Columns sum to 1, and are 0 outside the set: a rater chooses what he endorses.

    Examples
    --------
    >>> members = membership(["yes", "no"], [["yes"], ["no"], ["yes", "no"]])
    >>> choice_matrix(members).tolist()
    [[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]]
    """
    rank = np.cumsum(members, axis=0) - 1
    weight = np.exp(-np.asarray(strength, float) * rank) * members
    return weight / weight.sum(axis=0)


def forward(
    shares: np.ndarray, choice: np.ndarray, error: np.ndarray, members: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    r"""Turn shares of stable response sets into what raters would be seen to answer.

    .. math:: O = F E \theta^*, \qquad \Omega = \Lambda E \theta^*

    Parameters
    ----------
    shares : numpy.ndarray, shape (..., Q)
        Shares of stable response sets.
    choice : numpy.ndarray, shape (..., K, Q)
        Forced-choice matrix F.
    error : numpy.ndarray, shape (..., Q, Q)
        Error matrix E.
    members : numpy.ndarray, shape (K, Q)
        From `membership`.

    Returns
    -------
    chosen, endorsed : numpy.ndarray, shape (..., K)
        Share of raters who choose each option (sums to 1), and who endorse it (need not).

    References
    ----------
    Source 5, Theorem 3.3.
    """
    observed = (error @ shares[..., None])[..., 0]
    return (choice @ observed[..., None])[..., 0], observed @ members.T


def reverse(
    shares: np.ndarray, choice: np.ndarray, error: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Turn F and E around by Bayes' rule, for an item whose shares are known.

    They are no inverses: they hold for these shares only. Used for other items, they give those
    items' shares some of these.

    Parameters
    ----------
    shares : numpy.ndarray, shape (..., Q)
        Shares of stable response sets.
    choice : numpy.ndarray, shape (K, Q)
        Forced-choice matrix F.
    error : numpy.ndarray, shape (Q, Q)
        Error matrix E.

    Returns
    -------
    set_given_choice : numpy.ndarray, shape (..., Q, K)
        F': probability of each observed set given the choice. A choice that never occurs says
        nothing; its column is 0.
    stable_given_set : numpy.ndarray, shape (..., Q, Q)
        E': probability of each stable set given the observed one, likewise.

    References
    ----------
    Source 5, Theorem 3.3.
    """
    observed = (error @ shares[..., None])[..., 0]
    joint = choice * observed[..., None, :]  # (..., K, Q)
    stable = error * shares[..., None, :]  # (..., Q observed, Q stable)

    def given(joint_with: np.ndarray) -> np.ndarray:
        total = joint_with.sum(axis=-1, keepdims=True)
        out = np.divide(joint_with, total, out=np.zeros_like(joint_with), where=total > 0)
        return np.swapaxes(out, -1, -2)

    return given(joint), given(stable)


def selection_effect(choice: np.ndarray, members: np.ndarray) -> np.ndarray:
    r"""Strength of forced-choice selection for the first option: the source's Gamma.

    .. math:: \Gamma = \frac{1}{|Q_+|} \sum_{v \ni o_0} |S_v| \, F_{0v}

    Parameters
    ----------
    choice : numpy.ndarray, shape (..., K, Q)
        Forced-choice matrix F.
    members : numpy.ndarray, shape (K, Q)
        From `membership`.

    Returns
    -------
    numpy.ndarray, shape (...)
        1 without selection effects, 2 where the first option is chosen twice as often as chance.

    Notes
    -----
    The source prints 1/|S_v| where its own reading ("1 is chance, 2 twice as likely") needs
    |S_v|: chance is 1/|S_v|.
    """
    held = members[0] > 0
    return (choice[..., 0, :] * members.sum(axis=0))[..., held].mean(axis=-1)
