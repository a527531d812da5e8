"""What share of outputs is good, and what would people say, when people err too?"""

import bayesjudge.prevalence.people.exact  # noqa: F401  # so that `exact` knows people
from bayesjudge.core.comparing import compare
from bayesjudge.core.fitting import build_model, fit
from bayesjudge.core.prior_check import check_prior
from bayesjudge.prevalence.exact import exact
from bayesjudge.prevalence.people.answer import answer
from bayesjudge.prevalence.people.closed_form import closed_forms, error_of
from bayesjudge.prevalence.people.data import PeopleCounts
from bayesjudge.prevalence.people.exact import doubtful, wrong_labels
from bayesjudge.prevalence.people.model import PeopleErrors
from bayesjudge.prevalence.people.simulate import simulate

__all__ = [
    "PeopleCounts",
    "PeopleErrors",
    "answer",
    "build_model",
    "check_prior",
    "closed_forms",
    "compare",
    "doubtful",
    "error_of",
    "exact",
    "fit",
    "simulate",
    "wrong_labels",
]

__dir__ = __all__.copy
