"""Rules that turn the votes on an item into one verdict, and what they do with missing votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from bayesjudge.core.counting import ratio
from bayesjudge.core.errors import checking, expect
from bayesjudge.panel.checks import require_identified
from bayesjudge.panel.data import MISSING, Votes

Kind = Literal["at_least_valid", "veto", "majority"]


@dataclass(frozen=True)
class VotingRule:
    """One way to make a verdict of an item from the votes on it.

    Parameters
    ----------
    kind : {"at_least_valid", "veto", "majority"}
        ``"at_least_valid"``: valid if at least `threshold` judges say so. A missing vote is not
        a vote for valid, so that it counts against the item. ``"veto"``: invalid if at least
        `threshold` judges say so. A missing vote is not a veto, so that it counts for the item.
        ``"majority"``: valid if more than half of the votes given say so; a missing vote counts
        for neither side, and an item without a majority (a tie, or no vote) is invalid.
    threshold : int, optional
        Number of votes, 1 or more; the majority has none.

    Raises
    ------
    InputError
        If the kind is unknown, or the threshold is missing or out of range.

    Examples
    --------
    >>> print(VotingRule("veto", 4))
    invalid if at least 4 judges say so
    """

    kind: Kind
    threshold: int | None = None

    def __post_init__(self) -> None:
        kinds = ("at_least_valid", "veto", "majority")
        with checking("panel.VotingRule") as require:
            require(self.kind in kinds, f"kind={self.kind!r}, expected one of {list(kinds)}")
            if self.kind == "majority":
                require(self.threshold is None, "a majority has no threshold; leave it out")
            else:
                whole = isinstance(self.threshold, int | np.integer) and self.threshold >= 1
                require(
                    whole, f"threshold={self.threshold!r}, expected a number of votes from 1 on"
                )

    def __str__(self) -> str:
        if self.kind == "majority":
            return "valid if most of the votes given say so"
        word = "invalid" if self.kind == "veto" else "valid"
        return f"{word} if at least {self.threshold} judges say so"


def require_binary(votes: Votes, what: str) -> None:
    """Raise unless there are two classes."""
    with checking(what) as require:
        require(
            votes.n_classes == 2,
            f"needs pass and fail, got {votes.n_classes} classes; use dawid_skene_em or "
            "MulticlassDawidSkene, or say which class passes (pass_value=)",
        )


def verdicts(votes: Votes, rule: VotingRule) -> np.ndarray:
    """Apply a rule to every distinct pattern."""
    require_binary(votes, "panel.VotingRule")
    valid = (votes.votes == 1).sum(axis=1)
    invalid = (votes.votes == 0).sum(axis=1)
    if rule.kind == "majority":
        return valid > invalid
    if rule.kind == "veto":
        return invalid < rule.threshold
    return valid >= rule.threshold


def ensemble_rates(votes: Votes, rule: VotingRule) -> tuple[float, float]:
    """Sensitivity and specificity of a rule on the labelled items.

    Parameters
    ----------
    votes : Votes
        With two classes, some items with the truth.
    rule : VotingRule
        What to apply.

    Returns
    -------
    sensitivity, specificity : float
        ``nan`` if no labelled item is good, or none is bad.

    Raises
    ------
    InputError
        If there are more than two classes.
    """
    passed = verdicts(votes, rule)
    kinds = [votes.truth == t for t in (1, 0)]
    right = [votes.count[kinds[0] & passed].sum(), votes.count[kinds[1] & ~passed].sum()]
    sensitivity, specificity = ratio(right, [votes.count[kind].sum() for kind in kinds])
    return float(sensitivity), float(specificity)


def prevalence_by(votes: Votes, passed: np.ndarray) -> np.ndarray:
    """Share of each generator's items that `passed` marks."""
    size = len(votes.generators)
    return ratio(np.bincount(votes.generator, votes.count * passed, size), votes.items)


def true_prevalence(votes: Votes) -> np.ndarray:
    """Share of good ones among each generator's labelled items."""
    return ratio(votes.labelled[:, 1], votes.labelled.sum(axis=1))


def choose_threshold(votes: Votes, kind: Literal["at_least_valid", "veto"] = "veto") -> VotingRule:
    """Take the threshold with the smallest maximum error on generators whose items are labelled.

    Only labelled items are looked at, so that a generator without labels has no say.

    Parameters
    ----------
    votes : Votes
        With two classes and at least one generator with labelled items.
    kind : {"at_least_valid", "veto"}, default "veto"
        Which rule to tune.

    Returns
    -------
    VotingRule
        Of the lowest threshold if several are equally good.

    Raises
    ------
    InputError
        If no item is labelled, or there are more than two classes.

    References
    ----------
    Jain et al. (2025), Section 4: the threshold needs a calibration set.
    """
    require_binary(votes, "panel.choose_threshold")
    require_identified(votes, "prevalence", "panel.choose_threshold")
    problem = "no item is labelled; name a threshold yourself"
    expect("panel.choose_threshold", (votes.truth != MISSING).any(), problem)
    known = votes.truth != MISSING
    size = len(votes.generators)
    n = np.bincount(votes.generator[known], votes.count[known], size)
    truth = true_prevalence(votes)
    worst = []
    for threshold in range(1, votes.votes.shape[1] + 1):
        passed = verdicts(votes, VotingRule(kind, threshold))[known]
        share = ratio(np.bincount(votes.generator[known], votes.count[known] * passed, size), n)
        worst.append(np.nanmax(np.abs(share - truth)))
    return VotingRule(kind, int(np.argmin(worst)) + 1)
