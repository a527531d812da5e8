"""``bayesjudge drift``: the judge changed; do numbers still mean the same?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter

import bayesjudge as bj
from bayesjudge.cli.options import (
    FIRST,
    LOGS,
    OF_OUTPUT,
    OF_TABLE,
    SEVERAL,
    By,
    LabelFile,
    Meanings,
    Metric,
    NamedItem,
    TunedOn,
    Verdict,
    Written,
    table_option,
)
from bayesjudge.cli.output import deliver, tell
from bayesjudge.cli.source import Source, open_source
from bayesjudge.core.calls import called
from bayesjudge.core.errors import InputError, checking
from bayesjudge.decide.pages import decision_page
from bayesjudge.render.page import Section

COUNTED_BEFORE = "this look was counted before, and not again; if it is a new one, give it a name"
OF_LOOKS = Parameter(group=Group("Looking again and again", sort_key=1))


def drift(
    old: Annotated[Path, table_option("Verdicts of the old judge, one row per verdict", LOGS)],
    new: Annotated[Path, OF_TABLE],
    /,
    *,
    item: Annotated[NamedItem, FIRST] = "item",
    verdict: Annotated[Verdict, FIRST] = "verdict",
    truth: Annotated[str | None, OF_TABLE, FIRST] = None,
    labels: LabelFile = None,
    tuned_on: TunedOn = None,
    by: Annotated[By, FIRST] = None,
    meanings: Meanings = Meanings(),
    metric: Metric = None,
    judge: Annotated[list[str] | None, SEVERAL] = None,
    change: Annotated[float, OF_OUTPUT] = 0.03,
    ci_prob: Annotated[float, OF_OUTPUT] = 0.95,
    fail: Annotated[bool, OF_OUTPUT] = False,
    watch: Annotated[Path | None, OF_LOOKS] = None,
    look: Annotated[str | None, OF_LOOKS] = None,
    looks: Annotated[int | None, OF_LOOKS] = None,
    written: Written = Written(),
) -> int:
    r"""Compare two judges, or two versions of one: verdicts that flip, and what they move.

    Which of the two is better for people, on the same labelled outputs: `bayesjudge judge`.
    Comparing every week alarms falsely sooner or later; `--watch` does not: give the verdicts that
    the labels were made with and this week's on the same outputs. Exit code 0 no drift, 1 drift.

    ```
    bayesjudge drift old.csv new.csv --item id --verdict judge --truth human --by system
    bayesjudge drift run.eval run.eval --judge gpt-4 --judge gpt-5
    bayesjudge drift anchors.csv today.csv --item id --watch watch.json --look 2026-W48
    ```

    Parameters
    ----------
    old : Path
        Verdicts of the old judge, one row per verdict, or a log.
    new : Path
        Verdicts of the new one on the same outputs, with the same columns.
    truth : str
        Column with the human label, empty where there is none; it may be in one log only.
    judge : list[str]
        Of logs, the judge who is meant, if several gave verdicts; or the old and the new one.
    change : float
        A change of the pass rate for which the power is shown.
    ci_prob : float
        Probability of every interval, and of calling nothing a drift if there is none.
    fail : bool
        Exit with 1 if a drift was seen.
    watch : Path
        File that keeps the looks so far; made at the first one. An alarm, ever, has probability
        1 - --ci-prob at most while the judge stays the same.
    look : str
        Name of this look, such as its date: one that was counted counts no more. Without, verdicts
        that are all those of an earlier look count no more.
    looks : int
        How many looks are planned, said at the first call; by default any number.

    Raises
    ------
    InputError
        If an option, a column or a value is not understood, or the logs share no items.
    """
    with checking("options") as require:
        require(0 < change < 1, "must lie in (0, 1)", change=change)
        require(len(judge or []) < 3, "--judge: name one for both logs, or the old and the new one")
        written.check_files(require, watch=watch)
        alone = watch is not None or (look is None and looks is None)
        require(alone, "--look and --looks need --watch FILE")
    named: list[str | None] = list(judge) if judge else [None]
    judges = (named[0], named[-1])
    sources = [
        open_source(path, metric, judge=name) for path, name in zip((old, new), judges, strict=True)
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
    if truth is not None:
        for source in sources:
            source.leave_out(tuned_on, [truth])
    tables = [_read(source, columns, truth) for source in sources]
    how: dict[str, Any] = {"item": item, "verdict": verdict, "truth": truth, "by": by}
    how |= {**asdict(meanings), "ci_prob": ci_prob}
    inputs = {"old": str(old), "new": str(new), "judges": ", ".join(judge or ()) or None}
    tuned = dict.fromkeys(caution for source in sources for caution in source.cautions)
    if watch is not None:
        watched, counted = _watched(watch, tables, look, how | {"looks": looks})
        said = [str(watched), *(f"{c.id}: {c.text}" for c in tuned)]
        page = decision_page(watched, inputs=inputs, line=called("drift"), said=said)
        if not counted:
            tell(f"{COUNTED_BEFORE} (--look NAME)")
        deliver(page, written)
        return int(watched.alarm is not None)
    drifted = bj.decide.drift(*tables, **how)
    lines = [str(drifted)]
    if change != 0.03:
        lines.append(f"a change of {change:g}: seen with probability {drifted.power(change):.2f}")
    power = Section("", (), "power", {"change": change, "power": drifted.power(change)})
    page = decision_page(
        drifted,
        inputs=inputs,
        line=called("drift"),
        sections=[power],
        pictures=lambda: {"Changes, with intervals": bj.decide.plot_drift(drifted)},
        said=[*lines, *(f"{c.id}: {c.text}" for c in (*tuned, *drifted.estimate.cautions))],
    )
    deliver(page, written)
    return int(fail and bool(drifted.seen))


def _watched(
    path: Path, tables: Sequence[Any], name: str | None, how: dict[str, Any]
) -> tuple[bj.decide.Watch, bool]:
    """The watch with this look, and whether it is a new one; the file is written at once."""
    watch = bj.decide.Watch(tables[0], **how)
    if path.exists():
        watch.resume(path)
    counted = watch.look(tables[1], name)
    watch.save(path)
    return watch, counted


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
