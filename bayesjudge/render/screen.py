"""A page on a screen: the finding, its numbers beside those of other methods, and cautions.

Tables are laid out to the width of the screen, so that they are made from the estimates.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from bayesjudge.core.answer import Answer, chance, entries, is_bounded, listed, numbers
from bayesjudge.core.estimate import (
    COUNTS,
    TARGETS,
    Estimate,
    Row,
    coordinate,
    in_words,
    label,
    of_passes,
    pass_name_in,
)
from bayesjudge.core.fit import Fit
from bayesjudge.core.methods import HUMAN_ONLY, Method
from bayesjudge.core.screen import how_many, in_lines, read_no_more, visible_line, width_of
from bayesjudge.core.side_by_side import Record, in_order, records
from bayesjudge.render.page import Page, once, sampling_of

if TYPE_CHECKING:
    from rich.console import Console

NUMBERS = ("value", "low", "high", "width", "truth")


@dataclass(frozen=True, kw_only=True)
class Style:
    """How estimates are shown on a screen."""

    #: The quantity that is quoted, and that pictures show.
    answer: str
    truth: Mapping[tuple[Any, ...], float] | None = None
    #: What quantities mean, for a screen that shows them.
    words: Mapping[str, str] = field(default_factory=dict)
    #: What the quoted numbers are, if their quantity's name does not say it.
    heading: str = ""
    #: A quantity that is told beside the quoted one, in a column of its own.
    beside: str = ""
    #: Whose uncorrected numbers stand beside the quoted ones.
    judges: str = "judge"
    #: Whether the labels alone have a column of their own, beside several quoted numbers.
    alone: bool = False
    #: Methods that answer another question: they are not counted among those that differ.
    aside: Sequence[Method] = ()
    #: Whether every method's cautions are shown, beside those of the quoted one.
    every: bool = False
    #: Whether there is a model that was not sampled.
    may_sample: bool = False


def open_console() -> Console:
    """Open stdout."""
    from rich.console import Console

    class Piped(Console):
        def on_broken_pipe(self) -> None:  # Rich's own ends the process with 1
            read_no_more()

    terminal = sys.stdout.isatty()
    return Piped(
        file=sys.stdout,
        width=None if terminal else width_of(sys.stdout),
        force_terminal=terminal,
        highlight=False,
        markup=False,
        emoji=False,
    )


def show_answer(console: Console, page: Page, style: Style, *, details: bool = False) -> None:
    """Print the answer, what it rests on, and the table with the quoted row marked."""
    answer = page.quoting
    wrapped(console, answer.text, "", "", style="bold")
    read = page.inputs.get("labels")  # how they are spelled, if not as 1 and 0
    labels = f"Labels: {read}." if read else ""
    log = page.inputs.get("log")
    about = f"Log: {log}." if log else ""
    for line in (_with_source(answer.basis, page), about, labels, *answer.notes, answer.why):
        if line:
            wrapped(console, line, "", "")
    every = page.records
    if details:
        console.print()
        opening(console, page.title, dict(page.read))
        _quoted_alone(console, page, style)
        table(console, _answers(every, style), style)
        _section(console, "", _bounds(every, style))
        return
    lines = quoted_lines(answer, every, style, console.width)
    console.print("\n".join(["", *map(visible_line, lines)]), soft_wrap=True)


def _quoted_alone(console: Console, page: Page, style: Style) -> None:
    """Print the quoted numbers that no other method has, above the table of methods."""
    answer = page.quoting
    quantities = {q for estimate in page.estimates for q in estimate.quantities}
    missing = not quantities & set(answer.quoted.quantities)
    if answer.known and (missing or style.answer not in answer.quoted.quantities):
        table(console, records(answer.quoted, ci_prob=answer.quoted.ci_prob), style, named=True)


def _with_source(basis: str, page: Page) -> str:
    """What the answer rests on, and where it was read."""
    source = str(page.inputs.get("data", ""))
    return f"{source}: {basis}" if source and basis else basis or source


def _answers(recorded: Sequence[Record], style: Style) -> list[Record]:
    """What the table has rows of: bounds without a value are told in a line."""
    answering = [record for record in recorded if record.quantity == style.answer]
    return [record for record in answering if not is_bounded(record.row)]


def _bounds(recorded: Sequence[Record], style: Style) -> list[str]:
    """A line for each method that gives bounds only."""
    bounded = [r for r in recorded if r.quantity == style.answer and is_bounded(r.row)]
    return [
        f"{style.answer} ({method.brief}): no value, only bounds of "
        f"{how_many(len(rows), 'number')}, from "
        f"{min(r.row.low for r in rows):.3f} to {max(r.row.high for r in rows):.3f} in all; each: "
        "--json"
        for method in dict.fromkeys(r.method for r in bounded)
        for rows in [[r for r in bounded if r.method == method]]
    ]


#: The method that leaves the judge out.
ALONE = HUMAN_ONLY
#: Most rows on a screen without --details, and most whose order is compared with other methods'.
MOST_ROWS, MOST_ORDERED = 20, 10


def quoted_lines(answer: Answer, every: Sequence[Record], style: Style, width: int) -> list[str]:
    """Lines of the table: the quoted rows, and how far other methods are from them."""
    quoted, truth = answer.quoted, style.truth or {}
    of_judge = {} if answer.judge is None else entries(answer.judge)
    kept = in_order(records(quoted, ci_prob=quoted.ci_prob))
    single, several = len(kept) == 1, len({record.quantity for record in kept}) > 1
    beside = of_judge or None
    # the judge's own numbers have a column of their own
    named = {quoted.method}
    if beside and answer.judge:  # of several judges all: their own numbers are no other method
        named |= {r.method for r in every if r.method.rank >= answer.judge.method.rank}
    entered = {record.entry for record in kept}
    alone = {r.entry: r.row.value for r in every if r.method == ALONE and r.entry in entered}
    alone = alone if style.alone and not single else {}
    named |= {ALONE} if alone else set()
    others = [
        r
        for r in every
        if r.entry in entered and r.method not in named and not math.isnan(r.row.value)
        if r.method not in style.aside
    ]
    quantity = in_words(next(iter(quoted.quantities)), pass_name_in([quoted]))
    title = "" if several else style.heading or quantity
    head = ["", title, "value", "low", "high"]
    head += [style.judges] * (beside is not None) + ["truth"] * bool(truth)
    rows = [
        _cells(">", r.method.brief if single else _name(r, kept, several), r, beside, truth)
        for r in kept[:MOST_ROWS]
    ]
    also = {r.entry[1:]: r.row for r in reversed(every) if r.quantity == style.beside}
    if also:
        head.append(in_words(style.beside))
        rows = [
            [*row, _cell_beside(style, also[r.entry[1:]]) if r.entry[1:] in also else "–"]
            for r, row in zip(kept, rows, strict=False)
        ]
    if alone:
        head.append("labels alone")
        cells = [_number(alone.get(r.entry, math.nan)) for r in kept]
        rows = [[*row, cell] for row, cell in zip(rows, cells, strict=False)]
    lines = grid([head, *rows], width)
    left = len(kept) - MOST_ROWS
    lines += [f"  … {left} more rows: --details"] if left > 0 else []
    apart = f"  {_apart(others, kept, style)}" if others else ""
    return lines + in_lines(apart, width - 1, later="    ")


def _cells(
    mark: str,
    name: str,
    record: Record,
    beside: Mapping[tuple[Any, ...], Any] | None,
    truth: Mapping[tuple[Any, ...], float],
) -> list[str]:
    """One row: numbers of calls are whole."""
    whole = all(float(x).is_integer() and abs(x) >= 1 for x in record.row)
    whole = (whole and max(record.row) >= 2) or record.quantity in COUNTS
    row = [mark, name, *(_number(x, whole) for x in record.row)]
    if beside is not None:
        there = beside.get(record.entry)
        row.append("–" if there is None else _number(there.value, record.quantity in COUNTS))
    return row + ([_number(truth.get(record.entry, math.nan))] if truth else [])


#: Quantities that are probabilities.
CHANCES = {"first"}


def _cell_beside(style: Style, row: Row) -> str:
    """A number in a column of its own."""
    return chance(row.value) if style.beside in CHANCES else numbers(row)


def show_sampled(
    console: Console, page: Page, before: Page, style: Style, *, details: bool = False
) -> None:
    """Go on with the table of the page `before`: the sampled model, which it did not wait for."""
    answer, fit = page.quoting, page.estimates[len(before.estimates)]
    sampled = records(fit, ci_prob=fit.ci_prob)
    if details:
        rest = [estimate for estimate in page.estimates if estimate is not fit]
        above = _answers(records(*rest, ci_prob=fit.ci_prob), style)
        table(console, _answers(sampled, style), style, above=above)
        return
    quoted = entries(answer.quoted)
    mine = [r for r in sampled if r.entry in quoted if not is_bounded(r.row)]
    if mine:
        gap = max(abs(r.row.value - quoted[r.entry].value) for r in mine)
        words = f"{fit.method.brief}, now sampled, differs from these numbers by at most "
        wrapped(console, f"{words}{_gap(gap, mine[0].quantity)}: --details", "  ", "    ")
    for note in answer.notes:
        if note not in before.quoting.notes:
            wrapped(console, note, "  ", "    ")


def _name(record: Record, every: Sequence[Record], several: bool) -> str:
    """Coordinates that differ from row to row, after the quantity if there are several."""
    dims = [d for d in record.where if len({r.where.get(d) for r in every}) > 1]
    where = ", ".join(coordinate(d, record.where[d]) for d in dims)
    name = in_words(record.quantity)
    return (f"{name}, {where}" if where else name) if several else where


def _apart(others: Sequence[Record], kept: Sequence[Record], style: Style) -> str:
    """Whether other methods agree with the quoted one, as far as they say something."""
    rows = {r.entry: r.row for r in kept}
    vague = {
        r.method
        for r in others
        if _is_bare(r.row, rows[r.entry]) or _says_less(r.row, rows[r.entry])
    }
    known = [r for r in others if r.method not in vague and not math.isnan(r.row.value)]
    if not known:
        return ""
    far = max(known, key=lambda r: abs(r.row.value - rows[r.entry].value))
    gap = abs(far.row.value - rows[far.entry].value)
    if rows[far.entry].low <= far.row.value <= rows[far.entry].high:
        text = f"Other methods differ by at most {_gap(gap, far.quantity)}"
    else:
        place = f" for {_where(far)}" * bool(far.where)
        shown = _number(far.row.value, far.quantity in COUNTS)
        text = f"Another method gives {shown}{place}, outside the interval above: "
        text += far.method.brief
    return f"{text}{_turned(known, kept, style)} (--details)."


#: An interval so many times as wide as the quoted one says too little to contradict it: .84 to .96
#: of such numbers are further from the truth than the quoted one (benchmarks/core/wider.py).
MUCH_WIDER = 4


def _is_bare(row: Row, quoted: Row) -> bool:
    """Whether a number has no interval beside one that has."""
    return math.isnan(row.high - row.low) and not math.isnan(quoted.high - quoted.low)


def _says_less(row: Row, quoted: Row) -> bool:
    return row.high - row.low > MUCH_WIDER * (quoted.high - quoted.low)


def _turned(others: Sequence[Record], kept: Sequence[Record], style: Style) -> str:
    """Neighbours in the quoted order that another method has the other way round.

    Among several, intervals that overlap say nothing worth a line.
    """
    order = sorted(kept, key=lambda r: -r.row.value)
    if len({r.quantity for r in kept}) > 1 or len(order) > MOST_ORDERED:
        return ""
    rows = {(r.method, r.entry): r.row for r in others}
    methods = dict.fromkeys(r.method for r in others)
    clauses = []
    for better, worse in pairwise(order):
        both = [(m, rows.get((m, better.entry)), rows.get((m, worse.entry))) for m in methods]
        against = [
            m.brief + ", whose intervals overlap," * (second.low <= first.high)
            for m, first, second in both
            if first is not None and second is not None and first.value < second.value
            if len(order) == 2 or second.low > first.high
        ]
        if against:
            put = "puts" if len(against) == 1 else "put"
            clauses.append(f"{listed(against)} {put} {_where(worse)} before {_where(better)}")
    return "".join(f"; {clause}" for clause in clauses)


def grid(rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Lines of a table: numbers to the right; names are cut where the screen is narrow."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    spare = width - 1 - sum(widths) - 2 * (len(widths) - 1) + widths[1]
    widths[1] = max(min(widths[1], spare), 8)
    lines = []
    for mark, name, *cells in rows:
        cut = name if len(name) <= widths[1] else name[: widths[1] - 1] + "…"
        start = f"{mark:<{widths[0]}} {cut:<{widths[1]}}"
        lines.append(
            "  ".join([start, *(f"{n:>{w}}" for n, w in zip(cells, widths[2:], strict=True))])
        )
    return lines


def opening(console: Console, title: str, inputs: Mapping[str, Any]) -> None:
    """Print what was read."""
    console.print(visible_line(title), style="bold")
    width = max(map(len, inputs), default=0)
    for name, value in inputs.items():
        first, later = f"  {name:<{width}}  ", " " * (width + 4)
        wrapped(console, str(value), first, later)


def columns(
    console: Console, head: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[str] = ()
) -> None:
    """Print a table of numbers, but for the columns named in `left`; a row may be empty."""
    from rich.table import Table

    grid = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in head:
        grid.add_column(name, justify="left" if name in left else "right", no_wrap=True)
    for row in rows:
        grid.add_row(*row)
    console.print("", grid, sep="\n")


def table(
    console: Console,
    recorded: Sequence[Record],
    style: Style,
    *,
    above: Sequence[Record] = (),
    named: bool = False,
) -> None:
    """Print estimates, one per line: by coordinates, with the quantity's name if `named`.

    Rows `above` that were printed before are gone on with: no heading, columns as wide as theirs.
    """
    from rich.table import Table

    if not recorded:
        return
    truth = style.truth or {}
    columns = [c for c in NUMBERS if c != "truth" or truth]
    every = [*recorded, *above]
    labels = [visible_line(label(r.quantity, r.entry[1:]) if named else _where(r)) for r in every]
    labelled = any(labels)
    methods = [visible_line(r.method.brief) for r in every]
    numbers = [[*r.numbers, *([truth.get(r.entry, math.nan)] if truth else [])] for r in every]
    cells = [
        [_number(x, r.quantity in COUNTS) for x in row]
        for r, row in zip(every, numbers, strict=True)
    ]
    head = "quantity" if named else style.answer
    widths = [max(map(len, [*labels, head]))] if labelled else []
    widths += [
        max(18, *map(len, methods)),
        *(max(5, *map(len, c)) for c in zip(*cells, strict=True)),
    ]
    for at, least in ((int(labelled), 12), (0, 8)):  # names are folded, numbers never
        over = sum(widths) + len(widths) - 1 - console.width
        widths[at] = max(widths[at] - max(over, 0), min(widths[at], least))
    names = [head, "method"] if labelled else [head if named else style.answer]
    grid = Table(box=None, show_header=not above, pad_edge=False, padding=(0, 1, 0, 0))
    # a table of few columns is wide enough, and one that continues another has the same widths
    for text, width in zip([*names, *columns], widths, strict=True):
        justify: Any = "right" if text in NUMBERS else "left"
        number = text in NUMBERS
        grid.add_column(text, justify=justify, width=width, no_wrap=number, overflow="fold")
    kinds = max(len(r.interval) for r in every)
    labels = labels[: len(recorded)]
    roomy = sum(widths) + len(widths) + kinds <= console.width
    if roomy:
        grid.add_column("interval", no_wrap=True)
    for i, (r, name, method, row) in enumerate(zip(recorded, labels, methods, cells, strict=False)):
        first = i == 0 or name != labels[i - 1]
        if first and i and max(labels.count(name), labels.count(labels[i - 1])) > 1:
            grid.add_row()
        start = [name if first else ""] if labelled else []
        grid.add_row(*start, method, *row, *([visible_line(r.interval)] if roomy else []))
    # a blank line above, but where a single row continues the table
    console.print(*([""] if not above or len(set(labels)) > 1 else []), grid, sep="\n")
    if not roomy:
        pairs = [(r.method.brief, f"{r.interval} interval") for r in recorded if r.interval]
        _section(console, "", _by_text(pairs))


def _where(record: Record) -> str:
    return ", ".join(coordinate(*pair) for pair in record.where.items())


def rest(
    console: Console, page: Page, style: Style, *, details: bool = False, quiet: bool = False
) -> None:
    """Print what a reader must know of the answer; with `details` everything."""
    for section in page.sections:
        if not section.detail and not details:
            _section(console, section.heading, section.lines)
    if not details:
        _brief_end(console, page, style, quiet=quiet)
        return
    other = _by_entry(page.estimates, style)
    table(console, other, style, named=True)
    meant = [q for q in dict.fromkeys(r.quantity for r in other) if q in style.words]
    _section(console, "", [f"{q}: {of_passes(style.words[q], page.pass_name)}" for q in meant])
    for section in page.sections:
        _section(console, section.heading, [*section.lines, *section.further])
    _section(console, "Cautions", [": ".join(pair) for pair in once(page.cautions)])
    assumed = [(e.method.brief, "; ".join(map(str, e.assumptions))) for e in page.estimates]
    _section(console, "Assumptions", _by_text(assumed))
    about = [
        (estimate.method.brief, f"about {TARGETS[estimate.target]}") for estimate in page.estimates
    ]
    _section(console, "Items", _by_text(about))
    _section(console, "Sampling", [_sampling(fit) for fit in page.fits])


def _by_entry(estimates: Sequence[Estimate], style: Style) -> list[Record]:
    """What methods say beside the answer: of each number every method that has it."""
    by_entry: dict[tuple[Any, ...], list[Record]] = {}
    for estimate in estimates:
        for record in records(estimate, ci_prob=estimate.ci_prob):
            if record.quantity != style.answer and not math.isnan(record.row.value):
                by_entry.setdefault(record.entry, []).append(record)
    return [record for same in by_entry.values() for record in same]


#: Cautions of the judge's own number, which the quoted one corrects unless they contradict it.
OF_THE_JUDGE = {"errors-do-not-cancel"}


def _brief_end(console: Console, page: Page, style: Style, *, quiet: bool) -> None:
    """Cautions of the quoted numbers, how many others there are, and where the rest is."""
    answer = page.quoting
    corrected = OF_THE_JUDGE - {n for a in answer.quoted.assumptions for n in a.contradicted_by}
    shown = page.cautions if style.every else answer.cautions
    cautions = [c for c in shown if c.id not in corrected]
    lines = [": ".join(pair) for pair in once(cautions)]
    names = {c.id for c in page.cautions} - corrected - {c.id for c in cautions}
    if names:
        which = [n for n in dict.fromkeys(c.id for c in page.cautions) if n in names]
        lines.append(f"of numbers that are not quoted: {listed(which)} (--details)")
    _section(console, "Cautions" if lines else "", lines)
    stuck = [fit for fit in page.fits if not fit.converged and fit.method != answer.method]
    _section(console, "", [f"{fit.method} did not converge: --details" for fit in stuck])
    if quiet:
        return
    console.print()
    text = "--details shows every method with its assumptions and cautions; --html FILE writes a "
    text += f"page; {'--nuts samples the model too; ' * style.may_sample}"
    wrapped(console, f"{text}bayesjudge explain TERM says what a word means.", "", "")


def _by_text(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Methods of which the same holds, in one line; what holds of all needs no names."""
    methods_of: dict[str, dict[str, None]] = {}
    for method, text in pairs:
        methods_of.setdefault(text, {})[method] = None
    if len(methods_of) == 1:
        return [text for text in methods_of if text]
    return [f"{', '.join(methods)}: {text}" for text, methods in methods_of.items() if text]


def _sampling(fit: Fit) -> str:
    about = sampling_of(fit)
    return (
        f"{about['chains']} chains of {about['draws']} draws, seed {about['random_seed']}; R-hat "
        f"at most {about['max_r_hat']:.3f}, effective draws at least {about['min_ess']:,.0f}"
    )


def _section(console: Console, heading: str, lines: Sequence[str]) -> None:
    if not lines:
        return
    console.print(*([f"\n{heading}"] if heading else [""]), style="bold")
    for line in lines:
        wrapped(console, line, "  ", "    ")


def wrapped(console: Console, text: str, first: str, later: str, style: str = "") -> None:
    """Print text in lines as wide as the screen."""
    width = max(console.width - 1, 40)
    lines = in_lines(visible_line(text), width, first=visible_line(first), later=later)
    shown = "\n".join(lines or [first.rstrip()])
    console.print(shown, soft_wrap=True, style=style or None)


def _gap(size: float, quantity: str) -> str:
    return f"{size:.0f}" if quantity in COUNTS and size >= 1 else f"{size:.2g}"


def _number(value: float, whole: bool = False) -> str:
    return "–" if math.isnan(value) else f"{value:.{0 if whole else 3}f}"
