"""``bayesjudge prevalence --classes``: more than pass and fail, and pairs in both orders."""

from __future__ import annotations

from pathlib import Path

from bayesjudge import prevalence as room
from bayesjudge.cli.output import Shared, Story, present
from bayesjudge.core.errors import UninformativeJudgeError
from bayesjudge.core.fit import Fit
from bayesjudge.core.estimate import Estimate
from bayesjudge.readers import read_table


def count_classes(
    table: Path,
    shared: Shared,
    *,
    verdict: str,
    truth: str,
    calibration: str,
    classes: list[str] | None,
    swapped: str | None,
) -> list[Estimate | Fit]:
    """Estimate the share of each class, and present.

    Parameters
    ----------
    table : Path
        One row an item.
    shared : Shared
        Options of the command.
    verdict, truth : str
        Columns.
    calibration : str
        How the labelled items were chosen.
    classes : list of str or None
        Names; None with `swapped` means win, tie and loss.
    swapped : str or None
        Column with the verdict in the other order.

    Returns
    -------
    list of Estimate or Fit
        All results.

    Raises
    ------
    InputError
        Where a column or a label is not understood.
    ConvergenceError
        Where the sampler did not converge and ``shared.strict`` asks for an error.
    """
    columns = {"verdict": verdict, "truth": truth, "calibration": calibration}
    if swapped is None:
        rows = read_table(table, [verdict, truth])
        counts = room.ClassCounts.from_frame(rows, classes=classes, **columns)
    else:
        rows = read_table(table, [verdict, swapped, truth])
        words = classes or ["win", "tie", "loss"]
        counts = room.ClassCounts.from_pairs(rows, swapped=swapped, classes=words, **columns)
    instant, inputs = [], _inputs(counts, str(table))
    for method in ("inverse", "least_squares"):
        try:
            instant.append(room.class_shares(counts, ci_prob=shared.ci_prob, method=method))
        except UninformativeJudgeError as error:
            inputs["no closed form"] = "; ".join(error.problems)

    def sample() -> Fit:
        return room.fit_classes(counts, random_seed=shared.seed, strict=shared.strict)

    paired = counts.credit is not None
    story = Story(
        command="prevalence",
        title="Win rate: wins, and half the ties" if paired else "Prevalence of each class",
        answer="win_rate" if paired else "prevalence",
        inputs=inputs,
        brief=lambda method: method.removeprefix("Classes, "),
    )
    return present(instant, sample, shared, story)


def _inputs(counts: room.ClassCounts, source: str) -> dict[str, str]:
    labelled, items = int(counts.labelled.sum()), int(counts.test.sum())
    about = {
        "data": source,
        "items": str(items + labelled),
        "labelled": str(labelled),
        "calibration": f"{counts.calibration}: {room.CALIBRATIONS[counts.calibration]}",
        "classes": ", ".join(counts.classes),
    }
    if counts.leanings is not None:
        first, second = counts.leanings
        about["orders"] = f"better when shown first: {first}, when shown second: {second}"
    return about
