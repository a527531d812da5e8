"""Give each stored table to one adapter, and store its intervals: run.py ADAPTER TABLES OUT.

Needs numpy only, so that every peer's own interpreter can run it. An adapter is a file beside this
one with ``METHODS``: by task, by name, a function from a table (arrays by name) to ``low, high``
(or an array of such pairs). Each method has ``--seconds`` of processor time for each file of
tables; what it does not reach is not counted.
"""

import argparse
import importlib.util
import sys
import time
import warnings
from pathlib import Path

import numpy as np


def intervals(answer, tables, target, seconds):
    """Ends of each table reached, mean processor time, and the first refusal."""
    ends, refusal, spent = [], "", 0.0
    for at in range(len(target)):
        if spent > seconds:
            break
        table = {name: values[at] for name, values in tables.items()}
        begin = time.process_time()
        try:
            ends.append(np.broadcast_to(answer(table), (*np.shape(target[at]), 2)))
        except Exception as error:
            refusal = refusal or f"{type(error).__name__}: {error}"[:200]
            ends.append(np.full((*np.shape(target[at]), 2), np.nan))
        spent += time.process_time() - begin if at else 0.0  # the first call warms up
    return np.array(ends), spent / max(len(ends) - 1, 1), refusal


def main():
    """Run one adapter over a folder."""
    parser = argparse.ArgumentParser()
    for name in ("adapter", "tables", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--seconds", type=float, default=2.0)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    sys.path.pop(0)  # adapters have the names of what they adapt
    spec = importlib.util.spec_from_file_location("adapter", asked.adapter)
    adapter = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(adapter)
    for path in sorted(asked.tables.glob("*.npz")):
        with np.load(path) as stored:
            tables = dict(stored)
        target = tables.pop("target")
        for name, answer in adapter.METHODS.get(path.stem.split(".")[0], {}).items():
            file = asked.out / f"{path.stem}.{asked.adapter.stem}.{name}.npz"
            if file.exists():  # of a run that was stopped
                continue
            np.random.seed(1)  # noqa: NPY002 - some peers draw from the global generator
            ends, each, refusal = intervals(answer, tables, target, asked.seconds)
            np.savez(file, ends=ends, seconds=each, refusal=refusal)
            print(f"{file.stem}: {len(ends)} tables, {1000 * each:.1f} ms {refusal}", flush=True)


if __name__ == "__main__":
    main()
