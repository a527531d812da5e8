"""Curves over the number of tries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Estimate, in_words
from bayesjudge.core.plots import new_axes, plain_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@plain_text
def plot_tries(*results: Estimate, quantity: str = "pass_hat_k", ax: Axes | None = None) -> Axes:
    """Draw pass^k or pass@k over k, a line with its band for each agent and method.

    Parameters
    ----------
    *results : Estimate
        Closed forms, or ``exact(...).estimate()`` and ``fit.estimate()``.
    quantity : {"pass_hat_k", "pass_at_k"}, default "pass_hat_k"
        What to draw.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Raises
    ------
    InputError
        If there is no result, or one does not have the quantity.
    """
    with checking("plot_tries") as require:
        require(bool(results), "give at least one result")
        for result in results:
            require(quantity in result, f"{result.method} has no {quantity}")
    ax = ax or new_axes(6.4, 4.0)
    ticks: set[int] = set()
    for result in results:
        curves: dict[str, list[Any]] = {}
        for _, at, row in result.only(quantity).rows():
            curves.setdefault(str(at.get("system", "")), []).append((at["k"], *row))
        for name, rows in curves.items():
            k, value, low, high = np.array(rows, float).T
            called = ", ".join(filter(None, (name, result.method.title)))
            (line,) = ax.plot(k, value, marker="o", label=called)
            ax.fill_between(k, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
            ticks |= {int(i) for i in k}
    ax.set(xlabel="tries", ylabel=f"tasks done {in_words(quantity)}", ylim=(0, 1))
    ax.set_xscale("log", base=2)
    ax.set_xticks(sorted(ticks), [str(i) for i in sorted(ticks)])
    ax.legend(fontsize="small")
    return ax
