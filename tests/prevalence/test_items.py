"""Rows that share items: reading, variances by item, the integrated likelihood."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import study_but
from numpy.testing import assert_allclose
from refusals import refused
from scipy.integrate import nquad
from scipy.special import expit, logit
from scipy.stats import norm

import bayesjudge as bj
from bayesjudge import prevalence
from bayesjudge.core.fit import Fit
from bayesjudge.core.methods import JUDGE, PAIRED, ROGAN_GLADEN, UNPAIRED_PPI
from bayesjudge.prevalence import items as module
from bayesjudge.prevalence.items import ItemEffects, Items
from bayesjudge.prevalence.items.closed_form import clusters_of
from bayesjudge.truth import by_item


def read(calibration="random", by=None, **how):
    """A simulated log, read; a single system unless others are named."""
    how = {"systems": 0.7, "random_seed": 1, **how}
    repeats = how.get("of", "system") if how["repeats"] > 1 else None
    log = module.simulate(**how)
    return Items.from_frame(log, calibration=calibration, repeats=repeats, by=by)


def single(**how):
    """One row per item."""
    return read(**how, repeats=1)


# Reading -----------------------------------------------------------------------------------------

LOG = pd.DataFrame(
    {
        "item": ["p", "p", "q", "q", "r"],
        "verdict": [1, 0, 1, 1, 0],
        "truth": [1, None, None, None, 0],
    }
)


def test_what_repeats_must_be_said():
    with pytest.raises(
        bj.InputError, match=r"2 items have several rows.*repeats='system'.*'judge'"
    ):
        Items.from_frame(LOG, calibration="random")
    with refused("calibration=", "somehow", subject="label design"):
        Items.from_frame(LOG, calibration="somehow", repeats="system")
    assert Items.from_frame(LOG.iloc[[0, 2, 4]], calibration="random").repeats is None


def test_labels_are_of_rows_where_the_system_repeats_and_of_outputs_where_the_judge_does():
    rows = Items.from_frame(LOG, calibration="random", repeats="system").pooled()
    assert (rows.test_n, rows.test_pass, rows.correct_n, rows.incorrect_n) == (3, 2, 1, 1)
    outputs = Items.from_frame(LOG, calibration="random", repeats="judge")
    assert outputs.rows("system").labelled @ outputs.count == 2
    assert outputs.rows("system").labelled_pass @ outputs.count == 0.5  # p: one pass of two
    torn = LOG.assign(truth=[1, 0, None, None, 0])
    with refused(1, id="outputs-torn"):
        Items.from_frame(torn, calibration="random", repeats="judge")


def test_items_with_the_same_rows_are_one_pattern_and_some_systems_lack_some():
    log = pd.DataFrame(
        {
            "item": [1, 2, 3, 1, 2],
            "system": list("aaabb"),
            "verdict": [1, 1, 0, 0, 0],
            "truth": [1, 1, None, 0, 0],
        }
    )
    items = Items.from_frame(log, by="system", calibration="random")
    assert items.count.tolist() in ([2, 1], [1, 2])
    assert (items.n_items, items.n_rows, items.systems) == (3, 5, ("a", "b"))
    assert items.system("b").n_items == 2
    assert items.paired
    assert not items.repeated


def test_all_problems_of_a_log_are_told():
    with pytest.raises(bj.InputError, match=r"1 row has no verdict.*unparsed='fail'"):
        Items.from_frame(LOG.assign(verdict=[1, None, 1, 1, 0]), calibration="random")
    log = LOG.assign(verdict=["fine", 0, 1, 1, 0], truth=["maybe", None, None, None, 0])
    with refused("verdict", "truth", "fine", subject="table"):
        Items.from_frame(log, calibration="random", repeats="system")
    both = pd.concat([LOG.assign(s="a"), LOG.assign(s="b", truth=None)])
    with refused("b", subject="prevalence.items"):
        Items.from_frame(both, by="s", calibration="random", repeats="system")
    with refused("calibration=", "known_propensity", subject="label design"):
        read("known_propensity", items=30, repeats=2, labelled=9)


@pytest.mark.parametrize("column", ["item", "ID", "sample_id"])
def test_counts_refuse_rows_of_one_item_and_name_the_way_out(column):
    log = pd.concat([LOG.rename(columns={"item": column}).assign(system=s) for s in "ab"])
    with refused("repeats=", "judge", subject="table"):
        prevalence.Counts.from_frame(log, calibration="random", by="system")
    with pytest.raises(bj.InputError, match="not independent"):
        prevalence.Counts.from_frame(LOG, calibration="random", item="item")


@pytest.mark.slow
def test_counts_say_that_rows_are_items_if_no_column_told_them():
    def assumed(table, **how):
        counts = prevalence.Counts.from_frame(table, calibration="random", **how)
        results = [*prevalence.closed_forms(counts), prevalence.exact(counts)]
        return [any(a.id == "rows-are-items" for a in one.assumptions) for one in results]

    assert all(assumed(LOG.drop(columns="item")))
    distinct = LOG.assign(item=range(5))
    assert not any(assumed(distinct))
    assert not any(assumed(distinct.rename(columns={"item": "row"}), item="row"))
    # an empty id identifies nothing, and a system may see each item once
    assert not any(assumed(LOG.assign(item=["a", "b", None, None, "c"])))
    both = pd.concat([distinct.assign(system=s) for s in "ab"])
    counts = prevalence.Counts.from_frame(both, calibration="random", by="system")
    assert counts.distinct
    assert counts.system("a").distinct


# One row per item is part 1 -----------------------------------------------------------------------

EACH = ("naive", "human_only", "difference", "rogan_gladen", "post_stratified", "exact")


@pytest.mark.fast_one_in(4)
@pytest.mark.parametrize("name", EACH)
@pytest.mark.parametrize("calibration", ["random", "by_truth", "by_verdict"])
def test_one_row_an_item_is_part_1(name, calibration):
    items = read(calibration, items=400, repeats=1, labelled=90)
    if name == "exact" and calibration != "random":
        pytest.skip("quadrature is checked once")
    form = getattr(prevalence, name)
    ours = (module.exact if name == "exact" else form)(items)
    theirs = form(items.pooled())
    assert_allclose(ours["prevalence"], theirs["prevalence"], atol=1e-12)


@pytest.mark.parametrize(
    "values",
    [
        lambda totals: by_item.of_pass_rate(totals, True),
        lambda totals: by_item.of_rates(totals)[0],
        by_item.of_inversion,
        by_item.of_strata,
    ],
)
def test_variances_by_item_of_single_rows_are_those_of_independent_ones(values):
    """Taylor's variance of single rows is the binomial one: design effects are 1."""
    items = single(items=400, labelled=90)
    clusters = clusters_of(items, "system")
    found = by_item.spread_of(clusters, values(clusters.totals))
    assert found.variance > 0
    assert found.design_effect == pytest.approx(1, abs=1e-12)


def test_two_systems_labelled_throughout_are_mcnemars_table():
    rng = np.random.default_rng(3)
    truth = rng.random((120, 2)) < [0.8, 0.6]
    log = pd.DataFrame(
        {
            "item": np.repeat(np.arange(120), 2),
            "system": np.tile(["a", "b"], 120),
            "verdict": 1,
            "truth": truth.ravel().astype(int),
        }
    )
    items = Items.from_frame(log, by="system", calibration="random")
    b, c = ((truth[:, i] & ~truth[:, 1 - i]).sum() for i in (0, 1))
    found = module.closed_form.contrast(items, "a", "b")
    n = 120
    assert found.value == pytest.approx((b - c) / n, abs=1e-12)
    mcnemar = ((b + c) - (b - c) ** 2 / n) / n**2
    assert found.variance == pytest.approx(mcnemar * (n / (n - 1)) ** 2, rel=1e-12)


# Variances by item -------------------------------------------------------------------------------


def inverted_spread(clusters):
    return by_item.spread_of(clusters, by_item.of_inversion(clusters.totals))


def rows_of(log, dropped):
    return Items.from_frame(
        log[log["item"] != dropped], calibration="random", repeats="system", by="system"
    )


@pytest.mark.slow
def test_variances_are_those_of_the_jackknife_over_items():
    """Each item left out in turn: what CR3 stands for, by another road."""
    log = module.simulate(
        systems={"a": 0.8, "b": 0.7}, items=80, repeats=3, labelled=40, random_seed=2
    )
    items = rows_of(log, -1)
    labelled = log[log["truth"].notna()]["item"].unique()
    each = [rows_of(log, one) for one in range(80)]

    def jackknife(values):
        values = np.array(values)
        known = np.isin(np.arange(80), labelled)
        parts = [v - v.mean() for v in (values[known], values[~known])]
        return sum((len(p) - 1) / len(p) * (p**2).sum() for p in parts)

    clusters = clusters_of(items, "a")
    weight = by_item.best_weight(clusters)
    found = by_item.difference_spread(clusters, weight).variance
    value = [prevalence.difference(one)["prevalence", "a"].value for one in each]
    assert found == pytest.approx(jackknife(value), rel=0.1)
    value = [prevalence.rogan_gladen(one)["prevalence", "a"].value for one in each]
    found = inverted_spread(clusters).variance
    assert found == pytest.approx(jackknife(value), rel=0.15)
    value = [prevalence.post_stratified(one)["prevalence", "a"].value for one in each]
    found = by_item.spread_of(clusters, by_item.of_strata(clusters.totals)).variance
    assert found == pytest.approx(jackknife(value), rel=0.15)
    value = [module.closed_form.contrast(one, "a", "b").value for one in each]
    found = module.closed_form.contrast(items, "a", "b").variance
    assert found == pytest.approx(jackknife(value), rel=0.1)


def test_few_items_on_which_verdicts_and_truths_differ_otherwise_are_few():
    """A judge that is never wrong: truths differ on ten items, and verdicts with them."""
    right, wrong = np.eye(6)[[0, 3]]  # good and passed, bad and failed
    both = np.array([right, right, wrong, [0, 0, 0, 0, 1, 0]])
    count = np.array([30.0, 10, 30, 50])
    first = by_item.Clusters(both, count)
    second = by_item.Clusters(both[[0, 2, 2, 3]], count)
    assert by_item.few_apart(first, second)
    judged = both[[0, 1, 2, 3]].copy()
    judged[1] = np.eye(6)[1]  # failed, though good
    assert not by_item.few_apart(by_item.Clusters(judged, count), second)


def test_a_judge_exactly_at_chance_has_no_rogan_gladen_estimate():
    # sensitivity 6/8 and specificity 1/4; counts over a design effect add up to 1 but for 4e-16
    cells = {"a": "10 11 11", "b": "1- 0- 1-", "c": "10 11 10", "d": "01 00 11", "e": "11 01 11"}
    rows = [(item, int(v), t) for item, row in cells.items() for v, t in row.split()]
    log = pd.DataFrame(rows, columns=["item", "verdict", "truth"])
    log["truth"] = pd.to_numeric(log["truth"], errors="coerce")
    items = Items.from_frame(log, calibration="random", repeats="system")
    with pytest.raises(bj.UninformativeJudgeError, match="does no better than chance"):
        prevalence.rogan_gladen(items)


def test_rogan_gladens_variance_is_that_of_its_numeric_influence():
    """Its value differentiated by the weight of each pattern: signs of covariances count."""
    clusters = clusters_of(read(items=80, repeats=3, labelled=40, leniency=2), "system")

    def value(count):
        hits, missed, wrong, caught, passes, fails = clusters._replace(count=count).totals
        q1, q0 = hits / (hits + missed), caught / (wrong + caught)
        return (passes / (passes + fails) + q0 - 1) / (q1 + q0 - 1)

    steps = 1e-5 * np.eye(clusters.count.size)
    slopes = [(value(clusters.count + d) - value(clusters.count - d)) / 2e-5 for d in steps]
    expected = clusters.count @ np.square(slopes)
    assert inverted_spread(clusters).variance == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
def test_rows_of_identical_truths_and_verdicts_tell_no_more_than_one():
    """Ten copies of each row: the design effect is ten."""
    once = module.simulate(systems=0.7, items=300, repeats=1, labelled=100, random_seed=4)
    copied = pd.concat([once] * 10)
    one = Items.from_frame(once, calibration="random")
    ten = Items.from_frame(copied, calibration="random", repeats="system")
    spread = inverted_spread(clusters_of(ten, "system"))
    assert spread.design_effect == pytest.approx(10, rel=1e-9)
    widths = [np.diff(prevalence.human_only(x)["prevalence"][1:])[0] for x in (one, ten)]
    assert widths[1] == pytest.approx(widths[0], rel=0.03)  # t for 100 items, not z
    assert module.agreement_within(ten)["icc"].value == pytest.approx(1, abs=1e-9)
    assert module.agreement_within(ten)["effective_items"].value == pytest.approx(300)


@pytest.mark.slow
@pytest.mark.parametrize("calibration", ["random", "by_truth", "by_verdict"])
def test_the_posterior_for_effective_counts_is_that_of_the_rows_that_were_copied(calibration):
    """Ten copies of each row: the posterior of one of them, and the caution has the figure."""
    once = module.simulate(systems=0.7, items=400, repeats=1, labelled=150, random_seed=4)
    one = Items.from_frame(once, calibration=calibration)
    ten = Items.from_frame(pd.concat([once] * 10), calibration=calibration, repeats="system")
    alone, copied = module.exact(one), module.exact(ten)
    assert copied["prevalence"].value == pytest.approx(alone["prevalence"].value, abs=0.01)
    widths = [np.diff(made["prevalence"][1:])[0] for made in (alone, copied)]
    assert widths[1] == pytest.approx(widths[0], rel=0.05)  # t for 150 items, not z
    (told,) = (c.text for c in copied.cautions if c.id == "design-effect")
    assert float(told.partition("design effect ")[2].split(",")[0]) == pytest.approx(10, rel=0.05)
    assert "effective-counts" in {a.id for a in copied.assumptions}


def test_icc_is_the_correlation_of_pairs_of_labels():
    items = read(items=60, repeats=4, labelled=30)
    r = items.rows("system")
    theta = (items.count @ r.good) / (items.count @ r.labelled)
    products = []
    for good, n, count in zip(r.good, r.labelled, items.count, strict=True):
        rows = np.array([1.0] * int(good) + [0.0] * int(n - good)) - theta
        own = [
            x * y
            for i, j in itertools.permutations(range(len(rows)), 2)
            for x, y in [(rows[i], rows[j])]
        ]
        products += own * int(count)
    expected = np.mean(products) / (theta * (1 - theta))
    assert module.agreement_within(items)["icc"].value == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
def test_a_judge_asked_again_makes_verdicts_more_precise_and_labels_not_more():
    once = module.simulate(systems=0.7, items=400, repeats=1, labelled=100, random_seed=5)
    one = Items.from_frame(once, calibration="random")
    log = module.simulate(
        systems=0.7, items=400, repeats=5, of="judge", labelled=100, random_seed=5
    )
    five = Items.from_frame(log, calibration="random", repeats="judge")
    labels = [np.diff(prevalence.human_only(x)["prevalence"][1:])[0] for x in (one, five)]
    assert labels[1] == pytest.approx(labels[0], rel=0.1)
    both = [np.diff(prevalence.rogan_gladen(x)["prevalence"][1:])[0] for x in (one, five)]
    assert both[1] < 0.9 * both[0]


@pytest.mark.slow
def test_labels_that_are_no_random_sample_of_items_are_told():
    log = module.simulate(systems=0.7, items=200, repeats=5, labelled=200, random_seed=1)
    passes = log.groupby("item")["verdict"].transform("mean")
    shifted = log.assign(truth=log["truth"].where((passes > 0.7) & (log["item"] < 120)))
    found = prevalence.difference(Items.from_frame(shifted, calibration="random", repeats="system"))
    assert "label-shift" in {c.id for c in found.cautions}
    assert found.assumptions[0].contradicted_by == ("label-selection", "label-shift")
    fair = prevalence.difference(read(items=200, repeats=5, labelled=60))
    assert {c.id for c in fair.cautions} == {"design-effect"}


def test_a_design_that_does_not_suit_is_named():
    items = read("by_truth", items=100, repeats=3, labelled=40)
    names = {c.id for c in prevalence.difference(items).cautions}
    assert "design-mismatch" in names
    assert [e.method.title for e in module.closed_forms(items)] == [
        JUDGE.title,
        ROGAN_GLADEN.title,
    ]


@pytest.mark.slow
@pytest.mark.parametrize("calibration", ["by_truth", "by_verdict"])
def test_no_answer_leads_with_a_difference_that_the_labels_do_not_tell(calibration):
    """It takes labels for a random sample, and says so by a caution."""
    log = module.simulate(items=600, repeats=1, labelled=200, random_seed=1)
    told = {}
    for design in ("random", calibration):
        items = Items.from_frame(log, by="system", calibration=design)
        forms = [form for form in module.closed_forms(items) if "difference" not in form]
        answers = [prevalence.answer(*forms, *more) for more in
                   ([], [prevalence.paired_difference(items)])]  # fmt: skip
        told[design] = [found.lead for found in answers], [found.text for found in answers]
    leads, texts = told[calibration]
    assert leads == [None, None]
    assert texts[0] == texts[1]
    assert told["random"][0][1] is not None


@pytest.mark.slow
def test_simultaneous_intervals_are_wider_and_of_two_systems_the_same():
    rates = {name: 0.6 + 0.02 * i for i, name in enumerate("abcdefgh")}
    items = read(by="system", systems=rates, items=200, repeats=2, labelled=80)
    one, all_ = (
        prevalence.paired_difference(items, simultaneous=s).quantities["difference"]
        for s in (False, True)
    )
    ratio = (all_.high - all_.low) / (one.high - one.low)
    assert_allclose(ratio, ratio[0], rtol=0.05)  # one critical value, but for its t
    assert 1.4 < ratio[0] < 1.9
    two = read(by="system", systems={"a": 0.8, "b": 0.7}, items=200, repeats=2, labelled=80)
    one, all_ = (
        prevalence.paired_difference(two, simultaneous=s)["difference", "a", "b"]
        for s in (False, True)
    )
    assert all_.high - all_.low == pytest.approx(one.high - one.low, rel=0.05)


@pytest.mark.slow
def test_several_judges_of_several_systems_stand_side_by_side_and_point_to_panel():
    log = module.simulate(items=100, repeats=2, labelled=40, random_seed=1)
    other = module.simulate(items=100, repeats=2, labelled=40, random_seed=1, sensitivity=0.8)
    how = {"by": "system", "calibration": "random", "repeats": "system"}
    read = {name: Items.from_frame(t, **how) for name, t in {"x": log, "y": other}.items()}
    found = module.by_judge(read)
    assert found.dims == ("judge", "system")
    assert found["prevalence", "y", "b"] == prevalence.difference(read["y"])["prevalence", "b"]
    caution = next(c for c in found.cautions if c.id == "several-judges")
    assert "panel" in caution.text


@pytest.mark.slow
def test_few_labelled_items_tell_more_with_the_judge_than_alone():
    """Imaginary items join them once, and stand for Student's t and CR3."""
    held, widths = [], []
    for seed in range(40):
        items = read(items=300, repeats=5, labelled=5, random_seed=seed)
        found = [
            made(items)["prevalence"] for made in (prevalence.difference, prevalence.human_only)
        ]
        held.append(found[0].low <= 0.7 <= found[0].high)
        widths.append([one.high - one.low for one in found])
    with_judge, alone = np.mean(widths, axis=0)
    assert with_judge < 0.85 * alone
    assert np.mean(held) > 0.95 - 4 * np.sqrt(0.05 * 0.95 / 40)


@pytest.mark.slow
@pytest.mark.parametrize("runs", study_but([60, 150], 60))
def test_pooled_rows_do_not_cover_and_items_do(runs):
    covered = {"pooled": [], "items": [], "difference": []}
    for seed in range(runs):
        items = read(items=100, repeats=10, labelled=20, random_seed=seed)
        pooled = prevalence.difference(items.pooled())["prevalence"]
        found = (
            prevalence.difference(items)["prevalence"],
            prevalence.rogan_gladen(items)["prevalence"],
        )
        for name, (_, low, high) in zip(covered, (pooled, *found), strict=True):
            covered[name].append(low <= 0.7 <= high)
    noise = 4 * np.sqrt(0.05 * 0.95 / runs)
    assert np.mean(covered["pooled"]) < 0.8
    assert np.mean(covered["items"]) > 0.95 - noise
    assert np.mean(covered["difference"]) > 0.95 - noise


# The integrated likelihood -----------------------------------------------------------------------


def point_of(items, spec, seed=0):
    rng = np.random.default_rng(seed)
    shape = (len(items.systems),) if len(items.systems) > 1 else ()
    made = {n: rng.uniform(0.4, 0.9, shape) for n in ("prevalence", "sensitivity", "specificity")}
    return made | {f"{e}_spread": rng.uniform(0.5, 1.5) for e in spec._effects(items)}


CASES = {
    "system repeats": {"repeats": 3},
    "several systems": {"systems": {"a": 0.8, "b": 0.6, "c": 0.7}, "repeats": 2},
    "judge repeats": {"of": "judge", "repeats": 3},
    "judge repeats, systems": {"systems": {"a": 0.8, "b": 0.6}, "of": "judge", "repeats": 2},
    "one row each": {"systems": {"a": 0.8, "b": 0.6}, "repeats": 1},
    "labels by row": {"label": "row", "repeats": 3},
    "labels by truth": {"label": "row", "repeats": 3, "calibration": "by_truth"},
    "labels by verdict": {"label": "row", "repeats": 3, "calibration": "by_verdict"},
    "every item labelled": {"systems": {"a": 0.8, "b": 0.6}, "repeats": 2, "labelled": 30},
    "judge repeats, labels by truth": {"of": "judge", "repeats": 3, "calibration": "by_truth"},
    "many labelled rows": {"systems": {"a": 0.8, "b": 0.6, "c": 0.7}, "repeats": 6, "items": 14},
}


def case(name):
    how = {"items": 30, "labelled": 12, **CASES[name]}
    repeats = {"judge": "judge"}.get(how.get("of"), "system") if how["repeats"] > 1 else None
    calibration = how.pop("calibration", "random")
    by = "system" if "systems" in how else None
    log = module.simulate(**{"systems": 0.7, "random_seed": 1, "leniency": 0.5, **how})
    return Items.from_frame(log, calibration=calibration, repeats=repeats, by=by)


def evaluated(items, spec, point, moved=None):
    """Value of the operation and its slopes by logits of truth, of a pass on good and on bad."""
    from bayesjudge.prevalence.items import _marginal as m
    from bayesjudge.prevalence.items._pymc import nodes_of
    from bayesjudge.truth import effects as e

    effects, judge = spec._effects(items), items.repeats == "judge" and items.repeated
    at, weight = {}, {}
    for name, n in nodes_of(spec).items():
        points, weight[name] = e.quadrature(n) if name in effects else (np.zeros(1), np.ones(1))
        at[name] = points * (point[f"{name}_spread"] if name in effects else 0)
    none, one = np.zeros(1), np.ones(1)
    own, w = at["interaction"], weight["interaction"]
    truth = (at["difficulty"], none if judge else own, weight["difficulty"], one if judge else w)
    verdict = (at["leniency"], own if judge else none, weight["leniency"], w if judge else one)
    theta, q1, q0 = (np.atleast_1d(point[n]) for n in ("prevalence", "sensitivity", "specificity"))
    logits = [m._centred(theta, *truth), m._centred(q1, *verdict), m._centred(1 - q0, *verdict)]
    answers = m.Answers.of(items)
    if judge:
        logits[0] = logits[0][:, :, 0]
    else:
        logits = [logits[0].transpose(0, 2, 1), *(y[:, :, 0] for y in logits[1:])]
    if moved is not None:
        logits[moved[0]][moved[1]] += moved[2]
    logits = [np.ascontiguousarray(one) for one in logits]
    data = answers.cells, answers.system, answers.answer_of, answers.count.astype(float)
    run = m.Rows.function(e.plain, items.design.same_items, judge)
    return run(*logits, truth[2], verdict[2], verdict[3] if judge else truth[3], *data)


NAMES = "difficulty", "leniency", "interaction"


@pytest.mark.fast_named("labels by verdict")
@pytest.mark.parametrize("name", CASES)
def test_likelihood_and_gradient_are_those_of_plain_arrays(name):
    from bayesjudge.prevalence.items._pymc import log_likelihood

    items, spec = case(name), ItemEffects(nodes=5)
    point = point_of(items, spec)
    value, *slopes = evaluated(items, spec, point)
    assert value == pytest.approx(log_likelihood(items, spec, point), rel=1e-10)
    rng, step = np.random.default_rng(1), 1e-5
    for i, slope in enumerate(slopes):
        where = tuple(rng.integers(0, n) for n in slope.shape)
        up, down = (evaluated(items, spec, point, (i, where, x))[0] for x in (step, -step))
        assert slope[where] == pytest.approx((up - down) / (2 * step), rel=1e-5, abs=1e-6)


@pytest.mark.slow
def test_the_nodes_suffice_where_effects_spread_by_one_and_a_half_logits():
    """What all draws share leaves the posterior as it is: the error that differs between them."""
    from bayesjudge.prevalence.items._marginal import Answers, by_pattern
    from bayesjudge.prevalence.items._pymc import nodes_of

    items, rng, draws = case("several systems"), np.random.default_rng(3), 10
    shares = {"prevalence": 0.7, "sensitivity": 0.85, "specificity": 0.75}
    spreads = {"difficulty_spread": 1.5, "leniency_spread": 1.1, "interaction_spread": 0.8}
    at = {name: rng.normal(mean, 0.04, (draws, 3)) for name, mean in shares.items()}
    at |= {name: sd * np.exp(rng.normal(0, 0.15, draws)) for name, sd in spreads.items()}
    ours, many = nodes_of(ItemEffects()), {"difficulty": 41, "leniency": 41, "interaction": 15}
    off = by_pattern(items, ItemEffects(), at, ours) - by_pattern(items, ItemEffects(), at, many)
    assert (off @ Answers.of(items).count).std() < 0.01


@pytest.mark.fast_one_in(2)
@pytest.mark.parametrize("share", [1e-300, 1e-20, 1 - 1e-16])
@pytest.mark.parametrize("spread", [1e-3, 300.0])
def test_there_is_a_likelihood_however_far_a_sampler_strays(share, spread):
    """Where probabilities are 0 in floating point: a number, and the way back."""
    items, spec = case("several systems"), ItemEffects(nodes=5)
    point = point_of(items, spec) | {"prevalence": np.full(3, share), "difficulty_spread": spread}
    value, *slopes = evaluated(items, spec, point)
    assert np.isfinite(value)
    assert all(np.isfinite(slope).all() for slope in slopes)


def test_an_item_of_many_labelled_rows_has_no_probability_of_0():
    """All good where hardly any could be."""
    cells = np.zeros((1, 3, 3, 2), int)
    cells[:, :, 1, 1] = 8
    items = Items(cells, np.ones(1, int), "abc", "random", repeats="system")
    spec = ItemEffects(nodes=5)
    shares = {"prevalence": np.full(3, 1e-300), "difficulty_spread": 1e-3}
    value, *slopes = evaluated(items, spec, point_of(items, spec) | shares)
    assert value < -40 * 24
    assert all(np.isfinite(slope).all() for slope in slopes)


@pytest.mark.parametrize("spread", [0.01, 1.0, 6.0])
def test_a_solved_centre_has_the_mean_of_its_nodes_and_the_slopes_of_its_equation(spread):
    from bayesjudge.truth import effects as m

    points, weights = m.quadrature(7)
    share, shift = np.array([1e-6, 0.02, 0.5, 0.9, 1 - 1e-6]), spread * points
    found, by_share, by_shift = m.centres(share, shift, weights)
    p = expit(found[:, None] + shift)
    assert_allclose(p @ weights, share, rtol=1e-10)
    assert_allclose((weights * expit(-found[:, None] - shift)).sum(axis=1), 1 - share, rtol=1e-9)
    step = 1e-5 * share * (1 - share)
    up, down = (m.centres(share + x, shift, weights)[0] for x in (step, -step))
    assert_allclose(by_share, (up - down) / (2 * step), rtol=1e-5)
    for i in range(points.size):
        move = 1e-5 * (np.arange(points.size) == i)
        up, down = (m.centres(share, shift + x, weights)[0] for x in (move, -move))
        assert_allclose(by_shift[:, i], (up - down) / 2e-5, rtol=1e-5, atol=1e-8)


@pytest.mark.fast_one_in(3)
@pytest.mark.parametrize("name", CASES)
def test_each_pattern_of_items_has_a_likelihood_of_its_own(name):
    """What one more item of a pattern adds to the compiled likelihood, at each of two draws."""
    from bayesjudge.prevalence.items._marginal import by_pattern
    from bayesjudge.prevalence.items._pymc import nodes_of

    items, spec = case(name), ItemEffects(nodes=5)
    points = [point_of(items, spec)]
    points.append({k: 0.9 * np.asarray(v) for k, v in points[0].items()})
    draws = {k: np.array([point[k] for point in points], float) for k in points[0]}
    found = by_pattern(items, spec, draws, nodes_of(spec))
    for point, logs in zip(points, found, strict=True):
        total, *_ = evaluated(items, spec, point)
        for i in range(0, len(items.count), 1 + len(items.count) // 4):
            one = np.arange(len(items.count)) == i
            more = evaluated(replace(items, count=items.count + one), spec, point)[0] - total
            if items.design.same_items:
                assert np.abs(logs - more).min() < 1e-8 * abs(more)
            else:  # labels that tell the judge's rates only are items of their own
                both = (logs[:, None] + logs).ravel()
                assert np.abs(np.append(both, logs) - more).min() < 1e-8 * abs(more)


@pytest.mark.slow
def test_the_graph_has_the_likelihood_and_its_gradient_by_rates_and_spreads():
    import pytensor

    from bayesjudge.prevalence.items._pymc import log_likelihood

    items, spec = case("several systems"), ItemEffects(nodes=5, better_than_chance=False)
    model, point = spec._sampling_form(items), point_of(items, spec)
    inputs = [model[f"{n}_signed" if n.endswith("_spread") else n] for n in point]
    outputs = [model["rows"], *pytensor.grad(model["rows"], inputs)]
    run = pytensor.function(inputs, outputs, mode="FAST_COMPILE", on_unused_input="ignore")
    value, *slopes = run(*point.values())
    assert value == pytest.approx(log_likelihood(items, spec, point), rel=1e-10)
    for (n, at), slope in zip(point.items(), slopes, strict=True):
        where = (0,) * np.ndim(at)
        ends = []
        for move in (1e-5, -1e-5):
            other = np.array(at, float)
            other[where] += move
            ends.append(log_likelihood(items, spec, {**point, n: other}))
        numeric = (ends[0] - ends[1]) / 2e-5
        assert np.asarray(slope)[where] == pytest.approx(numeric, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("nodes", [5, 7, 15, 21, 60, 90])  # NumPy has no rule for the last two
def test_effects_at_the_nodes_have_the_moments_of_a_normal(nodes):
    from bayesjudge.truth.effects import quadrature

    points, weights = quadrature(nodes)
    assert_allclose([weights.sum(), weights @ points, weights @ points**2], [1, 0, 1], atol=1e-12)
    assert weights @ points**4 == pytest.approx(3, rel=0.002)  # what lies beyond the last node


@pytest.mark.slow
def test_items_that_a_system_lacks_tell_of_the_others_only():
    from bayesjudge.prevalence.items._pymc import log_likelihood

    truths = [1, None, 0, 1, None, 0]
    log = pd.DataFrame({"item": range(6), "system": list("ssssst"), "verdict": 1, "truth": truths})
    both = Items.from_frame(log, by="system", calibration="random")
    spec = ItemEffects(nodes=5)
    point = point_of(both, spec)
    apart = 0.0
    for i, name in enumerate(both.systems):
        alone = Items.from_frame(log[log["system"] == name], calibration="random")
        own = {k: v[i] if np.ndim(v) else v for k, v in point.items()}
        apart += log_likelihood(alone, spec, own)
    assert log_likelihood(both, spec, point) == pytest.approx(apart, rel=1e-9)


def centre_of(share, spread):
    from scipy.optimize import brentq

    grid = np.linspace(-8, 8, 4001)
    weight = norm.pdf(grid)
    weight /= weight.sum()
    return brentq(lambda a: weight @ expit(a + spread * grid) - share, -30, 30)


@pytest.mark.slow
def test_icc_is_the_items_share_of_the_variance_of_truths():
    """Both effects on the truth are one normal effect: integrated on a grid."""
    import pytensor

    items, spec = case("several systems"), ItemEffects(nodes=21, better_than_chance=False)
    model, point = spec._build(items), point_of(items, spec)
    run = pytensor.function(
        [model[n] for n in point], model["icc"], mode="FAST_COMPILE", on_unused_input="ignore"
    )
    grid = np.linspace(-8, 8, 4001)
    spread = np.hypot(point["difficulty_spread"], point["interaction_spread"])
    weight = norm.pdf(grid) / norm.pdf(grid).sum()
    for found, theta in zip(run(*point.values()), point["prevalence"], strict=True):
        square = weight @ expit(centre_of(theta, spread) + spread * grid) ** 2
        expected = (square - theta**2) / (theta * (1 - theta))
        assert found == pytest.approx(expected, abs=1e-3)


@pytest.mark.slow
def test_quadrature_is_the_integral_over_item_effects():
    """Of one item with labelled and other rows, by adaptive integration over a and b."""
    log = pd.DataFrame(
        {"item": 0, "verdict": [1, 1, 0, 1, 0, 1], "truth": [1, 0, 1, None, None, None]}
    )
    items = Items.from_frame(log, calibration="random", repeats="system")
    point = {"prevalence": 0.6, "sensitivity": 0.85, "specificity": 0.7}
    spreads = {"difficulty_spread": 1.7, "leniency_spread": 0.8}
    alpha = centre_of(0.6, 1.7)
    good, bad = centre_of(0.85, 0.8), centre_of(0.3, 0.8)

    def density(a, b):
        p, hit, wrong = expit(alpha + 1.7 * a), expit(good + 0.8 * b), expit(bad + 0.8 * b)
        passed = p * hit + (1 - p) * wrong
        rows = p * hit * (1 - p) * wrong * p * (1 - hit) * passed * (1 - passed) * passed
        return rows * norm.pdf(a) * norm.pdf(b)

    exact = nquad(density, [[-7, 7], [-7, 7]], opts={"epsabs": 1e-9})[0]
    from bayesjudge.prevalence.items._pymc import log_likelihood

    found = log_likelihood(items, ItemEffects(nodes=15), point | spreads)
    # effects beyond 4.5 standard deviations are cut off, and cost 1e-4
    assert found == pytest.approx(np.log(exact), abs=2e-4)


@pytest.mark.slow
def test_systems_share_the_difficulty_of_an_item_and_the_judges_leniency_on_it():
    """Of one item that two systems answered, by adaptive integration over a and b."""
    log = pd.DataFrame({"item": 0, "system": ["s", "t"], "verdict": 1, "truth": 1})
    items = Items.from_frame(log, by="system", calibration="random")
    point = {
        "prevalence": np.array([0.6, 0.8]),
        "sensitivity": np.array([0.85, 0.7]),
        "specificity": np.array([0.7, 0.9]),
    }
    spreads = {"difficulty_spread": 1.7, "leniency_spread": 1.2}
    centres = [
        (centre_of(theta, 1.7), centre_of(hit, 1.2))
        for theta, hit in zip(point["prevalence"], point["sensitivity"], strict=True)
    ]

    def density(a, b):
        rows = [expit(x + 1.7 * a) * expit(y + 1.2 * b) for x, y in centres]
        return rows[0] * rows[1] * norm.pdf(a) * norm.pdf(b)

    exact = nquad(density, [[-7, 7], [-7, 7]], opts={"epsabs": 1e-9})[0]
    from bayesjudge.prevalence.items._pymc import log_likelihood

    found = log_likelihood(items, ItemEffects(nodes=15), point | spreads)
    assert found == pytest.approx(np.log(exact), abs=2e-4)
    apart = np.prod(point["prevalence"]) * np.prod(point["sensitivity"])
    assert np.log(exact) - np.log(apart) > 0.05  # what would be lost if systems shared nothing


def test_no_item_effects_is_part_1():
    """As the spreads go to 0 the likelihood is that of independent rows, but for a constant."""
    from bayesjudge.prevalence.items._pymc import log_likelihood

    items = read(items=50, repeats=3, labelled=20)
    c = items.pooled()
    off = []
    for theta, q1, q0 in [(0.5, 0.8, 0.7), (0.8, 0.9, 0.6), (0.65, 0.95, 0.8)]:
        p = theta * q1 + (1 - theta) * (1 - q0)
        binomial = (
            c.test_pass * np.log(p)
            + (c.test_n - c.test_pass) * np.log(1 - p)
            + c.correct_n * np.log(theta)
            + c.incorrect_n * np.log(1 - theta)
            + c.correct_pass * np.log(q1)
            + (c.correct_n - c.correct_pass) * np.log(1 - q1)
            + c.incorrect_fail * np.log(q0)
            + (c.incorrect_n - c.incorrect_fail) * np.log(1 - q0)
        )
        point = {"prevalence": theta, "sensitivity": q1, "specificity": q0}
        spreads = {"difficulty_spread": 1e-7, "leniency_spread": 1e-7}
        off.append(log_likelihood(items, ItemEffects(), point | spreads) - binomial)
    assert_allclose(off, 0, atol=1e-6)


@pytest.mark.slow
def test_shares_of_the_population_are_the_models_prevalence():
    """Newton's method and bisection agree, also where effects are large and shares extreme."""
    import pytensor
    import pytensor.tensor as pt

    from bayesjudge.prevalence.items._pymc import _centre, _logits, _solved_centre
    from bayesjudge.truth.effects import quadrature

    points, weights = quadrature(15)
    for spread in (0.1, 2.0, 5.0):
        shares = np.array([0.002, 0.1, 0.5, 0.97, 0.9995])
        effects = (
            (pt.as_tensor(spread * points), pt.as_tensor(weights)),
            (pt.zeros(1), pt.ones(1)),
        )
        for centred in (_centre, _solved_centre):
            logits = _logits(pt.as_tensor(shares), effects, centred)
            at = pytensor.function([], logits, mode="FAST_COMPILE")()
            mean = (expit(at[:, :, 0]) * weights).sum(axis=1)
            assert_allclose(logit(mean), logit(shares), atol=1e-6)


@pytest.mark.slow
def test_effects_that_rows_do_not_tell_are_left_out():
    spec = ItemEffects()
    assert spec._effects(single(items=50, labelled=20)) == ()
    assert spec._effects(case("system repeats")) == ("difficulty", "leniency")
    assert spec._effects(case("judge repeats")) == ("leniency",)
    assert spec._effects(case("several systems")) == ("difficulty", "leniency", "interaction")
    assert spec._effects(case("one row each")) == ("difficulty", "leniency")


def test_a_model_that_does_not_suit_is_refused():
    with refused(5, subject="ItemEffects"):
        ItemEffects(nodes=2)
    with pytest.raises(bj.InputError, match="leniency_spread must be positive"):
        ItemEffects(leniency_spread=0)
    with refused("b", subject="build_model"):
        module.build_model(case("several systems"), ItemEffects(prevalence={"a": bj.BetaPrior()}))


def test_contrasts_and_ranks_by_hand():
    """Of draws that go together, as those of systems on the same items do."""
    rng = np.random.default_rng(1)
    shared = rng.normal(0, 0.05, (2000, 1))
    draws = np.array([0.7, 0.75, 0.5]) + shared + rng.normal(0, 0.02, (2000, 3))
    names = ["a", "b", "c"]
    posterior = xr.Dataset(
        {"prevalence": (("chain", "draw", "system"), draws[None])}, coords={"system": names}
    )
    tree = xr.DataTree.from_dict({"posterior": posterior})
    fit = Fit(
        tree,
        SimpleNamespace(systems=names, design=prevalence.DESIGNS["random"]),
        ItemEffects(),
        ("prevalence",),
        "m",
        "s",
    )
    table = module.contrasts(fit).set_index(["first", "second"])
    gap = draws[:, 0] - draws[:, 1]
    row = table.loc[("a", "b")]
    assert_allclose(row[["low", "high"]].tolist(), np.quantile(gap, [0.025, 0.975]))
    assert_allclose([row["value"], row["probability"]], [gap.mean(), (gap > 0).mean()])
    bands = module.contrasts(fit, simultaneous=True).set_index(["first", "second"])
    pairs = [(0, 1), (0, 2), (1, 2)]
    ends = bands[["low", "high"]].to_numpy()
    gaps = np.stack([draws[:, i] - draws[:, j] for i, j in pairs], axis=1)
    inside = ((ends[:, 0] <= gaps) & (gaps <= ends[:, 1])).all(axis=1)
    assert inside.mean() == pytest.approx(0.95, abs=2e-3)
    ranks = module.ranking(fit)
    assert list(ranks.index) == ["b", "a", "c"]
    assert_allclose(ranks.loc["a", "best"], (draws.argmax(axis=1) == 0).mean())
    assert_allclose(ranks["rank"].sum(), 6)
    assert ranks.loc["c", ["rank_low", "rank_high"]].tolist() == [3, 3]
    with refused("a", subject="systems"):
        module.ranking(replace(fit, idata=fit.idata.isel(system=[0])))


def test_an_interval_of_ranks_ends_at_ranks_that_a_system_may_have():
    """Of eight systems, whose neighbours are not told apart: no interval is 1 to 8."""
    rng = np.random.default_rng(1)
    names = list("abcdefgh")
    draws = np.linspace(0.78, 0.5, 8) + rng.normal(0, 0.055, (4000, 8))
    posterior = xr.Dataset(
        {"prevalence": (("chain", "draw", "system"), draws[None])}, coords={"system": names}
    )
    tree = xr.DataTree.from_dict({"posterior": posterior})
    fit = Fit(
        tree,
        SimpleNamespace(systems=names, design=prevalence.DESIGNS["random"]),
        ItemEffects(),
        ("prevalence",),
        "m",
        "s",
    )
    table = module.ranking(fit)
    for s, name in enumerate(names):
        rank = 1 + (draws > draws[:, [s]]).sum(axis=1)
        low, high = table.loc[name, ["rank_low", "rank_high"]]
        assert ((low <= rank) & (rank <= high)).mean() >= 0.95
        # both ends are needed: without them less than .975 of the draws are on that side
        assert (rank <= low).mean() > 0.025
        assert (rank >= high).mean() > 0.025


@pytest.mark.slow
def test_systems_that_labels_cannot_tell_apart_have_an_interval_of_some_width():
    """Labels that are the same for both, by a judge that is not."""
    rng = np.random.default_rng(1)
    truth = rng.random(200) < 0.7
    known = np.where(np.arange(200) < 60, truth, np.nan)
    rows = [
        pd.DataFrame({"item": range(200), "system": name, "verdict": verdict, "truth": known})
        for name, verdict in (("a", truth ^ (rng.random(200) < 0.15)), ("b", truth))
    ]
    both = Items.from_frame(pd.concat(rows).astype({"verdict": int}), by="system",
                            calibration="random")  # fmt: skip
    difference = prevalence.paired_difference(both)
    value, low, high = difference["difference", "a", "b"]
    # of no labelled item that differs, the prior's .75 of a side is some width
    assert low < value < high
    assert high - low > 2 / 60
    rows[1]["item"] += 200
    apart = Items.from_frame(pd.concat(rows).astype({"verdict": int}), by="system",
                             calibration="random")  # fmt: skip
    methods = [d.method.title for d in (difference, prevalence.paired_difference(apart))]
    assert methods == [PAIRED.title, UNPAIRED_PPI.title]


def two_systems(items, labelled, apart, right=0.9):
    """Clusters of two systems, a pattern an item, and signs of both differences."""
    rng = np.random.default_rng(5)
    a = rng.random(items) < 0.8
    b = np.where(rng.random(items) < apart, ~a, a)
    truth = np.stack([a, b]).astype(int)
    verdict = np.where(rng.random(truth.shape) < right, truth, 1 - truth)
    place = np.where(np.arange(items) < labelled, 3 - 2 * truth - verdict, 5 - verdict)
    clusters = [by_item.Clusters(np.eye(6)[x], np.ones(items)) for x in place]
    return clusters, truth[0] - truth[1], verdict[0] - verdict[1]


@pytest.mark.slow
@pytest.mark.parametrize(("items", "labelled", "apart"), [(300, 60, 0.05), (40, 30, 0.5)])
def test_rare_differences_have_the_posterior_of_their_signs(items, labelled, apart):
    """Held against draws from the Dirichlet distributions that the moments are of."""
    clusters, d, v = two_systems(items, labelled, apart)
    mean, variance = by_item.few_posterior(*clusters)
    rng, known = np.random.default_rng(5), slice(labelled)
    share = rng.dirichlet([(v == sign).sum() + 1 for sign in (-1, 0, 1)], 200_000)
    gap = np.zeros((200_000, 3))
    for k, sign in enumerate((-1, 0, 1)):
        before = 0.75 * ((v == sign).sum() + 1) / (items + 3)
        cells = [((d[known] == x) & (v[known] == sign)).sum() + before for x in (-1, 0, 1)]
        gap[:, k] = rng.dirichlet(cells, 200_000) @ [-1, 0, 1]
    draws = (share * gap).sum(axis=1)
    np.testing.assert_allclose(mean, draws.mean(), atol=5 * draws.std() / 447)
    np.testing.assert_allclose(variance, draws.var(), rtol=0.02)
    few = apart < 0.1
    assert by_item.few_apart(*clusters) is few
    assert (by_item.contrast(*clusters).variance == variance) is few
    # items of one pattern counted together
    rows = np.concatenate([x.rows for x in clusters], axis=1)
    rows, count = np.unique(rows, axis=0, return_counts=True)
    together = [by_item.Clusters(x, count.astype(float)) for x in np.split(rows, 2, axis=1)]
    np.testing.assert_allclose(by_item.few_posterior(*together), (mean, variance))


def test_signs_have_a_posterior_of_items_with_a_row_of_each_system_labelled_in_both_or_neither():
    (first, second), *_ = two_systems(300, 60, 0.05)
    twice = [by_item.Clusters(2 * x.rows, x.count) for x in (first, second)]
    assert by_item.few_posterior(*twice) is None
    hidden = first.rows.copy()
    hidden[0] = [0, 0, 0, 0, 1, 0]
    assert by_item.few_posterior(by_item.Clusters(hidden, first.count), second) is None
    whole, *_ = two_systems(60, 60, 0.05)
    assert by_item.few_apart(*whole)
    assert by_item.contrast(*whole).variance != by_item.few_posterior(*whole)[1]
