"""Models of the prevalence, as values that own their priors; `build_model` and `fit`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.diagnosis import cautions_of
from bayesjudge.core.errors import checking, expect
from bayesjudge.core.estimate import Assumption, Caution, Diagnosis, Interval, Target
from bayesjudge.core.fit import Fit
from bayesjudge.core.methods import Method
from bayesjudge.core.model import with_default
from bayesjudge.core.prior_check import prior_table
from bayesjudge.core.priors import BetaPrior
from bayesjudge.prevalence._boundary import depths_in_draws, depths_of, near_an_end
from bayesjudge.prevalence._bounds import of_draws, of_sum
from bayesjudge.prevalence._prior_check import informs, table_of
from bayesjudge.prevalence.cautions import OVERALL
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.diagnosis import diagnose, granted
from bayesjudge.truth.components import (
    Apart,
    BetaShares,
    Component,
    Linear,
    Pooled,
    PredictiveRates,
    RateErrors,
)
from bayesjudge.truth.model import OneJudge, shares_of_items, stratum_shares
from bayesjudge.truth.quadrature import NotIntegrated, posterior_of
from bayesjudge.verdicts.groups import plural

if TYPE_CHECKING:
    import pandas as pd
    import pymc as pm
    import xarray as xr

SOURCE = "Lee et al. (2025), Sections 3-5, with Beta priors"
#: With these, the data contradict the declared design.
REFUSED = ("label-shift", "pass-rate-out-of-range")
Prior = BetaPrior | Mapping[str, BetaPrior]


def _one_each(default: BetaPrior = BetaPrior()) -> Any:
    return field(default=default, metadata={"by": "system"})


@dataclass(frozen=True)
class _PrevalenceModel(OneJudge):
    """What the models have in common."""

    def _suits(self, counts: Counts, require: Any) -> None:
        self._require_priors(require, system=counts.systems or ())

    def _require_labels(self, counts: Counts, require: Any) -> None:
        systems = [
            name
            for name in (counts.unlabelled_systems or (None,) * counts.unlabelled)
            if not self._states(name)
        ]
        of = f" of {systems}" if counts.systems else ""
        first, second = self._rates
        require(not systems, "no-labels", of=of, first=first, second=second)

    def _states(self, system: str | None) -> bool:
        """Whether the priors of both of the judge's rates say more than a flat one."""
        model = self if system is None else self.of_system(system)
        return all(sum(getattr(model, rate)) > 2 for rate in self._rates)

    def _rests_on_priors(self, counts: Counts) -> tuple[Caution, ...]:
        """Without labels the answer is what the stated priors make of the pass rate."""
        if not counts.unlabelled or not all(map(self._states, counts.systems or (None,))):
            return ()
        stated = " and ".join(f"{rate} {getattr(self, rate)}" for rate in self._rates)
        return (Caution.of("rests-on-priors", "counts", stated=stated),)

    def of_system(self, name: str) -> Self:
        """Take the priors of one system.

        Parameters
        ----------
        name : str
            Of the system.

        Returns
        -------
        BayesianModel
            The same model with plain priors.
        """
        priors = {f: prior[name] for f, prior in vars(self).items() if isinstance(prior, Mapping)}
        return replace(self, **priors) if priors else self

    def _states_priors(self) -> bool:
        return any(informs(self, name) for name in vars(self))

    def _coords(self, data: Counts) -> dict[str, Any]:
        return {} if data.systems is None else {data.dim: data.systems}

    def _sampling_form(self, data: Counts) -> pm.Model | None:
        restricted = getattr(self, "better_than_chance", False)
        return self._graph(data, text=False) if restricted or self._spreads(data) else None

    def _uncollapsed(self, data: Counts) -> pm.Model:
        by_design = data.design.likelihood is not None
        problem = f"design {data.design.name!r} has a likelihood of its own, by counts"
        expect("prevalence.build_model", not by_design, problem)
        return super()._uncollapsed(data)

    def _variables(self, data: Counts, text: bool) -> dict[str, Any]:
        from bayesjudge.prevalence._pymc import with_pass_rate

        return with_pass_rate(super()._variables(data, text), self._dim(data))

    def _dim(self, data: Counts) -> str | None:
        """What names the systems, if there are any."""
        return None if data.systems is None else data.dim

    def _observe(self, data: Counts, values: Mapping[str, Any]) -> None:
        from bayesjudge.prevalence._pymc import observed

        observed(data, values, text=True)

    def _add_density(self, data: Counts, values: Mapping[str, Any]) -> None:
        from bayesjudge.prevalence._pymc import observed

        observed(data, values, text=False)

    def _derive(self, data: Counts, values: Mapping[str, Any]) -> None:
        import pymc as pm

        if data.adds_up:  # of a covariate: weighed by the shares that the items have
            shares = stratum_shares(data.verdicts, data.propensity, data.shares)
            pm.Deterministic(OVERALL, (shares * values["prevalence"]).sum())

    def _item_log_likelihood(
        self, data: Counts, draws: xr.Dataset
    ) -> tuple[xr.DataArray, np.ndarray] | None:
        by_design = data.design.likelihood is not None
        return None if by_design else super()._item_log_likelihood(data, draws)

    def _quantities(self, counts: Counts) -> tuple[str, ...]:
        first = (OVERALL,) if counts.adds_up else ()
        return (*first, "prevalence", *self._rates, *self._spreads(counts))

    _rates: ClassVar[tuple[str, str]] = ("sensitivity", "specificity")
    _source: ClassVar[str] = SOURCE
    _interval: ClassVar[Interval] = "eti_bounded"

    def _diagnosis(self, counts: Counts) -> Diagnosis:
        assumed = (*self._assumes(counts), *granted(counts))
        assumptions, cautions = diagnose(counts, assumed)
        if counts.covariates is not None:  # strata may be single items; labels may depend on them
            against = {name for assumption in assumptions for name in assumption.contradicted_by}
            merged = tuple(c for c in cautions_of(counts.merged()) if c.id != "label-shift")
            cautions = (*merged, *(c for c in cautions if c.id in against))
        return assumptions, tuple(dict.fromkeys(cautions))

    def _spreads(self, counts: Counts) -> tuple[str, ...]:
        return ()

    def _assumes(self, counts: Counts) -> tuple[Assumption, ...]:
        return ()

    @property
    def _pools(self) -> bool:
        return False

    def _exact_means(self, data: Counts) -> dict[str, np.ndarray]:
        """By quadrature, which takes rates that each system has of its own."""
        if self._pools or not data.has_quadrature:
            return {}
        means = np.full(len(data.systems or ("",)), np.nan)
        for i, name in enumerate(data.systems or ("",)):
            if name not in data.unlabelled_systems:
                pair = (data.system(name), self.of_system(name)) if name else (data, self)
                with suppress(NotIntegrated):
                    means[i] = posterior_of(*pair).mean
        return {"prevalence": means}

    def _extended_to(
        self, fit: Fit, ci_prob: float
    ) -> dict[str, tuple[np.ndarray, np.ndarray]] | None:
        """Ends where the likelihood is not far below its maximum; strata's likelihoods multiply.

        It is integrated over the judge's rates by quadrature; if rates are pooled it is read off
        the draws.
        """
        from bayesjudge.core.intervals import z_score

        counts, drop = fit.data, z_score(ci_prob) ** 2 / 2
        draws = np.atleast_2d(fit.draws("prevalence").T)
        depths = np.array(
            [
                self._depths(counts, name, drawn)
                for name, drawn in zip(counts.systems or (None,), draws, strict=True)
            ]
        ).T
        reaches = {"prevalence": tuple(depths > -drop)}
        if counts.adds_up:
            reaches[OVERALL] = tuple(np.atleast_1d(d) > -drop for d in depths.sum(axis=1))
        return reaches

    def _depths(self, counts: Counts, name: str | None, draws: np.ndarray) -> tuple[float, float]:
        if not near_an_end(draws):
            return -np.inf, -np.inf
        model = self if name is None else self.of_system(name)
        prior = getattr(model, "prevalence", None)
        own_likelihood = counts.design.likelihood is not None
        if prior is not None and (self._pools or own_likelihood):
            return depths_in_draws(draws, prior)
        if own_likelihood:
            return -np.inf, -np.inf
        model, of_system = (
            (self, counts) if name is None else (self.of_system(name), counts.system(name))
        )
        try:
            return depths_of(of_system, model, posterior_of(of_system, model))
        except NotIntegrated:
            return -np.inf, -np.inf

    def _about_items(self, fit: Fit, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Share of good items among these."""
        shares = shares_of_items(fit.data, self._drawn_truths(fit, rng))
        return {name: share[..., 1] for name, share in shares.items()}


@dataclass(frozen=True)
class ErrorRates(_PrevalenceModel):
    r"""The judge's errors, seen from the truth: the model of most label designs.

    With prevalence :math:`\theta`, sensitivity :math:`q_1` and specificity :math:`q_0`, the judge
    passes :math:`k` of :math:`n` unlabelled items, :math:`a_1` of :math:`m_1` good and fails
    :math:`a_0` of :math:`m_0` bad labelled ones:

    .. math:: k \sim Bin(n, \theta q_1 + (1 - \theta)(1 - q_0)), \quad
              a_1 \sim Bin(m_1, q_1), \quad a_0 \sim Bin(m_0, q_0),

    and, if the labelled items are a sample of the same items,
    :math:`m_1 \sim Bin(m_1 + m_0, \theta)`. Each of the three has a Beta prior, and the judge is
    better than chance:

    .. math:: \theta \sim Beta(\alpha_\theta, \beta_\theta), \quad
              p(q_1, q_0) \propto Beta(q_1; \alpha_1, \beta_1)\, Beta(q_0; \alpha_0, \beta_0)\,
              [q_1 + q_0 > 1].

    Parameters
    ----------
    prevalence, sensitivity, specificity : BetaPrior or mapping of str to BetaPrior
        Priors, one for all systems, or one for each by its name; by default Jeffreys' of the
        prevalence and flat of the rates, as ``benchmarks/prevalence/priors.py`` found best of
        simple ones: a flat prior of a rare share pulls it to one half.
    better_than_chance : bool, default True
        Restrict to sensitivity + specificity > 1. If it is false, the posterior may hold the
        mirrored judge too, whose fails mean good; and with more than a million test items the
        sampler may not converge (the gate says so).
    pooling : {"separate", "full"}
        Whether each system has rates of its own, or one judge treats all systems alike.

    Raises
    ------
    InputError
        If a prior is of another type, or `pooling` is unknown.

    Notes
    -----
    Variables: ``prevalence``, ``sensitivity``, ``specificity``, and ``pass_rate`` derived; dims
    ``system``, ``stratum`` or ``judge`` if there are such. A judge better than chance has a pair of
    rates whose sum exceeds 1: the first Beta given that it exceeds one minus the second
    (``GreaterBeta``), the second a Beta above one minus the first. Strata have an
    ``overall_prevalence``, weighed by their shares of the items. Not collapsed, each unlabelled
    item has a ``verdict`` and a ``truth``.

    Examples
    --------
    >>> print(ErrorRates(sensitivity=BetaPrior.worth(rate=0.9, n=20)).sensitivity)
    Beta(19, 3)
    """

    prevalence: BetaPrior | Mapping[str, BetaPrior] = _one_each(BetaPrior.jeffreys())
    sensitivity: BetaPrior | Mapping[str, BetaPrior] = _one_each()
    specificity: BetaPrior | Mapping[str, BetaPrior] = _one_each()
    better_than_chance: bool = True
    pooling: Literal["separate", "full"] = "separate"

    def __post_init__(self) -> None:
        super().__post_init__()
        with checking("ErrorRates") as require:
            require(
                self.pooling in ("separate", "full"),
                f"pooling={self.pooling!r}: separate or full; for partial pooling use "
                "PooledErrorRates()",
            )

    @classmethod
    def jeffreys(cls) -> ErrorRates:
        """Take Jeffreys' prior everywhere.

        Returns
        -------
        ErrorRates
            ``Beta(0.5, 0.5)`` for each unknown.
        """
        prior = BetaPrior.jeffreys()
        return cls(prior, prior, prior)

    @property
    def _method(self) -> Method:
        return methods.FULLY_POOLED if self._pools else methods.NUTS

    @property
    def _pools(self) -> bool:
        return self.pooling == "full"

    def _suits(self, counts: Counts, require: Any) -> None:
        super()._suits(counts, require)
        _require_rates(counts, require)
        self._require_labels(counts, require)
        if not self._pools:
            return
        _require_several(counts, require, "pooling='full'")
        for name in ("sensitivity", "specificity"):
            shared = isinstance(getattr(self, name), BetaPrior)
            require(shared, f"{name}: systems share it (pooling='full'), so give one prior")

    def _assumes(self, counts: Counts) -> tuple[Assumption, ...]:
        return (Assumption.of("same-rates", dim=counts.dim),) if self._pools else ()

    def _shares(self, data: Counts) -> Component:
        return BetaShares(self.prevalence, Apart(self._dim(data)))

    def _errors(self, data: Counts) -> Component:
        vary = Apart(None if self._pools else self._dim(data))
        return RateErrors(self.sensitivity, self.specificity, self.better_than_chance, vary)

    def _variables(self, data: Counts, text: bool) -> dict[str, Any]:
        from bayesjudge.prevalence._pymc import separate_rates

        if self._pools:
            return super()._variables(data, text)
        return separate_rates(self, self._dim(data), text)


@dataclass(frozen=True)
class PooledErrorRates(_PrevalenceModel):
    r"""`ErrorRates` with partial pooling: systems are members of a population of behaviours.

    The judge's rates in system :math:`s` are

    .. math:: \operatorname{logit} q_s = \operatorname{logit} q + \sigma z_s,
              \quad z_s \sim N(0, 1), \quad \sigma \sim N^+(0, \tau),

    so that a system without labels borrows from the others. The typical system's rates :math:`q`
    have Beta priors, and sum to more than 1. Strata of one system's items pool their prevalences in
    the same way, and so may many small systems. The likelihood is that of `ErrorRates`.

    Parameters
    ----------
    prevalence : BetaPrior or mapping of str to BetaPrior
        Of each system; if these are pooled too, the typical one's. Jeffreys' by default.
    sensitivity, specificity : BetaPrior
        Of the typical system; flat by default.
    better_than_chance : bool, default True
        Restrict the typical system to sensitivity + specificity > 1.
    spread : float, default 1
        :math:`\tau`, the scale of the half-normal prior of the standard deviations between
        systems, in logits.
    shares : {"separate", "partial"}, optional
        Whether prevalences are shrunk to each other too; by default those of strata, not of
        systems.

    Raises
    ------
    InputError
        If a prior is of another type, `spread` is not positive, or `shares` is unknown.

    Notes
    -----
    Variables: those of `ErrorRates`, with ``typical_sensitivity``, ``sensitivity_spread`` (a
    standard deviation, in logits) and the same of the specificity.

    Examples
    --------
    >>> print(PooledErrorRates(spread=0.5).spread)
    0.5
    """

    prevalence: BetaPrior | Mapping[str, BetaPrior] = _one_each(BetaPrior.jeffreys())
    sensitivity: BetaPrior = BetaPrior()
    specificity: BetaPrior = BetaPrior()
    better_than_chance: bool = True
    spread: float = 1.0
    shares: Literal["separate", "partial"] | None = None

    _words: ClassVar[Mapping[str, str]] = {"spread": "spread between systems"}
    #: What a system without labels borrows has long tails.
    sampling: ClassVar[Mapping[str, Any]] = {"draws": 2000, "target_accept": 0.98}
    _has_preview: ClassVar[bool] = False
    _method = methods.PARTIALLY_POOLED

    def __post_init__(self) -> None:
        super().__post_init__()
        with checking("PooledErrorRates") as require:
            require(0 < self.spread < float("inf"), "must be positive", spread=self.spread)
            known = self.shares in (None, "separate", "partial")
            require(known, "must be separate, partial or None", shares=self.shares)

    @property
    def _pools(self) -> bool:
        return True

    def _suits(self, counts: Counts, require: Any) -> None:
        super()._suits(counts, require)
        _require_rates(counts, require)
        _require_several(counts, require, "partial pooling")
        if counts.unlabelled:
            self._require_labels(counts, require)
        several = isinstance(self.prevalence, Mapping) and self._pools_shares(counts)
        require(not several, f"prevalence: {plural(counts.kind)} pool it, so give one prior")

    def _pools_shares(self, counts: Counts) -> bool:
        return counts.adds_up if self.shares is None else self.shares == "partial"

    def _spreads(self, counts: Counts) -> tuple[str, ...]:
        pooled = (*(("prevalence",) if self._pools_shares(counts) else ()), *self._rates)
        return tuple(f"{name}_spread" for name in pooled)

    def _assumes(self, counts: Counts) -> tuple[Assumption, ...]:
        return (Assumption.of("exchangeable-rates", dim=counts.dim),)

    def _shares(self, data: Counts) -> Component:
        pools = self._pools_shares(data)
        vary = Pooled(data.dim, self.spread) if pools else Apart(data.dim)
        return BetaShares(self.prevalence, vary)

    def _errors(self, data: Counts) -> Component:
        vary = Pooled(data.dim, self.spread)
        return RateErrors(self.sensitivity, self.specificity, self.better_than_chance, vary)


@dataclass(frozen=True)
class LinearErrorRates(_PrevalenceModel):
    r"""`ErrorRates` that depend on covariates of the items: topic, length, language.

    With covariates :math:`x_i` of item i, about the average item and in standard deviations
    (columns of 0 and 1 as they are),

    .. math:: \operatorname{logit} \theta_i = \operatorname{logit} \bar\theta
              + x_i^\top \beta_\theta, \quad
              \operatorname{logit} q_i = \operatorname{logit} \bar q + x_i^\top \beta_q, \quad
              \beta \sim N(0, \tau),

    for sensitivity and specificity alike, with Beta priors of the average item's
    :math:`\bar\theta` and :math:`\bar q`. The likelihood is that of `ErrorRates` for items that
    agree in all covariates. The overall prevalence is post-stratified: the mean of
    :math:`\theta_i` over the items. Labels that were chosen by a covariate are as good as random
    ones if it is in the formula.

    Parameters
    ----------
    formula : str, default "1"
        Of columns that `Counts.from_frame` read as ``covariates``, in the language of formulaic:
        ``"1 + C(topic) + length"``; ``stratum`` names the strata themselves.
    prevalence, sensitivity, specificity : BetaPrior
        Of the average item; by default those of `ErrorRates`.
    slope : float, default 1
        :math:`\tau`, the standard deviation of the coefficients' normal prior, in logits.

    Raises
    ------
    InputError
        If a prior is of another type, or `slope` is not positive.

    Examples
    --------
    >>> print(LinearErrorRates("1 + C(topic) + length").formula)
    1 + C(topic) + length
    """

    formula: str = "1"
    prevalence: BetaPrior = BetaPrior.jeffreys()
    sensitivity: BetaPrior = BetaPrior()
    specificity: BetaPrior = BetaPrior()
    slope: float = 1.0

    _method = methods.LINEAR_RATES

    def __post_init__(self) -> None:
        super().__post_init__()
        with checking("LinearErrorRates") as require:
            text = isinstance(self.formula, str) and self.formula.strip()
            require(text, "expected text such as '1 + C(topic)'", formula=self.formula)
            require(0 < self.slope < float("inf"), "must be positive", slope=self.slope)

    @property
    def _pools(self) -> bool:
        return True

    def _suits(self, counts: Counts, require: Any) -> None:
        super()._suits(counts, require)
        _require_rates(counts, require)
        strata = counts.adds_up and counts.propensity is None
        require(strata, "LinearErrorRates takes strata: Counts.from_frame(..., covariates=[...])")
        if counts.unlabelled:
            self._require_labels(counts, require)

    def _quantities(self, counts: Counts) -> tuple[str, ...]:
        from bayesjudge.prevalence._covariates import design_of_strata

        rates = ("prevalence", *self._rates)
        several = design_of_strata(self.formula, counts)[0]
        return (OVERALL, *(f"{name}_slope" for name in rates if several))

    def _assumes(self, counts: Counts) -> tuple[Assumption, ...]:
        return (Assumption.of("linear-logits", formula=self.formula),)

    def _shares(self, data: Counts) -> Component:
        return BetaShares(self.prevalence, self._linear(data))

    def _errors(self, data: Counts) -> Component:
        return RateErrors(self.sensitivity, self.specificity, False, self._linear(data))

    def _linear(self, data: Counts) -> Linear:
        from bayesjudge.prevalence._covariates import design_of_strata

        return Linear(data.dim, *design_of_strata(self.formula, data), self.slope)


@dataclass(frozen=True)
class PredictiveValues(_PrevalenceModel):
    r"""The truth, seen from the judge's verdicts: the model of labels chosen by verdict.

    With pass rate :math:`p`, and positive and negative predictive values,

    .. math:: \theta = p \, PPV + (1 - p)(1 - NPV),

    the passes among all items, the good items among labelled passes and the bad items among
    labelled fails are binomial:

    .. math:: k \sim Bin(n, p), \quad a_1 \sim Bin(m_1, PPV), \quad a_0 \sim Bin(m_0, NPV).

    Each of the three has a Beta prior, restricted to :math:`PPV + NPV > 1`.

    Parameters
    ----------
    pass_rate, ppv, npv : BetaPrior or mapping of str to BetaPrior
        Priors, one for all systems, or one for each by its name; Jeffreys' by default. A flat prior
        moves rare failures towards one half: of 50 labels one error, which is .017 of a share of
        .99 (``python benchmarks/prevalence/by_verdict.py``).
    better_than_chance : bool, default True
        Restrict to ppv + npv > 1.

    Raises
    ------
    InputError
        If a prior is of another type.

    Notes
    -----
    Variables: ``pass_rate``, ``ppv`` and ``npv``, with ``prevalence`` derived.

    Examples
    --------
    >>> print(PredictiveValues(ppv=BetaPrior(2, 1)).ppv)
    Beta(2, 1)
    """

    pass_rate: BetaPrior | Mapping[str, BetaPrior] = _one_each(BetaPrior.jeffreys())
    ppv: BetaPrior | Mapping[str, BetaPrior] = _one_each(BetaPrior.jeffreys())
    npv: BetaPrior | Mapping[str, BetaPrior] = _one_each(BetaPrior.jeffreys())
    better_than_chance: bool = True

    _rates: ClassVar[tuple[str, str]] = ("ppv", "npv")

    def _suits(self, counts: Counts, require: Any) -> None:
        super()._suits(counts, require)
        self._require_labels(counts, require)
        require(
            counts.predictive,
            f"PredictiveValues needs labels chosen by verdict, without external ones; "
            f"calibration={counts.design.name!r} takes ErrorRates()",
        )

    def _bounds(self, fit: Fit, ci_prob: float, target: Target) -> dict[str, np.ndarray]:
        counts: Counts = fit.data
        drawn = fit._drawn_for(target)
        parts = [(counts.system(s), self.of_system(s)) for s in counts.systems or ()]
        parts = parts or [(counts, self)]
        draws = drawn["prevalence"].transpose("chain", "draw", ...).to_numpy()
        bounds = of_draws(draws.reshape(-1, len(parts)), parts, ci_prob, target)
        if bounds and counts.adds_up:
            whole = drawn[OVERALL].to_numpy().ravel()
            bounds[OVERALL] = of_sum(whole, parts, counts.shares, ci_prob)
        return bounds

    def _shares(self, data: Counts) -> None:
        return None

    def _errors(self, data: Counts) -> Component:
        known = self.pass_rate, self.ppv, self.npv, self.better_than_chance
        return PredictiveRates(*known, self._dim(data))

    def _variables(self, data: Counts, text: bool) -> dict[str, Any]:
        import pymc as pm

        values = super(_PrevalenceModel, self)._variables(data, text)
        rate, ppv, npv = (values[name] for name in ("pass_rate", *self._rates))
        good = rate * ppv + (1 - rate) * (1 - npv)
        dims = self._dim(data)
        return {**values, "prevalence": pm.Deterministic("prevalence", good, dims=dims)}


PrevalenceModel = ErrorRates | PooledErrorRates | LinearErrorRates | PredictiveValues


def default_model(counts: Counts) -> PrevalenceModel:
    """The model of the label design; strata are partially pooled.

    Many thin strata with priors of their own would pull the overall prevalence to one half.
    """
    if counts.predictive:
        return PredictiveValues()
    return PooledErrorRates() if counts.adds_up else ErrorRates()


@prior_table.register(_PrevalenceModel)
def _beside_prior(
    model: PrevalenceModel, counts: Counts, rng: np.random.Generator, *, stated: bool = False
) -> pd.DataFrame:
    """Shares of verdicts and labels beside what the priors expect of them."""
    return table_of(counts, model, rng, stated)


suited = with_default(Counts, default_model)


def _require_rates(counts: Counts, require: Any) -> None:
    require(not counts.predictive, "predictive-values")


def _require_several(counts: Counts, require: Any, what: str) -> None:
    several = counts.systems is not None and counts.dim != "judge"
    judges = counts.systems if counts.dim == "judge" else None
    more = f": read one judge at a time (verdict={judges[0]!r}, by= the systems)" if judges else ""
    require(several, "needs-groups", what=what, more=more)
