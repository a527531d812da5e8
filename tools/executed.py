"""Record which test executes which line of the package, as a plugin of pytest.

    python -m pytest -p tools.executed --executed FILE [what pytest is to run]

A test counts for a line only the first time that it runs it, and Python is asked for the lines of
the package alone, so that recording costs little. What runs while a module is imported, and in a
process of its own, is not recorded. The file is written as the run goes on: one that is stopped
has what it saw.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import pytest

PACKAGE = Path(__file__).parents[1] / "bayesjudge"
TOOL = 4  # of sys.monitoring's six, one that nobody has claimed
FAST, SLOW, SAMPLING = "fast", "slow", "sampling"
EVERY = 30.0  # seconds after which what was seen so far is written
#: Stands for the tier of a test that failed: what it says of a fault is nothing.
FAILED = "failed"


class Executed(NamedTuple):
    """Tests with their processor seconds and tier, and by file and line which of them run it."""

    tests: list[tuple[str, float, str]]
    lines: dict[str, dict[str, list[int]]]

    @classmethod
    def read(cls, path: Path) -> Executed:
        """As a run with the plugin wrote it."""
        stored = json.loads(path.read_text())
        return cls([tuple(one) for one in stored["tests"]], stored["lines"])

    def running(self, file: str, first: int = 0, last: int = sys.maxsize) -> list[int]:
        """Tests that run one of these lines, of the whole file by default."""
        by_line = self.lines.get(file, {})
        found = {i for line, tests in by_line.items() if first <= int(line) <= last for i in tests}
        return sorted(i for i in found if self.tests[i][2] != FAILED)


class Recorder:
    """Ask Python for each line of the package that a test runs."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tests: list[tuple[str, float, str]] = []
        self.lines: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        self._now: set[tuple[str, int]] = set()
        self._failed: set[str] = set()
        self._written = time.monotonic()
        sys.monitoring.use_tool_id(TOOL, "executed")
        sys.monitoring.register_callback(TOOL, sys.monitoring.events.LINE, self._line)
        for known in gc.get_objects():  # of what the package's own plugin imported before
            if isinstance(known, FunctionType):
                self._ask(known.__code__)
        sys.addaudithook(self._watch)

    def _watch(self, event: str, arguments: tuple[Any, ...]) -> None:
        """See a module as it is about to be imported."""
        if event == "exec":
            self._ask(arguments[0])

    def _ask(self, code: CodeType) -> None:
        """Ask for the lines of functions of the package, and of those within others."""
        if code.co_filename.startswith(str(PACKAGE)):
            if code.co_name != "<module>":
                sys.monitoring.set_local_events(TOOL, code, sys.monitoring.events.LINE)
            for inner in code.co_consts:
                if isinstance(inner, CodeType):
                    self._ask(inner)

    def _line(self, code: CodeType, line: int) -> Any:
        self._now.add((code.co_filename, line))
        return sys.monitoring.DISABLE

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Keep the lines of one test, its fixtures' too."""
        self._now.clear()
        sys.monitoring.restart_events()
        began = _seconds()
        try:
            return (yield)
        finally:
            marks = [m for m in (SAMPLING, SLOW) if item.get_closest_marker(m)]
            self.tests.append((item.nodeid, round(_seconds() - began, 4), (*marks, FAST)[0]))
            for file, line in self._now:
                name = str(Path(file).relative_to(PACKAGE.parent))
                self.lines[name][line].append(len(self.tests) - 1)
            if time.monotonic() > self._written + EVERY:
                self._write()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the name if it failed."""
        if report.failed:
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write what the whole run saw."""
        self._write()

    def _write(self) -> None:
        self._written = time.monotonic()
        tests = [(n, s, FAILED if n in self._failed else tier) for n, s, tier in self.tests]
        self.path.write_text(json.dumps({"tests": tests, "lines": self.lines}))


def _seconds() -> float:
    import resource

    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(sum(resource.getrusage(who)[:2]) for who in whose)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where to write."""
    parser.addoption("--executed", type=Path, help="file of the lines that each test runs")


def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Record, if asked to, from before the package is imported."""
    if path := early_config.known_args_namespace.executed:
        early_config.pluginmanager.register(Recorder(path.resolve()))
