"""Posterior means and intervals by quadrature, as an `Estimate`."""

from __future__ import annotations

from typing import Literal

import numpy as np

from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.intervals import z_score
from bayesjudge.core.results import INTERVALS, Caution, Estimate, Interval
from bayesjudge.prevalence.cautions import cautions_of
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.model import ASSUMPTIONS, SOURCE, Priors
from bayesjudge.prevalence.quadrature import posterior_of
from bayesjudge.prevalence.shares import Beta, Contradiction, Posterior

KINDS = {**INTERVALS, "eti+": "equal-tailed, reaching 0 or 1"}


def exact(
    counts: Counts,
    priors: Priors = Priors(),
    *,
    ci_prob: float = 0.95,
    interval: Interval | Literal["eti+"] = "eti",
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
    interval : {"eti", "hdi", "eti+"}
        Equal-tailed; the shortest; or equal-tailed with an end moved to 0 or 1 where the data do
        not exclude it. An equal-tailed interval never holds 0 or 1 themselves, so that it never
        covers a prevalence of exactly 0 or 1; the moved end repairs that.

    Returns
    -------
    Estimate
        ``prevalence`` as `fit` estimates it, without Monte Carlo error; ``nan`` with a caution
        where a system has no labels (``no-labels``), or where labels and verdicts disagree by more
        than 60 standard deviations (``contradiction``).

    Raises
    ------
    InputError
        Where `ci_prob` or `interval` is unknown, or ``"eti+"`` is asked for with labels by
        verdict, whose model has no prior of the prevalence itself.

    Notes
    -----
    ``"eti+"`` moves an end where the likelihood there, the judge's rates integrated out, is more
    than exp(-z**2 / 2) of its maximum, with z the normal quantile of `ci_prob`: the values that a
    likelihood ratio test would not reject. ``benchmarks/coverage_prevalence.py`` counts what each
    kind covers.

    Examples
    --------
    >>> counts = Counts(1000, 620, 100, 90, 100, 70, calibration="by_truth")
    >>> value, low, high = exact(counts)["prevalence"]
    >>> f"{value:.3f} ({low:.3f}, {high:.3f})"
    '0.534 (0.422, 0.639)'
    """
    check_ci_prob(ci_prob)
    with checking("interval") as require:
        require(interval in KINDS, f"expected one of {list(KINDS)}, got {interval!r}")
        require(
            interval != "eti+" or counts.calibration != "by_verdict",
            "'eti+' has no meaning with labels by verdict; use 'eti' or 'hdi'",
        )
    rows, refused = [], []
    for name in counts.systems or ("",):
        rows.append((np.nan, np.nan, np.nan))
        if name in counts.unlabelled_systems:  # a caution says so
            continue
        try:
            found = posterior_of(counts.system(name) if name else counts, priors)
            ends = found.interval(ci_prob, interval.removesuffix("+"))
            if interval == "eti+":
                ends = _extended(ends, found, priors, ci_prob)
            rows[-1] = (found.mean, *ends)
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
        interval=KINDS[interval],
        assumptions=(*ASSUMPTIONS[counts.calibration], f"priors: {priors}"),
        cautions=(*refused, *cautions_of(counts)),
    )


def _extended(
    ends: tuple[float, float], found: Posterior, priors: Priors, ci_prob: float
) -> tuple[float, float]:
    """Move an end to 0 or 1 where the likelihood there is not much below its maximum."""
    at_0, at_1 = found.reaches(Beta(*priors.prevalence), z_score(ci_prob) ** 2 / 2)
    return (0.0 if at_0 else ends[0]), (1.0 if at_1 else ends[1])
