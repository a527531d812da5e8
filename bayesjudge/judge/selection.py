"""Which of several judges or prompts is best, and how good the chosen one is."""

from __future__ import annotations

import itertools
from typing import Any, Literal, NamedTuple

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.errors import check_ci_prob, checking, expect
from bayesjudge.core.estimate import Caution, Estimate, Quantity
from bayesjudge.core.intervals import z_score
from bayesjudge.core.planning import fewest
from bayesjudge.core.randomness import rng_of
from bayesjudge.judge.data import Judged, as_judged
from bayesjudge.truth.pairs import DRAWS
from bayesjudge.verdicts.labels import MISSING

Measure = Literal["accuracy", "youden"]
#: Scale of the half-normal prior of how far judges differ (standard deviation of their accuracies).
SPREAD = 0.1
#: Points of the spread over which it is integrated, up to so many scales.
POINTS, MOST = 400, 5.0
#: Probability from which on one of two is better, and the chance with which that is to be seen.
BETTER, CHANCE = 0.975, 0.8
#: Labels beyond which no more are tried.
MOST_LABELS = 10**7


class Scored(NamedTuple):
    """How right each judge was on the same labelled outputs."""

    #: Share of outputs on which each judge was right.
    observed: np.ndarray
    #: Variance of each of these that judges do not share, and that they do.
    alone: float
    common: float
    labels: int


def select(
    data: Any, *, measure: Measure = "accuracy", ci_prob: float = 0.95, random_seed: int = 1
) -> Estimate:
    r"""Compare judges or prompts on the same labelled outputs.

    Judge p is right on output i (or not) by what the output and the judge have of their own,

    .. math:: r_{ip} = \mu + b_i + a_p + e_{ip}, \quad a_p \sim N(0, \tau^2), \quad
              \tau \sim N^+(0, 0.1^2),

    so that outputs that are hard for all cancel from differences, and the best of many is shrunk
    towards the others by as much as chance spreads them (the winner's curse).

    Parameters
    ----------
    data : Judged or Verdicts
        Of two or more judges of the same outputs, passes and fails or classes.
    measure : {"accuracy", "youden"}
        Accuracy takes random labels; Youden's J (sensitivity plus specificity less 1), compared
        within good and within bad outputs, also labels by truth.
    ci_prob : float, default 0.95
        Probability of the intervals.
    random_seed : int
        Of the draws.

    Returns
    -------
    Estimate
        By ``judge``: the measure, shrunk; ``observed``, as counted; ``p_best``. By pair ``first``,
        ``second``, the first being the better one: ``difference``, ``p_better`` and
        ``labels_needed``, in all, to know with probability 0.975 which is better, with a chance of
        0.8, if the two differ by ``difference``.

    Raises
    ------
    InputError
        If there is one judge, the labels do not tell the measure, or fewer than two labelled
        outputs have every judge's verdict.

    Notes
    -----
    Given :math:`\tau` the posterior is normal; :math:`\tau` is integrated on a grid. Intervals of
    the measure are on the arcsine scale. Residual
    variances are those of the two-way layout, with one more output on which each judge is right by
    chance. Shrunk values of the best of LLMBar's prompts: ``python benchmarks/judge/selection.py``.

    References
    ----------
    Gelman et al. (2013), Bayesian Data Analysis, Section 5.4; Louis (1984), J. Am. Stat. Assoc. 79,
    393-398.

    Examples
    --------
    >>> from bayesjudge import Verdicts
    >>> said = [[1, 1], [1, 0], [0, 1], [0, 0]] * 2
    >>> table = Verdicts(said, [1] * 4 + [0] * 4, [0] * 8, [40, 9, 2, 4, 3, 2, 6, 34], "random",
    ...                  judges=("new", "old"))
    >>> found = select(table)
    >>> round(found["p_better", "new", "old"].value, 2)
    0.98
    """
    check_ci_prob(ci_prob)
    judged = as_judged(data)
    scored, left_out = _scored(judged, measure)
    drawn = posterior(scored, random_seed)
    tail = (1 - ci_prob) / 2
    low, high = np.quantile(_within(drawn, scored, measure), [tail, 1 - tail], axis=0)
    judges = {"judge": judged.judges}
    none = np.full(len(judged.judges), np.nan)
    best = np.bincount(drawn.argmax(axis=1), minlength=len(none)) / len(drawn)
    quantities = {
        measure: Quantity.over((drawn.mean(axis=0), low, high), judges),
        "observed": Quantity.over((scored.observed, none, none), judges),
        "p_best": Quantity.over((best, none, none), judges),
    }
    gaps: dict[Any, Any] = {}
    order = np.argsort(-drawn.mean(axis=0), kind="stable")
    pairs = [*itertools.combinations(order, 2)]
    means = drawn.mean(axis=0)
    needed = _labels_needed(np.array([means[i] - means[j] for i, j in pairs]), scored)
    for (i, j), labels in zip(pairs, needed, strict=True):
        gap = drawn[:, i] - drawn[:, j]
        ends = np.quantile(gap, [tail, 1 - tail])
        gaps[judged.judges[i], judged.judges[j]] = (gap.mean(), *ends), (gap > 0).mean(), labels
    pair = ("first", "second")
    for k, name in enumerate(("difference", "p_better", "labels_needed")):
        quantities[name] = Quantity.of_rows({at: row[k] for at, row in gaps.items()}, pair)
    cautions = [Caution.of("judged-by-some", outputs=left_out)] if left_out else []
    return Estimate(
        quantities,
        method=methods.SELECTION,
        ci_prob=ci_prob,
        source="Gelman et al. (2013), Section 5.4; Louis (1984)",
        interval={measure: "equal-tailed", "difference": "equal-tailed"},
        assumptions=(judged.design.assumption,),
        cautions=tuple(cautions),
        data=judged,
    )


def posterior(scored: Scored, random_seed: int = 1) -> np.ndarray:
    """Draws of each judge's measure, shape (n_draws, n_judges)."""
    rng, judges = rng_of(random_seed), len(scored.observed)
    mean = scored.observed.mean()
    tau, chance = _spread(((scored.observed - mean) ** 2).sum(), judges, scored.alone)
    drawn = rng.choice(tau, DRAWS, p=chance)[:, None] ** 2
    weight = drawn / (drawn + scored.alone)
    # the mean of all judges is known up to what they share, and to the spread of so many
    centre = mean + rng.normal(size=(DRAWS, 1)) * np.sqrt((drawn + scored.alone) / judges)
    shrunk = centre + weight * (scored.observed - centre)
    values = shrunk + rng.normal(size=shrunk.shape) * np.sqrt(weight * scored.alone)
    return values + rng.normal(size=(DRAWS, 1)) * np.sqrt(scored.common)


def _within(drawn: np.ndarray, scored: Scored, measure: Measure) -> np.ndarray:
    """Draws on the arcsine scale, where they scatter as much: their ends are possible values."""
    least, size = (0.0, 1.0) if measure == "accuracy" else (-1.0, 2.0)
    mean = drawn.mean(axis=0)
    share = ((mean - least) / size * scored.labels + 0.5) / (scored.labels + 1)
    share = np.clip(share, 0.5 / (scored.labels + 1), 1 - 0.5 / (scored.labels + 1))
    angle = np.arcsin(np.sqrt(share)) + (drawn - mean) / size / np.sqrt(4 * share * (1 - share))
    return least + size * np.sin(np.clip(angle, 0, np.pi / 2)) ** 2


def _spread(squares: Any, judges: int, alone: Any) -> tuple[np.ndarray, np.ndarray]:
    """A grid of the spread of judges, and its posterior given squares about their mean."""
    tau = np.linspace(0, MOST * SPREAD, POINTS)
    total = np.expand_dims(alone, -1) + tau**2
    log = -(judges - 1) / 2 * np.log(total) - np.expand_dims(squares, -1) / (2 * total)
    log -= (tau / SPREAD) ** 2 / 2
    chance = np.exp(log - log.max(axis=-1, keepdims=True))
    return tau, chance / chance.sum(axis=-1, keepdims=True)


def _labels_needed(gaps: np.ndarray, scored: Scored) -> np.ndarray:
    """Labels with which two judges that differ so much are told apart with probability `CHANCE`.

    Of so many, that part of samples shows a difference of which the posterior is sure enough.
    """
    from scipy.special import ndtr

    def spare(labels: Any) -> Any:
        alone = scored.alone * scored.labels / labels
        seen = np.abs(gaps) - z_score(2 * CHANCE - 1) * np.sqrt(2 * alone)
        tau, chance = _spread(seen**2 / 2, 2, alone)
        kept = np.sqrt(tau**2 / (tau**2 + alone[:, None]))
        sure = ndtr(kept * (seen / np.sqrt(2 * alone))[:, None])
        return (chance * sure).sum(axis=-1) - BETTER

    most = np.full(gaps.shape, MOST_LABELS)
    return np.asarray(fewest(spare, 1, most, start=scored.labels, part=0.01), float)


def _scored(judged: Judged, measure: Measure) -> tuple[Scored, int]:
    """Right and wrong of each judge on outputs that all of them judged, and how many are left out.

    Of Youden's J, within good and within bad outputs, the sum of the two.
    """
    verdicts = judged.verdicts
    with checking("judge.select") as require:
        several = verdicts is not None and len(judged.judges) > 1
        require(several, "expected verdicts of two or more judges of the same outputs, a column "
                         "each (verdict=[...])")  # fmt: skip
        require(measure in ("accuracy", "youden"), f"measure={measure!r}: accuracy or youden")
        known = {"accuracy": "prevalence", "youden": "error_rates"}.get(measure, "prevalence")
        tells = known in judged.design.identifies and judged.propensity is None
        require(
            tells,
            f"labels chosen {judged.design.name} do not tell the {measure} of "
            "several judges: label a random sample (by truth: measure='youden')",
        )
        two = verdicts is None or len(verdicts.classes) == 2 or measure == "accuracy"
        require(two, "measure='youden' needs verdicts of pass and fail")
    assert verdicts is not None
    given = (verdicts.response != MISSING).all(axis=1) & verdicts.is_labelled
    right = (verdicts.response == verdicts.truth[:, None])[given].astype(float)
    n, truth = verdicts.times[given].astype(float), verdicts.truth[given]
    left_out = verdicts.labelled_n - int(n.sum())
    parts = [np.ones(len(n), bool)] if measure == "accuracy" else [truth == 1, truth == 0]
    enough = all(n[part].sum() >= 2 for part in parts)
    words = "fewer than two labelled outputs (of each kind) have every judge's verdict"
    expect("judge.select", enough, words)
    layouts = [_two_way(right[part], n[part]) for part in parts]
    observed = np.sum([layout.observed for layout in layouts], axis=0) - (len(layouts) - 1)
    alone, common = (
        float(sum(getattr(layout, name) for layout in layouts)) for name in ("alone", "common")
    )
    return Scored(observed, alone, common, int(n.sum())), left_out


def _two_way(right: np.ndarray, n: np.ndarray) -> Scored:
    """Means of judges and variances of the two-way layout, outputs by judges."""
    size, judges = n.sum(), right.shape[1]
    observed = n @ right / size
    item = right.mean(axis=1)
    left = right - item[:, None] - observed + observed.mean()
    residual = (n @ left**2).sum() + (judges - 1) / 4  # one more output, by chance
    residual /= size * (judges - 1)
    between = n @ (item - observed.mean()) ** 2 / max(size - 1, 1)
    return Scored(observed, residual / size, max(between - residual / judges, 0) / size, int(size))
