"""``bayesjudge prevalence --score``: a judge that gives numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import bayesjudge as bj
from bayesjudge.cli.output import Shared, Story, present
from bayesjudge.cli.source import Source
from bayesjudge.core.answer import Answer
from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Estimate
from bayesjudge.core.fit import Fit
from bayesjudge.core.screen import how_many
from bayesjudge.prevalence.answer import CHOSEN

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
    by: str | None,
    quiet: bool = False,
    **more: Any,
) -> dict[str, Scores]:
    """Read a judge's numeric scores by system, or under no name; `more` goes to `from_frame`."""
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
            return {"": module.Scores.from_frame(table, **how)}
        return module.read_systems(table, by=by, **how)


def answer_systems(scores: dict[str, Scores], shared: Shared, source: Source) -> None:
    """Estimate the mean truth of each system, without a model, and present."""
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
    basis = f"{how_many(summed['items'], 'item')}, {summed['labelled']:,} of them labelled "
    basis += f"({chosen}); "

    def told(made: Sequence[Estimate | Fit]) -> Answer:
        found = module.answer(*made, ci_prob=shared.ci_prob)
        return replace(found, basis=f"{basis}{found.basis}")

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
    )


def _title(scores: Scores) -> str:
    return "Mean human score" if scores.numeric else "Share of good outputs (prevalence)"


def _heading(scores: Scores) -> str:
    """What the numbers of the table are: of scores, on which scale."""
    if scores.truth_scale is None:
        return ""
    return "mean score, {:g} to {:g}".format(*scores.truth_scale)


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
