"""Does the interval of a rubric's total cover, if the judge's errors go together over criteria?

    python benchmarks/rubric/intervals.py                       # 100 tables a setting
    python benchmarks/rubric/intervals.py --runs 1000 --save    # the stored results
    python benchmarks/rubric/intervals.py --dialogues           # of LLM-Rubric
    python benchmarks/rubric/intervals.py --alarms              # criteria that cannot be judged

Nominal 95 %; 1,000 outputs, of which each criterion is met by 60 %, a judge who is right in 80 %;
errors of one output have a correlation (of the normal variables behind them) of 0, .2 or .4, and so
have truths; the last criterion has the weight -1, the others 1. ``throughout``: PPI++ of totals,
outputs labelled on all criteria. ``in part``: `two_phase`, each label on half of the criteria, so
that twice as many outputs have some. ``independent``: the same value with the interval of a sum of
independent criteria. ``ratio`` is its width by that of ``throughout``'s; ``error`` is the Monte
Carlo standard error of ``covered``. Of LLM-Rubric (225 dialogues, nine criteria graded by three
people each), dialogues are drawn with replacement, 1,000 to a table, and the labelled ones from
these. Writes benchmarks/rubric/results/intervals.csv.

Quick: as it is.

Found: over twelve settings of 1,000 tables each .937 to .958 of totals are covered (standard error
.007), and .942 to .960 where outputs are labelled in part, with .83 to 1.00 times the width. A sum
of criteria as if they were independent has .64 to 1.00 times the width and covers .805 to .949:
least with ten criteria whose errors correlate by .4. Of LLM-Rubric's dialogues, drawn with
replacement, .940 and .952 are covered (50 and 100 labelled), in part .948 and .945, and .786 and
.796 as if criteria were independent. A judge whose J is .5 exactly is said not to reach .5 in .030
and .035 of 400 tables (50 and 200 labels; .025 is nominal, error .009), one of .3 in .34 and .89,
one of .1 in .88 and 1.00.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesjudge.datasets import llm_rubric
from bayesjudge.judge import quality
from bayesjudge.prevalence import difference
from bayesjudge.rubric import Rubric, simulate, two_phase
from bayesjudge.rubric.criteria import REACH

RESULTS = Path(__file__).parent / "results"
SEED, OUTPUTS = 41_014, 1000
SETTINGS = [(c, k, m) for c in (0.0, 0.2, 0.4) for k in (4, 10) for m in (50, 200)]


def drawn(correlation: float, criteria: int, rng: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The judge's and people's verdicts on all outputs, and the weights."""
    how: dict[str, Any] = {"error_correlation": correlation, "truth_correlation": correlation}
    table = simulate(
        outputs=OUTPUTS, labelled=OUTPUTS, criteria=criteria, agreement=0.8, random_seed=rng, **how
    ).to_numpy(float)
    weight = np.ones(criteria)
    weight[-1] = -1.0
    return table[:, :criteria], table[:, criteria:], weight


def dialogues() -> tuple[np.ndarray, np.ndarray]:
    """The judge's mean grade of each criterion and people's, from 0 to 1, where all have one."""
    table = llm_rubric().dropna(subset=[f"human_Q{i}" for i in range(9)])
    said, grades = (table[[f"{who}_Q{i}" for i in range(9)]] for who in ("judge", "human"))
    return (said.to_numpy() - 1) / 3, (grades.to_numpy() - 1) / 3


def intervals(
    judged: np.ndarray, people: np.ndarray, weight: np.ndarray, labelled: int, rng: Any
) -> dict[str, Any]:
    """Each interval of one table; its first outputs are labelled."""
    criteria = judged.shape[1]
    whole = np.where(np.arange(OUTPUTS)[:, None] < labelled, people, np.nan)
    names = [f"c{i}" for i in range(criteria)]
    rubric = Rubric(judged, whole, weight, "random", names, graded=True)
    row = difference(rubric.scores())["mean_score"]
    worth = rubric.points(rubric.applies)
    half = rng.permuted(np.tile(np.arange(criteria) < criteria // 2, (OUTPUTS, 1)), axis=1)
    some = half & (np.arange(OUTPUTS)[:, None] < 2 * labelled)
    part = two_phase(worth * judged, np.where(some, worth * people, np.nan)).interval(0.95)
    each = [two_phase(worth[:, [c]] * judged[:, [c]], worth[:, [c]] * whole[:, [c]])
            for c in range(criteria)]  # fmt: skip
    alone = 1.96 * np.sqrt(sum(one.error**2 for one in each))
    return {
        "throughout": (row.low, row.high),
        "in part": (part.low, part.high),
        "independent": (row.value - alone, row.value + alone),
    }


def study(runs: int, published: bool) -> pd.DataFrame:
    """Coverage and width by setting and method."""
    real = dialogues() if published else None
    settings: list[Any] = SETTINGS if real is None else [("LLM-Rubric", 9, m) for m in (50, 100)]
    rows = []
    for place, (correlation, criteria, labelled) in enumerate(settings):
        rng = np.random.default_rng([SEED, place])
        found: dict[str, list[Any]] = {}
        for _ in range(runs):
            if real is None:
                judged, people, weight = drawn(correlation, criteria, rng)
                truth = 0.6 * (criteria - 2) / (criteria - 1)
            else:
                chosen = rng.integers(0, len(real[0]), OUTPUTS)
                judged, people = (side[chosen] for side in real)
                weight, truth = np.ones(criteria := judged.shape[1]), real[1].mean()
            for name, (low, high) in intervals(judged, people, weight, labelled, rng).items():
                found.setdefault(name, []).append((low <= truth <= high, high - low))
        usual = np.mean(found["throughout"], axis=0)[1]
        for name, each in found.items():
            covered, width = np.mean(each, axis=0)
            error = np.sqrt(covered * (1 - covered) / runs)
            rows.append((correlation, criteria, labelled, name, covered, error, width,
                         width / usual, runs))  # fmt: skip
        print(*rows[-3:], sep="\n", flush=True)
    columns = ["errors", "criteria", "labelled", "method", "covered", "error", "width", "ratio"]
    return pd.DataFrame(rows, columns=[*columns, "tables"])


def alarms(runs: int) -> pd.DataFrame:
    """How often a judge of some J is said not to reach .5."""
    rows = []
    for place, (youden, labelled) in enumerate(
        [(j, m) for j in (0.5, 0.3, 0.1) for m in (50, 200)]
    ):
        rng, named = np.random.default_rng([SEED, 1, place]), 0
        for _ in range(runs):
            table = simulate(outputs=OUTPUTS, labelled=labelled, criteria=1,
                             agreement=(1 + youden) / 2, random_seed=rng)  # fmt: skip
            pair = {"c1": ("judge_c1", "human_c1")}
            rubric = Rubric.from_frame(table, criteria=pair, calibration="random")
            named += quality(rubric.criterion("c1"))["youden"].high < REACH
        share = named / runs
        rows.append((youden, labelled, share, np.sqrt(share * (1 - share) / runs), runs))
    return pd.DataFrame(rows, columns=["youden", "labelled", "named", "error", "tables"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100, help="tables a setting")
    parser.add_argument("--dialogues", action="store_true", help="of LLM-Rubric")
    parser.add_argument("--save", action="store_true", help="keep the results")
    parser.add_argument("--alarms", action="store_true", help="of criteria that cannot be judged")
    asked = parser.parse_args()
    made = alarms(asked.runs) if asked.alarms else study(asked.runs, asked.dialogues)
    made = made.round(4)
    print(made.to_string(index=False))
    if asked.save:
        names = {
            "alarms.csv": asked.alarms,
            "dialogues.csv": asked.dialogues,
            "intervals.csv": True,
        }
        name = next(one for one, so in names.items() if so)
        made.to_csv(RESULTS / name, index=False)
