"""``bayesjudge repeats``: ask judges until means are known, and report what scores say."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from cyclopts import App, Parameter

from bayesjudge import repeats as module
from bayesjudge.cli.asking import asked_of
from bayesjudge.cli.commands import COMMANDS
from bayesjudge.cli.options import (
    DATA,
    FIRST,
    MODEL,
    OF_TABLE,
    OUTPUT,
    JudgeColumn,
    Meanings,
    Metric,
    NamedItem,
    Shared,
    Written,
    check_files,
    needed,
    table_option,
)
from bayesjudge.cli.output import Story, deliver, present, say, tell, write_csv
from bayesjudge.cli.repeats_categories import categories
from bayesjudge.cli.scales import scale_values
from bayesjudge.cli.shapes.words import is_called, is_named
from bayesjudge.cli.source import Source, open_source
from bayesjudge.core.answer import Answer
from bayesjudge.core.calls import called
from bayesjudge.core.errors import InputError, Problem, checking, expect, problem
from bayesjudge.core.estimate import Estimate
from bayesjudge.core.fit import Fit
from bayesjudge.core.labels import read_labels
from bayesjudge.core.names import name_of
from bayesjudge.core.screen import few, visible
from bayesjudge.core.side_by_side import side_by_side
from bayesjudge.render.page import Line, Page, Table, sampling_of
from bayesjudge.repeats.checks import OF_ORDER
from bayesjudge.repeats.data import ITEM_COLUMNS, stack_answers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

repeats = App(name="repeats", help=COMMANDS["repeats"])
repeats.command(categories)

_SCORE = Parameter(name=["--score", "--verdict"], group=DATA, consume_multiple=True, negative="")
Cutpoints = Literal["shared", "by_judge"]
Noise = Literal["constant", "by_level"]
#: With more items than this, their means go to a file and the screen tells of all together.
MOST_ITEMS = 20
#: Fail and pass as scores.
VERDICTS = (0.0, 1.0)
#: What to do if there are more words than a pass and a fail.
MANY = Problem(
    "repeats takes pass and fail, or numbers (--scale); say which mean pass, fail and missing "
    "(--pass-value, --fail-value, --missing-value)"
)


@repeats.command
def report(
    table: Annotated[
        Path, table_option("One row per answer, or a column of each", "a log with epochs")
    ],
    /,
    *,
    scale: Annotated[str | None, OF_TABLE, FIRST] = None,
    score: Annotated[list[str] | None, _SCORE, FIRST] = None,
    item: Annotated[NamedItem, FIRST] = "item",
    one_item: Annotated[bool, Parameter(group=DATA, negative="")] = False,
    judge: Annotated[JudgeColumn, FIRST] = None,
    order: Annotated[str | None, OF_TABLE] = None,
    meanings: Meanings = Meanings(),
    flips_at_most: Annotated[float, OF_TABLE] = 0.05,
    half_width: Annotated[float | None, OF_TABLE] = None,
    cost_per_call: Annotated[float | None, OF_TABLE] = None,
    items: Annotated[Path | None, Parameter(group=OUTPUT, negative="")] = None,
    cutpoints: Annotated[Cutpoints, Parameter(group=MODEL)] = "shared",
    noise: Annotated[Noise, Parameter(group=MODEL)] = "constant",
    metric: Metric = None,
    shared: Shared = Shared(),
) -> None:
    """Estimate how many calls an item needs, from repeated scores or verdicts.

    The table is long (one row per answer), or wide (one row per item, and a column of each of its
    answers by one judge, named by `--score`).

    Of verdicts (pass and fail): how often the judge contradicts itself, and how many calls it takes
    until their majority seldom flips. Of scores: how many calls until an item's mean is known, and
    what scores vary with.

    With several judges, the mean of an item is over the judges that could have been asked, and
    its interval tells how much they differ; with one judge it is over its answers. Repeats are
    checked for order effects. The answer is computed from variances; with `--details`, `--json`
    or a file to write, a model of the scores is sampled too, which tells each item's mean.

    ```
    bayesjudge repeats report scores.csv --scale 1-5 --judge model --html report.html
    bayesjudge repeats report wide.csv --item prompt --score run1 run2 run3
    ```

    Parameters
    ----------
    table : Path
        One row per answer, or an item, or a log.
    scale : str
        Every value that a judge can give: 1-5, or 0,0.5,1. Of pass and fail none is needed.
    score : list[str]
        Column of scores, or of verdicts; an empty cell is an answer that could not be read. Of a
        wide table all columns with an answer, in the order asked. By default score.
    one_item : bool
        All rows are about one item: the table has no column of items.
    order : str
        Column that says when an answer was asked for, in numbers or ISO times; the order of the
        rows if not said, or of the columns of a wide table.
    flips_at_most : float
        Of verdicts: how often the majority of an item's calls may flip if they are made again.
    half_width : float
        How well an item's mean is to be known: to ± this, half the width of its interval. If not
        said, a third of a step of the scale, which keeps neighbouring values apart.
    cost_per_call : float
        Price of a call, in any currency: adds the cost of the calls.
    items : Path
        Write every item's mean, by method, to a CSV file; the screen shows those of 20 items at
        most.
    cutpoints : {"shared", "by_judge"}
        Whether judges use the scale alike but for a shift, or each has its own cutpoints.
    noise : {"constant", "by_level"}
        Whether answers are as noisy at every level, or the noise depends on it.

    Raises
    ------
    InputError
        If an option, a column or a value is not understood.
    """
    shared.check()
    free = cost_per_call is None or cost_per_call >= 0
    expect("options", free, "must be 0 or more", cost_per_call=cost_per_call)
    source = open_source(table, metric, judges=True)
    if source.log is not None:
        judge = judge or ("judge" if len(source.chosen.judges) > 1 else None)
    scale = scale or source.scale
    column = None if one_item else item
    columns = [c for c in (column, judge, order) if c is not None]
    with checking("options") as require:
        values = None if scale is None else scale_values(scale, require)
    meant = asdict(meanings)
    in_columns = len(score or ()) > 1
    rows, answers = (
        _read_wide(source, score or (), column, judge, order)
        if in_columns
        else (_read(source, columns, (score or ["score"])[0], column), (score or ["score"])[0])
    )
    rows, labels = as_scores(rows, answers, values, meant)
    values = values or (VERDICTS if labels else None)
    if values in (None, VERDICTS):
        _refuse_attempts(source, answers, order)
    with checking("options") as require:
        words = "--scale is needed: every value that a judge can give: 1-5, or 0,0.5,1"
        require(values, needed("--scale", words))
        low = 0 < flips_at_most < 0.5
        require(low, "must lie between 0 and 0.5", flips_at_most=flips_at_most)
    scores = module.Scores.from_frame(
        rows,
        scale=values or VERDICTS,
        score=answers,
        item=column,
        judge=judge,
        order=order,
    )
    _refuse_pooled(source, [*(score or [answers])], column, judge, order)
    of_model = {"--cutpoints": cutpoints != "shared", "--noise": noise != "constant"}
    shared.check_sampled(*(name for name, given in of_model.items() if given))
    kind = module.JudgeCutpoints if cutpoints == "by_judge" else module.CumulativeLogit
    with checking("options") as require:
        check_files(require, items=items)
        wide = half_width is None or half_width > 0
        require(wide, "must be positive", half_width=half_width)
    wanted = {"half_width": half_width, "cost_per_call": cost_per_call}
    answer(
        scores,
        shared,
        source=source,
        model=kind(noise=noise),
        wanted={**wanted, "flips_at_most": flips_at_most},
        to=items,
        labels=labels,
        order=order or ("the columns" if in_columns else ""),
        modelled=half_width is not None or any(of_model.values()),
    )


@repeats.command
def run(
    config: Annotated[Path, OF_TABLE],
    /,
    *,
    arm: Annotated[str | None, OF_TABLE] = None,
    out: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    written: Written = Written(),
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
    bins = 5               # classes to tell apart; or half_width = 0.27: known to ± 0.27
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
        written.check_files(require, out=out)
    settings, items, judges = asked_of(config, arm)
    try:
        with warnings.catch_warnings():
            # of the client's calls that a Ctrl-C ends before they begin
            warnings.filterwarnings("ignore", message="coroutine .* was never awaited")
            result = module.runner.sample_until_sync(
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
        write_csv(result.answers, out)
        tell(f"answers written to {out}")
    deliver(_page_of_run(result, settings), written)
    if not result.items["settled"].all():
        tell("run the command again to go on, with a greater budget or most_per_item if need be")


def _page_of_run(result: Any, settings: Mapping[str, Any]) -> Page:
    items = result.items.round(3)
    settled, unparsed, failed = (int(items[k].sum()) for k in ("settled", "unparsed", "failed"))
    sentence = f"{settled} of {len(items)} items settled to ± {settings['half_width']:.3g}."
    about = (
        f"{result.calls} calls, cost {result.cost:.4g}; {unparsed} answers could not be read, "
        f"{failed} calls failed for good."
    )
    names = list(map(str, items.columns))
    return Page(
        "bayesjudge repeats run",
        sentence,
        about=about,
        command="repeats run",
        line=called("repeats run"),
        inputs={"answers": settings["store"]},
        numbers=Table(names, [Line(list(map(str, row))) for row in items.to_numpy()], names[1:]),
        fields=lambda: {"rows": items.to_dict("records")},
        said=[f"{sentence} {about}", "", *visible(items.to_string(index=False)).splitlines()],
    )


def as_scores(
    table: Any, score: str, scale: tuple[float, ...] | None, meant: Mapping[str, Any]
) -> tuple[Any, str]:
    """Read a column of text as numbers, or as 1 for pass and 0 for fail; and tell how."""
    import pyarrow as pa

    given = {name: values for name, values in meant.items() if values is not None}
    options = ", ".join(f"--{name.replace('_', '-')}" for name in given)
    problem = f"{options}: --scale is then 0-1, or out"
    expect("options", not given or scale in (None, VERDICTS), problem)
    cells = table[score].combine_chunks()
    coded = cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()
    labels = coded.dictionary.to_pylist()
    numbers = [_number_of(label) for label in labels]
    reading = ""
    other = any(x is not None and x not in VERDICTS for x in numbers)
    if given or (None in numbers and not other and scale in (None, VERDICTS)):
        try:
            read, spelling = read_labels({score: labels}, **{**dict.fromkeys(meant), **given})
        except InputError as error:
            problems = [MANY if p.id == "many-labels" else p for p in error.problems]
            raise InputError(error.subject, problems) from None
        numbers = read[score].tolist()
        reading = str(spelling) or "1 read as pass; 0 as fail"
    elif None in numbers:
        return table, ""  # words among numbers: refused with the scale
    scores = np.array([*numbers, np.nan], float)[coded.indices.fill_null(len(labels)).to_numpy()]
    at = table.column_names.index(score)
    return table.set_column(at, score, pa.array(scores, from_pandas=True)), reading


def _number_of(label: Any) -> float | None:
    """A cell as a number; None of a word, and of true and false."""
    if label is None or isinstance(label, bool):
        return None
    try:
        return float(label)
    except ValueError:
        return None if str(label).strip() else float("nan")


def answer(
    scores: module.Scores,
    shared: Shared,
    *,
    source: Source,
    model: module.CumulativeLogit,
    wanted: Mapping[str, Any],
    to: Path | None,
    labels: str,
    order: str,
    modelled: bool,
) -> list[Estimate | Fit]:
    """Estimate from scores, and present; of verdicts a mean is `modelled` only if asked for."""
    many = len(scores.items) > MOST_ITEMS
    several = len(scores.items) + len(scores.judges) > 2
    forms = module.closed_forms(scores, ci_prob=shared.ci_prob)
    answered = module.answer(*forms, **wanted, ci_prob=shared.ci_prob)
    if order and (note := _note_of_order(scores, order, answered)):
        answered = replace(answered, notes=(*answered.notes, note))
    fits: list[Fit] = []
    # the answer rests on a formula: the model tells of single items, to those who ask
    files = (shared.save, to)
    verdicts = len(scores.scale) == 2 and not modelled and not any(files)
    asked = shared.samples(any(files) or model != module.CumulativeLogit())
    instant = [estimate for each in forms for estimate in _shown(each, many)]
    if verdicts:
        instant = _about_verdicts(answered, instant, wanted["flips_at_most"])

    def sample() -> Fit:
        fits.append(module.fit(scores, model, **shared.sampling))
        return _items_left_out(fits[0]) if many else fits[0]

    title, quantity = "Repeated scores: how often to ask, and what scores vary with", "item_score"
    if verdicts:
        title = "Repeated verdicts: how often the judge contradicts itself"
        quantity = next(iter(answered.quoted.quantities))
    story = Story(
        command="repeats report",
        title=title,
        answer="mean_score" if many and not verdicts else quantity,
        instant=instant,
        sample=sample if several and asked and not verdicts else None,
        tell=lambda _: answered,
        draw=lambda results: _draw(results, scores),
        source=source,
        inputs={**_inputs(scores), **({"labels": labels} if labels else {})},
        words={"mean_score": "share of the judge's answers that pass"} if verdicts else {},
        waits=False,
    )
    shown = present(story, replace(shared, save=None, nuts=asked))  # saved below, with the items
    if shared.save is not None and fits:
        tell(f"fit saved in {fits[0].save(shared.save)}")
    if to is not None:
        every = side_by_side(*forms, *fits, ci_prob=shared.ci_prob, interval=shared.interval)
        write_csv(every[every["quantity"] == "item_score"].drop(columns="quantity"), to)
        tell(f"means of {len(scores.items)} items written to {to}")
    elif many and shared.on_screen and not shared.quiet:
        say(f"--items FILE writes the means of all {len(scores.items)} items.")
    return shown


def _about_verdicts(
    answered: Answer, instant: Sequence[Estimate], flips_at_most: float
) -> list[Estimate]:
    """What is said of verdicts: the answer, and the share of passes, which is their mean."""
    means = [e.only("mean_score") for e in instant if "mean_score" in e][:1]
    means = [
        replace(mean, cautions=tuple(c for c in mean.cautions if c.id != "cut-at-the-scale"))
        for mean in means
    ]
    if not answered.known:
        return means
    quoted = answered.quoted
    labels = quoted.quantities["majority_flips"].labels
    calls = list(dict.fromkeys(int(str(label[0])) for label in labels))
    every = module.self_contradiction(
        quoted.data, flips_at_most=flips_at_most, calls=calls, ci_prob=quoted.ci_prob
    )
    return [every, *means]


def _note_of_order(scores: module.Scores, order: str, answered: Answer) -> str:
    """What tests of the order found, if no caution tells it."""
    effects = module.order_effects(scores)
    p = [test.p_value for test in effects.values() if test.p_value == test.p_value]
    if not p:
        return f"Order ({order}): no item has two answers that differ, so that none could show."
    tested = "tests of the first call, of a trend, of single calls and of repeated answers"
    raised = {caution.id for caution in answered.cautions}
    effect = "see the caution" if OF_ORDER & raised else "no effect is seen"
    return f"Order ({order}): {effect}; {tested} have p of {min(p):.2g} or more."


def _items_left_out(fit: Fit) -> Fit:
    """Leave out the items, but not how well they were sampled."""
    checked = sampling_of(fit)
    idata = fit.idata.copy()
    idata.attrs |= {name: checked[name] for name in ("max_r_hat", "min_ess")}
    kept = tuple(q for q in fit.quantities if q != "item_score")
    return replace(fit, idata=idata, quantities=kept)


def _shown(estimate: Estimate, many: bool) -> list[Estimate]:
    """Leave out the items if they are many, and what is only about them."""
    kept = [q for q in estimate.quantities if not many or q != "item_score"]
    return [estimate.only(*kept)] if kept else []


def _refuse_attempts(source: Source, score: str, order: str | None) -> None:
    """Refuse verdicts on outputs that differ: no judge contradicts itself there."""
    log, counters = source.log, list[str]()
    if log is None and is_called(score, "tested"):
        counters = [n for n in source.columns() if is_called(n, "attempts") and n != order]
    with checking("options") as require:
        after = "so that verdicts may differ without a contradiction: bayesjudge attempts"
        differ = log is not None and log.repeating == "system"
        words = f"repeats of an item are outputs that differ, {after}"
        require(not differ, Problem(words, "attempts"))
        for name in counters[:1]:
            way = f"if all are verdicts on one output: --order {shlex.quote(name)}"
            words = f"rows of an item are attempts ({name}), {after}; {way}"
            require(False, Problem(words, "attempts"))


def _refuse_pooled(
    source: Source, score: Sequence[str], item: str | None, judge: str | None, order: str | None
) -> None:
    """Refuse a table in which rows of several judges, or systems, would be repeats of one."""
    if source.log is not None:
        return
    taken = {*score, item, judge, order}
    others = [n for n in source.columns() if is_named(n, "judges", "systems") and n not in taken]
    keys = [n for n in (item, judge) if n is not None]
    for name in others:
        rows = source.table([*keys, name]).to_pandas().drop_duplicates([*keys, name])
        if not (rows.duplicated(keys).any() if keys else len(rows) > 1):
            continue
        kinds = sorted(map(str, rows[name].unique()))
        kind = "systems" if judge else "judges" if is_named(name, "judges") else "perhaps-judges"
        raise InputError("options", [problem(f"repeats-of-{kind}", name=name, kinds=few(kinds))])


def _table(source: Source, columns: list[str], score: str) -> Any:
    """Columns of names as text; a score as the file has it, of a log as a number."""
    if source.log is not None:
        return source.table(list(dict.fromkeys(columns)), numbers=[score])
    return source.table(list(dict.fromkeys([*columns, score])))


def _read(source: Source, columns: list[str], score: str, item: str | None) -> Any:
    for name in ITEM_COLUMNS if item is None else ():  # read it, to see whether it names several
        with suppress(InputError):
            return _table(source, [*columns, name], score)
    parts = [part.strip() for part in score.split(",")]
    several = len(parts) > 1 and {*parts} <= {*source.columns()}
    remedy = f"several columns with a space between them: --score {shlex.join(parts)}"
    expect("options", not several, remedy)
    with _naming(item, [score]):
        return _table(source, columns, score)


@contextmanager
def _naming(item: str | None, scores: Sequence[str]) -> Iterator[None]:
    """Name the options of columns that are not there."""
    try:
        yield
    except InputError as error:
        if not error.has("no-column", value=item):
            raise
        remedy = "name the column of items with --item, or say --one-item if there is one"
        lost = any(error.has("no-column", value=name) for name in scores)
        named = ["name the column of scores with --score, or several"] if lost else []
        raise InputError(error.subject, [*error.problems, remedy, *named]) from None


def _read_wide(
    source: Source, scores: Sequence[str], item: str | None, judge: str | None, order: str | None
) -> tuple[Any, str]:
    """One row per answer, of a table with a column of each; and what their column is called."""
    import pyarrow as pa

    with checking("options") as require:
        near = "a log's answers stand in one column: leave --score out"
        require(source.log is None, f"--score {few(scores, 3)}: {near}")
        where = "--order is of one row per answer; several columns stand in the order asked"
        require(order is None, where)
    names = list(dict.fromkeys([*(c for c in (item, judge) if c), *scores]))
    with _naming(item, scores):
        table = source.table([*names, *_of_items(source, item)])
    rows, called = stack_answers(table, scores, item=item, judge=judge)
    cells = {
        name: [None if cell is None or cell != cell else name_of(cell) for cell in rows[name]]
        for name in rows
    }
    return pa.table({name: pa.array(column, pa.string()) for name, column in cells.items()}), called


def _of_items(source: Source, item: str | None) -> list[str]:
    """Columns that may say that a table is of several items, where none is named."""
    return [] if item else [name for name in ITEM_COLUMNS if name in source.columns()]


def _inputs(scores: module.Scores) -> Mapping[str, Any]:
    return {
        "items": len(scores.items),
        "judges": len(scores.judges),
        "answers": int(scores.repeats.sum()),
        "unparsed": int(scores.unparsed.sum()),
        "scale": ", ".join(f"{x:g}" for x in scores.scale),
    }


def _draw(results: Sequence[Estimate | Fit], scores: module.Scores) -> dict[str, Axes]:
    drawn = {f"Answers and posterior of the mean: {scores.items[0]}": module.plot_scores(scores)}
    split = [result for result in results if "repeat_sd" in result.quantities]
    if split:
        drawn["What scores vary with"] = module.plot_components(*split)
    return drawn
