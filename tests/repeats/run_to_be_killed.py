"""A run in a process of its own, for test_runner.py and benchmarks/repeats_killed.py.

Arguments: client (plain or litellm), port, store, and a budget of calls if there is one.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from chat_server import complete

import bayesjudge as bj

PLAN = {
    "scale": [1, 2, 3, 4, 5],
    "half_width": 0.25,
    "pilot": 10,
    "batch": 10,
    "most_per_item": 300,
    "concurrency": 40,
}
ITEMS = [f"item{i:02d}" for i in range(26)]
NAMES = ("one", "two")


def plain_judges(port):
    """Two models asked by a client of ten lines."""

    def judge(name):
        async def ask(item):
            call = bj.repeats.current_call()
            text = await complete(port, f"Rate {item}", f"{call.item}/{call.repeat}", name)
            return bj.repeats.Reply(bj.repeats.only_number(text), text, cost=0.01)

        return ask

    return {name: judge(name) for name in NAMES}


def litellm_judges(port):
    """The same two models, asked through litellm."""
    return bj.repeats.chat_judges(
        {name: {"model": f"openai/{name}"} for name in NAMES},
        "Rate {item}",
        api_base=f"http://127.0.0.1:{port}/v1",
        api_key="none",
    )


CLIENTS = {"plain": plain_judges, "litellm": litellm_judges}


def run(port, store, budget=None, *, client="plain", timeout=0.3, **plan):
    """Ask until all items are settled, or the budget is spent."""
    return bj.repeats.sample_until_sync(
        CLIENTS[client](port),
        ITEMS,
        store=store,
        budget_calls=budget,
        patience=bj.repeats.Patience(timeout=timeout, retries=5, first_delay=0.01),
        **PLAN | plan,
    )


def start(client, port, store, budget=None):
    """Begin a run in a process of its own."""
    here = Path(__file__).parent
    return subprocess.Popen(
        [
            sys.executable,
            __file__,
            client,
            str(port),
            str(store),
            *([str(budget)] if budget else []),
        ],
        env={
            **os.environ,
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # no look-up of prices on the internet
            "PYTHONPATH": os.pathsep.join([str(here.parents[1]), str(here.parent), *sys.path]),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def kill_after(process, server, answers, patience=120):
    """Let it get so many answers from the server, then SIGKILL it."""
    until = time.monotonic() + patience
    while server.answered.total() < answers and time.monotonic() < until:
        assert process.poll() is None, "the run ended before it could be killed"
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL


def finish(process, patience=180):
    """Let it end by itself; what it printed."""
    words, _ = process.communicate(timeout=patience)
    assert process.returncode == 0, words.decode()[-3000:]
    return words.decode()


if __name__ == "__main__":
    # a time-out is to tell a server that hangs, not a machine that is slow to import a client
    run(
        int(sys.argv[2]),
        sys.argv[3],
        int(sys.argv[4]) if len(sys.argv) > 4 else None,
        client=sys.argv[1],
        timeout=1.0,
        progress=False,
    )
