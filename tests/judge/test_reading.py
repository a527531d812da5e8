"""Disagreements in order, and columns in which a judge errs more."""

import numpy as np
import pandas as pd
import pytest
from conftest import study_but

from bayesjudge import judge
from bayesjudge.core.errors import InputError


def table(seed, n=200, slope=0.0, worse=0.0):
    """Two topics and a length; the judge errs more on law, and passes more of what is long."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    topic = rng.choice(["art", "law", "war"], n)
    length = np.round(np.exp(rng.normal(5, 1, n)))
    err = 0.15 + worse * (topic == "law")
    said = np.where(rng.random(n) < err, 1 - truth, truth)
    said = np.where(rng.random(n) < slope * np.clip(np.log2(length) - 6, 0, 3), 1, said)
    return pd.DataFrame(
        {"item": range(n), "verdict": said, "truth": truth, "topic": topic, "length": length}
    )


def test_the_likeliest_errors_of_the_judge_come_first():
    """By Bayes' rule with the rates of both judges, computed by hand."""
    log = pd.DataFrame(
        {"a": [1, 1, 0, 1, 1, 0], "b": [1, 0, 0, 0, 1, 0], "truth": [1, 0, 0, 0, 0, 1]}
    )
    found = judge.disagreements(log, verdict=["a", "b"])
    assert set(found["row"]) == {2, 4, 5, 6}
    passed = {"a": (4 / 6, 2 / 4), "b": (2 / 6, 2 / 4)}  # with one more of each
    odds = 3 / 5 * (0.05 / 0.95)
    for name, said in (("a", 1), ("b", 0)):
        bad, good = passed[name]
        odds *= good / bad if said else (1 - good) / (1 - bad)
    row = found.set_index("row").loc[2]
    assert row["label_wrong"] == pytest.approx(odds / (1 + odds), abs=5e-4)
    assert found["judge_wrong"].is_monotonic_decreasing
    odds = 3 / 5 * (0.95 / 0.05)
    for bad, good in passed.values():
        odds *= (1 - good) / (1 - bad)
    row = found.set_index("row").loc[6]
    assert row["judge_wrong"] == pytest.approx(odds / (1 + odds), abs=5e-4)
    one = judge.disagreements(log, verdict="a")
    assert len(one) == 4
    with pytest.raises(InputError, match="people_err must lie"):
        judge.disagreements(log, verdict="a", people_err=0.7)
    with pytest.raises(InputError, match="no columns"):
        judge.disagreements(log, verdict="nobody")


def several(seed, n=3000, errs=0.12):
    """A judge and two people who err independently, one of whom gave the label that counts."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    said = {name: np.where(rng.random(n) < error, 1 - truth, truth).astype(float)
            for name, error in (("verdict", 0.2), ("ann", errs), ("bob", errs))}  # fmt: skip
    for name in ("ann", "bob"):
        said[name][1000:] = np.nan
    said["bob"][800:1000] = np.nan
    return pd.DataFrame({**said, "truth": said["ann"]}), truth


def test_several_people_tell_how_often_a_label_is_wrong():
    """As many are as is said, among labels that the judge contradicts; without people fewer."""
    log, good = several(1)
    people = ["ann", "bob"]
    found = judge.disagreements(log, people=people)
    wrong = log["truth"].to_numpy()[found["row"] - 1] != good[found["row"] - 1]
    for agree in (True, False):
        own = (found["ann"] == found["bob"]).to_numpy() == agree
        chance = found["label_wrong"].to_numpy()[own]
        error = np.sqrt((chance * (1 - chance)).sum())
        assert wrong[own].sum() == pytest.approx(chance.sum(), abs=4 * error)
    alone = judge.disagreements(log)
    assert alone["label_wrong"].sum() < 0.8 * wrong.sum()


@pytest.mark.slow
def test_a_label_of_nobody_named_is_judged_by_the_usual_rate():
    log, _ = several(2, n=1500)
    log.loc[1200, "truth"] = 1 - log.loc[1200, "verdict"]
    rows = {name: judge.disagreements(log, people=people).set_index("row")
            for name, people in (("usual", ()), ("people", ("ann", "bob")))}  # fmt: skip
    assert rows["people"].loc[1201, "label_wrong"] == rows["usual"].loc[1201, "label_wrong"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"people": ["ann"]}, "people="),
        ({"people": ["ann", "eve"]}, "no columns"),
        ({"people": ["ann", "bob"], "numeric": True}, "pass and fail"),
    ],
)
def test_people_who_cannot_tell_are_refused(more, words):
    with pytest.raises(InputError, match=words):
        judge.disagreements(several(1, n=1100)[0], **more)


def test_numbers_that_are_farthest_apart_come_first():
    log = pd.DataFrame({"s": [5, 2, 3], "truth": [1, 2, 4], "text": ["x", "y", "z"]})
    found = judge.disagreements(log, verdict="s", numeric=True)
    assert found["judge_less_people"].tolist() == [4, -1]
    assert found["text"].tolist() == ["x", "z"]


@pytest.mark.slow
@pytest.mark.parametrize("runs", study_but([60, 200], 60))
def test_planted_columns_are_seen_and_others_seldom(runs):
    seen = [judge.where_it_errs(table(seed, worse=0.3)) for seed in range(runs // 5)]
    named = [{(one.column, one.value) for one in found} for found in seen]
    assert np.mean([("topic", "law") in one for one in named]) > 0.85
    false = [bool(judge.where_it_errs(table(seed))) for seed in range(runs)]
    assert np.mean(false) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


@pytest.mark.slow
def test_length_counts_beyond_the_label():
    found = [judge.where_it_errs(table(seed, n=400, slope=0.25)) for seed in range(20)]
    slopes = [one for part in found for one in part if one.column == "length"]
    assert len(slopes) > 17
    assert all("more" in one.text and "per doubling" in one.text for one in slopes)
    # people too like what is long: no finding about the judge
    rng = np.random.default_rng(1)
    frame = table(1, n=400)
    frame["truth"] = (np.log(frame["length"]) + rng.normal(0, 1, 400) > 5).astype(int)
    frame["verdict"] = np.where(rng.random(400) < 0.1, 1 - frame["truth"], frame["truth"])
    assert "length" not in {one.column for one in judge.where_it_errs(frame)}


def test_slopes_are_those_of_least_squares():
    """statsmodels' HC3, to the last digit."""
    import statsmodels.api as sm

    frame = table(3, slope=0.2)
    (found,) = judge.where_it_errs(frame, columns=["length"])
    x = sm.add_constant(np.column_stack([frame["truth"], np.log2(frame["length"])]))
    theirs = sm.OLS(frame["verdict"], x).fit(cov_type="HC3", use_t=True)
    assert found.p_value == pytest.approx(theirs.pvalues.iloc[2], rel=1e-6)


def test_texts_count_by_their_length_and_names_of_rows_do_not():
    frame = table(5, n=300, slope=0.25)
    frame["answer"] = ["word " * int(n / 5 + 8) for n in frame.pop("length")]
    frame["case"] = [f"case{i}" for i in range(300)]
    found = judge.where_it_errs(frame)
    assert {one.column for one in found} == {"answer"}
    assert found[0].text.startswith("length of answer: ")


def test_infinite_numbers_and_lists_are_no_columns_to_split_by():
    log = table(1)
    more = {"inf": np.where(np.arange(200) % 9 == 0, np.inf, np.arange(200) / 7),
            "tags": [["a", "b"]] * 200}  # fmt: skip
    assert judge.where_it_errs(log.assign(**more)) == judge.where_it_errs(log)
