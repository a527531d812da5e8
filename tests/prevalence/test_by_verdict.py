"""What labels chosen by verdict say of the judge, and which methods they leave out."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import betabinom

from bayesjudge import prevalence
from bayesjudge.cli import main
from bayesjudge.core.methods import HUMAN_ONLY, POST_STRATIFIED
from bayesjudge.prevalence import Counts
from bayesjudge.prevalence._by_verdict import DRAWS, errors

#: Of 12,000 outputs the judge flags 186, of which 62 rightly; of 400 others none was wrong.
LEAKS = Counts(11414, 0, 62, 62, 524, 400, calibration="by_verdict")


def test_items_missed_are_beta_binomial():
    found = errors(LEAKS, 0.95).missed
    exact = betabinom(11414, 0.5, 400.5)
    assert abs(found.value - exact.mean()) < 4 * exact.std() / np.sqrt(DRAWS)
    high = exact.ppf(0.975)  # its standard error, by the density there
    density = exact.pmf(high)
    assert abs(found.high - high) < 4 * np.sqrt(0.025 * 0.975 / DRAWS) / density + 1
    assert found.low == 0


def test_of_many_labels_rates_and_numbers_are_those_of_the_table():
    # 10,000 passes of which 80 % are good, 10,000 fails of which 10 % are; half are labelled
    counts = Counts(10_000, 5000, 4500, 4000, 5500, 4500, calibration="by_verdict")
    found = errors(counts, 0.95)
    for row, true in zip(found, (8 / 9, 9 / 11, 1000, 2000), strict=True):
        assert row.low < true < row.high
        assert abs(row.value - true) < 0.005 * true  # the posterior mean of so many labels


def test_a_kind_of_error_that_labels_show_is_not_excluded():
    seen = Counts(11414, 0, 65, 62, 521, 397, calibration="by_verdict")  # 3 of 400 were missed
    found = errors(seen, 0.95)
    assert found.sensitivity.high < 1
    assert found.missed.low >= 3


def test_errors_of_one_kind_say_nothing_of_the_other():
    seen = Counts(11414, 0, 65, 62, 397, 397, calibration="by_verdict")  # no pass was wrong
    found = errors(seen, 0.95)
    assert found.missed.low >= 3
    assert found.passed.low == 0


def test_the_judge_is_taken_for_better_than_chance():
    worse = Counts(600, 300, 3, 1, 3, 1, calibration="by_verdict")  # right on one of three of each
    found = errors(worse, 0.95)
    assert found.missed.value + found.passed.value < 300


@pytest.mark.slow
@pytest.mark.parametrize("labels", [10, 20, 80])
@pytest.mark.parametrize("right", [0.0, 0.05, 0.2])
def test_a_judge_that_labels_show_to_be_worse_than_chance_is_counted_as_it_is(labels, right):
    """Items misjudged are those of beta-binomials, also if no draw is of a better judge."""
    n = round(labels * right)
    worse = Counts(600, 300, labels, n, labels, n, calibration="by_verdict")
    found = errors(worse, 0.95)
    expected = betabinom(300, labels - n + 0.5, n + 0.5)
    for row in (found.missed, found.passed):
        apart = row.value - (labels - n) - expected.mean()
        assert abs(apart) < 4 * expected.std() / np.sqrt(DRAWS)


@pytest.mark.slow
def test_the_answer_says_how_much_is_found_and_missed():
    made = [*prevalence.closed_forms(LEAKS), prevalence.exact(LEAKS)]
    notes = " ".join(prevalence.answer(*made).notes)
    assert re.search(r"fails 99.0 % \(98.\d to 99.\d %\) of bad ones", notes)
    assert "these 12,000 items 124" in notes
    one_kind = Counts(11814, 0, 62, 62, 124, 0, calibration="by_verdict")  # passes alone
    made = [*prevalence.closed_forms(one_kind), prevalence.exact(one_kind)]
    assert "By these labels" not in " ".join(prevalence.answer(*made).notes)


@pytest.fixture(scope="module")
def leaks(tmp_path_factory):
    path = tmp_path_factory.mktemp("leaks") / "leaks.csv"
    kinds = [("LEAK", "LEAK")] * 62 + [("LEAK", "clean")] * 124 + [("clean", "clean")] * 400
    rows = kinds + [("clean", "")] * 11414
    pd.DataFrame(rows, columns=["verdict", "truth"]).to_csv(path, index=False)
    return path


@pytest.mark.slow
def test_methods_that_labels_by_verdict_rule_out_show_no_rates_and_no_width_of_0(leaks, capsys):
    asked = ["prevalence", str(leaks), "--verdict", "verdict", "--truth", "truth", "--no-nuts"]
    asked += ["--calibration", "by_verdict", "--pass-value", "LEAK", "--fail-value", "clean"]
    assert main([*asked, "--all-methods", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["estimates"]
    assert {row["method"] for row in rows} >= {HUMAN_ONLY.title, POST_STRATIFIED.title}
    assert not [row for row in rows if row["method"].startswith("Rogan-Gladen")]
    assert not [row for row in rows if row["quantity"] == "sensitivity"]
    assert all(row["high"] > row["low"] for row in rows)
    assert main([*asked, "--all-methods"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Rogan-Gladen and Rogan-Gladen (bootstrap): not valid for labels that" in text
    assert "Human labels only is not valid" in text
    assert re.search(
        r"it finds \d+ % \(4\d to 100 %\) of the outputs that people call 'LEAK'", text
    )
    assert re.search(r"items it missed 0 to [67]\d such", text)


@pytest.mark.slow
def test_what_the_prior_adds_is_told_of_each_system():
    both = Counts(
        [11414, 11414], [0, 0], [62, 82], [62, 62], [224, 504], [100, 380],
        calibration="by_verdict", systems=["a", "b"],
    )  # fmt: skip
    made = prevalence.closed_forms(both), prevalence.exact(both)
    (note,) = [n for n in prevalence.answer(*made[0], made[1]).notes if "the prior's" in n]
    weighed = next(one for one in made[0] if one.method.id == "post-stratified")
    of_a = f"{100 * weighed['prevalence', 'a'].value:.2f}"
    assert note.startswith(
        f"Labels alone, weighed by how often the judge says so, give {of_a} % of"
    )
    assert "of a's outputs: the difference is the prior's" in note  # b has errors enough
