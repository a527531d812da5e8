"""Langfuse: exported scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bayesjudge.readers.files import File
from bayesjudge.readers.formats._cells import number, text, verdict
from bayesjudge.readers.log import Grade, Notes

#: `source` of a score that a person gave.
PEOPLE = "ANNOTATION"


class Langfuse:
    """Scores by trace: of evaluators (EVAL), programs (API) and people (ANNOTATION)."""

    NAME = "Langfuse"

    def recognise(self, file: File) -> bool:
        """Tell by fields or members that only this tool writes."""
        names = {_plain(c) for c in file.columns_if()}
        return {"traceid", "name", "value", "source"} <= names and "datatype" in names

    def read(self, file: File, notes: Notes) -> Iterator[Grade]:
        """All grades."""
        for record in file.records():
            yield _grade({_plain(key): cell for key, cell in record.items()})


def _plain(name: Any) -> str:
    return str(name).replace("_", "").replace(" ", "").lower()


def _grade(row: Mapping[str, Any]) -> Grade:
    kind, source = text(row.get("datatype")).upper(), text(row.get("source")).upper()
    said, value = text(row.get("stringvalue")).strip(), row.get("value")
    if kind == "CATEGORICAL":
        grade = said or verdict(value)
    elif kind == "BOOLEAN":
        grade = said or verdict(number(value))
    else:
        grade = verdict(number(value))
    observation = text(row.get("observationid"))
    item = text(row.get("traceid")) + (f"/{observation}" if observation else "")
    return Grade(
        item=item or text(row.get("sessionid")) or text(row.get("datasetrunid")),
        metric=text(row.get("name")) or "score",
        value=grade,
        judge="evaluator" if source == "EVAL" else "",
        human=source == PEOPLE,
        failure="" if grade is not None else text(row.get("comment"))[:300] or "no value",
        about={"trace_name": row.get("tracename"), "environment": row.get("environment")},
    )
