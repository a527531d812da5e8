"""How well does a fit foretell an item, or a label, that it has not seen? PSIS-LOO by pattern."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.special import logit, logsumexp

from bayesjudge.core.errors import checking
from bayesjudge.core.fit import Fit
from bayesjudge.core.counting import distinct
from bayesjudge.panel.data import NONE, Votes
from bayesjudge.panel.em import TINY, Problem
from bayesjudge.panel.labelling import chances
from bayesjudge.panel.predictive import logits_of

#: Models that foretell a label from votes, and models that foretell an item's votes as well.
LABEL_MODELS = ("dawid_skene", "correlated", "vote_regression")
ITEM_MODELS = LABEL_MODELS[:2]
#: Draws of each chain that are looked at.
KEPT = 250


@dataclass(frozen=True, eq=False)
class Loo:
    """Expected log predictive density, leaving one item out at a time.

    Parameters
    ----------
    elpd : float
        Summed over items; higher is better.
    se : float
        Standard error of it, from the spread between items.
    p_loo : float
        Effective number of parameters.
    n : int
        Items.
    table : pandas.DataFrame
        One row a pattern: ``row`` of the votes, ``count``, ``elpd`` of one item, ``pareto_k``.
    """

    elpd: float
    se: float
    p_loo: float
    n: int
    table: pd.DataFrame

    @property
    def reliable(self) -> bool:
        """Whether every Pareto k is below 0.7."""
        return bool((self.table["pareto_k"] < 0.7).all())

    def __str__(self) -> str:
        doubt = "" if self.reliable else "; some Pareto k are above 0.7: not to be relied on"
        return f"elpd {self.elpd:.1f} (se {self.se:.1f}) of {self.n} items{doubt}"


def loo(fit: Fit, *, of: Literal["labels", "items"] = "labels") -> Loo:
    r"""Estimate how well a model foretells an item that it has not seen.

    Items with the same votes, generator and truth have the same predictive density, which is
    therefore computed once for each pattern and weighed with its count: as `arviz_stats.loo` does
    for single items, at the cost of patterns.

    Parameters
    ----------
    fit : Fit
        Of ``"dawid_skene"``, ``"correlated"`` or ``"vote_regression"``. Bias pooling sees rates of
        generators, not items: for it, leave generators out with `compare`.
    of : {"labels", "items"}
        ``"labels"``: the truth of a labelled item given its votes, :math:`p(z_i \mid v_i)`; on
        this scale all three models are comparable. ``"items"``: votes and label together,
        :math:`p(v_i, z_i)`, of every item; for the first two models.

    Returns
    -------
    Loo
        With the density and Pareto k of each pattern.

    Raises
    ------
    InputError
        Where it is not defined for the model, or no item is labelled.

    References
    ----------
    Vehtari, Gelman & Gabry (2017), Statistics and Computing 27, 1413-1432.
    """
    import arviz_stats
    import xarray as xr

    log, rows, count = log_likelihood_of(fit, of=of)
    chains = fit.idata["posterior"].sizes["chain"]
    shaped = log.reshape(chains, -1, len(rows))
    tree = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset({"log": (("chain", "draw"), shaped.mean(axis=2))}),
            "log_likelihood": xr.Dataset({"row": (("chain", "draw", "item"), shaped)}),
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a high Pareto k, which is reported with the result
        found = arviz_stats.loo(tree, pointwise=True, reff=1.0)
    each = np.asarray(found.elpd_i)
    n = int(count.sum())
    elpd = float(count @ each)
    spread = count @ (each - elpd / n) ** 2 / max(n - 1, 1)
    full = logsumexp(log, axis=0) - np.log(len(log))
    table = pd.DataFrame(
        {"row": rows, "count": count, "elpd": each, "pareto_k": np.asarray(found.pareto_k)}
    )
    return Loo(elpd, float(np.sqrt(n * spread)), float(count @ full - elpd), n, table)


def log_likelihood_of(
    fit: Fit, *, of: Literal["labels", "items"] = "labels"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log-likelihood of one item of each pattern, draw by draw.

    Parameters
    ----------
    fit : Fit
        As in `loo`.
    of : {"labels", "items"}
        As in `loo`.

    Returns
    -------
    log : numpy.ndarray, shape (n_draws, n_rows)
        Of an evenly spaced part of the draws, chain by chain.
    rows : numpy.ndarray of int, shape (n_rows,)
        Patterns of ``fit.data``.
    count : numpy.ndarray of int, shape (n_rows,)
        Items of each.

    Raises
    ------
    InputError
        As in `loo`.
    """
    votes, model = fit.data, str(fit.options.get("model"))
    known = votes.truth != NONE
    with checking("panel.loo") as require:
        require(of in ("labels", "items"), f"of={of!r}: labels or items")
        require(
            model in (LABEL_MODELS if of == "labels" else ITEM_MODELS),
            f"of={of!r} is not defined for model={model!r}"
            + ("; leave generators out with panel.compare" if model == "bias_pooling" else ""),
        )
        require(of == "items" or known.any(), "no item is labelled")
    rows = np.flatnonzero(known) if of == "labels" else np.arange(len(votes.count))
    if model == "vote_regression":
        chance = np.clip(chances(fit, rows), 1e-12, 1 - 1e-12)
        chance = chance[_spaced(fit, len(chance))]
        log = np.where(votes.truth[rows] == 1, np.log(chance), np.log1p(-chance))
        return log, rows, votes.count[rows]
    joint = _joint(fit, rows)
    truth = votes.truth[rows].astype(int)
    everything = logsumexp(joint, axis=2)
    own = np.take_along_axis(joint, np.maximum(truth, 0)[None, :, None], axis=2)[..., 0]
    if of == "labels":
        return own - everything, rows, votes.count[rows]
    return np.where(truth == NONE, everything, own), rows, votes.count[rows]


def _spaced(fit: Fit, draws: int) -> np.ndarray:
    """Evenly spaced draws, as many of each chain."""
    chains = fit.idata["posterior"].sizes["chain"]
    each = draws // chains
    kept = min(KEPT, each)
    at = ((np.arange(kept) + 0.5) * each / kept).astype(int)
    return (np.arange(chains)[:, None] * each + at).ravel()


def _joint(fit: Fit, rows: np.ndarray) -> np.ndarray:
    """Log probability of votes and class, shape (n_draws, n_rows, n_classes)."""
    votes: Votes = fit.data
    first, place = distinct(votes.votes[rows].astype(np.int64) + 1)
    draws = _spaced(fit, len(fit.draws(fit.quantities[0])))
    given = Problem(votes, fit.options.get("missing", "skip")).given[rows[first]]
    shares, tables, log_weight = _parameters(fit, draws)
    found = np.empty((len(draws), len(rows), votes.n_classes))
    for s, (share, table) in enumerate(zip(shares, tables, strict=True)):
        judges, k, r, nodes = table.shape
        by_node = given @ table.transpose(0, 2, 1, 3).reshape(judges * r, k * nodes)
        by_class = logsumexp(by_node.reshape(-1, k, nodes) + log_weight, axis=2)
        found[s] = by_class[place] + np.log(np.maximum(share, TINY))[votes.generator[rows]]
    return found


def _parameters(fit: Fit, draws: np.ndarray) -> tuple[Any, Iterator[np.ndarray], Any]:
    """Shares; for each draw the log probability of a response by judge, truth and node; weights."""
    if fit.data.n_classes > 2:
        confusion = fit.draws("confusion")[draws]
        tables = (np.log(np.maximum(one, TINY))[..., None] for one in confusion)
        return fit.draws("share")[draws], tables, 0.0
    log_weight: Any = 0.0
    if fit.options["model"] == "correlated":
        points, weights = np.polynomial.hermite_e.hermegauss(fit.options["nodes"])
        log_weight = np.log(np.maximum(weights / weights.sum(), TINY))
        shift = fit.draws("shared_effect")[draws][:, None, :, None] * points
        logits = logits_of(fit)[draws][..., None] + shift
    else:
        rates = np.stack([1 - fit.draws("specificity"), fit.draws("sensitivity")], axis=-1)
        logits = logit(rates[draws])[..., None]
    answering = fit.draws("answering")[draws] if "answering" in fit.idata["posterior"] else None
    g = fit.draws("prevalence")[draws]
    tables = (
        _responses(logits[s], None if answering is None else answering[s])
        for s in range(len(draws))
    )
    return np.stack([1 - g, g], axis=-1), tables, log_weight


def _responses(logits: np.ndarray, answering: np.ndarray | None) -> np.ndarray:
    """Log probability of fail, pass and, where it is modelled, no vote; judge, truth, response."""
    table = np.stack([-np.logaddexp(0, logits), -np.logaddexp(0, -logits)], axis=2)
    if answering is None:
        return table
    there, absent = np.log(answering)[..., None, None], np.log1p(-answering)[..., None, None]
    absent = np.broadcast_to(absent, table[:, :, :1].shape)
    return np.concatenate([table + there, absent], axis=2)
