import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from refusals import refused

import bayesjudge as bj
from bayesjudge import bias
from bayesjudge.bias import certificates
from bayesjudge.core.errors import InputError

LIKERT = {"scale": (1, 5), "design": "item"}


def table(*rows, columns=("item", "variant", "score")):
    return pd.DataFrame(rows, columns=list(columns))


TWO = table(
    *[("a", "baseline", 3), ("b", "baseline", 5), ("a", "bold", 4), ("b", "bold", 5)],
    *[("a", "again", 3), ("b", "again", 2)],
)


def test_shifts_are_after_less_before():
    shifts = bias.Shifts.from_frame(TWO, **LIKERT, rerun="again")
    assert shifts.only(perturbation="bold").shift.ravel().tolist() == [1, 0]
    assert shifts.only(perturbation="again").lengths.tolist() == [0, 3]
    assert (shifts.dim, shifts.largest, shifts.reruns) == (2, 4.0, ("again",))


def test_whole_batches_are_one_neighbour_each():
    shifts = bias.Shifts.from_frame(TWO, scale=(1, 5), design="batch", rerun="again")
    assert shifts.lengths.tolist() == [1, 3]
    assert shifts.largest == pytest.approx(4 * np.sqrt(2))


def test_several_scores_make_a_vector():
    rows = TWO.assign(tone=[1, 1, 4, 1, 1, 1])
    shifts = bias.Shifts.from_frame(rows, **LIKERT, score=["score", "tone"], rerun="again")
    assert_allclose(shifts.only(perturbation="bold").lengths, [np.sqrt(1 + 9), 0])
    assert shifts.dim == 4
    assert shifts.largest == pytest.approx(4 * np.sqrt(2))


@pytest.mark.slow
@pytest.mark.parametrize("convert", [pl.from_pandas, lambda t: t.iloc[::-1]])
def test_any_table_in_any_order(convert):
    one = bias.rms_shift(bias.Shifts.from_frame(TWO, **LIKERT)).table
    other = bias.rms_shift(bias.Shifts.from_frame(convert(TWO), **LIKERT)).table
    pd.testing.assert_frame_equal(
        *(t.sort_values("perturbation", ignore_index=True) for t in (one, other))
    )


@pytest.mark.slow
def test_missing_scores_must_be_spoken_for_and_are_counted():
    gone = TWO.assign(score=TWO["score"].astype(float))
    gone.loc[2, "score"] = np.nan  # a, bold; the baseline is 3, so the furthest is 2 away
    with pytest.raises(bj.InputError, match="missing='drop'"):
        bias.Shifts.from_frame(gone, **LIKERT)
    dropped = bias.Shifts.from_frame(gone, **LIKERT, missing="drop")
    assert dropped.only(perturbation="bold").lengths.tolist() == [0]
    worst = bias.Shifts.from_frame(gone, **LIKERT, missing="worst")
    assert worst.only(perturbation="bold").lengths.tolist() == [2, 0]
    for shifts in (dropped, worst):
        assert shifts.missing.sum() == 1
        assert "missing-rejudgements" in {c.id for c in bias.rms_shift(shifts).cautions}
    assert (
        bias.rms_shift(worst)["rms_shift", "bold"] != bias.rms_shift(dropped)["rms_shift", "bold"]
    )
    batch = bias.Shifts.from_frame(gone, scale=(1, 5), design="batch", missing="drop")
    assert batch.lengths.tolist() == [3]  # the batch without a's score is left out whole


def test_a_missing_baseline_counts_for_everything_that_needs_it():
    gone = TWO.assign(score=TWO["score"].astype(float))
    gone.loc[0, "score"] = np.nan
    shifts = bias.Shifts.from_frame(gone, **LIKERT, missing="drop")
    assert shifts.missing.tolist() == [[1, 1]]
    worst = bias.Shifts.from_frame(gone, **LIKERT, missing="worst")
    assert worst.lengths.max() == 4


@pytest.mark.slow
def test_repeats_must_be_spoken_for():
    more = pd.concat([TWO, table(("a", "bold", 2))])
    with pytest.raises(bj.InputError, match="repeats='mean'"):
        bias.Shifts.from_frame(more, **LIKERT)
    each = bias.Shifts.from_frame(more, **LIKERT, repeats="neighbours")
    assert sorted(each.only(perturbation="bold").shift.ravel()) == [-1, 0, 1]
    mean = bias.Shifts.from_frame(more, **LIKERT, repeats="mean")
    assert mean.only(perturbation="bold").shift.ravel().tolist() == [0, 0]
    assert "clustered-neighbours" in {c.id for c in bias.rms_shift(each).cautions}


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["baseline", "bold"])
def test_a_mean_that_lacks_a_score_is_a_missing_score(variant):
    """Two scores a cell, all of them 5; one in ten cells of one variant lacks its second."""
    rows = [(i, v, 5.0) for i in range(200) for v in ("baseline", "bold") for _ in range(2)]
    whole = table(*rows)
    second = whole.duplicated(["item", "variant"])
    gone = whole["score"].where(
        ~(second & (whole["variant"] == variant) & (whole["item"] % 10 == 0))
    )
    lacking, how = whole.assign(score=gone), {**LIKERT, "repeats": "mean"}
    with refused(20, id="scores-missing"):
        bias.Shifts.from_frame(lacking, **how)
    dropped = bias.Shifts.from_frame(lacking, **how, missing="drop")
    worst = bias.Shifts.from_frame(lacking, **how, missing="worst")
    assert (dropped.lengths.size, worst.lengths.size) == (180, 200)
    assert (dropped.lengths.max(), np.sum(worst.lengths == 4)) == (0, 20)
    asked = {"tolerance": 0.8, "failure_prob": 0.05, "units": "points"}
    assert certificates.certify(bias.Shifts.from_frame(whole, **how), **asked).alpha == 1
    assert certificates.certify(worst, **asked).alpha == pytest.approx(0.2)
    for shifts in (dropped, worst):
        assert shifts.missing.tolist() == [[20]]
        assert "missing-rejudgements" in {c.id for c in bias.rms_shift(shifts).cautions}


def test_two_baselines_cannot_both_be_released():
    more = pd.concat([TWO, table(("a", "baseline", 2))])
    with pytest.raises(bj.InputError, match="rerun="):
        bias.Shifts.from_frame(more, **LIKERT, repeats="neighbours")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"baseline": "base"}, "no variant 'base'"),
        ({"score": "points"}, "no column 'points'"),
        ({"scale": (1, 4)}, "outside the scale"),
        ({"scale": (5, 1)}, "lowest and the highest"),
        ({"design": "both"}, "what is a neighbour"),
        ({"rerun": "bald"}, "no variant 'bald'"),
        ({"missing": "zero"}, "drop or worst"),
        ({"judge": "who"}, "no column 'who'"),
    ],
)
def test_problems_are_named(change, words):
    with pytest.raises(bj.InputError, match=words):
        bias.Shifts.from_frame(TWO, **{**LIKERT, **change})


def test_an_item_without_a_baseline_is_named():
    with refused("c", subject="bias.Shifts.from_frame"):
        bias.Shifts.from_frame(pd.concat([TWO, table(("c", "bold", 2))]), **LIKERT)


def test_a_batch_that_lacks_a_row_is_refused():
    with pytest.raises(bj.InputError, match="lack rows"):
        bias.Shifts.from_frame(TWO.drop(index=2), scale=(1, 5), design="batch")


def test_all_problems_of_the_class_at_once():
    with pytest.raises(bj.InputError) as error:
        bias.Shifts.from_differences([9, np.nan], scale=(5, 1))
    assert len(error.value.problems) >= 2
    with refused(id="off-scale"):
        bias.Shifts.from_differences([9, 0], scale=(1, 5))


def test_units_are_never_guessed():
    shifts = bias.Shifts.from_differences([0, 1], scale=(1, 5))
    assert shifts.points(0.5, "range") == 2
    assert shifts.points(0.5, "points") == 0.5
    with refused("units=", "percent", subject="tolerance"):
        shifts.points(0.5, "percent")


def test_cells_put_reruns_with_the_baseline():
    shifts = bias.Shifts.from_frame(TWO, **LIKERT, rerun="again")
    assert shifts.counts.tolist() == [[[2, 1], [2, 1]]]
    assert shifts.means.tolist() == [[[3, 4], [3.5, 5]]]
    assert shifts.squares.tolist() == [4.5]  # (5 - 3.5)**2 + (2 - 3.5)**2
    assert shifts.freedom.tolist() == [2]


@pytest.mark.slow
def test_repr_fits_on_a_screen():
    names = [f"judge {i}" for i in range(20)]
    table = bias.simulate(items=50, judges=names, random_seed=1)
    shifts = bias.Shifts.from_frame(
        table, scale=(0, 100), design="item", judge="judge", rerun="rerun"
    )
    lines = repr(shifts).splitlines()
    assert "3000 neighbours (" in lines[0]
    assert lines[1].endswith("and 12 more")
    assert lines[2:] == ["  perturbations: format, order", "  reruns: rerun"]
    assert max(map(len, lines)) <= 100
    assert "<pre>Shifts of" in shifts._repr_html_()


WIDE = pd.DataFrame({"doc": list("abc"), "before": [3, 5, 2], "after": [4, 5, 1]})
#: Of a wide table.
COLUMNS = {"item": "doc", "variant": None, "score": ["before", "after"]}


@pytest.mark.parametrize("columns", [["before", "after"], ["after", "before"]])
def test_a_wide_table_is_the_long_one(columns):
    long = WIDE.melt("doc", var_name="variant", value_name="score")
    long = bias.Shifts.from_frame(long, **LIKERT, item="doc", baseline=columns[0])
    wide = bias.Shifts.from_frame(WIDE, **LIKERT, **{**COLUMNS, "score": columns})
    assert wide.perturbations == (columns[1],)
    assert wide.shift.tolist() == long.shift.tolist()
    assert repr(bias.rms_shift(wide)) == repr(bias.rms_shift(long))
    assert wide.means.tolist() == long.means.tolist()


def test_a_wide_table_keeps_its_baseline_its_reruns_and_each_judge():
    table = WIDE.assign(again=[3, 4, 2], judge=["x", "x", "y"])
    read = bias.Shifts.from_frame(
        table, **LIKERT, item="doc", variant=None, score=["after", "before", "again"],
        baseline="before", rerun="again", judge="judge",
    )  # fmt: skip
    assert (read.perturbations, read.reruns) == (("after", "again"), ("again",))
    assert sorted(zip(read.judge, read.shift[:, 0], strict=True)) == [
        (0, -1), (0, 0), (0, 0), (0, 1), (1, -1), (1, 0),
    ]  # fmt: skip


def test_nothing_of_a_wide_table_is_dropped_in_silence():
    gone = WIDE.assign(after=[4, None, 1])
    with refused("missing=", "drop", subject="bias.Shifts.from_frame"):
        bias.Shifts.from_frame(gone, **LIKERT, **COLUMNS)
    read = bias.Shifts.from_frame(gone, **LIKERT, **COLUMNS, missing="drop")
    assert (len(read.shift), int(read.missing.sum())) == (2, 1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"score": "before"}, "name the columns of the score, one per variant"),
        ({"score": ["before", "before"]}, "each once"),
        ({"score": ["before", "doc"]}, r"\['doc'\] name the item or the judge"),
        ({"baseline": "first"}, "no column 'first' among score="),
        ({"rerun": "again"}, "no column 'again' among score="),
        ({"variant": "variant"}, r"before and after changes, say variant=None"),
        ({"scale": (1, 4)}, "1 scores in column 'before' lie outside .*; 1 scores in column 'aft"),
        ({"score": ["before", "sfter"]}, "did you mean 'after'"),
    ],
)
def test_columns_of_a_wide_table_that_do_not_fit(change, words):
    with pytest.raises(InputError, match=words):
        bias.Shifts.from_frame(WIDE, **{**LIKERT, **COLUMNS, **change})
