"""Every method side by side: closed forms, designs, systems."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.comparing import compare
from bayesjudge.core.errors import expect
from bayesjudge.core.estimate import Estimate, Target
from bayesjudge.core.fit import Fit
from bayesjudge.core.label_design import DESIGNS, LabelDesign
from bayesjudge.core.model import require_model
from bayesjudge.core.side_by_side import compare_results
from bayesjudge.prevalence.cautions import OVERALL
from bayesjudge.prevalence.closed_form import closed_forms
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.exact import exact
from bayesjudge.prevalence.model import PredictiveValues, PrevalenceModel

if TYPE_CHECKING:
    import pandas as pd

#: Designs that need no more than counts.
PLAIN = ("random", "by_truth", "separate", "by_verdict")


@compare.register(Counts)
def _compared(
    counts: Counts,
    fit: Fit | None = None,
    *,
    model: PrevalenceModel | None = None,
    ci_prob: float = 0.95,
    target: Target = "population",
) -> pd.DataFrame:
    asked: dict[str, Any] = {"ci_prob": ci_prob, "target": target}
    results: list[Any] = list(closed_forms(counts, mismatched=True, **asked))
    spec: Any = None if fit is None else fit.spec
    same = spec is not None and not spec._pools and model in (None, spec)
    model = spec if same else model
    estimate = exact(counts, model, **asked) if counts.has_quadrature else None
    results += [
        result for result in (estimate, fit and fit.estimate(**asked)) if result is not None
    ]
    answer = OVERALL if counts.adds_up else "prevalence"
    table = compare_results(*(result.only(answer) for result in results), ci_prob=ci_prob)
    table["mc_errors"] = np.nan
    if fit is not None and same and estimate is not None and answer == "prevalence":
        table.loc[table["method"] == fit.method.title, "mc_errors"] = _mc_errors(
            fit, estimate, target
        )
    return table


def _mc_errors(fit: Fit, estimate: Estimate, target: Target) -> np.ndarray:
    """By how many Monte Carlo errors the sampled means are off the exact ones."""
    from bayesjudge.core.convergence import mcse_mean

    draws = fit._drawn_for(target)["prevalence"].transpose("chain", "draw", ...).to_numpy()
    draws = draws.reshape(*draws.shape[:2], -1)
    errors = [mcse_mean(draws[..., i]) for i in range(draws.shape[2])]
    return (draws.mean(axis=(0, 1)) - estimate.quantities["prevalence"].value) / np.array(errors)


def compare_designs(
    counts: Counts, model: PrevalenceModel | None = None, *, ci_prob: float = 0.95
) -> pd.DataFrame:
    """Put label designs side by side: what each assumes of these labels, and its interval.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels.
    model : ErrorRates or PredictiveValues, optional
        Priors for the designs that it suits; the default ones for the others.
    ci_prob : float, default 0.95
        Probability of the intervals.

    Returns
    -------
    pandas.DataFrame
        One row per design and system: ``calibration``, ``declared`` (whether it is the one
        declared), ``assumes``, ``quantity``, ``system``, ``value``, ``low``, ``high`` and
        ``width`` of the posterior. A narrower interval is no reason to declare a design: it is
        right only if the labels were drawn so.

    Raises
    ------
    InputError
        If `ci_prob` is out of range, or labels have known propensities, of which each item has
        its own and nothing else can be said.

    Examples
    --------
    >>> counts = Counts(1000, 760, 140, 126, 60, 42, calibration="random")
    >>> compare_designs(counts).set_index("calibration")["width"].round(3).to_dict()
    {'random': 0.103, 'by_truth': 0.201, 'separate': 0.201, 'by_verdict': 0.103}
    """
    import pandas as pd

    known = counts.propensity is not None
    problem = "labels have known propensities: no other design describes them"
    expect("compare_designs", not known, problem)
    tables = []
    require_model(Counts, model, "compare_designs")
    for design, estimate in designs_of(counts, model, ci_prob=ci_prob):
        table = estimate.table.copy()  # designs of one likelihood share an estimate
        table.insert(0, "calibration", design.name)
        table.insert(1, "declared", design.name == counts.design.name)
        table.insert(2, "assumes", design.meaning)
        tables.append(table.assign(width=table["high"] - table["low"]))
    return pd.concat(tables, ignore_index=True)


def designs_of(
    counts: Counts,
    model: PrevalenceModel | None,
    *,
    ci_prob: float,
    declared: Estimate | None = None,
) -> Iterator[tuple[LabelDesign, Estimate]]:
    """Each label design with the exact posterior that it would give; see `compare_designs`.

    `declared` is that of the declared design, if it is known already.
    """
    estimates = {} if declared is None else {_key(counts.design): declared}
    for name in PLAIN:
        design = DESIGNS[name]
        if not design.same_items and not np.all(counts.test_n):
            continue  # every item is labelled: these are the items asked about
        assumed = replace(counts, calibration=name)
        if _key(design) not in estimates:
            suits = model is not None and isinstance(model, PredictiveValues) == assumed.predictive
            estimate = exact(assumed, model if suits else None, ci_prob=ci_prob)
            estimates[_key(design)] = estimate
        yield design, estimates[_key(design)]


def _key(design: LabelDesign) -> tuple[Any, ...]:
    """What the likelihood is made of: designs that agree in it have one posterior."""
    return design.identifies, design.same_items, design.likelihood
