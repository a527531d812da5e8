"""Performance of judges under many definitions, with uncertainty: `Performance`, `performance`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bayesjudge.core.draws import around, chances_of_best
from bayesjudge.core.errors import check_ci_prob, expect
from bayesjudge.core.estimate import Assumption, Caution, Estimate, Quantity, Target
from bayesjudge.core.methods import Method
from bayesjudge.ratings.cautions import TRACKING
from bayesjudge.ratings.data import PEOPLE
from bayesjudge.ratings.items import item_profiles
from bayesjudge.ratings.metrics import Definition, Profile, definitions
from bayesjudge.ratings.model import _ratings_of
from bayesjudge.ratings.tracking import TrackingPrior, _draw_pairs, _not_mixed
from bayesjudge.truth.pairs import with_ends

if TYPE_CHECKING:
    import pandas as pd

    from bayesjudge.core.fit import Fit

#: Share of an item's posterior that its own ratings should make up, to compare judges by it.
OWN_WEIGHT = 0.75


@dataclass(frozen=True, eq=False, repr=False)
class Performance:
    """Performance of every judge under every definition: values and draws.

    Parameters
    ----------
    definitions : tuple of Definition
        Definitions that were evaluated.
    judges : tuple of str
        Names.
    values : numpy.ndarray, shape (n_definitions, n_judges)
        Estimates.
    draws : numpy.ndarray, shape (n_draws, n_definitions, n_judges)
        Draws by weighing items, or of a posterior; the same draw for all judges and definitions, so
        that they can be compared within a draw.
    method, source, interval : str
        For reports.
    assumptions : tuple of Assumption
        What must hold for the numbers to mean what they say.
    cautions : tuple of Caution
        Warnings that the ratings raise.
    target : {"population", "items"}
        Which items the numbers are about; see `bayesjudge.Estimate`.
    data : Ratings, optional
        What it was computed from.
    """

    definitions: tuple[Definition, ...]
    judges: tuple[str, ...]
    values: np.ndarray
    draws: np.ndarray
    method: Method
    source: str
    interval: str
    assumptions: tuple[Assumption, ...] = ()
    cautions: tuple[Caution, ...] = ()
    target: Target = "population"
    data: Any = None

    def __repr__(self) -> str:
        return (
            f"Performance of {', '.join(self.judges)} under {len(self.definitions)} definitions, "
            f"{len(self.draws)} draws; {self.method}"
        )

    def _repr_html_(self) -> str:
        return self.estimate()._repr_html_()

    def estimate(self, *, ci_prob: float = 0.95) -> Estimate:
        """Summarise in the shape of a closed form.

        Parameters
        ----------
        ci_prob : float, default 0.95
            Probability that an interval should hold.

        Returns
        -------
        Estimate
            A quantity for each metric, by aggregation (such as ``"h/hrs"``), cutoff and judge, as
            far as its definitions have them. An interval is ``nan`` if a definition is undefined or
            infinite, or is the same however the items are weighed.

        Raises
        ------
        InputError
            If `ci_prob` is out of range.
        """
        check_ci_prob(ci_prob)
        quantities = {}
        for metric in dict.fromkeys(d.metric for d in self.definitions):
            mine = [(i, d) for i, d in enumerate(self.definitions) if d.metric == metric]
            dims = _dims_of([d for _, d in mine])
            rows = {
                (*(getattr(d, dim) for dim in dims), judge): self._row(i, j, ci_prob)
                for i, d in mine
                for j, judge in enumerate(self.judges)
            }
            quantities[metric] = Quantity.of_rows(rows, (*dims, "judge"))
        return Estimate(
            quantities,
            method=self.method,
            ci_prob=ci_prob,
            source=self.source,
            interval=self.interval,
            assumptions=self.assumptions,
            cautions=(*self._without_interval(), *self.cautions),
            target=self.target,
            data=self.data,
        )

    def _without_interval(self) -> Iterator[Caution]:
        names = np.array([definition.metric for definition in self.definitions])
        undefined = list(dict.fromkeys(names[~self._finite.all(axis=1)]))
        if undefined:
            yield Caution.of("no-interval", "undefined", metrics=undefined)
        alike = list(dict.fromkeys(names[self._alike.any(axis=1)]))
        if alike:
            yield Caution.of("no-interval", "alike", metrics=alike)

    @cached_property
    def _finite(self) -> np.ndarray:
        return np.isfinite(self.draws).all(axis=0) & np.isfinite(self.values)

    @cached_property
    def _alike(self) -> np.ndarray:
        """Where weighed items, unlike draws of these items' own shares, show no variation."""
        if self.target == "items":
            return np.zeros_like(self._finite)
        ranges = np.ptp(np.where(self._finite, self.draws, 0.0), axis=0)
        return self._finite & (ranges <= 1e-12)

    def _row(self, i: int, j: int, ci_prob: float) -> tuple[float, float, float]:
        value, draws = float(self.values[i, j]), self.draws[:, i, j]
        if self.target == "items" and self._finite[i, j]:
            return around(value, draws, ci_prob)
        return with_ends(value, draws, ci_prob)

    def best(self, weight: np.ndarray | None = None) -> pd.DataFrame:
        """Compute the probability that each judge is the best, under each definition.

        Parameters
        ----------
        weight : numpy.ndarray, shape (n_draws,), optional
            Of each draw, summing to 1; all the same by default.

        Returns
        -------
        pandas.DataFrame
            Definitions by judges; rows sum to 1. Judges that tie in a draw share it. From a
            bootstrap these are frequencies, not probabilities.
        """
        return self._table(self._best(weight))

    def best_estimate(self, *, ci_prob: float = 0.95) -> Estimate:
        """Give `best` as an estimate, for reports.

        Parameters
        ----------
        ci_prob : float, default 0.95
            Of the report; a probability has no interval.

        Returns
        -------
        Estimate
            ``best`` by definition and judge; a probability has no interval.
        """
        best = self._best()
        none = np.full(best.shape, np.nan)
        names = [str(d) for d in self.definitions]
        where: dict[str, Any] = {"definition": names, "judge": self.judges}
        return Estimate(
            {"best": Quantity.over((best, none, none), where)},
            method=self.method.variant("share-of-draws", "share of draws"),
            ci_prob=ci_prob,
            source=self.source,
            assumptions=self.assumptions,
            cautions=self.cautions,
            target=self.target,
            data=self.data,
        )

    def ranks(self) -> pd.DataFrame:
        """Rank the judges by their estimates: 1 is best, ties share the mean rank.

        Returns
        -------
        pandas.DataFrame
            Definitions by judges.
        """
        return self._table(self._loss(self.values)).rank(axis=1, method="average")

    def contradictions(self, *, prob: float = 0.5) -> pd.DataFrame:
        """List pairs of judges that two definitions rank in opposite orders.

        Parameters
        ----------
        prob : float, default 0.5
            Report those contradicted in more than this share of the draws.

        Returns
        -------
        pandas.DataFrame
            Columns ``better``, ``worse`` (judges, by the first definition), ``first``, ``second``
            (definitions) and ``probability`` of the contradiction. Empty if there are none.

        Raises
        ------
        InputError
            If `prob` is not a probability.

        References
        ----------
        Source 5, Definition 5.1.
        """
        expect("contradictions", 0 <= prob < 1, "must lie in [0, 1)", prob=prob)
        import pandas as pd

        loss = self._loss(self.draws)
        better = loss[..., :, None] < loss[..., None, :] - 1e-12  # (draw, definition, z, w)
        names = [str(d) for d in self.definitions]
        rows = []
        for a, b in combinations(range(len(names)), 2):
            share = (better[:, a] & np.swapaxes(better[:, b], -1, -2)).mean(axis=0)
            for z, w in np.argwhere(share > prob):
                pair = self.judges[z], self.judges[w]
                rows.append((*pair, names[a], names[b], float(share[z, w])))
        columns = ["better", "worse", "first", "second", "probability"]
        table = pd.DataFrame(rows, columns=columns)
        return table.sort_values("probability", ascending=False, ignore_index=True)

    def only(self, *judges: str) -> Self:
        """Keep some judges.

        Parameters
        ----------
        *judges : str
            Names.

        Returns
        -------
        Performance
            With fewer columns, in this order.

        Raises
        ------
        InputError
            If there is no such judge.
        """
        unknown = [j for j in judges if j not in self.judges]
        problem = f"no judges {unknown}; there are {list(self.judges)}"
        expect("Performance.only", not unknown, problem)
        at = [self.judges.index(j) for j in judges]
        return replace(self, judges=judges, values=self.values[:, at], draws=self.draws[:, :, at])

    def under(self, *definitions: Definition | str) -> Self:
        """Keep some definitions.

        Parameters
        ----------
        *definitions : Definition or str
            Definitions, or their names, such as ``"mse (srs/srs)"``.

        Returns
        -------
        Performance
            With fewer rows, in the order that they have here.

        Raises
        ------
        InputError
            If there is no such definition.
        """
        known = [str(d) for d in self.definitions]
        names = [str(d) for d in definitions]
        unknown = [name for name in names if name not in known]
        expect("Performance.under", not unknown, f"no definitions {unknown}; there are {known}")
        at = [i for i, d in enumerate(self.definitions) if str(d) in names]
        return replace(
            self,
            definitions=tuple(self.definitions[i] for i in at),
            values=self.values[at],
            draws=self.draws[:, at],
        )

    def _loss(self, values: Any) -> np.ndarray:
        loss = [d.loss(values[..., i, :]) for i, d in enumerate(self.definitions)]
        # what is undefined is never best
        return np.nan_to_num(np.stack(loss, axis=-2), nan=np.inf, posinf=np.inf)

    def _best(self, weight: np.ndarray | None = None) -> np.ndarray:
        """Share of draws in which each judge is the best, shape (n_definitions, n_judges)."""
        return chances_of_best(-self._loss(self.draws), weight, tolerance=1e-12)

    def _table(self, values: np.ndarray) -> pd.DataFrame:
        import pandas as pd

        names = pd.Index([str(d) for d in self.definitions], name="definition")
        return pd.DataFrame(values, index=names, columns=pd.Index(self.judges, name="judge"))


def _dims_of(those: Sequence[Definition]) -> tuple[str, ...]:
    """Dimensions that tell the definitions of one metric apart."""
    if those[0].downstream:
        return ("cutoff",)
    return ("aggregation", "cutoff") if any(d.uses_cutoff for d in those) else ("aggregation",)


def performance(
    fit: Fit,
    *,
    of: Sequence[Definition] | None = None,
    draws: int = 400,
    tracking: TrackingPrior | None = TrackingPrior(),
    random_seed: Any = 0,
) -> Performance:
    """Compare judges with people under many definitions, by the posterior.

    Parameters
    ----------
    fit : Fit
        From `bayesjudge.ratings.fit`, of people and at least one judge.
    of : sequence of Definition, optional
        Definitions to evaluate; `definitions` by default.
    draws : int, default 400
        Draws of the fit to use.
    tracking : TrackingPrior or None
        Draw each judge's items together with people's (see `bayesjudge.ratings.tracking`), under
        this prior. With None each source's items are drawn independently: faster, and agreement is
        understated if ratings are few.
    random_seed : int or numpy.random.Generator, default 0
        Same seed, same draws.

    Returns
    -------
    Performance
        Of the shares behind the ratings, on the items that all sources rated; values are posterior
        means. Its ``best()`` is P(judge is best).

    Raises
    ------
    InputError
        If there is no judge, or more draws are asked for than the fit has.

    Notes
    -----
    With tracking, agreement is still understated a little if ratings are few, and intervals are
    somewhat too narrow for judges that the assumed form does not fit: the caution
    ``assumed-tracking``. ``benchmarks/ratings/best.py`` shows by how much, and whether
    P(judge is best) is right, with known judges at 1 to 100 choices an item.
    """
    ratings = _ratings_of(fit)
    expect("performance", ratings.judges, "there is no judge among the sources")
    chosen = tuple(of or definitions())
    rated = ratings.rated.all(axis=0)
    profiles, mixed = _judges_and_people(fit, draws, tracking, random_seed)
    values = np.empty((draws, len(chosen), len(ratings.judges)))
    for j, (judge, people) in enumerate(profiles):
        here = judge.items(rated), people.items(rated)
        for i, d in enumerate(chosen):
            values[:, i, j] = d.value(*here, positive=ratings.positive_index)
    return Performance(
        definitions=chosen,
        judges=ratings.judges,
        values=values.mean(axis=0),
        draws=values,
        method=(
            fit.method.variant("tracking", "judges tracking people", also_brief=True)
            if tracking
            else fit.method.variant("independent", "judges independent")
        ),
        source=fit.source,
        interval="equal-tailed",
        assumptions=(*fit.assumptions, *([TRACKING] if tracking else [])),
        cautions=(*fit.cautions, *_not_mixed(mixed), *_prior_heavy(fit, tracking is not None)),
        target="items",
    )


def _judges_and_people(
    fit: Fit, draws: int, tracking: TrackingPrior | None, random_seed: Any
) -> tuple[list[tuple[Profile, Profile]], dict[str, bool]]:
    """Each judge's answers and people's; and whose chains mixed."""
    if tracking is None:
        profiles = item_profiles(fit, draws=draws, random_seed=random_seed)
        return [(profiles[j], profiles[PEOPLE]) for j in fit.data.judges], {}
    pairs = list(_draw_pairs(fit, tracking, draws=draws, random_seed=random_seed))
    mixed = {judge: pair.tracked.mixed for judge, pair, *_ in pairs}
    return [(judge, people) for *_, judge, people in pairs], mixed


def _prior_heavy(fit: Fit, tracking: bool) -> tuple[Caution, ...]:
    """Raise a caution if the mean over items outweighs the items' own ratings."""
    ratings = fit.data
    n = (ratings.unpaired.sum(axis=2) + ratings.endorsed.sum(axis=2))[:, :, None]
    concentration = fit.draws("concentration").mean(axis=0)[:, None, None]
    weight = (n / (n + concentration)).mean(axis=(1, 2))
    low = [f"{s} {w:.0%}" for s, w in zip(ratings.sources, weight, strict=True) if w < OWN_WEIGHT]
    if not low:
        return ()
    weights = f"weight of an item's own ratings in its posterior: {', '.join(low)}; "
    if tracking:
        return (Caution.of("assumed-tracking", weights=weights),)
    return (Caution.of("few-ratings", weights=weights),)
