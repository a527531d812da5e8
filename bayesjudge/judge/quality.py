"""How far judges agree with people: rates, accuracy, kappa, AC1, confusion, grades."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.diagnosis import contradicted, selection_of
from bayesjudge.core.errors import check_ci_prob
from bayesjudge.core.estimate import Caution, Estimate, Quantity
from bayesjudge.core.screen import how_many
from bayesjudge.judge.data import Judged, as_judged
from bayesjudge.truth import agreement
from bayesjudge.truth.pairs import Pairs, with_ends

#: Of a judge's rates, what labels by truth tell without the share of good outputs.
RATES = ("sensitivity", "specificity", "youden")
#: How often the judge says what one of several people, drawn at random, says.
WITH_PERSON = "agreement_with_person"
#: Most levels of a score of which each has a row in the map to people's mean.
MOST_LEVELS = 12
#: Bins of a score with more levels.
BINS = 5


def quality(data: Any, *, ci_prob: float = 0.95) -> Estimate:
    r"""How far judges agree with people, with intervals under the label design.

    With :math:`p_o` the share of outputs on which the two agree (the accuracy), Cohen's
    :math:`\kappa` and Gwet's AC1 are :math:`(p_o - p_e) / (1 - p_e)`, with the agreement expected
    of chance

    .. math:: p_e^\kappa = \pi r + (1 - \pi) (1 - r), \quad p_e^{AC1} = 2 q (1 - q),

    of a share :math:`\pi` of good outputs, a pass rate :math:`r`, and their mean :math:`q`. Where
    nearly all outputs are good :math:`\kappa` is low however rarely the two differ; AC1 is not.

    Parameters
    ----------
    data : Judged, Verdicts, prevalence.Counts, PeopleCounts, Items or Scores
        Of one or several judges and systems. `PeopleCounts` have labels of several people, who err
        too: rates are those against what is so behind their errors.
    ci_prob : float, default 0.95
        Probability of the intervals.

    Returns
    -------
    Estimate
        By ``judge`` and ``system`` where there are several. Of pass and fail: ``accuracy``,
        ``kappa``, ``ac1``, ``sensitivity``, ``specificity``, ``youden``, ``ppv``, ``npv``,
        ``judge_less_people`` (by how much the judge's pass rate is too high), and the confusion
        table ``good_passed``, ``good_failed``, ``bad_passed``, ``bad_failed``. Of
        classes: ``recall`` and ``precision`` by class and ``confusion`` in place of rates. Of
        grades: ``mean_error`` (the judge's less people's), ``mean_absolute_error``,
        ``correlation``, ``weighted_kappa`` (quadratic weights) and ``people_mean`` by score. Of
        scores and labels of pass and fail: ``auc`` and ``people_mean``. Of several people
        ``agreement_with_person`` too: how often the judge says what one of them, drawn at random,
        says.

        Values are plain shares of the labelled outputs (weighed, if labels are by verdict or of
        known propensities). Labels by truth or from elsewhere tell the judge's rates, and the rest
        with the judge's pass rate on outputs without a label; with none there is no value. Of
        several people values are means of the posterior of `prevalence.people`.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.

    Notes
    -----
    Intervals are equal-tailed, of the posterior of the shares of pairs (Dirichlet; of numbers the
    Bayesian bootstrap), and hold the value; of rates that independent labels tell without the other
    outputs they are quantiles of a Beta distribution, which prevalence and panel show too. The
    prior is one output in all, spread evenly over the pairs; of rates among good outputs, passes or
    a class, one output within each. `bayesjudge.ratings` has the same intervals. Coverage by label
    design and number of classes: ``python benchmarks/judge/intervals.py``.

    References
    ----------
    Cohen (1960), Educ. Psychol. Meas. 20, 37-46; Gwet (2008), Br. J. Math. Stat. Psychol. 61,
    29-48; Rubin (1981), Ann. Stat. 9, 130-134.

    Examples
    --------
    >>> from bayesjudge import Verdicts
    >>> table = Verdicts.from_counts([[0, 5], [2, 118], [0, 0]], calibration="random")
    >>> found = quality(table)
    >>> [round(found[name].value, 2) for name in ("accuracy", "kappa", "ac1")]
    [0.94, -0.02, 0.94]
    """
    check_ci_prob(ci_prob)
    judged = as_judged(data)
    rows: dict[str, dict[tuple[Any, ...], tuple[float, ...]]] = {}
    own_dims: dict[str, tuple[str, ...]] = {}
    cautions: list[Caution] = []
    several = len(judged.judges) > 1, len(judged.systems) > 1
    dims = tuple(d for d, many in zip(("judge", "system"), several, strict=True) if many)
    for (judge, system), pairs in judged.pairs.items():
        at = tuple(n for n, many in zip((judge, system), several, strict=True) if many)
        overall = pairs.draws(judged.design, overall=True) if judged.verdicts else None
        drawn = statistics(judged, pairs, pairs.draws(judged.design), overall)
        value = statistics(judged, pairs, pairs.shares(judged.design)[None])
        conditions = _conditions(judged, pairs)
        for name, (more_dims, values) in drawn.items():
            own_dims[name] = more_dims
            for where, draws in values.items():
                point = float(value[name][1][where][0])
                of, design = conditions.get((name, *where), []), judged.design
                row = pairs.interval(name, of, point, draws, design, ci_prob)
                rows.setdefault(name, {})[(*at, *where)] = row
        if pairs.with_person is not None:
            same, own_dims[WITH_PERSON] = pairs.with_person, ()
            row = with_ends(float(same.mean()), same, ci_prob)
            rows.setdefault(WITH_PERSON, {})[at] = row
        kappa = value.get("kappa")
        if kappa is not None and np.isnan(kappa[1][()][0]) and pairs.labelled:
            place = "".join(f" of {level!r}" for level in at)
            cautions.append(Caution.of("undefined", place=place))
        cautions += _against(judged.kind, rows, at)
    cautions += _chosen(judged)
    unread = 0 if judged.verdicts is None else int(np.sum(judged.verdicts.unparsed))
    if unread:
        how: dict[str, Any] = {"count": unread, "place": "", "total": how_many(judged.seen, "row")}
        cautions.append(Caution.of("unparsed-verdicts", "verdicts", **how))
    if judged.tuned:
        cautions.append(Caution.of("tuned-labels", labels=judged.tuned, left=judged.labelled))
    return Estimate(
        {name: Quantity.of_rows(cells, (*dims, *own_dims[name])) for name, cells in rows.items()},
        method=methods.QUALITY,
        ci_prob=ci_prob,
        source="Cohen (1960); Gwet (2008); Rubin (1981)",
        interval="equal-tailed",
        assumptions=contradicted((judged.design.assumption,), cautions),
        cautions=tuple(cautions),
        data=judged,
    )


def _against(kind: str, rows: Mapping[str, Any], at: tuple[str, ...]) -> Iterator[Caution]:
    """Verdicts or scores that go against the labels, as if one of them were coded the other way."""
    name, least = ("auc", 0.5) if kind == "scores" else ("youden", 0.0)
    value, low, high = rows.get(name, {}).get(at, (np.nan,) * 3)
    if high < least:
        how: dict[str, Any] = {"place": "".join(f" of {level!r}" for level in at)}
        how |= {"value": value, "low": low, "high": high}
        how |= {} if kind == "scores" else {"what": "sensitivity + specificity"}
        yield Caution.of("inverted-judge", "scores" if kind == "scores" else "rates", **how)


def _chosen(judged: Judged) -> Iterator[Caution]:
    """How labels seem to have been chosen, of each table of several by its name."""
    tables: Mapping[tuple[str, str], Any] = judged.scores or {("", ""): judged.verdicts}
    for at, table in tables.items():
        seen, several = selection_of(table), (len(judged.judges) > 1, len(judged.systems) > 1)
        if seen:
            where = tuple(name for name, many in zip(at, several, strict=True) if name and many)
            text = ": ".join(filter(None, (", ".join(where), seen.caution.text)))
            yield replace(seen.caution, text=text, where=where)


Statistics = Mapping[str, tuple[tuple[str, ...], Mapping[tuple[Any, ...], np.ndarray]]]


def statistics(
    judged: Judged, pairs: Pairs, shares: np.ndarray, overall: np.ndarray | None = None
) -> Statistics:
    """Of draws of the shares: each statistic with its own dimensions and its draws by entry.

    What is about all outputs, such as the accuracy, comes from draws with another prior: `overall`.
    """
    said, truth, known = pairs.said, pairs.truth, pairs.knows_share(judged.design)
    overall = shares if overall is None else overall
    values_of: dict[str, Any] = {}
    if judged.kind == "verdicts":
        rates = agreement.rates(said, truth, shares)
        values_of = agreement.of_classes(said, truth, overall, 2) | rates
        values_of |= agreement.of_verdicts(said, truth, overall)
        values_of = values_of if known else {name: rates[name] for name in RATES}
    elif judged.kind == "grades":
        values_of = agreement.of_scores(said, truth, shares)
    elif judged.kind == "scores":
        values_of = {"auc": _auc(said, truth, shares)}
    elif known:
        values_of = agreement.of_classes(said, truth, overall, len(judged.table.classes))
    by_name: Statistics = {name: ((), {(): values}) for name, values in values_of.items()}
    if judged.kind == "classes":
        return {**by_name, **_by_class(judged, pairs, shares, known)}
    if judged.kind == "verdicts" or not known:
        return by_name
    return {**by_name, "people_mean": (("score",), _people_mean(judged.kind, pairs, shares))}


def _by_class(judged: Judged, pairs: Pairs, shares: np.ndarray, known: bool) -> Statistics:
    dims = {"recall": ("class",), "precision": ("class",), "confusion": ("truth", "verdict")}
    each: dict[str, dict[tuple[Any, ...], np.ndarray]] = {name: {} for name in dims}
    for (name, *where), (pair,) in _conditions(judged, pairs).items():
        each[name][tuple(where)] = agreement.among(shares, *pair)
    return {name: (dims[name], each[name]) for name in dims if known or name != "precision"}


def _conditions(judged: Judged, pairs: Pairs) -> dict[tuple[Any, ...], list[tuple[Any, Any]]]:
    """What rates are shares of, by name and place."""
    said, truth = pairs.said, pairs.truth
    if judged.kind == "verdicts":
        return {(name,): of for name, of in agreement.conditions(said, truth).items()}
    by_place: dict[tuple[Any, ...], list[tuple[Any, Any]]] = {}
    for k, name in enumerate(judged.table.classes if judged.kind == "classes" else ()):
        by_place["recall", name] = [(said == k, truth == k)]
        by_place["precision", name] = [(truth == k, said == k)]
        for j, other in enumerate(judged.table.classes):
            by_place["confusion", name, other] = [(said == j, truth == k)]
    return by_place


def _people_mean(kind: str, pairs: Pairs, shares: np.ndarray) -> dict[tuple[Any, ...], np.ndarray]:
    """People's mean by level of the judge's score, or by bins of about as many pairs.

    Of passes (or fails) only, the bootstrap would leave no doubt: draws are the quantiles of the
    posterior with Jeffreys' prior.
    """
    from scipy.special import betaincinv

    said, truth = pairs.said, pairs.truth
    levels = np.unique(said)
    if len(levels) <= MOST_LEVELS:
        parts = {f"{level:g}": said == level for level in levels}
    else:
        cuts = np.unique(np.quantile(said, np.linspace(0, 1, BINS + 1)[1:-1]))
        place = np.searchsorted(cuts, said, side="right")
        parts = {
            f"{said[place == b].min():.3g} to {said[place == b].max():.3g}": place == b
            for b in np.unique(place)
        }
    means = {(name,): agreement.among(shares, truth, part) for name, part in parts.items()}
    for name, part in parts.items():
        if kind == "scores" and np.ptp(truth[part]) == 0 and len(shares) > 1:
            n, right = pairs.n[part].sum(), pairs.n[part] @ truth[part]
            depths = (np.arange(len(shares)) + 0.5) / len(shares)
            means[name,] = betaincinv(right + 0.5, n - right + 0.5, depths)
    return means


def _auc(said: np.ndarray, truth: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Probability that a good output has a higher score than a bad one, ties half."""
    order = np.argsort(said, kind="stable")
    starts = np.unique(said[order], return_index=True)[1]
    good, bad = (
        np.add.reduceat(shares[:, order] * (truth[order] == kind), starts, axis=1)
        for kind in (1, 0)
    )
    below = np.cumsum(bad, axis=1) - bad
    with np.errstate(invalid="ignore", divide="ignore"):
        total = good.sum(axis=1) * bad.sum(axis=1)
        return (good * (below + bad / 2)).sum(axis=1) / total
