"""What the priors of `CalibratedBattles` expect of ties, places and gaps between systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bayesjudge.core.prior_check import Key, count_in_draws, prior_table
from bayesjudge.leaderboard.cells import Cells, cells_of
from bayesjudge.leaderboard.data import PEOPLE, Battles
from bayesjudge.leaderboard.likelihood import chances
from bayesjudge.leaderboard.model import LIKING_DF, STYLE_SD, TIE_SD, CalibratedBattles

if TYPE_CHECKING:
    import pandas as pd

#: Priors that a statistic is about.
ABOUT: Mapping[str, tuple[str, ...]] = {
    "tie_share": ("tie_location",),
    "first_less_second": ("order_scale",),
    "judge_gap": ("judge_scale",),
    "people_gap": ("judge_scale", "sharpness", "liking_scale"),
    "people_by_judge": ("sharpness",),
    "people_beside_judge": ("liking_scale",),
}


@prior_table.register(CalibratedBattles)
def beside_prior(
    model: CalibratedBattles, battles: Battles, rng: np.random.Generator, *, stated: bool = False
) -> pd.DataFrame:
    """Compare shares of ties, of the first place, and gaps between systems with the priors."""
    cells = cells_of(battles, style=model.target == "equal length")
    k, usual = len(battles.systems), CalibratedBattles()
    stated_priors = {name for name in vars(model) if getattr(model, name) != getattr(usual, name)}
    stated_priors -= {*model._unread(battles)}
    every = _statistics(cells, {source: pairs.weight for source, pairs in cells.of.items()}, k)
    seen = {key: x for key, x in every.items() if not stated or stated_priors & {*ABOUT[key[0]]}}

    def draw(n: int) -> dict[Key, np.ndarray]:
        replicates = [
            _statistics(cells, _verdicts(model, battles, cells, rng), k) for _ in range(n)
        ]
        return {key: np.array([numbers.get(key, np.nan) for numbers in replicates]) for key in seen}

    return count_in_draws(seen, draw)


def _verdicts(
    model: CalibratedBattles, battles: Battles, cells: Cells, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Verdicts drawn from the priors, by source, as many of each pair as were seen."""
    judges, k = len(battles.judges), len(battles.systems)
    spread = np.abs(rng.normal(0, model.judge_scale, (max(judges, 1), 1)))
    levels = spread * rng.normal(size=(max(judges, 1), k))
    people = levels[0]
    if judges:
        times = model.sharpness / judges * np.abs(rng.normal(size=(judges, 1)))
        liking = rng.rayleigh(model.liking_scale) * rng.standard_t(LIKING_DF, k)
        people = (times * levels).sum(axis=0) + liking
    verdicts = {}
    for source, pairs in cells.of.items():
        of_people = source == PEOPLE
        level = people if of_people else levels[battles.judges.index(source)]
        eta = level[pairs.first] - level[pairs.second]
        if cells.ordered and not of_people:
            eta = eta + rng.normal(0, model.order_scale)
        if cells.style:
            eta = eta + rng.normal(0, STYLE_SD) * pairs.style
        tie = rng.normal(model.tie_location, TIE_SD) if pairs.tied else -np.inf
        shown = np.floor(pairs.weight.sum(axis=1) + rng.random(len(eta))).astype(int)
        verdicts[source] = rng.multinomial(shown, np.stack(chances(eta, tie), axis=1))
    return verdicts


def _statistics(cells: Cells, said: Mapping[str, np.ndarray], k: int) -> dict[Key, float]:
    """Shares of ties and of the first place; the average gap of a source's pairs, in log-odds; and
    people's gaps against the judges': slope, and what is beside it, in standard errors.
    """
    statistics: dict[Key, float] = {}
    gaps, variance, met = {}, {}, {}
    for source, weight in said.items():
        pairs, total = cells.of[source], max(float(weight.sum()), 1e-9)
        ahead = weight[:, 0] - weight[:, 2]
        if pairs.tied:
            statistics["tie_share", "source", source] = weight[:, 1].sum() / total
        if cells.ordered and source != PEOPLE:
            statistics["first_less_second", "judge", source] = ahead.sum() / total
        won = np.zeros((k, k))
        np.add.at(won, (pairs.first, pairs.second), weight[:, 0] + weight[:, 1] / 2)
        np.add.at(won, (pairs.second, pairs.first), weight[:, 2] + weight[:, 1] / 2)
        gaps[source] = np.log((won + 0.5) / (won.T + 0.5))
        variance[source] = 1 / (won + 0.5) + 1 / (won.T + 0.5)
        met[source] = won + won.T > 0
        mean = ((won + won.T) * np.abs(gaps[source])).sum() / (2 * total)
        if source == PEOPLE:
            statistics["people_gap", "", ""] = mean
        else:
            statistics["judge_gap", "judge", source] = mean
    judges = [source for source in said if source != PEOPLE]
    if judges and PEOPLE in said:
        both = np.all([met[source] for source in said], axis=0)
        people = gaps[PEOPLE][both]
        judge = np.mean([gaps[source] for source in judges], axis=0)[both]
        noise = variance[PEOPLE][both]
        of_judge = np.sum([variance[source] for source in judges], axis=0)[both] / len(judges) ** 2
        if judge.any():
            slope = (people * judge / noise).sum() / (judge**2 / noise).sum()
            rest = (people - slope * judge) ** 2 / (noise + slope**2 * of_judge)
            statistics["people_by_judge", "", ""] = float(slope)
            statistics["people_beside_judge", "", ""] = float(np.sqrt(rest.mean()))
    return statistics
