"""``alpha_bootstrap``; and ``bootstrap`` of ``bradley_terry`` on people's battles (percentiles)."""

import evalica
import numpy as np
import pandas as pd

WON = {"A": evalica.Winner.X, "B": evalica.Winner.Y}


def elo(t):
    rows = [i for i, won in enumerate(t["human"]) if won in WON]
    names = [t[name][rows].tolist() for name in ("model_a", "model_b")]
    won = [WON[t["human"][i]] for i in rows]
    made = evalica.bootstrap(
        evalica.bradley_terry, *names, won, bootstrap_method="percentile", random_state=1
    )
    logs = 400 / np.log(10) * np.log(made.distribution)
    logs = logs.sub(logs.mean(axis=1), axis=0)[sorted(logs, key=int)]
    return logs.quantile([0.025, 0.975]).T.to_numpy()


def alpha(t):
    made = evalica.alpha_bootstrap(pd.DataFrame(t["ratings"].T), random_state=1)
    return made.low, made.high


METHODS = {"leaderboard": {"people only, bootstrap": elo}, "alpha": {"bootstrap": alpha}}
