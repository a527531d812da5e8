"""The PyMC graph of `ItemEffects`: shares of the population, spreads, integrated likelihood."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from bayesjudge.core.fit import Fit
from bayesjudge.prevalence import _pymc as part_1
from bayesjudge.prevalence.items._marginal import RATES, Answers, LogLikelihood, quadrature
from bayesjudge.prevalence.items.data import Items

#: Newton steps from a share of the population to its logit on an average item.
STEPS = 4
#: Rows by truth and verdict.
CELLS = (
    "bad, fail",
    "bad, pass",
    "good, fail",
    "good, pass",
    "unlabelled, fail",
    "unlabelled, pass",
)


def nodes_of(spec: Any) -> dict[str, int]:
    """Nodes of each effect."""
    n = spec.nodes
    return {"difficulty": n, "leniency": max(5, n // 2), "interaction": max(5, n // 3)}


class Systems(NamedTuple):
    """What the priors of part 1 ask of data."""

    systems: Sequence[str] | None
    dim: str = "system"


def integrated(items: Items, spec: Any, text: bool) -> pm.Model:
    """Build the model with the effects integrated out: of the text, or in the sampler's form."""
    several = len(items.systems) > 1
    dims = "system" if several else None
    effects, judge = spec._effects(items), items.repeats == "judge" and items.repeated
    tells = items.design.same_items
    answers = Answers.of(items)
    with pm.Model(coords={"system": items.systems} if several else {}) as model:
        # the same priors, and the same coordinates for the sampler, as of independent rows
        counts: Any = Systems(items.systems if several else None)
        made = part_1.separate_rates(counts, spec, text)
        rates = [pt.atleast_1d(made[name]) for name in RATES]
        at: dict[str, tuple[Any, Any]] = {}
        for name in ("difficulty", "leniency", "interaction"):
            if name not in effects:
                at[name] = (pt.zeros(1), pt.ones(1))
                continue
            points, weights = quadrature(nodes_of(spec)[name])
            scale = pm.Data(f"{name}_spread_prior", np.array(getattr(spec, f"{name}_spread")))
            spread = pm.HalfNormal(f"{name}_spread", scale)
            model.add_coord(f"{name}_node", np.arange(points.size))
            nodes = pm.Data(f"{name}_nodes", points, dims=f"{name}_node")
            weight = pm.Data(f"{name}_weights", weights, dims=f"{name}_node")
            at[name] = (spread * nodes, weight)
        none = (pt.zeros(1), pt.ones(1))
        truth = (at["difficulty"], none if judge else at["interaction"])
        verdict = (at["leniency"], at["interaction"] if judge else none)
        x = _logits(rates[0], truth)
        y1, y0 = _logits(rates[1], verdict), _logits(1 - rates[2], verdict)
        data = {
            "cells": answers.cells,
            "answer_system": answers.system,
            "answer_of": answers.answer_of,
        }
        coords = {
            "answer": np.arange(len(answers.system)),
            "pattern": np.arange(len(answers.count)),
            "cell": list(CELLS),
            "of_system": list(items.systems),
        }
        model.add_coords(coords)
        where = (("answer", "cell"), ("answer",), ("pattern", "of_system"))
        held = [
            pm.Data(name, np.asarray(v, np.int64), dims=dims)
            for (name, v), dims in zip(data.items(), where, strict=True)
        ]
        count = pm.Data("pattern_count", np.asarray(answers.count, float), dims="pattern")
        each = (truth[0][1], verdict[0][1], truth[1][1], verdict[1][1])
        value = LogLikelihood(tells, judge)(x, y1, y0, *each, *held, count)[0]
        pm.Potential("rows", value)
        if "icc" in spec._quantities(items):
            p = pt.sigmoid(x)
            square = _mean(p**2, truth)
            theta = rates[0]
            icc = (square - theta**2) / (theta * (1 - theta))
            pm.Deterministic("icc", icc if several else icc[0], dims=dims)
    return model


def _mean(values: Any, effects: Any) -> Any:
    """Mean over the nodes of two effects; values have shape (systems, first, second)."""
    (_, first), (_, second) = effects
    return (values * first[None, :, None] * second[None, None, :]).sum(axis=(1, 2))


def _logits(share: Any, effects: Any) -> Any:
    """Logits at the nodes, centred so that the mean over them is `share`: Newton's method.

    On the logit scale the mean over the nodes is all but linear in the centre.
    """
    (first, weight), (second, other) = effects
    shift = first[None, :, None] + second[None, None, :]
    variance = (weight * first**2).sum() + (other * second**2).sum()
    wanted = pt.log(share) - pt.log1p(-share)
    centre = wanted * pt.sqrt(1 + 0.346 * variance)  # logistic by normal: Zeger et al. (1988)
    for _ in range(STEPS):
        at = centre[:, None, None] + shift
        p, q = pt.sigmoid(at), pt.sigmoid(-at)
        good, bad = _mean(p, effects), _mean(q, effects)
        slope = _mean(p * q, effects) / (good * bad)
        centre = centre - (pt.log(good) - pt.log(bad) - wanted) / slope
    return centre[:, None, None] + shift


def change_with_nodes(fit: Fit) -> float:
    """Change of the log-likelihood with twice the nodes, at the draw with the largest effects."""
    from dataclasses import replace

    effects = fit.spec._effects(fit.data)  # type: ignore[attr-defined]
    spreads = np.column_stack([fit.draws(f"{name}_spread") for name in effects])
    # the spread of the draws themselves at a high quantile: not the one in four thousand
    size = (spreads / spreads.std(axis=0).clip(1e-12)).sum(axis=1)
    i = int(np.argsort(size)[int(0.975 * (size.size - 1))])
    point = {
        name: fit.draws(name)[i] for name in (*RATES, *(f"{effect}_spread" for effect in effects))
    }
    # the spec is the model's own class
    twice = replace(fit.spec, nodes=2 * fit.spec.nodes)  # type: ignore[call-arg, attr-defined]
    values = [log_likelihood(fit.data, spec, point) for spec in (fit.spec, twice)]
    return abs(values[0] - values[1])


def log_likelihood(items: Items, spec: Any, point: dict[str, Any]) -> float:
    """Log-likelihood of rates and spreads, compiled once for all."""
    from bayesjudge.prevalence.items._marginal import evaluate_numpy

    return evaluate_numpy(items, spec, point, nodes_of(spec))
