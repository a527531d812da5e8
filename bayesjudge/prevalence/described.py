"""How a closed form's numbers become an `Estimate`, with assumptions and cautions."""

from __future__ import annotations

from typing import Any

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
    if counts.calibration not in needs:
        text = f"{about['method']} is not valid where {CALIBRATIONS[counts.calibration]}"
        cautions.insert(0, Caution("design-mismatch", text))
    return Estimate.from_arrays(arrays, counts.systems, cautions=tuple(cautions), **about)
