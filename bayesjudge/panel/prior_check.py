"""Could these votes have come from these priors? What the priors expect, beside what is there."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd

from bayesjudge.core.errors import checking
from bayesjudge.panel.data import NONE, Votes
from bayesjudge.panel.model import Model, build_model
from bayesjudge.panel.predictive import expanded, logits_from, replicate
from bayesjudge.panel.priors import Priors
from bayesjudge.panel.summaries import Summary
from bayesjudge.panel.voting import true_prevalence

#: Of this many prior draws each statistic has a distribution.
DRAWS = 200


def prior_check(
    votes: Votes,
    priors: Priors = Priors(),
    *,
    model: Model = "dawid_skene",
    missing: Literal["skip", "response"] = "skip",
    nodes: int = 21,
    random_seed: Any = None,
    into: dict[str, np.ndarray] | None = None,
) -> pd.DataFrame:
    """Compare the votes with votes drawn from the priors: a prior predictive check.

    Parameters
    ----------
    votes : Votes
        Sizes, and the votes that are missing, are taken over by what is drawn.
    priors : Priors, default ``Priors()``
        As for `fit`.
    model, missing, nodes
        As for `fit`.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.
    into : dict, optional
        Filled with the drawn values of each statistic, for a picture.

    Returns
    -------
    pandas.DataFrame
        One row a statistic: ``observed``, the prior's 95 % range ``low`` to ``high``, ``below``
        (share of draws below the observed) and ``surprising``, where it lies outside the range.
        ``pass_rate[generator]`` is the mean vote; ``agreement`` how often two judges agree, over
        all items; with more classes ``vote_share[class]``; in ``"vote_regression"``, which does
        not model votes, ``share_good[generator]`` of the labelled items.

    Raises
    ------
    InputError
        Where the model cannot be had from these votes.
    """
    from bayesjudge.core.prior_draws import prior_draws

    built = build_model(votes, priors, model=model, missing=missing, nodes=nodes)
    rng = np.random.default_rng(random_seed)
    tree = prior_draws(built, rng, DRAWS)
    prior = {str(name): values.to_numpy()[0] for name, values in tree["prior"].data_vars.items()}
    if model == "vote_regression":
        observed, drawn = _labels(votes, tree)
    elif model == "bias_pooling":
        observed, drawn = _rates(votes, prior)
    elif votes.n_classes > 2:
        observed, drawn = _classes(votes, prior)
    else:
        observed, drawn = _patterns(votes, prior, rng)
    with checking("panel.prior_check") as require:
        require(bool(observed), "there is nothing to compare; label some items")
    if into is not None:
        into.update(drawn)
    rows = {}
    for name, value in observed.items():
        low, high = np.nanquantile(drawn[name], [0.025, 0.975])
        below = float(np.mean(drawn[name] < value))
        rows[name] = (value, low, high, below, not low <= value <= high)
    columns = ["observed", "low", "high", "below", "surprising"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("statistic")


Statistics = tuple[dict[str, float], dict[str, np.ndarray]]


def _patterns(votes: Votes, prior: dict[str, np.ndarray], rng: np.random.Generator) -> Statistics:
    """Draw votes item by item."""
    given, truth, generator = expanded(votes, rng)
    nobody = np.full(len(truth), NONE)
    names = ["prevalence", "sensitivity", "specificity"]
    if "shared_effect" in prior:
        prior |= {"effect": prior["shared_effect"], "logits": logits_from(prior)}
        names += ["effect", "logits"]
    observed = _statistics(given, generator, votes)
    drawn = [
        _statistics(
            replicate({name: prior[name][s] for name in names}, given, nobody, generator, rng),
            generator,
            votes,
        )
        for s in range(DRAWS)
    ]
    return observed, {name: np.array([one[name] for one in drawn]) for name in observed}


def _statistics(given: np.ndarray, generator: np.ndarray, votes: Votes) -> dict[str, float]:
    there, passed = given != NONE, given == 1
    found = {}
    for i, name in enumerate(votes.generators):
        mine = generator == i
        if there[mine].any():
            found[f"pass_rate[{name}]"] = float(passed[mine].sum() / there[mine].sum())
    voted, passes = there.sum(axis=1), passed.sum(axis=1)
    pairs = voted * (voted - 1)
    fails = voted - passes
    if pairs.any():
        alike = passes * (passes - 1) + fails * (fails - 1)
        found["agreement"] = float(alike.sum() / pairs.sum())
    return found


def _classes(votes: Votes, prior: dict[str, np.ndarray]) -> Statistics:
    """Compute shares of each vote; items are many, so that their own luck is left out."""
    tally = votes.tally().sum(axis=(0, 1, 2))[: votes.n_classes]
    observed = tally / tally.sum()
    weight = votes.items / votes.items.sum()
    share = np.einsum("sgk,g->sk", prior["share"], weight)
    expected = np.einsum("sk,sjkr->sr", share, prior["confusion"])[:, : votes.n_classes]
    expected = expected / expected.sum(axis=1, keepdims=True)
    names = [f"vote_share[{c}]" for c in votes.classes]
    return (
        dict(zip(names, observed.tolist(), strict=True)),
        dict(zip(names, expected.T, strict=True)),
    )


def _rates(votes: Votes, prior: dict[str, np.ndarray]) -> Statistics:
    """Pass rates of the panel, and the bias where labels show it."""
    rate, truth = Summary.of(votes).rate, true_prevalence(votes)
    observed, drawn = {}, {}
    for i, name in enumerate(votes.generators):
        observed[f"pass_rate[{name}]"] = float(rate[i])
        drawn[f"pass_rate[{name}]"] = prior["pass_rate"][:, i]
        if not np.isnan(truth[i]):
            observed[f"pass_rate - share_good[{name}]"] = float(rate[i] - truth[i])
            drawn[f"pass_rate - share_good[{name}]"] = (
                prior["pass_rate"][:, i] - prior["prevalence"][:, i]
            )
    return observed, drawn


def _labels(votes: Votes, tree: Any) -> Statistics:
    """Shares of good ones among labelled items, given their votes."""
    from bayesjudge.panel.model_truth import labelled_cells

    rows, n, _ = labelled_cells(votes)
    drawn_good = tree["prior_predictive"]["labelled_good"].to_numpy()[0]
    truth = true_prevalence(votes)
    observed, drawn = {}, {}
    for i, name in enumerate(votes.generators):
        mine = votes.generator[rows] == i
        if mine.any():
            observed[f"share_good[{name}]"] = float(truth[i])
            drawn[f"share_good[{name}]"] = drawn_good[:, mine].sum(axis=1) / n[mine].sum()
    return observed, drawn
