"""The Bayesian models of shifts, sampled with NUTS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.bias.cautions import cautions_of
from bayesjudge.bias.closed_form import FEUER, NOISE_ALIKE, SAMPLED
from bayesjudge.bias.data import Shifts
from bayesjudge.bias.departures import departures
from bayesjudge.bias.rows import freedom_of, rows_of
from bayesjudge.core.errors import checking
from bayesjudge.core.fit import Fit
from bayesjudge.core.estimate import Caution

if TYPE_CHECKING:
    import pymc as pm

SOURCE = f"{FEUER}, Section 6 (finite-sample estimation left open), with a normal hierarchy"
#: With fewer things than this there is nothing to learn a spread between them from: no pooling.
ENOUGH = 3
QUANTITIES = ("rms_shift", "mean_shift", "repeat_noise")


@dataclass(frozen=True)
class Priors:
    """Priors of the normal hierarchy, in fractions of the scale's range.

    Parameters
    ----------
    mean_shift : float, default 0.2
        Scale of the mean shifts: a half-normal prior of their spread over perturbations, or a
        normal one of each where there are fewer than three perturbations.
    judge_shift : float, default 0.1
        Half-normal scale of how judges differ in their mean shift.
    item_spread, noise : float, default 0.05
        Medians of the items' own shifts and of the repeat noise, as standard deviations; both
        log-normal.
    log_sd : float, default 1
        Standard deviation of those two on the log scale.
    pooling : float, default 0.7
        Half-normal scale of how they differ, on the log scale, over perturbations and judges.
    unit : float, optional
        Score points that a fraction is of, where the scale has no ends.

    Raises
    ------
    InputError
        Where one is not positive.

    Examples
    --------
    >>> Priors(noise=0.1).noise
    0.1
    """

    mean_shift: float = 0.2
    judge_shift: float = 0.1
    item_spread: float = 0.05
    noise: float = 0.05
    log_sd: float = 1.0
    pooling: float = 0.7
    unit: float | None = None

    def __post_init__(self) -> None:
        with checking("bias.Priors") as require:
            for one in fields(self):
                value = getattr(self, one.name)
                good = value is None or 0 < value < float("inf")
                require(good, f"{one.name} must be positive and finite, got {value!r}")

    def __str__(self) -> str:
        shown = [f"{f.name} {getattr(self, f.name):g}" for f in fields(self) if f.name != "unit"]
        of = "of the range" if self.unit is None else f"of {self.unit:g} points"
        return f"{', '.join(shown)} ({of})"


def build_model(shifts: Shifts, priors: Priors = Priors()) -> pm.Model:
    r"""Build the model without sampling it.

    A score of item :math:`i` under perturbation :math:`v` is

    .. math:: s_{iv} = \mu_i + b_v + u_{iv} + \varepsilon,
              \quad u_{iv} \sim N(0, \omega_v), \quad \varepsilon \sim N(0, \sigma)

    with :math:`b = u = 0` for the baseline and its reruns. The item's :math:`\mu_i` has a flat
    prior and is integrated out: the likelihood is that of the differences from the baseline, which
    share its noise. Mean shifts, and the logarithms of :math:`\omega` and :math:`\sigma`, are
    partially pooled over perturbations and judges where there are three or more to pool.

    Parameters
    ----------
    shifts : Shifts
        Made by ``from_frame`` with one score.
    priors : Priors, default ``Priors()``
        Scales of the priors.

    Returns
    -------
    pymc.Model
        Derived: ``mean_shift`` and ``item_spread`` (judge, perturbation), ``repeat_noise`` (judge)
        and ``rms_shift``, whose square is the sum of the squares of the three, all in score points;
        the dim judge is left out where there is one. Observed: ``difference`` (one row an item and
        judge) and ``squares``.

    Raises
    ------
    InputError
        Where there are no scores to model, or no unit for the priors.
    """
    import pymc as pm
    import pytensor.tensor as pt

    cells = rows_of(shifts, priors.unit)
    several = len(shifts.judges) > 1
    names = [p for p in shifts.perturbations if p not in shifts.reruns]
    dims = ("judge", "perturbation") if several else "perturbation"
    coords: dict[str, Any] = {"perturbation": names}
    if several:
        coords["judge"] = shifts.judges
    shape = (len(shifts.judges), len(names))
    with pm.Model(coords=coords) as model:

        def scale_of(name: str) -> Any:
            # made where it is used: data that no unknown needs are refused by the sampler
            made = model.named_vars.get(f"{name}_prior")
            return pm.Data(f"{name}_prior", getattr(priors, name)) if made is None else made

        unit = pm.Data("unit", cells["unit"])
        mean = _mean_shift(shape, scale_of)
        spread = _spread("item_spread", shape, dims, scale_of)
        noise = _spread("noise", shape[:1], "judge" if several else None, scale_of)
        # a batch's length adds up over items; averaged calls cancel part of their noise
        length = pm.Data("length_factor", cells["length"])
        calls = pm.Data("calls", float(shifts.averaged))

        def tell(name: str, value: Any, dims: Any) -> None:
            pm.Deterministic(name, value if several else value[0], dims=dims)

        again = pt.sqrt(2 / calls) * noise
        tell("mean_shift", unit * mean, dims)
        tell("item_spread", unit * spread, dims)
        tell("repeat_noise", unit * length * again, "judge" if several else None)
        square = mean**2 + spread**2 + (again**2)[:, None]
        tell("rms_shift", unit * length * pt.sqrt(square), dims)
        _observe(cells, unit * mean, unit * spread, unit * noise)
    return model


def fit(
    shifts: Shifts, priors: Priors = Priors(), *, random_seed: Any = None, **sampling: Any
) -> Fit:
    """Sample the posterior of the shifts' parts.

    Parameters
    ----------
    shifts : Shifts
        Made by ``from_frame`` with one score.
    priors : Priors, default ``Priors()``
        Scales of the priors.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same draws.
    **sampling
        Settings of `bayesjudge.core.sampling.sample`.

    Returns
    -------
    Fit
        For `bayesjudge.side_by_side` and `bayesjudge.bias.certify`.

    Raises
    ------
    InputError
        Where there are no scores to model, or no unit for the priors.
    """
    from bayesjudge.core.sampling import sample

    model, more = build_model(shifts, priors), []
    if len(model.coords["perturbation"]) == 1 and not freedom_of(shifts).any():
        more.append(
            Caution(
                "repeat-noise-unknown",
                "nothing was judged twice and there is one perturbation: what is repeat noise and "
                "what differs from item to item is told by the priors alone; their sum is known",
            )
        )
    return sample(
        model,
        data=shifts,
        priors=priors,
        quantities=QUANTITIES,
        room="bias",
        method="Bayesian (NUTS), normal hierarchy",
        source=SOURCE,
        assumptions=(
            SAMPLED,
            NOISE_ALIKE,
            "shifts are normal about their mean, each perturbation's on their own",
            f"priors: {priors}",
        ),
        cautions=(*more, *departures(shifts), *cautions_of(shifts)),
        random_seed=random_seed,
        **{"draws": 2000, "target_accept": 0.95, "road": "full", **sampling},
    )


def _mean_shift(shape: tuple[int, int], scale_of: Callable[[str], Any]) -> Any:
    """Mean shifts in units, shape (n_judges, n_perturbations)."""
    import pymc as pm

    judges, size = shape
    if size < ENOUGH:
        common = pm.Normal("mean_shift_z", dims="perturbation") * scale_of("mean_shift")
    else:
        spread = pm.HalfNormal("mean_shift_sd") * scale_of("mean_shift")
        common = pm.Normal("mean_shift_z", dims="perturbation") * spread
    if judges == 1:
        return common[None, :]
    own = pm.HalfNormal("judge_shift_sd") * scale_of("judge_shift")
    return common[None, :] + pm.Normal("judge_shift_z", dims=("judge", "perturbation")) * own


def _spread(name: str, shape: tuple[int, ...], dims: Any, scale_of: Callable[[str], Any]) -> Any:
    """Give standard deviations in units, log-normal and partially pooled."""
    import pymc as pm
    import pytensor.tensor as pt

    middle, log_sd = pt.log(scale_of(name)), scale_of("log_sd")
    if np.prod(shape) < ENOUGH:
        return pt.exp(middle + log_sd * pm.Normal(f"{name}_z", dims=dims)).reshape(shape)
    centre = middle + log_sd * pm.Normal(f"{name}_z0")
    pooling = pm.HalfNormal(f"{name}_sd") * scale_of("pooling")
    each = centre + pooling * pm.Normal(f"{name}_z", dims=dims)
    return pt.exp(each.reshape(shape))


def _observe(cells: dict[str, Any], mean: Any, spread: Any, noise: Any) -> None:
    """Differences from a shared baseline, and the scatter of repeated scores."""
    import pymc as pm

    judge = pm.Data("judge_of_row", cells["judge"])
    after = pm.Data("after_n", cells["after"])
    before = pm.Data("before_n", cells["before"])
    seen = pm.Data("seen", cells["seen"])
    variance = (noise**2)[judge]
    pm.CustomDist(
        "difference",
        mean[judge],
        spread[judge] ** 2 + variance[:, None] / after,
        variance / before,
        seen,
        logp=difference_logp,
        dist=_drawn_differences,
        signature="(v),(v),(),(v)->(v)",
        observed=pm.Data("difference_seen", cells["difference"]),
    )
    if cells["free"].size:
        half = pm.Data("half_freedom", cells["freedom"] / 2)
        rate = 1 / (2 * noise[cells["free"]] ** 2)
        pm.Gamma("squares", half, rate, observed=pm.Data("squares_seen", cells["squares"]))


def difference_logp(value: Any, mean: Any, own: Any, shared: Any, seen: Any) -> Any:
    """Log-density of differences that share a baseline: independent but for a common part.

    Parameters
    ----------
    value, mean, own : TensorVariable, shape (n_rows, n_perturbations)
        Differences, their means, and the variances that they do not share.
    shared : TensorVariable, shape (n_rows,)
        Variance of the baseline, which they do.
    seen : TensorVariable, shape (n_rows, n_perturbations)
        1 where there is a difference, 0 where not.

    Returns
    -------
    TensorVariable, shape (n_rows,)
        By the matrix determinant lemma and the Sherman-Morrison formula.
    """
    import pytensor.tensor as pt

    weight, off = seen / own, value - mean
    total = 1 + shared * weight.sum(axis=-1)
    pull = (weight * off).sum(axis=-1)
    square = (weight * off**2).sum(axis=-1) - shared * pull**2 / total
    logdet = (seen * pt.log(2 * np.pi * own)).sum(axis=-1) + pt.log(total)
    return -0.5 * (square + logdet)


def _drawn_differences(mean: Any, own: Any, shared: Any, seen: Any, size: Any) -> Any:
    """Draw from the same distribution: what each difference has of its own, and what they share."""
    import pymc as pm
    import pytensor.tensor as pt

    alone = pm.Normal.dist(mean, pt.sqrt(own))  # the batch is in the means
    return seen * (alone + pm.Normal.dist(0, pt.sqrt(shared))[..., None])
