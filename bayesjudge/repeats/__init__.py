"""How often must the judge be asked?"""

from bayesjudge.core.fitting import build_model, fit
from bayesjudge.core.prior_check import check_prior
from bayesjudge.repeats import runner
from bayesjudge.repeats.answer import answer
from bayesjudge.repeats.checks import order_effects
from bayesjudge.repeats.closed_form import anova, as_if_iid, exact
from bayesjudge.repeats.compare import closed_forms, compare
from bayesjudge.repeats.components import score_components
from bayesjudge.repeats.consistency import consistency
from bayesjudge.repeats.data import Scores
from bayesjudge.repeats.loo import log_likelihood
from bayesjudge.repeats.model import CumulativeLogit, JudgeCutpoints
from bayesjudge.repeats.planning import cost_table, required_calls, required_repeats, third_of_a_bin
from bayesjudge.repeats.plots import plot_components, plot_cost, plot_half_width, plot_scores
from bayesjudge.repeats.prediction import predict_means
from bayesjudge.repeats.self_contradiction import self_contradiction
from bayesjudge.repeats.simulate import simulate
from bayesjudge.repeats.stopping_rules import (
    confidence_sequence,
    mean_interval,
    next_batch,
    simulate_rule,
)

__all__ = [
    "CumulativeLogit",
    "JudgeCutpoints",
    "Scores",
    "anova",
    "answer",
    "as_if_iid",
    "build_model",
    "check_prior",
    "closed_forms",
    "compare",
    "confidence_sequence",
    "consistency",
    "cost_table",
    "exact",
    "fit",
    "log_likelihood",
    "mean_interval",
    "next_batch",
    "order_effects",
    "plot_components",
    "plot_cost",
    "plot_half_width",
    "plot_scores",
    "predict_means",
    "required_calls",
    "required_repeats",
    "runner",
    "score_components",
    "self_contradiction",
    "simulate",
    "simulate_rule",
    "third_of_a_bin",
]

__dir__ = __all__.copy
