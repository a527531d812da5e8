"""Integrals over effects: enough nodes against many, and one way to the odds against another."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayesjudge.repeats import components
from bayesjudge.repeats.components import (
    Effects,
    cutpoints,
    expected,
    grid,
    item_scores,
    judge_nodes,
    stretched,
)

SCALE = np.array([0.0, 1.0, 2.5, 3.0, 5.0])
#: An error of 1e-7 in a share above moves a mean by no more than this times the scale's range.
ERROR = 1e-6


def drawn_effects(item, rng, draws=8):
    sds = {"item": item, "judge": 0.4 * item + 0.3, "item_judge": 0.7}
    sds = {name: sd * rng.lognormal(0, 0.2, draws) for name, sd in sds.items()}
    offsets = {f"{name}_offset": rng.normal(0, 0.3, draws) for name in ("item", "judge")}
    return Effects(**sds, **offsets)


def assert_same(found, dense):
    assert_allclose(found["mean_score"], dense["mean_score"], atol=5 * ERROR)
    for name in ("item_sd", "judge_sd", "item_judge_sd", "repeat_sd"):
        assert_allclose(found[name] ** 2, dense[name] ** 2, atol=25 * ERROR, err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("item", [0.05, 1.0, 3.0, 9.0])
def test_so_many_nodes_are_enough(item):
    rng = np.random.default_rng(1)
    effects, cuts = drawn_effects(item, rng), cutpoints(rng.dirichlet(np.full(5, 2.0), 8))
    dense = components.components(cuts, SCALE, effects, nodes=801)
    assert_same(components.components(cuts, SCALE, effects), dense)
    drawn = judge_nodes(32, 4)
    own = stretched(cuts[:, None], 0.4 * drawn[:, 1:])
    dense = components.components(own, SCALE, effects, drawn[:, 0], nodes=1501)
    assert_same(components.components(own, SCALE, effects, drawn[:, 0]), dense)


def test_scores_of_items_are_integrals_over_judges():
    rng = np.random.default_rng(2)
    effects, cuts = drawn_effects(2.0, rng), cutpoints(rng.dirichlet(np.full(5, 2.0), 8))
    of_items = rng.normal(0, 3, (8, 7))
    z, weight = grid(1001)
    wide = np.hypot(effects.judge, effects.item_judge)[:, None, None]
    eta = of_items[..., None] + effects.judge_offset[:, None, None] + wide * z
    dense = expected(eta, cuts[:, None, None], SCALE, effects) @ weight
    assert_allclose(item_scores(cuts, SCALE, effects, of_items), dense, atol=5 * ERROR)


def test_more_nodes_for_wider_effects():
    asked = [components.enough(sd) for sd in (0.0, 0.5, 2.0, 8.0, np.array([1.0, 8.0]))]
    assert asked == sorted(asked)
    assert asked[-1] == asked[-2]
    assert asked[1] < components.FINE < asked[3]
    assert components.enough(1e6) == components.MOST


def test_products_of_odds_are_sums_of_logits(monkeypatch):
    rng = np.random.default_rng(3)
    effects, drawn = drawn_effects(2.0, rng), judge_nodes(32, 4)
    cuts = cutpoints(rng.dirichlet(np.full(5, 2.0), 8))
    own = stretched(cuts[:, None], 0.4 * drawn[:, 1:])
    of_items = rng.normal(0, 3, (8, 7))

    def found():
        return {
            **components.components(cuts, SCALE, effects),
            **{f"own {k}": v for k, v in by_judge().items()},
            "items": item_scores(cuts, SCALE, effects, of_items),
            "own items": item_scores(own, SCALE, effects, of_items, drawn[:, 0]),
        }

    def by_judge():
        return components.components(own, SCALE, effects, drawn[:, 0])

    by_odds = found()
    monkeypatch.setattr(components, "_LARGEST", 0.0)
    for name, values in found().items():
        assert_allclose(by_odds[name], values, rtol=1e-9, err_msg=name)


def test_effects_beyond_all_logits_leave_numbers():
    cuts = cutpoints(np.full(5, 0.2))
    for item in (250.0, 5000.0):
        found = components.components(cuts, SCALE, Effects(item=np.array([item])))
        assert np.isfinite(list(found.values())).all()
        assert_allclose(found["mean_score"], 2.5, atol=0.01)


def test_without_effects_both_moments_are_those_of_the_shares():
    share = np.array([0.1, 0.2, 0.3, 0.25, 0.15])
    found = components.components(cutpoints(share), SCALE, Effects())
    assert_allclose(found["mean_score"], share @ SCALE)
    assert_allclose(found["repeat_sd"] ** 2, share @ SCALE**2 - (share @ SCALE) ** 2)


def test_variances_add_up_to_that_of_a_score():
    effects, cuts = Effects(0.8, 0.5, 0.4), cutpoints(np.array([0.1, 0.2, 0.3, 0.25, 0.15]))
    found = components.components(cuts, SCALE, effects, nodes=201)
    z, weight = grid(201)
    eta = np.sqrt(0.8**2 + 0.5**2 + 0.4**2) * z[:, None]
    square = weight @ expected(eta, cuts, SCALE**2, effects, np.zeros(1))[:, 0]
    total = sum(found[f"{name}_sd"] ** 2 for name in ("item", "judge", "item_judge", "repeat"))
    assert_allclose(total, square - found["mean_score"] ** 2, rtol=1e-7)
