"""``bayesjudge judge``: the first command answers "is this judge good enough?" on five tables."""

import json

import numpy as np
import pandas as pd
import pytest

from bayesjudge.cli import main
from bayesjudge.datasets import keep_labels, xstest
from bayesjudge.prevalence import classes, scores

LABELS = ("--truth", "truth", "--calibration", "random")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables of each kind."""
    made = tmp_path_factory.mktemp("judge")
    table = keep_labels(xstest(), 100, 2024, by="system")
    table.to_csv(made / "systems.csv", index=False)
    table[table["system"] == "llama2new"].to_csv(made / "one.csv", index=False)
    scores.simulate(random_seed=1, shape="bimodal", noise=0.3).to_csv(made / "p.csv", index=False)
    scores.simulate(random_seed=1, numeric=True).to_csv(made / "grades.csv", index=False)
    classes.simulate(random_seed=1).to_csv(made / "classes.csv", index=False)
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 300)
    judged = {f"v{i}": np.where(rng.random(300) < a, truth, 1 - truth)
              for i, a in ((1, 0.75), (2, 0.95))}  # fmt: skip
    told = np.where(np.arange(300) < 150, truth, np.nan)
    shown = np.arange(300) % 10 == 0
    pd.DataFrame({**judged, "truth": told, "shown": shown, "text": "a"}).to_csv(
        made / "prompts.csv", index=False
    )
    return made


def run(capsys, folder, name, *more):
    """The command's JSON."""
    main(["judge", str(folder / name), *LABELS, *more, "--json"])
    return json.loads(capsys.readouterr().out)


def test_pass_and_fail(capsys, folder, tmp_path):
    listed = tmp_path / "read.csv"
    found = run(capsys, folder, "one.csv", "--disagreements", str(listed))
    assert found["answer"]["text"] == (
        "This judge is worth 43 labels on top of your 100: it passes 100 % of what people pass "
        "and 38 % of the rest."
    )
    assert len(found["answer"]["text"].split()) <= 25
    assert found["answer"]["worth"][0]["labels"] == 100
    quantities = {one["quantity"]: one["value"] for one in found["answer"]["estimates"]}
    table = pd.read_csv(folder / "one.csv").dropna()
    agreed = (table["verdict"] == table["truth"]).mean()
    assert quantities["accuracy"] == pytest.approx(agreed, abs=1e-3)
    rows = pd.read_csv(listed)
    assert len(rows) == round((1 - agreed) * len(table))
    assert rows["judge_wrong"].is_monotonic_decreasing


@pytest.mark.parametrize(
    ("name", "more", "words"),
    [
        ("grades.csv", ["--score", "score", "--scale", "0:1", "--truth-scale", "1:5"],
         "correlates 0.46 with people"),
        ("classes.csv", ["--verdict", "verdict", "--classes", "a", "b", "c"], "the class people"),
        ("systems.csv", ["--verdict", "verdict", "--by", "system", "--unparsed", "fail"],
         "of the outputs of gpt4"),
        ("prompts.csv", ["--verdict", "v1", "v2"], "v2 is better than v1 with probability >.999"),
    ],
)  # fmt: skip
def test_other_tables_answer_too(capsys, folder, name, more, words):
    found = run(capsys, folder, name, *more)
    assert words in found["answer"]["text"]
    assert found["answer"]["known"]


def test_trust_has_thresholds_and_tuned_labels_are_left_out(capsys, folder):
    found = run(capsys, folder, "p.csv", "--score", "score", "--scale", "0:1", "--trust",
                "--wrong", "0.15")  # fmt: skip
    cuts = {one["quantity"]: one["value"] for one in found["trust"]}
    assert cuts["fail_to"] < cuts["best_cut"] < cuts["pass_from"]
    tuned = run(capsys, folder, "prompts.csv", "--verdict", "v1", "--tuned-on", "shown")
    assert [(c["id"], c["numbers"]["labels"]) for c in tuned["cautions"]] == [("tuned-labels", 15)]
    assert tuned["inputs"]["labelled"] == 135


def test_what_is_asked_wrongly_is_refused(capsys, folder):
    assert main(["judge", str(folder / "one.csv"), "--truth", "truth"]) == 2
    assert "how were the items that people labelled chosen?" in capsys.readouterr().err
    assert main(["judge", str(folder / "one.csv"), *LABELS, "--verdict", "verdict", "--trust"]) == 2
    assert "--trust takes --score" in capsys.readouterr().err


def test_tuned_labels_are_left_out_of_shares_and_gates_too(capsys, folder):
    how = [str(folder / "prompts.csv"), *LABELS, "--verdict", "v2", "--tuned-on", "shown", "--json"]
    main(["prevalence", *how])
    found = json.loads(capsys.readouterr().out)
    assert found["inputs"]["labelled"] == 135
    assert "tuned-labels" in {c["id"] for c in found["cautions"]}
    assert main(["gate", *how[:-1], "--at-least", "0.2"]) == 0
    assert "15 labels were left out" in capsys.readouterr().out


def test_a_card_is_made_shown_and_decides(capsys, folder, tmp_path):
    card = tmp_path / "card.json"
    one = [str(folder / "one.csv"), *LABELS]
    assert main(["judge", *one, "--card", str(card), "--name", "gpt-4", "--quiet"]) == 0
    page, badge = tmp_path / "card.html", tmp_path / "badge.svg"
    main(["passport", "show", str(card), "--html", str(page), "--badge", str(badge)])
    out = capsys.readouterr().out
    assert "worth on top of these labels: 43 more labels" in out
    assert "worth 43 labels on top of 100" in badge.read_text()
    assert "43 more labels" in page.read_text()
    plain, with_card = (
        [*one, "--at-least", "0.33"],
        [*one, "--at-least", "0.33", "--card", str(card)],
    )
    limits = []
    for words in (plain, with_card):
        main(["gate", *words, "--json"])
        (check,) = json.loads(capsys.readouterr().out)["checks"]
        limits.append(check["high"] - check["low"])
    assert limits[1] < limits[0]
    assert main(["judge", *one, "--card", str(card)]) == 2
    assert "--card needs --name" in capsys.readouterr().err
