"""Ids and names stay what they are: in no module, table or file are they numbers."""

import json
from typing import NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from refusals import refused

import bayesjudge as bj
from bayesjudge.cli import main
from bayesjudge.readers import read_table

SNOWFLAKES = [1_788_888_888_888_888_001 + i for i in range(40)]


class Role(NamedTuple):
    """One column that holds ids or names, and what a data class makes of them."""

    column: str
    rows: list  #: what the table has for each id
    read: object  #: from the table and the names expected, to those found or to their number
    others: tuple = ()  #: rows with an id of their own, which is not among those found


def table_of(role, ids):
    """Make a table with `ids` in a column of the type that pandas gives such a list."""
    alone = len({type(one) for one in ids}) == 1 and not role.others
    cells = [row[role.column] for row in role.others]
    cells += [one for one in ids for _ in role.rows]
    table = pd.DataFrame([*role.others, *(row for _ in ids for row in role.rows)])
    return table.assign(**{role.column: pd.Series(cells, dtype=None if alone else object)})


def counts(table, **columns):
    return bj.prevalence.Counts.from_frame(table, calibration="random", **columns)


def shifts(table, **columns):
    return bj.bias.Shifts.from_frame(table, scale=(1, 5), design="item", **columns)


def votes(table, **columns):
    given = {"item": "item", "generator": None, "truth": None} | columns
    return bj.panel.Votes.from_frame(table, **given)


def scores(table, **columns):
    return bj.repeats.Scores.from_frame(table, scale=range(1, 6), **columns)


def ratings(table, judges):
    return bj.ratings.Ratings.from_frame(table, positive="yes", judges=judges)


VERDICTS = [
    {"verdict": "1", "truth": "1"},
    {"verdict": "0", "truth": "0"},
    {"verdict": "1", "truth": None},
]
VOTES = [{"judge": "a", "vote": "1"}, {"judge": "b", "vote": "0"}]
PAIR = [{"variant": "baseline", "score": 3.0}, {"variant": "bold", "score": 4.0}]
SCORES = [{"score": 4.0}, {"score": 5.0}]
ROLES = {
    "prevalence.Counts, by": Role("system", VERDICTS, lambda t, _: counts(t, by="system").systems),
    "prevalence.Counts, stratum": Role(
        "kind", VERDICTS, lambda t, _: counts(t, stratum="kind").systems
    ),
    "prevalence.Counts, item": Role(
        "item",
        VERDICTS[2:],
        lambda t, _: int(counts(t, item="item").test_n),
        (VERDICTS[0] | {"item": "labelled, good"}, VERDICTS[1] | {"item": "labelled, bad"}),
    ),
    "panel.Votes, item": Role("item", VOTES, lambda t, _: votes(t).n_items),
    "panel.Votes, item of a wide table": Role(
        "item", [{"a": "1", "b": "0"}], lambda t, _: votes(t, judges=["a", "b"]).n_items
    ),
    "panel.Votes, generator": Role(
        "generator",
        [row | {"item": "x"} for row in VOTES],
        lambda t, _: votes(t, generator="generator").generators,
    ),
    "panel.Votes, judge": Role(
        "judge",
        [{"item": "x", "vote": "1"}, {"item": "y", "vote": "0"}],
        lambda t, _: votes(t).judges,
    ),
    "bias.Shifts, item": Role("item", PAIR, lambda t, _: shifts(t).items),
    "bias.Shifts, judge": Role(
        "judge",
        [row | {"item": item} for item in "xy" for row in PAIR],
        lambda t, _: shifts(t, judge="judge").judges,
    ),
    "bias.Shifts, variant": Role(
        "variant",
        [{"item": item, "score": 4.0} for item in "xy"],
        lambda t, _: shifts(t).perturbations,
        tuple({"item": item, "variant": "baseline", "score": 3.0} for item in "xy"),
    ),
    "bias.Orders, judge": Role(
        "judge",
        [{"order1": 1, "order2": 2}],
        lambda t, _: bj.bias.Orders.from_frame(t, judge="judge").judges,
    ),
    "repeats.Scores, item": Role("item", SCORES, lambda t, _: scores(t, item="item").items),
    "repeats.Scores, judge": Role(
        "judge", SCORES, lambda t, _: scores(t, item=None, judge="judge").judges
    ),
    "ratings.Ratings, item": Role(
        "item",
        [{"rater": "ann", "choice": "yes"}, {"rater": "gpt", "choice": "no"}],
        lambda t, _: ratings(t, ["gpt"]).items,
    ),
    "ratings.Ratings, rater": Role(
        "rater",
        [{"item": "x", "choice": "yes"}],
        lambda t, names: ratings(t, names).judges,
        ({"item": "x", "rater": "ann", "choice": "no"},),
    ),
}
each_role = pytest.mark.parametrize("role", ROLES.values(), ids=list(ROLES))

#: Ids that a number would make one of, or another of.
APART = {
    "snowflakes": SNOWFLAKES,
    "snowflakes as text": list(map(str, SNOWFLAKES)),
    "leading zeros": ["007", "7", "07"],
    "exponents": ["1e3", "1000", "1E3"],
    "points": ["1.0", "1", "1.00"],
    "truth values in words": ["True", "1", "true", "0", "False"],
    "underscores and signs": ["1_000", "1000", "+5", "5", "-0", "0"],
    "infinities": ["inf", "1e999", "Infinity"],
    "a truth value and a number": [True, 1, 2],
}


def check(role, table, names):
    found = role.read(table, names)
    if isinstance(found, int):
        assert found == len(names)
    else:
        assert sorted(found) == sorted(names)


@pytest.mark.fast_one_in(24)
@each_role
@pytest.mark.parametrize("ids", APART.values(), ids=list(APART))
def test_ids_that_differ_stay_apart(role, ids):
    check(role, table_of(role, ids), list(map(str, ids)))


@pytest.mark.fast_one_in(13)
@each_role
@pytest.mark.parametrize("ids", [["007", "7"], ["True", "1"], SNOWFLAKES], ids=str)
@pytest.mark.parametrize("kind", [pl.from_pandas, pa.Table.from_pandas], ids=["polars", "arrow"])
def test_ids_stay_apart_in_tables_of_every_kind(role, ids, kind):
    if role.others:  # these have words beside the ids, and a column one type
        ids = list(map(str, ids))
    check(role, kind(table_of(role, ids)), list(map(str, ids)))


FLOATS = {
    "whole": ([1.0, 2.0, 30.0], ["1", "2", "30"]),
    "whole and of 32 bits": (list(np.array([1, 2**24 - 1], np.float32)), ["1", "16777215"]),
    "fractions": ([0.5, 0.7, 1.0], ["0.5", "0.7", "1"]),
    "beside words": ([1, "a", "007", 2.0], ["1", "a", "007", "2"]),
}


@pytest.mark.fast_one_in(9)
@each_role
@pytest.mark.parametrize(("ids", "names"), FLOATS.values(), ids=list(FLOATS))
def test_floats_that_missing_values_made_are_the_ids_again(role, ids, names):
    check(role, table_of(role, ids), names)


@each_role
def test_floats_that_have_lost_digits_are_refused(role):
    table = table_of(role, [float(one) for one in (*SNOWFLAKES[:1], 2**60, 5)])
    with refused(id="ids-as-floats", column=role.column):
        role.read(table, ["5"])


@pytest.mark.fast_one_in(3)
@each_role
@pytest.mark.parametrize("empty", [None, float("nan"), "", "  "], ids=repr)
def test_an_empty_cell_is_nobodys_name(role, empty):
    table = table_of(role, ["a", "b", empty])
    if role.column == "judge" and "vote" in table:  # where it means that nobody voted
        table = table.assign(vote=["1", "0"] * 3)
        match = "votes have no judge"
    else:
        match = f"column '{role.column}' has [1-9] empty cells"
    with pytest.raises(bj.InputError, match=match):
        role.read(table, ["a", "b"])


@pytest.mark.fast_one_in(2)
@each_role
def test_an_empty_table_is_refused_in_words(role):
    with pytest.raises(bj.InputError):
        role.read(table_of(role, ["a"]).iloc[:0], ["a"])


def test_integers_with_nulls_keep_their_digits():
    """Panel takes a row without a judge for an item that nobody voted on."""
    rows = {"item": ["x"] * 40 + ["y"], "judge": [*SNOWFLAKES, None], "vote": [1] * 40 + [None]}
    nullable = pd.DataFrame(rows | {"judge": pd.array(rows["judge"], dtype="Int64")})
    for table in (pl.DataFrame(rows), pa.table(rows), nullable):
        assert votes(table).judges == tuple(map(str, SNOWFLAKES))


@pytest.mark.parametrize("where", ["a column", "the index"])
def test_a_table_of_counts_names_its_systems_alike(where):
    made = pd.DataFrame([(9, 5, 5, 4, 5, 4)] * 2, columns=bj.prevalence.data.FIELDS)
    made = made.assign(system=[1.0, 2.0])
    made = made if where == "a column" else made.set_index("system")
    about = {"calibration": "random", "system": "system" if where == "a column" else None}
    assert bj.prevalence.Counts.from_counts(made, **about).systems == ("1", "2")
    with pytest.raises(bj.InputError, match="1 empty cells"):
        bj.prevalence.Counts.from_counts(
            made.reset_index().replace(2.0, np.nan), **about | {"system": "system"}
        )


NAMELESS = {
    "prevalence": lambda name: bj.prevalence.Counts(
        *([n, n] for n in (9, 5, 5, 4, 5, 4)), calibration="random", systems=["a", name]
    ),
    "panel, judges": lambda name: bj.panel.Votes([[1, 0]], [1], [0], ["g"], ["a", name]),
    "panel, generators": lambda name: bj.panel.Votes(
        [[1], [0]], [1, 0], [0, 1], ["a", name], ["judge"]
    ),
    "bias, judges": lambda name: bj.bias.Shifts.from_differences([0], scale=(1, 5), judge=name),
    "bias, perturbations": lambda name: bj.bias.Shifts.from_differences(
        [0], scale=(1, 5), perturbation=name
    ),
    "bias, orders": lambda name: bj.bias.Orders(np.ones((2, 3, 3)), judges=["a", name]),
    "repeats, items": lambda name: bj.repeats.Scores([[[1, 1]]] * 2, [0, 1], ["a", name], ["j"]),
    "repeats, judges": lambda name: bj.repeats.Scores([[[1, 1]] * 2], [0, 1], ["i"], ["a", name]),
    "ratings, items": lambda name: bj.ratings.Ratings(
        [[[1, 1], [1, 1]]], ["yes", "no"], "yes", items=["a", name]
    ),
    "ratings, sources": lambda name: bj.ratings.Ratings(
        [[[1, 1]], [[1, 1]]], ["yes", "no"], "yes", sources=["people", name]
    ),
}


@pytest.mark.parametrize("make", NAMELESS.values(), ids=list(NAMELESS))
def test_nothing_has_an_empty_name(make):
    make("b")
    for name in ("", " "):
        with pytest.raises(bj.InputError, match="empty name"):
            make(name)


def test_joined_names_of_two_judges_are_not_one():
    table = pd.DataFrame({"llm": ["a, b", "a"], "prompt": ["c", "b, c"]})
    with refused("a, b, c", id="names-repeat"):
        bj.bias.Orders.from_frame(table.assign(order1=1, order2=1), judge=["llm", "prompt"])


# The command line ---------------------------------------------------------------------------------


def listed(key):
    return lambda document: len(document["inputs"][key].split(", "))


def counted(document):
    return document["inputs"]["items"]


#: By module: the role, the command that reads it, and how many names its document tells of.
COMMANDS = {
    "prevalence": (
        "prevalence.Counts, by",
        "prevalence {} --verdict verdict --truth truth --calibration random --by system",
        listed("systems"),
    ),
    "panel": ("panel.Votes, generator", "panel {}", listed("generators")),
    "bias": ("bias.Shifts, item", "bias {} --scale 1-5 --design item", counted),
    "repeats": ("repeats.Scores, item", "repeats report {} --scale 1-5 --item item", counted),
    "ratings": (
        "ratings.Ratings, item",
        "ratings {} --positive yes --judge gpt",
        counted,
    ),
}
FILES = {
    "t.csv": lambda table, path: table.to_csv(path, index=False),
    "t.parquet": lambda table, path: table.to_parquet(path),
    "t.jsonl": lambda table, path: table.to_json(path, orient="records", lines=True),
}


@pytest.fixture
def told(tmp_path, monkeypatch, capsys):
    """Write ids to a file, run the command of a module on it, and count the names it tells of."""
    monkeypatch.chdir(tmp_path)

    def call(module, file, ids):
        role, command, names = COMMANDS[module]
        table = table_of(ROLES[role], ids)
        table = table.assign(item="x") if module == "panel" else table
        FILES[file](table, tmp_path / file)
        code = main([*command.format(file).split(), "--no-nuts", "--json"])
        done = capsys.readouterr()
        assert code == 0, done.err
        return names(json.loads(done.out))

    return call


@pytest.mark.slow
@pytest.mark.parametrize("module", COMMANDS)
@pytest.mark.parametrize("file", FILES)
def test_ids_stay_apart_from_file_to_document(told, module, file):
    assert told(module, file, ["007", "7", "1e3", "1000", "True", "1"]) == 6
    assert told(module, file, SNOWFLAKES[:3]) == 3


@pytest.mark.parametrize("file", ["t.csv", "t.parquet", "t.jsonl"])
def test_float_ids_of_a_file_are_the_ids_of_the_table(tmp_path, file):
    """Ids 1 and 2 are those ids also where missing values made 1.0 and 2.0 of them."""
    table = table_of(ROLES["prevalence.Counts, by"], [1.0, 2.0])
    if file == "t.csv":
        table = table.astype({"system": int})
    FILES[file](table, tmp_path / file)
    read = read_table(tmp_path / file, ["system", "verdict", "truth"])
    assert counts(read, by="system").systems == ("1", "2")


def test_json_numbers_of_every_kind_keep_their_digits(tmp_path):
    path = tmp_path / "ids.jsonl"
    ids = [
        '"007"',
        "7",
        "1788888888888888001",
        "1788888888888888002.0",
        "17888888888888880011",
        "true",
    ]
    path.write_text(
        "".join(f'{{"item": {one}, "score": {i % 2}.5}}\n' for i, one in enumerate(ids))
    )
    table = read_table(path, ["item"], numbers=["score"])
    expected = ["007", "7", "1788888888888888001", "1788888888888888002", "17888888888888880011"]
    assert table["item"].to_pylist() == [*expected, "True"]
    assert table["score"].to_pylist() == [0.5, 1.5] * 3


@pytest.mark.slow
def test_ids_of_a_spreadsheet_stay_apart(tmp_path):
    pytest.importorskip("openpyxl")
    ids = ["007", "7", "1e3", 1000, "True", True, str(SNOWFLAKES[0]), str(SNOWFLAKES[1])]
    for role in ROLES.values():
        table_of(role, ids[:-3] + ids[-2:]).to_excel(tmp_path / "t.xlsx", index=False)
        read = pd.read_excel(tmp_path / "t.xlsx")
        check(role, read, list(map(str, ids[:-3] + ids[-2:])))
