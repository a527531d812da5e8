"""Closed forms: Bradley-Terry and Davidson of a source, and prediction-powered for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.errors import check_ci_prob, checking, expect
from bayesjudge.core.estimate import Assumption, Caution, Estimate, Quantity
from bayesjudge.core.intervals import z_score
from bayesjudge.core.methods import Method
from bayesjudge.core.screen import few
from bayesjudge.leaderboard.data import PEOPLE, STRENGTH_TARGETS, Battles, StrengthTarget
from bayesjudge.leaderboard.likelihood import (
    Rows,
    agreement_of_neighbours,
    components,
    design_of,
    few_clusters,
    fit_source,
    inverse_of,
    maximise,
    outer,
    rows_of,
    scores,
)

Ties = Literal["davidson", "half"]
TIES: tuple[Ties, ...] = ("davidson", "half")
#: Standard errors beyond which verdicts on neighbouring rows do not go together by chance.
TOGETHER = 3.3
#: Elo points of one unit of log-odds.
ELO = 400 / np.log(10)
DAVIDSON = "Davidson (1970), J. Am. Stat. Assoc. 65, 317-328; sandwich by item"
ANGELOPOULOS = "Angelopoulos, Duchi & Zrnic (2023), PPI++, arXiv:2311.01453, section 4"
RANDOM = Assumption.of("random-battles")
ITEMS = Assumption.of("independent-items", "battles")
JUDGE_ONLY = Assumption.of("judge-as-people")


def davidson(
    battles: Battles,
    source: str = PEOPLE,
    *,
    ties: Ties = "davidson",
    order: bool = True,
    target: StrengthTarget = "any length",
    ci_prob: float = 0.95,
) -> Estimate:
    r"""Estimate strengths by one source: Davidson's model, which is Bradley-Terry with ties.

    .. math:: P(first) \propto e^{\eta/2}, \quad P(tie) \propto \nu, \quad
              P(second) \propto e^{-\eta/2}, \qquad \eta = t_a - t_b + d + g (x_a - x_b)

    Parameters
    ----------
    battles : Battles
        What was seen.
    source : str, default "people"
        Whose verdicts: a judge, or ``"people"``.
    ties : {"davidson", "half"}
        As in the model, or as half a win of each: then it is Bradley-Terry.
    order : bool, default True
        Whether the place shown first may help (d), if pairs were shown in both orders.
    target : {"any length", "equal length"}
        Strengths of answers as they come, or at equal length: with g, of the logarithms of lengths.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    Estimate
        By system ``strength``, log-odds against the average system, and ``lead``, log-odds against
        the first of the others. 1 unit is 173.7 Elo points.

    Raises
    ------
    InputError
        If there is no such source or option, no length, or no finite estimate: some systems won,
        or lost, all battles against all others.

    References
    ----------
    Bradley & Terry (1952), Biometrika 39, 324-345; Davidson (1970), J. Am. Stat. Assoc. 65.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = {"model_a": ["x", "x"], "model_b": ["y", "y"], "winner": ["A", "B"],
    ...         "count": [75, 25]}
    >>> battles = Battles.from_counts(pd.DataFrame(rows))
    >>> round(davidson(battles, "judge")["lead", "x"].value, 4)  # log(3)
    1.0986
    """
    check_ci_prob(ci_prob)
    _check(battles, source, ties, target)
    ordered = order and battles.both_orders
    rows = rows_of(battles, source, order=ordered, style=target == "equal length")
    tied = ties == "davidson" and bool(rows.shares[:, 1].any())
    rows = rows if tied else rows._replace(shares=halved(rows.shares))
    fitted = fit_source(rows, tied, len(battles.systems))
    return _estimate(
        battles,
        fitted.value,
        fitted.covariance,
        ci_prob,
        method=_method_of(source, ties, target),
        source=DAVIDSON,
        cautions=cautions_of(battles, [] if source == PEOPLE else [source]),
        assumptions=(independence(battles), RANDOM if source == PEOPLE else JUDGE_ONLY),
    )


def power_tuned(
    battles: Battles,
    *,
    ties: Ties = "davidson",
    weight: float | None = None,
    ci_prob: float = 0.95,
) -> Estimate:
    r"""Estimate people's strengths from their verdicts and all of the judge's: prediction-powered.

    The estimate maximises

    .. math:: \frac1n \sum_{labelled} \ell(y^{people}) + \lambda \Bigl(\frac1N \sum_{judged}
              \ell(y^{judge}) - \frac1n \sum_{labelled} \ell(y^{judge})\Bigr)

    with Davidson's log-likelihood :math:`\ell` and the weight :math:`\lambda` in [0, 1] that makes
    contrasts least uncertain. Verdicts of several judges are averaged.

    Parameters
    ----------
    battles : Battles
        With people's verdicts on a random part of the battles that the judge saw.
    ties : {"davidson", "half"}
        As for `davidson`.
    weight : float, optional
        :math:`\lambda`; by default the best one.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    Estimate
        As of `davidson`.

    Raises
    ------
    InputError
        If an option is out of range, people and judge share no battle, or there is no finite
        estimate.

    References
    ----------
    Angelopoulos, Duchi & Zrnic (2023), arXiv:2311.01453, section 4.
    """
    check_ci_prob(ci_prob)
    _check(battles, PEOPLE, ties, "any length")
    inside = weight is None or 0 <= weight <= 1
    expect("leaderboard.power_tuned", inside, "must lie between 0 and 1", weight=weight)
    k = len(battles.systems)
    both = _Both.of(battles, ties)
    people = (both.people, both.labelled)
    at_people, curved = maximise([people], both.ties, k)
    if weight is None:
        weight = _best_weight(both, at_people, inverse_of(curved, k), k)
    parts = [people, (both.judge, weight * both.judged), (both.judge, -weight * both.twin)]
    value, curved = maximise(parts, both.ties, k)
    inverse = inverse_of(curved, k)
    labelled_score, other = both.parts(value)
    count, item, labelled = battles.count, battles.item, both.labelled > 0
    middle, _ = outer(labelled_score + weight * other, count, item)
    clusters = count[labelled].sum() if item is None else len(np.unique(item[labelled]))
    return _estimate(
        battles,
        value,
        few_clusters(int(clusters), len(value)) * inverse @ middle @ inverse,
        ci_prob,
        method=_with_ties(methods.POWER_TUNED_BATTLES, ties),
        source=ANGELOPOULOS,
        cautions=cautions_of(battles, []),
        assumptions=(independence(battles), RANDOM),
    )


class _Both(NamedTuple):
    """People's verdicts and the judge's on the same rows, and what weight each row has."""

    people: Rows
    judge: Rows
    ties: bool
    #: Weight of a row in the mean over labelled battles, over judged ones, and over both.
    labelled: np.ndarray
    judged: np.ndarray
    twin: np.ndarray

    @classmethod
    def of(cls, battles: Battles, ties: Ties) -> _Both:
        """Of all rows; verdicts of several judges are averaged."""
        said = battles.verdict.any(axis=2)
        shares = battles.verdict.sum(axis=1) / np.maximum(said.sum(axis=1), 1)[:, None]
        labelled, judged = battles.people.any(axis=1), said.any(axis=1)
        problem = "people and judge share no battle (no row has both)"
        expect("leaderboard.power_tuned", (labelled & judged).any(), problem)
        tied = ties == "davidson" and bool(battles.people[:, 1].any())
        design = design_of(battles, np.full(len(shares), True), order=False, style=False)
        rows = [
            Rows(design, verdicts if tied else halved(verdicts), battles.count, battles.item)
            for verdicts in (battles.people, shares)
        ]
        weights = [battles.count * at for at in (labelled, judged, labelled & judged)]
        return cls(rows[0], rows[1], tied, *(w / w.sum() for w in weights))

    def parts(self, value: np.ndarray) -> tuple[Any, Any]:
        """What one battle of each row adds to the score: without the judge, and with weight 1."""
        from scipy.sparse import csr_array

        people, judge = (scores(rows, value, self.ties) for rows in (self.people, self.judge))
        count = self.people.n[:, None]

        def centred(score: Any, weight: np.ndarray) -> Any:
            mean = score.T @ weight
            kept = csr_array((weight > 0)[:, None].astype(float))
            return (score - kept @ csr_array(mean[None])).multiply(weight[:, None] / count)

        of_labels = csr_array(centred(people, self.labelled))
        other = judge.multiply(self.judged[:, None] / count) - centred(judge, self.twin)
        return of_labels, csr_array(other)


def halved(shares: np.ndarray) -> np.ndarray:
    """Verdicts with a tie as half a win of each."""
    return shares + shares[:, [1]] * [0.5, -1.0, 0.5]


def _best_weight(both: _Both, value: np.ndarray, inverse: np.ndarray, systems: int) -> float:
    """Weight in [0, 1] with which the variance of contrasts is least; it is a parabola."""
    labelled_score, other = both.parts(value)
    count, item = both.people.n, both.people.item
    each, _ = outer(other, count, item)
    total, _ = outer(labelled_score + other, count, item)
    alone, _ = outer(labelled_score, count, item)
    centred = np.eye(systems) - 1 / systems

    def variance(middle: np.ndarray) -> float:
        return float(np.trace(centred @ (inverse @ middle @ inverse)[:systems, :systems]))

    across = variance(total) - variance(alone) - variance(each)
    return float(np.clip(-across / max(2 * variance(each), 1e-300), 0, 1))


def _check(battles: Battles, source: str, ties: Ties, target: StrengthTarget) -> None:
    """Refuse options that there are not, and what has no finite estimate."""
    battles.shares(source)
    with checking("leaderboard") as require:
        require(ties in TIES, f"must be in {TIES}", ties=ties)
        require_target(target, battles, require)
        said = battles.verdicts[source]
        require(said, f"{source} gave no verdict")
        won = battles.shares(source)[:, [0, 2]].any()
        require(won or not said, f"{source} called only ties, which tell no system from another")
        groups = components(battles, source) if said else [[]]
        apart = few(min(groups, key=len), 4)
        require(len(groups) == 1, "no-finite-estimate", source=source, apart=apart)


def _method_of(source: str, ties: Ties, target: StrengthTarget) -> Method:
    if source == PEOPLE:
        method = methods.PEOPLE_BATTLES
    else:
        davidson = methods.JUDGE_BATTLES
        method = Method(f"{davidson.id}:{source}", f"Davidson, {source}", source, davidson.rank)
    return method_at(target, _with_ties(method, ties))


def _with_ties(method: Method, ties: Ties) -> Method:
    return method.variant("half", "ties as half a win") if ties == "half" else method


def require_target(target: StrengthTarget, battles: Battles, require: Any) -> None:
    """Require a target that there is, and lengths if it is about them."""
    require(target in STRENGTH_TARGETS, f"must be in {STRENGTH_TARGETS}", target=target)
    known = target != "equal length" or battles.style is not None
    require(known, "target='equal length' needs the lengths of both answers (lengths=)")


def method_at(target: StrengthTarget, method: Method) -> Method:
    """The method, with what the strengths are about if that is not answers as they come."""
    at_equal = target == "equal length"
    return method.variant("equal-length", "at equal length") if at_equal else method


def cautions_of(battles: Battles, judges: Sequence[str]) -> tuple[Caution, ...]:
    """What the table and the verdicts of some judges leave open."""
    cautions = []
    if (times := battles.copies) > 1:
        cautions.append(Caution.of("copied-battles", times=times, narrow=float(np.sqrt(times))))
    if battles.item is None and (errors := agreement_of_neighbours(battles)) > TOGETHER:
        cautions.append(Caution.of("neighbouring-battles", errors=errors))
    again, differ = battles.repeated
    if again:
        cautions.append(Caution.of("repeated-battles", again=again, differ=differ))
    lost = dict(zip(battles.judges, battles.unparsed, strict=True))
    cautions += [
        Caution.of("unparsed-battles", source=judge, lost=lost[judge])
        for judge in judges
        if lost[judge]
    ]
    if judges and not battles.both_orders:
        cautions.append(Caution.of("one-order", source=", ".join(judges)))
    return tuple(cautions)


def independence(battles: Battles) -> Assumption:
    """What battles are independent of: items that are named, or each other."""
    return ITEMS if battles.item is not None else Assumption.of("independent-items", "unnamed")


def _estimate(
    battles: Battles,
    value: np.ndarray,
    covariance: np.ndarray,
    ci_prob: float,
    *,
    method: Method,
    source: str,
    cautions: tuple[Caution, ...],
    assumptions: tuple[Assumption, ...],
) -> Estimate:
    """Strengths and leads with normal intervals."""
    k, z = len(battles.systems), z_score(ci_prob)
    strength = value[:k]
    lead = np.eye(k)
    lead[np.arange(k), rivals(strength)] -= 1
    quantities = {}
    for name, contrast in (("strength", np.eye(k) - 1 / k), ("lead", lead)):
        each = contrast @ strength
        inner = contrast @ covariance[:k, :k]
        half = z * np.sqrt(np.maximum(np.sum(inner * contrast, axis=1), 0))
        quantities[name] = Quantity.over(
            (each, each - half, each + half), {"system": battles.systems}
        )
    return Estimate(
        quantities,
        method=method,
        ci_prob=ci_prob,
        source=source,
        interval="normal, sandwich",
        assumptions=assumptions,
        cautions=cautions,
        data=battles,
    )


def rivals(strength: np.ndarray) -> np.ndarray:
    """For each system the place of the strongest of the others."""
    order = np.argsort(-strength)
    rival = np.full(len(strength), order[0])
    rival[order[0]] = order[1]
    return rival
