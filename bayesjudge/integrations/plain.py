"""Results as plain values: metrics of a run, feedback of an experiment, Markdown."""

from __future__ import annotations

import math
import re
from typing import Any

from bayesjudge.core.estimate import Estimate
from bayesjudge.core.fit import Fit
from bayesjudge.core.side_by_side import Record, records
from bayesjudge.render.report import report

#: What a metric's name cannot hold in MLflow.
STRANGE = re.compile(r"[^\w\-. /]+")


def as_metrics(
    *results: Estimate | Fit, prefix: str = "", ci_prob: float = 0.95
) -> dict[str, float]:
    """Numbers by name, as ``mlflow.log_metrics`` takes them.

    Parameters
    ----------
    *results : Estimate or Fit
        At least one; of the same quantity by several methods the last one counts.
    prefix : str, default ""
        In front of each name, such as ``"judge/"``.
    ci_prob : float, default 0.95
        Probability of the intervals.

    Returns
    -------
    dict of str to float
        ``prevalence``, ``prevalence/low`` and ``prevalence/high``; of several systems
        ``prevalence/gpt4`` and so on. What the data do not tell (NaN) is left out.

    Raises
    ------
    InputError
        If nothing was given, or an estimate was made at another probability.

    Examples
    --------
    >>> from bayesjudge import prevalence
    >>> counts = prevalence.Counts(1000, 620, 100, 90, 100, 70, calibration="by_truth")
    >>> found = as_metrics(prevalence.rogan_gladen(counts).only("prevalence"))
    >>> {name: round(value, 3) for name, value in found.items()}
    {'prevalence': 0.533, 'prevalence/low': 0.43, 'prevalence/high': 0.636}
    """
    metrics: dict[str, float] = {}
    for record in records(*results, ci_prob=ci_prob):
        value, low, high = record.numbers[:3]
        name = prefix + _name(record)
        named = {name: value, f"{name}/low": low, f"{name}/high": high}
        metrics |= {key: float(x) for key, x in named.items() if math.isfinite(x)}
    return metrics


def as_feedback(*results: Estimate | Fit, ci_prob: float = 0.95) -> list[dict[str, Any]]:
    """Rows of plain values, as LangSmith's feedback and Phoenix's annotations take them.

    Parameters
    ----------
    *results : Estimate or Fit
        At least one.
    ci_prob : float, default 0.95
        Probability of the intervals.

    Returns
    -------
    list of dict
        ``key`` (the quantity, with its coordinates), ``score`` (None if the data do not tell),
        ``comment`` (the interval and method in words) and ``metadata`` (low, high, method, kind of
        interval, ci_prob, coordinates, names of cautions): all of it JSON.

    Raises
    ------
    InputError
        If nothing was given, or an estimate was made at another probability.

    Examples
    --------
    >>> from bayesjudge import prevalence
    >>> counts = prevalence.Counts(1000, 620, 100, 90, 100, 70, calibration="by_truth")
    >>> as_feedback(prevalence.rogan_gladen(counts).only("prevalence"))[0]["comment"]
    '0.533 (95 % interval 0.430 to 0.636), Rogan-Gladen'
    """
    cautions = {result.method: [c.id for c in result.cautions] for result in results}
    rows = []
    for record in records(*results, ci_prob=ci_prob):
        value, low, high = (float(x) if math.isfinite(x) else None for x in record.numbers[:3])
        text = "no answer" if value is None else f"{value:.3f}"
        if low is not None and high is not None:
            text += f" ({100 * ci_prob:g} % interval {low:.3f} to {high:.3f})"
        metadata: dict[str, Any] = {
            "low": low,
            "high": high,
            "method": record.method.title,
            "interval": record.interval,
        }
        metadata |= {"ci_prob": ci_prob, "where": dict(record.where)}
        metadata |= {"cautions": cautions.get(record.method, [])}
        text = f"{text}, {record.method}"
        rows.append({"key": _name(record), "score": value, "comment": text, "metadata": metadata})
    return rows


def as_markdown(*results: Estimate | Fit, ci_prob: float = 0.95) -> str:
    """Results as Markdown, for a pull request or the summary of a job.

    Parameters
    ----------
    *results : Estimate or Fit
        At least one.
    ci_prob : float, default 0.95
        Probability of the intervals.

    Returns
    -------
    str
        What `bayesjudge.report` writes: a table, cautions and assumptions.

    Raises
    ------
    InputError
        If nothing was given, or an estimate was made at another probability.
    """
    return report(*results, ci_prob=ci_prob, output="markdown")


def _name(record: Record) -> str:
    """Quantity and coordinates, in characters that every tool takes."""
    parts = [record.quantity, *(str(value) for value in record.where.values())]
    return "/".join(STRANGE.sub("_", part) for part in parts)
