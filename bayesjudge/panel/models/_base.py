"""What the models of a panel share: how each is named, checked and given its priors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from scipy.special import logsumexp

from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Assumption, Caution, Diagnosis
from bayesjudge.core.fit import Fit
from bayesjudge.core.label_design import Identified
from bayesjudge.core.methods import Method
from bayesjudge.core.model import BayesianModel
from bayesjudge.core.priors import BetaPrior, NormalPrior
from bayesjudge.panel._likelihood import some_draws
from bayesjudge.panel.checks import against_labels, check_assumptions, require_identified, subject
from bayesjudge.panel.data import MISSING, Votes

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class PanelModel(BayesianModel):
    """A model of a panel: its fields are its priors, the rest says what it answers and assumes.

    A model of your own is a frozen data class on top of it; ``docs/extend.md`` has one.

    Raises
    ------
    InputError
        If a prior is of another type, or a spread is not positive.
    """

    _title: ClassVar[str]
    _assumptions: ClassVar[tuple[Assumption, ...]]
    _needs_labels: ClassVar[bool] = True
    _learns_from: ClassVar[Identified | None] = None  # what it needs the labels to tell
    #: What one draw of `_draw_votes` takes, by the names of the posterior.
    _voting: ClassVar[tuple[str, ...]] = ()
    #: Whether judges err independently given the truth: then rates alone say what they are worth.
    _independent: ClassVar[bool] = False
    #: Whether the chance of a truth given votes was learnt from labels, not from agreement.
    _labels_tell_chances: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        with checking(type(self).__name__) as require:
            for one in fields(self):
                value, name = getattr(self, one.name), one.name
                if one.type == "NormalPrior":
                    is_prior = isinstance(value, NormalPrior)
                    example = (
                        f"NormalPrior({value!r}, 1)" if _number(value) else "NormalPrior(0, 1)"
                    )
                    require(is_prior, f"{name} expected a NormalPrior, got {value!r}; {example}")
                if one.type == "float":
                    positive = _number(value) and 0 < value < float("inf")
                    require(positive, f"{name} expected a positive number, got {value!r}")

    def _quantities(self, votes: Votes) -> tuple[str, ...]:
        """Variables of the posterior that answer the question."""
        return ("prevalence",)

    def _method_by(self, computed: Literal["laplace", "sampled"]) -> Method:
        """The model's posterior, approximated or sampled."""
        how = {"laplace": "Laplace", "sampled": "NUTS"}[computed]
        own = type(self).__name__
        return Method(f"{own}:{computed}", f"{self._title} ({how})", computed=computed)

    @property
    def _method(self) -> Method:
        return self._method_by("sampled")

    def _diagnosis(self, votes: Votes) -> Diagnosis:
        return check_assumptions(votes, *self._assumptions)

    def _cautions_of_fit(self, fit: Fit) -> tuple[Caution, ...]:
        """What its shares say against the labels."""
        if fit.data.n_classes > 2:
            return ()
        return tuple(against_labels(fit.data, fit.estimate().quantities["prevalence"]))

    def _check(self, votes: Votes) -> None:
        """Refuse votes that the model is not for."""
        with checking(f"panel.{type(self).__name__}") as require:
            self._require_classes(votes, require)
            require(
                not self._needs_labels or (votes.truth != MISSING).any(),
                "learns from labelled items, and there are none; label some",
            )
        if self._learns_from is not None:
            require_identified(votes, self._learns_from, f"panel.{type(self).__name__}")

    def _require_classes(self, votes: Votes, require: Callable[[object, str], None]) -> None:
        require(
            votes.n_classes == 2,
            f"needs pass and fail, got {votes.n_classes} classes; use MulticlassDawidSkene, or say "
            "which class passes (pass_value=)",
        )

    # What consensus, loo, label_next, dependence_check and cross_validate ask of a model ----------

    def _log_joint(self, votes: Votes, draws: xr.Dataset, rows: np.ndarray) -> Iterator[np.ndarray]:
        """Log probability of votes and class of some patterns: (n_rows, n_classes) for each draw.

        Of the votes alone where the labelled items' classes say nothing.
        """
        raise NotImplementedError

    def _truth_given_votes(self, votes: Votes, draws: xr.Dataset, rows: np.ndarray) -> np.ndarray:
        """Probability of each class of some patterns, shape (n_draws, n_rows, n_classes)."""
        joint = np.stack(list(self._log_joint(votes, draws, rows)))
        return np.exp(joint - logsumexp(joint, axis=2, keepdims=True))

    def _draw_votes(
        self,
        draw: Mapping[str, np.ndarray],
        given: np.ndarray,
        truth: np.ndarray,
        generator: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Votes anew for the same items, with the same votes missing, by one draw of `_voting`."""
        raise NotImplementedError

    def _about_items(self, fit: Fit, rng: np.random.Generator) -> dict[str, np.ndarray] | None:
        """Known truths counted, the others drawn given their items' votes."""
        if not self._knows("_log_joint"):
            return None
        votes: Votes = fit.data
        known, unknown = votes.labelled, np.flatnonzero(votes.truth == MISSING)
        posterior = fit.idata["posterior"]
        chains, draws = posterior.sizes["chain"], posterior.sizes["draw"]
        found = np.empty((chains * draws, *known.shape))
        for s, joint in enumerate(self._log_joint(votes, some_draws(fit), unknown)):
            chance = np.exp(joint - joint.max(axis=1, keepdims=True))
            chance /= chance.sum(axis=1, keepdims=True)
            drawn = rng.multinomial(votes.count[unknown], chance)
            found[s] = known if votes.design.same_items else 0
            np.add.at(found[s], votes.generator[unknown], drawn)
        items = np.bincount(votes.generator, votes.count * subject(votes), len(votes.generators))
        with np.errstate(invalid="ignore"):  # no items, no share of them
            found = found.reshape(chains, draws, *known.shape) / items[:, None]
        return {"prevalence": found[..., 1]} if votes.n_classes == 2 else {"share": found}

    @classmethod
    def _knows(cls, method: str) -> bool:
        """Whether a class says what the base class asks of it."""
        return getattr(cls, method) is not getattr(PanelModel, method)

    @property
    def _says_truths(self) -> bool:
        """Whether it says what is true of an item, given its votes."""
        return self._knows("_log_joint") or self._knows("_truth_given_votes")


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


#: The dimension of a prior's parameters, by how many there are.
PARAMETERS: dict[int, tuple[str, tuple[str, ...]]] = {
    1: ("scale", ("scale",)),
    2: ("parameter", ("first", "second")),
}


def prior_data(name: str, values: Any) -> tuple[Any, ...]:
    """Parameters of a prior as data, so that other priors need no other compilation."""
    import pymc as pm

    numbers = np.asarray(tuple(values), dtype=float)
    dim, labels = PARAMETERS[numbers.size]
    pm.modelcontext(None).add_coord(dim, labels)
    data = pm.Data(f"{name}_prior", numbers, dims=dim)
    return tuple(data[i] for i in range(numbers.size))


def logit_normal(name: str, centre: Any, spread: Any, dim: str) -> Any:
    """A share whose logit is normal."""
    import pymc as pm

    unbounded = pm.distributions.transforms.logodds  # which PyMC leaves out for this one
    return pm.LogitNormal(name, centre, spread, dims=dim, default_transform=unbounded)


def beta_data(
    name: str, prior: BetaPrior | Mapping[str, BetaPrior], names: Sequence[str], dim: str
) -> tuple[Any, Any]:
    """Parameters of a Beta prior as data, one entry a name."""
    import pymc as pm

    if isinstance(prior, Mapping):
        with checking(f"prior of {name}") as require:
            missing = [one for one in names if one not in prior]
            unknown = [one for one in prior if one not in names]
            require(not missing, f"no prior for {dim} {missing[:3]}; give one for each {dim}")
            require(not unknown, f"no {dim} is called {unknown[:3]}; there are {list(names)}")
        each = [prior[one] for one in names]
    else:
        each = [prior] * len(names)
    alpha, beta = np.array([tuple(one) for one in each], dtype=float).T
    return pm.Data(f"{name}_alpha", alpha, dims=dim), pm.Data(f"{name}_beta", beta, dims=dim)
