"""Scores shrunk and noised under a certificate, and their correlation with the judge's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.bias.certificates.centers import Center
from bayesjudge.bias.certificates.certificate import CENTERS, Certificate
from bayesjudge.core.errors import checking
from bayesjudge.core.randomness import rng_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Release:
    """Debiased scores with the certificate that they are released under.

    Parameters
    ----------
    scores : numpy.ndarray of float, shape (n_items, n_scores)
        Shrunk, with noise, in score points.
    original : numpy.ndarray of float, shape (n_items, n_scores)
        As the judge gave them.
    certificate : Certificate
        What is promised.
    center : float
        What they were shrunk towards.
    noise : float
        Standard deviation of the noise added, in score points.
    correlation : pandas.Series
        ``spearman``, ``kendall`` and ``pearson`` of the first score with the original one; ``nan``
        where scores do not vary.
    """

    scores: np.ndarray
    original: np.ndarray
    certificate: Certificate
    center: float
    noise: float
    correlation: pd.Series

    @property
    def text(self) -> str:
        """The certificate, and what is left of the judge's ranking, in words."""
        return f"{self.certificate.text}\n{self.kept}"

    @property
    def kept(self) -> str:
        """What is left of the judge's ranking, in words."""
        shown = ", ".join(f"{name} {value:.3f}" for name, value in self.correlation.items())
        spread = self.original[:, 0].std(), self.scores[:, 0].std()
        return (
            f"Correlation with the original scores: {shown}. Their standard deviation was "
            f"{spread[0]:.3g} points and is {spread[1]:.3g}: shrinkage makes true differences "
            "smaller by the same factor as shifts."
        )

    def __repr__(self) -> str:
        return f"Release of {self.scores.size} scores.\n{self.text}"

    def _repr_html_(self) -> str:
        return self.certificate._repr_html_() + self.correlation.to_frame("r").round(3).to_html()


def release(
    scores: Any,
    certificate: Certificate,
    *,
    center: float | None = None,
    radius: float | None = None,
    noise: float | None = None,
    random_seed: Any = None,
) -> Release:
    r"""Shrink scores and add noise, as a certificate allows.

    .. math:: M(D) = \alpha f(D) + (1 - \alpha)\mu + Z, \quad Z \sim N(0, \sigma^2 I_d)

    Parameters
    ----------
    scores : array_like of float, shape (n_items,) or (n_items, n_scores)
        The judge's own, in score points; as many as the certificate is of.
    certificate : Certificate
        From `bayesjudge.bias.certificates.certify`.
    center : float, optional
        What to shrink towards; required if the certificate says ``"fixed"`` or ``"holdout"``
        and shrinks at all. A centre of the scores themselves is computed.
    radius : float, optional
        Project the shrunk scores, as a vector, onto the ball of this radius around a fixed centre:
        no two releases are then further apart than twice that, but for noise. A projection moves no
        two vectors apart, so that the certificate holds as it is.
    noise : float, optional
        Standard deviation, up to the certificate's; that by default.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same noise.

    Returns
    -------
    Release
        Scores, certificate, correlations.

    Raises
    ------
    InputError
        If nothing is certified, sizes differ, or centre or noise do not suit the certificate.

    References
    ----------
    Feuer et al. (2026), Algorithm 1, Appendix B.

    Examples
    --------
    >>> from bayesjudge.bias import Shifts
    >>> from bayesjudge.bias.certificates import certify
    >>> shifts = Shifts.from_differences([0, 1, 0, 2], scale=(1, 5))
    >>> card = certify(shifts, tolerance=1, failure_prob=0.05, units="points")
    >>> release([1, 5, 3, 3], card, center=3).scores.ravel()
    array([2.5, 3.5, 3. , 3. ])
    """
    x = np.asarray(scores, dtype=float)
    x = x[:, None] if x.ndim == 1 else x
    with checking("release") as require:
        require(certificate.certified, "nothing-certified", reason=certificate.reason)
        require(
            x.size == certificate.dim,
            f"there are {x.size} scores, the certificate is for {certificate.dim}",
        )
        require(np.isfinite(x).all(), "scores must be finite; a missing one cannot be released")
        shrinks = certificate.alpha < 1
        robust = certificate.center if isinstance(certificate.center, Center) else None
        by_scores = certificate.center == "mean" or robust is not None
        require(
            not shrinks or by_scores or center is not None,
            f"the certificate shrinks towards a {certificate.center} centre: give center=, chosen "
            "without these scores",
        )
        require(
            not by_scores or center is None,
            f"the certificate's centre is {CENTERS[str(certificate.center)]}",
        )
        if robust is not None and x.size:
            same = bool(np.isclose(robust.of(x.ravel()), robust.value))
            require(same, "other-centre")
        require(radius is None or radius > 0, "must be positive", radius=radius)
        require(radius is None or not by_scores, "radius= needs a centre that was fixed beforehand")
        require(
            radius is None or center is not None or by_scores,
            "radius= needs center=, what it is around",
        )
        require(
            noise is None or 0 <= noise <= certificate.noise_scale,
            f"noise={noise!r} must lie between 0 and the certificate's {certificate.noise_scale}",
        )
    if robust is None:
        middle = float(x.mean()) if by_scores or center is None else float(center)
    else:
        middle = robust.value
    sigma = float(certificate.noise_scale if noise is None else noise)
    rng = rng_of(random_seed)
    out = certificate.alpha * x + (1 - certificate.alpha) * middle
    if radius is not None:
        away = out - middle
        out = middle + away * min(1.0, radius / max(float(np.linalg.norm(away)), 1e-300))
    out = out + rng.normal(0, sigma, size=x.shape) if sigma else out
    return Release(out, x, certificate, middle, sigma, _correlations(x[:, 0], out[:, 0]))


def _correlations(before: np.ndarray, after: np.ndarray) -> pd.Series:
    """Spearman's, Kendall's (tau-b) and Pearson's correlation."""
    import pandas as pd

    # rounding after shrinkage would break ties that the judge meant
    pair = np.round(np.stack([before, after]), 12)
    if np.ptp(pair[0]) == 0 or np.ptp(pair[1]) == 0 or pair.shape[1] < 2:
        return pd.Series(np.nan, index=["spearman", "kendall", "pearson"])
    from scipy.stats import kendalltau

    ranks = np.stack([pd.Series(row).rank().to_numpy() for row in pair])
    correlations = {
        "spearman": np.corrcoef(ranks)[0, 1],
        "kendall": kendalltau(*pair).statistic,
        "pearson": np.corrcoef(pair)[0, 1],
    }
    return pd.Series(correlations)
