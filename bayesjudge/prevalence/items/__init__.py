"""What share of outputs is truly good, when rows share items?"""

import bayesjudge.prevalence.items.effective  # noqa: F401  # so that `exact` knows them
from bayesjudge.core.comparing import contrasts, ranking
from bayesjudge.core.fitting import build_model, fit
from bayesjudge.core.prior_check import check_prior
from bayesjudge.prevalence.closed_form import closed_forms
from bayesjudge.prevalence.exact import exact
from bayesjudge.prevalence.items.answer import answer
from bayesjudge.prevalence.items.closed_form import (
    agreement_within,
    by_judge,
)
from bayesjudge.prevalence.items.compare import compare
from bayesjudge.prevalence.items.data import REPEATS, Items
from bayesjudge.prevalence.items.model import ItemEffects
from bayesjudge.prevalence.items.simulate import simulate

__all__ = [
    "REPEATS",
    "ItemEffects",
    "Items",
    "agreement_within",
    "answer",
    "build_model",
    "by_judge",
    "check_prior",
    "closed_forms",
    "compare",
    "contrasts",
    "exact",
    "fit",
    "ranking",
    "simulate",
]

__dir__ = __all__.copy
