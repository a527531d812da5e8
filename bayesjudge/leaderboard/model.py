"""The Bayesian model: people's strengths given the judges', with likings of their own."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Assumption, Caution, Diagnosis
from bayesjudge.core.methods import Method
from bayesjudge.core.model import BayesianModel, model_of, require_model
from bayesjudge.core.screen import few
from bayesjudge.leaderboard.cells import Cells, cells_of
from bayesjudge.leaderboard.closed_form import (
    RANDOM,
    cautions_of,
    independence,
    method_at,
    require_target,
    rivals,
)
from bayesjudge.leaderboard.data import PEOPLE, STRENGTH_TARGETS, Battles, StrengthTarget
from bayesjudge.leaderboard.likelihood import components

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

SOURCE = "Davidson (1970) with people's strengths regressed on the judges'"
#: Degrees of freedom of people's own likings.
LIKING_DF = 4.0
#: Standard deviations of the logarithm of the tie parameter, and of effects of the logarithm of the
#: length.
TIE_SD, STYLE_SD = 1.0, 0.5


@dataclass(frozen=True)
class CalibratedBattles(BayesianModel):
    r"""People's strengths are a multiple of the judges' plus likings of their own.

    Verdicts of a source s on an answer of system a, shown first, and one of b are

    .. math:: P_s(first) \propto e^{\eta/2}, \quad P_s(tie) \propto \nu_s, \quad
              P_s(second) \propto e^{-\eta/2}, \quad
              \eta = t_{sa} - t_{sb} + d_s + g_s (x_a - x_b),

    with judges' strengths and order effects d (0 for people, and if pairs were shown in one order)

    .. math:: t_{ja} \sim N(0, s_j), \quad s_j \sim N^+(0, \text{judge scale}), \quad
              d_j \sim N(0, \text{order scale}), \quad
              \log \nu_s \sim N(\text{tie location}, 1),

    and people's given the judges'

    .. math:: t_{people} = \sum_j c_j t_j + b, \quad c_j \sim N^+(0, \text{sharpness} / J), \quad
              b_a = \tau \epsilon_a, \quad \epsilon_a \sim t_4, \quad
              \tau \sim \text{Rayleigh}(\text{liking scale}).

    Sharpness c is people's gap between two systems for one unit of the judge's, near 0 for a judge
    of no use; b what people like in a system beyond what the judge sees, with heavy tails, so that
    one favourite does not set the scale of all; the prior keeps that scale from 0, where intervals
    would be too narrow. Without a judge, people's strengths are normal as a judge's are.

    Parameters
    ----------
    sharpness : float, default 1
        Scale of the half-normal prior of the sharpness, shared out over the judges.
    liking_scale : float, default 0.3
        Mode of the Rayleigh prior of the scale of people's own likings, in log-odds.
    judge_scale : float, default 2
        Scale of the half-normal prior of the standard deviation of strengths of a judge.
    tie_location : float, default -1
        Median of the logarithm of the tie parameter: equal answers tie in 16 % of battles.
    order_scale : float, default 0.5
        Standard deviation of the judges' order effects.
    target : {"any length", "equal length"}
        Strengths of answers as they come, or at equal length of the answers, with effects g of its
        logarithm, normal with standard deviation 0.5.

    Raises
    ------
    InputError
        If a parameter is out of its range.

    Notes
    -----
    Variables: ``strength`` (system), people's strengths less their average; ``lead`` (system), over
    the best of the others; ``judge_strength`` and ``judge_favour`` (judge, system), what the judge
    likes beyond people, in people's log-odds; ``sharpness``, ``judge_scale``, ``order_effect``
    (judge), ``liking_scale``, ``people_tie``, ``judge_tie`` and effects of length. Verdicts
    that share an item, and probabilities, count by their design effect.

    References
    ----------
    Davidson (1970), J. Am. Stat. Assoc. 65, 317-328; Chung et al. (2013), Psychometrika 78,
    685-709, of priors that keep a scale from 0.

    Examples
    --------
    >>> print(CalibratedBattles(liking_scale=1.0).describe()["liking_scale"])
    Rayleigh(1)
    """

    _source: ClassVar[str] = SOURCE
    _has_preview: ClassVar[bool] = False
    _drawn_at_once: ClassVar[tuple[Method, ...]] = (
        methods.LAPLACE_BATTLES,
        methods.PLAIN_LAPLACE_BATTLES,
        method_at("equal length", methods.LAPLACE_BATTLES),
        method_at("equal length", methods.PLAIN_LAPLACE_BATTLES),
    )
    sampling: ClassVar[Mapping[str, Any]] = {"target_accept": 0.95}

    sharpness: float = 1.0
    liking_scale: float = 0.3
    judge_scale: float = 2.0
    tie_location: float = -1.0
    order_scale: float = 0.5
    target: StrengthTarget = "any length"

    def __post_init__(self) -> None:
        super().__post_init__()
        with checking("leaderboard.CalibratedBattles") as require:
            for parameter in fields(self):
                value = getattr(self, parameter.name)
                if parameter.name == "target":
                    require(value in STRENGTH_TARGETS, f"target: {value!r}; {STRENGTH_TARGETS}")
                    continue
                least = -np.inf if parameter.name == "tie_location" else 0
                number = isinstance(value, int | float) and least < value < np.inf
                require(number, "must be positive and finite", **{parameter.name: value})

    def describe(self) -> dict[str, str]:
        """Put priors in words."""
        words = {
            "sharpness": f"half-normal({self.sharpness:g})",
            "liking_scale": f"Rayleigh({self.liking_scale:g})",
            "judge_scale": f"half-normal({self.judge_scale:g})",
            "tie_location": f"Normal({self.tie_location:g}, {TIE_SD:g})",
            "order_scale": f"Normal(0, {self.order_scale:g})",
        }
        if self.target == "equal length":
            words["style"] = f"Normal(0, {STYLE_SD:g})"
        return words

    def _unread(self, battles: Battles) -> Collection[str]:
        absent = {
            "sharpness": not battles.judges,
            "liking_scale": not battles.judges,
            "tie_location": not battles.tied,
            "order_scale": not (battles.judges and battles.both_orders),
        }
        return {name for name, there in absent.items() if there}

    @property
    def _method(self) -> Method:
        return method_at(self.target, methods.CALIBRATED_BATTLES)

    def _quantities(self, battles: Battles) -> tuple[str, ...]:
        return ("strength", "lead")

    def _diagnosis(self, battles: Battles) -> Diagnosis:
        assumptions = [independence(battles), RANDOM]
        if battles.judges:
            assumptions.append(Assumption.of("heavy-tailed-liking", df=LIKING_DF))
        cautions = [*cautions_of(battles, battles.judges)]
        if not battles.labelled:
            cautions.append(Caution.of("unlabelled-battles"))
        else:
            apart = components(battles, PEOPLE, "weak")
            groups = apart if len(apart) > 1 else components(battles, PEOPLE, "strong")
            group = few(min(groups, key=len), 4)
            if len(apart) > 1:
                cautions.append(Caution.of("unconnected", group=group))
            elif len(groups) > 1:
                cautions.append(Caution.of("one-sided", group=group))
        return tuple(assumptions), tuple(cautions)

    def _build(self, battles: Battles) -> pm.Model:
        import pymc as pm

        cells = cells_of(battles, style=self.target == "equal length")
        with pm.Model(coords=_coords(battles, cells)) as model:
            strengths = [*self._judges(battles, cells), self._people(battles)]
            for name, strength in zip(battles.sources, strengths, strict=True):
                if name in cells.of:
                    _observe(name, cells, strength, self)
        return model

    def _judges(self, battles: Battles, cells: Cells) -> list[Any]:
        """Strengths of each judge, by system."""
        import pymc as pm

        if not battles.judges:
            return []
        scale = pm.HalfNormal("judge_scale", _prior("judge_scale", self.judge_scale), dims="judge")
        strength = pm.Normal("judge_level", 0, scale[:, None], dims=("judge", "system"))
        pm.Deterministic(
            "judge_strength", strength - strength.mean(axis=1)[:, None], dims=("judge", "system")
        )
        if cells.ordered:
            pm.Normal("order_effect", 0, _prior("order_scale", self.order_scale), dims="judge")
        if cells.style:
            pm.Normal("judge_style", 0, STYLE_SD, dims="judge")
        return [strength[j] for j in range(len(battles.judges))]

    def _people(self, battles: Battles) -> Any:
        """People's strengths, by system."""
        import pymc as pm

        if not battles.judges:
            scale = pm.HalfNormal("people_scale", _prior("judge_scale", self.judge_scale))
            level = pm.Normal("people_level", 0, scale, dims="system")
        else:
            model = pm.modelcontext(None)
            share = _prior("sharpness", self.sharpness / len(battles.judges))
            sharpness = pm.HalfNormal("sharpness", share, dims="judge")
            mode = _prior("liking_scale", self.liking_scale)
            scale = pm.Weibull("liking_scale", 2, np.sqrt(2) * mode)  # a Rayleigh distribution
            liking = pm.StudentT("own_liking", nu=LIKING_DF, mu=0, sigma=1, dims="system")
            level = (sharpness[:, None] * model["judge_level"]).sum(axis=0) + scale * liking
        pm.Deterministic("strength", level - level.mean(), dims="system")
        if self.target == "equal length":
            pm.Normal("people_style", 0, STYLE_SD)
        return level

    def _with_derived(self, battles: Battles, draws: xr.Dataset) -> xr.Dataset:
        """Leads, and what the judges like beyond people."""
        return derived(draws, battles)

    def _states_priors(self) -> bool:
        return self != type(self)(target=self.target)


def derived(draws: xr.Dataset, battles: Battles) -> xr.Dataset:
    """Draws with ``lead`` (system) and ``judge_favour`` (judge, system)."""
    strength = draws["strength"]
    mean = strength.mean(("chain", "draw")).to_numpy()
    other = strength.isel(system=rivals(mean)).assign_coords(system=strength["system"])
    variables = {"lead": strength - other}
    if battles.judges:
        judge = draws["judge_strength"]
        if len(battles.judges) == 1:
            slope = draws["sharpness"]
        else:  # a judge's part of the sum is not its own slope
            slope = (judge * strength).sum("system") / (judge**2).sum("system")
        variables["judge_favour"] = slope * judge - strength
    order = ("chain", "draw", "judge", "system")
    return draws.assign(
        {
            name: variable.transpose(*(d for d in order if d in variable.dims))
            for name, variable in variables.items()
        }
    )


def _prior(name: str, value: float) -> Any:
    import pymc as pm

    return pm.Data(f"{name}_prior", np.array(float(value)))


def _coords(battles: Battles, cells: Cells) -> dict[str, Any]:
    """Labels of the dimensions."""
    coords: dict[str, Any] = {"system": battles.systems, "verdict": ("first", "tie", "second")}
    if battles.judges:
        coords["judge"] = battles.judges
    for name, shown in cells.of.items():
        pairs = zip(shown.first, shown.second, strict=True)
        coords[f"pair_of_{name}"] = [
            f"{i}: {battles.systems[a]}, {battles.systems[b]}" for i, (a, b) in enumerate(pairs)
        ]
    return coords


def _observe(name: str, cells: Cells, strength: Any, model: CalibratedBattles) -> None:
    """Add the verdicts of a source: whole ones as counts, others by their weight."""
    import pymc as pm
    import pytensor.tensor as pt

    graph, shown_pairs = pm.modelcontext(None), cells.of[name]
    of_people = name == PEOPLE
    place = None if of_people else graph.coords["judge"].index(name)
    pair = f"pair_of_{name}"

    def held(what: str, values: np.ndarray, *more: str) -> Any:
        return pm.Data(f"{what}_of_{name}", values, dims=(pair, *more))

    first, second = (held(n, getattr(shown_pairs, n)) for n in ("first", "second"))
    eta = strength[first] - strength[second]
    if cells.ordered and not of_people:
        eta = eta + graph["order_effect"][place]
    if cells.style:
        slope = graph["people_style"] if of_people else graph["judge_style"][place]
        eta = eta + slope * held("style", shown_pairs.style)
    tie = "people_tie" if of_people else f"judge_tie_{name}"
    ties = 0.0
    if shown_pairs.tied:
        ties = pm.LogNormal(tie, _prior(f"tie_of_{name}", model.tie_location), TIE_SD)
    chance = pt.stack([pt.exp(eta / 2), ties * pt.ones_like(eta), pt.exp(-eta / 2)], axis=1)
    chance = chance / chance.sum(axis=1, keepdims=True)
    dims = (pair, "verdict")
    if shown_pairs.whole:
        weight = np.round(shown_pairs.weight).astype("int64")
        pm.Multinomial(f"verdicts_of_{name}", held("battles", weight.sum(axis=1)), chance,
                       observed=held("counts", weight, "verdict"), dims=dims)  # fmt: skip
    else:
        weight = held("verdicts", shown_pairs.weight, "verdict")
        logs = pt.log(pt.maximum(chance, 1e-300))
        pm.Potential(f"density_of_{name}", (weight * logs).sum())


@model_of.register(Battles)
def suited(
    battles: Battles, model: CalibratedBattles | None = None, subject: str = "fit"
) -> CalibratedBattles:
    """The model, or the default one."""
    chosen = CalibratedBattles() if model is None else model
    require_model(Battles, model, f"leaderboard.{subject}")
    with checking(f"leaderboard.{subject}") as require:
        require_target(chosen.target, battles, require)
    return chosen
