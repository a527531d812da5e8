"""Rules of the code base, but for which layer imports which: import-linter has that."""

import ast
import inspect
import pickle
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from commands import Command, commands
from conftest import MODULES as CONTRACTS
from numpydoc.validate import validate
from readings import readings

import bayesjudge as bj
from bayesjudge import decide, judge, lab, prevalence, rubric
from bayesjudge.cli import main
from bayesjudge.core.words import words_in
from bayesjudge.readers.formats.promptfoo import UNPARSED

PACKAGE = Path(bj.__file__).parent
TOP = PACKAGE.parent
CONTRIBUTING = TOP / "CONTRIBUTING.md"
PYPROJECT = tomllib.loads((TOP / "pyproject.toml").read_text())
FILES = {path.relative_to(TOP).as_posix(): path.read_text() for path in PACKAGE.rglob("*.py")}
OWN = [one for one in CONTRACTS if not one.name.startswith("pass_share")]
PUBLIC = [bj, decide, judge, lab, rubric, *(one.module for one in CONTRACTS)]
sys.path.insert(0, str(TOP / "tools"))

import phrases  # noqa: E402
import structure  # noqa: E402

each_module = pytest.mark.parametrize("one", CONTRACTS, ids=lambda one: one.name)


# Sentences --------------------------------------------------------------------------------------


#: Of the command line's library, which has no field for what it guesses; and of graders in logs of
#: promptfoo.
READ = {
    "bayesjudge/cli/app.py": {"'Did you mean' in message"},
    "bayesjudge/readers/formats/promptfoo.py": {repr(UNPARSED.pattern)},
}


@pytest.fixture(scope="module")
def trees():
    """Every file of the package as Python reads it."""
    return {path: ast.parse(text) for path, text in FILES.items()}


@pytest.mark.slow
def test_no_code_reads_a_sentence_of_our_own(trees):
    """What is compared, looked for in a text or replaced in it."""
    read = {}
    for path, tree in trees.items():
        for node in filter(phrases.holds_phrase, phrases.searched(tree)):
            read.setdefault(path, set()).add(ast.unparse(node))
    assert read == READ


@pytest.mark.slow
def test_choices_stand_in_one_order():
    """Python keeps one order of a `Literal`, that which it met first: imports would decide it."""
    orders = {}
    for path, text in FILES.items():
        for listed in re.findall(r"\bLiteral\[(.*?)\]", text, re.DOTALL):
            choices = tuple(filter(None, map(str.strip, listed.split(","))))
            orders.setdefault(frozenset(choices), {}).setdefault(choices, path)
    assert not [different for different in orders.values() if len(different) > 1]


@pytest.mark.slow
def test_each_sentence_of_a_problem_is_asked_for():
    code = "".join(FILES.values())
    problems = words_in("bayesjudge.core")["sentences"]["problems"]
    assert not [id for id in problems if f'"{id}"' not in code and id not in COMPOSED]


#: Ids that are put together.
COMPOSED = {"repeats-of-systems", "repeats-of-judges", "repeats-of-perhaps-judges"}


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


@pytest.mark.every_setting
@pytest.mark.slow
@pytest.mark.parametrize("module", PUBLIC, ids=lambda module: module.__name__)
def test_public_names_are_documented(module):
    names = [name for name in module.__all__ if name != "pass_share"]
    broken = {}
    for name in names:
        public = getattr(module, name)
        if inspect.ismodule(public):
            continue
        methods = public_methods(public) if inspect.isclass(public) else ()
        for full in (name, *(f"{name}.{method}" for method in methods)):
            if errors := broken_docstring_rules(f"{module.__name__}.{full}"):
                broken[full] = errors
    assert not broken


@pytest.fixture(scope="module")
def definitions(trees):
    """Every function and class of the package, with its file."""
    return [
        (path, node)
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]


#: The module of each exported function and class, and its name there: others may be called so too.
EXPORTED = {
    (public.__module__, public.__name__)
    for public in (getattr(module, name) for module in PUBLIC for name in module.__all__)
    if inspect.isclass(public) or inspect.isroutine(inspect.unwrap(public))
}


def refuses(node, refusing=frozenset()):
    """Whether `node` raises, or calls by its bare name one of `refusing`."""
    called = {getattr(n.func, "id", "") for n in ast.walk(node) if isinstance(n, ast.Call)}
    return bool(called & refusing) or any(isinstance(n, ast.Raise) for n in ast.walk(node))


@pytest.fixture(scope="module")
def refusing(definitions):
    """Names of the helpers that raise: the private ones, and those made for it.

    A public function that passes its own arguments on may know that they are good, so that its
    callees' refusals are not counted as its own.
    """
    helpers = [
        node
        for _, node in definitions
        if isinstance(node, ast.FunctionDef) and node.name.startswith(("_", "check", "require"))
    ]
    names = frozenset()
    while more := {helper.name for helper in helpers if refuses(helper, names)} - names:
        names |= more
    return names


@pytest.mark.slow
def test_an_exported_name_that_refuses_says_so(definitions, refusing):
    """It has a section Raises, whether it raises itself or a helper does."""
    silent, seen = [], set()
    for path, node in definitions:
        home = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        if (home, node.name) not in EXPORTED:
            continue
        seen.add((home, node.name))
        body = node
        if isinstance(node, ast.ClassDef):
            body = next((m for m in node.body if getattr(m, "name", "") == "__post_init__"), None)
        documented = "Raises\n------" in (ast.get_docstring(node) or "")
        if body is not None and refuses(body, refusing) > documented:
            silent.append(f"{path}: {node.name}")
    assert not silent
    assert all(home.startswith("bayesjudge.pass_share") for home, _ in EXPORTED - seen)  # a test's


@pytest.mark.slow
def test_what_is_refused_is_said_with_if():
    """And no house metaphor is left anywhere: STYLE's words."""
    texts = {**FILES, **{str(p): p.read_text() for p in (TOP / "tests" / "template").rglob("*.py")}}
    said = [name for name, text in texts.items() if re.search(r"Raises\n +-+\n.*\n +Where ", text)]
    metaphor = re.compile(r"\b(rooms?|furniture|storeys?|guests?)\b", re.IGNORECASE)
    assert not said + [name for name, text in texts.items() if metaphor.search(text)]


# Who imports whom -------------------------------------------------------------------------------


def circles_of(root):
    """Files that import each other, as the tool finds them."""
    return structure.circles(structure.arrows(structure.trees_of(root)))


@pytest.fixture(scope="module")
def package_arrows():
    """Which files each file of the package imports."""
    return structure.arrows(structure.trees_of(TOP))


@pytest.mark.slow
def test_no_file_imports_itself_by_way_of_others(package_arrows):
    assert not structure.circles(package_arrows)


#: Files that import each other, the way back last.
CIRCLES = {
    "a folder's own file": {
        "a/__init__.py": "from bayesjudge.a.b import x",
        "a/b.py": "from bayesjudge import a",
    },
    "types": {
        "a/c.py": "from bayesjudge.a.b import x",
        "a/b.py": "if TYPE_CHECKING:\n    from bayesjudge.a import c",
    },
    "inside a function": {
        "a/c.py": "import bayesjudge.a.b as b",
        "a/b.py": "def f():\n    import bayesjudge.a.c",
    },
    "three files": {
        "a/c.py": "from bayesjudge.d import e",
        "d/e.py": "import bayesjudge.a.b",
        "a/b.py": "from bayesjudge.a.c import x",
    },
    "the package itself": {
        "__init__.py": "version = 1\nif TYPE_CHECKING:\n    from bayesjudge.a import b",
        "a/b.py": "def f():\n    from bayesjudge import version",
    },
}


@pytest.mark.parametrize("files", CIRCLES.values(), ids=CIRCLES)
def test_a_circle_that_is_planted_is_found(files, tmp_path):
    for path, text in files.items():
        file = tmp_path / "bayesjudge" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (circle,) = circles_of(tmp_path)
    names = [f"bayesjudge.{path.removesuffix('.py').replace('/', '.')}" for path in files]
    assert circle == sorted(name.removesuffix(".__init__") for name in names)
    file.write_text("")
    assert not circles_of(tmp_path)


@pytest.mark.parametrize("folder", ["bayesjudge.lab", "bayesjudge.ratings.experiment"])
@pytest.mark.slow
def test_nothing_imports_an_add_on(folder, package_arrows):
    graph = package_arrows
    own = set(structure.within(graph, folder))
    assert own
    # the package's own file offers them by name, and imports them when they are asked for
    assert {name for name, targets in graph.items() if targets & own} <= own


@pytest.mark.slow
def test_the_picture_of_the_modules_is_the_one_of_today():
    """`make index` draws it."""
    text = CONTRIBUTING.read_text()
    assert structure.with_picture(text, TOP) == text


def files_named(text):
    """Files between backticks, with their folders."""
    return re.findall(r"`(\w+/[\w/]+\.py)`", text)


def test_every_file_that_contributing_names_exists():
    found = files_named(CONTRIBUTING.read_text())
    named = [one for one in found if "my_module" not in one]
    assert len(named) > 15
    assert not [one for one in named if not any((at / one).exists() for at in (TOP, PACKAGE))]


@pytest.mark.sampling
def test_a_number_goes_the_way_that_contributing_tells(tmp_path, monkeypatch, capsys):
    """Its command is run: each file named is entered."""
    _, way = CONTRIBUTING.read_text().split("One number's way")
    way = way.split("\n## ")[0]
    program, *command = shlex.split(re.search(r"`(bayesjudge .+?)`", way)[1])
    monkeypatch.chdir(tmp_path)
    prevalence.simulate(items=300, labelled=100, random_seed=1).to_csv("labels.csv", index=False)
    entered = set()

    def note(code, _):
        entered.add(code.co_filename)
        return sys.monitoring.DISABLE

    sys.monitoring.use_tool_id(sys.monitoring.PROFILER_ID, program)
    try:
        start = sys.monitoring.events.PY_START
        sys.monitoring.register_callback(sys.monitoring.PROFILER_ID, start, note)
        sys.monitoring.set_events(sys.monitoring.PROFILER_ID, start)
        sys.monitoring.restart_events()
        code = main(command)
    finally:
        sys.monitoring.free_tool_id(sys.monitoring.PROFILER_ID)
    assert code == 0, capsys.readouterr().err
    named = files_named(way)
    assert len(named) > 10
    assert not [one for one in named if str(PACKAGE / one) not in entered]


# What loads what --------------------------------------------------------------------------------

#: Nothing of this is loaded before a model is sampled or drawn.
SAMPLERS = (
    *("arviz", "arviz_base", "arviz_plots", "arviz_stats", "matplotlib"),
    *("numba", "nutpie", "pymc", "pytensor", "xarray"),
)


def loaded_by(code, names=SAMPLERS, stdin=b""):
    """Run `code` in a fresh interpreter: which of `names` it loaded, and the words it printed."""
    tell = f"; import sys; print(*(n for n in {names!r} if n in sys.modules), 'end')"
    done = subprocess.run(
        [sys.executable, "-c", code + tell], input=stdin, cwd=TOP, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().split()[:-1]


@pytest.mark.slow
def test_import_loads_next_to_nothing():
    assert loaded_by("import bayesjudge", (*SAMPLERS, "numpy", "pandas", "scipy")) == []


#: What a command without sampling reads a file with, counts and prints; SciPy for Beta quantiles.
ALLOWED = {"numpy", "scipy", "pyarrow", "cyclopts", "rich"}
HEAVY = (
    "narwhals",
    "pandas",
    "polars",
    "scipy.stats",
    "scipy.optimize",
    "sympy",
    "jinja2",
    *("pyarrow.compute", "pyarrow.parquet"),
    *(f"bayesjudge.prevalence.{other}" for other in ("budget", "classes", "items", "people")),
    *("bayesjudge.judge", "bayesjudge.prevalence.scores"),
    *sorted(ALLOWED),
)


@pytest.mark.slow
def test_a_command_without_sampling_loads_what_it_uses(tmp_path):
    """Packages, not seconds: what a busy machine takes says nothing."""
    labels = tmp_path / "labels.csv"
    cells = [("1", "1")] * 60 + [("1", "0")] * 12 + [("0", "0")] * 20 + [("0", "1")] * 8
    rows = ["verdict,truth,id", *(f"{v},{t},a" for v, t in cells), *["1,,b"] * 300, *["0,,b"] * 200]
    labels.write_text("\n".join(rows))
    named = ["--verdict", "verdict", "--truth", "truth", "--calibration", "random"]
    arguments = ["prevalence", str(labels), *named, "--no-nuts"]
    code = f"from bayesjudge.cli import main; main({arguments!r})"
    loaded = set(loaded_by(code, (*SAMPLERS, *HEAVY))) & {*SAMPLERS, *HEAVY}
    assert loaded == ALLOWED


def with_tables():
    """Commands of `commands`, those whose JSON has no numbers of a table, and their tables."""
    read, end = readings(), ["--no-nuts"]
    attempts = bj.attempts.simulate(tasks=6, random_seed=1)
    both = {"verdict": "verdict", "truth": "truth"}
    battles = {"first": "shown", "second": "beside", "verdict": "won", "people": "human"}
    return {
        **commands(),
        "judge": commands()["prevalence"]._replace(words=["judge"]),
        "attempts": Command(["attempts"], attempts, both, ["--calibration=random", *end]),
        "leaderboard": Command(["leaderboard"], read["Battles"].table, battles, end),
    }


#: Each takes longer to load than most commands to compute.
SLOW = ("narwhals", "pandas", "scipy.optimize", "scipy.stats")
FRAMES = {"narwhals", "pandas"}
#: Commands that have use for some: Sobol points, monotone curves, a posterior as xarray's, frames.
USED = {
    "prevalence of people": {"pandas", "scipy.optimize", "scipy.stats"},
    "prevalence of scores": {*FRAMES, "scipy.optimize"},
    "ratings": FRAMES,
    "repeats report": FRAMES,
    "repeats report of a wide table": FRAMES,
    "bias": FRAMES,
    "bias orders of verdicts": FRAMES,
    "drift": FRAMES,
    "judge": FRAMES,
    "attempts": {"scipy.optimize", "scipy.stats"},
    "leaderboard": {"pandas"},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", with_tables())
def test_a_command_loads_what_is_slow_only_if_it_has_use_for_it(name, tmp_path):
    command = with_tables()[name]
    command.table.to_csv(tmp_path / "rows.csv", index=False)
    line = [word for word in command.line(tmp_path / "rows.csv") if word != "--json"]
    code = f"from bayesjudge.cli import main; assert main({line!r}) in (0, 1, 3)"
    assert {*SLOW} & {*loaded_by(code, SLOW)} == USED.get(name, set())


EVERY_CLOSED_FORM = f"""
import importlib, pickle, sys
sys.path.insert(0, "tests")
import bayesjudge as bj
bj.__path__.append("tests/template")

def ask(name, data):
    module = importlib.import_module(name)
    module.simulate(random_seed=1)
    module.closed_forms(pickle.loads(data))
    assert not {{*{SAMPLERS}}} & {{*sys.modules}}, name

[ask(*one) for one in pickle.load(sys.stdin.buffer)]"""


@pytest.mark.slow
def test_closed_forms_load_no_sampler():
    """One process asks one module after the other, and ends at the first that loads one."""
    asked = [(one.module.__name__, pickle.dumps(one.simulated(1))) for one in CONTRACTS]
    assert loaded_by(EVERY_CLOSED_FORM, stdin=pickle.dumps(asked)) == []


# Lists that must agree --------------------------------------------------------------------------


def test_environment_yml_asks_for_what_pyproject_asks_for():
    project = PYPROJECT["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["plots"]]
    conda = yaml.safe_load((TOP / "environment.yml").read_text())["dependencies"]
    listed = [line for line in conda if isinstance(line, str) and not line.startswith("pip")]
    assert sorted(listed) == sorted([*wanted, f"python{project['requires-python']}"])


def test_every_module_stands_in_the_import_contract():
    contracts = {c["id"]: c for c in PYPROJECT["tool"]["importlinter"]["contracts"]}
    layers = contracts["layers"]["layers"]
    listed = next(layer.split(" | ") for layer in layers if " | " in layer)
    assert listed == sorted({one.name.split(".")[0] for one in OWN})


def test_one_version_everywhere():
    version = PYPROJECT["project"]["version"]
    assert bj.__version__ == version
    assert f"\nversion: {version}\n" in (TOP / "CITATION.cff").read_text()
    assert f"## [{version}]" in (TOP / "CHANGELOG.md").read_text()
