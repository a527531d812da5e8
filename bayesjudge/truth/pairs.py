"""Kinds of pairs of what a judge and people said of an output: their shares, and draws of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from bayesjudge.core.draws import around
from bayesjudge.core.intervals import added, jeffreys
from bayesjudge.core.label_design import Identified, LabelDesign
from bayesjudge.core.randomness import rng_of
from bayesjudge.core.worth import Worth, more_labels, worth_of_draws, worth_of_pairs
from bayesjudge.truth import agreement
from bayesjudge.truth.agreement import among
from bayesjudge.verdicts.labels import MISSING
from bayesjudge.verdicts.table import Verdicts

#: Draws of a posterior: ends of an interval move by 2 % of its width.
DRAWS = 4000
#: Most numbers drawn at once.
MOST_NUMBERS = 4_000_000

#: What labels have to tell if a rate is to be theirs alone.
IDENTIFIED_BY: dict[str, Identified] = {
    **dict.fromkeys(("sensitivity", "specificity", "youden"), "error_rates"),
    **dict.fromkeys(("recall", "confusion"), "error_rates"),
    **dict.fromkeys(("ppv", "npv", "precision"), "predictive_values"),
}


class Pairs(NamedTuple):
    """Outputs of one system by what a judge and people said of them, one entry per kind of pair."""

    said: np.ndarray
    truth: np.ndarray
    #: Labelled outputs of each kind of pair, by kind of item; without shared items one per row.
    cells: np.ndarray
    items: np.ndarray
    #: For how many outputs each labelled one stands, up to a factor.
    weight: np.ndarray
    #: What the judge said of all outputs that the answer is about: values and their numbers.
    verdicts: np.ndarray
    all_n: np.ndarray
    #: Outputs that join each kind of pair.
    prior: np.ndarray
    #: Draws of the shares of kinds of pairs behind people's errors, and of how often the judge says
    #: what one of these people says, if several people gave labels.
    behind: np.ndarray | None = None
    with_person: np.ndarray | None = None

    @property
    def n(self) -> np.ndarray:
        """Labelled outputs of each kind of pair."""
        return self.items @ self.cells

    @property
    def labelled(self) -> int:
        """Outputs with a label."""
        return int(self.n.sum())

    @property
    def clustered(self) -> bool:
        """Whether outputs share items."""
        return not np.array_equal(self.cells, np.eye(len(self.said)))

    @classmethod
    def of(cls, said: Any, truth: Any, n: Any, **more: Any) -> Self:
        """Pairs of independent outputs."""
        said, truth, n = (np.asarray(x, float) for x in (said, truth, n))
        values, place = np.unique(said, return_inverse=True)
        given = {
            "weight": np.ones(n.size),
            "prior": np.zeros(n.size),
            "verdicts": values,
            "all_n": np.bincount(place, n),
        }
        return cls(said, truth, np.eye(n.size), n, **given | more)

    @classmethod
    def of_verdicts(cls, verdicts: Verdicts, judge: int, system: int | None) -> Self:
        """Pairs of one judge: those of a system, or of the strata of one."""
        k = len(verdicts.classes)
        columns = np.flatnonzero(verdicts.judge_of_column == judge)
        strata = range(len(verdicts.groups)) if verdicts.propensity is not None else [0]
        kinds = 1 if verdicts.item is None else len(verdicts.items)
        table = np.zeros((kinds, len(strata), k + 1, k))
        here = np.ones(len(verdicts.group), bool) if system is None else verdicts.group == system
        for response in verdicts.response[:, columns].T:
            seen = here & (response != MISSING)
            kind = np.zeros(seen.sum(), int) if verdicts.item is None else verdicts.item[seen]
            stratum = verdicts.group[seen] if len(strata) > 1 else np.zeros(seen.sum(), int)
            np.add.at(
                table, (kind, stratum, verdicts.truth[seen], response[seen]), verdicts.count[seen]
            )
        items = np.ones(1) if verdicts.item is None else np.asarray(verdicts.items, float)
        labelled = table[:, :, :k].reshape(kinds, -1)
        about = table if verdicts.design.same_items else table[:, :, k:]
        size = (items @ table.reshape(kinds, -1)).reshape(len(strata), -1).sum(axis=1)
        all_n = items @ about.sum(axis=(1, 2))
        stratum, truth, said = np.indices((len(strata), k, k)).reshape(3, -1)
        chance = np.ones(1) if verdicts.propensity is None else verdicts.propensity
        if verdicts.item is None or labelled.sum(axis=1).max() <= 1:
            labelled, items = np.eye(labelled.shape[1]), items @ labelled
        return cls(
            said.astype(float),
            truth.astype(float),
            labelled,
            items,
            1 / chance[stratum],
            np.arange(k, dtype=float),
            all_n.astype(float),
            (size / max(size.sum(), 1))[stratum] / k,
        )

    @classmethod
    def of_items(cls, tables: np.ndarray) -> Self:
        """Pairs of classes of items, of which several people or answers may be averaged.

        `tables` are shares of pairs by item, people's class by the judge's, shape (n_items, K * K).
        """
        kinds, items = np.unique(tables, axis=0, return_counts=True)
        k = round(tables.shape[1] ** 0.5)
        truth, said = np.indices((k, k)).reshape(2, -1)
        pairs = cls.of(said, truth, items @ kinds, prior=np.full(k * k, 1 / k))
        alone = (kinds.max(axis=1) == 1).all()
        return pairs if alone else pairs._replace(cells=kinds, items=items)

    def knows_share(self, design: LabelDesign) -> bool:
        """Whether labels, or the judge's pass rate with them, tell how common each truth is."""
        if not _of_errors(design) or self.behind is not None:
            return True
        plain = set(self.truth) | set(self.said) <= {0.0, 1.0}
        return plain and self.all_n.sum() > 0

    def shares(self, design: LabelDesign) -> np.ndarray:
        """Share of each kind of pair among all outputs, as estimated; shape (n_pairs,)."""
        if self.behind is not None:
            return np.asarray(self.behind.mean(axis=0))
        if _of_errors(design):
            good = np.array([0.5])
            if self.knows_share(design):
                good = np.median(self.draws(design) @ self.truth, keepdims=True)
            return _by_truth(self.n[None], self.truth, good)[0]
        return self._all_outputs(self.n[None] * self.weight, design, self.all_n[None])[0]

    def draws(
        self, design: LabelDesign, *, overall: bool = False, random_seed: int = 1
    ) -> np.ndarray:
        """Draws of these shares from their posterior, shape (n_draws, n_pairs).

        Shares are Dirichlet; of outputs that share items, whole items are weighed (the Bayesian
        bootstrap). Labels by verdict tell the shares within a verdict, and labels by truth those
        within a truth, whose own share comes from the judge's pass rate. The prior is one output
        within each truth; for what is `overall`, such as the accuracy, one in all, if labels are a
        random sample or there are more than two classes.
        """
        if self.behind is not None:
            return self.behind
        rng = rng_of(random_seed)
        size = max(min(DRAWS, MOST_NUMBERS // max(self.items.size, self.said.size)), 200)
        kinds = len(np.unique(self.truth))
        in_all = design.is_sample or (kinds > 2 and not _of_errors(design))
        prior = self.prior / (kinds if overall and in_all else 1)
        if self.clustered:
            drawn = rng.standard_gamma(self.items, (size, self.items.size)) @ self.cells
            drawn = drawn + rng.standard_gamma(prior, (size, self.said.size))
        else:
            drawn = rng.standard_gamma(self.n + prior, (size, self.said.size))
        if _of_errors(design):
            return self._with_share(drawn, design, rng)
        more = np.array([prior[self.said == value].sum() for value in self.verdicts])
        margin = rng.standard_gamma(self.all_n + more, (size, self.all_n.size))
        return self._all_outputs(drawn * self.weight, design, margin)

    def rates(self, design: LabelDesign, ci_prob: float) -> dict[str, tuple[float, float, float]]:
        """Sensitivity, specificity, their sum and predictive values, each with its interval."""
        shares = self.shares(design)[None], self.draws(design)
        values, drawn = (agreement.rates(self.said, self.truth, x) for x in shares)
        return {
            name: self.interval(name, of, float(values[name][0]), drawn[name], design, ci_prob)
            for name, of in agreement.conditions(self.said, self.truth).items()
        }

    def interval(
        self,
        name: str,
        of: Sequence[tuple[Any, Any]],
        value: float,
        drawn: np.ndarray,
        design: LabelDesign,
        ci_prob: float,
    ) -> tuple[float, float, float]:
        """A statistic with its interval: of a rate that independent labels tell alone, exact."""
        weighed = self.behind is not None or self.clustered or np.ptp(self.weight) > 0
        if weighed or IDENTIFIED_BY.get(name) not in design.identifies:
            return with_ends(value, drawn, ci_prob)
        kinds = max(len(np.unique(self.truth)), 2)
        rates = [
            jeffreys(self.n @ (what * given), self.n @ given, ci_prob, kinds) for what, given in of
        ]
        value, low, high = rates[0] if len(rates) == 1 else added(rates[0], rates[1], less=1)
        return float(value), float(low), float(high)

    def _all_outputs(
        self, drawn: np.ndarray, design: LabelDesign, margin: np.ndarray
    ) -> np.ndarray:
        with np.errstate(invalid="ignore", divide="ignore"):
            if "prevalence" in design.identifies:
                return drawn / drawn.sum(axis=1, keepdims=True)
            shares, margin = np.empty_like(drawn), margin / margin.sum(axis=1, keepdims=True)
            for k, value in enumerate(self.verdicts):
                here = self.said == value
                part, weight = drawn[:, here], margin[:, [k]]
                of_verdict = weight * part / part.sum(axis=1, keepdims=True)
                # what is never said needs no label
                shares[:, here] = np.where(weight > 0, of_verdict, 0.0)
            return shares

    def _with_share(
        self, drawn: np.ndarray, design: LabelDesign, rng: np.random.Generator
    ) -> np.ndarray:
        """Shares of pairs from those within a truth, and from the pass rate of all outputs.

        Given the two rates the pass rate is Beta, cut to what they allow (a flat prior of the share
        of good outputs); draws are resampled by the probability of the cut. Of judges worse than
        chance nothing is left: they are no part of the posterior.
        """
        halves = np.full(len(drawn), 0.5)
        rates = _by_truth(drawn, self.truth, halves)
        if not self.knows_share(design):
            return rates
        from scipy.special import betainc, betaincinv

        passed = self.said == 1
        high = 2 * rates[:, passed & (self.truth == 1)].sum(axis=1)
        low = 2 * rates[:, passed & (self.truth == 0)].sum(axis=1)
        k = float(self.all_n[self.verdicts == 1].sum())
        a, b = k + 1, float(self.all_n.sum()) - k + 1
        ends = betainc(a, b, low), betainc(a, b, high)
        chance = np.where(high > low, (ends[1] - ends[0]) / np.maximum(high - low, 1e-12), 0.0)
        kept = rng.choice(len(drawn), len(drawn), p=chance / chance.sum())
        rate = betaincinv(a, b, rng.uniform(ends[0][kept], ends[1][kept]))
        share = np.clip((rate - low[kept]) / (high - low)[kept], 0, 1)
        return _by_truth(drawn[kept], self.truth, share)


def _of_errors(design: LabelDesign) -> bool:
    """Whether labels tell how the judge errs, and nothing else."""
    return design.identifies == {"error_rates"}


def _by_truth(drawn: np.ndarray, truth: np.ndarray, good: np.ndarray) -> np.ndarray:
    """Shares of pairs from those within a truth; of more than two truths these count alike."""
    shares, kinds = np.empty_like(drawn), np.unique(truth)
    for kind in kinds:
        here = truth == kind
        part = good if kind == 1 else 1 - good
        part = part if len(kinds) == 2 else np.full(len(drawn), 1 / len(kinds))
        with np.errstate(invalid="ignore", divide="ignore"):
            shares[:, here] = (
                part[:, None] * drawn[:, here] / drawn[:, here].sum(axis=1, keepdims=True)
            )
    return shares


def with_ends(value: float, draws: np.ndarray, ci_prob: float) -> tuple[float, float, float]:
    """A value and the equal-tailed interval of draws, moved to hold it: of 1 the end is 1 too.

    No interval of draws that do not vary: the Bayesian bootstrap of labels that are all alike.
    """
    known = draws[np.isfinite(draws)]
    if known.size < 0.5 * draws.size or not np.isfinite(value) or np.ptp(known) < 1e-12:
        return value, np.nan, np.nan
    return around(value, known, ci_prob)


def worth_of_sample(
    pairs: Pairs, design: LabelDesign, items: float, ci_prob: float, *, numeric: bool = False
) -> Worth:
    """Worth of a judge of which labels are a sample: random, or weighed by propensities."""
    classes = not numeric and len(np.unique(pairs.truth)) > 2
    if design.is_sample and not (pairs.clustered or classes):
        how: dict[str, Any] = {"items": items, "prior": 1.0 - numeric, "ci_prob": ci_prob}
        return worth_of_pairs(pairs.said, pairs.truth, pairs.n, **how)
    explained = _explained(pairs, pairs.draws(design, overall=classes))
    return worth_of_draws(more_labels(explained, pairs.labelled, items), pairs.labelled, ci_prob)


def _explained(pairs: Pairs, shares: np.ndarray) -> np.ndarray:
    """Share of the variance of people's classes that verdicts explain (Goodman & Kruskal 1954)."""
    total, left = np.zeros(len(shares)), np.zeros(len(shares))
    for k in np.unique(pairs.truth):
        mean = shares @ (pairs.truth == k)
        total += mean * (1 - mean)
        for value in pairs.verdicts:
            here = pairs.said == value
            given = among(shares, pairs.truth == k, here)
            left += (shares @ here.astype(float)) * np.nan_to_num(given * (1 - given))
    return np.clip(1 - left / np.where(total > 0, total, 1), 0, 1)
