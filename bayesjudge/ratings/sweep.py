"""How results depend on the prior, from the draws at hand: no model is fitted again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.fit import Fit
from bayesjudge.core.estimate import Estimate
from bayesjudge.ratings.data import PEOPLE, Ratings
from bayesjudge.ratings.definitions import prevalence_at
from bayesjudge.ratings.items import item_profiles, taken_from
from bayesjudge.ratings.performance import Performance

#: Draws of the items, at most.
MOST = 400
#: Effective draws below which an answer is not given.
LEAST = 100


def prior_sweep(
    fit: Fit,
    shares: Mapping[str, float | Sequence[float]] | None = None,
    *,
    performance: Performance | None = None,
    cutoff: float = 0.5,
    ci_prob: float = 0.95,
) -> Estimate:
    r"""Weigh the draws of a fit for other priors of the mean shares of response sets.

    A draw with mean shares :math:`\pi` has weight :math:`\prod_v \pi_v^{s'_v - s_v}`, s being the
    Dirichlet weights it was drawn under and s' the others, source by source.

    Parameters
    ----------
    fit : Fit
        From `bayesjudge.ratings.fit`.
    shares : mapping of str to float or sequence of float, optional
        Other Dirichlet weights of the response sets, by a name to show. By default those of single
        options are tripled (``"few accept several"``), or those of the other sets
        (``"many accept several"``).
    performance : Performance, optional
        Made from this fit: which judge is best, under other priors of people's shares.
    cutoff : float, default 0.5
        Share of raters from which an item counts as positive.
    ci_prob : float, default 0.95
        Probability that an interval should hold.

    Returns
    -------
    Estimate
        Rows ``endorsement, few accept several[people, yes]``, ``prevalence (at 0.5), few accept
        several[people]`` and ``best, mse (srs/srs), few accept several[gpt]``. What the ratings
        identify hardly moves, what they do not identify moves along. ``nan`` where fewer than 100
        draws would count: fit again (`prior_check`).

    Raises
    ------
    InputError
        Where a prior has weights that are not positive, or as many as there are no sets, or
        `performance` does not come from a fit.
    """
    tail = (1 - check_ci_prob(ci_prob)) / 2
    ratings = fit.data
    names = dict(shares) if shares is not None else _defaults(ratings, fit.priors.share)
    q = len(ratings.sets or ())
    old = np.broadcast_to(np.asarray(fit.priors.share, float), q)
    with checking("prior_sweep") as require:
        for name, weights in names.items():
            ok = np.size(weights) in (1, q) and np.all(np.asarray(weights) > 0)
            require(ok, f"{name!r}: expected one positive weight or {q}, got {weights!r}")
        sampled = performance is None or performance.method == fit.method
        require(sampled, "performance must come from performance(fit), not from agreement")
    log_share = np.log(np.maximum(fit.draws("set_share"), 1e-300))
    drawn = fit.draws("endorsement")
    taken = taken_from(fit, min(MOST, len(drawn)))
    people = item_profiles(fit, draws=len(taken))[PEOPLE]
    prevalence = prevalence_at(people, positive=ratings.positive_index, cutoff=cutoff)
    rows = {}
    for name, weights in names.items():
        log = log_share @ (np.broadcast_to(np.asarray(weights, float), q) - old)
        for s, source in enumerate(ratings.sources or ()):
            weight = _normalised(log[:, s])
            for k, option in enumerate(ratings.options):
                row = _weighted(drawn[:, s, k], weight, tail)
                rows[f"endorsement, {name}[{source}, {option}]"] = row
        row = _weighted(prevalence, _normalised(log[taken, 0]), tail)
        rows[f"prevalence (at {cutoff:g}), {name}[{PEOPLE}]"] = row
        if performance is not None:
            used = taken_from(fit, len(performance.draws))
            rows.update(_best(performance, name, _normalised(log[used, 0])))
    return Estimate.from_rows(
        rows,
        method=f"{fit.method}, other priors",
        ci_prob=ci_prob,
        source=fit.source,
        interval="equal-tailed",
        assumptions=fit.assumptions,
        cautions=fit.cautions,
    )


def _defaults(ratings: Ratings, share: float | Sequence[float]) -> dict[str, tuple[float, ...]]:
    sizes = ratings.members.sum(axis=0)
    old = np.broadcast_to(np.asarray(share, float), sizes.size)
    if ratings.fully_specified:
        return {}
    return {
        "few accept several": tuple(np.where(sizes == 1, 3 * old, old).tolist()),
        "many accept several": tuple(np.where(sizes > 1, 3 * old, old).tolist()),
    }


def _normalised(log: np.ndarray) -> np.ndarray:
    weight = np.exp(log - log.max())
    return weight / weight.sum()


def _few(weight: np.ndarray) -> bool:
    return bool(1 / (weight**2).sum() < LEAST)


def _best(
    performance: Performance, name: str, weight: np.ndarray
) -> dict[str, tuple[float, float, float]]:
    """P(judge is best), weighed; a probability has no interval."""
    best = performance.best(weight)
    return {
        f"best, {definition}, {name}[{judge}]": (
            *(np.nan if _few(weight) else float(best.loc[definition, judge]), np.nan, np.nan),
        )
        for definition in best.index
        for judge in best.columns
    }


def _weighted(values: np.ndarray, weight: np.ndarray, tail: float) -> tuple[float, float, float]:
    if _few(weight):
        return (np.nan,) * 3
    order = np.argsort(values)
    at = np.searchsorted(np.cumsum(weight[order]), [tail, 1 - tail])
    low, high = values[order][np.minimum(at, len(values) - 1)]
    return float(weight @ values), float(low), float(high)
