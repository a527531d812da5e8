"""Sums over data sets, from which a coverage study makes its rates and means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.core.intervals import wilson
from bayesjudge.core.estimate import Estimate, label

#: What is added up over the data sets of one setting, method and quantity.
SUMS = (
    *("n", "missing", "covered", "too_high", "too_low"),
    *("width", "width_2", "error", "error_2", "error_4", "score"),
)


def tally(answers: Iterable[Estimate | None], truths: Mapping[str, float]) -> dict[str, Any]:
    """Add up what one method answered.

    Parameters
    ----------
    answers : iterable of Estimate or None
        One a data set, or one for many; None where the method refused the data.
    truths : mapping of str to float
        True value by quantity, or by row of the estimates.

    Returns
    -------
    dict
        ``calls``, ``refused``, ``cautions`` by name, and ``sums`` by quantity, in the order `SUMS`.

    Raises
    ------
    InputError
        Where an estimate has no row that has a truth.
    """
    calls = refused = 0
    cautions: Counter[str] = Counter()
    sums: dict[str, np.ndarray] = {}
    for answer in answers:
        calls += 1
        if answer is None:
            refused += 1
            continue
        cautions.update({caution.name for caution in answer.cautions})
        entries = [
            (named if (named := label(name, tuple(where.values()))) in truths else name, row)
            for name, where, row in answer.rows()
        ]
        names = [name for name, _ in entries]
        known = [name for name in dict.fromkeys(names) if name in truths]
        with checking("coverage") as require:
            require(known, f"no truth for {names[:5]}; there is one for {list(truths)}")
        columns = np.array([row for _, row in entries], dtype=float)
        for name in known:
            rows = columns[[other == name for other in names]]
            added = _summed(rows, float(truths[name]), answer.ci_prob)
            sums[name] = sums.get(name, np.zeros(len(SUMS))) + added
    return {
        "calls": calls,
        "refused": refused,
        "cautions": dict(sorted(cautions.items())),
        "sums": {name: values.tolist() for name, values in sums.items()},
    }


def _summed(rows: np.ndarray, truth: float, ci_prob: float) -> np.ndarray:
    answered = np.isfinite(rows).all(axis=1)
    value, low, high = rows[answered].T
    error, width = value - truth, high - low
    above, below = np.maximum(low - truth, 0), np.maximum(truth - high, 0)
    score = width + 2 / (1 - ci_prob) * (above + below)
    covered = (low <= truth) & (truth <= high)
    parts = (covered, low > truth, high < truth)
    powers = (width, width**2, error, error**2, error**4, score)
    counted = [value.size, int((~answered).sum()), *(int(part.sum()) for part in parts)]
    return np.array([*counted, *(float(power.sum()) for power in powers)])


def merged(tallies: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Add tallies of the same setting and method.

    Parameters
    ----------
    tallies : iterable of mapping
        From `tally`.

    Returns
    -------
    dict
        Of the same shape.
    """
    total: dict[str, Any] = {"calls": 0, "refused": 0, "cautions": Counter(), "sums": {}}
    for one in tallies:
        total["calls"] += one["calls"]
        total["refused"] += one["refused"]
        total["cautions"].update(one["cautions"])
        for name, values in one["sums"].items():
            total["sums"][name] = total["sums"].get(name, np.zeros(len(SUMS))) + values
    return total


def rates(total: Mapping[str, Any], quantity: str) -> dict[str, Any]:
    """Turn sums into rates and means, with their Monte Carlo errors.

    Parameters
    ----------
    total : mapping
        From `merged`.
    quantity : str
        Which; one that the method never answered has no rates.

    Returns
    -------
    dict
        Columns of `bayesjudge.lab.CoverageStudy.table`, from ``n`` on.
    """
    if quantity not in total["sums"]:
        return {"n": 0, "unanswered": 1.0, "cautions": ""}
    sums = dict(zip(SUMS, total["sums"][quantity], strict=True))
    n, missing = sums["n"], sums["missing"]
    # a refusal counts as many data sets as an answer to one call has
    lost = missing + total["refused"] * (n + missing) / (total["calls"] - total["refused"])
    about: dict[str, Any] = {"n": int(n), "unanswered": lost / (n + lost)}
    words = dict(total["cautions"])
    cautions = "; ".join(f"{name} {count}" for name, count in sorted(words.items()))
    if n == 0:
        return {**about, "cautions": cautions}
    mean = {name: float(value) / n for name, value in sums.items()}
    _, low, high = wilson(sums["covered"], n)
    rmse = np.sqrt(mean["error_2"])
    spread = np.sqrt(max(mean["error_4"] - mean["error_2"] ** 2, 0) / n)
    return {
        **about,
        "coverage": mean["covered"],
        "coverage_low": float(low),
        "coverage_high": float(high),
        "too_high": mean["too_high"],
        "too_low": mean["too_low"],
        "width": mean["width"],
        "width_error": np.sqrt(max(mean["width_2"] - mean["width"] ** 2, 0) / n),
        "bias": mean["error"],
        "bias_error": np.sqrt(max(mean["error_2"] - mean["error"] ** 2, 0) / n),
        "rmse": rmse,
        "rmse_error": spread / (2 * rmse) if rmse > 0 else 0.0,
        "score": mean["score"],
        "cautions": cautions,
    }
