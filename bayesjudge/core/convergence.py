"""R-hat, effective sample sizes and Monte Carlo errors of draws (chain, draw).

The numbers are ArviZ's (Vehtari et al. 2021, doi:10.1214/20-BA1221). Whatever one needs of ArviZ,
all of its statistics and SciPy's are imported with it, which takes longer than many a fit.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

#: Draws of a chain below this have no diagnostics.
FEWEST = 4
TAILS = (0.05, 0.95)


def r_hat(draws: np.ndarray) -> float:
    """Rank-normalised split R-hat, of the bulk or of the tails, whichever is larger."""
    if len(draws) < 2 or _unfit(draws):
        return np.nan
    halves = _split(draws)
    folded = np.abs(halves - np.median(halves))
    return max(_between_to_within(_normal_scores(chains)) for chains in (halves, folded))


def ess_bulk(draws: np.ndarray) -> float:
    """How many independent draws would place the centre as well."""
    return np.nan if _unfit(draws) else _ess(_normal_scores(_split(draws)))


def ess_tail(draws: np.ndarray) -> float:
    """How many independent draws would place the 5 % and 95 % quantiles as well, the fewer."""
    if _unfit(draws):
        return np.nan
    return min(_ess(_split(draws <= np.quantile(draws, tail)).astype(float)) for tail in TAILS)


def mcse_mean(draws: np.ndarray) -> float:
    """Monte Carlo standard error of the mean."""
    return np.nan if _unfit(draws) else float(np.std(draws, ddof=1) / _ess(_split(draws)) ** 0.5)


def _unfit(draws: np.ndarray) -> bool:
    return draws.shape[1] < FEWEST or not np.isfinite(draws).all()


def _split(draws: np.ndarray) -> np.ndarray:
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def _normal_scores(draws: np.ndarray) -> np.ndarray:
    """Normal quantiles of the ranks, equal draws having their average rank (Blom 1958)."""
    _, where, counts = np.unique(draws, return_inverse=True, return_counts=True)
    ranks = counts.cumsum() - (counts - 1) / 2
    return ndtri((ranks[where.reshape(draws.shape)] - 3 / 8) / (draws.size + 1 / 4))


def _between_to_within(draws: np.ndarray) -> float:
    n = draws.shape[1]
    between, within = n * draws.mean(axis=1).var(ddof=1), draws.var(axis=1, ddof=1).mean()
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.sqrt((between / within + n - 1) / n))


def _ess(draws: np.ndarray) -> float:
    """Effective draws for the mean: autocorrelations summed by Geyer's monotone sequence."""
    if np.ptp(draws) < np.finfo(float).resolution:
        return draws.size
    chains, n = draws.shape
    spectrum = np.fft.rfft(draws - draws.mean(axis=1, keepdims=True), 2 << n.bit_length(), axis=1)
    covariances = np.fft.irfft(np.abs(spectrum) ** 2, axis=1)[:, :n].mean(axis=0) / n
    within = covariances[0] * n / (n - 1)
    total = covariances[0] + (draws.mean(axis=1).var(ddof=1) if chains > 1 else 0)
    rho = 1 - (within - covariances) / total
    rho[0] = 1
    even, odd = rho[: n // 2 * 2 : 2], rho[1::2]
    pairs = even + odd
    # a pair that is not positive ends the sum, but for its first half
    last = max((n - 3) // 2, 0)
    ends = np.flatnonzero(pairs[: last + 1] <= 0)
    end = int(ends[0]) if ends.size else last
    half = even[end] if even[end] > 0 or pairs[end] >= 0 else 0
    tau = -1 + 2 * np.minimum.accumulate(pairs[:end]).sum() + half
    return float(draws.size / max(tau, 1 / np.log10(draws.size)))
