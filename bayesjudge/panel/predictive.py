"""Predictive checks: votes drawn from priors, and from a sampled model, beside those observed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from bayesjudge.core.errors import checking
from bayesjudge.core.fit import Fit
from bayesjudge.panel._likelihood import logits_from, logits_of
from bayesjudge.panel._summaries import Summary
from bayesjudge.panel.checks import correlate
from bayesjudge.panel.data import MISSING, Votes
from bayesjudge.panel.model import chosen_model
from bayesjudge.panel.models._base import PanelModel
from bayesjudge.panel.models.bias_pooling import BiasPooling
from bayesjudge.panel.models.dawid_skene import Correlated, DawidSkene, PooledDawidSkene
from bayesjudge.panel.models.vote_regression import VoteRegression, labelled_patterns
from bayesjudge.panel.voting import true_prevalence

#: Of this many prior draws each statistic has a distribution.
DRAWS = 200
#: Rows that a predictive check simulates at most; of a longer table it takes a random sample.
MOST_ITEMS = 5000


def dependence_check(fit: Fit, *, replicates: int = 200, random_seed: Any = None) -> pd.DataFrame:
    """Compare the correlation of the judges' votes with what the model expects.

    The statistic is the mean correlation of two judges' votes: among items that people call bad,
    among those they call good, and among all. Given the truth, a model with independent errors
    expects none. Votes are drawn anew for the same items, with the same votes missing; the truth
    of an unlabelled item is drawn with them.

    Parameters
    ----------
    fit : Fit
        Of `PooledDawidSkene`, `DawidSkene` or `Correlated`.
    replicates : int, default 200
        Posterior draws to simulate from.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        Index ``items`` ("bad", "good", "all"); ``observed`` and ``expected`` mean correlation, the
        95 % range ``low`` and ``high`` of the expected, ``p_value``: the share of replicates that
        reach the observed, and ``rejected``. If no two judges' votes vary there is no
        correlation: ``nan``, and no rejection; replicates without one are left out.

    Raises
    ------
    InputError
        If the fit is of another model.
    """
    votes, spec = fit.data, fit.spec
    with checking("panel.dependence_check") as require:
        require(
            isinstance(spec, PooledDawidSkene | DawidSkene),
            f"needs a fit of PooledDawidSkene, DawidSkene or Correlated, got {type(spec).__name__}",
        )
        require(replicates >= 20, f"replicates={replicates}, at least 20 are needed")
    rng = np.random.default_rng(random_seed)
    given, truth, generator = expanded(votes, rng)
    observed = _correlations(given, truth)
    posterior = {name: fit.draws(name) for name in ("prevalence", "sensitivity", "specificity")}
    if isinstance(spec, Correlated):
        posterior |= {"effect": fit.draws("shared_effect"), "logits": logits_of(fit)}
    size = len(posterior["prevalence"])
    drawn = []
    for s in rng.choice(size, replicates, replace=size < replicates):
        draw = {name: values[s] for name, values in posterior.items()}
        drawn.append(_correlations(replicate(draw, given, truth, generator, rng), truth))
    rows = {}
    for name in observed:
        values = np.array([one[name] for one in drawn])
        values = values[np.isfinite(values)]
        if not values.size or np.isnan(observed[name]):
            rows[name] = (observed[name], *[np.nan] * 4, False)
            continue
        low, high = np.quantile(values, [0.025, 0.975])
        p = float((1 + np.sum(values >= observed[name])) / (1 + values.size))
        rows[name] = (observed[name], float(values.mean()), low, high, p, p <= 0.01)
    columns = ["observed", "expected", "low", "high", "p_value", "rejected"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("items")


def expanded(votes: Votes, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Write one row an item, of the first vote of each judge."""
    first = [int(np.argmax(votes.judge_of_column == j)) for j in range(len(votes.judges))]
    rows = np.repeat(np.arange(len(votes.count)), votes.count)
    if rows.size > MOST_ITEMS:
        rows = rng.choice(rows, MOST_ITEMS, replace=False)
    return votes.votes[rows][:, first], votes.truth[rows], votes.generator[rows]


def _correlations(given: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    found = {}
    for name, rows in (
        ("bad", truth == 0),
        ("good", truth == 1),
        ("all", np.full(len(truth), True)),
    ):
        if rows.sum() >= 20:
            r = correlate(given[rows], np.ones(int(rows.sum())))
            above = r[np.triu_indices(len(r), 1)]
            found[name] = float(np.nanmean(above)) if np.isfinite(above).any() else np.nan
    return found


def replicate(
    draw: dict[str, np.ndarray],
    given: np.ndarray,
    truth: np.ndarray,
    generator: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw votes anew for the same items, with the same votes missing."""
    good = np.where(truth == MISSING, rng.random(len(truth)) < draw["prevalence"][generator], truth)
    if "effect" in draw:
        shift = rng.standard_normal(len(truth)) * draw["effect"][good.astype(int)]
        chance = expit(draw["logits"].T[good.astype(int)] + shift[:, None])
    else:
        rates = np.stack([1 - draw["specificity"], draw["sensitivity"]])
        chance = rates[good.astype(int)]
    passed = (rng.random(chance.shape) < chance).astype(np.int8)
    return np.where(given == MISSING, MISSING, passed)


def check_prior(
    votes: Votes, model: PanelModel | None = None, *, random_seed: Any = None
) -> pd.DataFrame:
    """Compare the votes with votes drawn from the priors: prior-data conflict.

    Parameters
    ----------
    votes : Votes
        Sizes, and the votes that are missing, are taken over by what is drawn.
    model : PooledDawidSkene, DawidSkene, MulticlassDawidSkene, Correlated, BiasPooling or \
VoteRegression, optional
        As for `fit`.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        One row a statistic: ``statistic`` and ``generator`` (or ``vote``), ``observed``, the
        prior's 95 % range ``low`` to ``high``, ``below`` (share of draws below the observed) and
        ``surprising``, if it lies outside the range. ``pass_rate`` is the mean vote; ``agreement``
        how often two judges agree, over all items; of `BiasPooling` also ``pass_rate -
        share_good``; with more classes ``vote_share``; of `VoteRegression`, which does not model
        votes, ``share_good`` of the labelled items.

    Raises
    ------
    InputError
        If the model does not suit these votes, or there is nothing to compare.
    """
    observed, drawn = prior_statistics(votes, model, np.random.default_rng(random_seed))
    rows = []
    for (name, dim, label), value in observed.items():
        low, high = np.nanquantile(drawn[name, dim, label], [0.025, 0.975])
        below = float(np.mean(drawn[name, dim, label] < value))
        where = {dim: label} if dim else {}
        found = {"observed": value, "low": low, "high": high, "below": below}
        rows.append({"statistic": name, **where, **found, "surprising": not low <= value <= high})
    table = pd.DataFrame(rows)
    dims = [dim for dim in ("generator", "vote") if dim in table]
    table[dims] = table[dims].fillna("")
    return table


#: A statistic's name with a dimension and the coordinate there, both empty if it has none.
Key = tuple[str, str, str]
Statistics = tuple[dict[Key, float], dict[Key, np.ndarray]]


def prior_statistics(
    votes: Votes, model: PanelModel | None, rng: np.random.Generator
) -> Statistics:
    """Statistics of the votes, and of votes drawn from the priors."""
    from bayesjudge.core.predictive import prior_draws

    chosen = chosen_model(votes, model)
    tree = prior_draws(chosen._build(votes), rng, DRAWS)
    prior = {str(name): values.to_numpy()[0] for name, values in tree["prior"].data_vars.items()}
    if isinstance(chosen, VoteRegression):
        observed, drawn = _labels(votes, tree)
    elif isinstance(chosen, BiasPooling):
        observed, drawn = _rates(votes, prior)
    elif votes.n_classes > 2:
        observed, drawn = _classes(votes, prior)
    else:
        observed, drawn = _patterns(votes, prior, rng)
    with checking("panel.check_prior") as require:
        require(bool(observed), "there is nothing to compare; label some items")
    return observed, drawn


def _patterns(votes: Votes, prior: dict[str, np.ndarray], rng: np.random.Generator) -> Statistics:
    """Draw votes item by item."""
    given, truth, generator = expanded(votes, rng)
    nobody = np.full(len(truth), MISSING)
    names = ["prevalence", "sensitivity", "specificity"]
    if "shared_effect" in prior:
        prior |= {"effect": prior["shared_effect"], "logits": logits_from(prior)}
        names += ["effect", "logits"]
    observed = _statistics(given, generator, votes)
    drawn = [
        _statistics(
            replicate({name: prior[name][s] for name in names}, given, nobody, generator, rng),
            generator,
            votes,
        )
        for s in range(DRAWS)
    ]
    return observed, {name: np.array([one[name] for one in drawn]) for name in observed}


def _statistics(given: np.ndarray, generator: np.ndarray, votes: Votes) -> dict[Key, float]:
    there, passed = given != MISSING, given == 1
    found: dict[Key, float] = {}
    for i, name in enumerate(votes.generators):
        mine = generator == i
        if there[mine].any():
            found["pass_rate", "generator", name] = float(passed[mine].sum() / there[mine].sum())
    voted, passes = there.sum(axis=1), passed.sum(axis=1)
    pairs = voted * (voted - 1)
    fails = voted - passes
    if pairs.any():
        agreed = passes * (passes - 1) + fails * (fails - 1)
        found["agreement", "", ""] = float(agreed.sum() / pairs.sum())
    return found


def _classes(votes: Votes, prior: dict[str, np.ndarray]) -> Statistics:
    """Compute shares of each vote; items are many, so that their own luck is left out."""
    tally = votes.tally().sum(axis=(0, 1, 2))[: votes.n_classes]
    observed = tally / tally.sum()
    weight = votes.items / votes.items.sum()
    share = np.einsum("sgk,g->sk", prior["share"], weight)
    expected = np.einsum("sk,sjkr->sr", share, prior["confusion"])[:, : votes.n_classes]
    expected = expected / expected.sum(axis=1, keepdims=True)
    names: list[Key] = [("vote_share", "vote", c) for c in votes.classes]
    return (
        dict(zip(names, observed.tolist(), strict=True)),
        dict(zip(names, expected.T, strict=True)),
    )


def _rates(votes: Votes, prior: dict[str, np.ndarray]) -> Statistics:
    """Pass rates of the panel, and the bias if labels show it."""
    rate, truth = Summary.of(votes).rate, true_prevalence(votes)
    observed, drawn = {}, {}
    for i, name in enumerate(votes.generators):
        observed["pass_rate", "generator", name] = float(rate[i])
        drawn["pass_rate", "generator", name] = prior["pass_rate"][:, i]
        if not np.isnan(truth[i]):
            observed["pass_rate - share_good", "generator", name] = float(rate[i] - truth[i])
            drawn["pass_rate - share_good", "generator", name] = (
                prior["pass_rate"][:, i] - prior["prevalence"][:, i]
            )
    return observed, drawn


def _labels(votes: Votes, tree: Any) -> Statistics:
    """Shares of good ones among labelled items, given their votes."""
    rows, n, _ = labelled_patterns(votes)
    drawn_good = tree["prior_predictive"]["labelled_good"].to_numpy()[0]
    truth = true_prevalence(votes)
    observed, drawn = {}, {}
    for i, name in enumerate(votes.generators):
        mine = votes.generator[rows] == i
        if mine.any():
            observed["share_good", "generator", name] = float(truth[i])
            drawn["share_good", "generator", name] = drawn_good[:, mine].sum(axis=1) / n[mine].sum()
    return observed, drawn
