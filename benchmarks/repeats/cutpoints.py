"""Do judges use the scale alike? Shared cutpoints against cutpoints of each judge.

    python benchmarks/repeats/cutpoints.py
    python benchmarks/repeats/cutpoints.py --composo base_both_k8.jsonl.gz

Fits ``CumulativeLogit`` and ``JudgeCutpoints`` and compares how well each predicts an answer that
it has not seen: PSIS-LOO with one answer left out at a time. Data: judges
simulated with the same cutpoints, and with log-gaps that scatter by 0.6; with ``--composo``, 40
responses of composo-ai/llm-judge-criteria-ensembling (MIT), two judges on a scale of ten, eight
scores each. Writes benchmarks/repeats/results/cutpoints.csv, one row a data set: ``gain`` is the
expected log predictive density of own cutpoints less that of shared ones, over all answers, with
its standard error; ``worst_k`` the greatest Pareto k of both (below 0.7: to be trusted);
``seconds`` and ``ess`` (least bulk ESS of the quantities) of each fit.

No quick setting: it takes 31 CPU s once its models are compiled, and 110 before.

Found: if judges do use the scale differently, own cutpoints predict much better (50 +- 9 over 600
answers). The two judges of composo show no such thing (1.5 +- 1.5 over 640, with one k of .74), so
that shared cutpoints, the default, serve them as well at half the time.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from bayesjudge import ConvergenceWarning, repeats
from bayesjudge.repeats import Scores

RESULTS = Path(__file__).parent / "results"
FIVE = (1, 2, 3, 4, 5)
MODELS = {"shared": repeats.CumulativeLogit(), "by_judge": repeats.JudgeCutpoints()}


def simulated(cutpoint_scale: float) -> Scores:
    """Fifteen items, five judges, eight scores of each."""
    table = repeats.simulate(
        items=15, judges=5, repeats=8, cutpoint_scale=cutpoint_scale, random_seed=20_259
    )
    return Scores.from_frame(table, scale=FIVE, item="item", judge="judge", order="repeat")


def composo(path: Path, responses: int = 40) -> Scores:
    """Score the first response of each of the first items, by both judges."""
    rows = []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for number, line in zip(range(responses), file, strict=False):
            said = json.loads(line)
            for judge in ("full", "mini"):
                for score in said[f"{judge}_scores"][0]:
                    rows.append({"item": f"{number}", "judge": judge, "score": score})
    table = pd.DataFrame(rows).astype({"score": float})
    return Scores.from_frame(table, scale=range(1, 11), item="item", judge="judge")


def compared(name: str, scores: Scores) -> dict[str, object]:
    """Fit both models and compare."""
    from arviz_stats import loo

    row: dict[str, object] = {"data": name, "answers": int(scores.repeats.sum())}
    pointwise, worst = {}, 0.0
    for cutpoints, model in MODELS.items():
        begin = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fit = repeats.fit(scores, model, random_seed=1)
        row[f"seconds_{cutpoints}"] = time.perf_counter() - begin
        row[f"ess_{cutpoints}"] = fit.diagnostics()["ess_bulk"].min()
        row[f"converged_{cutpoints}"] = fit.converged
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a Pareto k above 0.7: it is in the table
            found = loo(fit.extended(random_seed=1).idata, pointwise=True)
        pointwise[cutpoints] = found.elpd_i.to_numpy()
        worst = max(worst, float(found.pareto_k.max()))
        row[f"elpd_{cutpoints}"] = found.elpd
        if cutpoints == "by_judge":
            low, high = np.quantile(fit.draws("cutpoint_scale"), [0.025, 0.975])
            row |= {"cutpoint_scale_low": low, "cutpoint_scale_high": high}
    gains = pointwise["by_judge"] - pointwise["shared"]
    return row | {
        "gain": gains.sum(),
        "gain_error": gains.std() * np.sqrt(gains.size),
        "worst_k": worst,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--composo", type=Path, help="base_both_k8.jsonl.gz")
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    data = {"simulated, log-gaps scatter by 0.6": simulated(0.6)}
    if asked.composo is not None:
        data["composo, two judges"] = composo(asked.composo)
    data["simulated, same cutpoints"] = simulated(0.0)
    rows = []
    for name, scores in data.items():
        rows.append(compared(name, scores))
        table = pd.DataFrame(rows)  # written after each, since a fit takes a minute
        table.to_csv(RESULTS / "cutpoints.csv", index=False, float_format="%.4g")
    print(table.round(3).T.to_string(header=False))


if __name__ == "__main__":
    main()
