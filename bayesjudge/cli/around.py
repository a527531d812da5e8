"""What surrounds the numbers of ``bayesjudge prevalence``: inputs, designs and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bayesjudge import prevalence as room
from bayesjudge.cli.output import Section, Shared
from bayesjudge.core.fit import Fit
from bayesjudge.core.estimate import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PLURALS = {"system": "systems", "stratum": "strata", "judge": "judges"}


def inputs_of(counts: room.Counts, priors: room.Priors, source: str) -> dict[str, Any]:
    """Say what was read.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels.
    priors : Priors
        One for each unknown.
    source : str
        Where the counts come from.

    Returns
    -------
    dict
        For screen and document.
    """

    def total(values: Any) -> int:
        return int(values if isinstance(values, int) else values.sum())

    return {
        "data": source,
        "items": total(counts.test_n) + total(counts.labelled_n),
        "labelled": total(counts.labelled_n),
        "unparsed": total(counts.unparsed),
        "calibration": f"{counts.calibration}: {room.CALIBRATIONS[counts.calibration]}",
        **({_PLURALS[counts.dim]: ", ".join(counts.systems)} if counts.systems else {}),
        **({} if counts.elsewhere is None else {"from elsewhere": _elsewhere(counts)}),
        "priors": str(priors),
    }


def _elsewhere(counts: room.Counts) -> str:
    good, _, bad, _ = counts.elsewhere.reshape(4, -1).sum(axis=1)
    return f"{good} good and {bad} bad labelled items, which tell the judge's rates only"


def designs_of(counts: room.Counts, priors: room.Priors, shared: Shared) -> list[Section]:
    """Tell what each design of the labels assumes, and how wide its interval would be.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels.
    priors : Priors
        One for each unknown.
    shared : Shared
        Options of the command.

    Returns
    -------
    list of Section
        One, a line a design; none where labels have known propensities.
    """
    if counts.propensity is not None:
        return []
    table = room.what_designs_buy(counts, priors, ci_prob=shared.ci_prob)
    if counts.dim == "stratum":
        table = table[table["quantity"] == "overall_prevalence"]
    lines = []
    for (design, declared), rows in table.groupby(["calibration", "declared"], sort=False):
        several = f" on average of {len(rows)}" if len(rows) > 1 else ""
        width = f"{rows['width'].mean():.3f} wide{several}"
        mark = " (declared)" if declared else ""
        lines.append(f"{design}{mark}: {rows['assumes'].iloc[0]}; the interval is {width}")
    heading = "What each design of the labels assumes, and buys if it holds"
    return [Section(heading, lines, "designs", lines)]


def pictures_of(made: Sequence[Estimate | Fit], shared: Shared) -> dict[str, Axes]:
    """Draw what was sampled.

    Parameters
    ----------
    made : sequence of Estimate or Fit
        All results.
    shared : Shared
        Options of the command.

    Returns
    -------
    dict of str to matplotlib.axes.Axes
        By caption; none without a fit.
    """
    fits = [one for one in made if isinstance(one, Fit)]
    if not fits:
        return {}
    caption = "From the judge's pass rate (circle) to the prevalence (dot)"
    drawn = {caption: room.plot_correction(fits[-1], ci_prob=shared.ci_prob)}
    if fits[-1].data.dim == "stratum":
        caption = "Strata, with their shares of the items, and all of them"
        drawn[caption] = room.plot_strata(fits[-1], ci_prob=shared.ci_prob)
    elif len(fits[-1].data.systems or ()) > 1 and fits[-1].data.dim == "system":
        caption = "Systems, the best first, with the probability of being the best"
        drawn[caption] = room.plot_systems(room.ranking(fits[-1], ci_prob=shared.ci_prob))
    return drawn
