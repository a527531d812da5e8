"""Source 2's regression on pass rates: the loss as published, and two ways to minimise it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.core.randomness import rng_of
from bayesjudge.panel.checks import about
from bayesjudge.panel.data import Votes
from bayesjudge.panel.voting import require_binary, true_prevalence

#: Keeps a logarithm finite if a predicted rate reaches 0 or 1, as the published code does.
CLIP = 1e-9
#: Starting sensitivities and specificities lie this close below 1; the source says "small".
START = 0.01
#: The norms of eq. (3) have a kink where they vanish. They are smoothed, ever less.
SMOOTHING = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)


@dataclass(frozen=True)
class PassRates:
    """How often each judge passed each generator, with what is known of some."""

    rates: np.ndarray  # generator, judge; nan if a judge never saw a generator
    prevalence: np.ndarray  # nan if it is not known
    sensitivity: np.ndarray  # on the labelled items
    specificity: np.ndarray

    @classmethod
    def of(cls, votes: Votes) -> PassRates:
        """Compute them from votes."""
        require_binary(votes, "panel.PassRates")
        by_truth = votes.tally()[..., :2].sum(axis=0)  # without the missing votes
        tally = about(votes).tally()[..., :2]
        identified = "prevalence" in votes.design.identifies
        with np.errstate(invalid="ignore"):
            return cls(
                rates=tally.sum(axis=1)[..., 1] / tally.sum(axis=(1, 3)),
                prevalence=np.where(identified, true_prevalence(votes), np.nan),
                sensitivity=by_truth[1, :, 1] / by_truth[1].sum(axis=-1),
                specificity=by_truth[0, :, 0] / by_truth[0].sum(axis=-1),
            )


@dataclass(frozen=True)
class Minimum:
    """Result of a minimisation."""

    prevalence: np.ndarray
    sensitivity: np.ndarray
    specificity: np.ndarray
    loss: float
    losses: tuple[float, ...] = field(default=())


def loss_of(
    known: PassRates,
    prevalence: np.ndarray,
    sensitivity: np.ndarray,
    specificity: np.ndarray,
    *,
    weights: tuple[float, float, float] = (2.0, 1.0, 10.0),
    smoothing: float = 0.0,
) -> tuple[float, np.ndarray]:
    r"""Loss of the regression, with its gradient (a subgradient at a kink).

    Pass rates are compared with :math:`g_i v_j^+ + (1 - g_i)(1 - v_j^-)` by cross-entropy, averaged
    over the cells that were observed (eq. 2), and known quantities with theirs by the root of the
    mean square (eq. 3). `smoothing` takes the kink off the roots.
    """
    seen = ~np.isnan(known.rates)
    p = np.where(seen, known.rates, 0.5)
    g = prevalence[:, None]
    raw = g * sensitivity + (1 - g) * (1 - specificity)
    fitted = np.clip(raw, CLIP, 1 - CLIP)
    cells = seen.sum()
    entropy = -np.sum(np.where(seen, p * np.log(fitted) + (1 - p) * np.log1p(-fitted), 0)) / cells
    slope = np.where(seen & (raw == fitted), (fitted - p) / (fitted * (1 - fitted)), 0) / cells
    gradient = [
        (slope * (sensitivity + specificity - 1)).sum(axis=1),
        (slope * g).sum(axis=0),
        -(slope * (1 - g)).sum(axis=0),
    ]
    loss = float(entropy)
    triples = (
        (known.prevalence, prevalence),
        (known.sensitivity, sensitivity),
        (known.specificity, specificity),
    )
    for i, (weight, (target, value)) in enumerate(zip(weights, triples, strict=True)):
        held = ~np.isnan(target)
        if held.any():
            gap = np.where(held, value - np.where(held, target, 0), 0)
            root = np.sqrt(np.sum(gap**2) / held.sum() + smoothing**2)
            loss += weight * float(root - smoothing)
            if root > 0:
                gradient[i] = gradient[i] + weight * gap / (held.sum() * root)
    return loss, np.concatenate(gradient)


def minimise(
    known: PassRates,
    *,
    solver: Literal["exact", "source"] = "exact",
    weights: tuple[float, float, float] = (2.0, 1.0, 10.0),
    starts: int = 10,
    random_seed: int = 0,
) -> Minimum:
    """Minimise the loss from several starts, and take the lowest.

    The roots of eq. (3) have a kink exactly where the calibration is met, and there the line search
    of ``"source"`` gives up: the result is a point on the way. ``"exact"`` smooths the kink and
    takes the smoothing away in steps, which reaches the minimum.
    """
    seen = ~np.isnan(known.rates)
    with checking("panel.regression") as require:
        require(solver in ("exact", "source"), f"solver={solver!r}: exact or source")
        require(starts >= 1, f"starts={starts}: at least one is needed")
        require(
            seen.any(axis=0).all() and seen.any(axis=1).all(),
            "a generator or a judge has no vote at all; leave it out",
        )
    n, m = known.rates.shape
    rng = rng_of(random_seed)
    minima = []
    for _ in range(starts):
        level = np.nanmean(known.rates, axis=1)
        x = np.concatenate([level, 1 - rng.uniform(0, START, 2 * m)])
        for smoothing in (0.0,) if solver == "source" else SMOOTHING:
            x = _descend(known, x, n, m, weights, smoothing, precise=solver == "exact")
        loss = loss_of(known, *np.split(x, [n, n + m]), weights=weights)[0]
        minima.append((loss, x))
    loss, x = min(minima, key=lambda pair: pair[0])
    g, s1, s0 = np.split(x, [n, n + m])
    return Minimum(g, s1, s0, loss, tuple(pair[0] for pair in minima))


def _descend(
    known: PassRates,
    x: np.ndarray,
    n: int,
    m: int,
    weights: tuple[float, float, float],
    smoothing: float,
    *,
    precise: bool,
) -> np.ndarray:
    from scipy.optimize import minimize  # slow to load

    options = {"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-15, "gtol": 1e-10, "maxcor": 30}
    done = minimize(
        lambda at: loss_of(known, *np.split(at, [n, n + m]), weights=weights, smoothing=smoothing),
        x,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, 1.0)] * x.size,
        options=options if precise else {},
    )
    return done.x
