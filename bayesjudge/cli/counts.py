"""``bayesjudge prevalence`` of verdicts on independent rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import bayesjudge as bj
from bayesjudge.cli.classes import view_of_classes
from bayesjudge.cli.one_judge import OF_RATES, Asked, View, described, that_hold
from bayesjudge.cli.options import Shared
from bayesjudge.cli.source import Source
from bayesjudge.cli.systems import change_sections, difference_section, rank_sections
from bayesjudge.core.answer import difference_words, judge_passes
from bayesjudge.core.comparing import with_value
from bayesjudge.core.errors import InputError, Problem, checking, problem
from bayesjudge.core.estimate import Estimate, of_passes, pass_name_in
from bayesjudge.core.fit import Fit
from bayesjudge.core.words import words_for
from bayesjudge.prevalence.answer import differences
from bayesjudge.readers import read_table
from bayesjudge.render.page import Section
from bayesjudge.verdicts.groups import plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesjudge.prevalence import Counts, ErrorRates, PooledErrorRates, PredictiveValues

    PrevalenceModel = ErrorRates | PooledErrorRates | PredictiveValues

#: What the quantities mean, for a screen that shows them.
WORDS = words_for("of_counts")
#: With these, what rows without a verdict are has to be said: they are no third verdict.
PASS_AND_FAIL_ONLY = ("by", "stratum", "propensity", "external_labels", "pooling", *OF_RATES)
#: Caption of the picture of strata.
STRATA = "Strata, with their shares of the items, and all of them"


def view_of_counts(asked: Asked, source: Source, shared: Shared) -> View:
    """Read the verdicts, with the model of the label design."""
    columns = asked.needs(source)
    external = {}
    if asked.external_labels is not None:
        external = {"external_labels": read_table(asked.external_labels, columns)}
    try:
        with source.counted(columns, quiet=shared.quiet) as read:
            counts = bj.prevalence.Counts.from_frame(read, **asked.reading, **external)
    except InputError as error:
        plain = not asked.given(*PASS_AND_FAIL_ONLY) and shared.interval != "eti_bounded"
        random = bj.prevalence.DESIGNS[str(asked.calibration)].is_sample
        if error.has("no-verdict") and plain and random:
            return view_of_classes(replace(asked, unparsed="verdict"), source, shared)
        if error.has("unread-numbers"):
            error.problems.append(problem("perhaps-scores"))
        elif _may_be_classes(error.problems):
            error.problems.append(problem("perhaps-classes"))
        raise
    model = _model(counts, asked)
    shared.check_sampled(*(["--pooling full"] if asked.pooling == "full" else []))
    return view(counts, model, shared, asked)


def view(counts: Counts, model: PrevalenceModel, shared: Shared, asked: Asked) -> View:
    """What is shown of counts: what ``prevalence`` and ``demo`` share."""
    module, separate = bj.prevalence, _separate(model)
    how: dict[str, Any] = {"ci_prob": shared.ci_prob, "target": asked.target}
    posterior = None
    if counts.propensity is None:
        kind = shared.interval or "eti_bounded"
        posterior = module.exact(counts, separate, interval=kind, **how)
    at_once = posterior is not None and not model._pools
    pooled = isinstance(model, module.PooledErrorRates) and asked.target == "population"
    if posterior is not None and pooled:
        posterior = module.exact(counts, model, interval=kind, **how)
        at_once = not any(c.id == "no-quadrature" for c in posterior.cautions)

    def sections(results: Sequence[Estimate | Fit]) -> list[Section]:
        """What else is known of the process: designs differ in which items are asked about."""
        if asked.target == "items":
            return []
        names = counts.systems or () if counts.dim == "system" else ()
        each = {name: (counts.system(name), separate.of_system(name)) for name in names}
        designs = _designs(counts, separate, posterior, shared) if shared.in_full else []
        return [*change_sections(each, shared.ci_prob), *_differences(results, shared), *designs]

    return View(
        closed=that_hold(module.closed_forms(counts, mismatched=asked.all_methods, **how)),
        exact=posterior,
        sample=lambda: module.fit(counts, model, **shared.sampling),
        title=of_passes("Share of {good} outputs (prevalence)", counts.pass_name),
        answer="overall_prevalence" if counts.adds_up else "prevalence",
        inputs=_inputs(counts, model),
        waits=not at_once,
        words=WORDS,
        target=asked.target,
        every=asked.all_methods,
        more=sections,
        draw=lambda results: _pictures(results, posterior, shared),
    )


def _may_be_classes(problems: Sequence[Problem]) -> bool:
    """Whether more words are left than a pass and a fail, beside those that say nothing."""
    meant = [problem.value for problem in problems if problem.id == "labels-to-name"]
    kinds = ("pass_value", "fail_value")
    return sum(len(values.get(kind, ())) for values in meant for kind in kinds) > 2


def _model(counts: Counts, asked: Asked) -> PrevalenceModel:
    """The model of the label design, with the priors and the pooling that were asked for."""
    pooling = asked.pooling
    with checking("options") as require:
        pooled = counts.predictive and pooling in ("partial", "shares", "full")
        require(
            not pooled,
            f"--pooling {pooling}: labels by verdict tell predictive values, which do not carry "
            "over from one system to another; leave it out",
        )
        alone = counts.systems is None or counts.dim == "judge"
        several = not (alone and pooling in ("partial", "shares", "full"))
        require(several, f"--pooling {pooling} needs several systems (--by) or strata")
        rates = asked.priors.of(counts.predictive, require)
    if counts.predictive:
        return bj.prevalence.PredictiveValues(**rates)
    if (pooling or ("partial" if counts.adds_up else "separate")) in ("partial", "shares"):
        shares: Any = "partial" if pooling == "shares" else None
        return bj.prevalence.PooledErrorRates(**rates, shares=shares)
    return bj.prevalence.ErrorRates(**rates, pooling="full" if pooling == "full" else "separate")


def _separate(model: PrevalenceModel) -> ErrorRates | PredictiveValues:
    """The same priors, each system with rates of its own: what quadrature integrates."""
    if isinstance(model, bj.prevalence.PredictiveValues):
        return model
    names = ("prevalence", "sensitivity", "specificity", "better_than_chance")
    return bj.prevalence.ErrorRates(**{name: getattr(model, name) for name in names})


def _inputs(counts: Counts, model: PrevalenceModel) -> dict[str, Any]:
    def total(values: Any) -> int:
        return int(values if isinstance(values, int) else values.sum())

    external = None
    if counts.external_labels is not None:
        good, _, bad, _ = counts.external_labels.reshape(4, -1).sum(axis=1)
        external = f"{good} good and {bad} bad items, for the judge's rates only"
    labelled = total(counts.labelled_n)
    counted = {
        "items": total(counts.test_n) + labelled,
        "labelled": labelled,
        **_unlabelled(counts),
        "unparsed": total(counts.unparsed),
    }
    named = {plural(counts.kind): ", ".join(counts.systems)} if counts.systems else {}
    words = f"{type(model).__name__}: {model._joined(model.describe(), counts.pass_name)}"
    more = {"labels": counts.spelling, "external_labels": external, "model": words}
    return described(counts, counted, **named, **more)


def _unlabelled(counts: Counts) -> dict[str, str]:
    """How often the judge passes the items without a label, which Rogan-Gladen rests on."""
    of = counts.systems is None and counts.design.same_items and int(counts.test_n)
    if not of or not int(counts.labelled_n):
        return {}
    share = 100 * int(counts.test_pass) / of
    so = judge_passes(f"{share:.0f} %", counts.pass_name)
    return {"unlabelled": f"{of:,}, of which {so} (Rogan-Gladen's rate)"}


def _differences(results: Sequence[Estimate | Fit], shared: Shared) -> list[Section]:
    """By how much systems differ, and the ranks of three or more that were sampled."""
    rows = differences(*results, ci_prob=shared.ci_prob, interval=shared.interval)
    fits = [result for result in results if isinstance(result, Fit) and result.data.dim == "system"]
    in_words, level = partial(difference_words, name=pass_name_in(results)), shared.ci_prob
    return [
        *difference_section(rows, in_words, level=level),
        *rank_sections(fits[-1] if fits else None, level, name=pass_name_in(fits)),
    ]


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
    for design, estimate in designs_of(counts, model, ci_prob=shared.ci_prob, declared=declared):
        shares = estimate.quantities["overall_prevalence" if counts.adds_up else "prevalence"]
        widths = shares.high - shares.low
        known = widths[widths == widths]  # without nan
        if not known.size:  # bounds, or no label of a kind that the design rests on
            continue
        mean = known.mean()
        width = f"{mean:.3f} wide" if mean >= 0.0005 else "less than 0.001 wide"
        width += ", but the data contradict it" * any(
            c.id in ("contradiction", "label-shift") for c in estimate.cautions
        )
        several = f" on average of {known.size}" if known.size > 1 else ""
        mark = " (declared)" if design.name == counts.design.name else ""
        lines.append(f"{design.name}{mark}: {design.meaning}; the interval is {width}{several}")
    heading = "What each label design assumes, and the interval if that holds"
    return [Section(heading, lines, "designs", lines)] if lines else []


def _pictures(
    results: Sequence[Estimate | Fit], posterior: Estimate | None, shared: Shared
) -> dict[str, Axes]:
    """Pictures of the sampled fit, by caption; without one, of strata with a posterior."""
    fits, module = [result for result in results if isinstance(result, Fit)], bj.prevalence
    if not fits:
        if posterior is None or not posterior.data.adds_up:
            return {}
        known = np.isfinite(posterior["overall_prevalence"].value)
        return {STRATA: module.plot_strata(posterior)} if known else {}
    fit = fits[-1]
    caption = "From the judge's pass rate (circle) to the prevalence (dot)"
    drawn = {caption: module.plot_correction(fit, ci_prob=shared.ci_prob)}
    if fit.data.adds_up:
        drawn[STRATA] = module.plot_strata(fit, ci_prob=shared.ci_prob)
    elif fit.data.dim == "system" and with_value(fit).sum() > 1:
        caption = "Systems, the best first, with the probability of being the best"
        drawn[caption] = module.plot_systems(module.ranking(fit, ci_prob=shared.ci_prob))
    return drawn
