"""Noise and shrinkage that known shifts allow: the source's formulas, and exact ones."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import chdtri, chndtr, ndtr

from bayesjudge.core.errors import checking, expect
from bayesjudge.core.words import words_for

__all__ = [
    "Combined",
    "VoidCertificateWarning",
    "best_split",
    "center_shift",
    "combine",
    "exact_failure",
    "exact_noise_scale",
    "largest_alpha",
    "noise_scale",
    "squared_radius",
    "without_repeat_noise",
]

#: How the length of Gaussian noise is bounded.
NOISE_BOUNDS = words_for("noise_bounds")
#: From such a noncentrality on `chndtr` fails, and the length is normal to some 1e-7.
FARTHEST = 1e11
NoiseBound = Literal["laurent_massart", "chi2"]


def squared_radius(dim: Any, prob: Any, bound: NoiseBound = "laurent_massart") -> Any:
    r"""Squared length that `dim` standard normal numbers exceed with probability `prob` at most.

    .. math:: d + 2\sqrt{d \log(1/\delta_B)} + 2\log(1/\delta_B)

    by Laurent and Massart, or the exact quantile of :math:`\chi^2_d`, which is smaller.

    Parameters
    ----------
    dim : int or array_like
        How many numbers, 1 or more.
    prob : float or array_like
        Probability, in (0, 1).
    bound : {"laurent_massart", "chi2"}
        Which of the two.

    Returns
    -------
    float or numpy.ndarray
        In squared standard deviations.

    Raises
    ------
    InputError
        If an argument is out of its range.

    Examples
    --------
    >>> [round(float(squared_radius(500, 0.005, bound)), 2) for bound in NOISE_BOUNDS]
    [613.54, 585.21]
    """
    with checking("squared_radius") as require:
        require(np.all(np.asarray(dim) >= 1), "must be 1 or more", dim=dim)
        p = np.asarray(prob, dtype=float)
        require(np.all((p > 0) & (p < 1)), "must lie in (0, 1)", prob=prob)
        require(bound in NOISE_BOUNDS, f"must be one of {list(NOISE_BOUNDS)}", bound=bound)
    if bound == "chi2":
        return chdtri(dim, prob)
    log = -np.log(prob)
    return dim + 2 * np.sqrt(dim * log) + 2 * log


def noise_scale(
    rms_shift: Any,
    *,
    dim: int,
    tolerance: Any,
    failure_prob: Any,
    noise_prob: Any = None,
    alpha: Any = 1.0,
    bound: NoiseBound = "laurent_massart",
) -> Any:
    r"""Largest noise under which scores with a known RMS shift are average-bias-bounded.

    .. math::

        \sigma_{\max} = \frac{\tau - \alpha\Delta / \sqrt{\delta - \delta_B}}
            {\sqrt{2(d + 2\sqrt{d \log(1/\delta_B)} + 2 \log(1/\delta_B))}}

    Every noise from 0 to this is allowed: the noise does not buy the guarantee, it spends it.

    Parameters
    ----------
    rms_shift : float or array_like
        :math:`\Delta`, in the units of `tolerance`; taken as known. Posterior draws broadcast.
    dim : int
        :math:`d`, how many scores are released.
    tolerance : float or array_like
        :math:`\tau`, the length of a shift to stay within.
    failure_prob : float or array_like
        :math:`\delta`, the probability of leaving it, in (0, 1).
    noise_prob : float or array_like, optional
        :math:`\delta_B`, the part of `failure_prob` that the noise may use; half of it by default
        (Corollary 3.5). See `best_split`.
    alpha : float or array_like, default 1
        Shrinkage of the scores before they are released, in (0, 1].
    bound : {"laurent_massart", "chi2"}
        How the length of the noise is bounded; the source's, or the exact one.

    Returns
    -------
    float or numpy.ndarray
        Standard deviation, in the units of `tolerance`; ``nan`` if nothing can be certified,
        that is if `tolerance` is not above ``alpha * rms_shift / sqrt(shift_prob)``.

    Raises
    ------
    InputError
        If an argument is out of its range.

    References
    ----------
    Feuer et al. (2026), Theorem 3.3, Corollaries 3.4 and 3.5, Proposition B.4.

    Examples
    --------
    >>> sigma = noise_scale(0.01, dim=500, tolerance=0.5, failure_prob=0.01)
    >>> print(f"{sigma:.6f}")
    0.010236
    >>> float(noise_scale(0.04, dim=500, tolerance=0.5, failure_prob=0.01))
    nan
    """
    shift_prob, noise_prob = _split(failure_prob, noise_prob)
    with checking("noise_scale") as require:
        require(np.all(np.asarray(tolerance) > 0), "must be positive", tolerance=tolerance)
        require(np.all(np.asarray(rms_shift) >= 0), "rms_shift must be 0 or more")
        a = np.asarray(alpha)
        require(np.all((a > 0) & (a <= 1)), "must lie in (0, 1]", alpha=alpha)
    left = tolerance - np.asarray(alpha) * np.asarray(rms_shift) / np.sqrt(shift_prob)
    length = np.sqrt(2 * squared_radius(dim, noise_prob, bound))
    return np.where(left > 0, left / length, np.nan)[()]


def _split(failure_prob: Any, noise_prob: Any = None) -> tuple[Any, Any]:
    """Split the failure probability between shifts and noise; half each by default."""
    whole = np.asarray(failure_prob, dtype=float)
    part = whole / 2 if noise_prob is None else np.asarray(noise_prob, dtype=float)
    with checking("failure_prob") as require:
        require(
            np.all((whole > 0) & (whole < 1)), f"must lie strictly in (0, 1), got {failure_prob}"
        )
        require(
            np.all((part > 0) & (part < whole)),
            f"noise_prob={noise_prob} must lie strictly between 0 and failure_prob={failure_prob}",
        )
    return (whole - part)[()], part[()]


def best_split(
    rms_shift: float,
    *,
    dim: int,
    tolerance: float,
    failure_prob: float,
    alpha: float = 1.0,
    bound: NoiseBound = "laurent_massart",
) -> float:
    """Part of the failure probability that, given to the noise, allows the most noise.

    Parameters
    ----------
    rms_shift : float
        In the units of `tolerance`.
    dim : int
        How many scores are released.
    tolerance, failure_prob : float
        What is to be certified.
    alpha : float, default 1
        Shrinkage, in (0, 1].
    bound : {"laurent_massart", "chi2"}
        How the length of the noise is bounded.

    Returns
    -------
    float
        ``noise_prob`` for `noise_scale`; ``nan`` if no split is feasible, that is if
        ``alpha * rms_shift >= tolerance * sqrt(failure_prob)``.

    Raises
    ------
    InputError
        If an argument is out of its range.

    Examples
    --------
    >>> about = {"dim": 6, "tolerance": 0.5, "failure_prob": 0.01}
    >>> print(f"{best_split(0.01, **about):.5f}")
    0.00250
    """
    _split(failure_prob)
    expect("best_split", tolerance > 0, "must be positive", tolerance=tolerance)
    needed = (alpha * rms_shift / tolerance) ** 2  # the shifts' part must be larger than this
    if needed >= failure_prob:
        return float("nan")
    about: dict[str, Any] = {"dim": dim, "tolerance": tolerance, "failure_prob": failure_prob}
    about |= {"alpha": alpha, "bound": bound}
    spare = failure_prob - needed

    def wasted(share: float) -> float:
        # a share at the very edge rounds to infeasible, which is as bad as no noise at all
        return -float(np.nan_to_num(noise_scale(rms_shift, noise_prob=share * spare, **about)))

    from scipy.optimize import minimize_scalar  # slow to load

    edge = 1e-9
    minimum = minimize_scalar(
        wasted, bounds=(edge, 1 - edge), method="bounded", options={"xatol": 1e-10}
    )
    return float(minimum.x * spare)


def largest_alpha(
    rms_shift: Any,
    *,
    tolerance: Any,
    failure_prob: Any,
    noise_prob: Any = None,
    center_shift: Any = 0.0,
) -> Any:
    r"""Largest shrinkage factor under which a known RMS shift is within the tolerance.

    With :math:`A = \Delta/\sqrt{\delta_\Delta}` and :math:`B = S_\mu/\sqrt{\delta_\Delta}` it is
    :math:`(\tau - B)/(A - B)`, cut at 1.

    Parameters
    ----------
    rms_shift : float or array_like
        :math:`\Delta`, in the units of `tolerance`; taken as known.
    tolerance, failure_prob : float or array_like
        As in `noise_scale`.
    noise_prob : float or array_like, optional
        As in `noise_scale`. The largest factor leaves none for noise.
    center_shift : float or array_like, default 0
        :math:`S_\mu`, how far the centre moves, as a length: 0 for a centre that is fixed or
        computed from other items. See `center_shift`.

    Returns
    -------
    float or numpy.ndarray
        In (0, 1]; ``nan`` where the centre alone moves too far.

    Raises
    ------
    InputError
        If an argument is out of its range.

    References
    ----------
    Feuer et al. (2026), Proposition B.4 and "Choosing the shrinkage center".

    Examples
    --------
    >>> round(float(largest_alpha(0.62124, tolerance=0.5, failure_prob=0.01)), 4)
    0.0569
    """
    shift_prob, _ = _split(failure_prob, noise_prob)
    shift = np.asarray(rms_shift, dtype=float) / np.sqrt(shift_prob)
    center = np.asarray(center_shift, dtype=float) / np.sqrt(shift_prob)
    with checking("largest_alpha") as require:
        require(np.all(np.asarray(tolerance) > 0), "must be positive", tolerance=tolerance)
        require(np.all(shift >= 0) and np.all(center >= 0), "shifts must be 0 or more")
    with np.errstate(divide="ignore", invalid="ignore"):
        between = np.where(center < tolerance, (tolerance - center) / (shift - center), np.nan)
    return np.where(shift <= tolerance, 1.0, between)[()]


def exact_failure(sigma: Any, *, lengths: Any, probs: Any, dim: int, tolerance: float) -> Any:
    r"""Exact probability that a released score vector moves further than the tolerance.

    The difference of two releases is :math:`\Delta + B` with :math:`B \sim N(0, 2\sigma^2 I_d)`, so
    that its squared length is noncentral :math:`\chi^2_d`, given the length of the shift.

    Parameters
    ----------
    sigma : float
        Standard deviation of the noise, 0 or more.
    lengths, probs : array_like, shape (n,)
        Lengths of the shifts, in the units of `tolerance`, and their probabilities.
    dim : int
        How many scores are released.
    tolerance : float
        The length to stay within.

    Returns
    -------
    float
        Not accurate below 1e-12.

    Raises
    ------
    InputError
        If probabilities are negative or do not add up to 1.

    Examples
    --------
    >>> exact_failure(0, lengths=[0, 1], probs=[0.98, 0.02], dim=1, tolerance=0.9)
    0.02
    """
    x, p = np.asarray(lengths, dtype=float), np.asarray(probs, dtype=float)
    with checking("exact_failure") as require:
        require(np.all(p >= 0) and np.isclose(p.sum(), 1), "must add up to 1", probs=probs)
        require(sigma >= 0, "must be 0 or more", sigma=sigma)
    if sigma == 0:
        return float(p @ (x > tolerance))
    return float(p @ _beyond(tolerance, x, np.sqrt(2) * sigma, dim))


def _beyond(tolerance: float, x: np.ndarray, sd: float, dim: int) -> np.ndarray:
    """Probability that a shift of length x and noise together are longer than the tolerance."""
    noncentrality = (x / sd) ** 2
    near = np.where(noncentrality < FARTHEST, noncentrality, np.nan)
    exact = 1 - chndtr((tolerance / sd) ** 2, dim, near)
    with np.errstate(divide="ignore", invalid="ignore"):
        sideways = (dim - 1) * sd / (2 * x)
        z = (sideways - (tolerance - x) / sd) / np.sqrt(1 + sideways * sd / x)
    return np.where(np.isnan(exact), ndtr(z), exact)


def exact_noise_scale(
    *, lengths: Any, probs: Any, dim: int, tolerance: float, failure_prob: float
) -> float:
    """Largest noise whose exact failure probability stays within `failure_prob`.

    Parameters
    ----------
    lengths, probs : array_like, shape (n,)
        The distribution of the shifts' lengths, taken as known.
    dim : int
        How many scores are released.
    tolerance, failure_prob : float
        What is to hold.

    Returns
    -------
    float
        Standard deviation, in the units of `tolerance`; ``nan`` where shifts alone fail too often.

    Raises
    ------
    InputError
        If an argument is out of its range.

    Examples
    --------
    >>> known = {"lengths": [0.0177], "probs": [1.0], "dim": 500}
    >>> round(exact_noise_scale(**known, tolerance=0.5, failure_prob=0.01), 6)
    0.014714
    """
    _split(failure_prob)
    about: dict[str, Any] = {"lengths": lengths, "probs": probs, "dim": dim}
    about["tolerance"] = tolerance

    if exact_failure(0, **about) > failure_prob:
        return float("nan")

    def excess(sigma: float) -> float:
        return exact_failure(sigma, **about) - failure_prob

    high = tolerance / np.sqrt(2 * squared_radius(dim, failure_prob, "chi2"))
    # a shift that all but reaches the tolerance leaves next to nothing
    low, xtol = high * 1e-6, 1e-14
    if excess(low) > 0:
        low, xtol = high * 1e-20, high * 1e-20
    if excess(low) > 0:
        return 0.0
    from scipy.optimize import brentq  # slow to load

    # without any shift `high` fails exactly with the probability allowed: more noise fails more
    return float(brentq(excess, low, high * (1 + 1e-9), xtol=xtol))


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
    components: Mapping[str, float],
    rule: Literal["conservative", "rms"] = "conservative",
    *,
    weights: Mapping[str, float] | None = None,
    floor: float = 0.0,
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
    weights : mapping of str to float, optional
        Of each perturbation in the mixture, for ``"rms"``; all the same by default.
    floor : float, default 0
        No component counts as less; the source takes 1e-3.

    Returns
    -------
    Combined
        With the perturbations that a certificate for its value covers, and those it leaves out.

    Raises
    ------
    InputError
        If there are none, one is negative, the rule is unknown, or weights are not of these
        perturbations, negative, or all 0.

    References
    ----------
    Feuer et al. (2026), Section 4, "Combination Logic", and Appendix B, "Coverage of unmodeled
    biases and conservative calibration".

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
        require(floor >= 0, "must be 0 or more", floor=floor)
        require(weights is None or rule == "rms", "weights= need the rule rms")
        require(
            weights is None or set(weights) == set(components),
            f"weights= must name {list(components)}, got {list(weights or ())}",
        )
    shares = np.array([1.0 if weights is None else weights[name] for name in components])
    problem = f"weights must be 0 or more: {weights}"
    expect("combine", bool(np.all(shares >= 0)) and shares.sum() > 0, problem)
    values = np.maximum(values, floor)
    mixed = np.sqrt(shares @ values**2 / shares.sum())
    value = float(values.max() if rule == "conservative" else mixed)
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
        If a shift is negative.

    Warns
    -----
    VoidCertificateWarning
        Always; louder if nothing is left.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     round(float(without_repeat_noise(2.485, 1.405)), 2)
    2.05
    """
    shift, again = np.asarray(rms_shift, dtype=float), np.asarray(repeat_noise, dtype=float)
    problem = "RMS shifts must be 0 or more"
    expect("without_repeat_noise", np.all(shift >= 0) and np.all(again >= 0), problem)
    nothing = np.any(again >= shift)
    warnings.warn(
        "repeat noise was subtracted: the result describes a perturbation and must not be used to "
        "certify scores, which move by the whole"
        + (
            f". Nothing is left here ({np.min(shift):.3g} - {np.max(again):.3g}): the judge's own "
            "reruns move as far, and a certificate from 0 would hold for no tolerance they exceed"
            if nothing
            else ""
        ),
        VoidCertificateWarning,
        stacklevel=2,
    )
    return np.sqrt(np.maximum(shift**2 - again**2, 0.0))[()]


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
        If scores are shrunk to.

    Returns
    -------
    float or numpy.ndarray
        0 unless the centre is the mean of the same scores: then ``rms_shift / sqrt(dim)``.

    Raises
    ------
    InputError
        If the centre is unknown.

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
        require(dim >= 1, "must be 1 or more", dim=dim)
    share = 1 / np.sqrt(dim) if center == "mean" else 0.0
    return (np.asarray(rms_shift, dtype=float) * share)[()]
