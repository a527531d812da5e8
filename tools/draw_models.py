"""Draw the graph of every model, for the docs.

    python tools/draw_models.py           # writes docs/graphs/README.md
    python tools/draw_models.py --check   # exits 1 if it is out of date

Each graph is `pymc.model_to_mermaid` of what ``build_model`` gives for small data: those of the
contract tests, which have a model of every kind. GitHub and most documentation tools draw Mermaid.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TOP = Path(__file__).parents[1]
PAGE = TOP / "docs" / "graphs" / "README.md"
HEAD = """# Graphs of the models

Written by `python tools/draw_models.py`. Round nodes are random variables, shaded ones observed,
boxes are computed or data; a box around several is repeated over the dimension that it names.
"""


def contracts() -> Iterator[Any]:
    """What the contract tests know of each module."""
    sys.path.insert(0, str(TOP / "tests"))
    for path in sorted((TOP / "tests").glob("*/contract_*.py")):
        if path.parent.name == "template":
            continue
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        found = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found)
        yield found.CONTRACT


def page() -> str:
    """One graph for each model class."""
    import pymc as pm

    parts = [HEAD]
    for one in contracts():
        drawn: set[str] = set()
        for model, data in one.models():
            name = type(model).__name__
            if name in drawn:
                continue
            drawn.add(name)
            text = (inspect.getdoc(type(model)) or "").partition("\n\n")[0]
            graph = in_order(pm.model_to_mermaid(one.module.build_model(data, model)).strip())
            title = f"{one.name}.{name}"
            parts.append(f"## {title}\n\n{text}\n\n```mermaid\n{graph}\n```\n")
    return "\n".join(parts)


def in_order(graph: str) -> str:
    """Sort plates and what is in them: PyMC has them in an order of hashes, which varies."""
    before, title, plates = graph.partition("%% Plates:")
    blocks = [plate.strip().splitlines() for plate in plates.split("\nend") if plate.strip()]
    sorted_blocks = sorted("\n".join([head, *sorted(names), "end"]) for head, *names in blocks)
    return "\n".join([before + title, *sorted_blocks])


def main(arguments: list[str]) -> int:
    """Write the page, or say whether it is up to date."""
    text = page()
    if "--check" in arguments:
        return int(not PAGE.exists() or PAGE.read_text() != text)
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(text)
    print(f"{PAGE.relative_to(TOP)}: {text.count('```mermaid')} graphs")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
