"""Who is ahead of whom: Elo points, ranks, ties and win rates from draws of people's strengths."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bayesjudge.core.draws import chances_of_best
from bayesjudge.core.errors import check_ci_prob, expect
from bayesjudge.core.estimate import Estimate, Quantity
from bayesjudge.core.fit import Fit
from bayesjudge.leaderboard.closed_form import ELO
from bayesjudge.leaderboard.likelihood import chances

if TYPE_CHECKING:
    import pandas as pd


def standings(fit: Fit, *, baseline: str | None = None, ci_prob: float = 0.95) -> pd.DataFrame:
    """Tabulate the leaderboard for people, the strongest first.

    Parameters
    ----------
    fit : Fit
        Of `fit` or `approximate`.
    baseline : str, optional
        System with 0 Elo points; the average of all by default.
    ci_prob : float, default 0.95
        Probability of each interval of Elo points, and of all ranks together.

    Returns
    -------
    pandas.DataFrame
        Index ``system``; ``elo`` with ``low`` and ``high``; ``first``, the probability of being the
        strongest; ``rank_low`` and ``rank_high``, which hold the ranks of all systems at once; and,
        of one judge, ``judge_elo`` by the judge alone and ``judge_favour``, Elo points that the
        judge likes the system more than people do, with ``favour_low`` and ``favour_high``.

    Raises
    ------
    InputError
        If there is no such system, or `ci_prob` is out of range.
    """
    import pandas as pd

    check_ci_prob(ci_prob)
    strength = fit.draws("strength")
    names = list(fit.data.systems)
    origin = _against(names, baseline)
    ends = [(1 - ci_prob) / 2, (1 + ci_prob) / 2]

    def points(draws: np.ndarray) -> np.ndarray:
        return ELO * (draws - draws[:, origin].mean(axis=1, keepdims=True))

    low, high = np.quantile(points(strength), ends, axis=0)
    best, worst = simultaneous_ranks(strength, ci_prob)
    table = {"elo": points(strength).mean(axis=0), "low": low, "high": high}
    table |= {"first": chances_of_best(strength), "rank_low": best, "rank_high": worst}
    if len(fit.data.judges) == 1:
        favour = ELO * fit.draws("judge_favour")[:, 0]
        table["judge_elo"] = points(fit.draws("judge_strength")[:, 0]).mean(axis=0)
        table["judge_favour"] = favour.mean(axis=0)
        table["favour_low"], table["favour_high"] = np.quantile(favour, ends, axis=0)
    frame = pd.DataFrame(table, index=pd.Index(names, name="system"))
    return frame.sort_values("elo", ascending=False)


def elo_points(estimate: Estimate) -> Estimate:
    """Turn strengths into Elo points against the average system.

    Parameters
    ----------
    estimate : Estimate
        With ``strength`` by system.

    Returns
    -------
    Estimate
        ``elo`` by system, the strongest first.
    """
    strength = estimate.quantities["strength"]
    order = np.argsort(-strength.value)
    columns = {name: ELO * getattr(strength, name)[order] for name in ("value", "low", "high")}
    labels = [strength.labels[int(i)] for i in order]
    return replace(estimate, quantities={"elo": replace(strength, **columns, labels=labels)})


def first_places(fit: Fit, *, ci_prob: float = 0.95) -> Estimate:
    """Tell how probably each system is the strongest for people.

    Parameters
    ----------
    fit : Fit
        Of `fit` or `approximate`.
    ci_prob : float, default 0.95
        Of the estimate that it stands beside.

    Returns
    -------
    Estimate
        ``first`` by system, a probability; it has no interval.
    """
    none = np.full(len(fit.data.systems), np.nan)
    first = Quantity.over(
        (chances_of_best(fit.draws("strength")), none, none), {"system": fit.data.systems}
    )
    return _of_draws(fit, {"first": first}, ci_prob, "none")


def ahead(fit: Fit) -> pd.DataFrame:
    """Tabulate the probability that people prefer one system to another.

    Parameters
    ----------
    fit : Fit
        Of `fit` or `approximate`.

    Returns
    -------
    pandas.DataFrame
        Rows and columns are systems, the strongest first: the probability that the row's is
        stronger than the column's; ``nan`` against itself.
    """
    import pandas as pd

    strength = fit.draws("strength")
    order = np.argsort(-strength.mean(axis=0))
    sorted_ = strength[:, order]
    chances = np.array([(draws[:, None] > sorted_).mean(axis=0) for draws in sorted_.T])
    np.fill_diagonal(chances, np.nan)
    names = pd.Index([fit.data.systems[i] for i in order], name="system")
    return pd.DataFrame(chances, index=names, columns=names)


def win_rate(fit: Fit, baseline: str, *, ci_prob: float = 0.95) -> Estimate:
    """Share of the points that people would give each system against a baseline.

    Parameters
    ----------
    fit : Fit
        Of `fit` or `approximate`.
    baseline : str
        A system.
    ci_prob : float, default 0.95
        Probability of each interval.

    Returns
    -------
    Estimate
        ``win_rate`` by system, between 0 and 1: 1 for a win, a half for a tie.

    Raises
    ------
    InputError
        If there is no such system, or `ci_prob` is out of range.
    """
    check_ci_prob(ci_prob)
    names = list(fit.data.systems)
    (origin,) = _against(names, baseline)
    others = [i for i in range(len(names)) if i != origin]
    strength = fit.draws("strength")
    gap = strength[:, others] - strength[:, [origin]]
    tied = "people_tie" in fit.idata["posterior"]
    tie = np.log(fit.draws("people_tie"))[:, None] if tied else -np.inf
    first, ties, _ = chances(gap, tie)
    rate = first + ties / 2
    low, high = np.quantile(rate, [(1 - ci_prob) / 2, (1 + ci_prob) / 2], axis=0)
    rates = Quantity.over((rate.mean(axis=0), low, high), {"system": [names[i] for i in others]})
    return _of_draws(fit, {"win_rate": rates}, ci_prob, "equal-tailed")


def _of_draws(fit: Fit, quantities: dict[str, Quantity], ci_prob: float, interval: str) -> Estimate:
    """Quantities of the draws of a fit."""
    return Estimate(
        quantities,
        method=fit.method,
        ci_prob=ci_prob,
        source=fit.source,
        interval=interval,
        assumptions=fit.assumptions,
        cautions=fit.cautions,
        data=fit.data,
    )


def simultaneous_ranks(strength: np.ndarray, ci_prob: float) -> tuple[np.ndarray, np.ndarray]:
    """Best and worst rank of each column, such that those of all hold at once.

    They follow from the claims "one is ahead of another", the surest first, as many as hold
    together with that probability.
    """
    k = strength.shape[1]
    above = strength.mean(axis=0).argsort()[::-1]
    pairs = [(above[i], above[j]) for i in range(k) for j in range(i + 1, k)]
    sure = [float((strength[:, a] > strength[:, b]).mean()) for a, b in pairs]
    holds = np.full(len(strength), True)
    better, worse = np.zeros(k, int), np.zeros(k, int)
    for at in np.argsort(sure)[::-1]:
        a, b = pairs[at]
        holds &= strength[:, a] > strength[:, b]
        if holds.mean() < ci_prob:
            break
        worse[a] += 1
        better[b] += 1
    return 1 + better, k - worse


def _against(names: list[str], baseline: str | None) -> list[int]:
    """Places of the systems whose average is 0."""
    known = baseline is None or baseline in names
    expect("baseline", known, f"no system {baseline!r}; there are {names[:20]}")
    return list(range(len(names))) if baseline is None else [names.index(baseline)]
