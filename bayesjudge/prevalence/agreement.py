"""How good is the judge, against people: sensitivity, specificity, kappa, AC1, confusion table."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Caution, Estimate
from bayesjudge.core.intervals import wilson, z_score
from bayesjudge.core.label_design import RANDOM_LABELS
from bayesjudge.prevalence._samples import described, sample_of, table_of
from bayesjudge.prevalence.data import Counts
from bayesjudge.truth import influence


class Table(NamedTuple):
    """Labelled items by what people and the judge said; arrays of one entry a system."""

    good_passed: Any
    good_failed: Any
    bad_passed: Any
    bad_failed: Any


def agreement(counts: Counts, *, ci_prob: float = 0.95) -> Estimate:
    r"""How far the judge agrees with people on the labelled items.

    With :math:`p_o` the share of items on which the two agree, Cohen's :math:`\kappa` and Gwet's
    AC1 are :math:`(p_o - p_e) / (1 - p_e)`, with the agreement expected of chance

    .. math:: p_e^\kappa = \pi r + (1 - \pi) (1 - r), \quad p_e^{AC1} = 2 q (1 - q),

    of a share :math:`\pi` of good items, a pass rate :math:`r`, and their mean :math:`q`. Where
    nearly all items are good :math:`\kappa` is low however rarely the two differ; AC1 is not.

    Parameters
    ----------
    counts : Counts
        Labelled items; others are not looked at. All may be labelled.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    Estimate
        ``sensitivity``, ``specificity`` and ``agreement`` (:math:`p_o`), with Wilson's intervals;
        ``kappa`` and ``ac1``, by the delta method; the confusion table ``good_passed``,
        ``good_failed``, ``bad_passed``, ``bad_failed``, shares of the labelled items. If labels
        were not drawn at random only sensitivity and specificity carry over, and the caution
        ``design-mismatch`` says so.

    Raises
    ------
    InputError
        If no item is labelled, or `ci_prob` is out of range.

    Notes
    -----
    If fewer than 5 labelled items are misjudged, good, or bad, one item of each of the four kinds
    joins them for the intervals of kappa and AC1: no interval has width 0.

    References
    ----------
    Cohen (1960), Educ. Psychol. Meas. 20, 37-46; Gwet (2008), Br. J. Math. Stat. Psychol. 61,
    29-48.

    Examples
    --------
    >>> counts = Counts(0, 0, correct_n=120, correct_pass=118, incorrect_n=5, incorrect_fail=0,
    ...                 calibration="random")
    >>> found = agreement(counts)
    >>> [round(found[name].value, 2) for name in ("agreement", "kappa", "ac1")]
    [0.94, -0.02, 0.94]
    """
    z = z_score(ci_prob)
    table = Table(*table_of(counts))
    with checking("prevalence.agreement") as require:
        require(np.all(counts.labelled_n > 0), "an item needs a human label; label some of each")
    good, hits, bad, caught = counts.rate_labels.values()
    right = counts.correct_pass + counts.incorrect_fail
    kinds = dict.fromkeys(("kappa", "ac1"), "delta method")
    made: dict[str, tuple[Any, ...]] = {
        "sensitivity": wilson(hits, good, ci_prob),
        "specificity": wilson(caught, bad, ci_prob),
        "agreement": wilson(right, counts.labelled_n, ci_prob),
    }
    for name in kinds:
        value, _ = _beyond_chance(table, name)
        centre, error = _beyond_chance(_with_few_more(table), name)
        low, high = (np.clip(centre + s * z * error, -1, 1) for s in (-1, 1))
        made[name] = (value, np.minimum(low, value), np.maximum(high, value))
    made |= {name: wilson(n, counts.labelled_n, ci_prob) for name, n in table._asdict().items()}
    undefined = [
        Caution.of("undefined", place=where)
        for where, value in zip(counts.places, np.atleast_1d(made["kappa"][0]), strict=True)
        if np.isnan(value)
    ]
    return described(
        sample_of(counts),
        made,
        method=methods.AGREEMENT,
        ci_prob=ci_prob,
        source="Cohen (1960); Gwet (2008); Wilson (1927)",
        interval={name: kinds.get(name, "Wilson") for name in made},
        assumptions=(RANDOM_LABELS,),
        needs="prevalence",
        more=undefined,
    )


def _with_few_more(table: Table) -> Table:
    """One item more of each kind where few are misjudged, good or bad."""
    labelled, _ = influence.of_verdicts(0, 0, table)
    return Table(*(x + influence.few(labelled) for x in table))


def _beyond_chance(table: Table, name: str) -> tuple[Any, Any]:
    """Kappa or AC1 and its standard error, by the delta method on multinomial shares."""
    cells = np.stack([np.asarray(x, float) for x in table])
    n = cells.sum(axis=0)
    p = cells / n
    agreed, share, rate = p[0] + p[3], p[0] + p[1], p[0] + p[2]
    good, passed = np.array([1.0, 1, 0, 0]), np.array([1.0, 0, 1, 0])
    same = np.array([1.0, 0, 0, 1])
    shape = (4, *(1,) * share.ndim)
    good, passed, same = (x.reshape(shape) for x in (good, passed, same))
    if name == "kappa":
        chance = share * rate + (1 - share) * (1 - rate)
        slope = good * (2 * rate - 1) + passed * (2 * share - 1)
    else:
        mean = (share + rate) / 2
        chance = 2 * mean * (1 - mean)
        slope = (1 - 2 * mean) * (good + passed)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = np.where(chance < 1, (agreed - chance) / (1 - chance), np.nan)
        gradient = (same * (1 - chance) - slope * (1 - agreed)) / (1 - chance) ** 2
        spread = (p * gradient**2).sum(axis=0) - (p * gradient).sum(axis=0) ** 2
        return value, np.sqrt(np.maximum(spread, 0) / n)
