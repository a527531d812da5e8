"""How good is each generator, and how reliable is each judge?"""

from bayesjudge.panel.by_rates import regression, rogan_gladen
from bayesjudge.panel.checks import dependence, effective_judges, homogeneity, vote_correlation
from bayesjudge.panel.closed_form import dawid_skene_em, model_assisted, panel_mean, voting
from bayesjudge.panel.comparison import compare, recommend
from bayesjudge.panel.data import Votes
from bayesjudge.panel.labelling import label_next
from bayesjudge.panel.model import build_model, fit
from bayesjudge.panel.plots import (
    plot_correlation,
    plot_generators,
    plot_judges,
    plot_labelling,
)
from bayesjudge.panel.pointwise import Loo, loo
from bayesjudge.panel.predictive import dependence_check
from bayesjudge.panel.prior_check import prior_check
from bayesjudge.panel.priors import NormalPrior, Priors
from bayesjudge.panel.repair import align_texts, repair_labels
from bayesjudge.panel.simulate import simulate
from bayesjudge.panel.transport import difference, logit_shift
from bayesjudge.panel.voting import VotingRule, choose_threshold, ensemble_rates

__all__ = [
    "Loo",
    "NormalPrior",
    "Priors",
    "Votes",
    "VotingRule",
    "align_texts",
    "build_model",
    "choose_threshold",
    "compare",
    "dawid_skene_em",
    "dependence",
    "dependence_check",
    "difference",
    "effective_judges",
    "ensemble_rates",
    "fit",
    "homogeneity",
    "label_next",
    "logit_shift",
    "loo",
    "model_assisted",
    "panel_mean",
    "plot_correlation",
    "plot_generators",
    "plot_judges",
    "plot_labelling",
    "prior_check",
    "recommend",
    "regression",
    "repair_labels",
    "rogan_gladen",
    "simulate",
    "vote_correlation",
    "voting",
]
