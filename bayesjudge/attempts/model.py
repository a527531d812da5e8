"""The model: tasks differ in success, agents share their difficulty, a judge's errors persist."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from bayesjudge.attempts._likelihood import (
    OF_PEOPLE,
    SAID,
    UNPARSED,
    Tasks,
    by_pattern,
    chances,
    said_by_people,
)
from bayesjudge.attempts.closed_form import CHANCES, INDEPENDENT_TASKS, few_attempts, left_out
from bayesjudge.attempts.data import Attempts
from bayesjudge.core import methods
from bayesjudge.core.errors import Require, expect
from bayesjudge.core.estimate import Assumption, Caution, Diagnosis
from bayesjudge.core.model import BayesianModel, with_default
from bayesjudge.core.priors import BetaPrior

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

SOURCE = "Beta-binomial tasks; Vasicek (2002) for what agents share"
BETA_TASKS = Assumption.of("beta-tasks")
PERSISTENCE = Assumption.of("persistent-errors")
OTHER_AGENTS = Assumption.of("independent-agents")
UNPARSED_ALONE = Assumption.of("unparsed-alone")
OF_ERRORS = (Assumption.of("people-independent"), Assumption.of("people-identified", "people"))


def _one_each() -> Any:
    return field(default=BetaPrior(), metadata={"by": "system"})


@dataclass(frozen=True)
class PersistentErrors(BayesianModel):
    r"""Tasks differ in how often an agent succeeds, and the judge's errors persist on a task.

    Agent s succeeds in an attempt at task i with probability

    .. math:: p_{is} \sim Beta(m_{is} \kappa_s, (1 - m_{is}) \kappa_s), \qquad
              m_{is} = \Phi\Big(\frac{\Phi^{-1}(\theta_s) + \sqrt\lambda z_i}{\sqrt{1 - \lambda}}
              \Big), \quad z_i \sim N(0, 1):

    but that a share :math:`\alpha_s` of its successes is at tasks that it does always, and a share
    :math:`\nu_s` of its failures at tasks that it does never: a task is of these with probability
    :math:`\alpha_s m_{is}` and :math:`\nu_s (1 - m_{is})`, and the Beta distribution of the others
    has the mean that leaves :math:`m_{is}` in all. :math:`\theta_s` is its pass@1,
    :math:`1/(1 + \kappa_s)` the correlation of two attempts at one of the others if the difficulty
    :math:`z_i` is given, and :math:`\lambda` how far agents share the difficulty;
    of agents without common tasks :math:`m_{is} = \theta_s`. The judge passes good attempts with
    its sensitivity and fails bad ones with its specificity: with probability :math:`1 - \psi` each
    by itself, and with probability :math:`\psi`, the persistence, all good attempts at the task
    alike and all bad ones alike. If attempts without a verdict are one more state
    (``unparsed="verdict"``), each lacks it by itself, with a probability given its truth, and the
    judge's rates are those of attempts that have one. Several people pass good attempts and fail
    bad ones with rates of their own, each attempt by itself. Truths and tasks are summed out.

    Parameters
    ----------
    prevalence : BetaPrior or mapping of str to BetaPrior, default ``BetaPrior()``
        Of each agent's pass@1.
    sensitivity, specificity : BetaPrior or mapping of str to BetaPrior, default ``BetaPrior()``
        Of the judge's rates on each agent's attempts.
    persistence : BetaPrior, default ``BetaPrior()``
        Of the probability that errors on a task are one draw. Two labelled attempts at one task
        tell it; without, the prior's width is the answer's.
    task_correlation : BetaPrior, default ``BetaPrior()``
        Of the correlation of two attempts at one task, of those that are not done always or never.
    always, never : BetaPrior, default ``BetaPrior()``
        Of the share of an agent's successes at tasks that it does always, and of its failures at
        tasks that it does never. Tasks tried three times or more tell them.
    shared_difficulty : BetaPrior, default ``BetaPrior()``
        Of the share of the latent difficulty that agents have in common.
    unparsed : BetaPrior, default ``BetaPrior()``
        Of the probabilities that a good, and that a bad, attempt gets no verdict.
    people : BetaPrior or mapping of str to BetaPrior, default ``BetaPrior.worth(0.95, 20)``
        Of the sensitivity and the specificity of each of several people, if labels are theirs.
    pooling : {"separate", "full"}, default "separate"
        Whether the judge has rates of its own for each agent, or the same for all.

    Raises
    ------
    InputError
        If a prior is of another type, or `pooling` is unknown.

    Notes
    -----
    Variables: ``prevalence``, ``task_correlation``, ``always`` and ``never`` (dim ``system`` of
    several agents), ``sensitivity``, ``specificity``, ``persistence``, ``shared_difficulty`` of
    agents with common tasks, ``unparsed_good`` and ``unparsed_bad`` if attempts lack a verdict,
    ``person_sensitivity`` and ``person_specificity`` (dim ``person``) of several people, and,
    derived, ``pass_at_k`` and ``pass_hat_k`` by agent and ``k``, and ``people_pass``, the share of
    attempts that one of several people, drawn at random, would pass. Rates are those of a judge
    better than chance: sensitivity + specificity > 1. `bayesjudge.attempts.exact` has the same
    posterior without sampling.

    Examples
    --------
    >>> print(PersistentErrors(persistence=BetaPrior(1, 9)).persistence)
    Beta(1, 9)
    """

    prevalence: BetaPrior | Mapping[str, BetaPrior] = _one_each()
    sensitivity: BetaPrior | Mapping[str, BetaPrior] = _one_each()
    specificity: BetaPrior | Mapping[str, BetaPrior] = _one_each()
    persistence: BetaPrior = BetaPrior()
    task_correlation: BetaPrior = BetaPrior()
    always: BetaPrior = BetaPrior()
    never: BetaPrior = BetaPrior()
    shared_difficulty: BetaPrior = BetaPrior()
    unparsed: BetaPrior = BetaPrior()
    people: BetaPrior | Mapping[str, BetaPrior] = field(
        default=BetaPrior.worth(0.95, 20), metadata={"by": "person"}
    )
    pooling: Literal["separate", "full"] = "separate"

    _method = methods.NUTS_ATTEMPTS
    _source: ClassVar[str] = SOURCE

    def __post_init__(self) -> None:
        super().__post_init__()
        known = self.pooling in ("separate", "full")
        expect("PersistentErrors", known, "must be 'separate' or 'full'", pooling=self.pooling)

    def _suits(self, data: Attempts, require: Require) -> None:
        self._require_priors(require, system=data.systems, person=data.people)
        for name in ("sensitivity", "specificity") if self.pooling == "full" else ():
            require(isinstance(getattr(self, name), BetaPrior), "one-prior", name=name)

    def _unread(self, data: Attempts) -> Collection[str]:
        read = {
            "pooling": len(data.systems) > 1,
            "shared_difficulty": data.paired,
            "unparsed": data.unparsed is not None,
            "people": bool(data.people),
        }
        return tuple(name for name, there in read.items() if not there)

    def _quantities(self, data: Attempts) -> tuple[str, ...]:
        return (*CHANCES, *((SAID, *OF_PEOPLE) if data.people else ()))

    def _diagnosis(self, data: Attempts) -> Diagnosis:
        assumed = [INDEPENDENT_TASKS, BETA_TASKS]
        assumed += [data.design.assumption, PERSISTENCE] if data.judged else []
        assumed += [OTHER_AGENTS] if data.judged and data.paired else []
        assumed += [] if data.unparsed is None else [UNPARSED_ALONE]
        assumed += list(OF_ERRORS) if data.people else []
        cautions = [*left_out(data)]
        if (data.tries.max(axis=0) < max(data.k)).any():
            cautions.append(few_attempts(data))
        if data.judged and not data.labelled_twice:
            cautions.append(Caution.of("persistence-unknown", "prior", prior=self.persistence))
        return tuple(assumed), tuple(cautions)

    def _prior_of(self, name: str, data: Attempts) -> np.ndarray:
        """Both parameters of a prior, a row for each agent, or person, or one for all."""
        given = getattr(self, name)
        names = data.people if name == "people" else data.systems
        shared = self.pooling == "full" and name not in ("prevalence", "people")
        if not isinstance(given, Mapping):
            return np.array([tuple(given)] * (1 if shared else len(names)))
        return np.array([tuple(given[s]) for s in names])

    def _build(self, data: Attempts) -> pm.Model:
        import pymc as pm
        import pytensor.tensor as pt

        from bayesjudge.truth.components import Apart, BetaShares, RateErrors, prior_data
        from bayesjudge.truth.likelihood import observe_counts

        expect("PersistentErrors", data.can_be_weighed, "many-tasks", tasks=len(data.tasks))
        dim = "system" if len(data.systems) > 1 else None
        rates = self.sensitivity, self.specificity, True
        tells = data.design.same_items
        tasks = Tasks.of_cells(data.states, tells, data.kinds)
        coords = ({"system": data.systems} if dim else {}) | (
            {"person": data.people} if data.people else {}
        )
        with pm.Model(coords=coords) as model:
            values = BetaShares(self.prevalence, Apart(dim)).variables(text=True)
            by = None if self.pooling == "full" else dim
            values |= RateErrors(*rates, Apart(by)).variables(text=True)
            more = "persistence", *("shared_difficulty",) * data.paired
            for name in (*OF_SYSTEM[1:], *more):
                dims = dim if name in OF_SYSTEM else None
                prior = prior_data(name, getattr(self, name))
                values[name] = pm.Beta(name, *prior, dims=dims)
            for name in () if data.unparsed is None else UNPARSED:
                values |= {name: pm.Beta(name, *prior_data(name, self.unparsed), dims=by)}
            for name in OF_PEOPLE if data.people else ():
                prior = prior_data(name, self.people, "person")
                values |= {name: pm.Beta(name, *prior, dims="person")}
            by_agent = pt.ones((1, len(data.systems)))
            rows = {
                name: value[None] if name in (*more, *OF_PEOPLE) else value * by_agent
                for name, value in values.items()
            }
            log_p = by_pattern(tasks, rows, pt, _held)[0]
            observe_counts("tasks", log_p, *tasks.replicable(tells))
        return model

    def _with_derived(self, data: Attempts, draws: xr.Dataset) -> xr.Dataset:
        several = len(data.systems) > 1
        read = {*OF_SYSTEM, "shared_difficulty", *OF_PEOPLE} & {*draws.data_vars}
        stacked = draws[[*read]].stack(sample=("chain", "draw")).transpose("sample", ...)
        flat = {name: stacked[name].to_numpy() for name in map(str, read)}
        flat |= {} if several else {name: flat[name][:, None] for name in OF_SYSTEM}
        shape = draws.sizes["chain"], draws.sizes["draw"]
        dims = ("chain", "draw", *(("system",) if several else ()))
        shares = {
            name: ((*dims, "k"), share)
            for name, share in zip(CHANCES, chances(flat, tuple(data.k)), strict=True)
        }
        shares |= {SAID: (dims, said_by_people(flat))} if data.people else {}
        derived = {}
        for name, (axes, share) in shares.items():
            kept = share if several else share[:, 0]
            derived[name] = (axes, kept.reshape(*shape, *kept.shape[1:]))
        return draws.assign_coords(k=list(data.k)).assign(derived)


def _held(name: str, array: np.ndarray, *dims: str) -> Any:
    """Data of the graph, whose axes are numbered."""
    import pymc as pm

    model = pm.modelcontext(None)
    model.add_coords({dim: np.arange(size) for dim, size in zip(dims, array.shape, strict=True)})
    return pm.Data(name, array, dims=dims)


#: Variables with a value for each agent.
OF_SYSTEM = ("prevalence", "task_correlation", "always", "never")


suited = with_default(Attempts, lambda attempts: PersistentErrors())
