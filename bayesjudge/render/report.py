"""`report`: the page of results as Markdown or as HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from bayesjudge.core.answer import Answer
from bayesjudge.core.errors import expect
from bayesjudge.core.estimate import Estimate, Interval, Target
from bayesjudge.core.fit import Fit
from bayesjudge.render.html import to_html
from bayesjudge.render.markdown import to_markdown
from bayesjudge.render.page import Section, page_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def report(
    *results: Estimate | Fit,
    ci_prob: float = 0.95,
    interval: Interval | None = None,
    target: Target | None = None,
    digits: int = 3,
    title: str = "bayesjudge report",
    output: Literal["markdown", "html"] = "markdown",
    figures: Mapping[str, Figure] | None = None,
    notes: Mapping[str, Sequence[str]] | None = None,
    answer: Answer | None = None,
    inputs: Mapping[str, Any] | None = None,
    command: str | None = None,
) -> str:
    """Write the answer, then results with their cautions, assumptions, settings and sources.

    Parameters
    ----------
    *results : Estimate or Fit
        What to report.
    ci_prob : float, default 0.95
        Probability of every interval.
    interval : {"eti", "hdi", "eti_bounded"}, optional
        Kind of interval of the fits; by default the one that suits each fit's model.
    target : {"population", "items"}, optional
        Which items the fits are asked about; by default what suits each fit's model.
    digits : int, default 3
        Decimals shown.
    title : str
        Heading.
    output : {"markdown", "html"}
        Text, or a page that needs no other file.
    figures : mapping of str to matplotlib.figure.Figure, optional
        Pictures for the page, by caption. Markdown has none.
    notes : mapping of str to sequence of str, optional
        Further sections before the pictures: paragraphs by heading.
    answer : Answer, optional
        What the results say; by default the ``answer`` of their module.
    inputs : mapping, optional
        What was read, by name: file, items, labels.
    command : str, optional
        The command line that made it.

    Returns
    -------
    str
        The report. A fit that was saved and loaded gives the same one.

    Raises
    ------
    InputError
        If nothing was given, an estimate was made at another probability, or `output` is
        unknown.
    """
    expect("report", output in ("markdown", "html"), "must be markdown or html", output=output)
    asked: dict[str, Any] = {"ci_prob": ci_prob, "interval": interval, "target": target}
    sections = [Section(heading, lines) for heading, lines in (notes or {}).items()]
    about: dict[str, Any] = {"title": title, "inputs": inputs or {}, "line": command or ""}
    about |= {"sections": sections, "pictures": lambda: figures or {}}
    page = page_of(results, **asked, digits=digits, answer=answer, **about)
    return to_markdown(page) if output == "markdown" else to_html(page)
