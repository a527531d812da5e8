"""Grades such as 4/5, 8 out of 10 and 85% are the numbers that they say, in every command."""

import json

import numpy as np
import pandas as pd
import pytest
from commands import commands, leaves, run
from readings import same
from refusals import refused
from test_routes import FILES, ROUTES

import bayesjudge as bj
from bayesjudge.core.numbers import scores_of
from bayesjudge.readers import tables

FORMS = {
    "4/5": lambda x, most: f"{x:g}/{most}",
    "4 / 5": lambda x, most: f" {x:g} / {most}.0 ",
    "4 out of 5": lambda x, most: f"{x:g} Out of {most}",
}


def written(frame, columns, form, most):
    """The same table with grades in place of the numbers of some columns."""
    cells = {name: [None if pd.isna(x) else form(float(x), most) for x in frame[name]]
             for name in columns}  # fmt: skip
    return frame.assign(**{name: pd.Series(each, frame.index, object)
                           for name, each in cells.items()})  # fmt: skip


def graded():
    """Scores and people's grades from 1 to 5, of items of two systems."""
    rng, n = np.random.default_rng(3), 80
    people = rng.integers(1, 6, n).astype(float)
    score = np.clip(people + rng.integers(-1, 2, n), 1, 5)
    people[rng.random(n) < 0.4] = np.nan
    score[::17] = np.nan
    rows = pd.DataFrame({"name": [f"q{i}" for i in range(n)], "score": score, "human": people})
    return rows.assign(system=np.where(rng.random(n) < 0.5, "old", "new"))


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_scores_by_every_route(form):
    rows, how = graded(), {"score": "score", "truth": "human", "calibration": "random"}
    how |= {"scale": (1, 5), "truth_scale": (1, 5), "unscored": "drop"}
    read = bj.prevalence.scores.Scores.from_frame
    expected = read(rows, **how)
    others = written(rows, ["score", "human"], FORMS[form], 5)
    for route, changed in ROUTES.items():
        found = read(changed(others), **how)
        sides = [np.stack([a.score, np.nan_to_num(a.truth, nan=-1)]) for a in (found, expected)]
        assert np.array_equal(*(np.unique(side, axis=1) for side in sides)), route
        assert sorted(found.n) == sorted(expected.n), route
        assert "read as" in found.spelling
        assert expected.spelling == ""


OF_COMMANDS = {
    "bias": ["score"],
    "repeats report": ["score"],
    "repeats report of a wide table": ["run1", "run2", "run3", "run4"],
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "parquet", "xlsx"])
@pytest.mark.parametrize("name", OF_COMMANDS)
def test_numbers_of_repeats_and_versions(name, kind, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "LARGE", 1)  # DuckDB counts Parquet
    one = commands()[name]
    most, form = (100, "{:g}%") if name == "bias" else (5, "{:g}/5")
    FILES[kind](one.table, plain := tmp_path / f"plain.{kind}")
    graded = written(one.table, OF_COMMANDS[name], lambda x, most: form.format(x), most)
    FILES[kind](graded, path := tmp_path / f"graded.{kind}")
    assert not same(one.numbers(path), one.numbers(plain))


OF_SCORES = {
    "mean": ["--scale=1:5", "--truth-scale=1:5"],
    "systems": ["--scale=1:5", "--truth-scale=1:5", "--by=system"],
    "share above": ["--scale=1:5", "--truth-from=4"],
    "as verdicts": ["--scale=1:5", "--truth-from=4", "--pass-from=4"],
}


@pytest.mark.slow
@pytest.mark.parametrize("asked", OF_SCORES)
@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_numbers_of_scores_in_files(asked, kind, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "LARGE", 1)
    found = []
    plain = graded()
    for name, rows in enumerate([plain, written(plain, ["score", "human"], FORMS["4/5"], 5)]):
        FILES[kind](rows, path := tmp_path / f"{name}.{kind}")
        line = ["prevalence", str(path), "--score=score", "--truth=human", "--calibration=random"]
        code, text, told = run([*line, *OF_SCORES[asked], "--unparsed=drop", "--no-nuts", "--json"])
        assert code == 0, told
        found.append(dict(leaves(json.loads(text))))
    assert not same(*found)


@pytest.mark.slow
def test_the_judge_and_a_rubric_read_them():
    rows = graded().dropna(subset="score").reset_index(drop=True)
    rows = rows.rename(columns={"score": "judge_tone", "human": "human_tone"})
    others = written(rows, ["judge_tone", "human_tone"], FORMS["4 out of 5"], 5)
    how = {"criteria": {"tone": ("judge_tone", "human_tone")}, "calibration": "random"}
    how |= {"scale": (1, 5), "truth_scale": (1, 5), "item": "name"}
    totals = [bj.rubric.Rubric.from_frame(t, **how).totals() for t in (rows, others)]
    pd.testing.assert_frame_equal(*totals)
    known = rows["human_tone"].notna()
    off = [bj.judge.disagreements(t[known], verdict="judge_tone", truth="human_tone", numeric=True)
           for t in (rows, others)]  # fmt: skip
    assert len(off[0]) > 0
    assert [*off[0].index] == [*off[1].index]


def column(*cells):
    return pd.Series(cells, name="marks", dtype=object)


@pytest.mark.parametrize("dtype", [object, "string", "category"])
def test_on_a_scale_from_0_to_1_they_are_shares(dtype):
    of_five, percent = column("4/5", "0/5", None, "5/5"), column("85%", "7.5 %", "100%")
    shares = scores_of(of_five.astype(dtype), scale=(0, 1))
    assert [*shares] == pytest.approx([0.8, 0, np.nan, 1], nan_ok=True)
    assert [*scores_of(percent.astype(dtype), scale=(0, 1))] == [0.85, 0.075, 1]
    assert [*scores_of(percent.astype(dtype), scale=(0, 100))] == [85, 7.5, 100]


def test_a_threshold_below_1_is_a_share():
    rows = written(graded(), ["score", "human"], FORMS["4/5"], 5)
    how = {"score": "score", "truth": "human", "calibration": "random", "unscored": "drop"}
    read = bj.prevalence.scores.Scores.from_frame
    by_share, by_grade = (read(rows, **how, scale=(1, 5), truth_from=t) for t in (0.8, 4))
    assert np.array_equal(by_share.truth, by_grade.truth, equal_nan=True)
    assert len({*by_share.truth[by_share.known]}) == 2


def test_what_is_read_as_grades_and_what_is_refused():
    read = scores_of(column("8 out of 10", "3/10", "-"), "-")
    assert [*read] == pytest.approx([8, 3, np.nan], nan_ok=True)
    with refused("4/5", "7/10", subject="column 'marks'", id="grades-differ"):
        scores_of(column("4/5", "3/5", "7/10"))
    with refused("4/5", "4", id="grades-differ"):
        scores_of(column("4/5", "4"))
    with refused("85%", "0.7", id="grades-differ"):
        scores_of(column("85%", "0.7"))
    with refused("7/5", id="grades-differ"):
        scores_of(column("4/5", "7/5"))
    with refused("lost", subject="column 'marks'"):
        scores_of(column("4/5", "lost"))
    with refused("1/2/2024", subject="column 'marks'"):
        scores_of(column("1/2/2024"))
    with refused("4/5", id="grades-off-scale", most=5.0):
        scores_of(column("4/5"), scale=(1, 10))
    with refused(subject="column 'marks'"):
        scores_of(column("85%"), scale="log_odds")


@pytest.mark.parametrize("unit", ["1%", "1/1"])
def test_what_is_no_score_is_no_grade(unit):
    """A propensity of 1 % is not one of 1."""
    rows = graded().dropna(subset="score").assign(chance=unit)
    with refused(unit):
        bj.prevalence.scores.Scores.from_frame(
            rows, score="score", truth="human", calibration="known_propensity",
            propensity="chance", scale=(1, 5), truth_scale=(1, 5),
        )  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_verdicts_that_are_grades_are_refused_as_numbers(form):
    rows = written(graded(), ["score", "human"], FORMS[form], 5)
    with refused(id="unread-numbers"):
        bj.prevalence.Counts.from_frame(rows, verdict="score", truth="human", calibration="random")


@pytest.mark.parametrize(("most", "scale"), [(5, "1:5"), (10, "1:10"), (100, "0:100"), (7, "1:7")])
@pytest.mark.slow
def test_doctor_takes_the_scale_that_they_name(most, scale, tmp_path):
    """Grades of 1 to 5 are seen; a shorter scale would be refused by the lines."""
    rows = written(graded(), ["score", "human"], FORMS["4/5"], most)
    rows.to_csv(path := tmp_path / "rows.csv", index=False)
    code, text, told = run(["doctor", str(path), "--json"])
    assert code == 0, told
    options = [answer["options"] for answer in json.loads(text)["answers"]]
    assert options
    assert all(each["--scale"] == each["--truth-scale"] == [scale] for each in options)


def chosen_by_score(lowest):
    """Few labels at the lowest score, and more at low ones."""
    rng, n = np.random.default_rng(5), 600
    score = rng.integers(1, 41, n)
    score[rng.random(n) < 0.1] = 0
    human = np.clip(score + rng.integers(-5, 6, n), 0, 40).astype(float)
    labelled = rng.random(n) < np.where(score <= 20, 0.6, 0.1)
    labelled[np.flatnonzero(score == 0)[3:]] = False
    human[~labelled] = np.nan
    rows = pd.DataFrame({"score": score + lowest, "human": human + lowest})
    scale = (lowest, 40 + lowest)
    how = {"score": "score", "truth": "human", "scale": scale, "truth_scale": scale}
    return bj.ask(bj.read(rows, **how, calibration="random"))["prevalence"]


def test_a_score_of_0_is_no_empty_cell_where_labels_go_with_the_score():
    from_0, from_1 = chosen_by_score(0), chosen_by_score(1)
    assert from_0.interval == pytest.approx(np.array(from_1.interval) - 1)
