"""A line that fails ends with the line that was meant, which runs."""

import shlex
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from refusals import command_refused

from bayesjudge.cli import main
from bayesjudge.cli.doctor import examine

RANDOM = ["--calibration", "random"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables whose columns have other names than the options' defaults."""
    made, rng = tmp_path_factory.mktemp("mending"), np.random.default_rng(4)
    good = rng.random(240) < 0.6
    said = {
        name: np.where(rng.random(240) < right, good, ~good)
        for name, right in (("claude", 0.9), ("gemini", 0.85), ("llama", 0.75))
    }
    words = np.array(["no", "yes"])
    votes = pd.DataFrame({"prompt_id": np.arange(240) // 2, "model": ["v1", "v2"] * 120})
    votes = votes.assign(**{name: words[own * 1] for name, own in said.items()})
    votes["expert"] = np.where(rng.random(240) < 0.3, words[good * 1], "")
    votes.to_csv(made / "votes.csv", index=False)
    marks = np.array(["incorrect", "correct"])
    tickets = pd.DataFrame({"ticket": np.arange(240), "llm_verdict": marks[said["claude"] * 1]})
    tickets["annotator"] = np.where(rng.random(240) < 0.3, marks[good * 1], "n/a")
    tickets.to_csv(made / "tickets.csv", index=False)
    level = rng.normal(0.6, 0.1, 60)
    typos = pd.DataFrame({"doc": range(60), "score_before": level.round(2)})
    typos.assign(score_after=(level + rng.normal(0, 0.03, 60)).round(2)).to_csv(
        made / "typos.csv", index=False
    )
    long = typos.assign(score_after=level.round(2)).melt("doc", None, "version", "score")
    long.to_csv(made / "long.csv", index=False)
    runs = pd.DataFrame({"sample": np.repeat(range(20), 4), "attempt": [1, 2, 3, 4] * 20})
    runs.assign(rating=rng.integers(1, 6, 80)).to_csv(made / "runs.csv", index=False)
    return made


LINES = {
    "panel votes.csv --judges claude --judges gemini --judges llama --truth expert --calibration "
    "random": "panel votes.csv --judges claude gemini llama --truth expert --item prompt_id "
    "--generator model --calibration random",
    "panel votes.csv --item item --generator generator --judges gpt claude llama --truth human "
    "--calibration random": "panel votes.csv --judges claude gemini llama --truth expert --item "
    "prompt_id --generator model --calibration random",
    "prevalence tickets.csv --verdict llm_verdict --truth annotator --calibration random":
    "prevalence tickets.csv --verdict llm_verdict --truth annotator --calibration random "
    "--missing-value n/a",
    "prevalence tickets.csv --verdict verdict --truth human --calibration separate":
    "prevalence tickets.csv --verdict llm_verdict --truth annotator --missing-value n/a "
    "--calibration separate --item ticket",
    "gate tickets.csv --truth human --calibration random --at-least 0.5":
    "gate tickets.csv --verdict llm_verdict --truth annotator --missing-value n/a --calibration "
    "random --item ticket --at-least 0.5",
    "bias typos.csv --item doc --variant variant --baseline baseline --scale 0-1 --design batch":
    "bias typos.csv --item doc --score score_before score_after --scale 0-1 --design batch",
    "bias long.csv --item doc --variant version --baseline baseline --scale 0-1 --design item":
    "bias long.csv --item doc --variant version --score score --baseline score_before --scale 0-1 "
    "--design item",
    "repeats report runs.csv --item item --score score --scale 0-5 --half-width 0.5":
    "repeats report runs.csv --score rating --item sample --order attempt --scale 0-5 "
    "--half-width 0.5",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("line", LINES)
def test_the_line_that_was_meant_is_told_and_runs(line, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert main(shlex.split(line)) == 2
    told = capsys.readouterr().err.splitlines()[-1]
    assert told == f"  bayesjudge {LINES[line]}"
    gate = line.startswith("gate")
    code = main([*shlex.split(told)[1:], *["--no-nuts"] * (not gate)])
    assert code in ((0, 1, 3) if gate else (0,))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "prevalence tickets.csv --verdict verdict --truth annotator",
            "runs, if labels were chosen so (random);",
        ),
        ("repeats report runs.csv --item item --order when --score rating --scale 1-5", "  bayes"),
    ],
)
def test_what_a_line_guesses_is_told(line, words, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert main(shlex.split(line)) == 2
    assert words in capsys.readouterr().err


@pytest.mark.fast_named(
    "prevalence tickets.csv --verdict llm_verdict --truth annotator --calibration never"
)
@pytest.mark.parametrize(
    "line",
    [
        # how labels were chosen is asked, and no line answers it
        "prevalence tickets.csv --verdict llm_verdict --truth annotator --missing-value n/a",
        # the file cannot answer this
        "ratings typos.csv --positive good --judge gpt",
        "panel typos.csv --judges a b --truth c --calibration random",
        # nothing of the file is wrong
        "prevalence tickets.csv --verdict llm_verdict --truth annotator --calibration never",
        "prevalence nothing.csv --verdict verdict --truth human --calibration random",
    ],
)
def test_no_line_is_told_where_none_is_meant(line, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert main(shlex.split(line)) == 2
    assert "This line runs" not in capsys.readouterr().err


@pytest.mark.slow
def test_the_condition_told_is_that_of_the_line_that_runs(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)

    def with_one_that_fails(*file):
        seen = examine(*file)
        (right,) = (a for a in seen.answers if a.line.command == "prevalence")
        wrong = right.line.plus({"--verdict": ["nosuch"]})
        seen.answers = [replace(right, line=wrong, condition="If pigs fly"), right]
        return seen

    monkeypatch.setattr("bayesjudge.cli.doctor.examine", with_one_that_fails)
    line = "prevalence tickets.csv --verdict verdict --truth annotator --calibration random"
    assert main(shlex.split(line)) == 2
    told = capsys.readouterr().err
    assert "This line runs" in told
    assert "pigs" not in told


@pytest.mark.slow
def test_a_scale_that_scores_are_off_is_told_as_another(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    line = "repeats report runs.csv --item item --score score --scale 1-3 --half-width 0.5"
    assert main(shlex.split(line)) == 2
    told, line = capsys.readouterr().err.splitlines()[-2:]
    assert told.startswith("This line runs, with another --scale; ")
    assert line.endswith("--order attempt --scale 1-5 --half-width 0.5")


@pytest.mark.slow
def test_what_is_left_out_of_a_line_is_told(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    pd.read_csv("votes.csv").drop(columns="expert").to_csv("none.csv", index=False)
    asked = ["--judges", "gpt", "claude", "--truth", "human", *RANDOM]
    assert main(["panel", "none.csv", *asked]) == 2
    assert "This line runs, without --truth; bayesjudge doctor none.csv" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        "panel votes.csv --item prompt_id {} model --judges claude gemini llama --truth expert "
        "--calibration random --no-nuts",
        "prevalence votes.csv --item prompt_id {} model --verdict claude --truth expert "
        "--calibration random --no-nuts",
        "gate votes.csv --item prompt_id {} model --verdict claude --truth expert "
        "--calibration random --at-least 0.5",
    ],
)
def test_systems_are_named_by_either_option(line, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    told = []
    for option in ("--by", "--generator"):
        assert main([*shlex.split(line.format(option)), "--json"]) in (0, 1, 3)
        told.append(capsys.readouterr().out.replace("--generator", "--by"))
    assert told[0] == told[1]


@pytest.mark.fast_one_in(2)
@pytest.mark.parametrize(
    ("command", "said", "meant"),
    [
        ("panel", "--models", "--generator"),
        ("panel", "--verdicts", "--judges"),
        ("bias", "--versions", "--variant"),
        ("bias", "--unparsed", "--missing"),
        ("bias", "--before", "--baseline"),
        ("prevalence", "--missing", "--unparsed"),
        ("gate", "--baseline", "--against"),
        ("ratings", "--truth", "--people"),
        ("ratings", "--vote", "--choice"),
        ("repeats report", "--width", "--half-width"),
        ("panel", "--half-width", "--width"),
    ],
)
def test_an_option_of_another_command_is_recognised(command, said, meant, capsys):
    needed = {"bias": ["--scale", "0-1", "--design", "item"], "gate": RANDOM}
    assert main([*command.split(), "t.csv", *needed.get(command, []), said, "x"]) == 2
    assert f"{said}. Did you mean {meant}" in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
@pytest.mark.parametrize(("words", "several"), [(["n/a"], False), (["so", "so so", "meh"], True)])
def test_classes_are_told_of_if_words_may_be_some(words, several, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    table = pd.read_csv("tickets.csv", keep_default_na=False)
    table["annotator"] = [words[i % len(words)] if i % 2 else "" for i in range(len(table))]
    table.loc[::4, "annotator"] = "correct"
    table.to_csv("classes.csv", index=False)
    asked = ["--verdict", "llm_verdict", "--truth", "annotator", *RANDOM]
    with command_refused(id="perhaps-classes" if several else None):
        assert main(["prevalence", "classes.csv", *asked]) == 2
    assert ("--classes A B" in capsys.readouterr().err) == several
