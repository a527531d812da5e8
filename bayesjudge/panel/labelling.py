"""Items to label next: those whose truth says most about a generator's prevalence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesjudge.core.errors import checking, expect
from bayesjudge.core.fit import Fit
from bayesjudge.panel.data import MISSING, Votes
from bayesjudge.panel.model import model_of_items
from bayesjudge.truth.likelihood import some_draws

if TYPE_CHECKING:
    import pandas as pd


#: Posterior draws that the ranking looks at; more change it little.
DRAWS = 2000


def chances(fit: Fit, rows: np.ndarray) -> np.ndarray:
    """Probability that items are good given their votes, by draw and pattern."""
    spec = model_of_items(fit, "label_next")
    posterior = fit.idata["posterior"]
    total = posterior.sizes["chain"] * posterior.sizes["draw"]
    draws = some_draws(fit, np.arange(0, total, max(total // DRAWS, 1)))
    return spec._truth_given_votes(fit.data, draws, rows)[..., 1]


def label_next(fit: Fit, generator: str, n: int = 20) -> pd.DataFrame:
    r"""Rank unlabelled items by how much their truth is expected to tell.

    The truth of an item is worth the reduction of the variance of the generator's prevalence that
    it is expected to bring,

    .. math:: \operatorname{Cov}(g, z)^2 / \operatorname{Var}(z),

    which is exact for one item, since a truth has two values. Items are chosen one after another,
    each given those before it, so that a batch is not twenty times the same pattern.

    The chosen items are not a random sample. `difference` must not be used on them, and the models'
    answers then rest on their form, since few labels are left to correct it: on the panel of
    `bayesjudge.datasets.code_feedback` chosen labels lead to smaller errors than random ones up to
    about 100 labels, and to larger ones from 120 on, where 90 % intervals cover 65 %
    (benchmarks/panel/labels.py). Choose the first labels this way, and draw the later ones at
    random.

    Parameters
    ----------
    fit : Fit
        Of a model that says what is true of single items: all of this package but `BiasPooling`,
        of two classes.
    generator : str
        Whose prevalence is wanted. Its own unlabelled items are ranked.
    n : int, default 20
        How many items to choose.

    Returns
    -------
    pandas.DataFrame
        One row per item, the first to label first: ``chance`` that it is good, ``gain`` (the share
        of the prevalence's variance that it is expected to remove), and the votes, one column per
        judge, by which to find such an item in the table.

    Raises
    ------
    InputError
        If there is no such generator, all its items are labelled, or the fit is of another model.
    """
    import pandas as pd

    votes: Votes = fit.data
    with checking("panel.label_next") as require:
        require(generator in votes.generators, f"no generator {generator!r}: {votes.generators}")
        require(n >= 1, f"n={n}, expected 1 or more")
        require(votes.n_classes == 2, f"needs pass and fail, got {votes.n_classes} classes")
    index = list(votes.generators).index(generator)
    rows = np.flatnonzero((votes.generator == index) & (votes.truth == MISSING))
    expect("panel.label_next", rows.size, f"every item of {generator!r} is labelled")
    chosen, gains, chance = _choose(chances(fit, rows), votes.count[rows], votes.items[index], n)
    table = pd.DataFrame({"chance": chance[chosen], "gain": gains})
    names = [votes.judges[j] for j in votes.judge_of_column]
    for column, name in enumerate(names):
        codes = votes.votes[rows[chosen], column].astype(float)
        table[name] = np.where(codes == MISSING, np.nan, codes)
    return table


def _choose(
    p: np.ndarray, count: np.ndarray, items: int, n: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Choose greedily: patterns (as often as they have items), gains, and chances."""
    mean = p.mean(axis=0)
    centred = p - mean
    covariance = centred.T @ centred / len(p)
    alone = (p * (1 - p)).mean(axis=0)
    with_target = covariance @ count / items + alone / items
    total = float(count @ covariance @ count + count @ alone) / items**2
    left = count.copy()
    chosen, gains = [], []
    for _ in range(min(n, int(count.sum()))):
        variance = np.maximum(np.diag(covariance), 0) + alone
        gain = np.where(left > 0, with_target**2 / np.maximum(variance, 1e-15), -1.0)
        best = int(np.argmax(gain))
        chosen.append(best)
        gains.append(gain[best] / total)
        left[best] -= 1
        seen = covariance[best].copy()
        with_target = with_target - seen * with_target[best] / variance[best]
        covariance = covariance - np.outer(seen, seen) / variance[best]
    return np.array(chosen), np.array(gains), mean
