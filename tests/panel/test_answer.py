"""The answer of a panel: names, differences, what each judge adds, and on what rates rest."""

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import bayesjudge as bj
from bayesjudge.core import methods
from bayesjudge.core.answer import few_of
from bayesjudge.core.estimate import Row
from bayesjudge.panel import Correlated, PooledDawidSkene, VoteRegression, answer, closed_forms
from bayesjudge.panel._together import right_together
from tests.panel.conftest import fit_of_draws

RNG = np.random.default_rng(7)


def test_one_judge_is_followed_or_not():
    """By hand: where a vote does not outweigh the share, the likelier class is the share's."""
    sens, spec = np.array([[0.9], [0.6]]), np.array([[0.8], [0.55]])
    share = np.array([[0.5, 0.2], [0.9, 0.5]])
    right = [
        [0.5 * 0.9 + 0.5 * 0.8, 0.2 * 0.9 + 0.8 * 0.8],
        [0.9, 0.5 * 0.6 + 0.5 * 0.55],  # of 9 in 10 good ones no vote of such a judge speaks
    ]
    for weight in (np.array([1.0, 1.0]), np.array([3.0, 1.0])):
        expected = np.average(right, axis=1, weights=weight)
        assert_allclose(right_together(sens, spec, share, weight), expected)


def test_limits_of_being_right_together():
    sens, spec = RNG.uniform(0.6, 0.95, (20, 3)), RNG.uniform(0.6, 0.95, (20, 3))
    share, weight = RNG.uniform(0.1, 0.9, (20, 2)), np.array([5.0, 2.0])
    whole = right_together(sens, spec, share, weight)
    guess, ones = np.full((20, 1), 0.3), np.ones((20, 1))
    guessing = (np.hstack([sens, guess]), np.hstack([spec, 1 - guess]))
    assert_allclose(right_together(*guessing, share, weight), whole)  # a coin adds nothing
    perfect = (np.hstack([sens, ones]), np.hstack([spec, ones]))
    assert_allclose(right_together(*perfect, share, weight), 1)
    fewer = right_together(sens[:, 1:], spec[:, 1:], share, weight)
    assert (fewer <= whole + 1e-12).all()
    assert (fewer < whole).any()


def test_being_right_together_is_what_drawn_votes_give():
    sens, spec, share = np.array([[0.9, 0.7, 0.8]]), np.array([[0.75, 0.85, 0.6]]), 0.35
    n = 200_000
    good = RNG.random(n) < share
    passed = RNG.random((n, 3)) < np.where(good[:, None], sens, 1 - spec)
    log_odds = np.log(share / (1 - share)) + np.where(
        passed, np.log(sens / (1 - spec)), np.log((1 - sens) / spec)
    ).sum(axis=1)
    seen = ((log_odds > 0) == good).mean()
    found = right_together(sens, spec, np.array([[share]]), np.ones(1))[0]
    assert abs(found - seen) < 4 * np.sqrt(seen * (1 - seen) / n)


@pytest.mark.sampling
def test_a_sampled_panel_tells_the_lead_and_what_each_judge_adds(model_fit):
    fit = model_fit(PooledDawidSkene())
    votes = fit.data
    told = answer(*closed_forms(votes), fit)
    draws = fit.draws("prevalence").reshape(-1, len(votes.generators))
    order = np.argsort(-draws.mean(axis=0))
    gap = draws[:, order[0]] - draws[:, order[1]]
    best, second = (votes.generators[i] for i in order[:2])
    lead = next(note for note in told.notes if note.startswith(f"{best} "))
    ends = [f"{100 * x:.0f}" for x in np.quantile(gap, [0.025, 0.975])]
    assert (
        f"{100 * gap.mean():.0f} points ({ends[0]} to {ends[1]}) above {second}, the next" in lead
    )
    together = next(note for note in told.notes if note.startswith("Together"))
    parts = [fit.draws(n).reshape(-1, fit.draws(n).shape[-1]).mean(axis=0)[None]
             for n in ("sensitivity", "specificity", "prevalence")]  # fmt: skip
    sens, spec, share = parts
    whole = right_together(sens, spec, share, np.asarray(votes.items, float))[0]
    shown = int(re.search(r"right on (\d+)(?:\.\d)? %", together)[1])
    assert abs(shown / 100 - whole) < 0.015  # at the mean of the draws, and not their mean
    listed = re.findall(r"(\w+) ([\d.]+)(?: points)? \(", together.split("costs: ")[1])
    assert {name for name, _ in listed} == set(votes.judges)
    costs = [float(cost) for _, cost in listed]
    assert costs == sorted(costs, reverse=True)
    trusted = next(note for note in told.notes if "of labelled ones alone" in note)
    counted = next(one for one in closed_forms(votes) if one.method.title.startswith("Rogan"))
    judge = re.search(r"(\w+) passes", trusted)[1]
    rate = counted["sensitivity", judge].value
    assert f"of labelled ones alone, {100 * rate:.0f} %" in trusted


@pytest.mark.slow
def test_of_judges_that_err_together_no_votes_are_weighed_one_by_one():
    votes = bj.panel.Votes.from_frame(bj.panel.simulate(random_seed=3), calibration="random")
    rng = np.random.default_rng(1)
    draws = {name: rng.uniform(0.7, 0.9, (1, 400, 4)) for name in ("sensitivity", "specificity")}
    draws["prevalence"] = rng.uniform(0.6, 0.8, (1, 400, 3))
    for model, told in ((PooledDawidSkene(), True), (Correlated(), False)):
        fit = fit_of_draws(votes, model, 400, **draws)
        found = answer(*closed_forms(votes), fit)
        assert found.method == fit.method
        assert any(note.startswith("Together") for note in found.notes) == told


@pytest.mark.slow
def test_closed_forms_say_that_a_sampled_model_may_differ():
    votes = bj.panel.Votes.from_frame(bj.panel.simulate(random_seed=3), calibration="random")
    told = answer(*closed_forms(votes))
    assert "the normal approximation of the model that suits these labels." in told.why
    alone = answer(bj.panel.dawid_skene_em(votes))
    assert alone.why.endswith("A sampled model may use more of the votes and answer otherwise.")
    assert not any(note.startswith("Together") for note in told.notes)


def test_few_names_between_the_first_and_the_last_are_named():
    rows = {
        name: Row(x, x, x) for name, x in zip("abcdef", (0.3, 0.9, 0.5, 0.7, 0.1, 0.6), strict=True)
    }
    assert few_of(dict(list(rows.items())[:2])) == (["b", "a"], ())
    assert few_of(dict(list(rows.items())[:3])) == (["b", "a"], ("c lies between b and a.",))
    assert few_of(dict(list(rows.items())[:4])) == (["b", "a"], ("d and c lie between b and a.",))
    assert few_of(rows) == (["b", "e"], ("4 others lie between b and e.",))


FULL = bj.panel.Votes.from_frame(
    bj.panel.simulate(prevalence=(0.95, 0.75, 0.5), items=120, labelled=120, random_seed=1)
)


def some(n, seed, full=FULL):
    """The labels of `n` random items."""
    rows = np.repeat(np.arange(len(full.count)), full.count)
    known = np.random.default_rng(seed).permutation(len(rows)) < n
    about = (full.generator[rows], full.generators, full.judges)
    truth = np.where(known, full.truth[rows], -1)
    return bj.panel.Votes(full.votes[rows], truth, *about, calibration="random")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "words", "one"),
    [
        ("population", "'s outputs (", "% of outputs like these"),
        ("items", "outputs here", "% of these outputs"),
    ],
)
def test_a_sentence_names_what_its_numbers_are_about(target, words, one):
    for votes in (some(60, 1), some(360, 1), FULL.hide("g2"), FULL.hide(*FULL.generators)):
        made = closed_forms(votes, target=target)
        assert {each.target for each in made} == {target}
        told = answer(*made, target=target)
        assert told.quoted.target == target
        assert words in told.text
    alone = FULL.only("g1")
    unnamed = bj.panel.Votes(
        *(alone.votes, alone.truth, alone.generator, ["all"], alone.judges), count=alone.count
    )
    assert one in answer(*closed_forms(unnamed, target=target), target=target).text


@pytest.mark.slow
def test_numbers_about_other_items_are_quoted_only_if_there_are_no_others():
    votes = some(60, 1)
    both = [*closed_forms(votes), *closed_forms(votes, target="items")]
    for target in ("population", "items"):
        assert answer(*both, target=target).quoted.target == target
        assert answer(*both[::-1], target=target).quoted.target == target
        other = "items" if target == "population" else "population"
        assert answer(*closed_forms(votes, target=target), target=other).quoted.target == target


def test_what_no_label_corrects_is_quoted_after_numbers_about_other_items():
    votes = some(60, 1)
    mean = bj.panel.panel_mean(votes)
    corrected = [one for one in closed_forms(votes, target="items") if one.method != mean.method]
    assert answer(mean, *corrected, target=mean.target).quoted.method != mean.method


@pytest.mark.own_model
@pytest.mark.sampling
def test_the_lead_is_of_the_items_that_the_sentence_is_about(model_fit):
    fit = model_fit(VoteRegression())
    leads = {}
    for target in ("population", "items"):
        told = answer(*closed_forms(fit.data, target=target), fit, target=target)
        assert (told.method, told.quoted.target) == (fit.method, target)
        leads[target] = next(note for note in told.notes if "by this model" in note)
    widths = {
        target: [int(x) for x in re.search(r"\((-?\d+) to (-?\d+)\)", lead).groups()]
        for target, lead in leads.items()
    }
    assert np.ptp(widths["population"]) > np.ptp(widths["items"])


@pytest.mark.slow
def test_each_target_is_covered_by_its_own_interval():
    """Items drawn from a population: the interval of one holds the other less, or more."""
    held = {(of, about): [] for of in ("items", "population") for about in ("items", "population")}
    prevalence = (0.97, 0.8, 0.5)
    for seed in range(60):
        table = bj.panel.simulate(
            prevalence=prevalence, items=100, labelled=100, shared_effect=1.0, random_seed=seed
        )
        full = bj.panel.Votes.from_frame(table)
        votes = some(210, seed, full)
        shares = {"items": full.labelled[:, 1] / full.items, "population": np.array(prevalence)}
        for of in ("items", "population"):
            rows = answer(*closed_forms(votes, target=of), target=of).quoted.table
            for about, share in shares.items():
                held[of, about].append(((rows["low"] <= share) & (share <= rows["high"])).mean())
    means = {key: np.mean(values) for key, values in held.items()}
    errors = {key: np.std(values) / np.sqrt(60) for key, values in held.items()}
    for target in ("items", "population"):
        assert means[target, target] > 0.95 - 4 * errors[target, target]
    # most items are labelled: their share is known much better than the process behind them
    assert means["items", "population"] < means["population", "population"]
    assert means["items", "population"] < 0.9


@pytest.mark.fast_named("5")
@pytest.mark.parametrize("bad", [5, 6])
def test_few_labels_of_the_rarer_kind_do_not_tell_what_votes_are_worth(bad):
    """Two to a judge, of three judges."""
    rng = np.random.default_rng(5)
    truth = np.r_[np.zeros(bad), np.ones(60 - bad), rng.random(240) < 0.8].astype(int)
    right = rng.random((300, 3)) < 0.8
    table = pd.DataFrame(np.where(right, truth[:, None], 1 - truth[:, None]), columns=[*"abc"])
    table["truth"] = np.where(np.arange(300) < 60, truth, np.nan)
    how = {"item": None, "generator": None, "calibration": "random"}
    votes = bj.panel.Votes.from_frame(table, judges=[*"abc"], **how)
    chosen = answer(*closed_forms(votes)).quoted
    assert (chosen.method == methods.OWN_LABELS) is (bad < 2 * 3)
    row = chosen["prevalence", "all"]
    assert row.low < truth[60:].mean() < row.high
