"""The commands of the README, on tables as people have them: right at the first try."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from readers import logs

from bayesjudge.cli import main
from bayesjudge.cli.explain import meaning

README = (Path(__file__).parents[2] / "README.md").read_text()
LINES = README.split("```bash\n")[1].split("```")[0].splitlines()
COMMANDS = [line for line in LINES if line.startswith("bayesjudge ")]
(GATE,) = (command for command in COMMANDS if command.startswith("bayesjudge gate "))
COMMANDS.remove(GATE)
#: What the opening of a screen may say without a word about it: each is a word of the glossary.
TERMS = ("interval", "Bayesian (exact)", "Difference (PPI++)", "Truth given votes", "RMS shift",
         "Variance parts", "Calls by components of variance", "Judge's pass rate", "Rogan-Gladen",
         "Human labels only")  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables in the words of people: PASS and FAIL, names of items, no code."""
    made, rng = tmp_path_factory.mktemp("first"), np.random.default_rng(3)
    good = rng.random(400) < 0.7
    words = np.array(["FAIL", "PASS"])

    def judged(truth, right=0.85):
        return np.where(rng.random(len(truth)) < right, truth, ~truth)

    def some(values, n=80):
        return np.where(np.arange(len(values)) < n, values, "")

    order = rng.permutation(400)
    labels = pd.DataFrame({"verdict": words[judged(good) * 1], "human": some(words[good * 1])})
    labels.iloc[order].to_csv(made / "labels.csv", index=False)
    log = [
        pd.DataFrame(
            {
                "item": [f"question {i}" for i in range(200)],
                "system": name,
                "verdict": words[judged(own) * 1],
                "human": some(words[own * 1], 60),
            }
        )
        for name, own in (("old prompt", good[:200]), ("new prompt", good[200:]))
    ]
    pd.concat(log).to_csv(made / "log.csv", index=False)
    logs.write_two_providers(made / "run.json", lambda i: None)
    sheet = [(i, who) for i in range(0, 40, 2) for who in ("openai:small", "other:large")]
    people = pd.DataFrame(sheet, columns=["test", "provider"])
    people.assign(human=np.where(rng.random(40) < 0.7, "yes", "no")).to_csv(
        made / "people.csv", index=False
    )
    people = rng.integers(1, 6, 300)
    judge = np.clip(people + rng.integers(-1, 2, 300), 1, 5)
    pd.DataFrame({"judge": judge, "human": some(people.astype(str))}).to_csv(
        made / "scores.csv", index=False
    )
    votes = {name: words[judged(good) * 1] for name in ("gpt", "claude", "llama")}
    pd.DataFrame(
        {"item": range(400), "generator": ["a", "b"] * 200, **votes,
         "human": some(words[good * 1], 120)}
    ).to_csv(made / "votes.csv", index=False)  # fmt: skip
    items = np.repeat(np.arange(20), 8)
    scores = np.clip(items % 5 + 1 + rng.integers(-1, 2, 160), 1, 5)
    pd.DataFrame({"item": items, "score": scores}).to_csv(made / "repeats.csv", index=False)
    before = rng.integers(2, 5, 60)
    after = np.clip(before + rng.integers(-1, 2, 60), 1, 5)
    pd.concat(
        pd.DataFrame({"item": range(60), "variant": name, "score": values})
        for name, values in (("baseline", before), ("markdown", after))
    ).to_csv(made / "changed.csv", index=False)
    names, said = ("new", "old"), ("A", "B", "A", "tie", "A")
    shown = [(f"p{i}", names[k], names[1 - k]) for i in range(80) for k in (0, 1)]
    duels = pd.DataFrame(shown, columns=["prompt", "answer_A", "answer_B"])
    duels.assign(says=rng.choice(said, 160)).to_csv(made / "duels.csv", index=False)
    unsafe = rng.random(80) < 0.4
    people = {f"person {i}": judged(unsafe, 0.9) for i in range(3)}
    answers = people | {"gpt": judged(unsafe), "claude": judged(unsafe, 0.75)}
    pd.concat(
        pd.DataFrame({"item": range(80), "rater": name, "choice": np.where(said, "unsafe", "safe")})
        for name, said in answers.items()
    ).to_csv(made / "answers.csv", index=False)
    grades = {}
    for name in ("accurate", "rude"):
        met = rng.random(200) < 0.6
        grades[f"judge_{name}"] = words[judged(met) * 1]
        grades[f"human_{name}"] = some(words[met * 1], 60)
    pd.DataFrame({"item": range(200), **grades}).to_csv(made / "graded.csv", index=False)
    return made


def test_each_question_has_its_command():
    assert len(COMMANDS) == 10
    assert [line[0] for line in LINES] == ["#", "b"] * 11


@pytest.mark.slow
def test_first_try_of_the_gate(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert main(shlex.split(GATE)[1:]) == 1
    assert capsys.readouterr().out.startswith(
        "FAIL: the share of good outputs is below 0.9: estimate 0."
    )


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_first_try(command, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert main([*shlex.split(command)[1:], "--no-nuts"]) == 0
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert len(lines) <= 40
    assert re.search(r"\d", lines[0])  # the number is in the first line
    assert "95 % interval" in " ".join(lines[:2])
    # each method that the screen names is explained, and the screen says how
    named = [line[2:].split("  ")[0] for line in lines if line.startswith(("> ", "  "))]
    quoted = re.search(r"^Quoted: ([^,:]+(?:, [a-z ]+(?=,))?)", said.out, re.MULTILINE)
    assert quoted
    assert meaning(quoted[1]) is not None, quoted[1]
    assert named
    assert "bayesjudge explain TERM" in " ".join(said.out.split())
    for term in TERMS:
        assert meaning(term) is not None, term


@pytest.mark.slow
def test_a_value_that_begins_with_a_minus_is_told_tied_to_its_option(tmp_path, capsys):
    table = pd.DataFrame({"verdict": [1, 0] * 10, "truth": ["1", "-"] * 10})
    table.to_csv(tmp_path / "seen.csv", index=False)
    asked = ["prevalence", str(tmp_path / "seen.csv"), "--verdict", "verdict", "--truth", "truth"]
    assert main([*asked, "--calibration", "random"]) == 2
    assert "for example --missing-value=-;" in capsys.readouterr().err
