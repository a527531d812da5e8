"""How far can formatting, order or other irrelevant changes move a score, and what can be promised?

The closed forms of the source take the measured shift as true. `certify` does not: the error of
estimating it from few neighbours is part of its failure probability.
"""

from bayesjudge.bias.adherence import schematic_adherence
from bayesjudge.bias.bounds import neighbours_needed, predictive_bound, rms_bound, tail_bound
from bayesjudge.bias.certificate import Certificate
from bayesjudge.bias.certifying import certify
from bayesjudge.bias.closed_form import rms_shift, variance_parts
from bayesjudge.bias.combining import (
    Combined,
    VoidCertificateWarning,
    center_shift,
    combine,
    without_repeat_noise,
)
from bayesjudge.bias.data import Shifts
from bayesjudge.bias.design import trade_off
from bayesjudge.bias.exact import exact
from bayesjudge.bias.fitted import tail_probability
from bayesjudge.bias.formulas import best_split, largest_alpha, noise_scale, squared_radius
from bayesjudge.bias.model import Priors, build_model, fit
from bayesjudge.bias.noncentral import exact_failure, exact_noise_scale
from bayesjudge.bias.plots import plot_certificate, plot_release, plot_shifts, plot_trade_off
from bayesjudge.bias.position import Orders, position_bias
from bayesjudge.bias.release import Release, release
from bayesjudge.bias.simulate import simulate

__all__ = [
    "Certificate",
    "Combined",
    "Orders",
    "Priors",
    "Release",
    "Shifts",
    "VoidCertificateWarning",
    "best_split",
    "build_model",
    "center_shift",
    "certify",
    "combine",
    "exact",
    "exact_failure",
    "exact_noise_scale",
    "fit",
    "largest_alpha",
    "neighbours_needed",
    "noise_scale",
    "plot_certificate",
    "plot_release",
    "plot_shifts",
    "plot_trade_off",
    "position_bias",
    "predictive_bound",
    "release",
    "rms_bound",
    "rms_shift",
    "schematic_adherence",
    "simulate",
    "squared_radius",
    "tail_bound",
    "tail_probability",
    "trade_off",
    "variance_parts",
    "without_repeat_noise",
]
