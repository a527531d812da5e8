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
from typing import Any, ClassVar, Literal

import numpy as np

from bayesjudge.core.errors import checking, expect
from bayesjudge.core.priors import BetaPrior, NormalPrior

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

    @property
    def quantities(self) -> Sequence[str]:
        """What an estimate shows: the variables in `names`, unless others say more."""
        return self.names

    def variables(self, text: bool) -> dict[str, Any]:
        """Add the unknowns to the model in whose context this is called.

        Parameters
        ----------
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


def require_components(parts: Sequence[Component]) -> None:
    """Refuse components without what the model asks of them, or that share a name."""
    methods = ("variables", "log_table")
    with checking("component") as require:
        for part in parts:
            kind, of = type(part), type(part).__name__
            lacks = [name for name in methods if getattr(kind, name, None) in _UNWRITTEN]
            lacks += [] if getattr(kind, "names", None) else ["names"]
            require(not lacks, "component-lacks", component=of, lacks=lacks)
        names = [name for part in parts for name in getattr(part, "names", ())]
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        kinds = [type(part).__name__ for part in parts]
        require(not twice, "components-share", twice=twice, components=kinds)


#: Of the class that all components are of, and what has no such method.
_UNWRITTEN = (Component.variables, Component.log_table, None)


def variables_of(part: Component, text: bool) -> Mapping[str, Any]:
    """A component's variables, if those that it names are among them."""
    values = part.variables(text)
    missing = [*part.names]
    if isinstance(values, Mapping):
        missing = [name for name in part.names if name not in values]
    words = {"component": type(part).__name__, "missing": missing}
    expect("component", not missing, "component-names", **words)
    return values


def require_axes(part: Component, table: Any, axes: Mapping[str, int]) -> None:
    """Refuse a table of log probabilities of other axes: of groups or judges first, then these."""
    shape = tuple(getattr(getattr(table, "type", table), "shape", ()))
    wanted = (None, *axes.values())
    fits = len(shape) == len(wanted) and all(
        known in (None, n) or n is None for known, n in zip(shape, wanted, strict=True)
    )
    expect(
        "component",
        fits,
        "component-axes",
        component=type(part).__name__,
        axes=", ".join(f"{n} {name}" for name, n in axes.items()),
        shape=shape,
    )


# Priors as data -----------------------------------------------------------------------------------


def prior_data(name: str, prior: Prior | NormalPrior | float, dim: str | None = None) -> tuple:
    """Parameters of a prior as data, so that other priors need no other compilation."""
    import pymc as pm

    model = pm.modelcontext(None)
    if isinstance(prior, NormalPrior):
        model.add_coord("normal_parameter", ("mean", "sd"))
        values = pm.Data(f"{name}_prior", np.array(tuple(prior), float), dims="normal_parameter")
        return values[0], values[1]
    if not isinstance(prior, BetaPrior | Mapping):
        return (pm.Data(f"{name}_prior", np.array(float(prior))),)
    model.add_coord("parameter", ("alpha", "beta"))
    if isinstance(prior, BetaPrior):
        values = pm.Data(f"{name}_prior", np.array(tuple(prior), float), dims="parameter")
        return values[0], values[1]
    known = list(model.coords[dim] or ())
    with checking(f"prior of {name}") as require:
        missing = [level for level in known if level not in prior]
        unknown = [level for level in prior if level not in known]
        require(not missing, f"no prior for {dim} {missing[:3]}; give one for each {dim}")
        require(not unknown, f"no {dim} is called {unknown[:3]}; there are {known}")
    each = np.array([tuple(prior[level]) for level in known], float).T
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

    this, other = names
    if not above_one:
        first, second = (
            pm.Beta(name, *prior, dims=dims) for name, prior in zip(names, priors, strict=True)
        )
        return first, second
    if text:
        return pair_above_one((this, other), priors, dims)
    first = beta_share(this, *priors[0], text=False, dims=dims)
    share = pm.Uniform(f"{other}_share", dims=dims)
    missed, (alpha, beta) = first * (1 - share), priors[1]
    density = (alpha - 1) * pt.log1p(-missed) + (beta - 1) * pt.log(missed) + pt.log(first)
    pm.Potential(f"{other}_prior_density", density.sum())
    return first, pm.Deterministic(other, 1 - missed, dims=dims)


# How rates vary -----------------------------------------------------------------------------------

#: Makes the variables of some names and, unless it is None, of one dimension.
Make = Callable[[Sequence[str], str | None], Sequence[Any]]


@dataclass(frozen=True)
class Apart:
    """Each group, or judge, has rates of its own; without a dimension all have the same."""

    dim: str | None = None

    def over(self, names: Sequence[str], make: Make, text: bool) -> dict[str, Any]:
        """The rates by name."""
        return dict(zip(names, make(names, self.dim), strict=True))


@dataclass(frozen=True)
class Pooled:
    """Rates of each group lie some logits from those of a typical one, by how much the data say."""

    dim: str
    spread: float

    def over(self, names: Sequence[str], make: Make, text: bool) -> dict[str, Any]:
        """The rates by name.

        The sampler counts them in standard deviations (non-centred), since most groups have few
        labels.
        """
        import pymc as pm

        from bayesjudge.core.distributions import half_normal

        if "spread_prior" not in (model := pm.modelcontext(None)):
            pm.Data("spread_prior", np.array(float(self.spread)))
        values = {}
        for name, typical in zip(names, make([f"typical_{x}" for x in names], None), strict=True):
            spread = half_normal(f"{name}_spread", model["spread_prior"], text=text)
            centre = pm.math.log(typical) - pm.math.log1p(-typical)
            if text:
                values[name] = logit_normal(name, centre, spread, self.dim)
                continue
            rates = pm.math.sigmoid(centre + spread * pm.Normal(f"{name}_steps", dims=self.dim))
            values[name] = pm.Deterministic(name, rates, dims=self.dim)
        return values


@dataclass(frozen=True, eq=False)
class Linear:
    """Logits of the rates are linear in covariates, about those of the average item."""

    dim: str
    names: Sequence[str]  #: of the columns
    columns: np.ndarray  #: by group
    slope: float

    def over(self, names: Sequence[str], make: Make, text: bool) -> dict[str, Any]:
        """The rates by name."""
        import pymc as pm
        import pytensor.tensor as pt

        if "covariate" not in (model := pm.modelcontext(None)):
            model.add_coord("coefficient", self.names)
            pm.Data("covariate", self.columns, dims=(self.dim, "coefficient"))
            pm.Data("slope_prior", np.array(float(self.slope)))
        rates = {}
        for name, typical in zip(names, make([f"typical_{x}" for x in names], None), strict=True):
            logits = pt.log(typical) - pt.log1p(-typical) + pt.zeros(model["covariate"].shape[0])
            if self.names:
                slopes = pm.Normal(f"{name}_slope", 0, model["slope_prior"], dims="coefficient")
                logits = logits + model["covariate"] @ slopes
            rates[name] = pm.Deterministic(name, pm.math.sigmoid(logits), dims=self.dim)
        return rates


Varying = Apart | Pooled | Linear


def logit_normal(name: str, centre: Any, spread: Any, dim: str) -> Any:
    """A share whose logit is normal."""
    import pymc as pm

    unbounded = pm.distributions.transforms.logodds  # which PyMC leaves out for this one
    return pm.LogitNormal(name, centre, spread, dims=dim, default_transform=unbounded)


# Shares -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BetaShares(Component):
    """The share of good outputs of each group, or of all."""

    prior: Prior
    vary: Varying
    names: ClassVar[Sequence[str]] = ("prevalence",)

    def variables(self, text: bool) -> dict[str, Any]:
        """Shares with a Beta prior, or about a typical one that has it."""
        from bayesjudge.core.distributions import beta_share

        def share(names: Sequence[str], dim: str | None) -> tuple[Any, ...]:
            ends = prior_data("prevalence", self.prior, dim)
            return (beta_share(names[0], *ends, text=text, dims=dim),)

        return self.vary.over(self.names, share, text)

    def log_table(self, values: Values, xp: Any) -> Any:
        """Of fail and pass."""
        good = values["prevalence"] if self.vary.dim else values["prevalence"][..., None]
        return xp.stack([xp.log1p(-good), xp.log(good)], axis=-1)


@dataclass(frozen=True, eq=False)
class DirichletRows(Component):
    """Rows of shares: of the classes by group, or of the responses by class: confusions."""

    name: str
    weights: np.ndarray  #: of one row, or of a row for each class
    dims: tuple[str, ...]  #: of the weights, behind that of who has rows of its own, if anybody has
    by: Literal["judge", "group"] | None = "judge"

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Its own."""
        return (self.name,)

    @property
    def _several(self) -> bool:
        return len(self.dims) > self.weights.ndim

    def variables(self, text: bool) -> dict[str, Any]:
        """Dirichlet variables; for the sampler in coordinates of which it takes longer steps."""
        import pymc as pm
        import pytensor.tensor as pt

        from bayesjudge.core.distributions import log_dirichlet

        if text or not self._several:
            dims = self.dims[-self.weights.ndim :]
            weights = pm.Data(f"{self.name}_prior", self.weights.astype(float), dims=dims)
            return {self.name: pm.Dirichlet(self.name, weights, dims=self.dims)}
        many = len(pm.modelcontext(None).coords[self.dims[0]] or ())
        logs = log_dirichlet(self.name, np.tile(self.weights, (many, *[1] * self.weights.ndim)))
        shares = pm.Deterministic(self.name, pt.exp(logs), dims=self.dims)
        return {f"log_{self.name}": logs, self.name: shares}

    def log_table(self, values: Values, xp: Any) -> Any:
        """Of the classes, or of the responses by class."""
        logs = values.get(f"log_{self.name}")
        logs = xp.log(values[self.name]) if logs is None else logs
        return logs if self._several else logs[..., None, *[slice(None)] * self.weights.ndim]


# A judge's errors ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class RateErrors(Component):
    """A sensitivity and a specificity, which may be known to be above chance."""

    sensitivity: Prior
    specificity: Prior
    better_than_chance: bool
    vary: Varying
    of: Literal["judge", "group"] = "group"
    names: ClassVar[Sequence[str]] = ("sensitivity", "specificity")

    @property
    def by(self) -> Literal["judge", "group"] | None:  # type: ignore[override]
        """Nobody has rates of its own if all have the same."""
        return self.of if self.vary.dim else None

    def variables(self, text: bool) -> dict[str, Any]:
        """Rates with Beta priors, or about typical ones that have them."""

        def pair(names: Sequence[str], dim: str | None) -> tuple[Any, ...]:
            priors = [prior_data(name, getattr(self, name), dim) for name in self.names]
            above = self.better_than_chance
            return pair_of_rates(names, priors, above_one=above, text=text, dims=dim)

        return self.vary.over(self.names, pair, text)

    def log_table(self, values: Values, xp: Any) -> Any:
        """Of fail and pass, on bad and on good items."""
        s, c = (values[name] if self.vary.dim else values[name][..., None] for name in self.names)
        bad = xp.stack([xp.log(c), xp.log1p(-c)], axis=-1)
        return xp.stack([bad, xp.stack([xp.log1p(-s), xp.log(s)], axis=-1)], axis=-2)


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

    @property
    def quantities(self) -> Sequence[str]:
        """Of each judge."""
        return ("sensitivity", "specificity")

    def variables(self, text: bool) -> dict[str, Any]:
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
        for name, guess in self.guesses().items():
            values[name] = around_guess(name, *self._population(name), *guess)
        return values

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

    @property
    def quantities(self) -> Sequence[str]:
        """Of each judge."""
        return ("sensitivity", "specificity")

    @cached_property
    def _quadrature(self) -> tuple[np.ndarray, np.ndarray]:
        points, weights = np.polynomial.hermite_e.hermegauss(self.nodes)
        return points, weights / weights.sum()

    @property
    def log_weight(self) -> np.ndarray:  # type: ignore[override]
        """Of the nodes; the smallest of many are 0 in floating point, and may be."""
        return np.asarray(np.log(np.maximum(self._quadrature[1], 1e-300)))

    def variables(self, text: bool) -> dict[str, Any]:
        """Those of the judges, and the effect's standard deviation on bad and on good items."""
        import pymc as pm

        values = self.judges.judges(text)
        pm.modelcontext(None).add_coord("node", np.arange(self.nodes))
        points, weights = self._quadrature
        at = pm.Data("nodes", points, dims="node")
        share = pm.Data("node_weights", weights, dims="node")
        prior = prior_data("shared_effect", self.scale)
        spread = pm.HalfNormal("shared_effect", *prior, dims="truth")
        per_node = logits_of_judges(values, pm.math)[..., None] + spread[:, None] * at
        # products with a vector, since the sampler takes no strided results
        passing, failing = (
            pm.math.sigmoid(per_node[:, 1]) @ share,
            pm.math.sigmoid(-per_node[:, 0]) @ share,
        )
        name_rates(passing, failing)
        return values | {"shared_effect": spread}

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
    def quantities(self) -> Sequence[str]:
        """Those of the errors."""
        return self.errors.quantities

    @property
    def log_weight(self) -> np.ndarray | None:  # type: ignore[override]
        """Of the errors."""
        return self.errors.log_weight

    def variables(self, text: bool) -> dict[str, Any]:
        """Those of the errors, and the probability of a vote at all."""
        import pymc as pm

        values, ends = self.errors.variables(text), prior_data("answering", self.prior)
        return values | {"answering": pm.Beta("answering", *ends, dims=("judge", "truth"))}

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


@dataclass(frozen=True)
class OrderedErrors(Component):
    """Shares of the bins of a score whose likelihood ratio rises from bin to bin."""

    concentration: float
    rise: float
    bins: int
    by: Literal["judge", "group"] | None = None
    names: ClassVar[Sequence[str]] = ("bin_share",)

    def variables(self, text: bool) -> dict[str, Any]:
        """Shares of bad items, and the increments that tilt them to those of good ones."""
        import pymc as pm
        import pytensor.tensor as pt

        even = np.full(self.bins, self.concentration / self.bins)
        fails = pm.Dirichlet(
            "fail_share", pm.Data("fail_share_prior", even, dims="bin"), dims="bin"
        )
        mean = pm.Data("increment_mean", np.array(self.rise / max(self.bins - 1, 1)))
        steps = pm.Exponential("increment", scale=mean, dims="rise")
        ratio = pt.concatenate([pt.zeros(1), pt.cumsum(steps)])
        tilted = fails * pt.exp(ratio - ratio[-1])
        both = pt.stack([fails, tilted / tilted.sum()])
        return {"bin_share": pm.Deterministic("bin_share", both, dims=("truth", "bin"))}

    def log_table(self, values: Values, xp: Any) -> Any:
        """Of the bins, on bad and on good items."""
        return xp.log(values["bin_share"])[..., None, :, :]


# Truths given verdicts ----------------------------------------------------------------------------


@dataclass(frozen=True)
class PredictiveRates(Component):
    """What a pass and a fail are worth: a table of classes with verdicts, without shares."""

    pass_rate: Prior
    ppv: Prior
    npv: Prior
    better_than_chance: bool
    dim: str | None
    names: ClassVar[Sequence[str]] = ("pass_rate", "ppv", "npv")

    @property
    def by(self) -> Literal["group"] | None:  # type: ignore[override]
        """All have the same without a dimension."""
        return "group" if self.dim else None

    def variables(self, text: bool) -> dict[str, Any]:
        """A pass rate, and predictive values that may be known to be above chance."""
        import pymc as pm

        ends = prior_data("pass_rate", self.pass_rate, self.dim)
        rate = pm.Beta("pass_rate", *ends, dims=self.dim)
        priors = [prior_data(name, getattr(self, name), self.dim) for name in self.names[1:]]
        about: dict[str, Any] = {"above_one": self.better_than_chance, "text": text}
        pair = pair_of_rates(self.names[1:], priors, **about, dims=self.dim)
        return {"pass_rate": rate, **dict(zip(self.names[1:], pair, strict=True))}

    def log_table(self, values: Values, xp: Any) -> Any:
        """Of bad and good items with fail and pass."""
        rates = (values[name] if self.dim else values[name][..., None] for name in self.names)
        rate, ppv, npv = rates
        fail, passed = xp.log1p(-rate), xp.log(rate)
        bad = xp.stack([fail + xp.log(npv), passed + xp.log1p(-ppv)], axis=-1)
        good = xp.stack([fail + xp.log1p(-npv), passed + xp.log(ppv)], axis=-1)
        return xp.stack([bad, good], axis=-2)


@dataclass(frozen=True, eq=False)
class PredictiveClasses(Component):
    """Shares of the verdicts, and of the classes among the items of each."""

    shares: np.ndarray  #: Dirichlet weights of the verdicts
    weights: np.ndarray  #: of the classes, by verdict
    dims: tuple[str, ...]  #: of groups, if there are any, of verdicts and of classes
    by: Literal["judge", "group"] | None = "group"
    names: ClassVar[Sequence[str]] = ("verdict_share", "class_share")

    def variables(self, text: bool) -> dict[str, Any]:
        """Dirichlet variables."""
        shares = DirichletRows("verdict_share", self.shares, self.dims[:-1])
        other = DirichletRows("class_share", self.weights, self.dims)
        return shares.variables(text=True) | other.variables(text=True)

    def log_table(self, values: Values, xp: Any) -> Any:
        """Of the classes with the verdicts."""
        joint = values["verdict_share"][..., None] * values["class_share"]
        joint = joint if len(self.dims) == 3 else joint[..., None, :, :]
        return xp.log(xp.moveaxis(joint, -1, -2))


# What components are made of ----------------------------------------------------------------------


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


def around_guess(name: str, mean: Any, spread: Any, guess: np.ndarray, off: np.ndarray) -> Any:
    """Judges for the sampler, counted in standard deviations from what is known of each.

    Were the votes a measurement `guess` with standard error `off`, a judge would be normal given
    its population, wherever that is: it is counted from there. Of few votes this is the distance
    from the population's mean, of many that from the guess. The log-density is that of the text
    whatever the guess; only what a step of the sampler is worth depends on it.
    """
    import pymc as pm
    import pytensor.tensor as pt

    at, error = (
        pm.Data(f"{name}_{what}", values, dims="judge")
        for what, values in (("guess", guess), ("error", off))
    )
    offset, square = pm.Flat(f"{name}_own", dims="judge"), spread**2 + error**2
    # the judge's distance from the mean, in standard deviations of the population
    far = spread * (at - mean) / square + error / pt.sqrt(square) * offset
    pm.Potential(f"{name}_density", -(far**2 + pt.log(square)).sum() / 2)
    return pm.Deterministic(name, mean + spread * far, dims="judge")
