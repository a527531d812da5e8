"""How often judges are right together, and what each of them adds, if they err independently."""

from __future__ import annotations

from itertools import product

import numpy as np

from bayesjudge.core.answer import listed, percents
from bayesjudge.core.draws import around
from bayesjudge.core.estimate import Row
from bayesjudge.core.fit import Fit
from bayesjudge.panel.data import Votes

#: Judges that are told one by one.
FEWEST, MOST = 3, 7
#: Draws of the posterior that are used.
DRAWS = 1000


def what_each_adds(fit: Fit, votes: Votes, ci_prob: float) -> tuple[str, ...]:
    """How often the likelier class, given all votes, is right; and given all but one judge's.

    Said of a model in which judges err independently, which the rates themselves are then enough
    for: nothing is fitted anew.
    """
    judges = list(map(str, votes.judges))
    independent = getattr(fit.spec, "_independent", False)
    if not independent or not FEWEST <= len(judges) <= MOST or votes.n_classes != 2:
        return ()
    names = ("sensitivity", "specificity", "prevalence")
    posterior = fit.idata["posterior"]
    if any(name not in posterior or posterior[name].ndim != 3 for name in names):
        return ()
    sens, spec, share = (_some(fit.draws(name)) for name in names)
    weight = np.asarray(votes.items, float)
    whole = right_together(sens, spec, share, weight)
    lost = {}
    for j, name in enumerate(judges):
        others = [k for k in range(len(judges)) if k != j]
        lost[name] = whole - right_together(sens[:, others], spec[:, others], share, weight)
    rows = {name: _row(values, ci_prob) for name, values in lost.items()}
    order = sorted(rows, key=lambda name: -rows[name].value)
    parts = [f"{name} {_points(rows[name])}" for name in order]
    parts[0] = parts[0].replace(" (", " points (")
    return (
        f"Together the {len(judges)} judges are right on {percents(_row(whole, ci_prob))} of "
        f"outputs by this model, if all vote. Leaving one out costs: {listed(parts)}.",
    )


def right_together(
    sensitivity: np.ndarray, specificity: np.ndarray, share: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Probability, by draw, that the likelier class given all judges' votes is the true one.

    Parameters
    ----------
    sensitivity, specificity : ndarray, shape (n_draws, n_judges)
        Rates of judges that err independently.
    share : ndarray, shape (n_draws, n_generators)
        Shares of good outputs.
    weight : ndarray, shape (n_generators,)
        Outputs of each generator.

    Returns
    -------
    ndarray, shape (n_draws,)
        Of an output of any generator, by their weights.
    """
    right = np.zeros(share.shape)
    for votes in product((True, False), repeat=sensitivity.shape[1]):
        good = np.where(votes, sensitivity, 1 - sensitivity).prod(axis=1)[:, None]
        bad = np.where(votes, 1 - specificity, specificity).prod(axis=1)[:, None]
        right += np.maximum(share * good, (1 - share) * bad)
    return right @ (weight / weight.sum())


def _some(draws: np.ndarray) -> np.ndarray:
    """Draws of all chains, thinned if they are many."""
    flat = draws.reshape(-1, draws.shape[-1])
    return flat[:: max(1, len(flat) // DRAWS)]


def _row(values: np.ndarray, ci_prob: float) -> Row:
    return Row(*around(float(values.mean()), values, ci_prob))


def _points(row: Row) -> str:
    value, low, high = (f"{100 * x:.1f}" for x in row)
    return f"{value} ({low} to {high})"
