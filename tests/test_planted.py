"""Facts that no other test held; each catches a fault of benchmarks/core/faults.toml."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refused
from scipy import signal, stats
from scipy.special import expit, logit
from test_storage import made_up

import bayesjudge as bj
from bayesjudge.bias._pairing import _furthest
from bayesjudge.bias.certificates.bounds import bound_of_fit, bound_of_shifts, tail_bound
from bayesjudge.bias.certificates.certify import _noise
from bayesjudge.core import sampling
from bayesjudge.core.diagnostics import gate
from bayesjudge.core.draws import summarise_interval
from bayesjudge.core.estimate import Quantity
from bayesjudge.core.intervals import wilson, wilson_by_units
from bayesjudge.panel import _approximations, _em
from bayesjudge.panel._summaries import Summary
from bayesjudge.prevalence import closed_form
from bayesjudge.prevalence._boundary import extended
from bayesjudge.prevalence.cautions import shift_p_value
from bayesjudge.readers import read_table
from bayesjudge.repeats.closed_form import _alone, _difference
from bayesjudge.truth import inversion
from bayesjudge.verdicts import reading

P = bj.prevalence
RNG = np.random.default_rng(5)
Z = stats.norm.ppf(0.975)


# Shares and mixtures ------------------------------------------------------------------------------


@pytest.mark.parametrize("units", [2, 5, 40])
def test_a_share_whose_error_is_known_from_few_units_is_as_far_from_its_ends_as_student_says(units):
    value, worth = 0.3, 20.0
    t = stats.t.ppf(0.95, units - 1)
    for end in wilson_by_units(value, worth, units, 0.9)[1:]:
        assert abs(end - value) == pytest.approx(t * np.sqrt(end * (1 - end) / worth))


def test_modes_are_mixed_by_their_evidence():
    modes, curvatures = [np.array([0.0]), np.array([3.0])], [np.eye(1), 4 * np.eye(1)]
    mean, covariance = _approximations._mixture(
        list(zip([0.0, np.log(2)], modes, curvatures, strict=True))
    )
    assert mean == pytest.approx(1.5)  # the heights 1 and 2, the widths 1 and 1/2
    assert covariance.item() == pytest.approx((1 + 1 / 4) / 2 + 1.5**2)


# Fits --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [10, 40, 999])
def test_highest_density_interval_holds_at_least_its_share_of_the_draws(size):
    draws = RNG.normal(size=size)
    low, high = summarise_interval(draws, 0.9, "hdi")
    assert np.sum((draws >= low) & (draws <= high)) == np.ceil(0.9 * size)


def test_an_estimate_is_the_mean_with_everything_said_of_the_fit():
    fit = made_up()
    made = fit.estimate(ci_prob=0.8, interval="eti")
    draws = fit.draws("prevalence")
    low, high = np.quantile(draws, [0.1, 0.9])
    assert made["prevalence"] == pytest.approx((draws.mean(), low, high))
    assert (made.cautions, made.assumptions) == (fit.cautions, fit.assumptions)
    assert fit.cautions


def test_a_bounded_interval_moves_the_end_that_is_asked_at_the_level_that_is_asked(monkeypatch):
    asked = []

    def only_0(self, fit, ci_prob):
        asked.append(ci_prob)
        return {"prevalence": (np.array([True]), np.array([False]))}

    monkeypatch.setattr(P.ErrorRates, "_extended_to", only_0)
    _, low, high = made_up().estimate(ci_prob=0.8, interval="eti_bounded")["prevalence"]
    assert low == 0 < high < 1
    assert asked == [0.8]


@pytest.mark.parametrize("depth", [-0.5, -1.5, -3.0])
@pytest.mark.parametrize("ci_prob", [0.5, 0.8, 0.95, 0.99])
def test_an_end_is_moved_by_the_likelihood_ratio_of_its_own_level(depth, ci_prob):
    held = -2 * depth < stats.chi2.ppf(ci_prob, 1)
    assert extended((0.1, 0.9), (depth, -np.inf), ci_prob) == (0.0 if held else 0.1, 0.9)
    assert extended((0.1, 0.9), (-np.inf, depth), ci_prob) == (0.1, 1.0 if held else 0.9)


@pytest.mark.slow
def test_cautions_and_assumptions_are_loaded_with_a_fit(tmp_path):
    cautions = (bj.Caution("odd", "something is odd"), bj.Caution("even", "more"))
    fit = made_up(cautions=cautions)
    loaded = bj.load(fit.save(tmp_path / "fit.nc"))
    assert loaded.cautions == cautions
    assert loaded.assumptions == fit.assumptions


class Recorded(SimpleNamespace):
    """Stands for nutpie, and keeps what it was asked."""

    def sample(self, runnable, **asked):
        self.asked = asked
        return SimpleNamespace(wait=lambda: None)


def run(monkeypatch, failed=(), cautions=(), **settings):
    """`sample` with everything that compiles or draws left out."""
    recorded = Recorded()
    monkeypatch.setitem(sys.modules, "nutpie", recorded)
    runnable = SimpleNamespace(runnable=object())
    monkeypatch.setattr(sampling, "compile_model", lambda model, say: runnable)
    monkeypatch.setattr("bayesjudge.compiled.nutpie_draws.tree_of", lambda *_: None)
    monkeypatch.setattr(sampling, "_tidy", lambda tree, model, derive: xr.DataTree())
    monkeypatch.setattr(sampling, "gate", lambda idata, quantities: failed)
    spec = SimpleNamespace(
        _sampling=lambda data: {"draws": 77, "tune": 88},
        public_name=lambda: "prevalence.ErrorRates",
        _build=lambda data: None,
        _sampling_form=lambda data: None,
        _words_for=lambda data: "",
        _exact_means=lambda data: {},
        _states_priors=lambda: False,
        _diagnosis=lambda data: ((), cautions),
        _quantities=lambda data: (),
        _cautions_of_fit=lambda fit: (),
        _method="m",
        _source="s",
        _interval="eti",
    )
    counts = P.Counts(10, 5, 3, 2, 3, 2, calibration="random")
    asked = {"cores": None, "random_seed": 1, "strict": False, "progress": False}
    fit = sampling.sample(counts, spec, **asked | settings)
    return recorded.asked, fit


@pytest.mark.slow
def test_seed_and_settings_reach_the_sampler(monkeypatch):
    asked, fit = run(monkeypatch, random_seed=41, draws=55)
    assert (asked["seed"], asked["draws"], asked["tune"]) == (41, 55, 88)
    assert fit.idata.attrs["random_seed"] == 41
    seeds = {run(monkeypatch, random_seed=s)[0]["seed"] for s in (1, 2, np.random.default_rng(3))}
    assert len(seeds) == 3


def test_chains_that_fail_are_told_and_refused_if_strict(monkeypatch):
    failed = (bj.Caution("not-converged", "they disagree"),)
    with pytest.warns(bj.core.errors.ConvergenceWarning, match="disagree"):
        assert run(monkeypatch, failed)[1].cautions == failed
    with pytest.raises(bj.core.errors.ConvergenceError, match="disagree"):
        run(monkeypatch, failed, strict=True)


def test_a_strict_fit_refuses_data_that_contradict_their_design(monkeypatch):
    shifted = (bj.Caution("label-shift", "passes are rarer"), bj.Caution("few-labels", "9"))
    assert run(monkeypatch, cautions=shifted)[1].cautions == shifted
    run(monkeypatch, cautions=shifted[1:], strict=True)
    with refused(id="label-shift") as told:
        run(monkeypatch, cautions=shifted, strict=True)
    assert len(told.value.problems) == 1


def run_of(energy=None, **draws):
    shape = next(iter(draws.values())).shape
    energy = (("chain", "draw"), RNG.normal(size=shape) if energy is None else energy)
    sample_stats = {"diverging": (("chain", "draw"), np.zeros(shape)), "energy": energy}
    posterior = {name: (("chain", "draw"), x) for name, x in draws.items()}
    tree = {"posterior": xr.Dataset(posterior), "sample_stats": xr.Dataset(sample_stats)}
    return xr.DataTree.from_dict(tree)


def test_chains_that_disagree_a_little_fail_and_the_worst_is_named():
    good = RNG.normal(size=(4, 4000))
    apart = good + 0.35 * np.array([[0], [0], [0], [1]])
    (told,) = gate(run_of(good=good, apart=apart), ("good", "apart"))
    assert "R-hat of apart is 1.0" in told.text


def test_two_hundred_effective_draws_are_too_few():
    noise, walk = RNG.normal(size=(4, 2000)), np.zeros((4, 2000))
    for i in range(1, 2000):
        walk[:, i] = 0.93 * walk[:, i - 1] + noise[:, i]
    (told,) = gate(run_of(x=walk), ("x",))
    assert "effective draws in the centre" in told.text


@pytest.mark.parametrize(("slope", "fails"), [(0.92, True), (0.7, False)])
def test_energy_that_moves_in_small_steps_fails(slope, fails):
    """Of an autoregression the fraction of missing information is 2 (1 - slope)."""
    draws, noise = RNG.normal(size=(2, 4, 4000))
    made = run_of(signal.lfilter([1], [1, -slope], noise), x=draws)
    told = " ".join(caution.text for caution in gate(made, ("x",)))
    assert ("BFMI" in told) == fails


@pytest.mark.slow
def test_draws_of_other_data_are_refused(tmp_path):
    made = made_up()
    made.idata.attrs["data_sha256"] = "0" * 64
    with refused(id="other-data"):
        bj.load(made.save(tmp_path / "fit.nc"))


def test_a_report_tells_the_cautions_of_every_estimate():
    one, other, *_ = P.closed_forms(P.Counts(1000, 620, 100, 90, 100, 70, calibration="random"))
    other = replace(other, cautions=(bj.Caution("odd", "only the second says this"),))
    assert "only the second says this" in bj.report(one, other)


def test_entries_of_two_dimensions_come_row_by_row():
    made = Quantity.over(np.arange(12).reshape(3, 2, 2), {"judge": ["a", "b"], "truth": ["x", "y"]})
    assert made.labels == (("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"))


def test_a_share_of_all_or_none_reaches_its_end_to_the_last_digit():
    n = np.arange(1, 500)
    for level in (0.5, 0.8, 0.95, 0.999):
        assert (wilson(n, n, level)[2] == 1).all()
        assert (wilson(0 * n, n, level)[1] == 0).all()


def test_a_value_cannot_mean_both_pass_and_fail():
    table = pd.DataFrame({"verdict": ["a", "b", "c"], "truth": ["a", "b", "c"]})
    values = {"pass_value": ["a", "b"], "fail_value": ["a", "c"]}
    with refused("a", id="pass-and-fail"):
        P.Counts.from_frame(table, calibration="random", **values)


def test_json_lines_keep_every_digit_of_a_name(tmp_path):
    """No float holds these names, and two of them would be one."""
    path = tmp_path / "table.jsonl"
    names = ["0.12345678901234567891", "0.12345678901234567892"]
    path.write_text("\n".join(f'{{"item": {x}, "verdict": 1}}' for x in [*names, '"c"']))
    assert list(read_table(path, ["item", "verdict"])["item"].to_pylist()) == [*names, "c"]


# Prevalence --------------------------------------------------------------------------------------

WEAK = P.Counts(300, 160, 14, 8, 14, 7, calibration="by_truth")


def test_bad_resamples_count_as_0_below_and_as_1_above():
    made = P.bootstrap(WEAK, random_seed=1)
    assert any(c.id == "bad-resamples" for c in made.cautions)
    assert made["prevalence"][1:] == (0.0, 1.0)


@pytest.mark.parametrize(("bad", "expected"), [(20, (0.0, 1.0)), (2, (0.4, 0.4))])
def test_a_bad_resample_moves_both_ends_outwards(monkeypatch, bad, expected):
    drawn = np.append(np.full(100 - bad, 0.4), np.full(bad, np.nan))
    monkeypatch.setattr(closed_form, "_resampled", lambda *_: drawn)
    counts = P.Counts(1000, 620, 100, 90, 100, 70, calibration="by_truth")
    low, high = P.bootstrap(counts, ci_prob=0.9)["prevalence"][1:]
    assert (low, high) == expected if bad == 20 else (low, min(high, 0.4)) == expected


def test_lang_and_reiczigels_interval_is_that_of_their_equations():
    """Source 1, eqs. (6) to (8); the two classes have unlike numbers of labels."""
    n, passes, good, hits, bad, caught = 400, 210, 150, 120, 40, 30
    counts = P.Counts(n, passes, good, hits, bad, caught, calibration="by_truth")
    p, n = (passes + Z**2 / 2) / (n + Z**2), n + Z**2
    q0, q1, m0, m1 = (caught + 1) / (bad + 2), (hits + 1) / (good + 2), bad + 2, good + 2
    theta = (p + q0 - 1) / (q0 + q1 - 1)
    of_q0, of_q1 = q0 * (1 - q0) / m0, q1 * (1 - q1) / m1
    variance = p * (1 - p) / n + (1 - theta) ** 2 * of_q0 + theta**2 * of_q1
    centre = theta + 2 * Z**2 * (theta * of_q1 - (1 - theta) * of_q0)
    half = Z * np.sqrt(variance) / (q0 + q1 - 1)
    made = P.rogan_gladen(counts)["prevalence"]
    assert made[1:] == pytest.approx((centre - half, centre + half), abs=1e-12)


def test_post_stratified_interval_holds_the_errors_of_passes_and_of_fails():
    counts = P.Counts(900, 650, 62, 46, 38, 34, calibration="by_verdict")
    n, passes, passed, failed = 1000, 700, 50, 50
    p, size = (passes + Z**2 / 2) / (n + Z**2), n + Z**2
    ppv, npv = (46 + 1) / (passed + 2), (34 + 1) / (failed + 2)
    variance = (ppv + npv - 1) ** 2 * p * (1 - p) / size
    variance += p**2 * ppv * (1 - ppv) / (passed + 2)
    variance += (1 - p) ** 2 * npv * (1 - npv) / (failed + 2)
    centre = p * ppv + (1 - p) * (1 - npv)
    half = Z * np.sqrt(variance)
    made = P.post_stratified(counts)["prevalence"]
    assert made[1:] == pytest.approx((centre - half, centre + half), abs=1e-12)


@pytest.mark.parametrize(("passes", "raw"), [(20, -0.1), (950, 1.15)])
def test_a_value_beyond_either_end_is_told(passes, raw):
    made = P.rogan_gladen(P.Counts(1000, passes, 100, 90, 100, 88, calibration="by_truth"))
    assert made.quantities["prevalence"].raw == pytest.approx((passes / 1000 - 0.12) / 0.78)
    assert "clipped" in {c.id for c in made.cautions}


@pytest.mark.slow
def test_the_restriction_to_a_judge_better_than_chance_is_heeded():
    counts = P.Counts(300, 250, 4, 3, 4, 2, calibration="by_truth")
    models = (P.ErrorRates(), P.ErrorRates(better_than_chance=False))
    better, any_judge = (P.exact(counts, model)["prevalence"].value for model in models)
    assert abs(better - any_judge) > 0.01


def test_a_shift_that_chance_makes_one_time_in_forty_is_none():
    counts = P.Counts(200, 100, 20, 18, 20, 10, calibration="random")
    assert 0.01 < shift_p_value(counts)[0] < 0.3
    assert "label-shift" not in {c.id for c in P.rogan_gladen(counts).cautions}


def test_another_seed_gives_other_resamples():
    counts = P.Counts(1000, 620, 100, 90, 100, 70, calibration="by_truth")
    one, same, other = (P.bootstrap(counts, random_seed=s)["prevalence"] for s in (1, 1, 2))
    assert one == same
    assert one[1:] != other[1:]


def test_external_labels_go_to_the_systems_that_they_name():
    table = pd.DataFrame({"verdict": [1, 0] * 4, "truth": np.nan, "system": list("aaaabbbb")})
    labels = pd.DataFrame({"verdict": [1, 1, 0], "truth": [1, 1, 0], "system": ["b"] * 3})
    counts = P.Counts.from_frame(table, calibration="by_truth", by="system", external_labels=labels)
    assert np.asarray(counts.external_labels).tolist() == [[0, 2], [0, 2], [0, 1], [0, 1]]


@pytest.mark.slow
@pytest.mark.parametrize("rate", ["sensitivity", "specificity"])
def test_a_prior_of_the_judges_rates_is_worth_as_many_labels(rate):
    few, more = [500, 240, 12, 10, 12, 9], [500, 240, 12, 10, 12, 9]
    at = {"sensitivity": 2, "specificity": 4}[rate]
    more[at], more[at + 1] = more[at] + 9, more[at + 1] + 8
    prior = P.ErrorRates(**{rate: bj.BetaPrior(1 + 8, 1 + 1)})
    made = P.exact(P.Counts(*few, calibration="by_truth"), prior)["prevalence"]
    expected = P.exact(P.Counts(*more, calibration="by_truth"))["prevalence"]
    assert made == pytest.approx(expected, abs=1e-6)


@pytest.mark.slow
def test_lang_reiczigel_intervals_are_nested_with_few_labels():
    """Three labels of a kind: the published ends turn back between the 90 and the 99.9 % level."""
    z = np.linspace(0.1, 4, 40)
    for p, q0, q1 in ((0.6, 1.0, 2 / 3), (0.2, 2 / 3, 1.0), (0.9, 1.0, 1 / 3), (0.5, 1.0, 1.0)):
        ends = [inversion.lang_reiczigel(p, q0, q1, 60, 3, 3, x)[1:] for x in z]
        low, high = np.array(ends).T
        assert (np.diff(low) < 1e-9).all()
        assert (np.diff(high) > -1e-9).all()
    published = [inversion._lang_reiczigel(0.6, 1.0, 2 / 3, 60, 3, 3, x) for x in z]
    turned = [np.diff([one.low for one in published]).max(), -np.diff([o.high for o in published])]
    assert max(turned[0], turned[1].max()) > 0


def test_many_propensities_are_refused_before_they_are_counted(monkeypatch):
    table = pd.DataFrame({"verdict": 1, "truth": 1.0, "p": np.linspace(0.1, 0.9, 5000)})
    monkeypatch.setattr(reading, "Combinations", None)
    with refused(id="many-strata", distinct=5000):
        P.Counts.from_frame(table, calibration="known_propensity", propensity="p")


# Panel -------------------------------------------------------------------------------------------


def votes_of(**settings):
    table = bj.panel.simulate(random_seed=4, **settings)
    return bj.panel.Votes.from_frame(table, calibration="random"), table


def test_each_judge_is_corrected_by_its_own_gain():
    votes, table = votes_of(items=200, labelled=60, missing=0, prevalence=(0.7,))
    known = table.dropna(subset="truth")
    found = []
    for _, mine in known.groupby("judge"):
        good, bad = mine[mine["truth"] == 1]["vote"], mine[mine["truth"] == 0]["vote"]
        rate = table[table["judge"] == mine["judge"].iloc[0]]["vote"].mean()
        q1, q0 = good.mean(), 1 - bad.mean()
        found.append((rate + q0 - 1) / (q0 + q1 - 1))
    made = bj.panel.rogan_gladen(votes)
    assert made.quantities["prevalence"].raw == pytest.approx([np.mean(found)])


def test_the_panel_means_interval_is_that_of_items():
    votes, table = votes_of(items=50, labelled=20, missing=0, prevalence=(0.7,))
    x = table.groupby("item")["vote"].mean().to_numpy()
    sd = np.sqrt((np.sum((x - x.mean()) ** 2) + 0.5) / (len(x) + 1))
    value, low, high = bj.panel.panel_mean(votes)["prevalence", "g1"]
    assert value == pytest.approx(x.mean())
    assert (high - low) / 2 == pytest.approx(Z * sd / np.sqrt(len(x)))


def test_a_summary_tells_good_items_from_bad_ones():
    votes, table = votes_of(items=60, labelled=60, missing=0.2, prevalence=(0.6,))
    x = table.dropna(subset="vote").groupby("item")["vote"].mean()
    truth = table.groupby("item")["truth"].first()[x.index]
    summary = Summary.of(votes)
    assert summary.slope == pytest.approx(x[truth == 1].mean() - x[truth == 0].mean())
    assert summary.rate == pytest.approx([x.mean()])


def test_em_of_labelled_items_has_the_interval_of_counting():
    votes, table = votes_of(items=80, labelled=80, missing=0, prevalence=(0.7,))
    k, n = table.groupby("item")["truth"].first().sum(), 80
    p = (k + 0.5) / (n + 1)
    half = Z / np.sqrt((n + 1) * p * (1 - p))
    _, low, high = bj.panel.dawid_skene_em(votes)["prevalence", "g1"]
    assert (low, high) == pytest.approx((expit(logit(p) - half), expit(logit(p) + half)), rel=1e-6)


@pytest.mark.slow
def test_logit_shift_predicts_from_the_others_biases():
    votes, table = votes_of(items=100, labelled=100, missing=0, prevalence=(0.9, 0.7, 0.6, 0.5))
    by = table.groupby("generator")
    items = 100
    rate = (by["vote"].mean() * items + 0.5) / (items + 1)
    truth = (by["truth"].mean() * items + 0.5) / (items + 1)
    bias = (logit(rate) - logit(truth)).to_numpy()[1:]
    half = stats.t.ppf(0.975, 2) * bias.std(ddof=1) * np.sqrt(1 + 1 / 3)
    centre = logit(rate.iloc[0]) - bias.mean()
    expected = expit([centre, centre - half, centre + half])
    assert bj.panel.logit_shift(votes)["prevalence", "g1"] == pytest.approx(expected)


def test_three_classes_have_intervals_of_the_level_asked():
    votes = bj.panel.Votes(
        *([[0, 1], [1, 1], [2, 2]], [0, -1, 2], [0, 0, 0], ["g"], "ab"),
        classes="lmh",
        calibration="random",
    )
    assert bj.panel.closed_forms(votes, ci_prob=0.8)[0].ci_prob == 0.8


def test_of_a_generator_that_is_labelled_throughout_the_difference_is_known():
    """The judges pass all 8 items, of which 6 are good."""
    rows = [(i, "g", j, 1, float(i < 6)) for i in range(8) for j in "ab"]
    table = pd.DataFrame(rows, columns=["item", "generator", "judge", "vote", "truth"])
    votes = bj.panel.Votes.from_frame(table, calibration="random")
    assert bj.panel.difference(votes)["prevalence", "g"] == pytest.approx((0.75,) * 3, abs=1e-12)


@pytest.mark.slow
def test_a_judge_no_better_than_chance_corrects_nothing():
    votes, table = votes_of(
        items=200, labelled=80, prevalence=(0.7,), sensitivity=(0.9, 0.4), specificity=(0.8, 0.3)
    )
    first = table[table["judge"] == sorted(table["judge"].unique())[0]]
    alone = bj.panel.rogan_gladen(bj.panel.Votes.from_frame(first, calibration="random"))
    assert bj.panel.rogan_gladen(votes)["prevalence", "g1"].value == pytest.approx(
        alone["prevalence", "g1"].value
    )


def test_em_stops_where_another_step_moves_nothing():
    votes, _ = votes_of(items=60, labelled=10, prevalence=(0.7,))
    problem, pseudo, best = _em.posterior_mode(votes, "skip", 0.5)
    again = problem.maximise(problem.expect(best.rates)[1], pseudo)
    np.testing.assert_allclose(again.confusion, best.rates.confusion, atol=1e-4)
    np.testing.assert_allclose(again.shares, best.rates.shares, atol=1e-4)


def test_one_bias_of_all_other_generators_has_no_spread():
    """Two labelled items a generator, one bias throughout: the interval was one number."""
    rows = [
        (f"{g}{i}", g, judge, int(i < 3), float(i in (0, 3)) if i in (0, 3) else np.nan)
        for g in "abc"
        for i in range(6)
        for judge in ("one", "two")
    ]
    table = pd.DataFrame(rows, columns=["item", "generator", "judge", "vote", "truth"])
    table["truth"] = table["truth"].where(table["truth"].isna(), (table["vote"] == 1).astype(float))
    made = bj.panel.logit_shift(bj.panel.Votes.from_frame(table, calibration="random"))
    for name in "abc":
        value, low, high = made["prevalence", name]
        assert np.isnan([low, high]).all()
        assert 0 < value < 1
    assert "no-interval" in {c.id for c in made.cautions}


# Repeats -----------------------------------------------------------------------------------------


def test_the_standard_error_of_answers_alike_is_that_of_their_mean():
    values = [2, 4, 4, 5, 3]
    scores = bj.repeats.Scores.from_values(values, scale=range(1, 6))
    mean, low, high = bj.repeats.as_if_iid(scores)["item_score", "item"]
    half = Z * np.std(values, ddof=1) / np.sqrt(5)
    assert (mean, low, high) == pytest.approx((3.6, 3.6 - half, 3.6 + half))


def test_equal_answers_have_no_interval():
    scores = bj.repeats.Scores.from_values([4, 4, 4], scale=range(1, 6))
    made = bj.repeats.as_if_iid(scores)
    assert np.isnan(made["item_score", "item"][1:]).all()
    assert "no-interval" in {c.id for c in made.cautions}


@pytest.mark.parametrize("ci_prob", [0.5, 0.95])
def test_of_one_mean_square_the_interval_is_chi_square(ci_prob):
    a, n, tail = 3.0, 7, (1 - ci_prob) / 2
    ends = tuple(a * n / stats.chi2.ppf([1 - tail, tail], n))
    alone, difference = _alone((a, n), ci_prob), _difference((a, n), (1e-14, 5), 1.0, ci_prob)
    assert alone[1:] == pytest.approx(ends)
    assert difference[1:] == pytest.approx(ends, rel=1e-6)


# Bias --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [0.0, 2.0])
def test_items_that_all_move_alike_do_not_say_that_others_would(shift):
    made = {}
    for n in (5, 500):
        shifts = bj.bias.Shifts.from_differences([shift] * n, scale=(1, 5), signed=True)
        made[n] = bj.bias.variance_parts(shifts)
        for name in ("mean_shift", "rms_shift"):
            value, low, high = made[n][name, "perturbed"]
            assert value == shift
            assert low <= shift < high
    for name in ("mean_shift", "rms_shift"):  # more of them say more
        few, many = (made[n][name, "perturbed"] for n in (5, 500))
        assert few.low <= many.low <= many.high < few.high
        assert many.high - many.low < 0.4
    # one more item: at -4 of the whole range of 8 with the probability that Beta(5, 1) gives
    share = stats.beta(1, 5).ppf(0.975)
    assert made[5]["mean_shift", "perturbed"].low == pytest.approx(shift - share * (shift + 4))


def test_no_noise_is_added_where_the_shift_alone_is_too_long():
    assert _noise(0.6, 0.5, 0.001, 6) == 0.0 == _noise(0.5, 0.5, 0.001, 6)
    assert _noise(0.3, 0.5, 0.001, 6) > 0


def test_a_missing_score_may_have_moved_to_the_further_end():
    lost, before = np.full(4, np.nan), np.array([2.0, 9.0, np.nan, 5.0])
    assert _furthest(lost, before, (0, 10)).tolist() == [8, -9, 10, 5]
    assert _furthest(np.array([1.5]), np.array([2.0]), (0, 10)).tolist() == [1.5]


def test_several_groups_share_the_probability_of_an_estimation_error():
    x = np.abs(RNG.normal(size=400))
    found = bound_of_shifts([(name, x) for name in "abc"], "tail", 0.1, 10.0)
    each = found.estimation_prob / 3
    shift_prob = 0.1 - found.estimation_prob
    bound = tail_bound(x, largest=10.0, shift_prob=shift_prob, estimation_prob=each)
    assert found.length == bound
    whole = found.estimation_prob
    assert bound > tail_bound(x, largest=10.0, shift_prob=shift_prob, estimation_prob=whole)


def test_several_perturbations_of_a_fit_share_it_too():
    def bound(names):
        draws = np.tile(np.sort(RNG.gamma(9, size=(4, 500))).reshape(4, 500, 1), len(names))
        rms = xr.DataArray(draws, dims=("chain", "draw", "perturbation"))
        posterior = xr.Dataset({"rms_shift": rms.assign_coords(perturbation=list(names))})
        fit = SimpleNamespace(idata=xr.DataTree.from_dict({"posterior": posterior}))
        return bound_of_fit(fit, "rms", 0.2, 1e9).length

    assert bound("abcd") > 1.05 * bound("a")


# Ratings -----------------------------------------------------------------------------------------


def test_a_bias_is_worse_the_further_it_is_from_0():
    loss = bj.ratings.Definition("prevalence_bias", cutoff=0.5).loss([-0.3, 0.1])
    assert loss.tolist() == [0.3, 0.1]


def test_bounds_of_choices_are_widened_by_their_error():
    ratings = ratings_of(["yes", "yes", "no"], items=9)
    (_, *ends), share = bj.ratings.endorsement_rates(ratings)["endorsement", "gpt", "yes"], 6 / 9
    half = stats.t.ppf(0.975, 8) * np.sqrt(share * (1 - share) / 8)
    assert ends == pytest.approx([share - half, min(share + half, 1)])


@pytest.mark.slow
def test_agreement_that_no_resample_changes_has_no_interval():
    """A judge that always errs, or never, was said to be known exactly."""
    ratings = ratings_of(["no"])
    made = bj.ratings.agreement(ratings, replicates=50).estimate()
    value, low, high = made["hit_rate", "h/h", "gpt"]  # a posterior, with a prior
    assert (value, high) == (1, 1)
    assert 0.8 < low < 0.95
    assert np.isnan(made["mse", "h/h", "gpt"][1:]).all()
    told = [c.numbers.get("metrics", ()) for c in made.cautions if c.id == "no-interval"]
    assert any("mse" in metrics for metrics in told)
    assert not any("hit_rate" in metrics for metrics in told)
    row = bj.ratings.answer(made).quoted["matched", "gpt"]
    assert row.low < row.value < row.high
    varied = bj.ratings.agreement(ratings_of(["no", "no", "no", "yes"]), replicates=50).estimate()
    assert varied["hit_rate", "h/h", "gpt"].low < 0.75 < varied["hit_rate", "h/h", "gpt"].high


def test_a_share_that_all_items_have_has_no_interval():
    table = bj.ratings.simulate(items=6, random_seed=1)
    table["response_set"] = table["response_set"].where(table["response_set"].isna(), "yes")
    ratings = bj.ratings.Ratings.from_frame(
        table, positive="yes", judges=["gpt", "claude"], response_set="response_set"
    )
    made = bj.ratings.endorsement_rates(ratings)
    assert made["endorsement", "gpt", "yes"].value == 1
    assert np.isnan(made["endorsement", "gpt", "yes"][1:]).all()
    assert any("gpt: yes" in c.text for c in made.cautions if c.id == "no-interval")
    choices = bj.ratings.endorsement_rates(ratings_of(["yes"]))
    assert np.isnan(choices["endorsement", "gpt", "yes"]).all()


def ratings_of(judge, people=("no", "no", "yes"), items=20):
    rows = [(i, f"p{j}", c) for i in range(items) for j, c in enumerate(people)]
    rows += [(i, "gpt", judge[i % len(judge)]) for i in range(items)]
    table = pd.DataFrame(rows, columns=["item", "rater", "choice"])
    return bj.ratings.Ratings.from_frame(
        table, positive="yes", judges=["gpt"], options=["yes", "no"]
    )


@pytest.mark.slow
@pytest.mark.parametrize(("said", "bias"), [("yes", 1.0), ("no", 0.0)])
def test_prevalence_bias_is_the_judges_less_the_peoples(said, bias):
    made = bj.ratings.agreement(ratings_of([said]), replicates=10).estimate()
    assert {row.value for q, _, row in made.rows() if q == "prevalence_bias"} == {bias}


def test_a_judge_that_copies_people_to_the_letter_is_no_warning():
    rows = [(i, name, "yes" if i < 9 else "no") for i in range(20) for name in ("p", "gpt")]
    table = pd.DataFrame(rows, columns=["item", "rater", "choice"])
    ratings = bj.ratings.Ratings.from_frame(table, positive="yes", judges=["gpt"])
    assert bj.ratings.endorsement_rates(ratings)


def test_a_judge_that_says_the_opposite_is_told():
    rows = [(i, "p", "yes" if i < 9 else "no") for i in range(20)]
    rows += [(i, "gpt", "no" if i < 9 else "yes") for i in range(20)]
    table = pd.DataFrame(rows, columns=["item", "rater", "choice"])
    ratings = bj.ratings.Ratings.from_frame(table, positive="yes", judges=["gpt"])
    assert "polarity" in {c.id for c in bj.ratings.endorsement_rates(ratings).cautions}


@pytest.mark.slow
def test_endorsements_have_students_interval_over_items():
    table = bj.ratings.simulate(random_seed=2, set_items=1.0)
    made = bj.ratings.Ratings.from_frame(
        table, positive="yes", judges=["gpt", "claude"], response_set="response_set"
    )
    people = table[~table["rater"].isin(["gpt", "claude"])].dropna(subset="response_set")
    accepts = people["response_set"].str.split("|").map(lambda s: "yes" in s)
    x = accepts.groupby(people["item"]).mean()
    low, high = stats.t.interval(0.95, len(x) - 1, x.mean(), x.std() / np.sqrt(len(x)))
    found = bj.ratings.endorsement_rates(made)["endorsement", "people", "yes"]
    assert found == pytest.approx((x.mean(), low, high))


@pytest.mark.slow
def test_agreement_has_percentiles_of_its_own_resamples():
    ratings = ratings_of(["yes", "no", "no"])
    one, same, other = (bj.ratings.agreement(ratings, random_seed=s) for s in (1, 1, 2))
    assert np.array_equal(one.draws, same.draws, equal_nan=True)
    assert not np.array_equal(one.draws, other.draws, equal_nan=True)
    i = [d.metric for d in one.definitions].index("decision_consistency")
    low, high = np.quantile(one.draws[:, i, 0], [0.1, 0.9])
    made = one.estimate(ci_prob=0.8).quantities["decision_consistency"]
    assert (made.low[0], made.high[0]) == pytest.approx((low, high))


@pytest.mark.slow
def test_an_error_leans_towards_what_is_reported():
    """Who errs reports a set with the positive option exp(2 skew) times as often as another."""
    import pymc as pm
    from pytensor import function

    table = bj.ratings.simulate(items=10, random_seed=1)
    ratings = bj.ratings.Ratings.from_frame(
        table, positive="yes", judges=["gpt", "claude"], response_set="response_set"
    )
    with pm.Model() as model:
        error = bj.ratings.RaterErrors(bj.BetaPrior(2, 18))
        made = bj.ratings.model._error_matrices(ratings, error)
    inputs = [model["error_rate"], model["skew"]]
    (people, *_) = function(inputs, made, mode="FAST_COMPILE")(0.3, 0.7)
    assert people.sum(axis=0) == pytest.approx(np.ones(len(ratings.sets)))
    assert np.diag(people) == pytest.approx(np.full(len(ratings.sets), 0.7))
    with_yes = np.array(["yes" in s for s in ratings.sets])
    for held in range(len(ratings.sets)):
        others = np.arange(len(ratings.sets)) != held
        yes, no = people[with_yes & others, held], people[~with_yes & others, held]
        if len(yes) and len(no):
            assert yes[0] / no[0] == pytest.approx(np.exp(1.4))


def test_a_copy_of_tied_people_hits_half_of_the_time_unless_ties_go_to_the_first():
    ratings = ratings_of(["yes"], people=("yes", "no"), items=6)
    profile = ratings.profile("people")
    hit = bj.ratings.Definition("hit_rate", "hard", "hard")
    found = [hit.value(profile, profile, positive=0, ties=ties) for ties in ("share", "first")]
    assert found == [0.5, 1.0]


@pytest.mark.slow
def test_items_at_the_cutoff_are_told_with_what_they_decide():
    """Decision consistency is another number if the other option is the positive one."""
    rows = [(i, f"p{j}", c) for i in range(10) for j, c in enumerate(("yes", "no"))]
    rows += [(i, "gpt", "yes" if i < 6 else "no") for i in range(10)]
    table = pd.DataFrame(rows, columns=["item", "rater", "choice"])
    found = []
    for positive in ("yes", "no"):
        ratings = bj.ratings.Ratings.from_frame(table, positive=positive, judges=["gpt"])
        made = bj.ratings.agreement(ratings, replicates=10).estimate()
        (told,) = [c.text for c in made.cautions if c.id == "ties-at-the-cutoff"]
        assert "10 of 10 by 'people'" in told
        found += [row.value for q, _, row in made.rows() if q == "decision_consistency"]
    assert found == pytest.approx([0.6, 0.4])


def test_intervals_of_mean_scores_are_cut_at_the_scale_with_a_word():
    rows = [("x", "a", 3), ("x", "a", 3), ("x", "b", 19), ("x", "b", 18), ("y", "a", 4)]
    rows += [("y", "a", 3), ("y", "b", 19), ("y", "b", 19)]
    table = pd.DataFrame(rows, columns=["item", "judge", "score"])
    scores = bj.repeats.Scores.from_frame(table, scale=range(3, 20), judge="judge")
    made = bj.repeats.anova(scores)
    assert made["mean_score"][1:] == (3.0, 19.0)
    assert "cut-at-the-scale" in {c.id for c in made.cautions}


def test_a_mean_of_equal_scores_says_why_it_has_no_interval():
    scores = bj.repeats.Scores.from_values([4], scale=range(1, 6))
    made = bj.repeats.as_if_iid(scores)
    assert np.isnan(made["item_score", "item"].low)
    assert "no-interval" in {c.id for c in made.cautions}


@pytest.mark.slow
def test_rates_without_an_answer_say_why():
    """Each of these gave nan, or nan ends, without a word."""
    votes, _ = votes_of(items=40, labelled=20, prevalence=(0.7,))
    averaged = bj.panel.rogan_gladen(votes)
    assert np.isnan(averaged["prevalence", "g1"].low)
    rates = bj.ratings.endorsement_rates(ratings_of(["yes"]))
    kl = bj.ratings.agreement(ratings_of(["yes", "no"]), replicates=10).estimate()
    table = pd.DataFrame({"score": [0.1, 0.2, 0.8, 0.9], "truth": [0, 1, np.nan, np.nan]})
    scores = P.scores.Scores.from_frame(table, calibration="random", scale=(0, 1), edges=(0.5,))
    binned = P.scores.closed_forms(scores)[-1]
    assert np.isnan(binned["prevalence"].value)
    names = [{c.id for c in made.cautions} for made in (averaged, rates, kl, binned)]
    for name, told in zip(
        ("no-interval", "no-response-sets", "no-interval", "empty-bin"), names, strict=True
    ):
        assert name in told
