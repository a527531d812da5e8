"""Plots of shifts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesjudge.core.answer import numbers
from bayesjudge.core.estimate import Estimate, Quantity
from bayesjudge.core.fit import Fit
from bayesjudge.core.plots import draw_rows, name_rows, new_axes, plain_text, write_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@plain_text
def plot_shifts(result: Estimate | Fit, *, ci_prob: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw the RMS and the mean shift of each perturbation, with the repeat noise beside them.

    Parameters
    ----------
    result : Estimate or Fit
        From `bayesjudge.bias.variance_parts` or `bayesjudge.bias.fit`; an estimate without mean
        shifts or repeat noise is drawn without them.
    ci_prob : float, default 0.95
        Probability of the intervals of a fit.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        One row per perturbation (and judge): RMS shifts as dots, mean shifts as diamonds, repeat
        noise as a dotted line if there is one judge.
    """
    estimate = result.estimate(ci_prob=ci_prob) if isinstance(result, Fit) else result
    labels = list(estimate.quantities["rms_shift"].labels)
    ax = ax or new_axes(6.5, 0.55 * len(labels) + 1.6)
    for quantity, marker, offset, colour, words in (
        ("rms_shift", "o", -0.12, "C0", "RMS shift"),
        ("mean_shift", "D", 0.12, "C1", "mean shift"),
    ):
        if quantity not in estimate:
            continue
        shifts = estimate.quantities[quantity]
        known = np.isfinite(shifts.value)
        if not known.any():
            continue
        at = np.array([labels.index(where) for where in shifts.labels])[known] + offset
        shown = (column[known] for column in (shifts.value, shifts.low, shifts.high))
        draw_rows(ax, at, *shown, colour=colour, marker=marker, ms=5, label=words)
    noise = estimate.quantities.get("repeat_noise")
    if noise is not None and not noise.dims and np.isfinite(noise.value[0]):
        value, low, high = noise.row(0)
        ax.axvline(value, ls=":", color="C2", label="repeat noise (RMS of a rerun)")
        ax.axvspan(low, high, color="C2", alpha=0.12)
    ax.axvline(0, color="0.6", lw=0.8)
    name_rows(ax, [", ".join(map(str, where)) for where in labels])
    ax.set_xlabel("shift (score points)")
    ax.figure.legend(loc="outside lower center", ncols=3)
    rms = estimate.quantities["rms_shift"]
    if np.isfinite(rms.value).any():
        write_title(ax, _title(rms))
    return ax


def _title(rms: Quantity) -> str:
    """What moves scores most, if its interval is above all others; else how far all of them do."""
    rows = {", ".join(map(str, where)): rms.row(i) for i, where in enumerate(rms.labels)}
    first, *others = sorted(rows, key=lambda name: -np.nan_to_num(rows[name].value))
    size = numbers(rows[first])
    if all(rows[first].low > rows[other].high for other in others):
        return f"{first} moves scores {'most: ' * bool(others)}by {size} points"
    known = [row for row in rows.values() if np.isfinite(row.value)]
    least = min(known, key=lambda row: row.value)
    return f"By {numbers(least)} to {size} points: no change surely moves scores most"
