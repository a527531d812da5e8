"""``DawidSkene``: it gives no interval, so that its ends are its value."""

import numpy as np
import pandas as pd
from crowdkit.aggregation import DawidSkene, MajorityVote


def share(t, method):
    items, judges = np.indices(t["votes"].shape)
    columns = {"task": items, "worker": judges, "label": t["votes"].astype(int)}
    long = pd.DataFrame({name: values.ravel() for name, values in columns.items()})
    chances = method.fit_predict_proba(long)
    return [float(chances[1].mean())] * 2


METHODS = {
    "panel": {
        "Dawid-Skene, point": lambda t: share(t, DawidSkene(n_iter=200)),
        "majority, point": lambda t: share(t, MajorityVote()),
    }
}
