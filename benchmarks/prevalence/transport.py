"""Do labels of other systems tell the prevalence of a system without any?

    python benchmarks/prevalence/transport.py             # both panels, 100 labels a system
    python benchmarks/prevalence/transport.py --labels 30
    python benchmarks/prevalence/transport.py --summary   # the table of what is there

Each system of two panels that people labelled throughout is left out in turn: its labels are
hidden, and of every other system 100 random items are labelled. code_feedback: six generators, 14
judges (votes_repaired). xstest: five models, two judges. Two answers for the share of good items
among the hidden system's, which is known:

- ``separate``: all labels together, ``Counts(calibration="separate")`` and `ErrorRates`, as if the
  judge erred alike everywhere;
- ``partial``: ``Counts(calibration="random", by=system)`` and `PooledErrorRates`, whose rates in
  one system lie some logits from the typical one's.

Both with ``target="items"`` and nominal 95 %. ``said``: whether ``separate`` carried the caution
``other-systems`` or ``pass-rate-out-of-range``. Rows are written as they come, and a second run
goes on after the last.

Writes to benchmarks/prevalence/results: transport.csv (a row a judge and system) and transport.md.

Quick: ``--limit 1``

Found: of 94 cases with 100 labels a system ``separate`` covers 77 (.82; 4 of 10 on xstest) at a
mean width of .37, and all 17 misses carried a caution; ``partial`` covers 93 (.99) at a mean width
of .85, none below .42: honest and almost without information, since rates that differ between five
or six systems may be nearly anything in one more. What helps is labels of the system itself.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesjudge import prevalence

RESULTS = Path(__file__).parent / "results"
SHARED = Path(__file__).parents[3] / "shared" / "data"
SEED = 20_263


def panels(shared: Path) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Panel, judge, and a table of system, verdict and truth."""
    table = pd.read_csv(shared / "code_feedback" / "votes_repaired.csv.gz")
    for judge in table.columns[5:]:
        rows = table[["generator", judge, "human"]].set_axis(["system", "verdict", "truth"], axis=1)
        yield "code_feedback", str(judge), rows.dropna()
    table = pd.read_csv(shared / "xstest" / "xstest_labels_compact.csv")
    good = "1_full_compliance"
    for judge in ("gpt4_label", "strmatch_label"):
        rows = table[table[judge] != "INVALID"]
        made = {"verdict": rows[judge] == good, "truth": rows["final_label"] == good}
        yield (
            "xstest",
            judge,
            pd.DataFrame({"system": rows["model"], **made}).astype(
                {"verdict": int, "truth": float}
            ),
        )


def left_out(rows: pd.DataFrame, system: str, labels: int, rng: Any) -> dict[str, Any]:
    """Both answers for one system without labels."""
    mine = rows["system"] == system
    truth = float(rows.loc[mine, "truth"].mean())
    others = rows[~mine]
    kept = pd.concat(
        [one.sample(min(labels, len(one)), random_state=rng) for _, one in others.groupby("system")]
    )
    hidden = rows[mine].assign(truth=np.nan)
    row: dict[str, Any] = {"system": system, "truth": truth}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        separate = prevalence.Counts.from_frame(
            pd.concat([hidden, kept]), calibration="separate", unparsed="drop"
        )
        unlabelled = others.drop(kept.index).assign(truth=np.nan)
        partial = prevalence.Counts.from_frame(
            pd.concat([hidden, kept, unlabelled]), calibration="random", by="system"
        )
        fits = {
            "separate": prevalence.fit(separate, prevalence.ErrorRates(), random_seed=1),
            "partial": prevalence.fit(partial, prevalence.PooledErrorRates(), random_seed=1),
        }
    for name, fit in fits.items():
        estimate = fit.estimate(target="items")
        value, low, high = (
            estimate["prevalence", system] if name == "partial" else estimate["prevalence"]
        )
        found = {"value": value, "low": low, "high": high, "covered": low <= truth <= high}
        row |= {f"{name}_{key}": one for key, one in found.items()}
        row[f"{name}_converged"] = fit.converged
    told = {"other-systems", "pass-rate-out-of-range"}
    row["said"] = bool(told & {c.id for c in fits["separate"].cautions})
    return row


def summary(table: pd.DataFrame) -> str:
    """Coverage, error and width by panel."""
    lines = ["| panel | answer | cases | covered | mean error | mean width | converged |"]
    lines.append("|---|---|---|---|---|---|---|")
    for panel, rows in [*table.groupby("panel"), ("both", table)]:
        for name in ("separate", "partial"):
            error = (rows[f"{name}_value"] - rows["truth"]).abs().mean()
            width = (rows[f"{name}_high"] - rows[f"{name}_low"]).mean()
            covered, n = rows[f"{name}_covered"].sum(), len(rows)
            lines.append(
                f"| {panel} | {name} | {n} | {covered} ({covered / n:.2f}) | {error:.3f} | "
                f"{width:.3f} | {rows[f'{name}_converged'].sum()} |"
            )
    missed = table[~table["separate_covered"]]
    lines.append(f"\n`separate` missed {len(missed)}, of which it warned {missed['said'].sum()}.")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run what is missing, and summarise."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--labels", type=int, default=100)
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--limit", type=int, default=10_000, help="cases to run at most")
    parser.add_argument("--summary", action="store_true")
    asked = parser.parse_args()
    path = RESULTS / f"transport{'' if asked.labels == 100 else f'_{asked.labels}'}.csv"
    done = set()
    if path.exists():
        done = {(r["panel"], r["judge"], r["system"]) for r in pd.read_csv(path).to_dict("records")}
    cases = [
        (panel, judge, rows, system)
        for panel, judge, rows in ([] if asked.summary else panels(asked.shared))
        for system in rows["system"].unique()
        if (panel, judge, system) not in done
    ]
    order = np.random.default_rng(SEED).permutation(len(cases))[: asked.limit]
    for i in order:  # in random order, so that a part is a sample of all
        panel, judge, rows, system = cases[i]
        seed = [SEED, asked.labels, *map(ord, judge + system)]
        rng = np.random.RandomState(np.random.default_rng(seed).integers(2**32))
        row = {"panel": panel, "judge": judge, **left_out(rows, system, asked.labels, rng)}
        new = not path.exists()
        with path.open("a", newline="") as file:
            writer = csv.DictWriter(file, row)
            if new:
                writer.writeheader()
            writer.writerow(row)
    path.with_suffix(".md").write_text(summary(pd.read_csv(path)))
    print(path.with_suffix(".md").read_text())


if __name__ == "__main__":
    main()
