"""The model of rows that share items, as the text has it: summed out, and with every variable."""

import itertools

import numpy as np
import pytensor.tensor as pt
import pytest
from conftest import study_but
from contract import gaps_between, items_and_likelihood
from pytensor import function
from pytensor.graph.replace import vectorize_graph
from scipy.special import logsumexp
from scipy.stats import norm

from bayesjudge import BetaPrior
from bayesjudge.core.counting import draw_patterns
from bayesjudge.core.predictive import draw_together
from bayesjudge.prevalence import items as S
from bayesjudge.prevalence.items._marginal import Answers, by_pattern
from bayesjudge.prevalence.items._pymc import (
    _shares,
    _verdicts,
    draw_rows,
    grouped,
    nodes_of,
    one_row_a_verdict,
)
from bayesjudge.truth.effects import quadrature

#: Truth and verdict (2: no label) of each row, by system, of two items.
ROWS = {
    "outputs": ([[(1, 1), (2, 0)], [(0, 1)]], [[(2, 1)], [(2, 0)]]),
    "verdicts": ([[(1, 1), (1, 0)], [(2, 1)]], [[(2, 1)], [(0, 0)]]),
    "single rows": ([[(1, 1)], [(2, 0)]], [[(2, 1)], [(0, 1)]]),
    "one system": ([[(2, 1), (2, 0)]], [[(1, 1), (0, 1)]]),
}
HOW = {
    "outputs, random": ("outputs", "random", "system"),
    "outputs, by_truth": ("outputs", "by_truth", "system"),
    "verdicts, random": ("verdicts", "random", "judge"),
    "verdicts, separate": ("verdicts", "separate", "judge"),
    "single rows, by_verdict": ("single rows", "by_verdict", None),
    "one system, random": ("one system", "random", "system"),
}
SMALL = S.ItemEffects(nodes=5, difficulty_spread=1.5)


def read(rows, calibration, repeats, times=1):
    cells = np.zeros((len(rows), len(rows[0]), 3, 2), int)
    for i, by_system in enumerate(rows):
        for s, seen in enumerate(by_system):
            for truth, verdict in seen:
                cells[i, s, truth, verdict] += 1
    names = ("x", "y")[: cells.shape[1]]
    return S.Items(cells, np.full(len(rows), times), names, calibration, repeats=repeats)


def small(name):
    rows, calibration, repeats = HOW[name]
    return read(ROWS[rows], calibration, repeats)


@pytest.mark.slow
@pytest.mark.parametrize("name", study_but(HOW, "outputs, by_truth", "verdicts, random"))
def test_the_sampler_runs_the_same_density(name):
    gaps, off = gaps_between(
        S.build_model(small(name), SMALL), SMALL._sampling_form(small(name)), points=3
    )
    assert np.ptp(gaps) < 1e-5
    assert off < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("name", study_but(HOW, "verdicts, random", "one system, random"))
def test_items_add_up_to_the_likelihood(name):
    """Of patterns and items by two codes: PyTensor, and NumPy with bisection."""
    made = S.build_model(small(name), SMALL)
    whole, summed, items = items_and_likelihood(made, SMALL, small(name))
    np.testing.assert_allclose(whole, summed, atol=1e-7)
    assert items == Answers.of(small(name)).count.sum()


#: One item or two, so that every variable can be summed or integrated out.
ALONE = {
    "outputs": ([[[(1, 1), (2, 0)], [(0, 1), (2, 1)]]], "random", "system"),
    "labelled outputs are other items": ([[[(1, 1), (0, 1), (2, 0)]]], "by_truth", "system"),
    "verdicts": ([[[(2, 1), (2, 0)]], [[(1, 1), (1, 0)]]], "random", "judge"),
    "labelled verdicts": ([[[(0, 1), (0, 0)], [(1, 1), (1, 1)]]], "random", "judge"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", study_but(ALONE, "outputs", "labelled verdicts"))
def test_integrating_every_variable_out_gives_the_collapsed_model(name):
    """Sums over the truths and over the nodes of each effect."""
    rows, calibration, repeats = ALONE[name]
    data = read(rows, calibration, repeats)
    collapsed, full = (S.build_model(data, SMALL, collapsed=c) for c in (True, False))
    points, weights = quadrature(SMALL.nodes)
    assert set(nodes_of(SMALL).values()) == {SMALL.nodes}
    rng, start = np.random.default_rng(2), collapsed.initial_point()
    shared = {k: v + rng.normal(0, 0.5, np.shape(v)) for k, v in start.items()}
    shapes = {k: np.shape(v) for k, v in full.initial_point().items() if k not in shared}
    ways = [
        itertools.product(range(2 if name == "truth" else SMALL.nodes), repeat=int(np.prod(shape)))
        for name, shape in shapes.items()
    ]
    parts = [np.array(part) for part in zip(*itertools.product(*ways), strict=True)]
    at, weight = {}, 0.0
    for (name, shape), index in zip(shapes.items(), parts, strict=True):
        at[name] = index.reshape(-1, *shape)
        if name != "truth":
            spread = np.exp(shared[f"{name}_spread_log__"])
            at[name] = spread * points[at[name]]
            normal = norm.logpdf(spread * points[index], scale=spread)
            weight = weight + (np.log(weights[index]) - normal).sum(axis=1)
    logs = many(full, at)(shared) + weight
    assert logs.size >= 50
    expected = collapsed.compile_logp(jacobian=False, mode="FAST_COMPILE")(shared)
    assert logsumexp(logs) == pytest.approx(float(expected), abs=1e-9)


def many(model, at):
    """Log-density of a model at many values of some of its variables, as a function of the rest."""
    values = {str(v.name): v for v in model.value_vars}
    batch = {values[k]: pt.constant(v.astype(values[k].dtype)) for k, v in at.items()}
    density = vectorize_graph(model.logp(jacobian=False), batch)
    rest = [v for k, v in values.items() if k not in at]
    run = function(rest, density, mode="FAST_COMPILE", on_unused_input="ignore")
    return lambda point: run(*(point[str(v.name)] for v in rest))


#: Rates all but known, so that how rows of an item go together is not lost in how draws differ.
KNOWN = S.ItemEffects(
    *(BetaPrior.worth(rate, 3000) for rate in (0.6, 0.8, 0.7)),
    difficulty_spread=2.5,
    leniency_spread=1.5,
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", study_but(["outputs, by_truth", "outputs, random", "verdicts, random"])
)
def test_rows_are_drawn_as_the_model_draws_them(name):
    """Means and products, by item, of truths and verdicts: all rows at once, and by PyMC.

    Of 14 differences, or 5 of one system, none is beyond what one run in a thousand has.
    """
    rows, calibration, repeats = HOW[name]
    data, n = read(ROWS[rows], calibration, repeats, times=20), 600
    text, at = one_row_a_verdict(data, KNOWN), _verdicts(data)
    names = [part for part in ("truth", "label", "verdict") if part in text.named_vars]
    by_numpy = draw_rows(data, KNOWN, text, n, np.random.default_rng(1))
    by_pymc = draw_together(text, names, n, np.random.default_rng(2))

    def products(values):
        truth = np.repeat(at.of_output[None], n, axis=0)
        truth[:, at.of_output < 0] = values["truth"]
        if "label" in values:
            truth[:, at.of_output >= 0] = values["label"]
        sums = []
        for given, row in ((truth, at.first), (values["verdict"], slice(None))):
            for s in range(len(data.systems)):
                mine = at.system[row] == s
                one = np.zeros((len(at.names), mine.sum()))
                one[at.item[row][mine], np.arange(mine.sum())] = 1
                sums.append(given[:, mine] @ one.T)
        pairs = itertools.combinations_with_replacement(range(len(sums)), 2)
        found = [each.mean(axis=1) for each in sums]
        return np.array(found + [(sums[i] * sums[j]).mean(axis=1) for i, j in pairs])

    one, other = products(by_numpy), products(by_pymc)
    error = np.sqrt((one.var(axis=1) + other.var(axis=1)) / n)
    gap = (one.mean(axis=1) - other.mean(axis=1))[error > 0] / error[error > 0]
    assert gap.size >= 5
    assert abs(gap).max() < norm.isf(0.0005 / gap.size)


DESIGNS = {
    "outputs": ("random", "system", [[[(2, 1), (1, 0)], [(0, 1)]]]),
    "labelled outputs are other items": ("by_truth", "system", [[[(1, 1), (0, 1), (2, 0)]]]),
    "verdicts": ("random", "judge", [[[(2, 1), (2, 0)]], [[(1, 1), (1, 0)]]]),
    "labels by verdict": ("by_verdict", None, [[[(2, 1)], [(0, 1)]], [[(0, 1)], [(0, 1)]]]),
}


@pytest.mark.fast_named("labels by verdict")
@pytest.mark.parametrize("name", DESIGNS)
def test_chances_of_all_rows_that_a_group_can_have_sum_to_1(name):
    """So that replicates have the chances that the density states, in whatever order rows come."""
    calibration, repeats, rows = DESIGNS[name]
    every = [way for item in rows for way in everything(item, calibration, repeats)]
    data = read(every, calibration, repeats)
    answers = Answers.of(data)
    group, orders, count = grouped(data, answers)
    n, systems = answers.count.size, len(data.systems)
    rates = {"prevalence": 0.7, "sensitivity": 0.8, "specificity": 0.75}
    draws = {name: np.full((1, systems), rate) for name, rate in rates.items()}
    draws |= {f"{name}_spread": np.ones(1) for name in SMALL._effects(data)}
    density = np.zeros(group.size)
    density[:n] = by_pattern(data, SMALL, draws, nodes_of(SMALL))[0]
    chances = np.bincount(group[:n], np.exp(density[:n]) * orders[:n])
    np.testing.assert_allclose(chances, 1, atol=1e-9)
    rng = np.random.default_rng(1)
    drawn = draw_patterns(density, group, orders, count, rng)
    np.testing.assert_array_equal(np.bincount(group, drawn), np.bincount(group, count))
    assert not drawn[n:].any()


@pytest.mark.slow
def test_labels_chosen_by_the_verdicts_come_with_the_share_of_items_that_got_them():
    """Of four items with a pass and a fail, three had the fail labelled and one nothing."""
    verdicts = np.array([[[1, 1]], [[1, 1]], [[0, 2]]])
    labelled = np.array([[[1, 0]], [[0, 0]], [[0, 1]]])
    found = _shares(verdicts, labelled, np.array([3, 1, 2]))
    np.testing.assert_allclose(found, [0.75, 0.25, 1])


def everything(rows, calibration, repeats):
    """All items with as many rows as these, labelled as these are."""
    by_system = []
    for seen in rows:
        ways = []
        for truth, _ in seen:
            truths = (2,) if truth == 2 else (truth,) if calibration == "by_truth" else (0, 1)
            ways.append(list(itertools.product(truths, (0, 1))))
        every = {tuple(sorted(way)) for way in itertools.product(*ways)}
        if repeats == "judge":
            every = {way for way in every if len({t for t, _ in way}) == 1}
        by_system.append(sorted(every))
    return [list(way) for way in itertools.product(*by_system)]
