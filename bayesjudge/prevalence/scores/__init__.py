"""What would people say on average, when the judge gives a numeric score?"""

from bayesjudge.core.comparing import contrasts, ranking
from bayesjudge.core.fitting import build_model, fit
from bayesjudge.core.prior_check import check_prior
from bayesjudge.prevalence.closed_form import closed_forms
from bayesjudge.prevalence.scores.answer import answer
from bayesjudge.prevalence.scores.closed_form import (
    judge_bias,
)
from bayesjudge.prevalence.scores.compare import by_system, compare
from bayesjudge.prevalence.scores.data import Scores, read_systems
from bayesjudge.prevalence.scores.model import (
    RisingMean,
    ScoreGivenTruth,
    TruthGivenScore,
)
from bayesjudge.prevalence.scores.paired import PairedScores
from bayesjudge.prevalence.scores.plots import plot_reliability, plot_residuals
from bayesjudge.prevalence.scores.simulate import simulate
from bayesjudge.prevalence.scores.unpaired import unpaired_difference

__all__ = [
    "PairedScores",
    "RisingMean",
    "ScoreGivenTruth",
    "Scores",
    "TruthGivenScore",
    "answer",
    "build_model",
    "by_system",
    "check_prior",
    "closed_forms",
    "compare",
    "contrasts",
    "fit",
    "judge_bias",
    "plot_reliability",
    "plot_residuals",
    "ranking",
    "read_systems",
    "simulate",
    "unpaired_difference",
]

__dir__ = __all__.copy
