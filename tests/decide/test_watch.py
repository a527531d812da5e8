"""A watch: exact scores, no false alarms at any look, planted drifts, and a state file."""

import itertools
import json
from importlib.resources import files as resources

import jsonschema
import numpy as np
import pandas as pd
import pytest
from refusals import refused
from scipy import stats

import bayesjudge as bj
from bayesjudge.cli import main
from bayesjudge.decide import Watch, to_html
from bayesjudge.decide.watch import SHIFT, log_evidence, normal_score


def table(verdicts, **columns):
    return pd.DataFrame(
        {"item": range(len(verdicts)), "verdict": np.asarray(verdicts, int)} | columns
    )


def seen(watch):
    return tuple(shift.quantity for shift in watch.shifts if shift.alarm)


class Judge:
    def __init__(self, seed, n=200, flip=0.1):
        self.rng = np.random.default_rng(seed)
        self.good = self.rng.random(n) < 0.8
        self.base = self.rng.random(n) < np.where(self.good, 0.9, 0.25)
        self.flip = flip

    def look(self, shift=0.0):
        flipped = np.where(self.rng.random(self.base.size) < self.flip / 2, ~self.base, self.base)
        first = np.arange(self.base.size) >= shift * self.base.size
        return table(flipped & first, truth=self.good.astype(int))


# Formulas ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [1, 2, 3])
def test_a_score_is_that_of_all_ways_to_pass(value):
    """By enumeration, with an output that surely passes and one that surely fails."""
    chances = np.array([0.2, 0.5, 0.7, 1.0, 0.0])
    below = at = 0.0
    for passed in itertools.product((0, 1), repeat=5):
        chance = np.prod(np.where(passed, chances, 1 - chances))
        below += chance * (sum(passed) < value)
        at += chance * (sum(passed) == value)
    expected = stats.norm.ppf(below + 0.3 * at)
    assert normal_score(value, chances, 0.3) == pytest.approx(expected)


def test_far_tails_keep_their_digits():
    chances = np.full(40, 0.05)
    assert normal_score(40, chances, 0.5) == pytest.approx(stats.norm.isf(0.5 * 0.05**40), rel=1e-9)
    assert normal_score(0, 1 - chances, 0.5) == pytest.approx(-normal_score(40, chances, 0.5))


@pytest.mark.parametrize(("one_sided", "planned"), [(False, None), (True, None), (False, 3)])
def test_evidence_is_a_likelihood_ratio_integrated_over_the_shift(one_sided, planned):
    scores = np.array([0.3, -0.5, 2.5, 3.0])
    evidence, since = log_evidence(scores, one_sided=one_sided, planned=planned)
    delta = np.linspace(0 if one_sided else -60, 60, 200_001)
    prior = stats.norm.pdf(delta, scale=SHIFT) * (2 if one_sided else 1)
    weights = [
        1 / (k * (k + 1)) if planned is None else (k <= planned) / planned for k in range(1, 5)
    ]
    for t in range(1, 5):
        waiting, each = 1 - sum(weights[:t]), []
        for k in range(1, t + 1):
            means = [delta * k / (s + 1) for s in range(k, t + 1)]
            logs = sum(m * z - m**2 / 2 for m, z in zip(means, scores[k - 1 : t], strict=True))
            each.append(weights[k - 1] * np.trapezoid(prior * np.exp(logs), delta))
        assert evidence[t - 1] == pytest.approx(np.log(waiting + sum(each)), rel=1e-6)
        assert since[t - 1] == np.argmax(each) + 1
    both = log_evidence(np.stack([scores, scores[::-1]]), one_sided=one_sided, planned=planned)[0]
    assert both[0] == pytest.approx(evidence)


@pytest.mark.slow
def test_wealth_is_a_martingale():
    """Its mean is 1 at each look if nothing changed."""
    scores = np.random.default_rng(3).standard_normal((100_000, 4))
    for one_sided in (False, True):
        wealth = np.exp(np.minimum(log_evidence(scores, one_sided=one_sided)[0], 4))
        error = wealth.std(0) / np.sqrt(len(scores))
        assert np.all(wealth.mean(0) < 1 + 4 * error)
        assert np.all(wealth.mean(0) > 0.9)  # what is cut off at e^4


@pytest.mark.slow
def test_scores_of_a_judge_that_stays_are_independent_standard_normals():
    scores = []
    for seed in range(40):
        judge = Judge(seed, n=60, flip=0.3)
        watch = Watch(judge.look(), truth="truth")
        for _ in range(8):
            watch.look(judge.look())
        scores.append([[look["scores"][s] for s in watch.streams] for look in watch._looks[1:]])
    scores = np.array(scores)  # series, looks, streams
    for stream in range(scores.shape[2]):
        each = scores[:, :, stream]
        flat = each[:, 1:] if stream == 1 else each  # at the first look no verdict is the odd one
        assert stats.kstest(flat.ravel(), "norm").pvalue > 1e-4
        lagged = np.corrcoef(each[:, :-1].ravel(), each[:, 1:].ravel())[0, 1]
        assert abs(lagged) < 4 / np.sqrt(each[:, 1:].size)


# Looks -------------------------------------------------------------------------------------------


def test_the_first_look_is_mcnemars_test():
    """Of outputs that flipped, each did so in either direction with probability one half."""
    old = table([1] * 60 + [0] * 40)
    new = table([0] * 12 + [1] * 48 + [0] * 36 + [1] * 4)
    watch = Watch(old)
    watch.look(new, "a")
    tie = np.random.default_rng([int(watch._digest[:15], 16), 1]).random(4)[0]
    law = stats.binom(16, 0.5)
    expected = stats.norm.ppf(law.cdf(3) + tie * law.pmf(4))
    assert watch._looks[1]["scores"]["pass_rate"] == pytest.approx(expected)


def test_a_specificity_is_of_fails():
    old = table([1] * 60 + [0] * 40, truth=[1] * 50 + [0] * 50)
    watch = Watch(old, truth="truth")
    assert watch._looks[0]["shares"]["specificity"] == 0.8
    watch.look(table([1] * 80 + [0] * 20), "a")
    assert watch._looks[1]["shares"]["specificity"] == 0.4
    assert watch._looks[1]["scores"]["specificity"] < -3


def test_alarms_of_all_streams_share_the_level():
    labelled = table([1, 0] * 20, truth=[1, 1, 0, 0] * 10)
    assert Watch(labelled).alarm_at == 40
    assert Watch(labelled, truth="truth", ci_prob=0.9).alarm_at == 40
    assert Watch(labelled, truth="truth").alarm_at == 80


def test_the_alarm_is_at_the_first_look_whose_evidence_is_enough():
    anchors = table([1] * 80 + [0] * 20)
    watch = Watch(anchors)
    for week in range(12):
        watch.look(anchors, f"week {week}")
    assert watch.alarm is None
    for week in range(12, 24):
        watch.look(table([1] * 77 + [0] * 23), f"week {week}")
    evidence = watch.path.set_index("look").filter(like="_evidence")
    enough = (evidence.max(axis=1) >= watch.alarm_at).idxmax()
    assert watch.alarm == enough > "week 12"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pass rate", "both ways"])
def test_a_planted_drift_is_seen_and_dated(kind):
    judge = Judge(1)
    watch = Watch(judge.look(), truth="truth")
    for week in range(20):
        if week == 14 and kind == "both ways":
            swapped = np.zeros(200, bool)
            for verdict in (0, 1):
                swapped[np.flatnonzero(judge.base == verdict)[-15:]] = True
            judge.base ^= swapped
        watch.look(judge.look(0.15 * (week >= 14 and kind == "pass rate")), f"w{week}")
    assert watch.outcome == "drift"
    assert watch.alarm in {"w14", "w15", "w16"}
    first = watch.shifts[0]
    assert first.alarm
    assert {"pass rate": "pass_rate", "both ways": "flips"}[kind] in seen(watch)
    assert first.look in {"w13", "w14", "w15"}
    assert ("pass_rate" in seen(watch)) == (kind == "pass rate")


@pytest.mark.slow
def test_a_drift_of_errors_that_cancel_in_the_pass_rate_is_seen_by_labels():
    """As many good ones are failed as bad ones are passed."""
    judge = Judge(2, n=400)
    watch = Watch(judge.look(), truth="truth")
    for week in range(12):
        new = judge.look()
        if week >= 8:
            good = np.flatnonzero(new["verdict"] & new["truth"])[:20]
            bad = np.flatnonzero((new["verdict"] == 0) & (new["truth"] == 0))[:20]
            new.loc[good, "verdict"], new.loc[bad, "verdict"] = 0, 1
        watch.look(new, str(week))
    assert {"sensitivity", "specificity"} <= set(seen(watch))
    assert "pass_rate" not in seen(watch)


@pytest.mark.slow
def test_a_judge_without_randomness_has_evidence_of_few_flips():
    old = table([1] * 80 + [0] * 20)
    watch = Watch(old)
    for week in range(9):
        watch.look(old, str(week))
    assert watch.outcome == "no drift"
    watch.look(table([1] * 74 + [0] * 26), "9")
    assert seen(watch) == ("pass_rate", "flips")
    assert watch.alarm == "9"
    watch.look(old, "10")
    assert watch.alarm == "9"  # an alarm stands


@pytest.mark.slow
def test_a_look_counts_once():
    judge = Judge(4)
    watch, new = Watch(judge.look()), judge.look()
    assert watch.look(new)
    assert not watch.look(new)
    assert not watch.look(new.sample(frac=1, random_state=1))
    assert len(watch.names) == 1
    assert watch.look(new, "a second run that says the same")
    assert not watch.look(new, "a second run that says the same")
    with refused(id="look-differs"):
        watch.look(judge.look(), "a second run that says the same")
    assert len(watch.names) == 2


@pytest.mark.slow
def test_outputs_that_are_missing_do_not_count_and_strange_ones_are_left_out():
    judge = Judge(5)
    watch = Watch(judge.look())
    part = judge.look().iloc[:150]
    watch.look(part, "part")
    more = pd.concat([judge.look(), table([1]).assign(item=["strange"])])
    watch.look(more, "more")
    assert watch._outputs["looks"].value_counts().to_dict() == {3: 150, 2: 50}


@pytest.mark.slow
def test_systems_share_items():
    judge = Judge(6)
    both = pd.concat([judge.look().assign(system=s) for s in "ab"])
    watch = Watch(both, by="system", truth="truth")
    watch.look(both, "same")
    assert len(watch._outputs) == 400
    assert watch._looks[1]["shares"]["flips"] == 0


def test_what_cannot_be_watched_is_refused():
    old = table([1, 0, 1], truth=[1, 0, 1])
    with refused(id="too-few"):
        Watch(old.iloc[:1])
    with refused(looks=0):
        Watch(old, looks=0)
    with refused("human", subject="decide.Watch"):
        Watch(old, truth="human")
    with refused(id="labels-differ"):
        Watch(pd.concat([old, old.assign(truth=[0, 0, 1])]), truth="truth")
    with pytest.raises(bj.InputError, match="shares 0 outputs"):
        Watch(old).look(old.assign(item=list("xyz")))


# A file ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_watch_goes_on_from_its_file(tmp_path):
    judge = Judge(7)
    baseline, weeks = judge.look(), [judge.look() for _ in range(4)]
    whole, path = Watch(baseline, truth="truth"), tmp_path / "s.json"
    for week in weeks:
        whole.look(week)
        part = Watch(baseline, truth="truth")
        if path.exists():
            part.resume(path)
        part.look(week)
        part.save(path)
    pd.testing.assert_frame_equal(Watch(baseline, truth="truth").resume(path).path, whole.path)
    assert [p.name for p in tmp_path.iterdir()] == ["s.json"]
    for other, words in (
        (Watch(weeks[0], truth="truth"), "baseline_sha256"),
        (Watch(baseline, truth="truth", ci_prob=0.9), "ci_prob"),
        (Watch(baseline, truth="truth", looks=5), "planned"),
        (Watch(baseline), "streams"),
    ):
        with pytest.raises(bj.InputError, match=words):
            other.resume(path)
    path.write_text('{"schema": "bayesjudge/monitor-1"}')
    with refused(id="other-state", kind="watch"):
        Watch(baseline).resume(path)


@pytest.mark.slow
def test_a_file_goes_on_whatever_the_order_of_the_baseline_s_rows(tmp_path):
    judge = Judge(7)
    baseline, path = judge.look(), tmp_path / "s.json"
    whole = Watch(baseline, truth="truth")
    for week in range(5):
        whole.look(judge.look(), f"W{week}")
    whole.save(path)
    part = Watch(baseline.sample(frac=1, random_state=1), truth="truth").resume(path)
    last = judge.look()
    for watch in (whole, part):
        watch.look(last, "last")
    pd.testing.assert_frame_equal(part.path, whole.path)


def test_looks_planned_at_the_first_call_hold_for_all(tmp_path):
    judge = Judge(7)
    baseline, path = judge.look(), tmp_path / "s.json"
    whole = Watch(baseline, looks=5)
    whole.look(judge.look(), "W1")
    whole.save(path)
    part = Watch(baseline)
    part.look(judge.look(), "another")
    assert len(part.path) == 1
    pd.testing.assert_frame_equal(part.resume(path).path, whole.path)
    with pytest.raises(bj.InputError, match="planned"):
        Watch(baseline, looks=6).resume(path)


@pytest.mark.fast_one_in(3)
@pytest.mark.parametrize(
    "change",
    [
        {"schema": "bayesjudge/watch-2", "streams": None},
        {"schema": None},
        {"looks": None},
        {"looks": "W1"},
        {"looks": [{"name": "W1"}]},
        {"counts": None},
        {"counts": [["x", 1]] * 200},
        {"counts": [[1], [1, 2]]},
        {"counts": [[1, 1]]},
    ],
)
def test_a_file_that_is_no_watch_s_is_refused(tmp_path, change):
    judge = Judge(7)
    path = Watch(judge.look()).save(tmp_path / "s.json")
    state = json.loads(path.read_text()) | change
    lost = {name for name, value in change.items() if value is None}
    path.write_text(json.dumps({name: state[name] for name in state if name not in lost}))
    words = "expected schema" if state["schema"] == "bayesjudge/watch-2" else "s.json"
    with pytest.raises(bj.InputError, match=words):
        Watch(Judge(7).look()).resume(path)


@pytest.mark.slow
def test_the_command_has_exit_codes_and_a_state(tmp_path, capsys):
    judge = Judge(8)
    state, files = tmp_path / "state.json", []
    for week in range(10):
        files.append(str(tmp_path / f"w{week}.csv"))
        judge.look(0.2 * (week > 7)).to_csv(files[-1], index=False)
    line = ["drift", files[0], "--truth", "truth", "--watch", str(state)]

    def run(new, *more):
        code = main([line[0], line[1], new, *line[2:], *more])
        return code, capsys.readouterr()

    assert [run(new)[0] for new in files[1:8]] == [0] * 7
    before = state.read_text()
    code, said = run(files[7])
    assert code == 0
    assert "counted before" in said.err
    assert state.read_text() == before
    code, said = run(files[8], "--look", "W8")
    assert code == 1
    assert said.out.startswith("Drift of the judge, seen at look W8: pass rate 0.")
    assert "corrected share moves by about -0." in said.out
    assert run(files[7])[0] == 1  # an alarm stands
    page = tmp_path / "page.html"
    code, said = run(files[9], "--json", "--html", str(page))
    document = json.loads(said.out)
    assert code == 1
    schema = resources("bayesjudge.render").joinpath("schema.json").read_text()
    jsonschema.validate(document, json.loads(schema))
    assert document["seen"][0] == document["watch"]["shifts"][0]["quantity"] == "pass_rate"
    assert document["watch"]["alarm"] == "W8"
    assert len(document["watch"]["looks"]) == 9
    assert "Drift of the judge, seen at look W8" in page.read_text()
    assert run(files[9], "--ci-prob", "0.9")[0] == 2
    assert main(["drift", *files[:2], "--look", "a"]) == 2
    assert "--look and --looks need --watch" in capsys.readouterr().err


def test_flips_before_the_first_look_are_not_known():
    judge = Judge(9)
    watch = Watch(judge.look())
    watch.look(judge.look(), "W1")
    flips = str(watch).splitlines()[-1]
    assert flips.startswith(f"flips {watch._looks[1]['shares']['flips']:.3f} since W1; evidence")


def test_a_page_holds_every_stream():
    judge = Judge(9)
    watch = Watch(judge.look(), truth="truth")
    watch.look(judge.look(), "<b>")
    page = to_html(watch)
    assert "<h1>No drift seen in 1 look" in page
    assert "&lt;b&gt;" in page
    for words in ("pass rate", "flips", "sensitivity", "specificity"):
        assert words in page
