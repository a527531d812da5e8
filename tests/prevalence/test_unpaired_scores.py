"""Systems with scores that share no item: Welch's interval of independent estimates."""

import numpy as np
import pytest
from refusals import refused
from scipy.stats import norm, t, ttest_ind

import bayesjudge as bj
from bayesjudge.compiled import structure_of
from bayesjudge.prevalence._samples import row_of
from bayesjudge.prevalence.scores.unpaired import differences
from bayesjudge.truth.influence import Errors

P = bj.prevalence
S = bj.prevalence.scores
ENDS = {"scale": (0, 1), "truth_scale": (1, 5)}


def drawn(seed, shape="even", *, labelled=50, numeric=True, design="random", **more):
    how = {"items": 300, "labelled": labelled, "numeric": numeric, "random_seed": seed}
    table = S.simulate(shape=shape, calibration=design, **how, **more)
    ends = ENDS if numeric else {"scale": (0, 1)}
    return S.Scores(table["score"], table["truth"], np.ones(len(table), int), design, **ends)


def all_labelled(seed, n):
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 6, n).astype(float)
    return S.Scores(rng.random(n), truth, np.ones(n, int), "random", **ENDS)


def test_all_labelled_it_is_welchs_test():
    two = {"x": all_labelled(1, 30), "y": all_labelled(2, 12)}
    made = S.unpaired_difference(two, ci_prob=0.9)
    x, y = (one.truth for one in two.values())
    expected = ttest_ind(x, y, equal_var=False).confidence_interval(0.9)
    value, low, high = made["difference", "x", "y"]
    assert (value, low, high) == pytest.approx((x.mean() - y.mean(), *expected))
    one_sided = ttest_ind(x, y, equal_var=False, alternative="greater").pvalue
    assert differences(made)[0]["probability"] == pytest.approx(1 - one_sided)
    assert made.interval == "Welch's t"


def test_of_passes_and_fails_normal_errors_are_added():
    two = {"x": drawn(1, numeric=False), "y": drawn(2, "skewed", numeric=False)}
    made = S.unpaired_difference(two)
    each = [P.difference(one)["prevalence"] for one in two.values()]
    value, low, high = made["difference", "x", "y"]
    half = np.hypot(*((one.high - one.low) / 2 for one in each))
    assert value == pytest.approx(each[0].value - each[1].value)
    assert (high - low) / 2 == pytest.approx(half)
    error = half / norm.ppf(0.975)
    assert differences(made)[0]["probability"] == pytest.approx(norm.cdf((low + high) / 2 / error))


@pytest.mark.parametrize(
    ("design", "numeric", "method", "name"),
    [
        ("by_verdict", True, P.post_stratified, "binned scores"),
        ("by_verdict", False, P.post_stratified, "binned scores"),
        ("by_truth", False, P.rogan_gladen, "Rogan-Gladen"),
    ],
)
def test_each_label_design_has_the_errors_of_its_own_method(design, numeric, method, name):
    two = {}
    for seed, system in enumerate("xy"):
        if design == "by_truth":
            two[system] = drawn(seed, labelled=120, numeric=False, design=design)
            continue
        scores = drawn(seed, numeric=numeric, labelled=200)
        two[system] = bj.prevalence.scores.Scores(
            scores.score, scores.truth, scores.n, design, edges=(0.4,), **(
                ENDS if numeric else {"scale": (0, 1)}
            )
        )  # fmt: skip
    made = S.unpaired_difference(two)
    assert made.method.title == f"Unpaired difference ({name})"
    each = [next(method(one).rows())[2] for one in two.values()]
    value, low, high = made["difference", "x", "y"]
    assert value == pytest.approx(each[0].value - each[1].value)
    free = [(one.n[one.known].sum() - 2) if numeric else np.inf for one in two.values()]
    quantiles = [t.ppf(0.975, df) for df in free]
    errors = [(one.high - one.low) / 2 / q for one, q in zip(each, quantiles, strict=True)]
    total = np.hypot(*errors)
    df = total**4 / sum(e**4 / f for e, f in zip(errors, free, strict=True)) if numeric else np.inf
    assert (high - low) / 2 == pytest.approx(t.ppf(0.975, df) * total)
    centres = [(one.low + one.high) / 2 for one in each]  # of few labels not the values
    assert (low + high) / 2 == pytest.approx(centres[0] - centres[1])


def test_names_turned_round_turn_the_sign():
    x, y = drawn(1), drawn(2, "skewed", labelled=20)
    (one,) = differences(S.unpaired_difference({"x": x, "y": y}))
    (other,) = differences(S.unpaired_difference({"y": y, "x": x}))
    assert [one["value"], one["low"], one["high"]] == pytest.approx(
        [-other["value"], -other["high"], -other["low"]]
    )
    assert one["probability"] == pytest.approx(1 - other["probability"])
    assert one["labelled"] == 70


def test_an_end_stays_on_the_scale():
    one = Errors(3.5, 3.5, 2.0, 9.0)
    assert row_of(one, 0.95, 4.0).high == 4
    assert one.less(Errors(0.0, 0.0, 0.0, np.inf)) == pytest.approx(one)


def test_what_cannot_be_compared_is_left_out_or_refused():
    both, passes = {"x": drawn(1), "y": drawn(2)}, drawn(3, numeric=False)
    with refused("mean_score", subject="unpaired_difference"):
        S.unpaired_difference({**both, "z": passes})
    with refused("x", subject="unpaired_difference"):
        S.unpaired_difference({"x": both["x"]})
    known = drawn(4, labelled=120, numeric=False, design="by_truth")
    upside = S.Scores(
        1 - known.score, known.truth, known.n, "by_truth", (0, 1)
    )  # a judge whose scores fall with the truth
    three = {"x": known, "y": drawn(5, labelled=120, numeric=False, design="by_truth")}
    made = S.unpaired_difference({**three, "z": upside})
    assert [at for _, at, _ in made.rows()] == [{"first": "x", "second": "y"}]
    assert made.table.equals(S.unpaired_difference(three).table)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("labelled", "numeric"), [((20, 20), True), ((15, 100), True), ((60, 60), False)]
)
def test_intervals_cover_the_difference(labelled, numeric):
    """Of the process: its means, by a large table of it."""
    rng = np.random.default_rng(sum(labelled))
    many = {"numeric": numeric, "labelled": 400_000}
    wide = {name: drawn(rng, name, **many) for name in ("even", "skewed")}
    each = [np.average(one.truth[one.known], weights=one.n[one.known]) for one in wide.values()]
    truth = each[0] - each[1]
    runs, covered = 400, 0
    for _ in range(runs):
        pair = zip("xy", ("even", "skewed"), labelled, strict=True)
        two = {name: drawn(rng, s, numeric=numeric, labelled=m) for name, s, m in pair}
        _, low, high = S.unpaired_difference(two)["difference", "x", "y"]
        covered += low <= truth <= high
    assert abs(covered / runs - 0.95) < 3.5 * np.sqrt(0.95 * 0.05 / runs)


@pytest.mark.own_model
@pytest.mark.sampling
def test_fits_are_compared_and_ranked_draw_by_draw():
    scores = {
        name: drawn(seed, shape, numeric=False, labelled=80)
        for seed, (name, shape) in enumerate(
            (("low", "skewed"), ("high", "ceiling"), ("mid", "even"))
        )
    }
    fits = {
        name: S.fit(one, random_seed=1, draws=500, tune=500, progress=False)
        for name, one in scores.items()
    }
    assert {len(one.bins) for one in scores.values()} == {8, 9}
    assert len({structure_of(one.model) for one in fits.values()}) == 1  # are compiled once
    found = S.contrasts(fits).set_index(["first", "second"])
    assert [*found.index] == [("low", "high"), ("low", "mid"), ("high", "mid")]
    for (a, b), row in found.iterrows():
        one, other = (fits[name].draws("prevalence") for name in (a, b))
        assert row["value"] == pytest.approx(one.mean() - other.mean())
        # independent draws: 2,000 of them tell a standard deviation to 3 %
        spread = np.hypot(one.std(), other.std())
        assert (row["high"] - row["low"]) / 3.92 == pytest.approx(spread, rel=0.12)
        assert (row["probability"] > 0.5) == (row["value"] > 0)
    ranks = S.ranking(fits)
    assert [*ranks.index] == sorted(scores, key=lambda k: -fits[k].draws("prevalence").mean())
    assert ranks["best"].sum() == pytest.approx(1)
    (made,) = S.by_system(fits)
    for name, one in fits.items():
        assert [*made["prevalence", name]] == pytest.approx([*one.estimate()["prevalence"]])
    with refused(id="nothing-to-compare"):
        S.contrasts({"low": fits["low"]})


def test_systems_with_truths_of_two_kinds_are_refused():
    two = {name: drawn(1, "even", numeric=name == "x", labelled=40) for name in "xy"}
    with pytest.raises(bj.InputError, match="different kinds"):
        S.by_system(two)
