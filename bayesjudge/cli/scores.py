"""``bayesjudge prevalence --score``: a judge that gives numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

import bayesjudge as bj
from bayesjudge.cli.output import Section, Shared, Story, present
from bayesjudge.cli.source import Source
from bayesjudge.core.answer import Answer
from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Estimate, of_passes
from bayesjudge.core.fit import Fit
from bayesjudge.core.screen import how_many
from bayesjudge.prevalence.answer import CHOSEN

if TYPE_CHECKING:
    from bayesjudge.prevalence import Counts
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
        require(scale is not None, words)
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


def strata_of(counts: dict[str, Counts]) -> Counts:
    """Counts of verdicts of each stratum, as those of one table."""
    parts = list(counts.values())

    def joined(name: str) -> np.ndarray:
        return np.concatenate([np.atleast_1d(getattr(one, name)) for one in parts])

    return replace(
        parts[0],
        test_n=joined("test_n"),
        test_pass=joined("test_pass"),
        correct_n=joined("correct_n"),
        correct_pass=joined("correct_pass"),
        incorrect_n=joined("incorrect_n"),
        incorrect_fail=joined("incorrect_fail"),
        systems=tuple(counts),
        dim="stratum",
    )


def answer_systems(
    scores: dict[str, Scores], paired: PairedScores | None, shared: Shared, source: Source
) -> None:
    """Estimate the mean truth of each system and the paired differences, and present."""
    module, first = bj.prevalence.scores, next(iter(scores.values()))
    with checking("options") as require:
        given = {"--interval": shared.interval is not None, "--save": shared.save is not None}
        unused = [name for name, is_given in given.items() if is_given]
        words = "several systems have closed forms only, without a model; take one system's rows"
        require(not unused, f"{unused}: {words}")
    about = [_inputs(one, source) for one in scores.values()]
    del about[0]["bins of the score"]  # each system has its own
    summed = {name: sum(one[name] for one in about) for name in ("items", "labelled", "unscored")}
    systems = {"systems": ", ".join(scores)}
    chosen = CHOSEN.get(first.design.name, first.design.meaning)
    noun = "item" if paired is None else "output"
    basis = f"{how_many(summed['items'], noun)}, {summed['labelled']:,} of them labelled "
    basis += f"({chosen}); "
    compared = []
    if paired is not None and paired.differences:
        compared = [module.paired_difference(paired, ci_prob=shared.ci_prob)]
    refused = "" if paired is None or compared else f": {paired.refusal}"
    hint = ("--item COLUMN compares them on the items that they share.",)

    def told(made: Sequence[Estimate | Fit]) -> Answer:
        found = module.answer(*made, *compared, ci_prob=shared.ci_prob)
        basis_of = f"{basis}{found.basis.removesuffix('.')}{refused}."
        unasked = paired is None and len(scores) > 1
        return replace(found, basis=basis_of, notes=found.notes + hint * unasked)

    present(
        module.by_system(scores, ci_prob=shared.ci_prob),
        None,
        shared,
        Story(
            command="prevalence",
            title=_title(first),
            answer=first.answer,
            heading=_heading(first),
            inputs={**about[0], **summed, **systems},
            tell=told,
            waits=False,
            brief=lambda method: method.split(",")[0],
        ),
        more=lambda _: _differences(compared, list(scores)),
    )


def _differences(compared: Sequence[Estimate], systems: Sequence[str]) -> list[Section]:
    """By how much systems differ on the items that they share."""
    from bayesjudge.cli.prevalence_items import difference_section
    from bayesjudge.prevalence.scores.answer import difference_of_scores
    from bayesjudge.prevalence.scores.paired import differences

    rows = [row for one in compared for row in differences(one)]
    if not rows:
        return []
    heading = "Differences of systems on the items that they share"
    return [difference_section(rows, systems, heading, difference_of_scores)]


def _title(scores: Scores) -> str:
    share = of_passes("Share of good outputs (prevalence)", scores.pass_name)
    return "Mean human score" if scores.numeric else share


def _heading(scores: Scores) -> str:
    """What the numbers of the table are: of scores, on which scale."""
    if scores.truth_scale is None:
        return ""
    return "mean score, {:g} to {:g}".format(*scores.truth_scale)


def answer_scores(scores: Scores, shared: Shared, source: Source) -> None:
    """Estimate the mean truth, and present."""
    from bayesjudge.prevalence.scores.answer import knows_bias

    module = bj.prevalence.scores
    with checking("options") as require:
        right = shared.interval != "eti_bounded"
        require(right, "--interval eti_bounded is not for scores: take eti or hdi")
    bias = [module.judge_bias(scores, ci_prob=shared.ci_prob)] if knows_bias(scores) else []
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
            tell=lambda made: module.answer(
                *made, ci_prob=shared.ci_prob, interval=shared.interval
            ),
            waits=False,
            brief=lambda method: method.split(",")[0],
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
    """Read ``1:5``."""
    if text is None or (text == "log_odds" and option == "--scale"):
        return text
    low, _, high = text.partition(":")
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
        "calibration": f"{scores.design.name}: {scores.design.meaning}",
        "bins of the score": ", ".join(scores.bins),
        **({"labels": scores.spelling} if scores.spelling else {}),
    }
