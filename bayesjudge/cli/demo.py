"""``bayesjudge demo``: the main job on the package's own data, with the truth beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

import bayesjudge as bj
from bayesjudge.cli.counts import view
from bayesjudge.cli.one_judge import Asked, show
from bayesjudge.cli.options import OUTPUT, Shared
from bayesjudge.cli.output import say, tell, write_csv
from bayesjudge.core.methods import Method
from bayesjudge.core.side_by_side import Record, records
from bayesjudge.datasets import keep_labels, xstest

if TYPE_CHECKING:
    import pandas as pd

#: Labels kept of each system, and the seed that chooses them.
LABELS, SEED = 100, 2024

NEXT = """
What to do next
  bayesjudge demo --html demo.html     the same as a page with pictures
  bayesjudge demo --csv labels.csv     its table, to try other commands on
  bayesjudge prevalence --help         your own table
"""


def demo(
    *,
    csv: Annotated[Path | None, Parameter(group=OUTPUT, negative="")] = None,
    shared: Shared = Shared(),
) -> None:
    """Correct a judge on real data, with the truth beside the answer.

    GPT-4 judged the answers of five systems to 450 prompts each (XSTest); people judged all of
    them too. The demo keeps a random 100 human labels of each system, hides the rest, estimates
    each system's share of good answers, and prints the hidden truth in the column `truth`.

    ```
    bayesjudge demo --html demo.html
    ```

    Parameters
    ----------
    csv : Path
        Write the table that it starts from: an item a row, PASS or FAIL as the judge's verdict,
        and as the human label where there is one.

    Raises
    ------
    InputError
        If an option is out of its range.
    ConvergenceError
        If the sampler did not converge and ``--strict`` asks for an error.
    """
    shared.check()
    known = xstest()
    kept = keep_labels(known, LABELS, SEED, by="system")
    if csv is not None:
        write_csv(_spelled(kept), csv)
        if not shared.quiet:
            tell(f"table written to {csv}")
    shares = known.groupby("system")["truth"].mean()
    counts = bj.prevalence.Counts.from_frame(
        kept,
        by="system",
        item="item",
        calibration="random",
        unparsed="fail",
    )
    truth = {("prevalence", str(name)): float(share) for name, share in shares.items()}
    source = "XSTest, GPT-4 as the judge of five systems; Röttger et al. (2024), CC-BY-4.0"
    both = replace(shared, nuts=shared.samples(True))
    shown = view(counts, bj.prevalence.ErrorRates(), both, Asked())
    inputs = {"data": source, **shown.inputs}
    estimates = show(replace(shown, command="demo", truth=truth, inputs=inputs), both)
    if not shared.json:
        rows = records(*estimates, ci_prob=shared.ci_prob, interval=shared.interval)
        say("\n".join(_score(rows, truth)) + "\n" + NEXT.removesuffix("\n"))


def _spelled(table: pd.DataFrame) -> pd.DataFrame:
    """The table as people have it: PASS, FAIL, and nothing where there is no verdict or label."""
    words = {1.0: "PASS", 0.0: "FAIL"}
    return table[["item", "system"]].assign(
        verdict=table["verdict"].map(words), human=table["truth"].map(words)
    )


def _score(rows: list[Record], truth: Mapping[Any, float]) -> list[str]:
    """Every method's intervals, held against the truth."""
    by_method: dict[Method, list[Record]] = {}
    for record in rows:
        if record.entry in truth:
            by_method.setdefault(record.method, []).append(record)
    lines = ["", "Intervals that hold the truth, and their mean width"]
    for method, each in by_method.items():
        held = sum(record.row.low <= truth[record.entry] <= record.row.high for record in each)
        width = sum(record.row.high - record.row.low for record in each) / len(each)
        lines.append(f"  {method.brief:<18}  {held} of {len(each)}   {width:.3f}")
    return lines
