"""A component of one's own: every verb takes the model that it makes."""

import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pymc as pm
import pytest
from refusals import refused

import bayesjudge as bj
from bayesjudge.panel import LatentTruthPanel, Votes
from bayesjudge.panel.checks import INDEPENDENT
from bayesjudge.truth import Component


@dataclass(frozen=True)
class OneCoinErrors(Component):
    """Each judge is right with one probability, whatever is true."""

    right: bj.BetaPrior
    names: ClassVar = ("right",)

    def variables(self, text):
        return {"right": pm.Beta("right", *self.right, dims="judge")}

    def log_table(self, values, xp):
        yes, no = xp.log(values["right"]), xp.log1p(-values["right"])
        return xp.stack([xp.stack([yes, no], axis=-1), xp.stack([no, yes], axis=-1)], axis=-2)


@dataclass(frozen=True)
class OneCoin(LatentTruthPanel):
    """A panel of such judges."""

    _title: ClassVar[str] = "One coin"
    _source: ClassVar[str] = "a test"
    _assumptions: ClassVar = (INDEPENDENT,)

    right: bj.BetaPrior = bj.BetaPrior(8, 2)

    def _errors(self, votes):
        return OneCoinErrors(self.right)


@pytest.fixture(scope="module")
def votes():
    table = bj.panel.simulate(items=80, labelled=25, missing=0.1, random_seed=3)
    return Votes.from_frame(table, calibration="random")


@pytest.fixture(scope="module")
def own(votes):
    return bj.panel.fit(votes, OneCoin(), random_seed=1)


def by_hand(votes, share, right):
    """Log-likelihood of votes and labels, one item after another."""
    total = 0.0
    for row, count in enumerate(votes.count):
        chances = []
        for z in (0, 1):
            good = share[votes.generator[row]]
            chance = good if z else 1 - good
            for vote, r in zip(votes.votes[row], right, strict=True):
                chance *= 1.0 if vote < 0 else r if vote == z else 1 - r
            chances.append(chance)
        truth = votes.truth[row]
        total += count * np.log(sum(chances) if truth < 0 else chances[truth])
    return total


@pytest.mark.sampling
def test_the_graphs_and_the_draws_have_the_likelihood_by_hand(votes):
    model, rng, apart = OneCoin(), np.random.default_rng(1), []
    text, form = bj.panel.build_model(votes, model), model._sampling_form(votes)
    seen = text.compile_logp(vars=text.observed_RVs, mode="FAST_COMPILE")
    whole = [m.compile_logp(mode="FAST_COMPILE") for m in (text, form)]
    for _ in range(3):
        share, right = rng.uniform(0.2, 0.8, 3), rng.uniform(0.5, 0.9, 4)
        point = {
            "prevalence_logodds__": np.log(share / (1 - share)),
            "right_logodds__": np.log(right / (1 - right)),
        }
        draws = {"prevalence": share[None], "right": right[None]}
        by_draw = model._log_likelihood_of_items(votes, draws)[0] @ votes.count
        expected = by_hand(votes, share, right)
        assert by_draw == pytest.approx(expected)
        sampled = {"prevalence_logit": point["prevalence_logodds__"], **point}
        del sampled["prevalence_logodds__"]
        both = [float(d(at)) for d, at in zip(whole, (point, sampled), strict=True)]
        apart.append([float(seen(point)) - expected, *np.diff(both)])
    np.testing.assert_allclose(np.ptp(apart, axis=0), 0, atol=1e-8)


@pytest.mark.sampling
def test_every_verb_takes_it(votes, own):
    labels, items = bj.panel.loo(own), bj.panel.loo(own, of="items")
    assert labels.n == int(votes.count[votes.is_labelled].sum())
    assert items.n == int(votes.count.sum())
    found, told = bj.panel.consensus(own), bj.panel.consensus(votes)
    assert (found.label == told.label)[votes.is_labelled].all()
    chosen = bj.panel.label_next(own, votes.generators[0], n=3)
    assert chosen["gain"].is_monotonic_decreasing
    checked = bj.panel.dependence_check(own, replicates=40, random_seed=1)
    assert np.isfinite(checked["expected"]).all()
    assert bj.panel.answer(*bj.panel.closed_forms(votes), own).quoted.method == own.method
    assert own.estimate(target="items")["prevalence", "g1"].value > 0
    prior = bj.panel.check_prior(votes, OneCoin(), random_seed=1)
    assert {"pass_rate", "agreement", "sensitivity"} <= set(prior["statistic"])


@pytest.mark.sampling
def test_its_draws_are_extended_and_its_fit_is_read_where_its_class_is(
    votes, own, tmp_path, monkeypatch, uncompiled
):
    extended = own.extended(random_seed=1)
    assert extended.idata["log_likelihood"]["items"].sizes["item"] == votes.n_items
    assert {"prior", "posterior_predictive"} <= set(extended.idata.children)
    monkeypatch.setitem(sys.modules, OneCoin.__module__, sys.modules[__name__])
    path = own.save(tmp_path / "own.nc")
    again = bj.load(path)
    assert again.spec == own.spec
    assert again.idata.attrs["model"] == f"{__name__}:OneCoin"
    monkeypatch.delitem(sys.modules, OneCoin.__module__)
    with refused(id="no-class", kind="OneCoin"):
        bj.load(path)


@pytest.mark.sampling
def test_a_class_that_no_file_can_name_is_not_saved(votes, tmp_path):
    @dataclass(frozen=True)
    class Local(OneCoin):
        pass

    with pytest.warns(bj.core.errors.ConvergenceWarning):
        fit = bj.panel.fit(votes, Local(), draws=50, tune=50, chains=2, random_seed=1)
    with refused(id="no-name-in-a-file"):
        fit.save(tmp_path / "local.nc")


@pytest.mark.sampling
@pytest.mark.slow
def test_it_is_compared_with_others_out_of_sample(votes):
    table = bj.panel.cross_validate(
        votes, (OneCoin(), "panel_mean"), hide="items", kept=15, repeats=2, random_seed=1
    )
    assert {"OneCoin", "panel_mean"} == set(table.index)
    assert table.loc["OneCoin", "refused"] == ""
    assert np.isfinite(table.loc["OneCoin", ["mean_error", "width"]].astype(float)).all()


@pytest.mark.sampling
@pytest.mark.filterwarnings("ignore::bayesjudge.core.errors.ConvergenceWarning")
def test_what_a_model_of_another_kind_does_not_say_is_named(votes):
    fit = bj.panel.fit(votes, bj.panel.BiasPooling(), draws=50, tune=100, chains=2, random_seed=1)
    for verb in (bj.panel.loo, bj.panel.consensus):
        with refused(id="no-items", name="BiasPooling"):
            verb(fit)
    with refused(id="draws-no-votes", name="BiasPooling"):
        bj.panel.dependence_check(fit)


class NoMethods(Component):
    names = ("right",)


class NoNames(OneCoinErrors):
    names = ()


class OtherNames(OneCoinErrors):
    names = ("right", "left")


class SharedName(OneCoinErrors):
    names = ("prevalence",)


class FlatTable(OneCoinErrors):
    def log_table(self, values, xp):
        return xp.log(values["right"])


class ThreeResponses(OneCoinErrors):
    def log_table(self, values, xp):
        table = super().log_table(values, xp)
        return xp.concatenate([table, table[..., :1]], axis=-1)


@pytest.mark.sampling
@pytest.mark.parametrize(
    ("kind", "id", "told"),
    [
        (NoMethods, "component-lacks", {"lacks": ["variables", "log_table"]}),
        (NoNames, "component-lacks", {"lacks": ["names"]}),
        (OtherNames, "component-names", {"missing": ["left"]}),
        (SharedName, "components-share", {"twice": ["prevalence"]}),
        (FlatTable, "component-axes", {"axes": "2 classes, 2 responses"}),
        (ThreeResponses, "component-axes", {"component": "ThreeResponses"}),
    ],
)
def test_a_component_with_a_mistake_is_told_which_and_what_was_expected(kind, id, told, votes):
    @dataclass(frozen=True)
    class Mistaken(OneCoin):
        def _errors(self, votes):
            return kind() if kind is NoMethods else kind(self.right)

    with refused(id=id, **told):
        bj.panel.build_model(votes, Mistaken())
