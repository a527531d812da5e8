"""What judges are worth, and how prevalent the positive option is, with all that is unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from bayesjudge.core.errors import checking
from bayesjudge.core.fit import Fit
from bayesjudge.core.estimate import Caution, Estimate
from bayesjudge.ratings.aggregation import Profile
from bayesjudge.ratings.data import PEOPLE
from bayesjudge.ratings.definitions import Definition, definitions, prevalence_at
from bayesjudge.ratings.following import not_met, pairs
from bayesjudge.ratings.items import item_profiles
from bayesjudge.ratings.performance import Performance

#: Share of an item's posterior that its own ratings should make up, to compare judges by it.
OWN_WEIGHT = 0.75


def performance(
    fit: Fit,
    *,
    of: Sequence[Definition] | None = None,
    draws: int = 400,
    tied: bool = True,
    random_seed: Any = 0,
) -> Performance:
    """Compare judges under many definitions, with everything that is unknown.

    Parameters
    ----------
    fit : Fit
        From `bayesjudge.ratings.fit`, of people and at least one judge.
    of : sequence of Definition, optional
        What to evaluate; `definitions` by default.
    draws : int, default 400
        Draws of the fit to use.
    tied : bool, default True
        Tie each judge to people item by item (`bayesjudge.ratings.coupling`). Where False, each
        source's items are drawn by themselves: faster, and agreement is understated where ratings
        are few.
    random_seed : int or numpy.random.Generator, default 0
        Same seed, same draws.

    Returns
    -------
    Performance
        Of the shares behind the ratings, on the items that all sources rated; values are posterior
        means. Its ``best()`` is P(judge is best).

    Raises
    ------
    InputError
        Where there is no judge, or more draws are asked for than the fit has.

    Notes
    -----
    Tied, agreement is still understated a little where ratings are few, and intervals are somewhat
    too narrow for judges that the assumed tie does not fit: the caution ``assumed-tie``.
    ``benchmarks/ratings/best.py`` shows by how much, and how P(judge is best) fares, with known
    judges at 1 to 100 choices an item.
    """
    ratings = fit.data
    with checking("performance") as require:
        require(ratings.judges, "there is no judge among the sources")
    chosen = tuple(of or definitions())
    rated = (ratings.chosen.sum(axis=2) + ratings.endorsed.sum(axis=2) > 0).all(axis=0)
    sides, apart = _sides(fit, draws, tied, random_seed)
    values = np.empty((draws, len(chosen), len(ratings.judges)))
    for j, (judge, people) in enumerate(sides):
        here = judge.items(rated), people.items(rated)
        for i, d in enumerate(chosen):
            values[:, i, j] = d.value(*here, positive=ratings.positive_index)
    return Performance(
        definitions=chosen,
        judges=ratings.judges,
        values=values.mean(axis=0),
        draws=values,
        method=fit.method,
        source=fit.source,
        interval="equal-tailed",
        assumptions=fit.assumptions,
        cautions=(*fit.cautions, *not_met(apart), *_prior_heavy(fit, tied)),
    )


def _sides(
    fit: Fit, draws: int, tied: bool, random_seed: Any
) -> tuple[list[tuple[Profile, Profile]], list[str]]:
    """Each judge's answers and people's; and whose chains did not meet."""
    if not tied:
        found = item_profiles(fit, draws=draws, random_seed=random_seed)
        return [(found[j], found[PEOPLE]) for j in fit.data.judges], []
    made = list(pairs(fit, draws=draws, random_seed=random_seed))
    apart = [j for j, (pair, *_) in zip(fit.data.judges, made, strict=True) if not pair.met]
    return [(judge, people) for _, judge, people in made], apart


def _prior_heavy(fit: Fit, tied: bool) -> tuple[Caution, ...]:
    """Say where items' own ratings are outweighed by the mean over items."""
    ratings = fit.data
    n = (ratings.alone.sum(axis=2) + ratings.endorsed.sum(axis=2))[:, :, None]
    size = fit.draws("pool_size").mean(axis=0)[:, None, None]
    own = (n / (n + size)).mean(axis=(1, 2))
    low = [f"{s} {w:.0%}" for s, w in zip(ratings.sources, own, strict=True) if w < OWN_WEIGHT]
    if not low:
        return ()
    if tied:
        return (
            Caution(
                "assumed-tie",
                f"of what is said of an item, its own ratings make up: {', '.join(low)}; how far a "
                "judge agrees with people then rests on the assumed form of its tie to them too, "
                "and intervals may be too narrow, most for a judge that repeats itself",
            ),
        )
    return (
        Caution(
            "few-ratings",
            f"of what is said of an item, its own ratings make up: {', '.join(low)}; the rest is "
            "the mean over items, in which a judge knows nothing of what people said of this "
            "item: agreement is understated, most for judges whose items differ most. Use "
            "tied=True, or rate items more often",
        ),
    )


def prevalences(
    fit: Fit,
    *,
    cutoffs: Sequence[float] = (0.3, 0.5, 0.7),
    ci_prob: float = 0.95,
    draws: int = 400,
    random_seed: Any = 0,
) -> Estimate:
    """Share of items whose positive option enough raters would accept, by source and cutoff.

    Parameters
    ----------
    fit : Fit
        From `bayesjudge.ratings.fit`.
    cutoffs : sequence of float
        Shares of raters that are enough.
    ci_prob : float, default 0.95
        Probability that an interval should hold.
    draws : int, default 400
        Draws of the fit to use.
    random_seed : int or numpy.random.Generator, default 0
        Same seed, same draws.

    Returns
    -------
    Estimate
        Rows ``prevalence (at 0.5)[people]``.

    Raises
    ------
    InputError
        Where `ci_prob` is out of range, or more draws are asked for than the fit has.
    """
    with checking("prevalences") as require:
        require(0 < ci_prob < 1, f"ci_prob must lie in (0, 1), got {ci_prob!r}")
    tail = (1 - ci_prob) / 2
    rows = {}
    for name, p in item_profiles(fit, draws=draws, random_seed=random_seed).items():
        for cutoff in cutoffs:
            found = prevalence_at(p, positive=fit.data.positive_index, cutoff=cutoff)
            low, high = np.quantile(found, [tail, 1 - tail])
            rows[f"prevalence (at {cutoff:g})[{name}]"] = (
                *(float(found.mean()), float(low), float(high)),
            )
    return Estimate.from_rows(
        rows,
        method=fit.method,
        ci_prob=ci_prob,
        source=fit.source,
        interval="equal-tailed",
        assumptions=fit.assumptions,
        cautions=fit.cautions,
    )


def prior_check(
    fit: Fit,
    alternatives: Mapping[str, Any],
    *,
    cutoff: float = 0.5,
    random_seed: Any = 0,
    **sampling: Any,
) -> pd.DataFrame:
    """Fit again under other priors, and see what moves.

    Parameters
    ----------
    fit : Fit
        From `bayesjudge.ratings.fit`.
    alternatives : mapping of str to Priors
        By a name to show.
    cutoff : float, default 0.5
        Of the prevalence.
    random_seed : int, default 0
        For the fits.
    **sampling
        Settings of `bayesjudge.core.sampling.sample`.

    Returns
    -------
    pandas.DataFrame
        One row a prior; columns are endorsements and prevalences of the positive option, by
        source. What the ratings identify hardly moves, what they do not identify moves along.

    Raises
    ------
    InputError
        Where a setting is out of range.
    """
    from bayesjudge.ratings.model import fit as refit

    made = {"as fitted": fit}
    for name, priors in alternatives.items():
        made[name] = refit(fit.data, priors, random_seed=random_seed, **sampling)
    rows = {}
    for name, one in made.items():
        k = fit.data.positive_index
        means = one.draws("endorsement")[:, :, k].mean(axis=0)
        found = prevalences(one, cutoffs=[cutoff]).table["value"]
        named = {
            f"endorsement[{s}]": float(m) for s, m in zip(fit.data.sources, means, strict=True)
        }
        rows[name] = {**named, **found.to_dict()}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("prior")
