"""From a user's table to counts, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from refusals import refused

import bayesjudge as bj

Counts = bj.prevalence.Counts
TABLE = pd.DataFrame(
    {
        "verdict": [1, 0, 1, 1, 0, 1, 0],
        "truth": [1, 1, 0, None, None, None, 0],
    }
)
EXPECTED = {"test_n": 3, "test_pass": 2, "correct_n": 2, "correct_pass": 1, "incorrect_n": 2}


def fields_of(counts):
    return {name: getattr(counts, name) for name in EXPECTED}


def read(table, **kwargs):
    return Counts.from_frame(table, **{"calibration": "random", **kwargs})


def test_labelled_rows_calibrate_and_the_others_are_the_test_set():
    assert fields_of(read(TABLE)) == EXPECTED
    assert read(TABLE).incorrect_fail == 1
    assert read(TABLE).labelled_pass == 2


def test_each_kind_of_labelled_item_is_counted():
    table = pd.DataFrame(
        {
            "verdict": [1] * 1 + [0] * 2 + [1] * 3 + [0] * 4 + [1],
            "truth": [1] * 3 + [0] * 7 + [np.nan],
        }
    )
    counts = read(table)
    assert (counts.correct_n, counts.correct_pass) == (3, 1)
    assert (counts.incorrect_n, counts.incorrect_fail) == (7, 4)
    assert (counts.test_n, counts.test_pass, counts.labelled_pass) == (1, 1, 4)


@pytest.mark.slow
def test_every_kind_of_table_gives_the_same_counts():
    words = TABLE.replace({1: "yes", 0: "no"}).astype(object).where(TABLE.notna(), None)
    for table in (
        pl.from_pandas(TABLE),
        pl.from_pandas(TABLE).lazy(),
        pa.Table.from_pandas(TABLE),
        TABLE.astype("boolean"),
        TABLE.astype("Float64"),
    ):
        assert fields_of(read(table)) == EXPECTED
    assert fields_of(read(words, pass_value="yes")) == EXPECTED
    assert fields_of(read(pl.from_pandas(words), pass_value="yes", fail_value=["no"])) == EXPECTED


@pytest.mark.slow
def test_duckdb_counts_where_the_rows_are():
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.from_df(TABLE)
    assert fields_of(read(relation)) == EXPECTED


def test_order_and_repetition_of_rows_do_not_matter():
    shuffled = TABLE.sample(frac=1, random_state=1)
    assert fields_of(read(shuffled)) == EXPECTED
    doubled = read(pd.concat([TABLE, TABLE]))
    assert doubled.test_n == 6


def test_systems_come_in_the_order_of_their_names():
    table = pd.concat([TABLE.assign(system="b"), TABLE.assign(system="a").iloc[:4]])
    counts = read(table, by="system")
    assert counts.systems == ("a", "b")
    assert counts.test_n.tolist() == [1, 3]
    assert fields_of(counts.system("b")) == EXPECTED
    with refused("c", "a", "b", subject="prevalence.Counts"):
        counts.system("c")


def test_counts_are_frozen():
    counts = read(pd.concat([TABLE.assign(system="b"), TABLE.assign(system="a")]), by="system")
    with pytest.raises(ValueError, match="read-only"):
        counts.test_n[0] = 5


def test_from_counts_reads_one_row_a_system():
    table = pd.DataFrame(
        [[10, 5, 4, 3, 4, 2], [20, 5, 4, 3, 4, 2]],
        columns=[
            "test_n",
            "test_pass",
            "correct_n",
            "correct_pass",
            "incorrect_n",
            "incorrect_fail",
        ],
        index=["x", "y"],
    )
    counts = Counts.from_counts(table, calibration="by_truth")
    assert counts.systems == ("x", "y")
    assert counts.test_n.tolist() == [10, 20]
    with pytest.raises(bj.InputError, match="no columns"):
        Counts.from_counts(table[["test_n"]], calibration="by_truth")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"verdict": "judge"}, "no column 'judge'"),
        ({"verdict": "verdct"}, "did you mean 'verdict'"),
        ({"calibration": "balanced"}, "how were the labelled items chosen"),
        ({"unparsed": "zero"}, "must be 'fail' or 'drop', got 'zero'"),
    ],
)
def test_arguments_that_make_no_sense(change, message):
    with pytest.raises(bj.InputError, match=message):
        read(TABLE, **change)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.9, 0, 1, 1, 0, 1, 0], r"values found: '0', '0.9', '1'"),
        (
            ["good", "bad", "good", "ok", "bad", "bad", "bad"],
            "'ok' is neither pass nor fail; values found: 'bad', 'good', 'ok'",
        ),
        ([2, 0, 1, 1, 0, 1, 0], "'2'"),
    ],
)
def test_unexpected_labels_are_listed(values, message):
    with pytest.raises(bj.InputError, match=message):
        read(TABLE.assign(verdict=values))


def test_a_pass_value_that_never_occurs_is_an_error():
    words = TABLE.replace({1: "yes", 0: "no"})
    with refused("ja", "no", subject="table"):
        read(words, pass_value="ja")


def test_problems_of_both_columns_come_together():
    table = TABLE.assign(verdict="a", truth="b")
    with pytest.raises(bj.InputError) as error:
        read(table)
    *problems, remedy = error.value.problems
    assert len(problems) == 2
    assert remedy.id == "labels-to-name"
    assert sorted(word for words in remedy.value.values() for word in words) == ["a", "b"]


def test_verdicts_that_failed_to_parse_need_a_decision():
    table = TABLE.astype(object)
    table.loc[[0, 3], "verdict"] = None
    with refused(2, id="no-verdict"):
        read(table)
    dropped, failed = read(table, unparsed="drop"), read(table, unparsed="fail")
    assert (dropped.test_n, dropped.correct_n, dropped.unparsed) == (2, 1, 2)
    assert (failed.test_n, failed.test_pass, failed.correct_n, failed.correct_pass) == (3, 1, 2, 0)
    named = read(table.fillna({"verdict": "INVALID"}), missing_value="INVALID", unparsed="drop")
    assert fields_of(named) == fields_of(dropped)


@pytest.mark.slow
def test_repeated_items_are_an_error():
    table = TABLE.assign(item=[1, 2, 3, 4, 5, 5, 6], system="a")
    with refused("system", "item", subject="table"):
        read(table, item="item")
    with refused("system", "item", subject="table"):
        read(table, item="item", by="system")
    assert read(table.assign(system=list("aaaaabb")), item="item", by="system").test_n.sum() == 3


def test_a_table_without_labels_is_read():
    counts = Counts.from_frame(TABLE.assign(truth=np.nan), calibration="random")
    assert counts.unlabelled
    assert counts.test_n == len(TABLE)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (TABLE.iloc[:0], "has no rows"),
        ("labels.csv", "expected a DataFrame"),
    ],
)
def test_tables_that_allow_no_estimate(table, message):
    with pytest.raises(bj.InputError, match=message):
        read(table)


@pytest.mark.parametrize("table", [TABLE.assign(truth=1), TABLE.iloc[:1]])
def test_labels_of_other_items_need_unlabelled_ones(table):
    for calibration in ("by_truth", "separate"):
        with refused("calibration=", subject="prevalence.Counts"):
            read(table, calibration=calibration)
    assert read(table).test_n == 0


def test_impossible_counts_are_named_together():
    with pytest.raises(bj.InputError) as error:
        Counts(10, 11, 5, 6, 4, 2, calibration="random")
    assert "test_pass=11, test_n=10" in str(error.value)
    assert "correct_pass=6, correct_n=5" in str(error.value)
    with pytest.raises(bj.InputError, match="system 'y'"):
        Counts(
            [10, 10], [1, 11], [5, 5], [1, 1], [4, 4], [2, 2], calibration="random", systems="xy"
        )
    with refused(test_pass=[0.5]):
        Counts(10, 0.5, 5, 5, 4, 2, calibration="random")
    with pytest.raises(bj.InputError, match=r"test_n has shape \(2,\), expected one number;"):
        Counts([10, 10], -5, 5, 5, 4, 2, calibration="random")
    with refused(2, id="other-shape"):
        Counts(10, 5, 5, 5, 4, 2, calibration="random", systems="xy")
    with pytest.raises(bj.InputError, match="these repeat"):
        Counts(*([[9, 9]] * 6), calibration="random", systems="xx")


def test_simulate_keeps_its_promises():
    table = bj.prevalence.simulate(calibration="by_verdict", labelled=100, random_seed=1)
    labelled = table.dropna()
    assert (labelled["verdict"] == 1).sum() == (labelled["verdict"] == 0).sum() == 50
    table = bj.prevalence.simulate(calibration="by_truth", labelled=100, random_seed=1)
    assert table["truth"].sum() == 50
    table = bj.prevalence.simulate(
        systems=["a", "b"], prevalence=[0.0, 1.0], sensitivity=1, specificity=1, random_seed=1
    )
    assert table.groupby("system")["verdict"].mean().tolist() == [0, 1]
    with pytest.raises(bj.InputError, match=r"prevalence=1.5"):
        bj.prevalence.simulate(prevalence=1.5)


@pytest.mark.parametrize("rate", ["prevalence", "sensitivity", "specificity"])
def test_simulate_draws_the_rates_it_is_given(rate):
    truth = {"prevalence": 0.3, "sensitivity": 0.85, "specificity": 0.6}
    table = bj.prevalence.simulate(**truth, items=1, labelled=200_000, random_seed=2)
    labelled = table.dropna()
    found = {
        "prevalence": labelled["truth"],
        "sensitivity": labelled.query("truth == 1")["verdict"],
        "specificity": 1 - labelled.query("truth == 0")["verdict"],
    }[rate]
    error = np.sqrt(truth[rate] * (1 - truth[rate]) / len(found))
    assert abs(found.mean() - truth[rate]) < 5 * error
