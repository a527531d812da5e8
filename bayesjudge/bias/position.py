"""Position bias: the data class `Orders`, pairs judged in both presentation orders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from scipy.special import betaincinv, stdtrit

from bayesjudge.core import dirichlet, methods
from bayesjudge.core.errors import check_ci_prob, check_several, checking, expect
from bayesjudge.core.estimate import Assumption, Caution, Estimate, Quantity
from bayesjudge.core.intervals import holding, z_score
from bayesjudge.core.item_keys import ReadAtOnce
from bayesjudge.core.labels import spell
from bayesjudge.core.names import require_names
from bayesjudge.core.numbers import array_of
from bayesjudge.core.screen import how_many
from bayesjudge.core.tables import count_cells, each_name, read_rows

INDEPENDENT_PAIRS = Assumption.of("independent-pairs")
RANDOM_MISSING = Assumption.of("random-missing")
#: Winners of a verdict by content, in the order of the axes of `Orders.counts`.
WINNERS = ("1", "2", "tie")
#: What a pair is worth to each quantity, by its winner if answer 1 was shown first, and if second.
QUANTITIES: dict[str, tuple[tuple[float, ...], ...]] = {
    "position_preference": ((0, 1, 0.5), (-1, 0, -0.5), (-0.5, 0.5, 0)),
    "consistency": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "primacy": ((0, 1, 0), (0, 0, 0), (0, 0, 0)),
    "recency": ((0, 0, 0), (1, 0, 0), (0, 0, 0)),
    "tie_in_one_order": ((0, 0, 1), (0, 0, 1), (1, 1, 0)),
    "win_rate": ((1, 0.5, 0.75), (0.5, 0, 0.25), (0.75, 0.25, 0.5)),
}
#: Judges shown by name.
SHOWN = 8


@dataclass(frozen=True, eq=False)
class Orders(ReadAtOnce):
    """How often each judge gave each verdict on a pair in one order and in the other.

    Parameters
    ----------
    counts : array_like of int, shape (n_judges, 3, 3)
        Pairs by the winner *by content* (answer 1, answer 2, tie) if answer 1 was shown first, and
        if answer 2 was.
    judges : sequence of str
        Names.
    missing : array_like of int, shape (n_judges,)
        Pairs with a verdict in one order or none.
    products : array_like of int, shape (n_judges, 9, 9), optional
        If pairs were judged several times: over the pairs, the sum of the products of how often
        each two outcomes occurred, outcomes in the order of `counts`. Repeats of a pair are then
        noise, and the pairs the sample.
    n_pairs : array_like of int, shape (n_judges,), optional
        With `products`: pairs.
    answers : tuple of str, optional
        Whose answers 1 and 2 are, if each is one system's in all pairs: `position_bias` then tells
        which of them wins.

    Raises
    ------
    InputError
        If shapes do not fit or a judge has no pair.

    Examples
    --------
    >>> Orders([[[5, 2, 0], [0, 3, 0], [0, 0, 0]]], judges=["gpt"], missing=[1]).pairs
    array([10])
    """

    counts: Any
    judges: Sequence[str]
    missing: Any = None
    products: Any = None
    n_pairs: Any = None
    answers: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "judges", tuple(map(str, self.judges)))
        whole = partial(array_of, int, "bias.Orders")
        object.__setattr__(self, "counts", whole(counts=self.counts))
        lost = np.zeros(len(self.judges)) if self.missing is None else self.missing
        object.__setattr__(self, "missing", whole(missing=lost))
        with checking("bias.Orders") as require:
            shape = (len(self.judges), len(WINNERS), len(WINNERS))
            fits = self.counts.shape == shape and self.missing.shape == shape[:1]
            require(fits, f"counts has shape {self.counts.shape}, expected {shape}")
            together = (self.products is None) == (self.n_pairs is None)
            require(together, "products and n_pairs come together")
            for name, wanted in (("products", (shape[0], 9, 9)), ("n_pairs", shape[:1])):
                if (value := getattr(self, name)) is not None:
                    array = whole(**{name: value})
                    object.__setattr__(self, name, array)
                    words = f"{name} has shape {array.shape}, expected {wanted}"
                    require(array.shape == wanted, words)
            require_names(self.judges, "judges", require)
            require(not fits or np.all(self.counts >= 0), "counts must be 0 or more")
            require(self.judges, "there is no pair")
            empty = [j for j, n in zip(self.judges, self.counts, strict=False) if n.sum() == 0]
            require(not empty, f"judges {empty} have no pair with a verdict in both orders")
            if self.answers is not None:
                object.__setattr__(
                    self, "answers", tuple(map(str, check_several(answers=self.answers)))
                )
                require(len(set(self.answers)) == 2, f"expected two answers, got {self.answers}")

    def __repr__(self) -> str:
        shown = [
            f"  {judge}: {how_many(pairs, 'pair')}{f', {lost} without a verdict' if lost else ''}"
            for judge, pairs, lost in zip(self.judges, self.pairs, self.missing, strict=True)
        ]
        more = [f"  and {len(shown) - SHOWN} more judges"] if len(shown) > SHOWN else []
        return "\n".join(["Pairs judged in both orders", *shown[:SHOWN], *more])

    @property
    def pairs(self) -> np.ndarray:
        """Pairs with a verdict in both orders, by judge."""
        return self.counts.sum(axis=(1, 2)) if self.n_pairs is None else self.n_pairs

    @classmethod
    def from_frame(
        cls,
        table: Any,
        *,
        first: str = "order1",
        second: str = "order2",
        judge: str | Sequence[str] | None = None,
        item: str | None = None,
        winners: tuple[Any, Any] | None = None,
        answers: tuple[str, str] | None = None,
        tie_value: Any = None,
        missing: Literal["drop"] | None = None,
    ) -> Self:
        """Count pairs by what the judge did with the two orders, one row per pair.

        Parameters
        ----------
        table : dataframe
            One row per pair (and judge), or one per repeat of it.
        first, second : str
            Columns with the winner *by content*: where answer 1 was shown first, and where answer 2
            was.
        judge : str or sequence of str, optional
            Column that names the judge, or several such as judge and prompt.
        item : str, optional
            Column that names the pair: rows of one judge that share it are repeats. Without it
            every row is a pair of its own.
        winners : tuple, optional
            Values that mean answer 1 and answer 2; without it 1 and 2.
        answers : tuple of str, optional
            Whose they are, if each is one system's in all pairs; `winners`, if these were given.
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
        >>> Orders.from_frame(rows).counts.tolist()
        [[[1, 1, 0], [1, 0, 0], [0, 0, 0]]]
        """
        if winners is not None:
            winners = check_several(winners=winners)
            two = len(winners) == 2
            expect("bias.Orders", two, "must be the two answers' names", winners=winners)
        if answers is None and winners is not None:
            answers = (str(winners[0]), str(winners[1]))
        winners = winners or (1, 2)
        keys = each_name(judge)
        cells, n_rows = count_cells(table, first, second, names=[*keys, *([item] if item else [])])
        both = list(zip(cells[first], cells[second], strict=True))
        known = _meanings(winners, ("1", "2"), tie_value, "tie")
        with checking("bias.Orders.from_frame") as require:
            said = [cell for pair in both for cell in pair if cell is not None]
            _require_known(said, known, winners, require)
            n = int(n_rows[[None in pair for pair in both]].sum())
            require(
                n == 0 or missing == "drop",
                f"{how_many(n, 'pair', 'lack')} a verdict in one order or both; say "
                "missing='drop' to leave them out",
            )
        meant = ([known.get(spell(cell), "") for cell in pair] for pair in both)
        outcome = np.array([_outcome(a, b) for a, b in meant])
        judge_of = list(zip(*(cells[key] for key in keys), strict=True)) or [()] * len(both)
        judges = sorted(set(judge_of))
        judge_at = np.array([judges.index(judge) for judge in judge_of])
        counts = np.zeros((len(judges), LOST + 1), np.int64)
        np.add.at(counts, (judge_at, outcome), n_rows)
        about: dict[str, Any] = {
            "counts": counts[:, :LOST].reshape(len(judges), 3, 3),
            "judges": [", ".join(judge) or "judge" for judge in judges],
            "missing": counts[:, LOST],
            "answers": answers,
        }
        if item is None:
            return cls(**about)
        pairs, pair_at = np.unique(np.array(cells[item], object), return_inverse=True)
        each, place = np.unique(judge_at * len(pairs) + pair_at, return_inverse=True)
        by_pair = np.zeros((len(each), LOST + 1), np.int64)
        np.add.at(by_pair, (place, outcome), n_rows)
        by_pair, owner = by_pair[:, :LOST], each // len(pairs)
        if by_pair.sum(axis=1).max() < 2:  # no pair has several rows of one judge
            return cls(**about)
        parts = [by_pair[owner == j] for j in range(len(judges))]
        products = np.stack([part.T @ part for part in parts])
        return cls(products=products, n_pairs=[part.any(axis=1).sum() for part in parts], **about)

    @classmethod
    def from_verdicts(
        cls,
        table: Any,
        *,
        item: str,
        shown_first: str = "answer_A",
        shown_second: str = "answer_B",
        verdict: str = "verdict",
        places: tuple[Any, Any] = ("A", "B"),
        judge: str | Sequence[str] | None = None,
        tie_value: Any = None,
        missing: Literal["drop"] | None = None,
    ) -> Self:
        """Count pairs of a table with one row per verdict: what was shown where, which place won.

        Verdicts on a pair in one order meet those in the other in the order of the rows; one that
        is left over lacks the other.

        Parameters
        ----------
        table : dataframe
            One row per verdict (of a judge).
        item : str
            Column that names the prompt whose answers were compared.
        shown_first, shown_second : str
            Columns with the name of the system whose answer was shown first, and second.
        verdict : str
            Column with the place that won.
        places : tuple, default ("A", "B")
            Values that mean the first place and the second.
        judge : str or sequence of str, optional
            Column that names the judge, or several such as judge and prompt.
        tie_value : scalar or list, optional
            Values that mean a tie.
        missing : {"drop"}, optional
            Leave out pairs without a verdict in both orders; required if there are any.

        Returns
        -------
        Orders
            Counts by judge; with two systems in all, they are the `answers`.

        Raises
        ------
        InputError
            If a column is missing, a value is not understood, an answer is compared with itself,
            or `missing=` is required and was not given.

        Examples
        --------
        >>> import pandas as pd
        >>> rows = [("p", "new", "old", "A"), ("p", "old", "new", "A")]
        >>> table = pd.DataFrame(rows, columns=["item", "answer_A", "answer_B", "verdict"])
        >>> found = Orders.from_verdicts(table, item="item")
        >>> found.answers, found.counts.tolist()
        (('new', 'old'), [[[0, 1, 0], [0, 0, 0], [0, 0, 0]]])
        """
        import pandas as pd

        keys = each_name(judge)
        rows = read_rows(table, verdict, names=[*keys, item, shown_first, shown_second])
        known = _meanings(places, (shown_first, shown_second), tie_value, "")
        with checking("bias.Orders.from_verdicts") as require:
            _require_known(rows[verdict].dropna(), known, places, require)
            same = int((rows[shown_first] == rows[shown_second]).sum())
            require(not same, f"{how_many(same, 'row')}: {shown_first} and {shown_second} agree")
        names = sorted({*rows[shown_first], *rows[shown_second]})
        pair = [
            tuple(sorted(systems))
            for systems in zip(rows[shown_first], rows[shown_second], strict=True)
        ]
        order = np.where(rows[shown_first] == [systems[0] for systems in pair], "first", "second")
        winner = [
            None if pd.isna(said) else _content(row, known[spell(said)], two)
            for said, row, two in zip(rows[verdict], rows.to_dict("records"), pair, strict=True)
        ]
        named = [f"judge{i}" for i in range(len(keys))]
        long = rows[[*keys, item]].set_axis([*named, "item"], axis=1)
        long = long.assign(pair=pair, order=order, winner=winner)
        long["turn"] = long.groupby([*named, "item", "pair", "order"]).cumcount()
        wide = long.set_index([*named, "item", "pair", "turn", "order"])["winner"].unstack("order")
        wide = wide.reindex(columns=["first", "second"]).reset_index()
        return cls.from_frame(
            wide,
            first="first",
            second="second",
            judge=named or None,
            item="item",
            answers=(names[0], names[1]) if len(names) == 2 else None,
            tie_value="tie",
            missing=missing,
        )

    def _effective(self, weights: np.ndarray, ci_prob: float) -> np.ndarray:
        """Counts of independent pairs that tell a weighted share as well, by judge and outcome.

        Contributions are summed by pair; the design effect, times n / (n - 1) and the square of t
        over the normal quantile for n pairs, divides the counts.
        """
        counts = self.counts.reshape(len(self.judges), -1)
        if self.products is None or self.n_pairs is None:
            return counts
        rows = counts.sum(axis=1)
        share = counts @ weights / rows
        centred = weights - share[:, None]
        by_pair = np.einsum("jk,jkl,jl->j", centred, self.products, centred) / rows**2
        alone = ((counts * centred**2).sum(axis=1)) / rows**2
        usual = self.products.sum(axis=(1, 2)) / rows  # rows a pair, on average over rows
        with np.errstate(divide="ignore", invalid="ignore"):
            effect = np.where(alone > 0, np.maximum(by_pair / alone, 1), usual)
            n = self.n_pairs
            t = stdtrit(n - 1.0, (1 + ci_prob) / 2)
            factor = effect * n / (n - 1) * (t / z_score(ci_prob)) ** 2
        return np.where(n > 1, 1 / factor, 0.0)[:, None] * counts

    def _posterior(self, weights: np.ndarray, ci_prob: float) -> tuple[np.ndarray, np.ndarray]:
        """Values that a pair can have, and the Dirichlet posterior of their shares, by judge."""
        levels, at = np.unique(weights, return_inverse=True)
        return levels, dirichlet.posterior(
            self._effective(weights, ci_prob) @ np.eye(len(levels))[at]
        )


#: Outcome of a pair without a verdict in both orders, after the nine others.
LOST = len(WINNERS) ** 2


def position_bias(orders: Orders, *, ci_prob: float = 0.95) -> Estimate:
    """Tell what the place of an answer does to each judge's verdicts, with exact posteriors.

    Parameters
    ----------
    orders : Orders
        Pairs judged in both orders.
    ci_prob : float, default 0.95
        Probability of the equal-tailed intervals.

    Returns
    -------
    Estimate
        By judge ``position_preference``, how much more often the first place wins than the second,
        over all verdicts, ties included. Shares of pairs, which add up to 1: ``consistency``, the
        same winner in both orders (or a tie in both); ``primacy`` and ``recency``, the first place
        or the second wins both times; ``tie_in_one_order``. If `orders` names whose answers 1 and 2
        are, ``win_rate`` of each with the place taken out: its share of the points over both
        orders, half a point each for a tie. Values are the shares observed; intervals are those of
        the Dirichlet posterior whose prior is worth one pair, spread evenly over the values that a
        pair can have (of a share it is Jeffreys'; ``benchmarks/bias/orders.py``). Of pairs that
        were judged several times, counts are divided by the design effect, so that the interval is
        that of the pairs.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.

    Notes
    -----
    A preference for a place adds to an answer's points in one order what it takes in the other, so
    that it does not move the win rate; it may still hide differences, since a pair that the place
    decides tells nothing.

    Examples
    --------
    >>> found = position_bias(Orders([[[50, 15, 0], [5, 30, 0], [0, 0, 0]]], judges=["gpt"]))
    >>> [round(x, 3) for x in found["position_preference", "gpt"]]
    [0.1, 0.015, 0.187]
    """
    check_ci_prob(ci_prob)
    ends = np.array([(1 - ci_prob) / 2, (1 + ci_prob) / 2])
    quantities = {}
    for quantity, table in QUANTITIES.items():
        if quantity == "win_rate" and orders.answers is None:
            continue
        weights = np.ravel(table)
        levels, posterior = orders._posterior(weights, ci_prob)
        flat = orders.counts.reshape(len(orders.judges), -1)
        value = flat @ weights / flat.sum(axis=1)
        if len(levels) == 2:  # one outcome against the rest: Beta, by aggregation
            rest, success = posterior.T
            low, high = (betaincinv(success, rest, end) for end in ends)
        else:
            low, high = dirichlet.quantile(posterior[:, None, :], levels, ends).T
        columns: tuple[Any, ...] = holding(value, low, high)
        where: dict[str, Any] = {"judge": orders.judges}
        if quantity == "win_rate":
            value, low, high = columns
            other = 1 - value, 1 - high, 1 - low
            columns = tuple(np.stack(pair, axis=1) for pair in zip(columns, other, strict=True))
            where["answer"] = orders.answers
        quantities[quantity] = Quantity.over(columns, where)
    lost = int(orders.missing.sum())
    return Estimate(
        quantities,
        method=methods.ORDERS,
        ci_prob=ci_prob,
        source="Dirichlet-multinomial; both presentation orders as neighbours (Feuer et al. 2026)",
        interval="equal-tailed",
        assumptions=(INDEPENDENT_PAIRS, *(RANDOM_MISSING,) * bool(lost)),
        cautions=(Caution.of("missing-verdicts", lost=lost),) if lost else (),
        data=orders,
    )


def chance_ahead(orders: Orders, *, ci_prob: float = 0.95) -> np.ndarray:
    """Posterior probability, by judge, that answer 1 has more than half of the points."""
    levels, posterior = orders._posterior(np.ravel(QUANTITIES["win_rate"]), ci_prob)
    half = np.full(len(posterior), 0.5)
    return 1 - dirichlet.distribution(posterior, levels, half)[0]


def _meanings(values: Any, meant: tuple[str, str], tie_value: Any, tie: str) -> dict[str, str]:
    """What two values mean, and those of a tie, by their spelling."""
    ties = tie_value if isinstance(tie_value, list | tuple) else [tie_value]
    known = {spell(value): word for value, word in zip(values, meant, strict=False)}
    return known | {spell(t): tie for t in ties if t is not None}


def _require_known(
    said: Iterable[Any], known: Mapping[str, str], values: Any, require: Any
) -> None:
    strange = sorted({spell(v) for v in said} - set(known))
    require(not strange, f"values {strange} are neither of {values} nor a tie; say which")


def _outcome(first: str, second: str) -> int:
    """Place of a pair in the table of both winners."""
    if not first or not second:
        return LOST
    return WINNERS.index(first) * len(WINNERS) + WINNERS.index(second)


def _content(row: dict[str, Any], place: str, pair: tuple[str, ...]) -> str:
    """The winner by content, from the column whose place won; none of a tie."""
    return "tie" if not place else WINNERS[pair.index(row[place])]
