"""Every method side by side."""

from __future__ import annotations

from functools import partial

from bayesjudge.core.comparing import compare, of_closed_forms
from bayesjudge.core.errors import InputError, Problem
from bayesjudge.core.estimate import Estimate
from bayesjudge.leaderboard.closed_form import davidson, power_tuned
from bayesjudge.leaderboard.data import PEOPLE, Battles, StrengthTarget


def closed_forms(
    battles: Battles, *, target: StrengthTarget = "any length", ci_prob: float = 0.95
) -> tuple[Estimate, ...]:
    """Make every closed form that has an estimate.

    Parameters
    ----------
    battles : Battles
        What was seen.
    target : {"any length", "equal length"}
        As of `davidson`; nothing is prediction-powered at equal length.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    tuple of Estimate
        Prediction-powered, people only, and each judge's own, but for those without a finite
        estimate.

    Raises
    ------
    InputError
        If `target` or `ci_prob` is out of range, or none of them has an estimate.
    """
    estimates: list[Estimate] = []
    refused: list[str | Problem] = []
    powered = battles.judges and target == "any length"
    wanted = [partial(power_tuned, battles)] if powered else []
    wanted.append(partial(davidson, battles, PEOPLE, order=False, target=target))
    wanted += [partial(davidson, battles, judge, target=target) for judge in battles.judges]
    for make in wanted:
        try:
            estimates.append(make(ci_prob=ci_prob))
        except InputError as error:
            refused += error.problems
    if not estimates:
        raise InputError("leaderboard.closed_forms", dict.fromkeys(refused))
    return tuple(estimates)


compare.register(Battles, of_closed_forms(closed_forms))
