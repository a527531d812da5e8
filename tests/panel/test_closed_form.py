"""Voting, Rogan-Gladen, Dawid-Skene by EM, and what carries labels over."""

import json
import time

import numpy as np
import pytest
from conftest import shared, study_but
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused
from scipy.stats import binomtest

import bayesjudge as bj
from bayesjudge.core.methods import HUMAN_ONLY, JUDGE_BY_JUDGE
from bayesjudge.panel import _em as em
from bayesjudge.panel.voting import ensemble_rates, true_prevalence, verdicts
from tests.panel.conftest import anesthesia, caries, code_feedback, crowd

Votes, VotingRule = bj.panel.Votes, bj.panel.VotingRule


def votes_of(rows, truth=None):
    truth = [-1] * len(rows) if truth is None else truth
    return Votes(
        rows,
        truth,
        [0] * len(rows),
        ["g"],
        [f"j{i}" for i in range(len(rows[0]))],
        calibration="random",
    )


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (VotingRule("majority"), [False, True, False]),
        (VotingRule("at_least_valid", 2), [False, True, False]),
        (VotingRule("at_least_valid", 1), [False, True, True]),
        (VotingRule("veto", 1), [True, False, False]),
        (VotingRule("veto", 2), [True, True, True]),
    ],
)
def test_missing_votes_count_as_each_rule_says(rule, expected):
    # nobody voted; two pass and one fails; one passes and one fails
    votes = votes_of([[-1, -1, -1], [1, 1, 0], [1, 0, -1]])
    order = [votes.votes.tolist().index(row) for row in ([-1, -1, -1], [1, 1, 0], [1, 0, -1])]
    assert verdicts(votes, rule)[order].tolist() == expected


@pytest.mark.slow
@pytest.mark.parametrize("level", ["fc", "fcnhp"])
def test_veto_reproduces_the_published_errors(level):
    reference = json.loads(shared("reference/panel.json").read_text())
    published = reference["veto_max_error"][level]
    known = {k: v["official_pGa_constant"] for k, v in reference["table1"].items()}
    votes = code_feedback(level)
    truth = np.array([known[name] for name in votes.generators])
    for kind, key in (("veto", "invalid_votes_n_1_14"), ("at_least_valid", "valid_votes_m_1_14")):
        for threshold in range(1, 15):
            table = bj.panel.voting(votes, VotingRule(kind, threshold)).table
            worst = np.abs(table["value"].to_numpy() - truth).max()
            assert worst == pytest.approx(published[key][threshold - 1], abs=1e-12)


@pytest.mark.slow
def test_veto_predicts_the_published_precision():
    reference = json.loads(shared("reference/panel.json").read_text())
    votes = code_feedback("fc")
    for name, row in reference["veto_predicted_precision"]["fc"].items():
        found = [
            bj.panel.voting(votes, VotingRule("veto", n))["prevalence", name].value
            for n in range(1, 15)
        ]
        assert_allclose(found, row, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("level", ["fc", "fcnhp"])
def test_error_rates_of_judges_are_the_published_ones(level):
    published = json.loads(shared("reference/panel.json").read_text())["tpr_tnr"][level]
    found_rates = bj.panel.rogan_gladen(code_feedback(level))
    for key, quantity in (("tpr", "sensitivity"), ("tnr", "specificity")):
        found = [found_rates[quantity, name].value for name in published["validators"]]
        assert_allclose(found, published[key], rtol=1e-12)


@pytest.mark.slow
def test_the_published_ensemble():
    # Jain et al. (2025), Section 4: veto of 4 has a maximum error of 2.8 %, and 95.5 % and 30.9 %
    sensitivity, specificity = bj.panel.ensemble_rates(code_feedback(), VotingRule("veto", 4))
    assert sensitivity == pytest.approx(0.955, abs=0.0005)
    assert specificity == pytest.approx(0.309, abs=0.0005)
    assert bj.panel.choose_threshold(code_feedback()) == VotingRule("veto", 4)


@pytest.mark.slow
def test_a_threshold_is_chosen_without_the_generator_that_has_no_labels():
    votes = code_feedback()
    name = votes.generators[0]
    others = votes.only(*votes.generators[1:])
    assert bj.panel.choose_threshold(votes.hide(name)) == bj.panel.choose_threshold(others)


def test_rogan_gladen_of_one_judge_is_the_formula():
    rows = [[1]] * 90 + [[0]] * 10 + [[1]] * 30 + [[0]] * 70 + [[1]] * 62 + [[0]] * 38
    votes = Votes(
        rows, [1] * 100 + [0] * 100 + [-1] * 100, [0] * 200 + [1] * 100, ["c", "t"], ["j"]
    )
    value = bj.panel.rogan_gladen(votes)["prevalence", "t"].value
    assert value == pytest.approx((0.62 + 0.7 - 1) / (0.7 + 0.9 - 1))


def test_em_reproduces_anesthesia():
    # Dawid & Skene (1979), as recomputed for the data: shares and log-likelihood
    found = em.solve(em.Problem(anesthesia()))
    assert_allclose(found.rates.shares[0], [0.400, 0.422, 0.112, 0.067], atol=5e-4)
    assert found.log_likelihood == pytest.approx(-190.731, abs=5e-4)


def test_em_reproduces_caries():
    # Espeland & Handelman (1989), 3,859 teeth
    found = em.solve(em.Problem(caries()))
    assert found.rates.shares[0, 1] == pytest.approx(0.1997, abs=1e-4)
    assert found.log_likelihood == pytest.approx(-7410.942, abs=1e-3)
    sensitivity = [0.404, 0.706, 0.591, 0.485, 0.913]
    specificity = [0.994, 0.898, 0.987, 0.969, 0.696]
    assert_allclose(found.rates.confusion[:, 1, 1], sensitivity, atol=6e-4)
    assert_allclose(found.rates.confusion[:, 0, 0], specificity, atol=6e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "accuracy"), [("rte", 0.9275), ("bluebird", 0.898)])
def test_em_is_as_accurate_as_published(name, accuracy):
    votes = crowd(name)
    rates = em.solve(em.Problem(votes.hide("all"))).rates
    unlabelled = em.Problem(votes)
    unlabelled.known[:] = False
    unlabelled.labels = unlabelled.labels[:0]
    best = unlabelled.expect(rates)[1].argmax(axis=1)
    assert votes.count[best == votes.truth].sum() / votes.n_items >= accuracy - 5e-4


@pytest.mark.slow
def test_em_never_lowers_the_likelihood():
    problem = em.Problem(code_feedback().hide("gpt-4o", "deepseek-chat"))
    path = [em.solve(problem, max_iterations=n).log_likelihood for n in range(1, 12)]
    assert (np.diff(path) > -1e-9).all()


def test_em_of_labelled_items_is_counting():
    votes = Votes.from_frame(bj.panel.simulate(items=200, labelled=200, random_seed=1))
    rates = em.solve(em.Problem(votes)).rates
    assert_allclose(rates.shares[:, 1], true_prevalence(votes))
    tally = votes.tally().sum(axis=0)
    assert_allclose(rates.confusion[:, 1, 1], tally[1, :, 1] / tally[1, :, :2].sum(axis=1))


def posterior_curvature(problem, rates, pseudo):
    """Standard errors of the logits of shares, by differences of the log posterior."""
    rows = [*rates.shares, *rates.confusion.reshape(-1, rates.confusion.shape[-1])]
    start, cut = np.concatenate([np.log(r[:-1] / r[-1]) for r in rows]), len(rates.shares)

    def log(at):
        free, found = iter(at), []
        for row in rows:
            p = np.exp([*(next(free) for _ in row[1:]), 0])
            found.append(p / p.sum())
        made = em.Rates(np.array(found[:cut]), np.array(found[cut:]).reshape(rates.confusion.shape))
        return (
            problem.expect(made)[0] @ problem.count + pseudo * np.log(np.concatenate(found)).sum()
        )

    step, units = 2e-3, np.eye(len(start))
    hessian = [
        [
            sum(s * t * log(start + step * (s * u + t * v)) for s in (1, -1) for t in (1, -1))
            for v in units
        ]
        for u in units
    ]
    sigma = np.linalg.inv(-np.array(hessian) / (4 * step**2))
    return np.sqrt(np.diag(sigma))


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["skip", "response"])
def test_curvature_in_closed_form_is_that_of_the_posterior(missing):
    votes = Votes.from_frame(
        bj.panel.simulate(
            **{"prevalence": (0.8, 0.6), "sensitivity": (0.9, 0.8, 0.7)},
            **{"specificity": (0.7, 0.8, 0.6), "items": 80, "labelled": 20, "random_seed": 1},
        ),
        calibration="random",
    )
    problem = em.Problem(votes, missing)
    inner = em.solve(problem, pseudo=0.5)
    shares, rates = em.covariance(problem, inner.rates, em.Pseudo(0.5, 0.5))
    expected = posterior_curvature(problem, inner.rates, 0.5)
    assert_allclose(shares[:, 1], expected[:2], rtol=1e-3)
    if missing == "skip":  # with two responses a rate has one coordinate
        assert_allclose(rates[..., 1].ravel(), expected[2:], rtol=1e-3)


@pytest.mark.slow
def test_em_at_the_size_of_a_crowd():
    # 461 raters with 20 rates each: a dense numerical curvature did not return in 400 s
    rng, items, raters = np.random.default_rng(1), 2000, 461
    truth = rng.integers(0, 5, items)
    given = np.full((items, raters), -1)
    for i in range(items):
        who = rng.permutation(raters)[:6]
        given[i, who] = np.where(rng.random(6) < 0.7, truth[i], rng.integers(0, 5, 6))
    votes = Votes(
        *(given, np.full(items, -1), np.zeros(items, int), ["g"], [f"r{j}" for j in range(raters)]),
        classes=list("abcde"),
    )
    problem = em.Problem(votes)
    inner = em.solve(problem, pseudo=0.5, tolerance=1e-6)
    begin = time.process_time()
    shares, rates = em.covariance(problem, inner.rates, em.Pseudo(0.5, 0.5))
    assert time.process_time() - begin < 60
    assert np.isnan(shares).all()
    assert np.isnan(rates).all()


@pytest.mark.slow
def test_more_judges_than_intervals_can_be_made_for_are_named_in_a_caution():
    rng = np.random.default_rng(1)
    for judges in (10, em.MOST_RATES // 2):  # two free rates a judge, and the share
        given = (rng.random((4, judges)) < 0.8).astype(int)
        about = ([1, -1, -1, -1], [0] * 4, ["g"], [f"r{j}" for j in range(judges)])
        votes = Votes(given, *about, calibration="random")
        found = bj.panel.dawid_skene_em(votes)
        cautions = [one.text for one in found.cautions if one.id == "no-interval"]
        assert found.table["low"].isna().all() == bool(cautions) == (judges > 10)
    assert "the 1,500 judges" in cautions[0]


def test_half_a_vote_keeps_a_rater_of_few_items_from_being_taken_for_perfect():
    votes = votes_of([[1, 1, 1], [1, 1, 0], [0, 1, 0], [0, 0, 0]], [-1, -1, -1, -1])
    likely, mode = (bj.panel.dawid_skene_em(votes, prior_count=c) for c in (0, 0.5))
    assert "maximum likelihood" in likely.method.title
    rates = mode.table.loc[mode.table["quantity"] != "prevalence", "value"]
    assert rates.between(0.01, 0.99).all()
    assert not likely.table["value"].between(0.01, 0.99).all()
    with pytest.raises(bj.InputError, match="prior_count=-1"):
        bj.panel.dawid_skene_em(votes, prior_count=-1)


def test_a_third_response_says_what_skipping_does_not():
    rng = np.random.default_rng(1)
    truth = rng.random(4000) < 0.7
    rows = (rng.random((4000, 3)) < np.where(truth, 0.9, 0.3)[:, None]).astype(int)
    rows[rng.random((4000, 3)) < np.where(truth, 0.05, 0.6)[:, None]] = -1
    votes = votes_of(rows.tolist(), [int(t) if i < 1000 else -1 for i, t in enumerate(truth)])
    widths = [
        np.subtract(*bj.panel.dawid_skene_em(votes, missing=missing).table.iloc[0][["high", "low"]])
        for missing in ("skip", "response")
    ]
    assert widths[1] < 0.9 * widths[0]


@pytest.mark.slow
def test_difference_is_exact_where_all_items_are_labelled():
    votes = Votes.from_frame(bj.panel.simulate(labelled=300, random_seed=1))
    table = bj.panel.difference(votes).table
    assert_allclose(table["value"], true_prevalence(votes))
    assert_allclose(table["high"], table["low"])


@pytest.mark.slow
def test_difference_about_the_population_holds_the_drawing_of_the_items():
    """Items drawn anew each time: an interval about these very items is too short for them."""
    rng, runs, items, share = np.random.default_rng(4), 400, 60, 0.7
    covered = dict.fromkeys(("items", "population"), 0)
    for _ in range(runs // 20):
        truth = (rng.random(20 * items) < share).astype(int)
        wrong = rng.random(20 * items) < 0.2
        known = np.where(np.tile(np.arange(items), 20) < 40, truth, -1)
        generator, names = np.repeat(np.arange(20), items), [f"g{i}" for i in range(20)]
        votes = Votes(
            (truth ^ wrong)[:, None], known, generator, names, ["judge"], calibration="random"
        )
        for target in covered:
            table = bj.panel.difference(votes, target=target).table
            covered[target] += ((table["low"] <= share) & (share <= table["high"])).sum()
    noise = 5 * np.sqrt(0.95 * 0.05 / runs)
    assert covered["items"] / runs < 0.95 - noise < covered["population"] / runs
    with refused("target="):
        bj.panel.difference(votes, target="everything")


def flipped(votes):
    """Good called bad, and every vote for pass one for fail."""
    turned = (np.where(x == -1, -1, 1 - x) for x in (votes.votes, votes.truth))
    return Votes(
        *turned,
        votes.generator,
        votes.generators,
        votes.judges,
        count=votes.count,
        calibration="random",
    )


@pytest.mark.slow
@pytest.mark.parametrize("labelled", [8, 100])
def test_difference_with_the_classes_flipped_is_the_mirror_image(labelled):
    full = Votes.from_frame(
        bj.panel.simulate(items=150, labelled=labelled, random_seed=2), calibration="random"
    )
    silent = np.random.default_rng(1).random(len(full.count)) < 0.3
    rows = np.where(silent[:, None], -1, full.votes)
    votes = Votes(
        *(rows, full.truth, full.generator, full.generators, full.judges),
        count=full.count,
        calibration="random",
    )
    one, other = (bj.panel.difference(v).table for v in (votes, flipped(votes)))
    assert_allclose(one["value"], 1 - other["value"], atol=1e-12)
    assert_allclose(one["low"], 1 - other["high"], atol=1e-12)


def test_difference_of_items_that_nobody_voted_on_is_what_people_say():
    votes = votes_of([[-1, -1]] * 60, [1] * 12 + [0] * 8 + [-1] * 40)
    assert bj.panel.difference(votes)["prevalence", "g"].value == pytest.approx(0.6)


@pytest.mark.parametrize(("good", "bad"), [(54, 5), (34, 0)])
def test_labels_without_an_error_leave_room_for_one(good, bad):
    """As many errors as would go unseen one time in twenty are within the interval."""
    rows = [[1, 1]] * good + [[0, 0]] * bad + [[1, 1]] * 3600 + [[0, 0]] * 400
    votes = votes_of(rows, [1] * good + [0] * bad + [-1] * 4000)
    value, low, high = bj.panel.difference(votes)["prevalence", "g"]
    unseen = 1 - 0.05 ** (1 / (good + bad))
    assert value - low > 0.8 * unseen
    assert min(high - value, 1 - value) > 0.2 * unseen
    assert high - low < 6 / (good + bad)


@pytest.mark.slow
@pytest.mark.parametrize("errors", [(0.0, 0.0), (0.05, 0.0), (0.0, 0.3)])
@pytest.mark.parametrize("labelled", [10, 34, 100])
def test_difference_covers_with_few_labels_and_few_errors(labelled, errors):
    rng, runs, items, covered = np.random.default_rng(3), 400, 1000, 0
    generator = np.repeat(np.arange(20), items)
    for _ in range(runs // 20):
        truth = (rng.random(20 * items) < 0.9).astype(int)
        wrong = rng.random(20 * items) < np.where(truth, *errors)
        known = np.where(np.tile(np.arange(items), 20) < labelled, truth, -1)
        names = [f"g{i}" for i in range(20)]
        votes = Votes(
            (truth ^ wrong)[:, None], known, generator, names, ["judge"], calibration="random"
        )
        table = bj.panel.difference(votes).table
        share = truth.reshape(20, items).mean(axis=1)
        covered += ((table["low"] <= share + 1e-9) & (share <= table["high"] + 1e-9)).sum()
    assert covered / runs > 0.94 - 5 * np.sqrt(0.95 * 0.05 / runs)


@pytest.mark.slow
def test_logit_shift_leaves_the_generator_itself_out():
    votes = code_feedback()
    for name in votes.generators[:2]:
        hidden = bj.panel.logit_shift(votes.hide(name))
        row = ("prevalence", name)
        assert hidden[row] == pytest.approx(bj.panel.logit_shift(votes)[row])


@pytest.mark.slow
def test_model_assisted_knows_what_is_labelled():
    votes = Votes.from_frame(bj.panel.simulate(labelled=300, random_seed=1))
    table = bj.panel.model_assisted(votes).table
    assert_allclose(table["value"], true_prevalence(votes))
    assert_array_equal(table["high"], table["low"])  # these items are known


@pytest.mark.slow
def test_judges_in_another_order_say_the_same():
    votes = Votes.from_frame(bj.panel.simulate(random_seed=4), calibration="random")
    order = [2, 0, 3, 1]
    turned = Votes(
        votes.votes[:, order],
        votes.truth,
        votes.generator,
        votes.generators,
        [votes.judges[j] for j in order],
        count=votes.count,
        calibration="random",
    )
    one, other = (bj.panel.dawid_skene_em(v) for v in (votes, turned))
    for quantity, where, row in one.rows():
        assert other[quantity, *where.values()] == pytest.approx(row, abs=1e-6)


@pytest.mark.fast_one_in(4)
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda v: bj.panel.rogan_gladen(v.hide(*v.generators)), "no labelled item is good"),
        (lambda v: bj.panel.logit_shift(v.hide("g1", "g2")), "at least 2"),
        (lambda v: bj.panel.model_assisted(v.hide(*v.generators)), "there are none; label some"),
        (lambda v: bj.panel.model_assisted(v, target="all"), "target must be one of"),
        (lambda v: bj.panel.closed_forms(v, target="all"), "target must be one of"),
        (lambda v: bj.panel.choose_threshold(v.hide(*v.generators)), "no item is labelled"),
        (lambda v: bj.panel.VotingRule("veto", 0), "threshold=0"),
        (lambda v: bj.panel.VotingRule("majority", 2), "no threshold"),
        (lambda v: bj.panel.regression(v, solver="newton"), "exact or source"),
        (lambda v: v.hide("g9"), "no generator"),
    ],
)
def test_refusals(call, words):
    votes = Votes.from_frame(bj.panel.simulate(random_seed=1), calibration="random")
    with pytest.raises(bj.InputError, match=words):
        call(votes)


@pytest.mark.slow
@pytest.mark.parametrize("n_labelled", [50, 150])
@pytest.mark.parametrize("runs", study_but([25, 60], 25))
def test_difference_and_model_cover_what_was_simulated(n_labelled, runs):
    found = {bj.panel.difference: [], bj.panel.model_assisted: []}
    for seed in range(runs):
        full = Votes.from_frame(
            bj.panel.simulate(labelled=300, shared_effect=1.0, random_seed=seed)
        )
        rows = np.repeat(np.arange(len(full.count)), full.count)
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(rows))
        truth = full.truth[rows].astype(int)
        truth[order[3 * n_labelled :]] = -1
        votes = Votes(
            full.votes[rows],
            truth,
            full.generator[rows],
            full.generators,
            full.judges,
            calibration="random",
        )
        for method, covered in found.items():
            table = method(votes, ci_prob=0.9).table
            share = true_prevalence(full)
            covered.extend((table["low"] <= share) & (share <= table["high"]))
    for method, covered in found.items():
        noise = 5 * np.sqrt(0.9 * 0.1 / len(covered))
        assert abs(np.mean(covered) - 0.9) < noise, method.__name__


@pytest.mark.slow
@pytest.mark.parametrize("runs", study_but([40, 100], 40))
def test_dawid_skene_covers_shares_and_rates_of_independent_judges(runs):
    truth = {
        **{("prevalence", f"g{i}"): share for i, share in ((1, 0.9), (2, 0.75), (3, 0.6))},
        **{("sensitivity", j): x for j, x in zip("abcd", (0.95, 0.9, 0.85, 0.8), strict=True)},
        **{("specificity", j): x for j, x in zip("abcd", (0.6, 0.7, 0.8, 0.9), strict=True)},
    }
    held = dict.fromkeys(truth, 0)
    for seed in range(runs):
        table = bj.panel.simulate(random_seed=seed)
        made = bj.panel.dawid_skene_em(Votes.from_frame(table, calibration="random"))
        for entry, value in truth.items():
            held[entry] += made[entry].low <= value <= made[entry].high
    least = 0.95 - 5 * np.sqrt(0.95 * 0.05 / runs)
    assert min(held.values()) >= least * runs


@pytest.mark.slow
def test_a_closed_form_that_refuses_is_a_caution_of_the_first():
    votes = Votes.from_frame(bj.panel.simulate(random_seed=1), calibration="random")
    made = bj.panel.closed_forms(votes)
    assert len(made) == 8
    # averages over judges say that they have no interval
    assert [c.id for one in made for c in one.cautions] == ["no-interval"]
    first, *others = bj.panel.closed_forms(votes.hide(*votes.generators), ci_prob=0.9)
    refused = [c.text for c in first.cautions if c.id == "not-computed"]
    assert len(refused) + len(others) == 7  # the Laplace approximation of BiasPooling is new
    assert any("no labelled item is good" in text for text in refused)


@pytest.mark.slow
def test_what_labels_contradict_stands_at_the_assumption():
    votes = code_feedback()
    by_id = {one.id: one for one in bj.panel.dawid_skene_em(votes).assumptions}
    assert by_id["same-error-rates"].contradicted_by == ("error-rates-differ",)
    assert by_id["independent-errors"].contradicted_by == ("dependent-judges", "near-duplicates")
    table = bj.panel.compare(votes)
    against = table.set_index("method")["contradicted_by"]
    assert set(against["Logit shift"]) == {""}
    assert "error-rates-differ" in against[JUDGE_BY_JUDGE.title].iloc[0]


@pytest.mark.slow
def test_labels_alone_are_those_of_each_generator():
    """Wilson's interval of counts by hand; none without labels that tell a share."""
    table = bj.panel.simulate(labelled=(40, 0, 90), random_seed=2)
    votes = Votes.from_frame(table, calibration="random")
    made = next(one for one in bj.panel.closed_forms(votes) if one.method.id == "human-only")
    items = table.drop_duplicates(["generator", "item"])
    for name, n in (("g1", 40), ("g3", 90)):
        good = int(items.loc[items["generator"] == name, "truth"].sum())
        expected = binomtest(good, n).proportion_ci(method="wilson")
        assert_allclose(made["prevalence", name], (good / n, expected.low, expected.high))
    assert np.isnan(made["prevalence", "g2"].value)
    for told in ({"labelled": 0}, {"labelled": 50}):
        how = {"calibration": "by_truth"} if told["labelled"] else {}
        others = Votes.from_frame(bj.panel.simulate(random_seed=2, **told), **how)
        names = [one.method.title for one in bj.panel.closed_forms(others)]
        assert HUMAN_ONLY.title not in names


def test_rates_of_a_rule_are_shares_of_the_labelled_items():
    rng = np.random.default_rng(4)
    rows, truth = rng.integers(0, 2, (40, 3)), rng.integers(-1, 2, 40)
    votes, rule = votes_of(rows, truth), VotingRule("majority")
    said = rows.sum(axis=1) >= 2
    expected = said[truth == 1].mean(), 1 - said[truth == 0].mean()
    assert_allclose(ensemble_rates(votes, rule), expected)
    assert np.isnan(ensemble_rates(votes_of(rows, np.where(truth == 1, -1, truth)), rule)[0])
