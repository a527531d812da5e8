"""Which columns hold what people said, and of what."""

import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import in_turn, study_but

from bayesjudge.cli import main
from bayesjudge.core.labels import proposed

#: Who errs how often.
PERSONS = {"judge": 0.2, "mia": 0.08, "tom": 0.08}


@pytest.fixture
def look(tmp_path, monkeypatch, capsys):
    """What doctor says of a table; each line is run."""
    monkeypatch.chdir(tmp_path)

    def call(table, **how):
        table.to_csv("t.csv", index=False, **how)
        assert main(["doctor", "t.csv", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        for one in found["answers"]:
            words = shlex.split(one["command"])[1:]
            instant = [] if words[0] == "gate" else ["--no-nuts"]
            assert main([*words, "--json", *instant]) in ((0, 1, 3) if words[0] == "gate" else (0,))
            capsys.readouterr()
        return found

    return call


def _scores(n=300, k=75, high=5, seed=2, **names):
    """Scores of a judge, and of people on some rows, all of one level."""
    rng = np.random.default_rng(seed)
    level = rng.normal(0.6 * high, 0.2 * high, n)
    some = rng.permutation(n) < k
    table = {"essay": range(n)}
    for name, whole in names.items():
        said = np.clip(np.round(level + rng.normal(0, 0.15 * high, n)), 1, high)
        table[name] = np.where(some | whole, said, np.nan)
    return pd.DataFrame(table)


@pytest.mark.slow
@pytest.mark.parametrize(
    "who", ["teacher", "editor_score", "Manual rating", "expert", "humanScore"]
)
@pytest.mark.parametrize(("judge", "high"), [("autorater", 5), ("score", 10), ("quality", 4)])
def test_people_s_scores_of_some_rows_are_found_by_name(who, judge, high, look):
    found = look(_scores(high=high, **{judge: True, who: False}))
    scale = f"1:{high}" if high != 4 else "1:5"
    line = ["prevalence", "t.csv", "--score", judge, "--scale", scale, "--truth", who]
    line += ["--truth-scale", scale, "--calibration", "random", "--item", "essay"]
    quality, answer = found["answers"]
    assert quality["command"] == shlex.join(["bayesjudge", "judge", *line[1:]])
    assert answer["question"] == "What mean score would people give?"
    assert answer["command"] == shlex.join(["bayesjudge", *line])
    assert found["labelling"] == []


@pytest.mark.slow
def test_scores_of_some_rows_under_any_name_may_be_people_s(look):
    found = look(_scores(autorater=True, second=False))
    quality, answer = found["answers"]
    assert quality["if"] == answer["if"]
    assert answer["question"] == (
        "If second holds people's scores: what mean score would people give?"
    )
    assert "--truth second --truth-scale 1:5" in answer["command"]
    assert any("in 75 of 300" in x for x in found["odd"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        {"autorater": True},
        {"student_score": True, "teacher_score": True},  # models, perhaps
        {"gpt_score": True, "claude_score": False},
    ],
)
def test_where_nobody_is_named_people_are_asked_for_scores(names, look):
    found = look(_scores(**names))
    assert found["answers"] == []
    assert "--truth COLUMN" in found["missing"]["prevalence"]
    assert "--truth-scale 1:5" in found["labelling"][1]


@pytest.mark.slow
def test_a_sheet_for_scores_asks_for_scores(look, capsys):
    look(_scores(autorater=True))
    assert main(["doctor", "t.csv"]) == 0
    screen = " ".join(capsys.readouterr().out.split())
    assert "Fill in its column truth with scores from 1 to 5, then paste:" in screen
    assert "If a column holds them: --truth COLUMN." in screen
    look(_scores(autorater=True).assign(autorater=np.linspace(0, 1, 300)))
    assert main(["doctor", "t.csv"]) == 0
    assert "truth with 1 or 0, then paste:" in " ".join(capsys.readouterr().out.split())


def test_numbers_that_are_not_like_a_judge_s_are_nobody_s_scores(look):
    table = _scores(autorater=True, cost=False)
    table["cost"] = table["cost"] * 117.3
    assert look(table)["answers"] == []


@pytest.mark.slow
def test_scores_of_each_criterion_are_compared_with_people_s_of_it(look):
    names = {"judge_tone": True, "judge_style": True, "human_style": False, "human_tone": False}
    found = look(_scores(**names))
    quality, total, *lines = [one["command"] for one in found["answers"]]
    assert quality.startswith(
        "bayesjudge judge t.csv --score judge_style --scale 1:5 --truth human_style "
        "--truth-scale 1:5 "
    )
    assert total.startswith("bayesjudge rubric t.csv --calibration random --scale 1:5 ")
    assert [line.split(" --calibration")[0] for line in lines] == [
        f"bayesjudge prevalence t.csv --score judge_{what} --scale 1:5 --truth human_{what} "
        "--truth-scale 1:5"
        for what in ("style", "tone")
    ]


@pytest.mark.slow
def test_the_overall_score_is_compared_with_people_s_overall(look):
    found = look(_scores(fluency=True, relevance=True, overall=True, human_overall=False))
    lines = [one["command"] for one in found["answers"]]
    assert [line.split()[1] for line in lines] == ["judge", "prevalence"]
    for line in lines:
        assert "--score overall --scale 1:5 --truth human_overall " in line


def _verdicts(n=300, seed=4, **names):
    rng = np.random.default_rng(seed)
    good, some = rng.random(n) < 0.7, rng.permutation(n) < 80
    words = np.array(["fail", "pass"])
    said = {name: words[np.where(rng.random(n) < 0.85, good, ~good) * 1] for name in names}
    table = {k: np.where(some | names[k], v, "") for k, v in said.items()}
    return pd.DataFrame({"case_id": range(n), **table})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "commands"),
    [
        (("judge_tone", "judge_style", "human_tone", "human_style"),
         ["judge", "rubric", "prevalence", "gate", "prevalence"]),
        (("overall", "safety", "human_overall"), ["judge", "prevalence", "gate"]),
        (("gpt verdict", "claude verdict", "human verdict"),
         ["judge", "panel", "prevalence", "gate"]),
        (("judge_a", "judge_b", "human"), ["judge", "panel", "prevalence", "gate"]),
    ],
)  # fmt: skip
def test_verdicts_on_criteria_are_no_judges(names, commands, look):
    found = look(_verdicts(**{name: not name.startswith("human") for name in names}))
    assert [one["command"].split()[1] for one in found["answers"]] == commands


@pytest.mark.slow
def test_none_is_an_empty_cell_beside_pass_and_fail(look):
    table = _verdicts(judge=True, gold=False)
    found = look(table.replace({"gold": {"": "None"}}))
    assert "--missing-value None --calibration random" in found["answers"][0]["command"]
    assert any("gold: 'None'" in text for text in found["odd"])
    assert not any("gold has a label for every row" in told for told in found["odd"])
    classes = table.replace({name: {"fail": "none", "pass": "minor", "": "major"}
                             for name in ("judge", "gold")})  # fmt: skip
    assert not any("read as an empty cell" in told for told in look(classes)["odd"])


@pytest.mark.parametrize(
    ("words", "good"),
    [(["falsch", "richtig"], "richtig"), (["non", "oui"], "oui"), (["ja", "nein"], "ja"),
     (["no ok", "si"], "si"), (["alpha", "beta"], "alpha")],
)  # fmt: skip
def test_a_pass_in_another_language(words, good):
    assert proposed(words)["pass_value"] == [good]


@pytest.mark.slow
def test_decimal_commas_are_read_where_semicolons_separate(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    table = pd.DataFrame({"case": range(200), "judge": rng.random(200).round(2)})
    table["human"] = (table["judge"] * 0.9).round(2).where(table["case"] % 4 == 0)
    table["again"] = (table["judge"] * 0.95).round(2)
    table.to_csv("point.csv", index=False)
    table.to_csv("comma.csv", index=False, sep=";", decimal=",")
    asked = ["--score", "judge", "--scale", "0-1", "--truth", "human", "--truth-scale", "0-1"]
    other = ["--item", "case", "--score", "judge", "again", "--scale", "0-1", "--design", "item"]
    for line in (["prevalence", *asked, "--calibration", "random"], ["bias", *other]):
        found = []
        for file in ("point.csv", "comma.csv"):
            assert main([line[0], file, *line[1:], "--no-nuts", "--json"]) == 0
            found.append(json.loads(capsys.readouterr().out)["estimates"])
        assert found[0] == found[1]
    assert main(["doctor", "comma.csv", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert "numbers with a decimal comma in judge, human, again" in document["contents"]


# What nobody says of an output ------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("who", ["annotator", "who"])
def test_a_row_a_person_is_read_with_the_people_s_names(look, who):
    rng = np.random.default_rng(4)
    good = rng.random(120) < 0.7
    table = pd.DataFrame(
        {"item": range(120), "judge": np.where(good ^ (rng.random(120) < 0.1), 1, 0)}
    )
    table = table.merge(pd.DataFrame({who: ["ann", "bob", "eve"]}), how="cross")
    wrong = rng.random(len(table)) < 0.08
    table["label"] = np.where(good[table["item"]] ^ wrong, 1, 0)
    table.loc[table["item"] >= 50, "label"] = np.nan
    lines = [answer["options"] for answer in look(table)["answers"]]
    assert any(line.get("--rater") == [who] for line in lines)


N = 240
NAMES = ["Ann", "Bob", "Cy"]
#: Columns under names of people that hold no labels: all their values.
NO_LABELS = {
    "reviewer": NAMES,
    "expert": NAMES[:2],
    "annotated_by": NAMES,
    "Labeler": [f"{name}@example.org" for name in NAMES],
    "human reviewer": NAMES[:2],
    "expert_id": ["1", "2", "3"],
    "annotator id": ["a17", "b23"],
    "human_no": ["1", "2", "3", "4", "5"],
    "label_date": ["2026-09-01", "2026-09-02"],
    "reviewed": ["01.09.2026", "02.09.2026", "03.09.2026"],
    "gold_model": ["gpt-4o", "claude-3"],
    "human_rated_system": ["alpha", "beta"],
    "human_reviewed": ["yes"],
    "label status": ["pass"],
    "expected": ["1"],
}


def _with_no_label(name, *, scored, whole, seed=0):
    """A judge's verdicts or scores, and such a column in all rows or in those that have labels."""
    rng = np.random.default_rng(seed)
    good = rng.random(N) < 0.7
    some = rng.permutation(N) < 80
    right = np.where(rng.random(N) < 0.85, good, ~good)
    said = np.where(right, rng.choice([4, 5], N), rng.choice([1, 2, 3], N))
    table = pd.DataFrame({"case": range(N), "judge": said if scored else np.where(right, "A", "B")})
    other = np.where(some | whole, rng.choice(NO_LABELS[name], N), "")
    return table.assign(**{name: other}), np.where(some, np.where(good, "A", "B"), ""), good, some


@pytest.mark.slow
@pytest.mark.parametrize("scored", [False, True], ids=["verdicts", "scores"])
@pytest.mark.parametrize("name", NO_LABELS)
@pytest.mark.parametrize("turns", study_but([2, 1], 2))
def test_who_when_and_what_made_it_are_no_labels(name, scored, turns, tmp_path):
    """Beside labels such a column hides none, wherever it stands."""
    for whole in in_turn((scored, not scored), NO_LABELS, name, turns):
        table, words, good, some = _with_no_label(name, scored=scored, whole=whole)
        assert not _truths(table, tmp_path) & {name}
        labels = np.where(some, np.where(good, "good", "bad"), "") if scored else words
        columns = ["case", name, "gold", "judge"] if whole else [*table, "gold"]
        assert _truths(table.assign(gold=labels)[columns], tmp_path) == {"gold"}


def _truths(table, folder):
    """Columns that lines of doctor, each of which has been run, take for labels."""
    from bayesjudge.cli.doctor import examine

    table.to_csv(folder / "t.csv", index=False)
    lines = [one.line.words for one in examine(folder / "t.csv").answers]
    return {line[line.index("--truth") + 1] for line in lines if "--truth" in line}


@pytest.mark.slow
@pytest.mark.parametrize("apart", [False, True], ids=["one file", "two files"])
def test_several_people_are_named(apart, tmp_path, monkeypatch):
    """Columns of any names, of which each line takes all; without --truth they are a question."""
    from bayesjudge.cli.doctor import examine

    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(11)
    good = rng.random(300) < 0.6
    words = np.array(["bad", "good"], object)
    said = {n: words[(good ^ (rng.random(300) < e)).astype(int)] for n, e in PERSONS.items()}
    people = pd.DataFrame(
        {n: np.where(rng.random(300) < 0.5, said[n], None) for n in ("mia", "tom")}
    )
    table = pd.DataFrame({"case": [f"c{i}" for i in range(300)], "judge": said["judge"]})
    (table if apart else pd.concat([table, people], axis=1)).to_csv("t.csv", index=False)
    pd.concat([table[["case"]], people], axis=1).dropna(thresh=2).to_csv("l.csv", index=False)
    looked = examine(Path("t.csv"), ["mia", "tom"], Path("l.csv") if apart else None)
    lines = {answer.line.command: answer.line.options["--truth"] for answer in looked.answers
             if "--truth" in answer.line}  # fmt: skip
    assert lines == {command: ["mia", "tom"] for command in ("judge", "prevalence", "gate")}


@pytest.mark.slow
def test_a_reviewer_s_name_is_seldom_taken_for_what_goes_with_verdicts():
    """Under a name that may be that of a label: one draw in a thousand, by Fisher's test."""
    from bayesjudge.cli.shapes.people import labels_first
    from bayesjudge.cli.shapes.table import Column

    rng = np.random.default_rng(5)
    taken = 0
    for _ in range(2000):
        who = Column("human_by", [*rng.choice(NAMES[:2], 60)])
        taken += bool(labels_first([who], [Column("judge", [*rng.choice(["A", "B"], 60)])]))
    assert taken <= 8  # 2 expected at most; 8 or more has probability .001


@pytest.mark.slow
@pytest.mark.parametrize("scored", [False, True], ids=["verdicts", "scores"])
@pytest.mark.parametrize(
    "names",
    [
        ("accuracy_llm", "tone_llm", "accuracy_human", "tone_human"),
        ("llm_accuracy", "llm_tone", "human_accuracy", "human_tone"),
        ("accuracy_llm", "tone_llm", "accuracy_human"),
        ("brevity llm", "wit llm", "wit human"),
        ("gpt_brevity", "gpt_wit", "gpt_charm", "expert_wit"),
        ("brevityJudge", "witJudge", "witHuman", "brevityHuman"),
    ],
)
def test_columns_that_share_a_stem_are_criteria_and_no_jury(names, scored, look):
    people = [n for n in names if "human" in n.lower() or "expert" in n]
    table = (_scores if scored else _verdicts)(**{name: name not in people for name in names})
    lines = [shlex.split(one["command"])[1:] for one in look(table)["answers"]]
    assert not [line for line in lines if line[0] in ("panel", "ratings")]
    asked = [line for line in lines if line[0] == "prevalence"]
    assert {line[line.index("--truth") + 1] for line in asked} == {*people}
    for line in asked:
        judged = line[line.index("--score" if scored else "--verdict") + 1]
        truth = line[line.index("--truth") + 1]
        (stem,) = [w for w in ("accuracy", "tone", "brevity", "wit") if w in truth]
        assert stem in judged
