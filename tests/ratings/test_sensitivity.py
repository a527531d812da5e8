"""What is not identified moves with the prior; what is identified hardly does."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import MODULES
from numpy.testing import assert_allclose
from refusals import refused

import bayesjudge as bj
from bayesjudge.ratings import Definition, Ratings, ResponseSets, TiedChoice
from bayesjudge.ratings.metrics import prevalence_at

pytestmark = pytest.mark.sampling
(CONTRACT,) = (one for one in MODULES if one.name == "ratings")


@pytest.fixture(scope="module")
def forced_only():
    table = bj.ratings.simulate(items=120, set_items=0.0, random_seed=1)
    return Ratings.from_frame(table, positive="yes", judges=["gpt", "claude"])


@pytest.fixture(scope="module")
def forced_fit(forced_only):
    return bj.ratings.fit(forced_only, random_seed=1)


def test_forced_choices_leave_what_they_do_not_see_to_the_prior(forced_only, forced_fit, fit_of):
    assert forced_fit.converged
    assert "not-identified" in {c.id for c in forced_fit.cautions}
    with_sets = fit_of(CONTRACT).draws("endorsement")[:, 0, 0]
    free = forced_fit.draws("endorsement")[:, 0, 0]
    assert free.std() > 2 * with_sets.std()
    # what they do see, they identify: the share of choices
    share, choice = forced_fit.draws("set_share")[:, 0], forced_fit.draws("choice")[:, 0]
    chosen = (choice[:, 0] * share).sum(axis=-1)
    counts = forced_only.chosen[0].sum(axis=0)
    error = np.sqrt(counts[0] * counts[1] / counts.sum() ** 3)
    assert abs(chosen.mean() - counts[0] / counts.sum()) < 4 * error
    assert chosen.std() < 2.5 * error


def test_weighing_the_draws_gives_what_fitting_again_gives(forced_fit, fit_of, monkeypatch):
    few = {"few": ResponseSets(share=(5.0, 5.0, 1.0))}
    rows = ("as fitted", "people", "yes"), ("few", "people", "yes")

    def values(fit):
        found = bj.ratings.prior_sensitivity(fit, few)
        return [found[("endorsement", *row)].value for row in rows]

    weighed, held = values(forced_fit), values(fit_of(CONTRACT))
    n = len(forced_fit.draws("endorsement"))
    monkeypatch.setattr("bayesjudge.ratings.sensitivity.LEAST", n - 1)  # any weights are too few
    assert np.isnan(values(forced_fit)).tolist() == [False, True]
    settings = {"draws": n // 4, "chains": 4, "random_seed": 0}
    again = bj.ratings.fit(forced_fit.data, few["few"], **settings).draws("endorsement")[:, 0, 0]
    spread = forced_fit.draws("endorsement")[:, 0, 0].std()
    assert weighed[0] - weighed[1] > 0.7 * spread
    assert abs(held[0] - held[1]) < 0.3 * (weighed[0] - weighed[1])
    assert abs(weighed[1] - again.mean()) < 0.25 * (weighed[0] - weighed[1])


def test_other_priors_are_weighed_exactly(forced_fit):
    """At the draws' own weights and at others; what is refused."""
    at, entry = forced_fit.draws("endorsement")[:, 0, 0], ("people", "yes")
    found = bj.ratings.prior_sensitivity(forced_fit, cutoff=0.4)
    same = found["endorsement", "as fitted", *entry]
    assert same.value == pytest.approx(at.mean(), rel=1e-12)
    assert_allclose([same.low, same.high], np.quantile(at, [0.025, 0.975]), atol=2e-3)
    share = forced_fit.draws("set_share")[:, 0]
    weight = share[:, 0] ** 2 * share[:, 1] ** 2
    few = found["endorsement", "few accept several", *entry]
    assert few.value == pytest.approx(weight @ at / weight.sum(), rel=1e-12)
    assert few.low < few.value < few.high
    assert few.value < same.value < found["endorsement", "many accept several", *entry].value
    plain = bj.ratings.prevalences(forced_fit, cutoffs=[0.4])["prevalence", 0.4, "people"]
    assert_allclose(found["prevalence", "as fitted", 0.4, "people"], plain, atol=2e-3)
    tied = {"tied": ResponseSets(choice=TiedChoice())}
    with refused("tied", id="other-change"):
        bj.ratings.prior_sensitivity(forced_fit, tied)
    with refused(3, "share="):
        bj.ratings.prior_sensitivity(forced_fit, {"odd": ResponseSets(share=(1.0, 2.0))})


def test_who_is_best_is_weighed_for_other_priors_of_people(forced_fit):
    of = [Definition("mse"), Definition("hit_rate", "hard", "hard")]
    worth = bj.ratings.performance(forced_fit, of=of, draws=400, tracking=None)
    several = {"several": replace(forced_fit.spec, share=(1.0, 1.0, 2.0))}
    settings = {"performance": worth, "target": "items"}
    found = bj.ratings.prior_sensitivity(forced_fit, several, **settings)
    best, share = worth.best(), forced_fit.draws("set_share")[:, 0, 2]
    assert found["best", "as fitted", "mse (srs/srs)", "gpt"].value == pytest.approx(
        best.loc["mse (srs/srs)", "gpt"], rel=1e-12
    )
    weight = share[np.linspace(0, len(share) - 1, 400).astype(int)]
    loss = worth.draws[:, 0]
    expected = (loss[:, 0] < loss[:, 1]) @ weight / weight.sum()
    value = found["best", "several", "mse (srs/srs)", "gpt"].value
    assert value == pytest.approx(expected, rel=1e-12)
    people = bj.ratings.item_profiles(forced_fit)["people"]
    positive = prevalence_at(people, cutoff=0.5)
    value = found["prevalence", "several", 0.5, "people"].value
    assert value == pytest.approx(positive @ weight / weight.sum(), rel=1e-12)
    endorsed = people.endorsed[..., 0].mean(axis=1)
    value = found["endorsement", "several", "people", "yes"].value
    assert value == pytest.approx(endorsed @ weight / weight.sum(), rel=1e-12)
    counted = bj.ratings.agreement(forced_fit.data, replicates=5)
    for wrong, words in (
        ({"performance": counted}, "not from agreement"),
        ({"performance": worth}, "set target='items'"),
    ):
        with pytest.raises(bj.InputError, match=words):
            bj.ratings.prior_sensitivity(forced_fit, **wrong)
