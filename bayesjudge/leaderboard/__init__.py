"""Who leads for people, from verdicts on pairs of answers?"""

import bayesjudge.leaderboard.expected  # noqa: F401  # so that `check_prior` knows the model
from bayesjudge.core.fitting import build_model, fit
from bayesjudge.core.prior_check import check_prior
from bayesjudge.leaderboard.answer import answer
from bayesjudge.leaderboard.closed_form import davidson, power_tuned
from bayesjudge.leaderboard.compare import closed_forms, compare
from bayesjudge.leaderboard.data import Battles
from bayesjudge.leaderboard.laplace import approximate
from bayesjudge.leaderboard.model import CalibratedBattles
from bayesjudge.leaderboard.pairings import Pairings, next_pairings
from bayesjudge.leaderboard.plots import plot_ahead, plot_standings
from bayesjudge.leaderboard.simulate import simulate
from bayesjudge.leaderboard.standings import ahead, elo_points, first_places, standings, win_rate

__all__ = [
    "Battles",
    "CalibratedBattles",
    "Pairings",
    "ahead",
    "answer",
    "approximate",
    "build_model",
    "check_prior",
    "closed_forms",
    "compare",
    "davidson",
    "elo_points",
    "first_places",
    "fit",
    "next_pairings",
    "plot_ahead",
    "plot_standings",
    "power_tuned",
    "simulate",
    "standings",
    "win_rate",
]

__dir__ = __all__.copy
