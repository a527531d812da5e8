"""``ppi_estimate``, ``rogan_gladen_estimate``, ``ppi_compare``, ``judge_agreement``."""

import numpy as np
import truescore as ts


def mean(proxy, truth, estimator=ts.ppi_estimate):
    at = np.flatnonzero(~np.isnan(truth))
    made = estimator(proxy, truth[at], at)
    return made.low, made.high


def compare(t):
    at = np.flatnonzero(~np.isnan(t["truth_a"]))
    truths = t["truth_a"][at], t["truth_b"][at]
    made = ts.ppi_compare(t["verdict_a"], t["verdict_b"], *truths, at)
    return made.low, made.high


def kappa(t):
    known = ~np.isnan(t["truth"])
    made = ts.judge_agreement(t["verdict"][known], t["truth"][known]).cohen_kappa
    return made.low, made.high


METHODS = {
    "share": {
        "ppi": lambda t: mean(t["verdict"], t["truth"]),
        "rogan-gladen": lambda t: mean(t["verdict"], t["truth"], ts.rogan_gladen_estimate),
    },
    "paired": {"ppi_compare": compare},
    "scores": {"ppi": lambda t: mean(t["score"], t["truth"])},
    "panel": {"ppi, mean vote": lambda t: mean(t["votes"].mean(1), t["truth"])},
    "agreement": {"kappa, bootstrap": kappa},
    "alpha": {"point only": lambda t: [ts.krippendorff_alpha(t["ratings"].T)] * 2},
    "attempts": {"ppi, tasks": lambda t: mean(t["verdict"].min(1), t["truth"].min(1))},
}
