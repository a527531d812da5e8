"""A file of rows: a table, or the grades of an evaluation log by one metric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bayesjudge.core.names import name_of
from bayesjudge.readers import read_table, tables
from bayesjudge.readers.files import File
from bayesjudge.readers.log import Log

if TYPE_CHECKING:
    import pyarrow as pa

DATABASES = ("xlsx", "sqlite", "duckdb")


@dataclass
class Rows:
    """A file, and the log that it is, if it is one."""

    path: Path
    file: File | None = None
    log: Log | None = None
    metric: str = ""
    judge: str | None = None

    def columns(self) -> list[str]:
        """Columns that there are."""
        if self.log is not None:
            return list(self.log.table(self.metric, judge=self.judge).column_names)
        if self.file is not None and self.file.kind not in DATABASES:
            return self.file.fields
        return tables.names_in(self.path)

    def readable(self) -> list[str]:
        """Columns of one name each: of two that share one, nobody knows which is meant."""
        return [name for name, n in Counter(self.columns()).items() if n == 1]

    def own_table(self, columns: Sequence[str], numbers: Sequence[str] = ()) -> pa.Table:
        """Read some columns, without labels of another file."""
        if self.log is None:
            return read_table(self.file or self.path, columns, numbers=numbers)
        return self.log.table(self.metric, columns, judge=self.judge, numbers=numbers)

    def table_of_names(self, columns: Sequence[str]) -> dict[str, list[str]]:
        """Some columns as names, empty where there is none."""
        table = self.own_table(list(dict.fromkeys(columns)))
        return {
            c: ["" if cell is None else name_of(cell).strip() for cell in table[c].to_pylist()]
            for c in table.column_names
        }

    @property
    def outputs(self) -> list[str]:
        """Columns of a log that tell an item's outputs apart, if there are several."""
        if self.log is None:
            return []
        several = {"system": len(self.log.systems) > 1, "repeat": self.log.repeating == "system"}
        return [name for name, there in several.items() if there]
