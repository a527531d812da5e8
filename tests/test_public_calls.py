"""Every public function and method that asks for data alone: what it answers is that of today.

They are called of random small tables of each module, without a list: a function belongs here if
its first argument is the module's data and nothing else has to be given, or if it takes several
systems' data by name. What is answered is held to a digest, with cautions, sentences, what it
prints and all that the data class computes. Where some are to move, write them anew:

    python tests/test_public_calls.py
"""

from __future__ import annotations

import contextlib
import inspect
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path[:0] = [str(HERE), str(HERE.parent)]

from conftest import MODULES  # noqa: E402
from digests import digest, moved, shown, write  # noqa: E402

import bayesjudge as bj  # noqa: E402

STORED = HERE / "public_calls.json"
#: Random tables of each module, of which the fast tier takes so many.
TABLES, FEW = 6, 3
#: What samples, draws pictures or hundreds of tables, or compares what is called by itself.
LEFT_OUT = {
    *("agreement", "approximate", "build_model", "check_prior", "closed_forms", "compare"),
    *("compare_designs", "consistency", "cross_validate", "doubtful", "exact", "fit"),
    *("regression", "shift_sensitivity", "study"),
}


def may_be_left_out(argument: inspect.Parameter) -> bool:
    """Whether a call need not give it."""
    more = (argument.VAR_POSITIONAL, argument.VAR_KEYWORD)
    return argument.default is not argument.empty or argument.kind in more


def calls(one: Any, *data: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Each with its name."""
    kind = type(data[0])
    module = [(name, getattr(one.module, name)) for name in one.module.__all__]
    methods = [(name, f) for name, f in inspect.getmembers(kind) if name[0] != "_"]
    for name, function in (*module, *methods):
        if name in LEFT_OUT or name.startswith("plot_") or not inspect.isfunction(function):
            continue
        first, *others = inspect.signature(function).parameters.values()
        words = "Any" if first.name == "self" else str(first.annotation)
        of_systems = f"Mapping[str, {kind.__name__}]" in words
        if not all(map(may_be_left_out, others)):
            continue
        if of_systems or kind.__name__ in words or words == "Any":
            seed = {one.name: 1 for one in others if one.name == "random_seed"}
            given = dict(zip("ab", data, strict=True)) if of_systems else data[0]
            yield name, partial(function, given, **seed)


def answered(call: Callable[[], Any]) -> Any:
    """What is answered, or what is refused."""
    try:
        return call()
    except bj.InputError as error:
        return [problem.id or problem.argument for problem in error.problems]


def tables(one: Any) -> Iterator[Any]:
    """Random tables of a module, read, of those that can be."""
    for seed in range(10 * TABLES):
        table, read = one.sample(np.random.default_rng([46, seed]))
        with contextlib.suppress(bj.InputError):
            yield read(table)


def of_tables(one: Any, data: Any, other: Any) -> Iterator[tuple[str, Any]]:
    """What is found of a table, and of it beside another."""
    yield "data", data
    for name, call in calls(one, data, other):
        yield name, answered(call)
    made = answered(partial(one.module.closed_forms, data, **one.quick))
    if isinstance(made, tuple):
        yield "cautions", [caution for estimate in made for caution in estimate.cautions]
        yield "answer", one.module.answer(*made)


def today(modules: Iterable[Any] = MODULES, most: int = TABLES) -> dict[str, tuple[int, float]]:
    """Two digests of each function's answers: of few tables together, and of the others."""
    found: dict[str, list[float]] = defaultdict(list)
    for one in modules:
        for place, (data, other) in enumerate(islice(pairwise(tables(one)), most)):
            for name, value in of_tables(one, data, other):
                found[f"{one.name} {name}" + ", more" * (place >= FEW)] += shown(value)
    return {name: digest(values) for name, values in found.items()}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.every_setting
@pytest.mark.parametrize("most", [FEW, pytest.param(TABLES, marks=pytest.mark.slow)])
@pytest.mark.parametrize("one", MODULES, ids=lambda one: one.name)
def test_what_data_alone_are_asked_is_answered_as_today(one, most):
    asked = [name for name in moved(today([one], most), STORED) if name.startswith(f"{one.name} ")]
    wrong = [name for name in asked if most == TABLES or not name.endswith(", more")]
    assert not wrong, f"{wrong} moved; python tests/test_public_calls.py writes those of today"


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write(today(), STORED)
