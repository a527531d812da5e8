"""``bayesjudge demo``: the main job on the package's own data, with the truth beside it."""

from __future__ import annotations

import sys

import bayesjudge as bj
from bayesjudge.cli.output import Shared
from bayesjudge.cli.prevalence import answer
from bayesjudge.core.report import Record, records
from bayesjudge.datasets import keep_labels, xstest

#: Labels kept of each system, and the seed that chooses them.
LABELS, SEED = 100, 2024

NEXT = """
What to do next
  bayesjudge demo --html demo.html     the same as a page with pictures
  bayesjudge prevalence --help         your own table
"""


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
        If an option is out of its range.
    ConvergenceError
        If the sampler did not converge and ``--strict`` asks for an error.
    """
    shared.check()
    known = xstest()
    shares = known.groupby("system")["truth"].mean()
    counts = bj.prevalence.Counts.from_frame(
        keep_labels(known, LABELS, SEED, by="system"),
        by="system",
        item="item",
        calibration="random",
        unparsed="fail",
    )
    truth = {("prevalence", str(name)): float(share) for name, share in shares.items()}
    made = answer(
        counts,
        bj.prevalence.ErrorRates(),
        shared,
        source="XSTest, GPT-4 as the judge of five systems; Röttger et al. (2024), CC-BY-4.0",
        command="demo",
        truth=truth,
    )
    if not shared.json:
        found = records(*made, ci_prob=shared.ci_prob, interval=shared.interval)
        sys.stdout.write("\n".join(_score(found, truth)) + "\n" + NEXT)


def _score(found: list[Record], truth: dict[tuple[str, str], float]) -> list[str]:
    """Every method's intervals, held against the truth."""
    by_method: dict[str, list[Record]] = {}
    for one in found:
        if one.entry in truth:
            by_method.setdefault(one.method, []).append(one)
    lines = ["", "Intervals that hold the truth, and their mean width"]
    for method, each in by_method.items():
        held = sum(one.row.low <= truth[one.entry] <= one.row.high for one in each)
        width = sum(one.row.high - one.row.low for one in each) / len(each)
        lines.append(f"  {method.split(',')[0]:<18}  {held} of {len(each)}   {width:.3f}")
    return lines
