"""The quick way to the tests of a file that changed: every file has some near it."""

import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
sys.path.insert(0, str(TOP / "tools"))

import near  # noqa: E402


@pytest.mark.slow
def test_every_file_of_the_package_has_tests_near_it():
    files = [str(p.relative_to(TOP)) for p in (TOP / "bayesjudge").rglob("*.py")]
    assert not [one for one in files if not near.near(one)]


@pytest.mark.parametrize(
    ("changed", "first"),
    [
        ("bayesjudge/compiled/native.py", "tests/compiled/test_compiling.py"),  # which imports it
        ("bayesjudge/bias/exact.py", "tests/bias/test_exact.py"),
        ("bayesjudge/cli/panel.py", "tests/cli/test_cli_panel.py"),
        ("bayesjudge/truth/quadrature.py", "tests/prevalence/test_quadrature.py"),
        ("tests/core/test_plots.py", "tests/core/test_plots.py"),
        ("tests/prevalence/contract_items.py", "tests/prevalence"),
        ("benchmarks/prevalence/intervals.py", "tests/benchmarks/test_intervals_prevalence.py"),
    ],
)
def test_the_nearest_come_first(changed, first):
    assert near.near(changed)[0] == first


def test_the_contract_is_asked_about_the_modules_that_changed(monkeypatch):
    told = []
    monkeypatch.setattr(subprocess, "call", lambda words, **_: told.append(words) or 0)
    monkeypatch.setattr(sys, "argv", ["near", "bayesjudge/bias/exact.py", "README.md", "--", "-x"])
    assert near.main() == 0
    assert told[0][4:] == [
        *("tests/bias/test_exact.py", "tests/bias", "tests/test_contract.py"),
        *("-k", "not test_contract or bias", "-x"),
    ]
    monkeypatch.setattr(near, "changed_files", lambda: ["README.md"])
    monkeypatch.setattr(sys, "argv", ["near"])
    assert near.main() == 0
    assert len(told) == 1
