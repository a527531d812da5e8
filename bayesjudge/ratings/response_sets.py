"""Response sets and forced choices: the matrices of source 5, and what choices cannot identify.

Axes: K options, Q response sets. Shares of response sets are arrays whose last axis is Q, shares of
options arrays whose last axis is K.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from bayesjudge.core.errors import checking, expect

__all__ = [
    "Identification",
    "all_response_sets",
    "choice_matrix",
    "error_matrix",
    "forward",
    "identification",
    "membership",
    "reverse",
    "selection_effect",
    "shift_matrix",
]


def __dir__() -> list[str]:
    return list(__all__)


#: More options than this have too many sets for all of them to be in the model.
MOST_OPTIONS = 8


def all_response_sets(options: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """List every non-empty set of options, small ones first.

    Parameters
    ----------
    options : sequence of str
        Options that a rater may choose from.

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


def default_response_sets(
    options: Sequence[str], given: Collection[frozenset[str]] = ()
) -> tuple[tuple[str, ...], ...]:
    """List all sets of up to eight options; of more, the single ones and those given."""
    if len(options) <= MOST_OPTIONS:
        return all_response_sets(options)
    several = {
        tuple(o for o in options if o in chosen)
        for chosen in given
        if len(chosen) > 1 and chosen <= set(options)
    }
    return (*((o,) for o in options), *sorted(several, key=lambda s: (len(s), s)))


def membership(options: Sequence[str], sets: Sequence[Sequence[str]]) -> np.ndarray:
    """Build the membership matrix of options in response sets: the source's Lambda.

    Parameters
    ----------
    options : sequence of str, length K
        Options that a rater may choose from.
    sets : sequence of sequence of str, length Q
        The admissible response sets.

    Returns
    -------
    numpy.ndarray, shape (K, Q)
        1 if the option is in the set, else 0.

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
    :math:`\exp(\pm\,\mathrm{skew})`, plus if v holds the positive option, minus if not.

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
        If `rate` is not a probability.

    Examples
    --------
    >>> members = membership(["yes", "no"], [["yes"], ["no"], ["yes", "no"]])
    >>> error_matrix(members, 0.2).tolist()
    [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    """
    expect("error_matrix", 0 <= rate <= 1, "must lie in [0, 1]", rate=rate)
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
        Selection strength gamma: above 0, earlier options are preferred; one value, or one per set.

    Returns
    -------
    numpy.ndarray, shape (K, Q)
        Columns sum to 1, and are 0 outside the set: raters choose an option that they endorse.

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
    """Compute the reverse matrices F' and E' by Bayes' rule, for an item whose shares are known.

    They are not inverses: they hold for these shares only. Applied to another item, they pull its
    shares towards these.

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
        1 without selection effects, 2 if the first option is chosen twice as often as by chance.

    Notes
    -----
    The source prints ``1/|S_v|``; its own reading ("1 is chance, 2 twice as likely") needs
    ``|S_v|``, since chance is ``1/|S_v|``.
    """
    held = members[0] > 0
    return (choice[..., 0, :] * members.sum(axis=0))[..., held].mean(axis=-1)


@dataclass(frozen=True)
class Identification:
    """Rank and null space of F E: which response sets forced choices identify.

    Parameters
    ----------
    rank : int
        Of F E.
    sets : int
        Number of response sets.
    confused : tuple of str
        One sentence for each direction that forced choices do not identify.
    """

    rank: int
    sets: int
    confused: tuple[str, ...]

    @property
    def identified(self) -> bool:
        """Whether forced choices determine the shares of all response sets."""
        return self.rank == self.sets


def identification(
    sets: Sequence[Sequence[str]], choice: np.ndarray, error: np.ndarray | None = None
) -> Identification:
    """Find the response sets that forced choices cannot tell apart, in words.

    Parameters
    ----------
    sets : sequence of sequence of str, length Q
        The admissible response sets.
    choice : numpy.ndarray, shape (K, Q)
        Forced-choice matrix F.
    error : numpy.ndarray, shape (Q, Q), optional
        Error matrix E; no errors by default.

    Returns
    -------
    Identification
        Rank, and the null space of F E in sentences.

    Notes
    -----
    Source 5's Theorem 3.4 leaves out that shares are not negative: forced choices on the boundary
    can determine them although the rank is too low. If all raters choose "no", and "no" is never
    chosen from {yes, no}, then all hold {no}.

    Examples
    --------
    >>> sets = all_response_sets(["yes", "no"])
    >>> found = identification(sets, choice_matrix(membership(["yes", "no"], sets)))
    >>> found.rank, found.identified
    (2, False)
    >>> found.confused
    ('forced choices cannot tell {yes, no} from a mix of {yes} and {no}',)
    """
    product = choice if error is None else choice @ error
    rank = int(np.linalg.matrix_rank(product, tol=1e-10))
    basis: list[int] = []
    sentences = []
    for v in range(product.shape[1]):
        columns = product[:, [*basis, v]]
        if np.linalg.matrix_rank(columns, tol=1e-10) > len(basis):
            basis.append(v)
            continue
        mix = np.linalg.lstsq(product[:, basis], product[:, v], rcond=None)[0]
        parts = [_braces(sets[b]) for b, m in zip(basis, mix, strict=True) if abs(m) > 1e-8]
        like = parts[0] if len(parts) == 1 else "a mix of " + " and ".join(parts)
        sentences.append(f"forced choices cannot tell {_braces(sets[v])} from {like}")
    return Identification(rank, product.shape[1], tuple(sentences))


def _braces(chosen: Sequence[str]) -> str:
    return "{" + ", ".join(chosen) + "}"


def shift_matrix(
    options: Sequence[str],
    sets: Sequence[Sequence[str]],
    *,
    chosen: str,
    added: str,
    shift_strength: float,
    as_printed: bool = False,
) -> np.ndarray:
    """Build the reverse matrix F' in which some raters who chose one option accept another too.

    Parameters
    ----------
    options : sequence of str, length K
        The options.
    sets : sequence of sequence of str, length Q
        The admissible response sets.
    chosen, added : str
        Raters who chose the first would also accept the second.
    shift_strength : float
        With this probability, in [0, 1]: the source's beta.
    as_printed : bool, default False
        Send them to the set {added}, as the source's Table 2 prints, rather than to
        {chosen, added}. The printed set leaves out what was chosen, which the source's own model
        excludes.

    Returns
    -------
    numpy.ndarray, shape (Q, K)
        Columns sum to 1.

    Raises
    ------
    InputError
        If an option is unknown, `shift_strength` is not a probability, or the set is not
        admissible.

    References
    ----------
    Source 5, Section 7 and Table 2.
    """
    places = {frozenset(s): i for i, s in enumerate(sets)}
    target = frozenset({added} if as_printed else {chosen, added})
    with checking("shift_matrix") as require:
        for name in (chosen, added):
            require(name in options, f"{name!r} is not an option; expected one of {list(options)}")
        require(chosen != added, "chosen and added must differ")
        require(
            0 <= shift_strength <= 1, f"shift_strength: expected [0, 1], got {shift_strength!r}"
        )
        known = {chosen, added} <= set(options)
        require(
            target in places or not known, f"{sorted(target)} is not an admissible response set"
        )
    matrix = np.zeros((len(sets), len(options)))
    for k, option in enumerate(options):
        matrix[places[frozenset({option})], k] = 1.0
    k = list(options).index(chosen)
    matrix[places[frozenset({chosen})], k] -= shift_strength
    matrix[places[target], k] += shift_strength
    return matrix
