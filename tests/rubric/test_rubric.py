"""Totals of rubrics: weighted means where all is known, and intervals where it is not."""

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from refusals import refused

import bayesjudge as bj
from bayesjudge.cli import main
from bayesjudge.cli.options import CALIBRATION
from bayesjudge.core.diagnosis import cautions_of, selection_of
from bayesjudge.core.estimate import Row
from bayesjudge.prevalence import Counts, exact
from bayesjudge.rubric import (
    Rubric,
    answer,
    by_criterion,
    cannot_judge,
    differences,
    meets,
    plot_criteria,
    rows_of_records,
    simulate,
    total,
    two_phase,
)
from bayesjudge.rubric.answer import cannot_words
from bayesjudge.rubric.criteria import CannotJudge

NAN = np.nan
NAMES = ["accurate", "polite", "complete", "rude"]
WEIGHTS = {"accurate": 3.0, "polite": 1.0, "complete": 1.0, "rude": -1.0}


def _table(outputs=300, labelled=90, **how):
    table = simulate(outputs=outputs, labelled=labelled, random_seed=5, **how)
    called = {f"c{i + 1}": name for i, name in enumerate(NAMES)}
    return table.rename(columns=lambda c: f"{c.split('_')[0]}_{called[c.split('_')[1]]}")


def _rubric(table=None, **how):
    pairs = {name: (f"judge_{name}", f"human_{name}") for name in NAMES}
    given = {"criteria": pairs, "calibration": "random", "weight": WEIGHTS, **how}
    return Rubric.from_frame(_table() if table is None else table, **given)


def _quoted(made):
    return min(made, key=lambda one: one.method.rank)["total"]


# One number an output ------------------------------------------------------------------------


def test_a_total_counts_points_by_those_that_there_are():
    applies = [[True, True, True], [True, False, True]]
    rubric = Rubric([[1, 0, 1], [1, NAN, 0]], [[1, 1, 1], [0, NAN, 1]], [3, 1, -2], "random",
                    "abc", applies=applies)  # fmt: skip
    table = rubric.totals()
    assert table["judged"].tolist() == pytest.approx([(3 - 2) / 4, 1.0])
    assert table["people"].tolist() == pytest.approx([(3 + 1 - 2) / 4, -2 / 3])
    assert rubric.ends == pytest.approx((-2 / 3, 1.0))


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_with_all_cells_labelled_it_is_the_weighted_mean(missing):
    """To 1e-12, whatever the judge says, by both roads, also where criteria do not apply."""
    rng = np.random.default_rng(1)
    people, judged = rng.integers(0, 2, (2, 80, 4)).astype(float)
    applies = rng.random((80, 4)) >= missing
    applies[:, 0] = True
    weight = np.array([3.0, 1, 1, -1])
    given = np.where(applies, people, NAN)
    rubric = Rubric(judged, given, weight, "random", NAMES, applies=applies)
    worth = weight * applies / np.maximum(weight * applies, 0).sum(axis=1, keepdims=True)
    mean = (worth * people).sum(axis=1).mean()
    assert _quoted(total(rubric)).value == pytest.approx(mean, abs=1e-12)
    assert two_phase(worth * judged, worth * people, applies).value == pytest.approx(
        mean, abs=1e-12
    )


@pytest.mark.slow
def test_one_criterion_is_the_share_of_good_outputs():
    table = _table()
    rubric = Rubric.from_frame(
        table, criteria={"polite": ("judge_polite", "human_polite")}, calibration="random"
    )
    counts = Counts.from_frame(
        table, verdict="judge_polite", truth="human_polite", calibration="random"
    )
    each = by_criterion(rubric)
    assert each["criterion_met", "polite"] == exact(counts)["prevalence"]
    assert meets(rubric)[0]["all_met"] == exact(counts)["prevalence"]
    assert meets(rubric, 1.0)[0]["at_least", 1.0] == exact(counts)["prevalence"]
    row, ppi = _quoted(total(rubric)), exact(counts)["prevalence"]
    assert row.value == pytest.approx(ppi.value, abs=0.01)


def test_both_roads_agree_where_outputs_are_labelled_throughout():
    """PPI++ of totals, and the sum of terms with one weight: degrees of freedom apart."""
    rubric = _rubric()
    worth, people = rubric.points(rubric.used), rubric.people
    one = two_phase(worth * rubric.said, worth * people).interval(0.95)
    other = next(o for o in total(rubric) if o.method.id == "difference-tuned")["total"]
    assert tuple(one) == pytest.approx(tuple(other), abs=0.002)


def test_labels_on_more_outputs_narrow_a_total_though_none_is_labelled_throughout():
    table = _table(labelled=120)
    some = table.copy()
    for i, name in enumerate(NAMES):  # each output lacks one criterion
        some.loc[np.arange(300) % 4 == i, f"human_{name}"] = NAN
    rubric = _rubric(some)
    assert (rubric.partly, rubric.whole.sum()) == (120, 0)
    made = total(rubric)
    assert made[-1].method.id == "two-phase"
    row, full = made[-1]["total"], _quoted(total(_rubric(table)))
    half = _quoted(total(_rubric(_table(labelled=60))))
    assert row.low < full.value < row.high
    assert full.high - full.low < row.high - row.low < half.high - half.low


def test_a_term_that_applies_to_some_has_the_error_of_a_ratio_s_parts():
    """Of a judge who says nothing: a^2 s^2/m of the labels, a(1 - a) y^2/n of how many apply."""
    rng = np.random.default_rng(6)
    applies = rng.random((4000, 1)) < 0.3
    people = np.where(rng.random((4000, 1)) < 0.05, rng.random((4000, 1)), NAN)
    found = two_phase(np.zeros((4000, 1)), people, applies)
    a, seen = applies.mean(), people[applies & ~np.isnan(people)]
    square = a**2 * seen.var() / seen.size + a * (1 - a) * seen.mean() ** 2 / 4000
    assert found.value == pytest.approx(a * seen.mean())
    assert found.error == pytest.approx(np.sqrt(square), rel=0.02)


def test_meeting_all_is_not_to_meet_what_is_bad():
    rubric = Rubric([[1, 0], [0, 1], [0, 0]], [[1, 0], [1, 0], [NAN, NAN]], [1, -1], "random", "ab")
    counts = rubric.meets()
    assert (counts.correct_n, counts.correct_pass, counts.test_pass) == (2, 1, 0)


@pytest.mark.slow
def test_errors_that_go_together_widen_the_total():
    """Coverage and widths in full: benchmarks/rubric/intervals.py."""
    widths = {}
    for correlation in (0.0, 0.4):
        table = _table(outputs=4000, labelled=400, error_correlation=correlation)
        rubric = _rubric(table, weight=None)
        row = _quoted(total(rubric))
        widths[correlation] = row.high - row.low
    assert 1.1 < widths[0.4] / widths[0.0] < 1.8


# Reading ---------------------------------------------------------------------------------------


def _long(table):
    rows = [
        {"id": i, "criterion": name, "points": WEIGHTS[name],
         "verdict": table.loc[i, f"judge_{name}"], "truth": table.loc[i, f"human_{name}"]}
        for i in range(len(table)) for name in NAMES
    ]  # fmt: skip
    return pd.DataFrame(rows)


@pytest.mark.slow
def test_a_row_an_output_and_a_row_a_criterion_are_one_rubric():
    wide = _rubric()
    long = Rubric.from_frame(_long(_table()), item="id", weight="points", calibration="random")
    assert long.criteria == wide.criteria
    assert not long.own_criteria
    assert long.totals()["people"].tolist() == pytest.approx(
        wide.totals()["people"].tolist(), nan_ok=True
    )
    assert [o["total"] for o in total(long)] == [o["total"] for o in total(wide)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["truth", "verdict", "criterion", "output", "weight"])
def test_an_item_may_be_called_as_another_column_usually_is(name):
    table = _table()
    read = _rubric(table.assign(**{name: [f"i{i}" for i in range(len(table))]}), item=name)
    pd.testing.assert_frame_equal(read.totals().drop(columns="item"),
                                  _rubric(table).totals().drop(columns="item"))  # fmt: skip
    rows = _long(table).rename(
        columns={"verdict": "says", "truth": "label", "criterion": "about", "id": name}
    )
    read = Rubric.from_frame(rows, criterion="about", verdict="says", truth="label", item=name,
                             weight=WEIGHTS, calibration="random")  # fmt: skip
    totals = _rubric(table).totals().drop(columns="item")
    pd.testing.assert_frame_equal(read.totals().drop(columns="item"), totals)


@pytest.mark.slow
def test_criteria_that_are_written_for_the_items_have_totals_only():
    rows = _long(_table())
    rows["criterion"] = rows["criterion"] + " " + rows["id"].astype(str)
    own = Rubric.from_frame(rows, item="id", weight="points", calibration="random")
    assert own.own_criteria
    assert _quoted(total(own)) == _quoted(total(_rubric()))
    with refused(id="own-criteria"):
        by_criterion(own)


def test_records_with_a_list_of_criteria_become_rows():
    records = [
        {"prompt_id": 1, "prompt": [{"role": "user"}], "name": "x",
         "rubrics": [{"name": "a", "points": 5}, {"name": "b", "points": -3}]},
    ]  # fmt: skip
    made = rows_of_records(records, "rubrics")
    assert made["points"].tolist() == [5, -3]
    assert made["record.name"].tolist() == ["x", "x"]
    with refused("criterion", "points", subject="rubric.rows_of_records"):
        rows_of_records([{"a": 1}])


def test_what_does_not_apply_is_no_verdict_and_no_failed_call():
    table = _table().astype(object)
    table.loc[:9, "judge_polite"] = "N/A"
    table.loc[:4, "human_polite"] = "not applicable"
    rubric = _rubric(table)
    assert not rubric.lost.any()
    assert rubric.applies[:10, 1].sum() == 0
    assert rubric.points(rubric.applies)[0].tolist() == pytest.approx([0.75, 0, 0.25, -0.25])


@pytest.mark.slow
def test_failed_calls_are_asked_for_by_the_sign_of_the_weight():
    table = _table().astype(object)
    table.loc[:19, ["judge_rude", "judge_polite"]] = None
    with refused(40, 20, subject="Rubric") as e:
        _rubric(table)
    assert e.value.has("failed-calls")
    worst, best, drop = (_rubric(table, failed=one).totals()["judged"] for one in
                         ("worst", "best", "drop"))  # fmt: skip
    assert (best - worst)[:20].tolist() == pytest.approx([0.4] * 20)
    assert (best - worst)[20:].abs().max() == 0
    kept = _rubric(table, failed="drop").points(_rubric(table, failed="drop").used)
    assert kept[0].tolist() == pytest.approx([0.75, 0, 0.25, 0])
    # people correct the total for any of them
    worst, best = (_quoted(total(_rubric(table, failed=one))) for one in ("worst", "best"))
    assert worst.low < best.value < worst.high
    assert drop.notna().all()


@pytest.mark.slow
def test_a_total_may_be_as_low_as_what_is_left_of_its_criteria_allows():
    # of 3, 1 and -1 points the first is left out: -1 of 1 point, not of 4
    judged = [[1, 1, 1], [NAN, 0, 1], [1, 1, 0], [0, 1, 0]]
    people = [[1, 1, 0], [0, 0, 1], [NAN] * 3, [NAN] * 3]
    dropped = Rubric(judged, people, [3, 1, -1], "random", "abc", failed="drop")
    assert dropped.totals()["judged"].tolist() == [0.75, -1, 1, 0.25]
    excused = Rubric([[0, 0, 1]] * 4, [[1, 1, 0], [NAN, 0, 1], [NAN] * 3, [NAN] * 3], [3, 1, -1],
                     "random", "abc", excused=[[0] * 3, [1, 0, 0], [0] * 3, [0] * 3])  # fmt: skip
    assert excused.totals()["people"].tolist()[:2] == [1, -1]
    for rubric in (dropped, excused):
        assert rubric.ends == (-1, 1)
        for quantity, _, row in by_criterion(rubric).rows():
            assert quantity != "points_lost" or 0 <= row.low <= row.value <= row.high <= 1


@pytest.mark.fast_one_in(2)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"calibration": "by_truth"}, "totals take labels that are a random sample"),
        ({"weight": {"witty": 1}}, "criteria are accurate, polite"),
        ({"failed": None, "scale": (2, 3)}, r"judged has .*: expected 0 \(not met\) to 1"),
        ({"failed": "wurst"}, "expected worst, best, drop"),
        ({"scale": (3, 1)}, r"scale=\(3, 1\): expected the lowest and the highest"),
        ({"truth_scale": (3, 3)}, r"truth_scale=\(3, 3\): expected the lowest"),
        ({"weight": dict.fromkeys(NAMES, -1)}, "no criterion has a weight above 0"),
        ({"weight": {"rude": "-1"}}, r"weight= of .*expected numbers"),
        ({"weight": "points"}, "names a column: of a row per output, give the points by criterion"),
        ({"criteria": {}, "weight": None}, "names no criterion"),
    ],
)
def test_refusals_name_what_is_wrong(change, words):
    with pytest.raises(bj.InputError, match=words):
        _rubric(**change)


@pytest.mark.parametrize("design", sorted({*bj.prevalence.DESIGNS} - {"random"}))
def test_labels_that_are_no_random_sample_are_refused_with_what_to_do(design):
    with pytest.raises(bj.InputError) as refused:
        _rubric(calibration=design)
    (problem,) = refused.value.problems
    assert (problem.id, problem.argument) == ("labels-not-random", "calibration")
    assert (problem.value, problem.known) == (design, ("random",))
    for words in (
        bj.prevalence.DESIGNS[design].meaning,
        "label a random sample (`bayesjudge label` draws it)",
        f"`bayesjudge prevalence FILE --verdict COLUMN --truth COLUMN --calibration {design}`",
    ):
        assert words in str(problem)


@pytest.mark.slow
def test_more_refusals():
    with refused(id="criteria-unlabelled", named="b"):
        Rubric([[1, 0]] * 3, [[1, NAN]] * 3, [1, 1], "random", "ab")
    with refused(id="no-criterion-labelled"):
        Rubric([[1, 0]], [[NAN, NAN]], [1, 1], "random", "ab")
    rows = _long(_table())
    with refused(id="criteria-repeat"):
        Rubric.from_frame(pd.concat([rows, rows[:1]]), item="id", calibration="random")


# Each criterion --------------------------------------------------------------------------------


@pytest.mark.slow
def test_points_lost_add_up_to_what_the_total_misses():
    """Where all is labelled, to rounding: the total is 1 less what criteria cost."""
    rubric = _rubric(_table(outputs=90, labelled=90))
    each = by_criterion(rubric)
    lost = sum(each["points_lost", name].value for name in NAMES)
    assert 1 - lost == pytest.approx(_quoted(total(rubric)).value, abs=1e-12)


def test_of_an_auc_twice_what_exceeds_a_half_is_reached():
    """It is the Youden index of scores: .6 at the upper end."""
    seen = [("auc", {"criterion": "polite"}, Row(0.7, 0.6, 0.8))]
    criteria = SimpleNamespace(rows=lambda: iter(seen))
    assert not cannot_judge(criteria, 0.5)
    (one,) = cannot_judge(criteria, 0.7)
    assert (one.criterion, one.measure, one.reach) == ("polite", "auc", 0.7)


@pytest.mark.slow
def test_a_judge_that_guesses_cannot_judge():
    table = _table(labelled=150)
    rng = np.random.default_rng(2)
    table["judge_polite"] = rng.integers(0, 2, len(table))
    (one,) = cannot_judge(by_criterion(_rubric(table)))
    assert (one.criterion, one.measure) == ("polite", "youden")
    assert one.row.high < 0.5
    assert not cannot_judge(by_criterion(_rubric(table)), {"polite": one.row.high / 2})
    text = str(answer(*total(_rubric(table)), by_criterion(_rubric(table))))
    assert "The judge cannot judge polite: its sensitivity + specificity - 1 is" in text


@pytest.mark.slow
def test_grades_are_correlated():
    rng = np.random.default_rng(3)
    level = rng.random((200, 2))
    judge = np.clip(np.rint(1 + 4 * level + rng.normal(0, 0.7, level.shape)), 1, 5)
    people = np.clip(np.rint(1 + 4 * level + rng.normal(0, 0.7, level.shape)), 1, 5)
    people[60:] = NAN
    table = pd.DataFrame({"judge_a": judge[:, 0], "judge_b": judge[:, 1], "human_a": people[:, 0],
                          "human_b": people[:, 1]})  # fmt: skip
    pairs = {name: (f"judge_{name}", f"human_{name}") for name in "ab"}
    rubric = Rubric.from_frame(table, criteria=pairs, calibration="random", scale=(1, 5),
                               truth_scale=(1, 5))  # fmt: skip
    each = by_criterion(rubric)
    r = np.corrcoef(judge[:60, 0], people[:60, 0])[0, 1]
    assert each["correlation", "a"].value == pytest.approx(r)
    half = 1.959964 / np.sqrt(57)  # Fisher's z
    assert each["correlation", "a"].low == pytest.approx(np.tanh(np.arctanh(r) - half), abs=0.05)
    assert each["criterion_met", "b"].value == pytest.approx(0.5, abs=0.1)


def test_people_may_grade_what_the_judge_calls_met_or_not():
    table = _table()
    grades = np.random.default_rng(1).choice([1, 2, 3], len(table))
    table["human_polite"] = np.where(table["human_polite"].isna(), NAN, grades)
    pairs = {"polite": ("judge_polite", "human_polite")}
    rubric = Rubric.from_frame(table, criteria=pairs, truth_scale=(1, 3), calibration="random")
    found = by_criterion(rubric)
    mean = np.nanmean((table["human_polite"] - 1) / 2)
    assert found["criterion_met", "polite"].value == pytest.approx(mean, abs=0.05)
    assert "correlation" in found
    assert "youden" not in found


@pytest.mark.slow
def test_people_s_verdicts_on_the_worst_criterion_narrow_the_total_most():
    table = _table(outputs=2000, labelled=300)
    rng = np.random.default_rng(4)
    table["judge_accurate"] = rng.integers(0, 2, len(table))
    each = by_criterion(_rubric(table))
    given = {name: each["width_if_given", name].value for name in NAMES}
    assert min(given, key=given.get) == "accurate"
    assert given["accurate"] < 0.8 * each["width_now", "accurate"].value


# Systems ---------------------------------------------------------------------------------------


def _systems():
    made = [
        _table(met=share).assign(system=name, id=range(300))
        for name, share in (("new", 0.7), ("old", 0.6))
    ]
    return _rubric(pd.concat(made), by="system", item="id")


@pytest.mark.slow
def test_systems_are_compared_on_shared_outputs():
    rubric = _systems()
    made = {one.method.id: one for one in total(rubric)}["difference-tuned"]
    assert made["total", "new"].value > made["total", "old"].value
    row = differences(rubric)["difference", "new", "old"]
    each = [made["total", name] for name in ("new", "old")]
    apart = np.hypot(*(one.high - one.low for one in each))
    assert row.high - row.low < apart  # items are shared, and so are their truths
    text = answer(*total(rubric), differences(rubric)).text
    assert text.startswith("new is better than old: ")
    with refused("by=", subject="rubric.differences"):
        differences(_rubric())


def test_differences_take_labels_on_parts_too():
    whole = _systems()
    people = np.array(whole.people)
    people[::3, 0] = NAN
    people[1::3, 2] = NAN
    some = Rubric(whole.judged, people, whole.weight, "random", NAMES, whole.items, whole.systems)
    assert some.partly > 0
    row, full = differences(some)["difference", "new", "old"], differences(whole)
    all_labelled = full["difference", "new", "old"]
    assert row.value == pytest.approx(all_labelled.value, abs=0.02)
    assert 0.95 < (row.high - row.low) / (all_labelled.high - all_labelled.low) < 1.5
    both = _rubric(_table(), by=None)
    twice = Rubric(np.vstack([both.judged] * 2), np.vstack([people[:300]] * 2), whole.weight[0],
                   "random", NAMES, [*range(300)] * 2, ["a"] * 300 + ["b"] * 300)  # fmt: skip
    assert differences(twice)["difference", "a", "b"] == pytest.approx((0, 0, 0), abs=1e-12)


# Command ---------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = _table()
    table.insert(0, "id", [f"r{i}" for i in range(len(table))])
    table.to_csv("wide.csv", index=False)
    _long(table).assign(id=table["id"].repeat(4).to_numpy()).to_csv("long.csv", index=False)
    with open("list.jsonl", "w") as file:
        for _, row in table.iterrows():
            parts = [
                {"criterion": name, "points": WEIGHTS[name], "met": bool(row[f"judge_{name}"]),
                 "human": None if np.isnan(row[f"human_{name}"]) else bool(row[f"human_{name}"])}
                for name in NAMES
            ]  # fmt: skip
            file.write(json.dumps({"id": row["id"], "criteria": parts}) + "\n")
    return ["wide.csv --weight accurate=3 --weight rude=-1", "long.csv", "list.jsonl"]


@pytest.mark.slow
def test_the_command_reads_each_kind_of_file(files, capsys):
    found = []
    for words in files:
        assert main(["rubric", *words.split(), "--calibration", "random", "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert len({one["answer"]["text"] for one in found}) == 1
    assert {c["criterion"] for c in found[0]["criteria"]} == {*NAMES}
    row = found[0]["answer"]["estimates"][0]
    assert (row["value"], row["low"], row["high"]) == tuple(_quoted(total(_rubric())))


@pytest.mark.slow
def test_the_screen_and_the_page(files, capsys, tmp_path):
    line = [*files[0].split(), "--calibration", "random", "--at-least", "0.5"]
    assert main(["rubric", *line, "--html", "page.html"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Outputs with a total of 50 % or more: " in out
    assert "Criteria: what people would say, and the judge" in out
    assert "What people would say of each criterion" in (tmp_path / "page.html").read_text()


@pytest.mark.slow
def test_details_tell_of_nothing_that_is_not(files, capsys):
    main(["rubric", "wide.csv", "--calibration", "random", "--details"])
    assert "None" not in capsys.readouterr().out


@pytest.mark.slow
def test_doctor_proposes_the_line(files):
    for words in files:
        found = bj.doctor(words.split()[0])
        (line,) = [one.line for one in found.answers if one.line.command == "rubric"]
        assert main([*line.words, "--quiet"]) == 0
        if words != files[0]:  # rows are criteria, of which nobody asks the share of good ones
            assert found.commands == {"rubric"}


@pytest.mark.fast_named("criteria1-judge_{} human_{}")
@pytest.mark.parametrize("names", ["judge_{} human_{}", "{}_llm {}_human", "gpt4_{} expert_{}",
                                   "{}.judge {}.label", "{}Judge {}Human"])  # fmt: skip
@pytest.mark.parametrize("criteria", [("tone", "wit"), ("q1", "q2")])
def test_columns_are_paired_in_any_spelling(names, criteria, tmp_path, capsys):
    mine, theirs = names.split()
    table = _table()
    columns = {
        mine.format(new): table[f"judge_{old}"] for new, old in zip(criteria, NAMES, strict=False)
    }
    columns |= {
        theirs.format(new): table[f"human_{old}"] for new, old in zip(criteria, NAMES, strict=False)
    }
    pd.DataFrame(columns).to_csv(tmp_path / "t.csv", index=False)
    assert main(["rubric", str(tmp_path / "t.csv"), "--calibration", "random", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["criterion"] for one in found["criteria"]] == [*criteria]


@pytest.mark.slow
def test_what_is_proposed_for_other_labels_runs(files, capsys):
    table = pd.read_csv("wide.csv")
    chosen = table.groupby("judge_polite").head(30).index  # as many passes as fails, one criterion
    table["human_polite"] = table["human_polite"].fillna(table["judge_polite"])
    table.loc[~table.index.isin(chosen), "human_polite"] = np.nan
    table.to_csv("chosen.csv", index=False)
    assert main(["rubric", "chosen.csv", "--calibration", "by_verdict"]) == 2
    told = " ".join(capsys.readouterr().err.split())
    line = told.split("`bayesjudge prevalence ")[1].split("`")[0]
    for slot in ("chosen.csv", "judge_polite", "human_polite"):
        line = line.replace("FILE" if slot.endswith("csv") else "COLUMN", slot, 1)
    assert main(["prevalence", *line.split(), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["inputs"]["calibration"].startswith("by_verdict")


@pytest.mark.slow
def test_what_the_command_refuses(files, capsys):
    for line, words in (
        (["wide.csv"], " ".join(CALIBRATION.split())),
        (["wide.csv", "--calibration", "random", "--weight", "rude=bad"], "write NAME=POINTS"),
        (["wide.csv", "--calibration", "by_verdict"], "labels that are a random sample"),
        (["long.csv", "--calibration", "random", "--item", "nobody"], "nobody"),
    ):
        assert main(["rubric", *line]) == 2
        assert words in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
def test_systems_that_share_no_item_have_totals_each(tmp_path, capsys):
    table = pd.concat([_table().assign(system=name, id=range(at, at + 300))
                       for name, at in (("a", 0), ("b", 300))])  # fmt: skip
    table.to_csv(tmp_path / "t.csv", index=False)
    line = ["rubric", str(tmp_path / "t.csv"), "--by", "system", "--item", "id"]
    assert main([*line, "--calibration", "random", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["where"]["system"] for row in found["answer"]["estimates"]} == {"a", "b"}
    assert "they share no item" in found["inputs"]["systems not compared"]


@pytest.mark.slow
def test_the_picture_names_the_criteria():
    axes = plot_criteria(by_criterion(_rubric()))
    assert [text.get_text() for text in axes.get_yticklabels()] == NAMES
    with refused("system=", subject="plot_criteria"):
        plot_criteria(by_criterion(_systems()))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("power", "graded", "by"),
    [(0, 0, None), (2, 0, None), (2, 0, "system"), (2, 1, None), (2, 1, "system")],
)
def test_labels_of_longer_outputs_are_seen_in_every_view_of_a_rubric(power, graded, by):
    rng = np.random.default_rng(14)
    difficulty = rng.normal(size=400)
    length = np.exp(6 + difficulty / 2 + rng.normal(size=400) / 2)
    known = np.isin(
        np.arange(400), rng.choice(400, 80, replace=False, p=length**power / (length**power).sum())
    )
    table = pd.DataFrame({"id": np.arange(400), "length": length.round(), "system": [*"xy"] * 200})
    for name in ("clear", "kind"):
        truth = (rng.random(400) < 1 / (1 + np.exp(difficulty - 1))) * (1 + 2 * graded) + graded
        table[f"judge_{name}"] = np.where(rng.random(400) < 0.85, truth, graded)
        table[f"human_{name}"] = np.where(known, truth, np.nan)
    pairs = {name: (f"judge_{name}", f"human_{name}") for name in ("clear", "kind")}
    scale = {"scale": (1, 4), "truth_scale": (1, 4)} if graded else {}
    read = Rubric.from_frame(table, criteria=pairs, calibration="random", item="id", by=by, **scale)
    part = read.system("x") if by else read
    views = [part.scores(), part.criterion("kind"), part.meets(None if not graded else 0.6)]
    seen = ["label-selection" in {c.id for c in cautions_of(view)} for view in (read, *views)]
    assert seen == [power > 0] * 4
    assert ("label-selection" in {c.id for c in by_criterion(read).cautions}) is (power > 0)


@pytest.mark.slow
def test_a_share_of_labels_by_system_is_no_selection():
    """The longer a system's outputs the more labels it has; in each chance chose."""
    rng = np.random.default_rng(3)
    n = 400
    place = np.repeat(np.arange(3), n)
    length = np.exp(rng.normal(size=3 * n) / 4 + 6 + place / 2).round()
    known = rng.random(3 * n) < np.array([0.1, 0.3, 0.6])[place]
    system = np.array([*"abc"])[place]
    item = np.tile(np.arange(n), 3) + place * n // 2  # few items are of all systems
    table = pd.DataFrame({"id": item, "length": length, "system": system})
    for name in ("clear", "kind"):
        truth = rng.random(3 * n) < 0.7
        table[f"judge_{name}"] = (rng.random(3 * n) < 0.85) == truth
        table[f"human_{name}"] = np.where(known, truth, np.nan)
    pairs = {name: (f"judge_{name}", f"human_{name}") for name in ("clear", "kind")}
    asked = {"criteria": pairs, "calibration": "random", "item": "id"}
    read = Rubric.from_frame(table, by="system", **asked)
    assert "label-selection" not in {c.id for c in cautions_of(read)}
    together = Rubric.from_frame(table.drop(columns="system").assign(id=range(3 * n)), **asked)
    assert "label-selection" in {c.id for c in cautions_of(together)}


def _cells_of(seed, systems=1, own=False, items=250):
    """A row for each criterion of each output, with the difficulty that its length tells."""
    rng = np.random.default_rng(seed)
    item, system, c = (x.ravel() for x in np.mgrid[:items, :systems, :4])
    output = item * systems + system
    difficulty = rng.normal(size=items)[item]
    length = np.exp(6 + difficulty / 2 + rng.normal(size=items * systems)[output] / 2).round()
    good = (rng.random(len(c)) < 1 / (1 + np.exp(difficulty + c / 3 - 1))).astype(int)
    judged = np.where(rng.random(len(c)) < 0.85, good, 1 - good).astype(object)
    judged[(c == 1) & (rng.random(len(c)) < 0.2)] = "n/a"
    names = [f"{i} {j}" if own else f"c{j}" for i, j in zip(item, c, strict=True)]
    table = pd.DataFrame({"id": item, "model": system.astype(str), "length": length,
                          "criterion": names, "verdict": judged, "truth": good})  # fmt: skip
    return table, output, c, rng


def _blamed(table, known, systems=1):
    how = {"calibration": "random", "item": "id", "by": "model" if systems > 1 else None}
    table = table.assign(truth=np.where(known, table["truth"], np.nan))
    seen = selection_of(Rubric.from_frame(table, **how))
    return None if seen is None else seen.caution.numbers.get("column", "order")


@pytest.mark.fast_one_in(4)
@pytest.mark.parametrize("systems", [1, 2])
@pytest.mark.parametrize("own", [False, True])
def test_of_a_row_per_criterion_outputs_that_were_chosen_are_seen(own, systems):
    table, output, c, rng = _cells_of(8, systems, own)
    first = np.unique(output, return_index=True)[1]
    weight = table["length"].to_numpy()[first] ** 2
    longer = rng.choice(len(first), 80, replace=False, p=weight / weight.sum())
    assert _blamed(table, np.isin(output, longer), systems) == "length"
    assert _blamed(table, (table["id"] < 60).to_numpy(), systems) == "order"
    failed = (table["verdict"] == 0).to_numpy()
    assert _blamed(table, rng.random(len(c)) < np.where(failed, 0.6, 0.1), systems) == "verdict"


@pytest.mark.slow
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("systems", [1, 2])
def test_totals_and_criteria_lead_with_what_labels_of_longer_outputs_tell(own, systems):
    table, output, _, rng = _cells_of(8, systems, own, items=600)
    length = table["length"].to_numpy()[np.unique(output, return_index=True)[1]]
    longer = rng.choice(len(length), 250, replace=False, p=length**1.5 / (length**1.5).sum())
    truth = np.where(np.isin(output, longer), table["truth"], np.nan)
    how = {"calibration": "random", "item": "id", "by": "model" if systems > 1 else None}
    rubric = Rubric.from_frame(table.assign(truth=truth), **how)
    found, declared = (answer(*total(r)) for r in (rubric, replace(rubric, place=None)))
    assert found.notes[1] == f"If they came as declared: {declared.text}"
    about = table[table["verdict"] != "n/a"]
    means = about.groupby(["model", "id"])["truth"].mean().groupby("model").mean()
    rows = [row for *_, row in found.quoted.only("total").rows()]
    for row, mean in zip(rows, means, strict=True):
        assert abs(row.value - mean) < 3 / 1.96 * (row.high - row.low) / 2
    before = np.mean([row.value for *_, row in declared.quoted.rows()])
    assert np.mean([row.value for row in rows]) > before + 0.01  # longer outputs are worse
    met = {at["criterion"] for name, at, _ in found.quoted.rows() if name == "criterion_met"}
    assert met == (set() if own else {"c0", "c1", "c2", "c3"})


def test_cells_labelled_by_the_verdict_are_weighed_by_it():
    table, _, c, rng = _cells_of(3, items=500)
    failed = (table["verdict"] == 0).to_numpy()
    known = rng.random(len(c)) < np.where(failed, 0.7, 0.1)
    table = table.assign(truth=np.where(known, table["truth"], np.nan))
    rubric = Rubric.from_frame(table, calibration="random", item="id")
    assert {*rubric.place.tolist()} == {0}
    (cells, kinds), found = (table["criterion"] == "c2", (0, 1)), answer(*total(rubric)).quoted
    of = [cells & (table["verdict"] == kind) for kind in kinds]
    share = sum(x.sum() * table["truth"][x].mean() for x in of) / cells.sum()
    assert found["criterion_met", "c2"].value == pytest.approx(share, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["items", "outputs", "cells", "criteria", "applies", "apart"])
def test_of_a_row_per_criterion_cells_may_be_drawn_in_any_way(way):
    """Each way of drawing without regard to what is there, 10 tables: level .005, and as many."""
    blamed = []
    for seed in range(10):
        systems = 2 if way == "apart" else 1 + seed % 2
        table, output, c, rng = _cells_of(100 + seed, systems, items=120)
        share = np.where(table["model"] == "0", 0.1, 0.3) * (c + 1) / 2
        known = {
            "items": np.isin(table["id"], rng.choice(120, 30, replace=False)),
            "outputs": np.isin(output, rng.choice(120 * systems, 40, replace=False)),
            "cells": rng.random(len(c)) < 0.2,
            "criteria": rng.random(len(c)) < share,
            "applies": np.isin(output, rng.choice(120 * systems, 60)) & (table["verdict"] != "n/a"),
            "apart": rng.random(len(c)) < share,
        }[way]
        if way == "apart":  # each item has one system, whose outputs are longer
            table["length"] += 900 * (table["model"] == "1")
            own = (table["id"] % 2).astype(str) == table["model"]
            table, known = table[own].reset_index(drop=True), known[own]
        blamed.append(_blamed(table, known, systems))
    assert blamed.count(None) >= 9


@pytest.mark.slow
def test_a_criterion_without_its_failed_calls_says_what_it_leaves_out():
    """Calls fail on half of the bad outputs: labels correct the total, not the criterion."""
    rng = np.random.default_rng(6)
    good = rng.random((2000, 2)) < 0.6
    judged = np.where(rng.random((2000, 2)) < 0.85, good, ~good).astype(float)
    judged[~good[:, 0] & (rng.random(2000) < 0.5), 0] = np.nan
    people = np.where(np.arange(2000)[:, None] < 400, good.astype(float), np.nan)
    rubric = Rubric(judged, people, [1, 1], "random", ["a", "b"], failed="drop")
    each = by_criterion(rubric)
    (caution,) = [c for c in each.cautions if c.id == "unparsed-verdicts"]
    assert caution.where == ("a",)
    assert caution.numbers["count"] == np.isnan(judged).sum()
    assert each["criterion_met", "a"].low > good[:, 0].mean() + 0.05
    row = _quoted(total(rubric))
    assert row.low < good.mean() < row.high


def test_what_a_judge_cannot_judge_is_told_with_its_numbers():
    reason = CannotJudge("tone", "m1", "youden", Row(0.214, 0.1, 0.333), 0.6)
    told = cannot_words(reason)
    assert [*re.findall(r"\d\.\d+", told)] == ["0.21", "0.10", "0.33", "0.60"]
    assert "tone for m1:" in told
    assert "for m1" not in cannot_words(reason._replace(system=""))


def test_a_rubric_shows_its_size_its_labels_and_its_criteria():
    rubric = _rubric()
    shown = repr(rubric).replace("\n", " ")
    assert "300 outputs and 4 criteria" in shown
    assert (
        f"{int(rubric.whole.sum())} outputs labelled throughout, {rubric.partly} in part" in shown
    )
    assert all(name in shown for name in NAMES)
