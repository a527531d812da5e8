"""OpenAI Evals: output items of a run."""

from __future__ import annotations

from collections.abc import Iterator

from bayesjudge.readers.files import File
from bayesjudge.readers.formats._cells import flat, listed, mapping, name_of, number, text, verdict
from bayesjudge.readers.log import Grade, Notes


class OpenAIEvals:
    """Results of each grader on each item of the data source."""

    NAME = "OpenAI Evals"

    def recognise(self, file: File) -> bool:
        """Tell by fields or members that only this tool writes."""
        return {"datasource_item_id", "results"} <= file.columns_if("json", "jsonl")

    def read(self, file: File, notes: Notes) -> Iterator[Grade]:
        """All grades."""
        for row in file.records():
            sample = mapping(row.get("sample"))
            results = [mapping(result) for result in listed(row.get("results"))]
            if not results:
                notes.left_out["output items without a result"] += 1
            for result in results:
                judge = mapping(result.get("sample"))
                error = text(mapping(judge.get("error")).get("message"))
                score, passed = number(result.get("score")), result.get("passed")
                known = not error and (isinstance(passed, bool) or score is not None)
                yield Grade(
                    item=text(row.get("datasource_item_id")),
                    metric=_grader(text(result.get("name"))),
                    value=None if not known else verdict(score if passed is None else passed),
                    score=score if known else None,
                    system=text(sample.get("model")) or text(row.get("run_id")),
                    judge=name_of(judge.get("model")),
                    failure="" if known else error[:300] or "no result",
                    output=hash(repr(sample.get("output"))),
                    about=flat(row.get("datasource_item")),
                )


def _grader(name: str) -> str:
    """A grader's name without the id that each run adds."""
    head, dash, tail = name.rpartition("-")
    added = bool(dash) and len(tail) >= 32 and set(tail) <= set("0123456789abcdef-")
    return head if added else name or "result"
