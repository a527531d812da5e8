"""Every study starts, and says what it asks."""

import ast
import os
import re
import runpy
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
INDEX = (TOP / "benchmarks" / "README.md").read_text()
STUDIES = sorted((TOP / "benchmarks").glob("*/*.py"))
each_study = pytest.mark.parametrize(
    "path", STUDIES, ids=lambda path: f"{path.parent.name}/{path.name}"
)


@pytest.fixture(scope="module")
def installed():
    return {*sys.stdlib_module_names, *packages_distributions()}


@each_study
def test_no_study_hides_a_package_of_its_name(path, installed):
    """A study runs with its folder in front of the path: `coverage.py` there breaks Numba."""
    assert path.stem not in installed


@each_study
def test_first_line_is_one_sentence(path):
    first = path.read_text().splitlines()[0]
    assert first.startswith('"""')
    assert first.endswith(("?", "."))


#: Without stored results yet.
UNFINISHED = {"panel/systems.py"}


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


@pytest.fixture
def as_a_script(monkeypatch, tmp_path):
    """Run a file as ``python FILE --help`` does, in this process, and leave no trace in it."""
    known, variables = set(sys.modules), dict(os.environ)

    def run(path):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [str(path), "--help"])
        monkeypatch.setattr(sys, "path", [str(path.parent), *sys.path])
        runpy.run_path(str(path), run_name="__main__")

    yield run
    for name in set(sys.modules) - known:  # another folder may have a file of that name
        file = getattr(sys.modules[name], "__file__", None) or ""
        if Path(file).is_relative_to(TOP / "benchmarks") and not name.startswith("benchmarks"):
            del sys.modules[name]
    for name in set(os.environ) - set(variables):
        del os.environ[name]
    os.environ.update(variables)


@pytest.mark.slow
@each_study
def test_study_says_what_it_asks(path, as_a_script, tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        as_a_script(path)
    assert not ended.value.code
    assert path.name in capsys.readouterr().out
    assert not list(tmp_path.iterdir())
