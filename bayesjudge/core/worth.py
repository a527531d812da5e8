"""Worth of a judge in labels: how many more random labels would narrow an interval as much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bayesjudge.core.errors import check_ci_prob, checking, expect
from bayesjudge.core.intervals import z_score
from bayesjudge.core.names import short_names
from bayesjudge.core.planning import Parts
from bayesjudge.core.randomness import rng_of

#: Draws of which a posterior of the worth is made: its ends move by about 2 % of their distance.
DRAWS = 4000
#: Most numbers that are drawn: of many patterns fewer draws.
MOST_NUMBERS = 4_000_000
#: Most systems that a sentence names.
MOST_NAMED = 3


@dataclass(frozen=True)
class Worth:
    """How many more random labels would narrow an interval as much as the judge does.

    Parameters
    ----------
    value, low, high : float
        Number of labels with its interval; below 0 if the interval is wider with the judge than
        without, ``nan`` if there are too few labels to tell.
    labels : int
        Labels that there are, on top of which it counts.
    ci_prob : float, default 0.95
        Probability of the interval.

    Examples
    --------
    >>> print(Worth(44.2, 26.0, 60.4, 100))
    44 more labels (26 to 60)
    >>> print(Worth(0.2, -1.0, 4.1, 100))
    no more label (0 to 4)
    """

    value: float
    low: float
    high: float
    labels: int
    ci_prob: float = 0.95

    @property
    def known(self) -> bool:
        """Whether the labels tell it."""
        return bool(np.isfinite([self.value, self.low, self.high]).all())

    def __str__(self) -> str:
        if not self.known:
            return "an unknown number of labels"
        value, low, high = (max(round(x), 0) for x in (self.value, self.low, self.high))
        number = {0: "no more label", 1: "1 more label"}.get(value, f"{value:,} more labels")
        return f"{number} ({low:,} to {high:,})"

    def as_dict(self) -> dict[str, Any]:
        """Give the fields as plain values.

        Returns
        -------
        dict
            ``value``, ``low``, ``high``, ``labels``, ``ci_prob``.
        """
        return asdict(self)


def worth_of_widths(
    alone: Any, judged: Any, labels: int, *, items: float = np.inf, ci_prob: float = 0.95
) -> Worth:
    r"""Worth of a judge from the widths of an interval without and with it.

    A width shrinks as one over the root of the number of random labels, so that widths
    :math:`w_0` of m labels alone and :math:`w_1` of the same labels with the judge say

    .. math:: m \left( w_0^2 / w_1^2 - 1 \right).

    Parameters
    ----------
    alone, judged : float or array_like of float, shape (n_draws,)
        Widths, or standard errors, both of one kind. Arrays hold draws (of a posterior or a
        bootstrap), one pair each: value and ends are their quantiles.
    labels : int
        Labels that both rest on, at least 1.
    items : float, default infinite
        All items that the judge saw. Of single widths it tells the correlation of judge and people
        that the interval comes from.
    ci_prob : float, default 0.95
        Probability of the interval.

    Returns
    -------
    Worth
        Of single widths with the interval of Fisher's z for the correlation that they imply. It is
        right if errors of prediction are about normal; of pass and fail, `worth_of_pairs` is.

    Raises
    ------
    InputError
        If a width is not positive, shapes differ, or `labels` or `ci_prob` is out of range.

    References
    ----------
    Tenenbein (1970), J. Am. Stat. Assoc. 65, 1350-1361; Fisher (1921), Metron 1, 3-32.

    Examples
    --------
    >>> print(worth_of_widths(0.20, 0.16, 100))
    56 more labels (26 to 103)
    """
    alone, judged = np.asarray(alone, float), np.asarray(judged, float)
    with checking("worth_of_widths") as require:
        alike = alone.shape == judged.shape and alone.ndim < 2
        require(
            alike,
            f"expected two numbers or two rows of draws, got {alone.shape} and {judged.shape}",
        )
        positive = np.all(alone > 0) and np.all(judged > 0)
        require(positive, "expected widths above 0; of one that is 0 nothing can be divided")
        require(labels >= 1, f"expected at least 1 label, got {labels!r}")
        require(items >= labels, f"expected at least as many items as labels, got {items!r}")
    if alone.ndim:
        return worth_of_draws(labels * (alone**2 / judged**2 - 1), labels, ci_prob)
    value = float(labels * (alone**2 / judged**2 - 1))
    others = 1 - labels / items
    if labels <= 3 or others <= 0:
        return Worth(value, *((np.nan, np.nan) if others > 0 else (value, value)), labels, ci_prob)
    squared = np.clip((1 - judged**2 / alone**2) / others, 0, 1 - 1e-9)
    ends = np.arctanh(np.sqrt(squared)) + np.array([-1, 1]) * z_score(ci_prob) / np.sqrt(labels - 3)
    low, high = more_labels(np.tanh(np.maximum(ends, 0)) ** 2, labels, items)
    return Worth(value, min(float(low), value), max(float(high), value), labels, ci_prob)


def worth_of_pairs(
    predicted: Any,
    truth: Any,
    count: Any,
    *,
    items: float,
    prior: float = 0.0,
    ci_prob: float = 0.95,
    random_seed: int = 1,
) -> Worth:
    """Worth of a judge from what it and people say of the same random items.

    Parameters
    ----------
    predicted, truth, count : array_like, shape (n_patterns,)
        Distinct pairs of a verdict or score and a label, and how often they occur.
    items : float
        All items that the judge saw, with those labelled.
    prior : float, default 0
        Items that join each pattern: 1 for the four of pass and fail (a flat prior of their
        shares), 0 for numbers (the Bayesian bootstrap).
    ci_prob : float, default 0.95
        Probability of the interval.
    random_seed : int
        Of the draws.

    Returns
    -------
    Worth
        Median and equal-tailed interval of the posterior: of each draw of the patterns' shares, the
        squared correlation, and from it `more_labels`.

    Raises
    ------
    InputError
        If `ci_prob` is out of range, or shapes differ.

    References
    ----------
    Rubin (1981), Ann. Stat. 9, 130-134; Tenenbein (1970), J. Am. Stat. Assoc. 65, 1350-1361.

    Examples
    --------
    >>> print(worth_of_pairs([1, 0, 1, 0], [1, 1, 0, 0], [40, 2, 20, 38], items=450, prior=1))
    37 more labels (18 to 65)
    """
    f, y, n = (np.asarray(x, float) for x in (predicted, truth, count))
    problem = "expected rows of one length"
    expect("worth_of_pairs", f.shape == y.shape == n.shape and f.ndim == 1, problem)
    # in one order, so that the draws are the same whoever asks
    pairs, place = np.unique(np.column_stack([f, y]), axis=0, return_inverse=True)
    (f, y), n = pairs.T, np.bincount(place, n, len(pairs))
    labels = round(float(n.sum()))
    if labels < 2:
        return Worth(np.nan, np.nan, np.nan, labels, ci_prob)
    rng = rng_of(random_seed)
    draws = max(min(DRAWS, MOST_NUMBERS // n.size), 100)
    shares = rng.standard_gamma(n + prior, size=(draws, n.size))
    shares /= shares.sum(axis=1, keepdims=True)
    squared = _squared_correlation(f, y, shares)
    return worth_of_draws(more_labels(squared, float(n.sum()), items), labels, ci_prob)


def worth_of_draws(more: Any, labels: int, ci_prob: float = 0.95) -> Worth:
    """Worth of a judge from draws of it: their median and equal-tailed interval.

    Parameters
    ----------
    more : array_like, shape (n_draws,)
        More labels that the judge is worth, by draw.
    labels : int
        Labels that there are.
    ci_prob : float, default 0.95
        Probability of the interval.

    Returns
    -------
    Worth
        ``nan`` if a draw is.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.
    """
    tail = (1 - check_ci_prob(ci_prob)) / 2
    with np.errstate(invalid="ignore"):  # between infinite draws
        low, value, high = np.quantile(np.asarray(more, float), [tail, 0.5, 1 - tail])
    return Worth(float(value), float(low), float(high), labels, ci_prob)


def more_labels(squared_correlation: Any, labels: float, items: float) -> Any:
    r"""How many more labels a judge of this correlation with people is worth.

    Parameters
    ----------
    squared_correlation : array_like
        :math:`\rho^2` of judge and people over items, in [0, 1].
    labels, items : float
        Random labels m, and all items n that the judge saw.

    Returns
    -------
    numpy.ndarray or float
        :math:`1 / ((1 - \rho^2)/m + \rho^2/n) - m`: at most n - m, of a perfect judge.

    References
    ----------
    Tenenbein (1970), J. Am. Stat. Assoc. 65, 1350-1361; Cochran (1977), Section 12.6.

    Examples
    --------
    >>> float(more_labels(0.5, 100, 300))
    50.0
    """
    squared = np.asarray(squared_correlation, float)
    with np.errstate(divide="ignore"):  # infinite of a perfect judge of infinitely many items
        return 1 / Parts.of(1.0, squared).variance(labels, items) - labels


def worth_words(worth: Mapping[str, Worth]) -> str:
    """Say what the judge is worth, of one table or by system.

    Parameters
    ----------
    worth : mapping of str to Worth
        By system; ``""`` of one entry.

    Returns
    -------
    str
        A sentence, or nothing if no worth is known.

    Examples
    --------
    >>> worth_words({"": Worth(44.2, 26.0, 60.4, 100)})
    'The judge is worth 44 more labels (26 to 60) on top of these 100.'
    """
    known = {name: entry for name, entry in worth.items() if entry.known}
    if not known:
        return ""
    if list(known) == [""]:
        return f"The judge is worth {known['']} on top of these {known[''].labels:,}."
    short = short_names(known)
    order = sorted(known, key=lambda name: -known[name].value)
    few = len(order) <= MOST_NAMED
    parts = [
        f"{str(known[name]).replace(' more labels', '') if i else known[name]} of {short[name]}"
        for i, name in enumerate(order if few else [order[0], order[-1]])
    ]
    clause = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]
    rest = "" if few else "; the others lie between"
    return f"On top of the labels the judge is worth {clause}{rest}."


def _squared_correlation(f: np.ndarray, y: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """By draw of the patterns' shares; 0 if a draw has one value only."""
    mean_f, mean_y = shares @ f, shares @ y
    ff, yy = shares @ f**2 - mean_f**2, shares @ y**2 - mean_y**2
    fy = shares @ (f * y) - mean_f * mean_y
    with np.errstate(divide="ignore", invalid="ignore"):
        squared = np.where((ff > 1e-15) & (yy > 1e-15), fy**2 / (ff * yy), 0.0)
    return np.clip(squared, 0, 1)
