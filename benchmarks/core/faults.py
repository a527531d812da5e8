"""Is each planted fault caught by a test?

    python benchmarks/core/faults.py                              # all of faults.toml, one by one
    python benchmarks/core/faults.py --only panel/_em.py          # of one file, while writing it
    python benchmarks/core/faults.py --sample 8 --seed 3          # some of them, for CI

`faults.toml` lists faults by file: a text, what replaces it, and the tests that should notice. Each
is planted alone in a copy of the tree, and its tests run there until the first that fails. A fault
that no test notices survives; one whose text is not there once, and only once, is an error of the
list.
"""

from __future__ import annotations

import argparse
import compileall
import csv
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import NamedTuple

HERE = Path(__file__).parent
TOP = Path(__file__).parents[2]


class Fault(NamedTuple):
    """A text of a file, what replaces it, and the tests that should notice."""

    file: str
    text: str
    replacement: str
    tests: tuple[str, ...]

    def planted(self, source: str) -> str:
        """The file with the fault, or an error if the text is not there once."""
        found = source.count(self.text)
        if found != 1 or self.text == self.replacement:
            raise ValueError(f"{self.file}: {self.text!r} is there {found} times; mend faults.toml")
        return source.replace(self.text, self.replacement)


def every_fault() -> list[Fault]:
    """The list, in the order of the file."""
    listed = tomllib.loads((HERE / "faults.toml").read_text())
    return [
        Fault(f"bayesjudge/{file}", text, replacement, tuple(own or about["tests"]))
        for file, about in listed.items()
        for text, replacement, *own in about["faults"]
    ]


def copied(folder: Path) -> Path:
    """A copy of the tree whose compiled files know their sources by content."""
    tree = folder / "tree"
    left_out = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "results")
    shutil.copytree(TOP, tree, ignore=left_out)
    kind = PycInvalidationMode.CHECKED_HASH
    for part in ("bayesjudge", "tests"):
        compileall.compile_dir(tree / part, quiet=2, invalidation_mode=kind)
    return tree


def caught_by(fault: Fault, tree: Path) -> str:
    """The first test that fails, or nothing."""
    path = tree / fault.file
    whole = path.read_text()
    path.write_text(fault.planted(whole))
    try:
        return _first_failure(tree, fault.tests)
    finally:
        path.write_text(whole)


def _first_failure(tree: Path, tests: tuple[str, ...]) -> str:
    """Run tests of a tree until the first that fails."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=line", "-p", "no:cacheprovider"]
    about = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [*command, *tests], cwd=tree, env=about, capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return ""
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    if failed is None and done.returncode not in (1, 2):
        raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
    return failed[1] if failed else "not imported"


def main() -> int:
    """Plant them, print the survivors, and write what caught the others."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--only", default="", help="faults of files whose path holds this")
    parser.add_argument("--sample", type=int, help="this many of them, at random")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--output", type=Path, help="a CSV of what caught each")
    asked = parser.parse_args()
    faults = [one for one in every_fault() if asked.only in one.file]
    if asked.sample:
        faults = random.Random(asked.seed).sample(faults, min(asked.sample, len(faults)))
    survivors = []
    with tempfile.TemporaryDirectory() as folder:
        tree = copied(Path(folder))
        if failed := _first_failure(tree, tuple(dict.fromkeys(t for f in faults for t in f.tests))):
            print(f"without any fault, {failed} fails: mend that first")
            return 1
        rows = []
        for i, fault in enumerate(faults, 1):
            test = caught_by(fault, tree)
            survivors += [] if test else [fault]
            print(f"{i}/{len(faults)} {fault.file}: {fault.replacement.strip()[:70]!r}: "
                  f"{test or 'SURVIVED'}", flush=True)  # fmt: skip
            rows.append((fault.file, fault.text, fault.replacement, test or "survived"))
            if asked.output:
                with asked.output.open("w", newline="") as lines:
                    csv.writer(lines).writerows([("file", "text", "fault", "caught by"), *rows])
    print(f"{len(faults) - len(survivors)} of {len(faults)} faults were caught")
    for fault in survivors:
        print(f"SURVIVED {fault.file}: {fault.text!r} -> {fault.replacement!r}")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
