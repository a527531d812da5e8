"""Results, reports, storage and the gate: what every module stands on."""

import io
import json
import re
import shlex
import sys
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refused

import bayesjudge as bj
from bayesjudge.core.diagnostics import diagnose, gate
from bayesjudge.core.draws import summarise_interval, summarise_ranks
from bayesjudge.core.estimate import Quantity
from bayesjudge.core.model import BayesianModel
from bayesjudge.core.screen import as_wide_as, in_lines
from bayesjudge.core.storage import checksum, pack, unpack

RNG = np.random.default_rng(1)
ESTIMATE = bj.Estimate(
    {"prevalence": (0.5, 0.4, 0.6), "sensitivity": (0.9, 0.8, np.nan)},
    method="Some method",
    ci_prob=0.95,
    source="Somebody (2000)",
    assumptions=(bj.Assumption("well", "all is well"),),
    cautions=(bj.Caution("odd", "something is odd"),),
)


# Results and reports -----------------------------------------------------------------------------


def test_estimate_gives_rows_by_name_and_keeps_some():
    assert ESTIMATE["prevalence"] == (0.5, 0.4, 0.6)
    assert list(ESTIMATE.only("sensitivity").quantities) == ["sensitivity"]
    assert "something is odd" in ESTIMATE._repr_html_()


def test_an_entry_is_found_by_its_coordinates():
    columns = ([0.1, 0.2], [0.0, 0.1], [0.2, 0.3])
    quantity = Quantity.over(columns, {"system": ("a", "b")})
    made = bj.Estimate({"prevalence": quantity}, method="m", ci_prob=0.9, source="s")
    assert made["prevalence", "b"] == (0.2, 0.1, 0.3)
    assert next(iter(made.rows())) == ("prevalence", {"system": "a"}, (0.1, 0.0, 0.2))
    assert made.table["system"].tolist() == ["a", "b"]
    assert float(made.dataset["prevalence"].sel(system="b", part="high")) == 0.3
    with refused(id="no-entry") as caught:
        made["prevalence", "c"]
    assert "['prevalence', 'a'], ['prevalence', 'b']" in str(caught.value)


@pytest.mark.parametrize("asked", ["strength", ("strength", "s9"), ("strength", "s1", "s2")])
def test_what_has_several_entries_says_how_one_is_written(asked):
    rows = {"strength": Quantity.over(np.zeros((3, 7)), {"system": [f"s{i}" for i in range(7)]})}
    made = bj.Estimate({**rows, "order": (0, 0, 0)}, method="m", ci_prob=0.9, source="s")
    with refused(id="no-entry") as caught:
        made[asked]
    assert "['strength', 's0'], ['strength', 's1']" in str(caught.value)
    assert "2 more" in str(caught.value)
    assert "order" not in str(caught.value)
    with refused("order", "strength", id="no-entry"):
        made["nothing"]


def test_side_by_side_keeps_orders_and_adds_widths():
    other = bj.Estimate(
        {"sensitivity": (0.8, 0.7, 0.9), "prevalence": (0.4, 0.3, 0.5)},
        method="Other",
        ci_prob=0.95,
        source="s",
    )
    table = bj.side_by_side(ESTIMATE, other)
    assert table["quantity"].tolist() == ["prevalence", "prevalence", "sensitivity", "sensitivity"]
    assert table["method"].tolist() == ["Some method", "Other"] * 2
    assert table["width"].iloc[0] == pytest.approx(0.2)


def test_side_by_side_refuses_to_mix_probabilities_and_to_show_nothing():
    with pytest.raises(bj.InputError, match="95 % intervals, expected 90 %"):
        bj.side_by_side(ESTIMATE, ci_prob=0.9)
    with refused(id="no-results"):
        bj.side_by_side()


def test_report_holds_everything_once():
    text = bj.report(ESTIMATE, ESTIMATE)
    for words in ("| prevalence | Some method | 0.500 | 0.400 | 0.600 | 0.200 |", "all is well",
                  "something is odd", "Somebody (2000)", "95 % intervals"):  # fmt: skip
        assert words in text
    assert text.count("something is odd") == 1
    assert "| sensitivity | Some method | 0.900 | 0.800 | – | – |" in text


@pytest.mark.slow
def test_html_report_is_one_self_contained_page():
    axes = bj.plot_intervals(bj.side_by_side(ESTIMATE))
    hostile = bj.Estimate({"<script>": (0.5, 0.4, 0.6)}, method="a & b", ci_prob=0.95, source="s")
    page = bj.report(ESTIMATE, hostile, output="html", figures={"Intervals": axes.figure})
    assert page.count("<svg") == 2  # for a screen, and for a phone
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert page.count('role="img" aria-label="Intervals') == 2
    assert "something is odd" in page
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    for outside in ("<link", "src=", "@import", "url(http"):
        assert outside not in page
    with refused("output="):
        bj.report(ESTIMATE, output="pdf")


def test_plot_draws_each_interval_and_the_truth():
    axes = bj.plot_intervals(bj.side_by_side(ESTIMATE), truth={"prevalence": 0.55})
    lines = [line.get_xdata() for line in axes.get_lines()]
    assert [0.4, 0.6] in [list(x) for x in lines]
    assert [0.55, 0.55] in [list(x) for x in lines]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["prevalence", "sensitivity"]
    assert axes.get_xlabel() == "Some method"


def test_shortest_interval_of_draws_is_the_shortest():
    draws = RNG.exponential(size=100_000)
    low, high = summarise_interval(draws, 0.9, "hdi")
    assert low == pytest.approx(0, abs=1e-3)
    # P(X < high) = .9; the error of a quantile is sqrt(p (1 - p) / n) / density
    assert abs(high - np.log(10)) < 5 * np.sqrt(0.09 / 100_000) / 0.1


# Priors ------------------------------------------------------------------------------------------


P = bj.prevalence
MODULES = (P, P.items, P.scores, P.classes, bj.panel, bj.repeats, bj.bias, bj.ratings)
MODELS = [
    getattr(module, name)
    for module in MODULES
    for name in module.__all__
    if isinstance(getattr(module, name), type) and issubclass(getattr(module, name), BayesianModel)
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_a_model_tells_its_priors_in_words(model):
    """Screens and pages show it to people who have not read the code."""
    told = str(model())
    assert "_" not in told
    assert not re.search(r"True|False|None|N\+", told)


def test_lines_end_neither_in_an_option_nor_between_a_number_and_its_sign_or_unit():
    text = "right in 12 % of rows, ± 3 % with --pass-value and --fail-value"
    for width in range(14, 60):
        lines = in_lines(text, width, first="- ", later="  ")
        assert [line[:2] for line in lines] == ["- ", *["  "] * (len(lines) - 1)]
        assert " ".join(line[2:] for line in lines) == text
        assert max(map(len, lines)) <= width
        assert not any(line.endswith(("±", "-")) or line[2:].startswith("%") for line in lines)


def test_lines_are_broken_for_a_terminal_and_for_nothing_else(monkeypatch):
    shown = (
        "    bayesjudge gate log.csv --truth 'a --b' --calibration random --by system --item item"
    )
    text = "  - " + "some words " * 12 + f"\n{shown}"
    terminal = io.StringIO()
    assert as_wide_as(terminal, text) == text
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    first, *others, command, more = as_wide_as(terminal, text).split("\n")
    assert len(others) == 2
    assert all(line.startswith("    some") or line.startswith("    words") for line in others)
    assert max(map(len, [first, *others, command, more])) < 60
    for last, lines in (("b" * 29, 1), ("b" * 30, 2)):  # of 59 and of 60 columns
        assert len(as_wide_as(terminal, f"{'a' * 29} {last}").split("\n")) == lines
    pasted = f"{command}\n{more}".replace("\\\n", "")  # as a shell reads it
    assert shlex.split(pasted) == shlex.split(shown)


def test_priors_say_what_they_are():
    assert str(bj.BetaPrior()) == "flat"
    assert str(bj.BetaPrior.jeffreys()) == "Jeffreys"
    assert str(bj.BetaPrior.worth(0.9, 20)) == "Beta(19, 3)"
    told = bj.prevalence.ErrorRates(sensitivity=bj.BetaPrior.worth(0.9, 20))
    assert "sensitivity Beta(19, 3)" in str(told)
    assert told.describe()["better_than_chance"]
    assert told.describe()["prevalence"] == "Jeffreys"


@pytest.mark.parametrize("values", [(0, 1), (1, -1), (float("nan"), 1), (1, float("inf"))])
def test_a_prior_that_is_none_is_refused(values):
    alpha, beta = values
    wrong = {"beta": beta} if 0 < alpha < float("inf") else {"alpha": alpha}
    with refused(**wrong, subject="BetaPrior"):
        bj.BetaPrior(*values)


def test_all_problems_of_a_prior_come_together():
    with pytest.raises(bj.InputError) as error:
        bj.BetaPrior(-1, 0)
    assert len(error.value.problems) == 2
    with refused(rate=1.5, n=-2):
        bj.BetaPrior.worth(1.5, -2)


# Storage -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        None, 1, 0.1, "text", True, (1, ("a", None)), [1, 2], {"a": (1,)}, float("inf"),
        bj.BetaPrior(2, 3), bj.prevalence.ErrorRates.jeffreys(), np.float64(0.1), np.int64(3),
    ],
)  # fmt: skip
def test_what_is_packed_is_unpacked(value):
    assert unpack(json.loads(json.dumps(pack(value)))) == value


@pytest.mark.parametrize("dtype", ["int64", "float64", "bool", "<U1", "int8"])
def test_arrays_keep_shape_and_type(dtype):
    array = np.arange(6).reshape(2, 3).astype(dtype)
    again = unpack(json.loads(json.dumps(pack(array))))
    assert again.dtype == array.dtype
    assert np.array_equal(again, array)
    assert unpack(pack(np.zeros((0, 3)))).shape == (0, 3)


def test_what_cannot_be_stored_is_refused_and_strangers_are_not_made():
    with pytest.raises(TypeError, match="cannot store a set"):
        pack({1, 2})
    with pytest.raises(TypeError, match="cannot store an array of object"):
        pack(np.array([{}]))
    with pytest.raises(bj.InputError, match=r"os\.system"):
        unpack({"class": "os.system", "fields": {}})


def test_checksum_tells_data_apart():
    one = bj.prevalence.Counts(10, 5, 5, 4, 5, 4, calibration="random")
    other = bj.prevalence.Counts(10, 6, 5, 4, 5, 4, calibration="random")
    again = bj.prevalence.Counts(10, 5, 5, 4, 5, 4, calibration="random")
    assert checksum(one) == checksum(again) != checksum(other)


def test_load_refuses_what_is_no_fit(tmp_path):
    with pytest.raises(bj.InputError, match="no file"):
        bj.load(tmp_path / "none.nc")
    stranger = tmp_path / "stranger.nc"
    xr.Dataset({"x": 1}).to_netcdf(stranger, engine="h5netcdf")
    with refused(id="no-seal"):
        bj.load(stranger)


def test_ranks_are_counted_by_hand():
    """Four draws have the order a, b, c and one b, c, a; a rank's ends are ranks that occur."""
    draws = np.array([[0.9, 0.5, 0.1]] * 4 + [[0.1, 0.9, 0.5]])
    found = summarise_ranks(draws, 0.8)
    assert found["rank"].tolist() == pytest.approx([1.4, 1.8, 2.8])
    assert found["rank_low"].tolist() == [1, 1, 2]
    assert found["rank_high"].tolist() == [3, 2, 3]
    assert found["best"].tolist() == pytest.approx([0.8, 0.2, 0])


# The gate ----------------------------------------------------------------------------------------


def chains(draws, *, diverging=0.0, energy=None):
    """A made-up run: draws of shape (chain, draw), and sampler statistics."""
    shape = draws.shape
    stats = {
        "diverging": (("chain", "draw"), RNG.random(shape) < diverging),
        "energy": (("chain", "draw"), RNG.normal(size=shape) if energy is None else energy),
    }
    posterior = {"x": (("chain", "draw"), draws)}
    return xr.DataTree.from_dict(
        {"posterior": xr.Dataset(posterior), "sample_stats": xr.Dataset(stats)}
    )


def text_of(idata):
    return " ".join(caution.text for caution in gate(idata, ("x",)))


def test_good_chains_pass():
    assert gate(chains(RNG.normal(size=(4, 1000))), ("x",)) == ()


def test_chains_that_disagree_fail_without_a_divergence():
    apart = RNG.normal(size=(4, 1000)) + np.array([[0], [0], [0], [2]])
    assert "R-hat of x" in text_of(chains(apart))


def test_few_effective_draws_fail():
    walk = np.cumsum(RNG.normal(size=(4, 1000)), axis=1)
    assert "effective draws in the centre" in text_of(chains(walk))
    assert "effective draws in the tails" in text_of(chains(walk))


def test_divergences_fail_above_their_share():
    draws = RNG.normal(size=(4, 1000))
    assert "diverged" in text_of(chains(draws, diverging=0.05))
    assert gate(chains(draws, diverging=0.002), ("x",)) == ()


def test_energy_that_is_not_explored_fails():
    energy = np.cumsum(RNG.normal(size=(4, 1000)), axis=1)
    assert "BFMI" in text_of(chains(RNG.normal(size=(4, 1000)), energy=energy))


def test_energies_of_chains_at_different_levels_are_explored_chain_by_chain():
    draws, energy = RNG.normal(size=(2, 4, 1000))
    assert gate(chains(draws, energy=energy + np.array([[0], [0], [0], [20]])), ("x",)) == ()


def test_a_quantity_that_data_fix_does_not_fail():
    table = diagnose(chains(np.full((4, 100), 0.5)), ("x",))
    assert isinstance(table, pd.DataFrame)
    assert table.loc["x", "r_hat"] == 1


def test_one_chain_cannot_be_compared():
    assert np.isnan(diagnose(chains(RNG.normal(size=(1, 1000))), ("x",)).loc["x", "r_hat"])


def in_shell(kind, monkeypatch):
    """Have IPython run a shell of a kind, or none."""
    ipython = ModuleType("IPython")
    ipython.get_ipython = type(kind, (), {}) if kind else lambda: None
    monkeypatch.setitem(sys.modules, "IPython", ipython)


@pytest.mark.parametrize(
    ("kind", "found"),
    [("ZMQInteractiveShell", True), ("TerminalInteractiveShell", False), (None, False)],
)
def test_a_notebook_is_a_running_kernel_and_no_module_that_somebody_imported(
    kind, found, monkeypatch
):
    from bayesjudge.core import progress

    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    in_shell(kind, monkeypatch)
    assert progress.in_notebook() == found
    monkeypatch.delitem(sys.modules, "IPython")
    assert not progress.in_notebook()


@pytest.mark.parametrize("widgets", [True, False])
def test_a_notebook_without_widgets_shows_no_bar(monkeypatch, widgets):
    """There rich would warn at each step that they are missing."""
    from bayesjudge.core import progress

    in_shell("ZMQInteractiveShell", monkeypatch)
    monkeypatch.setattr(progress, "find_spec", lambda name: name if widgets else None)
    for show in (None, True):
        with progress.progress(show, "sampling", total=2) as bar:
            assert (bar._bar is not None) == widgets
