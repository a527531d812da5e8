"""Labels needed for intervals of a stated width."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesjudge.core.errors import check_ci_prob, expect
from bayesjudge.core.intervals import z_score
from bayesjudge.core.planning import Parts
from bayesjudge.panel._summaries import Summary
from bayesjudge.panel.checks import require_identified
from bayesjudge.panel.data import Votes
from bayesjudge.panel.voting import require_binary

if TYPE_CHECKING:
    import pandas as pd

#: Largest share of a truth's variance that votes are taken to explain.
MOST_EXPLAINED = 0.9


def labels_needed(votes: Votes, *, width: float = 0.1, ci_prob: float = 0.95) -> pd.DataFrame:
    r"""Tell how many labels each generator needs for an interval of a stated width.

    Items are to be labelled at random within each generator, and their votes used
    (`model_assisted`, `VoteRegression`). With :math:`s^2` the variance of an item's truth that the
    panel's mean vote does not explain, and :math:`N` items,

    .. math:: m = \frac{m_0}{1 + m_0 / N}, \quad m_0 = (2 z s / w)^2 .

    Parameters
    ----------
    votes : Votes
        With two classes. What votes explain is learnt from labelled items; without any they are
        taken to explain nothing, and the share of good ones to be the panel's pass rate.
    width : float, default 0.1
        Of the whole interval, both sides together.
    ci_prob : float, default 0.95
        Probability of the interval.

    Returns
    -------
    pandas.DataFrame
        Index ``generator``: ``items``, ``labelled``, ``needed`` labels in all, how many ``more``,
        and ``width`` of the interval expected with today's labels (``nan`` without any).

    Raises
    ------
    InputError
        If there are more than two classes, `width` is not inside (0, 1), or the labels were chosen
        so that they do not tell shares.

    References
    ----------
    Särndal, Swensson & Wretman (1992), Model Assisted Survey Sampling, Section 6.5.

    Examples
    --------
    >>> rows = [[1, 1], [1, 0], [0, 0]]
    >>> votes = Votes(rows, [-1] * 3, [0] * 3, ["gpt"], ["a", "b"], count=[600, 200, 200])
    >>> labels_needed(votes, width=0.1)["more"].to_dict()
    {'gpt': 245}
    """
    import pandas as pd

    columns = needed_labels(votes, width, ci_prob)
    return pd.DataFrame(columns, index=pd.Index(votes.generators, name="generator"))


def needed_labels(votes: Votes, width: float, ci_prob: float = 0.95) -> dict[str, np.ndarray]:
    """What `labels_needed` tabulates, by column."""
    require_binary(votes, "panel.labels_needed")
    require_identified(votes, "prevalence", "panel.labels_needed")
    check_ci_prob(ci_prob)
    expect("panel.labels_needed", 0 < width < 1, f"width={width}, expected a number inside (0, 1)")
    parts, items, twice = Parts(_unexplained(votes)), votes.items, 2 * z_score(ci_prob)
    labelled = votes.labelled.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.ceil(parts.labels(width / twice, items=items) - 1e-9)
        expected = twice * parts.error(labelled) * np.sqrt(np.maximum(1 - labelled / items, 0))
    needed = np.where(items > 0, needed, 0).astype(int)
    return {
        "items": items,
        "labelled": labelled,
        "needed": needed,
        "more": np.maximum(needed - labelled, 0),
        "width": np.where(labelled > 0, expected, np.nan),
    }


def _unexplained(votes: Votes) -> np.ndarray:
    """Variance of a truth given the panel's mean vote, by generator."""
    summary = Summary.of(votes)
    rate = np.where(summary.labelled_n + summary.other_n > 0, summary.rate, 0.5)
    known = summary.labelled_n > 0
    # an unlabelled generator is like its pass rate less the bias on the labelled ones
    with np.errstate(invalid="ignore"):
        bias = np.sum(summary.labelled_n * rate - summary.labelled_good) / max(
            summary.labelled_n.sum(), 1
        )
    share = np.where(
        known, (summary.labelled_good + 1) / (summary.labelled_n + 2), np.clip(rate - bias, 0, 1)
    )
    items = np.maximum(votes.items, 1)
    share = (share * items + 0.5) / (items + 1)
    variance = share * (1 - share)
    with np.errstate(invalid="ignore", divide="ignore"):
        explained = summary.slope**2 * variance / summary.spread**2
    return variance * (1 - np.clip(np.nan_to_num(explained), 0, MOST_EXPLAINED))
