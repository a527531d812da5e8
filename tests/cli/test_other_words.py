"""Tables whose judge and people use words of their own: what a refusal proposes runs."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest

from bayesjudge.cli import main
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
