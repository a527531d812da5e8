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
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, cast

from cyclopts import Group, Parameter

import bayesjudge
from bayesjudge.core.errors import ConvergenceWarning, check_ci_prob, checking
from bayesjudge.core.estimate import TARGETS, Estimate, label
from bayesjudge.core.fit import Fit
from bayesjudge.core.report import Record, records, report, side_by_side
from bayesjudge.core.screen import visible, visible_line

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from rich.console import Console

#: Headings of the help, in this order.
DATA = Group("The table", sort_key=1)
MODEL = Group("The model", sort_key=2)
OUTPUT = Group("Output", sort_key=3)


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
        Write one page with table and pictures; it needs no other file.
    save : Path
        Keep the sampled fit as netCDF, for `bayesjudge.load`.
    json : bool
        Print one JSON document instead of text (schema bayesjudge/2): `estimates` by quantity and
        `where`, with `cautions`, and `assumptions`, `targets`, `sources`, `sampling` by method.
    """

    ci_prob: float = 0.95
    interval: Literal["eti", "hdi", "eti_bounded"] | None = None
    seed: int = 1
    no_nuts: bool = False
    strict: bool = False
    html: Annotated[Path | None, Parameter(negative="")] = None
    save: Annotated[Path | None, Parameter(negative="")] = None
    json: bool = False

    def check(self) -> None:
        """Refuse what would only fail after the work is done.

        Raises
        ------
        InputError
            If a folder is missing, or options contradict each other.
        """
        check_ci_prob(self.ci_prob)
        with checking("options") as require:
            for name in ("html", "save"):
                path = getattr(self, name)
                if path is None:
                    continue
                require(path.parent.is_dir(), f"--{name}: there is no folder {str(path.parent)!r}")
                require(not path.is_dir(), f"--{name}: {str(path)!r} is a folder; name a file")
            contradictory = self.no_nuts and self.save is not None
            require(not contradictory, "--save keeps the sampled fit: leave --no-nuts out")


@dataclass(frozen=True)
class Story:
    """What a command knows of its results that the results do not say themselves."""

    command: str
    title: str
    answer: str
    inputs: Mapping[str, Any]
    truth: Mapping[tuple[Any, ...], float] | None = None
    brief: Callable[[str], str] = str
    #: What quantities mean, for a screen that shows them.
    words: Mapping[str, str] = field(default_factory=dict)


class Section(NamedTuple):
    """Something that a command says beside its estimates, such as a certificate."""

    heading: str
    lines: Sequence[str]
    key: str
    fields: Any


Drawer = Callable[[Sequence[Estimate | Fit]], Mapping[str, "Axes"]]
Teller = Callable[[Sequence[Estimate | Fit]], Sequence[Section]]


def present(
    instant: Sequence[Estimate],
    sample: Callable[[], Fit] | None,
    shared: Shared,
    story: Story,
    *,
    draw: Drawer | None = None,
    more: Teller | None = None,
    after: Callable[[Fit], Sequence[Estimate]] | None = None,
) -> list[Estimate | Fit]:
    """Show what costs nothing at once, then sample, then write what was asked for."""
    summary: dict[str, Any] = {"ci_prob": shared.ci_prob, "interval": shared.interval}
    console = None if shared.json else open_console()
    if console is not None:
        opening(console, story.title, story.inputs)
        if instant:
            table(console, _answers(records(*instant, **summary), story), story)
        sys.stdout.flush()
    results: list[Estimate | Fit] = list(instant)
    if sample is not None and not shared.no_nuts:
        fit = _quietly(sample)
        results.append(fit)
        if console is not None:
            table(console, _answers(records(fit, **summary), story), story, more=True)
        results += after(fit) if after else ()
    sections = more(results) if more else ()
    if console is not None:
        others = [
            [r for r in records(one, **summary) if r.quantity != story.answer] for one in results
        ]
        rest(console, results, others, story, sections)
    else:
        sys.stdout.write(as_document(results, shared, story, sections))
    _write(results, shared, story, draw, sections)
    return results


def _answers(found: Sequence[Record], story: Story) -> list[Record]:
    return [record for record in found if record.quantity == story.answer]


def _quietly(sample: Callable[[], Fit]) -> Fit:
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
                tell(f"fit saved in {fit.save(shared.save)}")
    if shared.html is None:
        return
    summary: dict[str, Any] = {"ci_prob": shared.ci_prob, "interval": shared.interval}
    figures: dict[str, Figure] = {}
    try:
        figures = _figures(results, summary, story, draw)
    except ImportError as error:
        tell(f"the page has no pictures: {error}")
    about: dict[str, Any] = {"title": story.title, "figures": figures}
    about["notes"] = {section.heading: section.lines for section in sections}
    page = report(*results, **summary, **about, output="html")
    shared.html.write_text(page, encoding="utf-8")
    tell(f"page written to {shared.html}")


def _figures(
    results: Sequence[Estimate | Fit],
    summary: dict[str, Any],
    story: Story,
    draw: Drawer | None,
) -> dict[str, Figure]:
    from bayesjudge.core.plots import new_axes, plot_intervals

    made = [one.estimate(**summary) if isinstance(one, Fit) else one for one in results]
    rows = side_by_side(*(one.only(story.answer) for one in made), ci_prob=summary["ci_prob"])
    rows = rows.assign(method=rows["method"].map(story.brief))
    caption = f"{story.answer}: estimates and intervals by method"
    caption += "; dashed: the truth" if story.truth else ""
    axes = plot_intervals(rows, truth=story.truth, ax=new_axes(8.0, 0.28 * len(rows) + 1.1))
    drawn = {caption: axes, **(draw(results) if draw else {})}
    return {caption: cast("Figure", ax.get_figure()) for caption, ax in drawn.items()}


#: What a spreadsheet takes for the beginning of a formula, also in its wide form.
FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def write_csv(table: pd.DataFrame, path: Path, *, append: bool = False) -> None:
    """Write a table that a person may open in a spreadsheet, or more rows of it.

    Text that would be run as a formula gets an apostrophe in front: it may come from a model.
    """

    def inert(value: Any) -> Any:
        formula = isinstance(value, str) and value.startswith(FORMULA)
        return f"'{value}" if formula and not NUMBER.fullmatch(value) else value

    safe = table.copy()
    for name in table.select_dtypes(exclude=["number", "bool"]):
        safe[name] = table[name].map(inert)
    mode: Literal["a", "w"] = "a" if append else "w"
    safe.rename(columns=inert).to_csv(path, index=False, header=not append, mode=mode)


def tell(message: str) -> None:
    """Say something that is no result: on stderr."""
    print(visible(message), file=sys.stderr)


#: Width of text that goes to a file or a pipe, where no terminal says one.
PLAIN_WIDTH = 120
NUMBERS = ("value", "low", "high", "width", "truth")


def open_console() -> Console:
    """Open stdout."""
    from rich.console import Console

    terminal = sys.stdout.isatty()
    return Console(
        file=sys.stdout,
        width=None if terminal else PLAIN_WIDTH,
        force_terminal=terminal,
        highlight=False,
        markup=False,
        emoji=False,
    )


def opening(console: Console, title: str, inputs: Mapping[str, Any]) -> None:
    """Print what was read."""
    console.print(visible_line(title), style="bold")
    width = max(map(len, inputs), default=0)
    for name, value in inputs.items():
        first, later = f"  {name:<{width}}  ", " " * (width + 4)
        _wrapped(console, str(value), first, later)


def table(
    console: Console,
    found: Sequence[Record],
    story: Story,
    *,
    more: bool = False,
    named: bool = False,
) -> None:
    """Print estimates, one a line: by coordinates, with the quantity's name if `named`.

    With ``more=True`` the table above goes on: no heading.
    """
    from rich.table import Table

    if not found:
        return
    truth = story.truth or {}
    columns = [c for c in NUMBERS if c != "truth" or truth]
    labels = [visible_line(label(r.quantity, r.entry[1:]) if named else _where(r)) for r in found]
    labelled = any(labels)
    methods = [visible_line(story.brief(r.method)) for r in found]
    numbers = [[*r.numbers, *([truth.get(r.entry, math.nan)] if truth else [])] for r in found]
    cells = [[_number(x) for x in row] for row in numbers]
    head = "quantity" if named else story.answer
    widths = [max(map(len, [*labels, head]))] if labelled else []
    widths += [
        max(18, *map(len, methods)),
        *(max(5, *map(len, c)) for c in zip(*cells, strict=True)),
    ]
    names = [head, "method"] if labelled else [head if named else story.answer]
    grid = Table(box=None, show_header=not more, pad_edge=False, padding=(0, 1, 0, 0))
    # a table of few columns is wide enough, and one that continues another has the same widths
    for text, width in zip([*names, *columns], widths, strict=True):
        justify: Any = "right" if text in NUMBERS else "left"
        grid.add_column(text, justify=justify, width=width, no_wrap=True)
    kinds = max(len(r.interval) for r in found)
    roomy = sum(widths) + len(widths) + kinds <= console.width
    if roomy:
        grid.add_column("interval", no_wrap=True)
    for i, (one, name, method, row) in enumerate(zip(found, labels, methods, cells, strict=True)):
        first = i == 0 or name != labels[i - 1]
        if first and i and len(found) > len(set(labels)):
            grid.add_row()
        start = [name if first else ""] if labelled else []
        grid.add_row(*start, method, *row, *([visible_line(one.interval)] if roomy else []))
    # a blank line above, but where a single row continues the table
    console.print(*([""] if not more or len(set(labels)) > 1 else []), grid, sep="\n")
    if not roomy:
        told = [(r.method, f"{r.interval} interval") for r in found if r.interval]
        _section(console, "", _by_text(told, story))


def _where(record: Record) -> str:
    return ", ".join(map(str, record.where.values()))


def rest(
    console: Console,
    results: Sequence[Estimate | Fit],
    others: Sequence[Sequence[Record]],
    story: Story,
    sections: Sequence[Section] = (),
) -> None:
    """Print the other quantities of the last result that has some, and what all results assume."""
    for other in [other for other in others if other][-1:]:
        table(console, other, story, named=True)
        meant = [q for q in dict.fromkeys(r.quantity for r in other) if q in story.words]
        _section(console, "", [f"{q}: {story.words[q]}" for q in meant])
    for section in sections:
        _section(console, section.heading, section.lines)
    cautions = dict.fromkeys(c for one in results for c in one.cautions)
    _section(console, "Cautions", [f"{c.name}: {c.text}" for c in cautions])
    assumed = [(one.method, "; ".join(map(str, one.assumptions))) for one in results]
    _section(console, "Assumptions", _by_text(assumed, story))
    about = [(one.method, f"about {TARGETS[one.target]}") for one in results]
    _section(console, "Items", _by_text(about, story))
    _section(console, "Sampling", [_sampling(fit) for fit in results if isinstance(fit, Fit)])


def _by_text(pairs: Sequence[tuple[str, str]], story: Story) -> list[str]:
    """Methods of which the same holds, in one line; what holds of all needs no names."""
    found: dict[str, dict[str, None]] = {}
    for method, text in pairs:
        found.setdefault(text, {})[story.brief(method)] = None
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
        _wrapped(console, line, "  ", "    ")


def _wrapped(console: Console, text: str, first: str, later: str) -> None:
    width = max(console.width - 1, 40)
    lines = textwrap.wrap(
        visible_line(text), width, initial_indent=visible_line(first), subsequent_indent=later
    )
    console.print("\n".join(lines or [first.rstrip()]), soft_wrap=True)


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"


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
    summary: dict[str, Any] = {"ci_prob": shared.ci_prob, "interval": shared.interval}
    made = [one.estimate(**summary) if isinstance(one, Fit) else one for one in results]
    estimates = [
        {
            "quantity": one.quantity,
            "where": one.where,
            "method": one.method,
            **dict(zip(NUMBERS, one.numbers, strict=False)),
            "interval": one.interval,
            **({"truth": story.truth.get(one.entry)} if story.truth else {}),
        }
        for one in records(*made, ci_prob=shared.ci_prob)
    ]
    document = {
        "schema": SCHEMA,
        "bayesjudge": bayesjudge.__version__,
        "command": story.command,
        "inputs": story.inputs,
        "ci_prob": shared.ci_prob,
        "estimates": estimates,
        **{section.key: section.fields for section in sections},
        "cautions": [c._asdict() for c in dict.fromkeys(c for one in made for c in one.cautions)],
        "assumptions": {one.method: [a._asdict() for a in one.assumptions] for one in made},
        "targets": {one.method: one.target for one in made},
        "sources": {one.method: one.source for one in made},
        "sampling": {one.method: sampling_of(one) for one in results if isinstance(one, Fit)},
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
