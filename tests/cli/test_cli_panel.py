"""``bayesjudge panel`` from a file to a screen, a document, a page and a saved fit."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from refusals import command_refused

import bayesjudge as bj
from bayesjudge.cli import main

JUDGES = ["a", "b", "c", "d"]
SETTINGS = {"items": 80, "labelled": (80, 80, 80, 0), "prevalence": (0.9, 0.75, 0.6, 0.8)}


@pytest.fixture(scope="module")
def table():
    return bj.panel.simulate(**SETTINGS, random_seed=2)


@pytest.fixture(scope="module")
def long(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("panel") / "long.csv"
    table.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def wide(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("panel") / "wide.csv"
    index = ["generator", "item"]
    spread = table.pivot(index=index, columns="judge", values="vote").replace(
        {1.0: "good", 0.0: "bad"}
    )
    truth = table.groupby(index)["truth"].first().map({1.0: "good", 0.0: "bad"})
    spread.assign(human=truth).reset_index().to_csv(path, index=False)
    return path


def wide_arguments(path, *more):
    judges = [word for judge in JUDGES for word in ("--judges", judge)]
    words = ["--pass-value", "good", "--fail-value", "bad", "--truth", "human"]
    return ["panel", str(path), *judges, *words, *more]


def closed(table):
    return bj.panel.closed_forms(bj.panel.Votes.from_frame(table))


@pytest.mark.slow
def test_long_table_on_a_screen(long, table, capsys):
    assert main(["panel", str(long), "--truth", "truth", "--no-nuts", "--details"]) == 0
    out = capsys.readouterr().out
    for one in closed(table):
        row = one["prevalence", "g4"]
        if np.isfinite(row.value):
            name = re.escape(re.split("[,:]", one.method.title)[0])  # longer names are folded
            assert re.search(rf"{name}.* {row.value:.3f}", out), one.method
    advice = bj.panel.recommend(bj.panel.Votes.from_frame(table))
    assert f"{type(advice.model).__name__} ({advice.why[:60]}" in " ".join(out.split())


@pytest.mark.slow
def test_how_items_were_labelled_is_asked_and_told(tmp_path, capsys):
    path = tmp_path / "votes.csv"
    bj.panel.simulate(items=60, labelled=20, random_seed=1).to_csv(path, index=False)
    with command_refused(id="unknown-calibration"):
        assert main(["panel", str(path), "--truth", "truth", "--no-nuts"]) == 2
    capsys.readouterr()
    call = ["panel", str(path), "--truth", "truth", "--no-nuts", "--calibration", "by_truth"]
    assert main([*call, "--details"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "a fixed number of good and of bad items was labelled" in out
    assert "Difference estimator" not in out.split("Assumptions")[0].split("not-computed")[0]


@pytest.mark.slow
def test_a_panel_without_labels_is_told_how_to_add_them(tmp_path, capsys):
    path = tmp_path / "votes.csv"
    bj.panel.simulate(items=20, labelled=20, random_seed=1).to_csv(path, index=False)
    for options, told in (([], "no column; --truth NAME adds"), (["--truth", "truth"], None)):
        assert main(["panel", str(path), "--no-nuts", "--json", *options]) == 0
        said = json.loads(capsys.readouterr().out)["inputs"].get("truth")
        assert said is None if told is None else said.startswith(told)


@pytest.mark.slow
def test_wide_table_as_json(wide, table, capsys):
    assert main(wide_arguments(wide, "--no-nuts", "--json")) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["command"] == "panel"
    assert document["inputs"]["labelled"] == 240
    found = {
        (e["method"], e["quantity"], *e["where"].values()): e["value"]
        for e in document["estimates"]
    }
    for one in closed(table):
        for label in ("g1", "g4"):
            value = one["prevalence", label].value
            shown = found[one.method.title, "prevalence", label]
            assert shown is None if np.isnan(value) else shown == pytest.approx(value)


@pytest.mark.own_model
@pytest.mark.sampling
def test_a_sampled_fit_is_saved_and_shown(long, tmp_path, capsys):
    saved, page = tmp_path / "fit.nc", tmp_path / "page.html"
    call = ["panel", str(long), "--truth", "truth", "--seed", "3", "--json"]
    call += ["--model", "bias_pooling"]
    assert main([*call, "--save", str(saved), "--html", str(page)]) == 0
    document = json.loads(capsys.readouterr().out)
    fit = bj.load(saved)
    assert fit.spec == bj.panel.BiasPooling()
    sampled = {
        e["where"]["generator"]: (e["value"], e["low"], e["high"])
        for e in document["estimates"]
        if e["method"] == fit.method.title
    }
    for label, shown in sampled.items():
        assert shown == pytest.approx(tuple(fit.estimate()["prevalence", label]))
    assert len(sampled) == 4
    text = page.read_text()
    assert fit.method.title in text
    assert "Judges&#39; votes on items that people call bad" in text or (
        "Judges' votes on items that people call bad" in text
    )


@pytest.mark.own_model
@pytest.mark.sampling
def test_a_model_by_name_draws_the_judges(tmp_path, capsys):
    path, page = tmp_path / "votes.csv", tmp_path / "page.html"
    # as many generators and judges as the contract has: compiled once
    table = bj.panel.simulate(items=60, labelled=40, random_seed=1)
    table.to_csv(path, index=False)
    call = ["panel", str(path), "--truth", "truth", "--seed", "1", "--html", str(page)]
    call += ["--calibration", "random"]
    assert main([*call, "--model", "dawid_skene"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"Dawid-Skene \(NUTS\)", out)
    assert "Judges: specificity and sensitivity, 95 % posterior contours" in page.read_text()


@pytest.mark.slow
def test_what_cannot_be_read_is_named(long, tmp_path, capsys):
    assert main(["panel", str(long), "--truth", "label", "--no-nuts"]) == 2
    assert "column 'label'" in capsys.readouterr().err
    pd.read_csv(long).iloc[[0, 0]].to_csv(tmp_path / "twice.csv", index=False)
    with command_refused(1, id="votes-repeat"):
        assert main(["panel", str(tmp_path / "twice.csv"), "--no-nuts"]) == 2
    unlabelled = tmp_path / "unlabelled.csv"
    pd.read_csv(long).drop(columns="truth").to_csv(unlabelled, index=False)
    with command_refused(id="nothing-to-learn-from"):
        assert main(["panel", str(unlabelled), "--model", "vote_regression"]) == 2
    capsys.readouterr()
    call = ["panel", str(unlabelled), "--model", "bias_pooling", "--missing", "response"]
    assert main(call) == 2
    assert "--missing response is for dawid_skene and correlated" in capsys.readouterr().err


def test_three_classes(tmp_path, capsys):
    rng, path = np.random.default_rng(1), tmp_path / "votes.csv"
    truth = rng.choice(["red", "green", "blue"], 60)
    voted = np.where(rng.random((3, 60)) < 0.8, truth, rng.choice(["red", "green", "blue"], 60))
    table = pd.DataFrame(
        {"item": np.tile(range(60), 3), "generator": "g", "vote": voted.ravel()}
    ).assign(judge=np.repeat(["a", "b", "c"], 60), human=np.tile(truth, 3))
    table.to_csv(path, index=False)
    named = ["--classes", "red", "--classes", "green", "--classes", "blue"]
    assert main(["panel", str(path), "--truth", "human", "--no-nuts", "--json", *named]) == 0
    told = json.loads(capsys.readouterr().out)
    votes = bj.panel.Votes.from_frame(table, truth="human", classes=["red", "green", "blue"])
    (row,) = [
        row
        for row in told["estimates"]
        if row["quantity"] == "share" and row["where"] == {"generator": "g", "truth": "green"}
    ]
    assert row["value"] == bj.panel.dawid_skene_em(votes)["share", "g", "green"].value
    with command_refused(id="unread-labels"):
        assert main(["panel", str(path), "--truth", "human", "--no-nuts"]) == 2


@pytest.mark.slow
def test_every_items_consensus_goes_to_a_file(long, table, tmp_path, capsys):
    out = tmp_path / "items.csv"
    call = ["panel", str(long), "--truth", "truth", "--no-nuts", "--items", str(out), "--json"]
    assert main(call) == 0
    document = json.loads(capsys.readouterr().out)
    votes = bj.panel.Votes.from_frame(table)
    found = bj.panel.consensus(votes)
    (section,) = [v for k, v in document.items() if k == "consensus"]
    assert section["accuracy"] == pytest.approx(found.accuracy["accuracy"].value)
    assert section["low"] == pytest.approx(found.accuracy["accuracy"].low)
    read = pd.read_csv(out)
    expected = pd.concat(found.items(table))
    assert len(read) == votes.n_items
    assert read["p_1"].to_numpy() == pytest.approx(expected["p_1"].to_numpy())
    assert read["label"].astype(str).tolist() == expected["label"].tolist()
    assert main([*call[:-2], str(tmp_path / "missing" / "items.csv")]) == 2
    assert "--items: there is no folder" in capsys.readouterr().err


@pytest.mark.slow
def test_labels_needed_are_said(long, table, capsys):
    assert main(["panel", str(long), "--truth", "truth", "--no-nuts", "--width", "0.05"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    more = bj.panel.labels_needed(bj.panel.Votes.from_frame(table), width=0.05)["more"]
    assert f"intervals 0.05 wide need {more.sum()} more labels, at random: g4 {more['g4']}" in out


@pytest.fixture(scope="module")
def prompts(tmp_path_factory):
    """Two prompts of one judge on the answers of one system: no column names it."""
    folder = tmp_path_factory.mktemp("prompts")
    made = bj.panel.simulate(items=150, labelled=(150,), prevalence=(0.7,), random_seed=3)
    made = made[made["judge"].isin(["a", "b"])].drop(columns="generator")
    made.loc[made["item"] >= 100, "truth"] = np.nan
    made.to_csv(folder / "long.csv", index=False)
    votes = made.pivot(index="item", columns="judge", values="vote")
    votes.assign(truth=made.groupby("item")["truth"].first()).to_csv(folder / "wide.csv")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("form", [["long.csv"], ["wide.csv", "--judges", "a", "b"]])
def test_items_of_one_generator_need_no_column_that_names_it(prompts, form, capsys):
    asked = ["panel", str(prompts / form[0]), *form[1:], "--truth", "truth"]
    assert main([*asked, "--calibration", "random", "--no-nuts", "--details"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert re.match(
        r"People would pass \d+ % of outputs like these \(\d+ to \d+ %, 95 % interval\)\.", out
    )
    assert "150 outputs, 100 of" in out
    assert "generators taken as one; if there are several, --generator NAME" in out
    assert "Panel: the share of outputs that people would pass" in out
    assert "errs least" in out
    assert "all's" not in out
    assert "all 1" not in out


@pytest.mark.slow
@pytest.mark.parametrize("labelled", [10, 150])
def test_labels_of_one_generator_answer_at_once_be_they_few(
    prompts, labelled, tmp_path, capsys, monkeypatch
):
    """By their own correction, or by the regression: neither needs the sampler."""
    table = pd.read_csv(prompts / "wide.csv")
    table["truth"] = table["truth"].where(table.index < labelled)
    table.to_csv(tmp_path / "some.csv", index=False)
    asked = ["panel", str(tmp_path / "some.csv"), "--judges", "a", "b", "--truth", "truth"]
    asked += ["--calibration", "random", "--json"]
    found = []
    for more in ([], ["--no-nuts"]):
        assert main([*asked, *more]) == 0
        found.append(json.loads(capsys.readouterr().out)["answer"])
    assert found[0] == found[1]


@pytest.mark.slow
def test_rows_of_several_generators_without_their_column_are_told_how_to_name_it(
    long, tmp_path, capsys
):
    renamed = pd.read_csv(long).rename(columns={"generator": "model"})
    renamed["item"] = renamed["item"] % 20
    renamed.to_csv(tmp_path / "votes.csv", index=False)
    assert main(["panel", str(tmp_path / "votes.csv"), "--truth", "truth"]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "a judge voted more than once on an item" in told
    assert "keep one, or name what made each item (--generator)" in told


@pytest.mark.slow
def test_errors_by_the_number_of_labelled_systems_are_written(wide, tmp_path, capsys):
    asked = ["panel", str(wide), "--truth", "human", "--judges", *JUDGES, "--no-nuts"]
    asked += ["--calibration", "by_generator"]
    assert main([*asked, "--study", str(tmp_path / "study.csv"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["study"]
    assert [row["labelled"] for row in found] == [0, 1, 2]
    written = pd.read_csv(tmp_path / "study.csv")
    mean = written[(written["labelled"] == 1) & (written["method"] == "veto")]["max_error"].mean()
    assert found[1]["veto"] == pytest.approx(mean)


@pytest.mark.slow
@pytest.mark.parametrize("called", ["item", "id", "ID", "prompt_id", "anything", None])
@pytest.mark.parametrize("kind", ["text", "numbers"])
def test_items_of_a_wide_table_are_its_rows_or_what_a_column_called_like_items_names(
    called, kind, table, tmp_path, capsys
):
    rows = table[table["generator"] == "g1"]
    rows = rows.pivot(index=["item", "truth"], columns="judge", values="vote").reset_index()
    names = rows.pop("item").map("q{}".format) if kind == "text" else rows.pop("item").astype(float)
    rows = rows if called is None else rows.assign(**{called: names})
    found = []
    for i, made in enumerate([rows, rows if called is None else rows.drop(columns=called)]):
        made.to_csv(path := tmp_path / f"{i}.csv", index=False)
        line = ["panel", str(path), "--judges", *JUDGES, "--truth", "truth", "--calibration"]
        assert main([*line, "random", "--no-nuts", "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out)["estimates"])
    assert found[0] == found[1]


def test_items_of_a_wide_table_that_a_column_names_twice_are_refused(table, tmp_path):
    rows = table[table["generator"] == "g1"].pivot(
        index=["item", "truth"], columns="judge", values="vote"
    )
    rows.reset_index().assign(id="q1").drop(columns="item").to_csv(tmp_path / "t.csv", index=False)
    with command_refused("id", subject="table"):
        main(["panel", str(tmp_path / "t.csv"), "--judges", *JUDGES, "--truth", "truth"])
