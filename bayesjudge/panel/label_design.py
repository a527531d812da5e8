"""Label designs of a panel: how the labelled items were chosen, and what that makes them tell."""

from __future__ import annotations

from bayesjudge.core.estimate import Assumption
from bayesjudge.core.label_design import LabelDesign, suited_design

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


def find_design(calibration: str | LabelDesign | None) -> LabelDesign:
    """The design of that name, in a panel's words, or one of the user's own."""
    return suited_design(calibration, "Votes", DESIGNS)
