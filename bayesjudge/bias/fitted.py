"""Bounds on shifts from the draws of a fit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from bayesjudge.core.draws import labelled_draws
from bayesjudge.core.errors import checking
from bayesjudge.core.fit import Fit


class Bound(NamedTuple):
    """A bound on the length of shifts.

    Parameters
    ----------
    length : float
        In score points.
    estimation_prob : float
        What of the failure probability it uses for its own error.
    worst : str
        The perturbation that set it.
    """

    length: float
    estimation_prob: float
    worst: str


def tail_probability(fit: Fit, at: Any) -> dict[str, Any]:
    """Posterior predictive probability that a shift is longer than `at`, by the model.

    Parameters
    ----------
    fit : Fit
        From `bayesjudge.bias.fit`, of one-item neighbours.
    at : float or array_like
        Lengths, in score points.

    Returns
    -------
    dict of str to float or numpy.ndarray
        By perturbation, labelled as in ``fit.estimate()``.

    Raises
    ------
    InputError
        Where neighbours are whole batches, whose length the model has no simple tail for.
    """
    with checking("tail_probability") as require:
        require(fit.data.design == "item", "it is for one-item neighbours; for batches use rms")
    mean = dict(labelled_draws(fit.idata, ("mean_shift",)))
    rms = dict(labelled_draws(fit.idata, ("rms_shift",)))
    found = {}
    for name, centre in mean.items():
        where = name.removeprefix("mean_shift")
        square = rms[f"rms_shift{where}"] ** 2 - centre**2
        spread = np.sqrt(np.maximum(square, 1e-300))
        t = np.asarray(at, dtype=float)[..., None, None]
        beyond = ndtr((-t - centre) / spread) + ndtr((centre - t) / spread)
        found[f"rms_shift{where}"] = beyond.mean(axis=(-2, -1))[()]
    return found


def bound_of_fit(fit: Fit, road: str, budget: float, largest: float) -> Bound:
    """Bound the shifts of every perturbation of a fit.

    Parameters
    ----------
    fit : Fit
        From `bayesjudge.bias.fit`.
    road : {"rms", "predictive"}
        The upper credible bound of the RMS shift with Markov's inequality, or the posterior
        predictive tail.
    budget : float
        Failure probability for shifts and estimation.
    largest : float
        Length of the largest shift possible.

    Returns
    -------
    Bound
        Of the worst perturbation.

    Raises
    ------
    InputError
        Where the road needs the measured shifts themselves.
    """
    with checking("certify") as require:
        require(
            road in ("rms", "predictive"),
            f"road={road!r} needs the shifts themselves, not a fit: certify(fit.data, ...)",
        )
    if road == "predictive":
        return _predictive(fit, budget, largest)
    draws = labelled_draws(fit.idata, ("rms_shift",))
    part = budget / 2
    bounds = {name: _upper(values, part / len(draws)) for name, values in draws}
    worst = max(bounds, key=lambda name: bounds[name])
    return Bound(min(bounds[worst] / np.sqrt(budget - part), largest), part, _where(worst))


def _upper(draws: np.ndarray, prob: float) -> float:
    """Quantile of the draws, moved up by three standard errors of their number beyond it."""
    flat = np.sort(np.ravel(draws))
    expected = prob * flat.size
    beyond = int(np.floor(expected - 3 * np.sqrt(expected)))
    return float(flat[-1 - max(beyond, 0)])


def _predictive(fit: Fit, budget: float, largest: float) -> Bound:
    high = largest if np.isfinite(largest) else 1e3 * float(np.max(fit.draws("rms_shift")))
    lengths = {}
    for name in tail_probability(fit, 0.0):

        def excess(at: float, name: str = name) -> float:
            return float(tail_probability(fit, at)[name]) - budget

        lengths[name] = high if excess(high) > 0 else float(brentq(excess, 0.0, high))
    worst = max(lengths, key=lambda name: lengths[name])
    return Bound(lengths[worst], 0.0, _where(worst))


def _where(name: str) -> str:
    return name.removeprefix("rms_shift").strip("[]")
