"""The model's density and posterior against answers found without it."""

import numpy as np
import pytest
from conftest import MODULES
from contract import graph_of, is_other
from enumeration import MEMBERS, OPTIONS, SOURCES, emission, enumerated, few
from numpy.testing import assert_allclose
from oracles import assert_mc_mean, assert_mc_sd

import bayesjudge as bj
from bayesjudge import BetaPrior
from bayesjudge.ratings import (
    FreeChoice,
    KnownChoice,
    RaterErrors,
    Ratings,
    ResponseSets,
    TiedChoice,
)
from bayesjudge.ratings.response_sets import choice_matrix, error_matrix

(CONTRACT,) = (one for one in MODULES if one.name == "ratings")


# Models as values -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (
            lambda: ResponseSets(error=BetaPrior(1, 9)),
            r"error expected RaterErrors.*BetaPrior\.worth",
        ),
        (lambda: RaterErrors(0.05), r"rate expected a BetaPrior, got 0\.05.*worth\(0\.05, n\)"),
        (lambda: ResponseSets(choice=MEMBERS), r"a known matrix is KnownChoice\(matrix\)"),
        (lambda: ResponseSets(concentration=0), "concentration must be positive and finite, got 0"),
        (lambda: ResponseSets(share=(1, -1, 1)), "share must be positive"),
        (lambda: FreeChoice("flat"), "concentration must be positive and finite, got 'flat'"),
        (lambda: TiedChoice(-1.0), r"strength_sd must be positive and finite, got -1\.0"),
        (lambda: KnownChoice(0.9 * MEMBERS), "each column must sum to 1"),
        (lambda: KnownChoice([0.5, 0.5]), r"got \(2,\)"),
    ],
)
def test_what_cannot_be_a_prior_is_refused_with_the_remedy(wrong, words):
    with pytest.raises(bj.InputError, match=words):
        wrong()


def test_a_model_is_described_by_the_priors_that_it_has():
    tied = ResponseSets(choice=TiedChoice(2), error=RaterErrors(BetaPrior(1, 19)))
    priors = (" Dirichlet(1)", " 4, ", " Normal(0, 2)", " Beta(1, 19), ")
    assert all(prior in part for prior, part in zip(priors, str(tied).split("; "), strict=True))
    assert str(tied).endswith(" Normal(0, 0.5)")
    assert str(ResponseSets()).count("Dirichlet(1)") == 2


def test_a_way_to_choose_is_no_prior_that_somebody_stated():
    for option in (FreeChoice(), TiedChoice()):
        assert not ResponseSets(choice=option)._states_priors()
    stated = [
        ResponseSets(choice=TiedChoice(2)),
        ResponseSets(choice=FreeChoice(2)),
        ResponseSets(choice=KnownChoice(np.eye(2))),
        ResponseSets(concentration=2, choice=TiedChoice()),
    ]
    assert all(one._states_priors() for one in stated)


@pytest.mark.slow
def test_each_field_of_an_option_is_read():
    data = CONTRACT.models()[0][1]
    errors = RaterErrors(BetaPrior(1, 9))
    moves = [
        (ResponseSets(choice=FreeChoice(2.0)), ResponseSets()),
        (ResponseSets(choice=TiedChoice(2.0)), ResponseSets(choice=TiedChoice())),
        (ResponseSets(error=RaterErrors(BetaPrior(2, 9))), ResponseSets(error=errors)),
        (ResponseSets(error=RaterErrors(errors.rate, 0.9)), ResponseSets(error=errors)),
    ]
    moves += [
        tuple(ResponseSets(choice=KnownChoice(choice_matrix(MEMBERS, g))) for g in (0.1, 0.2))
    ]
    for one, other in moves:
        made, changed = (bj.ratings.build_model(data, model) for model in (one, other))
        assert is_other(changed, graph_of(made)), one


def test_a_model_that_does_not_fit_the_ratings_is_refused():
    data = CONTRACT.models()[0][1]
    outside = np.array([[1.0, 0.2, 0.5], [0.0, 0.8, 0.5]])
    for model, words in (
        (ResponseSets(choice=KnownChoice(np.eye(2))), r"expected one of the shapes .*got \(2, 2\)"),
        (ResponseSets(choice=KnownChoice(outside)), "does not hold it"),
        (ResponseSets(share=(1.0, 2.0)), "share must be one weight or 3"),
    ):
        with pytest.raises(bj.InputError, match=words):
            bj.ratings.build_model(data, model)


def test_assumptions_are_those_of_the_model():
    ids = [{a.id for a in model._diagnosis(data)[0]} for model, data in CONTRACT.models()]
    assert "no-rater-errors" in ids[0]
    assert "no-rater-errors" not in ids[1]


# The density ------------------------------------------------------------------------------------


@pytest.fixture
def interpreted():
    """Functions of PyTensor that are called once are not worth compiling."""
    import pytensor

    with pytensor.config.change_flags(mode="FAST_COMPILE"):
        yield


def point_at(model, **values):
    """A point of NUTS, from values on their own scales."""
    point = model.initial_point()
    for name, value in values.items():
        variable = model[name]
        transform = model.rvs_to_transforms[variable]
        made = np.asarray(value)
        if transform is not None:
            made = transform.forward(made, *variable.owner.inputs).eval()
        point[model.rvs_to_values[variable].name] = made
    return point


def likelihood_by_hand(ratings, share, size, columns, rate, skew):
    """Log probability of all ratings, given what choices from {yes, no} are of each source."""
    total = 0.0
    for s, n_s in enumerate(size):
        choice = np.column_stack([MEMBERS[:, :2], columns[s]])
        error = error_matrix(MEMBERS, rate if s == 0 else 0.0, skew)
        seen = emission(choice, error)
        for i in range(ratings.chosen.shape[1]):
            counts = [*ratings.chosen[s, i], *ratings.endorsed[s, i]]
            total += np.log(enumerated(counts, n_s * share[s], seen))
    return total


@pytest.mark.slow
@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("how", ["free", "tied", "known"])
def test_the_models_likelihood_is_the_enumerated_one(how):
    """Errors included, against enumeration at one point."""
    table = bj.ratings.simulate(items=6, choices=3, response_sets=1, random_seed=3)
    ratings = CONTRACT.read(table)
    rng = np.random.default_rng(4)
    share, size = rng.dirichlet(np.ones(3), 3), rng.gamma(4, 1, 3)
    columns, strength = rng.dirichlet(np.ones(2), 3), rng.normal(size=3)
    given, point, rate, skew = {}, {"set_share": share}, 0.0, 0.0
    if how == "free":
        rate, skew = 0.15, 0.4
        given = {"error": RaterErrors(BetaPrior(1, 9))}
        point |= {"choice_of_2": columns[:, None], "error_rate": rate, "skew": skew}
    elif how == "tied":
        given, point["strength"] = {"choice": TiedChoice()}, strength
        columns = [choice_matrix(MEMBERS, g)[:, 2] for g in strength]
    else:
        known = [np.column_stack([MEMBERS[:, :2], c]) for c in columns]
        given = {"choice": KnownChoice(known)}
    model = bj.ratings.build_model(ratings, ResponseSets(**given))
    at = point_at(model, concentration=size, **point)
    found = float(model.compile_logp(vars=[model["ratings"]])(at))
    assert_allclose(found, likelihood_by_hand(ratings, share, size, columns, rate, skew), rtol=1e-8)


@pytest.mark.slow
@pytest.mark.usefixtures("interpreted")
def test_shares_and_choices_have_the_priors_that_were_asked_for():
    """The joint table of choice and set, against Dirichlet shares times Dirichlet columns of F."""
    options = ("a", "b", "c")
    ratings = Ratings(np.ones((1, 2, 3), int), options, "a", sources=("people",))
    priors = ResponseSets((1.5, 1.0, 2.0, 0.8, 1.0, 3.0, 1.2), choice=FreeChoice(1.7))
    model = priors._sampling_form(ratings)
    densities = [model[name] for name in ("choice_share", "set_behind_4", "choice_prior_density")]
    logp = model.compile_logp(vars=densities, jacobian=False)
    members, rng, off = ratings.members, np.random.default_rng(9), []
    held = [np.flatnonzero(row) for row in members]
    for _ in range(5):
        joint = rng.dirichlet(np.ones(12))
        table = np.zeros((3, 7))
        table[members > 0] = joint
        share, chosen = table.sum(axis=0), table.sum(axis=1)
        behind = np.stack([table[k, held[k]] / chosen[k] for k in range(3)])
        found = logp(point_at(model, choice_share=chosen[None], set_behind_4=behind[None]))
        columns = (table / share)[members > 0]
        expected = (np.asarray(priors.share) - 1) @ np.log(share) + 0.7 * np.log(columns).sum()
        # volumes: d(table) = prod share^(size - 1) d(share, F) = prod chosen^(4 - 1) d(O, F')
        expected -= (members.sum(axis=0) - 1) @ np.log(share)
        expected += 3 * np.log(chosen).sum()
        off.append(float(found) - expected)
    assert_allclose(off, off[0], rtol=0, atol=1e-8)


# The posterior ----------------------------------------------------------------------------------


@pytest.mark.sampling
def test_posterior_matches_prior_draws_weighted_by_enumeration():
    ratings = few()  # whose graph is that of the contract, compiled once
    fit = bj.ratings.fit(ratings, random_seed=1)
    rng = np.random.default_rng(6)
    n = 50_000
    share, size = rng.dirichlet(np.ones(3), n), np.exp(np.log(4.0) + rng.normal(size=n))
    picked = rng.random(n)
    choice = np.broadcast_to(MEMBERS, (n, 2, 3)).copy()
    choice[:, 0, 2], choice[:, 1, 2] = picked, 1 - picked
    seen = emission(choice, np.eye(3))
    log = np.zeros(n)
    for i in range(6):
        counts = [*ratings.chosen[1, i], *ratings.endorsed[1, i]]
        log += np.log(enumerated(counts, size[:, None] * share, seen))
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    effective = 1 / (weight**2).sum()
    assert effective > 1_500
    for k in range(2):
        values = share @ MEMBERS[k]
        mean = weight @ values
        error = np.sqrt(weight @ (values - mean) ** 2 / effective)
        draws = fit.idata["posterior"]["endorsement"].sel(source="gpt").to_numpy()[..., k]
        from arviz_stats.base import array_stats

        total = np.hypot(error, float(array_stats.mcse(draws, method="mean")))
        assert abs(draws.mean() - mean) < 5 * total
    mean_size = weight @ np.log(size)
    drawn = np.log(fit.idata["posterior"]["concentration"].sel(source="gpt").to_numpy())
    spread = np.sqrt(weight @ (np.log(size) - mean_size) ** 2)
    total = np.hypot(spread / np.sqrt(effective), float(array_stats.mcse(drawn, method="mean")))
    assert abs(drawn.mean() - mean_size) < 5 * total


@pytest.mark.study
def test_paired_answers_identify_the_choice():
    """Raters who give a set and a choice: F is a Beta posterior where nothing else speaks of it.

    Counting such a choice once more as a choice of an unknown set would pull it.
    """
    paired, chosen = np.zeros((3, 2, 3), int), np.zeros((3, 2, 2), int)
    paired[0, :, 2] = 30, 10
    chosen[0] = (15, 5), (15, 5)
    endorsed = np.zeros((3, 2, 3), int)
    endorsed[..., 2] = 20
    ratings = Ratings(
        chosen,
        OPTIONS,
        "yes",
        endorsed=endorsed,
        paired=paired,
        paired_chosen=chosen,
        sources=SOURCES,
    )
    fit = bj.ratings.fit(ratings, random_seed=1)
    draws = fit.idata["posterior"]["choice"].sel(
        source="people", option="yes", response_set="yes|no"
    )
    a, b = 31.0, 11.0
    assert_mc_mean(draws.to_numpy(), a / (a + b))
    assert_mc_sd(draws.to_numpy(), np.sqrt(a * b / (a + b) ** 2 / (a + b + 1)))
