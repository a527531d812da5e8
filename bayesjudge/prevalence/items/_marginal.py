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
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.link.numba.dispatch.basic import numba_njit, register_funcify_default_op_cache_key

from bayesjudge.core.counting import collapse, distinct
from bayesjudge.prevalence.items.data import UNLABELLED, Items

#: Beyond so many standard deviations a normal effect is not integrated.
REACH = 4.5


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


def _evaluate(x, y1, y0, wa, wb, wc, wd, cells, system, answer_of, count, tells, judge):
    """Log-likelihood, and its gradient by the logits of truth and of a pass on good and bad.

    Shapes: x (systems, a, c), y1 and y0 (systems, b, d).
    """
    n_systems, na, nc = x.shape
    nb, nd = y1.shape[1], y1.shape[2]
    nac, nbd, nab = na * nc, nb * nd, na * nb
    n_answers = system.size
    lp, lp1 = np.empty((n_systems, nac)), np.empty((n_systems, nac))
    lh, lh1 = np.empty((n_systems, nbd)), np.empty((n_systems, nbd))
    lw, lw1 = np.empty((n_systems, nbd)), np.empty((n_systems, nbd))
    for s in range(n_systems):
        flat = x[s].ravel()
        lp[s] = np.minimum(flat, 0.0) - np.log1p(np.exp(-np.abs(flat)))
        lp1[s] = lp[s] - flat
        flat = y1[s].ravel()
        lh[s] = np.minimum(flat, 0.0) - np.log1p(np.exp(-np.abs(flat)))
        lh1[s] = lh[s] - flat
        flat = y0[s].ravel()
        lw[s] = np.minimum(flat, 0.0) - np.log1p(np.exp(-np.abs(flat)))
        lw1[s] = lw[s] - flat
    wac, wbd = np.empty(nac), np.empty(nbd)
    for a in range(na):
        for c in range(nc):
            wac[a * nc + c] = wc[c]
    for b in range(nb):
        for d in range(nd):
            wbd[b * nd + d] = wd[d]

    # verdicts without a label, by distinct numbers of fails and passes of a system
    open_of = np.full(n_answers, -1)
    opened = np.empty((n_answers, 3), np.int64)
    n_open = 0
    for k in range(n_answers):
        if cells[k, 4] + cells[k, 5] == 0 or judge:
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
    size = nac * nbd
    logs_pass, logs_fail = np.empty((n_systems, size)), np.empty((n_systems, size))
    if n_open > 0:
        for s in range(n_systems):
            for i in range(nac):
                for j in range(nbd):
                    t, u = lp[s, i] + lh[s, j], lp1[s, i] + lw[s, j]
                    m = max(t, u)
                    logs_pass[s, i * nbd + j] = m + np.log1p(np.exp(min(t, u) - m))
                    t, u = lp[s, i] + lh1[s, j], lp1[s, i] + lw1[s, j]
                    m = max(t, u)
                    logs_fail[s, i * nbd + j] = m + np.log1p(np.exp(min(t, u) - m))
    open_f, open_shift = np.empty((n_open, size)), np.zeros(n_open)
    for j in range(n_open):
        s, fails, passes = opened[j, 0], opened[j, 1], opened[j, 2]
        v = fails * logs_fail[s] + passes * logs_pass[s]
        open_shift[j] = v.max()
        open_f[j] = np.exp(v - open_shift[j])

    # answers at the nodes of difficulty and leniency
    part_a, part_b = np.empty((n_answers, nac)), np.empty((n_answers, nbd))
    part_w = np.empty((n_answers, nbd))
    f, shift = np.empty((n_answers, nab)), np.zeros(n_answers)
    for k in range(n_answers):
        s = system[k]
        bad_fail, bad_pass, good_fail, good_pass = (
            cells[k, 0],
            cells[k, 1],
            cells[k, 2],
            cells[k, 3],
        )
        bad, good = bad_fail + bad_pass, good_fail + good_pass
        fails, passes = cells[k, 4], cells[k, 5]
        if judge:
            is_good, is_bad = good > 0, bad > 0
            fails, passes = fails + bad + good - bad_pass - good_pass, passes + bad_pass + good_pass
            v = fails * lh1[s] + passes * lh[s]
            u = fails * lw1[s] + passes * lw[s]
            m = max(v.max(), u.max())
            shift[k] = m
            part_b[k] = np.exp(v - m) * wbd
            part_w[k] = np.exp(u - m) * wbd
            for i in range(na):
                p = np.exp(lp[s, i * nc]) if tells or not (is_good or is_bad) else 1.0
                q = np.exp(lp1[s, i * nc]) if tells or not (is_good or is_bad) else 1.0
                p, q = (0.0 if is_bad else p), (0.0 if is_good else q)
                for b in range(nb):
                    total = 0.0
                    for d in range(nd):
                        total += p * part_b[k, b * nd + d] + q * part_w[k, b * nd + d]
                    f[k, i * nb + b] = total
            continue
        v = np.zeros(nac)
        if tells:
            v = good * lp[s] + bad * lp1[s]
        u = bad_fail * lw1[s] + bad_pass * lw[s] + good_fail * lh1[s] + good_pass * lh[s]
        shift[k] = v.max() + u.max()
        part_a[k], part_b[k] = np.exp(v - v.max()) * wac, np.exp(u - u.max()) * wbd
        j = open_of[k]
        if j < 0:  # every row has a label: a product
            for a in range(na):
                first = part_a[k, a * nc : (a + 1) * nc].sum()
                for b in range(nb):
                    f[k, a * nb + b] = first * part_b[k, b * nd : (b + 1) * nd].sum()
            continue
        shift[k] += open_shift[j]
        for a in range(na):
            for b in range(nb):
                total = 0.0
                for c in range(nc):
                    i = a * nc + c
                    inner = 0.0
                    for e in range(b * nd, (b + 1) * nd):
                        inner += part_b[k, e] * open_f[j, i * nbd + e]
                    total += part_a[k, i] * inner
                f[k, a * nb + b] = total

    # items
    value = 0.0
    f_bar = np.zeros((n_answers, nab))
    wab = np.empty(nab)
    for a in range(na):
        for b in range(nb):
            wab[a * nb + b] = wa[a] * wb[b]
    before = np.empty((n_systems + 1, nab))
    after = np.empty(nab)
    for i in range(count.size):
        before[0] = wab
        for s in range(n_systems):
            k = answer_of[i, s]
            if k < 0:
                before[s + 1] = before[s]
            else:
                value += count[i] * shift[k]
                for e in range(nab):
                    before[s + 1, e] = before[s, e] * f[k, e]
        total = before[n_systems].sum()
        value += count[i] * np.log(total)
        after[:] = count[i] / total
        for s in range(n_systems - 1, -1, -1):
            k = answer_of[i, s]
            if k < 0:
                continue
            for e in range(nab):
                f_bar[k, e] += before[s, e] * after[e]
                after[e] *= f[k, e]

    # backwards
    x_bar, y1_bar, y0_bar = (
        np.zeros((n_systems, nac)),
        np.zeros((n_systems, nbd)),
        np.zeros((n_systems, nbd)),
    )
    open_bar = np.zeros((n_open, size))
    for k in range(n_answers):
        s = system[k]
        bad_fail, bad_pass, good_fail, good_pass = (
            cells[k, 0],
            cells[k, 1],
            cells[k, 2],
            cells[k, 3],
        )
        bad, good = bad_fail + bad_pass, good_fail + good_pass
        fails, passes = cells[k, 4], cells[k, 5]
        if judge:
            is_good, is_bad = good > 0, bad > 0
            free = tells or not (is_good or is_bad)
            fails, passes = fails + bad + good - bad_pass - good_pass, passes + bad_pass + good_pass
            n = fails + passes
            for a in range(na):
                i = a * nc
                p = np.exp(lp[s, i]) if free else 1.0
                q = np.exp(lp1[s, i]) if free else 1.0
                p, q = (0.0 if is_bad else p), (0.0 if is_good else q)
                slope = np.exp(lp[s, i] + lp1[s, i]) if free else 0.0
                for b in range(nb):
                    g = f_bar[k, a * nb + b]
                    for d in range(nd):
                        e = b * nd + d
                        if not is_bad:
                            x_bar[s, i] += g * slope * part_b[k, e]
                            gain = passes - n * np.exp(lh[s, e])
                            y1_bar[s, e] += g * p * part_b[k, e] * gain
                        if not is_good:
                            x_bar[s, i] -= g * slope * part_w[k, e]
                            gain = passes - n * np.exp(lw[s, e])
                            y0_bar[s, e] += g * q * part_w[k, e] * gain
            continue
        j = open_of[k]
        a_bar, b_bar = np.zeros(nac), np.zeros(nbd)
        for a in range(na):
            first = part_a[k, a * nc : (a + 1) * nc].sum()
            for b in range(nb):
                g = f_bar[k, a * nb + b]
                if j < 0:
                    second = part_b[k, b * nd : (b + 1) * nd].sum()
                    a_bar[a * nc : (a + 1) * nc] += g * second
                    b_bar[b * nd : (b + 1) * nd] += g * first
                    continue
                for c in range(nc):
                    i = a * nc + c
                    inner = 0.0
                    own = g * part_a[k, i]
                    for e in range(b * nd, (b + 1) * nd):
                        o = open_f[j, i * nbd + e]
                        inner += part_b[k, e] * o
                        b_bar[e] += own * o
                        open_bar[j, i * nbd + e] += own * part_b[k, e]
                    a_bar[i] += g * inner
        if tells:
            for i in range(nac):
                x_bar[s, i] += a_bar[i] * part_a[k, i] * (good - (good + bad) * np.exp(lp[s, i]))
        for e in range(nbd):
            grown = b_bar[e] * part_b[k, e]
            y1_bar[s, e] += grown * (good_pass - good * np.exp(lh[s, e]))
            y0_bar[s, e] += grown * (bad_pass - bad * np.exp(lw[s, e]))
    pass_bar, fail_bar = np.zeros((n_systems, size)), np.zeros((n_systems, size))
    for j in range(n_open):
        s, fails, passes = opened[j, 0], opened[j, 1], opened[j, 2]
        for at in range(size):
            g = open_bar[j, at] * open_f[j, at]
            pass_bar[s, at] += passes * g
            fail_bar[s, at] += fails * g
    if n_open > 0:
        for s in range(n_systems):
            hits, wrongs = np.exp(lh[s]), np.exp(lw[s])
            for i in range(nac):
                p = np.exp(lp[s, i])
                for e in range(nbd):
                    at = i * nbd + e
                    g, h = pass_bar[s, at], fail_bar[s, at]
                    good_if_pass = np.exp(lp[s, i] + lh[s, e] - logs_pass[s, at])
                    good_if_fail = np.exp(lp[s, i] + lh1[s, e] - logs_fail[s, at])
                    x_bar[s, i] += g * (good_if_pass - p) + h * (good_if_fail - p)
                    y1_bar[s, e] += g * good_if_pass * (1 - hits[e]) - h * good_if_fail * hits[e]
                    y0_bar[s, e] += (
                        g * (1 - good_if_pass) * (1 - wrongs[e])
                        - h * (1 - good_if_fail) * wrongs[e]
                    )
    shape = (n_systems, nb, nd)
    return (
        value,
        x_bar.reshape((n_systems, na, nc)),
        y1_bar.reshape(shape),
        y0_bar.reshape(shape),
    )


#: Compiled code is kept on disk by an operation's properties: new source must not find old code.
CODE = hashlib.sha256(inspect.getsource(_evaluate).encode()).hexdigest()[:16]


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


@register_funcify_default_op_cache_key(LogLikelihood)
def _numba_likelihood(op: Any, node: Any, **_: Any) -> Any:
    tells, judge = op.tells, op.judge
    evaluate = numba_njit(_evaluate)

    @numba_njit
    def likelihood(x, y1, y0, wa, wb, wc, wd, cells, system, answer_of, count):
        found = evaluate(x, y1, y0, wa, wb, wc, wd, cells, system, answer_of, count, tells, judge)
        return np.asarray(found[0]), found[1], found[2], found[3]

    return likelihood


def evaluate_numpy(items: Items, spec: Any, point: dict[str, Any], nodes: dict[str, int]) -> float:
    """Compute the same log-likelihood from rates and spreads, in plain arrays."""
    from scipy.special import logsumexp

    answers, judge = Answers.of(items), items.repeats == "judge" and items.repeated
    tells, effects = items.design.same_items, spec._effects(items)
    at, weight = {}, {}
    for name, n in nodes.items():
        points, weights = quadrature(n) if name in effects else (np.zeros(1), np.ones(1))
        at[name] = points * (float(point[f"{name}_spread"]) if name in effects else 0.0)
        weight[name] = np.log(np.maximum(weights, 1e-300))
    own = at["interaction"]
    none = np.zeros(1)
    rates = [np.atleast_1d(point[name]) for name in ("prevalence", "sensitivity", "specificity")]
    log_weight = {name: np.exp(w) for name, w in weight.items()}
    one = np.ones(1)
    inner_a, w_a = (none, one) if judge else (own, log_weight["interaction"])
    inner_b, w_b = (own, log_weight["interaction"]) if judge else (none, one)
    x = _centred(rates[0], at["difficulty"], inner_a, log_weight["difficulty"], w_a)
    verdict = (at["leniency"], inner_b, log_weight["leniency"], w_b)
    y1, y0 = _centred(rates[1], *verdict), _centred(1 - rates[2], *verdict)
    log_f = np.zeros((len(answers.system), len(at["difficulty"]), len(at["leniency"])))
    for k, (s, cells) in enumerate(zip(answers.system, answers.cells, strict=True)):
        good = -np.logaddexp(0, -x[s])[:, :, None, None]  # by a, c, b, d
        bad = -np.logaddexp(0, x[s])[:, :, None, None]
        passed = [-np.logaddexp(0, -y[s])[None, None] for y in (y0, y1)]
        failed = [-np.logaddexp(0, y[s])[None, None] for y in (y0, y1)]
        seen = [cells[i] * failed[t] + cells[i + 1] * passed[t] for t, i in ((0, 0), (1, 2))]
        n = cells.reshape(3, 2).sum(axis=1)
        if judge:
            of = cells.reshape(3, 2).sum(axis=0)
            each = [of[0] * failed[t] + of[1] * passed[t] for t in (0, 1)]
            free = tells or not (n[0] or n[1])
            terms = [each[0] + bad * free, each[1] + good * free]
            rows = terms[1] if n[1] else terms[0] if n[0] else np.logaddexp(*terms)
        else:
            rows = seen[0] + seen[1] + (n[1] * good + n[0] * bad if tells else 0 * good)
            rows = rows + cells[4] * np.logaddexp(good + failed[1], bad + failed[0])
            rows = rows + cells[5] * np.logaddexp(good + passed[1], bad + passed[0])
        inner = np.log(w_a)[None, :, None, None] + np.log(w_b)[None, None, None, :]
        log_f[k] = logsumexp(rows + inner, axis=(1, 3))
    outer = weight["difficulty"][:, None] + weight["leniency"][None, :]
    # the last answer is that of a system without a row
    log_f = np.concatenate([log_f, np.zeros((1, *log_f.shape[1:]))])
    joint = outer + sum(log_f[answers.answer_of[:, s]] for s in range(len(items.systems)))
    return float(answers.count @ logsumexp(joint, axis=(1, 2)))


def _centred(
    share: np.ndarray, first: np.ndarray, second: np.ndarray, w: np.ndarray, v: np.ndarray
) -> np.ndarray:
    """Logits at the nodes whose mean share is `share`, by bisection."""
    from scipy.special import expit

    shift = first[:, None] + second[None, :]
    weight = w[:, None] * v[None, :]
    low, high = np.full(share.size, -60.0), np.full(share.size, 60.0)
    for _ in range(70):
        middle = (low + high) / 2
        below = (weight * expit(middle[:, None, None] + shift)).sum(axis=(1, 2)) < share
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return ((low + high) / 2)[:, None, None] + shift
