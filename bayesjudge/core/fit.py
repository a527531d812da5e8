"""`Fit`: a sampled model with everything that a report of it needs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.draws import split_draws, summarise_interval
from bayesjudge.core.errors import check_ci_prob, expect
from bayesjudge.core.estimate import (
    INTERVALS,
    TARGETS,
    Assumption,
    Caution,
    Estimate,
    Interval,
    Quantity,
    Target,
)
from bayesjudge.core.methods import Method, as_method
from bayesjudge.core.model import BayesianModel
from bayesjudge.core.screen import NAMES, ROWS, few, fitted

if TYPE_CHECKING:
    import pandas as pd
    import pymc as pm
    import xarray as xr


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """A sampled model with everything that a report of it needs.

    Parameters
    ----------
    idata : xarray.DataTree
        Posterior, sample_stats, observed_data and constant_data; every ArviZ function takes it.
        `extended` adds prior, predictive and log-likelihood groups.
    data : object
        The checked data that the model saw.
    spec : BayesianModel
        The model that was fitted, as a value: its priors and options.
    quantities : tuple of str
        Variables of ``idata["posterior"]`` that answer the question.
    method : Method
        What computed the numbers.
    source : str
        Where the model comes from.
    assumptions : tuple of Assumption
        What must hold for the numbers to mean what they say.
    cautions : tuple of Caution
        Warnings that these data raise; a failed diagnostics gate comes first.
    interval : {"eti", "hdi", "eti_bounded"}
        Kind of interval that is shown unless another is asked for.
    target : {"population", "items"}
        Which items the numbers are about; see `Estimate`.
    """

    idata: xr.DataTree
    data: Any
    spec: BayesianModel
    quantities: tuple[str, ...]
    method: Method
    source: str
    assumptions: tuple[Assumption, ...] = ()
    cautions: tuple[Caution, ...] = ()
    interval: Interval = "eti"
    target: Target = "population"

    def __post_init__(self) -> None:
        object.__setattr__(self, "method", as_method(self.method, "sampled"))

    @cached_property
    def model(self) -> pm.Model:
        """The PyMC model of the text, built again from data and `spec` when first asked for.

        Its variables are those of ``idata["posterior"]``: PyMC's functions take both together.
        """
        return self.spec._pymc_model(self.data)

    @property
    def converged(self) -> bool:
        """Whether the diagnostics gate was passed."""
        return not any(caution.id == "not-converged" for caution in self.cautions)

    def draws(self, quantity: str) -> np.ndarray:
        """Posterior draws of one quantity, chains joined, about `Fit.target`.

        Parameters
        ----------
        quantity : str
            A variable of the posterior.

        Returns
        -------
        numpy.ndarray, shape (n_draws, ...)
            In the order chain by chain.
        """
        drawn = self._drawn_for(self.target)
        values = drawn[quantity].transpose("chain", "draw", ...).to_numpy()
        return values.reshape(-1, *values.shape[2:])

    def estimate(
        self,
        *,
        ci_prob: float = 0.95,
        interval: Interval | None = None,
        target: Target | None = None,
    ) -> Estimate:
        """Summarise the posterior in the shape of a closed form.

        Parameters
        ----------
        ci_prob : float, default 0.95
            Probability of the interval. ArviZ's own default, 0.89, is never used.
        interval : {"eti", "hdi", "eti_bounded"}, optional
            Equal-tailed; highest density; or equal-tailed with an end moved to 0 or 1 if the data
            do not exclude it. An equal-tailed interval cannot contain the end of a range; a
            highest density interval can, and covers a little less than it claims inside. By
            default `Fit.interval`.
        target : {"population", "items"}, optional
            About the process that these items come from, or about these very items: then the
            truths of unlabelled items are drawn, and what is labelled is known. By default
            `Fit.target`.

        Returns
        -------
        Estimate
            Posterior mean and interval for each of `quantities`, with their dimensions.

        Raises
        ------
        InputError
            If `ci_prob` is not inside (0, 1), interval or target is unknown, ``"eti_bounded"`` is
            asked of a model that has no quantity with such ends, or the model does not answer for
            the target.
        """
        interval = interval or self.interval
        check_ci_prob(ci_prob)
        expect("fit", interval in INTERVALS, f"must be one of {list(INTERVALS)}", interval=interval)
        target = target or self.target
        drawn = self._drawn_for(target)
        population = target == "population" and interval == "eti_bounded"
        moved = self._moved_ends(ci_prob) if population else {}
        bounds = self.spec._bounds(self, ci_prob, target)
        quantities = {}
        for name, dims, labels, draws in split_draws(drawn, self.quantities):
            kind = "eti" if interval == "eti_bounded" else interval
            ends = np.array([summarise_interval(entry, ci_prob, kind) for entry in draws])
            low, high = ends.reshape(-1, 2).T
            if name in moved:
                at_0, at_1 = moved[name]
                low, high = np.where(at_0, 0.0, low), np.where(at_1, 1.0, high)
            # a mean of equal numbers is that number, whatever rounding says
            value = np.array([np.clip(entry.mean(), entry.min(), entry.max()) for entry in draws])
            if name in bounds:
                given = ~np.isnan(bounds[name][:, 1])
                row = np.where(given[:, None], bounds[name], np.column_stack([value, low, high]))
                value, low, high = row.T
            quantities[name] = Quantity(value, low, high, dims, labels)
        kinds = {name: INTERVALS["eti_bounded" if name in moved else "eti"] for name in quantities}
        return Estimate(
            quantities,
            method=self.method,
            ci_prob=ci_prob,
            source=self.source,
            interval=kinds if interval == "eti_bounded" else INTERVALS[interval],
            assumptions=self.assumptions,
            cautions=self.cautions,
            target=target,
            data=self.data,
        )

    def _drawn_for(self, target: Target) -> xr.Dataset:
        """The posterior's draws, about the process or about these items."""
        posterior = self.idata["posterior"].to_dataset()
        if target == self.spec._drawn_about:
            return posterior
        expect("fit", target in TARGETS, f"must be one of {list(TARGETS)}", target=target)
        # the same draws at each call: what is random here belongs to the fit
        rng = np.random.default_rng(self.idata.attrs["random_seed"])
        about = self.spec._about_items if target == "items" else self.spec._about_population
        drawn = about(self, rng)
        name = type(self.spec).__name__
        expect(
            "fit", drawn is not None, f"{name} answers for target={self.spec._drawn_about!r} only"
        )
        return posterior.assign(
            {q: posterior[q].copy(data=values) for q, values in (drawn or {}).items()}
        )

    def _moved_ends(self, ci_prob: float) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        moved = self.spec._extended_to(self, ci_prob)
        name = type(self.spec).__name__
        expect("fit", moved is not None, "no-such-interval", name=name)
        return moved or {}

    def diagnostics(self) -> pd.DataFrame:
        """Tabulate convergence, effective sample sizes and Monte Carlo errors.

        Returns
        -------
        pandas.DataFrame
            One row per quantity: ``r_hat``, ``ess_bulk``, ``ess_tail``, ``mcse_mean``, unrounded.
        """
        from bayesjudge.core.diagnostics import diagnose

        return diagnose(self.idata, self.quantities)

    def extended(self, *, random_seed: Any = None) -> Fit:
        """Add prior, predictive, log-prior and log-likelihood groups to `idata`.

        They are made on request since each costs another compilation.

        Parameters
        ----------
        random_seed : int or numpy.random.Generator, optional
            Same seed, same draws.

        Returns
        -------
        Fit
            The same fit with the groups ``prior``, ``prior_predictive``, ``posterior_predictive``,
            ``log_prior`` and ``log_likelihood``. The log-likelihood is by item if the data are
            items: ``az.loo`` then leaves one item out, and ``az.plot_loo_pit``, which needs the one
            of each replicate, has none. Replicates are of evenly spaced draws if those of all would
            be more than 50 million numbers.

        Raises
        ------
        InputError
            If `model` was changed after sampling: its draws are those of another model.
        """
        from bayesjudge.core.predictive import predict

        return replace(self, idata=predict(self, random_seed=random_seed))

    def save(self, path: str | Path) -> Path:
        """Write everything to one netCDF file, from which `bayesjudge.load` makes the same fit.

        ``az.from_netcdf`` reads its draws too. Who writes to the file by another library takes away
        the checksum at its end, and `load` refuses it then.

        Parameters
        ----------
        path : str or pathlib.Path
            Ends in ``.nc`` by custom. A file that is there is replaced.

        Returns
        -------
        pathlib.Path
            Where it was written.
        """
        from bayesjudge.core.storage import write_fit

        return write_fit(self, path)

    def __repr__(self) -> str:
        posterior = self.idata["posterior"]
        sizes = posterior.sizes
        lines = [f"Fit of {self.spec.public_name()}: {self.method}", f"  {self.spec}"]
        lines += [f"  {line}" for line in repr(self.data).splitlines()[:ROWS]]
        lines.append(f"  {sizes['chain']} chains of {sizes['draw']} draws; .estimate(), .idata")
        for name in self.quantities[:NAMES]:
            dims = {d: n for d, n in posterior[name].sizes.items() if d not in ("chain", "draw")}
            about = f" ({', '.join(f'{n} {d}' for d, n in dims.items())})" if dims else ""
            lines.append(f"  {name}{about}")
        names = few(list(dict.fromkeys(c.id for c in self.cautions)))
        return fitted([*lines, *([f"  cautions: {names}"] if names else [])])

    def _repr_html_(self) -> str:
        return self.estimate()._repr_html_()


def load(path: str | Path) -> Fit:
    """Read a fit that `Fit.save` wrote.

    Loading runs no code of the file: it makes public data and model classes of this package and
    nothing else, checks what they are made of, and imports no sampler. The checksum of the whole
    file, verified before HDF5 reads it, tells damage, not forgery: who can write the file can make
    a checksum.

    Parameters
    ----------
    path : str or pathlib.Path
        The file.

    Returns
    -------
    Fit
        Its report is the report of the fit that was saved.

    Raises
    ------
    InputError
        If there is no such file, it holds no fit of this package, was written in another format,
        is damaged, or says what no fit can say.
    """
    from bayesjudge.core.storage import read_fit

    return read_fit(path, Fit)
