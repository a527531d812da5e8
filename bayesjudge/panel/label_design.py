"""Label designs of a panel: how the labelled items were chosen, and what that makes them tell."""

from __future__ import annotations

from dataclasses import replace

from bayesjudge.core.estimate import Assumption
from bayesjudge.core.label_design import BUILT_IN, LabelDesign, design_of
from bayesjudge.core.words import words_for

RANDOM_LABELS = Assumption.of("random-labels", "generators")
RANDOM_BY_VERDICT = Assumption.of("random-labels-by-verdict", "votes")
WHOLE_GENERATORS = Assumption.of("whole-generators")
SAME_JUDGES = Assumption.of("same-judges")


#: What a panel means by designs of the core, and by its own: what is known of whole generators is
#: known of a random sample.
WORDS = {
    "random": (
        "within each generator that has labels, they are a random sample of its items",
        RANDOM_LABELS,
    ),
    "by_generator": (
        "all items of some generators are labelled (or a random sample), and none of others",
        WHOLE_GENERATORS,
    ),
    "by_truth": (BUILT_IN["by_truth"].meaning, SAME_JUDGES),
    "separate": (
        "labelled items come from another data set or run, under the same judges, and the "
        "share of good ones may differ (label shift)",
        SAME_JUDGES,
    ),
    "by_verdict": (
        "items were chosen for labelling by the votes on them, for example by label_next",
        RANDOM_BY_VERDICT,
    ),
}
#: Other designs mean for votes what they mean for verdicts; votes have no propensities.
DESIGNS: dict[str, LabelDesign] = {
    name: design for name, design in BUILT_IN.items() if name != "known_propensity"
} | {
    name: replace(
        BUILT_IN.get(name, BUILT_IN["random"]), name=name, meaning=meaning, assumption=assumption
    )
    for name, (meaning, assumption) in WORDS.items()
}
#: What a closed form or model needs the labels to tell, in words.
TELLS = words_for("tells")


def find_design(calibration: str | LabelDesign | None) -> LabelDesign:
    """The design of that name, in a panel's words, or one of the user's own."""
    return design_of(calibration, "Votes", "plain", words=DESIGNS)
