"""One shopping list: labels, judged items, calls and judges that a goal takes, and their price."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from scipy.special import ndtr, ndtri

from bayesjudge.core.errors import check_ci_prob, checking, expect
from bayesjudge.core.intervals import z_score
from bayesjudge.core.labels import read_labels
from bayesjudge.core.numbers import array_of, scores_of
from bayesjudge.core.planning import Parts, explained_by_calls, fewest
from bayesjudge.core.randomness import rng_of
from bayesjudge.core.screen import few, how_many
from bayesjudge.core.tables import each_name, read_rows

if TYPE_CHECKING:
    import pandas as pd

#: Goods that have a price: a person's label, a judge's call, an item to be judged.
GOODS = ("label", "call", "item")
PEOPLE = "people only"
DRAWS = 1000
#: Sizes of the judged sample that are tried, and calls on one output.
SIZES, CALLS = 40, (1, 2, 3, 5)
#: By how much the pilot flatters the sizes that are cheapest for a width, as a normal quantile:
#: ``python benchmarks/decide/shopping.py``.
FLATTERED = 0.15
#: Points of a pilot's mean, nodes of its posterior, and the largest plan, in hundredths of it.
POINTS, NODES, LARGEST = 161, 20, 10**9
#: Fewest labels of a pilot.
LEAST_PILOT = 10
#: Where items can be bought: most labels, and most judged items to a label of the pilot.
MOST_LABELS, MOST_TIMES = 10**7, 1000


@dataclass(frozen=True, eq=False, repr=False)
class Pilot:
    """What people and judges said of a few items, of which a plan is made.

    Parameters
    ----------
    truth : array_like of float, shape (n_items,)
        What people said of items drawn at random.
    judged : array_like of float, shape (n_items, n_judges)
        What each judge said of them.
    judges : sequence of str
        Their names.
    repeats : sequence of array_like, shape (n_outputs, n_calls), optional
        By judge, several calls on each output, ``nan`` where there is none; empty of a judge that
        was asked once.
    outputs : int, default 1
        Outputs of an item, each with a label and calls of its own: 2 of differences of systems.
    unpaired : Parts, optional
        Of differences: what the variance would be on items that systems do not share.
    judged_n : sequence of int, optional
        By judge, items that it saw already, those of the pilot among them; these by default.

    Raises
    ------
    InputError
        If shapes do not fit, or there are fewer than 10 items.

    Examples
    --------
    >>> pilot = Pilot([1, 1, 0, 1] * 10, np.transpose([[1, 1, 0, 0] * 10]), ["gpt"])
    >>> pilot.binary
    True
    """

    truth: Any
    judged: Any
    judges: Sequence[str]
    repeats: Sequence[Any] = ()
    outputs: int = 1
    unpaired: Parts | None = None
    judged_n: Sequence[int] = ()

    def __post_init__(self) -> None:
        given = {"truth": self.truth, "judged": self.judged}
        truth, judged = (array_of(float, "decide.Pilot", **{n: v}) for n, v in given.items())
        with checking("decide.Pilot") as require:
            shape = (truth.size, len(self.judges))
            require(judged.shape == shape, f"judged: expected shape {shape}, got {judged.shape}")
            known = np.isfinite(truth).all() and np.isfinite(judged).all()
            require(known, "each item needs people's label and each judge's verdict")
            enough = truth.size >= LEAST_PILOT
            words = f"{how_many(truth.size, 'item')} with a label and every verdict"
            require(enough, f"{words}: a pilot takes {LEAST_PILOT} or more")
        object.__setattr__(self, "truth", truth)
        object.__setattr__(self, "judged", judged)
        seen = [max(int(n), truth.size) for n in self.judged_n or [0] * len(self.judges)]
        object.__setattr__(self, "judged_n", tuple(seen))

    def __repr__(self) -> str:
        return f"Pilot of {how_many(len(self.truth), 'item')}, judges {few(self.judges, 5)}"

    @property
    def binary(self) -> bool:
        """Whether people say pass or fail."""
        return bool(np.isin(self.truth, (0, 1)).all())

    @property
    def verdicts(self) -> bool:
        """Whether people and judges say pass or fail."""
        return self.binary and bool(np.isin(self.judged, (0, 1)).all())

    def icc(self, judge: int) -> float:
        """Correlate two calls of a judge on one output, by the analysis of variance.

        Parameters
        ----------
        judge : int
            Its place.

        Returns
        -------
        float
            ``nan`` if fewer than two outputs have all its calls, two or more.
        """
        asked = self.repeats[judge] if judge < len(self.repeats) else []
        calls = np.atleast_2d(np.asarray(asked, float))
        calls = calls[~np.isnan(calls).any(axis=1)]
        if min(calls.shape) < 2:
            return float("nan")
        within = calls.var(axis=1, ddof=1).mean()
        between = max(calls.mean(axis=1).var(ddof=1) - within / calls.shape[1], 0.0)
        return float(between / (between + within)) if between + within > 0 else 1.0

    def moments(self, random_seed: Any = 1) -> _Moments:
        """Draw the mean, the variance and what judges explain, by the Bayesian bootstrap.

        Of pass and fail one imaginary item joins, a part of it for each pair of verdict and label.

        Parameters
        ----------
        random_seed : int or numpy.random.Generator
            Same seed, same draws.

        Returns
        -------
        NamedTuple
            ``mean`` and ``covariance`` of truth and judges, a draw a row; ``parts(*judges)`` are
            those of the variance (`core.planning.Parts`).
        """
        rows = np.column_stack([self.truth, self.judged])
        weight = np.ones(len(rows))
        if self.verdicts:
            every = np.array([*itertools.product((0.0, 1.0), repeat=rows.shape[1])])
            rows = np.vstack([rows, every])
            weight = np.append(weight, np.full(len(every), 1 / len(every)))
        rng = rng_of(random_seed)
        shares = rng.standard_gamma(weight, (DRAWS, len(rows)))
        shares /= shares.sum(axis=1, keepdims=True)
        means = shares @ rows
        cross = np.einsum("di,ij,ik->djk", shares, rows, rows, optimize=True)
        covariance = cross - means[:, :, None] * means[:, None, :]
        n = weight.sum()  # a sample's variances, and those of its bootstrap, are too small
        return _Moments(means[:, 0], covariance * (n + 1) / (n - 1), n)

    def kurtosis(self, *judges: int) -> float:
        """Compute the kurtosis of what judges leave unexplained of the truth.

        Parameters
        ----------
        *judges : int
            Columns of judges; without any, of the truth itself.

        Returns
        -------
        float
            Fourth moment over the squared second one; 3 for a normal distribution.
        """
        design = np.column_stack([np.ones(len(self.truth)), self.judged[:, list(judges)]])
        rest = self.truth - design @ np.linalg.lstsq(design, self.truth, rcond=None)[0]
        square = float((rest**2).mean())
        return float((rest**4).mean()) / square**2 if square > 1e-12 else 3.0

    @classmethod
    def from_frame(
        cls,
        table: Any,
        *,
        judges: Mapping[str, str | Sequence[str]],
        truth: str,
        by: str | None = None,
        item: str | None = None,
        scores: bool = False,
        pass_value: Any = None,
        fail_value: Any = None,
        missing_value: Any = None,
    ) -> Self:
        """Read the labelled rows of a table.

        Parameters
        ----------
        table : dataframe
            One row per item, or an output of one of two systems.
        judges : mapping of str to str or sequence of str
            By judge its column, or columns of several calls.
        truth : str
            People's labels of a random sample of rows, empty on the others.
        by, item : str, optional
            Columns of the system and of the item: of two systems the difference is planned for.
        scores : bool, default False
            Whether verdicts and labels are numbers.
        pass_value, fail_value, missing_value : scalar or list, optional
            Labels that mean pass, fail and none.

        Returns
        -------
        Pilot
            Of items with a label and each judge's verdict.

        Raises
        ------
        InputError
            If a column is missing, a cell is not understood, or there are not two systems.
        """
        import pandas as pd

        columns = {name: each_name(c) for name, c in judges.items()}
        keys = [name for name in (by, item) if name is not None]
        every = [truth, *(c for calls in columns.values() for c in calls)]
        plain = not scores or (pass_value is None and fail_value is None)
        problem = "pass_value= and fail_value= name verdicts: leave out scores=True"
        expect("decide.Pilot.from_frame", plain, problem)
        rows = read_rows(table, *every, names=keys)
        if scores:
            cells = {name: scores_of(rows[name], missing_value) for name in every}
        else:
            how = {"pass_value": pass_value, "fail_value": fail_value}
            raw = {n: rows[n].astype(object).where(rows[n].notna(), None).tolist() for n in every}
            cells, _ = read_labels(raw, **how, missing_value=missing_value)
        read = pd.DataFrame(
            {**{f"cell {n}": cells[n] for n in every}, **{k: rows[k] for k in keys}}
        )
        first = [f"cell {calls[0]}" for calls in columns.values()]
        seen = [f"cell {truth}", *first]
        given: dict[str, Any] = {"judges": [*columns]}
        given["repeats"] = [
            read[[f"cell {c}" for c in calls]].to_numpy() if len(calls) > 1 else np.empty((0, 0))
            for calls in columns.values()
        ]
        if by is None:
            known = read.dropna(subset=seen)
            given["judged_n"] = read[first].notna().sum().tolist()
            return cls(known[seen[0]], known[first], **given)
        names = sorted(read[by].dropna().unique())
        with checking("decide.Pilot.from_frame") as require:
            require(len(names) == 2, f"by={by!r}: expected two systems, got {few(names, 5)}")
            require(item is not None, "item= names the items that two systems share")
        pair = [read[read[by] == name].groupby(item)[seen].mean() for name in names]
        gap = pair[0] - pair[1]
        both = f"{item!r} has a label and every verdict under both {names[0]} and {names[1]}"
        words = f"by={by!r}: no item of {both}, and their difference is planned on such items"
        words += "; without by= it is the mean of all rows"
        expect("decide.Pilot.from_frame", gap.notna().all(axis=1).any(), words)
        given["judged_n"] = gap[first].notna().sum().tolist()
        alone = [
            cls(known_of[seen[0]], known_of[first], [*columns]).moments().parts(0)
            for known_of in (system.dropna() for system in pair)
        ]
        apart = Parts(sum(p.within for p in alone), (sum(p.judged[0] for p in alone),))
        known = gap.dropna()
        return cls(known[seen[0]], known[first], **given, outputs=2, unpaired=apart)


class _Moments(NamedTuple):
    """Draws of the mean truth, and of the covariances of truth and judges."""

    mean: np.ndarray
    covariance: np.ndarray
    items: float

    def explained(self, *judges: int) -> np.ndarray:
        """Part of the truth's variance that judges explain together."""
        at = [1 + j for j in judges]
        of_judges = self.covariance[:, at][:, :, at] + 1e-12 * np.eye(len(at))
        with_truth = self.covariance[:, at, 0]
        explained = (with_truth * np.linalg.solve(of_judges, with_truth[:, :, None])[:, :, 0]).sum(
            axis=1
        )
        total = self.covariance[:, 0, 0]
        explained = np.divide(explained, total, where=total > 1e-15, out=np.zeros_like(total))
        # of a fit to few items, and of its bootstrap, that of chance
        left = (1 - np.clip(explained, 0, 1)) * (self.items - 1) / (self.items - 1 - 2 * len(at))
        return np.clip(1 - left, 0, 1)

    def parts(self, *judges: int, calls: int = 1, icc: float = 1.0) -> Parts:
        """Of judges one after another, the first of whom is asked several times."""
        steps = [self.explained(*judges[: i + 1]) for i in range(len(judges))]
        steps[:1] = [explained_by_calls(step, calls, icc) for step in steps[:1]]
        return Parts.of(self.covariance[:, 0, 0], *steps)


class _Way(NamedTuple):
    """A way to reach a goal: which judges, one after another, and the variance that they leave."""

    name: str
    parts: Parts
    judges: tuple[int, ...] = ()
    #: Calls of the first judge on one output.
    calls: int = 1
    #: Of what the judges leave.
    kurtosis: float = 3.0


def shopping_list(
    pilot: Pilot,
    prices: Mapping[str, float],
    *,
    width: float | None = None,
    at_least: float | None = None,
    difference: bool = False,
    items: int | None = None,
    probability: float = 0.95,
    power: float = 0.8,
    ci_prob: float = 0.95,
    random_seed: Any = 1,
) -> pd.DataFrame:
    r"""List what reaches a goal, the cheapest first.

    The pilot's posterior of mean, variance and correlations is drawn; each plan's standard error
    follows for each draw (`Parts`), and from it whether the goal is reached. Of every way to spend
    (people only; a judge, asked once or several times; a judge, and a stronger one on a part of its
    items) the cheapest sizes are told with which the goal is reached with a probability of `power`.
    What the pilot has already costs nothing.

    Two promises need a margin. The cheapest of many plans looks better than it is: of a width the
    probability is told for less. A decision in which the pilot's labels count again is false too
    often: it is planned to be made with ``sure`` in place of `probability` (`sure_with_pilot`).

    Parameters
    ----------
    pilot : Pilot
        Labelled items that judges saw.
    prices : mapping of str to float
        Of a ``"label"``; of a ``"call"`` of any judge, or ``"call NAME"`` of one; of an ``"item"``,
        to be made and judged beyond those that there are. What has no price is free.
    width : float, optional
        Goal: an interval of the mean, or of the difference, so wide, in units of the labels.
    at_least : float, optional
        Goal: a decision whether the mean is at least that, by `gate`; in (0, 1) of passes.
    difference : bool, default False
        Goal: a decision which of two systems is better.
    items : int, optional
        Items that there are; as many as the pilot's judges saw, if not given. More can be had if an
        item has a price.
    probability : float, default 0.95
        How sure a decision must be.
    power : float, default 0.8
        Probability with which a plan is to reach the goal.
    ci_prob : float, default 0.95
        Of the interval.
    random_seed : int or numpy.random.Generator
        Of the draws.

    Returns
    -------
    pandas.DataFrame
        One row per way: ``way`` in words, its ``judge`` and a ``stronger`` one, empty without;
        ``cost``, ``labels`` in all and ``more`` of them than the pilot has,
        ``items`` judged, ``second`` (items that the stronger judge sees), ``calls`` on an output,
        ``reached`` (the probability) and ``width`` (median of the interval's). A way that does not
        reach the goal has no numbers but the best probability that it can have. Of a decision
        ``sure``: what `gate` is to be given as ``probability=``.

    Raises
    ------
    InputError
        If there is no goal or several, a price is below 0 or of nothing that is sold, or a number
        is out of range.

    References
    ----------
    Tenenbein (1970), J. Am. Stat. Assoc. 65, 1350-1361; Cochran (1977), Section 12.3; Rubin (1981).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> truth = rng.random(80) < 0.7
    >>> judge = np.where(rng.random(80) < 0.9, truth, ~truth)
    >>> pilot = Pilot(truth, judge[:, None], ["gpt"], judged_n=[1000])
    >>> made = shopping_list(pilot, {"label": 1.5, "call": 0.01}, width=0.1)
    >>> made["way"].tolist(), bool(made["cost"].is_monotonic_increasing)
    (['gpt', 'people only'], True)
    """
    check_ci_prob(ci_prob)
    most = max([len(pilot.truth), *pilot.judged_n]) if items is None else items
    share = pilot.verdicts and pilot.outputs == 1
    with checking("decide.shopping_list") as require:
        goals = [width is not None, at_least is not None, difference]
        require(sum(goals) == 1, "one goal: width=, at_least= or difference=")
        require(width is None or width > 0, "must be above 0", width=width)
        inside = at_least is None or not share or 0 < at_least < 1
        require(inside, "must lie in (0, 1) of passes and fails", at_least=at_least)
        require(0.5 <= probability < 1, "must lie in [0.5, 1)", probability=probability)
        require(0 < power < 1, "must lie in (0, 1)", power=power)
        require(most >= len(pilot.truth), f"items={items}: the pilot has {len(pilot.truth)}")
        sold = {*GOODS, *(f"call {name}" for name in pilot.judges)}
        unknown = [name for name in prices if name not in sold]
        require(not unknown, "no-such-price", unknown=few(unknown), what=", ".join(sorted(sold)))
        low = {
            k: price for k, price in prices.items() if not (isinstance(price, Real) and price >= 0)
        }
        require(not low, f"prices must be 0 or more, got {low}")
        pairs = not difference or pilot.outputs == 2
        require(pairs, "a difference takes a pilot of two systems: by= and item=")
    drawn = pilot.moments(random_seed)
    z = z_score(ci_prob)
    sure = np.nan if width is not None else sure_with_pilot(probability, power)
    goal = _goal(drawn.mean, width, at_least, z, float(ndtri(sure)), share)
    ways = _ways(pilot, drawn, [_price_of(name, prices) for name in pilot.judges])
    rows = [_cheapest(way, pilot, prices, goal, power, most, z) for way in ways]
    import pandas as pd

    table = pd.DataFrame(rows).assign(sure=sure)
    return table.sort_values("cost", kind="stable", ignore_index=True)


@lru_cache
def sure_with_pilot(probability: float, power: float) -> float:
    r"""How sure a decision must be if the labels of the pilot that planned it count again.

    A pilot that lies far from the threshold by luck asks for few new labels, which do not undo its
    luck; one close to it asks for many. Of a normal mean at the threshold, where each decision is
    false, and of as many items as it takes, the labels are computed with which each pilot's
    posterior reaches the power, and then how often all labels together decide: at 95 % with a power
    of 0.8 in .131 of pilots, where .1 are allowed.

    Parameters
    ----------
    probability : float
        How sure a decision is to be, in [0.5, 1): false ones are to be no more than
        ``2 * (1 - probability)`` of pilots.
    power : float
        Probability that a plan is to reach a decision, in (0, 1).

    Returns
    -------
    float
        `probability` or more.

    References
    ----------
    Proschan & Hunsberger (1995), Biometrics 51, 1315-1324.

    Examples
    --------
    >>> round(sure_with_pilot(0.95, 0.8), 3)
    0.963
    """
    from scipy.optimize import brentq

    pilot = np.linspace(0, 8, POINTS)
    density = np.exp(-(pilot**2) / 2) * np.where(pilot > 0, 1, 0.5)
    density /= density.sum()
    nodes, weight = np.polynomial.hermite_e.hermegauss(NODES)
    far = np.abs(pilot[:, None] + nodes)  # in standard errors of the pilot

    def too_many(margin: float) -> float:
        def spare(hundredths: np.ndarray) -> np.ndarray:
            reached = ndtr(far * np.sqrt(hundredths / 100)[:, None] - margin)
            return reached @ weight / weight.sum() - power

        times = np.minimum(fewest(spare, np.full(POINTS, 99), LARGEST), LARGEST) / 100
        new = np.sqrt(np.maximum(times - 1, 1e-9))
        wrong = sum(ndtr((side * pilot - margin * np.sqrt(times)) / new) for side in (-1, 1))
        return float(density @ wrong) - 2 * (1 - probability)

    margin = float(ndtri(probability))
    if too_many(margin) <= 0:
        return probability
    return float(ndtr(brentq(too_many, margin, margin + 2, xtol=1e-4)))


Goal = Callable[[np.ndarray, np.ndarray, float], np.ndarray]


def _goal(
    mean: np.ndarray,
    width: float | None,
    at_least: float | None,
    z: float,
    sure: float,
    share: bool,
) -> Goal:
    """Probability over the draws, on the last axis, that a standard error reaches the goal.

    An interval's width varies with the variance that labels show of theirs. A share is held against
    a threshold by what its error would be there, as `gate` does (a score test).
    """
    if width is not None:
        wanted = width

        def narrow(error: np.ndarray, labels: np.ndarray, kurtosis: float) -> np.ndarray:
            spread = np.sqrt(max(kurtosis - 1, 1e-6) / (4 * labels))
            reached = ndtr(np.log(wanted / (2 * z * error)) / spread).mean(axis=-1)
            return ndtr(ndtri(reached) - FLATTERED)

        return narrow
    threshold = at_least or 0.0
    far, margin = np.abs(mean - threshold), np.asarray(sure)
    if share and at_least is not None:
        margin = sure * np.sqrt(threshold * (1 - threshold) / np.maximum(mean * (1 - mean), 1e-12))
    return lambda error, *_: ndtr(far / np.maximum(error, 1e-300) - margin).mean(axis=-1)


def _price_of(judge: str, prices: Mapping[str, float]) -> float:
    """Of one call."""
    return prices.get(f"call {judge}", prices.get("call", 0.0))


def _ways(pilot: Pilot, drawn: _Moments, call: Sequence[float]) -> Iterator[_Way]:
    """Everything that can be bought, single goods first."""
    yield _Way(PEOPLE, drawn.parts(), kurtosis=pilot.kurtosis())
    for j, name in enumerate(pilot.judges):
        kurtosis = pilot.kurtosis(j)
        yield _Way(name, drawn.parts(j), (j,), 1, kurtosis)
        icc = pilot.icc(j)
        for k in CALLS[1:] if np.isfinite(icc) else ():
            yield _Way(
                f"{name}, asked {k} times", drawn.parts(j, calls=k, icc=icc), (j,), k, kurtosis
            )
    for a, b in itertools.permutations(range(len(pilot.judges)), 2):
        if call[a] < call[b]:
            name = f"{pilot.judges[a]}, and {pilot.judges[b]} on a part"
            yield _Way(name, drawn.parts(a, b), (a, b), 1, pilot.kurtosis(a, b))
    if pilot.unpaired is not None:
        yield _Way(f"{pilot.judges[0]}, on items that are not shared", pilot.unpaired, (0,))


def _sizes(way: _Way, pilot: Pilot, top: int) -> list[np.ndarray]:
    """Numbers of items that each judge sees, as columns: all choices that are tried."""
    if not way.judges:
        return []
    seen = pilot.judged_n[way.judges[0]]
    tried = SIZES // len(way.judges)
    first = np.unique(np.maximum(np.geomspace(seen, top, tried).astype(int), min(seen, top)))
    if len(way.judges) == 1:
        return [first[:, None]]
    size, part = np.meshgrid(first, np.linspace(0.05, 0.95, 10), indexing="ij")
    second = np.maximum(np.rint(size * part), pilot.judged_n[way.judges[1]])
    return [size.reshape(-1, 1), np.minimum(second, size).reshape(-1, 1)]


def _cheapest(
    way: _Way,
    pilot: Pilot,
    prices: Mapping[str, float],
    goal: Goal,
    power: float,
    most: int,
    z: float,
) -> dict[str, Any]:
    """The cheapest sizes with which one way reaches the goal."""
    labelled, sold = len(pilot.truth), "item" in prices
    sizes = _sizes(way, pilot, max(most, MOST_TIMES * labelled) if sold else most)
    # Student's quantile is that of the normal distribution with so many labels fewer
    spare = 0.0 if pilot.binary else (z**2 + 1) / 2

    def error(labels: np.ndarray) -> np.ndarray:
        return way.parts.error(np.maximum(labels - spare, 1)[:, None], *sizes)

    enough = sizes[-1][:, 0].astype(float) if sizes else np.array([MOST_LABELS if sold else most])

    def chance(labels: np.ndarray) -> np.ndarray:
        return goal(error(labels), np.maximum(labels, 1)[:, None], way.kurtosis)

    can = chance(enough)
    needed = fewest(lambda labels: chance(labels) - power, np.zeros(enough.shape), enough)
    enough = np.maximum(np.minimum(needed, enough), labelled)
    items = sizes[0][:, 0] if sizes else enough
    cost = prices.get("label", 0.0) * (enough - labelled)
    for i, (judge, size) in enumerate(zip(way.judges, sizes, strict=True)):
        asked = (1 if i else way.calls) * size[:, 0] - np.minimum(size[:, 0], pilot.judged_n[judge])
        cost = cost + _price_of(pilot.judges[judge], prices) * asked
    cost = cost + prices.get("item", 0.0) * np.maximum(items - most, 0)
    cost = np.where(can >= power, pilot.outputs * cost, np.inf)
    best = int(np.argmin(cost))
    names = [pilot.judges[j] for j in way.judges]
    row: dict[str, Any] = {"way": way.name, "cost": float(cost[best]), "calls": way.calls}
    row |= dict(zip(("judge", "stronger"), [*names, "", ""], strict=False))
    if not np.isfinite(row["cost"]):
        lost = dict.fromkeys(("labels", "more", "items", "second", "width"), np.nan)
        return {**row, **lost, "reached": float(can.max())}
    error_there = error(enough)[best]
    return {
        **row,
        "labels": int(enough[best]),
        "more": int(enough[best] - labelled),
        "items": int(items[best]),
        "second": int(sizes[1][best, 0]) if len(sizes) > 1 else np.nan,
        "width": float(np.median(2 * z * error_there)),
        "reached": float(chance(enough)[best]),
    }
