"""What our commands quote; ``ratings`` of people has no interval of alpha, and none is given."""

import numpy as np
import pandas as pd

from bayesjudge import Verdicts, attempts, judge, leaderboard, panel, prevalence
from bayesjudge.prevalence import scores
from bayesjudge.prevalence.items import Items


def ends(quantity):
    return float(np.squeeze(quantity.low)), float(np.squeeze(quantity.high))


def share(table):
    counts = prevalence.Counts.from_frame(pd.DataFrame(table), calibration="random")
    return ends(prevalence.answer(prevalence.exact(counts)).quoted["prevalence"])


def pair(table):
    long = pd.concat([
        pd.DataFrame({"item": np.arange(len(table["truth_a"])), "system": system,
                      "verdict": table[f"verdict_{system}"], "truth": table[f"truth_{system}"]})
        for system in "ab"
    ])  # fmt: skip
    items = Items.from_frame(long, by="system", calibration="random")
    return ends(prevalence.paired_difference(items).quantities["difference"])


def score(table):
    scale, truths = tuple(table.pop("scale")), tuple(table.pop("truth_scale"))
    data = scores.Scores.from_frame(
        pd.DataFrame(table), calibration="random", scale=scale, truth_scale=truths
    )
    return ends(prevalence.answer(*scores.closed_forms(data)).quoted[data.answer])


def jury(table):
    judges = [f"judge {j}" for j in range(table["votes"].shape[1])]
    wide = pd.DataFrame(table["votes"], columns=judges).assign(truth=table["truth"])
    if wide["truth"].isna().all():
        wide = wide.drop(columns="truth")
    votes = panel.Votes.from_frame(
        wide, judges=judges, item=None, generator=None, calibration="random",
        truth="truth" if "truth" in wide else None,
    )  # fmt: skip
    return ends(panel.answer(*panel.closed_forms(votes)).quoted.quantities["prevalence"])


def kappa(table):
    verdicts = Verdicts.from_frame(pd.DataFrame(table), calibration="random")
    return ends(judge.quality(verdicts)["kappa"])


def board(table):
    battles = leaderboard.Battles.from_frame(pd.DataFrame(table), people="human")
    results = *leaderboard.closed_forms(battles), leaderboard.approximate(battles)
    elo = leaderboard.answer(*results).quoted.quantities["elo"]
    order = np.argsort([int(name) for (name,) in elo.labels])
    return np.stack([elo.low, elo.high], axis=-1)[order]


def every_time(table):
    tasks, tries = table["verdict"].shape
    columns = {name: table[name].ravel() for name in ("verdict", "truth")}
    long = pd.DataFrame({"task": np.repeat(np.arange(tasks), tries), **columns})
    data = attempts.Attempts.from_frame(long, calibration="random")
    passed = attempts.answer(attempts.exact(data)).quoted.quantities["pass_hat_k"]
    return passed.low[-1], passed.high[-1]


METHODS = {
    "share": {"quoted": share},
    "paired": {"quoted": pair},
    "scores": {"quoted": score},
    "panel": {"quoted": jury},
    "agreement": {"quoted": kappa},
    "leaderboard": {"quoted": board},
    "attempts": {"quoted": every_time},
}
