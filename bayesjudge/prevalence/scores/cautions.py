"""What scores say against an estimate."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import ndtr

from bayesjudge.core.estimate import Assumption, Caution, Target
from bayesjudge.core.label_design import RANDOM_BY_VERDICT, checked
from bayesjudge.core.screen import how_many
from bayesjudge.prevalence.cautions import SHIFT_P
from bayesjudge.prevalence.diagnosis import findings, granted
from bayesjudge.prevalence.scores.data import Scores
from bayesjudge.verdicts.scores import CELLS, cell_of

SAME_SCORES = Assumption(
    "same-judge",
    "the judge scores good and bad items alike among the labelled and among the test items",
)
RANDOM_BY_BIN = RANDOM_BY_VERDICT._replace(
    text="within each bin of the score, labelled items are a random sample of the same items"
)


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
        yield Caution(
            "outside-labelled-range",
            f"{share:.1%} of the unlabelled items have a score below {low:g} or above {high:g}, "
            "the range of the labelled ones: what such scores mean is extrapolated; label some",
        )
    yield from checked(scores.design, scores)
    if scores.design.is_sample:
        yield from _shifted(scores)
    yield from _weak(scores)
    if scores.grouped:
        yield Caution("grouped-scores", _grouped_words(scores))
    if scores.unscored:
        yield Caution(
            "unscored", f"dropped: {how_many(scores.unscored, 'item')} without a score; right if "
            "such items are as good as the others",
        )  # fmt: skip


def _grouped_words(scores: Scores) -> str:
    """What grouping changes: only items of a cell that an edge of a bin cuts can be misplaced."""
    unlabelled = ~scores.known
    at = cell_of(scores.score[unlabelled], scores.scale)
    cut = cell_of(np.array(scores.cuts), scores.scale)
    misplaced = scores.n[unlabelled][np.isin(at, cut)].sum()
    return (
        f"the scores of {scores.grouped:,} items without a label are counted in {CELLS:,} cells of "
        "the scale and stand at their cell's mean: the mean score is exact, and at most "
        f"{misplaced / scores.n[unlabelled].sum():.2%} of these items can be in a wrong bin"
    )


def _shifted(scores: Scores) -> Iterator[Caution]:
    """Whether labelled and other items differ in their scores: the rank-sum test with ties."""
    known, n = scores.known, scores.n.astype(float)
    _, which = np.unique(scores.score, return_inverse=True)
    each = np.array([np.bincount(which, n * one) for one in (known, ~known)])
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
        yield Caution(
            "label-shift",
            f"labelled items have a mean score of {means[0]:.3g}, the others of {means[1]:.3g}; a "
            f"random sample would differ so with probability {p_value:.1e}: the labelled items "
            "were not drawn at random; declare how they were drawn",
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
        yield Caution(
            "weak-judge",
            f"on the labelled items the correlation of score and truth is {r:.2f}, not clearly "
            "above 0: the scores say little; use a better judge or more labels",
        )
    gap = y - f
    error = np.sqrt(max(np.average((gap - (y_ - f_)) ** 2, weights=n), 1e-12) / m)
    if scores.design.is_sample and 2 * ndtr(-abs(y_ - f_) / error) < SHIFT_P:
        means = scores.in_units([f_, y_])
        every = float(scores.in_units(np.average(scores.unit, weights=scores.n)))
        text = f"the judge's mean is {means[0]:.3g} ({every:.3g} of all items) and the human one "
        text += f"{means[1]:.3g}"
        if not scores.numeric and scores.scale != (0.0, 1.0):
            text = f"the judge's mean score lies {means[0]:.1%} of the way up its scale, and "
            text += f"people pass {means[1]:.1%}"
        yield Caution(
            "errors-do-not-cancel",
            f"of the labelled items {text}, so that the judge's mean is no estimate of the human "
            "one; estimates that use the labels take this out",
        )
