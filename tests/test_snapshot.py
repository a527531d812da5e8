"""What is written down before a change that must leave all numbers as they are."""

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import shared

TOP = Path(__file__).parents[1]
TOOL = TOP / "tools" / "snapshot.py"


@pytest.mark.slow
def test_every_closed_form_and_exact_posterior_is_written_down(tmp_path):
    shared("data")
    made = subprocess.run(
        [sys.executable, str(TOOL), str(tmp_path / "now.json"), "--no-nuts"],
        capture_output=True, text=True, check=False, cwd=TOP,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    assert int(made.stderr.splitlines()[-1].split()[0]) > 15_000
