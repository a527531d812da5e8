"""Four models of a panel, one door: each says what it assumes, and the data what they reject."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from bayesjudge.core.errors import checking
from bayesjudge.core.fit import Fit
from bayesjudge.panel.checks import cautions_of
from bayesjudge.panel.data import NONE, Votes
from bayesjudge.panel.described import EXCHANGEABLE, INDEPENDENT, SAME_ERRORS, SAMPLED
from bayesjudge.panel.priors import Priors
from bayesjudge.panel.summaries import Summary

if TYPE_CHECKING:
    import pymc as pm

Model = Literal["dawid_skene", "correlated", "bias_pooling", "vote_regression"]
METHODS = {
    "dawid_skene": "Dawid-Skene (NUTS)",
    "correlated": "Dawid-Skene with a shared item effect (NUTS)",
    "bias_pooling": "Bias pooling (NUTS)",
    "vote_regression": "Truth given votes (NUTS)",
}
SOURCES = {
    "dawid_skene": "Dawid & Skene (1979), hierarchical, truths summed out",
    "correlated": "Qu, Tan & Kutner (1996); Dendukuri & Joseph (2001)",
    "bias_pooling": "Jain et al. (2025), eqs. (1)-(3), as exchangeable biases of the panel mean",
    "vote_regression": "Model-assisted estimation, Särndal et al. (1992), with pooled weights",
}
ASSUMPTIONS = {
    "dawid_skene": (INDEPENDENT, SAME_ERRORS),
    "correlated": ("given the truth and one shared effect, the votes are independent", SAME_ERRORS),
    "bias_pooling": (EXCHANGEABLE,),
    "vote_regression": (SAMPLED,),
}
#: Cautions that speak against a model; what speaks against another is not repeated.
AGAINST = {
    "dawid_skene": {
        "no-labels",
        "error-rates-differ",
        "dependent-judges",
        "near-duplicates",
        "majority-contradicted",
    },
    "correlated": {"no-labels", "error-rates-differ", "majority-contradicted"},
    "bias_pooling": set(),
    "vote_regression": set(),
}
_RATES = ("prevalence", "sensitivity", "specificity")


def build_model(
    votes: Votes,
    priors: Priors = Priors(),
    *,
    model: Model = "dawid_skene",
    missing: Literal["skip", "response"] = "skip",
    nodes: int = 21,
) -> pm.Model:
    """Build a model without sampling it.

    Parameters
    ----------
    votes : Votes
        Two classes; for ``"dawid_skene"`` also more.
    priors : Priors, default ``Priors()``
        Each model uses its own.
    model : {"dawid_skene", "correlated", "bias_pooling", "vote_regression"}
        See `fit`.
    missing : {"skip", "response"}
        In the first two models: leave a missing vote out, which is right where it says nothing
        about the truth, or let it be one more response whose probability depends on the truth.
    nodes : int, default 21
        In ``"correlated"``: points of the Gauss-Hermite quadrature.

    Returns
    -------
    pymc.Model
        ``prevalence`` (generator), ``sensitivity`` and ``specificity`` (judge); with more than two
        classes ``share`` (generator, truth) and ``confusion`` (judge, truth, vote). Distinct
        patterns and their counts are `pymc.Data`.

    Raises
    ------
    InputError
        Where the model cannot be had from these votes.
    """
    import pymc as pm

    from bayesjudge.panel import model_classes, model_pooling, model_truth

    _require(votes, model, missing, nodes)
    coords: dict[str, Any] = {"generator": votes.generators, "judge": votes.judges}
    if model in ("dawid_skene", "correlated"):
        extra = ("missing",) if missing == "response" else ()
        coords |= {"truth": votes.classes, "vote": (*votes.classes, *extra)}
    with pm.Model(coords=coords) as built:
        if model == "bias_pooling":
            model_pooling.build(Summary.of(votes), priors)
        elif model == "vote_regression":
            model_truth.build(votes, priors)
        else:
            points = nodes if model == "correlated" else None
            model_classes.build(votes, priors, missing=missing, nodes=points)
    return built


def fit(
    votes: Votes,
    priors: Priors = Priors(),
    *,
    model: Model = "dawid_skene",
    missing: Literal["skip", "response"] = "skip",
    nodes: int = 21,
    random_seed: Any = None,
    **sampling: Any,
) -> Fit:
    """Sample the posterior of a model of the panel.

    Parameters
    ----------
    votes : Votes
        Two classes; for ``"dawid_skene"`` also more.
    priors : Priors, default ``Priors()``
        Each model uses its own.
    model : {"dawid_skene", "correlated", "bias_pooling", "vote_regression"}
        ``"dawid_skene"``: every judge has its error rates, and errs independently of the others.
        ``"correlated"``: judges share an effect on each item, so that they err together.
        ``"bias_pooling"``: the panel's bias on a generator is like that on labelled generators;
        for a new generator without labels. ``"vote_regression"``: truth given votes; where some
        items of every generator are labelled at random. `recommend` names one.
    missing : {"skip", "response"}
        In the first two models: leave a missing vote out, or let it be one more response.
    nodes : int, default 21
        In ``"correlated"``: points of the quadrature. They are doubled once after the fit, and a
        caution says where that changes the likelihood.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same draws.
    **sampling
        Settings of `bayesjudge.core.sampling.sample`.

    Returns
    -------
    Fit
        Call ``estimate()`` on it, or hand it to `bayesjudge.side_by_side`.

    Raises
    ------
    InputError
        Where the model cannot be had from these votes.
    """
    from dataclasses import replace

    from bayesjudge.core.sampling import sample

    _require(votes, model, missing, nodes)
    rates = ("share", "confusion") if votes.n_classes > 2 else _RATES
    classes = model in ("dawid_skene", "correlated")
    quantities = rates if classes else ("prevalence",)
    sampled = sample(
        build_model(votes, priors, model=model, missing=missing, nodes=nodes),
        data=votes,
        priors=priors,
        quantities=quantities,
        room="panel",
        method=METHODS[model],
        source=SOURCES[model],
        options={"model": model, "missing": missing, "nodes": nodes},
        assumptions=(*ASSUMPTIONS[model], f"priors: {priors}"),
        cautions=tuple(c for c in cautions_of(votes) if c.name in AGAINST[model]),
        random_seed=random_seed,
        **({"target_accept": 0.95} if model == "bias_pooling" else {}) | sampling,
    )
    if model == "correlated":
        from bayesjudge.panel.predictive import quadrature_cautions

        return replace(sampled, cautions=(*sampled.cautions, *quadrature_cautions(sampled)))
    return sampled


def _require(votes: Votes, model: str, missing: str, nodes: int) -> None:
    with checking("panel.fit") as require:
        require(model in METHODS, f"model={model!r}, expected one of {list(METHODS)}")
        require(missing in ("skip", "response"), f"missing={missing!r}: skip or response")
        require(5 <= nodes <= 200, f"nodes={nodes}, expected 5 to 200")
        require(
            votes.n_classes == 2 or model == "dawid_skene",
            f"model={model!r} needs pass and fail, got {votes.n_classes} classes; "
            "use model='dawid_skene'",
        )
        require(
            (votes.truth != NONE).any() or model in ("dawid_skene", "correlated"),
            f"model={model!r} learns from labelled items, and there are none; label some",
        )
