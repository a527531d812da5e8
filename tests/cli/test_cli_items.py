"""``bayesjudge prevalence --item``: rows that share items."""

import json

import pytest

from bayesjudge.cli import main
from bayesjudge.prevalence import items

ASKED = ("--truth", "truth", "--calibration", "random", "--item", "id", "--no-nuts")


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("items") / "log.csv"
    table = items.simulate(items=80, repeats=3, labelled=30, random_seed=1)
    table = table.rename(columns={"item": "id", "system": "model"})
    table["other"] = items.simulate(items=80, repeats=3, labelled=30, random_seed=2)["verdict"]
    table.to_csv(path, index=False)
    return str(path)


def run(capsys, *arguments):
    code = main([*arguments])
    return code, capsys.readouterr()


def test_each_system_and_the_paired_difference(log, capsys):
    asked = ("prevalence", log, "--verdict", "verdict", *ASKED, "--by", "model")
    code, said = run(capsys, *asked, "--repeats", "system")
    assert code == 0
    assert "80 items, 480 rows, 2 systems" in said.out
    assert "a - b: " in said.out
    assert "design effect" in said.out
    code, said = run(capsys, *asked, "--repeats", "system", "--json")
    document = json.loads(said.out)
    (gap,) = document["differences"]
    made = items.paired_difference(
        items.Items.from_frame(
            items.simulate(items=80, repeats=3, labelled=30, random_seed=1),
            by="system",
            calibration="random",
            repeats="system",
        )
    )
    assert gap["value"] == pytest.approx(made["difference", "a", "b"].value)


def test_what_repeats_must_be_said_in_the_words_of_the_command(log, capsys):
    asked = ("prevalence", log, "--verdict", "verdict", *ASKED)
    for more in ((), ("--by", "model")):
        code, said = run(capsys, *asked, *more)
        assert code == 2
        assert "--repeats system" in said.err
        assert "--repeats judge" in said.err
    code, said = run(capsys, *asked, "--repeats", "system", "--pooling", "full", "--by", "model")
    assert code == 2
    assert "--pooling" in said.err


def test_several_judges_of_several_systems(log, capsys):
    verdicts = ("--verdict", "verdict", "--verdict", "other")
    code, said = run(
        capsys, "prevalence", log, *verdicts, *ASKED, "--by", "model", "--repeats", "system"
    )
    assert code == 0
    assert "other, b" in said.out
    assert "panel" in said.out
