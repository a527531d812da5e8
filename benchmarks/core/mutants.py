"""Of mutants drawn at random, which does a test notice?

    make mutants N=200 SEED=1                                # map the tests, draw, run; resumes
    python benchmarks/core/mutants.py --count 60 --tiers fast
    python benchmarks/core/mutants.py --packages core truth  # of these alone
    python benchmarks/core/mutants.py --seed 3 --show        # print the mutants and run nothing

A mutant is one small fault: another operator, constant, comparison or index, two arguments
swapped, a term dropped. Kinds are drawn first, then one of its places in the package (all but words
and pictures), so that none is rare; a seed gives the same mutants of the same code. Nothing is kept
as a list. Against each run the tests that execute its lines, as recorded by `tools/executed.py`:
fast ones first, then slow and sampling ones of the tiers that were recorded, until the first that
fails; last comes mypy, as `make test` runs it. Two processes share the mutants. Each has imported
the package and collected the tests once: for each mutant it forks, and gives one function other
code; what runs as a file is imported is imported anew. A run that is interrupted goes on. Mutants
of which a person has shown that they change nothing stand in `equivalent.toml` with the reason, and
are not counted.

mutmut 3 and cosmic-ray were looked at. mutmut writes every mutant of a function into one file and
runs pytest in a process that has imported it: no seeded sample of all kinds, no swapped arguments
and dropped terms, and names of the package that tests compare (sources, pickles, graphs) change.
cosmic-ray starts pytest anew for each mutant, 4 to 10 seconds here, without a choice of tests.

Quick: ``--seed 3 --count 20 --show``

Found: of mutants drawn from the whole package that are not equivalent, fast tests catch 71 of 90 of
seed 20261202 (.789, standard error .043) and 57 of 77 of seed 20261203 (.740, standard error .050).
On the code with tests for what survived, fast tests catch 63 of 78 of seed 20261204 (.808, standard
error .045), and execute .950 of the lines within functions, .904 before. With slow tests that
execute the line, up to 60 processor seconds of them, sampling ones and mypy 80, 69 and 71 are
caught: .898 of the three (standard error .019), .910 of the last (standard error .032). Comparisons
are missed most: 7 of 13, of indices 12 of 15, of dropped terms 15 of 16 are seen (seed 20261202).

Found before, on older code: fast tests caught .839 of 62 (standard error .047) of seed 20261130,
.719 of 64 (standard error .056) of seed 20261201, and of parts of the package .679 of 53 (standard
error .064) of seed 45, .717 of 46 of seed 9203, .636 of 33 of seed 2711 and .821 of 67 (standard
error .047) of seeds 9502 and 9602; with slow and sampling tests near the file, up to 96 processor
seconds of them for each survivor, .881 of those 67 (standard error .040). The bars, .85 by fast
tests and .92 by all of 600, are missed.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import csv
import fcntl
import gc
import importlib
import importlib.machinery
import inspect
import os
import pkgutil
import random
import resource
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import pytest

HERE = Path(__file__).parent
TOP = Path(__file__).parents[2]
sys.path[:0] = [str(TOP), str(TOP / "tests")]
from planting import _span  # noqa: E402

from benchmarks.core.faults import LIBRARIES, OUT_OF_TIME, SURVIVED, failures  # noqa: E402
from tools.executed import FAST, SAMPLING, SLOW, Executed  # noqa: E402

Maps = Mapping[str, Executed]
#: Beside the results of a seed: which test executes which line.
STORE = TOP / ".mutants"
TIERS = {
    FAST: "not sampling and not slow and not study",
    SLOW: "slow and not sampling and not study",
    SAMPLING: "sampling and not study",
}
COLUMNS = ("seed", "place", "kind", "file", "line", "function", "before", "after", "caught_by")
NOT_EXECUTED = "no test executes it"
LIVES = (SURVIVED, NOT_EXECUTED)
#: To the first failure, with the package loaded as `at_import` has it and not as pytest would.
PLAIN = ("-x", "--assert=plain")
#: Tests of what is read without being run.
SIGNATURES = "tests/test_signatures.py"
#: Caught by mypy, which `make test` runs before the tests.
TYPES = "types"
#: Processor seconds, as recorded, of the tests of a tier that one mutant is worth.
MOST = {FAST: 40.0, SLOW: 60.0, SAMPLING: 60.0}
LEFT_OUT = ("plots.py", "__init__.py", "words.py", "version.py", "_words.py", "word_forms.py")

OTHER_OPERATOR: dict[type, type] = {
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult},
    **{ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult},
    **{ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.And: ast.Or, ast.Or: ast.And},
}
OTHER_COMPARISON: dict[type, type] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt},
    **{ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is},
    **{ast.In: ast.NotIn, ast.NotIn: ast.In},
}
_PAIRS = {
    **{"min": "max", "all": "any", "minimum": "maximum", "ceil": "floor", "argmin": "argmax"},
    **{"zeros": "ones", "sqrt": "square", "log": "log1p", "cdf": "sf", "first": "last"},
}
OTHER_NAME = _PAIRS | {b: a for a, b in _PAIRS.items()}

#: Functions of which the first two arguments may change places.
COMMUTE = {"max", "min", "maximum", "minimum", "hypot", "logaddexp", "isclose", "intersect1d"}


class Mutant(NamedTuple):
    """A small fault at one place."""

    kind: str
    file: str
    line: int
    last_line: int
    #: Of the whole expression of a statement: within one, Python tells of few lines.
    expression: tuple[int, int]
    function: str
    before: str
    after: str
    begin: int
    end: int

    @property
    def named(self) -> str:
        """Where and what."""
        return f"{self.file}:{self.line} {self.function}: {self.before!r} -> {self.after!r}"


# Drawing -----------------------------------------------------------------------------------------


def variants(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Each kind of fault that an expression can have."""
    match node:
        case ast.BinOp(left, op, right) if not (_is_text(left) or _is_text(right)):
            if type(op) in OTHER_OPERATOR:
                yield "operator", ast.BinOp(left, OTHER_OPERATOR[type(op)](), right)
            yield "dropped term", left
            yield "dropped term", right
        case ast.BoolOp(op, values):
            yield "operator", ast.BoolOp(OTHER_OPERATOR[type(op)](), values)
            for i in range(len(values)):
                kept = values[:i] + values[i + 1 :]
                yield "dropped term", kept[0] if len(kept) == 1 else ast.BoolOp(op, kept)
        case ast.UnaryOp(ast.USub() | ast.Not(), operand) if not isinstance(operand, ast.Constant):
            yield "operator", operand
        case ast.Compare(left, [op], [right]):
            yield "comparison", ast.Compare(left, [OTHER_COMPARISON[type(op)]()], [right])
        case ast.IfExp(test, body, orelse):
            yield "comparison", ast.IfExp(test, orelse, body)
        case ast.Constant(bool(value)):
            yield "constant", ast.Constant(not value)
        case ast.Constant(int(value)):
            yield "constant", ast.Constant(value + 1)
        case ast.Constant(float(value)):
            yield "constant", ast.Constant(2 * value if value else 1.0)
        case ast.Subscript(value, ast.Constant(int(at)), ctx):
            yield "index", ast.Subscript(value, ast.Constant(at + 1), ctx)
        case ast.Subscript(value, ast.Slice(lower, upper, step), ctx) if lower or upper:
            yield "index", ast.Subscript(value, ast.Slice(None, upper and lower, step), ctx)
        case ast.Call(called, [first, second, *rest], keywords) if not any(
            isinstance(one, ast.Starred) for one in (first, second)
        ):
            alike = ast.unparse(first) == ast.unparse(second)
            if not alike and ast.unparse(called).rpartition(".")[2] not in COMMUTE:
                yield "swapped arguments", ast.Call(called, [second, first, *rest], keywords)
        case _:
            pass
    match node:
        case ast.Call(ast.Attribute(owner, name, ctx), arguments, keywords) if name in OTHER_NAME:
            other = ast.Attribute(owner, OTHER_NAME[name], ctx)
            yield "operator", ast.Call(other, arguments, keywords)
        case ast.Call(ast.Name(name, ctx), arguments, keywords) if name in OTHER_NAME:
            yield "operator", ast.Call(ast.Name(OTHER_NAME[name], ctx), arguments, keywords)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def places(
    tree: ast.AST, function: str = "", whole: ast.expr | None = None
) -> Iterator[tuple[str, ast.expr, ast.expr]]:
    """Expressions that compute, each with the whole one that it is a part of.

    They are neither types, nor texts, nor what an error says.
    """
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or isinstance(node, ast.Raise | ast.JoinedStr):
                continue
            if isinstance(node, ast.keyword) and node.arg == "strict":  # of zip: lengths agree
                continue
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                continue
            inner = function
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                inner = f"{function}.{node.name}".lstrip(".")
            top = None if isinstance(node, ast.stmt) else whole
            if isinstance(node, ast.expr):
                top = top or node
                yield function, node, top
            yield from places(node, inner, top)


def every_mutant(top: Path = TOP, packages: Collection[str] = ()) -> dict[str, list[Mutant]]:
    """By kind, in the order of files and places; of these packages, if any is named."""
    found = defaultdict(list)
    for path in sorted((top / "bayesjudge").rglob("*.py")):
        if path.name in LEFT_OUT or "words" in path.parts:
            continue
        if packages and path.relative_to(top).parts[1] not in packages:
            continue
        source = path.read_text()
        for function, node, whole in places(ast.parse(source)):
            expression = (whole.lineno, whole.end_lineno or whole.lineno)
            for kind, other in variants(node):
                begin, end = _span(source, node)
                before, after = ast.unparse(node), ast.unparse(ast.fix_missing_locations(other))
                if before != after:
                    file = str(path.relative_to(top))
                    lines = (node.lineno, node.end_lineno or node.lineno, expression)
                    about = (function, before, after, begin, end)
                    found[kind].append(Mutant(kind, file, *lines, *about))
    return found


def drawn(count: int, seed: int, packages: Collection[str] = ()) -> list[Mutant]:
    """As many of each kind, but for chance."""
    every, rng = every_mutant(packages=packages), random.Random(seed)
    kinds = sorted(every)
    chosen: dict[Mutant, None] = {}
    while len(chosen) < count:
        chosen[rng.choice(every[rng.choice(kinds)])] = None
    return list(chosen)


def equivalent() -> dict[tuple[str, str, str, str], str]:
    """Reasons why mutants change nothing, by file, function, before and after."""
    listed = tomllib.loads((HERE / "equivalent.toml").read_text())
    return {
        (file, function, before, after): reason
        for file, rows in listed.items()
        for function, before, after, reason in rows
    }


# Running -----------------------------------------------------------------------------------------


class Chosen:
    """Of the tests collected, those chosen, in that order; as a plugin of pytest."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = {name: place for place, name in enumerate(names)}

    def pytest_collection_modifyitems(self, items: list) -> None:
        """Keep them."""
        items[:] = [item for item in items if item.nodeid in self.names]
        items.sort(key=lambda item: self.names[item.nodeid])


def recorded(tier: str) -> Executed:
    """Which tests of a tier execute which lines; recorded once, until its file is removed."""
    path = STORE / f"{tier}.json"
    if not path.exists():
        print(f"recording which line each {tier} test executes", flush=True)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p"]
        command += ["tools.executed", "--executed", str(path), "-m", TIERS[tier], "tests"]
        subprocess.run(command, cwd=TOP, check=False)
    return Executed.read(path)


def choice_for(mutant: Mutant, maps: Maps, skipped: Collection[str] = ()) -> dict[str, str]:
    """Tests that execute it, with their tiers, but for those `skipped`.

    Of each tier those that hold defaults, those of its own module and quick ones come first.
    """
    folder = mutant.file.split("/")[1].removesuffix(".py")
    found = {}
    for tier, known in maps.items():
        places = known.running(mutant.file, mutant.line, mutant.last_line)
        places = places or known.running(mutant.file, *mutant.expression)
        if not places and not codes_of(mutant):  # it runs as the file is imported
            of_defaults = [i for i, one in enumerate(known.tests) if one[0].startswith(SIGNATURES)]
            places = [*known.running(mutant.file), *of_defaults]
        tests = [known.tests[i] for i in places]
        spent = 0.0
        order = [(not n.startswith(SIGNATURES), n.split("/")[1] != folder, s) for n, s, _ in tests]
        for _, (name, seconds, _) in sorted(zip(order, tests, strict=True)):
            if spent <= MOST[tier] and name not in skipped:
                found[name] = tier
                spent += seconds
    return found


def mutated(mutant: Mutant) -> str:
    """The file with the mutant, in as many lines as before."""
    whole = (TOP / mutant.file).read_text()
    lines = "\n" * whole.count("\n", mutant.begin, mutant.end)
    return f"{whole[: mutant.begin]}({mutant.after}{lines}){whole[mutant.end :]}"


def functions_of(code: CodeType) -> Iterator[CodeType]:
    """Functions of a module and of its classes, without those within functions."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            is_function = inner.co_flags & inspect.CO_OPTIMIZED
            yield from [inner] if is_function else functions_of(inner)


def codes_of(mutant: Mutant) -> list[tuple[CodeType, CodeType]]:
    """Code of its function without and with it; none if it runs as the file is imported."""
    path = TOP / mutant.file
    sources = path.read_text(), mutated(mutant)
    both = (functions_of(compile(one, str(path), "exec", dont_inherit=True)) for one in sources)
    pairs = list(zip(*both, strict=False))
    return [(a, b) for a, b in pairs if a != b and len(a.co_freevars) == len(b.co_freevars)]


def place_of(code: CodeType) -> tuple[str, str, int]:
    """Which function it is of."""
    return code.co_filename, code.co_qualname, code.co_firstlineno


class Planted:
    """Run each mutant in a fork of the process that has collected the tests, as its plugin.

    The function gets the code that it would have with the mutant: nothing is imported anew, so that
    a mutant costs no more than its tests.
    """

    def __init__(self, mutants: dict[Mutant, int], seed: int, maps: Maps) -> None:
        self.mutants, self.seed, self.maps = mutants, seed, maps
        self.failed: list[str] = []
        self.seconds = {n: s for known in maps.values() for n, s, _ in known.tests}

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep the name if it failed."""
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_runtestloop(self, session: Any) -> bool:
        """Run the mutants in the place of the tests."""
        for library in (*LIBRARIES, "pymc", "numba"):
            importlib.import_module(library)
        for module in pkgutil.walk_packages([str(TOP / "bayesjudge")], "bayesjudge."):
            if not module.name.endswith("__main__"):
                with contextlib.suppress(ImportError):
                    importlib.import_module(module.name)
        gc.unfreeze()
        self.functions = defaultdict(list)
        for known in gc.get_objects():
            if isinstance(known, FunctionType):
                self.functions[place_of(known.__code__)].append(known)
        gc.freeze()
        self.items = {item.nodeid: item for item in session.items}
        found = {mutant: self.caught_by(mutant) for mutant in self.mutants}
        # a test that fails without a mutant too has caught nothing
        tests = dict(one.split(": ")[::-1] for one in found.values() if "::" in one)
        failing: set[str] = set()
        while "::" in (one := self.first_failure(tests, [])):
            failing.add(one.partition(": ")[2])
            tests = {name: tier for name, tier in tests.items() if name not in failing}
        for mutant in self.mutants:
            if found[mutant].partition(": ")[2] in failing:
                self.caught_by(mutant, failing)
        return True

    def caught_by(self, mutant: Mutant, skipped: Collection[str] = ()) -> str:
        """The first test that fails with the mutant, or why there is none; it is written down."""
        tests = choice_for(mutant, self.maps, skipped)
        found = self.first_failure(tests, self.changed(mutant)) if tests else NOT_EXECUTED
        write(self.seed, self.mutants[mutant], mutant, found)
        return found

    def changed(self, mutant: Mutant) -> list[tuple[FunctionType, CodeType]]:
        """Functions, and the code that each has with the mutant."""
        pairs = codes_of(mutant)
        return [(one, new) for old, new in pairs for one in self.functions[place_of(old)]]

    def first_failure(
        self, chosen: Mapping[str, str], changed: list[tuple[FunctionType, CodeType]]
    ) -> str:
        """Tier and name of the first test that fails in a fork."""
        read, told = os.pipe()
        items = [self.items[name] for name in chosen if name in self.items]
        sys.stdout.flush()
        if not (child := os.fork()):
            try:
                os.dup2(silent := os.open(os.devnull, os.O_WRONLY), 1)
                os.dup2(silent, 2)
                most = 20 + int(3 * sum(map(self.seconds.__getitem__, chosen)))
                resource.setrlimit(resource.RLIMIT_CPU, (most, most + 5))
                signal.alarm(20 * most)
                for function, code in changed:
                    function.__code__ = code
                for item, after in zip(items, [*items[1:], None], strict=True):
                    os.write(told, f"{item.nodeid}\n".encode())
                    item.ihook.pytest_runtest_protocol(item=item, nextitem=after)
                    if self.failed:
                        os._exit(1)
                os._exit(0)
            finally:
                os._exit(2)
        os.close(told)
        with os.fdopen(read) as lines:
            begun = lines.read().splitlines()
        _, status = os.waitpid(child, 0)
        if status == 0 or not begun:
            return SURVIVED
        what = begun[-1] if os.WIFEXITED(status) else OUT_OF_TIME
        return f"{chosen[begun[-1]]}: {what}"


@contextlib.contextmanager
def at_import(mutant: Mutant) -> Iterator[None]:
    """Have the file be imported with the mutant, by processes that have not imported it yet."""
    loader = importlib.machinery.SourceFileLoader
    path, source, read = TOP / mutant.file, mutated(mutant), loader.get_code

    def get_code(self: Any, name: str) -> Any:
        mine = Path(self.path).resolve() == path
        return compile(source, self.path, "exec", dont_inherit=True) if mine else read(self, name)

    loader.get_code = get_code  # type: ignore[method-assign]
    try:
        yield
    finally:
        loader.get_code = read  # type: ignore[method-assign]


def work(mutants: dict[Mutant, int], seed: int, maps: Maps) -> None:
    """Run some, and add a row for each to the results."""
    within = {one: place for one, place in mutants.items() if codes_of(one)}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PYTEST_DEBUG_TEMPROOT"] = folder
        tree = Path(folder) / "tree"
        tree.symlink_to(TOP)
        if (reference := TOP.parent / "shared").exists():
            (Path(folder) / "shared").symlink_to(reference.resolve())
        for mutant, place in mutants.items():
            if mutant not in within:
                tests = choice_for(mutant, maps)
                files = list(dict.fromkeys(name.partition("::")[0] for name in tests))
                with at_import(mutant):
                    found = failures(tree, files, "", *PLAIN, plugins=[Chosen(tests)])
                told = f"{tests.get(found[0], FAST)}: {found[0]}" if found else SURVIVED
                write(seed, place, mutant, told if tests else NOT_EXECUTED)
        marks = " or ".join(f"({TIERS[tier]})" for tier in maps)
        options = ["-q", "-p", "no:cacheprovider", "-m", marks, "tests"]
        pytest.main(options, [Planted(within, seed, maps)])


def objection_of_types(mutant: Mutant) -> str:
    """What mypy finds first, or nothing: a few seconds, once it has a cache."""
    shadow = STORE / "shadow.py"
    shadow.write_text(f"{mutated(mutant)}\n#\n")  # of a size of its own, or the cache is believed
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(STORE / "mypy")]
    command += ["--shadow-file", mutant.file, str(shadow)]
    said = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)
    return said.stdout.splitlines()[0] if said.returncode == 1 else ""


def write(seed: int, place: int, mutant: Mutant, caught: str) -> None:
    """Add a row to the results of a seed; a later one stands for an earlier one."""
    row = (seed, place, mutant.kind, mutant.file, mutant.line, mutant.function)
    with (STORE / f"{seed}.csv").open("a", newline="") as lines:
        fcntl.flock(lines, fcntl.LOCK_EX)
        csv.writer(lines).writerow([*row, mutant.before, mutant.after, caught])
    print(f"{mutant.kind}: {mutant.named}: {caught}", flush=True)


def results(seed: int) -> list[dict[str, str]]:
    """Rows of a seed that are there."""
    path = STORE / f"{seed}.csv"
    if not path.exists():
        return []
    with path.open(newline="") as lines:
        rows = list(csv.DictReader(lines, fieldnames=COLUMNS))
    return list({row["place"]: row for row in rows}.values())


def told(rows: list[dict[str, str]]) -> list[str]:
    """Rates with their binomial errors, by kind and by package, and the survivors."""
    reasons = equivalent()
    counted = [
        r for r in rows if (r["file"], r["function"], r["before"], r["after"]) not in reasons
    ]
    lines = [f"{len(rows) - len(counted)} of {len(rows)} are equivalent, and not counted"]
    groups = [("all", counted)]
    for name, of in (("kind", lambda r: r["kind"]), ("package", lambda r: r["file"].split("/")[1])):
        keys = Counter(map(of, counted))
        groups += [(f"{name} {key}", [r for r in counted if of(r) == key]) for key in sorted(keys)]
    for name, some in groups:
        for what, by in (("caught", ("",)), ("by tests", tuple(TIERS)), ("by fast tests", (FAST,))):
            hits = [r["caught_by"] not in LIVES and r["caught_by"].startswith(by) for r in some]
            n, share = len(hits), sum(hits) / max(len(hits), 1)
            error = (share * (1 - share) / max(n, 1)) ** 0.5
            lines.append(f"{name}: {sum(hits)} of {n} {what}, {share:.3f} +- {error:.3f}")
    for r in counted:
        if r["caught_by"] in LIVES:
            where = f"{r['file']}:{r['line']} {r['function']}"
            lines.append(f"{r['caught_by'].upper()} {where}: {r['before']} -> {r['after']}")
    return lines


def main() -> int:
    """Draw, run what has no result yet, and say what was caught."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--packages", nargs="+", default=[], help="draw from these alone")
    parser.add_argument("--tiers", nargs="+", choices=list(TIERS), default=list(TIERS))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--again", action="store_true", help="run those that survived once more")
    parser.add_argument("--show", action="store_true", help="print the mutants, run nothing")
    asked = parser.parse_args()
    mutants = drawn(asked.count, asked.seed, asked.packages)
    if asked.show:
        print(*(f"{one.kind}: {one.named}" for one in mutants), sep="\n")
        return 0
    STORE.mkdir(exist_ok=True)
    maps = {tier: recorded(tier) for tier in asked.tiers}
    rows = results(asked.seed)
    lives = LIVES if asked.again else ()
    done = {int(row["place"]) for row in rows if row["caught_by"] not in lives}
    waiting = [(one, i) for i, one in enumerate(mutants) if i not in done]
    children = []
    for worker in range(asked.workers):
        if (child := os.fork()) == 0:
            try:
                work(dict(waiting[worker :: asked.workers]), asked.seed, maps)
            finally:
                os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    alive = {int(row["place"]) for row in results(asked.seed) if row["caught_by"] in LIVES}
    for place, mutant in enumerate(mutants):
        if place in alive and (found := objection_of_types(mutant)):
            write(asked.seed, place, mutant, f"{TYPES}: {found}")
    rows = [row for row in results(asked.seed) if int(row["place"]) < asked.count]
    print(*told(rows), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
