"""Tables whose judge and people use words of their own: what a refusal proposes runs."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest

from bayesjudge.cli import main
from bayesjudge.cli.shapes import NEEDS
from bayesjudge.core.labels import proposed

#: The judge's pass and fail, and people's.
PAIRS = [
    (("bestanden", "nicht bestanden"), ("gut", "schlecht")),
    (("OK", "KO"), ("ja", "nein")),
    (("1", "0"), ("true", "false")),
    (("oui", "non"), ("合格", "不合格")),
    (("gut", "schlecht"), ("gut", "mangelhaft")),
]


def rows(judge, people=None, names=("Mensch1",), n=400, right=0.85, seed=4):
    """Verdicts of two systems, a quarter of which people labelled, in their words."""
    rng = np.random.default_rng(seed)
    good, labelled = rng.random(n) < 0.6, rng.permutation(n) < n // 4

    def said(words, right):
        return np.where(np.where(rng.random(n) < right, good, ~good), *words)

    cells = {name: np.where(labelled, said(people or judge, 0.94), "") for name in names}
    return pd.DataFrame({"Nr": range(n), "Art": rng.choice(["Nord", "Süd"], n),
                         "Urteil": said(judge, right), **cells})  # fmt: skip


def run(capsys, *words):
    """The exit code of a command, and what it wrote."""
    code = main([*words])
    done = capsys.readouterr()
    return code, done.out, done.err


@pytest.mark.slow
@pytest.mark.parametrize("names", [("Mensch1",), ("Mensch1", "Mensch2")])
@pytest.mark.parametrize(("judge", "people"), PAIRS)
def test_what_a_refusal_proposes_runs(tmp_path, capsys, judge, people, names):
    path = str(tmp_path / "t.csv")
    rows(judge, people, names).to_csv(path, index=False)
    line = ["judge", path, "--verdict", "Urteil", "--truth", *names, "--calibration", "random"]
    code, out, message = run(capsys, *line, "--json")
    if code:
        proposal = message.split("for example ")[1].split("; move")[0]
        code, out, message = run(capsys, *line, "--json", *shlex.split(proposal))
    assert code == 0, message
    (accuracy,) = (q for q in json.loads(out)["estimates"] if q["quantity"] == "accuracy")
    assert 0.75 < accuracy["value"] < 0.95


def test_words_are_proposed_by_the_columns_that_share_them():
    columns = [["gut", "schlecht"], ["bestanden", "nicht bestanden"], ["schlecht", "gut", "yes"]]
    words = ["bestanden", "gut", "nicht bestanden", "schlecht"]
    meant = {"pass_value": words[:2], "fail_value": words[2:]}
    assert proposed(words, columns) == meant
    assert proposed(["half", "maybe"], [["half", "yes", "no"], ["maybe", "yes", "no"]]) == {
        "fail_value": ["half", "maybe"]
    }


@pytest.mark.slow
def test_a_person_whose_labels_are_the_truth_is_one_of_several(tmp_path, capsys):
    path, listed = str(tmp_path / "t.csv"), str(tmp_path / "read.csv")
    rows(("pass", "fail"), names=("a", "b")).to_csv(path, index=False)
    line = ["judge", path, "--verdict", "Urteil", "--truth", "a", "--calibration", "random"]
    line += ["--disagreements", listed, "--people"]
    code, _, message = run(capsys, *line, "a", "b")
    assert code == 0, message
    assert len(pd.read_csv(listed)) > 5
    code, _, message = run(capsys, *line, "b")
    assert code == 2
    assert "['b']" in message
    assert "--truth" in message


@pytest.mark.slow
def test_a_file_that_is_not_there_is_no_unknown_command(tmp_path, capsys):
    for name in ("nosuch.csv", "nosuch.db::table", str(tmp_path / "nosuch"), "nosuch.eval"):
        code, _, message = run(capsys, name)
        assert code == 2
        assert name.partition("::")[0] in message
        assert "command" not in message
    rows(("ja", "nein")).to_csv(tmp_path / "t.csv", index=False)
    line = ["judge", str(tmp_path / "t.csv"), "--verdict", "Urteil", "--truth", "Mensch1"]
    _, _, message = run(capsys, *line, "--calibration", "random")
    assert message.startswith("bayesjudge: t.csv:")


@pytest.mark.slow
@pytest.mark.parametrize("item", ["Nr", "output_id"])
@pytest.mark.parametrize("system", ["system", "model"])
def test_a_pilot_of_systems_that_share_no_item(tmp_path, capsys, system, item):
    path = str(tmp_path / "t.csv")
    table = rows(("pass", "fail")).rename(columns={"Art": system, "Nr": item})
    table.loc[table.index[:9], "Urteil"] = "n/a"
    table.to_csv(path, index=False)
    line = ["plan", "--pilot", path, "--judge", "Urteil", "--truth", "Mensch1", "--width", "0.1"]
    line += ["--price", "label=1", "call=0.01", "--json"]
    code, _, message = run(capsys, *line)
    assert code == 2
    assert "--missing-value n/a" in message
    assert "=[" not in message
    line += ["--missing-value", "n/a"]
    code, out, message = run(capsys, *line)
    assert code == 0, message
    labelled = int((table["Mensch1"] != "")[9:].sum())
    assert json.loads(out)["inputs"]["labelled"] == labelled
    code, _, message = run(capsys, *line, "--by", system, "--item", item)
    assert code == 2
    assert all(name in message for name in (system, item, "Nord", "Süd", "--by"))
    # of systems that answered the same items, the difference is planned for, unless it is not
    shared = pd.concat([table.assign(**{system: name}) for name in ("Nord", "Süd")])
    shared.to_csv(path, index=False)
    for more, count in ((["--item", item], labelled), (["--by", "none"], 2 * labelled)):
        _, out, _ = run(capsys, *line, *more)
        assert json.loads(out)["inputs"]["labelled"] == count


def test_a_pilot_of_numbers_that_mean_pass_and_fail(tmp_path, capsys):
    path = str(tmp_path / "t.csv")
    rows(("3", "2")).to_csv(path, index=False)
    line = ["plan", "--pilot", path, "--judge", "Urteil", "--truth", "Mensch1", "--width", "0.1"]
    line += ["--price", "label=1", "call=0.01", "--pass-value", "3", "--json"]
    code, out, message = run(capsys, *line)
    assert code == 0, message
    scaled = json.loads(out)["rows"]
    rows(("1", "0")).to_csv(path, index=False)
    code, out, message = run(capsys, *line[:-3], "--json")
    assert scaled == json.loads(out)["rows"]
    code, _, message = run(capsys, *line, "--scores")
    assert code == 2
    assert "--pass-value" in message


# What doctor proposes -----------------------------------------------------------------------------


@pytest.fixture
def look(tmp_path, monkeypatch, capsys):
    """What doctor says of a table in a file; each line is run, and answers with what it says."""
    monkeypatch.chdir(tmp_path)
    write = {"csv": "to_csv", "xlsx": "to_excel", "parquet": "to_parquet"}

    def call(table, ending="csv", *options):
        path = f"t.{ending}"
        if ending == "jsonl":
            table.to_json(path, orient="records", lines=True)
        else:
            getattr(table, write[ending])(path, index=False)
        code, out, message = run(capsys, "doctor", path, "--json", *options)
        assert code == 0, message
        found = json.loads(out)
        for answer in found["answers"]:
            words = shlex.split(answer["command"])[1:]
            instant = [] if words[0] == "gate" else ["--no-nuts"]
            code, out, message = run(capsys, *words, "--json", *instant)
            assert code in ((0, 1, 3) if words[0] == "gate" else (0,)), (words, message)
            answer["said"] = json.loads(out)
        return found

    return call


def _of(found, command):
    """The answers of one command, and what their lines are under."""
    begins = f"bayesjudge {command} "
    return [answer for answer in found["answers"] if answer["command"].startswith(begins)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("judge", "people", "names", "ending"),
    [
        (*PAIRS[0], ("Mensch1", "Mensch2"), "xlsx"),
        (*PAIRS[0], ("Mensch1",), "jsonl"),
        (*PAIRS[1], ("Mensch1",), "parquet"),
        (*PAIRS[3], ("human_1", "human_2"), "csv"),
        (*PAIRS[4], ("expert",), "xlsx"),
    ],
)
def test_words_that_nobody_shares_are_a_question_with_its_options(
    judge, people, names, ending, look
):
    found = look(rows(judge, people, names), ending)
    (question,) = (q for q in found["questions"] if "Urteil" in q["columns"])
    assert all(word in question["text"] for word in (*judge, *people))
    assert all("--classes" not in answer["options"] for answer in found["answers"])
    first = _of(found, "judge")[0]
    assert all(answer["if"] for answer in found["answers"])
    assert _of(found, "gate")
    assert len(names) < 2 or found["missing"]["ratings"] != NEEDS["ratings"]
    assert first["options"]["--truth"] == [*names]
    assert first["options"]["--pass-value"] == [*dict.fromkeys((judge[0], people[0]))]
    assert first["options"]["--fail-value"] == [*dict.fromkeys((judge[1], people[1]))]
    (accuracy,) = (q for q in first["said"]["estimates"] if q["quantity"] == "accuracy")
    assert 0.75 < accuracy["value"] < 0.95


@pytest.mark.slow
def test_words_of_several_judges_are_asked_once(look):
    table = rows(("OK", "KO"), ("ja", "nein"), ["human"])
    table["claude"] = rows(("OK", "KO"), seed=5, right=0.8)["Urteil"]
    found = look(table.rename(columns={"Urteil": "gpt"}))
    assert len(found["questions"]) == 1
    assert all(answer["if"] for answer in found["answers"])
    for command, option in (("judge", "--verdict"), ("panel", "--judges")):
        options = _of(found, command)[0]["options"]
        assert options[option] == ["gpt", "claude"]
        assert options["--pass-value"] == ["OK", "ja"]


@pytest.mark.slow
def test_the_same_words_in_another_case_are_the_same_words(look):
    """Beside names of those who labelled, which name no judge."""
    table = rows(("OK", "KO"), ("ok", "ko"), ["our_label"])
    table["annotator"] = np.where(table["our_label"] == "", "", np.resize(["Eva", "Jo"], 400))
    found = look(table)
    (note,) = (note for note in found["odd"] if "neither pass nor fail" in note)
    assert {"ok", "ko"}.isdisjoint(note.replace(",", " ").split())
    for command in ("judge", "prevalence", "gate"):
        options = _of(found, command)[0]["options"]
        assert options["--pass-value"] == ["OK"]
        assert options["--fail-value"] == ["KO"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("judge", "people"),
    [(("PASS", "FAIL"), ("ja", "nein")), (("1", "0"), ("合格", "不合格")),
     (("hund", "katze"), ("yes", "no")), (("katze", "hund"), ("good", "bad"))],
)  # fmt: skip
def test_words_that_go_with_pass_and_fail_are_read_as_they_go(judge, people, look):
    found = look(rows(judge, people))
    first = _of(found, "judge")[0]
    assert not first.get("if")
    words = judge if judge[0] in ("hund", "katze") else people
    assert first["options"]["--pass-value"] == [words[0]]
    assert first["options"]["--fail-value"] == [words[1]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("people", "right"),
    [
        (("ja", "nein"), 0.5),  # nothing says what goes with what
        (("nein", "ja"), 0.85),  # of an error, say: what the words say is not what they go with
        (("hund", "katze"), 0.5),
    ],
)
def test_words_that_go_with_nothing_or_against_what_they_say_are_asked(people, right, look):
    found = look(rows(("pass", "fail"), people, ["human"], right=right), "csv", "--truth", "human")
    assert all(answer.get("if") for answer in found["answers"])
    assert any("human" in question["columns"] for question in found["questions"])


@pytest.mark.slow
def test_three_words_beside_two_others_are_asked_with_blanks(look):
    table = rows(("pass", "fail"), ("x", "y"), ["human"]).replace({"fail": "half", "pass": "all"})
    table.loc[::7, "Urteil"] = "none at all"
    found = look(table, "csv", "--truth", "human")
    assert not found["answers"]
    (question,) = found["questions"]
    assert "--pass-value WORDS --fail-value WORDS" in question["text"]


def _prompts(names):
    """Verdicts of several prompts on the same outputs, some of which people labelled."""
    rng, people = np.random.default_rng(8), rows(("good", "bad"))
    good = people["Urteil"].to_numpy() == "good"
    said = {name: np.where(rng.random(400) < 0.85, good, ~good) for name in names}
    verdicts = {name: np.where(passed, "pass", "fail") for name, passed in said.items()}
    return pd.DataFrame({"id": range(400), **verdicts, "human": people["Mensch1"]})


@pytest.mark.slow
@pytest.mark.parametrize(
    "names", [("prompt_v1", "prompt_v2"), ("wording A", "wording B", "wording C")]
)
def test_prompts_side_by_side_are_judges_to_compare(names, look):
    found = look(_prompts(names))
    assert not _of(found, "repeats")
    first = _of(found, "judge")[0]
    assert first["options"]["--verdict"] == [*names]
    assert "judges" in first["said"]


@pytest.mark.slow
def test_verdicts_whose_names_differ_are_asked_with_the_line_that_compares_them(look, capsys):
    found = look(_prompts(["Frage kurz", "Frage lang"]))
    (question,) = found["questions"]
    line = question["text"].split("prompts: bayesjudge ")[1]
    code, _, message = run(capsys, *shlex.split(line), "--json")
    assert code == 0, message
    assert not found["answers"]


@pytest.mark.slow
def test_probabilities_are_asked_from_where_on_they_can_be_trusted(look):
    rng = np.random.default_rng(2)
    p = rng.random(400).round(3)
    label = np.where(rng.permutation(400) < 120, (rng.random(400) < p).astype(int).astype(str), "")
    whole, trusted = _of(look(pd.DataFrame({"id": range(400), "p": p, "human": label})), "judge")
    assert "--trust" not in whole["options"]
    assert trusted["options"] == {**whole["options"], "--trust": []}
    assert "trust" in trusted["said"]


@pytest.mark.slow
@pytest.mark.parametrize("shared", [False, True])
def test_all_systems_are_answered_before_each(shared, look):
    rng = np.random.default_rng(5)
    table = rows(("pass", "fail"), names=["human"]).rename(columns={"Art": "system", "Nr": "item"})
    if shared:
        table = table.assign(item=np.arange(400) // 2, system=np.tile(["a", "b"], 200))
    whole, each = _of(look(table), "judge")
    assert "--by" not in whole["options"]
    assert whole["options"].get("--repeats") == (["system"] if shared else None)
    assert each["options"]["--by"] == ["system"]
    assert any("measure" in note for note in whole["said"]["answer"]["notes"])
    fewer = (table["system"] == table["system"][0]) & (rng.random(400) < 0.7)
    table.loc[fewer, "human"] = ""  # no random sample of all
    (each,) = _of(look(table), "judge")
    assert "--by" in each["options"]
