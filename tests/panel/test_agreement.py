"""Judges that always agree, never agree or never vary: limits and nan, and no division by zero."""

import math
from itertools import product

import numpy as np
import pytest
import xarray as xr
from conftest import study_but
from numpy.testing import assert_array_equal

import bayesjudge as bj
from bayesjudge.core.diagnosis import cautions_of
from bayesjudge.core.errors import InputError
from bayesjudge.core.fit import Fit
from bayesjudge.panel.checks import correlate, correlate_votes
from tests.panel.conftest import code_feedback

panel = bj.panel
#: Bad items that the first judge failed and passed, good items that it failed and passed.
COUNTS = [counts for counts in product((0, 1, 24), repeat=4) if any(counts)]
#: For what iterates, and longest where nothing is learnt.
FEWER = [counts for counts in COUNTS if 1 not in counts]
ITERATING = (
    "dawid_skene_em",
    "dawid_skene_em, missing",
    "regression",
    "regression, source",
    "recommend",
)
SECOND = {
    "identical": lambda first: first,
    "opposite": lambda first: 1 - first,
    "always passes": np.ones_like,
    "always fails": np.zeros_like,
}


def two_judges(counts, second):
    """Three generators with these labelled items, and a fourth whose items have no label."""
    first = np.repeat([0, 1, 0, 1], counts)
    truth = np.repeat([0, 0, 1, 1], counts)
    votes = np.column_stack([first, SECOND[second](first)])
    return panel.Votes(
        np.tile(votes, (4, 1)),
        np.concatenate([np.tile(truth, 3), np.full(len(truth), -1)]),
        np.repeat(np.arange(4), len(truth)),
        ["g1", "g2", "g3", "new"],
        ["first", "second"],
    )


def numbers_of(found):
    """Every number in what a function of the panel returns."""
    if isinstance(found, bj.Estimate):
        found = found.table[["value", "low", "high"]]
    if hasattr(found, "select_dtypes"):
        found = found.select_dtypes("number").to_numpy()
    if isinstance(found, dict):
        found = list(found.values())
    return np.asarray(found, float)


FUNCTIONS = {
    "homogeneity": panel.homogeneity,
    "correlation on bad items": lambda votes: correlate_votes(votes, 0),
    "correlation on good items": lambda votes: correlate_votes(votes, 1),
    "dependence": panel.dependence,
    "effective_judges": panel.effective_judges,
    "recommend": lambda votes: len(panel.recommend(votes).why),
    "choose_threshold": lambda votes: panel.choose_threshold(votes).threshold,
    "ensemble_rates": lambda votes: panel.ensemble_rates(votes, panel.VotingRule("majority")),
    "voting": panel.voting,
    "panel_mean": panel.panel_mean,
    "dawid_skene_em": panel.dawid_skene_em,
    "dawid_skene_em, missing": lambda votes: panel.dawid_skene_em(votes, missing="response"),
    "model_assisted": panel.model_assisted,
    "regression": lambda votes: panel.regression(votes, starts=1),
    "regression, source": lambda votes: panel.regression(votes, solver="source", starts=1),
    "rogan_gladen": panel.rogan_gladen,
    "difference": panel.difference,
    "logit_shift": panel.logit_shift,
    "logit_shift, identity": lambda votes: panel.logit_shift(votes, scale="identity"),
}
#: What a function may say instead of a number.
REFUSALS = {"rogan_gladen": ("no judge has sensitivity", "no labelled item is")}


@pytest.mark.slow
@pytest.mark.parametrize("second", study_but(SECOND, "identical", "always fails"))
def test_every_closed_form_bears_judges_that_do_not_vary(second):
    answered = set()
    for counts in COUNTS:
        votes = two_judges(counts, second)  # of which the cautions are found once
        for name, function in FUNCTIONS.items():
            if name in ITERATING and counts not in FEWER:
                continue
            try:
                found = numbers_of(function(votes))
            except InputError as error:
                if not any(words in str(error) for words in REFUSALS.get(name, ())):
                    raise
                continue
            assert not np.isinf(found).any(), (name, counts)
            answered.add(name)
    assert answered == {*FUNCTIONS}


@pytest.mark.slow
@pytest.mark.parametrize("items", [20, 49, 100])
def test_judges_that_always_agree_correlate_by_exactly_one(items):
    for passed in range(1, items):
        for second, limit in (("identical", 1.0), ("opposite", -1.0)):
            (row,) = panel.dependence(
                panel.Votes(
                    np.column_stack([one := np.array([1, 0]), SECOND[second](one)]),
                    *([0, 0], [0, 0], ["g"], ["a", "b"]),
                    count=[passed, items - passed],
                )
            ).itertuples()
            assert (row.correlation, row.n) == (limit, items)
            ways = math.comb(items, passed)  # of so many passes: as rare as one of them
            assert row.p_value == pytest.approx(min(1, 2 / ways))


def test_correlation_of_large_counts_stays_within_one():
    for count in ([10**9, 1, 0], [10**12 - 1, 1, 1], [1, 10**9, 10**9]):
        r = correlate(np.array([[1, 1], [0, 0], [1, 0]]), np.array(count))
        assert (np.abs(r) <= 1).all()
        assert_array_equal(np.diag(r), 1)


@pytest.mark.parametrize("second", ["always passes", "always fails"])
def test_a_judge_that_does_not_vary_correlates_with_nobody(second):
    votes = two_judges((24, 24, 24, 24), second)
    table = panel.dependence(votes)
    assert table["n"].tolist() == [144, 144]
    assert table[["correlation", "p_value"]].isna().all(axis=None)
    assert np.isnan(list(panel.effective_judges(votes).values())).all()
    assert not {"dependent-judges", "near-duplicates"} & {c.id for c in cautions_of(votes)}


def test_rogan_gladen_says_which_judges_it_left_out():
    votes = panel.Votes(
        [[1, 1, 1, 1], [0, 1, 0, -1], [1, 1, 0, 1], [-1, 1, 1, 1]],
        *([1, 0, 1, -1], [0, 0, 0, 1], ["g", "new"], ["good", "all", "other", "unknown"]),
        count=[30, 30, 10, 5],
    )
    found = panel.rogan_gladen(votes.only("g"))
    assert found["prevalence", "g"].value == pytest.approx(np.mean([4 / 7, 3 / 7 / 0.75]))
    found = panel.rogan_gladen(
        panel.Votes(
            np.where(votes.generator[:, None] == 1, [-1, 1, -1, 1], votes.votes),
            *(votes.truth, votes.generator, votes.generators, votes.judges),
            count=votes.count,
        )
    )
    assert np.isnan(found["prevalence", "new"].value)
    texts = {caution.id: caution.text for caution in found.cautions}
    assert "'all'" in texts["no-better-than-chance"]
    assert "'unknown'" in texts["error-rates-unknown"]
    assert "'new'" in texts["no-votes"]


def with_labels(votes, known, seed):
    """The same votes with the labels of so many random items only."""
    rows = np.repeat(np.arange(len(votes.count)), votes.count)
    kept = np.random.default_rng(seed).choice(
        np.flatnonzero(votes.truth[rows] != -1), known, replace=False
    )
    truth = np.full(len(rows), -1)
    truth[kept] = votes.truth[rows[kept]]
    return panel.Votes(
        votes.votes[rows],
        truth,
        votes.generator[rows],
        votes.generators,
        votes.judges,
        calibration="random",
    )


@pytest.mark.slow
def test_few_labels_of_a_real_panel_get_an_answer():
    votes = code_feedback()
    drawn = [with_labels(votes, 100, seed) for seed in range(60)]
    alike = 0
    for few in drawn:
        table = panel.dependence(few)
        alike += (table["correlation"].abs() == 1).any()
        assert table["p_value"].dropna().between(0, 1).all()
    for few in drawn[:2]:
        assert panel.recommend(few).why
    assert alike >= 5  # what used to end in a division by zero is among them
    found = panel.model_assisted(drawn[0])
    assert found.table["value"].between(0, 1).all()


@pytest.fixture(scope="module")
def all_kinds():
    """One judge that errs, its twin, its opposite, and two that never vary."""
    first = np.repeat([0, 1, 0, 1], (24, 6, 6, 24))
    votes = np.column_stack([first, *(of(first) for of in SECOND.values())])
    truth = np.repeat([0, 0, 1, 1], (24, 6, 6, 24))
    return panel.Votes(
        np.tile(votes, (4, 1)),
        np.concatenate([np.tile(truth, 3), np.full(len(truth), -1)]),
        np.repeat(np.arange(4), len(truth)),
        ["g1", "g2", "g3", "new"],
        ["first", *SECOND],
    )


def test_pictures_and_comparisons_bear_all_kinds(all_kinds):
    for truth in (0, 1):
        panel.plot_correlation(all_kinds, truth=truth)
    cheap = ["panel_mean", "veto", "rogan_gladen", "linear_shift", "logit_shift", "dawid_skene_em"]
    assert panel.cross_validate(all_kinds, cheap)["mean_error"].between(0, 1).all()
    few = ["panel_mean", "veto", "difference", "model_assisted", "dawid_skene_em"]
    table = panel.cross_validate(all_kinds, few, hide="items", kept=30, repeats=1, random_seed=1)
    assert table["mean_error"].between(0, 1).all()


def drawn(votes, **posterior):
    """A fit whose posterior draws are given, not sampled."""
    dims = {"prevalence": "generator"} | dict.fromkeys(("sensitivity", "specificity"), "judge")
    arrays = {name: (("chain", "draw", dims[name]), values) for name, values in posterior.items()}
    return Fit(
        idata=xr.DataTree.from_dict({"posterior": xr.Dataset(arrays)}),
        data=votes,
        spec=panel.DawidSkene(),
        quantities=tuple(posterior),
        method="",
        source="",
    )


@pytest.mark.slow
def test_what_follows_a_fit_bears_all_kinds(all_kinds):
    rng = np.random.default_rng(1)
    sizes = {"prevalence": 4, "sensitivity": 5, "specificity": 5}
    posterior = {name: rng.beta(30, 10, (2, 100, size)) for name, size in sizes.items()}
    fit = drawn(all_kinds, **posterior)
    check = panel.dependence_check(fit, replicates=20, random_seed=1)
    assert check.index.tolist() == ["bad", "good", "all"]
    assert check["p_value"].between(0, 1).all()
    assert np.isfinite(panel.label_next(fit, "new", n=3)["gain"]).all()
    assert np.isfinite(panel.loo(fit).elpd)
    panel.plot_judges(fit)


@pytest.mark.parametrize("never_vary", ["observed", "replicates"])
def test_dependence_check_rejects_nothing_where_votes_do_not_vary(never_vary):
    votes = two_judges(
        (24, 0, 0, 24) if never_vary == "observed" else (12, 12, 12, 12), "identical"
    )
    rate = np.full((1, 50, 2), 0.5 if never_vary == "observed" else 1.0)
    shares = np.full((1, 50, 4), 0.5)
    fit = drawn(votes, prevalence=shares, sensitivity=rate, specificity=rate)
    check = panel.dependence_check(fit, replicates=20, random_seed=1).loc[["bad", "good"]]
    assert check[["expected", "low", "high", "p_value"]].isna().all(axis=None)
    assert not check["rejected"].any()


@pytest.mark.study
@pytest.mark.filterwarnings("ignore::bayesjudge.core.errors.ConvergenceWarning")
def test_vote_regression_bears_all_kinds(all_kinds):
    fit = panel.fit(all_kinds, panel.VoteRegression(), random_seed=1, chains=2, draws=200)
    assert np.isfinite(fit.estimate().table[["value", "low", "high"]]).all(axis=None)
    assert np.isfinite(panel.label_next(fit, "new", n=3)["gain"]).all()
    assert np.isfinite(panel.loo(fit).elpd)
