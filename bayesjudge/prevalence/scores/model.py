"""Models of numeric scores: the score given the truth, and the truth given the score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import erfc

from bayesjudge.core import methods
from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Diagnosis
from bayesjudge.core.fit import Fit
from bayesjudge.core.model import with_default
from bayesjudge.core.priors import BetaPrior
from bayesjudge.prevalence.diagnosis import diagnose
from bayesjudge.prevalence.scores.cautions import not_rising
from bayesjudge.prevalence.scores.data import Scores
from bayesjudge.truth.components import Apart, BetaShares, Component, DirichletRows, OrderedErrors
from bayesjudge.truth.likelihood import multinomial, observe_given_truth
from bayesjudge.truth.model import OneJudge
from bayesjudge.verdicts.table import Verdicts

if TYPE_CHECKING:
    import pymc as pm

SOURCE = "Lee et al. (2025), Sections 3-5, with bins of the score for verdicts"
#: Numbers that people give are told apart to this share of their scale, if they are no integers.
FINEST = 100
#: Standard deviation of the logarithm of a bin's spread about the typical one.
UNEVEN = 0.5
#: Standard deviation of giving a number, in steps of the truths' scale. With none the likelihood
#: of bins whose labels agree has walls, as sharp as their spread is small: NUTS diverges there.
GRAIN = 0.2
#: Added to the probability of each number, so that none is 0 far from its location.
LEAST = 1e-12


@dataclass(frozen=True)
class _ScoreModel(OneJudge):
    """What the models have in common."""

    def __post_init__(self) -> None:
        super().__post_init__()
        with checking(type(self).__name__) as require:
            for name, value in vars(self).items():
                if isinstance(value, bool | BetaPrior) or (value is None and name == "rise"):
                    continue
                good = isinstance(value, int | float) and 0 < value < float("inf")
                require(good, "must be positive and finite", **{name: value})

    _numeric: ClassVar[bool] = False
    _method = methods.NUTS_SCORES
    _source: ClassVar[str] = SOURCE

    def _quantities(self, scores: Scores) -> tuple[str, ...]:
        return (scores.answer,)

    @property
    def _rises(self) -> bool:
        """Whether truths are assumed to rise with the score."""
        return True

    def _diagnosis(self, scores: Scores) -> Diagnosis:
        assumed, cautions = diagnose(scores)
        return assumed, (*cautions, *(not_rising(scores) if self._rises else ()))

    def _suits(self, scores: Scores, require: Any) -> None:
        """Note why the model cannot be had from these scores."""
        name = type(self).__name__
        kind, other = (
            ("numbers", "pass and fail") if self._numeric else ("pass and fail", "numbers")
        )
        right = scores.numeric == self._numeric
        fitting = "RisingMean()" if scores.numeric else "ScoreGivenTruth() or TruthGivenScore()"
        require(right, f"{name} is for truths that are {kind}, these are {other}: take {fitting}")

    def _coords(self, data: Scores) -> dict[str, Any]:
        return {"bin": data.bins, "truth": ("fail", "pass")}

    def _about_items(self, fit: Fit, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Mean truth of these items."""
        drawn = self._drawn_truths(fit, rng).sum(axis=2)
        share = drawn[..., 1] / drawn.sum(axis=-1)
        return {fit.data.answer: fit.data.in_units(share)}


@dataclass(frozen=True)
class _ByScore(_ScoreModel):
    """The models of truths given scores: what is said of an item is its cell, of all cells one."""

    share_concentration: float = 2.0
    truth_concentration: float = 1.0

    def _coords(self, data: Scores) -> dict[str, Any]:
        cells = cells_of(data)
        names = [", ".join(name) for name in product(*cells.coords.values())]
        return {**cells.coords, "cell": names}

    def _shares(self, data: Scores) -> None:
        return None

    def _table(self, data: Scores) -> Verdicts:
        levels = _levels(data)
        counted = np.vstack([_by_level(data, levels).T, data.tally()["test"]])
        return Verdicts.from_counts(
            counted,
            calibration=data.design,
            classes=tuple(levels.tolist()),
            responses=range(data.n_cells),
        )


@dataclass(frozen=True)
class ScoreGivenTruth(_ScoreModel):
    r"""Bins of the score, seen from the truth: the model of most label designs.

    With prevalence :math:`\theta`, good items fall into the bins of the score with shares
    :math:`C_1`, bad ones with :math:`C_0`. Scores of unlabelled items are multinomial with shares
    :math:`\theta C_1 + (1 - \theta) C_0`, those of labelled ones with :math:`C_1` or :math:`C_0`,
    and, if the labelled items are some of the same items, the good ones among them are binomial
    with :math:`\theta`. The likelihood ratio rises with the score:

    .. math:: C_{1v} \propto C_{0v} \exp(\delta_2 + \dots + \delta_v), \quad
              \delta_v \sim Exponential, \quad C_0 \sim Dirichlet, \quad \theta \sim Beta.

    Parameters
    ----------
    prevalence : BetaPrior
        Share of good items; Jeffreys' by default.
    concentration : float, default 2
        Dirichlet weight of all bins together, spread evenly; two bins are flat.
    rise : float or None, default 4
        Expected logarithm of the likelihood ratio between the highest and the lowest bin, spread
        evenly over exponential increments. With None the bins have no order, and good and bad
        items have a Dirichlet prior each: of two bins, `bayesjudge.prevalence.ErrorRates`.

    Raises
    ------
    InputError
        If a number is not positive.

    Notes
    -----
    Variables: ``prevalence``, and what each ``bin`` of the score tells.

    Examples
    --------
    >>> print(ScoreGivenTruth(rise=2))  # doctest: +NORMALIZE_WHITESPACE
    share of good outputs Jeffreys; Dirichlet weight 2; rise of the logarithm of the likelihood
    ratio 2
    """

    prevalence: BetaPrior = BetaPrior.jeffreys()
    concentration: float = 2.0
    rise: float | None = 4.0

    @property
    def _rises(self) -> bool:
        return self.rise is not None

    def _suits(self, scores: Scores, require: Any) -> None:
        super()._suits(scores, require)
        words = "classes of propensity differ in their scores: take TruthGivenScore()"
        require(scores.propensity is None, words)

    def _coords(self, data: Scores) -> dict[str, Any]:
        return {**super()._coords(data), "rise": data.bins[1:]}

    def _shares(self, data: Scores) -> Component:
        return BetaShares(self.prevalence, Apart())

    def _errors(self, data: Scores) -> Component:
        bins = len(data.bins)
        if self.rise is not None:
            return OrderedErrors(self.concentration, self.rise, bins)
        even = np.full((2, bins), self.concentration / bins)
        return DirichletRows("bin_share", even, ("truth", "bin"), by=None)

    def _observe(self, data: Scores, values: Mapping[str, Any]) -> None:
        import pytensor.tensor as pt

        good, labels_tell = values["prevalence"], data.design.same_items
        share, seen = pt.stack([1 - good, good]), data.verdicts.counts[0, 0]
        dims = ("truth", "bin")
        observe_given_truth((seen[-1], seen[:-1]), share, values["bin_share"], dims, labels_tell)


@dataclass(frozen=True)
class TruthGivenScore(_ByScore):
    r"""The truth, seen from bins of the score: the model of labels chosen by the score.

    With shares :math:`q_v` of the bins and :math:`p_v` of good items in each,
    :math:`\theta = \sum_v q_v p_v`; items fall into bins by :math:`q`, and good items among the
    labelled ones of a bin are binomial with :math:`p_v`:

    .. math:: (n_1, n_2, \dots) \sim Mult(n, q), \quad a_v \sim Bin(m_v, p_v), \quad
              q \sim Dirichlet, \quad p_v = d_1 + \dots + d_v, \quad d \sim Dirichlet.

    With known propensities, classes of propensity have shares of their own.

    Parameters
    ----------
    share_concentration : float, default 2
        Dirichlet weight of all bins' shares together, spread evenly.
    truth_concentration : float, default 1
        Weight of the prior of the shares of good items; at 1 those of two bins are flat, and those
        of more bins are worth as much together.
    monotone : bool, default True
        Whether the share of good items rises with the score, by Dirichlet increments; or each bin
        has a Beta prior of its own.

    Raises
    ------
    InputError
        If a weight is not positive.

    Notes
    -----
    Variables: ``prevalence``, and what each ``bin`` of the score tells, by ``propensity`` if there
    are classes of it.

    Examples
    --------
    >>> print(TruthGivenScore())  # doctest: +NORMALIZE_WHITESPACE
    share concentration 2; truth concentration 1; a share of good items that rises with the score
    assumed
    """

    monotone: bool = True

    @property
    def _rises(self) -> bool:
        return self.monotone

    def _errors(self, data: Scores) -> Component:
        cells = cells_of(data)
        weights = self.share_concentration, self.truth_concentration
        return TruthByBin(cells, *weights, monotone=self.monotone)

    def _sampling_form(self, data: Scores) -> pm.Model | None:
        return self._graph(data, text=False) if self.monotone else None

    def _observe(self, data: Scores, values: Mapping[str, Any]) -> None:
        import pymc as pm

        cells = cells_of(data)
        multinomial("items", cells.items.ravel(), values["cell_share"], ("cell",))
        sums = pm.Data("good_seen", cells.sums, dims=cells.dims)
        labels = pm.Data("good_of", cells.labels, dims=cells.dims)
        truth = values["pass_share"]
        pm.Binomial("good", labels.astype("int64"), truth, observed=sums, dims=cells.dims)

    def _add_density(self, data: Scores, values: Mapping[str, Any]) -> None:
        import pymc as pm
        import pytensor.tensor as pt

        cells, steps = cells_of(data), values["truth_steps"]
        passed = pm.Data("good_seen", cells.sums, dims=cells.dims)
        failed = pm.Data("bad_seen", cells.labels - cells.sums, dims=cells.dims)
        bad = pt.cumsum(steps[..., ::-1], axis=-1)[..., -2::-1]  # 1 - truth loses digits near 1
        of_labels = passed * pt.log(values["pass_share"]) + failed * pt.log(bad)
        pm.Potential("good", of_labels.sum())

    def _derive(self, data: Scores, values: Mapping[str, Any]) -> None:
        import pymc as pm

        truth = values["pass_share"].ravel()
        pm.Deterministic("prevalence", (values["cell_share"] * truth).sum())


@dataclass(frozen=True)
class RisingMean(_ByScore):
    r"""Numeric truths: their location rises with the score, and they end where their scale ends.

    An item in bin v of the score has a latent value :math:`N(\mu_v, \sigma_v)`, and people give the
    number of their scale that is nearest to what they read, which is off by a fifth of a step
    between two numbers (standard deviation :math:`g`): beyond the ends of the scale, the end. The
    locations :math:`\mu_v` rise by Dirichlet increments over a range twice as wide as the scale.
    With the middles :math:`c_k` between the numbers of the scale, a label y and the priors are

    .. math:: P(y \le k \mid v) = \Phi\left(\frac{c_k - \mu_v}{\sqrt{\sigma_v^2 + g^2}}\right),
              \quad \log \sigma_v \sim N(\log \tau, 1/2), \quad \tau \sim N^+(0, \text{spread}).

    The mean of the numbers in each bin, weighed by the bins' shares of all items (a Bayesian
    bootstrap of the scores), is the mean truth. Numbers that are no integers are rounded to 1/100
    of their scale.

    Parameters
    ----------
    share_concentration : float, default 2
        Dirichlet weight of all bins' shares together, spread evenly.
    truth_concentration : float, default 1
        Weight of the prior of the locations; 1 is flat of two bins.
    spread : float, default 0.5
        Scale of the half-normal prior of the typical standard deviation, in widths of the truths'
        scale; bins' own lie within a factor of about e of it.

    Raises
    ------
    InputError
        If a number is not positive.

    Notes
    -----
    Variables: ``mean_score`` on the truths' scale, and what each ``bin`` of the score tells, by
    ``propensity`` if there are classes of it.

    Examples
    --------
    >>> print(RisingMean(spread=0.3))
    share concentration 2; truth concentration 1; spread of truths in a bin 0.3
    """

    spread: float = 0.5

    _words: ClassVar[Mapping[str, str]] = {"spread": "spread of truths in a bin"}
    _numeric: ClassVar[bool] = True
    _has_preview: ClassVar[bool] = False
    #: At .9 one fit in 20 of few labels has a divergence, at .95 one in 50.
    sampling: ClassVar[Mapping[str, Any]] = {"target_accept": 0.95}

    def _about_items(self, fit: Fit, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Mean truth of these items; labels as people gave them, not at their level."""
        scores, levels = fit.data, _levels(fit.data)
        cells, drawn = scores.tally(), self._drawn_truths(fit, rng)[:, :, 0]
        total = drawn @ levels
        if scores.design.same_items:
            total = total + cells["sums"].sum() - (_by_level(scores, levels) @ levels).sum()
        return {scores.answer: scores.in_units(total / drawn.sum(axis=-1))}

    def _coords(self, data: Scores) -> dict[str, Any]:
        levels = [f"{data.in_units(x):g}" for x in _levels(data)]
        return {**super()._coords(data), "level": levels}

    def _errors(self, data: Scores) -> NumbersByBin:
        cells, levels = cells_of(data), _levels(data)
        weights = self.share_concentration, self.truth_concentration
        counted = _by_level(data, levels).reshape(*cells.labels.shape, levels.size)
        return NumbersByBin(cells, *weights, self.spread, levels, counted)

    def _sampling_form(self, data: Scores) -> pm.Model:
        return self._graph(data, text=False)

    def _observe(self, data: Scores, values: Mapping[str, Any]) -> None:
        errors = self._errors(data)
        multinomial("items", errors.cells.items.ravel(), values["cell_share"], ("cell",))
        dims = (*errors.cells.dims, "level")
        multinomial("truths", errors.counted, values["chances"], dims)

    def _add_density(self, data: Scores, values: Mapping[str, Any]) -> None:
        import pymc as pm
        import pytensor.tensor as pt

        errors = self._errors(data)
        seen = pm.Data("truths_seen", errors.counted, dims=(*errors.cells.dims, "level"))
        pm.Potential("truths", (seen * pt.log(values["chances"])).sum())

    def _derive(self, data: Scores, values: Mapping[str, Any]) -> None:
        import pymc as pm

        least, most = data.truth_scale or (0.0, 1.0)
        value = pm.Data("level_value", least + (most - least) * _levels(data), dims="level")
        mean = (values["chances"] * value).sum(axis=-1)
        mean = pm.Deterministic("bin_mean", mean, dims=cells_of(data).dims)
        pm.Deterministic("mean_score", (values["cell_share"] * mean.ravel()).sum())


ScoreModel = ScoreGivenTruth | TruthGivenScore | RisingMean


def default_model(scores: Scores) -> ScoreModel:
    """The model of the label design and of the kind of truth."""
    if scores.numeric:
        return RisingMean()
    by_score = scores.design.identifies == {"predictive_values"}
    return TruthGivenScore() if by_score or scores.propensity is not None else ScoreGivenTruth()


with_default(Scores, default_model)


@dataclass(frozen=True, eq=False)
class Cells:
    """Items by bin and, with known propensities, by class of propensity."""

    coords: dict[str, Any]
    test: np.ndarray
    labels: np.ndarray
    sums: np.ndarray  #: of the truths in [0, 1]

    @property
    def dims(self) -> tuple[str, ...]:
        """Of each array."""
        return tuple(self.coords)

    @property
    def items(self) -> np.ndarray:
        """With and without a label."""
        return self.test + self.labels

    def shares(self, concentration: float, text: bool) -> Any:
        """Shares of the cells among all items."""
        import pymc as pm
        import pytensor.tensor as pt

        from bayesjudge.core.distributions import log_dirichlet

        even = np.full(self.items.size, concentration / self.items.size)
        if not text:  # nothing else is known about shares: their posterior is Dirichlet
            logs = log_dirichlet("cell_share", even + self.items.ravel())
            return pm.Deterministic("cell_share", pt.exp(logs), dims="cell")
        prior = pm.Data("cell_share_prior", even, dims="cell")
        return pm.Dirichlet("cell_share", prior, dims="cell")

    def steps(self, name: str, concentration: float, text: bool) -> Any:
        """Dirichlet increments, from 0 to the number of the first bin, and so on up to 1."""
        import pymc as pm
        import pytensor.tensor as pt

        from bayesjudge.core.distributions import log_dirichlet

        shape = self.labels.shape
        # three increments of two bins are flat at 1; more of them share the same weight
        weights = np.full((*shape[:-1], shape[-1] + 1), 3 * concentration / (shape[-1] + 1))
        dims = (*self.dims[:-1], "step")
        pm.modelcontext(None).add_coord("step", np.arange(weights.shape[-1]))
        if not text:
            return pm.Deterministic(name, pt.exp(log_dirichlet(name, weights)), dims=dims)
        return pm.Dirichlet(name, pm.Data(f"{name}_prior", weights, dims=dims), dims=dims)


def cells_of(scores: Scores) -> Cells:
    """Count the cells."""
    coords: dict[str, Any] = {"bin": scores.bins}
    if scores.propensity is not None:
        classes = [f"{x:g}" for x in np.unique(scores.propensity)]
        coords = {"propensity": classes, **coords}
    shape = tuple(map(len, coords.values()))
    tally = scores.tally()
    return Cells(coords, *(tally[name].reshape(shape) for name in ("test", "labels", "sums")))


@dataclass(frozen=True, eq=False)
class TruthByBin(Component):
    """Shares of the cells, and of good items in each."""

    cells: Cells
    share_concentration: float
    truth_concentration: float
    monotone: bool
    by: Any = None
    names: ClassVar[Sequence[str]] = ("cell_share", "pass_share")

    def variables(self, text: bool) -> dict[str, Any]:
        """Dirichlet shares, and shares of good items, rising by Dirichlet increments or not."""
        import pymc as pm
        import pytensor.tensor as pt

        values = {"cell_share": self.cells.shares(self.share_concentration, text)}
        dims = self.cells.dims
        if self.monotone:
            steps = self.cells.steps("truth_steps", self.truth_concentration, text)
            truth = pt.cumsum(steps, axis=-1)[..., :-1]
            pm.Deterministic("pass_share", truth, dims=dims)
            return values | {"truth_steps": steps, "pass_share": truth}
        weight = 2 * self.truth_concentration / self.cells.labels.shape[-1]
        prior = pm.Data("pass_share_prior", np.array(float(weight)))
        return values | {"pass_share": pm.Beta("pass_share", prior, prior, dims=dims)}

    def log_table(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Of bad and good items with their cell."""
        share = values["cell_share"]
        good = values["pass_share"].reshape(share.shape)
        logs = xp.stack([xp.log1p(-good), xp.log(good)], axis=-2)
        return (logs + xp.log(share)[..., None, :])[..., None, :, :]


@dataclass(frozen=True, eq=False)
class NumbersByBin(Component):
    """Shares of the cells, and what numbers people give to the items of each."""

    cells: Cells
    share_concentration: float
    truth_concentration: float
    spread: float
    levels: np.ndarray  #: numbers that people can give, between 0 and 1
    counted: np.ndarray  #: labelled items by cell and number
    by: Any = None
    names: ClassVar[Sequence[str]] = ("cell_share", "location", "bin_spread")

    @property
    def middle(self) -> np.ndarray:
        """Between two numbers."""
        return (self.levels[1:] + self.levels[:-1]) / 2

    def variables(self, text: bool) -> dict[str, Any]:
        """Locations that rise by Dirichlet increments, and spreads about a typical one.

        The sampler counts spreads in steps from the typical one, or from a guess.
        """
        import pymc as pm
        import pytensor.tensor as pt

        dims, values = self.cells.dims, {}
        values["cell_share"] = self.cells.shares(self.share_concentration, text)
        steps = self.cells.steps("location_steps", self.truth_concentration, text)
        rising = pt.cumsum(steps, axis=-1)[..., :-1]
        values["location"] = pm.Deterministic("location", 2 * rising - 0.5, dims=dims)
        prior = pm.Data("spread_prior", np.array(float(self.spread)))
        typical = pm.HalfNormal("typical_spread", prior)
        values["bin_spread"] = (
            pm.LogNormal("bin_spread", pt.log(typical), UNEVEN, dims=dims)
            if text
            else _uneven(typical, self.spread, self.counted, dims)
        )
        return values | {"chances": self.chances(values, pt)}

    def noise(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Standard deviation of the numbers of each cell."""
        return xp.sqrt(values["bin_spread"] ** 2 + (GRAIN / (self.levels.size - 1)) ** 2)

    def chances(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Chances of the numbers by cell."""
        off = self.middle - values["location"][..., None]
        normal = off / self.noise(values, xp)[..., None]
        none, tail = xp.zeros_like(normal[..., :1]), getattr(xp, "erfc", erfc)
        below, above = tail(-normal / np.sqrt(2)) / 2, tail(normal / np.sqrt(2)) / 2
        below = xp.concatenate([none, below, none + 1], axis=-1)
        above = xp.concatenate([none + 1, above, none], axis=-1)
        # differences of small probabilities lose no digits
        chances = xp.where(below[..., :-1] > 0.5, -xp.diff(above, axis=-1), xp.diff(below, axis=-1))
        return (chances + LEAST) / (1 + LEAST * self.levels.size)

    def log_table(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Of the numbers with the cells."""
        share = values["cell_share"][..., None]
        chances = self.chances(values, xp)
        chances = chances.reshape((*share.shape[:-1], self.levels.size))
        return xp.moveaxis(xp.log(share) + xp.log(chances), -1, -2)[..., None, :, :]


# Parts of the graphs -----------------------------------------------------------------------------


def _by_level(scores: Scores, levels: np.ndarray) -> np.ndarray:
    """Labelled items by cell and number."""
    counted = np.zeros((scores.n_cells, levels.size))
    nearest = np.abs(scores.unit_truth[scores.known, None] - levels).argmin(axis=1)
    np.add.at(counted, (scores.cells[scores.known], nearest), scores.n[scores.known])
    return counted


def _uneven(typical: Any, guess: float, counted: np.ndarray, dims: Any) -> Any:
    """Spreads of the bins for the sampler, as steps from a guess or from the typical spread.

    From the guess if labels tell the spread of a bin, from the typical one if not, and between.
    """
    import pymc as pm
    import pytensor.tensor as pt

    inner = counted[..., 1:-1].sum(axis=-1)
    # of the logarithm of a spread
    information = 2 * inner * ((counted > 0).sum(axis=-1) > 1)
    kept = pm.Data("spread_kept", 1 / (1 + UNEVEN**2 * information), dims=dims)
    off = pt.log(typical / guess)
    steps = pm.Normal("bin_spread_steps", (1 - kept) * off / UNEVEN, dims=dims)
    spread = guess * pt.exp(UNEVEN * steps + kept * off)
    return pm.Deterministic("bin_spread", spread, dims=dims)


def _levels(scores: Scores) -> np.ndarray:
    """Numbers that people can give, between 0 and 1: integers, or hundredths of the scale."""
    if not scores.numeric:
        return np.array([0.0, 1.0])
    least, most = scores.truth_scale or (0.0, 1.0)
    known = scores.truth[scores.known]
    ends = np.array([least, most])
    whole = np.all(known == np.round(known)) and np.all(ends == np.round(ends))
    steps = int(most - least) if whole and 2 <= most - least <= FINEST else FINEST
    return np.linspace(0, 1, steps + 1)
