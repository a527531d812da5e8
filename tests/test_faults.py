"""The list of planted faults is in step with the code, and a sample of them is caught."""

import ast
import csv
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from planting import put

from benchmarks.core.faults import Fault, every_fault

TOP = Path(__file__).parents[1]


@pytest.mark.slow
def test_each_fault_finds_its_place_and_its_tests():
    faults = every_fault()
    assert len(faults) >= 120
    assert len({one[:4] for one in faults}) == len(faults)
    for one in faults:
        assert one.planted(source_of(one.file))
        assert all((TOP / test.partition("::")[0]).exists() for test in one.tests), one


@pytest.mark.slow
def test_no_formatting_moves_a_fault():
    """Written anew by Python: other quotes, lines and parentheses, and no comments."""
    for one in every_fault()[::10]:
        source = source_of(one.file)
        rewritten = ast.unparse(ast.parse(source))
        assert rewritten != source
        assert ast.dump(ast.parse(one.planted(rewritten))) == ast.dump(
            ast.parse(one.planted(source))
        )


@cache
def source_of(file):
    return (TOP / file).read_text()


def test_a_fault_that_finds_no_place_is_an_error():
    source = "def f(x):\n    return g(x + 1) + (x + 1)\n"
    with pytest.raises(ValueError, match="'y' is 0 times in f"):
        Fault("x.py", "f", "y", "z", ()).planted(source)
    with pytest.raises(ValueError, match="'f' is 0 times in g"):
        Fault("x.py", "g", "f", "z", ()).planted(source)
    with pytest.raises(ValueError, match="'x\\+1' is 2 times in f"):
        Fault("x.py", "f", "x+1", "x", ()).planted(source)
    with pytest.raises(ValueError, match="replaced by itself"):
        Fault("x.py", "f#2", "x+1", "(x + 1)", ()).planted(source)
    with pytest.raises(ValueError, match="2 times"):
        Fault("x.py", "f#3", "x+1", "x", ()).planted(source)


@pytest.mark.parametrize(
    ("function", "text", "replacement", "planted"),
    [
        ("A.f", "x + 1", "x, 2", "return g((x, 2), 'é') if x else None"),
        ("A.f", "g(x+1,\n 'é')", "0", "return (0) if x else None"),
        ("A.f", "return g(x + 1, 'é') if x else None", "pass", "pass"),
        ("A.f.inner", "h(y for y in z)", "pass", "pass"),
        ("A.f.inner", "(y for y in z)", "[*z]", "h([*z])"),
        ("", "'é' in LETTERS", "True", "assert (True)  # é"),
    ],
)
def test_an_expression_makes_way_for_another(function, text, replacement, planted):
    source = (
        "class A:\n    def f(self, x):\n"
        "        def inner(z):\n            h(y for y in z)\n"
        "        return g(x + 1, 'é') if x else None\n"
        "assert 'é' in LETTERS  # é\n"
    )
    found = put(source, function, text, replacement)
    changed = [a for a, b in zip(found.splitlines(), source.splitlines(), strict=True) if a != b]
    assert [line.strip() for line in changed] == [planted]


def planted(*words):
    command = [sys.executable, "benchmarks/core/faults.py", *map(str, words)]
    return subprocess.run(command, cwd=TOP, capture_output=True, text=True, timeout=600)


#: One that the fast tests of a small file catch.
ONE = """["core/names.py"]
tests = ["tests/test_identity.py::test_ids_that_differ_stay_apart"]
faults = [["name_of", 'str(cell)', 'str(cell).lstrip("0")']]
"""


@pytest.mark.slow
def test_a_fault_is_caught(tmp_path):
    (tmp_path / "list.toml").write_text(ONE)
    done = planted("--faults", tmp_path / "list.toml", "--output", tmp_path / "found.csv")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 of 1 faults " in done.stdout
    with (tmp_path / "found.csv").open() as lines:
        (row,) = csv.DictReader(lines)
    assert row["caught by"].startswith("tests/test_identity.py::")


@pytest.mark.study
def test_a_sample_is_caught(tmp_path):
    done = planted("--only", "core/names.py", "--output", tmp_path / "found.csv")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 of 2 faults " in done.stdout
    with (tmp_path / "found.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    caught = [row["caught by"].partition("::")[0] for row in rows]
    assert caught == ["tests/test_identity.py"] * 2


#: Changes nothing that a test could see; is caught; lets nothing be imported.
LIST = """["core/names.py"]
tests = ["tests/test_identity.py"]
faults = [
  ["name_of", 'str(cell)', 'f"{cell}"'],
  ["name_of", 'str(cell)', 'str(cell).lstrip("0")'],
  ["", 'from decimal import Decimal', 'from decimal import Decimals'],
]
"""


@pytest.mark.study
def test_a_fault_that_no_test_notices_survives_and_is_planted_again(tmp_path):
    (tmp_path / "list.toml").write_text(LIST)
    words = ("--faults", tmp_path / "list.toml", "--output", tmp_path / "found.csv")
    done = planted(*words)
    assert done.returncode == 1, done.stderr
    assert "2 of 3 faults " in done.stdout
    assert "SURVIVED bayesjudge/core/names.py, name_of: 'str(cell)'" in done.stdout
    again = planted(*words, "--resume")
    assert "0 of 1 faults " in again.stdout
    with (tmp_path / "found.csv").open() as lines:
        found = [row["caught by"] for row in csv.DictReader(lines)]
    assert found[0] == "survived"
    assert found[1].startswith("tests/test_identity.py::")
    assert len(found) == 3
