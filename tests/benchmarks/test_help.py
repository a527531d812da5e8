"""Every study starts, and says what it asks."""

import ast
import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
INSTALLED = {*sys.stdlib_module_names, *packages_distributions()}
INDEX = (TOP / "benchmarks" / "README.md").read_text()
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


#: Without stored results yet.
UNFINISHED: set[str] = set()


@each_study
def test_study_says_what_it_found(path):
    """In numbers, from results that lie beside it; the index shows both."""
    if f"{path.parent.name}/{path.name}" in UNFINISHED:
        assert not list((path.parent / "results").glob(f"{path.stem}*")), "say what it found"
        return
    paragraphs = ast.get_docstring(ast.parse(path.read_text())).split("\n\n")
    (found,) = [" ".join(p.split()) for p in paragraphs if p.startswith("Found:")]
    assert sum(word[:1].isdigit() or word[:1] == "." for word in found.split()) >= 3, found
    (row,) = [
        line for line in INDEX.splitlines() if f"benchmarks/{path.parent.name}/{path.name}`" in line
    ]
    assert found.removeprefix("Found: ") in row
    assert re.search(r"\| \[.*\.(csv|md)\]\(.*\) \|$", row), f"no results beside {path.name}"


@pytest.mark.slow
def test_index_is_the_one_that_its_command_writes():
    command = [sys.executable, TOP / "tools" / "index_benchmarks.py", "--check"]
    assert subprocess.run(command, check=False).returncode == 0, "run `make index`"


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
