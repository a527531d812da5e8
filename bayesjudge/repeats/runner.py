"""Ask judges until each item's mean is known well enough, and lose nothing on the way."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bayesjudge.core.errors import checking
from bayesjudge.repeats.calls import (
    Call,
    Judge,
    JudgeError,
    Reply,
    ask_once,
    read_score,
)
from bayesjudge.repeats.plan import Plan
from bayesjudge.repeats.progress import Counter, showing
from bayesjudge.repeats.results import Run, summarise
from bayesjudge.repeats.rules import next_batch
from bayesjudge.repeats.store import Answer, Store, read_answers


async def sample_until(
    judge: Judge | Mapping[str, Judge],
    items: Mapping[str, Any] | Sequence[Any],
    *,
    store: str | Path,
    progress: bool | None = None,
    **plan: Any,
) -> Run:
    """Ask until each item's mean score is known to within a half-width.

    Run it again with the same store to go on where it ended, however it ended: no answer is asked
    for twice. Calls that were in flight when a process was killed have no answer, count against
    the budget, and are made again.

    Parameters
    ----------
    judge : callable, or mapping of str to callable
        ``async (item) -> score``, or several by name, asked in turn. A judge may return a `Reply`,
        and raises what it likes: it is asked again, unless it raises `JudgeError`.
    items : mapping of str to object, or sequence
        What is to be scored, by name; the items of a sequence are their own names.
    store : str or pathlib.Path
        A SQLite file. Every answer is in it before the next call to its item is made.
    progress : bool, optional
        Show items settled, calls and cost; by default on a terminal or in a notebook.
    **plan
        `scale`, `half_width` and the other fields of `Plan`.

    Returns
    -------
    Run
        Answers and means. A run that was killed and resumed gives the same, unless it ran out of
        budget: which items it then got to depends on which answers came first.

    Raises
    ------
    InputError
        Where an argument is out of its range, or the store belongs to another run.
    JudgeError
        Where a judge says that asking again is of no use, or too many calls fail in a row. What
        was answered is in the store.

    Examples
    --------
    >>> import asyncio, tempfile
    >>> async def judge(text):
    ...     return 4 + len(text) % 2
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = asyncio.run(sample_until(judge, ["a", "bb"], store=f"{folder}/run.sqlite",
    ...                                    scale=[1, 2, 3, 4, 5], half_width=0.4))
    >>> run.items[["item", "calls", "settled"]].to_dict("records")
    [{'item': 'a', 'calls': 13, 'settled': True}, {'item': 'bb', 'calls': 10, 'settled': True}]
    """
    settings = Plan(**plan)
    judges, things = _named(judge, items)
    about = {"scale": settings.scale, "judges": list(judges), "items": _fingerprint(things)}
    with Store(store, about) as kept, showing(progress, len(things)) as counter:
        runner = _Runner(settings, judges, things, kept, counter)
        await runner.run()
        calls, cost = kept.spent()
    return summarise(
        read_answers(store), list(things), settings.rule, settings.half_width, calls, cost
    )


def sample_until_sync(*args: Any, **kwargs: Any) -> Run:
    """Do what `sample_until` does, from code that is not async, in a notebook too.

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
        As `sample_until` does.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(sample_until(*args, **kwargs))
    found: list[Run | BaseException] = []

    def elsewhere() -> None:  # a loop is running here, as in a notebook: take another thread
        try:
            found.append(asyncio.run(sample_until(*args, **kwargs)))
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    if isinstance(found[0], BaseException):
        raise found[0]
    return found[0]


def _named(
    judge: Judge | Mapping[str, Judge], items: Mapping[str, Any] | Sequence[Any]
) -> tuple[dict[str, Judge], dict[str, Any]]:
    judges = dict(judge) if isinstance(judge, Mapping) else {"judge": judge}
    listed = items if isinstance(items, Mapping) else {str(one): one for one in items}
    things = {str(name): value for name, value in listed.items()}
    with checking("repeats run") as require:
        require(bool(judges), "name at least one judge")
        require(bool(things), "there are no items")
        require(len(things) == len(items), "items must differ; give a mapping of names to items")
        for name, one in judges.items():
            require(callable(one), f"judge {name!r} must be an async function, got {one!r}")
    return judges, things


def _fingerprint(items: Mapping[str, Any]) -> str:
    """Of names and texts, so that a store is not continued with other items."""
    plain = {k: v if isinstance(v, str | int | float) else None for k, v in items.items()}
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


class _Runner:
    """The loop. Everything it decides follows from slots that are complete."""

    def __init__(
        self,
        plan: Plan,
        judges: Mapping[str, Judge],
        items: Mapping[str, Any],
        store: Store,
        counter: Counter,
    ):
        self.plan, self.judges, self.items = plan, judges, items
        self.store, self.counter = store, counter
        self.names = list(judges)
        self.answers: dict[str, dict[int, Answer]] = {name: {} for name in items}
        for answer in store.answers():
            self.answers[answer.item][answer.slot] = answer
        self.calls, self.cost = store.spent()
        self.seats = asyncio.Semaphore(plan.concurrency)
        self.dice = random.Random(plan.random_seed)
        self.failed_in_a_row = 0
        self.ended: JudgeError | None = None

    async def run(self) -> None:
        """Settle the items, as many at a time as calls may be in flight."""
        waiting = iter(self.items)
        self.counter.update(self.calls, self.cost)

        async def work() -> None:
            for item in waiting:
                await self.settle(item)

        async with asyncio.TaskGroup() as group:
            for _ in range(min(self.plan.concurrency, len(self.items))):
                group.create_task(work())
        if self.ended:
            raise self.ended

    @property
    def may_go_on(self) -> bool:
        """Whether a further call may begin; those in flight always end."""
        calls, cost = self.plan.budget_calls, self.plan.budget_cost
        left = (calls is None or self.calls < calls) and (cost is None or self.cost < cost)
        return left and self.ended is None

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
        self.counter.settled()

    def wanted(self, item: str, asked: int) -> int:
        """Count the calls to make after the first `asked` slots of an item."""
        scores = [self.answers[item][slot].score for slot in range(asked)]
        more = next_batch(scores, self.plan.half_width, **self.plan.rule)
        return min(more, self.plan.most_per_item - asked)

    async def fill(self, item: str, slot: int) -> None:
        """Ask for one slot, again and again if need be, and keep what became of it."""
        name = self.names[slot % len(self.names)]
        for attempt in range(1, self.plan.patience.retries + 2):
            async with self.seats:
                if not self.may_go_on:
                    return
                answer = await self.attempt(item, slot, name, attempt)
            if answer is not None:
                self.answers[item][slot] = answer
                return
            if self.may_go_on:
                await asyncio.sleep(self.plan.patience.delay(attempt, self.dice))

    async def attempt(self, item: str, slot: int, name: str, attempt: int) -> Answer | None:
        """Make one attempt; None where the slot has no answer yet."""
        self.calls += 1
        number = self.store.begin(item, slot, name)
        started = time.monotonic()
        call, patience = Call(item, name, slot + 1, attempt), self.plan.patience
        reply, problem = Reply(None), None
        try:
            reply = await ask_once(self.judges[name], self.items[item], call, patience.timeout)
        except JudgeError as error:
            problem, self.ended = f"failed: {error}", error
        except Exception as error:
            problem = f"failed: {type(error).__name__}: {error}".removesuffix(": ")
        answer = None
        if problem is None:
            score, unread = read_score(reply, tuple(self.plan.scale))
            answer = Answer(item, slot, name, score, reply.raw, unread)
        elif attempt > patience.retries and self.ended is None:
            answer = Answer(item, slot, name, None, None, problem)
        self.cost += reply.cost
        self.store.end(number, time.monotonic() - started, reply.cost, problem, answer)
        self.counter.update(self.calls, self.cost)
        self.watch(problem, answer)
        return answer

    def watch(self, problem: str | None, answer: Answer | None) -> None:
        """End the run where nothing but failures comes back."""
        if problem is None:
            self.failed_in_a_row = 0
        elif answer is not None:
            self.failed_in_a_row += 1
        if self.failed_in_a_row >= self.plan.patience.failures_in_a_row and self.ended is None:
            self.ended = JudgeError(
                f"{self.failed_in_a_row} calls in a row {problem}; what was answered is in "
                f"{str(self.store.path)!r}"
            )
