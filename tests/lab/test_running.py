"""Seeds, workers, interruptions: the same numbers whatever happens on the way."""

import json
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from lab import toys
from refusals import refused

from bayesjudge import lab
from bayesjudge.core.errors import InputError
from bayesjudge.lab.run import seed_of

SETTINGS = {"draw_prior": toys.draw_prior, "simulations": 12, "random_seed": 1}


def table_of(study):
    return study.table.drop(columns="seconds")


def sbc(draw_data=toys.draw_data, posterior=toys.posterior, **changes):
    how = {"workers": 1, **SETTINGS, **changes}
    return lab.sbc(posterior, draw_data=draw_data, **how)


def coverage(**changes):
    how = {"workers": 1, "random_seed": 1, "replications": 40, "batch": 10, **changes}
    methods = {"Wilson": toys.wilson_interval, "seeded": toys.seeded}
    return lab.coverage(methods, lab.grid(rate=[0.2, 0.6]), draw_data=toys.draw_passes, **how)


def test_seeds_are_those_of_spawn():
    spawned = np.random.SeedSequence(7).spawn(3)[2]
    assert seed_of(7, 2).generate_state(4).tolist() == spawned.generate_state(4).tolist()


@pytest.mark.slow
def test_same_seed_same_study_and_more_simulations_only_add():
    one = table_of(sbc())
    pd.testing.assert_frame_equal(table_of(sbc()), one)
    longer = table_of(sbc(simulations=15))
    pd.testing.assert_frame_equal(longer.iloc[: len(one)], one)
    assert not table_of(sbc(random_seed=2)).equals(one)


@pytest.mark.slow
def test_workers_change_nothing(tmp_path):
    two = sbc(workers=2, path=tmp_path / "two.jsonl")
    pd.testing.assert_frame_equal(table_of(two), table_of(sbc()))
    pd.testing.assert_frame_equal(coverage(workers=2).table, coverage().table)


@pytest.mark.slow
def test_an_interrupted_study_goes_on_where_it_stopped(tmp_path):
    path = tmp_path / "deep" / "study.jsonl"
    whole = sbc(toys.Fragile(at=0))
    broken = toys.Fragile(at=8)
    with pytest.raises(toys.Interrupted):
        sbc(broken, path=path)
    broken = toys.Fragile(at=0)
    again = sbc(broken, path=path)
    assert broken.calls == 12 - 7  # seven were on file
    pd.testing.assert_frame_equal(table_of(again), table_of(whole))
    finished = toys.Fragile(at=1)  # would stop at its first call
    pd.testing.assert_frame_equal(sbc(finished, path=path).table, again.table)


@pytest.mark.slow
def test_a_line_that_was_cut_off_is_done_again(tmp_path):
    path = tmp_path / "study.jsonl"
    whole = coverage(path=path)
    text = path.read_text()
    path.write_text(text[: text.rindex('"seconds"')])
    pd.testing.assert_frame_equal(coverage(path=path).table, whole.table)
    assert path.read_text().count("\n") == text.count("\n")
    assert [file.name for file in tmp_path.iterdir()] == ["study.jsonl"]


@pytest.mark.slow
def test_a_file_of_another_study_is_not_continued(tmp_path):
    path = tmp_path / "study.jsonl"
    sbc(path=path)
    with pytest.raises(InputError, match=r"other random_seed: was 1, now 2.*resume=False"):
        sbc(path=path, random_seed=2)
    with refused(id="other-study", key="study"):
        sbc(path=path, posterior=toys.narrow)
    with refused("sbc", "coverage", id="other-study", key="kind"):
        coverage(path=path)
    fresh = sbc(path=path, random_seed=2, resume=False)
    pd.testing.assert_frame_equal(sbc(path=path, random_seed=2).table, fresh.table)


def test_results_of_other_code_are_not_continued(tmp_path):
    path = tmp_path / "study.jsonl"
    sbc(path=path)
    header, *lines = path.read_text().splitlines()
    changed = json.loads(header) | {"code": "0" * 16}
    path.write_text("\n".join([json.dumps(changed), *lines]) + "\n")
    with refused("0000000000000000"):
        sbc(path=path)


def test_code_counts_and_comments_do_not():
    from bayesjudge.lab.run import _code_of

    code = 'def f(x):\n    """Add."""\n    return x + 1\n'
    assert _code_of(code) == _code_of('def f( x ):\n    """Sum."""\n    # one\n    return x + 1\n')
    assert _code_of(code) != _code_of(code.replace("1", "2"))


def test_a_file_that_is_no_study_is_refused(tmp_path):
    path = tmp_path / "notes.jsonl"
    path.write_text("hello\n")
    with pytest.raises(InputError, match=r"bayesjudge\.lab 1"):
        sbc(path=path)
    assert path.read_text() == "hello\n"


def test_functions_that_cannot_travel_are_refused():
    with pytest.raises(InputError, match="top level of a module, or pass workers=1"):
        sbc(lambda truths, rng: toys.draw_data(truths, rng), workers=2)


@pytest.mark.parametrize("name", ["workers", "simulations", "retained"])
def test_numbers_below_one_are_refused(name):
    with refused(**{name: -1}):
        sbc(**{name: -1})


WAITS = """
import fcntl, os, sys, time
from bayesjudge.lab.run import run

def hold_a_lock(task):
    with open(f"{sys.argv[1]}/{task[0]}", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write("held")
        file.flush()
        time.sleep(600)

if __name__ == "__main__":
    run(hold_a_lock, [(0,), (1,)], {"kind": "lock"}, workers=2)
"""


@pytest.mark.slow
def test_workers_leave_when_the_study_is_killed(tmp_path):
    fcntl = pytest.importorskip("fcntl")
    script = tmp_path / "study.py"
    script.write_text(WAITS)
    held = [tmp_path / name for name in "01"]
    with subprocess.Popen([sys.executable, script, tmp_path]) as study:
        wait_for(lambda: all(file.exists() and file.read_text() for file in held))
        study.kill()

    def free(file):
        with file.open() as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True

    wait_for(lambda: all(free(file) for file in held))


def wait_for(happened, seconds=60):
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
