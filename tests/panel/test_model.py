"""Posteriors against answers by other methods."""

import itertools

import numpy as np
import pytest
from arviz_stats.base import array_stats
from contract import gaps_between
from numpy.testing import assert_allclose, assert_array_equal
from oracles import assert_mc_mean, assert_mc_quantile
from refusals import refused
from scipy.special import expit, logit, logsumexp
from scipy.stats import beta

import bayesjudge as bj
from bayesjudge.panel import (
    BiasPooling,
    Correlated,
    DawidSkene,
    MulticlassDawidSkene,
    NormalPrior,
    PooledDawidSkene,
    VoteRegression,
    Votes,
)
from bayesjudge.panel.models import dawid_skene
from bayesjudge.truth import likelihood
from tests.panel.conftest import anesthesia, code_feedback, fit_of_draws
from tests.panel.effect_likelihood import likelihood_of_votes

FEW = {"draws": 500, "tune": 500, "chains": 2, "cores": 1, "progress": False}

SMALL = Votes(
    votes=[[1, 0, -1], [1, -1, 1], [0, 0, 1], [1, 1, 1], [0, 1, 0], [-1, -1, -1]],
    truth=[1, -1, -1, -1, 0, -1],
    generator=[0, 0, 1, 1, 1, 0],
    generators=("x", "y"),
    judges=("a", "b", "c"),
    calibration="random",
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
    return float(np.sum(model.compile_logp(vars=variables, mode="FAST_COMPILE")(values)))


RATES = {"a": (0.9, 0.6), "b": (0.8, 0.75), "c": (0.7, 0.55)}


def independent(votes, truth):
    found = 1.0
    for vote, (s, c) in zip(votes, RATES.values(), strict=True):
        if vote >= 0:
            passing = s if truth else 1 - c
            found *= passing if vote else 1 - passing
    return found


@pytest.mark.sampling
def test_likelihood_sums_over_the_unknown_truth():
    g = np.array([0.7, 0.4])
    s, c = np.array(list(RATES.values())).T
    model = bj.panel.build_model(SMALL, DawidSkene(better_than_chance=False))
    found = likelihood_of(model, {"prevalence": g, "sensitivity": s, "specificity": c})
    assert found == pytest.approx(summed_over_every_truth(SMALL, g, independent), rel=1e-7)


def pooled_judges(point):
    """Unknowns of judges from a population that amount to the logits in `point`."""
    low, high = point[:, 0], point[:, 1]
    values = {"discrimination": np.log(high - low), "leniency": (high + low) / 2}
    unknowns = {}
    for name, value in values.items():
        unknowns |= {f"{name}_mean": 0.0, f"{name}_spread": 1.0, name: value}
    return unknowns


LOGITS = np.array([[logit(1 - c), logit(s)] for s, c in RATES.values()])


@pytest.mark.sampling
def test_judges_that_are_alike_have_the_same_likelihood():
    g = np.array([0.7, 0.4])
    model = bj.panel.build_model(SMALL, PooledDawidSkene())
    found = likelihood_of(model, {"prevalence": g, **pooled_judges(LOGITS)})
    assert found == pytest.approx(summed_over_every_truth(SMALL, g, independent), rel=1e-7)


@pytest.mark.slow
def test_the_sampler_looks_for_a_judge_where_its_votes_are_and_whatever_it_guesses(monkeypatch):
    text = bj.panel.build_model(SMALL, PooledDawidSkene())
    guess = dawid_skene._guesses
    for away, wider in ((0, 1), (2, 0.01), (-1, 100)):
        monkeypatch.setattr(
            dawid_skene,
            "_guesses",
            lambda *given, away=away, wider=wider: {
                name: (at + away, error * wider) for name, (at, error) in guess(*given).items()
            },
        )
        gaps, off = gaps_between(text, PooledDawidSkene()._sampling_form(SMALL), points=3)
        assert np.ptp(gaps) < 1e-6
        assert off < 1e-12


@pytest.mark.sampling
def test_a_draw_of_a_panel_with_labels_takes_few_steps():
    """40 where judges were counted from their population."""
    votes = bj.panel.Votes.from_frame(bj.panel.simulate(random_seed=1), calibration="random")
    fit = bj.panel.fit(votes, PooledDawidSkene(), random_seed=1)
    assert fit.converged
    assert fit.idata["sample_stats"]["n_steps"].mean() < 20


def test_guesses_of_a_judge_are_those_of_its_votes():
    """All labelled: logits of the shares, with their standard errors."""
    passed = np.array([[40, 10], [12, 38]])  # of 50 good and of 50 bad items, by judge
    votes = np.zeros((100, 2), int)
    for (j, z), n in np.ndenumerate(passed.T):
        first = 50 * z
        votes[first : first + n, j] = 1
    truth = np.repeat([1, 0], 50)
    data = bj.panel.Votes(votes, truth, [0] * 100, "g", "ab", calibration="random")
    found = dawid_skene._guesses(data, PooledDawidSkene())
    high, low = (np.log((row + 0.5) / (50 - row + 0.5)) for row in passed)
    error = np.sqrt(sum(1 / (row + 0.5) + 1 / (50 - row + 0.5) for row in passed))
    gap = np.maximum(high - low, dawid_skene.LEAST_DISCRIMINATION)
    expected = {"discrimination": (np.log(gap), error / gap)}
    expected["leniency"] = ((low + high) / 2, error / 2)
    for name, parts in expected.items():
        np.testing.assert_allclose(found[name], parts, rtol=1e-9)


@pytest.mark.sampling
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

    model = bj.panel.build_model(SMALL, Correlated(nodes=61))
    unknowns = {"prevalence": g, "shared_effect": np.array(effect), **pooled_judges(LOGITS)}
    expected = summed_over_every_truth(SMALL, g, together)
    assert likelihood_of(model, unknowns) == pytest.approx(expected, rel=1e-6)
    found = likelihood_of_votes(SMALL, LOGITS, np.array(effect), g, 61)
    assert found == pytest.approx(expected, 1e-6)


def test_without_a_shared_effect_the_errors_are_independent():
    g = np.array([0.7, 0.4])
    found = likelihood_of_votes(SMALL, LOGITS, np.zeros(2), g, 21)
    assert found == pytest.approx(summed_over_every_truth(SMALL, g, independent), rel=1e-9)


@pytest.mark.sampling
def test_a_missing_vote_as_a_response():
    g, answering = np.array([0.7, 0.4]), np.array([[0.9, 0.5], [0.8, 0.6], [0.7, 0.95]])

    def responding(votes, truth):
        found = 1.0
        for vote, (s, c), there in zip(votes, RATES.values(), answering[:, truth], strict=True):
            passing = s if truth else 1 - c
            found *= (1 - there) if vote < 0 else there * (passing if vote else 1 - passing)
        return found

    model = bj.panel.build_model(SMALL, PooledDawidSkene(answering=bj.BetaPrior()))
    found = likelihood_of(model, {"prevalence": g, "answering": answering, **pooled_judges(LOGITS)})
    assert found == pytest.approx(summed_over_every_truth(SMALL, g, responding), rel=1e-7)


LOG_ODDS = {
    "two groups of judges": {"GROUP": 3},
    "too many judges for groups": {"MOST_IN_GROUPS": 3},
    "labels from elsewhere": {"calibration": "separate"},
    "missing votes tell": {"answering": bj.BetaPrior(4, 1)},
    "nobody labelled": {"labelled": 0},
    "everybody labelled": {"labelled": 60},
}


@pytest.mark.slow
@pytest.mark.parametrize("case", LOG_ODDS)
def test_log_odds_are_the_density_of_the_text(case, monkeypatch):
    """By groups of judges, with what is linear counted beforehand."""
    settings = {"calibration": "random", "labelled": 20, "answering": None} | LOG_ODDS[case]
    for name in ("GROUP", "MOST_IN_GROUPS"):
        monkeypatch.setattr(likelihood, name, settings.get(name, getattr(likelihood, name)))
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 60)
    votes = np.where(rng.random((60, 4)) < 0.8, truth[:, None], 1 - truth[:, None])
    votes[rng.random(votes.shape) < 0.2] = -1
    seen = np.where(np.arange(60) < settings["labelled"], truth, -1)
    about = (np.arange(60) % 2, ["g", "h"], "abcd")
    data = Votes(votes, seen, *about, calibration=settings["calibration"])
    for model in (
        PooledDawidSkene(answering=settings["answering"]),
        DawidSkene(answering=settings["answering"]),
    ):
        gaps, off = gaps_between(bj.panel.build_model(data, model), model._sampling_form(data))
        assert np.ptp(gaps) < 1e-6
        assert off < 1e-9


@pytest.mark.sampling
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
        calibration=SMALL.calibration,
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


@pytest.mark.slow
def test_labelled_items_give_beta_posteriors():
    """All densities are those of conjugate counting, on the log-odds, up to one constant."""
    table = bj.panel.simulate(items=60, labelled=60, missing=0.1, random_seed=1)
    votes = Votes.from_frame(table)
    model = DawidSkene(
        prevalence=bj.BetaPrior(2, 3),
        sensitivity={judge: bj.BetaPrior(3 if judge == "b" else 1, 1) for judge in "abcd"},
        better_than_chance=False,
    )
    bad, good = votes.labelled.T
    fails, passes = votes.tally().sum(axis=0)[:2]
    expected = {
        "prevalence": beta(2 + good, 3 + bad),
        "sensitivity": beta([1, 3, 1, 1] + passes[:, 1], 1 + passes[:, 0]),
        "specificity": beta(1 + fails[:, 0], 1 + fails[:, 1]),
    }
    text, apart, rng = bj.panel.build_model(votes, model), [], np.random.default_rng(1)
    for _ in range(5):
        point = {name: rng.uniform(0.2, 0.9, len(one.mean())) for name, one in expected.items()}
        of_counts = [
            (one.logpdf(point[name]) + np.log(point[name] * (1 - point[name]))).sum()
            for name, one in expected.items()
        ]
        apart.append(density_of(text, point) - sum(of_counts))
    assert np.ptp(apart) < 1e-8
    gaps, off = gaps_between(text, model._sampling_form(votes))
    assert np.ptp(gaps) < 1e-6
    assert off < 1e-9


@pytest.mark.study
def test_one_judge_is_the_prevalence_module():
    # one judge, calibrated on a generator whose prevalence tells nothing of the other's
    rows = [[1]] * 36 + [[0]] * 4 + [[1]] * 12 + [[0]] * 28 + [[1]] * 62 + [[0]] * 38
    votes = Votes(rows, [1] * 40 + [0] * 40 + [-1] * 100, [0] * 80 + [1] * 100, ["c", "t"], ["j"])
    fit = bj.panel.fit(votes, DawidSkene(better_than_chance=False), random_seed=2)
    counts = bj.prevalence.Counts(100, 62, 40, 36, 40, 28, calibration="by_truth")
    exact = bj.prevalence.exact(counts, interval="eti")["prevalence"]
    draws = fit.idata["posterior"]["prevalence"].sel(generator="t")
    assert_mc_mean(draws, exact.value)
    assert_mc_quantile(draws, 0.025, exact.low)
    assert_mc_quantile(draws, 0.975, exact.high)


@pytest.mark.study
def test_anesthesia_by_bayes():
    # shares .3756, .4073, .1432, .0738 under Dirichlet(3), rows 4.8 on the diagonal and 1.067 off
    model = MulticlassDawidSkene(share_concentration=3.0, diagonal=4.8, off_diagonal=1.067)
    fit = bj.panel.fit(anesthesia(), model, random_seed=1, draws=1000, tune=1000)
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
            made[name] = bj.panel.fit(code_feedback().hide(name), BiasPooling(), random_seed=1)
        return made[name]

    return get


@pytest.mark.study
def test_bias_pooling_holds_on_the_real_panel(pooled):
    votes = code_feedback()
    truth = votes.labelled[:, 1] / votes.items
    errors, covered = [], 0
    for name, share in zip(votes.generators, truth, strict=True):
        row = pooled(name).estimate(ci_prob=0.9)["prevalence", name]
        errors.append(100 * abs(row.value - share))
        covered += row.low <= share <= row.high
    assert np.mean(errors) <= 1.5
    assert covered >= 5


@pytest.mark.study
def test_bias_pooling_agrees_with_the_logit_shift(pooled):
    votes = code_feedback()
    name = votes.generators[0]
    closed = bj.panel.logit_shift(votes.hide(name))["prevalence", name]
    sampled = pooled(name).estimate()["prevalence", name]
    assert sampled.value == pytest.approx(closed.value, abs=0.01)
    assert sampled.low < closed.value < sampled.high


@pytest.mark.sampling
def test_bias_pooling_of_labelled_items_is_counting():
    # the panel's pass rate adds next to nothing where every item but one is labelled
    table = bj.panel.simulate(items=300, labelled=299, random_seed=1)
    votes = Votes.from_frame(table, calibration="random")
    fit = bj.panel.fit(votes, BiasPooling(), random_seed=1)
    good = votes.labelled[:, 1]
    for i, name in enumerate(votes.generators):
        draws = fit.idata["posterior"]["prevalence"].sel(generator=name)
        expected = beta(good[i] + 0.5, 299 - good[i] + 0.5)
        assert float(draws.mean()) == pytest.approx(expected.mean(), abs=0.5 * expected.std())
        assert float(draws.std()) == pytest.approx(expected.std(), rel=0.25)


def many_votes(judges, items, **about):
    """All judges fail one half of the items, and pass the other."""
    row = np.ones((2, judges), int) * [[0], [1]]
    half = [items // 2, items - items // 2]
    names = [f"j{i}" for i in range(judges)]
    return Votes(row, [-1, -1], [0, 0], ["x"], names, half, calibration="random", **about)


def test_steps_are_longer_where_many_judges_have_many_votes():
    large = many_votes(8, 10_000)
    assert PooledDawidSkene()._sampling(large) == {"target_accept": 0.9}
    answering = PooledDawidSkene(answering=bj.BetaPrior(1, 1))
    for model, votes in (
        (PooledDawidSkene(), many_votes(7, 10_000)),
        (PooledDawidSkene(), many_votes(8, 9_999)),
        (Correlated(), large),
        (answering, large),
    ):
        assert model._sampling(votes) == {"target_accept": 0.95}


def shares_by_slice_sampling(votes, steps=20_000, seed=1):
    """`VoteRegression` as its docstring has it: elliptical slice sampling (Murray et al. 2010) of
    unknowns that are standard normal beforehand, and truths drawn given the votes.
    """
    rng = np.random.default_rng(seed)
    x = np.where(votes.votes == -1, 0, votes.votes - 0.5)
    known, size = votes.truth >= 0, len(votes.generators)
    sign = 2 * votes.truth[known] - 1

    def logits(u):
        level = 2 * u[0] + abs(u[1]) * u[2 : 2 + size]
        weight = u[2 + size] + 0.5 * abs(u[3 + size]) * u[4 + size :]
        return level[votes.generator] + x @ weight

    def log_likelihood_at(u):
        return -votes.count[known] @ np.logaddexp(0, -sign * logits(u)[known])

    u, shares = np.zeros(4 + size + len(votes.judges)), []
    now = log_likelihood_at(u)
    for step in range(steps):
        other, least = rng.normal(size=u.size), now - rng.exponential()
        angle = rng.uniform(0, 2 * np.pi)
        low, high = angle - 2 * np.pi, angle
        while True:
            new = u * np.cos(angle) + other * np.sin(angle)
            now = log_likelihood_at(new)
            if now > least:
                break
            low, high = (angle, high) if angle < 0 else (low, angle)
            angle = rng.uniform(low, high)
        u = new
        if step % 5 == 0 and step >= 1000:
            drawn = rng.binomial(votes.count, expit(logits(u)))
            good = np.where(known, votes.count * votes.truth, drawn)
            shares.append(np.bincount(votes.generator, good) / votes.items)
    return np.array(shares)


@pytest.mark.sampling
def test_vote_regression_agrees_with_slice_sampling(model_fit):
    fit = model_fit(VoteRegression())
    assert fit.target == "population"
    sampled = fit.idata["posterior"]["prevalence"].transpose("chain", "draw", ...).to_numpy()
    other = shares_by_slice_sampling(fit.data)[None]
    for g in range(len(fit.data.generators)):
        pair = sampled[..., g], other[..., g]
        for method, of in (("mean", np.mean), ("sd", np.std)):
            error = np.hypot(*(array_stats.mcse(draws, method=method) for draws in pair))
            assert abs(of(pair[0]) - of(pair[1])) < 4 * error


@pytest.mark.sampling
def test_vote_regression_agrees_with_its_mode(model_fit):
    """Whose interval is narrower: it takes the spreads between judges and generators as known."""
    fit = model_fit(VoteRegression())
    closed, sampled = bj.panel.model_assisted(fit.data), fit.estimate(target="items")
    for i, name in enumerate(fit.data.generators):
        one, other = sampled["prevalence", name], closed["prevalence", name]
        draws = fit.idata["posterior"]["prevalence"][..., i].to_numpy()
        assert abs(one.value - other.value) < 0.01 + 4 * array_stats.mcse(draws, method="mean")
        ends = (array_stats.mcse(draws, method="quantile", prob=p) for p in (0.025, 0.975))
        width, error = one.high - one.low, 4 * np.hypot(*ends)
        assert 0.7 * (width - error) < other.high - other.low < 1.1 * (width + error)


@pytest.mark.study
def test_vote_regression_knows_what_is_labelled():
    votes = Votes.from_frame(bj.panel.simulate(items=40, labelled=40, random_seed=1))
    fit = bj.panel.fit(votes, VoteRegression(), random_seed=1, **FEW)
    table = fit.estimate(target="items").table
    assert_allclose(table["value"], votes.labelled[:, 1] / 40, rtol=1e-12)
    assert_array_equal(table["high"], table["low"])


@pytest.mark.study
def test_shared_effect_is_found(model_fit):
    fit = model_fit(Correlated(), shared_effect=1.5, labelled=(150, 150, 0))
    assert fit.converged
    draws = fit.draws("shared_effect")
    assert (np.quantile(draws, 0.005, axis=0) < 1.5).all()
    assert (np.quantile(draws, 0.995, axis=0) > 1.5).all()


@pytest.mark.slow
def test_too_few_nodes_are_noticed():
    """At parameters that scatter about those of the simulation, as those of a posterior do."""
    votes = Votes.from_frame(
        bj.panel.simulate(random_seed=3, shared_effect=1.5, labelled=(150, 150, 0)),
        calibration="random",
    )
    rng = np.random.default_rng(1)
    centre = {"prevalence": logit([0.9, 0.75, 0.6]), "shared_effect": [1.5, 1.5]}
    centre |= {"discrimination": [1.2, 1.1, 1.1, 1.3], "leniency": [1.3, 0.7, 0.2, -0.4]}
    draws = {name: at + 0.2 * rng.normal(size=(1, 40, len(at))) for name, at in centre.items()}
    draws["prevalence"] = expit(draws["prevalence"])
    few, many = (
        fit_of_draws(votes, model, 40, **draws) for model in (Correlated(nodes=5), Correlated())
    )
    (caution,) = few.spec._cautions_of_fit(few)
    assert caution.id == "too-few-nodes"
    assert not many.spec._cautions_of_fit(many)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("correlated", "expected a model of Votes"),
        (VoteRegression(), "there are none"),
        (MulticlassDawidSkene(), "two classes are pass and fail"),
        (DawidSkene(sensitivity={"a": bj.BetaPrior()}), "no prior for judge .'b', 'c'."),
        (
            DawidSkene(prevalence=dict.fromkeys("xyz", bj.BetaPrior())),
            "no generator is called .'z'",
        ),
    ],
)
def test_models_that_do_not_suit_the_votes(model, words):
    votes = SMALL.hide("x", "y")
    with pytest.raises(bj.InputError, match=words):
        bj.panel.build_model(votes, model)


@pytest.mark.slow
def test_more_classes_need_a_model_of_them():
    votes = Votes([[0, 2]], [1], [0], ["g"], ["a", "b"], classes=("l", "m", "h"))
    with refused("pass_value=", subject="panel.Correlated"):
        bj.panel.build_model(votes, Correlated())
    assert "confusion" in bj.panel.build_model(votes).named_vars


@pytest.mark.parametrize(
    ("model", "arguments", "words"),
    [
        (VoteRegression, {"judge_spread": 0.0}, "judge_spread expected a positive number"),
        (VoteRegression, {"intercept": 0.5}, r"NormalPrior\(0.5, 1\)"),
        (PooledDawidSkene, {"leniency_spread": bj.BetaPrior()}, "leniency_spread"),
        (PooledDawidSkene, {"answering": 0.9}, r"BetaPrior\.worth\(0\.9, n\)"),
        (Correlated, {"nodes": 2}, "nodes=2"),
        (MulticlassDawidSkene, {"missing": "drop"}, "skip or response"),
        (DawidSkene, {"sensitivity": {"a": 0.9}}, "mapping of them by judge"),
        (DawidSkene, {"better_than_chance": "yes"}, "True or False"),
    ],
)
def test_priors_are_checked(model, arguments, words):
    with pytest.raises(bj.InputError, match=words):
        model(**arguments)


def test_a_report_names_the_priors_of_the_model_and_no_others():
    told = DawidSkene(sensitivity=bj.BetaPrior.worth(0.9, 20)).describe()
    assert told["sensitivity"] == "Beta(19, 3)"
    assert set(told) == {
        *("prevalence", "sensitivity", "specificity", "better_than_chance", "answering")
    }
    told = str(BiasPooling(bias=NormalPrior(0.5, 2)))
    assert "Normal(0.5, 2); " in told
    assert told.endswith(" 0.5")


def items_share_by_enumeration(votes, g, generator):
    """Mean and standard deviation of a generator's share of good items, its rates known."""
    rows = np.repeat(np.arange(len(votes.count)), votes.count)
    rows = rows[votes.generator[rows] == generator]
    chance = []
    for row in rows:
        if votes.truth[row] >= 0:
            chance.append(float(votes.truth[row]))
            continue
        good, bad = g * independent(votes.votes[row], 1), (1 - g) * independent(votes.votes[row], 0)
        chance.append(good / (good + bad))
    p = np.array(chance)
    return p.mean(), np.sqrt((p * (1 - p)).sum()) / len(p)


@pytest.mark.slow
def test_share_of_these_items_by_enumeration():
    draws, g = 4000, np.array([0.7, 0.4])
    s, c = np.array(list(RATES.values())).T
    fit = fit_of_draws(SMALL, DawidSkene(), draws, prevalence=g, sensitivity=s, specificity=c)
    found = fit.spec._about_items(fit, np.random.default_rng(1))["prevalence"][0]
    for i in (0, 1):
        mean, sd = items_share_by_enumeration(SMALL, g[i], i)
        assert found[:, i].mean() == pytest.approx(mean, abs=5 * sd / np.sqrt(draws))
        assert found[:, i].std() == pytest.approx(sd, rel=5 / np.sqrt(2 * draws))


@pytest.mark.slow
@pytest.mark.parametrize("model", [DawidSkene(), BiasPooling()])
def test_a_fully_labelled_generator_is_known_exactly(model):
    votes = Votes.from_frame(
        bj.panel.simulate(items=50, labelled=(50, 20, 0), random_seed=1), calibration="random"
    )
    rates = {"sensitivity": np.full(4, 0.9), "specificity": np.full(4, 0.7)}
    fit = fit_of_draws(votes, model, 500, prevalence=np.full(3, 0.6), **rates)
    estimate = fit.estimate(target="items")
    share = votes.labelled[0, 1] / 50
    assert estimate.target == "items"
    assert estimate["prevalence", "g1"] == pytest.approx((share, share, share), rel=1e-12)
    assert estimate["prevalence", "g2"].low >= votes.labelled[1, 1] / 50
    assert estimate["prevalence", "g3"].low < estimate["prevalence", "g3"].high
    alone = fit_of_draws(votes.only("g1"), model, 500, prevalence=np.full(1, 0.6), **rates)
    assert alone.estimate(target="items")["prevalence", "g1"].low == pytest.approx(share)


@pytest.mark.parametrize("share", [0.0, 0.6, 1.0])
def test_a_process_behind_known_items_has_jeffreys_posterior(share):
    votes = Votes.from_frame(bj.panel.simulate(items=50, labelled=20, random_seed=1),
                             calibration="random")  # fmt: skip
    fit = fit_of_draws(votes, VoteRegression(), 4000, prevalence=np.full(3, share))
    expected = beta(50 * share + 0.5, 50 * (1 - share) + 0.5)
    drawn = fit.draws("prevalence")
    assert fit.target == "population"
    for prob in (0.1, 0.5, 0.9):
        below = (drawn < expected.ppf(prob)).mean()
        assert abs(below - prob) < 4 * np.sqrt(prob * (1 - prob) / drawn.size)
    for target, about in (("population", drawn.mean(axis=0)), ("items", np.full(3, share))):
        value = fit.estimate(target=target).quantities["prevalence"].value
        assert_allclose(value, about)
    assert_array_equal(fit.draws("prevalence"), drawn)  # what is random belongs to the fit
