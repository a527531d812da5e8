"""Closed forms of numeric scores: difference estimators with a fitted prediction of the truth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from bayesjudge.core import methods
from bayesjudge.core.errors import UninformativeJudgeError, check_ci_prob, checking
from bayesjudge.core.estimate import Assumption, Caution, Estimate, Quantity, Row
from bayesjudge.core.intervals import FEW, holding, z_score
from bayesjudge.core.label_design import (
    ERRORS_CANCEL,
    RANDOM_LABELS,
    STATED_PROPENSITIES,
    Identified,
)
from bayesjudge.core.methods import Method
from bayesjudge.prevalence import _formulas as formulas
from bayesjudge.prevalence.scores.data import RANDOM_BY_BIN, SAME_SCORES, Scores, judged

PPI = "Angelopoulos et al. (2023); Angelopoulos, Duchi & Zrnic (2023)"


def judge_mean(scores: Scores, *, ci_prob: float = 0.95) -> Estimate:
    """Take the judge at its word: the mean score, on the truths' scale.

    Parameters
    ----------
    scores : Scores
        Scores. Labelled items are counted in, unless their design says that they are not a sample
        of the same items.
    ci_prob : float, default 0.95
        Coverage that the interval aims at, for the mean score.

    Returns
    -------
    Estimate
        ``prevalence``, a share of items, or ``mean_score``; the ends of the judge's scale stand for
        those of the truths'. Wilson's interval, at the number of 0s and 1s that would vary as much.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.
    """
    made = _wilson(scores.unit[scores.about], scores.n[scores.about], z_score(ci_prob))
    return _described(
        scores,
        made,
        method=methods.JUDGE_SCORE,
        ci_prob=ci_prob,
        source="Wilson (1927)",
        interval="Wilson",
        assumptions=(ERRORS_CANCEL,),
    )


def human_mean(scores: Scores, *, ci_prob: float = 0.95) -> Estimate:
    """Leave the judge out: the mean truth of the labelled items.

    Parameters
    ----------
    scores : Scores
        Labels.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.

    Returns
    -------
    Estimate
        ``prevalence`` with Wilson's interval, or ``mean_score`` with Student's.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.
    """
    y, n = scores.unit_truth[scores.known], scores.n[scores.known]
    made = _wilson(y, n, z_score(ci_prob))
    if scores.numeric:
        moments = formulas.Moments.of(y, y, n)
        half = _quantile(scores, ci_prob) * np.sqrt(moments.yy / max(moments.size - 1, 1e-9))
        made = formulas.Interval(moments.y, moments.y - half, moments.y + half)
    return _described(
        scores,
        made,
        method=methods.HUMAN_ONLY,
        ci_prob=ci_prob,
        source="Student (1908)" if scores.numeric else "Wilson (1927)",
        interval="t" if scores.numeric else "Wilson",
        assumptions=(RANDOM_LABELS,),
        needs="prevalence",
    )


def judge_bias(scores: Scores, *, ci_prob: float = 0.95) -> Estimate:
    """How much more the judge gives than people, on average: its bias on the truths' scale.

    The judge's mean score of all items less the mean truth by PPI++, as `difference` has it; if
    every item is labelled, the mean of their differences with Student's interval.

    Parameters
    ----------
    scores : Scores
        Scores and labels.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.

    Returns
    -------
    Estimate
        ``judge_less_people``, above 0 if the judge is too lenient; of pass and fail the mean score
        as a probability less the share of good outputs. Normal interval of pass and fail, Student's
        of numbers.

    Raises
    ------
    InputError
        If `ci_prob` is out of range, or labels were drawn with known propensities.

    Notes
    -----
    An estimate of the mean truth has this bias taken out already; single scores have not. Scores
    that also stretch or compress the scale have a bias that depends on the score, of which this is
    the mean (`plot_residuals` draws it).

    References
    ----------
    Bland & Altman (1986), Lancet 327, 307-310; Angelopoulos, Duchi & Zrnic (2023),
    arXiv:2311.01453.

    Examples
    --------
    >>> scores = Scores([4, 5, 3, 2], [3, 5, 2, 2], [1] * 4, calibration="random", scale=(1, 5),
    ...                 truth_scale=(1, 5))
    >>> [round(x, 2) for x in judge_bias(scores)["judge_less_people"]]
    [0.5, -2.21, 2.71]
    """
    check_ci_prob(ci_prob)
    with checking("judge_bias") as require:
        stated = scores.propensity is not None
        require(not stated, "labels with known propensities: there is no such estimate yet")
    rows = _Items.of(scores)
    labelled, test = (rows.f, rows.f - rows.y, rows.n), (rows.f_test, rows.n_test)
    how: dict[str, Any] = {"free": 1.0 if scores.numeric else 0.0}
    z, corners = _quantile(scores, ci_prob), _corners(scores, rows)
    truth = (rows.f, rows.y, rows.n)
    _, weight = formulas.linear_difference(truth, test, z, corners=corners, **how)
    others = rows.n_test.sum() / (rows.n_test.sum() + rows.n.sum())
    how["weight"] = abs(others - weight)  # of the judge's mean of all items less PPI++'s of truths
    against = bool(others < weight)
    made, _ = formulas.linear_difference(*_turned(labelled, test, against), z, **how)
    if corners:
        joined = _joined(labelled, test, corners)
        wide, _ = formulas.linear_difference(*_turned(*joined, against), z, **how)
        made = wide._replace(value=made.value)
    told, cautions = judged(scores, (RANDOM_LABELS,))
    method = methods.JUDGE_LESS_PEOPLE
    if "prevalence" not in scores.design.identifies:
        text = f"{method} is not valid if {scores.design.meaning}"
        cautions = (Caution("design-mismatch", text), *cautions)
    low, high = scores.truth_scale or (0.0, 1.0)
    columns = holding(*((high - low) * np.clip(made, -1, 1)))
    return Estimate(
        {"judge_less_people": Quantity.over(columns)},
        method=method,
        ci_prob=ci_prob,
        source=f"Bland & Altman (1986); {PPI}",
        interval="t" if scores.numeric else "normal",
        assumptions=told,
        cautions=cautions,
        data=scores,
    )


def difference(
    scores: Scores,
    *,
    ci_prob: float = 0.95,
    g: Literal["identity", "linear", "isotonic"] = "linear",
    folds: int = 5,
    random_seed: int | np.random.Generator | None = 1,
) -> Estimate:
    """Predict the truth by the score, and add the labelled items' mean error of prediction.

    Parameters
    ----------
    scores : Scores
        Scores and labels.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.
    g : {"linear", "identity", "isotonic"}
        What the score predicts: so much of itself that the variance is least (PPI++); itself, on
        the truths' scale (PPI); or the rising step function that fits the labels best, of each
        labelled item from the labels of the other folds.
    folds : int, default 5
        Folds of the isotonic prediction, 2 or more.
    random_seed : int or numpy.random.Generator, default 1
        Of the folds.

    Returns
    -------
    Estimate
        ``prevalence`` or ``mean_score``, cut off at the ends of its range with the value before
        that as ``raw``; normal interval of pass and fail, Student's of numbers. A linear ``g`` of
        two scores is `bayesjudge.prevalence.difference`.

    Raises
    ------
    InputError
        If `ci_prob`, `g` or `folds` is out of range, or there are fewer labels than folds.

    Notes
    -----
    With known propensities each labelled item counts for as many as it stands for (Hájek). Where
    fewer than 5 labelled items' worth are misjudged, good, or bad (of numbers: where fewer than 5
    errors of prediction differ from the commonest), one imaginary item of each of the four extreme
    kinds joins the interval, as in `bayesjudge.prevalence.difference`.

    References
    ----------
    Angelopoulos et al. (2023), Science 382, 669-674; Angelopoulos, Duchi & Zrnic (2023),
    arXiv:2311.01453; isotonic: van der Laan et al. (2024), arXiv:2411.02771.

    Examples
    --------
    >>> scores = Scores([1, 0, 1, 0, 1, 0], [1, 1, 0, 0, float("nan"), float("nan")],
    ...                 [126, 14, 18, 42, 760, 240], calibration="random", scale=(0, 1))
    >>> [round(x, 3) for x in difference(scores)["prevalence"]]
    [0.723, 0.67, 0.775]
    """
    kinds = {
        "identity": methods.PPI,
        "linear": methods.PPI_TUNED,
        "isotonic": methods.ISOTONIC,
    }
    labels = int(scores.n[scores.known].sum())
    with checking("difference") as require:
        require(g in kinds, f"g must be one of {list(kinds)}, got {g!r}")
        enough = g != "isotonic" or 2 <= folds <= labels
        require(enough, f"folds must lie between 2 and the {labels} labels, got {folds}")
    check_ci_prob(ci_prob)
    rows = _Items.of(scores)
    if g == "isotonic":
        rows = _cross_fitted(rows, folds, np.random.default_rng(random_seed))
    made = _corrected(scores, rows, g, ci_prob)
    stated = scores.propensity is not None
    return _described(
        scores,
        made,
        method=kinds[g],
        ci_prob=ci_prob,
        source="van der Laan et al. (2024); Chernozhukov et al. (2018)" if g == "isotonic" else PPI,
        interval="t" if scores.numeric else "normal",
        assumptions=(STATED_PROPENSITIES if stated else RANDOM_LABELS,),
        needs="prevalence",
        raw=made.value,
    )


def binned(scores: Scores, *, ci_prob: float = 0.95) -> Estimate:
    """Weigh the mean truth of each bin of the score by all items in it: post-stratification.

    Parameters
    ----------
    scores : Scores
        Scores and labels, with their bins.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.

    Returns
    -------
    Estimate
        ``prevalence`` or ``mean_score``; ``nan`` if a bin holds items and no label, and of numbers
        without an interval if a bin has one label. Two bins are
        `bayesjudge.prevalence.post_stratified`. With known propensities, a stratum is a bin of
        items of one propensity.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.
    """
    return _described(
        scores,
        _post_stratified(scores, ci_prob),
        method=methods.BINNED,
        ci_prob=ci_prob,
        source="Lee et al. (2025), Table 1 (iv); Cochran (1977), Section 5A.9",
        interval="t" if scores.numeric else "adjusted delta method",
        assumptions=(STATED_PROPENSITIES if scores.propensity is not None else RANDOM_BY_BIN,),
        needs="predictive_values",
    )


def rogan_gladen(
    scores: Scores,
    *,
    ci_prob: float = 0.95,
    interval: Literal["lang_reiczigel", "delta"] = "lang_reiczigel",
) -> Estimate:
    r"""Place the mean score between those of bad and of good labelled items.

    With mean scores :math:`\bar s` of the test items, :math:`\bar s_1` of good and :math:`\bar s_0`
    of bad labelled ones, :math:`\hat\theta = (\bar s - \bar s_0) / (\bar s_1 - \bar s_0)`.

    Parameters
    ----------
    scores : Scores
        Scores, with labels of pass and fail.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.
    interval : {"lang_reiczigel", "delta"}
        Adjusted as Lang and Reiczigel's, or the plain delta method.

    Returns
    -------
    Estimate
        ``prevalence``, clipped to [0, 1] with the unclipped value as ``raw``. Two scores are
        `bayesjudge.prevalence.rogan_gladen`.

    Raises
    ------
    UninformativeJudgeError
        If good items do not score higher than bad ones, or one kind has no label.
    InputError
        If truths are numbers, or `ci_prob` or `interval` is unknown.
    """
    with checking("rogan_gladen") as require:
        kinds = ("lang_reiczigel", "delta")
        require(interval in kinds, f"interval must be one of {kinds}, got {interval!r}")
        require(not scores.numeric, "truths are numbers: use difference, or at_least")
    made = _between(scores, ci_prob, interval)
    return _described(
        scores,
        made,
        method=methods.MEAN_SCORE,
        ci_prob=ci_prob,
        source="Rogan & Gladen (1978); Lang & Reiczigel (2014)",
        interval={"lang_reiczigel": "Lang-Reiczigel", "delta": "delta method"}[interval],
        assumptions=(SAME_SCORES,),
        needs="error_rates",
        raw=made.value,
    )


# Arithmetic --------------------------------------------------------------------------------------


class TInterval(NamedTuple):
    """A number, and centre, standard error and degrees of freedom of its interval."""

    value: float
    centre: float
    error: float
    df: float

    @property
    def probability(self) -> float:
        """That it is above 0, by the t distribution of the interval."""
        return float(stdtr(self.df, self.centre / self.error)) if self.error > 0 else np.nan

    def row(self, ci_prob: float, most: float) -> Row:
        """Value and interval, within `most` of 0."""
        half = float(stdtrit(self.df, (1 + ci_prob) / 2)) * self.error
        ends = np.clip((self.centre - half, self.centre + half), -most, most)
        return Row(*map(float, holding(self.value, *ends)))


def standard_error(scores: Scores, ci_prob: float) -> tuple[Method, TInterval]:
    """Of the closed form that suits the label design best: differences by it, and the mean truth.

    The centre and the standard error are those of the interval before it is cut at the ends of the
    scale.
    """
    means, name = 1, methods.UNPAIRED_PPI
    if "prevalence" in scores.design.identifies:
        made = _corrected(scores, _Items.of(scores), "linear", ci_prob)
    elif "predictive_values" in scores.design.identifies:
        made, means, name = (
            _post_stratified(scores, ci_prob),
            len(scores.bins),
            methods.UNPAIRED_BINNED,
        )
    else:
        made, name = _between(scores, ci_prob, "lang_reiczigel"), methods.UNPAIRED_ROGAN_GLADEN
    free = _free(scores, means) if scores.numeric else np.inf
    value, low, high = scores.in_units([np.clip(made.value, 0, 1), made.low, made.high])
    error = (high - low) / 2 / _quantile(scores, ci_prob, means)
    return name, TInterval(value, (low + high) / 2, error, free)


def _post_stratified(scores: Scores, ci_prob: float) -> formulas.Interval:
    cells = scores.tally()
    return formulas.binned(
        cells["test"] + cells["labels"],
        cells["labels"],
        cells["sums"],
        cells["squares"],
        _quantile(scores, ci_prob, len(scores.bins)),
        0.0 if scores.numeric else 4.0,
    )


def _between(scores: Scores, ci_prob: float, interval: str) -> formulas.Interval:
    """The mean score, placed between those of bad and of good labelled items."""
    z, low, high = z_score(ci_prob), scores.unit.min(), scores.unit.max()
    f = (scores.unit - low) / (high - low if high > low else 1.0)
    groups = [~scores.known, scores.truth == 0, scores.truth == 1]
    if not all(mask.any() for mask in groups):
        raise UninformativeJudgeError("rogan_gladen", ["test items, passes and fails are needed"])
    seen = [formulas.Moments.of(f[k], f[k], scores.n[k]) for k in groups]
    p, bad, good = seen
    if good.f <= bad.f:
        fails, passes = (np.average(scores.score[k], weights=scores.n[k]) for k in groups[1:])
        problem = (
            f"labelled passes have a mean score of {passes:.3g}, fails of {fails:.3g}: scores that "
            "are not higher cannot be corrected; use a better judge, more labels, or "
            "bayesjudge.prevalence.scores.fit"
        )
        raise UninformativeJudgeError("rogan_gladen", [problem])
    raw = (p.f - bad.f) / (good.f - bad.f)
    if interval == "delta":
        parts, shift, centre = seen, 0.0, raw
    else:
        parts = [_moved(one, extra) for one, extra in zip(seen, (z**2, 2, 2), strict=True)]
        centre = (parts[0].f - parts[1].f) / (parts[2].f - parts[1].f)
        each = [one.ff / one.size for one in parts]
        shift = 2 * z**2 * (centre * each[2] - (1 - centre) * each[1])
    youden = parts[2].f - parts[1].f
    weights = 1.0, (1 - centre) ** 2, centre**2
    variance = sum(w * one.ff / one.size for w, one in zip(weights, parts, strict=True))
    half = z * np.sqrt(variance) / youden
    return formulas.Interval(raw, centre + shift - half, centre + shift + half)


class _Items(NamedTuple):
    """Labelled and test items: predictions and truths in [0, 1], numbers, weights."""

    f: np.ndarray
    y: np.ndarray
    n: np.ndarray
    weight: np.ndarray
    f_test: np.ndarray
    n_test: np.ndarray

    @classmethod
    def of(cls, scores: Scores) -> _Items:
        known, f = scores.known, scores.unit
        weight = np.ones(f.shape) if scores.propensity is None else 1 / scores.propensity
        labelled = f[known], scores.unit_truth[known], scores.n[known].astype(float), weight[known]
        return cls(*labelled, f[~known], scores.n[~known].astype(float))


def _cross_fitted(rows: _Items, folds: int, rng: np.random.Generator) -> _Items:
    """Isotonic predictions; of a labelled item by a function that has not seen its label."""
    # in an order that does not depend on that of the table
    order = np.lexsort((rows.weight, rows.y, rows.f))
    each = np.repeat(order, rows.n[order].astype(int))
    f, y, weight = rows.f[each], rows.y[each], rows.weight[each]
    fold = rng.permutation(np.arange(each.size) % folds)
    own, test = np.empty(each.size), np.zeros(rows.f_test.size)
    for k in range(folds):
        knots, values = _isotonic(f[fold != k], y[fold != k], weight[fold != k])
        own[fold == k] = np.interp(f[fold == k], knots, values)
        test += np.interp(rows.f_test, knots, values) / folds
    return _Items(own, y, np.ones(each.size), weight, test, rows.n_test)


def _isotonic(f: np.ndarray, y: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct scores and the rising step function that fits best at them."""
    from scipy.optimize import isotonic_regression  # slow to load

    knots, which = np.unique(f, return_inverse=True)
    total = np.bincount(which, weight)
    return knots, isotonic_regression(np.bincount(which, weight * y) / total, weights=total).x


def _corrected(scores: Scores, rows: _Items, g: str, ci_prob: float) -> formulas.Interval:
    """The difference estimator of the label design."""
    made = _plain if scores.propensity is None else _weighted
    return made(scores, rows, g, ci_prob)


def _plain(scores: Scores, rows: _Items, g: str, ci_prob: float) -> formulas.Interval:
    """Labels that are a random sample."""
    m, n = rows.n.sum(), rows.n_test.sum()
    # an isotonic prediction is the best one: its weight is that of all items
    weight = {"identity": 1.0, "linear": None, "isotonic": n / (n + m)}[g]
    return formulas.linear_difference(
        (rows.f, rows.y, rows.n),
        (rows.f_test, rows.n_test),
        _quantile(scores, ci_prob),
        weight=weight,
        corners=_corners(scores, rows),
        free=1.0 if scores.numeric else 0.0,
    )[0]


def _weighted(scores: Scores, rows: _Items, g: str, ci_prob: float) -> formulas.Interval:
    """Labels with known propensities: each labelled item stands for 1 / propensity items."""
    none = np.zeros(rows.n_test.size)
    n, f = np.concatenate([rows.n, rows.n_test]), np.concatenate([rows.f, rows.f_test])
    y, w = np.concatenate([rows.y, none]), np.concatenate([rows.weight, none])
    padded = [n, f, y, w]
    if corners := _corners(scores, rows):
        at, extra = _extremes(scores, rows, corners)
        kinds = np.tile([1.0, 0, 1, 0], at.size), np.tile([1.0, 1, 0, 0], at.size)
        more = np.repeat(extra, 4), *kinds, np.repeat(at, 4)
        padded = [np.concatenate(pair) for pair in zip(padded, more, strict=True)]
    best, judge, truth = _influence(*padded)
    power = 1.0 if g != "linear" else float(np.clip(best, 0, None))
    total = padded[0].sum()
    error = np.sqrt((padded[0] * (truth[1] + power * judge[1]) ** 2).sum()) / total
    _, own_judge, own_truth = _influence(n, f, y, w)
    half = _quantile(scores, ci_prob) * error
    centre = truth[0] + power * judge[0]
    return formulas.Interval(own_truth[0] + power * own_judge[0], centre - half, centre + half)


def _extremes(scores: Scores, rows: _Items, corners: float) -> tuple[np.ndarray, np.ndarray]:
    """Weights of the classes of propensity, and their shares of an imaginary item."""
    weights = np.unique(rows.weight)
    each = 1 / (scores.propensity if scores.propensity is not None else 1.0)
    share = np.array([scores.n[np.isclose(each, w)].sum() for w in weights]) / scores.n.sum()
    return weights, corners * share


def _influence(
    n: np.ndarray, f: np.ndarray, y: np.ndarray, w: np.ndarray
) -> tuple[float, tuple[float, np.ndarray], tuple[float, np.ndarray]]:
    """Weight of least variance; what predictions add and labels say, with items' influences."""
    total = n.sum()
    w = w * total / (n * w).sum()
    mean, good = (n * f).sum() / total, (n * w * y).sum() / total
    labelled_mean = (n * w * f).sum() / total
    truth = w * (y - good)
    judge = (f - mean) - w * (f - labelled_mean)
    variance = (n * judge**2).sum()
    best = -(n * judge * truth).sum() / variance if variance > 0 else 0.0
    return best, (mean - labelled_mean, judge), (good, truth)


def _turned(labelled: tuple[Any, ...], test: tuple[Any, ...], turned: bool) -> tuple[Any, Any]:
    """Scores the other way round, if so: their weight is then taken away."""
    if not turned:
        return labelled, test
    return (1 - labelled[0], *labelled[1:]), (1 - test[0], *test[1:])


def _joined(labelled: tuple[Any, ...], test: tuple[Any, ...], corners: float) -> tuple[Any, Any]:
    """Scores and differences from truths, joined by items of the four extreme kinds."""
    kinds = np.array([0.0, 0, 1, 1]), np.array([0.0, -1, 1, 0]), np.full(4, corners)
    ends = np.array([0.0, 1.0]), np.full(2, 2 * corners)
    others = (
        tuple(np.concatenate(pair) for pair in zip(test, ends, strict=True))
        if test[1].sum()
        else test
    )
    return tuple(np.concatenate(pair) for pair in zip(labelled, kinds, strict=True)), others


def _corners(scores: Scores, rows: _Items) -> float:
    """1 if labels do not tell the variance of the errors of prediction by themselves."""
    if scores.numeric:
        _, which = np.unique(np.round(rows.y - rows.f, 9), return_inverse=True)
        return float(rows.n.sum() - np.bincount(which, rows.n).max() < FEW)
    good = (rows.n * rows.y).sum()
    wrong = (rows.n * np.abs(rows.y - rows.f)).sum()
    return float(min(wrong, good, rows.n.sum() - good) < FEW)


def _moved(one: formulas.Moments, extra: float) -> formulas.Moments:
    """Joined by imaginary items, half of them at either end."""
    size = one.size + extra
    mean = (one.size * one.f + extra / 2) / size
    second = (one.size * (one.ff + one.f**2) + extra / 2) / size
    return one._replace(size=size, f=mean, ff=second - mean**2)


def _wilson(values: np.ndarray, n: np.ndarray, z: float) -> formulas.Interval:
    """Wilson's interval of a mean in [0, 1], at the number of 0s and 1s that vary as much."""
    total = n.sum()
    mean = (n * values).sum() / total
    spread, most = (n * (values - mean) ** 2).sum() / total, mean * (1 - mean)
    size = total * (most / spread if spread > 1e-12 else 1.0)
    centre = (size * mean + z**2 / 2) / (size + z**2)
    half = z / (size + z**2) * np.sqrt(size * most + z**2 / 4)
    low = 0.0 if mean <= 0 else centre - half
    return formulas.Interval(mean, low, 1.0 if mean >= 1 else centre + half)


def _quantile(scores: Scores, ci_prob: float, means: int = 1) -> float:
    """Normal quantile of pass and fail; Student's of numbers, less a degree for each mean."""
    if not scores.numeric:
        return z_score(ci_prob)
    check_ci_prob(ci_prob)
    return float(stdtrit(_free(scores, means), (1 + ci_prob) / 2))


def _free(scores: Scores, means: int) -> int:
    """Degrees of freedom of numbers, less one for each mean."""
    return max(int(scores.n[scores.known].sum()) - means, 1)


def _described(
    scores: Scores,
    made: formulas.Interval,
    *,
    assumptions: tuple[Assumption, ...],
    needs: Identified | None = None,
    raw: Any = None,
    **about: Any,
) -> Estimate:
    """Make the `Estimate`, with a caution if the design does not identify what is needed."""
    told, cautions = judged(scores, assumptions)
    if needs is not None and needs not in scores.design.identifies:
        text = f"{about['method']} is not valid if {scores.design.meaning}"
        cautions = (Caution("design-mismatch", text), *cautions)
    if np.isnan(made.value).any():
        text = (
            f"{about['method']}: a bin of scores holds items and no label, so there is no value; "
        )
        text += "label some there, or give wider bins (edges=)"
        cautions = (Caution("empty-bin", text), *cautions)
    elif np.isnan(made.low).any():
        text = f"{about['method']}: a bin of scores has one label, which does not tell how numbers "
        text += "vary there, so there is no interval; label more, or give wider bins (edges=)"
        cautions = (Caution("no-interval", text), *cautions)
    columns: Sequence[Any] = [scores.in_units(x) for x in holding(*np.clip(made, 0, 1))]
    if raw is not None:
        columns = [*columns, scores.in_units(raw)]
    quantity = Quantity.over(tuple(columns))
    return Estimate(
        {scores.answer: quantity}, assumptions=told, cautions=cautions, data=scores, **about
    )
