"""Sums over nodes of products of chances, where all of them are tiny, and their slopes."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.special import logsumexp

from bayesjudge.truth.effects import summed_products


def by_logs(f, shift, weight, of, count):
    """The same from logarithms."""
    logs = [np.log(weight) + np.log(f[row[row >= 0]]).sum(axis=0) for row in of]
    shifts = [shift[row[row >= 0]].sum() for row in of]
    return sum(n * (logsumexp(x) + s) for n, x, s in zip(count, logs, shifts, strict=True))


def test_products_that_no_number_holds_are_summed_by_their_logarithms():
    rng = np.random.default_rng(1)
    f = np.exp(-rng.uniform(150, 200, (5, 3)))
    f[4] = rng.uniform(0.2, 0.9, 3)
    shift, weight = rng.normal(size=5), np.array([0.2, 0.5, 0.3])
    of = np.array([[0, 1, 2, 3], [4, -1, -1, 4], [4, 0, -1, 2]])
    count = np.array([2.0, 1.0, 3.0])
    value, slopes = summed_products(f, shift, weight, of, count)
    assert_allclose(value, by_logs(f, shift, weight, of, count), rtol=1e-12)
    rise = 2 * np.log1p(1e-6)
    for k, e in np.ndindex(f.shape):
        up, down = f.copy(), f.copy()
        up[k, e] *= 1 + 1e-6
        down[k, e] /= 1 + 1e-6
        moved = [by_logs(x, shift, weight, of, count) for x in (up, down)]
        assert_allclose(slopes[k, e] * f[k, e], (moved[0] - moved[1]) / rise, atol=1e-5)
