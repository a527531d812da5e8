"""How much narrower could intervals of shares, scores and panels be, if items had covariates?

    python benchmarks/prevalence/covariate_gain.py                # 4 draws of labels, 6 s
    python benchmarks/prevalence/covariate_gain.py --draws 40     # the stored results

With random labels the variance of an answer is that of what the truth has left, given the verdict,
over the labels, and that of its prediction over all items. A covariate helps by what it takes from
the former, whatever the formula. Here stands that limit: truths are predicted from the verdict
alone, and from the verdict, the covariates and their products, by ridge regressions that learn from
nine tenths of all rows (many more than one has labels) and predict the rest; and the width with 200
labels among 1,000 items relative to that without covariates. Covariates: the system (XSTest,
which is what strata do today), and given the strata the share of the other systems that the judge
passes on the item; the judge's scores of the eight
other questions (LLM-Rubric, nine questions); the panel's share of passes for the item's other
outputs, and the generator (code feedback). Simulated: topic and length of `covariates.py`, with
their true effects, and with twice these. Where there is most to save, XSTest, the answer of today
is asked too: of each system 150 of 450 labels are drawn, and the other systems' passes on an item
(few, half, most) are named as ``stratum=``, or left out.

Quick: ``--draws 2``

Found: given the system, the other systems' verdicts on an item make the interval of XSTest .858 as
wide (2,239 rows), the system itself .948; other scores of LLM-Rubric .955 to 1.013 over its nine
questions (173 to 223 rows), generator and other outputs of code feedback .995 (5,363 rows), topic
and length of the simulated items .990, and .971 with effects twice as large. So covariates can save
at most 5 % of a width, but where the same item is judged for several systems: 14 %. The errors of
these ratios are not known; what cross-fitting loses on few rows makes some larger than 1. Of these
14 % strata of the others' passes have nothing: intervals are .810 +- .008 as wide, but errors .97
times as large in four systems and 1.74 times in the fifth, of which a stratum has 6 outputs; they
hold the share of .98 of draws, without strata .99.

Writes to benchmarks/prevalence/results: covariate_gain.csv, covariate_strata.csv.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from bayesjudge import datasets, prevalence

sys.path.append(str(Path(__file__).parent))
import covariates

RESULTS = Path(__file__).parent / "results"
SEED, FOLDS, LABELS, ITEMS = 29, 10, 200, 1000
Case = tuple[str, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def dummies(column: pd.Series) -> np.ndarray:
    """Its levels but one."""
    return pd.get_dummies(column, drop_first=True).to_numpy(float)


def real() -> Iterator[Case]:
    """Name, truth, verdicts, covariates, and the item of each row."""
    rows = datasets.xstest().dropna()
    by_item = rows.groupby("item")["verdict"]
    others = (by_item.transform("sum") - rows["verdict"]) / (by_item.transform("size") - 1)
    truth, item = rows["truth"].to_numpy(float), rows["item"].to_numpy()
    judged, other = rows[["verdict"]].to_numpy(float), others.fillna(rows["verdict"].mean())
    system = dummies(rows["system"])
    yield "share, XSTest, the system", truth, judged, system, item
    of_strata = np.column_stack([judged, system, judged * system])
    yield "share, XSTest in strata, others", truth, of_strata, other.to_numpy()[:, None], item
    rows = datasets.llm_rubric()
    questions = [f"Q{i}" for i in range(9)]
    for name in questions:
        kept = rows.dropna(subset=[f"human_{name}"])
        scores = kept[[f"judge_{q}" for q in questions]].fillna(2.5)
        own = scores[[f"judge_{name}"]].to_numpy(float)
        x = scores.drop(columns=f"judge_{name}").to_numpy(float)
        truth = kept[f"human_{name}"].to_numpy(float)
        yield f"scores, LLM-Rubric {name}", truth, own, x, kept["dialogue"].to_numpy()
    rows = datasets.code_feedback_votes().dropna()
    votes = rows.iloc[:, 3:].to_numpy(float)
    mean = pd.Series(votes.mean(axis=1), rows.index).groupby(rows["item"])
    others = (mean.transform("sum") - votes.mean(axis=1)) / (mean.transform("size") - 1)
    x = np.column_stack([others.fillna(votes.mean()), dummies(rows["generator"])])
    yield "panel, code feedback", rows["truth"].to_numpy(float), votes, x, rows["item"].to_numpy()


def simulated(rng: np.random.Generator) -> Iterator[Case]:
    """20,000 items of the world of `covariates.py`, and with effects twice as large."""
    topic, length = rng.integers(0, 2, 20_000), rng.integers(1, 4, 20_000)
    for times in (1, 2):
        away = times * (topic - 0.5) + 0.5, times * (length - 2) + 2
        good, hit, caught = (covariates.chances(name, *away) for name in covariates.EFFECTS)
        truth = rng.random(topic.size) < good
        verdict = np.where(truth, rng.random(topic.size) < hit, rng.random(topic.size) >= caught)
        x = np.column_stack([topic, length]).astype(float)
        judged = verdict[:, None].astype(float)
        yield f"share, simulated x{times}", truth.astype(float), judged, x, np.arange(topic.size)


def predicted(
    truth: np.ndarray, columns: np.ndarray, fold: np.ndarray, penalty: float
) -> np.ndarray:
    """What a ridge regression that learnt from the other folds says of each."""
    prediction = np.empty(len(truth))
    for k in range(FOLDS):
        train = fold != k
        centre, spread = columns[train].mean(axis=0), columns[train].std(axis=0) + 1e-9
        z = (columns - centre) / spread
        gram = z[train].T @ z[train] + penalty * np.eye(z.shape[1])
        slope = np.linalg.solve(gram, z[train].T @ (truth[train] - truth[train].mean()))
        prediction[~train] = truth[train].mean() + z[~train] @ slope
    return prediction


def width(truth: np.ndarray, prediction: np.ndarray) -> float:
    """Half-width, but for the quantile, of 200 labels among 1,000 items."""
    left = np.var(truth - prediction)
    return float(np.sqrt(left / LABELS + max(truth.var() - left, 0) / ITEMS))


def in_strata(draws: int) -> pd.DataFrame:
    """XSTest's quoted interval of each system, with strata of the others' passes and without."""
    rows = datasets.xstest().dropna()
    by_item = rows.groupby("item")["verdict"]
    others = (by_item.transform("sum") - rows["verdict"]) / (by_item.transform("size") - 1)
    rows["others"] = pd.cut(others, [-1, 0.34, 0.67, 1], labels=["few", "half", "most"]).astype(str)
    intervals = []
    for at, (system, of_system) in enumerate(rows[others.notna()].groupby("system")):
        plain, share = of_system.drop(columns=["system", "item"]), of_system["truth"].mean()
        for draw in range(draws):
            known = np.random.default_rng([SEED, at, draw]).permutation(len(plain)) < 150
            table = plain.assign(truth=plain["truth"].where(known))
            row: dict[str, object] = {"system": system, "draw": draw}
            for name, columns, how in (
                ("alone", ["verdict", "truth"], {}),
                ("strata", ["verdict", "truth", "others"], {"stratum": "others"}),
            ):
                counts = prevalence.Counts.from_frame(table[columns], calibration="random", **how)
                estimates = *prevalence.closed_forms(counts), prevalence.exact(counts)
                (_, _, quoted), *_ = prevalence.answer(*estimates).quoted.rows()
                row |= {f"{name}_width": quoted.high - quoted.low}
                row |= {f"{name}_error": quoted.value - share}
                row |= {f"{name}_covers": quoted.low <= share <= quoted.high}
            intervals.append(row)
    return pd.DataFrame(intervals)


def main() -> None:
    """Both predictions of each case, and today's answer."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--draws", type=int, default=4)
    asked = parser.parse_args()
    rng, rows = np.random.default_rng(SEED), []
    for name, truth, judged, x, item in (*real(), *simulated(rng)):
        _, number = np.unique(item, return_inverse=True)
        fold = rng.permutation(number.max() + 1)[number] % FOLDS
        product = (judged[:, :, None] * x[:, None, :]).reshape(len(truth), -1)
        both = np.column_stack([judged, x]), np.column_stack([judged, x, product])
        alone = predicted(truth, judged, fold, 1.0)
        tries = [predicted(truth, z, fold, at) for z in both for at in (1.0, 10.0, 100.0)]
        best = min(tries, key=lambda y: np.var(truth - y))
        left = [np.var(truth - y) / truth.var() for y in (alone, best)]
        ratio = width(truth, best) / width(truth, alone)
        rows.append((name, len(truth), x.shape[1], *left, ratio))
    names = ["case", "rows", "covariates", "left_by_verdict", "left_by_both", "width_ratio"]
    table = pd.DataFrame(rows, columns=names).round(4)
    table.to_csv(RESULTS / "covariate_gain.csv", index=False)
    print(table.to_string(index=False))
    each = in_strata(asked.draws)
    each.round(4).to_csv(RESULTS / "covariate_strata.csv", index=False, lineterminator="\n")
    ratio = each["strata_width"] / each["alone_width"]
    left = each[["alone_error", "strata_error"]].pow(2).mean() ** 0.5
    covers = each[["alone_covers", "strata_covers"]].mean()
    print(f"strata of the others' passes: {ratio.mean():.3f} +- {ratio.sem():.3f} of the width;")
    print(f"errors {left['strata_error'] / left['alone_error']:.3f}; covers {covers.tolist()}")


if __name__ == "__main__":
    main()
