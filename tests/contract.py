"""What every module promises, and what the contract tests have to know of each."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from bayesjudge.core.priors import BetaPrior

#: What becomes of a quantity if good and bad, pass and fail, change places.
MIRROR = {
    "prevalence": ("prevalence", True),
    "overall_prevalence": ("overall_prevalence", True),
    "sensitivity": ("specificity", False),
    "specificity": ("sensitivity", False),
    "ppv": ("npv", False),
    "npv": ("ppv", False),
}
#: Columns of 0 and 1 that change places if what is good is called bad.
MIRRORED = ("verdict", "vote", "truth")
#: Columns that hold names, by the names that they have in `simulate` and by default.
NAMES = ("item", "system", "stratum", "generator", "judge", "rater")


class Module(NamedTuple):
    """What the contract has to know of a module, or of a sub-package with its own data class."""

    module: Any  #: for example ``bj.panel`` or ``bj.prevalence.classes``
    read: Callable[[Any], Any]  #: from the table that `simulate` returns to the data class
    closed_form: Callable[[Any], Any]  #: answers the quantities that `fit` answers
    truth: Mapping[tuple[str, ...], float]  #: what `simulate` draws from, by entry
    #: Every public model with data that it suits, the default one first.
    models: Callable[[], list[tuple[Any, Any]]]
    #: Models with data that do not read all of their fields: one judge, one item.
    sparse: Callable[[], list[tuple[Any, Any]]] = list
    #: Whether `build_model` is the model of the text, on which PyMC's and ArviZ's verbs are tested.
    of_the_text: bool = False
    coverage: float = 0.95  #: what the closed form's interval claims
    #: Values that move a field which `moved` cannot move by itself, by (class name, field).
    moves: Mapping[tuple[str, str], Any] = {}
    #: A random small table with a way to read it, for relations and fuzzing; see `sample`.
    tables: Callable[[np.random.Generator], tuple[Any, Callable[[Any], Any]]] | None = None
    #: Columns whose names mean something, so that others would be other data.
    spoken: tuple[str, ...] = ()
    #: Whether pairs are named in the order of the names, so that other names give other pairs.
    ordered_pairs: bool = False
    #: Arguments of `closed_forms` with which it is quick, for hundreds of tables.
    quick: Mapping[str, Any] = {}
    #: Columns x that become 1 - x if what is good is called bad; what each quantity becomes then,
    #: and whether that is 1 less it.
    mirrored: tuple[str, ...] = MIRRORED
    mirror: Mapping[str, tuple[str, bool]] = MIRROR
    #: Methods that good and bad exchanged do not mirror, each with the reason.
    leaning: Mapping[str, str] = {}
    #: Quantities whose ends are quantiles of draws.
    drawn: frozenset[str] = frozenset()
    #: Quantities or methods whose intervals copies of the data may widen, each with the reason.
    not_narrowed: Mapping[str, str] = {}
    #: Methods for which that holds only where the value moves towards 0 or 1, or past one half.
    not_narrowed_at_an_end: Mapping[str, str] = {}

    @property
    def name(self) -> str:
        """For test ids: ``prevalence``, ``prevalence.classes``."""
        return self.module.__name__.removeprefix("bayesjudge.")

    def simulated(self, seed: int) -> Any:
        """Data as a user gets them: a table, read."""
        return self.read(self.module.simulate(random_seed=seed))

    def sample(self, rng: np.random.Generator) -> tuple[Any, Callable[[Any], Any]]:
        """A random table with a way to read it: by default some items of what `simulate` draws."""
        if self.tables is not None:
            return self.tables(rng)
        return some_items(self.module.simulate(random_seed=rng), rng), self.read


def some_items(table: Any, rng: np.random.Generator, fewest: int = 2, most: int = 30) -> Any:
    """All rows of some items, in the order of the table; of some rows, if no column names items."""
    units = table["item"] if "item" in table else table.index.to_series()
    every = units.unique()
    n = int(np.exp(rng.uniform(np.log(fewest), np.log(min(most, len(every)) + 1))))
    kept = rng.choice(every, size=min(max(n, fewest), len(every)), replace=False)
    return table[units.isin(kept)].reset_index(drop=True)


def moved(value: Any) -> Any:
    """Another value of a prior or option of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, BetaPrior):
        return BetaPrior(value.alpha + 1.5, value.beta + 0.5)
    if dataclasses.is_dataclass(value):
        return dataclasses.replace(
            value, **{f.name: moved(getattr(value, f.name)) for f in dataclasses.fields(value)}
        )
    if isinstance(value, int | float):
        return type(value)(value * 2 + 1)
    if value is None:
        return BetaPrior(2, 3)
    raise TypeError(f"say in the contract's `moves` how to move {value!r}")


def graph_of(model: Any) -> tuple[str, list[tuple[Any, ...]]]:
    """The graph of a PyMC model's log-density, and the values of all data that it reads.

    Two models whose graphs and data agree are one model: nothing needs compiling to tell.
    """
    from pytensor.graph.traversal import ancestors

    from bayesjudge.compiled.fast import named, structure

    logp, kept = model.logp(), named(model)  # made once: half of what this costs
    read = {v.name for v in ancestors([logp, *kept])}
    values = [one for one in data_of(model) if one[0] in read]
    return structure(model, logp, kept), values


def data_of(model: Any) -> list[tuple[str, tuple[int, ...], bytes]]:
    """Name, shape and values of all data of a model."""
    values = [(str(v.name), np.asarray(v.get_value())) for v in model.data_vars]
    return [(name, v.shape, v.tobytes()) for name, v in values]


def is_other(model: Any, graph: tuple[str, list[tuple[Any, ...]]]) -> bool:
    """Whether a model's graph is not this one.

    If data that this one reads have other values it is not, and the model's log-density, two
    thirds of the work, need not be made.
    """
    return not {*graph[1]} <= {*data_of(model)} or graph_of(model) != graph


def in_python(inputs: Any, outputs: Any) -> Callable[..., Any]:
    """A function of a graph as it stands, for a few calls: to rewrite it would take longer."""
    from pytensor import function
    from pytensor.compile.mode import Mode

    return function(inputs, outputs, mode=Mode("py", None), on_unused_input="ignore")


def items_and_likelihood(made: Any, spec: Any, data: Any) -> tuple[np.ndarray, np.ndarray, int]:
    """Log-likelihood of the observed variables and the sum over items, at random points; and how
    many items there are.
    """
    import xarray as xr

    rng, totals = np.random.default_rng(2), []
    names = [str(v.name) for v in made.unobserved_RVs]
    values = made.replace_rvs_by_values([made[name] for name in names])
    run = in_python(made.value_vars, [*values, made.logp(vars=made.observed_RVs)])
    for _ in range(3):
        point = {k: v + rng.normal(0, 0.5, np.shape(v)) for k, v in made.initial_point().items()}
        *drawn, likelihood = run(*(point[str(v.name)] for v in made.value_vars))
        draws = xr.Dataset(
            {
                name: (("chain", "draw", *made.named_vars_to_dims.get(name, ())), v[None, None])
                for name, v in zip(names, map(np.asarray, drawn), strict=True)
            },
            coords={"chain": [0], "draw": [0]},
        )
        by_kind, items = spec._item_log_likelihood(data, draws)
        totals.append((float(likelihood), float((by_kind * items).sum())))
    whole, summed = np.array(totals).T
    return whole, summed, int(items.sum())


def gaps_between(text: Any, form: Any, points: int = 3) -> tuple[np.ndarray, float]:
    """Log-density of the text's model less that of the sampling form, at random points, with the
    change of variables; and the largest difference between variables of one name.

    Two forms of one model differ by a constant, and agree in each variable.
    """
    from pytensor.graph.replace import graph_replace

    # the text's variables, natural and as its own sampler would see them, from the form's
    mine = form.replace_rvs_by_values([form[str(v.name)] for v in text.unobserved_RVs])
    natural = dict(zip(text.unobserved_RVs, mine, strict=True))
    free = {v: natural[v] for v in text.free_RVs}
    values = {}
    for v in text.free_RVs:
        transform = text.rvs_to_transforms[v]
        inner = v if transform is None else transform.forward(v, *v.owner.inputs)
        values[text.rvs_to_values[v]] = graph_replace(inner, free, strict=False)
    derived = graph_replace(text.deterministics, free, strict=False) if text.deterministics else []
    density = graph_replace(text.logp(), values)
    natural_derived = [natural[v] for v in text.deterministics]
    run = in_python(form.value_vars, [density, form.logp(), *derived, *natural_derived])
    moved_to = in_python(form.value_vars, list(values.values()))
    rng, start = np.random.default_rng(1), form.initial_point()
    shapes = [np.shape(start[str(v.name)]) for v in form.value_vars]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
    centre = np.concatenate([np.ravel(start[str(v.name)]) for v in form.value_vars])

    def parts(x: np.ndarray) -> list[np.ndarray]:
        return [p.reshape(shape) for p, shape in zip(np.split(x, ends), shapes, strict=True)]

    def place(x: np.ndarray) -> np.ndarray:
        return np.concatenate([np.ravel(v) for v in moved_to(*parts(x))])

    gaps, largest = [], 0.0
    for _ in range(points):
        x, step = centre + rng.normal(0, 0.7, centre.size), 1e-5
        one, other, *after = run(*parts(x))
        assert place(x).size == x.size, "the two forms have not the same number of unknowns"
        columns = [
            (place(x + step * unit) - place(x - step * unit)) / (2 * step)
            for unit in np.eye(x.size)
        ]
        gaps.append(float(one - other) + np.linalg.slogdet(np.array(columns))[1])
        pairs = zip(after[: len(derived)], after[len(derived) :], strict=True)
        off = max((float(np.max(np.abs(a - b))) for a, b in pairs), default=0.0)
        largest = max(largest, off)
    return np.array(gaps), largest


def some_draws(fit: Any, n: int) -> Any:
    """The fit with `n` draws of each chain only, for what is done with each draw."""
    import xarray as xr

    step = fit.idata["posterior"].sizes["draw"] // n
    groups = {name: group.to_dataset() for name, group in fit.idata.children.items()}
    thin = {
        name: one.isel(draw=slice(None, None, step)) if "draw" in one.dims else one
        for name, one in groups.items()
    }
    idata = xr.DataTree.from_dict(thin)
    idata.attrs = dict(fit.idata.attrs)
    return dataclasses.replace(fit, idata=idata)
