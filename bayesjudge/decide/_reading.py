"""Logs as the functions of this package read them: items, verdicts and truths as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.labels import read_labels
from bayesjudge.core.tables import read_rows

if TYPE_CHECKING:
    import pandas as pd

Meanings = tuple[Any, Any, Any]


def read_log(
    table: Any, columns: Sequence[str], names: Sequence[str], meanings: Meanings
) -> pd.DataFrame:
    """Read `columns` as 1, 0 and nan, and `names` as text."""
    import pandas as pd

    rows = read_rows(table, *columns, names=names)
    coded = {c: pd.factorize(rows[c].astype(object)) for c in columns}
    cells = {c: list(distinct) for c, (_, distinct) in coded.items()}
    passes, fails, missing = meanings
    read, _ = read_labels(cells, pass_value=passes, fail_value=fails, missing_value=missing)
    values = {c: np.append(read[c], np.nan)[coded[c][0]] for c in columns}
    return pd.DataFrame({**{n: rows[n].astype(str) for n in names}, **values})
