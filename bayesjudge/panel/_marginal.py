r"""The likelihood of votes with truths summed out, and its slopes, as one operation.

Items with the same votes are one ballot. For an item of class k its probability is a sum over the
nodes of a quadrature,

.. math:: P_{bk} = \sum_n w_n \prod_j p_{j v_{bj} k n},

of which there is one where judges share no effect. A labelled item adds :math:`\log P_{bk}` of its
class, an unlabelled one of generator g :math:`\log \sum_k \pi_{gk} P_{bk}`. A ballot has two
halves, the votes of half of the judges each, and far fewer halves occur than ballots.

Probabilities are multiplied as they are, so that no node takes a logarithm; those too small for
that are added up again in logarithms. Without a C++ compiler a graph of array operations spends
most of its time on passing arrays on: one operation takes a third to a fifth of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import numpy as np

from bayesjudge.core.counting import distinct
from bayesjudge.panel._em import Problem
from bayesjudge.panel.data import MISSING, Votes
from bayesjudge.truth.effects import Operation

#: Probabilities below it are computed by logarithms; the product of two others is a normal number.
TINY = 1e-150


@dataclass(frozen=True, eq=False)
class Ballots:
    """Distinct votes as two halves each, and how many items have them.

    A column is a response of a judge, as in `Problem`; one more stands for the weights of nodes.
    """

    start: np.ndarray  #: where the columns of each half start, and where the last ones end
    column: np.ndarray  #: of each half in turn; a response that a judge gave twice is there twice
    halves: np.ndarray  #: both halves of each ballot
    labelled: np.ndarray  #: items with a label, by ballot and class
    shares: np.ndarray  #: the same by generator and class
    ballot: np.ndarray  #: of each row of unlabelled items
    generator: np.ndarray  #: of each such row
    count: np.ndarray  #: items in it

    @classmethod
    def of(cls, votes: Votes, missing: str, generator: np.ndarray, *, weighted: bool) -> Ballots:
        """Count the items of each row; `generator` says whose shares they tell."""
        first, ballot = distinct(votes.votes.astype(np.int64) + 1)
        halves, of_ballot = _halves(Problem(votes, missing).given[first], len(votes.judges))
        if weighted:  # each ballot once: its first half
            own = np.arange(len(halves))[:, None] < of_ballot[:, 1].min()
            halves = np.hstack([halves, own])
        half, column = np.nonzero(halves)
        times = halves[half, column].astype(np.int64)
        known = votes.truth != MISSING
        classes = np.eye(votes.n_classes)[votes.truth[known]] * votes.count[known, None]
        labelled = np.zeros((len(first), votes.n_classes))
        generators = len(votes.generators) + (not votes.design.same_items)
        shares = np.zeros((generators, votes.n_classes))
        np.add.at(labelled, ballot[known], classes)
        np.add.at(shares, generator[known], classes)
        return cls(
            start=np.searchsorted(np.repeat(half, times), np.arange(len(halves) + 1)),
            column=np.repeat(column, times),
            halves=of_ballot,
            labelled=labelled,
            shares=shares,
            ballot=ballot[~known],
            generator=generator[~known].astype(np.int64),
            count=votes.count[~known].astype(float),
        )

    def data(self) -> list[Any]:
        """Each array as data of the model."""
        import pymc as pm

        return [pm.Data(f"ballots_{f.name}", getattr(self, f.name)) for f in fields(self)]


def _halves(given: np.ndarray, judges: int) -> tuple[np.ndarray, np.ndarray]:
    """Distinct votes of either half of the judges, and which two of them each ballot has."""
    cut = (judges + 1) // 2 * (given.shape[1] // judges)
    found, places = np.zeros((0, given.shape[1])), []
    for part in (slice(0, cut), slice(cut, None)):
        votes = np.zeros_like(given)
        votes[:, part] = given[:, part]
        first, place = distinct(votes.astype(np.int64))
        places.append(len(found) + place)
        found = np.concatenate([found, votes[first]])
    return found, np.column_stack(places)


# Loops to be compiled -----------------------------------------------------------------------------
# The inner ones run over classes and nodes, whose numbers are known to the compiler. Unsigned
# positions, since others are checked for counting from the end.


@cache
def _products(cells: int) -> Callable[..., Any]:
    def products(probability: Any, start: Any, column: Any) -> Any:
        """Probability of each half by class and node."""
        n = start.shape[0] - 1
        out = np.ones((n, cells))
        for h in range(n):
            for i in range(start[h], start[h + 1]):
                c = np.uint64(column[i])
                for m in range(cells):
                    out[h, m] *= probability[c, m]
        return out

    return products


@cache
def _sums(classes: int, nodes: int) -> Callable[..., Any]:
    def sums(of_half: Any, halves: Any) -> Any:
        """Probability of each ballot by class."""
        n = halves.shape[0]
        out = np.empty((n, classes))
        for b in range(n):
            one, other = np.uint64(halves[b, 0]), np.uint64(halves[b, 1])
            for k in range(classes):
                total = 0.0
                for m in range(k * nodes, (k + 1) * nodes):
                    total += of_half[one, m] * of_half[other, m]
                out[b, k] = total
        return out

    return sums


@cache
def _by_logs(classes: int, nodes: int) -> Callable[..., Any]:
    def by_logs(p: Any, logs: Any, start: Any, column: Any, halves: Any) -> Any:
        """Log probability of each ballot by class; which were tiny, and each node's share there."""
        tiny, log_p = p < TINY, np.log(p)
        at, share = np.empty((tiny.sum(), 2), np.int64), np.zeros((tiny.sum(), nodes))
        i = 0
        for b in range(p.shape[0]):
            for k in range(classes):
                if not tiny[b, k]:
                    continue
                at[i, 0], at[i, 1] = b, k
                for h in halves[b]:
                    for j in range(start[h], start[h + 1]):
                        for n in range(nodes):
                            share[i, n] += logs[column[j], k * nodes + n]
                peak = share[i].max()
                if peak > -np.inf:
                    share[i] = np.exp(share[i] - peak)
                    log_p[b, k] = peak + np.log(share[i].sum())
                    share[i] /= share[i].sum()
                else:
                    share[i] = 0.0
                i += 1
        return log_p, at, share

    return by_logs


@cache
def _rows(classes: int) -> Callable[..., Any]:
    def rows(
        p: Any, log_p: Any, log_share: Any, labelled: Any, shares: Any, ballot: Any, generator: Any,
        count: Any,
    ) -> Any:  # fmt: skip
        """Log-likelihood, and its slopes by log probabilities of ballots and by log shares."""
        slope, by_share, share = labelled.copy(), shares.copy(), np.exp(log_share)
        value, chance = 0.0, np.empty(classes)
        for i in range(shares.shape[0]):
            for k in range(classes):
                if shares[i, k] > 0:
                    value += shares[i, k] * log_share[i, k]
        for i in range(labelled.shape[0]):
            for k in range(classes):
                if labelled[i, k] > 0:
                    value += labelled[i, k] * (log_p[i, k] if log_p.size else np.log(p[i, k]))
        for r in range(count.shape[0]):
            b, g = np.uint64(ballot[r]), np.uint64(generator[r])
            total, peak = 0.0, 0.0
            for k in range(classes):
                chance[k] = share[g, k] * p[b, k]
                total += chance[k]
            if log_p.size and total < TINY:
                for k in range(classes):
                    chance[k] = log_share[g, k] + log_p[b, k]
                peak = chance.max()
                total = 0.0
                for k in range(classes):
                    chance[k] = np.exp(chance[k] - peak)
                    total += chance[k]
            value += count[r] * (peak + np.log(total))
            for k in range(classes):
                step = count[r] * (chance[k] / total)
                slope[b, k] += step
                by_share[g, k] += step
        return value, slope, by_share

    return rows


@cache
def _slopes(classes: int, nodes: int) -> Callable[..., Any]:
    def slopes(
        of_half: Any, p: Any, slope: Any, at: Any, share: Any, start: Any, column: Any, halves: Any,
        columns: int,
    ) -> Any:  # fmt: skip
        """Slopes by the logarithm of each response's probability, by class and node."""
        cells = classes * nodes
        by_half, out, factor = np.zeros(of_half.shape), np.zeros((columns, cells)), np.empty(cells)
        for b in range(halves.shape[0]):
            one, other = np.uint64(halves[b, 0]), np.uint64(halves[b, 1])
            for k in range(classes):
                each = slope[b, k] / p[b, k] if p[b, k] >= TINY else 0.0
                for n in range(nodes):
                    factor[k * nodes + n] = each
            for m in range(cells):  # one half at a time: several steps of such a loop are one
                by_half[one, m] += factor[m] * of_half[other, m]
            for m in range(cells):
                by_half[other, m] += factor[m] * of_half[one, m]
        for h in range(by_half.shape[0]):
            for m in range(cells):
                by_half[h, m] *= of_half[h, m]
        for i in range(at.shape[0]):
            b, k = at[i]
            for n in range(nodes):
                step = slope[b, k] * share[i, n]
                by_half[halves[b, 0], k * nodes + n] += step
                by_half[halves[b, 1], k * nodes + n] += step
        for h in range(by_half.shape[0]):
            for i in range(start[h], start[h + 1]):
                c = np.uint64(column[i])
                for m in range(cells):
                    out[c, m] += by_half[h, m]
        return out

    return slopes


@cache
def _likelihood(classes: int, nodes: int, njit: Callable[..., Any]) -> Callable[..., Any]:
    products, sums = njit(_products(classes * nodes)), njit(_sums(classes, nodes))
    by_logs, rows = njit(_by_logs(classes, nodes)), njit(_rows(classes))
    slopes = njit(_slopes(classes, nodes))

    def likelihood(
        probability, logs, log_share,
        start, column, halves, labelled, shares, ballot, generator, count,
    ):  # fmt: skip
        """Log-likelihood, and its slopes by logarithms of responses' probabilities and shares.

        Without `logs` they are made of probabilities, if they are needed.
        """
        of_half = products(probability, start, column)
        p = sums(of_half, halves)
        log_p, at, nodes_share = np.empty((0, 0)), np.empty((0, 2), np.int64), np.empty((0, 0))
        if p.min() < TINY or np.exp(log_share.min()) < TINY:
            known = logs if logs.shape[0] else np.log(probability)
            log_p, at, nodes_share = by_logs(p, known, start, column, halves)
        about = labelled, shares, ballot, generator, count
        value, slope, by_share = rows(p, log_p, log_share, *about)
        columns = probability.shape[0]
        by_log = slopes(of_half, p, slope, at, nodes_share, start, column, halves, columns)
        return value, by_log, by_share

    return njit(likelihood)


@cache
def _of_classes(classes: int, nodes: int, njit: Callable[..., Any]) -> Callable[..., Any]:
    likelihood = _likelihood(classes, nodes, njit)

    def of_classes(
        logs, log_share, start, column, halves, labelled, shares, ballot, generator, count
    ):
        about = start, column, halves, labelled, shares, ballot, generator, count
        value, by_log, by_share = likelihood(np.exp(logs), logs, log_share, *about)
        return np.asarray(value), by_log, by_share

    return njit(of_classes)


# A shared effect ----------------------------------------------------------------------------------


@cache
def _responses(nodes: int) -> Callable[..., Any]:
    def responses(logits: Any, spread: Any, log_answering: Any, points: Any, weight: Any) -> Any:
        """Probability of each response by class and node, then the nodes' weights; and of verdicts.

        Of each judge's responses the first two are the verdicts, fail and pass.
        """
        judges, n = logits.shape[0], log_answering.shape[0]
        verdict, out = np.empty((judges, 2, 2 * nodes)), np.empty((n + 1, 2 * nodes))
        for k in range(2):
            for c in range(n):
                out[c, k * nodes : (k + 1) * nodes] = np.exp(log_answering[c, k])
            out[n, k * nodes : (k + 1) * nodes] = weight
        for j in range(judges):
            first = j * (n // judges)
            for k in range(2):
                for i in range(nodes):
                    logit, m = logits[j, k] + spread[k] * points[i], k * nodes + i
                    odds = np.exp(-abs(logit))
                    likely = 1 / (1 + odds)
                    verdict[j, 0, m] = odds * likely if logit > 0 else likely
                    verdict[j, 1, m] = likely if logit > 0 else odds * likely
            for m in range(2 * nodes):
                out[first, m] *= verdict[j, 0, m]
                out[first + 1, m] *= verdict[j, 1, m]
        return out, verdict

    return responses


@cache
def _by_logits(nodes: int) -> Callable[..., Any]:
    def by_logits(by_log: Any, verdict: Any, points: Any) -> Any:
        """Slopes by logits, spread and log probability of an answer, from those by responses."""
        judges, n = verdict.shape[0], by_log.shape[0] - 1
        by_logit, by_spread, by_answer = np.empty((judges, 2)), np.zeros(2), np.empty((n, 2))
        step = np.empty(nodes)
        for j in range(judges):
            first = j * (n // judges)
            for k in range(2):
                for i in range(nodes):
                    m = k * nodes + i
                    passed, failed = by_log[first + 1, m], by_log[first, m]
                    step[i] = passed * verdict[j, 0, m] - failed * verdict[j, 1, m]
                total, moment = 0.0, 0.0
                for i in range(nodes):
                    total += step[i]
                    moment += step[i] * points[i]
                by_logit[j, k] = total
                by_spread[k] += moment
        for c in range(n):
            for k in range(2):
                total = 0.0
                for m in range(k * nodes, (k + 1) * nodes):
                    total += by_log[c, m]
                by_answer[c, k] = total
        return by_logit, by_spread, by_answer

    return by_logits


@cache
def _of_logits(classes: int, nodes: int, njit: Callable[..., Any]) -> Callable[..., Any]:
    likelihood = _likelihood(classes, nodes, njit)
    responses, by_logits = njit(_responses(nodes)), njit(_by_logits(nodes))

    def of_logits(
        logits, spread, log_answering, log_share, points, weight,
        start, column, halves, labelled, shares, ballot, generator, count,
    ):  # fmt: skip
        probability, verdict = responses(logits, spread, log_answering, points, weight)
        about = start, column, halves, labelled, shares, ballot, generator, count
        value, by_log, by_share = likelihood(probability, probability[:0], log_share, *about)
        by_logit, by_spread, by_answer = by_logits(by_log, verdict, points)
        return np.asarray(value), by_logit, by_spread, by_answer, by_share

    return njit(of_logits)


# Judges of a population ---------------------------------------------------------------------------


def _judges(mean: Any, spread: Any, own: Any, guess: Any, error: Any) -> Any:
    """A part of every judge, such as the leniency, and the log-density of its coordinates `own`.

    As `_around_guess` has it; `far` is the distance from the mean, in standard deviations.
    """
    n, density = own.shape[0], 0.0
    part, far = np.empty(n), np.empty(n)
    for j in range(n):
        square = spread * spread + error[j] * error[j]
        far[j] = spread * (guess[j] - mean) / square + error[j] / np.sqrt(square) * own[j]
        part[j] = mean + spread * far[j]
        density -= (far[j] * far[j] + np.log(square)) / 2
    return part, far, density


def _by_judges(
    by_part: Any, far: Any, mean: Any, spread: Any, own: Any, guess: Any, error: Any
) -> Any:
    """Slopes by mean, spread and own coordinates, from those of the likelihood by the part."""
    by_mean, by_spread, by_own = 0.0, 0.0, np.empty(own.shape[0])
    for j in range(own.shape[0]):
        square = spread * spread + error[j] * error[j]
        each, away = error[j] / np.sqrt(square), (guess[j] - mean) / square
        by_far = by_part[j] * spread - far[j]
        by_own[j] = by_far * each
        by_mean += by_part[j] - by_far * spread / square
        by_spread += by_part[j] * far[j] - spread / square
        by_spread += by_far * (away - spread / square * (2 * spread * away + each * own[j]))
    return by_mean, by_spread, by_own


@cache
def _of_judges(classes: int, nodes: int, njit: Callable[..., Any]) -> Callable[..., Any]:
    of_logits, judges, by_judges = _of_logits(classes, nodes, njit), njit(_judges), njit(_by_judges)

    def of_judges(
        mean, spread, own, lenient_mean, lenient_spread, lenient_own, shared, log_answering,
        log_share, guess, error, lenient_guess, lenient_error, points, weight,
        start, column, halves, labelled, shares, ballot, generator, count,
    ):  # fmt: skip
        one = mean[()], spread[()], own, guess, error
        other = lenient_mean[()], lenient_spread[()], lenient_own, lenient_guess, lenient_error
        discrimination, far, density = judges(*one)
        leniency, lenient_far, more = judges(*other)
        logits = np.empty((own.shape[0], 2))
        for j in range(own.shape[0]):
            half = np.exp(discrimination[j]) / 2
            logits[j, 0], logits[j, 1] = leniency[j] - half, leniency[j] + half
        about = start, column, halves, labelled, shares, ballot, generator, count
        value, by_logit, by_shared, by_answer, by_share = of_logits(
            logits, shared, log_answering, log_share, points, weight, *about
        )
        for j in range(own.shape[0]):  # of low and high to those of the two parts
            half, low, high = (logits[j, 1] - logits[j, 0]) / 2, by_logit[j, 0], by_logit[j, 1]
            by_logit[j, 0], by_logit[j, 1] = (high - low) * half, low + high
        by_mean, by_spread, by_own = by_judges(by_logit[:, 0], far, *one)
        by_lenient = by_judges(by_logit[:, 1], lenient_far, *other)
        return (
            np.asarray(value[()] + density + more),
            np.asarray(by_mean), np.asarray(by_spread), by_own,
            np.asarray(by_lenient[0]), np.asarray(by_lenient[1]), by_lenient[2],
            by_shared, by_answer, by_share,
        )  # fmt: skip

    return njit(of_judges)


# Operations ---------------------------------------------------------------------------------------


class VotesByClass(Operation):
    """Log-likelihood of `Ballots`, which are the last inputs, and its slopes by the first two.

    These are log probabilities of responses (column, class), and log shares (generator, class).
    """

    unknown = (2, 2)

    @staticmethod
    def function(compiled: Callable[..., Any], *told: Any) -> Callable[..., Any]:
        """Of so many classes."""
        return _of_classes(*told, 1, compiled)


class VotesByJudges(Operation):
    """Of two classes whose judges, of one population, share a normal effect on each item.

    With the log-density of the judges' own coordinates. Inputs are mean, spread and own coordinates
    of the discrimination's logarithm, then of the leniency; standard deviations of the effect
    (class), log probabilities of giving such an answer (column, class), log shares (generator,
    class); what is guessed of each judge and its error, for both; points and weights of the nodes.
    """

    unknown = (0, 0, 1, 0, 0, 1, 1, 2, 2)

    @staticmethod
    def function(compiled: Callable[..., Any], *told: Any) -> Callable[..., Any]:
        """Of so many classes and nodes."""
        return _of_judges(*told, compiled)
