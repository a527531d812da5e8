"""Run by test_runner.py: imports litellm once, and does each job in a process of its own.

A line of stdin is a job: address of the server, store, key, time-out, and the files that stdout and
stderr of the job go to. The answer is a line with its exit status.
"""

import importlib
import json
import os
import sys

import bayesjudge as bj


def rate(url, store, key, timeout):
    """Sample until three items are settled."""
    judges = bj.repeats.runner.chat_judges(
        {name: {"model": f"openai/{name}"} for name in ("one", "two")},
        {"plain": "Rate {item}.", "strict": "Be strict with {item}."},
        api_base=url,
        api_key=key,
    )
    run = bj.repeats.runner.sample_until_sync(
        judges,
        ["x0", "x1", "x2"],
        store=store,
        scale=[1, 2, 3, 4, 5],
        half_width=0.35,
        most_per_item=200,
        retry=bj.repeats.runner.RetryPolicy(timeout=timeout, retries=3, first_delay=0.01),
    )
    assert run.items["settled"].all(), run.items


if __name__ == "__main__":
    importlib.import_module("litellm")  # takes four seconds, which the jobs share
    for line in sys.stdin:
        *job, out, err = json.loads(line)
        child = os.fork()
        if not child:
            for stream, path in ((sys.stdout, out), (sys.stderr, err)):
                os.dup2(os.open(path, os.O_CREAT | os.O_WRONLY), stream.fileno())
            rate(*job)
            break
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
