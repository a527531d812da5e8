"""``bayesjudge attempts``: agents that try tasks several times, through a judge that errs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from bayesjudge import attempts as module
from bayesjudge.attempts import Attempts, PersistentErrors, Posterior
from bayesjudge.attempts.answer import every_time
from bayesjudge.cli.columns import OfVerdicts
from bayesjudge.cli.options import (
    FIRST,
    GATE,
    LESSONS,
    LOGS,
    OF_MODEL,
    OF_TABLE,
    SEVERAL,
    Shared,
    Sure,
    needed,
    table_option,
)
from bayesjudge.cli.output import Results, Story, present
from bayesjudge.cli.priors import Priors
from bayesjudge.cli.source import Source, open_source
from bayesjudge.core.answer import chance, mirrored, numbers, points
from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Estimate
from bayesjudge.decide.decision import EXIT_CODES, Outcome
from bayesjudge.render.page import Section

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def attempts(
    table: Annotated[Path, table_option("One row per attempt", LOGS)],
    /,
    *,
    asked: OfVerdicts = OfVerdicts(),
    task: Annotated[str | None, OF_TABLE, FIRST] = None,
    attempt: Annotated[str | None, OF_TABLE] = None,
    k: Annotated[list[int] | None, SEVERAL] = None,
    cost: Annotated[str | None, OF_TABLE] = None,
    prior_persistence: Annotated[str | None, OF_MODEL] = None,
    prior_people: Annotated[str | None, OF_MODEL] = None,
    pooling: Annotated[Literal["separate", "full"], OF_MODEL] = "separate",
    half_width: Annotated[float | None, OF_TABLE] = None,
    at_least: Annotated[float | None, Parameter(group=GATE)] = None,
    probability: Sure = 0.95,
    shared: Shared = Shared(),
) -> int:
    r"""Tell how often agents do a task in k tries: every time (pass^k), or at least once (pass@k).

    Several attempts a task, a judge's verdict on each and people's labels on some. The judge's
    errors compound over tries and repeat on a task; the model corrects for both, at once. If the
    outcome of every attempt is known, --truth names it, and there is no --verdict.

    ```
    bayesjudge attempts runs.csv --task task --verdict judge --truth human --by agent --k 4
    bayesjudge attempts results.json --task task_id --truth reward --k 1 4
    ```

    Parameters
    ----------
    table : Path
        One row per attempt, or a log.
    task : str
        Column that names the task; by default task, or a log's items.
    attempt : str
        Column that numbers the attempts at a task: no number may occur twice.
    k : list[int]
        Numbers of tries; the answer is about the largest. By default 1, 2, 4 … up to the attempts
        at a task.
    cost : str
        Column with what an attempt cost: adds what a success costs.
    prior_persistence : str
        Prior of the probability that errors on a task are one draw, as rate:n.
    prior_people : str
        Prior of how often each of several people is right, as rate:n.
    pooling : {"separate", "full"}
        Whether the judge has rates of its own for each agent, or the same for all.
    half_width : float
        How well pass^k is to be known: adds how many tasks that takes.
    at_least : float
        The pass^k that is wanted, as an exit code: 0 pass, 1 fail, 3 unknown.

    Raises
    ------
    InputError
        If an option, a column or a value is not understood.
    """
    shared.check()
    source = open_source(table, asked.metric, judge=asked.judge)
    columns = {"task": task, "attempt": attempt, "cost": cost}
    data = _read(source, asked, columns, sorted({1, *k}) if k else ())
    with checking("options") as require:
        beliefs = {"persistence": prior_persistence, "people": prior_people}
        priors = Priors(None, beliefs, True).of(False, require)
        believed = {name: prior for name, prior in priors.items() if name in beliefs}
        model = PersistentErrors(**believed, pooling=pooling)
        require(shared.interval != "eti_bounded", "--interval must be eti or hdi")
        wanted = at_least is None or 0 < at_least < 1
        require(wanted, "must lie between 0 and 1", at_least=at_least)
        require(0.5 <= probability < 1, "must lie in [0.5, 1)", probability=probability)
    level, kind = shared.ci_prob, shared.interval or "eti"
    posterior = module.exact(data, model, random_seed=shared.seed)
    exact = posterior.estimate(ci_prob=level, interval=kind)
    closed = module.closed_forms(data, ci_prob=level)
    several = len(data.systems) > 1 and posterior.holds
    gaps = [posterior.differences(ci_prob=level)] if several else []
    shown = [*(estimate for estimate in closed if "pass_hat_k" in estimate), exact]
    extra = [*gaps, *(estimate for estimate in closed if "pass_hat_k" not in estimate)]
    decided, outcome = _gate(posterior, at_least, probability)
    sections = [*_compared(extra), *_costs(extra), *_planned(posterior, half_width, level)]
    story = Story(
        command="attempts",
        title="Agents: pass@k and pass^k",
        answer="pass_hat_k",
        instant=shown,
        sample=lambda: module.fit(data, model, **shared.sampling),
        tell=lambda results: module.answer(*results, *extra, ci_prob=level, interval=kind),
        more=lambda _: [*sections, *decided],
        draw=_draw,
        source=source,
        inputs={"attempts": repr(data), "model": model._words_for(data)},
        waits=not posterior.holds and data.can_be_weighed,
    )
    present(story, shared)
    return EXIT_CODES[outcome]


def _read(
    source: Source, asked: OfVerdicts, columns: dict[str, str | None], k: Sequence[int]
) -> Attempts:
    """The attempts of a table, or of a log, whose repeats they are.

    A log whose scorer is a program tells the outcomes; else a judge is corrected by people.
    """
    truths, verdicts, by = asked.truth or [], asked.verdict or [], asked.by
    if source.log is not None:
        columns["task"], by = source.keys(columns["task"], by)
        checks = not (truths or asked.labels or source.own_truth or source.chosen.judges)
        truths = truths or ["verdict" if checks else source.truth(None, asked.labels)]
        if truths != ["verdict"]:  # else the scorer is a program, and tells the outcome
            verdicts = verdicts or ["verdict"]
    with checking("options") as require:
        require(truths, needed("--truth", LESSONS["outcome"]))
        require(len(verdicts) < 2, f"--verdict: attempts take one, got {verdicts}")
        words = "--labels are people's, beside a judge: --verdict is needed"
        require(verdicts or asked.labels is None, words)
    columns["task"] = columns["task"] or "task"
    asked = replace(asked, truth=truths, by=by)
    asked = replace(asked, by=_join(source, asked, verdicts, columns))
    if not verdicts:
        source.people = ()
    named = [name for n, name in columns.items() if name and n != "cost"]
    named += [*source.verdicts(verdicts, asked.rater), *asked.columns("by"), *asked.labellers]
    cost = columns["cost"]
    if cost is None and asked.labels is None and source.is_small:  # all columns tell what a row is
        rows = source.whole(named)
    else:
        rows = source.table(named, numbers=[] if cost is None else [cost])
    about: dict[str, Any] = {**columns, "k": k, "verdict": next(iter(verdicts), None)}
    about["calibration"] = asked.calibration or "random"
    about |= asked.values("by", "unparsed", "adjudicated", "rater", *vars(asked.meanings))
    about["truth"] = truths if asked.several_people and not asked.rater else truths[0]
    return Attempts.from_frame(rows, **about)


def _join(
    source: Source, asked: OfVerdicts, verdicts: Sequence[str], columns: dict[str, str | None]
) -> str | None:
    """Add people's labels from another file, by attempts of a table or outputs of a log."""
    of_log = source.log is not None
    item = "task" if of_log else "attempt"
    more: dict[str, Any] = {"options": ("--task", "--by")}
    if not of_log:
        more = {"within": (columns["task"],), "options": ("--attempt", "--task", "--by")}
    item_of, by = asked.joined(source, verdicts, columns[item], asked.by, **more)
    if of_log:
        columns["task"] = item_of
    return by if of_log else asked.by


def _compared(extra: Sequence[Estimate]) -> list[Section]:
    """Differences of agents at each number of tries, with the probability of being better."""
    gaps = next((estimate for estimate in extra if "probability_better" in estimate), None)
    if gaps is None:
        return []
    lines, fields = [], []
    for _, at, row in gaps.only("pass_hat_k_difference").rows():
        sure = gaps["probability_better", *at.values()].value
        fields.append({**at, **row._asdict(), "probability": sure})
        names = [str(at["first"]), str(at["second"])]
        if row.value < 0:  # the better one first
            row, sure, names = mirrored(row), 1 - sure, names[::-1]
        lines.append(
            f"{' less '.join(names)},{every_time(int(str(at['k'])))}: {points(row)}, "
            f"better with probability {chance(sure)}"
        )
    return [Section(f"Differences ({gaps.method})", lines, "differences", fields, detail=False)]


def _costs(extra: Sequence[Estimate]) -> list[Section]:
    """What a success costs if the agent stops at it."""
    costs = next((estimate for estimate in extra if "cost_per_success" in estimate), None)
    rows = [] if costs is None else [r for r in costs.rows() if r[2].value == r[2].value]
    lines = [
        f"{at.get('system', 'the agent')}, stopping at a success or after {at['k']}"
        f"{' try' if at['k'] == 1 else ' tries'}: {numbers(row)}"
        for _, at, row in rows
    ]
    fields = [{**at, **row._asdict()} for _, at, row in rows]
    return [Section("Cost of a success", lines, "costs", fields, detail=False)] * bool(lines)


def _planned(posterior: Posterior, half_width: float | None, level: float) -> list[Section]:
    """Tasks that an interval of some width takes, by how often each is tried."""
    if half_width is None or not posterior.holds:
        return []
    k = max(posterior.attempts.k)
    plan = module.tasks_needed(posterior, k=k, half_width=half_width, ci_prob=level)
    lines = [
        f"{row.system}: {row.tasks:,} tasks tried {row.attempts} times ({row.runs:,} attempts); "
        f"{row.floor:,} tasks however often"
        for row in plan.itertuples()
    ]
    heading = f"Tasks for pass^{k} to ± {half_width:g}, if every outcome is known"
    return [Section(heading, lines, "plan", plan.to_dict("records"), detail=False)]


def _gate(
    posterior: Posterior, at_least: float | None, probability: float
) -> tuple[list[Section], Outcome]:
    """Whether pass^k of every agent meets the threshold, by the posterior."""
    if at_least is None:
        return [], "pass"
    data, k = posterior.attempts, max(posterior.attempts.k)
    rows: list[dict[str, Any]] = []
    for name, drawn in zip(data.systems, posterior.chance("pass_hat_k", k).T, strict=True):
        met = float((drawn >= at_least).mean()) if posterior.holds else math.nan
        outcome = "pass" if met >= probability else "fail" if met <= 1 - probability else "unknown"
        rows.append({"system": name, "k": k, "at_least": at_least, "chance": met,
                     "outcome": outcome})  # fmt: skip
    lines = [
        f"{row['outcome'].upper()}: pass^{k} of {row['system']} is {at_least:g} or more with "
        f"probability {chance(row['chance'])}"
        for row in rows
    ]
    outcomes: list[Outcome] = [row["outcome"] for row in rows]
    worst = max(outcomes, key=("pass", "unknown", "fail").index)
    return [Section("Gate", lines, "gate", rows, detail=False)], worst


def _draw(results: Results) -> dict[str, Axes]:
    """Curves over the number of tries, judged and corrected."""
    shown = [
        r
        for r in results
        if isinstance(r, Estimate) and r.method.rank in (10, 100) and "pass_hat_k" in r
    ]
    captions = {"pass_hat_k": "Every time in k tries", "pass_at_k": "At least once in k tries"}
    return {
        caption: module.plot_tries(*shown, quantity=quantity)
        for quantity, caption in captions.items()
    }
