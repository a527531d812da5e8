"""Tables of scores before and after changes: one row per score, or a column of each variant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayesjudge.cli.output import tell
from bayesjudge.cli.shapes.roles import describe
from bayesjudge.cli.source import Source
from bayesjudge.core.errors import InputError, Problem, expect
from bayesjudge.core.screen import how_many
from bayesjudge.core.tables import free_name
from bayesjudge.readers.files import File
from bayesjudge.readers.tables import is_one_file

#: What names a row that no column names.
ROW = "row number"


@dataclass(frozen=True)
class Shape:
    """Columns that are read: in a wide table `scores` has one per variant, `variant` is None."""

    item: str
    variant: str | None
    scores: Sequence[str]
    baseline: str
    #: Whether no column names the items, and each row is one.
    numbered: bool = False

    @classmethod
    def of(
        cls,
        source: Source,
        item: str | None,
        variant: str | None,
        score: Sequence[str] | None,
        baseline: str | None,
        rerun: Sequence[str] | None,
    ) -> Shape:
        """Tell a wide table from a long one, by the options and the columns that there are."""
        have = source.columns()
        versions = [baseline, *(score or ()), *(rerun or ())]
        columns = [name for name in dict.fromkeys(versions) if name in (*have, *(score or ()))]
        long = "variant" in have and "variant" not in columns
        if variant is not None or long or len(columns) < 2:
            named = variant or "variant"
            return cls(item or "item", named, score or ["score"], baseline or "baseline")
        first = baseline or columns[0]
        if item is None and "item" not in have:
            _require_no_items(source, columns)
            return cls(free_name(ROW, have), None, columns, first, numbered=True)
        return cls(item or "item", None, columns, first)

    @property
    def released(self) -> list[str]:
        """Columns of the scores that are released, in rows of the baseline."""
        return [*self.scores] if self.variant is not None else [self.baseline]

    @property
    def reading(self) -> dict[str, Any]:
        """Arguments by which these columns are read."""
        named = {"item": self.item, "variant": self.variant, "score": self.scores}
        return {**named, "baseline": self.baseline}

    @property
    def inputs(self) -> dict[str, str]:
        """What was read, for the screen."""
        return {} if self.variant is not None else {"baseline": self.baseline}

    def rows(self, source: Source, names: Sequence[str]) -> Any:
        """The columns that are needed, with numbers of rows if these name the items."""
        import pyarrow as pa

        columns = [name for name in names if not self.numbered or name != self.item]
        table = source.own_table(list(dict.fromkeys([*columns, *self.scores])))
        if not self.numbered:
            return table
        tell("no column names the items: each row counts as an item (--item COLUMN)")
        return table.append_column(self.item, pa.array([str(i + 1) for i in range(len(table))]))

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Say what else a table may be that has several rows of an item."""
        try:
            yield
        except InputError as error:
            if self.variant is None and error.has("repeated-items"):
                words = (
                    f"{how_many(len(self.scores), 'column')} of --score are read as one per "
                    "variant; if rows are of different variants: --variant COLUMN"
                )
                error.problems.append(Problem(words))
            raise


def open_table(path: Path) -> Source:
    """A table that is read once, even from standard input."""
    return Source(path, File(path) if is_one_file(path) else None)


def _require_no_items(source: Source, scores: Sequence[str]) -> None:
    """Raise if a column seems to name the items: else rows are items."""
    others = [name for name in source.columns() if name not in scores]
    item = describe(source.table_of_names(others)).item if others else None
    expect("table", item is None, f"no column 'item'; name the column of items: --item {item}")
