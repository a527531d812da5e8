"""``bayesjudge prevalence --score``: judges that give numbers."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from refusals import command_refused

import bayesjudge as bj
from bayesjudge.cli import main
from bayesjudge.core.methods import NUTS_SCORES, UNPAIRED_PPI

S = bj.prevalence.scores
NOW = ["--no-nuts", "--json"]
ASKED = ["log.csv", "--score", "judge_score", "--truth", "truth", "--calibration", "random"]


@pytest.fixture
def ask(tmp_path, monkeypatch, capsys):
    """Run ``bayesjudge prevalence`` on scores from 1 to 5: what it printed."""
    monkeypatch.chdir(tmp_path)
    table = S.simulate(numeric=True, shape="even", random_seed=1)
    table.assign(judge_score=1 + 4 * table["score"]).to_csv("log.csv", index=False)
    passes = S.simulate(shape="even", random_seed=1)
    passes.assign(judge_score=1 + 4 * passes["score"]).to_csv("passes.csv", index=False)

    def call(*arguments, code=0):
        assert main(["prevalence", *arguments]) == code
        done = capsys.readouterr()
        return done.err if code else done.out

    return call


def read(**how):
    table = S.simulate(numeric="truth_scale" in how or "truth_from" in how, shape="even",
                       random_seed=1)  # fmt: skip
    table["score"] = 1 + 4 * table["score"]
    return S.Scores.from_frame(table, calibration="random", scale=(1, 5), **how)


@pytest.mark.slow
def test_a_mean_score_and_a_share_of_passes(ask):
    for options, how in (
        (["--truth-scale", "1:5"], {"truth_scale": (1, 5)}),
        (["--truth-from", "4"], {"truth_from": 4}),
    ):
        document = json.loads(ask(*ASKED, "--scale", "1:5", *options, *NOW))
        found = {one["method"]: one["value"] for one in document["estimates"]}
        scores = read(**how)
        expected = {
            one.method.title: one for one in (*S.closed_forms(scores), S.judge_bias(scores))
        }
        assert set(found) == set(expected)
        for name, value in found.items():
            own = next(iter(expected[name].rows()))[2].value
            assert value == pytest.approx(own, rel=1e-6), name
    text = ask("passes.csv", *ASKED[1:], "--scale", "1:5", "--no-nuts", "--details")
    assert "Difference (curves)" in text
    assert "bins of the score" in text


@pytest.mark.slow
def test_pass_from_makes_scores_verdicts(ask):
    options = ["--scale", "1:5", "--truth-from", "4", "--pass-from", "4"]
    document = json.loads(ask(*ASKED, *options, *NOW))
    found = {one["method"]: one for one in document["estimates"] if one["quantity"] == "prevalence"}
    counts = read(truth_from=4).to_counts(4)
    expected = bj.prevalence.exact(counts)["prevalence"].value
    assert found["Bayesian (exact)"]["value"] == pytest.approx(expected)


@pytest.mark.slow
def test_each_system_has_its_own_estimate(ask):
    table = pd.read_csv("log.csv")
    table.insert(0, "bot", np.where(table.index % 3 == 0, "x", "y"))
    table.loc[table["bot"] == "x", "truth"] = table["truth"].clip(upper=4)
    table.to_csv("log.csv", index=False)
    options = [*ASKED, "--scale", "1:5", "--truth-scale", "1:5", "--by", "bot"]
    document = json.loads(ask(*options, *NOW))
    assert document["inputs"]["systems"] == "x, y"
    found = {(one["method"], one["where"]["system"]): one for one in document["estimates"]}
    for name in "xy":
        own = table[table["bot"] == name].drop(columns="score")
        own = own.rename(columns={"judge_score": "score"})
        alone = S.Scores.from_frame(own, calibration="random", scale=(1, 5), truth_scale=(1, 5))
        for one in S.closed_forms(alone):
            row = found.pop((one.method.title, name))
            assert (row["value"], row["low"], row["high"]) == pytest.approx([*one["mean_score"]])
    assert not found
    text = ask(*options, "--no-nuts")
    pattern = r"points \(.*interval\) on a 1 to 5 scale, better with probability .*People would "
    pattern += r"give [xy] \d\.\d+ \(.*\) and [xy] \d\.\d+ \(.*\) on average\."
    assert re.search(pattern, " ".join(text.split()))
    read = {
        name: S.Scores.from_frame(
            own, calibration="random", scale=(1, 5), score="judge_score", truth_scale=(1, 5)
        )
        for name, own in table.groupby("bot")
    }
    expected = S.unpaired_difference(read)["difference", "x", "y"]
    (difference,) = document["differences"]
    assert [difference[name] for name in ("value", "low", "high")] == pytest.approx([*expected])


@pytest.mark.study
def test_systems_that_share_no_item_are_sampled_and_ranked(ask):
    table = pd.read_csv("passes.csv")
    table["bot"] = np.array(["x", "y", "z"])[table.index % 3]
    table.to_csv("passes.csv", index=False)
    options = ["passes.csv", *ASKED[1:], "--scale", "1:5", "--by", "bot"]
    document = json.loads(ask(*options, "--nuts", "--json"))
    methods = {one["method"] for one in document["differences"]}
    assert methods == {UNPAIRED_PPI.title, NUTS_SCORES.title}
    assert len(document["differences"]) == 6
    assert {one["system"] for one in document["ranks"]} == {*"xyz"}
    sampled = [one for one in document["estimates"] if one["method"] == "Bayesian (NUTS), scores"]
    assert {one["where"]["system"] for one in sampled} == {*"xyz"}
    for one in document["differences"]:
        assert 0 < one["probability"] < 1
        assert one["low"] < one["value"] < one["high"]


@pytest.mark.slow
def test_systems_on_the_same_items_are_compared(ask):
    table = pd.read_csv("log.csv").assign(bot="x")
    table["n"] = table.index
    other = table.assign(bot="y", truth=(table["truth"] - 0.5).clip(1))
    both = pd.concat([table, other.iloc[3:]])
    both.to_csv("log.csv", index=False)
    options = [*ASKED, "--scale", "1:5", "--truth-scale", "1:5", "--by", "bot", "--item", "n"]
    document = json.loads(ask(*options, *NOW))
    (found,) = document["differences"]
    read = S.PairedScores.from_frame(
        both.drop(columns="score"), score="judge_score", by="bot", item="n", calibration="random",
        scale=(1, 5), truth_scale=(1, 5),
    )  # fmt: skip
    expected = bj.prevalence.paired_difference(read)["difference", "x", "y"]
    assert [found[name] for name in ("value", "low", "high")] == pytest.approx([*expected])
    assert found["shared"] == len(other) - 3
    assert found["not_shared"] == 3
    text = " ".join(ask(*options, "--no-nuts").split())
    assert text.startswith("x is better than y: 0.")
    assert "on a 1 to 5 scale, better with probability" in text
    assert f"compared on the {len(other) - 3:,} items that they share, of which " in text
    assert "3 items of one system only are not compared" in text
    without = " ".join(ask(*options[:-2], "--no-nuts").split())
    assert "--item COLUMN compares them item by item." in without
    assert "2 systems, compared as independent samples." in without
    both.assign(n=np.arange(len(both))).to_csv("log.csv", index=False)
    apart = " ".join(ask(*options, "--no-nuts").split())
    assert "2 systems, compared as independent samples: they share no item." in apart


@pytest.mark.slow
def test_three_systems_are_compared_by_two(ask):
    table = pd.read_csv("log.csv").assign(bot="x")
    table["n"] = table.index
    more = [
        table.assign(bot=b, truth=(table["truth"] - d).clip(1)) for b, d in (("y", 1), ("z", 2))
    ]
    pd.concat([table, *more]).to_csv("log.csv", index=False)
    options = [*ASKED, "--scale", "1:5", "--truth-scale", "1:5", "--by", "bot", "--item", "n"]
    text = " ".join(ask(*options, "--no-nuts").split())
    assert "compared by two on the items that they share." in text
    assert "x is better than y: 0." in text
    assert "y is better than z: 0." in text
    assert "x is better than z" not in text
    assert "x is better than z" in " ".join(ask(*options, "--no-nuts", "--details").split())


@pytest.mark.slow
def test_strata_of_scores_without_a_threshold_are_shown_a_way_out(ask):
    table = pd.read_csv("log.csv").assign(kind=lambda t: np.where(t.index % 3 == 0, "x", "y"))
    table.loc[(table["kind"] == "x") & (table.index % 2 == 0), "truth"] = np.nan
    table.to_csv("log.csv", index=False)
    options = [*ASKED, "--scale", "1:5", "--truth-from", "4", "--stratum", "kind"]
    text = ask(*options, code=2)
    assert "--pass-from LOWEST" in text
    assert "--calibration known_propensity --propensity COLUMN" in text


@pytest.mark.fast_named("log.parquet-more4")
@pytest.mark.parametrize(
    ("file", "more"),
    [
        ("log.csv", ["--stratum", "kind"]),
        ("log.csv", ["--by", "kind"]),
        ("log.csv", ["--by", "kind", "--item", "n"]),
        ("log.csv", ["--propensity", "p"]),
        ("log.parquet", ["--by", "kind", "--item", "n"]),
        pytest.param("log.parquet", ["--stratum", "kind"], marks=pytest.mark.study),
        pytest.param("log.parquet", ["--by", "kind"], marks=pytest.mark.study),
        pytest.param("log.parquet", ["--propensity", "p"], marks=pytest.mark.study),
    ],
)
def test_with_a_threshold_scores_are_verdicts_in_all_that_is_asked(ask, monkeypatch, more, file):
    """As a table of verdicts made by hand, also if an engine counts it."""
    rows = pd.read_csv("log.csv").sample(frac=1, random_state=1, ignore_index=True)
    table = rows.assign(  # in random order, as labels are
        kind=lambda t: np.where(t.index % 2 == 0, "x", "y"), n=lambda t: t.index // 2, p=0.2
    )
    dropped = np.random.default_rng(1).random(len(table)) < 0.3
    table.loc[(table["kind"] == "x") & dropped, "truth"] = np.nan
    if file == "log.csv":
        table.to_csv(file, index=False)
    else:
        pytest.importorskip("duckdb")
        monkeypatch.setattr(bj.readers.tables, "LARGE", 100)
        table.to_parquet(file)
    options = [file, *ASKED[1:], "--scale", "1:5", "--truth-from", "4", "--pass-from", "4", *more]
    verdicts = table.assign(
        verdict=np.where(table["judge_score"] >= 4, "pass", "fail"),
        truth=table["truth"].map(lambda x: x if np.isnan(x) else float(x >= 4)),
    )
    verdicts.to_csv("verdicts.csv", index=False)
    words = ["verdicts.csv", "--verdict", "verdict", *ASKED[3:], *more]
    if "p" in more:
        options[options.index("random")] = words[words.index("random")] = "known_propensity"
    found, same = (json.loads(ask(*one, *NOW)) for one in (options, words))
    assert found["answer"]["estimates"] == same["answer"]["estimates"]
    assert found.get("differences") == same.get("differences")
    ids = [[caution["id"] for caution in one["cautions"]] for one in (found, same)]
    if file == "log.parquet":  # engines do not ask how labels came
        ids[1] = [one for one in ids[1] if one != "label-selection"]
    assert ids[0] == ids[1]  # tables of other columns: their probabilities differ


@pytest.mark.slow
@pytest.mark.parametrize("names", [["ok"], ["ok", "bad"], []])
def test_with_a_threshold_labels_keep_their_names(ask, names):
    """Also if `0` or `1` is what a pass is called, and if only passes or fails are named."""
    table = pd.read_csv("passes.csv")
    expected = json.loads(ask("passes.csv", *ASKED[1:], "--scale", "1:5", "--pass-from", "3", *NOW))
    for good, bad in (("ok", "bad"), ("0", "1"), ("F", "P")):
        if not names and good != "ok":
            continue
        known = table["truth"].map({1.0: good, 0.0: bad} if names else {1.0: "good", 0.0: "bad"})
        table.assign(truth=known).to_csv("named.csv", index=False)
        more = ["--pass-value", good] * ("ok" in names) + ["--fail-value", bad] * ("bad" in names)
        options = ["named.csv", *ASKED[1:], "--scale", "1:5", "--pass-from", "3", *more]
        found = json.loads(ask(*options, *NOW))
        assert found["answer"]["estimates"] == expected["answer"]["estimates"], (good, more)


@pytest.mark.slow
def test_systems_that_cannot_be_read_are_named(ask):
    table = pd.read_csv("log.csv").assign(bot=lambda t: np.where(t.index % 3 == 0, "x", "y"))
    table.loc[table["bot"] == "x", "truth"] = np.nan
    table.to_csv("log.csv", index=False)
    options = [*ASKED, "--scale", "1:5", "--truth-scale", "1:5", "--by", "bot"]
    text = ask(*options, code=2)
    assert "x: " in text
    assert "y: " not in text
    table.assign(bot="y").to_csv("log.csv", index=False)
    assert "--save keeps the fit of one system" in ask(*options, "--save", "fit.nc", code=2)


@pytest.mark.slow
def test_what_is_missing_is_said(ask):
    assert "--scale is needed with --score: the lowest and the highest" in ask(*ASKED, code=2)
    for text in ("five", "1-"):
        with command_refused(id="scale-unread", text=text):
            ask(*ASKED, "--scale", text, code=2)
    for option in (
        ["--repeats", "judge"],
        ["--pooling", "full"],
        ["--prior", "jeffreys"],
        ["--all-methods"],
    ):
        assert f"{option[0]} is not for scores" in ask(*ASKED, "--scale", "1:5", *option, code=2)
    plain = ["log.csv", "--truth", "truth", "--calibration", "random"]
    assert "--verdict (or --score" in ask(*plain, code=2)
    assert "--pass-from is for scores: give them by --score, in place of --verdict" in ask(
        *plain, "--verdict", "truth", "--pass-from", "4", code=2
    )


@pytest.mark.slow
def test_outputs_without_a_score_are_refused_with_the_option(ask):
    table = pd.read_csv("log.csv")
    table.loc[0, "judge_score"] = None
    table.to_csv("blank.csv", index=False)
    asked = ["blank.csv", *ASKED[1:], "--scale", "1:5", "--truth-scale", "1:5", *NOW]
    assert "--unparsed drop" in ask(*asked, code=2)
    assert json.loads(ask(*asked, "--unparsed", "drop"))["estimates"]
