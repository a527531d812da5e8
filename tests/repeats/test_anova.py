"""Analysis of variance: by hand, by statsmodels, by simulation, and what it refuses."""

import itertools

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from numpy.testing import assert_allclose
from statsmodels.stats.anova import anova_lm

import bayesjudge as bj
from bayesjudge.core.diagnosis import cautions_of
from bayesjudge.core.methods import ALIKE, ANOVA, DIRICHLET
from bayesjudge.repeats import Scores, anova, as_if_iid, exact, order_effects, simulate
from bayesjudge.repeats.checks import ORDER_P, _Cells

RANGE = range(1, 6)


def read(table):
    return Scores.from_frame(table, scale=RANGE, item="item", judge="judge", order="repeat")


def test_two_way_components_are_statsmodels():
    table = simulate(items=8, judges=3, repeats=4, random_seed=3)
    fitted = smf.ols("score ~ C(item) * C(judge)", table).fit()
    squares = anova_lm(fitted).eval("sum_sq / df")
    a, b, ab, e = (
        squares[name] for name in ("C(item)", "C(judge)", "C(item):C(judge)", "Residual")
    )
    expected = {
        "item_sd": (a - ab) / 12,
        "judge_sd": (b - ab) / 32,
        "item_judge_sd": (ab - e) / 4,
        "repeat_sd": e,
    }
    found = anova(read(table))
    for name, variance in expected.items():
        root = np.sign(variance) * np.sqrt(abs(variance))
        assert_allclose(found.quantities[name].raw, root, err_msg=name)
    assert_allclose(found["mean_score"].value, table["score"].mean())
    rho = ((b + 7 * ab) / 8 - e) / ((b + 7 * ab) / 8 + 3 * e)
    assert_allclose(found["effective_repeats"].value, 12 / (1 + 3 * rho))


def test_one_way_is_the_textbook_icc():
    table = simulate(items=12, judges=1, repeats=5, random_seed=4)
    groups = table.groupby("item")["score"]
    within = groups.var().mean()
    between = 5 * groups.mean().var()
    found = anova(read(table))
    assert_allclose(found["item_sd"].value ** 2, (between - within) / 5)
    assert_allclose(found["repeat_sd"].value ** 2, within)
    assert "judge_sd" not in found
    from scipy.stats import t

    half = t.ppf(0.975, 12 * 4) * np.sqrt(within / 5)  # pooled over items
    row = found["item_score", "item3"]
    ends = groups.mean()["item3"] + np.array([-half, half])
    assert ends[1] > 5  # the end of the scale, where it is cut
    assert_allclose([row.low, row.high], [ends[0], 5])


def test_one_item_shows_its_judges():
    table = simulate(items=1, judges=5, repeats=6, judge_scale=2, random_seed=5)
    found = anova(read(table))
    means = table.groupby("judge")["score"].mean()
    within = table.groupby("judge")["score"].var().mean()
    assert_allclose(found["judge_sd"].value ** 2, means.var() - within / 6)
    assert list(found.quantities) == ["mean_score", "judge_sd", "repeat_sd", "effective_repeats"]


def test_scaling_the_scores_scales_the_components():
    table = simulate(random_seed=6)
    one = anova(read(table))
    wide = table.assign(score=10 * table["score"])
    other = anova(Scores.from_frame(wide, scale=[10 * x for x in RANGE], judge="judge"))
    for quantity, where, row in one.rows():
        times = 1 if quantity == "effective_repeats" else 10
        assert_allclose(other[quantity, *where.values()], times * np.array(row))


def test_a_negative_variance_is_shown_as_zero_and_said():
    rng = np.random.default_rng(1)
    for _ in range(50):
        table = simulate(items=4, judges=2, repeats=2, judge_scale=0, random_seed=rng)
        found = anova(read(table))
        if found.quantities["judge_sd"].raw[0] < 0:
            assert found["judge_sd"].value == 0
            assert "judge_sd" in {c.id: c.text for c in found.cautions}["negative-variance"]
            return
    raise AssertionError("no negative estimate in 50 tables without judge effects")


@pytest.mark.slow
def test_components_of_the_latent_scale_agree_with_simulation():
    sds = {"item_scale": 1.2, "judge_scale": 0.8, "item_judge_scale": 0.5}
    share = (0.1, 0.2, 0.4, 0.2, 0.1)
    expected = bj.repeats.score_components(share, scale=RANGE, **sds)
    tables = [
        anova(
            read(simulate(items=60, judges=30, repeats=2, value_share=share, **sds, random_seed=s))
        )
        for s in range(40)
    ]
    for name, value in expected.items():
        column = "value" if name == "mean_score" else "raw"  # clipped at 0, a mean is biased
        found = np.array([getattr(one.quantities[name], column)[0] for one in tables])
        error = found.std(ddof=1) / np.sqrt(len(found))
        assert abs(found.mean() - value) < 5 * error + 0.005, name


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (simulate(items=3, judges=2, repeats=2, random_seed=1).iloc[2:], "1 combinations of item"),
        (simulate(items=3, judges=2, repeats=1, random_seed=1), "no judge was asked twice"),
        (simulate(items=1, judges=1, repeats=5, random_seed=1), "use exact"),
    ],
)
def test_anova_refuses(table, words):
    with pytest.raises(bj.InputError, match=words):
        anova(read(table))


def test_pooling_judges_is_said():
    scores = read(simulate(items=2, judges=3, random_seed=1))
    assert "judges-pooled" in {c.id: c.text for c in exact(scores).cautions}
    assert_allclose(
        as_if_iid(scores).quantities["item_score"].value,
        scores.counts.sum(1) @ np.arange(1, 6) / 15,
        rtol=1e-12,
    )


# Exchangeability --------------------------------------------------------------------------------


@pytest.mark.slow
def test_order_statistics_have_their_permutation_moments():
    every = [
        _Cells.of(Scores.from_values(p, scale=RANGE))
        for p in itertools.permutations([1, 2, 2, 5, 4])  # every order, weighed equally
    ]
    z = np.array([np.hstack(list(cells.z(cells.values).values())) for cells in every])
    assert z.shape[1] == 3 + 5
    assert_allclose(z.mean(axis=0), 0, atol=1e-12)
    assert_allclose(z.var(axis=0), 1, rtol=1e-12)


def test_a_rare_order_is_as_rare_as_enumeration_says():
    """The normal approximation gives .015 for an outlier that nine places may hold."""
    effects = order_effects(Scores.from_values([2, 4, 5, 4, 5, 4, 5, 5, 4], scale=RANGE))
    assert abs(effects["first_call"].p_value - 1 / 9) < 5 * np.sqrt(1 / 9 * 8 / 9 / 1999)


def repeated(*, items=50, share=0.23, seed=0, shuffled=False):
    """Judges at temperature 0: call 1, and in a share of the items seven copies of another draw."""
    rng = np.random.default_rng(seed)
    first = rng.integers(1, 6, size=items)
    other = np.where(first < 5, first + 1, 4)
    cached = np.where(rng.uniform(size=items) < share, other, first)
    values = np.column_stack([first, *[cached] * 7])
    values = rng.permuted(values, axis=1) if shuffled else values
    return pd.DataFrame({"item": np.repeat(np.arange(items), 8), "score": values.ravel()})


@pytest.mark.slow
def test_a_cache_is_named_and_its_copies_do_not_count():
    fired = 0
    for seed in range(8):
        table = repeated(seed=seed)
        made = anova(Scores.from_frame(table, scale=RANGE))
        fired += [c.id for c in made.cautions].count("copied-repeats")
        first_two = table[table.groupby("item").cumcount() < 2]
        truth = anova(Scores.from_frame(first_two, scale=RANGE))
        assert made["repeat_sd"] == truth["repeat_sd"]
        assert {a.id for a in made.assumptions if a.contradicted_by} == {"exchangeable-repeats"}
    assert fired == 8


VERBS = {
    "anova": anova,
    "exact": bj.repeats.exact,
    "as_if_iid": bj.repeats.as_if_iid,
    "required_calls": lambda scores: bj.repeats.required_calls(scores, 0.3),
    "predict_means": lambda scores: bj.repeats.predict_means(scores, repeats=3),
    "self_contradiction": lambda scores: bj.repeats.self_contradiction(scores, calls=[1, 3, 9]),
}


@pytest.mark.fast_one_in(3)
@pytest.mark.parametrize("verb", VERBS)
def test_copies_leave_every_number_as_without_them(verb):
    """Of the first two calls; the data of the result are those that came in."""
    table = repeated(seed=2)
    scale = RANGE
    if verb == "self_contradiction":
        table, scale = table.assign(score=table["score"] % 2), [0, 1]
    every = Scores.from_frame(table, scale=scale)
    first_two = Scores.from_frame(table[table.groupby("item").cumcount() < 2], scale=scale)
    found, alone = VERBS[verb](every), VERBS[verb](first_two)
    pd.testing.assert_frame_equal(found.table, alone.table)
    assert found.data is every
    assert "copied-repeats" in {c.id for c in found.cautions} - {c.id for c in alone.cautions}


@pytest.mark.slow
def test_copies_are_no_votes_of_a_majority():
    table = repeated(seed=2).assign(score=lambda t: t["score"] % 2)
    told, alone = (
        bj.repeats.answer(*bj.repeats.closed_forms(Scores.from_frame(rows, scale=[0, 1])))
        for rows in (table, table[table.groupby("item").cumcount() < 2])
    )
    assert told.text == alone.text
    assert told.why == alone.why
    assert "400 answers" in told.basis


@pytest.mark.slow
def test_shuffled_copies_raise_nothing():
    alarms = [
        bool(cautions_of(Scores.from_frame(repeated(seed=s, shuffled=True), scale=RANGE)))
        for s in range(100)
    ]
    assert np.mean(alarms) < ORDER_P + 4 * np.sqrt(ORDER_P / 100)


def test_answers_that_repeat_the_one_before_fire():
    """A judge that sees its last answer: neither mean nor scatter of a call is unusual."""
    rng = np.random.default_rng(1)
    values = rng.integers(1, 6, size=(60, 8))
    for call in range(1, 8):
        again = rng.uniform(size=60) < 0.5
        values[:, call] = np.where(again, values[:, call - 1], values[:, call])
    table = pd.DataFrame({"item": np.repeat(np.arange(60), 8), "score": values.ravel()})
    texts = [c.text for c in cautions_of(Scores.from_frame(table, scale=RANGE))]
    assert any("repeat the answer of the call before" in text for text in texts)


def test_two_items_of_one_name_are_asked_about():
    table = simulate(items=6, judges=1, repeats=4, random_seed=1)
    table["item"] = table["item"].replace("item6", "item2")
    scores = Scores.from_frame(table, scale=RANGE)
    told = {c.id: c.numbers for c in cautions_of(scores)}["shared-name"]
    assert told["item"] == "item2"
    kept = Scores.from_frame(table[:20], scale=RANGE)
    assert "shared-name" not in {c.id: c.text for c in cautions_of(kept)}


@pytest.mark.slow
def test_alarms_are_rare_among_exchangeable_repeats():
    alarms = [
        any(c.id == "order-effect" for c in anova(read(simulate(random_seed=s))).cautions)
        for s in range(200)
    ]
    assert np.mean(alarms) < ORDER_P + 5 * np.sqrt(ORDER_P / 200)


@pytest.mark.slow
def test_a_first_call_that_differs_fires():
    table = simulate(random_seed=2)
    table.loc[table["repeat"] == 1, "score"] = (table["score"] + 1).clip(upper=5)
    cautions = anova(read(table)).cautions
    assert any("the first call scores +0." in c.text for c in cautions)


@pytest.mark.slow
def test_a_drift_fires():
    table = simulate(random_seed=2)
    shift = (table["repeat"] - 1) // 2
    table["score"] = (table["score"] + shift).clip(upper=5)
    cautions = anova(read(table)).cautions
    assert any("with each further call" in c.text for c in cautions)


def test_unparsed_answers_are_counted_and_said():
    table = simulate(items=3, judges=2, random_seed=1)
    table["score"] = table["score"].astype(float)
    table.loc[[0, 7], "score"] = np.nan
    told = {c.id: c.numbers for c in anova(read(table)).cautions}["unparsed-answers"]
    assert (told["unread"], told["total"]) == (2, 30)


@pytest.mark.slow
def test_an_order_effect_contradicts_that_repeats_are_exchangeable():
    table = simulate(random_seed=2)
    assert not any(a.contradicted_by for a in anova(read(table)).assumptions)
    table.loc[table["repeat"] == 1, "score"] = (table["score"] + 1).clip(upper=5)
    for made in bj.repeats.closed_forms(read(table)):
        against = {a.id for a in made.assumptions if a.contradicted_by == ("order-effect",)}
        assert against in ({"exchangeable-repeats"}, {"identical-answers"})


# Every method side by side -----------------------------------------------------------------------


@pytest.mark.slow
def test_closed_forms_are_those_that_suit_the_data():
    def methods(table):
        return [one.method.title for one in bj.repeats.closed_forms(read(table))]

    assert methods(simulate(random_seed=1)) == [ALIKE.title, ANOVA.title]
    alone = simulate(judges=1, random_seed=1)
    assert methods(alone) == [DIRICHLET.title, ANOVA.title]
    one = Scores.from_values([1, 2, 2], scale=RANGE)
    assert len(bj.repeats.closed_forms(one)) == 1


def test_a_closed_form_that_refuses_is_a_caution_of_the_first():
    (only,) = bj.repeats.closed_forms(read(simulate(repeats=1, random_seed=1)))
    assert "no judge was asked twice" in {c.id: c.text for c in only.cautions}["no-anova"]


def test_compare_puts_methods_side_by_side():
    table = bj.repeats.compare(read(simulate(items=2, judges=3, random_seed=1)), ci_prob=0.8)
    means = table[(table["quantity"] == "item_score") & (table["item"] == "item1")]
    assert list(means["method"]) == [ALIKE.title, ANOVA.title]
    assert means["assumes"].str.contains("judge").all()
    assert {"suited", "contradicted_by", "width", "interval"} <= set(table.columns)
