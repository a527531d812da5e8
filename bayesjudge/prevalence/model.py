"""The Bayesian model of each calibration design, sampled with NUTS."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.fit import Fit
from bayesjudge.core.priors import BetaPrior
from bayesjudge.prevalence.cautions import cautions_of
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.described import PER_VERDICT, SAME_JUDGE, SAMPLED

if TYPE_CHECKING:
    import pymc as pm

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
        million test items the sampler may not converge (the gate says so).

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
        names = [f.name for f in fields(self) if f.name != "better_than_chance"]
        each = [str(getattr(self, name)) for name in names]
        same = len(set(each)) == 1
        pairs = zip(names, each, strict=True)
        words = each[0] if same else ", ".join(f"{name} {prior}" for name, prior in pairs)
        return words + (", judge better than chance" if self.better_than_chance else "")


def build_model(counts: Counts, priors: Priors = Priors()) -> pm.Model:
    """Build the model of the declared design, without sampling it.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels. With several systems, each has its own unknowns.
    priors : Priors, default ``Priors()``
        One for each unknown.

    Returns
    -------
    pymc.Model
        Unknowns ``prevalence``, ``sensitivity``, ``specificity`` (sampled through the pass rate
        where the judge is better than chance), or ``pass_rate``, ``ppv``, ``npv`` with
        ``prevalence`` derived where labels were chosen by verdict; dims ``system`` where there are
        systems. Counts and priors are `pymc.Data`, so that one compiled model serves any counts
        and any priors of a design.
    """
    import pymc as pm

    coords = {} if counts.systems is None else {"system": counts.systems}
    with pm.Model(coords=coords) as model:
        if counts.calibration == "by_verdict":
            _predictive_values(counts, priors)
        else:
            _error_rates(counts, priors)
    return model


def fit(
    counts: Counts, priors: Priors = Priors(), *, random_seed: Any = None, **sampling: Any
) -> Fit:
    """Sample the posterior.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels.
    priors : Priors, default ``Priors()``
        One for each unknown.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same draws.
    **sampling
        Settings of `bayesjudge.core.sampling.sample`.

    Returns
    -------
    Fit
        Call ``estimate()`` on it, or hand it to `bayesjudge.side_by_side`.
    """
    from bayesjudge.core.sampling import sample

    return sample(
        build_model(counts, priors),
        data=counts,
        priors=priors,
        quantities=QUANTITIES[counts.calibration],
        room="prevalence",
        method="Bayesian (NUTS)",
        source=SOURCE,
        assumptions=(*ASSUMPTIONS[counts.calibration], f"priors: {priors}"),
        cautions=cautions_of(counts),
        random_seed=random_seed,
        **sampling,
    )


def _error_rates(counts: Counts, priors: Priors) -> None:
    """Labels by truth, or a random sample: the judge's errors, seen from the truth."""
    dims = None if counts.systems is None else "system"
    unknowns = _three_better_than_chance if priors.better_than_chance else _three_independent
    prevalence, sensitivity, specificity, rate = unknowns(priors, dims)
    _binomial("test_pass", counts.test_pass, counts.test_n, rate, dims)
    _binomial("correct_pass", counts.correct_pass, counts.correct_n, sensitivity, dims)
    _binomial("incorrect_fail", counts.incorrect_fail, counts.incorrect_n, specificity, dims)
    if counts.calibration == "random":
        _binomial("labelled_correct", counts.correct_n, counts.labelled_n, prevalence, dims)


def _three_independent(priors: Priors, dims: str | None) -> tuple[Any, Any, Any, Any]:
    """Prevalence, sensitivity and specificity as they come, and the pass rate that follows."""
    import pymc as pm

    prevalence, sensitivity, specificity = (
        pm.Beta(name, *_prior(name, getattr(priors, name)), dims=dims) for name in _RATES
    )
    rate = prevalence * sensitivity + (1 - prevalence) * (1 - specificity)
    return prevalence, sensitivity, specificity, pm.Deterministic("pass_rate", rate, dims=dims)


def _three_better_than_chance(priors: Priors, dims: str | None) -> tuple[Any, Any, Any, Any]:
    """Put the same priors on coordinates in which the posterior is easy to sample.

    A judge better than chance passes good items more often than all items, and all items more
    often than bad ones. So the pass rate is free, sensitivity is some way from it up to 1, the
    rate of wrong passes some way from 0 up to it, and every point is a valid prevalence. The test
    items fix the pass rate, however many they are, and leave the two others alone; sampled as they
    come, the three unknowns would lie on a ridge that ten million items make too thin to walk.
    """
    import pymc as pm
    import pytensor.tensor as pt

    rate, above, below = (
        pm.Uniform(name, dims=dims) for name in ("pass_rate", "above_share", "below_share")
    )
    # each probability with its complement, from products: a difference would lose digits near 0, 1
    hit, miss = rate + (1 - rate) * above, (1 - rate) * (1 - above)
    wrong, right = rate * below, 1 - rate * below
    youden = (1 - rate) * above + rate * (1 - below)
    good, bad = rate * (1 - below) / youden, (1 - rate) * above / youden
    pairs = {"prevalence": (good, bad), "sensitivity": (hit, miss), "specificity": (right, wrong)}
    # the Jacobian of (prevalence, sensitivity, specificity) by the coordinates
    density = pt.log(rate) + pt.log1p(-rate) - pt.log(youden)
    for name, (success, failure) in pairs.items():
        alpha, beta = _prior(name, getattr(priors, name))
        density += (alpha - 1) * pt.log(success) + (beta - 1) * pt.log(failure)
    pm.Potential("rates_prior_density", density.sum())
    found = {name: pm.Deterministic(name, pair[0], dims=dims) for name, pair in pairs.items()}
    return found["prevalence"], found["sensitivity"], found["specificity"], rate


def _predictive_values(counts: Counts, priors: Priors) -> None:
    """Labels by verdict: the truth, seen from the judge's verdicts."""
    import pymc as pm

    dims = None if counts.systems is None else "system"
    passed = counts.labelled_pass
    rate = pm.Beta("pass_rate", *_prior("pass_rate", priors.pass_rate), dims=dims)
    ppv, npv = _values(priors, dims)
    pm.Deterministic("prevalence", rate * ppv + (1 - rate) * (1 - npv), dims=dims)
    items = counts.test_n + counts.labelled_n
    _binomial("all_pass", counts.test_pass + passed, items, rate, dims)
    _binomial("pass_correct", counts.correct_pass, passed, ppv, dims)
    _binomial("fail_incorrect", counts.incorrect_fail, counts.labelled_n - passed, npv, dims)


def _prior(name: str, prior: BetaPrior) -> tuple[Any, Any]:
    """Both parameters as data, so that other priors need no other compilation."""
    import pymc as pm

    values = pm.Data(f"{name}_prior", np.array([prior.alpha, prior.beta]))
    return values[0], values[1]


def _binomial(name: str, successes: Any, trials: Any, rate: Any, dims: str | None) -> None:
    import pymc as pm

    # as floats: PyMC makes whole numbers int32, which wraps around at 2,147,483,647 items
    total = pm.Data(f"{name}_of", np.asarray(trials, dtype=float), dims=dims)
    seen = pm.Data(f"{name}_seen", np.asarray(successes, dtype=float), dims=dims)
    pm.Binomial(name, total.astype("int64"), rate, observed=seen, dims=dims)


def _values(priors: Priors, dims: str | None) -> tuple[Any, Any]:
    """Predictive values, independent or restricted to a sum above 1.

    The restriction is a change of variables, not a rejection: npv is ``1 - ppv * (1 - share)`` with
    ``share`` in (0, 1), whose Jacobian is ppv.
    """
    import pymc as pm
    import pytensor.tensor as pt

    ppv = pm.Beta("ppv", *_prior("ppv", priors.ppv), dims=dims)
    alpha, beta = _prior("npv", priors.npv)
    if not priors.better_than_chance:
        return ppv, pm.Beta("npv", alpha, beta, dims=dims)
    share = pm.Uniform("npv_share", dims=dims)
    missed = ppv * (1 - share)
    density = (alpha - 1) * pt.log1p(-missed) + (beta - 1) * pt.log(missed) + pt.log(ppv)
    pm.Potential("npv_prior_density", density.sum())
    return ppv, pm.Deterministic("npv", 1 - missed, dims=dims)
