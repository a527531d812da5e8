"""Bias at second order against exact enumeration, and conformal sets against simulation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused
from scipy.stats import binom

import bayesjudge as bj
from bayesjudge.prevalence.budget import correction_bias, labels_to_correct


def exact_bias(theta, q1, q0, m1, m0):
    """E[(p + q0 - 1) / (q0 + q1 - 1)] - theta over all tables, p known."""
    p = theta * q1 + (1 - theta) * (1 - q0)
    hits, caught = np.arange(m1 + 1)[:, None], np.arange(m0 + 1)
    weight = binom.pmf(hits, m1, q1) * binom.pmf(caught, m0, q0)
    youden = hits / m1 + caught / m0 - 1
    kept = youden > 0.1  # of practically every table
    assert weight[kept].sum() > 1 - 1e-9
    value = (p + caught / m0 - 1) / np.where(kept, youden, 1)
    return np.sum(np.where(kept, weight * value, 0)) - theta


@pytest.mark.parametrize("theta", [0.1, 0.5, 0.9])
@pytest.mark.parametrize(("q1", "q0"), [(0.9, 0.7), (0.95, 0.9)])
def test_the_bias_is_that_of_every_table_to_second_order(theta, q1, q0):
    found = [
        float(
            correction_bias(
                theta, sensitivity=q1, specificity=q0, positives=m, negatives=2 * m
            ).corrected
        )
        for m in (100, 400)
    ]
    exact = [exact_bias(theta, q1, q0, m, 2 * m) for m in (100, 400)]
    rest = np.abs(np.subtract(exact, found))
    assert_allclose(found, exact, atol=2e-3)
    # what is left falls as the square of the labels
    assert rest[1] < rest[0] / 10


def test_the_bias_of_the_pass_rate_is_its_expectation():
    found = correction_bias(0.3, sensitivity=0.9, specificity=0.7, positives=5, negatives=5)
    assert found.naive == pytest.approx(0.3 * 0.9 + 0.7 * 0.3 - 0.3)


@pytest.mark.parametrize("q", [0.6, 0.8, 0.95])
@pytest.mark.parametrize("theta", [0.05, 0.3, 0.99])
def test_a_symmetric_judge_needs_the_published_number_of_labels(q, theta):
    found = labels_to_correct(theta, sensitivity=q, specificity=q)
    assert found == pytest.approx(2 * q / (2 * q - 1) ** 2)


def test_at_that_number_both_biases_are_equal():
    rates = {"sensitivity": 0.7, "specificity": 0.6}
    m = labels_to_correct(0.2, **rates, positive_share=0.3)
    found = correction_bias(0.2, **rates, positives=0.3 * m, negatives=0.7 * m)
    assert abs(found.corrected) == pytest.approx(abs(found.naive))
    assert labels_to_correct(0.75, sensitivity=0.9, specificity=0.7) == np.inf


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sensitivity": 0.3}, "chance"),
        ({"specificity": 1.2}, "specificity"),
        ({"positives": 0}, "sizes"),
    ],
)
def test_what_is_refused(change, words):
    given = {"sensitivity": 0.9, "specificity": 0.7, "positives": 5, "negatives": 5}
    with pytest.raises(bj.InputError, match=words):
        correction_bias(0.5, **{**given, **change})


def test_a_set_holds_the_label_as_often_as_it_says():
    # exact: over all labelled tables, and the verdict on a new good (bad) output
    n, alpha = 30, 0.1
    for rate in (0.7, 0.9, 0.97):
        wrong = np.arange(n + 1)
        out = (wrong + 1) / (n + 1) <= alpha
        lacks = (1 - rate) * binom.pmf(wrong, n, 1 - rate)[out].sum()
        assert lacks <= alpha
        for errors in (0, 1, 2, 3):
            counts = bj.prevalence.Counts(100, 60, n, n - errors, n, n, calibration="by_truth")
            found = bj.prevalence.conformal_sets(counts, error_prob=alpha)
            assert found.loc["fail", "p_good"] == pytest.approx((errors + 1) / (n + 1))
            assert ("good" in found.loc["fail", "labels"]) == (not out[errors])
            assert found.loc["pass", "labels"] == "good"
            assert found["outputs"].tolist() == [60, 40]


def test_sets_are_of_one_stratum():
    two = [10, 10], [5, 5], [5, 5], [4, 4], [5, 5], [4, 4]
    counts = bj.prevalence.Counts(*two, systems=["a", "b"], calibration="by_truth")
    with refused(id="several-groups"):
        bj.prevalence.conformal_sets(counts)
