"""Text of a value that fits on a screen, however much it holds."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, TextIO

#: Lines of a value's text, and their length.
LINES, WIDTH = 25, 100
#: Width of text that goes to a file or a pipe, where no terminal says one.
PLAIN_WIDTH = 120
#: A space at which no line ends.
NO_BREAK = "\N{NO-BREAK SPACE}"
#: Names and rows that are shown, before the number of those that are not.
NAMES, ROWS = 8, 12
#: Commands to a terminal, and marks that turn the direction of text.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class Shown:
    """What a notebook shows as it is printed."""

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


#: What a spreadsheet takes for the beginning of a formula, also in its wide form.
FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def inert(value: Any) -> Any:
    """A cell of a CSV file that no spreadsheet runs: text like a formula gets an apostrophe.

    It may come from a model. A carriage return is a line end, since Python before 3.13 writes it
    without quotes.
    """
    if not isinstance(value, str):
        return value
    formula = value.startswith(FORMULA) and not NUMBER.fullmatch(value)
    return ("'" * formula + value).replace("\r\n", "\n").replace("\r", "\n")


def visible_line(text: str) -> str:
    """Write control characters out: a name may come from a model, and a terminal obeys."""
    return CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def visible(text: str) -> str:
    """`visible_line` of each line."""
    return "\n".join(map(visible_line, text.split("\n")))


def width_of(stream: TextIO) -> int:
    """Columns of a line: those of ``COLUMNS``, of the terminal, or of plain text."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    return shutil.get_terminal_size().columns if stream.isatty() else PLAIN_WIDTH


def as_wide_as(stream: TextIO, text: str, *, piped: bool = False) -> str:
    """Break lines where the terminal ends; text for a file keeps its lines, unless `piped` too."""
    shown = visible(text)
    if not (piped or stream.isatty()):
        return shown
    return "\n".join(_broken(line, max(width_of(stream) - 1, 40)) for line in shown.split("\n"))


def read_no_more() -> None:
    """Write what follows nowhere: the reader of stdout, such as `head`, has seen enough."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _broken(line: str, width: int) -> str:
    """A line in several, indented; of a command each but the last ends as the shell wants it."""
    if len(line) <= width:
        return line
    start = len(line) - len(line.lstrip())
    if line[start:].startswith("bayesjudge "):
        command, *does = re.split(r"(?<=\S) {3,}", line)
        about = [" " * (start + 4) + text for text in does]
        return "\n".join([*continued(command, width), *about])
    return "\n".join(in_lines(line, width, later=" " * (start + 2)))


def in_lines(text: str, width: int, *, first: str = "", later: str = "") -> list[str]:
    """A text in lines, which begin with `first` and `later`.

    Names and options stay whole, and a number keeps its sign and its unit.
    """
    whole = text.replace(" %", f"{NO_BREAK}%").replace("± ", f"±{NO_BREAK}")
    lines = textwrap.wrap(
        whole, width, initial_indent=first, subsequent_indent=later, break_on_hyphens=False
    )
    return [line.replace(NO_BREAK, " ") for line in lines]


def continued(command: str, width: int) -> list[str]:
    """A command in lines that a shell joins, broken before its options."""
    later = " " * (len(command) - len(command.lstrip()) + 2)
    first, *options = re.split(" (?=--)", command)
    lines = [first]
    for option in options:
        quoted = lines[-1].count("'") % 2
        if quoted or len(lines[-1]) + len(option) + 3 <= width:
            lines[-1] += f" {option}"
        else:
            lines[-1] += " \\"
            lines.append(later + option)
    return lines


#: Verbs that change with the number otherwise than by an s.
OF_ONE = {"have": "has", "are": "is", "were": "was", "do": "does"}


def how_many(number: int, noun: str, verb: str = "") -> str:
    """``1 item``, ``1,200 items``; with a verb ``1 row has``, ``3 rows have``."""
    if number == 1:
        return f"1 {noun} {OF_ONE.get(verb, verb and verb + 's')}".rstrip()
    return f"{number:,} {noun}s {verb}".rstrip()


def few(names: Sequence[Any], most: int = NAMES) -> str:
    """The first names, and how many more there are."""
    shown = [_short(str(name), 40) for name in names[:most]]
    more = [f"and {len(names) - most:,} more"] if len(names) > most else []
    return ", ".join([*shown, *more])


def first_of(parts: Sequence[str], most: int) -> list[str]:
    """The first parts of a list, and how many more there are as its last."""
    return [*parts[:most], *([f"{len(parts) - most} more"] * (len(parts) > most))]


def as_words(option: str, values: Sequence[str]) -> list[str]:
    """An option and its values as a shell's words: one that begins with a minus is tied to it."""
    plain = [value for value in values if not value.startswith("-")]
    tied = [f"{option}={value}" for value in values if value.startswith("-")]
    return [*([option, *plain] if plain else []), *tied]


def fitted(lines: Iterable[str]) -> str:
    """Lines cut to the width of a screen, and to its height."""
    cut = [_short(line, WIDTH) for text in lines for line in (text.splitlines() or [""])]
    if len(cut) > LINES:
        cut = [*cut[: LINES - 1], f"… {len(cut) - LINES + 1:,} more lines"]
    return "\n".join(cut)


class Printed(Shown):
    """What is shown in a console and in a notebook as it is printed, line by line."""

    def __repr__(self) -> str:
        return fitted(str(self).splitlines())


def rows(cells: Sequence[Sequence[str]], total: int) -> list[str]:
    """Aligned lines of a table's head and first rows, and how many more there are."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in cells]
    more = [f"… {total - len(cells) + 1:,} more"] if total >= len(cells) else []
    return [line.rstrip() for line in lines] + more


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
