"""Normal hierarchy of shifts, sampled with NUTS."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from bayesjudge.bias.cautions import (
    EQUAL_NOISE,
    NORMAL,
    SAMPLED,
    SEPARATE,
    model_cautions,
)
from bayesjudge.bias.closed_form import FEUER
from bayesjudge.bias.data import Shifts
from bayesjudge.core import methods
from bayesjudge.core.diagnosis import cautions_of, contradicted
from bayesjudge.core.errors import checking, expect
from bayesjudge.core.estimate import Caution, Diagnosis
from bayesjudge.core.model import BayesianModel, with_default
from bayesjudge.core.prior_check import Key, count_in_draws, prior_table

if TYPE_CHECKING:
    import pandas as pd
    import pymc as pm

SOURCE = f"{FEUER}, Section 6 (finite-sample estimation left open), with a normal hierarchy"
#: With fewer things than this there is nothing to learn a spread between them from: no pooling.
ENOUGH = 3
QUANTITIES = ("rms_shift", "mean_shift", "repeat_noise")


@dataclass(frozen=True)
class NormalShifts(BayesianModel):
    r"""A score moves by a shift of its perturbation, one of its item, and repeat noise.

    A score of item :math:`i` under perturbation :math:`v` is

    .. math:: s_{iv} = \mu_i + b_v + u_{iv} + \varepsilon,
              \quad u_{iv} \sim N(0, \omega_v), \quad \varepsilon \sim N(0, \sigma)

    with :math:`b = u = 0` for the baseline and its reruns. The item's :math:`\mu_i` has a flat
    prior and is integrated out: the likelihood is that of the differences from the baseline, which
    share its noise. Mean shifts, and the logarithms of :math:`\omega` and :math:`\sigma`, are
    partially pooled over perturbations and judges if there are three or more to pool: of one judge

    .. math:: b_v \sim N(0, \beta), \quad \beta \sim N^+, \quad
              \log \omega_v \sim N(\log \bar\omega, \lambda), \quad \log \bar\omega \sim N, \quad
              \lambda \sim N^+;

    several judges have mean shifts about these :math:`b_v`. The scatter of reruns is a sum of
    squares with a :math:`\sigma^2 \chi^2` distribution.

    Parameters
    ----------
    mean_shift : float, default 0.2
        Scale of the mean shifts: a half-normal prior of their spread over perturbations, or a
        normal one of each if there are fewer than three perturbations. Like the next three a
        fraction of `unit`.
    judge_shift : float, default 0.1
        Half-normal scale of how judges differ in their mean shift, if there are several.
    item_spread, noise : float, default 0.05
        Medians of the items' own shifts and of the repeat noise, as standard deviations; both
        log-normal.
    log_sd : float, default 1
        Standard deviation of those two on the log scale.
    pooling : float, default 0.7
        Half-normal scale of how they differ, on the log scale, over perturbations and judges, if
        there are three or more.
    unit : float, optional
        Score points that a fraction is of; the scale's range by default, required if the scale has
        no ends.

    Raises
    ------
    InputError
        If one is not a positive number.

    Notes
    -----
    Variables, in score points: ``mean_shift`` and ``item_spread`` (judge, perturbation) and
    ``noise`` (judge), the standard deviation of one score; partial pooling adds
    ``mean_shift_spread``, of several judges ``typical_mean_shift`` (perturbation) and
    ``judge_shift_spread``, and of spread and noise ``typical_item_spread`` with
    ``item_spread_pooling``, ``typical_noise`` with ``noise_pooling`` (on the log scale). Derived:
    ``repeat_noise`` (judge), of the difference of two scores, and ``rms_shift``, whose square is
    the sum of the squares of the three. The dim judge is left out if there is one. Observed:
    ``difference`` (one row per item and judge) and ``squares``. Not collapsed, each item has a
    ``level`` and an ``item_shift`` by perturbation for each judge, and its scores are observed.

    Examples
    --------
    >>> NormalShifts(noise=0.1).noise
    0.1
    """

    _method = methods.NORMAL_SHIFTS
    _source: ClassVar[str] = SOURCE
    sampling: ClassVar[Mapping[str, Any]] = {"draws": 2000, "target_accept": 0.95}
    _words: ClassVar[Mapping[str, str]] = {"pooling": "spread of those two between three or more"}

    mean_shift: float = 0.2
    judge_shift: float = 0.1
    item_spread: float = 0.05
    noise: float = 0.05
    log_sd: float = 1.0
    pooling: float = 0.7
    unit: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        with checking("bias.NormalShifts") as require:
            for field in fields(self):
                value = getattr(self, field.name)
                known = isinstance(value, int | float | np.number) and 0 < value < np.inf
                without = value is None and field.name == "unit"
                require(known or without, "must be positive and finite", **{field.name: value})

    def describe(self) -> dict[str, str]:
        """Put priors and options in words, for a report.

        Returns
        -------
        dict of str to str
            By field.
        """
        words = super().describe()
        words["unit"] = "the scale's range" if self.unit is None else f"{self.unit:g} points"
        return words

    def _quantities(self, data: Shifts) -> tuple[str, ...]:
        return QUANTITIES

    def _diagnosis(self, data: Shifts) -> Diagnosis:
        _rows_of(data, self.unit)  # or an error that says why there is no model of them
        cautions = (*_unknown_noise(data), *model_cautions(data), *cautions_of(data))
        assumed = (SAMPLED, EQUAL_NOISE, NORMAL, SEPARATE)
        return contradicted(assumed, cautions), cautions

    def _unread(self, data: Shifts) -> frozenset[str]:
        judges = len(data.judges)
        unread = {"judge_shift"} if judges == 1 else set()
        return frozenset(unread | ({"pooling"} if judges * len(data._changed) < ENOUGH else set()))

    def _build(self, data: Shifts) -> pm.Model:
        return self._graph(data, _rows_of(data, self.unit), _observe)

    def _sampling_form(self, data: Shifts) -> pm.Model:
        """Items with the same scores missing have one covariance: their sums are sufficient."""
        rows = _collapsed(_rows_of(data, self.unit))
        return self._graph(data, rows, _observe_sums, text=False)

    def _uncollapsed(self, data: Shifts) -> pm.Model:
        return self._graph(data, _rows_of(data, self.unit), _observe_scores)

    def _graph(
        self, data: Shifts, rows: dict[str, Any], observe: Any, *, text: bool = True
    ) -> pm.Model:
        import pymc as pm
        import pytensor.tensor as pt

        coords: dict[str, Any] = {"perturbation": data._changed}
        if len(data.judges) > 1:
            coords["judge"] = data.judges
        with pm.Model(coords=coords) as model:
            priors: dict[str, Any] = {}

            def prior(name: str) -> Any:
                # made if it is used: data that no unknown needs are refused by the sampler
                if name not in priors:
                    value = rows["unit"] if name == "unit" else getattr(self, name)
                    priors[name] = pm.Data(name if name == "unit" else f"{name}_prior", value)
                return priors[name]

            mean, spread, noise = _unknowns(data, prior, _Drawn(text))
            # a batch's length adds up over items; averaged calls cancel part of their noise
            length = pm.Data("length_factor", rows["length"])
            calls = pm.Data("calls", float(data.averaged))
            again = pt.sqrt(2 / calls) * noise
            pm.Deterministic("repeat_noise", length * again, dims=data._judge_dims or None)
            square = mean**2 + spread**2 + (again**2)[..., None]
            pm.Deterministic("rms_shift", length * pt.sqrt(square), dims=data._dims)
            shape = (len(data.judges), len(data._changed))
            observe(rows, mean.reshape(shape), spread.reshape(shape), noise.reshape(shape[:1]))
            _observe_reruns(rows, noise.reshape(shape[:1]))
        return model

    _by_item: ClassVar[str | None] = "difference"


@prior_table.register(NormalShifts)
def _beside_prior(
    model: NormalShifts, shifts: Shifts, rng: np.random.Generator, *, stated: bool = False
) -> pd.DataFrame:
    from bayesjudge.core.predictive import draw_together

    rows, built = _rows_of(shifts, model.unit), model._build(shifts)
    names = [name for name in ("difference", "squares") if name in built.named_vars]
    seen = _summaries(shifts, rows, {name: rows[name][None] for name in names})
    return count_in_draws(
        {key: float(v[0]) for key, v in seen.items()},
        lambda n: _summaries(shifts, rows, draw_together(built, names, n, rng)),
    )


with_default(Shifts, lambda shifts: NormalShifts())


def _unknown_noise(shifts: Shifts) -> tuple[Caution, ...]:
    if _freedom_of(shifts).any():
        return ()
    several = "several" if len(shifts._changed) > 1 else "one"
    return (Caution.of("repeat-noise-guessed", several),)


# Unknowns, in score points -----------------------------------------------------------------------


class _Drawn(NamedTuple):
    """How unknowns are declared: as in the text, or in steps of their standard deviation.

    The sampler counts in steps (non-centred), since each unknown has few data of its own.
    """

    text: bool

    def half_normal(self, name: str, scale: Any) -> Any:
        import pymc as pm

        if self.text:
            return pm.HalfNormal(name, scale)
        return pm.Deterministic(name, scale * pm.HalfNormal(f"{name}_steps"))

    def normal(self, name: str, mean: Any, sd: Any, dims: Any) -> Any:
        import pymc as pm

        if self.text:
            return pm.Normal(name, mean, sd, dims=dims)
        steps = pm.Normal(f"{name}_steps", dims=dims)
        return pm.Deterministic(name, mean + sd * steps, dims=dims)

    def log_normal(self, name: str, centre: Any, sd: Any, dims: Any = None) -> Any:
        import pymc as pm

        if self.text:
            return pm.LogNormal(name, centre, sd, dims=dims)
        steps = pm.Normal(f"{name}_steps", dims=dims)
        return pm.Deterministic(name, pm.math.exp(centre + sd * steps), dims=dims)


def _unknowns(data: Shifts, prior: Callable[[str], Any], drawn: _Drawn) -> tuple[Any, Any, Any]:
    """Mean shifts, spreads between items, and noise of one score."""
    import pytensor.tensor as pt

    several, unit = len(data.judges) > 1, prior("unit")
    spread = unit * prior("mean_shift")
    if len(data._changed) >= ENOUGH:
        spread = drawn.half_normal("mean_shift_spread", spread)
    name = "typical_mean_shift" if several else "mean_shift"
    mean = drawn.normal(name, 0, spread, "perturbation")
    if several:
        judge_spread = drawn.half_normal("judge_shift_spread", unit * prior("judge_shift"))
        mean = drawn.normal("mean_shift", mean, judge_spread, data._dims)

    def pooled(name: str, dims: Any, size: int) -> Any:
        centre = pt.log(unit * prior(name))
        if size < ENOUGH:
            return drawn.log_normal(name, centre, prior("log_sd"), dims)
        typical = drawn.log_normal(f"typical_{name}", centre, prior("log_sd"))
        pooling = drawn.half_normal(f"{name}_pooling", prior("pooling"))
        return drawn.log_normal(name, pt.log(typical), pooling, dims)

    judges = len(data.judges)
    each = pooled("item_spread", data._dims, judges * len(data._changed))
    return mean, each, pooled("noise", data._judge_dims or None, judges)


# Likelihood --------------------------------------------------------------------------------------


def _variances(rows: dict[str, Any], spread: Any, noise: Any) -> tuple[Any, ...]:
    """Judge of each row, what differences have of their own, what they share, which are seen."""
    import pymc as pm

    pm.modelcontext(None).add_coord("row", rows["names"])
    dims = ("row", "perturbation")
    judge = pm.Data("judge_of_row", rows["judge"], dims="row")
    after = pm.Data("after_n", rows["after"], dims=dims)
    before = pm.Data("before_n", rows["before"], dims="row")
    seen = pm.Data("seen", rows["seen"], dims=dims)
    variance = (noise**2)[judge]
    return judge, spread[judge] ** 2 + variance[:, None] / after, variance / before, seen


def _observe(rows: dict[str, Any], mean: Any, spread: Any, noise: Any) -> None:
    """Differences from a shared baseline."""
    import pymc as pm

    judge, apart, shared, seen = _variances(rows, spread, noise)
    dims = ("row", "perturbation")
    pm.CustomDist(
        "difference",
        *(mean[judge], apart, shared, seen),
        logp=_difference_logp,
        dist=_drawn_differences,
        signature="(v),(v),(),(v)->(v)",
        observed=pm.Data("difference_seen", rows["difference"], dims=dims),
        dims=dims,
    )


def _observe_sums(rows: dict[str, Any], mean: Any, spread: Any, noise: Any) -> None:
    """Means and sums of products of rows that differ in their values only."""
    import pymc as pm

    judge, apart, shared, seen = _variances(rows, spread, noise)
    size, scatter = pm.Data("size", rows["size"]), pm.Data("scatter", rows["scatter"])
    means = pm.Data("difference_seen", rows["difference"])
    log_p = _collapsed_logp(means, scatter, size, mean[judge], apart, shared, seen)
    pm.Potential("difference", log_p.sum())


def _observe_scores(rows: dict[str, Any], mean: Any, spread: Any, noise: Any) -> None:
    """Mean scores of each item, whose level and own shifts are variables."""
    import pymc as pm
    import pytensor.tensor as pt

    judge = _variances(rows, spread, noise)[0]
    level = pm.Flat("level", dims="row")
    item_shift = pm.Normal("item_shift", 0, spread[judge], dims=("row", "perturbation"))
    error = noise[judge] / pt.sqrt(rows["before"])
    pm.Normal("baseline_score", level, error, observed=rows["baseline"], dims="row")
    at, which = np.nonzero(rows["seen"])
    pm.modelcontext(None).add_coord("changed_score_of", np.arange(at.size))
    score = (level[:, None] + mean[judge] + item_shift)[at, which]
    error = noise[judge[at]] / np.sqrt(rows["after"][at, which])
    changed = rows["baseline"][at] + rows["difference"][at, which]
    pm.Normal("changed_score", score, error, observed=changed, dims="changed_score_of")


def _observe_reruns(rows: dict[str, Any], noise: Any) -> None:
    """The scatter of repeated scores."""
    import pymc as pm

    if rows["free"].size:
        dim = "rerun_judge"
        pm.modelcontext(None).add_coord(dim, rows["rerun"])
        half = pm.Data("half_freedom", rows["freedom"] / 2, dims=dim)
        rate = 1 / (2 * noise[rows["free"]] ** 2)
        seen = pm.Data("squares_seen", rows["squares"], dims=dim)
        pm.Gamma("squares", half, rate, observed=seen, dims=dim)


def _difference_logp(value: Any, mean: Any, apart: Any, shared: Any, seen: Any) -> Any:
    """Log-density of differences that share a baseline, shape (n_rows,)."""
    import pytensor.tensor as pt

    return _collapsed_logp(value, 0.0, pt.ones_like(shared), mean, apart, shared, seen)


def _collapsed_logp(
    value: Any, scatter: Any, size: Any, mean: Any, apart: Any, shared: Any, seen: Any
) -> Any:
    """Log-density of rows that differ in their values only, shape (n_groups,).

    `apart` are the variances that differences do not share, `shared` that of the baseline, and
    `seen` is 0 for a difference that is not there. Of `size` rows, `value` (group, perturbation)
    are the means and `scatter` (group, perturbation, perturbation) the sums of products of their
    deviations. By the matrix determinant lemma and the Sherman-Morrison formula.
    """
    import pytensor.tensor as pt

    weight, off = seen / apart, value - mean
    total = 1 + shared * weight.sum(axis=-1)
    about = scatter + size[:, None, None] * off[:, :, None] * off[:, None, :]
    squares = (weight * pt.diagonal(about, axis1=1, axis2=2)).sum(axis=-1)
    pulls = (weight[:, :, None] * weight[:, None, :] * about).sum(axis=(1, 2))
    logdet = (seen * pt.log(2 * np.pi * apart)).sum(axis=-1) + pt.log(total)
    return -0.5 * (squares - shared * pulls / total + size * logdet)


def _drawn_differences(mean: Any, apart: Any, shared: Any, seen: Any, size: Any) -> Any:
    """Draw from the same distribution: what each difference has of its own, and what they share."""
    import pymc as pm
    import pytensor.tensor as pt

    alone = pm.Normal.dist(mean, pt.sqrt(apart))  # the batch is in the means
    return seen * (alone + pm.Normal.dist(0, pt.sqrt(shared))[..., None])


# What the likelihood sees ------------------------------------------------------------------------


def _freedom_of(shifts: Shifts) -> np.ndarray:
    """Degrees of freedom of each judge's repeat noise: how often it was asked the same again."""
    return np.zeros(len(shifts.judges)) if shifts.freedom is None else shifts.freedom


def _rows_of(shifts: Shifts, unit: float | None) -> dict[str, Any]:
    """A row for each item and judge that has a baseline and something else.

    Differences and counts, shape (n_rows, n_perturbations); sums of squares of the judges that were
    asked again.
    """
    unit = shifts.span if unit is None else unit
    with checking("bias.fit") as require:
        require(shifts.counts is not None, _why_not(shifts), n=len(shifts.scores))
        require(np.isfinite(unit), "no-unit")
    assert shifts.counts is not None
    assert shifts.means is not None
    assert shifts.squares is not None
    judge, item = np.nonzero((shifts.counts[..., 0] > 0) & (shifts.counts[..., 1:].sum(-1) > 0))
    expect("bias.fit", judge.size > 0, "no item has both a baseline and a perturbed score")
    counts, means = shifts.counts[judge, item], shifts.means[judge, item]
    seen = counts[:, 1:] > 0
    free = np.flatnonzero(_freedom_of(shifts))
    return {
        "unit": float(unit),
        "length": float(np.sqrt(len(shifts.items))) if shifts.design == "batch" else 1.0,
        "judge": judge,
        "difference": np.where(seen, means[:, 1:] - means[:, :1], 0.0),
        "after": np.maximum(counts[:, 1:], 1.0),
        "seen": seen.astype(float),
        "before": counts[:, 0],
        "baseline": means[:, 0],
        "names": [
            f"{shifts.judges[j]}, {shifts.items[i]}"
            for j, i in zip(judge.tolist(), item.tolist(), strict=True)
        ],
        "free": free,
        "rerun": [shifts.judges[j] for j in free.tolist()],
        "squares": shifts.squares[free],
        "freedom": _freedom_of(shifts)[free],
    }


def _summaries(
    shifts: Shifts, rows: Mapping[str, Any], values: Mapping[str, np.ndarray]
) -> dict[Key, np.ndarray]:
    """Mean and scatter of the differences, and of repeated scores, as they lie there."""
    summaries: dict[Key, np.ndarray] = {}
    several = len(shifts.judges) > 1
    for j, judge in enumerate(shifts.judges):
        for v, perturbation in enumerate(shifts._changed):
            there = (rows["judge"] == j) & (rows["seen"][:, v] > 0)
            difference = values["difference"][:, there, v]
            dims = ("judge", "perturbation") if several else ("perturbation",)
            where = (judge, perturbation)[-len(dims) :]
            if there.any():
                summaries["mean_shift", dims, where] = difference.mean(axis=1)
            if there.sum() > 1:
                summaries["shift_sd", dims, where] = difference.std(axis=1, ddof=1)
    if "squares" in values:
        noise = np.sqrt(values["squares"] / rows["freedom"])
        summaries |= {
            ("rerun_sd", "judge" if several else "", name if several else ""): of_judge
            for name, of_judge in zip(rows["rerun"], noise.T, strict=True)
        }
    return summaries


def _collapsed(rows: dict[str, Any]) -> dict[str, Any]:
    """Rows of `_rows_of`, those of one judge with the same numbers of scores put together."""
    keys = np.column_stack([rows["judge"], rows["before"], rows["after"], rows["seen"]])
    _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    size = np.bincount(group.ravel())
    difference = rows["difference"]
    sums = np.zeros((len(size), difference.shape[1]))
    np.add.at(sums, group.ravel(), difference)
    means = sums / size[:, None]
    off = difference - means[group.ravel()]
    scatter = np.zeros((len(size), *2 * difference.shape[1:]))
    np.add.at(scatter, group.ravel(), off[:, :, None] * off[:, None, :])
    kept = {name: rows[name][first] for name in ("judge", "before", "after", "seen")}
    kept["names"] = np.arange(len(first))
    return {**rows, **kept, "difference": means, "size": size.astype(float), "scatter": scatter}


def _why_not(shifts: Shifts) -> str:
    """What the model lacks: the problem says what answers instead.

    There is no model of sizes alone. Without signs, a mean shift and a spread about it cannot be
    told apart; and what is left, the distribution of sizes, has an exact posterior. Pooling it over
    judges would let a judge that was measured twice be certified by the neighbours of others.
    """
    if len(shifts.scores) > 1:
        return "several-scores"
    if not shifts._changed:
        return "only-reruns"
    return "differences-only" if shifts.signed else "sizes-only"
