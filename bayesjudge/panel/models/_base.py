"""What the models of a panel share: how each is named, checked and given its priors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

import numpy as np

from bayesjudge.core.errors import Require, checking
from bayesjudge.core.estimate import Assumption, Caution, Diagnosis
from bayesjudge.core.fit import Fit
from bayesjudge.core.label_design import Identified
from bayesjudge.core.methods import Method
from bayesjudge.core.model import BayesianModel
from bayesjudge.core.prior_check import Key
from bayesjudge.core.priors import NormalPrior
from bayesjudge.panel.checks import against_labels, check_assumptions, require_identified
from bayesjudge.panel.data import MISSING, Votes

Values = Mapping[str, np.ndarray]
#: Statistics of votes, what they are of draws from the priors, and observed variables to draw.
PriorStatistics = tuple[
    dict[Key, float], Callable[[Values], Mapping[Key, np.ndarray]], tuple[str, ...]
]


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
    #: Whether judges err independently given the truth: then rates alone say what they are worth.
    _independent: ClassVar[bool] = False
    #: Whether the chance of a truth given votes was learnt from labels, not from agreement.
    _labels_tell_chances: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        with checking(type(self).__name__) as require:
            for field in fields(self):
                value, name = getattr(self, field.name), field.name
                if field.type == "NormalPrior":
                    is_prior = isinstance(value, NormalPrior)
                    example = (
                        f"NormalPrior({value!r}, 1)" if _number(value) else "NormalPrior(0, 1)"
                    )
                    require(is_prior, f"{name} expected a NormalPrior, got {value!r}; {example}")
                if field.type == "float":
                    positive = _number(value) and 0 < value < float("inf")
                    require(positive, f"{name} expected a positive number, got {value!r}")

    def _quantities(self, votes: Votes) -> tuple[str, ...]:
        """Variables of the posterior that answer the question."""
        return ("prevalence",)

    def _method_by(self, computed: Literal["laplace", "sampled"]) -> Method:
        """The model's posterior, approximated or sampled."""
        how = {"laplace": "Laplace", "sampled": "NUTS"}[computed]
        kind = type(self).__name__
        return Method(f"{kind}:{computed}", f"{self._title} ({how})", computed=computed)

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
                "nothing-to-learn-from",
            )
        if self._learns_from is not None:
            require_identified(votes, self._learns_from, f"panel.{type(self).__name__}")

    def _require_classes(self, votes: Votes, require: Require) -> None:
        require(
            votes.n_classes == 2,
            f"needs pass and fail, got {votes.n_classes} classes; use MulticlassDawidSkene, or say "
            "which class passes (pass_value=)",
        )

    def _prior_statistics(self, votes: Votes, rng: np.random.Generator) -> PriorStatistics | None:
        """What `check_prior` compares, if it is not votes: None draws votes item by item."""
        return None


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
