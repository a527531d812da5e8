"""Chains of noise by level that sit at different maxima are told, with the better one first."""

import numpy as np
import pytest
import xarray as xr

from bayesjudge.core.fit import Fit
from bayesjudge.repeats import CumulativeLogit, Scores, simulate
from bayesjudge.repeats._maxima import chains_apart, several_maxima

TRUTH = {"noise_slope": 0.8, "noise_curve": -0.8}


def drawn(slopes, curves, sd=0.01, draws=40):
    """Draws of chains around these values; all else as simulated."""
    rng = np.random.default_rng(1)
    around = {
        name: (("chain", "draw"), np.reshape(at, (-1, 1)) + sd * rng.normal(size=(len(at), draws)))
        for name, at in (("noise_slope", slopes), ("noise_curve", curves))
    }
    size = len(slopes), draws
    around |= {"item_scale": (("chain", "draw"), np.full(size, 3.0))}
    around |= {"value_share": (("chain", "draw", "value"), np.full((*size, 5), 0.2))}
    return xr.Dataset(around)


def scores():
    sizes = {"items": 40, "judges": 1, "item_scale": 3.0, "judge_scale": 0.0}
    table = simulate(repeats=8, item_judge_scale=0.0, random_seed=3, **sizes, **TRUTH)
    return Scores.from_frame(table, scale=range(1, 6))


@pytest.mark.parametrize(
    ("slopes", "curves", "groups"),
    [
        ([0.01, 0.0, -0.01, 0.0], [0.0, 0.01, 0.0, -0.01], [[0, 1, 2, 3]]),
        ([0.8, -0.9, 0.8, -0.9], [0.0, 0.01, 0.0, 0.01], [[1, 3], [0, 2]]),
        ([0.8, -0.9, 0.8, 0.8], [0.0, 0.01, -3.0, 0.01], [[1], [2], [0, 3]]),
        ([0.0, 0.03, 0.06, 0.09], [0.0] * 4, [[0, 1, 2, 3]]),  # slow, but mixing
    ],
)
def test_chains_that_do_not_mix_are_apart(slopes, curves, groups):
    assert [g.tolist() for g in chains_apart(drawn(slopes, curves))] == groups


def made(draws):
    return Fit(
        idata=xr.DataTree.from_dict({"posterior": draws}),
        data=scores(),
        spec=CumulativeLogit(noise="by_level"),
        quantities=("repeat_sd",),
        method="",
        source="",
    )


def test_the_better_maximum_is_named_first():
    # two chains at the truth, two at its mirror
    curves = [TRUTH["noise_curve"]] * 4
    slopes = [-0.8, 0.8, -0.8, 0.8]
    (told,) = several_maxima(made(drawn(slopes, curves)))
    assert told.id == "several-maxima"
    assert told.text.index("chains 2, 4: slope 0.8") < told.text.index("chains 1, 3: slope -0.8")
    assert several_maxima(made(drawn([0.8] * 4, curves))) == ()


def test_constant_noise_has_no_such_maxima():
    draws = drawn([0.8, -0.8], [0.0, 0.0]).drop_vars(["noise_slope", "noise_curve"])
    assert several_maxima(made(draws)) == ()
