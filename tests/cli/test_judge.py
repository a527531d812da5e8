"""``bayesjudge judge``: the first command answers "is this judge good enough?" on five tables."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest
from commands import options_by_command
from refusals import command_refused

from bayesjudge import judge
from bayesjudge.cli import main
from bayesjudge.cli.judge import _trusted, _weak_spots, percents_of_gain
from bayesjudge.cli.options import CALIBRATION
from bayesjudge.datasets import keep_labels, xstest
from bayesjudge.prevalence import Counts, classes, people, scores

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


@pytest.mark.slow
def test_pass_and_fail(capsys, folder, tmp_path):
    listed = tmp_path / "read.csv"
    found = run(capsys, folder, "one.csv", "--disagreements", str(listed))
    assert found["answer"]["text"] == (
        "This judge agrees with people on 79 % of outputs (70 to 86 %, 95 % interval): Cohen's "
        "kappa 0.59 (0.44 to 0.72)."
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


@pytest.mark.slow
def test_every_command_has_the_same_ends_of_the_same_table(capsys, tmp_path):
    """A row per output or an answer, in `judge` and in `ratings`; worth in `prevalence` too."""
    rng = np.random.default_rng(3)
    truth = rng.choice(["bad", "good"], 120)
    said = np.where(rng.random(120) < 0.85, truth, "good")
    wide = pd.DataFrame({"task": range(120), "gpt": said, "ann": truth})
    long = wide.melt("task", var_name="who", value_name="label")
    wide["ann"] = wide["ann"].where(wide.index < 80)
    long = long[(long["who"] == "gpt") | (long["task"] < 80)]
    for name, table in {"wide": wide, "long": long}.items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    one = "--verdict gpt --calibration random --pass-value good --fail-value bad --item task"
    lines = [
        f"judge wide.csv --truth ann {one}",
        f"judge long.csv --truth label --rater who {one}",
        f"prevalence wide.csv --truth ann {one}",
        "ratings long.csv --item task --rater who --choice label --judge gpt --positive good",
    ]
    read = []
    for line in lines:
        command, name, *more = shlex.split(line)
        assert main([command, str(tmp_path / name), *more, "--json"]) == 0
        read.append(json.loads(capsys.readouterr().out))
    first, second, share, rated = read

    def row(said, quantity):
        rows = [one for one in said["estimates"] if one["quantity"] == quantity]
        return [rows[0][end] for end in ("value", "low", "high")]

    for name, metric in {"accuracy": "hit_rate", "kappa": "cohen_kappa"}.items():
        assert row(first, name) == row(second, name) == row(rated, metric)
    assert row(first, "accuracy") == row(rated["answer"], "matched")
    for name in ("sensitivity", "specificity"):
        assert row(first, name) == row(second, name) == pytest.approx(row(share, name), rel=1e-12)
    assert first["answer"]["worth"] == share["answer"]["worth"] == second["answer"]["worth"]


@pytest.mark.slow
def test_a_run_without_labels_takes_a_card_and_says_what_that_rests_on(capsys, folder, tmp_path):
    card, later = tmp_path / "card.json", tmp_path / "later.csv"
    one = [str(folder / "one.csv"), *LABELS]
    main(["judge", *one, "--card", str(card), "--name", "gpt-4", "--quiet"])
    pd.read_csv(folder / "one.csv").drop(columns="truth").to_csv(later, index=False)
    capsys.readouterr()
    how = ["prevalence", str(later), "--verdict", "verdict", "--unparsed", "fail"]
    how += ["--card", str(card)]
    assert main([*how, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["answer"]["text"].startswith("If the judge errs as it did elsewhere, people")
    assert "untested-rates" in {c["id"] for c in found["cautions"]}
    for more, words in (
        (["--calibration", "random"], "needs --truth"),
        (["--stratum", "item"], "--stratum is of no use beside a card"),
        (["--nuts"], "leave --nuts out"),
        (["--interval", "hdi"], "are eti_bounded"),
    ):
        assert main([*how, *more]) == 2
        assert words in " ".join(capsys.readouterr().err.split())
    by_verdict = ["--truth", "truth", "--calibration", "by_verdict", "--verdict", "verdict"]
    with command_refused(id="card-not-tested", design="by_verdict"):
        assert main(["prevalence", one[0], *by_verdict, "--card", str(card)]) == 2


def messy():
    """Tables as people keep them: what a newcomer has, by name."""
    rng = np.random.default_rng(7)

    def said(right, chance):
        return np.where(rng.random(len(right)) < chance, right, ~right)

    def some(cells, n, empty):
        cells = np.array(cells, object)
        cells[rng.permutation(len(cells))[n:]] = empty
        return cells

    good = rng.random(240) < 0.72

    def spelled(passes):
        yes, no = ["Yes", "yes ", "YES", "y"], ["No", "no", " NO", "n"]
        return np.where(passes, rng.choice(yes, len(passes)), rng.choice(no, len(passes)))

    yield "support", {
        "Ticket": [f"T-{i:04d}" for i in range(240)], "Answer": "x",
        "LLM judge: helpful?": spelled(said(good, 0.9)),
        "Reviewed by QA (helpful?)": some(spelled(good), 90, ""),
    }  # fmt: skip
    people = np.clip(np.rint(rng.normal(3.6, 1.1, 300)), 1, 5)
    given = np.clip(np.rint(people * 0.7 + 1.4 + rng.normal(0, 0.7, 300)), 1, 5)
    yield "essays", {
        "essay_id": range(1000, 1300), "genre": rng.choice(["story", "report", "letter"], 300),
        "gpt4o_grade": some(given.astype(int).astype(str), 291, "N/A"),
        "teacher_grade": some(people.astype(int).astype(str), 120, "-"),
    }  # fmt: skip
    safe = rng.random(400) < 0.6
    odds = np.where(safe, 1.6, -1.2) + rng.normal(0, 1.2, 400)
    yield "safety", {
        "uuid": [f"{i:08x}" for i in rng.integers(0, 2**31, 400)],
        "p_safe": (1 / (1 + np.exp(-odds))).round(3),
        "annotation": some(np.where(safe, "good", "bad"), 150, None),
        "model": rng.choice(["m-7b", "m-70b"], 400),
    }  # fmt: skip
    passes = rng.random(150) < 0.55
    prompts = {f"judge_prompt_{k}": some(np.where(said(passes, right), "PASS", "FAIL"),
                                         150 - 6 * (k == 3), "ERROR: timeout")
               for k, right in ((1, 0.7), (2, 0.78), (3, 0.86))}  # fmt: skip
    yield "prompts", {
        "case": range(150), **prompts, "expert": np.where(passes, "PASS", "FAIL"),
    }  # fmt: skip
    right = rng.random(200) < 0.65
    words = [np.where(said(right, p), "correct", "incorrect") for p in (0.88, 0.94, 0.88)]
    yield "two people", {
        "qid": range(200), "Judge": words[0], "Annotator 1": some(words[1], 110, None),
        "Annotator 2": some(words[2], 120, None), "notes": "",
    }  # fmt: skip


@pytest.mark.slow
def test_the_first_command_of_a_newcomer_says_how_the_judge_is(capsys, tmp_path):
    """`bayesjudge judge FILE` names what only they know, with the line that then answers."""
    quoted = {"support": "accuracy", "essays": "correlation", "safety": "auc",
              "prompts": "accuracy", "two people": "accuracy"}  # fmt: skip
    for name, columns in messy():
        path = tmp_path / f"{name}.csv"
        pd.DataFrame(columns).to_csv(path, index=False, sep=";" if name == "essays" else ",")
        assert main(["judge", str(path)]) == 2
        said = capsys.readouterr().err
        line = shlex.split(said.split("\n  bayesjudge ")[-1].replace("\\\n", " "))
        assert line[:1] == ["judge"], said
        assert main([*line, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert len(found["answer"]["text"].split()) <= 25
        rows = {one["quantity"]: one for one in found["answer"]["estimates"]}
        assert rows[quoted[name]]["low"] < rows[quoted[name]]["value"] < rows[quoted[name]]["high"]
        assert found["answer"]["worth"]
        assert "fail_value" not in found["inputs"]  # no grade is read as a fail


def test_tuned_labels_are_left_out_of_passports(capsys, folder, tmp_path):
    out, table = tmp_path / "made.json", str(folder / "prompts.csv")
    made = ["judge", table, *LABELS, "--tuned-on", "shown"]
    assert main([*made, "--verdict", "v2", "--name", "x", "--card", str(out)]) == 0
    card = judge.Card.load(out)
    assert card.tuned_labels == 15
    assert sum(card.totals[::2]) == 135
    capsys.readouterr()
    assert main(["passport", "check", str(out), *made[1:], "--verdict", "v1"]) == 0
    assert "tuned-labels: " in capsys.readouterr().out


def test_a_table_with_semicolons_and_no_option_is_refused(capsys, tmp_path):
    path = tmp_path / "semicolons.csv"
    path.write_text("id;gpt;human\n1;pass;fail\n2;pass;pass\n", encoding="utf-8")
    with command_refused("truth=", id="not-given"):
        assert main(["prevalence", str(path)]) == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.slow
def test_what_repeats_is_of_items_that_a_column_names(capsys, folder):
    for command in ("judge", "gate", "prevalence"):
        with command_refused(id="not-given", item=None):
            line = [command, str(folder / "one.csv"), "--verdict", "verdict", *LABELS]
            assert main([*line, "--repeats", "judge"]) == 2


#: Commands that read labels and calibrate nothing by them: what is to be labelled (again).
NO_CALIBRATION = {"doctor", "label"}


def commands_with_labels():
    """Each command, or command of a command, that takes a column of people's labels."""
    every = options_by_command().items()
    return {name: {*options} for name, options in every if {"--truth", "--people"} & {*options}}


def test_every_command_with_labels_leaves_out_those_of_tuning():
    named = commands_with_labels()
    assert {"judge", "prevalence", "gate", "panel", "ratings", "plan", "rubric", "attempts",
            "leaderboard", "drift", "passport check"} <= {*named}  # fmt: skip
    without = {name for name, options in named.items() if "--tuned-on" not in options}
    assert without == NO_CALIBRATION & {*named}


@pytest.fixture(scope="module")
def tuned_tables(folder, tmp_path_factory):
    """Tables of other commands: 15 of 150 labels were in sight as the judge was tuned."""
    made = tmp_path_factory.mktemp("tuned")
    table = pd.read_csv(folder / "prompts.csv").assign(item=range(300))
    table.to_csv(made / "wide.csv", index=False)
    votes = table.melt(["item", "truth", "shown"], ["v1", "v2"], "judge", "vote")
    votes.to_csv(made / "votes.csv", index=False)  # labels stand in both rows of an item
    known = table.dropna(subset=["truth"])
    said = known.melt(["item", "shown"], ["v1", "v2", "truth"], "rater", "choice")
    # one row says that the item was in sight
    said["shown"] &= said["rater"] == "v1"
    said.astype({"choice": int}).to_csv(made / "answers.csv", index=False)
    criteria = {"judge_clear": "v1", "judge_true": "v2", "human_clear": "truth"}
    wide = {name: table[column] for name, column in criteria.items()}
    pd.DataFrame({"id": range(300), **wide, "human_true": table["truth"], "shown": table["shown"]}
                 ).to_csv(made / "rubric.csv", index=False)  # fmt: skip
    battles = {"first": ["a", "b", "c"] * 100, "second": ["b", "c", "a"] * 100}
    win = {c: table[c].map({1: "first", 0: "second"}) for c in ("v1", "truth")}
    pd.DataFrame({**battles, **win, "shown": table["shown"]}).to_csv(made / "b.csv", index=False)
    tries = table.assign(task=table["item"] // 3)
    tries.to_csv(made / "tries.csv", index=False)
    return made


#: Lines by what they read: file, options, labels that are left out (of ratings items).
TUNED = {
    "panel wide.csv --truth truth --calibration random --judges v1 --judges v2 --no-nuts": 15,
    "panel votes.csv --truth truth --calibration random --no-nuts": 15,
    "ratings answers.csv --positive 1 --judge v1 --judge v2 --no-nuts": 15,
    "ratings wide.csv --positive 1 --people truth --judge v1 --judge v2 --no-nuts": 15,
    "rubric rubric.csv --calibration random": 15,
    "attempts tries.csv --truth truth --verdict v2": 15,
    "leaderboard b.csv --verdict v1 --people truth": 15,
}


@pytest.mark.slow
@pytest.mark.parametrize("line", TUNED)
def test_tuned_labels_are_left_out(capsys, tuned_tables, line):
    command, file, *options = line.split()
    how = [command, str(tuned_tables / file), *options, "--json"]
    main([*how, "--tuned-on", "shown"])
    found = json.loads(capsys.readouterr().out)
    said = [c["numbers"] for c in found["cautions"] if c["id"] == "tuned-labels"]
    assert said == [{"labels": TUNED[line], "left": 135}]
    main(how)
    whole = json.loads(capsys.readouterr().out)
    assert whole["answer"]["estimates"] != found["answer"]["estimates"]


@pytest.mark.slow
def test_a_plan_and_a_drift_leave_out_tuned_labels(capsys, tuned_tables):
    table = str(tuned_tables / "wide.csv")
    pilot = ["plan", "--pilot", table, "--judge", "v2", "--truth", "truth", "--price", "label=1"]
    assert main([*pilot, "--width", "0.2", "--tuned-on", "shown", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["inputs"]["labelled"] == 135
    assert main(["plan", "--width", "0.1", "--tuned-on", "shown"]) == 2
    assert "--tuned-on is of a pilot" in " ".join(capsys.readouterr().err.split())
    both = ["drift", table, table, "--item", "item", "--verdict", "v1", "--truth", "truth"]
    assert main([*both, "--tuned-on", "shown"]) == 0
    assert capsys.readouterr().out.count("tuned-labels: ") == 1


@pytest.mark.slow
def test_several_people_of_disagreements(capsys, folder, tmp_path):
    rng, table = np.random.default_rng(3), pd.read_csv(folder / "prompts.csv")
    for name in ("ann", "bob"):
        table[name] = np.where(rng.random(300) < 0.1, 1 - table["truth"], table["truth"])
    table.to_csv(tmp_path / "people.csv", index=False)
    listed = tmp_path / "read.csv"
    how = ["--verdict", "v1", "--disagreements", str(listed)]
    run(capsys, tmp_path, "people.csv", *how, "--people", "ann", "bob")
    found = pd.read_csv(listed)
    alike = found["ann"] == found["bob"]
    against = alike & (found["ann"] != found["truth"])
    assert (found["label_wrong"][against] > 0.5).all()
    assert (found["label_wrong"][alike & ~against] < 0.1).all()
    plain = [str(tmp_path / "people.csv"), *LABELS, "--verdict", "v1", "--people", "ann", "bob"]
    assert main(["judge", *plain]) == 2
    assert "--people needs --disagreements" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "more", "words"),
    [
        ("grades.csv", ["--score", "score", "--scale", "0:1", "--truth-scale", "1:5"],
         "correlates 0.46 with people"),
        ("classes.csv", ["--verdict", "verdict", "--classes", "a", "b", "c"],
         "agrees with people on 78 % of outputs"),
        ("systems.csv", ["--verdict", "verdict", "--by", "system", "--unparsed", "fail"],
         "agrees with people on 83 % of outputs"),
        ("prompts.csv", ["--verdict", "v1", "v2"], "v2 is better than v1 with probability >.999"),
    ],
)  # fmt: skip
def test_other_tables_answer_too(capsys, folder, name, more, words):
    found = run(capsys, folder, name, *more)
    assert words in found["answer"]["text"]
    assert found["answer"]["known"]


@pytest.mark.slow
def test_where_one_of_several_judges_errs_is_said_of_it(capsys, folder, tmp_path):
    table = pd.read_csv(folder / "prompts.csv").assign(topic=np.resize(["a", "b"], 300))
    table["v1"] = np.where(table["topic"] == "a", table["v2"], table["v1"])
    table.to_csv(tmp_path / "t.csv", index=False)
    for judges, who in ((["v1"], "it"), (["v1", "v2"], "v1")):
        found = run(capsys, tmp_path, "t.csv", "--verdict", *judges)
        (note,) = (note for note in found["answer"]["notes"] if "topic" in note)
        assert note.startswith(f"Where {who} errs most: ")


def test_a_gain_is_a_whole_number_and_has_no_sign_at_0():
    assert percents_of_gain((0.126, -0.004, 0.5)) == "13 % (0 to 50 %)"
    assert percents_of_gain((0.1, -np.inf, 0.3)) == "10 % (-inf to 30 %)"


@pytest.mark.slow
def test_trust_has_thresholds_and_tuned_labels_are_left_out(capsys, folder):
    found = run(capsys, folder, "p.csv", "--score", "score", "--scale", "0:1", "--trust",
                "--wrong", "0.15")  # fmt: skip
    cuts = {one["quantity"]: one["value"] for one in found["trust"]}
    assert cuts["fail_to"] < cuts["best_cut"] < cuts["pass_from"]
    tuned = run(capsys, folder, "prompts.csv", "--verdict", "v1", "--tuned-on", "shown")
    assert [(c["id"], c["numbers"]["labels"]) for c in tuned["cautions"]] == [("tuned-labels", 15)]
    assert tuned["inputs"]["labelled"] == 135


@pytest.mark.slow
def test_labels_beyond_a_threshold_are_counted():
    table = scores.simulate(shape="bimodal", noise=0.3, labelled=300, random_seed=1)
    read = scores.Scores.from_frame(table, calibration="random", scale=(0, 1))
    trusted = judge.trust(read, alpha=0.15)
    lines = _trusted(trusted, 0.15, 0.9).lines
    beyond = {"pass": table["score"] >= trusted["pass_from"].value,
              "fail": table["score"] <= trusted["fail_to"].value}  # fmt: skip
    for (side, rows), line in zip(beyond.items(), lines, strict=False):
        labels = table.loc[rows, "truth"].dropna()
        wrong = int((labels == (side == "fail")).sum())
        assert f"({wrong} of {len(labels)} labelled ones there are wrong: " in line


@pytest.mark.slow
def test_what_is_asked_wrongly_is_refused(capsys, folder):
    assert main(["judge", str(folder / "one.csv"), "--truth", "truth"]) == 2
    assert CALIBRATION in capsys.readouterr().err
    assert main(["judge", str(folder / "one.csv"), *LABELS, "--verdict", "verdict", "--trust"]) == 2
    assert "--trust takes --score" in capsys.readouterr().err


@pytest.mark.slow
def test_tuned_labels_are_left_out_of_shares_and_gates_too(capsys, folder):
    how = [str(folder / "prompts.csv"), *LABELS, "--verdict", "v2", "--tuned-on", "shown", "--json"]
    main(["prevalence", *how])
    found = json.loads(capsys.readouterr().out)
    assert found["inputs"]["labelled"] == 135
    assert "tuned-labels" in {c["id"] for c in found["cautions"]}
    assert main(["gate", *how[:-1], "--at-least", "0.2"]) == 0
    assert "15 labels " in capsys.readouterr().out


@pytest.mark.slow
def test_a_card_is_made_shown_and_decides(capsys, folder, tmp_path):
    card = tmp_path / "card.json"
    one = [str(folder / "one.csv"), *LABELS]
    assert main(["judge", *one, "--card", str(card), "--name", "gpt-4", "--quiet"]) == 0
    page, badge = tmp_path / "card.html", tmp_path / "badge.svg"
    main(["passport", "show", str(card), "--html", str(page), "--badge", str(badge)])
    out = capsys.readouterr().out
    assert "worth on top of these labels: 43 more labels" in out
    assert "43 labels on" in badge.read_text()
    assert "43 more labels" in page.read_text()
    plain, with_card = (
        [*one, "--at-least", "0.33"],
        [*one, "--at-least", "0.33", "--card", str(card)],
    )
    limits, inputs = [], []
    for words in (plain, with_card):
        main(["gate", *words, "--json"])
        decided = json.loads(capsys.readouterr().out)
        (check,) = decided["checks"]
        limits.append(check["high"] - check["low"])
        inputs.append(decided["inputs"])
    assert limits[1] < limits[0]
    assert "transport" not in inputs[0]
    main(["gate", *with_card])
    ((system, (outcome, chance)),) = inputs[1]["transport"].items()
    assert (system, outcome) == ("run", "pass" if chance > 0.95 else "unknown")
    assert f"Transport: {outcome.upper()}." in capsys.readouterr().out
    made = {}
    for name, more in (("own", []), ("card", ["--card", str(card)])):
        read = ["--verdict", "verdict", "--unparsed", "fail"]
        assert main(["prevalence", *one, *read, *more, "--json"]) == 0
        made[name] = json.loads(capsys.readouterr().out)
    first = made["card"]["answer"]["estimates"][0]
    known = judge.Card.load(card).estimate(
        Counts.from_frame(pd.read_csv(folder / "one.csv"), calibration="random", unparsed="fail")
    )["prevalence"]
    assert [first[end] for end in ("value", "low", "high")] == pytest.approx([*known], abs=1e-6)
    own = made["own"]["answer"]["estimates"][0]
    assert first["high"] - first["low"] < own["high"] - own["low"]
    assert len(made["card"]["card"]) == 3
    assert made["card"]["inputs"]["transport"] == inputs[1]["transport"]
    assert main(["judge", *one, "--card", str(card)]) == 2
    assert "--card needs --name" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("labelled", [40, 300])
def test_what_both_said_names_the_outputs_that_it_is_counted_on(capsys, folder, tmp_path, labelled):
    """Of a random sample the labelled ones, where `prevalence` has the judge's share of all."""
    table = pd.read_csv(folder / "prompts.csv")
    table["truth"] = table["v2"].where(table.index % (300 // labelled) == 0)
    table.to_csv(tmp_path / "log.csv", index=False)
    main(["judge", str(tmp_path / "log.csv"), *LABELS, "--verdict", "v1"])
    screen = capsys.readouterr().out
    which = "all outputs" if labelled == 300 else f"the {table['truth'].count()} labelled outputs"
    assert f"What people and judge said, shares of {which}" in screen


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("p.csv", ["--score", "score", "other", "--scale", "0:1"]),
        ("grades.csv", ["--score", "score", "other", "--scale", "0:1", "--truth-scale", "1:5"]),
        ("prompts.csv", ["--verdict", "v1", "v2"]),
        ("classes.csv", ["--verdict", "verdict", "other", "--classes", "a", "b", "c"]),
    ],
)
def test_several_judges_of_one_system_need_no_other_word_where_a_column_names_it(
    capsys, folder, name, more, tmp_path
):
    table = pd.read_csv(folder / name).assign(system="only")
    said = more[1]
    table["other"] = table[said].sample(frac=1, random_state=1).to_numpy()
    table.to_csv(tmp_path / name, index=False)
    without, named = (run(capsys, tmp_path, name, *more, *by) for by in ([], ["--by", "system"]))
    assert [row["value"] for row in named["estimates"]] == [
        row["value"] for row in without["estimates"]
    ]
    assert named["answer"] == without["answer"]


@pytest.mark.slow
def test_pages_of_scores_and_of_grades(capsys, folder, tmp_path):
    page, of = tmp_path / "page.html", ["--score", "score", "--scale", "0:1", "--html"]
    run(capsys, folder, "p.csv", *of, str(page), "--trust", "--wrong", "0.15")
    assert "where verdicts can stand" in page.read_text()
    run(capsys, folder, "grades.csv", *of, str(page), "--truth-scale", "1:5")
    assert "What the judge says of what people say" in page.read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "more", "words"),
    [
        ("p.csv", ["--score", "score", "--scale", "0:1", "--disagreements", "o.csv"],
         "judge and people must both give passes and fails, or numbers"),
        ("one.csv", ["--wrong", "0.1"], "--wrong and --promised need --trust"),
        ("one.csv", ["--prompt", "judge.txt", "--valid-until", "2027-06-30"],
         "--valid-until and --prompt are kept in the judge's card: name its file, --card"),
        ("one.csv", ["--card", "c.json", "--name", "x", "--valid-until", "soon"],
         "valid_until must be a date"),
        ("one.csv", ["--save", "fit.nc"], "nothing is sampled here"),
    ],
)  # fmt: skip
def test_what_would_be_dropped_or_fail_later_is_refused_first(
    capsys, folder, tmp_path, monkeypatch, name, more, words
):
    monkeypatch.chdir(tmp_path)
    assert main(["judge", str(folder / name), *LABELS, *more]) == 2
    said = capsys.readouterr()
    assert words in " ".join(said.err.split())
    assert not said.out


@pytest.mark.slow
def test_several_people_err_too(tmp_path, capsys):
    """Each column is a person: rates are those behind their errors, and no section asks for one."""
    table = people.simulate(errors=(0.05, 0.05, 0.1), random_seed=2)
    table.to_csv(tmp_path / "people.csv", index=False)
    names = ["ann1", "ann2", "ann3"]
    words = ["judge", str(tmp_path / "people.csv"), "--truth", *names, "--calibration", "random"]
    main([*words, "--json"])
    assert "agreement_with_person" in capsys.readouterr().out
    main(words)
    assert "behind people's errors" in capsys.readouterr().out
    for more in (["--card", str(tmp_path / "c.json"), "--name", "j"], ["--by", "no such"]):
        assert main([*words, *more])


def test_that_no_column_tells_where_a_judge_errs_is_said():
    (section,) = _weak_spots([], "the judge")
    assert len(section.lines) == 1
    assert not _weak_spots(None, "the judge")


@pytest.mark.slow
@pytest.mark.parametrize("command", ["judge", "prevalence", "panel"])
def test_grades_beside_verdicts_become_passes_by_the_line_of_their_refusal(
    command, tmp_path, capsys
):
    """A scale or a lowest pass is of a judge's scores: of verdicts neither mends the line."""
    rng = np.random.default_rng(1)
    grades = rng.integers(0, 6, 80)
    said = np.where(grades + rng.normal(size=80) > 2.5, "pass", "fail")
    pd.DataFrame({"v": said, "human": grades}).to_csv(tmp_path / "log.csv", index=False)
    of = ["--judges" if command == "panel" else "--verdict", "v", "--truth", "human"]
    line = [command, str(tmp_path / "log.csv"), *of, "--calibration", "random"]
    assert main(line) == 2
    err = capsys.readouterr().err
    meant = ["--pass-value", "3", "4", "5", "--fail-value", "0", "1", "2"]
    assert shlex.join(meant[:4]) in err
    assert shlex.join(meant[4:]) in err
    instant = ["--no-nuts"] * (command != "judge")
    assert main([*line, *meant, "--pass-value=pass", "--fail-value=fail", *instant]) == 0
    assert main([*line, "--truth-from", "3"]) == 2
