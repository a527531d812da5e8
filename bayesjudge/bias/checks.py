"""What must hold of shifts before anything is computed from them."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from bayesjudge.core.names import require_names

#: What a neighbour of a judgment context is.
DESIGNS: dict[str, str] = {
    "item": "one item perturbed and judged again",
    "batch": "every item perturbed and judged again",
}
#: What a tolerance is a number of.
UNITS: dict[str, str] = {"points": "score points", "range": "fractions of the scale's range"}
Units = Literal["points", "range"]
#: What released scores are shrunk towards.
CENTERS: dict[str, str] = {
    "fixed": "a number fixed before the scores were seen",
    "holdout": "the mean of other items, which a perturbation of these leaves as it is",
    "mean": "the mean of the released scores themselves, which moves with them",
}


def require_scale(scale: Any, require: Any) -> None:
    """Note a problem unless `scale` is a lowest and a highest score.

    Parameters
    ----------
    scale : object
        What the user gave.
    require : callable
        From `bayesjudge.core.errors.checking`.
    """
    pair = isinstance(scale, tuple | list) and len(scale) == 2
    require(
        pair and scale[0] < scale[1],
        f"scale={scale!r}: expected the lowest and the highest possible score, such as (1, 5); "
        "float('inf') where there is no bound",
    )


def require_design(design: object, require: Any) -> None:
    """Note a problem unless `design` is one of `DESIGNS`.

    Parameters
    ----------
    design : object
        What the user gave.
    require : callable
        From `bayesjudge.core.errors.checking`.
    """
    known = "; ".join(f"{name!r}: {meaning}" for name, meaning in DESIGNS.items())
    require(design in DESIGNS, f"design={design!r}: what is a neighbour? {known}")


def require_fields(shifts: Any, require: Any) -> None:
    """Note what does not fit in a `bayesjudge.bias.Shifts`.

    Parameters
    ----------
    shifts : bayesjudge.bias.Shifts
        With its arrays converted.
    require : callable
        From `bayesjudge.core.errors.checking`.
    """
    require_scale(shifts.scale, require)
    require_design(shifts.design, require)
    for name in ("items", "judges", "perturbations"):
        require_names(getattr(shifts, name), name, require)
    n = shifts.shift.shape[0]
    require(
        shifts.shift.ndim == 2 and shifts.shift.shape[1] == len(shifts.scores),
        f"shift has shape {shifts.shift.shape}, expected (n_rows, {len(shifts.scores)})",
    )
    require(n > 0, "no re-judged score has a baseline, so nothing is known of shifts")
    for name, size in (
        ("item", len(shifts.items)),
        ("judge", len(shifts.judges)),
        ("perturbation", len(shifts.perturbations)),
        ("neighbour", n),
    ):
        index = getattr(shifts, name)
        inside = index.shape == (n,) and bool(np.all((index >= 0) & (index < size)))
        require(inside, f"{name} must hold {n} places below {size}")
    finite = np.isfinite(shifts.shift)
    require(finite.all(), "shift has missing or infinite entries; count them in missing instead")
    shape = (len(shifts.judges), len(shifts.perturbations))
    require(
        shifts.missing.shape == shape and bool(np.all(shifts.missing >= 0)),
        f"missing must hold a count for each judge and perturbation, shape {shape}",
    )
    require(
        shifts.missing_as in ("drop", "worst") or not shifts.missing.any(),
        f"{shifts.missing.sum()} re-judgements have no score; say missing='drop' (leave them out) "
        "or missing='worst' (as if they moved as far as the scale allows)",
    )
    unknown = [name for name in shifts.reruns if name not in shifts.perturbations]
    require(not unknown, f"reruns {unknown} are not among {list(shifts.perturbations)}")
    try:
        span = float(shifts.scale[1] - shifts.scale[0])
    except (TypeError, IndexError):
        return  # the scale has been reported
    far = int((np.abs(shifts.shift[finite]) > span * (1 + 1e-9)).sum())
    require(far == 0, f"{far} shifts are larger than the scale {shifts.scale} allows")
