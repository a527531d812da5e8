"""Bayesian estimators for LLM-as-a-judge evaluation, each checked against a closed form.

Rooms, one question each:

- `bias`: how far can formatting, order or other irrelevant changes move a score, and what can be
  promised?
- `panel`: how good is each generator, and how reliable is each judge?
- `prevalence`: what share of outputs is truly good, when the judge errs?
- `ratings`: which judge agrees with people when several answers are right?
- `repeats`: how often must the judge be asked?

Every room has the same furniture: a data class, closed forms that return an `Estimate`, `Priors`,
`build_model`, `fit` that returns a `Fit`, `simulate`, and functions that start with ``plot_``.
Importing the package loads neither PyMC nor ArviZ nor matplotlib; a function that needs one does.
"""

from bayesjudge import bias, panel, prevalence, ratings, repeats
from bayesjudge.core.compile_folder import choose_compile_folder
from bayesjudge.core.errors import (
    ConvergenceError,
    ConvergenceWarning,
    InputError,
    UninformativeJudgeError,
)
from bayesjudge.core.fit import Fit
from bayesjudge.core.plots import plot_intervals
from bayesjudge.core.priors import BetaPrior
from bayesjudge.core.report import report, side_by_side
from bayesjudge.core.results import Caution, Estimate
from bayesjudge.core.storage import load

__version__ = "0.1.0"

choose_compile_folder()  # here, since PyTensor reads its settings when a model first imports it

__all__ = [
    "BetaPrior",
    "Caution",
    "ConvergenceError",
    "ConvergenceWarning",
    "Estimate",
    "Fit",
    "InputError",
    "UninformativeJudgeError",
    "bias",
    "load",
    "panel",
    "plot_intervals",
    "prevalence",
    "ratings",
    "repeats",
    "report",
    "side_by_side",
]
