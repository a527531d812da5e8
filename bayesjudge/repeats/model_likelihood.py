"""Likelihood of the hierarchical model: counts of cells, within PyMC."""

from __future__ import annotations

from typing import Any

from bayesjudge.repeats.model_cutpoints import stretched
from bayesjudge.repeats.model_scale import cutpoints_of


def observe(counts: Any, eta: Any, share: Any, stretch: Any = None) -> None:
    """Add ``given``, the counts of all cells, to the model.

    Parameters
    ----------
    counts : tensor, shape (n_cells, n_values)
        What was seen.
    eta : tensor, shape (n_cells,)
        Sum of the effects.
    share : tensor, shape (n_values,)
        Of the average judge.
    stretch : tensor, shape (n_cells, n_values - 2), optional
        Of each cell's judge, where judges have thresholds of their own.
    """
    import pymc as pm

    seen = {"observed": counts, "dims": ("cell", "value")}
    about: tuple[Any, ...] = (counts.sum(axis=1), eta, share)
    if stretch is None:
        signature, functions = "(),(),(v)->(v)", {"logp": _log_likelihood, "dist": _drawn}
    else:
        about = (*about, stretch)
        signature = "(),(),(v),(g)->(v)"
        functions = {"logp": _log_likelihood_own, "dist": _drawn_own}
    pm.CustomDist("given", *about, **functions, signature=signature, **seen)


def _log_likelihood(counts: Any, _n: Any, eta: Any, share: Any) -> Any:
    """Multinomial log-probability, without its constant, of the counts of one cell."""
    return _log_probability(counts, eta, cutpoints_of(share))


def _log_likelihood_own(counts: Any, _n: Any, eta: Any, share: Any, stretch: Any) -> Any:
    """Compute the same with thresholds of the cell's judge."""
    return _log_probability(counts, eta, stretched(share, stretch))


def _log_probability(counts: Any, eta: Any, cuts: Any) -> Any:
    # with logistic functions on both sides of a threshold, log(s(a) - s(b)) is
    # log s(a) + log s(-b) + log(1 - exp(b - a)): nothing cancels in the tails
    import pytensor.tensor as pt

    z = cuts - eta[..., None]
    log_below, log_above = -pt.softplus(-z), -pt.softplus(z)
    gaps = pt.log1mexp(-(cuts[..., 1:] - cuts[..., :-1]))
    ends = (counts[..., :-1] * log_below).sum(-1) + (counts[..., 1:] * log_above).sum(-1)
    return ends + (counts[..., 1:-1] * gaps).sum(-1)


def _drawn(n: Any, eta: Any, share: Any, size: Any = None) -> Any:
    """Draw counts of cells, for the predictive groups."""
    return _answers(n, eta, cutpoints_of(share), size)


def _drawn_own(n: Any, eta: Any, share: Any, stretch: Any, size: Any = None) -> Any:
    """Draw counts of cells whose judges have thresholds of their own."""
    return _answers(n, eta, stretched(share, stretch), size)


def _answers(n: Any, eta: Any, cuts: Any, size: Any) -> Any:
    import pymc as pm
    import pytensor.tensor as pt

    above = pt.sigmoid(eta[..., None] - cuts)
    all_of_them = pt.ones_like(above[..., :1])
    edges = pt.concatenate([all_of_them, above, 0 * all_of_them], axis=-1)
    return pm.Multinomial.dist(n.astype("int64"), edges[..., :-1] - edges[..., 1:], size=size)
