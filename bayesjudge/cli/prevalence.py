"""``bayesjudge prevalence``: from verdicts and a few labels to the share of good outputs."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

import bayesjudge as bj
from bayesjudge.cli.classes import answer_classes
from bayesjudge.cli.options import (
    BY,
    FIRST,
    LESSON,
    LOGS,
    MODEL,
    OF_MODEL,
    OF_TABLE,
    SEVERAL,
    TRUTH,
    LabelFile,
    LogJudge,
    Meanings,
    Metric,
    Shared,
    Truth,
    WhichItems,
    are,
    needed,
    table_option,
    unknown_calibration,
)
from bayesjudge.cli.output import Story, present
from bayesjudge.cli.priors import Priors
from bayesjudge.cli.scores import answer_scores, answer_systems, as_verdicts, read_scores
from bayesjudge.cli.source import PAIRS, Source, inputs_of, open_source, repeating
from bayesjudge.cli.systems import MOST_LINES, change_sections, rank_section
from bayesjudge.core.answer import Answer, difference_words, judge_passes, listed
from bayesjudge.core.comparing import with_value
from bayesjudge.core.errors import InputError, Problem, checking
from bayesjudge.core.estimate import Caution, Estimate, Target, of_passes, pass_name_in
from bayesjudge.core.fit import Fit
from bayesjudge.core.periods import in_time, kind_of
from bayesjudge.prevalence.answer import IN_TIME, differences, neighbours
from bayesjudge.prevalence.data import PLURALS
from bayesjudge.readers import read_table
from bayesjudge.render.page import Section

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesjudge.prevalence import Counts, ErrorRates, PooledErrorRates, PredictiveValues

    PrevalenceModel = ErrorRates | PooledErrorRates | PredictiveValues


#: What takes the place of strata where a judge gives scores.
STRATA_OF_SCORES = (
    " is not for scores as they are: make them verdicts with --pass-from LOWEST, or name a column "
    "with the share of each row's stratum that was to be labelled: --calibration "
    "known_propensity --propensity COLUMN"
)
#: What to do if labels are more than pass and fail.
SCORES = "if the judge gives scores: --score COLUMN --scale LOWEST:HIGHEST"
CLASSES = "if there are more than two classes, name them: --classes A B …"
#: Bytes of a table in which groups that are labelled as a whole are looked for.
MOST_BYTES = 5_000_000
#: What the quantities mean, for a screen that shows them.
WORDS = {
    "sensitivity": "share of good outputs that the judge passes",
    "specificity": "share of bad outputs that it fails",
    "ppv": "share of good outputs among those that the judge passes",
    "npv": "share of bad outputs among those that it fails",
}


def prevalence(
    table: Annotated[Path, table_option("One row an item", LOGS)],
    /,
    *,
    truth: Annotated[Truth, FIRST] = None,
    calibration: Annotated[str | None, OF_TABLE, FIRST] = None,
    verdict: Annotated[list[str] | None, SEVERAL, FIRST] = None,
    score: Annotated[str | None, OF_TABLE] = None,
    scale: Annotated[str | None, OF_TABLE] = None,
    truth_scale: Annotated[str | None, OF_TABLE] = None,
    truth_from: Annotated[float | None, OF_TABLE] = None,
    pass_from: Annotated[float | None, OF_TABLE] = None,
    edges: Annotated[str | None, OF_TABLE] = None,
    by: Annotated[str | None, BY, FIRST] = None,
    stratum: Annotated[str | None, OF_TABLE] = None,
    propensity: Annotated[str | None, OF_TABLE] = None,
    external_labels: Annotated[Path | None, OF_TABLE] = None,
    labels: LabelFile = None,
    classes: Annotated[list[str] | None, SEVERAL] = None,
    swapped: Annotated[str | None, OF_TABLE] = None,
    item: Annotated[str | None, OF_TABLE] = None,
    repeats: Annotated[Literal["system", "judge"] | None, OF_TABLE] = None,
    meanings: Meanings = Meanings(),
    unparsed: Annotated[Literal["fail", "verdict", "drop"] | None, OF_TABLE] = None,
    metric: Metric = None,
    judge: LogJudge = None,
    prior: Annotated[Literal["flat", "jeffreys"] | None, OF_MODEL] = None,
    prior_sensitivity: Annotated[str | None, OF_MODEL] = None,
    prior_specificity: Annotated[str | None, OF_MODEL] = None,
    better_than_chance: Annotated[bool, Parameter(group=MODEL)] = True,
    pooling: Annotated[Literal["separate", "partial", "full"] | None, OF_MODEL] = None,
    target: WhichItems = "population",
    all_methods: Annotated[bool, OF_MODEL] = False,
    shared: Shared = Shared(),
) -> None:
    r"""Estimate what share of outputs people would pass, from verdicts and a few human labels.

    Rows with a human label tell how the judge errs (calibration); the judge's verdicts on the other
    rows are corrected for it. Closed forms come at once, the sampled posterior seconds later.

    ```
    bayesjudge prevalence labels.csv --verdict gpt4_label --truth final_label \
        --calibration random --by system --html report.html
    ```

    Parameters
    ----------
    table : Path
        One row an item, or a log.
    calibration : str
        How the labelled items were chosen: random (a random sample of these items; or every fourth,
        say, if their order has nothing to do with what they are), by_truth (a fixed number of good
        and of bad ones), separate (another data set or run), by_verdict (a fixed number of the
        judge's passes and of its fails), known_propensity (see --propensity).
    verdict : list[str]
        Column with the judge's verdict; several, if several judges saw the same items.
    score : str
        Column with the judge's score, if it gives numbers; then in place of --verdict.
    scale : str
        Lowest and highest score that the judge can give, such as 1:5; or log_odds.
    truth_scale : str
        Lowest and highest number that people can give, if labels are numbers: asks for their mean.
    truth_from : float
        Lowest human number that is a pass, if labels are numbers: asks for the share of passes.
    pass_from : float
        Lowest score that is a pass: makes scores verdicts.
    edges : str
        Where bins of the score begin, but for the first, such as 2.5:4; needed with by_verdict.
    by : str
        Column that names the system of each row; each gets its own estimate, and they are compared,
        with --item on the items that they share.
    stratum : str
        Column that names the stratum of each row; estimates are weighed by the strata's shares.
    propensity : str
        Column with the probability with which each row was to be labelled, whether it was or not.
    external_labels : Path
        Table with more labelled rows, chosen by truth or from another run: they tell how the judge
        errs and nothing else.
    classes : list[str]
        Classes that verdict and truth can be, if they are more than pass and fail, in the order
        wanted. With --swapped: win, tie and loss, in the table's words.
    swapped : str
        Column with the verdict on the same pair of answers in the other order; --verdict is then
        the verdict with our answer shown first.
    item : str
        Column that identifies the item of a row. With --by, systems are compared on the items that
        they share, unless --pooling asks for the model of independent rows.
    repeats : str
        What repeats if an item has several rows of one system: system (each row is a new output),
        or judge (one output, judged several times). Needs --item.
    unparsed : str
        What a row without a verdict is: the judge's fail, a verdict of its own (with --classes), or
        dropped.
    prior : str
        Prior of every rate: flat, or Jeffreys', which is the default for labels by verdict.
    prior_sensitivity : str
        Prior of the judge's sensitivity (share of good outputs that it passes), as rate:n.
        0.9:20 is a belief worth 20 labels.
    prior_specificity : str
        The same of its specificity (share of bad outputs that it fails).
    better_than_chance : bool
        Whether the model leaves out judges that are no better than chance.
    pooling : str
        How far several systems share the judge's error rates: separate, partial (a system without
        labels borrows from the others), full (one judge who treats all alike). If not said,
        systems are separate and strata partially pooled.
    all_methods : bool
        All estimators of the literature, each with what it assumes and which cautions contradict
        that.

    Raises
    ------
    InputError
        If an option, a column or a value is not understood.
    """
    shared.check()
    source = open_source(table, metric, judge=judge)
    if calibration is None:
        told = needed("--calibration", LESSON)
        raise InputError("options", [told, *([] if truth or source.log else [TRUTH])])
    truth = source.truth(truth, labels)
    repeated = repeats
    if source.log is not None:
        paired = source.paired and not score
        verdict = verdict or (None if score else ["verdict"])
        classes = classes or (PAIRS if paired and verdict == ["verdict"] else None)
        swapped = swapped or ("swapped" if paired and source.swapped else None)
        item = item or (None if swapped else "item")
        by = by or ("system" if len(source.log.systems) > 1 and not (score or swapped) else None)
        repeated = repeats or repeating(source)
        with checking(str(table)) as require:
            numeric = source.chosen.numeric and not score
            require(not numeric, f"{source.chosen} gives numbers: --score score --scale LOW:HIGH")
    if labels is None:
        source.people = truth
    else:
        judged = verdict or [score or ""]
        item, by = source.add_labels(labels, truth=truth, verdicts=judged, item=item, by=by)
    beliefs = {"sensitivity": prior_sensitivity, "specificity": prior_specificity}
    priors = Priors(prior, beliefs, better_than_chance)
    if calibration not in bj.prevalence.DESIGNS:
        raise InputError("options", [unknown_calibration(calibration)])
    binary = {"--pass-value": meanings.pass_value, "--fail-value": meanings.fail_value}
    missing = meanings.missing_value or []
    # what the models of scores and of classes have no use for
    about_items = {"--target": target == "items"}
    rates = dict.fromkeys(priors.asked, True) | {"--all-methods": all_methods} | about_items
    if score is not None:
        from bayesjudge.prevalence.scores.data import require_threshold

        if stratum is not None and pass_from is None:
            raise InputError("options", [f"--stratum {stratum}{STRATA_OF_SCORES}"])
        given: dict[str, Any] = {"--verdict": verdict}
        given |= {"--swapped": swapped, "--classes": classes, "--external-labels": external_labels}
        given |= {"--repeats": repeats, "--pooling": pooling, **rates} if pass_from is None else {}
        numeric = truth_scale is not None or truth_from is not None
        given |= binary if numeric else {}
        with checking("options") as require:
            refused = _given(given)
            require(not refused, f"{are(refused)} not for scores; take a part of the table first")
            require(unparsed in (None, "drop"), "--unparsed: rows without a score can be dropped")
        values: dict[str, Any] = {**asdict(meanings), "truth_from": truth_from}
        names: dict[str, Any] = {"score": score, "truth": truth}
        how: dict[str, Any] = {"calibration": calibration, "propensity": propensity, **values}
        how |= {"scale": scale, "truth_scale": truth_scale, "edges": edges, "unscored": unparsed}
        how |= {"by": by, "item": item} if pass_from is None else {"by": None}
        read, apart = read_scores(source, **names, **how, quiet=shared.quiet)
        if pass_from is None and by is None:
            note = ""
            if item is None and calibration == "random":
                note = _whole_groups(source, truth, [score], missing, "")
            answer_scores(read[""], shared, source, note)
            return
        if pass_from is None:
            answer_systems(read, apart, shared, source)
            return
        require_threshold(read[""], pass_from)
        source = as_verdicts(source, **names, pass_from=pass_from, **values)
        verdict = [score]
    else:
        with checking("options") as require:
            words = "--verdict (or --score, if the judge gives numbers) is needed"
            require(verdict, needed("--verdict", words))
            given = {"--scale": scale, "--truth-scale": truth_scale, "--truth-from": truth_from}
            only = _given(given | {"--pass-from": pass_from, "--edges": edges})
            words = f"{are(only)} for scores: give them by --score, in place of --verdict"
            require(not only, words)
    verdict = verdict or []
    if classes or swapped:
        given = {"--external-labels": external_labels, "--repeats": repeats, **rates}
        given |= binary
        with checking("options") as require:
            require(not _given(given), f"{are(_given(given))} not for classes")
            require(len(verdict) == 1, "classes take one --verdict")
        names = {"verdict": verdict[0], "truth": truth, "calibration": calibration}
        more: dict[str, Any] = {"by": by, "stratum": stratum, "propensity": propensity}
        more |= {"item": item, "missing_value": meanings.missing_value, "unparsed": unparsed}
        more |= {"pooling": pooling}
        answer_classes(source, shared, classes=classes, swapped=swapped, **names, **more)
        return
    if repeated or (item and by and pooling is None and not (stratum or propensity)):
        from bayesjudge.cli.prevalence_items import answer_items

        unused: dict[str, Any] = {"--stratum": stratum, "--propensity": propensity}
        unused |= {"--pooling": pooling, "--external-labels": external_labels, **about_items}
        answer_items(
            shared,
            source=source,
            verdicts=verdict,
            item=item,
            repeats=repeated,
            refused=unused,
            priors=priors,
            all_methods=all_methods,
            calibration=calibration,
            truth=truth,
            by=by,
            **asdict(meanings),
            unparsed=unparsed,
        )
        return
    columns = [*verdict, *(c for c in (truth, by, stratum, propensity, item) if c is not None)]
    external = None if external_labels is None else read_table(external_labels, columns)
    try:
        with source.counted(columns, quiet=shared.quiet) as read:
            counts = bj.prevalence.Counts.from_frame(
                read,
                calibration=calibration,
                verdict=verdict,
                truth=truth,
                by=by,
                stratum=stratum,
                propensity=propensity,
                item=item,
                external_labels=external,
                **asdict(meanings),
                unparsed=unparsed,  # type: ignore[arg-type]
            )
    except InputError as error:
        if error.has("unread-numbers"):
            error.problems.append(Problem(SCORES))
        elif _may_be_classes(error.problems):
            error.problems.append(Problem(CLASSES))
        raise
    model = _model(counts, priors, pooling)
    shared.check_sampled(*([f"--pooling {pooling}"] if pooling in ("partial", "full") else []))
    note = ""
    if item is None and calibration == "random":
        note = _whole_groups(source, truth, verdict, missing)
    asked: dict[str, Any] = {"all_methods": all_methods, "target": target, "note": note}
    answer(counts, model, shared, source=source, **asked)


def _may_be_classes(problems: Sequence[Problem]) -> bool:
    """Whether more words are left than a pass and a fail, beside those that say nothing."""
    meant = [one.value for one in problems if one.id == "labels-to-name"]
    kinds = ("pass_value", "fail_value")
    return sum(len(values.get(kind, ())) for values in meant for kind in kinds) > 2


def _whole_groups(
    source: Source,
    truth: str,
    verdicts: Sequence[str],
    missing: Sequence[str],
    more: str = " --repeats system",
) -> str:
    """Say so if labels cover whole groups of rows, such as conversations, which no option names."""
    size = source.path.stat().st_size if source.path.is_file() else MOST_BYTES + 1
    if source.log is not None or size > MOST_BYTES or source.counts_in_place:
        return ""
    from bayesjudge.cli.shapes.table import describe

    cells = source.table_of_names([*source.columns(), truth])
    cells[truth] = ["" if cell in missing else cell for cell in cells[truth]]
    table = describe(cells, truth).but(verdicts=verdicts)
    together = table.labelled_together(truth)
    if together is None:
        return ""
    name, labelled, groups = together
    return (
        f"Labels cover whole groups of {name}: {labelled:,} of {groups:,} have one on every row, "
        "the others on none. Rows of a group are not drawn one by one, so that this interval may "
        f"be too narrow: say --item {shlex.quote(name)}{more}."
    )


def _given(options: Mapping[str, Any]) -> list[str]:
    """The options that were given."""
    return [name for name, value in options.items() if value not in (None, False, [])]


# how it spells what the module says to those who write Python
prevalence.spelled = {  # type: ignore[attr-defined]
    "PooledErrorRates()": "--pooling partial",
    "read them with prevalence.items.Items.from_frame, which asks what": "say what",
    "repeats='system'": "--repeats system",
    "repeats='judge'": "--repeats judge",
    "(item=)": "(--item)",
}


def answer(
    counts: Counts,
    model: PrevalenceModel,
    shared: Shared,
    *,
    source: Source | str,
    all_methods: bool = False,
    target: Target = "population",
    command: str = "prevalence",
    truth: Mapping[tuple[Any, ...], float] | None = None,
    note: str = "",
) -> list[Estimate | Fit]:
    """Estimate from counts, and present: what ``prevalence`` and ``demo`` share."""
    module = bj.prevalence
    separate = _separate(model)
    asked: dict[str, Any] = {"ci_prob": shared.ci_prob, "target": target}
    instant = _that_hold(module.closed_forms(counts, mismatched=all_methods, **asked))
    posterior = None
    if counts.propensity is None:
        kind = shared.interval or "eti_bounded"
        posterior = module.exact(counts, separate, interval=kind, **asked)
        instant.append(posterior)

    def told(made: Sequence[Estimate | Fit]) -> Answer:
        how: dict[str, Any] = {"ci_prob": shared.ci_prob, "interval": shared.interval}
        found = module.answer(*made, **how, target=target)
        return replace(found, notes=(*found.notes, note)) if note else found

    story = Story(
        command=command,
        title=of_passes("Share of good outputs (prevalence)", counts.pass_name),
        answer="overall_prevalence" if counts.dim == "stratum" else "prevalence",
        inputs=_inputs(counts, model, source),
        tell=told,
        waits=model._pools or posterior is None,
        truth=truth,
        words=WORDS,
        target=target,
        every=all_methods,
    )
    return present(
        instant,
        lambda: module.fit(counts, model, **shared.sampling),
        shared,
        story,
        draw=lambda made: _pictures(made, shared),
        more=lambda made: _further(made, counts, separate, posterior, shared, target),
    )


def _that_hold(made: Sequence[Estimate]) -> list[Estimate]:
    """Of methods that the design does not support, the share only, and no interval without width.

    Their rates of the judge would look like those of methods that hold.
    """
    found, left = [], []
    for one in made:
        names = {c.id for c in one.cautions}
        if "design-mismatch" not in names:
            found.append(one)
        elif "zero-width" in names:
            left.append(one.method.title)
        else:
            found.append(one.only("prevalence", "overall_prevalence"))
    if left:
        told = (*found[0].cautions, Caution.of("design-mismatch", "left-out", methods=listed(left)))
        found[0] = replace(found[0], cautions=told)
    return found


def _further(
    made: Sequence[Estimate | Fit],
    counts: Counts,
    separate: ErrorRates | PredictiveValues,
    posterior: Estimate | None,
    shared: Shared,
    target: Target,
) -> list[Section]:
    """What else is known of the process: designs differ in which items are asked about."""
    if target == "items":
        return []
    designs = _designs(counts, separate, posterior, shared)
    names = counts.systems or () if counts.dim == "system" else ()
    each = {name: (counts.system(name), separate.of_system(name)) for name in names}
    changed = change_sections(each, shared.ci_prob)
    return [*changed, *_differences(made, shared), *_ranks(made, shared), *designs]


def _model(counts: Counts, priors: Priors, pooling: str | None) -> PrevalenceModel:
    """The model of the label design, with the priors and the pooling that were asked for."""
    with checking("options") as require:
        pooled = counts.predictive and pooling in ("partial", "full")
        require(
            not pooled,
            f"--pooling {pooling}: labels by verdict tell predictive values, which do not carry "
            "over from one system to another; leave it out",
        )
        alone = counts.systems is None or counts.dim == "judge"
        several = not (alone and pooling in ("partial", "full"))
        require(several, f"--pooling {pooling} needs several systems (--by) or strata")
        rates = priors.of(counts.predictive, require)
    if counts.predictive:
        return bj.prevalence.PredictiveValues(**rates)
    if (pooling or ("partial" if counts.dim == "stratum" else "separate")) == "partial":
        return bj.prevalence.PooledErrorRates(**rates)
    return bj.prevalence.ErrorRates(**rates, pooling="full" if pooling == "full" else "separate")


def _separate(model: PrevalenceModel) -> ErrorRates | PredictiveValues:
    """The same priors, each system with rates of its own: what quadrature integrates."""
    if isinstance(model, bj.prevalence.PredictiveValues):
        return model
    names = ("prevalence", "sensitivity", "specificity", "better_than_chance")
    return bj.prevalence.ErrorRates(**{name: getattr(model, name) for name in names})


def _inputs(counts: Counts, model: PrevalenceModel, source: Source | str) -> dict[str, Any]:
    def total(values: Any) -> int:
        return int(values if isinstance(values, int) else values.sum())

    about = {
        **inputs_of(source),
        "items": total(counts.test_n) + total(counts.labelled_n),
        "labelled": total(counts.labelled_n),
        **_unlabelled(counts),
        "unparsed": total(counts.unparsed),
        "calibration": f"{counts.design.name}: {counts.design.meaning}",
    }
    if counts.systems:
        about[PLURALS[counts.kind]] = ", ".join(counts.systems)
    if counts.spelling:
        about["labels"] = counts.spelling
    if counts.external_labels is not None:
        good, _, bad, _ = counts.external_labels.reshape(4, -1).sum(axis=1)
        about["external labels"] = f"{good} good and {bad} bad items, for the judge's rates only"
    words = of_passes(str(model), counts.pass_name)
    return about | {"model": f"{type(model).__name__}: {words}"}


def _unlabelled(counts: Counts) -> dict[str, str]:
    """How often the judge passes the items without a label, which Rogan-Gladen rests on."""
    of = counts.systems is None and counts.design.same_items and int(counts.test_n)
    if not of or not int(counts.labelled_n):
        return {}
    share = 100 * int(counts.test_pass) / of
    so = judge_passes(f"{share:.0f} %", counts.pass_name)
    return {"unlabelled": f"{of:,}, of which {so} (Rogan-Gladen's rate)"}


def _differences(made: Sequence[Estimate | Fit], shared: Shared) -> list[Section]:
    """By how much systems differ."""
    rows = differences(*made, ci_prob=shared.ci_prob, interval=shared.interval)
    if not rows:
        return []
    near, far = neighbours(rows)
    told = partial(difference_words, name=pass_name_in(made))
    lines = [told(row, None if i else shared.ci_prob) for i, row in enumerate(near)]
    further = list(map(told, far))
    left = len(lines) - MOST_LINES
    lines = lines[:MOST_LINES] + ([f"{left} more: --json"] if left > 0 else [])
    named = {row[end] for row in rows for end in ("first", "second")}
    heading = f"Differences of {kind_of(named, several=True)}{IN_TIME * bool(in_time(named))} "
    heading += f"({rows[0]['method']})"
    return [Section(heading, lines, "differences", rows, detail=False, further=further)]


def _ranks(made: Sequence[Estimate | Fit], shared: Shared) -> list[Section]:
    """Ranks of three or more systems that were sampled."""
    fits = [one for one in made if isinstance(one, Fit) and one.data.dim == "system"]
    if not fits or with_value(fits[-1]).sum() < 3:
        return []
    table = bj.prevalence.ranking(fits[-1], ci_prob=shared.ci_prob)
    return [rank_section(table, name=pass_name_in(fits))]


def _designs(
    counts: Counts,
    model: ErrorRates | PredictiveValues,
    posterior: Estimate | None,
    shared: Shared,
) -> list[Section]:
    """What each label design assumes, and how wide its interval would be."""
    from bayesjudge.prevalence.compare import designs_of

    if counts.propensity is not None:
        return []
    lines = []
    declared = posterior if shared.interval in (None, "eti_bounded") else None
    for design, made in designs_of(counts, model, ci_prob=shared.ci_prob, declared=declared):
        found = made.quantities["overall_prevalence" if counts.dim == "stratum" else "prevalence"]
        widths = found.high - found.low
        known = widths[widths == widths]  # without nan
        mean = known.mean() if known.size else 0.0
        width = f"{mean:.3f} wide" if mean >= 0.0005 else "less than 0.001 wide"
        width = width if known.size else "unknown"
        width += ", but the data contradict it" * any(
            c.id in ("contradiction", "label-shift") for c in made.cautions
        )
        several = f" on average of {known.size}" if known.size > 1 else ""
        mark = " (declared)" if design.name == counts.design.name else ""
        lines.append(f"{design.name}{mark}: {design.meaning}; the interval is {width}{several}")
    heading = "What each label design assumes, and the interval if that holds"
    return [Section(heading, lines, "designs", lines)]


def _pictures(made: Sequence[Estimate | Fit], shared: Shared) -> dict[str, Axes]:
    """Pictures of the sampled fit, by caption; none without one."""
    fits = [one for one in made if isinstance(one, Fit)]
    if not fits:
        return {}
    fit, module = fits[-1], bj.prevalence
    caption = "From the judge's pass rate (circle) to the prevalence (dot)"
    drawn = {caption: module.plot_correction(fit, ci_prob=shared.ci_prob)}
    if fit.data.dim == "stratum":
        caption = "Strata, with their shares of the items, and all of them"
        drawn[caption] = module.plot_strata(fit, ci_prob=shared.ci_prob)
    elif fit.data.dim == "system" and with_value(fit).sum() > 1:
        caption = "Systems, the best first, with the probability of being the best"
        drawn[caption] = module.plot_systems(module.ranking(fit, ci_prob=shared.ci_prob))
    return drawn
