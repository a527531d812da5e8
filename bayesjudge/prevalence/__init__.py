"""What share of outputs is truly good, when the judge errs?"""

from bayesjudge.core.intervals import clopper_pearson, wilson
from bayesjudge.prevalence.closed_form import (
    closed_forms,
    difference,
    human_only,
    naive,
    post_stratified,
    rogan_gladen,
)
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.model import Priors, build_model, fit
from bayesjudge.prevalence.plots import plot_correction, plot_posterior
from bayesjudge.prevalence.quadrature import exact
from bayesjudge.prevalence.reading import CALIBRATIONS
from bayesjudge.prevalence.simulate import simulate

__all__ = [
    "CALIBRATIONS",
    "Counts",
    "Priors",
    "build_model",
    "clopper_pearson",
    "closed_forms",
    "difference",
    "exact",
    "fit",
    "human_only",
    "naive",
    "plot_correction",
    "plot_posterior",
    "post_stratified",
    "rogan_gladen",
    "simulate",
    "wilson",
]
