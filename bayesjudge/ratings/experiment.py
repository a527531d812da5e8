"""Which definition of performance selects a good judge? Source 5, Section 6, as a simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bayesjudge.core.errors import checking
from bayesjudge.ratings.aggregation import Profile
from bayesjudge.ratings.algebra import (
    all_response_sets,
    choice_matrix,
    error_matrix,
    forward,
    membership,
    reverse,
)
from bayesjudge.ratings.definitions import (
    DOWNSTREAM,
    Definition,
    decision_consistency,
    definitions,
    prevalence_at,
    prevalence_bias,
)

CUTOFFS = (0.3, 0.5, 0.7)
BUDGETS = (1, 3, 5, 10, 30, 100)


@dataclass(frozen=True)
class Setting:
    """One rating task of the study.

    Parameters
    ----------
    options : int, default 3
        How many; the first is the positive one.
    specified : bool, default False
        Whether every response set is a single option.
    people, judges : float, default 0
        Selection strength: above 0 the positive option is preferred.
    error, skew : float, default 0
        People's error rate and its skew.
    items, n_judges : int
        Sizes.

    Examples
    --------
    >>> Setting(people=1.0, judges=-1.0).asymmetric
    True
    """

    options: int = 3
    specified: bool = False
    people: float = 0.0
    judges: float = 0.0
    error: float = 0.0
    skew: float = 0.0
    items: int = 100
    n_judges: int = 50

    @property
    def asymmetric(self) -> bool:
        """Whether people and judges prefer opposite ends."""
        return self.people * self.judges < 0


@dataclass(frozen=True)
class World:
    """People and judges whose response sets are known.

    Parameters
    ----------
    members : numpy.ndarray, shape (K, Q)
        Which option is in which set.
    shares : numpy.ndarray, shape (n_items, Q)
        People's stable response sets.
    choice, error : numpy.ndarray
        People's F (K, Q) and E (Q, Q).
    people : Profile
        What people would answer, shape (n_items, K); endorsements without errors.
    judges : Profile
        Shape (n_judges, n_items, K).
    """

    members: np.ndarray
    shares: np.ndarray
    choice: np.ndarray
    error: np.ndarray
    people: Profile
    judges: Profile


def to_simplex(points: np.ndarray) -> np.ndarray:
    """Project onto the probability simplex, in Euclidean distance.

    Parameters
    ----------
    points : numpy.ndarray, shape (..., Q)
        Any numbers.

    Returns
    -------
    numpy.ndarray, shape (..., Q)
        The nearest shares.

    References
    ----------
    Duchi et al. (2008), ICML, Figure 1.

    Examples
    --------
    >>> to_simplex(np.array([0.6, 0.6, -0.2])).tolist()
    [0.5, 0.5, 0.0]
    """
    ordered = -np.sort(-points, axis=-1)
    excess = np.cumsum(ordered, axis=-1) - 1
    ranks = np.arange(1, points.shape[-1] + 1)
    held = (ordered - excess / ranks > 0).sum(axis=-1, keepdims=True)
    shift = np.take_along_axis(excess, held - 1, axis=-1) / held
    return np.maximum(points - shift, 0)


def make_world(setting: Setting, rng: np.random.Generator) -> World:
    """Draw people and judges.

    Parameters
    ----------
    setting : Setting
        The task.
    rng : numpy.random.Generator
        Source of chance.

    Returns
    -------
    World
        Judges are people with Gaussian noise of sd .02 to .4 on their response sets, projected.
    """
    options = [str(k) for k in range(setting.options)]
    sets = [(o,) for o in options] if setting.specified else all_response_sets(options)
    members = membership(options, sets)
    q = members.shape[1]
    shares = rng.dirichlet(np.ones(q), setting.items)
    error = error_matrix(members, setting.error, setting.skew)
    choice = choice_matrix(members, setting.people)
    chosen, _ = forward(shares, choice, error, members)
    noise = rng.uniform(0.02, 0.4, setting.n_judges)[:, None, None]
    theirs = to_simplex(shares + noise * rng.normal(size=(setting.n_judges, setting.items, q)))
    judge_choice = choice_matrix(members, setting.judges)
    return World(
        members=members,
        shares=shares,
        choice=choice,
        error=error,
        people=Profile(chosen, shares @ members.T),
        judges=Profile(*forward(theirs, judge_choice, np.eye(q), members)),
    )


def rated(world: World, budget: int, rng: np.random.Generator, *, pooled: bool = False) -> Profile:
    """People as a few forced choices an item show them, turned back into response sets.

    Parameters
    ----------
    world : World
        What is true.
    budget : int
        Forced choices an item.
    rng : numpy.random.Generator
        Source of chance.
    pooled : bool, default False
        Turn back by one reverse matrix for all items, from their mean shares: what a study can
        know. Otherwise by each item's own, as the source does.

    Returns
    -------
    Profile
        Of the same items.
    """
    counts = rng.multinomial(budget, world.people.chosen)
    seen = counts / budget
    about = world.shares.mean(axis=0) if pooled else world.shares
    to_sets, to_stable = reverse(about, world.choice, world.error)
    shares = (to_stable @ to_sets @ seen[..., None])[..., 0]
    return Profile(seen, shares @ world.members.T)


def select(
    setting: Setting,
    *,
    budgets: Sequence[int] = BUDGETS,
    of: Sequence[Definition] | None = None,
    worlds: int = 20,
    pooled: bool = False,
    random_seed: Any = None,
) -> pd.DataFrame:
    """Select a judge by each definition and budget, and see what it is worth downstream.

    Parameters
    ----------
    setting : Setting
        The rating task.
    budgets : sequence of int
        Forced choices an item that people are asked for.
    of : sequence of Definition, optional
        Definitions to select by; `definitions` by default, without the downstream figures.
    worlds : int, default 20
        Repetitions.
    pooled : bool, default False
        See `rated`.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        Columns ``definition``, ``budget``, ``consistency`` and ``bias`` (absolute) of the judge
        selected, means over cutoffs .3, .5, .7 and worlds, ``consistency_error`` and ``bias_error``
        (standard errors over worlds), and ``best`` (consistency of the best judge there is).

    Raises
    ------
    InputError
        Where a size is not positive.
    """
    with checking("select") as require:
        require(worlds >= 1, f"worlds must be 1 or more, got {worlds}")
        require(all(b >= 1 for b in budgets), f"budgets must be 1 or more, got {list(budgets)}")
    rng = np.random.default_rng(random_seed)
    every = tuple(of or (d for d in definitions() if d.metric not in DOWNSTREAM))
    found = []
    for w in range(worlds):
        world = make_world(setting, rng)
        pair = world.judges, world.people
        worth = (
            np.mean([decision_consistency(*pair, cutoff=c) for c in CUTOFFS], axis=0),
            np.mean([np.abs(prevalence_bias(*pair, cutoff=c)) for c in CUTOFFS], axis=0),
        )
        for budget in budgets:
            people = rated(world, budget, rng, pooled=pooled)
            for d in every:
                loss = d.loss(d.value(world.judges, people))
                best = int(np.nanargmin(np.nan_to_num(loss, nan=np.inf, posinf=1e300)))
                found.append((str(d), budget, w, worth[0][best], worth[1][best], worth[0].max()))
    columns = ["definition", "budget", "world", "consistency", "bias", "best"]
    grouped = pd.DataFrame(found, columns=columns).groupby(["definition", "budget"], sort=False)
    table = grouped[["consistency", "bias", "best"]].mean()
    for column in ("consistency", "bias"):
        table[f"{column}_error"] = grouped[column].sem(ddof=1 if worlds > 1 else 0)
    return table.reset_index()


def rating_budget(
    setting: Setting,
    *,
    budgets: Sequence[int] = BUDGETS,
    worlds: int = 100,
    cutoffs: Sequence[float] = CUTOFFS,
    random_seed: Any = None,
) -> pd.DataFrame:
    """How often do a few ratings an item categorise it as all raters would?

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
        reverse matrix and with one for all, and ``choices``, with choices as they are.
    """
    rng = np.random.default_rng(random_seed)
    sums = np.zeros((len(budgets), 3))
    for _ in range(worlds):
        world = make_world(setting, rng)
        for b, budget in enumerate(budgets):
            own = rated(world, budget, rng)
            pooled = rated(world, budget, rng, pooled=True)
            plain = Profile(own.chosen, own.chosen)
            for i, profile in enumerate((own, pooled, plain)):
                sums[b, i] += np.mean(
                    [decision_consistency(profile, world.people, cutoff=c) for c in cutoffs]
                )
    index = pd.Index(list(budgets), name="budget")
    return pd.DataFrame(sums / worlds, index=index, columns=["own", "pooled", "choices"])


def choice_bias(
    setting: Setting,
    *,
    worlds: int = 100,
    cutoffs: Sequence[float] = CUTOFFS,
    random_seed: Any = None,
) -> pd.Series:
    """Prevalence by shares of choices, less that by endorsements, without sampling error.

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
        By cutoff; below 0 forced choices underestimate.
    """
    rng = np.random.default_rng(random_seed)
    total = np.zeros(len(cutoffs))
    for _ in range(worlds):
        people = make_world(setting, rng).people
        plain = Profile(people.chosen, people.chosen)
        total += [prevalence_at(plain, cutoff=c) - prevalence_at(people, cutoff=c) for c in cutoffs]
    return pd.Series(total / worlds, index=pd.Index(list(cutoffs), name="cutoff"))
