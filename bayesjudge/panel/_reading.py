"""From a user's table of votes to arrays of small whole numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from bayesjudge.core.errors import checking
from bayesjudge.core.tables import read_rows, spell, to_binary

MISSING = -1
ONE_GENERATOR = "all"


def read_votes(
    table: Any,
    *,
    columns: dict[str, str | None],
    wide: tuple[str, ...] | None,
    long: tuple[str, str],
    meanings: tuple[Any, Any, Any],
    classes: tuple[Any, ...] | None,
    repeated: str,
) -> dict[str, Any]:
    """Read a table; the arguments are those of `Votes.from_frame`."""
    with checking("panel.Votes.from_frame") as require:
        require(repeated in ("error", "keep"), f"repeated={repeated!r}: error or keep")
        require(
            wide is not None or columns["item"] is not None,
            "a long table needs a column that identifies the item (item=)",
        )
        require(wide is None or len(wide) > 0, "judges=[] names no column")
        require(
            classes is None or meanings[:2] == (None, None),
            "give classes=, or pass_value= and fail_value=, not both",
        )
    labels = [
        *(long[1:] if wide is None else wide),
        *([columns["truth"]] if columns["truth"] else []),
    ]
    ids = [c for c in (columns["item"], columns["generator"]) if c]
    # a row without a judge is an item that nobody voted on
    frame = read_rows(table, *labels, names=ids, optional=long[:1] if wide is None else ())
    names, generator = _names(frame, columns["generator"])
    read = _Labels(meanings, classes)
    if wide is None:
        votes, truth, generator, judges, of_column = _read_long(
            frame, columns, long, generator, read, repeated
        )
    else:
        votes = np.column_stack(read.columns(frame, list(wide)))
        truth = _truth(frame, columns["truth"], read)
        if columns["item"] is not None:
            _refuse_repeats(frame, generator, columns["item"], [])
        judges, of_column = tuple(wide), np.arange(len(wide))
    return {
        "votes": votes,
        "truth": truth,
        "generator": generator,
        "generators": names,
        "judges": judges,
        "classes": read.classes,
        "judge_of_column": of_column,
    }


class _Labels:
    """Turn labels into indices; the votes and the truth share one dictionary."""

    def __init__(self, meanings: tuple[Any, Any, Any], classes: tuple[Any, ...] | None):
        self.meanings = [_listed(meaning) for meaning in meanings]
        self.binary = classes is None
        self.classes = ("0", "1") if classes is None else tuple(spell(c) for c in classes)

    def columns(self, frame: pd.DataFrame, names: list[str]) -> list[np.ndarray]:
        """Read columns that hold the same labels, distinct labels only."""
        found = [pd.factorize(frame[name], use_na_sentinel=True) for name in names]
        distinct = pd.Series(
            list({spell(v): v for _, values in found for v in values}.values()), dtype=object
        )
        code = self._code(distinct, names[0] if len(names) == 1 else "/".join(names[:3]))
        by_label = {spell(v): c for v, c in zip(distinct, code, strict=True)}
        read = []
        for codes, values in found:
            table = np.array([*(by_label[spell(v)] for v in values), MISSING], np.int8)
            read.append(table[codes])  # factorize marks the missing with -1, the last entry
        return read

    def _code(self, labels: pd.Series, name: str) -> list[int]:
        missing = self.meanings[2] or []
        if self.binary:
            passes, fails, _ = self.meanings
            coded = to_binary(
                labels, name, pass_values=passes, fail_values=fails, missing_values=missing
            )
            return coded.fillna(MISSING).astype(int).tolist()
        absent = {spell(m) for m in missing}
        text = [spell(v) for v in labels]
        odd = [t for t in text if t not in self.classes and t not in absent]
        with checking(f"column {name!r}") as require:
            require(not odd, f"{odd[:5]} are not among classes={list(self.classes)}")
        return [MISSING if t in absent else self.classes.index(t) for t in text]


def _read_long(
    frame: pd.DataFrame,
    columns: dict[str, str | None],
    long: tuple[str, str],
    generator: np.ndarray,
    read: _Labels,
    repeated: str,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[str, ...], np.ndarray]:
    """Spread one row a vote into one row an item."""
    judge, vote = long
    codes, values = pd.factorize(frame[columns["item"]])
    judge_code, judges = pd.factorize(frame[judge])  # -1 where nobody voted
    given = read.columns(frame, [vote])[0]
    truth = _truth(frame, columns["truth"], read)
    with checking("panel.Votes.from_frame") as require:
        require(len(judges) > 0, f"column {judge!r} names no judge")
        nobody = (judge_code < 0) & (given >= 0)
        require(not nobody.any(), f"{nobody.sum()} votes have no judge in column {judge!r}")
    key, item = np.unique(generator * max(len(values), 1) + codes, return_inverse=True)
    judged = judge_code >= 0
    if repeated == "error":
        _refuse_repeats(frame[judged], generator[judged], str(columns["item"]), [judge])
        occasion = np.zeros(int(judged.sum()), int)
    else:
        turn = pd.DataFrame({"item": item[judged], "judge": judge_code[judged]})
        occasion = turn.groupby(["item", "judge"]).cumcount().to_numpy()
    times = np.zeros(len(judges), int)
    np.maximum.at(times, judge_code[judged], occasion + 1)
    start = np.concatenate([[0], np.cumsum(times)[:-1]])
    votes = np.full((len(key), int(times.sum())), MISSING, np.int8)
    votes[item[judged], start[judge_code[judged]] + occasion] = given[judged]
    of_item = np.full(len(key), MISSING, np.int8)
    np.maximum.at(of_item, item, truth)
    with checking("panel.Votes.from_frame") as require:
        disagree = (truth >= 0) & (truth != of_item[item])
        shown = frame[columns["item"]][disagree].unique()[:3].tolist()
        require(not disagree.any(), f"items {shown} have more than one truth; keep one for each")
    generator_of = np.zeros(len(key), np.int64)
    generator_of[item] = generator
    return (
        votes,
        of_item,
        generator_of,
        tuple(judges),
        np.repeat(np.arange(len(judges)), times),
    )


def _truth(frame: pd.DataFrame, name: str | None, read: _Labels) -> np.ndarray:
    return np.full(len(frame), MISSING, np.int8) if name is None else read.columns(frame, [name])[0]


def _names(frame: pd.DataFrame, column: str | None) -> tuple[tuple[str, ...], np.ndarray]:
    """List generators in the order in which they occur, and the index of each row's."""
    if column is None:
        return (ONE_GENERATOR,), np.zeros(len(frame), np.int64)
    codes, values = pd.factorize(frame[column])
    return tuple(values), codes.astype(np.int64)


def _refuse_repeats(
    frame: pd.DataFrame, generator: np.ndarray, item: str, others: list[str]
) -> None:
    keys = frame[[item, *others]].assign(generator=generator)
    repeated = keys[keys.duplicated()]
    shown = repeated[[item, *others]].head(3).to_dict("records")
    what = "a judge voted more than once on an item" if others else "an item has several rows"
    with checking("panel.Votes.from_frame") as require:
        require(
            repeated.empty,
            f"{what} ({len(repeated)} times), for example {shown}; keep one"
            + (", or pass repeated='keep'" if others else ""),
        )


def _listed(value: Any) -> list[Any] | None:
    if value is None:
        return None
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]
