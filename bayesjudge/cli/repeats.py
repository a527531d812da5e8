"""``bayesjudge repeats``: ask judges until means are known, and report what scores say."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from bayesjudge import repeats as module
from bayesjudge.cli.asking import asked_of
from bayesjudge.cli.output import DATA, MODEL, OUTPUT, Shared, Story, present, tell, write_csv
from bayesjudge.core.errors import InputError, checking
from bayesjudge.core.estimate import Estimate
from bayesjudge.core.fit import Fit
from bayesjudge.readers import read_table
from bayesjudge.repeats.data import ITEM_COLUMNS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

repeats = App(
    name="repeats",
    help="How often must a judge be asked? `run` asks models until each item's mean score is "
    "known well enough; `report` says what repeated scores tell.",
)

_DATA = Parameter(group=DATA)
Cutpoints = Literal["shared", "by_judge"]


@repeats.command
def report(
    table: Annotated[Path, _DATA],
    /,
    *,
    scale: Annotated[str, _DATA],
    score: Annotated[str, _DATA] = "score",
    item: Annotated[str, _DATA] = "item",
    one_item: Annotated[bool, Parameter(group=DATA, negative="")] = False,
    judge: Annotated[str | None, _DATA] = None,
    order: Annotated[str | None, _DATA] = None,
    cutpoints: Annotated[Cutpoints, Parameter(group=MODEL)] = "shared",
    shared: Shared = Shared(),
) -> None:
    """Estimate mean scores and what they vary with, from repeated scores.

    With several judges, the mean of an item is over the judges that could have been asked, and
    its interval tells how much they differ; with one judge it is over its answers. Repeats are
    checked for order effects.

    ```
    bayesjudge repeats report scores.csv --scale 1-5 --judge model --html report.html
    ```

    Parameters
    ----------
    table : Path
        One row an answer: .csv, .csv.gz, .tsv, .parquet, .jsonl or .ndjson.
    scale : str
        Every value that a judge can give: 1-5, or 0,0.5,1.
    score : str
        Column of scores; an empty cell is an answer that could not be read.
    item : str
        Column that names the item.
    one_item : bool
        All rows are about one item: the table has no column of items.
    judge : str
        Column that names the judge: a model, with a prompt.
    order : str
        Column that says when an answer was asked for, in numbers or ISO times; the order of the
        rows if not said.
    cutpoints : {"shared", "by_judge"}
        Whether judges use the scale alike but for a shift, or each has its own cutpoints.

    Raises
    ------
    InputError
        If an option, a column or a value is not understood.
    """
    shared.check()
    column = None if one_item else item
    columns = [c for c in (column, judge, order) if c is not None]
    scores = module.Scores.from_frame(
        _read(table, columns, score, column),
        scale=read_scale(scale),
        score=score,
        item=column,
        judge=judge,
        order=order,
    )
    by_judge = cutpoints == "by_judge"
    model = module.JudgeCutpoints() if by_judge else module.CumulativeLogit()
    answer(scores, shared, source=str(table), model=model)


@repeats.command
def run(
    config: Annotated[Path, _DATA],
    /,
    *,
    arm: Annotated[str | None, _DATA] = None,
    out: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    quiet: Annotated[bool, Parameter(group=OUTPUT, negative="")] = False,
) -> None:
    """Ask chat models about items until each mean score is known well enough.

    Everything is kept in a SQLite file from the first answer on: after a crash, a Ctrl-C or an
    exhausted budget, the same command goes on where the last one ended. If the prompt, a model, a
    parameter or the items are no longer those of the file, the command stops and says which;
    `--arm NAME` then begins another run in it. Needs litellm (`pip install 'bayesjudge[llm]'`).

    ```toml
    store = "run.sqlite"
    scale = [1, 2, 3, 4, 5]
    bins = 5               # classes to tell apart; or half_width = 0.27
    ci_prob = 0.95
    budget_calls = 5000    # budget_cost = 10.0
    concurrency = 8

    [items]
    table = "answers.csv"
    name = "id"
    text = "answer"

    [prompts]
    plain = "Rate from 1 to 5, with a number only: {item}"

    [models.mini]
    model = "openai/gpt-4o-mini"
    temperature = 1.0
    ```

    Parameters
    ----------
    config : Path
        A TOML file, as above. `system = "..."` adds a system prompt.
    arm : str
        Name of this run in the store, if it holds several: "main" if neither this nor the file
        says so.
    out : Path
        Write every answer to a CSV file, for `bayesjudge repeats report`. Text that a spreadsheet
        would run as a formula gets an apostrophe in front.
    quiet : bool
        Show no progress.

    Raises
    ------
    InputError
        If the file says what is not understood, or a model refuses for good.
    """
    with checking("options") as require:
        folder = None if out is None else out.parent
        require(folder is None or folder.is_dir(), f"--out: there is no folder {str(folder)!r}")
    settings, items, judges = asked_of(config, arm)
    try:
        with warnings.catch_warnings():
            # of the client's calls that a Ctrl-C ends before they begin
            warnings.filterwarnings("ignore", message="coroutine .* was never awaited")
            found = module.runner.sample_until_sync(
                judges, items, progress=False if quiet else None, **settings
            )
    except module.runner.JudgeError as error:
        raise InputError("repeats run", [f"{error}; what was answered is kept"]) from error
    except KeyboardInterrupt:
        tell(
            f"what was answered is kept in {settings['store']}; the same command goes on from there"
        )
        raise
    if out is not None:
        write_csv(found.answers, out)
        tell(f"answers written to {out}")
    settled, every = int(found.items["settled"].sum()), len(found.items)
    unparsed, failed = int(found.items["unparsed"].sum()), int(found.items["failed"].sum())
    sys.stdout.write(found.items.round(3).to_string(index=False) + "\n\n")
    sys.stdout.write(
        f"{settled} of {every} items settled to ± {settings['half_width']:.3g}; "
        f"{found.calls} calls, cost {found.cost:.4g}; {unparsed} answers could not be read, "
        f"{failed} calls failed for good\n"
    )
    if settled < every:
        tell("run the command again to go on, with a greater budget or most_per_item if need be")


def read_scale(text: str) -> tuple[float, ...]:
    """Read a scale as the command line has it.

    Examples
    --------
    >>> read_scale("1-5"), read_scale("0,0.5,1")
    ((1.0, 2.0, 3.0, 4.0, 5.0), (0.0, 0.5, 1.0))
    """
    ends = re.fullmatch(r"\s*(-?\d+)\s*-\s*(-?\d+)\s*", text)
    try:
        if ends:
            found = tuple(float(x) for x in range(int(ends[1]), int(ends[2]) + 1))
        else:
            found = tuple(float(x) for x in text.split(","))
    except ValueError:
        found = ()
    with checking("options") as require:
        rising = len(found) > 1 and all(a < b for a, b in pairwise(found))
        require(rising, f"--scale {text}: write 1-5, or 0,0.5,1, in rising order")
    return found


def answer(
    scores: module.Scores,
    shared: Shared,
    *,
    source: str,
    model: module.CumulativeLogit = module.CumulativeLogit(),
) -> list[Estimate | Fit]:
    """Estimate from scores, and present."""

    def sample() -> Fit:
        return module.fit(scores, model, random_seed=shared.seed, strict=shared.strict)

    several = len(scores.items) + len(scores.judges) > 2
    return present(
        module.closed_forms(scores, ci_prob=shared.ci_prob),
        sample if several else None,
        shared,
        Story(
            command="repeats report",
            title="Repeated scores: means, and what they vary with",
            answer="item_score",
            inputs=_inputs(scores, source),
            brief=lambda method: method.split(" (")[0],
        ),
        draw=lambda made: _draw(made, scores),
    )


def _read(table: Path, columns: list[str], score: str, item: str | None) -> Any:
    for name in ITEM_COLUMNS if item is None else ():  # read it, to see whether it names several
        with suppress(InputError):
            return read_table(table, list(dict.fromkeys([*columns, name])), numbers=[score])
    try:
        return read_table(table, columns, numbers=[score])
    except InputError as error:
        if not any(problem.startswith(f"no column {item!r}") for problem in error.problems):
            raise
        remedy = "name the column of items with --item, or say --one-item if there is one"
        raise InputError(error.subject, [*error.problems, remedy]) from None


def _inputs(scores: module.Scores, source: str) -> Mapping[str, Any]:
    return {
        "data": source,
        "items": len(scores.items),
        "judges": len(scores.judges),
        "answers": int(scores.repeats.sum()),
        "unparsed": int(scores.unparsed.sum()),
        "scale": ", ".join(f"{x:g}" for x in scores.scale),
    }


def _draw(made: Sequence[Estimate | Fit], scores: module.Scores) -> dict[str, Axes]:
    drawn = {f"Answers and posterior of the mean: {scores.items[0]}": module.plot_scores(scores)}
    split = [one for one in made if "repeat_sd" in one.quantities]
    if split:
        drawn["What scores vary with"] = module.plot_components(*split)
    return drawn
