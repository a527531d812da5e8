"""One value of what a command found, and what writes it: a screen, HTML, Markdown, JSON, JUnit XML.

A `Page` knows no module, and what writes it knows pages only: a new format is one file here.
"""

from bayesjudge.render.page import Page, report

__all__ = ["Page", "report"]


def __dir__() -> list[str]:
    return list(__all__)
