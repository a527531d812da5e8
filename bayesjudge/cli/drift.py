"""``bayesjudge drift``: the judge changed; do numbers still mean the same?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import bayesjudge as bj
from bayesjudge.cli.options import (
    FIRST,
    LOGS,
    OF_OUTPUT,
    OF_TABLE,
    SEVERAL,
    By,
    Html,
    Json,
    LabelFile,
    Meanings,
    Metric,
    NamedItem,
    Verdict,
    check_files,
    table_option,
)
from bayesjudge.cli.output import deliver
from bayesjudge.cli.source import Source, open_source
from bayesjudge.core.calls import called
from bayesjudge.core.errors import InputError, checking
from bayesjudge.decide.pages import decision_page
from bayesjudge.render.page import Section

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def drift(
    old: Annotated[Path, table_option("Verdicts of the old judge, one row a verdict", LOGS)],
    new: Annotated[Path, OF_TABLE],
    /,
    *,
    item: Annotated[NamedItem, FIRST] = "item",
    verdict: Annotated[Verdict, FIRST] = "verdict",
    truth: Annotated[str | None, OF_TABLE, FIRST] = None,
    labels: LabelFile = None,
    by: Annotated[By, FIRST] = None,
    meanings: Meanings = Meanings(),
    metric: Metric = None,
    judge: Annotated[list[str] | None, SEVERAL] = None,
    change: Annotated[float, OF_OUTPUT] = 0.03,
    ci_prob: Annotated[float, OF_OUTPUT] = 0.95,
    fail: Annotated[bool, OF_OUTPUT] = False,
    html: Html = None,
    json: Json = False,
) -> int:
    r"""Compare two judges, or two versions of one: verdicts that flip, and what they move.

    Which of the two is better for people, on the same labelled outputs: `bayesjudge judge`.

    ```
    bayesjudge drift old.csv new.csv --item id --verdict judge --truth human --by system
    bayesjudge drift run.eval run.eval --judge gpt-4 --judge gpt-5
    ```

    Parameters
    ----------
    old : Path
        Verdicts of the old judge, one row a verdict, or a log.
    new : Path
        Verdicts of the new one on the same outputs, with the same columns.
    truth : str
        Column with the human label, empty where there is none; it may be in one log only.
    judge : list[str]
        Of logs, the judge who is meant, if several gave verdicts; or the old and the new one.
    change : float
        A change of the pass rate for which the power is told.
    ci_prob : float
        Probability of every interval, and of calling nothing a drift if there is none.
    fail : bool
        Exit with 1 if a drift was seen.

    Raises
    ------
    InputError
        If an option, a column or a value is not understood, or the logs share no items.
    """
    with checking("options") as require:
        require(0 < change < 1, f"--change must lie in (0, 1), got {change}")
        words = "--judge: name one for both logs, or the old and the new one"
        require(len(judge or []) < 3, words)
        check_files(require, html=html)
    named: list[str | None] = list(judge) if judge else [None]
    judges = (named[0], named[-1])
    sources = [
        open_source(path, metric, judge=one) for path, one in zip((old, new), judges, strict=True)
    ]
    if all(source.log is not None for source in sources):
        truth = truth or next((s.own_truth for s in sources if s.own_truth), None)
        by = by or (sources[0].keys(item, by)[1] and sources[1].keys(item, by)[1])
    if labels is not None:
        truth = truth or "truth"
        about: dict[str, Any] = {"truth": truth, "verdicts": [verdict], "item": item, "by": by}
        named_by = [source.add_labels(labels, **about) for source in sources]
        item, by = named_by[0][0] or item, named_by[0][1]
    columns = [item, verdict, *([by] if by else [])]
    tables = [_read(source, columns, truth) for source in sources]
    found = bj.decide.drift(
        *tables,
        item=item,
        verdict=verdict,
        truth=truth,
        by=by,
        **asdict(meanings),
        ci_prob=ci_prob,
    )
    told = [str(found)]
    if change != 0.03:
        told.append(f"a change of {change:g}: seen with probability {found.power(change):.2f}")
    power = Section("", (), "power", {"change": change, "power": found.power(change)})
    page = decision_page(
        found,
        inputs={"old": str(old), "new": str(new), "judges": ", ".join(judge or ()) or None},
        line=called("drift"),
        sections=[power],
        pictures=lambda: _picture(found),
        said=[*told, *(f"{c.id}: {c.text}" for c in found.estimate.cautions)],
    )
    deliver(page, json=json, html=html)
    return int(fail and bool(found.seen))


def _picture(found: bj.decide.Drift) -> dict[str, Figure]:
    return {"Changes, with intervals": cast("Figure", bj.decide.plot_drift(found).get_figure())}


def _read(source: Source, columns: list[str], truth: str | None) -> Any:
    """The columns, and the truth if this log has it."""
    if truth is None:
        return source.table(columns)
    try:
        return source.table([*columns, truth])
    except InputError as error:
        if not error.has("no-column", value=truth):
            raise
        return source.table(columns)
