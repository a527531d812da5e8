"""A page as one HTML file that needs no other."""

from __future__ import annotations

import re
import warnings
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from bayesjudge.core.estimate import in_words
from bayesjudge.core.version import __version__
from bayesjudge.render.page import Page, Table, once

if TYPE_CHECKING:
    pass

HELP = "Write one page with answer, pictures and tables, in a single file."
ENDS = (".html", ".htm")
#: Width of the picture that a phone shows, in inches, and letters of a row's name there.
PHONE, LETTERS = 3.9, 20
#: What stands above a table, rather than in a column, if it is the same in every row.
ABOVE = ("quantity", "method", "interval")


def to_html(page: Page) -> str:
    """Write heading, picture, what was read, table, cautions and method."""
    from jinja2 import Environment

    text = files("bayesjudge.render").joinpath("templates/page.html").read_text()
    summary = page.sentence or page.title
    pictures = enumerate(page.pictures().items())
    drawn = [_drawn(i, caption, picture.figure, summary) for i, (caption, picture) in pictures]
    quoted = {(caution.id, caution.where) for caution in page.first_cautions}
    bold = len({line.quoted for line in page.numbers.lines}) > 1
    environment = Environment(autoescape=True)
    environment.filters["prose"] = _prose
    return environment.from_string(text).render(
        page=page,
        bold=bold,
        figures=drawn,
        cautions=once(page.first_cautions),
        more_cautions=once(c for c in page.cautions if (c.id, c.where) not in quoted),
        first=_legible(page.numbers, page.pass_name),
        others=_legible(page.others, page.pass_name),
        below=page.below + " Rows in bold are the numbers of the answer." * bold,
        version=__version__,
    )


def _prose(text: str) -> str:
    """A sentence in which numbers keep their unit and a command stands out."""
    from markupsafe import Markup, escape

    whole = str(escape(text)).replace(" %", "\N{NO-BREAK SPACE}%")
    return Markup(re.sub(r"`((?:bayesjudge |-)[^`]+)`", r"<code>\1</code>", whole))


def _legible(table: Table, pass_name: str) -> dict[str, Any] | None:
    """A table for the page: quantities in words, no column that is empty or says one name."""
    columns, lines = table.columns, table.lines
    if not lines:
        return None
    filled = [i for i in range(len(columns)) if any(line.cells[i] for line in lines)]

    def shown(cells: Any) -> list[str]:
        read = dict(zip(columns, cells, strict=True))
        if "quantity" in read:
            classes = read["quantity"] == "prevalence" and "class" in read
            read["quantity"] = in_words("share" if classes else read["quantity"], pass_name)
        return [read[columns[i]] for i in filled]

    cells = [shown(line.cells) for line in lines]
    names = [columns[i] for i in filled]
    alike = [i for i, name in enumerate(names) if name in ABOVE and len({c[i] for c in cells}) == 1]
    caption = ", ".join(cells[0][i] for i in alike)
    kept = [i for i in range(len(names)) if i not in alike] or alike
    rows = [line._replace(cells=[c[i] for i in kept]) for line, c in zip(lines, cells, strict=True)]
    head = [names[i] for i in kept]
    return {"caption": caption, "columns": head, "rows": rows, "numbers": table.numbers}


def _drawn(number: int, caption: str, figure: Any, summary: str) -> dict[str, Any]:
    """A figure for the page: as it is, and drawn again for a phone."""
    from bayesjudge.core.plots import as_svg, for_a_phone, write_title

    alt = f"{caption}. {summary}" if number == 0 else caption
    if number == 0:  # its title is the heading of the page
        for ax in figure.axes:
            write_title(ax, "")
    wide = as_svg(figure, f"wide{number}", alt)
    if figure.get_size_inches()[0] <= PHONE:
        return {"caption": caption, "drawings": {"every": wide}}
    for_a_phone(figure, PHONE, LETTERS)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="constrained_layout not applied")
        try:
            narrow = as_svg(figure, f"narrow{number}", alt)
        except UserWarning:  # its labels alone are wider than a phone: it is shrunk
            narrow = ""
    both = {"wide": wide, "narrow": narrow} if narrow else {"every": wide}
    return {"caption": caption, "drawings": both}
