"""``bayesjudge bias orders``: the same pair judged in both presentation orders."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from bayesjudge import bias as module
from bayesjudge.cli.options import FIRST, OF_TABLE, Metric, Shared, TieValue, Winner, table_option
from bayesjudge.cli.output import Story, intervals_of, present
from bayesjudge.cli.shapes.of_orders import order_columns, winners_in
from bayesjudge.cli.source import open_source
from bayesjudge.core.errors import InputError, Problem, checking
from bayesjudge.core.labels import spell
from bayesjudge.core.words import glossary

#: Whose answers 1 and 2 are: of a log of pairs, and if cells say 1 and 2.
SYSTEMS = ("the system", "the baseline")
NUMBERED = ("answer 1", "answer 2")
LONG = (
    "of a table with one row per verdict say --item COLUMN --shown-first COLUMN "
    "--shown-second COLUMN --verdict COLUMN"
)
ANSWER = "position_preference"
#: Pictures beside that of the answer, which every page has.
_PICTURES = {
    "primacy": "Primacy: share of pairs in which the first place won twice",
    "recency": "Recency: share of pairs in which the second place won twice",
}


def orders(
    table: Annotated[Path, table_option("One row per pair, or one row per verdict")],
    /,
    *,
    first: Annotated[str | None, OF_TABLE, FIRST] = None,
    second: Annotated[str | None, OF_TABLE, FIRST] = None,
    judge: Annotated[list[str] | None, OF_TABLE, FIRST] = None,
    item: Annotated[str | None, OF_TABLE] = None,
    shown_first: Annotated[str | None, OF_TABLE] = None,
    shown_second: Annotated[str | None, OF_TABLE] = None,
    verdict: Annotated[str | None, OF_TABLE] = None,
    winner: Annotated[Winner, FIRST] = None,
    tie_value: TieValue = None,
    missing: Annotated[Literal["drop"] | None, OF_TABLE] = None,
    metric: Metric = None,
    shared: Shared = Shared(),
) -> None:
    r"""Measure position bias: does the winner change when two answers swap places?

    One row per verdict, with the systems whose answers were shown first and second, and the place
    that won; or one row per pair (and judge), with the winner by content in each order.
    The same winner twice is consistent, the first place twice is primacy, the second twice recency.
    The posteriors are exact; nothing is sampled.

    ```
    bayesjudge bias orders duels.csv --item prompt --shown-first answer_A --shown-second answer_B \
        --verdict judge_says --winner A --winner B --tie-value tie
    bayesjudge bias orders verdicts.csv --first order1 --second order2 --judge llm \
        --judge strategy --missing drop --html report.html
    ```

    Parameters
    ----------
    table : Path
        One row per pair, or one row per verdict.
    first : str
        Column with the winner if answer 1 was shown first; by default order1, verdict_order1 or
        the like.
    second : str
        Column with the winner if answer 2 was shown first; by default order2 or the like.
    judge : list[str]
        Column that names the judge, or its prompt. May be repeated.
    item : str
        Column that names the pair, or its prompt: rows that share it are repeats, and pairs the
        sample.
    shown_first : str
        Of one row per verdict: column with the system whose answer was shown first.
    shown_second : str
        The same of the answer shown second.
    verdict : str
        Of one row per verdict: column with the place that won.
    missing : str
        Leave out pairs without a verdict in both orders.

    Raises
    ------
    InputError
        If an option, a column or a value is not understood.
    """
    shared.check()
    source = open_source(table, metric, judges=True)
    if source.log is not None:
        first, second = first or "verdict", second or "swapped"
        winner, tie_value = winner or ["win", "loss"], tie_value or ["tie"]
        judge, item = judge or ["judge"], item or "item"
    shown: dict[str, Any] = {"shown_first": shown_first, "shown_second": shown_second}
    shown["verdict"] = verdict
    by_verdict = any(shown.values())
    names: Any = tuple(winner or (("A", "B") if by_verdict else ("1", "2")))
    about: dict[str, Any] = {"item": item, "judge": judge, "tie_value": tie_value}
    about["missing"] = missing
    with checking("options") as require:
        words = "--winner must be given twice, for answer 1 and for answer 2"
        require(len(names) == 2, f"{words}; got {list(names)}")
        needed = {**shown, "item": item}
        lacking = [f"--{n.replace('_', '-')}" for n, column in needed.items() if not column]
        words = " ".join(["one row per verdict:", *(f"{n} COLUMN" for n in lacking), "needed too"])
        require(not (by_verdict and lacking), Problem(words, "not-given", value=lacking))
        require(shared.save is None, "--save keeps a sampled fit; this posterior is exact")
    keys = [*(judge or ()), *([item] if item else ())]
    if by_verdict:
        rows = source.table([*shown.values(), *keys])
        read = module.Orders.from_verdicts(rows, **shown, places=names, **about)
    else:
        usual = order_columns(source.columns()) or ("order1", "order2")
        both: dict[str, Any] = {"first": first or usual[0], "second": second or usual[1]}
        pairs = _of_pairs(source, [*both.values(), *keys])
        cells = [cell for name in both.values() for cell in pairs[name].unique().to_pylist()]
        said = {spell(cell) for cell in cells if cell is not None and cell == cell}
        known = None if winner else winners_in(said - {*map(spell, tie_value or ())})
        if known is not None:
            names, about["tie_value"] = known[0], [*(tie_value or ()), *known[1]]
        answers = NUMBERED if names == ("1", "2") else None
        answers = answers if source.log is None else SYSTEMS
        read = module.Orders.from_frame(pairs, **both, winners=names, answers=answers, **about)
    story = Story(
        command="bias orders",
        title="Position bias: the same pairs in both orders",
        answer=ANSWER,
        instant=[module.position_bias(read, ci_prob=shared.ci_prob)],
        draw=lambda r: {caption: intervals_of(r, q) for q, caption in _PICTURES.items()},
        source=source,
        inputs={
            "judges": len(read.judges),
            "pairs": int(read.pairs.sum()),
            "left out": int(read.missing.sum()),
        },
        words={name: glossary("terms")[name.replace("_", " ")] for name in (ANSWER, *_PICTURES)},
        tell=lambda results: module.answer(*results, ci_prob=shared.ci_prob),
    )
    present(story, shared)


def _of_pairs(source: Any, columns: list[str]) -> Any:
    """The table of one row per pair; without its columns it may be one row per verdict."""
    try:
        return source.table(columns)
    except InputError as error:
        if not any(error.has("no-column", value=name) for name in ("order1", "order2")):
            raise
        raise InputError(error.subject, [*error.problems, LONG]) from error
