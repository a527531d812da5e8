"""Sampled means against exact ones."""

import numpy as np
import xarray as xr

from bayesjudge.core.diagnostics import against_exact


def drawn(means, shape=(4, 1000)):
    """Independent draws around each mean; a mean is off by its own Monte Carlo error."""
    values = np.random.default_rng(1).normal(size=(*shape, len(means)))
    values = (values - values.mean(axis=(0, 1))) / values.std(axis=(0, 1)) + means
    posterior = xr.Dataset(
        {"prevalence": (("chain", "draw", "system"), values)},
        coords={"system": [f"s{i}" for i in range(len(means))]},
    )
    return xr.DataTree.from_dict({"posterior": posterior})


ERROR = 1 / np.sqrt(4000)


def test_the_furthest_mean_is_told_in_monte_carlo_errors():
    line, cautions = against_exact(drawn([0.0, 2 * ERROR]), {"prevalence": np.zeros(2)})
    assert line.startswith("the mean of prevalence[s1] is 2.0 Monte Carlo errors from the exact")
    assert line.endswith("the furthest of 2")
    assert cautions == ()


def test_a_mean_that_is_far_off_is_a_caution():
    _, (caution,) = against_exact(drawn([0.0, 6 * ERROR]), {"prevalence": np.zeros(2)})
    assert caution.name == "off-exact"
    assert "prevalence[s1]" in caution.text


def test_the_furthest_of_many_may_be_further_off_by_chance():
    off = np.zeros(300)
    off[7] = 4.5 * ERROR
    assert not against_exact(drawn(off), {"prevalence": np.zeros(300)})[1]
    assert against_exact(drawn(off[7:8]), {"prevalence": np.zeros(1)})[1]


def test_nothing_is_told_where_nothing_is_exact():
    assert against_exact(drawn([0.0]), {}) == ("", ())
    assert against_exact(drawn([0.0]), {"prevalence": np.array([np.nan])}) == ("", ())
