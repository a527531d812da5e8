"""Advice from the study: definitions to select a judge by, and how many ratings to ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.errors import checking, expect
from bayesjudge.ratings.experiment.study import rating_budget, select
from bayesjudge.ratings.experiment.world import Setting

if TYPE_CHECKING:
    import pandas as pd

#: Standard errors by which a definition must be behind the best to be advised against.
BEHIND = 2.0


def choose_definition(
    setting: Setting,
    *,
    use: str = "consistency",
    budget: int = 3,
    worlds: int = 40,
    random_seed: Any = None,
) -> pd.DataFrame:
    """Rank definitions of performance by the downstream worth of the judges that they select.

    Parameters
    ----------
    setting : Setting
        The rating task as you expect it; try symmetric and asymmetric selection.
    use : {"consistency", "bias"}
        Use of the judge: filtering single items, or estimating a prevalence.
    budget : int, default 3
        Forced choices an item.
    worlds : int, default 40
        Repetitions of the experiment.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same advice.

    Returns
    -------
    pandas.DataFrame
        Definitions, best first, with ``worth`` (`use` of the judge selected), its ``error``, and
        ``trust``: whether it is within two standard errors of the best.

    Raises
    ------
    InputError
        If `use` is unknown or a size is not positive.
    """
    import pandas as pd

    expect(
        "choose_definition", use in ("consistency", "bias"), "must be consistency or bias", use=use
    )
    table = select(setting, budgets=[budget], worlds=worlds, pooled=True, random_seed=random_seed)
    sign = -1.0 if use == "bias" else 1.0
    ranking = pd.DataFrame(
        {
            "definition": table["definition"],
            "worth": table[use],
            "error": table[f"{use}_error"],
        }
    ).sort_values("worth", ascending=use == "bias", kind="stable", ignore_index=True)
    best = ranking.iloc[0]
    gap = sign * (best["worth"] - ranking["worth"])
    ranking["trust"] = gap <= BEHIND * np.hypot(best["error"], ranking["error"])
    return ranking


def ratings_needed(
    setting: Setting,
    consistency: float = 0.8,
    *,
    budgets: Sequence[int] = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 100),
    pooled: bool = True,
    worlds: int = 40,
    random_seed: Any = None,
) -> int | None:
    """Find the fewest forced choices an item that categorise items well enough.

    Parameters
    ----------
    setting : Setting
        The rating task.
    consistency : float, default 0.8
        Share of items to be categorised as all raters would, means over cutoffs .3, .5 and .7.
    budgets : sequence of int
        Budgets to try, in rising order.
    pooled : bool, default True
        Use one reverse matrix for all items, which a study can know; False for each item's own,
        which nobody knows.
    worlds : int, default 40
        Repetitions.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same answer.

    Returns
    -------
    int or None
        None if not even the largest budget is enough: ask for response sets.

    Raises
    ------
    InputError
        If `consistency` is not inside (0, 1).
    """
    expect("ratings_needed", 0 < consistency < 1, "must lie in (0, 1)", consistency=consistency)
    table = rating_budget(setting, budgets=budgets, worlds=worlds, random_seed=random_seed)
    enough = table.index[table["pooled" if pooled else "own"] >= consistency]
    return int(enough[0]) if len(enough) else None


def set_items_needed(half_width: float, *, raters: int = 3, spread: float = 0.5) -> int:
    r"""Compute on how many items to ask for response sets, for a half-width of mean endorsement.

    Forced choices do not identify endorsements; the mean over items of an option's share is known
    to :math:`1.96 \sqrt{v / n}`, v the variance between items of the share that `raters`
    raters give.

    Parameters
    ----------
    half_width : float
        Of the 95 % interval, in shares of raters.
    raters : int, default 3
        Raters who give a response set, on each of the items.
    spread : float, default 0.5
        Correlation of two raters' endorsements of one item, in [0, 1]: 1 if raters never differ on
        an item, 0 if they differ on every item equally.

    Returns
    -------
    int
        For an option that half of the raters accept, the worst case.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> set_items_needed(0.05), set_items_needed(0.05, raters=1)
    (257, 385)
    """
    with checking("set_items_needed") as require:
        require(0 < half_width < 0.5, "must lie in (0, .5)", half_width=half_width)
        require(raters >= 1, "must be 1 or more", raters=raters)
        require(0 <= spread <= 1, "must lie in [0, 1]", spread=spread)
    variance = 0.25 * (spread + (1 - spread) / raters)
    return int(np.ceil((1.959964 / half_width) ** 2 * variance))
