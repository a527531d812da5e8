"""Differences of systems that share no item: independent samples."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesjudge.core.errors import UninformativeJudgeError, check_by_name, check_ci_prob, checking
from bayesjudge.core.estimate import Estimate, Quantity
from bayesjudge.core.methods import Method
from bayesjudge.prevalence._samples import PPI, row_of
from bayesjudge.prevalence.diagnosis import diagnose
from bayesjudge.prevalence.scores.closed_form import _ScoresSample
from bayesjudge.prevalence.scores.compare import joined
from bayesjudge.prevalence.scores.data import Scores
from bayesjudge.prevalence.scores.paired import PairedScores, contrast
from bayesjudge.truth.influence import Errors


def unpaired_difference(scores: Mapping[str, Scores], *, ci_prob: float = 0.95) -> Estimate:
    r"""Compare every two systems whose items are independent samples (Welch).

    With standard errors :math:`s_1, s_2` of :math:`\nu_1, \nu_2` degrees of freedom, the
    difference has the error :math:`s = \sqrt{s_1^2 + s_2^2}` and
    :math:`s^4 / (s_1^4 / \nu_1 + s_2^4 / \nu_2)` degrees of freedom; of pass and fail, the normal
    distribution.

    Parameters
    ----------
    scores : mapping of str to Scores
        By system, two or more; see `read_systems`.
    ci_prob : float, default 0.95
        Coverage that each interval aims at.

    Returns
    -------
    Estimate
        ``difference`` by ``first`` and ``second``, on the truths' scale, or of shares: of
        `difference` (PPI++), `post_stratified` or `rogan_gladen`, whichever suits the label design.
        A system without an interval is absent. Systems that share items are as a rule closer than
        this interval says: `paired_difference` compares them item by item.

    Raises
    ------
    InputError
        If `ci_prob` is out of range, the answers differ in kind, or fewer than two systems have an
        interval.

    References
    ----------
    Welch (1947), Biometrika 34, 28-35; Angelopoulos, Duchi & Zrnic (2023), arXiv:2311.01453.

    Examples
    --------
    >>> scores = {name: Scores([4, 5, 3, 2], truth, [1] * 4, calibration="random", scale=(1, 5),
    ...                        truth_scale=(1, 5)) for name, truth in (("x", [4, 5, 2, 2]),
    ...                                                                ("y", [3, 5, 2, 1]))}
    >>> [round(x, 2) for x in unpaired_difference(scores)["difference", "x", "y"]]
    [0.5, -2.01, 2.51]
    """
    check_ci_prob(ci_prob)
    check_by_name(Scores, scores=scores)
    names, each = _each(scores, ci_prob)
    with checking("unpaired_difference") as require:
        kinds = sorted({table.answer for table in scores.values()})
        require(len(kinds) == 1, f"expected truths of one kind, got {kinds}")
        few = f"expected intervals of two systems or more, got them of {list(each)}"
        require(len(each) > 1, few)
    least, most = next(iter(scores.values())).truth_scale or (0.0, 1.0)
    rows = {
        (first, second): row_of(each[first].less(each[second]), ci_prob, most - least)
        for first, second in itertools.combinations(each, 2)
    }
    about = {name: diagnose(scores[name]) for name in each}
    return Estimate(
        {"difference": Quantity.of_rows(rows, ("first", "second"))},
        method=names.pop(),
        ci_prob=ci_prob,
        source=f"Welch (1947); {PPI}",
        interval="Welch's t" if kinds == ["mean_score"] else "normal",
        assumptions=joined(assumed for assumed, _ in about.values()),
        cautions=tuple(
            c.within(name, (name,)) for name, (_, cautions) in about.items() for c in cautions
        ),
        data=dict(scores),
    )


def _each(scores: Mapping[str, Scores], ci_prob: float) -> tuple[set[Method], dict[str, Errors]]:
    """Estimates of each system that has an interval, and the method's name."""
    names, errors = set(), {}
    for system, table in scores.items():
        try:
            name, error = _ScoresSample(table).errors(ci_prob)
        except UninformativeJudgeError:
            continue
        names.add(name)
        if np.isfinite(error.error):
            errors[system] = error
    return names, errors


def differences(estimate: Estimate) -> list[dict[str, Any]]:
    """Rows of `paired_difference` or `unpaired_difference`, with how sure a difference is."""
    data, rows = estimate.data, []
    paired = isinstance(data, PairedScores)
    _, each = ({}, {}) if paired else _each(data, estimate.ci_prob)
    about = data if paired else next(iter(data.values()))
    for _, at, row in estimate.only("difference").rows():
        pair = first, second = str(at["first"]), str(at["second"])
        if paired:
            gap = contrast(data.differences[pair])
            counted = {"shared": data.shared[pair], "labelled": data.labelled[pair]}
            counted["not_shared"] = data.alone[pair]
        else:
            gap = each[first].less(each[second])
            counted = {"labelled": sum(int(data[k].n[data[k].known].sum()) for k in pair)}
        rows.append(
            {
                **at,
                "method": estimate.method.title,
                **row._asdict(),
                "scale": about.truth_scale,
                **({"pass_name": about.pass_name} if about.pass_name else {}),
                "probability": gap.probability,
                **counted,
                "cautions": [
                    vars(c) for c in estimate.cautions if c.where and {*c.where} <= {*pair}
                ],
            }
        )
    return rows
