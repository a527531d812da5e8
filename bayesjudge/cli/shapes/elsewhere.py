"""People's labels in another file, joined to the verdicts or scores of a table or a log."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bayesjudge.cli.commands import build_app, in_options
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
    candidates = labels_first([c for c in called if "by" not in c.words], judged, beside=False)
    said = {kind for c in judged if c.labels for kind in c.meanings}
    candidates = candidates or [c.name for c in table if c.labels and len(c.meanings & said) > 1]
    candidates = candidates or [n for n in describe(columns).truths if n not in names]
    return candidates or [c.name for c in table if c.labels and c.binary and not c.constant]


def join(table: Table, source: Source, other: Source, truths: Sequence[str]) -> Table | Lacking:
    """The table with people's labels of another file beside the verdicts or scores."""
    judged = [*(table.verdicts or table.scores[:1])][:MOST_JUDGES]
    read = ["verdict"] if table.log else judged
    columns = other.table_of_names(other.columns())
    said = [Column(n, cells) for n, cells in source.table_of_names(read).items()]
    truths = [*truths] or people_in(columns, said)[:1]
    if len(table.systems) > 1:
        system = str(table.system)
    else:
        system = "system" if table.log and "system" in source.outputs else ""
    keys = keys_of(source, other, truths[0], system) if truths else None
    if keys is None:
        words = "names of these items" if truths else "people's labels (--truth COLUMN)"
        shown = ""
        if truths and table.log:
            shown = f"; here an item is called {source.table_of_names(['item'])['item'][0]!r}"
        return Lacking(
            "prevalence", f"{words} in {other.path}, which has columns {few([*columns], 8)}{shown}"
        )
    item, by = keys[0], keys[1] or ("" if table.log else system)
    labels = {"--labels": [str(other.path)], "--truth": truths, "--item": [item]}
    labels |= {"--by": [by]} if by else {}
    try:
        source.add_labels(Path(other.path), truth=truths, verdicts=read, item=item, by=by or None)
        rows = source.table([*read, *truths])
    except InputError as error:
        line = Line("prevalence", str(source.path), labels)
        worded = "; ".join(in_options(error.problems, build_app(line.words), line.words))
        return Lacking("prevalence", f"tried `{line}`: {worded[:300]}")
    absent = {n: c for n, c in describe(columns, truths).absent.items() if n in truths}
    cells = {n: ["" if c is None else str(c) for c in rows[n].to_pylist()]
             for n in rows.column_names}  # fmt: skip
    cells |= {n: ["" if c in words else c for c in cells[n]] for n, words in absent.items()}
    if table.log:
        cells = {judged[0]: cells.pop("verdict"), **cells}
    same = len(rows) == len(next(iter(table.columns.values())))
    return table.but(
        columns={**table.columns, **cells} if same else cells,
        truths=truths,
        labels=labels,
        absent={**table.absent, **absent},
    )
