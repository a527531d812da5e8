"""Taking one judge or one perturbation out of shifts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayesjudge.core.errors import checking


def select(shifts: Any, judge: str | None, perturbation: str | None) -> Any:
    """Keep one judge, or one perturbation; see `bayesjudge.bias.Shifts.only`.

    Parameters
    ----------
    shifts : bayesjudge.bias.Shifts
        All of them.
    judge, perturbation : str or None
        Names.

    Returns
    -------
    bayesjudge.bias.Shifts
        With fewer rows.

    Raises
    ------
    InputError
        Where there is no such name, or none of its rows.
    """
    with checking("bias.Shifts.only") as require:
        for name, names in ((judge, shifts.judges), (perturbation, shifts.perturbations)):
            require(name is None or name in names, f"no {name!r}; there are {list(names)}")
    j = list(shifts.judges).index(judge) if judge else None
    p = list(shifts.perturbations).index(perturbation) if perturbation else None
    keep = np.full(len(shifts.judge), fill_value=True)
    keep &= (shifts.judge == j) | (j is None)
    keep &= (shifts.perturbation == p) | (p is None)
    with checking("bias.Shifts.only") as require:
        require(keep.any(), f"no re-judged score of {judge or 'any judge'} is left")
    rows = slice(None) if j is None else slice(j, j + 1)
    columns = slice(None) if p is None else slice(p, p + 1)
    return replace(
        shifts,
        shift=shifts.shift[keep],
        item=shifts.item[keep],
        neighbour=np.unique(shifts.neighbour[keep], return_inverse=True)[1],
        judge=shifts.judge[keep] * (j is None),
        perturbation=shifts.perturbation[keep] * (p is None),
        judges=shifts.judges if j is None else (shifts.judges[j],),
        perturbations=shifts.perturbations if p is None else (shifts.perturbations[p],),
        reruns=tuple(r for r in shifts.reruns if p is None or r == perturbation),
        missing=shifts.missing[rows, columns],
        **_cells(shifts, rows, p),
    )


def _cells(shifts: Any, rows: slice, perturbation: int | None) -> dict[str, np.ndarray | None]:
    """Keep what the normal model needs: reruns have no cells of their own, the baseline has."""
    names = ("counts", "means", "squares", "freedom")
    name = None if perturbation is None else shifts.perturbations[perturbation]
    if shifts.counts is None or name in shifts.reruns:
        return dict.fromkeys(names)
    changed = [one for one in shifts.perturbations if one not in shifts.reruns]
    columns = [0, *(1 + i for i, one in enumerate(changed) if name in (None, one))]
    return {
        "counts": shifts.counts[rows][..., columns],
        "means": shifts.means[rows][..., columns],
        "squares": shifts.squares[rows],
        "freedom": shifts.freedom[rows],
    }


def names_of(value: str | Sequence[str]) -> tuple[str, ...]:
    """Take one name or several.

    Parameters
    ----------
    value : str or sequence of str
        What the user gave.

    Returns
    -------
    tuple of str
        Always several.
    """
    return (value,) if isinstance(value, str) else tuple(value)
