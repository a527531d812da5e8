"""Checks of repeated scores: order effects, copies, shared names, answers without a score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from bayesjudge.core.diagnosis import cautions_of, findings
from bayesjudge.core.estimate import Assumption, Caution, Target
from bayesjudge.repeats.data import Scores

DRAWN = Assumption.of("drawn-judges")
EXCHANGEABLE = Assumption.of("exchangeable-repeats")
IID = Assumption.of("identical-answers")

#: Probability with which exchangeable repeats raise a caution of their order, all tests together.
ORDER_P = 0.01
#: Cautions that tell of an order.
OF_ORDER = {"copied-repeats", "order-effect"}
#: Orders drawn to learn how rare a statistic is that its normal approximation calls rare, and the
#: largest number of scores for which that is done: beyond, the approximation is good.
ORDERS, MOST_SCORES = 2000, 20_000
#: Orders drawn at a time.
BATCH = 100
#: A normal approximation is asked to be this small before orders are drawn.
SCREEN = 0.02
#: Share of the cells with differing scores in which all calls but the first are equal, from which
#: on that is called copying.
COPIED = 0.8
#: A cell with so many times the usual repeats may be two items of one name.
TWICE = 1.9


class OrderEffect(NamedTuple):
    """One way in which the order of repeats shows.

    Parameters
    ----------
    effect : float
        ``first_call``: first call less the mean of its cell; ``drift``: change per call; both in
        the units of the scale. ``one_call``: share of the squared deviations of a cell that fall
        on `call`, less the share expected. ``repetition``: share of calls equal to the one before,
        less the share expected.
    z : float
        In standard deviations of its distribution over all orders of the same scores.
    p_value : float
        Two-sided; for ``one_call`` that of the most extreme call among all.
    call : int or None
        For ``one_call``, which call it is, from 1.
    """

    effect: float
    z: float
    p_value: float
    call: int | None = None


def order_effects(scores: Scores) -> dict[str, OrderEffect]:
    """Test whether repeats are exchangeable, by four statistics of their order.

    Given each cell's scores, every order of them is equally likely if repeats are exchangeable, so
    that mean and variance of each statistic are known exactly, without a model. Where the normal
    approximation calls one rare, the p-value is computed from orders drawn at random.

    Parameters
    ----------
    scores : Scores
        With ``sequence``, which `Scores.from_frame` fills in.

    Returns
    -------
    dict of str to OrderEffect
        ``"first_call"``, ``"drift"``, ``"one_call"`` and ``"repetition"``; ``nan`` if no cell with
        a known order has two scores that differ.

    Examples
    --------
    >>> scores = Scores.from_values([2, 4, 5, 4, 5, 4, 5, 5, 4], scale=[1, 2, 3, 4, 5])
    >>> {name: round(effect.z, 2) for name, effect in order_effects(scores).items()}
    {'first_call': -2.43, 'drift': 1.46, 'one_call': 2.78, 'repetition': -1.34}
    """
    cells = _Cells.of(scores)
    if cells is None:
        nothing = OrderEffect(np.nan, np.nan, np.nan)
        return dict.fromkeys(("first_call", "drift", "one_call", "repetition"), nothing)
    effects, z = cells.effects(), cells.z(cells.values)
    calls = z.pop("one_call")
    extreme = int(np.abs(calls).argmax())
    largest = {**{name: abs(x) for name, x in z.items()}, "one_call": abs(calls[extreme])}
    p = {name: 2 * float(ndtr(-x)) for name, x in largest.items()}
    p["one_call"] = min(1.0, p["one_call"] * len(calls))
    if min(p.values()) < SCREEN and len(cells.values) <= MOST_SCORES:
        p = {n: max(p[n], drawn) for n, drawn in _drawn_p(cells, largest).items()}
    shown = {**effects, "one_call": effects["one_call"][extreme]}
    z["one_call"] = calls[extreme]
    at = {"one_call": extreme + 1}
    return {n: OrderEffect(float(shown[n]), float(z[n]), p[n], at.get(n)) for n in effects}


def without_copies(scores: Scores) -> Scores:
    """Keep the first two calls of every item and judge: the sample, if a cache gave the others."""
    n = scores.repeats.ravel()
    place = np.arange(n.sum()) - np.repeat(n.cumsum() - n, n)
    kept = place < 2
    sequence, width = scores.sequence[kept], len(scores.scale)
    keys = np.repeat(np.arange(n.size), n)[kept] * width + sequence
    counts = np.bincount(keys, minlength=n.size * width).reshape(scores.counts.shape)
    return replace(scores, counts=counts, sequence=sequence)


def checked(scores: Scores) -> tuple[Scores, tuple[Caution, ...]]:
    """Take out copies and items without a score; with the cautions of the scores as they came."""
    cautions = cautions_of(scores)
    raised = {caution.id for caution in cautions}
    if "copied-repeats" in raised:
        scores = without_copies(scores)
    return (_with_scores_only(scores) if "no-score" in raised else scores), cautions


def usable(scores: Scores) -> Scores:
    """What a method computes with: `checked`, without its cautions."""
    return checked(scores)[0]


def _with_scores_only(scores: Scores) -> Scores:
    """Leave out items of which nothing was read."""
    read = scores.repeats.sum(axis=1) > 0
    items = [item for item, there in zip(scores.items, read, strict=True) if there]
    return replace(scores, items=items, counts=scores.counts[read], unparsed=scores.unparsed[read])


@findings.register
def _of_scores(scores: Scores, target: Target) -> tuple[Caution, ...]:
    """List what these scores raise: ``order-effect`` or ``copied-repeats``, ``shared-name``,
    ``no-score`` and ``unparsed-answers``.
    """
    return (*_of_order(scores), *_of_names(scores), *_of_gaps(scores))


def _of_order(scores: Scores) -> list[Caution]:
    effects = order_effects(scores)
    copies, cells = _copies(scores, effects)
    if copies:
        most = int(scores.repeats.max())
        return [Caution.of("copied-repeats", copies=copies, cells=cells, most=most)]
    words = {
        "first_call": "the first call scores {:+.3f} against the mean of all calls",
        "drift": "scores change by {:+.3f} with each further call",
        "one_call": "call {call} holds {:+.1%} more of its cell's scatter than others do",
        "change": "calls repeat the answer of the call before {:.1%} less often than by chance",
        "repetition": "calls repeat the answer of the call before {:.1%} more often than by chance",
    }
    cautions = []
    for name, effect in effects.items():
        if effect.p_value < ORDER_P / len(effects):
            effect_words = words[name].format(effect.effect, call=effect.call)
            if name == "repetition" and effect.effect < 0:
                effect_words = words["change"].format(-effect.effect)
            alone = len(scores.items) * len(scores.judges) == 1 and name == "repetition"
            rows = "; or the rows are of several items, one after another" if alone else ""
            cautions.append(
                Caution.of("order-effect", effect=effect_words, p_value=effect.p_value, rows=rows)
            )
    return cautions


def _of_names(scores: Scores) -> list[Caution]:
    n = scores.repeats + scores.unparsed
    usual = float(np.median(n[n > 0]))
    far = np.argwhere(n >= max(TWICE * usual, 3)) if (n > 0).sum() > 2 else np.empty((0, 2), int)
    if not len(far):
        return []
    i, j = far[0].tolist()
    return [
        Caution.of(
            "shared-name",
            cells=len(far),
            usual=usual,
            item=scores.items[i],
            judge=scores.judges[j],
            answers=n[i, j],
        )
    ]


def _of_gaps(scores: Scores) -> list[Caution]:
    cautions = []
    empty = [scores.items[i] for i in np.flatnonzero(scores.repeats.sum(axis=1) == 0).tolist()]
    if empty:
        cautions.append(
            Caution.of(
                "no-score",
                empty=len(empty),
                items=len(scores.items),
                names=empty[:5],
                more=", …" if len(empty) > 5 else "",
            )
        )
    unread = int(scores.unparsed.sum())
    if not unread:
        return cautions
    total = unread + int(scores.repeats.sum())
    worst = divmod(int(scores.unparsed.argmax()), len(scores.judges))
    most = f" (most, {scores.unparsed[worst]}, from {scores.judges[worst[1]]} on "
    most += f"{scores.items[worst[0]]})"
    several = bool(scores.unparsed[worst] > 1)
    return [
        *cautions,
        Caution.of("unparsed-answers", "scores", unread=unread, total=total, most=most * several),
    ]


# Statistics of the order -------------------------------------------------------------------------


@dataclass(frozen=True)
class _Cells:
    """Cells with a known order and scores that differ, one after another.

    `values` holds their scores in the order asked, `starts` where each begins and `n` its length.
    """

    values: np.ndarray
    starts: np.ndarray
    n: np.ndarray

    @classmethod
    def of(cls, scores: Scores) -> _Cells | None:
        usable = ((scores.repeats > 1) & (scores.deviations > 0)).ravel()
        if scores.sequence is None or not usable.any():
            return None
        n = scores.repeats.ravel()
        values = np.array(scores.scale)[scores.sequence[np.repeat(usable, n)]]
        return cls(values, (n[usable].cumsum() - n[usable]), n[usable])

    @cached_property
    def cell(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.n)), self.n)

    @cached_property
    def place(self) -> np.ndarray:
        """Position of each score in its cell, from 0."""
        return np.arange(len(self.values)) - self.starts[self.cell]

    @cached_property
    def later(self) -> np.ndarray:
        """Places of the scores that have one before them."""
        return np.flatnonzero(self.place > 0)

    @cached_property
    def means(self) -> np.ndarray:
        return self._sums(self.values) / self.n

    @cached_property
    def spread(self) -> np.ndarray:
        return self._sums((self.values - self.means[self.cell]) ** 2)

    @cached_property
    def expected(self) -> dict[str, Any]:
        """Expectation of each statistic over all orders."""
        n, (_, pairs, _) = self.n, self._ties
        return {"first_call": 0.0, "drift": 0.0, "repetition": (pairs / n).sum()} | {
            "one_call": np.bincount(self.place, weights=(1 / n)[self.cell])
        }

    @cached_property
    def sds(self) -> dict[str, Any]:
        """Standard deviation of each statistic over all orders."""
        n, spread = self.n.astype(float), self.spread
        positions = n * (n**2 - 1) / 12
        # a sum over c_r x_r with sum of c = 0 has variance |c|^2 spread / (n - 1)
        variances: dict[str, Any] = {
            "first_call": (spread / n).sum(),
            "drift": (positions * spread / (n - 1)).sum(),
        }
        shares = self._shares(self.values)
        of_cell = self._sums(shares**2) / n - 1 / n**2
        variances["one_call"] = np.bincount(self.place, weights=of_cell[self.cell])
        # of runs of several kinds: Barton & David (1957), Biometrika 44, 168-178
        squares, _, cubes = self._ties
        runs = squares * (squares + n * (n + 1)) - 2 * n * cubes - n**3
        variances["repetition"] = (runs / (n**2 * (n - 1))).sum()
        return {name: np.sqrt(np.maximum(v, 0)) for name, v in variances.items()}

    @cached_property
    def by_place(self) -> tuple[np.ndarray, np.ndarray]:
        """Scores sorted by position, and where each position begins."""
        return np.argsort(self.place, kind="stable"), np.unique(
            np.sort(self.place), return_index=True
        )[1]

    def statistics(self, values: np.ndarray) -> dict[str, Any]:
        """Of orders (..., score) of the scores."""
        centred = self.place - (self.n[self.cell] - 1) / 2
        sorted_, begins = self.by_place
        return {
            "first_call": values[..., self.starts].sum(axis=-1) - self.means.sum(),
            "drift": values @ centred,
            "one_call": np.add.reduceat(self._shares(values)[..., sorted_], begins, axis=-1),
            "repetition": (values[..., self.later] == values[..., self.later - 1]).sum(axis=-1),
        }

    def z(self, values: np.ndarray) -> dict[str, Any]:
        statistics = self.statistics(values)
        with np.errstate(invalid="ignore", divide="ignore"):
            z = {
                name: (statistics[name] - self.expected[name]) / self.sds[name]
                for name in statistics
            }
        # a statistic that has one value over all orders says nothing
        return {name: np.where(self.sds[name] > 1e-9, of, 0.0)[()] for name, of in z.items()}

    def effects(self) -> dict[str, Any]:
        """Statistics in units that mean something."""
        statistics, n = self.statistics(self.values), self.n
        sizes: dict[str, Any] = {"first_call": len(n), "drift": (n * (n**2 - 1) / 12).sum()}
        sizes |= {"one_call": np.bincount(self.place), "repetition": len(self.later)}
        return {name: (statistics[name] - self.expected[name]) / sizes[name] for name in statistics}

    @cached_property
    def _ties(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """By cell, sums over the values k of n_k squared, n_k (n_k - 1) and n_k cubed."""
        values, at = np.unique(self.values, return_inverse=True)
        keys = self.cell * len(values) + at
        counts = np.bincount(keys, minlength=len(self.n) * len(values)).reshape(len(self.n), -1)
        squares = (counts**2).sum(axis=1)
        return squares, squares - self.n, (counts**3).sum(axis=1)

    def _shares(self, values: np.ndarray) -> np.ndarray:
        """Share of its cell's squared deviations that each score has."""
        return (values - self.means[self.cell]) ** 2 / self.spread[self.cell]

    def _sums(self, values: np.ndarray) -> np.ndarray:
        return np.add.reduceat(values, self.starts)


def _drawn_p(cells: _Cells, largest: dict[str, float]) -> dict[str, float]:
    """How often orders drawn at random give statistics as extreme."""
    rng = np.random.default_rng(0)
    beyond = dict.fromkeys(largest, 1)
    for size in [BATCH] * (ORDERS // BATCH):
        order = np.argsort(cells.cell + rng.random((size, len(cells.values))), axis=-1)
        for name, z in cells.z(cells.values[order]).items():
            most = np.abs(z).max(axis=-1) if name == "one_call" else np.abs(z)
            beyond[name] += int((most >= largest[name] - 1e-9).sum())
    return {name: count / (ORDERS + 1) for name, count in beyond.items()}


def _copies(scores: Scores, effects: dict[str, OrderEffect]) -> tuple[int, int]:
    """In how many cells all calls after the first are copies, and of how many; 0 if by chance."""
    shown = min(effects["one_call"].p_value, effects["repetition"].p_value)
    cells = _Cells.of(scores)
    if cells is None or not shown < ORDER_P / len(effects):
        return 0, 0
    change = np.zeros(len(cells.values), bool)
    change[cells.later] = cells.values[cells.later] != cells.values[cells.later - 1]
    long = cells.n > 2
    alike = cells._sums((change & (cells.place > 1)).astype(int)) == 0
    copies, among = int((alike & long).sum()), int(long.sum())
    return (copies, among) if among and copies >= COPIED * among else (0, 0)
