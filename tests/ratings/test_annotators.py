"""The alternative annotator test: as published, its posterior, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from conftest import study_but
from numpy.testing import assert_allclose
from refusals import refused
from scipy.stats import beta, t, ttest_1samp

import bayesjudge as bj
from bayesjudge.ratings import Ratings, alt_test, alt_test_posterior
from bayesjudge.ratings.annotators import _Duels, _rejected


def reference(people, judge, epsilon, score, q=0.05, min_items=30):
    """The article's Section 3, in its own words: dictionaries, one comparison at a time."""
    p_values, shares = {}, {}
    for left in sorted(people):
        judge_wins, person_wins = [], []
        for item, answer in people[left].items():
            others = [said[item] for who, said in people.items() if who != left and item in said]
            if item in judge and others:
                judge_wins.append(score(judge[item], others) >= score(answer, others))
                person_wins.append(score(answer, others) >= score(judge[item], others))
        if len(judge_wins) >= min_items:
            off = np.subtract(person_wins, judge_wins, dtype=float)
            p_values[left] = ttest_1samp(off, epsilon, alternative="less").pvalue
            shares[left] = np.mean(judge_wins)
    ordered = sorted(p_values.values())
    m = len(ordered)
    harmonic = sum(1 / i for i in range(1, m + 1))
    passed = [i for i in range(1, m + 1) if ordered[i - 1] <= i / m * q / harmonic]
    return max(passed, default=0) / m, float(np.mean(list(shares.values()))), p_values, shares


def accuracy(answer, others):
    return np.mean([answer == other for other in others])


def neg_rmse(answer, others):
    return -np.sqrt(np.mean([(float(answer) - float(other)) ** 2 for other in others]))


def answers(seed, *, annotators=7, items=90, options="abc", wrong=0.3, judge_wrong=0.2):
    """People and judges who err at random; each person rates three quarters of the items."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(len(options), size=items)

    def said(share):
        other = rng.integers(len(options), size=items)
        return np.where(rng.uniform(size=items) < share, other, truth)

    rows = []
    for who in [*(f"p{j}" for j in range(annotators)), "gpt", "claude"]:
        share = {"gpt": judge_wrong, "claude": 0.8}.get(who, wrong)
        kept = rng.uniform(size=items) < (0.75 if who.startswith("p") else 1)
        rows += [(i, who, options[x]) for i, x in enumerate(said(share)) if kept[i]]
    return pd.DataFrame(rows, columns=["item", "rater", "choice"])


def read(table, **more):
    return Ratings.from_frame(
        table, positive=table["choice"].min(), judges=["gpt", "claude"], **more
    )


@pytest.mark.slow
@pytest.mark.parametrize("scores", ["nominal", "numeric"])
@pytest.mark.parametrize("seed", range(4))
def test_the_published_form_is_the_references(scores, seed):
    options = "abcd" if scores == "nominal" else "12345"
    table = answers(seed, options=options)
    by_rater = {
        who: dict(zip(t["item"], t["choice"], strict=True)) for who, t in table.groupby("rater")
    }
    people = {who: said for who, said in by_rater.items() if who.startswith("p")}
    found = alt_test(read(table), epsilon=0.15, scores=scores)
    for judge in ("gpt", "claude"):
        rate, advantage, p_values, shares = reference(
            people, by_rater[judge], 0.15, accuracy if scores == "nominal" else neg_rmse
        )
        assert found["winning_rate", judge].value == rate
        assert_allclose(found["advantage_probability", judge].value, advantage, rtol=1e-12)
        for who, p in p_values.items():
            assert_allclose(found["p_value", judge, who].value, p, rtol=1e-12, atol=1e-15)
            assert_allclose(found["advantage", judge, who].value, shares[who], rtol=1e-12)


@pytest.mark.slow
def test_a_judge_like_people_passes_and_a_poor_one_does_not():
    table = answers(1, items=200)
    published = alt_test(read(table), epsilon=0.2)
    posterior = alt_test_posterior(read(table), epsilon=0.2)
    assert published["winning_rate", "gpt"].value == 1.0
    assert published["winning_rate", "claude"].value == 0.0
    assert posterior["passes", "gpt"].value > 0.95
    assert posterior["passes", "claude"].value < 0.05
    assert posterior["best", "gpt"].value > 0.99


def test_benjamini_yekutieli_by_hand():
    p = np.array([0.001, 0.2, 0.012, np.nan])  # thresholds of four: .006, .012, .018, .024
    assert _rejected(p).tolist() == [True, False, True, False]
    assert not _rejected(np.array([0.04, 0.04])).any()  # .0167 and .0333


def test_the_posterior_of_one_annotator_is_a_dirichlet():
    outcome = np.repeat([-1, 0, 1], [5, 20, 9])
    one = _Duels(["ann"], np.arange(34), outcome, np.array([0]), np.array([34]), 0)
    judge_wins, person_wins = one.posterior(20_000, np.random.default_rng(1))
    for draws, n in ((judge_wins, 5), (person_wins, 9)):
        exact = beta(n + 1 / 3, 35 - n - 1 / 3)
        assert abs(draws.mean() - exact.mean()) < 5 * exact.std() / np.sqrt(20_000)
        for prob in (0.025, 0.5, 0.975):
            below = (draws < exact.ppf(prob)).mean()
            assert abs(below - prob) < 5 * np.sqrt(prob * (1 - prob) / 20_000)


def test_annotators_who_share_items_are_dependent():
    """Twice the same annotator: posterior draws of both move together, not apart."""
    outcome = np.tile(np.repeat([-1, 0, 1], [15, 40, 25]), 2)
    starts, n = np.array([0, 80]), np.array([80, 80])
    both = _Duels(["ann", "bob"], np.tile(np.arange(80), 2), outcome, starts, n, 0)
    _, wins = both.posterior(4000, np.random.default_rng(2))
    assert np.corrcoef(wins.T)[0, 1] > 0.9
    apart = both._replace(item=np.arange(160))  # the planted fault: items taken as different
    _, wins = apart.posterior(4000, np.random.default_rng(2))
    assert abs(np.corrcoef(wins.T)[0, 1]) < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("runs", study_but([25, 60], 25))
def test_intervals_of_the_advantage_cover(runs):
    """Both forms, against the share in a sample of many items."""
    large = alt_test(read(answers(99, items=20_000)), epsilon=0.1)
    held = {"published": 0, "posterior": 0}
    for seed in range(runs):
        ratings = read(answers(seed, items=80))
        made = {
            "published": alt_test(ratings, epsilon=0.1),
            "posterior": alt_test_posterior(ratings, epsilon=0.1, draws=1000),
        }
        for name, one in made.items():
            row = one["advantage_probability", "gpt"]
            held[name] += row.low <= large["advantage_probability", "gpt"].value <= row.high
    for name, count in held.items():
        assert abs(count / runs - 0.95) < 4 * np.sqrt(0.95 * 0.05 / runs), (name, count)


@pytest.mark.slow
def test_few_annotators_and_few_items_are_said_or_refused():
    table = answers(0, annotators=2)
    names = {c.id for c in alt_test(read(table), epsilon=0.1).cautions}
    assert "few-annotators" in names
    lone = pd.concat([table, pd.DataFrame([(0, "q", "a")], columns=table.columns)])
    text = {c.id: c.text for c in alt_test(read(lone), epsilon=0.1).cautions}["few-items"]
    assert text.startswith("left out: 1 annotator with fewer than 30 items")
    with refused(3000, id="too-few-items"):
        alt_test(read(table), epsilon=0.1, min_items=3000)
    with pytest.raises(bj.InputError, match="scores='numeric' needs numbers"):
        alt_test(read(table), epsilon=0.1, scores="numeric")
    with refused("epsilon="):
        alt_test(read(table), epsilon=1.5)
    counted = Ratings(chosen=np.ones((2, 4, 2), int), options=("a", "b"), positive="a")
    with refused(id="too-few-annotators"):
        alt_test(counted, epsilon=0.1)


@pytest.mark.slow
def test_items_without_a_single_majority_are_counted():
    rows = [
        (i, who, "yes" if (i < 6 and who == "a") or i > 7 else "no")
        for i in range(10)
        for who in ("a", "b", "gpt")
    ]
    table = pd.DataFrame(rows, columns=["item", "rater", "choice"])
    ratings = Ratings.from_frame(table, positive="yes", judges=["gpt"])
    told = {c.id: c.numbers for c in bj.ratings.agreement(ratings).cautions}["no-majority"]
    assert told == {"tied": 6, "rated": 10, "share": 0.6}


def test_many_options_have_only_the_response_sets_that_occur():
    options = [f"o{i}" for i in range(17)]
    rows = [
        (i, who, options[i % 17], f"{options[i % 17]}|{options[(i + 1) % 17]}")
        for i in range(34)
        for who in ("a", "gpt")
    ]
    table = pd.DataFrame(rows, columns=["item", "rater", "choice", "all"])
    ratings = Ratings.from_frame(table, positive="o0", judges=["gpt"], response_set="all")
    assert len(ratings.sets) == 17 + 17
    assert len(Ratings(np.ones((2, 3, 17), int), options, "o0").sets) == 17


def test_the_interval_of_the_advantage_is_wilsons_by_items():
    rng = np.random.default_rng(4)
    said = {name: rng.integers(2, size=40) for name in ("p0", "p1", "p2", "gpt")}
    rows = [(i, who, "ab"[x]) for who, given in said.items() for i, x in enumerate(given)]
    table = pd.DataFrame(rows, columns=["item", "rater", "choice"])
    ratings = Ratings.from_frame(table, positive="a", judges=["gpt"])
    row = alt_test(ratings, epsilon=0.1)["advantage_probability", "gpt"]
    people = ["p0", "p1", "p2"]
    wins = [
        [
            accuracy(said["gpt"][i], others) >= accuracy(said[who][i], others)
            for who in people
            for others in [[said[other][i] for other in people if other != who]]
        ]
        for i in range(40)
    ]
    by_item = np.mean(wins, axis=1)
    p, variance = by_item.mean(), by_item.var(ddof=1) / 40
    for end in (row.low, row.high):
        share = end * (1 - end) / (p * (1 - p)) * variance
        assert_allclose((p - end) ** 2, t(39).ppf(0.975) ** 2 * share, rtol=1e-9)
