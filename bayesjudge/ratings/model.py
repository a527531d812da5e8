"""Hierarchical response sets behind forced choices, sampled with NUTS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.fit import Fit
from bayesjudge.core.estimate import Caution
from bayesjudge.ratings.agreement import SOURCE
from bayesjudge.ratings.beliefs import Priors, check_choice
from bayesjudge.ratings.cautions import cautions_of
from bayesjudge.ratings.data import Ratings
from bayesjudge.ratings.lattice import Lattice, lattice_of
from bayesjudge.ratings.thinning import choices_alone, thinned

if TYPE_CHECKING:
    import pymc as pm

METHOD = "Bayesian (NUTS), response sets"
ASSUMPTIONS = (
    "items are exchangeable, and those with response sets a random sample of them",
    "raters choose from their own response set, in the same way for every item",
    "a source's shares of response sets vary over items as a Dirichlet, independently by source",
)


def build_model(ratings: Ratings, priors: Priors = Priors()) -> pm.Model:
    """Build the model without sampling it.

    Parameters
    ----------
    ratings : Ratings
        Of people and judges.
    priors : Priors, default ``Priors()``
        The same for every source.

    Returns
    -------
    pymc.Model
        By source: ``set_share`` (mean shares of response sets), ``choice`` (F), ``pool_size``,
        ``endorsement`` (of each option), and people's ``error_rate`` and ``skew`` where errors are
        allowed for. Each item's own shares are summed out exactly (`bayesjudge.ratings.lattice`);
        see `item_shares`.

    Raises
    ------
    InputError
        Where priors give an F that does not fit the options and response sets.
    """
    import pymc as pm

    from bayesjudge.ratings.model_choice import shares_and_choice

    check_choice(ratings, priors)
    lattice, _ = prepared(ratings, priors)
    coords = {
        "source": ratings.sources,
        "option": ratings.options,
        "response_set": ["|".join(s) for s in ratings.sets or ()],
    }
    with pm.Model(coords=coords) as model:
        pool = pm.Data("prior_pool", np.array([np.log(priors.pool_size), priors.pool_spread]))
        share, choice = shares_and_choice(ratings, priors)
        size = pm.LogNormal("pool_size", pool[0], pool[1], dims="source")
        error = _error(ratings, priors)
        pm.Deterministic("endorsement", share @ ratings.members.T, dims=("source", "option"))
        _paired(ratings, choice)
        _likelihood(lattice, size[:, None] * share, choice, error)
    return model


def fit(
    ratings: Ratings, priors: Priors = Priors(), *, random_seed: Any = None, **sampling: Any
) -> Fit:
    """Sample the posterior of the endorsements, and of what lies behind them.

    Parameters
    ----------
    ratings : Ratings
        Of people and judges.
    priors : Priors, default ``Priors()``
        The same for every source.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same draws.
    **sampling
        Settings of `bayesjudge.core.sampling.sample`.

    Returns
    -------
    Fit
        Of ``endorsement``, the share of raters who would accept an option, over the population
        that the items come from. `item_shares` and `performance` take it from there.

    Raises
    ------
    InputError
        Where priors give an F that does not fit the options and response sets.
    """
    from bayesjudge.core.diagnostics import gate
    from bayesjudge.core.sampling import sample

    _, kept = prepared(ratings, priors)
    made = sample(
        build_model(ratings, priors),
        data=ratings,
        priors=priors,
        quantities=("endorsement",),
        room="ratings",
        method=METHOD,
        source=f"{SOURCE}, Section 3, with Dirichlet priors",
        assumptions=(*ASSUMPTIONS, f"priors: {priors}"),
        cautions=(*cautions_of(ratings), *_thinned(kept)),
        random_seed=random_seed,
        **sampling,
    )
    if made.converged and (failed := gate(made.idata, ("set_share", "pool_size"))):
        text = f"behind the endorsements, {failed[0].text}"
        return Fit(**{**vars(made), "cautions": (Caution("slow-mixing", text), *made.cautions)})
    return made


def prepared(ratings: Ratings, priors: Priors) -> tuple[Lattice, int | None]:
    """Lay out the likelihood.

    Parameters
    ----------
    ratings : Ratings
        Of people and judges.
    priors : Priors
        Whether they allow for errors decides how response sets enter, and whether F is known how
        many choices without them do.

    Returns
    -------
    lattice : Lattice
        Of all sources.
    kept : int or None
        Ratings an item that it uses, where some have more than can be summed over.
    """
    fold = np.ones(len(ratings.sources or ()), bool)
    fold[0] = priors.error is None  # judges make no errors
    choices, few = ratings.alone, None
    if priors.choice is None and not ratings.fully_specified:
        choices, few = choices_alone(choices, ratings.endorsed)
    choices, given, kept = thinned(choices, ratings.endorsed, fold=fold)
    return lattice_of(choices, given, fold=fold), few if kept is None else kept


def _thinned(kept: int | None) -> tuple[Caution, ...]:
    if kept is None:
        return ()
    return (
        Caution(
            "thinned",
            f"means over items were learnt from at most {kept} ratings of an item, drawn at "
            "random: more would cost too much or, without response sets, add only what follows "
            "from the shape that the model assumes of how items differ; the items' own posteriors "
            "(item_shares, performance) use all",
        ),
    )


def _error(ratings: Ratings, priors: Priors) -> Any:
    """E of people from an error rate and a skew; judges make no errors. None for nobody does."""
    import pymc as pm
    import pytensor.tensor as pt

    if priors.error is None:
        return None
    shape = pm.Data("prior_error", np.array([*priors.error, priors.skew]))
    rate = pm.Beta("error_rate", shape[0], shape[1])
    skew = pm.Normal("skew", 0.0, shape[2])
    q = len(ratings.sets or ())
    held = np.where(ratings.members[ratings.positive_index] > 0, 1.0, -1.0)
    off = pt.exp(skew * held)[:, None] * (1 - np.eye(q))
    people = (1 - rate) * np.eye(q) + rate * off / off.sum(axis=0)
    judges = np.broadcast_to(np.eye(q), (len(ratings.judges), q, q))
    return pt.concatenate([people[None], judges], axis=0)


def _paired(ratings: Ratings, choice: Any) -> None:
    """Raters who gave a set and a choice tell F directly, whatever the item."""
    import pymc as pm

    if not ratings.paired.any():
        return
    n = ratings.paired.sum(axis=1)
    at = np.argwhere((n > 0) & (ratings.members.sum(axis=0) > 1))
    if len(at) == 0:
        return
    counts = ratings.paired[at[:, 0], :, at[:, 1]].astype(float)
    source, given = (pm.Data(f"paired_{x}", at[:, i]) for i, x in enumerate(("source", "set")))
    total = pm.Data("paired_of", counts.sum(axis=1))
    seen = pm.Data("paired_seen", counts)
    # a choice outside the set cannot occur, and has probability 0: keep its logarithm finite
    chance = pm.math.clip(choice[source, :, given], 1e-12, 1.0)
    chance = chance / chance.sum(axis=1, keepdims=True)
    pm.Multinomial("choice_given_set", total.astype("int64"), chance, observed=seen)


def _likelihood(lattice: Lattice, alpha: Any, choice: Any, error: Any) -> None:
    """Probability of each distinct pattern of ratings, the items' own shares summed out."""
    import pymc as pm
    import pytensor.tensor as pt

    from bayesjudge.ratings.model_lattice import LogProbabilities

    def data(name: str) -> Any:
        return pm.Data(f"lattice_{name}", getattr(lattice, name))

    sets = alpha.shape[1]
    if error is None:
        given = pt.eye(sets)[None] * pt.ones((alpha.shape[0], 1, 1))
        seen = pt.concatenate([choice, given], axis=1)
    else:
        seen = pt.concatenate([choice @ error, error], axis=1)
    source, pattern = data("source"), data("pattern")
    folded = pm.Data("lattice_folded", lattice.folded.astype(float))
    points = (data("group"), data("step_start"), data("steps"))
    flat = seen.reshape((-1, sets))
    log_p = LogProbabilities()(alpha[source] + folded, flat, *points, pattern)
    group = points[0][pattern]
    counts = pm.Data("lattice_counts", lattice.counts.astype(float))
    first, held = alpha[source[group]], folded[group]
    # response sets without error are Dirichlet-multinomial, in one order
    log_p += (pt.gammaln(first + held) - pt.gammaln(first)).sum(axis=1)
    total = first.sum(axis=1)
    log_p += pt.gammaln(total) - pt.gammaln(total + held.sum(axis=1))
    weight = pm.Data("lattice_weight", lattice.weight.astype(float))
    _observe(counts, log_p, weight, first, seen[source[group]], choice.shape[1])


def _observe(counts: Any, log_p: Any, weight: Any, alpha: Any, seen: Any, choices: Any) -> None:
    """Observe each distinct pattern as often as it occurs; predictions are of one item each."""
    import pymc as pm

    def logp(value: Any, log_p: Any, weight: Any, *_: Any) -> Any:
        return weight * log_p

    def random(
        log_p: Any, weight: Any, alpha: Any, seen: Any, n: Any, rng: Any = None, size: Any = None
    ) -> Any:
        shares = rng.standard_gamma(np.broadcast_to(alpha, (*np.shape(n)[:-1], alpha.shape[-1])))
        shares /= shares.sum(axis=-1, keepdims=True)
        chance = (seen @ shares[..., None])[..., 0]
        k = seen.shape[-2] - seen.shape[-1]
        parts = []
        for i, part in enumerate((chance[..., :k], chance[..., k:])):
            part = part / part.sum(axis=-1, keepdims=True)
            parts.append(rng.multinomial(n[..., i].astype(int), part))
        return np.concatenate(parts, axis=-1).astype(float)

    import pytensor.tensor as pt

    asked = pt.stack([counts[:, :choices].sum(axis=1), counts[:, choices:].sum(axis=1)], axis=1)
    pm.CustomDist(
        "ratings",
        *(log_p, weight, alpha, seen, asked),
        logp=logp,
        random=random,
        signature="(),(),(q),(t,q),(two)->(t)",
        observed=counts,
    )
