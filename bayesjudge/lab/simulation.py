"""One simulation of a calibration study: one truth, one data set, one fit, one rank a quantity."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.lab.running import seed_of
from bayesjudge.lab.stored import Task

Truths = Mapping[str, Any]


class Draws(NamedTuple):
    """What a sampler found.

    Parameters
    ----------
    values : mapping of str to numpy.ndarray
        Draws of each quantity, of shape (chain, draw, ...).
    divergent : int
        Divergent transitions.
    """

    values: Mapping[str, np.ndarray]
    divergent: int = 0


@dataclass(frozen=True)
class Simulation:
    """What `bayesjudge.lab.sbc` does `simulations` times; its parameters are described there.

    Parameters
    ----------
    posterior, draw_prior, draw_data, also : callable
        See there.
    retained, random_seed : int
        See there.
    """

    posterior: Callable[..., Any]
    draw_prior: Callable[[np.random.Generator], Truths]
    draw_data: Callable[[Truths, np.random.Generator], Any]
    also: Callable[..., Mapping[str, np.ndarray]] | None
    retained: int
    random_seed: int

    def __call__(self, task: Task) -> dict[str, Any]:
        """Do one.

        Parameters
        ----------
        task : tuple of int
            Its number.

        Returns
        -------
        dict
            ``rows`` of rank, truth, mean, sd and effective draws by quantity; ``divergent``;
            ``seconds``.

        Raises
        ------
        InputError
            Where truths and draws do not match.
        """
        begin = time.perf_counter()
        rngs = [np.random.default_rng(s) for s in seed_of(self.random_seed, *task).spawn(4)]
        truths = self.draw_prior(rngs[0])
        data = self.draw_data(truths, rngs[1])
        found = self.posterior(data, rngs[2])
        found = found if isinstance(found, Draws) else Draws(found)
        values = {name: np.asarray(array) for name, array in found.values.items()}
        truths = {name: np.asarray(truths[name])[None] for name in values if name in truths}
        self._check(values, truths)
        ess = effective(values)
        whole = {name: array.reshape(-1, *array.shape[2:]) for name, array in values.items()}
        kept = {name: self._thinned(array) for name, array in whole.items()}
        if self.also is not None:
            kept |= {k: np.asarray(v) for k, v in self.also(kept, data).items()}
            truths |= {k: np.asarray(v) for k, v in self.also(truths, data).items()}
        worst = min(ess.values())
        rows: dict[str, list[float]] = {}
        for name, array in kept.items():
            pairs = zip(_scalars(name, array), _scalars(name, truths[name]), strict=True)
            every = dict(_scalars(name, whole.get(name, array)))
            for (label, draws), (_, truth) in pairs:
                rank = _rank(draws, float(truth[0]), rngs[3])
                centre, spread = every[label].mean(), every[label].std(ddof=1)
                about = (truth[0], centre, spread, ess.get(label, worst))
                rows[label] = [rank, *_short(*about)]
        return {
            "rows": rows,
            "divergent": int(found.divergent),
            "seconds": _short(time.perf_counter() - begin)[0],
        }

    def _check(self, values: Mapping[str, np.ndarray], truths: Truths) -> None:
        with checking("sbc") as require:
            for name, array in values.items():
                require(name in truths, f"draw_prior gives no {name!r}, which the posterior has")
                require(array.ndim >= 2, f"draws of {name!r} need the shape (chain, draw, ...)")
                if name in truths and array.ndim >= 2:
                    shapes = truths[name].shape[1:], array.shape[2:]
                    words = f"{name!r} has shape {shapes[0]} in the prior, {shapes[1]} in the draws"
                    require(shapes[0] == shapes[1], words)
                    size = array.shape[0] * array.shape[1]
                    require(size >= self.retained, f"{name!r} has {size} draws for {self.retained}")

    def _thinned(self, joined: np.ndarray) -> np.ndarray:
        spaced = (np.arange(self.retained) + 0.5) * len(joined) / self.retained
        return joined[spaced.astype(int)]


def _rank(draws: np.ndarray, truth: float, rng: np.random.Generator) -> int:
    """Count draws below the truth; equal ones fall on either side at random."""
    below, equal = int((draws < truth).sum()), int((draws == truth).sum())
    return below + int(rng.integers(equal + 1))


def effective(values: Mapping[str, np.ndarray]) -> dict[str, float]:
    """Count effective draws, of the bulk or of the tails, whichever are fewer.

    Parameters
    ----------
    values : mapping of str to numpy.ndarray
        Draws of shape (chain, draw, ...).

    Returns
    -------
    dict of str to float
        By ``name[index]``.
    """
    from arviz_stats.base import array_stats

    found = {}
    for name, array in values.items():
        for index in np.ndindex(array.shape[2:]):
            draws = array[(..., *index)]
            ess = [array_stats.ess(draws, method="bulk")]
            ess.append(array_stats.ess(draws, method="tail", prob=(0.05, 0.95)))
            # draws that are all the same have no effective size, and need none
            found[_label(name, index)] = float(np.nan_to_num(min(ess), nan=draws.size))
    return found


def _scalars(name: str, array: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Split an array with a leading axis over draws."""
    indices = np.ndindex(array.shape[1:])
    return [(_label(name, index), array[(slice(None), *index)]) for index in indices]


def _label(name: str, index: tuple[int, ...]) -> str:
    return f"{name}[{', '.join(map(str, index))}]" if index else name


def _short(*numbers: Any) -> list[float]:
    """Six digits: ranks are exact, and the rest is for pictures."""
    return [float(f"{float(number):.6g}") for number in numbers]
