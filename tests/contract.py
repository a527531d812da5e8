"""What every module promises, and what the contract tests have to know of each."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from bayesjudge.core.priors import BetaPrior


class Module(NamedTuple):
    """What the contract has to know of a module, or of a sub-package with its own data class."""

    module: Any  #: for example ``bj.panel`` or ``bj.prevalence.classes``
    read: Callable[[Any], Any]  #: from the table that `simulate` returns to the data class
    closed_form: Callable[[Any], Any]  #: answers the quantities that `fit` answers
    truth: Mapping[tuple[str, ...], float]  #: what `simulate` draws from, by entry
    #: Every public model with data that it suits, the default one first.
    models: Callable[[], list[tuple[Any, Any]]]
    #: Models with data that do not read all of their fields: one judge, one item.
    sparse: Callable[[], list[tuple[Any, Any]]] = list
    coverage: float = 0.95  #: what the closed form's interval claims
    #: Values that move a field which `moved` cannot move by itself, by (class name, field).
    moves: Mapping[tuple[str, str], Any] = {}

    @property
    def name(self) -> str:
        """For test ids: ``prevalence``, ``prevalence.classes``."""
        return self.module.__name__.removeprefix("bayesjudge.")

    def simulated(self, seed: int) -> Any:
        """Data as a user gets them: a table, read."""
        return self.read(self.module.simulate(random_seed=seed))


def moved(value: Any) -> Any:
    """Another value of a prior or option of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, BetaPrior):
        return BetaPrior(value.alpha + 1.5, value.beta + 0.5)
    if dataclasses.is_dataclass(value):
        return dataclasses.replace(
            value, **{f.name: moved(getattr(value, f.name)) for f in dataclasses.fields(value)}
        )
    if isinstance(value, int | float):
        return type(value)(value * 2 + 1)
    if value is None:
        return BetaPrior(2, 3)
    raise TypeError(f"say in the contract's `moves` how to move {value!r}")


def graph_of(model: Any) -> tuple[str, list[tuple[Any, ...]]]:
    """The graph of a PyMC model's log-density, and the values of all data that it reads.

    Two models whose graphs and data agree are one model: nothing needs compiling to tell.
    """
    from pytensor.graph.traversal import ancestors

    from bayesjudge.core.compiling import _structure_of

    data = {str(v.name): v for v in model.data_vars}
    read = set(ancestors([model.logp(), *model.deterministics]))
    values = [(name, np.asarray(v.get_value())) for name, v in data.items() if v in read]
    return _structure_of(model), [(name, v.shape, v.tobytes()) for name, v in values]
