"""How far is what stands on the screen before the draws arrive from what the draws say?

    python benchmarks/core/preview.py
    python benchmarks/core/preview.py --rows panel bias

For the simulated tables of ``first_answer.py``: the preview (mode and curvature of the density that
NUTS runs) and NUTS. ``apart`` is the difference of the means in posterior standard deviations, on
average and at most over the entries of the answer; ``width`` the preview's interval over that of
NUTS, least and largest; CPU seconds of both.

Quick: ``--rows panel``

Found: at these sizes NUTS takes more than five seconds of one model, ``items``: means are .14
posterior standard deviations apart, .24 at most, and intervals .89 to 1.21 times as wide, for .02
CPU s where NUTS takes 6.5. Of ``panel``, ``correlated``, ``ratings``, ``ratings_tied``,
``multiclass`` and ``prevalence`` means are .05 to .18 apart on average, .64 at most, and intervals
.89 to 1.13 times as wide (one of ``multiclass`` 1.97). Of four rows it is wrong, since the mode of
a hierarchy is no typical point of it, and such models show none on screen: ``prevalence_pooled``
(.6 apart, 2.3 at most), ``repeats`` and ``repeats_cutpoints`` (1.4 and 1.1, 7.1 at most, intervals
from 0 to 7 times as wide) and ``scores_mean`` (5.2). The other ten rows were not run.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

import numpy as np
from first_answer import ROWS, START

from bayesjudge.compiled import compile_model
from bayesjudge.core.preview import preview

OUT = Path(__file__).resolve().parent / "results" / "preview.csv"


def compared(row: str) -> dict[str, object]:
    """One table, both ways."""
    scope: dict = {}
    exec(START.format(make=ROWS[row]), scope)
    module, data, model = scope["m"], scope["d"], scope["model"]
    fit = module.fit(data, model, random_seed=1)
    text = module.build_model(data, model)
    form = fit.spec._sampling_form(fit.data)
    runnable = compile_model(text if form is None else form).runnable
    begin = time.process_time()
    about = {"data": fit.data, "spec": fit.spec, "quantities": fit.quantities}
    made = preview(runnable, **about)
    first = time.process_time() - begin
    begin = time.process_time()
    module.fit(data, model, random_seed=2)
    found: dict[str, object] = {"row": row, "unknowns": runnable.n_dim}
    seconds = {"preview_s": round(first, 2), "nuts_s": round(time.process_time() - begin, 2)}
    if made is None:
        return found | seconds
    sampled = fit.estimate(interval="eti")
    apart, width = [], []
    for name, one in sampled.quantities.items():
        draws = fit.draws(name).reshape(-1, one.value.size)
        spread = draws.std(axis=0)
        other = made.quantities[name]
        moves = spread > 0
        apart += list(np.abs(other.value - one.value)[moves] / spread[moves])
        width += list((other.high - other.low)[moves] / (one.high - one.low)[moves])
    figures = {"apart_mean": np.mean(apart), "apart_most": np.max(apart)}
    figures |= {"width_least": np.min(width), "width_most": np.max(width)}
    return found | {name: round(float(value), 3) for name, value in figures.items()} | seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", nargs="*", default=list(ROWS), choices=list(ROWS))
    asked = parser.parse_args()
    found = {}
    if OUT.exists():
        with OUT.open(newline="") as file:
            found = {line["row"]: line for line in csv.DictReader(file)}
    for row in asked.rows:
        found[row] = compared(row)
        columns = max(found.values(), key=len)
        with OUT.open("w", newline="") as file:
            table = csv.DictWriter(file, list(columns), lineterminator="\n")
            table.writeheader()
            table.writerows(found[key] for key in sorted(found))
        print(found[row], flush=True)


if __name__ == "__main__":
    main()
