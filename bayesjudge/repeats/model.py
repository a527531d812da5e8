"""Bayesian models: cumulative logits with random effects of items, judges and both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.diagnosis import cautions_of, contradicted
from bayesjudge.core.errors import checking, expect
from bayesjudge.core.estimate import Assumption, Caution, Diagnosis
from bayesjudge.core.fit import Fit
from bayesjudge.core.methods import Method
from bayesjudge.core.model import BayesianModel, with_default
from bayesjudge.core.prior_check import Key, count_in_draws, prior_table
from bayesjudge.repeats.checks import DRAWN, EXCHANGEABLE, usable
from bayesjudge.repeats.components import (
    FINE,
    JUDGES,
    Effects,
    components,
    cutpoints,
    in_chunks,
    item_scores,
    judge_nodes,
    log_chances,
    noise_at,
    stretched,
)
from bayesjudge.repeats.data import Scores

if TYPE_CHECKING:
    import pandas as pd
    import pymc as pm
    import xarray as xr

SOURCE = (
    "cumulative logit with random effects (McCullagh 1980; Agresti, Analysis of Ordinal "
    "Categorical Data, chapter 10)"
)
SHARED_CUTPOINTS = Assumption.of("shared-cutpoints")
JUDGES_CUTPOINTS = Assumption.of("judges-cutpoints")
#: Effects that the data show this clearly (an F ratio) are sampled as they are, others as
#: multiples of their standard deviation: the same posterior, in the shape that NUTS likes better.
CLEAR = 5.0
#: Standard deviation of the priors of how noise depends on the level.
NOISE_SD = 0.5
#: Cutpoints this close leave a value that nobody gave a logarithm.
LEAST_GAP = 1e-300
#: Degrees of freedom without which nobody can say that judges' gaps differ clearly.
MOST_FEW = 6


@dataclass(frozen=True)
class CumulativeLogit(BayesianModel):
    r"""Judges use the scale alike, but for a shift.

    A score y of item i by judge j exceeds the k-th value with probability

    .. math:: P(y > k) = \sigma(a_i + b_j + c_{ij} - \tau_k), \quad
              a_i \sim N(0, s_a), \quad b_j \sim N(0, s_b), \quad c_{ij} \sim N(0, s_c),

    with effects a of items, b of judges and c of their combinations, each left out if the design
    cannot show it; their standard deviations are half-normal. The cutpoints :math:`\tau` follow
    from the shares :math:`\pi` of the values for the average of the items and judges at hand, which
    lies off the average of all items and judges by a normal offset:

    .. math:: \tau_k = \operatorname{logit}(\pi_1 + \dots + \pi_k), \quad
              \pi \sim Dirichlet(\text{concentration}).

    Parameters
    ----------
    concentration : float, default 1
        Dirichlet weight of each value's share, for the average of the items and judges at hand.
    item_scale, judge_scale, item_judge_scale : float, default 5, 2, 1
        Scales of the half-normal priors of the effects' standard deviations, on the logit scale. A
        standard logistic variable has standard deviation 1.8: effects are measured against the
        noise of one answer, so items of a steady judge are many units apart.
    noise : {"constant", "by_level"}
        Whether answers are as noisy everywhere on the logit scale, or more at some levels than at
        others: with a spread of :math:`e^{s t + c t^2}` times that of the average item, where
        :math:`t = \tanh(\eta / L)` is the level, L the standard deviation of all effects together,
        and s and c are normal with standard deviation 0.5.

    Raises
    ------
    InputError
        If a parameter is not positive.

    Notes
    -----
    Variables: ``value_share`` (value) and, on the logit scale, ``item_effect``, ``judge_effect``
    and ``item_judge_effect`` (cell), with standard deviations ``item_scale``, ``judge_scale`` and
    ``item_judge_scale``; effects of items and judges sum to 0, and ``item_offset`` and
    ``judge_offset`` say how far their average lies from that of all, in standard errors;
    ``noise_slope`` and ``noise_curve`` if noise is by level. Observed: ``given`` (cell, value),
    multinomial, for the cells that have a score or, not collapsed, each ``score``. A fit answers
    the quantities of `anova`, in the units of the scale.

    References
    ----------
    McCullagh (1980), J. R. Stat. Soc. B 42, 109-142.

    Examples
    --------
    >>> print(CumulativeLogit(judge_scale=1))  # doctest: +NORMALIZE_WHITESPACE
    shares of the values Dirichlet(1); SD of items half-normal(5); SD of judges half-normal(1); SD
    of judges from item to item half-normal(1)
    """

    _source: ClassVar[str] = SOURCE
    _has_preview: ClassVar[bool] = False

    concentration: float = 1.0
    item_scale: float = 5.0
    judge_scale: float = 2.0
    item_judge_scale: float = 1.0
    noise: Literal["constant", "by_level"] = "constant"

    _words: ClassVar[Mapping[str, str]] = {
        "value_share": "shares of the values",
        "item_scale": "SD of items",
        "judge_scale": "SD of judges",
        "item_judge_scale": "SD of judges from item to item",
        "cutpoint_scale": "SD of the logarithms of judges' gaps",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        with checking(f"repeats.{type(self).__name__}") as require:
            known = self.noise in ("constant", "by_level")
            require(known, "must be constant or by_level", noise=self.noise)
            for field in fields(self):
                if field.name == "noise":
                    continue
                value = getattr(self, field.name)
                number = isinstance(value, int | float) and 0 < value < np.inf
                require(number, "must be positive and finite", **{field.name: value})

    def describe(self) -> dict[str, str]:
        """Put priors in words, by the model's variables."""
        scales = [f.name for f in fields(self) if f.name not in ("concentration", "noise")]
        noise = ("noise_slope", "noise_curve") if self.noise == "by_level" else ()
        return {
            "value_share": f"Dirichlet({self.concentration:g})",
            **{name: f"half-normal({getattr(self, name):g})" for name in scales},
            **dict.fromkeys(noise, f"Normal(0, {NOISE_SD:g})"),
        }

    @property
    def _method(self) -> Method:
        return methods.ORDINAL_BY_LEVEL if self.noise == "by_level" else methods.ORDINAL

    @property
    def _assumption(self) -> Assumption:
        return SHARED_CUTPOINTS

    def _quantities(self, scores: Scores) -> tuple[str, ...]:
        """What the design can show."""
        scores = usable(scores)
        items, judges = len(scores.items) > 1, len(scores.judges) > 1
        wanted = {"mean_score": True, "item_score": items, "item_sd": items, "judge_sd": judges}
        wanted |= {"item_judge_sd": items and judges, "repeat_sd": True}
        wanted |= {"effective_repeats": judges}
        return tuple(name for name, there in wanted.items() if there)

    def _diagnosis(self, scores: Scores) -> Diagnosis:
        cautions = cautions_of(scores)
        return contradicted((DRAWN, self._assumption, EXCHANGEABLE), cautions), cautions

    def _cautions_of_fit(self, fit: Fit) -> tuple[Caution, ...]:
        from bayesjudge.repeats._maxima import several_maxima

        return several_maxima(fit)

    def _unread(self, scores: Scores) -> frozenset[str]:
        effects = {"item_scale", "judge_scale", "item_judge_scale"}
        shown = self._quantities(scores)
        unread = effects - {f"{q.removesuffix('_sd')}_scale" for q in shown}
        return frozenset(unread)

    def _check(self, scores: Scores) -> None:
        several = len(scores.items) + len(scores.judges) > 2
        expect("repeats.build_model", several, "one item and one judge have no effects; use exact")

    def _build(self, scores: Scores) -> pm.Model:
        return self._graph(scores, _observe)

    def _uncollapsed(self, scores: Scores) -> pm.Model:
        return self._graph(scores, _observe_answers)

    def _sampling_form(self, scores: Scores) -> pm.Model:
        return self._graph(scores, _add_density, _clear_effects(usable(scores)))

    def _graph(
        self, scores: Scores, observe: Any, clear: Mapping[str, bool] | None = None
    ) -> pm.Model:
        """The model; effects that are not `clear` are multiples of their standard deviation."""
        import pymc as pm
        import pytensor.tensor as pt

        scores = usable(scores)
        self._check(scores)
        at = np.nonzero(scores.repeats)
        with pm.Model(coords=self._coords(scores)) as model:
            weights = np.full(len(scores.scale), float(self.concentration))
            prior = pm.Data("value_prior", weights, dims="value")
            share = pm.Dirichlet("value_share", prior, dims="value")
            eta = self._eta(scores, clear)
            cuts = self._cutpoints(share, clear)
            row = at[1] if cuts.ndim == 2 else np.zeros_like(at[1])
            observe(scores.counts[at], *self._in_units_of_noise(eta, pt.atleast_2d(cuts), row))
        return model

    def _eta(self, scores: Scores, clear: Mapping[str, bool] | None) -> Any:
        """Sum of the effects in each cell."""
        import pymc as pm

        eta: Any = 0.0
        cells = np.nonzero(scores.repeats)
        for name, of_cell in zip(("item", "judge"), cells, strict=True):
            if f"{name}_sd" not in self._quantities(scores):
                continue
            scale = self._half_normal(f"{name}_scale")
            effect = _effect(f"{name}_effect", scale, clear is None or clear[name], dims=name)
            # what normal effects have beside their differences: how far the average of those at
            # hand lies from the average of all that could have been drawn, in standard errors.
            # The data say nothing of it.
            pm.Normal(f"{name}_offset")
            eta = eta + effect[pm.Data(f"{name}_of_cell", of_cell, dims="cell")]
        if "item_judge_sd" in self._quantities(scores):
            scale = self._half_normal("item_judge_scale")
            each = _effect("item_judge_effect", scale, clear is None, dims="cell", sums_to_0=False)
            eta = eta + each
        return eta

    def _in_units_of_noise(self, eta: Any, cuts: Any, row: Any) -> tuple[Any, Any, Any]:
        """Effects and cutpoints over the noise of each cell, as `components.noise_at` has it, and
        the row of the cutpoints (row, step) that a cell has.
        """
        import pymc as pm
        import pytensor.tensor as pt

        if self.noise == "constant":
            return eta, cuts, row
        model = pm.modelcontext(None)
        names = [f"{name}_scale" for name in ("item", "judge", "item_judge")]
        spread = pt.sqrt(sum(model[name] ** 2 for name in names if name in model.named_vars))
        t = pt.tanh(eta / spread)
        slope, curve = (pm.Normal(f"noise_{name}", 0, NOISE_SD) for name in ("slope", "curve"))
        noise = pt.exp(slope * t + curve * t**2)
        place = pm.Data("cutpoints_before_noise", row, dims="cell")
        return eta / noise, cuts[place] / noise[:, None], np.arange(row.size)

    def _coords(self, scores: Scores) -> dict[str, Sequence[Any]]:
        """Labels of the dimensions."""
        at = np.nonzero(scores.repeats)
        cells = [f"{scores.items[i]}, {scores.judges[j]}" for i, j in zip(*at, strict=True)]
        judges = {"item": scores.items, "judge": scores.judges, "cell": cells}
        return {**judges, "value": scores.scale}

    def _half_normal(self, name: str) -> Any:
        import pymc as pm

        prior = np.array(float(getattr(self, name)))
        return pm.HalfNormal(name, pm.Data(f"{name.removesuffix('_scale')}_prior", prior))

    def _cutpoints(self, share: Any, clear: Mapping[str, bool] | None) -> Any:
        """Cutpoints of all cells, or by judge."""
        import pytensor.tensor as pt

        return cutpoints(share, pt)

    def _item_log_likelihood(
        self, scores: Scores, draws: xr.Dataset
    ) -> tuple[xr.DataArray, np.ndarray]:
        """Of one answer of each value in each cell."""
        import xarray as xr

        scores = usable(scores)
        sizes = draws.sizes["chain"], draws.sizes["draw"]
        item, judge = np.nonzero(scores.repeats)
        counts = scores.counts[item, judge]
        cell, value = np.nonzero(counts)
        parts = in_chunks(sizes[0] * sizes[1], counts.size)
        logs = [_log_chances(scores, draws, part)[:, cell, value] for part in parts]
        coords = {
            **{"chain": draws.chain, "draw": draws.draw},
            "of_item": ("kind", np.array(scores.items)[item[cell]]),
            "of_judge": ("kind", np.array(scores.judges)[judge[cell]]),
            "value_given": ("kind", np.array(scores.scale)[value]),
        }
        shaped = np.concatenate(logs).reshape(*sizes, cell.size)
        return xr.DataArray(shaped, coords, ("chain", "draw", "kind")), counts[cell, value]

    def _with_derived(self, scores: Scores, draws: xr.Dataset) -> xr.Dataset:
        return _with_components(self, usable(scores), draws)

    def _components(self, scores: Scores, draws: _Draws) -> dict[str, np.ndarray]:
        """Quantities in the units of the scale, of some draws."""
        points, (cuts, drawn) = np.array(scores.scale), self._cuts_of_judges(scores, draws)
        values = components(cuts, points, draws.effects, drawn)
        if draws.items is not None:
            values["item_score"] = item_scores(cuts, points, draws.effects, draws.items, drawn)
        return values

    def _cuts_of_judges(self, scores: Scores, draws: _Draws) -> tuple[np.ndarray, Any]:
        """Cutpoints, of all judges or of judges with effects that are drawn."""
        return cutpoints(draws.share), None

    def _numbers(self, scores: Scores) -> int:
        """How many numbers `_components` holds for one draw."""
        return max(FINE, len(scores.items)) * FINE


@dataclass(frozen=True)
class JudgeCutpoints(CumulativeLogit):
    r"""Each judge has cutpoints of its own, partially pooled.

    Judges differ as in `CumulativeLogit`, and in how wide a stretch of the latent scale each value
    takes: the gaps between cutpoints are

    .. math:: \tau_{j,k+1} - \tau_{jk} = e^{g_{jk}} (\tau_{k+1} - \tau_k), \quad
              g_{jk} \sim N(0, s_g), \quad s_g \sim N^+(0, \text{cutpoint scale}).

    The cutpoints keep their mean, weighted by :math:`F_k (1 - F_k)`, the slope of the
    average item's share above each: to first order, a stretch changes how scores scatter and not
    their mean, which the judge's effect is for.

    Parameters
    ----------
    concentration : float, default 1
        Dirichlet weight of each value's share, for the average of the items and judges at hand.
    item_scale, judge_scale, item_judge_scale : float, default 5, 2, 1
        Scales of the half-normal priors of the effects' standard deviations, on the logit scale.
    noise : {"constant", "by_level"}
        As in `CumulativeLogit`.
    cutpoint_scale : float, default 0.5
        Scale of the half-normal prior of the standard deviation of the gaps' logarithms: one of
        0.5 makes gaps 1.6 times as wide or narrow.

    Raises
    ------
    InputError
        If a parameter is not positive.

    Notes
    -----
    Variables: those of `CumulativeLogit`, with ``cutpoint_scale``, ``cutpoint_stretch`` (gap,
    judge) and ``judge_cutpoint`` (judge, step).

    References
    ----------
    McCullagh (1980), J. R. Stat. Soc. B 42, 109-142.
    """

    cutpoint_scale: float = 0.5

    @property
    def _method(self) -> Method:
        return methods.CUTPOINTS_BY_LEVEL if self.noise == "by_level" else methods.CUTPOINTS

    @property
    def _assumption(self) -> Assumption:
        return JUDGES_CUTPOINTS

    def _quantities(self, scores: Scores) -> tuple[str, ...]:
        return (*super()._quantities(scores), "cutpoint_scale")

    def _check(self, scores: Scores) -> None:
        super()._check(scores)
        with checking("repeats.JudgeCutpoints") as require:
            several = len(scores.judges) > 1
            require(several, "one judge has no others to differ from; use CumulativeLogit")
            gaps = len(scores.scale) > 2
            require(gaps, "a scale of two values has one cutpoint, which the judge's effect moves")

    def _coords(self, scores: Scores) -> dict[str, Sequence[Any]]:
        steps = [f"{x:g}|{y:g}" for x, y in zip(scores.scale[:-1], scores.scale[1:], strict=True)]
        gaps = [f"{x:g}" for x in scores.scale[1:-1]]
        return {**super()._coords(scores), "step": steps, "gap": gaps}

    def _cutpoints(self, share: Any, clear: Mapping[str, bool] | None) -> Any:
        import pymc as pm
        import pytensor.tensor as pt

        # sums over judges are 0: the shares are those of the average of the judges at hand
        scale = self._half_normal("cutpoint_scale")
        as_is = clear is None or clear["gap"]
        stretch = _effect("cutpoint_stretch", scale, as_is, dims=("gap", "judge"))
        pm.Normal("cutpoint_offset", dims="gap")
        of_judge = stretched(cutpoints(share, pt), stretch.T, pt)
        shifted = of_judge - pm.modelcontext(None)["judge_effect"][:, None]
        pm.Deterministic("judge_cutpoint", shifted, dims=("judge", "step"))
        return of_judge

    def _cuts_of_judges(self, scores: Scores, draws: _Draws) -> tuple[np.ndarray, Any]:
        drawn = judge_nodes(JUDGES, len(scores.scale) - 1)
        offset = draws.cutpoint_offset[:, None] / np.sqrt(len(scores.judges))
        away = draws.cutpoint[:, None, None] * (offset + drawn[:, 1:])
        return stretched(cutpoints(draws.share)[:, None], away), drawn[:, 0]

    def _numbers(self, scores: Scores) -> int:
        return max(FINE, len(scores.items)) * JUDGES


@prior_table.register(CumulativeLogit)
def _beside_prior(
    model: CumulativeLogit, scores: Scores, rng: np.random.Generator, *, stated: bool = False
) -> pd.DataFrame:
    from bayesjudge.core.predictive import draw_together

    scores = usable(scores)
    built, seen = model._build(scores), scores.counts[np.nonzero(scores.repeats)]
    observed = {key: float(v[0]) for key, v in _scatter(scores, seen[None]).items()}
    return count_in_draws(
        observed, lambda n: _scatter(scores, draw_together(built, ["given"], n, rng)["given"])
    )


with_default(Scores, lambda scores: CumulativeLogit())


# From draws of the model to the units of the scale -----------------------------------------------


@dataclass(frozen=True)
class _Draws:
    """Draws of a model's unknowns, chains joined."""

    share: np.ndarray
    effects: Effects
    items: np.ndarray | None
    cutpoint: np.ndarray
    cutpoint_offset: np.ndarray

    @classmethod
    def of(cls, scores: Scores, draws: xr.Dataset) -> _Draws:
        def take(name: str) -> np.ndarray:
            if name not in draws:
                return np.zeros(draws.sizes["chain"] * draws.sizes["draw"])
            return _joined(draws[name])

        sds = {name: take(f"{name}_scale") for name in ("item", "judge", "item_judge")}
        sizes = {"item": len(scores.items), "judge": len(scores.judges)}
        offsets = {
            f"{n}_offset": sds[n] / size**0.5 * take(f"{n}_offset") for n, size in sizes.items()
        }
        there = "noise_slope" in draws
        noise = {n: take(n) for n in ("noise_slope", "noise_curve")} if there else {}
        return cls(
            share=take("value_share"),
            effects=Effects(**sds, **offsets, **noise),
            items=take("item_effect") if "item_effect" in draws else None,
            cutpoint=take("cutpoint_scale"),
            cutpoint_offset=take("cutpoint_offset"),
        )

    def part(self, rows: slice) -> _Draws:
        """Take some of the draws."""
        taken: dict[str, Any] = {
            name: None if v is None else v[rows]
            for name, v in vars(self).items()
            if v is not self.effects
        }
        effects = Effects(*(v[rows] if isinstance(v, np.ndarray) else v for v in self.effects))
        return _Draws(effects=effects, **taken)


def _with_components(model: CumulativeLogit, scores: Scores, draws: xr.Dataset) -> xr.Dataset:
    """Add to draws what they mean in the units of the scale."""
    sizes = draws.sizes["chain"], draws.sizes["draw"]
    parts = in_chunks(sizes[0] * sizes[1], model._numbers(scores))
    every = _Draws.of(scores, draws)
    blocks = [model._components(scores, every.part(part)) for part in parts]
    joined = {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}
    variances = {name: joined[f"{name}_sd"] ** 2 for name in ("judge", "item_judge", "repeat")}
    between = variances["judge"] + variances["item_judge"]
    joined["effective_repeats"] = _effective_repeats(
        scores, between / (between + variances["repeat"])
    )
    wanted = [name for name in model._quantities(scores) if name in joined]
    dims = {name: ("chain", "draw", "item")[: joined[name].ndim + 1] for name in wanted}
    return draws.assign(
        {n: (dims[n], joined[n].reshape(*sizes, *joined[n].shape[1:])) for n in wanted}
    )


def _effective_repeats(scores: Scores, rho: np.ndarray) -> np.ndarray:
    """How many scores of judges drawn anew each time the panel's scores are worth, if a share
    `rho` of the variance of an item's scores lies between judges.
    """
    n = scores.repeats[scores.repeats > 0]
    repeats = n.size / (1 / n).sum()
    return len(scores.judges) * repeats / (1 + (repeats - 1) * rho)


# Unknowns ----------------------------------------------------------------------------------------


def _effect(name: str, scale: Any, as_is: bool, *, dims: Any, sums_to_0: bool = True) -> Any:
    """Normal effects, sampled as they are or as multiples of their standard deviation."""
    import pymc as pm

    def normal(name: str, scale: Any) -> Any:
        if sums_to_0:
            return pm.ZeroSumNormal(name, scale, dims=dims)
        return pm.Normal(name, 0, scale, dims=dims)

    if as_is:
        return normal(name, scale)
    return pm.Deterministic(name, scale * normal(f"{name}_in_sd", 1.0), dims=dims)


# Likelihood --------------------------------------------------------------------------------------


def _observe(seen: np.ndarray, eta: Any, cuts: Any, row: np.ndarray) -> None:
    """Counts of the values in each cell."""
    import pymc as pm
    import pytensor.tensor as pt

    counts = pm.Data("counts", seen.astype(float), dims=("cell", "value"))
    place = pm.Data("cutpoints_of_cell", row, dims="cell")
    n, logs = counts.sum(axis=1).astype("int64"), log_chances(cuts[place] - eta[:, None], pt)
    pm.Multinomial("given", n, pt.exp(logs), observed=counts, dims=("cell", "value"))


def _add_density(seen: np.ndarray, eta: Any, cuts: Any, row: np.ndarray) -> None:
    """The density of `_observe` for the sampler: a logarithm for each cell and cutpoint.

    Answers on either side of a cutpoint at distance z have log s(z) or log s(-z) = log s(z) - z;
    cells that share cutpoints share the gaps between them.
    """
    import pymc as pm
    import pytensor.tensor as pt

    inner = np.zeros((row.max() + 1, seen.shape[1] - 2))
    np.add.at(inner, row, seen[:, 1:-1])
    beside = pm.Data("answers_beside", (seen[:, :-1] + seen[:, 1:]).astype(float))
    above = pm.Data("answers_above", seen[:, 1:].astype(float))
    between = pm.Data("answers_between", inner)
    z = cuts[pm.Data("cutpoints_of_cell", row, dims="cell")] - eta[:, None]
    gaps = pt.log1mexp(-pt.maximum(cuts[:, 1:] - cuts[:, :-1], LEAST_GAP))
    value = (between * gaps).sum() - (beside * pt.softplus(-z) + above * z).sum()
    pm.Potential("given", value)


def _observe_answers(seen: np.ndarray, eta: Any, cuts: Any, row: np.ndarray) -> None:
    """Each answer by itself."""
    import pymc as pm

    cell, value = np.nonzero(seen)
    times = seen[cell, value].astype(int)
    cell, value = np.repeat(cell, times), np.repeat(value, times)
    pm.modelcontext(None).add_coord("answer", np.arange(cell.size))
    of_answer = cuts[row[cell]]
    pm.OrderedLogistic(
        "score", eta=eta[cell], cutpoints=of_answer, observed=value, dims="answer", compute_p=False
    )


def _log_chances(scores: Scores, draws: xr.Dataset, part: slice) -> np.ndarray:
    """`log_chances` of some draws: (n, cell, value)."""
    drawn = _Draws.of(scores, draws).part(part)
    cell = dict(zip(("item", "judge"), np.nonzero(scores.repeats), strict=True))
    eta: Any = _joined(draws["item_judge_effect"])[part] if "item_judge_effect" in draws else 0.0
    for name, at in cell.items():
        if f"{name}_effect" in draws:
            eta = eta + _joined(draws[f"{name}_effect"])[part][:, at]
    cuts = cutpoints(drawn.share)[:, None]
    if "cutpoint_stretch" in draws:
        stretch = _joined(draws["cutpoint_stretch"])[part].swapaxes(1, 2)
        cuts = stretched(cuts, stretch)[:, cell["judge"]]
    noise = np.asarray(noise_at(eta, drawn.effects))
    z = (cuts - eta[..., None]) / (noise[..., None] if noise.ndim else noise)
    return np.asarray(log_chances(z))


def _joined(values: xr.DataArray) -> np.ndarray:
    """Chains one after another."""
    array = values.transpose("chain", "draw", ...).to_numpy()
    return array.reshape(-1, *array.shape[2:])


# Priors beside the data ---------------------------------------------------------------------------


def _scatter(scores: Scores, given: np.ndarray) -> dict[Key, np.ndarray]:
    """Mean of the scores, and how they scatter as they lie there: counts (draw, cell, value)."""
    points, n = np.array(scores.scale), given.sum(axis=-1)
    mean = given @ points / n
    item, judge = np.nonzero(scores.repeats)
    average = (n * mean).sum(axis=1) / n.sum(axis=1)
    statistics: dict[Key, np.ndarray] = {("mean_score", "", ""): average}
    left, several = (
        mean - average[:, None],
        {"item": len(scores.items), "judge": len(scores.judges)},
    )
    for name, of_cell in (("item", item), ("judge", judge)):
        if several[name] > 1:
            member = np.eye(several[name])[of_cell]
            level = (n * left) @ member / (n @ member)
            statistics[f"{name}_sd", "", ""] = level.std(axis=1)
            left = left - level[:, of_cell]
    if min(several.values()) > 1:
        statistics["item_judge_sd", "", ""] = left.std(axis=1)
    free = int((n[0] - 1).sum())
    if free:
        squares = (given * (points - mean[..., None]) ** 2).sum(axis=(1, 2))
        statistics["repeat_sd", "", ""] = np.sqrt(squares / free)
    return statistics


# What the data show clearly ----------------------------------------------------------------------


def _clear_effects(scores: Scores) -> dict[str, bool]:
    """Whether the data show an effect clearly, by the F ratio of a rough analysis of variance."""
    n = scores.repeats
    filled = n > 0
    means = np.where(filled, scores.means, 0.0)
    noise = scores.deviations.sum() / max(int((n - filled).sum()), 1) + 1e-9

    def ratio(axis: int) -> float:
        held = n.sum(axis=axis)
        level = (means * n).sum(axis=axis)[held > 0] / held[held > 0]
        return float(level.var() * np.median(held[held > 0]) / noise)

    gap = len(scores.scale) > 2 and len(scores.judges) > 1 and _clearly_stretched(scores)
    return {"item": ratio(1) > CLEAR, "judge": ratio(0) > CLEAR, "gap": gap}


def _clearly_stretched(scores: Scores) -> bool:
    """Whether judges' gaps scatter by much more than their noise; False if too few tell."""
    counts = scores.counts.sum(axis=0) + 0.5  # judges by values, items together
    n = counts.sum(axis=1, keepdims=True)
    below = counts.cumsum(axis=1)[:, :-1] / n
    low, high = below[:, :-1], below[:, 1:]
    if low.shape[1] * (len(low) - 1) < MOST_FEW:
        return False
    cuts = np.log(below / (1 - below))
    gaps = np.diff(cuts, axis=1)
    # of multinomial shares, by the delta method
    noise = 1 / (low * (1 - low)) + 1 / (high * (1 - high)) - 2 / ((1 - low) * high)
    relative = noise / n / gaps**2
    ratios = np.log(gaps).var(axis=0, ddof=1) / np.median(relative, axis=0)
    return bool(np.median(ratios) > CLEAR)  # medians: a value that a judge never gives is all noise
