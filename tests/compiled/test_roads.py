"""Draws are the same whichever road leads to them: each part of the fast one is switched off."""

from collections import OrderedDict
from functools import cache

import numpy as np
import pytest
from arviz_stats import mcse
from conftest import study_but

import bayesjudge as bj
from bayesjudge.compiled import (
    compiler,
    fast,
    native,
    nutpie_draws,
    roads,
    runnable,
    settings,
)

BY_NUTPIE = roads._by_nutpie  # before the tests' own settings replace it
pytestmark = pytest.mark.sampling


@cache
def fitted(name):
    """A small model's fit, by the fast road."""
    return fit(name)


def fit(name):
    if name == "prevalence":
        counts = bj.prevalence.Counts(200, 130, 40, 34, 30, 22, calibration="by_truth")
        return bj.prevalence.fit(counts, random_seed=1)
    table = bj.panel.simulate(items=60, labelled=30, random_seed=1)
    votes = bj.panel.Votes.from_frame(table, calibration="random")
    return bj.panel.fit(votes, bj.panel.DawidSkene(), random_seed=1)


@cache
def compiled_by_nutpie(name):
    """Once a model: what is tested is when it is asked for, and what it draws."""
    from nutpie.compile_pymc import compile_pymc_model

    return compile_pymc_model(fitted(name).spec._sampling_form(fitted(name).data))


@pytest.fixture
def plain(monkeypatch):
    """Lets nutpie compile, and counts how often it is asked."""
    import nutpie  # whole, as in a process without the fast road
    import nutpie.compile_pymc

    assert nutpie.compile_pymc_model
    asked = []

    def use(name):
        compiled_by_nutpie(name)
        monkeypatch.setattr(
            "nutpie.compile_pymc.compile_pymc_model",
            lambda model: asked.append(model) or compiled_by_nutpie(name),
        )
        monkeypatch.setattr(roads, "_by_nutpie", BY_NUTPIE)
        monkeypatch.setattr(settings, "_shown", set())
        return asked

    return use


def compiled_anew(monkeypatch):
    monkeypatch.setattr(fast, "_kept", OrderedDict())
    monkeypatch.setattr(fast, "_read", lambda key: None)
    monkeypatch.setattr(native, "write", lambda *_: None)


#: What is switched off, and whether it is needed only where nothing is kept yet.
PARTS = {
    "structure": (fast, "structure", False),
    "machine": (native, "machine", False),
    "reading": (fast, "_read", False),
    "starts": (fast, "_start_of", False),
    "data": (fast, "_data_of", False),
    "callbacks": (compiler, "translate_callback", True),
    "machine code": (compiler, "make_code", True),
    "names": (fast, "_shapes_of", False),
    "model": (runnable.Runnable, "_make_model", False),
    "addresses": (native.Callback, "addresses", False),
    "import": (nutpie_draws, "import_nutpie", False),
    "tree": (nutpie_draws, "tree_of", False),
}


class Broken(Exception):
    """What no part of the package expects."""


def broken(*_, **__):
    raise Broken("built otherwise")


def assert_same_posterior(one, other):
    """Within 4 Monte Carlo errors of both."""
    for name in one.idata["posterior"].data_vars:
        a, b = (x.idata["posterior"][name] for x in (one, other))
        assert a.dims == b.dims
        error = np.hypot(*(np.asarray(mcse(x)) for x in (a, b)))
        apart = np.abs(a.mean(("chain", "draw")) - b.mean(("chain", "draw"))).to_numpy()
        assert (apart <= 4 * error).all(), name


@pytest.mark.parametrize("name", study_but(["prevalence", "panel"], "prevalence"))
@pytest.mark.parametrize("part", PARTS)
def test_any_part_may_fail(name, part, plain, monkeypatch, capfd):
    expected, asked = fitted(name), plain(name)
    owner, function, fresh = PARTS[part]
    if fresh:
        compiled_anew(monkeypatch)
    else:
        monkeypatch.setattr(fast, "_kept", OrderedDict())
    monkeypatch.setattr(owner, function, broken)
    for other in (fast, compiler):  # which have it under their own name
        if hasattr(other, function) and other is not owner:
            monkeypatch.setattr(other, function, broken)
    capfd.readouterr()
    found = fit(name)
    assert len(asked) == 1
    (line,) = capfd.readouterr().err.splitlines()
    assert "failed (Broken: built otherwise): nutpie compiles models itself" in line
    assert_same_posterior(found, expected)
    fit(name)
    assert not capfd.readouterr().err  # once a process


@pytest.mark.parametrize("name", study_but(["prevalence", "panel"], "prevalence"))
def test_code_that_cannot_be_kept_is_no_reason_to_leave_the_fast_road(
    name, plain, monkeypatch, capfd
):
    """Nor is the short cut through Numba, nor PyTensor without a setting of ours."""
    expected, asked = fitted(name), plain(name)
    compiled_anew(monkeypatch)
    monkeypatch.setattr(compiler, "make_callbacks", broken)
    monkeypatch.setattr(settings, "SETTINGS", {**settings.SETTINGS, "no such setting": 1})
    found = fit(name)
    assert not asked
    assert not capfd.readouterr().err
    assert_same_posterior(found, expected)


def test_an_operation_that_numba_cannot_be_told_of_runs_in_python(monkeypatch, capfd):
    monkeypatch.setattr(settings, "_shown", set())
    monkeypatch.setattr("numba.extending.register_jitable", broken)
    assert settings.jitable(abs) is abs
    (line,) = capfd.readouterr().err.splitlines()
    assert "failed (Broken: built otherwise): Python runs an operation" in line


def test_what_both_roads_raise_names_both(monkeypatch):
    monkeypatch.setattr(roads, "_by_nutpie", BY_NUTPIE)
    monkeypatch.setattr(fast, "runnable_of", broken)
    monkeypatch.setattr("nutpie.compile_pymc.compile_pymc_model", lambda model: 1 / 0)
    with pytest.raises(ZeroDivisionError) as found:
        roads.compile_model(None)
    assert isinstance(found.value.__cause__, Broken)


def test_ctrl_c_ends_both_roads(monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(roads, "_by_nutpie", broken)
    for owner, name in ((fast, "runnable_of"), (nutpie_draws, "import_nutpie")):
        monkeypatch.setattr(owner, name, stopped)
    with pytest.raises(KeyboardInterrupt):
        roads.compile_model(None)
    with pytest.raises(KeyboardInterrupt):
        roads.draw(roads.Compiled(None, runnable=object()), ())
