"""Result classes: `Estimate` with its `Quantity`, `Assumption` and `Caution`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import islice, product
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np

from bayesjudge.core.errors import InputError, Problem, checking
from bayesjudge.core.methods import Method, as_method
from bayesjudge.core.screen import NAMES, ROWS, few, fitted
from bayesjudge.core.screen import rows as screen_rows
from bayesjudge.core.words import sentence, words_for

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Interval = Literal["eti", "hdi", "eti_bounded"]
INTERVALS = words_for("intervals")
Target = Literal["population", "items"]
TARGETS = words_for("targets")
#: Quantities as tables name them: templates of `of_passes`.
HEADINGS = words_for("quantities")
#: Entries that a message shows.
ENTRIES = 5
#: Quantities that are counts: screens show whole numbers.
COUNTS = {"calls_per_item", "judges_needed", "majority_calls", "elo"}
#: Of each row, in this order; ``raw`` only where a value was clipped to its range.
COLUMNS = ("value", "low", "high", "raw")


class Row(NamedTuple):
    """One number of an `Estimate` with its interval."""

    value: float
    low: float
    high: float


class Place(NamedTuple):
    """Where a number is: for a caution, and for its sentence (``" in system 'x'"``, or ``""``)."""

    names: tuple[str, ...]
    words: str

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True)
class Caution:
    """A warning attached to a result: `Caution.of` words one of the package's own.

    Parameters
    ----------
    id : str
        Short and stable, for example ``"weak-judge"``: what code and tests look for.
    text : str
        A sentence with the numbers, and what to do.
    where : tuple of str
        Systems, strata or periods that it is about; none if it is about all of them.
    numbers : mapping of str to number or str
        What stands in the sentence, by name.
    """

    id: str
    text: str
    where: tuple[str, ...] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @classmethod
    def of(
        cls, id: str, variant: str = "", *, where: tuple[str, ...] | Place = (), **numbers: Any
    ) -> Self:
        """Make one of the package's own: its sentence is that of the file of words.

        Parameters
        ----------
        id : str
            A caution of ``core/words.toml``.
        variant : str
            Which of its sentences, if it has several.
        where : tuple of str or Place
            Systems, strata or periods that it is about; a `Place` stands in the sentence too.
        **numbers : number or str
            What stands in the sentence.

        Returns
        -------
        Caution
            With its sentence.
        """
        if isinstance(where, Place):
            where, numbers["place"] = where
        text = sentence("cautions", id, variant, numbers)
        return cls(id, text, where, {name: _plain(number) for name, number in numbers.items()})

    def within(self, part: str, where: tuple[str, ...]) -> Self:
        """Say of which part of the data a caution is.

        Parameters
        ----------
        part : str
            What its sentence begins with, before a colon.
        where : tuple of str
            Systems, strata or periods that it is about.

        Returns
        -------
        Caution
            With the same numbers.
        """
        return replace(self, text=f"{part}: {self.text}", where=where)


def _plain(value: Any) -> Any:
    """A number, a text or a list of these, as JSON has it."""
    if isinstance(value, list | tuple):
        return list(map(_plain, value))
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str | int | float) else str(value)


class Assumption(NamedTuple):
    """A condition under which a result means what it says.

    Parameters
    ----------
    id : str
        Short and stable, for example ``"random-labels"``.
    text : str
        The condition in words.
    contradicted_by : tuple of str
        Ids of the cautions of the same result that contradict it.
    """

    id: str
    text: str
    contradicted_by: tuple[str, ...] = ()

    @classmethod
    def of(cls, id: str, variant: str = "", **numbers: Any) -> Self:
        """Make one of the package's own: its sentence is that of the file of words.

        Parameters
        ----------
        id : str
            An assumption of ``core/words.toml``.
        variant : str
            Which of its sentences, if it has several.
        **numbers : number or str
            What stands in the sentence.

        Returns
        -------
        Assumption
            With its sentence; nothing contradicts it.
        """
        return cls(id, sentence("assumptions", id, variant, numbers))

    def __str__(self) -> str:
        against = ", ".join(self.contradicted_by)
        return f"{self.text} (contradicted by {against})" if against else self.text


#: What must hold for an answer to mean what it says, and what the data say against it.
Diagnosis = tuple[tuple[Assumption, ...], tuple[Caution, ...]]


@dataclass(frozen=True, eq=False)
class Quantity:
    """Values of one quantity with their intervals, by named dimensions.

    Parameters
    ----------
    value, low, high : array_like, shape (n_labels,)
        Estimates and ends of their intervals; ``nan`` where the data give no answer.
    dims : tuple of str
        Names of the dimensions, for example ``("judge", "truth", "vote")``; empty for one number.
    labels : sequence of tuple
        For each entry its coordinates, one per dimension. Combinations may be absent.
    raw : array_like, shape (n_labels,), optional
        Values before they were clipped to their range.

    Raises
    ------
    InputError
        If lengths differ or a label does not have one coordinate per dimension.
    """

    value: Any
    low: Any
    high: Any
    dims: tuple[str, ...] = ()
    labels: Sequence[tuple[Hashable, ...]] = ((),)
    raw: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "dims", tuple(self.dims))
        object.__setattr__(self, "labels", tuple(tuple(label) for label in self.labels))
        with checking("Quantity") as require:
            for name in COLUMNS:
                column = getattr(self, name)
                if column is None:
                    continue
                numbers = np.atleast_1d(np.asarray(column, float)).ravel()
                object.__setattr__(self, name, numbers)
                fits = numbers.size == len(self.labels)
                require(fits, f"{name} has {numbers.size} entries, labels {len(self.labels)}")
            wrong = [label for label in self.labels if len(label) != len(self.dims)]
            require(not wrong, f"expected one coordinate each of {self.dims}, got {wrong[:3]}")

    @classmethod
    def over(
        cls, columns: Sequence[Any], coords: Mapping[str, Sequence[Hashable]] | None = None
    ) -> Self:
        """Build from arrays with one axis per dimension.

        Parameters
        ----------
        columns : sequence of array_like, each of shape (n_1, …, n_d)
            Values, lows, highs, and the raw values as an optional fourth.
        coords : mapping of str to sequence, optional
            Coordinates by dimension, in the order of the axes; none for one number.

        Returns
        -------
        Quantity
            One entry per combination of coordinates.

        Examples
        --------
        >>> Quantity.over(([0.5, 0.6], [0.4, 0.5], [0.6, 0.7]), {"system": ["a", "b"]}).labels
        (('a',), ('b',))
        """
        coords = coords or {}
        names = ("value", "low", "high", "raw")[: len(columns)]
        arrays = {name: np.ravel(column) for name, column in zip(names, columns, strict=True)}
        return cls(**arrays, dims=tuple(coords), labels=tuple(product(*coords.values())))

    @classmethod
    def of_rows(cls, rows: Mapping[Any, Sequence[float] | float], dims: tuple[str, ...]) -> Self:
        """Build from one row per entry, for combinations of coordinates that are not all there.

        Parameters
        ----------
        rows : mapping of tuple to sequence of float
            Value, low, high (and raw) by coordinates; with one dimension a key may be the
            coordinate itself. A lone number has no interval.
        dims : tuple of str
            Names of the dimensions.

        Returns
        -------
        Quantity
            In the order of the rows.
        """
        labels = [key if isinstance(key, tuple) else (key,) for key in rows]
        triples = [(row, np.nan, np.nan) if np.isscalar(row) else row for row in rows.values()]
        width = max((len(row) for row in triples), default=3)
        padded = [(*row, *[row[0]] * (width - len(row))) for row in triples]
        columns = np.array(padded, float).reshape(-1, width).T
        return cls(**dict(zip(COLUMNS, columns, strict=False)), dims=dims, labels=labels)

    def row(self, i: int) -> Row:
        """Take one entry.

        Parameters
        ----------
        i : int
            Its position.

        Returns
        -------
        Row
            Value, low and high.
        """
        return Row(float(self.value[i]), float(self.low[i]), float(self.high[i]))

    def coords(self) -> dict[str, list[Hashable]]:
        """List the distinct coordinates of each dimension.

        Returns
        -------
        dict of str to list
            In the order in which they first occur.
        """
        return {d: list(dict.fromkeys(x[i] for x in self.labels)) for i, d in enumerate(self.dims)}


def in_words(quantity: str, pass_name: str = "") -> str:
    """A quantity as tables and pictures name it."""
    words = HEADINGS.get(quantity)
    return of_passes(words, pass_name) if words else quantity.replace("_", " ")


def pass_name_in(results: Iterable[Any]) -> str:
    """What results, or their data, call a pass, if it is no word for it."""
    held = [getattr(result, "data", result) for result in results]
    parts = [part for d in held for part in (d.values() if isinstance(d, dict) else [d])]
    return next(filter(None, (getattr(part, "pass_name", "") for part in parts)), "")


def words_of_passes(pass_name: str) -> dict[str, str]:
    """What templates call good outputs, or those that people call by another name than pass."""
    kind = "of_named_passes" if pass_name else "of_passes"
    return {"good": repr(pass_name), **words_for(kind)}


def of_passes(template: str, pass_name: str = "") -> str:
    """Words about good outputs, with their name."""
    return template.format(**words_of_passes(pass_name))


def coordinate(dim: str, value: Hashable) -> str:
    """Name one coordinate for people to read: a bare number would say nothing."""
    return f"{value} calls" if dim == "calls" else f"k = {value}" if dim == "k" else str(value)


def label(quantity: str, where: Sequence[Hashable]) -> str:
    """Name one entry as ArviZ names it, for people to read; nothing reads it back."""
    return f"{quantity}[{', '.join(map(str, where))}]" if where else quantity


def entries_of(table: pd.DataFrame) -> pd.Series:
    """Quantity and coordinates of each row of a tidy table, as a tuple."""
    import pandas as pd

    known = {*COLUMNS, "method", "width", "interval", "truth"}
    keys = table[[c for c in table.columns if c not in known]]
    entries = [tuple(x for i, x in enumerate(row) if i == 0 or x != "") for row in keys.to_numpy()]
    return pd.Series(entries, index=table.index, name="entry", dtype=object)


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """Values with intervals, in one shape whatever made them.

    Parameters
    ----------
    quantities : mapping of str to Quantity
        The numbers. Three or four plain numbers (value, low, high, raw) stand for one `Quantity`
        without dimensions.
    method : Method
        What computed the numbers; of a name of your own, a string is enough.
    ci_prob : float
        Probability that ``[low, high]`` is meant to contain.
    source : str
        Where the formula or model comes from, to the equation.
    interval : str or mapping of str to str
        Kind of interval, for example ``"Wilson"``; by quantity where they differ.
    assumptions : tuple of Assumption
        What must hold for the numbers to mean what they say.
    cautions : tuple of Caution
        Warnings that these data raise.
    target : {"population", "items"}
        Which items the numbers are about: the process that these items come from, or these very
        items.
    data : data class of a module, optional
        What it was computed from: `answer` tells how many items and labels the numbers rest on.

    Examples
    --------
    >>> made = Estimate({"prevalence": (0.5, 0.4, 0.6)}, method="Wilson", ci_prob=0.95,
    ...                 source="Wilson (1927)")
    >>> made["prevalence"].low
    0.4
    """

    quantities: Mapping[str, Quantity]
    method: Method
    ci_prob: float
    source: str
    interval: str | Mapping[str, str] = ""
    assumptions: tuple[Assumption, ...] = ()
    cautions: tuple[Caution, ...] = ()
    target: Target = "population"
    data: Any = None
    _where: dict[tuple[Hashable, ...], tuple[str, int]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        quantities = {
            name: numbers if isinstance(numbers, Quantity) else Quantity.of_rows({(): numbers}, ())
            for name, numbers in self.quantities.items()
        }
        object.__setattr__(self, "quantities", quantities)
        object.__setattr__(self, "method", as_method(self.method))
        where = {(q, *at): (q, i) for q, n in quantities.items() for i, at in enumerate(n.labels)}
        object.__setattr__(self, "_where", where)

    def __getitem__(self, key: str | tuple[Hashable, ...]) -> Row:
        """Take one number: ``estimate["prevalence"]``, ``estimate["prevalence", "gpt"]``."""
        key = key if isinstance(key, tuple) else (key,)
        if key not in self._where:
            first = [(name, *n.labels[0]) for name, n in self.quantities.items() if len(n.labels)]
            known = [entry for entry in self._where if entry[0] == key[0]] or first
            written = [f"[{', '.join(map(repr, entry))}]" for entry in (key, *known)]
            words = f"no entry {written[0]}; there are {few(written[1:], ENTRIES)}"
            raise InputError("Estimate", [Problem(words, "no-entry", value=key)])
        quantity, i = self._where[key]
        return self.quantities[quantity].row(i)

    def __contains__(self, quantity: str) -> bool:
        return quantity in self.quantities

    def rows(self) -> Iterator[tuple[str, dict[str, Hashable], Row]]:
        """Walk over the numbers.

        Yields
        ------
        quantity : str
            Name.
        where : dict
            Coordinates by dimension.
        row : Row
            Value, low and high.
        """
        for name, quantity in self.quantities.items():
            for i, at in enumerate(quantity.labels):
                yield name, dict(zip(quantity.dims, at, strict=True)), quantity.row(i)

    @property
    def dims(self) -> tuple[str, ...]:
        """Dimensions of any quantity, in the order in which they first occur."""
        return tuple(dict.fromkeys(d for q in self.quantities.values() for d in q.dims))

    @property
    def table(self) -> pd.DataFrame:
        """The numbers as a tidy table.

        Columns ``quantity``, one per dimension (``""`` if a quantity does not have it), ``value``,
        ``low``, ``high``, and ``raw`` where a value was clipped; one row per entry.
        """
        import pandas as pd

        clipped = any(quantity.raw is not None for quantity in self.quantities.values())
        parts: dict[str, list[Any]] = {"quantity": [], **{d: [] for d in self.dims}}
        numbers: dict[str, list[Any]] = {name: [] for name in COLUMNS[: 4 if clipped else 3]}
        for name, quantity in self.quantities.items():
            parts["quantity"] += [name] * len(quantity.labels)
            for d in self.dims:
                i = quantity.dims.index(d) if d in quantity.dims else None
                parts[d] += ["" if i is None else at[i] for at in quantity.labels]
            for column in numbers:
                values = getattr(quantity, column)
                numbers[column] += (quantity.value if values is None else values).tolist()
        return pd.DataFrame({**parts, **numbers})

    @property
    def dataset(self) -> xr.Dataset:
        """The numbers with named dimensions: one variable per quantity, and a dimension ``part``.

        ``estimate.dataset["prevalence"].sel(system="gpt", part="low")``. ``part`` is ``value``,
        ``low``, ``high`` and, where a value was clipped, ``raw``. Absent combinations are ``nan``.
        """
        import xarray as xr

        arrays = {}
        for name, quantity in self.quantities.items():
            coords = quantity.coords()
            parts = COLUMNS[: 3 if quantity.raw is None else 4]
            dense = np.full((*map(len, coords.values()), len(parts)), np.nan)
            at = tuple(
                [[*c].index(x[i]) for x in quantity.labels] for i, c in enumerate(coords.values())
            )
            dense[at] = np.column_stack([getattr(quantity, part) for part in parts])
            arrays[name] = xr.DataArray(
                dense, {**coords, "part": [*parts]}, (*quantity.dims, "part")
            )
        return xr.Dataset(arrays)

    def interval_of(self, quantity: str) -> str:
        """Name the kind of interval that a quantity has.

        Parameters
        ----------
        quantity : str
            Name.

        Returns
        -------
        str
            For example ``"Wilson"``.
        """
        if isinstance(self.interval, str):
            return self.interval
        return self.interval.get(quantity, "")

    def only(self, *quantities: str) -> Self:
        """Keep some quantities.

        Parameters
        ----------
        *quantities : str
            Names.

        Returns
        -------
        Estimate
            The same estimate with fewer quantities.
        """
        kept = {name: quantity for name, quantity in self.quantities.items() if name in quantities}
        return replace(self, quantities=kept)

    def __repr__(self) -> str:
        cells = [["", "value", "low", "high"]]
        for quantity, where, row in islice(self.rows(), ROWS):
            name = label(quantity, tuple(where.values()))
            cells.append([name, *("–" if np.isnan(x) else f"{x:.3f}" for x in row)])
        total = sum(len(numbers.labels) for numbers in self.quantities.values())
        lines = [f"Estimate: {self._about()}", *screen_rows(cells, total)]
        names = few(list(dict.fromkeys(c.id for c in self.cautions)))
        return fitted([*lines, *([f"cautions: {names}"] if names else [])])

    def _repr_html_(self) -> str:
        shown = self.cautions[:NAMES]
        notes = "".join(f"<br>{escape(c.id)}: {escape(c.text)}" for c in shown)
        more = len(self.cautions) - len(shown)
        notes += f"<br>… {more:,} more cautions" if more else ""
        about = f"<small>{escape(self._about())}{notes}</small>"
        return self.table.round(3).to_html(index=False, max_rows=ROWS) + about

    def _about(self) -> str:
        kinds = ", ".join(dict.fromkeys(map(self.interval_of, self.quantities)))
        return f"{self.method}, {100 * self.ci_prob:g} % {kinds}"
