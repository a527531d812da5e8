"""Run the fast tests near the files that changed: those that name or import them come first.

    python tools/near.py                            # what differs from main, committed or not
    python tools/near.py bayesjudge/bias/exact.py   # the tests of one file
    python tools/near.py -- -k rms -x               # what follows -- goes to pytest

Nothing has to be listed. It is the quick answer while writing; `make test` is the whole one.
"""

from __future__ import annotations

import argparse
import functools
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

TOP = Path(__file__).parents[1]
#: Folders whose modules are held to the contract.
MODULES = {path.parent.name for path in (TOP / "tests").glob("*/contract_*.py")}


def near(changed: str) -> list[str]:
    """Test files and folders near one file, the nearest first; none for a file without tests."""
    path = Path(changed)
    first, *folders = path.parts[:-1] or ("",)
    if first == "tests":
        is_test = path.name.startswith("test_")
        return [changed if is_test else str(path.parent)] if (TOP / changed).exists() else []
    if first == "benchmarks":
        study = "_".join([path.stem, *folders])
        return _there(f"tests/benchmarks/test_*{path.stem}*.py", f"tests/benchmarks/*{study}*.py")
    if first != "bayesjudge" or path.suffix != ".py":
        return []
    folder, stem = (folders or ["core"])[0], path.stem.strip("_")
    by_name = [f"tests/{folder}/test_*{stem}*.py", f"tests/test_*{stem}*.py"]
    more = {"core": "tests/test_core.py", **dict.fromkeys(MODULES, "tests/test_contract.py")}
    return _there(*by_name, *_importing(path), f"tests/{folder}", more.get(folder, ""))


def _importing(path: Path) -> list[str]:
    """Test files that import a file of the package by its name; those that are named so first."""
    package, name = ".".join(path.parts[:-1]).replace(".", r"\."), path.stem
    imports = re.compile(rf"from {package}(\.{name} import| import [^\n]*\b{name}\b)")
    tests = sorted(_tests().items(), key=lambda test: name not in Path(test[0]).stem)
    return [path for path, text in tests if imports.search(text)]


@functools.cache
def _tests() -> dict[str, str]:
    """The text of each test file, by its path."""
    found = sorted((TOP / "tests").rglob("test_*.py"))
    return {str(path.relative_to(TOP)): path.read_text() for path in found}


def _there(*patterns: str) -> list[str]:
    """Paths that exist, each once."""
    found = (p for pattern in patterns if pattern for p in sorted(TOP.glob(pattern)))
    return list(dict.fromkeys(str(p.relative_to(TOP)) for p in found))


def changed_files() -> list[str]:
    """What differs from main, and what git does not know yet."""
    base = _git("merge-base", "HEAD", "main") or ["HEAD"]
    return [
        *_git("diff", "--name-only", base[0]),
        *_git("ls-files", "--others", "--exclude-standard"),
    ]


def _git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=TOP, capture_output=True, text=True, check=False)
    return done.stdout.split("\n")[:-1]


def arguments_for(files: Iterable[str]) -> list[str]:
    """What pytest is told: where to look, and of the contract only the modules concerned."""
    files = list(files)
    where = list(dict.fromkeys(place for one in files for place in near(one)))
    modules = {Path(one).parts[1] for one in files if len(Path(one).parts) > 2} & MODULES
    if "tests/test_contract.py" in where:
        where += ["-k", " or ".join(["not test_contract", *sorted(modules)])]
    return where


def main() -> int:
    """Run the tests; the exit status is that of pytest."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*")
    own, more = sys.argv[1:], []
    if "--" in own:
        own, more = own[: own.index("--")], own[own.index("--") + 1 :]
    files = parser.parse_args(own).files or changed_files()
    where = arguments_for(files)
    if not where:
        print("no file that changed has tests near it")
        return 0
    print("pytest", *where, flush=True)
    return subprocess.call([sys.executable, "-m", "pytest", "-q", *where, *more], cwd=TOP)


if __name__ == "__main__":
    sys.exit(main())
