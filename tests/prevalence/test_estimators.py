"""The estimators of source 1, Table 1, under label shift; the bootstrap; intervals at 0 and 1."""

import json
from dataclasses import replace

import numpy as np
import pytest
from conftest import shared, study_but
from numpy.testing import assert_allclose
from oracles import unit_nodes
from refusals import refused
from scipy.special import xlog1py, xlogy

import bayesjudge as bj
from bayesjudge.truth.quadrature import Beta, posterior_of

P = bj.prevalence

# Label shift -------------------------------------------------------------------------------------


def population(case):
    """Counts that have the population's shares exactly, whatever the shift."""
    size = 1_000_000
    true, seen, q0, q1 = (case[name] for name in ("thetaP", "thetaQ", "q0", "q1"))
    good = round(seen * size)
    passes = true * q1 + (1 - true) * (1 - q0)
    counts = (size, passes * size, good, q1 * good, size - good, q0 * (size - good))
    return P.Counts(*(round(x) for x in counts), calibration="separate")


@pytest.mark.slow
def test_every_estimator_has_the_limit_that_its_assumption_gives_it():
    cases = json.loads(shared("reference/prevalence.json").read_text())["distribution_shift"]
    assert len(cases) >= 4
    for case in cases:
        counts = population(case)
        made = {
            "naive": P.naive(counts),
            "calibration_only": P.human_only(counts),
            "difference": P.difference(counts, g="identity"),
            "conditional": P.conditional_calibration(counts),
            "misclassification": P.rogan_gladen(counts),
        }
        bias = {name: one["prevalence"].value - case["thetaP"] for name, one in made.items()}
        for name, expected in case["limit_bias"].items():
            assert_allclose(bias[name], expected, atol=1e-12, err_msg=name)
        exact = posterior_of(counts, P.ErrorRates())
        assert abs(exact.mean - case["thetaP"]) < 1e-4
        # the three that a shift biases say so
        for name in ("calibration_only", "difference", "conditional"):
            assert made[name].cautions[0].id == "design-mismatch"


def test_conditional_calibration_by_hand():
    # 144 of 200 labelled passed, 126 of them good; 56 failed, 14 of them good
    counts = P.Counts(1000, 760, 140, 126, 60, 42, calibration="random")
    made = P.conditional_calibration(counts)["prevalence"]
    assert_allclose(made.value, 0.76 * 126 / 144 + 0.24 * 14 / 56, rtol=1e-12)
    assert made.low < made.value < made.high
    wide, other = made.high - made.low, P.post_stratified(counts)["prevalence"]
    assert wide > other.high - other.low  # which also uses the verdicts on labelled items
    none_failed = P.Counts(100, 50, 5, 5, 5, 0, calibration="random")
    assert np.isnan(P.conditional_calibration(none_failed)["prevalence"]).all()


@pytest.mark.slow
@pytest.mark.parametrize("runs", study_but([1000, 4000], 1000))
def test_conditional_calibration_covers(runs):
    rng, (q1, q0, theta) = np.random.default_rng(8), (0.9, 0.7, 0.6)
    good = rng.binomial(200, theta, runs)
    counts = P.Counts(
        *([1000] * runs, rng.binomial(1000, theta * q1 + (1 - theta) * (1 - q0), runs)),
        *(good, rng.binomial(good, q1), 200 - good, rng.binomial(200 - good, q0)),
        calibration="random",
        systems=range(runs),
    )
    table = P.conditional_calibration(counts).table
    covered = ((table["low"] <= theta) & (theta <= table["high"])).mean()
    assert abs(covered - 0.95) < 0.01 + 5 * np.sqrt(0.95 * 0.05 / runs)


# Bootstrap ---------------------------------------------------------------------------------------


def by_items(counts, resamples, rng):
    """Estimates of resampled items, one loop a resample; None where there is no estimate."""
    c = counts
    test = np.repeat([1, 0], [c.test_pass, c.test_n - c.test_pass])
    good = np.repeat([1, 0], [c.correct_pass, c.correct_n - c.correct_pass])
    bad = np.repeat([0, 1], [c.incorrect_fail, c.incorrect_n - c.incorrect_fail])
    labelled = np.concatenate([np.stack([good * 0 + 1, good]), np.stack([bad * 0, bad])], axis=1)
    found = []
    for _ in range(resamples):
        if c.calibration == "random":
            one = labelled[:, rng.integers(0, labelled.shape[1], labelled.shape[1])]
        else:
            parts = [labelled[:, labelled[0] == t] for t in (1, 0)]
            one = np.concatenate([p[:, rng.integers(0, p.shape[1], p.shape[1])] for p in parts], 1)
        rate = test[rng.integers(0, test.size, test.size)].mean()
        hits, wrong = one[1][one[0] == 1], one[1][one[0] == 0]
        if hits.size == 0 or wrong.size == 0 or hits.mean() <= wrong.mean():
            found.append(None)
        else:
            found.append((rate - wrong.mean()) / (hits.mean() - wrong.mean()))
    return found


#: Few bad resamples and an end inside; many; many where the others are far from that end; and a
#: class so small that it may be empty in a random sample.
CELLS = [
    (80, 62, 30, 26, 9, 6),
    (80, 45, 12, 9, 5, 3),
    (80, 56, 10, 7, 10, 5),
    (80, 62, 37, 33, 3, 2),
]


@pytest.mark.slow
@pytest.mark.parametrize("calibration", ["random", "by_truth"])
@pytest.mark.parametrize("cells", CELLS, ids=str)
def test_bootstrap_is_the_resampling_of_items(cells, calibration):
    counts = P.Counts(*cells, calibration=calibration)
    resamples = 6000
    made = P.bootstrap(counts, resamples=resamples, random_seed=1)
    (caution,) = [c for c in made.cautions if c.id == "bad-resamples"]
    bad = int(caution.text.split()[0])
    found = by_items(counts, resamples, np.random.default_rng(2))
    share = sum(one is None for one in found) / resamples
    assert share > 0
    assert abs(bad / resamples - share) < 5 * np.sqrt(2 * share / resamples)
    _, low, high = made["prevalence"]
    if cells == CELLS[0]:
        assert low > 0
    lower = np.array([0 if one is None else np.clip(one, 0, 1) for one in found])
    upper = np.array([1 if one is None else np.clip(one, 0, 1) for one in found])
    noise = 5 * np.sqrt(2 * 0.025 * 0.975 / resamples)  # of two shares that are compared
    assert np.mean(lower < low - 1e-9) - noise < 0.025 < np.mean(lower <= low + 1e-9) + noise
    assert np.mean(upper > high + 1e-9) - noise < 0.025 < np.mean(upper >= high - 1e-9) + noise


def test_bootstrap_of_much_data_is_the_delta_method():
    n, m = 100_000, 40_000
    counts = P.Counts(
        *([n, n], [62_000, 40_000], [m, m], [36_000, 38_000], [m, m], [28_000, 30_000]),
        calibration="by_truth",
        systems=["a", "b"],
    )
    made = P.bootstrap(counts, resamples=8000, random_seed=3)
    assert made.cautions == ()
    delta = P.rogan_gladen(counts, interval="delta")
    for name in "ab":
        one, other = made["prevalence", name], delta["prevalence", name]
        assert_allclose(one.value, other.value, rtol=1e-12)
        # an end's Monte Carlo error is sd sqrt(p (1 - p) / resamples) / density(1.96) = .03 sd
        sd = (other.high - other.low) / 2 / 1.96
        assert_allclose([one.low, one.high], [other.low, other.high], atol=5 * 0.03 * sd)


def test_bootstrap_refuses_and_repeats():
    counts = P.Counts(80, 45, 12, 9, 5, 3, calibration="random")
    one, same = (P.bootstrap(counts, random_seed=5).table for _ in range(2))
    assert one.equals(same)
    with refused(100, 10, subject="bootstrap"):
        P.bootstrap(counts, resamples=10)
    hopeless = P.bootstrap(P.Counts(100, 50, 10, 4, 10, 5, calibration="by_truth"), random_seed=1)
    assert np.isnan(hopeless["prevalence"]).all()


# Ends of the range -------------------------------------------------------------------------------


def likelihood(counts, theta):
    """The likelihood of each theta, the judge's rates integrated out over q0 + q1 > 1."""
    u, w = unit_nodes(20)
    q0 = u[:, None]
    q1 = 1 - q0 + q0 * u
    weight = w[:, None] * w * q0
    log = xlogy(counts.correct_pass, q1) + xlog1py(counts.correct_n - counts.correct_pass, -q1)
    log += xlogy(counts.incorrect_fail, q0)
    log += xlog1py(counts.incorrect_n - counts.incorrect_fail, -q0)
    found = []
    for t in theta:
        rate = t * q1 + (1 - t) * (1 - q0)
        seen = xlogy(counts.test_pass, rate)
        seen = log + seen + xlog1py(counts.test_n - counts.test_pass, -rate)
        if counts.calibration == "random":
            seen += xlogy(counts.correct_n, t) + xlog1py(counts.incorrect_n, -t)
        if seen.max() == -np.inf:  # one good label, and a prevalence of 0
            found.append(-np.inf)
            continue
        found.append(np.log((np.exp(seen - seen.max()) * weight).sum()) + seen.max())
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    "prior",
    study_but([bj.BetaPrior(), bj.BetaPrior(2, 3), bj.BetaPrior.jeffreys()], bj.BetaPrior(2, 3)),
)
def test_extended_interval_reaches_what_the_likelihood_does_not_exclude(prior):
    priors = P.ErrorRates(prevalence=prior)
    theta = np.linspace(0, 1, 41)
    reached = []
    for passes in (30, 56, 64, 70, 100, 150, 156, 160, 170, 186):
        counts = P.Counts(200, passes, 60, 54, 60, 48, calibration="by_truth")
        value, low, high = P.exact(counts, priors, interval="eti_bounded")["prevalence"]
        plain = P.exact(counts, priors, interval="eti")["prevalence"]
        log = likelihood(counts, theta)
        at_0, at_1 = (log[i] > log.max() - 1.959964**2 / 2 for i in (0, -1))
        assert (low == 0) == at_0
        assert (high == 1) == at_1
        assert value == plain.value
        assert low in (0, plain.low)
        assert high in (1, plain.high)
        reached.append((bool(at_0), bool(at_1)))
    assert set(reached) == {(True, False), (False, False), (False, True)}


@pytest.mark.slow
def test_one_good_label_excludes_zero():
    counts = P.Counts(1000, 200, 1, 1, 60, 50, calibration="random")
    assert P.exact(counts, interval="eti_bounded")["prevalence"].low > 0
    none = P.Counts(1000, 160, 0, 0, 60, 50, calibration="random")
    assert P.exact(none, interval="eti_bounded")["prevalence"].low == 0
    theta = np.linspace(0, 1, 201)
    for one in (counts, none):
        log = likelihood(one, theta)
        reaches = posterior_of(one, P.ErrorRates()).reaches(Beta(0.5, 0.5), 1.96**2 / 2)
        assert reaches == (log[0] > log.max() - 1.96**2 / 2, log[-1] > log.max() - 1.96**2 / 2)


@pytest.mark.slow
def test_by_verdict_one_good_label_excludes_zero_and_one_bad_label_one():
    # the likelihood at 0 is nothing where a labelled item is good, and its maximum where none is
    for cells, reached in (
        ((100, 60, 0, 0, 40, 20), (True, False)),
        ((100, 60, 1, 1, 39, 20), (False, False)),
        ((100, 60, 40, 20, 0, 0), (False, True)),
    ):
        counts = P.Counts(*cells, calibration="by_verdict")
        plain, moved = (P.exact(counts, interval=k)["prevalence"] for k in ("eti", "eti_bounded"))
        assert (moved.low == 0, moved.high == 1) == reached
        assert moved.low in (0, plain.low)
        assert moved.high in (1, plain.high)
    with refused(interval="wald"):
        P.exact(counts, interval="wald")


@pytest.mark.slow
def test_extended_interval_covers_zero_and_one():
    runs, rng = 12, np.random.default_rng(2)
    for theta in (0.0, 1.0):
        rate = theta * 0.9 + (1 - theta) * 0.3
        counts = P.Counts(
            *(
                [400] * runs,
                rng.binomial(400, rate, runs),
                [30] * runs,
                rng.binomial(30, 0.9, runs),
            ),
            *([30] * runs, rng.binomial(30, 0.7, runs)),
            calibration="by_truth",
            systems=range(runs),
        )
        table = P.exact(counts, interval="eti_bounded").table
        covered = ((table["low"] <= theta) & (theta <= table["high"])).mean()
        assert covered > 0.95 - 5 * np.sqrt(0.95 * 0.05 / runs)
        plain = P.exact(counts.system("0"), interval="eti")["prevalence"]
        assert plain.low > 0
        assert plain.high < 1


@pytest.mark.study
def test_a_fit_reaches_what_quadrature_reaches(tmp_path):
    counts = P.Counts(
        *([200, 200, 200], [64, 100, 178], [60, 60, 60], [54, 54, 54], [60, 60, 60], [42, 42, 42]),
        calibration="by_truth",
        systems="abc",
    )
    fit = P.fit(counts, random_seed=1)
    assert fit.interval == "eti_bounded"
    made, exact = fit.estimate(), P.exact(counts)
    at_0, at_1 = fit.spec._extended_to(fit, 0.95)["prevalence"]
    assert at_0.tolist() == [True, False, False]
    assert at_1.tolist() == [False, False, True]
    for name in "abc":
        ends = [
            (row.low == 0, row.high == 1)
            for row in (one["prevalence", name] for one in (made, exact))
        ]
        assert ends[0] == ends[1]
    assert made.interval_of("prevalence") == "equal-tailed, boundary-extended"
    assert made.interval_of("sensitivity") == "equal-tailed"
    plain = fit.estimate(interval="eti")
    assert plain["prevalence", "a"].low > 0
    assert plain["prevalence", "b"] == made["prevalence", "b"]
    loaded = bj.load(fit.save(tmp_path / "fit.nc"))
    assert loaded.estimate().table.equals(made.table)
    with refused("eti_bounded", id="no-such-interval"):
        replace(fit, spec=P.classes.Confusions()).estimate()


@pytest.mark.study
@pytest.mark.parametrize("passes", [[64, 70], [64, 110]])
def test_a_pooled_fit_reaches_what_its_draws_do_not_exclude(passes):
    """Two systems of one judge are one sample of the judge: quadrature with all labels tells."""
    whole = P.Counts([200, 200], passes, [30, 30], [27, 27], [30, 30], [21, 21],
                     calibration="by_truth", systems="ab")  # fmt: skip
    fit = P.fit(whole, P.ErrorRates(pooling="full"), random_seed=1)
    reached = fit.spec._extended_to(fit, 0.95)["prevalence"]
    for name, k in zip("ab", passes, strict=True):
        alone = P.Counts(200, k, 60, 54, 60, 42, calibration="by_truth")
        at_0, at_1 = posterior_of(alone, P.ErrorRates()).reaches(Beta(0.5, 0.5), 1.96**2 / 2)
        assert tuple(end["ab".index(name)] for end in reached) == (at_0, at_1)


@pytest.mark.slow
def test_strata_reach_an_end_of_their_own():
    """Each of two strata is at 0 within its interval; their sum takes priors that they share."""
    one = ([200, 200], [80, 80], [60, 60], [54, 54], [60, 60], [42, 42])
    counts = P.Counts(*one, calibration="by_truth", systems="ab", dim="stratum")
    made = P.exact(counts)
    depth = posterior_of(counts.system("a"), P.ErrorRates()).depths(Beta(0.5, 0.5))[0]
    assert -1.92 < depth < -0.96
    assert made["prevalence", "a"].low == 0
    assert np.isnan(made["overall_prevalence"]).all()
    assert made.cautions[0].id == "stratum-priors"
