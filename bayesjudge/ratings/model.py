r"""Hierarchical response sets behind forced choices: `ResponseSets`, `build_model` and `fit`.

An item's shares of response sets are Dirichlet around a source's mean shares; each rating is of a
set, or of an option chosen from one. Each item's own shares are integrated out exactly
(`bayesjudge.ratings._marginal`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.diagnosis import cautions_of, contradicted
from bayesjudge.core.errors import InputError, checking, expect, problem
from bayesjudge.core.estimate import Caution, Diagnosis
from bayesjudge.core.model import BayesianModel, with_default
from bayesjudge.core.prior_check import Key, count_in_draws, prior_table
from bayesjudge.core.priors import BetaPrior
from bayesjudge.ratings.cautions import (
    DIRICHLET_ITEMS,
    NO_ERRORS,
    NO_JUDGE_ERRORS,
    OWN_SET,
    RANDOM_ITEMS,
    RANDOM_SET_ITEMS,
)
from bayesjudge.ratings.data import Ratings
from bayesjudge.ratings.metrics import SOURCE

if TYPE_CHECKING:
    import pandas as pd
    import pymc as pm

    from bayesjudge.core.fit import Fit
    from bayesjudge.ratings._marginal import Patterns

CHOICE_DIMS = ("source", "option", "response_set")


def _check_positive(value: Any, *names: str) -> None:
    with checking(f"ratings.{type(value).__name__}") as require:
        for name in names:
            given = getattr(value, name)
            numbers = np.asarray(given)
            ok = np.issubdtype(numbers.dtype, np.number) and numbers.size
            ok = ok and (numbers.ndim == 0 or name == "share")
            ok = ok and bool(np.all((numbers > 0) & np.isfinite(numbers)))
            require(ok, "must be positive and finite", **{name: given})


# How raters choose from a response set ------------------------------------------------------------


class _Choice:
    """How raters choose from a response set."""

    def _check(self, ratings: Ratings) -> None:
        """Suits any ratings, unless another way says otherwise."""

    def _declare(self, ratings: Ratings, weights: Any, text: bool) -> tuple[Any, Any]:
        """Mean shares of response sets, and F."""
        raise NotImplementedError


@dataclass(frozen=True)
class FreeChoice(_Choice):
    """Forced choices of which every source and response set has its own shares.

    Parameters
    ----------
    concentration : float, default 1
        Dirichlet weight of each option of a set; 1 is flat.

    Raises
    ------
    InputError
        If it is not positive.
    """

    concentration: float = 1.0

    def __post_init__(self) -> None:
        _check_positive(self, "concentration")

    def __str__(self) -> str:
        return f"free, Dirichlet({self.concentration:g})"

    def _declare(self, ratings: Ratings, weights: Any, text: bool) -> tuple[Any, Any]:
        """Mean shares and F: Dirichlet shares, and a Dirichlet column of F for each set."""
        import pymc as pm
        import pytensor.tensor as pt

        if not text:
            return self._by_joint_table(ratings, weights)
        concentration = pm.Data("prior_choice", float(self.concentration))
        share = _independent_shares(ratings, weights)
        n, members = len(ratings.sources), ratings.members
        choice = pt.zeros((n, *members.shape))
        for size, sets in self._sets_by_size(members):
            held = np.array([np.flatnonzero(members[:, v]) for v in sets])
            part: Any = 1.0
            if size > 1:
                weight = concentration * np.ones((n, len(sets), size))
                part = pm.Dirichlet(f"choice_of_{size}", weight, dims=_dims_of(ratings, sets, size))
            choice = choice[:, held, sets[:, None]].set(part)
        return share, pm.Deterministic("choice", choice, dims=CHOICE_DIMS)

    @staticmethod
    def _sets_by_size(members: np.ndarray) -> list[tuple[int, np.ndarray]]:
        sizes = members.sum(axis=0).astype(int)
        return [(size, np.flatnonzero(sizes == size)) for size in np.unique(sizes).tolist()]

    def _by_joint_table(self, ratings: Ratings, weights: Any) -> tuple[Any, Any]:
        r"""Mean shares and F, by the joint table of choice and set.

        Forced choices determine the mean share of choices :math:`O = F\pi` and leave the rest to
        the prior: a narrow curved ridge in :math:`(\pi, F)`, on which NUTS is slow. It is straight
        in the joint table :math:`J_{kv} = F_{kv}\pi_v`, declared as shares of choices :math:`O_k`
        and of the sets behind each choice. With Dirichlet weights :math:`s_v/|S_v|` on the entries
        of J, :math:`\pi` is Dirichlet with weights s, and F needs a factor
        :math:`F_{kv}^{w - s_v/|S_v|}` to have weights w.
        """
        import pymc as pm
        import pytensor.tensor as pt

        concentration = pm.Data("prior_choice", float(self.concentration))
        n, members = len(ratings.sources), ratings.members
        sizes, behind = members.sum(axis=0), members.sum(axis=1).astype(int)
        entries = weights / sizes
        chosen = pm.Dirichlet(
            "choice_share", (members @ entries) * np.ones((n, 1)), dims=("source", "option")
        )
        joint = pt.zeros((n, *members.shape))
        for many in np.unique(behind):
            options = np.flatnonzero(behind == many)
            sets = np.array([np.flatnonzero(members[k]) for k in options])
            part: Any = 1.0
            if many > 1:
                part = pm.Dirichlet(f"set_behind_{many}", entries[sets] * np.ones((n, 1, 1)))
            joint = joint[:, options[:, None], sets].set(part * chosen[:, options, None])
        share = pm.Deterministic("set_share", joint.sum(axis=1), dims=("source", "response_set"))
        choice = pm.Deterministic("choice", joint / share[:, None, :], dims=CHOICE_DIMS)
        at = np.argwhere((members > 0) & (sizes > 1))
        if len(at):
            power = concentration - entries[at[:, 1]]
            # an entry of exactly 0 has no logarithm; NUTS does not get there, rounding may
            log = pt.log(pt.clip(choice[:, at[:, 0], at[:, 1]], 1e-300, 1.0))
            pm.Potential("choice_prior_density", (power * log).sum())
        for size, sets in self._sets_by_size(members):
            if size == 1:
                continue
            # entry by entry: NUTS wants its results contiguous, and an indexed array is not
            picked = [choice[:, k, v] for v in sets for k in np.flatnonzero(members[:, v])]
            stacked = pt.stack(picked, axis=1).reshape((n, len(sets), size))
            pm.Deterministic(f"choice_of_{size}", stacked, dims=_dims_of(ratings, sets, size))
        return share, choice


@dataclass(frozen=True)
class TiedChoice(_Choice):
    r"""Forced choices that decay along the order of the options, at one strength for each source.

    Parameters
    ----------
    strength_sd : float, default 1
        Standard deviation of the Normal prior, around 0, of the selection strength (see
        `bayesjudge.ratings.response_sets.choice_matrix`).

    Raises
    ------
    InputError
        If it is not positive.
    """

    strength_sd: float = 1.0

    def __post_init__(self) -> None:
        _check_positive(self, "strength_sd")

    def __str__(self) -> str:
        return f"tied to one selection strength, Normal(0, {self.strength_sd:g})"

    def _declare(self, ratings: Ratings, weights: Any, text: bool) -> tuple[Any, Any]:
        import pymc as pm
        import pytensor.tensor as pt

        share = _independent_shares(ratings, weights)
        spread = pm.Data("prior_strength", float(self.strength_sd))
        strength = pm.Normal("strength", 0.0, spread, dims="source")
        rank = np.cumsum(ratings.members, axis=0) - 1
        odds = pt.exp(-strength[:, None, None] * rank) * ratings.members
        return share, pm.Deterministic(
            "choice", odds / odds.sum(axis=1, keepdims=True), dims=CHOICE_DIMS
        )


@dataclass(frozen=True, repr=False)
class KnownChoice(_Choice):
    """Forced choices whose matrix F is known.

    Parameters
    ----------
    matrix : array_like, shape (K, Q) or (n_sources, K, Q)
        F, the same for every source or one for each.

    Raises
    ------
    InputError
        If a column does not sum to 1 or an entry is negative.
    """

    matrix: Any

    def __post_init__(self) -> None:
        given = np.asarray(self.matrix, float)
        # a tuple of numbers compares, and is stored
        object.__setattr__(self, "matrix", _as_tuples(given.tolist()))
        problem = f"expected shape (K, Q) or (n, K, Q), got {given.shape}"
        expect("ratings.KnownChoice", given.ndim in (2, 3), problem)
        with checking("ratings.KnownChoice") as require:
            require(np.allclose(given.sum(axis=-2), 1), "each column must sum to 1")
            require((given >= 0).all(), f"expected no negative entry, got {given.min():g}")

    def __repr__(self) -> str:
        return f"KnownChoice(matrix of shape {np.shape(self.matrix)})"

    def __str__(self) -> str:
        return "known"

    def _check(self, ratings: Ratings) -> None:
        given, members = np.asarray(self.matrix), ratings.members
        shapes = (members.shape, (len(ratings.sources), *members.shape))
        problem = f"expected one of the shapes {shapes}, got {given.shape}"
        expect("ratings.KnownChoice", given.shape in shapes, problem)
        outside = given[..., members == 0].max(initial=0) > 0
        problem = "an option has a share of a response set that does not hold it"
        expect("ratings.KnownChoice", not outside, problem)

    def _declare(self, ratings: Ratings, weights: Any, text: bool) -> tuple[Any, Any]:
        import pymc as pm

        n = len(ratings.sources)
        given = np.broadcast_to(np.asarray(self.matrix, float), (n, *ratings.members.shape))
        known = pm.Data("known_choice", given.copy(), dims=CHOICE_DIMS)
        return _independent_shares(ratings, weights), pm.Deterministic(
            "choice", known, dims=CHOICE_DIMS
        )


def _dims_of(ratings: Ratings, sets: np.ndarray, size: int) -> tuple[str, str, str]:
    """Of the choices from all sets of one size: source, set, and the set's options in order."""
    import pymc as pm

    names = ["|".join(ratings.sets[v]) for v in sets]
    dims = f"set_of_{size}", f"option_of_{size}"
    pm.modelcontext(None).add_coords({dims[0]: names, dims[1]: np.arange(1, size + 1)})
    return "source", *dims


def _independent_shares(ratings: Ratings, weights: Any) -> Any:
    import pymc as pm

    n = len(ratings.sources)
    return pm.Dirichlet("set_share", weights * np.ones((n, 1)), dims=("source", "response_set"))


# The model ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RaterErrors:
    """Errors of people, who sometimes give another response set than the one that they hold.

    Parameters
    ----------
    rate : BetaPrior
        Of the error rate, for example ``BetaPrior.worth(0.05, 20)``.
    skew_sd : float, default 0.5
        Standard deviation of the Normal prior, around 0, of the errors' skew (see
        `bayesjudge.ratings.response_sets.error_matrix`).

    Raises
    ------
    InputError
        If `rate` is not a BetaPrior or `skew_sd` is not positive.
    """

    rate: BetaPrior
    skew_sd: float = 0.5

    def __post_init__(self) -> None:
        with checking("ratings.RaterErrors") as require:
            worth = self.rate if isinstance(self.rate, int | float) else 0.05
            require(
                isinstance(self.rate, BetaPrior),
                f"rate expected a BetaPrior, got {self.rate!r}; write for example "
                f"BetaPrior.worth({worth!r}, n), worth n answers",
            )
        _check_positive(self, "skew_sd")

    def __str__(self) -> str:
        return f"rate {self.rate}, skew Normal(0, {self.skew_sd:g})"


@dataclass(frozen=True)
class ResponseSets(BayesianModel):
    r"""Hierarchical response sets, the same priors for every source.

    Of source s, item i has shares :math:`\theta_i` of response sets. A rating shows the set, or an
    option that was chosen from it by the columns of F, or, if people err, by E a set other than
    the one held:

    .. math:: \theta_i \sim Dirichlet(\kappa_s \pi_s), \quad
              \text{sets} \sim Mult(m_i, E \theta_i), \quad
              \text{choices} \sim Mult(n_i, F_s E \theta_i).

    Mean shares and free columns of F have Dirichlet priors, the concentration of items a
    log-normal one:

    .. math:: \pi_s \sim Dirichlet(\text{share}), \quad F_{s \cdot v} \sim Dirichlet, \quad
              \log \kappa_s \sim N(\log \text{concentration}, \text{spread}).

    The endorsement of an option is the sum of the mean shares of the sets that hold it.

    Parameters
    ----------
    share : float or tuple of float, default 1
        Dirichlet weight of each response set in its mean share over items; 1 is flat. One for
        all, or one for each.
    concentration : float, default 4
        Median of the concentration of items around the mean shares: how many ratings of an item
        the mean is worth.
    concentration_spread : float, default 1
        Standard deviation of its logarithm.
    choice : FreeChoice, TiedChoice or KnownChoice
        How raters choose from their response set.
    error : RaterErrors, optional
        Errors of people; without it they make none. Judges make none.

    Raises
    ------
    InputError
        If a number is not positive, or an option is of another type.

    Notes
    -----
    Variables, by source: ``set_share`` (mean shares of response sets), ``choice`` (F; free choices
    from sets of two options are ``choice_of_2`` and so on), ``concentration``, ``endorsement`` (of
    each option), and, with `RaterErrors`, people's ``error_rate`` and ``skew``. Observed:
    ``ratings`` (rated_item, answer), and ``choice_given_set`` of raters who gave both. Not
    collapsed, each item's own shares are ``item_share``; see `item_shares` for draws of them, and
    `item_profiles`, `prevalences` and `performance` for what starts from a fit.

    Examples
    --------
    >>> print(ResponseSets(error=RaterErrors(BetaPrior(1, 19))))
    ... # doctest: +NORMALIZE_WHITESPACE
    shares of response sets Dirichlet(1); concentration of items log-normal, median 4, SD of the
    logarithm 1; choice from a set free, Dirichlet(1); errors of people rate Beta(1, 19), skew
    Normal(0, 0.5)
    """

    _method = methods.RESPONSE_SETS
    _source: ClassVar[str] = f"{SOURCE}, Section 3, with Dirichlet priors"
    sampling: ClassVar[Mapping[str, Any]] = {"target_accept": 0.8}
    _words: ClassVar[Mapping[str, str]] = {
        "share": "shares of response sets",
        "concentration": "concentration of items",
    }

    share: float | tuple[float, ...] = 1.0
    concentration: float = 4.0
    concentration_spread: float = 1.0
    choice: FreeChoice | TiedChoice | KnownChoice = FreeChoice()
    error: RaterErrors | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not np.isscalar(self.share):
            object.__setattr__(self, "share", tuple(self.share))
        _check_positive(self, "share", "concentration", "concentration_spread")
        with checking("ratings.ResponseSets") as require:
            require(
                isinstance(self.choice, _Choice),
                f"choice expected a FreeChoice, TiedChoice or KnownChoice, got {self.choice!r}; a "
                "known matrix is KnownChoice(matrix)",
            )
            require(
                self.error is None or isinstance(self.error, RaterErrors),
                f"error expected RaterErrors or None, got {self.error!r}; write for example "
                "RaterErrors(BetaPrior.worth(0.05, 20))",
            )

    def describe(self) -> dict[str, str]:
        """Put priors and options in words, for a report.

        Returns
        -------
        dict of str to str
            By field; the spread of the concentration stands with its median.
        """
        share = ", ".join(f"{x:g}" for x in np.atleast_1d(self.share))
        return {
            "share": f"Dirichlet({share})",
            "concentration": (
                f"log-normal, median {self.concentration:g}, SD of the logarithm "
                f"{self.concentration_spread:g}"
            ),
            "choice": str(self.choice),
            "error": str(self.error or "none"),
        }

    def _weights(self, ratings: Ratings) -> np.ndarray:
        """Dirichlet weight of each response set."""
        q = len(ratings.sets)
        ok = np.size(self.share) in (1, q)
        expect("ratings.ResponseSets", ok, f"must be one weight or {q}", share=self.share)
        return np.broadcast_to(np.asarray(self.share, float), q).copy()

    def _build(self, data: Ratings) -> pm.Model:
        return self._graph(data, _observe_items, text=True)

    def _sampling_form(self, data: Ratings) -> pm.Model:
        """Items with the same ratings are one pattern, and choices have other coordinates."""
        return self._graph(data, _observe_patterns, text=False)

    def _uncollapsed(self, data: Ratings) -> pm.Model:
        return self._graph(data, _observe_shares, text=True)

    _by_item: ClassVar[str | None] = "ratings"

    def _graph(self, data: Ratings, observe: Any, text: bool) -> pm.Model:
        import pymc as pm

        weights = self._weights(data)
        self.choice._check(data)
        patterns, _ = _patterns_of(data, self)
        sets = ["|".join(s) for s in data.sets]
        coords = {"source": data.sources, "option": data.options, "response_set": sets}
        places = zip(*divmod(patterns.rated, len(data.items)), strict=True)
        coords["rated_item"] = [f"{data.sources[s]}, {data.items[i]}" for s, i in places]
        coords["answer"] = [*(f"choice {o}" for o in data.options), *(f"set {v}" for v in sets)]
        coords["spread_prior"] = ["log_median", "log_sd"]
        with pm.Model(coords=coords) as model:
            prior = pm.Data("prior_share", weights, dims="response_set")
            share, choice = self.choice._declare(data, prior, text)
            spread = np.array([np.log(self.concentration), self.concentration_spread])
            spread = pm.Data("prior_concentration", spread, dims="spread_prior")
            concentration = pm.LogNormal("concentration", spread[0], spread[1], dims="source")
            error = _error_matrices(data, self.error)
            pm.Deterministic("endorsement", share @ data.members.T, dims=("source", "option"))
            _observe_pairs(data, choice)
            observe(patterns, concentration[:, None] * share, choice, error)
        return model

    def _about_items(self, fit: Fit, rng: np.random.Generator) -> dict[str, np.ndarray]:
        from bayesjudge.ratings._gibbs import draw_endorsements

        shape = fit.idata["posterior"]["endorsement"].shape
        return {"endorsement": draw_endorsements(fit, rng).reshape(shape)}

    def _states_priors(self) -> bool:
        plain: Any = type(self.choice)
        option = plain is not KnownChoice and self.choice == plain()  # a way to choose, no prior
        return self != ResponseSets(choice=self.choice if option else FreeChoice())

    def _quantities(self, data: Ratings) -> tuple[str, ...]:
        return ("endorsement",)

    def _diagnosis(self, data: Ratings) -> Diagnosis:
        _, kept = _patterns_of(data, self)
        cautions = (*cautions_of(data), *_subsampled(kept))
        errors = (NO_ERRORS,) if self.error is None else ()
        items = (RANDOM_ITEMS, RANDOM_SET_ITEMS, DIRICHLET_ITEMS)
        assumed = (*items, OWN_SET, *errors, NO_JUDGE_ERRORS)
        return contradicted(assumed, cautions), cautions

    def _cautions_of_fit(self, fit: Fit) -> tuple[Caution, ...]:
        from bayesjudge.core.diagnostics import gate

        failed = gate(fit.idata, ("set_share", "concentration")) if fit.converged else ()
        return tuple(Caution.of("slow-mixing", problem=caution.text) for caution in failed[:1])


@prior_table.register(ResponseSets)
def _beside_prior(
    model: ResponseSets, ratings: Ratings, rng: np.random.Generator, *, stated: bool = False
) -> pd.DataFrame:
    from bayesjudge.core.predictive import draw_together, observed_values

    patterns, _ = _patterns_of(ratings, model)
    source = patterns.source[patterns.pattern_group][patterns.pattern_of_rated]
    built = model._uncollapsed(ratings)
    seen = {name: value[None] for name, value in observed_values(built).items()}
    return count_in_draws(
        {key: float(v[0]) for key, v in _shares(ratings, source, seen).items()},
        lambda n: _shares(ratings, source, draw_together(built, seen, n, rng)),
    )


with_default(Ratings, lambda ratings: ResponseSets())


def _shares(
    ratings: Ratings, source: np.ndarray, values: Mapping[str, np.ndarray]
) -> dict[Key, np.ndarray]:
    """Shares of the options and sets that raters gave, and how often two of an item agree."""
    statistics: dict[Key, np.ndarray] = {}
    sets = ["|".join(s) for s in ratings.sets]
    for name, dim, members in (
        ("choices", "option", ratings.options),
        ("sets", "response_set", sets),
    ):
        for s, rater in enumerate(ratings.sources):
            given = values[name][:, source == s]
            total = given.sum(axis=(1, 2))
            if total[0] == 0:
                continue
            shares = given.sum(axis=1) / total[:, None]
            for i, member in enumerate(members[:-1] if len(members) == 2 else members):
                statistics[f"{name[:-1]}_share", ("source", dim), (rater, member)] = shares[:, i]
            n = given.sum(axis=-1)
            if (pairs := (n * (n - 1)).sum(axis=1))[0]:
                agreed = (given * (given - 1)).sum(axis=(1, 2))
                statistics[f"{name[:-1]}_agreement", "source", rater] = agreed / pairs
    if "choice_given_set" in values:
        given = values["choice_given_set"]
        at = np.argwhere((ratings.paired.sum(axis=1) > 0) & (ratings.members.sum(axis=0) > 1))
        for row, (s, v) in enumerate(at):
            for k in np.flatnonzero(ratings.members[:, v])[:-1]:
                where = ratings.sources[s], ratings.options[k], sets[v]
                share = given[:, row, k] / given[:, row].sum(axis=1)
                statistics["choice_given_set", ("source", "option", "response_set"), where] = share
    return statistics


def _spec_of(fit: Fit) -> ResponseSets:
    """Model that was fitted; refuses a fit of another module."""
    spec = fit.spec
    if not isinstance(spec, ResponseSets):
        raise InputError("ratings", [problem("other-fit", kind=type(spec).__name__)])
    return spec


def _ratings_of(fit: Fit) -> Ratings:
    """Data of a fit; refuses a fit of another module."""
    _spec_of(fit)
    return fit.data


def _patterns_of(ratings: Ratings, model: ResponseSets) -> tuple[Patterns, int | None]:
    """Distinct patterns of ratings, and how many ratings an item they use if not all."""
    from bayesjudge.ratings._marginal import patterns_of, subsampled, subsampled_choices

    error_free = np.ones(len(ratings.sources), bool)
    error_free[0] = model.error is None  # judges make no errors
    choices, few = ratings.unpaired, None
    if not isinstance(model.choice, KnownChoice) and not ratings.fully_specified:
        choices, few = subsampled_choices(choices, ratings.endorsed)
    choices, given, kept = subsampled(choices, ratings.endorsed, error_free=error_free)
    return patterns_of(choices, given, error_free=error_free), few if kept is None else kept


def _subsampled(kept: int | None) -> tuple[Caution, ...]:
    if kept is None:
        return ()
    return (Caution.of("subsampled", kept=kept),)


def _error_matrices(ratings: Ratings, error: RaterErrors | None) -> Any:
    """E of people from an error rate and a skew; judges make no errors. None if nobody does."""
    import pymc as pm
    import pytensor.tensor as pt

    if error is None:
        return None
    pm.modelcontext(None).add_coord("error_prior", ["alpha", "beta", "skew_sd"])
    prior = pm.Data("prior_error", np.array([*error.rate, error.skew_sd]), dims="error_prior")
    rate = pm.Beta("error_rate", prior[0], prior[1])
    skew = pm.Normal("skew", 0.0, prior[2])
    q = len(ratings.sets)
    sign = np.where(ratings.members[ratings.positive_index] > 0, 1.0, -1.0)
    off = pt.exp(skew * sign)[:, None] * (1 - np.eye(q))
    people = (1 - rate) * np.eye(q) + rate * off / off.sum(axis=0)
    judges = np.broadcast_to(np.eye(q), (len(ratings.judges), q, q))
    return pt.concatenate([people[None], judges], axis=0)


def _observe_pairs(ratings: Ratings, choice: Any) -> None:
    """Raters who gave a set and a choice identify F directly, whatever the item."""
    import pymc as pm

    n = ratings.paired.sum(axis=1)
    at = np.argwhere((n > 0) & (ratings.members.sum(axis=0) > 1))
    if len(at) == 0:
        return
    counts = ratings.paired[at[:, 0], :, at[:, 1]].astype(float)
    dim, dims = "set_given", ("set_given", "option")
    names = [f"{ratings.sources[s]}, {'|'.join(ratings.sets[v])}" for s, v in at]
    pm.modelcontext(None).add_coord(dim, names)
    source, given = (
        pm.Data(f"paired_{x}", at[:, i], dims=dim) for i, x in enumerate(("source", "set"))
    )
    total = pm.Data("paired_of", counts.sum(axis=1), dims=dim)
    seen = pm.Data("paired_seen", counts, dims=dims)
    # a choice outside the set cannot occur, and has probability 0: keep its logarithm finite
    chance = pm.math.clip(choice[source, :, given], 1e-12, 1.0)
    chance = chance / chance.sum(axis=1, keepdims=True)
    pm.Multinomial("choice_given_set", total.astype("int64"), chance, observed=seen, dims=dims)


#: Dimensions of `Patterns`, by field.
PATTERN_DIMS = {
    "group": ("counts_below",),
    "step_start": ("counts_below_end",),
    "steps": ("step", "step_part"),
    "source": ("known_sets",),
    "certain": ("known_sets", "response_set"),
    "row": ("pattern",),
    "weight": ("pattern",),
}


def _pattern_data(patterns: Patterns, name: str) -> Any:
    """One of the arrays of `Patterns` as data."""
    import pymc as pm

    model, values, dims = pm.modelcontext(None), getattr(patterns, name), PATTERN_DIMS[name]
    model.add_coords(
        {dim: np.arange(n) for dim, n in zip(dims, values.shape, strict=True)
         if dim not in model.coords}
    )  # fmt: skip
    return pm.Data(f"patterns_{name}", values, dims=dims)


def _log_probabilities(patterns: Patterns, alpha: Any, choice: Any, error: Any) -> tuple[Any, ...]:
    """Log probability of each pattern's ratings in one order, its source's weights and B."""
    import pytensor.tensor as pt

    from bayesjudge.ratings._marginal import LogProbabilities

    sets = patterns.certain.shape[1]
    if error is None:
        given = pt.eye(sets)[None] * pt.ones((alpha.shape[0], 1, 1))
        seen = pt.concatenate([choice, given], axis=1)
    else:
        seen = pt.concatenate([choice @ error, error], axis=1)
    source, certain = (_pattern_data(patterns, name) for name in ("source", "certain"))
    certain = certain.astype("float64")
    names = ("group", "step_start", "steps", "row")
    *below, row = (_pattern_data(patterns, name) for name in names)
    weights = alpha[source]
    log_p, *_ = LogProbabilities(sets)(weights + certain, seen.reshape((-1, sets)), *below)
    # response sets without error are Dirichlet-multinomial, in one order; groups are fewer
    # than patterns
    known = (pt.gammaln(weights + certain) - pt.gammaln(weights)).sum(axis=1)
    total = weights.sum(axis=1)
    known += pt.gammaln(total) - pt.gammaln(total + certain.sum(axis=1))
    group = below[0][row]
    return log_p[row] + known[group], weights[group], seen[source[group]]


def _observe_patterns(patterns: Patterns, alpha: Any, choice: Any, error: Any) -> None:
    """Each distinct pattern counts as often as it occurs."""
    import pymc as pm

    log_p, *_ = _log_probabilities(patterns, alpha, choice, error)
    weight = pm.Data("patterns_weight", patterns.weight.astype(float), dims="pattern")
    pm.Potential("ratings", (weight * log_p).sum())


def _observe_items(patterns: Patterns, alpha: Any, choice: Any, error: Any) -> None:
    """Ratings of each item, its own shares integrated out."""
    import pymc as pm
    import pytensor.tensor as pt

    parts = _log_probabilities(patterns, alpha, choice, error)
    at = pm.Data("pattern_of_item", patterns.pattern_of_rated, dims="rated_item")
    seen = patterns.counts[patterns.pattern_of_rated].astype(float)
    counts = pm.Data("ratings_seen", seen, dims=("rated_item", "answer"))
    k = choice.shape[1]
    asked = counts[:, :k].sum(axis=1), counts[:, k:].sum(axis=1)
    pm.CustomDist(
        "ratings",
        *(part[at] for part in parts),
        pt.stack(asked, axis=1),
        logp=lambda _, log_p, *__: log_p,
        random=_draw_ratings,
        signature="(),(q),(t,q),(two)->(t)",
        observed=counts,
        dims=("rated_item", "answer"),
    )


def _observe_shares(patterns: Patterns, alpha: Any, choice: Any, error: Any) -> None:
    """Ratings of each item given its own shares of response sets, which are variables."""
    import pymc as pm

    source = patterns.source[patterns.pattern_group][patterns.pattern_of_rated]
    dims = ("rated_item", "response_set")
    held = pm.Dirichlet("item_share", alpha[source], dims=dims)
    shown = held if error is None else (error[source] @ held[..., None])[..., 0]
    chosen = (choice[source] @ shown[..., None])[..., 0]
    chosen = chosen / chosen.sum(axis=1, keepdims=True)  # rounding goes past 1
    given = patterns.counts[patterns.pattern_of_rated]
    k = given.shape[1] - patterns.certain.shape[1]
    for name, counts, chance, dim in (
        ("choices", given[:, :k], chosen, "option"),
        ("sets", given[:, k:], shown, "response_set"),
    ):
        seen = pm.Data(f"{name}_seen", counts.astype(float), dims=("rated_item", dim))
        n = counts.sum(axis=1)
        pm.Multinomial(name, n, chance, observed=seen, dims=("rated_item", dim))


def _draw_ratings(
    log_p: Any, alpha: Any, seen: Any, n: Any, rng: Any = None, size: Any = None
) -> Any:
    """Predict each item's ratings, as many choices and sets as it has."""
    shares = rng.standard_gamma(np.broadcast_to(alpha, (*np.shape(n)[:-1], alpha.shape[-1])))
    shares /= shares.sum(axis=-1, keepdims=True)
    chance = (seen @ shares[..., None])[..., 0]
    k = seen.shape[-2] - seen.shape[-1]
    parts = []
    for i, part in enumerate((chance[..., :k], chance[..., k:])):
        part = part / part.sum(axis=-1, keepdims=True)
        parts.append(rng.multinomial(n[..., i].astype(int), part))
    return np.concatenate(parts, axis=-1).astype(float)


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value
