"""Closed forms: what each promises, assumes and refuses. The arithmetic is in other modules."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy.special import expit, logit

from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.intervals import wilson, z_score
from bayesjudge.core.estimate import Caution, Estimate
from bayesjudge.panel import em, logistic
from bayesjudge.panel.checks import cautions_of
from bayesjudge.panel.data import NONE, Votes
from bayesjudge.panel.described import INDEPENDENT, JAIN, SAME_ERRORS, SAMPLED, rows_of
from bayesjudge.panel.summaries import Summary
from bayesjudge.panel.voting import (
    SOURCE as VOTING_SOURCE,
)
from bayesjudge.panel.voting import (
    VotingRule,
    prevalence_by,
    require_binary,
    verdicts,
)

#: Added to every expected count where curvature is looked at, so that no rate is 0 or 1.
PSEUDO = 0.5


def panel_mean(votes: Votes, *, ci_prob: float = 0.95) -> Estimate:
    """Take the panel at its word: the mean of all votes.

    Parameters
    ----------
    votes : Votes
        With two classes.
    ci_prob : float, default 0.95
        Coverage that the interval aims at, for the pass rate.

    Returns
    -------
    Estimate
        ``prevalence`` by generator. Items, and not votes, are the units of the interval.

    Raises
    ------
    InputError
        Where there are more than two classes.
    """
    summary = Summary.of(votes)
    n = summary.labelled_n + summary.other_n
    half = z_score(ci_prob) * summary.spread / np.sqrt(n)
    columns = (summary.rate, *(np.clip(summary.rate + s * half, 0, 1) for s in (-1, 1)))
    return Estimate.from_arrays(
        {"prevalence": columns},
        votes.generators,
        method="Panel mean",
        ci_prob=ci_prob,
        source=f"{JAIN}, Section 3",
        interval="normal, by item",
        assumptions=("the judges never err, or their errors cancel",),
    )


def voting(
    votes: Votes, rule: VotingRule = VotingRule("majority"), *, ci_prob: float = 0.95
) -> Estimate:
    """Share of items that a voting rule calls valid.

    Parameters
    ----------
    votes : Votes
        With two classes.
    rule : VotingRule, default ``VotingRule("majority")``
        For example ``VotingRule("veto", 4)``, or what `choose_threshold` found.
    ci_prob : float, default 0.95
        Coverage that the interval aims at, for the rule's own pass rate.

    Returns
    -------
    Estimate
        ``prevalence`` by generator, with Wilson's interval.

    Raises
    ------
    InputError
        Where there are more than two classes.

    Examples
    --------
    >>> votes = Votes([[1, 1, 0], [1, 0, 0]], [-1, -1], [0, 0], ["gpt"], ["a", "b", "c"])
    >>> voting(votes, VotingRule("veto", 2))["prevalence[gpt]"].value
    0.5
    """
    passed = np.rint(prevalence_by(votes, verdicts(votes, rule)) * votes.items)
    return Estimate.from_arrays(
        {"prevalence": wilson(passed, votes.items, ci_prob)},
        votes.generators,
        method=f"Voting: {rule}",
        ci_prob=ci_prob,
        source=VOTING_SOURCE,
        interval="Wilson",
        assumptions=("the rule's two kinds of error cancel",),
    )


def dawid_skene_em(
    votes: Votes, *, ci_prob: float = 0.95, missing: Literal["skip", "response"] = "skip"
) -> Estimate:
    """Maximum likelihood of Dawid and Skene's model, with labelled items observed.

    Parameters
    ----------
    votes : Votes
        Of two or more classes.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.
    missing : {"skip", "response"}
        Leave a missing vote out, or let it be one more response that depends on the truth.

    Returns
    -------
    Estimate
        ``prevalence`` by generator and ``sensitivity`` and ``specificity`` by judge; with more
        classes, ``share`` by generator and class and ``confusion`` by judge, truth and vote. The
        interval comes from the curvature after half an item is added to every count, so that an
        estimate of 0 or 1 has one too.

    Raises
    ------
    InputError
        Where `ci_prob` or `missing` is unknown.

    References
    ----------
    Dawid & Skene (1979), Appl. Stat. 28, 20-28.
    """
    check_ci_prob(ci_prob)
    with checking("panel.dawid_skene_em") as require:
        require(missing in ("skip", "response"), f"missing={missing!r}: skip or response")
    problem = em.Problem(votes, missing)
    best = em.solve(problem)
    inner = em.solve(problem, start=best.posterior.copy(), pseudo=PSEUDO)
    errors = em.covariance(problem, inner.rates, PSEUDO)
    z = z_score(ci_prob)
    parts: list[tuple[Any, Any, Any]] = []
    for name, error in zip(("shares", "confusion"), errors, strict=True):
        value, centre = getattr(best.rates, name), logit(getattr(inner.rates, name))
        low, high = expit(centre - z * error), expit(centre + z * error)
        parts.append((value, np.minimum(low, value), np.maximum(high, value)))
    cautions = list(cautions_of(votes))
    if not best.converged:
        text = f"the likelihood still grew after {best.iterations} iterations"
        cautions.insert(0, Caution("not-converged", text))
    return Estimate.from_rows(
        _quantities(votes, parts),
        method="Dawid-Skene, maximum likelihood",
        ci_prob=ci_prob,
        source="Dawid & Skene (1979)",
        interval="penalised Wald",
        assumptions=(INDEPENDENT, SAME_ERRORS),
        cautions=tuple(cautions),
    )


def model_assisted(votes: Votes, *, ci_prob: float = 0.95) -> Estimate:
    """Predict the truth of unlabelled items from their votes, and average.

    Parameters
    ----------
    votes : Votes
        With two classes, some items labelled, best some of every generator.
    ci_prob : float, default 0.95
        Probability of the interval.

    Returns
    -------
    Estimate
        ``prevalence`` by generator, of these items: the mode of `fit` with
        ``model="vote_regression"`` under fixed scales, with a normal interval on the logit scale.

    Raises
    ------
    InputError
        Where no item is labelled, or there are more than two classes.

    References
    ----------
    Särndal, Swensson & Wretman (1992), Model Assisted Survey Sampling.
    """
    require_binary(votes, "panel.model_assisted")
    with checking("panel.model_assisted") as require:
        require((votes.truth != NONE).any(), "no item is labelled; label some")
    value, error = logistic.shares_at(votes, logistic.find_mode(votes))
    inside = np.clip(value, 1e-9, 1 - 1e-9)
    half = z_score(ci_prob) * error / (inside * (1 - inside))
    columns = (value, expit(logit(inside) - half), expit(logit(inside) + half))
    return Estimate.from_arrays(
        {"prevalence": columns},
        votes.generators,
        method="Truth given votes, posterior mode",
        ci_prob=ci_prob,
        source="Särndal et al. (1992), model-assisted estimation",
        interval="normal on the logit scale",
        assumptions=(SAMPLED,),
    )


def _quantities(votes: Votes, parts: list[tuple[Any, Any, Any]]) -> dict[str, tuple[float, ...]]:
    """Rates in the words of two classes, or as shares and confusions."""
    shares, confusion = parts
    if votes.n_classes == 2:
        return (
            rows_of("prevalence", votes.generators, tuple(c[:, 1] for c in shares))
            | rows_of("sensitivity", votes.judges, tuple(c[:, 1, 1] for c in confusion))
            | rows_of("specificity", votes.judges, tuple(c[:, 0, 0] for c in confusion))
        )
    classes = list(votes.classes)
    responses = [*classes, "missing"][: confusion[0].shape[-1]]
    pairs = [f"{g}, {c}" for g in votes.generators for c in classes]
    triples = [f"{j}, {t}, {v}" for j in votes.judges for t in classes for v in responses]
    return rows_of("share", pairs, tuple(c.ravel() for c in shares)) | rows_of(
        "confusion", triples, tuple(c.ravel() for c in confusion)
    )
