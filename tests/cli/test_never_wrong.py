"""Doctor proposes no line that is of another question or column: it asks, or says nothing."""

import sys
import textwrap

import numpy as np
import pandas as pd
import pytest
from cli import messy

import bayesjudge as bj
from bayesjudge.cli import main, shapes
from bayesjudge.cli.shapes.table import Asked

RNG = np.random.default_rng(8)
N = 240
GOOD = RNG.random(N) < 0.7


def _judged(**columns):
    judge = np.array(["fail", "pass"], object)[np.where(RNG.random(N) < 0.85, GOOD, ~GOOD) * 1]
    return pd.DataFrame({"id": range(N), "judge": judge, **columns})


def _lines(found, command=""):
    return [one.line for one in found.answers if one.line.command.startswith(command)]


def _labels(share=0.3):
    return np.where(RNG.random(N) < share, np.where(GOOD, "pass", "fail"), "")


@pytest.mark.parametrize("name", ["reviewer", "annotated_by", "expert", "labeler", "reviewed_by"])
@pytest.mark.slow
def test_a_reviewer_s_name_is_no_label(name):
    table = _judged(**{name: RNG.choice(["Ann", "Bob", "Cy"], N)})
    assert not bj.doctor(table).answers
    found = bj.doctor(table.assign(gold=_labels()))
    assert {line.options["--truth"][0] for line in _lines(found)} == {"gold"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mine", "theirs"),
    [("{}_llm", "{}_human"), ("judge {}", "human {}"), ("auto.{}", "human.{}"),
     ("{}Judge", "{}Human")],
)  # fmt: skip
def test_criteria_are_paired_by_what_their_names_share_and_are_no_jury(mine, theirs):
    columns = {"id": range(N)}
    for kind in ("wit", "zest"):
        level = RNG.integers(1, 6, N)
        columns[mine.format(kind)] = np.clip(level + RNG.integers(-1, 2, N), 1, 5)
        columns[theirs.format(kind)] = np.where(RNG.random(N) < 0.4, level.astype(str), "")
    found = bj.doctor(pd.DataFrame(columns))
    lines = _lines(found, "prevalence")
    pairs = {(line.options["--score"][0], line.options["--truth"][0]) for line in lines}
    assert pairs == {(mine.format(kind), theirs.format(kind)) for kind in ("wit", "zest")}


def test_a_message_number_is_no_score():
    for name in ("message", "turn", "step"):
        table = pd.DataFrame({"id": range(N), name: 1 + np.arange(N) % 7, "human": _labels()})
        assert not bj.doctor(table).answers


@pytest.mark.slow
def test_the_judge_s_model_is_no_verdict():
    table = _judged().rename(columns={"judge": "judge.label"})
    table["judge.model"], table["human.label"] = RNG.choice(["gpt-4o", "claude-3"], N), _labels()
    for line in _lines(bj.doctor(table), "prevalence"):
        assert line.options["--verdict"] == ["judge.label"]
    (line,) = _lines(bj.doctor(table), "panel")
    assert (line.options["--judge"], line.options["--vote"]) == (["judge.model"], ["judge.label"])


@pytest.mark.parametrize("name", ["rank", "position", "place"])
def test_ranks_of_systems_are_no_scores_and_no_raters(name):
    rows = [(f"p{i}", f"m{k}", int(r)) for i in range(60) for k, r in enumerate(RNG.permutation(4))]
    assert not bj.doctor(pd.DataFrame(rows, columns=["prompt", "model", name])).answers


@pytest.mark.slow
def test_a_blank_row_of_a_spreadsheet_stops_nothing(tmp_path, capsys):
    table = _judged(human=_labels()).astype(object)
    none = pd.DataFrame([[""] * 3], columns=table.columns)
    pd.concat([table[:50], none, table[50:]]).to_csv(tmp_path / "sheet.csv", index=False)
    found = bj.doctor(tmp_path / "sheet.csv")
    line = _lines(found, "prevalence")[0]
    assert line.options["--item"] == ["id"]
    assert any("1 row is blank" in text for text in found.odd)
    assert main([*line.words, "--no-nuts"]) == 0


@pytest.mark.slow
def test_metrics_are_nobody_s_labels():
    level = RNG.random(N)
    names = ["faithfulness", "answer_relevancy", "context_precision", "context_recall", "bleu"]
    table = pd.DataFrame({"id": range(N), **{n: (level * RNG.random(N)).round(3) for n in names}})
    table.loc[RNG.random(N) < 0.4, "context_recall"] = None
    assert not bj.doctor(table).answers
    found = bj.doctor(table.assign(human=_labels()))
    assert {line.options["--truth"][0] for line in _lines(found)} == {"human"}


@pytest.mark.parametrize("rater", ["rater", "annotator", "who", "labeler"])
@pytest.mark.slow
def test_a_long_table_of_raters_is_seen(rater):
    names = ["Ann", "Bob", "Eve", "gpt-4o", "claude-3-5-sonnet"]
    rows = [(f"q{i}", name, ("spam", "ok")[int(GOOD[i] ^ (RNG.random() < 0.1))])
            for i in range(80) for name in names]  # fmt: skip
    found = bj.doctor(pd.DataFrame(rows, columns=["item", rater, "label"]))
    (line,) = _lines(found)
    assert line.command == "ratings"
    assert line.options["--judge"] == names[3:]


@pytest.mark.parametrize(
    "pair", [("reviewer", "correct"), ("expert", "gold"), ("human", "expected")]
)
@pytest.mark.slow
def test_two_candidates_are_a_question(pair):
    words = np.array(["fail", "pass"], object)
    table = _judged(
        **{name: words[np.where(RNG.random(N) < 0.9, GOOD, ~GOOD) * 1] for name in pair}
    )
    found = bj.doctor(table)
    assert not _lines(found, "prevalence")
    assert [{*one.columns} for one in found.questions] == [{*pair}]
    named = bj.doctor(table, truth=pair[0])
    assert _lines(named, "prevalence")[0].options["--truth"] == [pair[0]]


def test_labels_of_conversations_beside_verdicts_on_turns_are_asked_about():
    chat = np.repeat(np.arange(60), 4)
    table = _judged(chat=chat, turn=np.arange(N) % 4 + 1).drop(columns="id")
    table["human"] = np.where(chat % 2, np.where(GOOD[chat], "pass", "fail"), "")
    found = bj.doctor(table)
    assert not found.answers
    assert [one.columns for one in found.questions] == [("human", "chat")]


def test_a_label_on_several_criteria_is_asked_about():
    table = _judged(wit=_judged()["judge"], zest=_judged()["judge"], human=_labels())
    found = bj.doctor(table.drop(columns="judge"))
    assert not found.answers
    assert [one.columns for one in found.questions] == [("wit", "zest")]


@pytest.mark.slow
def test_attempts_that_a_test_passes_are_no_repeats_of_a_judge():
    rows = [(f"t{i}", k, int(RNG.random() < 0.5)) for i in range(40) for k in range(1, 5)]
    found = bj.doctor(pd.DataFrame(rows, columns=["task", "attempt", "passed"]))
    assert [one.line.command for one in found.answers] == ["attempts"]
    assert found.answers[0].line.options == {"--task": ["task"], "--truth": ["passed"]}


@pytest.mark.slow
def test_a_shape_is_one_file_and_one_that_fails_leaves_the_others(tmp_path, monkeypatch):
    """A toy shape in a folder of its own: nothing else is touched."""
    (tmp_path / "of_toys.py").write_text(
        textwrap.dedent('''
        from bayesjudge.cli.shapes import Noted

        def matches(table):
            """Toys."""
            yield Noted("there are toys in it")
            raise ZeroDivisionError("no toy is left")
    ''')
    )
    monkeypatch.setattr(shapes, "__path__", [*shapes.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "bayesjudge.cli.shapes.of_toys", raising=False)
    found = bj.doctor(_judged(human=_labels()))
    assert "there are toys in it" in found.contents
    assert any("of_toys could not look: ZeroDivisionError" in text for text in found.odd)
    assert _lines(found, "prevalence")


@pytest.mark.slow
def test_why_prints_the_reasons_and_a_file_alone_is_doctor_s(tmp_path, capsys):
    path = tmp_path / "t.csv"
    _judged(human=_labels()).to_csv(path, index=False)
    assert main([str(path)]) == 0
    plain = capsys.readouterr().out
    assert main(["doctor", str(path), "--why"]) == 0
    reasoned = capsys.readouterr().out
    reasons = bj.doctor(path).answers[0].reasons
    assert " ".join(reasons[0].split()) in " ".join(reasoned.split())
    assert reasons[0] not in " ".join(plain.split())


@pytest.mark.slow
def test_a_data_frame_is_looked_at_as_its_file_is(tmp_path):
    table = _judged(human=_labels())
    table.to_csv(tmp_path / "table.csv", index=False)
    frame, file = bj.doctor(table), bj.doctor(tmp_path / "table.csv")
    assert [one.line.options for one in frame.answers] == [one.line.options for one in file.answers]
    assert repr(frame).startswith("table.csv ")
    assert all(isinstance(one, Asked) for one in frame.questions)
    people = table[["id", "human"]][table["human"] != ""]
    lines = _lines(bj.doctor(table.drop(columns="human"), people))
    assert [line.command for line in lines] == ["judge", "prevalence", "gate"]
    assert all(line.options["--labels"] == ["labels.csv"] for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(35))
def test_a_messy_table_of_each_world_has_no_wrong_line(number, tmp_path):
    """Seeds of no half of the study (benchmarks/cli/doctor.py), whose bars are 1 % and 80 %."""
    case = messy.WORLDS[number](messy.World(777_000 + number))
    files = case.write(tmp_path)
    found = bj.doctor(*files)
    rights = [*case.main, *case.also]
    for one in found.answers:
        options = {name: [*values] for name, values in one.line.options.items()}
        options |= {"--labels": ["labels"]} if "--labels" in options else {}
        assert one.condition or any(r.suits(one.line.command, options) for r in rights), one
