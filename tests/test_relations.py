"""The relations of `relations`, for each module of the contract, on the same random tables."""

import contextlib
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from conftest import MODULES
from contract import Module
from relations import RELATIONS, forms

import bayesjudge as bj
from bayesjudge.core.estimate import Estimate

#: Random tables of each module; some have no label, and are refused.
TABLES = 6


@cache
def drawn(name, seed):
    """A random table of a module, the way to read it and its closed forms; None if it has none."""
    (one,) = (one for one in MODULES if one.name == name)
    table, read = one.sample(np.random.default_rng(seed))
    with contextlib.suppress(bj.InputError):
        return table, read, forms(one, read, table)


@pytest.mark.slow
@pytest.mark.parametrize("name", RELATIONS)
@pytest.mark.parametrize("one", MODULES, ids=lambda one: one.name)
def test_relation(one, name):
    """On the same tables in each run, whatever else was imported before."""
    for seed in range(TABLES):
        if case := drawn(one.name, seed):
            assert not list(RELATIONS[name](one, *case)), seed


def _told(after, *, low=0.3, high=0.9, name="copies_narrow_the_interval", beside=(0.5, 0.5)):
    """What a relation says of a method whose value, of nine copies, is another and less sure.

    `beside` is a rate of the same method, before and after.
    """

    def closed_forms(data, **_):
        row = (0.8, low, high) if len(data) == 2 else (after, 0.1, 0.99)
        other = beside[len(data) > 2]
        values = {"rate": row, "beside": (other, other - 0.001, other + 0.001)}
        return (Estimate(values, method="m", ci_prob=0.95, source="s"),)

    module = SimpleNamespace(closed_forms=closed_forms, __name__="bayesjudge.m")
    one = Module(module, None, None, {}, list, not_narrowed_at_an_end={"m": "a reason"})
    table = pd.DataFrame({"item": ["a", "b"]})
    made = forms(one, lambda data: data, table)
    return list(RELATIONS[name](one, table, lambda data: data, made))


@pytest.mark.parametrize(("after", "n"), [(0.8, 1), (0.7, 1), (0.85, 0), (0.4, 0), (0.1, 0)])
def test_an_interval_may_widen_only_where_its_value_moves_towards_an_end(after, n):
    assert len(_told(after)) == n


@pytest.mark.parametrize(("ends", "n"), [(0.996, 0), (0.004, 0), (0.985, 1), (0.97, 1)])
def test_or_another_of_its_method_runs_into_an_end(ends, n):
    assert len(_told(0.7, beside=(0.97, ends))) == n


def test_an_interval_of_one_number_is_told():
    assert len(_told(0.8, low=0.8, high=0.8, name="an_interval_has_a_width")) == 1
    assert not _told(0.8, name="an_interval_has_a_width")
