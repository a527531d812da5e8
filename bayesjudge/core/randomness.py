"""Random numbers from a seed, which is checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesjudge.core.errors import InputError, Problem

SEED = "must be a whole number of 0 or more, or a numpy.random.Generator"


def rng_of(random_seed: Any) -> np.random.Generator:
    """The generator of a seed; a generator is itself."""
    try:
        return np.random.default_rng(random_seed)
    except (TypeError, ValueError):
        wrong = Problem(SEED, "no-seed", "random_seed", random_seed, predicate=True)
        raise InputError("arguments", [wrong]) from None
