"""People's labels in another file, joined to the verdicts or scores of a table or a log."""

from __future__ import annotations

from pathlib import Path

from bayesjudge.cli.label_file import keys_of
from bayesjudge.cli.shapes import Lacking, Line
from bayesjudge.cli.shapes.common import MOST_JUDGES
from bayesjudge.cli.shapes.people import labels_first
from bayesjudge.cli.shapes.roles import describe
from bayesjudge.cli.shapes.table import Column, Table
from bayesjudge.cli.shapes.words import says_person
from bayesjudge.cli.source import Source
from bayesjudge.core.errors import InputError
from bayesjudge.core.screen import few


def people_in(columns: dict[str, list[str]], judged: list[Column]) -> list[str]:
    """Columns of a file of labels that hold them, the surest first."""
    table = Table(columns)
    called = [c for c in table if says_person(c.name) and (c.labels or c.numbers)]
    names = [c.name for c in called]
    found = labels_first([c for c in called if "by" not in c.words], judged, beside=False)
    said = {kind for c in judged if c.labels for kind in c.meanings}
    found = found or [c.name for c in table if c.labels and len(c.meanings & said) > 1]
    found = found or [n for n in describe(columns).truths if n not in names]
    return found or [c.name for c in table if c.labels and c.binary and not c.constant]


def join(table: Table, source: Source, other: Source, truth: str | None) -> Table | Lacking:
    """The table with people's labels of another file beside the verdicts or scores."""
    judged = [*(table.verdicts or table.scores[:1])][:MOST_JUDGES]
    read = ["verdict"] if table.log else judged
    columns = other.table_of_names(other.columns())
    own = source.table_of_names(read)
    found = [truth] if truth else people_in(columns, [Column(n, c) for n, c in own.items()])
    if len(table.systems) > 1:
        system = str(table.system)
    else:
        system = "system" if table.log and "system" in source.outputs else ""
    keys = keys_of(source, other, found[0], system) if found else None
    if keys is None:
        words = "names of these items" if found else "people's labels (--truth COLUMN)"
        shown = ""
        if found and table.log:
            shown = f"; here an item is called {source.table_of_names(['item'])['item'][0]!r}"
        return Lacking(
            "prevalence", f"{words} in {other.path}, which has columns {few([*columns], 8)}{shown}"
        )
    item, by = keys[0], keys[1] or ("" if table.log else system)
    labels = {"--labels": [str(other.path)], "--truth": [found[0]], "--item": [item]}
    labels |= {"--by": [by]} if by else {}
    try:
        source.add_labels(Path(other.path), truth=found[0], verdicts=read, item=item, by=by or None)
        rows = source.table([*read, found[0]])
    except InputError as error:
        line = Line("prevalence", str(source.path), labels)
        return Lacking("prevalence", f"tried `{line}`: {error.told[:300]}")
    absent = [*describe(columns, found[0]).absent.get(found[0], ())]
    cells = {n: ["" if c is None else str(c) for c in rows[n].to_pylist()]
             for n in rows.column_names}  # fmt: skip
    cells[found[0]] = ["" if c in absent else c for c in cells[found[0]]]
    if table.log:
        cells = {judged[0]: cells.pop("verdict"), **cells}
    same = len(cells[found[0]]) == len(next(iter(table.columns.values())))
    return table.but(
        columns={**table.columns, **cells} if same else cells,
        truths=[found[0]],
        labels=labels,
        absent={**table.absent, **({found[0]: absent} if absent else {})},
    )
