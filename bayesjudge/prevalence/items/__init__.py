"""What share of outputs is truly good, when rows share items?"""

from bayesjudge.core.comparing import contrasts, ranking
from bayesjudge.core.fitting import build_model, fit
from bayesjudge.core.prior_check import check_prior
from bayesjudge.prevalence.items.answer import answer
from bayesjudge.prevalence.items.closed_form import (
    agreement,
    by_judge,
    difference,
    human_only,
    naive,
    paired_difference,
    post_stratified,
    rogan_gladen,
)
from bayesjudge.prevalence.items.compare import closed_forms, compare
from bayesjudge.prevalence.items.data import REPEATS, Items
from bayesjudge.prevalence.items.exact import exact
from bayesjudge.prevalence.items.model import ItemEffects
from bayesjudge.prevalence.items.simulate import simulate

__all__ = [
    "REPEATS",
    "ItemEffects",
    "Items",
    "agreement",
    "answer",
    "build_model",
    "by_judge",
    "check_prior",
    "closed_forms",
    "compare",
    "contrasts",
    "difference",
    "exact",
    "fit",
    "human_only",
    "naive",
    "paired_difference",
    "post_stratified",
    "ranking",
    "rogan_gladen",
    "simulate",
]


def __dir__() -> list[str]:
    return list(__all__)
