"""What does a run lose that is killed and resumed, and what does it ask twice?

    python benchmarks/repeats/killed.py                 # all three, some minutes
    python benchmarks/repeats/killed.py --clients plain # without litellm
    python benchmarks/repeats/killed.py --clients odd --kills 100

A server on loopback speaks the chat-completions protocol. It answers the first attempt at a call
with an error (10 %), not in time (5 %) or without a score (3 %). Clients plain and litellm: a run
of some 2,600 attempts is killed (SIGKILL), resumed with a budget of 1,700, and resumed without.
Client odd: as plain, but 15 % of the calls come to something that cannot be stored as it is (half
an emoji, a cost of None or nan, a dict for a text, a score of 10**400, an error with half an emoji
or without a text, a CancelledError), and one item has half a character in its name; the run is
killed 100 times at random moments (one time in five by SIGINT) and resumed each time; after every
tenth kill, a run with another text of an item tries to go on in the store. Each run has a process
of its own; the server keeps count. Writes benchmarks/repeats/results/killed.csv, one row a client:

``kills``               times that the process was killed
``attempts``            requests that the server saw, over all runs
``answers``             slots that have become final, with or without a score
``errors``, ``late``, ``unreadable``, ``failed``   attempts refused and given up; answers without a
                        score, and calls that failed for good
``stored_at_kill``      answers in the store when the process was killed, summed over kills
``lost``                of these, those not there later, or changed
``asked_again``         of these, those that the server was asked for again
``attempts_at_budget``  requests seen when the budget of 1,700 was spent
``intruders``           runs that asked something else and were not refused
``differing``           final answers that differ from those of the run that nothing stopped

Quick: ``--clients odd --kills 1``

Found: of 34,942 answers stored at 100 random kills none was lost or asked twice, and no run that
asked something else was let in; neither was one of 585 and 550 at the single kill of the plain
client and of litellm.
"""

from __future__ import annotations

import argparse
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

from bayesjudge import InputError
from bayesjudge.repeats.runner import Run, read_answers

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "repeats"))
from chat_server import ChatServer
from run_to_be_killed import CLIENTS, KillStudy, finish, found, items_of, kill_after, run, start

RESULTS = Path(__file__).parent / "results"
FAULTS = {"errors": 0.10, "hangs": 0.05, "garbage": 0.03, "hang": 8.0, "latency": 0.01}
BUDGET = 1700


def killed_once(client: str, store: Path, expected: Run) -> dict[str, object]:
    """Kill one run, resume it twice, and compare."""
    with ChatServer(**FAULTS) as server:
        kill_after(start(client, server.port, store), server, 600)
        kept, before = read_answers(store), server.asked.copy()
        finish(start(client, server.port, store, BUDGET))
        at_budget = server.asked.total()
        finish(start(client, server.port, store))
    same = kept.merge(read_answers(store), how="inner")
    keys = kept["item"] + "/" + kept["repeat"].astype(str)
    return {
        "client": client,
        "kills": 1,
        "attempts": server.asked.total(),
        **compared(store, client, expected),
        "stored_at_kill": len(kept),
        "lost": len(kept) - len(same),
        "asked_again": sum(server.asked[key] != before[key] for key in keys),
        "attempts_at_budget": at_budget,
    }


class Intruding(KillStudy):
    """Every tenth time, a run that asks something else tries to go on in the store."""

    intruders = 0

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """Kill, and then intrude."""
        super().kill(process)
        if self.kills % 10 == 0 and len(self.kept()):
            names = items_of("odd")
            others = dict(zip(names, [*names[:-1], "another text"], strict=True))
            try:
                run(self.server.port, self.store, client="odd", items=others, progress=False)
            except InputError as error:
                self.intruders += "other items" not in str(error)
            else:
                self.intruders += 1


def killed_often(client: str, store: Path, expected: Run, kills: int) -> dict[str, object]:
    """Kill a run at random moments, resume it each time, and compare."""
    with ChatServer(**FAULTS) as server:
        study = Intruding(server, store, kills=kills, most=3000 // kills, random_seed=7)
        study.run()
    return {
        "client": client,
        "kills": study.kills,
        "attempts": server.asked.total(),
        **compared(store, client, expected),
        "stored_at_kill": study.checked,
        "lost": study.lost,
        "asked_again": study.asked_again,
        "intruders": study.intruders,
    }


def compared(store: Path, client: str, expected: Run) -> dict[str, int]:
    """Count what is in a store, and what is not as in the run that nothing stopped."""
    with sqlite3.connect(store) as file:
        problems = [row[0] or "" for row in file.execute("SELECT problem FROM attempts")]
    file.close()
    made = found(store, client)
    ours, theirs = (r.answers.astype(str) for r in (made, expected))
    return {
        "answers": len(made.answers),
        "errors": sum("Error" in p and "Timeout" not in p for p in problems),
        "late": sum("Timeout" in p for p in problems),
        "unreadable": int(made.items["unparsed"].sum()),
        "failed": int(made.items["failed"].sum()),
        "differing": len(ours) + len(theirs) - 2 * len(ours.merge(theirs)),
    }


def undisturbed(client: str, store: Path) -> Run:
    """Run without a kill; litellm's answers are those of the plain client."""
    with ChatServer(**FAULTS) as server:
        plain = "odd" if client == "odd" else "plain"
        return run(server.port, store, client=plain, timeout=1.0, progress=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", nargs="+", choices=list(CLIENTS), default=list(CLIENTS))
    parser.add_argument("--kills", type=int, default=100, help="of the odd client")
    asked = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for client in asked.clients:
            expected = undisturbed(client, Path(folder) / f"{client}_whole")
            store = Path(folder) / client
            if client == "odd":
                rows.append(killed_often(client, store, expected, asked.kills))
            else:
                rows.append(killed_once(client, store, expected))
    table = pd.DataFrame(rows)
    if set(asked.clients) == set(CLIENTS):
        RESULTS.mkdir(exist_ok=True)
        table.to_csv(RESULTS / "killed.csv", index=False, float_format="%.6g")
    print(table.T.to_string(header=False))


if __name__ == "__main__":
    main()
