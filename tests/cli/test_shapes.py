"""What a table is of is told by its shape where no column's name tells it."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest

from bayesjudge.cli import main
from bayesjudge.cli.shapes.of_bias import versions_in
from bayesjudge.cli.shapes.of_repeats import are_repeats, numbered
from bayesjudge.cli.shapes.roles import describe


def _votes(judge="juror", maker="checkpoint", seed=3, outputs=120):
    """Five judges' votes on outputs of four systems, some lost."""
    rng = np.random.default_rng(seed)
    good = rng.random(outputs) < 0.6
    rows = [
        (f"o{i}", f"m{i % 4}", name, ("bad", "good")[int(good[i] ^ (rng.random() < 0.2))])
        for i in range(outputs)
        for name in ("ann", "bob", "cyd", "dee", "eve")
        if rng.random() > 0.03
    ]
    table = pd.DataFrame(rows, columns=["output", maker, judge, "vote"])
    return table, np.where(good, "good", "bad")


def _cells(table):
    return {n: [str(c) for c in table[n]] for n in table}


@pytest.fixture
def look(tmp_path, monkeypatch, capsys):
    """What doctor says of a table, and of labels in another one; each line is run."""
    monkeypatch.chdir(tmp_path)

    def call(table, labels=None, options=()):
        table.to_csv("t.csv", index=False)
        files = ["t.csv", *options]
        if labels is not None:
            labels.to_csv("l.csv", index=False)
            files.insert(1, "l.csv")
        assert main(["doctor", *files, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        for one in found["answers"]:
            words = shlex.split(one["command"])[1:]
            gate = words[0] == "gate"
            assert main([*words, "--json", *["--no-nuts"] * (not gate)]) in (0, 1 * gate, 3 * gate)
            capsys.readouterr()
        assert main(["doctor", *files]) == 0
        found["screen"] = capsys.readouterr().out
        return found

    return call


@pytest.mark.slow
@pytest.mark.parametrize(("judge", "maker"), [("juror", "checkpoint"), ("who", "made_by")])
def test_votes_and_an_expert_s_labels_are_one_line_whatever_columns_are_called(judge, maker, look):
    table, truth = _votes(judge, maker)
    some = pd.DataFrame({"output": [f"o{i}" for i in range(0, 120, 3)], "expert": truth[::3]})
    found = look(table, some)
    (answer,) = found["answers"]
    assert answer["command"] == (
        f"bayesjudge panel t.csv --judge {judge} --vote vote --labels l.csv --truth expert "
        f"--item output --generator {maker} --calibration random"
    )
    assert "expert: 40 of 120" in found["screen"]
    assert any(told.startswith(f"{judge} is read as the judge") for told in found["odd"])
    needed = found["missing"]
    assert "panel" not in needed  # what the file is, is not what it lacks
    assert "the line of the panel" in needed["prevalence"]
    assert "one judge" in needed["gate"]


def test_what_each_item_has_once_are_judges_only_if_something_says_so():
    table, _ = _votes()
    plain = table.drop(columns="checkpoint")
    assert describe(_cells(table)).judge == "juror"
    assert describe(_cells(table)).system == "checkpoint"
    assert describe(_cells(plain)).judge == "juror"  # by its name
    unnamed = table.rename(columns={"juror": "who"})
    assert describe(_cells(unnamed)).judge == "who"  # by what made the outputs
    bare = _cells(unnamed.drop(columns="checkpoint"))
    assert (describe(bare).judge, describe(bare).system) == (None, "who")
    items = {"output": [f"o{i}" for i in range(40)], "expert": ["good", "bad"] * 20}
    assert describe(bare, (), items).judge == "who"  # by labels of an output whoever judged it
    both = {**items, "by": [f"{name}" for name in ("ann", "bob") * 20]}
    assert describe(bare, (), both).judge is None
    for maker, topic in (("checkpoint", "topic"), ("setup", "gold"), ("run", "language")):
        systems = table.rename(columns={"juror": maker, "checkpoint": topic})
        assert describe(_cells(systems)).judge is None, maker
    own = table.assign(reviewer=["good", "bad"] * (len(table) // 2) + ["good"] * (len(table) % 2))
    assert describe(_cells(own)).judge is None  # labels of one item differ: outputs do


@pytest.mark.slow
def test_roles_of_columns_may_be_named(look, tmp_path, capsys):
    table, truth = _votes("setup", "topic")  # names that say the contrary
    some = pd.DataFrame({"output": [f"o{i}" for i in range(0, 120, 3)], "expert": truth[::3]})
    assert "panel" not in str(look(table)["answers"])
    named = ["--judge", "setup", "--generator", "topic", "--item", "output"]
    (answer,) = look(table, some, named)["answers"]
    assert "panel t.csv --judge setup --vote vote" in answer["command"]
    assert answer["command"].endswith("--item output --generator topic --calibration random")
    jury, _ = _votes()
    found = look(jury, options=["--generator", "juror"])
    assert "panel" not in str(found["answers"])
    assert not any("read as the judge" in told for told in found["odd"])
    assert main(["doctor", "t.csv", "--judge", "nobody"]) == 2
    assert "column 'nobody'" in capsys.readouterr().err


def _runs(verdicts=True, runs=5, seed=4):
    rng = np.random.default_rng(seed)
    p = rng.random(60)
    table = pd.DataFrame({"prompt": [f"p{i}" for i in range(60)]})
    for k in range(1, runs + 1):
        said = np.where(rng.random(60) < p, "yes", "no")
        scores = np.clip(1 + (4 * p).astype(int) + rng.integers(0, 2, 60), 1, 5)
        table[f"run{k}"] = said if verdicts else scores
    return table


@pytest.mark.slow
def test_answers_side_by_side_are_repeats_of_one_judge(look):
    names = [f"run{k}" for k in range(1, 6)]
    (answer,) = look(_runs())["answers"]
    assert answer["question"] == "How often does the judge contradict itself?"
    assert answer["command"] == (
        f"bayesjudge repeats report t.csv --score {' '.join(names)} --item prompt"
    )
    found = look(_runs(verdicts=False))
    (answer,) = [one for one in found["answers"] if "repeats" in one["command"]]
    assert f"--score {' '.join(names)} --item prompt --scale 1-5" in answer["command"]
    assert not found["labelling"]
    table = _runs()
    judged = table.assign(human=[("yes", "no")[i % 3 > 0] if i % 2 else "" for i in range(60)])
    lines = [one["command"] for one in look(judged)["answers"] if "gate" not in one["command"]]
    assert [shlex.split(line)[1] for line in lines] == ["judge", "repeats", "prevalence"]
    assert "--verdict run1 " in lines[2]
    long = table.melt("prompt", names, "run", "verdict")
    for rows in (long, long.assign(k=long["run"].str[3:])):
        (answer,) = look(rows)["answers"]
        assert "repeats report t.csv --score verdict --item prompt" in answer["command"]


@pytest.mark.slow
def test_judges_in_columns_that_are_counted_are_asked_about_and_no_repeats(look):
    for word in ("judge", "verdict_", "llm grader "):
        names = [f"{word}{k}" for k in range(1, 4)]
        table = _runs(runs=3).set_axis(["prompt", *names], axis=1).assign(model=["a", "b"] * 30)
        found = look(table)
        assert [shlex.split(one["command"])[1] for one in found["answers"]] == ["panel"], word
        asked = [one["columns"] for one in found["questions"]]
        assert asked == [names] * (word == "verdict_")


@pytest.mark.parametrize(
    ("names", "repeats"),
    [
        (["run1", "run2", "run3"], True),
        (["judge run 0", "judge run 1"], True),
        (["trial_1_score", "trial_2_score"], True),
        (["attempts-1", "attempts-2"], True),
        (["judge1", "judge2", "judge3"], False),
        (["prompt1", "prompt2"], False),  # no run of letters r, u, n
        (["turn1", "turn2", "turn3"], False),
        (["gpt4", "gpt5"], False),
        (["run3", "run4"], False),  # counts from nothing
        (["run1", "run3"], False),
    ],
)
def test_names_that_count_repeats(names, repeats):
    found = [own for alike, own in numbered(["id", *names]).items() if are_repeats(alike)]
    assert found == [names] * repeats


@pytest.mark.slow
def test_labels_that_are_missing_may_be_in_another_file(look):
    rows = [{"sample.id": f"t{i // 2}", "run.model": ("prod", "new")[i % 2],
             "score.value": "CI"[i % 3 == 0]} for i in range(80)]  # fmt: skip
    found = look(pd.DataFrame(rows))
    first = found["screen"].split("\n\n")[1]
    assert first.count("--truth COLUMN") == 1
    assert first.endswith("bayesjudge doctor t.csv LABELS")
    assert found["missing"]["gate"] == "people's labels of some items"
    assert (
        "add a column that numbers rows: sample.id names several" in found["missing"]["prevalence"]
    )


@pytest.mark.slow
def test_a_wide_table_is_the_long_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table = _runs()
    names = list(table.columns[1:])
    table.loc[3, "run2"] = None
    table.to_csv("wide.csv", index=False)
    long = table.melt("prompt", names, "run", "said")
    long.assign(k=long["run"].str[3:]).to_csv("long.csv", index=False)
    documents = []
    for line in (["wide.csv", "--score", *names], ["long.csv", "--score", "said", "--order", "k"]):
        assert main(["repeats", "report", *line, "--item", "prompt", "--no-nuts", "--json"]) == 0
        documents.append(json.loads(capsys.readouterr().out))
    for name in ("estimates", "answer", "cautions"):
        wide, long = (json.dumps(one[name]) for one in documents)
        wide = wide.replace("wide.csv", "long.csv").replace("Order (the columns)", "Order (k)")
        assert wide == long, name
    assert documents[0]["inputs"]["unparsed"] == 1


@pytest.mark.fast_one_in(7)
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--item", "prompt", "--score", "run1,run2"],
            "with a space between them: --score run1 run2",
        ),
        (["--score", "run1", "run2"], "name the column of items with --item"),
        (["--item", "prompt", "--score", "run1", "run1"], "expected different ones"),
        (
            ["--item", "prompt", "--score", "run1", "prompt"],
            "['prompt'] name the item or the judge",
        ),
        (["--item", "prompt", "--score", "run1", "run9"], "no column 'run9'"),
        (
            ["--item", "prompt", "--score", "run1", "run2", "--order", "run3"],
            "--order is of one row",
        ),
        (["--one-item", "--score", "run1", "run2"], "names 60 items"),
    ],
)
def test_a_wide_table_that_is_not_understood(options, words, tmp_path, capsys):
    _runs().rename(columns={"prompt": "item"} if "--one-item" in options else {}).to_csv(
        tmp_path / "wide.csv", index=False
    )
    assert main(["repeats", "report", str(tmp_path / "wide.csv"), *options]) == 2
    assert words in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
def test_help_says_which_shapes_are_read(capsys):
    assert main(["repeats", "report", "--help"]) == 0
    told = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "wide (one row per item, and a column of each of its answers by one judge" in told
    assert "--score run1 run2 run3" in told


def _changed(*names, n=60, seed=5):
    """Scores of documents as they are, and changed in ways that add a little."""
    rng = np.random.default_rng(seed)
    level = rng.normal(0.6, 0.1, n)
    scores = {name: level + 0.02 * k + rng.normal(0, 0.03, n) for k, name in enumerate(names)}
    return pd.DataFrame({"doc": range(n), **{k: v.clip(0, 1).round(3) for k, v in scores.items()}})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "first"),
    [
        (("score_before", "score_after"), "score_before"),
        (("after", "before"), "before"),
        (("original score", "typos score", "longer score"), "original score"),
        (("base", "variant"), "base"),
        (("relevance_original", "relevance_changed"), "relevance_original"),
    ],
)
def test_scores_before_and_after_a_change_side_by_side(names, first, look):
    found = look(_changed(*names))
    (answer,) = found["answers"]
    others = [n for n in names if n != first]
    columns = shlex.join([first, *others])
    assert answer["command"] == (
        f"bayesjudge bias t.csv --item doc --score {columns} --scale 0-1 --design item"
    )
    assert any(f"{first!r} is the unchanged version" in told for told in found["odd"])
    assert found["labelling"] == []


@pytest.mark.slow
def test_scores_of_a_change_that_are_missing_are_told(look):
    table = _changed("score_before", "score_after")
    table.loc[3, "score_after"] = None
    found = look(table)
    (answer,) = found["answers"]
    assert answer["command"].endswith(" --missing drop")
    assert any("left out (--missing drop)" in told for told in found["odd"])


@pytest.mark.slow
@pytest.mark.parametrize("names", [("score_a", "score_b"), ("baseline_score", "score_new")])
def test_scores_of_two_systems_or_versions_are_asked_about(names, look):
    found = look(_changed(*names))
    assert found["answers"] == []
    (asked,) = found["questions"]
    assert asked["columns"] == [*names]
    line = shlex.split(asked["text"].partition("If of one output: bayesjudge ")[2])
    assert main([*line, "--no-nuts"]) == 0


@pytest.mark.parametrize(
    "names",
    [
        ("helpfulness", "clarity"),
        ("score_gpt4", "score_claude"),
        ("score_1", "score_2"),
        ("score_a", "score"),
        ("before", "helpfulness"),
        ("base_score", "tokens"),
    ],
)
def test_names_that_are_no_versions(names):
    assert versions_in(names) is None


@pytest.mark.slow
def test_versions_on_two_scales_or_of_models_are_none(look):
    table = _changed("score_original", "score_gpt4")
    assert not any("bias" in told for told in look(table)["odd"])
    other = _changed("score_before", "score_after")
    other["score_after"] *= 100
    assert not [a for a in look(other)["answers"] if " bias " in a["command"]]


@pytest.mark.slow
def test_bias_reads_a_wide_table_as_the_long_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = ["score_before", "typos", "longer"]
    table = _changed(*names)
    table.loc[3, "typos"] = None
    table.to_csv("wide.csv", index=False)
    table.drop(columns="doc").to_csv("rows.csv", index=False)
    long = table.melt("doc", names, "version", "score")
    long.to_csv("long.csv", index=False)
    asked = ["--scale", "0-1", "--design", "item", "--missing", "drop", "--no-nuts", "--json"]
    item, documents = ["--item", "doc"], []
    for line in (
        ["long.csv", *item, "--variant", "version", "--baseline", names[0]],
        ["wide.csv", *item, "--score", *names],
        ["wide.csv", *item, "--baseline", names[0], "--score", *names[1:]],
        ["rows.csv", "--score", *names],
    ):
        assert main(["bias", *line, *asked]) == 0
        documents.append(json.loads(capsys.readouterr().out))
    for one in documents[1:]:
        assert one["estimates"] == documents[0]["estimates"]
        assert one["cautions"] == documents[0]["cautions"]
        assert one["inputs"]["baseline"] == names[0]
    assert documents[0]["inputs"]["missing"] == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--score", "before", "after"], "name the column of items: --item doc"),
        (["--item", "doc", "--score", "before", "fter"], "no column 'fter'; did you mean 'after'"),
        (
            ["--item", "kind", "--score", "before", "after"],
            "if rows are of different variants: --v",
        ),
        (["--item", "doc", "--variant", "kind", "--score", "after"], "no variant 'baseline'"),
    ],
)
@pytest.mark.fast_named(
    "options0-name the column of items: --item doc",
    "options2-if rows are of different variants: --v",
)
def test_bias_of_a_wide_table_that_is_not_understood(options, words, tmp_path, capsys):
    table = _changed("before", "after").assign(kind=["x", "y"] * 30)
    table.to_csv(tmp_path / "wide.csv", index=False)
    asked = [*options, "--scale", "0-1", "--design", "item"]
    assert main(["bias", str(tmp_path / "wide.csv"), *asked]) == 2
    assert words in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
def test_bias_releases_the_baseline_of_a_wide_table(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table = _changed("before", "after", n=400)
    table.to_csv("wide.csv", index=False)
    line = "bias wide.csv --item doc --score before after --scale 0-1 --design item --no-nuts"
    more = "--tolerance 0.3 --units points --center-at 0.5 --release out.csv"
    assert main([*line.split(), *more.split()]) == 0
    released = pd.read_csv("out.csv")
    assert released["before"].tolist() == table["before"].tolist()
    assert released["released_before"].notna().all()


@pytest.mark.slow
def test_verdicts_before_and_after_a_change_are_asked_for_as_numbers(look):
    table = _changed("verdict_before", "verdict_after")
    words = table.assign(**{n: np.where(table[n] > 0.6, "PASS", "FAIL") for n in table.columns[1:]})
    wanted = "numbers in verdict_before, verdict_after: 1 for a pass and 0 for a fail"
    assert look(words)["missing"]["bias"] == wanted
    (answer,) = look(words.replace({"PASS": 1, "FAIL": 0}).infer_objects())["answers"]
    assert "--score verdict_before verdict_after --scale 0-1" in answer["command"]
