"""Closed forms of several classes; the arithmetic of shares is that of pass and fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.errors import UninformativeJudgeError, check_ci_prob, checking
from bayesjudge.core.estimate import Assumption, Caution, Estimate, Quantity
from bayesjudge.core.intervals import holding, wilson, z_score
from bayesjudge.core.label_design import (
    ERRORS_CANCEL,
    RANDOM_BY_VERDICT,
    RANDOM_LABELS,
    Identified,
)
from bayesjudge.prevalence import _formulas as formulas
from bayesjudge.prevalence.cautions import OVERALL
from bayesjudge.prevalence.classes.data import SAME_CONFUSIONS, SOURCE, ClassCounts, judged

#: What the tidy results are called, whatever estimated them.
Ends = tuple[np.ndarray, np.ndarray, np.ndarray]


def judge_shares(counts: ClassCounts, *, ci_prob: float = 0.95) -> Estimate:
    """Take the judge at its word: the shares of its verdicts, with Wilson's intervals.

    Parameters
    ----------
    counts : ClassCounts
        Verdicts. Labelled items are counted in, unless their design says that they are not a
        sample of the same items.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    Estimate
        ``prevalence`` by class, shares of items, and the mean credit of the verdicts as
        ``win_rate`` if classes have a credit.

    Raises
    ------
    InputError
        If no class is among the verdicts, or `ci_prob` is out of range.
    """
    _require_named(counts, "judge_shares")
    seen = _verdicts(counts)
    own = seen[:, counts.verdict_of_class]
    shares = wilson(own, np.broadcast_to(seen.sum(axis=1, keepdims=True), own.shape), ci_prob)
    overall = wilson(own.sum(axis=0), np.full(own.shape[1], seen.sum()), ci_prob)
    rate = None
    if counts.credit is not None:
        read = np.tile(np.asarray(counts.credit), (len(own), 1))
        rate = _mean_credit(counts, read, own, ci_prob)
    return _described(
        counts,
        shares,
        overall=overall,
        win_rate=rate,
        method=methods.JUDGE_SHARES,
        ci_prob=ci_prob,
        source="Wilson (1927)",
        interval="Wilson",
        assumptions=(ERRORS_CANCEL,),
    )


def human_shares(counts: ClassCounts, *, ci_prob: float = 0.95) -> Estimate:
    """Leave the judge out: the shares of the classes among the labelled items.

    Parameters
    ----------
    counts : ClassCounts
        Labels.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    Estimate
        ``prevalence`` by class, with Wilson's intervals; ``nan`` for a system without labels.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.
    """
    known = counts.tables.sum(axis=2)
    sizes = np.broadcast_to(known.sum(axis=1, keepdims=True), known.shape)
    z = z_score(ci_prob)
    samples = np.array(
        [formulas.effective(counts.shares, k, n, z) for k, n in zip(known.T, sizes.T, strict=True)]
    )
    overall = wilson(samples[:, 0], samples[:, 1], ci_prob)
    rate = None
    if counts.credit is not None:
        read = np.tile(np.asarray(counts.credit), (len(known), 1))
        rate = _mean_credit(counts, read, known, ci_prob)
    return _described(
        counts,
        wilson(known, sizes, ci_prob),
        overall=overall,
        win_rate=rate,
        method=methods.HUMAN_ONLY,
        ci_prob=ci_prob,
        source="Wilson (1927)",
        interval="Wilson",
        assumptions=(RANDOM_LABELS,),
        needs="prevalence",
    )


def difference(counts: ClassCounts, *, ci_prob: float = 0.95) -> Estimate:
    """Add the labelled items' mean correction to the judge's shares: prediction-powered inference.

    Parameters
    ----------
    counts : ClassCounts
        Verdicts and labels.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    Estimate
        ``prevalence`` by class, clipped to [0, 1] with the unclipped value as ``raw``. All classes
        have one weight on the judge, so that the unclipped shares sum to 1. Two classes are
        `bayesjudge.prevalence.difference`.

    Raises
    ------
    InputError
        If no class is among the verdicts, or `ci_prob` is out of range.
    """
    _require_named(counts, "difference")
    z, strata = z_score(ci_prob), counts.dim == "stratum"
    own = counts.verdict_of_class
    tests, tables = counts.tests, counts.tables
    n, total = tests.sum(axis=1), tables.sum(axis=(1, 2))
    verdicts = tables.sum(axis=1)[:, own]
    known = tables.sum(axis=2)
    both = tables[:, np.arange(len(own)), own]
    cells = both, known - both, verdicts - both, total[:, None] - known - verdicts + both
    p = tests[:, own] / np.maximum(n, 1)[:, None]

    def each(weight: Any, shares: Any) -> tuple[formulas.Interval, np.ndarray]:
        made = [
            formulas.difference(p[:, k], n, tuple(c[:, k] for c in cells), z, weight, shares)
            for k in range(len(own))
        ]
        parts = (np.stack(part, axis=-1) for part in zip(*(one for one, _ in made), strict=True))
        return formulas.Interval(*parts), np.stack([w for _, w in made], axis=-1)

    def alike(shares: Any) -> formulas.Interval:
        """All classes with the weight of least summed variance."""
        _, weights = each(None, shares)
        items = tests + tables.sum(axis=1)
        pooled = items[:, own] / items.sum(axis=1, keepdims=True)
        spread = pooled * (1 - pooled)
        weight = (weights * spread).sum(axis=1) / np.maximum(spread.sum(axis=1), 1e-300)
        return each(weight, shares)[0]

    found = alike(None)
    overall = None
    if strata:
        parts = alike(counts.shares)
        value, low, high = (np.asarray(x) for x in parts)
        overall = formulas.weighed(counts.shares[:, None], value, low, high, axis=0)
    rate = None
    if counts.credit is not None and set(counts.responses or ()) == set(counts.classes):
        rate = _credit_difference(counts, z)
    return _described(
        counts,
        (*found, found.value),
        overall=None if overall is None else (*overall, overall.value),
        win_rate=rate,
        method=methods.PPI_TUNED,
        ci_prob=ci_prob,
        source="Angelopoulos et al. (2023); Angelopoulos, Duchi & Zrnic (2023)",
        interval="normal",
        assumptions=(RANDOM_LABELS,),
        needs="prevalence",
    )


def post_stratified(counts: ClassCounts, *, ci_prob: float = 0.95) -> Estimate:
    """Weigh the shares of the classes among the labelled items of each verdict by all verdicts.

    Parameters
    ----------
    counts : ClassCounts
        Verdicts and labels.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    Estimate
        ``prevalence`` by class; ``nan`` if a verdict occurs and has no label. Two classes are
        `bayesjudge.prevalence.post_stratified`.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.
    """
    z = z_score(ci_prob)
    labels, items = counts.tables.sum(axis=1), counts.tests + counts.tables.sum(axis=1)

    def weighed(values: np.ndarray) -> tuple[formulas.Interval, formulas.Interval]:
        """Mean of a value of the classes, by system and overall; strata are more bins."""
        sums = np.einsum("k,skv->sv", values, counts.tables)
        squares = np.einsum("k,skv->sv", values**2, counts.tables)
        flat = items.ravel(), labels.ravel(), sums.ravel(), squares.ravel()
        return formulas.binned(items, labels, sums, squares, z), formulas.binned(*flat, z)

    made = [weighed(row) for row in np.eye(len(counts.classes))]
    found, overall = (
        tuple(np.stack(part, axis=-1) for part in zip(*(one[i] for one in made), strict=True))
        for i in (0, 1)
    )
    rate = None
    if counts.credit is not None:
        credit = np.asarray(counts.credit)
        rate = _in_range(credit, weighed, counts.dim == "stratum")
    return _described(
        counts,
        found,
        overall=overall,
        win_rate=rate,
        method=methods.POST_STRATIFIED,
        ci_prob=ci_prob,
        source="Lee et al. (2025), Table 1 (iv); Tenenbein (1970)",
        interval="adjusted delta method",
        assumptions=(RANDOM_BY_VERDICT,),
        needs="predictive_values",
    )


def class_shares(
    counts: ClassCounts,
    *,
    ci_prob: float = 0.95,
    method: Literal["inverse", "least_squares"] = "least_squares",
) -> Estimate:
    """Correct the shares of the judge's verdicts for the judge's confusions.

    Parameters
    ----------
    counts : ClassCounts
        Verdicts and labels.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.
    method : {"least_squares", "inverse"}
        The shares that fit the verdicts best among those that are none below 0 and sum to 1, or
        the inverse of the confusion matrix, which may leave that range (a caution says so).

    Returns
    -------
    Estimate
        ``prevalence`` by class, shares of items, with delta-method intervals; both are cut off at 0
        and 1, and the uncut solution is kept as ``raw``. ``confusion`` by class and verdict, with
        Wilson's intervals. If classes have a credit, also ``win_rate``, their mean credit. Of
        strata, ``overall_prevalence`` weighs their raw shares.

    Raises
    ------
    UninformativeJudgeError
        If the confusion matrix of a system cannot be inverted: the judge does not tell some classes
        apart, or a class has no label.
    InputError
        If `ci_prob` or `method` is unknown, or there are more verdicts than classes and the inverse
        is asked for.

    Examples
    --------
    >>> counts = ClassCounts([50, 30, 20], [[18, 1, 1], [2, 15, 3], [0, 4, 16]],
    ...                      classes=["win", "tie", "loss"], calibration="by_truth")
    >>> class_shares(counts).quantities["prevalence"].value.round(3).tolist()
    [0.52, 0.324, 0.157]
    """
    square = len(counts.classes) == len(counts.responses or ())
    with checking("class_shares") as require:
        known = method in ("inverse", "least_squares")
        require(known, f"method must be inverse or least_squares, got {method!r}")
        words = f"{len(counts.responses or ())} verdicts of {len(counts.classes)} classes have none"
        require(square or method != "inverse", f"the inverse: {words}; use least_squares")
    z = z_score(ci_prob)
    _require_invertible(counts)
    pairs = list(zip(counts.tests, counts.tables, strict=True))
    raw = np.array([inverted(test, table) for test, table in pairs])
    covariances = np.array(
        [covariance(test, table, x) for (test, table), x in zip(pairs, raw, strict=True)]
    )
    inside = np.clip(raw, 0, 1)
    value = inside if method == "inverse" else np.array([_projected(*pair) for pair in pairs])
    half = z * np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    # the best value inside [0, 1] may lie beyond what is left of an interval about one outside
    low = np.minimum(np.clip(raw - half, 0, 1), value)
    high = np.maximum(np.clip(raw + half, 0, 1), value)
    whole, spread = counts.shares @ raw, np.einsum("s,sij->ij", counts.shares**2, covariances)
    strata = counts.dim == "stratum"
    mean = counts.shares @ value
    half = z * np.sqrt(np.diag(spread))
    ends = np.clip(whole - half, 0, 1), np.clip(whole + half, 0, 1)
    overall = mean, np.minimum(ends[0], mean), np.maximum(ends[1], mean), whole
    rate = None
    if counts.credit is not None:
        solved = (mean[None], whole[None], spread[None]) if strata else (value, raw, covariances)
        rate = _credited(np.asarray(counts.credit), solved, z)
    sizes = np.broadcast_to(counts.labelled.sum(axis=-1, keepdims=True), counts.labelled.shape)
    coords: dict[str, Any] = {**counts.coords, "class": counts.classes}
    coords["verdict"] = counts.responses
    named = {"inverse": methods.INVERSE, "least_squares": methods.LEAST_SQUARES}
    told = (SAME_CONFUSIONS,) if counts.design.same_items else ()
    return _described(
        counts,
        (value, low, high, raw),
        overall=overall,
        win_rate=rate,
        more={"confusion": Quantity.over(wilson(counts.labelled, sizes, ci_prob), coords)},
        cautions=_outside(counts, raw) if square else (),
        method=named[method],
        ci_prob=ci_prob,
        source=SOURCE,
        interval={
            "confusion": "Wilson",
            **dict.fromkeys((OVERALL, "prevalence", "win_rate"), "delta method"),
        },
        assumptions=told,
        needs="error_rates",
    )


def inverted(test: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Shares that give the verdicts exactly or, of more verdicts than classes, best by squares.

    They sum to 1 and may be negative.
    """
    solve, _, start = _solution(table)
    return start + solve @ (test / test.sum() - start @ _rows(table))


def covariance(test: np.ndarray, table: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Covariance of `inverted` by the delta method; with two classes, source 1's eq. (9).

    Each row sums to 0, since the shares sum to 1.
    """

    def multinomial(p: np.ndarray, n: float) -> np.ndarray:
        return (np.diag(p) - np.outer(p, p)) / n

    solve, rows, _ = _solution(table)
    verdicts = multinomial(test / test.sum(), test.sum())
    for share, row, size in zip(shares, rows, table.sum(axis=1), strict=True):
        verdicts = verdicts + share**2 * multinomial(row, size)
    return solve @ verdicts @ solve.T


def _rows(table: np.ndarray) -> np.ndarray:
    return table / table.sum(axis=1, keepdims=True)


def _solution(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Matrix from the shares of verdicts to those of classes, along directions that sum to 0."""
    rows, size = _rows(table), len(table)
    contrasts = np.vstack([np.eye(size - 1), -np.ones(size - 1)])
    solve = contrasts @ np.linalg.pinv(rows.T @ contrasts)
    return solve, rows, np.full(size, 1 / size)


def _projected(test: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Shares at least 0 that sum to 1 and fit the verdicts best, by least squares.

    With s = 1'x, min |Cx|^2 + (1'x - 1)^2 over x >= 0 equals |Cu|^2 / (1 + |Cu|^2) at u = x / s on
    the simplex, which grows with |Cu|^2: non-negative least squares solves the constrained problem.
    """
    from scipy.optimize import nnls  # takes longer to load than everything else here

    matrix, seen = _rows(table).T, test / test.sum()
    system = np.vstack([matrix - seen[:, None], np.ones(len(table))])
    found, _ = nnls(system, np.append(np.zeros(len(seen)), 1.0))
    return found / found.sum()


def _require_invertible(counts: ClassCounts) -> None:
    problems = []
    for place, test, table in zip(counts.places, counts.tests, counts.tables, strict=True):
        sizes = table.sum(axis=1)
        empty = [name for name, n in zip(counts.classes, sizes, strict=True) if not n]
        if not test.sum():
            problems.append(f"every item has a human label{place}: there are no shares to correct")
        elif empty:
            problems.append(f"no labelled item is {empty}{place}: label some, or merge classes")
        elif np.linalg.matrix_rank(_rows(table), tol=1e-9) < len(table):
            problems.append(
                f"the confusion matrix has no inverse{place}: on the labelled items the judge does "
                f"not tell some of {list(counts.classes)} apart; merge classes, or label more items"
            )
    if problems:
        raise UninformativeJudgeError("class_shares", problems)


def _outside(counts: ClassCounts, raw: np.ndarray) -> list[Caution]:
    made = []
    for place, one in zip(counts.places, raw, strict=True):
        if one.min() < 0:
            worst = counts.classes[int(one.argmin())]
            text = f"the inverse puts the share of {worst!r}{place} at {one.min():.3f}, below 0"
            made.append(Caution("outside-simplex", text))
    return made


def _verdicts(counts: ClassCounts) -> np.ndarray:
    """Verdicts of all items that the estimate is about."""
    return counts.tests + (counts.tables.sum(axis=1) if counts.design.same_items else 0)


def _require_named(counts: ClassCounts, subject: str) -> None:
    with checking(subject) as require:
        words = (
            f"verdicts {list(counts.responses or ())} are not the classes {list(counts.classes)}"
        )
        require(counts.named_verdicts, words)


# Mean credit -------------------------------------------------------------------------------------


def _mean_credit(
    counts: ClassCounts, credit: np.ndarray, n: np.ndarray, ci_prob: float
) -> Sequence[Any]:
    """Mean credit of classes counted in `n`; of strata, in all of them."""
    if counts.dim == "stratum":
        sizes = np.maximum(n.sum(axis=1, keepdims=True), 1)
        n = (counts.shares[:, None] * n / sizes).sum(axis=0, keepdims=True) * n.sum()
        credit = credit[:1]
    size = n.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = (n * credit).sum(axis=1) / size
        spread = (n * (credit - mean[:, None]) ** 2).sum(axis=1) / (size * (size - 1))
    half = z_score(ci_prob) * np.sqrt(spread)
    least, most = credit.min(), credit.max()
    return mean, np.clip(mean - half, least, most), np.clip(mean + half, least, most)


def _credited(
    credit: np.ndarray, solved: tuple[np.ndarray, np.ndarray, np.ndarray], z: float
) -> Sequence[Any]:
    """Mean credit of an item, with its interval: the shares' errors partly cancel in it."""
    value, raw, spread = solved
    half = z * np.sqrt(np.einsum("i,sij,j->s", credit, spread, credit))
    centre, whole, least, most = raw @ credit, value @ credit, credit.min(), credit.max()
    low, high = np.clip(centre - half, least, most), np.clip(centre + half, least, most)
    return whole, np.minimum(low, whole), np.maximum(high, whole), centre


def _credit_difference(counts: ClassCounts, z: float) -> Sequence[Any] | None:
    """The difference estimator of the mean credit, with a weight of its own."""
    if counts.dim == "stratum":
        return None
    least, width = min(counts.credit or ()), np.ptp(counts.credit or ())
    unit = (np.asarray(counts.credit) - least) / width
    column = np.empty(len(unit))
    column[counts.verdict_of_class] = unit
    f, y = np.broadcast_arrays(column[None, :], unit[:, None])
    made = [
        formulas.linear_difference((f.ravel(), y.ravel(), table.ravel()), (column, test), z)[0]
        for test, table in zip(counts.tests, counts.tables, strict=True)
    ]
    columns = (least + width * np.array(part) for part in zip(*made, strict=True))
    value, low, high = columns
    return tuple(np.clip(x, least, least + width) for x in (value, low, high))


def _in_range(
    credit: np.ndarray, weighed: Callable[[np.ndarray], tuple[Any, Any]], strata: bool
) -> Sequence[Any]:
    """Mean credit by post-stratification, on the unit scale that the formula takes."""
    least, width = credit.min(), np.ptp(credit)
    found = weighed((credit - least) / width)[1 if strata else 0]
    return tuple(least + width * np.clip(np.atleast_1d(x), 0, 1) for x in found)


# Results -----------------------------------------------------------------------------------------


def _described(
    counts: ClassCounts,
    shares: Sequence[Any],
    *,
    overall: Sequence[Any] | None,
    win_rate: Sequence[Any] | None,
    assumptions: tuple[Assumption, ...],
    needs: Identified | None = None,
    more: dict[str, Quantity] | None = None,
    cautions: Sequence[Caution] = (),
    **about: Any,
) -> Estimate:
    """Make the `Estimate`, with a caution if the design does not identify what is needed."""
    check_ci_prob(about["ci_prob"])
    told, raised = judged(counts, assumptions)
    made: dict[str, Any] = {}
    if win_rate is not None:
        by = {} if counts.dim == "stratum" else counts.coords
        made["win_rate"] = Quantity.over(win_rate, by)
    if counts.dim == "stratum" and overall is not None:
        made[OVERALL] = Quantity.over(_kept(overall), {"class": counts.classes})
    coords = {**counts.coords, "class": counts.classes}
    made["prevalence"] = Quantity.over(_kept(shares), coords)
    if needs is not None and needs not in counts.design.identifies:
        text = f"{about['method']} is not valid if {counts.design.meaning}"
        cautions = (*cautions, Caution("design-mismatch", text))
    unlabelled: tuple[Caution, ...] = ()
    if np.isnan(shares[0]).any():
        text = f"{about['method']} has no answer where a verdict occurs that no labelled "
        unlabelled = (Caution("no-labels", text + "item has; label some of each verdict"),)
    every = tuple(dict.fromkeys((*unlabelled, *cautions, *raised)))
    return Estimate(made | (more or {}), assumptions=told, cautions=every, data=counts, **about)


def _kept(columns: Sequence[Any]) -> tuple[Any, ...]:
    """Value, low and high in [0, 1], and the value before that as raw."""
    value, low, high, *raw = columns
    cut = holding(*(np.clip(x, 0, 1) for x in (value, low, high)))
    return (*cut, *raw)
