"""Systems with scores on the same items: the difference estimator of the differences."""

import itertools

import numpy as np
import pandas as pd
import pytest
from conftest import study_but
from refusals import refused
from scipy.stats import sem, t, ttest_rel

import bayesjudge as bj
from bayesjudge.core.errors import InputError
from bayesjudge.prevalence.scores.paired import contrast
from bayesjudge.prevalence.scores.unpaired import differences

P = bj.prevalence
S = bj.prevalence.scores
NAN = float("nan")
ENDS = {"scale": (0, 100), "truth_scale": (0, 100)}


def simulated(rng, n=200, labelled=50, effect=3.0, steps=0.1, common=15.0):
    """Two systems on `n` items: what makes an item easy is common to both, and to the judge."""
    easy = rng.normal(0, common, n)
    rows = []
    drawn = rng.permutation(n) < labelled
    for system, ahead in (("x", effect), ("y", 0.0)):
        truth = 60 + ahead + easy + rng.normal(0, 6, n)
        score = 10 + truth + rng.normal(0, 4, n) + 0.2 * easy
        whole = [np.clip(np.round(value / steps) * steps, 0, 100) for value in (truth, score)]
        known = np.where(drawn, whole[0], NAN)
        rows.append(
            pd.DataFrame({"item": range(n), "system": system, "score": whole[1], "truth": known})
        )
    return pd.concat(rows).sample(frac=1, random_state=1, ignore_index=True)


def paired(table, **how):
    how = {"calibration": "random", **ENDS, **how}
    return S.PairedScores.from_frame(table, by="system", item="item", **how)


@pytest.fixture
def table():
    return simulated(np.random.default_rng(1))


@pytest.mark.slow
def test_it_is_the_difference_estimator_of_a_table_of_differences(table):
    wide = table.pivot(index="item", columns="system", values=["score", "truth"])
    by_hand = pd.DataFrame({name: wide[name]["x"] - wide[name]["y"] for name in ("score", "truth")})
    ends = {"scale": (-100, 100), "truth_scale": (-100, 100)}
    alone = S.Scores.from_frame(by_hand, calibration="random", **ends)
    for ci_prob in (0.8, 0.95):
        expected = P.difference(alone, ci_prob=ci_prob)["mean_score"]
        made = P.paired_difference(paired(table), ci_prob=ci_prob)["difference", "x", "y"]
        assert [*made] == pytest.approx([*expected], rel=1e-9)


def test_all_labelled_it_is_the_paired_t_test():
    table = simulated(np.random.default_rng(2), n=40, labelled=40)
    wide = table.pivot(index="item", columns="system", values="truth")
    gap = wide["x"] - wide["y"]
    made = P.paired_difference(paired(table))
    value, low, high = made["difference", "x", "y"]
    half = t.ppf(0.975, 39) * sem(gap)
    assert [value, low, high] == pytest.approx([gap.mean(), gap.mean() - half, gap.mean() + half])
    one_sided = ttest_rel(wide["x"], wide["y"], alternative="greater").pvalue
    assert differences(made)[0]["probability"] == pytest.approx(1 - one_sided)


@pytest.mark.slow
def test_names_turned_round_turn_the_sign(table):
    turned = table.assign(system=table["system"].map({"x": "y", "y": "x"}))
    (one,), (other,) = (differences(P.paired_difference(paired(each))) for each in (table, turned))
    assert one["value"] == pytest.approx(-other["value"])
    assert [one["low"], one["high"]] == pytest.approx([-other["high"], -other["low"]])
    assert one["probability"] == pytest.approx(1 - other["probability"])


@pytest.mark.slow
@pytest.mark.parametrize("ends", [(0, 10), (-5, 5)])
def test_other_scales_are_only_other_units(table, ends):
    def moved(x):
        return ends[0] + (ends[1] - ends[0]) * x / 100

    other = table.assign(score=moved(table["score"]), truth=moved(table["truth"]))
    made = P.paired_difference(paired(other, scale=ends, truth_scale=ends))["difference", "x", "y"]
    expected = np.array(P.paired_difference(paired(table))["difference", "x", "y"])
    assert [*made] == pytest.approx([*expected / 10])


@pytest.mark.slow
def test_passes_and_fails_are_compared_as_shares(table):
    passes = table.assign(truth=(table["truth"] >= 60).where(table["truth"].notna()).astype(float))
    made = [
        P.paired_difference(paired(passes, truth_scale=None)),
        P.paired_difference(paired(table, truth_scale=None, truth_from=60)),
    ]
    assert made[0].table.equals(made[1].table)
    wide = passes.pivot(index="item", columns="system", values=["score", "truth"])
    gap = (wide["score"]["x"] - wide["score"]["y"]) / 200, wide["truth"]["x"] - wide["truth"]["y"]
    seen = gap[1].notna()
    f, y = gap[0][seen], gap[1][seen]
    value = made[0]["difference", "x", "y"].value
    weight = (value - y.mean()) / (gap[0][~seen].mean() - f.mean())  # on the judge, at the optimum
    best = np.cov(f, y, bias=True)[0, 1] / (np.var(gap[0], ddof=1) * len(gap[0]) / (~seen).sum())
    assert weight == pytest.approx(best)


@pytest.mark.slow
def test_only_shared_items_count(table):
    more = pd.DataFrame({"item": [1001, 1002], "system": ["x", "y"], "score": [99.0, 0.0]})
    more["truth"] = [100.0, 0.0]
    found = paired(pd.concat([table, more, more.iloc[:1].assign(item=1003)]))
    assert found.shared == {("x", "y"): 200}
    assert found.alone == {("x", "y"): 3}
    assert P.paired_difference(found).table.equals(P.paired_difference(paired(table)).table)
    without = table.copy()
    without.loc[(table["system"] == "y") & (table["item"] == 7), "score"] = NAN
    assert paired(without).shared == {("x", "y"): 199}


@pytest.mark.slow
def test_labels_of_one_system_alone_count_as_none(table):
    torn = table.copy()
    first = torn.index[(torn["system"] == "x") & torn["truth"].notna()][:10]
    torn.loc[first, "truth"] = NAN
    items = torn.loc[first, "item"]
    both = torn.copy()
    both.loc[both["item"].isin(items), "truth"] = NAN
    made = [P.paired_difference(paired(each)) for each in (torn, both)]
    assert made[0].table.equals(made[1].table)
    assert paired(torn).labelled == {("x", "y"): 40}


@pytest.mark.slow
def test_what_cannot_be_compared_is_refused_with_its_reason(table):
    apart = table.assign(item=table["item"] + 1000 * (table["system"] == "x"))
    assert paired(apart).refusal == "they share no item"
    lone = table.assign(truth=table["truth"].where(table["system"] == "x"))
    assert "fewer than 2 items have labels of both" in paired(lone).refusal
    first = table["item"][table["truth"].notna()].iloc[0]
    single = table.assign(truth=table["truth"].where(table["item"] == first))
    single.loc[single["item"] == first + 1, "truth"] = [50.0, NAN]  # of one system
    assert paired(single).labelled == {}
    with refused(2, id="not-comparable"):
        P.paired_difference(paired(lone))
    by_bin = paired(table, calibration="by_verdict")
    assert "differences on shared items are not told by labels if" in by_bin.refusal
    with refused("x", "by=", subject="PairedScores"):
        paired(table[table["system"] == "x"])
    with pytest.raises(InputError, match="truths outside"):
        paired(table, truth_scale=(0, 50))


@pytest.mark.slow
def test_three_systems_are_compared_by_two(table):
    third = table[table["system"] == "x"].assign(system="z", item=lambda t: t["item"] + 100)
    found = paired(pd.concat([table, third]))
    assert [*found.shared] == [*itertools.combinations("xyz", 2)]
    assert found.shared["x", "z"] == 100
    two = P.paired_difference(paired(table))["difference", "x", "y"]
    assert P.paired_difference(found)["difference", "x", "y"] == two


def gaps_of(table, cut=None):
    """Differences of two systems, without reading a table: for many simulated ones."""
    own = [table[table["system"] == s].sort_values("item").to_numpy()[:, 2:] for s in "xy"]
    own = [np.array(one, float) for one in own]
    if cut is not None:
        for one in own:
            one[:, 1] = np.where(np.isnan(one[:, 1]), NAN, one[:, 1] >= cut)
    gap = own[0] - own[1]
    end = 100 if cut is None else 1
    one = np.ones(len(gap), int)
    made = S.Scores(gap[:, 0], gap[:, 1], one, "random", (-100, 100), truth_scale=(-end, end))
    pair = ("x", "y")
    return S.PairedScores({pair: made}, {pair: len(gap)}, {pair: 0}, made.design)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("labelled", "steps", "cut", "exact"),
    [
        (15, 0.1, None, True),
        (50, 0.1, None, True),
        (50, 25.0, None, True),  # most labels are of two or three numbers
        (50, 0.1, 60, True),
        (50, 0.1, 20, False),  # passes and fails, which rarely differ: imaginary items join
    ],
)
@pytest.mark.parametrize("runs", study_but([200, 600], 200))
def test_intervals_cover_the_difference(labelled, steps, cut, exact, runs):
    """Of the process: its difference of means, by a large table of it."""
    rng = np.random.default_rng(int(labelled + 10 * steps + (cut or 0)))
    many = simulated(rng, n=400_000, labelled=400_000, steps=steps)
    many = many.assign(truth=many["truth"] if cut is None else many["truth"] >= cut)
    truth = (
        many[many["system"] == "x"]["truth"].mean() - many[many["system"] == "y"]["truth"].mean()
    )
    covered = 0
    for _ in range(runs):
        made = P.paired_difference(gaps_of(simulated(rng, labelled=labelled, steps=steps), cut))
        _, low, high = made["difference", "x", "y"]
        covered += low <= truth <= high
    error = 3.5 * np.sqrt(0.95 * 0.05 / runs)
    assert covered / runs > 0.95 - error
    assert not exact or covered / runs < 0.95 + error


@pytest.mark.slow
def test_what_is_common_to_both_systems_cancels():
    rng, ratios = np.random.default_rng(4), []
    for _ in range(5):
        table = simulated(rng)
        _, low, high = P.paired_difference(paired(table))["difference", "x", "y"]
        apart = S.read_systems(table, by="system", calibration="random", **ENDS)
        each = [P.difference(one)["mean_score"] for one in apart.values()]
        ratios.append(np.hypot(*(one.high - one.low for one in each)) / (high - low))
    assert min(ratios) > 1.1


@pytest.mark.slow
def test_rare_differences_have_intervals_that_do_not_vanish():
    rng = np.random.default_rng(3)
    table = simulated(rng, n=300, labelled=60, effect=0.0)
    table["truth"] = table["truth"].where(table["truth"].isna(), 50.0)  # all are alike
    one = contrast(paired(table).differences["x", "y"])
    assert one.value == pytest.approx(0, abs=1e-9)
    assert one.error > 0
    value, low, high = P.paired_difference(paired(table))["difference", "x", "y"]
    assert low < value < high
