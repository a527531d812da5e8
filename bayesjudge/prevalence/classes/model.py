"""Models of several classes: shares, confusions and predictive shares with Dirichlet priors."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.draws import by_kind
from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Assumption, Diagnosis
from bayesjudge.core.fit import Fit
from bayesjudge.core.model import BayesianModel, model_of
from bayesjudge.prevalence.cautions import OVERALL
from bayesjudge.prevalence.classes.data import SOURCE, ClassCounts, judged

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr


@dataclass(frozen=True)
class _ClassModel(BayesianModel):
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
                    require(good, f"{name} must be positive and finite, got {value!r}")
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
        require(
            shared or not bare,
            f"no item of {', '.join(bare)} has a human label, so the judge's confusions there are "
            "unknown; label some, or let all share one judge's confusions: "
            "Confusions(pooling='full')",
        )

    def _derived(self, counts: ClassCounts, prevalence: Any) -> None:
        """Add the strata's weighed shares, and the mean credit."""
        import pymc as pm
        import pytensor.tensor as pt

        whole, by = prevalence, tuple(counts.coords)
        if counts.dim == "stratum":
            shares = _stratum_shares(counts)
            whole = pm.Deterministic(OVERALL, pt.dot(shares, prevalence), dims=("class",))
            by = ()
        if counts.credit is not None:
            credit = pm.Data("credit", np.array(counts.credit, float), dims=("class",))
            pm.Deterministic("win_rate", (whole * credit).sum(axis=-1), dims=by or None)

    def _quantities(self, counts: ClassCounts) -> tuple[str, ...]:
        rate = () if counts.credit is None else ("win_rate",)
        overall = (OVERALL,) if counts.dim == "stratum" else ()
        return (*rate, *overall, "prevalence", *self._rates)

    _rates: ClassVar[tuple[str, ...]] = ()

    def _about_items(self, fit: Fit, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Shares of these items: the classes of the unlabelled ones of each verdict are drawn."""
        counts = fit.data
        chances = self._classes_of_verdicts(counts, fit.idata["posterior"].to_dataset())
        drawn = rng.multinomial(counts.tests, chances).sum(axis=-2)
        if counts.design.same_items:
            drawn = drawn + counts.tables.sum(axis=2)
        whole = drawn.sum(axis=2) / drawn[0, 0].sum()
        shares = drawn / drawn.sum(axis=-1, keepdims=True)
        found = {"prevalence": shares if counts.systems is not None else shares[..., 0, :]}
        if counts.dim == "stratum":
            found[OVERALL] = whole
        if counts.credit is not None:
            credited = whole if counts.dim == "stratum" else found["prevalence"]
            found["win_rate"] = credited @ np.asarray(counts.credit)
        return found

    def _classes_of_verdicts(self, counts: ClassCounts, posterior: xr.Dataset) -> np.ndarray:
        """Shares of the classes by verdict: axes chain, draw, system, verdict and class."""
        raise NotImplementedError

    def _item_log_likelihood(
        self, data: ClassCounts, draws: xr.Dataset
    ) -> tuple[xr.DataArray, np.ndarray]:
        """Of an item of each verdict, and of each class and verdict if it is labelled."""
        logs = list(self._log_chances(data, draws))
        if data.propensity is not None:
            (share,) = _by_place(data, draws, "stratum_share")
            logs = [x + np.log(share.reshape(*share.shape, *[1] * (x.ndim - 3))) for x in logs]
        return by_kind(draws, list(zip(logs, (data.tests, data.tables), strict=True)))

    def _log_chances(self, data: ClassCounts, draws: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
        """Log probability of a verdict, and of a class with its verdict, by place."""
        raise NotImplementedError

    def _assumes(self, counts: ClassCounts) -> tuple[Assumption, ...]:
        return ()

    def _diagnosis(self, counts: ClassCounts) -> Diagnosis:
        assumptions, cautions = judged(counts)
        return (*assumptions, *self._assumes(counts)), cautions

    def _build(self, data: ClassCounts) -> pm.Model:
        return self._graph(data, collapsed=True)

    def _uncollapsed(self, data: ClassCounts) -> pm.Model:
        return self._graph(data, collapsed=False)

    def _graph(self, data: ClassCounts, collapsed: bool) -> pm.Model:
        raise NotImplementedError


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
    share_concentration : float, default 2
        Dirichlet weight of all classes' shares together, spread evenly; the number of classes makes
        it flat.
    right, wrong : float, default 1
        Dirichlet weights of a class's own verdict, and of all other ones together. Two classes have
        flat priors; ``right`` above ``wrong`` says that the judge is mostly right.
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
    share concentration 2; weight of the right verdict 3; weight of the wrong verdicts 1; pooling
    separate
    """

    share_concentration: float = 2.0
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
        text = f"the judge has the same confusions in every {counts.dim}"
        several = self.pooling == "full" and counts.systems is not None
        return (Assumption("same-confusions", text),) if several else ()

    def _unread(self, data: ClassCounts) -> Collection[str]:
        return ("pooling",) if data.systems is None else ()

    def _states_priors(self) -> bool:
        return replace(self, pooling="separate") != Confusions()

    def _classes_of_verdicts(self, counts: ClassCounts, posterior: xr.Dataset) -> np.ndarray:
        shares, rows = _by_place(counts, posterior, "prevalence", "confusion")
        joint = np.swapaxes(shares[..., None] * rows, -1, -2) + 1e-300
        return joint / joint.sum(axis=-1, keepdims=True)

    def _log_chances(self, data: ClassCounts, draws: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
        shares, rows = _by_place(data, draws, "prevalence", "confusion")
        joint = shares[..., None] * rows
        return np.log(joint.sum(axis=-2)), np.log(joint if data.design.same_items else rows)

    def _graph(self, data: ClassCounts, collapsed: bool) -> pm.Model:
        import pymc as pm
        import pytensor.tensor as pt

        from bayesjudge.prevalence._pymc import categories_by_item, multinomial

        shares, rows = self._weights(data)
        by = tuple(data.coords)
        own = by if self.pooling == "separate" else ()
        coords = {**data.coords, "class": data.classes, "verdict": data.responses}
        with pm.Model(coords=coords) as model:
            prevalence = _dirichlet("prevalence", shares, (*by, "class"), data)
            confusion = _dirichlet("confusion", rows, (*own, "class", "verdict"), data)
            each = confusion if by == own else pt.broadcast_to(confusion, data.labelled.shape)
            if not collapsed:
                place, truth, verdict = data.by_item()
                by_place = prevalence[place] if by else prevalence[None][np.zeros_like(place)]
                rates = each if by else each[None]
                told = np.full(truth.shape, data.design.same_items)
                given = ("verdict", lambda z: rates[place, z], verdict)
                categories_by_item(("truth", by_place, truth), given, told)
                self._derived(data, prevalence)
                return model
            seen = (prevalence[..., None] * confusion).sum(axis=-2)
            multinomial("test", data.test, seen, (*by, "verdict"))
            multinomial("labelled", data.labelled, each, (*by, "class", "verdict"))
            if data.design.same_items:
                multinomial(
                    "labelled_truth", data.labelled.sum(axis=-1), prevalence, (*by, "class")
                )
            self._derived(data, prevalence)
        return model


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
        require(
            counts.design.same_items,
            "PredictiveShares needs labels of the same items; "
            f"calibration={counts.design.name!r} takes Confusions()",
        )

    def _classes_of_verdicts(self, counts: ClassCounts, posterior: xr.Dataset) -> np.ndarray:
        (shares,) = _by_place(counts, posterior, "class_share")
        return shares / shares.sum(axis=-1, keepdims=True)

    def _log_chances(self, data: ClassCounts, draws: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
        verdicts, rows = _by_place(data, draws, "verdict_share", "class_share")
        joint = np.swapaxes(verdicts[..., None] * rows, -1, -2)
        return np.log(verdicts), np.log(joint)

    def _graph(self, data: ClassCounts, collapsed: bool) -> pm.Model:
        import pymc as pm

        from bayesjudge.prevalence._pymc import categories_by_item, multinomial

        shares, rows = self._weights(data)
        by = tuple(data.coords)
        coords = {**data.coords, "class": data.classes, "verdict": data.responses}
        with pm.Model(coords=coords) as model:
            verdicts = _dirichlet("verdict_share", shares, (*by, "verdict"), data)
            classes = _dirichlet("class_share", rows, (*by, "verdict", "class"), data)
            if collapsed:
                items = data.test + data.labelled.sum(axis=-2)
                multinomial("verdicts", items, verdicts, (*by, "verdict"))
                known = np.swapaxes(data.labelled, -1, -2)
                multinomial("labelled", known, classes, (*by, "verdict", "class"))
            else:
                place, truth, verdict = data.by_item()
                first = verdicts[place] if by else verdicts[None][np.zeros_like(place)]
                rates = classes if by else classes[None]
                given = ("truth", lambda v: rates[place, v], truth)
                categories_by_item(("verdict", first, verdict), given, np.full(truth.shape, True))
            mixed = (verdicts[..., None] * classes).sum(axis=-2)
            prevalence = pm.Deterministic("prevalence", mixed, dims=(*by, "class"))
            self._derived(data, prevalence)
        return model


ClassModel = Confusions | PredictiveShares


def default_model(counts: ClassCounts) -> ClassModel:
    """The model of the label design."""
    by_verdict = counts.design.identifies == {"predictive_values"}
    return PredictiveShares() if by_verdict or counts.propensity is not None else Confusions()


@model_of.register(ClassCounts)
def suited(counts: ClassCounts, model: ClassModel | None, subject: str) -> ClassModel:
    """The model, or the default one; an error if the counts do not suit it."""
    model = model or default_model(counts)
    with checking(subject) as require:
        model._suits(counts, require)
    return model


def _by_place(counts: ClassCounts, posterior: xr.Dataset, *names: str) -> list[np.ndarray]:
    """Draws with an axis of systems or strata behind those of the draws, even if there is none."""
    return [
        array if counts.dim in posterior[name].dims else array[:, :, None]
        for name in names
        for array in [posterior[name].transpose("chain", "draw", ...).to_numpy()]
    ]


def _stratum_shares(counts: ClassCounts) -> Any:
    """Strata's shares; those of classes of propensity are unknown in the population."""
    import pymc as pm

    from bayesjudge.prevalence._pymc import multinomial

    if counts.propensity is None:
        return pm.Data("stratum_share", counts.shares, dims=("stratum",))
    items = counts.tests.sum(axis=1) + counts.tables.sum(axis=(1, 2))
    flat = pm.Data("stratum_share_prior", np.ones(items.size), dims=("stratum",))
    shares = pm.Dirichlet("stratum_share", flat, dims=("stratum",))
    multinomial("stratum_items", items, shares, ("stratum",))
    return shares


def _dirichlet(name: str, weights: np.ndarray, dims: tuple[str, ...], counts: ClassCounts) -> Any:
    """One Dirichlet prior for each row, the same in every system."""
    import pymc as pm

    sizes = {**counts.coords, "class": counts.classes, "verdict": counts.responses}
    shape = tuple(len(sizes[dim] or ()) for dim in dims)
    each = pm.Data(f"{name}_prior", np.broadcast_to(weights, shape).copy(), dims=dims)
    return pm.Dirichlet(name, each, dims=dims)
