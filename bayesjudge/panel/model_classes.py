"""Latent classes: each item has a truth, which is summed out, and judges err by class."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesjudge.core.counting import collapse, distinct
from bayesjudge.panel.data import NONE, Votes
from bayesjudge.panel.em import Problem
from bayesjudge.panel.priors import Priors

#: Log probability of a class that a label rules out: exp of it is 0, and it has a gradient.
RULED_OUT = -1e6
#: Votes of the judge with the fewest from which on judges are parametrised by themselves.
CENTRED_FROM = 5_000


def build(votes: Votes, priors: Priors, *, missing: str, nodes: int | None) -> None:
    """Add the model to the PyMC model that is open.

    Parameters
    ----------
    votes : Votes
        Two classes, or more with unrelated judges.
    priors : Priors
        Of the unknowns.
    missing : {"skip", "response"}
        Leave a missing vote out, or let it be one more response.
    nodes : int or None
        Points of the quadrature over what judges have in common on an item; None where their
        errors are independent.
    """
    import pymc as pm
    import pytensor.tensor as pt

    problem = Problem(votes, missing)
    # the same votes on several generators' items, labelled or not, are looked at once
    first, place = distinct(votes.votes.astype(np.int64) + 1)
    given = pm.Data("given", problem.given[first])
    pattern = pm.Data("pattern_of_cell", place.astype("int32"))
    generator = pm.Data("generator_of_cell", votes.generator.astype("int32"))
    open_ = pm.Data("open", _open(votes))
    count = pm.Data("count", votes.count.astype(float))
    # a constant, since the density does not use it and the sampler knows only the data it uses
    alike = pt.constant(_items_alike(votes).astype(float))
    binary = votes.n_classes == 2
    log_share = _binary_shares(priors) if binary else _shares(votes, priors)
    if binary and (priors.judges == "alike" or nodes):
        low, high = _population(votes, priors)
        logits = pt.stack([low, high], axis=1)
        if nodes:
            per_node, log_weight = _shared_effect(logits, priors, nodes)
            log_vote = _log_votes(per_node, missing, priors)  # judge, truth, response, node
            k, r = problem.n_classes, problem.n_responses
            table = log_vote.transpose(0, 2, 1, 3).reshape((len(votes.judges) * r, k * nodes))
            by_node = pt.dot(given, table).reshape((given.shape[0], k, nodes)) + log_weight
            by_class = pt.logsumexp(by_node, axis=2)
        else:
            _name_rates(pm.math.sigmoid(high), pm.math.sigmoid(-low))
            by_class = _independent(given, _log_votes(logits[:, :, None], missing, priors)[..., 0])
    else:
        rates = _unrelated_binary(priors) if binary else _unrelated(votes, priors, missing)
        by_class = _independent(given, rates if not binary else _answered(rates, missing, priors))
    density = pt.logsumexp(by_class[pattern] + log_share[generator] + open_, axis=1)
    pm.CustomDist("items", density, alike, logp=_weigh, random=_occurrences, observed=count)


def _independent(given: Any, log_vote: Any) -> Any:
    """Log probability of each pattern's votes by class; `log_vote` is judge, truth, response."""
    judges, k, r = (log_vote.shape[i] for i in range(3))
    return given @ log_vote.transpose(0, 2, 1).reshape((judges * r, k))


def _weigh(count: Any, density: Any, alike: Any) -> Any:
    return count * density


def _occurrences(density: Any, alike: Any, rng: Any = None, size: Any = None) -> Any:
    """How often a pattern occurs among the items that it could have occurred in."""
    return rng.binomial(alike.astype(int), np.exp(np.minimum(density, 0)), size=size).astype(float)


def _open(votes: Votes) -> np.ndarray:
    """0 for the classes that an item can have, and RULED_OUT for those that its label denies."""
    allowed = np.eye(votes.n_classes)[votes.truth]
    allowed[votes.truth == NONE] = 1
    return np.where(allowed > 0, 0.0, RULED_OUT)


def _items_alike(votes: Votes) -> np.ndarray:
    """Items of the same generator, with votes of the same judges, and labelled or not as well."""
    there = (votes.votes != NONE).astype(np.int64)
    keys = np.column_stack([votes.generator, votes.truth != NONE, there])
    first, totals = collapse(keys, votes.count)
    place = {tuple(keys[i]): total for i, total in zip(first, totals, strict=True)}
    return np.array([place[tuple(key)] for key in keys])


def _prior(name: str, *values: float) -> tuple[Any, ...]:
    """Parameters of a prior as data, so that other priors need no other compilation."""
    import pymc as pm

    data = pm.Data(f"{name}_prior", np.array(values, dtype=float))
    return tuple(data[i] for i in range(len(values)))


def _binary_shares(priors: Priors) -> Any:
    import pymc as pm
    import pytensor.tensor as pt

    g = pm.Beta("prevalence", *_prior("prevalence", *priors.prevalence), dims="generator")
    return pt.stack([pt.log1p(-g), pt.log(g)], axis=1)


def _shares(votes: Votes, priors: Priors) -> Any:
    import pymc as pm
    import pytensor.tensor as pt

    weight = pm.Data("share_prior", np.full(votes.n_classes, priors.share_concentration))
    share = pm.Dirichlet("share", weight, dims=("generator", "truth"))
    return pt.log(share)


def _population(votes: Votes, priors: Priors) -> tuple[Any, Any]:
    """Logits of the probability of a pass, on bad and on good items, of judges that are alike.

    A judge is a discrimination, positive, and a leaning: ``leaning ± discrimination / 2``.

    Where each judge has many votes, these say what the judge is like, and the population follows;
    where it has few, the population says it. The sampler moves freely in what is said first: at
    14,000 votes a judge the centred form takes a third of the steps, at 2,000 it diverges.
    """
    import pymc as pm
    import pytensor.tensor as pt

    parts = {}
    by_column = (votes.votes != NONE).T @ votes.count
    centred = np.bincount(votes.judge_of_column, by_column).min() >= CENTRED_FROM
    for name in ("discrimination", "leaning"):
        mean = pm.Normal(f"{name}_mean", *_prior(f"{name}_mean", *getattr(priors, name)))
        scale = _prior(f"{name}_spread", getattr(priors, f"{name}_spread"))[0]
        spread = pm.HalfNormal(f"{name}_spread", scale)
        if centred:
            parts[name] = pm.Normal(name, mean, spread, dims="judge")
        else:
            own = pm.Normal(f"{name}_own", dims="judge")
            parts[name] = pm.Deterministic(name, mean + spread * own, dims="judge")
    half = pt.exp(parts["discrimination"]) / 2
    return parts["leaning"] - half, parts["leaning"] + half


def _shared_effect(logits: Any, priors: Priors, nodes: int) -> tuple[Any, Any]:
    """Add what the judges have in common on an item, at the nodes of the quadrature.

    Qu, Tan & Kutner (1996), Biometrics 52, 797-810; the scale differs by truth, as in Dendukuri &
    Joseph (2001), Biometrics 57, 158-167.
    """
    import pymc as pm
    import pytensor.tensor as pt

    points, weights = np.polynomial.hermite_e.hermegauss(nodes)
    at = pm.Data("nodes", points)
    share = pm.Data("node_weights", weights / weights.sum())
    scale = _prior("shared_effect", priors.shared_effect)[0]
    spread = pm.HalfNormal("shared_effect", scale, dims="truth")
    per_node = logits[:, :, None] + spread[None, :, None] * at
    # products with a vector, since the sampler takes no strided results
    _name_rates(pm.math.sigmoid(per_node[:, 1]) @ share, pm.math.sigmoid(-per_node[:, 0]) @ share)
    return per_node, pt.log(share)


def _log_votes(logits: Any, missing: str, priors: Priors) -> Any:
    """Log probability of each response from logits by judge, truth and node."""
    import pytensor.tensor as pt

    table = pt.stack([-pt.softplus(logits), -pt.softplus(-logits)], axis=2)
    return _answered(table, missing, priors)


def _answered(log_vote: Any, missing: str, priors: Priors) -> Any:
    """Add not voting as a third response, whose probability depends on judge and truth."""
    import pymc as pm
    import pytensor.tensor as pt

    if missing == "skip":
        return log_vote
    prior = _prior("answering", *priors.answering)
    answering = pm.Beta("answering", *prior, dims=("judge", "truth"))
    extra = log_vote.ndim - 2  # response, and node where there is one
    there = pt.log(answering).dimshuffle(0, 1, *["x"] * extra)
    absent = pt.log1p(-answering).dimshuffle(0, 1, *["x"] * extra)
    first = log_vote[:, :, :1]
    return pt.concatenate([log_vote + there, pt.zeros_like(first) + absent], axis=2)


def _name_rates(sensitivity: Any, specificity: Any) -> None:
    import pymc as pm

    pm.Deterministic("sensitivity", sensitivity, dims="judge")
    pm.Deterministic("specificity", specificity, dims="judge")


def _unrelated_binary(priors: Priors) -> Any:
    """Beta priors judge by judge, restricted to sensitivity + specificity > 1 where asked for.

    The restriction is a change of variables: the specificity is ``1 - sensitivity * (1 - share)``
    with ``share`` in (0, 1), whose Jacobian is the sensitivity.
    """
    import pymc as pm
    import pytensor.tensor as pt

    s = pm.Beta("sensitivity", *_prior("sensitivity", *priors.sensitivity), dims="judge")
    alpha, beta = _prior("specificity", *priors.specificity)
    if priors.better_than_chance:
        share = pm.Uniform("specificity_share", dims="judge")
        c = pm.Deterministic("specificity", 1 - s * (1 - share), dims="judge")
        log_prior = pm.logp(pm.Beta.dist(alpha, beta), c) + pt.log(s)
        pm.Potential("specificity_prior_density", log_prior.sum())
    else:
        c = pm.Beta("specificity", alpha, beta, dims="judge")
    bad, good = [pt.log(c), pt.log1p(-c)], [pt.log1p(-s), pt.log(s)]
    return pt.stack([pt.stack(bad, axis=1), pt.stack(good, axis=1)], axis=1)


def _unrelated(votes: Votes, priors: Priors, missing: str) -> Any:
    """Dirichlet rows of confusion, with a heavier weight where vote and truth agree."""
    import pymc as pm
    import pytensor.tensor as pt

    k = votes.n_classes
    rows = np.full((k, k + (missing == "response")), priors.off_diagonal)
    rows[:, :k] += np.eye(k) * (priors.diagonal - priors.off_diagonal)
    weight = pm.Data("confusion_prior", rows)
    confusion = pm.Dirichlet(
        "confusion", pt.ones((len(votes.judges), 1, 1)) * weight, dims=("judge", "truth", "vote")
    )
    return pt.log(confusion)
