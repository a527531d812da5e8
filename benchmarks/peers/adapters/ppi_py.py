"""``ppi_mean_ci``, power-tuned, at 95 %."""

import numpy as np
from ppi_py import ppi_mean_ci


def mean(proxy, truth):
    known = ~np.isnan(truth)
    low, high = ppi_mean_ci(truth[known], proxy[known], proxy[~known], alpha=0.05)
    return low.item(), high.item()


METHODS = {
    "share": {"ppi++": lambda t: mean(t["verdict"], t["truth"])},
    "paired": {
        "ppi++ of differences": lambda t: mean(
            t["verdict_a"] - t["verdict_b"], t["truth_a"] - t["truth_b"]
        )
    },
    "scores": {"ppi++": lambda t: mean(t["score"], t["truth"])},
    "panel": {"ppi++, mean vote": lambda t: mean(t["votes"].mean(1), t["truth"])},
    "attempts": {"ppi++, tasks": lambda t: mean(t["verdict"].min(1), t["truth"].min(1))},
}
