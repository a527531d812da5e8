"""What nutpie samples: two callbacks in machine code, data, names and starting points."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from nutpie import _lib
from nutpie.sample import CompiledModel

from bayesjudge.compiled.native import Callback


@dataclass(frozen=True)
class Runnable(CompiledModel):
    """A compiled model in the shape in which nutpie takes its own.

    Chains are threads that call machine code, so that none waits for Python's interpreter.
    """

    density: Callback
    expand: Callback
    data: dict[str, np.ndarray]
    start: Callable[[int], np.ndarray]
    #: Shapes of the unknowns on the unconstrained scale.
    parts: tuple[tuple[int, ...], ...]
    named: dict[str, tuple[int, ...]]
    labels: dict[str, Any]

    @property
    def n_dim(self) -> int:
        """How many numbers a point has."""
        return sum(map(math.prod, self.parts))

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Of what a draw is expanded to."""
        return self.named

    @property
    def coords(self) -> dict[str, pd.Index]:
        """Labels by dimension."""
        return {name: pd.Index(values) for name, values in self.labels.items()}

    def log_density(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """Log-density and its slope at a point on the unconstrained scale."""
        place = ctypes.c_void_p
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, *[place] * 4)
        call, given = kind(self.density.address), self.density.addresses(self.data, self.parts)
        x, slope, value = np.ascontiguousarray(x, float), np.empty(self.n_dim), np.empty(1)
        places = (array.ctypes.data for array in (x, slope, value, given))
        failed = call(self.n_dim, *places)
        return (-np.inf, np.zeros(self.n_dim)) if failed else (float(value[0]), slope)

    def expanded(self, points: np.ndarray) -> dict[str, np.ndarray]:
        """What has a name, (1, draw, ...), at points on the unconstrained scale."""
        place, whole = ctypes.c_void_p, ctypes.c_uint64
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, whole, whole, *[place] * 3)
        call, given = kind(self.expand.address), self.expand.addresses(self.data, self.parts)
        sizes = [int(np.prod(shape)) for shape in self.named.values()]
        out = np.full((len(points), sum(sizes)), np.nan)
        for x, row in zip(np.ascontiguousarray(points), out, strict=True):
            call(x.size, row.size, x.ctypes.data, row.ctypes.data, given.ctypes.data)
        parts = np.split(out, np.cumsum(sizes)[:-1], axis=1)
        named = zip(self.named.items(), parts, strict=True)
        return {name: part.reshape(1, len(points), *shape) for (name, shape), part in named}

    def _make_sampler(
        self,
        settings: Any,
        init_mean: np.ndarray,
        cores: int,
        progress_type: Any,
        callback: Any,
        callback_rate: int,
        store: Any,
    ) -> Any:
        model = self._make_model(init_mean)
        return _lib.PySampler.from_pymc(
            settings, cores, model, progress_type, callback, callback_rate, store
        )

    def _make_model(self, init_mean: np.ndarray) -> Any:
        length = sum(int(np.prod(shape)) for shape in self.named.values())
        for_density = self.density.addresses(self.data, self.parts)
        for_expand = self.expand.addresses(self.data, self.parts)
        kept = (self, for_density, for_expand)  # alive as long as the sampler
        sizes = {name: len(values) for name, values in self.labels.items()}
        variables = _lib.PyVariable.new_variables(
            list(self.named),
            ["float64"] * len(self.named),
            list(self.named.values()),
            sizes,
            dict(self.dims or {}),
        )
        return _lib.PyMcModel(
            _lib.LogpFunc(self.density.address, for_density.ctypes.data, kept),
            _lib.ExpandFunc(self.n_dim, length, self.expand.address, for_expand.ctypes.data, kept),
            variables,
            self.n_dim,
            sizes,
            self.coords,
            self.start,
            _no_adapter,
        )


def _no_adapter(*_: Any, **__: Any) -> Any:
    raise NotImplementedError("adaptation by a flow is not for compiled models")
