"""What a run found: every answer, and each item's mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bayesjudge.repeats.data import Scores
from bayesjudge.repeats.rules import mean_interval, next_batch


@dataclass(frozen=True, eq=False)
class Run:
    """Answers and means of a run of `sample_until`.

    Parameters
    ----------
    answers : pandas.DataFrame
        One row a call: ``item``, ``judge``, ``repeat``, ``score``, ``raw``, ``problem``, by item
        and repeat, whatever the order in which answers came.
    items : pandas.DataFrame
        One row an item: ``item``, ``mean``, ``low``, ``high`` (``nan`` without a score),
        ``calls``, ``unparsed``, ``failed``, ``settled``.
    scale : tuple of float
        Values that a judge can give.
    calls : int
        Attempts, retries counted, over all runs on the store.
    cost : float
        As the judges reported it.
    """

    answers: pd.DataFrame
    items: pd.DataFrame
    scale: tuple[float, ...]
    calls: int
    cost: float

    @property
    def scores(self) -> Scores:
        """The answers, for `exact`, `anova`, `order_effects` and `fit`."""
        return Scores.from_frame(
            self.answers, scale=self.scale, item="item", judge="judge", order="repeat"
        )


def summarise(
    answers: pd.DataFrame,
    items: Sequence[str],
    rule: Mapping[str, Any],
    half_width: float,
    calls: int,
    cost: float,
) -> Run:
    """Make a `Run` of the answers in a store.

    Parameters
    ----------
    answers : pandas.DataFrame
        From `read_answers`.
    items : sequence of str
        In the order wanted.
    rule : mapping
        Arguments of `next_batch`.
    half_width : float
        What was asked for.
    calls : int
        Attempts.
    cost : float
        What they cost.

    Returns
    -------
    Run
        With one row an item, asked or not.
    """
    parts = dict(tuple(answers.groupby("item", sort=False)))
    about = {name: rule[name] for name in ("ci_prob", "method")}
    rows = []
    for item in items:
        part = parts.get(item, answers.iloc[:0])
        scores = part["score"].tolist()
        problems = part["problem"].fillna("")
        found = (np.nan,) * 3
        if part["score"].notna().any():
            found = mean_interval(scores, rule["scale"], half_width=half_width, **about)
        rows.append(
            {
                "item": item,
                **dict(zip(("mean", "low", "high"), found, strict=True)),
                "calls": len(part),
                "unparsed": int(problems.str.startswith("unparsable").sum()),
                "failed": int(problems.str.startswith("failed").sum()),
                "settled": bool(scores) and next_batch(scores, half_width, **rule) == 0,
            }
        )
    order = {item: i for i, item in enumerate(items)}
    ordered = answers.sort_values(
        ["item", "repeat"], key=lambda c: c.map(order) if c.name == "item" else c, kind="stable"
    )
    return Run(
        answers=ordered.reset_index(drop=True),
        items=pd.DataFrame(rows),
        scale=tuple(rule["scale"]),
        calls=calls,
        cost=cost,
    )
