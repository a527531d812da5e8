"""Simulation-based calibration: ranks of true values in posteriors."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bayesjudge.core.errors import checking, expect
from bayesjudge.lab.run import Task, header_of, run, seed_of
from bayesjudge.lab.uniformity import holm, p_value


@dataclass(frozen=True, eq=False)
class RankStudy:
    """Ranks of true values among posterior draws.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per simulation and quantity: ``simulation``, ``quantity``, ``rank``, ``truth``,
        ``mean`` and ``sd`` of the posterior, ``ess`` (effective draws before thinning),
        ``divergent`` and ``seconds`` (of the whole simulation).
    retained : int
        Draws that each rank was counted among; ranks go from 0 to `retained`.
    about : mapping
        Header of the study's file.
    """

    table: pd.DataFrame
    retained: int
    about: Mapping[str, Any]

    def ranks(self, quantity: str) -> np.ndarray:
        """Give the ranks of one quantity.

        Parameters
        ----------
        quantity : str
            One of ``table["quantity"]``.

        Returns
        -------
        numpy.ndarray of int, shape (n_simulations,)
            From 0, where all draws lie above the truth, to `retained`.
        """
        return self.table.loc[self.table["quantity"] == quantity, "rank"].to_numpy()

    def uniformity(self, *, false_alarm: float = 0.01) -> pd.DataFrame:
        """Test whether the ranks are uniform, as those of a calibrated posterior are.

        Parameters
        ----------
        false_alarm : float, default 0.01
            Probability, at most, that any quantity of a calibrated posterior is called not uniform.

        Returns
        -------
        pandas.DataFrame
            One row per quantity: ``simulations``; ``p_value`` of the exact test of
            `bayesjudge.lab.uniformity`; ``p_adjusted`` for the number of quantities (Holm);
            ``uniform``, whether that is at least `false_alarm`; ``shift`` in standard errors
            (positive where the posterior lies too low); ``spread`` of the ranks relative to uniform
            ones (above 1 where the posterior is too narrow) with its standard error;
            ``least_ess``, which should not be below `retained`.

        Raises
        ------
        InputError
            If `false_alarm` is not inside (0, 1).
        """
        expect("false_alarm", 0 < false_alarm < 1, f"must lie in (0, 1), got {false_alarm!r}")
        rows = {}
        for quantity, part in self.table.groupby("quantity", sort=False):
            ranks = part["rank"].to_numpy()
            n, flat = ranks.size, np.sqrt(((self.retained + 1) ** 2 - 1) / 12)
            centred = ranks - self.retained / 2
            rows[quantity] = {
                "simulations": n,
                "p_value": p_value(ranks, self.retained),
                "shift": centred.mean() / (flat / np.sqrt(n)),
                "spread": np.sqrt(np.square(centred).mean()) / flat,
                # the fourth moment of a uniform distribution is 1.8 times its squared variance
                "spread_error": np.sqrt(0.8 / n) / 2,
                "least_ess": part["ess"].min(),
            }
        table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("quantity")
        adjusted = holm(table["p_value"].to_numpy())
        table.insert(2, "p_adjusted", adjusted)
        table.insert(3, "uniform", adjusted >= false_alarm)
        return table.astype({"simulations": int})


def sbc(
    posterior: Callable[..., Any],
    *,
    draw_prior: Callable[[np.random.Generator], Truths],
    draw_data: Callable[[Truths, np.random.Generator], Any],
    random_seed: int,
    simulations: int = 500,
    retained: int = 99,
    also: Callable[[Mapping[str, np.ndarray], Any], Mapping[str, np.ndarray]] | None = None,
    path: str | Path | None = None,
    workers: int | None = None,
    resume: bool = True,
    progress: bool | None = None,
) -> RankStudy:
    """Draw truths from the prior and data from the truths, and rank the truths in the posterior.

    Parameters
    ----------
    posterior : callable
        ``posterior(data, rng)`` returns `Draws`, or a mapping of draws of shape
        (chain, draw, ...). For a module's model: `Nuts`.
    draw_prior : callable
        ``draw_prior(rng)`` returns a mapping with a true value for each quantity of the posterior;
        it may hold more. It must respect whatever restricts the model's prior. `PriorDraws` does
        it for a model.
    draw_data : callable
        ``draw_data(truths, rng)`` returns the data. For a module: `Simulated`.
    random_seed : int
        Same seed, same results, for any number of workers and any interruption.
    simulations : int, default 500
        How many truths.
    retained : int, default 99
        Draws kept of each posterior, evenly spaced; it needs as many effective ones.
    also : callable, optional
        ``also(values, data)`` computes more quantities to rank, from values with a leading axis
        over draws. A log-likelihood finds faults that no parameter shows (Modrák et al. 2023).
    path : str or pathlib.Path, optional
        File (``.jsonl``) that keeps the results; a second run continues it.
    workers : int, optional
        Processes; as many as there are cores by default. The functions must then be defined at the
        top level of a module.
    resume : bool, default True
        Continue the file, rather than start over.
    progress : bool, optional
        Show progress; by default in a terminal only.

    Returns
    -------
    RankStudy
        With a table and a test.

    Raises
    ------
    InputError
        If a number is out of its range, truths and posterior do not match, or the file holds
        another study.

    References
    ----------
    Talts et al. (2018), arXiv:1804.06788; Modrák et al. (2023), Bayesian Analysis.

    Examples
    --------
    >>> def draw_prior(rng):
    ...     return {"rate": rng.beta(1, 1)}
    >>> def draw_data(truths, rng):
    ...     return rng.binomial(20, truths["rate"])
    >>> def posterior(passes, rng):
    ...     return {"rate": rng.beta(1 + passes, 21 - passes, size=(1, 200))}
    >>> study = sbc(posterior, draw_prior=draw_prior, draw_data=draw_data, simulations=200,
    ...             random_seed=1, workers=1)
    >>> bool(study.uniformity().loc["rate", "uniform"])
    True
    """
    with checking("sbc") as require:
        require(simulations >= 1, "must be 1 or more", simulations=simulations)
        require(retained >= 1, "must be 1 or more", retained=retained)
    work = Simulation(posterior, draw_prior, draw_data, also, retained, random_seed)
    parts = {name: getattr(work, name) for name in work.__dataclass_fields__}
    header = header_of("sbc", parts.pop("random_seed"), parts)
    tasks = [(i,) for i in range(simulations)]
    how: dict[str, Any] = {"path": path, "workers": workers, "resume": resume, "progress": progress}
    return _study(header, dict(zip(tasks, run(work, tasks, header, **how), strict=True)))


def _study(header: Mapping[str, Any], results: Mapping[Task, Any]) -> RankStudy:
    names = ("rank", "truth", "mean", "sd", "ess")
    rows = [
        {"simulation": task[0], "quantity": label, **dict(zip(names, row, strict=True))}
        | {"divergent": result["divergent"], "seconds": result["seconds"]}
        for task, result in results.items()
        for label, row in result["rows"].items()
    ]
    return RankStudy(pd.DataFrame(rows), int(header["study"]["retained"]), header)


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
    """What `bayesjudge.lab.sbc` does `simulations` times; its parameters are described there."""

    posterior: Callable[..., Any]
    draw_prior: Callable[[np.random.Generator], Truths]
    draw_data: Callable[[Truths, np.random.Generator], Any]
    also: Callable[..., Mapping[str, np.ndarray]] | None
    retained: int
    random_seed: int

    def __call__(self, task: Task) -> dict[str, Any]:
        """Do one."""
        begin = time.perf_counter()
        rngs = [np.random.default_rng(s) for s in seed_of(self.random_seed, *task).spawn(4)]
        truths = self.draw_prior(rngs[0])
        data = self.draw_data(truths, rngs[1])
        posterior = self.posterior(data, rngs[2])
        posterior = posterior if isinstance(posterior, Draws) else Draws(posterior)
        values = {name: np.asarray(array) for name, array in posterior.values.items()}
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
            "divergent": int(posterior.divergent),
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
    """Count effective draws, of the bulk or of the tails, whichever are fewer."""
    from bayesjudge.core.convergence import ess_bulk, ess_tail

    sizes = {}
    for name, array in values.items():
        for index in np.ndindex(array.shape[2:]):
            draws = array[(..., *index)]
            ess = ess_bulk(draws), ess_tail(draws)
            # draws that are all the same have no effective size, and need none
            sizes[_label(name, index)] = float(np.nan_to_num(min(ess), nan=draws.size))
    return sizes


def _scalars(name: str, array: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Split an array with a leading axis over draws."""
    indices = np.ndindex(array.shape[1:])
    return [(_label(name, index), array[(slice(None), *index)]) for index in indices]


def _label(name: str, index: tuple[int, ...]) -> str:
    return f"{name}[{', '.join(map(str, index))}]" if index else name


def _short(*numbers: Any) -> list[float]:
    """Six digits: ranks are exact, and the rest is for pictures."""
    return [float(f"{float(number):.6g}") for number in numbers]
