"""What every test shares: a headless backend, the modules, one fit a module and session."""

import contextlib
import copy
import ctypes
import functools
import gc
import hashlib
import multiprocessing
import os
import pickle
import runpy
import signal
import sys
import time
import warnings
from collections import defaultdict
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
    contracts = [runpy.run_path(str(path))["CONTRACT"] for path in found]
    return [one._replace(models=functools.cache(one.models)) for one in contracts]


def __getattr__(name):
    """`MODULES`, once a file of tests asks: the process that starts the others collects nothing."""
    if name == "MODULES":
        return modules()
    raise AttributeError(name)


def pytest_addoption(parser):
    """Name a third of settings: `make test` names one by the commit."""
    parser.addoption(
        "--third", type=int, choices=range(3), help="run this third of the settings of slow tests"
    )


def pytest_itemcollected(item):
    """Of a test's settings one in so many is of the fast tier, with several, each in its turn; or
    those that are named.
    """
    one_in, named = map(item.get_closest_marker, ("fast_one_in", "fast_named"))
    if (one_in and sum(item.callspec.indices.values()) % one_in.args[0]) or (
        named and item.callspec.id not in named.args
    ):
        item.add_marker("slow")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Of a slow test's settings keep a third, at least one; all that a file keeps answers of.

    Tests that compile models of their own are settings of one.
    """
    if (third := config.getoption("third")) is None:
        return
    settings = defaultdict(list)
    for item in items:
        if may_sample(item) and not item.get_closest_marker("every_setting"):
            alike = item.get_closest_marker("own_model")
            settings["own_model" if alike else item.nodeid.partition("[")[0]].append(item.nodeid)
    kept = {name for of_one in settings.values() for name in of_one[third % len(of_one) :: 3]}
    left = {name for of_one in settings.values() for name in of_one} - kept
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left])
    items[:] = [item for item in items if item.nodeid not in left]


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is imported and collected stays: it is not searched for garbage, then or later."""
    gc.disable()
    import arviz_base  # noqa: F401 - it looks through all that is loaded: little, as yet

    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 20, 100)  # a twentieth of the time went into looking
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    """After a file, memory that is free goes back: compilers leave a lot of it in pieces."""
    if (nextitem is None or nextitem.path != item.path) and sys.platform == "linux":
        getattr(ctypes.CDLL(None), "malloc_trim", id)(0)


#: What each process that shared the tests took: processor seconds and most memory.
TOOK = {}


def pytest_sessionfinish(session):
    """Such a process says what it took, with the processes that it started."""
    end_compiling()
    if hasattr(session.config, "workeroutput") and sys.platform != "win32":
        import resource

        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        seconds = sum(one.ru_utime + one.ru_stime for one in used)
        unit = 1 if sys.platform == "darwin" else 1024  # bytes there, else KiB
        session.config.workeroutput["took"] = seconds, used[0].ru_maxrss * unit


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Keep it, in the process that started them."""
    TOOK[node.gateway.id] = getattr(node, "workeroutput", {}).get("took", ())


def pytest_terminal_summary(terminalreporter):
    """Print it."""
    for name, took in TOOK.items():
        if took:
            line = "{}: {:.0f} s of processor time, at most {:.2f} GB".format(
                *(name, took[0], took[1] / 2**30)
            )
            terminalreporter.write_line(line)


def study_but(values, *kept):
    """Parameters of which those that are not `kept` are studies."""
    marks = {False: [pytest.mark.study], True: []}
    return [pytest.param(value, marks=marks[value in kept]) for value in values]


#: For a test of many values in many places: each place tries a fifth of them, the next place the
#: next fifth, so that every five places try all (`in_turn`); the study tries all in each.
each_in_turn = pytest.mark.parametrize("turns", study_but([5, 1], 5))


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
def once(tmp_path_factory):
    """Return what a function makes: made by the process that asks first, read by the others."""
    folder, known = tmp_path_factory.getbasetemp(), {}
    folder = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder

    def get(key, make):
        path = folder / hashlib.sha256(key.encode()).hexdigest()
        if key not in known:
            with locked(path.with_suffix(".lock")):
                if not path.exists():
                    path.with_suffix(".part").write_bytes(pickle.dumps(make()))
                    path.with_suffix(".part").rename(path)
            known[key] = pickle.loads(path.read_bytes())
        return known[key]

    return get


@contextlib.contextmanager
def locked(folder):
    """Wait for the other process, if it has made the folder; for ten minutes, should it be dead."""
    for _ in range(6000):
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
            break
        time.sleep(0.1)
    try:
        yield
    finally:
        with contextlib.suppress(FileNotFoundError):
            folder.rmdir()


#: Modules whose draws take long.
LONG = ("attempts",)


@pytest.fixture(scope="session")
def fit_of(once):
    """Return a module's fit to its own simulated data; sampled once a run."""

    def get(one):
        few = {"draws": 500, "tune": 500} if one.name in LONG else {}
        return once(one.name, lambda: one.module.fit(one.simulated(1), random_seed=1, **few))

    return get


@pytest.fixture
def uncompiled():
    """PyTensor's functions run in Python: slower than Numba's code, and there at once."""
    from pytensor import config

    with config.change_flags(mode="FAST_COMPILE"):
        yield


def may_sample(item):
    """Whether its marks say that a test may take its time."""
    return any(map(item.get_closest_marker, ("sampling", "slow", "study")))


@pytest.fixture(autouse=True)
def _no_sampling_in_the_fast_tier(request, monkeypatch):
    """A plain `pytest` samples nothing: a test that does says so with a mark."""
    if not may_sample(request.node):
        monkeypatch.setitem(sys.modules, "nutpie", None)


@pytest.fixture(scope="session", autouse=True)
def _signatures_read_once():
    """What options a command has is read from its signature once; each call has a copy."""
    from cyclopts.argument import ArgumentCollection

    read = ArgumentCollection._from_callable

    def copied(command, *defaults, **settings):
        key = command, settings.get("parse_docstring"), settings.get("_resolve_groups")
        if key not in known:
            known[key] = list(read(command, *defaults, **settings))
        fresh = {id(one): copy.copy(one) for one in known[key]}
        for one in fresh.values():
            one.tokens = []
            one.children = ArgumentCollection(fresh[id(child)] for child in one.children)
        return ArgumentCollection(fresh.values())

    known = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ArgumentCollection, "_from_callable", copied)
        yield


@pytest.fixture(autouse=True)
def _fast_road(monkeypatch):
    """Where nutpie would compile in the place of code that failed, a test shows what failed."""

    def refuse(compiled, failed):
        raise failed

    monkeypatch.setattr("bayesjudge.compiled.roads._by_nutpie", refuse)


#: By how much the process that compiles may grow before it makes room for another.
FULL = 0.6 * 2**30
#: The pipe to that process, and itself, while there is one.
COMPILING = []


def compile_for(pipe, other_end, compile_here):
    """Compile what comes through a pipe, until memory is full or nobody is there."""
    import resource

    from bayesjudge.compiled import fast

    def memory():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    other_end.close()
    begun, grown = memory(), 0  # that of the worker is a part of it
    with contextlib.suppress(EOFError):
        while grown < FULL:
            key, graphs = pickle.loads(pipe.recv_bytes())
            signal.alarm(600)  # should it ever wait for a thread that it does not have
            fast._write(key, compile_here(*graphs))
            signal.alarm(0)
            grown = memory() - begun
            pipe.send(grown)


def ask_to_compile(request, compile_here):
    """Have the other process write code to disk, and wait for it."""
    if not COMPILING:
        forking = multiprocessing.get_context("fork")
        pipe, other_end = forking.Pipe()
        process = forking.Process(target=compile_for, args=(other_end, pipe, compile_here))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # other threads wait
            process.start()
        other_end.close()
        COMPILING.extend((pipe, process))
    pipe, _ = COMPILING
    try:
        pipe.send_bytes(request)
        ended = pipe.recv() >= FULL
    except (EOFError, OSError):
        ended = True
    if ended:
        end_compiling()


def end_compiling():
    """Wait until the other process has ended, if there is one."""
    if COMPILING:
        pipe, process = COMPILING
        pipe.close()
        process.join()
        COMPILING.clear()


@pytest.fixture(autouse=True)
def _compiling_elsewhere(request, monkeypatch):
    """Models are compiled in a process beside this one: what a compiler leaves in memory ends with
    it, and what it has translated serves the next model, which saves a third of the time.
    """
    forks = may_sample(request.node) and hasattr(os, "fork")
    if not forks or "compiled" in request.path.parts:
        return
    import cloudpickle

    from bayesjudge.compiled import fast

    def compile_elsewhere(*graphs):
        key = fast.key_of(*graphs)
        ask_to_compile(cloudpickle.dumps((key, graphs)), compile_here)
        return fast._read(key) or compile_here(*graphs)

    compile_here = fast._compile
    monkeypatch.setattr(fast, "_compile", compile_elsewhere)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    if plt := sys.modules.get("matplotlib.pyplot"):
        plt.close("all")
