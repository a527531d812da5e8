"""Statistics of how far a judge agrees with people: functions of the shares of distinct pairs.

A pair is what a judge and people said of an output. `said` and `truth` have one entry per pair, and
`shares`, whose last axis they are, sum to 1; axes before it are draws. Everything broadcasts.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def chance_corrected(observed: Any, expected: Any) -> Any:
    """Agreement beyond chance, (observed - expected) / (1 - expected); ``nan`` if chance is 1."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected < 1, (observed - expected) / (1 - expected), np.nan)[()]


def among(shares: Any, what: Any, condition: Any) -> Any:
    """Share of what is so among pairs that meet a condition; ``nan`` if there are none."""
    whole = shares @ np.asarray(condition, float)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(whole > 0, shares @ np.asarray(what * condition, float) / whole, np.nan)[()]


def of_classes(said: Any, truth: Any, shares: Any, n_classes: int) -> dict[str, Any]:
    """Accuracy, Cohen's kappa and Gwet's AC1 of classes numbered from 0.

    Cohen (1960); Gwet (2008), eq. (6) and, of several classes, Gwet (2014), eq. (4.9).
    """
    accuracy = shares @ (said == truth).astype(float)
    by_judge, by_people = (
        np.stack([shares @ (who == k).astype(float) for k in range(n_classes)], axis=-1)
        for who in (said, truth)
    )
    mean = (by_judge + by_people) / 2
    by_chance = (mean * (1 - mean)).sum(axis=-1) / max(n_classes - 1, 1)
    return {
        "accuracy": accuracy,
        "kappa": chance_corrected(accuracy, (by_judge * by_people).sum(axis=-1)),
        "ac1": chance_corrected(accuracy, by_chance),
    }


def of_verdicts(said: Any, truth: Any, shares: Any) -> dict[str, Any]:
    """How much oftener a judge says pass (1) than people do, and the table of what both say."""
    statistics = {"judge_less_people": shares @ np.asarray(said - truth, float)}
    kinds = {"good_passed": (1, 1), "good_failed": (1, 0), "bad_passed": (0, 1)}
    kinds["bad_failed"] = (0, 0)
    for name, (good, passed) in kinds.items():
        statistics[name] = shares @ ((truth == good) & (said == passed)).astype(float)
    return statistics


def conditions(said: Any, truth: Any) -> dict[str, list[tuple[Any, Any]]]:
    """What each rate is a share of: what is so, and of which pairs; of a sum, of each part."""
    sensitivity, specificity = (said, truth), (1 - said, 1 - truth)
    return {
        "sensitivity": [sensitivity],
        "specificity": [specificity],
        "youden": [sensitivity, specificity],
        "ppv": [(truth, said)],
        "npv": [(1 - truth, 1 - said)],
    }


def rates(said: Any, truth: Any, shares: Any) -> dict[str, Any]:
    """Shares of what is so among good or bad outputs, and among passes or fails."""
    return {
        name: sum(among(shares, *pair) for pair in pairs) - (len(pairs) - 1)
        for name, pairs in conditions(said, truth).items()
    }


def of_scores(said: Any, truth: Any, shares: Any) -> dict[str, Any]:
    """Numbers of a judge against those of people, on one scale.

    Kappa with quadratic weights of two raters is Lin's concordance correlation (Fleiss & Cohen
    1973; Lin 1989).
    """
    mean_said, mean_truth = shares @ said, shares @ truth
    said_2, truth_2 = shares @ said**2 - mean_said**2, shares @ truth**2 - mean_truth**2
    both = shares @ (said * truth) - mean_said * mean_truth
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = said_2 + truth_2 + (mean_said - mean_truth) ** 2
        varies = (said_2 > 1e-15) & (truth_2 > 1e-15)
        return {
            "mean_error": mean_said - mean_truth,
            "mean_absolute_error": shares @ np.abs(said - truth),
            "correlation": np.where(varies, both / np.sqrt(said_2 * truth_2), np.nan)[()],
            "weighted_kappa": np.where(apart > 1e-15, 2 * both / apart, np.nan)[()],
        }
