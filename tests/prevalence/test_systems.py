"""Several systems under one judge: pooled models checked another way, and what is said of them."""

import numpy as np
import pytest
from conftest import MODULES
from numpy.testing import assert_allclose
from oracles import (
    assert_mc_mean,
    assert_mc_quantile,
    assert_mc_sd,
    assert_same_mean,
    unit_nodes,
)
from refusals import refused
from scipy.special import expit, logit, xlog1py, xlogy

import bayesjudge as bj
from bayesjudge.datasets import keep_labels, xstest
from bayesjudge.truth.quadrature import posterior_of

P = bj.prevalence
#: Three systems with few labels; the last has none.
COUNTS = P.Counts(
    *([60, 50, 40], [38, 20, 25], [9, 6, 0], [8, 5, 0], [7, 8, 0], [5, 7, 0]),
    calibration="random",
    systems=["a", "b", "new"],
)
LABELLED = P.Counts(
    *([60, 50], [38, 20], [9, 6], [8, 5], [7, 8], [5, 7]), calibration="random", systems="ab"
)


def weighted_oracle(counts, spread, draws=150_000, seed=1):
    """Posterior means by importance sampling from the prior, the prevalence integrated out.

    Jeffreys' of the shares, and flat of a typical judge better than chance; `spread` is the scale
    of the half-normal, or 0 for one judge who treats all systems alike.
    """
    rng = np.random.default_rng(seed)
    typical = rng.uniform(size=(2, 4 * draws))
    typical = typical[:, typical.sum(axis=0) > 1][:, :draws]
    angles, node_weights = unit_nodes(2, 16)
    nodes = np.sin(angles * np.pi / 2) ** 2  # of Jeffreys' prior of a share
    log, means, rates = 0.0, [], []
    spreads = np.abs(rng.normal(size=(2, draws))) * spread
    for i in range(len(counts.systems)):
        steps = rng.normal(size=(2, draws))
        hit, caught = expit(logit(typical) + spreads * steps)
        n, k, m1, a1, m0, a0 = (
            float(getattr(counts, name)[i])
            for name in (
                *("test_n", "test_pass", "correct_n", "correct_pass"),
                *("incorrect_n", "incorrect_fail"),
            )
        )
        rate = nodes * hit[:, None] + (1 - nodes) * (1 - caught[:, None])
        inner = xlogy(k, rate) + xlog1py(n - k, -rate)
        if counts.calibration == "random":
            inner += xlogy(m1, nodes) + xlog1py(m0, -nodes)
        top = inner.max(axis=1)
        density = np.exp(inner - top[:, None]) * node_weights
        mass = density.sum(axis=1)
        log = log + np.log(mass) + top
        log = log + xlogy(a1, hit) + xlog1py(m1 - a1, -hit) + xlogy(a0, caught)
        log = log + xlog1py(m0 - a0, -caught)
        means.append(density @ nodes / mass)
        rates.append((hit, caught))
    weights = np.exp(log - log.max())
    weights /= weights.sum()
    values = {"prevalence": np.array(means), "rates": np.array(rates)}
    found = {name: (array * weights).sum(axis=-1) for name, array in values.items()}
    errors = {
        name: np.sqrt((((array - found[name][..., None]) * weights) ** 2).sum(axis=-1))
        for name, array in values.items()
    }
    return found, errors


@pytest.fixture(scope="module")
def partial():
    return P.fit(COUNTS, P.PooledErrorRates(), random_seed=3)


# The models --------------------------------------------------------------------------------------


@pytest.mark.own_model
@pytest.mark.sampling
def test_partial_pooling_is_what_weighting_the_prior_gives(partial):
    assert partial.converged, partial.cautions
    found, errors = weighted_oracle(COUNTS, spread=1.0)
    posterior = partial.idata["posterior"]
    for i in range(3):
        draws = posterior["prevalence"].isel(system=i)
        assert_same_mean(draws, found["prevalence"][i], errors["prevalence"][i])
        for j, name in enumerate(("sensitivity", "specificity")):
            draws = posterior[name].isel(system=i)
            assert_same_mean(draws, found["rates"][i, j], errors["rates"][i, j])


@pytest.mark.study
@pytest.mark.parametrize("calibration", ["random", "by_truth"])
def test_full_pooling_is_what_weighting_the_prior_gives(calibration):
    fields = ("test_n", "test_pass", "correct_n", "correct_pass", "incorrect_n", "incorrect_fail")
    values = {name: getattr(LABELLED, name) for name in fields}
    counts = P.Counts(**values, calibration=calibration, systems="ab")
    fit = P.fit(counts, P.ErrorRates(pooling="full"), random_seed=3)
    assert fit.converged, fit.cautions
    found, errors = weighted_oracle(counts, spread=0.0)
    posterior = fit.idata["posterior"]
    for i in range(2):
        draws = posterior["prevalence"].isel(system=i)
        assert_same_mean(draws, found["prevalence"][i], errors["prevalence"][i])
    for j, name in enumerate(("sensitivity", "specificity")):
        assert posterior[name].dims == ("chain", "draw")
        assert_same_mean(posterior[name], found["rates"][0, j], errors["rates"][0, j])


@pytest.mark.study
@pytest.mark.parametrize("better_than_chance", [True, False])
def test_full_pooling_of_one_system_is_the_exact_posterior(better_than_chance):
    one = P.Counts([60], [38], [9], [8], [7], [5], calibration="by_truth", systems=["a"])
    model = P.ErrorRates(
        prevalence=bj.BetaPrior(2, 3),
        sensitivity=bj.BetaPrior(4, 2),
        specificity=bj.BetaPrior(3, 1.5),
        better_than_chance=better_than_chance,
        pooling="full",
    )
    fit = P.fit(one, model, random_seed=2)
    exact = posterior_of(one.system("a"), model)
    draws = fit.idata["posterior"]["prevalence"].isel(system=0)
    assert_mc_mean(draws, exact.mean)
    assert_mc_sd(draws, exact.sd)
    assert_mc_quantile(draws, 0.025, float(exact.quantile(0.025)))


@pytest.mark.study
def test_a_small_spread_pools_fully():
    narrow = P.fit(LABELLED, P.PooledErrorRates(spread=1e-3), random_seed=4)
    found, errors = weighted_oracle(LABELLED, spread=0.0)
    for i in range(2):
        draws = narrow.idata["posterior"]["prevalence"].isel(system=i)
        assert_same_mean(draws, found["prevalence"][i], errors["prevalence"][i])


@pytest.mark.sampling
def test_a_new_system_knows_less_than_one_with_labels(partial):
    made = partial.estimate()
    for quantity in ("prevalence", "sensitivity"):
        found = made.quantities[quantity]
        assert np.argmax(found.high - found.low) == COUNTS.systems.index("new")
    assert {c.id for c in partial.cautions} >= {"no-labels"}
    assert "exchangeable" in bj.report(partial)
    assert "spread between systems 1" in bj.report(partial)


@pytest.mark.study
def test_a_pooled_fit_survives_the_disk(partial, tmp_path):
    loaded = bj.load(partial.save(tmp_path / "fit.nc"))
    assert loaded.spec == P.PooledErrorRates()
    assert loaded.model.point_logps() == partial.model.point_logps()
    assert P.ranking(loaded).equals(P.ranking(partial))


@pytest.mark.study
def test_on_xstest_a_new_system_is_covered():
    known = xstest()
    shares = known.groupby("system")["truth"].mean()
    held = []
    for left_out, share in shares.items():
        table = keep_labels(known, 100, 2024, by="system")
        table.loc[table["system"] == left_out, "truth"] = np.nan
        counts = P.Counts.from_frame(table, by="system", calibration="random", unparsed="fail")
        fit = P.fit(counts, P.PooledErrorRates(), random_seed=1)
        assert fit.converged, fit.cautions
        _, low, high = fit.estimate()["prevalence", left_out]
        held.append(low <= share <= high)
    assert sum(held) >= 4, held


# Refusals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("pooling", ["separate", "full"])
def test_a_system_without_labels_has_to_borrow(pooling):
    with refused("new", subject="build_model"):
        P.build_model(COUNTS, P.ErrorRates(pooling=pooling))


@pytest.mark.slow
def test_closed_forms_have_no_answer_without_labels():
    for one in (*P.closed_forms(COUNTS), P.exact(COUNTS)):
        assert "no-labels" in {c.id for c in one.cautions}
        answered = one.method.title in ("Judge's pass rate",)
        assert np.isnan(one["prevalence", "new"].value) != answered, one.method
        assert np.isfinite(one["prevalence", "a"].value)
    assert_allclose(P.exact(COUNTS)["prevalence", "a"], P.exact(LABELLED)["prevalence", "a"])
    nothing = P.Counts([5, 5], [2, 2], [0, 0], [0, 0], [0, 0], [0, 0], "random", systems="ab")
    with refused("a", "b", id="no-labels"):
        P.build_model(nothing, P.PooledErrorRates())


def test_pooling_has_to_suit_the_counts():
    single = P.Counts(60, 38, 9, 8, 7, 5, calibration="random")
    with refused("pooling=", subject="build_model"):
        P.build_model(single, P.ErrorRates(pooling="full"))
    with refused("pooling=", "some", subject="ErrorRates"):
        P.ErrorRates(pooling="some")
    by_verdict = P.Counts(
        *([60, 50], [38, 20], [9, 6], [8, 5], [7, 8], [5, 7]),
        calibration="by_verdict",
        systems="ab",
    )
    with refused(id="predictive-values"):
        P.build_model(by_verdict, P.PooledErrorRates())
    with refused(spread=0):
        P.PooledErrorRates(spread=0)


# Comparisons -------------------------------------------------------------------------------------


@pytest.mark.sampling
def test_contrasts_and_ranks_by_hand(partial):
    draws = partial.draws("prevalence")
    table = P.contrasts(partial).set_index(["first", "second"])
    assert len(table) == 3
    gap = draws[:, 0] - draws[:, 2]
    one = table.loc[("a", "new")]
    assert_allclose(one["value"], gap.mean())
    assert_allclose(one[["low", "high"]].tolist(), np.quantile(gap, [0.025, 0.975]))
    assert_allclose(one["probability"], (gap > 0).mean())
    ranks = P.ranking(partial)
    assert_allclose(ranks["best"].sum(), 1)
    assert_allclose(ranks["rank"].sum(), 6)
    assert_allclose(ranks.loc["b", "best"], (draws.argmax(axis=1) == 1).mean())
    worse = (draws > draws[:, [1]]).sum(axis=1)
    assert_allclose(ranks.loc["b", "rank"], 1 + worse.mean())
    assert ranks["value"].is_monotonic_decreasing
    held = (ranks.loc["b", "rank_low"] <= 1 + worse) & (1 + worse <= ranks.loc["b", "rank_high"])
    assert held.mean() >= 0.95


@pytest.mark.sampling
def test_one_system_has_nothing_to_compare(fit_of):
    (module,) = (one for one in MODULES if one.name == "prevalence")
    for compare in (P.contrasts, P.ranking):
        with refused(id="nothing-to-compare"):
            compare(fit_of(module))


@pytest.mark.sampling
def test_plot_systems_draws_the_ranking(partial):
    table = P.ranking(partial)
    ax = P.plot_systems(table)
    assert [label.get_text() for label in ax.get_yticklabels()] == list(table.index)
    (dots,) = ax.get_lines()
    assert_allclose(dots.get_xdata(), table["value"])
    ends = np.array([segment[:, 0] for segment in ax.collections[0].get_segments()])
    assert_allclose(ends, table[["low", "high"]])
    texts = [text.get_text() for text in ax.texts]
    assert texts == ["P(best)", *(f"{best:.0%}" for best in table["best"])]


@pytest.mark.sampling
def test_the_command_pools_and_draws_the_ranking(tmp_path, capsys):
    from bayesjudge.cli import main

    table = P.simulate(systems=["a", "b", "new"], items=60, labelled=20, random_seed=4)
    table.loc[table["system"] == "new", "truth"] = np.nan
    table.to_csv(tmp_path / "rows.csv", index=False)
    page = tmp_path / "page.html"
    columns = ["--verdict", "verdict", "--truth", "truth", "--by", "system"]
    asked = ["prevalence", str(tmp_path / "rows.csv"), *columns, "--calibration", "random"]
    assert main([*asked, "--pooling", "partial", "--nuts", "--html", str(page)]) == 0
    out = capsys.readouterr().out
    assert "no-labels: no item has a human label in system 'new'" in out
    assert "the probability of being the best" in page.read_text()
    assert main(asked) == 0
    assert "--pooling partial" in capsys.readouterr().out
    assert main([*asked, "--nuts"]) == 2
    assert "--pooling partial" in capsys.readouterr().err
