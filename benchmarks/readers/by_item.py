"""What does ``--item`` take on ten million rows, beside DuckDB's own grouping by item?

    python benchmarks/readers/by_item.py --rows 1e7

One Parquet file is generated (DuckDB): a verdict of each of ten systems on each item, system by
system, items in no order, 1 % of the outputs labelled; and a call's own id on each row. Each
command reads it in a process of its own, and so does DuckDB's own query, with the memory that the
commands give it and with all that it wants. Kept are CPU seconds, the peak of resident memory and
the most bytes that lay in the folder for what is spilled, in results/by_item.csv.

Quick: ``--rows 1e4``

Found: ``--by --item`` takes 10.3 CPU s and 648 MiB, nothing spilled, where DuckDB's own grouping
takes 2.8 and 864 (2.6 and 717 if held to 1 GB). With an item of its own for each row, 13.7 CPU s,
1,169 MiB and 391 MiB spilled (DuckDB's grouping: 5.1, 1,011 and 333). ``doctor``, which runs each
line that it proposes, takes 26.8 CPU s and 1,462 MiB. Before, ``--by --item`` was stopped after two
minutes by the clock and 32 CPU s, with 1,231 MiB and 4.9 GiB spilled: each system's and truth's
verdicts of an item had a counter of their own; now an item's are bits of a few whole numbers.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results" / "by_item.csv"
SYSTEMS = 10
ROWS = """
SELECT 'q' || i AS item, 'system ' || s AS system, md5(s || ' ' || i) AS call,
    CASE WHEN hash(i, s) % 100 < 70 + s THEN 'PASS' ELSE 'FAIL' END AS verdict,
    CASE WHEN hash(i + 7, s) % 100 >= 1 THEN NULL
         WHEN hash(i + 3, s) % 100 < 75 THEN 'yes' ELSE 'no' END AS truth
FROM range({k}) a(s), (SELECT i FROM range({n} // {k}) b(i) ORDER BY hash(i))
ORDER BY s
"""
BY_HAND = "SELECT count(*) FROM (SELECT system, {key}, count(*) FROM '{path}' GROUP BY ALL)"
ASKED = [
    "--verdict",
    "verdict",
    "--truth",
    "truth",
    "--calibration",
    "random",
    "--no-nuts",
    "--json",
]
COMMANDS = {
    "prevalence": ["prevalence", *ASKED],
    "prevalence --by": ["prevalence", *ASKED, "--by", "system"],
    "prevalence --item": ["prevalence", *ASKED, "--item", "item", "--repeats", "system"],
    "prevalence --by --item": ["prevalence", *ASKED, "--by", "system", "--item", "item"],
    "prevalence --by --item, a row an item": [
        "prevalence",
        *ASKED,
        "--by",
        "system",
        "--item",
        "call",
    ],
    "doctor": ["doctor"],
}
#: DuckDB's own query, by the memory that it is given.
QUERIES = {
    "GROUP BY system, item": ("item", ""),
    "GROUP BY system, item in 1 GB": ("item", "1GB"),
    "GROUP BY system, call in 1 GB": ("call", "1GB"),
}


def generate(path: Path, n: int) -> None:
    import duckdb

    base = duckdb.connect()
    base.execute("SET memory_limit='2GB'; SET threads=1")
    query = ROWS.format(n=n, k=SYSTEMS)
    base.execute(f"COPY ({query}) TO '{path}.part' (FORMAT parquet)")
    Path(f"{path}.part").rename(path)


def run(job: str, path: Path, rows: int) -> None:
    """One job, in a process of its own; what it found goes to stderr."""
    told: Any = ""
    if job == "generate":
        generate(path, rows)
    elif job in QUERIES:
        import duckdb

        base = duckdb.connect()
        key, memory = QUERIES[job]
        if memory:
            base.execute(f"SET memory_limit='{memory}'")
            base.execute("SET preserve_insertion_order=false")
        base.execute(f"SET temp_directory='{tempfile.gettempdir()}'")
        told = base.sql(BY_HAND.format(path=path, key=key)).fetchall()[0][0]
    else:
        from bayesjudge.cli import main as command

        first, *others = COMMANDS[job]
        told = command([first, str(path), *others])
    print(told, file=sys.stderr)


def spilled(folder: Path) -> int:
    """Bytes that lie in a folder now; files go while they are looked at."""
    found = 0
    for name, _, files in os.walk(folder):
        for file in files:
            try:
                found += (Path(name) / file).stat().st_blocks * 512
            except FileNotFoundError:
                continue
    return found


def measured(job: str, path: Path, rows: int, limit: float) -> dict[str, Any]:
    """CPU seconds, peak memory and peak of what is spilled."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as err:
        began, most = time.monotonic(), 0
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        child = subprocess.Popen(
            [sys.executable, __file__, "--one", job, "--path", str(path), "--rows", str(rows)],
            stdout=subprocess.DEVNULL, stderr=err, env=os.environ | {"TMPDIR": folder},
        )  # fmt: skip
        used = None
        while used is None:
            most = max(most, spilled(Path(folder)))
            ended, status, found = os.wait4(child.pid, os.WNOHANG)
            if ended:
                used = found
            elif time.monotonic() - began > limit:
                child.kill()
                _, status, used = os.wait4(child.pid, 0)
            time.sleep(0.05)
        child.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        told = err.read().strip().splitlines() or [""]
    del before
    return {
        "cpu": round(used.ru_utime + used.ru_stime, 1),
        "mib": used.ru_maxrss // 1024,
        "spilled_mib": most // 2**20,
        "exit": child.returncode,
        "told": told[-1],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "scale")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--jobs", nargs="+", default=[*QUERIES, *COMMANDS])
    parser.add_argument("--seconds", type=float, default=600, help="most for one job, by the clock")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--path", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        run(asked.one, asked.path, int(asked.rows))
        return
    asked.folder.mkdir(parents=True, exist_ok=True)
    rows = int(asked.rows)
    path = asked.folder / f"by_item_{rows}.parquet"
    if not path.exists():  # elsewhere, since a process begins with the memory of who started it
        measured("generate", path, rows, asked.seconds)
    import pandas as pd

    from bayesjudge.cli.output import write_csv

    found = []
    for job in asked.jobs:
        found.append({"rows": rows, "job": job, **measured(job, path, rows, asked.seconds)})
        print(json.dumps(found[-1]), flush=True)
    write_csv(pd.DataFrame(found), asked.results)


if __name__ == "__main__":
    main()
