"""Prior-data conflict: statistics of the counts beside what the priors expect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.prior_check import Key, compare_with_prior
from bayesjudge.core.priors import BetaPrior
from bayesjudge.prevalence.data import Counts

if TYPE_CHECKING:
    import pandas as pd

DRAWS = 2000
#: Pairs drawn for one that is kept, at most, of judges better than chance.
MOST_PAIRS = 1000
#: Name, observed, of how many, chances by draw, and the priors that the statistic is about.
Statistic = tuple[str, Any, Any, np.ndarray, tuple[str, ...]]


def table_of(counts: Counts, model: Any, rng: np.random.Generator, stated: bool) -> pd.DataFrame:
    """Shares of verdicts and labels beside what the priors expect of them."""
    from scipy.special import bdtr

    observed: dict[Key, float] = {}
    drawn: dict[Key, np.ndarray] = {}
    p_values: dict[Key, float] = {}
    for name, seen, total, chance, priors in _statistics(counts, model, rng):
        if stated and not any(informs(model, prior) for prior in priors):
            continue
        for system, k, n, p in _each(counts, model, name, (seen, total, chance)):
            if n == 0:
                continue
            key = (name, counts.dim if system else "", system)
            observed[key], drawn[key] = k / n, rng.binomial(n, p) / n
            at_most, at_least = bdtr(k, n, p).mean(), 1 - (bdtr(k - 1, n, p).mean() if k else 0.0)
            p_values[key] = float(min(1.0, 2 * min(at_most, at_least)))
    return compare_with_prior(observed, drawn, p_values)


def _each(
    counts: Counts, model: Any, name: str, statistic: tuple[Any, Any, np.ndarray]
) -> Iterator[tuple[str, int, int, np.ndarray]]:
    """Each system's name, count, of how many, and chances by draw; of rates that systems pool, all
    of them together too: what the prior allows one system it may not allow all.
    """
    (seen, total), chance = (np.atleast_1d(x) for x in statistic[:2]), statistic[2]
    for i, system in enumerate(counts.systems or ("",)):
        yield system, int(seen[i]), int(total[i]), chance[:, i]
    if _pools_partially(model) and name in model._rates:
        items = int(total.sum())
        yield "", int(seen.sum()), items, chance @ (total / max(items, 1))


def informs(model: Any, name: str) -> bool:
    """Whether a prior is worth anything beside the data: not a flat one."""
    prior = getattr(model, name)
    each = prior.values() if isinstance(prior, Mapping) else [prior]
    return any(isinstance(belief, BetaPrior) and belief.alpha + belief.beta > 2 for belief in each)


def _pools_partially(model: Any) -> bool:
    return hasattr(model, "spread")


def _statistics(counts: Counts, model: Any, rng: np.random.Generator) -> Iterator[Statistic]:
    drawn = prior_rates(counts, model, rng)
    if model._rates[0] == "ppv":
        passed, items = counts.labelled_pass, counts.test_n + counts.labelled_n
        failed = counts.labelled_n - passed
        yield "pass_rate", counts.test_pass + passed, items, drawn["pass_rate"], ("pass_rate",)
        yield "ppv", counts.correct_pass, passed, drawn["ppv"], ("ppv",)
        yield "npv", counts.incorrect_fail, failed, drawn["npv"], ("npv",)
        return
    good, hits, bad, caught = counts.all_labels.values()
    rates = ("prevalence", "sensitivity", "specificity")
    theta, hit, right = (drawn[name] for name in rates)
    yield "sensitivity", hits, good, hit, ("sensitivity",)
    yield "specificity", caught, bad, right, ("specificity",)
    if counts.labels_tell_prevalence:
        yield "prevalence", counts.correct_n, counts.labelled_n, theta, ("prevalence",)
    yield (
        "pass_rate",
        counts.test_pass,
        counts.test_n,
        theta * hit + (1 - theta) * (1 - right),
        rates,
    )


def prior_rates(counts: Counts, model: Any, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Draws from the prior, shape (draws, systems)."""
    from scipy.special import expit, logit

    systems, places = counts.systems or ("",), len(counts.places)

    def beta(name: str, shape: tuple[int, ...]) -> np.ndarray:
        prior = getattr(model, name)
        each = [tuple(prior[s]) for s in systems] if isinstance(prior, Mapping) else tuple(prior)
        alpha, other = np.transpose(each)
        return rng.beta(alpha, other, size=shape)

    wide, single = (DRAWS, places), (DRAWS, 1)
    if hasattr(model, "formula"):
        from bayesjudge.prevalence._covariates import design_of_strata

        design = design_of_strata(model.formula, counts)[1].T
        return {
            name: expit(
                logit(beta(name, single))
                + rng.normal(0, model.slope, (DRAWS, len(design))) @ design
            )
            for name in ("prevalence", *model._rates)
        }
    shared = _pools_partially(model) or getattr(model, "pooling", "") == "full"
    names = ("ppv", "npv") if model._rates[0] == "ppv" else ("sensitivity", "specificity")
    pair = np.array([beta(name, single if shared else wide) for name in names])
    for _ in range(MOST_PAIRS if model.better_than_chance else 0):
        wrong = pair.sum(axis=0) <= 1
        if not wrong.any():
            break
        pair = np.where(wrong, [beta(name, pair.shape[1:]) for name in names], pair)
    drawn = dict(zip(names, pair, strict=True))
    first = "pass_rate" if model._rates[0] == "ppv" else "prevalence"
    pools_prevalence = _pools_partially(model) and counts.adds_up
    drawn[first] = beta(first, single if pools_prevalence else wide)
    if _pools_partially(model):
        for name in (*names, *((first,) if pools_prevalence else ())):
            spread = np.abs(rng.normal(0, model.spread, single))
            drawn[name] = expit(logit(drawn[name]) + spread * rng.normal(size=wide))
    return {name: np.broadcast_to(values, wide) for name, values in drawn.items()}
