"""Phoenix: annotations of spans, and data frames of its evaluators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bayesjudge.readers.files import File
from bayesjudge.readers.formats._cells import listed, mapping, number, text, verdict
from bayesjudge.readers.log import Grade, Notes

SCORE, DETAILS = "_score", "_execution_details"
IDS = ("span_id", "context.span_id", "example_id", "id", "trace_id")
#: Columns of long text, which no estimate reads.
TEXTS = {"input", "output", "explanation"}


class Phoenix:
    """One row per annotation, or one column per evaluator, whose cells hold its result."""

    NAME = "Phoenix"

    def recognise(self, file: File) -> bool:
        """Tell by fields or members that only this tool writes."""
        names = file.columns_if()
        return "annotator_kind" in names or bool(_evaluators(names))

    def read(self, file: File, notes: Notes) -> Iterator[Grade]:
        """All grades."""
        names = _evaluators(set(file.columns))
        for i, row in enumerate(file.records(), 1):
            if names:
                yield from _wide(row, names, i)
            else:
                yield _long(row)


def _evaluators(columns: set[str]) -> list[str]:
    """Evaluators of a frame that has their details beside their scores."""
    ends = [c.removesuffix(DETAILS) for c in columns if c.endswith(DETAILS)]
    return sorted(name for name in ends if f"{name}{SCORE}" in columns)


def _item(row: Mapping[str, Any], i: int) -> str:
    return next((text(row[name]) for name in IDS if text(row.get(name))), f"row {i}")


def _wide(row: Mapping[str, Any], names: list[str], i: int) -> Iterator[Grade]:
    cells = {k: v for k, v in row.items() if not k.endswith((SCORE, DETAILS)) and k not in TEXTS}
    for name in names:
        result, details = mapping(row.get(f"{name}{SCORE}")), mapping(row.get(f"{name}{DETAILS}"))
        value, score = _value(result)
        why = [text(e).splitlines()[0] for e in listed(details.get("exceptions"))[:1] if e]
        kind = text(result.get("kind")).lower()
        yield Grade(
            item=_item(row, i),
            metric=name,
            value=value,
            score=score,
            judge=text(mapping(result.get("metadata")).get("model")) or ("llm" * (kind == "llm")),
            human=kind == "human",
            failure="" if value is not None else (why or ["no score"])[0][:300],
            output=hash(text(row.get("output"))),
            about=cells,
        )


def _value(result: Mapping[str, Any]) -> tuple[Any, float | None]:
    """A label, if there is one, and the score beside it; a score alone is the value."""
    label, score = text(result.get("label")).strip(), number(result.get("score"))
    return (label, score) if label else (verdict(score), None)


def _long(row: Mapping[str, Any]) -> Grade:
    kind = text(row.get("annotator_kind")).upper()
    result = {"label": _cell(row, "label"), "score": _cell(row, "score")}
    value, score = _value(result)
    named = _cell(row, "annotation_name") or _cell(row, "name")
    return Grade(
        item=next((text(row[name]) for name in IDS if text(row.get(name))), ""),
        metric=text(named) or "annotation",
        value=value,
        score=score,
        judge=(text(_cell(row, "identifier")) or "llm") if kind == "LLM" else "",
        human=kind == "HUMAN",
        failure="" if value is not None else text(_cell(row, "explanation"))[:300] or "no label",
    )


def _cell(row: Mapping[str, Any], name: str) -> Any:
    """A cell, whether the frame has its column flat or as a part of the result."""
    return row.get(name) or row.get(f"result.{name}") or mapping(row.get("result")).get(name)
