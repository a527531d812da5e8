"""Columns may be called anything, the code's own words included; names say what they hold."""

import re
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest
from readings import files_run_by, public_readers, readings, same, words

import bayesjudge as bj

READINGS = readings()


def test_every_public_reader_is_read():
    called = {f"{r.function.__module__}.{r.function.__qualname__}" for r in READINGS.values()}
    called |= {
        # called with a table and more
        "bayesjudge.decide.drift.drift",
        "bayesjudge.decide.watch.Watch.look",
        "bayesjudge.decide.shopping.Pilot.from_frame",
        "bayesjudge.panel.data.Votes.with_labels",
        "bayesjudge.prevalence.data.Counts.with_labels",
    }
    assert {*public_readers()} <= called


def renamed(one, names, at):
    """Each column that is read by the next of some names; the others are not called any of them."""
    used = {column: names[(at + i) % len(names)] for i, column in enumerate(one.used)}
    return {column: f"other: {column}" for column in one.table.columns} | used


def misread(one, names, every):
    """Names under which columns are read otherwise."""
    expected, found = one.of(one.table), {}
    for at in range(0, len(names), every):
        name_of = renamed(one, names, at)
        try:
            wrong = same(one.of(one.table.rename(columns=name_of), name_of), expected)
        except Exception as error:
            wrong = [f"{type(error).__name__}: {error}"[:200]]
        if wrong:
            found[tuple(name_of.items())] = wrong[:2]
    return found


@contextmanager
def perhaps_no_column():
    """Allow that a column is refused, and nothing else."""
    try:
        yield
    except bj.InputError as error:
        if not error.has("no-column", "numbered-column"):
            raise


@pytest.mark.slow
@pytest.mark.parametrize("name", READINGS)
def test_columns_that_numbers_name(name):
    one = READINGS[name]
    numbered = {column: i for i, column in enumerate(one.table.columns, start=1)}
    with perhaps_no_column():
        assert not same(one.of(one.table.rename(columns=numbered), numbered), one.of(one.table))
    beside = one.table.assign(**{"0": one.table[one.used[0]]}).rename(columns={"0": 0})
    assert not same(one.of(beside), one.of(one.table))


#: A reading tries one of so many of its words, the next reading the next one: readings share most
#: words, so that nearly all have their turn. The study tries every word with every reading.
TURNS = 5


def own_words(name):
    """A share of the words of the files that read a table."""
    one = READINGS[name]
    return words(files_run_by(lambda: one.of(one.table)))[[*READINGS].index(name) % TURNS :: TURNS]


@pytest.mark.slow
@pytest.mark.parametrize("name", READINGS)
def test_a_column_may_be_called_like_what_the_code_calls_its_own(name):
    assert not misread(READINGS[name], own_words(name), every=len(READINGS[name].used))


@pytest.mark.study
@pytest.mark.parametrize("name", READINGS)
def test_each_column_may_be_called_each_of_the_codes_words(name):
    assert not misread(READINGS[name], words(), every=1)


#: Words that say how a value came to be, and not what it is.
NO_NOUNS = re.compile("_?(told|made|found|own|one)")


def names_in(code):
    """Names in compiled code, of what it defines too."""
    inner = [names_in(const) for const in code.co_consts if isinstance(const, type(code))]
    return {code.co_name, *code.co_names, *code.co_varnames}.union(*inner)


@pytest.mark.slow
def test_names_say_what_they_hold():
    files = map(str, Path(bj.__file__).parent.rglob("*.py"))
    names = {path: names_in(SourceFileLoader("", path).get_code("")) for path in files}
    bad = {path: [*filter(NO_NOUNS.fullmatch, some)] for path, some in names.items()}
    assert not {path: some for path, some in bad.items() if some}
