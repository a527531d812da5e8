"""Attempts as an agent's log has them, from known chances and a seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.core.randomness import rng_of

if TYPE_CHECKING:
    import pandas as pd


def simulate(
    *,
    prevalence: Sequence[float] = (0.6, 0.45),
    task_correlation: float = 0.4,
    always: float = 0.0,
    never: float = 0.0,
    shared_difficulty: float = 0.3,
    sensitivity: float = 0.9,
    specificity: float = 0.8,
    persistence: float = 0.3,
    tasks: int = 50,
    attempts: int = 4,
    labels: int = 100,
    cost: float = 0.1,
    unparsed: tuple[float, float] = (0.0, 0.0),
    errors: Sequence[float | tuple[float, float]] = (),
    random_seed: Any = None,
) -> pd.DataFrame:
    """Draw verdicts on the attempts of agents at the same tasks.

    Parameters
    ----------
    prevalence : sequence of float, default (0.6, 0.45)
        pass@1 of each agent.
    task_correlation : float, default 0.4
        Of two attempts at one task of given difficulty.
    always, never : float, default 0.0
        Share of the successes at tasks that are always done, and of the failures at those never.
    shared_difficulty : float, default 0.3
        How far agents share the difficulty of a task.
    sensitivity, specificity, persistence : float
        The judge's: 0.9, 0.8 and 0.3 by default.
    tasks, attempts : int
        Tasks, and attempts of each agent at each: 50 and 4 by default.
    labels : int, default 100
        Attempts of each agent that people label, drawn at random.
    cost : float, default 0.1
        Mean cost of an attempt.
    unparsed : tuple of float, default (0.0, 0.0)
        Probabilities that a good, and that a bad, attempt gets no verdict.
    errors : sequence of float or of tuple, default ()
        Share of good, and of bad, attempts that each of several people calls wrongly: one or both.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        Columns ``task``, ``attempt``, ``system``, ``verdict``, ``truth`` (missing without a label)
        and ``cost``; with `errors` ``ann1``, ``ann2`` and so on.

    Raises
    ------
    InputError
        If a size or a share is out of its range.
    """
    from scipy.special import ndtr, ndtri

    shares = {"sensitivity": sensitivity, "specificity": specificity, "persistence": persistence}
    with checking("attempts.simulate") as require:
        for name, size in {"tasks": tasks, "attempts": attempts}.items():
            require(size >= 1, "must be 1 or more", **{name: size})
        require(labels >= 0, "must be 0 or more", labels=labels)
        require(0 < task_correlation < 1, "must lie in (0, 1)", task_correlation=task_correlation)
        for name, share in {"always": always, "never": never}.items():
            require(0 <= share < 1, "must lie in [0, 1)", **{name: share})
        for name, share in shares.items():
            require(0 <= share <= 1, "must lie in [0, 1]", **{name: share})
    rng = rng_of(random_seed)
    shape = (len(prevalence), tasks, attempts)
    difficulty = rng.standard_normal(tasks) if len(prevalence) > 1 else np.zeros(tasks)
    shared = shared_difficulty if len(prevalence) > 1 else 0.0
    at = ndtri(np.asarray(prevalence, float))[:, None] + np.sqrt(shared) * difficulty
    mean = np.clip(ndtr(at / np.sqrt(1 - shared)), 1e-9, 1 - 1e-9)
    weight = 1 / task_correlation - 1
    sure, lost = always * mean, never * (1 - mean)
    rest = (mean - sure) / (1 - sure - lost)
    chance = rng.beta(rest * weight, (1 - rest) * weight)
    if always or never:
        of_kind = rng.random(chance.shape)
        chance = np.where(of_kind < sure, 1.0, np.where(of_kind > 1 - lost, 0.0, chance))
    good = rng.random(shape) < chance[..., None]
    once = rng.random((*shape[:2], 1)) < persistence
    hits, right = (
        np.where(once, rng.random((*shape[:2], 1)) < rate, rng.random(shape) < rate)
        for rate in (sensitivity, specificity)
    )
    verdict = np.where(good, hits, ~right).astype(int)
    labelled = np.argsort(rng.random((shape[0], tasks * attempts))) < labels
    truth = np.where(labelled.reshape(shape), good.astype(float), np.nan)
    agent, task, attempt = (x.ravel() for x in np.indices(shape))
    import pandas as pd

    table = pd.DataFrame(
        {
            "task": [f"task {i + 1}" for i in task],
            "attempt": attempt + 1,
            "system": [f"agent {i + 1}" for i in agent],
            "verdict": verdict.ravel(),
            "truth": truth.ravel(),
            "cost": np.round(cost * rng.gamma(4, 1 / 4, good.size), 4),
        }
    )
    if any(unparsed):
        lost = rng.random(shape) < np.where(good, *unparsed)
        table["verdict"] = table["verdict"].mask(lost.ravel())
    for person, error in enumerate(errors, start=1):
        of_good, of_bad = np.broadcast_to(error, 2)
        wrong = rng.random(good.size) < np.where(good.ravel(), of_good, of_bad)
        table[f"ann{person}"] = np.abs(table["truth"] - wrong)
    return table
