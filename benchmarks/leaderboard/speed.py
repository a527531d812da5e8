"""Processor time of a leaderboard: a table in a new process, many systems, many battles.

    python benchmarks/leaderboard/speed.py                    # seconds
    python benchmarks/leaderboard/speed.py --rows 100000000   # the table in DuckDB, a minute

A new process reads 1,814 battles of six systems from a CSV file, 200 of them with people's verdict,
and prints the answer with every section (`bayesjudge leaderboard`); in memory, the posterior of as
many systems as are named, with as many battles; and a table of so many rows in DuckDB is counted.

Quick: ``--rows 100000``

Found: a new process answers for 1,814 battles of 6 systems in 1.3 CPU seconds, the first as the
second; in memory 20 systems take 1.3 seconds, 60 take 4.3, and 100 take 11.4. A table of
100,000,000 battles in DuckDB is counted in 7.8 (a run of its own).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from bayesjudge import leaderboard

RESULTS = Path(__file__).parent / "results"


def command(path: Path) -> float:
    """CPU seconds of a new process."""
    before = os.times()
    line = [sys.executable, "-m", "bayesjudge", "leaderboard", str(path), "--people", "human"]
    subprocess.run(line, check=True, capture_output=True)
    after = os.times()
    return (after.children_user - before.children_user) + (
        after.children_system - before.children_system
    )


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    found = []
    table = leaderboard.simulate(strengths=(0.8, 0.4, 0.1, -0.1, -0.4, -0.8), favours=(0,) * 6,
                                 items=121, labelled=0.11, random_seed=1)  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "battles.csv"
        table.iloc[:1814].to_csv(path, index=False)
        for name in ("first process", "second process"):
            found.append((f"1,814 battles of 6 systems, {name}", command(path)))
    rng = np.random.default_rng(1)
    for systems, items in ((20, 105), (60, 26), (100, 10)):
        many = leaderboard.simulate(strengths=tuple(rng.normal(0, 0.6, systems)),
                                    favours=(0,) * systems, items=items, labelled=0.02,
                                    random_seed=1)  # fmt: skip
        battles = leaderboard.Battles.from_frame(many, people="human")
        begin = time.process_time()
        fit = leaderboard.approximate(battles)
        took = time.process_time() - begin
        found.append((f"{battles.battles:,} battles of {systems} systems: {fit.method.id}", took))
    import duckdb

    base = duckdb.connect()
    base.execute("SET threads TO 1")
    begin = time.process_time()
    relation = base.sql(
        f"SELECT 'm' || (i % 20) AS model_a, 'm' || ((i + 1 + i // 20 % 19) % 20) AS model_b, "
        f"CASE WHEN hash(i) % 10 < 5 THEN 'A' WHEN hash(i) % 10 < 9 THEN 'B' ELSE 'tie' END AS "
        f"winner FROM range({rows}) AS t(i)"
    )
    battles = leaderboard.Battles.from_frame(relation)
    found.append((f"{battles.battles:,} battles in DuckDB, counted", time.process_time() - begin))
    made = pd.DataFrame(found, columns=["what", "cpu_seconds"]).round(2)
    print(made.to_string(index=False))
    made.to_csv(RESULTS / "speed.csv", index=False)


if __name__ == "__main__":
    main()
