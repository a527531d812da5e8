"""Every tool's log becomes one tidy table, and says what was left out."""

import json
import sys
import types
import zipfile
from pathlib import Path

import pytest
from readers import logs
from refusals import refused

import bayesjudge as bj
from bayesjudge.readers import Grade, from_mlflow, read_log

PLACES = [folder / "shared" / "data" / "log_formats" for folder in Path(__file__).parents]
SHARED = next((place for place in PLACES if place.is_dir()), None)


@pytest.fixture(params=logs.LOGS)
def tool(request, tmp_path):
    name, write, metric = logs.LOGS[request.param]
    return request.param, write(tmp_path / name) or tmp_path / name, metric


def cells(log, metric, *columns, **options):
    table = log.table(metric, list(columns), **options)
    return list(zip(*(table[c].to_pylist() for c in columns), strict=True))


def test_the_store_of_mlflow_is_read_page_by_page_as_its_export_is(tmp_path, monkeypatch):
    path = logs.write_mlflow(tmp_path / "traces.jsonl")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    asked = []

    class Page(list):
        token = None

    class Client:
        def __init__(self, tracking_uri):
            asked.append(tracking_uri)

        def get_experiment_by_name(self, name):
            return types.SimpleNamespace(experiment_id="7") if name == "toy" else None

        def search_traces(self, experiment_ids, include_spans, max_results, page_token):
            assert (experiment_ids, include_spans) == (["7"], False)
            begin = int(page_token or 0)
            part = [types.SimpleNamespace(to_dict=lambda r=r: r) for r in rows[begin : begin + 5]]
            page = Page(part)
            page.token = str(begin + 5) if begin + 5 < len(rows) else ""
            asked.append(begin)
            return page

    monkeypatch.setitem(sys.modules, "mlflow", types.SimpleNamespace(MlflowClient=Client))
    found, exported = from_mlflow("toy", tracking_uri="sqlite:///x.db"), read_log(path)
    assert asked == ["sqlite:///x.db", 0, 5]
    assert cells(found, "correct", "item", "verdict") == cells(
        exported, "correct", "item", "verdict"
    )
    assert found.notes == exported.notes
    with refused("other", subject="from_mlflow"):
        from_mlflow("other")
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with refused(id="mlflow-not-installed"):
        from_mlflow("toy")


def test_every_tool_is_recognised_by_content(tool, tmp_path):
    name, path, metric = tool
    other = path.rename(tmp_path / "anything.log")
    if name == "lm-eval":
        (tmp_path / "results.json").unlink()
    log = read_log(other)
    assert log.tool == name.split(" json")[0].removesuffix(" lines")
    assert metric in log.metrics
    table = log.table(metric)
    assert {"item", "system", "judge", "repeat", "verdict", "score", "failure"} <= {
        *table.column_names
    }
    assert str(len(log.metrics[metric].grades)) in repr(log)


FAILED = {"Inspect": 1, "Inspect json": 1, "promptfoo": 2, "promptfoo lines": 2, "DeepEval": 1,
          "MLflow": 1, "Phoenix": 1, "LangSmith": 1, "Langfuse": 1, "OpenAI Evals": 1,
          "lm-eval": 0, "alpaca_eval": 1, "arena-hard": 2, "MT-bench": 1}  # fmt: skip


def test_what_failed_to_parse_is_a_failure_and_no_zero(tool):
    name, path, metric = tool
    log = read_log(path)
    assert log.metrics[metric].failures == FAILED[name]
    if FAILED[name]:
        assert f"{FAILED[name]} failed" in repr(log)
    for verdict, score, failure in cells(log, metric, "verdict", "score", "failure", numbers=()):
        assert (failure is None) or (verdict is None and score is None)


def test_an_inspect_summary_that_hides_failed_grades_is_told(tmp_path):
    """Inspect's own means over epochs leave them out: 0 unscored, with 5 of 90 grades failed."""
    path = logs.write_inspect(tmp_path / "run.json", logs.inspect_samples(), epochs=3)
    document = json.loads(path.read_text())
    scores = [
        {"name": n, "scored_samples": 12, "unscored_samples": 0}
        for n in ("model_graded_qa", "match", "not_of_these_samples")
    ]
    path.write_text(json.dumps(document | {"results": {"scores": scores}}))
    told = "the log's own summary of model_graded_qa counts 0 unscored, and 1 grade failed"
    log = read_log(path)
    assert log.metrics["model_graded_qa"].failures == 1
    assert [one for one in log.sentences if one.startswith("the log's own")] == [
        f"{told}: do not take its shares"
    ]
    scores[0]["unscored_samples"] = 1
    path.write_text(json.dumps(document | {"results": {"scores": scores}}))
    assert not any("summary" in one for one in read_log(path).sentences)


def test_an_inspect_log_that_was_not_ended_is_one(tmp_path):
    whole, begun = tmp_path / "whole.eval", tmp_path / "begun.eval"
    logs.write_inspect(whole, logs.inspect_samples(), zipfile.ZIP_DEFLATED, epochs=3)
    with zipfile.ZipFile(whole) as ended, zipfile.ZipFile(begun, "w") as cut:
        for name in sorted({*ended.namelist()} - {"header.json"}):
            cut.writestr(name, ended.read(name))
    log = read_log(begun)
    assert log.tool == "Inspect"
    assert len(log.metrics["model_graded_qa"].grades) == 36


def test_openai_outputs_without_a_model_are_of_their_run(tmp_path):
    path = logs.write_openai(tmp_path / "items.json")
    assert cells(read_log(path), "grader", "system") == [("small",)] * 3
    path.write_text(path.read_text().replace('"model": "small", ', ""))
    assert cells(read_log(path), "grader", "system") == [("run",)] * 3


@pytest.mark.slow
@pytest.mark.skipif(SHARED is None, reason="the tools' own logs are not beside the repository")
def test_the_inspect_log_whose_summary_is_wrong():
    log = read_log(SHARED / "inspect_ai/judge_3epochs_unparsed_human_labels.eval")
    metric = log.metrics["model_graded_qa"]
    assert (len(metric.grades), metric.failures) == (90, 5)
    assert any("counts 0 unscored, and 5 grades failed" in one for one in log.sentences)


def test_inspect_epochs_are_repeats_and_panels_votes(tmp_path):
    log = read_log(logs.write_inspect(tmp_path / "run.eval", logs.inspect_samples(), epochs=3))
    assert cells(log, "model_graded_qa", "item", "repeat", "verdict", "failure")[15] == (
        "q3", "2", None, "grader_failed: Grade not found in model output"
    )  # fmt: skip
    assert log.repeating == "judge"  # the outputs are the same
    assert log.metrics["model_graded_qa"].judges == ["openai/judge"]
    assert log.metrics["match"].judges == []
    assert cells(log, "model_graded_qa", "match", "human_label", "stratum")[:2] == [
        ("C", "C", "hard"), ("C", "C", "easy")
    ]  # fmt: skip
    votes = [["C", "I", None], ["C", "C", "C"]]
    samples = [logs.inspect_sample(i, 1, "C", votes=v) for i, v in enumerate(votes)]
    jury = logs.write_inspect(tmp_path / "jury.eval", samples, models=["a", "b", "c"])
    log = read_log(jury)
    assert cells(log, "model_graded_qa votes", "item", "judge", "verdict", "failure")[:3] == [
        ("q0", "a", "C", None), ("q0", "b", "I", None), ("q0", "c", None, "grader_failed")
    ]  # fmt: skip
    assert log.choose("match") == "match"
    assert log.choose(judges=True) == "model_graded_qa votes"
    assert log.metrics["model_graded_qa"].judges == ["panel of 3"]


def test_outputs_that_differ_between_epochs_are_repeats_of_the_system(tmp_path):
    samples = [logs.inspect_sample(0, e, "C", output=str(e)) for e in (1, 2)]
    assert read_log(logs.write_inspect(tmp_path / "run.eval", samples)).repeating == "system"


@pytest.mark.parametrize("method", [0, 8, 93])
def test_every_packing_of_inspect_reads_alike(tmp_path, method):
    samples = logs.inspect_samples()
    one = logs.write_inspect(tmp_path / "run.json", samples, epochs=3)
    other = logs.write_inspect(tmp_path / "run.eval", samples, method, epochs=3)
    tables = [read_log(path).table("model_graded_qa") for path in (one, other)]
    assert tables[0].to_pydict() == tables[1].to_pydict()


def test_score_edits_are_truth_by_epoch(tmp_path):
    samples = [
        logs.inspect_sample(0, 1, "C", edited="I"),
        logs.inspect_sample(0, 2, "C"),
        logs.inspect_sample(1, 1, "I", edited="I"),
    ]
    log = read_log(logs.write_inspect(tmp_path / "run.eval", samples))
    assert cells(log, "model_graded_qa", "item", "repeat", "verdict", "truth") == [
        ("q0", "1", "C", "I"), ("q0", "2", "C", None), ("q1", "1", "I", "I")
    ]  # fmt: skip


def test_a_run_that_did_not_end_says_what_is_missing(tmp_path):
    samples = logs.inspect_samples(epochs=1)[:7]
    path = logs.write_inspect(tmp_path / "run.eval", samples, status="cancelled", n=12)
    assert "the run's status is cancelled: it has 7 of 12 samples" in read_log(path).sentences
    path = logs.write_inspect(tmp_path / "run.eval", samples, n=12)
    assert "the log has 7 of 12 samples" in read_log(path).sentences


def test_samples_without_scores_are_counted(tmp_path):
    samples = logs.inspect_samples(epochs=1)
    samples[0] |= {"scores": {}, "error": {"message": "timeout"}}
    samples[1]["scores"] = None
    told = read_log(logs.write_inspect(tmp_path / "run.eval", samples)).sentences
    assert "left out: samples that ended in an error (1)" in told
    assert "left out: samples without a score (1)" in told


def test_promptfoo_repeats_have_the_same_variables_and_code_is_no_judge(tmp_path):
    log = read_log(logs.write_promptfoo(tmp_path / "out.json"))
    assert list(log.metrics) == ["contains", "politeness"]
    assert log.metrics["contains"].judges == []
    assert log.metrics["politeness"].judges == ["openai:judge"]
    found = cells(log, "politeness", "item", "repeat", "verdict", "human_label", "system")
    assert found[:3] == [
        ("one", "1", "1", "pass", "openai:small"), ("one", "2", "1", "pass", "openai:small"),
        ("two", "1", "0", "fail", "openai:small"),
    ]  # fmt: skip
    assert [row[2] for row in found[4:]] == [None, None]


def test_promptfoo_names_tests_and_providers_and_tells_what_was_not_graded(tmp_path):
    path = logs.write_two_providers(tmp_path / "out.json", lambda i: None)
    log = read_log(path)
    found = cells(log, None, "test", "provider", "prompt", "vars.q", "system")
    assert found[1] == ("0", "other:large", "1", "Question 0?", "other:large [prompt 1]")
    told = "each provider was given a prompt of its own: a difference may come from either"
    assert log.notes.sentences == [told]
    assert (
        read_log(logs.write_two_providers(path, lambda i: None, crossed=True)).notes.sentences == []
    )
    document = json.loads(path.read_text())
    for row in document["results"]["results"][:5]:  # a rubric of five that is not among the results
        row["testCase"]["assert"] = [{"type": "llm-rubric"}, {"type": "g-eval"}, {"type": "equals"}]
    path.write_text(json.dumps(document))
    told = "the assertion g-eval of 5 of 160 results was never graded"
    assert read_log(path).notes.sentences == [told]


def test_mlflow_people_are_the_truth(tmp_path):
    log = read_log(logs.write_mlflow(tmp_path / "traces.jsonl"))
    assert cells(log, "correct", "item", "judge", "verdict", "truth")[:5] == [
        ("tr-0", "gpt", "no", "no"), ("tr-1", "gpt", "yes", "yes"), ("tr-2", "gpt", "yes", "yes"),
        ("tr-3", "gpt", "no", "yes"), ("tr-4", "gpt", "yes", None),
    ]  # fmt: skip
    assert "left out: assessments that were overridden (1)" in log.sentences
    frame = tmp_path / "frame.parquet"  # as search_traces(return_type="pandas") gives it
    import pandas as pd

    rows = [json.loads(line) for line in (tmp_path / "traces.jsonl").read_text().splitlines()]
    table = pd.DataFrame(rows)
    table["assessments"] = table["assessments"].map(json.dumps)
    table["tags"] = table["tags"].map(str)
    table.to_parquet(frame)
    assert read_log(frame).table("correct").to_pydict() == log.table("correct").to_pydict()


class Store:
    """What `from_mlflow` asks of MLflow's client: two pages of traces."""

    def __init__(self, tracking_uri=None):
        self.uri, self.asked = tracking_uri, []

    def get_experiment_by_name(self, name):
        return types.SimpleNamespace(experiment_id="7") if name == "toy" else None

    def search_traces(self, *, experiment_ids, include_spans, max_results, page_token):
        assert (experiment_ids, include_spans, page_token in (None, "2")) == (["7"], False, True)
        rows = self.rows[:5] if page_token is None else self.rows[5:]
        page = Page(types.SimpleNamespace(to_dict=lambda row=row: row) for row in rows)
        page.token = "2" if page_token is None else None
        return page


class Page(list):
    token = None


def test_an_mlflow_store_is_read_page_by_page(tmp_path, monkeypatch):
    path = logs.write_mlflow(tmp_path / "traces.jsonl")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    # as a store gives them: what is of the trace as a whole, in its info
    Store.rows = [{"info": {"request_id": r["trace_id"], **r}} for r in rows]
    Store.rows[7]["info"].pop("trace_id")
    monkeypatch.setitem(sys.modules, "mlflow", types.SimpleNamespace(MlflowClient=Store))
    found = from_mlflow("toy", tracking_uri="sqlite:///x.db")
    assert found.table("correct").to_pydict() == read_log(path).table("correct").to_pydict()
    assert found.path == "MLflow experiment toy"
    for i, row in enumerate(rows):  # numbers, and a word where one was asked for
        row["assessments"][0]["feedback"] = {"value": "n/a" if i == 2 else 0.1 * i, "error": None}
        del row["assessments"][1:]
    path.write_text("\n".join(map(json.dumps, rows)))
    scored, exported = from_mlflow("toy").table("correct"), read_log(path).table("correct")
    assert scored.to_pydict() == exported.to_pydict()
    assert scored["failure"].to_pylist()[2] == "not a number: n/a"
    Store.rows = [{"info": {"trace_id": "t"}}, *Store.rows]
    assert from_mlflow("toy").notes.left_out["traces without an assessment"] == 1
    with refused("tiy", subject="from_mlflow"):
        from_mlflow("tiy")
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with refused(id="mlflow-not-installed"):
        from_mlflow("toy")


def test_people_who_differ_give_no_truth_and_are_counted(tmp_path):
    path = logs.write_phoenix(tmp_path / "annotations.csv")
    path.write_text(path.read_text() + "\ns0,correct,HUMAN,yes,1,,")
    log = read_log(path)
    assert cells(log, "correct", "item", "truth")[:2] == [("s0", None), ("s1", "no")]
    assert (
        "left out: items of which people's labels in 'truth' differ: no truth (1)" in log.sentences
    )


def test_orders_of_a_pair_are_two_columns(tmp_path):
    log = read_log(logs.write_arena(tmp_path / "judgment.jsonl"))
    # the first game shows the reference first, the second one the model
    assert cells(log, "preference", "item", "verdict", "swapped") == [
        ("q0", "loss", "loss"), ("q1", "win", "win"), ("q2", "tie", "tie"), ("q3", "win", "loss"),
        ("q4", None, None),
    ]  # fmt: skip


def test_preferences_are_wins_ties_and_losses(tmp_path):
    log = read_log(logs.write_alpaca(tmp_path / "annotations.json"))
    found = cells(log, "preference", "verdict", "score", numbers=["score"])
    assert [v for v, _ in found] == ["loss", "win", "tie", None, "loss"]
    assert [s for _, s in found] == pytest.approx([0, 1, 0.5, None, 9.18e-8])


def test_a_word_among_scores_is_a_failure(tmp_path):
    path = logs.write_mt_bench(tmp_path / "single.jsonl")
    path.write_text(path.read_text().replace("9.5", '"9 of 10"'))
    log = read_log(path)
    assert log.metrics["score"].failures == 2
    assert log.metrics["score"].values == "8 to 8"
    path = logs.write_langsmith(tmp_path / "experiment.csv")
    path.write_text(path.read_text().replace("0.0,0,e1", "4/5,0,e1").replace("1.0,1", "3,1"))
    assert read_log(path).metrics["correct"].failures == 2


def test_filters_are_metrics_of_their_own(tmp_path):
    log = read_log(logs.write_lm_eval(tmp_path / "samples_toy.jsonl"))
    assert list(log.metrics) == ["exact_match", "exact_match,strict"]
    assert log.systems == ["small"]
    assert log.repeating is None


def test_grades_that_come_twice_are_counted(tmp_path):
    samples = logs.inspect_samples(epochs=1)
    path = logs.write_inspect(tmp_path / "run.json", [*samples, samples[0]])
    log = read_log(path)
    assert len(log.metrics["match"].grades) == 12
    assert "left out: grades that a later one of the same sample replaces (2)" in log.sentences


def test_one_of_several_metrics_is_asked_for(tmp_path):
    log = read_log(logs.write_promptfoo(tmp_path / "out.json"))
    asked = r"2 metrics.*metric='contains', or metric='politeness'"
    with pytest.raises(bj.InputError, match=asked):
        log.table()
    with refused("politness", "politeness"):
        log.table("politness")
    with refused("humanlabel", "human_label"):
        log.table("politeness", ["humanlabel"])
    with refused("inspect", "DeepEval", subject="tool"):
        read_log(tmp_path / "out.json", tool="inspect")
    (tmp_path / "plain.csv").write_text("verdict,truth\n1,1\n")
    with refused(id="no-log"):
        read_log(tmp_path / "plain.csv")


def test_another_package_adds_a_reader_by_an_entry_point(tmp_path, monkeypatch):
    from bayesjudge.readers import recognition as module

    class Lines:
        NAME = "lines"

        def recognise(self, file):
            return file.head.startswith(b"#lines")

        def read(self, file, notes):
            with file.text() as text:
                lines = text.read().splitlines()[1:]
            for line in lines:
                item, verdict = line.split()
                yield Grade(item, "said", verdict)

    point = types.SimpleNamespace(load=lambda: Lines)
    monkeypatch.setattr(module, "entry_points", lambda group: [point] * (group == module.GROUP))
    (tmp_path / "some.txt").write_text("#lines\na yes\nb no\n")
    module._added.cache_clear()
    assert cells(read_log(tmp_path / "some.txt"), "said", "verdict") == [("yes",), ("no",)]
    module._added.cache_clear()


@pytest.mark.slow
@pytest.mark.skipif(SHARED is None, reason="the tools' own logs are not beside the repository")
def test_logs_that_the_tools_wrote():
    expected = {  # grades of the metric, of which failed
        "inspect_ai/judge_3epochs_unparsed_human_labels.eval": ("model_graded_qa", 90, 5),
        "inspect_ai/jury_3judges_6samples.eval": ("model_graded_qa votes", 18, 18),
        "inspect_ai/log_formats.eval": ("match", 1, 0),
        "inspect_ai/log_formats.json": ("match", 1, 0),
        "inspect_ai/toyqa_3epochs_2scorers.eval": ("model_graded_qa", 9, 1),
        "inspect_ai/toyqa_3epochs_2scorers.json": ("model_graded_qa", 9, 1),
        "promptfoo/out.json": ("politeness", 12, 4),
        "promptfoo/out.jsonl": ("politeness", 12, 4),
        "deepeval/test_run.json": ("Mock", 3, 1),
        "langsmith/experiment_to_pandas.csv": ("correctness", 6, 0),
        "phoenix/evaluate_dataframe.csv": ("exact_match", 3, 1),
        "lm_eval/samples_toyqa.jsonl": ("exact_match", 3, 0),
        "mt_bench/gpt-4_single.excerpt.jsonl": ("score", 3, 2),
        "arena_hard/ko_arena_ensemble_claude-3.5-haiku.head4.jsonl": ("preference", 8, 0),
        "alpaca_eval/alpaca_eval_gpt4.head3.json": ("preference", 3, 0),
        "alpaca_eval/alpaca_eval_cot_gpt4_turbo_fn.head3.json": ("preference", 3, 0),
        "alpaca_eval/alpaca_eval_gpt4_turbo_fn.head3.json": ("preference", 3, 0),
        "alpaca_eval/weighted_alpaca_eval_gpt4_turbo.head3.json": ("preference", 3, 0),
    }
    for name, (metric, grades, failed) in expected.items():
        found = read_log(SHARED / name).metrics[metric]
        assert (len(found.grades), found.failures) == (grades, failed), name
    # Inspect's own accuracy of the run agrees where no grade failed
    log = read_log(SHARED / "inspect_ai/judge_3epochs_unparsed_human_labels.eval")
    assert "samples without a score (10)" in str(
        read_log(SHARED / "inspect_ai/popularity_scored.eval").sentences
    )
    scores = [g.score for g in log.metrics["match"].grades]
    assert sum(scores) / len(scores) == pytest.approx(0.5)
