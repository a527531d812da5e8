"""What share of outputs is truly good, when the judge errs?"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bayesjudge.core.comparing import contrasts, ranking
from bayesjudge.core.fitting import build_model, fit
from bayesjudge.core.intervals import clopper_pearson, wilson
from bayesjudge.core.label_design import DESIGNS, LabelDesign
from bayesjudge.core.prior_check import check_prior
from bayesjudge.prevalence.answer import answer
from bayesjudge.prevalence.change import ChangePoint, change_point
from bayesjudge.prevalence.closed_form import (
    bootstrap,
    closed_forms,
    conditional_calibration,
    difference,
    human_only,
    naive,
    paired_difference,
    post_stratified,
    propensity_weighted,
    rogan_gladen,
)
from bayesjudge.prevalence.compare import compare, compare_designs
from bayesjudge.prevalence.conformal import conformal_sets
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.exact import exact
from bayesjudge.prevalence.label_errors import if_people_err
from bayesjudge.prevalence.model import (
    ErrorRates,
    LinearErrorRates,
    PooledErrorRates,
    PredictiveValues,
)
from bayesjudge.prevalence.plots import (
    plot_correction,
    plot_if_people_err,
    plot_plan,
    plot_posterior,
    plot_regime,
    plot_strata,
    plot_systems,
    plot_widths,
)
from bayesjudge.prevalence.simulate import simulate

if TYPE_CHECKING:
    from bayesjudge.prevalence import budget, classes, items, people, scores

__all__ = [
    "DESIGNS",
    "ChangePoint",
    "Counts",
    "ErrorRates",
    "LabelDesign",
    "LinearErrorRates",
    "PooledErrorRates",
    "PredictiveValues",
    "answer",
    "bootstrap",
    "budget",
    "build_model",
    "change_point",
    "check_prior",
    "classes",
    "clopper_pearson",
    "closed_forms",
    "compare",
    "compare_designs",
    "conditional_calibration",
    "conformal_sets",
    "contrasts",
    "difference",
    "exact",
    "fit",
    "human_only",
    "if_people_err",
    "items",
    "naive",
    "paired_difference",
    "people",
    "plot_correction",
    "plot_if_people_err",
    "plot_plan",
    "plot_posterior",
    "plot_regime",
    "plot_strata",
    "plot_systems",
    "plot_widths",
    "post_stratified",
    "propensity_weighted",
    "ranking",
    "rogan_gladen",
    "scores",
    "simulate",
    "wilson",
]


def __getattr__(name: str) -> Any:
    if name in ("budget", "classes", "items", "people", "scores"):  # when they are first named
        return import_module(f"bayesjudge.prevalence.{name}")
    raise AttributeError(f"module 'bayesjudge.prevalence' has no attribute {name!r}")


__dir__ = __all__.copy
