"""``bayesjudge repeats categories``: verdicts with two or more names, asked again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from bayesjudge import repeats as module
from bayesjudge.cli.options import (
    DATA,
    FIRST,
    OF_TABLE,
    JudgeColumn,
    NamedItem,
    Shared,
    table_option,
)
from bayesjudge.cli.output import Story, present
from bayesjudge.cli.source import open_source

_VERDICTS = Parameter(group=DATA, consume_multiple=True, negative="")


def categories(
    table: Annotated[Path, table_option("One row per answer")],
    /,
    *,
    verdict: Annotated[str, OF_TABLE, FIRST] = "verdict",
    item: Annotated[NamedItem, FIRST] = "item",
    judge: Annotated[JudgeColumn, FIRST] = None,
    verdicts: Annotated[list[str] | None, _VERDICTS] = None,
    shared: Shared = Shared(),
) -> None:
    """Measure how often a judge that names a category gives the same one when asked again.

    Categories have no order (A, B or tie; safe, unsafe, unclear). Of numbers, and of pass and fail,
    `bayesjudge repeats report` says more.

    ```
    bayesjudge repeats categories answers.csv --verdict label --item prompt --judge model
    ```

    Parameters
    ----------
    table : Path
        One row per answer; an empty verdict is one that could not be read.
    verdict : str
        Column with the category that the judge named.
    item : str
        Column that names the item.
    verdicts : list[str]
        All categories that a judge can name; by default those that occur.

    Raises
    ------
    InputError
        If a column is missing, a verdict is not among `--verdicts`, or nothing was asked twice.
    """
    shared.check()
    source = open_source(table, None, judges=True)
    consistency = module.consistency(
        source.table([verdict, item, *([judge] if judge else [])]),
        verdict=verdict,
        item=item,
        judge=judge,
        verdicts=tuple(verdicts or ()),
        ci_prob=shared.ci_prob,
        random_seed=shared.seed,
    )
    story = Story(
        command="repeats categories",
        title="Consistency: the same category twice",
        answer="same_twice",
        instant=[consistency],
        source=source,
        tell=lambda results: module.answer(*results, ci_prob=shared.ci_prob),
    )
    present(story, shared)
