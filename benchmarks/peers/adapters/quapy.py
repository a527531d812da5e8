"""``ACC`` of a classifier that is the judge, with ``AggregativeBootstrap`` of the test items."""

import numpy as np
from quapy.method.aggregative import ACC
from quapy.method.confidence import AggregativeBootstrap
from sklearn.base import BaseEstimator, ClassifierMixin


class Judge(ClassifierMixin, BaseEstimator):
    """Says what the judge said."""

    classes_ = np.array([0, 1])

    def fit(self, x, y):  # noqa: D102
        self.fitted_ = True
        return self

    def predict(self, x):  # noqa: D102
        return np.asarray(x)[:, 0].astype(int)


def share(t):
    known = ~np.isnan(t["truth"])
    x, y = t["verdict"][:, None], t["truth"]
    acc = ACC(Judge().fit(x, y), fit_classifier=False, val_split=None)
    method = AggregativeBootstrap(acc, n_test_samples=500, random_state=1)
    method.fit(x[known], y[known].astype(int))
    _, region = method.predict_conf(x[~known])
    return region.I_low[1], region.I_high[1]


METHODS = {"share": {"ACC, bootstrap": share}}
