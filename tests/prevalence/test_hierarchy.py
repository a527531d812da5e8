"""Groups shrunk to each other: against draws of the prior, posteriors apart, and at the edges."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from numpy.testing import assert_allclose
from oracles import pooled_oracle
from refusals import refused

import bayesjudge as bj
from bayesjudge.core.predictive import _moves
from bayesjudge.truth import hierarchy
from bayesjudge.truth.hierarchy import PooledPosterior

P = bj.prevalence
RATES = ("prevalence", "sensitivity", "specificity")
CELLS = ([60, 50, 40], [48, 20, 21], [9, 6, 5], [8, 5, 5], [7, 8, 5], [5, 7, 2])
#: Twelve small groups that differ, 24 labels in each.
RNG = np.random.default_rng(8)
SHARES = 1 / (1 + np.exp(-RNG.normal(0.8, 0.8, 12)))
GOOD = RNG.binomial(24, SHARES)
REST = np.array([60, 180] * 6)
TWELVE = [REST, RNG.binomial(REST, 0.9 * SHARES + 0.2 * (1 - SHARES))]
TWELVE += [GOOD, RNG.binomial(GOOD, 0.9), 24 - GOOD, RNG.binomial(24 - GOOD, 0.8)]
NAMES = list("abcdefghijkl")


def pooled(counts, **priors):
    return P.exact(counts, P.PooledErrorRates(**priors), interval="eti")


@pytest.fixture(scope="module")
def twelve():
    counts = P.Counts(*TWELVE, calibration="random", systems=NAMES, dim="stratum")
    return counts, pooled(counts)


@pytest.mark.slow
@pytest.mark.parametrize("dim", ["system", "stratum"])
@pytest.mark.parametrize("calibration", ["random", "by_truth"])
def test_groups_are_what_weighing_the_prior_makes_of_them(calibration, dim):
    counts = P.Counts(*CELLS, calibration=calibration, systems="abc", dim=dim)
    made, (means, errors) = pooled(counts), pooled_oracle(counts)
    for i, place in enumerate("abc"):
        for j, name in enumerate(RATES):
            value, low, high = made[name, place]
            # the points are worth 500 draws or more
            error = np.hypot(errors[i, j], (high - low) / 3.92 / np.sqrt(500))
            assert abs(value - means[i, j]) < 4 * error, (name, place)


def test_other_priors_are_of_the_typical_rates_not_of_each_group_s():
    """The weighed mean of the typical rate, by hand."""
    rng = np.random.default_rng(1)
    typical, groups = rng.beta(3, 2, (2, 500)), rng.beta(8, 2, (2, 500, 3))
    posterior = xr.Dataset(
        {
            "typical_sensitivity": (("chain", "draw"), typical),
            "sensitivity": (("chain", "draw", "system"), groups),
        }
    )
    prior = ("parameter", [3.0, 1.0])
    stated = xr.Dataset({"sensitivity_prior": prior}, {"parameter": ["alpha", "beta"]})
    fit = SimpleNamespace(
        idata={
            "posterior": SimpleNamespace(to_dataset=lambda: posterior),
            "constant_data": SimpleNamespace(to_dataset=lambda: stated),
        },
        quantities=["typical_sensitivity"],
        spec=P.PooledErrorRates(),
    )
    weight = typical**-2.0
    mean = (typical * weight).sum() / weight.sum()
    assert_allclose(_moves(fit, bj.BetaPrior()), (mean - typical.mean()) / typical.std())


def test_other_priors_of_a_system_move_that_system_if_its_draws_can_say():
    """Each system's share by the weights of its own prior; nan from one that is far narrower."""
    shares = np.random.default_rng(1).beta(8, 2, (2, 500, 2))
    posterior = xr.Dataset({"prevalence": (("chain", "draw", "system"), shares)})
    rates = (("parameter", "system"), [[3.0, 1.0], [1.0, 400.0]])
    priors = xr.Dataset({"prevalence_prior": rates}, {"parameter": ["alpha", "beta"]})
    stated = {"a": bj.BetaPrior(3, 1), "b": bj.BetaPrior(1, 400)}
    fit = SimpleNamespace(
        idata={
            "posterior": SimpleNamespace(to_dataset=lambda: posterior),
            "constant_data": SimpleNamespace(to_dataset=lambda: priors),
        },
        quantities=["prevalence"],
        spec=P.ErrorRates(prevalence=stated),
    )
    of_a = shares[..., 0]
    mean = (of_a * of_a**-2.0).sum() / (of_a**-2.0).sum()
    expected = [(mean - of_a.mean()) / of_a.std(), np.nan]
    assert_allclose(_moves(fit, bj.BetaPrior()), expected)


@pytest.mark.slow
def test_shares_apart_lie_where_the_posteriors_of_each_do_if_the_judge_is_known():
    external = np.repeat([[4000], [3600], [4000], [3200]], 3, axis=1)
    counts = P.Counts(*CELLS, calibration="random", systems="abc", external_labels=external)
    alone, made = P.exact(counts, interval="eti"), pooled(counts)
    for place in "abc":
        wide = alone["prevalence", place].high - alone["prevalence", place].low
        assert_allclose(made["prevalence", place], alone["prevalence", place], atol=0.06 * wide)


@pytest.mark.slow
def test_small_groups_are_drawn_to_each_other_and_their_intervals_are_shorter(twelve):
    counts, made = twelve
    alone = P.exact(counts, interval="eti").quantities["prevalence"]
    shrunk = made.quantities["prevalence"]
    assert np.mean(shrunk.high - shrunk.low) < 0.8 * np.mean(alone.high - alone.low)
    assert shrunk.value.std() < alone.value.std()
    assert np.mean((shrunk.value - SHARES) ** 2) < np.mean((alone.value - SHARES) ** 2)


@pytest.mark.slow
def test_the_total_weighs_the_groups_by_their_items_and_one_of_them_is_the_lowest(twelve):
    counts, made = twelve
    each = made.quantities["prevalence"].value
    assert_allclose(made["overall_prevalence"].value, each @ counts.shares, atol=1e-9)
    chances = made.quantities["lowest"].value
    assert_allclose(chances.sum(), 1)
    assert chances.argmax() in np.argsort(each)[:2]
    assert np.corrcoef(chances, each)[0, 1] < -0.5


@pytest.mark.slow
def test_an_answer_names_the_groups_that_may_be_the_lowest(twelve):
    counts, made = twelve
    told = P.answer(*P.closed_forms(counts), made)
    lowest = NAMES[int(made.quantities["lowest"].value.argmax())]
    assert told.quoted.method.id == "exact-partially-pooled"
    assert any(note.startswith(f"Lowest of the 12 is {lowest} (probability") for note in told.notes)


def test_few_points_answer_roughly(monkeypatch):
    for name, value in {"FIRST": 256, "LAST": 256, "EFFECTIVE": 10}.items():
        monkeypatch.setattr(hierarchy, name, value)
    cells = [[900, 900, 300], [700, 500, 0], [80] * 3, [72] * 3, [60] * 3, [50, 50, 60]]
    counts = P.Counts(*cells, calibration="by_truth", systems="abc", dim="stratum")
    made = P.exact(counts, P.PooledErrorRates(), interval="eti_bounded")
    share = made.quantities["prevalence"]
    assert_allclose(made["overall_prevalence"].value, share.value @ counts.shares, atol=1e-9)
    assert_allclose(made.quantities["lowest"].value, [0, 0, 1])
    assert share.low[2] == 0  # nothing passed of the last one
    assert made["overall_prevalence"].low > 0
    # far more outputs than labels: shares are those that explain the pass rates by the two rates
    for i in range(2):
        hit, right = (made.quantities[name].value[i] for name in ("sensitivity", "specificity"))
        rate = counts.test_pass[i] / counts.test_n[i]
        assert abs(share.value[i] - (rate + right - 1) / (hit + right - 1)) < 0.03
    told = P.answer(*P.closed_forms(counts), made)
    assert any(note.startswith("Lowest of the 3 is c (probability >.999") for note in told.notes)


@pytest.mark.slow
def test_groups_are_drawn_without_a_fit(twelve):
    _, made = twelve
    ax = P.plot_strata(made)
    assert [label.get_text() for label in ax.get_yticklabels()] == [*NAMES, "all"]
    dots, diamond, _ = ax.get_lines()
    assert_allclose(dots.get_xdata(), made.quantities["prevalence"].value)
    assert_allclose(diamond.get_xdata(), made["overall_prevalence"].value)


@pytest.mark.slow
def test_systems_share_shares_if_that_is_asked(twelve):
    counts = P.Counts(*TWELVE, calibration="random", systems=NAMES)
    same = pooled(counts, shares="partial").quantities["prevalence"]
    assert_allclose(same.value, twelve[1].quantities["prevalence"].value)
    apart = pooled(counts)
    assert "overall_prevalence" not in apart
    assert "prevalence_spread" not in apart.quantities
    assert apart.quantities["prevalence"].value.std() > same.value.std()
    with refused(shares="all"):
        P.PooledErrorRates(shares="all")


@pytest.mark.slow
def test_a_group_without_labels_borrows_and_is_surer_of_nothing(twelve):
    cells = [np.array(x).copy() for x in TWELVE]
    for row in cells[2:]:
        row[0] = 0
    counts = P.Counts(*cells, calibration="random", systems=NAMES, dim="stratum")
    row, before = (one["prevalence", "a"] for one in (pooled(counts), twelve[1]))
    assert row.high - row.low > before.high - before.low
    assert row.low < before.value < row.high


@pytest.mark.slow
def test_groups_without_fails_reach_one():
    cells = ([40] * 3, [40] * 3, [8] * 3, [8] * 3, [0] * 3, [0] * 3)
    counts = P.Counts(*cells, calibration="random", systems="abc", dim="stratum")
    assert P.exact(counts, P.PooledErrorRates())["prevalence", "a"].high == 1
    assert pooled(counts)["prevalence", "a"].high < 1


@pytest.mark.slow
def test_sixty_groups_have_an_answer():
    rng = np.random.default_rng(4)
    good = rng.binomial(8, 0.7, 60)
    cells = [np.full(60, 50), rng.binomial(50, 0.65, 60), good, rng.binomial(good, 0.9)]
    cells += [8 - good, rng.binomial(8 - good, 0.8)]
    names = [f"g{i}" for i in range(60)]
    made = pooled(P.Counts(*cells, calibration="random", systems=names, dim="stratum"))
    overall = made["overall_prevalence"]
    assert not made.cautions or all(c.id != "no-quadrature" for c in made.cautions)
    assert 0.6 < overall.low < overall.high < 0.8


@pytest.mark.slow
def test_draws_that_do_not_cover_are_refused_and_the_command_samples(monkeypatch, tmp_path):
    from bayesjudge.truth import hierarchy

    monkeypatch.setattr(hierarchy, "EFFECTIVE", 10**9)
    counts = P.Counts(*CELLS, calibration="random", systems="abc", dim="stratum")
    made = pooled(counts)
    assert "no-quadrature" in {c.id for c in made.cautions}
    assert np.isnan(made["overall_prevalence"]).all()


@pytest.mark.slow
def test_the_command_answers_at_once_of_many_small_groups(tmp_path, capsys):
    from bayesjudge.cli.app import main

    rng = np.random.default_rng(2)
    rows = pd.DataFrame({"topic": np.repeat(NAMES, 60), "v": rng.integers(0, 2, 720)})
    truth = np.where(rng.random(720) < 0.85, rows["v"], 1 - rows["v"])
    rows["h"] = np.where(rng.random(720) < 0.3, truth, np.nan)
    rows.to_csv(tmp_path / "t.csv", index=False)
    asked = [str(tmp_path / "t.csv"), "--verdict", "v", "--truth", "h", "--calibration", "random"]
    page = str(tmp_path / "page.html")
    for more in (["--by", "topic", "--pooling", "shares"], ["--stratum", "topic", "--html", page]):
        main(["prevalence", *asked, *more])
        said = " ".join(capsys.readouterr().out.split())
        assert "Lowest of the 12 is" in said
        assert "Bayesian (NUTS)" not in said
    assert "Strata, with their shares of the items, and all of them" in Path(page).read_text()


def test_only_the_sum_of_typical_rates_is_held_above_one():
    cells = np.moveaxis(np.array([[[8, 4]], [[7, 1]], [[3, 1]], [[60, 40]]], float), 0, 1)
    for pools in (1, 0):
        known = PooledPosterior(cells, np.ones((2 + pools, 2)), 1.0, bool(pools), True)
        logits = np.array([[-1.0, 2.0], [2.0, -1.0], [2.0, -2.5], [-2.5, 2.0]])
        outer = np.hstack([np.zeros((4, pools)), logits, np.zeros((4, 2 + pools))])
        assert np.isfinite(known.log_density(outer)).tolist() == [True, True, False, False]
