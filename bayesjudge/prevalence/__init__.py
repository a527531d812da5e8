"""What share of outputs is truly good, when the judge errs?"""

from bayesjudge.core.intervals import clopper_pearson, wilson
from bayesjudge.prevalence._boundary import reached
from bayesjudge.prevalence.budget.allocation import judge_regime, labels_needed, width_curves
from bayesjudge.prevalence.classes.model import ClassPriors, fit_classes
from bayesjudge.prevalence.classes.closed_form import class_shares
from bayesjudge.prevalence.classes.data import ClassCounts
from bayesjudge.prevalence.closed_form import (
    human_only,
    naive,
    rogan_gladen,
)
from bayesjudge.prevalence.compare import closed_forms, compare, what_designs_buy
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.budget.allocation import allocate, best_allocation, interval_width
from bayesjudge.prevalence.exact import exact
from bayesjudge.prevalence.model import Priors, build_model, fit
from bayesjudge.prevalence.budget.plan import plan
from bayesjudge.prevalence.plots import (
    plot_correction,
    plot_plan,
    plot_posterior,
    plot_regime,
    plot_strata,
    plot_systems,
    plot_widths,
)
from bayesjudge.prevalence.budget.expected_width import expected_width, label_next
from bayesjudge.prevalence.closed_form import propensity_weighted
from bayesjudge.prevalence._reading import CALIBRATIONS
from bayesjudge.prevalence.closed_form import bootstrap
from bayesjudge.prevalence.closed_form import conditional_calibration, difference, post_stratified
from bayesjudge.prevalence.simulate import simulate
from bayesjudge.prevalence.compare import contrasts, ranking

__all__ = [
    "CALIBRATIONS",
    "ClassCounts",
    "ClassPriors",
    "Counts",
    "Priors",
    "allocate",
    "best_allocation",
    "bootstrap",
    "build_model",
    "class_shares",
    "clopper_pearson",
    "closed_forms",
    "compare",
    "conditional_calibration",
    "contrasts",
    "difference",
    "exact",
    "expected_width",
    "fit",
    "fit_classes",
    "human_only",
    "interval_width",
    "judge_regime",
    "label_next",
    "labels_needed",
    "naive",
    "plan",
    "plot_correction",
    "plot_plan",
    "plot_posterior",
    "plot_regime",
    "plot_strata",
    "plot_systems",
    "plot_widths",
    "post_stratified",
    "propensity_weighted",
    "ranking",
    "reached",
    "rogan_gladen",
    "simulate",
    "what_designs_buy",
    "width_curves",
    "wilson",
]
