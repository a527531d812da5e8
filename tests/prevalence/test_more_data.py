"""Data that come later: added up, they are what reading everything at once gives."""

import numpy as np
import pandas as pd
import pytest

import bayesjudge as bj

P = bj.prevalence
FIELDS = ("test_n", "test_pass", "correct_n", "correct_pass", "incorrect_n", "incorrect_fail")


def same(one, other):
    assert one.systems == other.systems
    for name in (*FIELDS, "unparsed"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert np.array_equal(one.external_labels, other.external_labels)
    assert (one.calibration, one.dim) == (other.calibration, other.dim)
    return True


def table(systems=None, seed=1):
    made = P.simulate(**({"systems": systems} if systems else {}), random_seed=seed)
    return made.sample(frac=1, random_state=3).reset_index(drop=True)


@pytest.mark.slow
@pytest.mark.parametrize("calibration", ["random", "by_truth", "by_verdict"])
@pytest.mark.parametrize("systems", [None, ["b", "a", "c"]])
def test_halves_add_up_to_the_whole(calibration, systems):
    rows = table(systems)
    how = {"calibration": calibration, "by": "system" if systems else None}
    parts = [P.Counts.from_frame(rows[i::2], **how) for i in range(2)]
    assert same(parts[0] + parts[1], P.Counts.from_frame(rows, **how))


@pytest.mark.slow
def test_a_new_system_joins():
    rows = table(["b", "a", "c"])
    how = {"calibration": "random", "by": "system"}
    old, new = (P.Counts.from_frame(rows[mask], **how) for mask in
                (rows.system != "b", rows.system == "b"))  # fmt: skip
    assert same(old + new, P.Counts.from_frame(rows, **how))
    assert same(new + old, P.Counts.from_frame(rows, **how))


@pytest.mark.slow
def test_external_labels_add_up():
    rows, more = table(), table(seed=2)
    labels = more[more.truth.notna()]
    whole = P.Counts.from_frame(rows, calibration="random", external_labels=labels)
    half = P.Counts.from_frame(rows[::2], calibration="random", external_labels=labels)
    assert same(half + P.Counts.from_frame(rows[1::2], calibration="random"), whole)


@pytest.mark.slow
@pytest.mark.parametrize("by", [None, "system"])
def test_labels_that_come_later_move_items_out_of_the_test(by):
    rows = table(["b", "a", "c"])
    labelled = rows.index[rows.truth.notna()]
    late = labelled[: len(labelled) // 3]
    before = rows.assign(truth=rows.truth.mask(rows.index.isin(late)))
    counts = P.Counts.from_frame(before, calibration="random", by=by)
    batch = rows.loc[late]
    grown = counts.with_labels(batch, of_counted_items=True, **({"by": by} if by else {}))
    assert same(grown, P.Counts.from_frame(rows, calibration="random", by=by))


@pytest.mark.fast_one_in(2)
@pytest.mark.parametrize("calibration", ["random", "by_truth", "separate"])
def test_labels_of_further_items_are_added(calibration):
    rows, more = table(), table(seed=2)
    labels = more[more.truth.notna()]
    whole = P.Counts.from_frame(pd.concat([rows, labels]), calibration=calibration)
    counts = P.Counts.from_frame(rows, calibration=calibration)
    assert same(counts.with_labels(labels, of_counted_items=False), whole)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c, rows: c.with_labels(rows, of_counted_items=True), "rows have no human label"),
        (lambda c, rows: c.with_labels(rows, of_counted_items=True, to=1), r"unknown.*\['to'\]"),
        (lambda c, rows: c.with_labels(rows, of_counted_items=True, by="system"), "by= "),
        (lambda c, rows: c + P.Counts.from_frame(rows, calibration="by_truth"), "calibration must"),
        (
            lambda c, rows: c + P.Counts.from_frame(rows, calibration="random", by="system"),
            "one has systems",
        ),
        (
            lambda c, rows: P.Counts(9, 5, 2, 1, 2, 1, calibration="random").with_labels(
                rows[rows.truth.notna()], of_counted_items=True
            ),
            "test_n",
        ),
        (
            lambda c, rows: P.Counts(9, 5, 2, 1, 2, 1, calibration="separate").with_labels(
                rows[rows.truth.notna()], of_counted_items=True
            ),
            "not some of the counted",
        ),
    ],
)
def test_what_does_not_fit_is_refused(change, words):
    rows = table(["b", "a"])
    with pytest.raises(bj.InputError, match=words):
        change(P.Counts.from_frame(rows, calibration="random"), rows)


def test_only_counts_are_added_to_counts():
    with pytest.raises(TypeError):
        P.Counts(9, 5, 2, 1, 2, 1, calibration="random") + 1


def test_labels_of_one_system_are_joined_by_its_name():
    rows = pd.DataFrame({"system": list("aabb"), "verdict": [1, 0, 1, 0], "truth": [1, 0, 1, None]})
    batch = pd.DataFrame({"system": ["b"], "verdict": [1], "truth": [1]})
    how = {"calibration": "random", "by": "system"}
    counts = bj.prevalence.Counts.from_frame(rows, **how, external_labels=batch)
    assert counts.external_labels.tolist() == [[0, 1], [0, 1], [0, 0], [0, 0]]
    more = bj.prevalence.Counts.from_frame(rows, **how)
    more = more.with_labels(batch, of_counted_items=False, by="system")
    assert more.correct_n.tolist() == [1, 2]
