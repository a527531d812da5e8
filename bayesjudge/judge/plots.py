"""Pictures of judges. They draw what results hold, and compute nothing new."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.estimate import Estimate, in_words
from bayesjudge.core.plots import draw_rows, name_rows, new_axes, plain_text, write_title
from bayesjudge.judge.answer import QUOTED, answer

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@plain_text
def plot_judge(estimate: Estimate, *, ax: Axes | None = None) -> Axes:
    """Draw how far a judge agrees with people: each statistic with its interval.

    Parameters
    ----------
    estimate : Estimate
        From `bayesjudge.judge.quality`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        A row a statistic (and judge and system); the axis ends where statistics do.
    """
    names = [name for name in QUOTED[estimate.data.kind] if name in estimate]
    rows = [
        (", ".join([in_words(name), *map(str, at.values())]), row)
        for name, at, row in estimate.only(*names).rows()
        if not np.isnan(row.value)
    ]
    ax = ax or new_axes(6.5, 0.32 * len(rows) + 1.2)
    draw_rows(ax, np.arange(len(rows)), *np.array([row for _, row in rows], float).reshape(-1, 3).T)
    name_rows(ax, [name for name, _ in rows])
    ax.set_xlabel(f"value, {100 * estimate.ci_prob:g} % interval")
    if estimate.data.kind != "grades":
        least = min([0.0, *(row.low for _, row in rows if not np.isnan(row.low))])
        ax.set_xlim(least - 0.02, 1.02)
    write_title(ax, answer(estimate, ci_prob=estimate.ci_prob).text)
    return ax


@plain_text
def plot_trust(estimate: Estimate, *, ax: Axes | None = None) -> Axes:
    """Draw the calibration map, with the scores beyond which the judge can be trusted.

    Parameters
    ----------
    estimate : Estimate
        From `bayesjudge.judge.trust`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        People's share of passes by score (middle of a bin) with its interval, the share that the
        score says, and shaded where a pass or a fail can stand.
    """
    ax = ax or new_axes(6.0, 3.6)
    table = estimate.data.table
    scale = table.scale
    low, high = scale if isinstance(scale, tuple) else (table.score.min(), table.score.max())
    rows: list[tuple[float, Any]] = []
    for _, at, row in estimate.only("people_mean").rows():
        ends = [float(end) for end in str(at["score"]).split(" to ")]
        rows.append((float(np.mean(ends)), row))
    x = np.array([place for place, _ in rows])
    value, least, most = np.array([row for _, row in rows], float).T
    ax.errorbar(x, value, (value - least, most - value), fmt="o", color="C0", label="people")
    says = np.argsort(table.score)
    ax.plot(
        table.score[says], table.unit[says], color="0.6", lw=1, ls="--", label="as the score says"
    )
    passes, fails = estimate["pass_from"].value, estimate["fail_to"].value
    if not np.isnan(passes):
        ax.axvspan(passes, high, color="C2", alpha=0.15, label="a pass can stand")
    if not np.isnan(fails):
        ax.axvspan(low, fails, color="C3", alpha=0.15, label="a fail can stand")
    ax.set(xlabel="score of the judge", ylabel="share that people pass", ylim=(-0.03, 1.03))
    ax.figure.legend(loc="outside lower center", ncols=4)
    # thresholds that cross leave no output to a person
    share = min(sum(estimate["traffic", side].value for side in ("pass", "fail")), 1)
    write_title(ax, f"A person has to look at {100 * (1 - share):.0f} % of the outputs")
    return ax
