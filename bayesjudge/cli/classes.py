"""``bayesjudge prevalence --classes``: more than pass and fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bayesjudge as bj
from bayesjudge.cli.options import Shared, are
from bayesjudge.cli.output import Story, present
from bayesjudge.cli.source import Source
from bayesjudge.core.errors import checking

if TYPE_CHECKING:
    from bayesjudge.prevalence.classes import ClassCounts


def answer_classes(
    source: Source,
    shared: Shared,
    *,
    verdict: str,
    truth: str,
    calibration: str,
    classes: list[str] | None,
    swapped: str | None,
    pooling: str | None,
    **more: Any,
) -> None:
    """Estimate the share of each class, or of pairs in both orders the win rate, and present."""
    module = bj.prevalence.classes
    names: dict[str, Any] = {"verdict": verdict, "truth": truth, "calibration": calibration}
    given: dict[str, Any] = {name: value for name, value in more.items() if value}
    if swapped is None:
        columns = [given[c] for c in ("by", "stratum", "propensity", "item") if c in given]
        with checking("options") as require:
            words = "--unparsed fail: classes have no fail; take verdict or drop"
            require(given.get("unparsed") != "fail", words)
        rows = source.table([verdict, truth, *columns])
        counts = module.ClassCounts.from_frame(rows, classes=classes, **names, **given)
    else:
        with checking("options") as require:
            options = [f"--{name.replace('_', '-')}" for name in given if name != "unparsed"]
            options += ["--pooling"] if pooling else []
            require(not options, f"{are(options)} not for pairs in both orders")
            dropped = given.get("unparsed") in (None, "drop")
            require(dropped, "--unparsed: of pairs in both orders, drop is possible only")
        rows = source.table([verdict, swapped, truth])
        spelled = classes or ["win", "tie", "loss"]
        counts = module.ClassCounts.from_pairs(
            rows, swapped=swapped, classes=spelled, **names, **given
        )
    model = _model(counts, pooling)
    paired = counts.credit is not None
    answer = "overall_prevalence" if counts.dim == "stratum" else "prevalence"
    present(
        [
            *module.closed_forms(counts, ci_prob=shared.ci_prob),
            module.exact(counts, model, ci_prob=shared.ci_prob, interval=_kind(shared)),
        ],
        lambda: module.fit(counts, model, **shared.sampling),
        shared,
        Story(
            command="prevalence",
            title="Win rate: wins, and half the ties" if paired else "Share of each class",
            answer="win_rate" if paired else answer,
            inputs=_inputs(counts, source),
            tell=lambda made: module.answer(
                *made, ci_prob=shared.ci_prob, interval=shared.interval
            ),
            waits=False,
            heading="win rate" if paired else "share of outputs",
        ),
    )


def _model(counts: ClassCounts, pooling: str | None) -> Any:
    """The model of the label design; with full pooling one judge treats all systems alike."""
    module = bj.prevalence.classes
    predictive = counts.design.identifies == {"predictive_values"} or counts.propensity is not None
    with checking("options") as require:
        require(pooling != "partial", "--pooling partial is not for classes: separate or full")
        several = pooling != "full" or (counts.systems is not None and not predictive)
        words = (
            "confusions of several systems (--by) or strata, which labels by verdict do not tell"
        )
        require(several, f"--pooling full needs {words}")
    return module.Confusions(pooling="full") if pooling == "full" else None


def _kind(shared: Shared) -> Any:
    """Shares of classes have no boundary-extended interval."""
    with checking("options") as require:
        right = shared.interval != "eti_bounded"
        require(right, "--interval eti_bounded is not for classes: take eti or hdi")
    return shared.interval or "eti"


def _inputs(counts: ClassCounts, source: Source) -> dict[str, Any]:
    labelled = int(counts.labelled.sum())
    about: dict[str, Any] = {
        **source.inputs,
        "items": int(counts.test.sum()) + labelled,
        "labelled": labelled,
        "calibration": f"{counts.design.name}: {counts.design.meaning}",
        "classes": ", ".join(counts.classes),
    }
    if counts.spelling:
        about["labels"] = counts.spelling
    if counts.systems is not None:
        about["systems" if counts.dim == "system" else "strata"] = ", ".join(counts.systems)
    if counts.leanings is not None:
        first, second = counts.leanings
        about["orders"] = f"better when shown first: {first}, when shown second: {second}"
    return about
