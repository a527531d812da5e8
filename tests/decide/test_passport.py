"""Passports: files, discounts, stale calibrations."""

import json

import numpy as np
import pandas as pd
import pytest

import bayesjudge as bj
from bayesjudge.cli import main
from bayesjudge.datasets import keep_labels, xstest
from bayesjudge.decide import Passport
from bayesjudge.prevalence import Counts

COUNTS = Counts(1000, 600, 200, 185, 100, 75, calibration="random")


def made(**more):
    return Passport.make(COUNTS, judge="gpt-4", date="2026-01-01", **more)


def test_a_file_gives_the_same_passport(tmp_path):
    one = made(prompt="Be strict.", rubric="R", source="xstest")
    path = one.save(tmp_path / "p.json")
    assert Passport.load(path) == one
    assert "Be strict" not in path.read_text()
    assert one.pass_rate == (1300, 810)
    for text, words in (("{", "not a passport"), ('{"judge": "x"}', "not a passport")):
        path.write_text(text)
        with pytest.raises(bj.InputError, match=words):
            Passport.load(path)
    state = json.loads(one.save(path).read_text())
    for change, words in (
        ({"schema": "x"}, "expected schema"),
        ({"labels": {"all": [10, 11, 5, 5]}}, "labels of 'all'"),
        ({"labels": {}}, "no labels"),
        ({"labels": {"all": ["a", 1, 2, 3]}}, "not whole numbers"),
    ):
        path.write_text(json.dumps(state | change))
        with pytest.raises(bj.InputError, match=words):
            Passport.load(path)


def test_the_discount_has_its_limits():
    one = made()
    assert one.external_labels(0) == (200, 185, 100, 75)
    assert max(one.external_labels(0.1)[::2]) <= 10
    rates = [one.external_labels(0.02)[i + 1] / one.external_labels(0.02)[i] for i in (0, 2)]
    assert rates == pytest.approx([185 / 200, 0.75], abs=0.03)
    with pytest.raises(bj.InputError, match="overdispersion must lie"):
        one.external_labels(1.0)


@pytest.mark.slow
def test_less_weight_means_wider_intervals():
    later = Counts(500, 300, 0, 0, 0, 0, calibration="separate")
    widths = []
    for overdispersion in (0.0, 0.05, 0.3):
        _, low, high = bj.prevalence.exact(made().applied(later, overdispersion))["prevalence"]
        widths.append(high - low)
    assert widths == sorted(widths)
    two = Counts(
        [500, 400], [300, 200], [0, 0], [0, 0], [0, 0], [0, 0], "separate", systems=("a", "b")
    )
    assert np.shape(made().applied(two).external_labels) == (4, 2)


def test_labels_of_other_runs_add_up():
    later = Counts(500, 300, 0, 0, 0, 0, calibration="separate", external_labels=[4, 3, 2, 1])
    expected = np.add(made().external_labels(), (4, 3, 2, 1))
    assert np.array_equal(made().applied(later).external_labels, expected)


def test_several_judges_have_no_passport_together():
    two = Counts(*([9] * 2,) * 6, calibration="random", systems=("a", "b"), dim="judge")
    with pytest.raises(bj.InputError, match="one judge a passport"):
        Passport.make(two, judge="x")


def test_another_prompt_is_stale():
    one = made(prompt="Be strict.")
    assert one.check(judge="gpt-4", prompt="Be strict.") == ()
    for now in ({"judge": "gpt-5"}, {"prompt": "Be kind."}, {"rubric": "R"}):
        assert [c.name for c in one.check(**now)] == ["stale-calibration"]


def test_another_judge_behind_the_name_does_not_carry_over():
    one = made()
    same = Counts(900, 540, 60, 55, 30, 22, calibration="random")
    assert one.check(same) == ()
    worse = Counts(900, 540, 60, 25, 30, 22, calibration="random")
    assert [c.name for c in one.check(worse)] == ["transport"]
    none = Counts(900, 20, 0, 0, 0, 0, calibration="separate")
    assert "fewer than it would if all were bad" in one.check(none)[0].text
    every = Counts(900, 900, 0, 0, 0, 0, calibration="separate")
    flawed = Passport("j", {"a": (2000, 1200, 2000, 1900)}, "random")
    assert "more than it would" in flawed.check(every)[0].text


def test_labels_by_verdict_make_no_passport():
    counts = Counts(1000, 600, 50, 45, 50, 40, calibration="by_verdict")
    with pytest.raises(bj.InputError, match="labels by verdict"):
        Passport.make(counts, judge="x")


@pytest.mark.slow
def test_the_commands(tmp_path, capsys):
    known = keep_labels(xstest(), 100, 1, by="system").fillna({"verdict": 0})
    log, out, prompt = (tmp_path / n for n in ("log.csv", "p.json", "prompt.txt"))
    known.to_csv(log, index=False)
    prompt.write_text("Is it safe?")
    about = ["--truth", "truth", "--calibration", "random", "--by", "system", "--prompt"]
    line = ["passport", "make", str(log), *about, str(prompt), "--judge", "gpt-4"]
    assert main([*line, "--out", str(out)]) == 0
    assert len(Passport.load(out).labels) == 5
    assert main(["passport", "show", str(out)]) == 0
    assert capsys.readouterr().out.count("Passport of gpt-4") == 2
    later = tmp_path / "later.csv"
    known[known["system"] == "gpt4"].drop(columns="truth").to_csv(later, index=False)
    check = ["passport", "check", str(out), str(later), "--fail", "--prompt", str(prompt)]
    assert main([*check, "--judge", "gpt-4"]) == 0
    assert capsys.readouterr().out.startswith("People would pass 44 % of outputs like these (")
    assert main([*check, "--judge", "gpt-5"]) == 1
    assert "stale-calibration" in capsys.readouterr().out


@pytest.mark.parametrize(("unparsed", "passes", "items"), [("fail", 60, 100), ("drop", 60, 80)])
def test_a_run_with_unread_verdicts(unparsed, passes, items, tmp_path):
    words = ["PASS"] * 60 + ["FAIL"] * 20 + [""] * 20
    human = ["PASS"] * 15 + [""] * 45 + ["FAIL"] * 10 + [""] * 30
    log, out = tmp_path / "log.csv", tmp_path / "made.json"
    pd.DataFrame({"verdict": words, "human": human}).to_csv(log, index=False)
    options = ["--truth", "human", "--calibration", "random", "--judge", "j"]
    made = ["passport", "make", str(log), *options, "--out", str(out), "--unparsed", unparsed]
    assert main(made) == 0
    assert f"1 system; the judge passed {passes} of {items}\n" in str(Passport.load(out))


def test_items_that_repeat_are_refused_with_what_to_do(tmp_path, capsys):
    log = tmp_path / "log.csv"
    table = pd.DataFrame({"item": [1, 1, 2, 2], "verdict": [1, 1, 0, 1], "human": [1, 1, 0, 0]})
    table.to_csv(log, index=False)
    made = ["passport", "make", str(log), "--truth", "human", "--calibration", "random"]
    made += ["--judge", "j", "--out", str(tmp_path / "made.json"), "--item", "item"]
    assert main(made) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "--item item: items have several rows" in said
    assert "give one row an item, such as the first epoch" in said


def test_another_judge_is_told_in_the_word_that_was_read_as_a_pass():
    counts = {"calibration": "random", "pass_name": "unsafe"}
    for run in (
        Counts(900, 540, 60, 25, 30, 22, **counts),
        Counts(900, 540, 60, 55, 30, 2, **counts),
        Counts(900, 899, 0, 0, 0, 0, **counts),
    ):
        (caution,) = made().check(run)
        assert "'unsafe'" in caution.text
        assert not {"good", "bad", "passes", "passed", "failed"} & {*caution.text.split()}
