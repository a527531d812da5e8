"""PSIS-LOO of panel models, computed by vote pattern."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import logsumexp

from bayesjudge.core.errors import checking
from bayesjudge.core.fit import Fit
from bayesjudge.panel.checks import require_identified
from bayesjudge.panel.data import MISSING
from bayesjudge.panel.model import model_of_items
from bayesjudge.truth.likelihood import some_draws

if TYPE_CHECKING:
    import pandas as pd

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
        One row per pattern: ``row`` of the votes, ``count``, ``elpd`` of one item, ``pareto_k``.
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
    r"""Estimate how well a model predicts an item that it has not seen.

    Items with the same votes, generator and truth have the same predictive density, which is
    therefore computed once for each pattern and weighed with its count: as `arviz_stats.loo` does
    for single items, at the cost of patterns.

    Parameters
    ----------
    fit : Fit
        Of a Dawid-Skene model, `Correlated` or `VoteRegression`. `BiasPooling` sees rates of
        generators, not items: for it, leave generators out with `cross_validate`.
    of : {"labels", "items"}
        ``"labels"``: the truth of a labelled item given its votes, :math:`p(z_i \mid v_i)`; on
        this scale all models are comparable. ``"items"``: votes and label together,
        :math:`p(v_i, z_i)`, of every item; for all but `VoteRegression`.

    Returns
    -------
    Loo
        With the density and Pareto k of each pattern.

    Raises
    ------
    InputError
        If it is not defined for the model, or no item is labelled.

    References
    ----------
    Vehtari, Gelman & Gabry (2017), Statistics and Computing 27, 1413-1432.
    """
    import arviz_stats
    import pandas as pd
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
        result = arviz_stats.loo(tree, pointwise=True, reff=1.0)
    each = np.asarray(result.elpd_i)
    n = int(count.sum())
    elpd = float(count @ each)
    spread = count @ (each - elpd / n) ** 2 / max(n - 1, 1)
    full = logsumexp(log, axis=0) - np.log(len(log))
    table = pd.DataFrame(
        {"row": rows, "count": count, "elpd": each, "pareto_k": np.asarray(result.pareto_k)}
    )
    return Loo(elpd, float(np.sqrt(n * spread)), float(count @ full - elpd), n, table)


def log_likelihood_of(
    fit: Fit, *, of: Literal["labels", "items"] = "labels"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log-likelihood of one item by draw and pattern; the patterns; their counts."""
    votes, spec = fit.data, model_of_items(fit, "loo")
    known = votes.truth != MISSING
    if of == "labels":
        require_identified(votes, "predictive_values", "panel.loo")
    with checking("panel.loo") as require:
        require(of in ("labels", "items"), "must be labels or items", of=of)
        of_votes = of == "labels" or hasattr(spec, "_log_joint")
        require(of_votes, "not-defined", of=of, kind=type(spec).__name__)
        require(of == "items" or known.any(), "no item is labelled")
    rows = np.flatnonzero(known) if of == "labels" else np.arange(len(votes.count))
    draws, truth = some_draws(fit, spaced(fit)), votes.truth[rows].astype(int)
    at = np.maximum(truth, 0)[None, :, None]
    if of == "labels":
        chance = spec._truth_given_votes(votes, draws, rows)
        at_truth = np.take_along_axis(chance, at, axis=2)[..., 0]
        return np.log(np.clip(at_truth, 1e-12, 1 - 1e-12)), rows, votes.count[rows]
    joint = np.concatenate(list(spec._log_joint(votes, draws, rows)))
    at_truth = np.take_along_axis(joint, at, axis=2)[..., 0]
    log = np.where(truth == MISSING, logsumexp(joint, axis=2), at_truth)
    return log, rows, votes.count[rows]


def spaced(fit: Fit) -> np.ndarray:
    """Evenly spaced draws, as many of each chain."""
    posterior = fit.idata["posterior"]
    chains, each = posterior.sizes["chain"], posterior.sizes["draw"]
    kept = min(KEPT, each)
    at = ((np.arange(kept) + 0.5) * each / kept).astype(int)
    return (np.arange(chains)[:, None] * each + at).ravel()
