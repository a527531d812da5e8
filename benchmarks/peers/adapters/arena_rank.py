"""``BradleyTerry`` with its sandwich intervals: of people's battles, and of the judge's."""

import numpy as np
import pandas as pd
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset


def elo(t, column):
    frame = pd.DataFrame({name: t[name] for name in ("model_a", "model_b")})
    frame["winner"] = [{"A": "model_a", "B": "model_b"}.get(x) for x in t[column]]
    data = PairDataset.from_pandas(frame.dropna())
    rated = BradleyTerry(n_competitors=len(data.competitors)).compute_ratings_and_cis(data)
    order = np.argsort([int(x) for x in rated["competitors"]])
    ends = np.stack([rated["rating_lower"], rated["rating_upper"]], axis=-1)[order]
    return ends - np.mean(rated["ratings"])


METHODS = {
    "leaderboard": {
        "people only": lambda t: elo(t, "human"),
        "judge only": lambda t: elo(t, "winner"),
    }
}
