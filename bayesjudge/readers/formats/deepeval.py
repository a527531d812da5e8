"""DeepEval test runs, ``test_run_*.json``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bayesjudge.readers.files import File
from bayesjudge.readers.formats._cells import flat, listed, mapping, number, text, verdict
from bayesjudge.readers.log import Grade, Notes

#: Names that DeepEval gives itself: a number of the run, not of the input.
UNNAMED = re.compile(r"(conversational_)?test_case_\d+|")
CASES = ("testCases", "test_cases", "conversationalTestCases", "conversational_test_cases")


class DeepEval:
    """Metrics of each test case: a score, or an error in place of one."""

    NAME = "DeepEval"

    def recognise(self, file: File) -> bool:
        """Tell by fields or members that only this tool writes."""
        first = file.first if file.kind == "json" else {}
        return any(isinstance(first.get(key), list) for key in CASES[:2])

    def read(self, file: File, notes: Notes) -> Iterator[Grade]:
        """All grades."""
        run = mapping(file.document)
        system = text(mapping(run.get("hyperparameters")).get("model"))
        for key in CASES:
            for case in map(mapping, listed(run.get(key))):
                metrics = listed(_either(case, "metricsData", "metrics_data"))
                if not metrics:
                    notes.left_out["test cases without a metric"] += 1
                for metric in map(mapping, metrics):
                    yield _grade(case, metric, system)


def _either(record: Any, *names: str) -> Any:
    return next((record[name] for name in names if record.get(name) is not None), None)


def _grade(case: Any, metric: Any, system: str) -> Grade:
    name = text(case.get("name"))
    error, score = text(metric.get("error")), number(metric.get("score"))
    failed = bool(error) or (score is None and metric.get("success") is not True)
    return Grade(
        item=text(case.get("input")) or name if UNNAMED.fullmatch(name) else name,
        metric=text(metric.get("name")) or "metric",
        value=None if failed else verdict(metric.get("success")),
        score=None if failed else score,
        system=system,
        judge=text(_either(metric, "evaluationModel", "evaluation_model")),
        failure=(error or "no score")[:300] if failed else "",
        output=hash(text(_either(case, "actualOutput", "actual_output"))),
        about=flat(_either(case, "additionalMetadata", "additional_metadata", "metadata")),
    )
