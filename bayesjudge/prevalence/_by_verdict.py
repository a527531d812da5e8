"""What labels chosen by verdict say of the judge: how much it finds, and how many it misses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesjudge.core.estimate import Row
from bayesjudge.prevalence.data import Counts
from bayesjudge.truth.pairs import Pairs

#: Posterior draws, always the same ones: an end moves by about a hundredth of its interval.
DRAWS = 100_000
#: Probability below which a judge better than chance is no longer taken for granted.
REFUTED = 0.01


class Errors(NamedTuple):
    """Rates of the judge, and items that it judged wrongly: those labelled, and those not."""

    sensitivity: Row
    specificity: Row
    missed: Row
    passed: Row


def errors(counts: Counts, ci_prob: float) -> Errors:
    """Rates as `judge.quality` has them, and posterior means of how many items are misjudged.

    These are beta-binomial under Jeffreys' priors, of a judge better than chance unless the labels
    refute it. Where no label shows an error of one kind, intervals go on to none of it.
    """
    rates = Pairs.of_verdicts(counts.verdicts, 0, None).rates(counts.design, ci_prob)
    rng = np.random.default_rng(1)
    passes, fails = int(counts.labelled_pass), int(counts.labelled_n - counts.labelled_pass)
    right = int(counts.correct_pass), int(counts.incorrect_fail)
    wrong = passes - right[0], fails - right[1]
    rest = int(counts.test_pass), int(counts.test_n - counts.test_pass)
    ppv = rng.beta(0.5 + right[0], 0.5 + wrong[0], DRAWS)
    npv = rng.beta(0.5 + right[1], 0.5 + wrong[1], DRAWS)
    better = ppv + npv > 1
    kept = better if better.mean() > REFUTED else np.full(DRAWS, True)
    missed = wrong[1] + rng.binomial(rest[1], 1 - npv[kept])
    passed = wrong[0] + rng.binomial(rest[0], 1 - ppv[kept])
    tails = [(1 - ci_prob) / 2, (1 + ci_prob) / 2]

    def row(draws: np.ndarray, none: bool) -> Row:
        low, high = np.quantile(draws, tails)
        return Row(float(draws.mean()), 0.0 if none else float(low), float(high))

    return Errors(
        Row(*rates["sensitivity"]),
        Row(*rates["specificity"]),
        row(missed, not wrong[1]),
        row(passed, not wrong[0]),
    )
