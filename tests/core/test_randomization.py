"""Randomization tests against every table with the same margins."""

import itertools
from math import comb

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from bayesjudge.core.randomization import SAMPLES, p_value, same_shares, samples_for


def exact(table):
    """Probability of a Pearson statistic as large, by enumeration."""
    table = np.asarray(table)
    first, total = int(table[0].sum()), table.sum(axis=0)
    expected = np.outer(table.sum(axis=1), total) / table.sum()

    def pearson(row):
        return (((np.array([row, total - row]) - expected) ** 2) / expected).sum()

    found = 0.0
    for row in itertools.product(*(range(n + 1) for n in total)):
        if sum(row) == first and pearson(np.array(row)) >= pearson(table[0]) - 1e-9:
            found += np.prod([comb(n, k) for n, k in zip(total, row, strict=True)])
    return found / comb(int(total.sum()), first)


SPARSE = [[[90, 1, 0], [8, 0, 1]], [[60, 3, 1], [10, 0, 2]], [[6, 2, 5, 0], [0, 0, 1, 3]]]


@pytest.mark.parametrize("table", SPARSE)
def test_few_counts_have_the_p_value_of_every_table(table):
    wanted = exact(table)
    error = 4 * np.sqrt(wanted * (1 - wanted) / SAMPLES) + 1 / SAMPLES
    assert same_shares(np.array(table), 0.01) == pytest.approx(wanted, abs=error)
    assert same_shares(np.array(table).T, 0.01) == pytest.approx(wanted, abs=error)


def test_pearsons_distribution_would_reject_more():
    assert chi2_contingency(SPARSE[0], correction=False).pvalue < 0.01 < exact(SPARSE[0])


def test_many_counts_have_pearsons_distribution():
    table = np.array([[500, 300, 200], [60, 20, 30]])
    wanted = chi2_contingency(table, correction=False).pvalue
    assert same_shares(table, 0.01) == pytest.approx(wanted, rel=1e-9)
    with_nothing = np.insert(table, 1, 0, axis=1)
    assert same_shares(with_nothing, 0.01) == pytest.approx(wanted, rel=1e-9)


def test_what_does_not_vary_has_no_p_value():
    assert np.isnan(same_shares(np.array([[5, 0], [7, 0]]), 0.01))


@pytest.mark.parametrize("tests", [1, 100, 3000])
def test_enough_samples_for_the_level(tests):
    level = 0.01 / tests
    assert p_value(np.zeros(samples_for(level)), 1.0) < level
