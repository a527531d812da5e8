"""``bayesjudge prevalence --score``: a judge that gives numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

import bayesjudge as bj
from bayesjudge.cli.options import Shared, needed
from bayesjudge.cli.output import Story, present
from bayesjudge.cli.source import Source
from bayesjudge.core.answer import Answer, how_chosen, otherwise
from bayesjudge.core.errors import InputError, checking
from bayesjudge.core.estimate import Estimate, of_passes
from bayesjudge.core.fit import Fit
from bayesjudge.core.methods import NUTS_SCORES
from bayesjudge.core.periods import kind_of
from bayesjudge.core.screen import how_many
from bayesjudge.render.page import Section

if TYPE_CHECKING:
    from bayesjudge.prevalence.scores import PairedScores, Scores

SCALES = "the lowest and the highest, such as 0:1, 1:5 or 0:100"


def read_scores(
    source: Source,
    *,
    score: str,
    truth: str,
    calibration: str,
    scale: str | None,
    truth_scale: str | None,
    edges: str | None,
    by: str | None,
    quiet: bool = False,
    **more: Any,
) -> tuple[dict[str, Scores], PairedScores | None]:
    """Read a judge's numeric scores by system, or under no name; `more` goes to `from_frame`.

    If items are named, also the differences of systems on the items that they share.
    """
    given = {name: value for name, value in more.items() if value is not None}
    with checking("options") as require:
        words = f"--scale is needed with --score: {SCALES}, or log_odds"
        require(scale is not None, needed("--scale", words))
        ends = _pair("--scale", scale, require)
        truths = _pair("--truth-scale", truth_scale, require)
        try:
            cuts = None if edges is None else tuple(map(float, edges.split(":")))
        except ValueError:
            cuts = None
            require(False, f"--edges {edges}: write numbers with colons between, such as 2.5:3.5")
    columns = [score, truth, *(given[c] for c in ("propensity", "item") if c in given)]
    columns += [] if by is None else [by]
    how: dict[str, Any] = {"calibration": calibration, "score": score, "truth": truth, **given}
    how |= {"scale": ends or (0.0, 1.0), "truth_scale": truths, "edges": cuts}
    module = bj.prevalence.scores
    with source.counted(columns, quiet=quiet) as table:
        if by is None:
            return {"": module.Scores.from_frame(table, **how)}, None
        systems = module.read_systems(table, by=by, **how)
        if "item" not in how or len(systems) < 2:
            return systems, None
        alone = ("propensity", "unscored", "edges")
        own = {name: value for name, value in how.items() if name not in alone}
        return systems, module.PairedScores.from_frame(table, by=by, **own)


def as_verdicts(
    source: Source,
    *,
    score: str,
    truth: str,
    pass_from: float,
    truth_from: float | None,
    pass_value: Sequence[str] | None,
    fail_value: Sequence[str] | None,
    missing_value: Sequence[str] | None,
) -> Source:
    """The same rows with a verdict in place of each score, and of each label that is a number."""
    passed = next(iter(pass_value or ()), "1" if "1" not in (fail_value or ()) else "0")
    failed = next(iter(fail_value or ()), "0" if passed != "0" else "1")
    cuts = {score: pass_from} | ({} if truth_from is None else {truth: truth_from})

    def with_verdicts(table: Any) -> Any:
        import narwhals as nw
        import pandas as pd

        from bayesjudge.core.numbers import numbers_of

        frame = nw.from_native(table)
        for name, cut in cuts.items():
            if isinstance(frame, nw.LazyFrame):
                number = nw.col(name).cast(nw.Float64)
                high = nw.when(~number.is_nan() & (number >= cut)).then(nw.lit(passed))
                low = nw.when(number < cut).then(nw.lit(failed))
                frame = frame.with_columns(nw.coalesce(high, low).alias(name))
                continue
            told = pd.Series(frame[name].to_list(), name=name, dtype=object)
            cells = [
                None if np.isnan(value) else passed if value >= cut else failed
                for value in numbers_of(told, missing_value)
            ]
            made = nw.new_series(name, cells, nw.String, backend=frame.implementation)
            frame = frame.with_columns(made)
        return frame.to_native()

    return replace(source, changed=with_verdicts)


def answer_systems(
    scores: dict[str, Scores], paired: PairedScores | None, shared: Shared, source: Source
) -> None:
    """Estimate the mean truth of each system and their differences, and present.

    Systems that share no item, or of which nothing else is known, are independent samples, and are
    sampled one by one; there is no model of those that share items.
    """
    from bayesjudge.prevalence.scores.answer import difference_of_scores

    module, first = bj.prevalence.scores, next(iter(scores.values()))
    apart = paired is None or not any(paired.shared.values())
    _check_options(shared, apart)
    about = [_inputs(one, source) for one in scores.values()]
    del about[0]["bins of the score"]  # each system has its own
    summed = {name: sum(one[name] for one in about) for name in ("items", "labelled", "unscored")}
    systems = {kind_of(scores, several=True): ", ".join(scores)}
    chosen = how_chosen(first.design)
    noun = "item" if paired is None else "output"
    basis = f"{how_many(summed['items'], noun)}, {summed['labelled']:,} of them labelled "
    basis += f"({chosen}); "
    compared = _compared(scores, None if apart else paired, shared)
    refused = "" if paired is None or (compared and not apart) else f": {paired.refusal}"
    hint = ("If systems answered the same items, --item COLUMN compares them item by item.",)
    fits: dict[str, Fit] = {}

    def told(made: Sequence[Estimate | Fit]) -> Answer:
        found = module.answer(*made, *compared, ci_prob=shared.ci_prob)
        drawn = fits if any(one.method.computed == "sampled" for one in made) else {}
        rows = _rows_of(compared, drawn, first, shared)
        found = replace(found, notes=(*otherwise(rows, difference_of_scores), *found.notes))
        basis_of = f"{basis}{found.basis.removesuffix('.')}{refused}."
        unasked = paired is None and len(scores) > 1
        return replace(found, basis=basis_of, notes=found.notes + hint * unasked)

    def sampled() -> Estimate:
        fits.update({name: module.fit(one, **shared.sampling) for name, one in scores.items()})
        (made,) = module.by_system(fits, ci_prob=shared.ci_prob, interval=shared.interval)
        return made

    present(
        module.by_system(scores, ci_prob=shared.ci_prob),
        sampled if apart else None,
        shared,
        Story(
            command="prevalence",
            title=_title(first),
            answer=first.answer,
            heading=_heading(first),
            inputs={**about[0], **summed, **systems},
            tell=told,
            waits=False,
        ),
        more=lambda _: _of_systems(compared, fits, first, shared),
    )


def _check_options(shared: Shared, apart: bool) -> None:
    """Refuse what is of one system."""
    with checking("options") as require:
        words = "--save keeps the fit of one system: take one system's rows"
        require(shared.save is None, words)
        words = "systems that share items have closed forms only, without a model: leave "
        require(apart or shared.interval is None, f"{words}--interval {shared.interval} out")
        _refuse_bounded(shared, require)


def _refuse_bounded(shared: Shared, require: Any) -> None:
    right = shared.interval != "eti_bounded"
    require(right, "--interval eti_bounded is not for scores: take eti or hdi")


def _compared(
    scores: dict[str, Scores], paired: PairedScores | None, shared: Shared
) -> list[Estimate]:
    """Differences on shared items, or of independent samples; none if the labels tell none."""
    module = bj.prevalence.scores
    if paired is not None:
        few = not paired.differences
        return [] if few else [bj.prevalence.paired_difference(paired, ci_prob=shared.ci_prob)]
    try:
        return [module.unpaired_difference(scores, ci_prob=shared.ci_prob)]
    except InputError:  # fewer than two systems have an interval
        return []


def _of_systems(
    compared: Sequence[Estimate], fits: Mapping[str, Fit], first: Scores, shared: Shared
) -> list[Section]:
    """By how much systems differ, and their ranks if they were sampled."""
    from bayesjudge.cli.systems import difference_section, rank_section
    from bayesjudge.prevalence.scores.answer import difference_of_scores
    from bayesjudge.prevalence.scores.paired import PairedScores

    module = bj.prevalence.scores
    rows = _rows_of(compared, fits, first, shared)
    shares = any(isinstance(one.data, PairedScores) for one in compared)
    systems = list(fits) if len(fits) > 1 else []
    systems += [row[end] for row in rows for end in ("first", "second")]
    systems = list(dict.fromkeys(systems))
    if not rows:
        return []
    heading = f"Differences of {kind_of(systems, several=True)}"
    heading += " on the items that they share" * shares
    made = [difference_section(rows, systems, heading, difference_of_scores)]
    if len(fits) > 2:
        table, title = module.ranking(fits, ci_prob=shared.ci_prob), NUTS_SCORES.title
        made.append(rank_section(table, f" ({title})", first.pass_name))
    return made


def _rows_of(
    compared: Sequence[Estimate], fits: Mapping[str, Fit], first: Scores, shared: Shared
) -> list[dict[str, Any]]:
    """Differences of every two systems, those of the formula first, then those of the draws."""
    from bayesjudge.prevalence.scores.unpaired import differences

    rows = [row for one in compared for row in differences(one)]
    if len(fits) > 1:
        scale = {"scale": first.truth_scale, "method": NUTS_SCORES.title}
        scale |= {"pass_name": first.pass_name} if first.pass_name else {}
        drawn = bj.prevalence.scores.contrasts(fits, ci_prob=shared.ci_prob).to_dict("records")
        rows += [{**row, **scale} for row in drawn]
    return rows


def _title(scores: Scores) -> str:
    share = of_passes("Share of good outputs (prevalence)", scores.pass_name)
    return "Mean human score" if scores.numeric else share


def _heading(scores: Scores) -> str:
    """What the numbers of the table are: of scores, on which scale."""
    if scores.truth_scale is None:
        return ""
    return "mean score, {:g} to {:g}".format(*scores.truth_scale)


def answer_scores(scores: Scores, shared: Shared, source: Source, note: str = "") -> None:
    """Estimate the mean truth, and present."""
    from bayesjudge.prevalence.scores.answer import knows_bias

    module = bj.prevalence.scores
    with checking("options") as require:
        _refuse_bounded(shared, require)
    bias = [module.judge_bias(scores, ci_prob=shared.ci_prob)] if knows_bias(scores) else []

    def told(made: Sequence[Estimate | Fit]) -> Answer:
        found = module.answer(*made, ci_prob=shared.ci_prob, interval=shared.interval)
        return replace(found, notes=(*found.notes, note)) if note else found

    present(
        [*module.closed_forms(scores, ci_prob=shared.ci_prob), *bias],
        lambda: module.fit(scores, **shared.sampling),
        shared,
        Story(
            command="prevalence",
            title=_title(scores),
            answer=scores.answer,
            heading=_heading(scores),
            inputs=_inputs(scores, source),
            tell=told,
            waits=False,
        ),
        draw=lambda made: (
            {
                "What people say by the judge's score": module.plot_reliability(scores),
                "Human labels less the judge's scores": module.plot_residuals(scores),
            }
            if any(isinstance(one, Fit) for one in made)
            else {}
        ),
    )


def _pair(option: str, text: str | None, require: Any) -> Any:
    """Read ``1:5``; or ``1-5`` and ``1,5``, as other commands have it."""
    if text is None or (text == "log_odds" and option == "--scale"):
        return text
    low, _, high = re.sub(r"(?<=[\d.])\s*[-,]", ":", text, count=1).partition(":")
    try:
        return float(low), float(high)
    except ValueError:
        require(False, f"{option} {text}: write {SCALES}")
        return None


def _inputs(scores: Scores, source: Source) -> dict[str, Any]:
    return {
        **source.inputs,
        "items": int(scores.n.sum()),
        "labelled": int(scores.n[scores.known].sum()),
        "unscored": scores.unscored,
        **({"rows": scores.rows} if scores.rows else {}),
        "calibration": f"{scores.design.name}: {scores.design.meaning}",
        "bins of the score": ", ".join(scores.bins),
        **({"labels": scores.spelling} if scores.spelling else {}),
    }
