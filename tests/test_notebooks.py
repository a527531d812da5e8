"""Notebooks run as they are, use what a user can use, and show what they came to."""

import ast
import re
from functools import reduce
from pathlib import Path
from types import ModuleType

import nbformat
import pytest
from nbclient import NotebookClient

import bayesjudge as bj
from tools.notebooks import MACHINE, code_of, kept, ran

TOP = Path(__file__).parents[1]
NOTEBOOKS = sorted((TOP / "notebooks").glob("*.ipynb"))
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def cells(path):
    notebook = nbformat.read(path, as_version=4)
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def attributes(path):
    tree = ast.parse("\n".join(cell.source for cell in cells(path)))
    return [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]


def test_every_module_has_a_notebook():
    modules = {path.parent.name for path in (TOP / "tests").glob("*/contract_*.py")} - {"template"}
    assert len(modules) >= 5
    assert modules <= {path.stem for path in NOTEBOOKS}


@pytest.mark.every_setting
@pytest.mark.slow
@each_notebook
def test_notebook_names_only_what_is_public(path):
    for node in attributes(path):
        owner = ast.unparse(node.value)
        assert not node.attr.startswith("_"), f"{path.name}: {owner}.{node.attr}"
        first, *parts = owner.split(".")
        if first != "bj" or not all(part.isidentifier() for part in parts):
            continue
        found = reduce(getattr, parts, bj)
        if isinstance(found, ModuleType):
            assert node.attr in found.__all__, f"{path.name}: {owner}.{node.attr}"


@pytest.mark.every_setting
@pytest.mark.slow
@each_notebook
def test_outputs_are_of_the_code_beside_them_and_of_no_machine(path):
    """Those that are not: python tools/notebooks.py."""
    notebook = nbformat.read(path, as_version=4)
    assert ran(notebook) == code_of(notebook), "changed since it ran: python tools/notebooks.py"
    shown = [output for cell in cells(path) for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in shown), "no picture"
    for cell in cells(path):
        plots = re.search(r"\bplot_\w+\(", cell.source) and "def " not in cell.source
        drawn = any("image/png" in output.get("data", {}) for output in cell.outputs)
        assert drawn or not plots, f"no picture of {cell.source[-60:]!r}"
    text = "".join(
        str(o.get("text", "")) + str(o.get("data", {}).get("text/plain", "")) for o in shown
    )
    assert not MACHINE.search(text)
    assert all(output.output_type != "error" and kept(output) for output in shown)
    assert path.stat().st_size < 600_000


def shown(value):
    """Make what Jupyter would show of the value of a cell's last line."""
    for kind in ("_repr_html_", "_repr_markdown_"):
        if made := getattr(value, kind, None):
            made()
    return repr(value)


#: Those that compile for a minute or half of one.
LONG = {"extend", "models", "ratings"}


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # as in Jupyter, which shows them
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.study] * (path.stem in LONG))
        for path in NOTEBOOKS
    ],
)
def test_notebook_runs(path, monkeypatch):
    """In this process, which has imported and compiled what others need too."""
    monkeypatch.chdir(path.parent)
    scope = {"__name__": "__main__"}
    for cell in cells(path):
        tree = ast.parse(cell.source)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, path.name, "exec"), scope)
        if last is not None:
            shown(eval(compile(ast.Expression(last.value), path.name, "eval"), scope))


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_notebook_runs_in_jupyter(monkeypatch):
    """As `tools/notebooks.py` runs them all, when they are written."""
    monkeypatch.setenv("PYTHONPATH", str(TOP))
    notebook = nbformat.read(TOP / "notebooks" / "card.ipynb", as_version=4)
    where = {"metadata": {"path": TOP / "notebooks"}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=where).execute()
