"""Consistency of categorical verdicts that were asked again."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import stdtrit

from bayesjudge.core import methods
from bayesjudge.core.errors import check_ci_prob, expect
from bayesjudge.core.estimate import Assumption, Caution, Estimate, Quantity
from bayesjudge.core.randomness import rng_of
from bayesjudge.repeats.checks import EXCHANGEABLE

SOURCE = "Dirichlet posterior of the largest share; Fleiss (1971) for agreement within items"
RANDOM_ITEMS = Assumption.of("random-items")
#: Draws of the posterior of the largest share, for each pattern of counts.
DRAWS = 4000


def consistency(
    table: Any,
    *,
    verdict: str = "verdict",
    item: str = "item",
    judge: str | None = None,
    verdicts: tuple[str, ...] = (),
    ci_prob: float = 0.95,
    random_seed: int | np.random.Generator | None = 0,
) -> Estimate:
    """Estimate how often a judge gives its usual verdict, and twice the same one.

    Parameters
    ----------
    table : dataframe
        One row per answer; an empty verdict is one that could not be read.
    verdict, item : str
        Columns.
    judge : str, optional
        Column that names the judge; one judge without.
    verdicts : tuple of str
        All verdicts that a judge can give; those that occur by default.
    ci_prob : float, default 0.95
        Probability of the intervals.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same ends.

    Returns
    -------
    Estimate
        ``modal_share`` by item (and judge): the probability of the item's most probable verdict,
        observed, with the equal-tailed interval of its posterior under a Dirichlet prior of total
        mass 1. The observed share is too large on average, by more the fewer the answers: its
        interval may lie below it. ``same_twice`` (by judge): the probability that two answers about
        one item agree, without bias, with a t interval over items; items with one answer have none.

    Raises
    ------
    InputError
        If a column is missing, a verdict is not among `verdicts`, or nothing was asked twice.

    References
    ----------
    Fleiss (1971), Psychol. Bull. 76, 378-382.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"item": list("aaaabbbb"), "verdict": list("PPPPPPFF")})
    >>> found = consistency(table)
    >>> found["modal_share", "a"].value, round(found["same_twice"].value, 3)
    (1.0, 0.667)
    """
    check_ci_prob(ci_prob)
    names = [c for c in (item, judge) if c is not None]
    counts, labels, unread = _counted(table, verdict, names, verdicts)
    n = counts.sum(axis=1)
    expect("repeats.consistency", bool((n > 1).any()), "not-repeated")
    dims = tuple("item" if c == item else "judge" for c in names)
    share = counts.max(axis=1) / n
    low, high = _largest_share(counts, ci_prob, random_seed)
    modal = Quantity(share, low, high, dims, labels)
    same = (counts * (counts - 1)).sum(axis=1)[n > 1] / (n * (n - 1))[n > 1]
    who = np.array([label[1] if judge else "" for label in labels])[n > 1]
    rows = {(name,) if judge else (): _mean(same[who == name], ci_prob) for name in _distinct(who)}
    cautions = []
    if unread:
        cautions = [
            Caution.of("unparsed-answers", "verdicts", unread=unread, total=unread + int(n.sum()))
        ]
    return Estimate(
        {"modal_share": modal, "same_twice": Quantity.of_rows(rows, dims[1:])},
        method=methods.CONSISTENCY,
        ci_prob=ci_prob,
        source=SOURCE,
        interval={"modal_share": "equal-tailed", "same_twice": "t by item"},
        assumptions=(EXCHANGEABLE, RANDOM_ITEMS),
        cautions=tuple(cautions),
    )


def _counted(
    table: Any, verdict: str, names: list[str], verdicts: tuple[str, ...]
) -> tuple[np.ndarray, list[tuple[str, ...]], int]:
    """Counts (cell, verdict), the cells' names, and how many answers held no verdict."""
    from bayesjudge.core.labels import spell
    from bayesjudge.core.tables import count_rows

    rows, n_rows = count_rows(table, verdict, names=names)
    said = [None if cell is None or cell != cell else spell(cell) for cell in rows[verdict]]
    known = tuple(map(str, verdicts)) or tuple(sorted({v for v in said if v}))
    strange = sorted({v for v in said if v} - set(known))
    problem = f"{strange[:3]} are not among the verdicts {list(known)}"
    expect(f"column {verdict!r}", not strange, problem)
    cells = [tuple(map(str, row)) for row in rows[names].itertuples(index=False)]
    read = dict.fromkeys(cell for cell, answer in zip(cells, said, strict=True) if answer)
    place = {cell: i for i, cell in enumerate(read)}
    counts = np.zeros((len(place), max(len(known), 2)), np.int64)
    unread = 0
    for cell, answer, times in zip(cells, said, n_rows, strict=True):
        if answer:
            counts[place[cell], known.index(answer)] += times
        else:
            unread += int(times)
    return counts, list(place), unread


def _largest_share(
    counts: np.ndarray, ci_prob: float, random_seed: int | np.random.Generator | None
) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the posterior of the largest probability, by pattern of counts."""
    rng = rng_of(random_seed)
    patterns, place = np.unique(np.sort(counts, axis=1), axis=0, return_inverse=True)
    tails = [(1 - ci_prob) / 2, (1 + ci_prob) / 2]
    ends = []
    for pattern in patterns:
        drawn = rng.dirichlet(pattern + 1 / counts.shape[1], size=DRAWS).max(axis=1)
        ends.append(np.quantile(drawn, tails))
    by_cell = np.array(ends)[place.ravel()]
    return by_cell[:, 0], by_cell[:, 1]


def _mean(values: np.ndarray, ci_prob: float) -> tuple[float, float, float]:
    mean, n = float(values.mean()), values.size
    if n < 2:
        return mean, np.nan, np.nan
    half = float(stdtrit(n - 1, (1 + ci_prob) / 2) * values.std(ddof=1) / np.sqrt(n))
    return mean, max(mean - half, 0.0), min(mean + half, 1.0)


def _distinct(names: np.ndarray) -> list[str]:
    return list(dict.fromkeys(names.tolist()))
