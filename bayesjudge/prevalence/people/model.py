"""The model: an item's truth is what nobody saw, and people err as the judge does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.errors import checking, expect
from bayesjudge.core.estimate import Assumption, Caution, Diagnosis
from bayesjudge.core.fit import Fit
from bayesjudge.core.methods import Method
from bayesjudge.core.model import model_of, require_model
from bayesjudge.core.priors import BetaPrior
from bayesjudge.prevalence.cautions import OVERALL
from bayesjudge.prevalence.diagnosis import diagnose
from bayesjudge.prevalence.people.data import PeopleCounts
from bayesjudge.truth.components import Apart, BetaShares, Component, RateErrors
from bayesjudge.truth.importance import BetaPosterior
from bayesjudge.truth.model import LatentTruth, shares_of_items
from bayesjudge.verdicts.table import MISSING, Verdicts

SOURCE = "Dawid & Skene (1979); Hui & Walter (1980); with Beta priors"
#: The share that one of the people, drawn at random, would pass; of all strata together.
SAID, OVERALL_SAID = "people_pass", "overall_people_pass"
#: The share that most of them would pass, of three people or more; half of a tie.
MOST_SAID, OVERALL_MOST_SAID = "most_pass", "overall_most_pass"
EACH, OVERALL_EACH = (SAID, MOST_SAID), (OVERALL_SAID, OVERALL_MOST_SAID)
#: With fewer items that two people labelled, or one settled, the prior tells most of their errors.
FEW_SHARED = 30
#: Cautions of the labels of most people that hold whoever errs.
OF_DESIGN = (
    *("label-shift", "label-selection", "unanswered-labels", "unparsed-verdicts"),
    "inverted-judge",
)
#: Share of good ones among labelled items that the answer is not about: its prior is flat.
OF_LABELLED = "labelled_prevalence"
INDEPENDENT, EFFECTIVE = Assumption.of("people-independent"), Assumption.of("effective-counts")


@dataclass(frozen=True)
class WithOthers(BetaShares):
    """Shares of the groups, and one more each of labelled items that are others."""

    names: ClassVar[Sequence[str]] = ("prevalence", OF_LABELLED)

    def variables(self, text: bool) -> dict[str, Any]:
        """The others' with a flat prior."""
        from bayesjudge.core.distributions import beta_share

        shares = BetaShares(self.prior, self.vary).variables(text)
        return shares | {OF_LABELLED: beta_share(OF_LABELLED, 1, 1, text=text, dims=self.vary.dim)}

    def log_table(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Of fail and pass."""
        each = [values[name] if self.vary.dim else values[name][..., None] for name in self.names]
        good = xp.concatenate(each, axis=-1)
        return xp.stack([xp.log1p(-good), xp.log(good)], axis=-1)


@dataclass(frozen=True)
class PeopleErrors(LatentTruth):
    r"""Each person and the judge err by the truth, independently of each other.

    With the prevalence :math:`\theta`, and a sensitivity :math:`s` and a specificity :math:`c` of
    each person and of the judge, who all are j in

    .. math:: z_i \sim Bernoulli(\theta), \quad
        r_{ij} \mid z_i = 1 \sim Bernoulli(s_j), \quad
        r_{ij} \mid z_i = 0 \sim Bernoulli(1 - c_j), \quad s_j + c_j > 1,

    all with Beta priors; the truths :math:`z_i` are summed out, but for adjudicated ones. It is
    `bayesjudge.panel.DawidSkene` with people among the judges.

    Parameters
    ----------
    prevalence : BetaPrior or mapping of str to BetaPrior, default ``BetaPrior.jeffreys()``
        Share of good outputs; one for all systems, or one for each by its name.
    people : BetaPrior or mapping of str to BetaPrior, default ``BetaPrior.worth(0.95, 20)``
        Sensitivity and specificity of each person: of all, or of each by name.
    sensitivity, specificity : BetaPrior, default ``BetaPrior()``
        Of the judge.
    better_than_chance : bool, default True
        Restrict people and judge to sensitivity + specificity > 1.
    pooling : {"separate", "full"}
        Whether the judge has rates of its own on each system or stratum, or the same on all. People
        have the same.

    Raises
    ------
    InputError
        If a prior is of another type, or `pooling` is unknown.

    Notes
    -----
    Two people and a judge tell all their rates apart; so do a person and a judge with the same
    rates on two systems or more of different prevalence (Hui & Walter 1980). Variables:
    ``prevalence``, ``sensitivity`` and ``specificity`` of people and judge (dim ``judge``), and
    ``people_pass``, the share that one of these people, drawn at random, would pass; of three
    people or more ``most_pass``, the share that most of them would pass, with half of a tie. Labels
    of other items (``"separate"``) have a share of their own, ``labelled_prevalence``, with a flat
    prior; rates of people and judge are the same on both. Labels chosen by what the first person
    said (``"by_truth"``) are such ones too, among which that person's rates are others, with flat
    priors: `people_pass` is about the other people.

    Examples
    --------
    >>> print(PeopleErrors().people)
    Beta(20, 2)
    """

    prevalence: BetaPrior | Mapping[str, BetaPrior] = field(
        default=BetaPrior.jeffreys(), metadata={"by": "system"}
    )
    people: BetaPrior | Mapping[str, BetaPrior] = field(
        default=BetaPrior.worth(0.95, 20), metadata={"by": "person"}
    )
    sensitivity: BetaPrior = BetaPrior()
    specificity: BetaPrior = BetaPrior()
    better_than_chance: bool = True
    pooling: Literal["separate", "full"] = "separate"

    _source: ClassVar[str] = SOURCE

    def __post_init__(self) -> None:
        super().__post_init__()
        known = self.pooling in ("separate", "full")
        expect("PeopleErrors", known, f"pooling={self.pooling!r}: separate or full")

    @property
    def _method(self) -> Method:
        return methods.NUTS_PEOPLE

    def _suits(self, counts: PeopleCounts, require: Any) -> None:
        """Note why the model cannot be had from these counts."""
        self._require_priors(require, system=counts.systems or (), person=counts.unchosen)

    def _unread(self, data: PeopleCounts) -> tuple[str, ...]:
        return () if data.systems else ("pooling",)

    def _table(self, data: PeopleCounts) -> Verdicts:
        """A column for each person, and one for the judge on each system if it errs apart.

        Labelled items that are others are groups of their own, of which labels are a sample.
        """
        table, groups = data.verdicts, data.systems or ()
        system = table.group[:, None]
        if not data.design.same_items:
            table = replace(
                table,
                group=table.group + len(table.groups) * data.has_label,
                groups=(*(groups or ("items",)), *(f"labelled {x}" for x in groups or ("items",))),
                calibration="random",
                unparsed=0,
            )
        if self.pooling == "full" or not groups:
            return table
        verdicts = np.where(system == np.arange(len(groups)), data.verdict[:, None], MISSING)
        return replace(
            table,
            response=np.column_stack([data.labels, verdicts]),
            judges=(*data.people, *(f"{data.judge} on {name}" for name in groups)),
            judge_of_column=None,
            unparsed=0,
        )

    def _prior_of(self, data: PeopleCounts, judge: str, rate: str) -> BetaPrior:
        if judge not in data.people:
            prior: BetaPrior = getattr(self, rate)
            return prior
        if judge not in data.unchosen:  # among the labelled items any rates can be
            return BetaPrior()
        return self.people[judge] if isinstance(self.people, Mapping) else self.people

    def _priors(self, data: PeopleCounts, rate: str) -> dict[str, BetaPrior]:
        return {name: self._prior_of(data, name, rate) for name in self._table(data).judges}

    def _dim(self, data: PeopleCounts) -> str | None:
        return None if data.systems is None else data.dim

    def _shares(self, data: PeopleCounts) -> Component:
        shares = BetaShares if data.design.same_items else WithOthers
        return shares(self.prevalence, Apart(self._dim(data)))

    def _errors(self, data: PeopleCounts) -> Component:
        hit, right = (self._priors(data, name) for name in ("sensitivity", "specificity"))
        return RateErrors(hit, right, self.better_than_chance, Apart("judge"), "judge")

    def _coords(self, data: PeopleCounts) -> dict[str, Any]:
        groups = {} if data.systems is None else {data.dim: data.systems}
        return groups | {"judge": self._table(data).judges, "truth": (0, 1)}

    def _derived(self, data: PeopleCounts, values: Mapping[str, Any], xp: Any) -> dict[str, Any]:
        """What people would say, and of strata the weighed sums, of variables or of draws."""
        at = [self._table(data).judges.index(name) for name in data.unchosen]
        good = values["prevalence"][..., None]
        hit, right = (values[name][..., at] for name in ("sensitivity", "specificity"))
        if data.systems is not None:  # one row of rates for all systems
            hit, right = hit[..., None, :], right[..., None, :]
        said = {SAID: (good * hit + (1 - good) * (1 - right)).mean(axis=-1)}
        if data.has_most:
            of_good, of_bad = (most_of(rates, len(at), xp) for rates in (hit, 1 - right))
            said[MOST_SAID] = good[..., 0] * of_good + (1 - good[..., 0]) * of_bad
        if not data.adds_up:
            return said
        each = {"prevalence": values["prevalence"], **said}
        sums = {name: (share * data.shares).sum(axis=-1) for name, share in each.items()}
        return said | {f"overall_{name}": total for name, total in sums.items()}

    def _derive(self, data: PeopleCounts, values: Mapping[str, Any]) -> None:
        import pymc as pm
        import pytensor.tensor as pt

        for name, value in self._derived(data, values, pt).items():
            pm.Deterministic(name, value, dims=self._dim(data) if name in EACH else None)

    def _quantities(self, data: PeopleCounts) -> tuple[str, ...]:
        said = EACH if data.has_most else EACH[:1]
        whole = (OVERALL, *OVERALL_EACH[: len(said)]) if data.adds_up else ()
        return (*whole, "prevalence", *said, "sensitivity", "specificity")

    def _about_items(self, fit: Fit, rng: np.random.Generator) -> dict[str, np.ndarray]:
        drawn = self._drawn_truths(fit, rng)[..., : len(fit.data.verdicts.groups), :]
        by_name = shares_of_items(fit.data, drawn)
        return {name: share[..., 1] for name, share in by_name.items()}

    def _posterior(self, data: PeopleCounts) -> BetaPosterior:
        """The density that `exact` weighs, of the same likelihood."""
        names = data.systems or ("",)
        prior = self.prevalence
        shares = [prior[name] if isinstance(prior, Mapping) else prior for name in names]
        shares += [BetaPrior()] * (0 if data.design.same_items else len(names))
        rates = (self._priors(data, name).values() for name in ("sensitivity", "specificity"))
        first, hit, right = (np.array([*map(tuple, part)], float) for part in (shares, *rates))
        table, above, effects = self._table(data), self.better_than_chance, data.design_effects
        return BetaPosterior(table, first, hit, right, above, effects)

    def _refused(self, data: PeopleCounts, error: Exception) -> Caution:
        """Why there is no number: the judge's rates in each group, if there are many of them."""
        if self.pooling == "full" or data.systems is None:
            return Caution.of("no-quadrature", "people", error=error)
        unknowns = len(data.systems) + 2 * len(self._table(data).judges)
        about: dict[str, Any] = {"kind": data.kind, "unknowns": unknowns, "error": error}
        return Caution.of("no-quadrature", "people-by-group", **about)

    def _diagnosis(self, data: PeopleCounts) -> Diagnosis:
        assumptions, cautions = diagnose(data.most)
        kept = tuple(caution for caution in cautions if caution.id in OF_DESIGN)
        others = not data.design.same_items
        assumed = [
            assumption for assumption in assumptions if others or assumption.id != "same-judge"
        ]
        assumed += [EFFECTIVE] if data.design_effects is not None else []
        if data.unchosen != data.people:
            assumed += [Assumption.of("people-identified", "chosen", person=data.people[0])]
        return (*assumed, INDEPENDENT, self._identified(data)), (*_few(data), *kept)

    def _identified(self, data: PeopleCounts) -> Assumption:
        """What tells people's errors apart from the judge's and the share."""
        if data.checked_n:
            return Assumption.of("people-identified", "people")
        if self.pooling == "full" and data.dim == "system" and data.systems is not None:
            return Assumption.of("people-identified", "systems")
        return Assumption.of("people-identified", "prior", prior=str(self.people))


def most_of(rates: Any, people: int, xp: Any) -> Any:
    """Probability that most of some people say pass, of how often each does; with half of a tie.

    The number of passes of independent people has a Poisson-binomial distribution, which grows by a
    person at a time.
    """
    chance = xp.ones_like(rates[..., :1])
    for i in range(people):
        rate, none = rates[..., i : i + 1], xp.zeros_like(chance[..., :1])
        more, same = (xp.concatenate(x, axis=-1) for x in ((none, chance), (chance, none)))
        chance = more * rate + same * (1 - rate)
    passes = np.arange(people + 1)
    return (chance * np.where(2 * passes == people, 0.5, 2 * passes > people)).sum(axis=-1)


def _few(data: PeopleCounts) -> Iterator[Caution]:
    """Say so if few items have labels of two people, they agree by chance, or a system has none."""
    if data.checked_n < FEW_SHARED:
        yield Caution.of("few-shared-labels", n=data.checked_n)
    pairs, agree = data.pairs
    if pairs and 2 * agree <= pairs:
        yield Caution.of("people-disagree", share=agree / pairs, n=data.shared_n)
    for group, place in enumerate(data.places):
        if not data.has_label[data.verdicts.group == group].any():
            yield Caution.of("no-labels", "counts", place=place)


@model_of.register(PeopleCounts)
def suited(counts: PeopleCounts, model: PeopleErrors | None, subject: str) -> PeopleErrors:
    """The model, or the default one; an error if the counts do not suit it."""
    require_model(PeopleCounts, model, subject)
    model = PeopleErrors() if model is None else model
    with checking(subject) as require:
        sampled = subject in ("fit", "build_model") and counts.design_effects is not None
        require(not sampled, "rows that share items: `exact` weighs them; no model has their items")
        model._suits(counts, require)
    return model
