"""Names of quantities, and the shifts that each is about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


def label(shifts: Any, quantity: str, judge: str, perturbation: str | None = None) -> str:
    """Write a quantity as ArviZ labels it, without the judge where there is one only.

    Parameters
    ----------
    shifts : bayesjudge.bias.Shifts
        Whose judges count.
    quantity : str
        Name without labels.
    judge : str
        Name.
    perturbation : str, optional
        Name, where the quantity is of one.

    Returns
    -------
    str
        Such as ``"rms_shift[bold]"`` or ``"rms_shift[gpt, bold]"``.
    """
    words = ([judge] if len(shifts.judges) > 1 else []) + ([perturbation] if perturbation else [])
    return f"{quantity}[{', '.join(words)}]" if words else quantity


def groups_of(shifts: Any, quantity: str, *, reruns: bool = True) -> Iterator[tuple[str, Any]]:
    """Give the shifts of each judge and perturbation that has any.

    Parameters
    ----------
    shifts : bayesjudge.bias.Shifts
        All of them.
    quantity : str
        Name for the labels.
    reruns : bool, default True
        Whether to give the reruns too.

    Yields
    ------
    str, bayesjudge.bias.Shifts
        The label, and the shifts of one judge and one perturbation.
    """
    for j, judge in enumerate(shifts.judges):
        for p, perturbation in enumerate(shifts.perturbations):
            if not reruns and perturbation in shifts.reruns:
                continue
            if np.any((shifts.judge == j) & (shifts.perturbation == p)):
                yield (
                    label(shifts, quantity, judge, perturbation),
                    shifts.only(judge=judge, perturbation=perturbation),
                )
