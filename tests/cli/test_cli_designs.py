"""``bayesjudge prevalence``: strata, propensities, external labels, judges, classes."""

import functools
import json
import re
import shlex
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from refusals import command_refused

import bayesjudge as bj
from bayesjudge.cli import main
from bayesjudge.core.methods import HUMAN_ONLY
from bayesjudge.core.words import words_for

P = bj.prevalence
COLUMNS = ["--verdict", "verdict", "--truth", "truth"]
NOW = ["--no-nuts", "--json"]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A folder of tables, and the first of them."""
    folder = tmp_path_factory.mktemp("designs")
    rng = np.random.default_rng(2)
    table = P.simulate(systems=["short", "long"], prevalence=[0.9, 0.6], labelled=80, random_seed=3)
    table = table.rename(columns={"system": "length"})
    flips = rng.random(len(table)) < 0.15
    table["other"] = np.where(flips, 1 - table["verdict"], table["verdict"])
    table["p"] = np.where(table["length"] == "short", 0.0741, 0.0740)
    table.to_csv(folder / "rows.csv", index=False)
    P.simulate(items=1, labelled=40, calibration="by_truth", random_seed=1).dropna().to_csv(
        folder / "more.csv", index=False
    )
    truth = rng.choice(["win", "tie", "loss"], 200)
    pairs = pd.DataFrame({"first": truth, "second": truth, "human": truth})
    pairs.loc[:30, "first"], pairs.loc[:30, "second"] = "win", "tie"
    pairs.loc[80:, "human"] = None
    pairs.to_csv(folder / "pairs.csv", index=False)
    return folder, table


@pytest.fixture
def ask(tables, monkeypatch, capsys):
    """Run ``bayesjudge prevalence`` in the folder of tables: what it printed."""
    monkeypatch.chdir(tables[0])

    def call(*arguments, code=0):
        assert main(["prevalence", *arguments]) == code
        done = capsys.readouterr()
        return done.err if code else done.out

    return call


def estimates(text):
    """Values by quantity, coordinates and method."""
    rows = json.loads(text)["estimates"]
    return {(r["quantity"], *r["where"].values(), r["method"]): r["value"] for r in rows}


STRATA = ["rows.csv", *COLUMNS, "--calibration", "random", "--stratum", "length"]


@pytest.mark.slow
def test_strata_have_an_answer(ask, tables):
    counts = P.Counts.from_frame(tables[1], calibration="random", stratum="length")
    found = estimates(ask(*STRATA, *NOW))
    exact = P.exact(counts, P.PooledErrorRates())
    name = exact.method.title
    assert found["overall_prevalence", name] == pytest.approx(exact["overall_prevalence"].value)
    value = exact["prevalence", "long"].value
    assert found["prevalence", "long", name] == pytest.approx(value)
    assert found["prevalence", "long", "Rogan-Gladen"] == pytest.approx(
        P.rogan_gladen(counts)["prevalence", "long"].value
    )
    out = ask(*STRATA, "--no-nuts", "--details")
    assert re.search(r"^overall_prevalence +value", out, re.MULTILINE)
    assert "strata       long, short" in out


@pytest.mark.study
def test_strata_have_a_page(ask, tmp_path):
    page = tmp_path / "page.html"
    out = ask(*STRATA, "--html", str(page), "--details", "--nuts")
    assert "rates partially pooled" in page.read_text()
    assert "Strata, with their shares of the items" in page.read_text()
    assert "What each label design assumes" in page.read_text()
    assert "random (declared): labelled items are a random sample" in out


@pytest.mark.slow
def test_propensities_are_weighed(ask, tables):
    asked = ["rows.csv", *COLUMNS, "--calibration", "known_propensity", "--propensity", "p"]
    found = estimates(ask(*asked, *NOW))
    counts = P.Counts.from_frame(tables[1], calibration="known_propensity", propensity="p")
    expected = P.propensity_weighted(counts)["overall_prevalence"].value
    key = ("overall_prevalence", "Propensity-weighted difference")
    assert found[key] == pytest.approx(expected)
    err = ask("rows.csv", *COLUMNS, "--calibration", "known_propensity", code=2)
    assert "come together" in err


@pytest.mark.slow
def test_external_labels_are_added(ask, tables):
    asked = ["rows.csv", *COLUMNS, "--calibration", "random"]
    plain, more = (ask(*asked, *NOW, *extra) for extra in ([], ["--external-labels", "more.csv"]))
    width = {t: json.loads(t)["estimates"] for t in (plain, more)}
    rows = [
        {r["method"]: r["width"] for r in e if r["quantity"] == "prevalence"}
        for e in width.values()
    ]
    assert rows[1]["Rogan-Gladen"] < rows[0]["Rogan-Gladen"]
    assert rows[1][HUMAN_ONLY.title] == rows[0][HUMAN_ONLY.title]
    assert json.loads(more)["inputs"]["external labels"].startswith("20 good and 20 bad items")


@pytest.mark.slow
def test_judges_stand_side_by_side(ask, tables):
    asked = ["rows.csv", *COLUMNS, "--verdict", "other", "--calibration", "random"]
    found = estimates(ask(*asked, *NOW))
    for judge in ("verdict", "other"):
        counts = P.Counts.from_frame(tables[1], calibration="random", verdict=judge)
        expected = P.exact(counts)["prevalence"].value
        assert found["prevalence", judge, "Bayesian (exact)"] == pytest.approx(expected)
    assert "judges       verdict, other" in ask(*asked, "--no-nuts", "--details")


@pytest.mark.slow
def test_every_label_design_stands_beside_the_declared_one(ask):
    asked = ["rows.csv", *COLUMNS, "--calibration", "separate", "--all-methods"]
    document = json.loads(ask(*asked, *NOW))
    assert len({row["method"] for row in document["estimates"]}) == 9
    notes = document["designs"]
    assert [line.split(":")[0] for line in notes] == [
        *("random", "by_truth", "separate (declared)", "by_verdict")
    ]


@pytest.mark.slow
def test_pairs_in_both_orders_give_a_win_rate(ask, tables):
    asked = ["pairs.csv", "--verdict", "first", "--swapped", "second", "--truth", "human"]
    asked += ["--calibration", "random"]
    found = estimates(ask(*asked, *NOW))
    pairs = pd.read_csv(tables[0] / "pairs.csv")
    counts = P.classes.ClassCounts.from_pairs(
        pairs, calibration="random", verdict="first", swapped="second", truth="human"
    )
    expected = P.difference(counts)["win_rate"].value
    assert found["win_rate", "Difference (PPI++)"] == pytest.approx(expected)
    out = ask(*asked, "--no-nuts", "--details")
    assert "position-bias: of 200" in out
    assert re.search(r"^win_rate +value", out, re.MULTILINE)


@pytest.mark.slow
def test_classes_are_named_or_asked_for(ask):
    asked = ["pairs.csv", "--verdict", "first", "--truth", "human", "--calibration", "random"]
    classes = [part for name in ("win", "tie", "loss") for part in ("--classes", name)]
    out = ask(*asked, *classes, "--no-nuts", "--details")
    assert re.search(r"^tie +Judge's shares +0\.", out, re.MULTILINE)
    assert re.search(r"^ +Human labels only +0\.", out, re.MULTILINE)
    assert re.search(r"^ +Bayesian \(exact\) +0\.", out, re.MULTILINE)
    assert "name them: --classes" in ask(*asked, code=2)
    by = json.loads(ask(*asked, *classes, "--by", "second", *NOW))
    assert {one["where"].get("system") for one in by["estimates"]} >= {"win", "tie", "loss"}
    pairs = ["--swapped", "second", "--by", "human"]
    assert "--by is not for pairs" in ask(*asked, *pairs, code=2)
    passes = ["--swapped", "second", "--pass-value", "win"]
    assert "--pass-value is not for classes" in ask(*asked, *passes, code=2)


@pytest.mark.fast_one_in(2)
@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--repeats", "system", "--item", "human"], "--repeats"),
        (["--pass-value", "win"], "--pass-value"),
        (["--fail-value", "loss"], "--fail-value"),
        (["--prior", "jeffreys"], "--prior"),
        (["--prior-sensitivity", "0.9:20"], "--prior-sensitivity"),
        (["--no-better-than-chance"], "--no-better-than-chance"),
        (["--all-methods"], "--all-methods"),
    ],
)
def test_options_that_classes_have_no_use_for_are_refused(ask, options, named):
    asked = ["pairs.csv", "--verdict", "first", "--truth", "human", "--calibration", "random"]
    classes = [part for name in ("win", "tie", "loss") for part in ("--classes", name)]
    assert f"{named} is not for classes" in ask(*asked, *classes, *options, code=2)


@pytest.mark.slow
def test_classes_are_pooled_as_asked(ask, tables):
    asked = ["pairs.csv", "--verdict", "first", "--truth", "human", "--calibration", "random"]
    asked += [part for name in ("win", "tie", "loss") for part in ("--classes", name)]
    assert "--pooling full needs confusions of several" in ask(*asked, "--pooling", "full", code=2)
    several = [*asked, "--by", "second"]
    assert "--pooling partial is not for" in ask(*several, "--pooling", "partial", code=2)
    found = estimates(ask(*several, "--pooling", "full", *NOW))
    rows = pd.read_csv(tables[0] / "pairs.csv")
    classes = P.classes
    how = {"verdict": "first", "truth": "human", "by": "second", "calibration": "random"}
    counts = classes.ClassCounts.from_frame(rows, classes=["win", "tie", "loss"], **how)
    expected = classes.exact(counts, classes.Confusions(pooling="full"))
    key = ("prevalence", "tie", "win")
    assert found[*key, expected.method.title] == pytest.approx(expected[key].value)


@pytest.mark.slow
def test_the_target_reaches_every_number(ask):
    """Also the classes' and the items' own commands say that they have no such choice."""
    rows = ["rows.csv", *COLUMNS, "--calibration", "random", "--by", "length"]
    document = json.loads(ask(*rows, *NOW, "--target", "items"))
    assert set(document["targets"].values()) == {"items"}
    assert "designs" not in document
    counts = P.Counts.from_frame(pd.read_csv("rows.csv"), calibration="random", by="length")
    found = {(e["quantity"], e["where"]["system"], e["method"]): e for e in document["estimates"]}
    for one in (*P.closed_forms(counts, target="items"), P.exact(counts, target="items")):
        for name in ("short", "long"):
            told = found["prevalence", name, one.method.title]
            expected = one["prevalence", name]
            assert [told["value"], told["low"], told["high"]] == pytest.approx(list(expected))
    for more in (["--item", "length"], ["--classes", "1", "--classes", "0"]):
        refused = ask(*rows, *more, *NOW, "--target", "items", code=2)
        assert "--target" in refused


@pytest.mark.slow
def test_plan_says_what_its_document_holds(capsys, monkeypatch):
    from bayesjudge.cli import main
    from bayesjudge.cli.plan import plan

    few = functools.partial(P.budget.plan, repeats=2)  # what it holds, not how exactly
    monkeypatch.setattr(P.budget, "plan", few)
    judge = ["--sensitivity", "0.9", "--specificity", "0.7"]
    asked = ["--prevalence", "0.7", *judge, "--items", "500", "--labelled", "50"]
    assert main(["plan", *asked, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [f for f in document if f"`{f}`" in plan.__doc__] == [
        *("inputs", "answer", "rows", "labels_needed"),
    ]
    assert list(document)[:3] == ["schema", "bayesjudge", "command"]


@pytest.mark.parametrize("width", [[], ["--width", "0.25"]])
def test_a_plan_says_what_its_table_and_its_functions_say(capsys, monkeypatch, width):
    """With an interval whose width is that of so many labels, whatever the judge says."""
    of_labels = import_module("bayesjudge.prevalence.budget.expected_width")
    monkeypatch.setattr(of_labels, "_width", lambda cells, *_: (cells[2] + cells[4]) ** -0.5)
    line = shlex.split("plan --prevalence 0.6 --agreement 0.85 --labelled 25 --labelled 64")
    line += ["--items", "500"]
    assert main([*line, "--json", *width]) == 0
    document = json.loads(capsys.readouterr().out)
    table = pd.DataFrame(document["rows"]).query("strategy != 'people only'")
    assert_allclose(table["expected_width"], table["labelled"] ** -0.5)
    assert_allclose(table["width_90"], table["labelled"] ** -0.5)
    assert main([*line, *width]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "right 5 points less often than guessed" in told
    if not width:
        assert told.startswith(
            "64 labels of a random sample are expected to give an interval 0.125"
        )
        assert "9 tables of 10 reach 0.125." in told
        return
    rates = {"prevalence": 0.6, "sensitivity": 0.85, "specificity": 0.85, "items": 500}
    assert document["labels_needed"] == P.budget.labels_by_design(0.25, **rates)
    worse = rates | {"sensitivity": 0.8, "specificity": 0.8}
    of_worse = P.budget.labels_by_design(0.25, **worse)["random sample"]
    for n in (*document["labels_needed"].values(), of_worse):
        assert f" {n} " in told or f" {n}," in told or f" {n}." in told


@pytest.mark.slow
@pytest.mark.parametrize("item", [[], ["--item", "request"]])
def test_of_periods_the_date_of_a_change_is_told(tmp_path, capsys, item):
    """The same from verdicts of independent rows and of items that no two periods share."""
    rng, parts = np.random.default_rng(3), []
    for week, share in enumerate((0.9, 0.9, 0.9, 0.5, 0.5), 1):
        good = rng.random(150) < share
        said = np.where(rng.random(150) < 0.9, good, ~good).astype(int)
        known = np.where(np.arange(150) < 40, good.astype(float), np.nan)
        parts.append(pd.DataFrame({"week": f"2026-W{week:02}", "verdict": said, "truth": known}))
    table = pd.concat(parts, ignore_index=True).rename_axis("request").reset_index()
    table.to_csv(tmp_path / "log.csv", index=False)
    line = ["prevalence", str(tmp_path / "log.csv"), "--verdict", "verdict", "--truth", "truth"]
    line += ["--calibration", "random", "--by", "week", "--no-nuts", *item]
    assert main([*line, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    counts = P.Counts.from_frame(table, calibration="random", by="week")
    expected = P.change_point(counts)
    assert document["change"]["bayes_factor"] == pytest.approx(expected.bayes_factor)
    assert document["change"]["dates"][0]["before"] == "2026-W03"
    assert document["change"]["dates"][0]["probability"] > 0.9
    assert main(line) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert f"When it changed {expected}" in told
    assert "Differences of periods" in told
    assert ", the first from the last" in told
    assert "system" not in told.partition("When it changed")[0].replace("of each system", "")


@pytest.mark.slow
def test_several_people_in_every_shape_of_table(tmp_path, capsys):
    """A column each, a row per person, and either in a file of its own: one answer."""
    wide = bj.prevalence.people.simulate(items=60, labelled=60, random_seed=3)
    wide.insert(0, "item", [f"q{i}" for i in range(len(wide))])
    names = ["ann1", "ann2"]
    long = wide.melt(["item", "verdict"], names, "who", "label").dropna()
    empty = wide[wide["ann1"].isna()][["item", "verdict"]]
    tables = {
        "wide": wide,
        "long": pd.concat([long, empty]),
        "verdicts": wide[["item", "verdict"]],
        "labels": wide[["item", *names]].dropna(),
        "rows": long[["item", "who", "label"]],
        "raters": wide.melt("item", var_name="who", value_name="label").dropna(),
    }
    for name, table in tables.items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    by_row = ["--truth", "label", "--rater", "who"]
    said = []
    for table, options in (
        ("wide", ["--truth", *names]),
        ("long", by_row),
        ("verdicts", ["--truth", *names, "--labels", str(tmp_path / "labels.csv")]),
        ("verdicts", [*by_row, "--labels", str(tmp_path / "rows.csv")]),
        ("raters", by_row),
    ):
        line = [str(tmp_path / f"{table}.csv"), "--verdict", "verdict", *options]
        line += ["--item", "item", "--calibration", "random", "--no-nuts", "--json"]
        assert main(["prevalence", *line]) == 0
        found = json.loads(capsys.readouterr().out)
        assert main(["judge", *line]) in (0, None)
        of_judge = json.loads(capsys.readouterr().out)["answer"]["text"]
        said.append((found["answer"]["text"], found["second_look"]["expected"], of_judge))
    assert len(set(said)) == 1
    assert "Behind people's errors" in said[0][0]


@pytest.mark.slow
def test_several_people_beside_scores(tmp_path, capsys):
    """With a threshold people err too; without, the mean label is what they say on average."""
    table = bj.prevalence.people.simulate(items=60, labelled=60, random_seed=3)
    table["score"] = np.where(table["verdict"] == 1, 0.75, 0.25)
    table.to_csv(tmp_path / "log.csv", index=False)
    line = ["prevalence", str(tmp_path / "log.csv"), "--truth", "ann1", "ann2", "--json"]
    line += ["--calibration", "random", "--no-nuts"]
    scores = ["--score", "score", "--scale", "0:1"]
    assert main([*line, "--verdict", "verdict"]) == 0
    plain = json.loads(capsys.readouterr().out)["answer"]["estimates"]
    assert main([*line, *scores, "--pass-from", "0.5", "--truth-from", "0.5"]) == 0
    cut = json.loads(capsys.readouterr().out)["answer"]["estimates"]
    assert [row["value"] for row in cut] == [row["value"] for row in plain]
    assert main([*line, *scores, "--truth-scale", "0:1"]) == 0
    (mean,) = json.loads(capsys.readouterr().out)["answer"]["estimates"]
    assert mean["quantity"] == "mean_score"


@pytest.mark.slow
def test_a_judge_among_the_raters_spares_labels_too(tmp_path, capsys):
    table = bj.prevalence.people.simulate(items=60, labelled=60, random_seed=3)
    table.insert(0, "item", [f"q{i}" for i in range(len(table))])
    long = table.melt("item", var_name="who", value_name="label").dropna()
    about = ["--gate", "0.9", "--item", "item", "--n", "5", "--seed", "1", "--verdict"]
    sheets = []
    for name, rows, options in (
        ("wide", table, ["verdict", "--truth", "ann1", "ann2"]),
        ("long", long, ["verdict", "--truth", "label", "--rater", "who"]),
    ):
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
        line = ["label", str(tmp_path / f"{name}.csv"), *about, *options]
        assert main(line) == main(line) == 3  # a second look first, then new items
        sheets += [pd.read_csv(tmp_path / f"{name}.labels.csv")["item"].tolist()]
    assert sheets[0] == sheets[1]
    with command_refused("nobody", id="no-column"):
        assert main([*line[:-5], "nobody", *line[-4:]]) == 2


def test_labels_that_look_wrong_are_handed_out_first(tmp_path, capsys):
    table = bj.prevalence.people.simulate(items=60, labelled=60, random_seed=3)
    table.insert(0, "item", [f"q{i}" for i in range(len(table))])
    table.to_csv(tmp_path / "log.csv", index=False)
    line = ["label", str(tmp_path / "log.csv"), "--verdict", "verdict", "--gate", "0.9"]
    line += ["--truth", "ann1", "ann2", "--n", "5"]
    assert main(line) == 3
    sheet = pd.read_csv(tmp_path / "log.second-look.csv")
    rows = bj.prevalence.people.doubtful(table, truth=["ann1", "ann2"], calibration="random")
    assert sheet["item"].tolist() == rows["item"].drop_duplicates().head(len(sheet)).tolist()
    capsys.readouterr()
    assert main(line) == 3  # then new ones
    assert (tmp_path / "log.labels.csv").exists()
    capsys.readouterr()


@pytest.mark.slow
def test_what_a_second_look_says_is_read_by_the_line_that_is_shown(tmp_path, capsys):
    """One person's labels in the usual column, of items whose column is called otherwise."""
    table = bj.prevalence.people.simulate(items=60, labelled=60, errors=[0.1], random_seed=3)
    table = table.rename(columns={"ann1": "truth"}).replace({1: "yes", 0: "no"})
    table.insert(0, "case", [f"q{i}" for i in range(len(table))])
    table.to_csv(tmp_path / "log.csv", index=False)
    line = ["label", str(tmp_path / "log.csv"), "--verdict", "verdict", "--gate", "0.9"]
    line += ["--item", "case", "--truth", "truth", "--pass-value", "yes"]
    assert main(line) == 3
    shown = capsys.readouterr().out
    sheet = pd.read_csv(tmp_path / "log.second-look.csv").astype({"second_look": object})
    sheet.assign(second_look="yes").to_csv(tmp_path / "log.second-look.csv", index=False)
    shown = shown.split("Then:\n  bayesjudge ")[1].split("The same command")[0]
    words = shlex.split(shown.replace("\\\n", ""))
    assert main([*words, "--no-nuts"]) == 0
    assert f"{len(sheet)} adjudicated" in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow
def test_several_people_label_other_items(tmp_path, capsys):
    """Three people: what most of them would pass is on the screen; labels by truth, too."""
    table = bj.prevalence.people.simulate(
        items=60, labelled=60, errors=[0.05, 0.05, 0.1], random_seed=3
    )
    path = tmp_path / "log.csv"
    table.to_csv(path, index=False)
    line = ["prevalence", str(path), "--verdict", "verdict"]
    line += [part for name in ("ann1", "ann2", "ann3") for part in ("--truth", name)]
    assert main([*line, "--calibration", "separate", "--no-nuts"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"({words_for('label_designs')['separate']})" in shown
    assert "most of them would pass" in shown
    assert main([*line, "--calibration", "by_truth", "--no-nuts", "--details"]) == 0
    assert "what ann1 said chose" in " ".join(capsys.readouterr().out.split())
    table.assign(p=[0.5] * 60 + [0.9] * 60).to_csv(path, index=False)
    stated = ["--calibration", "known_propensity", "--propensity", "p"]
    assert main([*line, *stated, "--no-nuts", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answer"]["known"]
