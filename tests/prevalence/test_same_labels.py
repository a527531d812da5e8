"""Labels that are the same for every system: judges that were taken for systems."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import bayesjudge as bj
from bayesjudge.prevalence import items as module
from bayesjudge.prevalence.items import Items
from bayesjudge.prevalence.items._same_labels import BY_CHANCE, MOST_ALIKE, chance_of_same


def prompts(n, good=0.7, differ=0):
    """Two prompts of a judge on the same answers; people label each answer once."""
    rng = np.random.default_rng(1)
    truth = rng.permutation(np.arange(n) < round(good * n)).astype(int)
    parts = []
    for name, right in (("v1", 0.7), ("v2", 0.9)):
        verdict = np.where(rng.random(n) < right, truth, 1 - truth)
        parts.append(pd.DataFrame({"item": range(n), "prompt": name, "verdict": verdict}))
        parts[-1]["truth"] = truth
    parts[1].loc[: differ - 1, "truth"] = 1 - parts[1]["truth"][:differ]
    return pd.concat(parts, ignore_index=True)


def read(table, **how):
    return Items.from_frame(table, by="prompt", calibration="random", **how)


def told(items):
    return [c for c in bj.prevalence.naive(items).cautions if c.id == "same-labels"]


@pytest.mark.parametrize("n", [44, 50, 70, 126, 500])
def test_different_outputs_are_taken_for_the_same_ones_less_often_than_is_said(n):
    # exact: of n items each is good for both, bad for both, or not the same
    good = np.arange(n + 1)
    taken = np.array([chance_of_same((k, n - k)) < BY_CHANCE for k in good])
    assert taken.any()
    for p in np.linspace(0.5, 0.999, 60):
        both = p**2 + MOST_ALIKE * p * (1 - p)
        neither = (1 - p) ** 2 + MOST_ALIKE * p * (1 - p)
        same = both + neither
        alarm = same**n * binom.pmf(good, n, both / same)[taken].sum()
        assert alarm < BY_CHANCE


@pytest.mark.parametrize(("n", "good", "seen"), [(50, 0.7, False), (53, 0.7, True),
                                                 (53, 0.9, False), (126, 0.9, True)])  # fmt: skip
def test_labels_that_are_the_same_are_told_from_the_number_on_that_chance_excludes(n, good, seen):
    assert bool(told(read(prompts(n, good)))) == seen


def test_one_label_that_differs_is_enough_for_systems():
    assert told(read(prompts(120)))
    assert not told(read(prompts(120, differ=1)))


def test_items_labelled_under_one_system_do_not_count():
    table = prompts(120)
    table.loc[(table["prompt"] == "v2") & (table["item"] >= 100), "truth"] = np.nan
    (caution,) = told(read(table))
    assert caution.numbers["items"] == 100


@pytest.mark.slow
def test_all_labels_alike_say_nothing_of_judges():
    assert not told(read(prompts(2000, good=1.0)))


def test_repeated_outputs_have_the_same_share_of_good_ones():
    once = prompts(60)
    twice = pd.concat([once, once], ignore_index=True)
    assert told(read(twice, repeats="system"))
    twice.loc[0, "truth"] = 1 - twice.loc[0, "truth"]  # v1 has another share of the first item
    assert not told(read(twice, repeats="system"))


@pytest.mark.slow
def test_the_answer_says_that_no_difference_can_show_and_the_gate_why():
    items = read(prompts(120))
    (caution,) = told(items)
    assert caution.numbers["items"] == 120
    made = [*module.closed_forms(items), module.exact(items)]
    text = module.answer(*made).text
    assert text.startswith("No difference of v1 and v2 can show")
    assert "may or may not" not in text
    gate = bj.decide.gate(items, against="v1")
    assert caution in gate.cautions
