"""The Bayesian model of each calibration design, sampled with NUTS."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, get_args

from bayesjudge.core.errors import checking
from bayesjudge.core.fit import Fit
from bayesjudge.core.priors import BetaPrior
from bayesjudge.prevalence.cautions import cautions_of
from bayesjudge.prevalence.classes import ClassCounts
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.described import PER_VERDICT, SAME_JUDGE, SAMPLED

if TYPE_CHECKING:
    import pymc as pm

Pooling = Literal["separate", "partial", "full"]
SOURCE = "Lee et al. (2025), Sections 3-5, with Beta priors"
_RATES = ("prevalence", "sensitivity", "specificity")
QUANTITIES = {
    "random": _RATES,
    "by_truth": _RATES,
    "separate": _RATES,
    "by_verdict": ("prevalence", "ppv", "npv"),
}
ASSUMPTIONS = {
    "random": (SAMPLED,),
    "by_truth": (SAME_JUDGE,),
    "separate": (SAME_JUDGE,),
    "by_verdict": (PER_VERDICT,),
}
#: Of partial pooling.
SPREADS = ("sensitivity_spread", "specificity_spread")
#: What each way of pooling adds to the method's name, and what it assumes.
POOLINGS: dict[str, tuple[str, str]] = {
    "separate": ("", ""),
    "partial": (
        ", rates partially pooled",
        "the judge's rates in one system are exchangeable with those in the others",
    ),
    "full": (", rates fully pooled", "the judge has the same rates in every system"),
}


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
    counts: Counts, priors: Priors = Priors(), *, pooling: Pooling = "separate"
) -> pm.Model:
    """Build the model of the declared design, without sampling it.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels. With several systems, each has its own unknowns.
    priors : Priors, default ``Priors()``
        One for each unknown.
    pooling : {"separate", "partial", "full"}, default "separate"
        How far several systems share the judge's sensitivity and specificity: not at all; as
        members of a population of judge behaviours, normal on the logit scale, from which a system
        without labels borrows; or entirely, one judge who treats all systems alike.

    Returns
    -------
    pymc.Model
        Unknowns ``prevalence``, ``sensitivity``, ``specificity`` (sampled through the pass rate
        where the judge is better than chance), or ``pass_rate``, ``ppv``, ``npv`` with
        ``prevalence`` derived where labels were chosen by verdict; dims ``system`` where there are
        systems. Partial pooling adds ``typical_sensitivity``, ``sensitivity_spread`` (a standard
        deviation, in logits) and the same of the specificity. Counts and priors are `pymc.Data`,
        so that one compiled model serves any counts and any priors of a design.

    Raises
    ------
    InputError
        Where `pooling` does not suit the counts, or a system without labels is not pooled.
    """
    import pymc as pm

    if isinstance(counts, ClassCounts):  # a fit of classes builds its model again by this name
        from bayesjudge.prevalence.model_classes import class_model

        return class_model(counts, **vars(priors))
    from bayesjudge.prevalence.model_designs import error_rates, predictive_values
    from bayesjudge.prevalence.model_systems import pooled_rates

    _check_pooling(counts, pooling)
    coords = {} if counts.systems is None else {"system": counts.systems}
    with pm.Model(coords=coords) as model:
        if pooling != "separate":
            pooled_rates(counts, priors, pooling)
        elif counts.calibration == "by_verdict":
            predictive_values(counts, priors)
        else:
            error_rates(counts, priors)
    return model


def fit(
    counts: Counts,
    priors: Priors = Priors(),
    *,
    pooling: Pooling = "separate",
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
    pooling : {"separate", "partial", "full"}, default "separate"
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
        Where `pooling` does not suit the counts, or a system without labels is not pooled.
    """
    from bayesjudge.core.sampling import sample

    if pooling == "partial":
        sampling = {"draws": 2000, "target_accept": 0.98, **sampling}
    return sample(
        build_model(counts, priors, pooling=pooling),
        data=counts,
        priors=priors,
        quantities=(*QUANTITIES[counts.calibration], *(SPREADS if pooling == "partial" else ())),
        room="prevalence",
        method=f"Bayesian (NUTS){POOLINGS[pooling][0]}",
        source=SOURCE,
        options={"pooling": pooling},
        assumptions=_assumptions(counts, priors, pooling),
        cautions=cautions_of(counts),
        random_seed=random_seed,
        **sampling,
    )


def _assumptions(counts: Counts, priors: Priors, pooling: Pooling) -> tuple[str, ...]:
    added = f"; spread between systems half-normal({priors.spread:g}) logits"
    words = f"priors: {priors}{added if pooling == 'partial' else ''}"
    pooled = [POOLINGS[pooling][1]] if pooling != "separate" else []
    return (*ASSUMPTIONS[counts.calibration], *pooled, words)


def _check_pooling(counts: Counts, pooling: Pooling) -> None:
    with checking("prevalence.build_model") as require:
        known = pooling in get_args(Pooling)
        require(known, f"pooling must be one of {get_args(Pooling)}, got {pooling!r}")
        require(
            pooling == "partial" or not counts.unlabelled_systems,
            f"no item of {list(counts.unlabelled_systems)} has a human label, so the judge's "
            "errors there are unknown; label some, or borrow from the other systems with "
            "pooling='partial'",
        )
