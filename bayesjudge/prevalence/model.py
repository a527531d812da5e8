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
METHODS = {
    "random": "labels a random sample",
    "by_truth": "labels by truth",
    "separate": "separate labels",
    "by_verdict": "labels by verdict",
}
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
    better_than_chance : bool, default False
        Restrict to sensitivity + specificity > 1, which is ppv + npv > 1.

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
    better_than_chance: bool = False

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
        Unknowns ``prevalence``, ``sensitivity``, ``specificity``, or ``pass_rate``, ``ppv``,
        ``npv`` with ``prevalence`` derived where labels were chosen by verdict; dims ``system``
        where there are systems. Counts and priors are `pymc.Data`, so that one compiled model
        serves any counts and any priors of a design.
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
        Settings of `bayesjudge.core.sampling.sample`. By default 4 chains of 2000 draws with a
        target acceptance of 0.95, since a prevalence near 0 or 1 leans on the edge of its range.

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
        method=f"Bayesian (NUTS), {METHODS[counts.calibration]}",
        source=SOURCE,
        assumptions=(*ASSUMPTIONS[counts.calibration], f"priors: {priors}"),
        cautions=cautions_of(counts),
        random_seed=random_seed,
        **{"draws": 2000, "target_accept": 0.95, **sampling},
    )


def _error_rates(counts: Counts, priors: Priors) -> None:
    """Labels by truth, or a random sample: the judge's errors, seen from the truth."""
    import pymc as pm

    dims = None if counts.systems is None else "system"
    prevalence = pm.Beta("prevalence", *_prior("prevalence", priors.prevalence), dims=dims)
    sensitivity, specificity = _pair(
        ("sensitivity", "specificity"), (priors.sensitivity, priors.specificity), priors, dims
    )
    rate = pm.Deterministic(
        "pass_rate", prevalence * sensitivity + (1 - prevalence) * (1 - specificity), dims=dims
    )
    _binomial("test_pass", counts.test_pass, counts.test_n, rate, dims)
    _binomial("correct_pass", counts.correct_pass, counts.correct_n, sensitivity, dims)
    _binomial("incorrect_fail", counts.incorrect_fail, counts.incorrect_n, specificity, dims)
    if counts.calibration == "random":
        _binomial("labelled_correct", counts.correct_n, counts.labelled_n, prevalence, dims)


def _predictive_values(counts: Counts, priors: Priors) -> None:
    """Labels by verdict: the truth, seen from the judge's verdicts."""
    import pymc as pm

    dims = None if counts.systems is None else "system"
    passed = counts.labelled_pass
    rate = pm.Beta("pass_rate", *_prior("pass_rate", priors.pass_rate), dims=dims)
    ppv, npv = _pair(("ppv", "npv"), (priors.ppv, priors.npv), priors, dims)
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


def _pair(
    names: tuple[str, str], pair: tuple[BetaPrior, BetaPrior], priors: Priors, dims: str | None
) -> tuple[Any, Any]:
    """Two rates, independent or restricted to a sum above 1.

    The restriction is a change of variables, not a rejection: the second rate is
    ``1 - first * (1 - share)`` with ``share`` in (0, 1), whose Jacobian is ``first``.
    """
    import pymc as pm
    import pytensor.tensor as pt

    first = pm.Beta(names[0], *_prior(names[0], pair[0]), dims=dims)
    alpha, beta = _prior(names[1], pair[1])
    if not priors.better_than_chance:
        return first, pm.Beta(names[1], alpha, beta, dims=dims)
    share = pm.Uniform(f"{names[1]}_share", dims=dims)
    second = pm.Deterministic(names[1], 1 - first * (1 - share), dims=dims)
    log_prior = pm.logp(pm.Beta.dist(alpha, beta), second) + pt.log(first)
    pm.Potential(f"{names[1]}_prior_density", log_prior.sum())
    return first, second
