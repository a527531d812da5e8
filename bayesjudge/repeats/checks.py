"""Checks of repeated scores: order effects, and answers without a score."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from bayesjudge.core.estimate import Assumption, Caution
from bayesjudge.repeats.data import Scores

DRAWN = Assumption(
    "drawn-judges",
    "judges are a sample of the judges that could have been asked, items of the items",
)
EXCHANGEABLE = Assumption("exchangeable-repeats", "given item and judge, answers are exchangeable")
IID = Assumption(
    "identical-answers",
    "every answer is an independent draw from one distribution, whichever judge gave it",
)

#: An order effect rarer than this among exchangeable repeats is reported.
ORDER_P = 0.01


class OrderEffect(NamedTuple):
    """One way in which later answers differ from earlier ones.

    Parameters
    ----------
    effect : float
        In the units of the scale: first call less the mean of its cell, or change per call.
    z : float
        In standard deviations of its distribution over all orders of the same scores.
    p_value : float
        Two-sided.
    """

    effect: float
    z: float
    p_value: float


def order_effects(scores: Scores) -> dict[str, OrderEffect]:
    """Test whether repeats are exchangeable: the first call against all, and a drift.

    Given each cell's scores, every order of them is equally likely if repeats are exchangeable, so
    that mean and variance of both statistics are known exactly, without a model.

    Parameters
    ----------
    scores : Scores
        With ``first`` and ``drift``, which `Scores.from_frame` fills in.

    Returns
    -------
    dict of str to OrderEffect
        ``"first_call"`` and ``"drift"``; ``nan`` if no cell with a known order has two scores
        that differ.

    Examples
    --------
    >>> scores = Scores.from_values([2, 4, 5, 4, 5, 4, 5, 5, 4], scale=[1, 2, 3, 4, 5])
    >>> {name: round(effect.p_value, 3) for name, effect in order_effects(scores).items()}
    {'first_call': 0.015, 'drift': 0.144}
    """
    n, spread = scores.repeats, scores.deviations
    usable = (n > 1) & (spread > 0) & np.isfinite(scores.first)
    n, spread = n[usable].astype(float), spread[usable]
    # a sum over c_r x_r with sum of c = 0 has variance |c|^2 spread / (n - 1) over all orders
    first = (scores.first - scores.means)[usable]
    positions = n * (n**2 - 1) / 12
    return {
        "first_call": _against_chance(first.sum(), (spread / n).sum(), len(n)),
        "drift": _against_chance(
            scores.drift[usable].sum(), (positions * spread / (n - 1)).sum(), positions.sum()
        ),
    }


def cautions_of(scores: Scores) -> tuple[Caution, ...]:
    """List ``order-effect`` and ``unparsed-answers``, if these scores raise them."""
    found = []
    words = {
        "first_call": "the first call scores {:+.3f} against the mean of all calls",
        "drift": "scores change by {:+.3f} with each further call",
    }
    for name, effect in order_effects(scores).items():
        if effect.p_value < ORDER_P:
            found.append(
                Caution(
                    "order-effect",
                    f"{words[name].format(effect.effect)} (p = {effect.p_value:.1e} among orders "
                    "of the same scores): repeats are not exchangeable, and asking more often "
                    "does not estimate what one call gives; look for caching, a changed model or "
                    "prompt, or answers that see earlier ones",
                )
            )
    unread = int(scores.unparsed.sum())
    if unread:
        total = unread + int(scores.repeats.sum())
        worst = np.unravel_index(scores.unparsed.argmax(), scores.unparsed.shape)
        found.append(
            Caution(
                "unparsed-answers",
                f"{unread} of {total} answers held no score (most, {scores.unparsed[worst]}, from "
                f"{scores.judges[worst[1]]} on {scores.items[worst[0]]}) and are left out: right "
                "only if an answer fails to parse whatever its score would have been",
            )
        )
    return tuple(found)


def contradicted(
    assumptions: tuple[Assumption, ...], cautions: tuple[Caution, ...]
) -> tuple[Assumption, ...]:
    """Mark the assumptions that an order effect contradicts."""
    if not any(caution.name == "order-effect" for caution in cautions):
        return assumptions
    against = {EXCHANGEABLE.id, IID.id}
    return tuple(
        a._replace(contradicted_by=("order-effect",)) if a.id in against else a for a in assumptions
    )


def _against_chance(total: float, variance: float, size: float) -> OrderEffect:
    if variance <= 0:
        return OrderEffect(np.nan, np.nan, np.nan)
    z = float(total / np.sqrt(variance))
    return OrderEffect(float(total / size), z, float(2 * ndtr(-abs(z))))
