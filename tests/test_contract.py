"""Every room has the same furniture, and it fits together."""

import dataclasses
import html
import inspect
import pkgutil
import re

import numpy as np
import pytest
from conftest import ROOMS, simulated

import bayesjudge as bj

each_room = pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.__name__.split(".")[-1])
NOT_ROOMS = {"core", "cli", "readers", "datasets", "lab"}


def test_no_room_is_left_out():
    on_disk = {m.name for m in pkgutil.iter_modules(bj.__path__) if m.ispkg} - NOT_ROOMS
    assert on_disk == {room.__name__.split(".")[-1] for room in ROOMS}
    assert on_disk <= set(bj.__all__)


@each_room
def test_furniture(room):
    assert {"Priors", "build_model", "fit", "simulate"} <= set(room.__all__)
    assert dataclasses.is_dataclass(room.Priors)
    assert room.Priors.__dataclass_params__.frozen
    assert room.__doc__.splitlines()[0].endswith("?")
    parameters = list(inspect.signature(room.fit).parameters)
    assert parameters[1] == "priors"
    assert parameters[-2:] == ["random_seed", "sampling"]
    assert list(inspect.signature(room.build_model).parameters) == parameters[:-2]
    assert inspect.signature(room.simulate).parameters["random_seed"].default is None


@each_room
def test_simulate_is_reproducible(room):
    one, same, other = (room.simulate(random_seed=seed) for seed in (7, 7, 8))
    assert one.equals(same)
    assert not one.equals(other)
    rng = np.random.default_rng(7)
    assert room.simulate(random_seed=rng).equals(one)
    assert not room.simulate(random_seed=rng).equals(one)


@each_room
def test_build_model_does_not_sample(room):
    model = room.build_model(simulated(room, 1))
    assert all(np.isfinite(v) for v in model.point_logps(model.initial_point()).values())


@each_room
def test_fit_converged(room, fit_of):
    fit = fit_of(room)
    assert fit.converged, fit.cautions
    assert set(fit.diagnostics().index) == set(fit.estimate().table.index)


@each_room
def test_same_seed_same_draws(room, fit_of):
    fit = fit_of(room)
    again = room.fit(fit.data, fit.priors, random_seed=1)
    assert again.idata["posterior"].equals(fit.idata["posterior"])


@each_room
def test_closed_form_answers_what_the_fit_answers(room, fit_of):
    fit = fit_of(room)
    closed_form = ROOMS[room].closed_form(fit.data)
    assert set(closed_form.table.index) == set(fit.estimate().table.index)
    table = bj.side_by_side(closed_form, fit)
    assert (table["low"] <= table["value"]).all()
    assert (table["value"] <= table["high"]).all()
    overlap = table.groupby("quantity")["low"].max() <= table.groupby("quantity")["high"].min()
    assert overlap.all(), table


@each_room
def test_closed_form_covers_what_was_simulated(room):
    runs = 300
    claimed = ROOMS[room].coverage
    tables = [ROOMS[room].closed_form(simulated(room, seed)).table for seed in range(runs)]
    noise = 5 * np.sqrt(claimed * (1 - claimed) / runs)  # the simulation's own error
    for quantity, value in ROOMS[room].truth.items():
        covered = np.mean([t.low[quantity] <= value <= t.high[quantity] for t in tables])
        assert covered > claimed - noise, quantity


@each_room
@pytest.mark.parametrize("interval", ["eti", "hdi"])
@pytest.mark.parametrize("ci_prob", [0.5, 0.95])
def test_interval_holds_the_probability_asked_for(room, ci_prob, interval, fit_of):
    fit = fit_of(room)
    table = fit.estimate(ci_prob=ci_prob, interval=interval).table
    draws = fit.draws(fit.quantities[0]).reshape(-1, *fit.draws(fit.quantities[0]).shape[1:])
    first = draws.reshape(draws.shape[0], -1)[:, 0]
    low, high = table.iloc[0][["low", "high"]]
    assert np.mean((low <= first) & (first <= high)) == pytest.approx(ci_prob, abs=2e-3)


@each_room
def test_report_says_what_a_reader_must_know(room, fit_of):
    fit = fit_of(room)
    text = bj.report(ROOMS[room].closed_form(fit.data), fit)
    text = re.sub(r"\\([^\w\s]|_)", r"\1", html.unescape(text))  # as Markdown shows it
    for words in (fit.method, fit.source, "95% intervals", "seed 1", str(fit.priors)):
        assert words in text
    for assumption in fit.assumptions:
        assert assumption in text


@each_room
def test_a_loaded_fit_is_the_fit_that_was_saved(room, fit_of, tmp_path):
    fit = fit_of(room)
    loaded = bj.load(fit.save(tmp_path / "fit.nc"))
    closed_form = ROOMS[room].closed_form
    for output in ("markdown", "html"):
        texts = [bj.report(closed_form(f.data), f, output=output) for f in (fit, loaded)]
        assert texts[0] == texts[1]
    for group in ("posterior", "sample_stats", "observed_data", "constant_data"):
        assert loaded.idata[group].identical(fit.idata[group]), group
    assert loaded.model.point_logps() == fit.model.point_logps()


@each_room
def test_idata_has_the_groups_that_arviz_expects(room, fit_of):
    fit = fit_of(room).extended(random_seed=1)
    expected = {"posterior", "sample_stats", "observed_data", "constant_data", "prior"}
    assert expected <= set(fit.idata.children)
    assert {"random_seed", "priors", "data_sha256", "pymc_version"} <= set(fit.idata.attrs)
