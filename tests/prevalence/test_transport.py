"""Labels of other systems: said, and not where they are of this one."""

import numpy as np
import pandas as pd
import pytest
from refusals import refused

import bayesjudge as bj

P = bj.prevalence


def table(systems=("new", "old"), seed=1):
    """Unlabelled items of the first system, labelled ones of all."""
    rng = np.random.default_rng(seed)
    n = 300
    rows = pd.DataFrame({"system": rng.choice(systems, n), "truth": rng.integers(0, 2, n) * 1.0})
    rows["verdict"] = np.where(rng.random(n) < 0.85, rows["truth"], 1 - rows["truth"]).astype(int)
    hidden = (rows["system"] == systems[0]) & (rng.random(n) < 0.8)
    rows["truth"] = rows["truth"].mask(hidden)
    return rows


def said(counts, name="other-systems"):
    (caution,) = [c for c in P.rogan_gladen(counts).cautions if c.id == name] or [None]
    return caution


@pytest.mark.fast_one_in(2)
@pytest.mark.parametrize("calibration", ["separate", "by_truth"])
@pytest.mark.parametrize("column", ["system", "model", "Generator"])
def test_labels_of_other_systems_are_told(calibration, column):
    rows = table().rename(columns={"system": column})
    counts = P.Counts.from_frame(rows, calibration=calibration)
    assert counts.label_systems == ("old",)
    assert "(old)" in said(counts).text
    assert "PooledErrorRates()" in said(counts).text


@pytest.mark.slow
def test_external_labels_of_other_systems_are_told():
    rows = table()
    new, old = (rows[rows["system"] == name] for name in ("new", "old"))
    counts = P.Counts.from_frame(new, calibration="random", external_labels=old)
    assert counts.label_systems == ("old",)
    assert said(counts)
    assert said(counts + P.Counts.from_frame(new, calibration="random"))


@pytest.mark.slow
def test_nothing_is_said_of_labels_of_these_systems():
    rows = table()
    own = rows[rows["system"] == "new"]
    for counts in (
        P.Counts.from_frame(own, calibration="separate"),
        P.Counts.from_frame(rows, calibration="random"),  # a sample of both, and about both
        P.Counts.from_frame(rows.drop(columns="system"), calibration="separate"),
        P.Counts.from_frame(rows, calibration="random", by="system"),
    ):
        assert counts.label_systems == ()
        assert not said(counts)


def test_it_is_counted_where_the_table_lives():
    polars = pytest.importorskip("polars")
    rows = table().assign(truth=lambda t: t["truth"].map({1.0: "good", 0.0: "bad"}))
    rows["truth"] = rows["truth"].astype(object).where(rows["truth"].notna(), None)
    how = {"pass_value": ["good", 1], "fail_value": ["bad", 0], "calibration": "separate"}
    counts = P.Counts.from_frame(polars.from_pandas(rows), **how)
    assert counts.label_systems == ("old",)


def test_a_pass_rate_that_the_labels_do_not_allow_points_to_borrowing():
    words = "if they are of other systems, read all systems and let them share"
    for calibration, there in (("separate", True), ("random", False)):
        counts = P.Counts(1000, 990, 200, 160, 200, 160, calibration=calibration)
        assert (words in said(counts, "pass-rate-out-of-range").text) == there


# Several judges ----------------------------------------------------------------------------------


def of_two_judges():
    """Labels of other systems only, and a second judge."""
    rows = table().query("system == 'old' or truth.isna()").rename(columns={"verdict": "gpt"})
    flips = np.random.default_rng(2).random(len(rows)) < 0.1
    return rows.assign(claude=np.where(flips, 1 - rows["gpt"], rows["gpt"]))


@pytest.mark.slow
def test_labels_of_other_systems_are_told_of_several_judges():
    rows, judges = of_two_judges(), ["gpt", "claude"]
    old = rows["truth"].notna()
    within = P.Counts.from_frame(rows, calibration="separate", verdict=judges)
    beside = P.Counts.from_frame(
        rows[~old], calibration="separate", verdict=judges, external_labels=rows[old]
    )
    for counts in (within, beside):
        assert counts.label_systems == ("old",)
        assert "take one judge's column, read all systems" in said(counts).text
    own = rows.assign(system="new")
    assert not said(P.Counts.from_frame(own, calibration="separate", verdict=judges))
    # labels of each judge are added up over the systems, as those of a single judge are
    for judge in judges:
        alone = P.Counts.from_frame(rows, calibration="separate", verdict=judge)
        assert P.rogan_gladen(within)["prevalence", judge] == pytest.approx(
            P.rogan_gladen(alone)["prevalence"]
        )


@pytest.mark.slow
def test_the_rates_of_several_judges_are_pooled_one_judge_at_a_time():
    rows, judges = of_two_judges(), ["gpt", "claude"]
    with refused("verdict=", "gpt", "by=", "system", id="one-at-a-time"):
        P.Counts.from_frame(rows, calibration="random", verdict=judges, by="system")
    counts = P.Counts.from_frame(rows, calibration="separate", verdict=judges)
    with refused("verdict=", "gpt", "by=", subject="build_model"):
        P.build_model(counts, P.PooledErrorRates())
    by_system = P.Counts.from_frame(rows, calibration="random", verdict="gpt", by="system")
    assert by_system.unlabelled_systems == ("new",)
    P.build_model(by_system, P.PooledErrorRates())
