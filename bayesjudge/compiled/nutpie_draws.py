"""nutpie without ArviZ, by which it puts draws into a tree.

ArviZ takes longer to import than PyMC, and than many a fit: it brings Matplotlib and scipy.stats.
Here draws go into a tree directly.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray as xr


class _Later(ModuleType):
    """Stands for a module that is imported when something of it is first asked for."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def import_nutpie() -> ModuleType:
    """Import nutpie; whoever imports ArviZ finds it as ever."""
    with _in_place_of(_Later("arviz")):
        return import_module("nutpie")


@contextmanager
def _in_place_of(module: ModuleType) -> Iterator[None]:
    """Let `module` be found by its name, unless the module that it stands for is there."""
    stands = sys.modules.setdefault(module.__name__, module) is module
    try:
        yield
    finally:
        if stands and sys.modules.get(module.__name__) is module:
            del sys.modules[module.__name__]


def tree_of(trace: Any, runnable: Any, statistics: Sequence[str]) -> xr.DataTree:
    """Draws and some statistics of nutpie's trace, as nutpie would put them into a tree.

    A chain that was stopped before the others has missing draws at its end.
    """
    import pyarrow as pa
    import xarray as xr

    draws, about = trace.get_arrow_trace()
    coords = runnable.coords
    tuning = [int(np.sum(pa.array(batch.column("tuning")).to_numpy(False))) for batch in about]
    longest = max(batch.num_rows - n for batch, n in zip(draws, tuning, strict=True))

    def joined(batches: Sequence[Any], name: str) -> tuple[list[str], np.ndarray]:
        field = batches[0].column(name).field.metadata
        dims, shape = (
            [x for x in field.get(key, b"").decode().split(",") if x] for key in (b"dims", b"shape")
        )
        chains = []
        for batch, n in zip(batches, tuning, strict=True):
            column = pa.array(batch.column(name))
            values = column.flatten() if shape else column
            chain = values.to_numpy(False).reshape(-1, *map(int, shape))[n:]
            chains.append(chain)
        empty = np.nan if chains[0].dtype.kind == "f" else 0
        array = np.full((len(chains), longest, *map(int, shape)), empty, dtype=chains[0].dtype)
        for chain, values in zip(array, chains, strict=True):
            chain[: len(values)] = values
        return dims or [f"{name}_dim_{i}" for i in range(len(shape))], array

    def dataset(batches: Sequence[Any], names: Sequence[str]) -> xr.Dataset:
        by_name = {name: joined(batches, name) for name in names if name in batches[0].column_names}
        lengths = {
            dim: n
            for dims, array in by_name.values()
            for dim, n in zip(dims, array.shape[2:], strict=True)
        }
        lengths |= {"chain": len(batches), "draw": longest}
        index = {d: coords.get(d, range(n)) for d, n in lengths.items()}
        variables = {name: (("chain", "draw", *dims), v) for name, (dims, v) in by_name.items()}
        return xr.Dataset(variables, index)

    return xr.DataTree.from_dict(
        {
            "posterior": dataset(draws, draws[0].column_names),
            "sample_stats": dataset(about, statistics),
        }
    )
