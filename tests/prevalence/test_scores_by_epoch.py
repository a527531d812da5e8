"""Scores of items that have several rows, such as the epochs of a run: items, not rows, count."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from conftest import study_but
from refusals import refused

import bayesjudge as bj
from bayesjudge.cli import main

P = bj.prevalence
S = bj.prevalence.scores
HOW = {"calibration": "random", "scale": (1, 5), "truth_scale": (1, 5)}


def epochs(rng, *, items=150, labelled=40, each=5, uneven=False):
    """Grades from 1 to 5 of `each` answers to every item, of which people graded all of some."""
    level = rng.normal(3, 0.8, items)[:, None]
    truth = np.clip(np.rint(level + rng.normal(0, 0.5, (items, each))), 1, 5)
    lean = rng.normal(0, 0.4, (items, 1))
    score = np.clip(np.rint(0.7 * truth + 0.8 + lean + rng.normal(0, 0.5, (items, each))), 1, 5)
    known = rng.permutation(items)[:, None] < labelled
    table = pd.DataFrame(
        {
            "item": np.repeat([f"i{i}" for i in range(items)], each),
            "score": score.ravel(),
            "truth": np.where(known, truth, np.nan).ravel(),
        }
    )
    return table.sample(frac=0.7, random_state=rng) if uneven else table


def by_hand(table):
    return table.groupby(["item"], as_index=False)[["score", "truth"]].mean()


def numbers(scores):
    estimates = [*S.closed_forms(scores), S.judge_bias(scores)]
    return pd.concat([one.table.assign(method=one.method.title) for one in estimates])


@pytest.mark.slow
@pytest.mark.parametrize("kind", [lambda table: table, pl.from_pandas], ids=["pandas", "polars"])
@pytest.mark.parametrize("uneven", [False, True])
def test_rows_of_an_item_count_as_one_with_their_means(kind, uneven):
    table = epochs(np.random.default_rng(1), uneven=uneven)
    found = S.Scores.from_frame(kind(table), item="item", **HOW)
    alone = S.Scores.from_frame(by_hand(table), item="item", **HOW)
    pd.testing.assert_frame_equal(numbers(found), numbers(alone))
    assert (int(found.n.sum()), found.rows, alone.rows) == (150, len(table), 0)
    basis = S.answer(*S.closed_forms(found)).basis
    assert basis.startswith("150 items, 40 of ")
    assert f"); {len(table):,} rows" in basis


@pytest.mark.slow
def test_systems_are_compared_item_by_item():
    rng = np.random.default_rng(2)
    first = epochs(rng)
    better = (first[["score", "truth"]] + 0.5).clip(1, 5)
    both = pd.concat([first.assign(system="a"), first.assign(system="b", **better)])
    single = pd.concat(by_hand(one).assign(system=name) for name, one in both.groupby("system"))
    found, alone = (
        P.paired_difference(S.PairedScores.from_frame(rows, by="system", item="item", **HOW))
        for rows in (both, single)
    )
    pd.testing.assert_frame_equal(found.table, alone.table)
    read = S.read_systems(both, by="system", item="item", **HOW)
    assert {name: one.rows for name, one in read.items()} == {"a": 750, "b": 750}


def test_log_odds_are_averaged_as_probabilities():
    rows = pd.DataFrame({"item": [*"aabbccdd"], "score": [-2, 2, 3, 1, 0, 0, -1, -4.0]})
    rows["truth"] = [1, 1, 1, 1, 0, 0, np.nan, np.nan]
    found = S.Scores.from_frame(rows, calibration="random", scale="log_odds", item="item")
    means = (1 / (1 + np.exp(-rows["score"]))).groupby(rows["item"]).mean()
    assert np.allclose(np.sort(found.score), np.sort(means))


@pytest.mark.slow
def test_what_items_with_several_rows_cannot_be():
    table = epochs(np.random.default_rng(3))
    more = HOW | {"calibration": "by_verdict", "edges": (2.5,)}
    with refused("calibration=", "by_verdict", subject="scores of items with several rows"):
        S.Scores.from_frame(table, item="item", **more)
    chances = {"calibration": "known_propensity", "propensity": "p"}
    with refused("calibration=", subject="scores of items with several rows"):
        S.Scores.from_frame(table.assign(p=0.5), item="item", **HOW | chances)
    passes = table.assign(truth=(table["truth"] > 3).where(table["truth"].notna()).astype(float))
    del (plain := dict(HOW))["truth_scale"]
    with pytest.raises(bj.InputError, match="labels of an item say pass and fail; truth_scale="):
        S.Scores.from_frame(passes, item="item", **plain)
    assert S.Scores.from_frame(passes, item="item", truth_scale=(0, 1), **plain).numeric
    same = passes.assign(truth=passes.groupby("item")["truth"].transform("max"))
    assert not S.Scores.from_frame(same, item="item", **plain).numeric
    with refused("unscored=", "drop", subject="column 'score'"):
        S.Scores.from_frame(table.assign(score=table["score"].where(table.index > 3)), item="item",
                            **HOW)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("method", ["difference", "human_only", "post_stratified"])
@pytest.mark.parametrize("draws", study_but([60, 200], 60))
def test_intervals_by_item_hold_and_those_by_row_do_not(method, draws):
    truth = epochs(np.random.default_rng(0), items=400_000, labelled=400_000)["truth"].mean()
    held, width = [], []
    for seed in range(draws):
        table = epochs(np.random.default_rng(100 + seed))
        rows = [
            getattr(P, method)(S.Scores.from_frame(table, item=item, **HOW))["mean_score"]
            for item in ("item", None)
        ]
        held.append([row.low <= truth <= row.high for row in rows])
        width.append([row.high - row.low for row in rows])
    by_item, by_row = np.mean(held, axis=0)
    assert by_item > 0.95 - 3 * np.sqrt(0.95 * 0.05 / draws)
    assert by_row < 0.85
    ratio = np.mean(width, axis=0)
    assert ratio[1] < 0.7 * ratio[0]


@pytest.mark.slow
def test_the_command_counts_items_and_asks_for_them(tmp_path, capsys):
    epochs(np.random.default_rng(4)).to_csv(tmp_path / "grades.csv", index=False)
    asked = [str(tmp_path / "grades.csv"), "--score", "score", "--truth", "truth", "--scale", "1:5"]
    asked += ["--truth-scale", "1:5", "--calibration", "random", "--no-nuts", "--json"]
    rows, items = (
        [main(["prevalence", *asked, *more]), json.loads(capsys.readouterr().out)][1]
        for more in ([], ["--item", "item"])
    )
    assert "); 750 rows" in items["answer"]["basis"]
    assert items["inputs"]["rows"] == 750
    note = rows["answer"]["notes"][-1]
    assert note.startswith("Labels cover whole groups of item: 40 of 150 have one on every row")
    assert note.endswith("say --item item.")
    assert not any("whole groups" in one for one in items["answer"]["notes"])
    widths = [
        one["high"] - one["low"]
        for document in (rows, items)
        for one in document["answer"]["estimates"]
    ]
    assert widths[0] < 0.7 * widths[1]
