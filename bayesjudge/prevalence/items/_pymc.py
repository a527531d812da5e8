"""The PyMC graph of `ItemEffects`: shares of the population, spreads, integrated likelihood."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy.special import expit, gammaln

from bayesjudge.core.counting import distinct
from bayesjudge.core.distributions import half_normal
from bayesjudge.core.fit import Fit
from bayesjudge.core.predictive import draw_together, observed_values
from bayesjudge.core.prior_check import Key, count_in_draws
from bayesjudge.prevalence import _pymc as part_1
from bayesjudge.prevalence.items._marginal import (
    RATES,
    Answers,
    Rows,
    by_pattern,
    judge_repeats,
    log_chances,
)
from bayesjudge.prevalence.items.data import UNLABELLED, Items
from bayesjudge.truth.effects import Centre, centre, quadrature
from bayesjudge.truth.likelihood import observe_counts

if TYPE_CHECKING:
    import pandas as pd

#: Verdicts that are drawn at once.
MOST_NUMBERS = 5_000_000
#: Newton steps from a share of the population to its logit on an average item.
STEPS = 4
EFFECTS = ("difficulty", "leniency", "interaction")
#: Spread, points and weights of an effect that is not there.
NO_EFFECT = (0.0, np.zeros(1), np.ones(1))
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
    return {"difficulty": n, "leniency": n, "interaction": max(5, n // 3)}


def integrated(items: Items, spec: Any, text: bool) -> pm.Model:
    """Build the model with the effects integrated out: of the text, or in the sampler's form."""
    several = len(items.systems) > 1
    answers = Answers.of(items)
    with pm.Model(coords={"system": items.systems} if several else {}) as model:
        rates = _rates(items, spec, text)
        effects = {
            name: _effect(name, spec, text) if name in spec._effects(items) else NO_EFFECT
            for name in EFFECTS
        }
        truth, verdict = _pairs(items, {name: _nodes(*spread) for name, spread in effects.items()})
        centred = _centre if text else _solved_centre
        x = _logits(rates[0], truth, centred)
        y1, y0 = (_logits(share, verdict, centred) for share in (rates[1], 1 - rates[2]))
        nodes = _Nodes(x, y1, y0, *truth, *verdict)
        (_observe_patterns if text else _add_likelihood)(items, answers, nodes)
        if "icc" in spec._quantities(items):
            p = pt.sigmoid(x)
            square = _mean(p**2, truth)
            theta = rates[0]
            icc = (square - theta**2) / (theta * (1 - theta))
            pm.Deterministic("icc", icc if several else icc[0], dims="system" if several else None)
    return model


def one_row_a_verdict(items: Items, spec: Any) -> pm.Model:
    """Build the model with each effect, each unknown truth and each verdict as a variable."""
    several = len(items.systems) > 1
    item, i, s, v, output, first, of_output = _verdicts(items)
    sizes = {"output": of_output < 0, "labelled_output": of_output >= 0}
    coords: dict[str, Any] = {"system": items.systems} if several else {}
    coords |= {"item": item, "verdict_row": np.arange(i.size)}
    coords |= {dim: np.flatnonzero(mine) for dim, mine in sizes.items()}
    with pm.Model(coords=coords) as model:
        rates = _rates(items, spec, text=True)
        at, effect = dict.fromkeys(EFFECTS, _nodes(*NO_EFFECT)), dict.fromkeys(EFFECTS, 0.0)
        for name in spec._effects(items):
            at[name] = _nodes(*_effect(name, spec, text=True))
            by_system = name == "interaction"
            drawn = pm.Normal(
                name, 0, model[f"{name}_spread"], dims=("item", "system") if by_system else "item"
            )
            effect[name] = drawn[i, s] if by_system else drawn[i]
        on_truth, on_verdict = _pairs(items, effect)
        truth, verdict = _pairs(items, at)
        good = pt.sigmoid(_centre(rates[0], truth)[s] + sum(on_truth))[first]
        z = pt.as_tensor(of_output)
        for name, (dim, mine) in zip(("truth", "label"), sizes.items(), strict=True):
            if mine.any() and (name == "truth" or items.design.same_items):
                seen = of_output[mine] if name == "label" else None
                variable = pm.Bernoulli(name, good[mine], observed=seen, dims=dim)
                z = pt.set_subtensor(z[np.flatnonzero(mine)], variable)
        hit, wrong = (_centre(share, verdict)[s] for share in (rates[1], 1 - rates[2]))
        passes = pt.sigmoid(pt.where(pt.eq(z[output], 1), hit, wrong) + sum(on_verdict))
        pm.Bernoulli("verdict", passes, observed=v, dims="verdict_row")
    return model


def table_beside_prior(items: Items, spec: Any, rng: np.random.Generator) -> pd.DataFrame:
    """Shares of verdicts and labels, and how often verdicts on an item agree, beside the prior's.

    Of labels that were chosen by the verdicts the shares of the labelled rows say nothing of the
    rates: as many rows of each verdict as have a label are drawn, and their truths compared.
    """
    rows, model = _verdicts(items), one_row_a_verdict(items, spec)
    tells = "error_rates" in items.design.identifies
    many = max(MOST_NUMBERS // rows.verdict.size, 1)

    def statistics(values: Mapping[str, np.ndarray]) -> dict[Key, np.ndarray]:
        verdict = values["verdict"]
        truth = np.repeat(rows.of_output[None], len(verdict), axis=0)
        for name, mine in (("truth", rows.of_output < 0), ("label", rows.of_output >= 0)):
            if name in values:
                truth[:, mine] = values[name]
        known, good = rows.of_output[rows.output] >= 0, truth[:, rows.output] == 1
        numbers: dict[Key, np.ndarray] = {}
        for k, system in enumerate(items.systems):
            mine = rows.system == k
            of = "system", system
            if tells:
                judged = good[:, mine & known], verdict[:, mine & known] == 1
                numbers["pass_rate", *of] = verdict[:, mine & ~known].mean(axis=1)
                numbers["sensitivity", *of] = _share(judged[1], judged[0])
                numbers["specificity", *of] = _share(~judged[1], ~judged[0])
                if items.design.same_items:
                    numbers["prevalence", *of] = judged[0].mean(axis=1)
                continue
            numbers["pass_rate", *of] = verdict[:, mine].mean(axis=1)
            for name, v in (("ppv", 1), ("npv", 0)):
                there = mine & known if len(verdict) == 1 else mine
                asked, right = verdict[:, there] == v, good[:, there] == v
                n = int((rows.verdict[mine & known] == v).sum())
                of_these = (asked & right).sum(axis=1), (asked & ~right).sum(axis=1)
                n_drawn: np.ndarray = np.minimum(n, asked.sum(axis=1))
                numbers[name, *of] = rng.hypergeometric(*of_these, n_drawn) / np.maximum(n_drawn, 1)
        order = np.argsort(rows.item, kind="stable")
        starts = np.searchsorted(rows.item[order], np.arange(len(rows.names)))
        passes = np.add.reduceat(verdict[:, order], starts, axis=1)
        size = np.bincount(rows.item)
        pairs = (size * (size - 1)).sum()
        if pairs:
            fails = size - passes
            agreed = passes * (passes - 1) + fails * (fails - 1)
            numbers["agreement", "", ""] = agreed.sum(axis=1) / pairs
        return numbers

    def draw(n: int) -> dict[Key, np.ndarray]:
        sizes = np.diff([*range(0, n, many), n])
        parts = [statistics(draw_rows(items, spec, model, size, rng)) for size in sizes.tolist()]
        return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}

    seen = {name: value[None] for name, value in observed_values(model).items()}
    with np.errstate(invalid="ignore", divide="ignore"):
        there = {key: float(v[0]) for key, v in statistics(seen).items() if np.isfinite(v[0])}
        return count_in_draws(there, draw)


def draw_rows(
    items: Items, spec: Any, model: pm.Model, draws: int, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Draw truths, labels and verdicts of `one_row_a_verdict` from the prior.

    PyMC draws rates and spreads. All rows of all draws follow at once: PyMC would go through the
    graph draw by draw.
    """
    effects, rows = spec._effects(items), _verdicts(items)
    names = [*RATES, *(f"{name}_spread" for name in effects)]
    free = draw_together(model, names, draws, rng)
    size = draws, rows.names.size, len(items.systems)
    spread = {name: np.zeros(draws) for name in EFFECTS}
    drawn = {name: np.zeros(size) for name in EFFECTS}
    for name in effects:
        spread[name] = free[f"{name}_spread"]
        each = size if name == "interaction" else (*size[:2], 1)
        drawn[name] = drawn[name] + spread[name][:, None, None] * rng.standard_normal(each)
    at_each_item = "leniency" if judge_repeats(items) else "difficulty"
    points, weights = quadrature(spec.nodes)

    def logits(name: str, share: np.ndarray) -> np.ndarray:
        sd, effect = spread[name], drawn[name]
        if name == at_each_item:
            sd, effect = np.hypot(sd, spread["interaction"]), effect + drawn["interaction"]
        shift = (sd[:, None] * points)[:, None, :, None]
        middle = centre(share.reshape(draws, -1), shift, weights[:, None])
        return (middle[:, None] + effect)[:, rows.item, rows.system]

    good = expit(logits("difficulty", free["prevalence"])[:, rows.first])
    truths = rng.random(good.shape) < good
    known = rows.of_output >= 0
    z = truths if items.design.same_items else np.where(known, rows.of_output == 1, truths)
    hit, wrong = (logits("leniency", p) for p in (free["sensitivity"], 1 - free["specificity"]))
    passes = expit(np.where(z[:, rows.output], hit, wrong))
    verdict = (rng.random(passes.shape) < passes).astype(int)
    return {"truth": z[:, ~known], "label": z[:, known], "verdict": verdict}


def _share(of: np.ndarray, among: np.ndarray) -> np.ndarray:
    return (of & among).sum(axis=1) / among.sum(axis=1)


class _Verdicts(NamedTuple):
    """Rows of all items: item, system, verdict and output of each, and what outputs there are."""

    names: np.ndarray  #: of the items
    item: np.ndarray
    system: np.ndarray
    verdict: np.ndarray
    output: np.ndarray
    first: np.ndarray  #: the first row of each output
    of_output: np.ndarray  #: its truth, -1 without a label


def _verdicts(items: Items) -> _Verdicts:
    cells = np.repeat(items.cells, items.count, axis=0)
    where = np.nonzero(cells)
    i, s, t, v = np.repeat(np.array(where), cells[where], axis=1)
    if not items.design.same_items:  # labels of other items: effects of their own
        i = 2 * i + (t != UNLABELLED)
    names, i = np.unique(i, return_inverse=True)
    output = np.arange(i.size)
    if judge_repeats(items):
        output = np.unique([i, s], axis=1, return_inverse=True)[1].ravel()
    first = np.unique(output, return_index=True)[1]
    return _Verdicts(names, i, s, v, output, first, np.where(t[first] == UNLABELLED, -1, t[first]))


def _rates(items: Items, spec: Any, text: bool) -> list[Any]:
    """The same priors, and the same coordinates for the sampler, as of independent rows."""
    dim = "system" if len(items.systems) > 1 else None
    rates = part_1.separate_rates(spec, dim, text)
    return [pt.atleast_1d(rates[name]) for name in RATES]


def _effect(name: str, spec: Any, text: bool) -> tuple[Any, Any, Any]:
    """Unknown standard deviation of an effect, and points and weights of a standard normal one."""
    points, weights = quadrature(nodes_of(spec)[name])
    scale = pm.Data(f"{name}_spread_prior", np.array(float(getattr(spec, f"{name}_spread"))))
    spread = half_normal(f"{name}_spread", scale, text=text)
    if not text:  # nodes need not mirror each other: the sign must not say even the little it would
        spread = pt.abs(spread)
    pm.modelcontext(None).add_coord(f"{name}_node", np.arange(points.size))
    nodes = pm.Data(f"{name}_nodes", points, dims=f"{name}_node")
    weight = pm.Data(f"{name}_weights", weights, dims=f"{name}_node")
    return spread, nodes, weight


def _nodes(spread: Any, points: Any, weight: Any) -> tuple[Any, Any]:
    """Effects at their nodes, and weights."""
    return spread * points, weight


def _pairs(items: Items, effects: Mapping[str, Any]) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Effects on the truth, and on the verdict; the interaction is on what repeats."""
    none = _nodes(*NO_EFFECT) if isinstance(effects["interaction"], tuple) else 0.0
    interaction, judge = effects["interaction"], judge_repeats(items)
    truth = (effects["difficulty"], none if judge else interaction)
    return truth, (effects["leniency"], interaction if judge else none)


class _Nodes(NamedTuple):
    """Logits of a good output (system, a, c), of a pass on a good and on a bad one (system, b, d),
    and points and weights of the effects a, c, b and d.
    """

    good: Any
    hit: Any
    wrong: Any
    a: Any
    c: Any
    b: Any
    d: Any


def _held(items: Items, answers: Answers) -> list[Any]:
    """Answers as data of the model."""
    rows: dict[str, tuple[Any, tuple[str, ...]]] = {
        "cells": (answers.cells, ("answer", "cell")),
        "answer_system": (answers.system, ("answer",)),
        "answer_of": (answers.answer_of, ("seen_pattern", "of_system")),
    }
    coords: dict[str, Any] = {"cell": list(CELLS), "of_system": list(items.systems)}
    coords |= {"answer": np.arange(len(answers.system))}
    coords |= {"seen_pattern": np.arange(len(answers.count))}
    pm.modelcontext(None).add_coords(coords)
    return [pm.Data(n, np.asarray(v, np.int64), dims=dims) for n, (v, dims) in rows.items()]


def _add_likelihood(items: Items, answers: Answers, nodes: _Nodes) -> None:
    """The likelihood with its gradient, for the sampler."""
    held = _held(items, answers)
    count = pm.Data("pattern_count", np.asarray(answers.count, float), dims="seen_pattern")
    judge = judge_repeats(items)
    if judge:
        logits, interaction = (nodes.good[:, :, 0], nodes.hit, nodes.wrong), nodes.d
    else:
        logits, interaction = (
            (nodes.good.transpose(0, 2, 1), nodes.hit[:, :, 0], nodes.wrong[:, :, 0]),
            nodes.c,
        )
    weights = (effect[1] for effect in (nodes.a, nodes.b, interaction))
    densities = Rows(items.design.same_items, judge)(*logits, *weights, *held, count)
    pm.Potential("rows", densities[0])


def _observe_patterns(items: Items, answers: Answers, nodes: _Nodes) -> None:
    """How many items have the rows of each pattern, and how many have any others."""
    logits = nodes.good, nodes.hit, nodes.wrong
    weights = nodes.a[1], nodes.b[1], (nodes.d if judge_repeats(items) else nodes.c)[1]
    cells, system, answer_of = _held(items, answers)
    log_p = log_chances(items, cells, system, answer_of, logits, weights, pt)
    log_p = pt.specify_shape(log_p, len(answers.count))  # PyMC would seek it through all of them
    observe_counts("items", log_p, *grouped(items, answers))


def grouped(items: Items, answers: Answers) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Group of each pattern, in how many orders its rows can come, and its items.

    Items that could have had each other's rows are a group, with one more pattern of no items that
    stands for all rows that none of them has. Labels that were chosen by the verdicts come with the
    share of the items of these verdicts that were labelled as the pattern's are.
    """
    cells = np.concatenate([answers.cells, np.zeros((1, len(CELLS)), int)])[answers.answer_of]
    by_truth = cells.reshape(*cells.shape[:2], 3, 2)
    rows, chosen = by_truth.sum(axis=3), np.ones(len(cells))
    log_orders = -gammaln(by_truth + 1).sum(axis=(2, 3))
    if "error_rates" not in items.design.identifies:
        verdicts, labelled = by_truth.sum(axis=2), by_truth[:, :, :2].sum(axis=2)
        for n, sign in ((verdicts, -1), (labelled, 1), (by_truth[:, :, 2], 1)):
            log_orders = log_orders + sign * gammaln(n + 1).sum(axis=2)
        rows = rows.sum(axis=2, keepdims=True)
        log_orders = log_orders + gammaln(rows + 1).sum(axis=2)
        chosen = _shares(verdicts, labelled, answers.count)
    else:
        if items.design.same_items:  # how many of the labelled ones are good is not given
            rows = np.stack([rows[:, :, :2].sum(axis=2), rows[:, :, 2]], axis=2)
        log_orders = log_orders + gammaln(rows + 1).sum(axis=2)
    key = rows.reshape(len(rows), -1)
    group = distinct(key)[1]
    n = int(group.max()) + 1
    orders = np.exp(log_orders.sum(axis=1)) * chosen
    return (
        np.concatenate([group, np.arange(n)]),
        np.concatenate([orders, np.zeros(n)]),
        np.concatenate([answers.count, np.zeros(n)]).astype(float),
    )


def _shares(verdicts: np.ndarray, labelled: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Of the items with the same verdicts, the share whose labels are on as many of them."""
    seen = verdicts.reshape(len(verdicts), -1)
    of_verdicts = distinct(seen)[1]
    of_labels = distinct(np.column_stack([seen, labelled.reshape(len(seen), -1)]))[1]
    mine, all_of_them = np.bincount(of_labels, count), np.bincount(of_verdicts, count)
    return mine[of_labels] / all_of_them[of_verdicts]


def _mean(values: Any, effects: Any) -> Any:
    """Mean over the nodes of two effects; values have shape (systems, first, second)."""
    (_, first), (_, second) = effects
    return (values * first[None, :, None] * second[None, None, :]).sum(axis=(1, 2))


def _logits(share: Any, effects: Any, centred: Callable[[Any, Any], Any]) -> Any:
    """Logits at the nodes, centred so that the mean over them is `share`."""
    (first, _), (second, _) = effects
    return centred(share, effects)[:, None, None] + first[None, :, None] + second[None, None, :]


def _solved_centre(share: Any, effects: Any) -> Any:
    """The same as `_centre`, for the sampler: solved to the last digit, its gradient at once."""
    (first, weight), (second, other) = (tuple(map(pt.as_tensor, pair)) for pair in effects)
    nodes = (first[:, None] + second[None, :]).ravel()
    return Centre()(share, nodes, (weight[:, None] * other[None, :]).ravel())[0]


def _centre(share: Any, effects: Any) -> Any:
    """Logits of an average item, by Newton's method.

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
    return centre


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
    """Log-likelihood of rates and spreads."""
    draw = {name: np.asarray(value, float)[None] for name, value in point.items()}
    return float(Answers.of(items).count @ by_pattern(items, spec, draw, nodes_of(spec))[0])
