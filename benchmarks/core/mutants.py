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
fails. Two processes share the mutants, each with its own copy of the tree; a run that is
interrupted goes on. Mutants of which a person has shown that they change nothing stand in
`equivalent.toml` with the reason, and are not counted.

mutmut 3 and cosmic-ray were looked at. mutmut writes every mutant of a function into one file and
runs pytest in a process that has imported it: no seeded sample of all kinds, no swapped arguments
and dropped terms, and names of the package that tests compare (sources, pickles, graphs) change.
cosmic-ray starts pytest anew for each mutant, 4 to 10 seconds here, without a choice of tests.

Quick: ``--seed 3 --count 20 --show``

Found: of 60 mutants of seed 45, drawn before `tests/test_numbers.py` and
`tests/test_second_numbers.py` were written, 7 are equivalent, and fast tests alone caught 36 of the
other 53 (.679, standard error .064): the rate before. Of the first 48 of seed 9203, drawn after
that, 2 are equivalent, and fast tests caught 33 of 46 (.717, standard error .066). Of 33 of seed
2711 they caught 21 (.636, standard error .084), no more than before; seven survivors have a fast
test since. Of the first 34 of seed 9502 in core, prevalence, truth, verdicts, readers, datasets,
compiled, render and cli, 2 are equivalent. Fast tests as they were caught 24 of 32 (0.750, standard
error 0.077), and 27 (0.844, standard error 0.064) together with `test_proposals.py`,
`test_every_option.py`, `test_densities.py`, `test_drawn_posteriors.py` and `test_signatures.py`,
written before its mutants were looked at; tests of a mutant stopped at 8 processor seconds.

Found in the packages from panel to integrations: of 150 mutants of seed 9601 the examples of
docstrings with other arguments (`tests/test_examples.py`) catch 37 by themselves (.247, standard
error .035). Of the first 35 of seed 9602, drawn after they were written, fast tests catch 28 (.800,
standard error .068) with them and without: what they notice others notice too, so far.

Found with slow and sampling tests: of the 67 of these two seeds that are not equivalent, fast tests
catch 55 (.821, standard error .047), and 59 (.881, standard error .040) with the slow and sampling
tests near the mutated file, up to 96 processor seconds of them for each survivor, not all that
execute it: 30 of 32 of seed 9502 and 29 of 35 of seed 9602. The bar of .92 is missed. The eight
that survived are a prior of systems that share all rates, one label of pooled systems, the standard
error of a vote's share, the variance of worth by truth, labels needed of a generator without any,
the most tries of an answer if some have no number, repeats of a panel with a cell that nobody
asked, and which half of the sweeps has to have mixed; each has a fast test since.
"""

from __future__ import annotations

import argparse
import ast
import csv
import fcntl
import importlib
import os
import random
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
TOP = Path(__file__).parents[2]
sys.path[:0] = [str(TOP), str(TOP / "tests")]
from planting import _span  # noqa: E402

from benchmarks.core.faults import LIBRARIES, NAMED, SURVIVED, copied, failures  # noqa: E402
from tools.executed import FAST, SAMPLING, SLOW, Executed  # noqa: E402

#: Beside the results of a seed: which test executes which line.
STORE = TOP / ".mutants"
TIERS = {
    FAST: "not sampling and not slow and not study",
    SLOW: "slow and not sampling and not study",
    SAMPLING: "sampling and not study",
}
COLUMNS = ("seed", "place", "kind", "file", "line", "function", "before", "after", "caught_by")
NOT_EXECUTED = "no test executes it"
#: Processor seconds, as recorded, of the tests of a tier that one mutant is worth.
MOST = {FAST: 25.0, SLOW: 25.0, SAMPLING: 60.0}
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


def places(tree: ast.AST, function: str = "") -> Iterator[tuple[str, ast.expr]]:
    """Expressions that compute: neither types, nor texts, nor what an error says."""
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
            if isinstance(node, ast.expr):
                yield function, node
            yield from places(node, inner)


def every_mutant(top: Path = TOP, packages: Collection[str] = ()) -> dict[str, list[Mutant]]:
    """By kind, in the order of files and places; of these packages, if any is named."""
    found = defaultdict(list)
    for path in sorted((top / "bayesjudge").rglob("*.py")):
        if path.name in LEFT_OUT or "words" in path.parts:
            continue
        if packages and path.relative_to(top).parts[1] not in packages:
            continue
        source = path.read_text()
        for function, node in places(ast.parse(source)):
            for kind, other in variants(node):
                begin, end = _span(source, node)
                before, after = ast.unparse(node), ast.unparse(ast.fix_missing_locations(other))
                if before != after:
                    file = str(path.relative_to(top))
                    about = (node.lineno, node.end_lineno or node.lineno, function, before, after)
                    found[kind].append(Mutant(kind, file, *about, begin, end))
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

    def __init__(self, names: list[str]) -> None:
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


def tests_for(mutant: Mutant, known: Executed, tier: str, skipped: Collection[str]) -> list[str]:
    """Tests that execute it, but for those `skipped`: of its own module and quick ones first."""
    folder = mutant.file.split("/")[1].removesuffix(".py")
    tests = [known.tests[i] for i in known.running(mutant.file, mutant.line, mutant.last_line)]
    near = sorted(tests, key=lambda one: (one[0].split("/")[1] != folder, one[1]))
    names, spent = [], 0.0
    for name, seconds, _ in near:
        if spent > MOST[tier]:
            break
        if name not in skipped:
            names.append(name)
            spent += seconds
    return names


def caught_by(
    mutant: Mutant, tree: Path, maps: dict[str, Executed], skipped: Collection[str] = ()
) -> str:
    """The first test that fails with the mutant, of those not `skipped`, or why there is none."""
    path = tree / mutant.file
    whole = path.read_text()
    path.write_text(f"{whole[: mutant.begin]}({mutant.after}){whole[mutant.end :]}")
    executed = False
    try:
        for tier, known in maps.items():
            names = tests_for(mutant, known, tier, skipped)
            files = list(dict.fromkeys(name.partition("::")[0] for name in names))
            executed |= bool(names)
            if names and (
                found := failures(tree, files, TIERS[tier], "-x", plugins=[Chosen(names)])
            ):
                return f"{tier}: {found[0]}"
    finally:
        path.write_text(whole)
    return SURVIVED if executed else NOT_EXECUTED


def work(mutants: list[tuple[int, Mutant]], seed: int, maps: dict[str, Executed]) -> None:
    """Run some, and add a row for each to the results."""
    for library in LIBRARIES:
        importlib.import_module(library)
    with tempfile.TemporaryDirectory() as folder:
        tree = copied(Path(folder))
        caught = {}
        for place, mutant in mutants:
            caught[place] = caught_by(mutant, tree, maps)
            write(seed, place, mutant, caught[place])
        # a test that fails without a mutant too has caught nothing
        tests = {test.partition(": ")[2] for test in caught.values() if "::" in test}
        failing = failures(tree, sorted(tests), NAMED) if tests else []
        for place, mutant in mutants:
            if caught[place].partition(": ")[2] in failing:
                write(seed, place, mutant, caught_by(mutant, tree, maps, failing))


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
        for what, lost in (("caught", ""), ("by fast tests", FAST)):
            hits = [r["caught_by"] not in (SURVIVED, NOT_EXECUTED) for r in some]
            hits = [h and r["caught_by"].startswith(lost) for h, r in zip(hits, some, strict=True)]
            n, share = len(hits), sum(hits) / max(len(hits), 1)
            error = (share * (1 - share) / max(n, 1)) ** 0.5
            lines.append(f"{name}: {sum(hits)} of {n} {what}, {share:.3f} +- {error:.3f}")
    for r in counted:
        if r["caught_by"] in (SURVIVED, NOT_EXECUTED):
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
    lives = (SURVIVED, NOT_EXECUTED) if asked.again else ()
    done = {int(row["place"]) for row in rows if row["caught_by"] not in lives}
    waiting = [(i, one) for i, one in enumerate(mutants) if i not in done]
    children = []
    for worker in range(asked.workers):
        if (child := os.fork()) == 0:
            try:
                work(waiting[worker :: asked.workers], asked.seed, maps)
            finally:
                os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    rows = [row for row in results(asked.seed) if int(row["place"]) < asked.count]
    print(*told(rows), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
