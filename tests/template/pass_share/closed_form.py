"""Closed forms: Wilson's interval."""

from __future__ import annotations

from bayesjudge.pass_share.data import Passes

from bayesjudge.core.estimate import Assumption, Estimate, Quantity
from bayesjudge.core.intervals import wilson
from bayesjudge.core.methods import Method

INDEPENDENT = Assumption("independent-items", "items are independent of each other")


def wilson_share(passes: Passes, *, ci_prob: float = 0.95) -> Estimate:
    """Share of passes with Wilson's score interval.

    Parameters
    ----------
    passes : Passes
        Counts.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.

    Returns
    -------
    Estimate
        ``prevalence`` by system, a share of items.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.

    References
    ----------
    Wilson (1927), J. Am. Stat. Assoc. 22, 209-212.

    Examples
    --------
    >>> found = wilson_share(Passes([10], [7], ["gpt"]))
    >>> [round(x, 3) for x in found["prevalence", "gpt"]]
    [0.7, 0.397, 0.892]
    """
    columns = wilson(passes.passes, passes.items, ci_prob)
    return Estimate(
        {"prevalence": Quantity.over(columns, {"system": passes.systems})},
        method=Method("wilson", "Wilson"),
        ci_prob=ci_prob,
        source="Wilson (1927)",
        interval="Wilson",
        assumptions=(INDEPENDENT,),
        data=passes,
    )
