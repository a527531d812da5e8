"""Simulator of source 5, Section 6: people and judges whose response sets are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesjudge.ratings.metrics import Profile
from bayesjudge.ratings.response_sets import (
    all_response_sets,
    choice_matrix,
    error_matrix,
    forward,
    membership,
    reverse,
)


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
    """

    options: int = 3
    specified: bool = False
    people: float = 0.0
    judges: float = 0.0
    error: float = 0.0
    skew: float = 0.0
    items: int = 100
    n_judges: int = 50


@dataclass(frozen=True)
class World:
    """People and judges whose response sets are known.

    Parameters
    ----------
    members : numpy.ndarray, shape (K, Q)
        Membership of options in response sets.
    shares : numpy.ndarray, shape (n_items, Q)
        People's stable response sets.
    choice, error : numpy.ndarray
        People's F (K, Q) and E (Q, Q).
    people : Profile
        Expected answers of people, shape (n_items, K); endorsements without errors.
    judges : Profile
        Expected answers of judges, shape (n_judges, n_items, K).
    """

    members: np.ndarray
    shares: np.ndarray
    choice: np.ndarray
    error: np.ndarray
    people: Profile
    judges: Profile


def _to_simplex(points: np.ndarray) -> np.ndarray:
    """Nearest shares in Euclidean distance (Duchi et al. 2008, ICML, Figure 1)."""
    ordered = -np.sort(-points, axis=-1)
    excess = np.cumsum(ordered, axis=-1) - 1
    ranks = np.arange(1, points.shape[-1] + 1)
    held = (ordered - excess / ranks > 0).sum(axis=-1, keepdims=True)
    shift = np.take_along_axis(excess, held - 1, axis=-1) / held
    return np.maximum(points - shift, 0)


def make_world(setting: Setting, rng: np.random.Generator) -> World:
    """Draw people and judges of a rating task.

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
    theirs = _to_simplex(shares + noise * rng.normal(size=(setting.n_judges, setting.items, q)))
    judge_choice = choice_matrix(members, setting.judges)
    return World(
        members=members,
        shares=shares,
        choice=choice,
        error=error,
        people=Profile(chosen, shares @ members.T),
        judges=Profile(*forward(theirs, judge_choice, np.eye(q), members)),
    )


def observed_people(
    world: World, budget: int, rng: np.random.Generator, *, pooled: bool = False
) -> Profile:
    """Estimate people's answers from a few forced choices an item, by reverse matrices.

    Parameters
    ----------
    world : World
        What is true.
    budget : int
        Forced choices an item.
    rng : numpy.random.Generator
        Source of chance.
    pooled : bool, default False
        Use one reverse matrix for all items, from their mean shares, which a study can know. By
        default each item's own, as the source does.

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
