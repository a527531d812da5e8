"""Truth given votes: a logistic regression on labelled items predicts the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import expit

from bayesjudge.core.counting import collapse, distinct
from bayesjudge.core.estimate import Assumption, Target
from bayesjudge.core.fit import Fit
from bayesjudge.core.label_design import Identified
from bayesjudge.core.prior_check import Key
from bayesjudge.core.priors import NormalPrior
from bayesjudge.panel.checks import EXCHANGEABLE_LEVELS
from bayesjudge.panel.data import MISSING, Votes
from bayesjudge.panel.label_design import RANDOM_LABELS
from bayesjudge.panel.models._base import PanelModel, PriorStatistics, Values
from bayesjudge.panel.voting import true_prevalence
from bayesjudge.truth.components import prior_data
from bayesjudge.truth.likelihood import by_sample

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

#: What a chance of a truth is made of.
UNKNOWNS = ("level", "vote_weight")


@dataclass(frozen=True)
class VoteRegression(PanelModel):
    r"""Truth given votes, for random labels of every generator.

    .. math:: \operatorname{logit} P(z_i = 1 \mid v_i) =
        \text{level}_{g(i)} + \sum_j \text{weight}_j v_{ij}, \quad
        \text{level}_g \sim N(\mu, s_g), \quad \text{weight}_j \sim N(\mu_w, s_w),

    with votes coded 0.5, -0.5 and 0 if missing; levels and weights are partially pooled. In
    ``idata`` shares are of these very items: known truths are counted, the others predicted. That
    of the process behind them has Jeffreys' posterior given their truths. A *spread* is the scale
    of a half-normal prior of a standard deviation.

    Parameters
    ----------
    intercept : NormalPrior, default ``NormalPrior(0, 2)``
        Logit of the truth of an item without votes.
    generator_spread : float, default 1
        How much that differs between generators: with 0.5 the 95 % intervals of a generator without
        labels are too short (benchmarks/panel/systems.py).
    vote_weight : NormalPrior, default ``NormalPrior(0, 1)``
        What a pass rather than a fail adds to the logit, on average over judges.
    judge_spread : float, default 0.5
        How much that differs between judges.

    Raises
    ------
    InputError
        If a prior is of another type, or a spread is not positive.

    References
    ----------
    Särndal, Swensson & Wretman (1992), Model Assisted Survey Sampling.
    """

    _title: ClassVar[str] = "Truth given votes"
    _source: ClassVar[str] = "Model-assisted estimation, Särndal et al. (1992), with pooled weights"
    _assumptions: ClassVar[tuple[Assumption, ...]] = (EXCHANGEABLE_LEVELS, RANDOM_LABELS)
    _drawn_about: ClassVar[Target] = "items"
    _learns_from: ClassVar[Identified | None] = "predictive_values"
    _labels_tell_chances: ClassVar[bool] = True

    intercept: NormalPrior = NormalPrior(0.0, 2.0)
    generator_spread: float = 1.0
    vote_weight: NormalPrior = NormalPrior(0.0, 1.0)
    judge_spread: float = 0.5

    def _build(self, votes: Votes) -> pm.Model:
        return self._graph(votes, text=True)

    def _sampling_form(self, votes: Votes) -> pm.Model:
        return self._graph(votes, text=False)

    def _graph(self, votes: Votes, text: bool) -> pm.Model:
        import pymc as pm

        self._check(votes)
        coords = {"generator": votes.generators, "judge": votes.judges}
        with pm.Model(coords=coords) as model:
            level, slopes = self._unknowns(text)
            _observe_labels(votes, level, slopes)
            _name_prevalence(votes, level, slopes)
        return model

    def _unknowns(self, text: bool) -> tuple[Any, Any]:
        """Level by generator and weight of a vote by judge."""
        import pymc as pm

        centre = pm.Normal("intercept", *prior_data("intercept", self.intercept))
        scale = prior_data("generator_spread", self.generator_spread)[0]
        spread = pm.HalfNormal("generator_spread", scale)
        typical = pm.Normal("vote_weight_mean", *prior_data("vote_weight", self.vote_weight))
        differ = pm.HalfNormal("judge_spread", prior_data("judge_spread", self.judge_spread)[0])

        def pooled(name: str, mean: Any, sd: Any, dim: str) -> Any:
            if text:
                return pm.Normal(name, mean, sd, dims=dim)
            # what the sampler likes better, since labels are few
            offset = pm.Normal(f"{dim}_own", dims=dim)
            return pm.Deterministic(name, mean + sd * offset, dims=dim)

        level = pooled("level", centre, spread, "generator")
        return level, pooled("vote_weight", typical, differ, "judge")

    def _about_population(self, fit: Fit, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """A share's posterior given all truths, with those that were predicted."""
        share = fit.idata["posterior"]["prevalence"].transpose("chain", "draw", ...)
        good, n = share.to_numpy() * fit.data.items, fit.data.items
        return {"prevalence": rng.beta(good + 0.5, n - good + 0.5)}

    def _truth_given_votes(self, votes: Votes, draws: xr.Dataset, rows: np.ndarray) -> np.ndarray:
        level, slopes = (by_sample(draws, name) for name in UNKNOWNS)
        logits = level[:, votes.generator[rows]] + slopes @ vote_scores(votes)[rows].T
        return expit(np.stack([-logits, logits], axis=-1))

    def _item_log_likelihood(
        self, votes: Votes, draws: xr.Dataset
    ) -> tuple[xr.DataArray, np.ndarray]:
        """Label of an item given its votes, of each labelled pattern and truth."""
        import xarray as xr

        rows, n, good = labelled_patterns(votes)
        level, slopes = (draws[name].transpose("chain", "draw", ...) for name in UNKNOWNS)
        logits = level.to_numpy()[..., votes.generator[rows]]
        logits = logits + slopes.to_numpy() @ vote_scores(votes)[rows].T
        logs = np.concatenate([-np.logaddexp(0, -logits), -np.logaddexp(0, logits)], axis=-1)
        names = pattern_names(votes, rows)
        kinds = [f"{name}, {truth}" for truth in votes.classes[::-1] for name in names]
        coords = {"chain": draws.chain, "draw": draws.draw, "pattern": ("kind", kinds)}
        by_kind = xr.DataArray(logs, coords, ("chain", "draw", "kind"))
        return by_kind, np.concatenate([good, n - good])

    def _prior_statistics(self, votes: Votes, rng: np.random.Generator) -> PriorStatistics:
        """Shares of good ones among labelled items, and how often the majority is right there."""
        rows, n, seen = labelled_patterns(votes)
        truth = true_prevalence(votes)
        passed, failed = ((votes.votes[rows] == vote).sum(axis=1) for vote in (1, 0))
        decided, passes = n * (passed != failed), passed > failed
        majority: Key = ("majority_right", "", "")

        def right(good: np.ndarray) -> np.ndarray:
            agreed = np.where(passes, good, n - good) * (decided > 0)
            return agreed.sum(axis=-1) / max(decided.sum(), 1)

        members: dict[Key, np.ndarray] = {
            ("share_good", "generator", name): votes.generator[rows] == i
            for i, name in enumerate(votes.generators)
        }
        observed = {
            key: float(share)
            for (key, mine), share in zip(members.items(), truth, strict=True)
            if mine.any()
        }
        if decided.any():
            observed[majority] = float(right(seen))

        def drawn_of(prior: Values) -> dict[Key, np.ndarray]:
            good = prior["labelled_good"]
            statistics = {majority: right(good)}
            statistics |= {
                key: good[:, mine].sum(axis=1) / n[mine].sum() for key, mine in members.items()
            }
            return {key: statistics[key] for key in observed}

        return observed, drawn_of, ("labelled_good",)


def vote_scores(votes: Votes) -> np.ndarray:
    """Code each judge's votes as numbers that a regression can weigh."""
    score = np.zeros((len(votes.count), len(votes.judges)))
    coded = np.select([votes.votes == 1, votes.votes == 0], [0.5, -0.5], 0.0)
    for column, judge in enumerate(votes.judge_of_column):
        score[:, judge] += coded[:, column]
    return score


def _observe_labels(votes: Votes, level: Any, slopes: Any) -> None:
    import pymc as pm

    rows, n, good = labelled_patterns(votes)
    dim = "labelled_pattern"
    pm.modelcontext(None).add_coord(dim, pattern_names(votes, rows))
    scores = vote_scores(votes)[rows]
    x = pm.Data("labelled_score", scores, dims=(dim, "judge"))
    at = pm.Data("generator_of_labels", votes.generator[rows].astype("int32"), dims=dim)
    total = pm.Data("labelled_n", n.astype(float), dims=dim)
    seen = pm.Data("labelled_good_seen", good.astype(float), dims=dim)
    logits = level[at] + x @ slopes
    pm.Binomial("labelled_good", total.astype("int64"), logit_p=logits, observed=seen, dims=dim)


def _name_prevalence(votes: Votes, level: Any, slopes: Any) -> None:
    """Share of good items: known truths, the sum expected of the others, and its error."""
    import pymc as pm
    import pytensor.tensor as pt

    unknown = np.flatnonzero(votes.truth == MISSING)
    items = pm.Data("items", votes.items.astype(float), dims="generator")
    known = pm.Data("known_good", votes.labelled[:, 1].astype(float), dims="generator")
    error_of_sum = pm.Normal("prediction_error", dims="generator")
    none = pt.zeros_like(items)
    expected, error = known, none
    if unknown.size:
        dim = "unknown_pattern"
        pm.modelcontext(None).add_coord(dim, pattern_names(votes, unknown))
        x = pm.Data("unknown_score", vote_scores(votes)[unknown], dims=(dim, "judge"))
        generator = votes.generator[unknown]
        at = pm.Data("generator_of_unknown", generator.astype("int32"), dims=dim)
        count = pm.Data("unknown_count", votes.count[unknown].astype(float), dims=dim)
        chance = pm.math.sigmoid(level[at] + x @ slopes)
        expected = pt.inc_subtensor(none[at], count * chance) + known
        variance = pt.inc_subtensor(none[at], count * chance * (1 - chance))
        # a generator whose truths are all known has no error, not a small one
        some = np.isin(np.arange(len(votes.generators)), generator) * 1.0
        has_unknown = pm.Data("has_unknown", some, dims="generator")
        error = has_unknown * pt.sqrt(variance + 1e-12)
    share = (expected + error_of_sum * error) / items
    pm.Deterministic("prevalence", pt.clip(share, known / items, 1), dims="generator")


def pattern_names(votes: Votes, rows: np.ndarray) -> list[str]:
    """For example ``g1: 1 0 -``."""
    classes = np.array([*votes.classes, "-"])
    return [f"{votes.generators[votes.generator[i]]}: {' '.join(classes[votes.votes[i]])}"
            for i in rows]  # fmt: skip


def labelled_patterns(votes: Votes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labelled patterns, whatever the truth: a row of `votes` that has it, items, good items."""
    known = np.flatnonzero(votes.truth != MISSING)
    keys = np.column_stack([votes.generator[known], votes.votes[known].astype(np.int64) + 1])
    first, n = collapse(keys, votes.count[known])
    good = np.zeros(len(first), np.int64)
    np.add.at(good, distinct(keys)[1], votes.count[known] * votes.truth[known])
    return known[first], n, good
