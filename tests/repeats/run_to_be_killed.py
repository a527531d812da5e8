"""Run by test_runner.py in a process of its own: arguments port, store, budget of calls."""

import sys

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
ITEMS = [f"item{i:02d}" for i in range(20)]


def judges(port):
    def judge(name):
        async def ask(item):
            call = bj.repeats.current_call()
            text = await complete(port, f"Rate {item}", f"{call.item}/{call.repeat}", name)
            return bj.repeats.Reply(bj.repeats.only_number(text), text, cost=0.01)

        return ask

    return {name: judge(name) for name in ("one", "two")}


def run(port, store, budget=None):
    return bj.repeats.sample_until_sync(
        judges(port),
        ITEMS,
        store=store,
        budget_calls=budget,
        patience=bj.repeats.Patience(timeout=0.3, retries=3, first_delay=0.01),
        **PLAN,
    )


if __name__ == "__main__":
    run(int(sys.argv[1]), sys.argv[2])
