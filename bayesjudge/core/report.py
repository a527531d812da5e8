"""Results side by side, as a table, as Markdown and as one self-contained page."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from bayesjudge.core.answer import Answer, answer_of, as_estimates, entries
from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import (
    COUNTS,
    TARGETS,
    Caution,
    Estimate,
    Interval,
    Row,
    Target,
    in_words,
    pass_name_in,
)
from bayesjudge.core.fit import Fit
from bayesjudge.core.methods import Method
from bayesjudge.core.screen import visible_line
from bayesjudge.core.version import __version__

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

#: Most rows of all methods before the other numbers; of more, the quoted ones only.
MOST_FIRST = 16
NUMBERS = ["value", "low", "high", "width"]
#: What Markdown would read as more than text: anywhere, about words, after a bracket, in front.
SPECIAL = re.compile(
    r"[\\`*~|$]|(?<![^\W_])_|_(?![^\W_])|(?<=\])[(\[]|^[\[>]|^[#+-](?=[#+-]*(?: |$))",
)


def side_by_side(
    *results: Estimate | Fit,
    ci_prob: float = 0.95,
    interval: Interval | None = None,
    target: Target | None = None,
) -> pd.DataFrame:
    """Put closed forms and posteriors in one table, as equals.

    Parameters
    ----------
    *results : Estimate or Fit
        At least one. A fit is summarised at `ci_prob`; an estimate must have been made at it.
    ci_prob : float, default 0.95
        Probability of every interval in the table.
    interval : {"eti", "hdi", "eti_bounded"}, optional
        Kind of interval of the fits; by default the one that suits each fit's model.
    target : {"population", "items"}, optional
        Which items the fits are asked about; by default what suits each fit's model.

    Returns
    -------
    pandas.DataFrame
        Columns ``quantity``, one a dimension (``system``, ``judge``, …), ``method``, ``value``,
        ``low``, ``high``, ``width`` (of the interval, in the quantity's units) and ``interval``;
        quantities in the order in which they first occur, methods in the order given.

    Raises
    ------
    InputError
        If nothing was given, or an estimate was made at another probability.

    Examples
    --------
    >>> one = Estimate({"prevalence": (0.5, 0.4, 0.6)}, method="Wilson", ci_prob=0.95,
    ...                source="Wilson (1927)")
    >>> side_by_side(one)[["quantity", "method", "value", "width"]].round(2).to_dict("records")
    [{'quantity': 'prevalence', 'method': 'Wilson', 'value': 0.5, 'width': 0.2}]
    """
    import pandas as pd

    found = records(*results, ci_prob=ci_prob, interval=interval, target=target)
    dims = list(dict.fromkeys(d for one in found for d in one.where))
    rows = [
        [
            one.quantity,
            *(one.where.get(d, "") for d in dims),
            one.method.title,
            *one.numbers,
            one.interval,
        ]
        for one in found
    ]
    table = pd.DataFrame(rows, columns=["quantity", *dims, "method", *NUMBERS, "interval"])
    table.attrs["pass_name"] = pass_name_in(results)
    return table


def compare_results(*results: Estimate | Fit, ci_prob: float = 0.95) -> pd.DataFrame:
    """`side_by_side`, with what each method assumes and which cautions contradict that.

    Columns ``assumes`` (in words), ``suited`` (False if the label design does not grant the method)
    and ``contradicted_by`` (names of cautions).
    """
    made = as_estimates(results, ci_prob, None, None)
    table = side_by_side(*made, ci_prob=ci_prob)
    about = {
        one.method.title: (
            "; ".join(a.text for a in one.assumptions),
            all(c.name != "design-mismatch" for c in one.cautions),
            ", ".join(dict.fromkeys(n for a in one.assumptions for n in a.contradicted_by)),
        )
        for one in made
    }
    for i, column in enumerate(("assumes", "suited", "contradicted_by")):
        table[column] = [about[method][i] for method in table["method"]]
    return table


class Record(NamedTuple):
    """One entry of one result."""

    quantity: str
    where: dict[str, Hashable]
    method: Method
    row: Row
    interval: str

    @property
    def entry(self) -> tuple[Hashable, ...]:
        """Quantity and coordinates."""
        return (self.quantity, *self.where.values())

    @property
    def numbers(self) -> tuple[float, ...]:
        """Value, low, high and width."""
        return (*self.row, self.row.high - self.row.low)


def records(
    *results: Estimate | Fit,
    ci_prob: float = 0.95,
    interval: Interval | None = None,
    target: Target | None = None,
) -> list[Record]:
    """Entries of all results: those of one quantity and coordinates stand together."""
    found: dict[tuple[Hashable, ...], list[Record]] = {}
    for one in as_estimates(results, ci_prob, interval, target):
        for quantity, where, row in one.rows():
            kind = one.interval_of(quantity)
            record = Record(quantity, where, one.method, row, kind)
            found.setdefault(record.entry, []).append(record)
    return [record for same in found.values() for record in same]


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
    with checking("report") as require:
        require(output in ("markdown", "html"), f"output must be markdown or html, got {output!r}")
    made = as_estimates(results, ci_prob, interval, target)
    told = answer or answer_of(made, ci_prob=ci_prob, interval=interval)
    shown = records(*made, ci_prob=ci_prob, interval=interval)
    if told and not {one.entry for one in shown} & set(entries(told.quoted)):
        shown = [*records(told.quoted, ci_prob=ci_prob), *shown]  # computed from the results
    columns, rows = _cells(shown, digits, told)
    first = [row for row in rows if row.answers] if told else rows
    if told and len(first) > MOST_FIRST:
        first = [row for row in first if row.quoted]
    kept = set(map(id, first))
    parts: dict[str, Any] = {
        "title": title,
        "answer": told,
        "columns": columns,
        "first": first or rows,
        "others": [row for row in rows if id(row) not in kept] if first else [],
        "ci_prob": f"{ci_prob:.0%}" if round(ci_prob * 100, 6).is_integer() else f"{ci_prob:.1%}",
        "cautions": union_of_cautions(told, made),
        # pairs, not mappings: two fits of one method may differ in their priors
        "assumptions": _distinct(
            (one.method.title, "; ".join(map(str, one.assumptions))) for one in made
        ),
        "targets": _distinct((one.method.title, f"about {TARGETS[one.target]}") for one in made),
        "settings": [(one.method.title, _settings(one)) for one in results if isinstance(one, Fit)],
        "sources": _distinct((one.method.title, one.source) for one in made),
        "notes": {heading: list(lines) for heading, lines in (notes or {}).items()},
        "inputs": [(name, str(value)) for name, value in (inputs or {}).items()],
        "command": command,
    }
    if output == "markdown":
        return _markdown(**parts)
    below = f"{parts['ci_prob']} intervals."
    if told is None:
        return page(below=below, figures=figures, pass_name=pass_name_in(made), **parts)
    lead: dict[str, Any] = {
        "lead": told.notes,
        "about": f"{told.basis} {told.why}",
        "paragraph": told.paragraph(),
    }
    below += " The rows in bold are quoted above."
    name = pass_name_in(made)
    return page(heading=told.text, below=below, figures=figures, pass_name=name, **lead, **parts)


def union_of_cautions(told: Answer | None, results: Iterable[Estimate | Fit]) -> list[Caution]:
    """Cautions of the quoted numbers, then those of the results, each once."""
    first = () if told is None else told.cautions
    return list(dict.fromkeys([*first, *(c for one in results for c in one.cautions)]))


def page(
    *,
    title: str,
    columns: Sequence[str],
    first: Sequence[TableRow],
    below: str,
    others: Sequence[TableRow] = (),
    heading: str = "",
    pass_name: str = "",
    figures: Mapping[str, Figure] | None = None,
    numbers: Collection[str] = NUMBERS,
    **parts: Any,
) -> str:
    """One self-contained page: heading, picture, what was read, table, cautions, method.

    Further `parts` are optional: ``lead``, ``about``, ``paragraph``, ``inputs``, ``cautions``,
    ``notes``, ``assumptions``, ``targets``, ``settings``, ``sources``, ``command``.
    """
    from jinja2 import Environment

    text = files("bayesjudge.core").joinpath("templates/report.html").read_text()
    drawn = [_drawn(i, *one, heading or title) for i, one in enumerate((figures or {}).items())]
    told = partial(_told, columns, pass_name=pass_name)
    table: dict[str, Any] = {"first": told(first), "others": told(others)}
    table |= {"below": below, "numbers": numbers}
    about = {"title": title, "heading": heading, "figures": drawn, "version": __version__}
    return Environment(autoescape=True).from_string(text).render(**about, **table, **parts)


def _told(
    columns: Sequence[str], rows: Sequence[TableRow], *, pass_name: str
) -> dict[str, Any] | None:
    """A table for the page: quantities in words, no column that is empty or says one name."""
    if not rows:
        return None
    filled = [i for i in range(len(columns)) if any(row.cells[i] for row in rows)]

    def shown(cells: Sequence[str]) -> list[str]:
        read = dict(zip(columns, cells, strict=True))
        if "quantity" in read:
            classes = read["quantity"] == "prevalence" and "class" in read
            read["quantity"] = in_words("share" if classes else read["quantity"], pass_name)
        return [read[columns[i]] for i in filled]

    cells = [shown(row.cells) for row in rows]
    names = [columns[i] for i in filled]
    caption = cells[0][0] if names[0] == "quantity" and len({c[0] for c in cells}) == 1 else ""
    start = 1 if caption else 0  # what all rows are about stands above them: phones are narrow
    told = [row._replace(cells=c[start:]) for row, c in zip(rows, cells, strict=True)]
    return {"caption": caption, "columns": names[start:], "rows": told}


def _distinct(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Keep the first of equal pairs, and none without a text."""
    return [pair for pair in dict.fromkeys(pairs) if pair[1]]


class TableRow(NamedTuple):
    """One line of the table, as text."""

    cells: list[str]
    answers: bool  # of an entry that the answer quotes
    quoted: bool


def _cells(
    found: Sequence[Record], digits: int, answer: Answer | None
) -> tuple[list[str], list[TableRow]]:
    """Head and rows of the table, as text."""
    dims = list(dict.fromkeys(d for one in found for d in one.where))
    entered = set() if answer is None else set(entries(answer.quoted))
    rows = []
    for one in found:
        decimals = 0 if one.quantity in COUNTS else digits
        cells = [
            one.quantity,
            *(str(one.where.get(d, "")) for d in dims),
            one.method.title,
            *("–" if np.isnan(x) else f"{x:.{decimals}f}" for x in one.numbers),
            one.interval,
        ]
        answers = one.entry in entered
        quoted = answers and answer is not None and one.method == answer.method
        rows.append(TableRow(cells, answers, quoted))
    # the quoted row of an entry before the others; entries as they come
    place = {entry: i for i, entry in enumerate(dict.fromkeys(one.entry for one in found))}
    order = sorted(range(len(rows)), key=lambda i: (place[found[i].entry], not rows[i].quoted))
    return ["quantity", *dims, "method", *NUMBERS, "interval"], [rows[i] for i in order]


def _settings(fit: Fit) -> str:
    sizes = fit.idata["posterior"].sizes
    attrs = fit.idata.attrs
    versions = ", ".join(
        f"{str(name).removesuffix('_version')} {value}"
        for name, value in attrs.items()
        if str(name).endswith("_version")
    )
    return (
        f"{sizes['chain']} chains of {sizes['draw']} draws, seed {attrs['random_seed']}; "
        f"model {attrs['model']}: {attrs['priors']}; "
        f"data {str(attrs['data_sha256'])[:12]}; {versions}"
        + (f"; {attrs['against_exact']}" if attrs.get("against_exact") else "")
    )


def _markdown(
    title: str,
    answer: Answer | None,
    columns: list[str],
    first: list[TableRow],
    others: list[TableRow],
    ci_prob: str,
    cautions: list[Caution],
    assumptions: list[tuple[str, str]],
    targets: list[tuple[str, str]],
    settings: list[tuple[str, str]],
    sources: list[tuple[str, str]],
    notes: dict[str, list[str]],
    inputs: list[tuple[str, str]],
    command: str | None,
) -> str:
    lines = [f"# {_literal(title)}", ""]
    if answer is not None:
        about = " ".join([*answer.notes, answer.basis, answer.why])
        lines += [f"**{_literal(answer.text)}**", "", _literal(about), ""]
    lines += _table(columns, first)
    bold = " The methods in bold are quoted." if any(row.quoted for row in first) else ""
    lines += ["", f"{ci_prob} intervals.{bold}"]
    named = {"Assumptions": assumptions, "Items": targets, "Sampling": settings, "Sources": sources}
    sections = {
        "Cautions": [f"**{_literal(c.name)}**: {_literal(c.text)}" for c in cautions],
        **{_literal(heading): list(map(_literal, texts)) for heading, texts in notes.items()},
        "What was read": [f"{_literal(name)}: {_literal(value)}" for name, value in inputs],
        **{
            heading: [_literal(": ".join(pair)) for pair in pairs]
            for heading, pairs in named.items()
        },
    }
    for heading, items in sections.items():
        if items:
            lines += ["", f"## {heading}", "", *[f"- {item}" for item in items]]
    if others:
        lines += ["", "## Other numbers", "", *_table(columns, others)]
    if answer is not None:
        lines += ["", "## For a paper or a model card", "", _literal(answer.paragraph())]
    if command:
        lines += ["", f"Made by {_literal(command)}"]
    return "\n".join(lines) + "\n"


def _table(columns: list[str], rows: list[TableRow]) -> list[str]:
    """Lines of a Markdown table; the quoted method in bold."""
    at = columns.index("method")
    made = [list(map(_literal, columns)), ["---"] * len(columns)]
    for row in rows:
        cells = list(map(_literal, row.cells))
        cells[at] = f"**{cells[at]}**" if row.quoted else cells[at]
        made.append(cells)
    return ["| " + " | ".join(cells) + " |" for cells in made]


def _literal(text: object) -> str:
    """Markdown that shows `text` as it is, on one line: names and texts come from anywhere.

    An underscore inside a word and a bracket that starts no link mean nothing: they stay legible.
    """
    line = visible_line(" ".join(str(text).split()))
    line = re.sub(r"&(?=#?\w+;)", "&amp;", line).replace("<", "&lt;")
    return SPECIAL.sub(r"\\\g<0>", line)


#: Width of the picture that a phone shows, in inches.
PHONE = 4.4


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
