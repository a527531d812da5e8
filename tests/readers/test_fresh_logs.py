"""Logs that the tools write while the test runs; skipped where a tool is not installed."""

import json
import math
import os
import shutil
import subprocess
import types

import pytest
from refusals import refused

import bayesjudge as bj
from bayesjudge.cli import main
from bayesjudge.readers import from_mlflow, read_log
from bayesjudge.readers.formats import mlflow as reader

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]

GRADES = ["C", "I", "C", None, "C", "C", "I", "C", None, "C"]


# Inspect -----------------------------------------------------------------------------------------


def inspect_log(folder, monkeypatch, epochs):
    """Ten questions, graded by a model that twice gives no grade."""
    inspect_ai = pytest.importorskip("inspect_ai", reason="no inspect_ai")
    import tiktoken
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, get_model
    from inspect_ai.scorer import model_graded_qa

    # its vocabulary is a file on the network
    encoding = types.SimpleNamespace(encode=lambda text, **_: text.split())
    monkeypatch.setattr(tiktoken, "get_encoding", lambda name: encoding)

    def grade(messages, tools, tool_choice, config):
        text = messages[-1].text
        i = next(i for i in range(len(GRADES)) if f"question number {i}." in text)
        told = f"GRADE: {GRADES[i]}" if GRADES[i] else "I cannot say."
        return ModelOutput.from_content("mockllm/judge", told)

    samples = [
        Sample(input=f"question number {i}.", target="4", id=f"q{i}",
               metadata={"human_label": "C" if i % 3 else "I"})
        for i in range(len(GRADES))
    ]  # fmt: skip
    judge = get_model("mockllm/judge", custom_outputs=grade)
    task = inspect_ai.Task(dataset=MemoryDataset(samples), scorer=model_graded_qa(model=judge))
    (log,) = inspect_ai.eval(task, model="mockllm/model", epochs=epochs, log_dir=str(folder),
                             display="none", log_format="eval")  # fmt: skip
    assert log.status == "success"
    return inspect_ai, log


def test_an_inspect_log_is_read_as_its_own_package_reads_it(tmp_path, monkeypatch):
    inspect_ai, log = inspect_log(tmp_path, monkeypatch, epochs=2)
    (path,) = tmp_path.glob("*.eval")
    found = read_log(path)
    table = found.table("model_graded_qa").to_pylist()
    own = inspect_ai.log.read_eval_log(log.location)
    expected = {}
    for sample in own.samples:
        value = sample.scores["model_graded_qa"].value
        failed = isinstance(value, float) and math.isnan(value)
        expected[str(sample.id), str(sample.epoch)] = None if failed else value
    assert {(r["item"], r["repeat"]): r["verdict"] for r in table} == expected
    assert len(expected) == 20
    assert {r["human_label"] for r in table} == {"C", "I"}
    metric = found.metrics["model_graded_qa"]
    assert metric.judges == ["mockllm/judge"]
    assert metric.failures == 4
    assert found.repeating == "judge"  # the mock gives one output
    # the grades that were given: the summary's share is of these, and it does not tell the others
    (summary,) = own.results.scores
    passes = [v for v in expected.values() if v is not None]
    share = passes.count("C") / len(passes)
    assert summary.metrics["accuracy"].value == pytest.approx(share)
    line = ["prevalence", str(path), "--truth", "human_label", "--calibration", "random"]
    assert main([*line, "--unparsed", "drop", "--no-nuts"]) == 0


def test_what_inspects_summary_says_of_failed_grades(tmp_path, monkeypatch):
    """The samples count, never the summary."""
    _, log = inspect_log(tmp_path, monkeypatch, epochs=1)
    (summary,) = log.results.scores
    (path,) = tmp_path.glob("*.eval")
    metric = read_log(path).metrics["model_graded_qa"]
    assert metric.failures == 2
    assert (summary.scored_samples, summary.unscored_samples) in ((10, 0), (8, 2))


# promptfoo ---------------------------------------------------------------------------------------

JUDGE = """
module.exports = class {
  id() { return 'toy-judge'; }
  async callApi(prompt) {
    const n = Number(/number (\\d+)/.exec(prompt)[1]);
    if (n === 4) return {output: 'no JSON at all'};
    const pass = n % 3 > 0;
    return {output: JSON.stringify({pass, score: pass ? 1 : 0, reason: 'told'})};
  }
};
"""


def test_a_promptfoo_log_agrees_with_its_own_counts(tmp_path):
    tool = shutil.which("promptfoo")
    if tool is None:
        pytest.skip("no promptfoo (npm install promptfoo, its folder .bin in PATH)")
    (tmp_path / "judge.js").write_text(JUDGE)
    tests = [
        {"vars": {"text": f"number {i}"}, "metadata": {"human_label": i % 2 == 0},
         "assert": [{"type": "llm-rubric", "value": "is fine", "metric": "fine",
                     "provider": "file://judge.js"}]}
        for i in range(9)
    ]  # fmt: skip
    config = {"prompts": ["say {{text}}"], "providers": ["echo"], "tests": tests}
    (tmp_path / "promptfooconfig.json").write_text(json.dumps(config))
    quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1",
             "PROMPTFOO_CONFIG_DIR": str(tmp_path / "home"), "PROMPTFOO_SELF_HOSTED": "1",
             "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1"}  # fmt: skip
    asked = [tool, "eval", "-c", "promptfooconfig.json", "-o", "out.json", "--no-cache",
             "--repeat", "2", "--no-table", "--no-progress-bar", "--no-share"]  # fmt: skip
    done = subprocess.run(asked, cwd=tmp_path, env={**os.environ, **quiet}, capture_output=True,
                          text=True, timeout=200, check=False)  # fmt: skip
    assert (tmp_path / "out.json").exists(), done.stdout + done.stderr
    found = read_log(tmp_path / "out.json")
    metric = found.metrics["fine"]
    assert (len(metric.grades), metric.failures) == (18, 2)  # the one that did not parse, twice
    assert metric.judges == ["file://judge.js"]
    table = found.table("fine").to_pylist()
    assert len({r["item"] for r in table}) == 9
    assert {r["repeat"] for r in table} == {"1", "2"}
    stats = json.loads((tmp_path / "out.json").read_text())["results"]["stats"]
    passed = sum(r["verdict"] == "1" for r in table)
    # promptfoo counts what could not be read as a failure of the output
    assert (stats["successes"], stats["failures"]) == (passed, 18 - passed)
    counted = bj.prevalence.items.Items.from_frame(
        found.table("fine"), calibration="random", truth="human_label", repeats="judge",
        unparsed="drop",
    )  # fmt: skip
    assert counted.unparsed == 2


# MLflow ------------------------------------------------------------------------------------------


def test_an_mlflow_store(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow", reason="no mlflow")
    from mlflow.entities import AssessmentSource

    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    mlflow.set_tracking_uri(uri)
    experiment = mlflow.create_experiment("toy", artifact_location=(tmp_path / "art").as_uri())
    mlflow.set_experiment(experiment_id=experiment)
    model = AssessmentSource(source_type="LLM_JUDGE", source_id="gpt-4o")
    person = AssessmentSource(source_type="HUMAN", source_id="ann")
    verdicts = [True, False, True, None, True, False, True]
    traces = []
    for i in range(len(verdicts)):
        with mlflow.start_span(name=f"q{i}") as span:
            span.set_outputs("an answer")
        traces.append(span.trace_id)
    mlflow.flush_trace_async_logging()
    for i, verdict in enumerate(verdicts):
        given = {"trace_id": traces[i], "name": "correct"}
        if verdict is None:
            error = mlflow.entities.AssessmentError(error_code="PARSE", error_message="no JSON")
            mlflow.log_feedback(**given, source=model, error=error)
        else:
            mlflow.log_feedback(**given, source=model, value=verdict)
        if i < 4:
            mlflow.log_feedback(**given, source=person, value=i % 2 == 0)
    monkeypatch.setattr(reader, "PAGE", 3)  # so that there are several
    found = from_mlflow("toy", tracking_uri=uri)
    metric = found.metrics["correct"]
    assert (len(metric.grades), metric.failures, metric.judges) == (7, 1, ["gpt-4o"])
    counts = bj.prevalence.Counts.from_frame(
        found.table("correct"), calibration="random", unparsed="drop", item="item"
    )
    # the fourth trace has a label and no verdict
    assert (counts.test_n, counts.test_pass) == (3, 2)
    assert (counts.correct_n, counts.correct_pass, counts.incorrect_n) == (2, 2, 1)
    frame = mlflow.search_traces(locations=[experiment], return_type="pandas")
    frame.to_json(tmp_path / "traces.json", orient="records", default_handler=str)
    again = read_log(tmp_path / "traces.json")
    key = lambda log: sorted((g.item, g.human, str(g.value), g.judge) for g in log.grades)  # noqa: E731
    assert key(again) == key(found)
    with refused("other", id="no-experiment"):
        from_mlflow("other", tracking_uri=uri)
