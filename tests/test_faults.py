"""The list of planted faults is in step with the code, and a sample of them is caught."""

import csv
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.core.faults import Fault, every_fault

TOP = Path(__file__).parents[1]


def test_each_fault_finds_its_text_and_its_tests():
    faults = every_fault()
    assert len(faults) >= 120
    assert len({(one.file, one.text, one.replacement) for one in faults}) == len(faults)
    for one in faults:
        assert one.planted((TOP / one.file).read_text())
        assert all((TOP / test.partition("::")[0]).exists() for test in one.tests), one


def test_a_fault_that_finds_no_text_is_an_error():
    with pytest.raises(ValueError, match="is there 0 times"):
        Fault("x.py", "a", "b", ()).planted("c")
    with pytest.raises(ValueError, match="is there 2 times"):
        Fault("x.py", "a", "b", ()).planted("aa")


def planted(*words):
    command = [sys.executable, "benchmarks/core/faults.py", *map(str, words)]
    return subprocess.run(command, cwd=TOP, capture_output=True, text=True, timeout=600)


#: One that the fast tests of a small file catch.
ONE = """["core/names.py"]
tests = ["tests/test_identity.py::test_ids_that_differ_stay_apart"]
faults = [['    return str(cell)', '    return str(cell).lstrip("0")']]
"""


@pytest.mark.slow
def test_a_fault_is_caught(tmp_path):
    (tmp_path / "list.toml").write_text(ONE)
    done = planted("--faults", tmp_path / "list.toml", "--output", tmp_path / "found.csv")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 of 1 faults were caught" in done.stdout
    with (tmp_path / "found.csv").open() as lines:
        (row,) = csv.DictReader(lines)
    assert row["caught by"].startswith("tests/test_identity.py::")


@pytest.mark.study
def test_a_sample_is_caught(tmp_path):
    done = planted("--only", "core/names.py", "--output", tmp_path / "found.csv")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 of 2 faults were caught" in done.stdout
    with (tmp_path / "found.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    caught = [row["caught by"].partition("::")[0] for row in rows]
    assert caught == ["tests/test_identity.py"] * 2


#: Changes nothing that a test could see; is caught; lets nothing be imported.
LIST = """["core/names.py"]
tests = ["tests/test_identity.py"]
faults = [
  ['    return str(cell)', '    return f"{cell}"'],
  ['    return str(cell)', '    return str(cell).lstrip("0")'],
  ['    return str(cell)', '    return str(cell'],
]
"""


@pytest.mark.study
def test_a_fault_that_no_test_notices_survives_and_is_planted_again(tmp_path):
    (tmp_path / "list.toml").write_text(LIST)
    words = ("--faults", tmp_path / "list.toml", "--output", tmp_path / "found.csv")
    done = planted(*words)
    assert done.returncode == 1, done.stderr
    assert "2 of 3 faults were caught" in done.stdout
    assert "SURVIVED bayesjudge/core/names.py: '    return str(cell)'" in done.stdout
    again = planted(*words, "--resume")
    assert "0 of 1 faults were caught" in again.stdout
    with (tmp_path / "found.csv").open() as lines:
        found = [row["caught by"] for row in csv.DictReader(lines)]
    assert found[0] == "survived"
    assert found[1].startswith("tests/test_identity.py::")
    assert len(found) == 3
