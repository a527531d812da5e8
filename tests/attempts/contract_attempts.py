"""What the contract tests have to know of `bayesjudge.attempts`."""

import numpy as np
from contract import Module
from scipy.special import ndtr, ndtri

from bayesjudge import attempts


def read(table):
    return attempts.Attempts.from_frame(table, by="system", calibration="random",
                                         unparsed="verdict", k=(1, 2))  # fmt: skip


def closed_form(data):
    """From truths: `simulate` has errors that persist, for which the other form does not hold."""
    return attempts.from_truths(data)


def power(share, k):
    """Mean of p^k over the tasks of `simulate`."""
    points, weights = np.polynomial.hermite_e.hermegauss(80)
    mean = ndtr((ndtri(share) + np.sqrt(0.3) * points) / np.sqrt(0.7))
    steps, weight = np.arange(k), 1 / 0.4 - 1
    chances = np.prod((mean[:, None] * weight + steps) / (weight + steps), axis=1)
    return float(chances @ weights / weights.sum())


def models():
    """Two agents, some attempts without a verdict, few tasks, two people: few patterns."""
    table = attempts.simulate(tasks=12, labels=24, unparsed=(0.1, 0.2), errors=(0.1, 0.1),
                              random_seed=1)  # fmt: skip
    data = attempts.Attempts.from_frame(table, by="system", calibration="random", k=(1, 2),
                                        unparsed="verdict", truth=["ann1", "ann2"])  # fmt: skip
    return [(attempts.PersistentErrors(), data)]


def sparse():
    """One agent shares nothing, and every attempt has a verdict."""
    table = attempts.simulate(prevalence=(0.6,), tasks=12, labels=24, random_seed=1)
    return [(attempts.PersistentErrors(), read(table))]


CONTRACT = Module(
    module=attempts,
    read=read,
    closed_form=closed_form,
    truth={
        ("pass_hat_k", "agent 1", 1): 0.6,
        ("pass_hat_k", "agent 2", 2): power(0.45, 2),
        ("pass_at_k", "agent 1", 2): 1 - power(0.4, 2),
    },
    models=models,
    sparse=sparse,
    of_the_text=True,
    moves={("PersistentErrors", "pooling"): "full"},
    mirror={"pass_at_k": ("pass_hat_k", True), "pass_hat_k": ("pass_at_k", True)},
)
