"""nutpie without ArviZ: what it draws is put into the same tree."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

import bayesjudge as bj

ALONE = """
import sys
import numpy as np
import bayesjudge as bj
{before}
counts = bj.prevalence.Counts(100, 60, 10, 9, 10, 7, calibration="random")
fit = bj.prevalence.fit(counts, draws=20, tune=20, chains=2, random_seed=1)
fit.estimate(), fit.diagnostics()
print(*(name for name in ("arviz", "matplotlib", "scipy.stats") if name in sys.modules), "end")
import arviz, nutpie
from arviz import summary
from bayesjudge.compiled import compile_model
assert sys.modules["arviz"] is arviz and type(arviz) is type(np)
runnable = compile_model(fit.spec._sampling_form(counts)).runnable  # compiled by now
tree = nutpie.sample(runnable, draws=5, tune=5, chains=1, progress_bar=False)
assert "prevalence" in summary(tree, kind="stats").index
"""


@pytest.mark.sampling
@pytest.mark.filterwarnings("ignore::bayesjudge.core.errors.ConvergenceWarning")
@pytest.mark.parametrize("before", ["", "import arviz"])
def test_a_fit_imports_no_arviz_and_leaves_it_usable(before):
    code = ALONE.format(before=before)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert ("arviz" in done.stdout.split()) == bool(before)
    assert before or done.stdout.split() == ["end"]


@pytest.mark.sampling
def test_the_tree_is_the_one_that_nutpie_makes():
    import nutpie

    from bayesjudge.compiled import compile_model
    from bayesjudge.compiled.nutpie_draws import tree_of
    from bayesjudge.core.sampling import STATISTICS

    counts = bj.prevalence.Counts(
        *([100, 100], [60, 50], [10, 10], [9, 9], [10, 10], [7, 7]),
        calibration="random",
        systems="ab",
    )
    runnable = compile_model(bj.prevalence.ErrorRates()._sampling_form(counts)).runnable
    for one in (runnable, replace(runnable, dims={}, labels={})):
        asked = {"draws": 20, "tune": 30, "chains": 3, "seed": 1, "progress_bar": False}
        asked["save_warmup"] = False
        found = tree_of(nutpie.sample(one, return_raw_trace=True, **asked), one, STATISTICS)
        expected = nutpie.sample(one, **asked)
        for name, group in found.children.items():
            ours, theirs = group.to_dataset(), expected[name].to_dataset()
            theirs = theirs[list(ours.data_vars)].drop_attrs()
            xr.testing.assert_identical(ours, theirs)
            assert {k: v.dtype for k, v in ours.variables.items()} == {
                k: v.dtype for k, v in theirs.variables.items()
            }


def test_a_chain_that_was_stopped_has_missing_draws():
    import pyarrow as pa

    from bayesjudge.compiled.nutpie_draws import tree_of

    def batch(**columns):
        return pa.record_batch(columns)

    class Trace:
        def get_arrow_trace(self):
            about = [
                batch(tuning=[True, False, False], diverging=[True, True, False]),
                batch(tuning=[True, False], diverging=[False, True]),
            ]
            return [Columns(batch(x=[0.0, 1, 2])), Columns(batch(x=[3.0, 4]))], [
                Columns(one) for one in about
            ]

    class Columns:
        def __init__(self, made):
            self.made, self.num_rows, self.column_names = made, made.num_rows, made.schema.names

        def column(self, name):
            return Column(self.made.column(name))

    class Column:
        def __init__(self, values):
            self.values = values
            self.field = type("Field", (), {"metadata": {}})

        def __arrow_c_array__(self, schema=None):
            return self.values.__arrow_c_array__(schema)

    runnable = type("Runnable", (), {"coords": {}})
    found = tree_of(Trace(), runnable, ("diverging",))
    np.testing.assert_array_equal(found["posterior"]["x"], [[1, 2], [4, np.nan]])
    np.testing.assert_array_equal(
        found["sample_stats"]["diverging"], [[True, False], [True, False]]
    )
