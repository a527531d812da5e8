"""The Bayesian model of each calibration design, sampled with NUTS."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from bayesjudge.core.errors import checking
from bayesjudge.core.fit import Fit
from bayesjudge.core.priors import BetaPrior
from bayesjudge.prevalence.cautions import cautions_of
from bayesjudge.prevalence.classes import ClassCounts
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.declared import (
    POOLINGS,
    REFUSED,
    Pooling,
    assumed,
    check_pooling,
    chosen_pooling,
    quantities_of,
)

if TYPE_CHECKING:
    import pymc as pm

SOURCE = "Lee et al. (2025), Sections 3-5, with Beta priors"


@dataclass(frozen=True)
class Priors:
    """One prior for each unknown.

    Parameters
    ----------
    prevalence, sensitivity, specificity : BetaPrior
        Used unless labels were chosen by verdict.
    pass_rate, ppv, npv : BetaPrior
        Used where labels were chosen by verdict: the judge's pass rate, and the positive and
        negative predictive value.
    better_than_chance : bool, default True
        Restrict to sensitivity + specificity > 1, which is ppv + npv > 1. Where it is false, the
        posterior may hold the mirrored judge too, whose fails mean good; and with more than a
        million test items the sampler may not converge (the gate says so). With partial pooling
        it is the typical system's rates that are restricted.
    spread : float, default 1
        Used by partial pooling: scale of the half-normal prior of the standard deviations of
        sensitivity and of specificity between systems, in logits.

    Raises
    ------
    InputError
        Where `spread` is not positive.

    Examples
    --------
    >>> print(Priors(sensitivity=BetaPrior.worth(rate=0.9, n=20)).sensitivity)
    Beta(19, 3)
    """

    prevalence: BetaPrior = BetaPrior()
    sensitivity: BetaPrior = BetaPrior()
    specificity: BetaPrior = BetaPrior()
    pass_rate: BetaPrior = BetaPrior()
    ppv: BetaPrior = BetaPrior()
    npv: BetaPrior = BetaPrior()
    better_than_chance: bool = True
    spread: float = 1.0

    def __post_init__(self) -> None:
        with checking("Priors") as require:
            require(0 < self.spread < float("inf"), f"spread must be positive, got {self.spread}")

    @classmethod
    def jeffreys(cls) -> Priors:
        """Take Jeffreys' prior everywhere.

        Returns
        -------
        Priors
            ``Beta(0.5, 0.5)`` for each unknown.
        """
        one = BetaPrior.jeffreys()
        return cls(one, one, one, one, one, one)

    def __str__(self) -> str:
        names = [f.name for f in fields(self) if f.name not in ("better_than_chance", "spread")]
        each = [str(getattr(self, name)) for name in names]
        same = len(set(each)) == 1
        pairs = zip(names, each, strict=True)
        words = each[0] if same else ", ".join(f"{name} {prior}" for name, prior in pairs)
        return words + (", judge better than chance" if self.better_than_chance else "")


def build_model(
    counts: Counts, priors: Priors = Priors(), *, pooling: Pooling | None = None
) -> pm.Model:
    """Build the model of the declared design, without sampling it.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels. With several systems, each has its own unknowns.
    priors : Priors, default ``Priors()``
        One for each unknown.
    pooling : {"separate", "partial", "full"}, optional
        How far several systems share the judge's sensitivity and specificity: not at all; as
        members of a population of judge behaviours, normal on the logit scale, from which a system
        without labels borrows; or entirely, one judge who treats all systems alike. By default
        systems are separate, and strata partially pooled (labels by verdict: separate), their
        prevalences too: many thin strata with flat priors would pull the overall prevalence to
        one half.

    Returns
    -------
    pymc.Model
        Unknowns ``prevalence``, ``sensitivity``, ``specificity`` (sampled through the pass rate
        where the judge is better than chance), or ``pass_rate``, ``ppv``, ``npv`` with
        ``prevalence`` derived where labels were chosen by verdict; dims ``system``, ``stratum`` or
        ``judge`` where there are such. Strata have an ``overall_prevalence``, weighed by their
        shares of the items. Partial pooling adds ``typical_sensitivity``, ``sensitivity_spread``
        (a standard deviation, in logits) and the same of the specificity. Counts and priors are
        `pymc.Data`, so that one compiled model serves any counts and any priors of a design.

    Raises
    ------
    InputError
        Where `pooling` does not suit the counts, or a system without labels is not pooled.
    """
    import pymc as pm

    if isinstance(counts, ClassCounts):  # a fit of classes builds its model again by this name
        from bayesjudge.prevalence.model_classes import class_model

        return class_model(counts, **vars(priors))
    from bayesjudge.prevalence.model_designs import (
        error_rates,
        post_stratified,
        predictive_values,
    )
    from bayesjudge.prevalence.model_systems import pooled_rates

    pooling = chosen_pooling(counts, pooling)
    check_pooling(counts, pooling)
    coords = {} if counts.systems is None else {counts.dim: counts.systems}
    with pm.Model(coords=coords) as model:
        if pooling != "separate":
            pooled_rates(counts, priors, pooling)
        elif counts.predictive:
            predictive_values(counts, priors)
        else:
            error_rates(counts, priors)
        if counts.dim == "stratum":
            post_stratified(counts, model["prevalence"])
    return model


def fit(
    counts: Counts,
    priors: Priors = Priors(),
    *,
    pooling: Pooling | None = None,
    random_seed: Any = None,
    **sampling: Any,
) -> Fit:
    """Sample the posterior.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels.
    priors : Priors, default ``Priors()``
        One for each unknown.
    pooling : {"separate", "partial", "full"}, optional
        How far several systems share the judge's rates; see `build_model`.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same draws.
    **sampling
        Settings of `bayesjudge.core.sampling.sample`. Partial pooling takes 2000 draws a chain and
        a target acceptance of 0.98, unless told otherwise: what a system without labels borrows
        has long tails.

    Returns
    -------
    Fit
        Call ``estimate()`` on it, or hand it to `bayesjudge.side_by_side`. With several systems,
        `contrasts` and `ranking` compare them.

    Raises
    ------
    InputError
        Where `pooling` does not suit the counts, or a system without labels is not pooled; with
        ``strict=True`` also where the data speak against the declared design (``label-shift``,
        ``pass-rate-out-of-range``).
    """
    from bayesjudge.core.sampling import sample

    pooling = chosen_pooling(counts, pooling)
    assumptions, raised = assumed(counts, priors, pooling)
    cautions = tuple(dict.fromkeys((*cautions_of(counts), *raised)))
    if sampling.get("strict"):
        with checking("prevalence.fit") as require:
            for caution in cautions:
                require(caution.name not in REFUSED, f"{caution.name}: {caution.text}")
    if pooling == "partial":
        sampling = {"draws": 2000, "target_accept": 0.98, **sampling}
    return sample(
        build_model(counts, priors, pooling=pooling),
        data=counts,
        priors=priors,
        quantities=quantities_of(counts, pooling),
        room="prevalence",
        method=f"Bayesian (NUTS){POOLINGS[pooling][0]}",
        source=SOURCE,
        options={"pooling": pooling},
        assumptions=assumptions,
        cautions=cautions,
        interval="eti_bounded",
        random_seed=random_seed,
        **sampling,
    )
