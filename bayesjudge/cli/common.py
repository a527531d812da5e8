"""What every command shares: options, and how results reach a screen, a page and a machine."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, cast

from cyclopts import Group, Parameter

from bayesjudge.cli import screen
from bayesjudge.cli.document import as_document
from bayesjudge.core.errors import ConvergenceWarning, check_ci_prob, checking
from bayesjudge.core.fit import Fit
from bayesjudge.core.report import report, side_by_side
from bayesjudge.core.results import Estimate

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
    interval : {"eti", "hdi", "eti+"}
        Bayesian intervals: equal-tailed, highest density (the shortest), or equal-tailed and
        reaching 0 or 1 where the data do not exclude it ("equal-tailed+"); if not said, what
        suits the command.
    seed : int
        Same seed, same draws.
    no_nuts : bool
        Do not sample: closed forms and quadrature only, within a second.
    strict : bool
        Fail (exit code 1) where the sampler did not converge, rather than warn.
    html : Path
        Write one page with table and pictures; it needs no other file.
    save : Path
        Keep the sampled fit as netCDF, for `bayesjudge.load`.
    json : bool
        Print one JSON document instead of text.
    """

    ci_prob: float = 0.95
    interval: Literal["eti", "hdi", "eti+"] | None = None
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
            Where a folder is missing, or options contradict each other.
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
    """What a command knows of its results that the results do not say themselves.

    Parameters
    ----------
    command : str
        Its name, for the document.
    title : str
        Heading of screen and page.
    answer : str
        The quantity that the command is about, such as ``"prevalence"``; it comes first.
    inputs : mapping
        What was read and how, for screen and document.
    truth : mapping of str to float
        True values by quantity, where they are known.
    brief : callable
        Shortens a method's name for the screen.
    """

    command: str
    title: str
    answer: str
    inputs: Mapping[str, Any]
    truth: Mapping[str, float] | None = None
    brief: Callable[[str], str] = str


class Section(NamedTuple):
    """Something that a command says beside its estimates, such as a certificate.

    Parameters
    ----------
    heading : str
        For screen and page.
    lines : sequence of str
        Paragraphs of text.
    key : str
        Where the document has it.
    fields : object
        What the document has there.
    """

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
    """Show what costs nothing at once, then sample, then write what was asked for.

    Parameters
    ----------
    instant : sequence of Estimate
        Made at ``shared.ci_prob``.
    sample : callable or None
        Returns the fit; not called with ``--no-nuts``.
    shared : Shared
        Options.
    story : Story
        About the command.
    draw : callable, optional
        Draws further pictures of the results for the page; returns axes by caption.
    more : callable, optional
        Says more of the results than their tables do; returns sections.
    after : callable, optional
        What else follows from the fit.

    Returns
    -------
    list of Estimate or Fit
        All results.

    Raises
    ------
    InputError
        Where nothing was given.
    ConvergenceError
        Where the sampler did not converge and ``shared.strict`` asks for an error.
    """
    summary: dict[str, Any] = {"ci_prob": shared.ci_prob, "interval": shared.interval}
    console = None if shared.json else screen.console()
    if console is not None:
        screen.opening(console, story.title, story.inputs)
        if instant:
            first = side_by_side(*instant, **summary)
            screen.table(console, first, story.answer, story.brief, truth=story.truth)
        sys.stdout.flush()
    results: list[Estimate | Fit] = list(instant)
    if sample is not None and not shared.no_nuts:
        fit = _quietly(sample)
        results.append(fit)
        if console is not None:
            last = side_by_side(fit, **summary)
            screen.table(console, last, story.answer, story.brief, truth=story.truth, more=True)
        results += after(fit) if after else ()
    sections = more(results) if more else ()
    if console is not None:
        tables = [side_by_side(one, **summary) for one in results]
        screen.rest(console, results, tables, story.answer, story.brief, sections)
    else:
        sys.stdout.write(as_document(results, shared, story, sections))
    _write(results, shared, story, draw, sections)
    return results


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

    table = side_by_side(*results, **summary)
    rows = table[table["quantity"].str.split("[").str[0] == story.answer]
    # the caption says what is drawn, so that a row's name can be short
    rows = rows.assign(
        quantity=rows["quantity"].map(_label), method=rows["method"].map(story.brief)
    )
    truth = {_label(name): value for name, value in (story.truth or {}).items()}
    caption = f"{story.answer}: estimates and intervals by method"
    caption += "; dashed: the truth" if truth else ""
    axes = plot_intervals(rows, truth=truth, ax=new_axes(8.0, 0.28 * len(rows) + 1.1))
    drawn = {caption: axes, **(draw(results) if draw else {})}
    return {caption: cast("Figure", ax.get_figure()) for caption, ax in drawn.items()}


def _label(quantity: str) -> str:
    """``gpt4`` of ``prevalence[gpt4]``, and what has no label as it is."""
    return quantity.partition("[")[2].removesuffix("]") or quantity


#: What a spreadsheet takes for the beginning of a formula, also in its wide form.
FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def write_csv(table: pd.DataFrame, path: Path) -> None:
    """Write a table that a person may open in a spreadsheet.

    Text that would be run as a formula gets an apostrophe in front: it may come from a model.

    Parameters
    ----------
    table : pandas.DataFrame
        Numbers are written as they are, and text that reads as a number too.
    path : pathlib.Path
        A file that is there is replaced.
    """

    def inert(value: Any) -> Any:
        formula = isinstance(value, str) and value.startswith(FORMULA)
        return f"'{value}" if formula and not NUMBER.fullmatch(value) else value

    safe = table.copy()
    for name in table.select_dtypes(exclude=["number", "bool"]):
        safe[name] = table[name].map(inert)
    safe.rename(columns=inert).to_csv(path, index=False)


def tell(message: str) -> None:
    """Say something that is no result: on stderr.

    Parameters
    ----------
    message : str
        One line.
    """
    print(message, file=sys.stderr)
