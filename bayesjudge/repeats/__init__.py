"""How often must the judge be asked?"""

from bayesjudge.repeats.calls import Call, JudgeError, Patience, Reply, current_call
from bayesjudge.repeats.chat import chat_judges, only_number
from bayesjudge.repeats.checks import OrderEffect, order_effects
from bayesjudge.repeats.closed_form import anova, as_if_iid, exact
from bayesjudge.repeats.data import Scores
from bayesjudge.repeats.model import Priors, build_model, fit
from bayesjudge.repeats.ordinal import score_components
from bayesjudge.repeats.plan import Plan
from bayesjudge.repeats.planning import cost_table, required_repeats, third_of_a_bin
from bayesjudge.repeats.plots import plot_components, plot_cost, plot_half_width, plot_scores
from bayesjudge.repeats.prediction import predict_means
from bayesjudge.repeats.results import Run
from bayesjudge.repeats.rules import MeanInterval, mean_interval, next_batch
from bayesjudge.repeats.runner import sample_until, sample_until_sync
from bayesjudge.repeats.sequences import confidence_sequence
from bayesjudge.repeats.simulate import simulate
from bayesjudge.repeats.stopping import Stopped, simulate_rule
from bayesjudge.repeats.store import read_answers

__all__ = [
    "Call",
    "JudgeError",
    "MeanInterval",
    "OrderEffect",
    "Patience",
    "Plan",
    "Priors",
    "Reply",
    "Run",
    "Scores",
    "Stopped",
    "anova",
    "as_if_iid",
    "build_model",
    "chat_judges",
    "confidence_sequence",
    "cost_table",
    "current_call",
    "exact",
    "fit",
    "mean_interval",
    "next_batch",
    "only_number",
    "order_effects",
    "plot_components",
    "plot_cost",
    "plot_half_width",
    "plot_scores",
    "predict_means",
    "read_answers",
    "required_repeats",
    "sample_until",
    "sample_until_sync",
    "score_components",
    "simulate",
    "simulate_rule",
    "third_of_a_bin",
]
