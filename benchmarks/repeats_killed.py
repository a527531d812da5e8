"""A run that is killed and resumed, against one that is not: what is lost, and what asked twice.

    python benchmarks/repeats_killed.py                 # both clients, about a minute
    python benchmarks/repeats_killed.py --clients plain # without litellm

A server on loopback speaks the chat-completions protocol. It answers the first attempt at a call
with an error (10 %), not in time (5 %) or without a score (3 %). A run of some 2,600 attempts is
killed (SIGKILL), resumed with a budget of 1,700, and resumed without. Each run has a process of its
own; the server keeps count. Writes benchmarks/results/repeats_killed.csv, one row a client:

``attempts``            requests that the server saw, over the three runs
``answers``             slots that have become final, with or without a score
``errors``, ``late``, ``unreadable``   attempts refused and given up, answers without a score
``stored_at_kill``      answers in the store when the process was killed
``lost``                of these, those not there at the end, or changed
``asked_again``         of these, those that the server was asked for again
``attempts_at_budget``  requests seen when the budget of 1,700 was spent
``differing``           final answers that differ from those of the run that nothing stopped
``seconds``             of the three runs, two starts of Python and the client included
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd

from bayesjudge.repeats import Run, read_answers

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "repeats"))
from chat_server import ChatServer
from run_to_be_killed import CLIENTS, finish, kill_after, run, start

RESULTS = Path(__file__).parent / "results"
FAULTS = {"errors": 0.10, "hangs": 0.05, "garbage": 0.03, "hang": 2.0, "latency": 0.01}
BUDGET = 1700


def one(client: str, store: Path, expected: Run) -> dict[str, object]:
    """Kill one run, resume it twice, and compare."""
    begin = time.perf_counter()
    with ChatServer(**FAULTS) as server:
        kill_after(start(client, server.port, store), server, 600)
        kept, before = read_answers(store), server.asked.copy()
        finish(start(client, server.port, store, BUDGET))
        at_budget = server.asked.total()
        finish(start(client, server.port, store))
        seconds = time.perf_counter() - begin
        found = run(server.port, store, progress=False)  # asks nothing: all is there
    same = kept.merge(found.answers, how="inner")
    keys = kept["item"] + "/" + kept["repeat"].astype(str)
    with sqlite3.connect(store) as file:
        problems = [row[0] or "" for row in file.execute("SELECT problem FROM attempts")]
    file.close()
    ours, theirs = (r.answers.astype(str) for r in (found, expected))
    return {
        "client": client,
        "attempts": server.asked.total(),
        "answers": len(found.answers),
        "errors": sum("Error" in p and "Timeout" not in p for p in problems),
        "late": sum("Timeout" in p for p in problems),
        "unreadable": int(found.items["unparsed"].sum()),
        "stored_at_kill": len(kept),
        "lost": len(kept) - len(same),
        "asked_again": sum(server.asked[key] != before[key] for key in keys),
        "attempts_at_budget": at_budget,
        "differing": len(ours) + len(theirs) - 2 * len(ours.merge(theirs)),
        "seconds": seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", nargs="+", choices=list(CLIENTS), default=list(CLIENTS))
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, ChatServer(**FAULTS) as server:
        whole = Path(folder) / "whole.sqlite"
        expected = run(server.port, whole, timeout=1.0, progress=False)
        rows = [one(client, Path(folder) / client, expected) for client in asked.clients]
    table = pd.DataFrame(rows)
    table.to_csv(RESULTS / "repeats_killed.csv", index=False, float_format="%.3g")
    print(table.T.to_string(header=False))


if __name__ == "__main__":
    main()
