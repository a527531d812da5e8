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

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from bayesjudge.compiled import jitable
from bayesjudge.core.counting import collapse, distinct
from bayesjudge.prevalence.items.data import UNLABELLED, Items
from bayesjudge.truth.effects import TINY, Operation, centre, quadrature, summed_products

RATES = ("prevalence", "sensitivity", "specificity")
#: Log probability of a truth that a label rules out: exp of it is 0, and it has a gradient.
RULED_OUT = -1e6
#: Powers up to it are products.
FEW = 40
#: Numbers of an array that `by_pattern` holds at once.
LARGEST = 5_000_000


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
        patterns, place = distinct(rows)
        answer_of = np.full(there.shape, -1, np.int64)
        answer_of[pattern, system] = place
        return cls(rows[patterns, 1:], rows[patterns, 0], answer_of, count)


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
    for i in range(out.size):
        out[i] = a * x[i] + b * y[i]
    most = out.max()
    for i in range(out.size):
        out[i] = np.exp(out[i] - most)
    return most


@jitable
def _scaled_powers(out, a, x, b, y):
    """The same of powers of `x` and `y`: few are products, which need no logarithm."""
    if a + b <= FEW:
        out[:] = 1.0
        for _ in range(a):
            for i in range(out.size):
                out[i] *= x[i]
        for _ in range(b):
            for i in range(out.size):
                out[i] *= y[i]
        most = out.max()
        if most > TINY:
            for i in range(out.size):
                out[i] /= most
            return np.log(most)
    return _scaled_exp(out, a, np.log(x), b, np.log(y))


@jitable
def _over_nodes(f, shift, wa, wb, answer_of, count):
    """Log-likelihood of the patterns of items, and its slopes by `f`, their answers' factors.

    Nodes are those of b, and for each those of a.
    """
    weight = np.empty(wb.size * wa.size)
    for b in range(wb.size):
        for a in range(wa.size):
            weight[b * wa.size + a] = wb[b] * wa[a]
    return summed_products(f, shift, weight, answer_of, count)


@jitable
def _opened(cells, system):
    """Distinct verdicts without a label: system, fails and passes, and which each answer has."""
    of, rows, n = np.full(system.size, -1), np.empty((system.size, 3), np.int64), 0
    for k in range(system.size):
        if cells[k, 4] + cells[k, 5] == 0:
            continue
        for j in range(n):
            same = rows[j, 0] == system[k] and rows[j, 1] == cells[k, 4]
            if same and rows[j, 2] == cells[k, 5]:
                of[k] = j
                break
        if of[k] < 0:
            rows[n] = system[k], cells[k, 4], cells[k, 5]
            of[k] = n
            n += 1
    return of, rows[:n]


@jitable
def _open_at_nodes(opened, rates, wc, shape):
    """Chances of a pass and of a fail at each node (c, b, a), and of distinct unlabelled rows.

    The latter over their largest value, whose logarithm is the fourth; the fifth is their mean over
    the nodes of c, for answers without a label.
    """
    (_, _, p, p1), (_, _, h, h1), (_, _, w, w1) = rates
    nc, nb, na = shape
    n_systems, nba, size = p.shape[0], nb * na, nc * nb * na
    n_open = opened.shape[0]
    passed, failed = np.ones((n_systems, size)), np.ones((n_systems, size))
    for s in range(n_systems if n_open > 0 else 0):
        for c in range(nc):
            for b in range(nb):
                for a in range(na):  # no logarithm of 0, however far a sampler strays
                    i, at = c * na + a, c * nba + b * na + a
                    passed[s, at] = p[s, i] * h[s, b] + p1[s, i] * w[s, b] + 1e-300
                    failed[s, at] = p[s, i] * h1[s, b] + p1[s, i] * w1[s, b] + 1e-300
    open_f, open_shift = np.empty((n_open, size)), np.zeros(n_open)
    alone = np.zeros((n_open, nba))
    for j in range(n_open):
        s, fails, passes = opened[j, 0], opened[j, 1], opened[j, 2]
        open_shift[j] = _scaled_powers(open_f[j], fails, failed[s], passes, passed[s])
        for c in range(nc):
            for e in range(nba):
                alone[j, e] += wc[c] * open_f[j, c * nba + e]
    return passed, failed, open_f, open_shift, alone


@jitable
def _answers_at_nodes(cells, system, open_of, open_parts, rates, wc, shape, tells):
    """Answers at the nodes of difficulty and leniency, and their factors of (c, a) and of b."""
    (lp, lp1, _, _), (lh, lh1, _, _), (lw, lw1, _, _) = rates
    open_f, open_shift, alone = open_parts
    nc, nb, na = shape
    n_answers, nca, nba = system.size, nc * na, nb * na
    part_a, part_b = np.empty((n_answers, nca)), np.empty((n_answers, nb))
    f, shift = np.zeros((n_answers, nba)), np.zeros(n_answers)
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
        weight = 1.0 if tells else 0.0
        shift[k] = most + _scaled_exp(part_a[k], weight * good, lp[s], weight * bad, lp1[s])
        if j >= 0:
            shift[k] += open_shift[j]
        for c in range(nc):
            for a in range(na):
                part_a[k, c * na + a] *= wc[c]
            for b in range(nb):
                for a in range(na):
                    both = part_a[k, c * na + a] * part_b[k, b]
                    f[k, b * na + a] += both * open_f[j, c * nba + b * na + a] if j >= 0 else both
    return f, shift, part_a, part_b


@jitable
def _slopes_of_labelled(
    f_bar, cells, system, open_of, open_f, parts, rates, wc, shape, tells, bars
):
    """Add to the slopes `bars` what rows with a label say, and collect those of the other rows."""
    (part_a, part_b), (x_bar, y1_bar, y0_bar, open_bar) = parts, bars
    (_, _, p, _), (_, _, h, _), (_, _, w, _) = rates
    nc, nb, na = shape
    nca, nba = nc * na, nb * na
    a_bar, b_bar = np.empty(nca), np.empty(nb)
    for k in range(system.size):
        s, j = system[k], open_of[k]
        bad, good = cells[k, 0] + cells[k, 1], cells[k, 2] + cells[k, 3]
        if good + bad == 0:
            for c in range(nc):
                for e in range(nba):
                    open_bar[j, c * nba + e] += wc[c] * f_bar[k, e]
            continue
        a_bar[:], b_bar[:] = 0.0, 0.0
        for c in range(nc):
            for b in range(nb):
                of_b, total = part_b[k, b], 0.0
                for a in range(na):
                    i, e, g = c * na + a, b * na + a, f_bar[k, b * na + a]
                    if j >= 0:
                        open_bar[j, c * nba + e] += g * part_a[k, i] * of_b
                        g *= open_f[j, c * nba + e]
                    a_bar[i] += g * of_b
                    total += g * part_a[k, i]
                b_bar[b] += total
        if tells:
            for i in range(nca):
                x_bar[s, i] += a_bar[i] * part_a[k, i] * (good - (good + bad) * p[s, i])
        for b in range(nb):
            grown = b_bar[b] * part_b[k, b]
            y1_bar[s, b] += grown * (cells[k, 3] - good * h[s, b])
            y0_bar[s, b] += grown * (cells[k, 1] - bad * w[s, b])


@jitable
def _slopes_of_open(opened, open_f, open_bar, passed, failed, rates, shape, bars):
    """Add to the slopes `bars` what rows without a label say."""
    (_, _, p, p1), (_, _, h, h1), (_, _, w, w1) = rates
    (x_bar, y1_bar, y0_bar), (nc, nb, na) = bars, shape
    n_open, n_systems, nba, size = opened.shape[0], p.shape[0], nb * na, nc * nb * na
    pass_bar, fail_bar = np.zeros((n_systems, size)), np.zeros((n_systems, size))
    for j in range(n_open):
        s, fails, passes = opened[j, 0], float(opened[j, 1]), float(opened[j, 2])
        for at in range(size):
            g = open_bar[j, at] * open_f[j, at]
            pass_bar[s, at] += passes * g
            fail_bar[s, at] += fails * g
    for s in range(n_systems if n_open > 0 else 0):
        for c in range(nc):
            for b in range(nb):
                of_good, of_bad = 0.0, 0.0
                for a in range(na):
                    i, at = c * na + a, c * nba + b * na + a
                    g, e = pass_bar[s, at] / passed[s, at], fail_bar[s, at] / failed[s, at]
                    # by the probabilities of a good output, and of a pass on good and on bad
                    by_truth = g * (h[s, b] - w[s, b]) + e * (h1[s, b] - w1[s, b])
                    x_bar[s, i] += by_truth * p[s, i] * p1[s, i]
                    of_good += (g - e) * p[s, i]
                    of_bad += (g - e) * p1[s, i]
                y1_bar[s, b] += of_good * h[s, b] * h1[s, b]
                y0_bar[s, b] += of_bad * w[s, b] * w1[s, b]


def _of_outputs(x, y1, y0, wa, wb, wc, cells, system, answer_of, count, tells):
    """Log-likelihood of outputs judged once, and its slopes by the logits `x`, `y1` and `y0`.

    The logits are those of a good output (system, c, a), and of a pass on a good and on a bad one
    (system, b). Nodes are those of c, for each those of b, for each those of a.
    """
    (n_systems, nc, na), nb = x.shape, y1.shape[1]
    shape = (nc, nb, na)
    rates = (_sigmoids(x.copy().reshape((n_systems, nc * na))), _sigmoids(y1), _sigmoids(y0))
    open_of, opened = _opened(cells, system)
    passed, failed, open_f, open_shift, alone = _open_at_nodes(opened, rates, wc, shape)
    f, shift, part_a, part_b = _answers_at_nodes(
        cells, system, open_of, (open_f, open_shift, alone), rates, wc, shape, tells
    )
    value, f_bar = _over_nodes(f, shift, wa, wb, answer_of, count)

    x_bar = np.zeros((n_systems, nc * na))
    y1_bar, y0_bar = np.zeros((n_systems, nb)), np.zeros((n_systems, nb))
    open_bar = np.zeros(open_f.shape)
    parts, bars = (part_a, part_b), (x_bar, y1_bar, y0_bar)
    _slopes_of_labelled(
        f_bar, cells, system, open_of, open_f, parts, rates, wc, shape, tells, (*bars, open_bar)
    )
    _slopes_of_open(opened, open_f, open_bar, passed, failed, rates, shape, bars)
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
                f[k, b * na + a] = both

    value, f_bar = _over_nodes(f, shift, wa, wb, answer_of, count)

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
                g = f_bar[k, b * na + a]
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


class Rows(Operation):
    """Log-likelihood of items, and its slopes by the logits of truths and of passes.

    Of outputs that are judged once these are of a good output (system, c, a), and of a pass on a
    good and on a bad one (system, b); of outputs judged again and again (system, a), and (system,
    b, d). Weights of the nodes of a, b, and c or d follow, and the arrays of `Answers`.
    """

    def __init__(self, tells: bool, judge: bool) -> None:
        super().__init__(tells, judge)
        self.unknown = (2, 3, 3) if judge else (3, 2, 2)

    @staticmethod
    def function(compiled: Callable[..., Any], *flags: Any) -> Callable[..., Any]:
        """Of labels that tell the truths or do not, and a judge that repeats or does not."""
        tells, judge = flags
        of_items = compiled(_of_verdicts if judge else _of_outputs)

        def of_rows(x, y1, y0, wa, wb, others, cells, system, answer_of, count):
            given = cells, system, answer_of, count, tells
            value, x_bar, y1_bar, y0_bar = of_items(x, y1, y0, wa, wb, others, *given)
            return np.asarray(value), x_bar, y1_bar, y0_bar

        return compiled(of_rows)


def by_pattern(
    items: Items, spec: Any, draws: dict[str, np.ndarray], nodes: dict[str, int]
) -> np.ndarray:
    """Log-likelihood (draw, pattern) of one item of each pattern of `Answers`, in plain arrays.

    Draws have a leading axis; rates of several systems have another.
    """
    answers, effects = Answers.of(items), spec._effects(items)
    size, at, weight = len(draws["prevalence"]), {}, {}
    for name, n in nodes.items():
        points, weight[name] = quadrature(n) if name in effects else (np.zeros(1), np.ones(1))
        at[name] = points * draws[f"{name}_spread"][:, None] if name in effects else points[None]
    none, interaction = (np.zeros((1, 1)), np.ones(1)), (at["interaction"], weight["interaction"])
    truth, verdict = (none, interaction) if judge_repeats(items) else (interaction, none)
    prevalence, q1, q0 = (draws[name].reshape(size, -1) for name in RATES)
    leniency = at["leniency"], verdict[0], weight["leniency"], verdict[1]
    difficulty = at["difficulty"], truth[0], weight["difficulty"], truth[1]
    logits = [
        _centred(prevalence, *difficulty), _centred(q1, *leniency), _centred(1 - q0, *leniency)
    ]  # fmt: skip
    weights = weight["difficulty"], weight["leniency"], interaction[1]
    held = answers.cells, answers.system, answers.answer_of
    outer, inner = weights[0].size * weights[1].size, interaction[1].size
    numbers = sum(x[0].size for x in logits)
    numbers += outer * max(len(answers.system) * inner, answers.answer_of.size)
    each = max(1, LARGEST // numbers)
    blocks = [[x[begin : begin + each] for x in logits] for begin in range(0, size, each)]
    return np.concatenate([log_chances(items, *held, block, weights, np) for block in blocks])


def log_chances(
    items: Items, cells: Any, system: Any, answer_of: Any, logits: Any, weights: Any, xp: Any
) -> Any:
    """Log probability of the rows of an item of each pattern, in one order.

    Logits of a good output (…, system, a, c), of a pass on a good and on a bad one (…, system, b,
    d), and weights of the nodes of a, of b, and of c or d; as arrays or in a graph.
    """
    log_a, log_b, log_inner = map(xp.log, weights)
    n = [cells[:, i, None, None] for i in range(6)]
    good, hit, wrong = (part[..., system, :, :] for part in logits)
    # by truth, bad and good: of it (…, answer, a, c), and of a fail and a pass (…, answer, b, d)
    truth = _log_sigmoid(-good, xp), _log_sigmoid(good, xp)
    failed = _log_sigmoid(-wrong, xp), _log_sigmoid(-hit, xp)
    passed = _log_sigmoid(wrong, xp), _log_sigmoid(hit, xp)
    known, tells = (n[0] + n[1], n[2] + n[3]), int(items.design.same_items)
    log_sum = logsumexp if xp is np else xp.logsumexp
    if judge_repeats(items):  # one truth for all verdicts, which a label tells
        fails, passes = n[0] + n[2] + n[4], n[1] + n[3] + n[5]
        asked = xp.where(known[0] + known[1] > 0, tells, 1)
        of_truth = []
        for z in (0, 1):
            log_truth = asked * truth[z] + xp.where(known[1 - z] > 0, RULED_OUT, 0.0)
            given = log_sum(fails * failed[z] + passes * passed[z] + log_inner, axis=-1)
            of_truth.append(log_truth + given[..., None, :])
        answers = xp.logaddexp(*of_truth)
    else:
        wide = [term[..., None] for term in truth]  # answer, a, c, b
        fail, a_pass = ([term[..., None, None, :, 0] for term in part] for part in (failed, passed))
        rows = n[4][..., None] * xp.logaddexp(wide[0] + fail[0], wide[1] + fail[1])
        rows = rows + n[5][..., None] * xp.logaddexp(wide[0] + a_pass[0], wide[1] + a_pass[1])
        for z in (0, 1):
            rows = rows + n[2 * z][..., None] * fail[z] + n[2 * z + 1][..., None] * a_pass[z]
            rows = rows + (known[z] * tells)[..., None] * wide[z]
        answers = log_sum(rows + log_inner[:, None], axis=-2)
    none = xp.zeros_like(answers[..., :1, :, :])  # -1 is the answer of a system without a row
    joint = xp.concatenate([answers, none], axis=-3)[..., answer_of, :, :].sum(axis=-3)
    return log_sum(joint + log_a[:, None] + log_b, axis=(-2, -1))


def judge_repeats(items: Items) -> bool:
    """Whether outputs are judged again and again."""
    return items.repeats == "judge" and items.repeated


def _log_sigmoid(x: Any, xp: Any) -> Any:
    return -np.logaddexp(0, -x) if xp is np else -xp.softplus(-x)


def _centred(
    share: np.ndarray, first: np.ndarray, second: np.ndarray, w: np.ndarray, v: np.ndarray
) -> np.ndarray:
    """Logits at the nodes whose mean share is `share`.

    Axes of the result are those of `share`, then first and second; any axes before that of the
    nodes are draws.
    """
    shift = (first[..., :, None] + second[..., None, :])[..., None, :, :]
    return centre(share, shift, w[:, None] * v[None, :])[..., None, None] + shift
