"""`target="items"` of scores and of classes: unlabelled truths are drawn from known chances."""

from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from oracles import SIGMAS
from scipy.stats import betabinom

import bayesjudge as bj

P = bj.prevalence
S, classes = P.scores, P.classes
NAN = float("nan")
DRAWS = 5_000
TEST, FAILS, PASSES = (30, 20, 50), (8, 3, 1), (2, 5, 9)


def about_items(model, data, **draws):
    """Draws of these items, of a posterior whose draws are given (or are one and the same)."""
    made = {}
    for name, (dims, values) in draws.items():
        values = np.asarray(values, float)
        if values.ndim == len(dims):
            values = np.broadcast_to(values, (DRAWS, *values.shape))
        made[name] = ("chain", "draw", *dims), values[None]
    tree = xr.DataTree.from_dict({"posterior": xr.Dataset(made)})
    fit = SimpleNamespace(data=data, idata=tree)
    return {k: v[0] for k, v in model._about_items(fit, np.random.default_rng(1)).items()}


def assert_moments(draws, mean, sd):
    """Mean and spread of independent draws, up to their own Monte Carlo error."""
    error = np.sqrt(((draws - mean) ** 2 - sd**2).var() / DRAWS) / (2 * sd)
    assert abs(draws.mean() - mean) < SIGMAS * sd / np.sqrt(DRAWS)
    assert abs(draws.std() - sd) < SIGMAS * error


#: Of cells, which say nothing of the truths in each.
EVEN = {"cell_share": (["cell"], [1 / 3] * 3)}


def scored(calibration):
    score, truth = [1, 2, 3] * 3, [NAN] * 3 + [0] * 3 + [1] * 3
    edges = {"edges": (1.5, 2.5), "scale": (1, 3)}
    return S.Scores(score, truth, [*TEST, *FAILS, *PASSES], calibration, **edges)


def test_good_items_by_bin_are_beta_binomial():
    rng, a = np.random.default_rng(2), 2 / 3
    good = rng.beta(a + np.array(PASSES), a + np.array(FAILS), (DRAWS, 3))
    made = about_items(S.TruthGivenScore(monotone=False), scored("by_verdict"),
                       pass_share=(["bin"], good), **EVEN)["prevalence"]  # fmt: skip
    parts = [betabinom(n, a + k, a + m) for n, k, m in zip(TEST, PASSES, FAILS, strict=True)]
    mean, sd = sum(p.mean() for p in parts), np.sqrt(sum(p.var() for p in parts))
    assert_moments(made, (16 + mean) / 128, sd / 128)


@pytest.mark.parametrize("calibration", ["random", "by_truth"])
def test_good_items_given_the_truth_follow_bayes_rule(calibration):
    theta, bad, good = 0.6, np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.3, 0.6])
    made = about_items(
        S.ScoreGivenTruth(), scored(calibration),
        prevalence=([], theta), bin_share=(["truth", "bin"], [bad, good]),
    )["prevalence"]  # fmt: skip
    chance = theta * good / (theta * good + (1 - theta) * bad)
    mean, sd = TEST @ chance, np.sqrt(TEST @ (chance * (1 - chance)))
    known, items = (16, 128) if calibration == "random" else (0, 100)
    assert_moments(made, (known + mean) / items, sd / items)


@pytest.mark.slow
def test_numbers_of_these_items_are_on_their_scale():
    truth = [NAN] * 3 + [2, 4, 5]
    scores = S.Scores([1, 2, 3] * 2, truth, [*TEST, 4, 5, 6], "random", (1, 3),
                      truth_scale=(1, 5), edges=(1.5, 2.5))  # fmt: skip
    location, spread = np.array([0.2, 0.5, 1.1]), np.array([0.2, 0.4, 0.3])
    made = about_items(S.RisingMean(), scores, location=(["bin"], location),
                       bin_spread=(["bin"], spread), **EVEN)["mean_score"]  # fmt: skip
    spread = np.hypot(spread, 0.2 / 4)  # people read a latent value to a fifth of a step
    latent = location + spread * np.random.default_rng(3).normal(size=(400_000, 3))
    numbers = 1 + np.clip(np.rint(4 * latent), 0, 4)
    mean, sd = TEST @ numbers.mean(axis=0), np.sqrt(TEST @ numbers.var(axis=0))
    assert_moments(made, (8 + 20 + 30 + mean) / 115, sd / 115)
    np.testing.assert_allclose(made * 115, np.rint(made * 115))


SEEN = np.array([[30, 20, 10], [5, 10, 15]])
KNOWN = np.array([[[9, 1, 2], [2, 6, 1], [1, 3, 7]], [[4, 1, 0], [1, 5, 1], [0, 1, 6]]])


@pytest.mark.parametrize("dim", ["system", "stratum"])
def test_classes_of_these_items_follow_bayes_rule(dim):
    counts = classes.ClassCounts(SEEN, KNOWN, "abc", "random", systems="xy", dim=dim,
                                 credit=(1, 0.5, 0))  # fmt: skip
    shares = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
    rows = np.array([[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]])
    given = {"prevalence": ([dim, "class"], shares), "confusion": (["class", "verdict"], rows)}
    made = about_items(classes.Confusions(pooling="full"), counts, **given)
    joint = shares[:, :, None] * rows
    chance = joint / joint.sum(axis=1, keepdims=True)
    mean = np.einsum("sv,skv->sk", SEEN, chance) + KNOWN.sum(axis=2)
    variance = np.einsum("sv,skv->sk", SEEN, chance * (1 - chance))
    n = SEEN.sum(axis=1) + KNOWN.sum(axis=(1, 2))
    for s in range(2):
        for k in range(3):
            one = made["prevalence"][:, s, k]
            assert_moments(one, mean[s, k] / n[s], np.sqrt(variance[s, k]) / n[s])
    if dim == "stratum":
        overall = made["overall_prevalence"]
        assert_moments(overall[:, 0], mean[:, 0].sum() / n.sum(),
                       np.sqrt(variance[:, 0].sum()) / n.sum())  # fmt: skip
        np.testing.assert_allclose(made["win_rate"], overall @ [1, 0.5, 0])
    else:
        np.testing.assert_allclose(made["win_rate"], made["prevalence"] @ [1, 0.5, 0])


def test_classes_of_a_verdict_are_those_of_its_labels():
    counts = classes.ClassCounts(SEEN[0], KNOWN[0], "abc", "by_verdict")
    share = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]])
    made = about_items(classes.PredictiveShares(), counts,
                       class_share=(["verdict", "class"], share),
                       verdict_share=(["verdict"], [1 / 3] * 3))  # fmt: skip
    mean, variance = SEEN[0] @ share, SEEN[0] @ (share * (1 - share))
    for k in range(3):
        total = KNOWN[0].sum(axis=1)[k] + mean[k]
        assert_moments(made["prevalence"][:, k], total / 92, np.sqrt(variance[k]) / 92)
