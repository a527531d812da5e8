"""Drift of a judge: planted ones are found at the stated power, none is invented."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from conftest import study_but
from refusals import refused
from scipy import stats

import bayesjudge as bj
from bayesjudge.cli import main
from bayesjudge.decide import drift, plot_drift, to_html


def logs(rng, n=400, flip=0.1, shift=0.0, systems=1, truth=False):
    """Two judges that both flip a share of what they agree on; the new one passes fewer."""
    good = rng.random((n, systems)) < 0.8
    base = rng.random(good.shape) < np.where(good, 0.9, 0.25)
    old, new = (np.where(rng.random(good.shape) < flip / 2, ~base, base) for _ in range(2))
    new &= rng.random(good.shape) >= shift / max(new.mean(), 1e-9)
    item, system = (a.ravel() for a in np.indices(good.shape))
    about = {"item": item, "system": system.astype(str)}
    if truth:
        about["truth"] = np.where(rng.random(good.size) < 0.5, good.ravel(), np.nan)
    return [pd.DataFrame({**about, "verdict": v.ravel().astype(int)}) for v in (old, new)]


@pytest.mark.slow
@pytest.mark.parametrize("runs", study_but([60, 150], 60))
def test_none_is_invented(runs):
    rng = np.random.default_rng(1)
    seen = sum(bool(drift(*logs(rng, truth=True), truth="truth").seen) for _ in range(runs))
    assert seen / runs <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / runs)


@pytest.mark.slow
@pytest.mark.parametrize("shift", [0.03, 0.06])
@pytest.mark.parametrize("runs", study_but([40, 80], 40))
def test_planted_drifts_are_found_at_the_stated_power(shift, runs):
    rng, found, stated = np.random.default_rng(2), 0, []
    for _ in range(runs):
        made = drift(*logs(rng, shift=shift))
        found += bool(made.seen)
        stated.append(made.power(shift))
    error = np.sqrt(0.25 / runs)
    assert abs(found / runs - np.mean(stated)) < 4 * error
    assert drift(*logs(rng, n=2000, shift=0.1)).seen


@pytest.mark.slow
def test_pairing_and_clusters_count():
    """Copies of an output in one item are not more data."""
    rng = np.random.default_rng(3)
    one = logs(rng)
    copies = [pd.concat([log.assign(system=str(i)) for i in range(5)]) for log in one]
    alone, many = drift(*one), drift(*copies, by="system")
    assert many.error == pytest.approx(alone.error, rel=0.02)
    assert many.estimate["pass_rate_change"].value == alone.estimate["pass_rate_change"].value


def test_flips_are_counted_by_hand():
    old = pd.DataFrame({"item": list("abcd"), "verdict": [1, 1, 0, 0]})
    new = pd.DataFrame({"item": list("badc"), "verdict": [1, 0, 1, 0]})
    made = drift(old, new)  # a: 1 to 0, d: 0 to 1
    assert made.flips.to_numpy().tolist() == [[1, 1], [1, 1]]
    assert made.flipped == 2
    assert made.estimate["pass_rate_change"].value == 0
    assert made.detectable(0.9) > made.detectable(0.5) > 0
    for power in (0, 1):
        with refused("power=", power=power):
            made.detectable(power)


@pytest.mark.slow
def test_a_table_without_a_flip_does_not_claim_certainty():
    """Two imaginary items, one of each sign, are all that varies."""
    old = pd.DataFrame({"item": range(50), "verdict": [1] * 30 + [0] * 20})
    made = drift(old, old)
    error = np.sqrt(2 * 52 / 51) / 52
    assert made.error == pytest.approx(error)
    half = stats.t.ppf(0.975, 51) * error
    assert made.estimate["pass_rate_change"] == pytest.approx((0, -half, half))
    assert made.power(0.1) == pytest.approx(stats.norm.sf(1.959964 - 0.1 / error), rel=1e-3)
    labelled = drift(old.assign(truth=[1, 0] * 25), old, truth="truth")
    assert labelled.error == made.error  # three tests share what may go wrong
    corrected = stats.norm.ppf(1 - 0.025 / 3)
    assert labelled.power(0.1) == pytest.approx(stats.norm.sf(corrected - 0.1 / error), rel=1e-3)


@pytest.mark.slow
def test_a_change_that_one_test_would_see_is_none_among_three():
    old = pd.DataFrame({"item": range(100), "verdict": [1] * 60 + [0] * 40})
    new = old.assign(verdict=[0] * 8 + [1] * 52 + [1] * 1 + [0] * 39)
    assert drift(old, new).seen == ("pass_rate_change",)
    several = drift(old.assign(truth=[1, 1, 0, 0] * 25), new, truth="truth")
    assert several.estimate["pass_rate_change"].high < 0
    assert several.seen == ()


def test_what_could_not_be_read_is_a_fail_and_flips_have_a_direction():
    old = pd.DataFrame({"item": list("abcdef"), "verdict": [1, 1, 1, 0, 0, None]})
    new = old.assign(verdict=[None, 0, 1, 1, 0, 0])
    made = drift(old, new)
    assert made.flips.to_numpy().tolist() == [[2, 1], [2, 1]]
    assert "3 of 6 verdicts " in str(made)
    assert "(1 to pass, 2 " in str(made)


def test_published_numbers_move_by_what_fieller_allows():
    """Ends are where the change less J times the shift is t standard errors from 0."""
    rng = np.random.default_rng(6)
    old, new = logs(rng, n=150, shift=0.1, truth=True)
    made = drift(old, new, truth="truth")
    _, low, high = made.estimate["pass_rate_change"]
    t = stats.t.ppf(0.975, len(old) + 1)
    good, bad = (old.loc[old["truth"] == v, "verdict"] for v in (1, 0))
    variance = good.var() / len(good) + bad.var() / len(bad)
    for end in made.estimate["prevalence_shift"][1:]:
        off = (low + high) / 2 - end * (good.mean() - bad.mean())
        assert abs(off) == pytest.approx(t * np.sqrt(made.error**2 + end**2 * variance))


def test_nothing_is_published_with_a_judge_no_better_than_chance():
    rng = np.random.default_rng(7)
    old = pd.DataFrame({"item": range(40), "verdict": [1, 0] * 20, "truth": [1, 1, 0, 0] * 10})
    made = drift(old, old.assign(verdict=rng.integers(0, 2, 40)), truth="truth")
    assert "prevalence_shift" not in made.estimate


@pytest.mark.slow
def test_errors_and_published_numbers_move():
    rng = np.random.default_rng(4)
    old, new = logs(rng, n=3000, shift=0.1, systems=2, truth=True)
    made = drift(old, new, truth="truth", by="system")
    values = made.estimate
    assert set(made.seen) == {"pass_rate_change", "sensitivity_change", "specificity_change"}
    assert values["sensitivity_change"].value < 0 < values["specificity_change"].value
    known = old["truth"].notna()
    good, bad = (old.loc[known & (old["truth"] == v), "verdict"].mean() for v in (1, 0))
    change = values["system_pass_rate_change", "0"].value
    row = values["prevalence_shift", "0"]
    assert row.value == pytest.approx(change / (good - bad))
    assert row.low < row.value < row.high
    assert {c.id for c in values.cautions} == {"judge-drift"}


@pytest.mark.slow
def test_what_cannot_be_compared_is_refused():
    old = pd.DataFrame({"item": list("abc"), "verdict": [1, 1, 0], "truth": [1, 0, 0]})
    with pytest.raises(bj.InputError, match="share 0 items"):
        drift(old, old.assign(item=list("xyz")))
    with refused(1, id="labels-differ"):
        drift(old, old.assign(truth=[0, 0, 0]), truth="truth")
    with refused("truth", subject="drift"):
        drift(old.drop(columns="truth"), old.drop(columns="truth"), truth="truth")
    partly = drift(old, old.assign(item=list("abx")))
    assert [c.id for c in partly.estimate.cautions] == ["unpaired-outputs"]


@pytest.mark.slow
def test_the_command(tmp_path, capsys):
    old, new = logs(np.random.default_rng(5), n=1500, shift=0.1, truth=True)
    paths = []
    for name, log in (("old", old), ("new", new.drop(columns="truth"))):
        paths.append(str(tmp_path / f"{name}.csv"))
        log.to_csv(paths[-1], index=False)
    assert main(["drift", *paths, "--truth", "truth"]) == 0
    out = capsys.readouterr().out
    change = (new["verdict"].mean() - old["verdict"].mean()) * 100
    way = "more" if change > 0 else "fewer"
    told = f"the new judge passes {way} outputs, by {abs(change):.0f} points ("
    assert re.match(rf"Drift in the pass rate[a-z, ]*: {re.escape(told)}", out)
    assert "A change of 3 points would be seen with probability" in out
    assert main(["drift", *paths, "--fail", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["seen"] == ["pass_rate_change"]
    assert 0 < document["power"]["power"] <= 1
    assert main(["drift", paths[0], paths[0], "--fail"]) == 0


@pytest.mark.slow
def test_a_page_and_a_picture_hold_every_change():
    old, new = logs(np.random.default_rng(4), n=3000, shift=0.1, systems=2, truth=True)
    new["system"] = old["system"] = old["system"].map({"0": "a", "1": "<b|"})
    found = drift(old, new, truth="truth", by="system")
    rows = list(found.estimate.rows())
    ax = plot_drift(found)
    named = [tick.get_text() for tick in ax.get_yticklabels()]
    assert named[:3] == ["pass rate: drift", "sensitivity: drift", "specificity: drift"]
    assert named[3:] == [
        f"{kind}, {system}" for kind in ("pass rate", "prevalence shift") for system in ("<b|", "a")
    ]
    drawn = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    assert drawn == [row.value for _, _, row in rows]
    assert ax.get_title(loc="left").startswith("Drift in the pass rate, sensitivity")
    page = to_html(found, figures={"Changes": ax.get_figure()}, inputs={"old": "<log>"})
    assert "<h1>Drift in the pass rate, sensitivity and specificity: the new judge" in page
    table = page[page.index("<tbody>") : page.index("</tbody>")]
    assert re.findall(r">([+-][.\d]+)<", table) == [f"{x:+.3f}" for *_, row in rows for x in row]
    for text in ("&lt;b|", "&lt;log&gt;", "judge-drift", "<svg", f"{found.flipped:,} of 6,000"):
        assert text in page, text
    assert not re.search(r"None|src=|href=\"[^#]", page)


def test_a_page_without_a_drift_says_so():
    old, _ = logs(np.random.default_rng(4))
    found = drift(old, old)
    assert "<h1>No drift seen: the pass rate moved by 0" in to_html(found)
    assert plot_drift(found).get_yticklabels()[0].get_text() == "pass rate: no drift seen"


@pytest.mark.slow
def test_the_command_writes_a_page(tmp_path, capsys):
    paths = []
    for name, log in zip(("old", "new"), logs(np.random.default_rng(5), shift=0.1), strict=True):
        paths.append(str(tmp_path / f"{name}.csv"))
        log.to_csv(paths[-1], index=False)
    page = tmp_path / "p.html"
    assert main(["drift", *paths, "--html", str(page)]) == 0
    assert capsys.readouterr().err.split()[-1] == str(page)
    assert "<h1>Drift in the pass rate" in page.read_text()
    assert f"--html {page}" in page.read_text()
    assert main(["drift", *paths, "--html", "no/where/p.html"]) == 2
    assert "--html: there is no folder" in capsys.readouterr().err
