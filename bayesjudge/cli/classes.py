"""``bayesjudge prevalence --classes``: more than pass and fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bayesjudge as bj
from bayesjudge.cli.one_judge import OF_RATES, Asked, View, described, kind_of_interval
from bayesjudge.cli.options import Shared
from bayesjudge.cli.source import Source
from bayesjudge.core.errors import checking, expect

if TYPE_CHECKING:
    from bayesjudge.prevalence.classes import ClassCounts


def view_of_classes(asked: Asked, source: Source, shared: Shared) -> View:
    """Read classes, or of pairs in both orders wins, ties and losses, with the design's model."""
    module = bj.prevalence.classes
    refused = ["external_labels", "repeats", *OF_RATES]
    refused += ["pass_value", "fail_value"] if asked.classes or asked.swapped else []
    with checking("options") as require:
        asked.refuse(require, "not for classes", *refused)
        require(len(asked.verdict or ()) == 1, "classes take one --verdict")
    keys = ("by", "stratum", "propensity", "item")
    how = asked.reading
    if asked.swapped is None:
        words = "--unparsed fail: classes have no fail; take verdict or drop"
        expect("options", asked.unparsed != "fail", words)
        with source.counted(asked.needs(source), quiet=shared.quiet) as rows:
            if asked.classes is None:  # passes, fails, and rows without a verdict
                counts = module.ClassCounts.of(bj.Verdicts.from_frame(rows, **how))
            else:
                counts = module.ClassCounts.from_frame(rows, classes=asked.classes, **how)
    else:
        with checking("options") as require:
            asked.refuse(require, "not for pairs in both orders", *keys, "missing_value", "pooling")
            dropped = asked.unparsed in (None, "drop")
            require(dropped, "--unparsed: of pairs in both orders, drop is possible only")
        classes = asked.classes or ["win", "tie", "loss"]
        counts = module.ClassCounts.from_pairs(
            source.table(asked.needs(source)), classes=classes, **how
        )
    model, kind = _model(counts, asked.pooling), kind_of_interval(shared, "classes")
    paired = counts.credit is not None
    answer = "overall_prevalence" if counts.adds_up else "prevalence"
    return View(
        closed=module.closed_forms(counts, ci_prob=shared.ci_prob),
        exact=module.exact(counts, model, ci_prob=shared.ci_prob, interval=kind),
        sample=lambda: module.fit(counts, model, **shared.sampling),
        title="Win rate: wins, and half the ties" if paired else "Share of each class",
        answer="win_rate" if paired else answer,
        heading="win rate" if paired else "share of outputs",
        inputs=_inputs(counts),
    )


def _model(counts: ClassCounts, pooling: str | None) -> Any:
    """The model of the label design; with full pooling one judge treats all systems alike."""
    module = bj.prevalence.classes
    predictive = counts.design.identifies == {"predictive_values"} or counts.propensity is not None
    with checking("options") as require:
        require(
            pooling not in ("partial", "shares"),
            f"--pooling {pooling} is not for classes: separate or full",
        )
        several = pooling != "full" or (counts.systems is not None and not predictive)
        words = (
            "confusions of several systems (--by) or strata, which labels by verdict do not tell"
        )
        require(several, f"--pooling full needs {words}")
    return module.Confusions(pooling="full") if pooling == "full" else None


def _inputs(counts: ClassCounts) -> dict[str, Any]:
    labelled = int(counts.labelled.sum())
    more = {"classes": ", ".join(counts.classes), "labels": counts.spelling}
    if counts.systems is not None:
        more["systems" if counts.dim == "system" else "strata"] = ", ".join(counts.systems)
    if counts.leanings is not None:
        first, second = counts.leanings
        more["orders"] = f"better when shown first: {first}, when shown second: {second}"
    counted = {"items": int(counts.test.sum()) + labelled, "labelled": labelled}
    return described(counts, counted, **more)
