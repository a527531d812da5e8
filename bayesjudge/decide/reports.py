"""Decisions as Markdown (a job summary), a page, JUnit XML (a test report) and JSON."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from bayesjudge.core.report import TableRow, _literal, page
from bayesjudge.core.screen import visible
from bayesjudge.core.version import __version__
from bayesjudge.decide.decision import Check, Gate, Outcome, as_fields, counted, finding, named
from bayesjudge.decide.drift import (
    Drift,
    change_in_words,
    drift_in_words,
    flips_in_words,
    rate_in_words,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMA = "bayesjudge/2"
HEADS = ("outcome", "number", "threshold", "estimate", "one-sided limits", "chance")
DECIDES = "what would decide"

#: Characters that XML cannot hold, not even by their number.
NO_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_markdown(gate: Gate, *, title: str = "bayesjudge gate") -> str:
    """Write decisions as Markdown, for a job summary.

    Parameters
    ----------
    gate : Gate
        From `bayesjudge.decide.gate`.
    title : str
        Heading.

    Returns
    -------
    str
        A heading with the outcome, a table with one row a check, and the cautions.
    """
    lines = [f"## {_literal(title)}: {gate.outcome}", ""]
    rows = [("", *HEADS[1:], DECIDES), ("---",) * (len(HEADS) + 1)]
    rows += [_in_markdown((*_cells(c, c.name), _deciding(c) or "–")) for c in gate.checks]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    lines += ["", _promise(gate.checks[0])]
    if gate.cautions:
        lines += ["", *[f"- **{_literal(c.name)}**: {_literal(c.text)}" for c in gate.cautions]]
    return "\n".join(lines) + "\n"


def _cells(check: Check, name: str) -> tuple[str, ...]:
    sign = "≥" if check.at_least else "≤"
    return (
        check.outcome,
        name,
        f"{sign} {check.threshold:g}",
        _number(check.value),
        f"{_number(check.low)} to {_number(check.high)}",
        _number(check.chance),
    )


def _deciding(check: Check) -> str:
    """What would decide, or why no number does."""
    return check.would_decide() or ", ".join(check.undecidable)


def _in_markdown(cells: tuple[str, ...]) -> tuple[str, ...]:
    return (f"**{cells[0]}**", *map(_literal, cells[1:]))


def to_html(
    made: Gate | Drift,
    *,
    title: str | None = None,
    figures: Mapping[str, Figure] | None = None,
    inputs: Mapping[str, Any] | None = None,
    command: str | None = None,
) -> str:
    """Write decisions, or a drift, as one page that needs no other file.

    Parameters
    ----------
    made : Gate or Drift
        From `bayesjudge.decide.gate`, `Monitor.gate` or `bayesjudge.decide.drift`.
    title : str, optional
        Title of the page.
    figures : mapping of str to matplotlib.figure.Figure, optional
        Pictures by caption, such as that of `plot_gate`, `plot_monitor` or `plot_drift`.
    inputs : mapping, optional
        What was read.
    command : str, optional
        The command line that made it.

    Returns
    -------
    str
        The outcome, pictures, a table with one row a check or a change, the cautions, and what was
        read.
    """
    parts = _drift_parts(made) if isinstance(made, Drift) else _gate_parts(made)
    parts |= {"title": title} if title else {}
    read = [(name, str(value)) for name, value in (inputs or {}).items()]
    return page(figures=figures, inputs=read, command=command, **parts)


def _gate_parts(gate: Gate) -> dict[str, Any]:
    limits = ", Clopper-Pearson limits"
    methods = dict.fromkeys(one.method.title + limits * one.clopper_pearson for one in gate.checks)
    known = any(not math.isnan(check.chance) for check in gate.checks)
    below = ["The chance is the posterior probability that the threshold is met."] * known
    for check in gate.checks:
        of = f" {named(check)}" * (len(gate.checks) > 1)
        below += [f"What would decide{of}: {_deciding(check)}."] * bool(_deciding(check))
    return {
        "title": "bayesjudge gate",
        "heading": finding(gate),
        "about": _promise(gate.checks[0]),
        "columns": HEADS,
        "first": [TableRow([*_cells(check, named(check))], True, False) for check in gate.checks],
        "below": " ".join(below),
        "numbers": ("estimate", "chance"),
        "cautions": gate.cautions,
        "paragraph": f"Method: {', '.join(methods)}.",
    }


def _drift_parts(drift: Drift) -> dict[str, Any]:
    made, rate = drift.estimate, rate_in_words(drift.pass_name)
    rows = list(made.rows())
    dims = list(dict.fromkeys(d for _, where, _ in rows for d in where))
    first = [
        [
            change_in_words(name, drift.pass_name),
            *(str(where.get(d, "")) for d in dims),
            *(f"{x:+.3f}" for x in row),
        ]
        for name, where, row in rows
    ]
    return {
        "title": "bayesjudge drift",
        "heading": drift_in_words(drift),
        "about": (
            f"{flips_in_words(drift)}. A change of the {rate} by 3 points would be "
            f"seen with probability {drift.power(0.03):.2f}, one by "
            f"{100 * drift.detectable():.1f} points with probability .8. If nothing changed, a "
            f"drift is called with probability {1 - drift.ci_prob:.3g} at most."
        ),
        "columns": ["change", *dims, "value", "low", "high"],
        "first": [TableRow(cells, True, False) for cells in first],
        "below": (
            f"New judge less old, {100 * drift.ci_prob:g} % intervals. A prevalence shift is how "
            "far a published, corrected share moves if the new judge's verdicts take the old ones' "
            "place and the old calibration stays."
            if "prevalence_shift" in made.quantities
            else f"New judge less old, {100 * drift.ci_prob:g} % intervals."
        ),
        "cautions": made.cautions,
        "assumptions": [(made.method.title, "; ".join(map(str, made.assumptions)))],
        "sources": [(made.method.title, made.source)],
    }


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"


def _promise(check: Check) -> str:
    looks = ", however often one looks" if check.always_valid else ", at this one look"
    return (
        f"A false pass, and a false fail, has probability {1 - check.probability:.3g} at most"
        f"{looks}; what is not sure enough is unknown."
    )


def to_json(gate: Gate, *, inputs: dict[str, Any] | None = None) -> str:
    """Write decisions as JSON, schema ``bayesjudge/2``.

    Parameters
    ----------
    gate : Gate
        From `bayesjudge.decide.gate`.
    inputs : dict, optional
        What was read.

    Returns
    -------
    str
        Fields ``outcome``, ``checks`` (a list, each with its limits and what would decide) and
        ``cautions``; a number that is unknown or infinite is null.
    """
    document = {
        "schema": SCHEMA,
        "bayesjudge": __version__,
        "command": "gate",
        "inputs": inputs or {},
        "outcome": gate.outcome,
        "checks": [as_fields(check) for check in gate.checks],
        "cautions": [caution._asdict() for caution in gate.cautions],
    }
    return to_document(document)


def to_document(fields: dict[str, Any]) -> str:
    """Write what JSON has: no NaN, no arrays."""
    return json.dumps(_plain(fields), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def to_junit(gate: Gate, *, unknown: Outcome = "unknown", suite: str = "bayesjudge") -> str:
    """Write decisions as JUnit XML, which CI servers show as tests.

    Parameters
    ----------
    gate : Gate
        From `bayesjudge.decide.gate`.
    unknown : {"unknown", "pass", "fail"}
        What an unknown check counts as; by default a skipped test, with what would decide. One
        whose numbers mean nothing is an error.
    suite : str
        Name of the suite.

    Returns
    -------
    str
        One test case a check.
    """
    found = ["error" if one.undecidable else counted(one, unknown) for one in gate.checks]
    suite = _xml(suite)
    root = ElementTree.Element(
        "testsuite",
        name=suite,
        tests=str(len(found)),
        failures=str(found.count("fail")),
        skipped=str(found.count("unknown")),
        errors=str(found.count("error")),
    )
    for check, outcome in zip(gate.checks, found, strict=True):
        sign, told = "≥" if check.at_least else "≤", _xml(str(check))
        name = _xml(f"{check.name} {sign} {check.threshold:g}")
        case = ElementTree.SubElement(root, "testcase", classname=f"{suite}.gate", name=name)
        if outcome == "fail":
            ElementTree.SubElement(case, "failure", message=told)
        elif outcome == "error":
            ElementTree.SubElement(case, "error", message=told)
        elif outcome == "unknown":
            ElementTree.SubElement(case, "skipped", message=told)
        ElementTree.SubElement(case, "system-out").text = told
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _xml(text: str) -> str:
    """Text with what XML has no way to write written out."""
    return NO_XML.sub(lambda found: ascii(found[0])[1:-1], visible(text))
