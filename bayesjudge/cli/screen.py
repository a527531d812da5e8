"""What a person sees: rich tables on a terminal, the same text without codes anywhere else."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from bayesjudge.cli.document import sampling_of
from bayesjudge.core.fit import Fit
from bayesjudge.core.results import Estimate

if TYPE_CHECKING:
    from rich.console import Console

    from bayesjudge.cli.common import Section

#: Width of text that goes to a file or a pipe, where no terminal says one.
PLAIN_WIDTH = 120
#: Commands to a terminal, and marks that turn the direction of text.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
NUMBERS = ("value", "low", "high", "width", "truth")


def console() -> Console:
    """Open stdout.

    Returns
    -------
    rich.console.Console
        With colours on a terminal only.
    """
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
    """Print what was read.

    Parameters
    ----------
    console : rich.console.Console
        Where to.
    title : str
        Heading.
    inputs : mapping
        Printed one a line.
    """
    console.print(_visible(title), style="bold")
    width = max(map(len, inputs), default=0)
    for name, value in inputs.items():
        console.print(_visible(f"  {name:<{width}}  {value}"))


def table(
    console: Console,
    rows: pd.DataFrame,
    answer: str | None,
    brief: Callable[[str], str],
    *,
    truth: Mapping[str, float] | None = None,
    more: bool = False,
) -> None:
    """Print estimates, one a line.

    Parameters
    ----------
    console : rich.console.Console
        Where to.
    rows : pandas.DataFrame
        From `bayesjudge.side_by_side`.
    answer : str or None
        The one quantity to print; None prints all, with their names.
    brief : callable
        Shortens a method's name.
    truth : mapping of str to float, optional
        True values by quantity.
    more : bool, default False
        Continue the table above: no heading.
    """
    from rich.table import Table

    name = rows["quantity"].str.split("[").str[0]
    shown = rows[name == answer] if answer else rows
    label = shown["quantity"].str.partition("[")[2].str.removesuffix("]")
    if answer is None:
        label = shown["quantity"]
    label = label.map(_visible)
    labels = label.drop_duplicates().tolist()
    columns = [c for c in NUMBERS if c != "truth" or truth]
    methods = shown["method"].map(brief)
    grid = Table(box=None, show_header=not more, pad_edge=False, padding=(0, 1, 0, 0))
    # a table of few columns is wide enough, and one that continues another has the same widths
    widths = [max(map(len, [*labels, answer or "quantity"]))] if any(labels) else []
    widths += [max([18, *methods.map(len)])]
    widths += [max([5, *(len(_number(x)) for x in shown.get(c, [0.0]))]) for c in columns]
    names = [answer or "quantity", "method"] if any(labels) else [answer or "method"]
    for text, width in zip([*names, *columns], widths, strict=True):
        justify: Any = "right" if text in NUMBERS else "left"
        grid.add_column(text, justify=justify, width=width, no_wrap=True)
    roomy = sum(widths) + len(widths) + shown["interval"].map(len).max() <= console.width
    if roomy:
        grid.add_column("interval", no_wrap=True)
    known = shown["quantity"].map(truth or {}) if truth else None
    for i, (_, row) in enumerate(shown.iterrows()):
        first = i == 0 or label.iloc[i] != label.iloc[i - 1]
        if first and i and len(shown) > len(labels):
            grid.add_row()
        cells = [label.iloc[i] if first else ""] if any(labels) else []
        numbers = [known.iloc[i] if c == "truth" and known is not None else row[c] for c in columns]
        kind = [_visible(row["interval"])] if roomy else []
        grid.add_row(*cells, brief(row["method"]), *map(_number, numbers), *kind)
    # a blank line above, but where a single row continues the table
    console.print(*([""] if not more or len(labels) > 1 else []), grid, sep="\n")


def rest(
    console: Console,
    results: Sequence[Estimate | Fit],
    tables: Sequence[pd.DataFrame],
    answer: str,
    brief: Callable[[str], str],
    sections: Sequence[Section] = (),
) -> None:
    """Print the other quantities of the last result, and what speaks for and against all.

    Parameters
    ----------
    console : rich.console.Console
        Where to.
    results : sequence of Estimate or Fit
        All of them.
    tables : sequence of pandas.DataFrame
        Each as `bayesjudge.side_by_side` gives it.
    answer : str
        The quantity that was printed already.
    brief : callable
        Shortens a method's name.
    sections : sequence of Section
        What the command says beside the estimates; they come before what speaks against those.
    """
    others = [t[t["quantity"].str.split("[").str[0] != answer] for t in tables]
    for other in [other for other in others if len(other)][-1:]:
        table(console, other, None, brief)
    for section in sections:
        _section(console, section.heading, section.lines)
    cautions = dict.fromkeys(c for one in results for c in one.cautions)
    _section(console, "Cautions", [f"{c.name}: {c.text}" for c in cautions])
    held: dict[str, list[str]] = {}
    for one in results:
        held.setdefault("; ".join(one.assumptions), []).append(brief(one.method))
    lines = [f"{', '.join(dict.fromkeys(m))}: {text}" for text, m in held.items() if text]
    _section(console, "Assumptions", lines)
    _section(console, "Sampling", [_sampling(fit) for fit in results if isinstance(fit, Fit)])


def _sampling(fit: Fit) -> str:
    about = sampling_of(fit)
    return (
        f"{about['chains']} chains of {about['draws']} draws, seed {about['random_seed']}; R-hat "
        f"at most {about['max_r_hat']:.3f}, effective draws at least {about['min_ess']:,.0f}"
    )


def _section(console: Console, heading: str, lines: Sequence[str]) -> None:
    if not lines:
        return
    console.print(f"\n{heading}", style="bold")
    for line in lines:
        wrapped = textwrap.wrap(
            line, max(console.width - 1, 40), initial_indent="  ", subsequent_indent="    "
        )
        console.print("\n".join(map(_visible, wrapped)), soft_wrap=True)


def _visible(text: str) -> str:
    """Write control characters out: a name may come from a model, and a terminal obeys."""
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def _number(value: float) -> str:
    return "–" if pd.isna(value) else f"{value:.3f}"
