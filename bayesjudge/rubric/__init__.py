"""What total would people give, when a judge goes through criteria one by one?"""

from bayesjudge.rubric.answer import answer
from bayesjudge.rubric.criteria import by_criterion, cannot_judge
from bayesjudge.rubric.data import Rubric
from bayesjudge.rubric.plots import plot_criteria
from bayesjudge.rubric.records import rows_of_records
from bayesjudge.rubric.simulate import simulate
from bayesjudge.rubric.totals import differences, meets, total, two_phase

__all__ = [
    "Rubric",
    "answer",
    "by_criterion",
    "cannot_judge",
    "differences",
    "meets",
    "plot_criteria",
    "rows_of_records",
    "simulate",
    "total",
    "two_phase",
]

__dir__ = __all__.copy
