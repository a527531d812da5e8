"""``PPIMeanEstimator``; of a panel ``MultiPPIMeanEstimator`` too."""

from glide.estimators import MultiPPIMeanEstimator, PPIMeanEstimator


def mean(proxy, truth, estimator=PPIMeanEstimator):
    interval = estimator().estimate(truth, proxy).confidence_interval
    return interval.lower_bound, interval.upper_bound


def gap(t):
    return mean(t["verdict_a"] - t["verdict_b"], t["truth_a"] - t["truth_b"])


METHODS = {
    "share": {"ppi": lambda t: mean(t["verdict"], t["truth"])},
    "paired": {"ppi of differences": gap},
    "scores": {"ppi": lambda t: mean(t["score"], t["truth"])},
    "panel": {
        "ppi, mean vote": lambda t: mean(t["votes"].mean(1), t["truth"]),
        "multi-ppi": lambda t: mean(t["votes"], t["truth"], MultiPPIMeanEstimator),
    },
    "attempts": {"ppi, tasks": lambda t: mean(t["verdict"].min(1), t["truth"].min(1))},
}
