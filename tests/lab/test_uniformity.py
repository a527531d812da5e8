"""The test is tested: exact, as seldom wrong as it says, and blind to nothing that matters."""

import numpy as np
import pytest

from bayesjudge.core.errors import InputError
from bayesjudge.lab.uniformity import band, cumulative, holm, p_value


def smallest_tail(ranks, retained):
    """The statistic once more, from binomial tails that are summed by hand."""
    from scipy.stats import binom

    share = np.arange(1, retained + 1) / (retained + 1)
    below = (ranks[..., None] < np.arange(1, retained + 1)).sum(axis=-2)
    n = ranks.shape[-1]
    tails = np.minimum(binom.cdf(below, n, share), binom.sf(below - 1, n, share))
    return 2 * tails.min(axis=-1)


@pytest.mark.slow
@pytest.mark.parametrize("power", [0.8, 1.0, 1.3])
def test_p_value_is_the_share_of_uniform_ranks_that_depart_as_much(power):
    rng = np.random.default_rng(3)
    retained, n, runs = 9, 40, 20_000
    ranks = (rng.uniform(size=n) ** power * (retained + 1)).astype(int)
    null = smallest_tail(rng.integers(retained + 1, size=(runs, n)), retained)
    share = (null <= smallest_tail(ranks, retained) * (1 + 1e-9)).mean()
    noise = 5 * np.sqrt(max(share * (1 - share), 1 / runs) / runs)
    assert abs(p_value(ranks, retained) - share) < noise


@pytest.mark.slow
@pytest.mark.parametrize(("n", "retained"), [(50, 19), (500, 99)])
def test_false_alarms_are_as_rare_as_promised(n, retained):
    rng = np.random.default_rng(1)
    runs = 1000
    found = np.array([p_value(r, retained) for r in rng.integers(retained + 1, size=(runs, n))])
    for level in (0.05, 0.2):
        alarms = (found <= level).mean()
        noise = 4 * np.sqrt(level * (1 - level) / runs)
        # counts are discrete, so that a little less than the level is right, and more is not
        assert 0.75 * level - noise < alarms < level + noise


@pytest.mark.slow
def test_holm_keeps_the_promise_for_all_quantities_together():
    p_values = np.random.default_rng(2).uniform(size=(20_000, 6))
    alarms = np.mean([holm(row).min() <= 0.05 for row in p_values])
    expected = 1 - (1 - 0.05 / 6) ** 6
    assert abs(alarms - expected) < 5 * np.sqrt(expected * (1 - expected) / 20_000)


@pytest.mark.slow
def test_holm_matches_statsmodels():
    from statsmodels.stats.multitest import multipletests

    p_values = np.array([0.01, 0.04, 0.03, 0.005, 0.5])
    np.testing.assert_allclose(holm(p_values), multipletests(p_values, method="holm")[1])


@pytest.mark.parametrize("prob", [0.5, 0.95])
def test_band_holds_whole_curves_with_its_probability(prob):
    n, retained, runs = 200, 49, 4000
    low, high = band(n, retained, prob)
    rng = np.random.default_rng(4)
    curves = np.array([cumulative(r, retained) for r in rng.integers(retained + 1, size=(runs, n))])
    held = ((low <= curves) & (curves <= high)).all(axis=1).mean()
    noise = 4 * np.sqrt(prob * (1 - prob) / runs)
    assert prob - noise < held < prob + 0.03 + noise


@pytest.mark.slow
def test_a_curve_leaves_the_band_where_its_p_value_is_below_the_level():
    n, retained = 200, 49
    low, high = band(n, retained, 0.9)
    rng = np.random.default_rng(5)
    for ranks in rng.integers(retained + 1, size=(300, n)):
        curve = cumulative(ranks, retained)
        inside = ((low <= curve) & (curve <= high)).all()
        found = p_value(ranks, retained)
        if abs(found - 0.1) > 0.02:  # the band's own level is the nearest that counts allow
            assert inside == (found > 0.1)


def test_ranks_out_of_range_are_refused():
    with pytest.raises(InputError, match="from 0 to 9"):
        p_value(np.array([0, 10]), 9)
