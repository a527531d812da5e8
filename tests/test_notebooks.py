"""Notebooks run as they are, use what a user can use, and carry no output in the repository."""

import ast
from functools import reduce
from pathlib import Path
from types import ModuleType

import nbformat
import pytest
from nbclient import NotebookClient

import bayesjudge as bj

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


@each_notebook
def test_notebook_is_committed_without_outputs(path):
    for cell in cells(path):
        assert not cell.outputs, f"{path.name}: clear the outputs before committing"
        assert cell.execution_count is None, f"{path.name}: clear the outputs before committing"


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # Jupyter's own; the package's still show in the notebook
@each_notebook
def test_notebook_runs(path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(TOP))
    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": path.parent}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=where).execute()
