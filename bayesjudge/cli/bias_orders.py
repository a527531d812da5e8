"""``bayesjudge bias orders``: the same pair judged in both presentation orders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from bayesjudge import bias as module
from bayesjudge.cli.bias import bias
from bayesjudge.cli.glossary import TERMS
from bayesjudge.cli.output import DATA, Shared, Story, present, table_option
from bayesjudge.cli.source import open_source
from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Estimate
from bayesjudge.core.fit import Fit
from bayesjudge.core.report import side_by_side

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DATA = Parameter(group=DATA, negative="")
_PICTURES = {
    "position_preference": "Position preference: above 0 where the first place is preferred",
    "primacy": "Primacy: share of pairs in which the first place won twice",
    "recency": "Recency: share of pairs in which the second place won twice",
}


@bias.command
def orders(
    table: Annotated[Path, table_option("One row a pair")],
    /,
    *,
    first: Annotated[str, _DATA] = "order1",
    second: Annotated[str, _DATA] = "order2",
    judge: Annotated[list[str] | None, _DATA] = None,
    item: Annotated[str | None, _DATA] = None,
    winner: Annotated[list[str] | None, _DATA] = None,
    tie_value: Annotated[list[str] | None, _DATA] = None,
    missing: Annotated[Literal["drop"] | None, _DATA] = None,
    metric: Annotated[str | None, _DATA] = None,
    shared: Shared = Shared(),
) -> None:
    r"""Tell position bias: does the winner change when two answers swap places?

    One row a pair (and judge), with the winner by content in each presentation order: the same
    winner twice is consistent, the first place twice is primacy, the second twice recency. The
    posteriors are exact, so that nothing is sampled.

    ```
    bayesjudge bias orders verdicts.csv --first order1 --second order2 --judge llm \
        --judge strategy --missing drop --html report.html
    ```

    Parameters
    ----------
    table : Path
        One row a pair.
    first : str
        Column with the winner if answer 1 was shown first.
    second : str
        Column with the winner if answer 2 was shown first.
    judge : list[str]
        Column that names the judge, or its prompt. May be repeated.
    item : str
        Column that names the pair: rows that share it are repeats, and pairs the sample.
    winner : list[str]
        Value that means answer 1, then the one that means answer 2; 1 and 2 if not said.
    tie_value : list[str]
        Value that means a tie. May be repeated.
    missing : str
        Leave out pairs without a verdict in both orders.
    metric : str
        Of a log of pairs, whose answer 1 is the system's: the verdicts that are meant.

    Raises
    ------
    InputError
        If an option, a column or a value is not understood.
    """
    shared.check()
    source = open_source(table, metric, judges=True)
    if source.log is not None:
        first = "verdict" if first == "order1" else first
        second = "swapped" if second == "order2" else second
        winner, tie_value = winner or ["win", "loss"], tie_value or ["tie"]
        judge, item = judge or ["judge"], item or "item"
    names = tuple(winner or ("1", "2"))
    with checking("options") as require:
        require(
            len(names) == 2,
            f"--winner must be given twice, for answer 1 and for answer 2; got {list(names)}",
        )
        require(shared.save is None, "--save keeps a sampled fit; this posterior is exact")
    read = module.Orders.from_frame(
        source.table([first, second, *(judge or ()), *([item] if item else ())]),
        first=first,
        second=second,
        judge=judge,
        item=item,
        winners=(names[0], names[1]),
        tie_value=tie_value,
        missing=missing,
    )
    story = Story(
        command="bias orders",
        title="Position bias: the same pairs in both orders",
        answer="consistency",
        inputs={
            **source.inputs,
            "judges": len(read.judges),
            "pairs": int(read.pairs.sum()),
            "left out": int(read.missing.sum()),
        },
        brief=lambda method: method.split(",")[0],
        words={name: TERMS[name.replace("_", " ")] for name in _PICTURES},
        tell=lambda made: module.answer(*made, ci_prob=shared.ci_prob),
    )
    present([module.position_bias(read, ci_prob=shared.ci_prob)], None, shared, story, draw=_draw)


def _draw(made: Sequence[Estimate | Fit]) -> dict[str, Axes]:
    from bayesjudge.core.plots import new_axes, plot_intervals

    (found,) = made
    assert isinstance(found, Estimate)
    drawn: dict[str, Any] = {}
    for quantity, caption in _PICTURES.items():
        rows = side_by_side(found.only(quantity), ci_prob=found.ci_prob)
        rows = rows.assign(method=rows["judge"]).drop(columns="judge")
        drawn[caption] = plot_intervals(rows, ax=new_axes(8.0, 0.28 * len(rows) + 1.1))
    return drawn
