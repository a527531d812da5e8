"""Posterior means and intervals by quadrature, as an `Estimate`."""

from __future__ import annotations

import numpy as np

from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.results import INTERVALS, Caution, Estimate, Interval
from bayesjudge.prevalence.cautions import cautions_of
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.model import ASSUMPTIONS, SOURCE, Priors
from bayesjudge.prevalence.quadrature import posterior_of
from bayesjudge.prevalence.shares import Contradiction


def exact(
    counts: Counts, priors: Priors = Priors(), *, ci_prob: float = 0.95, interval: Interval = "eti"
) -> Estimate:
    """Posterior mean and interval by quadrature, in milliseconds and without sampling.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels.
    priors : Priors, default ``Priors()``
        One for each unknown.
    ci_prob : float, default 0.95
        Probability of the intervals.
    interval : {"eti", "hdi"}
        Equal-tailed, or the shortest.

    Returns
    -------
    Estimate
        ``prevalence`` as `fit` estimates it, without Monte Carlo error; ``nan`` with a caution
        where a system has no labels (``no-labels``), or where labels and verdicts disagree by more
        than 60 standard deviations (``contradiction``).

    Raises
    ------
    InputError
        Where `ci_prob` or `interval` is unknown.

    Examples
    --------
    >>> counts = Counts(1000, 620, 100, 90, 100, 70, calibration="by_truth")
    >>> value, low, high = exact(counts)["prevalence"]
    >>> f"{value:.3f} ({low:.3f}, {high:.3f})"
    '0.534 (0.422, 0.639)'
    """
    check_ci_prob(ci_prob)
    with checking("interval") as require:
        require(interval in INTERVALS, f"expected one of {list(INTERVALS)}, got {interval!r}")
    rows, refused = [], []
    for name in counts.systems or ("",):
        rows.append((np.nan, np.nan, np.nan))
        if name in counts.unlabelled_systems:  # a caution says so
            continue
        try:
            found = posterior_of(counts.system(name) if name else counts, priors)
            rows[-1] = (found.mean, *found.interval(ci_prob, interval))
        except Contradiction:
            text = f"labels, verdicts and priors contradict each other {name}".strip()
            refused.append(Caution("contradiction", f"{text}: no quadrature; check the data"))
    columns = rows[0] if counts.systems is None else tuple(zip(*rows, strict=True))
    return Estimate.from_arrays(
        {"prevalence": columns},
        counts.systems,
        method="Bayesian (exact)",
        ci_prob=ci_prob,
        source=f"{SOURCE}; quadrature",
        interval=INTERVALS[interval],
        assumptions=(*ASSUMPTIONS[counts.calibration], f"priors: {priors}"),
        cautions=(*refused, *cautions_of(counts)),
    )
