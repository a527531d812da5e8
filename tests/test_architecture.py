"""The rules of the house, but for who imports whom: import-linter has that, in pyproject.toml."""

import ast
import inspect
import pickle
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from conftest import ROOMS, simulated
from numpydoc.validate import validate

import bayesjudge as bj

PACKAGE = Path(bj.__file__).parent
TOP = PACKAGE.parent
PYPROJECT = tomllib.loads((TOP / "pyproject.toml").read_text())
MODULES = {path.relative_to(TOP).as_posix(): path.read_text() for path in PACKAGE.rglob("*.py")}
each_room = pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.__name__)


# Names and docstrings ---------------------------------------------------------------------------

DOCSTRING_RULES = {"GL07", "GL08", "PR01", "PR02", "PR03", "PR04", "PR07", "RT03", "SS03", "SS05"}


def broken_docstring_rules(name):
    return [text for rule, text in validate(name)["errors"] if rule in DOCSTRING_RULES]


def public_methods(cls):
    """Yield what the class itself defines or lends its own docstring to."""
    for name, member in vars(cls).items():
        function = getattr(member, "__func__", member)
        if inspect.isfunction(function) and not name.startswith("_"):
            yield name


@pytest.mark.parametrize("module", [bj, *ROOMS], ids=lambda module: module.__name__)
def test_public_names_are_sorted_and_documented(module):
    assert list(module.__all__) == sorted(module.__all__)
    broken = {}
    for name in module.__all__:
        public = getattr(module, name)
        if inspect.ismodule(public):
            continue
        methods = public_methods(public) if inspect.isclass(public) else ()
        for full in (name, *(f"{name}.{method}" for method in methods)):
            if errors := broken_docstring_rules(f"{module.__name__}.{full}"):
                broken[full] = errors
    assert not broken


DEFINITIONS = [
    (path, node)
    for path, text in MODULES.items()
    for node in ast.walk(ast.parse(text))
    if isinstance(node, ast.FunctionDef | ast.ClassDef)
]


def refuses(node, refusing=frozenset()):
    """Whether `node` raises, or calls by its bare name one of `refusing`."""
    called = {getattr(n.func, "id", "") for n in ast.walk(node) if isinstance(n, ast.Call)}
    return bool(called & refusing) or any(isinstance(n, ast.Raise) for n in ast.walk(node))


@pytest.fixture(scope="module")
def refusing():
    """Names of the helpers that raise: the private ones, and those made for it.

    A public function that passes its own arguments on may know that they are good, so that its
    callees' refusals are not counted as its own.
    """
    helpers = [
        node
        for _, node in DEFINITIONS
        if isinstance(node, ast.FunctionDef) and node.name.startswith(("_", "check", "require"))
    ]
    names = frozenset()
    while more := {helper.name for helper in helpers if refuses(helper, names)} - names:
        names |= more
    return names


def documents_raises(node):
    return "Raises\n------" in (ast.get_docstring(node) or "")


def test_a_public_function_that_refuses_says_so(refusing):
    """It has a section Raises, whether it raises itself or a helper does."""
    silent = [
        f"{path}: {node.name}"
        for path, node in DEFINITIONS
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
        if refuses(node, refusing) and not documents_raises(node)
    ]
    assert not silent


def test_a_class_that_refuses_says_so(refusing):
    silent = [
        f"{path}: {node.name}"
        for path, node in DEFINITIONS
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
        for method in node.body
        if getattr(method, "name", "") == "__post_init__"
        if refuses(method, refusing) and not documents_raises(node)
    ]
    assert not silent


def test_no_module_is_longer_than_600_lines():
    assert not {path: n for path, text in MODULES.items() if (n := len(text.splitlines())) > 600}


# What loads what --------------------------------------------------------------------------------

HEAVY = (
    *("arviz", "arviz_base", "arviz_plots", "arviz_stats", "matplotlib"),
    *("numba", "nutpie", "pymc", "pytensor"),
)


def run_python(code, stdin=b""):
    """Run `code` in a fresh interpreter; what it printed, split into words."""
    done = subprocess.run(
        [sys.executable, "-c", code], input=stdin, cwd=TOP, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().split()


TELL = f"print(*(name for name in {HEAVY!r} if name in sys.modules))"


def test_import_loads_nothing_heavy():
    assert run_python(f"import sys, bayesjudge; {TELL}") == []


EVERY_CLOSED_FORM = f"""
import importlib, inspect, pickle, sys
room = importlib.import_module({{room!r}})
formulas = importlib.import_module(room.__name__ + ".closed_form")
room.simulate(random_seed=1)
data = pickle.load(sys.stdin.buffer)
for name, formula in inspect.getmembers(formulas, inspect.isfunction):
    if name in room.__all__ and formula.__module__ == formulas.__name__:
        first, *others = inspect.signature(formula).parameters.values()
        suffices = all(o.default is not o.empty for o in others)
        if suffices and first.annotation in (type(data), type(data).__name__):
            formula(data)
            print("called:" + name)
{TELL}
"""


@each_room
def test_closed_forms_load_nothing_heavy(room):
    data = simulated(room, 1)
    words = run_python(EVERY_CLOSED_FORM.format(room=room.__name__), pickle.dumps(data))
    called = {word.removeprefix("called:") for word in words if word.startswith("called:")}
    assert ROOMS[room][1].__name__ in called
    assert [word for word in words if not word.startswith("called:")] == []


# Lists that must agree --------------------------------------------------------------------------


def test_environment_yml_asks_for_what_pyproject_asks_for():
    project = PYPROJECT["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["plots"]]
    conda = yaml.safe_load((TOP / "environment.yml").read_text())["dependencies"]
    listed = [line for line in conda if isinstance(line, str) and not line.startswith("pip")]
    assert sorted(listed) == sorted([*wanted, f"python{project['requires-python']}"])


def test_every_room_stands_in_the_import_contract():
    contracts = {c["id"]: c for c in PYPROJECT["tool"]["importlinter"]["contracts"]}
    storeys = contracts["storeys"]["layers"]
    rooms = [storey.split(" | ") for storey in storeys if "(" not in storey and storey != "core"]
    assert rooms == [sorted(room.__name__.split(".")[-1] for room in ROOMS)]


def test_one_version_everywhere():
    version = PYPROJECT["project"]["version"]
    assert bj.__version__ == version
    assert f"## [{version}]" in (TOP / "CHANGELOG.md").read_text()
