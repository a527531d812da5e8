"""Do intervals cover if rows share items, and how wide are they?

    python benchmarks/prevalence/items.py                       # closed forms, 2,000 logs a setting
    python benchmarks/prevalence/items.py --settings pairs --simulations 500 \
        --output benchmarks/prevalence/results/items_pairs.csv

Nominal 95 %. Item success rates are Beta distributed with ICC 1/3 around a prevalence of .7, the
judge has sensitivity .9 and specificity .7 (Gaussian copula between systems). ``pooled`` is the
exact posterior that counts rows as if they were items. Results are written after each setting and
kept: a setting whose methods are there is not run again (delete the rows to start afresh).

Quick: ``--simulations 20 --slow 2``

Found: at 1000 x 1, 200 x 5 and 100 x 10 rows (2,000 logs) PPI++ by item covers .938, .956 and .952
at widths of .106, .150 and .187, Rogan-Gladen by item .948, .963 and .962, effective counts (400
logs) .955, .968 and .985; rows counted as items .955, .825 and .780, the judge's pass rate .718 to
.848. With 5, 20 and 100 labelled items PPI++ covers .990, .956 and .947 (widths .52, .21, .10). Of
23 settings (labelled rows, leniency, a judge asked five times, uneven repeats, ICC 0 and .8, a
prevalence of .95) PPI++ covers least where a judge is asked five times about 100 labelled outputs:
.934 and .936 of 2,000 logs; effective counts there .923 and .943 of 300. Paired
differences (items_pairs.csv, 500 logs a setting) cover .956 to .974 and are 1.5 to 2.1 % wider
than the published paired PPI++ with 200 labelled items and correlations of 0 to .9; 8 % with 40
labelled items, 24 % with 20, where the published one covers .948 and .924. Of twenty systems (400
logs) the 190 simultaneous intervals hold all at once in .952, those one by one in .058.

Writes to benchmarks/prevalence/results: items.csv (by setting) and items_pairs.csv (pairs).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesjudge import prevalence
from bayesjudge.prevalence import items as module
from bayesjudge.prevalence.items import Items

RESULTS = Path(__file__).parent / "results"
TRUTH, SEED = 0.7, 20_291


def settings() -> dict[str, dict[str, dict[str, Any]]]:
    """Arguments of `simulate` by group and name."""
    table = {
        "1000 x 1, 200 labelled": {"items": 1000, "repeats": 1, "labelled": 200},
        "200 x 5, 40 labelled": {"items": 200, "repeats": 5, "labelled": 40},
        "100 x 10, 20 labelled": {"items": 100, "repeats": 10, "labelled": 20},
    }
    labels = {
        f"300 x 5, {n} labelled items": {"items": 300, "repeats": 5, "labelled": n}
        for n in (5, 20, 100)
    }
    rows = {
        f"300 x 5, {n} labelled rows": {
            **{"items": 300, "repeats": 5, "labelled": n, "label": "row"}
        }
        for n in (20, 100, 300)
    }
    lenient = {
        f"{name}, leniency 1": {**how, "leniency": 1.0}
        for name, how in (table | rows).items()
        if "x 1," not in name
    }
    judge = {
        f"300 x 5 verdicts, {n} labelled outputs{more}": {
            **{"items": 300, "repeats": 5, "labelled": n, "of": "judge", "leniency": leniency}
        }
        for n in (20, 100)
        for leniency, more in ((0.0, ""), (1.5, ", leniency 1.5"))
    }
    uneven = {
        f"200 x 1 to 9, {n} labelled items": {
            **{"items": 200, "repeats": 9, "labelled": n, "uneven": True}
        }
        for n in (20, 60)
    }
    extreme = {
        "200 x 5, 40 labelled, prevalence .95": {
            **{"items": 200, "repeats": 5, "labelled": 40, "systems": 0.95}
        },
        "200 x 5, 40 labelled, ICC .8": {"items": 200, "repeats": 5, "labelled": 40, "icc": 0.8},
        "200 x 5, 40 labelled, ICC 0": {"items": 200, "repeats": 5, "labelled": 40, "icc": 0.0},
    }
    return {
        "table": table,
        "labels": labels,
        "rows": rows,
        "lenient": lenient,
        "judge": judge,
        "uneven": uneven,
        "extreme": extreme,
    }


def pairs() -> dict[str, dict[str, Any]]:
    """Two systems on 600 shared items, 200 of them labelled: how alike they are varies."""
    rates = {"a": 0.8, "b": 0.75}
    good_judge = {"sensitivity": 0.95, "specificity": 0.95}
    made = {
        f"600 x 1, correlation {c}": {
            **{"systems": rates, "items": 600, "repeats": 1, "labelled": 200},
            **{"correlation": c, "icc": 0.5, **good_judge},
        }
        for c in (0.0, 0.3, 0.6, 0.9)
    }
    made["200 x 5, 40 labelled, correlation 0.6"] = {
        **{"systems": rates, "items": 200, "repeats": 5, "labelled": 40, "correlation": 0.6}
    }
    made["300 x 2, 20 labelled, correlation 0.9"] = {
        **{"systems": rates, "items": 300, "repeats": 2, "labelled": 20, "correlation": 0.9}
    }
    return made


def paired_ppi(items: Items) -> tuple[float, float, float]:
    """PPI++ of the differences of truth and verdict, item by item, as published (normal)."""
    r, s = (items.rows(name) for name in items.systems)
    known, count = r.labelled > 0, items.count.astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.where(known, r.good / r.labelled - s.good / s.labelled, 0.0)
        v = r.labelled_pass / r.labelled - s.labelled_pass / s.labelled
        v = np.where(known, v, r.test_pass / r.test - s.test_pass / s.test)
    m, n = count[known].sum(), count[~known].sum()

    def mean(x: np.ndarray, where: np.ndarray) -> float:
        return float(count[where] @ x[where] / count[where].sum())

    covariance = mean((y - mean(y, known)) * (v - mean(v, known)), known)
    spread = mean((v - mean(v, known | ~known)) ** 2, known | ~known)
    weight = covariance / spread / (1 + m / n)
    e = y - weight * v
    value = mean(e, known) + weight * mean(v, ~known)
    variance = mean((e - mean(e, known)) ** 2, known) / m
    variance += weight**2 * mean((v - mean(v, ~known)) ** 2, ~known) / n
    half = 1.96 * np.sqrt(variance)
    return value, value - half, value + half


def _unpaired(items: Items) -> tuple[float, float, float]:
    """Two separate estimates, as if of different items."""
    a, b = (prevalence.difference(items)["prevalence", name] for name in items.systems)
    half = np.hypot(a.high - a.low, b.high - b.low) / 2
    return a.value - b.value, a.value - b.value - half, a.value - b.value + half


def paired(how: dict[str, Any], runs: int) -> Iterator[dict[str, Any]]:
    """Coverage and width of the difference of two systems."""
    methods: dict[str, Callable[[Items], Any]] = {
        "unpaired": _unpaired,
        "paired PPI++ (published)": paired_ppi,
        "paired difference": lambda x: prevalence.paired_difference(x)["difference", "a", "b"],
    }
    rng = np.random.default_rng(SEED)
    logs = [log_of(rng, how) for _ in range(runs)]
    for name, method in methods.items():
        rows = np.array([method(items) for items in logs])
        yield {"method": name, **summary(rows, 0.05), "runs": runs}


def twenty(runs: int) -> Iterator[dict[str, Any]]:
    """Do the 190 intervals of twenty systems hold at once?"""
    rates = {f"s{i:02d}": 0.5 + 0.02 * i for i in range(20)}
    how = {"systems": rates, "items": 200, "repeats": 2, "labelled": 60, "correlation": 0.7}
    rng, held = np.random.default_rng(SEED), {False: [], True: []}
    for _ in range(runs):
        items = log_of(rng, how)
        for together, found in held.items():
            made = prevalence.paired_difference(items, simultaneous=together).quantities[
                "difference"
            ]
            gaps = np.array([rates[a] - rates[b] for a, b in made.labels])
            inside = (made.low <= gaps) & (gaps <= made.high)
            found.append((inside.all(), inside.mean(), (made.high - made.low).mean()))
    for together, found in held.items():
        every, each, width = np.mean(found, axis=0)
        name = "simultaneous" if together else "one by one"
        yield {"method": f"{name}, all at once", "covered": every, "width": width, "runs": runs}
        yield {"method": f"{name}, each", "covered": each, "width": width, "runs": runs}


def log_of(rng: np.random.Generator, how: dict[str, Any]) -> Items:
    """Draw a log and read it."""
    how = {"systems": TRUTH, **how}
    uneven = how.pop("uneven", False)
    log = module.simulate(**how, random_seed=rng)
    if uneven:  # items were asked 1 to 9 times
        asked = rng.integers(1, how["repeats"] + 1, how["items"])
        log = log[log["repeat"].to_numpy() < asked[log["item"].to_numpy()]]
    by = "system" if isinstance(how["systems"], dict) else None
    return Items.from_frame(log, calibration="random", repeats=how.get("of", "system"), by=by)


def _pooled(items: Items) -> Any:
    """The first round: rows as if they were items."""
    return prevalence.exact(items.pooled())


METHODS: dict[str, Callable[[Items], Any]] = {
    "pooled (exact)": _pooled,
    "judge's pass rate": prevalence.naive,
    "labels only": prevalence.human_only,
    "PPI++ by item": prevalence.difference,
    "Rogan-Gladen by item": prevalence.rogan_gladen,
    "effective counts (exact)": module.exact,
}


def single(how: dict[str, Any], runs: int, slow: int, names: list[str]) -> Iterator[dict[str, Any]]:
    """Coverage and width of each method; those by quadrature on the first `slow` logs."""
    truth = how.get("systems", TRUTH)
    rng = np.random.default_rng(SEED)
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in names}
    for i in range(runs):
        items = log_of(rng, how)
        for name, method in ((name, METHODS[name]) for name in names):
            if i >= slow and "exact" in name:
                continue
            try:
                found[name].append(method(items)["prevalence"])
            except ValueError:
                found[name].append((np.nan, 0.0, 1.0))
    for name, rows in found.items():
        if not rows:
            continue
        yield {"method": name, **summary(np.array(rows), truth), "runs": len(rows)}


def summary(rows: np.ndarray, truth: float) -> dict[str, float]:
    """Coverage, mean width and bias of value, low, high."""
    value, low, high = rows.T
    held = (low <= truth + 1e-12) & (truth - 1e-12 <= high)
    return {
        "covered": float(held.mean()),
        "width": float((high - low).mean()),
        "bias": float(np.nanmean(value) - truth),
    }


def main() -> None:
    """Run the settings asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--settings", nargs="*", default=[*settings(), "pairs", "twenty"])
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--slow", type=int, default=400, help="logs for the quadrature")
    parser.add_argument("--methods", nargs="*", default=[*METHODS], help="of single systems")
    parser.add_argument("--output", type=Path, default=RESULTS / "items.csv")
    asked = parser.parse_args()
    done = (
        pd.read_csv(asked.output)
        if asked.output.exists()
        else pd.DataFrame(columns=["setting", "method"])
    )
    runs = asked.simulations
    every: list[tuple[str, str, Callable[[], Iterator[dict[str, Any]]]]] = [
        (group, name, partial(single, how, runs, asked.slow, asked.methods))
        for group, each in settings().items()
        for name, how in each.items()
    ]
    every += [("pairs", name, partial(paired, how, runs)) for name, how in pairs().items()]
    every += [("twenty", "20 systems, 200 x 2, 60 labelled", partial(twenty, runs // 4))]
    for group, name, run in every:
        there = set(done.loc[done["setting"] == name, "method"])
        alone = group not in ("pairs", "twenty")
        if group not in asked.settings or (set(asked.methods) <= there if alone else there):
            continue
        made = pd.DataFrame(run())
        made.insert(0, "setting", name)
        print(made.round(3).to_string(index=False), flush=True)
        old = (done["setting"] == name) & done["method"].isin(made["method"])
        done = pd.concat([done[~old], made], ignore_index=True)
        done.to_csv(asked.output, index=False)


if __name__ == "__main__":
    main()
