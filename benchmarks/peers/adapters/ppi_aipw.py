"""``mean_ci`` at 95 %: a monotone spline (its default), isotonic, linear, ``auto``."""

from functools import partial

import numpy as np
from ppi_aipw import mean_ci


def mean(proxy, truth, method="monotone_spline"):
    known = ~np.isnan(truth)
    low, high = mean_ci(truth[known], proxy[known], proxy[~known], alpha=0.05, method=method)
    return float(np.squeeze(low)), float(np.squeeze(high))


def of_scores(t, method):
    return mean(t["score"], t["truth"], method)


METHODS = {
    "share": {"default": lambda t: mean(t["verdict"], t["truth"])},
    "paired": {
        "default, differences": lambda t: mean(
            t["verdict_a"] - t["verdict_b"], t["truth_a"] - t["truth_b"]
        )
    },
    "scores": {
        name: partial(of_scores, method=name)
        for name in ("monotone_spline", "isotonic", "linear", "auto")
    },
    "panel": {"default, mean vote": lambda t: mean(t["votes"].mean(1), t["truth"])},
    "attempts": {"default, tasks": lambda t: mean(t["verdict"].min(1), t["truth"].min(1))},
}
