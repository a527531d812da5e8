"""Position bias: the data class `Orders`, pairs judged in both presentation orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from scipy.special import betaincinv, stdtrit

from bayesjudge.core import dirichlet
from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.estimate import Assumption, Caution, Estimate, Quantity
from bayesjudge.core.intervals import z_score
from bayesjudge.core.item_keys import ReadAtOnce
from bayesjudge.core.labels import spell
from bayesjudge.core.names import require_names
from bayesjudge.core.screen import how_many
from bayesjudge.core.tables import count_rows

if TYPE_CHECKING:
    import pandas as pd

INDEPENDENT_PAIRS = Assumption(
    "independent-pairs", "pairs are independent (if some repeat, name the column that tells which)"
)
RANDOM_MISSING = Assumption("random-missing", "missing verdicts do not depend on the outcome")
#: What a judge can do with a pair in both orders.
OUTCOMES = ("consistent", "primacy", "recency", "half_tie")
#: Judges shown by name.
SHOWN = 8


@dataclass(frozen=True, eq=False)
class Orders(ReadAtOnce):
    """How often each judge chose the same answer in both orders, or the same place.

    Parameters
    ----------
    counts : array_like of int, shape (n_judges, 4)
        Pairs in which the judge was consistent (the same winner, or a tie twice), chose the first
        place twice (primacy), chose the second twice (recency), or tied in one order only.
    judges : sequence of str
        Names.
    missing : array_like of int, shape (n_judges,)
        Pairs with a verdict in one order or none.
    products : array_like of int, shape (n_judges, 4, 4), optional
        If pairs were judged several times: over the pairs, the sum of the products of how often
        each two outcomes occurred. Repeats of a pair are then noise, and the pairs the sample.
    n_pairs : array_like of int, shape (n_judges,), optional
        With `products`: pairs.

    Raises
    ------
    InputError
        If shapes do not fit or a judge has no pair.

    Examples
    --------
    >>> Orders([[8, 2, 0, 0]], judges=["gpt"], missing=[1]).pairs
    array([10])
    """

    counts: Any
    judges: Sequence[str]
    missing: Any = None
    products: Any = None
    n_pairs: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "judges", tuple(map(str, self.judges)))
        object.__setattr__(self, "counts", np.asarray(self.counts, dtype=np.int64))
        lost = np.zeros(len(self.judges)) if self.missing is None else self.missing
        object.__setattr__(self, "missing", np.asarray(lost, dtype=np.int64))
        with checking("bias.Orders") as require:
            shape = (len(self.judges), len(OUTCOMES))
            fits = self.counts.shape == shape and self.missing.shape == shape[:1]
            require(fits, f"counts has shape {self.counts.shape}, expected {shape}")
            together = (self.products is None) == (self.n_pairs is None)
            require(together, "products and n_pairs come together")
            for name, wanted in (("products", (*shape, shape[1])), ("n_pairs", shape[:1])):
                if (value := getattr(self, name)) is not None:
                    array = np.asarray(value, dtype=np.int64)
                    object.__setattr__(self, name, array)
                    words = f"{name} has shape {array.shape}, expected {wanted}"
                    require(array.shape == wanted, words)
            require_names(self.judges, "judges", require)
            require(not fits or np.all(self.counts >= 0), "counts must be 0 or more")
            require(self.judges, "there is no pair")
            empty = [j for j, n in zip(self.judges, self.counts, strict=False) if n.sum() == 0]
            require(not empty, f"judges {empty} have no pair with a verdict in both orders")

    def __repr__(self) -> str:
        shown = [
            f"  {judge}: {how_many(pairs, 'pair')}{f', {lost} without a verdict' if lost else ''}"
            for judge, pairs, lost in zip(self.judges, self.pairs, self.missing, strict=True)
        ]
        more = [f"  and {len(shown) - SHOWN} more judges"] if len(shown) > SHOWN else []
        return "\n".join(["Pairs judged in both orders", *shown[:SHOWN], *more])

    def _repr_html_(self) -> str:
        return "<br>".join(escape(line.strip()) for line in repr(self).splitlines())

    @property
    def pairs(self) -> np.ndarray:
        """Pairs with a verdict in both orders, by judge."""
        return self.counts.sum(axis=1) if self.n_pairs is None else self.n_pairs

    @classmethod
    def from_frame(
        cls,
        table: Any,
        *,
        first: str = "order1",
        second: str = "order2",
        judge: str | Sequence[str] | None = None,
        item: str | None = None,
        winners: tuple[Any, Any] = (1, 2),
        tie_value: Any = None,
        missing: Literal["drop"] | None = None,
    ) -> Self:
        """Count pairs by what the judge did with the two orders.

        Parameters
        ----------
        table : dataframe
            One row a pair (and judge), or one a repeat of it.
        first, second : str
            Columns with the winner *by content*: where answer 1 was shown first, and where answer 2
            was.
        judge : str or sequence of str, optional
            Column that names the judge, or several such as judge and prompt.
        item : str, optional
            Column that names the pair: rows of one judge that share it are repeats. Without it
            every row is a pair of its own.
        winners : tuple, default (1, 2)
            Values that mean answer 1 and answer 2.
        tie_value : scalar or list, optional
            Values that mean a tie.
        missing : {"drop"}, optional
            Leave out pairs without a verdict in both orders; required if there are any.

        Returns
        -------
        Orders
            Counts by judge.

        Raises
        ------
        InputError
            If a column is missing, a value is not understood, or `missing=` is required and was
            not given.

        Examples
        --------
        >>> import pandas as pd
        >>> rows = pd.DataFrame({"order1": [1, 1, 2], "order2": [1, 2, 1]})
        >>> Orders.from_frame(rows).counts
        array([[1, 1, 1, 0]])
        """
        keys = [judge] if isinstance(judge, str) else list(judge or [])
        rows = count_rows(table, first, second, names=[*keys, *([item] if item else [])])
        ties = tie_value if isinstance(tie_value, list | tuple) else [tie_value]
        known = {spell(winners[0]): "1", spell(winners[1]): "2"}
        known |= {spell(t): "tie" for t in ties if t is not None}
        with checking("bias.Orders.from_frame") as require:
            found = {spell(v) for c in (first, second) for v in rows[c].dropna()}
            strange = sorted(found - set(known))
            require(not strange, f"values {strange} are neither of {winners} nor a tie; say which")
            lost = rows[first].isna() | rows[second].isna()
            n = int(rows["n_rows"][lost].sum())
            require(
                n == 0 or missing == "drop",
                f"{how_many(n, 'pair', 'lack')} a verdict in one order or both; say "
                "missing='drop' to leave them out",
            )
        pair = [rows[c].map(lambda v: known.get(spell(v), "")) for c in (first, second)]
        outcome = [_outcome(a, b) for a, b in zip(*pair, strict=True)]
        judge_of = [tuple(row[key] for key in keys) for row in rows.to_dict("records")]
        judges, kinds = sorted(set(judge_of)), [*OUTCOMES, ""]
        counts = np.zeros((len(judges), len(kinds)), np.int64)
        at = [judges.index(judge) for judge in judge_of], [kinds.index(kind) for kind in outcome]
        np.add.at(counts, at, rows["n_rows"])
        names = [", ".join(judge) or "judge" for judge in judges]
        if item is None or not _repeats(rows, [*keys, item], outcome):
            return cls(counts[:, :-1], names, counts[:, -1])
        pairs = sorted(set(zip(at[0], rows[item], strict=True)))
        place = {pair: i for i, pair in enumerate(pairs)}
        each = np.zeros((len(pairs), len(kinds)), np.int64)
        pair_of = [place[pair] for pair in zip(at[0], rows[item], strict=True)]
        np.add.at(each, (pair_of, at[1]), rows["n_rows"])
        own, each = np.array([judge for judge, _ in pairs]), each[:, :-1]
        products = np.stack([each[own == j].T @ each[own == j] for j in range(len(judges))])
        seen = np.bincount(own[each.any(axis=1)], minlength=len(judges))
        return cls(counts[:, :-1], names, counts[:, -1], products, seen)

    def _effective(self, weights: np.ndarray, ci_prob: float) -> np.ndarray:
        """Counts of independent pairs that tell a weighted share as well, by judge.

        Contributions are summed by pair; the design effect, times n / (n - 1) and the square of t
        over the normal quantile for n pairs, divides the counts.
        """
        if self.products is None or self.n_pairs is None:
            return self.counts
        rows = self.counts.sum(axis=1)
        share = self.counts @ weights / rows
        centred = weights - share[:, None]
        by_pair = np.einsum("jk,jkl,jl->j", centred, self.products, centred) / rows**2
        alone = ((self.counts * centred**2).sum(axis=1)) / rows**2
        usual = self.products.sum(axis=(1, 2)) / rows  # rows a pair, on average over rows
        with np.errstate(divide="ignore", invalid="ignore"):
            effect = np.where(alone > 0, np.maximum(by_pair / alone, 1), usual)
            n = self.n_pairs
            t = stdtrit(n - 1.0, (1 + ci_prob) / 2)
            factor = effect * n / (n - 1) * (t / z_score(ci_prob)) ** 2
        return np.where(n > 1, 1 / factor, 0.0)[:, None] * self.counts


def position_bias(orders: Orders, *, ci_prob: float = 0.95) -> Estimate:
    """Tell consistency, primacy and recency of each judge, with their exact posteriors.

    Parameters
    ----------
    orders : Orders
        Pairs judged in both orders.
    ci_prob : float, default 0.95
        Probability of the equal-tailed intervals.

    Returns
    -------
    Estimate
        By judge, shares of pairs: ``consistency``; ``primacy`` and ``recency``, the place chosen
        twice; ``position_preference``, primacy less recency, above 0 where the first place is
        preferred. Posterior means under a Dirichlet prior with Jeffreys' mass of 1/2 an outcome;
        the posterior of each is exact. Of pairs that were judged several times, counts are divided
        by the design effect, so that the interval is that of the pairs.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.

    Examples
    --------
    >>> found = position_bias(Orders([[80, 15, 5, 0]], judges=["gpt"]))
    >>> [round(x, 3) for x in found["position_preference", "gpt"]]
    [0.098, 0.014, 0.186]
    """
    check_ci_prob(ci_prob)
    asked = {
        "consistency": (1, 0, 0, 0),
        "primacy": (0, 1, 0, 0),
        "recency": (0, 0, 1, 0),
        "position_preference": (0, 1, -1, 0),
    }
    ends = (1 - ci_prob) / 2, (1 + ci_prob) / 2
    made = {}
    for quantity, weights in asked.items():
        posterior = orders._effective(np.array(weights), ci_prob) + 0.5
        total, own = posterior.sum(axis=1), posterior @ np.array(weights)
        if min(weights) == 0:  # one outcome against the rest: Beta, by aggregation
            low, high = (betaincinv(own, total - own, end) for end in ends)
        else:
            low, high = dirichlet.quantile(posterior[:, None, :], weights, np.array(ends)).T
        made[quantity] = Quantity.over((own / total, low, high), {"judge": orders.judges})
    lost = int(orders.missing.sum())
    text = f"{how_many(lost, 'pair')} without a verdict in one order or both left out"
    return Estimate(
        made,
        method="Position bias, Dirichlet posterior",
        ci_prob=ci_prob,
        source="Dirichlet-multinomial; both presentation orders as neighbours (Feuer et al. 2026)",
        interval="equal-tailed",
        assumptions=(INDEPENDENT_PAIRS, *(RANDOM_MISSING,) * bool(lost)),
        cautions=(Caution("missing-verdicts", text),) if lost else (),
        data=orders,
    )


def _repeats(rows: pd.DataFrame, keys: list[str], outcome: list[str]) -> bool:
    """Whether a pair has several rows of one judge with a verdict in both orders."""
    told = np.array([bool(one) for one in outcome])
    return bool((rows[told].groupby(keys)["n_rows"].sum() > 1).any())


def _outcome(first: str, second: str) -> str:
    if not first or not second:
        return ""
    if first == second:
        return "consistent"
    if "tie" in (first, second):
        return "half_tie"
    return "primacy" if first == "1" else "recency"
