"""What the shifts say against an answer: named, with the numbers, in words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bayesjudge.bias.data import Shifts
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
