"""Advice on the model: the one that predicts held-out labels best, or that assumes least."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtr

from bayesjudge.core.intervals import z_score
from bayesjudge.panel._approximations import approximate
from bayesjudge.panel._folds import FEWEST_LABELS, enough_labels, folds, with_rows
from bayesjudge.panel.budget import labels_needed
from bayesjudge.panel.checks import rows_of
from bayesjudge.panel.data import Votes
from bayesjudge.panel.model import default_model
from bayesjudge.panel.models._base import PanelModel
from bayesjudge.panel.models.bias_pooling import BiasPooling
from bayesjudge.panel.models.dawid_skene import Correlated, PooledDawidSkene
from bayesjudge.panel.models.vote_regression import VoteRegression

#: Fewer labels, or labelled generators, than this say nothing when hidden.
FEWEST = {"labels": FEWEST_LABELS, "generators": 5}
#: Labelled generators from which on the panel's bias on others is told.
TELL_BIAS = 3
#: A model that assumes more is taken if it is so surely better on what was hidden. From .8 on the
#: 90 % intervals of what is named cover too little on some panels, .78 of 127 draws of 50 labels of
#: RTE; benchmarks/panel/advice.py says what they cover now.
SURE = {"labels": 0.975, "generators": 0.95}
#: Probability of the intervals that are scored.
SCORED = 0.9
#: Width of the intervals that labels are asked for, where none is labelled.
WIDTH = 0.1
#: Most votes (items times judges) that scoring learns from; of more, a random sample of items.
MOST_VOTES = 2_000_000


class Advice(NamedTuple):
    """A model, the reason for it, and how sure that is.

    Parameters
    ----------
    model : PanelModel
        For ``fit(votes, model)``.
    why : str
        In a sentence.
    sure : float
        Probability that it predicts labels better than the next best model, from held-out labels;
        ``nan`` if there are too few to hide.
    ranking : pandas.DataFrame
        The models that were scored, the best first: ``score`` on held-out labels (lower is better),
        ``sure`` (probability that the recommended one is better) and ``scored`` labels or
        generators. Empty if none was.
    """

    model: PanelModel
    why: str
    sure: float = float("nan")
    ranking: pd.DataFrame = pd.DataFrame()

    def __repr__(self) -> str:
        return f"Advice({type(self.model).__name__}(): {self.why})"


def recommend(votes: Votes, *, random_seed: int = 0) -> Advice:
    """Name the model that suits these votes and their labels.

    Of the models that the label design allows, the one that assumes least is recommended, unless
    another predicts labels better that neither has seen, with a probability of 0.975 or more.
    Labels are hidden in five folds, and the score of a hidden label is the log probability that a
    model gives it; if some generators have no label, all labels of one generator after another are
    hidden, the 90 % interval of its share is scored (Gneiting & Raftery 2007), and 0.95 is asked.
    Models are replaced by their Laplace approximations. Without any label it is `BiasPooling`,
    whose interval holds a prior on the panel's bias, and ``why`` says how many labels are needed.

    Parameters
    ----------
    votes : Votes
        Of any classes.
    random_seed : int, default 0
        Of the folds.

    Returns
    -------
    Advice
        A model, the reason, how sure it is, and the scores.

    Raises
    ------
    InputError
        If the label design and the labels contradict each other.

    References
    ----------
    Gneiting & Raftery (2007), J. Am. Stat. Assoc. 102, 359-378.

    Examples
    --------
    >>> from bayesjudge.panel.simulate import simulate
    >>> votes = Votes.from_frame(simulate(random_seed=1), calibration="random")
    >>> type(recommend(votes).model).__name__
    'VoteRegression'
    """
    default = default_model(votes)
    if votes.n_classes > 2:
        return Advice(default, "the other models need pass and fail")
    if not votes.is_labelled.any():
        return Advice(BiasPooling(), _without_labels(votes))
    rng = np.random.default_rng(random_seed)
    has_labels = votes.labelled.sum(axis=1) > 0
    complete = bool(has_labels[votes.items > 0].all())
    tells = votes.design.identifies
    if "predictive_values" in tells and complete:
        models: tuple[PanelModel, ...] = (VoteRegression(), Correlated(), PooledDawidSkene())
        start = "of the models for labels of every generator it assumes least"
    elif "prevalence" in tells and has_labels.sum() >= TELL_BIAS:
        models = (BiasPooling(), Correlated(), PooledDawidSkene())
        start = (
            f"{has_labels.sum()} generators are labelled and others are not: what carries over is "
            "the panel's bias"
        )
        enough = has_labels.sum() >= FEWEST["generators"]
        scores = _by_generator(votes, models, has_labels) if enough else None
        return _ranked(models, scores, start, "generators")
    else:
        models = (Correlated(), PooledDawidSkene())
        start = "with these labels judges' error rates are known, and of the models of those it "
        start += "assumes least"
    scores = _by_label(_sample(votes, rng), models, rng) if enough_labels(votes) else None
    return _ranked(models, scores, start, "labels")


def _without_labels(votes: Votes) -> str:
    more = labels_needed(votes, width=WIDTH)["more"]
    return (
        "no item is labelled: how wrong the panel is rests on its prior, and the interval is "
        f"wide; label some: {more.sum():,} more, at random ({_range(more)} of each generator), "
        f"for 95 % intervals at most {WIDTH} wide"
    )


def _range(numbers: pd.Series) -> str:
    low, high = int(numbers.min()), int(numbers.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _ranked(
    models: Sequence[PanelModel], scores: np.ndarray | None, start: str, unit: str
) -> Advice:
    """Take the first model, unless a later one is surely better; a column of scores a model."""
    if scores is None:
        few = f"fewer than {FEWEST[unit]} {unit}, or hardly any of a class, to hide and score by"
        return Advice(models[0], f"{start}; {few}")
    best = 0
    for other in range(1, len(models)):
        if _surely(scores[:, other], scores[:, best]) >= SURE[unit]:
            best = other
    table = pd.DataFrame(
        {
            "score": scores.mean(axis=0),
            "sure": [_surely(scores[:, best], scores[:, i]) for i in range(len(models))],
            "scored": len(scores),
        },
        index=pd.Index([type(one).__name__ for one in models], name="method"),
    ).sort_values("score", kind="stable")
    name = type(models[best]).__name__
    others = table.drop(index=name)
    rival = others.index[0]
    sure = float(others.loc[rival, "sure"])
    seen = f"from {len(scores)} held-out {unit}"
    told = (
        f"{_percent(sure)} sure {seen} that it predicts better than {rival}"
        if sure >= 0.5
        else f"{rival}, which assumes more, is better with probability {1 - sure:.2f} only, {seen}"
    )
    why = start if best == 0 else "it predicts held-out labels better than models that assume less"
    return Advice(models[best], f"{why}; {told}", sure, table)


def _percent(sure: float) -> str:
    """A probability that some held-out labels give: never all of it."""
    return "more than 99%" if sure > 0.99 else f"{sure:.0%}"


def _surely(one: np.ndarray, other: np.ndarray) -> float:
    """Probability that the mean of one score is below that of another, from paired differences."""
    gain = other - one
    if not gain.any():
        return 0.5
    spread = gain.std(ddof=1) / np.sqrt(len(gain))
    return float(stdtr(len(gain) - 1, gain.mean() / max(spread, 1e-300)))


def _sample(votes: Votes, rng: np.random.Generator) -> Votes:
    """Fewer items without a label, if there are very many."""
    rest = np.flatnonzero(~votes.is_labelled)
    most = max(MOST_VOTES // len(votes.judges), 1000)
    if len(rest) <= most:
        return votes
    drawn = rng.multivariate_hypergeometric(votes.count[rest], most, method="marginals")
    count = votes.count.copy()
    count[rest] = drawn
    rows = np.flatnonzero(count)
    columns = (votes.votes[rows], votes.truth[rows], votes.generator[rows])
    return with_rows(votes, *columns, count[rows])


def _by_label(votes: Votes, models: Sequence[PanelModel], rng: np.random.Generator) -> np.ndarray:
    """Score of every labelled item, in a fold whose labels were hidden; a column a model."""
    found = []
    for seen, hidden in folds(votes, rng):
        each = [-approximate(seen, model).log_score(hidden) for model in models]
        found.append(np.repeat(np.column_stack(each), hidden.count, axis=0))
    return np.concatenate(found)


def _by_generator(votes: Votes, models: Sequence[PanelModel], has_labels: np.ndarray) -> np.ndarray:
    """Interval score of the share of each labelled generator, whose labels were hidden."""
    z, found = z_score(SCORED), []
    for i in np.flatnonzero(has_labels):
        seen = votes.hide(votes.generators[int(i)])
        hidden = rows_of(votes, votes.is_labelled & (votes.generator == i))
        n, good = hidden.items[i], hidden.labelled[i, 1]
        row = []
        for model in models:
            mean, variance = (part[i] for part in approximate(seen, model).good(hidden))
            half = z * np.sqrt(variance)
            outside = max(mean - half - good, good - mean - half, 0.0)
            row.append((2 * half + 2 / (1 - SCORED) * outside) / n)
        found.append(row)
    return np.array(found)
