"""``bayesjudge prevalence --score``: a judge that gives numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bayesjudge as bj
from bayesjudge.cli.output import Shared, Story, present
from bayesjudge.cli.source import Source
from bayesjudge.core.errors import checking
from bayesjudge.core.fit import Fit

if TYPE_CHECKING:
    from bayesjudge.prevalence.scores import Scores

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
    quiet: bool = False,
    **more: Any,
) -> Scores:
    """Read the table of a judge's numeric scores; `more` are arguments of `from_frame`."""
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
    with source.counted(columns, quiet=quiet) as table:
        return bj.prevalence.scores.Scores.from_frame(
            table,
            calibration=calibration,
            score=score,
            truth=truth,
            scale=ends or (0.0, 1.0),
            truth_scale=truths,
            edges=cuts,
            **given,
        )


def answer_scores(scores: Scores, shared: Shared, source: Source) -> None:
    """Estimate the mean truth, and present."""
    module = bj.prevalence.scores
    with checking("options") as require:
        right = shared.interval != "eti_bounded"
        require(right, "--interval eti_bounded is not for scores: take eti or hdi")
    present(
        module.closed_forms(scores, ci_prob=shared.ci_prob),
        lambda: module.fit(scores, **shared.sampling),
        shared,
        Story(
            command="prevalence",
            title="Mean human score" if scores.numeric else "Share of good outputs (prevalence)",
            answer=scores.answer,
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
