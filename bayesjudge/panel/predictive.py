"""Checks of a sampled model: do its draws reproduce the votes, and is its integral exact?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, logsumexp

from bayesjudge.core.errors import checking
from bayesjudge.core.fit import Fit
from bayesjudge.core.estimate import Caution
from bayesjudge.panel.checks import correlate
from bayesjudge.panel.data import NONE, Votes

#: Doubling the nodes must not change the log-likelihood by more than this.
NODE_TOLERANCE = 0.1
#: Rows that a predictive check simulates at most; of a longer table it takes a random sample.
MOST_ITEMS = 5000


def dependence_check(fit: Fit, *, replicates: int = 200, random_seed: Any = None) -> pd.DataFrame:
    """Compare how the judges' votes hang together with what the model expects.

    The statistic is the mean correlation of two judges' votes: among items that people call bad,
    among those they call good, and among all. Given the truth, a model with independent errors
    expects none. Votes are drawn anew for the same items, with the same votes missing; the truth
    of an unlabelled item is drawn with them.

    Parameters
    ----------
    fit : Fit
        From `fit` with ``model="dawid_skene"`` or ``"correlated"``, of two classes.
    replicates : int, default 200
        Posterior draws to simulate from.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        Index ``items`` ("bad", "good", "all"); ``observed`` and ``expected`` mean correlation, the
        95 % range ``low`` and ``high`` of the expected, ``p_value``: the share of replicates that
        reach the observed, and ``rejected``. Where no two judges' votes vary there is no
        correlation: ``nan``, and no rejection; replicates without one are left out.

    Raises
    ------
    InputError
        Where the fit is of another model.
    """
    votes, model = fit.data, fit.options.get("model")
    with checking("panel.dependence_check") as require:
        require(
            model in ("dawid_skene", "correlated") and votes.n_classes == 2,
            f"needs a fit with model='dawid_skene' or 'correlated' of two classes, got {model!r}",
        )
        require(replicates >= 20, f"replicates={replicates}, at least 20 are needed")
    rng = np.random.default_rng(random_seed)
    given, truth, generator = expanded(votes, rng)
    observed = _statistics(given, truth)
    posterior = {name: fit.draws(name) for name in ("prevalence", "sensitivity", "specificity")}
    if model == "correlated":
        posterior |= {"effect": fit.draws("shared_effect"), "logits": logits_of(fit)}
    size = len(posterior["prevalence"])
    drawn = []
    for s in rng.choice(size, replicates, replace=size < replicates):
        draw = {name: values[s] for name, values in posterior.items()}
        drawn.append(_statistics(replicate(draw, given, truth, generator, rng), truth))
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


def logits_of(fit: Fit) -> np.ndarray:
    """Logit of a pass by judge and truth for each draw, where judges are alike.

    Parameters
    ----------
    fit : Fit
        With judges drawn from a population.

    Returns
    -------
    numpy.ndarray, shape (n_draws, n_judges, 2)
        For an item on which the shared effect is 0.
    """
    return logits_from({name: fit.draws(name) for name in ("discrimination", "leaning")})


def logits_from(draws: Mapping[str, np.ndarray]) -> np.ndarray:
    """Logit of a pass by judge and truth from what describes judges that are alike.

    Parameters
    ----------
    draws : mapping of str to numpy.ndarray
        ``discrimination`` (its logarithm) and ``leaning``, shape (n_draws, n_judges).

    Returns
    -------
    numpy.ndarray, shape (n_draws, n_judges, 2)
        As of `logits_of`.
    """
    half = np.exp(draws["discrimination"]) / 2
    return np.stack([draws["leaning"] - half, draws["leaning"] + half], axis=-1)


def quadrature_cautions(fit: Fit) -> tuple[Caution, ...]:
    """Double the nodes of the quadrature, and see whether the log-likelihood changes.

    Parameters
    ----------
    fit : Fit
        With ``model="correlated"``.

    Returns
    -------
    tuple of Caution
        Empty, or one ``too-few-nodes``.
    """
    nodes = fit.options["nodes"]
    effects = fit.draws("shared_effect")
    # the draw with the largest effect is the hardest to integrate
    s = int(np.argmax(effects.max(axis=1)))
    draw = (logits_of(fit)[s], effects[s], fit.draws("prevalence")[s])
    once, twice = (log_likelihood(fit.data, *draw, n) for n in (nodes, 2 * nodes))
    if abs(once - twice) <= NODE_TOLERANCE:
        return ()
    text = (
        f"with {2 * nodes} instead of {nodes} nodes the log-likelihood changes by "
        f"{abs(once - twice):.2f} where the shared effect is largest "
        f"({effects[s].max():.1f}); fit again with nodes={2 * nodes}"
    )
    return (Caution("too-few-nodes", text),)


def log_likelihood(
    votes: Votes, logits: np.ndarray, effect: np.ndarray, prevalence: np.ndarray, nodes: int
) -> float:
    """Log-likelihood of the model with a shared effect, in NumPy.

    Parameters
    ----------
    votes : Votes
        With two classes; missing votes are skipped.
    logits : numpy.ndarray, shape (n_judges, 2)
        Logit of a pass, on bad and on good items.
    effect : numpy.ndarray, shape (2,)
        Standard deviation of the shared effect.
    prevalence : numpy.ndarray, shape (n_generators,)
        Share of good items.
    nodes : int
        Points of the quadrature.

    Returns
    -------
    float
        Summed over items.
    """
    points, weights = np.polynomial.hermite_e.hermegauss(nodes)
    # the smallest weights of many nodes are 0 in floating point, and may be
    with np.errstate(divide="ignore"):
        log_weight = np.log(weights / weights.sum())
    at = logits[:, :, None] + effect[:, None] * points
    passed = (votes.votes == 1).astype(float)
    failed = (votes.votes == 0).astype(float)
    judge = votes.judge_of_column
    log_share = np.stack([np.log1p(-prevalence), np.log(prevalence)], axis=1)[votes.generator]
    by_class = []
    for truth in (0, 1):
        up, down = -np.logaddexp(0, -at[judge, truth]), -np.logaddexp(0, at[judge, truth])
        joint = logsumexp(passed @ up + failed @ down + log_weight, axis=1)
        denied = (votes.truth != NONE) & (votes.truth != truth)
        by_class.append(np.where(denied, -np.inf, joint + log_share[:, truth]))
    return float(np.logaddexp(*by_class) @ votes.count)


def expanded(votes: Votes, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Write one row an item, of the first vote of each judge.

    Parameters
    ----------
    votes : Votes
        With two classes.
    rng : numpy.random.Generator
        Chooses the items, where there are too many.

    Returns
    -------
    given : numpy.ndarray, shape (n_items, n_judges)
        Votes.
    truth, generator : numpy.ndarray, shape (n_items,)
        Of each item.
    """
    first = [int(np.argmax(votes.judge_of_column == j)) for j in range(len(votes.judges))]
    rows = np.repeat(np.arange(len(votes.count)), votes.count)
    if rows.size > MOST_ITEMS:
        rows = rng.choice(rows, MOST_ITEMS, replace=False)
    return votes.votes[rows][:, first], votes.truth[rows], votes.generator[rows]


def _statistics(given: np.ndarray, truth: np.ndarray) -> dict[str, float]:
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
    """Draw votes anew for the same items, with the same votes missing.

    Parameters
    ----------
    draw : dict of str to numpy.ndarray
        ``prevalence``, ``sensitivity`` and ``specificity``; or ``effect`` and ``logits``.
    given : numpy.ndarray, shape (n_items, n_judges)
        Votes; where one is missing, none is drawn.
    truth, generator : numpy.ndarray, shape (n_items,)
        Of each item; an unknown truth is drawn.
    rng : numpy.random.Generator
        Of the draws.

    Returns
    -------
    numpy.ndarray, shape (n_items, n_judges)
        Votes.
    """
    good = np.where(truth == NONE, rng.random(len(truth)) < draw["prevalence"][generator], truth)
    if "effect" in draw:
        shift = rng.standard_normal(len(truth)) * draw["effect"][good.astype(int)]
        chance = expit(draw["logits"].T[good.astype(int)] + shift[:, None])
    else:
        rates = np.stack([1 - draw["specificity"], draw["sensitivity"]])
        chance = rates[good.astype(int)]
    passed = (rng.random(chance.shape) < chance).astype(np.int8)
    return np.where(given == NONE, NONE, passed)
