"""The model of rows that share items: effects of item, system and judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Assumption, Caution, Diagnosis, Interval, Target
from bayesjudge.core.fit import Fit
from bayesjudge.core.model import BayesianModel, with_default
from bayesjudge.core.prior_check import prior_table
from bayesjudge.core.priors import BetaPrior
from bayesjudge.prevalence._boundary import depths_in_draws, near_an_end
from bayesjudge.prevalence._bounds import of_draws
from bayesjudge.prevalence.diagnosis import diagnose
from bayesjudge.prevalence.items.closed_form import rows_per_output
from bayesjudge.prevalence.items.data import INDEPENDENT_ITEMS, Items
from bayesjudge.prevalence.items.effective import counts_of
from bayesjudge.prevalence.model import PredictiveValues

if TYPE_CHECKING:
    import pandas as pd
    import pymc as pm
    import xarray as xr

SOURCE = "Lee et al. (2025), Sections 3-5, with normal item effects (Stroup 2012)"
NORMAL_EFFECTS = Assumption.of("normal-effects", "errors")
#: A change of the log-likelihood when nodes are doubled from which on it is reported.
NODES_DIFFER = 0.1


def _one_each(default: BetaPrior = BetaPrior()) -> Any:
    return field(default=default, metadata={"by": "system"})


@dataclass(frozen=True)
class ItemEffects(BayesianModel):
    r"""Truth and verdict of each row depend on the item.

    An output of system s for item i is good, and a verdict on it is a pass, with probabilities

    .. math:: \operatorname{logit} P(y = 1) = \alpha_s + a_i + c_{is}, \qquad
              \operatorname{logit} P(v = 1 \mid y) = \beta_{sy} + b_i + d_{is}:

    the item's difficulty :math:`a_i`, which systems share; the judge's leniency :math:`b_i` on it;
    and an effect of item and system together, on the truth (:math:`c_{is}`) if systems repeat, or
    on the verdict (:math:`d_{is}`) if the judge does. All are normal and integrated out by
    Gauss-Hermite quadrature. :math:`\alpha_s` and :math:`\beta_{sy}` follow from the prevalence,
    sensitivity and specificity over the population of items, which have the priors of
    `bayesjudge.prevalence.ErrorRates`. An effect that the data cannot tell is left out: of one row
    an item and one system nothing remains but that model.

    Parameters
    ----------
    prevalence, sensitivity, specificity : BetaPrior or mapping of str to BetaPrior
        Priors of the shares in the population, by default those of `ErrorRates`. One for all
        systems, or one each.
    better_than_chance : bool, default True
        Restrict to sensitivity + specificity > 1.
    difficulty_spread, leniency_spread, interaction_spread : float
        Scales of the half-normal priors of the standard deviations of a, b, and c or d, in logits:
        2, 1 and 1 by default.
    nodes : int, default 13
        Of the quadrature over difficulty, and over leniency; a third as many for the interaction.
        `fit` doubles them once and says if that changes the likelihood.

    Raises
    ------
    InputError
        If a prior is of another type, a scale is not positive, or there are fewer than 5 nodes.

    Notes
    -----
    Variables: ``prevalence``, ``sensitivity`` and ``specificity`` (dim ``system`` of several),
    shares over the population of items; ``difficulty_spread``, ``leniency_spread`` and
    ``interaction_spread``; if outputs repeat, or systems share items, ``icc``, and if outputs
    repeat ``design_effect`` and ``effective_items`` (see `agreement`). Observed is the number of
    ``items`` of each pattern of rows or, not collapsed, each ``verdict`` and label.

    Examples
    --------
    >>> print(ItemEffects(leniency_spread=0.5).leniency_spread)
    0.5
    """

    prevalence: BetaPrior | Mapping[str, BetaPrior] = _one_each(BetaPrior.jeffreys())
    sensitivity: BetaPrior | Mapping[str, BetaPrior] = _one_each()
    specificity: BetaPrior | Mapping[str, BetaPrior] = _one_each()
    better_than_chance: bool = True
    difficulty_spread: float = 2.0
    leniency_spread: float = 1.0
    interaction_spread: float = 1.0
    nodes: int = 13

    _method = methods.ITEM_EFFECTS
    _source: ClassVar[str] = SOURCE
    _interval: ClassVar[Interval] = "eti_bounded"

    def __post_init__(self) -> None:
        super().__post_init__()
        with checking("ItemEffects") as require:
            for name in ("difficulty_spread", "leniency_spread", "interaction_spread"):
                value = getattr(self, name)
                require(0 < value < float("inf"), "must be positive", **{name: value})
            enough = isinstance(self.nodes, int) and self.nodes >= 5
            require(enough, "must be a whole number from 5", nodes=self.nodes)

    def _build(self, data: Items) -> pm.Model:
        from bayesjudge.prevalence.items._pymc import integrated

        return integrated(data, self, text=True)

    def _sampling_form(self, data: Items) -> pm.Model:
        from bayesjudge.prevalence.items._pymc import integrated

        return integrated(data, self, text=False)

    def _uncollapsed(self, data: Items) -> pm.Model:
        from bayesjudge.prevalence.items._pymc import one_row_a_verdict

        return one_row_a_verdict(data, self)

    def _suits(self, items: Items, require: Any) -> None:
        tells = "error_rates" in items.design.identifies or items.design.same_items
        require(tells, f"labels {items.design.name!r} do not tell the judge's rates")
        self._require_priors(require, system=items.systems)

    def _diagnosis(self, items: Items) -> Diagnosis:
        effects = (NORMAL_EFFECTS,) if self._effects(items) else ()
        return diagnose(items, (items.design.assumption, INDEPENDENT_ITEMS, *effects))

    def _cautions_of_fit(self, fit: Fit) -> tuple[Caution, ...]:
        return tuple(_unresolved(fit))

    def _effects(self, items: Items) -> tuple[str, ...]:
        """The effects whose standard deviations these rows tell."""
        alike = items.repeated or items.paired
        difficulty = items.paired or (items.repeated and items.repeats == "system")
        both = items.repeated and items.paired
        spreads = {"difficulty": difficulty, "leniency": alike, "interaction": both}
        return tuple(name for name, there in spreads.items() if there)

    def _quantities(self, items: Items) -> tuple[str, ...]:
        effects = self._effects(items)
        alike = ("icc", *("design_effect", "effective_items") * items.repeated)
        several = alike if "difficulty" in effects and items.repeats != "judge" else ()
        return ("prevalence", "sensitivity", "specificity", *several)

    def _with_derived(self, data: Items, draws: xr.Dataset) -> xr.Dataset:
        if "icc" not in draws:
            return draws
        icc = draws["icc"]
        sizes = [rows_per_output(data, name) for name in data.systems]
        rows = [
            float(sum(data.count @ data.rows(name)[i] for i in (0, 4))) for name in data.systems
        ]
        size, total = (
            icc.copy(data=np.broadcast_to(v if "system" in icc.dims else v[0], icc.shape))
            for v in (sizes, rows)
        )
        effect = 1 + (size - 1) * icc
        return draws.assign(design_effect=effect, effective_items=total / effect)

    def _item_log_likelihood(
        self, data: Items, draws: xr.Dataset
    ) -> tuple[xr.DataArray, np.ndarray]:
        """Of an item of each pattern of rows, all systems' rows of it together."""
        import xarray as xr

        from bayesjudge.prevalence.items._marginal import RATES, Answers, by_pattern
        from bayesjudge.prevalence.items._pymc import nodes_of

        names = (*RATES, *(f"{effect}_spread" for effect in self._effects(data)))
        shape = draws.sizes["chain"], draws.sizes["draw"]
        arrays = {name: draws[name].transpose("chain", "draw", ...).to_numpy() for name in names}
        flat = {name: array.reshape(-1, *array.shape[2:]) for name, array in arrays.items()}
        logs = by_pattern(data, self, flat, nodes_of(self)).reshape(*shape, -1)
        coords = {"chain": draws.chain, "draw": draws.draw}
        return xr.DataArray(logs, coords, ("chain", "draw", "kind")), Answers.of(data).count

    def _extended_to(
        self, fit: Fit, ci_prob: float
    ) -> dict[str, tuple[np.ndarray, np.ndarray]] | None:
        """Ends of the prevalence that the draws do not exclude."""
        from bayesjudge.core.intervals import z_score

        drop = z_score(ci_prob) ** 2 / 2
        depths = []
        for name, draws in zip(
            fit.data.systems, np.atleast_2d(fit.draws("prevalence").T), strict=True
        ):
            prior = (
                self.prevalence[name] if isinstance(self.prevalence, Mapping) else self.prevalence
            )
            near = near_an_end(draws)
            depths.append(depths_in_draws(draws, prior) if near else (-np.inf, -np.inf))
        at_0, at_1 = -drop < np.array(depths).T
        return {"prevalence": (at_0, at_1)}

    def _bounds(self, fit: Fit, ci_prob: float, target: Target) -> dict[str, np.ndarray]:
        """Those of effective counts, unless the judge's rates have priors that say more."""
        items: Items = fit.data
        stated = any(sum(getattr(self, rate)) > 2 for rate in ("sensitivity", "specificity"))
        if stated or "error_rates" in items.design.identifies:
            return {}
        parts = [(counts_of(items, name, ci_prob), PredictiveValues()) for name in items.systems]
        draws = fit.draws("prevalence")
        return of_draws(draws.reshape(len(draws), -1), parts, ci_prob, target)


@prior_table.register(ItemEffects)
def _beside_prior(
    model: ItemEffects, items: Items, rng: np.random.Generator, *, stated: bool = False
) -> pd.DataFrame:
    from bayesjudge.prevalence.items._pymc import table_beside_prior

    return table_beside_prior(items, model, rng)


with_default(Items, lambda items: ItemEffects())


def _unresolved(fit: Fit) -> list[Caution]:
    """Say if twice the nodes would give another likelihood where the effects are largest."""
    from bayesjudge.prevalence.items._pymc import change_with_nodes

    if not fit.spec._effects(fit.data):  # type: ignore[attr-defined]
        return []
    change = change_with_nodes(fit)
    if change < NODES_DIFFER:
        return []
    nodes = fit.spec.nodes  # type: ignore[attr-defined]
    return [Caution.of("quadrature", nodes=nodes, change=change, twice=2 * nodes)]
