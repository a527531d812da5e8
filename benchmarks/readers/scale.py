"""What does it take to go from a log of 10⁸ rows to a posterior?

    python benchmarks/readers/scale.py --rows 1e8 --small 1e7

Parquet files are generated (DuckDB): a verdict a row, five rows an item, 2 % of the items labelled;
a panel's votes, eight judges an item; battles of twenty systems; and attempts of four agents, 160
rows a task. Each job reads one of them in a process of its
own, as a lazily scanned table or as a pandas table, and goes on to the posterior. Kept are CPU
seconds and the peak of resident memory, of reading and of all, in results/scale.csv, job by job.

Quick: ``--rows 20000 --small 20000 --jobs prevalence --engines duckdb``

Found: at 10⁸ rows DuckDB, told to stay below 1 GB, counts a panel's 20,700 patterns in 18.0 CPU s
and 470 MiB, 1.5 times the same query by hand (12.3 CPU s, 331 MiB), and its pooled model is sampled
with NUTS after 69 CPU s in all and 650 MiB; items with their exact posterior take 21.1 CPU s and
773 MiB, prevalence 2.2 CPU s and 261 MiB, imports included. At 10⁷ rows patterns take 2.5 CPU s
(by hand 1.3, before 4.4; a second of it are imports), 15.4 and 2,461 MiB by pandas, items 3.4 and
675 MiB (12.0 and 1,954), with identical counts (the digest in `counts`). A local Spark
session has the same digests at 10⁷ rows after 31.7 CPU s (prevalence), 50.6 (items), 52.3
(patterns), 62.0 (scores) and 59.9 (repeats, of two million names), its Java process counted,
in 1.1 to 2.7 GiB; it takes 24 s for a million rows, so that a laptop pays for its start. Earlier it
seemed not to end since it was given 100 s by the clock. Pandas' scores are not grouped, and differ.
10⁸ battles of twenty systems take 2.9 CPU s and 195 MiB (by hand 2.3), and their leaderboard 4.7;
10⁷ attempts of 62,500 tasks by four agents 1.7 CPU s and 426 MiB (by hand 1.0 and 343), with their
closed forms 2.6; 10⁸ of 625,000 tasks, which are 6.6 million patterns, 11.7 CPU s and 1,752 MiB (by
hand, as rows of Python, 10.1 and 2,288), with their closed forms 21.5.
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
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results" / "scale.csv"
JUDGES = 8
#: DuckDB is told to stay below this, so that what is measured is bounded by more than the machine.
MEMORY = "1GB"
#: `repeats` keeps every item by name: no more than so many are read.
MOST_NAMES = 2e6
#: Processes that work for this one: Spark's, whose seconds and memory count too.
BESIDE: list[int] = []
ROWS = """
SELECT 'q' || (i // 5) AS question,
    CASE WHEN hash(i) % 100 < 70 THEN 'PASS' ELSE 'FAIL' END AS verdict,
    CASE WHEN hash(i // 5 + 7) % 100 >= 2 THEN NULL
         WHEN hash(i + 3) % 100 < 75 THEN 'yes' ELSE 'no' END AS human,
    (hash(i + 11) % 1000000) / 1e6 AS score,
    (1 + hash(i + 13) % 5)::INT AS stars
FROM range({n}) t(i)
"""
VOTES = """
SELECT 'q' || (i // {k}) AS item, 'system ' || (hash(i // {k} + 1) % 4) AS generator,
    'judge ' || (i % {k}) AS judge,
    CASE WHEN hash(i + 5) % 100 < 2 THEN NULL
         WHEN (hash(i // {k} + 3) % 100 < 75) = (hash(i) % 100 < 90 - 3 * (i % {k})) THEN 'PASS'
         ELSE 'FAIL' END AS vote,
    CASE WHEN hash(i // {k} + 7) % 100 >= 2 THEN NULL
         WHEN hash(i // {k} + 3) % 100 < 75 THEN 'yes' ELSE 'no' END AS human
FROM range({n}) t(i)
"""
BATTLES = """
SELECT 'system ' || (hash(i) % 20) AS model_a,
    'system ' || ((hash(i) % 20 + 1 + hash(i + 1) % 19) % 20) AS model_b,
    CASE WHEN hash(i + 3) % 100 < 45 THEN 'model_a' WHEN hash(i + 3) % 100 < 85 THEN 'model_b'
         ELSE 'tie' END AS winner,
    CASE WHEN hash(i + 7) % 100 >= 2 THEN NULL WHEN hash(i + 5) % 100 < 80 THEN winner
         WHEN winner = 'model_a' THEN 'model_b' ELSE 'model_a' END AS human
FROM range({n}) t(i)
"""
ATTEMPTS = """
SELECT 'task ' || (i // 160) AS task, 'agent ' || (hash(i) % 4) AS agent,
    CASE WHEN (hash(i + 3) % 100 < hash(i // 160) % 100) = (hash(i + 5) % 100 < 90) THEN 'PASS'
         ELSE 'FAIL' END AS verdict,
    CASE WHEN hash(i + 7) % 100 >= 2 THEN NULL
         WHEN hash(i + 3) % 100 < hash(i // 160) % 100 THEN 'yes' ELSE 'no' END AS human
FROM range({n}) t(i)
"""
FILES = {"rows": ROWS, "votes": VOTES, "battles": BATTLES, "tries": ATTEMPTS}
#: The file of a job, if not ``rows``.
OF_JOB = {
    **dict.fromkeys(("by hand", "patterns", "panel"), "votes"),
    **dict.fromkeys(("battles by hand", "leaderboard"), "battles"),
    **dict.fromkeys(("attempts by hand", "attempts"), "tries"),
}
#: What DuckDB takes for the same groups. Votes of an item are packed to one number.
PANEL_BY_HAND = """
SELECT generator, packed, truth, count(*) FROM (
    SELECT generator, item, max(human) AS truth, sum(
        (CASE vote WHEN 'PASS' THEN 2 WHEN 'FAIL' THEN 1 ELSE 0 END)
        * CAST(pow(3, CAST(substr(judge, 7) AS INT)) AS BIGINT)) AS packed
    FROM read_parquet('{path}') GROUP BY ALL) GROUP BY ALL
"""
BY_HAND = {
    "by hand": PANEL_BY_HAND,
    "battles by hand": "SELECT *, count(*) FROM read_parquet('{path}') GROUP BY ALL",
    "attempts by hand": "SELECT *, count(*) FROM read_parquet('{path}') GROUP BY ALL",
}


def generated(folder: Path, job: str, n: int) -> Path:
    """The file that a job reads, made if it is not there."""
    import duckdb

    name = OF_JOB.get(job, "rows")
    path = folder / f"{name}_{n}.parquet"
    if not path.exists():
        base = duckdb.connect()
        base.execute("SET memory_limit='2GB'; SET threads=1")
        made = FILES[name].format(n=n, k=JUDGES)
        base.execute(f"COPY ({made}) TO '{path}.part' (FORMAT parquet)")
        Path(f"{path}.part").rename(path)
    return path


def opened(engine: str, path: Path) -> Any:
    """A table of the file, not read yet but by pandas and Arrow."""
    if engine == "duckdb":
        import duckdb

        base = duckdb.connect()
        base.execute(f"SET memory_limit='{MEMORY}'; SET threads=2")
        base.execute("SET preserve_insertion_order=false")
        base.execute(f"SET temp_directory='{path.parent}/spill'")
        return base.read_parquet(str(path))
    if engine == "spark":
        from pyspark.sql import SparkSession

        local = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        local = local.config("spark.driver.memory", "4g").config("spark.log.level", "ERROR")
        # its default of 200 is for a cluster
        local = local.config("spark.sql.shuffle.partitions", "4").getOrCreate()
        BESIDE.append(local.sparkContext._gateway.proc.pid)
        return local.read.parquet(str(path))
    if engine == "polars":
        import polars as pl

        return pl.scan_parquet(path)
    if engine == "arrow":
        from pyarrow import parquet

        return parquet.read_table(path)
    import pandas as pd

    return pd.read_parquet(path)


# Jobs: a table, and then a result --------------------------------------------------------------


def prevalence(table: Any, read: Callable[[str], None]) -> str:
    from bayesjudge import prevalence

    given = columns(table, "verdict", "human")
    counts = prevalence.Counts.from_frame(given, truth="human", calibration="random")
    cells = [counts.test_n, counts.test_pass, counts.correct_n, counts.correct_pass]
    read(digest([*cells, counts.incorrect_n, counts.incorrect_fail]))
    return shown(prevalence.exact(counts)["prevalence"])


def items(table: Any, read: Callable[[str], None]) -> str:
    from bayesjudge.prevalence import items

    rows = items.Items.from_frame(
        table, item="question", truth="human", calibration="random", repeats="system"
    )
    read(digest([rows.cells, rows.count]))
    return f"{len(rows.count)} patterns, {shown(items.exact(rows)['prevalence'])}"


def patterns(table: Any, read: Callable[[str], None]) -> str:
    """What ``by hand`` counts: a panel's patterns, without its model."""
    from bayesjudge import panel

    votes = panel.Votes.from_frame(table, truth="human", calibration="random")
    read(of_votes(votes))
    return f"{len(votes.count)} patterns"


def panel(table: Any, read: Callable[[str], None]) -> str:
    from bayesjudge import panel

    votes = panel.Votes.from_frame(table, truth="human", calibration="random")
    read(of_votes(votes))
    fit = panel.fit(votes, random_seed=1, progress=False)
    found = fit.estimate().quantities["prevalence"]
    return f"{len(votes.count)} patterns, {shown((found.value, found.low, found.high))}"


def scores(table: Any, read: Callable[[str], None]) -> str:
    from bayesjudge.prevalence import scores

    found = scores.Scores.from_frame(table, truth="human", calibration="random", scale=(0, 1))
    read(digest([found.n, found.known, found.truth[found.known]]))
    return f"{len(found.n)} patterns, {shown(scores.closed_forms(found)[0]['prevalence'])}"


def repeats(table: Any, read: Callable[[str], None]) -> str:
    import numpy as np

    from bayesjudge import repeats

    found = repeats.Scores.from_frame(table, score="stars", item="question", scale=range(1, 6))
    # items in whichever order
    read(digest(np.unique(found.counts.reshape(len(found.items), -1), axis=0, return_counts=True)))
    return str(found)


def leaderboard(table: Any, read: Callable[[str], None]) -> str:
    from bayesjudge import leaderboard

    battles = leaderboard.Battles.from_frame(table, people="human")
    read("")
    found = leaderboard.approximate(battles).estimate()
    return f"{len(battles.count)} patterns, {spread(found, 'strength')}"


def attempts(table: Any, read: Callable[[str], None]) -> str:
    import numpy as np

    from bayesjudge import attempts

    how = {"by": "agent", "truth": "human", "calibration": "random", "k": (1, 4)}
    tries = attempts.Attempts.from_frame(table, **how)
    read(digest([tries.cells[np.argsort(tries.tasks)]]))
    return f"{len(tries.tasks)} tasks, {spread(attempts.closed_forms(tries)[0], 'pass_hat_k')}"


def by_hand(table: Any, read: Callable[[str], None]) -> str:
    found = table.fetchall()
    read("")
    return f"{len(found)} patterns"


JOBS = {"prevalence": prevalence, "items": items, "patterns": patterns, "by hand": by_hand,
        "scores": scores, "repeats": repeats, "panel": panel, "battles by hand": by_hand,
        "leaderboard": leaderboard, "attempts by hand": by_hand, "attempts": attempts}  # fmt: skip


def digest(arrays: Iterable[Any]) -> str:
    """The counts that were made, shortened: engines that counted alike have the same."""
    import hashlib

    import numpy as np

    told = hashlib.sha256()
    for one in arrays:
        told.update(np.ascontiguousarray(one, np.int64).tobytes())
    return told.hexdigest()[:12]


def of_votes(votes: Any) -> str:
    """Digest of a panel's patterns; names are in the order in which a table has them."""
    import numpy as np

    generator = np.argsort(np.argsort(votes.generators))[votes.generator]
    by_judge = votes.votes[:, np.argsort(np.array(votes.judges)[votes.judge_of_column])]
    rows = np.column_stack([generator, votes.truth, by_judge, votes.count])
    return digest([rows[np.lexsort(rows.T)]])


def columns(table: Any, *names: str) -> Any:
    import narwhals as nw

    return nw.from_native(table).select(*names).to_native()


def shown(quantity: Any) -> str:
    """An estimate's value and interval, or the mean over systems."""
    import numpy as np

    return " ".join(f"{float(np.mean(x)):.4f}" for x in quantity)


def spread(estimate: Any, name: str) -> str:
    """The same of a quantity with an entry for each system."""
    found = estimate.quantities[name]
    return shown((found.value, found.low, found.high))


def memory() -> int:
    """Peak of resident memory in MiB."""
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    told = [Path(f"/proc/{pid}/status").read_text().partition("VmHWM:")[2] for pid in BESIDE]
    return (own + sum(int(words.split()[0]) for words in told)) // 1024


def seconds() -> float:
    """CPU seconds so far."""
    told = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in BESIDE]
    ticks = sum(int(fields[11]) + int(fields[12]) for fields in told)
    return round(time.process_time() + ticks / os.sysconf("SC_CLK_TCK"), 1)


def run(engine: str, job: str, path: Path) -> None:
    """One job, in a process of its own: its figures on stdout."""
    told: dict[str, Any] = {}

    def read(counted: str) -> None:
        told.update(counts=counted, read_cpu=seconds(), read_mib=memory())
        print(json.dumps(told), flush=True)  # kept if what follows is ended

    if job in BY_HAND:
        import duckdb

        base = duckdb.connect()
        base.execute(f"SET memory_limit='{MEMORY}'; SET threads=2")
        table = base.sql(BY_HAND[job].format(path=path))
    else:
        table = opened(engine, path)
    told["answer"] = JOBS[job](table, read)
    print(json.dumps(told | {"cpu": seconds(), "mib": memory()}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e8)
    parser.add_argument("--small", type=float, default=1e7)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "scale")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--jobs", nargs="+", default=[])
    parser.add_argument("--engines", nargs="+", default=[])
    parser.add_argument("--seconds", type=float, default=900, help="most for one job")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        run(asked.one[0], asked.one[1], Path(asked.one[2]))
        return
    asked.folder.mkdir(parents=True, exist_ok=True)
    import pandas as pd

    from bayesjudge.cli.output import write_csv

    done = pd.read_csv(asked.results).to_dict("records") if asked.results.exists() else []
    have = {(one["rows"], one["engine"], one["job"]) for one in done}
    plan = [(asked.small, e) for e in ("duckdb", "polars", "arrow", "pandas", "spark")]
    plan += [(asked.rows, "duckdb")]
    for n, engine in dict.fromkeys(plan):
        if asked.engines and engine not in asked.engines:
            continue
        for job in asked.jobs or JOBS:
            unfit = (job in BY_HAND and engine != "duckdb") or (
                job == "repeats" and n > MOST_NAMES * 5
            )
            if unfit or (int(n), engine, job) in have:
                continue
            path = generated(asked.folder, job, int(n))
            told = measured(engine, job, path, asked.seconds)
            done.append({"rows": int(n), "engine": engine, "job": job, **told})
            print(done[-1], flush=True)
            write_csv(pd.DataFrame(done), asked.results)


def measured(engine: str, job: str, path: Path, limit: float) -> dict[str, Any]:
    """Figures of one job in a process of its own; of what took too long, those of reading."""
    command = [sys.executable, __file__, "--one", engine, job, str(path)]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit)
        output, failed = ended.stdout, f"ended with {ended.returncode}: {ended.stderr[-200:]}"
    except subprocess.TimeoutExpired as error:
        output, failed = (error.stdout or b"").decode(), f"ended after {limit:.0f} s by the clock"
    told: dict[str, Any] = {}
    for line in output.splitlines():
        told |= json.loads(line) if line.startswith("{") else {}
    told["answer"] = told.get("answer", failed).strip().splitlines()[-1]
    return told


if __name__ == "__main__":
    main()
