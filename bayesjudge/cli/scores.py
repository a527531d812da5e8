"""``bayesjudge prevalence --score``: a judge that gives numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

import bayesjudge as bj
from bayesjudge.cli.one_judge import OF_RATES, Asked, View, described, kind_of_interval
from bayesjudge.cli.options import Shared, needed
from bayesjudge.cli.output import Results
from bayesjudge.cli.scales import ENDS
from bayesjudge.cli.source import Source
from bayesjudge.cli.systems import difference_section, rank_sections
from bayesjudge.core.answer import Answer, disagreements, how_chosen
from bayesjudge.core.errors import InputError, checking
from bayesjudge.core.estimate import Estimate, of_passes
from bayesjudge.core.fit import Fit
from bayesjudge.core.grades import grade_of
from bayesjudge.core.methods import NUTS_SCORES
from bayesjudge.core.numbers import scale_of_threshold, scores_of
from bayesjudge.core.periods import kind_of
from bayesjudge.core.screen import how_many
from bayesjudge.render.page import Section

if TYPE_CHECKING:
    from bayesjudge.prevalence.scores import PairedScores, Scores

#: What takes the place of strata where a judge gives scores.
STRATA = (
    " is not for scores as they are: make them verdicts with --pass-from LOWEST, or name a column "
    "with the share of each row's stratum that was to be labelled: --calibration "
    "known_propensity --propensity COLUMN"
)


def view_of_scores(asked: Asked, source: Source, shared: Shared) -> View:
    """Read scores, of one system or of several."""
    scores, paired = _read(asked, source, shared)
    if asked.by is None:
        return _of_one(scores[""], shared)
    return _of_systems(scores, paired, shared)


def as_verdicts(
    asked: Asked, pass_from: float, source: Source, shared: Shared
) -> tuple[Asked, Source]:
    """The same rows with a verdict in place of each score, and of each label that is a number."""
    from bayesjudge.prevalence.scores.data import require_threshold

    plain = replace(asked, by=None, item=None, truth=(asked.truth or [])[:1], adjudicated=None)
    scores = _read(plain, source, shared)[0][""]
    require_threshold(scores, pass_from)
    (score,), missing = asked.judged, asked.meanings.missing_value
    passes, fails = asked.meanings.pass_value or (), asked.meanings.fail_value or ()
    passed = next(iter(passes), "1" if "1" not in fails else "0")
    failed = next(iter(fails), "0" if passed != "0" else "1")
    labels = asked.columns("truth", "adjudicated")
    cuts = {score: pass_from}
    if asked.truth_from is not None:
        cuts |= dict.fromkeys(labels, asked.truth_from)

    def with_verdicts(table: Any) -> Any:
        import narwhals as nw

        frame = nw.from_native(table)
        for name, cut in cuts.items():
            scale = scores.scale if name == score else scale_of_threshold(cut)
            if isinstance(frame, nw.LazyFrame):
                high, low = _above_and_below(frame, name, cut, scale, missing)
                said = nw.coalesce(
                    nw.when(high).then(nw.lit(passed)), nw.when(low).then(nw.lit(failed))
                )
                frame = frame.with_columns(said.alias(name))
                continue
            values = _scores(frame[name].to_list(), name, scale, missing).tolist()
            cells = [None if x != x else passed if x >= cut else failed for x in values]
            column = nw.new_series(name, cells, nw.String, backend=frame.implementation)
            frame = frame.with_columns(column)
        return frame.to_native()

    changed = replace(asked, verdict=[score], score=None)
    return changed, replace(source, changed=with_verdicts)


def _scores(cells: Sequence[Any], name: str, scale: Any, missing: Any) -> np.ndarray:
    import pandas as pd

    return scores_of(pd.Series(cells, name=name, dtype=object), missing, scale=scale)


def _above_and_below(
    frame: Any, name: str, cut: float, scale: Any, missing: Any
) -> tuple[Any, Any]:
    """Where an engine's cells are from a threshold on, and where below: of grades by each value."""
    import narwhals as nw

    number, first = nw.col(name).cast(nw.Float64), frame.select(name).drop_nulls().head(1).collect()
    if not any(grade_of(str(cell)) for cell in first[name].to_list()):
        return ~number.is_nan() & (number >= cut), number < cut
    cells = frame.select(name).unique().drop_nulls().collect()[name].to_list()
    values = dict(zip(cells, _scores(cells, name, scale, missing).tolist(), strict=True))
    sides = [c for c in cells if values[c] >= cut], [c for c in cells if values[c] < cut]
    above, below = (nw.col(name).is_in(side) for side in sides)
    return above, below


def _read(
    asked: Asked, source: Source, shared: Shared
) -> tuple[dict[str, Scores], PairedScores | None]:
    """Scores by system, or under no name.

    If items are named, also the differences of systems on the items that they share.
    """
    made_verdicts = asked.pass_from is not None
    unused = ["verdict", "swapped", "classes", "external_labels", "rater", "prior_people"]
    unused += [] if made_verdicts else ["repeats", "pooling", *OF_RATES]
    numbers = asked.truth_scale is not None or asked.truth_from is not None
    unused += ["pass_value", "fail_value"] if numbers else []
    strata = f"--stratum {asked.stratum}{STRATA}"
    if asked.stratum is not None and not made_verdicts:
        raise InputError("options", [strata])
    with checking("options") as require:
        asked.refuse(require, "not for scores; take a part of the table first", *unused)
        require(len(asked.score or ()) == 1, f"--score: name one column, {asked.score}")
        dropped = asked.unparsed in (None, "drop")
        require(dropped, "--unparsed: rows without a score can be dropped")
    with checking("options") as require:
        words = f"--scale is needed with --score: {ENDS}, or log_odds"
        require(asked.scale is not None, needed("--scale", words))
        ends, truths = asked.scales(require)
        try:
            cuts = None if asked.edges is None else tuple(map(float, asked.edges.split(":")))
        except ValueError:
            cuts = None
            words = "write numbers with colons between, such as 2.5:3.5"
            require(False, f"--edges {asked.edges}: {words}")
    values = ("calibration", "truth_from", *vars(asked.meanings))
    how = asked.values("truth", "adjudicated", "item", *values)
    how |= {"score": asked.judged[0], "scale": ends or (0.0, 1.0), "truth_scale": truths}
    alone = {**asked.values("propensity"), "unscored": asked.unparsed, "edges": cuts}
    module, by = bj.prevalence.scores, asked.by
    columns = asked.columns("score", "truth", "adjudicated", "propensity", "item", "by")
    with source.counted(columns, quiet=shared.quiet) as table:
        if by is None:
            return {"": module.Scores.from_frame(table, **how, **alone)}, None
        systems = module.read_systems(table, by=by, **how, **alone)
        if asked.item is None or len(systems) < 2:
            return systems, None
        return systems, module.PairedScores.from_frame(table, by=by, **how)


def _of_one(scores: Scores, shared: Shared) -> View:
    from bayesjudge.prevalence.scores.answer import knows_bias

    module, level = bj.prevalence.scores, shared.ci_prob
    kind_of_interval(shared, "scores")
    bias = [module.judge_bias(scores, ci_prob=level)] if knows_bias(scores) else []

    def draw(results: Results) -> dict[str, Any]:
        if not any(isinstance(result, Fit) for result in results):
            return {}
        return {
            "What people say by the judge's score": module.plot_reliability(scores),
            "Human labels less the judge's scores": module.plot_residuals(scores),
        }

    return View(
        closed=[*module.closed_forms(scores, ci_prob=level), *bias],
        sample=lambda: module.fit(scores, **shared.sampling),
        inputs=_inputs(scores),
        draw=draw,
        **_named(scores),
    )


def _of_systems(scores: dict[str, Scores], paired: PairedScores | None, shared: Shared) -> View:
    """The mean truth of each system, and their differences.

    Systems that share no item, or of which nothing else is known, are independent samples, and are
    sampled one by one; there is no model of those that share items.
    """
    from bayesjudge.prevalence.scores.answer import difference_of_scores

    module, first, level = bj.prevalence.scores, next(iter(scores.values())), shared.ci_prob
    apart = paired is None or not any(paired.shared.values())
    with checking("options") as require:
        require(shared.save is None, "--save keeps the fit of one system; give its rows alone")
        words = "systems that share items have closed forms only, without a model: leave "
        require(apart or shared.interval is None, f"{words}--interval {shared.interval} out")
    kind_of_interval(shared, "scores")
    about = [_inputs(each) for each in scores.values()]
    del about[0]["bins of the score"]  # each system has its own
    summed = {name: sum(row[name] for row in about) for name in ("items", "labelled", "unscored")}
    noun = "item" if paired is None else "output"
    basis = f"{how_many(summed['items'], noun)}, {summed['labelled']:,} of them labelled "
    basis += f"({how_chosen(first.design)}); "
    compared = _compared(scores, None if apart else paired, shared)
    refused = "" if paired is None or (compared and not apart) else f": {paired.refusal}"
    unasked = paired is None and len(scores) > 1
    hint = ("If systems answered the same items, --item COLUMN compares them item by item.",)
    fits: dict[str, Fit] = {}

    def retold(answer: Answer, results: Results) -> Answer:
        drawn = fits if any(result.method.computed == "sampled" for result in results) else {}
        rows = _rows_of(compared, drawn, first, shared)
        notes = (*disagreements(rows, difference_of_scores), *answer.notes, *hint * unasked)
        basis_of = f"{basis}{answer.basis.removesuffix('.')}{refused}."
        return replace(answer, basis=basis_of, notes=notes)

    def sampled() -> Estimate:
        fits.update({name: module.fit(s, **shared.sampling) for name, s in scores.items()})
        (estimate,) = module.by_system(fits, ci_prob=level, interval=shared.interval)
        return estimate

    def sections(_: Results) -> list[Section]:
        """By how much systems differ, and their ranks if they were sampled."""
        rows = _rows_of(compared, fits, first, shared)
        named = dict.fromkeys(row[end] for row in rows for end in ("first", "second"))
        systems = [*dict.fromkeys([*(fits if len(fits) > 1 else ()), *named])]
        where = " on the items that they share" * (bool(compared) and not apart)
        method = f" ({NUTS_SCORES.title})"
        return [
            *difference_section(rows, difference_of_scores, systems, where),
            *rank_sections(fits if rows else None, level, method, first.pass_name),
        ]

    systems = {kind_of(scores, several=True): ", ".join(scores)}
    return View(
        closed=[*module.by_system(scores, ci_prob=level), *compared],
        sample=sampled if apart else None,
        inputs={**about[0], **summed, **systems},
        retold=retold,
        more=sections,
        **_named(first),
    )


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


def _rows_of(
    compared: Sequence[Estimate], fits: Mapping[str, Fit], first: Scores, shared: Shared
) -> list[dict[str, Any]]:
    """Differences of every two systems, those of the formula first, then those of the draws."""
    from bayesjudge.prevalence.scores.unpaired import differences

    rows = [row for estimate in compared for row in differences(estimate)]
    if len(fits) > 1:
        scale = {"scale": first.truth_scale, "method": NUTS_SCORES.title}
        scale |= {"pass_name": first.pass_name} if first.pass_name else {}
        drawn = bj.prevalence.scores.contrasts(fits, ci_prob=shared.ci_prob).to_dict("records")
        rows += [{**row, **scale} for row in drawn]
    return rows


def _named(scores: Scores) -> dict[str, Any]:
    """What the numbers are: of scores, on which scale."""
    share = of_passes("Share of {good} outputs (prevalence)", scores.pass_name)
    ends = scores.truth_scale
    return {
        "title": "Mean human score" if scores.numeric else share,
        "answer": scores.answer,
        "heading": "" if ends is None else "mean score, {:g} to {:g}".format(*ends),
    }


def _inputs(scores: Scores) -> dict[str, Any]:
    counted = {"items": int(scores.n.sum()), "labelled": int(scores.n[scores.known].sum())}
    counted |= {"unscored": scores.unscored, **({"rows": scores.rows} if scores.rows else {})}
    bins = ", ".join(scores.bins)
    return described(scores, counted, bins_of_the_score=bins, labels=scores.spelling)
