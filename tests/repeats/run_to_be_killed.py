"""A run in a process of its own, for test_runner.py and benchmarks/repeats/killed.py.

Arguments: client (plain, odd or litellm), port, store, and a budget of calls if there is one.
"""

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
from asking import sample_until_sync
from chat_server import complete, dice

import bayesjudge as bj
from bayesjudge.repeats.runner.run import _summarise

PLAN = {
    "scale": [1, 2, 3, 4, 5],
    "half_width": 0.25,
    "pilot": 10,
    "batch": 10,
    "most_per_item": 300,
    "concurrency": 40,
}
ITEMS = [f"item{i:02d}" for i in range(26)]
ODD = 0.15  #: share of the calls of the odd client that end oddly
NAMES = ("one", "two")


def plain_judges(port):
    """Two models asked by a client of ten lines."""

    def judge(name):
        async def ask(item):
            call = bj.repeats.runner.current_call()
            text = await complete(port, f"Rate {item}", f"{call.item}/{call.repeat}", name)
            return bj.repeats.runner.Reply(bj.repeats.runner.only_number(text), text, cost=0.01)

        return ask

    return {name: judge(name) for name in NAMES}


class MuteError(Exception):
    def __str__(self):
        raise RuntimeError("no text")


def raised(error):
    raise error


#: What becomes of a call that the server answered with a text.
ODD_WAYS = (
    lambda text: bj.repeats.runner.Reply(4, f"{text} \ud83d", cost=0.01),
    lambda text: bj.repeats.runner.Reply(4, text, cost=None),
    lambda text: bj.repeats.runner.Reply(4, text, cost=float("nan")),
    lambda text: bj.repeats.runner.Reply(4, {"text": text}, cost=0.01),
    lambda text: bj.repeats.runner.Reply(10**400, text, cost=0.01),
    lambda text: raised(OSError(f"{text} \ud83d")),
    lambda text: raised(MuteError()),
    lambda text: raised(asyncio.CancelledError()),
)


def odd_judges(port):
    """The same two models; what some calls come to cannot be stored as it is."""

    def oddly(judge):
        async def ask(item):
            reply = await judge(item)
            call = bj.repeats.runner.current_call()
            luck = dice(call.item, call.repeat, "odd")
            if luck >= ODD:
                return reply
            return ODD_WAYS[int(luck / ODD * len(ODD_WAYS))](reply.raw)

        return ask

    return {name: oddly(judge) for name, judge in plain_judges(port).items()}


def litellm_judges(port):
    """The same two models, asked through litellm."""
    return bj.repeats.runner.chat_judges(
        {name: {"model": f"openai/{name}"} for name in NAMES},
        "Rate {item}",
        api_base=f"http://127.0.0.1:{port}/v1",
        api_key="none",
    )


CLIENTS = {"plain": plain_judges, "odd": odd_judges, "litellm": litellm_judges}


def items_of(client):
    """By name; the odd client's last has half a character in its name."""
    return ITEMS if client != "odd" else [*ITEMS[:-1], ITEMS[-1] + "\ud83d"]


def found(store, client="plain"):
    """What the answers in a store come to, without asking."""
    settings = bj.repeats.runner.Settings(**PLAN)
    with sqlite3.connect(store) as file:
        spent = file.execute("SELECT COUNT(*), SUM(cost) FROM attempts").fetchone()
    file.close()
    items = [item.encode(errors="backslashreplace").decode() for item in items_of(client)]
    answers = bj.repeats.runner.read_answers(store)
    return _summarise(answers, items, settings, *spent)


def run(port, store, budget=None, *, client="plain", items=None, timeout=0.3, **plan):
    """Ask until all items are settled, or the budget is spent."""
    return sample_until_sync(
        CLIENTS[client](port),
        items_of(client) if items is None else items,
        store=store,
        budget_calls=budget,
        retry=bj.repeats.runner.RetryPolicy(timeout=timeout, retries=5, first_delay=0.01),
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


def kill_after(process, server, answers, seconds=120):
    """Let it get so many answers from the server, then SIGKILL it."""
    until = time.monotonic() + seconds
    while server.answered.total() < answers and time.monotonic() < until:
        assert process.poll() is None, "the run ended before it could be killed"
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL


class KillStudy:
    """A run of the odd client killed (SIGKILL, one time in five SIGINT) at random until `kills`.

    `checked` counts the answers that were in the store at a kill, each kill anew; of these, `lost`
    are not there at the next kill, or changed, and `asked_again` were asked for in between.
    """

    def __init__(self, server, store, *, kills, most, random_seed):
        self.server, self.store, self.wanted, self.most = server, store, kills, most
        self.dice = random.Random(random_seed)
        self.kills = self.interrupts = self.checked = self.lost = self.asked_again = 0

    def run(self):
        while self.kills < self.wanted:
            self.check_a_life(self.kill)
        self.check_a_life(finish)

    def check_a_life(self, end):
        kept, before = self.kept(), self.server.asked.copy()
        end(start("odd", self.server.port, self.store))
        self.checked += len(kept)
        self.lost += len(kept) - len(kept.merge(self.kept()))
        keys = kept["item"] + "/" + kept["repeat"].astype(str)
        self.asked_again += sum(self.server.asked[key] != before[key] for key in keys)

    def kept(self):
        try:
            return bj.repeats.runner.read_answers(self.store).astype(str)
        except bj.InputError:  # it was killed before there was anything to lose
            assert not self.store.is_file() or self.kills < 3
            return pd.DataFrame(
                columns=["item", "judge", "repeat", "score", "raw", "problem", "reason"]
            )

    def kill(self, process):
        """At some answer from the server, and at some moment of what is done with it."""
        goal = self.server.answered.total() + self.dice.randint(0, self.most)
        while self.server.answered.total() < goal and process.poll() is None:
            time.sleep(0.001)
        time.sleep(self.dice.uniform(0, 0.02))
        if process.poll() is None:
            gently = self.dice.random() < 0.2
            process.send_signal(signal.SIGINT if gently else signal.SIGKILL)
            self.kills, self.interrupts = self.kills + 1, self.interrupts + gently
        else:
            self.wanted = self.kills  # it has come to its end
        process.communicate(timeout=60)


def finish(process, seconds=180):
    """Let it end by itself; what it printed."""
    words, _ = process.communicate(timeout=seconds)
    assert process.returncode == 0, words.decode()[-3000:]
    return words.decode()


if __name__ == "__main__":
    # a time-out is to tell a server that hangs, not a machine that is slow: with 1 s a call was
    # given up and asked again now and then though the server had answered it
    run(
        int(sys.argv[2]),
        sys.argv[3],
        int(sys.argv[4]) if len(sys.argv) > 4 else None,
        client=sys.argv[1],
        timeout=3.0,
        progress=False,
    )
