"""The columns of a formula, by stratum, about the average item."""

from __future__ import annotations

import numpy as np

from bayesjudge.core.errors import InputError, checking, expect
from bayesjudge.prevalence.data import Counts


def design_of_strata(formula: str, counts: Counts) -> tuple[list[str], np.ndarray]:
    """Names and values (stratum, coefficient) of the columns beside the intercept.

    The strata's mean, weighed by their shares of the items, is 0; columns that are not only 0 and 1
    are in standard deviations.
    """
    names, columns = _columns(formula, counts)
    share = counts.shares
    spread = np.sqrt(share @ (columns - share @ columns) ** 2)
    two = np.isin(columns, (0, 1)).all(axis=0)
    same = [name for name, sd in zip(names, spread, strict=True) if not sd > 0]
    problem = f"{same} have one value in all items; leave them out of {formula!r}"
    expect("LinearErrorRates", not same, problem)
    return names, (columns - share @ columns) / np.where(two, 1, spread)


def _columns(formula: str, counts: Counts) -> tuple[list[str], np.ndarray]:
    import pandas as pd

    try:
        from formulaic import model_matrix
    except ModuleNotFoundError as missing:
        raise InputError(
            "LinearErrorRates", ["formulas take formulaic: pip install 'bayesjudge[covariates]'"]
        ) from missing
    table = pd.DataFrame({counts.dim: counts.systems, **(counts.covariates or {})})
    try:
        matrix = model_matrix(formula, table, context={}, na_action="raise")
    except Exception as error:  # whatever a formula can do wrong
        known = [str(name) for name in table.columns]
        problem = f"formula {formula!r} cannot be used on the covariates {known}: {error}"
        raise InputError("LinearErrorRates", [problem]) from error
    with checking("LinearErrorRates") as require:
        require("Intercept" in matrix, f"formula {formula!r} needs an intercept: begin with 1")
    matrix = matrix.drop(columns="Intercept")
    return [str(name) for name in matrix], np.asarray(matrix, float)
