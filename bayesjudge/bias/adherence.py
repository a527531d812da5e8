"""Schematic adherence: the share of an overall score that its factor scores explain."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from bayesjudge.bias.closed_form import FEUER
from bayesjudge.core import methods
from bayesjudge.core.errors import check_ci_prob, checking, expect
from bayesjudge.core.estimate import Assumption, Caution, Estimate, Quantity
from bayesjudge.core.numbers import scores_of
from bayesjudge.core.randomness import rng_of
from bayesjudge.core.tables import read_rows, require_distinct

INDEPENDENT_ROWS = Assumption.of("independent-rows")


def schematic_adherence(
    table: Any,
    *,
    factors: Sequence[str],
    overall: str = "score",
    item: str | None = None,
    ci_prob: float = 0.95,
    resamples: int = 1000,
    random_seed: Any = None,
) -> Estimate:
    r"""Explain overall scores by factor scores, and take the share that is left.

    .. math:: S = \sqrt{1 - \max(R^2_{linear}, R^2_{quadratic})}

    The quadratic fit holds squares and products of two factors too. It contains the linear one, so
    that the larger of the two is always its own, and with few rows it explains noise: rows must
    outnumber its terms by far.

    Parameters
    ----------
    table : dataframe
        One row per item, as one judge scored it.
    factors : sequence of str
        Columns of the factor scores.
    overall : str, default "score"
        Column of the overall score.
    item : str, optional
        Column that names the item: none may then have two rows.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.
    resamples : int, default 1000
        Bootstrap resamples of the rows.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same intervals.

    Returns
    -------
    Estimate
        ``r_squared`` by ``terms`` (linear, quadratic) and ``schematic_shift``, the share of the
        overall score's standard deviation that no factor accounts for, with percentile intervals.

    Raises
    ------
    InputError
        If a column is missing, an item repeats, no score varies, or there are too few rows.

    References
    ----------
    Feuer et al. (2026), Appendix C.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"tone": [1, 2, 3, 4] * 5, "score": [2, 4, 6, 8] * 5})
    >>> found = schematic_adherence(rows, factors=["tone"], random_seed=1)
    >>> round(found["schematic_shift"].value, 6)
    0.0
    """
    check_ci_prob(ci_prob)
    expect("schematic_adherence", len(factors) > 0, "name at least one factor")
    if item is not None:
        require_distinct(table, item)
    frame = read_rows(table, overall, *factors)
    scores = np.column_stack([scores_of(frame[name]) for name in (overall, *factors)])
    kept = scores[~np.isnan(scores).any(axis=1)]
    with checking("schematic_adherence") as require:
        terms = _quadratic(np.ones((1, len(factors)))).shape[1]
        enough = len(kept) > 2 * terms
        require(enough, f"{len(kept)} complete rows are too few for the {terms} quadratic terms")
        require(not enough or np.ptp(kept[:, 0]) > 0, f"column {overall!r} does not vary")
    x, y = kept[:, 1:], kept[:, 0]
    rng = rng_of(random_seed)
    draws = rng.integers(0, y.size, size=(resamples, y.size))
    tail = (1 - ci_prob) / 2
    value = np.array(_parts(x, y))
    again = np.array([_parts(x[i], y[i]) for i in draws])
    ends = np.nanquantile(again, [tail, 1 - tail], axis=0)
    lost = len(frame) - len(kept)
    linear_and_curved = value[:2], *ends[:, :2]
    return Estimate(
        {
            "r_squared": Quantity.over(linear_and_curved, {"terms": ["linear", "quadratic"]}),
            "schematic_shift": Quantity.over((value[2], *ends[:, 2])),
        },
        method=methods.ADHERENCE,
        ci_prob=ci_prob,
        source=f"{FEUER}, Appendix C",
        interval="bootstrap percentile",
        assumptions=(INDEPENDENT_ROWS,),
        cautions=(Caution.of("missing-scores", lost=lost, rows=len(frame)),) if lost else (),
    )


def _quadratic(x: np.ndarray) -> np.ndarray:
    """Terms of the quadratic fit: 1, factors, their squares and their products."""
    products = [x[:, i] * x[:, j] for i, j in combinations(range(x.shape[1]), 2)]
    return np.column_stack([np.ones(len(x)), x, x**2, *products])


def _parts(x: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    linear = _r_squared(np.column_stack([np.ones(len(x)), x]), y)
    curved = _r_squared(_quadratic(x), y)
    return linear, curved, float(np.sqrt(1 - max(linear, curved)))


def _r_squared(design: np.ndarray, y: np.ndarray) -> float:
    """Explained share of the variance; LAPACK's least squares copes with collinear factors."""
    total = ((y - y.mean()) ** 2).sum()
    if total == 0:
        return float("nan")
    residual = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    return float(np.clip(1 - (residual**2).sum() / total, 0.0, 1.0))
