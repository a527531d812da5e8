"""The posterior that a gate holds against its threshold."""

from __future__ import annotations

from typing import Any

from bayesjudge.prevalence import Counts

#: A pass must hold with one good item less, a fail with one more: prior of the prevalence.
LESS, MORE = (0.05, 1.0), (1.0, 0.05)


def model_of(counts: Counts, a: float, b: float) -> Any:
    """The model with a beta prior of the prevalence (of labels by verdict, of each value)."""
    from bayesjudge.core.priors import BetaPrior
    from bayesjudge.prevalence import ErrorRates, PredictiveValues

    if counts.predictive:
        return PredictiveValues(ppv=BetaPrior(a, b), npv=BetaPrior(b, a))
    return ErrorRates(prevalence=BetaPrior(a, b))


def posterior(counts: Counts, a: float, b: float, *, checked: bool = True) -> Any:
    """Of the prevalence, under the model of that prior."""
    from bayesjudge.truth.quadrature import posterior_of

    return posterior_of(counts, model_of(counts, a, b), checked=checked)
