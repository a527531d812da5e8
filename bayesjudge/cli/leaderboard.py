"""``bayesjudge leaderboard``: who leads for people, from verdicts on pairs of answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from bayesjudge import leaderboard as module
from bayesjudge.cli.options import (
    FIRST,
    OF_MODEL,
    OF_TABLE,
    SEVERAL,
    Adjudicated,
    JudgeColumn,
    LabelFile,
    Metric,
    MissingValue,
    Shared,
    TieValue,
    TunedOn,
    Winner,
    needed,
    table_option,
)
from bayesjudge.cli.output import Results, Story, first_lines, present
from bayesjudge.cli.source import Source, open_source
from bayesjudge.core.answer import Answer, listed
from bayesjudge.core.errors import InputError, checking
from bayesjudge.core.estimate import Estimate
from bayesjudge.core.fit import Fit
from bayesjudge.core.screen import few
from bayesjudge.render.page import Section
from bayesjudge.verdicts.reading import ITEM_COLUMNS, SYSTEM_COLUMNS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Columns of both systems in tables of arenas and benchmarks.
PAIRS = (
    ("model_a", "model_b"),
    ("model_1", "model_2"),
    ("generator_1", "generator_2"),
    ("system_a", "system_b"),
    ("first", "second"),
)
#: Columns of verdicts there, and those with the places exchanged.
PLAIN = ("winner", "verdict", "preference", "win_probability")
VERDICTS = {**dict.fromkeys(PLAIN), "g1_winner": "g2_winner"}
#: Columns of Kaggle's copy of LMArena's votes, which are one verdict together.
ONE_HOT = ("winner_model_a", "winner_model_b", "winner_tie")
#: A person's name in the column ``judge`` of LMArena's and MT-bench's votes, with a number.
VOTER = re.compile(r"(arena_user|human|annotator|author|expert|user)[_ ]?\d*")
#: Columns of items there.
ITEMS = (*ITEM_COLUMNS, "prompt", "instruction", "question")
#: Most systems that a section lists.
MOST_LINES = 12


def leaderboard(
    table: Annotated[
        Path, table_option("One row per battle of two answers", "a log of AlpacaEval or Arena-Hard")
    ],
    /,
    *,
    first: Annotated[str | None, OF_TABLE, FIRST] = None,
    second: Annotated[str | None, OF_TABLE, FIRST] = None,
    verdict: Annotated[list[str] | None, SEVERAL, FIRST] = None,
    people: Annotated[list[str] | None, SEVERAL, FIRST] = None,
    item: Annotated[str | None, OF_TABLE, FIRST] = None,
    adjudicated: Adjudicated = None,
    labels: LabelFile = None,
    tuned_on: TunedOn = None,
    judge: JudgeColumn = None,
    swapped: Annotated[str | None, OF_TABLE] = None,
    length: Annotated[list[str] | None, SEVERAL] = None,
    count: Annotated[str | None, OF_TABLE] = None,
    baseline: Annotated[str | None, OF_TABLE] = None,
    winner: Winner = None,
    tie_value: TieValue = None,
    missing_value: MissingValue = None,
    metric: Metric = None,
    target: Annotated[Literal["any-length", "equal-length"], OF_MODEL] = "any-length",
    shared: Shared = Shared(),
) -> None:
    """Say which system people prefer, from a judge's verdicts on pairs and some of people's.

    A judge's leaderboard says what the judge prefers. People's verdicts on some of the battles tell
    how far they agree: how sharp the judge is, and which systems it likes more than people do. The
    answer is people's leaderboard, with the judge's beside it.

    Columns of LMArena, MT-bench, Arena-Hard and AlpacaEval are found by their names.

    ```
    bayesjudge leaderboard battles.csv --people human --html report.html
    bayesjudge leaderboard battles.csv --first left --second right --verdict gpt --people ann1 ann2
    ```

    Parameters
    ----------
    table : Path
        One row per battle, or a log.
    first : str
        Column with the system whose answer was shown first.
    second : str
        Column with the system whose answer was shown second.
    verdict : list[str]
        Columns with judges' verdicts: the place or the system that won, a tie, A>>B to B>>A, or the
        probability that the first wins.
    people : list[str]
        Columns with people's verdicts, empty where they were not asked; or names in --judge. By
        default the votes of a table of LMArena, whose column judge names users.
    item : str
        Column that names the prompt: verdicts on one prompt are not independent. By default item,
        question_id, prompt or the like, if there is one and the table is not large.
    swapped : str
        Column with the verdict on the same two answers with their places exchanged.
    length : list[str]
        Two columns with the lengths of both answers.
    count : str
        Column with how many battles a row stands for.
    baseline : str
        System with 0 Elo points in the picture; without --second what all others met.
    target : str
        What strengths are about: answers of any length as they come, or of equal length (--length).

    Raises
    ------
    InputError
        If an option, a column or a value is not understood.
    """
    shared.check()
    won = tuple(winner or ())
    with checking("options") as require:
        require(len(won) in (0, 2), "must be given twice", winner=list(won))
        lengths = None if length is None else tuple(length)
        require(lengths is None or len(lengths) == 2, "--length names two columns")
        needs = needed("--length", "--target equal-length needs --length")
        require(lengths or target == "any-length", needs)
    source = open_source(table, metric, judges=True)
    if source.file is not None:
        source.file.keeps_words = True  # a system may be called so
    given = {"first": first, "second": second, "verdict": verdict, "people": people}
    roles = {**_columns(source, given, judge, swapped, baseline), "adjudicated": adjudicated}
    said: dict[str, Any] = {
        "first_value": won[:1],
        "second_value": won[1:],
        "tie_value": tie_value or (),
        "missing_value": missing_value or (),
    }
    item = item or _item(source, roles, count)
    item = item if labels is None else _join(source, labels, roles, item)
    about = {"item": item, "lengths": lengths, "count": count}
    with checking("--tuned-on") as require:
        columns = tuned_on is None or {*(people or ())} <= {*source.columns()}
        require(columns, "needs people's verdicts in separate columns: --people COLUMN")
    source.leave_out(tuned_on, [*filter(None, [*(roles["people"] or ()), adjudicated])])
    with source.counted(_wanted(source, roles, about), quiet=shared.quiet) as rows:
        battles = module.Battles.from_frame(rows, **roles, **about, **said)  # type: ignore[arg-type]
    with checking("options") as require:
        words = f"--baseline: no system {baseline!r}; there are {few(battles.systems, 8)}"
        require(baseline is None or baseline in battles.systems, words)
    about_length: Any = target.replace("-", " ")
    model = module.CalibratedBattles(target=about_length)
    _present(battles, model, shared, source, baseline)


def _join(source: Source, labels: Path, roles: dict[str, Any], item: str | None) -> str | None:
    """Take people's verdicts from another file, where the item and both systems name a battle.

    Returns the table's column of the item, of which `item` may be the name in the other file.
    """
    have = source.columns()
    named = [c for c in (*(roles["people"] or ()), roles["adjudicated"]) if c]
    people = [c for c in named if c not in have]
    with checking("options") as require:
        words = "--labels needs --people: the columns of that file with people's verdicts"
        if named:
            words = f"{source.path.name} has {listed(named)} already: leave --labels out, or give "
            words += f"people's columns in {labels.name} other names, for --people"
        require(people, needed("--people", words))
    within = tuple(c for c in (roles["first"], roles["second"]) if c)
    how: dict[str, Any] = {"truth": people, "verdicts": roles["verdict"] or (), "within": within}
    options = ("--item", "--first", "--second")
    return source.add_labels(labels, item=item, options=options, **how)[0]


def _present(
    battles: module.Battles,
    model: module.CalibratedBattles,
    shared: Shared,
    source: Source,
    baseline: str | None,
) -> None:
    """Answer at once; sample if it was asked for."""
    level = shared.ci_prob
    try:
        formulas = module.closed_forms(battles, target=model.target, ci_prob=level)
    except InputError:  # the model has an answer
        formulas = ()
    wanted = battles.labelled or not formulas
    at_once = [module.approximate(battles, model, random_seed=shared.seed)] if wanted else []

    def shown(fit: Fit) -> list[Estimate]:
        estimate = fit.estimate(ci_prob=level, interval=shared.interval)
        return [module.elo_points(estimate), module.first_places(fit, ci_prob=level)]

    def drawn(results: Results) -> list[Fit]:
        return [r for r in results if isinstance(r, Fit)] or at_once

    def tell(results: Results) -> Answer:
        fits = drawn(results)
        return module.answer(*fits, *formulas, ci_prob=level, interval=shared.interval)

    story = Story(
        command="leaderboard",
        title="Who leads for people",
        answer="elo",
        beside="first",
        instant=[*(e for fit in at_once for e in shown(fit)), *map(module.elo_points, formulas)],
        sample=lambda: module.fit(battles, model, **shared.sampling),
        after=shown,
        tell=tell,
        more=lambda results: _sections(drawn(results), level, baseline),
        draw=lambda results: _draw(drawn(results), level, baseline),
        source=source,
        inputs={"battles": battles.battles, "labelled": battles.labelled},
        waits=False,
    )
    present(story, shared)


def _columns(
    source: Source,
    names: dict[str, Any],
    judge: str | None,
    swapped: str | None,
    baseline: str | None,
) -> dict[str, Any]:
    """Arguments of `Battles.from_frame` that name columns: those given, or known ones."""
    have = source.columns()
    if source.log is not None:
        with checking("options") as require:
            require(source.paired, f"{source.path}: its verdicts do not compare two answers")
        verdict = ["score"] if source.graded_pairs else ["verdict"]
        usual = {"first": "system", "second": None, "verdict": verdict, "people": None}
        names = usual | {key: value for key, value in names.items() if value}
        if not names["second"] and "reference" in have:
            every = source.table_of_names(["reference"])["reference"]
            names["second"] = "reference" if all(every) else None
        swapped = swapped or ("swapped" if source.swapped else None)
        about = {"judge": judge or "judge", "baseline": baseline or "baseline"}
        return {**names, **about, "swapped": swapped}
    first, other = next(((a, b) for a, b in PAIRS if {a, b} <= {*have}), (None, None))
    if first is None and names["second"] is None:  # of AlpacaEval, all met one system
        first = next((c for c in have if c.lower() in SYSTEM_COLUMNS), None)
    given = {"--first": names["first"] or first, "--second": names["second"] or other}
    known = next((name for name in VERDICTS if name in have), None)
    people, verdicts = names["people"], names["verdict"]
    if known and not verdicts and not people and judge is None and _are_votes(source, have):
        people = [known]
    if verdicts is None and known is not None and known not in (people or []):
        other = VERDICTS[known]
        verdicts, swapped = [known], swapped or (other if other in have else None)
    with checking("options") as require:
        shown = "is needed: the column with the system whose answer was shown"
        require(given["--first"], needed("--first", f"--first {shown} first"))
        words = f"--second {shown} second"
        if given["--first"]:
            words += "; if all met one system, give it a name: --baseline baseline"
        require(given["--second"] or baseline, needed("--second", words))
        words = "--verdict is needed: columns with judges' verdicts, or --people with people's"
        hot = [c for c in ONE_HOT if c in have]
        lesson = f"{listed(hot)} are one verdict: make one column of them, in pandas "
        lesson += f"table['winner'] = table[{hot}].idxmax(axis=1), for --people winner"
        words += f"; {lesson}" if hot else ""
        require(verdicts or people, needed("--verdict", words))
        require(len(hot) < 2 or not {*hot} & {*(verdicts or ()), *(people or ())}, lesson)
    return {"first": given["--first"], "second": given["--second"], "verdict": verdicts,
            "people": people, "judge": judge, "swapped": swapped,
            "baseline": baseline or "baseline"}  # fmt: skip


def _are_votes(source: Source, have: Sequence[str]) -> bool:
    """Whether users of an arena gave the verdicts, as the column of judges says."""
    if source.counts_in_place or "judge" not in have:
        return "judge_hash" in have
    return all(map(VOTER.fullmatch, source.table_of_names(["judge"])["judge"]))


def _item(source: Source, roles: dict[str, Any], count: str | None) -> str | None:
    """A log's item, or the column that names it by custom: its verdicts are not independent."""
    if source.log is not None:
        return "item"
    if count is not None or source.counts_in_place:
        return None
    taken = _wanted(source, roles, dict.fromkeys(("item", "count", "lengths")))
    return next((c for c in source.columns() if c.lower() in ITEMS and c not in taken), None)


def _wanted(source: Source, roles: dict[str, Any], about: dict[str, Any]) -> list[str]:
    """Columns to read."""
    have = source.columns()
    people = [c for c in roles["people"] or () if c in have or roles["judge"] is None]
    wanted = [roles[name] for name in ("first", "second", "judge", "swapped", "adjudicated")]
    wanted += [about["item"], about["count"], *(about["lengths"] or ())]
    every = [*wanted, *(roles["verdict"] or ()), *people]
    return list(dict.fromkeys(c for c in every if c is not None))


def _sections(fits: Sequence[Fit], ci_prob: float, baseline: str | None) -> list[Section]:
    """Ranks that hold at once, and for machines all standings."""
    if not fits or not fits[-1].data.labelled:
        return []
    table = module.standings(fits[-1], baseline=baseline, ci_prob=ci_prob)
    pairs = module.ahead(fits[-1])
    ranks = zip(table.index, table["rank_low"], table["rank_high"], strict=True)
    lines = []
    for (low, high), names in groupby(ranks, key=lambda row: row[1:]):
        group = listed([name for name, *_ in names])
        lines.append(f"{low}: {group}" if low == high else f"{low} to {high}: {group}")
    fields = {
        "standings": table.reset_index().to_dict("records"),
        "ahead": {row: {c: p for c, p in of.items() if c != row}
                  for row, of in pairs.to_dict("index").items()},
    }  # fmt: skip
    heading = f"Ranks, all at once with probability {ci_prob:g}"
    plan = module.next_pairings(fits[-1])
    advice = [f"{plan}"]
    if plan.wasted and plan.needed != 0:
        advice.append(f"Of people's battles so far {plan.wasted:,} were of pairs decided by now.")
    rows = plan.pairs.to_dict("records")
    next_ones = {"needed": plan.needed, "probability": plan.probability, "pairs": rows}
    return [
        Section(heading, first_lines(lines, MOST_LINES), "leaderboard", fields, detail=False),
        Section("What people should judge next", advice, "next_pairings", next_ones, detail=False),
    ]


def _draw(fits: Sequence[Fit], ci_prob: float, baseline: str | None) -> dict[str, Axes]:
    if not fits or not fits[-1].data.labelled:
        return {}
    beside = ", and by the judge alone" if len(fits[-1].data.judges) == 1 else ""
    return {
        f"Strengths for people{beside}": module.plot_standings(
            fits[-1], baseline=baseline, ci_prob=ci_prob
        ),
        "Probability that people prefer the row to the column": module.plot_ahead(fits[-1]),
    }
