"""LangSmith experiments, as ``to_pandas`` gives them."""

from __future__ import annotations

from collections.abc import Iterator

from bayesjudge.readers.files import File
from bayesjudge.readers.formats._cells import number, text, verdict
from bayesjudge.readers.log import Grade, Notes

FEEDBACK, REFERENCE, OUTPUT = "feedback.", "reference.", "outputs."


class LangSmith:
    """One row per run of an example, one column per feedback key; repetitions share the example."""

    NAME = "LangSmith"

    def recognise(self, file: File) -> bool:
        """Tell by fields or members that only this tool writes."""
        names = file.columns_if()
        return "example_id" in names and any(name.startswith(FEEDBACK) for name in names)

    def read(self, file: File, notes: Notes) -> Iterator[Grade]:
        """All grades."""
        keys = [name for name in file.columns if name.startswith(FEEDBACK)]
        for row in file.records():
            error = text(row.get("error"))
            about = {k: v for k, v in row.items() if k and k.startswith((REFERENCE, "metadata."))}
            outputs = [text(v) for k, v in row.items() if k and k.startswith(OUTPUT)]
            for key in keys:
                said = verdict(row.get(key))
                score = number(said)
                grade = said if score is None or isinstance(said, bool) else score
                yield Grade(
                    item=text(row.get("example_id")),
                    metric=key.removeprefix(FEEDBACK),
                    value=grade,
                    failure="" if grade is not None else (error or "no feedback")[:300],
                    output=hash(tuple(outputs)),
                    about=about,
                )
