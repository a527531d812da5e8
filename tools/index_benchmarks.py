"""Write benchmarks/README.md: for each study its claim, command, figures and tables.

    python tools/index_benchmarks.py           # writes the index
    python tools/index_benchmarks.py --check   # exits 1 if it is out of date

The claim is the first line of a study's docstring; what it found is the paragraph that begins with
``Found:``. Results lie beside a study in ``results/`` and begin with its name.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

HERE = Path(__file__).parents[1] / "benchmarks"
INDEX = HERE / "README.md"


def row(script: Path, others: list[str]) -> str:
    """One line of the table."""
    paragraphs = (ast.get_docstring(ast.parse(script.read_text())) or "").split("\n\n")
    found = next((p for p in paragraphs if p.startswith("Found:")), "")
    name = script.stem
    longer = tuple(f"{other}" for other in others if other.startswith(f"{name}_"))
    results = [
        path
        for path in sorted((script.parent / "results").glob(f"{name}*"))
        if path.suffix in (".csv", ".md", ".png")
        and (path.stem == name or path.stem.startswith(f"{name}_"))
        and not path.stem.startswith(longer or ("\0",))
    ]
    links = ", ".join(f"[{p.name}]({p.relative_to(HERE).as_posix()})" for p in results)
    words = " ".join(found.removeprefix("Found:").split())
    command = f"`python {script.relative_to(HERE.parent).as_posix()}`"
    return f"| {' '.join(paragraphs[0].split())} | {command} | {words} | {links} |"


def index() -> str:
    """The whole page."""
    lines = ["# Studies", "", "Made by `python tools/index_benchmarks.py`."]
    for folder in sorted(path for path in HERE.iterdir() if path.is_dir()):
        scripts = sorted(folder.glob("*.py"))
        if not scripts:
            continue
        lines += ["", f"## {folder.name}", "", "| question | command | found | results |"]
        lines += ["|---|---|---|---|"]
        lines += [row(script, [other.stem for other in scripts]) for script in scripts]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(INDEX.read_text() != index())
    INDEX.write_text(index())
