"""Randomization test of labels by item: were the labelled rows drawn at random?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesjudge.core.randomization import ROUNDING, p_value, samples_for
from bayesjudge.prevalence.cautions import SHIFT_P
from bayesjudge.verdicts.reading import UNLABELLED

#: A sum so many standard deviations from its mean, or nearer, is not drawn: it is not rare.
NOT_RARE = 1.96


class Verdicts(NamedTuple):
    """One system's rows by pattern, and items of each pattern."""

    rows: np.ndarray
    passed: np.ndarray
    labelled: np.ndarray
    labelled_pass: np.ndarray
    items: np.ndarray

    @classmethod
    def of(cls, cells: np.ndarray, count: np.ndarray) -> Verdicts:
        """From cells of shape (n_patterns, 3, 2)."""
        labelled = cells[:, :UNLABELLED].sum(axis=(1, 2))
        passed = cells[..., 1].sum(axis=1)
        labelled_passes = cells[:, :UNLABELLED, 1].sum(axis=1)
        return cls(cells.sum(axis=(1, 2)), passed, labelled, labelled_passes, count)

    def of_size(self, size: int) -> Verdicts:
        """Those of items with so many rows."""
        return Verdicts(*(column[self.rows == size] for column in self))


def p_values(cells: np.ndarray, count: np.ndarray) -> np.ndarray:
    """How rarely random labels fall on as unusual a number of passes, by system.

    Given how many labels each item has, a random sample of items, of rows, or of rows of sampled
    items gives these numbers to any items with as many rows, and to any rows of theirs, alike.
    Labelled passes are compared with those of such samples; 1 if they are not rare.
    """
    systems = cells.shape[1]
    samples = samples_for(SHIFT_P / systems)
    return np.array([_p_value(Verdicts.of(cells[:, i], count), samples) for i in range(systems)])


def _p_value(whole: Verdicts, samples: int) -> float:
    strata = [whole.of_size(size) for size in np.unique(whole.rows[whole.labelled > 0])]
    mean, variance = np.sum([(0.0, 0.0), *map(_moments, strata)], axis=0)
    far = abs(float(whole.items @ whole.labelled_pass) - mean)
    if far <= NOT_RARE * np.sqrt(variance) + ROUNDING:
        return 1.0
    rng = np.random.default_rng(0)
    drawn = sum(_labelled_passes(stratum, samples, rng) for stratum in strata)
    return p_value(np.abs(drawn - mean), far)


def _moments(stratum: Verdicts) -> tuple[float, float]:
    """Mean and variance of the labelled passes of items that have equally many rows."""
    size, weights = stratum.rows[0], stratum.items / stratum.items.sum()
    share, labels = stratum.passed / size, stratum.labelled.astype(float)
    mean_share, mean_labels = weights @ share, weights @ labels
    between = (weights @ (share - mean_share) ** 2) * (weights @ (labels - mean_labels) ** 2)
    within = (weights @ (share * (1 - share))) * (weights @ (labels * (size - labels)))
    items = stratum.items.sum()
    variance = items**2 * between / max(items - 1, 1) + items * within / max(size - 1, 1)
    return float(items * mean_share * mean_labels), float(variance)


def _labelled_passes(stratum: Verdicts, samples: int, rng: np.random.Generator) -> np.ndarray:
    """Labelled passes of random samples, of items that have equally many rows."""
    from scipy.stats import hypergeom  # slow to load

    size, passes = int(stratum.rows[0]), np.zeros(samples)
    kinds, kind = np.unique(stratum.passed, return_inverse=True)
    left = np.tile(np.bincount(kind, stratum.items).astype(int)[:, None], samples)
    for labels in np.unique(stratum.labelled[stratum.labelled > 0]):
        wanted = np.full(samples, int(stratum.items[stratum.labelled == labels].sum()))
        for i, passed in enumerate(kinds):  # items with so many passes among those drawn
            items = rng.hypergeometric(left[i], left[i + 1 :].sum(axis=0), wanted)
            left[i] -= items
            wanted -= items
            held = np.arange(max(0, labels - size + passed), min(labels, passed) + 1)
            chances = hypergeom.pmf(held, size, passed, labels)
            passes += rng.multinomial(items, chances / chances.sum()) @ held
    return passes
