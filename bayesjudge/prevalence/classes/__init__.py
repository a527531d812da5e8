"""What share of outputs is of each class, when the judge mixes classes up?"""

import bayesjudge.prevalence.classes.closed_form  # so that closed forms know classes
import bayesjudge.prevalence.classes.gibbs  # noqa: F401  # so that `exact` knows them
from bayesjudge.core.comparing import compare
from bayesjudge.core.fitting import build_model, fit
from bayesjudge.core.prior_check import check_prior
from bayesjudge.prevalence.classes.answer import answer
from bayesjudge.prevalence.classes.data import ClassCounts
from bayesjudge.prevalence.classes.model import (
    Confusions,
    PredictiveShares,
)
from bayesjudge.prevalence.classes.simulate import simulate
from bayesjudge.prevalence.closed_form import closed_forms
from bayesjudge.prevalence.exact import exact

__all__ = [
    "ClassCounts",
    "Confusions",
    "PredictiveShares",
    "answer",
    "build_model",
    "check_prior",
    "closed_forms",
    "compare",
    "exact",
    "fit",
    "simulate",
]

__dir__ = __all__.copy
