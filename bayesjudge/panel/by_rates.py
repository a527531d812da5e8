"""Closed forms that need no more than how often each judge passed each generator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from bayesjudge.core.errors import UninformativeJudgeError, checking
from bayesjudge.core.intervals import wilson
from bayesjudge.core.estimate import Caution, Estimate
from bayesjudge.panel import regression as fitted_rates
from bayesjudge.panel.checks import cautions_of
from bayesjudge.panel.data import Votes
from bayesjudge.panel.described import JAIN, SAME_ERRORS, rows_of


def rogan_gladen(votes: Votes, *, ci_prob: float = 0.95) -> Estimate:
    """Correct each judge's pass rate for its errors, and average over the judges.

    Parameters
    ----------
    votes : Votes
        With two classes; the labelled items of all generators give the error rates.
    ci_prob : float, default 0.95
        Coverage of the intervals of sensitivity and specificity.

    Returns
    -------
    Estimate
        ``prevalence`` by generator, clipped to [0, 1] with the unclipped value as ``raw`` and
        without an interval: the judges' errors are not independent, and this average does not say
        how much they are not. ``sensitivity`` and ``specificity`` by judge, with Wilson's.

    Raises
    ------
    UninformativeJudgeError
        Where no judge does better than chance.
    InputError
        Where a class has no labelled item, or there are more than two classes.

    References
    ----------
    Rogan & Gladen (1978), Am. J. Epidemiol. 107, 71-76.
    """
    known = fitted_rates.PassRates.of(votes)
    by_truth = votes.tally()[..., :2].sum(axis=0)
    with checking("panel.rogan_gladen") as require:
        for t, word in ((1, "good"), (0, "bad")):
            require(by_truth[t].sum(), f"no labelled item is {word}; label some")
    gain = known.sensitivity + known.specificity - 1
    usable = gain > 0
    if not usable.any():
        raise UninformativeJudgeError(
            "panel.rogan_gladen", ["no judge has sensitivity + specificity above 1; use others"]
        )
    by_judge = (known.rates + known.specificity - 1)[:, usable] / gain[usable]
    seen = np.isfinite(by_judge).any(axis=1)
    raw, empty = np.full((2, len(seen)), np.nan)
    raw[seen] = np.nanmean(by_judge[seen], axis=1)
    cautions = [*_left_out(votes, gain), *_unseen(votes, seen)]
    rates = {
        "sensitivity": wilson(by_truth[1, :, 1], by_truth[1].sum(axis=-1), ci_prob),
        "specificity": wilson(by_truth[0, :, 0], by_truth[0].sum(axis=-1), ci_prob),
    }
    rows = rows_of("prevalence", votes.generators, (np.clip(raw, 0, 1), empty, empty, raw))
    for quantity, columns in rates.items():
        rows |= rows_of(quantity, votes.judges, columns)
    return Estimate.from_rows(
        rows,
        method="Rogan-Gladen by judge, averaged",
        ci_prob=ci_prob,
        source="Rogan & Gladen (1978)",
        interval="Wilson",
        assumptions=(SAME_ERRORS,),
        cautions=(*cautions, *cautions_of(votes)),
    )


def _left_out(votes: Votes, gain: np.ndarray) -> Iterator[Caution]:
    for name, above_chance in zip(votes.judges, gain, strict=True):
        if np.isnan(above_chance):
            text = f"judge {name!r} is left out: it voted on no labelled item of one of the classes"
            yield Caution("error-rates-unknown", text)
        elif above_chance <= 0:
            text = f"judge {name!r} is left out: it does no better"
            yield Caution("no-better-than-chance", text)


def _unseen(votes: Votes, seen: np.ndarray) -> Iterator[Caution]:
    for name, has_votes in zip(votes.generators, seen, strict=True):
        if not has_votes:
            text = f"no judge that could be corrected voted on generator {name!r}: nan"
            yield Caution("no-votes", text)


def regression(
    votes: Votes,
    *,
    solver: Literal["exact", "source"] = "exact",
    weights: tuple[float, float, float] = (2.0, 1.0, 10.0),
    starts: int = 10,
    random_seed: int = 0,
) -> Estimate:
    r"""Fit generators' prevalences and judges' error rates to the table of pass rates.

    Parameters
    ----------
    votes : Votes
        With two classes; labelled items anchor the fit.
    solver : {"exact", "source"}
        ``"source"`` is the published optimiser, which stops early; ``"exact"`` reaches the minimum.
    weights : tuple of float, default (2, 1, 10)
        :math:`\lambda` of prevalence, sensitivity and specificity in eq. (3).
    starts : int, default 10
        Starting points.
    random_seed : int, default 0
        Of the starting points.

    Returns
    -------
    Estimate
        ``prevalence`` by generator, ``sensitivity`` and ``specificity`` by judge, without
        intervals.

    Raises
    ------
    InputError
        Where a generator or a judge has no vote, or there are more than two classes.

    Notes
    -----
    The published errors are small because the published optimiser stops early. Eq. (3) has a kink
    where the anchors are met; a quasi-Newton method halts near it, while the prevalences of new
    generators are still close to where they started, their raw pass rates. At the true minimum the
    loss is lower and the errors are several times larger: the loss, not the optimiser, is at fault.
    Where ``"source"`` stops depends on the starts, which the source does not state to the digit:
    with one labelled generator it stops 2.7 to 3.5 points off on average, where 1.76 is published
    (tests/panel/test_regression.py). No setting that we tried gives that figure.

    References
    ----------
    Jain et al. (2025), Section 5, eqs. (1)-(3).
    """
    found = fitted_rates.minimise(
        fitted_rates.PassRates.of(votes),
        solver=solver,
        weights=weights,
        starts=starts,
        random_seed=random_seed,
    )
    names = {
        "prevalence": votes.generators,
        "sensitivity": votes.judges,
        "specificity": votes.judges,
    }
    rows: dict[str, tuple[float, ...]] = {}
    for quantity, labels in names.items():
        value = getattr(found, quantity)
        empty = np.full_like(value, np.nan)
        rows |= rows_of(quantity, labels, (value, empty, empty))
    early = Caution("stops-early", "the published optimiser halts before the minimum of its loss")
    return Estimate.from_rows(
        rows,
        method=f"Regression on pass rates, {solver} solver",
        ci_prob=0.95,
        source=f"{JAIN}, eqs. (1)-(3)",
        interval="none",
        assumptions=(SAME_ERRORS,),
        cautions=(early,) if solver == "source" else (),
    )
