"""Advice on the model: the one that assumes least of those that the label design allows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesjudge.core.screen import few
from bayesjudge.panel.budget import needed_labels
from bayesjudge.panel.checks import without_labels
from bayesjudge.panel.data import Votes
from bayesjudge.panel.models._base import PanelModel
from bayesjudge.panel.models.bias_pooling import BiasPooling
from bayesjudge.panel.models.dawid_skene import Correlated, MulticlassDawidSkene
from bayesjudge.panel.models.vote_regression import VoteRegression

#: Wholly labelled generators from which on the panel's bias on others is told.
TELL_BIAS = 3
#: Width of the intervals that labels are asked for, where none is labelled.
WIDTH = 0.1


class Advice(NamedTuple):
    """A model, and the reason for it.

    Parameters
    ----------
    model : PanelModel
        For ``fit(votes, model)``.
    why : str
        In a sentence.
    """

    model: PanelModel
    why: str

    def __repr__(self) -> str:
        return f"Advice({type(self.model).__name__}(): {self.why})"


def recommend(votes: Votes) -> Advice:
    """Name the model that suits these votes and their labels, which `fit` samples by default.

    Models that need the same error rates of a judge on every generator are named only if labels
    tell nothing else: on published panels their 95 % intervals hold few of the shares
    (benchmarks/panel/systems.py). If labels tell the truth given the votes, it is `VoteRegression`.
    If all items of three generators or more are labelled, and none of the others, it is
    `BiasPooling`, as it is without any label, where its interval holds a prior on the panel's bias,
    and ``why`` says how many labels are needed. Labels chosen by truth, or of other items, tell
    error rates only: `Correlated`.

    Parameters
    ----------
    votes : Votes
        Of any classes.

    Returns
    -------
    Advice
        A model and the reason.

    Examples
    --------
    >>> from bayesjudge.panel.simulate import simulate
    >>> votes = Votes.from_frame(simulate(random_seed=1), calibration="random")
    >>> type(recommend(votes).model).__name__
    'VoteRegression'
    """
    if votes.n_classes > 2:
        return Advice(MulticlassDawidSkene(), "the other models need pass and fail")
    if not votes.is_labelled.any():
        return Advice(BiasPooling(), _without_labels(votes))
    tells, others = votes.design.identifies, without_labels(votes)
    if "predictive_values" not in tells:
        return Advice(
            Correlated(),
            "such labels tell judges' error rates only, and of the models of those it assumes "
            "least: it is right if rates are the same on every generator",
        )
    if not others:
        why = "every generator has labels, which tell the truth given the votes: of the models for "
        return Advice(VoteRegression(), f"{why}them it assumes least")
    has_labels = int((votes.labelled.sum(axis=1) > 0).sum())
    bare = f"{few(others)} {'has' if len(others) == 1 else 'have'} no label"
    if "prevalence" in tells and has_labels >= TELL_BIAS and not votes._partly_labelled:
        return Advice(
            BiasPooling(),
            f"{bare}, and all items of {has_labels} other generators have one: what carries over "
            "is the panel's bias",
        )
    return Advice(
        VoteRegression(),
        f"{bare}: the truth given the votes carries over, with an interval for how it differs "
        "between generators",
    )


def _without_labels(votes: Votes) -> str:
    more = needed_labels(votes, WIDTH)["more"]
    return (
        "no item is labelled: how wrong the panel is rests on its prior, and the interval is "
        f"wide; label some: {more.sum():,} more, at random ({_range(more)} of each generator), "
        f"for 95 % intervals at most {WIDTH} wide"
    )


def _range(numbers: np.ndarray) -> str:
    low, high = int(numbers.min()), int(numbers.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
