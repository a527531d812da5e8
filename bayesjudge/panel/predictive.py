"""Predictive checks: votes drawn from priors, and from a sampled model, beside those observed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.errors import checking, expect
from bayesjudge.core.fit import Fit
from bayesjudge.core.prior_check import Key, count_in_draws, prior_table
from bayesjudge.core.randomness import rng_of
from bayesjudge.panel.checks import correlate
from bayesjudge.panel.data import MISSING, Votes
from bayesjudge.panel.models._base import PanelModel, Values
from bayesjudge.verdicts.table import Verdicts

if TYPE_CHECKING:
    import pandas as pd


#: Rows that a predictive check simulates at most; of a longer table it takes a random sample.
MOST_ITEMS = 5000
#: Shares of right votes on bad and on good items.
RATES = ("specificity", "sensitivity")


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
    import pandas as pd

    votes: Votes = fit.data
    spec: Any = fit.spec
    with checking("panel.dependence_check") as require:
        name = type(spec).__name__
        draws_votes = hasattr(spec, "_replicates")
        require(draws_votes, "draws-no-votes", name=name)
        require(votes.n_classes == 2, f"needs pass and fail, got {votes.n_classes} classes")
        require(replicates >= 20, f"replicates={replicates}, at least 20 are needed")
    rng = rng_of(random_seed)
    items = expanded(votes, rng)
    observed = _correlations(items.response, items.truth)
    posterior = {name: fit.draws(name) for name in spec._names(votes)}
    size = len(next(iter(posterior.values())))
    kept = rng.choice(size, replicates, replace=size < replicates)
    draws = {name: values[kept] for name, values in posterior.items()}
    drawn = [
        _correlations(anew, items.truth) for anew in spec._replicates(votes, items, draws, rng)
    ]
    rows = {}
    for name in observed:
        values = np.array([replicate[name] for replicate in drawn])
        values = values[np.isfinite(values)]
        if not values.size or np.isnan(observed[name]):
            rows[name] = (observed[name], *[np.nan] * 4, False)
            continue
        low, high = np.quantile(values, [0.025, 0.975])
        p = float((1 + np.sum(values >= observed[name])) / (1 + values.size))
        rows[name] = (observed[name], float(values.mean()), low, high, p, p <= 0.01)
    columns = ["observed", "expected", "low", "high", "p_value", "rejected"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("items")


def expanded(votes: Votes, rng: np.random.Generator) -> Verdicts:
    """Write one row per item, of the first vote of each judge."""
    first = [int(np.argmax(votes.judge_of_column == j)) for j in range(len(votes.judges))]
    rows = np.repeat(np.arange(len(votes.count)), votes.count)
    if rows.size > MOST_ITEMS:
        rows = rng.choice(rows, MOST_ITEMS, replace=False)
    columns: dict[str, Any] = {
        "response": votes.votes[rows][:, first],
        "judge_of_column": np.arange(len(first)),
    }
    columns["unparsed"] = 0
    each = {"truth": votes.truth[rows], "group": votes.generator[rows], "about": None}
    return replace(votes.verdicts, **columns, **each, count=np.ones(len(rows)))


def _correlations(given: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    correlations = {}
    for name, rows in (
        ("bad", truth == 0),
        ("good", truth == 1),
        ("all", np.full(len(truth), True)),
    ):
        if rows.sum() >= 20:
            r = correlate(given[rows], np.ones(int(rows.sum())))
            above = r[np.triu_indices(len(r), 1)]
            correlations[name] = float(np.nanmean(above)) if np.isfinite(above).any() else np.nan
    return correlations


@prior_table.register(PanelModel)
def _beside_prior(
    model: PanelModel, votes: Votes, rng: np.random.Generator, *, stated: bool = False
) -> pd.DataFrame:
    """Compare pass rates, agreement and shares of good ones with those of votes from the priors."""
    observed, draw = prior_statistics(votes, model, rng)
    expect("panel.check_prior", bool(observed), "there is nothing to compare; label some items")
    return count_in_draws(observed, draw)


#: Statistics of the votes, and what they are of values that the priors draw.
Statistics = tuple[dict[Key, float], Callable[[Values], Mapping[Key, np.ndarray]]]


def prior_statistics(
    votes: Votes, model: PanelModel, rng: np.random.Generator
) -> tuple[dict[Key, float], Callable[[int], Mapping[Key, np.ndarray]]]:
    """Statistics of the votes, and a function that draws those of votes from the priors."""
    from bayesjudge.core.predictive import draw_together

    built = model._build(votes)
    special = model._prior_statistics(votes, rng)
    observed, drawn_of, more = special or (*_of_votes(votes, model, rng), ())
    names = [*(str(v.name) for v in built.unobserved_RVs), *more]
    return observed, lambda n: drawn_of(draw_together(built, names, n, rng))


def _of_votes(votes: Votes, model: Any, rng: np.random.Generator) -> Statistics:
    """Draw votes item by item, and by judge those on labelled items."""
    items = expanded(votes, rng)
    nobody = replace(items, truth=np.full(len(items.truth), MISSING))
    right, statistics = _right_votes(votes), _binary if votes.n_classes == 2 else _classes

    def drawn_of(prior: Values) -> dict[Key, np.ndarray]:
        anew = model._replicates(votes, nobody, prior, rng)
        drawn = [statistics(replicate, votes, items.group) for replicate in anew]
        values_of = {name: np.array([replicate[name] for replicate in drawn]) for name in drawn[0]}
        chance = model._chances(votes, prior).clip(0, 1)
        for key, (z, judges, _, n) in right.items():
            values_of[key] = rng.binomial(n, chance[:, judges, z, z]).sum(axis=1) / n.sum()
        return values_of

    shares = {key: float(k.sum() / n.sum()) for key, (_, _, k, n) in right.items()}
    return statistics(items.response, votes, items.group) | shares, drawn_of


def _right_votes(votes: Votes) -> dict[Key, tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
    """Class, judges, and their right votes and how many, of labelled items that tell rates.

    Of two classes each judge apart, of more all together.
    """
    k, right = votes.n_classes, {}
    classes = range(k) if "error_rates" in votes.design.identifies else ()
    tally = votes.tally().sum(axis=0)[:k, :, :k]
    for z in classes:
        judges = np.flatnonzero(tally[z].sum(axis=1))
        parts: list[tuple[Key, np.ndarray]] = [
            ((RATES[z > 0], "judge", votes.judges[int(j)]), np.array([j])) for j in judges
        ]
        if k > 2:
            parts = [(("right_share", "truth", votes.classes[z]), judges)]
        for key, mine in parts:
            if mine.size:
                right[key] = z, mine, tally[z, mine, z], tally[z, mine].sum(axis=1)
    return right


def _binary(given: np.ndarray, votes: Votes, generator: np.ndarray) -> dict[Key, float]:
    there, passed = given != MISSING, given == 1
    rates: dict[Key, float] = {}
    for i, name in enumerate(votes.generators):
        mine = generator == i
        if there[mine].any():
            rates["pass_rate", "generator", name] = float(passed[mine].sum() / there[mine].sum())
    voted, passes = there.sum(axis=1), passed.sum(axis=1)
    pairs = voted * (voted - 1)
    fails = voted - passes
    if pairs.any():
        agreed = passes * (passes - 1) + fails * (fails - 1)
        rates["agreement", "", ""] = float(agreed.sum() / pairs.sum())
    return rates


def _classes(given: np.ndarray, votes: Votes, generator: np.ndarray) -> dict[Key, float]:
    """Shares of each vote, of all judges together."""
    cast = max(int((given != MISSING).sum()), 1)
    return {
        ("vote_share", "vote", name): float((given == code).sum() / cast)
        for code, name in enumerate(votes.classes)
    }
