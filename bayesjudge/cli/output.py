"""From the results of a command to its page, and the page to a screen, to files and to stdout."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, cast

from bayesjudge.cli.options import RENDERERS, SCREEN, Shared, Written
from bayesjudge.core.answer import Answer
from bayesjudge.core.calls import called
from bayesjudge.core.errors import ConvergenceWarning, expect
from bayesjudge.core.estimate import Estimate, Target, entries_of, in_words, of_passes
from bayesjudge.core.fit import Fit
from bayesjudge.core.screen import as_wide_as, inert, read_no_more
from bayesjudge.core.side_by_side import in_order, records, side_by_side
from bayesjudge.render.json import to_json
from bayesjudge.render.page import Page, Section, page_of
from bayesjudge.render.screen import Style, open_console, rest, show_answer, show_sampled

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bayesjudge.cli.source import Source

Results = Sequence[Estimate | Fit]
#: Where pages of the commands that are run are kept, if `bayesjudge.ask` runs them.
COLLECTED: ContextVar[list[Page] | None] = ContextVar("COLLECTED", default=None)


@dataclass(frozen=True, kw_only=True)
class Story(Style):
    """What a command shows: what it estimates, and what it knows that estimates do not say."""

    command: str
    title: str
    #: What is known at once, by formulas and exact posteriors.
    instant: Sequence[Estimate] = ()
    #: Fits the model, if there is one, and what follows from the fit.
    sample: Callable[[], Fit | Estimate] | None = None
    after: Callable[[Any], Sequence[Estimate]] = lambda _: ()
    #: Makes the answer of the results.
    tell: Callable[[Results], Answer]
    more: Callable[[Results], Sequence[Section]] = lambda _: ()
    draw: Callable[[Results], Mapping[str, Axes]] = lambda _: {}
    #: What was read, whose cautions come before the quoted estimate's own, and what is in it.
    source: Source | None = None
    inputs: Mapping[str, Any] = MappingProxyType({})
    #: Whether the answer quotes the sampled model, and waits for it.
    waits: bool = True
    #: Whether `meanwhile` has been called.
    announced: bool = False
    #: Which items a fit is asked about; if not said, what suits its model.
    target: Target | None = None

    def page(self, results: Results, shared: Shared) -> Page:
        """The page of results."""
        read = self.source.inputs if self.source else {}
        page = page_of(
            results,
            ci_prob=shared.ci_prob,
            interval=shared.interval,
            target=self.target,
            answer=self._answer(results),
            truth=self.truth,
            title=self.title,
            command=self.command,
            inputs={**read, **self.inputs},
            line=called(self.command),
        )
        kinds = () if page.answer is None else page.answer.quoted.quantities
        name, words = page.pass_name, self.words
        meant = [f"{in_words(q, name)}: {of_passes(words[q], name)}" for q in kinds if q in words]
        below = f"{page.below} {'; '.join(meant)}{'.' * bool(meant)}".rstrip()
        return replace(page, below=below, pictures=lambda: _figures(page, results, self))

    def _answer(self, results: Results) -> Answer:
        answer = self.tell(results)
        of_labels = self.source.cautions if self.source else ()
        cautions = dict.fromkeys((*of_labels, *answer.quoted.cautions))
        return replace(answer, quoted=replace(answer.quoted, cautions=tuple(cautions)))


def present(story: Story, shared: Shared) -> list[Estimate | Fit]:
    """Show the answer as soon as it is known, then what was asked for."""
    instant, sample = story.instant, story.sample
    words = "--save keeps a sampled fit, and nothing is sampled here: leave it out"
    expect("options", sample is not None or shared.save is None, words)
    console = open_console() if shared.on_screen else None
    sampling = sample is not None and shared.samples(story.waits)
    story = replace(story, may_sample=sample is not None and not sampling)
    results: list[Estimate | Fit] = list(instant)
    early = None
    if console is not None and instant and not (sampling and story.waits):
        early = story.page(results, shared)
        show_answer(console, early, story, details=shared.details)
        write("")
    elif story.waits and instant and not story.announced:
        meanwhile(story.tell(results), shared)
    if sample is not None and sampling:
        fit = _quietly(sample)
        results += [fit, *story.after(fit)]
    page = story.page(results, shared)
    if console is not None and early is None:
        show_answer(console, page, story, details=shared.details)
    elif console is not None and early is not None and sampling:
        show_sampled(console, page, early, story, details=shared.details)
    page = replace(page, sections=story.more(results))
    if console is not None:
        rest(console, page, story, details=shared.details, quiet=shared.quiet)
    if shared.save is not None:
        for fit in page.fits:
            _done(f"fit saved in {fit.save(shared.save)}", quiet=shared.quiet)
    deliver(page, shared, quiet=shared.quiet)
    return results


def deliver(page: Page, written: Written, *, quiet: bool = False, **others: Path | None) -> None:
    """Write a page in every format that was asked for; `others` are files by the format's name."""
    if (pages := COLLECTED.get()) is not None:
        pages.append(page)
    files = {**vars(written.files), **others}
    if written.json:
        write(to_json(page))
    elif page.said and SCREEN not in files.values():
        say("\n".join(page.said))
    for name, path in files.items():
        if path == SCREEN:
            write(_as(name, page))
        elif path is not None:
            path.write_text(_as(name, page), encoding="utf-8")
            _done(f"page written to {path}", quiet=quiet)


def _as(name: str, page: Page) -> str:
    """The page in a format, with its pictures if matplotlib is there."""
    text_of = getattr(RENDERERS[name], f"to_{name}")
    try:
        return str(text_of(page))
    except ImportError as error:
        tell(f"the page has no pictures: {error}")
        return str(text_of(replace(page, pictures=dict)))


def _done(message: str, *, quiet: bool) -> None:
    """Say on stderr what was done."""
    if not quiet:
        tell(message)


def meanwhile(answer: Answer, shared: Shared) -> None:
    """Say on stderr what is known before the model is sampled, which the answer then replaces."""
    wanted = shared.on_screen and not shared.quiet and shared.samples(True)
    if wanted and answer.known and sys.stderr.isatty():
        tell(f"For now, by a formula ({answer.method}): {answer.text} Sampling follows.")


def _quietly(sample: Callable[[], Fit | Estimate]) -> Fit | Estimate:
    """Sample; a fit that did not converge says so in its cautions, which are printed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return sample()


def _figures(page: Page, results: Results, story: Story) -> dict[str, Figure]:
    from bayesjudge.core.plots import new_axes, plot_answer, plot_intervals

    answer = page.quoting
    dashes = "; ticks: the truth" if story.truth else ""
    drawn = {f"What is quoted, with intervals{dashes}": plot_answer(answer, truth=story.truth)}
    having = [
        estimate.only(story.answer) for estimate in page.estimates if story.answer in estimate
    ]
    rows = side_by_side(*having, ci_prob=page.estimates[0].ci_prob) if having else None
    if rows is not None and 1 < len(rows) <= MOST_DRAWN:
        briefs = {estimate.method.title: estimate.method.brief for estimate in having}
        rows = _as_quoted(rows.assign(method=rows["method"].map(briefs)), answer)
        rows.attrs["quoted"] = answer.quoted.method.brief
        heading = story.heading or in_words(story.answer, page.pass_name)
        caption = f"{heading}: estimates and intervals by method"
        caption += "; dashed: the truth" if story.truth else ""
        axes = new_axes(8.0, 0.28 * len(rows) + 1.1)
        drawn[caption] = plot_intervals(rows, truth=story.truth, ax=axes)
    drawn |= story.draw(results)
    return {caption: cast("Figure", ax.get_figure()) for caption, ax in drawn.items()}


def _as_quoted(rows: pd.DataFrame, answer: Answer) -> pd.DataFrame:
    """Rows in the order of the answer's table; further ones after them, as they come."""
    kept = in_order(records(answer.quoted, ci_prob=answer.quoted.ci_prob))
    place = {record.entry: i for i, record in enumerate(kept)}
    places = [place.get(entry, len(kept)) for entry in entries_of(rows)]
    return rows.iloc[sorted(range(len(rows)), key=places.__getitem__)]


def intervals_of(results: Results, quantity: str) -> Axes:
    """A picture of a quantity of the one estimate, with intervals."""
    from bayesjudge.core.plots import new_axes, plot_intervals

    (estimate,) = results
    assert isinstance(estimate, Estimate)
    rows = side_by_side(estimate.only(quantity), ci_prob=estimate.ci_prob)
    return plot_intervals(rows, ax=new_axes(8.0, 0.28 * len(rows) + 1.1))


#: Most rows of the picture of all methods.
MOST_DRAWN = 40


def write_csv(table: pd.DataFrame, path: Path, *, append: bool = False) -> None:
    """Write a table that a person may open in a spreadsheet, or more rows of it."""
    safe = table.copy()
    for name in table.select_dtypes(exclude=["number", "bool"]):
        safe[name] = table[name].map(inert)
    mode: Literal["a", "w"] = "a" if append else "w"
    safe.rename(columns=inert).to_csv(path, index=False, header=not append, mode=mode)


def first_lines(lines: Sequence[str], most: int) -> list[str]:
    """The first lines, and how many more there are."""
    left = len(lines) - most
    return [*lines[:most], *([f"{left} more: --json"] if left > 0 else [])]


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
