"""How a closed form's numbers become an `Estimate`, with assumptions and cautions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bayesjudge.core.results import Caution, Estimate
from bayesjudge.prevalence.cautions import cautions_of
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.reading import CALIBRATIONS

LEE = "Lee et al. (2025), How to Correctly Report LLM-as-a-Judge Evaluations"
SAME_JUDGE = "the judge has the same sensitivity and specificity on labelled and on test items"
SAMPLED = "labelled items are a random sample of the same items"
PER_VERDICT = "within passes and within fails, labelled items are a random sample of the same items"


def passes_of_all(counts: Counts) -> tuple[Any, Any]:
    """Count passes and items, with the labelled ones where they are some of the same items.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels.

    Returns
    -------
    tuple of int or numpy.ndarray
        Passes, items.
    """
    if counts.calibration in ("by_truth", "separate"):
        return counts.test_pass, counts.test_n
    return counts.test_pass + counts.labelled_pass, counts.test_n + counts.labelled_n


def described(
    counts: Counts,
    arrays: dict[str, tuple[Any, ...]],
    *,
    needs: tuple[str, ...] = tuple(CALIBRATIONS),
    more: list[Caution] | None = None,
    **about: Any,
) -> Estimate:
    """Make the `Estimate`, with a caution where the declared design does not support the method.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels.
    arrays : dict of str to tuple
        Value, low, high (and raw) by quantity.
    needs : tuple of str
        Designs under which the method is valid.
    more : list of Caution, optional
        Beside those that the counts raise.
    **about
        The other fields of the estimate.

    Returns
    -------
    Estimate
        With cautions.
    """
    cautions = [*cautions_of(counts), *(more or [])]
    cautions = [*_clipped(arrays, counts, about["method"]), *cautions]
    if counts.calibration not in needs:
        text = f"{about['method']} is not valid where {CALIBRATIONS[counts.calibration]}"
        cautions.insert(0, Caution("design-mismatch", text))
    return Estimate.from_arrays(arrays, counts.systems, cautions=tuple(cautions), **about)


def _clipped(arrays: dict[str, tuple[Any, ...]], counts: Counts, method: str) -> Iterator[Caution]:
    """Tell of each value that lies outside its range and is shown at the end of it."""
    for quantity, columns in arrays.items():
        if len(columns) < 4:
            continue
        names = [""] if counts.systems is None else [f" in system {s!r}" for s in counts.systems]
        for where, raw in zip(names, np.atleast_1d(columns[3]), strict=True):
            if raw < 0 or raw > 1:
                text = (
                    f"{method} puts the {quantity}{where} at {raw:.3f}, shown at the end of [0, 1]"
                )
                yield Caution("clipped", text)
