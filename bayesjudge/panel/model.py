"""`build_model` and `fit` of the panel models."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.core.fit import Fit
from bayesjudge.core.model import model_of
from bayesjudge.panel.checks import against_labels, check_assumptions
from bayesjudge.panel.data import Votes
from bayesjudge.panel.models._base import PanelModel
from bayesjudge.panel.recommend import recommend

if TYPE_CHECKING:
    import pymc as pm


def build_model(
    votes: Votes, model: PanelModel | None = None, *, collapsed: bool = True
) -> pm.Model:
    """Build a model without sampling it.

    Parameters
    ----------
    votes : Votes
        Of two classes; for `MulticlassDawidSkene` of more.
    model : PooledDawidSkene, DawidSkene, MulticlassDawidSkene, Correlated, BiasPooling or \
VoteRegression, optional
        The model with its priors; by default the one that `recommend` names.
    collapsed : bool, default True
        Whether the truths of unlabelled items are summed out. If not, each item has an
        ``item_truth`` (of `Correlated` also an ``item_effect``) and each vote is a variable of its
        own: for small data, and for lines that a user adds by item.

    Returns
    -------
    pymc.Model
        ``prevalence`` (generator), ``sensitivity`` and ``specificity`` (judge); with more than two
        classes ``share`` (generator, truth) and ``confusion`` (judge, truth, vote). Observed:
        ``items`` (pattern), multinomial within items of one generator with votes of the same
        judges, labelled or not; the last patterns stand for votes that no item has. NUTS may run
        the same density in other coordinates.

    Raises
    ------
    InputError
        If the model is of another module, or does not suit these votes, or no latent variable is
        summed out.
    """
    chosen = chosen_model(votes, model)
    return chosen._pymc_model(votes, collapsed)


def fit(
    votes: Votes,
    model: PanelModel | None = None,
    *,
    draws: int | None = None,
    tune: int | None = None,
    chains: int | None = None,
    cores: int | None = None,
    target_accept: float | None = None,
    random_seed: int | np.random.Generator | None = None,
    strict: bool = False,
    progress: bool | None = None,
) -> Fit:
    """Sample the posterior of a model of the panel.

    Parameters
    ----------
    votes : Votes
        Of two classes; for `MulticlassDawidSkene` of more.
    model : PooledDawidSkene, DawidSkene, MulticlassDawidSkene, Correlated, BiasPooling or \
VoteRegression, optional
        By default the one that `recommend` names. `VoteRegression`: truth given votes, if some
        items are labelled at random, best of every generator. `BiasPooling`: the panel's bias on a
        generator is like that on labelled generators; for a new generator without labels, or
        without any. `PooledDawidSkene`: every judge has its error rates, drawn from a common
        population, and errs independently of the others; `DawidSkene`: each judge has priors of its
        own. `Correlated`: judges share an effect on each item, so that they err together.
    draws, tune, chains : int, optional
        Draws kept and discarded in each chain: 1000, 1000 and 4 by default.
    cores : int, optional
        Chains that run at once; all cores by default.
    target_accept : float, optional
        0.95 by default for `PooledDawidSkene`, `Correlated` and `BiasPooling`, 0.9 for the others;
        higher is slower and follows a difficult posterior better.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same draws.
    strict : bool, default False
        Raise if the sampler did not converge, rather than warn.
    progress : bool, optional
        Show progress; by default on a terminal.

    Returns
    -------
    Fit
        Of ``prevalence``, and of what `build_model` names beside it, about the process behind these
        items; about these items with ``estimate(target="items")``. Draws in ``idata`` of
        ``VoteRegression`` are of these items.

    Raises
    ------
    InputError
        If the model does not suit these votes, or a setting is out of range.
    """
    from bayesjudge.core.sampling import sample

    chosen = chosen_model(votes, model)
    assumptions, cautions = check_assumptions(votes, *chosen._assumptions)
    settings: dict[str, Any] = {"draws": draws, "tune": tune, "chains": chains, "cores": cores}
    settings |= {"target_accept": target_accept, "random_seed": random_seed}
    sampled = sample(
        data=votes,
        spec=chosen,
        quantities=chosen._quantities(votes),
        method=f"{chosen._title} (NUTS)",
        source=chosen._source,
        assumptions=assumptions,
        cautions=cautions,
        strict=strict,
        progress=progress,
        **settings,
    )
    against = chosen._cautions(sampled)
    if votes.n_classes == 2:
        shares = sampled.estimate().quantities["prevalence"]
        against = (*against, *against_labels(votes, shares))
    return replace(sampled, cautions=(*sampled.cautions, *against))


def model_of_items(fit: Fit, subject: str) -> PanelModel:
    """The model of a fit, which must say what is true of single items."""
    spec = fit.spec
    with checking(f"panel.{subject}") as require:
        told, name = isinstance(spec, PanelModel) and spec._says_truths, type(spec).__name__
        require(told, f"{name} knows no single items; fit another model (cross_validate takes all)")
    assert isinstance(spec, PanelModel)
    return spec


@model_of.register(Votes)
def chosen_model(votes: Votes, model: PanelModel | None, subject: str = "fit") -> PanelModel:
    """The model, or the default one."""
    chosen = recommend(votes).model if model is None else model
    with checking(f"panel.{subject}") as require:
        require(
            isinstance(chosen, PanelModel),
            f"model={chosen!r}: expected a model of bayesjudge.panel, for example "
            "panel.DawidSkene() or panel.BiasPooling()",
        )
    return chosen
