"""What forced choices cannot tell apart: rank and null space of F E, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Identification:
    """What forced choices alone can tell of the response sets.

    Parameters
    ----------
    rank : int
        Of F E.
    sets : int
        Number of response sets.
    confused : tuple of str
        One sentence for each direction that forced choices do not see.
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
    """Find what forced choices cannot tell apart, in words.

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
    can determine them where the rank is too low. All raters choosing "no" where "no" is never
    chosen from {yes, no} determines {no}.

    Examples
    --------
    >>> from bayesjudge.ratings import all_response_sets, choice_matrix, membership
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
