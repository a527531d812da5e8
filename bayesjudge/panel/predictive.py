"""Predictive checks: votes drawn from priors, and from a sampled model, beside those observed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from bayesjudge.core.errors import checking
from bayesjudge.core.fit import Fit
from bayesjudge.core.prior_check import Key, count_in_draws, prior_table
from bayesjudge.panel._summaries import Summary
from bayesjudge.panel.checks import correlate
from bayesjudge.panel.data import MISSING, Votes
from bayesjudge.panel.models._base import PanelModel
from bayesjudge.panel.models.bias_pooling import BiasPooling
from bayesjudge.panel.models.vote_regression import VoteRegression, labelled_patterns
from bayesjudge.panel.voting import true_prevalence

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
        Of a model of votes of two classes: `PooledDawidSkene`, `DawidSkene` or `Correlated`.
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
    votes: Votes = fit.data
    spec: PanelModel = fit.spec  # type: ignore[assignment]
    with checking("panel.dependence_check") as require:
        name = type(spec).__name__
        require(spec._voting, f"{name} draws no votes; take DawidSkene, or another model of votes")
        require(replicates >= 20, f"replicates={replicates}, at least 20 are needed")
    rng = np.random.default_rng(random_seed)
    given, truth, generator = expanded(votes, rng)
    observed = _correlations(given, truth)
    posterior = {name: fit.draws(name) for name in spec._voting}
    size = len(next(iter(posterior.values())))
    drawn = []
    for s in rng.choice(size, replicates, replace=size < replicates):
        draw = {name: values[s] for name, values in posterior.items()}
        anew = spec._draw_votes(draw, given, truth, generator, rng)
        drawn.append(_correlations(anew, truth))
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


@prior_table.register(PanelModel)
def _beside_prior(
    model: PanelModel, votes: Votes, rng: np.random.Generator, *, stated: bool = False
) -> pd.DataFrame:
    """Compare pass rates, agreement and shares of good ones with those of votes from the priors."""
    observed, draw = prior_statistics(votes, model, rng)
    with checking("panel.check_prior") as require:
        require(bool(observed), "there is nothing to compare; label some items")
    return count_in_draws(observed, draw)


Values = dict[str, np.ndarray]
#: Statistics of the votes, and what they are of values that the priors draw.
Statistics = tuple[dict[Key, float], Callable[[Values], Mapping[Key, np.ndarray]]]


def prior_statistics(
    votes: Votes, model: PanelModel, rng: np.random.Generator
) -> tuple[dict[Key, float], Callable[[int], Mapping[Key, np.ndarray]]]:
    """Statistics of the votes, and a function that draws those of votes from the priors."""
    from bayesjudge.core.predictive import draw_together

    built = model._build(votes)
    names = [str(v.name) for v in built.unobserved_RVs]
    if isinstance(model, VoteRegression):
        names.append("labelled_good")
        observed, drawn_of = _labels(votes)
    elif isinstance(model, BiasPooling):
        observed, drawn_of = _rates(votes, rng)
    elif votes.n_classes > 2:
        observed, drawn_of = _classes(votes, rng)
    else:
        observed, drawn_of = _patterns(votes, model, rng)
    return observed, lambda n: drawn_of(draw_together(built, names, n, rng))


def _patterns(votes: Votes, model: PanelModel, rng: np.random.Generator) -> Statistics:
    """Draw votes item by item, and by judge those on labelled items."""
    given, truth, generator = expanded(votes, rng)
    nobody = np.full(len(truth), MISSING)
    right = _right_votes(votes)

    def drawn_of(prior: Values) -> dict[Key, np.ndarray]:
        size = len(prior[model._voting[0]])
        each = [{name: prior[name][s] for name in model._voting} for s in range(size)]
        drawn = [
            _statistics(model._draw_votes(one, given, nobody, generator, rng), generator, votes)
            for one in each
        ]
        found = {name: np.array([one[name] for one in drawn]) for name in drawn[0]}
        for (rate, dim, judge), (_, n) in right.items():
            chance = prior[rate][:, votes.judges.index(judge)]
            found[rate, dim, judge] = rng.binomial(n, np.clip(chance, 0, 1)) / n
        return found

    shares = {key: k / n for key, (k, n) in right.items()}
    return _statistics(given, generator, votes) | shares, drawn_of


def _right_votes(votes: Votes) -> dict[Key, tuple[int, int]]:
    """Each judge's right votes on labelled items, and of how many, where labels tell its rates."""
    if "error_rates" not in votes.design.identifies:
        return {}
    tally = votes.tally().sum(axis=0)
    rates = (("sensitivity", 1), ("specificity", 0))
    counted = {
        (rate, "judge", judge): (int(tally[z, j, z]), int(tally[z, j, :2].sum()))
        for rate, z in rates
        for j, judge in enumerate(votes.judges)
    }
    return {key: (k, n) for key, (k, n) in counted.items() if n}


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


def _classes(votes: Votes, rng: np.random.Generator) -> Statistics:
    """Shares of each vote, and of the right ones on labelled items, of all judges together."""
    k = votes.n_classes
    tally = votes.tally().sum(axis=(0, 1, 2))[:k]
    names: list[Key] = [("vote_share", "vote", c) for c in votes.classes]
    known = votes.tally().sum(axis=0)[:k, :, :k]
    told = "error_rates" in votes.design.identifies
    of = [z for z in range(k) if told and known[z].sum()]
    right: list[Key] = [("right_share", "truth", votes.classes[z]) for z in of]

    def drawn_of(prior: Values) -> dict[Key, np.ndarray]:
        truths = rng.multinomial(votes.items, prior["share"]).sum(axis=1)[:, None]
        given = rng.multinomial(truths, prior["confusion"]).sum(axis=(1, 2))
        shares = given[:, :k] / given[:, :k].sum(axis=1)[:, None]
        own = [
            rng.binomial(known[z].sum(axis=-1), _given(prior, z, k).clip(0, 1)).sum(axis=-1)
            for z in of
        ]
        found = dict(zip(names, shares.T, strict=True))
        return found | {key: n / known[z].sum() for key, z, n in zip(right, of, own, strict=True)}

    observed = dict(zip(names, (tally / tally.sum()).tolist(), strict=True))
    hits = [float(known[z, :, z].sum() / known[z].sum()) for z in of]
    return observed | dict(zip(right, hits, strict=True)), drawn_of


def _given(prior: Values, z: int, k: int) -> np.ndarray:
    """Probability (draw, judge) that a vote that is given is right, on items of a class."""
    rows = prior["confusion"][:, :, z, :k]
    return rows[..., z] / rows.sum(axis=-1)


def _rates(votes: Votes, rng: np.random.Generator) -> Statistics:
    """Pass rates of the panel, and the bias if labels show it."""
    rate, truth = Summary.of(votes).rate, true_prevalence(votes)
    labelled = np.bincount(votes.generator, votes.count * votes.is_labelled, len(rate)).astype(int)
    observed: dict[Key, float] = {}
    for i, name in enumerate(votes.generators):
        observed["pass_rate", "generator", name] = float(rate[i])
        if labelled[i]:
            observed["pass_rate - share_good", "generator", name] = float(rate[i] - truth[i])

    def drawn_of(prior: Values) -> dict[Key, np.ndarray]:
        found: dict[Key, np.ndarray] = {}
        for i, name in enumerate(votes.generators):
            passed, m = prior["pass_rate"][:, i], int(labelled[i])
            found["pass_rate", "generator", name] = passed
            if m:
                good = rng.binomial(m, prior["prevalence"][:, i]) / m
                found["pass_rate - share_good", "generator", name] = passed - good
        return found

    return observed, drawn_of


def _labels(votes: Votes) -> Statistics:
    """Shares of good ones among labelled items, and how often the majority is right there."""
    rows, n, seen = labelled_patterns(votes)
    truth = true_prevalence(votes)
    passed, failed = ((votes.votes[rows] == vote).sum(axis=1) for vote in (1, 0))
    decided, passes = n * (passed != failed), passed > failed
    majority: Key = ("majority_right", "", "")

    def right(good: np.ndarray) -> np.ndarray:
        agreed = np.where(passes, good, n - good) * (decided > 0)
        return agreed.sum(axis=-1) / max(decided.sum(), 1)

    own: dict[Key, np.ndarray] = {
        ("share_good", "generator", name): votes.generator[rows] == i
        for i, name in enumerate(votes.generators)
    }
    observed = {
        key: float(share)
        for (key, mine), share in zip(own.items(), truth, strict=True)
        if mine.any()
    }
    if decided.any():
        observed[majority] = float(right(seen))

    def drawn_of(prior: Values) -> dict[Key, np.ndarray]:
        good = prior["labelled_good"]
        found = {majority: right(good)}
        found |= {key: good[:, mine].sum(axis=1) / n[mine].sum() for key, mine in own.items()}
        return {key: found[key] for key in observed}

    return observed, drawn_of
