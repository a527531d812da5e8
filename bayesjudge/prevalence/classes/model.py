"""Models of several classes: shares, confusions and predictive shares with Dirichlet priors."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Assumption, Diagnosis
from bayesjudge.core.fit import Fit
from bayesjudge.core.model import with_default
from bayesjudge.prevalence.cautions import OVERALL
from bayesjudge.prevalence.classes.data import SOURCE, ClassCounts
from bayesjudge.prevalence.diagnosis import diagnose
from bayesjudge.truth.components import (
    Component,
    DirichletRows,
    PredictiveClasses,
)
from bayesjudge.truth.likelihood import multinomial, observe_given_truth
from bayesjudge.truth.model import OneJudge, shares_of_items, stratum_shares


@dataclass(frozen=True)
class _ClassModel(OneJudge):
    """What the models of several classes have in common."""

    #: Shares of cells without an item have a long tail towards 0 on the scale of the sampler.
    sampling: ClassVar[Mapping[str, Any]] = {"draws": 2000}
    _method = methods.NUTS_CLASSES
    _source: ClassVar[str] = SOURCE

    def __post_init__(self) -> None:
        with checking(type(self).__name__) as require:
            for name, value in vars(self).items():
                if name != "pooling":
                    good = isinstance(value, int | float) and 0 < value < float("inf")
                    require(good, "must be positive and finite", **{name: value})
            pooling = getattr(self, "pooling", "full")
            require(pooling in ("separate", "full"), f"pooling={pooling!r}: separate or full")

    def _suits(self, counts: ClassCounts, require: Any) -> None:
        """Note why the model cannot be had from these counts."""
        bare = [
            place.removeprefix(" in ")
            for place, table in zip(counts.places, counts.tables, strict=True)
            if not table.sum()
        ]
        shared = getattr(self, "pooling", "separate") == "full"
        require(shared or not bare, "no-label-here", bare=", ".join(bare))

    def _coords(self, data: ClassCounts) -> dict[str, Any]:
        return {**data.coords, "class": data.classes, "verdict": data.responses}

    def _derive(self, counts: ClassCounts, values: Mapping[str, Any]) -> None:
        """Add the strata's weighed shares, and the mean credit."""
        import pymc as pm
        import pytensor.tensor as pt

        whole, by = values["prevalence"], tuple(counts.coords)
        if counts.adds_up:
            shares = stratum_shares(counts.verdicts, counts.propensity, counts.shares)
            whole = pm.Deterministic(OVERALL, pt.dot(shares, whole), dims=("class",))
            by = ()
        if counts.credit is not None:
            credit = pm.Data("credit", np.array(counts.credit, float), dims=("class",))
            pm.Deterministic("win_rate", (whole * credit).sum(axis=-1), dims=by or None)

    def _quantities(self, counts: ClassCounts) -> tuple[str, ...]:
        rate = () if counts.credit is None else ("win_rate",)
        overall = (OVERALL,) if counts.adds_up else ()
        return (*rate, *overall, "prevalence", *self._rates)

    _rates: ClassVar[tuple[str, ...]] = ()

    def _about_items(self, fit: Fit, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Shares of these items, and their credit."""
        counts = fit.data
        shares = shares_of_items(counts, self._drawn_truths(fit, rng))
        if counts.credit is not None:
            credited = shares[OVERALL if counts.adds_up else "prevalence"]
            shares["win_rate"] = credited @ np.asarray(counts.credit)
        return shares

    def _assumes(self, counts: ClassCounts) -> tuple[Assumption, ...]:
        return ()

    def _diagnosis(self, counts: ClassCounts) -> Diagnosis:
        assumptions, cautions = diagnose(counts)
        return (*assumptions, *self._assumes(counts)), cautions


@dataclass(frozen=True)
class Confusions(_ClassModel):
    r"""Shares of the classes, and the judge's confusions.

    With shares :math:`\theta` and confusion rows :math:`C_k`, the verdicts v on n unlabelled items,
    those on the :math:`m_k` labelled items of class k and, if the labelled items are some of the
    same items, their classes are multinomial:

    .. math:: v \sim Mult(n, \theta C), \quad w_k \sim Mult(m_k, C_k), \quad
              (m_1, m_2, \dots) \sim Mult(m, \theta).

    Shares and each row of confusions have Dirichlet priors.

    Parameters
    ----------
    share_concentration : float, default 1
        Dirichlet weight of all classes' shares together, spread evenly; of two classes 1 is
        Jeffreys' prior, and the number of classes makes it flat.
    right, wrong : float, default 1
        Dirichlet weights of a class's own verdict, and of all other ones together; at 1 those of
        two classes are flat. ``right`` above ``wrong`` says that the judge is mostly right.
    pooling : {"separate", "full"}
        Whether each system or stratum has confusions of its own, or one judge treats all alike.

    Raises
    ------
    InputError
        If a weight is not positive, or `pooling` is unknown.

    Notes
    -----
    Variables: ``prevalence`` (class), ``confusion`` (class, verdict) and, if classes have a credit,
    their mean ``win_rate``; several systems or strata are one more dim, and strata have an
    ``overall_prevalence``. Cells without an item have a long tail: 2000 draws by default.

    Examples
    --------
    >>> print(Confusions(right=3))  # doctest: +NORMALIZE_WHITESPACE
    share concentration 1; weight of the right verdict 3; weight of the wrong verdicts 1; pooling
    separate
    """

    share_concentration: float = 1.0
    right: float = 1.0
    wrong: float = 1.0
    pooling: Literal["separate", "full"] = "separate"

    _rates: ClassVar[tuple[str, ...]] = ("confusion",)

    def _weights(self, counts: ClassCounts) -> tuple[np.ndarray, np.ndarray]:
        """Dirichlet weights of the shares and of the confusion rows."""
        size, verdicts = len(counts.classes), len(counts.responses or ())
        rows = np.full((size, verdicts), (self.right + self.wrong) / verdicts)
        if counts.named_verdicts:
            rows[:] = self.wrong / (verdicts - 1)
            rows[np.arange(size), counts.verdict_of_class] = self.right
        return np.full(size, self.share_concentration / size), rows

    def _assumes(self, counts: ClassCounts) -> tuple[Assumption, ...]:
        several = self.pooling == "full" and counts.systems is not None
        return (Assumption.of("same-confusions", dim=counts.dim),) if several else ()

    def _unread(self, data: ClassCounts) -> Collection[str]:
        return ("pooling",) if data.systems is None else ()

    def _states_priors(self) -> bool:
        return replace(self, pooling="separate") != Confusions()

    def _shares(self, data: ClassCounts) -> Component:
        return DirichletRows("prevalence", self._weights(data)[0], (*data.coords, "class"))

    def _errors(self, data: ClassCounts) -> Component:
        by_system = tuple(data.coords) if self.pooling == "separate" else ()
        dims = (*by_system, "class", "verdict")
        by: Any = "group" if by_system else None
        return DirichletRows("confusion", self._weights(data)[1], dims, by=by)

    def _observe(self, data: ClassCounts, values: Mapping[str, Any]) -> None:
        dims, labels_tell = (*data.coords, "class", "verdict"), data.design.same_items
        unknowns = values["prevalence"], values["confusion"]
        observe_given_truth((data.test, data.labelled), *unknowns, dims, labels_tell)


@dataclass(frozen=True)
class PredictiveShares(_ClassModel):
    r"""The truth, seen from the judge's verdicts: the model of labels chosen by verdict.

    With shares :math:`q_v` of the verdicts and :math:`P_v` of the classes among the items of a
    verdict, the classes' shares are :math:`\theta = \sum_v q_v P_v`; verdicts of all n items and
    classes of the :math:`m_v` labelled items of a verdict are multinomial:

    .. math:: (n_1, n_2, \dots) \sim Mult(n, q), \quad (m_{v1}, m_{v2}, \dots) \sim Mult(m_v, P_v).

    Both have Dirichlet priors.

    Parameters
    ----------
    verdict_concentration, class_concentration : float, default 1
        Dirichlet weights of all verdicts' shares together, and of all classes' shares among the
        items of a verdict, spread evenly; two of them have Jeffreys' priors, and at 2 flat ones.

    Raises
    ------
    InputError
        If a weight is not positive.

    Notes
    -----
    Variables: ``verdict_share`` and ``class_share`` (verdict, class), with ``prevalence`` and
    the rest as `Confusions` has them.

    Examples
    --------
    >>> print(PredictiveShares(class_concentration=3))
    verdict concentration 1; class concentration 3
    """

    verdict_concentration: float = 1.0
    class_concentration: float = 1.0

    def _weights(self, counts: ClassCounts) -> tuple[np.ndarray, np.ndarray]:
        """Dirichlet weights of the verdicts' shares, and of the classes' given a verdict."""
        size, verdicts = len(counts.classes), len(counts.responses or ())
        each = np.full((verdicts, size), self.class_concentration / size)
        return np.full(verdicts, self.verdict_concentration / verdicts), each

    def _suits(self, counts: ClassCounts, require: Any) -> None:
        super()._suits(counts, require)
        require(counts.design.same_items, "other-design", name=counts.design.name)

    def _shares(self, data: ClassCounts) -> None:
        return None

    def _errors(self, data: ClassCounts) -> Component:
        by: Any = "group" if data.coords else None
        return PredictiveClasses(*self._weights(data), (*data.coords, "verdict", "class"), by=by)

    def _variables(self, data: ClassCounts, text: bool) -> dict[str, Any]:
        import pymc as pm

        values = super()._variables(data, text)
        mixed = (values["verdict_share"][..., None] * values["class_share"]).sum(axis=-2)
        prevalence = pm.Deterministic("prevalence", mixed, dims=(*data.coords, "class"))
        return values | {"prevalence": prevalence}

    def _observe(self, data: ClassCounts, values: Mapping[str, Any]) -> None:
        by, known = tuple(data.coords), np.swapaxes(data.labelled, -1, -2)
        items = data.test + data.labelled.sum(axis=-2)
        multinomial("verdicts", items, values["verdict_share"], (*by, "verdict"))
        multinomial("labelled", known, values["class_share"], (*by, "verdict", "class"))


ClassModel = Confusions | PredictiveShares


def default_model(counts: ClassCounts) -> ClassModel:
    """The model of the label design."""
    by_verdict = counts.design.identifies == {"predictive_values"}
    return PredictiveShares() if by_verdict or counts.propensity is not None else Confusions()


suited = with_default(ClassCounts, default_model)
