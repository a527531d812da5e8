"""Thresholds that keep a promise, the best cut and the calibration map."""

import numpy as np
import pytest
from refusals import refused

from bayesjudge import Verdicts, judge
from bayesjudge.core.errors import InputError
from bayesjudge.core.label_design import DESIGNS
from bayesjudge.judge.trust import Labelled, Posterior, _best_cut, threshold
from bayesjudge.prevalence.scores import Scores

P = np.linspace(0.005, 0.995, 200)
RANDOM = DESIGNS["random"]


def scores(seed, labels, right, items=2000):
    """Probabilities of a judge and labels of a random sample, with this chance of a pass."""
    rng = np.random.default_rng(seed)
    p = np.round(rng.beta(4, 1, items), 3)
    truth = np.where(rng.random(items) < right(p), 1.0, 0.0)
    truth[labels:] = np.nan
    return Scores(p, truth, np.ones(items, int), "random", (0, 1)), p


@pytest.mark.slow
def test_a_promise_is_kept():
    """A calibrated and an overconfident judge, 300 labels: broken as seldom as promised."""
    broken, accepted = [], []
    for sure in (1.0, 0.5):

        def right(p, sure=sure):
            odds = (np.clip(p, 1e-4, 1 - 1e-4) / (1 - np.clip(p, 1e-4, 1 - 1e-4))) ** sure
            return odds / (1 + odds)

        for seed in range(40):
            table, p = scores(seed, 300, right)
            made = judge.Judged(scores={("j", ""): table}).pairs["j", ""]
            one = Labelled(made.said, made.truth, made.n, made.verdicts, made.all_n, True)
            cut = threshold(one, True, 0.05, 0.9)
            accepted.append((p >= cut).mean())
            broken.append(cut == cut and (1 - right(p[p >= cut])).mean() > 0.05)
    assert np.mean(broken) < 0.1 + 3 * np.sqrt(0.09 / 80)
    assert np.mean(accepted) > 0.05


@pytest.mark.slow
def test_thresholds_move_with_the_promise_and_mirror():
    table, _ = scores(1, 600, lambda p: p)
    strict, mild = (judge.trust(table, alpha=alpha) for alpha in (0.05, 0.15))
    assert strict["pass_from"].value > mild["pass_from"].value
    assert strict["traffic", "pass"].value < mild["traffic", "pass"].value
    assert np.isnan(strict["fail_to"].value)
    mirrored = Scores(1 - table.score, 1 - table.truth, table.n, "random", (0, 1))
    other = judge.trust(mirrored, alpha=0.15)
    assert other["fail_to"].value == pytest.approx(1 - mild["pass_from"].value, abs=0.01)
    assert other["wrong", "fail"].value == pytest.approx(mild["wrong", "pass"].value, abs=0.02)


@pytest.mark.slow
def test_calibrated_in_the_large_and_empty_in_the_small():
    """A score that knows the base rate and nothing else gains nothing."""
    table, _ = scores(2, 800, lambda p: 0.8)
    found = judge.trust(table)
    assert found["gain"].value < 0.02
    assert abs(found["gain_recalibrated"].value) < 0.02
    good, _ = scores(2, 800, lambda p: p)
    assert judge.trust(good)["gain"].low > 0
    alike, _ = scores(2, 100, lambda p: 1.0)
    assert np.isnan(judge.trust(alike)["gain"].value)


@pytest.mark.slow
def test_the_best_cut_is_the_one_of_most_agreement():
    table, _ = scores(3, 900, lambda p: np.where(p > 0.6, 0.95, 0.1))
    found = judge.trust(table)
    assert found["best_cut"].value == pytest.approx(0.6, abs=0.03)
    assert found["best_cut"].low <= 0.602
    assert found["best_cut"].high >= 0.6
    assert found["accuracy"].value == pytest.approx(0.94, abs=0.03)
    known = table.known
    passed, good = table.score[known] >= found["best_cut"].value, table.truth[known] == 1
    assert found["sensitivity"].value == pytest.approx(passed[good].mean())
    assert found["specificity"].value == pytest.approx((~passed)[~good].mean())


def test_what_cannot_be_promised_is_refused():
    table, _ = scores(4, 100, lambda p: p)
    with refused(alpha=0.6):
        judge.trust(table, alpha=0.6)
    with refused(promised=1):
        judge.trust(table, promised=1)
    known = Scores(table.score, table.truth, table.n, "by_truth", (0, 1))
    with refused(id="trust-not-random"):
        judge.trust(known)
    with pytest.raises(InputError, match="expected scores"):
        judge.trust(Verdicts([1, 0], [1, 0], [0, 0], [5, 5], "random"))


@pytest.mark.slow
def test_the_picture_reaches_as_far_as_log_odds():
    table, p = scores(1, 600, lambda p: p)
    odds = np.log(p.clip(1e-3, 1 - 1e-3) / (1 - p.clip(1e-3, 1 - 1e-3)))
    ax = judge.plot_trust(
        judge.trust(Scores(odds, table.truth, table.n, "random", "log_odds"), alpha=0.15)
    )
    assert ax.get_xlim()[1] > odds.max()
    (curve,) = [line for line in ax.lines if line.get_label() == "as the score says"]
    assert curve.get_ydata() == pytest.approx(1 / (1 + np.exp(-curve.get_xdata())))


@pytest.mark.slow
@pytest.mark.parametrize("ci_prob", [0.5, 0.9])
def test_the_interval_of_the_best_cut_is_that_of_the_cuts_of_its_draws(ci_prob):
    table, _ = scores(4, 60, lambda p: p, items=300)
    pairs = judge.Judged(scores={("j", ""): table}).pairs["j", ""]
    drawn = np.random.default_rng(1).dirichlet(pairs.n + 0.5, 100)
    cuts = sorted(set(pairs.said.tolist()))

    def best(shares):
        passes = [(pairs.said >= cut) == (pairs.truth == 1) for cut in cuts]
        return cuts[int(np.argmax([shares[right].sum() for right in passes]))]

    value, low, high = _best_cut(pairs, Posterior(drawn[:1], drawn, ci_prob), RANDOM)["best_cut"]
    ends = np.quantile([best(one) for one in drawn], [(1 - ci_prob) / 2, (1 + ci_prob) / 2])
    assert value == best(pairs.n)
    assert (low, high) == (min(ends[0], value), max(ends[1], value))
    assert low < high


@pytest.mark.slow
def test_of_many_scores_sixty_quantiles_are_tried_as_cuts():
    table, _ = scores(5, 400, lambda p: p)
    pairs = judge.Judged(scores={("j", ""): table}).pairs["j", ""]
    drawn = np.random.default_rng(1).dirichlet(pairs.n + 0.5, 20)
    value = _best_cut(pairs, Posterior(drawn[:1], drawn, 0.9), RANDOM)["best_cut"][0]
    tried = np.quantile(pairs.said, np.arange(60) / 59, method="inverted_cdf")
    right = [pairs.n @ ((pairs.said >= cut) == (pairs.truth == 1)) for cut in tried]
    assert len(set(pairs.said.tolist())) > 60
    assert value == tried[int(np.argmax(right))]
