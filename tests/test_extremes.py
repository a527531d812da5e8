"""Exact posteriors of random settings from the extremes: each has an answer, or says why not."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesjudge as bj

P = bj.prevalence
#: Rates of a judge or a person, chance and worse included.
RATES = (0.0, 0.3, 0.5, 0.8, 0.97, 1.0)


def settings(seed, n):
    """Generators of as many settings, each by its own seed."""
    return [np.random.default_rng([seed, i]) for i in range(n)]


def prior_of(rng):
    shapes = [(1, 1), (0.5, 0.5), (20, 2), (2, 20), (0.05, 1)]
    return bj.BetaPrior(*shapes[rng.integers(len(shapes))])


def some(rng, most):
    """A number of items: none, few, or as many as there can be."""
    return int(rng.choice([0, 1, 2, 10 ** rng.uniform(0, most)]))


def share_of(rng):
    return float(rng.choice([0, 1, rng.random(), 1 - 10 ** -rng.uniform(1, 4)]))


def require_answer(estimate, low=0.0, high=1.0):
    """Of each number, finite and with its ends in order, on the scale."""
    assert not {c.id for c in estimate.cautions} & {"no-quadrature", "not-mixed"}
    for quantity, _, row in estimate.rows():
        if quantity == "lowest":
            assert 0 <= row.value <= 1
            continue
        assert np.isfinite(row).all()
        assert row.low <= row.high
        top = np.inf if quantity.endswith("_spread") else high
        assert low <= min(row.low, row.value)
        assert max(row.high, row.value) <= top


def people_who_err(rng):
    """Two to four people, some labels missing, and a judge; any of them at chance."""
    n = int(10 ** rng.uniform(1, 3))
    good, asked = rng.random(n) < share_of(rng), rng.random(n) < rng.choice([0.1, 0.5, 1])

    def said():
        hit, caught = rng.choice(RATES, 2)
        return np.where(good, rng.random(n) < hit, rng.random(n) >= caught).astype(float)

    table = pd.DataFrame({"verdict": said().astype(int)})
    people = ["ann", "bob", "cyd", "dee"][: rng.integers(2, 5)]
    for person in people:
        table[person] = np.where(asked & (rng.random(n) < rng.choice([0.7, 1])), said(), np.nan)
    table.loc[0, people] = 1.0
    return P.people.PeopleCounts.from_frame(table, calibration="random", truth=people)


@pytest.mark.slow
def test_people_who_hardly_agree_and_judges_worse_than_chance():
    """The first points are nowhere near such a posterior; other points say the same."""
    far = ((14, 0), (30, 5), (32, 2), (34, 5))  # of a random 168 eight are such
    for rng in [settings(seed, i + 1)[i] for seed, i in far]:
        counts, model = people_who_err(rng), P.people.PeopleErrors(prevalence=prior_of(rng))
        require_answer(P.exact(counts, model))
        first, second = (model._posterior(counts).weighed(seed) for seed in (1, 2))
        for name, drawn in first.values.items():
            mean, other = first.weight @ drawn, second.weight @ second.values[name]
            spread = np.sqrt(first.weight @ (drawn - mean) ** 2)
            assert (np.abs(mean - other) < 0.25 * spread + 1e-9).all()


@pytest.mark.slow
def test_groups_of_very_unequal_size_whose_rates_are_pooled():
    for rng in settings(5, 4):
        groups, cells = int(rng.integers(2, 7)), []
        share, hit, caught = share_of(rng), *rng.choice(RATES[3:], 2)
        for _ in range(groups):
            tests, good, bad = 1 + some(rng, 6), some(rng, 3), some(rng, 3)
            of_good = rng.binomial(tests, share)
            passed = rng.binomial(of_good, hit) + rng.binomial(tests - of_good, 1 - caught)
            cells.append(
                (tests, passed, good, rng.binomial(good, hit), bad, rng.binomial(bad, caught))
            )
        cells[0] = (100, 60, 10, 9, 10, 8)
        names = [f"group{i}" for i in range(groups)]
        counts = P.Counts(*np.transpose(cells), "by_truth", systems=names)
        require_answer(P.exact(counts, P.PooledErrorRates(prevalence=prior_of(rng))))


@pytest.mark.slow
def test_scores_of_a_few_or_a_million_answers_on_any_scale():
    """Ends are held against draws; the mean may lie outside: a prior of next to no weight."""
    for rng in settings(3, 25):
        levels = int(rng.integers(2, 7))
        scale = [np.arange(levels), np.cumsum(10.0 ** rng.uniform(-6, 6, levels))]
        scale = scale[rng.integers(2)]
        share = rng.dirichlet(np.full(levels, rng.choice([0.05, 1, 10])))
        counts = rng.multinomial(max(some(rng, 6), 1), share)
        concentration = float(10 ** rng.uniform(-6, 3))
        scores = bj.repeats.Scores(counts[None, None], scale, items=["item"], judges=["judge"])
        found = bj.repeats.exact(scores, concentration=concentration)
        require_answer(found, scale[0] * (1 - 1e-9), scale[-1] * (1 + 1e-9))
        _, low, high = found["item_score", "item"]
        weight = counts + concentration / levels
        logs = np.log(rng.standard_gamma(weight + 1, (4000, levels)))
        logs += np.log(rng.random(logs.shape)) / weight
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        mean, off = shares @ scale / shares.sum(axis=1), 1e-8 * np.ptp(scale)
        below, above = (mean < low - off).sum(), (mean > high + off).sum()
        assert max(below, above) < stats.binom(4000, 0.025).isf(1e-7)
        inside = (mean >= low - off) & (mean <= high + off)
        assert inside.sum() > stats.binom(4000, 0.95).ppf(1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("prior", ["spread", "worst"])
def test_shifts_of_which_all_are_alike(prior):
    for size in (0.0, 1.0, 4.0):
        for n in (1, 3, 500):
            shifts = bj.bias.Shifts.from_differences(np.full(n, size), scale=(1, 5))
            found = bj.bias.exact(shifts, step=1, prior=prior)
            require_answer(found, high=4.0)
            if size == 4 and prior == "worst":
                assert found["rms_shift", "perturbed"] == pytest.approx((4.0, 4.0, 4.0))
