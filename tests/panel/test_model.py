"""Posteriors against answers by another road."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles import assert_mc_mean, assert_mc_quantile
from scipy.special import expit, logit, logsumexp
from scipy.stats import beta

import bayesjudge as bj
from bayesjudge.core.fit import Fit
from bayesjudge.panel.predictive import log_likelihood, quadrature_cautions
from tests.panel.conftest import anesthesia, code_feedback

Votes, Priors = bj.panel.Votes, bj.panel.Priors
FEW = {"draws": 500, "tune": 500, "chains": 2, "cores": 1, "progress": False}

SMALL = Votes(
    votes=[[1, 0, -1], [1, -1, 1], [0, 0, 1], [1, 1, 1], [0, 1, 0], [-1, -1, -1]],
    truth=[1, -1, -1, -1, 0, -1],
    generator=[0, 0, 1, 1, 1, 0],
    generators=("x", "y"),
    judges=("a", "b", "c"),
)


def summed_over_every_truth(votes, g, probability):
    """Log-likelihood by listing all truths; `probability(judge, vote, truth)`."""
    rows = np.repeat(np.arange(len(votes.count)), votes.count)
    unknown = [i for i, r in enumerate(rows) if votes.truth[r] < 0]
    terms = []
    for guess in itertools.product((0, 1), repeat=len(unknown)):
        truth = votes.truth[rows].astype(int)
        truth[unknown] = guess
        total = 0.0
        for r, t in zip(rows, truth, strict=True):
            share = g[votes.generator[r]]
            total += np.log(share if t else 1 - share)
            total += np.log(probability(votes.votes[r], t))
        terms.append(total)
    return logsumexp(terms)


def likelihood_of(model, point):
    """The observed part of the model's log-density at constrained values of its unknowns."""
    return density_of(model, point, model.observed_RVs)


def density_of(model, point, variables=None):
    """The model's log-density, or the part of some variables."""
    values = {}
    for rv in model.free_RVs:
        transform = model.rvs_to_transforms[rv]
        value = np.asarray(point[rv.name], float)
        if transform is not None:
            value = transform.forward(value, *rv.owner.inputs).eval()
        values[model.rvs_to_values[rv].name] = value
    return float(np.sum(model.compile_logp(vars=variables)(values)))


RATES = {"a": (0.9, 0.6), "b": (0.8, 0.75), "c": (0.7, 0.55)}


def independent(votes, truth):
    found = 1.0
    for vote, (s, c) in zip(votes, RATES.values(), strict=True):
        if vote >= 0:
            passing = s if truth else 1 - c
            found *= passing if vote else 1 - passing
    return found


def test_likelihood_sums_over_the_unknown_truth():
    g = np.array([0.7, 0.4])
    s, c = np.array(list(RATES.values())).T
    model = bj.panel.build_model(SMALL, Priors(judges="unrelated", better_than_chance=False))
    found = likelihood_of(model, {"prevalence": g, "sensitivity": s, "specificity": c})
    assert found == pytest.approx(summed_over_every_truth(SMALL, g, independent), rel=1e-7)


def alike(point):
    """Unknowns of judges from a population that amount to the logits in `point`."""
    low, high = point[:, 0], point[:, 1]
    values = {"discrimination": np.log(high - low), "leaning": (high + low) / 2}
    unknowns = {}
    for name, value in values.items():
        unknowns |= {f"{name}_mean": 0.0, f"{name}_spread": 1.0, f"{name}_own": value}
    return unknowns


LOGITS = np.array([[logit(1 - c), logit(s)] for s, c in RATES.values()])


def test_judges_that_are_alike_have_the_same_likelihood():
    g = np.array([0.7, 0.4])
    model = bj.panel.build_model(SMALL)
    found = likelihood_of(model, {"prevalence": g, **alike(LOGITS)})
    assert found == pytest.approx(summed_over_every_truth(SMALL, g, independent), rel=1e-7)


def test_judges_with_many_votes_have_the_same_density(monkeypatch):
    # both forms, up to the Jacobian of own -> mean + spread * own
    from bayesjudge.panel import model_classes

    point = alike(LOGITS)
    point |= {"discrimination_spread": 0.7, "leaning_spread": 1.3, "discrimination_mean": 0.2}
    densities = {}
    for few in (model_classes.CENTRED_FROM, 0):
        monkeypatch.setattr(model_classes, "CENTRED_FROM", few)
        model = bj.panel.build_model(SMALL)
        value = dict(point)
        if few == 0:
            for name in ("discrimination", "leaning"):
                own = value.pop(f"{name}_own")
                value[name] = value[f"{name}_mean"] + value[f"{name}_spread"] * own
        densities[few] = density_of(model, {"prevalence": np.array([0.7, 0.4]), **value})
    jacobian = len(LOGITS) * np.log(0.7 * 1.3)
    other, centred = densities.values()
    assert centred == pytest.approx(other - jacobian, rel=1e-9)


@pytest.mark.parametrize("effect", [(0.5, 1.5), (2.0, 0.1)])
def test_shared_effect_is_integrated_out(effect):
    # by a sum over a fine grid of the effect, and over every truth
    g = np.array([0.7, 0.4])
    grid = np.linspace(-9, 9, 4001)
    weight = np.exp(-(grid**2) / 2) / np.exp(-(grid**2) / 2).sum()

    def together(votes, truth):
        passing = expit(LOGITS[:, truth, None] + effect[truth] * grid)
        each = np.where(votes[:, None] == 1, passing, 1 - passing)
        each = np.where(votes[:, None] < 0, 1.0, each)
        return np.prod(each, axis=0) @ weight

    model = bj.panel.build_model(SMALL, model="correlated", nodes=61)
    unknowns = {"prevalence": g, "shared_effect": np.array(effect), **alike(LOGITS)}
    expected = summed_over_every_truth(SMALL, g, together)
    assert likelihood_of(model, unknowns) == pytest.approx(expected, rel=1e-6)
    assert log_likelihood(SMALL, LOGITS, np.array(effect), g, 61) == pytest.approx(expected, 1e-6)


def test_without_a_shared_effect_the_errors_are_independent():
    g = np.array([0.7, 0.4])
    found = log_likelihood(SMALL, LOGITS, np.zeros(2), g, 21)
    assert found == pytest.approx(summed_over_every_truth(SMALL, g, independent), rel=1e-9)


def test_a_missing_vote_as_a_response():
    g, answering = np.array([0.7, 0.4]), np.array([[0.9, 0.5], [0.8, 0.6], [0.7, 0.95]])

    def responding(votes, truth):
        found = 1.0
        for vote, (s, c), there in zip(votes, RATES.values(), answering[:, truth], strict=True):
            passing = s if truth else 1 - c
            found *= (1 - there) if vote < 0 else there * (passing if vote else 1 - passing)
        return found

    model = bj.panel.build_model(SMALL, missing="response")
    found = likelihood_of(model, {"prevalence": g, "answering": answering, **alike(LOGITS)})
    assert found == pytest.approx(summed_over_every_truth(SMALL, g, responding), rel=1e-7)


def test_two_classes_by_name_are_the_same_model():
    share = np.array([[0.3, 0.7], [0.6, 0.4]])
    third = Votes(
        SMALL.votes,
        SMALL.truth,
        SMALL.generator,
        SMALL.generators,
        SMALL.judges,
        count=SMALL.count,
        classes=("bad", "good", "unused"),
    )
    tiny = 1e-12
    confusion = np.array(
        [[[c, 1 - c, tiny], [1 - s, s, tiny], [1 / 3] * 3] for s, c in RATES.values()]
    )
    confusion /= confusion.sum(axis=2, keepdims=True)
    shares = np.column_stack([share * (1 - tiny), [tiny, tiny]])
    found = likelihood_of(bj.panel.build_model(third), {"share": shares, "confusion": confusion})
    expected = summed_over_every_truth(SMALL, share[:, 1], independent)
    assert found == pytest.approx(expected, rel=1e-5)


def test_labelled_items_give_beta_posteriors():
    table = bj.panel.simulate(items=60, labelled=60, missing=0.1, random_seed=1)
    votes = Votes.from_frame(table)
    priors = Priors(
        prevalence=bj.BetaPrior(2, 3),
        judges="unrelated",
        sensitivity=bj.BetaPrior(3, 1),
        better_than_chance=False,
    )
    fit = bj.panel.fit(votes, priors, random_seed=1)
    posterior = fit.idata["posterior"]
    bad, good = votes.labelled[0]
    tally = votes.tally().sum(axis=0)
    cases = (
        (posterior["prevalence"].sel(generator="g1"), beta(2 + good, 3 + bad)),
        (posterior["sensitivity"].sel(judge="b"), beta(3 + tally[1, 1, 1], 1 + tally[1, 1, 0])),
        (posterior["specificity"].sel(judge="c"), beta(1 + tally[0, 2, 0], 1 + tally[0, 2, 1])),
    )
    for draws, expected in cases:
        assert_mc_mean(draws, expected.mean())
        for prob in (0.025, 0.975):
            assert_mc_quantile(draws, prob, expected.ppf(prob))


def test_one_judge_is_the_prevalence_room():
    # one judge, calibrated on a generator whose prevalence tells nothing of the other's
    rows = [[1]] * 36 + [[0]] * 4 + [[1]] * 12 + [[0]] * 28 + [[1]] * 62 + [[0]] * 38
    votes = Votes(rows, [1] * 40 + [0] * 40 + [-1] * 100, [0] * 80 + [1] * 100, ["c", "t"], ["j"])
    fit = bj.panel.fit(votes, Priors(judges="unrelated", better_than_chance=False), random_seed=2)
    counts = bj.prevalence.Counts(100, 62, 40, 36, 40, 28, calibration="by_truth")
    exact = bj.prevalence.exact(counts)["prevalence"]
    draws = fit.idata["posterior"]["prevalence"].sel(generator="t")
    assert_mc_mean(draws, exact.value)
    assert_mc_quantile(draws, 0.025, exact.low)
    assert_mc_quantile(draws, 0.975, exact.high)


def test_anesthesia_by_bayes():
    # shares .3756, .4073, .1432, .0738 under Dirichlet(3), rows 4.8 on the diagonal and 1.067 off
    priors = Priors(share_concentration=3.0, diagonal=4.8, off_diagonal=1.067)
    fit = bj.panel.fit(anesthesia(), priors, random_seed=1, draws=500, tune=500)
    assert fit.converged
    share = fit.idata["posterior"]["share"]
    for name, expected in zip("1234", (0.3756, 0.4073, 0.1432, 0.0738), strict=True):
        found = share.sel(truth=name).to_numpy()[..., 0]
        assert_mc_mean(found, expected)


@pytest.fixture(scope="module")
def pooled():
    made = {}

    def get(name):
        if name not in made:
            made[name] = bj.panel.fit(
                code_feedback().hide(name), model="bias_pooling", random_seed=1
            )
        return made[name]

    return get


def test_bias_pooling_holds_on_the_real_panel(pooled):
    votes = code_feedback()
    truth = votes.labelled[:, 1] / votes.items
    errors, covered = [], 0
    for name, share in zip(votes.generators, truth, strict=True):
        row = pooled(name).estimate(ci_prob=0.9)[f"prevalence[{name}]"]
        errors.append(100 * abs(row.value - share))
        covered += row.low <= share <= row.high
    assert np.mean(errors) <= 1.5
    assert covered >= 5


def test_bias_pooling_agrees_with_the_logit_shift(pooled):
    votes = code_feedback()
    name = votes.generators[0]
    closed = bj.panel.logit_shift(votes.hide(name))[f"prevalence[{name}]"]
    sampled = pooled(name).estimate()[f"prevalence[{name}]"]
    assert sampled.value == pytest.approx(closed.value, abs=0.01)
    assert sampled.low < closed.value < sampled.high


def test_bias_pooling_of_labelled_items_is_counting():
    # the panel's pass rate adds next to nothing where every item is labelled
    votes = Votes.from_frame(bj.panel.simulate(items=300, labelled=300, random_seed=1))
    fit = bj.panel.fit(votes, model="bias_pooling", random_seed=1)
    good = votes.labelled[:, 1]
    for i, name in enumerate(votes.generators):
        draws = fit.idata["posterior"]["prevalence"].sel(generator=name)
        expected = beta(good[i] + 0.5, 300 - good[i] + 0.5)
        assert float(draws.mean()) == pytest.approx(expected.mean(), abs=0.5 * expected.std())
        assert float(draws.std()) == pytest.approx(expected.std(), rel=0.25)


def test_vote_regression_agrees_with_its_mode(model_fit):
    fit = model_fit("vote_regression")
    closed = bj.panel.model_assisted(fit.data).table
    table = fit.estimate().table
    assert_allclose(table["value"], closed.loc[table.index, "value"], atol=0.01)
    widths = table["high"] - table["low"]
    assert_allclose(widths, (closed["high"] - closed["low"])[table.index], rtol=0.15)


def test_vote_regression_knows_what_is_labelled():
    votes = Votes.from_frame(bj.panel.simulate(items=40, labelled=40, random_seed=1))
    fit = bj.panel.fit(votes, model="vote_regression", random_seed=1, **FEW)
    table = fit.estimate().table
    assert_allclose(table["value"], votes.labelled[:, 1] / 40, atol=1e-6)
    assert_allclose(table["high"], table["low"], atol=1e-5)


SETTINGS = {
    "prevalence": (0.9, 0.75, 0.6),
    "sensitivity": (0.95, 0.9, 0.85, 0.8),
    "specificity": (0.6, 0.7, 0.8, 0.9),
}


def fit_at_truth(model, effect, **simulation):
    """A fit whose draws all are the truth that the votes were simulated from."""
    import xarray as xr

    from bayesjudge.panel.simulate import _intercepts

    table = bj.panel.simulate(**SETTINGS, shared_effect=effect, random_seed=3, **simulation)
    values = {name: np.array(rate) for name, rate in SETTINGS.items()}
    if model == "correlated":
        high = _intercepts(values["sensitivity"], effect)
        low = _intercepts(1 - values["specificity"], effect)
        values |= {"discrimination": np.log(high - low), "leaning": (high + low) / 2}
        values |= {"shared_effect": np.full(2, effect)}
    draws = {name: np.broadcast_to(v, (2, 50, *np.shape(v))) for name, v in values.items()}
    names = {name: (("chain", "draw", *(f"{name}_{i}" for i in range(v.ndim - 2))), v)
             for name, v in draws.items()}  # fmt: skip
    tree = xr.DataTree.from_dict({"posterior": xr.Dataset(names)})
    words = {"method": "", "source": "", "room": "panel", "options": {"model": model}}
    return Fit(tree, Votes.from_frame(table), Priors(), tuple(SETTINGS), **words)


@pytest.mark.parametrize("model", ["dawid_skene", "correlated"])
def test_only_the_plain_model_is_rejected_where_judges_err_together(model):
    fit = fit_at_truth(model, 1.5, labelled=(150, 150, 0))
    table = bj.panel.dependence_check(fit, random_seed=1)
    if model == "dawid_skene":
        assert table.loc[["bad", "good"], "rejected"].all()
        assert (table.loc[["bad", "good"], "expected"].abs() < 0.02).all()
    else:
        assert not table["rejected"].any()
        assert (table["observed"] > table["low"]).all()


def test_dependence_check_is_quiet_where_errors_are_independent():
    fit = fit_at_truth("dawid_skene", 0.0)
    table = bj.panel.dependence_check(fit, random_seed=1)
    assert not table["rejected"].any()
    # labelled or not, the votes hang together as much as truths and rates make them
    assert table["observed"].between(table["low"], table["high"]).all()
    assert table.loc["all", "expected"] > 0.05


def test_shared_effect_is_found(model_fit):
    fit = model_fit("correlated", shared_effect=1.5, labelled=(150, 150, 0))
    assert fit.converged
    draws = fit.draws("shared_effect")
    assert (np.quantile(draws, 0.005, axis=0) < 1.5).all()
    assert (np.quantile(draws, 0.995, axis=0) > 1.5).all()


def test_too_few_nodes_are_noticed(model_fit):
    from dataclasses import replace

    fit = model_fit("correlated", shared_effect=1.5, labelled=(150, 150, 0))
    assert quadrature_cautions(replace(fit, options={**fit.options, "nodes": 5}))
    assert not quadrature_cautions(fit)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"model": "majority"}, "expected one of"),
        ({"missing": "drop"}, "skip or response"),
        ({"model": "correlated", "nodes": 2}, "nodes=2"),
        ({"model": "vote_regression"}, "there are none"),
        ({"model": "bias_pooling"}, "there are none"),
    ],
)
def test_models_that_cannot_be_had(arguments, words):
    votes = SMALL.hide("x", "y")
    with pytest.raises(bj.InputError, match=words):
        bj.panel.build_model(votes, **arguments)


def test_more_classes_need_dawid_skene():
    votes = Votes([[0, 2]], [1], [0], ["g"], ["a", "b"], classes=("l", "m", "h"))
    with pytest.raises(bj.InputError, match="pass and fail"):
        bj.panel.build_model(votes, model="correlated")


@pytest.mark.parametrize("arguments", [{"judge_spread": 0.0}, {"judges": "same"}])
def test_priors_are_checked(arguments):
    with pytest.raises(bj.InputError, match=next(iter(arguments))):
        Priors(**arguments)
