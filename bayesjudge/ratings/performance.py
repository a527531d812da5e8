"""Judges under many definitions of performance, with uncertainty, whatever made it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd

from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.estimate import Caution, Estimate
from bayesjudge.ratings.definitions import Definition


@dataclass(frozen=True, eq=False)
class Performance:
    """Every judge under every definition, as a value and as draws.

    Parameters
    ----------
    definitions : tuple of Definition
        What was evaluated.
    judges : tuple of str
        Names.
    values : numpy.ndarray, shape (n_definitions, n_judges)
        Estimates.
    draws : numpy.ndarray, shape (n_draws, n_definitions, n_judges)
        Bootstrap replicates or posterior draws; the same draw for all judges and definitions, so
        that they can be compared within a draw.
    method, source, interval : str
        For reports.
    assumptions : tuple of str
        What must hold.
    cautions : tuple of Caution
        What speaks against it.
    """

    definitions: tuple[Definition, ...]
    judges: tuple[str, ...]
    values: np.ndarray
    draws: np.ndarray
    method: str
    source: str
    interval: str
    assumptions: tuple[str, ...] = ()
    cautions: tuple[Caution, ...] = ()

    def estimate(self, *, ci_prob: float = 0.95) -> Estimate:
        """Summarise as a table of intervals.

        Parameters
        ----------
        ci_prob : float, default 0.95
            Probability that an interval should hold.

        Returns
        -------
        Estimate
            Rows ``hit_rate (h/h)[gpt]``. An interval is ``nan`` where a definition is undefined in
            some draws, or infinite.

        Raises
        ------
        InputError
            Where `ci_prob` is out of range.
        """
        tail = (1 - check_ci_prob(ci_prob)) / 2
        rows = {}
        for d, definition in enumerate(self.definitions):
            for j, judge in enumerate(self.judges):
                draws = self.draws[:, d, j]
                ends = (np.nan, np.nan)
                if np.isfinite(draws).all():
                    low, high = np.quantile(draws, [tail, 1 - tail])
                    ends = (min(low, self.values[d, j]), max(high, self.values[d, j]))
                rows[f"{definition}[{judge}]"] = (float(self.values[d, j]), *map(float, ends))
        return Estimate.from_rows(
            rows,
            method=self.method,
            ci_prob=ci_prob,
            source=self.source,
            interval=self.interval,
            assumptions=self.assumptions,
            cautions=self.cautions,
        )

    def best(self, weight: np.ndarray | None = None) -> pd.DataFrame:
        """Probability that each judge is the best, under each definition.

        Parameters
        ----------
        weight : numpy.ndarray, shape (n_draws,), optional
            Of each draw, summing to 1; all the same by default.

        Returns
        -------
        pandas.DataFrame
            Definitions by judges; rows sum to 1. Judges that tie in a draw share it. From a
            bootstrap these are frequencies, not probabilities.
        """
        loss = self._loss(self.draws)
        best = (loss <= loss.min(axis=-1, keepdims=True) + 1e-12).astype(float)
        shares = best / best.sum(axis=-1, keepdims=True)
        return self._table(np.average(shares, axis=0, weights=weight))

    def chances(self) -> Estimate:
        """Give `best` as an estimate, for reports.

        Returns
        -------
        Estimate
            Rows ``best, hit_rate (h/h)[gpt]``; a probability has no interval.
        """
        best = self.best()
        rows = {
            f"best, {definition}[{judge}]": (float(best.loc[definition, judge]), np.nan, np.nan)
            for definition in best.index
            for judge in best.columns
        }
        return Estimate.from_rows(
            rows,
            method=f"{self.method}, share of draws",
            ci_prob=0.95,
            source=self.source,
            interval=self.interval,
            assumptions=self.assumptions,
            cautions=self.cautions,
        )

    def ranks(self) -> pd.DataFrame:
        """Rank the judges by their estimates: 1 is best, ties share the mean rank.

        Returns
        -------
        pandas.DataFrame
            Definitions by judges.
        """
        return self._table(self._loss(self.values)).rank(axis=1, method="average")

    def contradictions(self, *, prob: float = 0.5) -> pd.DataFrame:
        """Find pairs of judges that two definitions rank in opposite orders.

        Parameters
        ----------
        prob : float, default 0.5
            Report those contradicted in more than this share of the draws.

        Returns
        -------
        pandas.DataFrame
            Columns ``better``, ``worse`` (judges, by the first definition), ``first``, ``second``
            (definitions) and ``probability`` that they contradict so. Empty where none do.

        Raises
        ------
        InputError
            Where `prob` is not a probability.

        References
        ----------
        Source 5, Definition 5.1.
        """
        with checking("contradictions") as require:
            require(0 <= prob < 1, f"prob must lie in [0, 1), got {prob!r}")
        loss = self._loss(self.draws)
        better = loss[..., :, None] < loss[..., None, :] - 1e-12  # (draw, definition, z, w)
        found = []
        for a in range(len(self.definitions)):
            for b in range(a + 1, len(self.definitions)):
                share = (better[:, a] & np.swapaxes(better[:, b], -1, -2)).mean(axis=0)
                found += [
                    (
                        *(self.judges[z], self.judges[w]),
                        *(str(self.definitions[a]), str(self.definitions[b])),
                        float(share[z, w]),
                    )
                    for z, w in zip(*np.nonzero(share > prob), strict=True)
                ]
        columns = ["better", "worse", "first", "second", "probability"]
        table = pd.DataFrame(found, columns=columns)
        return table.sort_values("probability", ascending=False, ignore_index=True)

    def only(self, *judges: str) -> Self:
        """Keep some judges.

        Parameters
        ----------
        *judges : str
            Names.

        Returns
        -------
        Performance
            With fewer columns, in this order.

        Raises
        ------
        InputError
            Where there is no such judge.
        """
        with checking("Performance.only") as require:
            unknown = [j for j in judges if j not in self.judges]
            require(not unknown, f"no judges {unknown}; there are {list(self.judges)}")
        at = [self.judges.index(j) for j in judges]
        return replace(self, judges=judges, values=self.values[:, at], draws=self.draws[:, :, at])

    def under(self, *definitions: str) -> Self:
        """Keep some definitions.

        Parameters
        ----------
        *definitions : str
            As they print themselves, such as ``"mse (srs/srs)"``.

        Returns
        -------
        Performance
            With fewer rows, in the order that they have here.

        Raises
        ------
        InputError
            Where there is no such definition.
        """
        with checking("Performance.under") as require:
            known = [str(d) for d in self.definitions]
            unknown = [d for d in definitions if d not in known]
            require(not unknown, f"no definitions {unknown}; there are {known}")
        at = [i for i, d in enumerate(self.definitions) if str(d) in definitions]
        return replace(
            self,
            definitions=tuple(self.definitions[i] for i in at),
            values=self.values[at],
            draws=self.draws[:, at],
        )

    def _loss(self, values: Any) -> np.ndarray:
        loss = [d.loss(values[..., i, :]) for i, d in enumerate(self.definitions)]
        # what is undefined is never best
        return np.nan_to_num(np.stack(loss, axis=-2), nan=np.inf, posinf=np.inf)

    def _table(self, values: np.ndarray) -> pd.DataFrame:
        names = pd.Index([str(d) for d in self.definitions], name="definition")
        return pd.DataFrame(values, index=names, columns=pd.Index(self.judges, name="judge"))
