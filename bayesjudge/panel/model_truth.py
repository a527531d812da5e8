"""Truth given votes: a logistic regression on labelled items predicts the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesjudge.core.counting import collapse
from bayesjudge.panel.data import NONE, Votes
from bayesjudge.panel.logistic import vote_scores
from bayesjudge.panel.priors import Priors


def build(votes: Votes, priors: Priors) -> None:
    """Add the model to the PyMC model that is open.

    Parameters
    ----------
    votes : Votes
        With two classes, some items labelled.
    priors : Priors
        Of the unknowns.
    """
    import pymc as pm
    import pytensor.tensor as pt

    def prior(name: str, values: Any) -> tuple[Any, ...]:
        data = pm.Data(f"{name}_prior", np.atleast_1d(np.asarray(values, dtype=float)))
        return tuple(data[i] for i in range(np.size(values)))

    score = vote_scores(votes)
    outset = pm.Normal("outset", *prior("outset", tuple(priors.outset)))
    spread = pm.HalfNormal(
        "generator_spread", prior("generator_spread", priors.generator_spread)[0]
    )
    own = pm.Normal("generator_own", dims="generator")
    weight = pm.Normal("vote_weight_mean", *prior("vote_weight", tuple(priors.vote_weight)))
    differ = pm.HalfNormal("judge_spread", prior("judge_spread", priors.judge_spread)[0])
    judge_own = pm.Normal("judge_own", dims="judge")
    slopes = pm.Deterministic("vote_weight", weight + differ * judge_own, dims="judge")
    level = outset + spread * own

    rows, n, good = labelled_cells(votes)
    x = pm.Data("labelled_score", score[rows])
    at = pm.Data("generator_of_labels", votes.generator[rows].astype("int32"))
    total = pm.Data("labelled_n", n.astype(float))
    seen = pm.Data("labelled_good_seen", good.astype(float))
    pm.Binomial(
        "labelled_good", total.astype("int64"), logit_p=level[at] + x @ slopes, observed=seen
    )

    # the truths of unlabelled items are summed to a share; its error is drawn with the rest
    open_ = np.flatnonzero(votes.truth == NONE)
    size = len(votes.generators)
    known = np.bincount(votes.generator, votes.count * (votes.truth == 1), size)
    items = pm.Data("items", votes.items.astype(float))
    fixed = pm.Data("known_good", known)
    luck = pm.Normal("luck", dims="generator")
    expected, variance = fixed, pt.zeros(size)
    if open_.size:
        x = pm.Data("open_score", score[open_])
        at = pm.Data("generator_of_open", votes.generator[open_].astype("int32"))
        count = pm.Data("open_count", votes.count[open_].astype(float))
        chance = pm.math.sigmoid(level[at] + x @ slopes)
        expected = pt.inc_subtensor(pt.zeros(size)[at], count * chance) + fixed
        variance = pt.inc_subtensor(pt.zeros(size)[at], count * chance * (1 - chance))
    share = (expected + luck * pt.sqrt(variance + 1e-12)) / items
    pm.Deterministic("prevalence", pt.clip(share, fixed / items, 1), dims="generator")


def labelled_cells(votes: Votes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labelled patterns, whatever the truth was, with how many there are and how many are good.

    Parameters
    ----------
    votes : Votes
        With two classes.

    Returns
    -------
    rows, n, good : numpy.ndarray
        A row of `votes` that has the pattern, items, and good items.
    """
    known = np.flatnonzero(votes.truth != NONE)
    keys = np.column_stack([votes.generator[known], votes.votes[known].astype(np.int64) + 1])
    first, n = collapse(keys, votes.count[known])
    index = {tuple(keys[i]): place for place, i in enumerate(first)}
    good = np.zeros(len(first), np.int64)
    for key, row in zip(keys, known, strict=True):
        good[index[tuple(key)]] += votes.count[row] * votes.truth[row]
    return known[first], n, good
