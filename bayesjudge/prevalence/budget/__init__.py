"""How many labels are needed, and of which items?"""

from bayesjudge.prevalence.budget.allocation import (
    allocate,
    interval_width,
    judge_regime,
    width_curves,
)
from bayesjudge.prevalence.budget.expected_width import expected_width, label_next
from bayesjudge.prevalence.budget.plan import labels_by_design, plan
from bayesjudge.prevalence.budget.second_order import correction_bias, labels_to_correct

__all__ = [
    "allocate",
    "correction_bias",
    "expected_width",
    "interval_width",
    "judge_regime",
    "label_next",
    "labels_by_design",
    "labels_to_correct",
    "plan",
    "width_curves",
]

__dir__ = __all__.copy
