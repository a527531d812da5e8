"""How often does an agent succeed at a task in k tries: at least once, or every time?

An agent is judged by attempts, several a task. The judge errs, its errors compound over tries and
repeat on a task: see `PersistentErrors`.
"""

from bayesjudge.attempts.answer import answer
from bayesjudge.attempts.closed_form import (
    by_judge,
    closed_forms,
    corrected,
    cost_per_success,
    from_truths,
    paired,
)
from bayesjudge.attempts.compare import compare
from bayesjudge.attempts.data import Attempts
from bayesjudge.attempts.exact import Posterior, exact
from bayesjudge.attempts.model import PersistentErrors
from bayesjudge.attempts.planning import tasks_needed
from bayesjudge.attempts.plots import plot_tries
from bayesjudge.attempts.simulate import simulate
from bayesjudge.core.fitting import build_model, fit

__all__ = [
    "Attempts",
    "PersistentErrors",
    "Posterior",
    "answer",
    "build_model",
    "by_judge",
    "closed_forms",
    "compare",
    "corrected",
    "cost_per_success",
    "exact",
    "fit",
    "from_truths",
    "paired",
    "plot_tries",
    "simulate",
    "tasks_needed",
]

__dir__ = __all__.copy
