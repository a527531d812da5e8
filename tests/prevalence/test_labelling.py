"""A sixth label design, written as a user writes one: its definition, likelihood, closed form."""

import itertools
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from conftest import study_but
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused

import bayesjudge as bj
from bayesjudge.core import storage
from bayesjudge.core.estimate import Assumption, Caution
from bayesjudge.core.label_design import design_of
from bayesjudge.core.methods import HUMAN_ONLY, JUDGE
from bayesjudge.integrations import corrected_share

P = bj.prevalence

# The design --------------------------------------------------------------------------------------

#: Of each stratum and verdict it was settled how many items get a label.
CELLS = {
    "test_n": [150, 90],
    "test_pass": [110, 30],
    "correct_n": [31, 21],
    "correct_pass": [28, 16],
    "incorrect_n": [19, 19],
    "incorrect_fail": [17, 15],
}


def weighed_cells(counts, *, ci_prob=0.95):
    """The share of good items in each stratum and verdict, weighed by its share of all items."""
    passed, failed = counts.labelled_pass, counts.labelled_n - counts.labelled_pass
    good = np.array([counts.correct_pass, failed - counts.incorrect_fail])
    labels = np.array([passed, failed])
    items = np.array([counts.test_pass, counts.test_n - counts.test_pass]) + labels
    share, rate = items / items.sum(), good / labels
    value = (share * rate).sum()
    half = 1.959964 * np.sqrt((share**2 * rate * (1 - rate) / labels).sum())
    return bj.Estimate(
        {"overall_prevalence": (value, value - half, value + half)},
        method="Weighed cells",
        ci_prob=ci_prob,
        source="Cochran (1977), Section 5A.1",
        interval="normal",
        assumptions=(BY_VERDICT_AND_STRATUM.assumption,),
    )


def likelihood(counts, rates):
    """Passes among all items of a stratum, and good items in each of its two cells."""
    from bayesjudge.truth.likelihood import binomial

    passed = counts.labelled_pass
    items, passes = counts.test_n + counts.labelled_n, counts.test_pass + passed
    failed = counts.labelled_n - passed
    binomial("passes", passes, items, rates["pass_rate"], counts.dim)
    binomial("good_of_passed", counts.correct_pass, passed, rates["ppv"], counts.dim)
    good = failed - counts.incorrect_fail
    binomial("good_of_failed", good, failed, 1 - rates["npv"], counts.dim)


def unequal(counts):
    """A check of its own: settled was that each stratum gets as many labels."""
    if len(set(counts.labelled_n)) > 1:
        yield Caution("unequal-strata", f"labels by stratum: {counts.labelled_n.tolist()}")


BY_VERDICT_AND_STRATUM = P.LabelDesign(
    "by_verdict_and_stratum",
    "a fixed number of passes and of fails of each stratum was labelled",
    frozenset({"predictive_values"}),
    same_items=True,
    assumption=Assumption(
        "random-labels-by-cell", "within each stratum and verdict, labels are a random sample"
    ),
    closed_forms=("naive", weighed_cells),
    likelihood=likelihood,
    check=unequal,
)


def counts_of(design, **changes):
    return P.Counts(
        **{**CELLS, **changes}, calibration=design, systems=["short", "long"], dim="stratum"
    )


COUNTS = counts_of(BY_VERDICT_AND_STRATUM)

# What the package makes of it --------------------------------------------------------------------


def test_its_closed_form_is_made_and_compared():
    naive, own = P.closed_forms(COUNTS)
    assert (naive.method.title, own.method.title) == (JUDGE.title, "Weighed cells")
    assert_allclose(
        own["overall_prevalence"].value,
        P.post_stratified(counts_of("by_verdict"))["overall_prevalence"].value,
    )
    table = P.compare(COUNTS).set_index("method")
    assert table.loc["Weighed cells", "suited"]
    assert not table.loc[HUMAN_ONLY.title, "suited"]
    assert "each stratum and verdict" in table.loc["Weighed cells", "assumes"]
    for one in P.closed_forms(COUNTS, mismatched=True):
        for caution in one.cautions:
            if caution.id == "design-mismatch":
                assert caution.text.endswith(f"if {BY_VERDICT_AND_STRATUM.meaning}")


def test_what_needs_the_likelihood_of_a_known_design_says_so():
    for method in (P.exact, lambda c: P.budget.label_next(c.system("short"))):
        with refused(id="no-quadrature"):
            method(COUNTS)
    assert "Bayesian (exact)" not in set(P.compare(COUNTS)["method"])


@pytest.mark.slow
def test_its_likelihood_is_the_models():
    model = P.build_model(COUNTS)
    assert {v.name for v in model.observed_RVs} == {"passes", "good_of_passed", "good_of_failed"}
    with refused(id="predictive-values"):
        P.build_model(COUNTS, P.ErrorRates())


@pytest.mark.study
def test_its_fit_is_that_of_the_same_likelihood_and_says_what_it_assumes(tmp_path, monkeypatch):
    unequal_labels = counts_of(BY_VERDICT_AND_STRATUM, correct_n=[32, 21], correct_pass=[29, 16])
    fit = P.fit(unequal_labels, random_seed=1)
    own, *_ = fit.assumptions
    assert own.id == "random-labels-by-cell"
    assert own.contradicted_by == ("unequal-strata",)
    assert "unequal-strata" in {caution.id for caution in fit.cautions}
    exact = P.exact(replace(unequal_labels, calibration="by_verdict"))
    found = fit.estimate(interval="eti")
    for name in ("short", "long"):
        draws = fit.idata["posterior"]["prevalence"].sel(stratum=name)
        error = float(draws.std()) / np.sqrt(fit.diagnostics()["ess_bulk"].min())
        assert abs(found["prevalence", name].value - exact["prevalence", name].value) < 5 * error
    # a file holds the name of the design: who loads it has to know the design
    path = tmp_path / "fit.nc"
    with refused("by_verdict_and_stratum", id="unknown-calibration"):
        fit.save(path)
    with monkeypatch.context() as known:
        known.setitem(P.DESIGNS, BY_VERDICT_AND_STRATUM.name, BY_VERDICT_AND_STRATUM)
        loaded = bj.load(fit.save(path))
        assert loaded.data.design is BY_VERDICT_AND_STRATUM
        assert bj.report(loaded) == bj.report(fit)
    with refused("by_verdict_and_stratum", id="unknown-calibration"):
        bj.load(path)


def test_a_design_is_found_by_its_name_once_it_is_in_the_table(monkeypatch):
    with refused(id="unknown-calibration"):
        counts_of("by_verdict_and_stratum")
    monkeypatch.setitem(P.DESIGNS, BY_VERDICT_AND_STRATUM.name, BY_VERDICT_AND_STRATUM)
    assert design_of("by_verdict_and_stratum") is BY_VERDICT_AND_STRATUM
    assert storage.checksum(counts_of("by_verdict_and_stratum")) == storage.checksum(COUNTS)


@pytest.mark.parametrize(
    "read",
    [
        P.Counts.from_frame,
        P.Counts.from_counts,
        P.items.Items.from_frame,
        partial(P.scores.Scores.from_frame, scale=(0, 1)),
        P.classes.ClassCounts.from_frame,
        P.classes.ClassCounts.from_pairs,
    ],
)
def test_a_design_that_nobody_declared_is_asked_for_as_on_the_command_line(read):
    """With every choice and its meaning: Python's own TypeError would name the argument only."""
    table = pd.DataFrame({"verdict": [1, 0], "truth": [1, None], "item": [1, 2]})
    with refused(id="unknown-calibration") as raised:
        read(table)
    for design in P.DESIGNS.values():
        assert f"{design.name}: {design.meaning}" in str(raised.value)


# Where it would be ignored ------------------------------------------------------------------------

TABLE = P.simulate(items=60, labelled=30, random_seed=1)
SCORED = P.scores.simulate(items=60, labelled=30, random_seed=1)
TWO = pd.concat([SCORED.assign(system=name).reset_index(names="item") for name in "ab"])
VOTED = bj.panel.simulate(items=60, labelled=30, random_seed=1)
OTHERS = {
    "Votes": lambda design: bj.panel.Votes.from_frame(VOTED, calibration=design),
    "Scores": lambda design: P.scores.Scores([0.1, 0.9], [0, 1], [1, 1], design, (0, 1)),
    "Scores.from_frame": lambda design: P.scores.Scores.from_frame(
        SCORED, calibration=design, scale=(0, 1)
    ),
    "read_systems": lambda design: P.scores.read_systems(
        TWO, by="system", calibration=design, scale=(0, 1)
    ),
    "PairedScores": lambda design: P.scores.PairedScores.from_frame(
        TWO, by="system", item="item", calibration=design, scale=(0, 1)
    ),
    "ClassCounts.from_frame": lambda design: P.classes.ClassCounts.from_frame(
        P.classes.simulate(items=60, labelled=30, random_seed=1), calibration=design
    ),
    "ClassCounts.from_pairs": lambda design: P.classes.ClassCounts.from_pairs(
        pd.DataFrame({"verdict": [*"aabb"], "swapped": [*"abab"], "truth": [*"aab", None]}),
        classes="abc",
        calibration=design,
    ),
    "Items": lambda design: P.items.Items.from_frame(
        TABLE.assign(item=TABLE.index, system="a"), by="system", calibration=design
    ),
    "expected_width": lambda design: P.budget.expected_width(
        prevalence=0.5, sensitivity=0.9, specificity=0.8, items=100, labelled=20, calibration=design
    ),
    "simulate": lambda design: P.simulate(items=5, calibration=design),
    "corrected_share": lambda design: corrected_share([], calibration=design),
}


@pytest.mark.fast_one_in(10)
@pytest.mark.parametrize("name", OTHERS)
def test_where_it_would_be_ignored_it_is_refused(name, monkeypatch):
    """By value, by a name in `DESIGNS`, and under the name of another design."""
    own = BY_VERDICT_AND_STRATUM
    monkeypatch.setitem(P.DESIGNS, own.name, own)
    for design in (own, own.name, replace(own, name="random")):
        with pytest.raises(
            bj.InputError, match=r"knows these(,.*; read others| only; read verdict)"
        ):
            OTHERS[name](design)
    OTHERS[name](P.DESIGNS["random"] if name not in ("expected_width",) else "by_truth")


# Where it is honoured ----------------------------------------------------------------------------


def told_apart(data):
    """Some volunteers are no sample: a check that any table passes through."""
    yield Caution("volunteers", f"who labelled {type(data).__name__} is not known")


def another(known, check=None):
    """A design that says what a built-in one says, under a name and with a check of its own."""
    about = (known.meaning, known.identifies, known.same_items, known.assumption)
    return P.LabelDesign("volunteers", *about, check=check)


@pytest.mark.parametrize("name", ["expected_width", "simulate", "corrected_share"])
def test_one_that_only_a_table_could_honour_is_refused_elsewhere(name):
    with refused(id="unknown-calibration", subject="label design"):
        OTHERS[name](another(P.DESIGNS["random"]))


SYSTEMS = pd.concat([P.simulate(items=90, labelled=40, random_seed=seed).assign(
    system=name, item=range(130)) for seed, name in ((1, "a"), (2, "b"))])  # fmt: skip
CLASSES = P.classes.simulate(items=200, labelled=80, random_seed=1)
READS = {
    "Counts": lambda design: P.Counts.from_frame(
        SYSTEMS.drop(columns="item"), by="system", calibration=design
    ),
    "Items": lambda design: P.items.Items.from_frame(
        SYSTEMS, by="system", item="item", repeats="system", calibration=design
    ),
    "Scores": lambda design: P.scores.Scores.from_frame(
        SCORED, calibration=design, scale=(0, 1), edges=(0, 0.5, 1)
    ),
    "ClassCounts": lambda design: P.classes.ClassCounts.from_frame(CLASSES, calibration=design),
    "Votes": OTHERS["Votes"],
}
DESIGNS = ("random", "by_truth", "separate", "by_verdict")
MODULES = {"Items": P.items, "Scores": P.scores, "ClassCounts": P.classes, "Votes": bj.panel}


def numbers(estimate):
    return [row for *_, row in estimate.rows()]


def test_closed_forms_are_those_that_labels_tell():
    """Post-stratification where nothing else is right: of a random sample it tells no more."""
    assert {name: one.closed_forms for name, one in P.DESIGNS.items()} == {
        "random": ("naive", "human_only", "difference", "rogan_gladen"),
        "by_truth": ("naive", "rogan_gladen"),
        "separate": ("naive", "rogan_gladen"),
        "by_verdict": ("naive", "post_stratified"),
        "known_propensity": ("naive", "difference", "propensity_weighted"),
    }


#: By table, designs whose numbers are compared each time; the study compares all of each.
COMPARED = {"Counts": DESIGNS, "Votes": DESIGNS, "Items": DESIGNS[:2], "Scores": DESIGNS[2:]}
COMPARED |= {"ClassCounts": DESIGNS[2:]}


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    study_but(
        [*itertools.product(READS, DESIGNS)],
        *((table, name) for table, names in COMPARED.items() for name in names),
    ),
    ids="-".join,
)
def test_a_design_that_says_what_a_known_one_says_gives_its_numbers(case):
    table, name = case
    known = READS[table](name)
    own = READS[table](another(known.design))
    assert own.design.name == "volunteers"
    module = MODULES.get(table, P)
    made = {one.method.title: one for one in module.closed_forms(own)}
    expected = module.closed_forms(known)
    assert list(made) == [one.method.title for one in expected]
    for one in expected:
        assert_array_equal(numbers(made[one.method.title]), numbers(one))
        assert [c.id for c in made[one.method.title].cautions] == [c.id for c in one.cautions]
        assert [a.id for a in made[one.method.title].assumptions] == [a.id for a in one.assumptions]
    if exact := getattr(module, "exact", None):
        assert_array_equal(numbers(exact(own)), numbers(exact(known)))
    assert module.answer(*made.values()).text == module.answer(*expected).text


def test_only_a_sample_should_have_the_verdicts_of_the_others():
    def raised(design):
        counts = P.classes.ClassCounts(
            [450, 50], [[20, 5], [5, 70]], classes=["a", "b"], calibration=design
        )
        labelled, others = np.repeat([0.9, 0.1], [20, 80]), np.repeat([0.9, 0.1], [450, 50])
        truth = [*([1] * 20), *([0] * 80), *([np.nan] * 500)]
        scores = P.scores.Scores(
            [*labelled, *others], truth, np.ones(600, int), design, scale=(0, 1)
        )
        tables = (P.classes.closed_forms(counts), P.scores.closed_forms(scores))
        return ["label-shift" in {c.id for one in made for c in one.cautions} for made in tables]

    for name, shifted in (("random", True), ("separate", False)):
        assert raised(name) == [shifted, shifted]
        assert raised(another(P.DESIGNS[name])) == [shifted, shifted]


@pytest.mark.fast_one_in(2)
@pytest.mark.parametrize("table", READS)
def test_its_own_check_is_asked_of_every_table(table):
    module = MODULES.get(table, P)
    data = READS[table](another(P.DESIGNS["random"], told_apart))
    told = {c.id: c.text for one in module.closed_forms(data) for c in one.cautions}
    assert told["volunteers"] == f"who labelled {type(data).__name__} is not known"


@pytest.mark.slow
@pytest.mark.parametrize("table", READS)
def test_the_density_is_that_of_what_it_says(table):
    module, densities = MODULES.get(table, P), []
    for design in ("by_truth", another(P.DESIGNS["by_truth"]), "random"):
        model = module.build_model(READS[table](design))
        point = model.initial_point()
        densities.append(float(model.compile_logp(mode="FAST_COMPILE")(point)))
    assert densities[0] == densities[1] != densities[2]


@pytest.mark.fast_one_in(2)
@pytest.mark.parametrize("table", READS)
def test_it_is_found_by_its_name_once_it_is_in_the_table_of_designs(table, monkeypatch):
    own = another(P.DESIGNS["random"])
    with refused(id="unknown-calibration"):
        READS[table](own.name)
    monkeypatch.setitem(P.DESIGNS, own.name, own)
    by_name, by_value = READS[table](own.name), READS[table](own)
    assert by_name.design is own
    assert storage.checksum(by_name) == storage.checksum(by_value)
    assert storage.unpack(storage.pack(by_value)).design is own
