"""Run studies in their quick settings, and say what each takes.

    python tools/quick.py                          # every study
    python tools/quick.py bias/sbc panel           # those whose path has one of these in it

A study's docstring has a paragraph `Quick:` with the arguments that keep it below 20 processor
seconds. It runs in a copy of benchmarks/ without results, so that no stored result changes. The
first run on a machine compiles a study's models, which takes up to two minutes: what took longer is
run again, with the compiled code that it left.
"""

from __future__ import annotations

import argparse
import ast
import os
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).parents[1]
STUDIES = sorted((TOP / "benchmarks").glob("*/*.py"))
#: Processor seconds below which a study is quick, and of one process that may have to compile.
QUICK, LONGEST = 20, 120


def quick_of(study: Path) -> list[str] | None:
    """Arguments of its quick setting, if it has one; ``Quick: as it is.`` needs none."""
    paragraphs = (ast.get_docstring(ast.parse(study.read_text())) or "").split("\n\n")
    found = [" ".join(p.split()) for p in paragraphs if p.startswith("Quick:")]
    return shlex.split("".join(found[0].split("``")[1:2])) if found else None


def copy_of_benchmarks(folder: Path) -> Path:
    """A tree that has its own benchmarks/, with empty folders of results."""
    tree = folder / "tree"
    left_out = shutil.ignore_patterns("results", "__pycache__", ".*")
    shutil.copytree(TOP / "benchmarks", tree / "benchmarks", ignore=left_out)
    for module in (tree / "benchmarks").iterdir():
        if module.is_dir():
            (module / "results").mkdir()
    for name in ("bayesjudge", "tests", "tools", "docs", "pyproject.toml"):
        (tree / name).symlink_to(TOP / name)
    if (TOP.parent / "shared").exists():
        (folder / "shared").symlink_to(TOP.parent / "shared")
    return tree


def run(study: Path, arguments: list[str]) -> tuple[int, float, str]:
    """Exit code, processor seconds once it is compiled, and the end of what it printed."""
    code, seconds, printed = _run_once(study, arguments)
    if code or seconds < QUICK:
        return code, seconds, printed
    return _run_once(study, arguments)


def _run_once(study: Path, arguments: list[str]) -> tuple[int, float, str]:
    with tempfile.TemporaryDirectory() as folder:
        return _run_in(copy_of_benchmarks(Path(folder)), study, arguments)


def _run_in(tree: Path, study: Path, arguments: list[str]) -> tuple[int, float, str]:
    path = os.pathsep.join(filter(None, [str(TOP), os.environ.get("PYTHONPATH")]))
    before = _seconds()
    done = subprocess.run(
        [sys.executable, str(tree / study.relative_to(TOP)), *arguments],
        cwd=tree,
        env=os.environ | {"PYTHONPATH": path, "MPLBACKEND": "Agg"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST)),
        check=False,
    )
    return done.returncode, _seconds() - before, done.stdout[-2000:]


def _seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    """Run them; 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=[""])
    parts = parser.parse_args().parts
    failed = 0
    for study in STUDIES:
        name = str(study.relative_to(TOP / "benchmarks"))
        if not any(part in name for part in parts):
            continue
        arguments = quick_of(study)
        if arguments is None:
            print(f"    none    {name}", flush=True)
            continue
        code, seconds, printed = run(study, arguments)
        print(f"{seconds:6.1f} s  {name} {shlex.join(arguments)}", flush=True)
        if code:
            failed = 1
            print(f"exit {code}: {printed}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
