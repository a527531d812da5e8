"""The list of planted faults is in step with the code, and a sample of them is caught."""

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


@pytest.mark.study
def test_a_sample_is_caught():
    command = [sys.executable, "benchmarks/core/faults.py", "--sample", "4"]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 of 4 faults were caught" in done.stdout
