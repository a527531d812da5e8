"""How well does each method predict a generator of source 2's panel whose labels are left out?

    python benchmarks/panel/code_feedback.py                             # a minute or two
    python benchmarks/panel/code_feedback.py --level partly_repaired
    python benchmarks/panel/code_feedback.py VOTES.csv.gz --all-models   # and the slow models

VOTES is a wide table: ``generator``, ``human`` and one column a judge, as made from the sheets of
``output/ensemble/ensemble_results_fcnhp.xlsx`` (or ``_fc``) in ai-cet/llm-judge-calibration, which
`bayesjudge.datasets.code_feedback` fetches if none is given.
Nothing is tuned on the generator that is held out: thresholds and biases come from the other five.
Writes ``code_feedback_NAME.csv`` and ``.md`` to benchmarks/panel/results, with the cautions
that contradict each method.

Quick: as it is.

Found: with labels on the other five generators, `BiasPooling` holds 6 of 6 held-out shares (90 %
intervals, 6.4 points wide, mean error 1.3 points), as do its closed forms; Dawid-Skene holds 1 of 6
with intervals half as wide, and says that dependent judges and differing error rates contradict it.
So it is with the table repaired in part.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import pandas as pd

from bayesjudge import datasets, panel
from bayesjudge.panel.checks import cautions_of
from bayesjudge.panel.compare import FOR_NEW_GENERATORS

RESULTS = Path(__file__).parent / "results"
#: Beside a developer's checkout.
DATA = Path(__file__).parents[3] / "shared" / "data" / "code_feedback"
NOT_JUDGES = {"item", "generator", "program", "line", "human"}
NOTE = (
    "Thresholds, biases and rates are learnt from the other five generators. One choice has seen "
    "these data: BiasPooling first had the mean of the generators' levels fixed at "
    "one half, and it was freed after errors on held-out generators had been seen. "
    "`benchmarks/panel/priors.py` shows what each of its priors, that one too, changes."
)
SLOW = {
    "PooledDawidSkene": panel.PooledDawidSkene(),
    "VoteRegression": panel.VoteRegression(),
    "Correlated": panel.Correlated(),
}


def table_of(path: Path | None, level: Any = "repaired") -> pd.DataFrame:
    """The wide table in a file, beside the checkout, or as the authors published it."""
    beside = DATA / f"votes_{level}.csv.gz"
    if path is not None or beside.exists():
        return pd.read_csv(path or beside)
    return datasets.code_feedback(level).rename(columns={"truth": "human"})


def read(path: Path | None, level: Any = "repaired") -> panel.Votes:
    """Read the wide table."""
    table = table_of(path, level)
    judges = [column for column in table.columns if column not in NOT_JUDGES]
    return panel.Votes.from_frame(table, judges=judges, truth="human")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("votes", type=Path, nargs="?")
    parser.add_argument("--level", default="repaired", choices=("repaired", "partly_repaired"))
    parser.add_argument("--models", nargs="*", default=[], choices=SLOW)
    parser.add_argument("--all-models", action="store_true")
    asked = parser.parse_args()
    votes = read(asked.votes, asked.level)
    chosen = SLOW if asked.all_models else asked.models
    methods = [*FOR_NEW_GENERATORS, *(SLOW[name] for name in chosen)]
    begin = time.perf_counter()
    table = panel.cross_validate(votes, methods, ci_prob=0.9, random_seed=1)
    file = asked.votes.name.partition(".")[0] if asked.votes else asked.level
    name = file.removeprefix("votes_")
    RESULTS.mkdir(exist_ok=True)
    table.to_csv(RESULTS / f"code_feedback_{name}.csv", float_format="%.5g")
    text = written(votes, table, name)
    (RESULTS / f"code_feedback_{name}.md").write_text(text)
    print(text, f"\n{time.perf_counter() - begin:.0f} s")


def written(votes: panel.Votes, table: pd.DataFrame, name: str) -> str:
    """Write the table in points, with the cautions that contradict each method."""
    lines = [
        f"# {votes.n_items} items, {len(votes.judges)} judges, {votes.missing_share:.1%} missing "
        f"({name}): leave one generator out, 90 % intervals",
        "",
        "| method | mean error | max error | covered | width | interval score | contradicted by |",
        "|---|---|---|---|---|---|---|",
    ]
    for method, row in table.iterrows():
        none = pd.isna(row["width"])
        lines.append(
            f"| {method} | {100 * row['mean_error']:.1f} | {100 * row['max_error']:.1f} | "
            + ("– | – | – | " if none else f"{row['covered']} of {row['predictions']} | ")
            + ("" if none else f"{100 * row['width']:.1f} | {100 * row['interval_score']:.1f} | ")
            + f"{row['contradicted_by']} |"
        )
    lines += ["", "Errors, widths and scores in points.", "", NOTE, ""]
    lines += [f"- {caution.id}: {caution.text}" for caution in cautions_of(votes)]
    advice = panel.recommend(votes.hide(votes.generators[0]))
    lines += ["", f"Advice: {type(advice.model).__name__}(), since {advice.why}", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
