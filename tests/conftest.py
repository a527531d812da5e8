"""What every test shares: a headless backend, the modules, one fit a module and session."""

import ctypes
import functools
import gc
import os
import runpy
import sys
from pathlib import Path

# What PyTensor is asked to compile with the least effort it hands to g++, operation by operation:
# seconds for what is called a few times. Without g++ the same runs in Python. Said before PyTensor
# is imported, and to subprocesses. The package itself puts g++ aside whenever it compiles.
# Nor need each variable know the lines that made it, which takes two fifths of building a graph.
os.environ["PYTENSOR_FLAGS"] = ",".join(
    [*filter(None, [os.environ.get("PYTENSOR_FLAGS")]), "cxx=", "traceback__limit=0"]
)

# Text is as wide as in a pipe, whatever width the processes that share tests are told.
os.environ.pop("COLUMNS", None)

# Pictures are drawn to files. Said before matplotlib is imported, which the first picture does.
os.environ["MPLBACKEND"] = "Agg"

import pytest

import bayesjudge as bj

# The template module is held to the contract as if it stood in the package.
bj.__path__.append(str(Path(__file__).parent / "template"))
bj.__all__.append("pass_share")


@functools.cache
def modules():
    """Every module and sub-package with a data class of its own; one missing fails the contract.

    Each has a file ``tests/<module>/contract_<name>.py`` with a `Module` called ``CONTRACT``.
    """
    found = sorted(Path(__file__).parent.glob("*/contract_*.py"))
    return [runpy.run_path(str(path))["CONTRACT"] for path in found]


def __getattr__(name):
    """`MODULES`, once a file of tests asks: the process that starts the others collects nothing."""
    if name == "MODULES":
        return modules()
    raise AttributeError(name)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is imported and collected stays: it is not searched for garbage, then or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    """After a file, memory that is free goes back: compilers leave a lot of it in pieces."""
    if (nextitem is None or nextitem.path != item.path) and sys.platform == "linux":
        getattr(ctypes.CDLL(None), "malloc_trim", id)(0)


def study_but(values, *kept):
    """Parameters of which those that are not `kept` are studies."""
    marks = {False: [pytest.mark.study], True: []}
    return [pytest.param(value, marks=marks[value in kept]) for value in values]


#: For a test of many values in many places: each place tries a third of them, the next place the
#: next third, so that every three places try all (`in_turn`); the study tries all in each.
each_in_turn = pytest.mark.parametrize("turns", study_but([3, 1], 3))


def in_turn(values, places, place, turns):
    """Every `turns`-th value, beginning one further in each place."""
    return [*values][[*places].index(place) % turns :: turns]


SHARED = Path(__file__).parents[2] / "shared"


def shared(path):
    """A file of the reference data that live beside a developer's checkout, or skip."""
    found = SHARED / path
    if not found.exists():
        pytest.skip(f"needs ../shared/{path}, which a developer's checkout has beside it")
    return found


@pytest.fixture(scope="session")
def fit_of():
    """Return a module's fit to its own simulated data; sampled once a session."""
    made = {}

    def get(one):
        if one.name not in made:
            made[one.name] = one.module.fit(one.simulated(1), random_seed=1)
        return made[one.name]

    return get


@pytest.fixture
def uncompiled():
    """PyTensor's functions run in Python: slower than Numba's code, and there at once."""
    from pytensor import config

    with config.change_flags(mode="FAST_COMPILE"):
        yield


@pytest.fixture(autouse=True)
def _no_sampling_in_the_fast_tier(request, monkeypatch):
    """A plain `pytest` samples nothing: a test that does says so with a mark."""
    if not any(request.node.get_closest_marker(m) for m in ("sampling", "slow", "study")):
        monkeypatch.setitem(sys.modules, "nutpie", None)


@pytest.fixture(autouse=True)
def _fast_road(monkeypatch):
    """Where nutpie would compile in the place of code that failed, a test shows what failed."""

    def refuse(compiled, failed):
        raise failed

    monkeypatch.setattr("bayesjudge.compiled.roads._by_nutpie", refuse)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    if plt := sys.modules.get("matplotlib.pyplot"):
        plt.close("all")
