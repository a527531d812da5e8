"""pytest plugin: a fixture that gates, a marker, and a section of the terminal summary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

#: Lines of this session, in the order of the tests.
_LINES = pytest.StashKey[list[tuple[str, str]]]()
CHOICES = ("skip", "fail", "pass")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--gate-unknown``."""
    group = parser.getgroup("bayesjudge")
    group.addoption(
        "--gate-unknown",
        choices=CHOICES,
        default="skip",
        help="what a gate that can neither pass nor fail does to its test (default: skip, with "
        "what would decide)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line(
        "markers",
        "gate(at_least=, at_most=, probability=, entry=, against=, margin=, unknown=): arguments "
        "of the fixture `gate` of this test; unknown= is skip, fail or pass",
    )
    config.stash[_LINES] = []


@pytest.fixture
def gate(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Hold a result against a threshold: fails, passes, or skips the test if it is unknown.

    Takes what `bayesjudge.decide.gate` takes, by the marker ``gate`` or by arguments, which win;
    ``unknown=`` is what an unknown does (by default the option ``--gate-unknown``).

    Raises
    ------
    UsageError
        If ``unknown=`` is none of skip, fail and pass.
    """
    marker = request.node.get_closest_marker("gate")
    defaults = dict(marker.kwargs) if marker else {}

    def check(result: Any, **arguments: Any) -> Any:
        __tracebackhide__ = True
        from bayesjudge.decide import gate as decide

        asked = {**defaults, **arguments}
        unknown = asked.pop("unknown", request.config.getoption("--gate-unknown"))
        if unknown not in CHOICES:
            raise pytest.UsageError(f"unknown={unknown!r}: expected one of {CHOICES}")
        decision = decide(result, **asked)
        text, outcome = str(decision), decision.outcome
        request.config.stash[_LINES].append((request.node.nodeid, text))
        void = any(each.undecidable for each in decision.checks)
        if void or outcome == "fail" or (outcome == "unknown" and unknown == "fail"):
            pytest.fail(text, pytrace=False)
        if outcome == "unknown" and unknown == "skip":
            pytest.skip(text)
        return decision

    return check


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """List the gates of this session."""
    lines = config.stash.get(_LINES, [])
    if not lines:
        return
    terminalreporter.write_sep("=", "gates (bayesjudge)")
    for name, text in lines:
        terminalreporter.write_line(name)
        for line in text.splitlines():
            terminalreporter.write_line(f"  {line}")
