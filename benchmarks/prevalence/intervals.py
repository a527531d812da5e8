"""Coverage and mean width of each interval for the prevalence, by enumeration of every table.

    python benchmarks/prevalence/intervals.py             # minutes on two cores
    python benchmarks/prevalence/intervals.py --redraw    # picture and text from the stored table

Judge one of n = 1000 test items with m labels, half of them good items and half bad ones. The data
are then three binomial counts: a1 hits, a0 right refusals and k passes. Each method's interval is
computed for *every* triple, and its coverage is the summed probability of the triples whose
interval holds the truth. Compared with 10,000 simulated tables a cell, the usual study, there is no
Monte Carlo error at all; what is left out are triples too improbable to matter (the text states
their probability, below 1e-8).

The likelihood of a triple is a sum over a grid of both judge's rates,

    L(theta; a1, a0, k) = sum_ij W_ij Beta_a1(x_i) Beta_a0(y_j) Bin(k; n, theta x_i + (1-theta) y_j)

with x = sensitivity and y = 1 - specificity. For one k and one theta that is a product of three
matrices that serves all labels (a1, a0), all sizes m, all priors and all judges at once. On the
scale x = sin(phi / 2)^2 everything is a short cosine series, and W integrates such series exactly
over the triangle x > y, which is a judge better than chance. Swapping good and bad (a1 with a0, k
with n - k, theta with 1 - theta) saves the half of the k.

Writes to benchmarks/prevalence/results: intervals.csv.gz, .png and .md.

Quick: ``--sizes 20 --workers 1``

Found: in eight settings of Lee et al. eq. (6) covers .953 to .960 on average and never less than
.9504; the flat prior's bounded interval covers .9502 or more inside and .969 to .972 at the ends,
where the equal-tailed one covers nothing. The shortest interval goes down to .927, Jeffreys' prior
to .755 with few labels: so flat rates and the bounded interval are defaults.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

if __name__ == "__main__":  # one thread a process; before NumPy loads its matrix library
    for library in ("OPENBLAS", "OMP", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")

import numba
import numpy as np
import pandas as pd
from scipy.special import gammaln, xlog1py, xlogy

from bayesjudge.core.intervals import wilson, z_score
from bayesjudge.truth import inversion

RESULTS = Path(__file__).parent / "results"
CI_PROB = 0.95
#: An end moves to 0 or 1 where the likelihood there exceeds this share of its maximum.
CUT_OFF = float(np.exp(-(z_score(CI_PROB) ** 2) / 2))
THETAS = np.linspace(0, 1, 21)
STRONG = ((0.9, 0.9), (0.9, 0.7), (0.7, 0.9), (0.7, 0.7))
WEAK = ((0.6, 0.6), (0.2, 0.97))
#: Labels, and the judges (specificity, sensitivity) that are enumerated with them.
SIZES = {20: STRONG + WEAK, 40: STRONG + WEAK, 100: STRONG + WEAK, 200: STRONG + WEAK, 500: STRONG}
TEST_ITEMS = 1000


class Variant(NamedTuple):
    """Priors: that of the prevalence is Beta(theta, theta), that of a judge's rates Beta(*rate)."""

    theta: float
    rate: tuple[float, float]


PRIORS = {
    "flat": Variant(1.0, (1.0, 1.0)),
    "jeffreys": Variant(0.5, (0.5, 0.5)),
    "beta21": Variant(1.0, (2.0, 1.0)),
}
KINDS = ("eti", "hdi", "eti_bounded")
METHODS = ("naive", "lang_reiczigel", *(f"{prior}_{kind}" for prior in PRIORS for kind in KINDS))
#: Nodes of each judge's rate, and cells of theta: both on the phi scale.
NODES, CELLS = 160, 160
#: Triples less probable than this, in every cell of the study, are left out.
NEGLIGIBLE = 1e-14


class Labels(NamedTuple):
    """Everything about one number of labels that does not depend on k."""

    size: int  #: labels of each truth, m / 2
    judges: np.ndarray  #: (judges, 2): specificity and sensitivity, each judge with its mirror
    weights: np.ndarray  #: (judges, pairs): probability of (a1, a0)
    hits: np.ndarray  #: a1 that matter; pairs are their product with `refusals`
    refusals: np.ndarray  #: a0 that matter


def binomial(k: Any, n: Any, p: Any) -> np.ndarray:
    """Probability of k of n, also at p = 0 and 1."""
    log = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return np.exp(log + xlogy(k, p) + xlog1py(n - k, -p))


def labels_of(total: int, judges: tuple[tuple[float, float], ...]) -> Labels:
    """Prepare one number of labels."""
    size = total // 2
    both = np.array(sorted({*judges, *(judge[::-1] for judge in judges)}))
    seen = np.arange(size + 1)
    refusals, hits = (binomial(seen, size, both[:, [column]]) for column in (0, 1))
    rows, columns = (np.flatnonzero(part.max(0) > NEGLIGIBLE) for part in (hits, refusals))
    pairs = hits[:, rows, None] * refusals[:, None, columns]
    return Labels(size, both, pairs.reshape(len(both), -1), rows, columns)


def triangle(smooth: bool) -> np.ndarray:
    """Weights W with sum_ij W_ij F(x_i, y_j) the integral of F over x > y, of short series exactly.

    Both variables run over the phi scale; with `smooth` the measure is that of the shares,
    dx dy, otherwise that of phi, on which Jeffreys' priors are flat.
    """
    phi = (np.arange(NODES) + 0.5) * np.pi / NODES
    order = np.arange(NODES)
    to_series = np.where(order > 0, 2, 1)[:, None] / NODES * np.cos(np.outer(order, phi))
    points, weights = np.polynomial.legendre.leggauss(2 * NODES)
    outer, weights = (points + 1) * np.pi / 2, weights * np.pi / 2

    def rising(n: np.ndarray, wave: Any) -> np.ndarray:
        """Integral of the wave of frequency n from 0 to each outer point."""
        n = n[:, None]
        return np.where(n == 0, outer if wave is np.cos else 0.0, _primitive(n, outer, wave))

    if smooth:  # cos(n t) sin(t) / 2 is a difference of two sines
        inner = (rising(order + 1, np.sin) - rising(order - 1, np.sin)) / 4
        weights = weights * np.sin(outer) / 2
    else:
        inner = rising(order, np.cos)
    return to_series.T @ (np.cos(np.outer(order, outer)) * weights) @ inner.T @ to_series


def _primitive(n: np.ndarray, t: np.ndarray, wave: Any) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sin(n * t) / n if wave is np.cos else (1 - np.cos(n * t)) / n


class Grid:
    """The grid of the judge's rates, and what each method needs on it."""

    def __init__(self, sizes: dict[int, tuple], items: int):
        self.items = items
        self.labels = [labels_of(total, judges) for total, judges in sizes.items()]
        self.share = np.sin((np.arange(NODES) + 0.5) * np.pi / NODES / 2) ** 2
        theta = np.sin(np.arange(CELLS + 1) * np.pi / CELLS / 2) ** 2
        p = theta[:, None, None] * self.share[:, None] + (1 - theta[:, None, None]) * self.share
        self.log_p, self.log_rest = np.log(p), np.log1p(-p)
        self.area = {True: triangle(True), False: triangle(False)}
        self.rows = {
            name: [self._densities(lab, v) for lab in self.labels] for name, v in PRIORS.items()
        }

    def _densities(self, lab: Labels, variant: Variant) -> tuple[np.ndarray, np.ndarray]:
        """Rows: the density of each rate given its labels, scaled to a maximum of 1."""
        good, bad = np.subtract(variant.rate, 0.5 if variant.theta < 1 else 1.0)
        hits, refusals = lab.hits[:, None], lab.refusals[:, None]
        made = []
        for right, rate in ((hits, self.share), (refusals, 1 - self.share)):
            log = (right + good) * np.log(rate) + (lab.size - right + bad) * np.log1p(-rate)
            made.append(np.exp(log - log.max(1, keepdims=True)))
        return made[0], made[1]

    def likelihoods(self, k: int) -> dict[str, list[np.ndarray]]:
        """Integrate over the judge: by prior and number of labels, (cells + 1, pairs)."""
        n = self.items
        top = xlogy(k, k / n) + xlog1py(n - k, -k / n)
        found = {
            name: [np.empty((CELLS + 1, len(hit), len(miss))) for hit, miss in parts]
            for name, parts in self.rows.items()
        }
        stacks = {
            name: np.concatenate([miss for _, miss in parts]).T for name, parts in self.rows.items()
        }
        for t, (log_p, log_rest) in enumerate(zip(self.log_p, self.log_rest, strict=True)):
            seen = np.exp(k * log_p + (n - k) * log_rest - top)
            held = [np.flatnonzero(seen.max(axis) > 1e-25) for axis in (1, 0)]
            x, y = (slice(part[0], part[-1] + 1) for part in held)
            blend = {smooth: seen[x, y] * area[x, y] for smooth, area in self.area.items()}
            for name, variant in PRIORS.items():
                right = blend[variant.theta == 1] @ stacks[name][y]
                start = 0
                for (hit, miss), out in zip(self.rows[name], found[name], strict=True):
                    out[t] = hit[:, x] @ right[:, start : start + len(miss)]
                    start += len(miss)
        return {name: [out.reshape(CELLS + 1, -1) for out in outs] for name, outs in found.items()}


@numba.njit(cache=True)
def _quantile(prob, cdf, density, slope, start):
    """Share at a probability, by the quintic of a cell on the phi scale; and that cell."""
    j = start
    while j < CELLS - 1 and cdf[j + 1] < prob:
        j += 1
    rise = cdf[j + 1] - cdf[j] - density[j] - slope[j] / 2
    more, bend = density[j + 1] - density[j] - slope[j], slope[j + 1] - slope[j]
    c3, c4 = 10 * rise - 4 * more + bend / 2, -15 * rise + 7 * more - bend
    c5 = 6 * rise - 3 * more + bend / 2
    x, low, high = (prob - cdf[j]) / max(cdf[j + 1] - cdf[j], 1e-300), 0.0, 1.0
    for _ in range(40):  # Newton's steps, or halves where they lead out
        value = x * (density[j] + x * (slope[j] / 2 + x * (c3 + x * (c4 + x * c5))))
        off = cdf[j] + value - prob
        if abs(off) < 1e-12:
            break
        low, high = (low, x) if off > 0 else (x, high)
        rate = density[j] + x * (slope[j] + x * (3 * c3 + x * (4 * c4 + x * 5 * c5)))
        x = x - off / rate if rate > 0 else low
        if not low < x < high:
            x = (low + high) / 2
    return np.sin((j + x) * np.pi / CELLS / 2) ** 2, j


@numba.njit(cache=True)
def intervals_of(likelihoods, flat, ci_prob, cut_off):
    """Find the equal-tailed, the shortest and the boundary-extended interval, row by row.

    `likelihoods` are values of theta on the even grid of phi from 0 to pi; rows are data sets.
    """
    n = CELLS
    ends = np.empty((3, 2, likelihoods.shape[0]))
    f, cdf, density, slope = np.empty(n + 5), np.empty(n + 1), np.empty(n + 1), np.empty(n + 1)
    spare, parity = 1 - ci_prob, -1.0 if flat else 1.0
    for row in range(likelihoods.shape[0]):
        values = likelihoods[row]
        for j in range(n + 1):
            f[j + 2] = max(values[j], 0.0) * (np.sin(j * np.pi / n) if flat else 1.0)
        for j in range(1, 3):  # on phi, the density goes on beyond both ends, odd or even
            f[2 - j], f[n + 2 + j] = parity * f[2 + j], parity * f[n + 2 - j]
        cdf[0] = 0.0
        for j in range(n):  # integral over a cell of the quintic through six values
            g = f[j : j + 6]
            area = 802 * (g[2] + g[3]) - 93 * (g[1] + g[4]) + 11 * (g[0] + g[5])
            cdf[j + 1] = cdf[j] + max(area, 0.0) / 1440
        for j in range(n + 1):
            density[j] = f[j + 2] / cdf[n]
            slope[j] = (8 * (f[j + 3] - f[j + 1]) - f[j + 4] + f[j]) / (12 * cdf[n])
        cdf /= cdf[n]
        low, first = _quantile(spare / 2, cdf, density, slope, 0)
        high, _ = _quantile(1 - spare / 2, cdf, density, slope, first)
        ends[0, 0, row], ends[0, 1, row] = low, high
        peak = _peak(values)
        ends[2, 0, row] = 0.0 if values[0] > cut_off * peak else low
        ends[2, 1, row] = 1.0 if values[n] > cut_off * peak else high
        ends[1, 0, row], ends[1, 1, row] = _shortest(spare, cdf, density, slope)
    return ends


@numba.njit(cache=True)
def _peak(values):
    """Return the maximum between the nodes: of the parabola through three logarithms."""
    j = np.argmax(values)
    if j in (0, CELLS) or values[j - 1] <= 0 or values[j + 1] <= 0:
        return values[j]
    before, top, after = np.log(values[j - 1]), np.log(values[j]), np.log(values[j + 1])
    bend = before - 2 * top + after
    return np.exp(top - (after - before) ** 2 / (8 * bend)) if bend < 0 else values[j]


@numba.njit(cache=True)
def _shortest(spare, cdf, density, slope):
    """Of all intervals that hold 1 - spare, the shortest: a scan, then golden sections."""
    step, tail, width, first, second = spare / 16, 0.0, 2.0, 0, 0
    for i in range(17):
        low, first = _quantile(i * step, cdf, density, slope, first)
        high, second = _quantile(1 - (spare - i * step), cdf, density, slope, second)
        if high - low < width:
            width, tail = high - low, i * step
    if tail > 0 and tail < spare:
        left, right, share = tail - step, tail + step, (5**0.5 - 1) / 2
        a, b = right - share * (right - left), left + share * (right - left)
        width_a = _width(a, spare, cdf, density, slope)
        width_b = _width(b, spare, cdf, density, slope)
        for _ in range(14):
            if width_a < width_b:
                right, b, width_b = b, a, width_a
                a = right - share * (right - left)
                width_a = _width(a, spare, cdf, density, slope)
            else:
                left, a, width_a = a, b, width_b
                b = left + share * (right - left)
                width_b = _width(b, spare, cdf, density, slope)
        tail = (left + right) / 2
    low, first = _quantile(tail, cdf, density, slope, 0)
    return low, _quantile(1 - (spare - tail), cdf, density, slope, first)[0]


@numba.njit(cache=True)
def _width(tail, spare, cdf, density, slope):
    low, cell = _quantile(tail, cdf, density, slope, 0)
    return _quantile(1 - (spare - tail), cdf, density, slope, cell)[0] - low


def closed_forms(k: int, n: int, lab: Labels) -> dict[str, np.ndarray]:
    """Find both intervals that need no integral, (2, pairs); nan where one refuses."""
    q1, q0 = np.meshgrid(lab.hits / lab.size, lab.refusals / lab.size, indexing="ij")
    q1, q0 = q1.ravel(), q0.ravel()
    with np.errstate(invalid="ignore"):  # where sensitivity + specificity = 1
        _, *ends = inversion.lang_reiczigel(k / n, q0, q1, n, lab.size, lab.size, z_score(CI_PROB))
    ends = np.where(q0 + q1 > 1, np.clip(ends, 0, 1), np.nan)
    naive = np.array(wilson(k, n, CI_PROB)[1:])[:, None] + np.zeros(q0.size)
    return {"naive": naive, "lang_reiczigel": ends}


def tallies(k: int, grid: Grid) -> list[np.ndarray]:
    """Probability-weighted sums over all labels at one k: (judges, methods, thetas, sums).

    The sums are: answered, held the truth, width, and width where eq. (6) answers.
    """
    likelihoods = grid.likelihoods(k)
    made = []
    for i, lab in enumerate(grid.labels):
        specificity, sensitivity = lab.judges[:, :1], lab.judges[:, 1:]
        passes = binomial(k, grid.items, THETAS * sensitivity + (1 - THETAS) * (1 - specificity))
        some = (lab.weights * passes.max(1, keepdims=True)).max(0) > NEGLIGIBLE
        weights = lab.weights[:, some]
        ends = {name: part[:, some] for name, part in closed_forms(k, grid.items, lab).items()}
        for name, variant in PRIORS.items():
            rows = np.ascontiguousarray(likelihoods[name][i][:, some].T)
            three = intervals_of(rows, variant.theta == 1, CI_PROB, CUT_OFF)
            ends |= {f"{name}_{kind}": three[j] for j, kind in enumerate(KINDS)}
        shared = np.isfinite(ends["lang_reiczigel"][0])
        sums = np.empty((len(lab.judges), len(METHODS), THETAS.size, 4))
        for j, method in enumerate(METHODS):
            low, high = ends[method]
            answered, width = np.isfinite(low), np.nan_to_num(high - low)
            held = (low[:, None] <= THETAS) & (high[:, None] >= THETAS)
            sums[:, j, :, 0] = (weights @ answered)[:, None]
            sums[:, j, :, 1] = weights @ held
            sums[:, j, :, 2] = (weights @ width)[:, None]
            sums[:, j, :, 3] = (weights[:, shared] @ width[shared])[:, None]
        made.append(sums * passes[:, None, :, None])
    return made


_GRID: Grid | None = None


def _start(sizes: dict[int, tuple], items: int) -> None:
    global _GRID
    _GRID = Grid(sizes, items)


def _some_tallies(ks: list[int]) -> list[np.ndarray]:
    assert _GRID is not None
    weights = [0.5 if 2 * k == _GRID.items else 1.0 for k in ks]
    parts = [[w * part for part in tallies(k, _GRID)] for k, w in zip(ks, weights, strict=True)]
    return [sum(part) for part in zip(*parts, strict=True)]


def study(
    sizes: dict[int, tuple] = SIZES, items: int = TEST_ITEMS, workers: int = 1
) -> tuple[pd.DataFrame, float]:
    """Enumerate; the table, and the largest probability that was left out of any cell."""
    ks = np.arange(items // 2 + 1)
    tasks = [part.tolist() for part in np.array_split(ks, min(len(ks), 64))]
    if workers == 1:
        _start(sizes, items)
        return _tabled(sizes, _summed(map(_some_tallies, tasks), len(tasks)))
    with get_context("spawn").Pool(workers, _start, (sizes, items)) as pool:
        return _tabled(sizes, _summed(pool.imap_unordered(_some_tallies, tasks), len(tasks)))


def _summed(parts: Iterable[list[np.ndarray]], count: int) -> list[np.ndarray]:
    total: list[Any] = []
    for done, part in enumerate(parts, 1):
        total = [a + b for a, b in zip(total, part, strict=True)] if total else part
        if sys.stderr.isatty():
            print(f"\r{done / count:4.0%}", end="", file=sys.stderr, flush=True)
    return total


def _tabled(sizes: dict[int, tuple], total: list[np.ndarray]) -> tuple[pd.DataFrame, float]:
    """Add each judge's mirror, and divide."""
    parts = []
    for (m, judges), sums in zip(sizes.items(), total, strict=True):
        both = [tuple(judge) for judge in labels_of(m, judges).judges]
        for q0, q1 in judges:
            whole = sums[both.index((q0, q1))] + sums[both.index((q1, q0))][:, ::-1]
            mass = whole[METHODS.index("naive"), :, 0]  # the naive interval always answers
            shared = whole[METHODS.index("lang_reiczigel"), :, 0]
            for method, (answered, *rest) in zip(METHODS, whole.transpose(0, 2, 1), strict=True):
                held, width, width_too = rest
                columns = {"m": m, "q0": q0, "q1": q1, "method": method, "theta": THETAS.round(2)}
                columns |= {"coverage": held / answered, "width": width / answered}
                refused = np.where(method == "lang_reiczigel", 1 - answered / mass, 0.0)
                columns |= {"refused": np.maximum(refused, 0), "left_out": 1 - mass}
                columns |= {"width_where_eq6_answers": width_too / shared}
                parts.append(pd.DataFrame(columns))
    table = pd.concat(parts, ignore_index=True)
    return table, float(table["left_out"].abs().max())


#: What is drawn, and how; the rest is in the table.
LINES = {
    "lang_reiczigel": ("Lang-Reiczigel, eq. (6)", {"color": "k", "lw": 1.8}),
    "flat_eti": ("flat, ETI", {"color": "C0", "ls": ":", "lw": 1.3}),
    "flat_eti_bounded": ("flat, bounded ETI", {"color": "C0", "lw": 1.5}),
    "flat_hdi": ("flat, HDI", {"color": "C1", "lw": 1.1}),
    "jeffreys_eti_bounded": ("Jeffreys, bounded ETI", {"color": "C4", "lw": 1.1}),
    "beta21_eti_bounded": ("Beta(2, 1) for the judge, bounded ETI", {"color": "C2", "lw": 1.5}),
}
#: What is drawn: a good judge, a middling one and one that passes nearly everything (specificity,
#: sensitivity), with few labels and with many.
COLUMNS = ((0.9, 0.9), (0.7, 0.7), (0.2, 0.97))
DRAWN = (20, 200)


def draw(table: pd.DataFrame) -> Any:
    """Coverage by theta, and mean width relative to Lang-Reiczigel below it."""
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=(9, 9.5), layout="constrained")
    for m, row in zip(DRAWN, figure.subfigures(len(DRAWN), 1), strict=True):
        row.suptitle(f"{m} labels, half of them good items", x=0.01, ha="left", fontsize=12)
        axes = row.subplots(2, len(COLUMNS), sharex=True, sharey="row", height_ratios=[3, 2])
        for (q0, q1), (above, below) in zip(COLUMNS, axes.T, strict=True):
            cells = table[(table["m"] == m) & (table["q0"] == q0) & (table["q1"] == q1)]
            draw_judge(dict(list(cells.groupby("method"))), above, below)
            above.set_title(f"specificity {q0}, sensitivity {q1}", fontsize=11)
            below.set_xlabel("true share of good outputs")
        axes[0, 0].set_ylabel("coverage")
        axes[1, 0].set_ylabel("width / eq. (6)")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    return figure


def draw_judge(by_method: dict[Any, pd.DataFrame], above: Any, below: Any) -> None:
    """Draw one judge's coverage and widths."""
    usual = by_method["lang_reiczigel"]["width"].to_numpy()
    for method, (label, how) in LINES.items():
        one = by_method[method]
        above.plot(one["theta"], one["coverage"], label=label, **how)
        below.plot(one["theta"], one["width_where_eq6_answers"] / usual, **how)
    above.axhline(CI_PROB, color="0.4", lw=0.8, ls="--")
    above.set_ylim(0.86, 1.005)
    below.set_ylim(0.55, 1.45)
    for ax in (above, below):
        ax.grid(alpha=0.25)


class Part:
    """Some rows of the table, and what the text says of them."""

    def __init__(self, table: pd.DataFrame, sizes: tuple, judges: tuple):
        judge = pd.MultiIndex.from_frame(table[["q0", "q1"]])
        self.rows = table[table["m"].isin(sizes) & judge.isin(judges)]

    def __call__(self, method: str, where: str = "inside", column: str = "coverage") -> pd.Series:
        """One column at one method, by judge and theta; `where` is inside, ends or all."""
        one = self.rows[self.rows["method"] == method].set_index(["m", "q0", "q1", "theta"])
        ends = one.index.get_level_values("theta").isin([0, 1])
        return one[column][{"inside": ~ends, "ends": ends, "all": ends | ~ends}[where]]

    def means(self, method: str, column: str = "coverage") -> pd.Series:
        """Mean over theta, by setting."""
        return self(method, "all", column).groupby(level=["m", "q0", "q1"]).mean()

    def ratio(self, method: str, base: str = "lang_reiczigel") -> pd.Series:
        """Mean width in relation to that of another method, where eq. (6) answers."""
        return self.means(method, WIDTH) / self.means(base, WIDTH)


WIDTH = "width_where_eq6_answers"


def span(values: pd.Series, how: str = ".3f") -> str:
    return f"{values.min():{how}} to {values.max():{how}}"


def overview(table: pd.DataFrame) -> str:
    """Write a Markdown table: a line for each setting, least coverage and relative mean width."""
    shown = [name for name in LINES if name != "flat_eti"]
    head = ["m", "specificity", "sensitivity", "eq. (6) refuses", *(LINES[x][0] for x in shown)]
    lines = [head, ["---"] * len(head)]
    for (m, q0, q1), _ in table.groupby(["m", "q0", "q1"]):
        part = Part(table, (m,), ((q0, q1),))
        cells = [f"{m}", f"{q0}", f"{q1}"]
        cells.append(f"{part('lang_reiczigel', 'all', 'refused').mean():.1%}")
        for name in shown:
            inside, ends = part(name).min(), part(name, "ends").min()
            cells.append(f"{inside:.3f} / {ends:.3f} / {part.ratio(name).item():.2f}")
        lines.append(cells)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def told(table: pd.DataFrame) -> str:
    """Put the table into words. The sentences were written after looking at it."""
    strong, weak = Part(table, (200, 500), STRONG), Part(table, (20, 40, 100, 200), WEAK)
    few, one_sided = Part(table, (20, 40, 100), STRONG), Part(table, (20, 40, 100, 200), WEAK[1:])
    eq6, plus, better = "lang_reiczigel", "flat_eti_bounded", "beta21_eti_bounded"
    relative = strong(plus, "all", WIDTH) / strong(eq6, "all", WIDTH)
    theta = relative.index.get_level_values("theta")
    middle, outer = relative[(theta >= 0.2) & (theta <= 0.8)], relative[theta.isin([0, 1])]
    near = relative[(theta > 0) & (theta < 1)]
    wide = few(plus, "inside", WIDTH) / few(eq6, "inside", WIDTH)
    small = one_sided(eq6, "all").groupby(level="m").min()
    ours, twos = (one_sided(name, "all").groupby(level="m").min() for name in (plus, better))
    return f"""# Coverage and width of the intervals for a prevalence

Made by `python benchmarks/prevalence/intervals.py`. Coverage here is a sum over *every* possible
table of {TEST_ITEMS} verdicts and m labels (half of them good items), not an average over simulated
tables: it replaces the 10,000 replications a cell that such studies use, whose error would be 0.2
points. What was left out of any cell has probability {table["left_out"].abs().max():.0e}. Interval
ends are good to 2e-5, and to 1e-5 for all but the rarest tables (against the package's own
quadrature). All posteriors assume a judge better than chance. ETI is the equal-tailed interval, HDI
the shortest; the bounded ETI moves an end of it to 0 or 1 if the integrated
likelihood there exceeds exp(-1.96^2 / 2) = {CUT_OFF:.3f} of its maximum. Eq. (6) of Lee et al. is
the interval of Lang and Reiczigel, clipped to [0, 1]; where it refuses (sensitivity + specificity
not above 1 among the labels) its coverage and width are those of the tables that it answers, and
relative widths compare the same tables. "Inside" is theta = .05 to .95.

## What the numbers say

**Eight settings of Lee et al., Appendix E** (m = 200 and 500, rates .7 and .9)

* Eq. (6): mean coverage {span(strong.means(eq6))}, never below {strong(eq6, "all").min():.4f}.
  The naive interval covers {span(strong.means("naive"), ".2f")} on average.
* Flat prior, ETI: {strong("flat_eti").min():.4f} or more inside, and
  {strong("flat_eti", "ends").max():.0f} at theta = 0 and 1, as it must: both tails hold 2.5 %.
* Flat prior, bounded ETI: the same inside ({strong(plus).min():.4f} or more),
  {span(strong(plus, "ends"))} at 0 and 1; it costs
  {span(strong.ratio(plus, "flat_eti") - 1, ".1%")} of mean width over ETI.
* HDI under-covers: down to {strong("flat_hdi").min():.3f} inside with the flat prior and
  {strong("jeffreys_hdi").min():.3f} with Jeffreys' (near theta = .1 to .35 and its mirror), and
  {strong("flat_hdi", "ends").min():.3f} at 0 and 1 with the flat one.
* Jeffreys' ETI and bounded go down to {strong("jeffreys_eti_bounded").min():.3f} inside, and are
  {span(strong.ratio("jeffreys_eti_bounded", "flat_eti") - 1, ".1%")} wider than the flat ETI.
  No reason to prefer them.
* Beta(2, 1) for sensitivity and specificity, bounded: {strong(better).min():.4f} or more inside,
  and {span(1 - strong.ratio(better, plus), ".1%")} shorter than flat.

**Few labels** (m = 20 to 100, rates .7 and .9)

* Least coverage over theta: eq. (6) {few(eq6, "all").min():.3f}, flat bounded ETI
  {few(plus, "all").min():.3f}, Beta(2, 1) bounded {few(better, "all").min():.3f}, Jeffreys' bounded
  {few("jeffreys_eti_bounded", "all").min():.3f}. Mean width in relation to eq. (6):
  {span(few.ratio(plus), ".2f")} (flat), {span(few.ratio(better), ".2f")} (Beta(2, 1)).

**Weak judges** ((.6, .6), and specificity .2 with sensitivity .97; m = 20 to 200)

* Least coverage over theta: eq. (6) {weak(eq6, "all").min():.3f}, flat bounded ETI
  {weak(plus, "all").min():.3f}, Beta(2, 1) bounded {weak(better, "all").min():.3f}, Jeffreys'
  bounded {weak("jeffreys_eti_bounded", "all").min():.3f}, flat HDI
  {weak("flat_hdi", "all").min():.3f}.
* Eq. (6) refuses up to {weak(eq6, "all", "refused").max():.0%} of the tables; a posterior always
  answers, and its interval is then wide.
* The judge that passes nearly everything (specificity .2) is the hard one. Least coverage at m =
  {", ".join(map(str, small.index))}: eq. (6) {", ".join(f"{x:.3f}" for x in small)}; flat bounded
  {", ".join(f"{x:.3f}" for x in ours)}; Beta(2, 1) bounded {", ".join(f"{x:.3f}" for x in twos)}.
* HDI is worst here: {one_sided("flat_hdi", "all").min():.3f} with the flat prior.

## What follows

**Default prior: flat for all three, restricted to a judge better than chance.** Beta(2, 1) buys
{1 - strong.ratio(better, plus).mean():.1%} of width with 200 labels or more and
{1 - few.ratio(better, plus).mean():.1%} with fewer, and its coverage holds for a good judge. But it
says that a judge is probably good, and where a judge is bad on one side that is wrong: its least
coverage is then {twos.min():.3f} where the flat prior has {ours.min():.3f}. It is a sound choice
for those who know that their judge is good, and no default. Neither prior makes 20 labels enough
for a judge with specificity .2.

**Default interval: bounded.** Plain ETI never covers a perfect or a hopeless system; HDI is shorter
because it under-covers.

**Where Lang-Reiczigel is shorter or covers better than ours** (flat, bounded). In the middle, theta
= .2 to .8, our mean width is up to {middle.max():.2f} times that of eq. (6) at m = 200 or 500 and
up to {wide.max():.2f} times with fewer labels; at exactly 0 and 1, up to {outer.max():.2f} times at
m = 200 or 500. Over all theta it is {span(strong.ratio(plus), ".3f")} times. Coverage of eq. (6) is
nearer to 95 % than ours at 0 < theta < .2 and its mirror, where ours reaches
{strong(plus).max():.3f}. Why: both move the judge's rates by the same pseudo-counts, but eq. (6)
goes to first order only, while the posterior integrates over the denominator, sensitivity +
specificity - 1, whose small values lengthen its tails; with few labels that is
coverage beyond 95 % as well as width. At 0 and 1 the centre of eq. (6) may lie outside [0, 1], and
clipping then leaves a short stub; a posterior lives inside and keeps a tail. Ours is shorter near
the ends (theta = .05 to .15 and mirrored, down to {near.min():.2f} times at m = 200 or 500).
Eq. (6) loses with weak judges: there its least coverage is {weak(eq6, "all").min():.3f}, ours
{weak(plus, "all").min():.3f}.

## Every setting

Least coverage inside / least coverage at 0 and 1 / mean width in relation to eq. (6). The naive
interval, plain ETI and every theta are in intervals.csv.gz; the picture shows three of the judges
by theta, with {DRAWN[0]} labels and with {DRAWN[1]}.

{overview(table)}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES), help="only these m")
    parser.add_argument("--workers", type=int, default=2, help="processes; 2 by default")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where to write")
    parser.add_argument("--redraw", action="store_true", help="compute nothing, use what is stored")
    asked = parser.parse_args()
    stored = asked.out / "intervals.csv.gz"
    begin = time.perf_counter()
    if asked.redraw:
        table = pd.read_csv(stored)
    else:
        asked.out.mkdir(parents=True, exist_ok=True)
        table, lost = study({m: SIZES[m] for m in asked.sizes}, workers=asked.workers)
        packed = {"method": "gzip", "mtime": 1}  # the same bytes for the same numbers
        table.to_csv(stored, index=False, float_format="%.5g", compression=packed)
        print(f"{time.perf_counter() - begin:.0f} s; left out: probability {lost:.1e}")
    if set(DRAWN) <= set(table["m"]):
        draw(table).savefig(asked.out / "intervals.png", dpi=110)
    if set(SIZES) <= set(table["m"]):
        (asked.out / "intervals.md").write_text(told(table))
    print(overview(table))


if __name__ == "__main__":
    main()
