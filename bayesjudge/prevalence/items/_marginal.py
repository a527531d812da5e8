r"""The likelihood of items, with the effects of item, system and judge integrated out.

An item's rows are independent given its difficulty a, the judge's leniency b on it, and an effect
of its own for each system (c, on the truth, where systems repeat; d, on the verdict, where the
judge does). With nodes x and weights w of Gauss-Hermite quadrature, the probability of its rows is

.. math:: \sum_{ab} w_a w_b \prod_s F_{s, ab}, \qquad
          F_{s, ab} = \sum_{cd} w_c w_d \prod_{rows} p(row \mid a, b, c, d).

Systems whose rows are alike have one F (an *answer*), and items whose rows are alike are one
pattern, so that the cost grows with the distinct ones. Rows with a label split into a factor of
(a, c) and one of (b, d); only rows without one need all four.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from scipy.special import expit, logsumexp

from bayesjudge.compiled import in_numba, jitable
from bayesjudge.core.counting import collapse, distinct
from bayesjudge.prevalence.items.data import UNLABELLED, Items

RATES = ("prevalence", "sensitivity", "specificity")
#: Beyond so many standard deviations a normal effect is not integrated.
REACH = 4.5
#: Numbers of an array that `by_pattern` holds at once.
LARGEST = 5_000_000
#: Newton steps to a centre at most; a handful are taken.
MOST_STEPS = 50
#: Logits further out are as good as there: products of their exponentials are numbers.
FAREST = 300.0


@dataclass(frozen=True, eq=False)
class Answers:
    """Distinct rows of one system for one item, and which of them each pattern has."""

    cells: np.ndarray  #: (n_answers, 6): bad fail, bad pass, good fail, good pass, fail, pass
    system: np.ndarray  #: (n_answers,)
    answer_of: np.ndarray  #: (n_patterns, n_systems); -1 without a row
    count: np.ndarray  #: (n_patterns,)

    @classmethod
    def of(cls, items: Items) -> Answers:
        """Collapse to answers; labels that tell the judge's rates only are items of their own."""
        cells, count = items.cells, items.count
        if not items.design.same_items:
            known, others = cells.copy(), cells.copy()
            known[:, :, UNLABELLED], others[:, :, :UNLABELLED] = 0, 0
            cells, count = np.concatenate([known, others]), np.tile(count, 2)
            seen = cells.any(axis=(1, 2, 3))
            cells, count = cells[seen], count[seen]
        flat = cells.reshape(len(cells), -1)
        first, count = collapse(flat, count)
        flat = flat[first].reshape(len(first), len(items.systems), 6)
        there = flat.any(axis=2)
        pattern, system = np.nonzero(there)
        rows = np.column_stack([system, flat[there]])
        one, place = distinct(rows)
        answer_of = np.full(there.shape, -1, np.int64)
        answer_of[pattern, system] = place
        return cls(rows[one, 1:], rows[one, 0], answer_of, count)


def quadrature(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights of Gauss-Hermite quadrature, those of no weight left out.

    A rule of higher order has its inner points closer together, and its outer ones where a normal
    effect never is; without these, as many points resolve an item of many rows better.
    """
    order = max(nodes, int(np.ceil((nodes * np.pi / (2 * REACH)) ** 2)))
    points, weights = np.polynomial.hermite_e.hermegauss(order)
    inner = slice((order - nodes) // 2, (order - nodes) // 2 + nodes)
    points, weights = points[inner], weights[inner]
    # a normal effect of variance 1 whatever was left out
    weights = weights / weights.sum()
    points = points - weights @ points
    spread = float(np.sqrt(weights @ points**2))
    return points / spread, weights


@jitable
def _sigmoids(x):
    """Probabilities of 1 and of 0, and their logarithms."""
    log1, log0, p1, p0 = np.empty_like(x), np.empty_like(x), np.empty_like(x), np.empty_like(x)
    for s in range(x.shape[0]):
        for i in range(x.shape[1]):
            log1[s, i] = min(x[s, i], 0.0) - np.log1p(np.exp(-abs(x[s, i])))
            log0[s, i] = log1[s, i] - x[s, i]
            p1[s, i], p0[s, i] = np.exp(log1[s, i]), np.exp(log0[s, i])
    return log1, log0, p1, p0


@jitable
def _scaled_exp(out, a, x, b, y):
    """Set `out` to exp(a x + b y) over its largest value, and return the logarithm of that."""
    most = -np.inf
    for i in range(out.size):
        out[i] = a * x[i] + b * y[i]
        most = max(most, out[i])
    for i in range(out.size):
        out[i] = np.exp(out[i] - most)
    return most


@jitable
def _dot(x, y):
    """Sum of products, in four sums that do not wait for each other."""
    one, two, three, four, whole = 0.0, 0.0, 0.0, 0.0, x.size // 4 * 4
    for e in range(0, whole, 4):
        one += x[e] * y[e]
        two += x[e + 1] * y[e + 1]
        three += x[e + 2] * y[e + 2]
        four += x[e + 3] * y[e + 3]
    for e in range(whole, x.size):
        one += x[e] * y[e]
    return (one + two) + (three + four)


@jitable
def _over_items(f, shift, wa, wb, answer_of, count):
    """Log-likelihood of the patterns of items, and its gradient by `f`, their answers' factors."""
    n_systems, size = answer_of.shape[1], f.shape[1]
    before, after = np.empty((n_systems + 1, size)), np.empty(size)
    for e in range(size):
        before[0, e] = wa[e // wb.size] * wb[e % wb.size]
    value, f_bar, there = 0.0, np.zeros(f.shape), np.empty(n_systems, np.int64)
    for i in range(count.size):
        n = 0
        for s in range(n_systems):
            if answer_of[i, s] >= 0:
                there[n] = answer_of[i, s]
                value += count[i] * shift[there[n]]
                n += 1
        for s in range(n - 1):
            k = there[s]
            for e in range(size):
                before[s + 1, e] = before[s, e] * f[k, e]
        k = there[n - 1]
        total = _dot(before[n - 1], f[k])
        value += count[i] * np.log(total)
        grown = count[i] / total
        for e in range(size):
            f_bar[k, e] += before[n - 1, e] * grown
            after[e] = grown * f[k, e]
        for s in range(n - 2, -1, -1):
            k = there[s]
            for e in range(size):
                f_bar[k, e] += before[s, e] * after[e]
                after[e] *= f[k, e]
    return value, f_bar


def _of_outputs(x, y1, y0, wa, wb, wc, cells, system, answer_of, count, tells):
    """Log-likelihood of outputs judged once, and its gradient by the logits `x`, `y1` and `y0`.

    The logits are those of a good output (system, a, c), and of a pass on a good and on a bad one
    (system, b).
    """
    n_systems, na, nc = x.shape
    nb, nac, n_answers = y1.shape[1], na * nc, system.size
    lp, lp1, p, p1 = _sigmoids(x.copy().reshape((n_systems, nac)))
    (lh, lh1, h, h1), (lw, lw1, w, w1) = _sigmoids(y1), _sigmoids(y0)

    # verdicts without a label, by distinct numbers of fails and passes of a system
    open_of, opened, n_open = np.full(n_answers, -1), np.empty((n_answers, 3), np.int64), 0
    for k in range(n_answers):
        if cells[k, 4] + cells[k, 5] == 0:
            continue
        for j in range(n_open):
            same = opened[j, 0] == system[k] and opened[j, 1] == cells[k, 4]
            if same and opened[j, 2] == cells[k, 5]:
                open_of[k] = j
                break
        if open_of[k] < 0:
            opened[n_open] = system[k], cells[k, 4], cells[k, 5]
            open_of[k] = n_open
            n_open += 1
    size = nac * nb
    passed, failed = np.empty((n_systems, size)), np.empty((n_systems, size))
    log_passed, log_failed = np.empty((n_systems, size)), np.empty((n_systems, size))
    for s in range(n_systems if n_open > 0 else 0):
        for at in range(size):  # no logarithm of 0, however far a sampler strays
            i, b = at // nb, at % nb
            passed[s, at] = p[s, i] * h[s, b] + p1[s, i] * w[s, b] + 1e-300
            failed[s, at] = p[s, i] * h1[s, b] + p1[s, i] * w1[s, b] + 1e-300
            log_passed[s, at], log_failed[s, at] = np.log(passed[s, at]), np.log(failed[s, at])
    open_f, open_shift = np.empty((n_open, size)), np.zeros(n_open)
    alone = np.zeros((n_open, na * nb))  # answers without a label
    for j in range(n_open):
        s, fails, passes = opened[j, 0], opened[j, 1], opened[j, 2]
        open_shift[j] = _scaled_exp(open_f[j], fails, log_failed[s], passes, log_passed[s])
        for i in range(nac):
            for b in range(nb):
                alone[j, i // nc * nb + b] += wc[i % nc] * open_f[j, i * nb + b]

    # answers at the nodes of difficulty and leniency
    part_a, part_b = np.empty((n_answers, nac)), np.empty((n_answers, nb))
    sums_a = np.empty((n_answers, na))
    f, shift = np.empty((n_answers, na * nb)), np.zeros(n_answers)
    for k in range(n_answers):
        s, j = system[k], open_of[k]
        bad, good = cells[k, 0] + cells[k, 1], cells[k, 2] + cells[k, 3]
        if good + bad == 0:
            f[k, :], shift[k] = alone[j], open_shift[j]
            continue
        most = -np.inf
        for b in range(nb):
            part_b[k, b] = cells[k, 0] * lw1[s, b] + cells[k, 1] * lw[s, b]
            part_b[k, b] += cells[k, 2] * lh1[s, b] + cells[k, 3] * lh[s, b]
            most = max(most, part_b[k, b])
        for b in range(nb):
            part_b[k, b] = np.exp(part_b[k, b] - most)
        told = 1.0 if tells else 0.0
        shift[k] = most + _scaled_exp(part_a[k], told * good, lp[s], told * bad, lp1[s])
        sums_a[k, :] = 0.0
        for i in range(nac):
            part_a[k, i] *= wc[i % nc]
            sums_a[k, i // nc] += part_a[k, i]
        if j < 0:  # every row has a label: a product
            for a in range(na):
                for b in range(nb):
                    f[k, a * nb + b] = sums_a[k, a] * part_b[k, b]
            continue
        shift[k] += open_shift[j]
        f[k, :] = 0.0
        for i in range(nac):
            for b in range(nb):
                both = part_a[k, i] * part_b[k, b]
                f[k, i // nc * nb + b] += both * open_f[j, i * nb + b]

    value, f_bar = _over_items(f, shift, wa, wb, answer_of, count)

    # backwards
    x_bar = np.zeros((n_systems, nac))
    y1_bar, y0_bar = np.zeros((n_systems, nb)), np.zeros((n_systems, nb))
    alone_bar, open_bar = np.zeros((n_open, na * nb)), np.zeros((n_open, size))
    a_bar, b_bar = np.empty(nac), np.empty(nb)
    for k in range(n_answers):
        s, j = system[k], open_of[k]
        bad, good = cells[k, 0] + cells[k, 1], cells[k, 2] + cells[k, 3]
        if good + bad == 0:
            for e in range(na * nb):
                alone_bar[j, e] += f_bar[k, e]
            continue
        a_bar[:], b_bar[:] = 0.0, 0.0
        if j < 0:
            for a in range(na):
                inner = 0.0
                for b in range(nb):
                    g = f_bar[k, a * nb + b]
                    inner += g * part_b[k, b]
                    b_bar[b] += g * sums_a[k, a]
                for i in range(a * nc, (a + 1) * nc):
                    a_bar[i] = inner
        else:
            for i in range(nac):
                inner = 0.0
                for b in range(nb):
                    g, at = f_bar[k, i // nc * nb + b], i * nb + b
                    inner += g * part_b[k, b] * open_f[j, at]
                    b_bar[b] += g * part_a[k, i] * open_f[j, at]
                    open_bar[j, at] += g * part_a[k, i] * part_b[k, b]
                a_bar[i] = inner
        if tells:
            for i in range(nac):
                x_bar[s, i] += a_bar[i] * part_a[k, i] * (good - (good + bad) * p[s, i])
        for b in range(nb):
            grown = b_bar[b] * part_b[k, b]
            y1_bar[s, b] += grown * (cells[k, 3] - good * h[s, b])
            y0_bar[s, b] += grown * (cells[k, 1] - bad * w[s, b])
    pass_bar, fail_bar = np.zeros((n_systems, size)), np.zeros((n_systems, size))
    for j in range(n_open):
        s, fails, passes = opened[j, 0], opened[j, 1], opened[j, 2]
        for at in range(size):
            i, b = at // nb, at % nb
            g = open_bar[j, at] + wc[i % nc] * alone_bar[j, i // nc * nb + b]
            pass_bar[s, at] += passes * g * open_f[j, at]
            fail_bar[s, at] += fails * g * open_f[j, at]
    for s in range(n_systems if n_open > 0 else 0):
        for at in range(size):
            i, b = at // nb, at % nb
            g, e = pass_bar[s, at], fail_bar[s, at]
            good_if_pass = p[s, i] * h[s, b] / passed[s, at]
            good_if_fail = p[s, i] * h1[s, b] / failed[s, at]
            x_bar[s, i] += g * (good_if_pass - p[s, i]) + e * (good_if_fail - p[s, i])
            y1_bar[s, b] += g * good_if_pass * h1[s, b] - e * good_if_fail * h[s, b]
            y0_bar[s, b] += g * (1 - good_if_pass) * w1[s, b] - e * (1 - good_if_fail) * w[s, b]
    return value, x_bar.reshape(x.shape), y1_bar, y0_bar


def _of_verdicts(x, y1, y0, wa, wb, wd, cells, system, answer_of, count, tells):
    """Log-likelihood of outputs judged again and again, and its gradient by the three logits.

    These are of a good output (system, a), and of a pass on a good and on a bad one (system, b, d).
    """
    (n_systems, na), (nb, nd), n_answers = x.shape, y1.shape[1:], system.size
    nbd = nb * nd
    _, _, p, p1 = _sigmoids(x)
    lh, lh1, h, h1 = _sigmoids(y1.copy().reshape((n_systems, nbd)))
    lw, lw1, w, w1 = _sigmoids(y0.copy().reshape((n_systems, nbd)))
    of_good, of_bad = np.empty((n_answers, nbd)), np.empty((n_answers, nbd))
    sums_good, sums_bad = np.zeros((n_answers, nb)), np.zeros((n_answers, nb))
    chance, chance1 = np.zeros((n_answers, na)), np.zeros((n_answers, na))
    f, shift = np.empty((n_answers, na * nb)), np.zeros(n_answers)
    for k in range(n_answers):
        s = system[k]
        is_bad, is_good = cells[k, 0] + cells[k, 1] > 0, cells[k, 2] + cells[k, 3] > 0
        fails = cells[k, 0] + cells[k, 2] + cells[k, 4]
        passes = cells[k, 1] + cells[k, 3] + cells[k, 5]
        good = _scaled_exp(of_good[k], fails, lh1[s], passes, lh[s])
        bad = _scaled_exp(of_bad[k], fails, lw1[s], passes, lw[s])
        shift[k] = max(good, bad)
        for i in range(nbd):
            of_good[k, i] *= wd[i % nd] * np.exp(good - shift[k])
            of_bad[k, i] *= wd[i % nd] * np.exp(bad - shift[k])
            sums_good[k, i // nd] += of_good[k, i]
            sums_bad[k, i // nd] += of_bad[k, i]
        known = (is_good or is_bad) and not tells
        for a in range(na):
            chance[k, a] = 0.0 if is_bad else 1.0 if known else p[s, a]
            chance1[k, a] = 0.0 if is_good else 1.0 if known else p1[s, a]
            for b in range(nb):
                both = chance[k, a] * sums_good[k, b] + chance1[k, a] * sums_bad[k, b]
                f[k, a * nb + b] = both

    value, f_bar = _over_items(f, shift, wa, wb, answer_of, count)

    x_bar = np.zeros((n_systems, na))
    y1_bar, y0_bar = np.zeros((n_systems, nbd)), np.zeros((n_systems, nbd))
    for k in range(n_answers):
        s = system[k]
        is_bad, is_good = cells[k, 0] + cells[k, 1] > 0, cells[k, 2] + cells[k, 3] > 0
        fails = cells[k, 0] + cells[k, 2] + cells[k, 4]
        passes = cells[k, 1] + cells[k, 3] + cells[k, 5]
        for b in range(nb):
            good, bad = 0.0, 0.0
            for a in range(na):
                g = f_bar[k, a * nb + b]
                good += g * chance[k, a]
                bad += g * chance1[k, a]
                if tells or not (is_good or is_bad):
                    slope = g * p[s, a] * p1[s, a]
                    x_bar[s, a] += 0.0 if is_bad else slope * sums_good[k, b]
                    x_bar[s, a] -= 0.0 if is_good else slope * sums_bad[k, b]
            for i in range(b * nd, (b + 1) * nd):
                y1_bar[s, i] += good * of_good[k, i] * (passes * h1[s, i] - fails * h[s, i])
                y0_bar[s, i] += bad * of_bad[k, i] * (passes * w1[s, i] - fails * w[s, i])
    return value, x_bar, y1_bar.reshape(y1.shape), y0_bar.reshape(y0.shape)


def _evaluate(x, y1, y0, wa, wb, wc, wd, cells, system, answer_of, count, tells, judge):
    """Log-likelihood, and its gradient by the logits of truth and of a pass on good and bad.

    Shapes: x (systems, a, c), y1 and y0 (systems, b, d). The interaction is either c or d.
    """
    given = cells, system, answer_of, count, tells
    if judge:
        value, *slopes = _of_verdicts(x[:, :, 0], y1, y0, wa, wb, wd, *given)
    else:
        value, *slopes = _of_outputs(x, y1[:, :, 0], y0[:, :, 0], wa, wb, wc, *given)
    return value, *(slope.reshape(v.shape) for slope, v in zip(slopes, (x, y1, y0), strict=True))


#: Compiled code is kept on disk by an operation's properties: new source must not find old code.
CODE = hashlib.sha256(inspect.getsource(sys.modules[__name__]).encode()).hexdigest()[:16]


class LogLikelihood(Op):
    """Log-likelihood of items, with its gradient by the three arrays of logits.

    Inputs are those of `_evaluate`, but for its two flags, which are properties.
    """

    __props__ = ("tells", "judge", "code")

    def __init__(self, tells: bool, judge: bool) -> None:
        self.tells, self.judge, self.code = tells, judge, CODE

    def make_node(self, *inputs: Any) -> Apply:
        variables = [pt.as_tensor_variable(x) for x in inputs]
        return Apply(self, variables, [pt.dscalar(), *(pt.dtensor3() for _ in range(3))])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        found = _evaluate(*inputs, self.tells, self.judge)  # type: ignore[call-arg]
        for storage, value in zip(output_storage, found, strict=True):
            storage[0] = np.asarray(value)

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        from pytensor.gradient import disconnected_type

        bar = cotangents[0]
        return [*(bar * slope for slope in outputs[1:]), *(disconnected_type() for _ in inputs[3:])]

    def connection_pattern(self, node: Any) -> list[list[bool]]:
        return [[i < 3, False, False, False] for i in range(len(node.inputs))]


@in_numba(LogLikelihood)
def _numba_likelihood(op: Any, node: Any, **_: Any) -> Any:
    from pytensor.link.numba.dispatch.basic import numba_njit

    tells, evaluate = op.tells, numba_njit(_of_verdicts if op.judge else _of_outputs)

    @numba_njit
    def of_verdicts(x, y1, y0, wa, wb, wc, wd, cells, system, answer_of, count):
        given = cells, system, answer_of, count, tells
        found = evaluate(x[:, :, 0].copy(), y1, y0, wa, wb, wd, *given)
        return np.asarray(found[0]), found[1].reshape(x.shape), found[2], found[3]

    @numba_njit
    def of_outputs(x, y1, y0, wa, wb, wc, wd, cells, system, answer_of, count):
        given = cells, system, answer_of, count, tells
        found = evaluate(x, y1[:, :, 0].copy(), y0[:, :, 0].copy(), wa, wb, wc, *given)
        y1_bar, y0_bar = found[2].reshape(y1.shape), found[3].reshape(y0.shape)
        return np.asarray(found[0]), found[1], y1_bar, y0_bar

    return of_verdicts if op.judge else of_outputs


def _centres(share, shift, weight):
    """Logits of an average item, by Newton's method, and their slopes by `share` and by `shift`.

    Also the probabilities of 1 and of 0 at each node. On the logit scale the mean over the nodes is
    all but linear in the centre. An exponential at each node serves all steps.
    """
    size = share.size, shift.size
    centre, by_share, by_shift = np.empty(share.size), np.empty(share.size), np.empty(size)
    one, none, variance = np.empty(size), np.empty(size), 0.0
    odds = np.empty(shift.size)  # of a bad output, where the centre is 0
    for i in range(shift.size):
        variance += weight[i] * shift[i] ** 2
        odds[i] = np.exp(-min(max(shift[i], -FAREST), FAREST))
    for s in range(share.size):
        wanted = np.log(share[s]) - np.log1p(-share[s])
        at = wanted * np.sqrt(1 + 0.346 * variance)  # logistic by normal: Zeger et al. (1988)
        step, steps = 1.0, 0
        while abs(step) > 1e-7 and steps < MOST_STEPS:  # the next one would be of its square
            good, bad, slope, scale = 0.0, 0.0, 0.0, np.exp(-min(max(at, -FAREST), FAREST))
            for i in range(shift.size):
                p = 1 / (1 + scale * odds[i])
                q = scale * odds[i] * p
                good += weight[i] * p
                bad += weight[i] * q
                slope += weight[i] * p * q
            step = (np.log(good) - np.log(bad) - wanted) * good * bad / slope
            at -= step
            steps += 1
        slope, scale = 0.0, np.exp(-min(max(at, -FAREST), FAREST))
        for i in range(shift.size):
            one[s, i] = 1 / (1 + scale * odds[i])
            none[s, i] = scale * odds[i] * one[s, i]
            by_shift[s, i] = -weight[i] * one[s, i] * none[s, i]
            slope -= by_shift[s, i]
        centre[s], by_share[s] = at, 1 / slope
        by_shift[s] /= slope
    return centre, by_share, by_shift, one, none


class Centre(Op):
    """Logits of an average item whose mean over the nodes is a share, by system.

    Inputs are the shares, and effects and weights at the nodes. The gradient is that of the
    equation that the centre solves, not of the steps to it.
    """

    __props__ = ("code",)

    def __init__(self) -> None:
        self.code = CODE

    def make_node(self, *inputs: Any) -> Apply:
        variables = [pt.as_tensor_variable(x) for x in inputs]
        return Apply(self, variables, [pt.dvector(), pt.dvector(), pt.dmatrix()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        for storage, value in zip(output_storage, _centres(*inputs)[:3], strict=True):
            storage[0] = value

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        from pytensor.gradient import disconnected_type

        bar, (_, by_share, by_shift) = cotangents[0], outputs
        return [bar * by_share, (bar[:, None] * by_shift).sum(axis=0), disconnected_type()]

    def connection_pattern(self, node: Any) -> list[list[bool]]:
        return [[i < 2, False, False] for i in range(3)]


@in_numba(Centre)
def _numba_centre(op: Any, node: Any, **_: Any) -> Any:
    from pytensor.link.numba.dispatch.basic import numba_njit

    centres = numba_njit(_centres)

    @numba_njit
    def centre(share, shift, weight):
        return centres(share, shift, weight)[:3]

    return centre


def evaluate_numpy(items: Items, spec: Any, point: dict[str, Any], nodes: dict[str, int]) -> float:
    """Compute the same log-likelihood from rates and spreads, in plain arrays."""
    one = {name: np.asarray(value, float)[None] for name, value in point.items()}
    return float(Answers.of(items).count @ by_pattern(items, spec, one, nodes)[0])


def by_pattern(
    items: Items, spec: Any, draws: dict[str, np.ndarray], nodes: dict[str, int]
) -> np.ndarray:
    """Log-likelihood (draw, pattern) of one item of each pattern of `Answers`, in plain arrays.

    Draws have a leading axis; rates of several systems have another.
    """
    answers, judge = Answers.of(items), items.repeats == "judge" and items.repeated
    size, effects = len(draws["prevalence"]), spec._effects(items)
    at, weight = {}, {}
    for name, n in nodes.items():
        points, weight[name] = quadrature(n) if name in effects else (np.zeros(1), np.ones(1))
        at[name] = points * draws[f"{name}_spread"][:, None] if name in effects else points[None]
    none, one = (np.zeros((1, 1)), np.ones(1)), (at["interaction"], weight["interaction"])
    truth, verdict = (none, one) if judge else (one, none)
    prevalence, q1, q0 = (draws[name].reshape(size, -1) for name in RATES)
    x = _centred(prevalence, at["difficulty"], truth[0], weight["difficulty"], truth[1])
    leniency = at["leniency"], verdict[0], weight["leniency"], verdict[1]
    y = {0: _centred(1 - q0, *leniency), 1: _centred(q1, *leniency)}
    inner = np.log(truth[1])[:, None, None] + np.log(verdict[1])
    outer = np.log(np.maximum(weight["difficulty"], 1e-300))[:, None]
    outer = outer + np.log(np.maximum(weight["leniency"], 1e-300))
    found = np.empty((size, len(answers.count)))
    each = max(1, LARGEST // (x[0, 0].size * y[0][0, 0].size + len(answers.system) * outer.size))
    for begin in range(0, size, each):
        now = slice(begin, begin + each)
        logits = x[now], {z: one[now] for z, one in y.items()}
        # the last answer is that of a system without a row
        log_f = np.zeros((len(x[now]), len(answers.system) + 1, *outer.shape))
        for k, (s, cells) in enumerate(zip(answers.system, answers.cells, strict=True)):
            rows = _of_answer(cells, *_chances(logits, s), judge, items.design.same_items)
            log_f[:, k] = logsumexp(rows + inner, axis=(2, 4))
        joint = outer + sum(log_f[:, answers.answer_of[:, s]] for s in range(len(items.systems)))
        found[now] = logsumexp(joint, axis=(2, 3))
    return found


def _chances(logits: tuple[np.ndarray, dict[int, np.ndarray]], s: int) -> tuple[Any, Any, Any]:
    """Logarithms by truth of it, of a fail and of a pass; axes draw, a, c, b and d."""
    x, y = logits[0][:, s, :, :, None, None], {z: v[:, s, None, None] for z, v in logits[1].items()}
    truth = {0: -np.logaddexp(0, x), 1: -np.logaddexp(0, -x)}
    failed = {z: -np.logaddexp(0, v) for z, v in y.items()}
    return truth, failed, {z: failed[z] + v for z, v in y.items()}


def _of_answer(
    cells: np.ndarray, truth: Any, failed: Any, passed: Any, judge: bool, tells: bool
) -> Any:
    """Log-likelihood of the rows of one system for one item."""
    known = {0: cells[:2], 1: cells[2:4]}
    if judge:
        labelled = [z for z in (0, 1) if known[z].any()]
        fails, passes = cells[::2].sum(), cells[1::2].sum()
        seen = {z: fails * failed[z] + passes * passed[z] for z in (0, 1)}
        told = {z: seen[z] + (truth[z] if tells or not labelled else 0 * truth[z]) for z in (0, 1)}
        return told[labelled[0]] if labelled else np.logaddexp(told[0], told[1])
    rows = 0.0
    for z in (0, 1):
        rows = rows + known[z][0] * failed[z] + known[z][1] * passed[z]
        rows = rows + (known[z].sum() if tells else 0) * truth[z]
    for n, seen in ((cells[4], failed), (cells[5], passed)):
        rows = rows + (n * np.logaddexp(truth[0] + seen[0], truth[1] + seen[1]) if n else 0.0)
    return rows


def _centred(
    share: np.ndarray, first: np.ndarray, second: np.ndarray, w: np.ndarray, v: np.ndarray
) -> np.ndarray:
    """Logits at the nodes whose mean share is `share`.

    Axes of the result are those of `share`, then first and second; any axes before that of the
    nodes are draws.
    """
    shift = (first[..., :, None] + second[..., None, :])[..., None, :, :]
    return centre(share, shift, w[:, None] * v[None, :])[..., None, None] + shift


def centre(share: np.ndarray, shift: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Logits of an average item, by bisection: the mean over the last two axes is `share`."""
    low, high = np.full(share.shape, -60.0), np.full(share.shape, 60.0)
    for _ in range(70):
        middle = (low + high) / 2
        mean = (weight * expit(middle[..., None, None] + shift)).sum(axis=(-2, -1))
        low, high = np.where(mean < share, middle, low), np.where(mean < share, high, middle)
    return (low + high) / 2
