"""``bayesjudge ratings``: which judge agrees with people when several answers are right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from bayesjudge import ratings as module
from bayesjudge.cli.output import DATA, MODEL, Shared, Story, present
from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Estimate
from bayesjudge.core.fit import Fit
from bayesjudge.core.priors import BetaPrior
from bayesjudge.readers import read_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DATA = Parameter(group=DATA, negative="")
_MODEL = Parameter(group=MODEL, negative="")

#: Definitions by which the screen says who is best, and the page who is under other priors.
MAIN = {("hit_rate", "hard", "hard"), ("mse", "srs", "srs")}

#: The declaration that nothing in a table can stand in for.
LESSON = (
    "--positive is needed: by which option are items categorised?\n"
    "  Where people were asked `is it unsafe?`, yes means unsafe; where a judge was asked\n"
    "  `is it safe?`, yes means the opposite. Say what yes means, for example --positive unsafe."
)


def ratings(
    table: Annotated[Path, _DATA],
    /,
    *,
    positive: Annotated[str, _DATA],
    judge: Annotated[list[str], _DATA],
    item: Annotated[str, _DATA] = "item",
    rater: Annotated[str, _DATA] = "rater",
    choice: Annotated[str | None, _DATA] = "choice",
    response_set: Annotated[str | None, _DATA] = None,
    separator: Annotated[str, _DATA] = "|",
    option: Annotated[list[str] | None, _DATA] = None,
    missing_value: Annotated[list[str] | None, _DATA] = None,
    recode: Annotated[list[str] | None, _DATA] = None,
    cutoff: Annotated[float, _MODEL] = 0.5,
    shift_from: Annotated[str | None, _MODEL] = None,
    pseudo_count: Annotated[float, _MODEL] = 0.5,
    error: Annotated[str | None, _MODEL] = None,
    shared: Shared = Shared(),
) -> None:
    r"""Compare judges with people, where raters may have more than one answer in mind.

    Agreement is computed under every definition in use, since definitions contradict each other.
    Endorsements (who would accept an option) come from response sets; where raters were made to
    pick one option, the report says what that hides.

    ```
    bayesjudge ratings answers.csv --positive unsafe --judge gpt --judge claude \
        --response-set all_that_apply --html report.html
    ```

    Parameters
    ----------
    table : Path
        One row an answer: .csv, .csv.gz, .tsv, .parquet, .jsonl or .ndjson.
    positive : str
        Option that items are categorised by.
    judge : list[str]
        Name of a judge in the column of raters; all other raters are people. May be repeated.
    item : str
        Column with the item.
    rater : str
        Column with who rated it.
    choice : str
        Column with a forced choice.
    response_set : str
        Column with all options that a rater would accept.
    separator : str
        Between the options of a response set.
    option : list[str]
        All options in their order, where not all occur. May be repeated.
    missing_value : list[str]
        Answer that means that there is none. May be repeated.
    recode : list[str]
        What a judge's answer means, as judge:said=meant. For one that was asked the opposite
        question: --recode gpt:yes=no --recode gpt:no=yes.
    cutoff : float
        Share of raters from which an option counts as endorsed.
    shift_from : str
        Option whose choosers may also accept the positive one, for the sensitivity analysis; not
        needed where there are two options.
    pseudo_count : float
        Added to each count, so that divergences are finite.
    error : str
        Prior of people's error rate, as rate:n. 0.05:20 is a belief worth 20 answers. Without it
        raters make no errors.

    Raises
    ------
    InputError
        If an option, a column or a value is not understood.
    """
    shared.check()
    columns = [c for c in (item, rater, choice, response_set) if c is not None]
    data = module.Ratings.from_frame(
        read_table(table, columns),
        positive=positive,
        judges=judge,
        item=item,
        rater=rater,
        choice=choice,
        response_set=response_set,
        separator=separator,
        options=option,
        missing_value=missing_value or (),
        recode=_meanings(recode or []),
    )
    others = [o for o in data.options if o != data.positive]
    with checking("options") as require:
        ok = shift_from is None or shift_from in others
        require(ok, f"--shift-from {shift_from}: name one of {others}")
    chosen = shift_from or others[0]
    prior = _error_prior(error)
    model = module.ResponseSets(error=None if prior is None else module.RaterErrors(prior))
    of = module.definitions(cutoff)
    how: dict[str, Any] = {"of": of, "pseudo_count": pseudo_count, "random_seed": shared.seed}
    counted = module.agreement(data, **how)
    instant = module.closed_forms(data, ci_prob=shared.ci_prob, **how)
    shifted = module.shift_sensitivity(data, chosen=chosen, added=data.positive, of=of)

    def sample() -> Fit:
        return module.fit(data, model, random_seed=shared.seed, strict=shared.strict)

    posterior: list[module.Performance] = []

    def after(fit: Fit) -> list[Estimate]:
        posterior.append(module.performance(fit, of=of, random_seed=shared.seed))
        return follow_up(fit, posterior[0], cutoff, shared.ci_prob, shared.seed)

    def draw(made: Sequence[Estimate | Fit]) -> dict[str, Axes]:
        pictures = {
            "Rank of each judge under each definition, as counted": module.plot_ranks(counted),
            f"If who chose {chosen} would accept {data.positive} too": module.plot_shift(shifted),
            "Prevalence, under the same": module.plot_shift(shifted, of="prevalence"),
        }
        for one in made:
            if isinstance(one, Fit):
                ranks = module.plot_ranks(posterior[0])
                pictures["Rank of each judge, with what is unknown"] = ranks
                pictures["Items most in doubt"] = module.plot_items(one, cutoff=cutoff)
        return pictures

    story = Story(
        command="ratings",
        title="Ratings: which judge agrees with people",
        answer="endorsement",
        inputs={
            "data": str(table),
            "items": len(data.items or ()),
            "options": f"{', '.join(data.options)} (positive: {data.positive})",
            "choices": int(data.chosen.sum()),
            "response sets": int(data.endorsed.sum()),
            "judges": ", ".join(data.judges),
            "priors": str(model),
        },
        brief=lambda method: method.split(",")[0],
    )
    present(instant, sample, shared, story, draw=draw, after=after)


# what `bayesjudge.cli.app` says where this option is missing
ratings.lessons = {"--positive": LESSON}  # type: ignore[attr-defined]


def follow_up(
    fit: Fit, performance: module.Performance, cutoff: float, ci_prob: float, seed: Any
) -> list[Estimate]:
    """What follows from a fit: agreement, what the prior does, prevalences, who is best."""
    main = performance.under(*(d for d in performance.definitions if _is_main(d)))
    rest = performance.under(*(d for d in performance.definitions if not _is_main(d)))
    other_priors = []
    if not fit.data.fully_specified:
        asked: dict[str, Any] = {"performance": main, "target": "items", "cutoff": cutoff}
        other_priors = [module.prior_sensitivity(fit, **asked, ci_prob=ci_prob)]
    settings: dict[str, Any] = {"ci_prob": ci_prob, "random_seed": seed}
    last = (
        main.best_estimate(),
        module.prevalences(fit, cutoffs=[cutoff], **settings),
        module.tracking(fit, **settings),
    )
    # the screen shows the last one only: what a reader came for
    joined = {name: one for estimate in last for name, one in estimate.quantities.items()}
    more = [rest.best_estimate()] if rest.definitions else []
    first = performance.estimate(ci_prob=ci_prob)
    return [first, *more, *other_priors, replace(last[-1], quantities=joined)]


def _is_main(definition: module.Definition) -> bool:
    kind = (definition.metric, definition.judge, definition.human)
    return definition.metric == "decision_consistency" or kind in MAIN


def _meanings(recode: Sequence[str]) -> dict[str, dict[str, str]]:
    """``gpt:yes=no`` as ``{"gpt": {"yes": "no"}}``."""
    made: dict[str, dict[str, str]] = {}
    with checking("options") as require:
        for text in recode:
            judge, colon, pair = text.rpartition(":")
            said, equals, meant = pair.partition("=")
            ok = judge and colon and said and equals and meant
            require(ok, f"--recode {text}: write judge:said=meant, for example gpt:yes=no")
            twice = said in made.get(judge, {})
            require(not twice, f"--recode {text}: {judge}'s {said!r} has a meaning already")
            made.setdefault(judge, {})[said] = meant
    return made


def _error_prior(text: str | None) -> BetaPrior | None:
    if text is None:
        return None
    rate, _, n = text.partition(":")
    made: Any = None
    with checking("options") as require:
        try:
            made = BetaPrior.worth(rate=float(rate), n=float(n))
        except ValueError as error:
            problems = getattr(error, "problems", ["write rate:n, for example 0.05:20"])
            require(False, f"--error {text}: {'; '.join(problems)}")
    return made
