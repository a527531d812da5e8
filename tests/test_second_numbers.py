"""What stands beside an estimate (ends, variances, weights, plans), each against a loop."""

import itertools
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from numpy.testing import assert_allclose
from refusals import refused
from scipy import stats
from scipy.special import betaln, comb

import bayesjudge as bj
from bayesjudge.bias.certificates import bounds
from bayesjudge.cli.shapes.of_leaderboard import matches
from bayesjudge.cli.shapes.table import Column, Table
from bayesjudge.core.counting import draw_patterns
from bayesjudge.core.distributions import log_dirichlet
from bayesjudge.core.draws import tabulate_contrasts, tabulate_ranks
from bayesjudge.core.intervals import hypergeometric_tails
from bayesjudge.decide import needs
from bayesjudge.decide.gate import _next_to_an_end
from bayesjudge.judge import selection
from bayesjudge.judge.trust import THRESHOLDS, Labelled, _Traffic, threshold
from bayesjudge.lab.coverage import merged
from bayesjudge.leaderboard.likelihood import climb, inverse_of
from bayesjudge.leaderboard.model import derived
from bayesjudge.leaderboard.pairings import next_pairings
from bayesjudge.panel import checks
from bayesjudge.prevalence import budget
from bayesjudge.ratings._gibbs import profile_of
from bayesjudge.ratings.annotators import _Duels
from bayesjudge.readers.formats.phoenix import _wide
from bayesjudge.readers.log import Grade, _value
from bayesjudge.repeats import confidence_sequence, mean_interval
from bayesjudge.repeats.runner._fingerprint import Entry
from bayesjudge.repeats.runner.store import Store
from bayesjudge.rubric import data as rubric_data
from bayesjudge.truth import within_classes
from bayesjudge.truth.by_item import Clusters, best_weight, independent_weight
from bayesjudge.truth.patterns import Patterns
from bayesjudge.truth.quadrature import Piece, mixed_curvature, shares_at
from bayesjudge.truth.within_classes import mean_of
from bayesjudge.verdicts.selection import _between_labels

P = bj.prevalence

# Of draws ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ci_prob", [0.5, 0.9])
def test_ends_of_a_table_of_ranks_are_quantiles(ci_prob):
    draws = np.random.default_rng(1).normal([0.2, 0.9, 0.5], [1, 2, 0.5], (501, 3))
    table = tabulate_ranks(draws, ["a", "b", "c"], ci_prob)
    assert list(table.index) == ["b", "c", "a"]
    for name, one in zip("abc", draws.T, strict=True):
        ends = [stats.scoreatpercentile(one, 50 * (1 + s * ci_prob)) for s in (-1, 1)]
        assert_allclose(table.loc[name, ["low", "high"]].astype(float), ends)
        assert table.loc[name, "value"] == pytest.approx(one.mean())


def test_ends_and_chances_of_differences_are_those_of_each_pair():
    draws = np.random.default_rng(2).normal([0.2, 0.9, 0.5], 1, (400, 3))
    plain = tabulate_contrasts(draws, ["a", "b", "c"], 0.8, simultaneous=False)
    band = tabulate_contrasts(draws, ["a", "b", "c"], 0.8, simultaneous=True)
    pairs = list(itertools.combinations(range(3), 2))
    gaps = {("abc"[i], "abc"[j]): draws[:, i] - draws[:, j] for i, j in pairs}
    held = np.ones(len(draws), bool)
    for row, wide in zip(plain.itertuples(), band.itertuples(), strict=True):
        gap = gaps[row.first, row.second]
        assert_allclose((row.low, row.high), np.quantile(gap, [0.1, 0.9]))
        assert row.probability == np.mean(gap > 0)
        assert wide.low < row.low < row.high < wide.high
        assert_allclose(wide.high - gap.mean(), gap.mean() - wide.low)
        held &= (wide.low <= gap) & (gap <= wide.high)
    assert held.mean() == pytest.approx(0.8, abs=0.005)


# Of repeated scores ------------------------------------------------------------------------------


@pytest.mark.parametrize("half_width", [None, 1.2])
def test_the_interval_of_a_sequence_ends_where_the_sequence_does(half_width):
    scores, scale = [4, 5, 4, 4, 5, 3, 4, 5], [1, 2, 3, 4, 5]
    low, high = confidence_sequence(np.array(scores, float), scale, ci_prob=0.9)
    found = mean_interval(scores, scale, ci_prob=0.9, method="sequence", half_width=half_width)
    assert found.value == np.mean(scores)
    if half_width is None:
        assert (found.low, found.high) == (low[-1], high[-1])
    else:
        half = max((high[-1] - low[-1]) / 2, half_width)
        centre = np.clip((low[-1] + high[-1]) / 2, 1 + half, 5 - half)
        assert_allclose((found.low, found.high), (centre - half, centre + half))


# Of rows that share items ------------------------------------------------------------------------


def rows_by_item(seed):
    """Items with one to four rows: verdict and truth, nan where a row has no label."""
    rng = np.random.default_rng(seed)
    found = []
    for item in range(40):
        for _ in range(rng.integers(1, 5)):
            truth = rng.random() < 0.6
            verdict = rng.random() < (0.85 if truth else 0.3)
            found.append((item, verdict, truth if item < 15 else np.nan))
    return pd.DataFrame(found, columns=["item", "verdict", "truth"], dtype=float)


def clusters_of(table):
    """Each item a pattern of its own."""
    cells = np.zeros((table["item"].nunique(), 3, 2))
    for item, verdict, truth in table.itertuples(index=False):
        cells[int(item), 2 if np.isnan(truth) else int(truth), int(verdict)] += 1
    return Clusters.of(cells, np.ones(len(cells)))


def contributions(table, weight):
    """Linearised contribution of each item to the difference estimator, by a loop over rows."""
    labelled = table["truth"].notna()
    n, m = (~labelled).sum(), labelled.sum()
    good, passed = table["truth"].mean(), table.loc[labelled, "verdict"].mean()
    others = table.loc[~labelled, "verdict"].mean()
    found = np.zeros(table["item"].nunique())
    for item, verdict, truth in table.itertuples(index=False):
        if np.isnan(truth):
            found[int(item)] += weight * (verdict - others) / n
        else:
            found[int(item)] += (truth - good - weight * (verdict - passed)) / m
    return found


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_best_weight_has_the_least_variance_by_item(seed):
    table = rows_by_item(seed)
    at_0, at_half, at_1 = ((contributions(table, w) ** 2).sum() for w in (0.0, 0.5, 1.0))
    bend = 2 * (at_0 - 2 * at_half + at_1)  # of the parabola through the three
    lowest = (bend - at_1 + at_0) / (2 * bend)
    assert best_weight(clusters_of(table)) == pytest.approx(np.clip(lowest, 0, 1))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_weight_of_independent_rows_is_a_regression_times_the_share_of_others(seed):
    table = rows_by_item(seed)
    known, others = table.dropna(), table.loc[table["truth"].isna(), "verdict"]
    covariance = np.cov(known["truth"], known["verdict"], ddof=0)[0, 1]
    expected = covariance / (others.var(ddof=0) * (1 + len(known) / len(others)))
    assert independent_weight(clusters_of(table)) == pytest.approx(np.clip(expected, 0, 1))


# Of annotators -----------------------------------------------------------------------------------


def duels(outcomes):
    """By annotator: outcomes by item, nan where one was not asked."""
    asked = [np.flatnonzero(~np.isnan(row)) for row in outcomes]
    n = np.array([len(one) for one in asked])
    outcome = np.concatenate([row[one] for row, one in zip(outcomes, asked, strict=True)])
    starts = np.concatenate([[0], np.cumsum(n)[:-1]])
    names = [f"a{i}" for i in range(len(n))]
    return _Duels(names, np.concatenate(asked), outcome.astype(int), starts, n, 0)


def test_the_advantage_and_p_values_are_those_of_a_loop_over_annotators_and_items():
    rng = np.random.default_rng(5)
    outcomes = rng.choice([1.0, -1.0, 0.0, np.nan], (4, 30), p=[0.25, 0.35, 0.25, 0.15])
    made = duels(outcomes)
    shares, p_values, by_item = [], [], np.zeros(30)
    for row in outcomes:
        known = row[~np.isnan(row)]
        shares.append(np.mean(known <= 0))
        p_values.append(stats.ttest_1samp(known - 0.1, 0, alternative="less").pvalue)
        for item, one in enumerate(row):
            if not np.isnan(one):
                by_item[item] += ((one <= 0) - shares[-1]) / len(known) / len(outcomes)
    assert_allclose(made.shares(), shares)
    assert_allclose(made.p_values(0.1), p_values)
    mean, items = np.mean(shares), (~np.isnan(outcomes)).any(axis=0).sum()
    n = mean * (1 - mean) / ((by_item**2).sum() * items / (items - 1))
    t2 = stats.t(items - 1).ppf(0.95) ** 2
    roots = np.roots([1 + t2 / n, -(2 * mean + t2 / n), mean**2])  # Wilson's: |p - mean| = t sd(p)
    assert_allclose(made.advantage(0.9), (mean, roots.min(), roots.max()))


def test_a_judge_that_is_never_worse_has_wilsons_interval_of_its_items():
    value, low, high = duels(np.full((2, 8), -1.0)).advantage(0.9)
    t2 = stats.t(7).ppf(0.95) ** 2
    assert (value, high) == (1.0, 1.0)
    assert low == pytest.approx(8 / (8 + t2))


# Of plans ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_widths_of_a_plan_are_those_of_tables_with_the_expected_counts():
    m, n, good, hit, caught = 200, 1000, 0.6, 0.9, 0.8
    about = {"prevalence": good, "sensitivity": hit, "specificity": caught, "items": n}
    table = budget.plan([m], **about, repeats=4, random_seed=1).set_index("strategy")
    _, low, high = P.wilson(m * good, m, 0.95)
    assert table.loc["people only", "width"] == pytest.approx(high - low)
    rate = good * hit + (1 - good) * (1 - caught)
    passed = round(n * rate)
    counts = P.Counts(n, passed, 120, 108, 80, 64, calibration="random")
    made = P.difference(counts)["prevalence"]
    assert table.loc["random sample", "width"] == pytest.approx(made.high - made.low, rel=0.02)
    ppv, npv = good * hit / rate, (1 - good) * caught / (1 - rate)
    right, refused = round(100 * ppv), round(100 * npv)
    cells = (100 + 0 - refused + right, right, refused + 100 - right, refused)
    counts = P.Counts(n, passed, *cells, calibration="by_verdict")
    made = P.post_stratified(counts)["prevalence"]
    assert table.loc["by verdict", "width"] == pytest.approx(made.high - made.low, rel=0.02)
    seen = np.arange(100, 141)  # of 200 labels, all but one draw in 300 of them
    widths = np.subtract(*stats.beta.interval(0.95, 1 + seen, 201 - seen)[::-1])
    assert widths.min() < table.loc["people only", "expected_width"] < widths.max()


@pytest.mark.parametrize("labels", [False, True])
def test_a_change_is_seen_with_the_power_of_which_it_is_the_smallest(labels):
    """And no change as often as the level allows one test of as many as there are."""
    rng = np.random.default_rng(9)
    rows = pd.DataFrame({"item": range(80), "truth": rng.integers(0, 2, 80)})
    old, new = (rows.assign(verdict=rng.random(80) < 0.2 + 0.6 * rows["truth"]) for _ in range(2))
    made = bj.decide.drift(old, new, truth="truth" if labels else None, ci_prob=0.9)
    for power in (0.6, 0.8, 0.95):
        change = made.detectable(power)
        assert made.power(change) == made.power(-change) == pytest.approx(power, abs=1e-3)
    assert made.power(0) == pytest.approx(0.1 / (3 if labels else 1))


# Of votes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("items", "right", "drawn"), [(12, 7, 5), (9, 8, 6), (30, 3, 20)])
def test_tails_of_right_votes_are_those_of_draws_without_replacement(items, right, drawn):
    law = stats.hypergeom(items, right, drawn)
    for k in range(max(0, drawn + right - items), min(drawn, right) + 1):
        found = hypergeometric_tails(k, items, right, drawn)
        assert_allclose(found, (law.cdf(k), law.sf(k - 1)))


def test_shares_of_votes_and_their_errors_count_a_vote_of_each_more():
    counts = np.array([[[0, 7], [3, 5]], [[20, 0], [0, 0]]])
    shares, errors = checks._shares_and_errors(counts)
    for at in itertools.product(range(2), repeat=2):
        votes = [0] * (counts[at][0] + 1) + [1] * (counts[at][1] + 1)
        assert shares[at] == pytest.approx(np.mean(votes))
        assert errors[at] == pytest.approx(np.std(votes) / np.sqrt(len(votes)))


# Refusals of single entries ----------------------------------------------------------------------


def test_one_infinite_shift_is_refused():
    shifts = bj.bias.Shifts.from_frame(
        bj.bias.simulate(random_seed=1), scale=(0, 100), design="item"
    )
    bad = shifts.shift.copy()
    bad[0, 0] = np.inf
    with refused(id="shifts-not-finite"):
        replace(shifts, shift=bad)


@pytest.mark.parametrize("value", [0, -1.0, np.inf, np.nan, "a"])
def test_a_prior_of_shifts_is_positive_and_finite(value):
    with refused(noise=value):
        bj.bias.NormalShifts(noise=value)


# What drawn mutants of seed 5127 left standing ---------------------------------------------------


def test_the_inverse_on_strengths_that_add_to_nothing_is_the_pseudo_inverse():
    rng = np.random.default_rng(1)
    pairs = rng.random((5, 5)) + rng.random((5, 5)).T
    laplacian = np.diag((pairs + pairs.T).sum(axis=0)) - (pairs + pairs.T)
    assert_allclose(inverse_of(laplacian, 5), np.linalg.pinv(laplacian), atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("value", "threshold"), [(0.8, 0.74), (0.6, 0.75)])
def test_planned_labels_are_the_fewest_that_decide_as_often_as_promised(value, threshold):
    """By the chance itself at that number of labels and fewer, of a judge of two error rates."""
    counts = P.Counts(3000, 2200, 60, 57, 60, 42, calibration="by_truth")
    wanted = needs._labels(counts, value, threshold, 0.95)
    rates, share, at_least = (57.5 / 61, 42.5 / 61), value, threshold
    if value < threshold:
        rates, share, at_least = rates[::-1], 1 - value, 1 - threshold

    def chance(m):
        how = {"strategy": "half good, half bad", "items": 3000, "probability": 0.95}
        how |= {"prevalence": share, "sensitivity": rates[0], "specificity": rates[1]}
        return needs.chance_to_pass(at_least, m, **how)

    assert 120 < wanted < 1000
    assert chance(int(wanted)) >= needs.PLANNED > chance(int(wanted / (1 + 2 * needs.PRECISION)))


@pytest.mark.parametrize("measure", ["accuracy", "kappa"])
def test_draws_near_their_mean_stay_what_they_are_and_none_leaves_the_scale(measure):
    scored = SimpleNamespace(labels=400)
    least = 0.0 if measure == "accuracy" else -1.0
    drawn = 0.6 + np.random.default_rng(2).normal(0, 0.01, (500, 3)) * [1, 0.1, 0.5]
    moved = selection._within(drawn, scored, measure)
    assert_allclose(moved, drawn, atol=0.003)
    assert_allclose(moved.std(axis=0), drawn.std(axis=0), rtol=0.02)
    wide = selection._within(1 + (drawn - 0.6) * 30, scored, measure)
    assert least <= wide.min() < wide.max() <= 1


@pytest.mark.parametrize("wrong", [0, 1, 1.5, -0.1])
@pytest.mark.parametrize("place", [0, 1])
def test_a_failure_probability_lies_strictly_between_0_and_1(place, wrong):
    given = [0.05, 0.05]
    bounds._require_probs(*given)
    given[place] = wrong
    with refused(**{("shift_prob", "estimation_prob")[place]: wrong}):
        bounds._require_probs(*given)


def test_a_table_of_rows_in_which_a_column_is_filled():
    table = Table({"v": ["a", "", "b", ""], "x": ["1", "2", "3", "4"]})
    assert table.having("v").columns == {"v": ["a", "b"], "x": ["1", "3"]}
    assert table.having("x").columns == dict(table.columns)


@pytest.mark.parametrize(
    ("own", "other", "inside"),
    [("0:10", "1:10", False), ("1:10", "0:10", True), ("1:5", "1:10", False), ("1:5", "1:5", True)],
)
def test_numbers_are_on_the_scale_of_others_if_they_fit_and_use_half_of_it(own, other, inside):
    first, second = (
        Column("x", [str(x) for x in range(low, high + 1)])
        for low, high in (map(int, scale.split(":")) for scale in (own, other))
    )
    assert (first.scale, second.scale) == (own, other)
    assert first.within(second) is inside


@pytest.mark.parametrize("of", ["all", "some"])
def test_priors_by_system_name_each_system_and_no_other(of):
    counts = bj.prevalence.Counts(
        *([x, x] for x in (500, 380, 70, 63, 30, 21)), calibration="random", systems=("a", "b")
    )
    prior = bj.BetaPrior(1, 1)
    mine = {"a": prior} if of == "some" else {"a": prior, "b": prior, "c": prior}
    wrong = r"has no prior for \['b'\]" if of == "some" else r"has priors for \['c'\]"
    with pytest.raises(bj.InputError, match=wrong):
        bj.prevalence.exact(counts, bj.prevalence.ErrorRates(prevalence=mine))


# Asked for by mutants that nobody noticed --------------------------------------------------------


@pytest.mark.parametrize("judges", [1, 2])
def test_what_a_judge_favours_is_its_own_strength_less_peoples(judges):
    rng = np.random.default_rng(3)
    strength, judge = rng.normal(size=(2, 50, 3)), rng.normal(size=(2, 50, judges, 3))
    names = {"system": ["a", "b", "c"], "judge": ["x", "y"][:judges]}
    draws = xr.Dataset(
        {
            "strength": (("chain", "draw", "system"), strength),
            "judge_strength": (("chain", "draw", "judge", "system"), judge),
            "sharpness": (("chain", "draw"), rng.normal(1, 0.2, (2, 50))),
        },
        names,
    )
    battles = SimpleNamespace(judges=tuple(names["judge"]))
    found = derived(draws, battles)
    order = np.argsort(strength.mean((0, 1)))
    for c, d in itertools.product(range(2), range(50)):
        here = strength[c, d]
        slopes = [one @ here / (one @ one) for one in judge[c, d]]
        if judges == 1:
            slopes = [float(draws["sharpness"][c, d])]
        for j in range(judges):
            favour = found["judge_favour"].to_numpy()[c, d, j]
            assert_allclose(favour, slopes[j] * judge[c, d, j] - here)
        rival = [order[-2] if i == order[-1] else order[-1] for i in range(3)]
        assert_allclose(found["lead"].to_numpy()[c, d], here - here[rival])


def test_patterns_are_drawn_by_their_chance_and_the_last_is_the_rest():
    chance = np.array([0.2, 0.3, 0.1, 1.0, 1.0])  # two patterns of group 0, one of 1, and the rests
    group, chosen = np.array([0, 0, 1, 0, 1]), np.array([1.0, 0.5, 1.0, 1.0, 1.0])
    count = np.array([10_000, 20_000, 40_000, 0, 0])
    drawn = draw_patterns(np.log(chance), group, chosen, count, np.random.default_rng(1))
    expected = np.array([0.2, 0.15, 0.1, 0.65, 0.9])
    n = np.array([30_000, 30_000, 40_000, 30_000, 40_000])
    assert [drawn[group == g].sum() for g in (0, 1)] == [30_000, 40_000]
    assert (np.abs(drawn - n * expected) < 5 * np.sqrt(n * expected * (1 - expected))).all()


@pytest.mark.parametrize("errs", [False, True])
def test_an_expected_profile_is_a_sum_over_sets_and_what_is_rated(errs):
    rng = np.random.default_rng(5)
    data = SimpleNamespace(members=np.array([[1, 0, 1], [0, 1, 1]]))
    shares = rng.dirichlet(np.ones(3), (2, 4))  # draws, items, response sets
    error = rng.dirichlet(np.ones(3), (2, 2, 3)).swapaxes(-1, -2) if errs else None
    choice = rng.dirichlet(np.ones(2), (2, 2, 3)).swapaxes(-1, -2)
    for s in range(2):
        made = profile_of(data, s, shares, choice, error)
        for d, i, v in itertools.product(range(2), range(4), range(2)):
            seen = [
                sum(error[d, s, t, u] * shares[d, i, u] for u in range(3)) if errs else one
                for t, one in enumerate(shares[d, i])
            ]
            expected = sum(choice[d, s, v, t] * seen[t] for t in range(3))
            assert made[0][d, i, v] == pytest.approx(expected)
            held = sum(shares[d, i, t] * data.members[v, t] for t in range(3))
            assert made[1][d, i, v] == pytest.approx(held)


def test_a_win_is_worth_one_and_a_tie_half():
    scores = [_value(Grade("i", "m", word))[1] for word in ("win", "tie", "loss", "other")]
    assert scores == [1.0, 0.5, 0.0, None]
    given = [(False, "0", 0.0), (True, "1", 1.0), (0, "0", 0.0), (1, "1", 1.0), (3.5, None, 3.5)]
    for value, verdict, score in given:
        assert _value(Grade("i", "m", value)) == (verdict, score)


def test_labelled_items_are_a_set_of_their_own_unless_verdicts_chose_them():
    rows = pd.DataFrame({"verdict": [1, 0] * 20, "truth": [1, 0] * 5 + [None] * 30})
    for design, groups in (("random", 2), ("by_verdict", 1)):
        patterns = Patterns.of(bj.Verdicts.from_frame(rows, calibration=design))
        assert patterns.group.max() + 1 == groups
        assert patterns.count.sum() == 40


@pytest.mark.slow
def test_groups_stay_in_order_if_they_were():
    def of(names):
        rows = {"verdict": [1, 0] * len(names), "truth": [1, None] * len(names)}
        table = pd.DataFrame(rows | {"by": np.repeat(names, 2)})
        made = bj.Verdicts.from_frame(table, calibration="random", by="by")
        return replace(made, groups=tuple(names))

    joined = [of(["a", "c"]).joined(of(["b"]), "x", True, sort=sort) for sort in (True, False)]
    assert [one.groups for one in joined] == [("a", "b", "c"), ("a", "c", "b")]
    assert of(["c", "a"]).joined(of(["b"]), "x", True).groups == ("c", "a", "b")


def test_more_judges_than_are_shown_are_counted():
    counts = np.arange(1, 10)[:, None, None] * np.eye(3, dtype=int)
    for n, more in ((8, []), (9, ["  and 1 more judges"])):
        orders = bj.bias.Orders(counts[:n], [f"j{i}" for i in range(n)], [0] * n)
        lines = repr(orders).splitlines()
        assert len(lines) == 9 + len(more)
        assert lines[9:] == more


def test_more_labels_than_there_can_be_are_none_that_would_do():
    given = {"at_least": 0.5, "target": "population", "most_labels": 8, "random_seed": 1}
    monitor = bj.decide.Monitor([f"i{i}" for i in range(100)], **given)
    monitor.add(list(monitor.draw(4)["item"]), [1, 0, 1, 0])
    (need,) = monitor._needs(0.5)
    assert (need.now, need.wanted) == (4, np.inf)
    monitor = bj.decide.Monitor([f"i{i}" for i in range(100)], **given | {"most_labels": 50})
    monitor.add(list(monitor.draw(4)["item"]), [1, 0, 1, 0])
    assert 8 < monitor._needs(0.5)[0].wanted <= 50


def test_one_item_can_be_simulated():
    assert bj.ratings.simulate(items=1, random_seed=1)["item"].nunique() == 1
    with pytest.raises(bj.InputError):
        bj.ratings.simulate(items=0)


@pytest.mark.slow
@pytest.mark.parametrize("weights", [[1.0, 2.0], [0.5, 1.0, 3.0], [2.0, 0.3, 1.0, 1.0, 4.0]])
def test_shares_with_a_dirichlet_prior_sum_to_one_and_have_its_density(weights, uncompiled):
    """The density of the coordinates is that of the shares times the volume that they take."""
    import pymc as pm

    n = len(weights)
    with pm.Model() as model:
        logs = log_dirichlet("x", np.array([weights]))
    (t,) = model.free_RVs
    outputs = model.replace_rvs_by_values([logs, *model.potentials])
    compute = model.compile_fn(outputs, point_fn=False, inputs=[model.rvs_to_values[t]])
    heights, rng = [], np.random.default_rng(2)
    for point in rng.normal(0, 1, (6, *t.shape.eval())):
        made, density = compute(point)
        shares = np.exp(made[0])
        assert shares.sum() == pytest.approx(1)
        steps = 1e-6 * np.eye(point.size).reshape(-1, *point.shape)
        moved = [np.exp(compute(point + h)[0][0]) - np.exp(compute(point - h)[0][0]) for h in steps]
        volume = np.linalg.slogdet(np.array(moved)[:, : n - 1] / 2e-6)[1]
        heights.append(density - volume - stats.dirichlet(weights).logpdf(shares))
    assert_allclose(heights, heights[0], atol=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_two_shares_of_a_piece_bend_its_logarithm_together_as_differences_say(seed):
    """By both logits, of the two factors that have both shares."""
    rng = np.random.default_rng(seed)
    (theta, w, u), powers = rng.normal(0, 1.5, 3), rng.uniform(1, 9, 2)
    piece = Piece(*[0.0] * 10)._replace(cross=powers[0], far=powers[1])

    def log(w, u):
        t, a, b = (1 / (1 + np.exp(-x)) for x in (theta, w, u))
        crossed, far = 1 - a + (1 - t) * a * b, 1 - t + t * (1 - a + a * (1 - b))
        return powers @ np.log([crossed, far])

    h, signs = 1e-4, (-1, 1)
    wanted = sum(i * j * log(w + i * h, u + j * h) for i in signs for j in signs) / (4 * h * h)
    found = mixed_curvature(piece, *(shares_at(np.array(x)) for x in (theta, w, u)))
    assert float(found) == pytest.approx(wanted, rel=1e-4, abs=1e-6)


def test_a_prior_of_which_one_quantile_is_met_is_no_prior(monkeypatch):
    """The search ends at the flat prior, of which the first quantile is right."""
    monkeypatch.setattr("scipy.optimize.root", lambda *_, **__: SimpleNamespace(x=np.zeros(2)))
    with pytest.raises(bj.InputError):
        bj.BetaPrior.from_quantiles({0.2: 0.2, 0.9: 0.5})


def test_why_a_span_has_no_score_is_cut_after_300_signs():
    row = {"id": 1, "x_score": {}, "x_execution_details": {"exceptions": ["e" * 1000 + "\nmore"]}}
    (grade,) = _wide(row, ["x"], 0)
    assert grade.failure == 300 * "e"


# Fields beside an estimate, each by a loop over rows of unequal designs -----------------------


@pytest.mark.parametrize("seed", [1, 2])
def test_how_many_labels_people_share_is_counted_item_by_item(seed):
    """Three people, some of whom said nothing, and items that were adjudicated."""
    rng = np.random.default_rng(seed)
    said = rng.choice([0.0, 1.0, np.nan], (40, 3), p=[0.3, 0.3, 0.4])
    rows = pd.DataFrame(said, columns=["a", "b", "c"]).assign(verdict=rng.integers(0, 2, 40))
    counts = P.people.PeopleCounts.from_frame(rows, truth=["a", "b", "c"], calibration="random")
    each = [row[~np.isnan(row)] for row in said]
    pairs = [pair for row in each for pair in itertools.combinations(row, 2)]
    agree = sum(x == y for x, y in pairs)
    assert counts.labelled_n == sum(len(row) > 0 for row in each)
    assert counts.test_n == sum(len(row) == 0 for row in each)
    assert counts.shared_n == counts.checked_n == sum(len(row) > 1 for row in each)
    assert counts.pairs == (len(pairs), agree)
    assert counts.agreement == agree / len(pairs)


@pytest.mark.slow
@pytest.mark.parametrize("tied", [False, True])
def test_rows_of_a_system_are_worth_what_those_of_what_most_people_said_are(tied):
    """Two people, unequal repeats; half of them say that a row of a tie passes."""
    rng = np.random.default_rng(3)
    item = np.repeat(np.arange(60), rng.integers(1, 5, 60))
    good = rng.random(60)[item] < 0.6
    rows = pd.DataFrame({"item": item, "system": np.where(item % 3, "x", "y")})
    rows["verdict"] = np.where(rng.random(len(item)) < 0.8, good, ~good).astype(int)
    wrong = rng.random((2, len(item))) < (0.3 if tied else 0.0)
    rows["a"], rows["b"] = np.where(item < 30, good ^ wrong, np.nan)
    how = {"item": "item", "repeats": "system", "by": "system", "calibration": "random"}
    counts = P.people.PeopleCounts.from_frame(rows, truth=["a", "b"], **how)
    rows["most"] = rows[["a", "b"]].mean(axis=1).ge(0.5).where(rows["a"].notna()).astype(float)
    items = P.items.Items.from_frame(rows, truth="most", **how)
    for name, effect in zip(counts.systems, counts.design_effects, strict=True):
        worth = P.items.effective.counts_of(items, name, 0.95)
        n = (rows["system"] == name).sum()
        assert effect == pytest.approx(n / (np.sum(worth.test_n) + np.sum(worth.labelled_n)))


def test_the_error_of_a_change_is_that_of_means_of_items_of_unequal_numbers():
    """Two imaginary items beside them, on which the change is as large as can be, either way."""
    rng = np.random.default_rng(4)
    rows = pd.DataFrame({"item": np.repeat(np.arange(20), rng.integers(1, 4, 20))})
    rows["system"] = rows.groupby("item").cumcount().map("abc".__getitem__)
    old, new = (rows.assign(verdict=rng.integers(0, 2, len(rows))) for _ in range(2))
    made = bj.decide.drift(old, new, by="system", ci_prob=0.9)
    gaps = (new["verdict"] - old["verdict"]).groupby(rows["item"]).agg(list).tolist()
    each = len(rows) / 20
    sums, sizes = [*map(sum, gaps), each, -each], [*map(len, gaps), each, each]
    centre = sum(sums) / sum(sizes)
    off = [(total - centre * size) ** 2 for total, size in zip(sums, sizes, strict=True)]
    error = np.sqrt(sum(off) * 22 / 21) / sum(sizes)
    assert made.error == pytest.approx(error)
    row = made.estimate["pass_rate_change"]
    assert row.value == pytest.approx(np.mean(new["verdict"] - old["verdict"]))
    assert_allclose((row.low, row.high), centre + np.array([-1, 1]) * stats.t(21).ppf(0.95) * error)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["by_judge", "corrected", "from_truths", "paired"])
def test_the_error_of_chances_by_task_is_that_of_tables_without_one_task(form):
    """The jackknife: the same question asked again of all other tasks, unequally tried."""
    rows = bj.attempts.simulate(tasks=12, random_seed=5)
    rng = np.random.default_rng(5)
    rows = rows[rng.random(len(rows)) < 0.9]
    function = getattr(bj.attempts, form)

    def ask(table):
        data = bj.attempts.Attempts.from_frame(table, by="system", calibration="random", k=[1, 2])
        found = function(data, ci_prob=0.9)
        return {(q, *at.values()): row for q, at, row in found.rows()}

    whole, tasks = ask(rows), sorted(set(rows["task"]))
    without = [ask(rows[rows["task"] != task]) for task in tasks]
    for key, row in whole.items():
        each = np.array([other[key].value for other in without])
        error = np.sqrt((len(each) - 1) / len(each) * ((each - each.mean()) ** 2).sum())
        assert error > 0
        t = stats.t(len(each) - 1).ppf(0.95)
        if form == "paired":
            ends = np.clip([row.value - t * error, row.value + t * error], -1, 1)
        elif form == "from_truths":  # fewer tasks have as many truths
            continue
        else:  # Wilson's, of as many tasks as the error is worth
            worth = t**2 / (row.value * (1 - row.value) / error**2)
            ends = np.sort(np.roots([1 + worth, -(2 * row.value + worth), row.value**2]))
        assert_allclose((row.low, row.high), ends, rtol=1e-6)


# What drawn mutants of seed 20261128 left standing ------------------------------------------------


def test_the_first_battle_is_that_which_narrows_the_gaps_to_the_best_the_most(monkeypatch):
    """By the posterior's covariance itself, before and after one battle of each pair."""
    rng = np.random.default_rng(8)
    root = rng.normal(size=(4, 4)) * np.array([[0.1], [0.3], [1.0], [2.0]])
    strength = rng.normal(size=(4000, 4)) @ root.T + [0.9, 0.8, 0.3, 0.0]
    fit = SimpleNamespace(
        draws=lambda _: strength,
        idata={"posterior": {}},
        data=SimpleNamespace(systems=[*"abcd"], counted=lambda _: np.zeros((4, 4, 3))),
    )
    monkeypatch.setattr("bayesjudge.leaderboard.pairings.MOST", 1)
    plan = next_pairings(fit, probability=0.999)
    assert plan.pairs["battles"].sum() == 1
    mean, cov = strength.mean(axis=0), np.cov(strength.T)
    top = mean.argmax()
    others = [i for i in range(4) if i != top]
    weight = (strength[:, others] > strength[:, [top]]).mean(axis=0) + 1e-4
    gains = {}
    for i, j in itertools.combinations(range(4), 2):
        x = np.eye(4)[i] - np.eye(4)[j]
        win = 1 / (1 + np.exp(-(x @ mean)))
        after = np.linalg.inv(np.linalg.inv(cov) + win * (1 - win) * np.outer(x, x))
        contrasts = [np.eye(4)[top] - np.eye(4)[k] for k in others]
        gains["abcd"[i], "abcd"[j]] = sum(
            w * (1 - c @ after @ c / (c @ cov @ c)) for w, c in zip(weight, contrasts, strict=True)
        )
    best = max(gains, key=gains.__getitem__)
    battles = plan.pairs.set_index(["first", "second"])["battles"]
    assert {*battles.idxmax()} == {*best}


def test_a_step_that_is_twenty_times_too_long_is_halved_until_it_leads_upwards():
    found = climb(
        np.array([0.4, -0.7]),
        lambda x: -float(x @ x),
        lambda x: (-2 * x, 0.1 * np.eye(2)),
        close=1e-6,
    )
    assert_allclose(found, 0, atol=1e-3)


def test_thresholds_lie_where_each_part_of_the_traffic_ends():
    rng = np.random.default_rng(2)
    every = np.sort(rng.normal(size=400))[::-1]
    weight = rng.integers(1, 9, 400)
    traffic = _Traffic(every, weight)
    parts = weight.sum() * np.arange(1, THRESHOLDS + 1) / THRESHOLDS
    cuts = {every[np.flatnonzero(weight.cumsum() >= part - 1e-6)[0]] for part in parts}
    assert_allclose(traffic.cuts, sorted(cuts, reverse=True))
    assert_allclose(traffic.beyond, [weight[every >= cut].sum() for cut in traffic.cuts])


def test_numbers_of_few_labels_are_one_class_and_empty_cells_another():
    number = np.array([3.0, 1.0, 2.0, np.nan, 5.0, 4.0])
    classes = _between_labels(number, np.array([True, False, True, False, True, False]), 10)
    assert classes.tolist() == [0, 0, 0, 1, 0, 0]


def test_tallies_of_runs_add_up():
    one = {"calls": 3, "refused": 1, "cautions": {"a": 2}, "sums": {"x": np.arange(11.0)}}
    found = merged([one, one])
    assert (found["calls"], found["refused"], found["cautions"]) == (6, 2, {"a": 4})
    assert_allclose(found["sums"]["x"], 2 * np.arange(11.0))


def test_an_attempt_may_cost_nothing():
    cells = np.ones((3, 1, 3, 2), int)
    given = (cells, [*"abc"], ["agent"], "random")
    data = bj.attempts.Attempts(*given, cost=np.zeros((3, 1)))
    assert data.cost.sum() == 0
    with refused(subject="attempts.Attempts"):
        bj.attempts.Attempts(*given, cost=np.full((3, 1), -1e-9))


@pytest.mark.parametrize("names", [("model_a", "model_b"), ("model_b", "model_a")])
def test_a_winner_may_be_named_that_only_ever_has_one_place(names):
    rows = dict(zip(names, ([*"xxxxxx"], [*"yzyzyz"]), strict=True)) | {"better": [*"xxxxyz"]}
    (match,) = matches(Table({name: rows[name] for name in ("model_a", "model_b", "better")}))
    assert "better" in str(match)


def test_one_person_more_than_half_is_most_and_half_is_a_tie():
    from bayesjudge.prevalence.people.model import most_of

    rates = np.array([0.9, 0.6, 0.7])
    for n in (1, 2, 3):
        chance = 0.0
        for said in itertools.product((0, 1), repeat=n):
            p = np.prod([r if s else 1 - r for r, s in zip(rates[:n], said, strict=True)])
            chance += p * (1.0 if 2 * sum(said) > n else 0.5 if 2 * sum(said) == n else 0.0)
        assert most_of(rates[:n], n, np) == pytest.approx(chance)


# Second numbers that stood by themselves --------------------------------------------------------


@pytest.mark.fast_one_in(5)
@pytest.mark.parametrize("basis", ["tail", "rms", "predictive"])
@pytest.mark.parametrize(("groups", "mixture"), [(1, False), (3, False), (3, True)])
def test_neighbours_that_a_certificate_asks_for_are_the_fewest_that_tell_more(
    basis, groups, mixture
):
    """Of scores that never moved, more of the first perturbation than of others."""

    def card(first):
        sizes = [first] + [1 if mixture else first + 3] * (groups - 1)
        place = np.repeat(range(groups), sizes)
        each = np.arange(len(place))
        names = [*map(str, each)], ["judge"], [*"abc"[:groups]]
        shifts = bj.bias.Shifts(
            np.zeros((len(each), 1)), each, 0 * each, place, each, *names, (1, 5), "item"
        )
        about = {"tolerance": 0.5, "failure_prob": 0.2, "noise_prob": 0.05, "units": "points"}
        made = bj.bias.certificates.certify(shifts, **about, basis=basis, mixture=mixture)
        assert made.neighbours == (sum(sizes) if mixture else first)
        return made

    first = next(n for n in range(1, 99) if not card(n).range_only)
    few, enough = card(first - 1), card(first)
    assert few.needed == enough.needed
    assert few.neighbours < few.needed <= enough.neighbours
    if not mixture:
        assert few.needed == first


@pytest.mark.slow
@pytest.mark.parametrize("own", [False, True])
def test_labelled_cells_beyond_those_expected_are_summed_row_by_row(own, monkeypatch):
    """Systems of unequal size, criteria that do not apply, and criteria of one item each."""
    rng = np.random.default_rng(9)
    rows = []
    for item in range(40):
        for c in range(rng.integers(1, 5)):
            name = f"c{item}-{c}" if own else f"c{c}"
            said = rng.choice([1, 0, "n/a"], p=[0.5, 0.3, 0.2])
            label = said if said == "n/a" else rng.choice([1, 0, None], p=[0.3, 0.2, 0.5])
            rows.append((f"i{item}", "xyy"[item % 3], name, said, label))
    table = pd.DataFrame(rows, columns=["item", "system", "criterion", "verdict", "truth"])
    seen = []
    real = rubric_data.how_labels_came
    monkeypatch.setattr(
        rubric_data, "how_labels_came", lambda *given: seen.append(given[3]) or real(*given)
    )
    bj.rubric.Rubric.from_frame(table, item="item", by="system", calibration="random")
    (asked,) = seen
    applies = table["verdict"] != "n/a"
    labelled = applies & table["truth"].notna()
    assert asked.labelled.tolist() == labelled.tolist()
    assert asked.askable.tolist() == applies.tolist()
    for i, row in table.iterrows():
        same = applies & (table["system"] == row["system"])
        if not own:
            same &= table["criterion"] == row["criterion"]
        share = labelled[same].mean()
        assert asked.excess[i] == pytest.approx(labelled[i] - share if applies[i] else 0.0)


def test_what_an_arm_spent_is_what_its_attempts_cost(tmp_path):
    """Two arms, unequal attempts, some begun by a run that was killed."""
    rng = np.random.default_rng(2)
    asked = {"run": Entry("run", "digest", "run")}
    expected = {}
    for arm, attempts in (("a", 7), ("b", 4)):
        with Store(tmp_path / "kept.sqlite", asked, arm) as store:
            assert store.spent() == (0, 0.0)
            costs = rng.uniform(0, 1, attempts).tolist()
            for i, cost in enumerate(costs):
                begun = store.begin(f"item{i // 2}", i % 2, "gpt")
                if i % 3:  # others were never heard of again
                    store.end(begun, 0.1, cost, "failed", None)
            expected[arm] = attempts, sum(cost for i, cost in enumerate(costs) if i % 3)
    for arm, (calls, cost) in expected.items():
        with Store(tmp_path / "kept.sqlite", asked, arm) as store:
            assert store.spent() == (calls, pytest.approx(cost))


def exact_chance(counts, a, b, threshold):
    """That the share is as high: a sum over how many unlabelled passes and fails are good."""
    passes, fails = int(counts.test_pass), int(counts.test_n - counts.test_pass)
    good, bad = int(counts.correct_n), int(counts.incorrect_n)
    hit, caught = int(counts.correct_pass), int(counts.incorrect_fail)
    logs, tails = [], []
    for p, f in itertools.product(range(passes + 1), range(fails + 1)):
        more, less = p + f, passes + fails - p - f
        logs.append(
            np.log(comb(passes, p)) + np.log(comb(fails, f))
            + betaln(a + good + more, b + bad + less)
            + betaln(1 + hit + p, 1 + good - hit + f)
            + betaln(1 + caught + fails - f, 1 + bad - caught + passes - p)
        )  # fmt: skip
        tails.append(stats.beta(a + good + more, b + bad + less).sf(threshold))
    weight = np.exp(np.array(logs) - max(logs))
    return float(weight @ tails / weight.sum())


@pytest.mark.slow
@pytest.mark.parametrize("at_least", [True, False])
def test_the_chances_of_a_gate_are_those_of_all_truths_of_unlabelled_outputs(at_least, monkeypatch):
    """Two systems of unequal size, with one good item less and with one more."""
    monkeypatch.setattr(sys.modules["bayesjudge.decide.gate"], "labels_wanted", lambda *_: [])
    counts = P.Counts(
        [18, 7], [13, 5], [20, 30], [18, 27], [12, 15], [11, 14], "random", systems=["a", "b"]
    )
    asked = {"at_least" if at_least else "at_most": 0.65}
    for check in bj.decide.gate(counts, **asked).checks:
        of_system = counts.system(check.where["system"])
        met = [exact_chance(of_system, *prior, 0.65) for prior in ((0.05, 1), (1, 0.05))]
        expected = met if at_least else [1 - met[1], 1 - met[0]]
        assert_allclose(check.chance_limits, expected, atol=2e-4)


@pytest.mark.parametrize("of_whole", [[1.0], [0.7, 0.3]])
def test_the_chances_by_draws_are_those_of_draws_of_other_priors(of_whole):
    """Few labels, of which priors say much: those of strata at an end add up to that of one."""
    size, middles = len(of_whole), (np.arange(300) + 0.5) / 300
    good, bad, of_whole = [3, 1][:size], [1, 2][:size], np.array(of_whole)

    def drawn(a, b):
        each = [stats.beta(k + a, m + b).ppf(middles) for k, m in zip(good, bad, strict=True)]
        return np.stack(np.meshgrid(*each), axis=-1).reshape(-1, size)

    parts, ends = drawn(0.5, 0.5), 0.05 / size
    weight = np.full(len(parts), 1 / len(parts))
    low, high, chance, chances = _next_to_an_end(parts, of_whole, weight, 0.9)
    for at, (a, b), end, q in ((0, (ends, 0.5), low, 0.1), (1, (0.5, ends), high, 0.9)):
        other = drawn(a, b) @ of_whole
        assert end == pytest.approx(np.quantile(other, q), abs=0.003)
        assert chances(0.6)[at] == pytest.approx((other >= 0.6).mean(), abs=0.003)
    assert chance(0.6) == pytest.approx((parts @ of_whole >= 0.6).mean())


@pytest.mark.fast_one_in(3)
@pytest.mark.parametrize("strategy", ["random", "by_verdict", "uncertain"])
@pytest.mark.parametrize("scored", [False, True])
def test_the_largest_weights_of_a_pool_are_those_of_its_items(strategy, scored):
    """One by one, of items that are left, failed and passed."""
    rng = np.random.default_rng(6)
    verdicts = rng.choice([0, 1 / 3, 1] if scored else [0, 1], 30, p=[0.2, 0.3, 0.5][-2 - scored :]
                          if scored else [0.3, 0.7])  # fmt: skip
    monitor = bj.decide.Monitor(range(30), verdicts, at_least=0.7, strategy=strategy, random_seed=1)
    for _ in range(30):
        left = np.flatnonzero(monitor._free)
        weights = 1 / (len(left) * monitor._chances(verdicts[left]))
        (name,) = monitor.draw(1)["item"]
        drawn = monitor._drawn[-1]
        assert drawn.weight == pytest.approx(weights[left == int(name)][0])
        here = verdicts[left]
        alike = np.isin(here, (0, 1)).all()
        groups = [here == 0, here == 1] if alike else [here >= 0] * 2
        assert drawn.weights == tuple(weights[group].max(initial=0) for group in groups)
        monitor.add([name], [int(rng.random() < 0.6)])


@pytest.mark.parametrize("strategy", ["random", "by_verdict", "uncertain"])
def test_the_largest_weights_of_fresh_pools_are_those_of_any_pool(strategy):
    """All pools of five items that there can be, at every look."""
    verdicts = np.random.default_rng(6).integers(0, 2, 40)
    how = {"at_least": 0.7, "target": "population", "most_labels": 8, "strategy": strategy}
    monitor = bj.decide.Monitor(range(40), verdicts, **how, random_seed=1)
    largest = 0.0
    for t in range(8):
        for pool in itertools.product((0.0, 1.0), repeat=5):
            weights = 1 / (5 * monitor._chances(np.array(pool)))
            largest = max(largest, weights.max())
        (name,) = monitor.draw(1)["item"]
        monitor.add([name], [int(t % 3 > 0)])
        assert largest <= max(monitor._drawn[-1].weights)
    assert {"random": 1.0, "by_verdict": 1.6, "uncertain": 1.05}[strategy] <= largest


@pytest.mark.parametrize("shared", [False, True])
def test_a_mean_within_classes_has_a_degree_of_freedom_for_each_item_less_what_is_fitted(shared):
    """Classes and items of unequal size, and of outputs counted by kind."""
    rng = np.random.default_rng(7)
    item = np.repeat(np.arange(30), rng.integers(1, 5, 30)) if shared else np.arange(70)
    n = len(item)
    place = rng.choice(4, n, p=[0.1, 0.2, 0.3, 0.4])
    said, good = rng.integers(0, 2, (2, n)).astype(float)
    truth = np.where(rng.random(n) < 0.4, good, np.nan)
    of_items = (item, np.ones(item.max() + 1)) if shared else ()
    found = mean_of(within_classes.Patterns(place, said, truth, np.ones(n), *of_items))
    known = ~np.isnan(truth)
    design = np.column_stack([np.eye(4)[place], said])[known]
    assert found.df == len(set(item[known])) - np.linalg.matrix_rank(design)
    assert found.errors.df == found.df


def test_pairs_of_orders_are_counted_pair_by_pair():
    """Judges with unequal repeats of unequal pairs, some without a verdict in one order."""
    rng = np.random.default_rng(5)
    rows = pd.DataFrame(
        [(judge, f"p{pair}", *rng.choice([1, 2, "tie"], 2))
         for judge, pairs in (("x", 9), ("y", 14))
         for pair in range(pairs) for _ in range(rng.integers(1, 5))],
        columns=["judge", "item", "order1", "order2"],
    )  # fmt: skip
    rows.loc[rng.random(len(rows)) < 0.4, "order2"] = None
    rows.loc[rows["item"] == "p3", "order1"] = None
    orders = bj.bias.Orders.from_frame(
        rows, judge="judge", item="item", tie_value="tie", missing="drop"
    )
    whole = rows.dropna()
    for j, judge in enumerate("xy"):
        pairs = {}
        for row in whole[whole["judge"] == judge].itertuples():
            at = [["1", "2", "tie"].index(str(said)) for said in (row.order1, row.order2)]
            pairs.setdefault(row.item, np.zeros(9))[3 * at[0] + at[1]] += 1
        assert orders.n_pairs[j] == len(pairs)
        assert_allclose(orders.products[j], sum(np.outer(x, x) for x in pairs.values()))
    assert set(orders.n_pairs) != {len(set(whole["item"]))}


def test_the_error_of_a_density_left_out_is_that_of_items_one_by_one(monkeypatch):
    """Of a share with a flat prior, of which an item left out has a density by itself."""
    count, n = np.array([31, 9]), 40
    share = np.random.default_rng(2).beta(1 + count[0], 1 + count[1], 4000)
    log = np.log(np.column_stack([share, 1 - share]))
    of_panel = sys.modules["bayesjudge.panel.loo"]  # a function has its name
    monkeypatch.setattr(of_panel, "log_likelihood_of", lambda *_, **__: (log, [0, 1], count))
    idata = {"posterior": xr.Dataset(coords={"chain": range(4), "draw": range(1000)})}
    found = bj.panel.loo(SimpleNamespace(idata=idata))
    items = np.repeat(np.log(count / (n + 1)), count)
    assert found.elpd == pytest.approx(items.sum(), abs=0.05)
    assert found.se == pytest.approx(np.sqrt(n) * items.std(ddof=1), rel=0.02)
    each = np.repeat(found.table["elpd"], count)
    assert found.se == pytest.approx(np.sqrt(n) * each.std(ddof=1), rel=1e-9)


def test_kappa_of_several_people_is_the_mean_over_pairs_of_them(tmp_path):
    """Unequal overlaps; of one pair chance explains all, and another shares nothing."""
    rng = np.random.default_rng(4)
    said = {
        "ann": {i: int(rng.random() < 0.6) for i in range(30)},
        "bob": {i: int(rng.random() < 0.5) for i in range(12, 45)},
        "cyd": dict.fromkeys((28, 29, 50), 1),
        "dee": {50: 1, 60: 0, 12: 1, 13: 0, 20: 1, 25: 0},
    }
    said["ann"] |= {28: 1, 29: 1}
    lines = [f"i{i},{y},{who}" for who, labels in said.items() for i, y in labels.items()]
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("\n".join(["item,truth,annotator", *lines]))
    found = bj.decide.read_sheets(sheet).agreement
    kappas, alike = [], []
    for one, other in itertools.combinations(said.values(), 2):
        both = [(one[i], other[i]) for i in one if i in other]
        if not both:
            continue
        agree = np.mean([a == b for a, b in both])
        alike += [a == b for a, b in both]
        p, q = np.mean(both, axis=0)
        chance = p * q + (1 - p) * (1 - q)
        if chance < 1:
            kappas.append((agree - chance) / (1 - chance))
    assert 2 < len(kappas) < 5
    assert found.share == pytest.approx(np.mean(alike))
    assert found.kappa == pytest.approx(np.mean(kappas))


def test_what_a_judge_can_be_trusted_with_is_counted_output_by_output():
    """Of scores with unequal numbers."""
    rng = np.random.default_rng(3)
    score, labelled = np.round(rng.beta(1, 0.5, 900), 2), np.arange(900) < 300
    truth = np.where(labelled, (rng.random(900) < score).astype(float), np.nan)
    cells = np.column_stack([score, np.nan_to_num(truth, nan=-1)])
    kinds, n = np.unique(cells, axis=0, return_counts=True)
    label = np.where(kinds[:, 1] < 0, np.nan, kinds[:, 1])
    found = bj.judge.trust(P.scores.Scores(kinds[:, 0], label, n, "random", (0, 1)), alpha=0.2)
    ones = np.ones(900)
    rows = Labelled(score[labelled], truth[labelled], ones[:300], score, ones, True)
    for side, name in (("pass", "pass_from"), ("fail", "fail_to")):
        cut = threshold(rows, side == "pass", 0.2, 0.9)
        assert found[name].value == cut
        trusted = score >= cut if side == "pass" else score <= cut
        assert found["traffic", side].value == pytest.approx(trusted.mean())
    odds = np.log(np.clip(score, 1e-3, 1 - 1e-3) / (1 - np.clip(score, 1e-3, 1 - 1e-3)))
    counted = Labelled(*[None] * 3, *np.unique(score, return_counts=True), True)
    assert_allclose(counted.z(score), (odds - odds.mean()) / odds.std())
