"""Means within classes of a column: post-stratified values, and errors of labels left out."""

import numpy as np
import pytest

from bayesjudge.truth.within_classes import OWN, Patterns, mean_within, regressed


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


@pytest.mark.slow
@pytest.mark.parametrize("labelled", [40, 150])
def test_intervals_hold_the_share(labelled):
    held = 0
    for seed in range(300):
        rows, _ = patterns(seed, labelled=labelled)
        _, low, high = mean_within(rows).interval(0.95)
        held += low < 0.6 < high
    assert held / 300 > 0.95 - 4 * (0.95 * 0.05 / 300) ** 0.5
