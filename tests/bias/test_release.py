import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose
from refusals import refused
from scipy.stats import kendalltau, spearmanr

import bayesjudge as bj
from bayesjudge import bias
from bayesjudge.bias import certificates
from bayesjudge.bias.adherence import _quadratic

SHIFTS = bias.Shifts.from_differences([0] * 250 + [1] * 50, scale=(1, 5))


def card(**more):
    about = {"tolerance": 0.5, "failure_prob": 0.05, "units": "points", **more}
    return certificates.certify(SHIFTS, **about)


def scores(seed=0):
    return np.random.default_rng(seed).integers(1, 6, 300)


def test_without_noise_the_ranking_survives_whole():
    found = certificates.release(scores(), card(), center=3)
    assert_allclose(found.scores[:, 0], 0.5 * scores() + 0.5 * 3)
    quarter = certificates.release(scores(), card(alpha=0.25), center=3)
    assert_allclose(quarter.scores[:, 0], 0.25 * scores() + 0.75 * 3)
    assert_allclose(found.correlation, 1.0)
    assert "made" not in found.text
    assert card().text in found.text
    assert "300 scores." in repr(found)


def test_the_centre_may_be_the_scores_own_mean():
    skewed = np.array([1.0] * 250 + [5.0] * 50)
    certificate = card(center="mean")
    found = certificates.release(skewed, certificate)
    expected = skewed.mean() + certificate.alpha * (skewed - skewed.mean())
    assert_allclose(found.scores[:, 0], expected)
    assert found.center == skewed.mean()


def test_noise_costs_rank():
    certificate = card(alpha=0.25, noise_prob=0.01)
    assert certificate.noise_scale > 0
    found = certificates.release(scores(), certificate, center=3, random_seed=1)
    released = found.scores[:, 0]
    assert found.noise == certificate.noise_scale
    assert found.correlation["spearman"] == pytest.approx(spearmanr(scores(), released).statistic)
    assert found.correlation["kendall"] == pytest.approx(kendalltau(scores(), released).statistic)
    assert found.correlation["pearson"] == pytest.approx(np.corrcoef(scores(), released)[0, 1])
    assert 0.5 < found.correlation["spearman"] < 1
    quiet = certificates.release(scores(), certificate, center=3, noise=0)
    assert_allclose(quiet.correlation, 1.0)


@pytest.mark.slow
def test_released_scores_move_as_little_as_promised():
    """Two releases of contexts that differ by a shift as measured."""
    certificate = card(alpha=0.25, noise_prob=0.01)
    rng = np.random.default_rng(5)
    base, runs, left = scores(), 1000, 0
    for _ in range(runs):
        moved = base.astype(float)
        moved[rng.integers(300)] += rng.choice(SHIFTS.lengths)
        one = certificates.release(base, certificate, center=3, random_seed=rng).scores
        other = certificates.release(moved, certificate, center=3, random_seed=rng).scores
        left += np.linalg.norm(one - other) > certificate.tolerance
    assert left / runs < certificate.failure_prob


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"center": None}, "give center="),
        ({"noise": 9.0}, "must lie between 0 and"),
        ({"scores": [1, 2]}, "the certificate is for 300"),
        ({"scores": [np.nan] * 300}, "must be finite"),
    ],
)
def test_what_does_not_suit_the_certificate_is_refused(change, words):
    given = {"scores": scores(), "center": 3, **change}
    with pytest.raises(bj.InputError, match=words):
        certificates.release(given.pop("scores"), card(), **given)


def test_nothing_certified_nothing_released():
    with refused(id="nothing-certified"):
        certificates.release(scores(), card(alpha=1.0), center=3)


# Schematic adherence -----------------------------------------------------------------------------


def factor_table(rows=200, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.integers(1, 6, size=(rows, 3)).astype(float)
    y = x @ [0.5, 0.3, 0.1] + 0.2 * x[:, 0] * x[:, 1] + rng.normal(0, 0.8, rows)
    return pd.DataFrame(x, columns=list("abc")).assign(score=y)


def test_r_squared_matches_statsmodels():
    table = factor_table()
    found = bias.schematic_adherence(table, factors=list("abc"), resamples=20, random_seed=1)
    x, y = table[list("abc")].to_numpy(), table["score"]
    linear = sm.OLS(y, sm.add_constant(x)).fit().rsquared
    curved = sm.OLS(y, _quadratic(x)).fit().rsquared
    assert_allclose(found["r_squared", "linear"].value, linear, rtol=1e-9)
    assert_allclose(found["r_squared", "quadratic"].value, curved, rtol=1e-9)
    assert_allclose(found["schematic_shift"].value, np.sqrt(1 - max(linear, curved)), rtol=1e-9)
    assert _quadratic(x).shape[1] == 10


@pytest.mark.parametrize("ci_prob", [0.5, 0.9])
def test_intervals_of_adherence_are_percentiles_of_resampled_rows(ci_prob):
    """The same resamples, each fitted by statsmodels."""
    table, resamples = factor_table(60), 50
    found = bias.schematic_adherence(
        table, factors=["a", "b"], resamples=resamples, ci_prob=ci_prob, random_seed=7
    )
    rows = np.random.default_rng(7).integers(0, 60, size=(resamples, 60))
    design = sm.add_constant(table[["a", "b"]].to_numpy())
    y = table["score"].to_numpy()
    again = [sm.OLS(y[i], design[i]).fit().rsquared for i in rows]
    ends = np.quantile(again, [(1 - ci_prob) / 2, (1 + ci_prob) / 2])
    assert_allclose(found["r_squared", "linear"][1:], ends, rtol=1e-9)


def test_adherence_says_what_it_leaves_out_and_refuses_few_rows():
    table = factor_table()
    table.loc[3, "b"] = np.nan
    found = bias.schematic_adherence(table, factors=list("abc"), resamples=20, random_seed=1)
    assert "1 of 200 rows" in found.cautions[0].text
    with pytest.raises(bj.InputError, match="too few"):
        bias.schematic_adherence(factor_table(15), factors=list("abc"))
    twice = factor_table().assign(item=[0, *range(199)])
    with refused("item", "0", subject="table"):
        bias.schematic_adherence(twice, factors=["a"], item="item")
    with refused("score", subject="schematic_adherence"):
        bias.schematic_adherence(factor_table().assign(score=1.0), factors=["a"])
