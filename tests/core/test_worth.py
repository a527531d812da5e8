"""Worth of a judge in labels: against brute force, limits, and what added labels achieve."""

import numpy as np
import pandas as pd
import pytest

import bayesjudge as bj
from bayesjudge.core.errors import InputError
from bayesjudge.core.worth import Worth, more_labels, worth_of_pairs, worth_of_widths, worth_words
from bayesjudge.prevalence import Counts, answer, closed_forms, exact
from bayesjudge.prevalence._worth import worth_of

PATTERNS = np.array([1.0, 0, 1, 0]), np.array([1.0, 1, 0, 0])


@pytest.mark.slow
def test_more_labels_is_the_ratio_of_variances_of_simulated_estimates():
    """By brute force: the best regression estimator against the mean of labels alone."""
    rng, m, n, draws = np.random.default_rng(3), 100, 400, 4000
    truth = rng.random((draws, n)) < 0.6
    verdict = np.where(truth, rng.random((draws, n)) < 0.9, rng.random((draws, n)) < 0.3)
    slope = 0.24 * 0.6 / (0.66 * 0.34)
    alone = truth[:, :m].mean(axis=1)
    judged = alone + slope * (verdict.mean(axis=1) - verdict[:, :m].mean(axis=1))
    squared = (0.24 * 0.6) ** 2 / (0.24 * 0.66 * 0.34)
    seen = m * (alone.var() / judged.var() - 1)
    error = seen * 2 * np.sqrt(2 / draws) * m / seen + m * 2 * np.sqrt(2 / draws)
    assert seen == pytest.approx(more_labels(squared, m, n), abs=3 * error)


def test_limits():
    assert more_labels(0.0, 100, 1000) == pytest.approx(0)
    assert more_labels(1.0, 100, 1000) == pytest.approx(900)
    assert more_labels(0.7, 100, 100) == pytest.approx(0)


@pytest.mark.slow
def test_pairs_hold_the_true_worth_as_often_as_they_say():
    """Of XSTest's GPT-4 judge, 100 random labels of 450 items (llama2new: worth 54.3)."""
    rng, table, held = np.random.default_rng(5), [176, 0, 88, 186], []
    truth = more_labels(_squared(table), 100, 450)
    found = []
    for _ in range(200):
        cells = rng.multivariate_hypergeometric(table, 100)
        one = worth_of_pairs(*PATTERNS, cells, items=450, prior=1)
        found.append(one.value)
        held.append(one.low <= truth <= one.high)
    assert np.mean(held) > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 200)
    assert np.mean(found) == pytest.approx(truth, abs=8)  # flat prior: towards 0


def test_widths_of_one_judge_and_of_draws():
    one = worth_of_widths(0.2, 0.16, 100, items=1000)
    assert one.value == pytest.approx(56.25)
    assert one.low < one.value < one.high
    rng = np.random.default_rng(1)
    judged = rng.normal(0.16, 0.01, 500)
    many = worth_of_widths(np.full(500, 0.2), judged, 100)
    assert many.value == pytest.approx(np.median(100 * (0.04 / judged**2 - 1)))
    assert worth_of_widths(0.2, 0.25, 100).value < 0
    assert np.isnan(worth_of_widths(0.2, 0.16, 3).low)


@pytest.mark.parametrize(
    ("alone", "judged", "labels", "word"),
    [(0.0, 0.1, 10, "above 0"), (0.1, [0.1], 10, "two rows"), (0.1, 0.1, 0, "at least 1 label")],
)
def test_impossible_widths_are_refused(alone, judged, labels, word):
    with pytest.raises(InputError, match=word):
        worth_of_widths(alone, judged, labels)


def test_words():
    assert str(Worth(0.7, -3, 5, 50)) == "1 more label (0 to 5)"
    assert str(Worth(np.nan, np.nan, np.nan, 1)) == "an unknown number of labels"
    four = {name: Worth(value, 1, 9, 50) for name, value in zip("abcd", (2, 8, 4, 3), strict=True)}
    assert worth_words(four) == (
        "On top of the labels the judge is worth 8 more labels (1 to 9) of b and 2 (1 to 9) of a; "
        "the others lie between."
    )
    assert worth_words({}) == ""


@pytest.mark.slow
def test_answers_tell_it_where_labels_are_random_and_only_there():
    made = {}
    for design in ("random", "by_truth", "by_verdict"):
        counts = Counts(350, 206, 36, 36, 64, 45, calibration=design)
        made[design] = answer(*closed_forms(counts), exact(counts))
    assert made["random"].worth[""].value == pytest.approx(49, abs=2)
    assert made["random"].as_dict()["worth"][0]["labels"] == 100
    assert not made["by_truth"].worth
    assert "worth" not in made["by_verdict"].as_dict()


def strata(good, agree, labelled, items):
    """Counts of strata in the proportions that a share of good outputs and of agreement imply."""
    good, agree, m = (np.array(x, float) for x in (good, agree, labelled))
    others = np.array(items) - m
    passed = good * agree + (1 - good) * (1 - agree)
    columns = (others, others * passed, m * good, m * good * agree, m * (1 - good),
               m * (1 - good) * agree)  # fmt: skip
    whole = [np.rint(column).astype(int).tolist() for column in columns]
    return Counts(*whole, calibration="random", systems=[*"abcde"[: m.size]], dim="stratum")


@pytest.mark.slow
def test_strata_are_worth_what_simulated_estimates_of_their_whole_gain():
    """By brute force: stratified means of labels alone, and with one regression on the verdict."""
    rng, draws = np.random.default_rng(4), 4000
    good, agree, m, n = (0.5, 0.8), (0.9, 0.8), (200, 400), (3000, 1000)
    alone, change = np.zeros(draws), np.zeros(draws)
    for y, a, labels, items in zip(good, agree, m, n, strict=True):
        truth = rng.random((draws, items)) < y
        verdict = np.where(rng.random((draws, items)) < a, truth, ~truth)
        alone += items / 4000 * truth[:, :labels].mean(axis=1)
        more = verdict.mean(axis=1) - verdict[:, :labels].mean(axis=1)
        change += items / 4000 * more
    slope = -np.cov(alone, change)[0, 1] / change.var()  # the best one for all strata
    seen = 600 * (alone.var() / (alone + slope * change).var() - 1)
    error = 2 * np.sqrt(2 / draws) * (seen + 600)
    found = answer(exact(strata(good, agree, m, n))).worth[""]
    assert found.labels == 600
    assert found.low < seen < found.high
    assert found.value == pytest.approx(seen, abs=2 * error)


def test_two_strata_alike_are_worth_as_much_as_one_sample():
    found = answer(exact(strata((0.5, 0.5), (0.9, 0.9), (300, 300), (1200, 1200)))).worth[""]
    one = answer(exact(strata((0.5,), (0.9,), (600,), (2400,)))).worth[""]
    wanted = more_labels(0.64, 600, 2400)
    assert found.value == pytest.approx(wanted, rel=0.05)
    assert one.value == pytest.approx(wanted, rel=0.05)


def test_a_stratum_of_one_label_tells_no_worth():
    counts = strata((0.5, 0.5), (0.9, 0.9), (300, 300), (1200, 1200))
    few = Counts(*([900, 50], [450, 25], [150, 1], [135, 1], [150, 0], [135, 0]),
                 calibration="random", systems=["a", "b"], dim="stratum")  # fmt: skip
    assert worth_of(counts, 0.95)
    assert not worth_of(few, 0.95)


@pytest.mark.slow
def test_scores_and_items_tell_it_too():
    module = bj.prevalence.scores
    table = module.simulate(numeric=True, labelled=100, random_seed=1)
    scores = module.Scores.from_frame(
        table, score="score", truth="truth", scale=(0, 1), truth_scale=(1, 5), calibration="random"
    )
    worth = module.answer(*module.closed_forms(scores)).worth[""]
    known = scores.known
    r = np.corrcoef(
        np.repeat(scores.unit[known], scores.n[known]),
        np.repeat(scores.unit_truth[known], scores.n[known]),
    )[0, 1]
    assert worth.value == pytest.approx(more_labels(r**2, 100, 1100), rel=0.1)
    assert 0 < worth.low < worth.value < worth.high
    items = bj.prevalence.items
    found = items.answer(
        *items.closed_forms(
            items.Items.from_frame(
                items.simulate(random_seed=1),
                verdict="verdict",
                truth="truth",
                item="item",
                by="system",
                repeats="system",
                calibration="random",
            )
        )
    ).worth
    assert set(found) == {"a", "b"}
    assert all(one.labels == 180 and one.low < one.value < one.high for one in found.values())


def _squared(table):
    a, b, c, _ = np.array(table) / sum(table)
    t, r = a + b, a + c
    return (a - t * r) ** 2 / (t * (1 - t) * r * (1 - r))


def tables():
    """One system, several, rows that share items, and scores: as `prevalence` reads each."""
    rng, module = np.random.default_rng(0), bj.prevalence
    truth = rng.random(400) < 0.6
    table = pd.DataFrame({"verdict": np.where(rng.random(400) < 0.85, truth, ~truth) * 1})
    table["truth"] = np.where(rng.random(400) < 0.3, truth * 1.0, np.nan)
    table["score"] = np.round(0.6 * truth + rng.random(400) * 0.4, 2)
    twice = table.assign(item=np.arange(400) // 2, system=["a", "b"] * 200)
    scores = {"score": "score", "scale": (0, 1)}
    yield module.Counts, table, {}
    yield module.Counts, table.assign(verdict=truth * 1), {}  # two kinds of pairs alone
    yield module.Counts, twice.drop(columns="item"), {"by": "system"}
    yield module.items.Items, twice, {"item": "item", "by": "system"}
    yield module.items.Items, twice, {"item": "item", "repeats": "system"}
    yield module.scores.Scores, table, scores


@pytest.mark.fast_one_in(2)
@pytest.mark.parametrize(("kind", "table", "how"), [*tables()])
def test_prevalence_and_judge_have_one_number(kind, table, how):
    read = kind.from_frame(table, calibration="random", **how)
    theirs = [worth.as_dict() for worth in worth_of(read, 0.95).values()]
    assert theirs == [worth.as_dict() for worth in bj.judge.worth(read).values()]
    assert min(worth["value"] for worth in theirs) > 0
    if how.get("by") and "item" in how:  # rows of one system share nothing
        apart = Counts.from_frame(table.drop(columns="item"), calibration="random", by=how["by"])
        assert theirs == [worth.as_dict() for worth in worth_of(apart, 0.95).values()]
