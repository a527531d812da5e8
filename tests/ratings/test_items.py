"""Items, prevalences and judges' performance from a fit."""

import numpy as np
import pytest
from conftest import MODULES
from enumeration import MEMBERS, emission, enumerated, few
from numpy.testing import assert_allclose
from oracles import assert_mc_mean
from refusals import refused

import bayesjudge as bj
from bayesjudge.core.fit import Fit
from bayesjudge.core.model import BayesianModel
from bayesjudge.ratings import Definition
from bayesjudge.ratings._gibbs import draw_shares
from bayesjudge.ratings.response_sets import choice_matrix, error_matrix

(CONTRACT,) = (one for one in MODULES if one.name == "ratings")


@pytest.mark.slow
def test_items_are_drawn_from_their_posterior():
    """Gibbs against enumeration, at fixed concentrations, without and with errors."""
    ratings = few()
    alpha = np.array([1.0, 0.6, 1.4])
    choice = choice_matrix(MEMBERS, 0.7)
    n = 4_000
    for error in (np.eye(3), error_matrix(MEMBERS, 0.3, 0.5)):
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


@pytest.mark.sampling
def test_endorsements_of_these_items_are_means_of_theirs(fit_of):
    fit = fit_of(CONTRACT)
    about = {target: fit.estimate(target=target) for target in ("items", "population")}
    people = bj.ratings.item_profiles(fit, draws=1000)["people"].endorsed.mean(axis=1)[:, 0]
    rows = {target: made["endorsement", "people", "yes"] for target, made in about.items()}
    assert abs(rows["items"].value - people.mean()) < 5 * people.std() / np.sqrt(500)
    widths = {target: row.high - row.low for target, row in rows.items()}
    assert widths["items"] == pytest.approx(np.ptp(np.quantile(people, [0.025, 0.975])), rel=0.2)
    assert widths["items"] < widths["population"]


# Prevalences ------------------------------------------------------------------------------------


@pytest.mark.sampling
def test_prevalences_fall_as_the_cutoff_rises(fit_of):
    for target in ("items", "population"):
        found = bj.ratings.prevalences(
            fit_of(CONTRACT), cutoffs=[0.2, 0.5, 0.8], draws=100, target=target
        )
        assert found.target == target
        assert (
            np.diff([found["prevalence", c, "people"].value for c in (0.2, 0.5, 0.8)]) < 0
        ).all()


@pytest.mark.sampling
def test_prevalence_of_the_population_is_that_of_new_items(fit_of):
    """A tail of a Beta, against items drawn from the Dirichlet of each draw."""
    fit, rng = fit_of(CONTRACT), np.random.default_rng(1)
    alpha = fit.draws("concentration")[:, 0, None] * fit.draws("set_share")[:, 0]
    new = rng.standard_gamma(alpha, (200, *alpha.shape))
    share = (new @ MEMBERS[0]) / new.sum(axis=-1)
    found = bj.ratings.prevalences(fit, cutoffs=[0.4])["prevalence", 0.4, "people"]
    hits = (share >= 0.4).mean(axis=1)  # of 200 worlds; their spread is the error
    assert abs(hits.mean() - found.value) < 5 * hits.std() / np.sqrt(len(hits))


@pytest.mark.parametrize("settings", [{"cutoffs": [1.2]}, {"target": "both"}, {"ci_prob": 95}])
def test_settings_out_of_range_are_refused(settings):
    with pytest.raises(bj.InputError):
        bj.ratings.prevalences(None, **settings)


# Performance ------------------------------------------------------------------------------------


@pytest.mark.study
def test_performance_finds_the_best_judge_where_items_are_rated_often():
    table = bj.ratings.simulate(choices=30, random_seed=1)
    fit = bj.ratings.fit(CONTRACT.read(table), random_seed=1, draws=300, tune=300)
    found = bj.ratings.performance(fit, draws=200)
    best = found.best()
    assert_allclose(best.sum(axis=1), 1)
    for definition in ("mse (srs/srs)", "decision_consistency (at 0.5)", "js_divergence (s/s)"):
        assert best.loc[definition, "gpt"] > 0.9  # it shares 90 % with people, the other 50 %
    assert not {"few-ratings", "assumed-tracking"} & {c.id for c in found.cautions}


@pytest.mark.sampling
def test_performance_says_where_the_prior_outweighs_the_ratings(fit_of):
    found = bj.ratings.performance(fit_of(CONTRACT), draws=200, tracking=None)
    assert np.isfinite(found.draws).all()  # no share is 0 in a posterior
    (text,) = (c.text for c in found.cautions if c.id == "few-ratings")
    assert "gpt" in text
    table = found.estimate().table
    assert (table["low"] <= table["value"]).all()
    again = bj.ratings.performance(fit_of(CONTRACT), draws=200, tracking=None)
    assert np.array_equal(found.draws, again.draws)
    tracked = bj.ratings.performance(fit_of(CONTRACT), draws=200)
    assert "few-ratings" not in {c.id for c in tracked.cautions}
    assert "assumed-tracking" in {c.id for c in tracked.cautions}


@pytest.mark.sampling
def test_compare_puts_the_fit_and_its_judges_beside_the_counts(fit_of):
    fit = fit_of(CONTRACT)
    table = bj.ratings.compare(fit.data, fit, of=[Definition("mse")], draws=60)
    methods = table.groupby("quantity")["method"].nunique()
    counted = {"matched", "accepted", "best"}  # of single answers, which no model says more of
    assert {name for name, n in methods.items() if n < 2} == counted & {*methods.index}
    assert methods.max() == 2
    assert table.loc[table["method"] == fit.method.title, "assumes"].str.contains("Dirichlet").all()


@pytest.mark.parametrize(
    "use",
    [
        bj.ratings.item_profiles,
        bj.ratings.performance,
        bj.ratings.prevalences,
        bj.ratings.prior_sensitivity,
        bj.ratings.tracking,
    ],
)
def test_a_fit_of_another_module_is_refused(use):
    with refused(id="other-fit"):
        use(Fit(None, None, BayesianModel(), (), "", ""))
