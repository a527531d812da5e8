"""The study of strata judges what the closed forms give, not something like it."""

from itertools import islice

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayesjudge import prevalence
from benchmarks.prevalence import strata as study

OWN = {
    "Rogan-Gladen": prevalence.rogan_gladen,
    "PPI++": prevalence.difference,
    "post-stratified": prevalence.post_stratified,
}


@pytest.mark.fast_one_in(3)
@pytest.mark.parametrize("strata", [1, 5, 20])
@pytest.mark.parametrize("setting", study.SETTINGS)
def test_overall_rows_are_those_of_the_module(setting, strata):
    for table in islice(study.tables(setting, strata, unlike=True), 2):
        for name, method in study.METHODS[setting[0]].items():
            if name in OWN:
                row = np.clip(method(table.counts), 0, 1)
                assert_allclose(row, OWN[name](table.counts)["overall_prevalence"], atol=1e-12)
