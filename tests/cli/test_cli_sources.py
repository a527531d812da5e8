"""Commands read logs, several files and files that are packed."""

import gzip
import io
import json
import re
import sys
import types
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from commands import apps
from commands import run as call
from readers import logs
from refusals import command_refused

import bayesjudge as bj
from bayesjudge.cli import app, main
from bayesjudge.cli.label_file import Labels
from bayesjudge.cli.source import open_source
from bayesjudge.core.errors import InputError
from bayesjudge.datasets import keep_labels, xstest

ASKED = ["--calibration", "random", "--no-nuts", "--json"]


def facts(text):
    """Counts and files of a sentence, in its order."""
    return re.findall(r"\d+|[\w/.-]+\.\w+", text)


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        code = main(arguments)
        done = capsys.readouterr()
        return code, (json.loads(done.out) if code == 0 else done.err)

    return call


def table_of_one_system():
    table = keep_labels(xstest(), 100, 2024, by="system")
    return table[table["system"] == "gpt4"].drop(columns="system")


@pytest.mark.slow
def test_labels_in_a_file_of_their_own_are_joined_or_stacked(run, tmp_path):
    table = table_of_one_system()
    table.to_csv(tmp_path / "all.csv", index=False)
    columns = ["--verdict", "verdict", "--truth", "truth", "--item", "item"]
    _, whole = run("prevalence", "all.csv", *columns, *ASKED)
    known = table["truth"].notna()
    verdicts = table.drop(columns="truth")
    verdicts.to_csv(tmp_path / "verdicts.csv", index=False)
    # the labels' ids are numbers in another file, and in another order
    table[known][["item", "truth"]][::-1].to_json(tmp_path / "labels.json", orient="records")
    _, joined = run("prevalence", "verdicts.csv", *columns, "--labels", "labels.json", *ASKED)
    assert joined["estimates"] == whole["estimates"]
    assert facts(joined["inputs"]["labels from"]) == ["100", "labels.json"]
    verdicts[~known].to_csv(tmp_path / "test.csv", index=False)
    packed = gzip.compress(table[known].to_csv(index=False, sep=";").encode("utf-16"))
    (tmp_path / "labelled.csv.gz").write_bytes(packed)
    _, stacked = run("prevalence", "test.csv", *columns, "--labels", "labelled.csv.gz", *ASKED)
    assert stacked["estimates"] == whole["estimates"]
    separate = ["--calibration", "separate", "--no-nuts", "--json"]
    code, found = run("prevalence", "test.csv", *columns, "--labels", "labelled.csv.gz", *separate)
    assert code == 0
    counts = bj.prevalence.Counts.from_frame(table, calibration="separate")
    assert found["inputs"]["items"] == counts.test_n + counts.labelled_n


def test_labelled_rows_of_another_file_need_no_item(run, tmp_path):
    table = table_of_one_system()
    known = table["truth"].notna()
    table.to_csv(tmp_path / "all.csv", index=False)
    table[~known].drop(columns="truth").to_csv(tmp_path / "test.csv", index=False)
    table[known].to_csv(tmp_path / "labelled.csv", index=False)
    line = ["--verdict", "verdict", "--truth", "truth", *ASKED]
    _, whole = run("prevalence", "all.csv", *line)
    code, stacked = run("prevalence", "test.csv", *line, "--labels", "labelled.csv")
    assert code == 0, stacked
    assert stacked["estimates"] == whole["estimates"]


@pytest.mark.slow
def test_labels_that_do_not_fit_are_refused(run, tmp_path):
    (tmp_path / "verdicts.csv").write_text("item,verdict\na,1\nb,0\nc,1\n")
    columns = ["--verdict", "verdict", "--truth", "human", *ASKED, "--labels", "labels.csv"]
    (tmp_path / "labels.csv").write_text("item,human\na,1\na,0\n")
    with command_refused(id="labelled-twice", n=1, shown="a"):
        assert run("prevalence", "verdicts.csv", *columns, "--item", "item")[0] == 2
    (tmp_path / "labels.csv").write_text("item,human\nx,1\ny,0\n")
    with command_refused(id="labels-of-others", n=2):
        run("prevalence", "verdicts.csv", *columns, "--item", "item")
    _, err = run("prevalence", "verdicts.csv", *columns)
    assert "say --item" in err
    (tmp_path / "labels.csv").write_text("item,human\na,1\nb,0\nz,0\n")
    _, found = run("prevalence", "verdicts.csv", *columns, "--item", "item")
    assert "1 labelled items are not in the table" in found["inputs"]["labels from"]
    _, err = run("prevalence", "verdicts.csv", *columns[:-2])
    assert "column 'human'" in err
    assert "if people's labels are in another file: --labels FILE" in err


@pytest.mark.slow
def test_stdin_is_a_file_of_a_command(run, tmp_path, monkeypatch):
    rows = "item,verdict,human\na,PASS,yes\nb,fail,-\nc,pass,no\nd,fail,\n"
    (tmp_path / "labels.csv").write_text(rows)
    asked = ["--verdict", "verdict", "--truth", "human", "--missing-value", "-", *ASKED]
    _, expected = run("prevalence", "labels.csv", *asked)
    for words in (["-", *asked], [*asked[:4], "-", *asked[4:]]):
        stdin = types.SimpleNamespace(buffer=io.BytesIO(rows.encode("utf-16")))
        monkeypatch.setattr(sys, "stdin", stdin)
        code, found = run("prevalence", *words)
        assert code == 0, found
        assert found["estimates"] == expected["estimates"]
    # a file may be written last, after an option that takes several words
    code, found = run("prevalence", "--missing-value=-", *ASKED, *asked[:4], "labels.csv")
    assert code == 0, found
    assert found["estimates"] == expected["estimates"]
    with command_refused(id="read-twice"):
        assert run("doctor", "-")[0] == 2


@pytest.fixture
def two_systems(tmp_path):
    """Verdicts of two judges on two systems; with labels, and these in a file of their own."""
    rows = [
        (f"q{i}", system, int(i % 4 > 0), int(i % 5 > 0), str(int(i % 4 > k)) if i % 3 else "")
        for k, system in enumerate("ab")
        for i in range(60)
    ]
    table = pd.DataFrame(rows, columns=["id", "model", "gpt", "claude", "human"])
    table.to_csv(tmp_path / "all.csv", index=False)
    table.drop(columns="human").to_csv(tmp_path / "verdicts.csv", index=False)
    names = {"id": "key", "model": "who"}
    table[table["human"] != ""][["id", "model", "human"]].rename(columns=names).to_csv(
        tmp_path / "labels.csv", index=False
    )


#: Commands that read people's labels: what names them in one file, and in two.
JOINED = ["--labels", "labels.csv", "--truth", "human", "--item", "key"]
ALONE = ["--truth", "human", "--item", "id"]


@pytest.mark.fast_named("command1-more1---by-estimates")
@pytest.mark.parametrize(
    ("command", "more", "system", "same"),
    [
        (["gate"], ["--verdict", "gpt", *ASKED[:2], "--at-least", "0.2"], "--by", "checks"),
        (["drift"], ["--verdict", "gpt"], "--by", "estimates"),
        (["panel"], ["--judges", "gpt", "claude", *ASKED[:2], "--no-nuts"], "--generator",
         "estimates"),
    ],
)  # fmt: skip
def test_labels_of_another_file_count_as_those_of_the_table(
    command, more, system, same, two_systems, run
):
    def files(name):
        return [name, name] if command == ["drift"] else [name]

    own = [*command, *files("all.csv"), *ALONE, system, "model", *more, "--json"]
    _, whole = run(*own)
    other = [*command, *files("verdicts.csv"), *JOINED, system, "who", *more, "--json"]
    _, joined = run(*other)
    assert joined[same] == whole[same]
    assert whole[same]
    # without the system, a label would be taken for one of both systems' outputs
    with command_refused(id="labels-of-outputs", absent="model"):
        assert run(*other[: other.index(system)], system, "model", *more, "--json")[0] == 2


@pytest.mark.slow
def test_a_passport_of_labels_in_another_file(two_systems, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = ["--verdict", "gpt", *ASKED[:2], "--name", "gpt-5", "--card"]
    words = ["judge", "all.csv", *ALONE, "--by", "model", *asked, "a.json"]
    assert main(words) == 0
    words = ["judge", "verdicts.csv", *JOINED, "--by", "who", *asked, "b.json"]
    assert main(words) == 0
    made = [json.loads(Path(name).read_text()) for name in ("a.json", "b.json")]
    for one in made:
        one.pop("source")
    assert made[0] == made[1]
    capsys.readouterr()
    told = []
    for file, *how in (
        ["all.csv", *ALONE, "--by", "model"],
        ["verdicts.csv", *JOINED, "--by", "who"],
    ):
        assert (
            main(["passport", "check", "a.json", file, *how, *asked[:4], "--judge", "gpt-5",
                  "--json"]) == 0
        )  # fmt: skip
        told.append(json.loads(capsys.readouterr().out))
    assert told[0]["answer"] == told[1]["answer"]
    assert told[0]["card"] == told[1]["card"]
    assert told[0]["cautions"] == told[1]["cautions"]


@pytest.mark.slow
def test_labels_of_outputs_need_what_names_an_output(run, tmp_path):
    """A label of an item would else be one of all its outputs."""
    rows = [f"q{i},{s},{(i + (s == 'b')) % 2}" for i in range(20) for s in "ab"]
    (tmp_path / "verdicts.csv").write_text("\n".join(["item,system,verdict", *rows]))
    labels = [f"q{i},{s},{int(s == 'a')}" for i in range(20) for s in "ab"]
    (tmp_path / "labels.csv").write_text("\n".join(["item,system,human", *labels]))
    asked = ["--verdict", "verdict", "--truth", "human", "--item", "item", "--by", "system"]
    code, found = run("prevalence", "verdicts.csv", *asked, "--labels", "labels.csv", *ASKED)
    assert (code, facts(found["inputs"]["labels from"])) == (0, ["40", "labels.csv"])
    samples = [logs.inspect_sample(i, e, "CI"[i % 2], output=str(e)) for e in (1, 2)
               for i in range(20)]  # fmt: skip
    logs.write_inspect(tmp_path / "run.eval", samples, epochs=2)
    log = ["run.eval", "--metric", "model_graded_qa", "--truth", "human", *ASKED]
    with command_refused(id="labels-of-outputs", absent="repeat"):
        assert run("prevalence", *log, "--labels", "labels.csv")[0] == 2
    labels = [f"q{i},{e},{e - 1}" for e in (1, 2) for i in range(10)]
    (tmp_path / "labels.csv").write_text("\n".join(["item,repeat,human", *labels]))
    code, found = run("prevalence", *log, "--labels", "labels.csv")
    assert (code, facts(found["inputs"]["labels from"])) == (0, ["20", "labels.csv"])


def _labels(path, **columns):
    """Labels of both outputs of every second of 40 tests, in columns named as people like."""
    who = ["openai:small", "other:large"] * 20
    rows = pd.DataFrame({"test": [2 * (i // 2) for i in range(40)], "provider": who})
    made = pd.DataFrame({name: cell(rows) for name, cell in columns.items()})
    human = [("yes", "no")[i % 3 > 1] for i in range(40)]
    (made if columns else rows).assign(human=human).to_csv(path, index=False)


def _text(rows):
    return [f"Question {i}?" for i in rows["test"]]


def _provider(rows):
    return rows["provider"]


def _prompted(rows):
    return [f"{p} [prompt {int(p.startswith('other'))}]" for p in rows["provider"]]


@pytest.mark.slow
def test_a_label_file_is_joined_by_its_own_columns(run, tmp_path):
    """Its names of the tests and providers, or the log's; with the same numbers each time."""
    logs.write_two_providers(tmp_path / "out.json", lambda i: None)
    asked = ["out.json", "--labels", "labels.csv", "--truth", "human", *ASKED]
    ways = {
        "--item test --by provider": {},
        "--item asked --by who": {"asked": _text, "who": _provider},
        "--item vars.q": {"asked": _text, "system": _prompted},
        "": {"item": lambda rows: [f" {text}" for text in _text(rows)], "system": _provider},
    }
    made = set()
    for options, columns in ways.items():
        _labels(tmp_path / "labels.csv", **columns)
        code, found = run("prevalence", *asked, *options.split())
        assert code == 0, (options, found)
        assert facts(found["inputs"]["labels from"]) == ["40", "labels.csv"]
        assert found["inputs"]["labels"] == "yes read as pass; no read as fail"
        made.add(str([(e["value"], e["low"], e["high"]) for e in found["estimates"]]))
    assert len(made) == 1


@pytest.mark.slow
def test_labels_of_repeats_leave_items_what_they_are(run, tmp_path):
    """Each test of a log that asks a question again has a number of its own, and is no item."""
    logs.write_two_providers(tmp_path / "out.json", lambda i: None, questions=20)
    _labels(tmp_path / "labels.csv")
    by = ["--item", "test", "--by", "provider"]
    asked = ["out.json", "--labels", "labels.csv", "--truth", "human", *by, *ASKED]
    code, found = run("prevalence", *asked, "--repeats", "system")
    assert code == 0, found
    assert facts(found["inputs"]["rows"]) == ["20", "80", "2", "10", "40"]
    assert "system repeats" in found["inputs"]["rows"]


@pytest.mark.slow
def test_a_label_without_a_name_is_none(run, tmp_path):
    rows = [f"q{i},{i % 3 > 0}" for i in range(20)]
    (tmp_path / "verdicts.csv").write_text("\n".join(["item,verdict", *rows]))
    labels = [f"q{i},{i % 2 > 0}" for i in range(10)]
    (tmp_path / "labels.csv").write_text("\n".join(["item,human", *labels, ",False"]))
    asked = ["--verdict", "verdict", "--truth", "human", "--item", "item", *ASKED]
    code, found = run("prevalence", "verdicts.csv", "--labels", "labels.csv", *asked)
    assert code == 0
    assert facts(found["inputs"]["labels from"]) == ["10", "labels.csv"]


@pytest.mark.slow
def test_a_label_file_that_names_no_output_is_told_how_it_would(run, tmp_path):
    logs.write_two_providers(tmp_path / "out.json", lambda i: None)
    asked = ["prevalence", "out.json", "--labels", "labels.csv", "--truth", "human", *ASKED]
    _labels(tmp_path / "labels.csv")
    for options in ((), ("--item", "test")):
        code, err = run(*asked, *options)
        assert (code, "for example --item test --by provider" in err) == (2, True)
    _labels(tmp_path / "labels.csv", item=lambda rows: rows["test"] + 1000, system=_provider)
    code, err = run(*asked)
    shown = "it names 1000 · openai:small, 1000 · other:large, 1002 · openai:small, and 37 more, "
    shown += "where the table has Question 0? · openai:small"
    assert (code, shown in err) == (2, True)
    # two prompts of each provider: its name alone is of two outputs
    logs.write_two_providers(tmp_path / "out.json", lambda i: None, crossed=True)
    _labels(tmp_path / "labels.csv")
    with command_refused(id="labels-of-outputs", named="0 · openai:small", n=2):
        code, err = run(*asked, "--item", "test", "--by", "provider")
    assert (code, ": of openai:small [prompt 0], " in err) == (2, True)
    _labels(tmp_path / "labels.csv", test=lambda rows: rows["test"], system=_prompted)
    with command_refused("openai:small [prompt 1]", id="no-label-of-rows"):  # the others have
        run(*asked, "--item", "test")


@pytest.mark.slow
def test_a_log_with_repeats_is_read_as_items(run, tmp_path):
    logs.write_inspect(tmp_path / "run.eval", logs.inspect_samples(), epochs=3)
    code, err = run("prevalence", "run.eval", "--truth", "human_label", *ASKED)
    assert (code, "--metric model_graded_qa, or --metric match" in err) == (2, True)
    chosen = ["--truth", "human_label", "--metric", "model_graded_qa"]
    with command_refused("P", id="unread-labels"):
        assert run("prevalence", "run.eval", *chosen, *ASKED)[0] == 2
    more = ["--fail-value", "P", "--unparsed", "drop"]
    code, found = run("prevalence", "run.eval", *chosen, *more, *ASKED)
    assert code == 0
    assert found["inputs"]["log"] == (
        "Inspect, model_graded_qa by openai/judge (C, I, P): 36 grades, 1 failed"
    )
    assert facts(found["inputs"]["rows"]) == ["12", "35", "6", "17"]
    assert "judge repeats" in found["inputs"]["rows"]
    items = bj.prevalence.items.Items.from_frame(
        bj.readers.read_log(tmp_path / "run.eval").table("model_graded_qa"),
        item="item", truth="human_label", fail_value="P", unparsed="drop", repeats="judge",
        calibration="random",
    )  # fmt: skip
    made = bj.prevalence.items.closed_forms(items)
    (pass_rate,) = [e for e in made if e.method.title.startswith("Judge")]
    assert found["estimates"][0]["value"] == pytest.approx(pass_rate["prevalence"].value)


@pytest.mark.slow
def test_a_log_names_what_people_may_have_labelled(run, tmp_path):
    logs.write_promptfoo(tmp_path / "out.json")
    _, err = run("prevalence", "out.json", "--metric", "politeness", *ASKED)
    assert "for example --truth human_label" in err
    logs.write_mlflow(tmp_path / "traces.jsonl")
    code, found = run("prevalence", "traces.jsonl", "--unparsed", "drop", *ASKED)
    assert (code, found["inputs"]["labelled"]) == (0, 4)  # MLflow's HUMAN is the truth
    (tmp_path / "plain.csv").write_text("verdict,truth\n1,1\n")
    _, err = run("prevalence", "plain.csv", "--metric", "x", *ASKED)
    assert "['--metric'] are of evaluation logs" in err


def test_several_judges_of_a_log_are_a_panel_or_named(run, tmp_path):
    votes = [["C", "I", "C"], ["C", "C", None], ["I", "I", "C"], ["C", "C", "C"]] * 3
    samples = [logs.inspect_sample(i, 1, v[0], votes=v) for i, v in enumerate(votes)]
    logs.write_inspect(tmp_path / "jury.eval", samples, models=["a", "b", "c"])
    code, found = run("panel", "jury.eval", "--no-nuts", "--json")
    assert code == 0
    assert found["inputs"]["judges"] == "a, b, c"
    assert found["inputs"]["missing votes"] == "8.3%"
    votes = ["--metric", "model_graded_qa votes", "--truth", "human_label"]
    code, err = run("prevalence", "jury.eval", *votes, *ASKED)
    assert (code, "--judge a, or --judge b, or --judge c" in err) == (2, True)
    code, err = run("prevalence", "jury.eval", *votes, *ASKED, "--judge", "d")
    assert "no judge 'd'" in err


def test_repeats_and_orders_of_a_log(run, tmp_path):
    logs.write_inspect(tmp_path / "run.eval", logs.inspect_samples(), epochs=3)
    chosen = ["--metric", "model_graded_qa", "--no-nuts", "--json"]
    code, found = run("repeats", "report", "run.eval", *chosen)
    assert code == 0
    assert found["inputs"]["answers"] == 35
    assert found["inputs"]["scale"] == "0, 0.5, 1"
    logs.write_arena(tmp_path / "judgment.jsonl")
    code, found = run("bias", "orders", "judgment.jsonl", "--missing", "drop", "--json")
    assert code == 0
    assert (found["inputs"]["pairs"], found["inputs"]["left out"]) == (4, 1)


@pytest.mark.slow
def test_scores_of_a_log(run, tmp_path):
    rows = [
        {"question_id": i, "turn": 1, "model": "m", "judge": ["j", "p"], "score": 1 + i % 10,
         "judgment": ""}
        for i in range(40)
    ]  # fmt: skip
    (tmp_path / "single.jsonl").write_text("\n".join(map(json.dumps, rows)))
    labels = "\n".join(f"{i}, turn 1;{int(i % 10 > 4)}" for i in range(30))
    (tmp_path / "labels.csv").write_text("item;human\n" + labels)
    more = ["--labels", "labels.csv", "--truth", "human"]
    code, err = run("prevalence", "single.jsonl", *more, *ASKED)
    assert (code, "gives numbers: --score score --scale LOW:HIGH" in err) == (2, True)
    scores = ["--score", "score", "--scale", "1:10"]
    code, found = run("prevalence", "single.jsonl", *more, *ASKED, *scores)
    assert (code, found["inputs"]["labelled"]) == (0, 30)


def jury(path, truth="CI", n=24):
    votes = [["C", "I", "C"], ["C", "C", None], ["I", "I", "C"], ["C", "C", "C"]] * (n // 4)
    samples = [
        logs.inspect_sample(i, 1, v[0], votes=v, human=truth[i % len(truth)])
        for i, v in enumerate(votes)
    ]
    return logs.write_inspect(path, samples, models=["a", "b", "c"])


def test_a_gate_of_a_log(run, tmp_path):
    logs.write_inspect(tmp_path / "run.eval", logs.inspect_samples(), epochs=3)
    chosen = ["--metric", "model_graded_qa", "--fail-value", "P", "--unparsed", "drop"]
    chosen += ["--calibration", "random", "--at-least", "0.99"]
    code, err = run("gate", "run.eval", *chosen)
    assert (code, "for example --truth human_label" in err) == (2, True)
    assert main(["gate", "run.eval", *chosen, "--truth", "human_label", "--json"]) == 1
    items = bj.prevalence.items.Items.from_frame(
        bj.readers.read_log(tmp_path / "run.eval").table("model_graded_qa"),
        truth="human_label", fail_value="P", unparsed="drop", repeats="judge", calibration="random",
    )  # fmt: skip
    assert bj.decide.gate(items, at_least=0.99).outcome == "fail"
    same = ["--truth", "human_label", "--against", "run.eval", *chosen[:-2], "--margin", "0.5"]
    assert main(["gate", "run.eval", *same]) == 0


@pytest.mark.slow
def test_drift_of_logs_and_of_two_judges_of_one(run, tmp_path):
    jury(tmp_path / "jury.eval")
    votes = ["--metric", "model_graded_qa votes"]
    with command_refused(id="judges-of-metric"):
        assert run("drift", "jury.eval", "jury.eval", *votes)[0] == 2
    two = [*votes, "--judge", "a", "--judge", "b", "--truth", "human_label", "--json"]
    code, found = run("drift", "jury.eval", "jury.eval", *two)
    assert code == 0
    change = next(e for e in found["estimates"] if e["quantity"] == "pass_rate_change")
    assert change["value"] == pytest.approx(-0.25)
    assert "sensitivity_change" in {e["quantity"] for e in found["estimates"]}
    logs.write_mlflow(tmp_path / "traces.jsonl")
    code, found = run("drift", "traces.jsonl", "traces.jsonl", "--json")
    assert (code, found["seen"]) == (0, [])


def test_labels_are_drawn_from_a_log_and_its_judge_gets_a_passport(run, tmp_path, capsys):
    jury(tmp_path / "jury.eval")
    chosen = ["--metric", "model_graded_qa", "--show", "human_label"]
    assert main(["label", "jury.eval", "--gate", "0.9", *chosen, "--n", "5"]) == 3
    assert len((tmp_path / "jury.labels.csv").read_text().splitlines()) == 6
    votes = ["--metric", "model_graded_qa votes", "--calibration", "random"]
    make = ["judge", "jury.eval", *votes, "--truth", "human_label", "--card", "p.json"]
    with command_refused(id="judges-of-metric"):
        assert main(make) == 2
    capsys.readouterr()
    assert main([*make, "--judge", "b"]) == 0
    assert bj.judge.Card.load(tmp_path / "p.json").judge == "b"
    check = ["passport", "check", "p.json", "jury.eval", *votes[:2]]
    assert main([*check, "--judge", "b"]) == 0
    assert main([*check, "--judge", "c", "--fail"]) == 1
    assert "stale-calibration" in capsys.readouterr().out


@pytest.mark.slow
def test_judges_of_a_log_against_the_people_in_it(run, tmp_path):
    jury(tmp_path / "jury.eval")
    asked = ["ratings", "jury.eval", "--metric", "model_graded_qa votes", "--positive", "C"]
    code, err = run(*asked, "--no-nuts")
    assert (code, "for example --people human_label" in err) == (2, True)
    code, found = run(*asked, "--people", "human_label", "--no-nuts", "--json")
    assert code == 0
    assert found["inputs"]["judges"] == "a, b, c"
    assert found["inputs"]["choices"] == 24 + 66  # of people, and of judges: 6 votes are missing
    logs.write_mlflow(tmp_path / "traces.jsonl")
    source = open_source(tmp_path / "traces.jsonl")
    rows = source.raters([]).to_pylist()
    assert {r["rater"] for r in rows} - set(source.judges) == {"person 1"}
    assert sum(r["rater"] == "person 1" for r in rows) == 4


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("x --truth a b t.csv", "x t.csv --truth a b"),
        ("x --truth a t.csv --labels l.csv", "x t.csv --truth a --labels l.csv"),
        ("x --labels l.csv t.csv", "x --labels l.csv t.csv"),
        ("x --verdict v --truth a t.csv", "x t.csv --verdict v --truth a"),
        ("x --labels l.csv --verdict v --truth a -", "x --labels l.csv ./- --verdict v --truth a"),
        ("drift --truth a t.csv l.csv", "drift t.csv l.csv --truth a"),
        ("drift --quiet t.csv --truth a l.csv", "drift --quiet t.csv l.csv --truth a"),
        ("drift t.csv --truth a -", "drift t.csv ./- --truth a"),
        ("drift --truth a t.csv -", "drift t.csv ./- --truth a"),
        ("x - --missing-value - --truth a", "x ./- --missing-value=- --truth a"),
        ("x t.csv --judges gpt l.csv", "x t.csv --judges gpt l.csv"),
        ("x --truth a missing.csv", "x missing.csv --truth a"),
    ],
)
def test_files_stand_before_an_option_that_takes_several_words(words, expected):
    assert " ".join(app._files_apart(words.split())) == expected


@pytest.mark.slow
def test_two_files_written_last_are_in_their_order(run, tmp_path):
    rows = [f"i{i},{i % 3 > 0:d},{i % 2}" for i in range(60)]
    (tmp_path / "old.csv").write_text("\n".join(["item,verdict,human", *rows]))
    worse = [f"i{i},{i % 3 > 1:d},{i % 2}" for i in range(60)]
    (tmp_path / "new.csv").write_text("\n".join(["item,verdict,human", *worse]))
    files, columns = ["old.csv", "new.csv"], ["--verdict", "verdict", "--truth", "human", "--json"]
    _, first = run("drift", *files, *columns)
    _, last = run("drift", *columns, *files)
    assert last["estimates"] == first["estimates"]


def test_a_label_that_both_files_have_is_refused(tmp_path):
    def source(*columns):
        return SimpleNamespace(path=tmp_path / "labels.csv", columns=lambda: list(columns))

    labels = Labels(source("id", "human"), ("human",), item="id", by=None, verdicts=("verdict",))
    with pytest.raises(InputError) as refused:
        labels.find_keys(source("id", "verdict", "human"))
    assert len(refused.value.problems) == 1


@pytest.mark.parametrize("name", apps())
def test_a_file_without_a_name_is_refused(name, tmp_path, monkeypatch):
    """It would be the folder that the command runs in, and its Parquet files."""
    pd.DataFrame({"verdict": [1, 0], "truth": [1, None]}).to_parquet(tmp_path / "rows.parquet")
    monkeypatch.chdir(tmp_path)
    assert call([*name.split(), *[""] * (1 + (name == "drift"))])[0] == 2


def test_a_wrong_option_beside_an_empty_one_ends_with_2():
    code, _, told = call(["doctor", "rows.csv", "--labels=", "--lables=x"])
    assert code == 2
    assert "--lables" in told


@pytest.mark.parametrize(
    ("line", "argument"),
    [
        (["doctor", ""], "file"),
        (["prevalence", "--calibration=random", ""], "table"),
        (["doctor", "rows.parquet", "--labels="], "labels"),
    ],
)
def test_which_file_has_no_name_is_told(line, argument, tmp_path, monkeypatch):
    pd.DataFrame({"verdict": [1, 0], "truth": [1, None]}).to_parquet(tmp_path / "rows.parquet")
    monkeypatch.chdir(tmp_path)
    with command_refused(id="file-unnamed", empty=[argument]):
        call(line)
