"""Tables of which little is left: each command answers or refuses, and prints no ``nan``."""

import re

import pytest
from commands import commands, run

NAMES = list(commands())


def poorer(command):
    """The table with one row, and with each column of one value, or empty, by what was done."""
    table = command.table
    yield "one row", table.head(1)
    each = [[names] if isinstance(names, str) else names for names in command.columns.values()]
    for column in [name for names in each for name in names]:
        first = table[column].dropna().iloc[0]
        yield f"{column} of its first value", table[table[column] == first]
        yield f"{column} empty", table.assign(**{column: None})


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_poor_table_is_answered_or_refused_in_words(name, tmp_path):
    path = tmp_path / "poor.csv"
    command = commands()[name]
    line = [word for word in command.line(path) if word != "--json"]
    answered = 0
    for done, table in poorer(command):
        table.to_csv(path, index=False)
        code, text, told = run(line)  # what is a fault of the package is raised
        assert code in (0, 1, 2, 3), done
        assert text or told, done
        assert not re.search(r"\bnan\b", text + told), done
        answered += code == 0
    assert answered or name == "gate"
