"""What would people say on average, when the judge gives a numeric score?"""

from bayesjudge.core.comparing import contrasts, ranking
from bayesjudge.core.fitting import build_model, fit
from bayesjudge.core.prior_check import check_prior
from bayesjudge.prevalence.scores.answer import answer
from bayesjudge.prevalence.scores.closed_form import (
    binned,
    difference,
    human_mean,
    judge_bias,
    judge_mean,
    rogan_gladen,
)
from bayesjudge.prevalence.scores.compare import by_system, closed_forms, compare
from bayesjudge.prevalence.scores.data import Scores, read_systems
from bayesjudge.prevalence.scores.model import (
    RisingMean,
    ScoreGivenTruth,
    TruthGivenScore,
)
from bayesjudge.prevalence.scores.paired import PairedScores, paired_difference
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
    "binned",
    "build_model",
    "by_system",
    "check_prior",
    "closed_forms",
    "compare",
    "contrasts",
    "difference",
    "fit",
    "human_mean",
    "judge_bias",
    "judge_mean",
    "paired_difference",
    "plot_reliability",
    "plot_residuals",
    "ranking",
    "read_systems",
    "rogan_gladen",
    "simulate",
    "unpaired_difference",
]


def __dir__() -> list[str]:
    return list(__all__)
