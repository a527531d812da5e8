"""Which judge agrees with people when several answers are right?"""

from bayesjudge.core.fitting import build_model, fit
from bayesjudge.core.prior_check import check_prior
from bayesjudge.ratings import metrics, response_sets
from bayesjudge.ratings.annotators import alt_test, alt_test_posterior
from bayesjudge.ratings.answer import answer
from bayesjudge.ratings.answer_rates import answer_rates
from bayesjudge.ratings.closed_form import agreement, endorsement_rates
from bayesjudge.ratings.compare import closed_forms, compare
from bayesjudge.ratings.data import Ratings
from bayesjudge.ratings.items import item_profiles, item_shares, prevalences
from bayesjudge.ratings.metrics import Definition, definitions
from bayesjudge.ratings.model import (
    FreeChoice,
    KnownChoice,
    RaterErrors,
    ResponseSets,
    TiedChoice,
)
from bayesjudge.ratings.performance import Performance, performance
from bayesjudge.ratings.plots import plot_items, plot_ranks, plot_shift
from bayesjudge.ratings.sensitivity import prior_sensitivity, shift_sensitivity
from bayesjudge.ratings.simulate import simulate
from bayesjudge.ratings.tracking import TrackingPrior, tracking

__all__ = [
    "Definition",
    "FreeChoice",
    "KnownChoice",
    "Performance",
    "RaterErrors",
    "Ratings",
    "ResponseSets",
    "TiedChoice",
    "TrackingPrior",
    "agreement",
    "alt_test",
    "alt_test_posterior",
    "answer",
    "answer_rates",
    "build_model",
    "check_prior",
    "closed_forms",
    "compare",
    "definitions",
    "endorsement_rates",
    "fit",
    "item_profiles",
    "item_shares",
    "metrics",
    "performance",
    "plot_items",
    "plot_ranks",
    "plot_shift",
    "prevalences",
    "prior_sensitivity",
    "response_sets",
    "shift_sensitivity",
    "simulate",
    "tracking",
]

__dir__ = __all__.copy
