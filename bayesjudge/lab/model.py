"""Adapters that lend a module's model, prior and simulator to `sbc`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesjudge.compiled import compile_model
from bayesjudge.core.errors import InputError
from bayesjudge.core.model import BayesianModel
from bayesjudge.core.sampling import sample_draws
from bayesjudge.lab.sbc import Draws, effective

#: Prior samplers of this process, by what they sample: compiling one takes a second.
_samplers: dict[str, Callable[[np.random.Generator], dict[str, np.ndarray]]] = {}


@dataclass(frozen=True)
class Nuts:
    """Sample a module's model with NUTS; one compiled model serves all data sets of a shape.

    Parameters
    ----------
    build_model : callable
        ``build_model(data, model)`` of a module.
    model : BayesianModel
        Priors and options.
    quantities : tuple of str
        Unknowns to rank, derived ones too. Each needs a truth from ``draw_prior``.
    draws, tune, chains : int
        500, 500 and 2 by default.
    target_accept : float, default 0.9
        As the module's ``fit`` has it.
    adaptation : {"diag", "low_rank"}, default "diag"
        How the sampler learns the posterior's shape.
    min_ess : int, default 100
        Effective draws wanted of each unknown; chains that have fewer are run again four times as
        long, up to twice. Should not be below ``retained`` of `sbc`.
    """

    build_model: Callable[..., Any]
    model: BayesianModel
    quantities: tuple[str, ...]
    draws: int = 500
    tune: int = 500
    chains: int = 2
    target_accept: float = 0.9
    adaptation: str = "diag"
    min_ess: int = 100

    def __call__(self, data: Any, rng: np.random.Generator) -> Draws:
        """Sample."""
        form = self.model._sampling_form(data)
        model = self.build_model(data, self.model) if form is None else form
        compiled = compile_model(model)
        for longer in (1, 4, 16):
            tree = sample_draws(
                compiled,
                random_seed=int(rng.integers(2**32)),
                draws=longer * self.draws,
                tune=longer * self.tune,
                chains=self.chains,
                cores=1,
                target_accept=self.target_accept,
                adaptation=self.adaptation,
            )
            after = self.model._with_derived(data, tree["posterior"].to_dataset())
            values = {
                name: after[name].transpose("chain", "draw", ...).to_numpy()
                for name in self.quantities
            }
            if min(effective(values).values()) >= self.min_ess:
                break
        return Draws(values, int(tree["sample_stats"]["diverging"].sum()))


@dataclass(frozen=True)
class PriorDraws:
    """Draw truths from a model's own prior.

    Parameters
    ----------
    build_model : callable
        ``build_model(data, model)`` of a module.
    data : object
        Any data of the shape that the study has; their values do not matter.
    model : BayesianModel
        Priors and options.
    quantities : tuple of str
        Unknowns to draw, derived ones too.

    Raises
    ------
    InputError
        When called, if a potential shapes the prior, since PyMC cannot draw from that: write a
        ``draw_prior`` by hand.
    """

    build_model: Callable[..., Any]
    data: Any
    model: BayesianModel
    quantities: tuple[str, ...]

    def __call__(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Draw one truth for each quantity."""
        key = repr(self)
        if key not in _samplers:
            _samplers[key] = self._compiled()
        return _samplers[key](rng)

    def _compiled(self) -> Callable[[np.random.Generator], dict[str, np.ndarray]]:
        import pymc as pm
        from pymc.pytensorf import reseed_rngs
        from pytensor.tensor.random.type import RandomType

        model = self.build_model(self.data, self.model)
        shaping = [str(v.name) for v in model.potentials if str(v.name).endswith("_prior_density")]
        if shaping:
            text = f"{shaping} shape the prior, and PyMC cannot draw from it; write draw_prior"
            raise InputError("PriorDraws", [text])
        draw = pm.compile([], [model[name] for name in self.quantities], random_seed=0)
        rngs = [v for v in draw.get_shared() if isinstance(v.type, RandomType)]

        def sampler(rng: np.random.Generator) -> dict[str, np.ndarray]:
            reseed_rngs(rngs, int(rng.integers(2**63)))
            return dict(zip(self.quantities, map(np.asarray, draw()), strict=True))

        return sampler


@dataclass(frozen=True)
class Simulated:
    """Draw data through a module's ``simulate`` and its reader, as a user does.

    Parameters
    ----------
    simulate : callable
        ``simulate(**truths, **fixed, random_seed=rng)`` returns a table.
    read : callable
        From the table to the module's data, for example a partial of ``Counts.from_frame``.
    fixed : mapping, optional
        Further arguments of `simulate`: sizes and design.
    names : tuple of str, optional
        Truths that `simulate` takes; all by default.
    """

    simulate: Callable[..., Any]
    read: Callable[[Any], Any]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] | None = None

    def __call__(self, truths: Mapping[str, Any], rng: np.random.Generator) -> Any:
        """Draw."""
        known = {name: truths[name] for name in self.names or truths}
        return self.read(self.simulate(**known, **self.fixed, random_seed=rng))
