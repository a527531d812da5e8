"""What every command shares: options, and how results reach a screen, a page and a machine."""

from __future__ import annotations

import json
import math
import re
import sys
import textwrap
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, cast

import numpy as np
from cyclopts import Group, Parameter

from bayesjudge.core.answer import Answer, entries, is_bounded, listed, numbers
from bayesjudge.core.calls import called
from bayesjudge.core.errors import ConvergenceWarning, check_ci_prob, checking
from bayesjudge.core.estimate import (
    COUNTS,
    TARGETS,
    Estimate,
    Row,
    Target,
    in_words,
    label,
    of_passes,
    pass_name_in,
)
from bayesjudge.core.fit import Fit
from bayesjudge.core.methods import HUMAN_ONLY, Method
from bayesjudge.core.periods import in_time
from bayesjudge.core.report import Record, records, report, side_by_side, union_of_cautions
from bayesjudge.core.screen import as_wide_as, how_many, read_no_more, visible_line, width_of
from bayesjudge.core.version import __version__

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from rich.console import Console

#: Headings of the help, in this order.
DATA = Group("The table", sort_key=1)
#: What TABLE can be, in the help of every command.
FORMATS = (
    ".csv, .tsv, .json, .jsonl or .ndjson (each also with .gz or .zst), .parquet, .xlsx, or .db of "
    "SQLite or DuckDB (FILE::NAME for one sheet or table); - is stdin"
)
LOGS = "a log of Inspect, promptfoo, DeepEval, MLflow and others (`bayesjudge doctor FILE`)"
#: The column of systems: whatever made the outputs, in every command by either name.
BY = Parameter(name=["--by", "--generator"], group=DATA)
GENERATOR = Parameter(name=["--generator", "--by"], group=DATA)
MODEL = Group("The model", sort_key=2)
OUTPUT = Group("Output", sort_key=3)


def table_option(rows: str, logs: str = "") -> Parameter:
    """The argument TABLE, with what is in a row of it and what files there are."""
    told = f"{rows}: {FORMATS}"
    return Parameter(group=DATA, help=f"{told}. Or {logs}." if logs else f"{told}.")


@Parameter(name="*", group=OUTPUT, negative="")
@dataclass(frozen=True)
class Shared:
    """Options that every command has.

    Parameters
    ----------
    ci_prob : float
        Probability of every interval: 0.95 is 95 %.
    interval : {"eti", "hdi", "eti_bounded"}
        Bayesian intervals: equal-tailed, highest density (the shortest), or boundary-extended:
        equal-tailed, and reaching 0 or 1 if the data do not exclude it; if not said, what suits
        the command.
    seed : int
        Same seed, same draws.
    no_nuts : bool
        Do not sample: closed forms and quadrature only, within a second.
    strict : bool
        Fail (exit code 1) if the sampler did not converge, rather than warn.
    html : Path
        Write one page with answer, pictures and tables; it needs no other file.
    markdown : str
        Write the same as Markdown, for a pull request or a job summary; `-` is the screen.
    save : Path
        Keep the sampled fit as netCDF, for `bayesjudge.load`.
    details : bool
        Show everything: every method and quantity, what each assumes, how it was sampled.
    quiet : bool
        Show no progress, and say nothing but the answer, its table and its cautions.
    json : bool
        Print one JSON document instead of text (schema bayesjudge/2): `answer`; `estimates` by
        quantity and `where`, with `cautions`, and `assumptions`, `targets`, `sources`, `sampling`
        by method.
    """

    ci_prob: float = 0.95
    interval: Literal["eti", "hdi", "eti_bounded"] | None = None
    seed: int = 1
    no_nuts: bool = False
    strict: bool = False
    html: Annotated[Path | None, Parameter(negative="")] = None
    markdown: Annotated[str | None, Parameter(negative="", allow_leading_hyphen=True)] = None
    save: Annotated[Path | None, Parameter(negative="")] = None
    details: Annotated[bool, Parameter(negative="")] = False
    quiet: Annotated[bool, Parameter(negative="")] = False
    json: bool = False

    @property
    def sampling(self) -> dict[str, Any]:
        """Settings of a fit; --quiet leaves out its progress bar."""
        progress = False if self.quiet else None
        return {"random_seed": self.seed, "strict": self.strict, "progress": progress}

    @property
    def on_screen(self) -> bool:
        """Whether stdout is for people."""
        return not self.json and self.markdown != "-"

    def tell(self, message: str) -> None:
        """Say on stderr what was done, unless --quiet."""
        if not self.quiet:
            tell(message)

    def check(self) -> None:
        """Refuse what would only fail after the work is done.

        Raises
        ------
        InputError
            If a folder is missing, or options contradict each other.
        """
        check_ci_prob(self.ci_prob)
        with checking("options") as require:
            for name in ("html", "markdown", "save"):
                path = getattr(self, name)
                if path in (None, "-"):
                    continue
                path = Path(path)
                require(path.parent.is_dir(), f"--{name}: there is no folder {str(path.parent)!r}")
                require(not path.is_dir(), f"--{name}: {str(path)!r} is a folder; name a file")
            check_page(self.html, require)
            twice = self.json and self.markdown == "-"
            require(not twice, "--json and --markdown - both write to stdout: take one")
            contradictory = self.no_nuts and self.save is not None
            require(not contradictory, "--save keeps the sampled fit: leave --no-nuts out")

    def check_sampled(self, *options: str) -> None:
        """Refuse options of the sampled model where nothing is sampled.

        Raises
        ------
        InputError
            With the options that were given.
        """
        with checking("options") as require:
            unused = self.no_nuts and options
            require(not unused, f"{are(options)} of the sampled model: leave --no-nuts out")


def check_page(path: Path | None, require: Callable[[object, str], None]) -> None:
    """Refuse a page under the name of something else."""
    page = path is None or path.suffix.lower() in (".html", ".htm")
    words = f"--html {path}: expected a name that ends in .html; a browser prints the page as a PDF"
    require(page, words)


def are(options: Sequence[str]) -> str:
    """``--target is``, ``--item and --target are``."""
    return f"{listed(options)} {'is' if len(options) == 1 else 'are'}"


@dataclass(frozen=True)
class Story:
    """What a command knows of its results that the results do not say themselves."""

    command: str
    title: str
    #: The quantity that pictures show.
    answer: str
    inputs: Mapping[str, Any]
    #: Makes the answer of the results.
    tell: Callable[[Sequence[Estimate | Fit]], Answer]
    truth: Mapping[tuple[Any, ...], float] | None = None
    #: What quantities mean, for a screen that shows them.
    words: Mapping[str, str] = field(default_factory=dict)
    #: What the quoted numbers are, if their quantity's name does not say it.
    heading: str = ""
    #: A quantity that is told beside the quoted one, in a column of its own.
    beside: str = ""
    #: Whose uncorrected numbers stand beside the quoted ones.
    own: str = "judge"
    #: Whether the labels alone have a column of their own, beside several quoted numbers.
    alone: bool = False
    #: Methods that answer another question: they are not counted among those that differ.
    aside: Sequence[Method] = ()
    #: Whether the answer quotes the sampled model, and waits for it.
    waits: bool = True
    #: Whether `meanwhile` has been called.
    told: bool = False
    #: Which items a fit is asked about; if not said, what suits its model.
    target: Target | None = None
    #: Whether every method's cautions are shown, beside those of the quoted one.
    every: bool = False

    def summary(self, shared: Shared) -> dict[str, Any]:
        """How a fit is summarised."""
        return {"ci_prob": shared.ci_prob, "interval": shared.interval, "target": self.target}


class Section(NamedTuple):
    """Something that a command says beside its estimates, such as a certificate."""

    heading: str
    lines: Sequence[str]
    key: str
    fields: Any
    #: Shown with ``--details`` only; of a section that is always shown, its further lines.
    detail: bool = True
    further: Sequence[str] = ()


Drawer = Callable[[Sequence[Estimate | Fit]], Mapping[str, "Axes"]]
Teller = Callable[[Sequence[Estimate | Fit]], Sequence[Section]]


def present(
    instant: Sequence[Estimate],
    sample: Callable[[], Fit | Estimate] | None,
    shared: Shared,
    story: Story,
    *,
    draw: Drawer | None = None,
    more: Teller | None = None,
    after: Callable[[Any], Sequence[Estimate]] | None = None,
) -> list[Estimate | Fit]:
    """Show the answer as soon as it is known, then what was asked for."""
    summary = story.summary(shared)
    console = open_console() if shared.on_screen else None
    sampling = sample is not None and not shared.no_nuts
    results: list[Estimate | Fit] = list(instant)
    early = bool(instant) and not (sampling and story.waits)
    if console is not None and early:
        show_answer(console, results, shared, story)
        write("")
    elif story.waits and instant and not story.told:
        meanwhile(story.tell(results), shared)
    if sample is not None and sampling:
        fit = _quietly(sample)
        results.append(fit)
        results += after(fit) if after else ()
        if console is not None and early:
            show_sampled(console, results, fit, shared, story)
    if console is not None and not early:
        show_answer(console, results, shared, story)
    sections = more(results) if more else ()
    if console is not None:
        others = [
            [r for r in records(one, **summary) if r.quantity != story.answer] for one in results
        ]
        rest(console, results, others, shared, story, sections)
    elif shared.json:
        write(as_document(results, shared, story, sections))
    _write(results, shared, story, draw, sections)
    return results


def meanwhile(found: Answer, shared: Shared) -> None:
    """Say on stderr what is known before the model is sampled, which the answer then replaces."""
    wanted = shared.on_screen and not shared.quiet and not shared.no_nuts
    if wanted and found.known and sys.stderr.isatty():
        tell(f"For now, by a formula ({found.method}): {found.text} Sampling follows.")


def _answers(found: Sequence[Record], story: Story) -> list[Record]:
    """What the table has rows of: bounds without a value are told in a line."""
    own = [record for record in found if record.quantity == story.answer]
    return [record for record in own if not is_bounded(record.row)]


def _bounds(found: Sequence[Record], story: Story) -> list[str]:
    """A line for each method that gives bounds only."""
    bounded = [r for r in found if r.quantity == story.answer and is_bounded(r.row)]
    return [
        f"{story.answer} ({method.brief}): no value, only bounds of "
        f"{how_many(len(own), 'number')}, from "
        f"{min(r.row.low for r in own):.3f} to {max(r.row.high for r in own):.3f} in all; each: "
        "--json"
        for method in dict.fromkeys(r.method for r in bounded)
        for own in [[r for r in bounded if r.method == method]]
    ]


def _quietly(sample: Callable[[], Fit | Estimate]) -> Fit | Estimate:
    """Sample; a fit that did not converge says so in its cautions, which are printed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return sample()


def _write(
    results: Sequence[Estimate | Fit],
    shared: Shared,
    story: Story,
    draw: Drawer | None,
    sections: Sequence[Section],
) -> None:
    if shared.save is not None:
        for fit in results:
            if isinstance(fit, Fit):
                shared.tell(f"fit saved in {fit.save(shared.save)}")
    summary = story.summary(shared)
    notes = {section.heading: [*section.lines, *section.further] for section in sections}
    about: dict[str, Any] = {"title": story.title, "answer": story.tell(results), "notes": notes}
    about |= {"inputs": story.inputs, "command": called(story.command)}
    if shared.markdown is not None:
        text = report(*results, **summary, **about, output="markdown")
        if shared.markdown == "-":
            write(text)
        else:
            Path(shared.markdown).write_text(text, encoding="utf-8")
            shared.tell(f"Markdown written to {shared.markdown}")
    if shared.html is None:
        return
    figures: dict[str, Figure] = {}
    try:
        figures = _figures(results, summary, story, draw)
    except ImportError as error:
        tell(f"the page has no pictures: {error}")
    page = report(*results, **summary, **about, figures=figures, output="html")
    shared.html.write_text(page, encoding="utf-8")
    shared.tell(f"page written to {shared.html}")


def _figures(
    results: Sequence[Estimate | Fit],
    summary: dict[str, Any],
    story: Story,
    draw: Drawer | None,
) -> dict[str, Figure]:
    from bayesjudge.core.plots import new_axes, plot_answer, plot_intervals

    made = [one.estimate(**summary) if isinstance(one, Fit) else one for one in results]
    found = story.tell(results)
    dashes = "; ticks: the truth" if story.truth else ""
    drawn = {f"What is quoted, with intervals{dashes}": plot_answer(found, truth=story.truth)}
    having = [one.only(story.answer) for one in made if story.answer in one]
    rows = side_by_side(*having, ci_prob=summary["ci_prob"])
    if 1 < len(rows) <= MOST_DRAWN:
        briefs = {one.method.title: one.method.brief for one in having}
        rows = rows.assign(method=rows["method"].map(briefs))
        rows.attrs["quoted"] = found.quoted.method.brief
        heading = story.heading or in_words(story.answer, pass_name_in(made))
        caption = f"{heading}: estimates and intervals by method"
        caption += "; dashed: the truth" if story.truth else ""
        axes = new_axes(8.0, 0.28 * len(rows) + 1.1)
        drawn[caption] = plot_intervals(rows, truth=story.truth, ax=axes)
    drawn |= draw(results) if draw else {}
    return {caption: cast("Figure", ax.get_figure()) for caption, ax in drawn.items()}


#: Most rows of the picture of all methods.
MOST_DRAWN = 40
#: What a spreadsheet takes for the beginning of a formula, also in its wide form.
FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def write_csv(table: pd.DataFrame, path: Path, *, append: bool = False) -> None:
    """Write a table that a person may open in a spreadsheet, or more rows of it.

    Text that would be run as a formula gets an apostrophe in front: it may come from a model. A
    carriage return is a line end, since Python before 3.13 writes it without quotes.
    """

    def inert(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        formula = value.startswith(FORMULA) and not NUMBER.fullmatch(value)
        return ("'" * formula + value).replace("\r\n", "\n").replace("\r", "\n")

    safe = table.copy()
    for name in table.select_dtypes(exclude=["number", "bool"]):
        safe[name] = table[name].map(inert)
    mode: Literal["a", "w"] = "a" if append else "w"
    safe.rename(columns=inert).to_csv(path, index=False, header=not append, mode=mode)


def tell(message: str) -> None:
    """Say something that is no result: on stderr."""
    print(as_wide_as(sys.stderr, message), file=sys.stderr)


def say(text: str) -> None:
    """Print text that is a result, in lines as wide as the terminal, or as plain text is."""
    write(as_wide_as(sys.stdout, text, piped=True) + "\n")


def write(text: str) -> None:
    """Write to stdout; without a reader the command goes on, for its files and its exit code."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        read_no_more()


NUMBERS = ("value", "low", "high", "width", "truth")


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


def show_answer(
    console: Console, results: Sequence[Estimate | Fit], shared: Shared, story: Story
) -> None:
    """Print the answer, what it rests on, and the table with the quoted row marked."""
    found = story.tell(results)
    wrapped(console, found.text, "", "", style="bold")
    read = story.inputs.get("labels")  # how they are spelled, if not as 1 and 0
    labels = f"Labels: {read}." if read else ""
    log = story.inputs.get("log")
    about = f"Log: {log}." if log else ""
    for line in (*found.notes, _with_source(found.basis, story), about, labels, found.why):
        if line:
            wrapped(console, line, "", "")
    summary = story.summary(shared)
    if shared.details:
        console.print()
        opening(console, story.title, story.inputs)
        _quoted_alone(console, found, results, story)
        every = records(*results, **summary)
        table(console, _answers(every, story), story)
        _section(console, "", _bounds(every, story))
        return
    lines = quoted_lines(found, records(*results, **summary), story, console.width)
    console.print("\n".join(["", *map(visible_line, lines)]), soft_wrap=True)


def _quoted_alone(
    console: Console, found: Answer, results: Sequence[Estimate | Fit], story: Story
) -> None:
    """Print the quoted numbers that no other method has, above the table of methods."""
    quantities = {q for one in results for q in one.quantities}
    missing = not quantities & set(found.quoted.quantities)
    if found.known and (missing or story.answer not in found.quoted.quantities):
        table(console, records(found.quoted, ci_prob=found.quoted.ci_prob), story, named=True)


def _with_source(basis: str, story: Story) -> str:
    """What the answer rests on, and where it was read."""
    source = str(story.inputs.get("data", ""))
    return f"{source}: {basis}" if source and basis else basis or source


#: What is told in the order of its numbers, as the sentence does.
RANKED = {"system", "generator", "judge", "stratum", "perturbation"}
#: The method that leaves the judge out.
ALONE = HUMAN_ONLY
#: Most rows of other methods, and of one method, on a screen without --details.
MOST_OTHERS, MOST_ROWS = 10, 20


def quoted_lines(found: Answer, every: Sequence[Record], story: Story, width: int) -> list[str]:
    """Lines of the table: the quoted rows first, then the other methods."""
    made, truth = found.quoted, story.truth or {}
    own = {} if found.judge is None else entries(found.judge)
    kept = [
        Record(quantity, where, made.method, row, made.interval_of(quantity))
        for quantity, where, row in made.rows()
    ]
    one, several = len(kept) == 1, len({one.quantity for one in kept}) > 1
    dims = {dim for record in kept for dim in record.where}
    periods = in_time([str(r.where["system"]) for r in kept]) if dims == {"system"} else []
    if periods:
        kept.sort(key=lambda record: periods.index(str(record.where["system"])))
    elif not several and dims <= RANKED:
        kept.sort(key=lambda record: -np.nan_to_num(record.row.value, nan=-math.inf))
    beside = own if own and not one else None
    # the judge's own numbers have a column of their own if there are several rows
    named = {made.method, *([found.judge.method] if beside and found.judge else [])}
    entered = {one.entry for one in kept}
    alone = {r.entry: r.row.value for r in every if r.method == ALONE and r.entry in entered}
    alone = alone if story.alone and not one else {}
    named |= {ALONE} if alone else set()
    others = [
        r
        for r in every
        if r.entry in entered and r.method not in named and not math.isnan(r.row.value)
        if r.method not in story.aside
    ]
    quantity = in_words(next(iter(made.quantities)), pass_name_in([made]))
    title = "" if several else story.heading or quantity
    head = ["", title, "value", "low", "high"]
    head += [story.own] * (beside is not None) + ["truth"] * bool(truth)
    rows = [
        _cells(">", r.method.brief if one else _name(r, kept, several), r, beside, truth)
        for r in kept[:MOST_ROWS]
    ]
    also = {r.entry[1:]: r.row for r in reversed(every) if r.quantity == story.beside}
    if also:
        head.append(in_words(story.beside))
        rows = [
            [*row, numbers(also[r.entry[1:]]) if r.entry[1:] in also else "–"]
            for r, row in zip(kept, rows, strict=False)
        ]
    if alone:
        head.append("labels alone")
        cells = [_number(alone.get(r.entry, math.nan)) for r in kept]
        rows = [[*row, cell] for row, cell in zip(rows, cells, strict=False)]
    if one and 0 < len(others) <= MOST_OTHERS:
        more = [
            [*_cells("", r.method.brief, r, beside, truth), *([""] if also else [])] for r in others
        ]
        lines = grid([head, *rows, *more], width)
        return [*lines[:2], "  other methods", *lines[2:]]
    lines = grid([head, *rows], width)
    left = len(kept) - MOST_ROWS
    lines += [f"  … {left} more rows: --details"] if left > 0 else []
    apart = f"  {_apart(others, kept, story)}" if others else ""
    return lines + textwrap.wrap(apart, width - 1, subsequent_indent="    ")


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
        row.append("–" if there is None else _number(there.value))
    return row + ([_number(truth.get(record.entry, math.nan))] if truth else [])


def show_sampled(
    console: Console,
    results: Sequence[Estimate | Fit],
    fit: Fit | Estimate,
    shared: Shared,
    story: Story,
) -> None:
    """Go on with the table: the sampled model, which the answer did not wait for."""
    summary = story.summary(shared)
    if shared.details:
        before = [one for one in results if one is not fit]
        above = _answers(records(*before, **summary), story)
        table(console, _answers(records(fit, **summary), story), story, above=above)
        return
    found, told_before = story.tell(results), story.tell([r for r in results if r is not fit])
    quoted = entries(found.quoted)
    mine = [r for r in records(fit, **summary) if r.entry in quoted if not is_bounded(r.row)]
    if len(quoted) == 1 and mine:
        every = records(*results, **summary)
        console.print(visible_line(quoted_lines(found, every, story, console.width)[-1]))
    elif mine:
        gap = max(abs(r.row.value - quoted[r.entry].value) for r in mine)
        told = f"{fit.method.brief}, sampled since, differs from these numbers by at most "
        wrapped(console, f"{told}{gap:.2g}: --details", "  ", "    ")
    for note in found.notes:
        if note not in told_before.notes:
            wrapped(console, note, "  ", "    ")


def _name(record: Record, every: Sequence[Record], several: bool) -> str:
    """Coordinates that differ from row to row, after the quantity if there are several."""
    dims = [d for d in record.where if len({r.where.get(d) for r in every}) > 1]
    where = ", ".join(f"{record.where[d]}{' calls' * (d == 'calls')}" for d in dims)
    name = in_words(record.quantity)
    return (f"{name}, {where}" if where else name) if several else where


def _apart(others: Sequence[Record], kept: Sequence[Record], story: Story) -> str:
    """How far other methods are from the quoted one."""
    rows = {r.entry: r.row for r in kept}
    methods = dict.fromkeys(r.method for r in others)
    bare = dict.fromkeys(r.method for r in others if _is_bare(r.row, rows[r.entry]))
    vague = dict.fromkeys(r.method for r in others if _says_less(r.row, rows[r.entry]))
    left = {**vague, **bare}
    known = [r for r in others if r.method not in left and not math.isnan(r.row.value)]
    one = len(methods) - len(left) == 1
    count = "Another method" if one else f"{len(methods) - len(left)} other methods"
    if not known:
        count = "Another method" if len(methods) == 1 else f"{len(methods)} other methods"
        why = ["far wider"] * bool(vague) + ["without an interval"] * bool(bare)
        return f"{count}{f' ({" or ".join(why)})' if why else ''}: --details"
    far = max(known, key=lambda r: abs(r.row.value - rows[r.entry].value))
    gap = abs(far.row.value - rows[far.entry].value)
    place = f"{', ' * bool(far.where)}{_where(far)}"
    held = rows[far.entry].low <= far.row.value <= rows[far.entry].high
    place += "" if held else f"; its {far.row.value:.3f} lies outside the interval above"
    told = f"{count} {'differs' if one else 'differ'} by at most {gap:.2g} "
    told += f"({far.method.brief}{place})"
    told += _turned(known, kept, story)
    for reason, names in (("far wider", vague), ("without an interval", bare)):
        if names:
            told += (
                f"; not counted, {reason}: {listed([*dict.fromkeys(one.brief for one in names)])}"
            )
    return f"{told}: --details"


#: An interval so many times as wide as the quoted one says too little to contradict it: .84 to .96
#: of such numbers are further from the truth than the quoted one (benchmarks/core/wider.py).
MUCH_WIDER = 4


def _is_bare(row: Row, quoted: Row) -> bool:
    """Whether a number has no interval beside one that has."""
    return math.isnan(row.high - row.low) and not math.isnan(quoted.high - quoted.low)


def _says_less(row: Row, quoted: Row) -> bool:
    return row.high - row.low > MUCH_WIDER * (quoted.high - quoted.low)


def _turned(others: Sequence[Record], kept: Sequence[Record], story: Story) -> str:
    """Neighbours in the quoted order that another method has the other way round.

    Among several, intervals that overlap say nothing worth a line.
    """
    order = sorted(kept, key=lambda r: -r.row.value)
    if len({r.quantity for r in kept}) > 1 or len(order) > MOST_OTHERS:
        return ""
    rows = {(r.method, r.entry): r.row for r in others}
    methods = dict.fromkeys(r.method for r in others)
    told = []
    for better, worse in pairwise(order):
        both = [(m, rows.get((m, better.entry)), rows.get((m, worse.entry))) for m in methods]
        against = [
            m.brief + ", whose intervals overlap," * (two.low <= one.high)
            for m, one, two in both
            if one is not None and two is not None and one.value < two.value
            if len(order) == 2 or two.low > one.high
        ]
        if against:
            put = "puts" if len(against) == 1 else "put"
            told.append(f"{listed(against)} {put} {_where(worse)} before {_where(better)}")
    return "".join(f"; {one}" for one in told)


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


def table(
    console: Console,
    found: Sequence[Record],
    story: Story,
    *,
    above: Sequence[Record] = (),
    named: bool = False,
) -> None:
    """Print estimates, one a line: by coordinates, with the quantity's name if `named`.

    Rows `above` that were printed before are gone on with: no heading, columns as wide as theirs.
    """
    from rich.table import Table

    if not found:
        return
    truth = story.truth or {}
    columns = [c for c in NUMBERS if c != "truth" or truth]
    every = [*found, *above]
    labels = [visible_line(label(r.quantity, r.entry[1:]) if named else _where(r)) for r in every]
    labelled = any(labels)
    methods = [visible_line(r.method.brief) for r in every]
    numbers = [[*r.numbers, *([truth.get(r.entry, math.nan)] if truth else [])] for r in every]
    cells = [
        [_number(x, r.quantity in COUNTS) for x in row]
        for r, row in zip(every, numbers, strict=True)
    ]
    head = "quantity" if named else story.answer
    widths = [max(map(len, [*labels, head]))] if labelled else []
    widths += [
        max(18, *map(len, methods)),
        *(max(5, *map(len, c)) for c in zip(*cells, strict=True)),
    ]
    for at, least in ((int(labelled), 12), (0, 8)):  # names are folded, numbers never
        over = sum(widths) + len(widths) - 1 - console.width
        widths[at] = max(widths[at] - max(over, 0), min(widths[at], least))
    names = [head, "method"] if labelled else [head if named else story.answer]
    grid = Table(box=None, show_header=not above, pad_edge=False, padding=(0, 1, 0, 0))
    # a table of few columns is wide enough, and one that continues another has the same widths
    for text, width in zip([*names, *columns], widths, strict=True):
        justify: Any = "right" if text in NUMBERS else "left"
        number = text in NUMBERS
        grid.add_column(text, justify=justify, width=width, no_wrap=number, overflow="fold")
    kinds = max(len(r.interval) for r in every)
    labels = labels[: len(found)]
    roomy = sum(widths) + len(widths) + kinds <= console.width
    if roomy:
        grid.add_column("interval", no_wrap=True)
    for i, (one, name, method, row) in enumerate(zip(found, labels, methods, cells, strict=False)):
        first = i == 0 or name != labels[i - 1]
        if first and i and max(labels.count(name), labels.count(labels[i - 1])) > 1:
            grid.add_row()
        start = [name if first else ""] if labelled else []
        grid.add_row(*start, method, *row, *([visible_line(one.interval)] if roomy else []))
    # a blank line above, but where a single row continues the table
    console.print(*([""] if not above or len(set(labels)) > 1 else []), grid, sep="\n")
    if not roomy:
        told = [(r.method.brief, f"{r.interval} interval") for r in found if r.interval]
        _section(console, "", _by_text(told))


def _where(record: Record) -> str:
    return ", ".join(map(str, record.where.values()))


def rest(
    console: Console,
    results: Sequence[Estimate | Fit],
    others: Sequence[Sequence[Record]],
    shared: Shared,
    story: Story,
    sections: Sequence[Section] = (),
) -> None:
    """Print what a reader must know of the answer; with ``--details`` everything."""
    for section in sections:
        if not section.detail and not shared.details:
            _section(console, section.heading, section.lines)
    if not shared.details:
        _brief_end(console, results, shared, story)
        return
    other = _by_entry(others)
    table(console, other, story, named=True)
    meant = [q for q in dict.fromkeys(r.quantity for r in other) if q in story.words]
    name = pass_name_in(results)
    _section(console, "", [f"{q}: {of_passes(story.words[q], name)}" for q in meant])
    for section in sections:
        _section(console, section.heading, [*section.lines, *section.further])
    cautions = union_of_cautions(story.tell(results), results)
    _section(console, "Cautions", [f"{c.name}: {c.text}" for c in cautions])
    assumed = [(one.method.brief, "; ".join(map(str, one.assumptions))) for one in results]
    _section(console, "Assumptions", _by_text(assumed))
    targets = [(isinstance(one, Fit) and story.target) or one.target for one in results]
    pairs = zip(results, targets, strict=True)
    about = [(one.method.brief, f"about {TARGETS[t]}") for one, t in pairs]
    _section(console, "Items", _by_text(about))
    _section(console, "Sampling", [_sampling(fit) for fit in results if isinstance(fit, Fit)])


def _by_entry(others: Sequence[Sequence[Record]]) -> list[Record]:
    """What methods say beside the answer: of each number every method that has it."""
    found: dict[tuple[Any, ...], list[Record]] = {}
    for one in [record for other in others for record in other]:
        if not math.isnan(one.row.value):
            found.setdefault(one.entry, []).append(one)
    return [one for same in found.values() for one in same]


#: Cautions of the judge's own number, which the quoted one corrects unless they contradict it.
OF_THE_JUDGE = {"errors-do-not-cancel"}


def _brief_end(
    console: Console, results: Sequence[Estimate | Fit], shared: Shared, story: Story
) -> None:
    """Cautions of the quoted numbers, how many others there are, and where the rest is."""
    found = story.tell(results)
    every = union_of_cautions(found, results)
    corrected = OF_THE_JUDGE - {n for a in found.quoted.assumptions for n in a.contradicted_by}
    own = [c for c in (every if story.every else found.cautions) if c.name not in corrected]
    lines = [f"{c.name}: {c.text}" for c in own]
    names = {c.name for c in every} - corrected - {c.name for c in own}
    if names:
        which = listed([name for name in dict.fromkeys(c.name for c in every) if name in names])
        lines += [f"{len(names)} more, of numbers that are not quoted ({which}): --details"]
    _section(console, "Cautions" if lines else "", lines)
    fits = [one for one in results if isinstance(one, Fit)]
    stuck = [fit.method for fit in fits if not fit.converged and fit.method != found.method]
    _section(console, "", [f"{method} did not converge: --details" for method in stuck])
    if shared.quiet:
        return
    console.print()
    text = "--details shows every method with its assumptions and cautions; --html FILE writes a "
    text += "page; "
    wrapped(console, f"{text}bayesjudge explain TERM says what a word means.", "", "")


def _by_text(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Methods of which the same holds, in one line; what holds of all needs no names."""
    found: dict[str, dict[str, None]] = {}
    for method, text in pairs:
        found.setdefault(text, {})[method] = None
    if len(found) == 1:
        return [text for text in found if text]
    return [f"{', '.join(methods)}: {text}" for text, methods in found.items() if text]


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
    # a number keeps its unit and its sign
    whole = visible_line(text).replace(" %", "\N{NO-BREAK SPACE}%")
    whole = whole.replace("± ", "±\N{NO-BREAK SPACE}")
    lines = textwrap.wrap(whole, width, initial_indent=visible_line(first), subsequent_indent=later)
    shown = "\n".join(lines or [first.rstrip()]).replace("\N{NO-BREAK SPACE}", " ")
    console.print(shown, soft_wrap=True, style=style or None)


def _number(value: float, whole: bool = False) -> str:
    return "–" if math.isnan(value) else f"{value:.{0 if whole else 3}f}"


#: Changes where a field changes its meaning or goes; a new field is no change.
SCHEMA = "bayesjudge/2"


def as_document(
    results: Sequence[Estimate | Fit],
    shared: Shared,
    story: Story,
    sections: Sequence[Section] = (),
) -> str:
    """Write results as JSON.

    Fields of the document, schema ``bayesjudge/2``:

    - ``schema``, ``bayesjudge`` (version of the package), ``command``, ``inputs`` (what was read),
      ``ci_prob``;
    - ``answer``: ``text``, the sentence; ``known``, false if the data cannot answer; ``basis``,
      ``why``, ``notes``, ``paragraph`` (for a paper); ``method``, whose ``estimates`` are quoted:
      ``quantity``, ``where``, ``value``, ``low``, ``high``, and ``judge``, the judge's own;
    - ``estimates``, a list: ``quantity``; ``where``, its coordinates by dimension
      (``{"system": "gpt4"}``, ``{}`` of a single number); ``method``; ``value``, ``low``, ``high``
      and ``width`` (null if there is no answer); ``interval``, its kind; and ``truth`` if the
      command knows it (null for what it does not know);
    - ``cautions``, a list of ``name`` and ``text``;
    - by method: ``assumptions``, a list of ``id``, ``text`` and ``contradicted_by`` (names of
      cautions); ``targets``, ``"population"`` or ``"items"``; ``sources``; ``sampling`` of the
      sampled ones: ``chains``, ``draws``, ``converged``, ``max_r_hat``, ``min_ess``,
      ``random_seed``, ``model``, ``priors``, versions and the data's checksum;
    - what a command says beside its estimates, under a name of its own: ``designs`` (prevalence), …
    """
    summary = story.summary(shared)
    made = [one.estimate(**summary) if isinstance(one, Fit) else one for one in results]
    estimates = [
        {
            "quantity": one.quantity,
            "where": one.where,
            "method": one.method.title,
            **dict(zip(NUMBERS, one.numbers, strict=False)),
            "interval": one.interval,
            **({"truth": story.truth.get(one.entry)} if story.truth else {}),
        }
        for one in records(*made, ci_prob=shared.ci_prob)
    ]
    document = {
        "schema": SCHEMA,
        "bayesjudge": __version__,
        "command": story.command,
        "inputs": story.inputs,
        "ci_prob": shared.ci_prob,
        "answer": story.tell(results).as_dict(),
        "estimates": estimates,
        **{section.key: section.fields for section in sections},
        "cautions": [c._asdict() for c in union_of_cautions(story.tell(results), made)],
        "assumptions": {one.method.title: [a._asdict() for a in one.assumptions] for one in made},
        "targets": {one.method.title: one.target for one in made},
        "sources": {one.method.title: one.source for one in made},
        "sampling": {one.method.title: sampling_of(one) for one in results if isinstance(one, Fit)},
    }
    return json.dumps(_plain(document), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def sampling_of(fit: Fit) -> dict[str, Any]:
    """Tell how a fit was sampled, and how well."""
    sizes, checks = fit.idata["posterior"].sizes, fit.diagnostics()
    return {
        "chains": int(sizes["chain"]),
        "draws": int(sizes["draw"]),
        "converged": fit.converged,
        "max_r_hat": float(checks["r_hat"].max()),
        "min_ess": float(checks[["ess_bulk", "ess_tail"]].min().min()),
        **{str(k): v for k, v in fit.idata.attrs.items()},
    }


def _plain(value: Any) -> Any:
    """Values that JSON has: nothing else, and no NaN."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if hasattr(value, "tolist"):  # NumPy's numbers and arrays
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)
