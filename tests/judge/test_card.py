"""Passports: files, discounts, stale calibrations."""

import dataclasses
import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import study_but
from refusals import command_refused, refused
from scipy.stats import beta

import bayesjudge as bj
from bayesjudge import judge
from bayesjudge.cli import main
from bayesjudge.datasets import keep_labels, xstest
from bayesjudge.judge import Card
from bayesjudge.judge._carry_over import Averaged, probes_for
from bayesjudge.prevalence import Counts

COUNTS = Counts(1000, 600, 200, 185, 100, 75, calibration="random")


def made(**more):
    return Card.make(COUNTS, judge="gpt-4", date="2026-01-01", **more)


def test_a_file_gives_the_same_passport(tmp_path):
    one = made(prompt="Be strict.", rubric="R", source="xstest")
    path = one.save(tmp_path / "p.json")
    assert Card.load(path) == one
    assert "Be strict" not in path.read_text()
    assert one.pass_rate == (1300, 810)
    for text, words in (("{", "not a judge card"), ('{"judge": "x"}', "not a judge card")):
        path.write_text(text)
        with pytest.raises(bj.InputError, match=words):
            Card.load(path)
    state = json.loads(one.save(path).read_text())
    for change, words in (
        ({"schema": "x"}, "expected schema"),
        ({"labels": {"all": [10, 11, 5, 5]}}, "labels of 'all'"),
        ({"labels": {}}, "no labels"),
        ({"labels": {"all": ["a", 1, 2, 3]}}, "not whole numbers"),
    ):
        path.write_text(json.dumps(state | change))
        with pytest.raises(bj.InputError, match=words):
            Card.load(path)


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
@pytest.mark.parametrize("where", ["write", "replace"])
def test_who_stops_as_a_card_is_saved_has_the_card_of_before(tmp_path, monkeypatch, where, error):
    before, after = made(source="before"), made(source="after")
    path = before.save(tmp_path / "card.json")

    def stops(file, *_, **__):
        if where == "write":
            Path(file).write_bytes(b'{"judge": "gp')
        raise error

    monkeypatch.setattr(*((Path, "write_text") if where == "write" else (os, "replace")), stops)
    with pytest.raises(error):
        after.save(path)
    monkeypatch.undo()
    assert Card.load(path) == before
    assert [*tmp_path.iterdir()] == [path]
    assert Card.load(after.save(path)) == after


@pytest.mark.slow
def test_files_are_of_the_schema_and_passports_are_read(tmp_path):
    """Validated by jsonschema; a passport of before has the labels, and no numbers."""
    import jsonschema

    schema = json.loads(Path(judge.__file__).with_name("card.schema.json").read_text())
    counts = Counts(
        [300] * 2, [200] * 2, [60, 40], [55, 30], [40, 60], [30, 50], "random", ("a", "b")
    )
    for card in (made(valid_until="2030-01-01", tuned_labels=3), Card.make(counts, judge="x")):
        state = json.loads(card.save(tmp_path / "card.json").read_text())
        jsonschema.validate(state, schema)
    assert {one["where"] for one in state["worth"]} == {"a", "b"}
    found = judge.quality(counts)["kappa", "b"]
    told = [one for one in state["numbers"] if one["where"] == {"system": "b"}]
    assert next(one for one in told if one["quantity"] == "kappa")["value"] == pytest.approx(
        found.value, abs=1e-6
    )
    old = {"judge": "x", "labels": {"all": [9, 8, 7, 6]}, "calibration": "random",
           "pass_rate": [50, 30], "source": "", "date": "2026-01-01", "prompt_sha256": "",
           "rubric_sha256": "", "schema": "bayesjudge/passport-1"}  # fmt: skip
    (tmp_path / "old.json").write_text(json.dumps(old))
    assert Card.load(tmp_path / "old.json").totals == (9, 8, 7, 6)
    assert set(schema["properties"]) == {field.name for field in dataclasses.fields(Card)}


@pytest.mark.slow
def test_calls_on_one_output_that_correlate_are_on_the_card(capsys, tmp_path):
    """Of three calls each: by hand over all pairs; the card counts first calls."""
    rng = np.random.default_rng(3)
    truth = rng.random(200) < 0.6
    passes = np.where(truth, rng.beta(6, 1, 200), rng.beta(1, 4, 200))
    calls = (rng.random((200, 3)) < passes[:, None]).astype(int)
    table = pd.DataFrame(
        {"item": np.repeat(range(200), 3), "verdict": calls.ravel(), "truth": truth.repeat(3) * 1}
    )
    pairs = [calls[:, [a, b]] for a in range(3) for b in range(3) if a != b]
    said, again = np.vstack(pairs).T
    known = np.corrcoef(said, again)[0, 1]
    read = {"calibration": "random", "item": "item", "repeats": "judge"}
    judged = judge.Judged.from_frame(table, **read)
    assert judged.repeat_correlation == pytest.approx(known, abs=1e-12)
    assert judge.Judged.from_frame(table, calibration="random").repeat_correlation is None
    steady = table.assign(verdict=1)
    assert judge.Judged.from_frame(steady, **read).repeat_correlation is None
    three = bj.Verdicts([[2, 2], [0, 1]], [2, 0], [0, 0], [5, 5], "random", judges=["j"],
                        classes=["a", "b", "c"], judge_of_column=[0, 0])  # fmt: skip
    assert judge.Judged(three).repeat_correlation is None
    table.to_csv(tmp_path / "calls.csv", index=False)
    out = tmp_path / "card.json"
    line = ["judge", str(tmp_path / "calls.csv"), "--truth", "truth", "--calibration", "random"]
    line += ["--item", "item", "--card", str(out), "--name", "x"]
    assert main([*line, "--repeats", "judge"]) == 0
    card = Card.load(out)
    assert card.repeat_correlation == pytest.approx(known, abs=1e-6)
    assert card.pass_rate == (200, calls[:, 0].sum())
    assert "correlate by" in str(card)
    second = table["truth"].where(table.index % 3 == 1)  # the label stands beside the second call
    table.assign(truth=second).to_csv(tmp_path / "calls.csv", index=False)
    assert main([*line, "--repeats", "judge"]) == 0
    assert Card.load(out).labels == card.labels


@pytest.mark.slow
def test_errors_that_differ_between_systems_are_on_the_card():
    """More than of systems that are alike, on the side on which they differ; of one system none."""
    two = [300] * 2, [200] * 2, [100] * 2, [90] * 2
    alike = Counts(*two, [100] * 2, [80] * 2, "random", ("a", "b"))
    apart = Counts(*two, [100] * 2, [98, 40], "random", ("a", "b"))
    one, other = (Card.make(counts, judge="x") for counts in (alike, apart))
    assert other.error_correlation["good"] == one.error_correlation["good"]
    assert other.error_correlation["bad"] > 2 * one.error_correlation["bad"]
    *_, worth, _ = other.external_labels()
    rho = other.error_correlation["bad"]
    assert worth == int(200 / (1 + rho * (200 + 100)))
    assert f"by {one.error_correlation['good']:.3f} on good items" in str(one)
    assert made().error_correlation == {}
    assert "correlate" not in str(made())


def test_a_card_goes_stale_and_shows_what_the_judge_is_worth():
    one = made(valid_until="2026-06-30")
    assert [c.id for c in one.check(date="2026-07-01")] == ["stale-calibration"]
    assert one.check(date="2026-06-30") == ()
    worth = round(one.worth[0]["value"])
    assert f"worth {worth:,} labels on top of 300" in one.badge()
    assert f"{worth:,} more labels" in str(one)
    assert len(one.page().numbers.lines) == len(one.numbers)
    with refused("soon", subject="judge.Card"):
        made(valid_until="soon")
    with refused(1.5, subject="judge.Card"):
        made(repeat_correlation=1.5)


def test_the_discount_has_its_limits():
    one = made()
    assert one.external_labels(0) == (200, 185, 100, 75)
    assert max(one.external_labels(0.1)[::2]) <= 10
    rates = [one.external_labels(0.02)[i + 1] / one.external_labels(0.02)[i] for i in (0, 2)]
    assert rates == pytest.approx([185 / 200, 0.75], abs=0.03)
    with refused(overdispersion=1.0):
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
    with refused(id="several-judges"):
        Card.make(two, judge="x")


def test_another_prompt_is_stale():
    one = made(prompt="Be strict.")
    assert one.check(judge="gpt-4", prompt="Be strict.") == ()
    for now in ({"judge": "gpt-5"}, {"prompt": "Be kind."}, {"rubric": "R"}):
        assert [c.id for c in one.check(**now)] == ["stale-calibration"]


def test_another_judge_behind_the_name_does_not_carry_over():
    one = made()
    same = Counts(900, 540, 60, 55, 30, 22, calibration="random")
    assert one.check(same) == ()
    worse = Counts(900, 540, 60, 25, 30, 22, calibration="random")
    assert [c.id for c in one.check(worse)] == ["transport"]
    none = Counts(900, 20, 0, 0, 0, 0, calibration="separate")
    assert "fewer than it would if all were bad" in one.check(none)[0].text
    every = Counts(900, 900, 0, 0, 0, 0, calibration="separate")
    flawed = Card("j", {"a": (2000, 1200, 2000, 1900)}, "random")
    assert "more than it would" in flawed.check(every)[0].text


def test_labels_by_verdict_make_no_passport():
    counts = Counts(1000, 600, 50, 45, 50, 40, calibration="by_verdict")
    with refused("calibration=", subject="judge.Card.make"):
        Card.make(counts, judge="x")


@pytest.mark.slow
def test_the_commands(tmp_path, capsys):
    known = keep_labels(xstest(), 100, 1, by="system").fillna({"verdict": 0})
    log, out, prompt = (tmp_path / n for n in ("log.csv", "p.json", "prompt.txt"))
    known.to_csv(log, index=False)
    prompt.write_text("Is it safe?")
    about = ["--truth", "truth", "--calibration", "random", "--by", "system", "--prompt"]
    line = ["judge", str(log), *about, str(prompt), "--name", "gpt-4"]
    assert main([*line, "--card", str(out)]) == 0
    assert len(Card.load(out).labels) == 5
    assert main(["passport", "show", str(out)]) == 0
    assert capsys.readouterr().out.count("Card of gpt-4") == 1
    later = tmp_path / "later.csv"
    known[known["system"] == "gpt4"].drop(columns="truth").to_csv(later, index=False)
    check = ["passport", "check", str(out), str(later), "--fail", "--prompt", str(prompt)]
    assert main([*check, "--judge", "gpt-4"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    told = r"If the judge errs as it did elsewhere, people would pass 37 % of outputs like these \("
    assert re.match(told, said)
    assert main([*check, "--judge", "gpt-5"]) == 1
    said = capsys.readouterr().out
    assert "stale-calibration" in said
    assert "\n\n\n" not in said


@pytest.mark.slow
@pytest.mark.parametrize(("unparsed", "passes", "items"), [("fail", 60, 100), ("drop", 60, 80)])
def test_a_run_with_unread_verdicts(unparsed, passes, items, tmp_path):
    words = ["PASS"] * 60 + ["FAIL"] * 20 + [""] * 20
    human = ["PASS"] * 15 + [""] * 45 + ["FAIL"] * 10 + [""] * 30
    log, out = tmp_path / "log.csv", tmp_path / "made.json"
    pd.DataFrame({"verdict": words, "human": human}).to_csv(log, index=False)
    options = ["--truth", "human", "--calibration", "random", "--name", "j"]
    assert main(["judge", str(log), *options, "--card", str(out), "--unparsed", unparsed]) == 0
    assert f"1 system; the judge passed {passes} of {items}\n" in str(Card.load(out))


def test_items_that_repeat_are_refused_with_what_to_do(tmp_path, capsys):
    log = tmp_path / "log.csv"
    table = pd.DataFrame({"item": [1, 1, 2, 2], "verdict": [1, 1, 0, 1], "human": [1, 1, 0, 0]})
    table.to_csv(log, index=False)
    line = ["judge", str(log), "--truth", "human", "--calibration", "random", "--name", "j"]
    line += ["--card", str(tmp_path / "card.json"), "--item", "item", "--repeats", "system"]
    with command_refused(id="card-of-items"):
        assert main(line) == 2


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


# What carries over ------------------------------------------------------------------------------


def test_one_data_set_counts_twice_for_its_scatter_and_the_new_ones():
    """n / (1 + 2 n rho), whatever the rate."""
    for n, k, rho in ((400, 360, 0.01), (400, 20, 0.02), (60, 60, 0.1)):
        one = Card("j", {"a": (n, k, 2 * n, n)}, "random").external_labels(rho)
        assert one[::2] == (int(n / (1 + 2 * n * rho)), int(2 * n / (1 + 4 * n * rho)))
        assert one[1] == pytest.approx(one[0] * k / n, abs=0.5)


def test_of_several_systems_scatter_is_learnt():
    """Alike ones tell more than one as large, and unlike ones less."""
    alike = Card("j", {str(i): (100, 80, 100, 80) for i in range(5)}, "random")
    whole = Card("j", {"a": alike.totals}, "random")
    apart = {str(i): (100, k, 100, k) for i, k in enumerate((55, 95, 70, 90, 90))}
    unlike = Card("j", apart, "random")
    assert unlike.totals == alike.totals
    worth = [one.external_labels()[0] for one in (unlike, whole, alike)]
    assert worth[0] < worth[1] < worth[2]
    # the order of systems, and systems without a label, do not matter
    other = dict(reversed(apart.items())) | {"none": (0, 0, 0, 0)}
    assert Card("j", other, "random").external_labels() == unlike.external_labels()


@pytest.mark.slow
def test_the_correlation_learnt_is_the_posterior_mean_of_a_beta_binomial():
    """Against a sum over a fine grid of rates and correlations."""
    from scipy.integrate import trapezoid
    from scipy.stats import betabinom

    from bayesjudge.judge._carry_over import correlation

    for pairs in (((40, 30), (60, 50), (50, 49)), ((20, 1), (300, 2)), ((30, 10), (30, 28))):
        for expected in (0.01, 0.05):
            rate = np.linspace(0.0005, 0.9995, 1000)[:, None]
            rho = np.geomspace(expected / 200, 0.97, 400)
            size = 1 / rho - 1
            height = np.exp(-rho / expected)
            for n, k in pairs:
                height = height * betabinom.pmf(k, n, rate * size, (1 - rate) * size)
            height = height.sum(axis=0)
            wanted = trapezoid(height * rho, rho) / trapezoid(height, rho)
            assert correlation(pairs, expected) == pytest.approx(wanted, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.01, 0.05])
@pytest.mark.parametrize("runs", study_but([600, 2000], 600))
def test_the_discount_is_as_wide_as_rates_scatter(rho, runs):
    """Of a judge whose rates differ between data sets by as much, 95 % intervals hold .95."""
    rng, held, ends = np.random.default_rng(3), 0, []
    for _ in range(runs):
        first, second = rng.beta(0.8 * (1 / rho - 1), 0.2 * (1 / rho - 1), 2)
        labels = (300, rng.binomial(300, first), 0, 0)
        n, k, *_ = Card("j", {"a": labels}, "random").external_labels(rho)
        low, high = beta(0.5 + k, 0.5 + n - k).ppf([0.025, 0.975])
        held += low <= second <= high
        ends.append(high - low)
    assert held / runs == pytest.approx(0.95, abs=4 * np.sqrt(0.05 * 0.95 / runs) + 0.01)


LABELS = ("correct_n", "correct_pass", "incorrect_n", "incorrect_fail")
SAME = Counts(900, 600, 60, 55, 40, 31, calibration="random")
CHANGED = Counts(900, 700, 60, 55, 40, 10, calibration="random")
KNOWN = Card("gpt-4", {"a": (200, 185, 200, 160)}, "random")


@pytest.mark.slow
def test_labels_of_a_judge_that_changed_are_let_go():
    own = bj.prevalence.exact(CHANGED)["prevalence"]
    made = KNOWN.estimate(CHANGED)
    assert made["carries_over", "specificity"].value < 0.02
    assert made["carries_over", "sensitivity"].value > 0.7
    assert made["prevalence"] == pytest.approx(own, abs=0.01)
    assert "transport" in {c.id for c in made.cautions}
    # as the labels added up are not
    added = bj.prevalence.exact(KNOWN.applied(CHANGED))["prevalence"]
    assert abs(added.value - own.value) > 0.02


@pytest.mark.slow
def test_labels_of_a_judge_that_did_not_change_narrow_the_interval():
    own = bj.prevalence.exact(SAME)["prevalence"]
    made = KNOWN.estimate(SAME)
    row = made["prevalence"]
    assert row.high - row.low < own.high - own.low
    assert min(made["carries_over", rate].value for rate in ("sensitivity", "specificity")) > 0.7
    assert not made.cautions


def averaged(counts, labels, carries, n=400_000):
    """The same by drawing rates from the robust prior, weighed by the likelihood."""
    rng = np.random.default_rng(1)
    rates = []
    for total, right in (labels[:2], labels[2:]):
        kept = rng.random(n) < carries
        drawn = rng.beta(1 + right, 1 + total - right, n)
        rates.append((np.where(kept, drawn, rng.random(n)), kept))
    (q1, kept1), (q0, kept0) = rates
    share = rng.beta(0.5, 0.5, n)
    p = share * q1 + (1 - share) * (1 - q0)
    log = counts.test_pass * np.log(p) + (counts.test_n - counts.test_pass) * np.log1p(-p)
    cells = counts.correct_n, counts.correct_pass, counts.incorrect_n, counts.incorrect_fail
    for (total, right), q in zip((cells[:2], cells[2:]), (q1, q0), strict=True):
        log += right * np.log(q) + (total - right) * np.log1p(-q)
    log += counts.correct_n * np.log(share) + counts.incorrect_n * np.log1p(-share)
    weight = np.where(q1 + q0 > 1, np.exp(log - log.max()), 0)
    return share, kept1, kept0, weight / weight.sum()


@pytest.mark.slow
@pytest.mark.parametrize("carries", [0.5, 0.9])
@pytest.mark.parametrize(
    "counts",
    [
        Counts(60, 40, 12, 11, 8, 3, calibration="random"),
        Counts(60, 40, 4, 2, 5, 5, calibration="random"),
        Counts(40, 39, 6, 6, 0, 0, calibration="random"),
    ],
)
def test_the_average_is_that_of_the_robust_prior(counts, carries):
    share, kept1, kept0, weight = averaged(counts, KNOWN.external_labels(), carries)
    made = KNOWN.estimate(counts, carries=carries)
    error = 4 / np.sqrt(1 / (weight**2).sum())
    value, low, high = made["prevalence"]
    assert value == pytest.approx(weight @ share, abs=error * np.sqrt(weight @ share**2))
    for rate, kept in (("sensitivity", kept1), ("specificity", kept0)):
        assert made["carries_over", rate].value == pytest.approx(weight @ kept, abs=error / 2)
    assert weight @ (share < low) == pytest.approx(0.025 if low > 0 else 0, abs=error / 6)
    assert weight @ (share > high) == pytest.approx(0.025 if high < 1 else 0, abs=error / 6)


@pytest.mark.slow
def test_without_labels_of_the_run_it_cannot_be_told_and_that_is_said_first():
    later = Counts(900, 600, 0, 0, 0, 0, calibration="separate")
    made = KNOWN.estimate(later)
    assert made["prevalence"] == bj.prevalence.exact(KNOWN.applied(later))["prevalence"]
    assert np.isnan(made["carries_over", "specificity"].value)
    assert {c.id for c in made.cautions} == {"untested-rates"}
    told = bj.prevalence.answer(made)
    assert told.text.startswith("If the judge errs as it did elsewhere, people would pass")
    assert told.notes[0].startswith("No item of this run has a human label")
    assert not bj.prevalence.answer(KNOWN.estimate(SAME)).text.startswith("If")


@pytest.mark.slow
def test_each_system_is_judged_by_its_own_labels():
    columns = zip(
        (900, 600, 0, 0, 0, 0), (900, 600, 60, 55, 40, 31), (900, 700, 60, 55, 40, 10), strict=True
    )
    three = Counts(*map(list, columns), calibration="random", systems=["new", "same", "changed"])
    made = KNOWN.estimate(three)
    for name in ("same", "changed"):
        alone = KNOWN.estimate(three.system(name))
        assert made["prevalence", name] == pytest.approx(alone["prevalence"], abs=1e-9)
    assert made["carries_over", "changed", "specificity"].value < 0.02
    (caution,) = [c for c in made.cautions if c.id == "untested-rates"]
    assert "system 'new'" in caution.text
    assert bj.prevalence.answer(made).text.startswith("People would pass")


PROBED = Counts(3000, 1700, 480, 444, 320, 256, calibration="random")


def drawn_shift(card, counts, prior, draws=400_000):
    """Of draws of the rates' posterior without pass rates, weighed by these."""
    rng = np.random.default_rng(6)
    good, hit, bad, caught = (int(getattr(counts, name)) for name in LABELS)
    q1 = rng.beta(1 + hit + prior[1], 1 + good - hit + prior[0] - prior[1], draws)
    q0 = rng.beta(1 + caught + prior[3], 1 + bad - caught + prior[2] - prior[3], draws)
    share = rng.beta(1 + good, 1 + bad, draws)
    rate = share * q1 + (1 - share) * (1 - q0)
    k, n = int(counts.test_pass), int(counts.test_n)
    log = k * np.log(rate) + (n - k) * np.log1p(-rate)
    weight = np.exp(log - log.max())
    known = card.totals
    a1, a0 = (known[1] + 1) / (known[0] + 2), (known[3] + 1) / (known[2] + 2)
    off = (rate - 1 + a0) / (a1 + a0 - 1) - share
    return off, weight / weight.sum()


@pytest.mark.slow
@pytest.mark.parametrize("carries", [1e-9, 1 - 1e-9])
def test_the_shift_is_what_draws_of_the_rates_make_of_it(carries):
    prior = KNOWN.external_labels() if carries > 0.5 else (0, 0, 0, 0)
    off, weight = drawn_shift(KNOWN, PROBED, prior)
    made = KNOWN.estimate(PROBED, carries=carries)
    mean = weight @ off
    sd = np.sqrt(weight @ (off - mean) ** 2)
    assert abs(made["shift"].value - mean) < 0.12 * sd
    assert made["shift"].low == pytest.approx(mean - 1.96 * sd, abs=0.15 * sd)
    within = weight @ (np.abs(off) <= 0.03)  # the points are worth 1,000 draws or more
    assert made["within_margin"].value == pytest.approx(within, abs=0.05)
    wide = KNOWN.estimate(PROBED, carries=carries, margin=0.2)
    assert wide["within_margin"].value > 0.999


@pytest.mark.slow
def test_a_calibration_holds_or_does_not_or_takes_more_probes():
    few = KNOWN.estimate(SAME)
    assert 0.05 < few["within_margin"].value < 0.95
    assert few["more_probes"].value > 200
    assert KNOWN.estimate(CHANGED)["within_margin"].value < 0.05
    assert "transport" in {c.id for c in KNOWN.estimate(CHANGED).cautions}
    unlabelled = KNOWN.estimate(Counts(900, 600, 0, 0, 0, 0, calibration="separate"))
    assert np.isnan(unlabelled["shift"]).all()
    with refused(margin=0):
        KNOWN.estimate(SAME, margin=0)


@pytest.mark.slow
def test_a_card_of_chance_tells_no_share_that_could_be_off():
    chance = Card("gpt-4", {"a": (200, 100, 200, 100)}, "random")
    found = chance.estimate(SAME)
    assert np.isnan([*found["shift"], found["within_margin"].value]).all()
    assert found["more_probes"].value > 0


@pytest.mark.slow
def test_what_is_out_of_range_is_refused():
    for carries in (0.0, 1.0, 1.5):
        with refused(carries=carries):
            KNOWN.estimate(SAME, carries=carries)
    assert KNOWN.estimate(SAME, carries=1 - 1e-12)["prevalence"] == pytest.approx(
        bj.prevalence.exact(KNOWN.applied(SAME))["prevalence"], abs=1e-6
    )


def test_labels_by_verdict_are_no_shares_of_good_and_of_bad_items():
    """Passes labelled as often as fails: of good items more failed than the judge fails."""
    card = Card("gpt-4", {"a": (400, 360, 400, 320)}, "random")
    own = Counts(1000, 540, 120, 60, 80, 70, calibration="by_verdict")
    random = dataclasses.replace(own, calibration="random")
    assert {c.id for c in card.check(random, overdispersion=0)} == {"transport"}
    assert not card.check(own, overdispersion=0)


def test_numbers_and_dates_are_not_cut_off():
    with refused(100.7, 90, subject="judge.Card"):
        Card("gpt-4", {"a": (100.7, 90, 50, 40)}, "random")
    with refused(id="not-whole"):
        Card("gpt-4", {"a": (100, 90, 50, 40)}, "random", pass_rate=(float("inf"), 10))
    with refused("20260101", 30, subject="judge.Card"):
        made(valid_until="20260101")
    with refused("soon", 30, subject="judge.Card.check"):
        made(valid_until="2027-06-30").check(date="soon")


@pytest.mark.slow
def test_weighed_draws_have_the_mean_of_the_mixture():
    """Of a run in which one of the two rates does not carry over."""
    own = bj.prevalence.Counts(400, 260, 40, 25, 30, 27, calibration="random")
    averaged = Averaged(own, (200, 190, 200, 180), 0.5)
    rows, weight = averaged.weighed(own, (200, 190, 200, 180))
    share = rows[:, 0]
    sd = np.sqrt(weight @ (share - weight @ share) ** 2)
    assert abs(weight @ share - averaged.mean) < 4 * sd * np.sqrt((weight**2).sum())


def test_probes_are_those_of_two_one_sided_tests_by_verdict():
    """Of passes .1 and of fails .15 are wrong; 90 % intervals in the margin in 80 % of runs."""
    own = bj.prevalence.Counts(400, 240, 30, 27, 20, 17, calibration="random")
    sd = np.sqrt(0.6 * 0.9 * 0.1 + 0.4 * 0.85 * 0.15)
    wanted = (sd * (1.644854 + 1.281552) / 0.03) ** 2
    assert probes_for(np.array([0.6, 0.9, 0.85]), own, 0.03) == np.ceil(wanted - 50)
    assert probes_for(np.array([0.6, 0.9, 0.85]), own, 0.5) == 0
