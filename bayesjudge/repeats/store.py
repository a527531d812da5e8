"""Every call in a SQLite file: noted before it is made, kept when it is answered.

One file is one run. A call has a slot: the n-th call about an item. Which judge a slot asks and
what the run decides after it follow from the slots alone, never from the order in which answers
arrive, so that a run that was killed goes on to where it would have got.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

import pandas as pd

from bayesjudge.core.errors import checking

#: Stored in the file as SQLite's user_version; a file of another version is refused.
SCHEMA_VERSION = 1
_SCHEMA = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE attempts (
    id INTEGER PRIMARY KEY,
    item TEXT NOT NULL, slot INTEGER NOT NULL, judge TEXT NOT NULL,
    started REAL NOT NULL, seconds REAL, cost REAL NOT NULL DEFAULT 0, problem TEXT
);
CREATE TABLE answers (
    item TEXT NOT NULL, slot INTEGER NOT NULL, judge TEXT NOT NULL,
    score REAL, raw TEXT, problem TEXT,
    PRIMARY KEY (item, slot)
) WITHOUT ROWID;
"""


class Answer(NamedTuple):
    """What became of one slot.

    Parameters
    ----------
    item : str
        What was scored.
    slot : int
        The n-th call about it, from 0.
    judge : str
        Who was asked.
    score : float or None
        None where the answer held no score, or none came.
    raw : str or None
        The answer, word for word, where the judge gave it.
    problem : str or None
        ``"unparsable: …"`` or ``"failed: …"``.
    """

    item: str
    slot: int
    judge: str
    score: float | None
    raw: str | None
    problem: str | None


class Store:
    """The calls of one run.

    Parameters
    ----------
    path : str or pathlib.Path
        The file; made where there is none.
    about : mapping
        What answers must have in common to be compared: scale, judges, items. Kept in a new file;
        an old one must agree.

    Raises
    ------
    InputError
        Where the file is no store, is of another version, belongs to another run, or is in use by
        a run.
    """

    def __init__(self, path: str | Path, about: Mapping[str, Any]):
        self.path = Path(path)
        self._lock = _lock(self.path)
        try:
            self._file = _connect(self.path)
        except BaseException:
            self._lock.close()
            raise
        try:
            self._check(about)
        except BaseException:
            self.close()
            raise

    def _check(self, about: Mapping[str, Any]) -> None:
        wanted = {name: json.dumps(value) for name, value in about.items()}
        with self._file:
            found = dict(self._file.execute("SELECT name, value FROM about"))
            if not found:
                self._file.executemany("INSERT INTO about VALUES (?, ?)", wanted.items())
                return
        with checking("repeats store") as require:
            for name, value in wanted.items():
                require(
                    found.get(name) == value,
                    f"{str(self.path)!r} holds a run with other {name} "
                    f"({_short(found.get(name))}, now {_short(value)}); take another file",
                )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and let other runs have it."""
        self._file.close()
        self._lock.close()

    def begin(self, item: str, slot: int, judge: str) -> int:
        """Note an attempt before it is made, so that no crash loses count of it.

        Parameters
        ----------
        item : str
            What is to be scored.
        slot : int
            The n-th call about it.
        judge : str
            Who is asked.

        Returns
        -------
        int
            Its number, for `end`.
        """
        with self._file:
            made = self._file.execute(
                "INSERT INTO attempts (item, slot, judge, started) VALUES (?, ?, ?, ?)",
                (item, slot, judge, time.time()),
            )
        return int(made.lastrowid or 0)

    def end(
        self, attempt: int, seconds: float, cost: float, problem: str | None, answer: Answer | None
    ) -> None:
        """Keep what became of an attempt, and of its slot where that is now known.

        Parameters
        ----------
        attempt : int
            From `begin`.
        seconds, cost : float
            What it took.
        problem : str or None
            Why there is no answer.
        answer : Answer or None
            None where the slot will be tried again.
        """
        with self._file:
            self._file.execute(
                "UPDATE attempts SET seconds = ?, cost = ?, problem = ? WHERE id = ?",
                (seconds, cost, problem, attempt),
            )
            if answer is not None:
                self._file.execute("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?)", answer)

    def answers(self) -> list[Answer]:
        """List what is known, by item and slot.

        Returns
        -------
        list of Answer
            In an order that does not depend on when they came.
        """
        rows = self._file.execute("SELECT * FROM answers ORDER BY item, slot")
        return [Answer(*row) for row in rows]

    def spent(self) -> tuple[int, float]:
        """Count attempts and cost, of this and of earlier runs on the file.

        Returns
        -------
        calls : int
            Attempts, those without an answer too.
        cost : float
            As the judges reported it.
        """
        calls, cost = self._file.execute(
            "SELECT COUNT(*), COALESCE(SUM(cost), 0) FROM attempts"
        ).fetchone()
        return int(calls), float(cost)


def read_answers(path: str | Path) -> pd.DataFrame:
    """Read the answers of a store, also while a run is writing to it.

    Parameters
    ----------
    path : str or pathlib.Path
        A file that `sample_until` wrote.

    Returns
    -------
    pandas.DataFrame
        Columns ``item``, ``judge``, ``repeat`` (the n-th call about the item, from 1), ``score``
        (empty where there is none), ``raw``, ``problem``: what `Scores.from_frame` reads.

    Raises
    ------
    InputError
        Where there is no such file, or it is no store of this version.
    """
    with checking("repeats store") as require:
        require(Path(path).is_file(), f"no file {str(path)!r}")
    file = _connect(Path(path))
    try:
        rows = file.execute(
            "SELECT item, judge, slot + 1, score, raw, problem FROM answers ORDER BY item, slot"
        ).fetchall()
    finally:
        file.close()
    columns = ["item", "judge", "repeat", "score", "raw", "problem"]
    return pd.DataFrame(rows, columns=columns).astype({"score": float})


def _connect(path: Path) -> sqlite3.Connection:
    """Open a store, or make one where the file is new."""
    file = sqlite3.connect(path, timeout=30)
    try:
        version = file.execute("PRAGMA user_version").fetchone()[0]
        tables = file.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
        # every commit survives the death of the process; only a loss of power can take the last
        file.execute("PRAGMA journal_mode = WAL")
        file.execute("PRAGMA synchronous = NORMAL")
        if version == 0 and tables == 0:
            file.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")
            version = SCHEMA_VERSION
    except sqlite3.DatabaseError as error:
        file.close()
        version, problem = None, str(error)
        if isinstance(error, sqlite3.OperationalError):
            raise
    else:
        problem = f"version {version}, this package reads {SCHEMA_VERSION}"
    if version != SCHEMA_VERSION:
        file.close()
    with checking("repeats store") as require:
        require(version == SCHEMA_VERSION, f"{str(path)!r} is no store of repeats ({problem})")
    return file


def _lock(path: Path) -> sqlite3.Connection:
    """Hold a lock that the system releases however the process ends."""
    lock = sqlite3.connect(path.with_name(path.name + ".lock"), timeout=0)
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError:
        lock.close()
        with checking("repeats store") as require:
            require(False, f"a run is using {str(path)!r}; wait for it, or take another file")
    return lock


def _short(value: str | None, length: int = 60) -> str:
    text = "nothing" if value is None else value
    return text if len(text) <= length else text[:length] + " …"
