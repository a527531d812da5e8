"""What every estimator returns, or gives: an `Estimate`, with what speaks against it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import pandas as pd

Interval = Literal["eti", "hdi", "eti+"]
INTERVALS: dict[str, str] = {
    "eti": "equal-tailed",
    "hdi": "highest density",
    "eti+": "equal-tailed+",  # reaching 0 or 1 where the data do not exclude it
}


class Row(NamedTuple):
    """One quantity of an `Estimate`.

    Parameters
    ----------
    value, low, high : float
        The estimate and the ends of its interval, in the quantity's units.
    """

    value: float
    low: float
    high: float


class Caution(NamedTuple):
    """Something that a reader of a result has to know before believing it.

    Parameters
    ----------
    name : str
        Short and stable, for example ``"weak-judge"``: what code and tests look for.
    text : str
        A sentence with the numbers, and what to do.
    """

    name: str
    text: str


@dataclass(frozen=True, eq=False)
class Estimate:
    """Values with intervals, in one shape whatever made them.

    Parameters
    ----------
    table : pandas.DataFrame
        Index ``quantity`` (labelled as ArviZ labels it, ``prevalence[gpt]``), columns ``value``,
        ``low``, ``high``; a column ``raw`` keeps values before they were clipped to their range.
        ``nan`` where the data give no answer; a caution then says why.
    method : str
        Name of the estimator, for a report.
    ci_prob : float
        Probability that ``[low, high]`` is meant to contain.
    source : str
        Where the formula or model comes from, to the equation.
    interval : str or mapping of str to str
        Kind of interval, for example ``"Wilson"``; by quantity where they differ.
    assumptions : tuple of str
        What must hold for the numbers to mean what they say.
    cautions : tuple of Caution
        What speaks against them in these data.
    """

    table: pd.DataFrame
    method: str
    ci_prob: float
    source: str
    interval: str | Mapping[str, str] = ""
    assumptions: tuple[str, ...] = ()
    cautions: tuple[Caution, ...] = ()

    @classmethod
    def from_rows(cls, rows: Mapping[str, tuple[float, ...]], **about: Any) -> Self:
        """Build from ``{quantity: (value, low, high)}``.

        Parameters
        ----------
        rows : mapping
            The numbers, with the raw value as an optional fourth.
        **about
            The other fields.

        Returns
        -------
        Estimate
            The same numbers as a table.
        """
        width = max((len(row) for row in rows.values()), default=3)
        padded = [(*row, *[row[0]] * (width - len(row))) for row in rows.values()]
        columns = ["value", "low", "high", "raw"][:width]
        table = pd.DataFrame(padded, index=pd.Index(list(rows), name="quantity"), columns=columns)
        return cls(table=table.astype(float), **about)

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, tuple[Any, ...]],
        labels: Sequence[Hashable] | None,
        **about: Any,
    ) -> Self:
        """Build from ``{quantity: (values, lows, highs)}`` with one entry a label.

        Parameters
        ----------
        arrays : mapping
            Arrays of shape ``(n_labels,)``, or scalars where `labels` is None; the raw values as
            an optional fourth.
        labels : sequence or None
            What each entry is about, for example the systems.
        **about
            The other fields.

        Returns
        -------
        Estimate
            Rows ``quantity[label]``, or ``quantity`` where `labels` is None.
        """
        if labels is None:
            return cls.from_rows({q: tuple(map(float, a)) for q, a in arrays.items()}, **about)
        rows = {
            f"{quantity}[{label}]": tuple(float(np.asarray(column)[i]) for column in columns)
            for quantity, columns in arrays.items()
            for i, label in enumerate(labels)
        }
        return cls.from_rows(rows, **about)

    def __getitem__(self, quantity: str) -> Row:
        return Row(*(float(x) for x in self.table.loc[quantity, ["value", "low", "high"]]))

    def interval_of(self, quantity: str) -> str:
        """Name the kind of interval that a quantity has.

        Parameters
        ----------
        quantity : str
            With or without a label: ``prevalence[gpt]`` is a ``prevalence``.

        Returns
        -------
        str
            For example ``"Wilson"``.
        """
        if isinstance(self.interval, str):
            return self.interval
        return self.interval.get(quantity.split("[")[0], "")

    def only(self, *quantities: str) -> Self:
        """Keep some quantities.

        Parameters
        ----------
        *quantities : str
            Names without labels: ``"prevalence"`` keeps ``prevalence[gpt]`` too.

        Returns
        -------
        Estimate
            The same estimate with fewer rows.
        """
        kept = self.table.index.str.split("[").str[0].isin(quantities)
        return replace(self, table=self.table[kept])

    def _repr_html_(self) -> str:
        kinds = ", ".join(dict.fromkeys(map(self.interval_of, self.table.index)))
        lines = [f"{self.method}, {self.ci_prob:.0%} {kinds}"]
        lines += [f"{c.name}: {c.text}" for c in self.cautions]
        about = "<br>".join(map(escape, lines))
        return f"{self.table.round(3).to_html(escape=True)}<small>{about}</small>"
