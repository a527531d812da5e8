"""Pictures of numeric scores: reliability, and errors of prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesjudge.core.intervals import wilson
from bayesjudge.core.plots import new_axes, plain_text, write_title
from bayesjudge.prevalence.scores.data import Scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@plain_text
def plot_reliability(scores: Scores, *, ci_prob: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw the mean truth of each bin of the score against its mean score.

    Parameters
    ----------
    scores : Scores
        Scores and labels, with their bins.
    ci_prob : float, default 0.95
        Probability of the intervals: Wilson's, at the number of passes and fails worth a mean.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes
        A judge whose scores mean what they say lies on the diagonal; bars at the bottom are shares
        of all items.
    """
    axes = ax or new_axes()
    known, bins = scores.known, len(scores.bins)
    n = np.bincount(scores.bin_of, scores.n * known, minlength=bins)
    items = np.bincount(scores.bin_of, scores.n, minlength=bins)
    sums = np.bincount(scores.bin_of, scores.n * np.where(known, scores.unit_truth, 0), bins)
    where = np.bincount(scores.bin_of, scores.n * scores.unit, bins) / np.maximum(items, 1)
    value, low, high = wilson(np.minimum(sums, n), n, ci_prob)
    kept = n > 0
    ends = np.abs(scores.in_units([low[kept], high[kept]]) - scores.in_units(value[kept]))
    axes.plot([0, 1], scores.in_units([0, 1]), color="0.7", linewidth=1, zorder=0)
    axes.errorbar(where[kept], scores.in_units(value[kept]), ends, fmt="o", capsize=3)
    least, most = scores.in_units(0), scores.in_units(1)
    axes.bar(
        where, 0.15 * (most - least) * items / items.max(), 0.02, least, color="0.85", zorder=0
    )
    axes.set_xlabel("judge's score, as a share of its scale")
    share = (
        f"share that people call {name!r}"
        if (name := scores.pass_name)
        else "share that people pass"
    )
    axes.set_ylabel("mean human score" if scores.numeric else share)
    write_title(axes, _compared(scores))
    return axes


@plain_text
def plot_residuals(scores: Scores, *, ax: Axes | None = None) -> Axes:
    """Draw human labels less the judge's scores, by score.

    Parameters
    ----------
    scores : Scores
        Scores and labels.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes
        One point per pattern, as large as it has items, on the truths' scale; the line is the mean
        of each bin. A line that is not level says that a difference estimator should fit g.
    """
    axes = ax or new_axes()
    known = scores.known
    f, n = scores.unit[known], scores.n[known]
    gap = scores.in_units(scores.unit_truth[known]) - scores.in_units(f)
    axes.axhline(0, color="0.7", linewidth=1)
    axes.scatter(f, gap, s=12 * np.sqrt(n), alpha=0.5)
    bins = scores.bin_of[known]
    total = np.bincount(bins, n, len(scores.bins))
    kept = total > 0
    means = [(np.bincount(bins, n * x, len(scores.bins))[kept] / total[kept]) for x in (f, gap)]
    axes.plot(*means, marker="o", color="C1")
    axes.set_xlabel("judge's score, as a share of its scale")
    axes.set_ylabel("human label less score")
    write_title(axes, _compared(scores))
    return axes


def _compared(scores: Scores) -> str:
    """The judge against people on the labelled items, in one line."""
    n = scores.n * scores.known
    if not n.sum():
        return "No item is labelled"
    judge, people = (
        float(scores.in_units(np.average(np.where(scores.known, unit, 0), weights=n)))
        for unit in (scores.unit, scores.unit_truth)
    )
    if scores.numeric:
        return f"Labelled items: people give {people:.3g} on average, the judge {judge:.3g}"
    called = f"call {people:.0%} {scores.pass_name!r}" if scores.pass_name else f"pass {people:.0%}"
    return f"Labelled items: people {called}, the judge's scores say {judge:.0%}"
