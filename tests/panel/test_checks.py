"""What the labelled items say against the models."""

import numpy as np
import pandas as pd
import pytest
from conftest import study_but
from numpy.testing import assert_allclose
from scipy import stats

import bayesjudge as bj
from bayesjudge.core.diagnosis import cautions_of
from bayesjudge.panel.checks import (
    PAIRED_DRAWS,
    REJECT_P,
    _shares_and_errors,
    cell_p_values,
    correlate,
    dependence,
    less_error,
    shift_p_values,
)
from tests.panel.conftest import code_feedback

Votes = bj.panel.Votes


def names(votes):
    return {caution.id for caution in cautions_of(votes)}


def simulated(**settings):
    return Votes.from_frame(bj.panel.simulate(items=600, labelled=600, random_seed=1, **settings))


def paired(*cells):
    """Votes of two judges: rows of truth, vote of a, vote of b, and how many items."""
    rows = [row[:3] for row in cells for _ in range(row[3])]
    table = pd.DataFrame(rows, columns=["truth", "a", "b"]).assign(generator="g")
    table["item"] = np.arange(len(table))
    return Votes.from_frame(table, judges=["a", "b"], calibration="random")


@pytest.mark.slow
def test_who_errs_less_is_known_from_the_items_on_which_one_is_right():
    alike = paired(
        (1, 1, 0, 5), (1, 0, 1, 5), (1, 1, 1, 40), (0, 0, 0, 30), (0, 1, 0, 3), (0, 0, 1, 3)
    )
    assert abs(less_error(alike, "a", "b") - 0.5) < 4 * 0.5 / PAIRED_DRAWS**0.5
    better = paired((1, 1, 0, 20), (1, 0, 1, 2), (1, 1, 1, 40), (0, 0, 0, 30))
    assert less_error(better, "a", "b") > 0.99
    assert less_error(better, "b", "a") < 0.01


def test_who_errs_less_is_nearly_the_normal_probability():
    """Many items: the difference of shares is normal about the one that was seen."""
    votes = paired(
        (1, 1, 0, 40), (1, 0, 1, 30), (1, 1, 1, 430), (0, 0, 0, 440), (0, 1, 0, 30), (0, 0, 1, 30)
    )
    variance = (70 - 10**2 / 500) / 500**2 + 60 / 500**2
    wanted = stats.norm.cdf(10 / 500 / variance**0.5)
    assert abs(less_error(votes, "a", "b") - wanted) < 0.015


def test_votes_on_no_item_together_tell_nothing():
    rows = [(1, 1, None), (0, 0, None), (1, None, 1), (0, None, 0)]
    table = pd.DataFrame(rows, columns=["truth", "a", "b"]).assign(generator="g", item=range(4))
    votes = Votes.from_frame(table, judges=["a", "b"], calibration="random")
    assert less_error(votes, "a", "b") == 0.5


@pytest.mark.slow
def test_the_best_judge_is_named_flatly_only_if_that_is_sure():
    open_ = paired((1, 1, 0, 8), (1, 0, 1, 6), (1, 1, 1, 40), (0, 0, 0, 30), (0, 1, 1, 5))
    (said, *_) = bj.panel.answer(*bj.panel.closed_forms(open_)).notes
    assert said.startswith(
        "Which of the 2 judges errs least, both error rates added, is not decided (a less than b "
    )
    assert "may" not in said
    sure = paired((1, 1, 0, 30), (1, 0, 1, 2), (1, 1, 1, 40), (0, 0, 0, 30), (0, 1, 1, 5))
    (said, *_) = bj.panel.answer(*bj.panel.closed_forms(sure)).notes
    assert "a errs least" in said
    assert "less than b with probability >.99)" in said


@pytest.mark.slow
def test_independent_judges_raise_nothing():
    assert names(simulated()) == set()


@pytest.mark.slow
def test_judges_that_err_together_are_named():
    assert "dependent-judges" in names(simulated(shared_effect=2.0))


@pytest.mark.slow
def test_labels_that_contradict_the_majority_are_named():
    assert "majority-contradicted" in names(simulated(specificity=(0.2, 0.2, 0.2, 0.3)))


@pytest.mark.slow
def test_a_panel_without_labels_says_so():
    votes = simulated()
    assert names(votes.hide(*votes.generators)) == {"no-labels"}


@pytest.mark.slow
def test_two_copies_of_a_judge_are_named():
    votes = simulated()
    twin = Votes(
        np.column_stack([votes.votes, votes.votes[:, 0]]),
        votes.truth,
        votes.generator,
        votes.generators,
        (*votes.judges, "twin"),
        count=votes.count,
    )
    (caution,) = [c for c in cautions_of(twin) if c.id == "near-duplicates"][:1]
    assert "a and twin (1.00)" in caution.text


def test_error_rates_that_differ_between_generators_are_named():
    lenient = bj.panel.simulate(prevalence=(0.7,), labelled=300, random_seed=1)
    severe = bj.panel.simulate(
        prevalence=(0.7,), sensitivity=(0.6,) * 4, labelled=300, random_seed=2
    ).assign(generator="g2")
    votes = Votes.from_frame(pd.concat([lenient, severe]))
    assert "error-rates-differ" in names(votes)


@pytest.mark.slow
def test_a_corrupted_block_is_named():
    votes = simulated()
    block = (votes.generator == 1)[:, None] & (np.arange(4) == 2) & (votes.votes >= 0)
    other = Votes(
        np.where(
            block & (np.random.default_rng(1).random(votes.votes.shape) < 0.5),
            1 - votes.votes,
            votes.votes,
        ),
        *(votes.truth, votes.generator, votes.generators, votes.judges),
        count=votes.count,
    )
    texts = [c.text for c in cautions_of(other) if c.id == "error-rates-differ"]
    assert texts
    assert all("'c' on 'g2' (" in text for text in texts)
    assert not any("'a' on" in text or "'b' on" in text for text in texts)


def test_fishers_test_of_a_cell_is_scipys():
    votes = Votes.from_frame(bj.panel.simulate(items=60, labelled=60, missing=0.1, random_seed=1))
    tally = votes.tally()[:, :2, :, :2]
    cells = pd.DataFrame(cell_p_values(votes)).set_index(["judge", "generator", "rate"])
    for i, j, truth in np.ndindex(3, 4, 2):
        own, rest = tally[i, truth, j], tally[:, truth, j].sum(axis=0) - tally[i, truth, j]
        tails = [
            stats.fisher_exact([own, rest], alternative=side).pvalue for side in ("less", "greater")
        ]
        name = ("specificity", "sensitivity")[truth]
        p = cells.loc[(votes.judges[j], votes.generators[i], name), "p_value"]
        assert p == pytest.approx(min(1, 2 * min(tails)))


@pytest.mark.slow
@pytest.mark.parametrize("labels", [50, 100])
def test_rates_that_do_not_differ_are_rarely_called_different(labels):
    alarms, runs, rng = 0, 80, np.random.default_rng(1)
    for _ in range(runs):
        truth = rng.random(labels) < 0.8
        rate = np.where(truth[:, None], 0.85, 0.4)
        given = (rng.random((labels, 10)) < rate).astype(int)
        generator = rng.integers(0, 6, labels)
        about = (generator, [f"g{i}" for i in range(6)], [f"j{j}" for j in range(10)])
        votes = Votes(given, truth.astype(int), *about)
        alarms += "error-rates-differ" in names(votes)
    # nominal 2 %: more than this would happen once in a thousand such tests
    assert alarms <= stats.binom.ppf(0.999, runs, 0.02)


def test_shares_of_passes_are_those_of_a_flat_prior():
    counts = np.array([[[0, 0], [3, 9]], [[40, 0], [700, 300]]])
    share, error = _shares_and_errors(counts)
    exact = stats.beta(counts[..., 1] + 1, counts[..., 0] + 1)
    assert_allclose(share, exact.mean())
    n = counts.sum(axis=-1)
    assert_allclose(error, exact.std() * np.sqrt((n + 3) / (n + 2)))


def test_correlation_is_numpys_where_nothing_is_missing():
    rng = np.random.default_rng(0)
    given = (rng.random((400, 4)) < rng.random((400, 1))).astype(int)
    np.testing.assert_allclose(correlate(given, np.ones(400)), np.corrcoef(given.T), atol=1e-12)


def test_correlation_uses_items_that_both_judged():
    rng = np.random.default_rng(0)
    given = (rng.random((400, 2)) < rng.random((400, 1))).astype(int)
    given[:150, 0] = -1
    expected = np.corrcoef(given[150:].T)[0, 1]
    assert correlate(given, np.ones(400))[0, 1] == pytest.approx(expected)


@pytest.mark.parametrize("items", [60, pytest.param(3000, marks=pytest.mark.slow)])
def test_dependence_is_scipys_test_of_what_both_judged(items):
    votes = bj.panel.simulate(
        items=items, labelled=items, shared_effect=0.3, missing=0.2, random_seed=1
    )
    table = dependence(bj.panel.Votes.from_frame(votes))
    wide = votes.dropna().pivot(index=["generator", "item"], columns="judge", values="vote")
    truth = votes.groupby(["generator", "item"])["truth"].first().reindex(wide.index)
    assert len(table) > 10
    exact = []
    for row in table.itertuples():
        pair = wide.loc[truth == row.truth, [row.first, row.second]].dropna().astype(int)
        counts = pd.crosstab(*(pair[name] for name in pair)).to_numpy()
        expected = stats.pearsonr(*pair.to_numpy().T)
        assert row.n == len(pair) < (truth == row.truth).sum()
        assert row.correlation == pytest.approx(expected.statistic)
        exact.append(stats.contingency.expected_freq(counts).min() < 50)
        tails = [stats.fisher_exact(counts, alternative=side)[1] for side in ("less", "greater")]
        p = min(1, 2 * min(tails)) if exact[-1] else expected.pvalue
        assert row.p_value == pytest.approx(p)
    assert all(exact) == (items == 60)


@pytest.mark.slow
@pytest.mark.parametrize("judges", [2, 8])
@pytest.mark.parametrize("tables", study_but([60, 150], 60))
def test_independent_judges_are_rarely_said_to_err_together(judges, tables):
    """With rare errors and few items the t test alarmed in 3.5 % of the tables, for 2 %."""
    alarms = {"dependent-judges": 0, "near-duplicates": 0}
    for seed in range(tables):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(45, 200))
        truth = (rng.random(n) < 0.6).astype(int)
        right = rng.uniform(0.6, 0.97, (2, judges))
        given = np.where(rng.random((n, judges)) < right[truth], truth[:, None], 1 - truth[:, None])
        votes = bj.panel.Votes(
            given, truth, np.zeros(n, int), ["g"], [f"j{i}" for i in range(judges)]
        )
        told, table = {c.id for c in cautions_of(votes)}, dependence(votes).dropna()
        pairs = table.groupby("truth")["p_value"].transform("size")
        beyond = table[table["p_value"] < 0.01 / pairs]
        assert ("near-duplicates" in told) == (beyond["correlation"] > 0.6).any()
        for name in alarms:
            alarms[name] += name in told
    assert max(alarms.values()) <= stats.binom.ppf(0.999, tables, 0.02)


@pytest.mark.slow
def test_simulated_judges_err_together_only_where_they_are_told_to():
    sensitivity, specificity = np.array([0.9, 0.7, 0.8]), np.array([0.6, 0.8, 0.7])
    frame = bj.panel.simulate(
        **{"prevalence": (0.5,), "sensitivity": sensitivity, "specificity": specificity},
        **{"items": 20_000, "labelled": 20_000, "shared_effect": (0.0, 2.0), "random_seed": 1},
    )
    votes = bj.panel.Votes.from_frame(frame)
    table, tally = dependence(votes), votes.tally()[0, :2]
    on_good, on_bad = (table[table["truth"] == truth] for truth in (1, 0))
    assert (on_good["p_value"] > 0.001).all()
    assert (on_bad["p_value"] < 1e-9).all()
    rates = tally[:, :, 1] / tally[:, :, :2].sum(axis=2)
    for found, rate, n in ((rates[1], sensitivity, 10_000), (rates[0], 1 - specificity, 10_000)):
        assert_allclose(found, rate, atol=4 * np.sqrt(0.25 / n))


@pytest.mark.slow
def test_the_real_panel_is_what_it_is_known_to_be():
    votes = code_feedback()
    table = bj.panel.homogeneity(votes)
    assert (table["sensitivity_p"] < 0.01).sum() == 13
    assert (table["specificity_p"] < 0.01).sum() == 11
    mean = bj.panel.dependence(votes).groupby("truth")["correlation"].mean()
    assert mean[0] == pytest.approx(0.39, abs=0.005)
    assert mean[1] == pytest.approx(0.30, abs=0.005)
    fired = {
        "dependent-judges",
        "error-rates-differ",
        "majority-contradicted",
        "near-duplicates",
    }
    assert names(votes) == fired
    assert bj.panel.effective_judges(votes)[0] < 3


@pytest.mark.slow
def test_of_many_generators_one_that_differs_can_be_named(monkeypatch):
    """Samples are so many that the least p-value is below the threshold of one of them."""
    monkeypatch.setattr("bayesjudge.core.randomization.SAMPLES", 1)
    rows = [
        {"item": f"{g}-{i}", "generator": g, "a": i < passes, "b": i < passes, "truth": label}
        for g, passes in (("g1", 60), ("g2", 30))
        for i, label in enumerate([1] * 30 + [None] * 30)
    ]
    table = pd.DataFrame(rows).astype({"a": int, "b": int})
    votes = Votes.from_frame(table, judges=["a", "b"], calibration="random")
    _, each = shift_p_values(votes)
    assert each["g1"] == 1
    assert each["g2"] < REJECT_P / 2 / 2
    assert 4 * each["g2"] > REJECT_P / 2 / 2
