"""``bayesjudge bias positions``: how far the place of an answer in the prompt moves its score."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from bayesjudge import bias as module
from bayesjudge.cli.options import FIRST, OF_TABLE, JudgeColumn, Shared, table_option
from bayesjudge.cli.output import Story, intervals_of, present
from bayesjudge.cli.source import open_source


def positions(
    table: Annotated[Path, table_option("One row per score, with the place that the answer had")],
    /,
    *,
    score: Annotated[str, OF_TABLE, FIRST] = "score",
    position: Annotated[str, OF_TABLE, FIRST] = "position",
    answer: Annotated[str, OF_TABLE, FIRST] = "answer",
    judge: JudgeColumn = None,
    shared: Shared = Shared(),
) -> None:
    """Measure how far the place of an answer in the prompt moves its score.

    Of two or more places: each answer is scored in several of them. Shifts come from least squares
    within answers, so an answer may lack some places; nothing is sampled.

    ```
    bayesjudge bias positions scores.csv --score score --position place --answer answer_id
    ```

    Parameters
    ----------
    table : Path
        One row per score.
    score : str
        Column with the score, a number.
    position : str
        Column with the place that the answer had in the prompt.
    answer : str
        Column that names the answer, within the table.

    Raises
    ------
    InputError
        If a column or a value is not understood.
    """
    shared.check()
    source = open_source(table, None, judges=True)
    rows = source.table([score, position, answer, *([judge] if judge else [])])
    shift = module.position_shift(
        rows,
        score=score,
        position=position,
        answer=answer,
        judge=judge,
        ci_prob=shared.ci_prob,
    )
    caption = "Shift of the score by place, in score points"
    story = Story(
        command="bias positions",
        title="Position shift: how far the place of an answer moves its score",
        answer="position_shift",
        instant=[shift],
        draw=lambda results: {caption: intervals_of(results, "position_shift")},
        source=source,
        tell=lambda results: module.answer(*results, ci_prob=shared.ci_prob),
    )
    present(story, shared)
