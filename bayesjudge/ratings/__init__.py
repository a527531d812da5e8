"""Which judge agrees with people when several answers are right?"""

from bayesjudge.ratings.advice import choose_definition, ratings_needed, set_items_needed
from bayesjudge.ratings.aggregation import Profile, aggregate
from bayesjudge.ratings.agreement import fleiss_kappa, inter_rater_alpha
from bayesjudge.ratings.algebra import (
    all_response_sets,
    choice_matrix,
    error_matrix,
    forward,
    membership,
    reverse,
    selection_effect,
)
from bayesjudge.ratings.beliefs import Priors
from bayesjudge.ratings.closed_form import agreement, endorsement_rates
from bayesjudge.ratings.data import Ratings
from bayesjudge.ratings.definitions import (
    Definition,
    decision_consistency,
    definitions,
    prevalence_at,
    prevalence_bias,
)
from bayesjudge.ratings.experiment import choice_bias, rating_budget, select
from bayesjudge.ratings.following import following
from bayesjudge.ratings.identify import Identification, identification
from bayesjudge.ratings.items import item_profiles, item_shares
from bayesjudge.ratings.model import build_model, fit
from bayesjudge.ratings.performance import Performance
from bayesjudge.ratings.plots import plot_items, plot_ranks, plot_shift
from bayesjudge.ratings.posterior import performance, prevalences, prior_check
from bayesjudge.ratings.ranks import error_keeps_ranking
from bayesjudge.ratings.shift import shift_matrix, shift_sweep
from bayesjudge.ratings.simulate import simulate
from bayesjudge.ratings.sweep import prior_sweep
from bayesjudge.ratings.world import Setting

__all__ = [
    "Definition",
    "Identification",
    "Performance",
    "Priors",
    "Profile",
    "Ratings",
    "Setting",
    "aggregate",
    "agreement",
    "all_response_sets",
    "build_model",
    "choice_bias",
    "choice_matrix",
    "choose_definition",
    "decision_consistency",
    "definitions",
    "endorsement_rates",
    "error_keeps_ranking",
    "error_matrix",
    "fit",
    "fleiss_kappa",
    "following",
    "forward",
    "identification",
    "inter_rater_alpha",
    "item_profiles",
    "item_shares",
    "membership",
    "performance",
    "plot_items",
    "plot_ranks",
    "plot_shift",
    "prevalence_at",
    "prevalence_bias",
    "prevalences",
    "prior_check",
    "prior_sweep",
    "rating_budget",
    "ratings_needed",
    "reverse",
    "select",
    "selection_effect",
    "set_items_needed",
    "shift_matrix",
    "shift_sweep",
    "simulate",
]
