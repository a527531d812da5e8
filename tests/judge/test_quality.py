"""The judge against people: published examples, other packages, five label designs, grades."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from refusals import refused
from scipy.stats import beta

import bayesjudge as bj
from bayesjudge import Verdicts, judge, prevalence, ratings
from bayesjudge.core.answer import mirrored
from bayesjudge.core.estimate import Row
from bayesjudge.core.intervals import added, z_score
from bayesjudge.core.label_design import DESIGNS
from bayesjudge.judge.worth import _of_errors, _of_verdicts
from bayesjudge.prevalence import Counts
from bayesjudge.prevalence._by_verdict import errors
from bayesjudge.prevalence.cautions import above_chance
from bayesjudge.truth.pairs import Pairs

GOOD = {"good_passed": 0.36, "good_failed": 0.04, "bad_passed": 0.12, "bad_failed": 0.48}
RATES = ("accuracy", "kappa", "ac1", "sensitivity", "specificity", "ppv", "npv")


def table(a, b, c, d, calibration="random", others=(0, 0)):
    """Good passed, good failed, bad passed, bad failed; fails and passes without a label."""
    return Verdicts.from_counts([[d, c], [b, a], list(others)], calibration=calibration)


def test_gwets_example():
    # Gwet (2008), Table 2: 118, 5, 2 and 0 of 125: AC1 .9408 where kappa is -.0234
    found = judge.quality(table(118, 5, 2, 0))
    assert found["accuracy"].value == pytest.approx(0.944)
    assert found["kappa"].value == pytest.approx(-0.0234, abs=5e-5)
    assert found["ac1"].value == pytest.approx(0.9408, abs=5e-5)


def test_other_packages_give_the_same_values():
    """statsmodels' kappa with its interval; rates and weighted kappa by counting."""
    from statsmodels.stats.inter_rater import cohens_kappa

    cells = np.array([[45, 12], [9, 34]])
    found = judge.quality(table(45, 12, 9, 34))
    theirs = cohens_kappa(cells)
    assert found["kappa"].value == pytest.approx(theirs.kappa)
    assert found["kappa"].low == pytest.approx(theirs.kappa_low, abs=0.03)
    assert found["kappa"].high == pytest.approx(theirs.kappa_upp, abs=0.03)
    assert found["ppv"].value == pytest.approx(45 / 54)
    assert found["npv"].value == pytest.approx(34 / 46)
    assert found["judge_less_people"].value == pytest.approx(-0.03)
    rng = np.random.default_rng(1)
    people = rng.integers(1, 6, 200)
    said = np.clip(people + rng.integers(-1, 2, 200), 1, 5)
    graded = judge.Judged.from_frame(
        pd.DataFrame({"score": said, "truth": people}),
        score="score", scale=(1, 5), truth_scale=(1, 5), calibration="random",
    )  # fmt: skip
    made = judge.quality(graded)
    square = cohens_kappa(
        np.histogram2d(people, said, bins=[np.arange(0.5, 6)] * 2)[0], wt="quadratic"
    )
    assert made["weighted_kappa"].value == pytest.approx(square.kappa)
    assert made["correlation"].value == pytest.approx(np.corrcoef(people, said)[0, 1])
    assert made["mean_error"].value == pytest.approx((said - people).mean())
    assert made["people_mean", "4"].value == pytest.approx(people[said == 4].mean())


@pytest.mark.slow
def test_scikit_learn_gives_the_same_values():
    """Pass and fail, four classes, and probabilities: every statistic that it has."""
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    rng = np.random.default_rng(4)
    for k in (2, 4):
        truth = rng.integers(k, size=200)
        said = np.where(rng.random(200) < 0.7, truth, rng.integers(k, size=200))
        log = pd.DataFrame({"verdict": said, "truth": truth})
        named = {"classes": [*range(k)]} if k > 2 else {}
        found = judge.quality(judge.Judged.from_frame(log, calibration="random", **named))
        assert found["accuracy"].value == pytest.approx(metrics.accuracy_score(truth, said))
        assert found["kappa"].value == pytest.approx(metrics.cohen_kappa_score(truth, said))
        recall, precision = (
            of(truth, said, average=None, labels=[*range(k)])
            for of in (metrics.recall_score, metrics.precision_score)
        )
        if k == 2:
            ours = [found[name].value for name in ("specificity", "sensitivity", "npv", "ppv")]
            assert_allclose(ours, [*recall, *precision], rtol=1e-12)
            balanced = metrics.balanced_accuracy_score(truth, said, adjusted=True)
            assert found["youden"].value == pytest.approx(balanced)
        else:
            ours = [found[name, str(c)].value for name in ("recall", "precision") for c in range(k)]
            assert_allclose(ours, [*recall, *precision], rtol=1e-12)
            rows = metrics.confusion_matrix(truth, said, normalize="true")
            ours = [row.value for _, _, row in found.only("confusion").rows()]
            assert_allclose(ours, rows.ravel(), rtol=1e-12)
    p = np.clip(rng.normal(0.3 + 0.4 * (truth > 1), 0.3), 0, 1).round(2)
    scored = pd.DataFrame({"p": p, "truth": (truth > 1).astype(int)})
    read = judge.Judged.from_frame(scored, score="p", scale=(0, 1), calibration="random")
    area = metrics.roc_auc_score(scored["truth"], p)
    assert judge.quality(read)["auc"].value == pytest.approx(area)
    brier, base = metrics.brier_score_loss(scored["truth"], p), scored["truth"].mean()
    gain = judge.trust(read)["gain"].value
    assert gain == pytest.approx(1 - brier / (base * (1 - base)))
    graded = pd.DataFrame({"g": 1 + said, "truth": 1 + truth})
    how = {"score": "g", "scale": (1, 4), "truth_scale": (1, 4), "calibration": "random"}
    found = judge.quality(judge.Judged.from_frame(graded, **how))
    assert found["mean_absolute_error"].value == pytest.approx(
        metrics.mean_absolute_error(truth, said)
    )
    square = metrics.cohen_kappa_score(truth, said, weights="quadratic")
    assert found["weighted_kappa"].value == pytest.approx(square)


def test_rates_have_jeffreys_intervals():
    """The posterior of one rate is Beta by itself."""
    from scipy.stats import beta

    found = judge.quality(table(40, 10, 5, 45))["sensitivity"]
    assert_allclose(found[1:], beta.ppf([0.025, 0.975], 40.5, 10.5), rtol=1e-12)


def test_several_classes():
    cells = np.array([[50, 5, 5], [4, 30, 6], [1, 2, 17], [0, 0, 0]])
    verdicts = Verdicts.from_counts(cells, calibration="random", classes=("a", "b", "c"))
    found = judge.quality(verdicts)
    p = cells[:3] / 120
    chance = p.sum(axis=0) @ p.sum(axis=1)
    assert found["kappa"].value == pytest.approx((np.trace(p) - chance) / (1 - chance))
    mean = (p.sum(axis=0) + p.sum(axis=1)) / 2
    chance = (mean * (1 - mean)).sum() / 2
    assert found["ac1"].value == pytest.approx((np.trace(p) - chance) / (1 - chance))
    assert found["recall", "b"].value == pytest.approx(30 / 40)
    assert found["precision", "c"].value == pytest.approx(17 / 28)
    assert found["confusion", "a", "c"].value == pytest.approx(5 / 60)


@pytest.mark.parametrize("design", ["random", "by_truth", "separate", "by_verdict"])
def test_each_design_estimates_the_same_judge(design):
    """Many labels, chosen in each way: the numbers of the population."""
    p = np.array([list(GOOD.values())]).reshape(2, 2)  # good, bad by passed, failed
    n = 40_000
    if design in ("random",):
        cells = n * p
    elif design == "by_verdict":
        cells = n / 2 * p / p.sum(axis=0)
    else:
        cells = n / 2 * p / p.sum(axis=1, keepdims=True)
    rest = [10 * n * p[:, 1].sum(), 10 * n * p[:, 0].sum()]
    (a, b), (c, d) = np.round(cells).astype(int)
    others = np.round(rest).astype(int)
    found = judge.quality(table(a, b, c, d, design, others))
    expected = {
        "accuracy": 0.84,
        "kappa": (0.84 - 0.504) / (1 - 0.504),
        "sensitivity": 0.9,
        "specificity": 0.8,
        "ppv": 0.75,
        "npv": 12 / 13,
        **GOOD,
    }
    for name, value in expected.items():
        assert found[name].value == pytest.approx(value, abs=0.01), name
        assert found[name].low - 0.002 < value < found[name].high + 0.002, name


@pytest.mark.slow
@pytest.mark.parametrize("passed", [60, 93, 97])
def test_the_share_behind_labels_by_truth_is_that_of_quadrature(passed):
    """Of the same priors, flat of the share, also where the pass rate is more than rates allow."""
    counts = Counts(100, passed, 20, 18, 20, 14, calibration="by_truth")
    rates = {"sensitivity": bj.BetaPrior(0.5, 0.5), "specificity": bj.BetaPrior(0.5, 0.5)}
    model = bj.prevalence.ErrorRates(bj.BetaPrior(), **rates, better_than_chance=True)
    exact = bj.prevalence.exact(counts, model, interval="eti")["prevalence"]
    read = judge.Judged(counts.verdicts)
    pairs = read.pairs["judge", ""]
    good = pairs.draws(read.design) @ pairs.truth
    error = 4 * good.std() / np.sqrt(len(good) / 2)
    assert good.mean() == pytest.approx(exact.value, abs=error)
    assert np.quantile(good, [0.025, 0.975]) == pytest.approx(exact[1:], abs=3 * error)


@pytest.mark.slow
def test_known_propensities_reweigh():
    rng = np.random.default_rng(2)
    n = 60_000
    truth = (rng.random(n) < 0.4).astype(int)
    verdict = np.where(truth, rng.random(n) < 0.9, rng.random(n) < 0.2).astype(int)
    chance = np.where(verdict == 1, 0.2, 0.6)
    told = np.where(rng.random(n) < chance, truth, np.nan)
    frame = pd.DataFrame({"verdict": verdict, "truth": told, "chance": chance})
    read = judge.Judged.from_frame(frame, calibration="known_propensity", propensity="chance")
    found = judge.quality(read)
    plain = judge.quality(judge.Judged.from_frame(frame, calibration="random"))
    assert found["accuracy"].value == pytest.approx((verdict == truth).mean(), abs=0.01)
    assert abs(plain["accuracy"].value - (verdict == truth).mean()) > 0.01
    assert found["sensitivity"].value == pytest.approx(verdict[truth == 1].mean(), abs=0.01)
    assert abs(plain["sensitivity"].value - verdict[truth == 1].mean()) > 0.03
    assert len(read.systems) == 1


def test_labels_elsewhere_tell_rates_alone():
    found = judge.quality(table(40, 10, 5, 45, "separate"))
    assert set(found.quantities) == {"sensitivity", "specificity", "youden"}
    assert judge.worth(table(40, 10, 5, 45, "separate"))["judge", ""].known is False


@pytest.mark.parametrize("outputs", [50, 1000])
def test_a_draw_of_labels_by_truth_has_the_variance_of_rogan_and_gladen(outputs):
    counts = Counts(outputs, 3 * outputs // 5, 20, 18, 25, 19, calibration="by_truth")
    share, low, high = prevalence.rogan_gladen(counts, interval="delta")["prevalence"]
    pairs = Pairs.of([1, 0, 1, 0], [1, 1, 0, 0], [18, 2, 6, 19])
    shares = np.array([[share * 0.9, share * 0.1, (1 - share) * 0.24, (1 - share) * 0.76]])
    error = (high - low) / 2 / z_score(0.95)
    assert_allclose(_of_errors(pairs, shares, outputs), error**2)


def test_a_draw_of_labels_by_verdict_has_the_variance_of_double_sampling():
    """Of labels within the verdicts, and of the verdicts of a sample of outputs (Cochran, 12.2)."""
    pairs = Pairs.of([1, 0, 1, 0], [1, 1, 0, 0], [18, 3, 6, 20])
    passes, ppv, missed = 0.55, 0.8, 0.1
    shares = np.array([[passes * ppv, (1 - passes) * missed, passes * (1 - ppv), 0.0]])
    shares[0, 3] = 1 - shares.sum()
    within = passes**2 * ppv * (1 - ppv) / 24 + (1 - passes) ** 2 * missed * (1 - missed) / 23
    between = passes * (1 - passes) * (ppv - missed) ** 2 / 400
    assert_allclose(_of_verdicts(pairs, shares, 400), within + between)


def test_a_perfect_judge_has_an_interval():
    found = judge.quality(table(30, 0, 0, 20))
    for name in ("kappa", "ac1", "sensitivity", "specificity"):
        assert found[name].value == found[name].high == 1
        assert 0.5 < found[name].low < 0.99


@pytest.mark.slow
def test_outputs_that_share_items_have_wider_intervals():
    """Three rows an item, on which the judge errs alike: a third of the items' worth."""
    rng = np.random.default_rng(3)
    truth = rng.random(100) < 0.6
    verdict = np.where(truth, rng.random(100) < 0.9, rng.random(100) < 0.3)
    rows = pd.DataFrame({"item": range(100), "verdict": verdict, "truth": truth}).astype(int)
    alone = judge.quality(judge.Judged.from_frame(rows, calibration="random", item="item"))
    thrice = pd.concat([rows] * 3)
    how = {"calibration": "random", "item": "item", "repeats": "system"}
    found = judge.quality(judge.Judged.from_frame(thrice, **how))
    for name in ("accuracy", "kappa", "sensitivity"):
        one, three = (x[name] for x in (alone, found))
        assert three.value == pytest.approx(one.value)
        assert three.high - three.low == pytest.approx(one.high - one.low, rel=0.08)


def test_nothing_to_agree_beyond_and_nothing_labelled():
    one = judge.quality(table(10, 0, 0, 0))
    assert np.isnan(one["kappa"].value)
    assert "undefined" in {c.id for c in one.cautions}
    with refused(id="no-labels-of-outputs"):
        judge.quality(Counts(10, 5, 0, 0, 0, 0, calibration="random"))
    with refused(id="no-table"):
        judge.quality(3)


def test_all_labelled_tables_are_told_where_to_look():
    counts = Counts(0, 0, 50, 40, 50, 45, calibration="random")
    (caution,) = (c for c in bj.prevalence.naive(counts).cautions if c.id == "all-labelled")
    assert "bayesjudge.judge" in caution.text


def test_judges_and_systems_have_rows_of_their_own():
    frame = pd.DataFrame(
        {
            "one": [1, 0, 1, 1] * 20,
            "two": [1, 1, 1, 0] * 20,
            "truth": [1, 0, 1, 0] * 20,
            "system": ["x"] * 40 + ["y"] * 40,
        }
    )
    read = judge.Judged.from_frame(frame, verdict=["one", "two"], calibration="random", by="system")
    found = judge.quality(read)
    assert isinstance(found["accuracy", "two", "y"], Row)
    assert found["accuracy", "one", "x"].value == 0.75


def test_labels_on_which_a_judge_was_tuned_are_left_out():
    frame = pd.DataFrame({"verdict": [1, 0, 1, 0], "truth": [1, 0, 1, 1], "shown": [1, 1, 0, 0]})
    kept, n = judge.untuned(frame, "truth", "shown")
    assert (n, kept["truth"].notna().sum()) == (2, 2)
    found = judge.quality(judge.Judged.from_frame(kept, calibration="random", tuned=n))
    assert [c.id for c in found.cautions] == ["tuned-labels"]
    with refused(4, subject="column 'shown'"):
        judge.untuned(frame.assign(shown=True), "truth", "shown")
    # one row of an item is enough, whose label counts once
    twice = pd.concat([frame.assign(item=range(4)), frame.assign(item=range(4), shown=0)])
    kept, n = judge.untuned(twice, "truth", "shown", within=["item"])
    assert (n, kept["truth"].notna().sum()) == (2, 4)
    with refused("maybe", subject="column 'shown'"):
        judge.untuned(frame.assign(shown="maybe"), "truth", "shown")


def test_of_a_table_that_is_labelled_throughout_the_worth_is_that_on_other_outputs():
    full = table(38, 2, 20, 40)
    some = judge.worth(table(38, 2, 20, 40, others=(206, 144)))["judge", ""]
    most = judge.worth(table(38, 2, 20, 40, others=(10**7, 10**7)))["judge", ""]
    found = judge.worth(full)["judge", ""]
    assert some.value < found.value == pytest.approx(most.value, rel=1e-4)
    told = judge.answer(judge.quality(full))
    words = (
        f"To measure with labels: beside your 100 it is worth up to {found.value:.0f} more labels"
    )
    assert told.notes[0].startswith(words)
    assert len(told.text.split()) <= 25
    assert not bj.prevalence.answer(
        *bj.prevalence.closed_forms(Counts(0, 0, 40, 38, 60, 40, calibration="random"))
    ).worth


def test_labels_that_are_all_alike_leave_a_doubt():
    """A bootstrap of one label, or of passes only, does not vary: it is no interval."""
    grades = pd.DataFrame({"g": [1, 2, 3, 4, 5] * 20 + [1.5], "h": [2, 2, 3, 4, 5] * 20 + [5]})
    of = {"score": "g", "truth": "h", "scale": (1, 5), "calibration": "random"}
    found = judge.quality(judge.Judged.from_frame(grades, truth_scale=(1, 5), **of))
    alone = found["people_mean", "1.5"]
    assert alone.value == 5
    assert np.isnan([alone.low, alone.high]).all()
    assert not any("what it gives" in note for note in judge.answer(found).notes)
    passed = pd.DataFrame({"g": [1, 2] * 20, "h": ["fail", "pass"] * 20})
    rows = judge.quality(judge.Judged.from_frame(passed, **of))
    least = beta(20.5, 0.5).ppf(0.025)  # Jeffreys' interval of 20 of 20
    assert_allclose(rows["people_mean", "2"], (1, least, 1), atol=5e-4)
    assert_allclose(rows["people_mean", "1"], (0, 0, 1 - least), atol=5e-4)


@pytest.mark.slow
def test_of_several_systems_all_come_first_as_without_the_column():
    """The same sentence and uses as of one table, if systems were labelled at one rate."""
    rng = np.random.default_rng(4)
    truth = rng.random(600) < 0.6
    log = pd.DataFrame({"verdict": truth ^ (rng.random(600) < 0.15), "truth": truth.astype(float)})
    log["system"] = np.repeat(["a", "b"], 300)
    for rates, whole in (((0.4, 0.4), True), ((0.2, 0.9), False)):
        hidden = rng.random(600) > np.repeat(rates, 300)
        table = log.assign(truth=log["truth"].where(~hidden), verdict=log["verdict"].astype(int))
        told, alone = (
            judge.answer(judge.quality(judge.Judged.from_frame(table, calibration="random", by=by)))
            for by in ("system", None)
        )
        assert (told.text == alone.text) is whole
        assert set(alone.notes) <= set(told.notes) or not whole
        assert any("outputs of " in words for words in (told.text, *told.notes))


@pytest.mark.slow
@pytest.mark.parametrize(("steep", "kind"), [(1.0, "No clear"), (2.5, "overconfident"),
                                             (0.3, "underconfident")])  # fmt: skip
def test_probabilities_are_too_sure_or_not(steep, kind):
    """Scores whose log odds are `steep` times the true ones, with 200 labels."""
    said = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        logit = rng.normal(0.3, 1.0, 200)
        good = (rng.random(200) < 1 / (1 + np.exp(-logit))).astype(int)
        log = pd.DataFrame({"p": 1 / (1 + np.exp(-steep * logit)), "good": good})
        of = {"score": "p", "truth": "good", "scale": (0, 1), "calibration": "random"}
        said.append(judge.answer(judge.quality(judge.Judged.from_frame(log, **of))).notes[0])
    assert np.mean([kind in words for words in said]) > 0.85


@pytest.mark.slow
@pytest.mark.parametrize(("leaning", "least", "most"), [(0.0, 0.0, 0.1), (0.45, 0.9, 1.0)])
def test_which_of_two_systems_a_judge_favours_is_seldom_said_by_chance(leaning, least, most):
    """Of 60 tables of two systems with 150 labels each; one may be passed more often.

    Were intervals shorter by a square root of 2, a sixth of the first would be.
    """
    said = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        truth = rng.random(300) < 0.6
        verdict = truth ^ (rng.random(300) < 0.15)
        verdict[:150] |= rng.random(150) < leaning
        log = pd.DataFrame({"verdict": verdict, "truth": truth}).astype(int)
        log["system"] = np.repeat(["a", "b"], 150)
        found = judge.quality(judge.Judged.from_frame(log, calibration="random", by="system"))
        gap = added(found["judge_less_people", "a"], mirrored(found["judge_less_people", "b"]))
        seen = gap[1] > 0 or gap[2] < 0
        notes = judge.answer(found).notes
        assert sum(" it favours " in note for note in notes) == seen
        said.append(seen)
    assert least <= np.mean(said) <= most


@pytest.mark.slow
def test_the_class_that_is_farthest_off_is_seldom_off_by_chance():
    """Of 100 tables of four classes, of which a judge confuses any two as often either way."""
    wrong = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        truth = rng.integers(4, size=160)
        said = np.where(rng.random(160) < 0.8, truth, rng.integers(4, size=160))
        log = pd.DataFrame({"verdict": said, "truth": truth}).astype(str)
        read = judge.Judged.from_frame(log, calibration="random", classes=[*"0123"])
        notes = judge.answer(judge.quality(read)).notes
        wrong += any("without labels: no, its share of" in note for note in notes)
    assert wrong <= 10
    log["verdict"] = np.where(truth == 2, np.where(rng.random(160) < 0.5, "3", "2"), log["truth"])
    read = judge.Judged.from_frame(log, calibration="random", classes=[*"0123"])
    (note,) = [note for note in judge.answer(judge.quality(read)).notes if "without labels" in note]
    assert "no, its share of" in note


@pytest.mark.slow
def test_verdicts_and_scores_against_the_labels_are_a_caution():
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 200)
    log = pd.DataFrame(
        {"truth": truth, "verdict": np.where(rng.random(200) < 0.8, 1 - truth, truth)}
    )
    log["p"] = np.clip(0.5 - 0.2 * (truth - 0.5) + rng.normal(0, 0.1, 200), 0, 1)
    scored = {"score": "p", "scale": (0, 1)}
    for how in ({}, scored):
        read = judge.Judged.from_frame(log, calibration="random", **how)
        assert "inverted-judge" in [c.id for c in judge.quality(read).cautions]
        other = log.assign(truth=1 - log["truth"])
        read = judge.Judged.from_frame(other, calibration="random", **how)
        assert "inverted-judge" not in [c.id for c in judge.quality(read).cautions]
    assert read.table.spelling == "1 read as pass, 0 as fail"


@pytest.mark.slow
def test_what_scores_decide_is_said_once_it_was_looked_for():
    table = prevalence.scores.simulate(shape="bimodal", noise=0.3, labelled=300, random_seed=1)
    read = prevalence.scores.Scores.from_frame(table, calibration="random", scale=(0, 1))
    for alpha, words in ((0.15, "passes from"), (0.001, "no score is high or low enough")):
        answer = judge.answer(judge.quality(read), judge.trust(read, alpha=alpha))
        (note,) = [note for note in answer.notes if "single outputs" in note]
        assert words in note
        assert "--trust" not in note


def test_rows_of_an_item_that_are_averaged_are_said_to_be():
    log = pd.DataFrame({"g": [2, 3, 4, 5] * 10, "truth": [1, 3, 4, 5] * 10, "doc": range(40)})
    how = {"score": "g", "scale": (1, 5), "truth_scale": (1, 5), "calibration": "random"}
    for doc, averaged in ((log["doc"], False), (log["doc"] // 2, True)):
        read = judge.Judged.from_frame(log.assign(doc=doc), item="doc", **how)
        basis = judge.answer(judge.quality(read)).basis
        assert ("40 rows: those of an item count as one" in basis) is averaged


def test_grades_that_are_all_right_are_not_off_and_all_off_alike_are():
    grades = pd.DataFrame({"g": [2, 3, 4, 5] * 10})
    how = {"score": "g", "scale": (1, 5), "truth_scale": (1, 5), "calibration": "random"}
    for gap, words in ((0, "its mean may be right"), (1, "no, its mean is 1.0 too high")):
        read = judge.Judged.from_frame(grades.assign(truth=grades["g"] - gap), **how)
        notes = judge.answer(judge.quality(read)).notes
        assert f"To measure without labels: {words}" in " ".join(notes)


def test_a_system_without_a_verdict_leaves_the_answer_about_the_others():
    rows = {"verdict": [1, 0, 1] * 20, "truth": [1, 0, 0] * 10 + [None] * 30}
    log = pd.DataFrame(rows).assign(system=["a", "b"] * 30)
    unread = pd.DataFrame({"verdict": [None] * 5, "system": "c"})
    how = {"by": "system", "calibration": "random", "unparsed": "drop"}
    read = judge.Judged.from_frame(pd.concat([log, unread], ignore_index=True), **how)
    alone = judge.Judged.from_frame(log, **how)
    texts = [judge.answer(judge.quality(each)).text for each in (read, alone)]
    assert texts[0] == texts[1]


def test_means_of_probabilities_are_set_against_the_share_people_pass():
    log = pd.DataFrame({"p": [0.1, 0.9] * 100, "truth": [0, 0, 0, 1] * 50})
    how = {"score": "p", "scale": (0, 1), "calibration": "random"}
    notes = " ".join(judge.answer(judge.quality(judge.Judged.from_frame(log, **how))).notes)
    assert "To measure without labels: no, its mean is 25 points (" in notes
    assert "too high" in notes
    assert "--trust" in notes
    chosen = judge.Judged.from_frame(log, **how | {"calibration": "by_verdict"})
    assert "its mean" not in " ".join(judge.answer(judge.quality(chosen)).notes)


@pytest.mark.slow
def test_for_what_the_best_of_two_judges_is_enough():
    """The lines of the table of this judge alone."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 200)
    said = {name: np.where(rng.random(200) < right, truth, 1 - truth)
            for name, right in (("old", 0.7), ("new", 0.95))}  # fmt: skip
    log = pd.DataFrame({**said, "truth": np.where(np.arange(200) < 100, truth, np.nan)})
    both, alone = (
        judge.answer(judge.quality(judge.Judged.from_frame(log, verdict=v, calibration="random")))
        for v in (["old", "new"], "new")
    )
    uses = [note for note in alone.notes if note.startswith(("To measure without", "To decide"))]
    assert len(uses) == 2
    assert [f"For new, t{use[1:]}" for use in uses] == [n for n in both.notes if "For new" in n]


@pytest.mark.slow
@pytest.mark.parametrize("numeric", [False, True])
def test_for_what_the_best_of_two_scores_is_enough(numeric):
    """Probabilities, or grades: the lines of the table of this judge alone."""
    rng = np.random.default_rng(6)
    hidden = rng.normal(size=300)
    said = {name: 1 / (1 + np.exp(-slope * hidden - rng.normal(size=300)))
            for name, slope in (("old", 0.5), ("new", 2.0))}  # fmt: skip
    log = pd.DataFrame({**said, "truth": np.where(rng.random(300) < 0.5, hidden > 0, np.nan)})
    how = {"scale": (0, 1), "calibration": "random"} | ({"truth_scale": (0, 1)} if numeric else {})
    both, alone = (
        judge.answer(judge.quality(judge.Judged.from_frame(log, score=score, **how)))
        for score in (["old", "new"], "new")
    )
    kept = ("To measure without", "To decide", "It is over", "It is under", "No clear")
    uses = [f"For new, {n[:1].lower()}{n[1:]}" for n in alone.notes if n.startswith(kept)]
    assert len(uses) == 3 - numeric
    assert [note for note in both.notes if note.startswith("For new")] == uses


def test_how_far_off_a_pass_rate_is_can_be_unknown():
    only_passes = table(40, 0, 20, 0, "by_verdict", others=(144, 206))
    notes = " ".join(judge.answer(judge.quality(only_passes)).notes)
    assert "how far its pass rate is off cannot be told" in notes
    assert "nan" not in notes


def test_rows_without_a_verdict_are_what_was_said_of_one_judge_and_of_several():
    log = {"a": [1, 0, None, 1] * 9, "b": [1, 0, 0, 1] * 9, "truth": [1, 0, 0, 1] * 9}
    for columns in (["a"], ["a", "b"]):
        how = {"verdict": columns, "calibration": "random", "unparsed": "fail"}
        read = judge.Judged.from_frame(pd.DataFrame(log), **how)
        assert read.pairs["a", ""].labelled == 36


@pytest.mark.slow
def test_people_err_too_and_both_questions_are_answered():
    """A judge whose rates are known: what is so behind errors of two people, and what they say."""
    people = bj.prevalence.people
    how = {"prevalence": 0.7, "sensitivity": 0.9, "specificity": 0.7, "errors": (0.1, 0.15)}
    table = people.simulate(**how, items=0, labelled=30_000, random_seed=3)
    counts = people.PeopleCounts.from_frame(table, truth=["ann1", "ann2"], calibration="random")
    found = bj.judge.quality(counts)
    assert found["sensitivity"].value == pytest.approx(0.9, abs=0.015)
    assert found["specificity"].value == pytest.approx(0.7, abs=0.03)
    said = np.mean([table["verdict"] == table[name] for name in counts.people])
    assert found["agreement_with_person"].value == pytest.approx(said, abs=0.006)
    exact = bj.prevalence.exact(counts)
    judge = exact["sensitivity", counts.judge]
    assert found["sensitivity"].value == pytest.approx(judge.value, abs=0.002)
    notes = " ".join(bj.judge.answer(found).notes)
    assert all(name in notes for name in counts.people)


@pytest.mark.slow
def test_people_err_in_each_system_and_in_strata():
    """Rates of a system are those of the posterior; of strata they are weighed by shares."""
    people = bj.prevalence.people
    parts = []
    for seed, (name, rate) in enumerate({"a": 0.95, "b": 0.7}.items()):
        part = people.simulate(sensitivity=rate, items=2000, labelled=2000, random_seed=seed)
        parts.append(part.iloc[: 4000 if name == "a" else 1000].assign(kind=name))
    table = pd.concat(parts, ignore_index=True)
    how = {"truth": ["ann1", "ann2"], "calibration": "random"}
    apart = bj.judge.quality(people.PeopleCounts.from_frame(table, by="kind", **how))
    assert apart["sensitivity", "a"].value == pytest.approx(0.95, abs=0.03)
    assert apart["sensitivity", "b"].value == pytest.approx(0.7, abs=0.03)
    whole = bj.judge.quality(people.PeopleCounts.from_frame(table, stratum="kind", **how))
    assert whole["sensitivity"].value == pytest.approx((4 * 0.95 + 0.7) / 5, abs=0.03)


def test_the_prior_of_five_classes_is_one_output():
    """Accuracy is then Beta(right + 1 / 5, wrong + 4 / 5): another road than draws of all cells."""
    cells = 5 * np.eye(5, dtype=int)
    cells[0, 1] = cells[3, 2] = 1
    classes = [*"abcde"]
    table = Verdicts.from_counts([*cells, [0] * 5], calibration="random", classes=classes)
    row = judge.quality(table)["accuracy"]
    depths = beta(25 + 1 / 5, 2 + 4 / 5).cdf([row.low, row.high])
    assert_allclose(depths, [0.025, 0.975], atol=5 * np.sqrt(0.025 * 0.975 / 4000))


def test_items_of_which_people_differ_are_weighed_whole():
    """The Bayesian bootstrap of items, beside one imaginary output: its mean and variance."""
    half, whole = [0.5, 0.5, 0, 0], [0, 0, 0, 1]
    pairs = Pairs.of_items(np.array([half] * 30 + [whole] * 10))
    drawn = pairs.draws(DESIGNS["random"], overall=True) @ [1, 0, 0, 1]
    right = (30 * 0.5 + 10 + 1 / 2) / 41
    # weights of items and of the cells of the prior are Dirichlet
    size, value = np.array([30, 10, 0.5, 0.5]), np.array([0.5, 1, 1, 0])
    spread = np.sqrt((size @ (value - right) ** 2) / 41 / 42)
    assert drawn.mean() == pytest.approx(right, abs=5 * spread / np.sqrt(len(drawn)))
    assert drawn.std() == pytest.approx(spread, rel=5 / np.sqrt(2 * len(drawn)))


def one_person(right, classes=2, items=200):
    """A judge beside one person, a row per output, and a row per answer."""
    rng = np.random.default_rng(2)
    truth = rng.integers(classes, size=items)
    wrong = (truth + rng.integers(1, classes, size=items)) % classes
    said = np.where(rng.random(items) < right, truth, wrong)
    wide = pd.DataFrame({"item": range(items), "verdict": said, "truth": truth})
    return wide, wide.melt("item", ["verdict", "truth"], "rater", "choice")


@pytest.mark.slow
@pytest.mark.parametrize("right", [0.6, 0.85, 1.0])
@pytest.mark.parametrize("classes", [2, 4])
def test_ratings_of_one_person_are_the_same_numbers(right, classes):
    """Hit rate and kappa there, accuracy and kappa here: one function, and the same draws."""
    wide, answers = one_person(right, classes)
    named = {"classes": [*range(classes)]} if classes > 2 else {}
    here = judge.quality(judge.Judged.from_frame(wide, calibration="random", **named))
    # of two the positive one is the first, if nobody orders them
    how = {"judges": ["verdict"]} | ({"options": [*"0123"]} if classes > 2 else {})
    read = ratings.Ratings.from_frame(answers, positive="1", **how)
    there = ratings.agreement(read).estimate()
    matched = ratings.answer_rates(read)["matched", "verdict"]
    same = {"hit_rate": "accuracy", "cohen_kappa": "kappa"}
    if classes == 2:
        same |= {"decision_consistency": "accuracy", "prevalence_bias": "judge_less_people"}
    assert_allclose(matched, here["accuracy"], atol=1e-12)
    for metric, mine in same.items():
        ((_, _, row),) = there.only(metric).rows()
        assert_allclose(row, here[mine], atol=1e-12, err_msg=metric)
    assert (here["accuracy"].high == 1) == (right == 1)


def assert_same_rates(here, there, **renamed):
    """Every rate of a closed form is the judge's, ends and all; and how many were compared."""
    rows = [(name, at, row) for name, at, row in there.rows() if name in RATE_NAMES]
    for name, at, row in rows:
        mine = here[(renamed.get(name, name), *at.values())]
        assert_allclose(row, mine, rtol=1e-12, err_msg=f"{name} {at}")
    return len(rows)


RATE_NAMES = ("sensitivity", "specificity", "ppv", "npv", "confusion")


@pytest.mark.fast_one_in(3)
@pytest.mark.parametrize("right", [0, 4])
@pytest.mark.parametrize("design", ["random", "by_truth", "separate", "by_verdict"])
def test_rates_beside_closed_forms_are_the_same_numbers(design, right):
    """By design, also where no error was seen."""
    counts = Counts(900, 650, 62, 62 - right, 38, 34 + right // 2, calibration=design)
    here = judge.quality(counts)
    compared = [assert_same_rates(here, form) for form in prevalence.closed_forms(counts)]
    assert sum(compared) == 2
    if design != "by_verdict":
        assert_allclose(above_chance(counts), here["youden"], rtol=1e-12)
    assert not right or here["sensitivity"].high < 1
    if design == "by_verdict":
        found = errors(counts, 0.95)
        for name in ("sensitivity", "specificity"):
            assert_allclose(getattr(found, name), here[name], rtol=1e-12)
        passed = (650 + counts.labelled_pass) / 1000  # of all outputs, not of those labelled
        good = passed * here["ppv"].value, (1 - passed) * (1 - here["npv"].value)
        assert here["sensitivity"].value == pytest.approx(good[0] / sum(good))


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 3])
def test_rates_of_rows_that_share_items_are_the_same_numbers(rows):
    """Of items with a row each, and with several, of which whole items are weighed."""
    log = prevalence.items.simulate(items=150, repeats=rows, labelled=60, random_seed=4)
    read = prevalence.items.Items.from_frame(log, calibration="random", repeats="system")
    assert assert_same_rates(judge.quality(read), prevalence.rogan_gladen(read)) == 2


@pytest.mark.slow
def test_rates_of_classes_and_panels_are_the_same_numbers():
    log = prevalence.classes.simulate(random_seed=2)
    classes = prevalence.classes.ClassCounts.from_frame(log, calibration="random")
    found = prevalence.rogan_gladen(classes)
    read = judge.Judged.from_frame(log, calibration="random", classes=classes.classes)
    assert assert_same_rates(judge.quality(read), found) == len(classes.classes) ** 2
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 300)
    said = {name: np.where(rng.random(300) < share, truth, 1 - truth)
            for name, share in (("new", 0.9), ("old", 0.75))}  # fmt: skip
    log = pd.DataFrame({**said, "truth": np.where(rng.random(300) < 0.4, truth, np.nan)})
    votes = bj.panel.Votes.from_frame(
        log.assign(item=range(300)), judges=list(said), generator=None, calibration="random"
    )
    here = judge.quality(judge.Judged.from_frame(log, verdict=list(said), calibration="random"))
    assert assert_same_rates(here, bj.panel.rogan_gladen(votes)) == 4


@pytest.mark.fast_one_in(4)
@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("never", [0, -1])
@pytest.mark.parametrize("calibration", ["random", "by_verdict"])
def test_a_verdict_that_is_never_given_leaves_the_others_known(k, never, calibration):
    """Labels cannot be had of it, nor are they needed: as if it had weight 0."""
    rng = np.random.default_rng(k)
    cells = rng.integers(5, 30, (k + 1, k))  # people's class by the judge's, then without a label
    cells[:, never] = 0
    more = {} if k == 2 else {"classes": tuple("abcde"[:k])}
    made = Verdicts.from_counts(cells, calibration=calibration, **more)
    found = judge.quality(made)
    n = cells[:k].sum(axis=0)
    weight = (cells.sum(axis=0) if calibration == "by_verdict" else n) / cells.sum()
    given = n > 0
    right = weight[given] @ (np.diag(cells[:k])[given] / n[given]) / weight.sum()
    row = found["accuracy"]
    assert row.value == pytest.approx(right)
    assert 0 <= row.low < right < row.high <= 1
    assert "unknown" not in judge.answer(found).text
    if k == 2 and calibration == "random":  # labels by verdict make no card
        card = judge.Card.make(prevalence.Counts.of(made), judge="gpt")
        assert "accuracy" in {number["quantity"] for number in card.numbers}


@pytest.mark.slow
def test_labels_that_are_no_random_sample_count_by_the_random_ones_that_tell_as_much():
    """Of several judges as of one, and not as no further label."""
    rng = np.random.default_rng(3)
    truth = rng.random(400) < 0.7
    said = {name: np.where(rng.random(400) < right, truth, ~truth)
            for name, right in (("a", 0.9), ("b", 0.7))}  # fmt: skip
    labels = pd.Series(truth, dtype=object).where(np.arange(400) < 120)
    log = pd.DataFrame({**said, "truth": labels})
    how = {"truth": "truth", "calibration": "by_truth"}
    both = judge.answer(judge.quality(judge.Judged.from_frame(log, verdict=["a", "b"], **how)))
    (told,) = [note for note in both.notes if "random ones" in note]
    for name in said:
        one = judge.Judged.from_frame(log, verdict=name, **how)
        (worth,) = judge.worth(one).values()
        assert f"{round(worth.labels + worth.value):,} random ones with {name}" in told
    assert not [note for note in both.notes if "no more label" in note]
