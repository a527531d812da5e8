"""The fact tables say what their sources say, and labels are kept at random."""

import inspect
import zlib
from itertools import product
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from conftest import shared
from refusals import refused

import bayesjudge as bj
from bayesjudge import datasets

#: Of the text of each table that is read without a file of a user's.
CHECKSUMS = {
    "code_feedback_votes": 530822794,
    "composo_scores full": 1483964498,
    "composo_scores mini": 4266436860,
    "dices": 3182643596,
    "llm_rubric": 1709755729,
    "llmbar": 3515763147,
    "pandalm": 1807594302,
    "santa_clara": 473337013,
    "score_changes reformatted": 1616693214,
    "score_changes rejudged": 3145671677,
    "tau_bench_airline": 3442060963,
    "xstest": 1642691930,
    "xstest_counts": 698677625,
    "xstest_ratings": 2123644190,
}


def test_xstest_has_the_published_shares():
    """Full compliance by people, and by the judge where it can be read; three decimals."""
    table = datasets.xstest()
    assert table.shape == (2250, 4)
    people = table.groupby("system")["truth"].mean().round(3).to_dict()
    judge = table.groupby("system")["verdict"].mean().round(3).to_dict()
    published = {
        "gpt4": (0.511, 0.573),
        "llama2new": (0.391, 0.587),
        "llama2orig": (0.224, 0.422),
        "mistralguard": (0.467, 0.642),
        "mistralinstruct": (0.831, 0.875),
    }
    assert {name: (people[name], judge[name]) for name in people} == published


def test_xstest_is_what_the_source_file_counts():
    rows = pd.read_csv(shared("data/xstest/xstest_labels_compact.csv"))
    truth, verdict = (
        np.where(rows[column] == "INVALID", "unread", rows[column] == "1_full_compliance")
        for column in ("final_label", "gpt4_label")
    )
    counted = pd.crosstab(rows["model"], [truth, verdict])
    ours = datasets.xstest_counts()
    cells = {"tp": ("True", "True"), "fn": ("True", "False"), "fp": ("False", "True")}
    cells |= {"tn": ("False", "False"), "unparsed_good": ("True", "unread")}
    for column, cell in cells.items():
        assert counted[cell].to_dict() == ours[column].to_dict(), column
    assert ours.to_numpy().sum() == len(rows)


def test_rows_add_up_to_the_counts():
    table, counts = datasets.xstest(), datasets.xstest_counts()
    for system, rows in table.groupby("system"):
        cells = rows.groupby(["truth", "verdict"], dropna=False).size()
        found = [cells.get(c, 0) for c in ((1, 1), (1, 0), (0, 1), (0, 0))]
        assert found == counts.loc[system, ["tp", "fn", "fp", "tn"]].tolist()
        assert rows["verdict"].isna().sum() == counts.loc[system, "unparsed_good"]
        assert rows["item"].is_unique


def test_santa_clara_reads_as_counts():
    counts = bj.prevalence.Counts.from_counts(datasets.santa_clara(), calibration="separate")
    assert counts.test_pass[0] / counts.test_n[0] == 50 / 3330
    assert counts.systems == ("pooled",)


def test_keep_labels_keeps_n_of_each_and_nothing_else_changes():
    table = datasets.xstest()
    kept = datasets.keep_labels(table, 30, 1, by="system")
    assert kept.groupby("system")["truth"].count().tolist() == [30] * 5
    shown = kept["truth"].notna()
    assert (kept.loc[shown, "truth"] == table.loc[shown, "truth"]).all()
    assert kept.drop(columns="truth").equals(table.drop(columns="truth"))
    assert table["truth"].notna().all()


def test_keep_labels_follows_its_seed():
    table = datasets.xstest()
    one, same, other = (datasets.keep_labels(table, 100, seed) for seed in (1, 1, 2))
    assert one.equals(same)
    assert not one.equals(other)
    assert one["truth"].count() == 100


@pytest.mark.slow
def test_keep_labels_is_a_random_sample():
    """Over 400 seeds the mean label is the share of all; 5 standard errors."""
    table = datasets.xstest()
    share, n, runs = table["truth"].mean(), 100, 400
    means = [datasets.keep_labels(table, n, seed)["truth"].mean() for seed in range(runs)]
    error = np.sqrt(share * (1 - share) / n / runs)
    assert abs(np.mean(means) - share) < 5 * error


def test_keep_labels_refuses_more_than_there_are():
    with refused("gpt4", 451, 450, subject="keep_labels"):
        datasets.keep_labels(datasets.xstest(), 451, 1, by="system")
    with refused("sytem", "system", subject="table"):
        datasets.keep_labels(datasets.xstest(), 10, 1, by="sytem")
    with refused(n=0):
        datasets.keep_labels(datasets.xstest(), 0)


@pytest.mark.slow
def test_every_table_that_comes_with_the_package_is_that_of_today():
    """Those that were typed from papers have no other source here: a cell that moves is seen."""
    found = {}
    for name in datasets.__all__:
        function = getattr(datasets, name)
        asked = inspect.signature(function, eval_str=True).parameters.values()
        if any(one.default is one.empty or one.name == "path" for one in asked):
            continue
        kinds = [[(one.name, value) for value in get_args(one.annotation)] for one in asked]
        for chosen in product(*kinds):
            rows = function(**dict(chosen)).to_csv().encode()
            found[" ".join([name, *(value for _, value in chosen)])] = zlib.crc32(rows)
    assert found == CHECKSUMS
