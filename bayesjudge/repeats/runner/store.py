"""Every call in a SQLite file: noted before it is made, kept when it is answered.

One file holds one run, or several, each an arm. A call has a slot: the n-th call about an item.
Which judge a slot asks and what the run decides after it follow from the slots alone, never from
the order in which answers arrive, so that a run that was killed goes on to where it would have got.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from bayesjudge.core.errors import InputError, checking, expect, problem
from bayesjudge.repeats.runner._fingerprint import Entry, changes

if TYPE_CHECKING:
    import pandas as pd

#: Stored in the file as SQLite's user_version; a file of another version is refused.
SCHEMA_VERSION = 5
_SCHEMA = """
CREATE TABLE asked (
    arm TEXT NOT NULL, name TEXT NOT NULL,
    text TEXT NOT NULL, digest TEXT NOT NULL, about TEXT NOT NULL,
    PRIMARY KEY (arm, name)
) WITHOUT ROWID;
CREATE TABLE attempts (
    id INTEGER PRIMARY KEY, arm TEXT NOT NULL,
    item TEXT NOT NULL, slot INTEGER NOT NULL, judge TEXT NOT NULL,
    started REAL NOT NULL, seconds REAL, cost REAL NOT NULL DEFAULT 0, problem TEXT
);
CREATE TABLE answers (
    arm TEXT NOT NULL, item TEXT NOT NULL, slot INTEGER NOT NULL, judge TEXT NOT NULL,
    score REAL, raw TEXT, problem TEXT, reason TEXT,
    PRIMARY KEY (arm, item, slot)
) WITHOUT ROWID;
"""
#: What to do about an error of SQLite's, by the first byte of its code.
_ADVICE = {
    sqlite3.SQLITE_FULL: "free space on the disk and run again",
    sqlite3.SQLITE_IOERR: "see that the disk has space and works, and run again",
    sqlite3.SQLITE_READONLY: "make the file and its folder writable",
    sqlite3.SQLITE_PERM: "make the file and its folder writable",
    sqlite3.SQLITE_CANTOPEN: "see that the folder is there and writable, and that it is a file",
    sqlite3.SQLITE_BUSY: "another program is writing to it; close that and run again",
    sqlite3.SQLITE_CORRUPT: "it is damaged: take a copy from before, or save what can be read with "
    "sqlite3's .recover, and run again",
}


class Answer(NamedTuple):
    """What became of one slot."""

    item: str
    slot: int
    judge: str
    score: float | None
    raw: str | None
    problem: str | None
    reason: str | None


class Store:
    """The calls of one arm."""

    def __init__(self, path: str | Path, asked: Mapping[str, Entry], arm: str = "main"):
        self.path, self.arm = Path(path), arm
        real = self.path.resolve()  # by whatever name it goes, it has one lock
        self._lock = _lock(real, self.path)
        try:
            self._file = _connect(real, self.path)
        except BaseException:
            self._lock.close()
            raise
        try:
            with _explained(self.path):
                self._check(asked)
        except BaseException:
            self.close()
            raise

    def _check(self, asked: Mapping[str, Entry]) -> None:
        """Hold what is asked against what was, and keep it with a new arm."""
        rows = self._file.execute(
            "SELECT name, text, digest, about FROM asked WHERE arm = ?", [self.arm]
        )
        before = {name: Entry(*entry) for name, *entry in rows}
        if not before and _answers(self._file, self.arm):
            raise sqlite3.DatabaseError(f"it does not say what arm {self.arm!r} asked")
        changed = changes(before, asked) if before else []
        with checking("repeats store") as require:
            for change in changed:
                require(False, "other-run", path=str(self.path), arm=self.arm, change=change)
            require(
                not changed,
                "ask as before, begin a new arm of the store (arm='…', --arm …) or take another "
                "file; no answer was changed",
            )
        if not before:
            with self._file:
                self._file.executemany(
                    "INSERT INTO asked VALUES (?, ?, ?, ?, ?)",
                    [(self.arm, name, *entry) for name, entry in asked.items()],
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
        """Note an attempt before it is made, so that no crash loses count of it."""
        with _explained(self.path), self._file:
            row = self._file.execute(
                "INSERT INTO attempts (arm, item, slot, judge, started) VALUES (?, ?, ?, ?, ?)",
                (self.arm, item, slot, judge, time.time()),
            )
        return int(row.lastrowid or 0)

    def end(
        self, attempt: int, seconds: float, cost: float, problem: str | None, answer: Answer | None
    ) -> None:
        """Keep what became of an attempt, and of its slot if that is now known."""
        with _explained(self.path), self._file:
            self._file.execute(
                "UPDATE attempts SET seconds = ?, cost = ?, problem = ? WHERE id = ?",
                (seconds, cost, problem, attempt),
            )
            if answer is not None:
                self._file.execute(
                    "INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (self.arm, *answer)
                )

    def answers(self) -> list[Answer]:
        """List what is known, by item and slot."""
        with _explained(self.path):
            return _answers(self._file, self.arm)

    def spent(self) -> tuple[int, float]:
        """Count attempts and cost, of this and of earlier runs on the arm."""
        with _explained(self.path):
            calls, cost = self._file.execute(
                "SELECT COUNT(*), COALESCE(SUM(cost), 0) FROM attempts WHERE arm = ?", [self.arm]
            ).fetchone()
            return int(calls), float(cost)


def read_answers(path: str | Path, *, arm: str | None = None) -> pd.DataFrame:
    """Read the answers of a store, also while a run is writing to it.

    Parameters
    ----------
    path : str or pathlib.Path
        A file that `sample_until` wrote.
    arm : str, optional
        Which of its runs; needed if it holds several, which are never put together.

    Returns
    -------
    pandas.DataFrame
        Columns ``item``, ``judge``, ``repeat`` (the n-th call about the item, from 1), ``score``
        (empty if there is none), ``raw``, ``problem`` (``"unparsable"``, ``"failed"`` or empty)
        and its ``reason``: what `Scores.from_frame` reads.

    Raises
    ------
    InputError
        If there is no such file or arm, or it is no store of this version.
    """
    import pandas as pd

    with _opened(path, arm) as (file, name):
        answers = [] if name is None else _answers(file, name)
    columns = ["item", "judge", "repeat", "score", "raw", "problem", "reason"]
    rows = [(a.item, a.judge, a.slot + 1, a.score, a.raw, a.problem, a.reason) for a in answers]
    return pd.DataFrame(rows, columns=columns).astype({"score": float})


def read_latency(path: str | Path, *, arm: str | None = None) -> pd.DataFrame:
    """Tell how long calls took, by how many were in flight when they began.

    Parameters
    ----------
    path : str or pathlib.Path
        A file that `sample_until` wrote.
    arm : str, optional
        Which of its runs; needed if it holds several.

    Returns
    -------
    pandas.DataFrame
        Index ``in_flight`` (calls that had begun and not ended, the call itself counted);
        ``calls``, and the ``mean``, ``sd`` (``nan`` of one call) and ``p95`` of their seconds,
        from the request to the answer or the failure. A call whose end was never seen counts in
        flight until the last end of the run, and has no seconds.

    Raises
    ------
    InputError
        If there is no such file or arm, or it is no store of this version.

    References
    ----------
    Source 3, 'Batch size'.
    """
    import pandas as pd

    with _opened(path, arm) as (file, name):
        rows = file.execute("SELECT started, seconds FROM attempts WHERE arm = ?", [name])
        table = pd.DataFrame(rows.fetchall(), columns=["started", "seconds"]).astype(float)
    ends = table["started"] + table["seconds"]
    begun, ended = np.sort(table["started"]), np.sort(ends.fillna(ends.max()))
    before = np.searchsorted(begun, table["started"], side="right")
    table["in_flight"] = before - np.searchsorted(ended, table["started"], side="right")
    seconds = table.dropna().groupby("in_flight")["seconds"]
    return pd.DataFrame(
        {
            "calls": seconds.size(),
            "mean": seconds.mean(),
            "sd": seconds.std(),
            "p95": seconds.quantile(0.95),
        }
    )


@contextlib.contextmanager
def _opened(path: str | Path, arm: str | None) -> Iterator[tuple[sqlite3.Connection, str | None]]:
    """The file of a store, and the name of its one arm or of the one that is asked for."""
    path = Path(path)
    expect("repeats store", path.is_file(), f"no file {str(path)!r}")
    file = _connect(path.resolve(), path, make=False)
    with contextlib.closing(file), _explained(path):
        arms = [row[0] for row in file.execute("SELECT DISTINCT arm FROM asked ORDER BY arm")]
        with checking("repeats store") as require:
            settled = arm is not None or len(arms) < 2
            require(settled, "several-arms", path=str(path), arms=arms, first=arms[:1])
            there = arm is None or arm in arms
            require(there, "no-arm", path=str(path), arm=arm, arms=arms)
        yield file, arm or (arms[0] if arms else None)


def _answers(file: sqlite3.Connection, arm: str) -> list[Answer]:
    rows = file.execute(
        "SELECT item, slot, judge, score, raw, problem, reason FROM answers WHERE arm = ? "
        "ORDER BY item, slot",
        [arm],
    )
    answers = [Answer(*row) for row in rows]
    for answer in answers:
        kinds = (
            (answer.item, str),
            (answer.slot, int),
            (answer.judge, str),
            (answer.score, float | None),
        )
        if not all(isinstance(value, kind) for value, kind in kinds):
            raise sqlite3.DatabaseError(f"an answer about {answer.item!r} is none")
    return answers


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Say what is wrong with the file, and what to do, in one message."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
        # a text that is none and a table that is gone are damage, too
        kind = sqlite3.SQLITE_CORRUPT if code in (None, sqlite3.SQLITE_ERROR) else code & 0xFF
        advice = _ADVICE.get(kind, "see that the file is a store")
        raise InputError(
            "repeats store",
            [problem("store-unreadable", path=str(path), error=error, advice=advice)],
        ) from None


def _connect(real: Path, path: Path, make: bool = True) -> sqlite3.Connection:
    """Open a store; make one if the file is new, or only look."""
    with _explained(path):
        file = sqlite3.connect(real, timeout=30)
    try:
        with _explained(path):
            version, problem = _prepared(file, make)
        with checking("repeats store") as require:
            require(version == SCHEMA_VERSION, "no-store", path=str(path), problem=problem)
    except BaseException:
        file.close()
        raise
    return file


def _prepared(file: sqlite3.Connection, make: bool) -> tuple[int | None, str]:
    """Version of a file, with its tables if it was new, and what is wrong with it."""
    try:
        version = file.execute("PRAGMA user_version").fetchone()[0]
        tables = file.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
        if version == 0 and tables == 0:
            if not make:
                return None, "it is empty"
            version = SCHEMA_VERSION
        elif version != SCHEMA_VERSION:
            return version, f"version {version}, this package reads {SCHEMA_VERSION}"
        # every commit survives the death of the process; only a loss of power can take the last
        file.execute("PRAGMA journal_mode = WAL")
        file.execute("PRAGMA synchronous = NORMAL")
        if tables == 0:
            file.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_NOTADB:
            return None, str(error)
        raise
    return version, ""


def _lock(real: Path, path: Path) -> sqlite3.Connection:
    """Hold a lock that the system releases however the process ends."""
    with checking("repeats store") as require:
        require(not real.is_file() or real.stat().st_nlink == 1, "several-names", path=str(path))
    with _explained(path):
        lock = sqlite3.connect(real.with_name(real.name + ".lock"), timeout=0)
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            lock.close()
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            busy = True
        else:
            busy = False
    expect("repeats store", not busy, "in-use", path=str(path))
    return lock
