"""What a declared design and a way of pooling mean for a model: its unknowns and its words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Caution
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.described import (
    COMPOSED,
    OVERALL,
    PER_PROPENSITY,
    PER_VERDICT,
    SAME_JUDGE,
    SAMPLED,
    judged,
)

if TYPE_CHECKING:
    from bayesjudge.prevalence.model import Priors

Pooling = Literal["separate", "partial", "full"]
ASSUMPTIONS = {
    "random": (SAMPLED,),
    "by_truth": (SAME_JUDGE,),
    "separate": (SAME_JUDGE,),
    "by_verdict": (PER_VERDICT,),
    "known_propensity": (PER_PROPENSITY,),
}
#: With these, the data contradict the declared design.
REFUSED = ("label-shift", "pass-rate-out-of-range")
#: What each way of pooling adds to the method's name, and what it assumes.
POOLINGS: dict[str, tuple[str, str]] = {
    "separate": ("", ""),
    "partial": (
        ", rates partially pooled",
        "the judge's rates in one {} are exchangeable with those in the others",
    ),
    "full": (", rates fully pooled", "the judge has the same rates in every {}"),
}


def chosen_pooling(counts: Counts, pooling: Pooling | None) -> Pooling:
    """Choose the pooling where nobody did.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels.
    pooling : {"separate", "partial", "full"} or None
        What was asked for.

    Returns
    -------
    str
        Strata are partially pooled, where labels tell the judge's rates.
    """
    if pooling is not None:
        return pooling
    return "partial" if counts.dim == "stratum" and not counts.predictive else "separate"


def quantities_of(counts: Counts, pooling: Pooling) -> tuple[str, ...]:
    """Name the variables that answer the question.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels.
    pooling : {"separate", "partial", "full"}
        How far several systems share the judge's rates.

    Returns
    -------
    tuple of str
        Of the posterior.
    """
    strata = counts.dim == "stratum"
    rates = ("ppv", "npv") if counts.predictive else ("sensitivity", "specificity")
    spread = (*(("prevalence",) if strata else ()), *rates) if pooling == "partial" else ()
    first = (OVERALL,) if strata else ()
    return (*first, "prevalence", *rates, *(f"{name}_spread" for name in spread))


def assumed(
    counts: Counts, priors: Priors, pooling: Pooling
) -> tuple[tuple[str, ...], list[Caution]]:
    """Say what a model assumes, and what speaks against it.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels.
    priors : Priors
        One for each unknown.
    pooling : {"separate", "partial", "full"}
        How far several systems share the judge's rates.

    Returns
    -------
    assumptions : tuple of str
        In words.
    cautions : list of Caution
        With which the data contradict them.
    """
    strata = counts.dim == "stratum"
    words = [f"priors: {priors}"]
    if pooling == "partial":
        kind = "strata" if strata else "systems"
        words[0] += f"; spread between {kind} half-normal({priors.spread:g}) logits"
    if pooling != "separate":
        words.insert(0, POOLINGS[pooling][1].format(counts.dim))
    return judged(counts, (*granted(counts), *words))


def granted(counts: Counts) -> tuple[str, ...]:
    """Say what the declared design, and labels from elsewhere, assume.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels.

    Returns
    -------
    tuple of str
        In words.
    """
    more = () if counts.elsewhere is None else (SAME_JUDGE,)
    strata = (COMPOSED,) if counts.dim == "stratum" and counts.propensity is None else ()
    return tuple(dict.fromkeys((*ASSUMPTIONS[counts.calibration], *more, *strata)))


def check_pooling(counts: Counts, pooling: Pooling) -> None:
    """Refuse a pooling that leaves a system without an answer.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels.
    pooling : str
        What was asked for.

    Raises
    ------
    InputError
        Where it is unknown, or a system without labels is not pooled.
    """
    with checking("prevalence.build_model") as require:
        known = pooling in get_args(Pooling)
        require(known, f"pooling must be one of {get_args(Pooling)}, got {pooling!r}")
        require(
            pooling == "partial" or not counts.unlabelled_systems,
            f"no item of {list(counts.unlabelled_systems)} has a human label, so the judge's "
            "errors there are unknown; label some, or borrow from the other systems with "
            "pooling='partial'",
        )
