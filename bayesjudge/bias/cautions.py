"""Assumptions of the estimators, and the cautions that the shifts themselves raise."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bayesjudge.bias.data import Shifts
from bayesjudge.core.counting import collapse
from bayesjudge.core.diagnosis import findings
from bayesjudge.core.estimate import Assumption, Caution, Target

SAMPLED = Assumption.of("sampled-neighbours")
INDEPENDENT = Assumption.of("independent-neighbours")
EQUAL_NOISE = Assumption.of("equal-repeat-noise")
NORMAL = Assumption.of("normal-shifts")
SEPARATE = Assumption.of("separate-shifts")

#: Reported from so many times on that an interval should have been as wide.
NARROW = 1.25
#: Reported from such a correlation on, if it is also three of its standard errors from 0.
TOGETHER = 0.1
#: With fewer items than this a kurtosis or a correlation says nothing.
FEW_ITEMS = 50


@findings.register
def _of_shifts(shifts: Shifts, target: Target) -> tuple[Caution, ...]:
    """Missing scores, unusual repeats, clustered neighbours, and reruns that move."""
    return (*_missing(shifts), *_repeated(shifts), *_clustered(shifts), *_reruns(shifts))


def _missing(shifts: Shifts) -> Iterator[Caution]:
    total = int(shifts.missing.sum())
    if not total:
        return
    done = {
        "drop": "they were left out, which is right only if scores go missing whatever their shift",
        "worst": "each counts as the largest shift that the scale allows",
    }[shifts.missing_as]
    kept = len(np.unique(shifts.neighbour))
    yield Caution.of("missing-rejudgements", total=total, kept=kept, done=done)


def _repeated(shifts: Shifts) -> Iterator[Caution]:
    if shifts.counts is None or shifts.averaged == 1:
        return
    # reruns are counted with the baseline, which then has more scores by right
    cells = shifts.counts[..., 1:] if shifts.reruns else shifts.counts
    over = int((cells > shifts.averaged).sum())
    if over:
        yield Caution.of(
            "more-repeats-than-usual",
            over=over,
            cells=np.count_nonzero(cells),
            averaged=shifts.averaged,
        )


def _clustered(shifts: Shifts) -> Iterator[Caution]:
    if shifts.design == "batch":
        return
    _, count = collapse(np.stack([shifts.judge, shifts.perturbation, shifts.item], axis=1))
    if count.max() > 1:
        yield Caution.of("clustered-neighbours", most=count.max())


def _reruns(shifts: Shifts) -> Iterator[Caution]:
    for j, judge in enumerate(shifts.judges):
        for r in shifts.reruns:
            rows = (shifts.judge == j) & (shifts.perturbation == shifts.perturbations.index(r))
            if not rows.any():
                continue
            moved = shifts.only(judge=judge, perturbation=r).lengths
            if moved.any():
                yield Caution.of(
                    "reruns-move",
                    share=(moved > 0).mean(),
                    reruns=moved.size,
                    r=r,
                    judge=judge,
                    rms=np.sqrt((moved**2).mean()),
                )


# What the normal model leaves out ----------------------------------------------------------------


def model_cautions(shifts: Shifts) -> tuple[Caution, ...]:
    """Heavy tails, and items that move alike under several perturbations.

    ``heavy-tailed-shifts``: the kurtosis of the differences makes a normal model's intervals of RMS
    shifts too narrow. ``shifts-together``: differences under two perturbations vary together by
    more than their shared baseline's noise, so that fitting them at once moves the RMS shifts.
    """
    return (*_heavy(shifts), *_together(shifts))


def tail_factor(moments: tuple[float, float], n: int) -> float:
    """How much wider than normal shifts allow the interval of a mean square has to be.

    `moments` are the means of the squares and of the fourth powers of `n` numbers. Their mean
    square has a relative variance of ``(kurtosis - 1) / n``, which is ``2 / n`` for normal ones.
    The factor is 1 if there are too few numbers to tell, or it is small.
    """
    square, fourth = moments
    if n < FEW_ITEMS or square == 0:
        return 1.0
    kurtosis = fourth / square**2
    wider = float(np.sqrt(max(kurtosis - 1, 0) / 2))
    return wider if wider > NARROW and kurtosis - 3 > 3 * np.sqrt(24 / n) else 1.0


def _heavy(shifts: Shifts) -> Iterator[Caution]:
    shown = []
    for judge, x in _differences(shifts):
        for perturbation, differences in zip(shifts._changed, x.T, strict=True):
            seen = differences[np.isfinite(differences)]
            off = seen - seen.mean() if seen.size else seen
            factor = tail_factor(((off**2).mean(), (off**4).mean()), seen.size) if seen.size else 1
            if factor > 1:
                where = (judge, perturbation)[2 - len(shifts._dims) :]
                shown.append(f"{', '.join(where)} {factor:.1f}")
    if shown:
        yield Caution.of("heavy-tailed-shifts", "model", factors=shown)


def _together(shifts: Shifts) -> Iterator[Caution]:
    worst, most, effect = "", 0.0, ""
    for j, (name, x) in enumerate(_differences(shifts)):
        whole = x[np.isfinite(x).all(axis=1)]
        if len(whole) < FEW_ITEMS or x.shape[1] < 2 or not whole.std(axis=0).all():
            continue
        assert shifts.counts is not None
        assert shifts.squares is not None
        assert shifts.freedom is not None
        covariance = np.cov(whole.T)
        parts = (1 / shifts.counts[j][np.isfinite(x).all(axis=1)]).mean(axis=0)
        known = bool(shifts.freedom[j])
        if known:
            beyond = covariance - shifts.squares[j] / shifts.freedom[j] * parts[0]
        else:  # noise may be anything from none to all that differs from item to item
            most_noise = (np.diag(covariance) / (parts[0] + parts[1:])).min() * parts[0]
            beyond = np.minimum(covariance, 0) + np.maximum(covariance - most_noise, 0)
        scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
        rest = np.abs(np.triu(beyond / scale, 1)).max()
        if rest > max(TOGETHER, most, 3 / np.sqrt(len(whole))):
            worst, most, effect = name, float(rest), "explains" if known else "can explain"
    if most:
        who = f" of {worst!r}" if len(shifts.judges) > 1 else ""
        yield Caution.of("shifts-together", who=who, most=most, noise=effect)


def _differences(shifts: Shifts) -> Iterator[tuple[str, np.ndarray]]:
    """Judge, and differences of mean scores from the baseline; ``nan`` if there are none."""
    assert shifts.counts is not None
    assert shifts.means is not None
    seen = (shifts.counts[..., :1] > 0) & (shifts.counts[..., 1:] > 0)
    off = np.where(seen, shifts.means[..., 1:] - shifts.means[..., :1], np.nan)
    yield from zip(shifts.judges, off, strict=True)
