"""The panel's bias, pooled over generators: what a labelled generator says of a new one."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesjudge.panel.priors import Priors
from bayesjudge.panel.summaries import Summary


def build(summary: Summary, priors: Priors) -> None:
    """Add the model to the PyMC model that is open.

    Only the panel's pass rate by generator enters, so that the shape of the votes' distribution
    cannot mislead it. On the logit scale a generator's pass rate is its prevalence plus a bias, and
    biases are exchangeable. Sampling errors of pass rates come from items, since the votes on one
    item are not independent, and go with those of the labels on the same items.

    Parameters
    ----------
    summary : Summary
        Of the votes.
    priors : Priors
        Of the unknowns.
    """
    import pymc as pm

    def prior(name: str, values: Any) -> tuple[Any, ...]:
        data = pm.Data(f"{name}_prior", np.atleast_1d(np.asarray(values, dtype=float)))
        return tuple(data[i] for i in range(np.size(values)))

    # the generators' mean is learnt, so that none is drawn to one half; their spread is not, so
    # that an outlying generator is not drawn to the others
    typical = pm.Normal("level_mean", *prior("level", tuple(priors.level)))
    apart = prior("level_spread", priors.level_spread)[0]
    above = pm.Normal("level_own", dims="generator")
    level = typical + apart * above
    centre = pm.Normal("bias_mean", *prior("bias", tuple(priors.bias)))
    spread = pm.HalfNormal("bias_spread", prior("bias_spread", priors.bias_spread)[0])
    own = pm.Normal("bias_own", dims="generator")
    prevalence = pm.Deterministic("prevalence", pm.math.sigmoid(level), dims="generator")
    bias = pm.Deterministic("bias", centre + spread * own, dims="generator")
    passing = pm.Deterministic("pass_rate", pm.math.sigmoid(level + bias), dims="generator")

    known = np.flatnonzero(summary.labelled_n > 0)
    if known.size:
        m = summary.labelled_n[known]
        good = summary.labelled_good[known]
        at = pm.Data("generator_of_labels", known.astype("int32"))
        n = pm.Data("labelled_n", m)
        seen = pm.Data("labelled_good_seen", good)
        pm.Binomial("labelled_good", n.astype("int64"), prevalence[at], observed=seen)
        slope = pm.Data("slope", np.array(summary.slope))
        share = pm.Data("labelled_share", good / m)
        error = pm.Data("labelled_error", summary.residual[known] / np.sqrt(m))
        expected = passing[at] + slope * (share - prevalence[at])
        rate = pm.Data("labelled_rate_seen", summary.labelled_rate[known])
        pm.Normal("labelled_rate", expected, error, observed=rate)
    open_ = np.flatnonzero(summary.other_n > 0)
    if open_.size:
        at = pm.Data("generator_of_others", open_.astype("int32"))
        error = pm.Data("other_error", summary.spread[open_] / np.sqrt(summary.other_n[open_]))
        rate = pm.Data("other_rate_seen", summary.other_rate[open_])
        pm.Normal("other_rate", passing[at], error, observed=rate)
