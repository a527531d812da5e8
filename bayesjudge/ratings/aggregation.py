"""From shares to rating vectors: the four aggregations of source 5, Section 4."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayesjudge.core.errors import checking

#: What each aggregation is called, and the letters that the source's tables use.
AGGREGATIONS = {"hard": "h", "soft": "s", "hrs": "hrs", "srs": "srs"}


class Profile(NamedTuple):
    """How raters answer each item.

    Parameters
    ----------
    chosen : numpy.ndarray, shape (..., n_items, K)
        Share of forced choices that each option gets; sums to 1 over options.
    endorsed : numpy.ndarray, shape (..., n_items, K)
        Share of raters whose response set holds each option; need not sum to 1.
    """

    chosen: Any
    endorsed: Any

    def items(self, index: Any) -> Profile:
        """Take some of the items.

        Parameters
        ----------
        index : array_like
            Positions or a mask, along the axis of items.

        Returns
        -------
        Profile
            Of these items.
        """
        return Profile(self.chosen[..., index, :], self.endorsed[..., index, :])


def aggregate(profile: Profile, how: str, cutoff: float = 0.5, ties: str = "share") -> np.ndarray:
    """Turn shares into rating vectors.

    Parameters
    ----------
    profile : Profile
        Shares of choices and endorsements.
    how : {"hard", "soft", "hrs", "srs"}
        ``"hard"``: the option chosen most; ``"soft"``: the shares of choices; ``"hrs"`` (hard
        response set): 1 for each option that at least `cutoff` of the raters endorse; ``"srs"``
        (soft response set): the shares of endorsements.
    cutoff : float, default 0.5
        The source's tau, in (0, 1].
    ties : {"share", "first"}
        Where several options are chosen most, share the 1 between them, or give it to the first in
        the order of the options, as the source's code does. The first is what an order of options
        that nobody meant decides; with one to four ratings an item, ties are common.

    Returns
    -------
    numpy.ndarray, shape (..., n_items, K)
        Rating vectors.

    Raises
    ------
    InputError
        Where `how`, `cutoff` or `ties` is unknown.

    Examples
    --------
    >>> profile = Profile(np.array([[0.5, 0.5, 0.0]]), np.array([[0.9, 0.6, 0.1]]))
    >>> aggregate(profile, "hard").tolist(), aggregate(profile, "hrs", 0.6).tolist()
    ([[0.5, 0.5, 0.0]], [[1.0, 1.0, 0.0]])
    """
    with checking("aggregate") as require:
        require(how in AGGREGATIONS, f"how must be one of {list(AGGREGATIONS)}, got {how!r}")
        require(0 < cutoff <= 1, f"cutoff must lie in (0, 1], got {cutoff!r}")
        require(ties in ("share", "first"), f"ties must be share or first, got {ties!r}")
    if how == "soft":
        return profile.chosen
    if how == "srs":
        return profile.endorsed
    if how == "hrs":
        return at_least(profile.endorsed, cutoff).astype(float)
    chosen = profile.chosen
    if ties == "first":
        return np.eye(chosen.shape[-1])[chosen.argmax(axis=-1)]
    top = (chosen >= chosen.max(axis=-1, keepdims=True) - 1e-12).astype(float)
    return top / top.sum(axis=-1, keepdims=True)


def at_least(shares: np.ndarray, cutoff: float) -> np.ndarray:
    """Compare shares with a cutoff so that 3 of 10 reaches .3 whatever the rounding.

    Parameters
    ----------
    shares : numpy.ndarray
        Shares of raters.
    cutoff : float
        The source's tau; a share that equals it is in.

    Returns
    -------
    numpy.ndarray of bool
        Where the share is at least the cutoff.
    """
    return np.asarray(shares) >= cutoff - 1e-12
