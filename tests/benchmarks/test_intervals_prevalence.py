"""The enumeration against a plain loop over every table, with the package's own quadrature."""

import csv
import functools
import itertools

import numpy as np
import pandas as pd
import pytest
from conftest import shared, study_but
from numpy.testing import assert_allclose
from oracles import unit_nodes

import bayesjudge as bj
from bayesjudge.truth.quadrature import posterior_of
from benchmarks.prevalence import intervals as study

pytestmark = pytest.mark.slow

P = bj.prevalence
JUDGE = (0.6, 0.9)  # specificity, sensitivity
PACKAGE_PRIORS = {
    "flat": P.ErrorRates(bj.BetaPrior()),
    "jeffreys": P.ErrorRates.jeffreys(),
    "beta21": P.ErrorRates(bj.BetaPrior(), bj.BetaPrior(2, 1), bj.BetaPrior(2, 1)),
}


def every_table(items, size):
    """Counts, and their probability at each theta of the study."""
    q0, q1 = JUDGE
    passes = study.THETAS * q1 + (1 - study.THETAS) * (1 - q0)
    for k, a1, a0 in itertools.product(range(items + 1), range(size + 1), range(size + 1)):
        chance = study.binomial(a1, size, q1) * study.binomial(a0, size, q0)
        counts = P.Counts(items, k, size, a1, size, a0, calibration="by_truth")
        yield counts, chance * study.binomial(k, items, passes)


def looped(items, size, interval_of):
    """Coverage and mean width at each theta, one table after the other; nan is no answer."""
    sums = np.zeros((3, study.THETAS.size))
    for counts, chance in every_table(items, size):
        low, high = interval_of(counts)
        if np.isfinite(low):
            held = (low <= study.THETAS) & (high >= study.THETAS)
            sums += chance * np.array([held, np.full(held.shape, high - low), held >= 0])
    return sums[0] / sums[2], sums[1] / sums[2], 1 - sums[2]


@pytest.fixture(scope="module")
def small():
    table, lost = study.study({4: (JUDGE,)}, 4)
    assert lost < 1e-12
    return 4, dict(list(table.groupby("method")))


@functools.cache
def posterior(prior, *counts):
    return posterior_of(P.Counts(*counts, calibration="by_truth"), PACKAGE_PRIORS[prior])


def package_interval(prior, counts, kind="eti"):
    names = ("test_n", "test_pass", "correct_n", "correct_pass", "incorrect_n", "incorrect_fail")
    low, high = posterior(prior, *(getattr(counts, name) for name in names)).interval(0.95, kind)
    # a shortest interval ends at 0 or 1 itself, or, found by a search, a hair's breadth from it
    return (0.0 if kind == "hdi" and low < 1e-5 else low), (
        1.0 if kind == "hdi" and high > 1 - 1e-5 else high
    )


@pytest.mark.parametrize("kind", ["eti", "hdi"])
@pytest.mark.parametrize("prior", study_but(PACKAGE_PRIORS, "flat"))
def test_posterior_intervals_against_a_loop(small, prior, kind):
    items, tables = small

    def interval_of(counts):
        return package_interval(prior, counts, kind)

    coverage, width, _ = looped(items, 2, interval_of)
    found = tables[f"{prior}_{kind}"]
    # data that look the same from both sides have two shortest intervals, each with its own end
    thetas = slice(1, -1) if (prior, kind) == ("jeffreys", "hdi") else slice(None)
    assert_allclose(found["coverage"][thetas], coverage[thetas], rtol=0, atol=1e-9)
    assert_allclose(found["width"], width, rtol=0, atol=1e-5)


def test_closed_forms_against_a_loop(small):
    items, tables = small

    def lang_reiczigel(counts):
        try:
            return P.rogan_gladen(counts)["prevalence"][1:]
        except bj.UninformativeJudgeError:
            return np.nan, np.nan

    def naive(counts):
        return P.naive(counts)["prevalence"][1:]

    for name, method in (("lang_reiczigel", lang_reiczigel), ("naive", naive)):
        columns = [tables[name][c] for c in ("coverage", "width", "refused")]
        assert_allclose(columns, looped(items, 2, method), rtol=0, atol=1e-9)
    assert tables["lang_reiczigel"]["refused"].min() > 0.01  # so that refusing is put to the test


@pytest.mark.parametrize("prior", PACKAGE_PRIORS)
def test_ends_are_moved_where_the_likelihood_asks_for_it(small, prior):
    """The likelihood another way: composite Gauss-Legendre on the triangle itself."""
    items, tables = small
    u, w = unit_nodes(4, 10)
    false_pass = u[:, None] ** 2  # squares, for densities that are infinite at 0 and 1
    sensitivity = 1 - (1 - false_pass) * u**2
    area = 2 * u[:, None] * w[:, None] * (1 - false_pass) * 2 * u * w
    theta = np.linspace(0, 1, 101)
    grid = theta[:, None, None] * sensitivity + (1 - theta[:, None, None]) * false_pass
    prior_ = PACKAGE_PRIORS[prior]

    def interval_of(counts):
        log = 0.0
        for rate, seen, n, beta in (
            (sensitivity, counts.correct_pass, counts.correct_n, prior_.sensitivity),
            (1 - false_pass, counts.incorrect_fail, counts.incorrect_n, prior_.specificity),
        ):
            log = log + (seen + beta.alpha - 1) * np.log(rate)
            log = log + (n - seen + beta.beta - 1) * np.log(1 - rate)
        k = counts.test_pass
        rates = np.exp(log) * area
        values = (rates * grid**k * (1 - grid) ** (items - k)).sum((1, 2))
        low, high = package_interval(prior, counts)
        extend = values[[0, 100]] > study.CUT_OFF * values.max()
        return (0.0 if extend[0] else low), (1.0 if extend[1] else high)

    coverage, width, _ = looped(items, 2, interval_of)
    found = tables[f"{prior}_eti_bounded"]
    assert_allclose(found["coverage"], coverage, rtol=0, atol=1e-9)
    assert_allclose(found["width"], width, rtol=0, atol=1e-5)


@pytest.fixture(scope="module")
def stored():
    return pd.read_csv(study.RESULTS / "intervals.csv.gz")


def test_stored_table_against_an_earlier_enumeration(stored):
    """That one did not restrict the judge to be better than chance, which matters little here."""
    names = {"LR6": "lang_reiczigel"}
    for earlier, ours in (("thU_qU", "flat"), ("thJ_qJ", "jeffreys")):
        for kind, name in (("ETI", "eti"), ("ETI+", "eti_bounded"), ("SI", "hdi")):
            names[f"{earlier}_{kind}"] = f"{ours}_{name}"
    keys = ["m", "q0", "q1", "method", "theta"]
    ours = stored.set_index(keys)
    compared = 0
    with shared("reference/coverage_exact.csv").open() as lines:
        for row in csv.DictReader(lines):
            if row["method"] in names:
                m, q0, q1, theta = (float(row[key]) for key in ("m", "q0", "q1", "theta"))
                found = ours.loc[(m, q0, q1, names[row["method"]], theta)]
                # a shortest interval is the flat bottom of its width: the ends tell less
                close = 0.0015 if names[row["method"]].endswith("hdi") else 1e-4
                assert abs(found["coverage"] - float(row["coverage"])) < close
                assert abs(found["width"] - float(row["length"])) < 1e-4
                compared += 1
    assert compared == 8 * 7 * 21


def test_stored_table_agrees_with_what_is_known(stored):
    """Published: eq. (6) covers .953 to .960 on average in the eight settings of source 1."""
    strong = stored[stored["q0"].isin([0.7, 0.9]) & stored["m"].isin([200, 500])]
    of = dict(list(strong.groupby("method")))
    means = of["lang_reiczigel"].groupby(["m", "q0", "q1"])["coverage"].mean()
    assert len(means) == 8
    assert means.between(0.9525, 0.9605).all()
    ends = of["flat_eti"]["theta"].isin([0, 1])
    assert (of["flat_eti"]["coverage"][ends] == 0).all()
    assert of["flat_eti"]["coverage"][~ends].min() > 0.95
