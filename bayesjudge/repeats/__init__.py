"""How often must the judge be asked?"""

from bayesjudge.repeats.checks import OrderEffect, order_effects
from bayesjudge.repeats.closed_form import anova, as_if_iid, exact
from bayesjudge.repeats.data import Scores
from bayesjudge.repeats.model import Priors, build_model, fit
from bayesjudge.repeats.ordinal import score_components
from bayesjudge.repeats.planning import cost_table, required_repeats, third_of_a_bin
from bayesjudge.repeats.rules import METHODS, MeanInterval, mean_interval, next_batch
from bayesjudge.repeats.sequences import confidence_sequence
from bayesjudge.repeats.simulate import simulate
from bayesjudge.repeats.stopping import Stopped, simulate_rule

__all__ = [
    "METHODS",
    "MeanInterval",
    "OrderEffect",
    "Priors",
    "Scores",
    "Stopped",
    "anova",
    "as_if_iid",
    "build_model",
    "confidence_sequence",
    "cost_table",
    "exact",
    "fit",
    "mean_interval",
    "next_batch",
    "order_effects",
    "required_repeats",
    "score_components",
    "simulate",
    "simulate_rule",
    "third_of_a_bin",
]
