"""How good is each generator, and how reliable is each judge?

`Votes` holds the votes of several judges on the outputs of several generators, some with the truth;
`closed_forms` and `fit` estimate the share of good outputs of each generator, and each judge's
error rates; `recommend` names the model that suits the labels; `cross_validate` hides labels and
scores every method by them.
"""

from bayesjudge.core.fitting import build_model, fit
from bayesjudge.core.prior_check import check_prior
from bayesjudge.core.priors import NormalPrior
from bayesjudge.panel.answer import answer
from bayesjudge.panel.budget import labels_needed
from bayesjudge.panel.checks import dependence, effective_judges, homogeneity
from bayesjudge.panel.closed_form import (
    closed_forms,
    dawid_skene_em,
    difference,
    logit_shift,
    model_assisted,
    panel_mean,
    regression,
    rogan_gladen,
    voting,
)
from bayesjudge.panel.compare import compare, cross_validate
from bayesjudge.panel.consensus import consensus
from bayesjudge.panel.data import Votes
from bayesjudge.panel.labelling import label_next
from bayesjudge.panel.loo import loo
from bayesjudge.panel.models._base import PanelModel
from bayesjudge.panel.models.bias_pooling import BiasPooling
from bayesjudge.panel.models.dawid_skene import (
    Correlated,
    DawidSkene,
    LatentTruthPanel,
    MulticlassDawidSkene,
    PooledDawidSkene,
)
from bayesjudge.panel.models.vote_regression import VoteRegression
from bayesjudge.panel.plots import (
    plot_correlation,
    plot_generators,
    plot_judges,
)
from bayesjudge.panel.predictive import dependence_check
from bayesjudge.panel.recommend import recommend
from bayesjudge.panel.repair import align_texts, repair_labels
from bayesjudge.panel.simulate import simulate
from bayesjudge.panel.study import found_by, study
from bayesjudge.panel.voting import VotingRule, choose_threshold, ensemble_rates

__all__ = [
    "BiasPooling",
    "Correlated",
    "DawidSkene",
    "LatentTruthPanel",
    "MulticlassDawidSkene",
    "NormalPrior",
    "PanelModel",
    "PooledDawidSkene",
    "VoteRegression",
    "Votes",
    "VotingRule",
    "align_texts",
    "answer",
    "build_model",
    "check_prior",
    "choose_threshold",
    "closed_forms",
    "compare",
    "consensus",
    "cross_validate",
    "dawid_skene_em",
    "dependence",
    "dependence_check",
    "difference",
    "effective_judges",
    "ensemble_rates",
    "fit",
    "found_by",
    "homogeneity",
    "label_next",
    "labels_needed",
    "logit_shift",
    "loo",
    "model_assisted",
    "panel_mean",
    "plot_correlation",
    "plot_generators",
    "plot_judges",
    "recommend",
    "regression",
    "repair_labels",
    "rogan_gladen",
    "simulate",
    "study",
    "voting",
]

__dir__ = __all__.copy
