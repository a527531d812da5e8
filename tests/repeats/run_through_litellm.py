"""Run by test_runner.py in a process of its own: address of the server, store, key, time-out."""

import sys

import bayesjudge as bj

if __name__ == "__main__":
    judges = bj.repeats.runner.chat_judges(
        {name: {"model": f"openai/{name}"} for name in ("one", "two")},
        {"plain": "Rate {item}.", "strict": "Be strict with {item}."},
        api_base=sys.argv[1],
        api_key=sys.argv[3],
    )
    run = bj.repeats.runner.sample_until_sync(
        judges,
        ["x0", "x1", "x2"],
        store=sys.argv[2],
        scale=[1, 2, 3, 4, 5],
        half_width=0.35,
        most_per_item=200,
        retry=bj.repeats.runner.RetryPolicy(
            timeout=float(sys.argv[4]), retries=3, first_delay=0.01
        ),
    )
    assert run.items["settled"].all(), run.items
