"""Plots of certificates and releases."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from bayesjudge.bias.certificates.certificate import Certificate
from bayesjudge.bias.certificates.release import Release
from bayesjudge.core.plots import new_axes, plain_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@plain_text
def plot_release(release: Release, *, bins: int = 40, ax: Axes | None = None) -> Axes:
    """Draw the distribution of scores before and after a release.

    Parameters
    ----------
    release : Release
        From `bayesjudge.bias.certificates.release`.
    bins : int, default 40
        Of both histograms.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Two histograms of the first score, the centre as a dashed line, and the rank correlation.
    """
    ax = ax or new_axes(6.5, 3.0)
    before, after = release.original[:, 0], release.scores[:, 0]
    both = np.concatenate([before, after])
    edges = np.histogram_bin_edges(both, bins=bins)
    ax.hist(before, bins=edges.tolist(), color="C1", alpha=0.5, label="the judge's scores")
    ax.hist(after, bins=edges.tolist(), color="C0", alpha=0.6, label="released scores")
    ax.axvline(release.center, ls="--", color="k", lw=1, label="centre")
    rank = release.correlation["spearman"]
    ax.set_title(
        f"shrunk to {release.certificate.alpha:.3g}, noise {release.noise:.3g} points: "
        f"rank correlation {rank:.3f}",
        fontsize="medium",
    )
    ax.set(xlabel="score (points)", ylabel="items")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    return ax


@plain_text
def plot_trade_off(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the shrinkage that could be certified against the neighbours measured.

    Parameters
    ----------
    table : pandas.DataFrame
        From `bayesjudge.bias.certificates.trade_off`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        One line a tolerance; hollow if it rests on the scale alone.
    """
    ax = ax or new_axes(6.5, 3.4)
    for i, (tolerance, rows) in enumerate(table.groupby("tolerance", sort=True)):
        colour = f"C{i % 10}"
        ax.plot(rows["neighbours"], rows["alpha"], color=colour, label=f"tolerance {tolerance:g}")
        for only, face in ((True, "white"), (False, colour)):
            some = rows[rows["range_only"] == only]
            ax.plot(some["neighbours"], some["alpha"], "o", mfc=face, color=colour)
    ax.set(xscale="log", xlabel="neighbours measured of each perturbation", ylim=(0, 1.05))
    ax.set_ylabel("shrinkage factor certified\n(hollow: by the scale alone)")
    ax.grid(alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
    ax.figure.legend(loc="outside upper center", ncols=4, frameon=False)
    return ax


@plain_text
def plot_certificate(certificate: Certificate, *, ax: Axes | None = None) -> Axes:
    """Draw a certificate as a card: what is promised, on what it rests, what to know.

    Parameters
    ----------
    certificate : Certificate
        From `bayesjudge.bias.certificates.certify`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Text only, with a bar as long as the shrinkage factor.
    """
    lines = [
        wrapped
        for paragraph in certificate.text.splitlines()
        for wrapped in [*textwrap.wrap(paragraph, 84), ""]
    ]
    ax = ax or new_axes(7.5, 0.16 * len(lines) + 0.7)
    ax.set(xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[])
    colour = "C7" if certificate.range_only else "C0"
    title = "Certificate" if certificate.certified else "No certificate"
    if certificate.certified:
        title += f": scores shrunk to {certificate.alpha:.3g}"
        title += ", by the scale alone" if certificate.range_only else ""
        ax.axhspan(0.985, 1, color="0.9")
        ax.axhspan(0.985, 1, xmax=certificate.alpha, color=colour)
    ax.set_title(title, loc="left", color=colour if certificate.certified else "C3")
    ax.text(0.02, 0.95, "\n".join(lines).rstrip(), va="top", fontsize=9, family="monospace")
    return ax
