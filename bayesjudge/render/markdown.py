"""A page as Markdown, for a pull request or a job summary."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bayesjudge.core.screen import visible_line
from bayesjudge.render.page import Page, Table, once

HELP = "Write the same as Markdown, for a pull request or a job summary; `-` writes to the screen."
#: What Markdown would read as more than text: anywhere, about words, after a bracket, in front.
SPECIAL = re.compile(
    r"[\\`*~|$]|(?<![^\W_])_|_(?![^\W_])|(?<=\])[(\[]|^[\[>]|^[#+-](?=[#+-]*(?: |$))",
)


def to_markdown(page: Page) -> str:
    """Write the finding, its numbers, cautions and method; pictures are left out."""
    lines = [f"# {_literal(page.title)}", ""]
    if page.sentence:
        about = " ".join([page.about, *page.notes])
        lines += [f"**{_literal(page.sentence)}**", "", _literal(about), ""]
    bold = any(line.quoted for line in page.numbers.lines)
    lines += [*_table(page.numbers), ""]
    lines += [_literal(page.below) + " The methods in bold are quoted." * bold]
    named = {
        "Assumptions": page.assumptions,
        "Items": page.targets,
        "Sampling": page.settings,
        "Sources": page.sources,
    }
    sections = {
        "Cautions": [f"**{_literal(id)}**: {_literal(text)}" for id, text in once(page.cautions)],
        **{_literal(s.heading): list(map(_literal, [*s.lines, *s.further])) for s in page.sections},
        "What was read": [f"{_literal(name)}: {_literal(value)}" for name, value in page.read],
        **{
            heading: [_literal(": ".join(pair)) for pair in pairs]
            for heading, pairs in named.items()
        },
    }
    for heading, items in sections.items():
        if items:
            lines += ["", f"## {heading}", "", *[f"- {item}" for item in items]]
    if page.others.lines:
        lines += ["", "## Other numbers", "", *_table(page.others)]
    if page.paragraph:
        lines += ["", "## For a paper or a model card", "", _literal(page.paragraph)]
    if page.line:
        lines += ["", f"Made by {_literal(page.line)}"]
    return "\n".join(lines) + "\n"


def _table(table: Table) -> list[str]:
    """Lines of a Markdown table; the quoted method in bold."""
    rows: list[Sequence[str]] = [list(map(_literal, table.columns)), ["---"] * len(table.columns)]
    for line in table.lines:
        cells = list(map(_literal, line.cells))
        if line.quoted:
            at = list(table.columns).index("method")
            cells[at] = f"**{cells[at]}**"
        rows.append(cells)
    return ["| " + " | ".join(cells) + " |" for cells in rows]


def _literal(text: object) -> str:
    """Markdown that shows `text` as it is, on one line: names and texts come from anywhere.

    An underscore inside a word and a bracket that starts no link mean nothing: they stay legible.
    """
    line = visible_line(" ".join(str(text).split()))
    line = re.sub(r"&(?=#?\w+;)", "&amp;", line).replace("<", "&lt;")
    return SPECIAL.sub(r"\\\g<0>", line)
