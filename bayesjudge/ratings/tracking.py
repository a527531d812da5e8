r"""Tracking: how far each judge moves with people item by item.

The fit treats each source independently, so that a judge's shares of an item are known from its own
ratings and its mean only. Judges then seem to agree with people less than they do: with few ratings
both sides are mostly their means. Here each judge's shares of item i depend on people's,

.. math:: \eta_i = u\,\theta_i + (1-u)\,\xi_i, \qquad
          \xi_i \sim \mathrm{Dirichlet}\bigl(\kappa\,(w\,\theta_i + (1-w)\,\rho)\bigr),

:math:`\theta_i` being people's. A judge may track people in two ways: in a share u of its ratings
it answers as one of them would, this time; and its own shares of the item, :math:`\xi_i`, lean
towards people's by w and otherwise towards :math:`\rho`, which is the same for every item. A judge
that repeats itself, but mostly an answer that is frequent among people, has u = 0, a high w and a
low :math:`\kappa`; one that mixes people's answers with its own has a high u. Tracking is
:math:`f = 1 - (1-u)(1-w)`, uniform before the ratings, since :math:`(u, (1-u)w, 1-f)` is Dirichlet
with weights (1/2, 1/2, 1). With w alone, agreement of judges of the second kind was understated
(``benchmarks/ratings/best.py``).

People's mean and concentration, and how each source chooses from a response set, are taken from the
fit draw by draw. Nothing flows back: judges do not change the posterior of people's mean, and each
judge is drawn with people alone, so that judges who err alike cannot vouch for each other.

Everything is drawn by Gibbs sampling. A judge's ratings are copies of people's, or from
:math:`\xi_i`; those of one response set come from an urn: some repeat earlier ones, the others
(:math:`k` of :math:`m`) are new, from :math:`\theta_i` or :math:`\rho` (Antoniak 1974); given
which, all else has standard conditionals. But w and :math:`\kappa` hardly move once it is known
which are new: with u they are drawn before that, by Metropolis steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy.special import expit, logit

from bayesjudge.compiled import compiling
from bayesjudge.core.draws import summarise_interval
from bayesjudge.core.errors import check_ci_prob, expect
from bayesjudge.core.estimate import Caution, Estimate, Quantity
from bayesjudge.core.randomness import rng_of
from bayesjudge.ratings._gibbs import (
    dirichlet_weights,
    draw_dirichlet,
    matrices,
    profile_of,
    spaced_draws,
    split_ratings,
    sweeps_to_forget,
)
from bayesjudge.ratings.cautions import TRACKING
from bayesjudge.ratings.data import Ratings
from bayesjudge.ratings.metrics import Profile
from bayesjudge.ratings.model import _check_positive, _ratings_of, _spec_of

if TYPE_CHECKING:
    from bayesjudge.core.fit import Fit
    from bayesjudge.ratings._sweeps import Pairs, Side

#: Chains side by side, half of them begun far from people and half close to them.
CHAINS = 40
#: Sweeps before the first draws, at most, and between one block of draws and the next; more if
#: items have many ratings, since their shares then move little in a sweep.
BURN_IN, MOST_BURN_IN, BETWEEN = 120, 1200, 30
#: Difference of the two halves, in their standard errors, from which they have not mixed.
NOT_MIXED = 4.0


@dataclass(frozen=True)
class TrackingPrior:
    r"""LogNormal prior of :math:`\kappa`: how far a judge's own shares of an item vary.

    Parameters
    ----------
    concentration : float, default 8
        Median: how many ratings of an item the judge's expected shares are worth.
    concentration_spread : float, default 1.5
        Standard deviation of its logarithm.

    Raises
    ------
    InputError
        If a number is not positive.
    """

    concentration: float = 8.0
    concentration_spread: float = 1.5

    def __post_init__(self) -> None:
        _check_positive(self, "concentration", "concentration_spread")


class _Tracked(NamedTuple):
    """Draws of a judge's tracking and concentration, and whether its chains mixed."""

    tracking: np.ndarray
    concentration: np.ndarray
    mixed: bool


class _Pair(NamedTuple):
    """Draws of people and one judge together; shares have shape (n_draws, n_items, Q)."""

    people: np.ndarray
    judge: np.ndarray
    tracked: _Tracked


def tracking(
    fit: Fit,
    prior: TrackingPrior = TrackingPrior(),
    *,
    ci_prob: float = 0.95,
    draws: int = 400,
    random_seed: Any = 0,
) -> Estimate:
    """Estimate how far each judge moves with people item by item.

    Parameters
    ----------
    fit : Fit
        From `bayesjudge.ratings.fit`, of people and at least one judge.
    prior : TrackingPrior
        Of the judges' concentrations.
    ci_prob : float, default 0.95
        Probability that an interval should hold.
    draws : int, default 400
        Draws of the fit to use.
    random_seed : int or numpy.random.Generator, default 0
        Same seed, same draws.

    Returns
    -------
    Estimate
        By judge ``tracking``: the share of its expected answers to an item that is people's of this
        item, 0 for a judge that ignores the item and 1 for one that on average answers as people
        do; and ``concentration``: how many ratings its expected answer is worth if it does not
        answer as one of the people would, low for a judge that repeats itself.

    Raises
    ------
    InputError
        If there is no judge, a setting is out of range, or more draws are asked for than the fit
        has.
    """
    check_ci_prob(ci_prob)
    expect("tracking", isinstance(prior, TrackingPrior), "must be a TrackingPrior()", prior=prior)
    tracked = _tracked(fit, prior, draws, random_seed)

    def quantity(name: str) -> Quantity:
        drawn = [getattr(judge, name) for judge in tracked.values()]
        rows = [(x.mean(), *summarise_interval(x, ci_prob, "eti")) for x in drawn]
        return Quantity.over(np.transpose(rows).tolist(), {"judge": list(tracked)})

    return Estimate(
        {name: quantity(name) for name in ("tracking", "concentration")},
        method=fit.method.variant("tracking", "judges tracking people", also_brief=True),
        ci_prob=ci_prob,
        source=fit.source,
        interval="equal-tailed",
        assumptions=(*fit.assumptions, TRACKING),
        cautions=(*fit.cautions, *_not_mixed({j: judge.mixed for j, judge in tracked.items()})),
    )


#: What was drawn already, by fit and then by settings: a large task takes minutes.
_DRAWN: WeakKeyDictionary[Fit, dict[tuple[Any, ...], dict[str, _Tracked]]] = WeakKeyDictionary()


def _tracked(fit: Fit, prior: TrackingPrior, draws: int, random_seed: Any) -> dict[str, _Tracked]:
    """Tracking by judge, from `_draw_pairs` unless it was drawn before."""
    key = (prior, draws, random_seed)
    if isinstance(random_seed, int) and key in _DRAWN.get(fit, {}):
        return _DRAWN[fit][key]
    pairs = _draw_pairs(fit, prior, draws=draws, random_seed=random_seed)
    return {judge: pair.tracked for judge, pair, *_ in pairs}


def _draw_pairs(
    fit: Fit, prior: TrackingPrior, *, draws: int, random_seed: Any
) -> Iterator[tuple[str, _Pair, Profile, Profile]]:
    """Draw people and each judge together: its name, the draws, its answers and people's.

    A judge's draws are the same whichever other judges there are.
    """
    ratings = _ratings_of(fit)
    expect("tracking", ratings.judges, "there is no judge among the sources")
    taken = spaced_draws(fit, draws)
    alpha, (choice, error) = dirichlet_weights(fit, taken), matrices(fit, taken)
    seed = rng_of(random_seed).integers(2**63)
    done = {}
    for j, judge in enumerate(ratings.judges, start=1):
        rng = np.random.default_rng(seed)
        pair = _draw_pair(ratings, j, _spec_of(fit).share, prior, alpha, choice, error, rng)
        done[judge] = pair.tracked
        answers = profile_of(ratings, j, pair.judge, choice, error)
        yield judge, pair, answers, profile_of(ratings, 0, pair.people, choice, error)
    if isinstance(random_seed, int):
        _DRAWN.setdefault(fit, {})[prior, draws, random_seed] = done


def _not_mixed(mixed: dict[str, bool]) -> tuple[Caution, ...]:
    judges = [judge for judge, ok in mixed.items() if not ok]
    if not judges:
        return ()
    return (Caution.of("not-mixed", "tracking", judges=judges),)


# Gibbs sampling -----------------------------------------------------------------------------------


def _draw_pair(
    ratings: Ratings,
    judge: int,
    share: float | tuple[float, ...],
    prior: TrackingPrior,
    alpha: np.ndarray,
    choice: np.ndarray,
    error: np.ndarray | None,
    rng: np.random.Generator,
) -> _Pair:
    """Draw people's and one judge's shares of every item, once for each draw of a fit's unknowns.

    `judge` is its position among the sources, `share` the Dirichlet weights of rho; `alpha`,
    `choice` and `error` are as in `_gibbs`; the judge's chains begin at its own weights.
    """
    from bayesjudge.ratings._sweeps import side_of

    n_draws = len(alpha)
    blocks = np.array_split(np.arange(n_draws), -(-n_draws // CHAINS))
    chains = len(blocks[0])
    sides = [side_of(*split_ratings(ratings, s, choice, error)) for s in (0, judge)]
    state = _begin(ratings, alpha[blocks[0]], judge, rng)
    burn_in, between = _sweeps(ratings, judge, alpha)
    people, theirs = np.empty((2, n_draws, *state.theta.shape[1:]))
    tracks, concentration = np.empty((2, n_draws))
    mixed = False
    for b, block in enumerate(blocks):
        at = np.resize(block, chains)  # the last block may be smaller; its rest is dropped
        given = [side.of(at) for side in sides]
        done, several = 0, between if b else burn_in
        while done < several or (b == 0 and not mixed):
            history = []
            for _ in range(several):
                _sweep(state, np.ascontiguousarray(alpha[at, 0]), given, share, prior, rng)
                history.append(_unknowns(state)[0])
            done += several
            mixed = mixed or (b == 0 and _have_mixed(np.array(history[len(history) // 2 :])))
            if done >= max(MOST_BURN_IN, burn_in):
                break
        n = len(block)
        tracks[block], u, concentration[block] = (x[:n] for x in _unknowns(state))
        copied = u[:, None, None]  # the judge's shares are its own and people's
        people[block] = state.theta[:n]
        theirs[block] = copied * state.theta[:n] + (1 - copied) * state.xi[:n]
    return _Pair(people, theirs, _Tracked(tracks, concentration, mixed))


def _sweeps(ratings: Ratings, judge: int, alpha: np.ndarray) -> tuple[int, int]:
    """Sweeps before the first draws, and between one block of draws and the next."""
    rated = ratings.unpaired.sum(axis=2) + ratings.endorsed.sum(axis=2)
    n = int(rated[[0, judge]].max(initial=0))
    forget = sweeps_to_forget(n, float(np.median(alpha[:, 0].sum(axis=1))))
    return max(BURN_IN, 3 * forget), max(BETWEEN, forget // 2)


def _begin(ratings: Ratings, alpha: np.ndarray, judge: int, rng: np.random.Generator) -> Pairs:
    """Half of the chains begin with a judge that ignores people, half with one that tracks them."""
    from bayesjudge.ratings._sweeps import Pairs

    chains, n_items = len(alpha), ratings.chosen.shape[1]
    kappa = alpha[:, judge].sum(axis=1)
    shape = (chains, n_items, alpha.shape[-1])
    u = np.where(np.arange(chains) % 4 > 1, 0.5, 0.05)
    w = np.where(np.arange(chains) % 2, 0.9, 0.1)
    return Pairs(
        theta=draw_dirichlet(rng, np.broadcast_to(alpha[:, :1], shape)),
        xi=draw_dirichlet(rng, np.broadcast_to(alpha[:, judge : judge + 1], shape)),
        rho=alpha[:, judge] / kappa[:, None],
        unknowns=np.stack([logit(u), logit(w), np.log(kappa)], axis=1),
        n_own=np.zeros(shape, np.int64),
    )


def _sweep(
    state: Pairs,
    alpha: np.ndarray,
    sides: Sequence[Side],
    share: float | tuple[float, ...],
    prior: TrackingPrior,
    rng: np.random.Generator,
) -> None:
    """Draw everything once, in place."""
    from bayesjudge.ratings._sweeps import compiled

    centre, spread = np.log(prior.concentration), prior.concentration_spread
    with compiling():
        weights = np.broadcast_to(np.asarray(share, float), state.rho.shape[1:]).copy()
        compiled("pairs")(rng, alpha, *sides, state, weights, centre, spread)


def _unknowns(state: Pairs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tracking in either way, u, and kappa, by chain."""
    u, w = expit(state.unknowns[:, 0]), expit(state.unknowns[:, 1])
    return 1 - (1 - u) * (1 - w), u, np.exp(state.unknowns[:, 2])


def _have_mixed(history: np.ndarray) -> bool:
    """Whether chains begun low and begun high have the same mean, in their standard errors."""
    means = history.mean(axis=0)
    low, high = means[::2], means[1::2]
    if len(low) < 2 or len(high) < 2:
        return True
    error = np.sqrt(low.var(ddof=1) / len(low) + high.var(ddof=1) / len(high))
    return bool(abs(low.mean() - high.mean()) < NOT_MIXED * error)
