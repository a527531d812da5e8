"""`LatentTruth`: a model of verdicts whose items each have a truth, as a choice of components."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.model import BayesianModel
from bayesjudge.truth import likelihood
from bayesjudge.truth.components import (
    Component,
    require_axes,
    require_components,
    variables_of,
)
from bayesjudge.truth.patterns import MOST_NAMED, pattern_names
from bayesjudge.verdicts.table import Verdicts

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr


@dataclass(frozen=True)
class LatentTruth(BayesianModel):
    """A choice of components; everything that is asked of a model follows from their tables."""

    def _table(self, data: Any) -> Verdicts:
        """The verdicts and labels, whose patterns are the rows of what follows."""
        return data.verdicts

    def _shares(self, data: Any) -> Component | None:
        """Shares of the classes by group; None if the errors' table has classes with verdicts."""
        raise NotImplementedError

    def _errors(self, data: Any) -> Component:
        """What a judge says of the items of each class."""
        raise NotImplementedError

    def _parts(self, data: Any) -> tuple[Component, ...]:
        return tuple(p for p in (self._shares(data), self._errors(data)) if p is not None)

    def _coords(self, data: Any) -> dict[str, Any]:
        raise NotImplementedError

    # The graph ------------------------------------------------------------------------------------

    def _build(self, data: Any) -> pm.Model:
        return self._graph(data, text=True)

    def _sampling_form(self, data: Any) -> pm.Model | None:
        return self._graph(data, text=False)

    def _uncollapsed(self, data: Any) -> pm.Model:
        return self._graph(data, text=True, collapsed=False)

    def _graph(self, data: Any, *, text: bool, collapsed: bool = True) -> pm.Model:
        """The model of the text, or what NUTS runs instead, or with one variable per item."""
        import pymc as pm

        with pm.Model(coords=self._coords(data)) as model:
            values = self._variables(data, text)
            if not collapsed:
                self._observe_items(data, values)
            elif text:
                self._observe(data, values)
            else:
                self._add_density(data, values)
            self._derive(data, values)
        return model

    def _variables(self, data: Any, text: bool) -> dict[str, Any]:
        """The unknowns of all components, by name."""
        values: dict[str, Any] = {}
        parts = self._parts(data)
        require_components(parts)
        for part in parts:
            values |= variables_of(part, text)
        return values

    def _log_tables(self, data: Any, values: Mapping[str, Any]) -> tuple[Any, Any]:
        """Logarithms of shares and of errors, of variables of the graph."""
        import pytensor.tensor as pt

        shares, errors, table = self._shares(data), self._errors(data), self._table(data)
        classes = len(table.classes)
        axes = {"classes": classes, "responses": len(table.responses or ())}
        if errors.log_weight is not None:
            axes["nodes"] = len(errors.log_weight)
        of_errors = errors.log_table(values, pt)
        require_axes(errors, of_errors, axes)
        if shares is None:
            return None, of_errors
        of_shares = shares.log_table(values, pt)
        require_axes(shares, of_shares, {"classes": classes})
        return of_shares, of_errors

    def _observe(self, data: Any, values: Mapping[str, Any]) -> None:
        """What was seen, given the unknowns."""
        tables = self._log_tables(data, values)
        likelihood.observe_patterns(self._table(data), *tables, self._errors(data))

    def _add_density(self, data: Any, values: Mapping[str, Any]) -> None:
        """The same for the sampler, but for a constant."""
        tables = self._log_tables(data, values)
        likelihood.add_density(self._table(data), *tables, self._errors(data))

    def _observe_items(self, data: Any, values: Mapping[str, Any]) -> None:
        shares = self._log_tables(data, values)[0]
        likelihood.observe_items(self._table(data), shares, values, self._errors(data))

    def _derive(self, data: Any, values: Mapping[str, Any]) -> None:
        """Quantities that are computed from the unknowns."""

    # What follows sampling ------------------------------------------------------------------------

    def _log_joint(
        self, data: Any, draws: Any, rows: np.ndarray | None = None
    ) -> Iterator[np.ndarray]:
        """Log probability of responses and class of some patterns: (draws, rows, classes) each.

        Of the responses alone where a label does not tell the shares.
        """
        table = self._table(data)
        table = table if rows is None else likelihood.rows_of(table, rows)
        return likelihood.log_joint(table, self._shares(data), self._errors(data), draws)

    def _truth_given_votes(self, data: Any, draws: Any, rows: np.ndarray) -> np.ndarray:
        """Probability of each class of some patterns, shape (n_draws, n_rows, n_classes)."""
        blocks = self._log_joint(data, draws, rows)
        return np.concatenate([likelihood.truth_given_responses(joint) for joint in blocks])

    def _log_likelihood_of_items(self, data: Any, draws: Any) -> np.ndarray:
        """Of responses and label of one item of each pattern, shape (n_draws, n_patterns)."""
        allowed = likelihood.log_allowed(self._table(data))
        blocks = self._log_joint(data, draws)
        return np.concatenate([likelihood.log_sum(joint + allowed) for joint in blocks])

    def _item_log_likelihood(
        self, data: Any, draws: xr.Dataset
    ) -> tuple[xr.DataArray, np.ndarray] | None:
        """Responses and label of an item of each pattern."""
        import xarray as xr

        table, logs = self._table(data), self._log_likelihood_of_items(data, draws)
        named = len(table.count) <= MOST_NAMED
        names = pattern_names(table) if named else np.arange(len(table.count))
        by_kind = logs.reshape(draws.sizes["chain"], draws.sizes["draw"], -1)
        coords = {"chain": draws.chain, "draw": draws.draw, "pattern": ("kind", names)}
        return xr.DataArray(by_kind, coords, ("chain", "draw", "kind")), table.count

    def _drawn_truths(self, fit: Any, rng: np.random.Generator) -> np.ndarray:
        """Items of each group and class among these: (chain, draw, group, class)."""
        table, posterior = self._table(fit.data), fit.idata["posterior"].to_dataset()
        unknown = np.flatnonzero(~table.is_labelled)
        blocks = self._log_joint(fit.data, posterior, unknown)
        drawn = likelihood.drawn_truths(table, blocks, unknown, rng)
        return drawn.reshape(posterior.sizes["chain"], posterior.sizes["draw"], *drawn.shape[1:])

    def _names(self, data: Any) -> tuple[str, ...]:
        """Variables of which the components' tables are made."""
        return tuple(name for part in self._parts(data) for name in part.names)

    def _replicates(
        self, data: Any, items: Verdicts, values: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Iterator[np.ndarray]:
        """Responses anew for some items, one per row, by each draw of the components' variables."""
        shares, errors = self._shares(data), self._errors(data)
        assert shares is not None
        of_shares, of_errors = (likelihood.table_of_draws(p, values) for p in (shares, errors))
        for share, error in zip(of_shares, of_errors, strict=True):
            yield likelihood.draw_responses(items, share, error, errors.log_weight, rng)

    def _chances(self, data: Any, values: Mapping[str, np.ndarray]) -> np.ndarray:
        """Probability of each verdict that is given: axes draw, judge, truth and verdict."""
        errors = self._errors(data)
        logs = likelihood.table_of_draws(errors, values)
        if errors.log_weight is not None:
            logs = likelihood.log_sum(logs + errors.log_weight)
        chance = np.exp(logs[..., : len(self._table(data).classes)])
        return np.asarray(chance / chance.sum(axis=-1, keepdims=True))


@dataclass(frozen=True)
class OneJudge(LatentTruth):
    """A model of one verdict per item, counted by group, class and verdict."""

    def _sampling_form(self, data: Any) -> pm.Model | None:
        return None

    def _item_log_likelihood(
        self, data: Any, draws: xr.Dataset
    ) -> tuple[xr.DataArray, np.ndarray] | None:
        by_item = super()._item_log_likelihood(data, draws)
        if by_item is None or "stratum_share" not in draws:
            return by_item
        # the share of a class of propensity is unknown, and the item tells it
        share = likelihood.by_sample(draws, "stratum_share")[:, self._table(data).group]
        logs, items = by_item
        return logs + np.log(share).reshape(logs.shape), items


def shares_of_items(data: Any, drawn: np.ndarray) -> dict[str, np.ndarray]:
    """Shares by system or stratum, and of all strata's items, of `LatentTruth._drawn_truths`."""
    with np.errstate(invalid="ignore"):  # no items, no share of them
        share = drawn / drawn.sum(axis=-1, keepdims=True)
    by_name = {"prevalence": share if data.systems is not None else share[..., 0, :]}
    if data.adds_up:
        whole = drawn.sum(axis=-2)
        by_name["overall_prevalence"] = whole / whole.sum(axis=-1, keepdims=True)
    return by_name


def stratum_shares(table: Verdicts, propensity: Any, shares: Any) -> Any:
    """Strata's shares of the items: known, or of classes of propensity unknown.

    Those are not of the user's making, so their shares in the population are unknown too.
    """
    import pymc as pm

    if propensity is None:
        return pm.Data("stratum_share", np.asarray(shares, float), dims=table.dim)
    items = np.bincount(table.group, table.count, len(table.groups))
    flat = pm.Data("stratum_share_prior", np.ones(items.size), dims=table.dim)
    share = pm.Dirichlet("stratum_share", flat, dims=table.dim)
    likelihood.multinomial("stratum_items", items, share, (table.dim,))
    return share
