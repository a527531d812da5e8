"""A panel model of one's own: every verb asks the model, none its class."""

import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import xarray as xr
from scipy.special import logsumexp

import bayesjudge as bj
from bayesjudge.panel import PanelModel, Votes, build_model
from bayesjudge.panel._likelihood import by_sample
from bayesjudge.panel.checks import INDEPENDENT


@dataclass(frozen=True)
class OneCoin(PanelModel):
    """Each judge is right with one probability, whatever is true."""

    _title: ClassVar[str] = "One coin"
    _source: ClassVar[str] = "a test"
    _assumptions: ClassVar = (INDEPENDENT,)
    _needs_labels: ClassVar[bool] = False
    _independent: ClassVar[bool] = True
    _voting: ClassVar = ("prevalence", "right")

    right: bj.BetaPrior = bj.BetaPrior(8, 2)

    def _quantities(self, votes):
        return ("prevalence", "right")

    def _build(self, votes):
        import pymc as pm
        import pytensor.tensor as pt

        self._check(votes)
        coords = {"generator": votes.generators, "judge": votes.judges}
        with pm.Model(coords=coords) as model:
            share = pm.Beta("prevalence", 1, 1, dims="generator")
            right = pm.Beta("right", *self.right, dims="judge")
            bad, good = agreeing(votes, np.arange(len(votes.count)))
            by_class = [
                pt.log(one)[votes.generator] + same @ pt.log(right) + other @ pt.log1p(-right)
                for one, same, other in ((1 - share, bad, good), (share, good, bad))
            ]
            denied = np.where(votes.truth[:, None] == [1, 0], -1e6, 0.0)
            item = pt.logsumexp(pt.stack(by_class, axis=1) + denied, axis=1)
            pm.Potential("items", (votes.count * item).sum())
        return model

    def _log_joint(self, votes, draws, rows):
        bad, good = agreeing(votes, rows)
        for share, right in zip(
            by_sample(draws, "prevalence"), by_sample(draws, "right"), strict=True
        ):
            of = share[votes.generator[rows]]
            same, other = np.log(right), np.log1p(-right)
            yield np.stack(
                [
                    np.log1p(-of) + bad @ same + good @ other,
                    np.log(of) + good @ same + bad @ other,
                ],
                axis=1,
            )

    def _draw_votes(self, draw, given, truth, generator, rng):
        drawn = rng.random(len(truth)) < draw["prevalence"][generator]
        good = np.where(truth < 0, drawn, truth).astype(bool)[:, None]
        anew = np.where(rng.random(given.shape) < draw["right"], good, ~good)
        return np.where(given < 0, given, anew)


def agreeing(votes, rows):
    """Where judges fail, and where they pass: one column a judge."""
    return (votes.votes[rows] == 0).astype(float), (votes.votes[rows] == 1).astype(float)


@pytest.fixture(scope="module")
def votes():
    table = bj.panel.simulate(items=80, labelled=25, random_seed=3)
    return Votes.from_frame(table, calibration="random")


@pytest.fixture(scope="module")
def own(votes):
    return bj.panel.fit(votes, OneCoin(), random_seed=1)


@pytest.mark.sampling
def test_its_likelihood_by_item_is_that_of_its_graph(votes):
    model = build_model(votes, OneCoin())
    rng = np.random.default_rng(1)
    observed = model.replace_rvs_by_values(model.potentials)
    density = model.compile_fn(observed, inputs=model.value_vars, mode="FAST_COMPILE")
    apart = []
    for _ in range(3):
        share, right = rng.uniform(0.2, 0.8, 3), rng.uniform(0.5, 0.9, 4)
        point = {
            "prevalence_logodds__": np.log(share / (1 - share)),
            "right_logodds__": np.log(right / (1 - right)),
        }
        draws = xr.Dataset(
            {"prevalence": (("sample", "g"), share[None]), "right": (("sample", "j"), right[None])}
        )
        rows = np.arange(len(votes.count))
        (joint,) = OneCoin()._log_joint(votes, draws, rows)
        known = np.take_along_axis(joint, np.maximum(votes.truth, 0)[:, None].astype(int), 1)[:, 0]
        item = np.where(votes.truth < 0, logsumexp(joint, axis=1), known)
        apart.append(float(density(point)[0]) - float(votes.count @ item))
    assert np.allclose(apart, 0, atol=1e-8)


@pytest.mark.sampling
def test_every_verb_takes_it(votes, own):
    labels, items = bj.panel.loo(own), bj.panel.loo(own, of="items")
    assert labels.n == int(votes.count[votes.is_labelled].sum())
    assert items.n == int(votes.count.sum())
    found = bj.panel.consensus(own)
    truth = bj.panel.consensus(votes)
    assert (found.label == truth.label)[votes.is_labelled].all()
    chosen = bj.panel.label_next(own, votes.generators[0], n=3)
    assert chosen["gain"].is_monotonic_decreasing
    checked = bj.panel.dependence_check(own, replicates=40, random_seed=1)
    assert np.isfinite(checked["expected"]).all()
    told = bj.panel.answer(*bj.panel.closed_forms(votes), own)
    assert told.quoted.method == own.method
    assert "prevalence" in own.estimate().quantities


@pytest.mark.sampling
def test_its_fit_is_read_where_its_class_is_loaded(own, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, OneCoin.__module__, sys.modules[__name__])
    path = own.save(tmp_path / "own.nc")
    again = bj.load(path)
    assert again.spec == own.spec
    assert again.idata.attrs["model"] == f"{__name__}:OneCoin"
    monkeypatch.delitem(sys.modules, OneCoin.__module__)
    with pytest.raises(bj.InputError, match="OneCoin is not there; import"):
        bj.load(path)


@pytest.mark.sampling
def test_a_class_that_no_file_can_name_is_not_saved(votes, tmp_path):
    @dataclass(frozen=True)
    class Local(OneCoin):
        pass

    with pytest.warns(bj.core.errors.ConvergenceWarning):
        fit = bj.panel.fit(votes, Local(), draws=50, tune=50, chains=2, random_seed=1)
    with pytest.raises(bj.InputError, match="at the top of a module of yours"):
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
def test_what_it_does_not_say_is_named(votes):
    @dataclass(frozen=True)
    class Silent(OneCoin):
        _voting: ClassVar = ()
        _log_joint = PanelModel._log_joint

    fit = bj.panel.fit(votes, Silent(), draws=50, tune=100, chains=2, random_seed=1)
    for verb in (bj.panel.loo, bj.panel.consensus):
        with pytest.raises(bj.InputError, match="Silent knows no single items"):
            verb(fit)
    with pytest.raises(bj.InputError, match="Silent draws no votes"):
        bj.panel.dependence_check(fit)
