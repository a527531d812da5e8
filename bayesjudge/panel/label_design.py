"""Label designs of a panel: how the labelled items were chosen, and what that makes them tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from bayesjudge.core.estimate import Assumption

Identified = Literal["prevalence", "error_rates", "predictive_values"]

RANDOM_LABELS = Assumption(
    "random-labels", "within each generator the labelled items are a random sample"
)
RANDOM_BY_VERDICT = Assumption(
    "random-labels-by-verdict",
    "among items with the same votes, which were labelled does not depend on the truth",
)
WHOLE_GENERATORS = Assumption(
    "whole-generators", "all items of the labelled generators are labelled, or a random sample"
)
SAME_JUDGES = Assumption(
    "same-judges",
    "each judge has the same sensitivity and specificity on labelled and on other items",
)


@dataclass(frozen=True)
class LabelDesign:
    """How the labelled items were chosen: it decides which estimators are right.

    ``identifies`` lists what shares of labelled items estimate without bias: a generator's
    prevalence, a judge's error rates given the truth, or the truth given the votes.
    """

    name: str
    meaning: str
    identifies: frozenset[Identified]
    same_items: bool  # the labelled items are some of those that the estimate is about
    assumption: Assumption


DESIGNS: dict[str, LabelDesign] = {
    design.name: design
    for design in (
        LabelDesign(
            "random",
            "within each generator that has labels, they are a random sample of its items",
            frozenset({"prevalence", "error_rates", "predictive_values"}),
            same_items=True,
            assumption=RANDOM_LABELS,
        ),
        LabelDesign(
            "by_generator",
            "all items of some generators are labelled (or a random sample), and none of others",
            frozenset({"prevalence", "error_rates", "predictive_values"}),
            same_items=True,
            assumption=WHOLE_GENERATORS,
        ),
        LabelDesign(
            "by_truth",
            "a fixed number of good and of bad items was labelled (stratified by the human label)",
            frozenset({"error_rates"}),
            same_items=False,
            assumption=SAME_JUDGES,
        ),
        LabelDesign(
            "separate",
            "labelled items come from another data set or run, under the same judges, and the "
            "share of good ones may differ (label shift)",
            frozenset({"error_rates"}),
            same_items=False,
            assumption=SAME_JUDGES,
        ),
        LabelDesign(
            "by_verdict",
            "items were chosen for labelling by the votes on them, for example by label_next",
            frozenset({"predictive_values"}),
            same_items=True,
            assumption=RANDOM_BY_VERDICT,
        ),
    )
}
#: What a closed form or model needs the labels to tell, in words.
TELLS = {
    "prevalence": "share of good outputs",
    "error_rates": "judges' error rates",
    "predictive_values": "truth given the votes",
}


def choose_design(
    calibration: str | None, whole_generators: bool, require: Callable[[object, str], None]
) -> str:
    """Name of the design; asked for unless the table shows it: whole generators, or no label."""
    if calibration is None and whole_generators:
        return "by_generator"
    choices = "; ".join(f"{name!r}: {design.meaning}" for name, design in DESIGNS.items())
    require(
        isinstance(calibration, str) and calibration in DESIGNS,
        f"calibration={calibration!r}: how were the labelled items chosen? {choices}",
    )
    return str(calibration)
