"""How the endorsements depend on the prior, from the draws at hand: no model is fitted again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.fit import Fit
from bayesjudge.core.results import Estimate
from bayesjudge.ratings.data import Ratings

#: Effective draws below which an answer is not given.
LEAST = 100


def prior_sweep(
    fit: Fit,
    shares: Mapping[str, float | Sequence[float]] | None = None,
    *,
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
    ci_prob : float, default 0.95
        Probability that an interval should hold.

    Returns
    -------
    Estimate
        Rows ``endorsement, few accept several[people, yes]``. What the ratings identify hardly
        moves, what they do not identify moves along. ``nan`` where fewer than 100 draws would
        count: fit again (`prior_check`).

    Raises
    ------
    InputError
        Where a prior has weights that are not positive, or as many as there are no sets.
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
    log_share = np.log(np.maximum(fit.draws("set_share"), 1e-300))
    drawn = fit.draws("endorsement")
    rows = {}
    for name, weights in names.items():
        log = log_share @ (np.broadcast_to(np.asarray(weights, float), q) - old)
        weight = np.exp(log - log.max(axis=0))
        weight = weight / weight.sum(axis=0)
        for s, source in enumerate(ratings.sources or ()):
            known = 1 / (weight[:, s] ** 2).sum() >= LEAST
            for k, option in enumerate(ratings.options):
                row = _weighted(drawn[:, s, k], weight[:, s], tail) if known else (np.nan,) * 3
                rows[f"endorsement, {name}[{source}, {option}]"] = row
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


def _weighted(values: np.ndarray, weight: np.ndarray, tail: float) -> tuple[float, float, float]:
    order = np.argsort(values)
    at = np.searchsorted(np.cumsum(weight[order]), [tail, 1 - tail])
    low, high = values[order][np.minimum(at, len(values) - 1)]
    return float(weight @ values), float(low), float(high)
