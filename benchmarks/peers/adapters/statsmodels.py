"""People's labels alone: Wilson, t; and ``cohens_kappa``."""

import numpy as np
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW


def wilson(truth):
    known = truth[~np.isnan(truth)]
    return proportion_confint(known.sum(), known.size, method="wilson")


def student(truth):
    return DescrStatsW(truth[~np.isnan(truth)]).tconfint_mean()


def kappa(t):
    known = ~np.isnan(t["truth"])
    cells = (2 * t["verdict"][known] + t["truth"][known]).astype(int)
    made = cohens_kappa(np.bincount(cells, minlength=4).reshape(2, 2))
    return made.kappa_low, made.kappa_upp


METHODS = {
    "share": {"labels only, Wilson": lambda t: wilson(t["truth"])},
    "paired": {"labels only, t": lambda t: student(t["truth_a"] - t["truth_b"])},
    "scores": {"labels only, t": lambda t: student(t["truth"])},
    "panel": {"labels only, Wilson": lambda t: wilson(t["truth"])},
    "agreement": {"kappa, normal": kappa},
    "attempts": {"labels only, tasks, Wilson": lambda t: wilson(t["truth"].min(1))},
}
