"""``bayesjudge plan``: how many labels, of which items, before they are bought."""

from __future__ import annotations

import json as json_format
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from cyclopts import Group, Parameter

import bayesjudge as bj
from bayesjudge.cli.output import OUTPUT, SCHEMA, open_console, opening, say, tell, wrapped
from bayesjudge.core.errors import InputError, checking

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from rich.console import Console

_ASSUMED = Parameter(group=Group("What is assumed to be true", sort_key=1))
_OUTPUT = Parameter(group=OUTPUT, negative="")
#: Numbers of labels that are compared if none are given.
LABELS = (50, 100, 200, 400)


def plan(
    *,
    prevalence: Annotated[float, _ASSUMED],
    sensitivity: Annotated[float, _ASSUMED],
    specificity: Annotated[float, _ASSUMED],
    items: Annotated[int, _ASSUMED],
    labelled: Annotated[list[int] | None, Parameter(negative="")] = None,
    width: float | None = None,
    ci_prob: Annotated[float, _OUTPUT] = 0.95,
    seed: Annotated[int, _OUTPUT] = 1,
    picture: Annotated[Path | None, _OUTPUT] = None,
    json: Annotated[bool, _OUTPUT] = False,
) -> None:
    r"""Say how many human labels an interval needs, and how to choose what is labelled.

    For each number of labels, the width of the interval that each design will give: people only, a
    random sample, balanced by the human label, balanced by the judge's verdict. Guess what is true;
    try a few guesses.

    ```
    bayesjudge plan --prevalence 0.7 --sensitivity 0.9 --specificity 0.7 --items 1000 --width 0.1
    ```

    Parameters
    ----------
    prevalence : float
        Share of items that people would pass, in [0, 1].
    sensitivity : float
        Share of good items that the judge passes.
    specificity : float
        Share of bad items that the judge fails.
    items : int
        Items that the judge sees and nobody labels; the labelled ones come on top. The estimate
        without the judge has no use for them.
    labelled : list[int]
        Number of labels. May be repeated; by default 50, 100, 200 and 400.
    width : float
        Width that is wanted, as a share of items; says how many labels reach it.
    ci_prob : float
        Probability of every interval: 0.95 is 95 %.
    seed : int
        Same seed, same table.
    picture : Path
        Draw the table, in the format that the file's name ends in.
    json : bool
        Print one JSON document instead of text (schema bayesjudge/2): `inputs`, the options;
        `rows`, one a number of labels and way of spending them, with the columns of the table;
        `labels_needed` for `width` by strategy, null if none do; `answer`, the sentence.

    Raises
    ------
    InputError
        If an option is out of its range.
    """
    assumed = {"prevalence": prevalence, "sensitivity": sensitivity, "specificity": specificity}
    with checking("options") as require:
        folder = picture is None or picture.parent.is_dir()
        require(folder, f"--picture: there is no folder {str(picture and picture.parent)!r}")
        require(width is None or 0 < width < 1, f"--width must lie in (0, 1), got {width}")
    sizes = tuple(labelled or LABELS)
    how: dict[str, Any] = {**assumed, "items": items, "ci_prob": ci_prob}
    table = bj.prevalence.budget.plan(sizes, **how, random_seed=seed)
    needed = {} if width is None else _needed(width, how)
    answer = _answer(table, needed, width, how)
    most = max(sizes)
    regime = bj.prevalence.budget.judge_regime(sensitivity, specificity, labelled=most, items=items)
    if json:
        document = {
            "schema": SCHEMA,
            "bayesjudge": bj.__version__,
            "command": "plan",
            "inputs": {**how, "labelled": sizes, "width": width, "seed": seed},
            "answer": {"text": answer},
            "rows": table.to_dict("records"),
            "labels_needed": needed,
        }
        sys.stdout.write(json_format.dumps(document, indent=2, ensure_ascii=False) + "\n")
    else:
        console = open_console()
        wrapped(console, answer, "", "", style="bold")
        console.print()
        opening(console, "Assumed", how)
        _print(console, table)
        _say(regime, most)
    if picture is not None:
        figure = cast("Figure", bj.prevalence.plot_plan(table, width=width).get_figure())
        figure.savefig(picture, dpi=150)
        tell(f"picture written to {picture}")


def _needed(width: float, how: dict[str, Any]) -> dict[str, int | None]:
    """How many labels reach a width, by strategy, by the closed form of each."""
    budget = bj.prevalence.budget
    found = budget.labels_by_design(width, **how)
    rate = how["prevalence"] * how["sensitivity"]
    rate += (1 - how["prevalence"]) * (1 - how["specificity"])
    judge = {name: how[name] for name in ("sensitivity", "specificity", "items", "ci_prob")}
    try:
        adaptive = budget.labels_needed(width, rate, split="adaptive", **judge)
    except InputError:
        adaptive = how["items"] + 1
    found["adaptive"] = adaptive if adaptive <= how["items"] else None
    return found


def _answer(
    table: pd.DataFrame, needed: dict[str, int | None], width: float | None, how: dict[str, Any]
) -> str:
    """The sentence that opens the screen."""
    if width is None:
        most = table[table["labelled"] == table["labelled"].max()].set_index("strategy")
        widths = most["expected_width"]
        sample, people = widths["random sample"], widths["people only"]
        return (
            f"{most['labelled'].iloc[0]} labels of a random sample are expected to give an "
            f"interval {sample:.3f} wide, and {people:.3f} if the judge is left out."
        )
    counts = {name: "out of reach" if n is None else f"{n:,}" for name, n in needed.items()}
    text = f"An interval {width:g} wide takes about {counts['random sample']} labels of a random "
    text += f"sample, {counts['people only']} without the judge, and {counts['by verdict']} chosen "
    text += "by the judge's verdict; "
    by_truth = [n for n in (needed["half good, half bad"], needed["adaptive"]) if n is not None]
    if by_truth:
        return f"{text}with labels chosen by truth {min(by_truth):,}."
    text += f"with labels chosen by truth it is out of reach with {how['items']:,} items"
    return f"{text}: judge more items."


def _print(console: Console, table: pd.DataFrame) -> None:
    from rich.table import Table

    names = ["labels", "strategy", "--calibration", "good", "bad", "width", "expected", "± error"]
    grid = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in names:
        justify: Any = "left" if name in ("strategy", "--calibration") else "right"
        grid.add_column(name, justify=justify, no_wrap=True)
    last = None
    for row in table.itertuples(index=False):
        if last is not None and row.labelled != last:
            grid.add_row()
        cells = [f"{row.correct_n:.0f}", f"{row.incorrect_n:.0f}", f"{row.width:.3f}"]
        cells += [f"{row.expected_width:.3f}", f"{row.mc_error:.3f}"]
        size = "" if row.labelled == last else str(row.labelled)
        grid.add_row(size, row.strategy, row.calibration, *cells)
        last = row.labelled
    console.print("", grid, sep="\n")


def _say(regime: tuple[Any, Any], most: int) -> None:
    lines = ["", "width: of the closed form's interval at the data expected; expected: of the "]
    lines[-1] += "posterior's,\naveraged over simulated data; both as a share of items."
    if regime[0] != regime[0]:
        lines.append(
            f"With {most} labels by truth this judge tells less than labels of a random sample "
            "alone, whatever\nthe prevalence; a random sample takes both."
        )
    else:
        lines.append(
            f"With {most} labels by truth this judge tells more than labels of a random sample "
            f"alone if the\nprevalence is between {regime[0]:.3f} and {regime[1]:.3f}; a random "
            "sample takes both."
        )
    say("\n".join(lines))
