"""A sampled model: draws, data, priors and words, with everything that a report needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesjudge.core.draws import labelled_draws, summarise_interval
from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.results import INTERVALS, Caution, Estimate, Interval

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr


@dataclass(frozen=True, eq=False)
class Fit:
    """A sampled model with everything that a report of it needs.

    Parameters
    ----------
    idata : xarray.DataTree
        Posterior, sample_stats, observed_data and constant_data; every ArviZ function takes it.
        `extended` adds prior, predictive and log-likelihood groups.
    data : object
        The checked data that the model saw.
    priors : object
        The priors that the model used.
    quantities : tuple of str
        Variables of ``idata["posterior"]`` that answer the question.
    method : str
        Name of the estimator, for a report.
    source : str
        Where the model comes from.
    room : str
        The room that made it, for example ``"prevalence"``.
    options : mapping
        Further keyword arguments that the room's ``build_model`` had.
    assumptions : tuple of str
        What must hold for the numbers to mean what they say.
    cautions : tuple of Caution
        What speaks against them: a failed diagnostics gate comes first.
    interval : {"eti", "hdi", "eti+"}
        Kind of interval that the room shows unless asked for another.
    """

    idata: xr.DataTree
    data: Any
    priors: Any
    quantities: tuple[str, ...]
    method: str
    source: str
    room: str
    options: Mapping[str, Any] = field(default_factory=dict)
    assumptions: tuple[str, ...] = ()
    cautions: tuple[Caution, ...] = ()
    interval: Interval = "eti"

    @cached_property
    def model(self) -> pm.Model:
        """The model, built again from data and priors when first asked for."""
        return self._module.build_model(self.data, self.priors, **self.options)

    @property
    def _module(self) -> Any:
        """The public module that sampled: found by name, since the core imports none."""
        from importlib import import_module

        return getattr(import_module("bayesjudge"), self.room)

    @property
    def converged(self) -> bool:
        """Whether the diagnostics gate was passed."""
        return not any(caution.name == "not-converged" for caution in self.cautions)

    def draws(self, quantity: str) -> np.ndarray:
        """Posterior draws of one quantity, chains joined.

        Parameters
        ----------
        quantity : str
            A variable of the posterior.

        Returns
        -------
        numpy.ndarray, shape (n_draws, ...)
            In the order chain by chain.
        """
        values = self.idata["posterior"][quantity].transpose("chain", "draw", ...).to_numpy()
        return values.reshape(-1, *values.shape[2:])

    def estimate(self, *, ci_prob: float = 0.95, interval: Interval | None = None) -> Estimate:
        """Summarise the posterior in the shape of a closed form.

        Parameters
        ----------
        ci_prob : float, default 0.95
            Probability of the interval. ArviZ's own default, 0.89, is never used.
        interval : {"eti", "hdi", "eti+"}, optional
            Equal-tailed, highest density, or equal-tailed with an end of a prevalence's interval
            moved to 0 or 1 where the data do not exclude it ("equal-tailed+"). An equal-tailed one
            cannot contain the end of a range; a highest density interval can, and covers a little
            less than it claims inside. By default what the room recommends: `Fit.interval`.

        Returns
        -------
        Estimate
            Posterior mean and interval for each of `quantities`.

        Raises
        ------
        InputError
            Where `ci_prob` is not inside (0, 1), or the interval is unknown, or ``"eti+"`` is
            asked of a room that has no quantity with such ends.
        """
        interval = interval or self.interval
        check_ci_prob(ci_prob)
        with checking("interval") as require:
            require(interval in INTERVALS, f"expected one of {list(INTERVALS)}, got {interval!r}")
        moved = self._reached(ci_prob) if interval == "eti+" else {}
        rows: dict[str, tuple[float, ...]] = {}
        for name, values in labelled_draws(self.idata, self.quantities):
            low, high = summarise_interval(values, ci_prob, interval.removesuffix("+"))
            at_0, at_1 = moved.get(name, (False, False))
            rows[name] = (float(values.mean()), 0.0 if at_0 else low, 1.0 if at_1 else high)
        kinds = {name.split("[")[0]: INTERVALS["eti+" if name in moved else "eti"] for name in rows}
        return Estimate.from_rows(
            rows,
            method=self.method,
            ci_prob=ci_prob,
            source=self.source,
            interval=kinds if interval == "eti+" else INTERVALS[interval],
            assumptions=self.assumptions,
            cautions=self.cautions,
        )

    def _reached(self, ci_prob: float) -> Mapping[str, tuple[bool, bool]]:
        """Which intervals reach which end of their range: the room knows."""
        find = getattr(self._module, "reached", None)
        with checking("interval") as require:
            require(find, f"'eti+' is not for the room {self.room!r}; use 'eti' or 'hdi'")
        return find(self, ci_prob=ci_prob) if find else {}

    def diagnostics(self) -> pd.DataFrame:
        """Tabulate convergence, effective sample sizes and Monte Carlo errors.

        Returns
        -------
        pandas.DataFrame
            One row a quantity: ``r_hat``, ``ess_bulk``, ``ess_tail``, ``mcse_mean``, unrounded.
        """
        from bayesjudge.core.diagnostics import diagnose

        return diagnose(self.idata, self.quantities)

    def extended(self, *, random_seed: Any = None) -> Fit:
        """Add prior, prior_predictive, posterior_predictive and log_likelihood.

        They are made on request since each costs another compilation.

        Parameters
        ----------
        random_seed : int or numpy.random.Generator, optional
            Same seed, same draws.

        Returns
        -------
        Fit
            The same fit with four more groups.
        """
        from bayesjudge.core.sampling import predict

        return replace(self, idata=predict(self.model, self.idata, random_seed=random_seed))

    def save(self, path: str | Path) -> Path:
        """Write everything to one netCDF file, from which `bayesjudge.load` makes the same fit.

        Parameters
        ----------
        path : str or pathlib.Path
            Ends in ``.nc`` by custom. A file that is there is replaced.

        Returns
        -------
        pathlib.Path
            Where it was written.
        """
        from bayesjudge.core.storage import save

        return save(self, path)

    def _repr_html_(self) -> str:
        return self.estimate()._repr_html_()
