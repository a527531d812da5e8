"""PSIS-LOO of panel models, computed by vote pattern."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import logsumexp

from bayesjudge.core.errors import checking
from bayesjudge.core.fit import Fit
from bayesjudge.panel._likelihood import log_joint
from bayesjudge.panel.checks import require_identified
from bayesjudge.panel.data import MISSING
from bayesjudge.panel.labelling import chances
from bayesjudge.panel.models._base import PanelModel
from bayesjudge.panel.models.dawid_skene import (
    Correlated,
    DawidSkene,
    MulticlassDawidSkene,
    PooledDawidSkene,
)
from bayesjudge.panel.models.vote_regression import VoteRegression

if TYPE_CHECKING:
    import pandas as pd

#: Models of an item's votes and truth; models that predict a label from votes.
ITEM_MODELS: tuple[type[PanelModel], ...] = (
    *(PooledDawidSkene, DawidSkene, MulticlassDawidSkene, Correlated),
)
LABEL_MODELS = (*ITEM_MODELS, VoteRegression)
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
    """Log-likelihood of one item by draw and pattern; the patterns; their counts."""
    votes, spec = fit.data, fit.spec
    known = votes.truth != MISSING
    if of == "labels":
        require_identified(votes, "predictive_values", "panel.loo")
    with checking("panel.loo") as require:
        require(of in ("labels", "items"), f"of={of!r}: labels or items")
        require(
            isinstance(spec, LABEL_MODELS if of == "labels" else ITEM_MODELS),
            f"of={of!r} is not defined for {type(spec).__name__}"
            + ("" if isinstance(spec, LABEL_MODELS) else "; use panel.cross_validate"),
        )
        require(of == "items" or known.any(), "no item is labelled")
    rows = np.flatnonzero(known) if of == "labels" else np.arange(len(votes.count))
    if isinstance(spec, VoteRegression):
        chance = np.clip(chances(fit, rows), 1e-12, 1 - 1e-12)
        chance = chance[spaced(fit, len(chance))]
        log = np.where(votes.truth[rows] == 1, np.log(chance), np.log1p(-chance))
        return log, rows, votes.count[rows]
    draws = spaced(fit, len(fit.draws(fit.quantities[0])))
    joint = np.stack(list(log_joint(fit, rows, draws)))
    truth = votes.truth[rows].astype(int)
    everything = logsumexp(joint, axis=2)
    own = np.take_along_axis(joint, np.maximum(truth, 0)[None, :, None], axis=2)[..., 0]
    if of == "labels":
        return own - everything, rows, votes.count[rows]
    return np.where(truth == MISSING, everything, own), rows, votes.count[rows]


def spaced(fit: Fit, draws: int) -> np.ndarray:
    """Evenly spaced draws, as many of each chain."""
    chains = fit.idata["posterior"].sizes["chain"]
    each = draws // chains
    kept = min(KEPT, each)
    at = ((np.arange(kept) + 0.5) * each / kept).astype(int)
    return (np.arange(chains)[:, None] * each + at).ravel()
