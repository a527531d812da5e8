"""Several classes: two of them are the prevalence, three checked another way, real data."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from arviz_stats.base import array_stats
from conftest import shared, study_but
from numpy.testing import assert_allclose
from oracles import SIGMAS, assert_mc_mean, assert_mc_quantile
from refusals import refused
from scipy.optimize import minimize
from scipy.special import logsumexp, xlogy

import bayesjudge as bj
from bayesjudge.core.methods import EXACT_CLASSES, JUDGE_SHARES, POST_STRATIFIED, PPI_TUNED
from bayesjudge.truth.inversion import covariance, delta_variance, inverted
from bayesjudge.truth.quadrature import posterior_of

P = bj.prevalence
classes = P.classes
THREE = {"classes": ["win", "tie", "loss"], "calibration": "by_truth"}
COUNTS = classes.ClassCounts([25, 15, 10], [[9, 1, 0], [2, 6, 2], [0, 3, 7]], **THREE)


def two(counts):
    """The same counts as classes: pass and fail."""
    c = counts
    good = [c.correct_pass, c.correct_n - c.correct_pass]
    bad = [c.incorrect_n - c.incorrect_fail, c.incorrect_fail]
    test = [c.test_pass, c.test_n - c.test_pass]
    return classes.ClassCounts(test, [good, bad], classes=["1", "0"], calibration=c.calibration)


# Closed forms ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["inverse", "least_squares"])
def test_two_classes_are_rogan_gladen(method):
    counts = P.Counts(1000, 620, 100, 90, 80, 56, calibration="by_truth")
    made = P.rogan_gladen(two(counts), method=method)
    expected = P.rogan_gladen(counts, interval="delta")["prevalence"]
    assert_allclose(made["prevalence", "1"], expected, rtol=1e-10)
    assert_allclose(made["prevalence", "0"].value, 1 - expected.value, rtol=1e-10)
    variance = delta_variance(0.62, 0.7, 0.9, 1000, 80, 100)
    test, table = two(counts).test, two(counts).labelled
    found = covariance(test, table, inverted(test, table))
    assert_allclose(found, variance * np.array([[1, -1], [-1, 1]]), rtol=1e-10)


def test_outside_the_simplex_the_inverse_says_so_and_least_squares_stays_inside():
    counts = classes.ClassCounts([50, 48, 2], COUNTS.labelled, **THREE)
    inverse = P.rogan_gladen(counts, method="inverse")
    raw = inverse.quantities["prevalence"].raw
    assert raw.min() < 0
    assert inverse.cautions[0].id == "outside-simplex"
    assert_allclose(raw.sum(), 1)
    found = P.rogan_gladen(counts).quantities["prevalence"].value
    assert found.min() >= 0
    assert_allclose(found.sum(), 1)

    def loss(x):
        return np.sum((x @ counts.confusion - counts.test / 100) ** 2)

    other = minimize(
        loss,
        np.full(3, 1 / 3),
        bounds=[(0, 1)] * 3,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
        options={"ftol": 1e-14},
    )
    assert_allclose(found, other.x, atol=1e-5)
    assert loss(found) <= loss(other.x) + 1e-12


@pytest.mark.slow
def test_delta_method_is_the_spread_of_simulated_estimates():
    rng, runs, n, m = np.random.default_rng(1), 4000, 3000, 1500
    confusion = np.array([[0.85, 0.1, 0.05], [0.15, 0.7, 0.15], [0.05, 0.2, 0.75]])
    shares = np.array([0.5, 0.3, 0.2])
    made = []
    for _ in range(runs):
        rows = [rng.multinomial(m, row) for row in confusion]
        made.append(inverted(rng.multinomial(n, shares @ confusion), np.array(rows)))
    whole = np.rint(n * shares @ confusion), np.rint(m * confusion)
    expected = np.sqrt(np.diag(covariance(*whole, shares)))
    assert_allclose(np.std(made, axis=0), expected, rtol=5 / np.sqrt(2 * runs))
    assert_allclose(np.mean(made, axis=0), shares, atol=5 * expected.max() / np.sqrt(runs) + 1e-3)


def test_a_judge_who_tells_two_classes_apart_in_no_way_is_refused():
    with pytest.raises(bj.UninformativeJudgeError, match="has no inverse"):
        P.rogan_gladen(classes.ClassCounts([5, 5, 5], [[4, 2, 2], [4, 2, 2], [0, 3, 7]], **THREE))


# The model ---------------------------------------------------------------------------------------


@pytest.mark.study
@pytest.mark.parametrize("calibration", ["by_truth", "random"])
def test_two_classes_are_the_exact_posterior(calibration):
    counts = P.Counts(60, 40, 12, 11, 10, 7, calibration=calibration)
    fit = classes.fit(two(counts), random_seed=2)
    exact = posterior_of(counts, P.ErrorRates(better_than_chance=False))
    draws = fit.idata["posterior"]["prevalence"].sel({"class": "1"})
    assert fit.converged, fit.cautions
    assert_mc_mean(draws, exact.mean)
    assert_mc_quantile(draws, 0.025, float(exact.quantile(0.025)))


@pytest.mark.study
def test_three_classes_are_what_weighting_gives(tmp_path):
    model = classes.Confusions(share_concentration=4.5, right=3, wrong=1.6)
    fit = classes.fit(COUNTS, model, random_seed=2)
    assert fit.converged, fit.cautions
    rng, size = np.random.default_rng(3), 400_000
    weights = np.full((3, 3), 0.8) + 2.2 * np.eye(3)
    rows = [rng.dirichlet(w + n, size) for w, n in zip(weights, COUNTS.labelled, strict=True)]
    shares = rng.dirichlet([1.5] * 3, size)
    rates = sum(shares[:, [i]] * rows[i] for i in range(3))
    log = xlogy(COUNTS.test, rates).sum(axis=1)
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    posterior = fit.idata["posterior"]["prevalence"]
    for i in range(3):
        expected = (weight * shares[:, i]).sum()
        error = np.sqrt((weight**2 * (shares[:, i] - expected) ** 2).sum())
        draws = posterior.isel({"class": i})
        mcse = float(array_stats.mcse(draws.to_numpy(), method="mean"))
        assert abs(float(draws.mean()) - expected) < SIGMAS * np.hypot(error, mcse)
        own = fit.idata["posterior"]["confusion"].isel({"class": i, "verdict": i})
        expected = (weight * rows[i][:, i]).sum()
        mcse = float(array_stats.mcse(own.to_numpy(), method="mean"))
        error = np.sqrt((weight**2 * (rows[i][:, i] - expected) ** 2).sum())
        assert abs(float(own.mean()) - expected) < SIGMAS * np.hypot(error, mcse)
    loaded = bj.load(fit.save(tmp_path / "fit.nc"))
    assert loaded.model.point_logps() == fit.model.point_logps()
    assert bj.report(loaded) == bj.report(fit)


# Data --------------------------------------------------------------------------------------------


def test_rows_are_counted_by_class():
    table = pd.DataFrame(
        {
            "verdict": ["b", "a", "a", "b", "a", "a", "b"],
            "truth": ["b", "a", "b", "b", "a", None, None],
        }
    )
    counts = classes.ClassCounts.from_frame(table, calibration="random")
    assert counts.classes == ("a", "b")
    assert counts.test.tolist() == [1, 1]
    assert counts.labelled.tolist() == [[2, 0], [1, 2]]
    turned = classes.ClassCounts.from_frame(table, calibration="random", classes=["b", "a"])
    assert turned.labelled.tolist() == [[2, 1], [0, 2]]


def test_problems_are_told_together():
    with pytest.raises(bj.InputError) as error:
        classes.ClassCounts([5, -1], [[1, 2], [3, 4.5]], classes=["a", "a"], calibration="by_truth")
    assert len(error.value.problems) == 4
    with refused(id="unknown-calibration", calibration="by_hand"):
        classes.ClassCounts([5, 1], [[1, 2], [0, 1]], classes=["a", "b"], calibration="by_hand")
    with refused(id="no-label"):
        classes.ClassCounts([5, 1], np.zeros((2, 2)), classes=["a", "b"], calibration="random")
    with refused("y", subject="prevalence.ClassCounts"):
        classes.ClassCounts(
            [[5, 1], [0, 0]], np.ones((2, 2, 2)), "ab", "by_truth", systems=["x", "y"]
        )
    table = pd.DataFrame({"verdict": ["a", None], "truth": ["a", "c"]})
    with refused(1, id="no-verdict"):
        classes.ClassCounts.from_frame(table, calibration="random")
    with refused(right=0):
        classes.Confusions(right=0)


@pytest.mark.own_model
@pytest.mark.sampling
def test_three_classes_of_xstest():
    """GPT-4's three-way verdicts on 450 answers of llama2new, 150 of them labelled."""
    table = pd.read_csv(shared("data/xstest/xstest_labels_compact.csv"))
    known = table[(table["model"] == "llama2new") & (table["gpt4_label"] != "INVALID")]
    shares = known["final_label"].value_counts(normalize=True)
    kept = np.random.default_rng(2024).permutation(len(known)) < 150
    counts = classes.ClassCounts.from_frame(
        known.assign(final_label=known["final_label"].where(kept)),
        calibration="random",
        verdict="gpt4_label",
        truth="final_label",
    )
    assert len(counts.classes) == 3
    fit = classes.fit(counts, random_seed=1)
    assert fit.converged, fit.cautions
    raw = counts.test / counts.test.sum()
    estimates = (fit.estimate(ci_prob=0.99), P.rogan_gladen(counts, ci_prob=0.99))
    for one in estimates:
        for name, share in shares.items():
            _, low, high = one["prevalence", name]
            assert low <= share <= high, (one.method, name)
    # uncorrected, the judge's share of the first class is out by more than sampling explains
    first = counts.classes[0]
    assert abs(raw[0] - shares[first]) > 3 * np.sqrt(0.25 / counts.test.sum())


# Pairs -------------------------------------------------------------------------------------------


def pairs(first, second, truth):
    """Verdicts in both orders, and human ones, in words."""
    words = np.array(["win", "tie", "loss"], object)
    told = [words[t] if t is not None else None for t in truth]
    columns = {"verdict": words[list(first)], "swapped": words[list(second)], "truth": told}
    return pd.DataFrame(columns)


@pytest.mark.slow
def test_two_orders_are_one_verdict_and_a_tie_where_they_differ():
    every = [(a, b) for a in range(3) for b in range(3)]
    table = pairs(*zip(*every, strict=True), [None] * 9)
    known = pairs([0, 1, 2, 0], [0, 1, 2, 2], [0, 1, 2, 0])
    counts = classes.ClassCounts.from_pairs(pd.concat([table, known]), calibration="by_truth")
    assert counts.classes == ("win", "tie", "loss")
    assert counts.test.tolist() == [1, 7, 1]  # three agree, six differ
    assert counts.labelled.tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
    assert counts.leanings == (4, 3)  # three of nine each, and the known (win, loss)
    assert counts.credit == (1, 0.5, 0)
    words = table.replace({"win": "A", "loss": "B"}).assign(truth=["A", "tie", "B"] + [None] * 6)
    other = classes.ClassCounts.from_pairs(words, calibration="random", classes=["A", "tie", "B"])
    assert other.test.sum() == 6
    with refused("A", "B", subject="prevalence.ClassCounts.from_pairs"):
        classes.ClassCounts.from_pairs(words, calibration="random")
    gap = table.assign(swapped=[None, *table["swapped"][1:]])
    with refused("unparsed=", subject="prevalence.ClassCounts.from_pairs"):
        classes.ClassCounts.from_pairs(gap, calibration="random")
    kept = pd.concat([gap, known])
    counts = classes.ClassCounts.from_pairs(kept, calibration="by_truth", unparsed="drop")
    assert (counts.test.tolist(), counts.unparsed) == ([0, 7, 1], 1)  # the first was a win twice


@pytest.mark.parametrize(
    ("first", "second", "named"), [(40, 15, True), (15, 40, True), (22, 30, False)]
)
def test_a_judge_who_looks_at_the_order_is_named(first, second, named):
    agree = [(0, 0)] * 30 + [(1, 1)] * 10 + [(2, 2)] * 30
    leaning = [(0, 1)] * first + [(2, 1)] * second
    orders = agree + leaning
    truth = [0] * 15 + [None] * 15 + [1] * 10 + [2] * 15 + [None] * (15 + first + second)
    counts = classes.ClassCounts.from_pairs(
        pairs(*zip(*orders, strict=True), truth), calibration="by_truth"
    )
    cautions = [c for c in P.rogan_gladen(counts).cautions if c.id == "position-bias"]
    assert bool(cautions) == named
    if named:
        place = "first" if first > second else "second"
        assert {place, 40} <= {*cautions[0].numbers.values()}


@pytest.mark.study
@pytest.mark.parametrize("seed", [1, 2])
def test_an_empty_cell_is_sampled_long_enough(seed):
    """With 1,000 draws of four chains R-hat was 1.011, or 371 draws in the tail were effective."""
    about = {"classes": ["win", "tie", "loss"], "calibration": "by_truth"}
    counts = classes.ClassCounts([50, 30, 20], [[18, 1, 1], [2, 15, 3], [0, 4, 16]], **about)
    assert "not-converged" not in {c.id for c in classes.fit(counts, random_seed=seed).cautions}


WINS = classes.ClassCounts(
    [50, 30, 20], [[18, 1, 1], [2, 15, 3], [0, 4, 16]], credit=(1, 0.5, 0), **THREE
)


def test_the_win_rate_counts_half_a_tie():
    made = P.rogan_gladen(WINS)
    expected = made["prevalence", "win"].value + made["prevalence", "tie"].value / 2
    value, low, high = made["win_rate"]
    assert_allclose(value, expected)
    credit = np.array([1, 0.5, 0])
    pair = WINS.test, WINS.labelled
    sd = np.sqrt(credit @ covariance(*pair, inverted(*pair)) @ credit)
    assert_allclose(high - low, 2 * 1.959964 * sd, rtol=1e-6)


@pytest.mark.study
@pytest.mark.filterwarnings("ignore::bayesjudge.ConvergenceWarning")  # few draws will do here
def test_the_win_rate_of_a_fit_counts_half_a_tie(tmp_path):
    fit = classes.fit(WINS, random_seed=1, draws=300, tune=300)
    assert_allclose(fit.draws("win_rate"), fit.draws("prevalence") @ [1, 0.5, 0])
    assert next(iter(fit.estimate().quantities)) == "win_rate"
    again = bj.load(fit.save(tmp_path / "fit.nc"))
    assert again.data.credit == WINS.credit
    assert bj.report(again) == bj.report(fit)


CREDITED = classes.ClassCounts(
    [30, 50, 20], [[10, 1, 1], [2, 9, 3], [0, 4, 16]], ["win", "tie", "loss"], "random",
    responses=["tie", "win", "loss"], credit=(2, 1, -1),
)  # fmt: skip


def credits_of(counts):
    """Credit of verdict and truth (nan: no label) of each item."""
    of_class = dict(zip(counts.classes, counts.credit, strict=True))
    of_verdict = np.array([of_class[name] for name in counts.responses])
    k, v = np.indices(counts.labelled.shape)
    f, y = (np.repeat(x.ravel(), counts.labelled.ravel())
            for x in (of_verdict[v], np.array(counts.credit)[k]))  # fmt: skip
    return f, y, np.repeat(of_verdict, counts.test)


def test_mean_credits_are_means_of_credits():
    f, y, rest = credits_of(CREDITED)
    made = {one.method.title: one["win_rate"] for one in classes.closed_forms(CREDITED)}
    every = np.concatenate([f, rest])
    for method, x in (("Judge's shares", every), ("Human labels only", y)):
        half = 1.959964 * x.std(ddof=1) / np.sqrt(x.size)
        assert_allclose(made[method], (x.mean(), x.mean() - half, x.mean() + half), rtol=1e-6)
    scores = P.scores.Scores(
        np.concatenate([f, rest]), np.concatenate([y, np.full(rest.size, np.nan)]),
        np.ones(f.size + rest.size), "random", (-1, 2), truth_scale=(-1, 2),
    )  # fmt: skip
    value = P.difference(scores)["mean_score"].value
    assert_allclose(made["Difference (PPI++)"].value, value)
    groups = [(np.mean(every == x), y[f == x]) for x in np.unique(every)]
    mean = sum(share * one.mean() for share, one in groups)
    assert_allclose(made["Post-stratified"].value, mean)
    within = sum(share**2 * one.var() / one.size for share, one in groups)
    between = sum(share * (one.mean() - mean) ** 2 for share, one in groups) / every.size
    low, high = made["Post-stratified"][1:]
    assert abs((high - low) / (2 * 1.96 * np.sqrt(within + between)) - 1) < 0.15


def test_a_judges_verdicts_are_read_by_name_in_any_order():
    order = [1, 0, 2]
    plain = classes.ClassCounts(
        CREDITED.test[order], CREDITED.labelled[:, order], CREDITED.classes, "random"
    )
    for one, other in zip(
        (*classes.closed_forms(CREDITED), P.rogan_gladen(CREDITED)),
        (*classes.closed_forms(plain), P.rogan_gladen(plain)),
        strict=True,
    ):
        for name in plain.classes:
            assert_allclose(one["prevalence", name], other["prevalence", name], err_msg=one.method)


def test_priors_put_each_classs_weight_on_its_own_verdict():
    """Verdicts in another order than the classes, and one that is no class."""
    how = {"classes": ["win", "loss"], "responses": ["loss", "win", "unread"]}
    counts = classes.ClassCounts([6, 3, 1], [[1, 5, 0], [4, 1, 1]], calibration="random", **how)
    shares, rows = classes.Confusions(right=3, wrong=1)._weights(counts)
    assert_allclose(shares, [0.5, 0.5])
    assert_allclose(rows, [[0.5, 3, 0.5], [3, 0.5, 0.5]])
    verdicts, each = classes.PredictiveShares(class_concentration=3)._weights(counts)
    assert_allclose(verdicts, np.full(3, 1 / 3))
    assert_allclose(each, np.full((3, 2), 1.5))


@pytest.mark.parametrize(("calibration", "total"), [("random", 1.0), ("by_truth", 3.0)])
def test_labels_chosen_by_the_truth_tell_of_the_verdict_only(calibration, total):
    """Chances of all cells sum to 1, or to 1 for each of three classes."""
    counts = replace(COUNTS, calibration=calibration)
    rng = np.random.default_rng(1)
    posterior = xr.Dataset(
        {
            "prevalence": (("chain", "draw", "class"), rng.dirichlet([1, 1, 1], (1, 2))),
            "confusion": (
                ("chain", "draw", "class", "verdict"),
                rng.dirichlet([1, 1, 1], (1, 2, 3)),
            ),
        },
        coords={"class": list(counts.classes), "verdict": list(counts.responses)},
    )
    counts = replace(counts, test=counts.test + 1, labelled=counts.labelled + 1)  # none is empty
    logs, _ = classes.Confusions()._item_log_likelihood(counts, posterior)
    known = counts.verdicts.is_labelled
    assert_allclose(np.exp(logs[..., ~known]).sum(axis=-1), 1)
    assert_allclose(np.exp(logs[..., known]).sum(axis=-1), total)


@pytest.mark.slow
def test_items_of_a_verdict_are_all_items_that_got_it():
    """The model of labels by verdict counts labelled items too, by verdict and class."""
    from pytensor import function

    labelled = [[1, 5, 0], [4, 1, 1]]
    counts = classes.ClassCounts(
        [6, 3, 1], labelled, classes=["win", "loss"], responses=["loss", "win", "unread"],
        calibration="by_verdict",
    )  # fmt: skip
    made = classes.build_model(counts, classes.PredictiveShares())
    seen = {v.name: made.rvs_to_values[v].eval() for v in made.observed_RVs}
    assert_allclose(seen["verdicts"], [11, 9, 2])
    assert_allclose(seen["labelled"], np.transpose(labelled))
    rng = np.random.default_rng(1)
    verdicts, each = rng.dirichlet([1, 1, 1]), rng.dirichlet([1, 1], 3)
    given = [made["verdict_share"], made["class_share"]]
    run = function(given, made["prevalence"], mode="FAST_COMPILE")
    assert_allclose(run(verdicts, each), verdicts @ each)


def test_two_classes_by_truth_and_of_strata_are_those_of_pass_and_fail():
    by_truth = P.Counts(1000, 620, 100, 90, 80, 56, calibration="by_truth")
    judge = P.naive(two(by_truth))["prevalence", "1"]
    assert_allclose(judge, P.naive(by_truth)["prevalence"], rtol=1e-12)
    n, k = [1000, 200], [760, 90]
    good, hits, bad, caught = [140, 30], [126, 24], [60, 45], [42, 36]
    cells = {"calibration": "random", "systems": "xy", "dim": "stratum"}
    counts = P.Counts(n, k, good, hits, bad, caught, **cells)
    rows = zip(hits, good, bad, caught, strict=True)
    tables = [[[hit, g - hit], [b - c, c]] for hit, g, b, c in rows]
    test = np.column_stack([k, np.subtract(n, k)])
    ours = P.difference(classes.ClassCounts(test, tables, ["1", "0"], **cells))
    expected = P.difference(counts)["overall_prevalence"]
    assert_allclose(ours["overall_prevalence", "1"], expected, rtol=1e-12)


def test_a_weight_for_all_classes_makes_shares_sum_to_1():
    raw = P.difference(CREDITED).quantities["prevalence"].raw
    assert_allclose(raw.sum(), 1, rtol=1e-12)


def test_errors_of_shares_partly_cancel_in_a_mean_credit():
    credit = np.array(CREDITED.credit)
    order = [1, 0, 2]  # a column for each class, in the order of the classes
    pair = CREDITED.test[order], CREDITED.labelled[:, order]
    sd = np.sqrt(credit @ covariance(*pair, inverted(*pair)) @ credit)
    _, low, high = P.rogan_gladen(CREDITED)["win_rate"]
    assert_allclose(high - low, 2 * 1.959964 * sd, rtol=1e-6)


def test_strata_are_weighed_by_their_items():
    """Two strata of unlike size: shares by hand, and what a mean credit makes of them."""
    test = np.array([[400, 100, 100], [20, 60, 20]])
    tables = np.array([[[20, 1, 1], [2, 9, 3], [1, 1, 9]], [[9, 2, 1], [1, 16, 3], [0, 4, 10]]])
    counts = classes.ClassCounts(test, tables, "abc", "random", systems=("x", "y"), dim="stratum",
                                 credit=(1, 0.5, 0))  # fmt: skip
    items = test.sum(axis=1) + tables.sum(axis=(1, 2))
    shares = items / items.sum()
    human = shares @ (tables.sum(axis=2) / tables.sum(axis=(1, 2))[:, None])
    made = P.human_only(counts)
    assert_allclose(made["win_rate"].value, human @ [1, 0.5, 0])
    assert_allclose([made["overall_prevalence", k].value for k in "abc"], human)
    parts = [inverted(*one) for one in zip(test, tables, strict=True)]
    spread = sum(
        share**2 * covariance(*one, x)
        for share, one, x in zip(shares, zip(test, tables, strict=True), parts, strict=True)
    )
    _, low, high = P.rogan_gladen(counts)["overall_prevalence", "b"]
    assert_allclose(high - low, 2 * 1.959964 * np.sqrt(spread[1, 1]), rtol=1e-6)
    exact = classes.exact(counts, classes.PredictiveShares())
    alone = [classes.exact(counts.system(name), classes.PredictiveShares()) for name in "xy"]
    means = shares @ [[one["prevalence", k].value for k in "abc"] for one in alone]
    assert_allclose([exact["overall_prevalence", k].value for k in "abc"], means, atol=2e-3)
    assert_allclose(exact["win_rate"].value, means @ [1, 0.5, 0], atol=2e-3)


def test_what_a_design_or_a_bare_verdict_does_not_tell_is_said():
    by_truth = classes.ClassCounts([25, 15, 10], COUNTS.labelled, **THREE)
    assert "design-mismatch" in {c.id for c in P.difference(by_truth).cautions}
    bare = classes.ClassCounts([25, 15, 10], [[9, 1, 0], [2, 6, 0], [1, 3, 0]], "abc", "random")
    made = P.post_stratified(bare)
    assert "no-labels" in {c.id for c in made.cautions}
    assert np.isnan(made["prevalence", "a"].value)
    # a clipped inverse does not sum to 1, the best shares inside the simplex do
    outside = classes.ClassCounts([50, 48, 2], COUNTS.labelled, **THREE)
    clipped = P.rogan_gladen(outside, method="inverse").quantities["prevalence"].value
    assert clipped.sum() > 1.001


def test_conjugate_draws_have_the_means_of_dirichlet_posteriors():
    counts = classes.ClassCounts(
        [30, 20, 10], [[9, 1, 2], [2, 6, 1], [1, 3, 7]], "abc", "by_verdict"
    )
    model = classes.PredictiveShares(verdict_concentration=3, class_concentration=1.5)
    items = counts.test + counts.labelled.sum(axis=0) + 1
    rows = counts.labelled.T + 0.5
    expected = items / items.sum() @ (rows / rows.sum(axis=1, keepdims=True))
    made = classes.exact(counts, model)
    assert_allclose([made["prevalence", k].value for k in "abc"], expected, atol=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("calibration", ["random", "by_truth"])
def test_gibbs_draws_have_the_posteriors_mean(calibration):
    """Of a small table, by weighing draws from the prior given the labels alone."""
    counts = classes.ClassCounts([9, 4, 7], [[4, 1, 0], [1, 3, 1], [0, 1, 5]], "abc", calibration)
    rng, size = np.random.default_rng(4), 100_000
    rows = [rng.dirichlet(np.full(3, 0.5) + 0.5 * np.eye(3)[k] + counts.labelled[k], size)
            for k in range(3)]  # fmt: skip
    known = counts.labelled.sum(axis=1) if calibration == "random" else 0
    shares = rng.dirichlet(np.full(3, 2 / 3) + known, size)
    log = xlogy(counts.test, sum(shares[:, [k]] * rows[k] for k in range(3))).sum(axis=1)
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    made = classes.exact(counts)
    for k, name in enumerate("abc"):
        x = shares[:, k]
        mean = weight @ x
        sd = np.sqrt(weight @ (x - mean) ** 2)
        error = np.sqrt((weight**2 * (x - mean) ** 2).sum())
        assert abs(made["prevalence", name].value - mean) < SIGMAS * np.hypot(error, sd / 45)


@pytest.mark.slow
def test_the_win_rate_covers():
    rng, runs, covered = np.random.default_rng(3), 1000, 0
    confusion = np.array([[0.8, 0.15, 0.05], [0.2, 0.6, 0.2], [0.05, 0.15, 0.8]])
    shares, credit = np.array([0.45, 0.2, 0.35]), np.array([1, 0.5, 0])
    for _ in range(runs):
        rows = [rng.multinomial(60, row) for row in confusion]
        test = rng.multinomial(800, shares @ confusion)
        counts = classes.ClassCounts(test, rows, credit=credit, **THREE)
        _, low, high = P.rogan_gladen(counts)["win_rate"]
        covered += low <= shares @ credit <= high
    assert abs(covered / runs - 0.95) < 0.015 + 5 * np.sqrt(0.95 * 0.05 / runs)


# Every label design, systems, strata, verdicts that could not be read ----------------------------

MANY = P.Counts(1000, 760, 140, 126, 60, 42, calibration="random")
FEW_ERRORS = P.Counts(500, 430, 52, 50, 8, 7, calibration="random")
FIVE = {
    "shares": (0.4, 0.2, 0.2, 0.1, 0.1),
    "classes": tuple("abcde"),
    "items": 1000,
    "labelled": 120,
}


@pytest.mark.parametrize("counts", [MANY, FEW_ERRORS], ids=["many errors", "few errors"])
def test_two_classes_are_the_closed_forms_of_pass_and_fail(counts):
    for form in (P.naive, P.human_only, P.difference, P.post_stratified):
        expected = form(counts)["prevalence"]
        assert_allclose(form(two(counts))["prevalence", "1"], expected, rtol=1e-12)
    by_verdict = P.Counts(900, 650, 62, 46, 38, 34, calibration="by_verdict")
    names = [one.method.title for one in classes.closed_forms(two(by_verdict))]
    assert names == ["Judge's shares", "Post-stratified"]


@pytest.mark.slow
@pytest.mark.parametrize("calibration", ["random", "by_truth", "by_verdict"])
def test_two_classes_are_the_quadrature(calibration):
    counts = P.Counts(60, 40, 12, 11, 10, 7, calibration=calibration)
    model = None if calibration == "by_verdict" else P.ErrorRates(better_than_chance=False)
    if calibration == "by_verdict":
        model = P.PredictiveValues(better_than_chance=False)
    expected = P.exact(counts, model, interval="eti")["prevalence"]
    found = classes.exact(two(counts))["prevalence", "1"]
    # of 2,000 effective draws, ends are off by about .06 standard deviations
    sd = (expected.high - expected.low) / 3.92
    assert_allclose(found, expected, atol=4 * 0.06 * sd)
    assert abs(found.value - expected.value) < 4 * sd / np.sqrt(2000)


@pytest.mark.slow
def test_few_labels_of_five_classes_do_better_than_alone():
    counts = classes.ClassCounts.from_frame(
        classes.simulate(**FIVE, random_seed=3), calibration="random"
    )
    made = {one.method.title: one for one in (*classes.closed_forms(counts), classes.exact(counts))}
    widths = {
        name: np.ptp([one.quantities["prevalence"].low, one.quantities["prevalence"].high], axis=0)
        for name, one in made.items()
    }
    alone = widths.pop("Human labels only")
    assert alone.max() < 0.18
    assert set(widths) == {
        *(JUDGE_SHARES.title, PPI_TUNED.title, POST_STRATIFIED.title, EXACT_CLASSES.title)
    }
    for name, own in widths.items():
        assert (own < alone).all(), name
    shares = made["Difference (PPI++)"].quantities["prevalence"].raw
    assert_allclose(shares.sum(), 1, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("runs", study_but([60, 150], 60))
def test_five_classes_are_covered(runs):
    methods = (P.difference, P.post_stratified, P.human_only)
    inside = np.zeros((len(methods), 5))
    for seed in range(runs):
        counts = classes.ClassCounts.from_frame(
            classes.simulate(**FIVE, random_seed=seed), calibration="random"
        )
        for i, method in enumerate(methods):
            found = method(counts).quantities["prevalence"]
            inside[i] += (found.low <= FIVE["shares"]) & (FIVE["shares"] <= found.high)
    noise = np.sqrt(0.95 * 0.05 / runs / 5)
    assert_allclose((inside / runs).mean(axis=1), 0.95, atol=4 * noise + 0.01)


def several(**more):
    """Three systems, or strata, of three classes."""
    tables = [classes.simulate(random_seed=i, labelled=90 + 60 * i).assign(part=f"s{i}")
              for i in range(3)]  # fmt: skip
    table = pd.concat(tables, ignore_index=True)
    return classes.ClassCounts.from_frame(table, calibration="random", **more)


@pytest.mark.slow
def test_each_system_is_estimated_as_if_alone():
    counts = several(by="part")
    assert counts.systems == ("s0", "s1", "s2")
    for method in (*classes.closed_forms(counts), P.rogan_gladen(counts)):
        alone = {
            one.method.title: one
            for one in (*classes.closed_forms(counts.system("s1")),
                        P.rogan_gladen(counts.system("s1")))
        }[method.method.title]  # fmt: skip
        for name in counts.classes:
            row = method["prevalence", "s1", name]
            assert_allclose(row, alone["prevalence", name], rtol=1e-12)
    exact = classes.exact(counts)
    other = classes.exact(counts.system("s1"))
    for name in counts.classes:
        row, one = exact["prevalence", "s1", name], other["prevalence", name]
        assert_allclose(row, one, atol=4 * 0.06 * (one.high - one.low) / 3.92)
    pooled = classes.exact(counts, classes.Confusions(pooling="full"))
    assert pooled.quantities["confusion"].dims == ("class", "verdict")
    bare = classes.ClassCounts(
        counts.test, counts.labelled * [[[1]], [[0]], [[1]]], counts.classes, "random",
        systems=counts.systems,
    )  # fmt: skip
    with refused("s1", id="no-label-here"):
        classes.exact(bare)
    assert np.isfinite(classes.exact(bare, classes.Confusions(pooling="full")).table["value"]).all()


@pytest.mark.slow
def test_strata_add_up_to_one_whole():
    strata, whole = several(stratum="part"), several()
    for method in (P.naive, P.human_only, P.difference,
                   P.post_stratified, P.rogan_gladen, classes.exact):  # fmt: skip
        overall, alone = method(strata), method(whole)
        for name in strata.classes:
            row, one = overall["overall_prevalence", name], alone["prevalence", name]
            # strata drawn alike: the whole is known as well as without them, up to their chance
            assert abs(row.value - one.value) < (one.high - one.low) / 4, method
            assert 0.8 < (row.high - row.low) / (one.high - one.low) < 1.35, method
    assert "stratum-shares" in {one.id for one in P.difference(strata).assumptions}


def test_known_propensities_are_weighed():
    rng = np.random.default_rng(4)
    truth = rng.choice(["a", "b"], 4000, p=[0.7, 0.3])
    verdict = np.where(rng.random(4000) < 0.8, truth, np.where(truth == "a", "b", "a"))
    propensity = np.where(truth == "a", 0.05, 0.2) * (rng.random(4000) < 0.5) + 0.02
    known = rng.random(4000) < propensity
    columns = {"verdict": verdict, "truth": np.where(known, truth, None), "p": propensity}
    table = pd.DataFrame(columns)
    counts = classes.ClassCounts.from_frame(table, calibration="known_propensity", propensity="p")
    assert counts.propensity.tolist() == [0.02, 0.07, 0.22]
    raw = np.mean(truth[known] == "a")
    assert raw < 0.55  # what leaving the propensities out would say
    for one in (*classes.closed_forms(counts)[1:], classes.exact(counts)):
        _, low, high = one["overall_prevalence", "a"]
        assert low < np.mean(truth == "a") < high, one.method
        assert high - low < 0.25


@pytest.mark.slow
def test_a_verdict_that_could_not_be_read_is_a_verdict_or_dropped():
    table = classes.simulate(random_seed=5, items=600, labelled=200)
    lost = np.random.default_rng(5).random(800) < 0.15
    table["verdict"] = table["verdict"].where(~lost, "INVALID")
    words = {"calibration": "random", "missing_value": "INVALID"}
    with pytest.raises(bj.InputError, match=r"unparsed='verdict'.* or unparsed='drop'"):
        classes.ClassCounts.from_frame(table, **words)
    kept = classes.ClassCounts.from_frame(table, **words, unparsed="verdict")
    dropped = classes.ClassCounts.from_frame(table, **words, unparsed="drop")
    assert kept.responses == ("a", "b", "c", "(unparsed)")
    assert kept.test.sum() + kept.labelled.sum() == 800
    assert dropped.unparsed == lost.sum() == 800 - dropped.test.sum() - dropped.labelled.sum()
    assert "unparsed-verdicts" in {c.id for c in P.difference(dropped).cautions}
    for one in (*classes.closed_forms(kept)[1:], P.rogan_gladen(kept), classes.exact(kept)):
        for name, share in zip("abc", (0.5, 0.3, 0.2), strict=True):
            _, low, high = one["prevalence", name]
            assert low - 0.02 < share < high + 0.02, one.method


@pytest.mark.slow
def test_one_exact_takes_every_table_that_has_a_posterior():
    assert P.exact is classes.exact is P.items.exact
    counts = several()
    one, other = P.exact(counts), classes.exact(counts, interval="eti")
    assert one["prevalence", counts.classes[0]] == other["prevalence", counts.classes[0]]
    with pytest.raises(bj.InputError, match="Counts"):
        P.exact(COUNTS, target="items")
    with refused(id="no-posterior"):
        P.exact(bj.panel.Votes([[1]], [1], [0], "g", "a", calibration="random"))


@pytest.mark.slow
def test_compare_puts_the_exact_posterior_beside_the_closed_forms():
    counts = several()
    made = classes.compare(counts)
    assert EXACT_CLASSES.title in set(made["method"])
    with refused(id="other-design"):
        classes.compare(COUNTS, model=classes.PredictiveShares())


KNOWN = np.array([[2, 0, 1], [0, 1, 1]])
FEW = {
    "confusions": ([2, 1, 1], "random", classes.Confusions()),
    "other items": ([2, 1, 1], "by_truth", classes.Confusions()),
    "pooled": ([[1, 1, 0], [0, 1, 1]], "random", classes.Confusions(pooling="full")),
    "predictive": ([2, 1, 1], "by_verdict", classes.PredictiveShares()),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FEW)
def test_summing_the_classes_out_gives_the_collapsed_model(name):
    test, calibration, model = FEW[name]
    several = np.ndim(test) == 2
    counts = classes.ClassCounts(
        test, [KNOWN, KNOWN] if several else KNOWN, "ab", calibration, responses="abc",
        systems="xy" if several else None,
    )  # fmt: skip
    made = [classes.build_model(counts, model, collapsed=c) for c in (True, False)]
    density = [m.compile_logp(jacobian=False, mode="FAST_COMPILE") for m in made]
    rng, gaps = np.random.default_rng(3), []
    for _ in range(2):
        start = made[0].initial_point()
        point = {k: v + rng.normal(0, 0.5, np.shape(v)) for k, v in start.items()}
        ways = itertools.product(range(2), repeat=int(counts.test.sum()))
        gaps.append(
            density[0](point)
            - logsumexp([density[1]({**point, "item_truth": np.array(z)}) for z in ways])
        )
    np.testing.assert_allclose(gaps, gaps[0], atol=1e-9)  # the multinomial coefficients


def test_classes_that_differ_by_case_or_blanks_only_are_one():
    said = ["right", "partly  Right", "Partly right", "wrong", "N/A", "right"]
    true = ["Right", "partly right", None, "wrong", None, "n/a"]
    rows = pd.DataFrame({"verdict": said, "truth": true})
    named = ["right", "partly right", "wrong"]
    how = {"calibration": "random", "missing_value": "n/a", "unparsed": "drop"}
    counts = classes.ClassCounts.from_frame(rows, classes=named, **how)
    assert counts.classes == tuple(named)
    assert counts.labelled.tolist() == np.eye(3).tolist()
    assert counts.test.tolist() == [1, 1, 0]
    told = "'Partly right', 'partly  Right' read as partly right; 'Right' read as right"
    assert sorted(counts.spelling.split("; ")) == told.split("; ")
    # of classes that nobody named, the spelling that occurs most
    assert "right" in classes.ClassCounts.from_frame(rows, **how).classes
    both = classes.ClassCounts.from_frame(rows, classes=["Right", *named], **how)
    assert both.labelled.sum(axis=1).tolist() == [1, 0, 1, 1]  # named as two, they are two
