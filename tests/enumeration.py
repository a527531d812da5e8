"""An item's ratings with every latent response set summed by hand."""

import itertools

import numpy as np
from scipy.special import gammaln

from bayesjudge.ratings import Ratings
from bayesjudge.ratings.response_sets import all_response_sets, membership

OPTIONS = ("yes", "no")
#: Those of the contract's fit, so that its compiled model is used again.
SOURCES = ("people", "gpt", "claude")
MEMBERS = membership(OPTIONS, all_response_sets(OPTIONS))


def enumerated(counts, alpha, seen):
    """Probability of an item's ratings in one order: every latent response set summed by hand.

    `alpha` (..., Q) and `seen` (..., T, Q) may hold many draws.
    """
    return enumerated_mean(counts, alpha, seen)[0]


def enumerated_mean(counts, alpha, seen):
    """Besides the probability, the posterior mean of the item's shares, shape (..., Q)."""
    order = [t for t, n in enumerate(counts) for _ in range(n)]
    total, mean = 0.0, 0.0
    size = alpha.sum(axis=-1)
    for latent in itertools.product(range(alpha.shape[-1]), repeat=len(order)):
        held = np.bincount(latent, minlength=alpha.shape[-1])
        log = (gammaln(alpha + held) - gammaln(alpha)).sum(axis=-1)
        log = log - gammaln(size + len(order)) + gammaln(size)
        emitted = [seen[..., t, v] for t, v in zip(order, latent, strict=True)]
        path = np.prod(emitted, axis=0) * np.exp(log)
        total = total + path
        mean = mean + path[..., None] * (alpha + held) / (size + len(order))[..., None]
    return total, mean / total[..., None]


def emission(choice, error):
    return np.concatenate([choice @ error, np.broadcast_to(error, (*choice.shape[:-2], 3, 3))], -2)


def few():
    """Six items with two choices and one set each: few enough to enumerate."""
    rng = np.random.default_rng(5)
    chosen = rng.multinomial(2, [0.6, 0.4], (3, 6))
    endorsed = rng.multinomial(1, [0.3, 0.3, 0.4], (3, 6))
    return Ratings(chosen, OPTIONS, "yes", endorsed=endorsed, sources=SOURCES)
