"""Judges: one call and its reply; chat-completion models through litellm (an optional extra)."""

from __future__ import annotations

import asyncio
import hashlib
import math
import re
import warnings
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.repeats.runner._redaction import (
    Redactor,
    is_secret_name,
    secrets_in,
    text_of,
    without_secrets,
)

#: Asks once: takes an item, gives a score, a `Reply`, or None if it cannot say. Its attribute
#: `asks`, a mapping, says what it asks of whom; `secrets` may list what must not be shown.
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
        None if the answer holds none.
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
    """A judge raises it if asking again is of no use: a bad key, an unknown model.

    The run then ends, with everything stored.
    """


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
    """Ask a judge, within a time."""
    token = _current.set(call)
    try:
        # in a task of its own, a judge that is cancelled from within does not cancel the run
        task = asyncio.create_task(_caught(judge, value))
    finally:
        _current.reset(token)
    async with asyncio.timeout(timeout):
        reply = await task
    if isinstance(reply, _Exit):
        raise reply.error
    return (
        reply
        if isinstance(reply, Reply)
        else Reply(reply, None if reply is None else text_of(reply))
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


#: What keeps a call from having a score: an answer that cannot be read, or none.
UNPARSABLE, FAILED = "unparsable", "failed"


class Reading(NamedTuple):
    """A reply as it can be stored."""

    score: float | None
    raw: str | None
    cost: float
    #: ``"unparsable"`` or ``"failed"`` if there is no score, and why.
    problem: str | None
    reason: str | None


def read_reply(reply: Reply, scale: tuple[float, ...]) -> Reading:
    """Read a reply, whatever is in it."""
    score, unread = _score(reply.score, scale)
    raw = None if reply.raw is None else text_of(reply.raw)
    cost = _number(reply.cost)
    problem, reason = (None, None) if unread is None else (UNPARSABLE, unread)
    if isinstance(reply.raw, str) and raw != reply.raw:
        problem, reason = UNPARSABLE, "the answer holds half a character"
    if cost is None or not 0 <= cost < math.inf:
        cost, wrong = 0.0, text_of(reply.cost)[:60]
        problem, reason = FAILED, f"cost must be a number of 0 or more, got {wrong}"
    if not isinstance(reply.raw, str | None):
        kind = type(reply.raw).__name__
        problem, reason = FAILED, f"raw must be the answer's text or None, got a {kind}"
    return Reading(None if problem else score, raw, cost, problem, reason)


def _score(given: Any, scale: tuple[float, ...]) -> tuple[float | None, str | None]:
    if given is None:
        return None, "no score"
    value = _number(given)
    if value is None:
        shown = repr(text_of(given)[:60]) if isinstance(given, str) else text_of(given)[:60]
        return None, f"{shown} is not a number"
    if not bool(np.isin(value, scale)):
        return None, f"{value:g} is not on the scale"
    return value, None


def _number(given: Any) -> float | None:
    """Return a float, or None for what is none: 10**400 is too large to be one."""
    try:
        return float(given)
    except Exception:
        return None


#: A number that stands alone: not part of a word, of a longer number or of a range.
_NUMBER = re.compile(r"(?<![\w.,/-])[-+]?\d+(?:\.\d+)?(?![\w/]|[.,-]\d)")
#: Arguments that do not change what is asked.
_TRANSPORT = {"timeout", "request_timeout", "stream_timeout", "num_retries", "max_retries"}
#: Names of litellm's errors that another attempt does not cure.
_HOPELESS = (
    "AuthenticationError",
    "BadRequestError",
    "BudgetExceededError",
    "NotFoundError",
    "PermissionDeniedError",
    "UnprocessableEntityError",
)


def only_number(text: str) -> float | None:
    """Read an answer that holds exactly one number, with whatever words around it.

    Parameters
    ----------
    text : str
        What the model said.

    Returns
    -------
    float or None
        None if there is no number, or if there are several that differ: no guess is made at
        which one was meant.

    Examples
    --------
    >>> [only_number(text) for text in ("4", "Score: **4**", "4 out of 5", "4/5", "good")]
    [4.0, 4.0, None, None, None]
    """
    numbers = {float(number) for number in _NUMBER.findall(text)}
    return numbers.pop() if len(numbers) == 1 else None


def chat_judges(
    models: Mapping[str, Mapping[str, Any]] | list[str],
    prompts: Mapping[str, str] | str,
    *,
    system: str | None = None,
    parse: Callable[[str], float | None] = only_number,
    **settings: Any,
) -> dict[str, Judge]:
    """Make a judge of each model with each prompt, for `sample_until`, which asks them in turn.

    Parameters
    ----------
    models : list of str, or mapping of str to mapping
        Names as litellm knows them (``"openai/gpt-4o-mini"``), or your names with what
        ``litellm.acompletion`` is to be given: ``{"mini": {"model": "openai/gpt-4o-mini"}}``.
    prompts : str, or mapping of str to str
        Text of the message; ``{item}`` is replaced by the item.
    system : str, optional
        Text of a system message that goes before each prompt.
    parse : callable, default `only_number`
        From the answer to a score, or None; the answer itself is kept in any case.
    **settings
        For every call, for example ``temperature=1``, ``api_base=``, ``api_key=``.

    Returns
    -------
    dict of str to callable
        By name: the model's, and the prompt's if there are several. Their attribute `asks` is
        what a store is bound to: model, prompt, system prompt, parser and the other arguments, but
        for keys, time-outs and retries.

    Raises
    ------
    InputError
        If a prompt has no place for the item.
    ImportError
        If litellm is not installed; the message says how to install it.
    """
    try:
        import litellm
    except ImportError as error:
        raise ImportError(
            "chat models are asked through litellm, an extra: pip install 'bayesjudge[llm]'"
        ) from error
    litellm.suppress_debug_info = True  # else it prints three lines at each error it raises
    # it makes the coroutine of a call in a thread, and leaves it there if the call is given up
    unfinished = r"coroutine '[\w.]*acompletion' was never awaited"
    warnings.filterwarnings("ignore", unfinished, RuntimeWarning)
    texts = {"": prompts} if isinstance(prompts, str) else dict(prompts)
    named = models if isinstance(models, Mapping) else {name: {"model": name} for name in models}
    with checking("repeats.chat_judges") as require:
        require(bool(named), "name at least one model")
        require(bool(texts), "give at least one prompt")
        require(system is None or isinstance(system, str), "must be a text", system=system)
        for name, text in texts.items():
            require("{item}" in text, f"prompt {name!r} must say where the item goes: {{item}}")
    return {
        f"{model}, {prompt}" if prompt else model: _ChatJudge(
            litellm, {**settings, **arguments}, text, system, parse
        )
        for prompt, text in texts.items()
        for model, arguments in named.items()
    }


@dataclass(frozen=True)
class _ChatJudge:
    """A model with a prompt."""

    litellm: Any = field(repr=False)
    arguments: Mapping[str, Any] = field(repr=False)  # with keys
    prompt: str
    system: str | None
    parse: Callable[[str], float | None]

    @property
    def asks(self) -> dict[str, Any]:
        """What is asked of whom; the same for the same answers."""
        others = without_secrets(self.arguments)
        parameters = {name: value for name, value in others.items() if name not in _TRANSPORT}
        return {
            "model": parameters.pop("model", None),
            "prompt": self.prompt,
            "system prompt": self.system,
            "parser": self.parse,
            **{f"parameter {name}": value for name, value in parameters.items()},
        }

    @property
    def secrets(self) -> set[str]:
        """Keys that it was given, and that litellm was."""
        names = filter(is_secret_name, vars(self.litellm))
        held = (getattr(self.litellm, name) for name in names)
        return secrets_in(self.arguments) | {key for key in held if isinstance(key, str)}

    async def __call__(self, item: Any) -> Reply:
        call = current_call()
        headers = dict(self.arguments.get("extra_headers") or {})
        if call is not None:  # one key for all attempts of a call, another for each repeat
            headers["Idempotency-Key"] = _key(call)
        said = [("system", self.system), ("user", self.prompt.replace("{item}", str(item)))]
        try:
            answer = await self.litellm.acompletion(
                messages=[{"role": role, "content": text} for role, text in said if text],
                **{"num_retries": 0, "max_retries": 0, **self.arguments, "extra_headers": headers},
            )
        except Exception as error:
            if type(error).__name__ in _HOPELESS:
                # without the error that it was: a gateway may echo the key
                raise JudgeError(Redactor(self.secrets).error(error)) from None
            raise
        text = answer.choices[0].message.content or ""
        return Reply(self.parse(text), text, _cost(self.litellm, answer))


def _key(call: Call) -> str:
    """Name a call in the characters and the length that a header may have."""
    name = quote(call.item)
    if len(name) > 200:  # an item without a name goes by its text
        name = hashlib.sha256(call.item.encode()).hexdigest()
    return f"{name}/{call.repeat}"


def _cost(litellm: Any, answer: Any) -> float:
    """Look the cost up in litellm's price list; 0 for a model that it does not know."""
    try:
        return float(litellm.completion_cost(completion_response=answer))
    except Exception:
        return 0.0
