"""What scores say against an estimate."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import fdtrc, ndtr

from bayesjudge.core.diagnosis import findings
from bayesjudge.core.estimate import Assumption, Caution, Target
from bayesjudge.core.label_design import checked
from bayesjudge.prevalence.cautions import SHIFT_P
from bayesjudge.prevalence.diagnosis import granted
from bayesjudge.prevalence.scores.data import Scores
from bayesjudge.verdicts.scores import CELLS, cell_of

#: A table whose labels rise with the score is taken for one where they do not less often than this.
NOT_RISING_P = 0.01
#: Fewest labels beside one of each bin: of fewer, alike by chance, more tables would be taken so.
FEWEST_BESIDE = 5
SAME_SCORES = Assumption.of("same-judge", "scores")
RANDOM_BY_BIN = Assumption.of("random-labels-by-verdict", "scores")


@granted.register
def _assumed(scores: Scores) -> tuple[Assumption, ...]:
    if scores.design.identifies == {"predictive_values"}:
        return (RANDOM_BY_BIN,)
    return (scores.design.assumption if scores.design.same_items else SAME_SCORES,)


@findings.register
def _findings(scores: Scores, target: Target) -> Iterator[Caution]:
    known, n = scores.known, scores.n
    labels = scores.n[known].sum()
    low, high = scores.score[known].min(), scores.score[known].max()
    outside = ~known & ((scores.score < low) | (scores.score > high))
    share = n[outside].sum() / max(n[~known].sum(), 1)
    # of a random sample, 2 / (m + 1) of the others lie outside its range on average
    if share > 6 / (labels + 1):
        yield Caution.of("outside-labelled-range", share=share, low=low, high=high)
    yield from checked(scores.design, scores)
    if scores.design.is_sample:
        yield from _shifted(scores)
    yield from _weak(scores)
    if scores.grouped:
        yield _grouped(scores)
    if scores.unscored:
        yield Caution.of("unscored", unscored=scores.unscored)  # fmt: skip


def _grouped(scores: Scores) -> Caution:
    """What grouping changes: only items of a cell that an edge of a bin cuts can be misplaced."""
    unlabelled = ~scores.known
    at = cell_of(scores.score[unlabelled], scores.scale)
    cut = cell_of(np.array(scores.cuts), scores.scale)
    misplaced = scores.n[unlabelled][np.isin(at, cut)].sum()
    share = misplaced / scores.n[unlabelled].sum()
    return Caution.of("grouped-scores", grouped=scores.grouped, cells=CELLS, share=share)


def _shifted(scores: Scores) -> Iterator[Caution]:
    """Whether labelled and other items differ in their scores: the rank-sum test with ties."""
    known, n = scores.known, scores.n.astype(float)
    _, which = np.unique(scores.score, return_inverse=True)
    each = np.array([np.bincount(which, n * kept) for kept in (known, ~known)])
    m, rest = each.sum(axis=1)
    if not rest:
        return
    total = each.sum(axis=0)
    ranks = np.cumsum(total) - (total - 1) / 2
    items = m + rest
    ties = (total**3 - total).sum() / (items * (items - 1))
    sd = np.sqrt(m * rest / 12 * max(items + 1 - ties, 1e-12))
    p_value = 2 * ndtr(-abs((each[0] @ ranks - m * (items + 1) / 2) / sd))
    if p_value < SHIFT_P / scores.read_together:
        means = [np.average(scores.score[k], weights=n[k]) for k in (known, ~known)]
        yield Caution.of(
            "label-shift", "scores", labelled=means[0], others=means[1], p_value=p_value
        )


def _weak(scores: Scores) -> Iterator[Caution]:
    """Scores that do not clearly rise with the truth, and errors that do not cancel."""
    known, n = scores.known, scores.n.astype(float)
    f, y, n = scores.unit[known], scores.unit_truth[known], n[known]
    m = n.sum()
    f_, y_ = np.average(f, weights=n), np.average(y, weights=n)
    spread = np.array([np.average(x, weights=n) for x in ((f - f_) ** 2, (y - y_) ** 2)])
    covariance = np.average((f - f_) * (y - y_), weights=n)
    r = covariance / np.sqrt(spread.prod()) if spread.all() else 0.0
    if m < 4 or np.arctanh(np.clip(r, -1 + 1e-9, 1 - 1e-9)) * np.sqrt(max(m - 3, 1)) < 1.96:
        yield Caution.of("weak-judge", "scores", r=r)
    gap = y - f
    error = np.sqrt(max(np.average((gap - (y_ - f_)) ** 2, weights=n), 1e-12) / m)
    if scores.design.is_sample and 2 * ndtr(-abs(y_ - f_) / error) < SHIFT_P:
        means = scores.in_units([f_, y_])
        every = float(scores.in_units(np.average(scores.unit, weights=scores.n)))
        numbers = {"judge": means[0], "people": means[1]}
        if not scores.numeric and scores.scale != (0.0, 1.0):
            yield Caution.of("errors-do-not-cancel", "scale", **numbers)
        else:
            yield Caution.of("errors-do-not-cancel", "scores", all=every, **numbers)


def not_rising(scores: Scores) -> Iterator[Caution]:
    """Whether mean labels by bin contradict that they rise with the score, as models assume.

    The weighed squares between the means and the best rising ones, by F with all bins' freedoms: of
    means that do rise it is smaller (Robertson, Wright & Dykstra 1988, Section 2.3).
    """
    from scipy.optimize import isotonic_regression  # slow to load

    cells = scores.tally()
    shape = (-1, len(scores.bins))
    labels, sums, squares = (cells[name].reshape(shape) for name in ("labels", "sums", "squares"))
    labels, sums, squares = (x.sum(axis=0) for x in (labels, sums, squares))
    have = labels > 0
    labels, means = labels[have], sums[have] / labels[have]
    bins, left = labels.size, labels.sum() - labels.size
    if bins < 2 or left < FEWEST_BESIDE:
        return
    rising = isotonic_regression(means, weights=labels).x
    within = max(squares[have].sum() - labels @ means**2, 1e-12) / left
    p_value = fdtrc(bins - 1, left, labels @ (means - rising) ** 2 / (bins - 1) / within)
    if p_value < NOT_RISING_P:
        yield Caution.of("not-rising", p_value=p_value)
