"""`check_prior` of every module: data that the priors do not expect are named, others seldom."""

import numpy as np
import pandas as pd
import pytest
from refusals import refused

import bayesjudge as bj
from bayesjudge.core import prior_check
from bayesjudge.core.prior_check import CONFLICT_P, compare_with_prior, count_in_draws
from bayesjudge.core.priors import NormalPrior
from bayesjudge.prevalence import items

pytestmark = pytest.mark.usefixtures("uncompiled")


def scores():
    table = bj.repeats.simulate(items=8, judges=3, repeats=4, item_scale=3, random_seed=1)
    return bj.repeats.Scores.from_frame(table, scale=range(1, 6), judge="judge", order="repeat")


def shifts():
    table = bj.bias.simulate(items=30, random_seed=1)
    return bj.bias.Shifts.from_frame(table, scale=(0, 100), design="item", rerun="rerun")


def ratings():
    table = bj.ratings.simulate(items=20, choices=4, response_sets=3, random_seed=1)
    return bj.ratings.Ratings.from_frame(
        table, positive="yes", judges=["gpt", "claude"], response_set="response_set"
    )


def rows(calibration="random", size=80):
    table = items.simulate(items=size, labelled=30, random_seed=1)
    return items.Items.from_frame(table, by="system", calibration=calibration, repeats="system")


def pooled():
    cells = [[n] * 12 for n in (1000, 620, 100, 70, 100, 60)]
    return bj.prevalence.Counts(*cells, calibration="random", systems="abcdefghijkl")


def several_classes():
    known = [[9, 1, 2], [2, 6, 1], [1, 3, 7]]
    return bj.prevalence.classes.ClassCounts([30, 20, 10], known, "abc", "random")


def votes(judges="abc", classes=None):
    if classes is not None:
        rows, truth = [[0, 1, 2], [1, 1, 0], [2, 0, 2], [0, 0, 1]], [0, 1, 2, 0]
        made = {"classes": classes, "count": [9] * 4, "calibration": "random"}
        return bj.panel.Votes(rows, truth, [0] * 4, ["g"], "abc", **made)
    rates = {"sensitivity": (0.7,) * 3, "specificity": (0.6,) * 3}
    table = bj.panel.simulate(items=60, labelled=40, **rates, random_seed=1)
    chosen = table[table["judge"].isin([*judges])]
    return bj.panel.Votes.from_frame(chosen, calibration="random")


VENDOR = bj.BetaPrior.worth(0.99, 1000)
OF_ONE = {"a": VENDOR, "b": bj.BetaPrior(), "c": bj.BetaPrior()}
SURE = NormalPrior(5, 0.05)
#: Data, priors that they contradict, and the statistics in which they do.
CASES = {
    "repeats": (scores, bj.repeats.CumulativeLogit(item_scale=0.01, item_judge_scale=0.01),
                {"item_sd"}),
    "bias": (shifts, bj.bias.NormalShifts(noise=1e-4, item_spread=1e-4, log_sd=0.1, pooling=0.1),
             {"rerun_sd", "shift_sd"}),
    "ratings": (ratings, bj.ratings.ResponseSets(share=(100, 1, 1)), {"set_share"}),
    "items": (rows, items.ItemEffects(sensitivity=bj.BetaPrior(20, 200)), {"pass_rate"}),
    "items by verdict": (lambda: rows("by_verdict", 40),
                         items.ItemEffects(prevalence=bj.BetaPrior(5, 4000)), {"npv"}),
    "panel of one judge": (lambda: votes("a"),
                           bj.panel.DawidSkene(sensitivity=VENDOR, specificity=VENDOR),
                           {"sensitivity", "specificity"}),
    "one judge of a panel": (votes, bj.panel.DawidSkene(sensitivity=OF_ONE, specificity=OF_ONE),
                             {"sensitivity", "specificity"}),
    "votes": (votes, bj.panel.VoteRegression(vote_weight=SURE, intercept=NormalPrior(0, 0.1),
                                             generator_spread=0.1, judge_spread=0.1),
              {"majority_right"}),
    "classes of a panel": (lambda: votes(classes="lmh"),
                           bj.panel.MulticlassDawidSkene(diagonal=990, off_diagonal=5),
                           {"right_share"}),
    "pooled": (pooled, bj.prevalence.PooledErrorRates(sensitivity=VENDOR, specificity=VENDOR),
               {"sensitivity", "specificity"}),
    "classes": (several_classes, bj.prevalence.classes.Confusions(right=1, wrong=200),
                {"labelled"}),
}  # fmt: skip
LONG = ("one judge of a panel", "votes")
each = pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.study] if n in LONG else []) for n in CASES],
)


@pytest.mark.slow
@each
def test_what_the_priors_rule_out_is_named_and_told(name):
    make, model, statistics = CASES[name]
    data = make()
    table = bj.bias.check_prior(data, model, random_seed=1)
    assert statistics <= set(table.loc[table["surprising"], "statistic"])
    (caution,) = prior_check.conflicts(model, data)
    assert caution.id == "prior-data-conflict"


@pytest.mark.slow
@each
def test_priors_that_nobody_stated_expect_little(name):
    make, model, _ = CASES[name]
    data = make()
    assert not bj.bias.check_prior(data, random_seed=1)["surprising"].any()
    assert prior_check.conflicts(type(model)(), data) == ()


# False alarms ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_tables_from_the_prior_surprise_one_time_in_a_hundred():
    """Statistics that go together or not, one with few values, and one that is not always there."""
    rng, tables, alarms = np.random.default_rng(1), 400, 0
    keys = [(name, "", "") for name in "abcd"]

    def draw(n):
        shared = rng.standard_cauchy(n)
        few = rng.binomial(3, 0.5, n).astype(float)
        some = np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n))
        return dict(zip(keys, (shared, shared + rng.normal(size=n), few, some), strict=True))

    for _ in range(tables):
        observed = {key: v[0] for key, v in draw(1).items() if np.isfinite(v[0])}
        alarms += bool(count_in_draws(observed, draw)["surprising"].any())
    assert 0 < alarms / tables < CONFLICT_P + 4 * np.sqrt(CONFLICT_P / tables)


def test_p_values_are_fine_enough_to_surprise_however_many_rows_there_are():
    rng, asked = np.random.default_rng(1), []
    keys = [("share", "system", str(i)) for i in range(30)]

    def draw(n):
        asked.append(n)
        return {key: rng.normal(size=n) for key in keys}

    far = dict.fromkeys(keys, 0.0) | {keys[3]: 6.0}
    table = count_in_draws(far, draw)
    assert table.loc[table["surprising"], "system"].tolist() == ["3"]
    assert sum(asked) > 2 * len(keys) / CONFLICT_P
    asked.clear()
    assert not count_in_draws(dict.fromkeys(keys, 0.0), draw)["surprising"].any()
    assert asked == [prior_check.FIRST]  # nothing is near an end: no more are drawn


def test_a_row_is_counted_by_hand():
    """On both sides, and without the drawn tables that lack the statistic."""
    key = ("mean", "", "")
    draws = np.append(np.arange(99.0), np.nan)
    for value in (2.0, 96.0):
        (row,) = compare_with_prior({key: value}, {key: draws}).itertuples()
        assert row.p_value == pytest.approx(2 * 4 / 100)
        assert (row.low, row.high) == pytest.approx((2.45, 95.55))


def test_the_caution_names_the_most_surprising_row():
    keys = [(name, "", "") for name in "abc"]
    known = dict(zip(keys, (1e-4, 1e-6, 0.5), strict=True))
    draws = dict.fromkeys(keys, np.arange(100.0))
    table = compare_with_prior(dict.fromkeys(keys, 200.0), draws, known)
    (caution,) = prior_check.prior_data_conflict(table)
    numbers = [caution.numbers[k] for k in ("observed", "low", "high", "p_value")]
    assert caution.numbers["named"] == "b"
    assert numbers == pytest.approx([200, 2.475, 96.525, 1e-6], rel=1e-3)
    assert caution.numbers["more"] == " (and 1 more)"


def test_nothing_to_compare_is_no_conflict():
    table = compare_with_prior({}, {})
    assert table.empty
    assert prior_check.prior_data_conflict(table) == ()


def test_data_of_no_module_are_refused():
    with refused(id="not-data"):
        prior_check.check_prior(pd.DataFrame())


@pytest.mark.slow
def test_posteriors_without_sampling_tell_of_a_conflict():
    """Items share one false-alarm rate over their systems; an option that is no prior is silent."""
    _, model, _ = CASES["classes"]
    classes = bj.prevalence.classes
    stated = classes.exact(several_classes(), model)
    assert "prior-data-conflict" in {c.id for c in stated.cautions}
    assert not classes.Confusions(pooling="full")._states_priors()
    claimed = bj.prevalence.ErrorRates(sensitivity=VENDOR, specificity=VENDOR)
    found = {c.id: c.text for c in items.exact(rows(), claimed).cautions}
    assert "priors and data disagree" in found["prior-data-conflict"]
    for told in (items.exact(rows()), items.exact(rows(), bj.prevalence.ErrorRates())):
        assert "prior-data-conflict" not in {c.id for c in told.cautions}


@pytest.mark.sampling
def test_a_fit_tells_of_a_conflict():
    """Of the model that most tests compile."""
    claimed = bj.BetaPrior.worth(0.99, 40)
    counts = bj.prevalence.Counts(1000, 620, 100, 70, 100, 60, calibration="by_truth")
    model = bj.prevalence.ErrorRates(sensitivity=claimed, specificity=claimed)
    fit = bj.prevalence.fit(counts, model, random_seed=1, draws=1000, chains=2)
    assert "prior-data-conflict" in {c.id for c in fit.cautions}
    assert "prior-data-conflict" in {c.id for c in fit.estimate().cautions}
