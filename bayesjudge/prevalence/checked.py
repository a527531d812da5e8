"""What makes six counts a system impossible; every problem is noted, none raised here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.names import require_names

if TYPE_CHECKING:
    from bayesjudge.prevalence.data import Counts

#: What the names of `Counts.systems` can be of, and how a sentence points at one of them.
PLACES = {"system": "in system {!r}", "stratum": "in stratum {!r}", "judge": "of judge {!r}"}
#: Labels from elsewhere, in this order.
LABELS = ("correct_n", "correct_pass", "incorrect_n", "incorrect_fail")


def whole_numbers(name: str, value: Any, shape: tuple[int, ...], require: Any) -> Any:
    """Whole numbers of the right shape: plain where there are no systems, frozen arrays else.

    Parameters
    ----------
    name : str
        Of the field.
    value : int or array_like
        What the user gave.
    shape : tuple of int
        Expected.
    require : callable
        From `bayesjudge.core.errors.checking`.

    Returns
    -------
    int or numpy.ndarray
        The value as it came where it is not what was expected.
    """
    array = np.asarray(value)
    if name == "unparsed" and array.shape == ():
        array = np.broadcast_to(array, shape)
    numeric = np.issubdtype(array.dtype, np.number)
    whole = numeric and bool(np.all(array == np.floor(np.where(np.isfinite(array), array, 0.5))))
    require(whole, f"{name}={value!r} must be whole numbers")
    expected = "one number" if shape == () else f"one number for each of the {shape[-1]} systems"
    require(array.shape == shape, f"{name} has shape {array.shape}, expected {expected}")
    if not whole or array.shape != shape:
        return value
    if shape == ():
        return int(array)
    frozen = array.astype(np.int64)
    frozen.flags.writeable = False
    return frozen


def require_possible(counts: Counts, require: Any) -> None:
    """Note what no data can be: parts above their totals, no labels, names that repeat.

    Parameters
    ----------
    counts : Counts
        Whole numbers of the right shape.
    require : callable
        From `bayesjudge.core.errors.checking`.
    """

    def everywhere(ok: Any, problem: str, **values: Any) -> None:
        for i in np.flatnonzero(~np.atleast_1d(ok))[:3]:
            shown = ", ".join(f"{n}={np.atleast_1d(v)[i]}" for n, v in values.items())
            require(False, f"{shown}{counts.places[i]}: {problem}")

    def within(origin: str, total: str, n: Any, part: str, k: Any) -> None:
        values = {part: k, total: n}
        everywhere((k >= 0) & (k <= n), f"{part}{origin} must lie between 0 and {total}", **values)

    within("", "test_n", counts.test_n, "test_pass", counts.test_pass)
    own = [np.asarray(getattr(counts, name)) for name in LABELS]
    origins = (
        [("", own)] if counts.elsewhere is None else [("", own), (" elsewhere", counts.elsewhere)]
    )
    for origin, (good, hits, bad, caught) in origins:
        within(origin, "correct_n", good, "correct_pass", hits)
        within(origin, "incorrect_n", bad, "incorrect_fail", caught)
    # a stratum whose propensity is 1 is labelled throughout
    everywhere(
        (np.asarray(counts.test_n) > 0) | (counts.propensity is not None),
        "every item has a human label, so there is nothing to correct; report the labels with "
        "bayesjudge.prevalence.wilson",
        test_n=counts.test_n,
    )
    # among several systems one may be without labels: it can borrow from the others
    labelled = counts.all_labels
    labels = np.asarray(labelled["correct_n"]) + np.asarray(labelled["incorrect_n"])
    everywhere(
        (labels > 0) | np.any(labels > 0),
        "no item has a human label, so the judge's errors are unknown; label some",
        correct_n=labelled["correct_n"],
        incorrect_n=labelled["incorrect_n"],
    )
    _require_names(counts, require)


def _require_names(counts: Counts, require: Any) -> None:
    require(counts.dim in PLACES, f"dim must be one of {list(PLACES)}, got {counts.dim!r}")
    if counts.systems is not None:
        require_names(counts.systems, "systems", require)
    known = counts.calibration == "known_propensity"
    words = "calibration='known_propensity' and propensity= come together, with strata"
    require(known == (counts.propensity is not None), words)
    if counts.propensity is not None:
        right = counts.dim == "stratum" and counts.propensity.shape == np.shape(counts.test_n)
        require(right, f"{words}: one for each stratum")
        inside = (counts.propensity > 0) & (counts.propensity <= 1)
        require(inside.all(), f"propensities must lie in (0, 1], got {counts.propensity.tolist()}")
