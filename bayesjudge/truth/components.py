"""Components of the latent-truth model: unknowns with their priors, and what they make probable.

A component adds its unknowns to the PyMC model in whose context `variables` is called. Of their
values, `log_table` makes logarithms of probabilities: of variables of a graph with
``xp=pytensor.tensor``, of posterior draws, one axis in front, with ``xp=numpy``. One formula serves
what NUTS samples and all that follows sampling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.core.priors import BetaPrior, NormalPrior

if TYPE_CHECKING:
    from bayesjudge.verdicts.table import Verdicts

Values = Mapping[str, Any]
Prior = BetaPrior | Mapping[str, BetaPrior]


class Component:
    """Some unknowns of a latent-truth model: their priors, and the probabilities that they make.

    A component of your own is a frozen data class on top of it, whose fields are its priors;
    ``docs/extend.md`` has one.
    """

    #: Variables that `log_table` is made of, as the posterior calls them.
    names: ClassVar[Sequence[str]]
    #: Who has rows of its own in a table of errors: each judge, the judge in each group, or nobody.
    by: Literal["judge", "group"] | None = "judge"
    #: Logarithms of the weights of a table's last axis, if it has one of quadrature nodes.
    log_weight: np.ndarray | None = None

    def variables(self, table: Verdicts, text: bool) -> dict[str, Any]:
        """Add the unknowns to the model in whose context this is called.

        Parameters
        ----------
        table : Verdicts
            Whose verdicts are modelled.
        text : bool
            Whether the variables are those of the text, or may be others with the same density in
            which NUTS takes fewer steps.

        Returns
        -------
        dict of str to variable
            By name, at least those of `names`.
        """
        raise NotImplementedError

    def log_table(self, values: Values, xp: Any) -> Any:
        """Make logarithms of probabilities.

        Parameters
        ----------
        values : mapping of str to variable or numpy.ndarray
            Of the variables in `names`; of draws, with an axis of them in front.
        xp : module
            ``pytensor.tensor`` or ``numpy``.

        Returns
        -------
        variable or numpy.ndarray
            Of shares, shape (…, n_groups, n_classes); of a judge's errors, shape
            (…, n_judges, n_classes, n_responses), or of groups in place of judges, or of 1.
        """
        raise NotImplementedError


# Priors as data -----------------------------------------------------------------------------------


def prior_data(name: str, prior: Prior | NormalPrior | float, dim: str | None = None) -> tuple:
    """Parameters of a prior as data, so that other priors need no other compilation."""
    import pymc as pm

    model = pm.modelcontext(None)
    if isinstance(prior, NormalPrior):
        model.add_coord("normal_parameter", ("mean", "sd"))
        values = pm.Data(f"{name}_prior", np.array(tuple(prior)), dims="normal_parameter")
        return values[0], values[1]
    if not isinstance(prior, BetaPrior | Mapping):
        return (pm.Data(f"{name}_prior", np.array(float(prior))),)
    model.add_coord("parameter", ("alpha", "beta"))
    if isinstance(prior, BetaPrior):
        values = pm.Data(f"{name}_prior", np.array(tuple(prior)), dims="parameter")
        return values[0], values[1]
    known = list(model.coords[dim] or ())
    with checking(f"prior of {name}") as require:
        missing = [one for one in known if one not in prior]
        unknown = [one for one in prior if one not in known]
        require(not missing, f"no prior for {dim} {missing[:3]}; give one for each {dim}")
        require(not unknown, f"no {dim} is called {unknown[:3]}; there are {known}")
    each = np.array([tuple(prior[one]) for one in known]).T
    values = pm.Data(f"{name}_prior", each, dims=("parameter", dim))
    return values[0], values[1]


def pair_of_rates(
    names: Sequence[str], priors: Sequence[Any], *, above_one: bool, text: bool, dims: str | None
) -> tuple[Any, Any]:
    """Two shares, independent or restricted to a sum above 1.

    The sampler's restriction is a change of variables: the second is ``1 - first * (1 - share)``
    with ``share`` in (0, 1), whose Jacobian is the first.
    """
    import pymc as pm
    import pytensor.tensor as pt

    from bayesjudge.core.distributions import beta_share, pair_above_one

    one, other = names
    if not above_one:
        first, second = (
            pm.Beta(name, *prior, dims=dims) for name, prior in zip(names, priors, strict=True)
        )
        return first, second
    if text:
        return pair_above_one((one, other), priors, dims)
    first = beta_share(one, *priors[0], text=False, dims=dims)
    share = pm.Uniform(f"{other}_share", dims=dims)
    missed, (alpha, beta) = first * (1 - share), priors[1]
    density = (alpha - 1) * pt.log1p(-missed) + (beta - 1) * pt.log(missed) + pt.log(first)
    pm.Potential(f"{other}_prior_density", density.sum())
    return first, pm.Deterministic(other, 1 - missed, dims=dims)


# Shares -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BetaShares(Component):
    """The share of good outputs of each group, or of all."""

    prior: Prior
    dim: str | None
    names: ClassVar[Sequence[str]] = ("prevalence",)

    def variables(self, table: Verdicts, text: bool) -> dict[str, Any]:
        """Beta variables."""
        import pymc as pm

        ends = prior_data("prevalence", self.prior, self.dim)
        return {"prevalence": pm.Beta("prevalence", *ends, dims=self.dim)}

    def log_table(self, values: Values, xp: Any) -> Any:
        """Of fail and pass."""
        good = values["prevalence"] if self.dim else values["prevalence"][..., None]
        return xp.stack([xp.log1p(-good), xp.log(good)], axis=-1)


@dataclass(frozen=True, eq=False)
class DirichletShares(Component):
    """Shares of several classes in each group, or in all."""

    name: str
    weights: np.ndarray
    dims: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Its own."""
        return (self.name,)

    def variables(self, table: Verdicts, text: bool) -> dict[str, Any]:
        """A row of shares for each group; for the sampler their logarithms."""
        import pymc as pm
        import pytensor.tensor as pt

        from bayesjudge.core.distributions import log_dirichlet

        if text or len(self.dims) == 1:
            weights = pm.Data(f"{self.name}_prior", self.weights, dims=self.dims[-1:])
            return {self.name: pm.Dirichlet(self.name, weights, dims=self.dims)}
        groups = len(pm.modelcontext(None).coords[self.dims[0]] or ())
        logs = log_dirichlet(self.name, self.weights[None], np.zeros(1, int), groups)[:, :, 0]
        pm.Deterministic(self.name, pt.exp(logs), dims=self.dims)
        return {f"log_{self.name}": logs, self.name: pt.exp(logs)}

    def log_table(self, values: Values, xp: Any) -> Any:
        """Of the classes."""
        logs = values.get(f"log_{self.name}")
        logs = xp.log(values[self.name]) if logs is None else logs
        return logs if len(self.dims) == 2 else logs[..., None, :]


# A judge's errors ---------------------------------------------------------------------------------


class _Rates(Component):
    """Errors told by a sensitivity and a specificity."""

    names: ClassVar[Sequence[str]] = ("sensitivity", "specificity")

    def log_table(self, values: Values, xp: Any) -> Any:
        """Of fail and pass, on bad and on good items."""
        s, c = (values[name] if self.by else values[name][..., None] for name in self.names)
        bad = xp.stack([xp.log(c), xp.log1p(-c)], axis=-1)
        return xp.stack([bad, xp.stack([xp.log1p(-s), xp.log(s)], axis=-1)], axis=-2)


@dataclass(frozen=True)
class SeparateErrors(_Rates):
    """Beta priors of a sensitivity and a specificity, which may be known to be above chance."""

    sensitivity: Prior
    specificity: Prior
    better_than_chance: bool
    dim: str | None
    by: Literal["judge", "group"] | None = "judge"

    def variables(self, table: Verdicts, text: bool) -> dict[str, Any]:
        """One pair for each entry of `dim`."""
        priors = [prior_data(name, getattr(self, name), self.dim) for name in self.names]
        about: dict[str, Any] = {"above_one": self.better_than_chance, "text": text}
        pair = pair_of_rates(self.names, priors, **about, dims=self.dim)
        return dict(zip(self.names, pair, strict=True))


@dataclass(frozen=True, eq=False)
class PopulationErrors(Component):
    """Judges of one population of discriminations and leniencies, on the scale of logits."""

    discrimination: NormalPrior
    discrimination_spread: float
    leniency: NormalPrior
    leniency_spread: float
    #: What the sampler takes for each judge's value and its standard error, by name.
    guesses: Callable[[], dict[str, tuple[np.ndarray, np.ndarray]]]
    names: ClassVar[Sequence[str]] = ("discrimination", "leniency")

    def variables(self, table: Verdicts, text: bool) -> dict[str, Any]:
        """Both parts of each judge, and its rates."""
        import pymc as pm

        values = self.judges(text)
        low, high = (logits_of_judges(values, pm.math)[:, z] for z in (0, 1))
        name_rates(pm.math.sigmoid(high), pm.math.sigmoid(-low))
        return values

    def judges(self, text: bool) -> dict[str, Any]:
        """Both parts of each judge."""
        import pymc as pm

        if text:
            return {
                name: pm.Normal(name, *self._population(name), dims="judge") for name in self.names
            }
        values = {}
        for name, about in self.coordinates().items():
            values[name], density = around_guess(name, *about)
            pm.Potential(f"{name}_density", density)
        return values

    def coordinates(self) -> dict[str, tuple[Any, ...]]:
        """Mean, spread, the sampler's own coordinate of each judge, and guess with error."""
        import pymc as pm

        found = {}
        for name, guess in self.guesses().items():
            unknown = self._population(name)
            at, error = (
                pm.Data(f"{name}_{what}", values, dims="judge")
                for what, values in zip(("guess", "error"), guess, strict=True)
            )
            found[name] = *unknown, pm.Flat(f"{name}_own", dims="judge"), at, error
        return found

    def _population(self, name: str) -> tuple[Any, Any]:
        """Mean and spread of the judges."""
        import pymc as pm

        mean = pm.Normal(f"{name}_mean", *prior_data(f"{name}_mean", getattr(self, name)))
        scale = prior_data(f"{name}_spread", getattr(self, f"{name}_spread"))
        return mean, pm.HalfNormal(f"{name}_spread", *scale)

    def log_table(self, values: Values, xp: Any) -> Any:
        """Of fail and pass, on bad and on good items."""
        return log_verdicts(logits_of_judges(values, xp), xp, axis=-1)


@dataclass(frozen=True, eq=False)
class SharedEffect(Component):
    """Judges of a population who share a normal effect on each item, integrated at nodes."""

    judges: PopulationErrors
    scale: float
    nodes: int
    names: ClassVar[Sequence[str]] = ("discrimination", "leniency", "shared_effect")

    @cached_property
    def _quadrature(self) -> tuple[np.ndarray, np.ndarray]:
        points, weights = np.polynomial.hermite_e.hermegauss(self.nodes)
        return points, weights / weights.sum()

    @property
    def log_weight(self) -> np.ndarray:  # type: ignore[override]
        """Of the nodes; the smallest of many are 0 in floating point, and may be."""
        return np.asarray(np.log(np.maximum(self._quadrature[1], 1e-300)))

    def variables(self, table: Verdicts, text: bool) -> dict[str, Any]:
        """Those of the judges, and the effect's standard deviation on bad and on good items."""
        values = self.judges.judges(text)
        return values | {"shared_effect": self.spread(values)[0]}

    def spread(self, judges: Values) -> tuple[Any, Any, Any]:
        """Standard deviation of the effect by class; points and weights of its quadrature."""
        import pymc as pm

        pm.modelcontext(None).add_coord("node", np.arange(self.nodes))
        points, weights = self._quadrature
        at = pm.Data("nodes", points, dims="node")
        share = pm.Data("node_weights", weights, dims="node")
        prior = prior_data("shared_effect", self.scale)
        spread = pm.HalfNormal("shared_effect", *prior, dims="truth")
        per_node = logits_of_judges(judges, pm.math)[..., None] + spread[:, None] * at
        # products with a vector, since the sampler takes no strided results
        passing, failing = (
            pm.math.sigmoid(per_node[:, 1]) @ share,
            pm.math.sigmoid(-per_node[:, 0]) @ share,
        )
        name_rates(passing, failing)
        return spread, at, share

    def log_table(self, values: Values, xp: Any) -> Any:
        """Of fail and pass, on bad and on good items, at each node."""
        return self.at(values, xp, self._quadrature[0])

    def at(self, values: Values, xp: Any, effect: Any) -> Any:
        """Of fail and pass, on bad and on good items, at each value of the effect."""
        shift = values["shared_effect"][..., None, :, None] * effect
        return log_verdicts(logits_of_judges(values, xp)[..., None] + shift, xp, axis=-2)


@dataclass(frozen=True)
class Answering(Component):
    """Not voting as one more response, whose probability depends on judge and truth."""

    errors: Any
    prior: BetaPrior

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Those of the errors, and its own."""
        return (*self.errors.names, "answering")

    @property
    def log_weight(self) -> np.ndarray | None:  # type: ignore[override]
        """Of the errors."""
        return self.errors.log_weight

    def variables(self, table: Verdicts, text: bool) -> dict[str, Any]:
        """Those of the errors, and the probability of a vote at all."""
        values = self.errors.variables(table, text)
        return values | self.answering()

    def answering(self) -> dict[str, Any]:
        """The probability of a vote at all."""
        import pymc as pm

        ends = prior_data("answering", self.prior)
        return {"answering": pm.Beta("answering", *ends, dims=("judge", "truth"))}

    def log_table(self, values: Values, xp: Any) -> Any:
        """Of the verdicts, and of none."""
        return self.extended(self.errors.log_table(values, xp), values, xp)

    def at(self, values: Values, xp: Any, effect: Any) -> Any:
        """Of the verdicts, and of none, at each value of a shared effect."""
        return self.extended(self.errors.at(values, xp, effect), values, xp)

    def extended(self, verdicts: Any, values: Values, xp: Any) -> Any:
        """A table of verdicts with a column more."""
        answering = values["answering"][..., None]
        first, axis = verdicts[..., :1], -1
        if self.log_weight is not None:
            answering, first, axis = answering[..., None], verdicts[..., :1, :], -2
        absent = xp.zeros_like(first) + xp.log1p(-answering)
        return xp.concatenate([verdicts + xp.log(answering), absent], axis=axis)


@dataclass(frozen=True, eq=False)
class DirichletErrors(Component):
    """A row of shares of the responses for each class: confusions."""

    name: str
    weights: np.ndarray  #: class, response
    dims: tuple[str, ...]  #: of who has them, if anybody does, of classes and of responses
    by: Literal["judge", "group"] | None = "judge"

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Its own."""
        return (self.name,)

    def variables(self, table: Verdicts, text: bool) -> dict[str, Any]:
        """Dirichlet variables; for the sampler in coordinates of which it takes longer steps."""
        import pymc as pm
        import pytensor.tensor as pt

        from bayesjudge.core.distributions import log_dirichlet

        coords = pm.modelcontext(None).coords
        if text or self.by != "judge":
            weights = pm.Data(f"{self.name}_prior", self.weights, dims=self.dims[-2:])
            if len(self.dims) == 3:
                weights = pt.ones((len(coords[self.dims[0]] or ()), 1, 1)) * weights
            return {self.name: pm.Dirichlet(self.name, weights, dims=self.dims)}
        k = len(self.weights)
        logs = log_dirichlet(self.name, self.weights, np.arange(k), len(table.judges))
        by_truth = logs.transpose(0, 2, 1)
        pm.Deterministic(self.name, pt.exp(by_truth), dims=self.dims)
        return {f"log_{self.name}": by_truth, self.name: pt.exp(by_truth)}

    def log_table(self, values: Values, xp: Any) -> Any:
        """Of the responses by class."""
        logs = values.get(f"log_{self.name}")
        logs = xp.log(values[self.name]) if logs is None else logs
        return logs if len(self.dims) == 3 else logs[..., None, :, :]


def logits_of_judges(values: Values, xp: Any) -> Any:
    """Logits of a pass, on bad and on good items, by judge."""
    half = xp.exp(values["discrimination"]) / 2
    return xp.stack([values["leniency"] - half, values["leniency"] + half], axis=-1)


def log_verdicts(logits: Any, xp: Any, axis: int) -> Any:
    """Logarithms of the probabilities of fail and pass, from logits of a pass."""
    # one exponential for both softplus and their slopes
    small = xp.log1p(xp.exp(-xp.abs(logits)))
    return xp.stack([-xp.maximum(logits, 0) - small, xp.minimum(logits, 0) - small], axis=axis)


def name_rates(sensitivity: Any, specificity: Any) -> None:
    """Make rates by judge variables of the model."""
    import pymc as pm

    pm.Deterministic("sensitivity", sensitivity, dims="judge")
    pm.Deterministic("specificity", specificity, dims="judge")


def around_guess(
    name: str, mean: Any, spread: Any, own: Any, at: Any, error: Any
) -> tuple[Any, Any]:
    """Judges for the sampler, counted in standard deviations from what is known of each.

    Were the votes a measurement `at` with standard error `error`, a judge would be normal given
    its population, wherever that is: it is counted from there. Of few votes this is the distance
    from the population's mean, of many that from the guess. With their log-density, which is that
    of the text whatever the guess; only what a step of the sampler is worth depends on it.
    """
    import pymc as pm
    import pytensor.tensor as pt

    square = spread**2 + error**2
    # the judge's distance from the mean, in standard deviations of the population
    far = spread * (at - mean) / square + error / pt.sqrt(square) * own
    density = -(far**2 + pt.log(square)).sum() / 2
    return pm.Deterministic(name, mean + spread * far, dims="judge"), density
