"""Bias pooling: what the panel's bias on labelled generators says of a new one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayesjudge.core.estimate import Assumption, Caution
from bayesjudge.core.fit import Fit
from bayesjudge.core.intervals import z_score
from bayesjudge.core.label_design import Identified
from bayesjudge.core.prior_check import Key
from bayesjudge.core.priors import NormalPrior
from bayesjudge.panel._summaries import Summary
from bayesjudge.panel.checks import EXCHANGEABLE
from bayesjudge.panel.data import Votes
from bayesjudge.panel.label_design import RANDOM_LABELS
from bayesjudge.panel.models._base import PanelModel, PriorStatistics, Values
from bayesjudge.panel.voting import true_prevalence
from bayesjudge.truth.components import logit_normal, prior_data

if TYPE_CHECKING:
    import pymc as pm


@dataclass(frozen=True)
class BiasPooling(PanelModel):
    r"""The panel's bias on a generator is like its bias on the labelled generators.

    On the logit scale a generator's pass rate r is its prevalence g plus a bias, and biases are
    exchangeable:

    .. math:: \operatorname{logit} g_k \sim N(\mu, s), \quad
        \operatorname{logit} r_k = \operatorname{logit} g_k + b_k, \quad
        b_k \sim N(\mu_b, s_b), \quad s_b \sim N^+,

    with normal :math:`\mu` and :math:`\mu_b`. Of :math:`m_k` labelled items :math:`a_k` are good;
    the panel's mean vote on them is :math:`y_k`, and that on the others is :math:`x_k`:

    .. math:: a_k \sim Bin(m_k, g_k), \quad
        y_k \sim N(r_k + d (a_k / m_k - g_k), \epsilon_k), \quad x_k \sim N(r_k, \eta_k),

    d being what a good item's mean vote exceeds a bad one's by. Only pass rates by generator enter,
    so the shape of the votes' distribution cannot mislead it. Sampling errors of pass rates come
    from items, since the votes on one item are not independent, and go with those of the labels on
    the same items.

    A *spread* of a bias is the scale of a half-normal prior of a standard deviation.

    Parameters
    ----------
    level : NormalPrior, default ``NormalPrior(0, 2)``
        Mean over generators of the logit of the prevalence.
    level_spread : float, default 1.5
        Standard deviation of those logits between generators. It is not learnt, and wide, so a
        generator unlike the others stays so.
    bias : NormalPrior, default ``NormalPrior(0, 1)``
        Mean over generators of logit(panel's pass rate) - logit(prevalence).
    bias_spread : float, default 0.5
        How much that bias differs between generators.

    Raises
    ------
    InputError
        If a prior is of another type, or a spread is not positive.

    References
    ----------
    Jain et al. (2025), Beyond Consensus, eqs. (1)-(3).
    """

    _title: ClassVar[str] = "Bias pooling"
    _source: ClassVar[str] = (
        "Jain et al. (2025), eqs. (1)-(3), as exchangeable biases of the panel mean"
    )
    _assumptions: ClassVar[tuple[Assumption, ...]] = (EXCHANGEABLE, RANDOM_LABELS)
    _needs_labels: ClassVar[bool] = False  # without any, the panel's bias is its prior's
    _learns_from: ClassVar[Identified | None] = "prevalence"
    sampling: ClassVar[dict[str, Any]] = {"target_accept": 0.95}

    level: NormalPrior = NormalPrior(0.0, 2.0)
    level_spread: float = 1.5
    bias: NormalPrior = NormalPrior(0.0, 1.0)
    bias_spread: float = 0.5

    def _build(self, votes: Votes) -> pm.Model:
        return self._graph(votes, text=True)

    def _sampling_form(self, votes: Votes) -> pm.Model:
        return self._graph(votes, text=False)

    def _graph(self, votes: Votes, text: bool) -> pm.Model:
        import pymc as pm

        self._check(votes)
        coords = {"generator": votes.generators, "judge": votes.judges}
        with pm.Model(coords=coords) as model:
            _observe(Summary.of(votes), *self._unknowns(text))
        return model

    def _unknowns(self, text: bool) -> tuple[Any, Any]:
        """Prevalence and the panel's expected pass rate by generator.

        The sampler counts generators in standard deviations from their mean.
        """
        import pymc as pm

        # the generators' mean is learnt, so none is drawn to one half; their spread is not, so
        # an outlying generator is not drawn to the others
        typical = pm.Normal("level_mean", *prior_data("level", self.level))
        spread_of_level = prior_data("level_spread", self.level_spread)[0]
        centre = pm.Normal("bias_mean", *prior_data("bias", self.bias))
        spread = pm.HalfNormal("bias_spread", prior_data("bias_spread", self.bias_spread)[0])
        if text:
            prevalence = logit_normal("prevalence", typical, spread_of_level, "generator")
            level = pm.math.logit(prevalence)
            bias = pm.Normal("bias", centre, spread, dims="generator")
        else:
            level = typical + spread_of_level * pm.Normal("level_own", dims="generator")
            prevalence = pm.Deterministic("prevalence", pm.math.sigmoid(level), dims="generator")
            offset = pm.Normal("bias_own", dims="generator")
            bias = pm.Deterministic("bias", centre + spread * offset, dims="generator")
        passing = pm.Deterministic("pass_rate", pm.math.sigmoid(level + bias), dims="generator")
        return prevalence, passing

    def rests_on_prior(self, ci_prob: float = 0.95) -> Caution:
        """Caution for votes of which no item is labelled.

        Parameters
        ----------
        ci_prob : float, default 0.95
            Probability with which the prior keeps the panel's bias within the odds that it names.

        Returns
        -------
        Caution
            ``rests-on-priors``.
        """
        odds = np.exp(z_score(ci_prob) * np.hypot(self.bias.sd, self.bias_spread))
        return Caution.of("rests-on-priors", "panel", odds=odds)

    def _cautions_of_fit(self, fit: Fit) -> tuple[Caution, ...]:
        unlabelled = not fit.data.is_labelled.any()
        return (*(self.rests_on_prior(),) * unlabelled, *super()._cautions_of_fit(fit))

    def _prior_statistics(self, votes: Votes, rng: np.random.Generator) -> PriorStatistics:
        """Pass rates of the panel, and the bias if labels show it."""
        rate, truth = Summary.of(votes).rate, true_prevalence(votes)
        labelled = np.bincount(votes.generator, votes.count * votes.is_labelled, len(rate)).astype(
            int
        )
        observed: dict[Key, float] = {}
        for i, name in enumerate(votes.generators):
            observed["pass_rate", "generator", name] = float(rate[i])
            if labelled[i]:
                observed["pass_rate - share_good", "generator", name] = float(rate[i] - truth[i])

        def drawn_of(prior: Values) -> dict[Key, np.ndarray]:
            statistics: dict[Key, np.ndarray] = {}
            for i, name in enumerate(votes.generators):
                passed, m = prior["pass_rate"][:, i], int(labelled[i])
                statistics["pass_rate", "generator", name] = passed
                if m:
                    good = rng.binomial(m, prior["prevalence"][:, i]) / m
                    statistics["pass_rate - share_good", "generator", name] = passed - good
            return statistics

        return observed, drawn_of, ()

    def _about_items(self, fit: Fit, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Known truths counted, the others one binomial more."""
        votes: Votes = fit.data
        known = votes.labelled
        prevalence = fit.idata["posterior"]["prevalence"].transpose("chain", "draw", "generator")
        others = rng.binomial(votes.items - known.sum(axis=1), prevalence.to_numpy())
        return {"prevalence": (known[:, 1] + others) / votes.items}


def _observe(summary: Summary, prevalence: Any, passing: Any) -> None:
    """Labels and pass rates of labelled items, and pass rates of the others."""
    import pymc as pm

    def places(dim: str, n: np.ndarray) -> np.ndarray:
        counted = np.flatnonzero(n > 0)
        names = np.asarray(summary.generators)[counted]
        pm.modelcontext(None).add_coord(dim, names)
        return counted

    dim = "labelled_generator"
    known = places(dim, summary.labelled_n)
    if known.size:
        m = summary.labelled_n[known]
        good = summary.labelled_good[known]
        at = pm.Data("generator_of_labels", known.astype("int32"), dims=dim)
        n = pm.Data("labelled_n", m, dims=dim)
        seen = pm.Data("labelled_good_seen", good, dims=dim)
        whole, chance = n.astype("int64"), prevalence[at]
        counted = pm.Binomial("labelled_good", whole, chance, observed=seen, dims=dim)
        slope = pm.Data("slope", np.array(summary.slope))
        error = pm.Data("labelled_error", summary.residual[known] / np.sqrt(m), dims=dim)
        # more good ones among the labelled than expected, more passes
        expected = passing[at] + slope * (counted / n - chance)
        rate = pm.Data("labelled_rate_seen", summary.labelled_rate[known], dims=dim)
        pm.Normal("labelled_rate", expected, error, observed=rate, dims=dim)
    dim = "other_generator"
    other = places(dim, summary.other_n)
    if other.size:
        at = pm.Data("generator_of_others", other.astype("int32"), dims=dim)
        spread = summary.spread[other] / np.sqrt(summary.other_n[other])
        error = pm.Data("other_error", spread, dims=dim)
        rate = pm.Data("other_rate_seen", summary.other_rate[other], dims=dim)
        pm.Normal("other_rate", passing[at], error, observed=rate, dims=dim)
