"""``bayesjudge prevalence``: from verdicts and a few labels to the share that is good."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from bayesjudge import prevalence as room
from bayesjudge.cli.app import app
from bayesjudge.cli.around import designs_of, inputs_of, pictures_of
from bayesjudge.cli.classes import count_classes
from bayesjudge.cli.output import DATA, MODEL, Shared, Story, present
from bayesjudge.core.errors import InputError, checking
from bayesjudge.core.fit import Fit
from bayesjudge.core.priors import BetaPrior
from bayesjudge.core.estimate import Estimate
from bayesjudge.readers import read_table

if TYPE_CHECKING:
    pass

_DATA = Parameter(group=DATA)
_MODEL = Parameter(group=MODEL, negative="")

#: The choice that decides everything else, in as many lines as there are choices.
LESSON = (
    "--calibration is needed: how were the items that people labelled chosen?\n"
    "  random      a random sample of these items\n"
    "  by_truth    so many good and so many bad ones; `separate`: from another data set or run,\n"
    "              where good ones may be more or less common (label shift)\n"
    "  by_verdict  so many that the judge passed and so many that it failed\n"
    "  known_propensity  each with a known probability, which --propensity names"
)


@app.command
def prevalence(
    table: Annotated[Path, _DATA],
    /,
    *,
    verdict: Annotated[list[str], Parameter(group=DATA, negative="")],
    truth: Annotated[str, _DATA],
    calibration: Annotated[str, _DATA],
    by: Annotated[str | None, _DATA] = None,
    stratum: Annotated[str | None, _DATA] = None,
    propensity: Annotated[str | None, _DATA] = None,
    elsewhere: Annotated[Path | None, _DATA] = None,
    classes: Annotated[list[str] | None, Parameter(group=DATA, negative="")] = None,
    swapped: Annotated[str | None, _DATA] = None,
    item: Annotated[str | None, _DATA] = None,
    pass_value: Annotated[list[str] | None, Parameter(group=DATA, negative="")] = None,
    fail_value: Annotated[list[str] | None, Parameter(group=DATA, negative="")] = None,
    missing_value: Annotated[list[str] | None, Parameter(group=DATA, negative="")] = None,
    unparsed: Annotated[Literal["fail", "drop"] | None, _DATA] = None,
    prior: Annotated[Literal["flat", "jeffreys"], _MODEL] = "flat",
    prior_sensitivity: Annotated[str | None, _MODEL] = None,
    prior_specificity: Annotated[str | None, _MODEL] = None,
    better_than_chance: Annotated[bool | None, Parameter(group=MODEL)] = None,
    pooling: Annotated[Literal["separate", "partial", "full"] | None, _MODEL] = None,
    all_methods: Annotated[bool, _MODEL] = False,
    shared: Shared = Shared(),
) -> None:
    r"""Estimate what share of outputs is truly good, when the judge errs.

    Rows with a human label say how the judge errs (calibration); the judge's verdicts on the other
    rows are corrected for it. Closed forms come at once, the sampled posterior seconds later.

    ```
    bayesjudge prevalence labels.csv --verdict gpt4_label --truth final_label \
        --calibration random --by system --html report.html
    ```

    Parameters
    ----------
    table : Path
        One row an item: .csv, .csv.gz, .tsv, .parquet, .jsonl or .ndjson.
    verdict : list[str]
        Column with the judge's verdict. May be repeated, for several judges of the same items.
    truth : str
        Column with the human label, empty where there is none.
    calibration : str
        How the labelled items were chosen: random (a random sample of these items), by_truth (so
        many good and so many bad), separate (another data set or run), by_verdict (so many passes
        and so many fails of the judge), known_propensity (see --propensity).
    by : str
        Column that names the system of each row; each gets its own estimate.
    stratum : str
        Column that names the stratum of each row; estimates are weighed by the strata's shares.
    propensity : str
        Column with the probability with which each row was to be labelled, whether it was or not.
    elsewhere : Path
        Table with more labelled rows, chosen by truth or from another run: they tell how the judge
        errs and nothing else.
    classes : list[str]
        A class that verdict and truth can be, where they are more than pass and fail; repeated for
        each class, in the order wanted. With --swapped: win, tie and loss, in the table's words.
    swapped : str
        Column with the verdict on the same pair of answers in the other order; --verdict is then
        the verdict with our answer shown first.
    item : str
        Column that identifies a row within its system; repeated ones are then an error.
    pass_value : list[str]
        Label that means pass, where labels are not 1/0 or true/false. May be repeated.
    fail_value : list[str]
        Label that means fail. May be repeated.
    missing_value : list[str]
        Label that means that there is none, such as INVALID. May be repeated.
    unparsed : str
        What a row without a verdict is: the judge's fail, or dropped.
    prior : str
        Prior of every rate.
    prior_sensitivity : str
        Prior of the judge's sensitivity, as rate:n. 0.9:20 is a belief worth 20 labels.
    prior_specificity : str
        The same of its specificity.
    better_than_chance : bool
        Whether the model leaves out judges that are no better than chance; if not said, as
        `bayesjudge.prevalence.Priors` does.
    pooling : str
        How far several systems share the judge's error rates: separate, partial (a system without
        labels borrows from the others), full (one judge who treats all alike). If not said,
        systems are separate and strata partially pooled.
    all_methods : bool
        All estimators of the literature, each with what it assumes and what the data say against.

    Raises
    ------
    InputError
        Where an option, a column or a value is not understood.
    """
    shared.check()
    if calibration not in room.CALIBRATIONS:
        problem = LESSON.replace("is needed", f"{calibration!r} is not known")
        raise InputError("options", [problem])
    if classes or swapped:
        with checking("options") as require:
            taken = {"--by": by, "--stratum": stratum, "--elsewhere": elsewhere}
            given = [name for name, value in taken.items() if value is not None]
            require(not given, f"{given} are not for classes")
            require(len(verdict) == 1, "classes take one --verdict")
        names = {"verdict": verdict[0], "truth": truth, "calibration": calibration}
        count_classes(table, shared, classes=classes, swapped=swapped, **names)
        return
    priors = _priors(calibration, prior, prior_sensitivity, prior_specificity, better_than_chance)
    columns = [*verdict, *(c for c in (truth, by, stratum, propensity, item) if c is not None)]
    try:
        counts = room.Counts.from_frame(
            read_table(table, columns),
            calibration=calibration,
            verdict=verdict,
            truth=truth,
            by=by,
            stratum=stratum,
            propensity=propensity,
            item=item,
            elsewhere=None if elsewhere is None else read_table(elsewhere, columns),
            pass_value=pass_value,
            fail_value=fail_value,
            missing_value=missing_value,
            unparsed=unparsed,
        )
    except InputError as error:
        if any("neither pass nor fail" in problem for problem in error.problems):
            error.problems.append("where there are more than two classes, name them: --classes A …")
        raise
    answer(counts, priors, shared, source=str(table), all_methods=all_methods, pooling=pooling)


# what `bayesjudge.cli.app` says where one of these options is missing
prevalence.lessons = {"--calibration": LESSON}  # type: ignore[attr-defined]


def answer(
    counts: room.Counts,
    priors: room.Priors,
    shared: Shared,
    *,
    source: str,
    all_methods: bool = False,
    pooling: Literal["separate", "partial", "full"] | None = None,
    command: str = "prevalence",
    truth: Mapping[str, float] | None = None,
) -> list[Estimate | Fit]:
    """Estimate from counts, and present.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels.
    priors : Priors
        One for each unknown.
    shared : Shared
        Options of the command.
    source : str
        Where the counts come from.
    all_methods : bool, default False
        Add closed forms that the design does not support.
    pooling : {"separate", "partial", "full"}, optional
        How far systems share the judge's rates.
    command : str, default "prevalence"
        Which command this is.
    truth : mapping of str to float, optional
        True prevalences by quantity.

    Returns
    -------
    list of Estimate or Fit
        All results.

    Raises
    ------
    InputError
        Where an option is out of its range.
    ConvergenceError
        Where the sampler did not converge and ``shared.strict`` asks for an error.
    """
    closed = room.closed_forms(counts, ci_prob=shared.ci_prob, mismatched=all_methods)
    instant = list(closed)
    if counts.propensity is None:
        kind = shared.interval or "eti_bounded"
        instant.append(room.exact(counts, priors, ci_prob=shared.ci_prob, interval=kind))

    def sample() -> Fit:
        how: dict[str, Any] = {"random_seed": shared.seed, "strict": shared.strict}
        return room.fit(counts, priors, pooling=pooling, **how)

    story = Story(
        command=command,
        title="Prevalence: the share of outputs that people would pass",
        answer="overall_prevalence" if counts.dim == "stratum" else "prevalence",
        inputs=inputs_of(counts, priors, source),
        truth=truth,
        brief=lambda method: method.split(",")[0],
    )
    return present(
        instant,
        sample,
        shared,
        story,
        draw=lambda made: pictures_of(made, shared),
        more=lambda _: designs_of(counts, priors, shared),
    )


def _priors(
    calibration: str,
    prior: str,
    sensitivity: str | None,
    specificity: str | None,
    better_than_chance: bool | None,
) -> room.Priors:
    start = room.Priors.jeffreys() if prior == "jeffreys" else room.Priors()
    changed: dict[str, Any] = {}
    given = {"sensitivity": sensitivity, "specificity": specificity}
    with checking("options") as require:
        for name, text in given.items():
            if text is None:
                continue
            require(
                calibration != "by_verdict",
                f"--prior-{name}: with labels by verdict the model has no {name}",
            )
            rate, _, n = text.partition(":")
            try:
                changed[name] = BetaPrior.worth(rate=float(rate), n=float(n))
            except ValueError as error:  # an InputError is one too
                problems = getattr(error, "problems", ["write rate:n, for example 0.9:20"])
                require(False, f"--prior-{name} {text}: {'; '.join(problems)}")
    if better_than_chance is not None:
        changed["better_than_chance"] = better_than_chance
    return replace(start, **changed)
