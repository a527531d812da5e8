"""Several sources of bias at once, and what a judge does without any."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from bayesjudge.core.errors import checking


class VoidCertificateWarning(UserWarning):
    """A number was asked for that a certificate must not rest on."""


class Combined(NamedTuple):
    """RMS shifts of several perturbations as one.

    Parameters
    ----------
    value : float
        In score points.
    rule : str
        How they were combined.
    certifies, leaves_out : tuple of str
        Perturbations whose own RMS shift is not, or is, above `value`.
    """

    value: float
    rule: str
    certifies: tuple[str, ...]
    leaves_out: tuple[str, ...]


def combine(
    components: Mapping[str, float], rule: Literal["conservative", "rms"] = "conservative"
) -> Combined:
    r"""Combine the RMS shifts of several perturbations.

    Parameters
    ----------
    components : mapping of str to float
        RMS shift by perturbation.
    rule : {"conservative", "rms"}
        The largest, or the root of the mean square. The second is the RMS shift of the uniform
        mixture and certifies no single perturbation that lies above it; it can be
        :math:`\sqrt{n}` times below the worst of n.

    Returns
    -------
    Combined
        With the perturbations that a certificate for its value covers, and those it leaves out.

    Raises
    ------
    InputError
        Where there are none, one is negative, or the rule is unknown.

    References
    ----------
    Feuer et al. (2026), Appendix B, "Coverage of unmodeled biases and conservative calibration".

    Examples
    --------
    >>> combine({"format": 2.0, "order": 0.1, "length": 0.1}, rule="rms").leaves_out
    ('format',)
    """
    values = np.array(list(components.values()), dtype=float)
    with checking("combine") as require:
        require(values.size > 0, "give at least one component")
        require(bool(np.all(values >= 0)), f"RMS shifts must be 0 or more, got {dict(components)}")
        require(rule in ("conservative", "rms"), f"unknown rule {rule!r}; conservative or rms")
    value = float(values.max() if rule == "conservative" else np.sqrt((values**2).mean()))
    inside = tuple(name for name, x in components.items() if x <= value)
    outside = tuple(name for name, x in components.items() if x > value)
    return Combined(value, rule, inside, outside)


def without_repeat_noise(rms_shift: Any, repeat_noise: Any) -> Any:
    r"""Tell what is left of an RMS shift when the judge's own repeat noise is subtracted.

    .. math:: \sqrt{\max(0, \Delta^2 - \Delta_{rerun}^2)}

    It describes a perturbation. It must not go into a certificate, which is about the scores that
    people see: a judge whose reruns move in 40 % of cases and whose perturbed scores move as often
    would be left with 0, and certified at any tolerance.

    Parameters
    ----------
    rms_shift : float or array_like
        Of a perturbation, in score points.
    repeat_noise : float or array_like
        RMS shift of reruns in which nothing was changed.

    Returns
    -------
    float or numpy.ndarray
        In score points.

    Raises
    ------
    InputError
        Where a shift is negative.

    Warns
    -----
    VoidCertificateWarning
        Always; louder where nothing is left.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     round(float(without_repeat_noise(2.485, 1.405)), 2)
    2.05
    """
    own, again = np.asarray(rms_shift, dtype=float), np.asarray(repeat_noise, dtype=float)
    with checking("without_repeat_noise") as require:
        require(np.all(own >= 0) and np.all(again >= 0), "RMS shifts must be 0 or more")
    nothing = np.any(again >= own)
    warnings.warn(
        "repeat noise was subtracted: the result describes a perturbation and must not be used to "
        "certify scores, which move by the whole"
        + (
            f". Nothing is left here ({np.min(own):.3g} - {np.max(again):.3g}): the judge's own "
            "reruns move as far, and a certificate from 0 would hold for no tolerance they exceed"
            if nothing
            else ""
        ),
        VoidCertificateWarning,
        stacklevel=2,
    )
    return np.sqrt(np.maximum(own**2 - again**2, 0.0))[()]


def center_shift(rms_shift: Any, *, dim: int, center: str = "mean") -> Any:
    r"""How far a shrinkage centre moves, as a length, when one item of `dim` is perturbed.

    .. math:: S_\mu = \sqrt{d}\, \sqrt{E |\mu(D) - \mu(D')|^2}

    The source prints the mean of :math:`|\mu(D) - \mu(D')|` here; the root mean square is what
    Minkowski's inequality needs, and it is larger.

    Parameters
    ----------
    rms_shift : float or array_like
        RMS shift of one-item neighbours.
    dim : int
        How many scores the centre is the mean of.
    center : {"fixed", "holdout", "mean"}
        Where scores are shrunk to.

    Returns
    -------
    float or numpy.ndarray
        0 unless the centre is the mean of the same scores: then ``rms_shift / sqrt(dim)``.

    Raises
    ------
    InputError
        Where the centre is unknown.

    References
    ----------
    Feuer et al. (2026), Appendix B, "Choosing the shrinkage center".

    Examples
    --------
    >>> float(center_shift(2.0, dim=400))
    0.1
    """
    with checking("center_shift") as require:
        require(center in ("fixed", "holdout", "mean"), f"unknown center {center!r}")
        require(dim >= 1, f"dim must be 1 or more, got {dim}")
    share = 1 / np.sqrt(dim) if center == "mean" else 0.0
    return (np.asarray(rms_shift, dtype=float) * share)[()]
