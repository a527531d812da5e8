"""Results side by side, as a table, as Markdown and as one self-contained page."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from bayesjudge.core.errors import checking
from bayesjudge.core.fit import Fit
from bayesjudge.core.results import Caution, Estimate, Interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: What Markdown would read as more than text: anywhere, about words, after a bracket, in front.
SPECIAL = re.compile(
    r"[\\`*~|$]|(?<![^\W_])_|_(?![^\W_])|(?<=\])[(\[]|^[\[>]|^[#+-](?=[#+-]*(?: |$))",
)
COLUMNS = ["quantity", "method", "value", "low", "high", "width", "interval"]


def side_by_side(
    *results: Estimate | Fit, ci_prob: float = 0.95, interval: Interval | None = None
) -> pd.DataFrame:
    """Put closed forms and posteriors in one table, as equals.

    Parameters
    ----------
    *results : Estimate or Fit
        At least one. A fit is summarised at `ci_prob`; an estimate must have been made at it.
    ci_prob : float, default 0.95
        Probability of every interval in the table.
    interval : {"eti", "hdi", "eti+"}, optional
        Kind of interval of the fits; by default what each fit's room recommends.

    Returns
    -------
    pandas.DataFrame
        Columns ``quantity``, ``method``, ``value``, ``low``, ``high``, ``width`` (of the interval,
        in the quantity's units) and ``interval``; quantities in the order in which they first
        occur, methods in the order given.

    Raises
    ------
    InputError
        Where nothing was given, or an estimate was made at another probability.

    Examples
    --------
    >>> one = Estimate.from_rows({"prevalence": (0.5, 0.4, 0.6)}, method="Wilson", ci_prob=0.95,
    ...                          source="Wilson (1927)")
    >>> side_by_side(one)[["quantity", "method", "value", "width"]].round(2).to_dict("records")
    [{'quantity': 'prevalence', 'method': 'Wilson', 'value': 0.5, 'width': 0.2}]
    """
    made = _as_estimates(results, ci_prob, interval)
    tables = [
        one.table.reset_index().assign(
            method=one.method,
            interval=[one.interval_of(quantity) for quantity in one.table.index],
            width=(one.table["high"] - one.table["low"]).to_numpy(),
        )
        for one in made
    ]
    table = pd.concat(tables, ignore_index=True)[COLUMNS]
    order = {quantity: i for i, quantity in enumerate(dict.fromkeys(table["quantity"]))}
    return table.sort_values(
        "quantity", key=lambda q: q.map(order), kind="stable", ignore_index=True
    )


def report(
    *results: Estimate | Fit,
    ci_prob: float = 0.95,
    interval: Interval | None = None,
    digits: int = 3,
    title: str = "bayesjudge report",
    output: Literal["markdown", "html"] = "markdown",
    figures: Mapping[str, Figure] | None = None,
    notes: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """Write results with their cautions, assumptions, settings and sources.

    Parameters
    ----------
    *results : Estimate or Fit
        What to report.
    ci_prob : float, default 0.95
        Probability of every interval.
    interval : {"eti", "hdi", "eti+"}, optional
        Kind of interval of the fits; by default what each fit's room recommends.
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

    Returns
    -------
    str
        The report. A fit that was saved and loaded gives the same one.

    Raises
    ------
    InputError
        Where nothing was given, an estimate was made at another probability, or `output` is
        unknown.
    """
    with checking("report") as require:
        require(output in ("markdown", "html"), f"output must be markdown or html, got {output!r}")
    made = _as_estimates(results, ci_prob, interval)
    parts = {
        "title": title,
        "table": _rounded(side_by_side(*results, ci_prob=ci_prob, interval=interval), digits),
        "ci_prob": f"{ci_prob:.0%}" if round(ci_prob * 100, 6).is_integer() else f"{ci_prob:.1%}",
        "cautions": list(dict.fromkeys(c for one in made for c in one.cautions)),
        # pairs, not mappings: two fits of one method may differ in their priors
        "assumptions": _distinct((one.method, "; ".join(one.assumptions)) for one in made),
        "settings": [(one.method, _settings(one)) for one in results if isinstance(one, Fit)],
        "sources": _distinct((one.method, one.source) for one in made),
        "notes": {heading: list(lines) for heading, lines in (notes or {}).items()},
    }
    if output == "markdown":
        return _markdown(**parts)
    from jinja2 import Environment

    page = files("bayesjudge.core").joinpath("templates/report.html").read_text()
    drawn = {caption: _svg(figure) for caption, figure in (figures or {}).items()}
    return Environment(autoescape=True).from_string(page).render(**parts, figures=drawn)


def _as_estimates(
    results: tuple[Estimate | Fit, ...], ci_prob: float, interval: Interval | None
) -> list[Estimate]:
    made = [
        one.estimate(ci_prob=ci_prob, interval=interval) if isinstance(one, Fit) else one
        for one in results
    ]
    with checking("side_by_side") as require:
        require(bool(made), "give at least one Estimate or Fit")
        for one in made:
            require(
                one.ci_prob == ci_prob,
                f"{one.method} has {one.ci_prob:.0%} intervals, the table {ci_prob:.0%}; "
                f"make it with ci_prob={ci_prob}",
            )
    return made


def _distinct(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Keep the first of equal pairs, and none without a text."""
    return [pair for pair in dict.fromkeys(pairs) if pair[1]]


def _rounded(table: pd.DataFrame, digits: int) -> pd.DataFrame:
    numbers = ["value", "low", "high", "width"]
    shown = table.copy()
    for column in numbers:
        shown[column] = ["–" if np.isnan(x) else f"{x:.{digits}f}" for x in table[column]]
    return shown


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
        f"priors {attrs['priors']}; data {str(attrs['data_sha256'])[:12]}; {versions}"
    )


def _markdown(
    title: str,
    table: pd.DataFrame,
    ci_prob: str,
    cautions: list[Caution],
    assumptions: list[tuple[str, str]],
    settings: list[tuple[str, str]],
    sources: list[tuple[str, str]],
    notes: dict[str, list[str]],
) -> str:
    rows = [list(map(_literal, row)) for row in (table.columns, *table.to_numpy())]
    rows.insert(1, ["---"] * table.shape[1])
    lines = [f"# {_literal(title)}", ""]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    lines += ["", f"{ci_prob} intervals."]
    named = {"Assumptions": assumptions, "Sampling": settings, "Sources": sources}
    sections = {
        **{_literal(heading): list(map(_literal, texts)) for heading, texts in notes.items()},
        "Cautions": [f"**{_literal(c.name)}**: {_literal(c.text)}" for c in cautions],
        **{
            heading: [_literal(": ".join(pair)) for pair in pairs]
            for heading, pairs in named.items()
        },
    }
    for heading, items in sections.items():
        if items:
            lines += ["", f"## {heading}", "", *[f"- {item}" for item in items]]
    return "\n".join(lines) + "\n"


def _literal(text: object) -> str:
    """Markdown that shows `text` as it is, on one line: names and texts come from anywhere.

    An underscore inside a word and a bracket that starts no link mean nothing: they stay legible.
    """
    line = " ".join(str(text).split())
    line = re.sub(r"&(?=#?\w+;)", "&amp;", line).replace("<", "&lt;")
    return SPECIAL.sub(r"\\\g<0>", line)


def _svg(figure: Figure) -> str:
    """Draw a figure as text, without what would change from run to run."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
