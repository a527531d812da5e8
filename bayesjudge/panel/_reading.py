"""From a user's table of votes to arrays of small whole numbers."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import pandas as pd

from bayesjudge.core.errors import checking
from bayesjudge.core.labels import by_spelling, listed, read_labels, respelled, spell
from bayesjudge.core.screen import how_many
from bayesjudge.core.tables import is_counted_in_place, read_rows

MISSING = -1
ONE_GENERATOR = "all"
BINARY = ("0", "1")


def read_votes(
    table: Any,
    *,
    columns: dict[str, str | None],
    wide: tuple[str, ...] | None,
    long: tuple[str, str],
    meanings: tuple[Any, Any, Any],
    classes: tuple[Any, ...] | None,
    repeated: str,
) -> tuple[dict[str, Any], np.ndarray]:
    """Read a table; the arguments are those of `Votes.from_frame`. Fields, and items' names."""
    require_readable(columns, wide, meanings, classes, repeated)
    labels = [
        *(long[1:] if wide is None else wide),
        *([columns["truth"]] if columns["truth"] else []),
    ]
    ids = [c for c in (columns["item"], columns["generator"]) if c]
    # a row without a judge is an item that nobody voted on
    frame = read_rows(table, *labels, names=ids, optional=long[:1] if wide is None else ())
    names, generator = _names(frame, columns["generator"])
    read = _Rows(frame, list(dict.fromkeys(labels)), meanings, classes)
    in_order = is_counted_in_place(table)  # an engine has none, and is counted in this one
    if wide is None:
        if in_order:
            order = np.argsort(-read[long[1]], kind="stable")
            frame, generator, read = frame.iloc[order], generator[order], read.taken(order)
        votes, truth, generator, judges, of_column, items = _read_long(
            frame, columns, long, generator, read, repeated, in_order
        )
    else:
        votes = np.column_stack([read[name] for name in wide])
        truth = _truth(frame, columns["truth"], read)
        if columns["item"] is not None:
            _refuse_repeats(frame, generator, columns, [])
        judges, of_column = tuple(wide), np.arange(len(wide))
        named = columns["item"] is not None
        items = frame[columns["item"]].to_numpy() if named else np.arange(len(frame))
    fields = {
        "votes": votes,
        "truth": truth,
        "generator": generator,
        "generators": names,
        "judges": judges,
        "classes": read.classes,
        "judge_of_column": of_column,
        "spelling": read.spelling,
    }
    return fields, items


def read_truth(
    labels: Any,
    item: str,
    generator: str | None,
    truth: str,
    meanings: tuple[Any, Any, Any],
    classes: tuple[str, ...],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, str]:
    """Items, their generators, what people said of them, and how labels were read."""
    frame = read_rows(labels, truth, names=[c for c in (item, generator) if c])
    read = _Rows(frame, [truth], meanings, None if classes == BINARY else classes)
    of = np.array([]) if generator is None else frame[generator].to_numpy()
    return frame[item].to_numpy(), of, read[truth], read.spelling


def require_readable(
    columns: dict[str, str | None],
    wide: tuple[str, ...] | None,
    meanings: tuple[Any, Any, Any],
    classes: tuple[Any, ...] | None,
    repeated: str,
) -> None:
    """Refuse arguments of `Votes.from_frame` that do not go together."""
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


class Labels:
    """What the distinct labels of some columns mean: indices into `classes`, -1 for none."""

    def __init__(
        self,
        distinct: dict[str, list[Any]],
        meanings: tuple[Any, Any, Any],
        classes: tuple[Any, ...] | None,
    ):
        self.classes = BINARY if classes is None else tuple(map(spell, classes))
        self.spelling = ""
        if classes is None:
            passes, fails, missing = meanings
            read, self.spelling = read_labels(
                distinct, pass_value=passes, fail_value=fails, missing_value=missing
            )
            self.code = {
                name: np.where(np.isnan(values), MISSING, values).astype(np.int8)
                for name, values in read.items()
            }
        else:
            self.code = self._places(distinct, listed(meanings[2]) or [])

    def _places(self, distinct: dict[str, list[Any]], missing: list[Any]) -> dict[str, np.ndarray]:
        classes = {name: i for i, name in enumerate(self.classes)}
        place = by_spelling(classes | dict.fromkeys(map(spell, missing), MISSING))
        with checking("panel.Votes.from_frame") as require:
            for name, labels in distinct.items():
                odd = [spell(label) for label in labels if place(label) is None]
                where = f"column {name!r}: {odd[:5]} are not among classes={list(self.classes)}"
                require(not odd, where)
        found = {spell(label) for labels in distinct.values() for label in labels}
        read = {label: i for label in found if (i := place(label)) is not None and i != MISSING}
        self.spelling = respelled({label: self.classes[i] for label, i in read.items()})
        return {
            name: np.array([place(label) for label in labels], np.int8)
            for name, labels in distinct.items()
        }


class _Rows:
    """Columns of labels of every row as indices into the classes, all of them read at once."""

    def __init__(
        self,
        frame: pd.DataFrame,
        columns: list[str],
        meanings: tuple[Any, Any, Any],
        classes: tuple[Any, ...] | None,
    ):
        found = {name: pd.factorize(frame[name]) for name in columns}
        labels = Labels({n: list(cells) for n, (_, cells) in found.items()}, meanings, classes)
        self.classes, self.spelling = labels.classes, labels.spelling
        # factorize marks the missing with -1, the last entry
        self._read = {
            name: np.append(labels.code[name], np.int8(MISSING))[codes]
            for name, (codes, _) in found.items()
        }

    def __getitem__(self, name: str) -> np.ndarray:
        return self._read[name]

    def taken(self, order: np.ndarray) -> _Rows:
        """The rows in another order."""
        made = copy(self)
        made._read = {name: codes[order] for name, codes in self._read.items()}
        return made


def _read_long(
    frame: pd.DataFrame,
    columns: dict[str, str | None],
    long: tuple[str, str],
    generator: np.ndarray,
    read: _Rows,
    repeated: str,
    in_order: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[str, ...], np.ndarray, np.ndarray]:
    """Spread one row a vote into one row an item."""
    judge, vote = long
    codes, values = pd.factorize(frame[columns["item"]])
    judge_code, judges = pd.factorize(frame[judge], sort=in_order)  # -1 where nobody voted
    given = read[vote]
    truth = _truth(frame, columns["truth"], read)
    with checking("panel.Votes.from_frame") as require:
        require(len(judges) > 0, f"column {judge!r} names no judge")
        nobody = (judge_code < 0) & (given >= 0)
        require(
            not nobody.any(),
            f"{how_many(int(nobody.sum()), 'vote', 'have')} no judge in column {judge!r}",
        )
    key, item = np.unique(generator * max(len(values), 1) + codes, return_inverse=True)
    judged = judge_code >= 0
    if repeated == "error":
        _refuse_repeats(frame[judged], generator[judged], columns, [judge])
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
        np.asarray(values)[key % max(len(values), 1)],
    )


def _truth(frame: pd.DataFrame, name: str | None, read: _Rows) -> np.ndarray:
    return np.full(len(frame), MISSING, np.int8) if name is None else read[name]


def _names(frame: pd.DataFrame, column: str | None) -> tuple[tuple[str, ...], np.ndarray]:
    """List generators in the order in which they occur, and the index of each row's."""
    if column is None:
        return (ONE_GENERATOR,), np.zeros(len(frame), np.int64)
    codes, values = pd.factorize(frame[column])
    return tuple(values), codes.astype(np.int64)


def _refuse_repeats(
    frame: pd.DataFrame, generator: np.ndarray, columns: dict[str, str | None], others: list[str]
) -> None:
    named = frame[[str(columns["item"]), *others]]
    keys = named.set_axis(range(1 + len(others)), axis=1).assign(generator=generator)
    repeated = named[keys.duplicated()]
    shown = repeated.head(3).to_dict("records")
    what = "a judge voted more than once on an item" if others else "an item has several rows"
    with checking("panel.Votes.from_frame") as require:
        require(
            repeated.empty,
            f"{what} ({len(repeated)} times), for example {shown}; keep one"
            + (", or pass repeated='keep'" if others else "")
            + ("" if columns["generator"] else ", or name what made each item: generator='…'"),
        )
