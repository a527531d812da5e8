"""Rows without a verdict: with random labels a third verdict, exact whatever loses them."""

import numpy as np
import pandas as pd
import pytest
from refusals import refused

import bayesjudge as bj
from bayesjudge import prevalence as P
from bayesjudge.cli import main


def table_of(seed, n=600, labelled=150, words=("yes", "no")):
    """Rows whose verdicts are lost eight times as often if they are bad, and the share of good."""
    rng = np.random.default_rng(seed)
    good = rng.random(n) < 0.7
    said = np.where(rng.random(n) < 0.85, good, ~good)
    lost = rng.random(n) < np.where(good, 0.05, 0.4)
    truth = np.full(n, None, object)
    rows = rng.choice(n, labelled, replace=False)
    truth[rows] = np.where(good[rows], *words)
    return pd.DataFrame({"verdict": np.where(lost, None, np.where(said, *words)), "truth": truth})


def share(estimate, name="pass"):
    return estimate["prevalence", name] if "class" in estimate.dims else estimate["prevalence"]


@pytest.mark.slow
def test_a_third_verdict_covers_where_dropped_rows_do_not():
    held = {"verdict": 0, "drop": 0}
    for seed in range(40):
        table = table_of(seed)
        third = share(P.post_stratified(bj.read(table, calibration="random")))
        dropped = P.Counts.from_frame(table, calibration="random", unparsed="drop")
        held["verdict"] += third.low <= 0.7 <= third.high
        row = share(P.post_stratified(dropped))
        held["drop"] += row.low <= 0.7 <= row.high
    assert held["verdict"] >= 34  # of 40 at .95: below with probability .002
    assert held["drop"] < 25


def test_the_third_verdict_is_weighed_by_hand():
    table = table_of(1)
    counts = bj.read(table, calibration="random")
    assert counts.responses == ("fail", "pass", "(unparsed)")
    said = table["verdict"].fillna("none")
    known = table["truth"].notna()
    by_hand = sum(
        (said == word).mean() * (table["truth"][known & (said == word)] == "yes").mean()
        for word in ("yes", "no", "none")
    )
    assert share(P.post_stratified(counts)).value == pytest.approx(by_hand, abs=1e-12)


@pytest.mark.slow
def test_the_answer_says_what_rows_without_a_verdict_are():
    table = table_of(2, words=("unsafe", "safe"))
    how = {"pass_value": "unsafe", "fail_value": "safe"}
    counts = bj.read(table, calibration="random", **how)
    assert counts.classes == ("not unsafe", "unsafe")
    plain = table_of(2)
    found = bj.ask(bj.read(plain, calibration="random")).prevalence
    value = share(P.exact(bj.read(plain, calibration="random"))).value
    assert value > 0.6
    assert found.text.startswith(f"People would pass {100 * value:.0f} % of outputs like these (")
    lost = int(plain["verdict"].isna().sum())
    assert found.notes[0].startswith(f"{lost} outputs have no verdict, which is taken as one more")
    dropped = P.Counts.from_frame(plain, calibration="random", unparsed="drop")
    assert dropped.dropped
    assert dropped.merged().dropped
    found = P.answer(*P.closed_forms(dropped), P.exact(dropped))
    assert " of the outputs that the judge could judge (" in found.text
    assert len(found.text.split(".")[0].split()) <= 26
    assert found.notes[0] == (
        f"{lost} outputs without a verdict are left out, and may be better or worse."
    )
    failed = P.Counts.from_frame(plain, calibration="random", unparsed="fail")
    assert not failed.dropped
    assert "outputs like these" in P.answer(P.exact(failed)).text


@pytest.mark.slow
def test_other_designs_and_several_systems_have_to_say_it(tmp_path, capsys):
    table = table_of(3)
    with refused(id="no-verdict"):
        bj.read(table, calibration="by_verdict")
    with refused(id="no-verdict"):
        bj.read(table.assign(system="a"), calibration="random", by="system")
    path = tmp_path / "rows.csv"
    table.to_csv(path, index=False)
    line = ["prevalence", str(path), "--verdict", "verdict", "--truth", "truth"]
    assert main([*line, "--calibration", "random"]) == 0
    assert "taken as one more verdict" in capsys.readouterr().out
    assert main([*line, "--calibration", "random", "--unparsed", "drop"]) == 0
    assert "the outputs that the judge could judge" in capsys.readouterr().out
    assert main([*line, "--calibration", "separate"]) == 2
