"""Dawid-Skene models: each item has a truth, which is summed out, and judges err by truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from bayesjudge.core.errors import Require, expect
from bayesjudge.core.estimate import Assumption, Caution
from bayesjudge.core.fit import Fit
from bayesjudge.core.priors import BetaPrior, NormalPrior
from bayesjudge.panel._em import Problem, solve
from bayesjudge.panel.checks import (
    BETTER_THAN_CHANCE,
    INDEPENDENT,
    INDEPENDENT_GIVEN_EFFECT,
    SAME_ERRORS,
)
from bayesjudge.panel.data import MISSING, Votes
from bayesjudge.panel.label_design import RANDOM_LABELS
from bayesjudge.panel.models._base import PanelModel
from bayesjudge.truth.components import (
    Answering,
    Apart,
    BetaShares,
    Component,
    DirichletRows,
    PopulationErrors,
    RateErrors,
    SharedEffect,
)
from bayesjudge.truth.likelihood import missing_as_response, some_draws
from bayesjudge.truth.model import LatentTruth

if TYPE_CHECKING:
    from bayesjudge.verdicts.table import Verdicts

#: Where the sampler looks for a judge who seems no better than chance, as `discrimination` is.
LEAST_DISCRIMINATION = 0.3
#: With so many judges, of so many votes each, what the votes say of a judge is all but normal.
MANY_JUDGES, MANY_VOTES = 8, 10_000
#: Doubling the nodes must not change the log-likelihood by more than this from draw to draw.
NODE_TOLERANCE = 0.1


@dataclass(frozen=True)
class _LatentTruth(LatentTruth, PanelModel):
    """What the models whose items have a truth have in common."""

    _assumptions: ClassVar[tuple[Assumption, ...]] = (
        INDEPENDENT,
        SAME_ERRORS,
        BETTER_THAN_CHANCE,
        RANDOM_LABELS,
    )
    _needs_labels: ClassVar[bool] = False
    #: The log-probability of an item's votes is a sum over judges.
    _independent: ClassVar[bool] = True

    @property
    def _missing(self) -> Literal["skip", "response"]:
        return "skip" if getattr(self, "answering", None) is None else "response"

    def _table(self, votes: Votes) -> Verdicts:
        table = votes.verdicts
        return table if self._missing == "skip" else missing_as_response(table)

    def _quantities(self, votes: Votes) -> tuple[str, ...]:
        return tuple(name for part in self._parts(votes) for name in part.quantities)

    def _coords(self, votes: Votes) -> dict[str, Any]:
        self._check(votes)
        extra = ("missing",) if self._missing == "response" else ()
        coords: dict[str, Any] = {"generator": votes.generators, "judge": votes.judges}
        return coords | {"truth": votes.classes, "vote": (*votes.classes, *extra)}

    def _about_items(self, fit: Fit, rng: np.random.Generator) -> dict[str, np.ndarray] | None:
        drawn = self._drawn_truths(fit, rng)
        with np.errstate(invalid="ignore"):  # no items, no share of them
            share = drawn / drawn.sum(axis=-1, keepdims=True)
        return {"prevalence": share[..., 1]} if fit.data.n_classes == 2 else {"share": share}


@dataclass(frozen=True)
class LatentTruthPanel(_LatentTruth):
    """A panel whose judges err by truth, in a way that a subclass says.

    A subclass adds priors as fields, and says by `_errors` which component of judges' errors they
    make; ``docs/extend.md`` has one.

    Parameters
    ----------
    prevalence : BetaPrior or mapping of str to BetaPrior, default ``BetaPrior()``
        Share of good outputs of each generator; one for all, or one for each by its name.

    Raises
    ------
    InputError
        If a prior is of another type.
    """

    prevalence: BetaPrior | Mapping[str, BetaPrior] = field(
        default=BetaPrior(), metadata={"by": "generator"}
    )

    def _shares(self, votes: Votes) -> Component:
        return BetaShares(self.prevalence, Apart("generator"))


def _answered(errors: Component, prior: BetaPrior | None) -> Component:
    return errors if prior is None else Answering(errors, prior)


@dataclass(frozen=True)
class PooledDawidSkene(LatentTruthPanel):
    r"""Judges err independently given the truth, with error rates from a common population.

    A judge has a discrimination and a leniency, on the logit scale,

    .. math:: \operatorname{logit} P(\text{pass} \mid z) = \text{leniency} \pm
        \tfrac12 \text{discrimination},

    plus on good items, minus on bad ones; both are partially pooled over judges:

    .. math:: z_i \sim Bernoulli(g), \quad
        P(v_i \mid z_i) = \prod_j P(v_{ij} \mid z_i), \quad
        \log \text{discrimination}_j \sim N(\mu_d, s_d), \quad
        \text{leniency}_j \sim N(\mu_l, s_l),

    with a Beta prior of each generator's prevalence g, and the unknown truths :math:`z_i` summed
    out. A *spread* is the scale of a half-normal prior of the population's standard deviation.

    Parameters
    ----------
    prevalence : BetaPrior or mapping of str to BetaPrior, default ``BetaPrior()``
        Share of good outputs of each generator; one for all, or one for each by its name.
    discrimination : NormalPrior, default ``NormalPrior(0.7, 0.7)``
        Logarithm of the population's mean discrimination, logit(sensitivity) + logit(specificity):
        exp(0.7), that is 2, is a judge with 0.73 and 0.73. It cannot be negative, so a judge is
        better than chance.
    discrimination_spread : float, default 0.5
        How much the logarithm differs between judges.
    leniency : NormalPrior, default ``NormalPrior(0, 1.5)``
        Half of logit(sensitivity) - logit(specificity) in the population: 0 is neither lenient nor
        severe, 2 is lenient (0.95 and 0.27 at discrimination 2).
    leniency_spread : float, default 1
        How much it differs between judges.
    answering : BetaPrior, optional
        Probability of a vote at all, by judge and truth: a missing vote is then one more response.
        Without it missing votes are left out, which is right if they say nothing about the truth.

    Raises
    ------
    InputError
        If a prior is of another type, or a spread is not positive.

    Notes
    -----
    Variables: ``prevalence`` (generator), ``sensitivity`` and ``specificity`` (judge). Observed:
    ``items`` (pattern), multinomial within items of one generator with votes of the same judges,
    labelled or not; the last patterns stand for votes that no item has. Not collapsed, each item
    has an ``item_truth`` (of `Correlated` also an ``item_effect``) and each vote is a variable.

    References
    ----------
    Dawid & Skene (1979), Appl. Stat. 28, 20-28.

    Examples
    --------
    >>> print(PooledDawidSkene(leniency_spread=0.5).leniency_spread)
    0.5
    """

    _title: ClassVar[str] = "Dawid-Skene"
    _source: ClassVar[str] = "Dawid & Skene (1979), hierarchical, truths summed out"
    #: At .9 now and then a chain stays far out where the judges' spread is large.
    sampling: ClassVar[dict[str, Any]] = {"target_accept": 0.95}

    discrimination: NormalPrior = NormalPrior(0.7, 0.7)
    discrimination_spread: float = 0.5
    leniency: NormalPrior = NormalPrior(0.0, 1.5)
    leniency_spread: float = 1.0
    answering: BetaPrior | None = None

    def _sampling(self, votes: Votes) -> Mapping[str, Any]:
        """With many judges and votes the posterior is all but normal, and steps may be longer."""
        given = ((votes.votes != MISSING) * votes.count[:, None]).sum(axis=0)
        cast = np.bincount(votes.judge_of_column, given, minlength=len(votes.judges))
        known = self._independent and self.answering is None and len(cast) >= MANY_JUDGES
        return {"target_accept": 0.9} if known and cast.min() >= MANY_VOTES else self.sampling

    def _judges(self, votes: Votes) -> PopulationErrors:
        prior = {f: getattr(self, f) for f in ("discrimination", "leniency")}
        prior |= {f"{f}_spread": getattr(self, f"{f}_spread") for f in prior}
        return PopulationErrors(**prior, guesses=partial(_guesses, votes, self))

    def _errors(self, votes: Votes) -> Component:
        return _answered(self._judges(votes), self.answering)


@dataclass(frozen=True)
class Correlated(PooledDawidSkene):
    r"""Judges share an effect on each item, so that they err together.

    `PooledDawidSkene` with a normal effect on the logits of all judges,

    .. math:: \operatorname{logit} P(v_{ij} = 1 \mid z_i, u_i) =
        \text{leniency}_j \pm \tfrac12 \text{discrimination}_j + \tau_{z_i} u_i, \quad
        u_i \sim N(0, 1), \quad \tau \sim N^+(0, \text{shared effect}),

    integrated out by Gauss-Hermite quadrature.

    Parameters
    ----------
    prevalence : BetaPrior or mapping of str to BetaPrior, default ``BetaPrior()``
        Share of good outputs of each generator.
    discrimination : NormalPrior, default ``NormalPrior(0.7, 0.7)``
        Logarithm of the population's mean discrimination, as in `PooledDawidSkene`.
    discrimination_spread : float, default 0.5
        How much the logarithm differs between judges.
    leniency : NormalPrior, default ``NormalPrior(0, 1.5)``
        The population's mean leniency.
    leniency_spread : float, default 1
        How much it differs between judges.
    answering : BetaPrior, optional
        Probability of a vote at all, as in `PooledDawidSkene`.
    shared_effect : float, default 1.5
        Scale of the half-normal prior of the effect's standard deviation, on bad and on good items.
    nodes : int, default 21
        Points of the quadrature, 5 to 200. They are doubled once after a fit, and a caution says
        if that changes the likelihood.

    Raises
    ------
    InputError
        If a prior is of another type, a spread is not positive, or `nodes` is out of range.

    References
    ----------
    Qu, Tan & Kutner (1996), Biometrics 52, 797-810; Dendukuri & Joseph (2001), Biometrics 57,
    158-167.
    """

    _title: ClassVar[str] = "Dawid-Skene with a shared item effect"
    _source: ClassVar[str] = "Qu, Tan & Kutner (1996); Dendukuri & Joseph (2001)"
    _assumptions: ClassVar[tuple[Assumption, ...]] = (
        INDEPENDENT_GIVEN_EFFECT,
        SAME_ERRORS,
        BETTER_THAN_CHANCE,
        RANDOM_LABELS,
    )
    _independent: ClassVar[bool] = False

    shared_effect: float = 1.5
    nodes: int = 21

    def __post_init__(self) -> None:
        super().__post_init__()
        whole = isinstance(self.nodes, int) and 5 <= self.nodes <= 200
        expect("Correlated", whole, f"nodes={self.nodes!r}, expected 5 to 200")

    def _errors(self, votes: Votes) -> Component:
        effect = SharedEffect(self._judges(votes), self.shared_effect, self.nodes)
        return _answered(effect, self.answering)

    def _cautions_of_fit(self, fit: Fit) -> tuple[Caution, ...]:
        change, cautions = _quadrature_change(fit), super()._cautions_of_fit(fit)
        if change <= NODE_TOLERANCE:
            return cautions
        return (
            Caution.of("too-few-nodes", twice=2 * self.nodes, nodes=self.nodes, change=change),
            *cautions,
        )


@dataclass(frozen=True)
class DawidSkene(LatentTruthPanel):
    r"""Judges err independently given the truth, each with priors of its own.

    With the prevalence :math:`g` of a generator, and sensitivity and specificity of a judge,

    .. math:: z_i \sim Bernoulli(g), \quad
        v_{ij} \mid z_i = 1 \sim Bernoulli(s_j), \quad
        v_{ij} \mid z_i = 0 \sim Bernoulli(1 - c_j),

    all with Beta priors, and :math:`s_j + c_j > 1`. Unknown truths are summed out.

    Parameters
    ----------
    prevalence : BetaPrior or mapping of str to BetaPrior, default ``BetaPrior()``
        Share of good outputs of each generator; one for all, or one for each by its name.
    sensitivity, specificity : BetaPrior or mapping of str to BetaPrior, default ``BetaPrior()``
        Of each judge; one for all, or one for each by its name.
    better_than_chance : bool, default True
        Restrict judges to sensitivity + specificity > 1.
    answering : BetaPrior, optional
        Probability of a vote at all, by judge and truth: a missing vote is then one more response.

    Raises
    ------
    InputError
        If a prior is of another type.

    References
    ----------
    Dawid & Skene (1979), Appl. Stat. 28, 20-28.

    Examples
    --------
    >>> print(DawidSkene(sensitivity=BetaPrior.worth(0.9, 20)).sensitivity)
    Beta(19, 3)
    """

    _title: ClassVar[str] = "Dawid-Skene, separate judges"
    _source: ClassVar[str] = "Dawid & Skene (1979), truths summed out"

    sensitivity: BetaPrior | Mapping[str, BetaPrior] = field(
        default=BetaPrior(), metadata={"by": "judge"}
    )
    specificity: BetaPrior | Mapping[str, BetaPrior] = field(
        default=BetaPrior(), metadata={"by": "judge"}
    )
    better_than_chance: bool = True
    answering: BetaPrior | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        value = self.better_than_chance
        problem = f"better_than_chance={value!r}: True or False"
        expect("DawidSkene", isinstance(value, bool), problem)

    def _errors(self, votes: Votes) -> Component:
        rates = self.sensitivity, self.specificity, self.better_than_chance
        return _answered(RateErrors(*rates, Apart("judge"), "judge"), self.answering)


@dataclass(frozen=True)
class MulticlassDawidSkene(_LatentTruth):
    r"""Dawid and Skene's model of more than two classes: one confusion matrix per judge.

    .. math:: z_i \sim Categorical(\pi_g), \quad
        v_{ij} \mid z_i = k \sim Categorical(C_{jk}), \quad
        \pi_g \sim Dirichlet, \quad C_{jk} \sim Dirichlet.

    Unknown truths are summed out.

    Parameters
    ----------
    share_concentration : float, default 1
        Dirichlet weight of each class in a generator's shares.
    diagonal, off_diagonal : float, default 2 and 1
        Dirichlet weights of a right vote and of each wrong one.
    missing : {"skip", "response"}
        Leave a missing vote out, or count it as a response of its own, which depends on the truth.

    Raises
    ------
    InputError
        If a weight is not positive, or `missing` is unknown.

    Notes
    -----
    Variables: ``share`` (generator, truth) and ``confusion`` (judge, truth, vote).

    References
    ----------
    Dawid & Skene (1979), Appl. Stat. 28, 20-28.
    """

    _title: ClassVar[str] = "Dawid-Skene"
    _source: ClassVar[str] = "Dawid & Skene (1979), truths summed out"

    share_concentration: float = 1.0
    diagonal: float = 2.0
    off_diagonal: float = 1.0
    missing: Literal["skip", "response"] = "skip"

    def __post_init__(self) -> None:
        super().__post_init__()
        known = self.missing in ("skip", "response")
        expect("MulticlassDawidSkene", known, f"missing={self.missing!r}: skip or response")

    @property
    def _missing(self) -> Literal["skip", "response"]:
        return self.missing

    def _require_classes(self, votes: Votes, require: Require) -> None:
        require(
            votes.n_classes > 2, "two classes are pass and fail; use PooledDawidSkene or DawidSkene"
        )

    def _shares(self, votes: Votes) -> Component:
        weights = np.full(votes.n_classes, self.share_concentration)
        return DirichletRows("share", weights, ("generator", "truth"))

    def _errors(self, votes: Votes) -> Component:
        return DirichletRows("confusion", self._weights(votes), ("judge", "truth", "vote"))

    def _weights(self, votes: Votes) -> np.ndarray:
        """Dirichlet weights of a judge's votes by truth."""
        k = votes.n_classes
        weights = np.full((k, k + (self.missing == "response")), float(self.off_diagonal))
        np.fill_diagonal(weights, self.diagonal)
        return weights


def _guesses(votes: Votes, model: PooledDawidSkene) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """What votes say of each judge, and its standard error, about: by expectation-maximisation.

    A vote on an item whose truth is uncertain says little.
    """
    problem = Problem(votes, model._missing)
    posterior = solve(problem, pseudo=1.0, tolerance=1e-6, max_iterations=200).posterior
    sure = (2 * posterior.max(axis=1, keepdims=True) - 1) ** 2
    seen, weighed = (
        problem.expected_counts(weight)[1][..., :2] + 0.5
        for weight in (posterior, posterior * sure)
    )
    low, high = (np.log(seen[..., 1]) - np.log(seen[..., 0])).T
    error = np.sqrt((1 / weighed).sum(axis=(1, 2)))
    discrimination = np.maximum(high - low, LEAST_DISCRIMINATION)
    return {
        "discrimination": (np.log(discrimination), error / discrimination),
        "leniency": ((low + high) / 2, error / 2),
    }


def _quadrature_change(fit: Fit, draws: int = 100) -> float:
    """How unevenly the log-likelihood of draws changes when nodes are doubled: its spread (sd).

    A change that all draws share leaves the posterior as it is.
    """
    spec: Correlated = fit.spec  # type: ignore[assignment]
    total = len(fit.draws("shared_effect"))
    posterior = some_draws(fit, np.linspace(0, total - 1, draws).astype(int))
    once, twice = (
        model._log_likelihood_of_items(fit.data, posterior) @ fit.data.count
        for model in (spec, replace(spec, nodes=2 * spec.nodes))
    )
    return float(np.std(twice - once))
