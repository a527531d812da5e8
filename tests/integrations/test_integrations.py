"""Results in other tools' shapes, and other packages' signatures over the same estimators."""

import json
import math
import types

import numpy as np
import pytest
from refusals import refused

import bayesjudge as bj
from bayesjudge import integrations
from bayesjudge.integrations import compat

COUNTS = bj.prevalence.Counts(1000, 620, 100, 90, 100, 70, calibration="by_truth")
RESULT = bj.prevalence.rogan_gladen(COUNTS)


def score(value, label=None):
    """A sample score as Inspect hands it to a metric."""
    inner = types.SimpleNamespace(as_float=lambda: float(value), value=value)
    return types.SimpleNamespace(score=inner, sample_metadata={"human_label": label})


def test_the_metric_is_the_estimate_of_the_same_table():
    rng = np.random.default_rng(1)
    truth = rng.random(300) < 0.7
    verdict = np.where(rng.random(300) < 0.85, truth, ~truth)
    labels = ["C" if t else "I" for t in truth[:80]] + [None] * 220
    scores = [score(v, label) for v, label in zip(verdict, labels, strict=True)]
    found = integrations.corrected_share(scores)
    import pandas as pd

    table = pd.DataFrame({"verdict": verdict, "truth": labels})
    counts = bj.prevalence.Counts.from_frame(table, calibration="random")
    expected = bj.prevalence.difference(counts)["prevalence"]
    assert (found["value"], found["low"], found["high"]) == tuple(expected)
    assert (found["labelled"], found["samples"], found["unknown"]) == (80, 300, 0)
    separate = integrations.corrected_share(scores, calibration="separate")
    counts = bj.prevalence.Counts.from_frame(table, calibration="separate")
    assert separate["value"] == bj.prevalence.rogan_gladen(counts)["prevalence"].value


def broken():
    raise ValueError("no float")


@pytest.mark.parametrize(
    "scores",
    [
        [],
        [score(1, "C")],
        [score(1)] * 18,
        [score(math.nan, "C")] * 5,
        [score(2 / 3, "I")] * 5,  # epochs, reduced to their mean
        [score(1, "who knows"), score(0, 17)],
        [types.SimpleNamespace(score=types.SimpleNamespace(as_float=broken))],
        [types.SimpleNamespace(score=None, sample_metadata=None)],
    ],
)  # fmt: skip
def test_the_metric_is_nan_and_never_an_error_while_a_run_goes_on(scores):
    found = integrations.corrected_share(scores)
    assert math.isnan(found["value"]) or found["labelled"] > 0
    assert found["samples"] == len(scores)
    assert all(isinstance(x, float) for x in found.values())


def test_reduced_epochs_are_counted_as_unknown():
    scores = [score(v, "C" if v == 1 else "I") for v in (1, 0, 2 / 3, math.nan, 1, 0)]
    assert integrations.corrected_share(scores)["unknown"] == 2


def test_inspect_runs_the_metric():
    inspect_ai = pytest.importorskip("inspect_ai", reason="Inspect is not installed")
    assert inspect_ai.__version__
    made = integrations.inspect_metric(truth="label")
    assert math.isnan(made([])["value"])


def test_without_inspect_the_metric_says_so(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    monkeypatch.setitem(sys.modules, "inspect_ai.scorer", None)
    with refused(id="inspect-not-installed"):
        integrations.inspect_metric()


def test_metrics_are_finite_numbers_by_names_that_tools_take():
    found = integrations.as_metrics(RESULT, prefix="judge/")
    assert found["judge/prevalence"] == RESULT["prevalence"].value
    assert found["judge/sensitivity/low"] == RESULT["sensitivity"].low
    two = bj.prevalence.Counts(
        [100, 100], [60, 50], [10, 0], [9, 0], [10, 0], [8, 0], calibration="by_truth",
        systems=["gpt:4 ünd", "b"],
    )  # fmt: skip
    found = integrations.as_metrics(bj.prevalence.rogan_gladen(two))
    assert "prevalence/gpt_4 ünd" in found
    assert "prevalence/b" not in found  # no label: no answer
    assert all(map(math.isfinite, found.values()))


def test_feedback_is_json_with_the_interval_in_words():
    (first, *_) = integrations.as_feedback(RESULT)
    assert json.loads(json.dumps(first, allow_nan=False)) == first
    assert first["key"] == "prevalence"
    assert first["comment"] == "0.533 (95 % interval 0.430 to 0.636), Rogan-Gladen"
    assert first["metadata"]["low"] == RESULT["prevalence"].low
    assert "| " in integrations.as_markdown(RESULT)
    assert "Rogan-Gladen" in integrations.as_markdown(RESULT)


def test_judgys_users_switch_by_one_import():
    """Its estimate; 0.9 is refused, where judgy reads it as 0."""
    labels, preds = [1] * 50 + [0] * 50, [1] * 45 + [0] * 5 + [0] * 40 + [1] * 10
    rate = compat.estimate_success_rate(
        test_labels=labels, test_preds=preds, unlabeled_preds=[1] * 60 + [0] * 40,
        bootstrap_iterations=100, confidence_level=0.95,
    )  # fmt: skip
    assert rate[0] == pytest.approx((0.6 + 0.8 - 1) / (0.9 + 0.8 - 1), abs=1e-12)
    assert rate[1] < rate[0] < rate[2]
    np_rate = compat.estimate_success_rate(np.array(labels), np.array(preds), [True] * 6 + [0] * 4)
    assert np_rate[0] == pytest.approx(rate[0])
    for wrong, message in (
        ({"test_labels": [0.9, *labels[1:]]}, r"test_labels must hold 0 and 1 only, got \[0.9\]"),
        ({"test_preds": preds[1:]}, "have 100 and 99 values"),
        ({"unlabeled_preds": []}, "unlabeled_preds must be a list, not empty"),
        ({"bootstrap_iterations": 0}, "must be positive"),
        ({"test_preds": [1 - p for p in preds]}, "no better than chance|sensitivity"),
        ({"confidence_level": 95}, "strictly between 0 and 1"),
    ):
        given = {"test_labels": labels, "test_preds": preds, "unlabeled_preds": [1, 0]} | wrong
        with pytest.raises(ValueError, match=message):
            compat.estimate_success_rate(**given)


def test_the_sources_signature():
    found = RESULT["prevalence"]
    assert compat.point_estimator(0.62, 0.7, 0.9) == pytest.approx(found.value)
    low, high = compat.confidence_interval(0.62, 0.7, 0.9, n=1000, m0=100, m1=100)
    assert (low, high) == (found.low, found.high)
    for call, message in (
        (lambda: compat.point_estimator(0.5, 0.4, 0.5), "expected more than 1"),
        (lambda: compat.point_estimator(1.2, 0.9, 0.9), "p=1.2 must lie between 0 and 1"),
        (lambda: compat.confidence_interval(0.623, 0.7, 0.9, 10, 10, 10), "is not a share of 10"),
    ):
        with pytest.raises(bj.InputError, match=message):
            call()
