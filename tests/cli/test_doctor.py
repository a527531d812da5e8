"""What doctor proposes can be pasted, and what is wrong with a file is told."""

import contextlib
import io
import json
import re
import shlex
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from readers import logs

import bayesjudge as bj
from bayesjudge.cli import doctor, main
from bayesjudge.cli.doctor import examine as look_at
from bayesjudge.cli.shapes import WANTED, running
from bayesjudge.cli.shapes.running import run_line

TESTS = Path(__file__).parents[1]
PLACES = [folder / "shared" / "data" / "log_formats" for folder in TESTS.parents]
SHARED = next((place for place in PLACES if place.is_dir()), None)


@pytest.fixture
def examine(capsys, monkeypatch):
    """What doctor says of a file, each of its lines run: by itself before it is shown, or here."""
    ran = []

    def kept(words):
        done, text = run_line(words)
        ran.extend([[*words]] * done)
        return done, text

    for module in (doctor, running):
        monkeypatch.setattr(module, "run_line", kept)

    def call(path, *options, said="10", labelling=True):
        ran.clear()
        assert main(["doctor", str(path), "--json", *options]) == 0
        found = json.loads(capsys.readouterr().out)
        for answer in found["answers"]:
            _, *words = shlex.split(answer["command"])
            if words in ran:
                continue
            instant = [] if words[0] in ("gate", "drift") else ["--no-nuts"]
            code = main([*words, *instant, "--json"])
            done = capsys.readouterr()
            assert code in ((0, 1, 3) if words[0] == "gate" else (0,)), (answer, done.err)
        if found["labelling"] and labelling:
            label(
                *found["labelling"], said if "--truth-scale" not in found["labelling"][1] else "15"
            )
            capsys.readouterr()
        return without_judge(found)

    def label(draw, read, said):
        """As a person would: paste, fill in the sheet, paste."""
        words = shlex.split(draw)[1:]
        assert main(words) in (0, 1, 3), draw
        words = shlex.split(read)[1:]
        if "--classes" in words:
            said = words[words.index("--classes") + 1 : words.index("--calibration")]
        sheet = Path(words[words.index("--labels") + 1])
        lines = sheet.read_text().splitlines()
        filled = [line[:-2] + f",{said[i % 2]}," for i, line in enumerate(lines[1:])]
        sheet.write_text("\n".join([lines[0], *filled]))
        assert main([*words, "--no-nuts"]) == 0, read

    return call


def without_judge(found):
    """All lines but those of `judge`, which are the first, and of the columns of another."""
    judged = [a for a in found["answers"] if a["command"].startswith("bayesjudge judge ")]
    others = [a for a in found["answers"] if a not in judged]
    if judged:
        assert found["answers"][: len(judged)] == judged
        first, *more = judged
        assert all({"--by", "--trust"} & {*one["options"]} for one in more)
        columns = [first["options"].get(name) for name in ("--verdict", "--score", "--truth")]
        beside = [{tuple(v) for v in a["options"].values()} for a in others]
        assert any(all(c is None or tuple(c) in own for c in columns) for own in beside)
    return found | {"answers": others}


#: The questions that each log answers.
ANSWERS = {
    "Inspect": ["gate", "prevalence", "repeats"],
    "Inspect json": ["gate", "prevalence", "repeats"],
    "promptfoo": ["gate", "prevalence", "repeats"],
    "promptfoo lines": ["gate", "prevalence", "repeats"],
    "DeepEval": ["gate", "prevalence"], "MLflow": ["gate", "prevalence"],
    "Phoenix": ["gate", "prevalence"], "LangSmith": ["attempts", "attempts", "gate", "prevalence"],
    "Langfuse": ["gate", "prevalence"], "OpenAI Evals": ["gate", "prevalence"],
    "lm-eval": ["gate", "prevalence", "prevalence"], "alpaca_eval": [],
    "arena-hard": ["bias"], "MT-bench": [],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("tool", logs.LOGS)
def test_lines_for_every_log_run(tool, tmp_path, examine):
    name, write, _ = logs.LOGS[tool]
    write(tmp_path / name)
    pairs = tool in ("alpaca_eval", "arena-hard")
    found = examine(tmp_path / name, said=("win", "loss") if pairs else "10")
    assert bool(found["labelling"]) == (pairs or tool == "MT-bench")
    commands = [shlex.split(answer["command"])[1] for answer in found["answers"]]
    assert sorted(commands) == ANSWERS[tool], found
    assert {"prevalence", "panel", "repeats report"} - set(found["missing"]) <= {
        "prevalence", "repeats report"
    }  # fmt: skip


@pytest.mark.slow
def test_labels_beside_verdicts_ask_first_how_good_the_judge_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = {"output": [f"o{i}" for i in range(60)], "judge": ["PASS", "FAIL", "PASS"] * 20}
    people = ["PASS", "FAIL", "FAIL", "PASS", "FAIL", ""] * 10
    pd.DataFrame({**rows, "human": people}).to_csv("t.csv", index=False)
    first, *others = bj.doctor(Path("t.csv")).answers
    assert first.question == WANTED["judge"]
    assert str(first.line).startswith("bayesjudge judge t.csv --verdict judge --truth human")
    assert [one.line.command for one in others] == ["prevalence", "gate"]
    pd.DataFrame(rows).to_csv("t.csv", index=False)
    assert "judge" in bj.doctor(Path("t.csv")).missing


@pytest.mark.slow
def test_people_whose_classes_no_line_reads_are_named():
    """Nor are they systems, where somebody says that they are people."""
    rng = np.random.default_rng(1)
    truth = rng.choice(["safe", "unsafe", "borderline"], 90)
    for right in (0.9, 0.0):
        said = np.where(rng.random((3, 90)) < right, truth, np.roll(truth, 1))
        table = pd.DataFrame(dict(zip(("judge", "ann", "bea"), said, strict=True)))
        found = bj.doctor(table, truth=["ann", "bea"])
        assert not [answer for answer in found.answers if answer.line.command == "leaderboard"]
        if right:
            assert found.answers[0].line.options["--truth"] == ["ann"]
            assert [note for note in found.odd if "ann;" in note and "bea" in note]


@pytest.mark.slow
def test_a_jury_is_a_panel(tmp_path, examine):
    votes = [["C", "I", "C"], ["C", "C", None], ["I", "I", "C"], ["C", "C", "C"]] * 6
    samples = [
        logs.inspect_sample(i, 1, v[0], votes=v, human="CI"[i % 2] if i < 12 else None)
        for i, v in enumerate(votes)
    ]
    path = logs.write_inspect(tmp_path / "jury.eval", samples, models=["a", "b", "c"])
    found = examine(path)
    lines = [answer["command"] for answer in found["answers"]]
    assert any(line.startswith("bayesjudge panel") and "human_label" in line for line in lines)
    drift, ratings = (
        next(x for x in lines if f"bayesjudge {c}" in x) for c in ("drift", "ratings")
    )
    assert "--judge a --judge b --truth human_label" in drift
    assert "--people human_label --positive C" in ratings


@pytest.fixture
def graders():
    """Answers of three people and two judges to 80 items, one column each."""

    def made(options, sets=False, seed=2):
        rng = np.random.default_rng(seed)
        truth = rng.choice(options, 80)
        columns = {"id": [f"m{i}" for i in range(80)]}
        for name in ("ann", "bob", "cleo", "gpt_4o", "claude"):
            said = np.where(rng.random(80) < 0.9, truth, rng.choice(options, 80))
            more = np.where(rng.random(80) < 0.3, rng.choice(options, 80), said)
            columns[name] = [";".join(sorted({a, b})) if sets else a
                             for a, b in zip(said, more, strict=True)]  # fmt: skip
        return pd.DataFrame(columns)

    return made


@pytest.mark.slow
def test_a_column_of_each_grader_and_response_sets_are_ratings(tmp_path, examine, graders):
    def line_of(table, **more):
        path = tmp_path / "graded.csv"
        table.assign(**more).to_csv(path, index=False)
        found = examine(path)
        lines = [x["command"] for x in found["answers"] if " ratings " in x["command"]]
        return (lines or [""])[0].replace(str(path), "F"), found

    people = "--people ann --people bob --people cleo --judge gpt_4o --judge claude"
    words = ["spam", "abuse", "off topic", "ok"]
    line, _ = line_of(graders(words))
    assert line == f"bayesjudge ratings F --item id {people} --positive abuse"
    # a column in words of its own is nobody's, nor one of yes and no that goes with nothing
    line, _ = line_of(graders(["yes", "no"]), paid=["yes", "no"] * 40, tier=["a", "b"] * 40)
    assert line == f"bayesjudge ratings F --item id {people} --positive yes"
    line, found = line_of(graders(words, sets=True))
    assert line == f"bayesjudge ratings F --item id {people} --separator ';' --positive abuse"
    assert "response sets in gpt_4o, of abuse, off topic, ok, spam" in found["contents"]
    assert not any("classes" in told for told in found["odd"])
    long = graders(words, sets=True).melt("id", var_name="rater", value_name="tags")
    line, _ = line_of(long)
    asked = "--rater rater --response-set tags --separator ';' --judge gpt_4o --judge claude"
    assert line == f"bayesjudge ratings F --item id {asked} --positive abuse"
    line, _ = line_of(graders(list("12345")))
    assert line == f"bayesjudge ratings F --item id {people}"  # of grades the highest
    # two people and no judge, or one person, are nothing to compare
    assert line_of(graders(words)[["id", "ann", "bob"]])[0] == ""
    assert line_of(graders(words)[["id", "ann", "gpt_4o"]])[0] == ""


@pytest.mark.slow
def test_one_row_a_label_is_ratings_and_its_judges_are_told_by_name(tmp_path, examine):
    labels = {"ann": "yes no", "bob": "yes no", "gpt-4": "PASS FAIL"}
    rows = [
        f"q{i},{name},{said.split()[i % 3 % 2]}" for i in range(30) for name, said in labels.items()
    ]
    path = tmp_path / "ratings.csv"
    path.write_text("item,rater,choice\n" + "\n".join(rows))
    lines = [a["command"] for a in examine(path)["answers"]]
    (line,) = [line for line in lines if line.split()[1] == "ratings"]
    assert "--judge gpt-4 --positive yes" in line
    assert "--recode gpt-4:PASS=yes" in line


MISTAKES = """item;verdict;human_label;answer
{rows}
x1;PASS;yes
x2;maybe;no;a, b
x3;;no;a
x3;FAIL;no;a
"""


@pytest.mark.slow
def test_a_table_with_five_mistakes(tmp_path, examine, capsys):
    """Semicolons, a cut row, a label of nobody, a copy, and a coding that is turned round."""
    coded = {True: ("FAIL", "Yes"), False: ("PASS", "No")}
    rows = [f"q{i};{';'.join(coded[i % 3 > 0])};text" for i in range(40)]
    path = tmp_path / "labels.csv"
    path.write_text(MISTAKES.format(rows="\n".join([*rows, rows[5]])).replace("x1;PASS;yes\n", ""))
    found = examine(path)
    told = " | ".join([found["inputs"]["kind"], *found["contents"], *found["odd"]])
    assert "separated by ';'" in told
    assert "maybe says neither pass nor fail; the command reads maybe as fail" in told
    assert "1 row is the same as another one" in told
    assert "2 of 42 items" in told
    assert "1 without a verdict" in told
    assert "coded the other way round" in told
    (answer,) = [a for a in found["answers"] if "prevalence" in a["command"]]
    assert "--fail-value maybe" in answer["command"]
    # one row that is cut
    path.write_text(MISTAKES.format(rows="\n".join(rows)))
    assert main(["doctor", str(path)]) == 0
    assert "1 row has more or fewer cells than the head: lines 42" in capsys.readouterr().out


@pytest.mark.slow
def test_an_export_in_its_own_words_is_answered_at_once(tmp_path, examine):
    """A ticket for the item, a reviewer's verdict for the truth, an error for no verdict."""
    said = [("PASS", "no")[i % 3 % 2] for i in range(200)]
    said[7::40] = ["ERROR: timeout"] * 5
    people = [
        ("ok", "not ok")[i % 3 % 2 if i % 5 else 0] if i % 4 == 0 else "N/A" for i in range(200)
    ]
    rows = [f"T-{i:03d};really, number {i}?;{said[i]};{people[i]}" for i in range(200)]
    path = tmp_path / "export.csv"
    path.write_text("Ticket ID;prompt;LLM says;Reviewer verdict\n" + "\n".join(rows))
    found = examine(path)
    (line,) = [a["command"] for a in found["answers"] if " prevalence " in a["command"]]
    assert "--verdict 'LLM says' --truth 'Reviewer verdict'" in line
    assert "--pass-value ok --fail-value 'not ok' --missing-value 'ERROR: timeout' N/A" in line
    assert "--item 'Ticket ID'" in line


@pytest.mark.slow
def test_a_reversed_coding_is_a_question(tmp_path, examine):
    rows = [f"q{i},{int(i % 3 == 0)},{int(i % 3 > 0)}" for i in range(60)]
    rows += [f"u{i},{i % 2}," for i in range(60)]
    path = tmp_path / "labels.csv"
    path.write_text("item,verdict,human\n" + "\n".join(rows))
    found = examine(path)
    assert any("coded the other way round" in text for text in found["odd"])
    assert any("random sample; if not" in text for text in found["odd"])


@pytest.mark.slow
def test_equal_numbers_of_both_kinds_are_asked_about(tmp_path, examine):
    rows = [f"q{i},{i % 3 % 2},{int(i < 20)}" for i in range(40)]
    path = tmp_path / "labels.csv"
    path.write_text("item,verdict,human\n" + "\n".join([*rows, "u,1,", "w,0,"]))
    found = examine(path)
    assert "--calibration by_truth" in found["answers"][0]["command"]
    assert any("20 1 and 20 0 are" in text for text in found["odd"])


def _chat(seed=2):
    """Conversations of two turns of a user and two of an assistant, whose turns are judged."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"chat": np.repeat(np.arange(60), 4), "turn": [1, 2, 3, 4] * 60,
                          "role": ["user", "assistant"] * 120})  # fmt: skip
    good = rng.random(240) < 0.6
    said = table["role"].eq("assistant")
    right = rng.random(240) < 0.85
    table["judge"] = pd.Series(np.where(good == right, "pass", "fail")).where(said)
    table["human"] = pd.Series(np.where(good, "pass", "fail")).where(said & (rng.random(240) < 0.4))
    return table


@pytest.mark.slow
def test_turns_that_are_not_judged_are_no_outputs(tmp_path, examine):
    table = _chat()
    table.to_csv(tmp_path / "chat.csv", index=False)
    found = examine(tmp_path / "chat.csv")
    (line,) = [one["command"] for one in found["answers"] if "prevalence" in one["command"]]
    assert "--item chat --repeats system --unparsed drop" in line
    assert "judge is empty in all rows where role is user, and in no other" in found["odd"]
    assert not any("not a random sample" in told for told in found["odd"])


@pytest.mark.slow
def test_a_judge_that_is_empty_beside_another_is_not_said_to_see_no_rows(tmp_path, examine):
    table = _chat()
    table["other"] = table["judge"]
    table.drop(columns=["role", "turn"]).to_csv(tmp_path / "two.csv", index=False)
    assert not any("in no other" in told for told in examine(tmp_path / "two.csv")["odd"])


def test_labels_of_last_turns_may_be_of_the_conversation(tmp_path, examine):
    table = _chat()
    last = table["turn"].eq(4) & (table["chat"] < 25)
    table["human"] = pd.Series(np.where(table["chat"] % 3 > 0, "pass", "fail")).where(last)
    table.to_csv(tmp_path / "chat.csv", index=False)
    found = examine(tmp_path / "chat.csv")
    assert not found["answers"]
    assert any(
        "is `human` of each chat, or of its last turn?" in one["text"] for one in found["questions"]
    )


@pytest.mark.slow
def test_rows_of_judges_need_no_name(tmp_path, examine):
    """Without a column of items each row is one, as in Python."""
    rng = np.random.default_rng(1)
    truth = rng.random(200) < 0.6
    judged = {name: np.where(rng.random(200) < 0.85, truth, ~truth).astype(int)
              for name in ("gpt", "claude", "llama")}  # fmt: skip
    table = pd.DataFrame({**judged, "expert": truth.astype(int)})
    table.loc[rng.random(200) < 0.6, "expert"] = None
    table.to_csv(tmp_path / "jury.csv", index=False)
    lines = [found["command"] for found in examine(tmp_path / "jury.csv")["answers"]]
    assert any("panel" in line and "--judges gpt claude llama" in line for line in lines)


@pytest.mark.slow
def test_a_wide_table_of_judges_is_a_panel_and_scores_have_a_scale(tmp_path, examine):
    path = tmp_path / "wide.csv"
    rows = [f"q{i},g{i % 2},{i % 2},{i % 3 % 2},{(i + 1) % 2},{i % 2}" for i in range(30)]
    path.write_text("item,generator,gpt,claude,gemini,truth\n" + "\n".join(rows))
    commands = [a["command"] for a in examine(path)["answers"]]
    assert any("panel" in c and "--judges gpt claude gemini" in c for c in commands)
    path = tmp_path / "scores.csv"
    rows = [f"q{i},{1 + i % 5},{int(i % 5 > 2) if i < 25 else ''}" for i in range(60)]
    path.write_text("item,score,human\n" + "\n".join(rows))
    (answer,) = examine(path)["answers"]
    assert "--score score --scale 1:5" in answer["command"]


@pytest.mark.slow
def test_the_screen_and_a_file_that_is_nothing(tmp_path, capsys):
    path = logs.write_mlflow(tmp_path / "traces.jsonl")
    assert main(["doctor", str(path)]) == 0
    out = capsys.readouterr().out
    assert re.search(r"\n  What share of outputs is good\?\n    bayesjudge prevalence ", out)
    assert "What other questions need" in out
    assert main(["doctor", str(tmp_path / "gone.eval")]) == 2
    (tmp_path / "empty.csv").write_text("")
    assert main(["doctor", str(tmp_path / "empty.csv")]) == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.slow
def test_how_labels_are_added_to_what_has_none(tmp_path, examine):
    samples = [logs.inspect_sample(i, 1, "CIP"[i % 3]) for i in range(12)]
    for sample in samples:
        sample["metadata"]["label_confidence"] = 0.8860552919198255  # a number is no label
    found = examine(logs.write_inspect(tmp_path / "run.eval", samples))
    draw, read = found["labelling"]
    assert "--metric model_graded_qa --fail-value P" in draw
    assert shlex.split(read)[-1] == str(tmp_path / "run.labels.csv")
    path = tmp_path / "table.csv"
    path.write_text("id,judge\n" + "\n".join(f"=q{i},{['PASS', 'Fail'][i % 2]}" for i in range(9)))
    assert "--item id --verdict judge" in examine(path)["labelling"][0]
    path.write_text("judge\n" + "\n".join(["PASS", "Fail"] * 9))
    found = examine(path)
    assert found["labelling"] == []
    assert "add a column that numbers rows" in found["missing"]["prevalence"]
    outputs = [logs.inspect_sample(i, e, "C", output=str(e)) for e in (1, 2) for i in range(4)]
    found = examine(logs.write_inspect(tmp_path / "two.eval", outputs, epochs=2))
    assert "columns item, system, repeat and truth" in found["missing"]["prevalence"]
    failed = [logs.inspect_sample(i, 1, logs.NAN, output="x") for i in range(4)]
    for sample in failed:
        sample["scores"].pop("match")
    found = examine(logs.write_inspect(tmp_path / "failed.eval", failed))
    assert "verdicts that can be read, and all 4 grades failed" in found["missing"]["prevalence"]


@pytest.mark.slow
def test_tables_in_books_databases_and_folders_are_looked_at(tmp_path, examine):
    said, people = ["PASS", "fail", "pass"], ["yes", "no", None, None]
    rows = pd.DataFrame({"item": [f"q{i}" for i in range(24)], "verdict": said * 8,
                         "human": people * 6})  # fmt: skip
    rows.to_excel(tmp_path / "book.xlsx", index=False)
    (tmp_path / "parts").mkdir()
    rows[:9].to_parquet(tmp_path / "parts" / "a.parquet")
    rows[9:].to_parquet(tmp_path / "parts" / "b.parquet")
    with contextlib.closing(sqlite3.connect(tmp_path / "one.db")) as base:
        rows.to_sql("labels", base, index=False)
    for name in ("book.xlsx", "parts/*.parquet", "one.db::labels"):
        found = examine(f"{tmp_path}/{name}")
        assert found["contents"][0] == "24 rows, columns item, verdict, human", name
        assert any(" prevalence " in a["command"] for a in found["answers"]), name


@pytest.mark.slow
@pytest.mark.skipif(SHARED is None, reason="the tools' own logs are not beside the repository")
def test_logs_that_the_tools_wrote(examine, tmp_path):
    shutil.copytree(SHARED, tmp_path / "logs", copy_function=shutil.copyfile)  # sheets lie beside
    tools = set()
    for path in sorted(tmp_path.glob("logs/*/*")):
        if path.suffix in (".eval", ".json", ".jsonl", ".csv"):
            tool = path.parent.name
            said = ("win", "loss") if tool in ("alpaca_eval", "arena_hard") else "10"
            found = examine(path, said=said, labelling=tool not in tools)
            tools |= {tool} if found["labelling"] else set()
    assert tools == {
        "alpaca_eval", "arena_hard", "deepeval", "inspect_ai", "langsmith", "lm_eval", "mt_bench",
        "phoenix",
    }  # fmt: skip


def _summaries():
    """A number of each document, a judge's 1 to 5, and words of annotators on some."""
    rows = [
        f"{1001 + i}\t{1 + i * 7 % 5}\t{('bad', 'good')[i * 7 % 5 > 1] if i < 45 else ''}"
        for i in range(120)
    ]
    return "summaries.tsv", "doc\tquality\tannotator verdict\n" + "\n".join(rows)


def _two_versions():
    rows = [
        f"prompt {i},assistant-{v},{('no', 'yes')[(i + j) % 3 > 0]},{said if i < 40 else ''}"
        for i in range(80)
        for j, v in enumerate(("v1", "v2"))
        for said in [("no", "yes")[(i * 3 + j) % 4 > 0]]
    ]
    return "v1_v2.csv", "prompt,assistant,helpful (gpt),helpful (human)\n" + "\n".join(rows)


def _asked_again():
    rows = [
        f"ticket{i},2026-11-{10 + k}T0{i % 9}:12:00Z,gpt-5-mini,{2 + i % 6 + (i * k) % 3}"
        for i in range(12)
        for k in range(5)
    ]
    return "asked_again.csv", "ticket,asked_at,judge_model,rating\n" + "\n".join(rows)


def _before_and_after():
    rows = [
        f"{i},{version},{40 + i * 13 % 50 + more * (i % 4) + 0.5}"
        for i in range(30)
        for version, more in (("longer answer", 3), ("original", 0))
    ]
    return "length_test.csv", "pair,version,score\n" + "\n".join(rows)


def _jury():
    names = ("gpt-5", "claude", "llama", "gemini")
    rows = [
        f"m{g}/{i},m{g},{name},{('incorrect', 'correct')[(i * k + g) % 3 > 0]},"
        f"{('incorrect', 'correct')[(i + g) % 3 > 0] if i < 20 else ''}"
        for g in range(2)
        for i in range(40)
        for k, name in enumerate(names, 1)
    ]
    return "jury.csv", "question_id,generator,judge,vote,gold\n" + "\n".join(rows)


def _wide_jury():
    said = ("bad", "good", "n/a")
    rows = [
        "\t".join((str(i), name, said[i % 3 % 2], said[(i + g) % 5 % 2], said[i % 7 % 3]))
        for g, name in enumerate(("alpha", "beta", "gamma"))
        for i in range(40)
    ]
    return "nobody.tsv", "question_id\tllm\tgpt\tclaude\tgemini\n" + "\n".join(rows)


def _engines():
    rows = [
        f"{i},{name},{50.5 + i * 7 % 40 + more},{45 + i * 7 % 40 if i % 4 == 0 else ''}"
        for name, more in (("nmt", 0), ("llm-2026", 5))
        for i in range(60)
    ]
    return "engines.csv", "segment,engine,metric_score,expert_score\n" + "\n".join(rows)


def _nested():
    kinds = ("correct", "partly correct", "incorrect")
    rows = [
        {"meta": {"id": f"q{i}"}, "human": kinds[i % 5 % 3] if i % 4 == 0 else None,
         "judge": {"label": kinds[i % 3] if i % 13 else "Partly  Correct", "why": "..."}}
        for i in range(120)
    ]  # fmt: skip
    return "answers.jsonl", "\n".join(map(json.dumps, rows))


def _regraded():
    """One judge asked five times about each essay, pass or fail."""
    rng = np.random.default_rng(9)
    rows = pd.DataFrame({"essay": [f"e{i // 5:03d}" for i in range(200)]})
    rows["run"] = [i % 5 + 1 for i in range(200)]
    rows["grade"] = np.where(rng.random(200) < rng.random(40).repeat(5), "P", "F")
    return "regrades.csv", rows.to_csv(index=False)


#: What the first line to paste says of each of a stranger's tables.
FIRST_LINES = {
    _summaries: "prevalence {} --score quality --scale 1:5 --truth 'annotator verdict' "
    "--calibration random --item doc",
    _two_versions: "prevalence {} --verdict 'helpful (gpt)' --truth 'helpful (human)' "
    "--calibration random --by assistant --item prompt",
    _asked_again: "repeats report {} --score rating --item ticket --judge judge_model "
    "--order asked_at --scale 1-10 --half-width 0.5",
    _before_and_after: "bias {} --item pair --variant version --score score --baseline original "
    "--scale 0-100 --design item",
    _jury: "panel {} --judge judge --vote vote --truth gold --item question_id "
    "--generator generator --calibration random",
    _wide_jury: "panel {} --judges gpt claude gemini --item question_id --generator llm "
    "--missing-value n/a",
    _engines: "prevalence {} --score metric_score --scale 0:100 --truth expert_score "
    "--truth-scale 0:100 --calibration random --by engine --item segment",
    _nested: "prevalence {} --verdict judge.label --truth human --classes correct incorrect "
    "'partly correct' --calibration random --item meta.id",
    _regraded: "repeats report {} --score grade --item essay --order run",
}


@pytest.mark.slow
@pytest.mark.parametrize("made", FIRST_LINES)
def test_tables_of_a_stranger_are_answered_by_the_first_line(made, tmp_path, monkeypatch, capsys):
    name, text = made()
    (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["doctor", name]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    pasted = re.findall(r"^    bayesjudge (?:.*\\\n)*.*$", out, re.MULTILINE)
    lines = [" ".join(line.replace("\\\n", " ").split()) for line in pasted]
    others = [line for line in lines if not line.startswith("bayesjudge judge ")]
    assert others[0] in lines[:3]
    assert others[0] == "bayesjudge " + FIRST_LINES[made].format(name), out
    assert not [line for line in lines if " ratings " in line]  # nobody rates but judges


@pytest.mark.slow
def test_what_is_missing_names_the_command_that_would_answer(tmp_path, monkeypatch, capsys):
    """A line of 80 columns a question; where nothing answers, that comes first."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    Path("notes.csv").write_text("note\n" + "\n".join(f"note {i}" for i in range(30)))
    assert main(["doctor", "notes.csv"]) == 0
    out = capsys.readouterr().out
    first, *_ = out.split("\n\n")
    assert first.startswith("notes.csv answers no question")
    lines = out.split("questions need")[1].splitlines()[1:]
    assert [re.search(r"\? .* \((.*)\)$", line)[1] for line in lines] == list(WANTED)
    assert max(map(len, lines)) <= 80


def _essays(**columns):
    """Calls about 12 essays in no order, as a stranger names them."""
    rng = np.random.default_rng(5)
    rows = pd.DataFrame({"essay": [f"e{i // 6:03d}" for i in range(72)]})
    rows = rows.assign(call=[i % 6 + 1 for i in range(72)])
    rows["rating"] = rng.integers(2, 10, 12).repeat(6) + rng.integers(0, 2, 72)
    return rows.assign(**columns).sample(frac=1, random_state=2)


@pytest.mark.slow
def test_repeats_are_seen_by_what_columns_hold(tmp_path, examine):
    rows = _essays(ts=[f"2026-11-{1 + i // 6:02d}T0{i % 6}:00:00Z" for i in range(72)])
    rows[3:].to_csv(tmp_path / "calls.csv", index=False)  # three calls failed
    found = examine(tmp_path / "calls.csv")
    wanted = "--score rating --item essay --order call --scale 1-10 --half-width 0.5"
    assert found["answers"][0]["command"].endswith(f"calls.csv {wanted}")
    assert "call counts from 1 within each essay" in found["odd"][0]
    for other in (
        rows.rename(columns={"call": "turn"}),
        rows.assign(essay=[f"e{i}" for i in range(72)]),
        rows.assign(call=np.random.default_rng(1).permutation(rows["call"])),
    ):
        other.rename(columns={"essay": "about"}).to_csv(tmp_path / "other.csv", index=False)
        assert examine(tmp_path / "other.csv", labelling=False)["answers"] == []

    rows.rename(columns={"call": "turn"}).to_csv(tmp_path / "other.csv", index=False)
    assert examine(tmp_path / "other.csv", labelling=False)["answers"] == []


@pytest.mark.slow
def test_one_judge_of_two_systems_is_asked_which_is_better(tmp_path, examine):
    rows = [
        f"{i},{name},{'CI'[(i * j) % 3 > 0]},gpt-4o,{'CI'[i % 3 > 1] if i % 4 == j else ''}"
        for i in range(60)
        for j, name in enumerate(("prod", "cand"), 1)
    ]
    path = tmp_path / "ab.csv"
    path.write_text("prompt_id,model,grade,grader,expert\n" + "\n".join(rows))
    found = examine(path)
    first = found["answers"][0]
    assert first["question"] == "Which system is better?"
    assert first["command"].endswith(
        "--verdict grade --truth expert --calibration random --by model --item prompt_id"
    )
    assert not [a for a in found["answers"] if " panel " in a["command"]]
    assert [text for text in found["odd"] if "random sample; if not" in text]


@pytest.mark.slow
def test_every_line_of_a_table_reads_n_a_alike_and_says_so(tmp_path, examine):
    said = ("yes", "no", "n/a")
    rows = [
        f"{g}-{i},{g},{said[i % 3 % 2 if i % 20 else 2]},{said[i % 5 % 2]},"
        f"{said[i % 7 % 2] if i < 30 else ''}"
        for g in ("alpha", "beta")
        for i in range(90)
    ]
    path = tmp_path / "jury.csv"
    path.write_text("case,generator,claude,gpt,gold\n" + "\n".join(rows))
    found = examine(path)
    panel, alone, gate = (answer["command"] for answer in found["answers"])
    assert all("--missing-value n/a" in line for line in (panel, alone, gate))
    assert "--unparsed drop" in alone
    assert "--unparsed drop" in gate
    assert any("rows without a verdict are left out" in text for text in found["odd"])
    assert [a["question"] for a in found["answers"]][1].endswith("by claude alone?")


@pytest.mark.slow
def test_a_score_beside_people_s_scores_is_a_mean(tmp_path, examine):
    rows = [f"d{i},{1 + i % 5},{1 + i * 3 % 5 if i < 40 else ''}" for i in range(90)]
    path = tmp_path / "means.csv"
    path.write_text("doc,llm_score,human_score\n" + "\n".join(rows))
    (answer,) = examine(path)["answers"]
    assert answer["question"] == "What mean score would people give?"


@pytest.mark.slow
def test_repeated_verdicts_are_asked_for_self_contradiction(tmp_path, examine, capsys):
    """In words or numbers, with a judge's name; not of classes, systems, or one call per item."""
    _, text = _regraded()
    rows = pd.read_csv(io.StringIO(text))
    words = rows.assign(grade=rows["grade"].map({"P": "okay", "F": "hopeless"}), judge="gpt")
    tables = {
        "plain": (rows, "--score grade --item essay --order run"),
        "no order": (rows.drop(columns="run"), "--score grade --item essay"),
        "coded": (rows.assign(grade=(rows["grade"] == "P") * 1), "--order run --scale 0-1"),
        "words": (words, "--score grade --item essay --judge judge --order run "),
    }
    for table, wanted in tables.values():
        table.to_csv(tmp_path / "t.csv", index=False)
        found = examine(tmp_path / "t.csv")
        (answer,) = found["answers"]
        assert answer["question"] == "How often does the judge contradict itself?"
        assert wanted in answer["command"], answer
        assert any("verdicts on one and the same output" in told for told in found["odd"])
        assert main([*shlex.split(answer["command"])[1:], "--no-nuts"]) == 0
        assert capsys.readouterr().out.startswith("The judge contradicts itself ")
    several = rows.assign(grade=[("low", "mid", "high")[i % 3] for i in range(len(rows))])
    systems = rows.assign(system=[f"s{n}" for n in rows["run"]]).drop(columns="run")
    for table in (several, systems, rows[rows["run"] == 1]):
        table.to_csv(tmp_path / "t.csv", index=False)
        assert "repeats report" not in str(examine(tmp_path / "t.csv")["answers"])


def test_a_table_of_very_many_columns_is_refused(tmp_path, capsys):
    (tmp_path / "wide.jsonl").write_text(json.dumps(dict.fromkeys(map(str, range(10_001)), 1)))
    assert main(["doctor", str(tmp_path / "wide.jsonl")]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "has 10,001 columns" in told


@pytest.mark.slow
def test_repeats_changed_verdicts_and_raters_are_seen_for_what_they_are(tmp_path, capsys):
    calls = [(f"essay {i}", judge, 1 + (i + n) % 5) for i in range(20) for judge in ("gpt", "small")
             for n in range(3)]  # fmt: skip
    changed = [(i, name, int(i % 3 > 0 or name == "bold")) for i in range(40)
               for name in ("plain", "bold")]  # fmt: skip
    rated = [(i, name, ("safe", "unsafe")[(i + n) % 7 > 2]) for i in range(40)
             for n, name in enumerate(("ann", "bob", "cem", "gpt", "claude"))]  # fmt: skip
    tables = {
        "repeats report": pd.DataFrame(calls, columns=["essay", "judge", "score"]),
        "bias": pd.DataFrame(changed, columns=["item", "variant", "verdict"]),
        "ratings": pd.DataFrame(rated, columns=["message", "rater", "label"]),
    }
    for command, table in tables.items():
        path = tmp_path / "table.csv"
        table.to_csv(path, index=False)
        assert main(["doctor", str(path)]) == 0
        out = capsys.readouterr().out
        found = out.split("paste a line")[1].split("\n\n")[0]
        assert f"bayesjudge {command} " in found
        assert found.count("bayesjudge ") == 1, found
        line = found.split("bayesjudge ")[1].replace("\\\n", " ")
        more = ["--no-nuts"]
        assert main([*shlex.split(line), *more]) == 0
        capsys.readouterr()
    assert "--judge gpt --judge claude" in " ".join(line.split())


def _moderated():
    """All that a guard flagged was reviewed, and a tenth of the rest; each spells as it likes."""
    rng = np.random.default_rng(4)
    unsafe = rng.random(1200) < 0.15
    flagged = np.where(unsafe, rng.random(1200) < 0.9, rng.random(1200) < 0.06)
    reviewed = flagged | (rng.random(1200) < 0.1)
    rows = pd.DataFrame({"Case No": [f"C-{i}" for i in range(1200)]})
    rows["guard verdict"] = np.where(flagged, "UNSAFE", "safe")
    rows["reviewer"] = np.where(reviewed, np.where(unsafe, "unsafe", "Safe "), "")
    rows.loc[::150, "guard verdict"] = "ERROR: timeout"
    return rows, unsafe.mean()


@pytest.mark.slow
def test_all_of_one_verdict_labelled_and_spellings_of_two_answers(tmp_path, examine, capsys):
    rows, unsafe = _moderated()
    rows.to_csv(tmp_path / "moderation.csv", sep=";", index=False)
    found = examine(tmp_path / "moderation.csv", labelling=False)
    line = found["answers"][0]["command"]
    assert line.endswith(
        "--pass-value Safe --fail-value UNSAFE --missing-value 'ERROR: timeout' "
        "--calibration by_verdict --item 'Case No' --unparsed drop"
    )
    assert [shlex.split(a["command"])[1] for a in found["answers"]] == ["prevalence", "gate"]
    n = (rows["guard verdict"] == "UNSAFE").sum()
    (told,) = (text for text in found["odd"] if "by_verdict" in text)
    assert f"{n} of {n} verdicts UNSAFE" in told
    assert main([*shlex.split(line)[1:], "--no-nuts", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["estimates"]
    (bayes,) = (row for row in rows if row["method"] == "Bayesian (exact)")
    assert bayes["low"] < 1 - unsafe < bayes["high"]


@pytest.mark.slow
def test_labels_that_chance_may_have_drawn_are_a_random_sample(tmp_path, examine):
    rows, _ = _moderated()
    truth = rows["guard verdict"].replace({"UNSAFE": "unsafe", "ERROR: timeout": "safe"})
    drawn = np.random.default_rng(1).random(1200) < 0.3
    rows.assign(reviewer=truth.where(drawn, "")).to_csv(tmp_path / "drawn.csv", index=False)
    found = examine(tmp_path / "drawn.csv", labelling=False)
    assert "--calibration random" in found["answers"][0]["command"]
    assert not [text for text in found["odd"] if "not a random sample" in text]


@pytest.mark.slow
def test_what_failed_is_no_class_and_what_people_say_too_is_one(tmp_path, examine):
    kinds = ["correct", "partially correct", "incorrect", "refusal"]
    said = [kinds[i % 7 % 4] if i % 50 else "parse error" for i in range(300)]
    people = [kinds[i % 5 % 4].title() if i % 3 == 0 else "" for i in range(300)]
    path = tmp_path / "classes.csv"
    pd.DataFrame({"judge": said, "human": people}).to_csv(path, index=False)
    (answer,) = examine(path)["answers"]
    assert answer["question"].endswith("would people put into each class?")
    line = answer["command"]
    assert "--verdict judge --truth human --classes" in line
    words = shlex.split(line)
    named = words[words.index("--classes") + 1 : words.index("--missing-value")]
    assert sorted(named) == sorted(kind.title() for kind in kinds)
    assert words[words.index("--missing-value") + 1] == "parse error"


@pytest.mark.slow
def test_a_field_of_the_test_that_is_always_the_same_is_no_label(tmp_path, examine, capsys):
    path = logs.write_two_providers(tmp_path / "out.json", lambda i: "pass")
    found = examine(path)
    assert found["answers"] == []
    told = "human_label says pass in all 80 rows: hardly what people said"
    assert [text for text in found["odd"] if text.startswith(told)]
    found = examine(path, "--truth", "human_label")  # who says so is believed, and cautioned
    line = shlex.split(found["answers"][0]["command"])[1:]
    capsys.readouterr()
    assert main([*line, "--no-nuts"]) == 0
    assert "10 of these 40" in " ".join(capsys.readouterr().out.split())
    found = examine(
        logs.write_two_providers(tmp_path / "kinds.json", lambda i: ("pass", "fail")[i % 3 > 1])
    )
    assert "--truth human_label" in found["answers"][0]["command"]
    told = "human_label has a label for every row, and the same one for all outputs of an item"
    assert [text for text in found["odd"] if text.startswith(told)]


@pytest.mark.slow
def test_a_table_s_constant_column_is_no_label_and_a_person_s_is_one(tmp_path, examine):
    rows = pd.DataFrame({"id": range(60), "verdict": [i % 4 > 0 for i in range(60)]})
    path = tmp_path / "table.csv"
    rows.assign(expected_label="yes").to_csv(path, index=False)
    found = examine(path, labelling=False)
    assert not [a for a in found["answers"] if "expected_label" in a["command"]]
    for name, told in (("gold_label", True), ("reviewer", False)):
        rows.assign(**{name: [("yes", "no")[i % 3 % 2] for i in range(60)]}).to_csv(
            path, index=False
        )
        found = examine(path)
        assert f"--truth {name}" in found["answers"][0]["command"]
        assert any("has a label for every row" in text for text in found["odd"]) == told
    # nor is one that fills some rows, unless somebody says so
    rows.assign(human=["yes" if i < 20 else "" for i in range(60)]).to_csv(path, index=False)
    found = examine(path, labelling=False)
    told = "human says yes in all 20 rows that it fills: hardly what people said of the outputs"
    assert [text for text in found["odd"] if text == f"{told}; if it is: --truth human"]
    assert not found["answers"]
    assert "--truth human" in examine(path, "--truth", "human")["answers"][0]["command"]


@pytest.mark.slow
def test_a_log_and_people_s_labels_in_a_file_of_their_own(tmp_path, monkeypatch, examine):
    monkeypatch.chdir(tmp_path)
    logs.write_two_providers(Path("out.json"), lambda i: "pass")
    labels = pd.DataFrame(
        [(i, who, ("correct", "wrong")[(i + k) % 3 > 1]) for i in range(0, 40, 2)
         for k, who in enumerate(("openai:small", "other:large"))],
        columns=["test", "provider", "human"],
    )  # fmt: skip
    labels.to_csv("labels.csv", index=False)
    answer, gate = examine("out.json", "labels.csv")["answers"]
    keys = "--truth human --item test --by provider --fail-value wrong --calibration random"
    line = f"bayesjudge prevalence out.json --labels labels.csv {keys}"
    assert (answer["question"], answer["command"]) == ("Which system is better?", line)
    assert gate["command"] == line.replace("prevalence", "gate") + " --at-least 0.9"
    # in other words, and by the text of the test
    labels["test"] = [f"Question {i}?" for i in labels["test"]]
    labels.columns = ["asked", "who", "verdict by Ann"]
    labels.to_csv("labels.csv", index=False)
    answer, _ = examine("out.json", "labels.csv", "--truth", "verdict by Ann")["answers"]
    assert "--item asked --by who" in answer["command"]
    missing = examine("labels.csv", "--truth", "verdict by Ann")["missing"]
    assert "bayesjudge doctor THAT_FILE labels.csv" in missing["prevalence"]
    labels["asked"] = "another"
    labels.to_csv("labels.csv", index=False)
    found = examine("out.json", "labels.csv", "--truth", "verdict by Ann")
    assert found["answers"] == []
    assert "here an item is called 'Question 0?'" in found["missing"]["prevalence"]


@pytest.mark.slow
def test_a_table_and_people_s_labels_in_a_file_of_their_own(tmp_path, monkeypatch, examine):
    monkeypatch.chdir(tmp_path)
    rows = pd.DataFrame({"ticket": [f"T{i}" for i in range(90)], "judge": 1})
    rows.assign(judge=[i % 3 % 2 for i in range(90)]).to_csv("verdicts.csv", index=False)
    people = pd.DataFrame(
        {"key": [f"T{i}" for i in range(0, 90, 3)], "reviewer": ["yes", "no"] * 15}
    )
    people.to_csv("labels.csv", index=False)
    answer, gate = examine("verdicts.csv", "labels.csv")["answers"]
    wanted = "--verdict judge --labels labels.csv --truth reviewer --item key --calibration"
    assert wanted in answer["command"]
    assert gate["command"].startswith("bayesjudge gate verdicts.csv --verdict judge --labels")
    rows.assign(judge=[1 + i % 5 for i in range(90)]).to_csv("scores.csv", index=False)
    (answer,) = examine("scores.csv", "labels.csv")["answers"]
    assert "--score judge --scale 1:5 --labels labels.csv --truth reviewer" in answer["command"]


@pytest.mark.slow
def test_a_jury_and_people_s_labels_in_a_file_of_their_own(tmp_path, monkeypatch, examine):
    """Every judge has a line, all of them one, and the first a gate."""
    monkeypatch.chdir(tmp_path)
    judges = {"gpt": 4, "claude": 5, "llama": 3}
    rows = pd.DataFrame([(f"q{i}", m) for i in range(120) for m in "ab"], columns=["id", "model"])
    votes = rows.assign(**{j: [int(i % n > 0) for i in range(240)] for j, n in judges.items()})
    votes.to_csv("wide.csv", index=False)
    people = rows.assign(human=[int(i % 4 > 0) for i in range(240)])[::7]
    people.rename(columns={"id": "key"}).to_csv("labels.csv", index=False)
    lines = [a["command"] for a in examine("wide.csv", "labels.csv")["answers"]]
    commands = [shlex.split(line)[1] for line in lines]
    assert commands == ["panel", "prevalence", "gate", "prevalence", "prevalence"]
    assert all("--labels labels.csv --truth human --item key" in line for line in lines)
    assert "--judges gpt claude llama" in lines[0]
    assert [f"--verdict {name} " in lines[i] for name, i in (("claude", 3), ("llama", 4))] == [1, 1]
    long = votes.melt(["id", "model"], list(judges), "judge", "verdict")
    long.to_csv("long.csv", index=False)
    (answer,) = examine("long.csv", "labels.csv")["answers"]
    assert "panel long.csv --judge judge --vote verdict --labels labels.csv" in answer["command"]
    # a label of an item is of which of its two outputs?
    people[people["model"] == "a"].drop(columns="model").to_csv("labels.csv", index=False)
    found = examine("wide.csv", "labels.csv")
    assert not any("--labels" in a["command"] for a in found["answers"])
    assert "it needs columns model too" in found["missing"]["prevalence"]


@pytest.mark.slow
def test_a_jury_s_log_and_people_s_labels_in_a_file_of_their_own(tmp_path, monkeypatch, examine):
    monkeypatch.chdir(tmp_path)
    votes = [["C", "I"], ["C", "C"], ["I", "I"], ["C", "C"]] * 10
    samples = [logs.inspect_sample(i, 1, v[0], votes=v) for i, v in enumerate(votes)]
    logs.write_inspect(Path("jury.eval"), samples, models=["a", "b"])
    ids = [str(sample["id"]) for sample in samples]
    labels = pd.DataFrame({"id": ids, "human": ["good", "bad", "bad", "good"] * 10})[::2]
    labels.to_csv("labels.csv", index=False)
    lines = [a["command"] for a in examine("jury.eval", "labels.csv")["answers"]]
    lines = [line.replace(" --metric 'model_graded_qa votes'", "") for line in lines]
    named = "--labels labels.csv --truth human --item id"
    for start in ("panel jury.eval", "drift jury.eval jury.eval --judge a --judge b",
                  "prevalence jury.eval --judge a", "prevalence jury.eval --judge b",
                  "gate jury.eval --metric model_graded_qa"):  # fmt: skip
        assert any(line.startswith(f"bayesjudge {start} {named}") for line in lines), (start, lines)


@pytest.mark.slow
def test_a_check_of_both_verdicts_under_a_name_of_its_own(tmp_path, examine):
    """Of what the judge passed and failed 30 each, in words that say neither pass nor fail."""
    said = [int(i % 10 > 0) for i in range(600)]
    drawn = {i for kind in (0, 1) for i in [i for i in range(600) if said[i] == kind][:30]}
    check = [("not ok", "ok")[said[i] ^ (i % 13 == 0)] if i in drawn else "" for i in range(600)]
    path = tmp_path / "nightly.csv"
    rows = pd.DataFrame({"ticket": [f"T{i}" for i in range(600)], "bot_reply_ok": said})
    rows.assign(agent_check=check, date="2026-11-22").to_csv(path, index=False)
    found = examine(path)
    assert [shlex.split(a["command"])[1] for a in found["answers"]] == ["prevalence", "gate"]
    wanted = "--verdict bot_reply_ok --truth agent_check --pass-value ok --fail-value 'not ok' "
    assert f"{wanted}--calibration by_verdict --item ticket" in found["answers"][0]["command"]


@pytest.mark.slow
def test_whole_conversations_that_somebody_labelled(tmp_path, examine):
    rng = np.random.default_rng(3)
    words = np.array(["unhelpful", "helpful"])
    rows = pd.DataFrame({"conversation": [f"conv-{i // 8}" for i in range(480)]})
    rows["turn"] = [1 + i % 8 for i in range(480)]
    rows["judge"] = words[rng.integers(0, 2, 480)]
    chosen = [i // 8 % 4 == 0 for i in range(480)]
    rows["rater"] = np.where(chosen, words[rng.integers(0, 2, 480)], None)
    rows.to_parquet(tmp_path / "chats.parquet")
    found = examine(tmp_path / "chats.parquet")
    first = found["answers"][0]["command"]
    assert "--verdict judge --truth rater --pass-value helpful --fail-value unhelpful" in first
    assert first.endswith("--item conversation --repeats system")
    assert [text for text in found["odd"] if "conversation: 15 of 60" in text]
    assert not [text for text in found["odd"] if "or duplicates?" in text]
    # a row's own id, or no name that is usual, hides no group
    numbered = rows.assign(turn_id=range(480))
    for table in (numbered, rows.rename(columns={"conversation": "thread"}).drop(columns="turn")):
        table.to_parquet(tmp_path / "chats.parquet")
        first = examine(tmp_path / "chats.parquet")["answers"][0]["command"]
        group = "conversation" if "turn_id" in table else "thread"
        assert first.endswith(f"--item {group} --repeats system")
    # rows that were drawn one by one
    rows["rater"] = np.where(rng.random(480) < 0.25, words[rng.integers(0, 2, 480)], None)
    rows.to_parquet(tmp_path / "chats.parquet")
    found = examine(tmp_path / "chats.parquet")
    assert not [text for text in found["odd"] if "whole groups" in text]
    assert found["answers"][0]["command"].endswith("--item conversation --repeats system")


@pytest.mark.slow
def test_grades_of_several_judges_and_people_are_means_of_each(tmp_path, examine):
    rng = np.random.default_rng(2)
    worth = rng.normal(3, 1, 120)
    names = ("judge_gpt", "judge_claude", "judge_llama", "Anna", "Ben")
    grades = {
        n: np.clip((worth + rng.normal(0, 0.6, 120)).round(), 1, 5).astype(int) for n in names
    }
    rows = pd.DataFrame({"essay": range(120), **grades})
    rows["Ben"] = rows["Ben"].where(rng.random(120) < 0.85)
    rows.to_excel(tmp_path / "graders.xlsx", index=False)
    found = examine(tmp_path / "graders.xlsx")
    lines = [a["command"] for a in found["answers"]]
    more = "--scale 1:5 --truth Anna --truth-scale 1:5 --calibration random --item essay"
    graders = "--people Anna --people Ben --judge judge_gpt --judge judge_claude"
    assert [line.split(".xlsx ")[1] for line in lines] == [
        *[f"--score {name} {more}" for name in names[:3]],
        f"--item essay {graders} --judge judge_llama",
    ]


@pytest.mark.slow
def test_verdicts_in_both_orders_are_a_line_of_bias_orders(tmp_path, examine):
    names, said = ("tuned-7b", "base-7b"), ("A", "B", "A", "tie", "A")
    rows = [
        f"p{i},{names[k]},{names[1 - k]},{said[(2 * i + k * i // 3) % 5]}"
        for i in range(80)
        for k in (0, 1)
    ]
    path = tmp_path / "duels.csv"
    path.write_text("prompt,answer_A,answer_B,judge_says\n" + "\n".join(rows))
    (answer,) = examine(path)["answers"]
    assert answer["command"].endswith(
        "--item prompt --shown-first answer_A --shown-second answer_B --verdict judge_says "
        "--winner A --winner B --tie-value tie"
    )
    rows[3:5] = []  # two verdicts are lost
    path.write_text("prompt,answer_A,answer_B,judge_says\n" + "\n".join(rows))
    (answer,) = examine(path)["answers"]
    assert answer["command"].endswith("--tie-value tie --missing drop")


@pytest.mark.slow
def test_a_column_of_each_order_is_a_line_of_bias_orders(tmp_path, examine, capsys):
    rows = [f"p{i},{'ABA='[i % 4]},{'ABB='[i % 4]}" for i in range(80)]
    for first, second in (("verdict_order1", "verdict_order2"), ("AB order", "BA order")):
        path = tmp_path / f"{first}.csv"
        lines = "\n".join([f"pair,{first},{second}", *rows]).replace("=", "tie")
        path.write_text(lines)
        (answer,) = examine(path)["answers"]
        assert set(answer["options"]) == set()
        assert main(["bias", "orders", str(path), "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert document["inputs"]["pairs"] == 80
        same = next(e for e in document["estimates"] if e["quantity"] == "consistency")
        assert same["value"] == pytest.approx(0.75, abs=0.02)


@pytest.mark.slow
def test_unlabelled_verdicts_of_three_classes_are_drawn_and_read_as_classes(tmp_path):
    path = tmp_path / "three.csv"
    rows = [f"i{i},{('A', 'B', 'tie')[i % 3]}" for i in range(60)]
    path.write_text("\n".join(["id,verdict", *rows]))
    (_, draw), (_, read) = look_at(path).labelling
    assert "--classes" not in draw
    assert "--classes" in read


@pytest.mark.slow
def test_a_dash_for_no_label_is_pasted_so_that_a_shell_reads_it(tmp_path, examine):
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 200)
    table = pd.DataFrame({"id": range(200), "rater_bot": np.where(rng.random(200) < 0.9, truth, 0)})
    table["qa"] = np.where(rng.random(200) < 0.3, truth.astype(str), "-")
    table.to_csv(tmp_path / "seen.csv", index=False)
    found = examine(tmp_path / "seen.csv")
    lines = [answer["command"] for answer in found["answers"]]
    assert [shlex.split(line)[1] for line in lines] == ["prevalence", "gate"]
    assert all("--truth qa --missing-value=- --calibration random" in line for line in lines)
    assert any("qa: '-'" in text for text in found["odd"])


@pytest.mark.slow
def test_grades_that_occur_among_the_rows_numbers_name_no_items(tmp_path, capsys):
    rng = np.random.default_rng(1)
    outputs = pd.DataFrame({"question": [f"q{i // 2}" for i in range(60)], "test": range(60)})
    outputs.assign(verdict=rng.integers(0, 2, 60)).to_csv(tmp_path / "outputs.csv", index=False)
    labels = pd.DataFrame({"grade": rng.integers(1, 4, 20), "question": outputs["question"][20:40]})
    labels = labels.drop_duplicates("question").assign(human=[0, 1] * 5)
    labels = pd.concat([labels, labels], ignore_index=True)
    labels.insert(0, "label_no", range(20))
    labels.to_csv(tmp_path / "labels.csv", index=False)
    files = [str(tmp_path / "outputs.csv"), "--labels", str(tmp_path / "labels.csv")]
    assert main(["doctor", *files, "--json"]) == 0
    lines = [answer["command"] for answer in json.loads(capsys.readouterr().out)["answers"]]
    assert lines
    assert all("--truth human --item question" in line for line in lines)


@pytest.mark.slow
def test_columns_that_may_be_people_s_labels_are_named(tmp_path, capsys):
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"id": range(80), "verdict": rng.integers(0, 2, 80)})
    table["desk"] = rng.choice(["fine", "so so", "poor", ""], 80)
    table.to_csv(tmp_path / "desk.csv", index=False)
    assert main(["doctor", str(tmp_path / "desk.csv"), "--json"]) == 0
    missing = json.loads(capsys.readouterr().out)["missing"]
    assert missing["prevalence"].endswith("; if desk holds them: --truth COLUMN")


@pytest.mark.slow
def test_large_parquet_is_looked_at_in_all_its_parts(tmp_path, monkeypatch, capsys):
    """Rows of one system lie together, and the first are of one system only."""
    monkeypatch.setattr("bayesjudge.cli.doctor.MOST_ROWS", 200)
    log = pd.DataFrame(
        {"item": [f"q{i}" for i in range(400)] * 2, "system": ["a"] * 400 + ["b"] * 400}
    )
    log["verdict"] = ["PASS" if i % 3 else "FAIL" for i in range(800)]
    log["truth"] = [("yes" if i % 4 else "no") if i % 5 == 0 else None for i in range(800)]
    path = tmp_path / "log.parquet"
    log.to_parquet(path, index=False, row_group_size=20)
    assert main(["doctor", str(path)]) == 0
    told = capsys.readouterr().out
    assert "200 of 800 rows" in told
    assert "--by system" in told


@pytest.mark.fast_one_in(3)
@pytest.mark.parametrize(("most", "told"), [(79, True), (80, False), (81, False)])
def test_rows_that_were_not_looked_at_are_told(most, told, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("bayesjudge.cli.doctor.MOST_ROWS", most)
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"id": range(80), "verdict": rng.integers(0, 2, 80)})
    table.to_parquet(tmp_path / "log.parquet")
    assert main(["doctor", str(tmp_path / "log.parquet")]) == 0
    assert (f"{most} of 80 rows" in capsys.readouterr().out) is told


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_a_table_without_rows_is_told_as_one(ending, tmp_path, capsys):
    path = tmp_path / f"run.{ending}"
    head = pd.DataFrame({"id": [], "verdict": [], "truth": []})
    write = {"csv": head.to_csv, "parquet": head.to_parquet}
    write[ending](path, index=False) if ending in write else path.write_text("")
    assert main(["doctor", str(path)]) == 2
    told = capsys.readouterr().err
    assert ("no row below its head, id, verdict, truth" in told) == (ending != "jsonl")


@pytest.mark.slow
def test_a_line_that_breaks_is_told_and_the_others_are_tried(tmp_path, monkeypatch, examine):
    from bayesjudge.prevalence import Counts

    def fails(*args, **kwargs):
        raise ZeroDivisionError("nothing to divide")

    monkeypatch.setattr(Counts, "from_frame", fails)
    rows = pd.DataFrame({"id": range(60), "truth": [i % 3 for i in range(60)]})
    rows = rows.assign(judge=rows["truth"] % 2, other=rows["truth"] % 2, truth=rows["truth"] // 2)
    rows.to_csv(tmp_path / "t.csv", index=False)
    found = examine(tmp_path / "t.csv", labelling=False)
    assert "ZeroDivisionError: nothing to divide" in found["missing"]["prevalence"]
    assert found["answers"]


GRADED = pd.DataFrame({"id": range(60), "judge_score": [1 + i % 5 for i in range(60)]})
GRADED["human_score"] = [str(1 + (i + (i % 7 == 0)) % 5) if i % 3 == 0 else "" for i in range(60)]


@pytest.mark.slow
@pytest.mark.parametrize("word", ["n/a", "NA", "N/A"])
@pytest.mark.parametrize("columns", [["judge_score"], ["human_score"]])
def test_a_word_for_none_among_grades_is_no_grade(word, columns, examine, tmp_path):
    table = GRADED.astype(str)
    for name in columns:
        table.loc[9, name] = word
    table.to_csv(tmp_path / "grades.csv", index=False)
    found = examine(tmp_path / "grades.csv", labelling=False)
    (answer,) = found["answers"]
    assert answer["options"]["--missing-value"] == [word]
    assert ("--unparsed" in answer["options"]) == ("judge_score" in columns)


@pytest.mark.fast_one_in(2)
@pytest.mark.parametrize(
    ("grade", "judge"), [("{}/5", "gpt-4o"), ("{} / 5", "ai_grade"), ("{} out of 5", "score")]
)
def test_grades_with_the_most_that_there_is_are_told_to_be_read_as_numbers(
    grade, judge, examine, tmp_path
):
    said = {judge: GRADED["judge_score"], "editor": GRADED["human_score"]}
    table = {n: [grade.format(c) if c else "" for c in map(str, x)] for n, x in said.items()}
    pd.DataFrame({"id": range(60), **table}).to_csv(tmp_path / "grades.csv", index=False)
    found = examine(tmp_path / "grades.csv")
    (told,) = (text for text in found["contents"] if text.startswith("grades out of 5"))
    assert judge in told
    assert "editor" in told
    assert not [text for text in found["contents"] if text.startswith("response sets")]


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, 30, 59])
def test_blank_rows_of_a_spreadsheet_are_told(first, tmp_path):
    """Those between others; what follows the last is the sheet's own."""
    blank = pd.DataFrame([[None] * 3] * 2, columns=GRADED.columns)
    parts = [GRADED[:first], blank, GRADED[first:], blank]
    path = tmp_path / "grades.xlsx"
    pd.concat([part.astype(object) for part in parts]).to_excel(path, index=False)
    assert "2 rows are blank, and not looked at" in look_at(path).odd
    GRADED.to_excel(path, index=False)
    assert not [text for text in look_at(path).odd if "blank" in text]


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        ("problem_id", "run", "passed"),
        ("scenario", "rollout", "judge"),
        ("task", "attempt", "grader"),
        ("env", "seed", "autograder"),
    ],
)
def test_counted_rows_with_labels_of_their_own_are_attempts(names, examine, tmp_path):
    """Whatever the counter is called; with one label an item the judge was asked again."""
    rng = np.random.default_rng(1)
    able, n = rng.beta(2, 2, 40), 4
    truth = rng.random((40, n)) < able[:, None]
    said, labelled = truth ^ (rng.random((40, n)) < 0.1), rng.random((40, n)) < 0.5
    item, count = np.indices((40, n)).reshape(2, -1)
    table = pd.DataFrame(dict(zip(names, (item, count + 1, said.ravel()), strict=True)))
    table[names[0]] = "t" + table[names[0]].astype(str)
    table["human"] = pd.Series(truth.ravel(), dtype=object).where(labelled.ravel())
    table.to_csv(tmp_path / "runs.csv", index=False)
    asked = {a["command"].split()[1] for a in examine(tmp_path / "runs.csv")["answers"]}
    assert "attempts" in asked
    table["human"] = np.repeat(truth[:, 0], n)
    if names[1] != "attempt":  # which says what it counts
        table.to_csv(tmp_path / "runs.csv", index=False)
        asked = {a["command"].split()[1] for a in examine(tmp_path / "runs.csv")["answers"]}
        assert "attempts" not in asked


@pytest.mark.slow
@pytest.mark.parametrize("by_length", [False, True])
def test_labels_that_go_with_a_column_within_each_verdict_are_not_by_verdict(
    capsys, tmp_path, by_length
):
    rng = np.random.default_rng(8)
    length = rng.normal(size=900)
    good = rng.random(900) < 1 / (1 + np.exp(3 * length))
    table = pd.DataFrame({"words": (300 + 90 * length).round(), "truth": good * 1})
    table["verdict"] = np.where(rng.random(900) < 0.9, good, ~good) * 1
    weight = np.exp(2 * length) if by_length else np.where(table["verdict"] == 0, 4.0, 1.0)
    rows = rng.choice(900, 250, replace=False, p=weight / weight.sum())
    table["truth"] = table["truth"].where(np.isin(np.arange(900), rows))
    table.to_csv(tmp_path / "log.csv", index=False)
    main(["doctor", str(tmp_path / "log.csv")])
    said = capsys.readouterr().out
    assert ("--calibration by_verdict" in said) != by_length
    assert ("--calibration random" in said) == by_length
