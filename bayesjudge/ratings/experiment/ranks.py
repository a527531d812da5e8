"""Do two definitions of performance rank judges alike (source 5, Section 5, Figures 5, 11, 14)?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.errors import expect
from bayesjudge.core.randomness import rng_of
from bayesjudge.ratings.experiment.study import CUTOFFS, mean_over
from bayesjudge.ratings.experiment.world import Setting, World, make_world
from bayesjudge.ratings.metrics import DOWNSTREAM, Definition, Profile, definitions
from bayesjudge.ratings.response_sets import forward

if TYPE_CHECKING:
    import pandas as pd


def rank_correlations(
    setting: Setting,
    *,
    of: Sequence[Definition] | None = None,
    worlds: int = 20,
    random_seed: Any = None,
) -> pd.DataFrame:
    """Correlate judges' ranks by each definition with their ranks by what they are used for.

    Parameters
    ----------
    setting : Setting
        The rating task. Shares are of all raters: no sampling error.
    of : sequence of Definition, optional
        Definitions of agreement; `definitions` by default, without the downstream figures.
    worlds : int, default 20
        Repetitions.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        One row per definition: Spearman's correlation with ``decision_consistency`` and with the
        absolute ``prevalence_bias``, each the mean over cutoffs .3, .5, .7; means over worlds, and
        their standard errors in columns that end in ``_error``. 1 where both rank alike.

    Raises
    ------
    InputError
        If there are fewer than two worlds.

    References
    ----------
    Source 5, Figures 5 and 14.

    Examples
    --------
    >>> asymmetric = Setting(people=1.0, judges=-1.0)
    >>> hits, errors = Definition("hit_rate", "hard", "hard"), Definition("mse")
    >>> table = rank_correlations(asymmetric, of=[hits, errors], worlds=5, random_seed=1)
    >>> table["decision_consistency"].round(1).tolist()
    [0.5, 0.9]
    """

    def each(world: World) -> Iterator[tuple[str, str, float]]:
        for figure in DOWNSTREAM:
            used = Definition(figure).loss(mean_over(CUTOFFS, figure, world.judges, world.people))
            for definition in chosen:
                by = definition.loss(definition.value(world.judges, world.people))
                yield str(definition), figure, _spearman(by, used)

    chosen = _chosen(of)
    return _over_worlds(setting, worlds, random_seed, each)


def error_rank_correlations(
    setting: Setting,
    *,
    of: Sequence[Definition] | None = None,
    worlds: int = 20,
    random_seed: Any = None,
) -> pd.DataFrame:
    """Correlate judges' ranks against people who err with their ranks against the same without.

    Parameters
    ----------
    setting : Setting
        The rating task, with people's ``error`` and ``skew``.
    of : sequence of Definition, optional
        Definitions of agreement; `definitions` by default, without the downstream figures.
    worlds : int, default 20
        Repetitions.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        One row per definition: Spearman's ``correlation``, mean over worlds, and its standard error
        ``correlation_error``. 1 where people's errors leave the ranks as they are.

    Raises
    ------
    InputError
        If there are fewer than two worlds.

    References
    ----------
    Source 5, Figure 11.
    """

    def each(world: World) -> Iterator[tuple[str, str, float]]:
        none = np.eye(world.error.shape[-1])
        without, with_errors = (
            Profile(*forward(world.shares, world.choice, error, world.members))
            for error in (none, world.error)
        )
        for definition in chosen:
            sides = [
                definition.loss(definition.value(world.judges, people))
                for people in (without, with_errors)
            ]
            yield str(definition), "correlation", _spearman(*sides)

    chosen = _chosen(of)
    return _over_worlds(setting, worlds, random_seed, each)


def monotonicity_violations(
    setting: Setting,
    definitions: Sequence[Definition],
    *,
    pairs: int = 200,
    random_seed: Any = None,
) -> pd.DataFrame:
    """Count how often one definition calls an item better judged where another calls it worse.

    Two definitions rank all judges alike only if one is a monotone transformation of the other,
    item by item (Theorem 5.3): a single violation shows that they do not.

    Parameters
    ----------
    setting : Setting
        The rating task from which answers of a judge and of people to one item are drawn.
    definitions : sequence of Definition
        Definitions whose metric has a value for a single item.
    pairs : int, default 200
        Answers (of a judge and of people) that are drawn, and compared two by two.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        One row per pair of definitions: ``first``, ``second``, and ``share``, of the comparisons
        that neither calls equal, of those in opposite order; 0 where no violation was met, which
        does not show that there is none.

    Raises
    ------
    InputError
        If fewer than two pairs are asked for.

    References
    ----------
    Source 5, Definitions 5.1 and 5.2, Theorem 5.3, Appendix C.

    Examples
    --------
    >>> those = [Definition("mse"), Definition("js_divergence", "soft", "soft")]
    >>> found = monotonicity_violations(Setting(people=1.0), those, pairs=50, random_seed=1)
    >>> bool(found["share"][0] > 0.05)
    True
    """
    import pandas as pd

    expect("monotonicity_violations", pairs >= 2, "must be 2 or more", pairs=pairs)
    rng = rng_of(random_seed)
    worlds = [
        make_world(Setting(**{**vars(setting), "items": 1, "n_judges": 1}), rng)
        for _ in range(pairs)
    ]
    losses = {
        str(definition): np.array(
            [np.ravel(definition.loss(definition.value(w.judges, w.people)))[0] for w in worlds]
        )
        for definition in definitions
    }
    rows = []
    for first, second in combinations(losses, 2):
        signs = [
            (1 * (x[:, None] > x) - 1 * (x[:, None] < x))[np.triu_indices(pairs, 1)]
            for x in (losses[first], losses[second])
        ]
        decided = (signs[0] != 0) & (signs[1] != 0)
        share = float((signs[0] != signs[1])[decided].mean()) if decided.any() else np.nan
        rows.append((first, second, share))
    return pd.DataFrame(rows, columns=["first", "second", "share"])


def _chosen(of: Sequence[Definition] | None) -> tuple[Definition, ...]:
    return tuple(of or (definition for definition in definitions() if not definition.downstream))


def _over_worlds(setting: Setting, worlds: int, random_seed: Any, each: Any) -> pd.DataFrame:
    """Means over worlds of what `each` yields (definition, column, value), with standard errors."""
    import pandas as pd

    expect("rank correlations", worlds >= 2, "must be 2 or more", worlds=worlds)
    rng = rng_of(random_seed)
    rows = [row for _ in range(worlds) for row in each(make_world(setting, rng))]
    table = pd.DataFrame(rows, columns=["definition", "column", "value"])
    grouped = table.groupby(["definition", "column"], sort=False)["value"]
    errors = grouped.sem().unstack().add_suffix("_error")
    return grouped.mean().unstack().join(errors).reset_index()


def _spearman(first: np.ndarray, second: np.ndarray) -> float:
    """Spearman's correlation; what is infinite ranks last, what is undefined makes it undefined."""
    import pandas as pd

    if np.isnan(first).any() or np.isnan(second).any():
        return np.nan
    return float(pd.Series(first).corr(pd.Series(second), method="spearman"))
