"""``bayesjudge bias variants``: answers written in several ways, for a judge to score again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from bayesjudge import bias as module
from bayesjudge.bias.variants import ERRORS, FORMATTING
from bayesjudge.cli.options import FIRST, OF_TABLE, OUTPUT, NamedItem, Seed, table_option
from bayesjudge.cli.output import say, write_csv
from bayesjudge.cli.source import open_source
from bayesjudge.core.errors import expect

_CHANGES = Parameter(consume_multiple=True, negative="")


def variants(
    table: Annotated[Path, table_option("One row per item, with its answer")],
    /,
    *,
    text: Annotated[str, OF_TABLE, FIRST] = "answer",
    item: Annotated[NamedItem, FIRST] = "item",
    change: Annotated[list[str] | None, _CHANGES, FIRST] = None,
    out: Annotated[Path, Parameter(group=OUTPUT)] = Path("variants.csv"),
    seed: Seed = 0,
) -> None:
    """Write each answer in several ways: what a judge should ignore, or should notice.

    Formatting: bullets, numbered, heading, bold, plain, one_line. Errors: number, negation,
    dropped. Score the file with your judge, then `bayesjudge bias` says how far scores moved.

    ```
    bayesjudge bias variants answers.csv --text answer --item id --change bullets heading
    ```

    Parameters
    ----------
    table : Path
        One row per item.
    text : str
        Column with the answer.
    item : str
        Column that names the item.
    change : list[str]
        Which changes; by default all changes of format.
    out : Path
        File to write: the table with a row for each variant of an answer.

    Raises
    ------
    InputError
        If a column or a value is not understood.
    """
    known = [*FORMATTING, *ERRORS]
    unknown = [name for name in change or () if name not in known]
    expect("options", not unknown, f"--change {' '.join(unknown)}: there are {', '.join(known)}")
    source = open_source(table, None)
    versions = module.make_variants(
        source.table([item, text]),
        text=text,
        item=item,
        changes=change or tuple(FORMATTING),
        random_seed=seed,
    )
    same = versions[(versions["variant"] != "baseline") & ~versions["changed"]]
    neighbours = versions.drop(same.index).drop(columns="changed")
    write_csv(neighbours, out)
    say(
        f"{neighbours[item].nunique():,} items, {len(neighbours):,} rows written to {out}"
        + (f"; {len(same):,} changes left the answer as it is, and are not in it" * bool(len(same)))
        + ". Score them, then: bayesjudge bias FILE --scale 1-5 --design item"
        + f" --item {item}" * (item != "item")
    )
