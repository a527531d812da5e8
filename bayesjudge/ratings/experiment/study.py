"""Simulation study of source 5, Section 6: definitions of performance that select a judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.core.randomness import rng_of
from bayesjudge.ratings.experiment.world import Setting, make_world, observed_people
from bayesjudge.ratings.metrics import (
    Definition,
    Profile,
    definitions,
    prevalence_at,
)

if TYPE_CHECKING:
    import pandas as pd

CUTOFFS = (0.3, 0.5, 0.7)
BUDGETS = (1, 3, 5, 10, 30, 100)


def select(
    setting: Setting,
    *,
    budgets: Sequence[int] = BUDGETS,
    of: Sequence[Definition] | None = None,
    worlds: int = 20,
    pooled: bool = False,
    random_seed: Any = None,
) -> pd.DataFrame:
    """Select a judge by each definition and budget, and evaluate it downstream.

    Parameters
    ----------
    setting : Setting
        The rating task.
    budgets : sequence of int
        Forced choices of people an item.
    of : sequence of Definition, optional
        Definitions to select by; `definitions` by default, without the downstream figures.
    worlds : int, default 20
        Repetitions.
    pooled : bool, default False
        Use one reverse matrix for all items; see `observed_people`.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        Columns ``definition``, ``budget``, ``consistency`` and ``bias`` (absolute) of the judge
        selected, means over cutoffs .3, .5, .7 and worlds, ``consistency_error`` and ``bias_error``
        (standard errors over worlds), and ``best`` (consistency of the best judge).

    Raises
    ------
    InputError
        If a size is not positive.
    """
    import pandas as pd

    with checking("select") as require:
        require(worlds >= 1, "must be 1 or more", worlds=worlds)
        require(all(b >= 1 for b in budgets), f"budgets must be 1 or more, got {list(budgets)}")
    rng = rng_of(random_seed)
    every = tuple(of or (d for d in definitions() if not d.downstream))
    rows = []
    for w in range(worlds):
        world = make_world(setting, rng)
        consistency = mean_over(CUTOFFS, "decision_consistency", world.judges, world.people)
        bias = mean_over(CUTOFFS, "prevalence_bias", world.judges, world.people)
        for budget in budgets:
            people = observed_people(world, budget, rng, pooled=pooled)
            for d in every:
                loss = d.loss(d.value(world.judges, people))
                best = int(np.nanargmin(np.nan_to_num(loss, nan=np.inf, posinf=1e300)))
                worth = consistency[best], bias[best], consistency.max()
                rows.append((str(d), budget, w, *worth))
    columns = ["definition", "budget", "world", "consistency", "bias", "best"]
    grouped = pd.DataFrame(rows, columns=columns).groupby(["definition", "budget"], sort=False)
    table = grouped[["consistency", "bias", "best"]].mean()
    for column in ("consistency", "bias"):
        table[f"{column}_error"] = grouped[column].sem(ddof=1 if worlds > 1 else 0)
    return table.reset_index()


def mean_over(cutoffs: Sequence[float], figure: str, judge: Profile, people: Profile) -> Any:
    """A downstream figure, whatever its sign, averaged over cutoffs."""
    each = [Definition(figure, cutoff=c).value(judge, people) for c in cutoffs]
    return np.abs(each).mean(axis=0)


def rating_budget(
    setting: Setting,
    *,
    budgets: Sequence[int] = BUDGETS,
    worlds: int = 100,
    cutoffs: Sequence[float] = CUTOFFS,
    random_seed: Any = None,
) -> pd.DataFrame:
    """Compute how often a few ratings of an item categorise it as all raters would.

    Parameters
    ----------
    setting : Setting
        The rating task.
    budgets : sequence of int
        Forced choices an item.
    worlds : int, default 100
        Repetitions.
    cutoffs : sequence of float
        Averaged over.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        Index ``budget``; columns ``own`` and ``pooled``: decision consistency with each item's own
        reverse matrix and with one for all, and ``choices``, from the shares of choices.
    """
    import pandas as pd

    rng = rng_of(random_seed)
    sums = np.zeros((len(budgets), 3))
    for _ in range(worlds):
        world = make_world(setting, rng)
        for b, budget in enumerate(budgets):
            by_item = observed_people(world, budget, rng)
            pooled = observed_people(world, budget, rng, pooled=True)
            plain = Profile(by_item.chosen, by_item.chosen)
            for i, profile in enumerate((by_item, pooled, plain)):
                sums[b, i] += mean_over(cutoffs, "decision_consistency", profile, world.people)
    index = pd.Index(list(budgets), name="budget")
    return pd.DataFrame(sums / worlds, index=index, columns=["own", "pooled", "choices"])


def choice_bias(
    setting: Setting,
    *,
    worlds: int = 100,
    cutoffs: Sequence[float] = CUTOFFS,
    random_seed: Any = None,
) -> pd.Series:
    """Compute the bias of prevalences by shares of choices, without sampling error.

    Parameters
    ----------
    setting : Setting
        The rating task.
    worlds : int, default 100
        Repetitions.
    cutoffs : sequence of float
        Shares of raters from which an item counts as positive.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same numbers.

    Returns
    -------
    pandas.Series
        By cutoff: prevalence by choices less that by endorsements; below 0 forced choices
        underestimate.
    """
    import pandas as pd

    rng = rng_of(random_seed)
    total = np.zeros(len(cutoffs))
    for _ in range(worlds):
        people = make_world(setting, rng).people
        plain = Profile(people.chosen, people.chosen)
        total += [prevalence_at(plain, cutoff=c) - prevalence_at(people, cutoff=c) for c in cutoffs]
    return pd.Series(total / worlds, index=pd.Index(list(cutoffs), name="cutoff"))
