"""Bounds of a share of which the labels tell a part: no item of one verdict is labelled.

What such items are worth may be anything, so that the share lies between those it would have were
all of them bad, and all of them good (worst-case bounds; Manski 2003, Partial Identification of
Probability Distributions).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from bayesjudge.core.estimate import Target
from bayesjudge.prevalence.data import Counts
from bayesjudge.truth.quadrature import Beta

#: A verdict of which no item is labelled; empty if there is none.
Verdict = Literal["pass", "fail", ""]
Row = tuple[float, float, float]
#: Nodes of the distribution of a product of two shares.
NODES = 1000


def verdicts_without_label(counts: Counts) -> dict[Verdict, Any]:
    """Whether there are items of each verdict and none of them has a label, where others have."""
    passed, failed = counts.labelled_pass, counts.labelled_n - counts.labelled_pass
    passes, fails = counts.test_pass, counts.test_n - counts.test_pass
    some = counts.labelled_n > 0
    return {
        "pass": some & (passed <= 0) & (passes > 0),
        "fail": some & (failed <= 0) & (fails > 0),
    }


def unlabelled_verdict(counts: Counts, model: Any) -> Verdict:
    """The verdict on which these plain counts have no label, and no prior says more than none."""
    if not counts.predictive:
        return ""
    stated = {"pass": sum(model.ppv) > 2, "fail": sum(model.npv) > 2}
    verdicts = verdicts_without_label(counts).items()
    return next((verdict for verdict, without in verdicts if without and not stated[verdict]), "")


def judged_so(verdict: Verdict, name: str) -> str:
    """What the judge did with items of a verdict, in words."""
    if name:
        return f"the judge {'called' if verdict == 'pass' else 'did not call'} {name!r}"
    return f"the judge {verdict}ed"


def bounded(row: Row, counts: Counts, model: Any, ci_prob: float, target: Target) -> Row:
    """A row of the posterior, with the bounds' limits where labels tell of one verdict only.

    The value, which the prior decides, is kept if most of the interval's width is the labels'.
    """
    verdict = unlabelled_verdict(counts, model)
    if not verdict:
        return row
    low, high = (_of_items if target == "items" else _of_population)(counts, model, ci_prob)
    return _row(row[0], low, high, share_without_label(counts, verdict))


def share_without_label(counts: Counts, verdict: Verdict) -> float:
    """Share of the items that may be worth anything."""
    passes, fails = counts.test_pass, counts.test_n - counts.test_pass
    items = counts.test_n + counts.labelled_n
    return float({"pass": passes, "fail": fails, "": 0}[verdict] / items)


def _row(value: float, low: float, high: float, free: float) -> Row:
    kept = free < (high - low) / 2
    return float(np.clip(value, low, high)) if kept else np.nan, low, high


def of_draws(
    draws: Any, parts: Sequence[tuple[Counts, Any]], ci_prob: float, target: Target
) -> dict[str, np.ndarray]:
    """Bounded rows of draws of the systems' prevalences, ``nan`` where labels tell the value.

    A predictive value without a label may be anything.
    """
    limits = {name: np.full((len(parts), 3), np.nan) for name in ("prevalence", "ppv", "npv")}
    for i, (counts, model) in enumerate(parts):
        verdict = unlabelled_verdict(counts, model)
        if verdict:
            row = float(draws[:, i].mean()), np.nan, np.nan
            limits["prevalence"][i] = bounded(row, counts, model, ci_prob, target)
            limits["ppv" if verdict == "pass" else "npv"][i] = np.nan, 0, 1
    return {name: rows for name, rows in limits.items() if np.isfinite(rows).any()}


def of_sum(
    draws: np.ndarray, parts: Sequence[tuple[Counts, Any]], shares: np.ndarray, ci_prob: float
) -> np.ndarray:
    """A row of draws of the strata's weighed sum, which is off by what may be worth anything."""
    free = [
        share_without_label(counts, unlabelled_verdict(counts, priors)) for counts, priors in parts
    ]
    off = float(shares @ free)
    low, high = np.quantile(draws, [(1 - ci_prob) / 2, (1 + ci_prob) / 2])
    return np.array([_row(float(draws.mean()), max(low - off, 0.0), min(high + off, 1.0), 2 * off)])


def of_strata(
    rows: Sequence[Row], parts: Sequence[tuple[Counts, Any]], shares: np.ndarray
) -> Row | None:
    """Bounds of the strata's weighed sum, if most of what is open is items without a label.

    The ends of single strata are added up, so that they hold with the rows' probability or more.
    """
    free = [
        share_without_label(counts, unlabelled_verdict(counts, priors)) for counts, priors in parts
    ]
    _, low, high = shares @ np.array(rows)
    return (np.nan, float(low), float(high)) if 2 * (shares @ free) >= high - low else None


def _known(counts: Counts, model: Any) -> tuple[Beta, Beta]:
    """Share of the labelled verdict among all items, and of good items among those of it."""
    passed, failed = counts.labelled_pass, counts.labelled_n - counts.labelled_pass
    k, n = counts.test_pass + passed, counts.test_n + counts.labelled_n
    rate = Beta(model.pass_rate.alpha + k, model.pass_rate.beta + n - k)
    if unlabelled_verdict(counts, model) == "fail":
        right = counts.correct_pass
        return rate, Beta(model.ppv.alpha + right, model.ppv.beta + passed - right)
    refused = counts.incorrect_fail
    good = Beta(model.npv.beta + failed - refused, model.npv.alpha + refused)
    return Beta(rate.b, rate.a), good


def _of_population(counts: Counts, model: Any, ci_prob: float) -> tuple[float, float]:
    rate, good = _known(counts, model)
    tail = (1 - ci_prob) / 2
    bad = Beta(good.b, good.a)
    # without a good label 0 is not excluded, without a bad one 1
    low = _quantile_of_product(rate, good, tail) if counts.correct_n > 0 else 0.0
    return low, 1 - (_quantile_of_product(rate, bad, tail) if counts.incorrect_n > 0 else 0.0)


def _of_items(counts: Counts, model: Any, ci_prob: float) -> tuple[float, float]:
    """Good ones among the labelled are known, and drawn among the others of their verdict."""
    from scipy.stats import betabinom

    _, good = _known(counts, model)
    passes, fails = counts.test_pass, counts.test_n - counts.test_pass
    known, free = (
        (passes, fails) if unlabelled_verdict(counts, model) == "fail" else (fails, passes)
    )
    tails = np.array([(1 - ci_prob) / 2, (1 + ci_prob) / 2])
    least, most = betabinom.ppf(tails, known, *good) if known else (0, 0)
    items = counts.test_n + counts.labelled_n
    return (
        float((counts.correct_n + least) / items),
        float((counts.correct_n + most + free) / items),
    )


def _quantile_of_product(left: Beta, other: Beta, prob: float) -> float:
    """Of the product of two independent shares."""
    from scipy.optimize import brentq
    from scipy.special import betainc, betaincinv

    first = betaincinv(*left, (np.arange(NODES) + 0.5) / NODES)

    def off(x: float) -> float:
        return float(betainc(*other, np.minimum(x / first, 1.0)).mean() - prob)

    return float(brentq(off, 0.0, 1.0))
