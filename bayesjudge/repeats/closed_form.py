"""Closed forms: random-effects analysis of variance, normal interval, exact Dirichlet posterior."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import fdtri, gammaincinv, stdtrit

from bayesjudge.core import dirichlet, methods
from bayesjudge.core.answer import listed
from bayesjudge.core.diagnosis import contradicted
from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.estimate import Assumption, Caution, Estimate, Quantity, in_words
from bayesjudge.core.words import words_for
from bayesjudge.repeats.checks import DRAWN, EXCHANGEABLE, IID, checked
from bayesjudge.repeats.data import Scores
from bayesjudge.repeats.stopping_rules import interval_of_counts

ARTICLE = "How to Add Confidence Intervals to LLM Judges (2025)"
SEARLE = "Searle, Casella & McCulloch (1992), chapter 4; Ting et al. (1990)"
EQUAL_VARIANCE = Assumption.of("equal-variance")
NORMAL_EFFECTS = Assumption.of("normal-effects", "scores")


def anova(scores: Scores, *, ci_prob: float = 0.95) -> Estimate:
    """Split the variance of scores into items, judges, their interaction and repeats.

    Parameters
    ----------
    scores : Scores
        Every judge scored every item, some of them more than once.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    Estimate
        ``mean_score``, over items and judges; ``item_score`` by item, over judges, their intervals
        cut at the ends of the scale (with a caution ``cut-at-the-scale``); standard
        deviations ``item_sd``, ``judge_sd``, ``item_judge_sd``, ``repeat_sd``, all in the units of
        the scale; ``effective_repeats`` of a panel for one item. Without several items or several
        judges, their quantities are left out. A negative variance gives 0, with minus its root
        as ``raw``.

    Raises
    ------
    InputError
        If an item and judge have no score, nothing was asked twice, or there is only one item
        and one judge.

    References
    ----------
    Searle, Casella & McCulloch (1992), Variance Components, chapter 4; Ting et al. (1990) for the
    intervals of the variances; Satterthwaite (1946) for those of the means.

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.array([[[3, 1, 0], [2, 2, 0]], [[0, 1, 3], [0, 3, 1]], [[1, 3, 0], [1, 2, 1]]])
    >>> scores = Scores(counts, scale=[1, 2, 3], items=["x", "y", "z"], judges=["a", "b"])
    >>> found = anova(scores)
    >>> [round(found[name].value, 3) for name in ("mean_score", "item_sd", "repeat_sd")]
    [1.917, 0.52, 0.577]
    """
    check_ci_prob(ci_prob)
    given = scores
    scores, raised = checked(given)
    n_items, n_judges = len(scores.items), len(scores.judges)
    with checking("repeats.anova") as require:
        empty = int((scores.repeats == 0).sum())
        require(not empty, f"{empty} combinations of item and judge have no score; use fit")
        again = bool((scores.repeats > 1).any())
        require(again, "no judge was asked twice about an item; ask again, or fit")
        several = n_items + n_judges > 2
        require(several, "one item and one judge have no components of variance; use exact")
    squares = _mean_squares(scores.means, scores.deviations, scores.repeats)
    parts = _components(squares, ci_prob)
    quantities: dict[str, Any] = {"mean_score": _grand_mean(scores, squares, ci_prob)}
    if n_items > 1:
        quantities["item_score"] = _item_scores(scores, squares, ci_prob)
    for name, component in parts.items():
        raw = np.sign(component.value) * abs(component.value) ** 0.5
        quantities[name] = (*(np.sqrt(max(x, 0)) for x in component), raw)
    if n_judges > 1:
        quantities["effective_repeats"] = _effective_repeats(
            _between_judges(squares), squares.repeat, n_judges, squares.repeats, ci_prob
        )
    quantities, cautions_of_scale = _on_the_scale(quantities, scores)
    cautions = (*raised, *_negative(parts), *cautions_of_scale)
    return Estimate(
        quantities,
        method=methods.ANOVA,
        ci_prob=ci_prob,
        source=SEARLE,
        interval="modified large sample; Satterthwaite",
        assumptions=contradicted((DRAWN, NORMAL_EFFECTS, EQUAL_VARIANCE, EXCHANGEABLE), cautions),
        cautions=cautions,
        data=given,
    )


def as_if_iid(scores: Scores, *, ci_prob: float = 0.95) -> Estimate:
    """Pool every answer about an item as if one judge had given them all.

    This is the article's mixed-expert sampling. It is wrong if judges differ: the interval
    narrows with the number of answers, however few the judges.

    Parameters
    ----------
    scores : Scores
        At least two scores per item.
    ci_prob : float, default 0.95
        Coverage that the interval aims at, and has if all answers are alike.

    Returns
    -------
    Estimate
        ``item_score`` by item with a normal interval, in the units of the scale and cut at its
        ends; ``nan`` ends if the scores of an item are equal, or one. Cautions say so.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.

    Examples
    --------
    >>> scores = Scores.from_values([4, 4, 5, 5, 5], scale=[1, 2, 3, 4, 5])
    >>> [round(x, 2) for x in as_if_iid(scores)["item_score", "item"]]
    [4.6, 4.12, 5.0]
    """
    given = scores
    scores, cautions = checked(given)
    counts = scores.counts.sum(axis=1)
    mean, *ends = interval_of_counts(counts, scores.scale, ci_prob, "z")
    varied = np.count_nonzero(counts, axis=1) > 1  # equal answers do not show how much
    columns = mean, *(np.where(varied, end, np.nan) for end in ends)
    means = Quantity.over(columns, {"item": scores.items})
    quantities, cautions_of_scale = _on_the_scale({"item_score": means}, scores)
    cautions = (*cautions, *cautions_of_scale)
    return Estimate(
        quantities,
        method=methods.ALIKE,
        ci_prob=ci_prob,
        source=f"{ARTICLE}, 'Mixed-Expert Sampling'",
        interval="normal",
        assumptions=contradicted((IID,), cautions),
        cautions=cautions,
        data=given,
    )


def exact(scores: Scores, *, ci_prob: float = 0.95, concentration: float = 1.0) -> Estimate:
    """Exact posterior of each item's mean, answers being alike whichever judge gave them.

    Parameters
    ----------
    scores : Scores
        One judge; several are taken as one, with a caution.
    ci_prob : float, default 0.95
        Probability of the intervals.
    concentration : float, default 1
        Scores that the prior is worth in all, spread evenly over the scale.

    Returns
    -------
    Estimate
        ``item_score`` by item, in the units of the scale.

    Raises
    ------
    InputError
        If `ci_prob` is out of range or `concentration` is not positive.

    Examples
    --------
    >>> scores = Scores.from_values([5] * 10, scale=[1, 2, 3, 4, 5])
    >>> [round(x, 2) for x in exact(scores)["item_score", "item"]]
    [4.82, 4.24, 5.0]
    """
    given = scores
    scores, raised = checked(given)
    weights = dirichlet.posterior(scores.counts.sum(axis=1), concentration=concentration)
    mean, _ = dirichlet.moments(weights, scores.scale)
    low, high = dirichlet.interval(weights, scores.scale, ci_prob=ci_prob)
    even = Assumption.of("even-prior", concentration=concentration)
    pooled: tuple[Caution, ...] = ()
    if len(scores.judges) > 1:
        pooled = (Caution.of("judges-pooled", judges=len(scores.judges)),)
    cautions = (*pooled, *raised)
    return Estimate(
        {"item_score": Quantity.over((mean, low, high), {"item": scores.items})},
        method=methods.DIRICHLET,
        ci_prob=ci_prob,
        source="Dirichlet-multinomial on the scale; Gil-Pelaez (1951)",
        interval="equal-tailed",
        assumptions=contradicted((IID, even), cautions),
        cautions=cautions,
        data=given,
    )


def _on_the_scale(
    given: dict[str, Any], scores: Scores
) -> tuple[dict[str, Any], tuple[Caution, ...]]:
    """Intervals of mean scores cut at the ends of the scale; cautions for these, and for none."""
    first, last = scores.scale[0], scores.scale[-1]
    cut = {
        name: quantity if isinstance(quantity, Quantity) else Quantity.of_rows({(): quantity}, ())
        for name, quantity in given.items()
    }
    beyond: list[str] = []
    without = [n for n, quantity in cut.items() if np.isnan([quantity.low, quantity.high]).any()]
    for name in {"mean_score", "item_score"} & cut.keys():
        quantity = cut[name]
        beyond += [name] * bool(np.any((quantity.low < first) | (quantity.high > last)))
        cut[name] = replace(
            quantity, low=np.maximum(quantity.low, first), high=np.minimum(quantity.high, last)
        )
    cautions = []
    if beyond:
        names = " and ".join(map(in_words, sorted(beyond)))
        cautions.append(Caution.of("cut-at-the-scale", names=names, first=first, last=last))
    if without:
        names = ", ".join(map(in_words, without))
        cautions.append(Caution.of("no-interval", "few-scores", names=names))
    return cut, tuple(cautions)


def _components(squares: _Squares, ci_prob: float) -> dict[str, _Component]:
    """Variances of whatever effects the design has."""
    i, j, r = squares.n_items, squares.n_judges, squares.repeats
    parts = {}
    crossed = i > 1 and j > 1
    below = squares.item_judge if crossed else squares.repeat
    if i > 1:
        parts["item_sd"] = _difference(squares.item, below, j * r, ci_prob)
    if j > 1:
        parts["judge_sd"] = _difference(squares.judge, below, i * r, ci_prob)
    if crossed:
        parts["item_judge_sd"] = _difference(squares.item_judge, squares.repeat, r, ci_prob)
    return parts | {"repeat_sd": _alone(squares.repeat_spread, ci_prob)}


def _between_judges(squares: _Squares) -> _MeanSquare:
    """Mean square between judges within one item."""
    if squares.n_items == 1:
        return squares.judge
    i = squares.n_items
    return _combined((1 / i, squares.judge), ((i - 1) / i, squares.item_judge))


def _grand_mean(scores: Scores, squares: _Squares, ci_prob: float) -> tuple[float, float, float]:
    i, j, r = squares.n_items, squares.n_judges, squares.repeats
    used = [mean_square for mean_square in (squares.item, squares.judge) if mean_square[1] > 0]
    total, df = _combined(*((1.0, mean_square) for mean_square in used))
    if i > 1 and j > 1:  # both hold the interaction: once too often
        total = max(total - squares.item_judge[0], *(ms for ms, _ in used))
    mean = float(scores.means.mean())
    half = stdtrit(df, (1 + ci_prob) / 2) * np.sqrt(total / (i * j * r))
    return mean, mean - half, mean + half


def _item_scores(scores: Scores, squares: _Squares, ci_prob: float) -> Quantity:
    """Each item's mean; its error pooled over items, since a few scores tell little of it."""
    if squares.n_judges > 1:
        error, df = _between_judges(squares)
    else:
        error, df = squares.repeat
    mean = scores.means.mean(axis=1)
    n = 1 / (1 / scores.repeats).mean(axis=1) * squares.n_judges
    half = stdtrit(df, (1 + ci_prob) / 2) * np.sqrt(error / n)
    return Quantity.over((mean, mean - half, mean + half), {"item": scores.items})


#: Whose variance a component's standard deviation is the root of.
BETWEEN = words_for("variances")


def _negative(parts: dict[str, _Component]) -> tuple[Caution, ...]:
    below = [name for name, component in parts.items() if component.value < 0]
    if not below:
        return ()
    names = listed([f"{BETWEEN[name]} ({name})" for name in below])
    return (Caution.of("negative-variance", names=names),)


# Arithmetic of mean squares ----------------------------------------------------------------------

#: A mean square with its degrees of freedom; ``nan`` and 0 if the design has no such term.
_MeanSquare = tuple[float, float]


class _Squares(NamedTuple):
    """Mean squares of items by judges by repeats; `repeats` is the harmonic mean of a cell.

    `repeat_spread` is that of repeats again, with the degrees of freedom that its own scatter over
    items and over judges implies: fewer, if some items or judges are noisier than others.
    """

    item: _MeanSquare
    judge: _MeanSquare
    item_judge: _MeanSquare
    repeat: _MeanSquare
    n_items: int
    n_judges: int
    repeats: float
    repeat_spread: _MeanSquare


class _Component(NamedTuple):
    """A variance with its interval; any of them may be negative."""

    value: float
    low: float
    high: float


def _mean_squares(means: np.ndarray, deviations: np.ndarray, n: np.ndarray) -> _Squares:
    """Analyse cell means as if every cell held as many scores: unweighted-means analysis."""
    i, j = means.shape
    r = means.size / (1 / n).sum()
    grand = means.mean()
    rows, columns = means.mean(axis=1) - grand, means.mean(axis=0) - grand
    rest = means - grand - rows[:, None] - columns

    def mean_square(total: float, df: float) -> _MeanSquare:
        return (total / df, df) if df > 0 else (np.nan, 0)

    repeat = mean_square(deviations.sum(), (n - 1).sum())
    return _Squares(
        item=mean_square(j * r * (rows**2).sum(), i - 1),
        judge=mean_square(i * r * (columns**2).sum(), j - 1),
        item_judge=mean_square(r * (rest**2).sum(), (i - 1) * (j - 1)),
        repeat=repeat,
        n_items=i,
        n_judges=j,
        repeats=r,
        repeat_spread=(repeat[0], _scatter_df(deviations, n - 1, repeat)),
    )


def _scatter_df(deviations: np.ndarray, df: np.ndarray, repeat: _MeanSquare) -> float:
    """Degrees of freedom with which the variance of repeats is known."""
    # on a scale with ends, items near an end scatter less: the chi-square interval of equally
    # noisy scores would be too narrow
    noise = 0.0
    for axis in (0, 1):
        totals, weights = deviations.sum(axis=axis), df.sum(axis=axis)
        if len(totals) > 2 and (weights > 0).all():
            noise += float((totals / weights).var(ddof=1)) / len(totals)
    return min(repeat[1], 2 * repeat[0] ** 2 / noise) if noise > 0 else repeat[1]


def _difference(first: _MeanSquare, other: _MeanSquare, size: float, ci_prob: float) -> _Component:
    """(first - other) / size, with the modified large-sample interval of Ting, Burdick, Graybill,
    Jeyaratnam & Lu (1990), J. Stat. Comput. Simul. 35, 135-143.
    """
    (a, n1), (b, n2) = first, other
    tail = (1 - ci_prob) / 2
    g1, g2 = (1 - 1 / (_chi2(n, 1 - tail) / n) for n in (n1, n2))
    h1, h2 = (1 / (_chi2(n, tail) / n) - 1 for n in (n1, n2))
    upper, lower = fdtri(n1, n2, 1 - tail), fdtri(n1, n2, tail)
    g12 = ((upper - 1) ** 2 - g1**2 * upper**2 - h2**2) / upper
    h12 = ((1 - lower) ** 2 - h1**2 * lower**2 - g2**2) / lower
    down = max((g1 * a) ** 2 + (h2 * b) ** 2 + g12 * a * b, 0.0)
    up = max((h1 * a) ** 2 + (g2 * b) ** 2 + h12 * a * b, 0.0)
    value = a - b
    return _Component(value / size, (value - down**0.5) / size, (value + up**0.5) / size)


def _alone(mean_square: _MeanSquare, ci_prob: float) -> _Component:
    """Take a mean square for a variance, with the exact chi-square interval."""
    (a, n), tail = mean_square, (1 - ci_prob) / 2
    return _Component(a, a * n / _chi2(n, 1 - tail), a * n / _chi2(n, tail))


def _combined(*parts: tuple[float, _MeanSquare]) -> _MeanSquare:
    """Weighted sum of mean squares with Satterthwaite's degrees of freedom."""
    total = sum(w * ms for w, (ms, _) in parts)
    noise = sum((w * ms) ** 2 / df for w, (ms, df) in parts)
    return total, (total**2 / noise if noise > 0 else np.inf)


def _effective_repeats(
    between: _MeanSquare, within: _MeanSquare, judges: int, repeats: float, p: float
) -> tuple[float, float, float]:
    """How many scores of judges drawn anew each time tell as much as this panel's scores do."""
    (a, n1), (b, n2) = between, within
    tail = (1 - p) / 2
    ratio = a / b if b > 0 else np.inf
    worth = []
    for f in (ratio, ratio / fdtri(n1, n2, tail), ratio / fdtri(n1, n2, 1 - tail)):
        rho = 1.0 if np.isinf(f) else np.clip((f - 1) / (f + repeats - 1), 0, 1)
        worth.append(float(judges * repeats / (1 + (repeats - 1) * rho)))
    return worth[0], worth[1], worth[2]


def _chi2(df: Any, prob: float) -> Any:
    return 2 * gammaincinv(df / 2, prob)
