"""What can be promised of released scores, and on what does the promise rest?"""

from bayesjudge.bias.certificates import bounds, noise
from bayesjudge.bias.certificates.centers import Center, moving_average, robust_center
from bayesjudge.bias.certificates.certificate import Certificate
from bayesjudge.bias.certificates.certify import certify
from bayesjudge.bias.certificates.plots import plot_certificate, plot_release, plot_trade_off
from bayesjudge.bias.certificates.release import Release, release
from bayesjudge.bias.certificates.trade_off import trade_off

__all__ = [
    "Center",
    "Certificate",
    "Release",
    "bounds",
    "certify",
    "moving_average",
    "noise",
    "plot_certificate",
    "plot_release",
    "plot_trade_off",
    "release",
    "robust_center",
    "trade_off",
]

__dir__ = __all__.copy
