"""Errors on generators without labels, by how many have labels (source 2, Section 5.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.core.progress import progress as progress_bar
from bayesjudge.panel._pass_rate_regression import PassRates, minimise
from bayesjudge.panel.checks import require_labelled
from bayesjudge.panel.data import MISSING, Votes
from bayesjudge.panel.voting import (
    choose_threshold,
    prevalence_by,
    require_binary,
    true_prevalence,
    verdicts,
)

if TYPE_CHECKING:
    import pandas as pd

#: Weights of prevalence, sensitivity and specificity that the source's grid search chose.
WEIGHTS = (2.0, 1.0, 10.0)


def study(
    votes: Votes,
    *,
    solver: Literal["exact", "source"] = "source",
    weights: Sequence[tuple[float, float, float]] = (WEIGHTS,),
    starts: int = 10,
    runs: int = 1,
    random_seed: int = 0,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Hide the labels of all but s generators, in every combination, and score what is predicted.

    Parameters
    ----------
    votes : Votes
        With two classes, and labels on two generators or more.
    solver : {"source", "exact"}
        Of the regression; see `regression`.
    weights : sequence of tuple of float
        Weights of prevalence, sensitivity and specificity in the regression's loss; several are a
        grid search.
    starts : int, default 10
        Starting points of one regression, of which the lowest loss counts.
    runs : int, default 1
        Regressions with starting points of their own: what the result owes to where it starts.
    random_seed : int, default 0
        Of the starting points.
    progress : bool, optional
        Show it; by default on a terminal or in a notebook.

    Returns
    -------
    pandas.DataFrame
        One row per combination and method (and weights and run): ``labelled`` (s), ``combination``
        (names of the generators that kept their labels), ``method`` (``"regression"``,
        ``"panel_mean"``, ``"veto"`` with a threshold chosen on the combination,
        ``"best_judge"`` and ``"worst_judge"`` in hindsight, of those with votes on all of them),
        ``weights``, ``run``, ``loss``, and ``max_error`` and ``mean_error`` over the generators
        without labels, in shares; ``nan`` if no judge voted on all of them.

    Raises
    ------
    InputError
        If there are more than two classes, or fewer than two generators with labels.

    References
    ----------
    Jain et al. (2025), Section 5.2, Figure 6, Appendix D.1.

    Examples
    --------
    >>> from bayesjudge.panel.simulate import simulate
    >>> votes = Votes.from_frame(simulate(labelled=300, random_seed=1))
    >>> table = study(votes, starts=2)
    >>> table.groupby(["labelled", "method"])["max_error"].mean().loc[0].index.tolist()
    ['best_judge', 'panel_mean', 'regression', 'worst_judge']
    """
    import pandas as pd

    require_binary(votes, "panel.study")
    require_labelled(votes, "panel.study", generators=2)
    with checking("panel.study") as require:
        require(runs >= 1, "must be 1 or more", runs=runs)
        require(len(weights) > 0, "give at least one triple of weights")
    labelled = [int(g) for g in np.flatnonzero(votes.labelled.sum(axis=1))]
    truth = true_prevalence(votes)
    those = [c for s in range(len(labelled)) for c in combinations(labelled, s)]
    rows = []
    with progress_bar(progress, "combinations", total=len(those)) as bar:
        for kept in those:
            names = [votes.generators[g] for g in kept]
            hidden = [g for g in labelled if g not in kept]
            known = votes.hide(*(votes.generators[g] for g in hidden))
            for about, predicted in _predictions(
                known, hidden, truth, weights, solver, starts, runs, random_seed
            ):
                error = np.abs(predicted[hidden] - truth[hidden])
                errors = {"max_error": error.max(), "mean_error": error.mean()}
                rows.append({"labelled": len(kept), "combination": names, **about, **errors})
            bar.advance()
    columns = ["labelled", "combination", "method", "weights", "run", "loss"]
    return pd.DataFrame(rows)[[*columns, "max_error", "mean_error"]]


def _predictions(
    known: Votes,
    hidden: list[int],
    truth: np.ndarray,
    weights: Sequence[tuple[float, float, float]],
    solver: Literal["exact", "source"],
    starts: int,
    runs: int,
    random_seed: int,
) -> Iterator[tuple[dict[str, object], np.ndarray]]:
    """Each method's shares of good outputs, by generator."""
    rates = PassRates.of(known)
    plain: dict[str, object] = {"weights": None, "run": 0, "loss": np.nan}
    for triple in weights:
        for run in range(runs):
            minimum = minimise(
                rates,
                solver=solver,
                weights=triple,
                starts=starts,
                random_seed=random_seed + run,
            )
            about = {"weights": triple, "run": run, "loss": minimum.loss}
            yield {"method": "regression", **about}, minimum.prevalence
    yield {"method": "panel_mean", **plain}, np.nanmean(rates.rates, axis=1)
    error = np.abs(rates.rates[hidden] - truth[hidden, None]).max(axis=0)  # nan: no vote on one
    best, worst = (np.nan_to_num(error, nan=last) for last in (np.inf, -np.inf))
    for name, judge in (("best_judge", best.argmin()), ("worst_judge", worst.argmax())):
        yield {"method": name, **plain}, rates.rates[:, judge]
    if known.is_labelled.any():
        passed = verdicts(known, choose_threshold(known))
        yield {"method": "veto", **plain}, prevalence_by(known, passed)


def found_by(votes: Votes) -> pd.DataFrame:
    """Count how many judges recognise each labelled item.

    Parameters
    ----------
    votes : Votes
        With two classes and labelled items. A missing vote recognises nothing.

    Returns
    -------
    pandas.DataFrame
        Index ``judges``, from 0 to all; columns ``good`` and ``bad``: the share of the good (bad)
        labelled items whose label that many judges vote for. The row of 0 holds items that every
        judge misses. A judge that votes several times counts as often.

    Raises
    ------
    InputError
        If there are more than two classes, or no item is labelled.

    References
    ----------
    Jain et al. (2025), Appendix B.1, Figure 7.

    Examples
    --------
    >>> votes = Votes([[1, 1], [0, 1], [1, 1]], [1, 0, 0], [0, 0, 0], ["gen"], ["j1", "j2"])
    >>> found_by(votes)["bad"].tolist()
    [0.5, 0.5, 0.0]
    """
    import pandas as pd

    require_binary(votes, "panel.found_by")
    require_labelled(votes, "panel.found_by")
    right = (votes.votes == votes.truth[:, None]) & (votes.truth != MISSING)[:, None]
    each = right.sum(axis=1)
    size = votes.votes.shape[1] + 1
    shares = {}
    for name, truth in (("good", 1), ("bad", 0)):
        mine = votes.truth == truth
        counts = np.bincount(each[mine], votes.count[mine], size)
        shares[name] = counts / counts.sum() if counts.sum() else np.full(size, np.nan)
    return pd.DataFrame(shares, index=pd.RangeIndex(size, name="judges"))
