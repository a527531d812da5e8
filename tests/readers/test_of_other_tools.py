"""Tables as other tools write them: heads of two rows, verdicts before outputs, ids as floats."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from commands import run
from refusals import command_refused, refused

import bayesjudge as bj
from bayesjudge.readers import read_log, read_table

RNG = np.random.default_rng(11)
GOOD = RNG.random(80) < 0.7
SAID = np.where(RNG.random(80) < 0.9, GOOD, ~GOOD)
LABELLED = RNG.random(80) < 0.5


def sheet(path, heads, rows):
    from openpyxl import Workbook

    book = Workbook()
    for row in [*heads, *rows]:
        book.active.append(row)
    book.save(path)
    return path


@pytest.mark.parametrize("titles", [[], [["Autumn review"], []]])
@pytest.mark.parametrize("number", ["0.25", 0.25])
def test_names_of_merged_columns_stand_in_the_second_row(titles, number, tmp_path):
    heads = [*titles, ["Ticket", "Grade", None, "Note"], [None, "by LLM", "by people", None]]
    path = sheet(tmp_path / "a.xlsx", heads, [["T1", number, 0.5, "x"], ["T2", 0.75, None, None]])
    read = read_table(path, ["Ticket", "by LLM", "by people", "Note"])
    assert read["by LLM"].to_pylist() == ["0.25", "0.75"]
    assert read["by people"].to_pylist() == ["0.5", None]
    assert read["Note"].to_pylist() == ["x", None]


def test_names_that_repeat_under_two_heads_have_both(tmp_path):
    heads = [["id", "tone", None, "facts", None], [None, "judge", "human", "judge", "human"]]
    path = sheet(tmp_path / "a.xlsx", heads, [["a", 1, 2, 3, 4]])
    names = ["tone judge", "tone human", "facts judge", "facts human"]
    assert [read_table(path, names)[name].to_pylist() for name in names] == [[c] for c in "1234"]


@pytest.mark.parametrize(
    ("head", "row"),
    [
        (["verdict", "truth"], ["pass", "fail"]),
        ([None, "verdict", "truth"], ["q1", "pass", None]),
        (["id", "verdict", "truth"], ["q1", "pass", None]),
        (["id", "verdict", None, "truth"], ["q1", "pass", "noted", "fail"]),
        (["id", "verdict", None, "truth"], [None, "pass", 3, None]),
    ],
)
def test_a_row_of_texts_is_no_second_head(head, row, tmp_path):
    path = sheet(tmp_path / "a.xlsx", [head], [row, row])
    assert len(read_table(path, ["verdict", "truth"])) == 2


@pytest.mark.fast_one_in(4)
@pytest.mark.parametrize("after", [" some text", "\nlines, and [FAIL]", "", " (0.3) text"])
def test_a_verdict_before_an_output_is_read(after, tmp_path):
    verdict = [f"[{'PASS' if said else 'FAIL'}]{after}{i if after else ''}"
               for i, said in enumerate(SAID)]  # fmt: skip
    rows = pd.DataFrame({"[openai:gpt] {{q}}": verdict, "human": GOOD.astype(float)})
    rows.loc[~LABELLED, "human"] = np.nan
    rows.to_csv(tmp_path / "a.csv", index=False, quoting=csv.QUOTE_ALL)
    how = {"verdict": "[openai:gpt] {{q}}", "truth": "human", "calibration": "random"}
    plain = bj.prevalence.Counts.from_frame(rows.assign(**{how["verdict"]: SAID}), **how)
    for table in (rows, read_table(tmp_path / "a.csv", list(rows))):
        found = bj.prevalence.Counts.from_frame(table, **how)
        counted = [
            (c.test_pass, c.correct_n, c.correct_pass, c.incorrect_fail) for c in (found, plain)
        ]
        assert counted[0] == counted[1]
    code, text, _ = run(["doctor", str(tmp_path / "a.csv"), "--json"])
    assert code == 0
    assert [odd for odd in json.loads(text)["odd"] if odd.startswith(how["verdict"])]


@pytest.mark.parametrize("other", ["[PASSED] it", "PASS] it", "[pass] it"])
def test_what_is_no_verdict_before_an_output_is_refused(other):
    rows = pd.DataFrame({"verdict": ["[PASS] a", other, "[FAIL] b"], "truth": [1, 0, 1]})
    with refused(other):
        bj.prevalence.Counts.from_frame(rows, calibration="random")


@pytest.mark.parametrize("name", [lambda i: f"{i}.0", lambda i: f"{i:04d}"])
def test_ids_that_differ_as_numbers_do_not_are_told(name, tmp_path):
    verdicts = pd.DataFrame({"id": range(1, 81), "verdict": SAID.astype(int)})
    labels = pd.DataFrame({"task": [name(i) for i in range(1, 81)], "label": GOOD.astype(int)})
    verdicts.to_json(tmp_path / "run.jsonl", orient="records", lines=True)
    labels.assign(task=labels["task"].mask(labels.index == 0)).to_csv(tmp_path / "l.csv")
    line = ["prevalence", str(tmp_path / "run.jsonl"), "--labels", str(tmp_path / "l.csv")]
    with command_refused(name(2), "2", "id", "task"):
        assert run([*line, "--truth=label", "--item=task", "--calibration=random"])[0] == 2


def test_samples_without_an_id_are_not_all_one(tmp_path):
    samples = [{"sample": {"id": i}, "scores": {"match": {"value": "C"}}} for i in range(3)]
    log = {"status": "success", "eval": {"task": "qa"}, "samples": samples}
    (tmp_path / "log.json").write_text(json.dumps(log))
    with refused(subject=str(tmp_path / "log.json")) as caught:
        read_log(tmp_path / "log.json", "Inspect")
    assert "'id'" in str(caught.value)
