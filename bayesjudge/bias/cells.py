"""Pairing re-judged scores with their baselines, and what the normal model needs of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from bayesjudge.core.errors import checking


def take_repeats(rows: pd.DataFrame, baseline: str, repeats: str | None) -> tuple[Any, int]:
    """Settle what several scores of one item, judge and variant are.

    Parameters
    ----------
    rows : pandas.DataFrame
        From `read_table`.
    baseline : str
        The baseline variant.
    repeats : {"mean", "neighbours"} or None
        What the user said of them.

    Returns
    -------
    rows : pandas.DataFrame
        One row a released score: averaged where repeats are, with a column ``repeat``. A mean
        that lacks one of its scores is a missing score.
    averaged : int
        How many scores are averaged into a released one (the most common number).

    Raises
    ------
    InputError
        Where there are repeats and the user said nothing, or the baseline has several scores and
        none of them is the released one.
    """
    keys = ["item", "judge", "variant"]
    scores = [name for name in rows.columns if name not in keys]
    sizes = rows.groupby(keys, sort=False).size()
    several = sizes[sizes > 1]
    base = several[several.index.get_level_values("variant") == baseline]
    with checking("bias.Shifts.from_frame") as require:
        allowed = (None, "mean", "neighbours")
        require(repeats in allowed, f"repeats={repeats!r}: expected mean or neighbours")
        example = dict(zip(keys, several.index[0], strict=True)) if len(several) else {}
        require(
            several.empty or repeats,
            f"{len(several)} combinations of {keys} have several scores, for example {example}; "
            "say what they are: repeats='mean' (the released score is their mean) or "
            "repeats='neighbours' (each is a neighbour of its own)",
        )
        require(
            repeats != "neighbours" or base.empty,
            f"the baseline has several scores for {len(base)} items, and only one can be the "
            "released one; name the others as a variant and pass it as rerun=",
        )
    if repeats == "mean":
        means = rows.groupby(keys, sort=False, as_index=False)[scores].mean(skipna=False)
        return means.assign(repeat=0), int(sizes.mode().iloc[0])
    return rows.assign(repeat=rows.groupby(keys, sort=False).cumcount()), 1


def pair_with_baseline(
    rows: pd.DataFrame, scores: tuple[str, ...], baseline: str
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Put each re-judged score beside the baseline of its item and judge.

    Parameters
    ----------
    rows : pandas.DataFrame
        From `take_repeats`.
    scores : tuple of str
        Score columns.
    baseline : str
        The baseline variant.

    Returns
    -------
    rows : pandas.DataFrame
        The re-judged ones.
    after, before : numpy.ndarray, shape (n, n_scores)
        ``nan`` where missing.

    Raises
    ------
    InputError
        Where a re-judged item has no baseline row.
    """
    is_base = rows["variant"] == baseline
    base = rows[is_base].set_index(["item", "judge"])[list(scores)]
    others = rows[~is_base].reset_index(drop=True)
    keys = pd.MultiIndex.from_frame(others[["item", "judge"]])
    lacking = keys[~keys.isin(base.index)].unique()
    with checking("bias.Shifts.from_frame") as require:
        require(
            lacking.empty,
            f"{len(lacking)} re-judged items have no baseline row, for example "
            f"{lacking[:3].tolist()} (item, judge)",
        )
    before = base.reindex(keys).to_numpy(float)
    return others, others[list(scores)].to_numpy(float), before


def count_cells(
    read: Any, score: str, baseline: str, reruns: tuple[str, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Sufficient statistics of the normal model: what the scores say, cell by cell.

    Parameters
    ----------
    read : bayesjudge.bias.reading.Read
        The table, repeats and all.
    score : str
        The one score column.
    baseline : str
        The baseline variant.
    reruns : tuple of str
        Variants that are the baseline again: their scores join it.

    Returns
    -------
    counts, means : numpy.ndarray, shape (n_judges, n_items, 1 + n_perturbations)
        Scores a cell and their mean (0 where there is none); the baseline first, reruns left out
        of the perturbations.
    squares, freedom : numpy.ndarray, shape (n_judges,)
        Sum of squares of scores about their cell's mean, and its degrees of freedom.
    """
    variants = [baseline, *(v for v in read.perturbations if v not in reruns)]
    rows = read.rows.dropna(subset=[score])
    variant = rows["variant"].where(~rows["variant"].isin(reruns), baseline)
    shape = (len(read.judges), len(read.items), len(variants))
    place = (
        pd.Index(read.judges).get_indexer(rows["judge"]),
        pd.Index(read.items).get_indexer(rows["item"]),
        pd.Index(variants).get_indexer(variant),
    )
    values = rows[score].to_numpy(float)
    counts, sums, squares = np.zeros(shape), np.zeros(shape), np.zeros(shape[0])
    np.add.at(counts, place, 1)
    np.add.at(sums, place, values)
    means = sums / np.maximum(counts, 1)
    np.add.at(squares, place[0], (values - means[place]) ** 2)
    return counts, means, squares, np.maximum(counts - 1, 0).sum(axis=(1, 2))
