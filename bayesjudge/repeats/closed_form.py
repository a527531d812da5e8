"""Closed forms: what each promises, assumes and refuses. The arithmetic is in `formulas`."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.intervals import z_score
from bayesjudge.core.estimate import Caution, Estimate
from bayesjudge.core import dirichlet
from bayesjudge.repeats import formulas
from bayesjudge.repeats.checks import cautions_of
from bayesjudge.repeats.data import Scores
from bayesjudge.repeats.formulas import Component, Squares

ARTICLE = "How to Add Confidence Intervals to LLM Judges (2025)"
SEARLE = "Searle, Casella & McCulloch (1992), chapter 4; Ting et al. (1990)"
ONE_SPREAD = "scores scatter equally about every item's mean"
NORMAL_EFFECTS = "effects of items and judges are normal on the scale of the scores"
DRAWN = "judges are a sample of the judges that could have been asked, items of the items"
IID = "every answer is an independent draw from one distribution, whichever judge gave it"


def anova(scores: Scores, *, ci_prob: float = 0.95) -> Estimate:
    """Split the variance of scores into items, judges, their interaction and repeats.

    Parameters
    ----------
    scores : Scores
        Every judge scored every item, some of them more than once.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    Estimate
        ``mean_score``, over items and judges; ``item_score[item]``, over judges; standard
        deviations ``item_sd``, ``judge_sd``, ``item_judge_sd``, ``repeat_sd``, all in the units of
        the scale; ``effective_repeats`` of a panel for one item. Without several items or several
        judges, what they would show is left out. A negative variance gives 0, with minus its root
        as ``raw``.

    Raises
    ------
    InputError
        Where an item and judge have no score, nothing was asked twice, or there is only one item
        and one judge.

    References
    ----------
    Searle, Casella & McCulloch (1992), Variance Components, chapter 4; Ting et al. (1990) for the
    intervals of the variances; Satterthwaite (1946) for those of the means.

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.array([[[3, 1, 0], [2, 2, 0]], [[0, 1, 3], [0, 3, 1]], [[1, 3, 0], [1, 2, 1]]])
    >>> scores = Scores(counts, scale=[1, 2, 3], items=["x", "y", "z"], judges=["a", "b"])
    >>> anova(scores).table["value"][["mean_score", "item_sd", "repeat_sd"]].round(3).tolist()
    [1.917, 0.52, 0.577]
    """
    check_ci_prob(ci_prob)
    n_items, n_judges = len(scores.items), len(scores.judges)
    with checking("repeats.anova") as require:
        empty = int((scores.repeats == 0).sum())
        require(not empty, f"{empty} combinations of item and judge have no score; use fit")
        require(
            (scores.repeats > 1).any(), "no judge was asked twice about an item; ask again, or fit"
        )
        require(
            n_items + n_judges > 2,
            "one item and one judge have no components of variance; use exact",
        )
    found = formulas.squares(scores.means, scores.deviations, scores.repeats)
    rows: dict[str, tuple[float, ...]] = {"mean_score": _grand_mean(scores, found, ci_prob)}
    if n_items > 1:
        rows |= _item_scores(scores, found, ci_prob)
    for name, one in _components(found, ci_prob).items():
        rows[name] = (
            *(np.sqrt(max(x, 0)) for x in one),
            np.sign(one.value) * abs(one.value) ** 0.5,
        )
    if n_judges > 1:
        rows["effective_repeats"] = formulas.effective_repeats(
            _between_judges(found), found.repeat, n_judges, found.repeats, ci_prob
        )
    return Estimate.from_rows(
        rows,
        method="Random-effects ANOVA",
        ci_prob=ci_prob,
        source=SEARLE,
        interval="modified large sample; Satterthwaite",
        assumptions=(DRAWN, NORMAL_EFFECTS, ONE_SPREAD),
        cautions=(*cautions_of(scores), *_negative(rows)),
    )


def as_if_iid(scores: Scores, *, ci_prob: float = 0.95) -> Estimate:
    """Pool every answer about an item as if one judge had given them all.

    This is the article's mixed-expert sampling. It is wrong wherever judges differ: the interval
    narrows with the number of answers, however few the judges.

    Parameters
    ----------
    scores : Scores
        At least two scores an item.
    ci_prob : float, default 0.95
        Coverage that the interval aims at, and has if all answers are alike.

    Returns
    -------
    Estimate
        ``item_score[item]`` with a normal interval, in the units of the scale; ``nan`` ends where
        an item has one score.

    Raises
    ------
    InputError
        Where `ci_prob` is out of range.

    Examples
    --------
    >>> scores = Scores.from_values([4, 4, 5, 5, 5], scale=[1, 2, 3, 4, 5])
    >>> [round(x, 2) for x in as_if_iid(scores)["item_score[item]"]]
    [4.6, 4.12, 5.08]
    """
    z = z_score(ci_prob)
    scale = np.array(scores.scale)
    counts = scores.counts.sum(axis=1)
    n = counts.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = counts @ scale / n
        squares = np.maximum(counts @ scale**2 - n * mean**2, 0)
        half = np.where(n > 1, z * np.sqrt(squares / (n - 1) / n), np.nan)
    return Estimate.from_arrays(
        {"item_score": (mean, mean - half, mean + half)},
        scores.items,
        method="All answers alike",
        ci_prob=ci_prob,
        source=f"{ARTICLE}, 'Mixed-Expert Sampling'",
        interval="normal",
        assumptions=(IID,),
        cautions=cautions_of(scores),
    )


def exact(scores: Scores, *, ci_prob: float = 0.95, concentration: float = 1.0) -> Estimate:
    """Exact posterior of each item's mean, answers being alike whichever judge gave them.

    Parameters
    ----------
    scores : Scores
        One judge; several are taken as one, with a caution.
    ci_prob : float, default 0.95
        Probability of the intervals.
    concentration : float, default 1
        Scores that the prior is worth in all, spread evenly over the scale.

    Returns
    -------
    Estimate
        ``item_score[item]``, in the units of the scale.

    Raises
    ------
    InputError
        Where `ci_prob` is out of range or `concentration` is not positive.

    Examples
    --------
    >>> scores = Scores.from_values([5] * 10, scale=[1, 2, 3, 4, 5])
    >>> [round(x, 2) for x in exact(scores)["item_score[item]"]]
    [4.82, 4.24, 5.0]
    """
    weights = dirichlet.posterior(scores.counts.sum(axis=1), concentration=concentration)
    mean, _ = dirichlet.moments(weights, scores.scale)
    low, high = dirichlet.interval(weights, scores.scale, ci_prob=ci_prob)
    pooled: tuple[Caution, ...] = ()
    if len(scores.judges) > 1:
        text = f"{len(scores.judges)} judges are taken as one; use fit where they may differ"
        pooled = (Caution("judges-pooled", text),)
    return Estimate.from_arrays(
        {"item_score": (mean, low, high)},
        scores.items,
        method="Dirichlet posterior (exact)",
        ci_prob=ci_prob,
        source="Dirichlet-multinomial on the scale; Gil-Pelaez (1951)",
        interval="equal-tailed",
        assumptions=(IID, f"prior worth {concentration:g} score, spread evenly over the scale"),
        cautions=(*pooled, *cautions_of(scores)),
    )


def _components(found: Squares, ci_prob: float) -> dict[str, Component]:
    """Variances of whatever effects the design has."""
    i, j, r = found.n_items, found.n_judges, found.repeats
    parts = {}
    crossed = i > 1 and j > 1
    below = found.item_judge if crossed else found.repeat
    if i > 1:
        parts["item_sd"] = formulas.difference(found.item, below, j * r, ci_prob)
    if j > 1:
        parts["judge_sd"] = formulas.difference(found.judge, below, i * r, ci_prob)
    if crossed:
        parts["item_judge_sd"] = formulas.difference(found.item_judge, found.repeat, r, ci_prob)
    return parts | {"repeat_sd": formulas.alone(found.repeat_spread, ci_prob)}


def _between_judges(found: Squares) -> tuple[float, float]:
    """Mean square between judges within one item."""
    if found.n_items == 1:
        return found.judge
    i = found.n_items
    return formulas.combined((1 / i, found.judge), ((i - 1) / i, found.item_judge))


def _grand_mean(scores: Scores, found: Squares, ci_prob: float) -> tuple[float, float, float]:
    i, j, r = found.n_items, found.n_judges, found.repeats
    used = [one for one in (found.item, found.judge) if one[1] > 0]
    total, df = formulas.combined(*((1.0, one) for one in used))
    if i > 1 and j > 1:  # both hold the interaction: once too often
        total = max(total - found.item_judge[0], *(ms for ms, _ in used))
    mean = float(scores.means.mean())
    half = stdtrit(df, (1 + ci_prob) / 2) * np.sqrt(total / (i * j * r))
    return mean, mean - half, mean + half


def _item_scores(
    scores: Scores, found: Squares, ci_prob: float
) -> dict[str, tuple[float, float, float]]:
    """Each item's mean; its error pooled over items, since a few scores tell little of it."""
    if found.n_judges > 1:
        error, df = _between_judges(found)
    else:
        error, df = found.repeat
    mean = scores.means.mean(axis=1)
    n = 1 / (1 / scores.repeats).mean(axis=1) * found.n_judges
    half = stdtrit(df, (1 + ci_prob) / 2) * np.sqrt(error / n)
    return {
        f"item_score[{name}]": (float(m), float(m - h), float(m + h))
        for name, m, h in zip(scores.items, mean, half, strict=True)
    }


def _negative(rows: dict[str, tuple[float, ...]]) -> tuple[Caution, ...]:
    below = [name for name, row in rows.items() if name.endswith("_sd") and row[3] < 0]
    if not below:
        return ()
    text = f"the estimated variance behind {', '.join(below)} is negative and shown as 0: "
    text += "chance in a small design, so that an interval that ends at 0 does not show that there "
    text += "is no such variance; fit keeps variances positive"
    return (Caution("negative-variance", text),)
