"""What every module promises, held against each."""

import contextlib
import dataclasses
import html
import inspect
import pkgutil
import re

import numpy as np
import pytest
import xarray as xr
from conftest import MODULES, study_but
from contract import gaps_between, graph_of, is_other, items_and_likelihood, moved, some_draws
from refusals import refused

import bayesjudge as bj
from bayesjudge.compiled import own_settings, structure_of
from bayesjudge.core import predictive
from bayesjudge.core.answer import Answer
from bayesjudge.core.estimate import label
from bayesjudge.core.model import BayesianModel
from bayesjudge.truth.model import LatentTruth

each_module = pytest.mark.parametrize("one", MODULES, ids=lambda one: one.name)
NOT_MODULES = {
    *("core", "compiled", "render", "verdicts", "truth"),
    *("cli", "readers", "datasets", "lab", "decide", "integrations", "rubric"),
    "judge",  # asks no model of its own: its posteriors are Dirichlet, and normal on a grid
}
SETTINGS = (
    *("draws", "tune", "chains", "cores", "target_accept"),
    *("random_seed", "strict", "progress"),
)


@pytest.fixture(scope="module")
def built():
    """Return every model of a module with its data and its graph, which no test changes."""
    known = {}

    def get(one):
        if one.name not in known:
            models = one.models()
            known[one.name] = [(m, data, one.module.build_model(data, m)) for m, data in models]
        return known[one.name]

    return get


def test_no_module_is_left_out():
    on_disk = {m.name for m in pkgutil.iter_modules(bj.__path__[:1]) if m.ispkg} - NOT_MODULES
    assert on_disk == {one.name for one in MODULES if "." not in one.name} - {"pass_share"}
    assert on_disk <= set(bj.__all__)


@each_module
def test_shared_words(one):
    module = one.module
    assert {"answer", "build_model", "closed_forms", "compare", "fit", "simulate"} <= set(
        module.__all__
    )
    assert module.__doc__.splitlines()[0].endswith("?")
    data, model, *settings = inspect.signature(module.fit).parameters.values()
    assert (model.name, model.default) == ("model", None)
    assert tuple(s.name for s in settings) == SETTINGS
    assert all(s.kind is s.KEYWORD_ONLY for s in settings)
    names = list(inspect.signature(module.build_model).parameters)
    assert names in ([data.name, "model"], [data.name, "model", "collapsed"])
    assert inspect.signature(module.simulate).parameters["random_seed"].default is None
    for name in ("closed_forms", "compare"):
        assert inspect.signature(getattr(module, name)).parameters["ci_prob"].default == 0.95


@each_module
def test_dir_shows_the_exports_only(one):
    shown = {name for name in dir(one.module) if not name.startswith("_")}
    assert shown == set(one.module.__all__)


@each_module
def test_models_are_frozen_values(one):
    public = [getattr(one.module, name) for name in one.module.__all__]
    classes = [c for c in public if inspect.isclass(c) and issubclass(c, BayesianModel)]
    # what has no graph of its own is a base class for users' models
    classes = [c for c in classes if c._build is not BayesianModel._build]
    classes = [c for c in classes if getattr(c, "_errors", None) is not LatentTruth._errors]
    assert classes
    assert {type(model) for model, _ in one.models()} == set(classes)
    for cls in classes:
        assert cls.__dataclass_params__.frozen
        assert cls() == cls()
        assert getattr(one.module, cls.__name__) is cls
        assert cls.public_name().startswith(one.name.split(".")[0])


@pytest.mark.slow
@each_module
def test_the_docstring_of_a_model_states_it(one):
    """Likelihood and priors in LaTeX, with a name for each prior's distribution."""
    families = ("Beta", "Dirichlet", "normal", "N(", "N^+", "Exponential")
    for model, _ in one.models():
        text = inspect.getdoc(type(model))
        stated, _, rest = text.partition("Parameters\n")
        assert ".. math::" in stated, type(model)
        assert any(word in stated for word in families), type(model)
        for f in dataclasses.fields(model):
            assert f.name in rest, f"{type(model).__name__}.{f.name}"


@pytest.mark.slow
@each_module
def test_each_field_of_a_model_is_read(one, built):
    """Moving any field moves the log-density or the graph: no prior is accepted and ignored."""
    for model, data, made in built(one):
        before = graph_of(made)
        assert before == graph_of(one.module.build_model(data, model))
        for f in dataclasses.fields(model):
            value = getattr(model, f.name)
            key = (type(model).__name__, f.name)
            other = one.moves[key] if key in one.moves else moved(value)
            changed = dataclasses.replace(model, **{f.name: other})
            after = one.module.build_model(data, changed)
            assert is_other(after, before), f"{key[0]}.{f.name}: {value} and {other} are one model"


@each_module
@pytest.mark.slow
def test_the_sampler_runs_the_model_of_the_text(one, built):
    """Both densities are one, up to a constant and the change of variables."""
    for model, data, made in built(one):
        form = model._sampling_form(data)
        if form is None:
            continue
        gaps, off = gaps_between(made, form)
        assert np.isfinite(gaps).all()
        assert np.ptp(gaps) < 1e-5, model
        assert off < 1e-9, model


@pytest.mark.slow
@each_module
def test_everything_in_the_model_of_the_text_has_named_dims(one, built):
    for _, _, made in built(one) if one.of_the_text else ():
        assert not made.potentials
        for v in (*made.basic_RVs, *made.deterministics, *made.data_vars):
            dims = made.named_vars_to_dims.get(v.name, ())
            assert len(dims) == v.ndim, v.name
            assert all(made.coords[dim] is not None for dim in dims), v.name


@each_module
@pytest.mark.slow
def test_the_likelihoods_of_single_items_add_up(one, built):
    """To that of all observed counts, but for a constant: how many orders they come in."""
    for model, data, made in built(one) if one.of_the_text else ():
        if type(model)._item_log_likelihood is BayesianModel._item_log_likelihood:
            continue
        whole, summed, _ = items_and_likelihood(made, model, data)
        np.testing.assert_allclose(whole - summed, (whole - summed)[0], atol=1e-7)
        assert np.ptp(whole) > 0.1


@pytest.mark.slow
@each_module
def test_words_name_the_priors_that_the_graph_reads(one):
    """A report names a prior if moving it moves the graph of these data, and only then."""
    assert not any(model._unread(data) for model, data in one.models())  # all read: shown above
    for model, data in one.sparse():
        before, words = graph_of(one.module.build_model(data, model)), model._words_for(data)
        for f in dataclasses.fields(model):
            value = getattr(model, f.name)
            key = (type(model).__name__, f.name)
            other = one.moves[key] if key in one.moves else moved(value)
            changed = dataclasses.replace(model, **{f.name: other})
            read = is_other(one.module.build_model(data, changed), before)
            assert read == (changed._words_for(data) != words), f"{key[0]}.{f.name}, read: {read}"


@pytest.mark.slow
@each_module
def test_whole_numbers_are_numbers(one):
    """A weight of 990 is one of 990.0, also to the code that is compiled."""
    for model, data in one.models():
        given = {f.name: getattr(model, f.name) for f in dataclasses.fields(model)}
        made = []
        for kind in (int, float):
            values = {name: kind(int(v) + 1) for name, v in given.items() if type(v) is float}
            for name, v in given.items():
                if type(v) in (bj.BetaPrior, bj.panel.NormalPrior):
                    values[name] = type(v)(kind(2), kind(3))
            made.append(one.module.build_model(data, dataclasses.replace(model, **values)))
        for mine, other in zip(*(m.data_vars for m in made), strict=True):
            np.testing.assert_array_equal(mine.get_value(), other.get_value())
            assert mine.type == other.type


#: Columns whose names are levels of a dimension.
LEVELS = ("system", "model_a", "generator", "judge", "rater", "perturbation")


@pytest.mark.slow
@each_module
def test_other_data_and_more_of_them_need_no_other_code(one):
    """Neither values nor lengths are part of what is compiled: fewer items and fewer systems."""
    table, other = (one.module.simulate(random_seed=seed) for seed in (1, 2))
    for name in LEVELS:
        if name in table and table[name].nunique() > 2:
            other = other[other[name] != table[name].iloc[0]]
    item = next((name for name in ("item", "task") if name in table), None)
    if item:
        items = other[item].unique()
        other = other[other[item].isin(items[: len(items) // 2])]
    tried = 0
    for spec in {type(spec): spec for spec, _ in one.models()}.values():
        with contextlib.suppress(bj.InputError, KeyError, ValueError):  # not of such a table
            first = _code_of(spec, one.read(table))
            assert _code_of(spec, one.read(other)) == first, type(spec).__name__
            tried += 1
    assert tried


def _code_of(spec, data):
    """The graph that is compiled, but for its data."""
    with own_settings():
        return structure_of(spec._sampling_form(data) or spec._build(data))


@each_module
def test_a_number_where_a_prior_belongs_is_refused_with_the_remedy(one):
    for model, _ in one.models():
        for f in dataclasses.fields(model):
            if isinstance(getattr(model, f.name), bj.BetaPrior):
                with pytest.raises(bj.InputError, match=r"BetaPrior\.worth\(0\.9, n\)"):
                    dataclasses.replace(model, **{f.name: 0.9})


@each_module
def test_simulate_is_reproducible(one):
    module = one.module
    first, same, other = (module.simulate(random_seed=seed) for seed in (7, 7, 8))
    assert first.equals(same)
    assert not first.equals(other)
    rng = np.random.default_rng(7)
    assert module.simulate(random_seed=rng).equals(first)
    assert not module.simulate(random_seed=rng).equals(first)


@each_module
@pytest.mark.slow
def test_closed_forms_are_estimates_of_one_level(one):
    made = one.module.closed_forms(one.simulated(1), ci_prob=0.8)
    assert made
    assert all(isinstance(estimate, bj.Estimate) for estimate in made)
    assert {estimate.ci_prob for estimate in made} == {0.8}
    for estimate in made:
        assert all(isinstance(a, bj.Assumption) for a in estimate.assumptions)
        names = {c.id for c in estimate.cautions}
        assert {name for a in estimate.assumptions for name in a.contradicted_by} <= names


@pytest.mark.slow
@each_module
def test_answer_is_one_sentence_and_says_what_it_rests_on(one):
    forms = one.module.closed_forms(one.simulated(1))
    found = one.module.answer(*forms)
    assert isinstance(found, Answer)
    assert found.known
    assert found.text.endswith(".")
    assert "95 % interval" in found.text
    assert found.basis
    assert found.method.title in found.why
    assert found.text in found.paragraph()
    assert not re.search(r"\bnan\b|\n|_", found.text), found.text
    # the quoted numbers are those of the method that is named
    rows = {(q, *at.values()): row for q, at, row in found.quoted.rows()}
    assert rows
    for made in forms:
        if made.method == found.method:
            for quantity, at, row in made.rows():
                assert rows.get((quantity, *at.values()), row) == row
    stated = found.as_dict()
    assert stated["text"] == found.text
    assert len(stated["estimates"]) == len(rows)


@pytest.mark.fast_one_in(8)
@each_module
def test_answer_holds_to_its_level(one):
    data = one.simulated(1)
    made = one.module.closed_forms(data, ci_prob=0.8)
    assert "80 % interval" in one.module.answer(*made, ci_prob=0.8).text
    with refused(0.95, subject="results"):
        one.module.answer(*made)
    with refused(id="no-results"):
        one.module.answer()


@pytest.mark.slow
@each_module
def test_report_opens_with_the_answer(one):
    made = one.module.closed_forms(one.simulated(1))
    text = one.module.answer(*made).text
    for output in ("markdown", "html"):
        report = html.unescape(bj.report(*made, output=output))
        report = report.replace("\N{NO-BREAK SPACE}", " ")  # of a page, between number and unit
        plain = re.sub(r"\\([^\w\s]|_)", r"\1", report)
        assert plain.index(text) < plain.index("value"), output


@each_module
@pytest.mark.slow
@pytest.mark.parametrize("runs", study_but([40, 100], 40))
def test_closed_form_covers_what_was_simulated(one, runs):
    made = [one.closed_form(one.simulated(seed)) for seed in range(runs)]
    noise = 4 * np.sqrt(one.coverage * (1 - one.coverage) / runs)  # the simulation's own error
    for entry, value in one.truth.items():
        rows = [estimate[entry] for estimate in made]
        covered = np.mean([row.low <= value <= row.high for row in rows])
        assert covered > one.coverage - noise, entry


@each_module
@pytest.mark.sampling
def test_fit_converged(one, fit_of):
    fit = fit_of(one)
    assert fit.converged, fit.cautions
    entries = {label(q, tuple(at.values())) for q, at, _ in fit.estimate().rows()}
    assert set(fit.diagnostics().index) == entries


@each_module
@pytest.mark.sampling
@pytest.mark.filterwarnings("ignore::bayesjudge.ConvergenceWarning")  # few draws will do here
def test_same_seed_same_draws(one, fit_of):
    fit = fit_of(one)
    first, again, other = (
        one.module.fit(fit.data, fit.spec, random_seed=seed, draws=30, tune=60)
        for seed in (1, 1, 2)
    )
    draws = [made.idata["posterior"].to_dataset() for made in (first, again, other)]
    # loops over numbers may round otherwise from run to run: of `items` the draws of 4 runs of 80
    # differed by up to 1e-11 (40 with and 40 without BLAS threads)
    xr.testing.assert_allclose(draws[1], draws[0], rtol=1e-7)
    assert not draws[2].broadcast_equals(draws[0])
    for name in first.quantities:
        assert abs(draws[2][name] - draws[0][name]).max() > 1e-3


@each_module
@pytest.mark.sampling
def test_closed_form_answers_what_the_fit_answers(one, fit_of):
    fit = fit_of(one)
    closed_form = one.closed_form(fit.data)
    ours, theirs = (
        {(q, *at.values()): row for q, at, row in estimate.rows()}
        for estimate in (fit.estimate(), closed_form)
    )
    assert set(ours) == set(theirs)
    for entry, row in ours.items():
        other = theirs[entry]
        assert max(row.low, other.low) <= min(row.high, other.high), entry
        for value, low, high in (row, other):
            assert np.isnan(value) or low <= value <= high, entry


@each_module
@pytest.mark.sampling
@pytest.mark.parametrize("interval", ["eti", "hdi"])
@pytest.mark.parametrize("ci_prob", [0.5, 0.95])
def test_interval_holds_the_probability_asked_for(one, ci_prob, interval, fit_of):
    fit = fit_of(one)
    _, _, (_, low, high) = next(fit.estimate(ci_prob=ci_prob, interval=interval).rows())
    draws = fit.draws(fit.quantities[0])
    first = draws.reshape(len(draws), -1)[:, 0]
    assert np.mean((low <= first) & (first <= high)) == pytest.approx(ci_prob, abs=2e-3)


@each_module
@pytest.mark.sampling
def test_report_says_what_a_reader_must_know(one, fit_of):
    fit = fit_of(one)
    text = bj.report(one.closed_form(fit.data), fit)
    text = re.sub(r"\\([^\w\s]|_)", r"\1", html.unescape(text))  # as Markdown shows it
    priors = fit.spec._words_for(fit.data)
    for words in (fit.method.title, fit.source, "95 % intervals", "seed 1", priors):
        assert words in text
    for assumption in fit.assumptions:
        assert assumption.text in text


@each_module
@pytest.mark.sampling
def test_a_loaded_fit_is_the_fit_that_was_saved(one, fit_of, tmp_path):
    fit = fit_of(one)
    loaded = bj.load(fit.save(tmp_path / "fit.nc"))
    for output in ("markdown", "html"):
        texts = [bj.report(one.closed_form(f.data), f, output=output) for f in (fit, loaded)]
        assert texts[0] == texts[1]
    for group in ("posterior", "sample_stats", "observed_data", "constant_data"):
        assert loaded.idata[group].identical(fit.idata[group]), group
    assert graph_of(loaded.model) == graph_of(fit.model)


@each_module
@pytest.mark.sampling
def test_idata_has_the_groups_that_arviz_expects(one, fit_of, uncompiled, monkeypatch):
    monkeypatch.setattr(predictive, "PRIOR_DRAWS", 100)
    fit = some_draws(fit_of(one), 50).extended(random_seed=1)
    expected = {"posterior", "sample_stats", "observed_data", "constant_data", "prior"}
    assert expected <= set(fit.idata.children)
    attrs = {"random_seed", "model", "priors", "data_sha256", "pymc_version"}
    assert attrs <= set(fit.idata.attrs)
    assert fit.idata.attrs["model"] == fit.spec.public_name()


@pytest.mark.parametrize(
    "one",
    [
        one if one.name == "prevalence" else pytest.param(one, marks=pytest.mark.study)
        for one in MODULES
    ],
    ids=lambda one: one.name,
)
@pytest.mark.sampling
def test_compiled_groups_are_those_of_python(one, fit_of):
    """What is random is drawn otherwise there; densities are the same."""
    from pytensor import config

    fit = some_draws(fit_of(one), 50)
    compiled = fit.extended(random_seed=1).idata
    with config.change_flags(mode="FAST_COMPILE"):
        python = fit.extended(random_seed=1).idata
    assert set(compiled.children) == set(python.children)
    for name in ("log_prior", "log_likelihood"):
        xr.testing.assert_allclose(compiled[name].to_dataset(), python[name].to_dataset(), 1e-9)
