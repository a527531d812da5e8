"""What each docstring shows, and the same calls with one argument at another value.

Examples run as they stand. Then each public function that a file's examples call is called again,
with each argument in turn at values that nobody showed: the ends of a share, an option's other
word, half a table, rows in another order, a number that is none. What is refused names the
arguments and ids that it named before, and what is answered has the numbers that it had: both are
kept in `examples.json`, which a person can read. Where they are to change:

    python tests/test_examples.py                     # of all files, a minute
    python tests/test_examples.py attempts/data.py    # of this one
"""

from __future__ import annotations

import contextlib
import copy
import doctest
import functools
import importlib
import inspect
import io
import json
import re
import sys
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path[:0] = [str(HERE), str(HERE.parent)]

from digests import digest, numbers  # noqa: E402

import bayesjudge as bj  # noqa: E402

STORED = HERE / "examples.json"
PACKAGE = Path(bj.__file__).parent
#: Files whose examples, or the calls after them, take more than half a second.
SLOW = {
    *("attempts/exact.py", "bias/adherence.py", "cli/frames.py", "core/fitting.py"),
    *("decide/gate.py", "decide/watch.py", "judge/card.py", "judge/trust.py"),
    *("lab/coverage.py", "lab/sbc.py", "panel/compare.py", "panel/consensus.py"),
    *("panel/study.py", "prevalence/budget/expected_width.py", "prevalence/budget/plan.py"),
    *("prevalence/change.py", "prevalence/people/exact.py"),
}
#: Files of which the fast tier tries every fourth argument: all take a twentieth of a second, or
#: more.
LONG = {
    *("bias/certificates/trade_off.py", "bias/closed_form.py", "bias/data.py", "bias/exact.py"),
    *("bias/position.py", "bias/simulate.py", "datasets/counted.py", "datasets/published.py"),
    *("decide/drift.py", "decide/monitor.py", "decide/shopping.py", "integrations/compat.py"),
    *("judge/data.py", "leaderboard/data.py", "panel/data.py", "panel/simulate.py"),
    *("prevalence/classes/data.py", "prevalence/compare.py", "prevalence/data.py"),
    *("prevalence/exact.py", "prevalence/items/closed_form.py", "prevalence/items/data.py"),
    *("prevalence/people/closed_form.py", "prevalence/people/data.py"),
    *("prevalence/scores/data.py", "prevalence/scores/paired.py", "ratings/data.py"),
    *("ratings/experiment/ranks.py", "ratings/simulate.py", "repeats/components.py"),
    *("repeats/consistency.py", "repeats/data.py", "repeats/planning.py", "repeats/runner/run.py"),
    *("repeats/self_contradiction.py", "repeats/simulate.py", "repeats/stopping_rules.py"),
    *("rubric/data.py", "verdicts/table.py"),
}
#: What samples or draws without a seed, writes files, asks somebody or takes long: its examples
#: run, and no more.
NOT_VARIED = {
    *("fit", "build_model", "save", "write_inspect_log", "sample_until", "run", "sbc"),
    *("compare_with_prior", "dawid_skene_em", "simulate_rule"),
    *("CoverageStudy.__init__", "RankStudy.__init__"),  # they hold how long they took
    # rounding shows: variances of 0, and where line searches end
    *("components", "score_components", "study"),
}
#: So many calls of each function are tried again.
CALLS = 2
#: What integrates sixteen data sets a call: four tell whether a number moved.
PLANS = ("expected_width", "plan")
#: Arguments that stay.
KEPT = ("self", "random_seed")
TOOL = 3  # of sys.monitoring's six, one that nobody has claimed


def files() -> Iterator[str]:
    """Files of the package that show an example."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if ">>> " in path.read_text():
            yield path.relative_to(PACKAGE).as_posix()


# Calls -------------------------------------------------------------------------------------------


def public_in(module: Any) -> Iterator[tuple[str, Callable[..., Any], Any]]:
    """Functions, methods and constructors that a file has for others: name, callable, code."""
    for name, found in vars(module).items():
        if name.startswith("_") or getattr(found, "__module__", "") != module.__name__:
            continue
        if inspect.isclass(found):
            for method, raw in vars(found).items():
                raw = getattr(raw, "__func__", raw)
                if inspect.isfunction(raw) and (method == "__init__" or method[0] != "_"):
                    bound = found if method == "__init__" else getattr(found, method)
                    yield f"{name}.{method}", bound, inspect.unwrap(raw).__code__
        elif inspect.isfunction(found):
            yield name, found, inspect.unwrap(found).__code__


def shown(file: str) -> list[tuple[str, Callable[..., Any], dict[str, Any]]]:
    """Run the examples of a file; calls of its public functions, of each up to two that differ in
    more than numbers: its name, it, and its arguments.
    """
    module = importlib.import_module("bayesjudge." + file.removesuffix(".py").replace("/", "."))
    codes = {code: (name, function) for name, function, code in public_in(module)}
    calls: dict[str, dict[Any, tuple[str, Callable[..., Any], dict[str, Any]]]] = defaultdict(dict)

    def note(code: Any, _: int) -> None:
        name, function = codes[code]
        if len(calls[name]) == CALLS:
            return
        given = inspect.getargvalues(sys._getframe(1))
        names = [*given.args, *filter(None, (given.varargs, given.keywords))]
        arguments = {n: given.locals[n] for n in names}
        like = tuple(v if isinstance(v, bool | str) else type(v) for v in arguments.values())
        if like not in calls[name]:
            if "self" in names and not name.endswith("__init__"):
                arguments["self"] = copy.deepcopy(arguments["self"])
            calls[name][like] = f"{name}:{len(calls[name]) + 1}", function, arguments

    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    said: list[str] = []
    with each_start(codes, note):
        for found in doctest.DocTestFinder().find(module, module.__name__):
            if found.examples:  # the others cost a look at every file that is loaded
                runner.run(found, out=said.append)
    assert not runner.failures, "".join(said)
    return [call for each in calls.values() for call in each.values()]


@contextlib.contextmanager
def each_start(codes: Iterable[Any], note: Callable[[Any, int], None]) -> Iterator[None]:
    """Have Python say when one of these functions starts, and of no other."""
    start = sys.monitoring.events.PY_START
    sys.monitoring.use_tool_id(TOOL, "examples")
    sys.monitoring.register_callback(TOOL, start, note)
    for code in codes:
        sys.monitoring.set_local_events(TOOL, code, start)
    try:
        yield
    finally:
        for code in codes:
            sys.monitoring.set_local_events(TOOL, code, 0)
        sys.monitoring.free_tool_id(TOOL)


def called(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """The function with arguments by their names."""
    places, names = [], {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            places += arguments[name]
        elif parameter.kind is parameter.VAR_KEYWORD:
            names |= arguments[name]
        elif parameter.kind is parameter.KEYWORD_ONLY:
            names[name] = arguments[name]
        else:
            places.append(arguments[name])
    return function(*places, **names)


def other_words(function: Callable[..., Any], argument: str) -> list[str]:
    """Values that a docstring lists for an argument: ``{'a', 'b'}``."""
    listed = re.search(rf"^{argument} : .*?\{{(.*?)\}}", inspect.getdoc(function) or "", re.M)
    return re.findall(r"['\"](.*?)['\"]", listed[1]) if listed else []


@functools.singledispatch
def others(value: Any) -> list[Any]:
    """Values that an argument could have in the place of one that was shown."""
    return []


@others.register(float)
@others.register(int)
def _(value: float) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    more = (value + 1) / 2 if 0 < value < 1 else value * 2 + 1
    return [*map(type(value), (-1, 0, 1, more)), np.nan]


@others.register(list)
@others.register(tuple)
def _(value: Any) -> list[Any]:
    made = [[*value[:-1]], [*value[::-1]], [*value[:1], *value[:1]], []]
    if value and all(isinstance(x, int | float) for x in value):
        made += [[bad, *value[1:]] for bad in (-1, np.nan)]
    return made


@others.register
def _(value: np.ndarray) -> list[Any]:
    made = [value[:-1], value[::-1]] if value.ndim else []
    for place, change in ((0, -3), (-1, 1), (0, np.nan)):
        if value.size and value.dtype.kind in ("f" if np.isnan(change) else "if"):
            moved = value.copy()
            moved.flat[place] += change
            made.append(moved)
    return made


@others.register
def _(value: pd.DataFrame) -> list[Any]:
    return [value.head(0), value.head(1), value[::-1], value[::2]]


@others.register
def _(value: dict) -> list[Any]:
    return [dict([*value.items()][1:])]


@others.register
def _(value: bj.BetaPrior) -> list[Any]:
    return [bj.BetaPrior(value.alpha + 2, value.beta + 1)]


def variations(function: Callable[..., Any], name: str, value: Any) -> list[Any]:
    """Other values of one argument."""
    words = [word for word in other_words(function, name) if word != value]
    if value is None:
        return [*words, 2, "?"]
    return [*words, "?"] if isinstance(value, str) else others(value)


# Outcomes ----------------------------------------------------------------------------------------


def outcome(function: Callable[..., Any], arguments: Mapping[str, Any]) -> str | list[float]:
    """What was refused, or the numbers of the answer."""
    try:
        if "self" in arguments:  # which a method may change
            arguments = {**arguments, "self": copy.deepcopy(arguments["self"])}
        found = called(function, arguments)
        return [x if np.isfinite(x) else 7.0 for x in numbers(found)]
    except bj.InputError as error:
        return " ".join(p.id or p.argument or "?" for p in error.problems)
    except Exception as error:  # of a value that types rule out, or that nobody has refused yet
        return type(error).__name__


def outcomes(file: str, every: int = 1) -> dict[str, list[Any]]:
    """Of each function and argument, or of every so many: what each value is refused for, and a
    digest of the rest.
    """
    found = {}
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, function, arguments in shown(file):
            called_as = name.partition(":")[0]
            method = called_as.rpartition(".")[2]
            if {method, called_as} & NOT_VARIED:
                continue
            given = {n: v for n, v in arguments.items() if n != "cls"}
            if method == "__init__":
                del given["self"]
            if given.get("random_seed", 1) is None:
                given["random_seed"] = 1
            if called_as in PLANS:
                given["repeats"] = 4
            asked = {n: variations(function, n, v) for n, v in given.items() if n not in KEPT}
            tried = {"": [given]} | {
                n: [given | {n: one} for one in values] for n, values in asked.items() if values
            }
            for argument, each in islice(tried.items(), None, None, every):
                made = [outcome(function, one) for one in each]
                n, digested = digest(x for one in made if isinstance(one, list) for x in one)
                told = [one if isinstance(one, str) else "." for one in made]
                found[f"{file} {name} {argument}"] = [", ".join(told), n, digested]
    return found


def differences(
    now: Mapping[str, list[Any]], before: Mapping[str, list[Any]], *, all_of_it: bool = True
) -> list[str]:
    """What is not as before, of all that there was or of what was tried."""
    return [
        f"{name}: {before.get(name)} and now {now.get(name)}"
        for name in sorted({*now, *before} if all_of_it else now)
        if name not in now
        or name not in before
        or now[name][:2] != before[name][:2]
        or abs(now[name][2] - before[name][2]) > 2e-5 + 1e-8 * now[name][1]
    ]


@functools.cache
def stored() -> dict[str, dict[str, list[Any]]]:
    """By file."""
    found: dict[str, dict[str, list[Any]]] = defaultdict(dict)
    for name, one in json.loads(STORED.read_text()).items():
        found[name.partition(" ")[0]][name] = one
    return found


def cases() -> Iterator[Any]:
    """Each file, and of which arguments."""
    for file in files():
        if file not in SLOW:
            yield pytest.param(file, 4 if file in LONG else 1)
        if file in SLOW | LONG:
            yield pytest.param(file, 1, marks=pytest.mark.slow)


@pytest.mark.every_setting
@pytest.mark.parametrize(("file", "every"), [*cases()])
def test_examples_hold_and_other_arguments_give_what_they_gave(file, every, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = outcomes(file, every)
    wrong = differences(found, stored().get(file, {}), all_of_it=every == 1)
    assert not wrong, "python tests/test_examples.py writes those of today"


if __name__ == "__main__":
    chosen = sys.argv[1:] or [*files()]
    made = {} if chosen == [*files()] else json.loads(STORED.read_text())
    made = {name: one for name, one in made.items() if name.partition(" ")[0] not in chosen}
    with contextlib.chdir(tempfile.mkdtemp()):
        for file in chosen:
            made |= outcomes(file)
    rows = [f"{json.dumps(name)}: {json.dumps(one)}" for name, one in sorted(made.items())]
    STORED.write_text("{\n" + ",\n".join(rows) + "\n}\n")
