"""``bayesjudge gate``: pass, fail or unknown, as an exit code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from cyclopts import Parameter

import bayesjudge as bj
from bayesjudge.cli.columns import Labelled
from bayesjudge.cli.options import (
    FIRST,
    GATE,
    LOGS,
    OF_OUTPUT,
    CardFile,
    Sure,
    Written,
    needed,
    table_option,
)
from bayesjudge.cli.output import deliver, tell
from bayesjudge.cli.source import open_source
from bayesjudge.core.calls import called
from bayesjudge.core.errors import checking, expect
from bayesjudge.core.estimate import Estimate
from bayesjudge.decide.decision import EXIT_CODES
from bayesjudge.decide.pages import decision_page
from bayesjudge.render.markdown import to_markdown
from bayesjudge.render.page import once

_GATE = Parameter(group=GATE)
#: Names of the two logs, if a baseline comes as a file.
NEW, BASELINE = "candidate", "baseline"


def gate(
    table: Annotated[Path, table_option("One row per verdict", LOGS)],
    /,
    *,
    asked: Labelled = Labelled(),
    card: CardFile = None,
    at_least: Annotated[float | None, _GATE, FIRST] = None,
    at_most: Annotated[float | None, _GATE] = None,
    probability: Sure = 0.95,
    against: Annotated[str | None, _GATE] = None,
    margin: Annotated[float, _GATE] = 0.0,
    unknown: Annotated[Literal["pass", "fail"] | None, _GATE] = None,
    summary: Annotated[Path | None, OF_OUTPUT] = None,
    junit: Annotated[Path | None, OF_OUTPUT] = None,
    written: Written = Written(),
) -> int:
    r"""Decide whether the share of good outputs meets a threshold: pass, fail or unknown.

    Exit code 0 is a pass, 1 a fail, 3 unknown, with what would decide; 2 stays bad input. The same
    log gives the same answer each time. Looking again after every batch is `bayesjudge label`.

    ```
    bayesjudge gate log.csv --truth human --calibration random --at-least 0.9
    bayesjudge gate new.csv --truth human --calibration random --item id \
        --against old.csv --margin 0.02
    ```

    Parameters
    ----------
    table : Path
        One row per verdict, or a log.
    at_least : float
        The share that is wanted.
    at_most : float
        The share that is allowed, of what --pass-value names: such as `--pass-value unsafe
        --at-most 0.05`.
    against : str
        A baseline to be no worse than: another log with the same columns, compared item by item
        with --item; or the name of a system of this log (--by, --item).
    margin : float
        By how much the share may be below the baseline's.
    unknown : str
        Take an unknown for a pass or a fail; by default it is neither (exit code 3). Numbers that
        mean nothing, such as those of a contradiction, never pass.
    summary : Path
        Append Markdown to this file, such as "$GITHUB_STEP_SUMMARY".
    junit : Path
        Write the decision as JUnit XML, which CI shows among its tests.

    Raises
    ------
    InputError
        If an option, a column or a value is not understood.
    """
    source = open_source(table, asked.metric, judge=asked.judge)
    asked = replace(asked, verdict=asked.judged).completed(source)
    is_file = against is not None and Path(against).is_file()
    item, by = asked.item, asked.by
    with checking("options") as require:
        shares = [x for x in (at_least, at_most) if x is not None]
        words = "--at-least or --at-most (a share), or --against (a baseline), is needed"
        require(shares or against is not None, needed("--at-least", words))
        require(len(shares) < 2, "--at-least and --at-most: give one of them")
        propensity = asked.calibration == "known_propensity"
        require(not propensity, "known_propensity: use bayesjudge.decide.gate")
        require(len(asked.judged) == 1, f"--verdict: a gate is of one, got {asked.judged}")
        require(margin == 0 or against is not None, "--margin needs --against")
        written.check_files(require, summary=summary, junit=junit)
        named = against is None or is_file or by is not None
        require(named, f"--against {against}: there is no such file (and no --by to name a system)")
        alone = not (is_file and by)
        require(alone, "--against FILE compares two logs of one system: leave --by")
        needs_item = against is not None and not is_file and item is None
        require(not needs_item, "--against NAME compares item by item: name the column, --item")
        words = "--repeats and --against NAME take one column of labels (--truth)"
        paired = asked.repeats is not None or (against is not None and not is_file)
        require(not (asked.several_people and paired), words)
    how, columns = asked.reading, asked.needs(source)
    baseline = None
    if is_file:
        baseline = open_source(Path(str(against)), asked.metric, judge=asked.judge).table(columns)
    gates, of_card = [], []
    sizes: dict[str, Any] = {}
    if shares:
        with source.counted(columns, quiet=True) as read:
            data = _data(read, **how)
        sizes |= _sizes(data)
        limit: dict[str, Any] = {"at_least": at_least, "at_most": at_most}
        if card is not None:
            from bayesjudge.cli.passport import carried, transport

            data = _with_card(data, card, probability)
            limit |= {"entry": "prevalence"}
            sizes["transport"] = transport(data)
            of_card = carried(data)
        gates.append(bj.decide.gate(data, **limit, probability=probability))
    if against is not None:
        about = {"probability": probability, "margin": margin}
        with source.counted(columns, quiet=True) as read:
            gates.append(_against(read, baseline, str(against), how, about))
    decision = gates[0] if len(gates) == 1 else gates[0] & gates[1]
    inputs = {
        **source.inputs,
        **sizes,
        "calibration": asked.calibration,
        "at_least": at_least,
        "at_most": at_most,
        "probability": probability,
        "against": against,
        "margin": None if against is None else margin,
    }
    page = decision_page(
        decision,
        unknown=unknown or "unknown",
        title=f"bayesjudge gate, {table.name}",
        inputs=inputs,
        line=called("gate"),
        pictures=lambda: {"Numbers, limits and thresholds": bj.decide.plot_gate(decision)},
        said=[
            str(decision),
            *of_card,
            *map(": ".join, once([*decision.cautions, *source.cautions])),
            _verdict(decision, unknown),
            *([KEEP] if shares else []),
        ],
    )
    deliver(page, written, junit=junit)
    if summary is not None:
        with summary.open("a", encoding="utf-8") as file:
            file.write(to_markdown(page))
        tell(f"summary added to {summary}")
    return decision.exit_code(unknown or "unknown")


def _with_card(data: Any, card: Path, probability: float) -> Estimate:
    """What a judge's card makes of a run's counts, at the level that the gate needs."""
    counted = isinstance(data, bj.prevalence.Counts)
    expect("--card", counted, "a card needs one row per item: leave out --item and --repeats")
    return bj.judge.Card.load(card).estimate(data, ci_prob=2 * probability - 1)


def _verdict(decision: bj.decide.Gate, unknown: Literal["pass", "fail"] | None) -> str:
    """What a CI job sees."""
    code = decision.exit_code(unknown or "unknown")
    if decision.outcome != "unknown":
        return f"Exit code {code}: {decision.outcome}."
    if code != EXIT_CODES["unknown"]:
        return f"Exit code {code}: the unknown is taken as a {unknown} (--unknown {unknown})."
    if unknown == "pass":
        return f"Exit code {code}: unknown; numbers that mean nothing are not taken as a pass."
    return f"Exit code {code}: unknown; --unknown fail takes it as a fail (exit code 1)."


#: Where labels of a gate can be of use again.
KEEP = "To use these labels in runs with few or none: bayesjudge judge TABLE --card FILE."


def _data(table: Any, **how: Any) -> Any:
    """Rows as they are; of one column of labels, those of an item that repeats together."""
    repeats = how.pop("repeats", None)
    if not isinstance(how["truth"], str) or "rater" in how:
        return bj.prevalence.people.PeopleCounts.from_frame(table, **how)
    if repeats is not None:
        return bj.prevalence.items.Items.from_frame(table, repeats=repeats, **how)
    return bj.prevalence.Counts.from_frame(table, **how)


def _sizes(data: Any) -> dict[str, int]:
    """How many items were read, and how many of them have a label."""
    if not isinstance(data, bj.prevalence.Counts | bj.prevalence.people.PeopleCounts):
        return {}
    labelled = int(np.sum(data.labelled_n))
    return {"items": int(np.sum(data.test_n)) + labelled, "labelled": labelled}


def _against(
    table: Any, other: Any, against: str, how: dict[str, Any], about: dict[str, Any]
) -> bj.decide.Gate:
    """Item by item if items are named, else as independent samples."""
    from bayesjudge.core.tables import free_name, read_rows

    items = bj.prevalence.items.Items
    if other is None:
        return bj.decide.gate(items.from_frame(table, **how), against=against, **about)
    item, by_rater = how.get("item"), "rater" in how
    if item is None or not isinstance(how["truth"], str) or by_rater:
        alone = {name: v for name, v in how.items() if name != "item" or by_rater}
        mine, theirs = (_data(t, **alone) for t in (table, other))
        return bj.decide.gate(mine, against=theirs, **about)
    import pandas as pd

    columns = [how["verdict"], how["truth"]]
    system = free_name("system", [*columns, item])
    parts = [
        read_rows(t, *columns, names=[item]).astype(object).assign(**{system: name})
        for t, name in ((table, NEW), (other, BASELINE))
    ]
    shared = set(parts[0][item]) & set(parts[1][item])
    expect("--against", shared, f"no value of {item!r} occurs in both logs: items cannot be paired")
    both = items.from_frame(pd.concat(parts, ignore_index=True), by=system, **how)
    return bj.decide.gate(both, against=BASELINE, **about)
