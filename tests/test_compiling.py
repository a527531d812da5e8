"""What a compiled model must bear: any kind of unknown, and chains that start at once."""

import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import nutpie
import pymc as pm
import pytest
from numba.core.errors import NumbaPerformanceWarning

import bayesjudge as bj
from bayesjudge.core.compiling import _start_of, compile_model, compiling


def test_chains_may_start_at_once():
    counts = bj.prevalence.Counts(
        *([100, 100], [60, 50], [10, 10], [9, 9], [10, 10], [7, 7]),
        calibration="random",
        systems="ab",
    )
    start = _start_of(bj.prevalence.build_model(counts))
    seeds = range(400)
    alone = [start(seed) for seed in seeds]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # threads take turns as often as they can
    try:
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(start, seeds))
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


def test_advice_of_a_compiler_to_its_developers_is_silenced():
    arguments = np.ones((2, 4)), np.ones(2)
    with pytest.warns(NumbaPerformanceWarning):
        strided_product()(*arguments)
    with compiling():
        strided_product()(*arguments)
        with pytest.raises(UserWarning, match="of another kind"):
            warnings.warn("of another kind", UserWarning, stacklevel=1)


# A home directory that cannot be written to -----------------------------------------------------

NO_HOME = os.devnull + "/home"  # no user, not even root, can make a folder there


def run_python(code, **environment):
    """Run `code` in a fresh interpreter, with these variables and none of PyTensor's."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTENSOR")}
    return subprocess.run(
        [sys.executable, "-c", code],
        env=kept | environment,
        capture_output=True,
        text=True,
        check=True,
    )


def test_without_a_home_models_compile_in_a_temporary_folder_and_one_line_says_so(tmp_path):
    done = run_python(
        "import bayesjudge, pymc as pm, pytensor\n"
        "from bayesjudge.core.compiling import compile_model\n"
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


def test_other_settings_of_pytensor_are_kept():
    flags = flags_after_import(HOME=NO_HOME, PYTENSOR_FLAGS="floatX=float64")
    assert flags.startswith("floatX=float64,base_compiledir=")


@pytest.mark.parametrize("setting", ["base_compiledir", "compiledir"])
def test_a_folder_that_the_user_chose_is_left_alone(setting, tmp_path):
    chosen = f"floatX=float64,{setting}=elsewhere"
    assert flags_after_import(HOME=NO_HOME, PYTENSOR_FLAGS=chosen) == chosen
    file = tmp_path / "pytensorrc"
    file.write_text(f"[global]\n{setting} = elsewhere\n")
    assert flags_after_import(HOME=NO_HOME, PYTENSORRC=str(file)) == "None"


def test_a_home_that_can_be_written_to_is_used(tmp_path):
    assert flags_after_import(HOME=str(tmp_path)) == "None"
    assert not list(tmp_path.iterdir())
