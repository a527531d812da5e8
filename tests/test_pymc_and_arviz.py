"""Verbs of PyMC and ArviZ on the model of the text and its fit: right numbers, model by model.

A module joins when its contract says ``of_the_text=True``. `make test` takes one model, `make
studies` all of them; that each module has every group, and the density of its text, the contract
tests.
"""

import arviz as az
import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
import xarray as xr
from conftest import MODULES
from pymc.model.transform.conditioning import remove_value_transforms
from pymc.pytensorf import gradient
from pymc.stats import compute_log_likelihood, compute_log_prior
from pytensor import config, function
from pytensor.graph.replace import graph_replace
from refusals import refused

import bayesjudge as bj
from bayesjudge.compiled import compiling
from bayesjudge.core import predictive

pytestmark = pytest.mark.sampling
WAIT = "build_model is not the model of the text yet"
CASES = [
    pytest.param(
        *(one, i),
        id=f"{one.name}-{type(model).__name__}",
        marks=[
            *([] if one.of_the_text else [pytest.mark.skip(reason=WAIT)]),
            *([pytest.mark.study] if i or one.name != "prevalence" else []),
        ],
    )
    for one in MODULES
    for i, (model, _) in enumerate(one.models())
    if type(model) not in {type(other) for other, _ in one.models()[:i]}  # one fit of each class
]
each_model = pytest.mark.parametrize(("one", "i"), CASES)
FAST = {"mode": "FAST_COMPILE", "on_unused_input": "ignore"}


@pytest.fixture(scope="module")
def extended():
    """Return the fit of a model with all groups; made once, and without compiling: the contract has
    them compiled.
    """
    made = {}

    def get(one, i):
        if (one.name, i) not in made:
            model, data = one.models()[i]
            fit = one.module.fit(data, model, random_seed=1)
            with config.change_flags(mode="FAST_COMPILE"):
                made[one.name, i] = fit.extended(random_seed=1)
        return made[one.name, i]

    return get


def some(group, n=20):
    """A few draws of a group by name, chains joined."""
    joined = group.to_dataset().stack(sample=("chain", "draw")).transpose("sample", ...)
    chosen = joined.isel(sample=np.linspace(0, joined.sizes["sample"] - 1, n).astype(int))
    return {str(name): values.to_numpy() for name, values in chosen.data_vars.items()}


def values_at(model, outputs, draws, replicates=None):
    """Values of what `outputs` takes from a model, at draws of its free variables.

    With replicates of the observed ones, these take the place of what was observed.
    """
    plain = remove_value_transforms(model)
    seen = {v: v.type(name=f"{v.name} drawn") for v in plain.observed_RVs if replicates}
    taken = graph_replace(outputs(plain), seen, strict=False) if seen else outputs(plain)
    inputs = [*plain.value_vars, *seen.values()]
    run = function(inputs, plain.replace_rvs_by_values(taken), **FAST)
    columns = [np.asarray(draws[str(v.name)], v.dtype) for v in plain.value_vars]
    columns += [np.asarray(replicates[str(v.name)], v.dtype) for v in seen]
    return [list(map(np.asarray, run(*at))) for at in zip(*columns, strict=True)]


# Prior ------------------------------------------------------------------------------------------


@each_model
def test_prior_draws_are_of_the_density_that_the_model_states(one, i, extended):
    """The mean gradient of a log-density over its own draws is 0, where the space has no ends."""
    fit, model = extended(one, i), extended(one, i).model
    natural = {v: v.type() for v in model.free_RVs}
    forward = [
        graph_replace(v if t is None else t.forward(v, *v.owner.inputs), natural, strict=False)
        for v, t in ((v, model.rvs_to_transforms[v]) for v in model.free_RVs)
    ]
    unbounded = function(list(natural.values()), forward, **FAST)
    values = [model.rvs_to_values[v] for v in model.free_RVs]
    prior = model.logp(vars=model.free_RVs)
    scores = function(values, gradient(prior, values), **FAST)
    drawn = some(fit.idata["prior"], 600)
    columns = [drawn[str(v.name)] for v in model.free_RVs]
    found = np.array([scores(*unbounded(*at)) for at in zip(*columns, strict=True)])
    assert np.isfinite(found).all()
    errors = found.std(axis=0) / np.sqrt(len(found))
    limit = 4.5 * np.maximum(errors, 1e-12)
    assert (np.abs(found.mean(axis=0)) < limit).all(), found.mean(axis=0) / errors


@each_model
def test_an_intervention_reaches_what_follows_from_it(one, i, extended):
    fit = extended(one, i)
    names = [str(v.name) for v in fit.model.free_RVs]
    fixed = {names[0]: some(fit.idata["posterior"], 1)[names[0]][0]}
    with compiling():
        prior = pm.sample_prior_predictive(
            20,
            model=pm.do(fit.model, fixed),
            random_seed=1,
            compile_kwargs={"mode": "FAST_COMPILE"},
        )["prior"]
    drawn = some(prior, 20)
    assert names[0] not in drawn or np.ptp(drawn[names[0]], axis=0).max() == 0
    at = drawn | {names[0]: np.repeat(fixed[names[0]][None], 20, axis=0)}
    follows = [str(v.name) for v in fit.model.deterministics if str(v.name) in drawn]
    right = values_at(fit.model, lambda plain: [plain[name] for name in follows], at)
    for s, values in enumerate(right):
        for name, value in zip(follows, values, strict=True):
            np.testing.assert_allclose(drawn[name][s], value, rtol=1e-9, err_msg=name)


@each_model
def test_an_observation_is_one_more_factor_of_the_likelihood(one, i, extended):
    fit = extended(one, i)
    draws = some(fit.idata["posterior"], 3)
    name = str(fit.model.free_RVs[0].name)
    for s in range(3):
        seen = pm.observe(fit.model, {name: draws[name][s]})
        at = {k: v[s : s + 1] for k, v in draws.items()}
        ((mine,),) = values_at(seen, lambda plain: [plain.logp()], at)
        ((whole,),) = values_at(fit.model, lambda plain: [plain.logp()], at)
        assert mine == pytest.approx(whole, rel=1e-9)


# Posterior --------------------------------------------------------------------------------------


def expectation(variable):
    """Mean of a variable given its parents, of the families that the models observe."""
    op = type(variable.owner.op).__name__
    parameters = variable.owner.op.dist_params(variable.owner)
    if op == "BinomialRV":
        return parameters[0] * parameters[1]
    if op == "MultinomialRV":
        return parameters[0][..., None] * parameters[1]
    if op == "CustomDist_items":
        return items_expected(*parameters)
    if op == "GammaRV":  # shape and scale
        return parameters[0] * parameters[1]
    return parameters[0] if op in ("BernoulliRV", "NormalRV", "PoissonRV") else None


def items_expected(density, orders, group, count):
    """Of each pattern, among the items that could have had it; the last of a group is the rest."""
    together = pt.eq(group[:, None], group[None, :])
    chances = pt.exp(density) * orders
    rest = pt.arange(group.size) >= group.size - group.max() - 1
    chances = pt.where(rest, 1 - (together * pt.where(rest, 0, chances)).sum(axis=1), chances)
    return (together * count).sum(axis=1) * chances


#: Observed variables whose mean has no short form: only the range of their replicates is checked.
WITHOUT_A_MEAN = {"CustomDist_difference", "CustomDist_ratings"}


@each_model
def test_predictive_draws_have_the_models_mean(one, i, extended):
    """Replicates by `sample_posterior_predictive` with ``fit.idata`` and ``fit.model``."""
    fit = extended(one, i)
    drawn = some(fit.idata["posterior_predictive"], 400)
    posterior = some(fit.idata["posterior"], 400)
    known = [v for v in fit.model.observed_RVs if expectation(v) is not None]
    others = {type(v.owner.op).__name__ for v in fit.model.observed_RVs if v not in known}
    assert others <= WITHOUT_A_MEAN
    names = [str(v.name) for v in known]
    right = values_at(
        fit.model, lambda plain: [expectation(plain[n]) for n in names], posterior, drawn
    )
    for k, name in enumerate(names):
        gap = drawn[name] - np.array([values[k] for values in right])
        error = gap.std(axis=0) / np.sqrt(len(gap))
        assert (np.abs(gap.mean(axis=0)) <= 4.5 * error + 1e-12).all(), name
    observed = fit.idata["observed_data"]
    for name, replicates in drawn.items():
        low, high = replicates.min(axis=0), replicates.max(axis=0)
        inside = (low <= observed[name].to_numpy()) & (observed[name].to_numpy() <= high)
        assert inside.mean() > 0.9, name


@each_model
def test_log_prior_and_log_likelihood_add_up_to_the_density(one, i, extended, uncompiled):
    fit = extended(one, i)
    few = {"draw": slice(None, None, 50)}
    idata = xr.DataTree.from_dict({"posterior": fit.idata["posterior"].to_dataset().isel(few)})
    with compiling():
        parts = [
            compute(idata, model=fit.model, extend_inferencedata=False, progressbar=False)
            for compute in (compute_log_prior, compute_log_likelihood)
        ]
    for name, values in parts[0].items():
        np.testing.assert_allclose(fit.idata["log_prior"][name].isel(few), values)
    total = sum(
        np.sum(v, axis=tuple(range(1, v.ndim)))
        for part in parts
        for v in some(as_tree(part), 10).values()
    )
    draws = some(idata["posterior"], 10)
    right = [at[0] for at in values_at(fit.model, lambda plain: [plain.logp()], draws)]
    np.testing.assert_allclose(total, right, rtol=1e-9)


def as_tree(dataset):
    import xarray as xr

    return xr.DataTree(getattr(dataset, "dataset", dataset))


@each_model
@pytest.mark.filterwarnings("ignore:Estimated shape parameter of Pareto")
def test_loo_leaves_one_item_out(one, i, extended):
    """PSIS agrees with plain importance sampling, and all but 1 % of the items have good weights:
    ArviZ warns of a single one.
    """
    fit = extended(one, i)
    if len(fit.model.observed_RVs) > 1 and "items" not in fit.idata["log_likelihood"]:
        with pytest.raises(TypeError, match="several log likelihood arrays"):
            az.loo(fit.idata)  # rates of generators, not items: refused
        return
    (name,) = fit.idata["log_likelihood"].data_vars
    logs = fit.idata["log_likelihood"][name].stack(sample=("chain", "draw")).to_numpy()
    plain = -np.log(np.mean(np.exp(-logs), axis=-1)).sum()
    found = az.loo(fit.idata, pointwise=True)
    assert found.n_data_points == logs[..., 0].size
    assert (found.pareto_k < 0.7).mean() > 0.99
    assert found.elpd == pytest.approx(plain, abs=0.05 * found.se)
    assert 0 < found.p < 2 * sum(np.size(v) for v in fit.model.initial_point().values())
    table = az.compare({"one": fit.idata, "same": fit.idata})
    assert table["elpd_diff"].abs().max() < 1e-9


@each_model
def test_power_scaling_in_one_call(one, i, extended):
    fit = extended(one, i)
    table = bj.prior_sensitivity(fit)
    assert table.index.is_unique
    assert np.isfinite(table[["prior", "likelihood"]].to_numpy()).all()
    assert (table["likelihood"] > table["prior"]).any()
    assert {str(name).partition("[")[0] for name in table.index} == set(fit.quantities)


# Pictures and files -----------------------------------------------------------------------------


@each_model
def test_plots_show_the_fit(one, i, extended):
    fit = extended(one, i)
    name = fit.quantities[0]
    shown = az.plot_forest(fit.idata, var_names=[name], ci_probs=[0.5, 0.95], combined=True)
    marks = shown.viz["point_estimate"][name].to_numpy().ravel()
    drawn = [float(np.ravel(mark.get_offsets())[0]) for mark in marks]
    mean = np.ravel(fit.idata["posterior"][name].mean(("chain", "draw")))
    np.testing.assert_allclose(drawn, mean)
    az.plot_prior_posterior(fit.idata, var_names=[name])
    for observed in fit.model.observed_RVs:
        names = {"var_names": [str(observed.name)]}
        if observed.ndim == 1:
            az.plot_ppc_interval(fit.idata, **names)
        az.plot_ppc_dist(fit.idata, **names, num_samples=20, kind="ecdf")


@each_model
def test_what_was_observed_is_an_array(one, i):
    """ArviZ has no predictive plot of a number without a dimension."""
    model, data = one.models()[i]
    assert all(v.ndim for v in one.module.build_model(data, model).observed_RVs)


def test_one_system_has_predictive_plots():
    counts = bj.prevalence.Counts(60, 40, 9, 7, 8, 5, calibration="random")
    fit = bj.prevalence.fit(counts, random_seed=1)
    with pytest.raises(TypeError, match="log likelihood not found"):
        az.loo(fit.idata)
    with config.change_flags(mode="FAST_COMPILE"):
        idata = fit.extended(random_seed=1).idata
    assert az.loo(idata).n_data_points == 77
    for observed in fit.model.observed_RVs:
        az.plot_ppc_interval(idata, var_names=[str(observed.name)])
        az.plot_ppc_dist(idata, var_names=[str(observed.name)], num_samples=20, kind="ecdf")


@each_model
def test_the_graph_names_every_variable(one, i, extended):
    model = extended(one, i).model
    drawn = pm.model_to_mermaid(model)
    for v in (*model.free_RVs, *model.observed_RVs, *model.deterministics):
        assert str(v.name) in drawn
    for dim in {dim for dims in model.named_vars_to_dims.values() for dim in dims}:
        assert not dim.endswith(tuple(f"_dim_{k}" for k in range(3)))


@each_model
def test_a_file_keeps_every_group(one, i, extended, tmp_path):
    fit = extended(one, i)
    loaded = bj.load(fit.save(tmp_path / "fit.nc"))
    for name, group in fit.idata.children.items():
        assert loaded.idata[name].equals(group), name


def test_a_changed_model_is_not_extended():
    counts = bj.prevalence.Counts(60, 40, 9, 7, 8, 5, calibration="random")
    fit, other = (bj.prevalence.fit(counts, random_seed=1) for _ in range(2))
    with fit.model:
        pm.Normal("more")
    with refused(id="model-changed"):
        fit.extended()
    pm.set_data({"prevalence_prior": np.array([8.0, 2.0])}, model=other.model)
    with refused("prevalence_prior", id="data-changed"):
        other.extended()


def test_a_conflict_between_prior_and_labels_is_diagnosed(uncompiled):
    claimed = bj.BetaPrior.worth(0.99, 40)
    counts = bj.prevalence.Counts(1000, 620, 100, 70, 100, 60, calibration="by_truth")
    model = bj.prevalence.ErrorRates(sensitivity=claimed, specificity=claimed)
    table = bj.prior_sensitivity(bj.prevalence.fit(counts, model, random_seed=1))
    assert "conflict" in table.loc["sensitivity", "diagnosis"]
    flat = bj.prior_sensitivity(bj.prevalence.fit(counts, random_seed=1))
    assert not flat["diagnosis"].str.contains("conflict").any()


def test_a_flat_prior_that_moves_the_answer_has_no_tick(uncompiled):
    """To Jeffreys': as the exact posterior under it says."""
    counts = bj.prevalence.Counts(300, 294, 24, 24, 1, 1, calibration="by_truth")
    flat = bj.prevalence.ErrorRates(bj.BetaPrior())
    fit = bj.prevalence.fit(counts, flat, random_seed=1)
    table = bj.prior_sensitivity(fit)
    row = table.loc["prevalence"]
    means = [
        bj.prevalence.exact(counts, model)["prevalence"].value
        for model in (flat, bj.prevalence.ErrorRates.jeffreys())
    ]
    draws = fit.idata["posterior"]["prevalence"]
    assert abs(row["to_flat"]) < 1e-9
    assert row["to_jeffreys"] == pytest.approx(np.diff(means)[0] / float(draws.std()), abs=0.1)
    of_one_label = table.loc["specificity"]
    assert (of_one_label["prior"], of_one_label["diagnosis"]) == (0, "another prior moves it")


def test_priors_by_system_move_the_quantities_of_that_system(uncompiled):
    counts = bj.prevalence.Counts(
        [300, 200], [294, 120], [24, 30], [24, 25], [1, 20], [1, 15],
        calibration="by_truth", systems=["a", "b"],
    )  # fmt: skip
    stated = {"a": bj.BetaPrior(), "b": bj.BetaPrior(4, 4)}
    fit = bj.prevalence.fit(counts, bj.prevalence.ErrorRates(stated), random_seed=1)
    moved = bj.prior_sensitivity(fit)
    means = [
        bj.prevalence.exact(counts, bj.prevalence.ErrorRates(prior)).quantities["prevalence"].value
        for prior in (stated, bj.BetaPrior())
    ]
    sd = fit.idata["posterior"]["prevalence"].std(("chain", "draw")).to_numpy()
    rows = ["prevalence[a]", "prevalence[b]"]
    np.testing.assert_allclose(moved.loc[rows, "to_flat"], np.diff(means, axis=0)[0] / sd, atol=0.1)
    assert abs(moved.loc["prevalence[b]", "to_flat"]) > 0.1 > abs(moved.loc[rows[0], "to_flat"])


def test_large_data_have_fewer_replicates_and_no_log_likelihood(monkeypatch, uncompiled):
    counts = bj.prevalence.Counts(60, 40, 9, 7, 8, 5, calibration="random")
    fit = bj.prevalence.fit(counts, random_seed=1)
    monkeypatch.setattr(predictive, "MOST_NUMBERS", 5000)  # four counts of 4,000 draws are 16,000
    monkeypatch.setattr(predictive, "AT_ONCE", 5000)  # three shares of 4,000 draws are 12,000
    with pytest.warns(UserWarning, match="no log_likelihood: 77 items times 4,000 draws"):
        groups = fit.extended(random_seed=1).idata
    assert "log_likelihood" not in groups.children
    monkeypatch.setattr(predictive, "AT_ONCE", 12_000)
    xr.testing.assert_equal(groups["log_prior"].to_dataset(), predictive._log_prior(fit))
    kept = groups["posterior_predictive"]
    np.testing.assert_array_equal(kept["draw"], np.arange(0, 1000, 4))
    rate = groups["posterior"]["pass_rate"].sel(draw=kept["draw"])
    gap = kept["test_pass"].to_numpy()[..., 0] - 60 * rate.to_numpy()
    assert np.corrcoef(kept["test_pass"].to_numpy().ravel(), rate.to_numpy().ravel())[0, 1] > 0.3
    assert abs(gap.mean()) < 5 * gap.std() / np.sqrt(gap.size)


def test_effects_within_a_population_are_no_beliefs():
    """Power-scaling raises the priors of parameters and of populations, not of their members."""
    scores = bj.repeats.Scores.from_frame(
        bj.repeats.simulate(items=4, judges=3, repeats=3, random_seed=1),
        scale=range(1, 6),
        judge="judge",
        order="repeat",
    )
    cases = [
        (
            bj.repeats.build_model(scores),
            *("item_effect", "judge_effect", "item_judge_effect"),
        ),
        (
            bj.prevalence.build_model(
                bj.prevalence.Counts(
                    *([n, n] for n in (60, 40, 9, 7, 8, 5)), calibration="random", systems="ab"
                ),
                bj.prevalence.PooledErrorRates(),
            ),
            *("sensitivity", "specificity"),
        ),
    ]
    for model, *members in cases:
        names = {str(v.name) for v in model.free_RVs}
        assert set(predictive._own_priors(model)) == names - set(members)
