"""Sensitivity to what forced choices hide, and to the priors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.estimate import TARGETS, Caution, Estimate, Quantity, Target
from bayesjudge.ratings._gibbs import spaced_draws
from bayesjudge.ratings.data import PEOPLE, Ratings
from bayesjudge.ratings.items import _prevalence_draws, item_profiles
from bayesjudge.ratings.metrics import Definition, Profile, definitions, prevalence_at
from bayesjudge.ratings.model import ResponseSets, _spec_of
from bayesjudge.ratings.performance import Performance
from bayesjudge.ratings.response_sets import shift_matrix

if TYPE_CHECKING:
    import pandas as pd

    from bayesjudge.core.fit import Fit

SHIFT_STRENGTHS = (0.0, 0.1, 0.2, 0.3, 0.4)
#: Draws of the items, at most.
MOST = 400
#: Effective draws below which an answer is not given.
LEAST = 100
AS_FITTED = "as fitted"


# What forced choices hide -------------------------------------------------------------------------


def shift_sensitivity(
    ratings: Ratings,
    *,
    chosen: str | None = None,
    added: str | None = None,
    shift_strengths: Sequence[float] = SHIFT_STRENGTHS,
    matrices: Mapping[Any, np.ndarray] | None = None,
    of: Sequence[Definition] | None = None,
    ties: str = "share",
) -> pd.DataFrame:
    """Evaluate every judge while people's choices hide more and more.

    Parameters
    ----------
    ratings : Ratings
        Of people and judges. Judges' endorsements are taken as counted.
    chosen, added : str, optional
        People who chose the first may also accept the second. By default the positive option is
        added; with two options the other one is chosen.
    shift_strengths : sequence of float
        The probabilities to try.
    matrices : mapping of float or str to array of shape (Q, K), optional
        Any reverse matrices F' instead, by a name to show.
    of : sequence of Definition, optional
        Definitions to evaluate; `definitions` by default.
    ties : {"share", "first"}
        See `bayesjudge.ratings.metrics.aggregate`.

    Returns
    -------
    pandas.DataFrame
        One row per shift strength, definition and judge: ``shift_strength``, ``quantity`` (the
        metric), ``definition``, ``cutoff``, ``judge``, ``value``, ``rank`` (1 is best) and
        ``chosen_best``: the decision consistency, at the definition's cutoff, of the judge that the
        definition would select. Rows with the quantity ``prevalence`` are about people.

    Raises
    ------
    InputError
        If an option is unknown or there is no judge.

    References
    ----------
    Source 5, Figures 7 and 8.
    """
    import pandas as pd

    with checking("shift_sensitivity") as require:
        require(ratings.judges, "there is no judge among the sources")
        named = matrices is not None or (chosen and added) or len(ratings.options) == 2
        require(named, f"name chosen= and added= among {list(ratings.options)}")
    if matrices is None:
        added = added or ratings.positive
        chosen = chosen or next(o for o in ratings.options if o != added)
        matrices = {
            strength: shift_matrix(
                ratings.options,
                ratings.sets,
                chosen=chosen,
                added=added,
                shift_strength=strength,
            )
            for strength in shift_strengths
        }
    every = tuple(of or definitions())
    profiles = {name: ratings.profile(name) for name in ratings.sources}
    profiles = {name: p.items(ratings.rated.all(axis=0)) for name, p in profiles.items()}
    judges = [profiles[j] for j in ratings.judges]
    positive = ratings.positive_index
    rows: list[tuple[Any, ...]] = []
    for strength, matrix in matrices.items():
        people = _profile_under(profiles[PEOPLE].chosen, matrix, ratings.members)
        for d in every:
            at = Definition("decision_consistency", cutoff=d.cutoff)
            values = [d.value(judge, people, positive=positive, ties=ties) for judge in judges]
            decides = [at.value(judge, people, positive=positive) for judge in judges]
            ranks = pd.Series(d.loss(values)).rank(method="average").to_numpy()
            best = float(decides[int(np.argmin(ranks))])
            rows += [
                (strength, d.metric, str(d), d.cutoff, j, float(v), float(r), best)
                for j, v, r in zip(ratings.judges, values, ranks, strict=True)
            ]
        for cutoff in dict.fromkeys(d.cutoff for d in every):
            share = float(prevalence_at(people, positive=positive, cutoff=cutoff))
            rows.append((strength, "prevalence", "", cutoff, "", share, np.nan, np.nan))
    columns = ["shift_strength", "quantity", "definition", "cutoff", "judge"]
    return pd.DataFrame(rows, columns=[*columns, "value", "rank", "chosen_best"])


def _profile_under(
    chosen: np.ndarray, set_given_choice: np.ndarray, members: np.ndarray
) -> Profile:
    """Shares of choices, with the endorsements that they imply under a reverse matrix F'."""
    shares = (set_given_choice @ chosen[..., None])[..., 0]
    return Profile(chosen, shares @ members.T)


# Priors -------------------------------------------------------------------------------------------


class _Draws(NamedTuple):
    """Draws of endorsements (n, n_sources, K) and prevalences (n, n_sources), and their weights."""

    endorsement: np.ndarray
    prevalence: np.ndarray
    weight: np.ndarray  #: shape (n, n_sources), summing to 1


def prior_sensitivity(
    fit: Fit,
    alternatives: Mapping[str, ResponseSets] | None = None,
    *,
    performance: Performance | None = None,
    cutoff: float = 0.5,
    ci_prob: float = 0.95,
    target: Target = "population",
) -> Estimate:
    r"""Show how endorsements, prevalences and P(judge is best) depend on the priors.

    An alternative that differs in the Dirichlet weights of the mean shares :math:`\pi` only is
    computed from the draws at hand: a draw has weight :math:`\prod_v \pi_v^{s'_v - s_v}`, s being
    the weights of the fit and s' the others, source by source. Any other needs a fit of its own.

    Parameters
    ----------
    fit : Fit
        From `bayesjudge.ratings.fit`.
    alternatives : mapping of str to ResponseSets, optional
        Other models, by a name to show. By default the weights of single options are tripled
        (``"few accept several"``), or those of the other sets (``"many accept several"``).
    performance : Performance, optional
        From `bayesjudge.ratings.performance` of this fit: which judge is best, under other priors
        of people's shares. It is about these items, and so needs ``target="items"``.
    cutoff : float, default 0.5
        Share of raters from which an item counts as positive.
    ci_prob : float, default 0.95
        Probability that an interval should hold.
    target : {"population", "items"}
        Items that endorsements and prevalences are about: the process that they come from, or these
        very items.

    Returns
    -------
    Estimate
        ``endorsement`` by prior, source and option, ``prevalence`` by prior, cutoff and source,
        and ``best`` by prior, definition and judge; the prior ``"as fitted"`` comes first. What
        the ratings identify hardly moves. ``nan`` if fewer than 100 effective draws are left.

    Raises
    ------
    InputError
        If an alternative differs in more than its weights, `performance` is not of a fit or
        `target` does not suit it, or a setting is out of range.
    """
    check_ci_prob(ci_prob)
    models = {
        AS_FITTED: _spec_of(fit),
        **(_default_alternatives(fit) if alternatives is None else {}),
    }
    models |= alternatives or {}
    _check_alternatives(fit, models, performance, target)
    few: list[str] = []
    endorsement, prevalence = {}, {}
    best: dict[tuple[str, str, str], float] = {}
    fitted = _draws_of(fit, cutoff, target)
    taken = spaced_draws(fit, len(fitted.prevalence))
    for name, model in models.items():
        log = _log_weights(fit, model)
        drawn = fitted._replace(weight=_normalised(log[taken]))
        if _is_few(drawn.weight):
            few.append(name)
        for s, source in enumerate(fit.data.sources):
            weight = drawn.weight[:, s]
            prevalence[name, cutoff, source] = _summary(drawn.prevalence[:, s], weight, ci_prob)
            for k, option in enumerate(fit.data.options):
                values = drawn.endorsement[:, s, k]
                endorsement[name, source, option] = _summary(values, weight, ci_prob)
        if performance is not None:
            used = spaced_draws(fit, len(performance.draws))
            best |= _best_under(performance, name, log[used, 0])
    quantities = {
        "endorsement": Quantity.of_rows(endorsement, ("prior", "source", "option")),
        "prevalence": Quantity.of_rows(prevalence, ("prior", "cutoff", "source")),
    }
    if performance is not None:
        quantities["best"] = Quantity.of_rows(best, ("prior", "definition", "judge"))
    return Estimate(
        quantities,
        method=fit.method.variant("other-priors", "other priors", also_brief=True),
        ci_prob=ci_prob,
        source=fit.source,
        interval={"endorsement": "equal-tailed", "prevalence": "equal-tailed"},
        assumptions=fit.assumptions,
        cautions=(*fit.cautions, *_few_draws(few)),
        target=target,
    )


def _default_alternatives(fit: Fit) -> dict[str, ResponseSets]:
    ratings, spec = fit.data, _spec_of(fit)
    if ratings.fully_specified:
        return {}
    single, weights = ratings.members.sum(axis=0) == 1, spec._weights(ratings)
    tripled = {
        "few accept several": np.where(single, 3 * weights, weights),
        "many accept several": np.where(single, weights, 3 * weights),
    }
    return {name: replace(spec, share=tuple(w.tolist())) for name, w in tripled.items()}


def _check_alternatives(
    fit: Fit,
    models: Mapping[str, ResponseSets],
    performance: Performance | None,
    target: Target,
) -> None:
    with checking("prior_sensitivity") as require:
        require(target in TARGETS, f"must be one of {list(TARGETS)}", target=target)
        for name, model in models.items():
            if not isinstance(model, ResponseSets):
                require(False, f"{name!r}: expected a ResponseSets, got {model!r}")
                continue
            model._weights(fit.data)
            ok = replace(model, share=_spec_of(fit).share) == _spec_of(fit)
            require(ok, "other-change", name=name)
        if performance is not None:
            sampled = performance.target == "items"
            require(sampled, "performance must come from performance(fit), not from agreement")
            suits = target == "items" or not sampled
            require(suits, "performance is about these items; set target='items'")


def _draws_of(fit: Fit, cutoff: float, target: Target) -> _Draws:
    """Draws under the fit's own prior, all with the same weight."""
    sources = fit.data.sources
    endorsement = fit.draws("endorsement")
    if target == "items":
        n = min(MOST, len(endorsement))
        profiles = item_profiles(fit, draws=n)
        endorsement = np.stack([profiles[s].endorsed.mean(axis=1) for s in sources], axis=1)
        drawn = [_prevalence_draws(fit, s, cutoff, profiles) for s in sources]
    else:
        drawn = [_prevalence_draws(fit, s, cutoff, None) for s in sources]
    prevalence = np.stack(drawn, axis=1)
    return _Draws(endorsement, prevalence, np.full(prevalence.shape, 1 / len(prevalence)))


def _log_weights(fit: Fit, model: ResponseSets) -> np.ndarray:
    """Logarithms of what the draws weigh under another prior of the mean shares, by source."""
    log_share = np.log(np.maximum(fit.draws("set_share"), 1e-300))
    return log_share @ (model._weights(fit.data) - _spec_of(fit)._weights(fit.data))


def _normalised(log: np.ndarray) -> np.ndarray:
    weight = np.exp(log - log.max(axis=0))
    return weight / weight.sum(axis=0)


def _is_few(weight: np.ndarray) -> bool:
    """Whether fewer than `LEAST` effective draws are left of any source."""
    return bool((1 / (weight**2).sum(axis=0)).min() < LEAST)


def _few_draws(names: list[str]) -> tuple[Caution, ...]:
    if not names:
        return ()
    return (Caution.of("few-effective-draws", settings=names, least=LEAST),)


def _best_under(
    performance: Performance, name: str, log: np.ndarray
) -> dict[tuple[str, str, str], float]:
    """P(judge is best), weighted; a probability has no interval."""
    best = np.full(performance.values.shape, np.nan)
    if not _is_few(weight := _normalised(log)):
        best = performance._best(weight)
    return {
        (name, str(d), judge): best[i, j]
        for i, d in enumerate(performance.definitions)
        for j, judge in enumerate(performance.judges)
    }


def _summary(values: np.ndarray, weight: np.ndarray, ci_prob: float) -> tuple[float, float, float]:
    """Mean and equal-tailed interval of weighted draws; nan if too few of them count."""
    if _is_few(weight):
        return (np.nan,) * 3
    tail = (1 - ci_prob) / 2
    order = np.argsort(values)
    at = np.searchsorted(np.cumsum(weight[order]), [tail, 1 - tail])
    low, high = values[order][np.minimum(at, len(values) - 1)]
    return float(weight @ values), float(low), float(high)
