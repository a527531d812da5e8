"""Every study starts, and says what it asks."""

import argparse
import ast
import os
import re
import runpy
import shlex
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pandas as pd
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


@pytest.mark.slow
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
UNFINISHED: set[str] = set()


@pytest.mark.every_setting
@pytest.mark.slow
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
    """Run a file as ``python FILE ARGUMENTS`` does, in this process, and leave no trace in it."""
    known, variables = set(sys.modules), dict(os.environ)

    def run(path, *arguments):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [str(path), *arguments])
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
        as_a_script(path, "--help")
    assert not ended.value.code
    assert path.name in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


# The commands that docs/sources.md prints ---------------------------------------------------------

SOURCES = (TOP / "docs" / "sources.md").read_text()
PRINTED = re.findall(r"\| `((?:python|pytest) [^`]+)` \|$", SOURCES, re.MULTILINE)
SCRIPTS = sorted({line for line in PRINTED if line.startswith("python")})
TESTS = sorted({*PRINTED} - {*SCRIPTS})


def test_every_line_of_the_sources_names_a_command():
    """But for what no line can show, which says that it is not possible."""
    rows = [row for row in SOURCES.splitlines() if row.startswith("| ")]
    shown = [row for row in rows if not row.startswith("| item |") and not row.endswith(" – |")]
    assert len(PRINTED) == len(shown) > 60
    assert all("not possible" in row for row in rows if row.endswith(" – |"))


class AskedError(Exception):
    """A script has read its arguments."""


@pytest.mark.slow
@pytest.mark.parametrize("line", SCRIPTS)
def test_a_script_runs_as_printed(line, as_a_script, monkeypatch):
    """Up to where it has read what was asked: what is missing there is missing for everybody."""
    _, name, *arguments = shlex.split(line)
    parse = argparse.ArgumentParser.parse_args

    def stop(self, *args, **kwargs):
        raise AskedError(parse(self, *args, **kwargs))

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", stop)
    with pytest.raises(AskedError):
        as_a_script(TOP / name, *arguments)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["panel/code_feedback.py", "prevalence/splits.py"])
def test_a_panel_is_fetched_where_no_file_is_given(name, as_a_script, monkeypatch, tmp_path):
    """The same table as from a file."""
    from bayesjudge import datasets

    table = pd.DataFrame({"item": [0, 1], "generator": ["a", "b"], "truth": [1, 0], "j": [1, 0]})
    monkeypatch.setattr(datasets, "code_feedback", lambda level="repaired": table)
    found = runpy.run_path(str(TOP / "benchmarks" / name))
    read = found.get("table_of", found["read"])
    beside = next(one for one in ("DATA", "VOTES") if one in found)  # of a developer's checkout
    monkeypatch.setitem(read.__globals__, beside, tmp_path / "none")
    file = tmp_path / "votes.csv"
    table.rename(columns={"truth": "human"}).to_csv(file, index=False)
    pd.testing.assert_frame_equal(read(None), read(file))


@pytest.mark.slow
def test_tests_that_are_named_are_there():
    """Each word that chooses some of a file's tests stands in the name of one."""
    chosen = [re.fullmatch(r'pytest (.+) -m "" -k "?([^"]+)"?', line).groups() for line in TESTS]
    files = sorted({file for some, _ in chosen for file in some.split()})
    command = [sys.executable, "-m", "pytest", "-m", "", "--collect-only", "-q", *files]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)
    names = [line.partition("::") for line in done.stdout.splitlines() if "::" in line]
    for some, words in chosen:
        of_files = [name for file, _, name in names if file in some.split()]
        for word in words.split(" or "):
            assert any(word in name for name in of_files), f"{some}: {word}"
