"""Every study starts, and says what it asks."""

import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
INSTALLED = {*sys.stdlib_module_names, *packages_distributions()}
STUDIES = sorted((TOP / "benchmarks").glob("*/*.py"))
each_study = pytest.mark.parametrize(
    "path", STUDIES, ids=lambda path: f"{path.parent.name}/{path.name}"
)


@each_study
def test_no_study_hides_a_package_of_its_name(path):
    """A study runs with its folder in front of the path: `coverage.py` there breaks Numba."""
    assert path.stem not in INSTALLED


@each_study
def test_first_line_is_one_sentence(path):
    first = path.read_text().splitlines()[0]
    assert first.startswith('"""')
    assert first.endswith(("?", "."))


@pytest.mark.slow
@each_study
def test_study_says_what_it_asks(path, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(TOP))
    done = subprocess.run(
        [sys.executable, path, "--help"], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert path.name in done.stdout
    assert not list(tmp_path.iterdir())
