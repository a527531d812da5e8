"""Closed forms that carry what labelled items teach over to the items that have no label."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.special import expit, logit, stdtrit

from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.intervals import z_score
from bayesjudge.core.estimate import Caution, Estimate
from bayesjudge.core.intervals import FEW, z_score
from bayesjudge.panel.data import NONE, Votes
from bayesjudge.panel.described import EXCHANGEABLE, SAMPLED
from bayesjudge.panel.summaries import Summary, mean_vote
from bayesjudge.panel.voting import prevalence_by, require_binary, true_prevalence


def logit_shift(
    votes: Votes, *, ci_prob: float = 0.95, scale: Literal["logit", "identity"] = "logit"
) -> Estimate:
    """Subtract the panel's average bias on the other, labelled generators.

    The bias of a labelled generator is its pass rate less its share of good outputs, on the chosen
    scale. Each generator's estimate uses the biases of the *other* labelled generators only.

    Parameters
    ----------
    votes : Votes
        With two classes, and at least two labelled generators.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.
    scale : {"logit", "identity"}
        Where biases are averaged. ``"identity"`` is the difference estimator across generators.

    Returns
    -------
    Estimate
        ``prevalence`` by generator, with a Student prediction interval: the spread of the other
        generators' biases holds sampling errors and true differences alike. ``nan`` for a
        generator with fewer than two others that are labelled.

    Raises
    ------
    InputError
        Where fewer than two generators are labelled, or an argument is unknown.
    """
    require_binary(votes, "panel.logit_shift")
    check_ci_prob(ci_prob)
    summary, truth = Summary.of(votes), true_prevalence(votes)
    with checking("panel.logit_shift") as require:
        require(scale in ("logit", "identity"), f"scale={scale!r}: logit or identity")
        known = ~np.isnan(truth)
        require(known.sum() >= 2, f"{known.sum()} generators are labelled, at least 2 are needed")
    items = votes.items
    forward = logit if scale == "logit" else np.asarray
    back = expit if scale == "logit" else lambda x: np.clip(x, 0, 1)
    rates = _inside(summary.rate, items) if scale == "logit" else summary.rate
    bias = forward(rates) - forward(_inside(truth, items) if scale == "logit" else truth)
    rows = {}
    for i, name in enumerate(votes.generators):
        others = known.copy()
        others[i] = False
        level, k = forward(rates[i]), int(others.sum())
        if k < 2:
            rows[f"prevalence[{name}]"] = (float(back(level - bias[others].mean())), *[np.nan] * 2)
            continue
        half = stdtrit(k - 1, (1 + ci_prob) / 2) * bias[others].std(ddof=1) * np.sqrt(1 + 1 / k)
        ends = level - bias[others].mean() + np.array([0, -half, half])
        rows[f"prevalence[{name}]"] = tuple(float(x) for x in back(ends))
    return Estimate.from_rows(
        rows,
        method="Logit shift" if scale == "logit" else "Difference estimator, other generators",
        ci_prob=ci_prob,
        source="Pooled bias of labelled generators; closed form of bias_pooling",
        interval="Student prediction",
        assumptions=(EXCHANGEABLE,),
    )


def difference(votes: Votes, *, ci_prob: float = 0.95) -> Estimate:
    """Correct the panel's pass rate by its error on the generator's own labelled items.

    Parameters
    ----------
    votes : Votes
        With two classes. Labels must be a random sample of each generator's items.
    ci_prob : float, default 0.95
        Coverage that the interval aims at, for the share among these items.

    Returns
    -------
    Estimate
        ``prevalence`` by generator; ``nan``, with a caution, for one without two labelled items.

    Raises
    ------
    InputError
        Where there are more than two classes.

    Notes
    -----
    An item without any vote counts as one with the mean vote of all items that have one.

    Where fewer than 5 of a generator's labelled items are misjudged (by half of the votes on them,
    or more), good, or bad, their spread says little of the errors that the others may hold. Then
    four imaginary items (good or bad, passed or failed by all) join them for the interval, as in
    `bayesjudge.prevalence.difference`.

    References
    ----------
    Särndal, Swensson & Wretman (1992), Model Assisted Survey Sampling, Section 6.3; Bonett & Price
    (2012), J. Educ. Behav. Stat. 37, 479-488.
    """
    require_binary(votes, "panel.difference")
    vote = _filled(votes)
    z, rows, cautions = z_score(ci_prob), {}, []
    rate = prevalence_by(votes, vote)
    for i, name in enumerate(votes.generators):
        mine = (votes.generator == i) & (votes.truth != NONE)
        n, m = votes.items[i], votes.count[mine].sum()
        if m < 2:
            rows[f"prevalence[{name}]"] = (np.nan, np.nan, np.nan)
            cautions.append(Caution("no-labels", f"generator {name!r} has {m} labelled items"))
            continue
        mean, others, error = _corrections(votes.truth[mine], vote[mine], votes.count[mine])
        # what is known of the labelled items stays so
        centre = rate[i] + mean + (1 - m / n) * (others - mean)
        half = z * error * np.sqrt(1 - m / n)
        ends = np.clip([rate[i] + mean, centre - half, centre + half], 0, 1)
        rows[f"prevalence[{name}]"] = tuple(ends)
    return Estimate.from_rows(
        rows,
        method="Difference estimator, own labels",
        ci_prob=ci_prob,
        source="Särndal et al. (1992), Section 6.3; prediction-powered inference",
        interval="normal",
        assumptions=(SAMPLED,),
        cautions=tuple(cautions),
    )


def _filled(votes: Votes) -> np.ndarray:
    """Mean vote of each pattern; where nobody voted, that of all items that have a vote."""
    vote = mean_vote(votes)
    voted = ~np.isnan(vote)
    typical = np.average(vote[voted], weights=votes.count[voted]) if voted.any() else 0.5
    return np.where(voted, vote, typical)


def _corrections(
    truth: np.ndarray, vote: np.ndarray, count: np.ndarray
) -> tuple[float, float, float]:
    """Mean of truth less vote; that to expect of other items; and its standard error."""
    error = truth - vote
    mean = np.average(error, weights=count)
    misjudged = np.abs(error) >= 0.5
    kinds = (count[misjudged].sum(), count[truth == 1].sum(), count[truth == 0].sum())
    if min(kinds) < FEW:
        error, count = np.append(error, [1, 0, 0, -1]), np.append(count, [1, 1, 1, 1])
    m, others = count.sum(), np.average(error, weights=count)
    variance = count @ (error - others) ** 2 / (m - 1)
    return float(mean), float(others), float(np.sqrt(variance / m))


def _inside(share: np.ndarray, items: np.ndarray) -> np.ndarray:
    """Keep a share off 0 and 1, as if half an item of each kind were added."""
    return (share * items + 0.5) / (items + 1)
