"""The hierarchical model: a cumulative logit with effects of items, judges and both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.core.fit import Fit
from bayesjudge.repeats.checks import cautions_of
from bayesjudge.repeats.data import Scores
from bayesjudge.repeats.model_scale import cutpoints_of, derive

if TYPE_CHECKING:
    import pymc as pm

SOURCE = (
    "cumulative logit with random effects (McCullagh 1980; Agresti, Analysis of Ordinal "
    "Categorical Data, chapter 10)"
)
DRAWN = "judges are a sample of the judges that could have been asked, items of the items"
NORMAL = "effects are normal on the logit scale, and shift all thresholds alike"
ALIKE = "given item and judge, answers are exchangeable"
#: Effects that the data show this clearly (an F ratio) are sampled as they are, others as
#: multiples of their standard deviation: the same posterior, in the shape that NUTS likes better.
CLEAR = 5.0


@dataclass(frozen=True)
class Priors:
    """One prior for each unknown.

    Parameters
    ----------
    concentration : float, default 1
        Dirichlet weight of each value's share, for the average of the items and judges at hand.
    item_scale, judge_scale, item_judge_scale : float, default 5, 2, 1
        Scales of the half-normal priors of the effects' standard deviations, on the logit scale. A
        standard logistic variable has standard deviation 1.8: effects are measured against the
        noise of one answer, so that items of a steady judge are many units apart.

    Raises
    ------
    InputError
        Where a parameter is not positive.

    Examples
    --------
    >>> print(Priors(judge_scale=1))
    shares Dirichlet(1), item sd N+(0, 5), judge sd N+(0, 1), item x judge sd N+(0, 1)
    """

    concentration: float = 1.0
    item_scale: float = 5.0
    judge_scale: float = 2.0
    item_judge_scale: float = 1.0

    def __post_init__(self) -> None:
        with checking("repeats.Priors") as require:
            for name, value in vars(self).items():
                require(0 < value < np.inf, f"{name} must be positive and finite, got {value!r}")

    def __str__(self) -> str:
        return (
            f"shares Dirichlet({self.concentration:g}), item sd N+(0, {self.item_scale:g}), "
            f"judge sd N+(0, {self.judge_scale:g}), item x judge sd N+(0, "
            f"{self.item_judge_scale:g})"
        )


def build_model(scores: Scores, priors: Priors = Priors()) -> pm.Model:
    r"""Build the model without sampling it.

    A score exceeds the k-th value with probability :math:`\sigma(a_i + b_j + c_{ij} - \tau_k)`,
    with normal effects a of items, b of judges and c of their combinations, each left out where
    the design cannot show it, and thresholds :math:`\tau` from the shares of the values for the
    average of the items and judges at hand, which lies off the average of all items and judges by
    a normal offset.

    Parameters
    ----------
    scores : Scores
        Counts; items and judges may lack some combinations, but there must be several items or
        several judges.
    priors : Priors, default ``Priors()``
        One for each unknown.

    Returns
    -------
    pymc.Model
        Unknowns ``value_share`` (value), ``item_scale``, ``judge_scale``, ``item_judge_scale`` on
        the logit scale. Derived, on the scale of the scores: ``mean_score`` over items and judges,
        ``item_score`` (item) over judges, ``item_sd``, ``judge_sd``, ``item_judge_sd``,
        ``repeat_sd``, and ``effective_repeats`` of the panel for one item. Observed: ``given``
        (cell, value), for the cells that have a score.

    Raises
    ------
    InputError
        Where there is one item and one judge; `exact` has their answer.

    References
    ----------
    McCullagh (1980), J. R. Stat. Soc. B 42, 109-142.
    """
    import pymc as pm

    n_items, n_judges = len(scores.items), len(scores.judges)
    with checking("repeats.build_model") as require:
        require(n_items + n_judges > 2, "one item and one judge have no effects; use exact")
    at = np.nonzero(scores.repeats)
    names = [f"{scores.items[i]}, {scores.judges[j]}" for i, j in zip(*at, strict=True)]
    coords = {"item": scores.items, "judge": scores.judges, "cell": names, "value": scores.scale}
    with pm.Model(coords=coords) as model:
        weights = np.full(len(scores.scale), priors.concentration)
        share = pm.Dirichlet("value_share", pm.Data("value_prior", weights), dims="value")
        eta, scales = _effects(scores, priors, at)
        counts = pm.Data("counts", scores.counts[at].astype(float), dims=("cell", "value"))
        pm.CustomDist(
            "given",
            counts.sum(axis=1),
            eta,
            share,
            logp=_log_likelihood,
            dist=_drawn,
            signature="(),(),(v)->(v)",
            observed=counts,
            dims=("cell", "value"),
        )
        derive(scores, cutpoints_of(share), scales)
    return model


def fit(
    scores: Scores, priors: Priors = Priors(), *, random_seed: Any = None, **sampling: Any
) -> Fit:
    """Sample the posterior.

    Parameters
    ----------
    scores : Scores
        Counts of several items or several judges.
    priors : Priors, default ``Priors()``
        One for each unknown.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same draws.
    **sampling
        Settings of `bayesjudge.core.sampling.sample`.

    Returns
    -------
    Fit
        Answers the quantities of `anova`.
    """
    from bayesjudge.core.sampling import sample

    return sample(
        build_model(scores, priors),
        data=scores,
        priors=priors,
        quantities=_quantities(scores),
        room="repeats",
        method="Ordinal random effects (NUTS)",
        source=SOURCE,
        assumptions=(DRAWN, NORMAL, ALIKE, f"priors: {priors}"),
        cautions=cautions_of(scores),
        random_seed=random_seed,
        **sampling,
    )


def _quantities(scores: Scores) -> tuple[str, ...]:
    several_items, several_judges = len(scores.items) > 1, len(scores.judges) > 1
    wanted = {
        "mean_score": True,
        "item_score": several_items,
        "item_sd": several_items,
        "judge_sd": several_judges,
        "item_judge_sd": several_items and several_judges,
        "repeat_sd": True,
        "effective_repeats": several_judges,
    }
    return tuple(name for name, there in wanted.items() if there)


def _effects(scores: Scores, priors: Priors, at: tuple[np.ndarray, ...]) -> tuple[Any, dict]:
    """Sum of the effects in each cell with scores, and what the effects' scales are."""
    import pymc as pm

    model = pm.modelcontext(None)
    clear = _clear(scores)
    eta: Any = 0.0
    scales: dict[str, Any] = {}
    dims = {"item": at[0], "judge": at[1], "item_judge": slice(None)}
    for name, where in dims.items():
        if not _quantities_has(scores, name):
            continue
        prior = pm.Data(f"{name}_prior", np.array(getattr(priors, f"{name}_scale")))
        scale = scales[name] = pm.HalfNormal(f"{name}_scale", prior)
        if name == "item_judge":
            eta = eta + scale * pm.Normal("item_judge_unit", dims="cell")
            continue
        if clear[name]:
            apart = pm.ZeroSumNormal(f"{name}_effect", scale, dims=name)
        else:
            unit = pm.ZeroSumNormal(f"{name}_unit", dims=name)
            apart = pm.Deterministic(f"{name}_effect", scale * unit, dims=name)
        # what normal effects have beside their differences: how far the average of those at hand
        # lies from the average of all that could have been drawn. The data say nothing of it.
        size = pm.Data(f"{name}_number", np.array(float(len(model.coords[name]))))
        scales[f"{name}_offset"] = scale / np.sqrt(size) * pm.Normal(f"{name}_offset")
        scales[f"{name}_effect"] = apart
        eta = eta + apart[where]
    return eta, scales


def _quantities_has(scores: Scores, name: str) -> bool:
    return f"{name}_sd" in _quantities(scores)


def _clear(scores: Scores) -> dict[str, bool]:
    """Whether the data show an effect clearly, by the F ratio of a rough analysis of variance."""
    n = scores.repeats
    filled = n > 0
    means = np.where(filled, scores.means, 0.0)
    noise = scores.deviations.sum() / max(int((n - filled).sum()), 1) + 1e-9

    def ratio(axis: int) -> float:
        held = n.sum(axis=axis)
        level = (means * n).sum(axis=axis)[held > 0] / held[held > 0]
        return float(level.var() * np.median(held[held > 0]) / noise)

    return {"item": ratio(1) > CLEAR, "judge": ratio(0) > CLEAR, "item_judge": False}


def _log_likelihood(counts: Any, _n: Any, eta: Any, share: Any) -> Any:
    """Multinomial log-probability, without its constant, of the counts of one cell.

    With logistic functions on both sides of a threshold, log(s(a) - s(b)) is
    log s(a) + log s(-b) + log(1 - exp(b - a)): nothing cancels in the tails.
    """
    import pytensor.tensor as pt

    cuts = cutpoints_of(share)
    z = cuts - eta[..., None]
    log_below, log_above = -pt.softplus(-z), -pt.softplus(z)
    gaps = pt.log1mexp(-(cuts[..., 1:] - cuts[..., :-1]))
    ends = (counts[..., :-1] * log_below).sum(-1) + (counts[..., 1:] * log_above).sum(-1)
    return ends + (counts[..., 1:-1] * gaps).sum(-1)


def _drawn(n: Any, eta: Any, share: Any, size: Any = None) -> Any:
    """Draw counts of cells, for the predictive groups."""
    import pymc as pm
    import pytensor.tensor as pt

    above = pt.sigmoid(eta[..., None] - cutpoints_of(share))
    all_of_them = pt.ones_like(above[..., :1])
    edges = pt.concatenate([all_of_them, above, 0 * all_of_them], axis=-1)
    return pm.Multinomial.dist(n.astype("int64"), edges[..., :-1] - edges[..., 1:], size=size)
