"""Worth in labels of the judge of a table whose labels are a random sample of its items."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch
from typing import Any

import numpy as np

from bayesjudge.core.worth import Worth, worth_of_pairs
from bayesjudge.prevalence._samples import sample_of
from bayesjudge.prevalence.data import Counts


@singledispatch
def worth_of(data: Any, ci_prob: float) -> Mapping[str, Worth]:
    """By system (or judge), ``""`` of one; nothing where labels are no plain random sample."""
    return {}


@worth_of.register(Counts)
def _of_counts(counts: Counts, ci_prob: float) -> Mapping[str, Worth]:
    if counts.adds_up or counts.external_labels is not None or not at_random(counts):
        return {}
    labelled, others = sample_of(counts).patterns()
    tables, rest = np.atleast_2d(labelled.n), np.atleast_2d(others.n)
    return {
        name: worth_of_pairs(
            labelled.f, labelled.y, n, items=n.sum() + more.sum(), prior=1, ci_prob=ci_prob
        )
        for name, n, more in zip(counts.systems or ("",), tables, rest, strict=True)
        if more.sum()
    }


def at_random(data: Any) -> bool:
    """Whether every item was as likely to be labelled."""
    return "prevalence" in data.design.identifies and getattr(data, "propensity", None) is None
