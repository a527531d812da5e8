"""Is each planted fault caught by a test?

    python benchmarks/core/faults.py                              # all of faults.toml, one by one
    python benchmarks/core/faults.py --only panel/_em.py          # of one file, while writing it
    python benchmarks/core/faults.py --sample 8 --seed 3          # some of them, for CI
    python benchmarks/core/faults.py --resume --seconds 600       # those without a result yet

`faults.toml` lists faults by file: a function, an expression or statement of it, what replaces
that, and the tests that should notice. It is compared as Python reads it, so that no formatting of
the code moves a fault. Each is planted alone in a copy of the tree, and its tests run there until
the first that fails: first the one that caught it the last time, then those without a mark, then
those marked slow, none that samples. A fault that no test notices survives; one whose expression is
not there once, and only once, is an error of the list. The tests that caught faults run once more
without any; one that fails then is named, and has caught nothing.

Quick: ``--only panel/_em.py --sample 1``

Found: each of the 398 faults in the results was caught, by the test that is named there, of more
than 950 in the list: those that were written or reworded since have no result yet (`--resume`
plants them). 76 or more had survived when they were first planted: for most a test was written,
some are caught by slow tests that had not been asked. The results are of several runs while the
code went on.
"""

from __future__ import annotations

import argparse
import compileall
import csv
import importlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from itertools import batched
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import Any, NamedTuple

HERE = Path(__file__).parent
TOP = Path(__file__).parents[2]
sys.path.insert(0, str(TOP / "tests"))
from planting import put  # noqa: E402

COLUMNS = ("file", "function", "text", "fault", "caught by")
#: Imported once, before each fault has a process of its own.
LIBRARIES = (
    *("arviz_base", "arviz_stats", "h5py", "hypothesis.internal.observability"),
    *("matplotlib.pyplot", "narwhals", "pandas", "pytest", "scipy.stats", "xarray", "zarr"),
)
#: Asserts within a library that was imported before pytest need none of its words.
REWRITTEN = "ignore:Module already imported:pytest.PytestAssertRewriteWarning"
#: Processor seconds for the tests of one fault: some make a loop that never ends.
LONGEST = 150
#: Seconds of the clock, for those that wait for something that never comes.
LONGEST_WAIT = 600
#: Which tests are asked, the quick ones first.
FAST = "not sampling and not slow and not study"
SLOW = "slow and not sampling and not study"
NAMED = ""
#: Faults between which results are written.
TOGETHER = 3
SURVIVED = "survived"
OUT_OF_TIME = "out of time"
#: A fault that lets nothing be imported is noticed by whatever runs.
NOT_IMPORTED = "not imported"
#: By file, function, text and fault: the test that failed.
Found = dict[tuple[str, ...], str]


class Fault(NamedTuple):
    """An expression of a function, what replaces it, and the tests that should notice."""

    file: str
    function: str
    text: str
    replacement: str
    tests: tuple[str, ...]

    def planted(self, source: str) -> str:
        """The file with the fault, or an error if the expression is not there once."""
        try:
            return put(source, self.function, self.text, self.replacement)
        except ValueError as error:
            raise ValueError(f"{self.file}: {error}; mend faults.toml") from error


def every_fault(path: Path = HERE / "faults.toml") -> list[Fault]:
    """The list, in the order of the file."""
    listed = tomllib.loads(path.read_text())
    return [
        Fault(f"bayesjudge/{file}", function, text, replacement, tuple(own or about["tests"]))
        for file, about in listed.items()
        for function, text, replacement, *own in about["faults"]
    ]


def copied(folder: Path) -> Path:
    """A copy of the tree whose compiled files know their sources by content."""
    tree = folder / "tree"
    left_out = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "results")
    shutil.copytree(TOP, tree, ignore=left_out)
    kind = PycInvalidationMode.CHECKED_HASH
    for part in ("bayesjudge", "tests"):
        compileall.compile_dir(tree / part, quiet=2, invalidation_mode=kind)
    if (reference := TOP.parent / "shared").exists():
        (folder / "shared").symlink_to(reference.resolve())
    return tree


# Tests of a tree ---------------------------------------------------------------------------------


class Failures:
    """Names of the tests that failed, as a plugin of pytest."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep the name if it failed."""
        if report.failed:
            self.names.append(report.nodeid)

    pytest_collectreport = pytest_runtest_logreport


def failures(
    tree: Path, tests: Iterable[str], marks: str, *options: str, plugins: Iterable[object] = ()
) -> list[str]:
    """Names of the tests of a tree that fail, of those with these marks.

    They run in a fork of this process, which has imported the libraries but not the package.
    """
    told = tree.with_name("told.json")
    told.unlink(missing_ok=True)
    sys.stdout.flush()
    child = os.fork()
    if not child:
        _run_and_exit(tree, [*tests, "-m", marks, *options], told, plugins)
    _, status = os.waitpid(child, 0)
    if told.exists():
        return list(json.loads(told.read_text()))
    if os.WIFSIGNALED(status):
        return [OUT_OF_TIME]
    said = tree.with_name("said.txt").read_text()[-2000:]
    raise RuntimeError(f"pytest {' '.join(tests)}: {said}")


def _run_and_exit(tree: Path, arguments: list[str], told: Path, plugins: Iterable[object]) -> None:
    code = 70
    try:
        said = os.open(tree.with_name("said.txt"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(said, 1)
        os.dup2(said, 2)
        now = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        most = int(now) + LONGEST
        resource.setrlimit(resource.RLIMIT_CPU, (most, most + 5))
        signal.alarm(LONGEST_WAIT)
        os.chdir(tree)
        os.environ |= {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(tree))
        import pytest

        failed = Failures()
        quiet = ["-q", "--tb=line", "-p", "no:cacheprovider", "-W", REWRITTEN]
        code = int(pytest.main([*quiet, *arguments], plugins=[failed, *plugins]))
        if code in (2, 4) and not failed.names:  # a fault that lets nothing be imported
            failed.names.append(NOT_IMPORTED)
        if code in (0, 1, 2, 4, 5):  # 5: no test has these marks
            told.write_text(json.dumps(failed.names))
    finally:
        sys.stdout.flush()
        os._exit(code)


def caught_by(fault: Fault, tree: Path, before: str = "") -> str:
    """The first test that fails, or nothing; the one that failed before is asked first."""
    path = tree / fault.file
    whole = path.read_text()
    path.write_text(fault.planted(whole))
    try:
        # a test that was renamed since cannot be collected, which says nothing of the fault
        found = failures(tree, [before], NAMED, "-x") if "::" in before else []
        if found and found != [NOT_IMPORTED]:
            return found[0]
        if found := failures(tree, fault.tests, FAST, "-x"):
            return found[0]
        found = failures(tree, fault.tests, SLOW, "-x")
        if found and found != [OUT_OF_TIME]:  # slow tests may take so long without a fault
            return found[0]
    finally:
        path.write_text(whole)
    return SURVIVED


def caught(faults: Iterable[Fault], tree: Path, before: Found) -> Found:
    """What caught each fault; not those whose test fails without any fault too."""
    found = {}
    for fault in faults:
        found[fault[:4]] = test = caught_by(fault, tree, before.get(fault[:4], ""))
        what = f"{fault.file}: {fault.replacement.strip()[:70]!r}"
        print(f"{processor_seconds():.0f} s {what}: {test}", flush=True)
    tests = {test for test in found.values() if "::" in test}
    broken = failures(tree, sorted(tests), NAMED) if tests else []
    for name in broken:
        print(f"without any fault, {name} fails: mend that", flush=True)
    return {key: test for key, test in found.items() if test not in broken}


# Results -----------------------------------------------------------------------------------------


def results(path: Path) -> Found:
    """What caught each fault, by file, function, text and fault."""
    if not path.exists():
        return {}
    with path.open(newline="") as lines:
        return {
            tuple(row[c] for c in COLUMNS[:4]): row[COLUMNS[4]] for row in csv.DictReader(lines)
        }


def write(path: Path, found: Found, listed: list[Fault]) -> None:
    """Write them, in the order of the list and without faults that are no longer in it."""
    path.parent.mkdir(exist_ok=True)
    rows = [(*one[:4], found[one[:4]]) for one in listed if one[:4] in found]
    with path.open("w", newline="") as lines:
        csv.writer(lines).writerows([COLUMNS, *rows])


def processor_seconds() -> float:
    """Of this process and of those that it has waited for."""
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(sum(resource.getrusage(who)[:2]) for who in whose)


def options() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--faults", type=Path, default=HERE / "faults.toml", help="another list")
    parser.add_argument("--only", nargs="*", default=[""], help="of files whose path holds one")
    parser.add_argument("--sample", type=int, help="this many of them, at random")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--resume", action="store_true", help="survivors and those not planted yet")
    parser.add_argument("--seconds", type=float, default=1e9, help="processor seconds, about")
    parser.add_argument("--output", type=Path, default=HERE / "results" / "faults.csv")
    return parser.parse_args()


def chosen(asked: argparse.Namespace, listed: list[Fault]) -> list[Fault]:
    """The faults to plant."""
    faults = [one for one in listed if any(part in one.file for part in asked.only)]
    if asked.resume:
        done = results(asked.output)
        faults = [one for one in faults if done.get(one[:4], SURVIVED) == SURVIVED]
    if asked.sample:
        faults = random.Random(asked.seed).sample(faults, min(asked.sample, len(faults)))
    return faults


def main() -> int:
    """Plant them, print the survivors, and write what caught the others."""
    asked = options()
    listed = every_fault(asked.faults)
    faults = chosen(asked, listed)
    for library in LIBRARIES:
        importlib.import_module(library)
    planted: Found = {}
    with tempfile.TemporaryDirectory() as folder:
        tree = copied(Path(folder))
        for some in batched(faults, TOGETHER, strict=False):
            if processor_seconds() < asked.seconds:
                planted |= caught(some, tree, results(asked.output))
                write(asked.output, results(asked.output) | planted, listed)
    survivors = [key for key, test in planted.items() if test == SURVIVED]
    print(f"{len(planted) - len(survivors)} of {len(planted)} faults were caught")
    for file, function, text, fault in survivors:
        print(f"SURVIVED {file}, {function}: {text!r} -> {fault!r}")
    return 1 if survivors or len(planted) < len(faults) else 0


if __name__ == "__main__":
    sys.exit(main())
