"""`sample_until`: judges asked until each item's mean is known; killed and resumed at no loss."""

from __future__ import annotations

import asyncio
import contextlib
import random
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.errors import InputError, checking
from bayesjudge.core.progress import Progress
from bayesjudge.core.progress import progress as progress_bar
from bayesjudge.repeats.data import Scores
from bayesjudge.repeats.runner._fingerprint import describe
from bayesjudge.repeats.runner._redaction import Redactor, text_of
from bayesjudge.repeats.runner.judges import (
    FAILED,
    UNPARSABLE,
    Call,
    Judge,
    JudgeError,
    Reading,
    ask_once,
    read_reply,
)
from bayesjudge.repeats.runner.settings import Settings
from bayesjudge.repeats.runner.store import Answer, Store, read_answers
from bayesjudge.repeats.stopping_rules import mean_interval, next_batch

if TYPE_CHECKING:
    import pandas as pd


async def sample_until(
    judge: Judge | Mapping[str, Judge],
    items: Mapping[str, Any] | Sequence[Any],
    *,
    store: str | Path,
    progress: bool | None = None,
    **settings: Any,
) -> Run:
    """Ask until each item's mean score is known to within a half-width.

    Run it again with the same store to go on where it ended, however it ended: no answer is asked
    for twice. A run that is cancelled, or that an error ends, begins no further call and keeps the
    answers to those in flight; cancel it again to give these up. Calls that were in flight when a
    process was killed have no answer, count against the budget, and are made again.

    Parameters
    ----------
    judge : callable, or mapping of str to callable
        ``async (item) -> score``, or several by name, asked in turn. A judge may return a `Reply`,
        and raises what it likes: it is asked again, unless it raises `JudgeError`. Its attribute
        ``asks``, a mapping such as ``{"prompt": …, "model": …, "parser": …}``, says what it asks,
        to which the store is bound: texts, numbers and containers of them, and functions, which
        count by their source. Its attribute ``secrets`` may list keys that are not to be kept or
        shown; those in environment variables whose names end in ``_API_KEY``, ``_TOKEN`` or
        ``_SECRET`` are known.
    items : mapping of str to object, or sequence
        What is to be scored, by name; the items of a sequence are their own names. Half a
        character in a name, which no file can hold, is spelled out as Python escapes it.
    store : str or pathlib.Path
        A SQLite file. Every answer is in it before the next call to its item is made.
    progress : bool, optional
        Show items settled, calls and cost; by default on a terminal or in a notebook.
    **settings
        `scale`, `half_width` and the other fields of `Settings`.

    Returns
    -------
    Run
        Answers and means. A run that was killed and resumed gives the same, unless it ran out of
        budget: which items it then got to depends on which answers came first.

    Raises
    ------
    InputError
        If an argument is out of its range, a judge does not say what it asks, the store belongs to
        a run that asked something else (the message names what; ``arm=`` begins another run in
        it), or it cannot be used.
    JudgeError
        If a judge says that asking again is of no use, or too many calls fail in a row. What
        was answered is in the store.

    Examples
    --------
    >>> import asyncio, tempfile
    >>> async def judge(text):
    ...     return 4 + len(text) % 2
    >>> judge.asks = {"prompt": "Is it long?"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = asyncio.run(sample_until(judge, ["a", "bb"], store=f"{folder}/run.sqlite",
    ...                                    scale=[1, 2, 3, 4, 5], half_width=0.4))
    >>> run.items[["item", "calls", "settled"]].to_dict("records")
    [{'item': 'a', 'calls': 13, 'settled': True}, {'item': 'bb', 'calls': 10, 'settled': True}]
    """
    asked_for = Settings(**settings)
    judges, things = _named(judge, items)
    redact = Redactor(key for each in judges.values() for key in getattr(each, "secrets", ()))
    asked = describe(asked_for.scale, judges, things, redact)
    with (
        Store(store, asked, asked_for.arm) as kept,
        progress_bar(progress, "items settled", total=len(things), keep=True) as bar,
    ):
        runner = _Runner(asked_for, judges, things, kept, bar, redact)
        runner.quiet = progress is False
        await runner.run()
        calls, cost = kept.spent()
    answers = read_answers(store, arm=asked_for.arm)
    return _summarise(answers, list(things), asked_for, calls, cost)


def sample_until_sync(*args: Any, **kwargs: Any) -> Run:
    """Do what `sample_until` does, from code that is not async.

    Parameters
    ----------
    *args, **kwargs
        Of `sample_until`.

    Returns
    -------
    Run
        Answers and means.

    Raises
    ------
    InputError, JudgeError
        As `sample_until` does; also where an event loop runs, as in a notebook: there, await
        `sample_until`.
    """
    with contextlib.suppress(RuntimeError):
        asyncio.get_running_loop()
        problem = "a loop is running here, as in a notebook: await sample_until(…)"
        raise InputError("repeats run", [problem])
    return asyncio.run(sample_until(*args, **kwargs))


def _named(
    judge: Judge | Mapping[str, Judge], items: Mapping[str, Any] | Sequence[Any]
) -> tuple[dict[str, Judge], dict[str, Any]]:
    several = judge if isinstance(judge, Mapping) else {"judge": judge}
    judges = {text_of(name): each for name, each in several.items()}
    pairs = items.items() if isinstance(items, Mapping) else [(each, each) for each in items]
    things = {text_of(name): value for name, value in pairs}
    with checking("repeats run") as require:
        require(bool(judges), "name at least one judge")
        require(len(judges) == len(several), "names of judges must differ")
        require(bool(things), "there are no items")
        require(len(things) == len(items), "items-repeat")
        for name, each in judges.items():
            require(callable(each), f"judge {name!r} must be an async function, got {each!r}")
            asks = getattr(each, "asks", None)
            declared = asks is None or isinstance(asks, Mapping)
            require(declared, f"of judge {name!r} must be a mapping", asks=asks)
            listed = not isinstance(getattr(each, "secrets", ()), str)
            require(listed, f"secrets of judge {name!r} must be a list of texts, got one text")
    return judges, things


class _Runner:
    """The loop. Everything it decides follows from slots that are complete."""

    def __init__(
        self,
        settings: Settings,
        judges: Mapping[str, Judge],
        items: Mapping[str, Any],
        store: Store,
        bar: Progress,
        redact: Redactor,
    ):
        self.settings, self.judges, self.items = settings, judges, items
        self.store, self.bar, self.redact = store, bar, redact
        self.quiet = False
        self.names = list(judges)
        self.answers = self._stored()
        self.calls, self.cost = store.spent()
        self.seats = asyncio.Semaphore(settings.concurrency)
        self.dice = random.Random(settings.random_seed)
        self.failed_in_a_row = self.in_flight = self.unsaved = 0
        self.stop = asyncio.Event()  # no further call may begin; those in flight end
        self.error: BaseException | None = None

    def _stored(self) -> dict[str, dict[int, Answer]]:
        """Answers of earlier runs, by item and slot."""
        stored: dict[str, dict[int, Answer]] = {name: {} for name in self.items}
        for answer in self.store.answers():
            expected = self.names[answer.slot % len(self.names)]
            with checking("repeats store") as require:
                ours = answer.item in stored and answer.judge == expected
                require(
                    ours,
                    f"{str(self.store.path)!r} is damaged: it holds an answer of judge "
                    f"{answer.judge!r} about {answer.item!r} that this run did not ask for",
                )
            stored[answer.item][answer.slot] = answer
        return stored

    async def run(self) -> None:
        """Settle the items; cancelled or failing, keep the answers to the calls in flight."""
        self.show()
        work = asyncio.create_task(self.settle_all())
        try:
            await asyncio.wait({work})  # which a cancelled run leaves alone
        except asyncio.CancelledError:
            self.stop.set()
            self.say_stopping()
            await asyncio.wait({work})
            raise
        finally:
            if not work.done():  # cancelled for a second time
                work.cancel()
                await asyncio.wait({work})
            broken = None if work.cancelled() else work.exception()
        if broken is not None:
            raise broken
        if self.error is not None:
            raise self.described() from None

    def show(self) -> None:
        """Show calls and cost beside the items settled."""
        spent = f", cost {self.cost:.4g}" if self.cost else ""
        self.bar.update(f"items settled ({self.calls:,} calls{spent})")

    def say_stopping(self) -> None:
        """Say why a run that was stopped does not end at once."""
        if self.quiet or not self.in_flight:
            return
        calls = "1 call" if self.in_flight == 1 else f"{self.in_flight} calls"
        print(
            f"stopping: {calls} in flight may take up to {self.settings.retry.timeout:g} s; the "
            "answers will be kept. Stop once more to give them up",
            file=sys.stderr,
        )

    def described(self) -> BaseException:
        """Return the error that ended the run, with the number of answers that it cost."""
        if isinstance(self.error, InputError) and self.unsaved:
            lost = f"{self.unsaved} answers came that could not be stored; they are asked for again"
            return InputError(self.error.subject, [*self.error.problems, lost])
        assert self.error is not None
        return self.error

    def end(self, error: BaseException) -> None:
        """Let no further call begin; the first error counts."""
        self.error = self.error or error
        self.stop.set()

    async def settle_all(self) -> None:
        """Settle the items, as many at a time as calls may be in flight."""
        waiting = iter(self.items)

        async def work() -> None:
            for item in waiting:
                await self.settle(item)

        async with asyncio.TaskGroup() as group:
            for _ in range(min(self.settings.concurrency, len(self.items))):
                group.create_task(work())

    @property
    def may_go_on(self) -> bool:
        """Whether a further call may begin; those in flight always end."""
        calls, cost = self.settings.budget_calls, self.settings.budget_cost
        left = (calls is None or self.calls < calls) and (cost is None or self.cost < cost)
        return left and not self.stop.is_set()

    async def settle(self, item: str) -> None:
        """Ask about one item until its rule, or its limit, says that it is enough."""
        done, asked = self.answers[item], 0
        # from the first batch on, so that a resumed run takes the decisions of the one it resumes
        while more := self.wanted(item, asked):
            async with asyncio.TaskGroup() as group:
                for slot in range(asked, asked + more):
                    if slot not in done:
                        group.create_task(self.fill(item, slot))
            asked += more
            if any(slot not in done for slot in range(asked)):
                return  # out of budget
        self.bar.advance()

    def wanted(self, item: str, asked: int) -> int:
        """Count the calls to make after the first `asked` slots of an item."""
        scores = [self.answers[item][slot].score for slot in range(asked)]
        more = next_batch(scores, self.settings.half_width, **self.settings.rule)
        return min(more, self.settings.most_per_item - asked)

    async def fill(self, item: str, slot: int) -> None:
        """Ask for one slot, again and again if need be, and keep what became of it."""
        name = self.names[slot % len(self.names)]
        for attempt in range(1, self.settings.retry.retries + 2):
            async with self.seats:
                if not self.may_go_on:
                    return
                try:
                    answer = await self.attempt(Call(item, name, slot + 1, attempt))
                except Exception as error:  # the store's: the other calls in flight still end
                    self.end(error)
                    return
            if answer is not None:
                self.answers[item][slot] = answer
                return
            if self.may_go_on:
                await self.pause(self.settings.retry.delay(attempt, self.dice))

    async def pause(self, seconds: float) -> None:
        """Wait, but not after the run was stopped."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.stop.wait()

    async def attempt(self, call: Call) -> Answer | None:
        """Make one attempt; None if the slot has no answer yet."""
        self.calls += 1
        number = self.store.begin(call.item, call.repeat - 1, call.judge)
        started = time.monotonic()
        self.in_flight += 1
        try:
            heard = await self.hear(call)
        finally:
            self.in_flight -= 1
        # from here to the store nothing is awaited, so that an answer that came is kept
        seconds, cost = time.monotonic() - started, 0.0
        key = (call.item, call.repeat - 1, call.judge)
        answer, problem = None, None
        if isinstance(heard, Reading):
            raw = None if heard.raw is None else self.redact(heard.raw)
            reason = None if heard.reason is None else self.redact(heard.reason)
            answer, cost = Answer(*key, heard.score, raw, heard.problem, reason), heard.cost
        else:
            problem = heard
            if call.attempt > self.settings.retry.retries and self.error is None:
                answer = Answer(*key, None, None, FAILED, problem)
        self.cost += cost
        try:
            self.store.end(number, seconds, cost, problem, answer)
        except InputError:
            self.unsaved += isinstance(heard, Reading)
            raise
        self.show()
        self.watch(answer)
        return answer

    async def hear(self, call: Call) -> Reading | str:
        """Ask a judge; what it said, or why it said nothing."""
        judge, item = self.judges[call.judge], self.items[call.item]
        try:
            reply = await ask_once(judge, item, call, self.settings.retry.timeout)
            return read_reply(reply, tuple(self.settings.scale))
        except GeneratorExit:
            raise
        except BaseException as error:
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
                raise  # the run was cancelled; without this, it was the judge's own doing
            if (last := self.hopeless(error)) is not None:
                self.end(last)
            known = isinstance(error, JudgeError)
            return self.redact(error) if known else self.redact.error(error)

    def hopeless(self, error: BaseException) -> BaseException | None:
        """Return what ends the run: made anew, since the error and its causes may hold keys."""
        if isinstance(error, JudgeError):
            return JudgeError(self.redact(error))
        if isinstance(error, KeyboardInterrupt):
            return KeyboardInterrupt()
        if isinstance(error, SystemExit):
            text = isinstance(error.code, str)
            return SystemExit(self.redact(error.code) if text else error.code)
        known = isinstance(error, Exception | asyncio.CancelledError)
        return None if known else JudgeError(self.redact.error(error))

    def watch(self, answer: Answer | None) -> None:
        """End the run if nothing but failures comes back."""
        if answer is None:
            return
        self.failed_in_a_row = self.failed_in_a_row + 1 if answer.problem == FAILED else 0
        if self.failed_in_a_row >= self.settings.retry.failures_in_a_row:
            self.end(
                JudgeError(
                    f"{self.failed_in_a_row} calls in a row failed: {answer.reason}; what was "
                    f"answered is in {str(self.store.path)!r}"
                )
            )


@dataclass(frozen=True, eq=False)
class Run:
    """Answers and means of a run of `sample_until`.

    Parameters
    ----------
    answers : pandas.DataFrame
        One row per call: ``item``, ``judge``, ``repeat``, ``score``, ``raw``, ``problem``,
        ``reason``, by item and repeat, whatever the order in which answers came.
    items : pandas.DataFrame
        One row per item: ``item``, ``mean``, ``low``, ``high`` (``nan`` without a score),
        ``calls``, ``unparsed``, ``failed``, ``settled``.
    scale : tuple of float
        Values that a judge can give.
    calls : int
        Attempts, retries counted, over all runs on the store.
    cost : float
        As the judges reported it.
    """

    answers: pd.DataFrame
    items: pd.DataFrame
    scale: tuple[float, ...]
    calls: int
    cost: float

    @property
    def scores(self) -> Scores:
        """The answers, for `exact`, `anova`, `order_effects` and `fit`."""
        return Scores.from_frame(
            self.answers, scale=self.scale, item="item", judge="judge", order="repeat"
        )


def _summarise(
    answers: pd.DataFrame, items: Sequence[str], settings: Settings, calls: int, cost: float
) -> Run:
    """Make a `Run` of the answers in a store, with one row per item, asked or not."""
    import pandas as pd

    rule = settings.rule
    parts = dict(tuple(answers.groupby("item", sort=False)))
    about = {name: rule[name] for name in ("ci_prob", "method")}
    rows = []
    for item in items:
        part = parts.get(item, answers.iloc[:0])
        scores = part["score"].tolist()
        interval = (np.nan,) * 3
        if part["score"].notna().any():
            interval = mean_interval(scores, rule["scale"], half_width=settings.half_width, **about)
        rows.append(
            {
                "item": item,
                **dict(zip(("mean", "low", "high"), interval, strict=True)),
                "calls": len(part),
                "unparsed": int((part["problem"] == UNPARSABLE).sum()),
                "failed": int((part["problem"] == FAILED).sum()),
                "settled": bool(scores) and next_batch(scores, settings.half_width, **rule) == 0,
            }
        )
    order = {item: i for i, item in enumerate(items)}
    ordered = answers.sort_values(
        ["item", "repeat"], key=lambda c: c.map(order) if c.name == "item" else c, kind="stable"
    )
    return Run(
        answers=ordered.reset_index(drop=True),
        items=pd.DataFrame(rows),
        scale=tuple(rule["scale"]),
        calls=calls,
        cost=cost,
    )
