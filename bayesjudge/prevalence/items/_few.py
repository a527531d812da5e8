r"""The likelihood of items of which each system has few rows, with its gradient, as one operation.

An output is good with probability p, which depends on difficulty a and interaction c, and a verdict
on a good or a bad one is a pass with probability h or w, which depend on the judge's leniency b. Of
rows without a label any number can be good. So the probability of a system's rows of an item,

.. math:: F_{ab} = \sum_{ij} \tbinom{passes}{i} \tbinom{fails}{j} \;
          \mathrm{E}_c[p_{ac}^{u} (1 - p_{ac})^{v}] \;
          h_b^{x} (1 - h_b)^{y} w_b^{z} (1 - w_b)^{r},

is a sum over the i passes and j fails that are good, with the numbers u and v of good and bad
outputs and x, y, z and r of their verdicts. Powers of few rows are not too small for a number, and
take no logarithm; most terms occur in many items, and each is computed once. An item whose rows all
have a label has one term: a factor that depends on a, and one that depends on b.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cache
from itertools import product
from math import comb
from typing import Any

import numpy as np

from bayesjudge.compiled import jitable
from bayesjudge.core.counting import collapse, distinct
from bayesjudge.prevalence.items._marginal import Answers
from bayesjudge.truth.effects import Operation, by_factors, centres, summed_products

#: Rows of an item and a system up to which powers of probabilities are multiplied, of at least:
MOST_ROWS, LEAST = 8, float(np.exp(-40.0))
#: Labelled rows of an item, over all systems, up to which their powers are multiplied: no product
#: is smaller than a number can be.
MOST_OF_ITEM = 16
#: Nodes are filled up to a multiple of it with some of no weight, for a processor's wide registers.
LANES = 8


@dataclass(frozen=True, eq=False)
class Terms:
    """Distinct powers of probabilities, and of which of them items' probabilities are made."""

    truths: np.ndarray  #: system, numbers of good and of bad outputs
    verdicts: np.ndarray  #: system, passes and fails of good outputs, and of bad ones
    chances: np.ndarray  #: an answer, and truths of some terms of it
    ways: np.ndarray  #: a row of `chances`, verdicts of a term, and in how many ways they come
    answers_of: np.ndarray  #: of items with an unlabelled row, by system; -1 without a row
    answers_count: np.ndarray
    truths_of: np.ndarray  #: the same of items whose rows all have a label
    truths_count: np.ndarray
    verdicts_of: np.ndarray
    verdicts_count: np.ndarray

    @classmethod
    def of(cls, answers: Answers, tells: bool) -> Terms:
        """Make the terms of answers; labels tell the truths of items if `tells`."""
        cells = np.concatenate([answers.cells, np.zeros((1, 6), int)])[answers.answer_of]
        open_ = cells[:, :, 4:].any(axis=(1, 2)) | (cells.sum(axis=(1, 2)) > MOST_OF_ITEM)
        used = np.unique(answers.answer_of[open_])
        place = np.full(len(answers.cells) + 1, -1)  # the last one is that of no row
        place[used[used >= 0]] = np.arange((used >= 0).sum())
        rows = [
            (k, system, *term)
            for k, (system, row) in enumerate(zip(answers.system, answers.cells, strict=True))
            for term in _terms_of(row, tells)
        ]
        terms = np.array(rows, np.int64)
        answer, ways = terms[:, 0], terms[:, -1]
        truths, verdicts = terms[:, 1:4], terms[:, [1, 4, 5, 6, 7]]
        (first_truth, truth), (first_verdict, verdict) = distinct(truths), distinct(verdicts)
        mine = place[answer] >= 0
        chances = np.column_stack([place[answer], truth])[mine]
        first_chance, chance = distinct(chances)
        labelled, alone = answers.count[~open_], np.full((2, len(place)), -1)
        alone[:, answer] = truth, verdict  # the only ones of an answer that has labels only
        return cls(
            truths[first_truth],
            verdicts[first_verdict],
            chances[first_chance],
            np.column_stack([chance, verdict[mine], ways[mine]]),
            *_collapsed(place[answers.answer_of[open_]], answers.count[open_]),
            *_collapsed(alone[0][answers.answer_of[~open_]], labelled),
            *_collapsed(alone[1][answers.answer_of[~open_]], labelled),
        )

    def data(self) -> list[Any]:
        """Each array as data of the model."""
        import pymc as pm

        return [pm.Data(f"items_{f.name}", getattr(self, f.name)) for f in fields(self)]


def _terms_of(cells: np.ndarray, tells: bool) -> Iterator[tuple[int, ...]]:
    """Numbers of good and bad outputs, of verdicts on them, and of ways, for each term of a row."""
    wrong_fails, wrong_passes, misses, hits, fails, passes = map(int, cells)
    good, bad = (hits + misses, wrong_fails + wrong_passes) if tells else (0, 0)
    for i, j in product(range(passes + 1), range(fails + 1)):
        both, others = (good + i + j, bad + passes - i + fails - j), (passes - i, fails - j)
        how = hits + i, misses + j, wrong_passes + others[0], wrong_fails + others[1]
        yield *both, *how, comb(passes, i) * comb(fails, j)


def _collapsed(of: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct rows, and their items."""
    first, summed = collapse(of + 1, count)
    return of[first].astype(np.int64), summed.astype(float)


# Loops to be compiled -----------------------------------------------------------------------------
# The inner ones run over nodes, whose number is known to the compiler. Unsigned positions, since
# others are checked for counting from the end.


def _filled(n: int) -> int:
    return -(-n // LANES) * LANES


@cache
def _powers(nodes: int) -> Callable[..., Any]:
    def powers(good: Any, bad: Any, most: int) -> Any:
        """Powers 0 to `most` of the probabilities of 1, then of 0, of each system in turn."""
        n = good.shape[0]
        out = np.ones((2 * n * (most + 1), nodes))
        for s in range(2 * n):
            first, k = np.uint64(s * (most + 1) + 1), np.uint64(s if s < n else s - n)
            for i in range(nodes):
                out[first, i] = max(good[k, i] if s < n else bad[k, i], LEAST)
            for e in range(1, most):
                now, after = np.uint64(s * (most + 1) + e), np.uint64(s * (most + 1) + e + 1)
                for i in range(nodes):
                    out[after, i] = out[now, i] * out[first, i]
        return out

    return powers


@cache
def _nodes(na: int, nb: int, nc: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    wide, deep = _filled(na), _filled(nb)

    def nodes(points: Any, spreads: Any, weights: Any) -> Any:
        """Effects on truth and verdict at their nodes, filled up, and weights."""
        (pa, pb, pc), (wa, wb, wc) = points, weights
        a, b, c = spreads[0], spreads[1], spreads[2]
        shift, weight = np.zeros(nc * wide), np.zeros(nc * wide)
        lean, weight_b, weight_a = np.zeros(deep), np.zeros(deep), np.zeros(wide)
        whole = np.empty(nb * wide)
        weight_a[:na], weight_b[:nb] = wa, wb
        for i in range(nb):
            lean[i] = b * pb[i]
            for j in range(wide):
                whole[i * wide + j] = wb[i] * weight_a[j]
        for i in range(nc):
            for j in range(na):
                shift[i * wide + j] = a * pa[j] + c * pc[i]
                weight[i * wide + j] = wa[j] * wc[i]
        return (shift, weight), (lean, weight_b), weight_a, whole

    def by_spread(points: Any, shift_bar: Any, lean_bar: Any) -> Any:
        """Slopes by the three spreads, from those by effects."""
        (pa, pb, pc), out = points, np.zeros(3)
        for i in range(nb):
            out[1] += pb[i] * lean_bar[i]
        for i in range(nc):
            for j in range(na):
                out[0] += pa[j] * shift_bar[i * wide + j]
                out[2] += pc[i] * shift_bar[i * wide + j]
        return out

    return nodes, by_spread


@cache
def _by_shares(nodes: int) -> Callable[..., Any]:
    def by_shares(logit_bar: Any, by_share: Any, by_shift: Any) -> Any:
        """Slopes by the shares of systems and by effects, from those by logits at the nodes."""
        share_bar, shift_bar = np.empty(by_share.size), np.zeros(nodes)
        for s in range(by_share.size):
            whole = 0.0
            for i in range(nodes):
                whole += logit_bar[s, i]
            share_bar[s] = whole * by_share[s]
            for i in range(nodes):
                shift_bar[i] += logit_bar[s, i] + whole * by_shift[s, i]
        return share_bar, shift_bar

    return by_shares


def _together(rows: Any, shift: Any, weight: Any, of: Any, count: Any, bar: Any) -> Any:
    """Log-likelihood of products of rows, summed over the nodes; adds slopes to `bar`."""
    value, found = summed_products(rows, rows[:0], shift, weight, of, count)
    by_factors(rows, found)
    for k in range(bar.shape[0]):
        for e in range(bar.shape[1]):
            bar[k, e] += found[k, e]
    return value


@cache
def _truths(na: int, nc: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    wide = _filled(na)

    def moments(power: Any, weight: Any, truths: Any, systems: int) -> Any:
        """Chances of so many good and bad outputs at the nodes of difficulty."""
        step, out = power.shape[0] // (2 * systems), np.zeros((truths.shape[0], wide))
        for r in range(truths.shape[0]):
            good = np.uint64(truths[r, 0] * step + truths[r, 1])
            bad = np.uint64((systems + truths[r, 0]) * step + truths[r, 2])
            for c in range(nc):
                w = weight[c]
                for i in range(wide):
                    out[r, i] += w * power[good, c * wide + i] * power[bad, c * wide + i]
        return out

    def slopes(power: Any, weight: Any, truths: Any, bar: Any, systems: int) -> Any:
        """Slopes by the logits of a good output, from those by moments."""
        step, out = power.shape[0] // (2 * systems), np.zeros((systems, nc * wide))
        for r in range(truths.shape[0]):
            s, one = np.uint64(truths[r, 0]), np.uint64(truths[r, 0] * step + 1)
            good = np.uint64(truths[r, 0] * step + truths[r, 1])
            bad = np.uint64((systems + truths[r, 0]) * step + truths[r, 2])
            n, both = float(truths[r, 1]), float(truths[r, 1] + truths[r, 2])
            for c in range(nc):
                w = weight[c]
                for i in range(wide):
                    e = c * wide + i
                    g = w * bar[r, i] * power[good, e] * power[bad, e]
                    out[s, e] += g * (n - both * power[one, e])
        return out

    return moments, slopes


@cache
def _verdicts(nb: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    deep = _filled(nb)

    def places(verdicts: Any, t: int, systems: int, step: int) -> Any:
        """Rows of the powers: of good outputs' passes and fails, and of bad ones'."""
        good, bad = verdicts[t, 0] * step, (systems + verdicts[t, 0]) * step
        none = 2 * systems * step
        return (
            np.uint64(good + verdicts[t, 1]),
            np.uint64(none + good + verdicts[t, 2]),
            np.uint64(bad + verdicts[t, 3]),
            np.uint64(none + bad + verdicts[t, 4]),
        )

    place = jitable(places)

    def products(power: Any, verdicts: Any, systems: int) -> Any:
        """Chances of verdicts on good and on bad outputs at the nodes of leniency."""
        step, out = power.shape[0] // (4 * systems), np.empty((verdicts.shape[0], deep))
        for t in range(verdicts.shape[0]):
            h, m, w, r = place(verdicts, t, systems, step)
            for i in range(deep):
                out[t, i] = power[h, i] * power[m, i] * power[w, i] * power[r, i]
        return out

    def slopes(power: Any, verdicts: Any, product: Any, bar: Any, systems: int) -> Any:
        """Slopes by the logits of a pass on good, then on bad outputs, from those by products."""
        step, out = power.shape[0] // (4 * systems), np.zeros((2 * systems, deep))
        for t in range(verdicts.shape[0]):
            good, bad = np.uint64(verdicts[t, 0]), np.uint64(systems + verdicts[t, 0])
            hit = np.uint64(verdicts[t, 0] * step + 1)
            wrong = np.uint64((systems + verdicts[t, 0]) * step + 1)
            hits, n = float(verdicts[t, 1]), float(verdicts[t, 1] + verdicts[t, 2])
            passes, m = float(verdicts[t, 3]), float(verdicts[t, 3] + verdicts[t, 4])
            for i in range(deep):
                g = bar[t, i] * product[t, i]
                out[good, i] += g * (hits - n * power[hit, i])
                out[bad, i] += g * (passes - m * power[wrong, i])
        return out

    return products, slopes


@cache
def _answers(na: int, nb: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    wide, deep = _filled(na), _filled(nb)
    size = nb * wide

    def answers(moment: Any, product: Any, chances: Any, ways: Any, n: int) -> Any:
        """Chances of verdicts, answers over their sums at all nodes, and logarithms of the sums."""
        chance, f = np.zeros((chances.shape[0], deep)), np.zeros((n, size))
        for t in range(ways.shape[0]):
            to, v, times = np.uint64(ways[t, 0]), np.uint64(ways[t, 1]), float(ways[t, 2])
            for i in range(deep):
                chance[to, i] += times * product[v, i]
        for q in range(chances.shape[0]):
            of, r = np.uint64(chances[q, 0]), np.uint64(chances[q, 1])
            for b in range(nb):
                w = chance[q, b]
                for i in range(wide):
                    f[of, b * wide + i] += w * moment[r, i]
        shift = np.empty(n)
        for k in range(n):
            total = 0.0
            for e in range(size):
                total += f[k, e]
            shift[k] = np.log(total)
            for e in range(size):
                f[k, e] /= total
        return chance, f, shift

    def slopes(
        moment: Any, chance: Any, chances: Any, ways: Any, shift: Any, f_bar: Any,
        moment_bar: Any, product_bar: Any,
    ) -> None:  # fmt: skip
        """Add to the slopes by moments and products, from those by answers."""
        chance_bar = np.zeros((chances.shape[0], deep))
        for q in range(chances.shape[0]):
            k, r = np.uint64(chances[q, 0]), np.uint64(chances[q, 1])
            grown = np.exp(-shift[k])
            for b in range(nb):
                w, total = grown * chance[q, b], 0.0
                for i in range(wide):
                    total += f_bar[k, b * wide + i] * moment[r, i]
                    moment_bar[r, i] += w * f_bar[k, b * wide + i]
                chance_bar[q, b] = grown * total
        for t in range(ways.shape[0]):
            to, v, times = np.uint64(ways[t, 0]), np.uint64(ways[t, 1]), float(ways[t, 2])
            for i in range(deep):
                product_bar[v, i] += times * chance_bar[to, i]

    return answers, slopes


@cache
def _likelihood(na: int, nb: int, nc: int, njit: Callable[..., Any]) -> Callable[..., Any]:
    wide, deep, solved = _filled(na), _filled(nb), njit(centres)
    of_truth, of_verdict = njit(_powers(nc * wide)), njit(_powers(deep))
    by_prevalence, by_rate = njit(_by_shares(nc * wide)), njit(_by_shares(deep))
    nodes, by_spread = map(njit, _nodes(na, nb, nc))
    moments, by_truth = map(njit, _truths(na, nc))
    products, by_verdict = map(njit, _verdicts(nb))
    answers, by_answers = map(njit, _answers(na, nb))
    together = njit(_together)

    def likelihood(
        prevalence, rates, spreads, pa, pb, pc, wa, wb, wc,
        truths, verdicts, chances, ways, answers_of, answers_count, truths_of, truths_count,
        verdicts_of, verdicts_count,
    ):  # fmt: skip
        """Log-likelihood, and its slopes by prevalences, rates and spreads."""
        n, most = prevalence.size, max(truths[:, 1:].max(), verdicts[:, 1:].max(), 1)
        points = pa, pb, pc
        on_truth, on_verdict, weight_a, weight = nodes(points, spreads, (wa, wb, wc))
        _, theta_slope, shift_slope, good, bad = solved(prevalence, *on_truth)
        _, rate_slope, lean_slope, passed, failed = solved(rates, *on_verdict)
        truth, verdict = of_truth(good, bad, most), of_verdict(passed, failed, most)
        moment, product = moments(truth, wc, truths, n), products(verdict, verdicts, n)
        n_answers = chances[-1, 0] + 1 if chances.shape[0] else 0
        chance, f, shift = answers(moment, product, chances, ways, n_answers)

        f_bar, moment_bar = np.zeros(f.shape), np.zeros(moment.shape)
        product_bar, none = np.zeros(product.shape), np.zeros(max(len(moment), len(product)))
        value = together(f, shift, weight, answers_of, answers_count, f_bar)
        value += together(moment, none, weight_a, truths_of, truths_count, moment_bar)
        value += together(product, none, on_verdict[1], verdicts_of, verdicts_count, product_bar)

        by_answers(moment, chance, chances, ways, shift, f_bar, moment_bar, product_bar)
        truth_bar = by_truth(truth, wc, truths, moment_bar, n)
        verdict_bar = by_verdict(verdict, verdicts, product, product_bar, n)
        theta_bar, shift_bar = by_prevalence(truth_bar, theta_slope, shift_slope)
        rates_bar, lean_bar = by_rate(verdict_bar, rate_slope, lean_slope)
        return np.asarray(value), theta_bar, rates_bar, by_spread(points, shift_bar, lean_bar)

    return njit(likelihood)


class FewRows(Operation):
    """Log-likelihood of items with few rows, and its slopes by the first three inputs.

    These are the prevalence of each system; its share of passes on good outputs, then on bad ones;
    and the standard deviations of difficulty, leniency and interaction. Points of the three effects
    follow, weights of the three, and the arrays of `Terms`.
    """

    unknown = (1, 1, 1)

    @staticmethod
    def function(compiled: Callable[..., Any], *told: Any) -> Callable[..., Any]:
        """Of so many nodes of each effect."""
        return _likelihood(*told, compiled)
