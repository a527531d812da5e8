"""Results side by side, as records and as a table."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayesjudge.core.answer import Answer, as_estimates
from bayesjudge.core.estimate import Caution, Estimate, Interval, Row, Target, pass_name_in
from bayesjudge.core.fit import Fit
from bayesjudge.core.methods import Method
from bayesjudge.core.periods import in_time

if TYPE_CHECKING:
    import pandas as pd

NUMBERS = ("value", "low", "high", "width")
#: What stands in the order of its numbers, as in the sentence.
RANKED = {"system", "generator", "judge", "stratum", "perturbation"}


def side_by_side(
    *results: Estimate | Fit,
    ci_prob: float = 0.95,
    interval: Interval | None = None,
    target: Target | None = None,
) -> pd.DataFrame:
    """Put closed forms and posteriors in one table, as equals.

    Parameters
    ----------
    *results : Estimate or Fit
        At least one. A fit is summarised at `ci_prob`; an estimate must have been made at it.
    ci_prob : float, default 0.95
        Probability of every interval in the table.
    interval : {"eti", "hdi", "eti_bounded"}, optional
        Kind of interval of the fits; by default the one that suits each fit's model.
    target : {"population", "items"}, optional
        Which items the fits are asked about; by default what suits each fit's model.

    Returns
    -------
    pandas.DataFrame
        Columns ``quantity``, one per dimension (``system``, ``judge``, …), ``method``, ``value``,
        ``low``, ``high``, ``width`` (of the interval, in the quantity's units) and ``interval``;
        quantities in the order in which they first occur, methods in the order given.

    Raises
    ------
    InputError
        If nothing was given, or an estimate was made at another probability.

    Examples
    --------
    >>> one = Estimate({"prevalence": (0.5, 0.4, 0.6)}, method="Wilson", ci_prob=0.95,
    ...                source="Wilson (1927)")
    >>> side_by_side(one)[["quantity", "method", "value", "width"]].round(2).to_dict("records")
    [{'quantity': 'prevalence', 'method': 'Wilson', 'value': 0.5, 'width': 0.2}]
    """
    import pandas as pd

    entries = records(*results, ci_prob=ci_prob, interval=interval, target=target)
    dims = list(dict.fromkeys(d for entry in entries for d in entry.where))
    rows = [
        [
            entry.quantity,
            *(entry.where.get(d, "") for d in dims),
            entry.method.title,
            *entry.numbers,
            entry.interval,
        ]
        for entry in entries
    ]
    table = pd.DataFrame(rows, columns=["quantity", *dims, "method", *NUMBERS, "interval"])
    table.attrs["pass_name"] = pass_name_in(results)
    return table


def compare_results(*results: Estimate | Fit, ci_prob: float = 0.95) -> pd.DataFrame:
    """`side_by_side`, with what each method assumes and which cautions contradict that.

    Columns ``assumes`` (in words), ``suited`` (False if the label design does not grant the method)
    and ``contradicted_by`` (names of cautions).
    """
    estimates = as_estimates(results, ci_prob, None, None)
    table = side_by_side(*estimates, ci_prob=ci_prob)
    about = {
        estimate.method.title: (
            "; ".join(a.text for a in estimate.assumptions),
            all(c.id != "design-mismatch" for c in estimate.cautions),
            ", ".join(dict.fromkeys(n for a in estimate.assumptions for n in a.contradicted_by)),
        )
        for estimate in estimates
    }
    for i, column in enumerate(("assumes", "suited", "contradicted_by")):
        table[column] = [about[method][i] for method in table["method"]]
    return table


class Record(NamedTuple):
    """One entry of one result."""

    quantity: str
    where: dict[str, Hashable]
    method: Method
    row: Row
    interval: str

    @property
    def entry(self) -> tuple[Hashable, ...]:
        """Quantity and coordinates."""
        return (self.quantity, *self.where.values())

    @property
    def numbers(self) -> tuple[float, ...]:
        """Value, low, high and width."""
        return (*self.row, self.row.high - self.row.low)


def records(
    *results: Estimate | Fit,
    ci_prob: float = 0.95,
    interval: Interval | None = None,
    target: Target | None = None,
) -> list[Record]:
    """Entries of all results: those of one quantity and coordinates stand together."""
    by_entry: dict[tuple[Hashable, ...], list[Record]] = {}
    for estimate in as_estimates(results, ci_prob, interval, target):
        for quantity, where, row in estimate.rows():
            kind = estimate.interval_of(quantity)
            record = Record(quantity, where, estimate.method, row, kind)
            by_entry.setdefault(record.entry, []).append(record)
    return [record for same in by_entry.values() for record in same]


def in_order(kept: Sequence[Record]) -> list[Record]:
    """By time, or else the highest first, in tables and pictures; what is not ranked as it comes.

    Of several quantities, and numbers of tries, the last number of the first quantity ranks.
    """
    dims = {dim for record in kept for dim in record.where}
    periods = in_time([str(r.where["system"]) for r in kept]) if dims == {"system"} else []
    if periods:
        return sorted(kept, key=lambda record: periods.index(str(record.where["system"])))
    if not dims <= RANKED | {"k"}:
        return list(kept)

    def place(record: Record) -> tuple[Hashable, ...]:
        return tuple(at for dim, at in record.where.items() if dim in RANKED)

    names = list(dict.fromkeys(record.quantity for record in kept))
    first = {
        place(record): -np.nan_to_num(record.row.value, nan=-np.inf)
        for record in kept
        if record.quantity == names[0]
    }
    return sorted(kept, key=lambda r: (names.index(r.quantity), first.get(place(r), np.inf)))


def union_of_cautions(answer: Answer | None, results: Iterable[Estimate | Fit]) -> list[Caution]:
    """Cautions of the quoted numbers, then those of the results, each once."""
    first = () if answer is None else answer.cautions
    return list(dict.fromkeys([*first, *(c for result in results for c in result.cautions)]))
