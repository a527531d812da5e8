"""Verdicts or scores that nobody has checked: how people's labels are added."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from bayesjudge.cli.shapes import Labelling, Lacking, Line, Match
from bayesjudge.cli.shapes.common import ends, values
from bayesjudge.cli.shapes.of_orders import pair_in
from bayesjudge.cli.shapes.table import Table


def matches(table: Table) -> Iterator[Match]:
    """A sheet to fill in, of items that are drawn at random."""
    judged = bool(table.verdicts or table.scores)
    if table.log or table.truths or table.asked or table.labels or not judged:
        return
    if len(table.judges) > 1 or pair_in(table):
        return
    notes: list[str] = []
    item = table.row_name
    if item is None or len({*table.columns[item]}) < len(table.columns[item]):
        several = f": {item} names several" if item else ""
        if item is None or table.verdicts:
            hint = f"to have some drawn (bayesjudge label), add a column that numbers rows{several}"
            yield Lacking("prevalence", hint, more=True)
        return
    about = {"--item": [item]}
    if table.verdicts:
        options = {"--verdict": [table.verdicts[0]]}
        options |= values(table.but(verdicts=table.verdicts[:1]), notes)
        if classes := options.get("--classes"):
            yield labelling(table.path, about, reading=options, said=classes)
        else:
            yield labelling(table.path, about | options)
    else:
        yield labelling_scores(
            table.path, about, table.scores[0], ends(table, table.scores[0], notes)
        )


def labelling_scores(path: str, about: dict[str, list[str]], score: str, scale: str) -> Labelling:
    """Of probabilities people say 1 or 0, else scores like these."""
    reading = {"--score": [score], "--scale": [scale]}
    if scale == "0:1":
        return labelling(path, about, reading=reading)
    low, high = map(float, scale.split(":"))
    said = [f"{low:g}", f"{(low + high) / 2:g}", f"{high:g}"]
    reading["--truth-scale"] = [scale]
    return labelling(path, about, {}, reading, said, f"scores from {low:g} to {high:g}")


def labelling(
    path: str,
    about: dict[str, list[str]],
    drawing: dict[str, list[str]] | None = None,
    reading: dict[str, list[str]] | None = None,
    said: Sequence[str] = ("1", "0"),
    what: str = "",
) -> Labelling:
    """A line that draws items and one that reads what people said of them."""
    sheet = str(Path(path).with_name(f"{Path(path).name.split('.')[0]}.labels.csv"))
    draw = {**about, **(drawing or {}), "--gate": ["0.9"], "--n": ["20"]}
    read = {**about, **(reading or {}), "--calibration": ["random"], "--labels": [sheet]}
    words = what or f"{', '.join(said[:-1])} or {said[-1]}"
    return Labelling(Line("label", path, draw), Line("prevalence", path, read), said, words)
