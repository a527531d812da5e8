"""Rows that share items in published data: repeated scores, both orders, epochs of a log."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest
from conftest import shared
from numpy.testing import assert_allclose

from bayesjudge import prevalence
from bayesjudge.prevalence.items import Items
from bayesjudge.prevalence.items.closed_form import clusters_of
from bayesjudge.truth import by_item


@pytest.fixture(scope="module")
def composo():
    """Cells of each response that a judge scored eight times, and which ones are right."""
    with gzip.open(shared("data/composo/base_both_k8.jsonl.gz"), "rt") as file:
        rows = [json.loads(line) for line in file]
    found = [(one, i == 0) for row in rows for i, one in enumerate(row["mini_scores"])]
    found = [(one, good) for one, good in found if len(one) == 8 and None not in one]
    passes = np.array([sum(score >= 8 for score in one) for one, _ in found])
    return passes, np.array([good for _, good in found])


def labelled(composo, known):
    """Eight verdicts of each response; `known` ones have a label."""
    passes, good = composo
    cells = np.zeros((passes.size, 1, 3, 2), int)
    which = np.where(known, good.astype(int), 2)
    cells[np.arange(passes.size), 0, which] = np.column_stack([8 - passes, passes])
    return Items(cells, np.ones(passes.size, int), ("judge",), "random", repeats="judge")


@pytest.mark.slow
def test_eight_scores_of_a_response_are_one_label(composo):
    """Labels of 100 responses, drawn again and again: rows as items cover half the time."""
    rng, truth = np.random.default_rng(1), composo[1].mean()
    covered = {"rows": [], "items": []}
    for _ in range(100):
        known = np.zeros(composo[1].size, bool)
        known[rng.choice(known.size, 100, replace=False)] = True
        items = labelled(composo, known)
        found = prevalence.difference(items.pooled())["prevalence"]
        covered["rows"].append(found.low <= truth <= found.high)
        found = prevalence.difference(items)["prevalence"]
        covered["items"].append(found.low <= truth <= found.high)
    assert np.mean(covered["rows"]) < 0.7
    noise = np.sqrt(0.95 * 0.05 / 100)
    assert np.mean(covered["items"]) > 0.95 - 4 * noise


def test_both_orders_of_a_pair_are_one_output():
    """LLMBar: a judge sees each pair twice, with one truth."""
    table = pd.read_csv(shared("data/llmbar/judgments_natural.csv.gz"))
    judge = (table["llm"] == table["llm"].iloc[0]) & (table["strategy"] == "CoT")
    table = table[judge & table[["order1", "order2"]].notna().all(axis=1)]
    log = table.melt(["item", "gold"], ["order1", "order2"], value_name="winner")
    log["verdict"] = (log["winner"] == 1).astype(int)
    log["truth"] = (log["gold"] == 1).astype(float).where(log["item"] < 40)
    items = Items.from_frame(log, calibration="random", repeats="judge")
    assert items.n_rows == 2 * items.n_items == 2 * len(table)
    labels = int((table["item"] < 40).sum())
    rows = items.rows(items.systems[0])
    assert items.count @ rows.labelled == labels  # one truth for both orders
    found = prevalence.difference(items)["prevalence"]
    share = (table["gold"] == 1).mean()
    assert found.low < share < found.high
    rowwise = prevalence.difference(items.pooled())["prevalence"]
    # twice the labels that there are
    ratio = (found.high - found.low) / (rowwise.high - rowwise.low)
    assert 1.2 < ratio < 1.7


def test_three_epochs_of_a_log():
    """An Inspect log: 3 questions, 3 epochs, a grade that failed and one of partial credit."""
    text = shared("data/log_formats/inspect_ai/toyqa_3epochs_2scorers.json").read_text()
    log = pd.DataFrame(
        {
            "id": sample["id"],
            "epoch": sample["epoch"],
            "match": sample["scores"]["match"]["value"],
            "verdict": sample["scores"]["model_graded_qa"]["value"],
        }
        for sample in json.loads(text)["samples"]
    )
    log["truth"] = log["match"].where(log["id"] != "q3")
    how = {"item": "id", "calibration": "random", "pass_value": "C", "fail_value": ["I", "P"]}
    items = Items.from_frame(log, repeats="system", unparsed="fail", **how)
    assert (items.n_items, items.n_rows, items.unparsed) == (3, 9, 1)
    assert "few-labelled-items" in {c.id for c in prevalence.difference(items).cautions}
    # with every row labelled the error is that of Inspect's stderr(cluster="id")
    full = Items.from_frame(
        log.assign(truth=log["verdict"]), repeats="system", unparsed="drop", **how
    )
    graded = log[log["verdict"].notna()]
    y = (graded["verdict"] == "C").to_numpy(float)
    sums = pd.Series(y - y.mean()).groupby(graded["id"].to_numpy()).sum()
    clustered = np.sqrt((sums**2).sum()) / y.size
    clusters = clusters_of(full, "system")
    spread = by_item.spread_of(clusters, by_item.of_rates(clusters.totals)[0])
    assert_allclose(np.sqrt(spread.variance), clustered, rtol=1e-12)
