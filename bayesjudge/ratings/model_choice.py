r"""Mean shares of response sets, and how raters choose from a set: the prior of both.

Forced choices fix the mean share of choices :math:`O = F\pi` tightly and leave the rest to the
prior: a thin curved ridge in :math:`(\pi, F)`, which NUTS climbs slowly. It is straight in the
joint table :math:`J_{kv} = F_{kv}\pi_v`, taken apart as shares of choices :math:`O_k` and of the
sets behind each choice. With Dirichlet weights :math:`s_v/|S_v|` on the cells of J, :math:`\pi` is
Dirichlet with weights s, and F needs a factor :math:`F_{kv}^{w - s_v/|S_v|}` to have weights w.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from bayesjudge.ratings.beliefs import Priors
from bayesjudge.ratings.data import Ratings


def shares_and_choice(ratings: Ratings, priors: Priors) -> tuple[Any, Any]:
    """Declare mean shares and F, inside a model.

    Parameters
    ----------
    ratings : Ratings
        For its sources and sets.
    priors : Priors
        Which of the three ways F is given: free, tied to a selection strength, or known.

    Returns
    -------
    share, choice : TensorVariable
        ``set_share``, shape (n_sources, Q), and ``choice``, shape (n_sources, K, Q).
    """
    weight = np.broadcast_to(np.asarray(priors.share, float), len(ratings.sets or ()))
    weights = pm.Data("prior_share", weight.copy(), dims="response_set")
    dims = ("source", "option", "response_set")
    if priors.choice is None and priors.strength is None:
        return _free(ratings, weights, pm.Data("prior_selection", float(priors.selection)))
    n = len(ratings.sources or ())
    share = pm.Dirichlet("set_share", weights * np.ones((n, 1)), dims=("source", "response_set"))
    if priors.choice is not None:
        given = np.broadcast_to(np.asarray(priors.choice, float), (n, *ratings.members.shape))
        return share, pm.Deterministic("choice", pm.Data("known_choice", given.copy()), dims=dims)
    strength = pm.Normal("strength", 0.0, pm.Data("prior_strength", priors.strength), dims="source")
    rank = np.cumsum(ratings.members, axis=0) - 1
    odds = pt.exp(-strength[:, None, None] * rank) * ratings.members
    return share, pm.Deterministic("choice", odds / odds.sum(axis=1, keepdims=True), dims=dims)


def _free(ratings: Ratings, weights: Any, selection: Any) -> tuple[Any, Any]:
    """Every column of F for itself."""
    n, members = len(ratings.sources or ()), ratings.members
    sizes, behind = members.sum(axis=0), members.sum(axis=1).astype(int)
    cells = weights / sizes
    chosen = pm.Dirichlet(
        "choice_share", (members @ cells) * np.ones((n, 1)), dims=("source", "option")
    )
    joint = pt.zeros((n, *members.shape))
    for many in np.unique(behind):
        options = np.flatnonzero(behind == many)
        sets = np.array([np.flatnonzero(members[k]) for k in options])
        part: Any = 1.0
        if many > 1:
            part = pm.Dirichlet(f"set_behind_{many}", cells[sets] * np.ones((n, 1, 1)))
        joint = joint[:, options[:, None], sets].set(part * chosen[:, options, None])
    share = pm.Deterministic("set_share", joint.sum(axis=1), dims=("source", "response_set"))
    choice = pm.Deterministic(
        "choice", joint / share[:, None, :], dims=("source", "option", "response_set")
    )
    at = np.argwhere((members > 0) & (sizes > 1))
    if len(at):
        power = selection - cells[at[:, 1]]
        # a cell of exactly 0 has no logarithm; NUTS does not get there, rounding may
        log = pt.log(pt.clip(choice[:, at[:, 0], at[:, 1]], 1e-300, 1.0))
        pm.Potential("choice_prior_density", (power * log).sum())
    for size in np.unique(sizes[sizes > 1]).astype(int).tolist():
        sets = np.flatnonzero(sizes == size)
        # cell by cell: NUTS wants its results contiguous, and an indexed array is not
        cells_of = [choice[:, k, v] for v in sets for k in np.flatnonzero(members[:, v])]
        picked = pt.stack(cells_of, axis=1).reshape((n, len(sets), size))
        pm.Deterministic(f"choice_of_{size}", picked)
    return share, choice
