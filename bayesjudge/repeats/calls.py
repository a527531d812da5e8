"""One call: the judge asked, timed, tried again, and read."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bayesjudge.core.errors import checking

#: Asks once: takes an item, gives a score, an `Reply`, or None where it cannot say.
Judge = Callable[[Any], Awaitable[Any]]


class Call(NamedTuple):
    """Which call is being made; see `current_call`.

    Parameters
    ----------
    item : str
        Name of the item.
    judge : str
        Name of the judge.
    repeat : int
        The n-th call about the item, from 1.
    attempt : int
        The n-th try of that call, from 1.
    """

    item: str
    judge: str
    repeat: int
    attempt: int


@dataclass(frozen=True)
class Reply:
    """What a judge returns that reports more than a score.

    Parameters
    ----------
    score : float or None
        None where the answer holds none.
    raw : str, optional
        The answer, word for word; kept.
    cost : float, default 0
        What the call cost, in any currency.
    """

    score: float | None
    raw: str | None = None
    cost: float = 0.0


class JudgeError(Exception):
    """A judge raises it where asking again is of no use: a bad key, an unknown model.

    The run then ends, with everything stored.
    """


@dataclass(frozen=True)
class Patience:
    """How long to wait, and how often to try again.

    Parameters
    ----------
    timeout : float, default 60
        Seconds after which a call is given up.
    retries : int, default 4
        Further attempts after one that failed.
    first_delay, longest_delay : float, default 1, 60
        Seconds before the first of them, which double, and the most.
    failures_in_a_row : int, default 20
        Calls that failed for good, with no answer between them, after which the run ends: then it
        is the connection, not the call.

    Raises
    ------
    InputError
        Where a number is out of its range.
    """

    timeout: float = 60.0
    retries: int = 4
    first_delay: float = 1.0
    longest_delay: float = 60.0
    failures_in_a_row: int = 20

    def __post_init__(self) -> None:
        with checking("repeats.Patience") as require:
            require(self.timeout > 0, f"timeout must be positive, got {self.timeout!r}")
            require(self.retries >= 0, f"retries must be 0 or more, got {self.retries!r}")
            require(
                self.first_delay >= 0, f"first_delay must be 0 or more, got {self.first_delay!r}"
            )
            require(
                self.failures_in_a_row >= 1,
                f"failures_in_a_row must be 1 or more, got {self.failures_in_a_row!r}",
            )

    def delay(self, attempt: int, dice: random.Random) -> float:
        """Draw the time to wait after the n-th attempt failed.

        Parameters
        ----------
        attempt : int
            From 1.
        dice : random.Random
            For the jitter, which keeps calls that failed together from trying again together.

        Returns
        -------
        float
            Between half and all of ``first_delay * 2 ** (attempt - 1)``, capped.
        """
        most = min(self.longest_delay, self.first_delay * 2.0 ** (attempt - 1))
        return most * dice.uniform(0.5, 1.0)


_current: ContextVar[Call | None] = ContextVar("bayesjudge_call", default=None)


def current_call() -> Call | None:
    """Tell a judge which call it is answering, for a log, a seed or an idempotency key.

    Returns
    -------
    Call or None
        None outside a run.
    """
    return _current.get()


async def ask_once(judge: Judge, value: Any, call: Call, timeout: float) -> Reply:
    """Ask a judge, within a time.

    Parameters
    ----------
    judge : callable
        ``async (item) -> score``.
    value : object
        What it is asked about.
    call : Call
        Told to the judge by `current_call`.
    timeout : float
        Seconds.

    Returns
    -------
    Reply
        As the judge gave it, or made of the score.

    Raises
    ------
    TimeoutError
        Where it took too long. Whatever the judge raises is raised.
    """
    token = _current.set(call)
    try:
        async with asyncio.timeout(timeout):
            found = await judge(value)
    finally:
        _current.reset(token)
    if isinstance(found, Reply):
        return found
    return Reply(found, None if found is None else str(found))


def read_score(reply: Reply, scale: tuple[float, ...]) -> tuple[float | None, str | None]:
    """Check a reply's score against the scale.

    Parameters
    ----------
    reply : Reply
        From the judge.
    scale : tuple of float
        Values that it may give.

    Returns
    -------
    score : float or None
        None where there is none.
    problem : str or None
        What is wrong with it.
    """
    if reply.score is None:
        return None, "unparsable: no score"
    try:
        value = float(reply.score)
    except (TypeError, ValueError):
        return None, f"unparsable: {reply.score!r} is not a number"
    if math.isnan(value) or not bool(np.isin(value, scale)):
        return None, f"unparsable: {value:g} is not on the scale"
    return value, None
