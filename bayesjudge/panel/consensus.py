"""Truth of single items: class probabilities, consensus labels, and the accuracy expected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import logsumexp

from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.estimate import Assumption, Caution, Estimate, Quantity
from bayesjudge.core.fit import Fit
from bayesjudge.panel import _em
from bayesjudge.panel._likelihood import log_joint
from bayesjudge.panel.checks import rows_of
from bayesjudge.panel.closed_form import PSEUDO, dawid_skene_em
from bayesjudge.panel.data import MISSING, Votes, patterns_of, read_items
from bayesjudge.panel.labelling import chances
from bayesjudge.panel.loo import LABEL_MODELS, spaced
from bayesjudge.panel.models.vote_regression import VoteRegression

if TYPE_CHECKING:
    import pandas as pd

#: Items of one table that `Consensus.items` yields.
ROWS = 100_000
#: Most probabilities (draws times patterns times classes) held at a time.
HELD = 4_000_000


@dataclass(frozen=True, eq=False)
class Consensus:
    """What the votes, and a model of them, say of each item's truth.

    Parameters
    ----------
    votes : Votes
        The patterns that the rows below are about.
    probability : numpy.ndarray, shape (n_patterns, n_classes)
        Of each class given the votes; 1 for the class that people named.
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
        same = [tuple(fields[one]) == getattr(self.votes, one) for one in ("judges", "classes")]
        classes = np.array(self.votes.classes, dtype=object)
        order = {name: i for i, name in enumerate(self.votes.generators)}
        own = np.array([order.get(str(name), MISSING) for name in fields["generators"]])
        with checking("panel.Consensus.items") as require:
            require(all(same), "the table has other judges or classes than the votes")
        for start in range(0, len(names), ROWS):
            part = slice(start, start + ROWS)
            given, truth = fields["votes"][part], fields["truth"][part]
            generator = own[fields["generator"][part]]
            rows = patterns_of(self.votes, given, truth, generator)
            with checking("panel.Consensus.items") as require:
                odd = names[part][rows == MISSING][:3].tolist()
                require(
                    not odd, f"items {odd} are not among the votes; pass the table of the votes"
                )
            made: dict[str, Any] = {
                "item": names[part],
                "generator": np.array(self.votes.generators, dtype=object)[generator],
                "truth": np.where(truth == MISSING, None, classes[truth]),
                "label": classes[self.label[rows]],
            }
            made |= {f"p_{c}": self.probability[rows, i] for i, c in enumerate(classes)}
            # objects, whether or not a part has labels
            made["truth"] = pd.Series(made["truth"], dtype=object)
            yield pd.DataFrame(made)


def consensus(
    source: Votes | Fit,
    *,
    missing: Literal["skip", "response"] = "skip",
    prior_count: float = PSEUDO,
    ci_prob: float = 0.95,
    random_seed: int | np.random.Generator = 0,
) -> Consensus:
    """Give every item's class probabilities and consensus label, and the accuracy to expect.

    Parameters
    ----------
    source : Votes or Fit
        Votes: Dawid and Skene's model by expectation-maximisation, at once. A fit of any model but
        `BiasPooling`: probabilities averaged over the posterior.
    missing, prior_count : optional
        As of `dawid_skene_em`, for votes.
    ci_prob : float, default 0.95
        Probability of the accuracy's interval, which only a fit has: the closed form takes error
        rates as known.
    random_seed : int or numpy.random.Generator, default 0
        Of the truths that are drawn for that interval.

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
    Dawid & Skene (1979), Appl. Stat. 28, 20-28.

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
        return _by_em(source, missing, prior_count, ci_prob)
    with checking("panel.consensus") as require:
        require(
            isinstance(source.spec, LABEL_MODELS),
            f"{type(source.spec).__name__} knows no single items; fit another model, or pass the "
            "votes",
        )
    return _by_fit(source, ci_prob, np.random.default_rng(random_seed))


def _by_em(
    votes: Votes, missing: Literal["skip", "response"], prior_count: float, ci_prob: float
) -> Consensus:
    estimate = dawid_skene_em(votes, missing=missing, prior_count=prior_count, ci_prob=ci_prob)
    probability = _em.posterior_mode(votes, missing, prior_count)[2].posterior
    right = probability.max(axis=1)
    open_ = ~votes.is_labelled
    size, n = len(votes.generators), votes.items - votes.labelled.sum(axis=1)
    total = np.bincount(votes.generator[open_], (votes.count * right)[open_], size)
    text = "the accuracy has no interval (nan): error rates are taken as known; pass a fit for one"
    accuracy = _estimate(
        votes,
        _shares(total.sum(), n.sum()),
        _shares(total, n),
        None,
        ci_prob,
        estimate.method,
        estimate.assumptions,
        (Caution("no-interval", text), *estimate.cautions),
    )
    return Consensus(votes, probability, accuracy)


def _by_fit(fit: Fit, ci_prob: float, rng: np.random.Generator) -> Consensus:
    votes: Votes = fit.data
    size, n = len(votes.generators), votes.items - votes.labelled.sum(axis=1)
    probability = np.zeros((len(votes.count), votes.n_classes))
    draws = spaced(fit, _drawn(fit))
    right = np.zeros((len(draws), size))
    step = max(HELD // (len(draws) * votes.n_classes), 1)
    for start in range(0, len(votes.count), step):
        rows = np.arange(start, min(start + step, len(votes.count)))
        part = rows_of(votes, rows)
        each = _class_draws(replace(fit, data=part), draws)
        known = np.flatnonzero(part.is_labelled)
        each[:, known] = np.eye(votes.n_classes)[part.truth[known]]
        probability[rows] = each.mean(axis=0)
        label = probability[rows].argmax(axis=1)
        p = np.take_along_axis(each, label[None, :, None], axis=2)[..., 0]
        hits = rng.binomial(np.where(part.is_labelled, 0, part.count), np.clip(p, 0, 1))
        for g in np.unique(part.generator):
            right[:, g] += hits[:, part.generator == g].sum(axis=1)
    by_draw = _shares(np.column_stack([right.sum(axis=1), right]), np.array([n.sum(), *n]))
    value = by_draw.mean(axis=0)
    ends = np.quantile(by_draw, [(1 - ci_prob) / 2, (1 + ci_prob) / 2], axis=0)
    accuracy = _estimate(
        *(votes, value[0], value[1:], ends, ci_prob, fit.method, fit.assumptions, fit.cautions)
    )
    return Consensus(votes, probability, accuracy)


def _shares(right: Any, n: Any) -> Any:
    """Of no item there is no share."""
    right, n = np.asarray(right, float), np.asarray(n, float)
    return np.divide(right, n, out=np.full(np.broadcast(right, n).shape, np.nan), where=n > 0)


def _drawn(fit: Fit) -> int:
    """How many draws `chances` or `log_joint` can look at."""
    if isinstance(fit.spec, VoteRegression):
        return len(chances(fit, np.arange(1)))
    return len(fit.draws(fit.quantities[0]))


def _class_draws(fit: Fit, draws: np.ndarray) -> np.ndarray:
    """Probability of each class by draw and pattern."""
    rows = np.arange(len(fit.data.count))
    if isinstance(fit.spec, VoteRegression):
        good = chances(fit, rows)[draws]
        return np.stack([1 - good, good], axis=-1)
    joint = np.stack(list(log_joint(fit, rows, draws)))
    return np.exp(joint - logsumexp(joint, axis=2, keepdims=True))


def _estimate(
    votes: Votes,
    value: Any,
    by_generator: Any,
    ends: np.ndarray | None,
    ci_prob: float,
    method: str,
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
        method=f"Consensus labels: {method}",
        ci_prob=ci_prob,
        source="Dawid & Skene (1979)",
        interval="none" if ends is None else "eti",
        assumptions=assumptions,
        cautions=cautions,
        target="items",
    )
