"""What labels chosen by verdict say of the judge: how much it finds, and how many it misses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesjudge.core.estimate import Row
from bayesjudge.prevalence.data import Counts

#: Posterior draws, always the same ones: an end moves by about a hundredth of its interval.
DRAWS = 100_000


class Errors(NamedTuple):
    """Rates of the judge, and items that it judged wrongly: those labelled, and those not."""

    sensitivity: Row
    specificity: Row
    missed: Row
    passed: Row


def errors(counts: Counts, ci_prob: float) -> Errors:
    """Posterior means and intervals under Jeffreys' priors, of a judge better than chance.

    Pass rate and predictive values are Beta, and the errors among items without a label
    beta-binomial. Where no label shows an error of one kind, intervals go on to none of it.
    """
    rng = np.random.default_rng(1)
    passes, fails = int(counts.labelled_pass), int(counts.labelled_n - counts.labelled_pass)
    right = int(counts.correct_pass), int(counts.incorrect_fail)
    wrong = passes - right[0], fails - right[1]
    rest = int(counts.test_pass), int(counts.test_n - counts.test_pass)
    rate = rng.beta(0.5 + rest[0] + passes, 0.5 + rest[1] + fails, DRAWS)
    ppv = rng.beta(0.5 + right[0], 0.5 + wrong[0], DRAWS)
    npv = rng.beta(0.5 + right[1], 0.5 + wrong[1], DRAWS)
    kept = ppv + npv > 1
    rate, ppv, npv = rate[kept], ppv[kept], npv[kept]
    good = rate * ppv, (1 - rate) * (1 - npv)
    bad = rate * (1 - ppv), (1 - rate) * npv
    missed = wrong[1] + rng.binomial(rest[1], 1 - npv)
    passed = wrong[0] + rng.binomial(rest[0], 1 - ppv)
    tails = [(1 - ci_prob) / 2, (1 + ci_prob) / 2]

    def row(draws: np.ndarray, none: bool, end: float) -> Row:
        low, high = np.quantile(draws, tails)
        if none:
            low, high = min(low, end), max(high, end)
        return Row(float(draws.mean()), float(low), float(high))

    return Errors(
        row(good[0] / (good[0] + good[1]), not wrong[1], 1.0),
        row(bad[1] / (bad[0] + bad[1]), not wrong[0], 1.0),
        row(missed, not wrong[1], 0.0),
        row(passed, not wrong[0], 0.0),
    )
