"""What share of outputs is of each class, when the judge mixes classes up?"""

from bayesjudge.core.fitting import build_model, fit
from bayesjudge.core.prior_check import check_prior
from bayesjudge.prevalence.classes.answer import answer
from bayesjudge.prevalence.classes.closed_form import (
    class_shares,
    difference,
    human_shares,
    judge_shares,
    post_stratified,
)
from bayesjudge.prevalence.classes.compare import closed_forms, compare
from bayesjudge.prevalence.classes.data import ClassCounts
from bayesjudge.prevalence.classes.exact import exact
from bayesjudge.prevalence.classes.model import (
    Confusions,
    PredictiveShares,
)
from bayesjudge.prevalence.classes.simulate import simulate

__all__ = [
    "ClassCounts",
    "Confusions",
    "PredictiveShares",
    "answer",
    "build_model",
    "check_prior",
    "class_shares",
    "closed_forms",
    "compare",
    "difference",
    "exact",
    "fit",
    "human_shares",
    "judge_shares",
    "post_stratified",
    "simulate",
]


def __dir__() -> list[str]:
    return list(__all__)
