"""How a closed form's numbers become an `Estimate`, with assumptions and cautions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from bayesjudge.core.estimate import Caution, Estimate
from bayesjudge.prevalence.cautions import cautions_of, doubts
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence._reading import CALIBRATIONS

LEE = "Lee et al. (2025), How to Correctly Report LLM-as-a-Judge Evaluations"
SAME_JUDGE = "the judge has the same sensitivity and specificity on labelled and on test items"
SAMPLED = "labelled items are a random sample of the same items"
PER_VERDICT = "within passes and within fails, labelled items are a random sample of the same items"
CANCEL = "the judge never errs, or its errors cancel"
PER_PROPENSITY = "within each class of propensity, labelled items are a random sample"
DRAWN = "each item was labelled with its stated probability, independently of the others"
COMPOSED = "shares of the strata are those of these items"
#: Which check can speak against an assumption.
CHECKS = {
    SAMPLED: "sampled",
    PER_PROPENSITY: "sampled",
    PER_VERDICT: "per_verdict",
    DRAWN: "drawn",
    SAME_JUDGE: "same_judge",
    CANCEL: "cancel",
}
AGAINST = " (the data speak against it: "
OVERALL = "overall_prevalence"


def judged(counts: Counts, assumptions: tuple[str, ...]) -> tuple[tuple[str, ...], list[Caution]]:
    """Say of each assumption whether the data speak against it.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels.
    assumptions : tuple of str
        In words.

    Returns
    -------
    assumptions : tuple of str
        Those that are contradicted name the cautions that contradict them.
    cautions : list of Caution
        These.
    """
    found = doubts(counts)
    words: list[str] = []
    raised: list[Caution] = []
    for text in assumptions:
        against = found.get(CHECKS.get(text, ""), ())
        names = ", ".join(dict.fromkeys(c.name for c in against))
        words.append(f"{text}{AGAINST}{names})" if against else text)
        raised += against
    return tuple(words), raised


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


def pass_rate(counts: Counts) -> Any:
    """Share of the test items that the judge passed.

    Parameters
    ----------
    counts : Counts
        Verdicts.

    Returns
    -------
    float or numpy.ndarray
        ``nan`` in a stratum that is labelled throughout.
    """
    with np.errstate(invalid="ignore"):
        return np.divide(counts.test_pass, counts.test_n)


def rate_designs(counts: Counts) -> tuple[str, ...]:
    """Designs whose labels tell the judge's rates by their shares.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels; those from elsewhere tell them under any design.

    Returns
    -------
    tuple of str
        Among `CALIBRATIONS`.
    """
    told = ("random", "by_truth", "separate", "known_propensity")
    return told if counts.elsewhere is None else tuple(CALIBRATIONS)


def described(
    counts: Counts,
    arrays: dict[str, tuple[Any, ...]],
    *,
    overall: tuple[float, float, float] | None = None,
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
    overall : tuple of float, optional
        Of strata: value, low and high of their weighed sum, not clipped.
    needs : tuple of str
        Designs under which the method is valid.
    more : list of Caution, optional
        Beside those that the counts raise.
    **about
        The other fields of the estimate.

    Returns
    -------
    Estimate
        With cautions; of strata, with a row ``overall_prevalence`` that weighs them.
    """
    about["assumptions"], raised = judged(counts, about["assumptions"])
    cautions = [*cautions_of(counts), *raised, *(more or [])]
    cautions = [*_clipped(arrays, counts, about["method"]), *cautions]
    if counts.calibration not in needs:
        text = f"{about['method']} is not valid where {CALIBRATIONS[counts.calibration]}"
        cautions.insert(0, Caution("design-mismatch", text))
    if counts.dim != "stratum" or overall is None:
        kept = tuple(dict.fromkeys(cautions))
        return Estimate.from_arrays(arrays, counts.systems, cautions=kept, **about)
    cautions = [*_overall_cautions(counts, arrays, overall, about["method"]), *cautions]
    about["assumptions"] += (COMPOSED,)
    kinds = about["interval"]
    kinds = dict.fromkeys(arrays, kinds) if isinstance(kinds, str) else kinds
    about["interval"] = {OVERALL: f"{kinds['prevalence']}, strata combined", **kinds}
    made = Estimate.from_arrays(
        arrays, counts.systems, cautions=tuple(dict.fromkeys(cautions)), **about
    )
    return with_overall(made, overall)


def with_overall(made: Estimate, overall: tuple[float, float, float]) -> Estimate:
    """Put the post-stratified value above those of the strata.

    Parameters
    ----------
    made : Estimate
        Of the strata.
    overall : tuple of float
        Value, low and high, not clipped yet.

    Returns
    -------
    Estimate
        With a row ``overall_prevalence``, clipped to [0, 1]; its ``raw`` value where strata have
        one.
    """
    row = pd.DataFrame([np.clip(overall, 0, 1)], columns=["value", "low", "high"], index=[OVERALL])
    table = pd.concat([row, made.table]).rename_axis("quantity")
    if "raw" in table:
        table.loc[OVERALL, "raw"] = overall[0]
    return replace(made, table=table)


def _overall_cautions(
    counts: Counts,
    arrays: dict[str, tuple[Any, ...]],
    overall: tuple[float, float, float],
    method: str,
) -> Iterator[Caution]:
    """Tell why there is no overall value, or that it lies outside its range."""
    if np.isnan(overall).any():
        values = zip(counts.systems or (), arrays["prevalence"][0], strict=True)
        empty = [name for name, value in values if np.isnan(value)]
        text = f"{method} has no answer in strata {empty}, so none overall; merge strata"
        yield Caution("empty-stratum", text)
    elif not 0 <= overall[0] <= 1:
        text = f"{method} puts the {OVERALL} at {overall[0]:.3f}, shown at the end of [0, 1]"
        yield Caution("clipped", text)


def _clipped(arrays: dict[str, tuple[Any, ...]], counts: Counts, method: str) -> Iterator[Caution]:
    """Tell of each value that lies outside its range and is shown at the end of it."""
    for quantity, columns in arrays.items():
        if len(columns) < 4:
            continue
        for where, raw in zip(counts.places, np.atleast_1d(columns[3]), strict=True):
            if raw < 0 or raw > 1:
                text = (
                    f"{method} puts the {quantity}{where} at {raw:.3f}, shown at the end of [0, 1]"
                )
                yield Caution("clipped", text)
