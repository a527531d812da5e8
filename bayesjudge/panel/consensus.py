"""Truth of single items: class probabilities, consensus labels, and the accuracy expected."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy.special import betaincinv, logsumexp

from bayesjudge.core.counting import ratio
from bayesjudge.core.errors import check_ci_prob, expect
from bayesjudge.core.estimate import Assumption, Caution, Estimate, Quantity
from bayesjudge.core.fit import Fit
from bayesjudge.core.methods import Method
from bayesjudge.core.randomness import rng_of
from bayesjudge.panel import _em
from bayesjudge.panel._approximations import Regression
from bayesjudge.panel._folds import enough_labels, folds
from bayesjudge.panel.checks import rows_of, without_labels
from bayesjudge.panel.closed_form import PSEUDO, dawid_skene_em, model_assisted
from bayesjudge.panel.data import MISSING, Votes, patterns_of, read_items
from bayesjudge.panel.loo import spaced
from bayesjudge.panel.model import model_of_items
from bayesjudge.panel.models.vote_regression import VoteRegression
from bayesjudge.truth.likelihood import some_draws

if TYPE_CHECKING:
    import pandas as pd

#: Items of one table that `Consensus.items` yields.
ROWS = 100_000
#: Most probabilities (draws times patterns times classes) held at a time.
HELD = 4_000_000
#: Temperatures that probabilities may have, and the sd of the normal prior of their logarithm.
LOG_TEMPERATURES, SPREAD = np.linspace(-1.5, 6.0, 61), 2.5
#: Shares of items on which votes tell nothing, equally probable: a beta prior.
LAPSES = betaincinv(0.5, 10.0, (np.arange(25) + 0.5) / 25)
#: Draws of the accuracy.
DRAWS = 2000
SAME_CONFIDENCE = Assumption.of("same-confidence")
BY_THE_MODEL = Caution.of("accuracy-by-the-model")


@dataclass(frozen=True, eq=False)
class Consensus:
    """What the votes, and a model of them, say of each item's truth.

    Parameters
    ----------
    votes : Votes
        The patterns that the rows below are about.
    probability : numpy.ndarray, shape (n_patterns, n_classes)
        Of each class given the votes; 1 for the class that people named. Tempered, if there are
        labels to learn the temperature from.
    accuracy : Estimate
        ``accuracy``: expected share of consensus labels that people would give too, of the items
        without a label; ``accuracy_by_generator``. ``nan`` if all are labelled.
    """

    votes: Votes
    probability: np.ndarray
    accuracy: Estimate

    @property
    def label(self) -> np.ndarray:
        """Index of the most probable class of each pattern; of equal ones the first."""
        return self.probability.argmax(axis=1)

    def items(self, table: Any, **reading: Any) -> Iterator[pd.DataFrame]:
        """Go through a table of votes item by item.

        Parameters
        ----------
        table : dataframe
            The one that the votes were read from.
        **reading
            How it was read: arguments of `Votes.from_frame`.

        Yields
        ------
        pandas.DataFrame
            At most 100,000 items: ``item``, ``generator``, ``truth`` (what people said, or
            missing), ``label`` (the consensus) and ``p_CLASS``, the probability of each class, in
            the order of a wide table; of a long table by generator.

        Raises
        ------
        InputError
            If the table holds an item that the votes do not.
        """
        import pandas as pd

        fields, names = read_items(table, **reading)
        judges = np.array(self.votes.judges)[self.votes.judge_of_column]
        ours, theirs = (np.argsort(x, kind="stable") for x in (judges, fields["judges"]))
        same = np.array_equal(judges[ours], fields["judges"][theirs])
        expect(
            "panel.Consensus.items", same and fields["classes"] == self.votes.classes, "other-table"
        )
        fields["votes"] = fields["votes"][:, theirs[np.argsort(ours)]]
        classes = np.array(self.votes.classes, dtype=object)
        order = {name: i for i, name in enumerate(self.votes.generators)}
        places = np.array([order.get(str(name), MISSING) for name in fields["generators"]])
        for start in range(0, len(names), ROWS):
            part = slice(start, start + ROWS)
            given, truth = fields["votes"][part], fields["truth"][part]
            generator = places[fields["generator"][part]]
            rows = patterns_of(self.votes, given, truth, generator)
            odd = names[part][rows == MISSING][:3].tolist()
            problem = f"items {odd} are not among the votes; pass the table of the votes"
            expect("panel.Consensus.items", not odd, problem)
            columns: dict[str, Any] = {
                "item": names[part],
                "generator": np.array(self.votes.generators, dtype=object)[generator],
                "truth": np.where(truth == MISSING, None, classes[truth]),
                "label": classes[self.label[rows]],
            }
            columns |= {f"p_{c}": self.probability[rows, i] for i, c in enumerate(classes)}
            # objects, whether or not a part has labels
            columns["truth"] = pd.Series(columns["truth"], dtype=object)
            yield pd.DataFrame(columns)


def consensus(
    source: Votes | Fit,
    *,
    missing: Literal["skip", "response"] = "skip",
    prior_count: float = PSEUDO,
    ci_prob: float = 0.95,
    random_seed: int | np.random.Generator = 0,
) -> Consensus:
    """Give every item's class probabilities and consensus label, and the accuracy to expect.

    Judges who err together make a model of independent errors too sure of itself. With 20 labels or
    more, of items that the estimate is about, votes are read with the labels of a fifth of them
    hidden, again and again. The odds of the hidden items' classes are raised to the power ``1 / T``
    (Guo et al. 2017), and on a share of the items votes tell nothing; what people said tells both
    numbers (priors: lognormal around 1, Beta(1/2, 10)), and so how sure to be of all items.
    Without, the accuracy is the model's own word, and a caution says so.

    Parameters
    ----------
    source : Votes or Fit
        Votes: at once, tempered. If they have 20 labels or more, some of every generator, that tell
        the truth given the votes, by the Laplace approximation of `VoteRegression`; else by Dawid
        and Skene's model and expectation-maximisation. A fit of any model but `BiasPooling`:
        probabilities averaged over the posterior.
    missing, prior_count : optional
        As of `dawid_skene_em`; votes are read by that model if either is not the default.
    ci_prob : float, default 0.95
        Probability of the accuracy's interval, which a fit has, and votes with enough labels.
    random_seed : int or numpy.random.Generator, default 0
        Of the folds, and of the truths that are drawn for that interval.

    Returns
    -------
    Consensus
        By distinct pattern; `Consensus.items` goes through the table item by item.

    Raises
    ------
    InputError
        If the fit is of a model that knows no single items.

    References
    ----------
    Dawid & Skene (1979), Appl. Stat. 28, 20-28. Guo et al. (2017), On calibration of modern neural
    networks, arXiv:1706.04599.

    Examples
    --------
    >>> rows = [[1, 1, 1], [1, 1, 0], [0, 0, 1], [0, 0, 0]]
    >>> votes = Votes(rows, [-1] * 4, [0] * 4, ["gpt"], ["a", "b", "c"], count=[40, 9, 8, 30])
    >>> found = consensus(votes)
    >>> votes.votes.tolist(), found.label.tolist()
    ([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]], [0, 0, 1, 1])
    """
    check_ci_prob(ci_prob)
    if isinstance(source, Votes):
        if (missing, prior_count) == ("skip", PSEUDO) and _tells_truth(source):
            reader = _Reader(_by_regression, model_assisted(source, ci_prob=ci_prob))
        else:
            how: dict[str, Any] = {"missing": missing, "prior_count": prior_count}
            about = dawid_skene_em(source, ci_prob=ci_prob, **how)
            reader = _Reader(partial(_by_em, **how), about)
        return _by_votes(source, reader, ci_prob, rng_of(random_seed))
    return _by_fit(source, ci_prob, rng_of(random_seed))


class _Reader(NamedTuple):
    """What gives each pattern's class probabilities, and an estimate by the same model."""

    read: Callable[[Votes], np.ndarray]
    about: Estimate


def _tells_truth(votes: Votes) -> bool:
    """Whether a regression on votes has labels of every generator to learn from."""
    suited = "predictive_values" in votes.design.identifies and votes.n_classes == 2
    return suited and enough_labels(votes) and not without_labels(votes)


def _by_regression(votes: Votes) -> np.ndarray:
    good = Regression(votes, VoteRegression()).chance(votes)
    return np.column_stack([1 - good, good])


def _by_em(votes: Votes, *, missing: Literal["skip", "response"], prior_count: float) -> np.ndarray:
    return _em.posterior_mode(votes, missing, prior_count)[2].posterior


def _by_votes(votes: Votes, reader: _Reader, ci_prob: float, rng: np.random.Generator) -> Consensus:
    about, probability = reader.about, _with_labels(votes, reader.read(votes))
    n, open_ = votes.items - votes.labelled.sum(axis=1), ~votes.is_labelled
    assumptions, cautions, ends = about.assumptions, about.cautions, None
    if votes.design.same_items and enough_labels(votes) and open_.any():
        weight = _overconfidence(votes, reader.read, rng)
        drawn = _right(votes, probability, weight, rng)
        ends = _ends(_by_draw(drawn, n), ci_prob)
        probability = _tempered(votes, probability, weight)
        assumptions = (*assumptions, SAME_CONFIDENCE)
    else:
        cautions = (Caution.of("no-interval", "consensus"), BY_THE_MODEL, *cautions)
    sure = votes.count * probability.max(axis=1)
    total = np.bincount(votes.generator[open_], sure[open_], len(votes.generators))
    accuracy = _estimate(
        *(votes, ratio(total.sum(), n.sum()), ratio(total, n), ends, ci_prob),
        *(about.method, about.source, assumptions, cautions),
    )
    return Consensus(votes, probability, accuracy)


def _with_labels(votes: Votes, probability: np.ndarray) -> np.ndarray:
    """What people said is known."""
    said = np.eye(votes.n_classes)[votes.truth]
    return np.where(votes.is_labelled[:, None], said, probability)


def _overconfidence(
    votes: Votes, read: Callable[[Votes], np.ndarray], rng: np.random.Generator
) -> np.ndarray:
    """Posterior of temperature and lapse on their grid, from labels that were hidden."""
    chances, truths = [], []
    for seen, hidden in folds(votes, rng):
        posterior = read(seen)
        nobody = np.full(len(hidden.count), MISSING)
        rows = patterns_of(seen, hidden.votes, nobody, hidden.generator)
        chances.append(np.repeat(posterior[rows], hidden.count, axis=0))
        truths.append(np.repeat(hidden.truth, hidden.count))
    return _weight(np.concatenate(chances), np.concatenate(truths))


def _weight(p: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Posterior of temperature and lapse, given classes' probabilities and the classes."""
    log = np.repeat(-0.5 * (LOG_TEMPERATURES[:, None] / SPREAD) ** 2, len(LAPSES), axis=1)
    for i, temperature in enumerate(np.exp(LOG_TEMPERATURES)):
        chance = _softened(p, temperature)[np.arange(len(p)), truth, None]
        log[i] += np.log((1 - LAPSES) * chance + LAPSES / p.shape[1]).sum(axis=0)
    weight = np.exp(log - log.max())
    return np.asarray(weight / weight.sum())


def _softened(probability: np.ndarray, temperature: float) -> np.ndarray:
    logs = np.log(np.maximum(probability, _em.TINY)) / temperature
    return np.exp(logs - logsumexp(logs, axis=1, keepdims=True))


def _tempered(votes: Votes, probability: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Probabilities averaged over temperatures and lapses."""
    mean = np.full_like(probability, float((weight @ LAPSES).sum()) / votes.n_classes)
    for temperature, sure in zip(np.exp(LOG_TEMPERATURES), weight @ (1 - LAPSES), strict=True):
        mean += sure * _softened(probability, temperature)
    return _with_labels(votes, mean)


def _right(
    votes: Votes, probability: np.ndarray, weight: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Draws of how many consensus labels are right, by generator; of many items nearly a beta."""
    open_, size, drawn = ~votes.is_labelled, len(votes.generators), []
    count, generator = votes.count[open_], votes.generator[open_]
    n = np.bincount(generator, count, size)
    times = rng.multinomial(DRAWS, weight.ravel()).reshape(weight.shape)
    for temperature, each in zip(np.exp(LOG_TEMPERATURES), times, strict=True):
        p = _softened(probability[open_], temperature).max(axis=1)
        first, second = (
            np.bincount(generator, count * p**k, size) / np.maximum(n, 1) for k in (1, 2)
        )
        lapse = np.repeat(LAPSES, each)[:, None]
        sure, rest = 1 - lapse, lapse / votes.n_classes
        mean = sure * first + rest
        square = sure**2 * second + 2 * sure * rest * first + rest**2
        variance = (mean - square) / np.maximum(n, 1)
        trials = mean * (1 - mean) / np.where(variance > 0, variance, 1.0) - 1
        several = (variance > 1e-15) & (trials > 1e-6)
        a, b = (np.where(several, x * trials, 1.0) for x in (mean, 1 - mean))
        alone = rng.random(mean.shape) < mean  # one item, or none that votes leave open
        drawn.append(n * np.where(several, rng.beta(a, b), alone))
    return np.concatenate(drawn)


def _by_draw(right: np.ndarray, n: np.ndarray) -> Any:
    """Share of right labels of all items and by generator, a row per draw."""
    return ratio(np.column_stack([right.sum(axis=1), right]), np.array([n.sum(), *n]))


def _ends(by_draw: np.ndarray, ci_prob: float) -> np.ndarray:
    return np.quantile(by_draw, [(1 - ci_prob) / 2, (1 + ci_prob) / 2], axis=0)


def _by_fit(fit: Fit, ci_prob: float, rng: np.random.Generator) -> Consensus:
    votes: Votes = fit.data
    size, n = len(votes.generators), votes.items - votes.labelled.sum(axis=1)
    probability = np.zeros((len(votes.count), votes.n_classes))
    spec, draws = model_of_items(fit, "consensus"), spaced(fit)
    posterior = some_draws(fit, draws)
    right = np.zeros((len(draws), size))
    step = max(HELD // (len(draws) * votes.n_classes), 1)
    for start in range(0, len(votes.count), step):
        rows = np.arange(start, min(start + step, len(votes.count)))
        part = rows_of(votes, rows)
        each = spec._truth_given_votes(part, posterior, np.arange(len(rows)))
        known = np.flatnonzero(part.is_labelled)
        each[:, known] = np.eye(votes.n_classes)[part.truth[known]]
        probability[rows] = each.mean(axis=0)
        label = probability[rows].argmax(axis=1)
        p = np.take_along_axis(each, label[None, :, None], axis=2)[..., 0]
        hits = rng.binomial(np.where(part.is_labelled, 0, part.count), np.clip(p, 0, 1))
        for g in np.unique(part.generator):
            right[:, g] += hits[:, part.generator == g].sum(axis=1)
    by_draw = _by_draw(right, n)
    value = by_draw.mean(axis=0)
    # a regression on votes learns from labels how sure they may make it
    cautions = () if spec._labels_tell_chances else (BY_THE_MODEL,)
    accuracy = _estimate(
        *(votes, value[0], value[1:], _ends(by_draw, ci_prob), ci_prob),
        *(fit.method, fit.source, fit.assumptions, (*cautions, *fit.cautions)),
    )
    return Consensus(votes, probability, accuracy)


def _estimate(
    votes: Votes,
    value: Any,
    by_generator: Any,
    ends: np.ndarray | None,
    ci_prob: float,
    method: Method,
    source: str,
    assumptions: tuple[Assumption, ...],
    cautions: tuple[Caution, ...],
) -> Estimate:
    """Expected accuracy of all items, and by generator."""
    low, high = np.full((2, 1 + len(by_generator)), np.nan) if ends is None else ends
    where = {"generator": votes.generators}
    return Estimate(
        {
            "accuracy": Quantity.over((float(value), float(low[0]), float(high[0]))),
            "accuracy_by_generator": Quantity.over((by_generator, low[1:], high[1:]), where),
        },
        method=Method(f"consensus:{method.id}", f"Consensus labels: {method}"),
        ci_prob=ci_prob,
        source=source,
        interval="none" if ends is None else "eti",
        assumptions=assumptions,
        cautions=cautions,
        target="items",
    )
