"""``bayesjudge ratings``: which judge agrees with people when several answers are right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from bayesjudge import ratings as module
from bayesjudge.cli import options
from bayesjudge.cli.options import (
    FIRST,
    LOGS,
    OF_MODEL,
    OF_TABLE,
    Metric,
    MissingValue,
    NamedItem,
    Shared,
    TunedOn,
    table_option,
)
from bayesjudge.cli.output import Story, present, tell
from bayesjudge.cli.priors import belief
from bayesjudge.cli.source import Source, open_source
from bayesjudge.core.errors import InputError, checking, expect
from bayesjudge.core.estimate import Estimate, Row
from bayesjudge.core.fit import Fit
from bayesjudge.core.labels import spell
from bayesjudge.core.tables import read_rows
from bayesjudge.ratings.cautions import graded
from bayesjudge.render.page import Section

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes


#: Definitions by which the screen says who is best, and the page who is under other priors.
MAIN = {("hit_rate", "hard", "hard"), ("mse", "srs", "srs")}

#: The declaration that nothing in a table can stand in for.
LESSON = options.LESSONS["positive"]


def ratings(
    table: Annotated[
        Path,
        table_option(
            "One row per answer", f"{LOGS}, whose judges are compared with the people in it"
        ),
    ],
    /,
    *,
    positive: Annotated[str | None, OF_TABLE, FIRST] = None,
    judge: Annotated[list[str] | None, OF_TABLE, FIRST] = None,
    item: Annotated[NamedItem, FIRST] = "item",
    rater: Annotated[str, OF_TABLE] = "rater",
    choice: Annotated[str | None, OF_TABLE] = None,
    response_set: Annotated[str | None, OF_TABLE] = None,
    separator: Annotated[str | None, OF_TABLE] = None,
    option: Annotated[list[str] | None, OF_TABLE] = None,
    missing_value: MissingValue = None,
    recode: Annotated[list[str] | None, OF_TABLE] = None,
    repeated: Annotated[Literal["error", "one"], OF_TABLE] = "error",
    metric: Metric = None,
    people: Annotated[list[str] | None, OF_TABLE, FIRST] = None,
    tuned_on: TunedOn = None,
    cutoff: Annotated[float, OF_MODEL] = 0.5,
    shift_from: Annotated[str | None, OF_MODEL] = None,
    pseudo_count: Annotated[float, OF_MODEL] = 0.5,
    ties: Annotated[Literal["share", "first"], OF_MODEL] = "share",
    epsilon: Annotated[float, OF_MODEL] = 0.1,
    error: Annotated[str | None, OF_MODEL] = None,
    shared: Shared = Shared(),
) -> None:
    r"""Say which judge agrees with people, also if several answers are right.

    Agreement is computed under every definition in use, since definitions contradict each other.
    Endorsements (who would accept an option) come from response sets; where raters were made to
    pick one option, the report says what that hides. Which judge is better on labels of pass and
    fail, and what each is worth: `bayesjudge judge`.

    ```
    bayesjudge ratings answers.csv --positive unsafe --judge gpt --judge claude \
        --response-set all_that_apply --html report.html
    ```

    Parameters
    ----------
    table : Path
        One row per answer, or a log.
    positive : str
        Option that items are categorised by; with grades the default is the highest. Needed if
        there are two options; with more, numbers about a positive option are left out without it.
    judge : list[str]
        Name of a judge in the column of raters; all other raters are people. May be repeated. With
        --people, column with a judge's answers. Of a log, all its judges if none is named.
    rater : str
        Column with who rated it.
    choice : str
        Column with a forced choice (default: `choice`).
    response_set : str
        Column with all options that a rater would accept.
    separator : str
        What separates the options of a response set (default: `|`); with --people it says
        that their answers are response sets.
    option : list[str]
        All options in their order, where not all occur. May be repeated.
    recode : list[str]
        What a judge's answer means, as judge:said=meant. For one that was asked the opposite
        question: --recode gpt:yes=no --recode gpt:no=yes.
    repeated : {"error", "one"}
        What several rows of a person and an item are: an error, or copies of one answer where all
        say the same.
    people : list[str]
        Column with the answers of one person, where each grader has a column of their own. May be
        repeated. Of a log, by default what people graded by the metric's name.
    cutoff : float
        Share of raters from which an option counts as endorsed.
    shift_from : str
        Option whose choosers may also accept the positive one, for the sensitivity analysis; not
        needed where there are two options.
    pseudo_count : float
        Added to each count, which keeps divergences finite.
    ties : {"share", "first"}
        An item of which no single option was chosen most counts for each of those, or for the
        first in the order of the options, as the article's code has it.
    epsilon : float
        Alternative annotator test: what a judge's lower cost is worth, as a difference of shares of
        items won. 0.2 for experts, 0.15 for skilled annotators, 0.1 for crowd workers.
    error : str
        Prior of people's error rate, as rate:n. 0.05:20 is a belief worth 20 answers. Without it
        raters make no errors.

    Raises
    ------
    InputError
        If an option, a column or a value is not understood.
    """
    shared.check()
    expect("options", 0 <= epsilon < 1, "must lie in [0, 1)", epsilon=epsilon)
    source = open_source(table, metric, judges=True)
    named: dict[str, Any] = {
        "item": item,
        "rater": rater,
        "choice": choice,
        "response_set": response_set,
    }
    if source.log is None:
        with checking("options") as require:
            require(judge, options.needed("--judge", "--judge is needed: which raters are judges"))
            alone = not (people and (choice or response_set))
            words = "--people names columns with answers: leave out --choice and --response-set"
            require(alone, words)
        read, named = _read_table(source, named, people, judge or [], separator, tuned_on)
    else:
        problem = "needs a table: a log does not hold it for each answer"
        expect("--tuned-on", tuned_on is None, problem)
        read, judge = source.raters(people or []), judge or source.judges
        named = {"item": "item", "rater": "rater", "choice": "choice", "response_set": None}
    needed = error is not None or shift_from is not None
    said = option or _choices(read, named["choice"], missing_value or [])
    if positive is None and named["response_set"] is None and graded(said):
        positive = max(said, key=float)
    if positive is None and (needed or len(said) < 3):  # of more names none has to be positive
        raise InputError("options", [options.needed("--positive", LESSON)])
    data = module.Ratings.from_frame(
        read,
        positive=positive or said[0],  # on the screen no figure rests on it
        judges=judge or [],
        **named,
        separator=separator or "|",
        options=option,
        missing_value=missing_value or (),
        recode=_meanings(recode or []),
        repeated=repeated,
    )
    others = [o for o in data.options if o != data.positive]
    ok = shift_from is None or shift_from in others
    expect("options", ok, f"--shift-from {shift_from}: name one of {others}")
    chosen = shift_from or others[0]
    model = module.ResponseSets()
    if error is not None:
        with checking("options") as require:
            prior = belief("--error", error, require, example="0.05:20")
        model = module.ResponseSets(error=module.RaterErrors(prior))
    of = [d for d in module.definitions(cutoff) if positive or not d.downstream]
    how: dict[str, Any] = {"of": of, "pseudo_count": pseudo_count, "random_seed": shared.seed}
    counted = module.agreement(data, ties=ties, **how)
    instant = [
        module.endorsement_rates(data, ci_prob=shared.ci_prob),
        module.answer_rates(data, ci_prob=shared.ci_prob, random_seed=shared.seed),
        *_annotator_tests(data, epsilon, shared),
        counted.estimate(ci_prob=shared.ci_prob),
        counted.best_estimate(ci_prob=shared.ci_prob),
    ]
    first = _first(counted, shared.ci_prob)
    shifted = (
        module.shift_sensitivity(data, chosen=chosen, added=data.positive, of=of)
        if positive
        else None
    )

    posterior: list[module.Performance] = []

    def after(fit: Fit) -> list[Estimate]:
        posterior.append(module.performance(fit, of=of, random_seed=shared.seed))
        at = cutoff if positive else None
        return follow_up(fit, posterior[0], at, shared.ci_prob, shared.seed)

    def draw(results: Sequence[Estimate | Fit]) -> dict[str, Axes]:
        pictures = {
            "Rank of each judge under each definition, as counted": module.plot_ranks(counted)
        }
        if shifted is not None:
            title = f"If who chose {chosen} would accept {data.positive} too"
            pictures[title] = module.plot_shift(shifted)
            pictures["Prevalence, under the same"] = module.plot_shift(shifted, of="prevalence")
        for result in results:
            if isinstance(result, Fit):
                ranks = module.plot_ranks(posterior[0])
                pictures["Rank of each judge, with what is unknown"] = ranks
                if positive:
                    pictures["Items most in doubt"] = module.plot_items(result, cutoff=cutoff)
        return pictures

    story = Story(
        command="ratings",
        title="Ratings: which judge agrees with people",
        answer="endorsement",
        inputs={
            "items": len(data.items or ()),
            "options": ", ".join(data.options)
            + (f" (positive: {data.positive})" if positive else ""),
            "choices": int(data.chosen.sum()),
            "response sets": int(data.endorsed.sum()),
            "judges": ", ".join(data.judges),
            "priors": str(model),
        },
        tell=lambda r: module.answer(*r, ci_prob=shared.ci_prob, interval=shared.interval),
        waits=error is not None,
        source=source,
        instant=instant,
        sample=lambda: module.fit(data, model, **shared.sampling),
        after=after,
        more=lambda _: [Section("Which judge agrees with people", first, "agreement", first)],
        draw=draw,
    )
    present(story, shared)


# what `bayesjudge.cli.app` says where this option is missing
ratings.lessons = {"--positive": LESSON}  # type: ignore[attr-defined]


def _read_table(
    source: Source,
    named: dict[str, Any],
    people: Sequence[str] | None,
    judges: Sequence[str],
    separator: str | None,
    tuned_on: str | None,
) -> tuple[pa.Table, dict[str, Any]]:
    """One row per answer, and what columns are then called."""
    if people:
        source.leave_out(tuned_on, people)
        said: dict[str, Any] = {"choice": None, "response_set": None}
        said["response_set" if separator else "choice"] = "answer"
        rows = _one_row_an_answer(source, named["item"], [*people, *judges])
        return rows, {"item": "item", "rater": "rater", **said}
    if named["response_set"] is None or "choice" in source.columns():
        named = {**named, "choice": named["choice"] or "choice"}
    answers = [c for c in (named["choice"], named["response_set"]) if c is not None]
    source.leave_out(tuned_on, answers, [named["item"]])
    return source.table([named["item"], named["rater"], *answers]), named


def _one_row_an_answer(source: Source, item: str, raters: Sequence[str]) -> pa.Table:
    """The columns of graders, one below the other."""
    import pyarrow as pa

    read = source.table([item, *raters])
    answers = [None if x is None else spell(x) for name in raters for x in read[name].to_pylist()]
    names = [name for name in raters for _ in range(len(read))]
    items = read[item].to_pylist() * len(raters)
    return pa.table({"item": items, "rater": names, "answer": pa.array(answers, pa.string())})


def _choices(read: Any, choice: str | None, missing: list[str]) -> list[str]:
    """Options that were chosen."""
    if choice is None:
        return []
    said = read_rows(read, choice)[choice].dropna().unique()
    return sorted({spell(word) for word in said} - {"", *missing})


def _annotator_tests(data: module.Ratings, epsilon: float, shared: Shared) -> list[Estimate]:
    """The alternative annotator test and its posterior, if annotators are known by name."""
    how: dict[str, Any] = {"epsilon": epsilon, "ci_prob": shared.ci_prob}
    how["scores"] = "numeric" if graded(data.options) else "nominal"
    try:
        return [
            # by judge: what each annotator's comparison says is for Python
            module.alt_test(data, **how).only("winning_rate", "advantage_probability"),
            module.alt_test_posterior(data, **how, random_seed=shared.seed),
        ]
    except InputError as error:
        tell(f"no alternative annotator test: {error.message}")
        return []


def _first(counted: module.Performance, ci_prob: float) -> list[str]:
    """Say how well each judge agrees with people, and which does best, how surely."""
    main = [d for d in counted.definitions if d.metric in ("hit_rate", "cohen_kappa")]
    shown = counted.under(*main).estimate(ci_prob=ci_prob)
    lines = []
    for judge in counted.judges:
        parts = []
        for name, words in (("hit_rate", "hit rate"), ("cohen_kappa", "Cohen's kappa")):
            quantity = shown.quantities[name]
            at = [label[-1] for label in quantity.labels].index(judge)
            parts.append(f"{words} {_in_digits(quantity.row(at))}")
        lines.append(f"{judge} against the people's majority: {', '.join(parts)}.")
    if len(counted.judges) > 1:
        best = counted.under(main[0]).best().iloc[0]
        lines.append(f"Best by hit rate: {best.idxmax()}, in {best.max():.0%} of the draws.")
    return lines


def _in_digits(row: Row) -> str:
    """A number and its interval, as far as they are known."""
    if np.isnan(row.value):
        return "not defined"
    ends = "no interval" if np.isnan(row.high) else f"{row.low:.2f} to {row.high:.2f}"
    return f"{row.value:.2f} ({ends})"


def follow_up(
    fit: Fit, performance: module.Performance, cutoff: float | None, ci_prob: float, seed: Any
) -> list[Estimate]:
    """What follows from a fit: agreement, what the prior does, prevalences, who is best.

    Without a cutoff nothing is told of a positive option.
    """
    main = performance.under(*(d for d in performance.definitions if _is_main(d)))
    rest = performance.under(*(d for d in performance.definitions if not _is_main(d)))
    other_priors = []
    if not fit.data.fully_specified:
        asked: dict[str, Any] = {"performance": main, "target": "items", "cutoff": cutoff or 0.5}
        moved = module.prior_sensitivity(fit, **asked, ci_prob=ci_prob)
        kept = [name for name in moved.quantities if cutoff or name != "prevalence"]
        other_priors = [moved.only(*kept)]
    settings: dict[str, Any] = {"ci_prob": ci_prob, "random_seed": seed}
    last = (
        main.best_estimate(ci_prob=ci_prob),
        *([module.prevalences(fit, cutoffs=[cutoff], **settings)] if cutoff else []),
        module.tracking(fit, **settings),
    )
    # the screen shows the last one only: what a reader came for
    joined = {name: values for estimate in last for name, values in estimate.quantities.items()}
    more = [rest.best_estimate(ci_prob=ci_prob)] if rest.definitions else []
    first = performance.estimate(ci_prob=ci_prob)
    return [first, *more, *other_priors, replace(last[-1], quantities=joined)]


def _is_main(definition: module.Definition) -> bool:
    kind = (definition.metric, definition.judge, definition.human)
    return definition.metric == "decision_consistency" or kind in MAIN


def _meanings(recode: Sequence[str]) -> dict[str, dict[str, str]]:
    """``gpt:yes=no`` as ``{"gpt": {"yes": "no"}}``."""
    meanings: dict[str, dict[str, str]] = {}
    with checking("options") as require:
        for text in recode:
            judge, colon, pair = text.rpartition(":")
            said, equals, meant = pair.partition("=")
            ok = judge and colon and said and equals and meant
            require(ok, f"--recode {text}: write judge:said=meant, for example gpt:yes=no")
            twice = said in meanings.get(judge, {})
            require(not twice, f"--recode {text}: {judge}'s {said!r} has a meaning already")
            meanings.setdefault(judge, {})[said] = meant
    return meanings
