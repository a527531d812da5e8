"""``calibrated_mean_ci`` with its defaults: cross-fitted calibration, cluster-robust interval.

It takes labels on 0 to 1 only; others are moved there and back, as its error message says.
"""

import numpy as np
from cje import calibrated_mean_ci


def mean(proxy, truth, scale=(0.0, 1.0)):
    ends = calibrated_mean_ci(proxy, (truth - scale[0]) / np.ptp(scale)).ci
    return scale[0] + np.ptp(scale) * np.array(ends)


METHODS = {
    "share": {"calibrated": lambda t: mean(t["verdict"], t["truth"])},
    "paired": {
        "calibrated, differences": lambda t: mean(
            t["verdict_a"] - t["verdict_b"], t["truth_a"] - t["truth_b"], (-1.0, 1.0)
        )
    },
    "scores": {"calibrated": lambda t: mean(t["score"], t["truth"], t["truth_scale"])},
    "panel": {"calibrated, mean vote": lambda t: mean(t["votes"].mean(1), t["truth"])},
    "attempts": {"calibrated, tasks": lambda t: mean(t["verdict"].min(1), t["truth"].min(1))},
}
