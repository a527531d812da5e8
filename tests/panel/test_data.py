"""From tables to distinct patterns."""

import numpy as np
import pandas as pd
import pytest

import bayesjudge as bj
from bayesjudge.core.counting import collapse

LONG = pd.DataFrame(
    {
        "item": [1, 1, 2, 2, 3],
        "generator": "gpt",
        "judge": ["a", "b", "a", "b", "a"],
        "vote": [1, 0, 1, 0, np.nan],
        "truth": [1, 1, np.nan, np.nan, 0],
    }
)


def same(one, other):
    for name in ("votes", "truth", "generator", "count", "judge_of_column"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert (one.generators, one.judges, one.classes) == (
        other.generators,
        other.judges,
        other.classes,
    )


def test_long_and_wide_tables_make_the_same_votes():
    wide = LONG.pivot(index=["item", "generator"], columns="judge", values="vote").reset_index()
    wide["truth"] = wide["item"].map(LONG.groupby("item")["truth"].max())
    same(
        bj.panel.Votes.from_frame(LONG, calibration="random"),
        bj.panel.Votes.from_frame(wide, judges=["a", "b"], calibration="random"),
    )


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_other_tables_make_the_same_votes(library):
    if library == "polars":
        import polars

        table = polars.from_pandas(LONG)
    else:
        import pyarrow

        table = pyarrow.Table.from_pandas(LONG)
    same(
        bj.panel.Votes.from_frame(table, calibration="random"),
        bj.panel.Votes.from_frame(LONG, calibration="random"),
    )


@pytest.mark.slow
def test_patterns_are_counted():
    votes = bj.panel.Votes.from_frame(
        bj.panel.simulate(items=500, random_seed=1), calibration="random"
    )
    assert votes.n_items == 1500
    assert votes.items.tolist() == [500, 500, 500]
    assert votes.labelled.sum(axis=1).tolist() == [100, 100, 100]
    assert len(votes.count) < 500
    assert votes.missing_share == pytest.approx(0.05, abs=0.01)


def test_an_item_without_votes_is_kept():
    votes = bj.panel.Votes.from_frame(LONG, calibration="random")
    assert votes.n_items == 3
    assert [-1, -1] in votes.votes.tolist()


def test_a_generator_without_labels_is_kept():
    votes = bj.panel.Votes.from_frame(
        bj.panel.simulate(labelled=(50, 50, 0), random_seed=1), calibration="random"
    )
    assert votes.labelled.sum(axis=1).tolist() == [50, 50, 0]
    same(votes, votes.hide("g3"))


def test_collapse_counts_what_sorting_rows_counts():
    rows = np.random.default_rng(0).integers(0, 4, (300, 5))
    first, counts = collapse(rows)
    unique, expected = np.unique(rows, axis=0, return_counts=True)
    np.testing.assert_array_equal(rows[first], unique)
    np.testing.assert_array_equal(counts, expected)


def test_collapse_packs_rows_too_long_for_one_number():
    rows = np.random.default_rng(0).integers(0, 3, (50, 120))
    rows = np.vstack([rows, rows[:7]])
    first, counts = collapse(rows)
    assert len(first) == 50
    assert sorted(counts.tolist()) == [1] * 43 + [2] * 7


def test_collapsed_and_item_by_item_are_the_same_votes():
    votes = bj.panel.Votes.from_frame(bj.panel.simulate(random_seed=2), calibration="random")
    rows = np.repeat(np.arange(len(votes.count)), votes.count)
    again = bj.panel.Votes(
        votes.votes[rows],
        votes.truth[rows],
        votes.generator[rows],
        votes.generators,
        votes.judges,
        calibration="random",
    )
    same(votes, again)


def test_tally_adds_up():
    votes = bj.panel.Votes.from_frame(bj.panel.simulate(random_seed=2), calibration="random")
    tally = votes.tally()
    assert (tally.sum(axis=(1, 3)) == votes.items[:, None]).all()
    assert (tally[:, :2].sum(axis=3)[:, :, 0] == votes.labelled).all()


def test_only_keeps_some_generators():
    votes = bj.panel.Votes.from_frame(bj.panel.simulate(random_seed=2), calibration="random")
    kept = votes.only("g3", "g1")
    assert kept.generators == ("g1", "g3")
    np.testing.assert_array_equal(kept.tally(), votes.tally()[[0, 2]])


def test_several_classes():
    table = pd.DataFrame({"item": [1, 1], "judge": ["a", "b"], "vote": ["high", "low"]})
    votes = bj.panel.Votes.from_frame(
        table, generator=None, truth=None, classes=["low", "middle", "high"]
    )
    assert votes.votes.tolist() == [[2, 0]]
    other = bj.panel.Votes.from_frame(
        table.assign(vote=["HIGH", "low"]), generator=None, truth=None, classes=votes.classes
    )
    assert other.votes.tolist() == [[2, 0]]
    assert other.spelling == "'HIGH' read as high"


def test_repeated_votes_can_be_kept():
    table = pd.DataFrame({"item": [1, 1, 1], "judge": ["a", "a", "b"], "vote": [1, 0, 1]})
    read = bj.panel.Votes.from_frame(table, generator=None, truth=None, repeated="keep")
    assert read.judge_of_column.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("change", "arguments", "words"),
    [
        ({"judge": ["a", "a", "a", "b", "a"]}, {}, "voted more than once"),
        ({"truth": [1, 0, None, None, 0]}, {}, "more than one truth"),
        ({"vote": [1, 0, 1, 0, "maybe"]}, {}, "maybe"),
        ({}, {"vote": "votes"}, "did you mean 'vote'"),
        ({}, {"judges": []}, "names no column"),
        ({}, {"repeated": "first"}, "error or keep"),
        ({}, {"classes": [1, 2], "pass_value": 1}, "not both"),
        ({"judge": [None, "b", "a", "b", "a"]}, {}, "no judge"),
        ({"item": [None, 1, 2, 2, 3]}, {}, "empty cells"),
    ],
)
def test_tables_that_are_refused(change, arguments, words):
    with pytest.raises(bj.InputError, match=words):
        bj.panel.Votes.from_frame(LONG.assign(**change), **arguments)


def test_all_problems_are_named_at_once():
    with pytest.raises(bj.InputError) as caught:
        bj.panel.Votes([[5, 0]], [0, 0], [3], ["g"], ["a", "a"])
    assert len(caught.value.problems) == 4


def test_labels_may_be_words():
    table = LONG.assign(vote=["yes", "no", "yes", "no", "n/a"], truth=None)
    votes = bj.panel.Votes.from_frame(
        table, truth=None, pass_value="yes", fail_value="no", missing_value="n/a"
    )
    same(votes, bj.panel.Votes.from_frame(LONG, truth=None))


def test_a_summary_fits_on_a_line_and_names_are_escaped():
    votes = bj.panel.Votes([[1, 0]], [1], [0], ["<b>"], ["a", "b"], count=[12])
    shown = "1 generator, 2 judges, 2 classes, 1 pattern, 0.0% of votes missing"
    design = "calibration='by_generator'"
    assert repr(votes) == f"Votes(12 items, 12 labelled, {shown}, {design})"
    assert votes._repr_html_() == f"<pre>{votes!r}</pre>".replace("'", "&#x27;")
    many = [f"g{i}" for i in range(300)]
    votes = bj.panel.Votes([[1]] * 300, [1] * 300, range(300), many, ["a"])
    assert len(votes._repr_html_()) < 3000
