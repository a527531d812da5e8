"""What a share is if some labels are wrong: how often one person errs, labels do not tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Caution, Estimate, Place

if TYPE_CHECKING:
    import pandas as pd

#: Shares of wrong labels that a table shows, and the one that `people-err` is about.
ERRORS, ONE_IN_TWENTY = (0.0, 0.01, 0.02, 0.03, 0.05, 0.1), 0.05
#: Part of an interval by which the share has to move for the caution. At half of it, tables without
#: the caution cover in .6 if one label in twenty is wrong (``benchmarks/prevalence/people.py``).
MUCH = 0.25
#: With these there is no number that wrong labels could move.
NO_NUMBER = ("contradiction", "pass-rate-out-of-range", "inverted-judge")
#: What people's labels decide, the first that an estimate has.
SHARES = ("overall_prevalence", "prevalence")


def behind(said: float, error: float) -> float:
    """The share that is good, of one that people pass who err so often, on good and bad alike."""
    return min(max((said - error) / (1 - 2 * error), 0.0), 1.0)


def if_people_err(estimate: Estimate, errors: Sequence[float] = ERRORS) -> pd.DataFrame:
    r"""Tabulate a share against how often people's labels are wrong.

    What `estimate` estimates is the share :math:`\theta_h` that people would pass. If they err with
    probability e on good and on bad outputs alike, :math:`\theta = (\theta_h - e) / (1 - 2 e)` is
    good, and so are the ends of its interval: e = 0 is `estimate` itself.

    Parameters
    ----------
    estimate : Estimate
        With a ``prevalence``, or an ``overall_prevalence``, of labels that were taken as right.
    errors : sequence of float, default (0, 0.01, 0.02, 0.03, 0.05, 0.1)
        Shares of wrong labels, in [0, 0.5).

    Returns
    -------
    pandas.DataFrame
        Columns ``error``, one for each dimension (``system``), ``value``, ``low`` and ``high``,
        within [0, 1].

    Raises
    ------
    InputError
        If there is no such share, or an error is out of range.

    Examples
    --------
    >>> from bayesjudge.prevalence import Counts, exact
    >>> estimate = exact(Counts(1000, 850, 180, 165, 20, 14, calibration="random"))
    >>> if_people_err(estimate, [0, 0.05])["value"].round(3).tolist()
    [0.897, 0.942]
    """
    import pandas as pd

    return pd.DataFrame(rows_if_people_err(estimate, errors))


def rows_if_people_err(
    estimate: Estimate, errors: Sequence[float] = ERRORS
) -> list[dict[str, Any]]:
    """The rows of `if_people_err`, without pandas, which takes longer to load than these."""
    name = next((name for name in SHARES if name in estimate), None)
    with checking("if_people_err") as require:
        require(name, f"no share of good outputs among {list(estimate.quantities)}")
        wrong = [e for e in errors if not 0 <= e < 0.5]
        require(not wrong, f"shares of wrong labels lie in [0, 0.5), got {wrong[:3]}")
    return [
        {"error": e, **where, **{k: behind(x, e) for k, x in row._asdict().items()}}
        for _, where, row in estimate.only(str(name)).rows()
        for e in errors
    ]


def with_people_err(estimate: Estimate) -> Estimate:
    """Add the caution ``people-err``, if one wrong label in twenty moves a share by much."""
    name = next((name for name in SHARES if name in estimate), "")
    if any(caution.id in NO_NUMBER for caution in estimate.cautions):
        return estimate
    moves: list[tuple[float, Caution]] = []
    for _, where, row in estimate.only(name).rows():
        moved, width = behind(row.value, ONE_IN_TWENTY), row.high - row.low
        widths = abs(moved - row.value) / width if width > 0 else np.nan
        if widths > MUCH:
            names = tuple(map(str, where.values()))
            place = Place(names, f" of {', '.join(names)}" if names else "")
            caution = Caution.of(
                "people-err", where=place, moved=moved, value=row.value, widths=2 * widths
            )
            moves.append((widths, caution))
    if not moves:
        return estimate
    return replace(estimate, cautions=(*estimate.cautions, max(moves, key=lambda move: move[0])[1]))
