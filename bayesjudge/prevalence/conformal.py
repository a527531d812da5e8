"""Conformal sets of labels for single outputs: what a verdict leaves open, without a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.prevalence._samples import table_of
from bayesjudge.prevalence.data import Counts, require_counts

if TYPE_CHECKING:
    import pandas as pd


def conformal_sets(counts: Counts, *, error_prob: float = 0.05) -> pd.DataFrame:
    r"""Tell which labels of a single output its verdict leaves open.

    A label is left out of a verdict's set if the judge seldom errs so: if at most a share
    `error_prob` of the outputs with that label get this wrong verdict, counted among the labelled
    outputs and the one at hand. Whatever the judge, an output's own label is then in its set with
    probability :math:`1 - \alpha` or more, for good and for bad outputs apart.

    Parameters
    ----------
    counts : Counts
        Of one stratum, with labelled items of both kinds.
    error_prob : float, default 0.05
        Probability :math:`\alpha`, inside (0, 1), that the set lacks the label.

    Returns
    -------
    pandas.DataFrame
        Index ``verdict`` (``"pass"``, ``"fail"``); ``p_good`` and ``p_bad``, the conformal p-values
        of either label; ``labels``, the set: ``"good"``, ``"bad"``, ``"good or bad"`` or
        ``"none"``; ``outputs``, how many of the unlabelled outputs got the verdict.

    Raises
    ------
    InputError
        If there are several strata, a kind has no labelled item, or `error_prob` is out of range.

    Notes
    -----
    It is the rival that the source names as future work. It speaks of single outputs and not of
    their share: with a judge that errs more often than `error_prob` every set is "good or bad",
    and says nothing, where `rogan_gladen` and the models still tell the share.

    References
    ----------
    Lee et al. (2025), Section 9, (3); Vovk (2012), conditional validity of inductive conformal
    predictors.

    Examples
    --------
    >>> counts = Counts(1000, 620, 50, 49, 50, 40, calibration="by_truth")
    >>> conformal_sets(counts)["labels"].tolist()
    ['good or bad', 'bad']
    """
    import pandas as pd

    require_counts(counts, "conformal_sets")
    cells = np.array([np.sum(cell) for cell in table_of(counts)], float).reshape(2, 2)
    with checking("conformal_sets") as require:
        single = np.ndim(counts.test_n) == 0
        require(single, "several-groups")
        require(0 < error_prob < 1, "must lie inside (0, 1)", error_prob=error_prob)
        require(bool(np.all(cells.sum(axis=1) > 0)), "label items of both kinds")
    # rows good and bad, columns pass and fail: the right verdict conforms, a wrong one does not
    wrong = cells[[0, 1], [1, 0]]
    p_values = np.ones((2, 2))
    p_values[[0, 1], [1, 0]] = (wrong + 1) / (cells.sum(axis=1) + 1)
    names = [
        " or ".join(np.array(["good", "bad"])[p_values[:, verdict] > error_prob]) or "none"
        for verdict in (0, 1)
    ]
    passes = float(counts.test_pass)
    table = {
        "p_good": p_values[0],
        "p_bad": p_values[1],
        "labels": names,
        "outputs": [int(passes), int(counts.test_n - passes)],
    }
    return pd.DataFrame(table, index=pd.Index(["pass", "fail"], name="verdict"))
