"""The hierarchical model: a cumulative logit with effects of items, judges and both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.core.fit import Fit
from bayesjudge.repeats.checks import cautions_of
from bayesjudge.repeats.data import Scores
from bayesjudge.repeats.model_cutpoints import (
    check_cutpoints,
    derive_by_judge,
    stretches,
)
from bayesjudge.repeats.model_likelihood import observe
from bayesjudge.repeats.model_scale import cutpoints_of, derive

if TYPE_CHECKING:
    import pymc as pm

SOURCE = (
    "cumulative logit with random effects (McCullagh 1980; Agresti, Analysis of Ordinal "
    "Categorical Data, chapter 10)"
)
DRAWN = "judges are a sample of the judges that could have been asked, items of the items"
NORMAL = "effects are normal on the logit scale, and shift all thresholds alike"
OWN_CUTS = (
    "effects are normal on the logit scale, and so are the logarithms of the judges' gaps between "
    "thresholds"
)
ALIKE = "given item and judge, answers are exchangeable"
Cutpoints = Literal["shared", "by_judge"]
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
    cutpoint_scale : float, default 0.5
        The same for the logarithms of the gaps between thresholds, where each judge has its own: a
        standard deviation of 0.5 makes gaps 1.6 times as wide or narrow.

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
    cutpoint_scale: float = 0.5

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


def build_model(
    scores: Scores, priors: Priors = Priors(), *, cutpoints: Cutpoints = "shared"
) -> pm.Model:
    r"""Build the model without sampling it.

    A score exceeds the k-th value with probability :math:`\sigma(a_i + b_j + c_{ij} - \tau_k)`,
    with normal effects a of items, b of judges and c of their combinations, each left out where
    the design cannot show it, and thresholds :math:`\tau` from the shares of the values for the
    average of the items and judges at hand, which lies off the average of all items and judges by
    a normal offset.

    With cutpoints of their own, judges differ in how wide a stretch of the latent scale each value
    takes, too: the gaps between thresholds are :math:`e^{s_{jk}}` times those of the average
    judge, s normal, the thresholds' mean staying where it is (`model_cutpoints.stretched`).

    Parameters
    ----------
    scores : Scores
        Counts; items and judges may lack some combinations, but there must be several items or
        several judges.
    priors : Priors, default ``Priors()``
        One for each unknown.
    cutpoints : {"shared", "by_judge"}
        Whether judges have the same thresholds, or their own, partially pooled.

    Returns
    -------
    pymc.Model
        Unknowns ``value_share`` (value), ``item_scale``, ``judge_scale``, ``item_judge_scale`` on
        the logit scale, and ``cutpoint_scale``, ``judge_cutpoint`` (judge, step) where judges have
        their own. Derived, on the scale of the scores: ``mean_score`` over items and judges,
        ``item_score`` (item) over judges, ``item_sd``, ``judge_sd``, ``item_judge_sd``,
        ``repeat_sd``, and ``effective_repeats`` of the panel for one item. Observed: ``given``
        (cell, value), for the cells that have a score.

    Raises
    ------
    InputError
        Where there is one item and one judge; `exact` has their answer. Where one judge, or a scale
        of two values, is to have cutpoints by judge.

    References
    ----------
    McCullagh (1980), J. R. Stat. Soc. B 42, 109-142.
    """
    import pymc as pm

    n_items, n_judges = len(scores.items), len(scores.judges)
    with checking("repeats.build_model") as require:
        require(n_items + n_judges > 2, "one item and one judge have no effects; use exact")
    check_cutpoints(scores, cutpoints)
    at = np.nonzero(scores.repeats)
    names = [f"{scores.items[i]}, {scores.judges[j]}" for i, j in zip(*at, strict=True)]
    coords = {"item": scores.items, "judge": scores.judges, "cell": names, "value": scores.scale}
    with pm.Model(coords=coords) as model:
        weights = np.full(len(scores.scale), priors.concentration)
        share = pm.Dirichlet("value_share", pm.Data("value_prior", weights), dims="value")
        eta, scales = _effects(scores, priors, at)
        counts = pm.Data("counts", scores.counts[at].astype(float), dims=("cell", "value"))
        stretch = None
        if cutpoints == "by_judge":
            stretch = stretches(scores, priors.cutpoint_scale, scales)
        observe(counts, eta, share, None if stretch is None else stretch[:, at[1]].T)
        if stretch is None:
            derive(scores, cutpoints_of(share), scales)
        else:
            derive_by_judge(scores, share, stretch, scales)
    return model


def fit(
    scores: Scores,
    priors: Priors = Priors(),
    *,
    cutpoints: Cutpoints = "shared",
    random_seed: Any = None,
    **sampling: Any,
) -> Fit:
    """Sample the posterior.

    Parameters
    ----------
    scores : Scores
        Counts of several items or several judges.
    priors : Priors, default ``Priors()``
        One for each unknown.
    cutpoints : {"shared", "by_judge"}
        See `build_model`.
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

    own = cutpoints == "by_judge"
    return sample(
        build_model(scores, priors, cutpoints=cutpoints),
        data=scores,
        priors=priors,
        quantities=(*_quantities(scores), *(("cutpoint_scale",) if own else ())),
        room="repeats",
        method="Ordinal random effects (NUTS)",
        source=SOURCE,
        assumptions=_assumptions(priors, own),
        options={"cutpoints": cutpoints},
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


def _assumptions(priors: Priors, own: bool) -> tuple[str, ...]:
    also = f", log-gap sd N+(0, {priors.cutpoint_scale:g})" if own else ""
    return DRAWN, OWN_CUTS if own else NORMAL, ALIKE, f"priors: {priors}{also}"


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
