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
from bayesjudge.repeats._redaction import text_of

#: Asks once: takes an item, gives a score, a `Reply`, or None where it cannot say. Its attribute
#: `asks`, a mapping, may say what it asks of whom, and `secrets` what must not be shown.
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
        The answer, word for word; kept, but for keys, which are blanked out.
    cost : float, default 0
        What the call cost, in any currency.

    Notes
    -----
    A reply that cannot be kept as it is ends its call like any other: half a character in `raw` is
    spelled out and the answer counted as unparsable; a `raw` that is no text or a `cost` that is
    no number of 0 or more is the judge's fault, and the call counted as failed.
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
        # in a task of its own, a judge that is cancelled from within does not cancel the run
        task = asyncio.create_task(_caught(judge, value))
    finally:
        _current.reset(token)
    async with asyncio.timeout(timeout):
        found = await task
    if isinstance(found, _Exit):
        raise found.error
    return (
        found
        if isinstance(found, Reply)
        else Reply(found, None if found is None else text_of(found))
    )


class _Exit(NamedTuple):
    """What would end the event loop, were it raised in a task: Ctrl-C, sys.exit."""

    error: BaseException


async def _caught(judge: Judge, value: Any) -> Any:
    try:
        return await judge(value)
    except (Exception, asyncio.CancelledError, GeneratorExit):
        raise
    except BaseException as error:
        return _Exit(error)


class Reading(NamedTuple):
    """A reply as it can be stored.

    Parameters
    ----------
    score : float or None
        On the scale.
    raw : str or None
        Text that UTF-8 can hold.
    cost : float
        Finite, 0 or more.
    problem : str or None
        Why there is no score: ``"unparsable: …"``, or ``"failed: …"`` where the judge is at fault.
    """

    score: float | None
    raw: str | None
    cost: float
    problem: str | None


def read_reply(reply: Reply, scale: tuple[float, ...]) -> Reading:
    """Read a reply, whatever is in it.

    Parameters
    ----------
    reply : Reply
        From the judge.
    scale : tuple of float
        Values that the score may have.

    Returns
    -------
    Reading
        With the first of its problems.
    """
    score, unread = _score(reply.score, scale)
    raw = None if reply.raw is None else text_of(reply.raw)
    cost = _number(reply.cost)
    problems = [unread]
    if isinstance(reply.raw, str) and raw != reply.raw:
        problems.insert(0, "unparsable: the answer holds half a character")
    if cost is None or not 0 <= cost < math.inf:
        cost, wrong = 0.0, text_of(reply.cost)[:60]
        problems.insert(0, f"failed: cost must be a number of 0 or more, got {wrong}")
    if not isinstance(reply.raw, str | None):
        kind = type(reply.raw).__name__
        problems.insert(0, f"failed: raw must be the answer's text or None, got a {kind}")
    problem = next((one for one in problems if one), None)
    return Reading(None if problem else score, raw, cost, problem)


def _score(given: Any, scale: tuple[float, ...]) -> tuple[float | None, str | None]:
    if given is None:
        return None, "unparsable: no score"
    value = _number(given)
    if value is None:
        shown = repr(text_of(given)[:60]) if isinstance(given, str) else text_of(given)[:60]
        return None, f"unparsable: {shown} is not a number"
    if not bool(np.isin(value, scale)):
        return None, f"unparsable: {value:g} is not on the scale"
    return value, None


def _number(given: Any) -> float | None:
    """Return a float, or None for what is none: 10**400 is too large to be one."""
    try:
        return float(given)
    except Exception:
        return None
