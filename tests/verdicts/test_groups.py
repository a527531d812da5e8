"""A kind of groups of one's own is a row of `KINDS`, and is honoured as strata are."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from refusals import refused

import bayesjudge as bj
from bayesjudge.verdicts.groups import KINDS, GroupKind

P = bj.prevalence
STRATA = P.Counts(
    *([600, 500], [480, 200], [90, 60], [80, 50], [70, 80], [50, 70]),
    calibration="random",
    systems=["short", "long"],
    dim="stratum",
)
CLASSES = P.classes.ClassCounts(
    [[30, 20, 10], [5, 15, 25]],
    [[[9, 1, 2], [1, 8, 1], [0, 2, 9]], [[5, 1, 1], [2, 9, 1], [1, 1, 8]]],
    ["a", "b", "c"],
    calibration="random",
    systems=["short", "long"],
    dim="stratum",
)


@pytest.fixture(autouse=True)
def languages(monkeypatch):
    """A new kind: parts of one whole, under another name."""
    monkeypatch.setitem(KINDS, "language", GroupKind("languages", adds_up=True))


@pytest.mark.slow
@pytest.mark.parametrize("strata", [STRATA, CLASSES], ids=["counts", "classes"])
def test_closed_forms_and_exact_posterior_are_those_of_strata(strata):
    languages = replace(strata, dim="language")
    made, others = ((*P.closed_forms(one), P.exact(one)) for one in (strata, languages))
    assert len(made) == len(others) > 2
    for one, other in zip(made, others, strict=True):
        assert list(one.quantities) == list(other.quantities)
        for name, quantity in one.quantities.items():
            found = other.quantities[name]
            assert_array_equal(np.asarray(found.value), np.asarray(quantity.value))
            assert found.dims == tuple("language" if d == "stratum" else d for d in quantity.dims)
        assert [a.id for a in other.assumptions] == [a.id for a in one.assumptions]
    assert P.answer(*made).text == P.answer(*others).text


@pytest.mark.slow
def test_the_model_has_the_coordinate_of_the_new_kind():
    model = P.build_model(replace(STRATA, dim="language"))
    assert model.named_vars_to_dims["prevalence"] == ("language",)
    assert "overall_prevalence" in model.named_vars


def test_what_is_no_kind_is_refused():
    with refused("language", "tongue", subject="prevalence.Counts"):
        replace(STRATA, dim="tongue")
