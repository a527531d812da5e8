"""A page as one HTML file that needs no other."""

from __future__ import annotations

import warnings
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from bayesjudge.core.estimate import in_words
from bayesjudge.core.version import __version__
from bayesjudge.render.page import Page, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Width of the picture that a phone shows, in inches.
PHONE = 4.4


def to_html(page: Page) -> str:
    """Write heading, picture, what was read, table, cautions and method."""
    from jinja2 import Environment

    text = files("bayesjudge.render").joinpath("templates/page.html").read_text()
    summary = page.sentence or page.title
    drawn = [_drawn(i, *one, summary) for i, one in enumerate(page.pictures().items())]
    bold = any(line.quoted for line in page.numbers.lines)
    return (
        Environment(autoescape=True)
        .from_string(text)
        .render(
            page=page,
            figures=drawn,
            first=_legible(page.numbers, page.pass_name),
            others=_legible(page.others, page.pass_name),
            below=page.below + " The rows in bold are quoted above." * bold,
            version=__version__,
        )
    )


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
    caption = cells[0][0] if names[0] == "quantity" and len({c[0] for c in cells}) == 1 else ""
    start = 1 if caption else 0  # what all rows are about stands above them: phones are narrow
    rows = [line._replace(cells=c[start:]) for line, c in zip(lines, cells, strict=True)]
    return {"caption": caption, "columns": names[start:], "rows": rows, "numbers": table.numbers}


def _drawn(number: int, caption: str, figure: Figure, summary: str) -> dict[str, Any]:
    """A figure for the page: as it is, and drawn again for a phone."""
    from bayesjudge.core.plots import as_svg, write_title

    alt = f"{caption}. {summary}" if number == 0 else caption
    wide = as_svg(figure, f"wide{number}", alt)
    width, height = figure.get_size_inches()
    if width <= PHONE:
        return {"caption": caption, "drawings": {"every": wide}}
    titles = {ax: ax.get_title(loc="left") for ax in figure.axes}
    lines = max((title.count("\n") for title in titles.values()), default=0)
    figure.set_size_inches(PHONE, max(height + 0.25 * lines, 0.55 * PHONE))
    for ax, title in titles.items():
        write_title(ax, title)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="constrained_layout not applied")
        try:
            narrow = as_svg(figure, f"narrow{number}", alt)
        except UserWarning:  # its labels alone are wider than a phone: it is shrunk
            narrow = ""
    figure.set_size_inches(width, height)
    for ax, title in titles.items():
        write_title(ax, title)
    both = {"wide": wide, "narrow": narrow} if narrow else {"every": wide}
    return {"caption": caption, "drawings": both}
