"""Posterior of several classes without a sampler to tune: conjugate draws, and Gibbs sampling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.comparing import compare, of_closed_forms
from bayesjudge.core.draws import summarise_interval
from bayesjudge.core.estimate import INTERVALS, Caution, Estimate, Interval, Quantity, Target
from bayesjudge.core.prior_check import conflicts
from bayesjudge.prevalence.cautions import OVERALL
from bayesjudge.prevalence.classes.data import SOURCE, ClassCounts
from bayesjudge.prevalence.classes.model import ClassModel, Confusions, suited
from bayesjudge.prevalence.closed_form import closed_forms
from bayesjudge.prevalence.exact import exact, posterior_estimate

#: Of independent draws: ends are off by about .01 standard deviations.
DRAWS = 20_000
#: Chains that run side by side, steps of the first run, and of the longest.
CHAINS, STEPS, MOST_STEPS = 40, 400, 25_600
#: Draws that are kept of the second half of a chain, evenly spaced.
KEPT = 800
#: A run is long enough if all shares have at least this effective size, and at most this R-hat.
EFFECTIVE, R_HAT = 2000, 1.02


@posterior_estimate.register(ClassCounts)
def _of_classes(
    counts: ClassCounts,
    model: ClassModel | None,
    ci_prob: float,
    interval: Interval,
    target: Target,
) -> Estimate:
    """By conjugate draws."""
    interval = "hdi" if interval == "hdi" else "eti"
    model = suited(counts, model, "exact")
    rng = np.random.default_rng(1)  # the same draws at each call
    if isinstance(model, Confusions):
        drawn, mixed = _gibbs(counts, model, rng)
    else:
        drawn, mixed = _independent(counts, model, rng), True
    assumptions, cautions = model._diagnosis(counts)
    cautions = (*cautions, *conflicts(model, counts))
    if not mixed:
        cautions = (Caution.of("not-mixed", "posterior", steps=MOST_STEPS), *cautions)
    with_dims = _derived(counts, drawn, rng)
    quantities = {}
    for name in model._quantities(counts):
        coords, draws = with_dims[name]
        flat = draws.reshape(len(draws), -1)
        ends = np.array([summarise_interval(share, ci_prob, interval) for share in flat.T])
        columns = np.column_stack([flat.mean(axis=0), ends]).T * (1 if mixed else np.nan)
        quantities[name] = Quantity.over(tuple(columns), coords)
    return Estimate(
        quantities,
        method=methods.EXACT_CLASSES,
        ci_prob=ci_prob,
        source=f"{SOURCE}; Gelfand & Smith (1990)" if isinstance(model, Confusions) else SOURCE,
        interval=INTERVALS[interval],
        assumptions=assumptions,
        cautions=cautions,
        data=counts,
    )


def _derived(
    counts: ClassCounts, drawn: Mapping[str, np.ndarray], rng: np.random.Generator
) -> dict[str, tuple[dict[str, Any], np.ndarray]]:
    """Draws by quantity with their coordinates, the weighed and the credited ones too."""
    by: dict[str, Any] = dict(counts.coords)
    shares = drawn["prevalence"]
    classes = {"class": counts.classes}
    variables = {"prevalence": ({**by, **classes}, shares)}
    if "confusion" in drawn:
        of_system = by if drawn["confusion"].shape[1] == len(counts.places) else {}
        coords = {**of_system, **classes, "verdict": counts.responses}
        variables["confusion"] = coords, drawn["confusion"]
    whole = shares
    if counts.adds_up:
        weights = counts.shares
        if counts.propensity is not None:
            items = counts.tests.sum(axis=1) + counts.tables.sum(axis=(1, 2))
            weights = rng.dirichlet(1.0 + items, len(shares))[:, :, None]
            whole, by = (weights * shares).sum(axis=1), {}
        else:
            whole, by = np.einsum("s,dsk->dk", weights, shares), {}
        variables[OVERALL] = classes, whole
    if counts.credit is not None:
        variables["win_rate"] = by, whole @ np.asarray(counts.credit)
    return variables


def _independent(
    counts: ClassCounts, model: Any, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Shares of the verdicts, and of the classes given each: posteriors are Dirichlet."""
    shares, rows = model._weights(counts)
    items = counts.tests + counts.tables.sum(axis=1)
    verdicts = _dirichlet(rng, np.broadcast_to(shares + items, (DRAWS, *items.shape)))
    known = rows + np.swapaxes(counts.tables, 1, 2)
    classes = _dirichlet(rng, np.broadcast_to(known, (DRAWS, *known.shape)))
    return {"prevalence": np.einsum("dsv,dsvk->dsk", verdicts, classes)}


def _gibbs(
    counts: ClassCounts, model: Confusions, rng: np.random.Generator
) -> tuple[dict[str, np.ndarray], bool]:
    """Draws of shares and confusions from the second half of each run, and whether they mixed."""
    steps = STEPS
    state = _start(counts, model, rng)
    while True:
        shares, rows, state = _run(counts, model, rng, state, steps)
        mixed = _mixed(shares)
        if mixed or steps >= MOST_STEPS:
            break
        steps *= 4
    drawn = {"prevalence": shares, "confusion": rows}
    return {name: x.reshape(-1, *x.shape[2:]) for name, x in drawn.items()}, mixed


def _start(counts: ClassCounts, model: Confusions, rng: np.random.Generator) -> Any:
    """Dispersed: rows by the labels at half their number, shares from the prior made flat."""
    _, rows = model._weights(counts)
    tables = counts.tables.sum(axis=0, keepdims=True) if _shares_judge(model) else counts.tables
    each = np.broadcast_to(rows + tables / 2, (CHAINS, *tables.shape))
    shape = (CHAINS, len(counts.places), len(counts.classes))
    return _dirichlet(rng, np.ones(shape)), _dirichlet(rng, each)


def _run(
    counts: ClassCounts, model: Confusions, rng: np.random.Generator, state: Any, steps: int
) -> tuple[np.ndarray, np.ndarray, Any]:
    """Draw the classes of the unlabelled items given shares and confusions, and these given all."""
    weights, rows = model._weights(counts)
    shares, confusion = state
    tables = counts.tables
    same, shared = counts.design.same_items, _shares_judge(model)
    known = tables.sum(axis=2) if same else 0
    tests = np.broadcast_to(counts.tests, (CHAINS, *counts.tests.shape))
    kept = []
    for step in range(steps):
        joint = np.swapaxes(shares[..., None] * confusion, -1, -2) + 1e-300
        drawn = rng.multinomial(tests, joint / joint.sum(axis=-1, keepdims=True))
        drawn = np.swapaxes(drawn, -1, -2)
        shares = _dirichlet(rng, weights + known + drawn.sum(axis=-1))
        seen = tables + drawn
        confusion = _dirichlet(rng, rows + (seen.sum(axis=1, keepdims=True) if shared else seen))
        if step >= steps // 2 and step % max(1, steps // 2 // KEPT) == 0:
            kept.append((shares, confusion))
    first, second = (np.stack(x, axis=1) for x in zip(*kept, strict=True))
    return first, second, (shares, confusion)


def _shares_judge(model: Confusions) -> bool:
    return model.pooling == "full"


def _mixed(draws: np.ndarray) -> bool:
    """Whether chains (chain, draw, …) agree and are long enough."""
    from bayesjudge.core.convergence import ess_bulk, r_hat

    flat = draws.reshape(*draws.shape[:2], -1)
    return all(
        r_hat(flat[..., i]) < R_HAT and ess_bulk(flat[..., i]) > EFFECTIVE
        for i in range(flat.shape[2])
    )


def _dirichlet(rng: np.random.Generator, weights: np.ndarray) -> np.ndarray:
    """Rows of Dirichlet shares, on the log scale where weights are small."""
    # Gamma(a) = Gamma(a + 1) U^(1/a) does not underflow as a logarithm
    logs = np.log(rng.standard_gamma(weights + 1)) + np.log(rng.random(weights.shape)) / weights
    drawn = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return drawn / drawn.sum(axis=-1, keepdims=True)


compare.register(ClassCounts, of_closed_forms(closed_forms, exact))
