"""What is drawn, not how it looks."""

import numpy as np
import pytest
from conftest import MODULES
from matplotlib import pyplot as plt

import bayesjudge as bj

P = bj.prevalence
(MODULE,) = (one for one in MODULES if one.name == "prevalence")


@pytest.mark.sampling
def test_plot_posterior_marks_the_raw_pass_rate_and_the_truth(fit_of):
    fit = fit_of(MODULE)
    _, ax = plt.subplots()
    assert P.plot_posterior(fit, truth=0.8, ax=ax) is ax
    marks = {line.get_label(): line.get_xdata()[0] for line in ax.get_lines()}
    c = fit.data  # of all items: labels at random are some of the same
    raw = (c.test_pass + c.labelled_pass) / (c.test_n + c.labelled_n)
    assert marks == {"judge's pass rate": raw, "truth": 0.8}
    heights = sum(patch.get_height() * patch.get_width() for patch in ax.patches)
    assert abs(heights - 1) < 1e-9
    low, high = ax.get_xlim()
    assert low < fit.draws("prevalence").mean() < high


@pytest.mark.sampling
def test_plot_posterior_of_an_error_rate_has_no_pass_rate(fit_of):
    ax = P.plot_posterior(fit_of(MODULE), quantity="sensitivity")
    assert ax.get_lines()[:] == []
    assert "sensitivity" in ax.get_xlabel()


@pytest.mark.sampling
def test_plot_correction_has_a_row_a_system():
    table = P.simulate(systems=["a", "b"], prevalence=[0.3, 0.8], random_seed=4)
    counts = P.Counts.from_frame(table, calibration="random", by="system")
    fit = P.fit(counts, random_seed=1)
    ax = P.plot_correction(fit)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    values = {line.get_label(): line.get_xdata() for line in ax.get_lines()}
    of_all = (counts.test_pass + counts.labelled_pass) / (counts.test_n + counts.labelled_n)
    np.testing.assert_allclose(values["judge's pass rate"], of_all)
    estimates = fit.estimate().only("prevalence").table
    np.testing.assert_allclose(values["prevalence, 95 % interval"], estimates["value"])
    (bars,) = ax.collections
    ends = np.array([segment[:, 0] for segment in bars.get_segments()])
    np.testing.assert_allclose(ends, estimates[["low", "high"]])
    assert P.plot_posterior(fit).get_legend() is not None
