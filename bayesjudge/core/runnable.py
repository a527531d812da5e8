"""What nutpie samples: two callbacks in machine code, data, names and starting points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from nutpie import _lib
from nutpie.sample import CompiledModel

from bayesjudge.core.native import Callback


@dataclass(frozen=True)
class Runnable(CompiledModel):
    """A compiled model in the shape in which nutpie takes its own.

    Chains are threads that call machine code, so that none waits for Python's interpreter.
    """

    density: Callback
    expand: Callback
    data: dict[str, np.ndarray]
    start: Callable[[int], np.ndarray]
    size: int
    named: dict[str, tuple[int, ...]]
    labels: dict[str, Any]

    @property
    def n_dim(self) -> int:
        """How many numbers a point has."""
        return self.size

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Of what a draw is expanded to."""
        return self.named

    @property
    def coords(self) -> dict[str, pd.Index]:
        """Labels by dimension."""
        return {name: pd.Index(values) for name, values in self.labels.items()}

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
        for_density = self.density.addresses(self.data)
        for_expand = self.expand.addresses(self.data)
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
            _lib.ExpandFunc(self.size, length, self.expand.address, for_expand.ctypes.data, kept),
            variables,
            self.size,
            sizes,
            self.coords,
            self.start,
            _no_adapter,
        )


def _no_adapter(*_: Any, **__: Any) -> Any:
    raise NotImplementedError("adaptation by a flow is not for compiled models")
