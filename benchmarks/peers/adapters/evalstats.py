"""``judge_debias_mean_ci`` and ``judge_alignment`` with their defaults."""

import evalstats as es
import numpy as np


def mean(proxy, truth):
    made = es.judge_debias_mean_ci(proxy, truth, rng=np.random.default_rng(1))
    return made.ci_low, made.ci_high


def kappa(t):
    known = ~np.isnan(t["truth"])
    pair = t["verdict"][known], t["truth"][known]
    made = es.judge_alignment(*pair, score_type="binary", selection="random").alignment_metrics
    return made["cohens_kappa"]["ci_low"], made["cohens_kappa"]["ci_high"]


METHODS = {
    "share": {"debiased": lambda t: mean(t["verdict"], t["truth"])},
    "paired": {
        "debiased differences": lambda t: mean(
            t["verdict_a"] - t["verdict_b"], t["truth_a"] - t["truth_b"]
        )
    },
    "scores": {"debiased": lambda t: mean(t["score"], t["truth"])},
    "panel": {"debiased mean vote": lambda t: mean(t["votes"].mean(1), t["truth"])},
    "agreement": {"kappa, bootstrap": kappa},
    "attempts": {"debiased, tasks": lambda t: mean(t["verdict"].min(1), t["truth"].min(1))},
}
