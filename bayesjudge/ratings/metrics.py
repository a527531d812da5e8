"""Agreement metrics of source 5: aggregations, Table 1, and definitions of performance.

A metric takes rating vectors of a judge and of people, shape (..., n_items, K), and returns shape
(...). Leading axes are bootstrap replicates or posterior draws. Logarithms are natural.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from scipy.special import rel_entr, xlogy

from bayesjudge.core.errors import checking
from bayesjudge.core.label_design import DESIGNS
from bayesjudge.truth import agreement
from bayesjudge.truth.pairs import Pairs

__all__ = [
    "Definition",
    "Profile",
    "aggregate",
    "definitions",
    "fleiss_kappa",
    "inter_rater_alpha",
    "prevalence_at",
]


def __dir__() -> list[str]:
    return list(__all__)


SOURCE = "Guerdan et al. (2025), Validating LLM-as-a-Judge Systems in the Absence of Gold Labels"
HARD, SETS, ALL = ("hard",), ("hard", "hrs"), ("hard", "soft", "hrs", "srs")
SOFT = ("soft",)


#: Takes the mean of values by item, the last axis: of all alike, or by weights of items.
Mean = Callable[..., Any]


class _Metric(NamedTuple):
    """A metric, its direction, and the aggregations that it takes on either side (none: unused).

    The function takes rating vectors of judge and people and a `Mean`; of a paired metric it takes
    what `_of_pairs` gives.
    """

    function: Callable[..., Any]
    higher_is_better: bool
    judge: tuple[str, ...]
    human: tuple[str, ...]
    #: Whether it asks only which option people chose and which the judge did.
    paired: bool = False


def _of_pairs(shares: np.ndarray, items: int) -> dict[str, Any]:
    """Agreement statistics of shares of pairs of options (..., K * K), people's by the judge's."""
    k = round(shares.shape[-1] ** 0.5)
    truth, said = np.indices((k, k)).reshape(2, -1)
    statistics = agreement.of_classes(said, truth, shares, k)
    table = shares.reshape(*shares.shape[:-1], k, k)
    pooled = (table.sum(axis=-1) + table.sum(axis=-2)) / 2
    pi = agreement.chance_corrected(statistics["accuracy"], (pooled**2).sum(axis=-1))
    # ratings are paired without replacement, which is all that sets alpha apart from Scott's pi
    alpha = pi + (1 - pi) / (2 * items)
    return statistics | {"pi": pi, "alpha": alpha, "judge_less_people": shares @ (said - truth)}


def _agreeing(name: str) -> _Metric:
    return _Metric(itemgetter(name), True, HARD, HARD, paired=True)


def _kl(first: Any, second: Any, mean: Mean) -> Any:
    return mean(rel_entr(first, second).sum(axis=-1))


def _cross_entropy(first: Any, second: Any, mean: Mean) -> Any:
    return -mean(xlogy(first, second).sum(axis=-1))


def _js(judge: Any, human: Any, mean: Mean) -> Any:
    # the divergence, not its root
    middle = (judge + human) / 2
    return (_kl(judge, middle, mean) + _kl(human, middle, mean)) / 2


def _coverage(judge: Any, human: Any, mean: Mean) -> Any:
    # two sets meet or not; if one side is a single option (or shared by a tie), the sum is <= 1
    return mean(np.minimum((judge * human).sum(axis=-1), 1.0))


def _share_of(part: Any, whole: Any, mean: Mean) -> Any:
    each, total = np.broadcast_arrays(part.sum(axis=-1), whole.sum(axis=-1))
    held = total > 0
    share = np.divide(each, total, out=np.zeros(total.shape), where=held)
    with np.errstate(invalid="ignore"):
        return mean(share) / mean(held.astype(float))


def _binary_cross_entropy(judge: Any, human: Any, mean: Mean) -> Any:
    loss = xlogy(human, judge) + xlogy(1 - human, 1 - judge)
    return -mean(loss.sum(axis=-1))


def _mse(judge: Any, human: Any, mean: Mean) -> Any:
    return mean(((judge - human) ** 2).sum(axis=-1))


#: By name: the fourteen rows of the source's Table 1, the two asymmetric ones in both directions.
METRICS: dict[str, _Metric] = {
    "hit_rate": _agreeing("accuracy"),
    "krippendorff_alpha": _agreeing("alpha"),
    "fleiss_kappa": _agreeing("pi"),  # for two raters it is Scott's pi
    "cohen_kappa": _agreeing("kappa"),
    "scott_pi": _agreeing("pi"),
    "kl_human_judge": _Metric(lambda j, h, mean: _kl(h, j, mean), False, SOFT, SOFT),
    "kl_judge_human": _Metric(_kl, False, SOFT, SOFT),
    "cross_entropy_human_judge": _Metric(
        lambda j, h, mean: _cross_entropy(h, j, mean), False, SOFT, SOFT
    ),
    "cross_entropy_judge_human": _Metric(_cross_entropy, False, SOFT, SOFT),
    "js_divergence": _Metric(_js, False, SOFT, SOFT),
    "coverage": _Metric(_coverage, True, SETS, SETS),
    "predictive_efficiency": _Metric(lambda j, h, mean: mean(j.sum(axis=-1)), False, SETS, ()),
    "recall": _Metric(lambda j, h, mean: _share_of(j * h, h, mean), True, SETS, SETS),
    "precision": _Metric(lambda j, h, mean: _share_of(j * h, j, mean), True, SETS, SETS),
    "binary_cross_entropy": _Metric(_binary_cross_entropy, False, ALL, SETS),
    "mse": _Metric(_mse, False, ALL, ALL),
}


def inter_rater_alpha(counts: Any) -> float:
    """Compute Krippendorff's nominal alpha among raters, from counts.

    Parameters
    ----------
    counts : array_like of int, shape (n_items, K)
        How many raters chose each option; items with fewer than two ratings say nothing.

    Returns
    -------
    float
        1 for full agreement, 0 for chance; ``nan`` if only one option was ever chosen.

    References
    ----------
    Krippendorff (2011), Computing Krippendorff's alpha-reliability.

    Examples
    --------
    >>> inter_rater_alpha([[2, 0], [0, 2], [1, 1]])
    0.4444444444444444
    """
    counts = np.asarray(counts, float)
    per_item = counts.sum(axis=1)
    counts, per_item = counts[per_item >= 2], per_item[per_item >= 2]
    total = counts.sum(axis=0)
    n = total.sum()
    if n == 0 or total.max() == n:
        return float("nan")
    apart = ((per_item**2 - (counts**2).sum(axis=1)) / (per_item - 1)).sum()
    return float(1 - (n - 1) * apart / (n**2 - (total**2).sum()))


def fleiss_kappa(counts: Any) -> float:
    """Compute Fleiss' kappa among raters, from counts with the same number of raters for each item.

    Parameters
    ----------
    counts : array_like of int, shape (n_items, K)
        How many raters chose each option.

    Returns
    -------
    float
        ``nan`` if the numbers of raters differ (use `inter_rater_alpha`) or only one option was
        ever chosen.

    References
    ----------
    Fleiss (1971), Psychol. Bull. 76, 378-382.
    """
    counts = np.asarray(counts, float)
    per_item = counts.sum(axis=1)
    if per_item.size == 0 or np.ptp(per_item) > 0 or per_item[0] < 2:
        return float("nan")
    n = per_item[0]
    observed = ((counts**2).sum(axis=1) - n).mean() / (n * (n - 1))
    expected = ((counts.sum(axis=0) / counts.sum()) ** 2).sum()
    return float(agreement.chance_corrected(observed, expected))


#: Aggregations, with the letters of the source's tables.
AGGREGATIONS = {"hard": "h", "soft": "s", "hrs": "hrs", "srs": "srs"}


class Profile(NamedTuple):
    """How raters answer each item.

    Parameters
    ----------
    chosen : numpy.ndarray, shape (..., n_items, K)
        Share of forced choices that each option gets; sums to 1 over options.
    endorsed : numpy.ndarray, shape (..., n_items, K)
        Share of raters whose response set holds each option; need not sum to 1.
    """

    chosen: Any
    endorsed: Any

    def items(self, index: Any) -> Profile:
        """Take some of the items.

        Parameters
        ----------
        index : array_like
            Positions or a mask, along the axis of items.

        Returns
        -------
        Profile
            Of these items.
        """
        return Profile(self.chosen[..., index, :], self.endorsed[..., index, :])


def aggregate(profile: Profile, how: str, cutoff: float = 0.5, ties: str = "share") -> np.ndarray:
    """Turn shares into rating vectors.

    Parameters
    ----------
    profile : Profile
        Shares of choices and endorsements.
    how : {"hard", "soft", "hrs", "srs"}
        ``"hard"``: the option chosen most; ``"soft"``: the shares of choices; ``"hrs"`` (hard
        response set): 1 for each option that at least `cutoff` of the raters endorse; ``"srs"``
        (soft response set): the shares of endorsements.
    cutoff : float, default 0.5
        The source's tau, in (0, 1].
    ties : {"share", "first"}
        If several options are chosen most, share the 1 between them, or give it to the first in the
        order of the options, as the source's code does. An order that nobody meant then decides;
        with one to four ratings per item, ties are common.

    Returns
    -------
    numpy.ndarray, shape (..., n_items, K)
        Rating vectors.

    Raises
    ------
    InputError
        If `how`, `cutoff` or `ties` is unknown.

    Examples
    --------
    >>> profile = Profile(np.array([[0.5, 0.5, 0.0]]), np.array([[0.9, 0.6, 0.1]]))
    >>> aggregate(profile, "hard").tolist(), aggregate(profile, "hrs", 0.6).tolist()
    ([[0.5, 0.5, 0.0]], [[1.0, 1.0, 0.0]])
    """
    with checking("aggregate") as require:
        require(how in AGGREGATIONS, f"must be one of {list(AGGREGATIONS)}", how=how)
        require(0 < cutoff <= 1, "must lie in (0, 1]", cutoff=cutoff)
        require(ties in ("share", "first"), "must be share or first", ties=ties)
    if how == "soft":
        return profile.chosen
    if how == "srs":
        return profile.endorsed
    if how == "hrs":
        return _at_least(profile.endorsed, cutoff).astype(float)
    chosen = profile.chosen
    if ties == "first":
        return np.eye(chosen.shape[-1])[chosen.argmax(axis=-1)]
    top = (chosen >= chosen.max(axis=-1, keepdims=True) - 1e-12).astype(float)
    return top / top.sum(axis=-1, keepdims=True)


def _at_least(shares: np.ndarray, cutoff: float) -> np.ndarray:
    """Compare so that 3 of 10 reaches a cutoff of .3 whatever the rounding."""
    return np.asarray(shares) >= cutoff - 1e-12


#: Downstream figures, of which items are positive by the judge and by people: the share of items
#: that both categorise alike (the source's C), and by how much the judge has more (its B).
DOWNSTREAM: dict[str, _Metric] = {
    "decision_consistency": _agreeing("accuracy"),
    "prevalence_bias": _agreeing("judge_less_people"),
}


@dataclass(frozen=True)
class Definition:
    """One definition of a judge's performance.

    Parameters
    ----------
    metric : str
        A name of source 5's Table 1, such as ``"mse"``, or one of the two downstream figures
        ``"decision_consistency"`` and ``"prevalence_bias"``.
    judge, human : {"hard", "soft", "hrs", "srs"}
        How either side's ratings are aggregated; not used by the two downstream figures.
    cutoff : float, default 0.5
        Share of raters from which an option counts as endorsed.

    Raises
    ------
    InputError
        If the metric is unknown or does not take the aggregations.

    Examples
    --------
    >>> print(Definition("hit_rate", "hard", "hard"))
    hit_rate (h/h)
    >>> Definition("kl_human_judge", "hard", "soft")
    Traceback (most recent call last):
    bayesjudge.core.errors.InputError: Definition: kl_human_judge takes soft of judge, got 'hard'
    """

    metric: str
    judge: str = "srs"
    human: str = "srs"
    cutoff: float = 0.5

    def __post_init__(self) -> None:
        with checking("Definition") as require:
            known = [*METRICS, *DOWNSTREAM]
            require(self.metric in known, f"must be one of {known}", metric=self.metric)
            require(0 < self.cutoff <= 1, "must lie in (0, 1]", cutoff=self.cutoff)
        if self.downstream:
            return
        takes = (
            ("judge", self._metric.judge, self.judge),
            ("people", self._metric.human, self.human),
        )
        with checking("Definition") as require:
            for side, ways, got in takes:
                words = f"{self.metric} takes {'/'.join(ways)} of {side}, got {got!r}"
                require(not ways or got in ways, words)

    @property
    def higher_is_better(self) -> bool:
        """Direction; a prevalence bias is best near 0, whatever its sign."""
        return self._metric.higher_is_better and self.metric != "prevalence_bias"

    def value(
        self,
        judge: Profile,
        human: Profile,
        *,
        positive: int = 0,
        ties: str = "share",
        weights: np.ndarray | None = None,
    ) -> Any:
        """Evaluate on two profiles.

        Parameters
        ----------
        judge, human : Profile
            Of the same items.
        positive : int, default 0
            Position of the positive option.
        ties : {"share", "first"}
            See `aggregate`.
        weights : numpy.ndarray, shape (n_draws, n_items), optional
            Of each item, summing to 1, of profiles without leading axes; all the same by default.

        Returns
        -------
        float or numpy.ndarray
            One value for each leading index, or for each draw of the weights.
        """
        said, truth = self._vectors(judge, human, positive, ties)
        if self._metric.paired:
            shares = _shares_of_pairs(said, truth, weights)
            return self._metric.function(_of_pairs(shares, said.shape[-2]))
        mean = partial(np.mean, axis=-1) if weights is None else partial(np.matmul, weights)
        return self._metric.function(said, truth, mean)

    def posterior(
        self, judge: Profile, human: Profile, *, positive: int = 0, ties: str = "share"
    ) -> np.ndarray | None:
        """Draw the value from the posterior of the shares of pairs, if it is of these.

        Parameters
        ----------
        judge, human : Profile
            Of the same items, without leading axes.
        positive : int, default 0
            Position of the positive option.
        ties : {"share", "first"}
            See `aggregate`.

        Returns
        -------
        numpy.ndarray or None
            Draws, those from which `bayesjudge.judge.quality` takes its intervals; None of a
            definition that is no function of which option people chose and which the judge did.
        """
        if not self._metric.paired:
            return None
        said, truth = self._vectors(judge, human, positive, ties)
        statistics = posterior_of_pairs(said, truth, positive or self.downstream)
        return np.asarray(self._metric.function(statistics))

    def _vectors(
        self, judge: Profile, human: Profile, positive: int, ties: str
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rating vectors of judge and people; downstream, of negative and positive items."""
        if self.downstream:
            sides = (_at_least(p.endorsed[..., positive], self.cutoff) for p in (judge, human))
            said, truth = (np.eye(2)[at.astype(int)] for at in sides)
            return said, truth
        people = self.human if self._metric.human else "srs"
        said = aggregate(judge, self.judge, self.cutoff, ties)
        return said, aggregate(human, people, self.cutoff, ties)

    def loss(self, value: Any) -> Any:
        """Turn values into losses: less is better.

        Parameters
        ----------
        value : array_like
            From `value`.

        Returns
        -------
        numpy.ndarray
            Comparable between judges.
        """
        value = np.asarray(value, float)
        if self.metric == "prevalence_bias":
            return np.abs(value)
        return -value if self.higher_is_better else value

    @property
    def _metric(self) -> _Metric:
        return {**METRICS, **DOWNSTREAM}[self.metric]

    @property
    def downstream(self) -> bool:
        """Whether it is a figure of what a judge is used for, rather than a metric of agreement."""
        return self.metric in DOWNSTREAM

    @property
    def aggregation(self) -> str:
        """Aggregations of judge and people in the source's letters, such as ``"h/hrs"``."""
        if self.downstream:
            return ""
        human = AGGREGATIONS[self.human] if self._metric.human else "–"
        return f"{AGGREGATIONS[self.judge]}/{human}"

    @property
    def uses_cutoff(self) -> bool:
        """Whether its value depends on the cutoff."""
        return self.downstream or "hrs" in (self.judge, self.human)

    def __str__(self) -> str:
        at = f"at {self.cutoff:g}" if self.uses_cutoff else ""
        return f"{self.metric} ({', '.join(filter(None, (self.aggregation, at)))})"


def posterior_of_pairs(judge: np.ndarray, human: np.ndarray, positive: int) -> dict[str, Any]:
    """Draws of agreement statistics of rating vectors that sum to 1, shape (n_items, K).

    Pairs are numbered as a judge's are, so that the draws are the same: of two the positive last.
    """
    if judge.shape[-1] == 2 and not positive:
        judge, human = judge[:, ::-1], human[:, ::-1]
    pairs = Pairs.of_items(np.einsum("ik,il->ikl", human, judge).reshape(len(judge), -1))
    return _of_pairs(pairs.draws(DESIGNS["random"], overall=True), len(judge))


def _shares_of_pairs(
    judge: np.ndarray, human: np.ndarray, weights: np.ndarray | None
) -> np.ndarray:
    """Shares of pairs of options, people's by the judge's, shape (..., K * K)."""
    if weights is not None:
        return weights @ np.einsum("ik,il->ikl", human, judge).reshape(len(judge), -1)
    shares = np.swapaxes(human, -1, -2) @ judge / judge.shape[-2]
    return shares.reshape(*shares.shape[:-2], -1)


def prevalence_at(profile: Profile, *, positive: int = 0, cutoff: float = 0.5) -> Any:
    """Share of items whose positive option at least `cutoff` of the raters endorse.

    Parameters
    ----------
    profile : Profile
        Of the items.
    positive : int, default 0
        Position of the option.
    cutoff : float, default 0.5
        The source's tau.

    Returns
    -------
    float or numpy.ndarray
        In [0, 1].
    """
    return _at_least(profile.endorsed[..., positive], cutoff).mean(axis=-1)


def definitions(cutoff: float = 0.5) -> tuple[Definition, ...]:
    """List the definitions of performance of source 5, and the two downstream figures.

    Parameters
    ----------
    cutoff : float, default 0.5
        Share of raters from which an option counts as endorsed.

    Returns
    -------
    tuple of Definition
        One for each row of the source's Table 3, and for the metrics of its Table 1 that Table 3
        leaves out; decision consistency and prevalence bias last.

    Raises
    ------
    InputError
        If `cutoff` is out of range.
    """
    hard = ("hit_rate", "krippendorff_alpha", "fleiss_kappa", "cohen_kappa", "scott_pi")
    soft = (
        *("kl_human_judge", "kl_judge_human", "cross_entropy_human_judge"),
        *("cross_entropy_judge_human", "js_divergence"),
    )
    return (
        *(Definition(name, "hard", "hard", cutoff) for name in hard),
        *(Definition(name, "soft", "soft", cutoff) for name in soft),
        *(Definition("mse", how, how, cutoff) for how in ("hard", "soft", "srs")),
        Definition("coverage", "hard", "hrs", cutoff),
        Definition("recall", "hrs", "hrs", cutoff),
        Definition("precision", "hrs", "hrs", cutoff),
        Definition("predictive_efficiency", "hrs", "hrs", cutoff),
        Definition("binary_cross_entropy", "srs", "hrs", cutoff),
        *(Definition(name, cutoff=cutoff) for name in DOWNSTREAM),
    )
