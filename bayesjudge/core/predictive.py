"""Prior and predictive draws, log-prior and log-likelihood, added to a posterior."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.compiled import compiling, own_settings, structure_of
from bayesjudge.core.errors import checking, expect
from bayesjudge.core.priors import BetaPrior
from bayesjudge.core.randomness import rng_of

if TYPE_CHECKING:
    import pandas as pd
    import pymc as pm
    import xarray as xr

#: Draws from the prior, of `Fit.extended`.
PRIOR_DRAWS = 1000
#: Draws of the parameters, and families of the observed variables, of `observed_shares`.
DRAWS = 2000
COUNTS = ("BinomialRV", "MultinomialRV")
#: Compiling takes longer than what it saves of a few hundred draws.
QUICK = "FAST_COMPILE"
#: What a share is called, with its dimensions and where it is in them.
Key = tuple[str, str | tuple[str, ...], str | tuple[str, ...]]
#: Weighted prior draws that are worth fewer independent ones than this are refused.
FEWEST_EFFECTIVE = 50
#: The log-likelihood has a number for each draw and item; of more than this it is left out, and
#: replicates are made of fewer draws.
MOST_NUMBERS = 50_000_000
#: A log-prior that varies by less over the draws is constant but for rounding.
FLAT = 1e-9
#: Sensitivity to a power that ArviZ notices.
NOTICED = 0.05
#: Priors that stand beside the stated ones, and the move of a mean, in posterior standard
#: deviations, that is a diagnosis: an interval that is off by so much covers .943.
OTHER_PRIORS, MOVED = {"flat": BetaPrior(), "jeffreys": BetaPrior.jeffreys()}, 0.25
SAMPLE = ["chain", "draw"]
#: Numbers of the draws whose log-prior is computed at once.
AT_ONCE = 1_000_000


def predict(fit: Any, *, random_seed: Any = None) -> xr.DataTree:
    """Add the groups of `Fit.extended`."""
    import pymc as pm

    model, rng = fit.model, rng_of(random_seed)
    require_unchanged(fit)
    extended = fit.idata.copy()
    with model, compiling():
        # draws come from the posterior or are weighed below, so potentials have been counted
        warnings.filterwarnings("ignore", message="The effect of Potentials")
        drawn = prior_draws(model, rng, PRIOR_DRAWS)
        after = pm.sample_posterior_predictive(_thinned(fit), random_seed=rng, progressbar=False)
        if not _shaping(model):  # what a potential adds to the prior PyMC does not count
            extended["log_prior"] = _log_prior(fit)
    prior = fit.spec._with_derived(fit.data, drawn["prior"].to_dataset())
    extended["prior"] = type(extended)(prior)
    if "prior_predictive" in drawn:
        extended["prior_predictive"] = drawn["prior_predictive"]
    if "posterior_predictive" in after:
        extended["posterior_predictive"] = after["posterior_predictive"]
    if (likelihood := _log_likelihood(fit)) is not None:
        extended["log_likelihood"] = likelihood
    for group in extended.children.values():
        group.attrs = {}  # the time of making would make each file another
    return extended


def _thinned(fit: Any) -> xr.DataTree:
    """Evenly spaced draws, as many as have replicates of a bearable size."""
    posterior = fit.idata["posterior"]
    size = sum(v.size for v in fit.idata["observed_data"].data_vars.values())
    numbers = size * posterior.sizes["chain"] * posterior.sizes["draw"]
    step = max(-(-numbers // MOST_NUMBERS), 1)  # of models without observed variables too
    kept = fit.idata.copy()  # with its constant data, from which PyMC sees that none has changed
    kept["posterior"] = posterior.isel(draw=slice(None, None, step))
    return kept


def require_unchanged(fit: Any) -> None:
    """Refuse a model that a user changed: the draws of the fit are not its draws."""
    now, then = fit.model, fit.spec._build(fit.data)
    values = [
        {str(v.name): np.asarray(v.get_value()) for v in model.data_vars} for model in (now, then)
    ]
    changed = [n for n, v in values[1].items() if not np.array_equal(v, values[0].get(n, np.nan))]
    with checking("Fit.extended") as require:
        remedy = (
            "the draws belong to the model as it was; sample the changed one with pm.sample and "
            "extend what that returns, or predict with pm.sample_posterior_predictive"
        )
        require(not changed, "data-changed", changed=changed, remedy=remedy)
        if not changed:
            same = structure_of(now) == structure_of(then)
            require(same, "model-changed", remedy=remedy)


def _log_prior(fit: Any) -> xr.Dataset:
    """By variable; of many draws at once, so that nothing is compiled."""
    import pytensor.tensor as pt
    import xarray as xr
    from pymc.model.transform.conditioning import remove_value_transforms
    from pytensor import function
    from pytensor.graph.replace import vectorize_graph

    plain, posterior = remove_value_transforms(fit.model), fit.idata["posterior"].to_dataset()
    many = {v: pt.tensor(dtype=v.dtype, shape=(None, *v.type.shape)) for v in plain.value_vars}
    densities = vectorize_graph(plain.logp(vars=plain.free_RVs, sum=False), replace=many)
    run = function(list(many.values()), densities, mode=QUICK, on_unused_input="ignore")
    sizes = posterior.sizes["chain"], posterior.sizes["draw"]
    draws = [
        posterior[str(v.name)].to_numpy().astype(v.dtype).reshape(-1, *posterior[v.name].shape[2:])
        for v in many
    ]
    parts = -(-sum(array.size for array in draws) // AT_ONCE)
    runs = [run(*part) for part in zip(*(np.array_split(d, parts) for d in draws), strict=True)]
    arrays = {}
    for v, values in zip(plain.free_RVs, map(np.concatenate, zip(*runs, strict=True)), strict=True):
        dims = posterior[v.name].dims[: values.ndim + 1]  # a distribution of shares has one number
        coords = {dim: posterior[dim] for dim in dims if dim in posterior.coords}
        arrays[v.name] = xr.DataArray(values.reshape(*sizes, *values.shape[1:]), coords, dims)
    return xr.Dataset(arrays)


def _log_likelihood(fit: Any) -> xr.Dataset | None:
    """By item if the data are items, else by observed variable."""
    import xarray as xr

    name = fit.spec._by_item
    if name is not None:
        items = fit.idata["observed_data"][name].shape[0]
        if _too_many(fit, items):
            return None
        return _log_likelihoods(fit, [name]).rename({name: "items"})
    computed = fit.spec._item_log_likelihood(fit.data, fit.idata["posterior"].to_dataset())
    if computed is None:
        return _log_likelihoods(fit)
    by_kind, items = computed
    if _too_many(fit, int(items.sum())):
        return None
    by_item = by_kind.isel(kind=np.repeat(np.arange(items.size), items)).rename(kind="item")
    return xr.Dataset({"items": by_item.variable}, dict(by_item.coords))


def _log_likelihoods(fit: Any, names: list[str] | None = None) -> xr.Dataset:
    """Of observed variables, all of them by default."""
    from pymc.stats import compute_log_likelihood

    with fit.model, compiling():
        computed = compute_log_likelihood(
            fit.idata, var_names=names, extend_inferencedata=False, progressbar=False
        )
    return getattr(computed, "dataset", computed)


def _too_many(fit: Any, items: int) -> bool:
    """Whether items times draws are too many numbers to keep; a warning says so."""
    sizes = fit.idata["posterior"].sizes
    draws = sizes["chain"] * sizes["draw"]
    if draws * items <= MOST_NUMBERS:
        return False
    warnings.warn(
        f"no log_likelihood: {items:,} items times {draws:,} draws are more than "
        f"{MOST_NUMBERS:,} numbers",
        stacklevel=5,
    )
    return True


def prior_draws(model: pm.Model, rng: np.random.Generator, draws: int) -> xr.DataTree:
    """Draw from the prior, a potential named ``*_prior_density`` being part of it."""
    import pymc as pm
    import pytensor.tensor as pt
    from pytensor import function
    from pytensor.graph.replace import vectorize_graph

    shaping = _shaping(model)
    many_draws = 20 * draws if shaping else draws
    with model, compiling():
        # those that shape the prior are weighed below, and others have been told of at sampling
        warnings.filterwarnings("ignore", message="The effect of Potentials")
        prior = pm.sample_prior_predictive(draws=many_draws, random_seed=rng)
    if not shaping:
        return prior
    many = {v: pt.tensor(dtype=v.dtype, shape=(None, *v.type.shape)) for v in model.free_RVs}
    weigh = function(
        list(many.values()), vectorize_graph(shaping, replace=many), on_unused_input="ignore"
    )
    drawn = [prior["prior"][str(v.name)].to_numpy()[0] for v in model.free_RVs]
    log = np.sum(weigh(*drawn), axis=0)
    weights = np.exp(log - log.max())
    weights /= weights.sum()
    effective = 1 / np.sum(weights**2)
    with checking("prior draws") as require:
        require(
            effective >= FEWEST_EFFECTIVE,
            f"{many_draws:,} weighted draws are worth {effective:.0f} independent ones, too few "
            "to describe the prior",
        )
    chosen = rng.choice(log.size, draws, p=weights)
    for group in ("prior", "prior_predictive"):
        if group in prior:
            thinned = prior[group].to_dataset().isel(draw=chosen)
            prior[group] = type(prior)(thinned.assign_coords(draw=np.arange(draws)))
    return prior


def _shaping(model: pm.Model) -> list[Any]:
    return [v for v in model.potentials if str(v.name).endswith("_prior_density")]


def observed_shares(
    model: pm.Model, rng: np.random.Generator
) -> tuple[dict[Key, float], dict[Key, np.ndarray], dict[Key, float]]:
    """Take each share of what binomial and multinomial variables count: the observed one, those of
    the prior, and the p-value, which is exact but for the draws of the parameters.
    """
    import pymc as pm
    from pytensor import function
    from scipy.special import bdtr

    seen = [v for v in model.observed_RVs if type(v.owner.op).__name__ in COUNTS]
    parts = [v.owner.op.dist_params(v.owner) for v in seen]
    with own_settings():
        chances = pm.draw([p for _, p in parts], DRAWS, random_seed=rng, mode=QUICK)
        data = function([], [x for v, (n, _) in zip(seen, parts, strict=True)
                             for x in (model.rvs_to_values[v], n)], mode=QUICK)()  # fmt: skip
    observed: dict[Key, float] = {}
    drawn: dict[Key, np.ndarray] = {}
    p_values: dict[Key, float] = {}
    for v, count, trials, chance in zip(seen, data[::2], data[1::2], chances, strict=True):
        dims = tuple(model.named_vars_to_dims.get(v.name, ()))
        labels = [[str(label) for label in model.coords[dim]] for dim in dims]
        total = np.broadcast_to(
            trials if trials.ndim == count.ndim else trials[..., None], count.shape
        )
        for at in zip(*np.nonzero(np.atleast_1d(total)), strict=True):
            at = at[: count.ndim]
            k, n, p = int(count[at]), int(total[at]), chance[(..., *at)] if at else chance
            named = zip(dims, (names[i] for names, i in zip(labels, at, strict=True)), strict=True)
            where = {dim: name for dim, name in named if name}  # of a single number: none
            key: Key = (str(v.name), tuple(where), tuple(where.values()))
            observed[key], drawn[key] = k / n, rng.binomial(n, np.clip(p, 0, 1)) / n
            tails = bdtr(k, n, p).mean(), 1 - (bdtr(k - 1, n, p).mean() if k else 0.0)
            p_values[key] = float(min(1.0, 2 * min(tails)))
    return observed, drawn, p_values


def observed_values(model: pm.Model) -> dict[str, np.ndarray]:
    """Take what was observed, by variable."""
    from pytensor import function

    values = [model.rvs_to_values[v] for v in model.observed_RVs]
    names = [str(v.name) for v in model.observed_RVs]
    with own_settings():
        return dict(zip(names, function([], values, mode=QUICK)(), strict=True))


def draw_together(
    model: pm.Model, names: Collection[str], draws: int, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Draw variables from the prior, the observed ones too."""
    import pymc as pm

    wanted = [model[name] for name in names]
    with own_settings():
        values = pm.draw(wanted, draws, random_seed=rng, mode=QUICK)
    return dict(zip(names, values, strict=True))


def prior_sensitivity(fit: Any, *, random_seed: Any = None) -> pd.DataFrame:
    """Sensitivity of each quantity to prior and likelihood: power-scaling, and other priors.

    A flat prior stays flat at any power, so that power-scaling cannot see it; another prior can.

    Parameters
    ----------
    fit : Fit
        A sampled model; `Fit.extended` is called if its densities are not there yet.
    random_seed : int or numpy.random.Generator, optional
        Of `Fit.extended`.

    Returns
    -------
    pandas.DataFrame
        One row per entry of `Fit.quantities`: sensitivity to the ``prior`` and to the
        ``likelihood`` (how far the posterior moves when the one is raised to a power near 1; above
        0.05 it is noticeable), and ArviZ's ``diagnosis``. The prior is that of parameters and of
        populations; how judges, items or systems scatter within a population is the model. If the
        model has Beta priors, ``to_flat`` and ``to_jeffreys`` are how far the mean moves, in
        posterior standard deviations, if all of these are flat or Jeffreys' (draws weighed by the
        ratio of the priors; of a system's rate, the priors of that system); more than `MOVED` is a
        diagnosis, and so is nan: the weighed draws are worth fewer than `FEWEST_EFFECTIVE`. Priors
        that nobody stated are in no conflict with the data: their moves tell.

    Raises
    ------
    InputError
        If the prior's density is not known draw by draw.

    References
    ----------
    Kallioinen et al. (2024), Statistics and Computing 34, 57.
    """
    from arviz_stats import psense_summary

    wanted = {"log_prior", "log_likelihood"}
    whole = fit if wanted <= set(fit.idata.children) else fit.extended(random_seed=random_seed)
    missing = sorted(wanted - set(whole.idata.children))
    expect("prior_sensitivity", not missing, f"{type(fit.spec).__name__} has no draws of {missing}")
    idata = whole.idata
    if fit.spec._by_item is not None and len(fit.model.observed_RVs) > 1:
        idata = idata.copy()  # what is observed beside single items belongs to the likelihood
        idata["log_likelihood"] = type(idata)(_log_likelihoods(fit))
    names, quantities = _own_priors(fit.model), list(fit.quantities)
    each = idata["log_prior"].to_dataset()[names].data_vars.values()
    joint = sum(np.sum(v.to_numpy(), axis=tuple(range(2, v.ndim))) for v in each)
    if np.ptp(joint) < FLAT:
        # any power of a flat prior is that prior; ArviZ needs one that varies
        idata = idata.copy()
        idata["log_prior"] = type(idata)(idata["log_likelihood"].to_dataset())
        table = psense_summary(idata, var_names=quantities).assign(prior=0.0, diagnosis="✓")
    else:
        table = psense_summary(idata, var_names=quantities, prior_var_names=names)
    moves = {f"to_{name}": _moves(fit, prior) for name, prior in OTHER_PRIORS.items()}
    table = table.assign(**{name: move for name, move in moves.items() if move is not None})
    if not fit.spec._states_priors():  # what nobody stated is in no conflict with the data
        noticed = (table[["prior", "likelihood"]] > NOTICED).all(axis=1)
        table.loc[noticed, "diagnosis"] = "✓"
    unseen = table["diagnosis"] == "✓"
    far = [~(table[name].abs() <= MOVED) for name in moves if name in table]
    table.loc[unseen & (np.any(far, axis=0) if far else False), "diagnosis"] = (
        "another prior moves it"
    )
    return table


def _moves(fit: Any, other: BetaPrior) -> np.ndarray | None:
    """How far means move, in standard deviations, if each Beta prior is another one."""
    posterior, ratios = fit.idata["posterior"].to_dataset(), []
    for name, prior in fit.idata["constant_data"].to_dataset().data_vars.items():
        stated = str(name).removesuffix("_prior")
        # of pooled rates the prior is that of the typical one
        variable = f"typical_{stated}" if f"typical_{stated}" in posterior else stated
        # what people's rates are is known beforehand; they may stand beside the judge's
        by_name = isinstance(getattr(fit.spec, stated, None), Mapping)
        if str(name).startswith("person_") or (prior.ndim > 1 and not by_name):
            continue
        if "parameter" in prior.dims and variable in posterior:
            x = posterior[variable].clip(1e-12, 1 - 1e-12)
            alpha, beta = (prior.sel(parameter=p, drop=True) for p in ("alpha", "beta"))
            ratios.append((other.alpha - alpha) * np.log(x) + (other.beta - beta) * np.log1p(-x))
    if not ratios:
        return None
    return np.concatenate([_moved(posterior[name], ratios) for name in fit.quantities])


def _moved(x: xr.DataArray, ratios: Sequence[xr.DataArray]) -> np.ndarray:
    """How far means move by weights with these logarithms: of a system those of its priors."""
    log: Any = sum(ratio.sum([d for d in ratio.dims if d not in x.dims]) for ratio in ratios)
    weight: Any = np.exp(log - log.max(SAMPLE))
    effective = weight.sum(SAMPLE) ** 2 / (weight**2).sum(SAMPLE)
    moved = (x.weighted(weight).mean(SAMPLE) - x.mean(SAMPLE)) / x.std(SAMPLE)
    return np.ravel(moved.where(effective > FEWEST_EFFECTIVE).transpose(*x.dims[2:]))


def _own_priors(model: pm.Model) -> list[str]:
    """Variables whose prior is not a population that the model learns.

    Effects of items, judges or systems are drawn from one, with unknowns of fewer dimensions: to
    raise their density to a power would change the model, and not what is believed beforehand.
    """
    from pytensor.graph.traversal import ancestors

    free = {v: v.ndim for v in model.free_RVs}
    return [
        str(v.name)
        for v, ndim in free.items()
        if not any(free.get(a, ndim) < ndim for a in ancestors([v]))
    ]
