r"""How far a judge follows people item by item: what a few ratings an item cannot show alone.

The fit takes every source by itself, so that a judge's shares of an item are known from its own
ratings and its mean only. Compared so, judges seem to agree with people less than they do: where
ratings are few, both sides are mostly their means. Here each judge is tied to people,

.. math:: \eta_i = u\,\theta_i + (1-u)\,\xi_i, \qquad
          \xi_i \sim \mathrm{Dirichlet}\bigl(\kappa\,(w\,\theta_i + (1-w)\,\rho)\bigr),

:math:`\theta_i` being people's shares of item i. A judge may follow people in two ways: in a share
u of its ratings it answers as one of them would, this time; and what it says of the item otherwise,
:math:`\xi_i`, leans towards people's answers by w and else towards what it says of any item,
:math:`\rho`. A judge that repeats itself, but mostly a frequent answer of people, has u = 0, a high
w and a low :math:`\kappa`; one that mixes people's answers with its own has a high u. How far it
follows people is :math:`f = 1 - (1-u)(1-w)`, uniform before the ratings, since
:math:`(u, (1-u)w, 1-f)` is Dirichlet with weights (1/2, 1/2, 1). With w alone, agreement of judges
of the second kind was understated (``benchmarks/ratings/best.py``).

People's mean and spread, and how everybody chooses from a response set, are taken from the fit draw
by draw. Nothing flows back: judges do not shape what is believed of people's mean, and each judge
is tied to people by itself, so that judges who err alike cannot vouch for each other.

Everything is drawn by Gibbs sampling. A judge's ratings from :math:`\xi_i` of one response set come
from an urn: some repeat earlier ones, the others (:math:`k` of :math:`m`) are new, from
:math:`\theta_i` or :math:`\rho` (Antoniak 1974); given which, all else has standard conditionals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from bayesjudge.ratings.beliefs import Priors
from bayesjudge.ratings.data import Ratings
from bayesjudge.ratings.gibbs import (
    draw_dirichlet,
    latent_sets,
    sweeps_to_forget,
    what_is_seen,
)

#: Chains side by side, half of them begun far from people and half close to them.
CHAINS = 40
#: Sweeps before the first draws, at most, and between one block of draws and the next; more where
#: items have many ratings, since their shares then move little in a sweep.
BURN_IN, MOST_BURN_IN, BETWEEN = 100, 800, 20
#: Beta priors of u and of w, which make how far a judge follows people uniform.
COPIES, LEANS = (0.5, 1.5), (0.5, 1.0)
#: Difference of the two halves, in their standard errors, from which they have not met.
APART = 4.0


@dataclass(frozen=True, eq=False)
class Pair:
    """Draws of people and one judge together.

    Parameters
    ----------
    people, judge : numpy.ndarray, shape (n_draws, n_items, Q)
        Shares of stable response sets.
    following : numpy.ndarray, shape (n_draws,)
        f: how far the judge follows people, 0 to 1.
    constancy : numpy.ndarray, shape (n_draws,)
        kappa: how many ratings of an item are worth what is expected of it, but for those ratings
        in which it answers as people do.
    met : bool
        Whether chains begun far apart have met.
    """

    people: np.ndarray
    judge: np.ndarray
    following: np.ndarray
    constancy: np.ndarray
    met: bool


@dataclass
class _State:
    theta: np.ndarray
    xi: np.ndarray
    rho: np.ndarray
    u: np.ndarray
    w: np.ndarray
    kappa: np.ndarray

    @property
    def judge(self) -> np.ndarray:
        """The judge's shares: eta."""
        u = self.u[:, None, None]
        return u * self.theta + (1 - u) * self.xi

    @property
    def following(self) -> np.ndarray:
        """Either way of following people: f."""
        return 1 - (1 - self.u) * (1 - self.w)


def couple(
    ratings: Ratings,
    judge: int,
    priors: Priors,
    alpha: np.ndarray,
    choice: np.ndarray,
    error: np.ndarray | None,
    rng: np.random.Generator,
) -> Pair:
    """Draw people's and one judge's shares of every item, and how far it follows them.

    Parameters
    ----------
    ratings : Ratings
        What was seen.
    judge : int
        Position of the judge among the sources.
    priors : Priors
        Of rho and kappa.
    alpha : numpy.ndarray, shape (n_draws, n_sources, Q)
        Concentrations, from the fit; the judge's are where its chains begin.
    choice : numpy.ndarray, shape (n_draws, n_sources, K, Q)
        Forced-choice matrices F.
    error : numpy.ndarray, shape (n_draws, n_sources, Q, Q), or None
        Error matrices E; None where nobody errs.
    rng : numpy.random.Generator
        Source of chance.

    Returns
    -------
    Pair
        One draw for each draw of the concentrations.
    """
    n_draws = len(alpha)
    blocks = np.array_split(np.arange(n_draws), -(-n_draws // CHAINS))
    chains = len(blocks[0])
    sides = [what_is_seen(ratings, s, choice, error) for s in (0, judge)]
    state = _begin(ratings, alpha[blocks[0]], judge, rng)
    grid = _Constancy(ratings, judge, priors)
    burn_in, between = _sweeps(ratings, judge, alpha)
    out: list[_State] = []
    met = False
    for b, block in enumerate(blocks):
        at = np.resize(block, chains)  # the last block may be smaller; its rest is dropped
        given = [(fixed, counts, seen[at]) for fixed, counts, seen in sides]
        done = 0
        while done < (burn_in if b == 0 else between) or (b == 0 and not met):
            history = []
            for _ in range(burn_in if b == 0 else between):
                state = _sweep(state, alpha[at, 0], given, priors, grid, rng)
                history.append(state.following)
            done += len(history)
            met = met or (b == 0 and _have_met(np.array(history[len(history) // 2 :])))
            if done >= max(MOST_BURN_IN, burn_in):
                break
        keep = slice(len(block))
        out.append(_State(*(getattr(state, n)[keep].copy() for n in _State.__annotations__)))
    whole = _State(*(np.concatenate([getattr(s, n) for s in out]) for n in _State.__annotations__))
    return Pair(whole.theta, whole.judge, whole.following, whole.kappa, met)


def _sweeps(ratings: Ratings, judge: int, alpha: np.ndarray) -> tuple[int, int]:
    """Sweeps to begin with and between blocks: enough for an item to forget where it was."""
    rated = [ratings.alone[s].sum(axis=1) + ratings.endorsed[s].sum(axis=1) for s in (0, judge)]
    n = int(max(x.max(initial=0) for x in rated))
    forget = sweeps_to_forget(n, float(np.median(alpha[:, 0].sum(axis=1))))
    return max(BURN_IN, 3 * forget), max(BETWEEN, forget // 2)


def _begin(ratings: Ratings, alpha: np.ndarray, judge: int, rng: np.random.Generator) -> _State:
    """Half of the chains begin with a judge that ignores people, half with one that follows."""
    chains, n_items = len(alpha), ratings.chosen.shape[1]
    own = alpha[:, judge] / alpha[:, judge].sum(axis=1, keepdims=True)
    shape = (chains, n_items, alpha.shape[-1])
    return _State(
        theta=draw_dirichlet(rng, np.broadcast_to(alpha[:, :1], shape)),
        xi=draw_dirichlet(rng, np.broadcast_to(alpha[:, judge : judge + 1], shape)),
        rho=own,
        u=np.where(np.arange(chains) % 4 > 1, 0.5, 0.05),
        w=np.where(np.arange(chains) % 2, 0.9, 0.1),
        kappa=alpha[:, judge].sum(axis=1),
    )


class _Constancy:
    """Conditional of kappa on a grid of its logarithm; most of it does not change."""

    def __init__(self, ratings: Ratings, judge: int, priors: Priors) -> None:
        centre, spread = np.log(priors.constancy), priors.constancy_spread
        self.step = 10 * spread / 100
        self.log = centre + spread * np.linspace(-5, 5, 101)
        n = ratings.alone[judge].sum(axis=1) + ratings.endorsed[judge].sum(axis=1)
        size = np.exp(self.log)
        #: By ratings of an item, what they say of kappa besides the number of new draws.
        self.base = -0.5 * ((self.log - centre) / spread) ** 2
        self.rest = gammaln(size) - gammaln(size + np.arange(n.max(initial=0) + 1)[:, None])

    def draw(self, new: np.ndarray, own: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        items_with = np.stack([np.bincount(n, minlength=len(self.rest)) for n in own])
        log = self.base + items_with @ self.rest + new[:, None] * self.log
        gumbel = log + rng.gumbel(size=log.shape)
        at = self.log[gumbel.argmax(axis=1)]
        return np.exp(at + self.step * (rng.random(at.size) - 0.5))


def _sweep(
    state: _State,
    alpha: np.ndarray,
    given: Any,
    priors: Priors,
    grid: _Constancy,
    rng: np.random.Generator,
) -> _State:
    (fixed, counts, seen), (fixed_judge, counts_judge, seen_judge) = given
    held = fixed + latent_sets(state.theta, counts, seen, rng)
    judge = state.judge
    m = fixed_judge + latent_sets(judge, counts_judge, seen_judge, rng)
    m = m.astype(np.int64)
    as_people = rng.binomial(m, state.u[:, None, None] * state.theta / judge)
    m -= as_people
    w, kappa = state.w[:, None, None], state.kappa[:, None, None]
    followed, own = w * state.theta, (1 - w) * state.rho[:, None, :]
    new = _new_draws(m, kappa * (followed + own), rng)
    from_people = rng.binomial(new, followed / (followed + own))
    besides = (new - from_people).sum(axis=1)
    theta = draw_dirichlet(rng, alpha[:, None, :] + held + as_people + from_people)
    u = rng.beta(COPIES[0] + as_people.sum(axis=(1, 2)), COPIES[1] + m.sum(axis=(1, 2)))
    w = rng.beta(LEANS[0] + from_people.sum(axis=(1, 2)), LEANS[1] + besides.sum(axis=1))
    rho = draw_dirichlet(rng, np.asarray(priors.share, float) + besides)
    kappa = grid.draw(new.sum(axis=(1, 2)), m.sum(axis=2), rng)
    expected = w[:, None, None] * theta + (1 - w[:, None, None]) * rho[:, None, :]
    xi = draw_dirichlet(rng, kappa[:, None, None] * expected + m)
    return _State(theta, xi, rho, u, w, kappa)


def _new_draws(m: np.ndarray, size: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """How many of m ratings of a set are no repetitions: the urn's number of new draws."""
    new = (m > 0).astype(np.int64)
    for already in range(1, int(m.max(initial=0))):
        at = np.nonzero(m > already)
        new[at] += rng.random(at[0].size) * (size[at] + already) < size[at]
    return new


def _have_met(history: np.ndarray) -> bool:
    """Whether chains begun low and begun high have the same mean, in their standard errors."""
    means = history.mean(axis=0)
    low, high = means[::2], means[1::2]
    if len(low) < 2 or len(high) < 2:
        return True
    error = np.sqrt(low.var(ddof=1) / len(low) + high.var(ddof=1) / len(high))
    return bool(abs(low.mean() - high.mean()) < APART * error)
