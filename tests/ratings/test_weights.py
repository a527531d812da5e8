"""Weighted draws of other priors, by hand."""

import numpy as np
import pytest

from bayesjudge.ratings.sensitivity import LEAST, _is_few, _normalised, _summary


def test_a_weighted_interval_goes_by_the_order_of_the_values():
    rng = np.random.default_rng(1)
    values = rng.permutation(np.arange(1000.0))
    weight = _normalised(np.where(values < 500, np.log(3.0), 0.0))  # three quarters below 500
    value, low, high = _summary(values, weight, 0.9)
    assert value == pytest.approx(0.75 * 249.5 + 0.25 * 749.5)
    assert (low, high) == pytest.approx((0.05 / 0.75 * 500, 1000 - 0.05 / 0.25 * 500), abs=1)


def test_one_source_with_few_effective_draws_is_enough_to_say_so():
    even = np.full(1000, 1e-3)
    few = np.append(np.full(LEAST - 1, 1 / (LEAST - 1)), np.zeros(1000 - LEAST + 1))
    assert not _is_few(np.stack([even, even], axis=1))
    assert _is_few(np.stack([even, few], axis=1))
    assert np.isnan(_summary(np.arange(1000.0), few, 0.9)).all()
