"""A sixth label design, written as a user writes one: its definition, likelihood, closed form."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import bayesjudge as bj
from bayesjudge.core import storage
from bayesjudge.core.estimate import Assumption, Caution
from bayesjudge.integrations import corrected_share
from bayesjudge.prevalence.labelling import design_of

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
    from bayesjudge.prevalence._pymc import binomial

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
    assert (naive.method, own.method) == ("Judge's pass rate", "Weighed cells")
    assert_allclose(
        own["overall_prevalence"].value,
        P.post_stratified(counts_of("by_verdict"))["overall_prevalence"].value,
    )
    table = P.compare(COUNTS).set_index("method")
    assert table.loc["Weighed cells", "suited"]
    assert not table.loc["Human labels only", "suited"]
    assert "each stratum and verdict" in table.loc["Weighed cells", "assumes"]
    for one in P.closed_forms(COUNTS, mismatched=True):
        for caution in one.cautions:
            if caution.name == "design-mismatch":
                assert caution.text.endswith(f"if {BY_VERDICT_AND_STRATUM.meaning}")


def test_what_needs_the_likelihood_of_a_known_design_says_so():
    for method in (P.exact, lambda c: P.budget.label_next(c.system("short"))):
        with pytest.raises(bj.InputError, match=r"by_verdict_and_stratum: .*no quadrature"):
            method(COUNTS)
    assert "Bayesian (exact)" not in set(P.compare(COUNTS)["method"])


@pytest.mark.slow
def test_its_likelihood_is_the_models():
    model = P.build_model(COUNTS)
    assert {v.name for v in model.observed_RVs} == {"passes", "good_of_passed", "good_of_failed"}
    with pytest.raises(bj.InputError, match="labels by verdict tell predictive values"):
        P.build_model(COUNTS, P.ErrorRates())


@pytest.mark.study
def test_its_fit_is_that_of_the_same_likelihood_and_says_what_it_assumes(tmp_path, monkeypatch):
    unequal_labels = counts_of(BY_VERDICT_AND_STRATUM, correct_n=[32, 21], correct_pass=[29, 16])
    fit = P.fit(unequal_labels, random_seed=1)
    own, *_ = fit.assumptions
    assert own.id == "random-labels-by-cell"
    assert own.contradicted_by == ("unequal-strata",)
    assert "unequal-strata" in {caution.name for caution in fit.cautions}
    exact = P.exact(replace(unequal_labels, calibration="by_verdict"))
    found = fit.estimate(interval="eti")
    for name in ("short", "long"):
        draws = fit.idata["posterior"]["prevalence"].sel(stratum=name)
        error = float(draws.std()) / np.sqrt(fit.diagnostics()["ess_bulk"].min())
        assert abs(found["prevalence", name].value - exact["prevalence", name].value) < 5 * error
    # a file holds the name of the design: who loads it has to know the design
    path = tmp_path / "fit.nc"
    with pytest.raises(bj.InputError, match=r"'by_verdict_and_stratum'.*put it into"):
        fit.save(path)
    with monkeypatch.context() as known:
        known.setitem(P.DESIGNS, BY_VERDICT_AND_STRATUM.name, BY_VERDICT_AND_STRATUM)
        loaded = bj.load(fit.save(path))
        assert loaded.data.design is BY_VERDICT_AND_STRATUM
        assert bj.report(loaded) == bj.report(fit)
    with pytest.raises(bj.InputError, match=r"'by_verdict_and_stratum'.*put it into"):
        bj.load(path)


def test_a_design_is_found_by_its_name_once_it_is_in_the_table(monkeypatch):
    with pytest.raises(bj.InputError, match="how were the labelled items chosen"):
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
    with pytest.raises(bj.InputError, match="how were the labelled items chosen") as raised:
        read(table)
    for name in P.DESIGNS:
        assert repr(name) in str(raised.value)


# Where it would be ignored ------------------------------------------------------------------------

TABLE = P.simulate(items=60, labelled=30, random_seed=1)
SCORED = P.scores.simulate(items=60, labelled=30, random_seed=1)
TWO = pd.concat([SCORED.assign(system=name).reset_index(names="item") for name in "ab"])
OTHERS = {
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


@pytest.mark.parametrize("name", OTHERS)
def test_where_it_would_be_ignored_it_is_refused(name, monkeypatch):
    """By value, by a name in `DESIGNS`, and under the name of another design."""
    own = BY_VERDICT_AND_STRATUM
    monkeypatch.setitem(P.DESIGNS, own.name, own)
    for design in (own, own.name, replace(own, name="random")):
        with pytest.raises(bj.InputError, match="knows these only; read verdicts of another"):
            OTHERS[name](design)
    OTHERS[name](P.DESIGNS["random"] if name not in ("expected_width",) else "by_truth")
