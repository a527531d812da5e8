"""A model whose posterior is known, honest and otherwise: what the studies are tried on.

In a module of its own, since other processes must be able to import it.
"""

import numpy as np

from bayesjudge.core.errors import InputError
from bayesjudge.core.estimate import Estimate, Quantity
from bayesjudge.core.intervals import wilson

N = 4  # normal observations with sd 1; the mean has a standard normal prior
ITEMS = 30


def draw_prior(rng):
    return {"mean": rng.normal(), "unused": 0.0}


def draw_data(truths, rng):
    return rng.normal(truths["mean"], 1, N)


def posterior(data, rng, scale=1.0, shift=0.0, draws=200):
    """Conjugate, unless `scale` or `shift` (in posterior standard deviations) say otherwise."""
    sd = 1 / np.sqrt(N + 1)
    centre = data.sum() / (N + 1)
    return {"mean": rng.normal(centre + shift * sd, scale * sd, (2, draws // 2))}


def narrow(data, rng):
    return posterior(data, rng, scale=0.75)


def shifted(data, rng):
    return posterior(data, rng, shift=0.4)


def prior_again(data, rng):
    """Ignore the data: the ranks of the mean are uniform all the same."""
    return {"mean": rng.normal(size=(1, 200))}


def log_likelihood(values, data):
    return {"log_likelihood": -0.5 * np.square(data - values["mean"][:, None]).sum(axis=1)}


def stuck(data, rng):
    """Honest but slow: 400 draws of a chain that hardly moves."""
    honest = posterior(data, rng, draws=8)["mean"].ravel()
    return {"mean": np.repeat(honest, 50)[None] + rng.normal(0, 1e-9, (1, 400))}


class Interrupted(Exception):
    pass


class Fragile:
    """Stops, once, at the given call: what a study looks like when somebody presses Ctrl-C."""

    def __init__(self, at):
        self.at, self.calls = at, 0

    def __call__(self, truths, rng):
        self.calls += 1
        if self.calls == self.at:
            raise Interrupted
        return draw_data(truths, rng)


def draw_passes(setting, rng):
    return rng.binomial(ITEMS, setting["rate"])


def draw_many(setting, rng):
    return np.array([rng.binomial(ITEMS, setting["rate"]) for _ in range(50)])


def about(**more):
    return {"method": "toy", "ci_prob": 0.95, "source": "toy", **more}


def wilson_interval(passes):
    if np.ndim(passes):
        return Estimate(
            {"rate": Quantity.over(wilson(passes, ITEMS), {"item": range(len(passes))})}, **about()
        )
    return Estimate({"rate": wilson(passes, ITEMS)}, **about())


def half_wilson(passes):
    value, low, high = wilson(passes, ITEMS)
    row = (value, (low + value) / 2, (high + value) / 2)
    return Estimate({"rate": row}, **about())


def picky(passes):
    """Refuse half of the data sets, and find no interval for a few others."""
    if passes % 2:
        raise InputError("picky", [f"passes must be even, got {passes}"])
    if passes < 4:
        return Estimate({"rate": (np.nan,) * 3}, **about())
    return wilson_interval(passes)


def seeded(passes, *, random_seed):
    value = float(np.random.default_rng(random_seed).uniform())
    return Estimate({"rate": (value, 0.0, 1.0)}, **about())
