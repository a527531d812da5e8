"""The relations of `relations`, for each module of the contract, on the same random tables."""

import numpy as np
import pytest
from conftest import MODULES
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from relations import RELATIONS, forms

import bayesjudge as bj


@pytest.mark.slow
@pytest.mark.parametrize("name", RELATIONS)
@pytest.mark.parametrize("one", MODULES, ids=lambda one: one.name)
@settings(
    max_examples=2,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(seed=st.integers(0, 2**32 - 1))
def test_relation(one, name, seed):
    table, read = one.sample(np.random.default_rng(seed))
    try:
        made = forms(one, read, table)
    except bj.InputError:
        return
    assert not list(RELATIONS[name](one, table, read, made))
