"""Definitions of performance as values: metric, aggregations and cutoff (source 5, Section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.ratings.aggregation import AGGREGATIONS, Profile, aggregate, at_least
from bayesjudge.ratings.agreement import METRICS, Metric

#: What a judge is used for, as a metric on endorsements of the positive option.
DOWNSTREAM = ("decision_consistency", "prevalence_bias")


@dataclass(frozen=True)
class Definition:
    """One definition of a judge's performance.

    Parameters
    ----------
    metric : str
        A name of `METRICS`, or ``"decision_consistency"`` or ``"prevalence_bias"``.
    judge, human : {"hard", "soft", "hrs", "srs"}
        How either side's ratings are aggregated; not used by the two downstream figures.
    cutoff : float, default 0.5
        Share of raters from which an option counts as endorsed.

    Raises
    ------
    InputError
        Where the metric is unknown or does not take the aggregations.

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
            require(self.metric in known, f"metric must be one of {known}, got {self.metric!r}")
            require(0 < self.cutoff <= 1, f"cutoff must lie in (0, 1], got {self.cutoff!r}")
        if self.metric in DOWNSTREAM:
            return
        metric = self._metric
        with checking("Definition") as require:
            for side, takes, got in (
                ("judge", metric.judge, self.judge),
                ("people", metric.human, self.human),
            ):
                words = "/".join(takes)
                require(
                    not takes or got in takes,
                    f"{self.metric} takes {words} of {side}, got {got!r}",
                )

    @property
    def _metric(self) -> Metric:
        return METRICS[self.metric]

    @property
    def higher_is_better(self) -> bool:
        """Direction. A prevalence bias is best near 0, whatever its sign."""
        if self.metric in DOWNSTREAM:
            return self.metric == "decision_consistency"
        return self._metric.higher_is_better

    def value(
        self, judge: Profile, human: Profile, *, positive: int = 0, ties: str = "share"
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

        Returns
        -------
        float or numpy.ndarray
            One value for each leading index.
        """
        if self.metric == "decision_consistency":
            return decision_consistency(judge, human, positive=positive, cutoff=self.cutoff)
        if self.metric == "prevalence_bias":
            return prevalence_bias(judge, human, positive=positive, cutoff=self.cutoff)
        metric = self._metric
        vectors = (
            aggregate(judge, self.judge, self.cutoff, ties),
            aggregate(human, self.human if metric.human else "srs", self.cutoff, ties),
        )
        return metric.function(*vectors)

    def loss(self, value: Any) -> Any:
        """Turn values round so that less is better.

        Parameters
        ----------
        value : array_like
            What `value` returned.

        Returns
        -------
        numpy.ndarray
            Comparable between judges.
        """
        value = np.asarray(value, float)
        if self.metric == "prevalence_bias":
            return np.abs(value)
        return -value if self.higher_is_better else value

    def __str__(self) -> str:
        if self.metric in DOWNSTREAM:
            return f"{self.metric} (at {self.cutoff:g})"
        human = AGGREGATIONS[self.human] if self._metric.human else "–"
        at = f", at {self.cutoff:g}" if "hrs" in (self.judge, self.human) else ""
        return f"{self.metric} ({AGGREGATIONS[self.judge]}/{human}{at})"


def decision_consistency(
    judge: Profile, human: Profile, *, positive: int = 0, cutoff: float = 0.5
) -> Any:
    """Share of items that judge and people categorise alike: the source's C.

    Parameters
    ----------
    judge, human : Profile
        Of the same items.
    positive : int, default 0
        Position of the option that items are categorised by.
    cutoff : float, default 0.5
        An item is positive where at least this share of raters endorses the option.

    Returns
    -------
    float or numpy.ndarray
        In [0, 1].
    """
    sides = [at_least(p.endorsed[..., positive], cutoff) for p in (judge, human)]
    return (sides[0] == sides[1]).mean(axis=-1)


def prevalence_bias(
    judge: Profile, human: Profile, *, positive: int = 0, cutoff: float = 0.5
) -> Any:
    """Share of items positive by the judge, less that by people: the source's B.

    Parameters
    ----------
    judge, human : Profile
        Of the same items.
    positive : int, default 0
        Position of the option that items are categorised by.
    cutoff : float, default 0.5
        An item is positive where at least this share of raters endorses the option.

    Returns
    -------
    float or numpy.ndarray
        In [-1, 1]; below 0 the judge underestimates.
    """
    return prevalence_at(judge, positive=positive, cutoff=cutoff) - prevalence_at(
        human, positive=positive, cutoff=cutoff
    )


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
    return at_least(profile.endorsed[..., positive], cutoff).mean(axis=-1)


def definitions(cutoff: float = 0.5) -> tuple[Definition, ...]:
    """List the definitions of performance that the source compares, and the downstream figures.

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
        Where `cutoff` is out of range.
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
