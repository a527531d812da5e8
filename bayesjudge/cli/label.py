"""``bayesjudge label``: draw items, write sheets, read them, stop when the gate decides."""

from __future__ import annotations

import math
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

import bayesjudge as bj
from bayesjudge.cli.options import (
    DATA,
    FIRST,
    GATE,
    LOGS,
    OF_OUTPUT,
    OF_TABLE,
    SEVERAL,
    LogJudge,
    Meanings,
    Metric,
    Rater,
    Sure,
    Truths,
    Written,
    table_option,
)
from bayesjudge.cli.output import deliver, say, tell
from bayesjudge.cli.source import open_source
from bayesjudge.core.calls import called
from bayesjudge.core.errors import Problem, checking, expect
from bayesjudge.core.screen import how_many
from bayesjudge.decide.decision import EXIT_CODES
from bayesjudge.decide.labelling import QUESTION, read_sheets, write_form, write_sheet
from bayesjudge.decide.pages import decision_page

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GATE = Parameter(group=GATE)
UNCERTAIN = (
    "--strategy uncertain: a pass takes about as many labels as with random (.92 to 1.03 times), "
    "and up to 1.4 times as many with several judges; a fail by one judge's verdicts .66 to .85 "
    "times, where by_verdict takes .42 to .69"
)
#: Column of the sheet for a second look: the table has one of the first already.
SECOND_LOOK = "second_look"


def label(
    table: Annotated[Path, table_option("One row per verdict", LOGS)],
    /,
    *,
    gate: Annotated[float, Parameter(name=["--gate", "--at-least"], group=GATE), FIRST],
    item: Annotated[str, OF_TABLE, FIRST] = "item",
    verdict: Annotated[str | None, OF_TABLE, FIRST] = None,
    truth: Annotated[Truths, FIRST] = None,
    rater: Rater = None,
    show: Annotated[list[str] | None, SEVERAL, FIRST] = None,
    show_verdict: Annotated[bool, Parameter(group=DATA, negative="")] = False,
    meanings: Meanings = Meanings(),
    metric: Metric = None,
    judge: LogJudge = None,
    read: Annotated[list[Path] | None, SEVERAL] = None,
    n: Annotated[int, _GATE] = 20,
    probability: Sure = 0.95,
    strategy: Annotated[Literal["random", "by_verdict", "uncertain"], _GATE] = "random",
    most_labels: Annotated[int | None, _GATE] = None,
    question: Annotated[str, OF_OUTPUT] = QUESTION,
    state: Annotated[Path | None, OF_OUTPUT] = None,
    sheet: Annotated[Path | None, OF_OUTPUT] = None,
    form: Annotated[Path | None, OF_OUTPUT] = None,
    written: Written = Written(),
    seed: Annotated[int | None, OF_OUTPUT] = None,
) -> int:
    r"""Choose which outputs a person labels next, and stop as soon as a threshold is decided.

    Each call reads the sheets that were filled in, reports the gate (valid at every look), and
    draws the next batch while it is undecided. Exit code 0 pass, 1 fail, 3 unknown.

    ```
    bayesjudge label log.csv --verdict judge --show prompt --show answer --gate 0.9 --n 20
    bayesjudge label log.csv --verdict judge --show prompt --show answer --gate 0.9 --n 20 \
        --read log.labels.csv
    ```

    Parameters
    ----------
    table : Path
        One row per verdict, or a log.
    gate : float
        The share of good outputs that is wanted.
    item : str
        Column that identifies the item: what is drawn and labelled.
    verdict : str
        Column with the judge's verdict, which saves labels; leave it out if there is no judge. Of a
        log, its verdicts are taken.
    truth : list[str]
        Column with labels that there are already, of several people a column each: those that look
        wrong are handed out first, for a second look, in a sheet of their own.
    show : list[str]
        Column that a person needs to see. May be repeated.
    show_verdict : bool
        Show the verdict too; who sees it tends to agree.
    read : list[Path]
        A sheet that was filled in. May be repeated: of several people, the share that call an item
        good counts, and the answer says how far they agree.
    n : int
        Items of the next batch.
    strategy : str
        How items are drawn: random, by_verdict (half passes, half fails) or uncertain (what is hard
        to predict more often). Random is about as good or better, unless one judge's verdicts are
        to show a fail: then by_verdict took .4 to .7 of the labels. Uncertain took as many as
        random with scores, and up to 1.4 times as many with verdicts of several judges.
    most_labels : int
        Ask about the process that the items come from, with so many labels at most; by default
        about these very items.
    question : str
        What the form asks.
    state : Path
        File with draws and labels; by default beside the table.
    sheet : Path
        CSV sheet to write; by default beside the table.
    form : Path
        HTML form to write; by default beside the table.
    seed : int
        Same seed, same draws; of the first call.

    Raises
    ------
    InputError
        If an option, a column or a value is not understood, or the file of draws is of other data.
    """
    paths: dict[str, Any] = {
        name: given or table.with_name(f"{table.name.split('.')[0]}.labels.{kind}")
        for name, given, kind in (
            ("state", state, "json"),
            ("sheet", sheet, "csv"),
            ("form", form, "html"),
        )
    }
    speak = say if written.on_screen else tell
    source = open_source(table, metric, judge=judge)
    if source.log is not None:
        verdict = verdict or "verdict"
    with checking("options") as require:
        require(n >= 1, "must be 1 or more", n=n)
        written.check_files(require, **paths)
        there = verdict is not None or not show_verdict
        require(there, "--show-verdict needs --verdict")
        require(truth or rater is None, "--rater needs --truth: what that person said")
    _require_read(paths["sheet"], read or [])
    judged = source.verdicts([verdict] if verdict else [], rater)
    columns = list(dict.fromkeys([item, *judged, *(show or ())]))
    rows = source.table(columns)
    if truth and rater and verdict and not judged:  # the judge is one of the raters
        rows = _rows_of(source.table([*columns, rater, truth[0]]), rater, truth[0], verdict)
    looked = table.with_name(f"{table.name.split('.')[0]}.second-look.csv")
    if truth and not looked.exists():
        expect("options", verdict, "--truth needs --verdict: verdicts show which labels look wrong")
        named = [*columns, *truth, *([rater] if rater else [])]
        how: dict[str, Any] = {"truth": truth[0] if rater else truth, "rater": rater, "item": item}
        labels = bj.prevalence.people.doubtful(
            source.table(named), verdict=verdict, calibration="random", **how, **asdict(meanings)
        )
        again = _doubtful(labels, n)
        texts = _texts(rows, item, [*(show or ())], tuple(again))
        write_sheet(again, looked, texts=texts, truth=SECOND_LOOK)
        then = ["bayesjudge", "prevalence", str(table), "--verdict", str(verdict), "--truth"]
        then += [*truth, *(["--rater", rater] if rater else []), "--adjudicated", SECOND_LOOK]
        then += ["--labels", str(looked), "--item", item, "--calibration", "random"]
        for name, values in asdict(meanings).items():
            then += [f"--{name.replace('_', '-')}", *values] if values else []
        speak(
            f"About {labels['wrong'].sum():.0f} of {len(labels):,} labels are wrong. A second look "
            f"at the most doubtful: {how_many(len(again), 'item')} in {looked}\n"
            f"Then:\n  {shlex.join(then)}\nThe same command as now goes on with new labels"
        )
        return EXIT_CODES["unknown"]
    settings: dict[str, Any] = {"at_least": gate, "probability": probability}
    settings |= {"strategy": strategy, "most_labels": most_labels, "random_seed": seed}
    monitor = bj.decide.Monitor.from_frame(
        rows,
        item=item,
        verdict=verdict,
        **asdict(meanings),
        target="population" if most_labels else "items",
        **settings,
    )
    if paths["state"].exists():
        monitor.resume(paths["state"])
    for line in _taken(monitor, read or []):
        tell(line)
    if strategy == "uncertain" and not monitor.n_labels:
        tell(UNCERTAIN)
    decided = monitor.gate
    speak(str(decided))
    if decided.outcome == "unknown":
        if not monitor.pending:
            monitor.draw(n)
        shown = [*(show or ()), *([verdict] if show_verdict and verdict else [])]
        texts = _texts(rows, item, shown, monitor.pending)
        monitor.save(paths["state"])  # before the sheet that it was read from is replaced
        write_sheet(monitor.pending, paths["sheet"], texts=texts)
        write_form(
            monitor.pending, paths["form"], texts=texts, title=f"{table.name}", question=question
        )
        waiting = len(monitor.pending)
        speak(
            f"{how_many(waiting, 'item')} to label: {paths['sheet']} (or {paths['form']}, which "
            "saves such a file)\nThen: the same command with --read FILE"
        )
        if verdict is None and not monitor.n_labels:
            tell(
                f"If a judge is to be tuned: take {waiting // 3} of these for its prompt, mark "
                "them in a column (--tuned-on COLUMN), and measure it on the others"
            )
    monitor.save(paths["state"])
    inputs = {"data": str(table), "items": f"{len(monitor.names):,}"}
    inputs["labels"] = f"{monitor.n_labels}"
    title, line = f"bayesjudge label, {table.name}", called("label")
    about: dict[str, Any] = {"title": title, "inputs": inputs, "line": line, "command": "label"}
    deliver(decision_page(decided, **about, pictures=lambda: _pictures(monitor)), written)
    return decided.exit_code()


def _rows_of(table: Any, rater: str, label: str, judge: str) -> Any:
    """Rows of a judge that is one of the raters, with its verdicts in a column of its name."""
    import narwhals as nw

    rows = nw.from_native(table).filter(nw.col(rater).cast(nw.String) == judge)
    words = f"--verdict {judge}: no column {judge!r}, and no row of it in column {rater!r}"
    expect("options", len(rows), Problem(words, "no-column", "verdict", judge))
    return rows.rename({label: judge}).to_native()


def _doubtful(labels: Any, most: int) -> list[str]:
    """Items whose labels look most wrong: as many as wrong ones are expected, and no more."""
    items = labels["item"].astype(str).drop_duplicates()
    return list(items.head(min(most, math.ceil(labels["wrong"].sum()))))


def _pictures(monitor: bj.decide.Monitor) -> dict[str, Axes]:
    """The sequence, if there is a label."""
    caption = "Limits that hold at every look"
    return {caption: bj.decide.plot_monitor(monitor)} if monitor.n_labels else {}


def _require_read(sheet: Path, read: list[Path]) -> None:
    """Refuse to replace a sheet that a person has filled in."""
    if not sheet.exists() or sheet.resolve() in {path.resolve() for path in read}:
        return
    filled = read_sheets(sheet).items
    expect("--sheet", not filled, "labels-lost", sheet=sheet, n=len(filled))


def _taken(monitor: bj.decide.Monitor, sheets: list[Path]) -> list[str]:
    """Take in the sheets; what was taken in before may be there again."""
    if not sheets:
        return []
    read = read_sheets(*sheets, known=monitor.names)
    monitor.add(read.items, read.truth)
    lines = [f"{how_many(len(read.items), 'label')} read, {len(monitor.pending)} still to come"]
    return [*lines, *([str(read.agreement)] if read.agreement else [])]


def _texts(
    rows: Any, item: str, columns: list[str], wanted: tuple[str, ...]
) -> dict[str, dict[str, str]]:
    """By column and item, what people see: of several rows of an item, all of them."""
    from bayesjudge.core.tables import read_rows

    if not columns:
        return {}
    frame = read_rows(rows, *columns, names=[item])
    frame = frame[frame[item].astype(str).isin(set(wanted))].astype(object)
    grouped = frame.fillna("").groupby(item, sort=False)
    return {
        column: {
            str(name): "\n\n".join(dict.fromkeys(map(str, cells)))
            for name, cells in grouped[column]
        }
        for column in columns
    }
