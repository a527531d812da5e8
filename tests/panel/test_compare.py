"""Comparing, advising, labelling and repairing."""

import itertools
import sys
from functools import partial

import numpy as np
import pytest
from refusals import refused

import bayesjudge as bj
from bayesjudge.panel.compare import CLOSED_FORMS, held_out
from bayesjudge.panel.labelling import _choose
from tests.panel.conftest import code_feedback

Votes = bj.panel.Votes
QUICK = ("panel_mean", "veto", "rogan_gladen", "linear_shift", "logit_shift", "dawid_skene_em")


@pytest.mark.slow
def test_methods_have_the_errors_that_they_are_known_to_have(monkeypatch):
    # points, max and mean, of repaired votes: difference 1.9 and 1.3, logit shift 1.8 and 1.3,
    # semi-supervised Dawid-Skene by maximum likelihood 4.9 and 2.8, veto 2.8 and 1.1
    likelihood = partial(bj.panel.dawid_skene_em, prior_count=0)
    monkeypatch.setitem(CLOSED_FORMS, "dawid_skene_em", likelihood)
    table = bj.panel.cross_validate(code_feedback(), QUICK)
    points = (100 * table[["max_error", "mean_error"]]).round(1)
    assert points.loc["linear_shift"].tolist() == [1.9, 1.3]
    assert points.loc["logit_shift"].tolist() == [1.8, 1.3]
    assert points.loc["dawid_skene_em"].tolist() == [4.9, 2.8]
    assert points.loc["veto"].tolist() == pytest.approx([2.8, 1.1], abs=0.11)
    assert points.loc["rogan_gladen", "max_error"] == 21.9


@pytest.mark.slow
def test_what_the_data_reject_stands_beside_the_method():
    table = bj.panel.cross_validate(code_feedback(), ("dawid_skene_em", "logit_shift"))
    assert "dependent-judges" in table.loc["dawid_skene_em", "contradicted_by"]
    assert "error-rates-differ" in table.loc["dawid_skene_em", "contradicted_by"]
    assert table.loc["logit_shift", "contradicted_by"] == ""


@pytest.mark.slow
def test_interval_score_by_hand():
    rows, _ = held_out(code_feedback(), ("panel_mean",), ci_prob=0.9)
    for row in rows.itertuples():
        expected = row.high - row.low
        expected += 20 * max(0, row.low - row.truth) + 20 * max(0, row.truth - row.high)
        assert row.interval_score == pytest.approx(expected)


@pytest.mark.slow
def test_a_held_out_generators_own_labels_are_not_seen():
    votes = code_feedback()
    name = votes.generators[2]
    turned = np.where(votes.generator == 2, 1 - votes.truth, votes.truth)
    swapped = Votes(
        votes.votes, turned, votes.generator, votes.generators, votes.judges, count=votes.count
    )
    for one in (votes, swapped):
        rows = held_out(one, ("veto", "logit_shift", "dawid_skene_em"))[0].set_index("generator")
        found = rows.loc[name, ["low", "value", "high"]].to_numpy(float)
        if one is votes:
            expected = found
    np.testing.assert_allclose(found, expected)


@pytest.mark.slow
def test_hidden_items_leave_so_many_labels(monkeypatch):
    votes, seen = code_feedback(), []

    def spy(hidden, ci_prob):
        seen.append(hidden)
        return bj.panel.difference(hidden, ci_prob=ci_prob)

    monkeypatch.setitem(CLOSED_FORMS, "spy", spy)
    rows, _ = held_out(votes, ("spy",), hide="items", kept=40, repeats=2, random_seed=1)
    assert len(rows) == 12
    for hidden in seen:
        assert hidden.labelled.sum(axis=1).tolist() == [40] * 6
        assert hidden.items.tolist() == votes.items.tolist()
        np.testing.assert_array_equal(hidden.tally().sum(axis=1), votes.tally().sum(axis=1))
    assert (seen[0].labelled != seen[1].labelled).any()
    shares = votes.labelled[:, 1] / votes.items
    assert rows.set_index("generator").loc[list(votes.generators), "truth"].unique() == (
        pytest.approx(shares)
    )
    # by hand: the mean vote, and the mean error on the labelled items
    one = bj.panel.difference(seen[0])["prevalence", votes.generators[0]].value
    assert rows.loc[0, "value"] == pytest.approx(one)


@pytest.mark.slow
def test_a_few_own_labels_beat_the_panel_where_it_is_biased():
    votes = Votes.from_frame(
        bj.panel.simulate(specificity=(0.2, 0.3, 0.3, 0.4), labelled=300, random_seed=1)
    )
    table = bj.panel.cross_validate(
        votes, ("panel_mean", "difference", "model_assisted"), hide="items", random_seed=1
    )
    assert table.index[-1] == "panel_mean"
    assert (table["predictions"] == 15).all()
    assert (table.loc[["difference", "model_assisted"], "covered"] >= 10).all()


@pytest.mark.sampling
def test_models_are_compared_by_what_they_say_of_labels(monkeypatch, model_fit):
    fit = model_fit(bj.panel.VoteRegression())
    monkeypatch.setattr(sys.modules[held_out.__module__], "fit", lambda *_, **__: fit)
    methods = ("panel_mean", bj.panel.VoteRegression())
    table = bj.panel.cross_validate(fit.data, methods, hide="items", kept=20, repeats=1, elpd=True)
    found = bj.panel.loo(fit)
    assert table.loc["VoteRegression", "elpd"] == pytest.approx(found.elpd / found.n)
    assert np.isnan(table.loc["panel_mean", "elpd"])


def test_comparison_refuses():
    votes = Votes.from_frame(bj.panel.simulate(random_seed=1), calibration="random")
    with pytest.raises(bj.InputError, match="keep fewer"):
        bj.panel.cross_validate(votes, hide="items", kept=200)
    with refused("hide=", subject="panel.cross_validate"):
        bj.panel.cross_validate(votes, hide="judges")
    with pytest.raises(bj.InputError, match="no method"):
        bj.panel.cross_validate(votes, ("oracle",))
    with pytest.raises(bj.InputError, match="at least 3"):
        bj.panel.cross_validate(votes.hide("g1"))


@pytest.mark.study
def test_a_model_is_scored_by_the_share_of_these_items(monkeypatch, model_fit):
    fit = model_fit(bj.panel.PooledDawidSkene())
    monkeypatch.setattr(sys.modules[held_out.__module__], "fit", lambda *_, **__: fit)
    votes = Votes.from_frame(bj.panel.simulate(labelled=300, random_seed=1))
    methods = (bj.panel.PooledDawidSkene(),)
    rows, _ = held_out(votes, methods, hide="items", kept=20, repeats=1)
    asked = fit.estimate(target="items")
    for row in rows.itertuples():
        assert (row.low, row.high) == asked["prevalence", row.generator][1:]


def test_a_method_that_refuses_ends_nothing():
    # judges that do no better than chance: rogan_gladen has no answer, the others have
    votes = Votes.from_frame(
        bj.panel.simulate(
            sensitivity=(0.4, 0.4), specificity=(0.4, 0.4), labelled=300, random_seed=1
        )
    )
    table = bj.panel.cross_validate(votes, ("panel_mean", "rogan_gladen"))
    assert table.loc["panel_mean", "predictions"] == 3
    assert table.loc["rogan_gladen", "predictions"] == 0
    assert "no judge has sensitivity" in table.loc["rogan_gladen", "refused"]
    assert table.loc["panel_mean", "refused"] == ""


def test_the_expected_gain_of_one_label_by_enumeration():
    # three items, ten equally likely worlds: the variance left after each answer, by hand
    rng = np.random.default_rng(0)
    p = rng.uniform(0.1, 0.9, (10, 3))
    (best,), (gain,), _ = _choose(p, np.ones(3, int), 3, 1)

    outcomes = list(itertools.product((0, 1), repeat=3))
    chance = np.array(
        [np.prod(np.where(z, p, 1 - p), axis=1).mean() for z in map(np.array, outcomes)]
    )
    share = np.array([np.mean(z) for z in outcomes])
    total = chance @ share**2 - (chance @ share) ** 2

    def removed(item):
        left = 0.0
        for answer in (0, 1):
            w = chance * np.array([z[item] == answer for z in outcomes])
            left += w @ share**2 - (w @ share) ** 2 / w.sum()
        return 1 - left / total

    assert best == int(np.argmax([removed(i) for i in range(3)]))
    assert gain == pytest.approx(removed(best))


def test_a_pattern_is_chosen_no_more_often_than_it_has_items():
    p = np.random.default_rng(0).uniform(0.2, 0.8, (100, 2))
    chosen, gains, _ = _choose(p, np.array([2, 3]), 5, 20)
    assert np.bincount(chosen).tolist() == [2, 3]
    assert gains.sum() == pytest.approx(1, abs=0.05)


@pytest.mark.sampling
def test_label_next_finds_items_in_doubt(model_fit):
    fit = model_fit(bj.panel.VoteRegression())
    table = bj.panel.label_next(fit, "g3", 10)
    assert len(table) == 10
    assert (table["gain"] > 0).all()
    assert table["chance"].between(0.05, 0.95).mean() >= 0.5
    assert list(table.columns) == ["chance", "gain", "a", "b", "c", "d"]
    with pytest.raises(bj.InputError, match="no generator"):
        bj.panel.label_next(fit, "g9")


def test_labels_are_unified_and_accounted_for():
    repaired = bj.panel.repair_labels([" VALID.", "incorrect", "valid", "unsure", None, "Correct"])
    assert repaired.values.tolist() == ["valid", "invalid", "valid", None, None, "valid"]
    assert repaired.changes["times"].sum() == 4
    assert str(repaired) == "3 of 6 values repaired, 1 could not be read"


def test_a_spelling_of_two_labels_is_refused():
    with refused("ok", "good", subject="panel.repair_labels"):
        bj.panel.repair_labels(["x"], {"good": ["ok"], "bad": ["ok"]})


EXPECTED = ["Use a comma between the values", "The loop never ends", "Print the sum"]


def test_texts_are_aligned_by_similarity():
    found = ["Use a coma between the values", "print the sum", "Nothing alike at all", ""]
    repaired = bj.panel.align_texts(found, EXPECTED)
    assert repaired.values.tolist()[:2] == [0, 2]
    assert repaired.values.isna().tolist()[2:] == [True, True]
    assert "no similar text" in set(repaired.changes["why"])


def test_a_range_of_lines_is_matched_by_its_first_line():
    same = ["Indent this", "Indent this"]
    repaired = bj.panel.align_texts(
        ["Indent this", "Indent this"], same, text_lines=["4-6", 2], expected_lines=[2, 4]
    )
    assert repaired.values.tolist() == [1, 0]


def test_a_text_of_another_line_is_not_taken():
    repaired = bj.panel.align_texts(
        ["Indent this"], ["Indent this"], text_lines=[9], expected_lines=[2]
    )
    assert repaired.values.isna().all()


@pytest.mark.slow
def test_the_title_of_generators_is_of_what_is_quoted():
    votes = Votes.from_frame(bj.panel.simulate(random_seed=1), calibration="random")
    made = bj.panel.closed_forms(votes)
    quoted = bj.panel.answer(*made).quoted
    best = max(quoted.rows(), key=lambda row: row[2].value)[1]["generator"]
    for results in (made, made[::-1]):
        title = " ".join(bj.panel.plot_generators(*results).get_title(loc="left").split())
        assert title.startswith(f"{best} is best: ")
        assert title.endswith(f" by {quoted.method}")


@pytest.mark.sampling
def test_plots_draw_what_they_are_given(model_fit):
    votes = Votes.from_frame(bj.panel.simulate(random_seed=1), calibration="random")
    ax = bj.panel.plot_generators(
        bj.panel.panel_mean(votes), bj.panel.difference(votes), truth={"g1": 0.9}
    )
    assert [mark.get_text() for mark in ax.get_yticklabels()] == ["g1", "g2", "g3"]
    assert len(ax.get_legend().get_texts()) == 2  # the methods
    assert sum(line.get_ls() == "--" for line in ax.lines) == 1  # the truth of one
    ax = bj.panel.plot_judges(model_fit(bj.panel.PooledDawidSkene()))
    assert {text.get_text() for text in ax.texts} == {"a", "b", "c", "d"}
    ax = bj.panel.plot_correlation(votes)
    drawn = ax.get_images()[0].get_array()
    assert drawn.shape == (4, 4)
