"""Records with a list of criteria, as a row per criterion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from bayesjudge.core.errors import checking

if TYPE_CHECKING:
    import pandas as pd


def rows_of_records(records: Iterable[Mapping[str, Any]], field: str | None = None) -> pd.DataFrame:
    """Write a row for each criterion of each record, as `Rubric.from_frame` reads it.

    Parameters
    ----------
    records : iterable of mapping
        An output each, with a list of objects: its criteria.
    field : str, optional
        Name of that list; by default the first list of objects.

    Returns
    -------
    pandas.DataFrame
        A column per field of the criteria, and one per plain field of the record, called
        ``record.field`` where both have one of a name; ``record`` counts the records.

    Raises
    ------
    InputError
        If no record has such a list.

    Examples
    --------
    >>> made = rows_of_records([{"id": 7, "rubrics": [{"criterion": "says why", "points": 3}]}])
    >>> made.to_dict("records")
    [{'record': 1, 'id': 7, 'criterion': 'says why', 'points': 3}]
    """
    import pandas as pd

    every = [*records]
    name = field or next((n for record in every for n in record if _is_list(record[n])), None)
    with checking("rubric.rows_of_records") as require:
        words = "a list of objects, such as [{'criterion': …, 'points': 3, 'met': true}]"
        require(name is not None, f"no record has {words}")
        places = [i for i, record in enumerate(every) if _is_list(record.get(name or "", []))]
        require(name is None or places, f"field {name!r} is not {words}")
    rows = []
    for i, record in enumerate(every):
        plain = {n: cell for n, cell in record.items() if not isinstance(cell, list | Mapping)}
        for part in record.get(str(name)) or ():
            both = {n if n not in part else f"record.{n}": cell for n, cell in plain.items()}
            rows.append({"record": i + 1, **both, **part})
    return pd.DataFrame(rows)


def _is_list(cell: Any) -> bool:
    return (
        isinstance(cell, list) and bool(cell) and all(isinstance(entry, Mapping) for entry in cell)
    )
