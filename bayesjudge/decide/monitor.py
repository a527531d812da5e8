"""`Monitor`: labels as they come, and a gate that is valid at every look."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Assumption, Estimate, Quantity
from bayesjudge.core.labels import pass_name_of
from bayesjudge.core.screen import Shown, how_many
from bayesjudge.core.words import words_for
from bayesjudge.decide._betting import (
    Draws,
    Increments,
    increments,
    log_wealth,
    predicted,
)
from bayesjudge.decide._reading import read_log
from bayesjudge.decide._state import digest_of, read_state, write_state
from bayesjudge.decide.decision import Check, Gate, Need, Outcome

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "bayesjudge/monitor-1"
Strategy = Literal["random", "by_verdict", "uncertain"]
#: How the next items are drawn.
STRATEGIES = words_for("labelling_strategies")
#: Share of the draws of ``"uncertain"`` that are random.
FLOOR = 0.5
SOURCE = (
    "Waudby-Smith & Ramdas (2024), J. R. Stat. Soc. B 86, 1-27; Shekhar et al. (2023), "
    "arXiv:2305.06884; Angelopoulos et al. (2023), arXiv:2301.09633"
)
DRAWN_AS_STATED = Assumption.of("drawn-as-stated")
INDEPENDENT_ITEMS = Assumption.of("independent-items", "process")
GRID = 401


@dataclass(frozen=True)
class Settings:
    """What is fixed before the first label."""

    at_least: float
    probability: float
    target: str
    strategy: str
    judge: bool
    most_labels: int | None
    random_seed: int


@dataclass(frozen=True)
class Drawn:
    """How one item was drawn."""

    place: int
    weight: float
    weights: tuple[float, float]
    rest: float
    pool: float


class Monitor(Shown):
    """Labels of items as they come, and a gate that holds at every look and any stopping rule.

    Parameters
    ----------
    names : sequence
        Items, each once; in any order.
    verdicts : array_like, shape (n_items,)
        The judge's verdict on each: 1, 0, or the share of passes of several verdicts. They save
        labels if the judge is good, and change no promise if it is not.
    at_least : float
        The threshold, in (0, 1).
    probability : float, default 0.95
        A false pass, and a false fail, ever, has probability ``1 - probability`` at most.
    target : {"items", "population"}
        Whether the share of good ones among these very items is meant, or in the process that they
        come from; the latter needs `most_labels`.
    strategy : {"random", "by_verdict", "uncertain"}
        How `draw` chooses items. Random is about as good or better, unless verdicts of one
        judge are to show a fail (``python benchmarks/decide/strategies.py``).
    judge : bool, default True
        Whether verdicts help to estimate.
    most_labels : int, optional
        With ``target="population"``: how many labels there can be at most. Each comes with as many
        items as there are for it, so that fewer make a narrower sequence.
    random_seed : int, optional
        Same seed, same draws.
    pass_name : str, default ""
        The label that was read as pass, if it is no word for it: what the share is one of.

    Raises
    ------
    InputError
        If names repeat, a verdict or a number is out of range, or `most_labels` is missing or
        exceeds the number of items.

    Notes
    -----
    The t-th label gives an increment: what a regression on the verdicts of the earlier labels
    predicts for all items, plus its error on this one, weighted by how it was drawn. Bets on
    increments make a wealth that exceeds ``1 / (1 - probability)`` at any time with probability
    ``1 - probability`` at most if the share is what is bet against. Labels count in the order
    drawn: one that is missing holds up those after it.

    Examples
    --------
    >>> monitor = Monitor(range(500), [1] * 450 + [0] * 50, at_least=0.8, random_seed=1)
    >>> batch = monitor.draw(60)
    >>> truth = [int(int(item) < 450) for item in batch["item"]]  # people agree with the judge
    >>> monitor.add(batch["item"], truth)
    >>> monitor.outcome
    'pass'
    """

    def __init__(
        self,
        names: Sequence[Hashable],
        verdicts: Any = None,
        *,
        at_least: float,
        probability: float = 0.95,
        target: Literal["population", "items"] = "items",
        strategy: Strategy = "random",
        judge: bool = True,
        most_labels: int | None = None,
        random_seed: int | None = None,
        pass_name: str = "",
    ):
        self.names, self.pass_name = tuple(map(str, names)), pass_name
        judge = judge and verdicts is not None
        self.verdicts = np.zeros(len(self.names)) if verdicts is None else np.array(verdicts, float)
        size = len(self.names)
        with checking("decide.Monitor") as require:
            require(size > 0, "there are no items")
            require(len(set(self.names)) == size, "items must have different names")
            fits = self.verdicts.shape == (size,)
            require(fits, f"verdicts has shape {self.verdicts.shape}, expected ({size},)")
            inside = bool(np.all((self.verdicts >= 0) & (self.verdicts <= 1)))
            require(inside, "verdicts must lie in [0, 1]")
            require(0 < at_least < 1, "must lie in (0, 1)", at_least=at_least)
            right = 0.5 < probability < 1
            require(right, "must lie in (0.5, 1)", probability=probability)
            require(target in ("items", "population"), f"target={target!r}: items or population")
            known = strategy in STRATEGIES
            require(known, f"strategy={strategy!r}: expected one of {list(STRATEGIES)}")
            possible = verdicts is not None or strategy == "random"
            require(possible, f"strategy={strategy!r} needs verdicts")
            planned = most_labels is not None and 1 <= most_labels <= size
            require(
                planned if target == "population" else most_labels is None,
                f"target='population' needs most_labels= from 1 to {size}, and "
                f"target='items' takes none; got {most_labels}",
            )
        if random_seed is None:
            random_seed = int(np.random.default_rng().integers(2**32))
        self.settings = Settings(
            float(at_least), float(probability), target, strategy, judge, most_labels, random_seed
        )
        self._places = {name: i for i, name in enumerate(self.names)}
        self._drawn: list[Drawn] = []
        self._free = np.ones(size, bool)
        self._truth: dict[int, float] = {}
        self._rounds = np.random.default_rng([self.settings.random_seed, 2**31]).permutation(size)

    @classmethod
    def from_frame(
        cls,
        table: Any,
        *,
        verdict: str | None = "verdict",
        item: str = "item",
        pass_value: Any = None,
        fail_value: Any = None,
        missing_value: Any = None,
        **settings: Any,
    ) -> Self:
        """Read the items and the judge's verdicts of a log.

        Parameters
        ----------
        table : dataframe
            One row per verdict; several rows of an item are averaged. A row without a verdict is a
            fail, which costs labels at most.
        verdict : str, optional
            Column with the verdict; None for no judge.
        item : str, default "item"
            Column that identifies the item: what is drawn and labelled.
        pass_value, fail_value, missing_value : scalar or list, optional
            Labels that mean pass, fail and none. 1/0 and true/false are understood without.
        **settings
            As in `Monitor`.

        Returns
        -------
        Monitor
            Without labels.

        Raises
        ------
        InputError
            If a column is missing, labels are not understood, or a setting is wrong.
        """
        names, verdicts = read_items(table, verdict, item, (pass_value, fail_value, missing_value))
        return cls(names, verdicts, **{"pass_name": pass_name_of(pass_value)} | settings)

    @property
    def at_least(self) -> float:
        """The threshold."""
        return self.settings.at_least

    @property
    def probability(self) -> float:
        """How sure a pass, or a fail, is."""
        return self.settings.probability

    @property
    def pending(self) -> tuple[str, ...]:
        """Items that were drawn and have no label yet, in the order drawn."""
        return tuple(self.names[d.place] for d in self._drawn if d.place not in self._truth)

    @property
    def n_labels(self) -> int:
        """Labels that count: those before the first pending item."""
        return next(
            (t for t, d in enumerate(self._drawn) if d.place not in self._truth), len(self._drawn)
        )

    # Drawing and labelling ----------------------------------------------------------------------

    def draw(self, n: int) -> pd.DataFrame:
        """Draw the next items to label.

        Parameters
        ----------
        n : int
            How many; fewer if there are no more.

        Returns
        -------
        pandas.DataFrame
            In the order drawn: ``item``, ``verdict``, and ``probability``, with which the item was
            drawn from those that were left. Label all of them: which ones a person finds easy says
            something of the share.

        Raises
        ------
        InputError
            If `n` is not positive.
        """
        import pandas as pd

        with checking("draw") as require:
            require(n >= 1, "must be 1 or more", n=n)
        rows = []
        for _ in range(n):
            drawn = self._next()
            if drawn is None:
                break
            rows.append((self.names[drawn.place], self.verdicts[drawn.place], drawn.weight))
        table = pd.DataFrame(rows, columns=["item", "verdict", "weight"])
        sizes = [self._pool_size(len(self._drawn) - len(rows) + i) for i in range(len(rows))]
        table["probability"] = 1 / (table.pop("weight") * sizes)
        return table

    def _pool_size(self, t: int) -> int:
        most = self.settings.most_labels
        return len(self.names) - t if most is None else len(self.names) // most

    def _next(self, place: int | None = None) -> Drawn | None:
        """Draw one item (or record one that was drawn at random) from its pool."""
        t, settings = len(self._drawn), self.settings
        rng = np.random.default_rng([settings.random_seed, t])
        fresh = settings.most_labels is not None
        if fresh:
            size = self._pool_size(t)
            pool = self._rounds[t * size : (t + 1) * size]
            if t >= (settings.most_labels or 0):
                return None
        else:
            pool = np.flatnonzero(self._free)
        if not len(pool):
            return None
        f = self.verdicts[pool]
        chances = self._chances(f)
        if place is None:
            i = int(rng.choice(len(pool), p=chances))
        else:  # drawn by someone else: a random item, wherever it stands in the pool
            i = int(np.flatnonzero(pool == place)[0])
        weights = 1 / (len(pool) * chances)
        if fresh:  # the most that any pool could give
            most = {"random": 1.0, "by_verdict": 2.0, "uncertain": 1 / FLOOR}[settings.strategy]
            top = (most, most)
        elif np.isin(f, (0.0, 1.0)).all():
            top = tuple(float(weights[f == v].max(initial=0.0)) for v in (0, 1))  # type: ignore[assignment]
        else:
            top = (float(weights.max()),) * 2
        rest = 1.0 if fresh else len(pool) / len(self.names)
        drawn = Drawn(int(pool[i]), float(weights[i]), top, rest, float(f.mean()))
        self._drawn.append(drawn)
        self._free[drawn.place] = False
        return drawn

    def _chances(self, f: np.ndarray) -> np.ndarray:
        """Probability of each item of a pool, by the strategy and the labels so far."""
        even = np.full(len(f), 1 / len(f))
        if self.settings.strategy == "random":
            return even
        if self.settings.strategy == "by_verdict":
            passed = f >= 0.5
            n = int(passed.sum())
            if n in (0, len(f)):
                return even
            return np.where(passed, 0.5 / n, 0.5 / (len(f) - n))
        failed, good = (x[-1] for x in predicted(self._draws(ahead=True)))
        expected = failed + (good - failed) * f
        doubt = np.sqrt(expected * (1 - expected)) + 1e-6
        return FLOOR * even + (1 - FLOOR) * doubt / doubt.sum()

    def add(self, items: Any, truth: Any, *, drawn_at_random: bool = False) -> None:
        """Take in labels.

        Parameters
        ----------
        items : sequence
            Names of items that were drawn; in any order.
        truth : array_like
            Their labels: 1, 0, or in between, such as the share of several people that call it
            good.
        drawn_at_random : bool, default False
            Whether items that the monitor did not draw are a random sample, in random order, drawn
            in another way; with ``strategy="random"`` and ``target="items"`` only.

        Raises
        ------
        InputError
            If an item is unknown, was not drawn, or has another label already; or a label is not
            in [0, 1].
        """
        names = [str(name) for name in items]
        labels = np.asarray(truth, float).ravel()
        with checking("Monitor.add") as require:
            require(len(names) == labels.size, f"{len(names)} items, {labels.size} labels")
            require(len(set(names)) == len(names), "an item has several labels; average them")
            inside = bool(np.all((labels >= 0) & (labels <= 1)))
            require(inside, "labels must lie in [0, 1]; leave out what has none")
            unknown = [n for n in names if n not in self._places]
            require(not unknown, f"{len(unknown)} unknown items, such as {unknown[:3]}")
            allowed = self.settings.strategy == "random" and self.settings.target == "items"
            require(
                allowed or not drawn_at_random,
                "drawn_at_random= needs strategy='random' and target='items'",
            )
        places = [self._places[n] for n in names]
        with checking("Monitor.add") as require:
            strange = [n for n, i in zip(names, places, strict=True) if self._free[i]]
            require(
                drawn_at_random or not strange,
                f"{how_many(len(strange), 'item', 'were')} not drawn, such as {strange[:3]}: which "
                "items are labelled must not depend on what they are; label those that draw() "
                "gave, or say drawn_at_random=True if they are a random sample in random order",
            )
            torn = [
                n
                for n, i, y in zip(names, places, labels, strict=True)
                if self._truth.get(i, y) != y
            ]
            require(
                not torn,
                f"{how_many(len(torn), 'item', 'have')} another label already, such as {torn[:3]}",
            )
        for place, label in zip(places, labels.tolist(), strict=True):
            if self._free[place]:
                self._next(place)
            self._truth[place] = label

    # What is known ------------------------------------------------------------------------------

    def _draws(self, *, ahead: bool = False) -> Draws:
        """The labels that count as arrays; with one more, unlabelled, to predict from all."""
        drawn = self._drawn[: self.n_labels]
        places = np.array([d.place for d in drawn], int)
        truth = np.array([self._truth[i] for i in places], float)
        fresh = self.settings.most_labels is not None
        known = np.zeros(len(drawn)) if fresh else (np.cumsum(truth) - truth) / len(self.names)
        columns = [
            self.verdicts[places],
            truth,
            np.array([d.weight for d in drawn]),
            np.array([d.weights for d in drawn], float).reshape(-1, 2),
            known,
            np.array([d.rest for d in drawn]),
            np.array([d.pool for d in drawn]),
        ]
        if ahead:
            columns = [np.concatenate([c, np.zeros((1, *c.shape[1:]))]) for c in columns]
        return Draws(*columns)._replace(fresh=fresh)

    def _increments(self) -> Increments:
        most = self.settings.most_labels
        trust = 1.0 if most is None else 1 - most / len(self.names)
        return increments(self._draws(), judge=self.settings.judge, trust=trust)

    @property
    def worth(self) -> float:
        """What the labels are worth with the judge: so many without it would vary as little.

        ``nan`` with fewer than two labels.
        """
        if self.n_labels < 2:
            return float("nan")
        of_labels = increments(self._draws(), judge=False).value
        with_judge = self._increments().value
        return float(self.n_labels * of_labels.var() / max(with_judge.var(), 1e-12))

    @property
    def path(self) -> pd.DataFrame:
        """The sequence after each label: ``labels``, ``value``, ``low``, ``high``, ``outcome``.

        Each limit holds at all looks at once with probability `probability`.
        """
        import pandas as pd

        increments, threshold = self._increments(), -np.log1p(-self.probability)
        n = increments.value.size
        grid = np.linspace(0, 1, GRID)[:, None]
        low = np.where(log_wealth(increments, grid, True) >= threshold, grid, 0).max(
            axis=0, initial=0
        )
        high = np.where(log_wealth(increments, grid, False) >= threshold, grid, 1).min(
            axis=0, initial=1
        )
        least, most = self._certain()
        low = np.maximum.accumulate(np.maximum(low, least))
        high = np.minimum.accumulate(np.minimum(high, most))
        size = 1 / np.maximum(increments.high - increments.low, 1e-12) ** 2
        value = np.cumsum(size * increments.value) / np.cumsum(size)
        return pd.DataFrame(
            {
                "labels": np.arange(1, n + 1),
                "value": np.clip(value, low, np.maximum(low, high)),
                "low": low,
                "high": high,
                "outcome": self._outcomes(increments),
            }
        )

    def _outcomes(self, increments: Increments) -> np.ndarray:
        """The decision after each label; the first one stands."""
        threshold, never = -np.log1p(-self.probability), increments.value.size
        first = []
        for above in (True, False):
            over = log_wealth(increments, self.at_least, above) >= threshold
            first.append(int(over.argmax()) if over.any() else never)
        outcomes = np.full(never, "unknown", dtype=object)
        outcomes[min(first) :] = "pass" if first[0] < first[1] else "fail"
        return outcomes

    def _certain(self) -> tuple[np.ndarray, np.ndarray]:
        """What the share of these items can be at all, after each label."""
        draws = self._draws()
        n = draws.truth.size
        if self.settings.most_labels is not None:
            return np.zeros(n), np.ones(n)
        good = np.cumsum(draws.truth) / len(self.names)
        return good, good + 1 - np.arange(1, n + 1) / len(self.names)

    @property
    def outcome(self) -> Outcome:
        """Pass, fail or unknown, at this look: what was decided once stands."""
        if not self.n_labels:
            return "unknown"
        return self._outcomes(self._increments())[-1]

    @property
    def gate(self) -> Gate:
        """The decision, as `bayesjudge.decide.gate` gives it, valid at every look."""
        estimate = self.estimate()
        row, outcome = estimate["prevalence"], self.outcome
        check = Check(
            "prevalence",
            {},
            outcome,
            *row,
            self.at_least,
            True,
            self.probability,
            float("nan"),
            estimate.method,
            () if outcome != "unknown" else self._needs(row.value),
            always_valid=True,
            pass_name=self.pass_name,
        )
        return Gate((check,), estimate.cautions)

    def _needs(self, value: float) -> tuple[Need, ...]:
        """Labels, if the wealth goes on growing as it did."""
        n = self.n_labels
        if not n:
            return ()
        most = float(self.settings.most_labels or len(self.names))
        increments = self._increments()
        now = float(log_wealth(increments, self.at_least, value >= self.at_least)[-1])
        # a mixture pays for its breadth once
        wanted = n * (-np.log1p(-self.probability) + 1) / max(now + 1, 1e-9)
        if wanted >= most and self.settings.target == "population":
            wanted = np.inf
        return (
            Need("labels", n, float(min(np.ceil(wanted), most) if wanted < np.inf else wanted)),
        )

    def estimate(self) -> Estimate:
        """Give the sequence at this look as an `Estimate`.

        Returns
        -------
        Estimate
            ``prevalence``, with limits that hold at all looks; ``ci_prob`` is
            ``2 * probability - 1``.
        """
        row: tuple[float, float, float] = (float("nan"), 0.0, 1.0)
        if self.n_labels:
            last = self.path.iloc[-1]
            row = (float(last["value"]), float(last["low"]), float(last["high"]))
        words = "with the judge" if self.settings.judge else "labels only"
        about: tuple[Assumption, ...] = (DRAWN_AS_STATED,)
        if self.settings.target == "population":
            about += (INDEPENDENT_ITEMS,)
        return Estimate(
            {"prevalence": Quantity.of_rows({(): row}, ())},
            method=methods.CONFIDENCE_SEQUENCE.variant(words.replace(" ", "-"), words),
            ci_prob=round(2 * self.probability - 1, 12),
            source=SOURCE,
            interval="betting, valid at every look",
            assumptions=about,
            target=self.settings.target,  # type: ignore[arg-type]
        )

    # A file -------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> Path:
        """Write draws and labels to a small JSON file, from which `resume` goes on.

        Parameters
        ----------
        path : str or pathlib.Path
            A file that is there is replaced, all at once.

        Returns
        -------
        pathlib.Path
            Where it was written.
        """
        state = {
            "schema": SCHEMA,
            "settings": asdict(self.settings),
            "data_sha256": self._digest(),
            "drawn": [
                {
                    "item": self.names[d.place],
                    **{k: v for k, v in asdict(d).items() if k != "place"},
                }
                for d in self._drawn
            ],
            "labels": {self.names[i]: y for i, y in self._truth.items()},
        }
        return write_state(path, state)

    def _digest(self) -> str:
        return digest_of([self.names, self.verdicts.tolist()])

    def resume(self, path: str | Path) -> Self:
        """Take over the draws and labels of a file that `save` wrote.

        Parameters
        ----------
        path : str or pathlib.Path
            The file.

        Returns
        -------
        Monitor
            This one.

        Raises
        ------
        InputError
            If the file is not a monitor's, is of other items, verdicts or settings (but for the
            seed, which is the file's), or this monitor has drawn items already.
        """
        settings, drawn, labels, digest = read_state(
            path,
            SCHEMA,
            lambda state: (
                Settings(**state["settings"]),
                *(state[name] for name in ("drawn", "labels", "data_sha256")),
            ),
        )
        with checking(str(path)) as require:
            require(not self._drawn, "drawn-already")
            require(digest == self._digest(), "other-items")
            for name, value in asdict(settings).items():
                mine = getattr(self.settings, name)
                require(
                    name == "random_seed" or mine == value,
                    f"has {name}={value!r}, not {mine!r}; what was fixed before the first label "
                    "cannot be changed",
                )
        self.settings = settings
        self._rounds = np.random.default_rng([settings.random_seed, 2**31]).permutation(
            len(self.names)
        )
        for entry in drawn:
            place = self._places[entry.pop("item")]
            entry["weights"] = tuple(entry["weights"])
            self._drawn.append(Drawn(place, **entry))
            self._free[place] = False
        self._truth = {self._places[name]: float(y) for name, y in labels.items()}
        return self

    def __repr__(self) -> str:
        n, waiting = self.n_labels, len(self.pending)
        words = f"{how_many(len(self.names), 'item')}, {how_many(n, 'label')}, "
        words += f"{waiting} drawn and not labelled"
        return f"Monitor of {words}\n  {self.gate}"


def read_items(
    table: Any, verdict: str | None, item: str, meanings: tuple[Any, Any, Any]
) -> tuple[list[str], np.ndarray | None]:
    """Names of items in order of appearance, and the mean verdict of each."""
    import pandas as pd

    rows = read_log(table, [] if verdict is None else [verdict], [item], meanings)
    codes, names = pd.factorize(rows[item])
    if verdict is None:
        return list(names), None
    f = np.nan_to_num(rows[verdict].to_numpy())
    return list(names), np.bincount(codes, f) / np.bincount(codes)
