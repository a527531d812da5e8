"""Dawid-Skene models: each item has a truth, which is summed out, and judges err by truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from scipy.special import logsumexp

from bayesjudge.core.counting import distinct, draw_patterns, weigh_patterns
from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Assumption, Caution
from bayesjudge.core.fit import Fit
from bayesjudge.core.priors import BetaPrior, NormalPrior
from bayesjudge.panel._em import Problem, solve
from bayesjudge.panel._likelihood import draw_votes, log_joint_of, quadrature_change
from bayesjudge.panel._patterns import Patterns
from bayesjudge.panel.checks import (
    BETTER_THAN_CHANCE,
    INDEPENDENT,
    INDEPENDENT_GIVEN_EFFECT,
    SAME_ERRORS,
    subject,
)
from bayesjudge.panel.data import MISSING, Votes
from bayesjudge.panel.label_design import RANDOM_LABELS
from bayesjudge.panel.models._base import PanelModel, beta_data, prior_data

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

#: Log probability of a class that a label rules out: exp of it is 0, and it has a gradient.
RULED_OUT = -1e6
#: Where the sampler looks for a judge who seems no better than chance, as `discrimination` is.
LEAST_DISCRIMINATION = 0.3
#: Judges whose votes are looked up together: of six there are 729 distinct ones at most.
GROUP, MOST_IN_GROUPS = 6, 36
#: With so many judges, of so many votes each, what the votes say of a judge is all but normal.
MANY_JUDGES, MANY_VOTES = 8, 10_000
#: Doubling the nodes must not change the log-likelihood by more than this from draw to draw.
NODE_TOLERANCE = 0.1


@dataclass(frozen=True)
class _LatentTruth(PanelModel):
    """Likelihood of votes by pattern with the truth summed out; rates come from subclasses."""

    _assumptions: ClassVar[tuple[Assumption, ...]] = (
        INDEPENDENT,
        SAME_ERRORS,
        BETTER_THAN_CHANCE,
        RANDOM_LABELS,
    )
    _needs_labels: ClassVar[bool] = False
    _voting: ClassVar[tuple[str, ...]] = ("prevalence", "sensitivity", "specificity")
    #: The log-probability of an item's votes is a sum over judges.
    _independent: ClassVar[bool] = True

    @property
    def _missing(self) -> Literal["skip", "response"]:
        return "skip" if getattr(self, "answering", None) is None else "response"

    @property
    def _nodes(self) -> int | None:
        """Points of the quadrature over a shared effect; None without one."""
        return None

    def _quantities(self, votes: Votes) -> tuple[str, ...]:
        return ("prevalence", "sensitivity", "specificity")

    def _build(self, votes: Votes) -> pm.Model:
        return self._graph(votes, text=True)

    def _graph(self, votes: Votes, text: bool) -> pm.Model:
        """The model of the text, or what NUTS runs instead."""
        import pymc as pm
        import pytensor.tensor as pt

        coords = self._coords(votes) | {"row": np.arange(len(votes.count))}
        coords["judge_vote"] = [f"{j}: {v}" for j in votes.judges for v in coords["vote"]]
        with pm.Model(coords=coords) as model:
            log_share = self._log_shares(votes, text)
            if not votes.design.same_items:
                # their share says nothing: labelled items have a generator of their own, all alike
                nothing = pt.zeros((1, votes.n_classes))
                log_share = pt.concatenate([log_share, nothing])
            observe = self._observe_patterns if text else self._observe_counts
            observe(votes, log_share)
        return model

    def _observe_counts(self, votes: Votes, log_share: Any) -> None:
        """The same density of two classes, whose cost is one logarithm an unlabelled row.

        An unlabelled row has the log-probability of a bad item, plus softplus of the log-odds of a
        good one; a labelled one has that of its class. These are linear in logs of which there are
        few: they are counted once.
        """
        import pymc as pm
        import pytensor.tensor as pt

        generator, unknown = _generator_of(votes), votes.truth == MISSING
        counted = np.eye(2)[np.where(unknown, 0, votes.truth)] * votes.count[:, None]
        by_generator = np.zeros((len(votes.generators) + (not votes.design.same_items), 2))
        np.add.at(by_generator, generator, counted)
        shared = pm.Data("count_by_class", by_generator)
        of_votes, terms = self._observe_judges(votes, counted, unknown)
        pm.Potential("counted", of_votes + (shared * log_share).sum())
        if not unknown.any():
            return
        count = pm.Data("count", votes.count[unknown].astype(float))
        of_generator = pm.Data("generator_of_row", generator[unknown])
        log_odds = (log_share[:, 1] - log_share[:, 0])[of_generator]
        for term in terms:
            log_odds = log_odds + term
        # softplus, with one exponential for it and its slope
        both = pt.log1p(pt.exp(-pt.abs(log_odds))) + pt.maximum(log_odds, 0)
        pm.Potential("items", (count * both).sum())

    def _observe_judges(
        self, votes: Votes, counted: np.ndarray, unknown: np.ndarray
    ) -> tuple[Any, list[Any]]:
        """Log probability of the votes that are counted, and log-odds of rows without a label.

        Log-odds add up over groups of judges, each with few distinct votes.
        """
        import pymc as pm

        given = Problem(votes, self._missing).given
        seen = pm.Data("votes_by_class", given.T @ counted, dims=("judge_vote", "truth"))
        table = _flat_table(self._log_table(votes, text=False))
        good, width = table[:, 1] - table[:, 0], given.shape[1] // len(votes.judges)
        terms = []
        for i, part in enumerate(_groups(len(votes.judges), width) if unknown.any() else ()):
            votes_of_group = given[unknown, part]
            first, at = distinct(votes_of_group.astype(np.int64))
            rows = pm.Data(f"group_{i}_votes", votes_of_group[first])
            of_row = pm.Data(f"group_{i}_of_row", at.astype("int32"))
            terms.append((rows @ good[part])[of_row])
        return (seen * table).sum(), terms

    def _observe_patterns(self, votes: Votes, log_share: Any) -> None:
        """How many items have the votes and label of each row, and how many have any others."""
        import pymc as pm
        import pytensor.tensor as pt

        generator = pm.Data("generator_of_row", _generator_of(votes), dims="row")
        allowed = pm.Data("log_allowed", _log_allowed(votes), dims=("row", "truth"))
        # the same votes on several generators' items, labelled or not, are looked at once
        first, ballot = distinct(votes.votes.astype(np.int64) + 1)
        model = pm.modelcontext(None)
        model.add_coord("ballot", first)
        at_votes = pm.Data("ballot_of_row", ballot.astype("int32"), dims="row")
        given = Problem(votes, self._missing).given[first]
        given = pm.Data("given_votes", given, dims=("ballot", "judge_vote"))
        by_class = self._by_class(votes, given)
        log_p = pt.logsumexp(by_class[at_votes] + log_share[generator] + allowed, axis=1)
        patterns = Patterns.of(votes, self._missing)
        model.add_coord("pattern", patterns.names)
        group = pm.Data("group_of_pattern", patterns.group.astype("int32"), dims="pattern")
        chosen = pm.Data("chosen_share", patterns.chosen, dims="pattern")
        count = pm.Data("count", patterns.count, dims="pattern")
        pm.CustomDist(
            "items",
            pt.concatenate([log_p, pt.zeros(patterns.groups)]),  # others only fill replicates
            *(chosen, group, count),
            logp=weigh_patterns,
            random=draw_patterns,
            signature="(p),(p),(p),(p)->(p)",
            observed=count,
            dims="pattern",
        )

    def _sampling_form(self, votes: Votes) -> pm.Model:
        return self._graph(votes, text=False)

    def _coords(self, votes: Votes) -> dict[str, Any]:
        self._check(votes)
        extra = ("missing",) if self._missing == "response" else ()
        coords: dict[str, Any] = {"generator": votes.generators, "judge": votes.judges}
        return coords | {"truth": votes.classes, "vote": (*votes.classes, *extra)}

    def _uncollapsed(self, votes: Votes) -> pm.Model:
        """One row an item: its truth, which a label tells, and a vote of each judge given it."""
        import pymc as pm
        import pytensor.tensor as pt

        rows = np.repeat(np.arange(len(votes.count)), votes.count)
        truth, codes = votes.truth[rows].astype(int), votes.votes[rows].astype(int)
        if self._missing == "response":
            codes = np.where(codes == MISSING, votes.n_classes, codes)
        item, column = np.nonzero(codes != MISSING)
        sizes = {"unlabelled_item": truth == MISSING, "labelled_item": truth != MISSING}
        coords = {dim: np.flatnonzero(mine) for dim, mine in sizes.items()}
        dims = {"item": np.arange(rows.size), "vote_of_item": np.arange(item.size)}
        with pm.Model(coords={**self._coords(votes), **dims, **coords}) as m:
            share = pt.exp(self._log_shares(votes))[votes.generator[rows]]
            if not votes.design.same_items:  # what share of labelled items is good says nothing
                share = pt.set_subtensor(share[coords["labelled_item"]], 1 / votes.n_classes)
            z = pt.as_tensor(truth)
            for name, (dim, mine) in zip(("item_truth", "item_label"), coords.items(), strict=True):
                if mine.size:
                    seen = truth[mine] if name == "item_label" else None
                    found = pm.Categorical(name, share[mine], observed=seen, dims=dim)
                    z = pt.set_subtensor(z[mine], found)
            judge = votes.judge_of_column[column]
            chance = pt.exp(self._log_responses(votes, judge, z[item], item))
            pm.Categorical("given_vote", chance, observed=codes[item, column], dims="vote_of_item")
        return m

    def _log_responses(self, votes: Votes, judge: Any, truth: Any, item: Any) -> Any:
        """Log probability of each response that a judge can give, to items of some truth."""
        return self._log_table(votes, text=True)[judge, truth]

    def _log_table(self, votes: Votes, text: bool) -> Any:
        """Log probability of a response by judge and truth."""
        raise NotImplementedError

    def _log_shares(self, votes: Votes, text: bool = True) -> Any:
        """Log share of each class by generator."""
        import pymc as pm
        import pytensor.tensor as pt

        prior: Any = self.prevalence  # type: ignore[attr-defined]
        ends = beta_data("prevalence", prior, votes.generators, "generator")
        g = pm.Beta("prevalence", *ends, dims="generator")
        return pt.stack([pt.log1p(-g), pt.log(g)], axis=1)

    def _by_class(self, votes: Votes, given: Any) -> Any:
        """Log probability of each distinct row of votes by class."""
        return given @ _flat_table(self._log_table(votes, text=True))

    def _log_joint(self, votes: Votes, draws: xr.Dataset, rows: np.ndarray) -> Iterator[np.ndarray]:
        return log_joint_of(self, votes, draws, rows)

    def _draw_votes(self, *about: Any) -> np.ndarray:
        return draw_votes(*about)

    def _item_log_likelihood(
        self, votes: Votes, draws: xr.Dataset
    ) -> tuple[xr.DataArray, np.ndarray]:
        """Votes and label of an item of each pattern."""
        import xarray as xr

        every = np.arange(len(votes.count))
        joint = np.stack(list(self._log_joint(votes, draws, every)))
        logs = logsumexp(joint + _log_allowed(votes), axis=2)
        shape = draws.sizes["chain"], draws.sizes["draw"], len(every)
        names = Patterns.of(votes, self._missing).names[: len(every)]
        coords = {"chain": draws.chain, "draw": draws.draw, "pattern": ("kind", names)}
        return xr.DataArray(logs.reshape(shape), coords, ("chain", "draw", "kind")), votes.count


@dataclass(frozen=True)
class PooledDawidSkene(_LatentTruth):
    r"""Judges err independently given the truth, with error rates from a common population.

    A judge has a discrimination and a leniency, on the logit scale,

    .. math:: \operatorname{logit} P(\text{pass} \mid z) = \text{leniency} \pm
        \tfrac12 \text{discrimination},

    plus on good items, minus on bad ones; both are partially pooled over judges:

    .. math:: z_i \sim Bernoulli(g), \quad
        P(v_i \mid z_i) = \prod_j P(v_{ij} \mid z_i), \quad
        \log \text{discrimination}_j \sim N(\mu_d, s_d), \quad
        \text{leniency}_j \sim N(\mu_l, s_l),

    with a Beta prior of each generator's prevalence g, and the unknown truths :math:`z_i` summed
    out. A *spread* is the scale of a half-normal prior of the population's standard deviation.

    Parameters
    ----------
    prevalence : BetaPrior or mapping of str to BetaPrior, default ``BetaPrior()``
        Share of good outputs of each generator; one for all, or one for each by its name.
    discrimination : NormalPrior, default ``NormalPrior(0.7, 0.7)``
        Logarithm of the population's mean discrimination, logit(sensitivity) + logit(specificity):
        exp(0.7), that is 2, is a judge with 0.73 and 0.73. It cannot be negative, so a judge is
        better than chance.
    discrimination_spread : float, default 0.5
        How much the logarithm differs between judges.
    leniency : NormalPrior, default ``NormalPrior(0, 1.5)``
        Half of logit(sensitivity) - logit(specificity) in the population: 0 is neither lenient nor
        severe, 2 is lenient (0.95 and 0.27 at discrimination 2).
    leniency_spread : float, default 1
        How much it differs between judges.
    answering : BetaPrior, optional
        Probability of a vote at all, by judge and truth: a missing vote is then one more response.
        Without it missing votes are left out, which is right if they say nothing about the truth.

    Raises
    ------
    InputError
        If a prior is of another type, or a spread is not positive.

    Notes
    -----
    Variables: ``prevalence`` (generator), ``sensitivity`` and ``specificity`` (judge). Observed:
    ``items`` (pattern), multinomial within items of one generator with votes of the same judges,
    labelled or not; the last patterns stand for votes that no item has. Not collapsed, each item
    has an ``item_truth`` (of `Correlated` also an ``item_effect``) and each vote is a variable.

    References
    ----------
    Dawid & Skene (1979), Appl. Stat. 28, 20-28.

    Examples
    --------
    >>> print(PooledDawidSkene(leniency_spread=0.5).leniency_spread)
    0.5
    """

    _title: ClassVar[str] = "Dawid-Skene"
    _source: ClassVar[str] = "Dawid & Skene (1979), hierarchical, truths summed out"
    #: At .9 now and then a chain stays far out where the judges' spread is large.
    sampling: ClassVar[dict[str, Any]] = {"target_accept": 0.95}

    prevalence: BetaPrior | Mapping[str, BetaPrior] = field(
        default=BetaPrior(), metadata={"by": "generator"}
    )
    discrimination: NormalPrior = NormalPrior(0.7, 0.7)
    discrimination_spread: float = 0.5
    leniency: NormalPrior = NormalPrior(0.0, 1.5)
    leniency_spread: float = 1.0
    answering: BetaPrior | None = None

    def _sampling(self, votes: Votes) -> Mapping[str, Any]:
        """With many judges and votes the posterior is all but normal, and steps may be longer."""
        given = ((votes.votes != MISSING) * votes.count[:, None]).sum(axis=0)
        cast = np.bincount(votes.judge_of_column, given, minlength=len(votes.judges))
        known = self._independent and self.answering is None and len(cast) >= MANY_JUDGES
        return {"target_accept": 0.9} if known and cast.min() >= MANY_VOTES else self.sampling

    def _log_table(self, votes: Votes, text: bool) -> Any:
        import pymc as pm
        import pytensor.tensor as pt

        low, high = _population(votes, self, text)
        _name_rates(pm.math.sigmoid(high), pm.math.sigmoid(-low))
        logits = pt.stack([low, high], axis=1)
        return _log_votes(logits[:, :, None], self.answering)[..., 0]


@dataclass(frozen=True)
class Correlated(PooledDawidSkene):
    r"""Judges share an effect on each item, so that they err together.

    `PooledDawidSkene` with a normal effect on the logits of all judges,

    .. math:: \operatorname{logit} P(v_{ij} = 1 \mid z_i, u_i) =
        \text{leniency}_j \pm \tfrac12 \text{discrimination}_j + \tau_{z_i} u_i, \quad
        u_i \sim N(0, 1), \quad \tau \sim N^+(0, \text{shared effect}),

    integrated out by Gauss-Hermite quadrature.

    Parameters
    ----------
    prevalence : BetaPrior or mapping of str to BetaPrior, default ``BetaPrior()``
        Share of good outputs of each generator.
    discrimination : NormalPrior, default ``NormalPrior(0.7, 0.7)``
        Logarithm of the population's mean discrimination, as in `PooledDawidSkene`.
    discrimination_spread : float, default 0.5
        How much the logarithm differs between judges.
    leniency : NormalPrior, default ``NormalPrior(0, 1.5)``
        The population's mean leniency.
    leniency_spread : float, default 1
        How much it differs between judges.
    answering : BetaPrior, optional
        Probability of a vote at all, as in `PooledDawidSkene`.
    shared_effect : float, default 1.5
        Scale of the half-normal prior of the effect's standard deviation, on bad and on good items.
    nodes : int, default 21
        Points of the quadrature, 5 to 200. They are doubled once after a fit, and a caution says
        if that changes the likelihood.

    Raises
    ------
    InputError
        If a prior is of another type, a spread is not positive, or `nodes` is out of range.

    References
    ----------
    Qu, Tan & Kutner (1996), Biometrics 52, 797-810; Dendukuri & Joseph (2001), Biometrics 57,
    158-167.
    """

    _title: ClassVar[str] = "Dawid-Skene with a shared item effect"
    _source: ClassVar[str] = "Qu, Tan & Kutner (1996); Dendukuri & Joseph (2001)"
    _assumptions: ClassVar[tuple[Assumption, ...]] = (
        INDEPENDENT_GIVEN_EFFECT,
        SAME_ERRORS,
        BETTER_THAN_CHANCE,
        RANDOM_LABELS,
    )
    _independent: ClassVar[bool] = False
    _voting: ClassVar[tuple[str, ...]] = (
        *("prevalence", "discrimination", "leniency", "shared_effect"),
    )

    shared_effect: float = 1.5
    nodes: int = 21

    def __post_init__(self) -> None:
        super().__post_init__()
        with checking("Correlated") as require:
            whole = isinstance(self.nodes, int) and 5 <= self.nodes <= 200
            require(whole, f"nodes={self.nodes!r}, expected 5 to 200")

    @property
    def _nodes(self) -> int:
        return self.nodes

    def _by_class(self, votes: Votes, given: Any) -> Any:
        import pytensor.tensor as pt

        logits = pt.stack(_population(votes, self, text=True), axis=1)
        spread, points, weight = _shared_effect(logits, self)
        log_vote = _log_votes(_at_nodes(logits, spread, points), self.answering)
        k, width = votes.n_classes, len(votes.judges) * log_vote.shape[2]
        table = log_vote.transpose(0, 2, 1, 3).reshape((width, k * self.nodes))
        by_node = pt.dot(given, table).reshape((given.shape[0], k, self.nodes)) + pt.log(weight)
        return pt.logsumexp(by_node, axis=2)

    def _observe_counts(self, votes: Votes, log_share: Any) -> None:
        import pymc as pm
        import pytensor.tensor as pt

        from bayesjudge.panel._marginal import Ballots, VotesByJudges

        judges = _coordinates(votes, self)
        parts = {name: _around_guess(name, *about)[0] for name, about in judges.items()}
        ballots = Ballots.of(votes, self._missing, _generator_of(votes), weighted=True)
        spread, *nodes = _shared_effect(pt.stack(_logits(**parts), axis=1), self)
        verdict = pt.zeros((len(votes.judges), 2, 2))
        answering = _flat_table(_with_answering(verdict, self.answering))
        unknown = [v for about in judges.values() for v in about[:3]]
        guessed = [v for about in judges.values() for v in about[3:]]
        about = *unknown, spread, answering, log_share, *guessed, *nodes, *ballots.data()
        value, *_ = VotesByJudges(2, self.nodes)(*about)
        pm.Potential("items", value)

    def _log_responses(self, votes: Votes, judge: Any, truth: Any, item: Any) -> Any:
        """Each item has an effect of its own."""
        import pymc as pm
        import pytensor.tensor as pt

        logits = pt.stack(_population(votes, self, text=True), axis=1)
        spread, *_ = _shared_effect(logits, self)
        each = _at_nodes(logits, spread, pm.Normal("item_effect", dims="item"))
        return _log_votes(each, self.answering)[judge, truth, :, item]

    def _cautions_of_fit(self, fit: Fit) -> tuple[Caution, ...]:
        change, told = quadrature_change(fit), super()._cautions_of_fit(fit)
        if change <= NODE_TOLERANCE:
            return told
        text = (
            f"with {2 * self.nodes} instead of {self.nodes} nodes the log-likelihood changes from "
            f"draw to draw by {change:.2f} (standard deviation); fit again with "
            f"nodes={2 * self.nodes}"
        )
        return (Caution("too-few-nodes", text), *told)


@dataclass(frozen=True)
class DawidSkene(_LatentTruth):
    r"""Judges err independently given the truth, each with priors of its own.

    With the prevalence :math:`g` of a generator, and sensitivity and specificity of a judge,

    .. math:: z_i \sim Bernoulli(g), \quad
        v_{ij} \mid z_i = 1 \sim Bernoulli(s_j), \quad
        v_{ij} \mid z_i = 0 \sim Bernoulli(1 - c_j),

    all with Beta priors, and :math:`s_j + c_j > 1`. Unknown truths are summed out.

    Parameters
    ----------
    prevalence : BetaPrior or mapping of str to BetaPrior, default ``BetaPrior()``
        Share of good outputs of each generator; one for all, or one for each by its name.
    sensitivity, specificity : BetaPrior or mapping of str to BetaPrior, default ``BetaPrior()``
        Of each judge; one for all, or one for each by its name.
    better_than_chance : bool, default True
        Restrict judges to sensitivity + specificity > 1.
    answering : BetaPrior, optional
        Probability of a vote at all, by judge and truth: a missing vote is then one more response.

    Raises
    ------
    InputError
        If a prior is of another type.

    References
    ----------
    Dawid & Skene (1979), Appl. Stat. 28, 20-28.

    Examples
    --------
    >>> print(DawidSkene(sensitivity=BetaPrior.worth(0.9, 20)).sensitivity)
    Beta(19, 3)
    """

    _title: ClassVar[str] = "Dawid-Skene, separate judges"
    _source: ClassVar[str] = "Dawid & Skene (1979), truths summed out"

    prevalence: BetaPrior | Mapping[str, BetaPrior] = field(
        default=BetaPrior(), metadata={"by": "generator"}
    )
    sensitivity: BetaPrior | Mapping[str, BetaPrior] = field(
        default=BetaPrior(), metadata={"by": "judge"}
    )
    specificity: BetaPrior | Mapping[str, BetaPrior] = field(
        default=BetaPrior(), metadata={"by": "judge"}
    )
    better_than_chance: bool = True
    answering: BetaPrior | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        with checking("DawidSkene") as require:
            value = self.better_than_chance
            require(isinstance(value, bool), f"better_than_chance={value!r}: True or False")

    def _log_table(self, votes: Votes, text: bool) -> Any:
        return _with_answering(_separate_rates(votes, self, text), self.answering)


@dataclass(frozen=True)
class MulticlassDawidSkene(_LatentTruth):
    r"""Dawid and Skene's model of more than two classes: one confusion matrix a judge.

    .. math:: z_i \sim Categorical(\pi_g), \quad
        v_{ij} \mid z_i = k \sim Categorical(C_{jk}), \quad
        \pi_g \sim Dirichlet, \quad C_{jk} \sim Dirichlet.

    Unknown truths are summed out.

    Parameters
    ----------
    share_concentration : float, default 1
        Dirichlet weight of each class in a generator's shares.
    diagonal, off_diagonal : float, default 2 and 1
        Dirichlet weights of a right vote and of each wrong one.
    missing : {"skip", "response"}
        Leave a missing vote out, or let it be one more response that depends on the truth.

    Raises
    ------
    InputError
        If a weight is not positive, or `missing` is unknown.

    Notes
    -----
    Variables: ``share`` (generator, truth) and ``confusion`` (judge, truth, vote).

    References
    ----------
    Dawid & Skene (1979), Appl. Stat. 28, 20-28.
    """

    _voting: ClassVar[tuple[str, ...]] = ()  # it draws no votes of two classes
    _title: ClassVar[str] = "Dawid-Skene"
    _source: ClassVar[str] = "Dawid & Skene (1979), truths summed out"

    share_concentration: float = 1.0
    diagonal: float = 2.0
    off_diagonal: float = 1.0
    missing: Literal["skip", "response"] = "skip"

    def __post_init__(self) -> None:
        super().__post_init__()
        with checking("MulticlassDawidSkene") as require:
            known = self.missing in ("skip", "response")
            require(known, f"missing={self.missing!r}: skip or response")

    @property
    def _missing(self) -> Literal["skip", "response"]:
        return self.missing

    def _quantities(self, votes: Votes) -> tuple[str, ...]:
        return ("share", "confusion")

    def _require_classes(self, votes: Votes, require: Callable[[object, str], None]) -> None:
        require(
            votes.n_classes > 2, "two classes are pass and fail; use PooledDawidSkene or DawidSkene"
        )

    def _log_shares(self, votes: Votes, text: bool = True) -> Any:
        import pymc as pm
        import pytensor.tensor as pt

        flat, dims = np.full(votes.n_classes, self.share_concentration), ("generator", "truth")
        if text:
            weight = pm.Data("share_prior", flat, dims="truth")
            return pt.log(pm.Dirichlet("share", weight, dims=dims))
        from bayesjudge.core.distributions import log_dirichlet

        logs = log_dirichlet("share", flat[None], np.zeros(1, int), len(votes.generators))[:, :, 0]
        pm.Deterministic("share", pt.exp(logs), dims=dims)
        return logs

    def _weights(self, votes: Votes) -> np.ndarray:
        """Dirichlet weights of a judge's votes by truth."""
        k = votes.n_classes
        weights = np.full((k, k + (self.missing == "response")), float(self.off_diagonal))
        np.fill_diagonal(weights, self.diagonal)
        return weights

    def _log_table(self, votes: Votes, text: bool) -> Any:
        import pymc as pm
        import pytensor.tensor as pt

        prior = pm.Data("confusion_prior", self._weights(votes), dims=("truth", "vote"))
        weight = pt.ones((len(votes.judges), 1, 1)) * prior
        return pt.log(pm.Dirichlet("confusion", weight, dims=("judge", "truth", "vote")))

    def _observe_counts(self, votes: Votes, log_share: Any) -> None:
        import pymc as pm
        import pytensor.tensor as pt

        from bayesjudge.core.distributions import log_dirichlet
        from bayesjudge.panel._marginal import Ballots, VotesByClass

        k = votes.n_classes
        logs = log_dirichlet("confusion", self._weights(votes), np.arange(k), len(votes.judges))
        dims = ("judge", "truth", "vote")
        pm.Deterministic("confusion", pt.exp(logs.transpose(0, 2, 1)), dims=dims)
        ballots = Ballots.of(votes, self._missing, _generator_of(votes), weighted=False)
        value, *_ = VotesByClass(k)(logs.reshape((-1, k)), log_share, *ballots.data())
        pm.Potential("items", value)


def _flat_table(table: Any) -> Any:
    """Log probability of a response, (judge and response, truth), of one by judge and truth."""
    judges, k, r = (table.shape[i] for i in range(3))
    return table.transpose(0, 2, 1).reshape((judges * r, k))


def _groups(judges: int, width: int) -> list[slice]:
    """Columns of a few judges each; of all, if there are many, since most then did not vote."""
    each = GROUP if judges <= MOST_IN_GROUPS else judges
    return [slice(i * width, min(i + each, judges) * width) for i in range(0, judges, each)]


def _generator_of(votes: Votes) -> np.ndarray:
    """Of each row; one beyond the last for labels whose shares say nothing."""
    return np.where(subject(votes), votes.generator, len(votes.generators)).astype("int32")


def _log_allowed(votes: Votes) -> np.ndarray:
    """0 for the classes that an item can have, and RULED_OUT for those that its label denies."""
    allowed = np.eye(votes.n_classes)[votes.truth]
    allowed[votes.truth == MISSING] = 1
    return np.where(allowed > 0, 0.0, RULED_OUT)


def _population(votes: Votes, model: PooledDawidSkene, text: bool) -> tuple[Any, Any]:
    """Logits of the probability of a pass, on bad and on good items, by judge."""
    import pymc as pm

    parts = {}
    if text:
        for name in ("discrimination", "leniency"):
            parts[name] = pm.Normal(name, *_mean_and_spread(name, model), dims="judge")
        return _logits(**parts)
    for name, about in _coordinates(votes, model).items():
        parts[name], density = _around_guess(name, *about)
        pm.Potential(f"{name}_density", density)
    return _logits(**parts)


def _logits(discrimination: Any, leniency: Any) -> tuple[Any, Any]:
    import pytensor.tensor as pt

    half = pt.exp(discrimination) / 2
    return leniency - half, leniency + half


def _mean_and_spread(name: str, model: PooledDawidSkene) -> tuple[Any, Any]:
    """Of the population of judges."""
    import pymc as pm

    mean = pm.Normal(f"{name}_mean", *prior_data(f"{name}_mean", getattr(model, name)))
    scale = prior_data(f"{name}_spread", [getattr(model, f"{name}_spread")])[0]
    return mean, pm.HalfNormal(f"{name}_spread", scale)


def _coordinates(votes: Votes, model: PooledDawidSkene) -> dict[str, tuple[Any, ...]]:
    """Mean, spread, the sampler's own coordinate of each judge, and guess with error, by part."""
    import pymc as pm

    found = {}
    for name, guess in _guesses(votes, model).items():
        unknown = _mean_and_spread(name, model)
        at, error = (
            pm.Data(f"{name}_{what}", values, dims="judge")
            for what, values in zip(("guess", "error"), guess, strict=True)
        )
        found[name] = *unknown, pm.Flat(f"{name}_own", dims="judge"), at, error
    return found


def _around_guess(
    name: str, mean: Any, spread: Any, own: Any, at: Any, error: Any
) -> tuple[Any, Any]:
    """Judges for the sampler, counted in standard deviations from what is known of each.

    Were the votes a measurement `at` with standard error `error`, a judge would be normal given
    its population, wherever that is: it is counted from there. Of few votes this is the distance
    from the population's mean, of many that from the guess. With their log-density, which is that
    of the text whatever the guess; only what a step of the sampler is worth depends on it.
    """
    import pymc as pm
    import pytensor.tensor as pt

    square = spread**2 + error**2
    # the judge's distance from the mean, in standard deviations of the population
    far = spread * (at - mean) / square + error / pt.sqrt(square) * own
    density = -(far**2 + pt.log(square)).sum() / 2
    return pm.Deterministic(name, mean + spread * far, dims="judge"), density


def _guesses(votes: Votes, model: PooledDawidSkene) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """What votes say of each judge, and its standard error, about: by expectation-maximisation.

    A vote on an item whose truth is uncertain says little.
    """
    problem = Problem(votes, model._missing)
    posterior = solve(problem, pseudo=1.0, tolerance=1e-6, max_iterations=200).posterior
    sure = (2 * posterior.max(axis=1, keepdims=True) - 1) ** 2
    seen, told = (
        problem.expected_counts(weight)[1][..., :2] + 0.5
        for weight in (posterior, posterior * sure)
    )
    low, high = (np.log(seen[..., 1]) - np.log(seen[..., 0])).T
    error = np.sqrt((1 / told).sum(axis=(1, 2)))
    discrimination = np.maximum(high - low, LEAST_DISCRIMINATION)
    return {
        "discrimination": (np.log(discrimination), error / discrimination),
        "leniency": ((low + high) / 2, error / 2),
    }


def _shared_effect(logits: Any, model: Correlated) -> tuple[Any, Any, Any]:
    """Standard deviation of the shared effect by class; points and weights of its quadrature."""
    import pymc as pm

    points, weights = np.polynomial.hermite_e.hermegauss(model.nodes)
    pm.modelcontext(None).add_coord("node", np.arange(points.size))
    at = pm.Data("nodes", points, dims="node")
    share = pm.Data("node_weights", weights / weights.sum(), dims="node")
    scale = prior_data("shared_effect", [model.shared_effect])[0]
    spread = pm.HalfNormal("shared_effect", scale, dims="truth")
    per_node = _at_nodes(logits, spread, at)
    # products with a vector, since the sampler takes no strided results
    _name_rates(pm.math.sigmoid(per_node[:, 1]) @ share, pm.math.sigmoid(-per_node[:, 0]) @ share)
    return spread, at, share


def _at_nodes(logits: Any, spread: Any, effect: Any) -> Any:
    """Logits of a pass by judge, truth and value of the effect."""
    return logits[:, :, None] + spread[None, :, None] * effect


def _name_rates(sensitivity: Any, specificity: Any) -> None:
    import pymc as pm

    pm.Deterministic("sensitivity", sensitivity, dims="judge")
    pm.Deterministic("specificity", specificity, dims="judge")


def _log_votes(logits: Any, answering: BetaPrior | None) -> Any:
    """Log probability of each response from logits by judge, truth and node."""
    import pytensor.tensor as pt

    # one exponential for both softplus and their slopes
    small = pt.log1p(pt.exp(-pt.abs(logits)))
    table = pt.stack([-pt.maximum(logits, 0) - small, pt.minimum(logits, 0) - small], axis=2)
    return _with_answering(table, answering)


def _with_answering(log_vote: Any, prior: BetaPrior | None) -> Any:
    """Add not voting as a third response, whose probability depends on judge and truth."""
    import pymc as pm
    import pytensor.tensor as pt

    if prior is None:
        return log_vote
    answering = pm.Beta("answering", *prior_data("answering", prior), dims=("judge", "truth"))
    extra = log_vote.ndim - 2  # response, and node if there is one
    there = pt.log(answering).dimshuffle(0, 1, *["x"] * extra)
    absent = pt.log1p(-answering).dimshuffle(0, 1, *["x"] * extra)
    first = log_vote[:, :, :1]
    return pt.concatenate([log_vote + there, pt.zeros_like(first) + absent], axis=2)


def _separate_rates(votes: Votes, model: DawidSkene, text: bool) -> Any:
    """Log probability of fail and pass by judge and truth."""
    import pytensor.tensor as pt

    s, c = _pair(votes, model, text)
    bad, good = [pt.log(c), pt.log1p(-c)], [pt.log1p(-s), pt.log(s)]
    return pt.stack([pt.stack(bad, axis=1), pt.stack(good, axis=1)], axis=1)


def _pair(votes: Votes, model: DawidSkene, text: bool) -> tuple[Any, Any]:
    """Sensitivity and specificity by judge.

    In the sampling form the restriction to judges better than chance is a change of variables: the
    specificity is ``1 - sensitivity * (1 - share)`` with ``share`` in (0, 1), whose Jacobian is the
    sensitivity.
    """
    import pymc as pm
    import pytensor.tensor as pt

    from bayesjudge.core.distributions import pair_above_one

    ends = beta_data("sensitivity", model.sensitivity, votes.judges, "judge")
    alpha, beta = beta_data("specificity", model.specificity, votes.judges, "judge")
    if model.better_than_chance and text:
        return pair_above_one(("sensitivity", "specificity"), (ends, (alpha, beta)), "judge")
    s = pm.Beta("sensitivity", *ends, dims="judge")
    if not model.better_than_chance:
        return s, pm.Beta("specificity", alpha, beta, dims="judge")
    share = pm.Uniform("specificity_share", dims="judge")
    c = pm.Deterministic("specificity", 1 - s * (1 - share), dims="judge")
    log_prior = pm.logp(pm.Beta.dist(alpha, beta), c) + pt.log(s)
    pm.Potential("specificity_prior_density", log_prior.sum())
    return s, c
