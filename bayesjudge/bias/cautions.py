"""What the shifts say against an answer: named, with the numbers, in words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bayesjudge.bias.data import Shifts
from bayesjudge.bias.labels import label
from bayesjudge.core.estimate import Caution


def cautions_of(shifts: Shifts) -> tuple[Caution, ...]:
    """List what a reader should know before believing an answer from these shifts.

    Parameters
    ----------
    shifts : Shifts
        Re-judged scores and their baselines.

    Returns
    -------
    tuple of Caution
        Among ``missing-rejudgements``, ``more-repeats-than-usual``, ``clustered-neighbours`` and
        ``reruns-move``.
    """
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
    yield Caution(
        "missing-rejudgements",
        f"{total} re-judgements or their baselines have no score ({kept} neighbours remain); "
        f"{done}",
    )


def _repeated(shifts: Shifts) -> Iterator[Caution]:
    if shifts.counts is None or shifts.averaged == 1:
        return
    # reruns are counted with the baseline, which then has more scores by right
    cells = shifts.counts[..., 1:] if shifts.reruns else shifts.counts
    over = int((cells > shifts.averaged).sum())
    if over:
        yield Caution(
            "more-repeats-than-usual",
            f"{over} of {np.count_nonzero(cells)} combinations of item, judge and variant have "
            f"more than the usual {shifts.averaged} scores: do two items share a name? Then their "
            "scores are averaged, and shifts between different items are taken for bias",
        )


def _clustered(shifts: Shifts) -> Iterator[Caution]:
    if shifts.design == "batch":
        return
    keys = np.stack([shifts.judge, shifts.perturbation, shifts.item])
    _, count = np.unique(keys, axis=1, return_counts=True)
    if count.max() > 1:
        yield Caution(
            "clustered-neighbours",
            f"an item has up to {count.max()} neighbours under one perturbation; they share its "
            "baseline and are not independent, so that bounds which count neighbours are too "
            "good; perturb more items rather than one item more often",
        )


def _reruns(shifts: Shifts) -> Iterator[Caution]:
    for j, judge in enumerate(shifts.judges):
        for r in shifts.reruns:
            rows = (shifts.judge == j) & (shifts.perturbation == shifts.perturbations.index(r))
            if not rows.any():
                continue
            moved = shifts.only(judge=judge, perturbation=r).lengths
            if moved.any():
                yield Caution(
                    "reruns-move",
                    f"{(moved > 0).mean():.0%} of the {moved.size} reruns {r!r} of {judge!r} moved "
                    f"(RMS {np.sqrt((moved**2).mean()):.3g} points) although nothing was changed: "
                    "a tolerance below that is not met by this judge on itself",
                )


#: Said from so many times on that an interval should have been as wide.
NARROW = 1.25
#: Said from such a correlation on, where it is also three of its standard errors from 0.
TOGETHER = 0.1
#: With fewer items than this a kurtosis or a correlation says nothing.
FEW_ITEMS = 50


def departures(shifts: Shifts) -> tuple[Caution, ...]:
    """Look for heavy tails, and for items that move alike under several perturbations.

    Parameters
    ----------
    shifts : Shifts
        Made by ``from_frame`` with one score.

    Returns
    -------
    tuple of Caution
        ``heavy-tailed-shifts``, where the kurtosis of the differences makes the intervals of a
        normal model too narrow for RMS shifts; ``shifts-together``, where differences under two
        perturbations vary together by more than their shared baseline's noise, so that fitting
        them at once moves the RMS shifts away from those measured.
    """
    return (*_heavy(shifts), *_together(shifts))


def tail_factor(moments: tuple[float, float], n: int) -> float:
    """How much wider than normal shifts allow the interval of a mean square has to be.

    The mean square of n numbers has a relative variance of ``(kurtosis - 1) / n``, which is
    ``2 / n`` where they are normal.

    Parameters
    ----------
    moments : tuple of float
        Mean of the squares and of the fourth powers.
    n : int
        How many numbers they are of.

    Returns
    -------
    float
        1 where there are too few numbers to tell, or the factor is small.
    """
    square, fourth = moments
    if n < FEW_ITEMS or square == 0:
        return 1.0
    kurtosis = fourth / square**2
    wider = float(np.sqrt(max(kurtosis - 1, 0) / 2))
    return wider if wider > NARROW and kurtosis - 3 > 3 * np.sqrt(24 / n) else 1.0


def _heavy(shifts: Shifts) -> Iterator[Caution]:
    found = {}
    for name, x in _differences(shifts):
        for column, own in zip(_changed(shifts), x.T, strict=True):
            seen = own[np.isfinite(own)]
            off = seen - seen.mean() if seen.size else seen
            factor = tail_factor(((off**2).mean(), (off**4).mean()), seen.size) if seen.size else 1
            if factor > 1:
                found[label(shifts, "", name, column)] = factor
    if found:
        shown = ", ".join(f"{name.strip('[]')} {factor:.1f}" for name, factor in found.items())
        yield Caution(
            "heavy-tailed-shifts",
            "a few items move much further than a normal distribution has them: the intervals of "
            f"the RMS shift by the normal model are too narrow, by these factors: {shown}; exact, "
            "and rms_shift(interval='distribution_free'), assume no shape",
        )


def _together(shifts: Shifts) -> Iterator[Caution]:
    worst, most = "", 0.0
    for j, (name, x) in enumerate(_differences(shifts)):
        whole = x[np.isfinite(x).all(axis=1)]
        if len(whole) < FEW_ITEMS or x.shape[1] < 2 or not whole.std(axis=0).all():
            continue
        assert shifts.squares is not None
        assert shifts.freedom is not None
        noise = shifts.squares[j] / shifts.freedom[j] if shifts.freedom[j] else 0.0
        own = np.cov(whole.T)
        before = _baseline_counts(shifts, j)[np.isfinite(x).all(axis=1)]
        beyond = own - noise * (1 / before).mean()
        scale = np.sqrt(np.outer(np.diag(own), np.diag(own)))
        rest = np.abs(np.triu(beyond / scale, 1)).max()
        if rest > max(TOGETHER, most, 3 / np.sqrt(len(whole))):
            worst, most = name, float(rest)
    if most:
        who = f" of {worst!r}" if len(shifts.judges) > 1 else ""
        yield Caution(
            "shifts-together",
            f"items{who} that move under one perturbation move under others too (correlation "
            f"{most:.2f} beyond what noise in their shared baseline explains), which the model "
            "leaves out: its RMS shifts are several per cent off those measured; fit one "
            "perturbation at a time, shifts.only(perturbation=...)",
        )


def _differences(shifts: Shifts) -> Iterator[tuple[str, np.ndarray]]:
    """Judge, and differences of mean scores from the baseline; ``nan`` where there are none."""
    assert shifts.counts is not None
    assert shifts.means is not None
    seen = (shifts.counts[..., :1] > 0) & (shifts.counts[..., 1:] > 0)
    off = np.where(seen, shifts.means[..., 1:] - shifts.means[..., :1], np.nan)
    yield from zip(shifts.judges, off, strict=True)


def _baseline_counts(shifts: Shifts, judge: int) -> np.ndarray:
    assert shifts.counts is not None
    return shifts.counts[judge, :, 0]


def _changed(shifts: Shifts) -> list[str]:
    return [name for name in shifts.perturbations if name not in shifts.reruns]
