"""``bayesjudge demo``: the main job on the package's own data, with the truth beside it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from bayesjudge import prevalence as room
from bayesjudge.cli.app import app
from bayesjudge.cli.output import Shared
from bayesjudge.cli.prevalence import answer
from bayesjudge.core.report import side_by_side
from bayesjudge.datasets import keep_labels, xstest

if TYPE_CHECKING:
    import pandas as pd

#: Labels kept of each system, and the seed that chooses them.
LABELS, SEED = 100, 2024

NEXT = """
What to do next
  bayesjudge demo --html demo.html     the same as a page with pictures
  bayesjudge prevalence --help         your own table
"""


@app.command
def demo(*, shared: Shared = Shared()) -> None:
    """Correct a judge on real data, with the truth beside the answer.

    GPT-4 judged the answers of five systems to 450 prompts each (XSTest); people judged all of
    them too. The demo keeps a random 100 human labels of each system, hides the rest, estimates
    each system's share of good answers, and prints the hidden truth in the column `truth`.

    ```
    bayesjudge demo --html demo.html
    ```

    Raises
    ------
    InputError
        Where an option is out of its range.
    ConvergenceError
        Where the sampler did not converge and ``--strict`` asks for an error.
    """
    shared.check()
    known = xstest()
    shares = known.groupby("system")["truth"].mean()
    counts = room.Counts.from_frame(
        keep_labels(known, LABELS, SEED, by="system"),
        by="system",
        item="item",
        calibration="random",
        unparsed="fail",
    )
    truth = {f"prevalence[{name}]": float(share) for name, share in shares.items()}
    made = answer(
        counts,
        room.Priors(),
        shared,
        source="XSTest, GPT-4 as the judge of five systems; Röttger et al. (2024), CC-BY-4.0",
        command="demo",
        truth=truth,
    )
    if not shared.json:
        table = side_by_side(*made, ci_prob=shared.ci_prob, interval=shared.interval)
        sys.stdout.write("\n".join(_score(table, truth)) + "\n" + NEXT)


def _score(table: pd.DataFrame, truth: dict[str, float]) -> list[str]:
    """Hold every method's intervals against the truth."""
    rows = table[table["quantity"].isin(truth)]
    known = rows["quantity"].map(truth)
    held = (rows["low"] <= known) & (known <= rows["high"])
    lines = ["", "Intervals that hold the truth, and their mean width"]
    for method, each in rows.assign(held=held).groupby("method", sort=False):
        name = str(method).split(",")[0]
        lines.append(
            f"  {name:<18}  {each['held'].sum()} of {len(each)}   {each['width'].mean():.3f}"
        )
    return lines
