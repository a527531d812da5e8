"""``bayesjudge rubric``: a judge that goes through criteria one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import bayesjudge as bj
from bayesjudge.cli.one_judge import described
from bayesjudge.cli.options import (
    FIRST,
    LESSON,
    OF_MODEL,
    OF_TABLE,
    SEVERAL,
    By,
    Item,
    Meanings,
    Randomized,
    Shared,
    Truth,
    TunedOn,
    needed,
    table_option,
    unknown_calibration,
)
from bayesjudge.cli.output import Results, Story, present
from bayesjudge.cli.scales import scale_ends
from bayesjudge.cli.shapes.criteria import long_columns, pairs
from bayesjudge.cli.shapes.roles import describe
from bayesjudge.cli.source import Source, open_source
from bayesjudge.cli.systems import difference_section
from bayesjudge.core.answer import difference_words, first_percent, percents
from bayesjudge.core.errors import InputError, checking, expect
from bayesjudge.core.names import name_of
from bayesjudge.core.screen import few
from bayesjudge.render.page import Section

#: What tells how well a judge tells outputs apart is called in a narrow line.
SHORT = {"youden": "J", "correlation": "r", "auc": "AUC"}

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from bayesjudge.core.estimate import Estimate
    from bayesjudge.rubric import Rubric


def rubric(
    table: Annotated[Path, table_option("One row per output, or a row per criterion of each")],
    /,
    *,
    calibration: Annotated[str | None, OF_TABLE, FIRST] = None,
    criterion: Annotated[str | None, OF_TABLE, FIRST] = None,
    verdict: Annotated[str | None, OF_TABLE] = None,
    truth: Truth = None,
    tuned_on: TunedOn = None,
    randomized: Randomized = None,
    weight: Annotated[list[str] | None, SEVERAL, FIRST] = None,
    item: Item = None,
    by: By = None,
    scale: Annotated[str | None, OF_TABLE] = None,
    truth_scale: Annotated[str | None, OF_TABLE] = None,
    failed: Annotated[Literal["worst", "best", "drop"] | None, OF_TABLE] = None,
    not_applicable: Annotated[list[str] | None, SEVERAL] = None,
    meanings: Meanings = Meanings(),
    at_least: Annotated[float | None, OF_MODEL] = None,
    reach: Annotated[float, OF_MODEL] = 0.5,
    shared: Shared = Shared(),
) -> None:
    r"""Estimate the total of a rubric, and each criterion, from verdicts and a few human labels.

    Columns of the judge and of people are paired by what their names share: `judge_clear` and
    `human_clear`, `clear_llm` and `clear_human`. Or one row per criterion; or JSON in which each
    output has a list of criteria.

    ```
    bayesjudge rubric answers.csv --calibration random --weight accurate=3 --weight rude=-1
    bayesjudge rubric graded.jsonl --calibration random --weight points
    ```

    Parameters
    ----------
    table : Path
        One row per output, or a row per criterion of each.
    calibration : str
        How the outputs, or criteria of outputs, that people labelled were chosen: random.
    criterion : str
        Column that names the criterion, if there is one row per criterion; by default recognised by
        its name.
    verdict : str
        Of a row per criterion, the column with the judge's verdict.
    weight : list[str]
        Points of a criterion, as NAME=POINTS (default 1; below 0 if meeting it is bad); or the
        column with the points.
    scale : str
        Lowest and highest grade that the judge can give, such as 1:5. Default: met or not met.
    truth_scale : str
        The same of people's grades.
    failed : str
        What a failed call of the judge is: what costs most points (worst: not met, but met where
        the weight is below 0), what costs fewest (best), or left out (drop).
    not_applicable : list[str]
        Value for a criterion that does not apply to an output, such as skip.
    at_least : float
        Adds the share of outputs that get at least this share of the points.
    reach : float
        What people reach among themselves (sensitivity + specificity - 1, or their correlation);
        the answer names the criteria on which the judge surely stays below.

    Raises
    ------
    InputError
        If an option, a column or a value is not understood.
    """
    shared.check()
    if calibration is None:
        raise InputError("options", [needed("--calibration", LESSON)])
    if calibration not in bj.prevalence.DESIGNS:
        raise InputError("options", [unknown_calibration(calibration)])
    with checking("options") as require:
        given = {"--scale": scale, "--truth-scale": truth_scale}
        ends = [scale_ends(name, value, require) for name, value in given.items()]
        share = at_least is None or at_least <= 1
        require(share, "must be a share of the points, 1 at most", at_least=at_least)
    source = open_source(table)
    how: dict[str, Any] = {"calibration": calibration, "scale": ends[0], "failed": failed}
    how |= {"truth_scale": ends[1], "item": item, "by": by, **asdict(meanings)}
    how["tuned_on"] = tuned_on
    source.set_randomized(randomized)
    how |= {"not_applicable": not_applicable} if not_applicable else {}
    named = {"criterion": criterion, "verdict": verdict, "truth": truth}
    data = read_rubric(source, {k: v for k, v in named.items() if v}, weight or [], **how)
    _show(data, source, at_least, reach, shared)


def read_rubric(source: Source, named: dict[str, str], weight: Sequence[str], **how: Any) -> Rubric:
    """A rubric, of columns that are named or called so."""
    problem = "is a log; export a table with one column per criterion"
    expect(str(source.path), source.log is None, problem)
    frame, nested = frame_of(source)
    tuned_on = how.pop("tuned_on", None)
    frame = frame.drop(columns=list(source.randomized))
    shown = [name for name in frame if name != tuned_on]
    cells = {n: ["" if c is None else name_of(c).strip() for c in frame[n]] for n in shown}
    points: dict[str, Any] = {
        name: text for name, sign, text in (w.rpartition("=") for w in weight) if sign
    }
    columns = [name for name in weight if "=" not in name]
    with checking("options") as require:
        require(len(columns) < 2, f"--weight {few(columns)}: one column has the points")
        try:
            points = {name: float(text) for name, text in points.items()}
        except ValueError as error:
            require(False, f"--weight: {error}; write NAME=POINTS, such as rude=-1")
    about: dict[str, Any] = {"weight": columns[0] if columns else points or None}
    long = long_columns(cells, named, nested)
    if long is not None:
        read = {name: column for name, column in long.items() if name not in ("item", "weight")}
        about |= read | {"item": how.pop("item") or long["item"]}
        about["weight"] = about["weight"] or long.get("weight")
        source.leave_out(tuned_on, [long["truth"]], (about["item"], how["by"]))
        frame = source.without_tuned(frame)
        return bj.rubric.Rubric.from_frame(frame, **about, **how)
    table = describe(cells)
    both = pairs(table)
    with checking(str(source.path)) as require:
        words = "call them alike but for who speaks (judge_clear, human_clear), or give a row a "
        words += "criterion and say --criterion COLUMN"
        which = few([*cells], 12)
        require(both, f"no columns of a judge and of people share a criterion, of {which}; {words}")
        require(not columns, f"--weight {few(columns)}: of a row per output, write NAME=POINTS")
    how["by"] = how["by"] or (table.system if len(table.systems) > 1 else None)
    how["item"] = how["item"] or (table.item if how["by"] else None)
    source.leave_out(tuned_on, [people for _, people in both.values()])
    frame = source.without_tuned(frame)
    return bj.rubric.Rubric.from_frame(frame, criteria=both, **about, **how)


def frame_of(source: Source) -> tuple[pd.DataFrame, bool]:
    """All columns; records with lists of criteria are a row per criterion, and that is told."""
    if source.file is not None and source.file.kind in ("json", "jsonl"):
        records = [*source.file.records()]
        if any(
            isinstance(c, list) and c and isinstance(c[0], dict)
            for r in records
            for c in r.values()
        ):
            rows = bj.rubric.rows_of_records(records)
            return rows.astype(object).where(rows.notna(), None), True
    read = source.own_table(source.readable())
    return read.to_pandas().astype(object).where(lambda f: f.notna(), None), False


def _show(
    rubric: Rubric, source: Source, at_least: float | None, reach: float, shared: Shared
) -> None:
    module, level = bj.rubric, shared.ci_prob
    estimates: list[Estimate] = [*module.total(rubric, ci_prob=level)]
    if rubric.whole.any():
        for asked in [None, *([] if at_least is None else [at_least])]:
            estimates += module.meets(rubric, asked, ci_prob=level)
    each = None if rubric.own_criteria else module.by_criterion(rubric, ci_prob=level)
    estimates += [] if each is None else [each]
    compared, refused = [], None
    if len(rubric.names) > 1 and rubric.items is not None:
        try:
            compared = [module.differences(rubric, ci_prob=level)]
        except InputError as error:  # of too few shared outputs with labels each total is told
            refused = error.message
    outputs, without = len(rubric.judged), len(rubric.judged) - len(rubric.totals())
    counted: dict[str, Any] = {"outputs": outputs, "labelled throughout": int(rubric.whole.sum())}
    counted |= {"labelled in part": rubric.partly or None, "without a total": without or None}
    counted |= {"systems not compared": refused}
    counted = {name: count for name, count in counted.items() if count is not None}
    weights = None if rubric.own_criteria else _weights(rubric)
    inputs = described(rubric, counted, criteria=few(rubric.criteria, 12), weights=weights)

    def sections(_: Results) -> list[Section]:
        first = [] if each is None else [_criteria_section(each, module.cannot_judge(each, reach))]
        rows = [
            {**at, **row._asdict(), "method": estimate.method.title}
            for estimate in compared for _, at, row in estimate.only("difference").rows()
        ]  # fmt: skip
        return [*first, *difference_section(rows, difference_words, rubric.names, " in the total")]

    def draw(_: Results) -> dict[str, Axes]:
        if each is None:
            return {}
        return {
            f"Criteria{f' of {name}' * bool(name)}": module.plot_criteria(each, system=name)
            for name in rubric.names
        }

    story = Story(
        command="rubric",
        title="Total of a rubric",
        answer="total",
        instant=estimates,
        source=source,
        inputs=inputs,
        tell=lambda results: module.answer(*results, *compared, ci_prob=level, reach=reach),
        more=sections,
        draw=draw,
    )
    present(story, shared)


def _weights(rubric: Rubric) -> str | None:
    """The weights, if some differ."""
    each = {
        name: rubric.weight[rubric.applies[:, c], c][:1] for c, name in enumerate(rubric.criteria)
    }
    lines = [f"{name} {w[0]:g}" for name, w in each.items() if w.size and w[0] != 1]
    return few(lines, 12) or None


def _criteria_section(estimate: Estimate, cannot: Sequence[Any]) -> Section:
    """A line per criterion: people's share, the judge's, its quality, what it costs."""
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for quantity, where, row in estimate.rows():
        rows.setdefault(tuple(map(str, where.values())), {})[quantity] = row
    lost = {(c.criterion, *([c.system] if c.system else [])) for c in cannot}
    lines, fields = [], []
    for at, parts in rows.items():
        name, quality = next(
            ((short, parts[m]) for m, short in SHORT.items() if m in parts), ("", None)
        )
        line = f"{', '.join(at)}: {percents(parts['criterion_met'])}, judge "
        line += f"{first_percent(parts['judge_met'])} %"
        if quality is not None and quality.value == quality.value:
            line += f"; {name} {quality.value:.2f} ({quality.low:.2f} to {quality.high:.2f})"
        if "points_lost" in parts:
            line += f"; costs {first_percent(parts['points_lost'])} % of all points"
        lines.append(line + "; not for this judge" * (at in lost))
        flat = {quantity: row._asdict() for quantity, row in parts.items()}
        fields.append({"criterion": at[0], "system": at[1] if at[1:] else None,
                       "cannot_judge": at in lost, **flat})  # fmt: skip
    heading = "Criteria: what people would say, and the judge (J: sensitivity + specificity - 1)"
    return Section(heading, lines, "criteria", fields, detail=False)
