"""Tables as a user would bring them, from known parameters and a seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.core.randomness import rng_of
from bayesjudge.leaderboard.likelihood import chances

if TYPE_CHECKING:
    import pandas as pd


def simulate(
    *,
    strengths: tuple[float, ...] = (0.8, 0.3, 0.0, -0.3, -0.8),
    favours: tuple[float, ...] = (0.0, 0.6, 0.0, 0.0, 0.0),
    sharpness: float = 0.7,
    order_effect: float = 0.3,
    tie: float = 0.4,
    items: int = 100,
    labelled: float = 0.2,
    length_effect: float = 0.0,
    random_seed: Any = None,
) -> pd.DataFrame:
    """Draw a round robin: every pair on some items, by a judge and now and then by people.

    Parameters
    ----------
    strengths : tuple of float
        People's log-odds, by system.
    favours : tuple of float
        What the judge likes beyond people, in people's log-odds.
    sharpness : float, default 0.7
        People's gap for one unit of the judge's.
    order_effect : float, default 0.3
        What the judge likes the answer shown first more, in log-odds.
    tie : float, default 0.4
        Davidson's tie parameter, of people and judge.
    items : int, default 100
        Battles of each pair; in turn one and the other answer is shown first.
    labelled : float, default 0.2
        Share of the battles with people's verdict.
    length_effect : float, default 0
        What one unit of log length adds to the judge's log-odds.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        Columns ``item``, ``model_a``, ``model_b``, ``winner`` (the judge's), ``human``, None if
        people were not asked, and ``length_a`` and ``length_b`` of the answers.

    Raises
    ------
    InputError
        If there are fewer than two systems, a number is missing, or one is out of its range.
    """
    people, more = np.array(strengths, float), np.array(favours, float)
    with checking("leaderboard.simulate") as require:
        words = "needs a number for each of two systems or more"
        require(people.ndim == 1 and len(people) > 1, words, strengths=strengths)
        require(more.shape == people.shape, "needs one number for each system", favours=favours)
        require(sharpness > 0, "must be positive", sharpness=sharpness)
        require(tie > 0, "must be positive", tie=tie)
        require(0 <= labelled <= 1, "must be a share, from 0 to 1", labelled=labelled)
        require(items >= 1, "must be 1 or more", items=items)
    rng = rng_of(random_seed)
    judge = (people + more) / sharpness
    names = np.array([f"s{i + 1}" for i in range(len(people))])
    a, b = (np.repeat(x, items) for x in np.triu_indices(len(people), 1))
    turned = np.arange(len(a)) % 2 == 1
    a, b = np.where(turned, b, a), np.where(turned, a, b)

    def verdicts(eta: np.ndarray) -> np.ndarray:
        first, ties, _ = chances(eta, np.log(tie))
        at = rng.random(len(eta))
        return np.select([at < first, at < first + ties], ["A", "tie"], "B").astype(object)

    longer = rng.normal(0, 0.4, (2, len(a)))
    leaning = order_effect + length_effect * (longer[0] - longer[1])
    winner, human = verdicts(judge[a] - judge[b] + leaning), verdicts(people[a] - people[b])
    human[rng.random(len(a)) >= labelled] = None
    import pandas as pd

    return pd.DataFrame(
        {
            "item": [f"battle {i}" for i in range(len(a))],
            "model_a": names[a],
            "model_b": names[b],
            "winner": winner,
            "human": human,
            "length_a": np.round(1000 * np.exp(longer[0])),
            "length_b": np.round(1000 * np.exp(longer[1])),
        }
    )
