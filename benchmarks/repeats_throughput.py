"""Calls a second of the runner against the limit on calls in flight, on loopback.

    python benchmarks/repeats_throughput.py

A server on loopback answers after 50 ms; every call is noted in the store before and after.
Writes benchmarks/results/repeats_throughput.csv and .png. ``ideal`` is the limit divided by 50 ms.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
from matplotlib import pyplot as plt

from bayesjudge.repeats import Reply, current_call, only_number, sample_until_sync

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from chat_server import ChatServer, complete

RESULTS = Path(__file__).parent / "results"
LATENCY = 0.05


def one(concurrency: int, calls: int) -> dict[str, float]:
    """Time one run of so many calls."""
    with ChatServer(latency=LATENCY) as server, tempfile.TemporaryDirectory() as folder:

        async def judge(item: str) -> Reply:
            call = current_call()
            text = await complete(server.port, f"Rate {item}", f"{call.item}/{call.repeat}")
            return Reply(only_number(text), text)

        begin, work = time.perf_counter(), time.process_time()
        run = sample_until_sync(
            judge,
            [f"item{i}" for i in range(64)],
            store=Path(folder) / "run.sqlite",
            scale=[1, 2, 3, 4, 5],
            half_width=0.05,
            most_per_item=1000,
            budget_calls=calls,
            concurrency=concurrency,
            progress=False,
        )
        seconds = time.perf_counter() - begin
        return {
            "concurrency": concurrency,
            "calls": run.calls,
            "seconds": seconds,
            "calls_per_second": run.calls / seconds,
            "ideal": concurrency / LATENCY,
            "cpu_ms_per_call": 1000 * (time.process_time() - work) / run.calls,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limits", type=int, nargs="+", default=[1, 2, 4, 8, 16, 32, 64])
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    table = pd.DataFrame([one(limit, 30 * limit + 30) for limit in asked.limits])
    table.to_csv(RESULTS / "repeats_throughput.csv", index=False, float_format="%.4g")
    figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
    ax.plot(table["concurrency"], table["calls_per_second"], "o-", label="measured")
    ax.plot(table["concurrency"], table["ideal"], "k--", lw=1, label="limit / latency")
    ax.set(xscale="log", yscale="log", xlabel="calls in flight at most", ylabel="calls a second")
    ax.legend(frameon=False)
    figure.savefig(RESULTS / "repeats_throughput.png", dpi=110)
    print(table.round(2).to_string(index=False))


if __name__ == "__main__":
    main()
