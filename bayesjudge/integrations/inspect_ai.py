"""A metric for Inspect: the share of good outputs, corrected for the judge's errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bayesjudge.core.errors import InputError, checking
from bayesjudge.core.label_design import design_of
from bayesjudge.core.labels import read_labels
from bayesjudge.prevalence import Counts, difference, rogan_gladen

#: Label designs that one share of one run can have.
CALIBRATIONS = ("random", "by_truth", "separate")
NOTHING = {"value": math.nan, "low": math.nan, "high": math.nan}


def corrected_share(
    scores: Sequence[Any],
    *,
    truth: str = "human_label",
    calibration: str = "random",
    ci_prob: float = 0.95,
) -> dict[str, float]:
    """Share of good outputs from Inspect's sample scores, with its interval.

    Inspect calls a metric while the run goes on, on few scores or none: what they do not tell is
    NaN, and never an error, which would end the run. It reduces epochs to their mean before, so
    that a metric cannot know how often a judge repeats: samples whose reduced score is neither 0
    nor 1 are counted in ``unknown`` and left out. Read the log afterwards
    (`bayesjudge.readers.read_log`) for repeats, strata and several systems.

    Parameters
    ----------
    scores : sequence of inspect_ai.scorer.SampleScore
        What Inspect gives a metric.
    truth : str, default "human_label"
        Field of the samples' metadata that holds people's labels.
    calibration : {"random", "by_truth", "separate"}
        How the labelled samples were chosen; see `bayesjudge.prevalence.Counts`.
    ci_prob : float, default 0.95
        Probability of the interval.

    Returns
    -------
    dict of str to float
        ``value``, ``low`` and ``high``, NaN if unknown; ``labelled``, ``samples`` and ``unknown``,
        numbers of samples.

    Examples
    --------
    >>> corrected_share([])
    {'value': nan, 'low': nan, 'high': nan, 'labelled': 0.0, 'samples': 0.0, 'unknown': 0.0}
    """
    verdicts = np.array([_verdict(score) for score in scores], float)
    truths = _truths(scores, truth)
    known = np.isin(verdicts, (0, 1))
    metrics = {"labelled": float((known & ~np.isnan(truths)).sum()), "samples": float(len(scores))}
    metrics["unknown"] = float((~known).sum())
    design = design_of(calibration, "corrected_share", "none", known=CALIBRATIONS)
    try:
        counts = _counts(verdicts[known], truths[known], calibration)
        method = difference if design.same_items else rogan_gladen
        value, low, high = method(counts, ci_prob=ci_prob)["prevalence"]
    except InputError:
        return NOTHING | metrics
    return {"value": float(value), "low": float(low), "high": float(high)} | metrics


def inspect_metric(
    *, truth: str = "human_label", calibration: str = "random", ci_prob: float = 0.95
) -> Any:
    """Make a metric for a scorer: ``@scorer(metrics=[inspect_metric()])``.

    Parameters
    ----------
    truth : str, default "human_label"
        Field of the samples' metadata that holds people's labels.
    calibration : {"random", "by_truth", "separate"}
        How the labelled samples were chosen.
    ci_prob : float, default 0.95
        Probability of the interval.

    Returns
    -------
    inspect_ai.scorer.Metric
        `corrected_share` of the scores.

    Raises
    ------
    InputError
        If Inspect is not installed.
    """
    with checking("inspect_metric") as require:
        try:
            from inspect_ai.scorer import metric
        except ImportError:
            metric = None
        require(metric is not None, "inspect-not-installed")
    design_of(calibration, "inspect_metric", "none", known=CALIBRATIONS)

    def corrected() -> Callable[[list[Any]], dict[str, float]]:
        def compute(scores: list[Any]) -> dict[str, float]:
            return corrected_share(scores, truth=truth, calibration=calibration, ci_prob=ci_prob)

        return compute

    return metric(name="corrected_share")(corrected)()


def _verdict(score: Any) -> float:
    """A score as a number; NaN of what is none, or failed to parse."""
    try:
        return float(score.score.as_float())
    except (AttributeError, TypeError, ValueError):
        return math.nan


def _truths(scores: Sequence[Any], truth: str) -> np.ndarray:
    """People's labels, converted: metadata holds them as they were written."""
    cells = [(getattr(score, "sample_metadata", None) or {}).get(truth) for score in scores]
    try:
        read, _ = read_labels({truth: cells}, pass_value=None, fail_value=None, missing_value=None)
    except InputError:
        return np.full(len(scores), np.nan)
    return read[truth]


def _counts(verdicts: np.ndarray, truths: np.ndarray, calibration: str) -> Counts:
    test, good, bad = np.isnan(truths), truths == 1, truths == 0
    passed = verdicts == 1
    test_n, test_pass, good_n, hits, bad_n, caught = (
        int(rows.sum()) for rows in (test, test & passed, good, good & passed, bad, bad & ~passed)
    )
    return Counts(test_n, test_pass, good_n, hits, bad_n, caught, calibration=calibration)
