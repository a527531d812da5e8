"""What a compiled model must bear: any kind of unknown, and chains that start at once."""

import ctypes
import hashlib
import itertools
import json
import os
import pickle
import subprocess
import sys
import warnings
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from importlib.metadata import version
from pathlib import Path
from weakref import WeakKeyDictionary

import numba
import numpy as np
import nutpie
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from conftest import study_but
from numba.core import intrinsics
from numba.core.codegen import JITCodeLibrary
from numba.core.dispatcher import Dispatcher, _FunctionCompiler
from numba.core.errors import NumbaPerformanceWarning

import bayesjudge as bj
from bayesjudge.compiled import (
    compile_folder,
    compile_model,
    compiler,
    compiling,
    fast,
    native,
    settings,
    structure_of,
)
from bayesjudge.compiled.compile_folder import not_private
from bayesjudge.compiled.fast import _start_of, named, structure
from bayesjudge.core import sampling
from bayesjudge.core.progress import Progress


@pytest.mark.slow
def test_chains_may_start_at_once():
    counts = bj.prevalence.Counts(
        *([100, 100], [60, 50], [10, 10], [9, 9], [10, 10], [7, 7]),
        calibration="random",
        systems="ab",
    )
    start = _start_of(bj.prevalence.build_model(counts))
    seeds = range(400)

    def flat(seed):
        return np.concatenate([np.ravel(v) for v in start(seed).values()])

    alone = [flat(seed) for seed in seeds]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # threads take turns as often as they can
    try:
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(flat, seeds))
    finally:
        sys.setswitchinterval(interval)
    assert np.array_equal(alone, together)


@pytest.mark.sampling
def test_every_unknown_is_kept_by_its_own_name():
    with pm.Model(coords={"judge": ["a", "b"]}) as model:
        offset = pm.Normal("offset", dims="judge")  # needs no transform, so has no second name
        spread = pm.HalfNormal("spread")
        pm.Deterministic("scaled", offset * spread, dims="judge")
        pm.Normal("seen", offset[0], spread, observed=pm.Data("data", 1.0))
    tree = nutpie.sample(
        compile_model(model).runnable, draws=20, tune=20, chains=1, seed=1, progress_bar=False
    )
    found = tree["posterior"]
    assert {"offset", "spread", "scaled"} <= set(found.data_vars)
    assert found["offset"].dims == ("chain", "draw", "judge")
    np.testing.assert_allclose(found["scaled"], found["offset"] * found["spread"])


def strided_product():
    """A function that Numba, when it compiles it, has advice about."""
    return numba.njit(lambda a, b: np.dot(a[:, ::2], b))


@pytest.mark.slow
def test_advice_of_a_compiler_to_its_developers_is_silenced():
    arguments = np.ones((2, 4)), np.ones(2)
    with pytest.warns(NumbaPerformanceWarning):
        strided_product()(*arguments)
    with compiling():
        strided_product()(*arguments)
        with pytest.raises(UserWarning, match="of another kind"):
            warnings.warn("of another kind", UserWarning, stacklevel=1)


def test_a_users_settings_are_put_aside_and_put_back():
    """Blocks that overlap, as those of two threads do, end in any order."""

    def settings():
        return pytensor.config.cxx, pytensor.config.traceback__limit

    with pytensor.config.change_flags(cxx="of the user", traceback__limit=5):
        first, second = compiling(), compiling()
        first.__enter__()
        second.__enter__()
        assert settings() == ("", 0)
        first.__exit__(None, None, None)
        assert settings() == ("", 0)
        second.__exit__(None, None, None)
        assert settings() == ("of the user", 5)
        with pytest.raises(ZeroDivisionError), compiling():
            raise ZeroDivisionError
        assert settings() == ("of the user", 5)


@pytest.mark.study
def test_draws_are_the_same_whether_or_not_there_is_a_c_compiler(code, tmp_path, monkeypatch):
    """A sum of more than 32 parts: PyTensor makes one loop of it only where it has a compiler.

    Ours is one loop in either case.
    """
    with pm.Model() as model:
        x = pm.Normal("x", shape=40)
        pm.Potential("sum", -sum(pm.math.exp(x[i] * x) for i in range(40)).sum())
    found, point, told = [], np.linspace(-1, 1, 40), []
    monkeypatch.setattr(pytensor.tensor.rewriting.elemwise, "warn", told.append)
    for cxx in ("", "/no/such/compiler"):
        _compiled.clear()
        code.folder = tmp_path / f"code{len(found)}"
        with pytensor.config.change_flags(cxx=cxx):
            found.append((density_of(code(model), point), code.file.name))
    assert code.compiled == 2
    assert found[0] == found[1]
    assert told == []  # such as that loops could not be made one


@pytest.mark.slow
def test_a_loop_may_read_more_than_32_arrays():
    """Otherwise each of its operations is a loop, and a gradient takes twice the time."""
    arrays = [pytensor.tensor.vector(f"array {i}") for i in range(40)]
    total = pytensor.tensor.sigmoid(sum(array * (i + 2) for i, array in enumerate(arrays)))
    how = {"mode": "NUMBA", "on_unused_input": "ignore"}

    def loops():
        with compiling():
            return len(pytensor.function(arrays, total, **how).maker.fgraph.apply_nodes)

    assert loops() > 1
    with fast._wide_loops():
        assert loops() == 1
    assert loops() > 1


def test_both_functions_of_a_model_are_compiled_so_and_their_code_is_named_by_it(monkeypatch):
    elemwise, ordinary = pytensor.tensor.rewriting.elemwise, pm.pytensorf.compile
    found = []

    def compile_graph(*arguments, **options):
        if options["mode"] != "NUMBA":
            return ordinary(*arguments, **options)
        found.append(elemwise.elemwise_max_operands_fct(None))
        raise ZeroDivisionError  # before it takes seconds

    monkeypatch.setattr(pm.pytensorf, "compile", compile_graph)
    monkeypatch.setattr(fast, "_read", lambda key: None)
    monkeypatch.setattr(fast, "_kept", OrderedDict())
    with pytest.raises(ZeroDivisionError):
        compile_model(small_model())
    assert set(found) == {fast.OPERANDS}
    now = fast._versions()
    monkeypatch.setattr(fast, "OPERANDS", 32)
    assert fast._versions() != now


# Code that is kept on disk ----------------------------------------------------------------------


def small_model(scale=1.0, size=3):
    with pm.Model() as model:
        x = pm.Normal("x", shape=2)
        pm.Normal("seen", x[0], np.exp(x[1]), observed=pm.Data("data", np.full(size, scale)))
    return model


_compiled = {}


def once(compile_, model, logp, kept):
    """Compile a graph once: what is tested is where its code is kept, and when it is found."""
    graphs = structure(model, logp, kept)
    if graphs not in _compiled:
        _compiled[graphs] = compile_(model, logp, kept)
    return _compiled[graphs]


@pytest.fixture
def code(tmp_path, monkeypatch):
    """An empty folder for code, and what is in memory forgotten: as in a new process."""

    class Code:
        folder, compiled = tmp_path / "code", 0

        def __call__(self, model):
            monkeypatch.setattr(fast, "_kept", OrderedDict())
            self.before = self.compiled
            return compile_model(model, self.count)

        def count(self):
            self.compiled += 1

        @property
        def found(self):
            return self.compiled == self.before

        @property
        def file(self):
            (file,) = self.folder.iterdir()
            return file

    one = Code()
    real = fast._compile
    monkeypatch.setattr(fast, "_compile", lambda *given: once(real, *given))
    monkeypatch.setattr(fast, "_folder", lambda: one.folder)
    monkeypatch.setattr(settings, "_shown", set())
    return one


def density_of(compiled, point):
    runnable = compiled.runnable
    kinds = [ctypes.c_uint64, *4 * [ctypes.c_void_p]]
    call = ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(runnable.density.address)
    slope, value = np.zeros_like(point), np.zeros(1)
    given = runnable.density.addresses(runnable.data, runnable.parts)
    arrays = (point, slope, value, given)
    assert call(point.size, *(array.ctypes.data for array in arrays)) == 0
    return value[0], *slope


POINT = np.array([0.3, -0.2])


def expected_density(scale=1.0, size=3):
    """By hand: a normal log-density for each observation, and the two priors."""
    x, s = POINT[0], np.exp(POINT[1])
    z = (scale - x) / s
    value = size * (-(z**2) / 2 - np.log(s)) - (POINT**2).sum() / 2
    value -= (size + 2) * np.log(2 * np.pi) / 2
    return value, size * z / s - POINT[0], size * (z**2 - 1) - POINT[1]


@pytest.mark.sampling
def test_code_is_found_again_whatever_the_data(code, capfd):
    first = density_of(code(small_model()), POINT)
    assert not code.found
    assert density_of(code(small_model()), POINT) == first
    np.testing.assert_allclose(first, expected_density())
    for scale, size in ((2.0, 3), (-1.0, 7), (0.5, 1)):
        found = density_of(code(small_model(scale, size)), POINT)
        np.testing.assert_allclose(found, expected_density(scale, size))
    assert code.compiled == 1
    assert not capfd.readouterr().err


@pytest.mark.sampling
def test_code_is_found_again_however_many_unknowns_there_are(code):
    """Each part of a point begins where the one before it ends; of more than 30 arguments too."""
    rng = np.random.default_rng(1)
    for systems, kinds in ((2, 3), (5, 1), (1, 2)):
        seen = rng.normal(size=(30, systems))
        with pm.Model(coords={"system": range(systems), "kind": range(kinds)}) as model:
            level = pm.Normal("level", dims="system")
            spread = pm.HalfNormal("spread")
            own = pm.Normal("own", dims=("kind", "system"))
            data = [pm.Data(f"data_{i}", row, dims="system") for i, row in enumerate(seen)]
            likelihood = pm.Normal.dist(level + own.sum(axis=0), spread)
            pm.Potential("seen", pm.logp(likelihood, pt.stack(data)).sum())
        point = rng.normal(size=systems + 1 + kinds * systems)
        x, y, s = point[:systems], point[systems + 1 :], np.exp(point[systems])
        off = seen - x - y.reshape(kinds, systems).sum(axis=0)
        slope = off.sum(axis=0) / s**2
        expected = [
            *slope - x,
            (off**2).sum() / s**2 - off.size - s**2 + 1,
            *(np.tile(slope, kinds) - y),
        ]
        _, *found = density_of(code(model), point)
        np.testing.assert_allclose(found, expected)
    assert code.compiled == 1


@pytest.mark.sampling
def test_machine_code_is_made_of_callbacks_only(code, monkeypatch, caplog):
    """Numba makes some of each function inside them too, which nothing calls."""
    caplog.set_level("DEBUG", fast.__name__)
    _compiled.clear()
    made, finish = [], JITCodeLibrary._finalize_specific
    monkeypatch.setattr(
        JITCodeLibrary, "_finalize_specific", lambda one: made.append(one.name) or finish(one)
    )
    code(small_model())
    assert sorted(made) == ["density", "expand"]
    assert not caplog.records


@pytest.mark.slow
def test_what_was_translated_serves_the_next_model(code, monkeypatch):
    """Of a graph that differs by one operation, what both consist of is translated once."""
    _compiled.clear()
    translated, compile_core = [], _FunctionCompiler._compile_core
    monkeypatch.setattr(
        _FunctionCompiler,
        "_compile_core",
        lambda *given: translated.append(given[0].py_func.__name__) or compile_core(*given),
    )
    monkeypatch.setattr(compiler, "_operations", {})
    monkeypatch.setattr(compiler, "_functions", WeakKeyDictionary())
    functions = []
    for more in (0.0, 1.0):
        code.folder, model = code.folder.with_name(f"code {more}"), small_model()
        if more:
            pm.Potential("more", -more * model["x"][0], model=model)
        translated.clear()
        value, *slope = density_of(code(model), POINT)
        functions.append(len(translated))
        expected, *slopes = expected_density()
        np.testing.assert_allclose(value, expected - more * POINT[0])
        np.testing.assert_allclose(slope, np.array(slopes) - np.array([more, 0.0]))
    assert code.compiled == 2
    first, second = functions
    assert second < first / 2
    assert not any(one.overloads for one in compiler._functions)  # Python compiles its own


@pytest.mark.slow
@compiling()
@pytest.mark.parametrize("layout", ["C", "A"])
def test_a_product_of_matrices_is_numpys(layout):
    """In any order in memory, and of any lengths, none and one too."""
    matrix = numba.types.Array(numba.float64, 2, layout)

    @numba.njit(matrix(matrix, matrix, matrix))
    def product(x, y, out):
        return compiler._multiply(x, y, out)

    rng = np.random.default_rng(1)

    def drawn(*shape):
        made = rng.normal(size=(2 * shape[0], shape[1]))
        return made[: shape[0]] if layout == "C" else made[::-2]

    for m, k, n in itertools.product([0, 1, 3], [0, 1, 4], [0, 1, 2]):
        x, y, out = drawn(m, k), drawn(k, n), drawn(m, n)
        assert product(x, y, out).shape == (m, n)
        np.testing.assert_allclose(out, x @ y, rtol=1e-13)
    with pytest.raises(ValueError, match="incompatible array sizes"):
        product(drawn(2, 3), drawn(2, 3), drawn(2, 3))


@pytest.mark.sampling
def test_where_numba_is_built_otherwise_compiling_takes_longer(code, monkeypatch, caplog):
    caplog.set_level("DEBUG", fast.__name__)
    _compiled.clear()
    before = Dispatcher.add_overload
    monkeypatch.setattr(compiler, "JITCodeLibrary", object)  # has nothing of what is changed
    np.testing.assert_allclose(density_of(code(small_model()), POINT), expected_density())
    (record,) = caplog.records
    assert "make_callbacks failed" in record.message
    assert record.exc_info[0] is AttributeError
    assert Dispatcher.add_overload is before
    assert numba.njit(lambda x: x + 1)(1) == 2


@pytest.mark.sampling
@pytest.mark.parametrize(
    "damage",
    [lambda text: text[: len(text) // 2], lambda text: b"", lambda text: text[:-9] + b"123456789"],
    ids=["half written", "empty", "changed"],
)
def test_a_damaged_file_is_compiled_again_and_one_line_says_so(code, damage, capfd):
    first = density_of(code(small_model()), POINT)
    code.file.write_bytes(damage(code.file.read_bytes()))
    assert density_of(code(small_model()), POINT) == first
    assert code.compiled == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert str(code.file) in line
    assert "is damaged: compiling again" in line
    code(small_model())
    assert code.found


def whole(names, code=b""):
    """A file that is not damaged, whatever it says."""
    body = len(names).to_bytes(8) + names + code
    return native.FORMAT + hashlib.sha256(body).digest() + body


@pytest.mark.sampling
def test_a_file_that_cannot_be_loaded_is_compiled_again(code, capfd):
    """Whole, but of another machine under the name of this one, as no copying makes it."""
    first = density_of(code(small_model()), POINT)
    code.file.write_bytes(whole(json.dumps(["another machine", {}]).encode()))
    assert density_of(code(small_model()), POINT) == first
    code.file.write_bytes(whole(b"not what JSON reads"))
    assert density_of(code(small_model()), POINT) == first
    assert code.compiled == 3
    one, other = capfd.readouterr().err.splitlines()
    assert "something else: compiling again" in one
    assert "cannot be used" in other


# Code of somebody else --------------------------------------------------------------------------

SEVEN = "define i64 @seven() { ret i64 7 }"
posix = pytest.mark.skipif(sys.platform == "win32", reason="rights of files are POSIX's")


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A file with the code of a function that returns 7, and how it is read."""
    monkeypatch.setattr(native, "LINKS", True)
    native._linker()
    machine = native.llvm.Target.from_default_triple().create_target_machine(jit=True)
    binary = machine.emit_object(native.llvm.parse_assembly(SEVEN))
    made = native.Callback(
        0, (native.Array("x", "<f8", 1),), None, native.Code(binary, "seven", {})
    )
    folder = tmp_path / "code"
    assert native.write(folder, "key", {"density": made}) is None

    class Kept:
        file = native.file_of(folder, "key")
        read = staticmethod(lambda key="key": native.read(folder, key, pickle.loads))

    return Kept


def test_code_that_is_kept_runs(kept):
    found = kept.read()["density"]
    assert ctypes.CFUNCTYPE(ctypes.c_int64)(found.address)() == 7
    assert found.arrays == (("x", "<f8", 1),)
    assert kept.read("another key") is None
    kept.file.rename(native.file_of(kept.file.parent, "another key"))
    assert "holds the code of something else" in kept.read("another key")


def planted(ran):
    """A pickle that, when it is read, makes a file: as an attacker writes one."""

    class Attack:
        def __reduce__(self):
            return Path.touch, (ran,)

    return pickle.dumps(Attack())


def test_a_pickle_in_the_place_of_code_is_not_read(kept, tmp_path):
    """In the form of this version, of the last, and as code of a platform that has pickles."""
    attack, ran = planted(tmp_path / "ran"), tmp_path / "ran"
    content = kept.file.read_bytes()
    start = len(native.FORMAT) + 32
    key, parts = json.loads(content[start + 8 : start + 8 + int.from_bytes(content[start:][:8])])
    parts["density"].update(names=None, bytes=len(attack))
    former = native.FORMAT.replace(b"4", b"3") + hashlib.sha256(attack).digest() + attack
    for body in (former, whole(attack), whole(json.dumps([key, parts]).encode(), attack)):
        kept.file.write_bytes(body)
        try:
            found = kept.read()
        except ValueError as error:  # JSON's
            found = str(error)
        assert isinstance(found, str)
        assert not ran.exists()
    pickle.loads(attack)
    assert ran.exists()  # it would have done so


def a_link(path):
    path.rename(path.with_name("other"))
    path.symlink_to("other")


def a_pipe(path):
    path.unlink()
    os.mkfifo(path, 0o600)


ATTACKS = {
    "file that others may change": (lambda path: path.chmod(0o666), "may be changed by other"),
    "file that a group may change": (lambda path: path.chmod(0o620), "may be changed by other"),
    "link to a file": (a_link, "cannot be read"),
    "pipe": (a_pipe, "is no file"),
    "folder in its place": (lambda path: [path.unlink(), path.mkdir(0o700)], "is no file"),
}


@posix
@pytest.mark.parametrize("attack", ATTACKS)
def test_a_file_that_may_be_another_users_is_not_read(kept, attack):
    change, words = ATTACKS[attack]
    change(kept.file)
    assert words in kept.read()


@posix
@pytest.mark.parametrize("whose", ["folder", "link to the folder", "file"])
def test_code_of_another_user_is_neither_read_nor_written(kept, monkeypatch, whose):
    """Of the folder, of a link in its place, or of a file in a folder of one's own."""
    content, folder, look = kept.file.read_bytes(), kept.file.parent, {}
    if whose == "link to the folder":
        folder.rename(folder.with_name("own"))
        folder.symlink_to("own")
        look["lstat"] = folder
    else:
        look["stat"] = folder if whose == "folder" else None

    def seen_as(name, real):
        def seen(path, **options):
            found, at = real(path, **options), look.get(name, "")
            fields = list(found)
            foreign = path == at if at is not None else isinstance(path, int)
            fields[4] += foreign  # st_uid
            return os.stat_result(fields)

        return seen

    for name in look:
        monkeypatch.setattr(os, name, seen_as(name, getattr(os, name)))
    assert "belongs to another user" in kept.read()
    if whose != "file":
        assert "belongs to another user" in native.write(folder, "key", {})
    assert kept.file.read_bytes() == content


@posix
def test_a_folder_of_ones_own_is_closed_to_others(tmp_path):
    """With whatever rights it was made; what is in it still has to be one's own."""
    folder = tmp_path / "code"
    folder.mkdir(0o700)
    for rights in (0o777, 0o775, 0o755, 0o700):
        folder.chmod(rights)
        assert native.write(folder, "key", {}) is None
        assert folder.stat().st_mode & 0o777 == 0o700
        assert native.file_of(folder, "key").stat().st_mode & 0o777 == 0o600
        folder.chmod(rights)
        assert native.read(folder, "key", None) == {}
        assert folder.stat().st_mode & 0o777 == 0o700


def test_code_is_kept_in_no_folder_that_depends_on_the_current_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "is not an absolute path" in native.write(Path("code"), "key", {})
    assert not Path("code").exists()
    assert native.write(Path("code").absolute(), "key", {}) is None
    assert native.read(Path("code").absolute(), "key", None) == {}
    assert "is not an absolute path" in native.read(Path("code"), "key", None)
    for home in ("", ".", "home"):
        monkeypatch.setenv("HOME", home)
        assert "is not an absolute path" in not_private(compile_folder._folder_of_pytensor())


#: Compiles one function of PyTensor's and one model.
COMPILES = """
import bayesjudge, pymc as pm
from bayesjudge.compiled import compile_model, compiling
with pm.Model() as model:
    pm.Normal('x')
compile_model(model)
with compiling():
    assert (pm.math.exp(model['x'] * 0)).eval(mode='NUMBA') == 1
"""


@pytest.mark.slow
@pytest.mark.parametrize("home", study_but(["", ".", "home"], ""))  # the refusal: each, above
def test_a_folder_that_somebody_sent_brings_no_code(tmp_path, monkeypatch, home):
    """With no home, or one that depends on where one is, PyTensor looks in the current folder."""
    sent, ran = tmp_path / "sent", tmp_path / "ran"
    run_python(COMPILES, HOME=str(sent / home), MPLCONFIGDIR=str(tmp_path))
    files = [path for path in sent.rglob("*") if path.suffix in (".code", ".nbi", ".nbc")]
    assert len({path.suffix for path in files}) == 3
    for path in files:
        path.write_bytes(planted(ran))
    before = {path: path.stat().st_mtime_ns for path in sent.rglob("*")}
    monkeypatch.chdir(sent)
    told = run_python(COMPILES, HOME=home, MPLCONFIGDIR=str(tmp_path)).stderr
    assert not ran.exists()
    assert {path: path.stat().st_mtime_ns for path in sent.rglob("*")} == before
    assert "is not an absolute path: each process compiles anew" in told


@pytest.mark.sampling
@pytest.mark.parametrize(
    ("where", "name", "value"),
    [
        (native, "version", lambda name: {"numba": "0.0"}.get(name) or version(name)),
        (pytensor, "__version__", "0.0"),
        (pm, "__version__", "0.0"),
        (fast, "OPERANDS", 32),
        (native.llvm, "get_host_cpu_name", lambda: "another"),
        (native, "_features", lambda: "-avx"),
        (numba.config, "BOUNDSCHECK", 1),
    ],
    ids=["numba", "pytensor", "pymc", "loops", "processor", "features", "settings"],
)
def test_another_version_setting_or_processor_finds_nothing(code, monkeypatch, where, name, value):
    """A folder copied from another machine, or used by two environments."""
    code.folder.mkdir(0o700)
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(where, name, value)
        model = small_model()
        key = fast.key_of(model, model.logp(), named(model))
        native.file_of(code.folder, key).write_bytes(b"what would crash here")
    code(small_model())
    assert not code.found


@pytest.mark.sampling
def test_a_folder_that_cannot_be_written_to_costs_time_only(code, capfd):
    code.folder = Path(os.devnull) / "code"  # nobody, not even root, can write there
    for _ in range(2):
        np.testing.assert_allclose(density_of(code(small_model()), POINT), expected_density())
    assert code.compiled == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert "cannot be kept" in line
    assert "each process compiles anew" in line


@pytest.mark.sampling
def test_code_of_a_home_that_became_read_only_is_used(code, tmp_path, monkeypatch):
    warmed = tmp_path / "home"
    code.folder = warmed / fast.NAME
    first = density_of(code(small_model()), POINT)
    code.folder = tmp_path / "temporary"
    monkeypatch.setattr(fast, "left", [warmed])
    assert density_of(code(small_model()), POINT) == first
    assert code.found


@pytest.mark.sampling
def test_a_folder_forgets_what_was_used_longest_ago(code, monkeypatch):
    code(small_model())
    (used,) = code.folder.iterdir()
    old, older = (code.folder / f"{name}.code" for name in ("old", "older"))
    for age, path in enumerate((old, older), 1):
        path.write_bytes(used.read_bytes())
        os.utime(path, (age * -1000.0 + 1e9,) * 2)
    os.utime(used, (0, 0))
    code(small_model())  # used again, so the youngest
    assert code.found
    with pm.Model() as other:
        pm.Normal("another")
    monkeypatch.setattr(native, "LARGEST", 3 * used.stat().st_size + 1)
    code(other)
    assert used.exists()
    assert old.exists()
    assert not older.exists()


@pytest.mark.sampling
def test_where_llvm_is_not_known_to_link_it_numba_loads_code(code, monkeypatch):
    _compiled.clear()
    monkeypatch.setattr(native, "LINKS", False)
    first = density_of(code(small_model()), POINT)
    np.testing.assert_allclose(first, expected_density())
    assert density_of(code(small_model()), POINT) == first
    assert code.found
    _compiled.clear()
    monkeypatch.setattr(native, "LINKS", True)  # the same bits, under another name
    assert density_of(code(small_model()), POINT) == first
    assert not code.found


@pytest.mark.slow
def test_code_that_lacks_a_function_is_compiled_again(code, monkeypatch, capfd):
    first = density_of(code(small_model()), POINT)
    with monkeypatch.context() as lacking:
        lacking.setattr(native, "_symbols", dict)
        assert density_of(code(small_model()), POINT) == first
    assert code.compiled == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert "calls functions that are not here: compiling again" in line


@pytest.mark.slow
def test_code_is_linked_to_the_functions_that_numba_has():
    numba.njit(lambda x: x + 1)(1)  # by then Numba has told LLVM of all of them
    known = native._symbols()
    assert "NRT_Allocate" in known
    assert {"exp", "expf", "log1p"} <= set(known)
    assert known == {name: native.llvm.address_of_symbol(name) for name in known}
    assert set(native.MATHEMATICS) <= set(intrinsics.INTR_MATH) <= set(known)


@pytest.mark.sampling
def test_code_that_calls_python_finds_again_what_it_knows(code, monkeypatch):
    """Numba's ordinary road leaves such parts in it."""
    _compiled.clear()
    monkeypatch.setattr(compiler, "JITCodeLibrary", object)
    first = density_of(code(small_model()), POINT)
    _compiled.clear()
    assert b'"dtype' in code.file.read_bytes()
    assert density_of(code(small_model()), POINT) == first
    assert code.found


def test_what_code_knows_of_python_is_kept():
    known = native._environment(json.dumps(["fractions", ["a text", {"dtype": "<f8"}, None]]))
    assert known.consts == ["a text", np.dtype(float), None]
    assert known.globals is vars(sys.modules["fractions"])
    assert native._environment("").consts == []


#: Asks what Numba does for our operations and distributions.
OPERATIONS = """
from bayesjudge.core.distributions import _GreaterBetaRV
from bayesjudge.prevalence.items._marginal import Rows
from bayesjudge.ratings._marginal import LogProbabilities, _Gradient
from bayesjudge.truth.effects import Centre
from pytensor.link.numba.dispatch.basic import numba_funcify_default_op_cache_key as known
from pytensor.link.numba.dispatch.random import numba_core_rv_funcify as drawn
ours = Rows, Centre, LogProbabilities, _Gradient
assert all(known.dispatch(one) is not known.dispatch(object) for one in ours)
assert drawn.dispatch(_GreaterBetaRV) is not drawn.dispatch(object)
"""


@pytest.mark.slow
def test_numba_knows_our_operations():
    run_python(OPERATIONS)


@pytest.mark.slow
def test_settings_of_numba_belong_to_the_name_of_code():
    def name(**environment):
        code = "from bayesjudge.compiled import native; print(native.machine())"
        return run_python(code, **environment).stdout

    settings = {"NUMBA_OPT": "1", "NUMBA_ENABLE_AVX": "0", "NUMBA_CPU_NAME": "generic"}
    names = [name(), *(name(**{key: value}) for key, value in settings.items())]
    assert len(set(names)) == len(names)
    assert name(NUMBA_NUM_THREADS="1") == names[0]


@pytest.mark.sampling
def test_only_who_waits_for_a_compiler_is_told(code, monkeypatch):
    words = []

    class Told(Progress):
        def update(self, description=None, **_):
            words.append(description)

    monkeypatch.setattr(sampling, "progress_bar", lambda *_: nullcontext(Told()))
    counts = bj.prevalence.Counts(100, 60, 10, 9, 10, 7, calibration="random")
    waited = []
    for _ in range(2):
        monkeypatch.setattr(fast, "_kept", OrderedDict())
        bj.prevalence.fit(counts, random_seed=1)
        waited.append(any("compiling, once on this machine" in text for text in words))
        words.clear()
    assert waited == [True, False]


@pytest.mark.slow
def test_a_graph_differs_from_another_in_any_operation_constant_or_name():
    def structure(build):
        with pm.Model() as model:
            build()
        return structure_of(model)

    builds = {
        "x": lambda: pm.Normal("x"),
        "y": lambda: pm.Normal("y"),
        "two": lambda: pm.Normal("x", shape=2),
        "wide": lambda: pm.Normal("x", 0, 2),
        "constant": lambda: pm.Normal("x", np.array([0.0, 1.0]), 1),
        "last digit": lambda: pm.Normal("x", np.array([0.0, 1.0 + 1e-15]), 1),
        "data": lambda: pm.Normal("x", pm.Data("m", [0.0, 1.0]), 1, shape=2),
        "order": lambda: pm.Deterministic("z", pm.Normal("x") - pm.Normal("y")),
        "swapped": lambda: pm.Deterministic("z", -pm.Normal("x") + pm.Normal("y")),
        "other way": lambda: (
            [pm.Normal("x"), pm.Normal("y")]
            and pm.Deterministic("z", pm.modelcontext(None)["y"] - pm.modelcontext(None)["x"])
        ),
    }
    found = {name: structure(build) for name, build in builds.items()}
    assert len(set(found.values())) == len(builds)
    assert found == {name: structure(build) for name, build in builds.items()}


#: Prints a hash of the draws of a small model, and how often something was compiled.
DRAWS = """
import hashlib, nutpie, pymc as pm
from bayesjudge.compiled import compile_model, fast
compile_, count = fast._compile, []
fast._compile = lambda *given: count.append(1) or compile_(*given)
with pm.Model() as model:
    x = pm.Normal("x", shape=2)
    pm.Normal("seen", x[0], pm.math.exp(x[1]), observed=pm.Data("data", [1.0, 2.0, 4.0]))
settings = {"draws": 300, "tune": 300, "chains": 2, "seed": 1, "progress_bar": False}
tree = nutpie.sample(compile_model(model).runnable, **settings)
print(hashlib.sha256(tree["posterior"]["x"].to_numpy().tobytes()).hexdigest(), len(count))
"""


@pytest.mark.slow
def test_processes_share_code_and_draws(tmp_path):
    """Two at once on a machine that has compiled nothing, then a third: same seed, same draws."""
    environment = {"PYTENSOR_FLAGS": f"base_compiledir={tmp_path}", "PYTHONWARNINGS": "ignore"}
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(run_python, DRAWS, **environment) for _ in range(2)]
        first, second = (one.result().stdout.split() for one in both)
    third = run_python(DRAWS, **environment)
    draws, compiled = third.stdout.split()
    assert first[0] == second[0] == draws
    assert (first[1], compiled) == ("1", "0")
    assert not third.stderr


#: Saves prior draws as PyTensor's own compiled code makes them, after a fit if asked.
PRIOR = """
import sys
import numpy as np, pymc as pm, bayesjudge as bj
from bayesjudge.compiled import fast

name, fitted, path = sys.argv[1:]
compile_, count = fast._compile, []
fast._compile = lambda *given: count.append(1) or compile_(*given)
module = getattr(bj, name)
table = {
    "bias": lambda: module.simulate(items=10, random_seed=1),
    "panel": lambda: module.simulate(items=40, labelled=20, random_seed=1),
    "prevalence": lambda: module.simulate(items=100, labelled=30, random_seed=1),
}[name]()
read = {
    "bias": lambda: module.Shifts.from_frame(
        table, scale=(0, 100), design="item", rerun="rerun"
    ),
    "panel": lambda: module.Votes.from_frame(table, calibration="random"),
    "prevalence": lambda: module.Counts.from_frame(table, calibration="random"),
}
data, spec = read[name](), module.DawidSkene() if name == "panel" else None
if fitted == "fitted":
    model = module.fit(data, spec, random_seed=1, draws=50, tune=50, chains=2).model
else:
    model = module.build_model(data, spec)
prior = pm.sample_prior_predictive(20, model=model, random_seed=1)
drawn = {f"{g} {n}": v.to_numpy() for g in prior.children for n, v in prior[g].data_vars.items()}
np.savez(path, compiled=len(count), **drawn)
"""


@pytest.mark.study
@pytest.mark.parametrize("name", ["prevalence", "bias", "panel"])
def test_code_that_is_compiled_after_a_fit_is_as_if_nothing_had_been_fitted(name, tmp_path):
    """Functions inside a callback had their old names, and others called them in their old form."""

    def draws(fitted, folder):
        path = tmp_path / "draws.npz"
        flags = {"PYTENSOR_FLAGS": f"base_compiledir={tmp_path / folder}"}
        run_python(PRIOR, name, fitted, str(path), PYTHONWARNINGS="ignore", **flags)
        return dict(np.load(path))

    never = draws("never", "other")
    assert never["compiled"] == 0
    for compiled in (1, 0):  # fresh, and from disk
        after = draws("fitted", "empty")
        assert after.pop("compiled") == compiled
        assert set(after) == set(never) - {"compiled"}
        for variable, values in after.items():
            np.testing.assert_array_equal(values, never[variable], err_msg=variable)


# A home directory that cannot be written to -----------------------------------------------------

NO_HOME = os.devnull + "/home"  # no user, not even root, can make a folder there


def run_python(code, *arguments, **environment):
    """Run `code` in a fresh interpreter, with these variables and none of PyTensor's."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTENSOR")}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=kept | environment,
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.mark.slow
def test_without_a_home_models_compile_in_a_temporary_folder_and_one_line_says_so(tmp_path):
    done = run_python(
        "import bayesjudge, pymc as pm, pytensor\n"
        "from bayesjudge.compiled import compile_model\n"
        "for scale in (1, 2):\n"
        "    with pm.Model() as model:\n"
        "        pm.Normal('x', 0, scale)\n"
        "    compile_model(model)\n"
        "print(pytensor.config.base_compiledir)\n",
        HOME=NO_HOME,
        MPLCONFIGDIR=str(tmp_path),  # PyMC loads matplotlib, which has a line of its own to say
    )
    folder = done.stdout.strip()
    assert not os.path.exists(folder)  # it went with the process
    (line,) = done.stderr.splitlines()
    assert folder in line
    assert NO_HOME in line
    assert "PYTENSOR_FLAGS=base_compiledir=" in line


def flags_after_import(**environment):
    code = "import os, bayesjudge; print(os.environ.get('PYTENSOR_FLAGS'))"
    done = run_python(code, **environment)
    assert not done.stderr  # nothing is compiled, so nothing is told
    return done.stdout.strip()


#: As for a user without an entry in /etc/passwd.
NOBODY = """
import os, pwd
def nobody(_): raise KeyError
pwd.getpwuid = nobody
del os.environ["HOME"]
import bayesjudge, pytensor
print(pytensor.config.base_compiledir)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="pwd is POSIX's")
def test_who_has_no_home_at_all_compiles_in_a_temporary_folder():
    assert "bayesjudge-" in run_python(NOBODY, HOME="unset at once").stdout


def flags_in(folder, **environment):
    return flags_after_import(HOME=str(folder), **environment)


@posix
@pytest.mark.slow
def test_a_folder_of_pytensor_that_others_may_change_is_not_used(tmp_path):
    folder = tmp_path / ".pytensor"
    folder.mkdir()
    for rights, used in ((0o755, True), (0o775, True), (0o777, False)):
        folder.chmod(rights)
        assert (flags_in(tmp_path) == "None") == used
    other = tmp_path / "other"
    other.mkdir()
    if os.geteuid() == 0:  # only root can give a folder away
        (other / ".pytensor").mkdir()
        os.chown(other / ".pytensor", 12345, 12345)
        assert flags_in(other).startswith("base_compiledir=")


@pytest.mark.slow
def test_other_settings_of_pytensor_are_kept():
    flags = flags_after_import(HOME=NO_HOME, PYTENSOR_FLAGS="floatX=float64")
    assert flags.startswith("floatX=float64,base_compiledir=")


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["base_compiledir", "compiledir"])
def test_a_folder_that_the_user_chose_is_left_alone(setting, tmp_path):
    chosen = f"floatX=float64,{setting}=elsewhere"
    assert flags_after_import(HOME=NO_HOME, PYTENSOR_FLAGS=chosen) == chosen
    file = tmp_path / "pytensorrc"
    file.write_text(f"[global]\n{setting} = elsewhere\n")
    assert flags_after_import(HOME=NO_HOME, PYTENSORRC=str(file)) == "None"


@pytest.mark.slow
def test_a_home_that_can_be_written_to_is_used(tmp_path):
    assert flags_after_import(HOME=str(tmp_path)) == "None"
    assert not list(tmp_path.iterdir())


def test_operations_that_were_used_last_are_kept(monkeypatch):
    monkeypatch.setattr(compiler, "_operations", {})
    monkeypatch.setattr(compiler, "MOST_KEPT", 3)
    for name in ("a", "b", "c", "a", "d"):
        compiler.keep(name, name.upper())
    assert compiler._operations == {"c": "C", "a": "A", "d": "D"}


@pytest.mark.slow
def test_labels_of_a_dimension_that_has_a_length_only_are_numbers():
    import pymc as pm

    from bayesjudge.compiled.fast import _runnable

    with pm.Model(coords={"named": ["a", "b"]}) as model:
        model.add_coord("counted", length=3)
        x = pm.Normal("x", dims=("named", "counted"))
    callbacks = dict.fromkeys(("density", "expand"))
    made = _runnable(model, callbacks, [x])
    assert {name: list(values) for name, values in made.coords.items()} == {
        "named": ["a", "b"],
        "counted": [0, 1, 2],
    }
    assert made.shapes == {"x": (2, 3)}
