"""Decisions, and what a change of the judge moves, as pages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bayesjudge.core.side_by_side import NUMBERS, records
from bayesjudge.decide.decision import (
    Check,
    Gate,
    Outcome,
    as_fields,
    counted,
    finding,
    labels_of,
    names_of,
)
from bayesjudge.decide.drift import (
    Drift,
    change_in_words,
    drift_in_words,
    flips_in_words,
    rate_in_words,
)
from bayesjudge.decide.watch import SOURCE as SOURCE_OF_WATCH
from bayesjudge.decide.watch import Watch, watch_in_words
from bayesjudge.render.html import to_html as html_of
from bayesjudge.render.json import to_json as json_of
from bayesjudge.render.junit import to_junit as junit_of
from bayesjudge.render.markdown import to_markdown as markdown_of
from bayesjudge.render.page import Case, Line, Page, Table, as_plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NUMBERS_OF_WATCH = ("before", "since", "evidence")
HEADS = ("outcome", "number", "threshold", "estimate", "one-sided limits", "chance")


def decision_page(
    decision: Gate | Drift | Watch, *, unknown: Outcome = "unknown", **about: Any
) -> Page:
    """The page of decisions, of a drift or of a watch; `about` are further fields of it."""
    if isinstance(decision, Watch):
        return replace(_watch_page(decision), **about)
    page = _drift_page(decision) if isinstance(decision, Drift) else _gate_page(decision, unknown)
    return replace(page, **about)


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
        The finding, a table with one row per check, what would decide, and the cautions.
    """
    return markdown_of(decision_page(gate, title=title))


def to_html(
    decision: Gate | Drift | Watch,
    *,
    title: str | None = None,
    figures: Mapping[str, Figure] | None = None,
    inputs: Mapping[str, Any] | None = None,
    command: str | None = None,
) -> str:
    """Write decisions, a drift, or a watch as one page that needs no other file.

    Parameters
    ----------
    decision : Gate, Drift or Watch
        From `bayesjudge.decide.gate`, `Monitor.gate` or `bayesjudge.decide.drift`; or a `Watch`.
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
        The outcome, pictures, a table with one row per check or a change, the cautions, and what
        was read.
    """
    about: dict[str, Any] = {"title": title} if title else {}
    about |= {"inputs": inputs or {}, "line": command or "", "pictures": lambda: figures or {}}
    return html_of(decision_page(decision, **about))


def to_json(gate: Gate, *, inputs: dict[str, Any] | None = None) -> str:
    """Write decisions as JSON, schema ``bayesjudge/3``.

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
    return json_of(decision_page(gate, inputs=inputs or {}))


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
    return junit_of(decision_page(gate, unknown=unknown), suite)


def _gate_page(gate: Gate, unknown: Outcome) -> Page:
    limits = ", Clopper-Pearson limits"
    methods = dict.fromkeys(
        each.method.title + limits * each.clopper_pearson for each in gate.checks
    )
    known = any(not math.isnan(check.chance) for check in gate.checks)
    about, names = names_of(gate.checks)
    below = [f"Each number is the {about}."] * bool(about)
    below += ["The chance is the posterior probability that the threshold is met."] * known
    for check, name, granted in zip(gate.checks, names, labels_of(gate.checks), strict=True):
        of = f" {name}" * (len(gate.checks) > 1)
        decides = check.would_decide() or ", ".join(check.undecidable)
        below += [f"What would decide{of}: {decides}."] * bool(decides)
        below += [granted] * bool(granted)
    first = gate.checks[0]
    looks = ", however often one looks" if first.always_valid else ", at this one look"
    return Page(
        title="bayesjudge gate",
        sentence=finding(gate),
        about=f"A false pass, and a false fail, has probability {1 - first.probability:.3g} at "
        f"most{looks}; what is not sure enough is unknown.",
        command="gate",
        numbers=Table(HEADS, list(map(_line, gate.checks, names)), ("estimate", "chance")),
        below=" ".join(below),
        cautions=gate.cautions,
        paragraph=f"Method: {', '.join(methods)}.",
        cases=[_case(check, unknown) for check in gate.checks],
        fields=lambda: {
            "outcome": gate.outcome,
            "checks": [as_fields(check) for check in gate.checks],
        },
    )


def _limit(check: Check) -> str:
    return f"{'≥' if check.at_least else '≤'} {check.threshold:g}"


def _line(check: Check, name: str) -> Line:
    ends = f"{_number(check.low)} to {_number(check.high)}"
    cells = [check.outcome, name, _limit(check), _number(check.value), ends]
    return Line([*cells, _number(check.chance)])


def _case(check: Check, unknown: Outcome) -> Case:
    outcome = "error" if check.undecidable else counted(check, unknown)
    return Case(f"{check.name} {_limit(check)}", outcome, str(check))


def _drift_page(drift: Drift) -> Page:
    estimate, rate = drift.estimate, rate_in_words(drift.pass_name)
    rows = records(estimate, ci_prob=estimate.ci_prob)
    dims = list(dict.fromkeys(d for record in rows for d in record.where))
    lines = [
        Line(
            [
                change_in_words(record.quantity, drift.pass_name),
                *(str(record.where.get(d, "")) for d in dims),
                *(f"{x:+.3f}" for x in record.row),
            ]
        )
        for record in rows
    ]
    below = f"New judge less old, {100 * drift.ci_prob:g} % intervals."
    if "prevalence_shift" in estimate.quantities:
        below += (
            " A prevalence shift is how far a published, corrected share moves if the new judge's "
            "verdicts take the old ones' place and the old calibration stays."
        )
    return Page(
        title="bayesjudge drift",
        sentence=drift_in_words(drift),
        about=f"{flips_in_words(drift)}. A change of the {rate} by 3 points would be "
        f"seen with probability {drift.power(0.03):.2f}, one by "
        f"{100 * drift.detectable():.1f} points with probability .8. If nothing changed, a "
        f"drift is called with probability {1 - drift.ci_prob:.3g} at most.",
        command="drift",
        numbers=Table(["change", *dims, *NUMBERS[:3]], lines),
        below=below,
        cautions=estimate.cautions,
        assumptions=[(estimate.method.title, "; ".join(map(str, estimate.assumptions)))],
        sources=[(estimate.method.title, estimate.source)],
        fields=lambda: {
            "seen": drift.seen,
            "flips": drift.flips.to_dict(),
            "estimates": [{**as_plain(record), **record.where} for record in rows],
        },
    )


def _watch_page(watch: Watch) -> Page:
    rows = watch.shifts
    lines = [
        Line(
            [
                change_in_words(row.quantity, watch.pass_name),
                *map(_number, (row.before, row.since)),
                row.look,
                f"{row.evidence:.3g}",
                "alarm" if row.alarm else "",
            ]
        )
        for row in rows
    ]
    below = (
        "Flips are against the baseline. Since: the look from which on a number differs most, "
        f"whether it does or not; there is an alarm at an evidence of {watch.alarm_at:g}."
    )
    below += "".join(f" {words[0].upper()}{words[1:]}." for words in watch.corrected())
    return Page(
        title="bayesjudge drift",
        sentence=watch_in_words(watch),
        about="If the judge stays the same there is an alarm with probability "
        f"{1 - watch.ci_prob:.3g} at most, however often one looks; an alarm stands.",
        command="drift",
        numbers=Table(
            ["watched", "before", "since", "look", "evidence", "outcome"], lines, NUMBERS_OF_WATCH
        ),
        below=below,
        sources=[("Exchangeable looks", SOURCE_OF_WATCH)],
        fields=lambda: {
            "seen": [row.quantity for row in rows if row.alarm],
            "watch": {
                "looks": list(watch.names),
                "alarm": watch.alarm,
                "alarm_at": watch.alarm_at,
                "shifts": [row._asdict() for row in rows],
            },
        },
    )


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"
