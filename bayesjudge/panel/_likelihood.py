"""The likelihood of Dawid-Skene models in NumPy, draw by draw: what follows sampling needs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logit, logsumexp

from bayesjudge.core.counting import distinct
from bayesjudge.core.fit import Fit
from bayesjudge.panel._em import TINY, Problem
from bayesjudge.panel.checks import subject
from bayesjudge.panel.data import MISSING, Votes

if TYPE_CHECKING:
    import xarray as xr


def logits_from(draws: Mapping[str, np.ndarray]) -> np.ndarray:
    """Logit of a pass by draw, judge and truth, for an item on which the shared effect is 0."""
    half = np.exp(draws["discrimination"]) / 2
    return np.stack([draws["leniency"] - half, draws["leniency"] + half], axis=-1)


def logits_of(fit: Fit) -> np.ndarray:
    """`logits_from` of a fit whose judges are drawn from a population."""
    return logits_from({name: fit.draws(name) for name in ("discrimination", "leniency")})


def some_draws(fit: Fit, draws: np.ndarray | None = None) -> xr.Dataset:
    """Posterior draws of a fit, some of them as one dimension ``sample`` if they are named."""
    import xarray as xr

    posterior = fit.idata["posterior"].to_dataset()
    if draws is None:
        return posterior
    n = posterior.sizes["draw"]
    chosen = {"chain": ("sample", draws // n), "draw": ("sample", draws % n)}
    return posterior.isel({k: xr.Variable(*v) for k, v in chosen.items()})


def draw_votes(
    draw: Mapping[str, np.ndarray],
    given: np.ndarray,
    truth: np.ndarray,
    generator: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw votes anew for the same items, with the same votes missing."""
    good = np.where(truth == MISSING, rng.random(len(truth)) < draw["prevalence"][generator], truth)
    if "shared_effect" in draw:
        shift = rng.standard_normal(len(truth)) * draw["shared_effect"][good.astype(int)]
        chance = expit(logits_from(draw).T[good.astype(int)] + shift[:, None])
    else:
        rates = np.stack([1 - draw["specificity"], draw["sensitivity"]])
        chance = rates[good.astype(int)]
    passed = (rng.random(chance.shape) < chance).astype(np.int8)
    return np.where(given == MISSING, MISSING, passed)


def by_sample(draws: xr.Dataset, name: str) -> np.ndarray:
    """Draws of one variable, of all chains one after another."""
    values = draws[name]
    first = [dim for dim in ("chain", "draw", "sample") if dim in values.dims]
    array = values.transpose(*first, ...).to_numpy()
    return array.reshape(-1, *array.shape[len(first) :])


def log_joint_of(
    spec: Any, votes: Votes, draws: xr.Dataset, rows: np.ndarray
) -> Iterator[np.ndarray]:
    """Log probability of votes and class of some patterns: (n_rows, n_classes) for each draw.

    Of the votes alone if the labelled items' classes say nothing.
    """
    first, votes_of_row = distinct(votes.votes[rows].astype(np.int64) + 1)
    given = Problem(votes, spec._missing).given[rows[first]]
    about = subject(votes)[rows, None]
    shares, tables, log_weight = _parameters(spec, votes, draws)
    for share, table in zip(shares, tables, strict=True):
        judges, k, r, nodes = table.shape
        by_node = given @ table.transpose(0, 2, 1, 3).reshape(judges * r, k * nodes)
        by_class = logsumexp(by_node.reshape(-1, k, nodes) + log_weight, axis=2)
        log_share = np.log(np.maximum(share, TINY))[votes.generator[rows]]
        yield by_class[votes_of_row] + np.where(about, log_share, 0.0)


def _parameters(spec: Any, votes: Votes, draws: xr.Dataset) -> tuple[Any, Iterator[Any], Any]:
    """Shares; for each draw the log probability of a response by judge, truth and node; weights."""
    take = partial(by_sample, draws)

    if votes.n_classes > 2:
        tables = (np.log(np.maximum(one, TINY))[..., None] for one in take("confusion"))
        return take("share"), tables, 0.0
    log_weight: Any = 0.0
    if spec._nodes is not None:
        points, log_weight = _quadrature(spec._nodes)
        shift = take("shared_effect")[:, None, :, None] * points
        judges = {name: take(name) for name in ("discrimination", "leniency")}
        logits = logits_from(judges)[..., None] + shift
    else:
        rates = np.stack([1 - take("specificity"), take("sensitivity")], axis=-1)
        logits = logit(rates)[..., None]
    answering = None if spec.answering is None else take("answering")
    g = take("prevalence")
    tables = (
        _responses(one, None if answering is None else answering[s]) for s, one in enumerate(logits)
    )
    return np.stack([1 - g, g], axis=-1), tables, log_weight


def _responses(logits: np.ndarray, answering: np.ndarray | None) -> np.ndarray:
    """Log probability of fail, pass and, if it is modelled, no vote; judge, truth, response."""
    table = np.stack([-np.logaddexp(0, logits), -np.logaddexp(0, -logits)], axis=2)
    if answering is None:
        return table
    there, absent = np.log(answering)[..., None, None], np.log1p(-answering)[..., None, None]
    absent = np.broadcast_to(absent, table[:, :, :1].shape)
    return np.concatenate([table + there, absent], axis=2)


@cache
def _quadrature(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and log weights; the smallest of many weights are 0 in floating point, and may be."""
    points, weights = np.polynomial.hermite_e.hermegauss(nodes)
    return points, np.log(np.maximum(weights / weights.sum(), TINY))


def quadrature_change(fit: Fit, draws: int = 100) -> float:
    """How unevenly the log-likelihood of draws changes when nodes are doubled: its spread (sd).

    A change that all draws share leaves the posterior as it is.
    """
    nodes = fit.spec._nodes  # type: ignore[attr-defined]
    logits, effects, shares = logits_of(fit), fit.draws("shared_effect"), fit.draws("prevalence")
    likelihood = likelihood_of_votes(fit.data)
    changes = []
    for s in np.linspace(0, len(effects) - 1, draws).astype(int):
        draw = (logits[s], effects[s], shares[s])
        once, twice = (likelihood(*draw, n) for n in (nodes, 2 * nodes))
        changes.append(twice - once)
    return float(np.std(changes))


def likelihood_of_votes(votes: Votes) -> Callable[..., float]:
    """Log-likelihood of the model with a shared effect; missing votes are skipped."""
    first, ballot = distinct(votes.votes.astype(np.int64) + 1)
    passed = (votes.votes[first] == 1).astype(float)
    failed = (votes.votes[first] == 0).astype(float)
    judge, known = votes.judge_of_column, votes.truth != MISSING

    def log_likelihood(
        logits: np.ndarray, effect: np.ndarray, prevalence: np.ndarray, nodes: int
    ) -> float:
        points, log_weight = _quadrature(nodes)
        at = logits[:, :, None] + effect[:, None] * points
        log_share = np.stack([np.log1p(-prevalence), np.log(prevalence)], axis=1)[votes.generator]
        by_class = []
        for truth in (0, 1):
            up, down = -np.logaddexp(0, -at[judge, truth]), -np.logaddexp(0, at[judge, truth])
            joint = passed @ up + failed @ down + log_weight
            peak = joint.max(axis=1)  # by hand: half of the time would be logsumexp's checks
            joint = peak + np.log(np.exp(joint - peak[:, None]).sum(axis=1))
            denied = known & (votes.truth != truth)
            by_class.append(np.where(denied, -np.inf, joint[ballot] + log_share[:, truth]))
        return float(np.logaddexp(*by_class) @ votes.count)

    return log_likelihood
