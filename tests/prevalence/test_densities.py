"""Log-densities of the models of scores and of classes, against priors and likelihoods by hand."""

import numpy as np
import pytest
from pymc.model.transform.conditioning import remove_value_transforms
from pytensor.compile.mode import Mode
from scipy.special import ndtr, xlogy
from scipy.stats import beta, binom, dirichlet, expon, halfnorm, lognorm, multinomial

import bayesjudge as bj

pytestmark = pytest.mark.slow
P = bj.prevalence
S, classes = P.scores, P.classes
NAN = float("nan")
RNG = np.random.default_rng(20)


def density(model):
    """Log-density of a PyMC model's own variables, on their own scales."""
    plain = remove_value_transforms(model)
    slow = Mode(linker="py", optimizer="fast_compile")
    return plain.compile_logp(jacobian=False, mode=slow)


def assert_same(model, by_hand, draw):
    """The density changes from point to point as it does by hand."""
    logp = density(model)
    points = [draw() for _ in range(4)]
    found = np.array([float(logp(point)) for point in points])
    expected = np.array([by_hand(**point) for point in points])
    np.testing.assert_allclose(found - found[0], expected - expected[0], rtol=1e-9, atol=1e-9)
    assert np.ptp(expected) > 1


def dirichlets(weights, rows):
    rows = np.asarray(rows)
    return sum(dirichlet.logpdf(row, weights) for row in rows.reshape(-1, rows.shape[-1]))


# Scores ------------------------------------------------------------------------------------------

BINNED = {"edges": (1.5, 2.5), "scale": (1, 3)}
TEST, FAILS, PASSES = (30, 20, 50), (8, 3, 1), (2, 5, 9)


def scored(calibration):
    score = [1, 2, 3] * 3
    truth = [NAN] * 3 + [0] * 3 + [1] * 3
    return S.Scores(score, truth, [*TEST, *FAILS, *PASSES], calibration, **BINNED)


@pytest.mark.parametrize("calibration", ["random", "by_truth"])
def test_scores_given_the_truth(calibration):
    model = S.ScoreGivenTruth(bj.BetaPrior(2, 3), concentration=4, rise=2.5)

    def by_hand(prevalence, fail_share, increment):
        tilted = fail_share * np.exp([0, increment[0], increment.sum()])
        good = tilted / tilted.sum()
        mixed = prevalence * good + (1 - prevalence) * fail_share
        total = beta.logpdf(prevalence, 2, 3) + dirichlet.logpdf(fail_share, [4 / 3] * 3)
        total += expon.logpdf(increment, scale=2.5 / 2).sum()
        for seen, share in ((TEST, mixed), (FAILS, fail_share), (PASSES, good)):
            total += multinomial.logpmf(seen, sum(seen), share)
        if calibration == "random":
            total += binom.logpmf(16, 28, prevalence)
        return total

    def draw():
        shares = {"fail_share": RNG.dirichlet([3, 2, 2]), "increment": RNG.exponential(1, 2)}
        return {"prevalence": RNG.uniform(0.2, 0.8), **shares}

    assert_same(S.build_model(scored(calibration), model), by_hand, draw)


@pytest.mark.parametrize("rising", [True, False])
def test_truths_given_the_score(rising):
    model = S.TruthGivenScore(3.0, 2.0, monotone=rising)
    name = "truth_steps" if rising else "pass_share"

    def by_hand(cell_share, **about):
        good = np.cumsum(about[name])[:3] if rising else about[name]
        total = dirichlet.logpdf(cell_share, [1.0] * 3)
        items = np.array(TEST) + FAILS + PASSES
        total += multinomial.logpmf(items, items.sum(), cell_share)
        if rising:
            total += dirichlet.logpdf(about[name], [3 * 2 / 4] * 4)
        else:
            total += beta.logpdf(good, 4 / 3, 4 / 3).sum()
        return total + binom.logpmf(PASSES, np.add(FAILS, PASSES), good).sum()

    def draw():
        truths = RNG.dirichlet([2] * 4) if rising else RNG.uniform(0.2, 0.8, 3)
        return {"cell_share": RNG.dirichlet([3] * 3), name: truths}

    built = S.build_model(scored("by_verdict"), model)
    assert_same(built, by_hand, draw)
    point = draw()
    shares = built["prevalence"].eval({built[k]: v for k, v in point.items()})
    good = np.cumsum(point[name])[:3] if rising else point[name]
    np.testing.assert_allclose(shares, point["cell_share"] @ good)


def test_means_that_rise_with_the_score():
    given = np.array([[4, 2, 1, 0], [1, 3, 2, 1], [0, 1, 2, 6]])
    bins, levels = np.nonzero(given)
    scores = S.Scores(
        np.concatenate([[1, 2, 3], bins + 1]),
        np.concatenate([[NAN] * 3, levels + 1]),
        np.concatenate([TEST, given[bins, levels]]),
        "random",
        truth_scale=(1, 4),
        **BINNED,
    )
    model = S.RisingMean(3.0, 1.5, spread=0.4)

    def chances_of(location_steps, bin_spread, **_):
        location = 2 * np.cumsum(location_steps)[:3] - 0.5
        spread = np.hypot(bin_spread, 1 / 15)  # a number is read to a fifth of a step of a third
        below = ndtr((np.array([1, 3, 5]) / 6 - location[:, None]) / spread[:, None])
        return np.diff(np.column_stack([np.zeros(3), below, np.ones(3)]), axis=1)

    def by_hand(**point):
        items = np.array(TEST) + given.sum(axis=1)
        shares, typical = point["cell_share"], point["typical_spread"]
        total = dirichlet.logpdf(shares, [1.0] * 3) + halfnorm.logpdf(typical, scale=0.4)
        total += dirichlet.logpdf(point["location_steps"], [3 * 1.5 / 4] * 4)
        total += lognorm.logpdf(point["bin_spread"], 0.5, scale=typical).sum()
        total += multinomial.logpmf(items, items.sum(), shares)
        return total + xlogy(given, chances_of(**point)).sum()

    def draw():
        spreads = {"typical_spread": RNG.uniform(0.2, 0.5), "bin_spread": RNG.uniform(0.2, 0.6, 3)}
        steps = RNG.dirichlet([4] * 4)
        return {"cell_share": RNG.dirichlet([3] * 3), "location_steps": steps, **spreads}

    built = S.build_model(scores, model)
    assert_same(built, by_hand, draw)
    point = draw()
    del point["typical_spread"]
    mean = built["mean_score"].eval({built[k]: v for k, v in point.items()})
    np.testing.assert_allclose(
        mean, point["cell_share"] @ chances_of(**point) @ [1, 2, 3, 4], rtol=1e-8
    )


# Classes -----------------------------------------------------------------------------------------

SEEN = np.array([30, 20, 10])
KNOWN = np.array([[9, 1, 2], [2, 6, 1], [1, 3, 7]])


@pytest.mark.parametrize("calibration", ["random", "by_truth"])
def test_shares_and_confusions(calibration):
    counts = classes.ClassCounts(SEEN, KNOWN, "abc", calibration)
    model = classes.Confusions(share_concentration=4, right=3, wrong=1.5)

    def by_hand(prevalence, confusion):
        total = dirichlet.logpdf(prevalence, [4 / 3] * 3)
        weights = np.full((3, 3), 0.75) + 2.25 * np.eye(3)
        for weight, row, known in zip(weights, confusion, KNOWN, strict=True):
            total += dirichlet.logpdf(row, weight) + multinomial.logpmf(known, known.sum(), row)
        total += multinomial.logpmf(SEEN, 60, prevalence @ confusion)
        if calibration == "random":
            total += multinomial.logpmf(KNOWN.sum(axis=1), KNOWN.sum(), prevalence)
        return total

    def draw():
        return {"prevalence": RNG.dirichlet([3] * 3), "confusion": RNG.dirichlet([3] * 3, 3)}

    assert_same(classes.build_model(counts, model), by_hand, draw)


def test_one_judge_of_several_systems():
    counts = classes.ClassCounts(
        [SEEN, SEEN[::-1]], [KNOWN, KNOWN.T], "abc", "by_truth", systems=("x", "y")
    )

    def by_hand(prevalence, confusion):
        total = dirichlets([1 / 3] * 3, prevalence)
        weights = np.full((3, 3), 0.5) + 0.5 * np.eye(3)
        both = KNOWN + KNOWN.T
        for weight, row, known in zip(weights, confusion, both, strict=True):
            total += dirichlet.logpdf(row, weight) + multinomial.logpmf(known, known.sum(), row)
        for seen, shares in zip((SEEN, SEEN[::-1]), prevalence, strict=True):
            total += multinomial.logpmf(seen, 60, shares @ confusion)
        return total

    def draw():
        return {"prevalence": RNG.dirichlet([3] * 3, 2), "confusion": RNG.dirichlet([3] * 3, 3)}

    assert_same(classes.build_model(counts, classes.Confusions(pooling="full")), by_hand, draw)


def test_classes_given_the_verdict():
    counts = classes.ClassCounts(SEEN, KNOWN, "abc", "by_verdict", credit=(1, 0.5, 0))
    model = classes.PredictiveShares(verdict_concentration=4, class_concentration=2.5)

    def by_hand(verdict_share, class_share):
        total = dirichlet.logpdf(verdict_share, [4 / 3] * 3)
        items = SEEN + KNOWN.sum(axis=0)
        total += multinomial.logpmf(items, items.sum(), verdict_share)
        for row, known in zip(class_share, KNOWN.T, strict=True):
            total += dirichlet.logpdf(row, [2.5 / 3] * 3)
            total += multinomial.logpmf(known, known.sum(), row)
        return total

    def draw():
        return {"verdict_share": RNG.dirichlet([3] * 3), "class_share": RNG.dirichlet([3] * 3, 3)}

    built = classes.build_model(counts, model)
    assert_same(built, by_hand, draw)
    point = draw()
    given = {built[k]: v for k, v in point.items()}
    shares = point["verdict_share"] @ point["class_share"]
    np.testing.assert_allclose(built["prevalence"].eval(given), shares)
    np.testing.assert_allclose(built["win_rate"].eval(given), shares @ [1, 0.5, 0])
