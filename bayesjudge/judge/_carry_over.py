"""What another run's labels are worth to this one, and whether its own labels contradict them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import betaln, expit, logit

from bayesjudge.core import methods
from bayesjudge.core.estimate import Estimate, Quantity, Row
from bayesjudge.core.intervals import z_score
from bayesjudge.core.planning import Parts
from bayesjudge.prevalence import Counts, ErrorRates, exact
from bayesjudge.prevalence._boundary import extended
from bayesjudge.truth.importance import BetaPosterior, NotWeighed, interval_of
from bayesjudge.truth.quadrature import NotIntegrated, posterior_of

#: Nodes of the shares, and of the correlation, over which its posterior mean is computed.
NODES = 400, 80
#: Steps of the grid on which likelihoods at 0 and 1 are read off.
STEPS = 2000
#: Parts of the average with less weight are left out of its draws.
LEAST = 1e-3
RATES = ("prevalence", "sensitivity", "specificity")
Pairs = tuple[tuple[int, int], ...]


def discounted(pairs: Pairs, overdispersion: float) -> tuple[int, int]:
    """Labels of one class, and those judged rightly, that tell as much of another run's judge.

    Data sets scatter about the judge's rate, those of the labels and the new one alike. With n
    labels, a share w of them from each data set, and correlation rho within a data set, the rate in
    the new one is as uncertain as after n / (1 + n rho (1 + sum of w squared)) labels of its own.
    """
    n = np.array([total for total, _ in pairs], float)
    right = sum(k for _, k in pairs)
    if not n.sum():
        return 0, 0
    rho = correlation(pairs, overdispersion)
    worth = int(n.sum() / (1 + rho * (n.sum() + (n**2).sum() / n.sum())))
    return worth, round(worth * right / n.sum())


@lru_cache
def correlation(pairs: Pairs, expected: float) -> float:
    """Correlation of errors within a data set: its mean beforehand, or after several of them.

    The posterior mean of a beta-binomial's, with an exponential prior and a flat one of the rate.
    """
    pairs = tuple(pair for pair in pairs if pair[0])
    if len(pairs) < 2 or expected == 0:
        return expected
    n, k = np.array(pairs, float).T
    rate = (k.sum() + 0.5) / (n.sum() + 1)
    # rates around the pooled one, dense near it and out to either end
    logits = logit(rate) + np.sinh(np.linspace(-6, 6, NODES[0])) / np.sqrt(
        n.sum() * rate * (1 - rate)
    )
    rates = np.clip(expit(logits), 1e-12, 1 - 1e-12)
    prior = np.gradient(logits) * rates * (1 - rates)
    rho = np.geomspace(expected / 100, 0.95, NODES[1])
    size = (1 / rho - 1)[:, None]
    none = betaln(size * rates, size * (1 - rates))
    logs = np.log(prior) + sum(
        betaln(hits + size * rates, total - hits + size * (1 - rates)) - none
        for total, hits in zip(n, k, strict=True)
    )
    weights = np.exp(logs - logs.max()).sum(axis=1) * rho * np.exp(-rho / expected)
    return float(weights @ rho / weights.sum())


class Averaged:
    """Posterior of a prevalence, averaged over which of the judge's two rates carry over.

    Each rate has a robust prior: with probability `carries` what the other run's labels leave, and
    else a flat one.
    """

    def __init__(self, run: Counts, labels: Sequence[int], carries: float):
        self._parts, logs, self._kept = [], [], []
        before = np.zeros(4, int) if run.external_labels is None else run.external_labels
        for kept in itertools.product((True, False), repeat=2):
            both = np.array(labels) * np.repeat(kept, 2)
            part = posterior_of(replace(run, external_labels=before + both), ErrorRates())
            priors = [
                np.log(carries) - betaln(1 + right, 1 + n - right)
                if carried
                else np.log1p(-carries)
                for carried, n, right in zip(kept, labels[::2], labels[1::2], strict=True)
            ]
            self._parts.append(part)
            self._kept.append(kept)
            logs.append(part.log_evidence + sum(priors))
        weights = np.exp(np.array(logs) - max(logs))
        self._weights = weights / weights.sum()

    def weighed(self, run: Counts, labels: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Draws of prevalence, sensitivity and specificity (a row each), and their weights.

        Raises
        ------
        NotWeighed
            If points do not cover the posterior.
        """
        rows, weights = [], []
        for weight, kept in zip(self._weights, self._kept, strict=True):
            if weight < LEAST:
                continue
            good, hit, bad, caught = np.array(labels) * np.repeat(kept, 2)
            hits = np.array([[1 + hit, 1 + good - hit]])
            catches = np.array([[1 + caught, 1 + bad - caught]])
            share = np.array([tuple(ErrorRates().prevalence)])
            draws = BetaPosterior(run.verdicts, share, hits, catches).weighed()
            rows.append(np.column_stack([draws.values[name][:, 0] for name in RATES]))
            weights.append(weight * draws.weight)
        every = np.concatenate(weights)
        return np.concatenate(rows), every / every.sum()

    @property
    def mean(self) -> float:
        """Mean of the prevalence."""
        return float(self._weights @ [part.mean for part in self._parts])

    @property
    def carried(self) -> np.ndarray:
        """Probabilities that sensitivity and specificity carry over."""
        return self._weights @ np.array(self._kept)

    def cdf(self, share: Any) -> Any:
        """Posterior probability that the share is at most `share`."""
        return sum(w * part.cdf(share) for w, part in zip(self._weights, self._parts, strict=True))

    def interval(self, ci_prob: float) -> tuple[float, float]:
        """Equal-tailed, with an end moved to 0 or 1 where the data do not exclude it."""
        edges = np.linspace(0, 1, STEPS + 1)
        below = self.cdf(edges)
        mass = np.maximum(np.diff(below), 1e-300)
        depths = np.log(mass[[0, -1]] / mass.max())
        tails = [(1 - ci_prob) / 2, (1 + ci_prob) / 2]
        low, high = (self._quantile(p) for p in tails)
        return extended((low, high), tuple(depths), ci_prob)

    def _quantile(self, prob: float) -> float:
        from scipy.optimize import brentq

        return float(brentq(lambda x: float(self.cdf(x)) - prob, 0.0, 1.0, xtol=1e-9))


@dataclass(frozen=True)
class Shift:
    """By how much the card's calibration is off on a run, and which probes would tell.

    Parameters
    ----------
    row : Row
        The share by the card's rates alone, less the share.
    within : float
        Probability that this is no more than the margin.
    probes : int
        More random labels, with which four runs of five that have no shift would pass.
    """

    row: Row
    within: float
    probes: int


def shift_of(
    averaged: Averaged,
    run: Counts,
    labels: Sequence[int],
    known: Sequence[int],
    margin: float,
    ci_prob: float,
) -> Shift:
    """Of one run with probes, by the card's `labels` as they count and all of them (`known`)."""
    draws, weight = averaged.weighed(run, labels)
    good, hit, bad, caught = known
    q1, q0 = (hit + 1) / (good + 2), (caught + 1) / (bad + 2)
    share, hits, catches = draws.T
    probes = probes_for(weight @ draws, run, margin)
    if abs(youden := q1 + q0 - 1) < 1e-9:  # rates of chance tell no share
        return Shift(Row(np.nan, np.nan, np.nan), np.nan, probes)
    # (pass rate - 1 + q0) / (q1 + q0 - 1) less the share
    off = (share * (hits - q1) - (1 - share) * (catches - q0)) / youden
    within = float(weight @ (np.abs(off) <= margin))
    row = Row(*map(float, interval_of(off, weight, ci_prob, "eti")))
    return Shift(row, within, probes)


def probes_for(rates: np.ndarray, run: Counts, margin: float) -> int:
    """Random labels that are missing for an interval within the margin."""
    share, hit, caught = rates
    passed = share * hit + (1 - share) * (1 - caught)
    parts = np.array([passed, 1 - passed])
    right = np.array([share * hit, (1 - share) * caught]) / parts
    # an interval of 90 % within the margin, in 80 % of runs without a shift
    error = margin / (z_score(0.9) + z_score(0.8))
    wanted = Parts((parts * right * (1 - right)).sum()).labels(error)
    return int(np.ceil(max(wanted - run.labelled_n, 0)))


def estimated(
    counts: Counts,
    labels: Sequence[int],
    carries: float,
    ci_prob: float,
    known: Sequence[int],
    margin: float,
) -> Estimate:
    """The posterior of each system, by its own labels averaged over what carries over.

    `counts` hold the labels of systems that have none of their own.
    """
    posterior = exact(counts, ci_prob=ci_prob)
    share = posterior.quantities["prevalence"]
    rows = np.column_stack([share.value, share.low, share.high])
    kept, off = np.full((len(rows), 2), np.nan), np.full((len(rows), 3), np.nan)
    more = np.full((len(rows), 2), np.nan)
    for i in np.flatnonzero(np.atleast_1d(counts.labelled_n) > 0):
        run = counts if counts.systems is None else counts.system(counts.systems[int(i)])
        try:
            averaged = Averaged(run, labels, carries)
        except NotIntegrated:  # the row stays that of the system's own labels
            continue
        rows[i] = averaged.mean, *averaged.interval(ci_prob)
        kept[i] = averaged.carried
        if run.labels_tell_prevalence and run.has_quadrature:
            with suppress(NotWeighed):
                shift = shift_of(averaged, run, labels, known, margin, ci_prob)
                off[i], more[i] = shift.row, (shift.within, shift.probes)
    where = {} if counts.systems is None else {counts.dim: counts.systems}
    coords = {**where, "rate": ("sensitivity", "specificity")}
    chances = kept if where else kept[0]
    none, empty = np.full(chances.shape, np.nan), np.full(len(rows), np.nan)
    return replace(
        posterior,
        quantities={
            "prevalence": Quantity.over(tuple(rows.T), where or None),
            "carries_over": Quantity.over((chances, none, none), coords),
            "shift": Quantity.over(tuple(off.T), where),
            **{
                name: Quantity.over((column, empty, empty), where)
                for name, column in zip(("within_margin", "more_probes"), more.T, strict=True)
            },
        },
        method=methods.PASSPORT,
        source=f"{posterior.source}; Schmidli et al. (2014)",
    )
