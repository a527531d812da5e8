"""Pictures of a rubric: what people would say of each criterion, and what the judge says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesjudge.core.errors import expect
from bayesjudge.core.plots import new_axes, plain_text, write_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesjudge.core.estimate import Estimate


@plain_text
def plot_criteria(criteria: Estimate, *, system: str = "", ax: Axes | None = None) -> Axes:
    """Draw each criterion's share with its interval, and the judge's own.

    Parameters
    ----------
    criteria : Estimate
        From `by_criterion`.
    system : str, default ""
        Whose outputs, if there are several systems.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes
        A line a criterion; the judge's share is an open circle.

    Raises
    ------
    InputError
        If there are several systems, and none of them is named.
    """
    every = [(q, at, row) for q, at, row in criteria.rows() if str(at.get("system", "")) == system]
    expect("plot_criteria", bool(every), "name one of the systems: system=")
    axes = ax or new_axes()
    names = list(dict.fromkeys(str(at["criterion"]) for _, at, _ in every))
    for quantity, at, row in every:
        y = names.index(str(at["criterion"]))
        if quantity == "criterion_met":
            axes.plot([row.low, row.high], [y, y], color="C0")
            axes.plot(row.value, y, "o", color="C0", label="people" if not y else None)
        elif quantity == "judge_met":
            axes.plot(row.value, y, "o", color="C1", fillstyle="none", label=None if y else "judge")
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of outputs that meet it, or mean grade between 0 and 1")
    axes.legend()
    write_title(axes, "What people would say of each criterion, and what the judge says")
    return axes
