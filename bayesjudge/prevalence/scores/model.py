"""Models of numeric scores: the score given the truth, and the truth given the score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import ndtr

from bayesjudge.core import methods
from bayesjudge.core.draws import by_kind
from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Diagnosis
from bayesjudge.core.fit import Fit
from bayesjudge.core.model import BayesianModel, model_of
from bayesjudge.core.priors import BetaPrior
from bayesjudge.prevalence.scores.data import Scores, judged

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

SOURCE = "Lee et al. (2025), Sections 3-5, with bins of the score for verdicts"
#: Numbers that people give are told apart to this share of their scale, if they are no integers.
FINEST = 100
#: Standard deviation of the logarithm of a bin's spread about the typical one.
UNEVEN = 0.5
#: Standard deviation of giving a number, in steps of the truths' scale. With none the likelihood
#: of bins whose labels agree has walls, as sharp as their spread is small: NUTS diverges there.
GRAIN = 0.2


@dataclass(frozen=True)
class _ScoreModel(BayesianModel):
    """What the models have in common."""

    def __post_init__(self) -> None:
        super().__post_init__()
        with checking(type(self).__name__) as require:
            for name, value in vars(self).items():
                if isinstance(value, bool | BetaPrior) or (value is None and name == "rise"):
                    continue
                good = isinstance(value, int | float) and 0 < value < float("inf")
                require(good, f"{name} must be positive and finite, got {value!r}")

    _numeric: ClassVar[bool] = False
    _method = methods.NUTS_SCORES
    _source: ClassVar[str] = SOURCE

    def _quantities(self, scores: Scores) -> tuple[str, ...]:
        return (scores.answer,)

    def _diagnosis(self, scores: Scores) -> Diagnosis:
        return judged(scores)

    def _suits(self, scores: Scores, require: Any) -> None:
        """Note why the model cannot be had from these scores."""
        name = type(self).__name__
        kind, other = (
            ("numbers", "pass and fail") if self._numeric else ("pass and fail", "numbers")
        )
        right = scores.numeric == self._numeric
        fitting = "RisingMean()" if scores.numeric else "ScoreGivenTruth() or TruthGivenScore()"
        require(right, f"{name} is for truths that are {kind}, these are {other}: take {fitting}")

    def _about_items(self, fit: Fit, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Mean truth of these items: truths of the unlabelled ones of each cell are drawn."""
        scores, posterior = fit.data, fit.idata["posterior"]
        cells = scores.tally()
        drawn = self._drawn_truths(scores, posterior.to_dataset(), cells["test"], rng)
        total, n = drawn.sum(axis=-1), cells["test"].sum()
        if scores.design.same_items:
            total, n = total + cells["sums"].sum(), n + cells["labels"].sum()
        return {scores.answer: scores.in_units(total / n)}

    def _drawn_truths(
        self, scores: Scores, posterior: xr.Dataset, items: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Sums of the truths in [0, 1] of so many items of each cell (chain, draw, cell)."""
        raise NotImplementedError


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
        Share of good items; flat by default.
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
    >>> print(ScoreGivenTruth())
    share of good outputs flat; Dirichlet weight 2; rise of the logarithm of the likelihood ratio 4
    """

    prevalence: BetaPrior = BetaPrior()
    concentration: float = 2.0
    rise: float | None = 4.0

    def _suits(self, scores: Scores, require: Any) -> None:
        super()._suits(scores, require)
        words = "classes of propensity differ in their scores: take TruthGivenScore()"
        require(scores.propensity is None, words)

    def _drawn_truths(
        self, scores: Scores, posterior: xr.Dataset, items: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        theta, shares = _arrays(posterior, "prevalence", "bin_share")
        good, bad = theta[..., None] * shares[..., 1, :], (1 - theta[..., None]) * shares[..., 0, :]
        return rng.binomial(items.astype(int), np.clip(good / (good + bad), 0, 1))

    def _item_log_likelihood(
        self, data: Scores, draws: xr.Dataset
    ) -> tuple[xr.DataArray, np.ndarray]:
        theta, shares = _arrays(draws, "prevalence", "bin_share")
        both = np.stack([1 - theta, theta], axis=-1)[..., None]
        labelled = shares * both if data.design.same_items else shares
        test, seen = _by_bin(data)
        mixed = (shares * both).sum(axis=2)
        return by_kind(draws, [(np.log(mixed), test), (np.log(labelled), seen)])

    def _build(self, data: Scores) -> pm.Model:
        return self._graph(data, collapsed=True)

    def _uncollapsed(self, data: Scores) -> pm.Model:
        return self._graph(data, collapsed=False)

    def _graph(self, data: Scores, collapsed: bool) -> pm.Model:
        import pymc as pm
        import pytensor.tensor as pt

        from bayesjudge.prevalence._pymc import (
            PARAMETERS,
            binomial,
            categories_by_item,
            multinomial,
        )

        bins, (test, seen) = len(data.bins), _by_bin(data)
        coords: dict[str, Any] = {"bin": data.bins, "truth": ("fail", "pass"), **PARAMETERS}
        coords["rise"] = data.bins[1:]
        with pm.Model(coords=coords) as model:
            prior = pm.Data("prevalence_prior", np.array(tuple(self.prevalence)), dims="parameter")
            prevalence = pm.Beta("prevalence", prior[0], prior[1])
            even = np.full(bins, self.concentration / bins)
            if self.rise is None:
                weights = pm.Data("bin_share_prior", np.array([even, even]), dims=("truth", "bin"))
                shares = pm.Dirichlet("bin_share", weights, dims=("truth", "bin"))
            else:
                weights = pm.Data("fail_share_prior", even, dims=("bin",))
                fails = pm.Dirichlet("fail_share", weights, dims=("bin",))
                mean = pm.Data("increment_mean", np.array(self.rise / max(bins - 1, 1)))
                steps = pm.Exponential("increment", scale=mean, dims="rise")
                ratio = pt.concatenate([pt.zeros(1), pt.cumsum(steps)])
                tilted = fails * pt.exp(ratio - ratio[-1])
                shares = pm.Deterministic(
                    "bin_share", pt.stack([fails, tilted / tilted.sum()]), dims=("truth", "bin")
                )
            if not collapsed:
                cell, truth = _one_row_an_item(data, np.array([0.0, 1.0]))
                chances = pt.stack([1 - prevalence, prevalence]) * np.ones((truth.size, 1))
                told = np.full(truth.shape, data.design.same_items)
                given = ("bin_of_item", lambda z: shares[z], cell)
                categories_by_item(("item_truth", chances, truth), given, told)
                return model
            mixed = prevalence * shares[1] + (1 - prevalence) * shares[0]
            multinomial("test", test, mixed, ("bin",))
            multinomial("labelled", seen, shares, ("truth", "bin"))
            if data.design.same_items:
                binomial("good", seen[1].sum(), seen.sum(), prevalence, None)
        return model


@dataclass(frozen=True)
class TruthGivenScore(_ScoreModel):
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

    share_concentration: float = 2.0
    truth_concentration: float = 1.0
    monotone: bool = True

    def _drawn_truths(
        self, scores: Scores, posterior: xr.Dataset, items: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        (good,) = _arrays(posterior, "pass_share")
        chances = np.clip(good.reshape(*good.shape[:2], -1), 0, 1)
        return rng.binomial(items.astype(int), chances)

    def _item_log_likelihood(
        self, data: Scores, draws: xr.Dataset
    ) -> tuple[xr.DataArray, np.ndarray]:
        shares, good = _arrays(draws, "cell_share", "pass_share")
        good = good.reshape(shares.shape)
        cells = data.tally()
        kinds = [(1.0, "test"), (good, "sums"), (1 - good, "fails")]
        cells["fails"] = cells["labels"] - cells["sums"]
        return by_kind(draws, [(np.log(shares * p), np.rint(cells[name])) for p, name in kinds])

    def _build(self, data: Scores) -> pm.Model:
        return self._graph(data, text=True)

    def _sampling_form(self, data: Scores) -> pm.Model | None:
        return self._graph(data, text=False) if self.monotone else None

    def _uncollapsed(self, data: Scores) -> pm.Model:
        return self._graph(data, text=True, collapsed=False)

    def _graph(self, data: Scores, text: bool, collapsed: bool = True) -> pm.Model:
        """The model, of the text or for the sampler."""
        import pymc as pm
        import pytensor.tensor as pt

        cells = _by_class(data)
        dims = tuple(cells["dims"])
        bins = len(data.bins)
        with pm.Model(coords=cells["coords"]) as model:
            shares = _shares(cells, self.share_concentration, collapsed, text)
            if self.monotone:
                steps = _steps("truth", cells, self.truth_concentration, text)
                truth = pt.cumsum(steps, axis=-1)[..., :-1]
                pm.Deterministic("pass_share", truth, dims=dims)
            else:
                weight = pm.Data("pass_share_prior", np.array(2 * self.truth_concentration / bins))
                truth = pm.Beta("pass_share", weight, weight, dims=dims)
            if not text:  # a difference from 1 would lose digits near it
                passed = pm.Data("good_seen", cells["sums"], dims=dims)
                failed = pm.Data("bad_seen", cells["labels"] - cells["sums"], dims=dims)
                bad = pt.cumsum(steps[..., ::-1], axis=-1)[..., -2::-1]
                pm.Potential("good", (passed * pt.log(truth) + failed * pt.log(bad)).sum())
            elif collapsed:
                sums = pm.Data("good_seen", cells["sums"], dims=dims)
                labels = pm.Data("good_of", cells["labels"], dims=dims)
                pm.Binomial("good", labels.astype("int64"), truth, observed=sums, dims=dims)
            else:
                chances = pt.stack([1 - truth.ravel(), truth.ravel()], axis=1)
                _truth_by_item(data, shares, chances, np.array([0.0, 1.0]))
            pm.Deterministic("prevalence", (shares * truth).sum())
        return model


@dataclass(frozen=True)
class RisingMean(_ScoreModel):
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

    share_concentration: float = 2.0
    truth_concentration: float = 1.0
    spread: float = 0.5

    _words: ClassVar[Mapping[str, str]] = {"spread": "spread of truths in a bin"}
    _numeric: ClassVar[bool] = True
    _has_preview: ClassVar[bool] = False
    #: At .9 one fit in 20 of few labels has a divergence, at .95 one in 50.
    sampling: ClassVar[Mapping[str, Any]] = {"target_accept": 0.95}

    def _drawn_truths(
        self, scores: Scores, posterior: xr.Dataset, items: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        levels = _levels(scores)
        return rng.multinomial(items.astype(int), self._chances(posterior, levels)) @ levels

    def _item_log_likelihood(
        self, data: Scores, draws: xr.Dataset
    ) -> tuple[xr.DataArray, np.ndarray]:
        (shares,), levels = _arrays(draws, "cell_share"), _levels(data)
        chances = np.maximum(self._chances(draws, levels), 1e-12)
        labelled = np.log(shares)[..., None] + np.log(chances)
        return by_kind(
            draws, [(np.log(shares), data.tally()["test"]), (labelled, _by_level(data, levels))]
        )

    def _chances(self, draws: xr.Dataset, levels: np.ndarray) -> np.ndarray:
        """Chances of the numbers by cell."""
        location, spread = (
            x.reshape(*x.shape[:2], -1, 1) for x in _arrays(draws, "location", "bin_spread")
        )
        noise = np.hypot(spread, _grain(levels))
        below = ndtr(((levels[1:] + levels[:-1]) / 2 - location) / noise)
        return np.diff(below, axis=-1, prepend=0.0, append=1.0)

    def _build(self, data: Scores) -> pm.Model:
        return self._graph(data, text=True)

    def _sampling_form(self, data: Scores) -> pm.Model:
        return self._graph(data, text=False)

    def _uncollapsed(self, data: Scores) -> pm.Model:
        return self._graph(data, text=True, collapsed=False)

    def _graph(self, data: Scores, text: bool, collapsed: bool = True) -> pm.Model:
        """The model, of the text or for the sampler, whose spreads are steps from the typical."""
        import pymc as pm
        import pytensor.tensor as pt

        from bayesjudge.prevalence._pymc import multinomial
        from bayesjudge.prevalence.scores._pymc import LEAST, add_labels

        cells = _by_class(data)
        dims, levels = tuple(cells["dims"]), _levels(data)
        coords = {**cells["coords"], "level": [f"{data.in_units(x):g}" for x in levels]}
        counted = _by_level(data, levels).reshape(*cells["labels"].shape, levels.size)
        with pm.Model(coords=coords) as model:
            shares = _shares(cells, self.share_concentration, collapsed, text)
            steps = _steps("location", cells, self.truth_concentration, text)
            rising = pt.cumsum(steps, axis=-1)[..., :-1]
            location = pm.Deterministic("location", 2 * rising - 0.5, dims=dims)
            typical = pm.HalfNormal(
                "typical_spread", pm.Data("spread_prior", np.array(self.spread))
            )
            if text:
                sigma = pm.LogNormal("bin_spread", pt.log(typical), UNEVEN, dims=dims)
            else:
                sigma = _uneven(typical, self.spread, counted, dims)
            model.add_coord("threshold", coords["level"][1:])
            middle = pm.Data("level_middle", (levels[1:] + levels[:-1]) / 2, dims="threshold")
            noise = pt.sqrt(sigma**2 + _grain(levels) ** 2)
            below = _normal_cdf((middle - location[..., None]) / noise[..., None])
            none = pt.zeros_like(below[..., :1])
            chances = pt.diff(pt.concatenate([none, below, none + 1], axis=-1), axis=-1)
            chances = (chances + LEAST) / (1 + LEAST * levels.size)
            if not text:
                add_labels(counted, middle, location, noise)
            elif collapsed:
                multinomial("truths", counted, chances, (*dims, "level"))
            else:
                _truth_by_item(data, shares, chances.reshape((-1, levels.size)), levels)
            least, most = data.truth_scale or (0.0, 1.0)
            value = pm.Data("level_value", least + (most - least) * levels, dims=("level",))
            mean = pm.Deterministic("bin_mean", (chances * value).sum(axis=-1), dims=dims)
            pm.Deterministic("mean_score", (shares * mean).sum())
        return model


ScoreModel = ScoreGivenTruth | TruthGivenScore | RisingMean


def default_model(scores: Scores) -> ScoreModel:
    """The model of the label design and of the kind of truth."""
    if scores.numeric:
        return RisingMean()
    by_score = scores.design.identifies == {"predictive_values"}
    return TruthGivenScore() if by_score or scores.propensity is not None else ScoreGivenTruth()


@model_of.register(Scores)
def suited(scores: Scores, model: ScoreModel | None, subject: str) -> ScoreModel:
    """The model, or the default one; an error if the scores do not suit it."""
    model = model or default_model(scores)
    with checking(subject) as require:
        model._suits(scores, require)
    return model


def _arrays(posterior: xr.Dataset, *names: str) -> list[np.ndarray]:
    return [posterior[name].transpose("chain", "draw", ...).to_numpy() for name in names]


# Parts of the graphs -----------------------------------------------------------------------------


def _by_class(scores: Scores) -> dict[str, Any]:
    """Counts by bin and, with known propensities, by class of propensity."""
    coords: dict[str, Any] = {"bin": scores.bins}
    shape: tuple[int, ...] = (len(scores.bins),)
    if scores.propensity is not None:
        classes = [f"{x:g}" for x in np.unique(scores.propensity)]
        coords, shape = {"propensity": classes, **coords}, (len(classes), *shape)
    cells = {name: values.reshape(shape) for name, values in scores.tally().items()}
    return {**cells, "coords": coords, "dims": list(coords)}


def _by_bin(scores: Scores) -> tuple[np.ndarray, np.ndarray]:
    """Items by bin, without a label, and with one by truth."""
    kinds = [~scores.known, scores.truth == 0, scores.truth == 1]
    test, *seen = (
        np.bincount(scores.bin_of, scores.n * kind, minlength=len(scores.bins)) for kind in kinds
    )
    return test, np.array(seen)


def _by_level(scores: Scores, levels: np.ndarray) -> np.ndarray:
    """Labelled items by cell and number."""
    counted = np.zeros((scores.n_cells, levels.size))
    nearest = np.abs(scores.unit_truth[scores.known, None] - levels).argmin(axis=1)
    np.add.at(counted, (scores.cells[scores.known], nearest), scores.n[scores.known])
    return counted


def _one_row_an_item(scores: Scores, levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cell of each item, and the place of its truth among the levels (-1: no label)."""
    nearest = np.abs(np.nan_to_num(scores.unit_truth)[:, None] - levels).argmin(axis=1)
    truth = np.where(scores.known, nearest, -1)
    return np.repeat(scores.cells, scores.n), np.repeat(truth, scores.n)


def _truth_by_item(scores: Scores, shares: Any, chances: Any, levels: np.ndarray) -> None:
    """Cell of each item, and its truth given that."""
    import pytensor.tensor as pt

    from bayesjudge.prevalence._pymc import categories_by_item

    cell, truth = _one_row_an_item(scores, levels)
    first = ("cell_of_item", shares.ravel() * pt.ones((cell.size, 1)), cell)
    given = ("item_truth", lambda z: chances[z], truth)
    categories_by_item(first, given, np.full(cell.shape, True))


def _shares(cells: dict[str, Any], concentration: float, collapsed: bool, text: bool) -> Any:
    """Shares of the cells among all items."""
    import pymc as pm

    from bayesjudge.core.distributions import dirichlet_by_halves
    from bayesjudge.prevalence._pymc import multinomial

    items = cells["test"] + cells["labels"]
    even = np.full(items.size, concentration / items.size)
    parts = cells["coords"].values()
    names = [", ".join(name) for name in product(*parts)]
    pm.modelcontext(None).add_coord("cell", names)
    if not text:  # nothing else is known about shares: their posterior is Dirichlet
        return dirichlet_by_halves("cell_share", even + items.ravel(), "cell").reshape(items.shape)
    shares = pm.Dirichlet("cell_share", pm.Data("cell_share_prior", even, dims="cell"), dims="cell")
    if collapsed:
        multinomial("items", items.ravel(), shares, ("cell",))
    return shares.reshape(items.shape)


def _steps(name: str, cells: dict[str, Any], concentration: float, text: bool) -> Any:
    """Dirichlet increments, from 0 to the number of the first bin, and so on up to 1."""
    import pymc as pm

    from bayesjudge.core.distributions import dirichlet_by_halves

    shape = cells["labels"].shape
    # three increments of two bins are flat at 1; more of them share the same weight
    weights = np.full((*shape[:-1], shape[-1] + 1), 3 * concentration / (shape[-1] + 1))
    dims = (*cells["dims"][:-1], "step")
    pm.modelcontext(None).add_coord("step", np.arange(weights.shape[-1]))
    name = f"{name}_steps"
    if not text:
        return dirichlet_by_halves(name, weights, dims)
    return pm.Dirichlet(name, pm.Data(f"{name}_prior", weights, dims=dims), dims=dims)


def _uneven(typical: Any, guess: float, counted: np.ndarray, dims: Any) -> Any:
    """Spreads of the bins for the sampler, as steps from a guess or from the typical spread.

    From the guess if labels tell the spread of a bin, from the typical one if not, and between.
    """
    import pymc as pm
    import pytensor.tensor as pt

    inner = counted[..., 1:-1].sum(axis=-1)
    told = 2 * inner * ((counted > 0).sum(axis=-1) > 1)  # of the logarithm of a spread
    kept = pm.Data("spread_kept", 1 / (1 + UNEVEN**2 * told), dims=dims)
    off = pt.log(typical / guess)
    steps = pm.Normal("bin_spread_steps", (1 - kept) * off / UNEVEN, dims=dims)
    spread = guess * pt.exp(UNEVEN * steps + kept * off)
    return pm.Deterministic("bin_spread", spread, dims=dims)


def _normal_cdf(x: Any) -> Any:
    import pytensor.tensor as pt

    return 0.5 * pt.erfc(-x / np.sqrt(2))


def _grain(levels: np.ndarray) -> float:
    return GRAIN / (levels.size - 1)


def _levels(scores: Scores) -> np.ndarray:
    """Numbers that people can give, between 0 and 1: integers, or hundredths of the scale."""
    least, most = scores.truth_scale or (0.0, 1.0)
    known = scores.truth[scores.known]
    ends = np.array([least, most])
    whole = np.all(known == np.round(known)) and np.all(ends == np.round(ends))
    steps = int(most - least) if whole and 2 <= most - least <= FINEST else FINEST
    return np.linspace(0, 1, steps + 1)
