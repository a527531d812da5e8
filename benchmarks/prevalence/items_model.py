"""Does the interval of the model of item effects cover, and how wide is it?

    python benchmarks/prevalence/items_model.py                # 200 logs a setting: minutes
    python benchmarks/prevalence/items_model.py --logs 50 --seconds 600

The settings "table" of ``items.py``: success rates of items are Beta distributed with ICC 1/3,
where the model has normal logits; prevalence .7, nominal 95 %. PPI++ by item beside it, of the same
logs. Each fit has 2 chains of 500 draws after 500. Writes results/items_model.csv after each log; a
log that is there is not run again.

Quick: ``--logs 1 --seconds 10``

Found: with 200 logs a setting the model covers .955, .945 and .960 at 1000 x 1, 200 x 5 and
100 x 10 rows, with widths of .106, .144 and .172; PPI++ by item covers as often (.955, .945, .960)
at widths of .106, .149 and .185. Bias is .002 at most, and none of the 600 fits has a divergent
transition.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from items import TRUTH, log_of, settings, summary

from bayesjudge import prevalence
from bayesjudge.lab import Nuts
from bayesjudge.prevalence import items as module

RESULTS = Path(__file__).parent / "results" / "items_model.csv"
SEED = 20_335
MODEL = Nuts(module.build_model, module.ItemEffects(), ("prevalence",))


def one(name: str, how: dict[str, Any], log: int) -> list[dict[str, Any]]:
    """Interval of the model and of PPI++ by item, of one log."""
    rng = np.random.default_rng([SEED, log])
    items = log_of(rng, how)
    found = MODEL(items, rng)
    draws = np.ravel(found.values["prevalence"])
    rows = {
        "model": (draws.mean(), *np.quantile(draws, [0.025, 0.975])),
        "PPI++ by item": prevalence.difference(items)["prevalence"],
    }
    about = {"setting": name, "log": log, "divergent": found.divergent}
    ends = ("value", "low", "high")
    return [
        {**about, "method": method, **dict(zip(ends, row, strict=True))}
        for method, row in rows.items()
    ]


def summarised(done: pd.DataFrame) -> pd.DataFrame:
    """Coverage, mean width and bias by setting and method."""
    rows = [
        {
            **dict(zip(("setting", "method"), key, strict=True)),
            **summary(part[["value", "low", "high"]].to_numpy(), TRUTH),
            "logs": len(part),
            "divergent": (part["divergent"] > 0).mean(),
        }
        for key, part in done.groupby(["setting", "method"], sort=False)
    ]
    return pd.DataFrame(rows)


def main() -> None:
    """Run, or continue; a log of each setting in turn."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--logs", type=int, default=200, help="logs a setting")
    parser.add_argument("--seconds", type=float, default=np.inf, help="CPU seconds to end after")
    asked = parser.parse_args()
    done = pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=["setting", "log"])
    for log in range(asked.logs):
        for name, how in settings()["table"].items():
            if ((done["setting"] == name) & (done["log"] == log)).any():
                continue
            if time.process_time() > asked.seconds:
                break
            done = pd.concat([done, pd.DataFrame(one(name, dict(how), log))], ignore_index=True)
            done.to_csv(RESULTS, index=False, float_format="%.6g")
    print(summarised(done).round(4).to_string(index=False))
    print(f"{time.process_time():.0f} CPU s")


if __name__ == "__main__":
    main()
