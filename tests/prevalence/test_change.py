"""When a share changed, if it did once: against Beta integrals, and on average over the prior."""

import numpy as np
import pytest
from conftest import study_but
from refusals import refused
from scipy.special import betaln
from scipy.stats import beta

import bayesjudge as bj
from bayesjudge.core.estimate import Row
from bayesjudge.prevalence.change import ChangePoint

P = bj.prevalence


def labelled(good, bad, calibration="random"):
    """Periods of which every item is labelled: the judge does not matter."""
    return P.Counts(
        [0] * len(good), [0] * len(good), good, [g // 2 for g in good], bad, [b // 2 for b in bad],
        calibration=calibration, systems=[f"w{i}" for i in range(1, len(good) + 1)],
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("prior", [(1, 1), (2, 3)])
def test_all_labelled_it_is_a_ratio_of_beta_integrals(prior):
    good, bad = np.array([18, 20, 9, 12]), np.array([2, 3, 8, 9])
    found = P.change_point(
        labelled([*map(int, good)], [*map(int, bad)]), P.ErrorRates(bj.BetaPrior(*prior))
    )

    def log_integral(a, b):
        return betaln(prior[0] + a, prior[1] + b) - betaln(*prior)

    sums = [((good[:k].sum(), bad[:k].sum()), (good[k:].sum(), bad[k:].sum())) for k in (1, 2, 3)]
    parts = np.exp([log_integral(*early) + log_integral(*late) for early, late in sums])
    none = np.exp(log_integral(good.sum(), bad.sum()))
    assert found.probabilities == pytest.approx(tuple(parts / parts.sum()), rel=1e-4)
    assert found.bayes_factor == pytest.approx(parts.mean() / none, rel=1e-4)
    rng, weights = np.random.default_rng(1), parts / parts.sum()
    drawn = np.concatenate(
        [
            beta.rvs(prior[0] + late[0], prior[1] + late[1], size=n, random_state=rng)
            - beta.rvs(prior[0] + early[0], prior[1] + early[1], size=n, random_state=rng)
            for (early, late), n in zip(sums, rng.multinomial(400_000, weights), strict=True)
        ]
    )
    assert found.difference == pytest.approx(
        (drawn.mean(), *np.quantile(drawn, [0.025, 0.975])), abs=0.002
    )


@pytest.mark.slow
def test_periods_are_taken_in_the_order_of_time():
    good, bad = [18, 20, 9, 12], [2, 3, 8, 9]
    one = P.change_point(labelled(good, bad))
    order = [2, 0, 3, 1]
    turned = P.Counts(
        *([0] * 4,) * 2, [good[i] for i in order], [good[i] // 2 for i in order],
        [bad[i] for i in order], [bad[i] // 2 for i in order], calibration="random",
        systems=[f"w{i + 1}" for i in order],
    )  # fmt: skip
    assert P.change_point(turned) == one
    assert one.dates()[0][:2] == ("w2", "w3")


def test_what_it_says():
    told = str(P.change_point(labelled([190, 195, 100, 98], [10, 5, 100, 102])))
    assert told.startswith("If the share changed once, it fell by 47 points (4")
    assert (
        "between w2 and w3 (probability >.999). One change at some time explains these data "
        in (told)
    )
    assert "more than 1,000 times as well as none, which is strong evidence of a change." in told
    told = str(P.change_point(labelled([90, 90, 90], [10, 10, 10])))
    assert "changed by " in told
    assert "later less earlier, between " in told
    assert "that the share changed at all is not shown" in told
    rising = ChangePoint(("a", "b"), (1.0,), 0.0001, Row(0.2, 0.1, 0.3))
    assert "rose by 20 points (10 to 30" in str(rising)
    assert "No change explains these data more than 1,000 times as well as one" in str(rising)


def test_what_has_no_date_is_refused():
    with refused("w1", subject="change_point"):
        P.change_point(labelled([5, 5], [5, 5]))
    with refused(id="change-not-random"):
        P.change_point(labelled([5, 5, 6], [5, 5, 6], "by_verdict"))
    with refused(id="shared-rates"):
        P.change_point(labelled([5, 5, 6], [5, 5, 6]), P.ErrorRates(pooling="full"))


@pytest.mark.slow
@pytest.mark.parametrize("runs", study_but([60, 150], 60))
def test_over_the_prior_dates_are_as_probable_as_they_say(runs):
    """The date, the difference and the evidence of worlds that the prior draws."""
    rng, periods = np.random.default_rng(5), 4
    said, right, held, factors = [], [], [], []
    for run in range(runs):
        k = int(rng.integers(1, periods))
        shares = rng.random(2)
        share = np.where(np.arange(periods) < k, *shares) if run % 2 else np.repeat(shares[0], 4)
        rates = 0.5 + rng.random((2, periods)) / 2
        good = rng.binomial(25, share)
        test_good = rng.binomial(60, share)
        counts = P.Counts(
            [60] * periods,
            rng.binomial(test_good, rates[0]) + rng.binomial(60 - test_good, 1 - rates[1]),
            good,
            rng.binomial(good, rates[0]),
            25 - good,
            rng.binomial(25 - good, rates[1]),
            calibration="random",
            systems=["w1", "w2", "w3", "w4"],
        )
        found = P.change_point(counts)
        if run % 2 == 0:
            factors.append(found.bayes_factor)
            continue
        said.append(max(found.probabilities))
        right.append(int(np.argmax(found.probabilities)) + 1 == k)
        held.append(found.difference.low <= shares[1] - shares[0] <= found.difference.high)
    said = np.array(said)
    error = np.sqrt((said * (1 - said)).sum()) / said.size
    assert abs(np.mean(right) - said.mean()) < 3.5 * error
    assert np.mean(held) > 0.95 - 3.5 * np.sqrt(0.95 * 0.05 / len(held))
    # without a change a factor of 4 comes in a quarter of the tables at most (Markov)
    assert np.mean(np.array(factors) >= 4) < 0.25 + 3.5 * np.sqrt(0.25 * 0.75 / len(factors))
