"""What a run meets: replies that cannot be stored, changed questions, broken files, echoed keys."""

import asyncio
import contextlib
import functools
import linecache
import os
import sqlite3
import subprocess
import sys
import threading
import time
import traceback
import types
from pathlib import Path

import jinja2
import pytest
from asking import sample_until_sync, saying
from chat_server import dice
from refusals import refused

import bayesjudge as bj
from bayesjudge.repeats import runner
from bayesjudge.repeats.runner import (
    JudgeError,
    Reply,
    RetryPolicy,
    read_answers,
)

QUICK = RetryPolicy(timeout=5, retries=1, first_delay=0.001)
PLAN = {"scale": [1, 2, 3, 4, 5], "half_width": 0.4, "retry": QUICK, "progress": False}
KEY = "sk-proj-Abcd1234efgh5678ijkl9012"


async def steady(item):
    """A judge whose answers depend on the call only."""
    call = bj.repeats.runner.current_call()
    return 3 + int(dice(item, call.repeat) < 0.5)


def oddly(odd, calls):
    """`steady`, but `odd()` is what it does to the third call about an item."""

    async def judge(item):
        call = bj.repeats.runner.current_call()
        calls.append((call.item, call.repeat, call.attempt))
        return odd() if call.repeat == 3 else await steady(item)

    return judge


# Replies that cannot be stored ------------------------------------------------------------------


class Mute:
    """It has neither a text nor a number."""

    def __str__(self):
        raise RuntimeError("no text")

    __repr__ = __float__ = __str__


class MuteError(Exception):
    def __str__(self):
        raise RuntimeError("no text")


class NumberedError(Exception):
    def __str__(self):
        return 401


class Panic(BaseException):
    """As some compiled libraries raise."""


REPLIES = {
    "half an emoji": (lambda: Reply(4, "good \ud83d"), "unparsable: the answer holds half a char"),
    "half an emoji as score": (lambda: "\ud83d", "unparsable: "),
    "cost None": (
        lambda: Reply(4, "4", cost=None),
        "failed: cost must be a number of 0 or more, g",
    ),
    "cost nan": (lambda: Reply(4, "4", cost=float("nan")), "failed: cost must be"),
    "cost inf": (lambda: Reply(4, "4", cost=float("inf")), "failed: cost must be"),
    "cost below 0": (lambda: Reply(4, "4", cost=-1.0), "failed: cost must be"),
    "cost too large": (lambda: Reply(4, "4", cost=10**400), "failed: cost must be"),
    "raw dict": (lambda: Reply(4, {"text": "4"}), "failed: raw must be the answer's text or None"),
    "raw bytes": (lambda: Reply(4, b"\xff4"), "failed: raw must be"),
    "raw mute": (lambda: Reply(4, Mute()), "failed: raw must be"),
    "score too large": (lambda: 10**400, "unparsable: 1000000"),
    "score with too many digits": (lambda: 10**5000, "unparsable: <int without a text"),
    "score mute": (Mute, "unparsable: <Mute without a text"),
    "score in a dict": (lambda: {"score": 4}, "unparsable: {'score': 4} is not a number"),
    "score nan": (lambda: float("nan"), "unparsable: nan is not on the scale"),
    "score complex": (lambda: 4j, "unparsable: 4j is not a number"),
}


@pytest.mark.fast_named("raw mute")
@pytest.mark.parametrize("name", REPLIES)
def test_a_reply_that_cannot_be_stored_is_stored_as_unparsable_or_failed(tmp_path, name):
    odd, words = REPLIES[name]
    calls = []
    for _ in range(2):  # the second time it asks nothing: the reply was paid for
        found = sample_until_sync(oddly(odd, calls), ["x"], store=tmp_path / "x", **PLAN)
        assert found.items["settled"].all()
        assert len(calls) == len(set(calls)) == found.calls
        assert calls.count(("x", 3, 1)) == 1
    assert calls.count(("x", 3, 2)) == 0
    row = found.answers.iloc[2]
    assert f"{row['problem']}: {row['reason']}".startswith(words)
    assert row[["score"]].isna().all()
    assert found.cost == 0
    assert found.items[["unparsed", "failed"]].to_numpy().sum() == 1
    found.answers.to_csv(tmp_path / "answers.csv")  # what is kept can be written


def raising(error):
    def odd():
        raise error

    return odd


@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError("gone \ud83d"), r"OSError: gone \ud83d"),
        (MuteError(), "MuteError: <MuteError without a text: RuntimeError>"),
        (NumberedError(), "NumberedError: <NumberedError without a text: TypeError>"),
        (asyncio.CancelledError(), "CancelledError"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_error_that_cannot_be_stored_is_stored_as_failed(tmp_path, error, words):
    calls = []
    for _ in range(2):
        found = sample_until_sync(oddly(raising(error), calls), ["x"], store=tmp_path / "x", **PLAN)
        assert found.items[["failed", "settled"]].to_numpy().tolist() == [[1, True]]
        assert found.answers.loc[2, ["problem", "reason"]].tolist() == ["failed", words]
        assert len(calls) == len(set(calls)) == found.calls  # tried again, as every failure


@pytest.mark.slow
def test_a_judge_that_cancels_its_own_task_fails(tmp_path):
    def odd():
        asyncio.current_task().cancel()
        return 4

    found = sample_until_sync(oddly(odd, []), ["x", "y"], store=tmp_path / "x", **PLAN)
    assert found.items["settled"].all()


@pytest.mark.slow
def test_items_with_half_a_character_in_their_names(tmp_path):
    items, calls = ["x\ud83d", "x\ud83e", "x"], []

    async def judge(item):
        call = bj.repeats.runner.current_call()
        calls.append(call)
        return 3 + call.repeat % 2

    for _ in range(2):
        found = sample_until_sync({"j\ud83d": judge}, items, store=tmp_path / "x", **PLAN)
        assert found.items["item"].tolist() == [r"x\ud83d", r"x\ud83e", "x"]
        assert found.items["settled"].all()
        assert len(calls) == len(set(calls)) == found.calls
    assert set(found.answers["judge"]) == {r"j\ud83d"}
    with refused(id="items-repeat"):
        sample_until_sync(judge, ["x\ud83d", r"x\ud83d"], store=tmp_path / "y", **PLAN)


def test_nothing_but_replies_at_fault_ends_the_run(tmp_path):
    async def careless(item):
        return Reply(4, "4", cost=None)

    with pytest.raises(JudgeError, match="20 calls in a row failed: cost must be a number"):
        sample_until_sync(careless, ["x"], store=tmp_path / "x", **PLAN)


# Answers in flight ------------------------------------------------------------------------------


def answering_late(first):
    """Calls 1 to 7 answer after call 8 has done what `first` does."""

    async def judge(item):
        if bj.repeats.runner.current_call().repeat == 8:
            await asyncio.sleep(0.02)
            return first()
        await asyncio.sleep(0.1)
        return 4

    return judge


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (JudgeError("no such model"), JudgeError),
        (KeyboardInterrupt(), KeyboardInterrupt),
        (SystemExit(3), SystemExit),
        (Panic("at the disco"), JudgeError),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.slow
def test_answers_in_flight_are_kept_when_a_call_ends_the_run(tmp_path, error, raised):
    with pytest.raises(raised):
        sample_until_sync(
            answering_late(raising(error)), ["x"], store=tmp_path / "x", concurrency=8, **PLAN
        )
    assert read_answers(tmp_path / "x")["repeat"].tolist() == [1, 2, 3, 4, 5, 6, 7]


async def until(condition):
    while not condition():
        await asyncio.sleep(0.005)


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.fast_named("2")
def test_answers_in_flight_are_kept_when_the_run_is_cancelled(tmp_path, times):
    begun = []

    async def late(item):
        begun.append(item)
        await asyncio.sleep(0.2)
        return 4

    async def cancelled():
        run = bj.repeats.runner.sample_until(
            saying(late), ["x"], store=tmp_path / "x", concurrency=4, **PLAN
        )
        task = asyncio.create_task(run)
        await until(lambda: len(begun) == 4)
        for _ in range(times):
            task.cancel()
            await asyncio.sleep(0.05)
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    # cancelled twice it gives them up; in no case does it begin another call
    assert len(begun) == 4
    assert len(read_answers(tmp_path / "x")) == (4 if times == 1 else 0)


@pytest.mark.slow
def test_a_run_that_waits_to_try_again_stops_at_once(tmp_path):
    async def down(item):
        raise OSError("down")

    async def stopped():
        patient = PLAN | {"retry": RetryPolicy(first_delay=60)}
        run = bj.repeats.runner.sample_until(saying(down), ["x"], store=tmp_path / "x", **patient)
        await asyncio.wait_for(run, 0.2)

    started = time.monotonic()
    with pytest.raises(TimeoutError):
        asyncio.run(stopped())
    assert time.monotonic() - started < 10


def test_a_stopped_run_says_what_it_waits_for(tmp_path, capsys):
    begun = []

    async def late(item):
        begun.append(item)
        await asyncio.sleep(0.2)
        return 4

    async def stopped():
        plan = PLAN | {"progress": None}
        run = bj.repeats.runner.sample_until(
            saying(late), ["x"], store=tmp_path / "x", concurrency=2, **plan
        )
        task = asyncio.create_task(run)
        await until(lambda: len(begun) == 2)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(stopped())
    assert "stopping: 2 calls in flight may take up to 5 s" in capsys.readouterr().err


# A store belongs to what was asked --------------------------------------------------------------


def reversed_scale(text):
    return 6 - float(text)


@pytest.fixture
def chat(monkeypatch, tmp_path):
    """Ask chat models of a stand-in for litellm; what it was asked is in `chat.said`."""
    said = []

    async def acompletion(messages, model, extra_headers, **parameters):
        said.append([model, *messages, parameters])
        text = str(4 + (dice(extra_headers["Idempotency-Key"]) < 0.3))
        message = types.SimpleNamespace(content=text)
        return types.SimpleNamespace(choices=[types.SimpleNamespace(message=message)])

    stand_in = types.ModuleType("litellm")
    stand_in.acompletion = acompletion
    stand_in.completion_cost = lambda completion_response: 0.25
    monkeypatch.setitem(sys.modules, "litellm", stand_in)

    def ask(items=None, arm="main", model="openai/small", prompt="Rate {item}", **settings):
        judges = bj.repeats.runner.chat_judges({"small": {"model": model}}, prompt, **settings)
        items = {"a": {"q": "why", "tags": ["x", 1]}} if items is None else items
        return sample_until_sync(judges, items, store=tmp_path / "x", arm=arm, **PLAN)

    return types.SimpleNamespace(ask=ask, said=said, store=tmp_path / "x")


LONG = "You are a judge. " * 30
CHANGES = {
    "prompt": ({"prompt": "Score {item}"}, "other prompt of judge 'small' (was 'Rate {item}', now"),
    "system prompt": (
        {"system": LONG + "Be strict."},
        "judge. Be kind.', now '… ",
    ),
    "no system prompt": ({"system": None}, "other system prompt of judge 'small' (was "),
    "model": (
        {"model": "openai/large"},
        "other model of judge 'small' (was 'openai/small', now 'o",
    ),
    "parameter": (
        {"temperature": 0.5},
        "other parameter temperature of judge 'small' (was '1', now '0.5')",
    ),
    "new parameter": ({"top_p": 0.5}, "other parameter top_p of judge 'small' (is new: '0.5')"),
    "parser": ({"parse": reversed_scale}, "other parser of judge 'small' (was 'only_number', now "),
    "content of an item": (
        {"items": {"a": {"q": "why", "tags": ["x", 2]}}},
        """other items ('a' was '{"q": "why", "tags": ["x", 1]}', now '{"q": "why", "tags": ["x""",
    ),
    "type within an item": (
        {"items": {"a": {"q": "why", "tags": ["x", "1"]}}},
        "other items ('a' was",
    ),
    "names of items": (
        {"items": {"b": {"q": "why", "tags": ["x", 1]}}},
        "'a' is gone",
    ),
}
BEGUN = {"system": LONG + "Be kind.", "temperature": 1.0}


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_what_changed_is_named_and_another_arm_begins(chat, name):
    change, words = CHANGES[name]
    first = chat.ask(**BEGUN)
    asked = len(chat.said)
    with refused(id="other-run") as caught:
        chat.ask(**BEGUN | change)
    assert words in str(caught.value)
    assert "begin a new arm of the store (arm='…', --arm …)" in str(caught.value)
    assert len(chat.said) == asked
    assert chat.ask(**BEGUN).answers.equals(first.answers)  # as before: it asks nothing
    assert len(chat.said) == asked
    second = chat.ask(arm="second", **BEGUN | change)
    assert second.items["settled"].all()
    assert len(chat.said) == asked + second.calls
    # side by side, never together
    assert read_answers(chat.store, arm="main").equals(first.answers)
    assert len(read_answers(chat.store, arm="second")) == second.calls
    with refused("main", "second", id="several-arms"):
        read_answers(chat.store)
    with refused("third", id="no-arm"):
        read_answers(chat.store, arm="third")


@pytest.mark.slow
def test_what_asks_the_same_goes_on(chat):
    chat.ask(api_key="first-key-0123456789", timeout=5, **BEGUN)
    asked = len(chat.said)
    another_order = {"a": {"tags": ["x", 1.0], "q": "why"}}
    chat.ask(items=another_order, api_key="second-key-0123456789", timeout=6, **BEGUN)
    assert len(chat.said) == asked
    assert b"key-0123456789" not in chat.store.read_bytes()


def test_the_system_prompt_is_said_first(chat):
    chat.ask(system="Be kind.")
    assert chat.said[0][1] == {"role": "system", "content": "Be kind."}
    assert chat.said[0][2]["role"] == "user"


@pytest.mark.slow
def test_many_changed_items_are_counted(chat):
    chat.ask(items={f"i{i}": f"text {i}" for i in range(8)})
    with refused("i2", "text 2", "other 2", 5, id="other-run"):
        chat.ask(items={f"i{i}": f"other {i}" for i in range(8)})


class Essay:
    def __init__(self, text):
        self.text = text


@pytest.mark.fast_one_in(4)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"a": [1, [2]]}, {"a": [1, [3]]}),
        ({"a": {1, 2}}, {"a": {1, 3}}),
        ({"a": b"12"}, {"a": b"13"}),
        ({"a": Essay("one")}, {"a": Essay("two")}),
        ({"a": None}, {"a": "None"}),
        ({"a": True}, {"a": 1}),
        ({"a": 10**400}, {"a": 10**400 + 1}),
        ({"a": {"b": "x" * 5000}}, {"a": {"b": "x" * 4999 + "y"}}),
    ],
    ids=lambda value: type(value["a"]).__name__,
)
def test_contents_of_any_kind_are_told_apart(tmp_path, old, new):
    async def always(item):
        return 4

    for _ in range(2):
        sample_until_sync(always, old, store=tmp_path / "x", **PLAN)
    with pytest.raises(bj.InputError, match="other items"):
        sample_until_sync(always, new, store=tmp_path / "x", **PLAN)


@pytest.mark.slow
def test_a_judge_says_what_it_asks(tmp_path):
    async def judge(item):
        return 4

    def go(store="x", **asks):
        judge.asks = asks
        return runner.sample_until_sync(judge, ["x"], store=tmp_path / store, **PLAN)

    with refused("judge", "prompt", subject="repeats run"):
        runner.sample_until_sync(judge, ["x"], store=tmp_path / "x", **PLAN)
    assert not (tmp_path / "x").exists()
    go(prompt="Rate", top_k=[1, 2])
    go(top_k=[1, 2.0], prompt="Rate")
    with pytest.raises(bj.InputError, match=r"other top_k of judge 'judge' \(was '\[1, 2\]', now"):
        go(prompt="Rate", top_k=[2, 1])
    with refused("judge", "Rate", subject="repeats store"):
        go(top_k=[1, 2])
    judge.secrets = ["in plain words"]
    go("y", prompt="Rate", api_key=KEY, http={"password": "in plain words"})
    assert b"in plain words" not in contents(tmp_path / "y")
    judge.asks, judge.secrets = "Rate", KEY
    with refused("judge", "Rate", subject="repeats run") as caught:
        runner.sample_until_sync(judge, ["x"], store=tmp_path / "z", **PLAN)
    assert "secrets of judge 'judge' must be a list" in str(caught.value)
    assert KEY not in str(caught.value)
    judge.secrets = [KEY]
    go("z", **{"half \ud83d": "\ud83d"})


def test_what_cannot_be_held_against_a_later_run_is_named_at_once(tmp_path):
    async def judge(item):
        return 4

    judge.asks = {"parser": len, "reader": eval("lambda text: text"), "words": (1 for _ in ())}
    items = {"a": (1 for _ in ()), "b": "b", "c": jinja2.Template("Rate")}
    with pytest.raises(bj.InputError) as refused:
        sample_until_sync(judge, items, store=tmp_path / "x", **PLAN)
    told = str(refused.value)
    assert "parser of judge" not in told
    assert "reader of judge 'judge' cannot be held against a later run" in told
    assert "words of judge 'judge' cannot be held against a later run (it holds a gener" in told
    assert "item 'a' cannot be held against a later run" in told
    assert "item 'b'" not in told
    assert "and 1 more like these" in told


@pytest.mark.parametrize(
    "parser",
    [
        str.strip,
        functools.cache(eval("lambda text: text")),
        runner.judges._ChatJudge(None, {}, "Rate {item}", None, None),
    ],
    ids=["a method in C", "evaluated and wrapped", "a judge of the package's"],
)
def test_parsers_without_a_source_of_their_own_are_refused(tmp_path, parser, monkeypatch):
    async def judge(item):
        return 4

    # as `python -c` leaves it: the source of other evaluated text
    monkeypatch.setitem(linecache.cache, "<string>", (9, None, ["x = len\n"], "<string>"))
    judge.asks = {"parser": parser}
    with refused("judge", id="no-fingerprint"):
        runner.sample_until_sync(judge, ["x"], store=tmp_path / "x", **PLAN)


@pytest.mark.parametrize("arm", ["", " ", "a\nb", 3])
def test_arms_have_names(tmp_path, arm):
    with refused(arm=arm):
        sample_until_sync(steady, ["x"], store=tmp_path / "x", arm=arm, **PLAN)


# The file ---------------------------------------------------------------------------------------


@contextlib.contextmanager
def held_by_a_run(store):
    """While a run that waits has the store."""
    inside, leave = threading.Event(), threading.Event()

    async def waits(item):
        inside.set()
        await asyncio.to_thread(leave.wait)
        return 4

    plan = PLAN | {"retry": RetryPolicy(timeout=20)}
    run = threading.Thread(
        target=sample_until_sync, args=(waits, ["x"]), kwargs={"store": store, **plan}
    )
    run.start()
    inside.wait()
    try:
        yield
    finally:
        leave.set()
        run.join()


@pytest.mark.slow
def test_two_runs_do_not_meet_through_a_link(tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    store, other = tmp_path / "x", folder / "y"
    with held_by_a_run(store):
        other.symlink_to(store)
        with refused(id="in-use"):
            sample_until_sync(steady, ["x"], store=other, **PLAN)
    assert len(read_answers(store)) >= 10


def test_a_link_to_a_store_that_is_not_yet_made(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "x")
    with held_by_a_run(tmp_path / "link"), refused(id="in-use"):
        sample_until_sync(steady, ["x"], store=tmp_path / "x", **PLAN)
    assert len(read_answers(tmp_path / "x")) >= 10


def test_a_store_of_two_names_is_refused(tmp_path):
    sample_until_sync(steady, ["x"], store=tmp_path / "x", **PLAN)
    (tmp_path / "y").hardlink_to(tmp_path / "x")
    for name in "xy":
        with refused(id="several-names"):
            sample_until_sync(steady, ["x"], store=tmp_path / name, **PLAN)


def test_what_a_judge_asks_is_no_item_by_its_name(tmp_path):
    def judge(about):
        async def always(item):
            return 4

        always.asks = {"item 'a' like": about}
        return always

    sample_until_sync(judge("one"), ["a"], store=tmp_path / "x", **PLAN)
    with refused("a", id="other-run"):
        sample_until_sync(judge("two"), ["a"], store=tmp_path / "x", **PLAN)


def cut(path):
    os.truncate(path, path.stat().st_size // 2)


def overwrite(path):
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (path.stat().st_size - 4096))


def statement(words):
    def change(path):
        with contextlib.closing(sqlite3.connect(path)) as file, file:
            file.execute(words)

    return change


ONE = "item = 'item 3' AND slot = 2"
DAMAGE = {
    "cut in half": cut,
    "overwritten": overwrite,
    "a table gone": statement("DROP TABLE attempts"),
    "a score that is a text": statement("UPDATE answers SET score = 'four' WHERE slot = 2"),
    "a slot that is a text": statement("UPDATE answers SET slot = 'two' WHERE slot = 2"),
    "bytes that are no text": statement("UPDATE answers SET raw = CAST(x'ff' AS TEXT)"),
    "a name that is none": statement(
        "UPDATE answers SET item = x'ff' WHERE item = 'item 3' AND slot = 2"
    ),
    "another judge's answer": statement("UPDATE answers SET judge = 'other' WHERE slot = 2"),
    "another item's answer": statement(
        "UPDATE answers SET item = 'other' WHERE item = 'item 3' AND slot = 2"
    ),
    "no description": statement("DELETE FROM asked"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_store_is_named_and_left_as_it_is(tmp_path, name):
    store = tmp_path / "x"
    sample_until_sync(steady, [f"item {i}" for i in range(12)], store=store, **PLAN)
    whole = store.read_bytes()
    DAMAGE[name](store)
    kept = store.read_bytes()
    with pytest.raises(bj.InputError) as refused:
        sample_until_sync(steady, [f"item {i}" for i in range(12)], store=store, **PLAN)
    assert str(refused.value).startswith("repeats store: ")
    assert repr(str(store)) in str(refused.value)
    assert "\n" not in str(refused.value)
    assert store.read_bytes() == kept
    store.write_bytes(whole)
    found = sample_until_sync(steady, [f"item {i}" for i in range(12)], store=store, **PLAN)
    assert found.items["settled"].all()


@pytest.mark.parametrize("where", ["nowhere/x", "."])
def test_a_store_that_cannot_be_made(tmp_path, where):
    with refused(id="store-unreadable"):
        sample_until_sync(steady, ["x"], store=tmp_path / where, **PLAN)


FULL_DISK = """
import resource, signal, sys
import bayesjudge as bj
from test_runner_faults import PLAN, steady
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
asked = []
async def counted(item):
    asked.append(item)
    return bj.repeats.runner.Reply(await steady(item), "a long answer " * 300)
counted.asks = {}
if len(sys.argv) > 2:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
try:
    found = bj.repeats.runner.sample_until_sync(counted, list("abcdef"), store=sys.argv[1], **PLAN)
    print(len(asked), found.items["settled"].all())
except bj.InputError as error:
    print(len(asked), error)
"""


@pytest.mark.slow
def test_a_full_disk_ends_the_run_and_space_lets_it_go_on(tmp_path):
    def go(*arguments):
        path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
        done = subprocess.run(
            [sys.executable, "-c", FULL_DISK, str(tmp_path / "x"), *arguments],
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert done.stderr == ""
        asked, words = done.stdout.split(maxsplit=1)
        return int(asked), words

    asked, words = go("400000")
    assert "run again. What is stored there was left as it is" in words
    assert words.count("\n") == 1
    kept = read_answers(tmp_path / "x")
    assert 5 < len(kept) <= asked <= len(kept) + 8
    more, words = go()
    assert words == "True\n"
    answers = read_answers(tmp_path / "x")
    assert more == len(answers) - len(kept)
    assert kept.equals(answers.merge(kept[["item", "repeat"]]))


# Keys -------------------------------------------------------------------------------------------

ECHOES = {
    "as it is": KEY,
    "in a header": f"Authorization: Bearer {KEY}",
    "another service's": "key gsk_Abcd1234efgh5678ijkl and AIzaSyA1234567890abcdefgh",
    "masked": "Incorrect API key provided: sk-Abcd*************6789.",
    "without a shape": "no such user (opensesame-opensesame)",
    "cut off": "no such user (opensesame-op...)",
    "quoted for an address": "no such page ?auth=pa%2Fss%3Dword%2Bword",
    "after a name": "api_key='0123456789abcdef0123456789abcdef' is not valid",
    "in JSON": '{"error": {"token": "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl"}}',
    "base64": "Invalid key=QWxhZGRpbjpvcGVuIHNlc2FtZQ0a/+== for this account",
    "in an address": "cannot reach https://me:hunter2hunter2@gateway.example/v1",
}
PARTS = (
    *("Abcd1234", "Abcd**", "1234567890abc", "opensesame", "pa%2Fss", "pa/ss"),
    *("0123456789abcdef", "eyJ", "QWxh", "hunter2"),
)


@pytest.fixture
def keys(monkeypatch):
    monkeypatch.setenv("MY_GATEWAY_TOKEN", "opensesame-opensesame")
    monkeypatch.setenv("OTHER_API_KEY", "pa/ss=word+word")


def contents(store):
    """All that lies on the disk."""
    return b"".join(path.read_bytes() for path in store.parent.glob(store.name + "*"))


@pytest.mark.fast_one_in(14)
@pytest.mark.parametrize("name", ECHOES)
@pytest.mark.parametrize("way", ["error", "chained", "hopeless", "panic", "raw", "score", "exit"])
def test_an_echoed_key_is_nowhere(tmp_path, keys, name, way, capfd):
    text = f"401: {ECHOES[name]}"

    async def echoes(item):
        if way == "raw":
            return Reply(4, text)
        if way == "score":
            return text
        if way == "chained":
            try:
                raise ValueError(text)
            except ValueError as error:
                raise JudgeError("refused") from error
        raise {"error": OSError, "hopeless": JudgeError, "panic": Panic, "exit": SystemExit}[way](
            text
        )

    shown = ""
    try:
        sample_until_sync(echoes, ["x"], store=tmp_path / "x", most_per_item=25, **PLAN)
    except (JudgeError, SystemExit):
        shown = traceback.format_exc()
    assert ("Traceback" in shown) == (way not in ("raw", "score"))
    shown += "".join(capfd.readouterr()) + contents(tmp_path / "x").decode("latin-1")
    assert not [part for part in PARTS if part in shown]
    assert "401: " in shown or way == "chained"
    assert "[redacted]" in shown or way == "chained"


@pytest.mark.fast_one_in(2)
@pytest.mark.parametrize(
    "text",
    [
        "Score: 4. The answer keeps to the task.",
        "max_tokens=4096 is more than the model has; temperature: 1.0",
        "HTTP 500: https://api.example.com/v1/chat/completions timed out after 60.0 s",
        "RateLimitError: request id 7f3a9c, try again in 12.5 s",
        "the key point: internationalisation",
    ],
)
def test_other_text_is_kept_word_for_word(tmp_path, text):
    async def says(item):
        return Reply(4, text)

    found = sample_until_sync(says, ["x"], store=tmp_path / "x", **PLAN)
    assert set(found.answers["raw"]) == {text}


def test_a_configured_key_is_nowhere(chat, monkeypatch):
    key = "plain-words-without-a-shape"

    class AuthenticationError(Exception):
        pass

    async def refused(extra_headers, **arguments):
        shown = arguments.get("api_key") or extra_headers.get("x-api-key")
        raise AuthenticationError(f"no account for {shown}")

    monkeypatch.setattr(sys.modules["litellm"], "acompletion", refused)
    for settings in ({"api_key": key}, {"extra_headers": {"x-api-key": key}}):
        chat.store.unlink(missing_ok=True)
        with pytest.raises(JudgeError, match=r"no account for \[redacted\]") as error:
            chat.ask(**settings)
        assert key not in "".join(traceback.format_exception(error.value))
        assert key.encode() not in contents(chat.store)
        judge = bj.repeats.runner.chat_judges(["openai/x"], "Rate {item}", **settings)["openai/x"]
        assert key not in repr(judge)
        with pytest.raises(JudgeError) as error:  # nor where a judge is asked by hand
            asyncio.run(judge("x"))
        assert key not in "".join(traceback.format_exception(error.value))
