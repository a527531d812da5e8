"""Which definition of performance selects a good judge, and how many ratings does it take?"""

from bayesjudge.ratings.experiment.advice import (
    choose_definition,
    ratings_needed,
    set_items_needed,
)
from bayesjudge.ratings.experiment.ranks import (
    error_rank_correlations,
    monotonicity_violations,
    rank_correlations,
)
from bayesjudge.ratings.experiment.study import choice_bias, rating_budget, select
from bayesjudge.ratings.experiment.world import Setting, make_world, observed_people

__all__ = [
    "Setting",
    "choice_bias",
    "choose_definition",
    "error_rank_correlations",
    "make_world",
    "monotonicity_violations",
    "observed_people",
    "rank_correlations",
    "rating_budget",
    "ratings_needed",
    "select",
    "set_items_needed",
]

__dir__ = __all__.copy
