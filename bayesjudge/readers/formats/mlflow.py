"""MLflow traces with their assessments: an exported frame, or a tracking store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bayesjudge.core.errors import checking, expect
from bayesjudge.readers.files import File
from bayesjudge.readers.formats._cells import listed, mapping, text, verdict
from bayesjudge.readers.log import Grade, Log, Notes, log_of

TRACE, KIND = ("trace_id", "request_id"), ("source_type", "type")
#: Traces that a tracking store is asked for at a time.
PAGE = 500


class MLflow:
    """Assessments of models (LLM_JUDGE), programs (CODE) and people (HUMAN), by trace."""

    NAME = "MLflow"

    def recognise(self, file: File) -> bool:
        """Tell by fields or members that only this tool writes."""
        names = file.columns_if()
        return "assessments" in names and bool(names & {*TRACE, "info", "trace", "trace_metadata"})

    def read(self, file: File, notes: Notes) -> Iterator[Grade]:
        """All grades."""
        return _grades(file.records(), notes)


def from_mlflow(experiment: str, *, tracking_uri: str | None = None) -> Log:
    """Read the assessments of an experiment's traces from a tracking store.

    Parameters
    ----------
    experiment : str
        Its name.
    tracking_uri : str, optional
        Of the store, such as ``sqlite:///mlflow.db``; what MLflow is set to if not given.

    Returns
    -------
    Log
        As `bayesjudge.readers.read_log` reads an exported frame.

    Raises
    ------
    InputError
        If MLflow is not installed, or there is no such experiment.
    """
    with checking("from_mlflow") as require:
        try:
            import mlflow
        except ImportError:
            mlflow = None
        require(mlflow is not None, "mlflow-not-installed")
    client = mlflow.MlflowClient(tracking_uri=tracking_uri)
    stored = client.get_experiment_by_name(experiment)
    expect("from_mlflow", stored is not None, "no-experiment", experiment=experiment)
    notes = Notes()
    grades = _grades(_traces(client, stored.experiment_id), notes)
    return log_of(MLflow.NAME, f"MLflow experiment {experiment}", grades, notes)


def _traces(client: Any, experiment_id: str) -> Iterator[Mapping[str, Any]]:
    """All traces, page by page, without their spans."""
    asked: dict[str, Any] = {"experiment_ids": [experiment_id], "include_spans": False}
    token = None
    while True:
        page = client.search_traces(**asked, max_results=PAGE, page_token=token)
        yield from (trace.to_dict() for trace in page)
        token = page.token
        if not token:
            return


def _grades(records: Any, notes: Notes) -> Iterator[Grade]:
    for record in records:
        info = mapping(record.get("info"))
        item = next((text(w[key]) for w in (record, info) for key in TRACE if w.get(key)), "")
        assessments = listed(record.get("assessments")) or listed(info.get("assessments"))
        if not assessments:
            notes.left_out["traces without an assessment"] += 1
        tags = {**mapping(info.get("tags")), **mapping(record.get("tags"))}
        about = {k: v for k, v in tags.items() if not k.startswith("mlflow.")}
        system = next((text(tags[k]) for k in ("model", "mlflow.modelId") if tags.get(k)), "")
        base = Grade(item=item, metric="", value=None, system=system, about=about)
        for assessment in map(mapping, assessments):
            if assessment.get("valid") is False:
                notes.left_out["assessments that were overridden"] += 1
                continue
            yield _grade(base, assessment)


def _grade(base: Grade, entry: Mapping[str, Any]) -> Grade:
    feedback, expected = mapping(entry.get("feedback")), mapping(entry.get("expectation"))
    source = mapping(entry.get("source"))
    kind = next((text(source[key]) for key in KIND if source.get(key)), "").upper()
    error = feedback.get("error") or entry.get("error")
    value = expected.get("value", feedback.get("value"))
    grade = None if error or isinstance(value, Mapping | list) else verdict(value)
    message = text(mapping(error).get("error_message")) or text(error) or "no value"
    return base._replace(
        metric=text(entry.get("assessment_name")) or text(entry.get("name")) or "assessment",
        value=grade,
        judge=text(source.get("source_id")) if kind in ("LLM_JUDGE", "AI_JUDGE") else "",
        human=kind == "HUMAN",
        failure="" if grade is not None else message[:300],
    )
