"""Simulated answers of people and judges whose response sets are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.core.randomness import rng_of
from bayesjudge.ratings.response_sets import (
    all_response_sets,
    choice_matrix,
    error_matrix,
    membership,
)

if TYPE_CHECKING:
    import pandas as pd


def simulate(
    *,
    items: int = 120,
    options: Sequence[str] = ("yes", "no"),
    shares: Sequence[float] = (0.35, 0.4, 0.25),
    concentration: float = 4.0,
    strength: float = 1.0,
    judges: Sequence[str] = ("gpt", "claude"),
    similarity: Sequence[float] = (0.9, 0.5),
    judge_strength: Sequence[float] = (1.0, -1.0),
    choices: int = 3,
    set_items: float = 0.5,
    response_sets: int = 3,
    together: bool = False,
    error: float = 0.0,
    skew: float = 0.0,
    random_seed: Any = None,
) -> pd.DataFrame:
    """Simulate the table that `Ratings.from_frame` reads.

    Each item has its own shares of response sets, Dirichlet around `shares`; a judge's shares are
    a mix of people's and of its own.

    Parameters
    ----------
    items : int, default 120
        How many.
    options : sequence of str
        The positive one first.
    shares : sequence of float, length ``2 ** len(options) - 1``
        Mean share of each response set over items, in the order of `all_response_sets`.
    concentration : float, default 4
        Of items around the mean: high if items are alike.
    strength : float, default 1
        Selection strength of people: above 0 they prefer the first option of their set.
    judges : sequence of str
        Names.
    similarity : sequence of float
        By judge: how much of people's shares its own contain, in [0, 1].
    judge_strength : sequence of float
        By judge: its selection strength.
    choices, response_sets : int, default 3
        Forced choices of each item, and response sets of each of the items asked for them, by
        people and by each judge.
    set_items : float, default 0.5
        Share of items on which response sets are asked for.
    together : bool, default False
        Ask the raters who give response sets for their choice too.
    error, skew : float, default 0
        People's error rate and its skew; see `error_matrix`.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        Columns ``item``, ``rater``, ``choice`` and ``response_set`` (options joined by ``|``), one
        row an answer.

    Raises
    ------
    InputError
        If sizes are negative, shares do not sum to 1, or lengths differ.

    Examples
    --------
    >>> simulate(items=2, judges=(), similarity=(), judge_strength=(), random_seed=1).shape
    (9, 4)
    """
    import pandas as pd

    sets = all_response_sets(options)
    members = membership(options, sets)
    with checking("ratings.simulate") as require:
        require(concentration > 0, "must be positive", concentration=concentration)
        require(0 <= set_items <= 1, "must be a share, from 0 to 1", set_items=set_items)
        require(items >= 1 and choices >= 0 and response_sets >= 0, "sizes must not be negative")
        require(len(shares) == len(sets), f"shares needs {len(sets)} entries, got {len(shares)}")
        require(abs(sum(shares) - 1) < 1e-9, f"shares must sum to 1, they sum to {sum(shares)}")
        sizes = {len(judges), len(similarity), len(judge_strength)}
        require(len(sizes) == 1, "judges, similarity and judge_strength differ in length")
    rng = rng_of(random_seed)
    alpha = concentration * np.asarray(shares, float)
    people = rng.dirichlet(alpha, items)
    asked = np.flatnonzero(np.arange(items) < round(set_items * items))
    labels = np.array(["|".join(s) for s in sets], dtype=object)
    about = (np.asarray(options, dtype=object), labels, asked, choices, response_sets, together)
    tables = [
        _answers(
            rng,
            people @ error_matrix(members, error, skew).T,
            choice_matrix(members, strength),
            None,
            about,
        )
    ]
    for name, alike, how in zip(judges, similarity, judge_strength, strict=True):
        shares_of_judge = alike * people + (1 - alike) * rng.dirichlet(alpha, items)
        tables.append(_answers(rng, shares_of_judge, choice_matrix(members, how), name, about))
    return pd.concat(tables, ignore_index=True)


def _answers(
    rng: np.random.Generator, shares: np.ndarray, choice: np.ndarray, name: str | None, about: tuple
) -> pd.DataFrame:
    """Rows of one source; people are numbered within an item, a judge repeats its name."""
    import pandas as pd

    options, labels, asked, choices, response_sets, together = about
    item = np.concatenate(
        [np.repeat(np.arange(len(shares)), choices), np.repeat(asked, response_sets)]
    )
    given_set = np.arange(item.size) >= len(shares) * choices
    drawn = _pick(rng, shares[item])
    picked = _pick(rng, choice.T[drawn])
    place = np.concatenate(
        [
            np.tile(np.arange(choices), len(shares)),
            choices + np.tile(np.arange(response_sets), asked.size),
        ]
    )
    rater = [name] * item.size if name else [f"person {i}" for i in place]
    choose = ~given_set | together
    return pd.DataFrame(
        {
            "item": item,
            "rater": rater,
            "choice": np.where(choose, options[picked], None),
            "response_set": np.where(given_set, labels[drawn], None),
        }
    )


def _pick(rng: np.random.Generator, shares: np.ndarray) -> np.ndarray:
    """One category per row."""
    edges = np.cumsum(shares, axis=1)
    return (rng.random((len(shares), 1)) * edges[:, -1:] > edges).sum(axis=1)
