"""Means within classes of a column: post-stratified values, and errors of labels left out."""

import numpy as np
import pytest

from bayesjudge.truth.within_classes import OWN, Patterns, mean_of, mean_within, regressed


def patterns(seed=1, n=300, labelled=60, classes=3):
    """Outputs of some classes, of which later ones are worse and less often labelled."""
    rng = np.random.default_rng(seed)
    place = rng.integers(classes, size=n)
    good = rng.random(n) < 0.8 - 0.2 * place
    said = np.where(rng.random(n) < 0.8, good, ~good).astype(float)
    picked = rng.choice(n, labelled, replace=False, p=(w := 3.0 - place) / w.sum())
    truth = np.full(n, np.nan)
    truth[picked] = good[picked]
    return Patterns(place, said, truth, np.ones(n)), good


def test_without_verdicts_it_is_the_sum_of_class_means():
    rows, _ = patterns()
    value, _ = regressed(rows._replace(said=np.zeros(300)))
    shares = np.bincount(rows.place) / 300
    means = [np.nanmean(rows.truth[rows.place == k]) for k in range(3)]
    assert value == pytest.approx(shares @ means, rel=1e-12)


def test_of_one_class_it_is_post_stratified_by_the_verdict():
    rows, _ = patterns(classes=1)
    means = [np.nanmean(rows.truth[rows.said == k]) for k in (0, 1)]
    value = np.bincount(rows.said.astype(int)) / 300 @ means
    assert regressed(rows)[0] == pytest.approx(value, rel=1e-12)


def test_each_label_is_predicted_without_itself():
    rows, _ = patterns(labelled=40)
    value, influence = regressed(rows)
    known = np.flatnonzero(~np.isnan(rows.truth))
    design = np.column_stack([np.eye(3)[rows.place], rows.said])
    inverse = np.linalg.inv(design[known].T @ design[known])
    slopes = inverse @ design[known].T @ rows.truth[known]
    for i in known[:8]:
        others = known[known != i]
        fitted = np.linalg.lstsq(design[others], rows.truth[others], rcond=None)[0]
        error = rows.truth[i] - design[i] @ fitted
        by_sample = (design[i] @ slopes - value) / 300
        expected = design[i] @ inverse @ design.mean(axis=0) * error + by_sample
        assert influence[i] == pytest.approx(expected, rel=1e-9)
    assert 1 - (design[known] @ inverse * design[known]).sum(axis=1).max() > OWN


def test_patterns_are_as_good_as_their_outputs():
    rows, _ = patterns()
    cells = np.column_stack([rows.place, rows.said, np.nan_to_num(rows.truth, nan=-1)])
    kinds, count = np.unique(cells, axis=0, return_counts=True)
    truth = np.where(kinds[:, 2] < 0, np.nan, kinds[:, 2])
    counted = Patterns(kinds[:, 0].astype(int), kinds[:, 1], truth, count.astype(float))
    assert mean_within(counted) == pytest.approx(mean_within(rows), rel=1e-9)


def of_two(seed=1, n=200, labelled=80):
    """Two systems' outputs of the same items, labelled for both."""
    rng = np.random.default_rng(seed)
    place, hard = rng.integers(3, size=n), rng.normal(size=n)
    picked = rng.choice(n, labelled, replace=False, p=(w := 3.0 - place) / w.sum())
    both, goods = [], []
    for lean in (0.3, 0.0):
        good = (rng.normal(size=n) + hard - 0.5 * (place - 1) + lean > 0).astype(float)
        said = np.where(rng.random(n) < 0.8, good, 1 - good)
        truth = np.where(np.isin(np.arange(n), picked), good, np.nan)
        both.append(Patterns(place, said, truth, np.ones(n), np.arange(n), np.ones(n)))
        goods.append(good.mean())
    return both, goods


def test_items_of_one_output_each_are_outputs():
    rows, _ = patterns()
    shared = rows._replace(item=np.arange(300), items=np.ones(300))
    assert mean_within(shared) == pytest.approx(mean_within(rows), rel=1e-12)
    few, _ = patterns(labelled=12)
    shared = few._replace(item=np.arange(300), items=np.ones(300))
    assert mean_within(shared) == pytest.approx(mean_within(few), rel=1e-12)


def test_equal_outputs_of_one_item_tell_no_more_than_one():
    rows, _ = patterns()
    item = np.tile(np.arange(300), 2)
    twice = Patterns(*(np.tile(column, 2) for column in rows[:4]), item, np.ones(300))
    assert mean_within(twice) == pytest.approx(mean_within(rows), rel=1e-9)
    as_others = Patterns(*twice[:4])
    assert mean_within(as_others).error < 0.8 * mean_within(rows).error


def test_kinds_of_items_are_as_good_as_the_items():
    rows, _ = patterns()
    item = np.arange(300) // 3
    cells = np.column_stack([rows.place, rows.said, np.nan_to_num(rows.truth, nan=-1)])
    each = Patterns(*rows[:4], item, np.ones(100))
    order = np.lexsort((*cells.T, item))
    kinds, n = np.unique(cells[order].reshape(100, 9), axis=0, return_counts=True)
    place, said, truth = kinds.reshape(-1, 3).T
    truth = np.where(truth < 0, np.nan, truth)
    of_kind = np.repeat(np.arange(len(kinds)), 3)
    collapsed = Patterns(place.astype(int), said, truth, n[of_kind] * 1.0, of_kind, n * 1.0)
    assert len(kinds) < 95
    assert mean_within(collapsed) == pytest.approx(mean_within(each), rel=1e-9)


@pytest.mark.slow
def test_the_error_of_a_difference_is_that_of_leaving_items_out():
    (first, second), _ = of_two()
    gap = mean_of(first).less(mean_of(second))
    assert gap.value == pytest.approx(regressed(first)[0] - regressed(second)[0], rel=1e-12)
    without = []
    for i in range(200):
        rows = np.arange(200) != i
        without.append(regressed(first.part(rows))[0] - regressed(second.part(rows))[0])
    jackknife = np.sqrt(199 / 200 * ((np.array(without) - np.mean(without)) ** 2).sum())
    assert gap.errors.error == pytest.approx(jackknife, rel=0.02)
    apart = np.hypot(mean_of(first).errors.error, mean_of(second).errors.error)
    assert gap.errors.error < 0.9 * apart


def test_few_apart_have_imaginary_outputs_in_the_difference():
    (first, _), _ = of_two()
    same = mean_of(first).less(mean_of(first)).errors
    joined = mean_of(first, few=True)
    assert same.error == 0
    assert joined.less(joined).errors.error == pytest.approx(np.sqrt(2 * joined.imaginary))
    assert joined.imaginary > 0.5 / 84**2


@pytest.mark.slow
def test_intervals_hold_the_difference_of_systems_on_shared_items():
    held, truth = 0, np.mean([np.subtract(*of_two(seed, 4000)[1]) for seed in range(60)])
    for seed in range(300):
        (first, second), _ = of_two(seed)
        _, low, high = mean_of(first).less(mean_of(second)).errors.interval(0.95)
        held += low < truth < high
    assert held / 300 > 0.95 - 4 * (0.95 * 0.05 / 300) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize("labelled", [40, 150])
def test_intervals_hold_the_share(labelled):
    held = 0
    for seed in range(300):
        rows, _ = patterns(seed, labelled=labelled)
        _, low, high = mean_within(rows).interval(0.95)
        held += low < 0.6 < high
    assert held / 300 > 0.95 - 4 * (0.95 * 0.05 / 300) ** 0.5
