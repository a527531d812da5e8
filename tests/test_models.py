"""Every model, from its log-density to what is made of its draws, is that of today.

Slow tests hold densities to formulas (tests/prevalence/test_densities.py), the text's form and the
sampler's to each other (tests/test_contract.py) and posteriors to integrals. Here nothing compiles
or samples: both densities are computed at random points, which then stand for draws of the fit
(tests/points.py), and every function of a fit is asked about them. Where some are to move, write
them anew:

    python tests/test_models.py
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path[:0] = [str(HERE), str(HERE.parent)]

from conftest import MODULES  # noqa: E402
from digests import Digests, digest, moved, shown, write  # noqa: E402
from points import at_points, in_place_of_nuts  # noqa: E402
from test_public_calls import answered  # noqa: E402

from bayesjudge.core.prior_check import check_prior  # noqa: E402
from bayesjudge.decide import gate  # noqa: E402

STORED = HERE / "models.json"
#: What functions of a fit are told if they ask for it; of some, a name along a dimension.
GIVEN = {
    **{"random_seed": 1, "draws": 40, "kept": 4},
    **{"tolerance": 30.0, "failure_prob": 0.1, "units": "points"},
}
NAMES = {"generator": "generator", "baseline": "system"}
#: Models whose draws are compared with what takes seconds by itself.
LONG = ("attempts", "prevalence.classes", "ratings")
#: Models whose priors are held against data as those of another model of their module are.
ALIKE = ("Correlated", "JudgeCutpoints", "PooledDawidSkene")
#: Takes several fits.
LEFT_OUT = ("by_system",)


def asked_of(one: Any, fit: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Each function of a fit, by its name, and what every fit says."""
    posterior = fit.idata["posterior"].to_dataset()
    for name in one.module.__all__:
        function = getattr(one.module, name)
        if name.startswith("plot_") or name in LEFT_OUT or not inspect.isfunction(function):
            continue
        first, *others = inspect.signature(function).parameters.values()
        if "Fit" in str(first.annotation):
            asked = [other.name for other in others]
            given = {x: GIVEN[x] for x in asked if x in GIVEN}
            names = {x: NAMES[x] for x in asked if NAMES.get(x) in posterior.coords}
            given |= {x: posterior[dim].to_numpy()[0] for x, dim in names.items()}
            yield name, partial(function, fit, **given)
    for interval in ("eti", "hdi", "eti_bounded"):
        yield interval, partial(fit.estimate, ci_prob=0.9, interval=interval)
    for target in ("items", "population"):
        yield target, partial(fit.estimate, target=target)
    yield "gate", partial(gate, fit, at_least=0.6, entry=fit.quantities[0])
    yield "shown", partial(repr, fit)
    few = posterior.isel(draw=slice(4))
    yield "items one by one", partial(fit.spec._item_log_likelihood, fit.data, few)
    if one.name not in LONG:
        yield "compare", partial(one.module.compare, fit.data, fit)
    if one.name not in LONG and type(fit.spec).__name__ not in ALIKE:
        yield "prior beside data", partial(beside_few_draws, fit)


def beside_few_draws(fit: Any) -> Any:
    """What priors expect of the data, from so few tables that the graph need not be compiled."""
    from pytensor import config

    few = {"FIRST": 40, "CONFLICT_P": 0.1}
    with (
        config.change_flags(mode="FAST_COMPILE"),
        mock.patch.multiple("bayesjudge.core.prior_check", **few),
        mock.patch("bayesjudge.core.predictive.DRAWS", few["FIRST"]),
    ):
        return check_prior(fit.data, fit.spec, random_seed=1)


def densities(modules: Iterable[Any] = MODULES) -> Iterator[tuple[str, Any]]:
    """Variables and terms of each model of the text that NUTS does not run itself."""
    for one in modules:
        for place, (spec, data) in enumerate(one.models()):
            if spec._sampling_form(data) is not None:
                about = f"{one.name} {place} {type(spec).__name__} of the text"
                yield about, at_points(one.module.build_model(data, spec), 3, 2)


def fits(modules: Iterable[Any] = MODULES, *, each: bool = True) -> Iterator[tuple[str, Any]]:
    """Draws of each model, their density, and what functions answer about them: about each, or
    about the first of each class.
    """
    for one in modules:
        asked = set()
        for place, (spec, data) in enumerate(one.models()):
            about = f"{one.name} {place} {type(spec).__name__}"
            with in_place_of_nuts():
                fit = one.module.fit(data, spec, random_seed=1)
            for name, group in fit.idata.children.items():
                yield f"{about} {name}", group.to_dataset()
            for name, call in asked_of(one, fit) if each or type(spec) not in asked else ():
                yield f"{about} {name}", answered(call)
            asked.add(type(spec))


def digests_of(found: Iterable[tuple[str, Any]]) -> dict[str, tuple[int, float]]:
    """One of each."""
    return {name: digest(shown(value)) for name, value in found}


def require_those_of_today(now: Digests) -> None:
    """Fail with the names of those that moved."""
    wrong = [name for name in moved(now, STORED) if name in now]
    assert not wrong, f"{wrong} moved; python tests/test_models.py writes those of today"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("one", MODULES, ids=lambda one: one.name)
def test_every_fit_and_what_is_said_of_it_are_those_of_today(one):
    require_those_of_today(digests_of(fits([one], each=False)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_what_is_said_of_other_options_of_a_model_is_that_of_today():
    several = [m for m in MODULES if len({type(spec) for spec, _ in m.models()}) < len(m.models())]
    assert several
    require_those_of_today(digests_of(fits(several)))


@pytest.mark.slow
def test_every_density_of_the_text_is_that_of_today():
    require_those_of_today(digests_of(densities()))


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write(digests_of([*densities(), *fits()]), STORED)
