"""The table of verdicts: what each view is of, and the same numbers by every view."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bayesjudge import panel, prevalence
from bayesjudge.core.errors import InputError
from bayesjudge.prevalence import classes, items, scores
from bayesjudge.verdicts.table import MISSING, Verdicts

SIX = {
    "test_n": [300, 200], "test_pass": [180, 150], "correct_n": [40, 30],
    "correct_pass": [36, 28], "incorrect_n": [30, 25], "incorrect_fail": [24, 20],
}  # fmt: skip


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
    with pytest.raises(InputError, match="axes group, truth and verdict"):
        Verdicts.from_counts([1, 2], calibration="random")
    with pytest.raises(InputError, match="0 or more"):
        Verdicts.from_counts([[1, 2], [3, 4], [-1, 2]], calibration="random")
