"""``estimate_success_rate`` with its default of 20,000 resamples."""

import numpy as np
from judgy import estimate_success_rate


def share(verdict, truth):
    known = ~np.isnan(truth)
    parts = (x.astype(int) for x in (truth[known], verdict[known], verdict[~known]))
    return estimate_success_rate(*parts)[1:]


METHODS = {
    "share": {"bootstrap": lambda t: share(t["verdict"], t["truth"])},
    "attempts": {"bootstrap, tasks": lambda t: share(t["verdict"].min(1), t["truth"].min(1))},
}
