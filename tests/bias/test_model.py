import dataclasses
import time
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pymc as pm
import pytensor
import pytensor.link.numba.dispatch  # silences advice when imported: before the tests
import pytest
from conftest import MODULES
from numpy.testing import assert_allclose
from oracles import assert_mc_mean, assert_mc_quantile
from refusals import refused
from scipy.stats import multivariate_normal, norm

import bayesjudge as bj
from bayesjudge import bias
from bayesjudge.bias import certificates
from bayesjudge.bias.certificates import bounds
from bayesjudge.bias.model import (
    _collapsed,
    _collapsed_logp,
    _difference_logp,
    _drawn_differences,
    _rows_of,
    _summaries,
)
from bayesjudge.core import sampling
from bayesjudge.core.estimate import Caution

READ = {"scale": (0, 100), "design": "item", "rerun": "rerun"}


@pytest.mark.usefixtures("uncompiled")
def test_likelihood_is_that_of_a_shared_baseline():
    """Against the dense covariance; a missing difference leaves its row and column out."""
    rng = np.random.default_rng(0)
    value, mean = rng.normal(size=(2, 6, 3))
    own, shared = rng.uniform(0.3, 2, size=(6, 3)), rng.uniform(0.1, 1, size=6)
    seen = np.array([[1, 1, 1], [1, 0, 1], [0, 1, 1], [1, 0, 0], [0, 0, 1], [1, 1, 1.0]])
    found = _difference_logp(value, mean, own, shared, seen).eval()
    for row, one in enumerate(found):
        kept = seen[row] > 0
        covariance = np.diag(own[row][kept]) + shared[row]
        expected = multivariate_normal(mean[row][kept], covariance).logpdf(value[row][kept])
        assert_allclose(one, expected, rtol=1e-10)


def test_each_item_with_both_kinds_of_scores_is_a_row():
    """One score of each is enough; of a baseline alone there is no row."""
    scores = {
        "a": {"original": [50], "bold": [53]},
        "b": {"original": [40, 44], "long": [47]},
        "c": {"original": [60], "bold": [61, 66, 62], "long": [58]},
        "d": {"original": [30]},
    }
    table = pd.DataFrame(
        [
            (item, kind, again, score)
            for item, kinds in scores.items()
            for kind, values in kinds.items()
            for again, score in enumerate(values)
        ],
        columns=["item", "variant", "rerun", "score"],
    )
    shifts = bias.Shifts.from_frame(
        table, scale=(0, 100), design="item", baseline="original", repeats="mean"
    )
    rows = _rows_of(shifts, None)
    assert [name.rpartition(", ")[2] for name in rows["names"]] == ["a", "b", "c"]
    mean = {i: {k: sum(v) / len(v) for k, v in kinds.items()} for i, kinds in scores.items()}
    for v, change in enumerate(shifts._changed):
        for row, item in enumerate("abc"):
            seen = change in scores[item]
            assert rows["seen"][row, v] == seen
            gap = mean[item][change] - mean[item]["original"] if seen else 0
            assert rows["difference"][row, v] == pytest.approx(gap)
            assert rows["after"][row, v] == len(scores[item].get(change, [0]))
    assert rows["before"].tolist() == [1, 2, 1]
    assert rows["baseline"].tolist() == [50, 42, 60]


def test_summaries_are_means_and_spreads_of_the_rows_of_each_judge_and_change():
    shifts = bias.simulate(items=6, judges=["one", "two"], random_seed=1)
    shifts = bias.Shifts.from_frame(shifts, **READ, judge="judge")
    rows = _rows_of(shifts, None)
    rng = np.random.default_rng(2)
    drawn = rng.normal(size=(4, len(rows["judge"]), len(shifts._changed)))
    rows["seen"] = (rng.random(rows["seen"].shape) < 0.6).astype(float)
    rows["seen"][:, 0] = np.arange(len(rows["judge"])) == 0  # of a change one row, of one judge
    found = _summaries(shifts, rows, {"difference": drawn})
    expected = {}
    for j, judge in enumerate(shifts.judges):
        for v, change in enumerate(shifts._changed):
            at = [
                i for i in range(len(rows["judge"])) if rows["judge"][i] == j and rows["seen"][i, v]
            ]
            key = ("judge", "perturbation"), (judge, change)
            for what, enough, of in (
                ("mean_shift", 1, np.mean),
                ("shift_sd", 2, partial(np.std, ddof=1)),
            ):
                if len(at) >= enough:
                    expected[what, *key] = [of([one[i][v] for i in at]) for one in drawn]
    assert {*found} == {*expected}
    assert len({key for key in found if key[0] == "mean_shift"}) == 2 * len(shifts._changed) - 1
    for key, values in expected.items():
        assert_allclose(found[key], values)


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.slow
def test_collapsed_rows_have_the_density_of_the_rows():
    """Rows of three kinds, by judge and by what is missing; sums against each row's density."""
    rng = np.random.default_rng(1)
    seen = np.array([[1, 1, 1], [1, 0, 1], [1, 1, 1]])[rng.integers(0, 3, size=40)]
    judge = rng.integers(0, 2, size=40)
    rows = {
        "judge": judge,
        "before": np.ones(40, int),
        "after": np.ones((40, 3)),
        "seen": seen.astype(float),
        "difference": rng.normal(size=(40, 3)) * seen,
    }
    few = _collapsed(rows)
    assert len(few["size"]) == 4
    mean, own = rng.normal(size=(2, 3)), rng.uniform(0.3, 2, size=(2, 3))
    shared = rng.uniform(0.1, 1, size=2)
    each = _difference_logp(
        rows["difference"], mean[judge], own[judge], shared[judge], rows["seen"]
    )
    where = few["judge"]
    together = _collapsed_logp(
        few["difference"],
        few["scatter"],
        few["size"],
        mean[where],
        own[where],
        shared[where],
        few["seen"],
    )
    assert_allclose(together.sum().eval(), each.sum().eval(), rtol=1e-12)


@pytest.mark.study
def test_verdicts_of_0_and_1_without_repeats_are_sampled():
    """Three perturbations of 1,763 items, in less CPU time than their rows take for 300."""
    rng = np.random.default_rng(3)
    before = rng.uniform(size=1763) < 0.6
    parts = {"baseline": before.astype(float)}
    for name, share in {"format": 0.05, "order": 0.1, "length": 0.15}.items():
        parts[name] = np.where(rng.uniform(size=1763) < share, ~before, before).astype(float)
    table = pd.DataFrame(parts).rename_axis("item").reset_index()
    table = table.melt("item", var_name="variant", value_name="score")
    shifts = bias.Shifts.from_frame(table, scale=(0, 1), design="item")
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bj.ConvergenceWarning)
        made = bias.fit(shifts, random_seed=1, chains=2, draws=300, tune=300, cores=1)
    assert time.process_time() - begin < 60
    for name, share in {"format": 0.05, "order": 0.1, "length": 0.15}.items():
        assert (
            abs(made.draws("rms_shift")[:, shifts._changed.index(name)].mean() - share**0.5) < 0.02
        )


@pytest.mark.sampling
def test_differences_are_drawn_with_a_shared_baseline():
    """Means and covariances, within five Monte Carlo errors."""
    rng, size = np.random.default_rng(0), 4000
    mean, own = rng.normal(size=(2, 3)), rng.uniform(0.3, 2, size=(2, 3))
    shared, seen = np.array([0.5, 2.0]), np.array([[1.0, 1, 1], [1, 0, 1]])
    given = map(pytensor.shared, (mean, own, shared, seen))
    with pytensor.config.change_flags(numba__cache=False), warnings.catch_warnings():
        # compiled anew, and without the advice that PyTensor hides when it is imported
        warnings.simplefilter("error")
        drawn = pm.draw(_drawn_differences(*given, None), draws=size, random_seed=1)
    for row in range(2):
        kept = seen[row] > 0
        assert (drawn[:, row, ~kept] == 0).all()
        found, covariance = drawn[:, row, kept], np.diag(own[row][kept]) + shared[row]
        variance = np.diag(covariance)
        error = 5 * np.sqrt(variance / size)
        assert (np.abs(found.mean(axis=0) - mean[row][kept]) < error).all()
        error = 5 * np.sqrt((np.outer(variance, variance) + covariance**2) / size)
        assert (np.abs(np.cov(found.T) - covariance) < error).all()


@pytest.fixture
def sampled(fit_of):
    """Two perturbations."""
    return fit_of(next(one for one in MODULES if one.name == "bias"))


@pytest.fixture(scope="module")
def one_perturbation():
    table = bias.simulate(
        items=30, perturbations=["bold"], mean_shift=3, item_spread=4, random_seed=3, step=None
    )
    shifts = bias.Shifts.from_frame(table, **READ)
    return bias.fit(shifts, random_seed=1)


def grid_posterior(shifts, model):
    """Quadrature: the mean shift is normal given the two spreads, which lie on a grid."""
    unit, n = shifts.span, len(shifts.items)
    difference = shifts.means[0, :, 1] - shifts.means[0, :, 0]
    z = np.linspace(-6, 6, 201)
    spread = (unit * model.item_spread * np.exp(model.log_sd * z))[:, None]
    noise = (unit * model.noise * np.exp(model.log_sd * z))[None, :]
    variance = spread**2 + noise**2 * (1 + 1 / 2)  # after once, before twice
    logp = norm.logpdf(z)[:, None] + norm.logpdf(z)[None, :]
    logp = logp - shifts.freedom[0] * np.log(noise) - shifts.squares[0] / (2 * noise**2)
    # differences about their mean, and their mean with the shift integrated out
    scatter = ((difference - difference.mean()) ** 2).sum()
    logp = logp - (n - 1) / 2 * np.log(variance) - scatter / (2 * variance)
    prior = (unit * model.mean_shift) ** 2
    logp = logp + norm.logpdf(difference.mean(), 0, np.sqrt(prior + variance / n))
    weight = np.exp(logp - logp.max())
    weight /= weight.sum()
    after = 1 / (1 / prior + n / variance)
    centre = after * n / variance * difference.mean()
    return weight, centre, after, spread, noise


@pytest.mark.study  # densities are held above, and sampling by the contract
def test_posterior_matches_quadrature(one_perturbation):
    fit = one_perturbation
    weight, centre, after, spread, noise = grid_posterior(fit.data, fit.spec)
    draws = fit.idata["posterior"]
    assert_mc_mean(draws["mean_shift"].to_numpy()[..., 0], (weight * centre).sum())
    assert_mc_mean(draws["repeat_noise"], (weight * np.sqrt(2) * noise).sum())
    square = (weight * (centre**2 + after + spread**2 + 2 * noise**2)).sum()
    rms = draws["rms_shift"].to_numpy()[..., 0]
    assert_mc_mean(rms**2, square)
    grid = np.linspace(rms.min(), rms.max(), 60)
    # P(b**2 < t) with b normal, over the grid of spreads
    rest = spread**2 + 2 * noise**2
    root = np.sqrt(np.maximum(grid[:, None, None] ** 2 - rest, 0))
    sd = np.sqrt(after)
    below = (weight * (norm.cdf((root - centre) / sd) - norm.cdf((-root - centre) / sd))).sum(
        (1, 2)
    )
    for prob in (0.025, 0.5, 0.975):
        assert_mc_quantile(rms, prob, np.interp(prob, below, grid))


@pytest.mark.sampling
def test_parts_of_the_square_add_up(sampled):
    draws = sampled.idata["posterior"]
    parts = draws["mean_shift"] ** 2 + draws["item_spread"] ** 2 + draws["repeat_noise"] ** 2
    assert_allclose(draws["rms_shift"] ** 2, parts)


@pytest.mark.sampling
def test_tail_is_that_of_the_parts(sampled):
    fit = sampled
    at = np.array([0.0, 5.0, 12.0])
    found = next(iter(bounds.tail_probability(fit, at).values()))
    rng = np.random.default_rng(1)
    mean, rms = fit.draws("mean_shift")[:, 0], fit.draws("rms_shift")[:, 0]
    shift = rng.normal(mean[:, None], np.sqrt(rms**2 - mean**2)[:, None], size=(mean.size, 50))
    for t, one in zip(at, found, strict=True):
        assert abs((np.abs(shift) > t).mean() - one) < 0.005
    assert found[0] == pytest.approx(1)


@pytest.mark.sampling
def test_certificates_of_a_fit(sampled):
    fit = sampled
    about = {"tolerance": 20, "failure_prob": 0.1, "units": "points"}
    rms = certificates.certify(fit, **about)
    bound = np.quantile(fit.draws("rms_shift"), 0.95, axis=0).max() / np.sqrt(0.05)
    assert rms.shift_bound == pytest.approx(bound, rel=0.05)
    assert rms.shift_bound >= bound  # the Monte Carlo error is on the safe side
    assert rms.alpha == pytest.approx(20 / rms.shift_bound)
    tail = certificates.certify(fit, **about, basis="predictive")
    worst = max(bounds.tail_probability(fit, tail.shift_bound).values())
    assert worst == pytest.approx(0.1)
    assert tail.alpha > rms.alpha
    for card in (rms, tail):
        assert "rests-on-a-model" in card.text
    with refused(id="needs-shifts", basis="tail"):
        certificates.certify(fit, **about, basis="tail")


@pytest.mark.sampling
def test_what_speaks_against_a_fit_speaks_against_its_certificate(sampled):
    against = Caution("heavy-tailed-shifts", "a few items move far")
    fit = dataclasses.replace(sampled, cautions=(against,))
    card = certificates.certify(fit, tolerance=20, failure_prob=0.1, units="points")
    assert "a few items move far" in card.text


@pytest.fixture(scope="module")
def two_judges():
    names = ("format", "length", "order")
    tables = [
        bias.simulate(
            items=120, noise=noise, perturbations=names, mean_shift=(0, 6, last),
            item_spread=(1, 3, 2), judges=[judge], random_seed=seed,
        )
        for seed, (judge, noise, last) in enumerate([("loud", 6.0, -3), ("quiet", 1.5, 1)])
    ]  # fmt: skip
    import pandas as pd

    shifts = bias.Shifts.from_frame(pd.concat(tables), **READ, judge="judge")
    return bias.fit(shifts, random_seed=2, draws=1000, chains=2)


@pytest.mark.study
def test_hierarchy_finds_judges_and_perturbations_apart(two_judges):
    fit = two_judges
    assert fit.converged, fit.cautions
    made = bias.variance_parts(fit.data), fit.estimate()
    truth = {
        ("mean_shift", "loud", "length"): 6,
        ("mean_shift", "quiet", "order"): 1,
        ("mean_shift", "loud", "order"): -3,
        ("repeat_noise", "loud"): 6 * np.sqrt(2),
        ("repeat_noise", "quiet"): 1.5 * np.sqrt(2),
        ("rms_shift", "quiet", "length"): np.sqrt(36 + 9 + 2 * 1.5**2),
    }
    for entry, value in truth.items():
        for _, low, high in (estimate[entry] for estimate in made):
            # 99.99 % of a normal interval: twice the half-width of the 95 % one
            assert abs((low + high) / 2 - value) < high - low, entry


@pytest.mark.study
def test_a_certificate_of_several_judges_covers_the_worst(two_judges):
    card = certificates.certify(two_judges, tolerance=10, failure_prob=0.2, units="points")
    assert card.worst == "loud, length"


def test_differences_cannot_be_fitted_and_the_message_says_what_can():
    with refused(id="sizes-only"):
        bias.fit(bias.Shifts.from_differences([0, 1], scale=(1, 5)))


@pytest.mark.slow
def test_a_fit_says_what_its_model_leaves_out(monkeypatch):
    monkeypatch.setattr(sampling, "sample", lambda data, model, **_: model._diagnosis(data))
    rng = np.random.default_rng(0)
    table = bias.simulate(
        items=200, perturbations=["bold"], mean_shift=0, item_spread=4, random_seed=1, step=None
    )
    rare = (table["variant"] == "bold") * rng.choice([0, 30], p=[0.97, 0.03], size=len(table))
    heavy = table.assign(score=np.clip(table["score"] + rare, 0, 100))
    for scores, warned in ((table, False), (heavy, True)):
        assumptions, cautions = bias.fit(bias.Shifts.from_frame(scores, **READ))
        assert ("heavy-tailed-shifts" in {c.id for c in cautions}) is warned
        against = {a.id: a.contradicted_by for a in assumptions}
        assert against["normal-shifts"] == ("heavy-tailed-shifts",) * warned
        assert against["separate-shifts"] == ()


@pytest.mark.slow
@pytest.mark.usefixtures("uncompiled")
def test_an_open_scale_needs_a_unit():
    table = bias.simulate(items=5, random_seed=1)
    inf = float("inf")
    shifts = bias.Shifts.from_frame(table, scale=(-inf, inf), design="item", rerun="rerun")
    with refused(id="no-unit"):
        bias.build_model(shifts)
    model = bias.build_model(shifts, bias.NormalShifts(unit=100))
    closed = bias.build_model(bias.Shifts.from_frame(table, **READ))
    assert model.point_logps() == closed.point_logps()
    with refused(noise=0, log_sd="wide") as error:
        bias.NormalShifts(noise=0, log_sd="wide")
    assert len(error.value.problems) == 2


def test_the_text_of_scores_is_that_of_each_items_mean(uncompiled):
    """Scores of baselines that were asked a different number of times, and of what changed."""
    table = bias.simulate(items=4, random_seed=1)
    table = table.drop(table.index[table["variant"].eq("rerun")][:2])
    shifts = bias.Shifts.from_frame(table, **READ)
    model = bias.NormalShifts()._uncollapsed(shifts)
    rng = np.random.default_rng(2)
    point = {k: v + rng.normal(0, 0.3, np.shape(v)) for k, v in model.initial_point().items()}
    names = ["baseline_score", "changed_score"]
    logs = model.compile_logp([model[name] for name in names], sum=False)(point)
    wanted = [model[name] for name in ("noise", "mean_shift", "level", "item_shift")]
    values = model.compile_fn(
        model.replace_rvs_by_values(wanted), inputs=model.value_vars, on_unused_input="ignore"
    )
    noise, mean, level, item_shift = values(point)
    before = shifts.counts[0, :, 0]
    assert len(set(before)) > 1
    seen = shifts.means[0]
    expected = norm(level, noise / np.sqrt(before)).logpdf(seen[:, 0])
    assert_allclose(logs[0], expected)
    changed = level[:, None] + mean + item_shift
    expected = norm(changed, noise / np.sqrt(shifts.counts[0, :, 1:])).logpdf(seen[:, 1:])
    assert_allclose(logs[1], expected.ravel())
