"""From a long table of scores to shifts: pairing every re-judged score with its baseline."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bayesjudge.bias.cells import count_cells, pair_with_baseline, take_repeats
from bayesjudge.bias.checks import require_design, require_scale
from bayesjudge.core.errors import checking
from bayesjudge.core.tables import read_rows

ALONE = "judge"


class Columns(NamedTuple):
    """Names of the columns that are read.

    Parameters
    ----------
    item, variant : str
        What was judged, and in which form.
    scores : tuple of str
        The released scores.
    judge : str or None
        Who judged.
    """

    item: str
    variant: str
    scores: tuple[str, ...]
    judge: str | None


class Read(NamedTuple):
    """A table with what its words mean.

    Parameters
    ----------
    rows : pandas.DataFrame
        Columns ``item``, ``judge``, ``variant`` and one a score, missing ones empty.
    judges, items, perturbations : tuple of str
        Names; perturbations hold the reruns too.
    """

    rows: pd.DataFrame
    judges: tuple[str, ...]
    items: tuple[str, ...]
    perturbations: tuple[str, ...]


def read_table(table: Any, columns: Columns, baseline: str, reruns: tuple[str, ...]) -> Read:
    """Take the columns asked for out of a user's table and check its words.

    Parameters
    ----------
    table : dataframe
        One row a score.
    columns : Columns
        What to read.
    baseline : str
        The variant that others are compared with.
    reruns : tuple of str
        Variants that are the baseline judged again.

    Returns
    -------
    Read
        Rows with short names.

    Raises
    ------
    InputError
        Where a column is missing, a name is empty, or a variant named does not occur.
    """
    wanted = [columns.item, columns.variant, *([columns.judge] if columns.judge else [])]
    frame = read_rows(table, *columns.scores, names=wanted)
    with checking("bias.Shifts.from_frame") as require:
        found = sorted(frame[columns.variant].unique())
        for name in (baseline, *reruns):
            near = get_close_matches(name, found, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {found}"
            require(name in found, f"no variant {name!r}; {hint}")
        require(baseline not in reruns, f"{baseline!r} cannot be both baseline and rerun")
        require(len(found) >= 2, "there is nothing to compare the baseline with")
        for name in columns.scores:
            numeric = pd.api.types.is_numeric_dtype(frame[name])
            require(numeric, f"column {name!r} holds {frame[name].dtype}, not numbers")
    rows = pd.DataFrame(
        {
            "item": frame[columns.item],
            "judge": frame[columns.judge] if columns.judge else ALONE,
            "variant": frame[columns.variant],
            **{name: frame[name].astype(float) for name in columns.scores},
        }
    )
    others = [name for name in dict.fromkeys(rows["variant"]) if name != baseline]
    return Read(
        rows=rows,
        judges=tuple(sorted(rows["judge"].unique())),
        items=tuple(dict.fromkeys(rows["item"])),
        perturbations=tuple(others),
    )


def require_scores_in_range(
    rows: pd.DataFrame, scores: tuple[str, ...], scale: tuple[float, float]
) -> None:
    """Raise where a score lies outside the scale.

    Parameters
    ----------
    rows : pandas.DataFrame
        From `read_table`.
    scores : tuple of str
        Its score columns.
    scale : tuple of float
        Lowest and highest possible score.

    Raises
    ------
    InputError
        Naming a few of them.
    """
    low, high = scale
    with checking("bias.Shifts.from_frame") as require:
        for name in scores:
            bad = rows[name][(rows[name] < low) | (rows[name] > high)]
            require(
                bad.empty,
                f"{len(bad)} scores in column {name!r} lie outside the scale {scale}, for "
                f"example {bad.head(3).tolist()}",
            )


def read_fields(
    table: Any,
    columns: Columns,
    *,
    scale: tuple[float, float],
    design: str,
    baseline: str,
    reruns: tuple[str, ...],
    repeats: str | None,
    missing: str | None,
) -> dict[str, Any]:
    """Read the fields of `bayesjudge.bias.Shifts`; the arguments are those of its ``from_frame``.

    Parameters
    ----------
    table : dataframe
        One row a score.
    columns : Columns
        What to read.
    scale : tuple of float
        Lowest and highest possible score.
    design : {"item", "batch"}
        What a neighbour is.
    baseline : str
        The variant that is released.
    reruns : tuple of str
        Variants that are the baseline again.
    repeats : {"mean", "neighbours"} or None
        What several scores of a cell are.
    missing : {"drop", "worst"} or None
        What to do with missing scores.

    Returns
    -------
    dict of str to object
        Arguments of the data class.

    Raises
    ------
    InputError
        As ``from_frame``.
    """
    with checking("bias.Shifts.from_frame") as require:
        require_scale(scale, require)
        require_design(design, require)
        require(missing in (None, "drop", "worst"), f"missing={missing!r}: drop or worst")
    read = read_table(table, columns, baseline, reruns)
    require_scores_in_range(read.rows, columns.scores, scale)
    released, averaged = take_repeats(read.rows, baseline, repeats)
    others, after, before = pair_with_baseline(released, columns.scores, baseline)
    lost = (np.isnan(after) | np.isnan(before)).any(axis=1)
    place = {
        "item": pd.Index(read.items).get_indexer(others["item"]),
        "judge": pd.Index(read.judges).get_indexer(others["judge"]),
        "perturbation": pd.Index(read.perturbations).get_indexer(others["variant"]),
    }
    shift, keep, neighbour = after - before, ~lost, np.arange(len(others))
    short = np.zeros(1, dtype=bool)
    lost_in = np.zeros((len(read.judges), len(read.perturbations)), dtype=int)
    np.add.at(lost_in, (place["judge"][lost], place["perturbation"][lost]), 1)
    if missing == "worst":
        shift, keep = _furthest(shift, before, scale), np.full(len(others), fill_value=True)
    if design == "batch":
        keys = [place["judge"], place["perturbation"], others["repeat"].to_numpy()]
        _, neighbour = np.unique(np.stack(keys), axis=1, return_inverse=True)
        short = np.bincount(neighbour) < len(read.items)
        whole = np.bincount(neighbour, weights=keep) == len(read.items)
        keep = keep & whole[neighbour]
    with checking("bias.Shifts.from_frame") as require:
        require(
            design == "item" or not short.any(),
            "some batches lack rows; give every item a row in each batch, with an empty score "
            "where there is none",
        )
        require(
            missing or not lost.any(),
            f"{lost.sum()} re-judged scores or their baselines are missing; say missing='drop' "
            "(leave those neighbours out) or missing='worst' (as if they had moved as far as the "
            "scale allows)",
        )
        require(keep.any(), "no neighbour is complete" + (" (whole batches)" * (design == "batch")))
    cells = {}
    if len(columns.scores) == 1:
        found = count_cells(read, columns.scores[0], baseline, reruns)
        cells = dict(zip(("counts", "means", "squares", "freedom"), found, strict=True))
    return {
        "shift": shift[keep],
        **{name: index[keep] for name, index in place.items()},
        "neighbour": np.unique(neighbour[keep], return_inverse=True)[1],
        "items": read.items,
        "judges": read.judges,
        "perturbations": read.perturbations,
        "scale": (float(scale[0]), float(scale[1])),
        "design": design,
        "reruns": reruns,
        "scores": columns.scores,
        "missing": lost_in,
        "missing_as": missing if lost.any() and missing else "",
        "averaged": averaged,
        **cells,
    }


def _furthest(shift: np.ndarray, before: np.ndarray, scale: tuple[float, float]) -> np.ndarray:
    """Put the largest possible shift where one is missing."""
    low, high = scale
    up, down = high - before, low - before
    worst = np.where(up >= -down, up, down)
    worst = np.where(np.isnan(before), high - low, worst)
    return np.where(np.isnan(shift), worst, shift)
