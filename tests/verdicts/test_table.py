"""The table of verdicts: what each view is of, and the same numbers by every view."""

from dataclasses import fields, replace
from inspect import signature

import duckdb
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from refusals import refused

from bayesjudge import panel, prevalence
from bayesjudge.core.errors import InputError
from bayesjudge.core.label_design import DESIGNS
from bayesjudge.prevalence import classes, items, scores
from bayesjudge.verdicts.reading import Reading
from bayesjudge.verdicts.table import MISSING, Verdicts

SIX = {
    "test_n": [300, 200], "test_pass": [180, 150], "correct_n": [40, 30],
    "correct_pass": [36, 28], "incorrect_n": [30, 25], "incorrect_fail": [24, 20],
}  # fmt: skip


RANDOM = {"calibration": "random"}


def dense(table):
    """Outputs by group, truth (last: no label) and response of the only judge."""
    shape = (len(table.groups), len(table.classes) + 1, len(table.responses))
    found = np.zeros(shape, int)
    np.add.at(found, (table.group, table.truth, table.response[:, 0]), table.times)
    return found


@pytest.mark.parametrize("design", ["random", "by_truth", "by_verdict"])
def test_counts_are_of_patterns(design):
    counts = prevalence.Counts(**SIX, systems="ab", calibration=design)
    found = dense(counts.verdicts)
    assert_array_equal(found[:, 2].sum(axis=1), counts.test_n)
    assert_array_equal(found[:, 2, 1], counts.test_pass)
    assert_array_equal(found[:, 1, 1], counts.correct_pass)
    assert_array_equal(found[:, 0, 0], counts.incorrect_fail)
    assert counts.verdicts.groups == ("a", "b")
    labelled = counts.verdicts.about[counts.verdicts.is_labelled]
    assert (labelled == counts.design.same_items).all()


def test_external_labels_are_of_the_table_and_not_about_its_items():
    more = np.array([[9, 8], [8, 6], [7, 5], [4, 3]])
    counts = prevalence.Counts(**SIX, systems="ab", calibration="random", external_labels=more)
    table = counts.verdicts
    assert table.times[~table.about].sum() == more[[0, 2]].sum()
    assert table.labelled_n == sum(sum(SIX[name]) for name in ("correct_n", "incorrect_n")) + 29


@pytest.mark.slow
def test_parts_of_a_table_add_up_to_the_whole():
    rows = rows_of_a_judge()
    rows["second"], rows["system"] = 1 - rows["verdict"], np.where(rows.index % 3, "a", "b")
    how = {"calibration": "random", "by": "system"}
    whole = Verdicts.from_frame(rows, **how)
    parts = [Verdicts.from_frame(rows[at], **how) for at in (rows.index < 99, rows.index >= 99)]
    assert_array_equal((parts[0] + parts[1]).counts, whole.counts)
    one, two = (Verdicts.from_frame(rows[["verdict", "second", "truth"]], verdict=v, **RANDOM)
                for v in (["verdict"], ["second"]))  # fmt: skip
    both = one + two
    assert both.judges == ("verdict", "second")
    assert_array_equal(both.counts[:1], one.counts)
    with refused("random", subject="Verdicts"):
        one + Verdicts.from_frame(rows, calibration="by_truth", verdict=["verdict"])


def test_the_other_data_of_one_judge_are_of_patterns():
    log = classes.simulate(random_seed=1)
    counts = classes.ClassCounts.from_frame(log, calibration="random")
    assert_array_equal(dense(counts.verdicts)[0, :-1], counts.tables[0])
    assert_array_equal(dense(counts.verdicts)[0, -1], counts.tests[0])
    data = scores.Scores.from_frame(
        scores.simulate(random_seed=1), calibration="random", scale=(0, 1)
    )
    tally = data.tally()
    assert_array_equal(dense(data.verdicts)[0, -1], tally["test"])
    assert_array_equal(dense(data.verdicts)[0, 1], tally["sums"])
    numeric = scores.Scores(
        [1, 2, 2, 3], [1.5, 2.5, np.nan, 3.0], [2, 3, 4, 5],
        calibration="random", scale=(1, 3), truth_scale=(1, 3),
    )  # fmt: skip
    assert numeric.verdicts.classes == (1.5, 2.5, 3.0)
    assert dense(numeric.verdicts).sum() == 14


def test_items_are_of_kinds_of_items():
    cells = np.zeros((2, 1, 3, 2), int)
    cells[0, 0, 1] = (1, 2)
    cells[1, 0, 2] = (1, 1)
    for repeats in ("system", "judge"):
        data = items.Items(cells, [3, 4], ["x"], "random", repeats)
        table = data.verdicts
        assert_array_equal(table.items, [3, 4])
        given = table.response != MISSING
        rows = table.times @ given.sum(axis=1)
        assert rows == data.n_rows
        assert table.labelled_n == {"system": 9, "judge": 3}[repeats]


def test_votes_are_a_table():
    log = panel.simulate(items=60, labelled=20, random_seed=1)
    votes = panel.Votes.from_frame(log, calibration="random")
    assert_array_equal(votes.verdicts.response, votes.votes)
    assert votes.verdicts.labelled_n == votes.labelled.sum()
    assert votes.verdicts.dim == "generator"


def test_impossible_counts_are_refused():
    with refused(id="no-axes"):
        Verdicts.from_counts([1, 2], calibration="random")
    with refused(-1, id="out-of-range", name="count"):
        Verdicts.from_counts([[1, 2], [3, 4], [-1, 2]], calibration="random")


# The same numbers by every view ------------------------------------------------------------------


def rows_of_a_judge(n=400, seed=3):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.6
    verdict = np.where(rng.random(n) < 0.85, truth, ~truth)
    table = pd.DataFrame({"item": [f"q{i}" for i in range(n)], "verdict": verdict.astype(int)})
    table["truth"] = np.where(rng.random(n) < 0.4, truth.astype(float), np.nan)
    return table


@pytest.mark.slow
@pytest.mark.parametrize("design", ["random", "by_truth", "by_verdict"])
def test_one_table_has_the_same_numbers_by_every_view(design):
    rows = rows_of_a_judge()
    table = Verdicts.from_frame(rows, calibration=design)
    by_item = Verdicts.from_frame(rows, calibration=design, item="item", repeats="system")
    scored = Verdicts.from_frame(rows, calibration=design, score="verdict", scale=(0, 1))
    counts = prevalence.Counts.of(table)
    views = {
        "scores": (scores, scores.Scores.of(scored), None),
        "items": (items, items.Items.of(by_item, "system"), None),
        "classes": (classes, classes.ClassCounts.of(table), "pass"),
    }
    known = {made.method.id: made for made in prevalence.closed_forms(counts)}
    compared = 0
    for name, (module, data, label) in views.items():
        assert_array_equal(dense(data.verdicts), dense(table), err_msg=name)
        shared = [made for made in closed_forms_of(module, data) if made.method.id in known]
        compared += len(shared)
        for made in shared:
            found = made["prevalence"] if label is None else made["prevalence", label]
            expected = known[made.method.id]["prevalence"]
            assert found[0] == pytest.approx(expected[0], rel=1e-9), (name, made.method.id)
    assert compared >= (2 if design == "by_truth" else 3)
    judges = Verdicts.from_frame(rows, calibration=design, verdict=["verdict"])
    votes = panel.Votes.of(judges, calibration=design)
    assert_array_equal(votes.verdicts.counts, table.counts)
    assert_array_equal(panel.Votes.of(table, calibration=design).votes, votes.votes)


def closed_forms_of(module, data):
    return getattr(module, "closed_forms", prevalence.closed_forms)(data)


@pytest.mark.slow
def test_rows_of_an_item_come_back_as_they_were():
    rows = pd.concat([rows_of_a_judge(80), rows_of_a_judge(80, seed=4)])
    rows["truth"] = rows.groupby("item")["truth"].transform("first")
    for repeats in ("system", "judge"):
        table = Verdicts.from_frame(rows, calibration="random", item="item", repeats=repeats)
        again = items.Items.of(table, repeats)
        read = items.Items.from_frame(rows, calibration="random", repeats=repeats)
        assert_array_equal(again.cells, read.cells)
        assert_array_equal(again.count, read.count)


@pytest.mark.slow
def test_votes_in_rows_and_in_columns_are_one_table():
    wide = pd.DataFrame({"item": list("pqrs"), "a": [1, 0, 1, None], "b": [1, 1, 0, 0]})
    wide["truth"] = [1, None, 0, None]
    long = wide.melt(["item", "truth"], ["a", "b"], "judge", "vote")
    columns = Verdicts.from_frame(wide, calibration="random", verdict=["a", "b"], item="item")
    how = {"verdict": "vote", "judge": "judge", "item": "item"}
    for table in (long, duckdb.from_df(long)):
        rows = Verdicts.from_frame(table, calibration="random", **how)
        for name in ("response", "truth", "count", "judges"):
            assert_array_equal(getattr(rows, name), getattr(columns, name))


@pytest.mark.slow
def test_a_design_of_ones_own_is_honoured_by_every_view():
    built_in = DESIGNS["random"]
    own = replace(built_in, name="every_tenth", meaning="each tenth output was labelled")
    rows = rows_of_a_judge()
    for module, view in ((prevalence, prevalence.Counts), (classes, classes.ClassCounts)):
        made = [view.of(Verdicts.from_frame(rows, calibration=one)) for one in (own, "random")]
        assert made[0].design is own
        for one, other in zip(*(closed_forms_of(module, data) for data in made), strict=True):
            assert one.method.id == other.method.id
            assert_array_equal(one.table.to_numpy(), other.table.to_numpy())
    scored = {"score": "verdict", "scale": (0, 1)}
    made = [
        scores.Scores.of(Verdicts.from_frame(rows, calibration=one, **scored))
        for one in (own, "random")
    ]
    assert made[0].design is own
    for one, other in zip(*map(scores.closed_forms, made), strict=True):
        assert_array_equal(one.table.to_numpy(), other.table.to_numpy())
    table = Verdicts.from_frame(rows, calibration=own, item="item", repeats="system")
    assert items.Items.of(table, "system").design is own
    assert panel.Votes.of(table.collapsed(), calibration=own).design is own


def test_scores_are_a_table_of_numbers():
    grades = {"score": [1, 4, 5, 4, None], "truth": [1.5, 4.5, None, None, 2]}
    rows = pd.DataFrame(grades | {"p": [0.5, 0.5, 0.1, 0.1, 0.1]})
    ends = {"score": "score", "scale": (1, 5), "unscored": "drop"}
    table = Verdicts.from_frame(
        rows, calibration="known_propensity", propensity="p", truth_scale=(1, 5), **ends
    )
    assert (table.responses, table.classes) == ((1.0, 4.0, 5.0), (1.5, 4.5))
    assert table.groups == ("0.1", "0.5")
    assert table.unparsed.tolist() == [[1], [0]]
    found = scores.Scores.of(table)
    assert_array_equal(np.sort(found.propensity), np.sort(rows["p"][:4]))
    assert (found.unscored, int(found.n.sum())) == (1, 4)
    high = Verdicts.from_frame(rows, calibration="random", truth_from=4, **ends)
    assert (high.labelled_n, scores.Scores.of(high).numeric) == (2, False)
    for wrong in ({"classes": [1, 5]}, {"judge": "p", "item": "p"}, {"scale": None}):
        with refused("score=", "scale=", subject="Verdicts.from_frame"):
            Verdicts.from_frame(rows, calibration="random", **ends | wrong)
    with pytest.raises(InputError, match="read_systems"):
        Verdicts.from_frame(rows, calibration="random", by="p", **ends)
    with refused(id="read-at-once"):
        high + high
    with refused("score=", "scale=", subject="prevalence.Scores.of"):
        scores.Scores.of(Verdicts.from_frame(rows_of_a_judge(20), **RANDOM))


def test_what_does_not_go_together_is_refused():
    rows = rows_of_a_judge(20)
    with pytest.raises(InputError, match="takes item="):
        Verdicts.from_frame(rows, calibration="random", repeats="judge")
    with refused(id="unknown-calibration"):
        Verdicts.from_frame(rows)
    with refused(id="no-item"):
        Verdicts.from_frame(rows, calibration="random", judge="item")
    table = Verdicts.from_frame(rows, calibration="random")
    with refused("item=", subject="prevalence.items.Items.of"):
        items.Items.of(table)


OTHER_ARGUMENTS = {
    Verdicts: {"score", "repeats", "unscored"},
    prevalence.Counts: {"external_labels"},
    items.Items: {"repeats"},
    classes.ClassCounts: set(),
    scores.Scores: {"score", "edges", "unscored"},
}


@pytest.mark.parametrize("view", OTHER_ARGUMENTS)
def test_what_a_reader_takes_is_handed_over_by_name(view):
    """`Reading.of` takes what has the name of a field: another name would be read as nothing."""
    taken = set(signature(view.from_frame).parameters) - {"table"}
    assert taken - {field.name for field in fields(Reading)} == OTHER_ARGUMENTS[view]
