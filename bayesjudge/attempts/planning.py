"""More tasks or more attempts: how many of either an interval of a given width takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesjudge.attempts._likelihood import chances, log_binomial, nodes_of, success
from bayesjudge.attempts.closed_form import unbiased
from bayesjudge.attempts.exact import Posterior
from bayesjudge.core.errors import checking
from bayesjudge.core.intervals import z_score
from bayesjudge.core.planning import Parts

if TYPE_CHECKING:
    import pandas as pd

#: Draws of the posterior that are averaged over.
DRAWS = 400


def tasks_needed(
    posterior: Posterior,
    *,
    k: int,
    half_width: float,
    attempts: Sequence[int] = (),
    ci_prob: float = 0.95,
) -> pd.DataFrame:
    """Count the tasks that pass^k takes, by how often each is tried, if outcomes are known.

    Parameters
    ----------
    posterior : Posterior
        From a pilot: `exact` of its attempts.
    k : int
        Tries.
    half_width : float
        Half of the interval that is wanted, in (0, 0.5).
    attempts : sequence of int, optional
        Attempts at a task, at least `k`; by default `k`, 2 `k` and 4 `k`.
    ci_prob : float, default 0.95
        Probability of the interval.

    Returns
    -------
    pandas.DataFrame
        By agent and ``attempts``: ``tasks``, ``runs`` (attempts in all) and ``floor``, the tasks
        that it takes however often each is tried. A judge and few labels take more: these are the
        least.

    Raises
    ------
    InputError
        If `half_width` or `attempts` is out of range, or the posterior does not hold.

    Notes
    -----
    The variance of C(c, k)/C(n, k) over tasks, c Beta-binomial, averaged over the posterior; with
    many attempts per task it approaches the variance of p^k.
    """
    import pandas as pd

    tried = tuple(attempts) or (k, 2 * k, 4 * k)
    with checking("attempts.tasks_needed") as require:
        require(posterior.holds, f"the pilot's posterior is worth {posterior.effective:.0f} draws")
        require(0 < half_width < 0.5, "must lie in (0, 0.5)", half_width=half_width)
        require(0 < k <= min(tried), f"must be {k} or more", attempts=list(tried))
    values = {name: value[:DRAWS] for name, value in posterior.values.items()}
    error, rows = half_width / z_score(ci_prob), []
    power, square = np.moveaxis(chances(values, (k, 2 * k))[1], -1, 0)
    floor = Parts((square - power**2).mean(axis=0)).labels(error)
    for n in tried:
        share, chance = unbiased(np.arange(n + 1), n, k), _passes(values, n)
        wanted = Parts((chance @ share**2 - (chance @ share) ** 2).mean(axis=0)).labels(error)
        for s, name in enumerate(posterior.attempts.systems):
            tasks, least = (int(np.ceil(x[s])) for x in (wanted, floor))
            about = {"system": name, "attempts": n, "tasks": tasks, "runs": tasks * n}
            rows.append({**about, "floor": least})
    return pd.DataFrame(rows)


def _passes(values: Mapping[str, np.ndarray], n: int) -> np.ndarray:
    """Probability of each number of successes in n attempts at a task, (draw, agent, n + 1)."""
    from scipy.special import betaln

    points, weights = nodes_of("shared_difficulty" in values)
    a, b, always, never = (x[..., None] for x in success(values, points))
    c = np.arange(n + 1)
    chance = np.exp(log_binomial(n, c) + betaln(a + c, b + n - c) - betaln(a, b))
    mixed = (1 - always - never) * chance + always * (c == n) + never * (c == 0)
    return np.einsum("z,sazc->sac", weights, mixed)
