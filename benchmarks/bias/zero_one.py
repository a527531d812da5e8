"""How long does the normal model take on scores of 0 and 1 without repeats?

    python benchmarks/bias/zero_one.py --items 300 1763

Simulates judges of which three changes turn 5, 10 and 15 % of the verdicts, fits
``bias.NormalShifts`` with its defaults (4 chains of 1000 + 2000 draws, one after another) and times
one gradient of the log-density that is sampled, whose items are summed up, against that of the
model of the text, which has a row an item. Writes benchmarks/bias/results/zero_one.csv: CPU seconds
of the fit, whether it converged, its least effective sample size, and the two gradients'
microseconds.

Quick: ``--items 300 --mode FAST_COMPILE``

Found: three changes of 1,763 items take 5 CPU seconds (300 items 26, the compilation of the first
fit included) and converge; before, 300 items took 37 s and 1,763 were not done in 8 minutes. A
gradient of the summed density costs 14 microseconds whatever the number of items, one of the rows
137 at 1,763.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from bayesjudge import ConvergenceWarning, bias

RESULTS = Path(__file__).parent / "results"
TURNED = {"format": 0.05, "order": 0.1, "length": 0.15}


def judged(items: int) -> bias.Shifts:
    """Verdicts of 0 and 1, each once."""
    rng = np.random.default_rng(items)
    before = rng.uniform(size=items) < 0.6
    parts = {"baseline": before.astype(float)}
    for name, share in TURNED.items():
        turned = rng.uniform(size=items) < share
        parts[name] = np.where(turned, ~before, before).astype(float)
    table = pd.DataFrame(parts).rename_axis("item").reset_index()
    table = table.melt("item", var_name="variant", value_name="score")
    return bias.Shifts.from_frame(table, scale=(0, 1), design="item")


def gradient_time(model: object, mode: str | None) -> float:
    """CPU microseconds of one gradient of a PyMC model's log-density."""
    function = model.logp_dlogp_function(ravel_inputs=True, mode=mode)  # type: ignore[attr-defined]
    function.set_extra_values({})
    point = model.initial_point()  # type: ignore[attr-defined]
    x = np.concatenate([np.ravel(point[v.name]) for v in model.value_vars])  # type: ignore[attr-defined]
    function(x)
    begin = time.process_time()
    for _ in range(200):
        function(x)
    return (time.process_time() - begin) / 200 * 1e6


def row(items: int, mode: str | None) -> dict[str, object]:
    shifts, model = judged(items), bias.NormalShifts()
    times = {
        "gradient_of_sums": gradient_time(model._sampling_form(shifts), mode),
        "gradient_of_rows": gradient_time(bias.build_model(shifts, model), mode),
    }
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        made = bias.fit(shifts, model, random_seed=1, cores=1, progress=False)
    seconds = time.process_time() - begin
    ess = float(made.diagnostics()["ess_bulk"].min())
    found = {"items": items, "cpu_seconds": seconds, "converged": made.converged, "least_ess": ess}
    return {**found, **times}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--items", type=int, nargs="+", default=[300, 1763])
    parser.add_argument("--mode", help="in which PyTensor compiles the gradients that are timed")
    asked = parser.parse_args()
    rows = []
    for items in asked.items:
        rows.append(row(items, asked.mode))
        print(rows[-1], flush=True)
        pd.DataFrame(rows).to_csv(RESULTS / "zero_one.csv", index=False, float_format="%.3g")


if __name__ == "__main__":
    main()
