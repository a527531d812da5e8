"""From which score on a judge can be trusted, and from which on a person has to look."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.estimate import Estimate, Quantity
from bayesjudge.core.label_design import LabelDesign
from bayesjudge.judge.data import as_judged
from bayesjudge.judge.quality import quality
from bayesjudge.truth import agreement
from bayesjudge.truth.pairs import Pairs, with_ends

#: Share of the verdicts that may be wrong, and how sure it is that no more are.
ALPHA, PROMISED = 0.05, 0.9
#: Thresholds that are looked at, places of a step, and draws of its two shares.
THRESHOLDS, STEPS, STEP_DRAWS = 60, 20, 200
#: Standard deviations of the logistic curve's prior: of the level, about even odds of e to 1 on the
#: judge's side, and of the slope by standard deviation of the score (rising, so half-normal).
LEVEL, SLOPE = (1.0, 2.0), 1.0
#: Probability that the labels beyond a threshold have to give by themselves.
FLOOR = 0.5
#: Folds of the accuracy at the best cut.
FOLDS = 10


class Labelled(NamedTuple):
    """Scores with labels of pass and fail (1 and 0), and the scores of all outputs; with counts."""

    score: np.ndarray
    good: np.ndarray
    n: np.ndarray
    every: np.ndarray
    every_n: np.ndarray
    #: Whether scores are probabilities, of which curves take the log odds.
    probabilities: bool = False

    def z(self, score: np.ndarray) -> np.ndarray:
        """Scores in standard deviations of all of them about their mean."""

        def plain(x: np.ndarray) -> np.ndarray:
            x = np.clip(x, 1e-3, 1 - 1e-3) if self.probabilities else x
            return np.log(x / (1 - x)) if self.probabilities else x

        every = plain(self.every)
        mean = np.average(every, weights=self.every_n)
        spread = np.sqrt(np.average((every - mean) ** 2, weights=self.every_n))
        return (plain(score) - mean) / (spread or 1.0)


class Posterior(NamedTuple):
    """Shares of pairs as estimated, and their draws."""

    value: np.ndarray
    drawn: np.ndarray
    ci_prob: float

    def row(self, of: Any) -> tuple[float, float, float]:
        """A function of the shares, with its interval."""
        return with_ends(float(np.ravel(of(self.value))[0]), of(self.drawn), self.ci_prob)


def trust(
    data: Any, *, alpha: float = ALPHA, promised: float = PROMISED, ci_prob: float = 0.95
) -> Estimate:
    r"""Thresholds beyond which a judge's verdicts can stand without a person.

    Parameters
    ----------
    data : Judged or prevalence.scores.Scores
        Scores or probabilities of one judge, with labels of pass and fail from a random sample.
    alpha : float, default 0.05
        Share of the trusted verdicts that may be wrong, in (0, 0.5).
    promised : float, default 0.9
        Probability that no more are, in (0.5, 1).
    ci_prob : float, default 0.95
        Probability of the intervals.

    Returns
    -------
    Estimate
        ``pass_from`` and ``fail_to``, the lowest score of which a pass and the highest of which a
        fail can be trusted, each with ``traffic`` and ``wrong``, the share of outputs beyond it and
        of errors among them, by ``side``; ``nan`` if there is none. ``best_cut``, the lowest score
        of a pass at which judge and people agree most often, with its posterior interval; at it
        ``accuracy`` (cross-fitted), ``sensitivity`` and ``specificity``. ``gain`` over the base
        rate: 1 less the ratio of Brier scores, of probabilities as they are (scores as shares of
        their scale) and ``gain_recalibrated``, of the logistic curve, cross-fitted.
        ``people_mean`` by score: the calibration map.

    Raises
    ------
    InputError
        If these are no scores with labels of pass and fail of a random sample, or an option is out
        of range.

    Notes
    -----
    A threshold holds if the share of errors beyond it is at most `alpha` with the promised
    probability under a logistic curve or under one step (the posterior of each, on a grid), and the
    labels beyond it say so with probability 0.5 by themselves (Beta, Jeffreys' prior): the smallest
    threshold of which an observed share says so breaks its promise in half of all cases. How often
    this one does: ``python benchmarks/judge/thresholds.py``.

    References
    ----------
    Brier (1950), Mon. Weather Rev. 78, 1-3; Geifman & El-Yaniv (2017), NeurIPS 30.

    Examples
    --------
    >>> from bayesjudge.prevalence import scores
    >>> table = scores.simulate(shape="bimodal", noise=0.3, labelled=300, random_seed=1)
    >>> read = scores.Scores.from_frame(table, calibration="random", scale=(0, 1))
    >>> found = trust(read, alpha=0.15)
    >>> bool(found["pass_from"].value > found["best_cut"].value)
    True
    """
    check_ci_prob(ci_prob)
    judged = as_judged(data)
    with checking("judge.trust") as require:
        require(judged.kind == "scores", f"expected scores with labels of pass and fail, got "
                                         f"{judged.kind}: name score= and scale=")  # fmt: skip
        alone = len(judged.pairs) == 1
        require(alone, "one judge and one system at a time")
        require(judged.design.is_sample, "trust-not-random", name=judged.design.name)
        require(0 < alpha < 0.5, "must lie in (0, 0.5)", alpha=alpha)
        require(0.5 < promised < 1, "must lie in (0.5, 1)", promised=promised)
    (pairs,) = judged.pairs.values()
    probabilities = judged.table.scale == (0, 1)
    scores = Labelled(pairs.said, pairs.truth, pairs.n, pairs.verdicts, pairs.all_n, probabilities)
    shares = Posterior(pairs.shares(judged.design)[None], pairs.draws(judged.design), ci_prob)
    quantities: dict[str, Any] = {}
    beyond: dict[str, dict[str, Any]] = {"traffic": {}, "wrong": {}}
    for side, name in (("pass", "pass_from"), ("fail", "fail_to")):
        passes = side == "pass"
        cut = threshold(scores, passes, alpha, promised)
        quantities[name] = (cut, np.nan, np.nan)
        trusted = scores.every >= cut if passes else scores.every <= cut
        beyond["traffic"][side] = float(scores.every_n @ trusted / scores.every_n.sum())
        beyond_cut = pairs.said >= cut if passes else pairs.said <= cut
        wrong = (1 - pairs.truth if passes else pairs.truth) * beyond_cut
        beyond["wrong"][side] = shares.row(
            partial(agreement.among, what=wrong, condition=beyond_cut)
        )
    quantities |= {name: Quantity.of_rows(rows, ("side",)) for name, rows in beyond.items()}
    quantities |= _best_cut(pairs, shares, judged.design) | _gain(
        pairs, scores, judged.table.unit[judged.table.known], shares
    )
    quantities["people_mean"] = quality(judged, ci_prob=ci_prob).quantities["people_mean"]
    return Estimate(
        quantities,
        method=methods.TRUST,
        ci_prob=ci_prob,
        source="Geifman & El-Yaniv (2017); Brier (1950)",
        interval="equal-tailed",
        assumptions=(judged.design.assumption,),
        data=judged,
    )


def threshold(scores: Labelled, above: bool, alpha: float, promised: float) -> float:
    """The score beyond which at most `alpha` are wrong, with the promised probability; or ``nan``.

    Above it a verdict is a pass and right if people pass; below it a fail.
    """
    from scipy.special import betainc

    sign = 1.0 if above else -1.0
    right = scores.good if above else 1 - scores.good
    order = np.argsort(-sign * scores.every, kind="stable")
    traffic = _Traffic(sign * scores.every[order], scores.every_n[order])
    places = sign * scores.score
    n, wrong = (
        np.array([k[places >= cut].sum() for cut in traffic.cuts])
        for k in (scores.n, scores.n * (1 - right))
    )
    by_labels = betainc(wrong + 0.5, n - wrong + 0.5, alpha)
    z, every_z = sign * scores.z(scores.score), sign * scores.z(scores.every)[order]
    by_curve = _by_curve(z, right, scores.n, every_z, traffic, alpha)
    by_step = _by_step(places, right, scores.n, traffic, alpha)
    holds = (np.maximum(by_curve, by_step) >= promised) & (by_labels >= FLOOR) & (n > 0)
    return float(sign * traffic.cuts[np.flatnonzero(holds)[-1]]) if holds.any() else np.nan


class _Traffic:
    """Scores of all outputs, the highest first, and what lies beyond thresholds."""

    def __init__(self, every: np.ndarray, weight: np.ndarray) -> None:
        self.every, self.weight, upto = every, weight, np.cumsum(weight)
        places = np.linspace(0, upto[-1], THRESHOLDS + 1)[1:] - 1e-9 * upto[-1]
        self.cuts = np.unique(every[np.searchsorted(upto, places)])[::-1]
        self.last = np.searchsorted(-every, -self.cuts, side="right") - 1
        self.beyond = upto[self.last]

    def means(self, values: np.ndarray) -> np.ndarray:
        """Mean values beyond each threshold, shape (…, n_cuts)."""
        return np.cumsum(values * self.weight, axis=-1)[..., self.last] / self.beyond


def _curve(z: np.ndarray, right: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Levels and slopes of logistic curves on a grid, shape (2, n_points), and their posterior."""
    level, slope = (x.ravel() for x in np.meshgrid(np.linspace(-4, 7, 45), np.linspace(0, 5, 36)))
    eta = level[:, None] + slope[:, None] * z
    log = (right * eta - np.logaddexp(0, eta)) @ n
    log += -(((level - LEVEL[0]) / LEVEL[1]) ** 2) / 2 - (slope / SLOPE) ** 2 / 2
    chance = np.exp(log - log.max())
    return np.stack([level, slope]), chance / chance.sum()


def _by_curve(
    z: np.ndarray,
    right: np.ndarray,
    n: np.ndarray,
    every_z: np.ndarray,
    traffic: _Traffic,
    alpha: float,
) -> np.ndarray:
    """Probability that at most `alpha` are wrong beyond each threshold, under a logistic curve."""
    (level, slope), chance = _curve(z, right, n)
    kept = chance > 1e-6
    wrong = 1 / (1 + np.exp(level[kept, None] + slope[kept, None] * every_z))
    return chance[kept] @ (traffic.means(wrong) <= alpha)


def _by_step(
    places: np.ndarray, right: np.ndarray, n: np.ndarray, traffic: _Traffic, alpha: float
) -> np.ndarray:
    """The same under one step up, at an unknown place, of two unknown shares."""
    from scipy.special import betaln

    rng = np.random.default_rng(1)
    logs, broken = [], []
    for place in np.unique(
        np.quantile(places, np.linspace(0.05, 0.95, STEPS), method="inverted_cdf")
    ):
        up = places >= place
        counts = [((n * right)[side].sum(), (n * (1 - right))[side].sum()) for side in (up, ~up)]
        high, low = (rng.beta(k + 1, m + 1, STEP_DRAWS) for k, m in counts)
        rising = high >= low
        ordered = max(2 * rising.mean(), 1e-9)  # a flat prior of two shares in order
        logs.append(sum(betaln(k + 1, m + 1) for k, m in counts) + np.log(ordered))
        beyond = traffic.means((traffic.every >= place).astype(float))
        wrong = 1 - low[:, None] - (high - low)[:, None] * beyond
        broken.append((wrong <= alpha)[rising].mean(axis=0) if rising.any() else 0 * beyond)
    chance = np.exp(np.array(logs) - max(logs))
    return chance / chance.sum() @ np.array(broken)


def _folds(pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """Labelled outputs by their kind of pair, and the fold of each."""
    rows = np.repeat(np.arange(len(pairs.n)), pairs.n.astype(int))
    return rows, np.random.default_rng(1).permutation(len(rows)) % FOLDS


def _best_cut(pairs: Pairs, shares: Posterior, design: LabelDesign) -> dict[str, Any]:
    """The cut at which judge and people agree most often, and how often they do."""
    cuts = np.unique(pairs.said)
    if len(cuts) > THRESHOLDS:
        cuts = np.unique(
            np.quantile(pairs.said, np.linspace(0, 1, THRESHOLDS), method="inverted_cdf")
        )
    right = ((pairs.said[:, None] >= cuts) == (pairs.truth[:, None] == 1)).astype(float)
    best = (pairs.n @ right).argmax()
    tail = (1 - shares.ci_prob) / 2
    low, high = np.quantile(cuts[(shares.drawn @ right).argmax(axis=1)], [tail, 1 - tail])
    ends = cuts[best], min(low, cuts[best]), max(high, cuts[best])
    rows, fold = _folds(pairs)
    scored = np.empty(len(rows))
    for k in range(FOLDS):
        others = np.bincount(rows[fold != k], minlength=len(pairs.n))
        scored[fold == k] = right[rows[fold == k], (others @ right).argmax()]
    accuracy = shares.row(lambda s: s @ right[:, best])
    optimism = accuracy[0] - scored.mean()
    passed = (pairs.said >= cuts[best]).astype(float)
    rates = pairs._replace(said=passed).rates(design, shares.ci_prob)
    return {
        "best_cut": ends,
        "accuracy": tuple(np.clip(np.subtract(accuracy, optimism), 0, 1)),
        **{name: rates[name] for name in ("sensitivity", "specificity")},
    }


def _gain(
    pairs: Pairs, scores: Labelled, unit: np.ndarray, shares: Posterior
) -> dict[str, tuple[float, float, float]]:
    """How much better than the base rate scores predict labels, as they are and recalibrated."""
    z, loss = scores.z(pairs.said), np.zeros(len(pairs.n))
    rows, fold = _folds(pairs)
    for k in range(FOLDS):
        held_out, others = (np.bincount(rows[x], minlength=len(z)) for x in (fold == k, fold != k))
        (level, slope), chance = _curve(z, pairs.truth, others.astype(float))
        curve = chance @ (1 / (1 + np.exp(-level[:, None] - slope[:, None] * z)))
        loss += held_out * (curve - pairs.truth) ** 2 / np.maximum(pairs.n, 1)
    losses = {"gain": (unit - pairs.truth) ** 2, "gain_recalibrated": loss}

    def of(drawn: np.ndarray, loss: np.ndarray) -> np.ndarray:
        base = drawn @ pairs.truth
        spread = base * (1 - base)  # none if all labels are alike: then nothing is gained or lost
        return 1 - (drawn @ loss) / np.where(spread > 1e-12, spread, np.nan)

    return {name: shares.row(partial(of, loss=losses_of)) for name, losses_of in losses.items()}
