"""The exact likelihood against enumeration, and the posterior against answers by other roads."""

import numpy as np
import pytest
from conftest import simulated
from enumeration import MEMBERS, OPTIONS, emission, enumerated
from numpy.testing import assert_allclose
from oracles import assert_mc_mean, assert_mc_sd
from scipy.special import gammaln

import bayesjudge as bj
from bayesjudge.core.priors import BetaPrior
from bayesjudge.ratings import Priors, Ratings
from bayesjudge.ratings.items import draw_shares
from bayesjudge.ratings.lattice import lattice_of
from bayesjudge.ratings.model import prepared
from bayesjudge.ratings.thinning import thinned

SOURCES = ("people", "gpt", "claude")  # those of the contract's fit, so that its model is reused


@pytest.fixture(scope="module")
def small():
    rng = np.random.default_rng(1)
    return rng.integers(0, 3, (2, 5, 2)), rng.integers(0, 2, (2, 5, 3)), rng.gamma(2, 1, (2, 3))


@pytest.mark.parametrize("rate", [0.0, 0.2])
def test_likelihood_sums_over_every_latent_response_set(small, rate):
    chosen, endorsed, alpha = small
    error = bj.ratings.error_matrix(MEMBERS, rate, 0.5)
    choice = np.stack([bj.ratings.choice_matrix(MEMBERS, g) for g in (0.5, -1.0)])
    seen = emission(choice, error)
    lattice = lattice_of(chosen, endorsed, fold=np.array([rate == 0, rate == 0]))
    by_hand = [
        np.log(enumerated(row, alpha[s], seen[s]))
        for row, s in zip(lattice.counts, lattice.source[lattice.pattern_group], strict=True)
    ]
    assert_allclose(lattice.log_likelihood(alpha, seen), by_hand, rtol=1e-12)
    assert lattice.weight.sum() == 10


def test_points_are_found_also_where_a_row_is_no_single_number(small, monkeypatch):
    from bayesjudge.ratings import lattice as module

    fold = np.array([False, True])
    coded = lattice_of(*small[:2], fold=fold)
    monkeypatch.setattr(module, "_sizes", lambda rows: None)
    plain = lattice_of(*small[:2], fold=fold)
    for name in ("group", "step_start", "steps", "pattern"):
        assert np.array_equal(getattr(coded, name), getattr(plain, name))


def test_likelihood_of_a_fully_specified_task_is_dirichlet_multinomial():
    counts = np.array([[[4, 1, 0], [0, 2, 3]]])
    alpha = np.array([[0.7, 2.0, 1.1]])
    lattice = lattice_of(counts, 0 * counts, fold=np.ones(1, bool))
    found = lattice.log_likelihood(alpha, np.concatenate([np.eye(3)] * 2)[None])
    n = lattice.counts[:, :3]
    expected = (gammaln(alpha + n) - gammaln(alpha)).sum(axis=1) - (
        gammaln(alpha.sum() + n.sum(axis=1)) - gammaln(alpha.sum())
    )
    assert_allclose(found, expected, rtol=1e-12)


def test_gradient_of_the_recurrence_is_its_slope(small):
    from bayesjudge.ratings import model_lattice as op

    chosen, endorsed, alpha = small
    seen = emission(np.stack([bj.ratings.choice_matrix(MEMBERS, 0.5)] * 2), np.eye(3))
    lattice = lattice_of(chosen, endorsed, fold=np.array([False, True]))
    steps = (lattice.group, lattice.step_start, lattice.steps)
    mine, flat = alpha[lattice.source] + lattice.folded, seen.reshape(-1, 3) * 0.9 + 0.05
    rng = np.random.default_rng(2)
    toward = rng.normal(size=mine.shape), rng.normal(size=flat.shape)

    def value(step):
        p = op._forward(mine + step * toward[0], flat + step * toward[1], *steps)[0]
        return np.log(p[lattice.pattern]).sum()

    p, more = op._forward(mine, flat, *steps)
    bar = np.zeros(p.size)
    np.add.at(bar, lattice.pattern, 1 / p[lattice.pattern])
    found = op._backward(mine, flat, *steps, bar, p, more)
    slope = sum((g * t).sum() for g, t in zip(found, toward, strict=True))
    assert_allclose(slope, (value(1e-5) - value(-1e-5)) / 2e-5, rtol=1e-7)


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
        error = bj.ratings.error_matrix(MEMBERS, rate if s == 0 else 0.0, skew)
        seen = emission(choice, error)
        for i in range(ratings.chosen.shape[1]):
            counts = [*ratings.chosen[s, i], *ratings.endorsed[s, i]]
            total += np.log(enumerated(counts, n_s * share[s], seen))
    return total


@pytest.mark.parametrize("how", ["free", "tied", "known"])
def test_the_models_likelihood_is_that_of_the_lattice(how):
    """The graph that NUTS climbs, errors included, against enumeration at one point."""
    table = bj.ratings.simulate(items=6, choices=3, response_sets=1, random_seed=3)
    ratings = Ratings.from_frame(
        table, positive="yes", judges=["gpt", "claude"], response_set="response_set"
    )
    rng = np.random.default_rng(4)
    share, size = rng.dirichlet(np.ones(3), 3), rng.gamma(4, 1, 3)
    columns, strength = rng.dirichlet(np.ones(2), 3), rng.normal(size=3)
    given, point, rate, skew = {}, {"set_share": share}, 0.0, 0.0
    if how == "free":
        rate, skew = 0.15, 0.4
        given = {"error": BetaPrior(1, 9)}
        table = np.stack([np.column_stack([MEMBERS[:, :2], c]) for c in columns])
        joint = table * share[:, None, :]  # of choice and set, taken apart by choice
        chosen = joint.sum(axis=-1)
        behind = np.stack([joint[:, 0, [0, 2]], joint[:, 1, [1, 2]]], axis=1) / chosen[..., None]
        point = {"choice_share": chosen, "set_behind_2": behind, "error_rate": rate, "skew": skew}
    elif how == "tied":
        given, point["strength"] = {"strength": 1.0}, strength
        columns = [bj.ratings.choice_matrix(MEMBERS, g)[:, 2] for g in strength]
    else:
        given = {"choice": [np.column_stack([MEMBERS[:, :2], c]) for c in columns]}
    model = bj.ratings.build_model(ratings, Priors(**given))
    at = point_at(model, pool_size=size, **point)
    found = float(model.point_logps(at, round_vals=10)["ratings"])
    assert_allclose(found, likelihood_by_hand(ratings, share, size, columns, rate, skew), rtol=1e-8)


def test_a_known_choice_that_cannot_be_is_refused(forced_only):
    outside = np.array([[1.0, 0.2, 0.5], [0.0, 0.8, 0.5]])
    for wrong, words in (
        (np.eye(2), "shape"),
        (outside, "does not hold it"),
        (0.9 * MEMBERS, "sum to 1"),
    ):
        with pytest.raises(bj.InputError, match=words):
            bj.ratings.build_model(forced_only, Priors(choice=wrong))
    with pytest.raises(bj.InputError, match="not both"):
        Priors(choice=MEMBERS, strength=1.0)


def test_shares_and_choices_have_the_priors_that_were_asked_for():
    """The joint table of choice and set, against Dirichlet shares times Dirichlet columns of F."""
    options = ("a", "b", "c")
    ratings = Ratings(np.ones((1, 2, 3), int), options, "a", sources=("people",))
    priors = Priors(share=(1.5, 1.0, 2.0, 0.8, 1.0, 3.0, 1.2), selection=1.7)
    model = bj.ratings.build_model(ratings, priors)
    densities = [model["choice_share"], model["set_behind_4"], *model.potentials]
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


def few():
    """Six items with two choices and one set each: few enough to enumerate."""
    rng = np.random.default_rng(5)
    chosen = rng.multinomial(2, [0.6, 0.4], (3, 6))
    endorsed = rng.multinomial(1, [0.3, 0.3, 0.4], (3, 6))
    return Ratings(chosen, OPTIONS, "yes", endorsed=endorsed, sources=SOURCES)


def test_posterior_matches_prior_draws_weighted_by_enumeration():
    ratings = few()
    fit = bj.ratings.fit(ratings, random_seed=1)
    rng = np.random.default_rng(6)
    n = 200_000
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
    assert effective > 5_000
    for k in range(2):
        values = share @ MEMBERS[k]
        mean = weight @ values
        error = np.sqrt(weight @ (values - mean) ** 2 / effective)
        draws = fit.idata["posterior"]["endorsement"].sel(source="gpt").to_numpy()[..., k]
        from arviz_stats.base import array_stats

        total = np.hypot(error, float(array_stats.mcse(draws, method="mean")))
        assert abs(draws.mean() - mean) < 5 * total
    mean_size = weight @ np.log(size)
    drawn = np.log(fit.idata["posterior"]["pool_size"].sel(source="gpt").to_numpy())
    spread = np.sqrt(weight @ (np.log(size) - mean_size) ** 2)
    total = np.hypot(spread / np.sqrt(effective), float(array_stats.mcse(drawn, method="mean")))
    assert abs(drawn.mean() - mean_size) < 5 * total


def test_items_are_drawn_from_their_posterior():
    """Gibbs against enumeration, at fixed concentrations, without and with errors."""
    ratings = few()
    alpha = np.array([1.0, 0.6, 1.4])
    choice = bj.ratings.choice_matrix(MEMBERS, 0.7)
    n = 4_000
    for error in (np.eye(3), bj.ratings.error_matrix(MEMBERS, 0.3, 0.5)):
        seen = emission(choice, error)
        drawn = draw_shares(
            ratings,
            np.broadcast_to(alpha, (n, 3, 3)),
            np.broadcast_to(choice, (n, 3, 2, 3)),
            None if (error == np.eye(3)).all() else np.broadcast_to(error, (n, 3, 3, 3)),
            np.random.default_rng(7),
        )
        for i in range(6):
            counts = [*ratings.chosen[0, i], *ratings.endorsed[0, i]]
            whole = enumerated(counts, alpha, seen)
            # E[theta_v | data]: one more rating, which shows its stable set
            for v in range(3):
                marked = np.concatenate([seen, np.eye(3)[v][None]])
                mean = enumerated([*counts, 1], alpha, marked) / whole
                assert_mc_mean(drawn[None, :, 0, i, v], mean)


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


# What is not identified -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def forced_only():
    table = bj.ratings.simulate(items=120, set_items=0.0, random_seed=1)
    return Ratings.from_frame(table, positive="yes", judges=["gpt", "claude"])


@pytest.fixture(scope="module")
def forced_fit(forced_only):
    return bj.ratings.fit(forced_only, random_seed=1)


def test_forced_choices_leave_what_they_do_not_see_to_the_prior(forced_only, forced_fit, fit_of):
    assert forced_fit.converged
    assert "not-identified" in {c.name for c in forced_fit.cautions}
    with_sets = fit_of(bj.ratings).draws("endorsement")[:, 0, 0]
    free = forced_fit.draws("endorsement")[:, 0, 0]
    assert free.std() > 2 * with_sets.std()
    # what they do see, they identify: the share of choices
    share, choice = forced_fit.draws("set_share")[:, 0], forced_fit.draws("choice")[:, 0]
    chosen = (choice[:, 0] * share).sum(axis=-1)
    counts = forced_only.chosen[0].sum(axis=0)
    error = np.sqrt(counts[0] * counts[1] / counts.sum() ** 3)
    assert abs(chosen.mean() - counts[0] / counts.sum()) < 4 * error
    assert chosen.std() < 2.5 * error


def test_prior_check_moves_what_is_not_identified_and_little_else(forced_fit, fit_of):
    few_mixed = {"few mixed sets": Priors(share=(5.0, 5.0, 1.0))}
    moved = bj.ratings.prior_check(forced_fit, few_mixed)["endorsement[people]"]
    held = bj.ratings.prior_check(fit_of(bj.ratings), few_mixed)["endorsement[people]"]
    spread = forced_fit.draws("endorsement")[:, 0, 0].std()
    assert moved.iloc[0] - moved.iloc[1] > 0.7 * spread
    assert abs(held.iloc[0] - held.iloc[1]) < 0.3 * (moved.iloc[0] - moved.iloc[1])
    # weighing the draws at hand gives what fitting again gives
    weighed = bj.ratings.prior_sweep(forced_fit, {"few": (5.0, 5.0, 1.0)})
    row = weighed["endorsement, few[people, yes]"]
    assert abs(row.value - moved.iloc[1]) < 0.25 * (moved.iloc[0] - moved.iloc[1])
    assert row.low < row.value < row.high


def test_other_priors_are_weighed_exactly(forced_fit):
    """Back from a prior to its neighbour, at the draws' own weights; what is refused."""
    name, at = "endorsement, same[people, yes]", forced_fit.draws("endorsement")[:, 0, 0]
    same = bj.ratings.prior_sweep(forced_fit, {"same": 1.0})[name]
    assert same.value == pytest.approx(at.mean(), rel=1e-12)
    assert_allclose([same.low, same.high], np.quantile(at, [0.025, 0.975]), atol=2e-3)
    share = forced_fit.draws("set_share")[:, 0]
    weight = share[:, 0] ** 2 * share[:, 1] ** 2
    few = bj.ratings.prior_sweep(forced_fit)["endorsement, few accept several[people, yes]"]
    assert few.value == pytest.approx(weight @ at / weight.sum(), rel=1e-12)
    assert few.value < same.value
    every = bj.ratings.prior_sweep(forced_fit, {"same": 1.0}, cutoff=0.4)
    plain = bj.ratings.prevalences(forced_fit, cutoffs=[0.4])["prevalence (at 0.4)[people]"]
    weighed = every["prevalence (at 0.4), same[people]"]
    assert_allclose((weighed.value, weighed.low, weighed.high), plain, atol=1 / 120)
    with pytest.raises(bj.InputError, match="expected one positive weight or 3"):
        bj.ratings.prior_sweep(forced_fit, {"odd": (1.0, 2.0)})


def test_who_is_best_is_weighed_for_other_priors_of_people(forced_fit):
    of = [bj.ratings.Definition("mse"), bj.ratings.Definition("hit_rate", "hard", "hard")]
    worth = bj.ratings.performance(forced_fit, of=of, draws=400, tied=False)
    swept = bj.ratings.prior_sweep(
        forced_fit, {"same": 1.0, "several": (1.0, 1.0, 2.0)}, performance=worth
    )
    best, share = worth.best(), forced_fit.draws("set_share")[:, 0, 2]
    assert swept["best, mse (srs/srs), same[gpt]"].value == pytest.approx(
        best.loc["mse (srs/srs)", "gpt"], rel=1e-12
    )
    weight = share[np.linspace(0, len(share) - 1, 400).astype(int)]
    loss = worth.draws[:, 0]
    expected = (loss[:, 0] < loss[:, 1]) @ weight / weight.sum()
    found = swept["best, mse (srs/srs), several[gpt]"].value
    assert found == pytest.approx(expected, rel=1e-12)
    people = bj.ratings.item_profiles(forced_fit)["people"]
    positive = bj.ratings.prevalence_at(people, cutoff=0.5)
    found = swept["prevalence (at 0.5), several[people]"].value
    assert found == pytest.approx(positive @ weight / weight.sum(), rel=1e-12)
    counted = bj.ratings.agreement(forced_fit.data, replicates=5)
    with pytest.raises(bj.InputError, match="not from agreement"):
        bj.ratings.prior_sweep(forced_fit, performance=counted)


# Downstream -------------------------------------------------------------------------------------


def test_performance_finds_the_best_judge_where_items_are_rated_often():
    table = bj.ratings.simulate(choices=30, random_seed=1)
    often = Ratings.from_frame(
        table, positive="yes", judges=["gpt", "claude"], response_set="response_set"
    )
    fit = bj.ratings.fit(often, random_seed=1, draws=300, tune=300)
    found = bj.ratings.performance(fit, draws=200)
    best = found.best()
    assert_allclose(best.sum(axis=1), 1)
    for definition in ("mse (srs/srs)", "decision_consistency (at 0.5)", "js_divergence (s/s)"):
        assert best.loc[definition, "gpt"] > 0.9  # it shares 90 % with people, the other 50 %
    assert not {"few-ratings", "assumed-tie"} & {c.name for c in found.cautions}


def test_performance_says_where_the_prior_outweighs_the_ratings(fit_of):
    found = bj.ratings.performance(fit_of(bj.ratings), draws=200, tied=False)
    assert np.isfinite(found.draws).all()  # no share is 0 in a posterior
    (text,) = (c.text for c in found.cautions if c.name == "few-ratings")
    assert "gpt" in text
    table = found.estimate().table
    assert (table["low"] <= table["value"]).all()
    again = bj.ratings.performance(fit_of(bj.ratings), draws=200, tied=False)
    assert np.array_equal(found.draws, again.draws)
    tied = bj.ratings.performance(fit_of(bj.ratings), draws=200)
    assert "few-ratings" not in {c.name for c in tied.cautions}
    assert "assumed-tie" in {c.name for c in tied.cautions}


def test_prevalences_fall_as_the_cutoff_rises(fit_of):
    table = bj.ratings.prevalences(fit_of(bj.ratings), cutoffs=[0.2, 0.5, 0.8], draws=100).table
    people = table.loc[[f"prevalence (at {c})[people]" for c in (0.2, 0.5, 0.8)], "value"]
    assert (np.diff(people) < 0).all()


def test_thinning_keeps_sets_and_says_so():
    ratings = simulated(bj.ratings, 2)
    many = Ratings(ratings.chosen * 20, OPTIONS, "yes", endorsed=ratings.endorsed, sources=SOURCES)
    chosen, endorsed, kept = thinned(many.chosen, many.endorsed, fold=np.ones(3, bool), most=2_000)
    assert kept is not None
    assert chosen.sum(axis=-1).max() <= kept
    assert (chosen <= many.chosen).all()
    assert np.array_equal(endorsed, many.endorsed)
    assert prepared(ratings, Priors())[1] is None


def test_choices_without_response_sets_are_few():
    """What more of them would add is the shape of a Dirichlet; with sets, or F known, all count."""
    counts = np.random.default_rng(3).multinomial(30, [0.5, 0.5], (2, 20))
    endorsed = np.zeros((2, 20, 3), int)
    endorsed[1, :5, 2] = 1
    ratings = Ratings(counts, OPTIONS, "yes", endorsed=endorsed, sources=("people", "gpt"))

    def most(data, **priors):
        lattice, kept = prepared(data, Priors(**priors))
        n = lattice.counts[:, :2].sum(axis=1)
        source = lattice.source[lattice.pattern_group]
        return [int(n[source == s].max()) for s in (0, 1)], kept

    assert most(ratings) == ([10, 30], 10)
    assert most(ratings, choice=bj.ratings.choice_matrix(MEMBERS)) == ([30, 30], None)
    specified = Ratings(counts, OPTIONS, "yes", sets=[("yes",), ("no",)])
    assert most(specified) == ([30, 30], None)


def test_the_lattice_is_bearable_for_a_thousand_items_and_five_judges():
    rng = np.random.default_rng(8)
    sets = bj.ratings.all_response_sets("abc")
    chosen = rng.multinomial(5, [0.5, 0.3, 0.2], (6, 1000))
    endorsed = rng.multinomial(3, np.full(7, 1 / 7), (6, 1000)) * (np.arange(1000) < 200)[:, None]
    ratings = Ratings(chosen, "abc", "a", endorsed=endorsed, sets=sets)
    lattice, _ = prepared(ratings, Priors())
    assert len(lattice.steps) * 7 < 1_000_000
