"""Every model's log-density, of the text and as it is sampled, is that of today at random points.

Slow tests hold each to its formula (tests/prevalence/test_densities.py), both forms to each other
(tests/test_contract.py) and posteriors to integrals. This one compiles nothing, and has a digest of
every term and variable of every model instead. Where some are to move, write them anew:

    python tests/test_densities.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path[:0] = [str(HERE), str(HERE.parent)]

from conftest import MODULES  # noqa: E402
from digests import digest, moved, write  # noqa: E402

STORED = HERE / "densities.json"
POINTS = 2


def terms(model: Any) -> Iterator[float]:
    """Terms of the log-density and all variables, each at random points around the initial one."""
    from pytensor import function
    from pytensor.compile.mode import Mode

    outputs = [*model.logp(sum=False), *model.unobserved_value_vars]
    as_it_is = Mode(linker="py", optimizer=None)
    run = function(model.value_vars, outputs, mode=as_it_is, on_unused_input="ignore")
    rng, start = np.random.default_rng(3), model.initial_point()
    for _ in range(POINTS):
        moves = [rng.normal(0, 0.4, np.shape(start[v.name])) for v in model.value_vars]
        point = [start[v.name] + move for v, move in zip(model.value_vars, moves, strict=True)]
        yield from (float(x) for value in run(*point) for x in np.ravel(value))


def today(modules: Iterable[Any] = MODULES) -> dict[str, tuple[int, float]]:
    """A digest of the terms of each model, in both forms."""
    found = {}
    for one in modules:
        for place, (spec, data) in enumerate(one.models()):
            name = f"{one.name} {place} {type(spec).__name__}"
            found[name] = digest(terms(one.module.build_model(data, spec)))
            if form := spec._sampling_form(data):
                found[f"{name}, sampled"] = digest(terms(form))
    return found


#: Those of one judge are in the fast tier, each of the others takes as long.
OF_ONE_JUDGE = [one for one in MODULES if one.name.startswith("prevalence")]
OTHERS = [one for one in MODULES if one not in OF_ONE_JUDGE]


@pytest.mark.parametrize("modules", [OF_ONE_JUDGE, pytest.param(OTHERS, marks=pytest.mark.slow)])
def test_every_density_is_that_of_today(modules):
    now = today(modules)
    wrong = [name for name in moved(now, STORED) if name in now]
    assert not wrong, f"{wrong} moved; python tests/test_densities.py writes those of today"


if __name__ == "__main__":
    write(today(), STORED)
