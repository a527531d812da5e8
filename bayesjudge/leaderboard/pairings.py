"""Which pairs people should judge next, and how many battles decide who is first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesjudge.core.answer import listed
from bayesjudge.core.errors import checking
from bayesjudge.core.fit import Fit
from bayesjudge.core.screen import how_many
from bayesjudge.leaderboard.data import PEOPLE
from bayesjudge.leaderboard.likelihood import chances

if TYPE_CHECKING:
    import pandas as pd

#: Battles that are planned at a time, as a part of those planned before, and most of them.
STEP, MOST = 0.05, 20_000
#: Draws by which the probability of the first place is foretold.
DRAWS = 2000
#: Probability from which a pair is decided.
DECIDED = 0.975


@dataclass(frozen=True, eq=False)
class Pairings:
    """Battles that people should judge next.

    Parameters
    ----------
    pairs : pandas.DataFrame
        Pairs, those with most battles first: ``first``, ``second``, ``battles`` to judge until it
        is decided, ``ahead``, the probability that the first is ahead of the second now, and
        ``judged``, how many battles of the pair people have judged.
    needed : int or None
        How many battles in all; 0 if it is decided now, None if so many would not do.
    probability : float
        Of the claim now.
    claim : str
        What is to be decided.
    wasted : int
        Battles that people have judged of pairs that are decided by now.
    """

    pairs: pd.DataFrame
    needed: int | None
    probability: float
    claim: str
    wasted: int

    def __str__(self) -> str:
        now = f"{self.claim} now has probability {self.probability:.2f}"
        if self.needed == 0:
            return f"{now}: decided."
        if self.needed is None:
            return f"{now}: {MOST:,} more battles would not decide it; the systems are too alike."
        rows = self.pairs[self.pairs["battles"] > 0]
        words = [f"{r.first} against {r.second} ({r.battles})" for r in rows.head(3).itertuples()]
        words += [how_many(len(rows) - 3, "other pair")] if len(rows) > 3 else []
        total = f"about {self.needed:,} more battles of people"
        return f"{now}: {total} decide it: {listed(words)}."


def next_pairings(
    fit: Fit, *, decide: tuple[str, str] | None = None, probability: float = 0.95
) -> Pairings:
    r"""Plan people's next battles, so that the first place or one contrast is decided soonest.

    Each battle goes to the pair x that takes most of the variance of what is to be decided,

    .. math:: \sum_j w_j \frac{(c_j' \Sigma x)^2 i_x}{(c_j' \Sigma c_j)(1 + i_x x' \Sigma x)},

    with the posterior covariance :math:`\Sigma` of people's strengths, the information :math:`i_x`
    of one verdict on the pair, and contrasts :math:`c_j` of the leader with each other system,
    weighted by how probably that is first. Means are taken to stay where they are.

    Parameters
    ----------
    fit : Fit
        Of `approximate` or `fit`.
    decide : tuple of str, optional
        Two systems whose order is to be decided; by default who is first.
    probability : float, default 0.95
        How sure the claim must become.

    Returns
    -------
    Pairings
        Pairs with the battles that each gets.

    Raises
    ------
    InputError
        If there is no such system, `decide` does not name two, or `probability` is out of range.

    References
    ----------
    Chaloner & Verdinelli (1995), Stat. Sci. 10, 273-304, on designs for a linear contrast.
    """
    import pandas as pd

    systems = list(fit.data.systems)
    with checking("leaderboard.next_pairings") as require:
        require(0.5 < probability < 1, "must lie in (0.5, 1)", probability=probability)
        for name in decide or ():
            require(name in systems, f"no system {name!r}; there are {systems[:20]}")
        two = decide is None or len({*decide}) == len(decide) == 2
        require(two, f"decide: expected two different systems, got {decide!r}")
    strength = fit.draws("strength")
    k = len(systems)
    mean, covariance = strength.mean(axis=0), np.cov(strength.T)
    contrasts, weights, claim = _to_decide(strength, systems, decide)
    a, b = np.triu_indices(k, 1)
    x = np.zeros((len(a), k))
    x[np.arange(len(a)), a], x[np.arange(len(a)), b] = 1, -1
    tied = "people_tie" in fit.idata["posterior"]
    information = _information(x @ mean, float(fit.draws("people_tie").mean()) if tied else 0.0)
    normal = np.random.default_rng(0).standard_normal((DRAWS, k))
    now = float((strength @ contrasts.T > 0).all(axis=1).mean())
    planned, chance = np.zeros(len(a), int), now
    while chance < probability and planned.sum() < MOST:
        spread = contrasts @ covariance @ x.T
        variance = np.einsum("ij,jk,ik->i", x, covariance, x)
        total = np.einsum("ij,jk,ik->i", contrasts, covariance, contrasts)
        gain = weights @ (spread**2 / np.maximum(total, 1e-12)[:, None])
        best = int(np.argmax(gain * information / (1 + information * variance)))
        n = max(1, int(STEP * planned.sum()))
        gained = n * information[best]
        towards = covariance @ x[best]
        covariance -= np.outer(towards, towards) * gained / (1 + gained * variance[best])
        planned[best] += n
        root = np.linalg.cholesky(covariance + 1e-10 * np.eye(k))
        chance = float(((mean + normal @ root.T) @ contrasts.T > 0).all(axis=1).mean())
    ahead = (strength[:, a] > strength[:, b]).mean(axis=0)
    shown = fit.data.counted(PEOPLE).sum(axis=-1)
    judged = np.round((shown + shown.T)[a, b]).astype(int)
    turned = ahead < 0.5
    first, second = np.where(turned, b, a), np.where(turned, a, b)
    pairs = pd.DataFrame({
        "first": [systems[i] for i in first],
        "second": [systems[i] for i in second],
        "battles": planned,
        "ahead": np.where(turned, 1 - ahead, ahead),
        "judged": judged,
    })  # fmt: skip
    pairs = pairs.sort_values(["battles", "ahead"], ascending=[False, True], ignore_index=True)
    wasted = int(pairs.loc[pairs["ahead"] >= DECIDED, "judged"].sum())
    needed = None if chance < probability else int(planned.sum())
    return Pairings(pairs, needed, now, claim, wasted)


def _to_decide(
    strength: np.ndarray, systems: list[str], decide: tuple[str, str] | None
) -> tuple[np.ndarray, np.ndarray, str]:
    """Contrasts that have to be positive, their weights, and the claim in words."""
    k = len(systems)
    if decide is not None:
        ahead, other = (systems.index(name) for name in decide)
        if strength[:, ahead].mean() < strength[:, other].mean():
            ahead, other = other, ahead
        contrast = np.eye(k)[[ahead]] - np.eye(k)[[other]]
        return contrast, np.ones(1), f"{systems[ahead]} ahead of {systems[other]} for people"
    top = int(strength.mean(axis=0).argmax())
    others = [i for i in range(k) if i != top]
    above = (strength[:, others] > strength[:, [top]]).mean(axis=0)
    return (
        np.eye(k)[[top]] - np.eye(k)[others],
        (above + 1e-4) / (above + 1e-4).sum(),
        f"{systems[top]} first for people",
    )


def _information(gap: np.ndarray, tie: float) -> np.ndarray:
    """What one verdict tells of a gap: Davidson's information."""
    first, _, second = chances(gap, np.log(tie) if tie > 0 else -np.inf)
    return np.asarray((first + second - (first - second) ** 2) / 4)
