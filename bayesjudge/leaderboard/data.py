"""The data class: battles of two answers, with verdicts of judges and of people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np

from bayesjudge.core.errors import Problem, checking
from bayesjudge.core.item_keys import ReadAtOnce
from bayesjudge.core.names import names_of, require_names
from bayesjudge.core.numbers import array_of, numbers_in
from bayesjudge.core.screen import few, how_many
from bayesjudge.core.tables import (
    Coded,
    code_rows,
    columns_of,
    count_cells,
    each_name,
    is_counted_in_place,
)
from bayesjudge.leaderboard.spelling import read_cells

#: What strengths are about: answers as they come, or answers of one length.
StrengthTarget = Literal["any length", "equal length"]
STRENGTH_TARGETS: tuple[StrengthTarget, ...] = ("any length", "equal length")
#: Counts are all multiples of one number by chance less often than this, or it is no chance.
RARE = 0.001
#: Most rows of a table in memory that stay one by one, in their order, where no item is named.
IN_ORDER = 100_000
#: The source of people's verdicts, beside judges.
PEOPLE = "people"
#: Columns of verdicts whose name says nothing of the judge.
JUDGES = (["winner"], ["verdict"], ["preference"])


@dataclass(frozen=True, eq=False)
class Battles(ReadAtOnce):
    """Battles: two systems' answers to one item, and who prefers which.

    A verdict is three shares that add to 1: for the answer shown first, a tie, and the answer shown
    second. A win is 1, 0, 0; a win probability p is p, 0, 1 - p; of several people it is their
    average. No verdict is 0, 0, 0. Identical battles are one row with a count.

    Parameters
    ----------
    systems, judges : sequence of str
        Names; no judge if only people were asked.
    first, second : array_like of int, shape (n,)
        Places in `systems` of the answer shown first, and second.
    count : array_like of int, shape (n,)
        How many battles are so.
    verdict : array_like of float, shape (n, n_judges, 3)
        Judges' verdicts.
    people : array_like of float, shape (n, 3)
        People's verdict.
    item : array_like of int, shape (n,), optional
        Item of each battle: battles that share one are not independent.
    style : array_like of float, shape (n,), optional
        Logarithm of the first answer's length over the second's.
    unparsed : sequence of int, optional
        By judge: battles whose verdict could not be read.
    averaged : int, default 1
        People of whose verdicts `people` has the average.
    settled : int, default 0
        Battles of which it has what they settled on instead.

    Raises
    ------
    InputError
        If there are fewer than two systems, no battle has a verdict, shapes differ, a system meets
        itself, or shares do not add to 1.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"model_a": ["x", "y"], "model_b": ["y", "x"], "winner": ["A", "tie"]})
    >>> Battles.from_frame(table)
    leaderboard.Battles(2 systems; 2 battles; judge: 2 verdicts)
    """

    systems: Sequence[str]
    judges: Sequence[str]
    first: Any
    second: Any
    count: Any
    verdict: Any
    people: Any
    item: Any = None
    style: Any = None
    unparsed: Sequence[int] = ()
    averaged: int = 1
    settled: int = 0

    def __post_init__(self) -> None:
        for name in ("systems", "judges"):
            object.__setattr__(self, name, tuple(map(str, getattr(self, name))))
        object.__setattr__(self, "unparsed", tuple(self.unparsed) or (0,) * len(self.judges))
        self._set(first=array_of(int, "leaderboard.Battles", first=self.first))
        n, j, k = len(self.first), len(self.judges), len(self.systems)
        shapes = {"second": (n,), "count": (n,), "verdict": (n, j, 3), "people": (n, 3)}
        shapes |= {name: (n,) for name in ("item", "style") if getattr(self, name) is not None}
        with checking("leaderboard.Battles") as require:
            require_names(self.systems, "systems", require)
            require(k >= 2, f"expected two systems or more, got {list(self.systems)}")
            twice = PEOPLE in self.judges
            require(not twice, f"a judge is called {PEOPLE!r}; give it another name")
            for name, shape in shapes.items():
                kind = float if name in ("verdict", "people", "style") else int
                array = array_of(kind, "leaderboard.Battles", **{name: getattr(self, name)})
                self._set(**{name: array})
                require(array.shape == shape, f"{name}: shape {array.shape}, expected {shape}")
        with checking("leaderboard.Battles") as require:
            inside = all(((a >= 0) & (a < k)).all() for a in (self.first, self.second))
            require(inside, f"first and second: expected places 0 to {k - 1}")
            require((self.count > 0).all(), "count must be 1 or more")
            itself = np.unique(self.first[self.first == self.second])
            names = few([self.systems[i] for i in itself[inside and itself >= 0]])
            require(not itself.size, f"{names} met itself; leave those rows out")
            for name in ("verdict", "people"):
                shares = getattr(self, name)
                total = shares.sum(axis=-1)
                right = (np.isclose(total, 1) | (total == 0)) & (shares >= 0).all(axis=-1)
                require(right.all(), f"{name}: shares must be 0 or more, and add to 1, or to 0")
            require(any(x > 0 for x in self.verdicts.values()), "no battle has a verdict")

    def __repr__(self) -> str:
        return f"leaderboard.Battles({'; '.join(self._counts_in_words())})"

    def _repr_html_(self) -> str:
        return f"<small>leaderboard.Battles: {'; '.join(self._counts_in_words())}</small>"

    def _counts_in_words(self) -> list[str]:
        words = [how_many(len(self.systems), "system"), how_many(self.battles, "battle")]
        each = {name: n for name, n in self.verdicts.items() if n}
        return [*words, *(f"{name}: {how_many(n, 'verdict')}" for name, n in each.items())]

    @property
    def battles(self) -> int:
        """How many battles there are."""
        return int(self.count.sum())

    @property
    def sources(self) -> tuple[str, ...]:
        """Who gave verdicts: the judges, and ``"people"``."""
        return (*self.judges, PEOPLE)

    @property
    def verdicts(self) -> dict[str, int]:
        """How many battles each source gave a verdict on."""
        return {name: int(self.count[self.shares(name).any(axis=1)].sum()) for name in self.sources}

    @property
    def labelled(self) -> int:
        """How many battles have a verdict of people."""
        return self.verdicts[PEOPLE]

    @property
    def both_orders(self) -> bool:
        """Whether some pair was shown in both orders."""
        pairs = np.unique(np.column_stack([self.first, self.second]), axis=0)
        return len(np.unique(np.sort(pairs, axis=1), axis=0)) < len(pairs)

    @property
    def tied(self) -> bool:
        """Whether anybody called a tie."""
        return bool(self.people[:, 1].any() or self.verdict[..., 1].any())

    @cached_property
    def copies(self) -> int:
        """How often each battle stands in the table, if all do so equally often; else 1.

        That each count of a verdict is a multiple of m happens by chance with probability 1/m to
        the power of the counts that are free given those of the pairs; copies are told where that
        is below 0.001. Battles with an item count once however often they stand there.
        """
        if self.item is not None:
            return 1
        shown = np.column_stack([self.first, self.second])
        style = () if self.style is None else (self.style,)
        said = self.verdict.reshape(len(shown), -1)
        rows = np.column_stack([shown, self.people, said, *style])
        each = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
        counts = np.bincount(each, weights=self.count).astype(int)
        times, free = int(np.gcd.reduce(counts)), len(counts) - len(np.unique(shown, axis=0))
        return times if free > 0 and float(times) ** -free < RARE else 1

    @cached_property
    def repeated(self) -> tuple[int, int]:
        """Verdicts on a battle that their source had judged before, and those of them that differ.

        A battle is a pair shown in one order on an item that is named.
        """
        again = differ = 0
        for source in self.sources if self.item is not None else ():
            shares = self.shares(source)
            at = shares.any(axis=1)
            shown = np.column_stack([self.item, self.first, self.second])[at]
            battle = len(np.unique(shown, axis=0))
            again += int(self.count[at].sum()) - battle
            differ += len(np.unique(np.column_stack([shown, shares[at]]), axis=0)) - battle
        return again, differ

    def is_graded(self, source: str) -> bool:
        """Tell whether a source gives probabilities, and so no ties.

        Parameters
        ----------
        source : str
            A judge, or ``"people"``.

        Returns
        -------
        bool
            Whether a share is neither 0 nor 1, and none is a tie.
        """
        shares = self.shares(source)
        split = (shares[:, 0] > 0) & (shares[:, 0] < 1)
        return bool(split.any() and not shares[:, 1].any())

    def shares(self, source: str) -> np.ndarray:
        """Take the verdicts of a source.

        Parameters
        ----------
        source : str
            A judge, or ``"people"``.

        Returns
        -------
        numpy.ndarray, shape (n, 3)
            Shares for the first answer, a tie, and the second; 0 without a verdict.

        Raises
        ------
        InputError
            If there is no such source.
        """
        with checking("source") as require:
            known = source in self.sources
            require(known, f"no source {source!r}; there are {list(self.sources)}")
        if source == PEOPLE:
            return np.asarray(self.people)
        return np.asarray(self.verdict[:, self.judges.index(source)])

    def counted(self, source: str) -> np.ndarray:
        """Count the verdicts of a source by the systems shown.

        Parameters
        ----------
        source : str
            A judge, or ``"people"``.

        Returns
        -------
        numpy.ndarray, shape (n_systems, n_systems, 3)
            By the system shown first and the one shown second: verdicts for the first, ties, and
            verdicts for the second.
        """
        k = len(self.systems)
        counts = np.zeros((k * k, 3))
        np.add.at(counts, self.first * k + self.second, self.count[:, None] * self.shares(source))
        return counts.reshape(k, k, 3)

    @classmethod
    def from_frame(
        cls,
        table: Any,
        *,
        first: str = "model_a",
        second: str | None = "model_b",
        verdict: str | Sequence[str] | None = "winner",
        people: str | Sequence[str] | None = None,
        adjudicated: str | None = None,
        judge: str | None = None,
        item: str | None = None,
        lengths: tuple[str, str] | None = None,
        swapped: str | None = None,
        baseline: str = "baseline",
        count: str | None = None,
        first_value: Sequence[str] = (),
        second_value: Sequence[str] = (),
        tie_value: Sequence[str] = (),
        missing_value: Sequence[str] = (),
    ) -> Self:
        """Read a table with one row per battle.

        A cell of verdicts names the place that won (A, B, 1, 2, model_a, first), the system that
        won, a tie (also "tie (bothbad)"), one of five steps (A>>B, A>B, A=B, B>A, B>>A), or the
        probability that the first answer wins: from 0 to 1, or AlpacaEval's preference from 1 (the
        first) to 2 (the second). Strong and weak wins count alike. An empty cell is no verdict.

        Parameters
        ----------
        table : dataframe
            pandas, polars, Arrow, DuckDB or Spark. In an engine, or with more than 100,000 rows, it
            is counted where it lives without `item`, `lengths` and `swapped`.
        first, second : str
            Columns with the system whose answer was shown first, and second. Without `second` all
            met `baseline`.
        verdict : str or sequence of str or None, default "winner"
            Columns with judges' verdicts; each is a judge. None if only people were asked.
        people : str or sequence of str, optional
            Columns with people's verdicts, empty where nobody was asked; of several people the
            average is taken. Of a table with a column `judge`, names in it may be people's.
        adjudicated : str, optional
            Column with what several people settled on, empty where they did not: it stands in
            place of their average.
        judge : str, optional
            Column that names the judge, of a table with one row per verdict.
        item : str, optional
            Column that names the item, or prompt: verdicts on one item are not independent.
        lengths : tuple of str, optional
            Columns with the lengths of both answers.
        swapped : str, optional
            Column with the verdict on the same two answers with their places exchanged; it too is
            by the columns' systems, as in MT-bench's ``g2_winner``. Without `item` and `count`
            each row is an item of two verdicts.
        baseline : str, default "baseline"
            What everybody met, without `second`.
        count : str, optional
            Column with how many battles a row stands for.
        first_value, second_value, tie_value, missing_value : sequence of str
            Further words for a win of the first answer, of the second, a tie, or no verdict.

        Returns
        -------
        Battles
            Systems and judges in the order of their names, or of the columns.

        Raises
        ------
        InputError
            If a column is missing or named twice, or a verdict is not understood; all problems are
            told at once.
        """
        verdicts = each_name(verdict)
        have, labels = columns_of(table), each_name(people)
        in_judge = [] if judge is None else [column for column in labels if column not in have]
        labels = [column for column in labels if column not in in_judge]
        names = [c for c in (first, second, judge, item) if c is not None]
        said = [*verdicts, *labels, *filter(None, [swapped, adjudicated])]
        more = [*each_name(lengths), *each_name(count)]
        with checking("leaderboard.Battles") as require:
            require(bool(said), "give verdict= or people=: columns that say which answer won")
            for name, column in (("judge", judge), ("swapped", swapped)):
                single = column is None or len(verdicts) == 1
                require(single, f"with {name}= expected one column of verdicts, got {verdicts}")
            words = "adjudicated= needs what people said before, a column each: people="
            require(adjudicated is None or (labels and not in_judge), words)
            twice = few([repr(c) for c, n in Counter(said).items() if n > 1])
            once = "name a column once, as a judge's (verdict=) or as people's (people=)"
            require(not twice, f"{twice}: {once}; verdict=None if only people were asked")
        plain = item is None and lengths is None and count is None and swapped is None
        if plain and (is_counted_in_place(table) or len(table) > IN_ORDER):
            cells, n = count_cells(table, *said, names=names)
        else:
            rows_of = code_rows(table, *said, *more, names=names)
            cells = {c: each.rows().tolist() for c, each in rows_of.items()}
            n = np.ones(len(cells[first]), np.int64)
            n = n if count is None else _whole(rows_of[count], count)
        columns = {c: _coded(cells[c]) for c in dict.fromkeys([*names, *said])}
        systems, (left, right) = _systems(columns, first, second, baseline, len(n))
        meant = {"first": first_value, "second": second_value, "tie": tie_value}
        read = {
            c: _read(columns[c], c, systems, (left, right), {**meant, "missing": missing_value})
            for c in said
        }
        with checking("leaderboard.Battles") as require:
            for problem in [p for _, faults in read.values() for p in faults]:
                require(False, problem)
        asked = {c: np.asarray(shares) for c, (shares, _) in read.items()}
        style = None if lengths is None else _log_ratio(rows_of, lengths)
        by_item = None if item is None else columns[item][0]
        if swapped is not None:
            if by_item is None and count is None:  # both verdicts are on the same two answers
                by_item = np.arange(len(n))
            left, right, n = np.append(left, right), np.append(right, left), np.tile(n, 2)
            by_item = None if by_item is None else np.tile(by_item, 2)
            style = None if style is None else np.append(style, -style)
            columns = {c: (np.tile(codes, 2), kinds) for c, (codes, kinds) in columns.items()}
            asked = _with_swapped(asked, verdicts[0], swapped)
        names_of_judges, by_judge, of_judge, from_judge = _by_judge(
            columns, judge, verdicts, asked, in_judge
        )
        voices = [asked[c] for c in labels] + from_judge
        said_so = sum((v.any(axis=1) for v in voices), np.zeros(len(n)))
        of_people = sum(voices, np.zeros((len(n), 3))) / np.maximum(said_so, 1)[:, None]
        decided = np.zeros(len(n), bool)
        if adjudicated is not None:
            decided = asked[adjudicated].any(axis=1)
            of_people[decided] = asked[adjudicated][decided]
        unparsed = (n @ (of_judge & ~by_judge.any(axis=2))).tolist()
        rows = _only_said({
            "first": left, "second": right, "count": n, "verdict": by_judge, "people": of_people,
            "item": by_item, "style": style,
        })  # fmt: skip
        about = {"averaged": max(len(labels), 1), "settled": int(n[decided].sum())}
        return cls(systems, names_of_judges, **rows, unparsed=unparsed, **about)

    @classmethod
    def from_counts(cls, table: Any, *, count: str = "count", **columns: Any) -> Self:
        """Read a table that was counted before, with one row per pair and verdict.

        Parameters
        ----------
        table : dataframe
            As for `from_frame`.
        count : str, default "count"
            Column with how many battles a row stands for.
        **columns
            As for `from_frame`.

        Returns
        -------
        Battles
            The same as of the battles one by one.

        Raises
        ------
        InputError
            As of `from_frame`, or if a count is not a whole number.

        Examples
        --------
        >>> import pandas as pd
        >>> rows = {"model_a": ["x", "x"], "model_b": ["y", "y"], "winner": ["A", "B"],
        ...         "count": [60, 40]}
        >>> Battles.from_counts(pd.DataFrame(rows)).battles
        100
        """
        return cls.from_frame(table, count=count, **columns)


def _coded(cells: Sequence[Any]) -> tuple[np.ndarray, list[Any]]:
    """The distinct cells, and the place of each; empty ones are one."""
    place: dict[Any, int] = {}
    codes = [place.setdefault("" if c is None or c != c else c, len(place)) for c in cells]
    return np.array(codes, np.int64), list(place)


def _whole(cells: Coded, column: str) -> np.ndarray:
    numbers = numbers_in(*cells, column, remedy="give whole numbers")
    with checking("leaderboard.Battles") as require:
        wrong = numbers[~((numbers > 0) & (numbers % 1 == 0))][:3].tolist()
        require(not wrong, f"column {column!r} holds {wrong}, expected whole numbers from 1")
    return numbers.astype(np.int64)


def _systems(
    columns: Mapping[str, tuple[np.ndarray, list[Any]]],
    first: str,
    second: str | None,
    baseline: str,
    n: int,
) -> tuple[list[str], tuple[np.ndarray, np.ndarray]]:
    """Names of the systems, and the places of those shown first and second."""
    codes, cells = columns[first]
    others, theirs = (np.zeros(n, int), [baseline]) if second is None else columns[second]
    one_side, other = names_of(cells, first), names_of(theirs, second or "baseline")
    systems = sorted({*one_side, *other})
    places = [np.array([systems.index(x) for x in names]) for names in (one_side, other)]
    return systems, (places[0][codes], places[1][others])


def _read(
    column: tuple[np.ndarray, list[Any]],
    name: str,
    systems: Sequence[str],
    shown: tuple[np.ndarray, np.ndarray],
    meant: Mapping[str, Sequence[str]],
) -> tuple[np.ndarray, list[Problem]]:
    """Shares of each row's verdict, and what is wrong with them."""
    codes, cells = column
    cells_read = read_cells(cells, name, systems, meant)
    shares, winner = cells_read.shares[codes], cells_read.system[codes]
    problems = cells_read.problems
    if (winner >= 0).any():
        wins = [winner == place for place in shown]
        shares[wins[0]], shares[wins[1]] = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
        strange = (winner >= 0) & ~wins[0] & ~wins[1]
        if strange.any():
            names = few([systems[i] for i in np.unique(winner[strange])])
            words = f"column {name!r}: {names} won battles of two others ({strange.sum()} rows)"
            problems = [*problems, Problem(words, "strange-winner", name)]
    return shares, problems


def _by_judge(
    columns: Mapping[str, tuple[np.ndarray, list[Any]]],
    judge: str | None,
    verdicts: Sequence[str],
    asked: Mapping[str, np.ndarray],
    people: Sequence[str],
) -> tuple[list[str], np.ndarray, np.ndarray, list[np.ndarray]]:
    """Names of the judges, their verdicts and rows, and people's verdicts in their column."""
    rows = len(next(iter(columns.values()))[0])
    if judge is None:
        each = [asked[c] for c in verdicts]
        names = ["judge"] if list(verdicts) in JUDGES else list(verdicts)
        # a column that was named as a judge's is one, whatever it is called
        names = [f"{name} (judge)" if name == PEOPLE else name for name in names]
        shares = np.stack(each, axis=1) if each else np.zeros((rows, 0, 3))
        return names, shares, np.ones(shares.shape[:2], bool), []
    codes, cells = columns[judge]
    known = names_of(cells, judge)
    with checking("leaderboard.Battles") as require:
        absent = [name for name in people if name not in known]
        near = f"it is neither a column nor one of {few(known, 5)} in column {judge!r}"
        require(not absent, f"people={absent}: {near}")
    names = sorted({*known} - {*people})
    judge_of = np.array(known)[codes]
    shares = asked[verdicts[0]]
    of_judge = judge_of[:, None] == np.array(names, judge_of.dtype)
    voices = [shares * np.isin(judge_of, list(people))[:, None]] if people else []
    return names, shares[:, None] * of_judge[..., None], of_judge, voices


def _log_ratio(rows: Mapping[str, Coded], lengths: tuple[str, str]) -> np.ndarray:
    """Logarithm of the first answer's length over the second's."""
    each = [numbers_in(*rows[c], c, remedy="leave those rows out") for c in lengths]
    with checking("leaderboard.Battles") as require:
        for name, values in zip(lengths, each, strict=True):
            bad = int((~(values > 0)).sum())
            require(not bad, f"column {name!r}: {bad} lengths are missing or not positive")
    return np.asarray(np.log(each[0]) - np.log(each[1]))


def _with_swapped(
    asked: Mapping[str, np.ndarray], verdict: str, swapped: str
) -> dict[str, np.ndarray]:
    """Verdicts of battles, and below them with places exchanged; columns of people have one."""
    below = {c: np.zeros_like(shares) for c, shares in asked.items()}
    below[verdict] = asked[swapped][:, ::-1]
    return {c: np.concatenate([shares, below[c]]) for c, shares in asked.items()}


def _only_said(rows: dict[str, Any]) -> dict[str, Any]:
    """Rows on which somebody gave a verdict."""
    kept = rows["verdict"].any(axis=(1, 2)) | rows["people"].any(axis=1)
    return {name: None if values is None else values[kept] for name, values in rows.items()}
