"""Categorical verdicts asked again: by hand, by simulation, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from refusals import refused
from scipy.stats import beta

from bayesjudge.repeats import consistency


def test_shares_and_agreement_are_those_counted_by_hand():
    table = pd.DataFrame(
        {
            "item": list("aaaabbbbccd"),
            "verdict": ["P", "P", "P", "P", "P", "P", "F", "F", "P", None, "F"],
        }
    )
    found = consistency(table)
    assert found["modal_share", "a"].value == 1.0
    assert found["modal_share", "b"].value == 0.5
    same = np.array([1.0, 1 / 3])  # (2 + 2) / 12 of item b; items with one answer have none
    assert_allclose(found["same_twice"].value, same.mean())
    assert {c.id: c.text for c in found.cautions}["unparsed-answers"].startswith("1 of 11 answers")
    low = found["modal_share", "a"].low
    exact = beta(4.5, 0.5)  # of the larger of two shares: both tails of the Beta
    assert abs(exact.cdf(low) - exact.cdf(1 - low) - 0.025) < 5 * np.sqrt(0.025 / 4000)


@pytest.mark.slow
def test_intervals_cover():
    """Shares drawn from the prior: a posterior interval covers at its level. Agreement: t."""
    rng = np.random.default_rng(5)
    held, same = [], []
    for run in range(100):
        shares = rng.dirichlet([1 / 3] * 3, size=60)
        answers = np.array([rng.choice(3, size=6, p=p) for p in shares])
        table = pd.DataFrame({"item": np.repeat(np.arange(60), 6), "verdict": answers.ravel()})
        found = consistency(table, verdicts=("0", "1", "2"), random_seed=run)
        rows = found.quantities["modal_share"]
        at = [int(label[0]) for label in rows.labels]
        truth = shares.max(axis=1)[at]
        held.append(((rows.low <= truth) & (truth <= rows.high)).mean())
        row = found["same_twice"]
        same.append(row.low <= 2 / 3 <= row.high)  # E sum p^2 = 3 (1/3) (4/3) / (1 * 2)
    assert abs(np.mean(held) - 0.95) < 4 * np.std(held) / 10
    assert np.mean(same) > 0.95 - 4 * np.sqrt(0.95 * 0.05 / 100)


def test_judges_are_told_apart_and_nothing_asked_twice_is_refused():
    table = pd.DataFrame(
        {"item": list("aabbaabb"), "judge": list("xxxxyyyy"), "verdict": list("PPPPPFPF")}
    )
    found = consistency(table, judge="judge")
    assert found["same_twice", "x"].value == 1.0
    assert found["same_twice", "y"].value == 0.0
    with refused(id="not-repeated"):
        consistency(table[::4], judge="judge")
    with refused("F", "P", subject="column 'verdict'"):
        consistency(table, verdicts=("P",))
