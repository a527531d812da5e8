"""Tables of an engine are counted there, with the counts that tables in memory give."""

import functools
import importlib.util
import json
import shutil
import tracemalloc
from contextlib import nullcontext

import narwhals as nw
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from refusals import refused

import bayesjudge as bj
from bayesjudge.attempts import Attempts
from bayesjudge.cli import main, source
from bayesjudge.cli import rows as rows_of_file
from bayesjudge.core import tables
from bayesjudge.leaderboard import Battles, simulate
from bayesjudge.panel import Votes
from bayesjudge.prevalence import Counts, classes
from bayesjudge.prevalence.items import Items
from bayesjudge.prevalence.scores import Scores
from bayesjudge.repeats import Scores as Repeated
from bayesjudge.verdicts import by_item
from bayesjudge.verdicts import scores as reading_of_scores

RNG = np.random.default_rng(4)
N = 600


@functools.cache
def spark_session():
    if shutil.which("java") is None:
        pytest.skip("no Java, which Spark needs (Debian: openjdk-17-jre-headless)")
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip("no pyspark (pip install 'bayesjudge[spark]')")
    from pyspark.sql import SparkSession

    local = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    # small tables: compiling takes longer than counting
    local = local.config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1")
    local = local.config("spark.sql.codegen.wholeStage", "false")
    return local.config("spark.sql.shuffle.partitions", "1").getOrCreate()


def with_nones(frame):
    """Columns of text as objects, an empty cell as None."""
    texts = [c for c in frame if frame[c].dtype.kind not in "fi"]
    cells = {c: frame[c].astype(object).where(frame[c].notna(), None) for c in texts}
    return frame.assign(**cells).astype(dict.fromkeys(texts, object))


def in_duckdb(frame):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.connect().from_df(with_nones(frame))


def in_polars(frame):
    return pytest.importorskip("polars").from_pandas(with_nones(frame)).lazy()


def in_spark(frame):
    cells = frame.astype(object).where(frame.notna(), None)
    kinds = {"O": "string", "f": "double", "i": "bigint"}
    schema = ", ".join(f"`{c}` {kinds.get(frame[c].dtype.kind, 'string')}" for c in frame)
    return spark_session().createDataFrame(cells.values.tolist(), schema)


def in_arrow(frame):
    return pytest.importorskip("pyarrow").Table.from_pandas(frame, preserve_index=False)


def eagerly_in_polars(frame):
    return pytest.importorskip("polars").from_pandas(with_nones(frame))


ENGINES = [in_duckdb, in_polars, pytest.param(in_spark, marks=pytest.mark.slow)]
EVERY = [*ENGINES, in_arrow, eagerly_in_polars]
KIND = {"ids": lambda one: one.__name__.removeprefix("in_")}


@pytest.fixture(autouse=True)
def no_rows_are_pulled(request, monkeypatch):
    """Of an engine, nothing may read rows."""
    given = request.node.callspec.params if hasattr(request.node, "callspec") else {}
    if given.get("engine") not in (in_duckdb, in_polars, in_spark):
        return

    def of_memory_only(read):
        def guarded(table, *columns, **how):
            assert not tables.is_counted_in_place(table), "rows are pulled"
            return read(table, *columns, **how)

        return guarded

    monkeypatch.setattr(tables, "read_rows", of_memory_only(tables.read_rows))
    monkeypatch.setattr(by_item, "code_rows", of_memory_only(tables.code_rows))


def choice(cells, n=N, p=None):
    return np.array(cells, dtype=object)[RNG.choice(len(cells), size=n, p=p)]


def log():
    """Rows of items, with blanks, spellings, systems and a few labels."""
    item = np.array([f"q{i}" for i in RNG.integers(150, size=N)], dtype=object)
    return pd.DataFrame(
        {
            "question": item,
            "system": choice(["a", "b"]),
            "verdict": choice(["PASS", "pass", "Fail", None], p=[0.4, 0.2, 0.3, 0.1]),
            "truth": choice(["yes", "no", None], p=[0.15, 0.1, 0.75]),
            "score": RNG.integers(5, size=N) + 1.0,
            "fine": RNG.uniform(size=N),
        }
    )


def ballots():
    """Votes of three judges, some missing, in an order that is sorted where it is first seen."""
    grid = pd.MultiIndex.from_product(
        [["g1", "g2"], [f"q{i}" for i in range(60)], ["a", "b", "c"]],
        names=["generator", "item", "judge"],
    )
    rows = grid.to_frame(index=False).astype(object)
    rows["vote"] = choice(["1", "0", "none"], len(rows), [0.6, 0.3, 0.1])
    keys = list(zip(rows.generator, rows.item, strict=True))
    known = {key: choice(["good", "bad", None], 1)[0] for key in dict.fromkeys(keys)}
    rows["truth"] = [known[key] for key in keys]
    rows.loc[(RNG.random(len(rows)) < 0.05) & (rows.index > 2), "judge"] = None
    rows.loc[rows.judge.isna(), "vote"] = None
    return rows


ITEMS = {"item": "question", "calibration": "random", "repeats": "system", "unparsed": "fail"}


def same(one, other, names):
    for name in names.split():
        got, expected = getattr(one, name), getattr(other, name)
        if isinstance(expected, tuple | str | int) or expected is None:
            assert got == expected, name
        else:
            assert_array_equal(got, expected, err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("engine", EVERY, **KIND)
def test_counts(engine):
    rows = log()
    for how in ({}, {"by": "system"}):
        read = [
            Counts.from_frame(t, calibration="random", unparsed="fail", **how)
            for t in (engine(rows), rows)
        ]
        same(*read, "test_n test_pass correct_n correct_pass incorrect_n incorrect_fail systems "
             "unparsed spelling")  # fmt: skip


@pytest.mark.fast_one_in(22)
@pytest.mark.parametrize("engine", EVERY, **KIND)
@pytest.mark.parametrize("by", [None, "system"])
@pytest.mark.parametrize("repeats", ["system", "judge"])
@pytest.mark.parametrize("unparsed", ["fail", "drop"])
def test_items(engine, by, repeats, unparsed):
    rows = log()
    if repeats == "judge":  # one truth an output
        rows["truth"] = rows.groupby(["question", "system"])["truth"].transform("first")
        rows.loc[::2, "truth"] = None
        if by is None:
            rows["truth"] = rows.groupby("question")["truth"].transform("first")
    how = {**ITEMS, "by": by, "repeats": repeats, "unparsed": unparsed}
    read = [Items.from_frame(t, **how) for t in (engine(rows), rows)]
    same(*read, "cells count systems unparsed spelling repeats")
    assert read[0].n_items > 100


@pytest.mark.fast_one_in(10)
@pytest.mark.parametrize("engine", EVERY, **KIND)
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("keep", [False, True])
def test_votes(engine, wide, keep):
    rows = ballots()
    how = {"calibration": "random", "missing_value": ["none"]}
    if wide:
        rows = rows.dropna(subset="judge").pivot(
            index=["generator", "item", "truth"], columns="judge", values="vote"
        ).reset_index().astype(object)  # fmt: skip
        rows = rows.where(rows.notna(), None)
        how["judges"] = ["a", "b", "c"]
    elif keep:
        how["repeated"] = "keep"
        again = rows.dropna(subset="judge").sample(40, random_state=1)
        again["vote"] = again["vote"].replace("none", "1")
        rows = pd.concat([rows, again])
        # votes of one judge on one item in the order in which an engine's counts come back
        rows = rows.sort_values(["generator", "item", "judge", "vote"], key=lambda c: c.map(
            {"1": 0, "0": 1, "none": 2}) if c.name == "vote" else c, kind="stable")  # fmt: skip
    read = [Votes.from_frame(t, **how) for t in (engine(rows), rows)]
    same(*read, "votes truth generator count generators judges judge_of_column classes spelling")
    assert read[0].n_items > 60
    assert read[0].votes.shape[1] == (6 if keep and not wide else 3)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES, **KIND)
def test_votes_of_many_judges_and_classes(engine):
    """More digits than one number has."""
    names = [f"j{i:02}" for i in range(45)]
    rows = pd.DataFrame(
        {"item": np.repeat([f"q{i}" for i in range(20)], 45), "judge": names * 20,
         "vote": choice(["x", "y", "z", "w"], 900)}
    ).astype(object)  # fmt: skip
    how = {"generator": None, "truth": None, "classes": ["w", "x", "y", "z"]}
    read = [Votes.from_frame(t, **how) for t in (engine(rows), rows)]
    same(*read, "votes truth generator count judges classes")
    assert len(read[0].count) == 20


@pytest.mark.slow
def test_votes_repeated_past_all_whole_numbers():
    rows = pd.DataFrame({"item": "q", "judge": [f"j{i:02}" for i in range(45)] * 999, "vote": "1"})
    how = {"generator": None, "truth": None}
    for engine in (in_duckdb, in_polars):
        with refused(44910, id="votes-repeat"):
            Votes.from_frame(engine(rows), **how)


@pytest.mark.slow
@pytest.mark.parametrize("keep", [False, True])
def test_consensus_of_an_engines_items(keep, monkeypatch):
    """Item by item rows are needed: in the order in which they were counted."""
    rows = ballots().sort_index(ascending=False, ignore_index=True)  # judges come last first
    how = {"calibration": "random", "missing_value": ["none"]}
    if keep:
        rows = pd.concat([rows, rows.dropna(subset="judge").head(30)], ignore_index=True)
        how["repeated"] = "keep"
    table = in_duckdb(rows)
    votes = Votes.from_frame(table, **how)
    found = pd.concat(bj.panel.consensus(votes).items(table, **how))
    whole = Votes.from_frame(rows, **how)
    expected = pd.concat(bj.panel.consensus(whole).items(rows, **how))
    key = ["generator", "item"]
    one, other = (t.sort_values(key, ignore_index=True) for t in (found, expected))
    pd.testing.assert_frame_equal(one, other, rtol=1e-6)
    assert len(found) == 120


@pytest.mark.slow
@pytest.mark.parametrize("engine", EVERY, **KIND)
def test_scores(engine):
    rows = log()
    how = {"calibration": "random", "scale": (1, 5)}
    read = [Scores.from_frame(t, **how) for t in (engine(rows), rows)]
    same(*read, "score truth n grouped")


@pytest.mark.parametrize("engine", ENGINES, **KIND)
def test_scores_that_are_too_many_are_grouped(engine, monkeypatch):
    monkeypatch.setattr(reading_of_scores, "MOST_SCORES", 50)
    rows = log()
    rows.loc[0:2, "fine"] = None
    how = {"calibration": "random", "score": "fine", "scale": (0, 1), "unscored": "drop"}
    monkeypatch.setattr(reading_of_scores, "CELLS", 32)
    found, exact = (Scores.from_frame(t, **how) for t in (engine(rows), rows))
    lost = exact.n[~exact.known].sum()
    assert (found.grouped, exact.grouped) == (lost, 0)
    assert len(found.n) < len(exact.n) / 2
    assert found.unscored == exact.unscored == 3
    same_labels = [(s.score[s.known], s.truth[s.known], s.n[s.known]) for s in (found, exact)]
    for one, other in zip(*same_labels, strict=True):
        assert_array_equal(one, other)
    means = [np.average(s.unit[~s.known], weights=s.n[~s.known]) for s in (found, exact)]
    assert means[0] == pytest.approx(means[1], rel=1e-12)
    told = {c.id: c.numbers for c in bj.prevalence.scores.closed_forms(found)[0].cautions}
    misplaced = np.abs(found.tally()["test"] - exact.tally()["test"]).sum() / 2 / lost
    share = told["grouped-scores"]["share"]
    assert 0 < misplaced <= share + 5e-5


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES, **KIND)
def test_repeats(engine):
    rows = log()
    rows.loc[:4, "score"] = None
    rows.loc[:1, ["question", "system"]] = [["a", "a"], ["a", "b"]]  # both judges come first
    rows = rows.sort_values(["question", "system"], ignore_index=True)
    how = {"scale": range(1, 6), "judge": "system", "item": "question"}
    found, expected = (Repeated.from_frame(t, **how) for t in (engine(rows), rows))
    same(found, expected, "counts unparsed items judges scale")
    assert found.sequence is None
    with refused(5.0, subject="column 'score'"):
        Repeated.from_frame(engine(rows), **(how | {"scale": range(1, 5)}))


ATTEMPTS = {"task": "question", "by": "system", "calibration": "random"}


@pytest.mark.fast_one_in(9)
@pytest.mark.parametrize("engine", EVERY, **KIND)
@pytest.mark.parametrize("unparsed", ["verdict", "fail", "drop"])
@pytest.mark.parametrize("people", [False, True])
def test_attempts(engine, unparsed, people):
    rows = log()
    rows["again"] = np.where(RNG.random(N) < 0.9, rows["truth"], None)
    truth = ["truth", "again"] if people else "truth"
    how = ATTEMPTS | {"truth": truth, "unparsed": unparsed}
    found, expected = (Attempts.from_frame(t, **how) for t in (engine(rows), rows))
    same(found, expected, "cells tasks systems unparsed dropped spelling people judged")
    # what people said stands in the order in which it is first met
    order = [np.lexsort(read.kinds.T) for read in (found, expected)]
    for one, other in [("kinds", 0), ("states", 2)]:
        kept = [np.take(getattr(read, one), at, other) for read, at in zip(
            (found, expected), order, strict=True)]  # fmt: skip
        assert_array_equal(*kept)
    assert expected.tries.max() > 2


@pytest.mark.slow
def test_outcomes_of_attempts():
    """Whole numbers beside empty cells, floats and booleans are the labels that texts are."""
    rows = log()
    rows["truth"] = np.where(rows["truth"] == "yes", 1.0, np.where(RNG.random(N) < 0.1, np.nan, 0))
    how = ATTEMPTS | {"verdict": None, "unparsed": "drop"}
    expected = Attempts.from_frame(rows, **how)
    for dtype in ("float64", "Int64", "boolean", "string"):
        table = in_duckdb(rows).df().astype({"truth": dtype})
        for engine in (nw.from_native, in_arrow, lambda t: in_polars(t.convert_dtypes())):
            same(Attempts.from_frame(engine(table), **how), expected, "cells tasks dropped")


@pytest.mark.slow
def test_many_attempts_are_no_objects():
    """A pattern takes the bytes of a few numbers, whatever its names: no text of its own."""
    duckdb = pytest.importorskip("duckdb")
    rows = 200_000
    table = duckdb.sql(f"""
        SELECT 'task ' || (i // 4) AS task, 'agent ' || (i % 2) AS agent,
            CASE WHEN hash(i) % 3 = 0 THEN 'PASS' ELSE 'FAIL' END AS verdict,
            CASE WHEN i % 50 = 0 THEN 'yes' WHEN i % 50 = 1 THEN 'no' END AS truth
        FROM range({rows}) t(i)""")
    how = {"by": "agent", "calibration": "random"}
    Attempts.from_frame(table.limit(100), **how)  # what is imported comes once
    tracemalloc.start()
    try:
        counted = Attempts.from_frame(table, **how)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert counted.cells.sum() == rows
    assert peak / rows < 240  # 330 as objects


@pytest.mark.fast_one_in(2)
@pytest.mark.parametrize("engine", EVERY, **KIND)
def test_battles(engine):
    table = simulate(items=20, random_seed=4)[["model_a", "model_b", "winner", "human"]]
    plain = Battles.from_frame(table, people="human")
    counted = Battles.from_frame(engine(table), people="human")
    assert counted.systems == plain.systems
    for name in plain.sources:
        assert_array_equal(counted.counted(name), plain.counted(name))


@pytest.mark.slow
@pytest.mark.parametrize("engine", EVERY, **KIND)
def test_classes(engine):
    rows = log()
    how = {"calibration": "random", "classes": ["PASS", "pass", "Fail"], "unparsed": "drop"}
    rows["truth"] = rows["truth"].replace({"yes": "pass", "no": "Fail"})
    read = [classes.ClassCounts.from_frame(t, **how) for t in (engine(rows), rows)]
    same(*read, "test labelled")


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES, **KIND)
def test_what_is_wrong_is_said_as_of_tables_in_memory(engine):
    rows = ballots()
    how = {"calibration": "random", "missing_value": ["none"]}
    twice = pd.concat([rows, rows.dropna(subset="judge").head(2)])
    with refused(2, id="votes-repeat"):
        Votes.from_frame(engine(twice), **how)
    torn = rows.copy()
    torn.loc[torn.item == "q7", "truth"] = ["good", "bad", None] * 2
    with refused("q7", id="truths-differ"):
        Votes.from_frame(engine(torn), **how)
    nobody = rows.copy()
    nobody.loc[nobody.judge.isna(), "vote"] = "1"
    with refused("judge", id="votes-without-judge"):
        Votes.from_frame(engine(nobody), **how)
    blank = rows.copy()
    blank.loc[3, "item"] = " "
    with refused("item", 1, id="empty-names"):
        Votes.from_frame(engine(blank), **how)
    with refused("none", id="unread-labels"):
        Votes.from_frame(engine(rows), calibration="random")
    blank = log()
    blank.loc[3, "question"] = None
    with refused("question", 1, id="empty-names"):
        Items.from_frame(engine(blank), **ITEMS)
    with refused(id="outputs-torn"):
        Items.from_frame(engine(log()), **(ITEMS | {"repeats": "judge"}))


@pytest.mark.parametrize("engine", [lambda rows: rows, in_polars], ids=["pandas", "polars"])
@pytest.mark.parametrize("vote", ["none", None])
def test_a_judge_who_never_votes_is_refused(engine, vote):
    """What the prior says of such a judge is no answer."""
    rows = ballots()
    name = sorted(rows["judge"].dropna().unique())[-1]
    rows["vote"] = rows["vote"].mask(rows["judge"] == name, vote)
    with refused(name, "judge", id="judges-silent"):
        Votes.from_frame(engine(rows), calibration="random", missing_value=["none"])


def test_ids_that_lost_digits_are_refused():
    rows = ballots()
    rows["item"] = rows.groupby("item").ngroup() + 2.0**53
    with refused(id="empty-names"):
        Votes.from_frame(in_polars(rows), calibration="random", missing_value=["none"])


@pytest.mark.slow
def test_an_engine_is_told_from_memory():
    rows = log()
    for convert in (in_duckdb, in_polars):
        assert tables.is_counted_in_place(convert(rows))
    for table in (rows, in_arrow(rows), eagerly_in_polars(rows), nw.from_native(rows), 3):
        assert not tables.is_counted_in_place(table)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["prevalence", "items", "panel", "scores"])
def test_a_large_file_is_counted_where_it_lies_with_a_bar(command, tmp_path, monkeypatch, capsys):
    pytest.importorskip("duckdb")
    asked = {
        "prevalence": ["--verdict", "verdict", "--truth", "truth", "--unparsed", "fail"],
        "items": ["--verdict", "verdict", "--truth", "truth", "--unparsed", "fail",
                  "--item", "question", "--repeats", "system"],
        "panel": ["--truth", "truth", "--missing-value", "none"],
        "scores": ["--score", "fine", "--scale", "0:1", "--truth", "truth"],
    }[command]  # fmt: skip
    path = tmp_path / "rows.parquet"
    rows = ballots() if command == "panel" else log()
    rows.to_parquet(path, index=False)
    name = "panel" if command == "panel" else "prevalence"
    line = [name, str(path), *asked, "--calibration", "random", "--no-nuts", "--json"]
    bars = []

    def shown(show, words, **more):
        bars.append((show, words))
        return nullcontext()

    monkeypatch.setattr(source, "progress", shown)
    assert main(line) == 0
    small = json.loads(capsys.readouterr().out)
    monkeypatch.setattr(bj.readers.tables, "LARGE", 100)
    monkeypatch.setattr(rows_of_file, "read_table", lambda *a, **k: pytest.fail("read as a whole"))
    assert main(line) == 0
    large = json.loads(capsys.readouterr().out)
    assert large["estimates"] == small["estimates"]
    words = f"counting {len(rows):,} rows of rows.parquet"
    assert bars == [(False, words), (None, words)]
    main([*line, "--quiet"])
    assert bars[-1] == (False, words)
