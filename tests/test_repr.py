"""What a notebook or a terminal shows of a value fits on a screen, however large the data."""

import re

import numpy as np
import pytest
from conftest import MODULES

import bayesjudge as bj
from bayesjudge.core.fit import Fit

LINES, WIDTH = 25, 100
each_module = pytest.mark.parametrize("one", MODULES, ids=lambda one: one.name)


def fits_on_a_screen(value):
    """Text of 25 lines on a terminal of 100 columns, which wraps; a page of as many rows."""
    for text in (repr(value), str(value)):
        lines = sum(1 + (len(line) - 1) // WIDTH for line in text.splitlines())
        assert lines <= LINES, text[:2000]
        assert " object at 0x" not in text
    page = getattr(value, "_repr_html_", str)()
    assert len(page) < 20_000, page[:2000]
    assert len(re.findall("<tr", page)) <= LINES, page[:2000]
    assert "object at 0x" not in page


def fake_fit(model, data, quantities):
    """A fit whose draws are made up: what it shows does not depend on the sampler."""
    import xarray as xr

    rng = np.random.default_rng(1)
    draws = {q: (("chain", "draw", "entry"), rng.random((2, 20, n))) for q, n in quantities.items()}
    tree = xr.DataTree.from_dict({"posterior": xr.Dataset(draws)})
    tree.attrs = {"random_seed": 1, "priors": str(model), "model": model.public_name()}
    return Fit(
        tree, data, model, tuple(quantities), method="NUTS", source="a paper",
        cautions=tuple(bj.Caution(f"caution-{i}", "so it is " * 40) for i in range(40)),
    )  # fmt: skip


@pytest.mark.slow
@each_module
def test_small_values_fit(one):
    for model, data in one.models():
        fits_on_a_screen(data)
        fits_on_a_screen(model)
        fits_on_a_screen(fake_fit(model, data, {"prevalence": 3}))
    for estimate in one.module.closed_forms(one.simulated(1)):
        fits_on_a_screen(estimate)


def many(prefix):
    return [f"{prefix} {i}" for i in range(300)]


def large_values():
    """Three hundred systems, judges, items, options: by name."""
    rng = np.random.default_rng(1)
    P, V, R = bj.prevalence, bj.panel, bj.ratings
    cells = [np.full(300, n) for n in (500, 300, 60, 50, 40, 30)]
    yield "counts", P.Counts(*cells, calibration="random", systems=many("system"))
    votes = rng.integers(0, 2, (3000, 300))
    generator = np.repeat(np.arange(300), 10)
    yield "votes", V.Votes(votes, -np.ones(3000), generator, many("generator"), many("judge"))
    classes = rng.integers(0, 50, (40, 40))
    names = many("class")[:40]
    yield "classes", P.classes.ClassCounts([9] * 40, 1 + classes, names, calibration="random")
    table = bj.repeats.simulate(items=300, judges=300, repeats=2, random_seed=1)
    yield "scores", bj.repeats.Scores.from_frame(table, scale=range(1, 6), judge="judge")
    table = bj.bias.simulate(
        perturbations=many("perturbation"), mean_shift=[0] * 300, item_spread=[1] * 300, items=20,
        judges=many("judge")[:20], random_seed=1,
    )  # fmt: skip
    read = {"scale": (0, 100), "design": "item", "rerun": "rerun", "judge": "judge"}
    yield "shifts", bj.bias.Shifts.from_frame(table, **read)
    judges = {"judges": many("judge")[:40], "similarity": [0.5] * 40, "judge_strength": [0.0] * 40}
    table = R.simulate(items=300, **judges, random_seed=1)
    read = {"positive": "yes", "judges": judges["judges"], "response_set": "response_set"}
    yield "ratings", R.Ratings.from_frame(table, **read)


@pytest.fixture(scope="module")
def large():
    return dict(large_values())


NAMES = ("counts", "votes", "classes", "scores", "shifts", "ratings")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.slow
def test_large_data_fit(name, large):
    assert set(NAMES) == set(large)
    fits_on_a_screen(large[name])


@pytest.mark.slow
def test_large_estimates_and_fits_fit(large):
    counts = large["counts"]
    for estimate in bj.prevalence.closed_forms(counts):
        assert len(estimate.table) >= 300
        fits_on_a_screen(estimate)
    fits_on_a_screen(fake_fit(bj.prevalence.ErrorRates(), counts, {"prevalence": 300, "x": 300}))


@pytest.mark.slow
def test_what_is_left_out_is_said(large):
    shown = repr(bj.prevalence.naive(large["counts"]))
    assert "system 0" in shown
    assert re.search(r"\d+ more", shown)
