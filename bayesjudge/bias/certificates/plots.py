"""Plots of certificates and releases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesjudge.bias.certificates.certificate import Certificate
from bayesjudge.bias.certificates.release import Release
from bayesjudge.core.plots import name_rows, new_axes, plain_text, write_title

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@plain_text
def plot_release(release: Release, *, ax: Axes | None = None) -> Axes:
    """Draw the distribution of scores before and after a release.

    Parameters
    ----------
    release : Release
        From `bayesjudge.bias.certificates.release`.
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
    edges = np.histogram_bin_edges(both, bins=40).tolist()
    ax.hist(before, bins=edges, color="C1", alpha=0.5, label="the judge's scores")
    ax.hist(after, bins=edges, color="C0", alpha=0.6, label="released scores")
    ax.axvline(release.center, ls="--", color="k", lw=1, label="centre")
    rank = release.correlation["spearman"]
    write_title(
        ax,
        f"Released scores order items as the judge does with rank correlation {rank:.3f} (shrunk "
        f"to {release.certificate.alpha:.3g}, noise {release.noise:.3g} points)",
    )
    ax.set(xlabel="score (points)", ylabel="items")
    ax.legend()
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
        One line per tolerance; hollow if it rests on the scale alone.
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
    ax.grid()
    ax.figure.legend(loc="outside lower center", ncols=4)
    last = table[table["neighbours"] == table["neighbours"].max()].dropna(subset="alpha")
    text = f"Nothing is certified with {table['neighbours'].max():,} neighbours"
    if len(last):
        best = last.loc[last["alpha"].idxmax()]
        text = (
            f"With {best['neighbours']:,.0f} neighbours and tolerance {best['tolerance']:g}, "
            f"scores keep {best['alpha']:.0%} of their spread"
        )
    write_title(ax, text)
    return ax


@plain_text
def plot_certificate(certificate: Certificate, *, ax: Axes | None = None) -> Axes:
    """Draw how far scores may shift before and after shrinking, against the tolerance.

    Parameters
    ----------
    certificate : Certificate
        From `bayesjudge.bias.certificates.certify`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Two bars, as long as the bound on shifts of the judge's own scores and of those released;
        a lighter end is what noise may add, the dashed line the tolerance.
    """
    ax = ax or new_axes(7.5, 2.4)
    bound, alpha = certificate.shift_bound, certificate.alpha
    known = "the scale's range" if certificate.range_only else "as measured"
    rows = [f"the judge's own scores,\n{known}", "released scores"]
    ax.barh(0, bound, 0.5, color="0.6" if certificate.range_only else "C1")
    if certificate.certified:
        ax.barh(1, alpha * bound, 0.5, color="C0")
        if certificate.noise_scale:
            left = alpha * bound
            rest = max(certificate.tolerance - left, 0)
            ax.barh(1, rest, 0.5, left=left, color="C0", alpha=0.4, label="noise allowed")
    else:
        ax.text(certificate.tolerance, 1, "  nothing is certified", va="center", color="C1")
    ax.axvline(certificate.tolerance, ls="--", color="k", lw=1, label="tolerance")
    name_rows(ax, rows)
    ax.set(xlim=(0, None), xlabel="largest shift (score points)")
    ax.figure.legend(loc="outside lower right", ncols=2)
    write_title(ax, _promised(certificate))
    return ax


def _promised(certificate: Certificate) -> str:
    """The finding in one line."""
    if not certificate.certified:
        return f"Nothing is certified: {certificate.reason}"
    kept = "as they are" if certificate.alpha == 1 else f"shrunk to {certificate.alpha:.2g}"
    return (
        f"Released {kept}, scores move by more than {certificate.tolerance:.3g} points with "
        f"probability {certificate.failure_prob:.2g} at most"
        + ("" if certificate.useful else ", which is of little use")
    )
