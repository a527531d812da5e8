"""What the contract tests have to know of `bayesjudge.prevalence`."""

from functools import partial

import numpy as np
import pandas as pd
from contract import Module

from bayesjudge import prevalence

BY_TRUTH = {
    "test_n": [300, 200, 100],
    "test_pass": [180, 150, 40],
    "correct_n": [40, 30, 20],
    "correct_pass": [36, 28, 17],
    "incorrect_n": [30, 25, 20],
    "incorrect_fail": [24, 20, 15],
    "systems": ["a", "b", "c"],
}


def models():
    """The four models, on data that each suits."""
    several = prevalence.Counts(**BY_TRUTH, calibration="by_truth")
    strata = {name: value for name, value in BY_TRUTH.items() if name != "systems"}
    by_topic = prevalence.Counts(
        **strata,
        calibration="random",
        systems=["law, 2", "art, 3", "art, 5"],
        dim="stratum",
        covariates={"topic": ["law", "art", "art"], "length": [2, 3, 5]},
    )
    by_verdict = prevalence.Counts(900, 650, 62, 46, 38, 34, calibration="by_verdict")
    return [
        (prevalence.ErrorRates(), several),
        (prevalence.PooledErrorRates(), several),
        (prevalence.LinearErrorRates("1 + C(topic) + length"), by_topic),
        (prevalence.PredictiveValues(), by_verdict),
    ]


def tables(rng):
    """Good judges and bad, many labels and few, of one system, several, or strata; each design."""
    n = int(np.exp(rng.uniform(np.log(4), np.log(300))))
    truth = rng.random(n) < rng.beta(1, 1)
    verdict = np.where(rng.random(n) < rng.beta(3, 1), truth, rng.random(n) < rng.beta(1, 1))
    labelled = rng.random(n) < rng.beta(1, 2)
    labelled[: 2 + n // 10] = True
    table = pd.DataFrame(
        {"verdict": verdict.astype(int), "truth": np.where(labelled, truth, np.nan).astype(float)}
    )
    how = {"calibration": str(rng.choice(["random", "by_truth", "separate", "by_verdict"]))}
    kind = rng.choice(["", "", "system", "stratum"])
    if kind:
        table[kind] = rng.choice(list("abc")[: rng.integers(2, 4)], n)
        how["by" if kind == "system" else "stratum"] = str(kind)
    return table, partial(prevalence.Counts.from_frame, **how)


CONTRACT = Module(
    module=prevalence,
    read=lambda table: prevalence.Counts.from_frame(table, calibration="random"),
    closed_form=prevalence.rogan_gladen,
    truth={("prevalence",): 0.8, ("sensitivity",): 0.9, ("specificity",): 0.7},
    models=models,
    of_the_text=True,
    tables=tables,
    # sharing rates takes several systems
    moves={
        ("ErrorRates", "pooling"): "full",
        ("LinearErrorRates", "formula"): "1 + length",
        ("PooledErrorRates", "shares"): "partial",
    },
)
