"""How likely a gate is to pass, and with how many labels: against decisions, brute force, words."""

import contextlib
import json
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused
from scipy.stats import beta, binom, norm

import bayesjudge as bj
from bayesjudge.cli import main, plan_pass
from bayesjudge.cli.plan_pass import judge_of
from bayesjudge.core.progress import Progress
from bayesjudge.decide import chance_to_pass, gate, labels_to_pass, power
from bayesjudge.decide.power import PRECISION, STRATEGIES, _data, _score, _two_points
from bayesjudge.prevalence import Counts
from bayesjudge.prevalence.budget.expected_width import _drawn
from bayesjudge.prevalence.data import FIELDS

JUDGE = {"sensitivity": 0.85, "specificity": 0.8}
ASSUMED = {"prevalence": 0.9, **JUDGE, "items": 500}


@pytest.mark.slow
def test_without_a_judge_the_chance_is_that_of_the_gates_passes():
    """A judge who passes all, on one item: labels are all there is."""
    labelled = 14
    passes = [
        gate(Counts(1, 1, k, k, labelled - k, 0, calibration="random"), at_least=0.7).outcome
        for k in range(labelled + 1)
    ]
    assert {*passes} >= {"pass", "unknown", "fail"}
    share = binom.pmf(np.arange(labelled + 1), labelled, 0.9)
    expected = share[np.array(passes) == "pass"].sum()
    found = chance_to_pass(0.7, labelled, prevalence=0.9, strategy="people only")
    assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("at_least", "good", "power"), [(0.8, 0.9, 0.8), (0.5, 0.6, 0.9)])
def test_fewest_labels_without_a_judge_by_brute_force(at_least, good, power):
    def chance(m):
        k = np.arange(m + 1)
        passes = beta.cdf(at_least, k + 0.05, m - k + 1) <= 0.05
        return binom.pmf(k[passes], m, good).sum()

    found = labels_to_pass(at_least, prevalence=good, power=power)
    first = next(m for m in range(1, 1000) if chance(m) >= power)
    assert found == {"people only": first}
    asked = {"prevalence": good, "strategy": "people only"}
    for m in (1, 2, first - 1, first):
        assert_allclose(chance_to_pass(at_least, m, **asked), chance(m), atol=1e-12)
    # of very many the sizes between those looked at are as good
    many = labels_to_pass(0.5, prevalence=0.505, items=10**6)["people only"]
    near = [chance_to_pass(0.5, m, prevalence=0.505, strategy="people only") for m in (many, 61000)]
    assert near[1] < 0.8 <= near[0] < 0.803


@pytest.mark.parametrize(("share", "n"), [(0.85, 40), (0.03, 90), (0.5, 10), (0.7, 1)])
def test_two_points_have_the_moments_of_a_binomial_share(share, n):
    ends, weights = _two_points(share, n)
    mean, variance, skewness = (float(x) for x in binom.stats(n, share, moments="mvs"))
    assert_allclose(weights.sum(), 1)
    assert_allclose(weights @ ends, mean / n)
    off = np.array(ends) - share
    assert_allclose(weights @ off**2, variance / n**2)
    assert_allclose(weights @ off**3, skewness * (variance / n**2) ** 1.5, atol=1e-15)
    assert 0 <= ends[0] < ends[1] <= 1
    for certain, none in ((1.0, 10), (0.0, 10), (0.4, 0)):
        assert _two_points(certain, none)[0] == [certain]


@pytest.mark.slow
def test_the_score_is_what_the_gate_decides_by():
    """A pass is a score above the quantile of .95, on every table."""
    rates = {name: ASSUMED[name] for name in ("prevalence", "sensitivity", "specificity")}
    for design in ("random", "by_verdict", "by_truth"):
        drawn = _drawn(rates, 300, (40, 40), design, 8, np.random.default_rng(3))
        for name in drawn.systems:
            counts = drawn.system(name)
            cells = tuple(getattr(counts, field) for field in FIELDS)
            outcome = gate(counts, at_least=0.8, probability=0.9).outcome
            assert (outcome == "pass") == (_score(cells, design, 0.8) >= 1.2815515655446004)


@pytest.mark.slow
def test_a_judge_who_tells_nothing_leaves_the_chance_of_people_alone():
    nothing = {"prevalence": 0.9, "sensitivity": 0.51, "specificity": 0.5, "items": 1}
    for labelled in (60, 150):
        alone = chance_to_pass(0.8, labelled, prevalence=0.9, strategy="people only")
        found = chance_to_pass(0.8, labelled, **nothing)
        # people alone pass in the teeth of a saw, one good item more or less
        step = binom.pmf(int(0.87 * labelled), labelled, 0.9)
        assert abs(found - alone) < step + 0.01


@pytest.mark.parametrize("strategy", ["random sample", "by verdict", "half good, half bad"])
def test_data_to_come_are_as_many_as_planned(strategy):
    good, hit, caught = rates = 0.9, 0.85, 0.8
    data = _data(strategy, 61, 500, rates)
    unlabelled, passes, *labels = data.counts(*data.shares)
    ones, hits, zeros, refused = labels
    assert_allclose([unlabelled, ones + zeros], [500, 61])
    rate = good * hit + (1 - good) * (1 - caught)
    if strategy == "by verdict":
        passed = hits + zeros - refused
        assert_allclose([passed, passes + passed], [31, 561 * rate])
        assert_allclose([hits / passed, refused / 30], [good * hit / rate, 0.1 * 0.8 / (1 - rate)])
    else:
        assert_allclose([passes, hits, refused], [500 * rate, ones * hit, zeros * caught])
        assert_allclose(ones, 61 * 0.9 if strategy == "random sample" else 31)


@pytest.mark.study
@pytest.mark.parametrize("strategy", ["random sample", "by verdict", "half good, half bad"])
def test_the_chance_is_the_share_of_tables_that_pass(strategy):
    """More settings and tables: benchmarks/decide/power.py."""
    labelled = labels_to_pass(0.8, **ASSUMED, strategies=[strategy])[strategy]
    expected = chance_to_pass(0.8, labelled, **ASSUMED, strategy=strategy)
    design, tables = STRATEGIES[strategy], 400
    rates = {name: ASSUMED[name] for name in ("prevalence", "sensitivity", "specificity")}
    pair = (labelled + 1) // 2, labelled // 2
    drawn = _drawn(rates, ASSUMED["items"], pair, design, tables, np.random.default_rng(7))
    cells = np.column_stack([getattr(drawn, field) for field in FIELDS]).tolist()
    share = np.mean([_score(tuple(row), design, 0.8) >= 1.6448536269514722 for row in cells])
    assert abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / tables)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["random sample", "by verdict", "half good, half bad"])
def test_fewest_labels_with_a_judge(strategy):
    found = labels_to_pass(0.8, **ASSUMED, strategies=[strategy])[strategy]
    fewer = int(found * (1 - 2 * PRECISION)) - 1
    chances = [chance_to_pass(0.8, m, **ASSUMED, strategy=strategy) for m in (fewer, found)]
    assert chances[0] < 0.8 <= chances[1]
    few = labels_to_pass(0.8, **{**ASSUMED, "items": found - 1}, strategies=[strategy])
    assert few[strategy] is None or few[strategy] < found  # fewer items, and none enough


@pytest.mark.slow
def test_more_labels_than_items_are_no_number():
    rates = {"prevalence": 0.82, "sensitivity": 0.85, "specificity": 0.85, "items": 200}
    assert labels_to_pass(0.8, **rates, strategies=["random sample"]) == {"random sample": None}
    for above in (1e-3, 1e-9, 2e-16):  # also where more are needed than can be counted
        assert labels_to_pass(0.5, prevalence=0.5 + above) == {"people only": None}


@pytest.mark.slow
def test_few_numbers_are_tried(monkeypatch):
    """Of labels by truth, whose score grows slower than a root the more there are."""
    tried = []

    def counted(*asked):
        tried.append(asked[-1])
        return score(*asked)

    score = power._score_with
    monkeypatch.setattr(power, "_score_with", counted)
    found = labels_to_pass(0.8, **ASSUMED, strategies=["half good, half bad"])
    assert found["half good, half bad"] > 5 * min(tried)
    assert len(tried) <= 7


@pytest.mark.slow
def test_more_is_asked_of_more():
    base = labels_to_pass(0.8, **ASSUMED, strategies=["random sample"])["random sample"]
    for change in ({"power": 0.9}, {"probability": 0.99}, {"prevalence": 0.88}):
        asked = {**ASSUMED, "strategies": ["random sample"], **change}
        assert labels_to_pass(0.8, **asked)["random sample"] > base
    better = {**ASSUMED, "sensitivity": 0.95, "specificity": 0.95}
    assert labels_to_pass(0.8, **better, strategies=["random sample"])["random sample"] < base


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"at_least": 1.0}, r"at_least must lie in \(0, 1\), got 1.0"),
        ({"prevalence": 0.8}, "prevalence=0.8, at_least=0.8: no number of labels"),
        ({"prevalence": 1.2}, r"prevalence must lie in \[0, 1\]"),
        ({"power": 1.0}, r"power must lie in \(0, 1\)"),
        ({"probability": 0.3}, r"probability must lie in \[0.5, 1\)"),
        ({"items": 0}, "items must be 1 or more"),
        ({"sensitivity": None}, "come together"),
        ({"sensitivity": 0.2}, "no better than chance: leave its rates out"),
        ({"strategies": ["at will"]}, r"strategies \['at will'\]: expected some of"),
    ],
)
def test_bad_inputs_are_named(wrong, words):
    with pytest.raises(bj.InputError, match=words):
        labels_to_pass(**{"at_least": 0.8, **ASSUMED, **wrong})


def test_a_chance_needs_labels_and_a_judge():
    with refused(labelled=0):
        chance_to_pass(0.8, 0, **ASSUMED)
    with refused("by verdict", id="rates-needed"):
        chance_to_pass(0.8, 10, prevalence=0.9, strategy="by verdict")


# A judge known by its agreement -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("prevalence", "agreement"), [(0.85, 0.85), (0.9, 0.8), (0.3, 0.7), (0.5, 0.95), (0.99, 0.99)]
)
def test_errors_split_from_telling_most_to_telling_least(prevalence, agreement):
    splits = judge_of(agreement, None, None).splits(prevalence)
    assert splits[0] == (agreement, agreement)

    def correlation(q1, q0):
        passed = prevalence * q1 + (1 - prevalence) * (1 - q0)
        off = prevalence * q1 - prevalence * passed
        return off / np.sqrt(prevalence * (1 - prevalence) * passed * (1 - passed))

    for q1, q0 in splits:
        assert_allclose(prevalence * q1 + (1 - prevalence) * q0, agreement)
        assert 0 <= q1 <= 1 + 1e-12
        assert 0 <= q0 <= 1 + 1e-12
        assert q1 + q0 > 1
    alike, most, least = (correlation(*rates) for rates in splits)
    assert least <= alike <= most
    for q1 in np.linspace(max(0, (agreement - 1 + prevalence) / prevalence), 1, 50):
        q0 = (agreement - prevalence * q1) / (1 - prevalence)
        if 0 <= q0 <= 1 and q1 + q0 > 1:
            assert correlation(q1, q0) <= most + 1e-9


# The command ------------------------------------------------------------------------------------


def asked(capsys, *words, code=0):
    assert main(["plan", *words]) == code
    done = capsys.readouterr()
    return " ".join((done.err if code else done.out).split())


def test_a_plan_without_a_judge(capsys):
    out = asked(capsys, "--at-least", ".8", "--prevalence", ".9")
    n = labels_to_pass(0.8, prevalence=0.9)["people only"]
    assert out.startswith(f"About {n} labels of a random sample are likely to show")
    assert "bayesjudge label TABLE --gate 0.8" in out
    out = asked(capsys, "--at-least", ".8")
    guessed = [labels_to_pass(0.8, prevalence=p)["people only"] for p in (0.85, 0.9, 0.95)]
    assert f"{guessed[0]} if 85 %, {guessed[1]} if 90 %, {guessed[2]} if 95 %; if 80 %" in out


def test_a_plan_says_what_no_number_of_labels_can_do(capsys):
    out = asked(capsys, "--at-least", ".8", "--prevalence", ".8")
    assert out.startswith("No number of labels shows")
    out = asked(capsys, "--at-least", ".8", "--prevalence", ".9", "--items", "60")
    chance = chance_to_pass(0.8, 60, prevalence=0.9, strategy="people only")
    assert out.startswith("With 60 items no number of labels is likely")
    assert f"even 60 labels show it with a chance of {chance:.0%}"[:-1] in out
    wanted = int(out.partition("About ")[2].split()[0])
    needed = labels_to_pass(0.8, prevalence=0.9)["people only"]
    assert wanted == pytest.approx(needed, rel=0.1)


@pytest.mark.slow
def test_a_plan_from_agreement_has_a_range(capsys):
    words = ["--at-least", ".8", "--prevalence", ".92", "--agreement", ".85", "--items", "400"]
    document = json.loads((asked(capsys, *words, "--json")).replace("\n", " "))
    rows = document["rows"]
    sample = [row["labelled"] for row in rows if row["strategy"] == "random sample"]
    for row in rows[:1] + rows[-1:]:
        about = {name: row[name] for name in ("prevalence", "sensitivity", "specificity")}
        expected = labels_to_pass(0.8, **about, items=400, strategies=[row["strategy"]])
        assert row["labelled"] == expected[row["strategy"]]
    low, high = min(sample), max(sample)
    assert low < sample[0] < high
    split = f"({low} to {high}, by how the judge's errors split between good and bad outputs)"
    text = document["answer"]["text"]
    assert text.startswith(f"About {sample[0]} labels of a random sample")
    assert split in text
    assert document["labels_needed"]["random sample"] == sample[0]
    assert {*document["labels_needed"]} == {*STRATEGIES}
    out = asked(capsys, *words)
    assert out.startswith(text)
    assert f"random sample random {sample[0]}" in out
    assert f"{low} to {high}" in out.partition("range")[2]


def test_a_plan_with_a_judge_has_a_bar(capsys, monkeypatch):
    bars = []

    class Bar(Progress):
        def advance(self, steps=1):
            bars[-1]["done"] += steps

    @contextlib.contextmanager
    def seen(show, description, *, total):
        bars.append({"show": show, "total": total, "done": 0})
        yield Bar()

    def seven(*_, strategies, **__):
        return dict.fromkeys(strategies, 7)

    monkeypatch.setattr(plan_pass, "progress", seen)
    monkeypatch.setattr(bj.decide, "labels_to_pass", seven)
    monkeypatch.setattr(bj.decide, "chance_to_pass", lambda *_, **__: 0.8)
    words = ["--at-least", ".8", "--prevalence", ".95", "--items", "60"]
    asked(capsys, *words)
    assert bars == [{"show": False, "total": 1, "done": 1}]
    asked(capsys, *words, "--agreement", ".95")
    assert bars[1:] == [{"show": None, "total": 8, "done": 8}]


@pytest.mark.fast_one_in(2)
@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--at-least 80", "--at-least must lie in (0, 1), got 80: write 0.8 for 80 %"),
        ("--at-least 0.8 --prevalence 0.7", "--prevalence 0.7 is below --at-least 0.8"),
        ("--at-least 0.8 --width 0.1", "--width is about widths: leave it out with --at-least"),
        ("--at-least 0.8 --labelled 50 --ci-prob 0.9", "--ci-prob is about widths"),
        ("--at-least 0.8 --labelled 50", "--labelled is about widths: leave it out"),
        ("--at-least 0.8 --power 1", "--power must lie in (0, 1), got 1"),
        ("--at-least 0.8 --probability 0", "--probability must lie in [0.5, 1), got 0"),
        ("--at-least 0.8 --agreement 0.4", "--agreement must lie in (0.5, 1], got 0.4"),
        ("--at-least 0.8 --prevalence 2", "--prevalence must lie in [0, 1], got 2"),
        ("--at-least 0.8 --items 0", "--items must be 1 or more, got 0"),
        ("--at-least 0.8 --sensitivity 0.9", "--sensitivity and --specificity come together"),
        ("--agreement 0.9 --sensitivity 0.9 --specificity 0.9", "leave them out"),
        ("--at-least 0.8 --sensitivity 0.4 --specificity 0.4", "no better than chance"),
        ("--width 0.1 --power 0.8", "--power needs --at-least"),
        ("--width 0.1", "--prevalence is needed"),
        ("--width 0.1 --prevalence 0.9", "--agreement, or --sensitivity and --specificity, are"),
    ],
)
def test_a_plan_refuses_what_makes_no_sense(capsys, words, told):
    assert told in asked(capsys, *words.split(), code=2)


class _OfLabels:
    """In the place of a posterior: that of the labels alone under a flat prior, as a normal one."""

    def __init__(self, data, *_, **__):
        good, bad = data.correct_n + 1, data.incorrect_n + 1
        self.mean = good / (good + bad)
        self.sd = (good * bad / (good + bad) ** 2 / (good + bad + 1)) ** 0.5

    def cdf(self, at):
        return norm.cdf(at, self.mean, self.sd)


def test_chance_and_fewest_labels_rest_on_the_score_of_data_to_come(monkeypatch):
    monkeypatch.setattr(power, "posterior", _OfLabels)
    power._score.cache_clear()
    rates = {"prevalence": 0.9, "sensitivity": 0.9, "specificity": 0.8, "items": 400}
    strategy = {"strategies": ["random sample"]}
    m = labels_to_pass(0.8, **rates, **strategy)["random sample"]
    chances = [chance_to_pass(0.8, n, **rates, strategy="random sample") for n in (m // 2, m)]
    assert chances[0] < 0.79 < 0.8 <= chances[1] < 0.82
    # of each number of good outputs among m labels, whether a pass follows
    good = np.arange(m + 1)
    of = (_OfLabels(SimpleNamespace(correct_n=k, incorrect_n=m - k)) for k in good)
    passes = np.array([one.cdf(0.8) <= 0.05 for one in of])
    assert chances[1] == pytest.approx(passes @ binom.pmf(good, m, 0.9), abs=0.06)
    few = {**rates, "items": m // 2}
    assert labels_to_pass(0.8, **few, **strategy) == {"random sample": None}
    power._score.cache_clear()
