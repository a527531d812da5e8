"""A judge that changes along the rows: seen, dated, and never where rows are only sorted."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesjudge as bj
from bayesjudge.cli import main
from bayesjudge.core.diagnosis import OF_ROWS
from bayesjudge.core.words import sentences
from bayesjudge.prevalence import Counts, exact
from bayesjudge.verdicts import row_order
from bayesjudge.verdicts.row_order import most_different


def table(seed, n=1000, labels=300, wrong=0.0, missed=0.0, start=0.5, share=0.7):
    """A judge that from a row on passes more bad outputs, or fails more good ones; rows in time."""
    rng = np.random.default_rng(seed)
    good, later = rng.random(n) < share, np.arange(n) >= start * n
    verdict = rng.random(n) < np.where(good, 0.9 - missed * later, 0.1 + wrong * later)
    labelled = np.isin(np.arange(n), rng.permutation(n)[:labels])
    days = pd.date_range("2026-01-01", periods=n, freq="h").strftime("%Y-%m-%d %H:00")
    truth = np.where(labelled, good, np.nan)
    return pd.DataFrame({"verdict": verdict * 1, "truth": truth, "at": days})


def caution(frame, **how):
    read = bj.Verdicts.from_frame(frame, calibration="random", **how)
    return next((c for c in getattr(read, OF_ROWS) if c.id == "judge-changes"), None)


def test_the_split_is_the_two_sample_test_of_positions():
    """Kolmogorov and Smirnov's, in its limit; the place is that of the largest difference."""
    rng = np.random.default_rng(1)
    kind = rng.random(400) < np.where(np.arange(400) < 250, 0.3, 0.5)
    found = most_different(np.arange(400), kind)
    both = np.flatnonzero(kind), np.flatnonzero(~kind)
    expected = stats.ks_2samp(*both)
    size = np.sqrt(len(both[0]) * len(both[1]) / 400)
    assert found.p_value == pytest.approx(stats.kstwobign.sf(expected.statistic * size))
    assert found.row == expected.statistic_location + 2  # counted from 1, the first row after
    assert found.before == kind[: found.row - 1].mean()
    assert found.after == kind[found.row - 1 :].mean()
    assert most_different(np.arange(9), np.arange(9) < 4).p_value == 1  # too few


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "variant"), [({"wrong": 0.5}, "bad"), ({"missed": 0.4}, "good")]
)
def test_errors_that_change_are_seen_and_dated(change, variant):
    frame = table(2, **change)
    found = caution(frame)
    template = sentences("cautions")["judge-changes"][variant]
    assert found.text == template.format(**found.numbers)
    assert abs(found.numbers["row"] - 500) < 60
    assert found.numbers["before"] < 0.2 < found.numbers["after"]
    assert caution(table(2)) is None
    shuffled = frame.sample(frac=1, random_state=1)
    assert caution(shuffled) is None


@pytest.mark.slow
def test_rows_without_an_order_in_time_matter_only_if_labels_reach_a_part():
    """Labels at random are right of all rows, whatever these are sorted by."""
    frame = table(2, wrong=0.5)
    assert caution(frame) is not None
    assert caution(frame.drop(columns="at")) is None
    assert caution(frame.assign(at=frame["at"].str[:10])) is not None  # days, 24 rows of each
    for first, labels in ((500, 60), (0, 300)):  # rows whose labels are known
        some = frame["truth"].where((frame.index < first) | (frame.index % 5 == 0))
        few = frame.assign(truth=some).drop(columns="at")
        assert (caution(few) is not None) == (labels == 60)


@pytest.mark.slow
def test_verdicts_that_change_are_seen_where_labels_do_not_reach():
    frame = table(3, missed=0.3).drop(columns="at")
    frame.loc[500:, "truth"] = np.nan
    found = caution(frame)
    template = sentences("cautions")["judge-changes"]["verdicts"]
    assert found.text == template.format(**found.numbers)
    assert abs(found.numbers["row"] - 500) < 60


def test_outputs_that_change_are_no_judge_that_changes():
    """People pass fewer of the later rows too."""
    parts = [table(4, n=500, labels=200, share=share) for share in (0.9, 0.4)]
    assert caution(pd.concat(parts, ignore_index=True)) is None


@pytest.mark.fast_one_in(2)
@pytest.mark.parametrize("column", ["topic", "verdict", "truth", "length"])
def test_sorted_rows_are_no_judge_that_changes(column):
    frame = table(5, labels=0 if column != "truth" else 1000, share=0.5)
    if column != "truth":
        frame["truth"] = np.where(np.arange(1000) % 10 == 0, np.arange(1000) % 20 == 0, np.nan)
    frame["topic"] = np.random.default_rng(1).integers(0, 9, 1000)
    frame.loc[frame["verdict"] == 1, "topic"] //= 2
    frame["length"] = frame["topic"] * 10
    assert caution(frame.sort_values(column, kind="stable", ignore_index=True)) is None


@pytest.mark.slow
def test_rows_of_an_item_count_once():
    """Copies of an output are not more evidence."""
    frame = table(6, n=60, labels=60, wrong=0.55, share=0.5)
    copies = frame.loc[frame.index.repeat(6)].reset_index(drop=True)
    assert caution(copies) is not None
    items = copies.assign(item=np.arange(360) // 6)
    found, expected = caution(items, item="item", repeats="system"), caution(frame)
    assert found.numbers["p_value"] == expected.numbers["p_value"]
    assert found.numbers["row"] == 6 * (expected.numbers["row"] - 1) + 1


@pytest.mark.slow
def test_a_change_is_looked_for_within_each_system():
    shares = {"a": 0.9, "b": 0.3}
    frames = [table(7, labels=400, share=shares[x]).assign(system=x) for x in shares]
    both = pd.concat(frames, ignore_index=True)
    both["at"] = pd.date_range("2026-01-01", periods=len(both), freq="h")
    assert caution(both, by="system") is None
    both.loc[1400:, "verdict"] = 1 - both.loc[1400:, "verdict"]
    assert abs(caution(both, by="system").numbers["row"] - 1400) < 60


@pytest.mark.slow
def test_what_is_not_looked_at():
    frame = table(2, wrong=0.5)
    both = frame.assign(other=frame["verdict"])
    assert caution(both, verdict=["verdict", "other"]) is None
    assert caution(frame, score="verdict", scale=(0, 1)) is None
    assert caution(frame.iloc[:30]) is None


@pytest.mark.slow
def test_the_caution_is_that_of_the_answer_and_of_doctor(tmp_path, capsys):
    frame = table(2, wrong=0.5)
    counts = Counts.from_frame(frame, calibration="random")
    assert "judge-changes" in {c.id for c in exact(counts).cautions}
    path = tmp_path / "rows.csv"
    numbers = frame[["verdict", "truth"]].astype("Int64")
    frame.assign(**numbers, id=range(len(frame))).to_csv(path, index=False)
    line = ["prevalence", str(path), "--verdict", "verdict", "--truth", "truth"]
    main([*line, "--calibration", "random", "--json"])
    document = json.loads(capsys.readouterr().out)
    assert "judge-changes" in {one["id"] for one in document["cautions"]}
    (told,) = (one for one in document["cautions"] if one["id"] == "judge-changes")
    main(["doctor", str(path)])
    assert told["text"][:60] in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow
def test_false_alarms_are_rare():
    tables = 200
    alarms = sum(caution(table([9, i], n=300, labels=100)) is not None for i in range(tables))
    assert alarms / tables <= 0.005 + 4 * np.sqrt(0.005 / tables)


def test_each_test_that_could_have_spoken_counts():
    """Bonferroni: of errors two tests a block, of verdicts one."""
    frame = table(3, n=1000, labels=300, wrong=0.6, missed=0.5)
    verdict = frame["verdict"].to_numpy()
    truth = frame["truth"].fillna(row_order.MISSING).to_numpy(int)
    blocks = [np.arange(500, 1000), np.arange(500)]
    blocks = [np.sort(np.concatenate([block[::2], 999 - block[::2]])) for block in blocks]
    rows = [block[truth[block] == kind] for block in blocks for kind in (0, 1)]
    least = min(most_different(r, verdict[r] != truth[r]).p_value for r in rows)
    seen = row_order._of_errors(verdict, truth, blocks).numbers
    assert seen["p_value"] == pytest.approx(4 * least, abs=0)
    none = np.full(1000, row_order.MISSING)
    later = (np.arange(1000) >= 500).astype(int)
    least = min(most_different(r, later[r] == 1).p_value for r in blocks)
    seen = row_order._of_verdicts(later, none, blocks).numbers
    assert seen["p_value"] == pytest.approx(2 * least, abs=0)
