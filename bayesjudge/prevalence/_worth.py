"""Worth in labels of the judge of a table whose labels are a random sample of its items."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch
from typing import Any

import numpy as np

from bayesjudge.core.worth import DRAWS, Worth, worth_of_pairs, worth_of_widths
from bayesjudge.prevalence._samples import sample_of
from bayesjudge.prevalence.data import Counts
from bayesjudge.truth.influence import Labelled


@singledispatch
def worth_of(data: Any, ci_prob: float) -> Mapping[str, Worth]:
    """By system (or judge), ``""`` of one; nothing where labels are no plain random sample."""
    return {}


@worth_of.register(Counts)
def _of_counts(counts: Counts, ci_prob: float) -> Mapping[str, Worth]:
    if counts.external_labels is not None or not at_random(counts):
        return {}
    labelled, others = sample_of(counts).patterns()
    tables, rest = np.atleast_2d(labelled.n), np.atleast_2d(others.n)
    if counts.adds_up:
        worth = _of_strata(np.asarray(counts.shares), labelled, tables, rest, ci_prob)
        return {} if worth is None else {"": worth}
    return {
        name: worth_of_pairs(
            labelled.f, labelled.y, n, items=n.sum() + more.sum(), prior=1, ci_prob=ci_prob
        )
        for name, n, more in zip(counts.systems or ("",), tables, rest, strict=True)
        if more.sum()
    }


def _of_strata(
    weights: np.ndarray, labelled: Labelled, tables: np.ndarray, rest: np.ndarray, ci_prob: float
) -> Worth | None:
    r"""More labels, placed in the strata as these are, that would narrow the overall share as much.

    With one regression on the verdict for all strata (Cochran 1977, Sections 5A.9 and 12.6): its
    correlation within strata, :math:`w_h^2 / m_h` the weight of stratum h, by draws of each
    stratum's shares whose flat prior is one table's in all. By-stratum slopes would promise too
    much where strata are small. Nothing if a stratum has less than two labels, or none others.
    """
    m, more = tables.sum(axis=1), rest.sum(axis=1)
    if (m < 2).any() or not more.any():
        return None
    rng = np.random.default_rng(1)
    shares = rng.standard_gamma(tables + 1 / len(tables), size=(DRAWS, *tables.shape))
    shares /= shares.sum(axis=-1, keepdims=True)

    def within(f: Any, y: Any, n: np.ndarray) -> np.ndarray:
        return (shares @ (f * y) - (shares @ f) * (shares @ y)) @ (weights**2 / n)

    said, true = labelled.f, labelled.y
    alone, known = within(true, true, m), within(true, true, m + more)
    explained = within(said, true, m) ** 2 / within(said, said, m)
    judged = alone - explained * (1 - known / alone)
    return worth_of_widths(np.sqrt(alone), np.sqrt(judged), int(m.sum()), ci_prob=ci_prob)


def at_random(data: Any) -> bool:
    """Whether every item was as likely to be labelled."""
    return "prevalence" in data.design.identifies and getattr(data, "propensity", None) is None
