"""How many calls a second does the runner make, by its limit on calls in flight?

    python benchmarks/repeats/throughput.py
    python benchmarks/repeats/throughput.py --client litellm

A server on loopback answers after 50 ms; every call is noted in the store before and after. Server
and runner share one process, so that the runner has less than a core. Each limit is measured
several times, the limits in turn, so that whatever else the machine does meets all of them.
Writes benchmarks/repeats/results/throughput.csv and .png (``..._litellm`` for that client), one row
a limit:

``calls_per_second``    median over the rounds, with the least and the greatest
``of_ideal``            the median by ``limit / latency``, what calls that cost nothing would reach
``speed_up``            the median by that of the first limit
``cpu_ms_per_call``     processor time of runner, store, client and server together, median: a
                        thousand by it is what no limit can exceed. litellm takes some eight
                        times what the plain client does, so that beyond a dozen calls in flight it
                        is the processor that limits a server as quick as this one; a model that
                        answers after seconds is another matter

Quick: ``--limits 4 --rounds 1``

Found: 520 calls a second at 64 in flight (29.6 times those of one, 41 % of calls that cost
nothing); through litellm 113, limited by 3.5 CPU ms a call.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
from matplotlib import pyplot as plt

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "repeats"))
from chat_server import ChatServer
from run_to_be_killed import CLIENTS, run

RESULTS = Path(__file__).parent / "results"
LATENCY = 0.05


def one(client: str, concurrency: int, calls: int) -> dict[str, float]:
    """Time one run of so many calls."""
    with ChatServer(latency=LATENCY) as server, tempfile.TemporaryDirectory() as folder:
        begin, work = time.perf_counter(), time.process_time()
        found = run(
            server.port,
            Path(folder) / "run.sqlite",
            calls,
            client=client,
            timeout=60,
            half_width=0.05,
            concurrency=concurrency,
            progress=False,
        )
        seconds = time.perf_counter() - begin
        return {
            "limit": concurrency,
            "calls": found.calls,
            "calls_per_second": found.calls / seconds,
            "cpu_ms_per_call": 1000 * (time.process_time() - work) / found.calls,
        }


def summarised(every: pd.DataFrame) -> pd.DataFrame:
    """One row a limit: medians, and what they are of the ideal."""
    groups = every.groupby("limit")
    table = groups[["calls", "calls_per_second", "cpu_ms_per_call"]].median()
    table["slowest"] = groups["calls_per_second"].min()
    table["fastest"] = groups["calls_per_second"].max()
    table["ideal"] = table.index / LATENCY
    table["of_ideal"] = table["calls_per_second"] / table["ideal"]
    table["speed_up"] = table["calls_per_second"] / table["calls_per_second"].iloc[0]
    return table.reset_index()


def draw(table: pd.DataFrame, path: Path) -> None:
    """Draw measured rates, their range, and the ideal."""
    figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
    middle = table["calls_per_second"]
    ends = [middle - table["slowest"], table["fastest"] - middle]
    ax.errorbar(table["limit"], middle, ends, fmt="o-", label="measured: median, range")
    ax.plot(table["limit"], table["ideal"], "k--", lw=1, label="limit / latency")
    ceiling = 1000 / table["cpu_ms_per_call"].min()
    ax.axhline(ceiling, color="C1", lw=1, ls=":", label="one core, doing nothing else")
    ax.set(xscale="log", yscale="log", xlabel="calls in flight at most", ylabel="calls a second")
    ax.set_xticks(table["limit"], [f"{limit}" for limit in table["limit"]])
    ax.minorticks_off()
    ax.legend(frameon=False)
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limits", type=int, nargs="+", default=[1, 2, 4, 8, 16, 32, 64])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--client", choices=list(CLIENTS), default="plain")
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    one(asked.client, 4, 40)  # a first run imports what it needs
    rows = [
        one(asked.client, limit, 20 * limit + 20)
        for _ in range(asked.rounds)
        for limit in asked.limits
    ]
    table = summarised(pd.DataFrame(rows))
    name = "throughput" + ("" if asked.client == "plain" else f"_{asked.client}")
    table.to_csv(RESULTS / f"{name}.csv", index=False, float_format="%.4g")
    draw(table, RESULTS / f"{name}.png")
    print(table.round(2).to_string(index=False))


if __name__ == "__main__":
    main()
