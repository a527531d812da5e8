"""How far can formatting, order or other irrelevant changes move a score, and what can be promised?

The closed forms of the source take the measured shift as true. `certificates.certify` does not: the
error of estimating it from few neighbours is part of its failure probability.
"""

from bayesjudge.bias import certificates
from bayesjudge.bias.adherence import schematic_adherence
from bayesjudge.bias.answer import answer
from bayesjudge.bias.closed_form import rms_shift, share_moved, variance_parts
from bayesjudge.bias.compare import closed_forms, compare
from bayesjudge.bias.data import Shifts
from bayesjudge.bias.exact import exact
from bayesjudge.bias.model import NormalShifts
from bayesjudge.bias.plots import plot_shifts
from bayesjudge.bias.position import Orders, position_bias
from bayesjudge.bias.positions import position_shift
from bayesjudge.bias.simulate import simulate
from bayesjudge.bias.variants import make_variants
from bayesjudge.core.fitting import build_model, fit
from bayesjudge.core.prior_check import check_prior

__all__ = [
    "NormalShifts",
    "Orders",
    "Shifts",
    "answer",
    "build_model",
    "certificates",
    "check_prior",
    "closed_forms",
    "compare",
    "exact",
    "fit",
    "make_variants",
    "plot_shifts",
    "position_bias",
    "position_shift",
    "rms_shift",
    "schematic_adherence",
    "share_moved",
    "simulate",
    "variance_parts",
]

__dir__ = __all__.copy
