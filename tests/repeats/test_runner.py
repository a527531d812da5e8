"""The runner against a server on loopback, killed and resumed, and what it refuses."""

import asyncio
import importlib.util
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from asking import sample_until_sync
from chat_server import ChatServer, dice
from conftest import study_but
from refusals import refused

import bayesjudge as bj
from bayesjudge.repeats.runner import (
    JudgeError,
    Reply,
    RetryPolicy,
    read_answers,
)

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from run_to_be_killed import ITEMS, KillStudy, finish, found, kill_after, run, start  # noqa: E402
from run_to_be_killed import PLAN as PLAN_OF_RUN  # noqa: E402

QUICK = RetryPolicy(timeout=0.2, retries=2, first_delay=0.001)
PLAN = {"scale": [1, 2, 3, 4, 5], "half_width": 0.4, "retry": QUICK, "progress": False}


async def steady(item):
    """A judge whose answers depend on the call only."""
    call = bj.repeats.runner.current_call()
    return 3 + int(dice(item, call.repeat) < 0.5)


# 2,000 calls, killed and resumed ----------------------------------------------------------------

FAULTS = {"errors": 0.10, "hangs": 0.02, "garbage": 0.03, "hang": 8.0, "latency": 0.01}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What a run finds that nothing stops."""
    with ChatServer(**FAULTS) as server:
        found = run(server.port, tmp_path_factory.mktemp("runs") / "whole.sqlite", timeout=1.0)
    assert found.items["settled"].all()
    assert found.calls > 2000
    return found


@pytest.mark.slow
@pytest.mark.parametrize("client", study_but(["plain", "litellm"], "plain"))
def test_killed_and_resumed_loses_nothing_and_asks_nothing_twice(tmp_path, undisturbed, client):
    if client == "litellm" and importlib.util.find_spec("litellm") is None:
        pytest.skip("needs litellm: pip install 'bayesjudge[llm]'")
    store, budget = tmp_path / "killed.sqlite", 1700
    with ChatServer(**FAULTS) as server:
        kill_after(start(client, server.port, store), server, 600)
        kept, before = read_answers(store), server.asked.copy()
        said = finish(start(client, server.port, store, budget))
        assert said == ""  # whatever happens to calls, a run shows its own progress only
        # the budget holds over both runs, and counts what a kill caught on its way to the server
        assert budget - 40 <= server.asked.total() <= budget
        assert not set(ITEMS) <= set(settled(store))
        finish(start(client, server.port, store))
        asked = server.asked.total()
        finish(start(client, server.port, store))  # asks nothing: it is all there
        assert server.asked.total() == asked
        resumed = found(store)
    # nothing lost: what was in the store at the kill is there now, word for word
    assert 500 < len(kept) < 700
    joined = kept.merge(resumed.answers, how="left")
    assert len(joined) == len(kept)
    assert joined["raw"].equals(kept["raw"])
    # nothing asked twice: no slot that had its answer in the store was asked for again
    for row in kept.itertuples():
        key = f"{row.item}/{row.repeat}"
        assert server.asked[key] == before[key]
    # the server gave an answer twice only to calls in flight at the kill, or given up after a while
    again = [key for key, times in server.answered.items() if times > 1]
    late = FAULTS["errors"], FAULTS["errors"] + FAULTS["hangs"]
    hung = [key for key in again if late[0] <= dice(key, "luck") < late[1]]
    assert len(again) - len(hung) <= 40
    # nothing depends on timing: the same result, whoever asked and in whatever order answers came
    assert resumed.answers.equals(undisturbed.answers)
    assert resumed.items.equals(undisturbed.items)
    assert resumed.items["unparsed"].sum() > 20
    assert (resumed.answers["raw"] == "I would rather not say.").sum() == resumed.items[
        "unparsed"
    ].sum()
    assert server.asked.total() <= resumed.calls <= server.asked.total() + 40


@pytest.mark.study
def test_killed_many_times_among_replies_that_cannot_be_stored(tmp_path):
    with ChatServer(**FAULTS) as server:
        whole = run(server.port, tmp_path / "whole", client="odd", timeout=1.0, progress=False)
        server.forget()
        study = KillStudy(server, tmp_path / "killed", kills=4, most=300, random_seed=1)
        study.run()
    assert study.kills == 4
    assert study.checked > 500  # answers that were in the store at a kill, looked for later
    assert (study.lost, study.asked_again) == (0, 0)
    # each way is there, and nothing is mixed: the same answers as those of the run left alone
    answers = found(tmp_path / "killed", "odd").answers
    assert answers.equals(whole.answers)
    assert whole.items["settled"].all()
    words = ["half a character", "cost must", "raw must", "1000", "OSError", "Mute", "Cancelled"]
    problems = answers["reason"].fillna("")
    assert all(problems.str.contains(word).sum() > 3 for word in words)


def settled(store):
    """Items whose rule says that it is enough."""
    rule = {name: PLAN_OF_RUN[name] for name in ("scale", "pilot", "batch")}
    return [
        item
        for item, part in read_answers(store).groupby("item")
        if bj.repeats.next_batch(part["score"], PLAN_OF_RUN["half_width"], **rule) == 0
    ]


@pytest.mark.slow
def test_budget_of_calls_is_respected_over_resumption(tmp_path):
    store = tmp_path / "run.sqlite"
    with ChatServer(errors=0.1, garbage=0.05) as server:
        for budget in (100, 150):
            found = run(server.port, store, budget, timeout=10)  # a busy machine is no failure
            assert found.calls == server.asked.total() == budget
            assert not found.items["settled"].all()
    assert list(found.items["item"]) == ITEMS
    assert found.cost == pytest.approx(0.01 * server.answered.total())


@pytest.mark.slow
def test_budget_of_cost_is_passed_by_calls_in_flight_only(tmp_path):
    async def dear(item):
        await asyncio.sleep(0.001)
        return Reply(await steady(item), cost=1.0)

    found = sample_until_sync(
        dear, ITEMS, store=tmp_path / "x", budget_cost=50.0, concurrency=5, **PLAN
    )
    assert 50 <= found.cost < 55
    assert len(found.answers) == found.cost


@pytest.mark.slow
def test_concurrency_is_bounded(tmp_path):
    with ChatServer(latency=0.02) as server:
        from run_to_be_killed import plain_judges

        sample_until_sync(
            plain_judges(server.port), ITEMS[:6], store=tmp_path / "x", concurrency=7, **PLAN
        )
    assert 5 <= server.most_in_flight <= 7


# What a judge may do ----------------------------------------------------------------------------


@pytest.mark.slow
def test_judges_are_asked_in_turn(tmp_path):
    found = sample_until_sync(
        {"a": steady, "b": steady, "c": steady}, ["x", "y"], store=tmp_path / "x", **PLAN
    )
    for _, part in found.answers.groupby("item"):
        assert part["judge"].tolist() == (["a", "b", "c"] * len(part))[: len(part)]
    assert found.scores.judges == ("a", "b", "c")


def test_failures_are_tried_again_then_counted(tmp_path):
    tries = []

    async def fails(item):
        call = bj.repeats.runner.current_call()
        tries.append(call)
        if call.repeat == 2 or (call.repeat == 3 and call.attempt < 3):
            raise OSError("no route")
        return 4

    found = sample_until_sync(fails, ["x"], store=tmp_path / "x", **PLAN)
    row = found.items.iloc[0]
    assert (row["failed"], row["unparsed"], row["settled"]) == (1, 0, True)
    assert found.answers.loc[1, ["problem", "reason"]].tolist() == ["failed", "OSError: no route"]
    assert [c.attempt for c in tries if c.repeat == 3] == [1, 2, 3]
    assert found.calls == len(tries)


@pytest.mark.slow
def test_a_slow_answer_is_given_up(tmp_path):
    async def hangs(item):
        if bj.repeats.runner.current_call().repeat == 1:
            await asyncio.sleep(30)
        return 4

    started = time.monotonic()
    found = sample_until_sync(hangs, ["x"], store=tmp_path / "x", **PLAN)
    assert found.items["failed"].tolist() == [1]
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "no score"),
        ("very good", "'very good' is not a number"),
        (7, "7 is not on the scale"),
    ],
)
def test_unparsable_answers_are_kept_and_limited(tmp_path, answer, reason):
    async def odd(item):
        return Reply(answer, raw="as it came")

    found = sample_until_sync(odd, ["x"], store=tmp_path / "x", most_per_item=25, **PLAN)
    assert found.items[["calls", "unparsed", "settled"]].values.tolist() == [[25, 25, False]]
    assert set(found.answers["raw"]) == {"as it came"}
    assert set(found.answers["problem"]) == {"unparsable"}
    assert set(found.answers["reason"]) == {reason}


@pytest.mark.slow
def test_a_hopeless_error_ends_the_run_and_keeps_the_answers(tmp_path):
    async def revoked(item):
        if bj.repeats.runner.current_call().repeat > 5:
            raise JudgeError("the key was revoked")
        return 4

    with pytest.raises(JudgeError, match="revoked"):
        sample_until_sync(revoked, ["x"], store=tmp_path / "x", concurrency=1, **PLAN)
    assert len(read_answers(tmp_path / "x")) == 5
    found = sample_until_sync(steady, ["x"], store=tmp_path / "x", **PLAN)
    assert found.items["settled"].all()


@pytest.mark.slow
def test_nothing_but_failures_ends_the_run(tmp_path):
    async def down(item):
        raise ConnectionError("refused")

    with pytest.raises(JudgeError, match="20 calls in a row failed: ConnectionError: refused"):
        sample_until_sync(down, ITEMS, store=tmp_path / "x", **PLAN)


@pytest.mark.slow
def test_interrupted_from_the_keyboard_leaves_a_usable_store(tmp_path):
    async def interrupts(item):
        if bj.repeats.runner.current_call().repeat == 8:
            signal.raise_signal(signal.SIGINT)
            await asyncio.sleep(1)
        return await steady(item)

    # a shell that starts pytest in the background has it ignore the key
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            sample_until_sync(interrupts, ["x"], store=tmp_path / "x", concurrency=1, **PLAN)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(read_answers(tmp_path / "x")) == 7
    resumed = sample_until_sync(steady, ["x"], store=tmp_path / "x", **PLAN)
    straight = sample_until_sync(steady, ["x"], store=tmp_path / "y", **PLAN)
    assert resumed.answers.equals(straight.answers)


def test_the_synchronous_twin_refuses_a_running_loop(tmp_path):
    async def cell():
        return sample_until_sync(steady, ["x"], store=tmp_path / "x", **PLAN)

    with pytest.raises(bj.InputError, match=r"await sample_until\(…\)"):
        asyncio.run(cell())


def test_delays_double_are_capped_and_differ():
    policy, luck = RetryPolicy(first_delay=1, longest_delay=10), random.Random(1)
    for attempt, most in ((1, 1), (2, 2), (3, 4), (6, 10)):
        drawn = [policy.delay(attempt, luck) for _ in range(50)]
        assert most / 2 <= min(drawn) < max(drawn) <= most
        assert max(drawn) - min(drawn) > 0.3 * most


# The store --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_two_runs_on_one_store_do_not_meet(tmp_path):
    inside, leave = threading.Event(), threading.Event()

    async def waits(item):
        inside.set()
        await asyncio.to_thread(leave.wait)
        return 4

    patient = PLAN | {"retry": RetryPolicy(timeout=20)}
    first = threading.Thread(
        target=sample_until_sync,
        args=(waits, ["x"]),
        kwargs={"store": tmp_path / "x", **patient},
    )
    first.start()
    try:
        inside.wait()
        with refused(id="in-use"):
            sample_until_sync(steady, ["x"], store=tmp_path / "x", **PLAN)
        assert read_answers(tmp_path / "x").empty  # reading is allowed
    finally:
        leave.set()
        first.join()
    assert len(read_answers(tmp_path / "x")) >= 10


@pytest.mark.slow
def test_a_store_belongs_to_one_run(tmp_path):
    sample_until_sync(steady, ["x"], store=tmp_path / "x", **PLAN)
    with pytest.raises(bj.InputError, match="other items"):
        sample_until_sync(steady, ["y"], store=tmp_path / "x", **PLAN)
    with pytest.raises(bj.InputError, match="other judges"):
        sample_until_sync({"b": steady}, ["x"], store=tmp_path / "x", **PLAN)
    narrower = sample_until_sync(steady, ["x"], store=tmp_path / "x", **PLAN | {"half_width": 0.3})
    assert narrower.items["settled"].all()


def test_other_files_and_versions_are_refused(tmp_path):
    (tmp_path / "text").write_text("not a database, but long enough to be read as one" * 50)
    with refused(id="no-store"):
        read_answers(tmp_path / "text")
    with sqlite3.connect(tmp_path / "new") as file:
        file.execute("PRAGMA user_version = 99")
    file.close()
    with pytest.raises(bj.InputError, match="version 99"):
        read_answers(tmp_path / "new")
    with pytest.raises(bj.InputError, match="no file"):
        read_answers(tmp_path / "absent")


def test_intervals_are_those_of_the_rule(tmp_path):
    found = sample_until_sync(steady, ["x"], store=tmp_path / "x", **PLAN)
    expected = bj.repeats.mean_interval(
        found.answers["score"], PLAN["scale"], half_width=PLAN["half_width"]
    )
    np.testing.assert_allclose(found.items[["mean", "low", "high"]].iloc[0], expected)


@pytest.mark.slow
def test_progress_is_shown(tmp_path, capsys):
    sample_until_sync(steady, ["x", "y"], store=tmp_path / "x", **PLAN | {"progress": True})
    shown = capsys.readouterr().err
    assert "2/2" in shown
    assert "calls" in shown


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"half_width": 0}, "half_width must be positive"),
        ({"concurrency": 0}, "concurrency must be 1 or more"),
        ({"budget_calls": -1}, "budget_calls must be 0 or more"),
        ({"method": "guess"}, "method must be one of"),
    ],
)
def test_plans_out_of_range(tmp_path, change, words):
    with pytest.raises(bj.InputError, match=words):
        sample_until_sync(steady, ["x"], store=tmp_path / "x", **PLAN | change)


def test_repeated_items_are_refused(tmp_path):
    with refused(id="items-repeat"):
        sample_until_sync(steady, ["x", "x"], store=tmp_path / "x", **PLAN)


# Through litellm --------------------------------------------------------------------------------


def test_number_of_an_answer():
    read = bj.repeats.runner.only_number
    assert [read(t) for t in ("4", " 3.5 ", "I say 4.", "**4**", "4, and again 4", "-1")] == [
        4.0,
        3.5,
        4.0,
        4.0,
        4.0,
        -1.0,
    ]
    assert [read(t) for t in ("", "4/5", "3-4", "4 out of 5", "gpt4", "1,5")] == [None] * 6


@pytest.fixture(scope="module")
def through_litellm(tmp_path_factory):
    """Do a job in a process of its own: litellm's client outlives an event loop."""
    if importlib.util.find_spec("litellm") is None:
        pytest.skip("needs litellm: pip install 'bayesjudge[llm]'")
    folder = tmp_path_factory.mktemp("said")
    env = {
        **os.environ,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # no look-up of prices on the internet
        "PYTHONPATH": os.pathsep.join([str(HERE.parent), *sys.path]),
    }
    command = [sys.executable, str(HERE / "run_through_litellm.py")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=env, **pipes) as parent:

        def do(server, store, key="none", timeout=20):
            said = [folder / f"{server.port}.{name}" for name in ("out", "err")]
            parent.stdin.write(json.dumps([server.url, str(store), key, timeout, *map(str, said)]))
            parent.stdin.write("\n")
            parent.stdin.flush()
            too_long = threading.Timer(120, parent.kill)
            too_long.start()
            code = int(parent.stdout.readline())
            too_long.cancel()
            return subprocess.CompletedProcess(command, code, *(one.read_text() for one in said))

        yield do
        parent.stdin.close()


#: A key of the shape that a provider gives.
SHAPED = "sk-proj-Abcd1234efgh5678ijkl"


@pytest.mark.slow
@pytest.mark.parametrize("key", study_but([SHAPED, "opensesame opensesame"], SHAPED))
def test_a_key_that_a_gateway_echoes_is_nowhere(tmp_path, through_litellm, key):
    with ChatServer(refuses=True) as server:
        done = through_litellm(server, tmp_path / "x", key)
    assert done.returncode == 1
    shown = done.stdout + done.stderr
    shown += "".join(p.read_bytes().decode("latin-1") for p in tmp_path.iterdir())
    assert "JudgeError" in shown
    assert "no account for Bearer [redacted]" in shown
    assert "Abcd1234" not in shown
    assert "opensesame" not in shown


@pytest.mark.slow
def test_through_litellm(tmp_path, through_litellm):
    with ChatServer(errors=0.1, garbage=0.05) as server:
        done = through_litellm(server, tmp_path / "x")
    assert done.returncode == 0, done.stderr[-3000:]
    answers = read_answers(tmp_path / "x")
    assert set(answers["judge"]) == {"one, plain", "two, plain", "one, strict", "two, strict"}
    assert server.asked.total() > len(answers) >= 60  # errors were tried again
    assert answers["problem"].dropna().eq("unparsable").all()
    assert {"Rate x0.", "Be strict with x0."} <= set(server.prompts)
    for row in answers.dropna(subset="score").itertuples():
        expected = server.say(f"{row.item}/{row.repeat}", row.judge.split(",")[0])
        assert row.raw == expected


@pytest.mark.slow
def test_calls_given_up_leave_no_words_of_the_client(tmp_path, through_litellm):
    with ChatServer(latency=1.0) as server:
        done = through_litellm(server, tmp_path / "x", timeout=0.01)
    assert done.returncode == 1
    assert "JudgeError: 20 calls in a row failed: TimeoutError" in done.stderr
    assert "never awaited" not in done.stderr


def test_the_key_of_a_call_fits_in_a_header():
    from bayesjudge.repeats.runner.judges import _key

    keys = {
        _key(bj.repeats.runner.Call(item, "judge", 3, attempt))
        for item in ("item01", "is 7 prime?", "é\n問", "long " * 100, "long " * 101)
        for attempt in (1, 2)  # all attempts of a call have the same
    }
    assert len(keys) == 5
    assert "item01/3" in keys
    for key in keys:
        assert len(key) < 250
        assert re.fullmatch("[!-~]+", key)


def test_litellm_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "litellm", None)
    with pytest.raises(ImportError, match=r"pip install 'bayesjudge\[llm\]'"):
        bj.repeats.runner.chat_judges(["openai/x"], "Rate {item}")


# What is known beforehand, and what calls took ----------------------------------------------------


@pytest.mark.slow
def test_a_spread_of_earlier_runs_moves_the_first_decision(tmp_path):
    wanted = bj.repeats.required_repeats(0.6, PLAN["half_width"], ci_prob=0.99)
    assert wanted > 12
    rule = {"ci_prob": 0.99, "method": "z", "pilot": 4}
    calls = []
    for sd in (None, 0.6):
        about = {**PLAN, **rule, "expected_sd": sd, "store": tmp_path / f"{sd}.sqlite"}
        calls.append(sample_until_sync(steady, ["a", "b"], **about).items["calls"])
    assert calls[0].max() < wanted <= calls[1].min()
    about = {name: value for name, value in PLAN.items() if name != "progress"}
    few = bj.repeats.runner.Settings(**about, pilot=3, expected_sd=0.6, most_per_item=4)
    assert few.rule["pilot"] == 4
    with pytest.raises(bj.InputError, match="expected_sd"):
        bj.repeats.runner.Settings(**about, expected_sd=-1)


def test_latency_counts_calls_in_flight(tmp_path):
    path = tmp_path / "run.sqlite"
    sample_until_sync(steady, ["a"], store=path, **PLAN)
    file = sqlite3.connect(path)
    file.execute("DELETE FROM attempts")
    # two together, one after them, and one whose end was never seen
    calls = [(0.0, 2.0), (1.0, 3.0), (10.0, 1.0), (10.5, None)]
    file.executemany(
        "INSERT INTO attempts (arm, item, slot, judge, started, seconds) "
        "VALUES ('main', 'a', ?, 'judge', ?, ?)",
        [(i, *call) for i, call in enumerate(calls)],
    )
    file.commit()
    file.close()
    found = bj.repeats.runner.read_latency(path)
    assert found.index.tolist() == [1, 2]
    assert found.loc[1, ["calls", "mean"]].tolist() == [2, 1.5]
    assert found.loc[2, ["calls", "mean"]].tolist() == [1, 3.0]
    with pytest.raises(bj.InputError, match="no arm"):
        bj.repeats.runner.read_latency(path, arm="other")
