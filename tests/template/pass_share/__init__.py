"""What share of its outputs does a system pass?

The template of a module: copy it, and answer your own question in its files.
"""

from bayesjudge.pass_share.answer import answer
from bayesjudge.pass_share.closed_form import wilson_share
from bayesjudge.pass_share.compare import closed_forms, compare
from bayesjudge.pass_share.data import Passes
from bayesjudge.pass_share.model import PassShare
from bayesjudge.pass_share.plots import plot_shares
from bayesjudge.pass_share.simulate import simulate

from bayesjudge.core.fitting import build_model, fit

__all__ = [
    "PassShare",
    "Passes",
    "answer",
    "build_model",
    "closed_forms",
    "compare",
    "fit",
    "plot_shares",
    "simulate",
    "wilson_share",
]

__dir__ = __all__.copy
