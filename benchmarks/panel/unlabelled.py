"""What can be said without a label, and how many labels would be needed?

    python benchmarks/panel/unlabelled.py [VOTES.csv.gz]        # the table of code_feedback.py
    python benchmarks/panel/unlabelled.py simulated --draws 20

All labels are hidden. Of each method: how many generators its 95 % intervals cover, mean width and
error. Models are their Laplace approximations. ``as if independent`` is the interval of
Dawid-Skene's curvature, which `dawid_skene_em` refuses. Then as many labels as `labels_needed`
names for a width of .1 are drawn at random, and the width is that of `model_assisted`. ``copies``:
the same with near copies of three judges added. Writes ``unlabelled_NAME.csv``.

Quick: ``--draws 1``

Found: on the real panel `Correlated` covers 0 of 6 generators (width .087, error .200) and the
curvature's interval 1 of 6 (.037); `BiasPooling` covers 6 of 6 (.506), as does the panel's mean
(.370). With near copies of three judges EM errs by .018, and by .030 if they count as judges of
their own; of simulated panels by .022 and .048. The 511 labels asked for give intervals .095 wide
that cover .944; on simulated panels 449 give .058, since votes explain more than is planned for.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from code_feedback import read
from scipy.special import expit, logit

from bayesjudge import panel
from bayesjudge.core.intervals import z_score
from bayesjudge.panel import _em
from bayesjudge.panel._approximations import share_estimate

RESULTS = Path(__file__).parent / "results"
MODELS = (panel.BiasPooling(), panel.Correlated(), panel.PooledDawidSkene())


def as_if_independent(votes: panel.Votes) -> tuple[np.ndarray, ...]:
    """Shares by EM with the interval of its curvature."""
    problem = _em.Problem(votes)
    rates = _em.solve(problem, pseudo=0.5).rates
    error = _em.covariance(problem, rates, 0.5)[0][:, 1]
    centre, z = logit(rates.shares[:, 1]), z_score(0.95)
    return rates.shares[:, 1], expit(centre - z * error), expit(centre + z * error)


def with_copies(full: panel.Votes, copied: int, seed: int) -> panel.Votes:
    """Add a copy of some judges that differs in .3 % of its votes."""
    rows = np.repeat(np.arange(len(full.count)), full.count)
    given, rng = full.votes[rows], np.random.default_rng(seed)
    twins = given[:, rng.permutation(len(full.judges))[:copied]]
    turned = (rng.random(twins.shape) < 0.003) & (twins >= 0)
    given = np.column_stack([given, np.where(turned, 1 - twins, twins)])
    names = [*full.judges, *(f"copy {i}" for i in range(copied))]
    return panel.Votes(given, full.truth[rows], full.generator[rows], full.generators, names)


def rows_of(full: panel.Votes) -> list[dict[str, object]]:
    """Coverage, width and error of every method."""
    votes, share = full.hide(*full.generators), full.labelled[:, 1] / full.items
    made = {"as if independent": as_if_independent(votes)}
    for form in (panel.panel_mean, panel.voting, panel.dawid_skene_em):
        found = form(votes).quantities["prevalence"]
        made[form.__name__] = (found.value, found.low, found.high)
    made |= {type(one).__name__: share_estimate(votes, one, 0.95) for one in MODELS}
    rows = []
    for name, (value, low, high) in made.items():
        covered = np.where(np.isnan(low), np.nan, (low <= share) & (share <= high))
        about = {"covered": covered.mean(), "width": (high - low).mean()}
        rows.append({"method": name, **about, "error": np.abs(value - share).mean()})
    return rows


def labels_drawn(full: panel.Votes, seed: int) -> dict[str, object]:
    """Width with as many labels as are said to be needed for .1."""
    needed = panel.labels_needed(full.hide(*full.generators), width=0.1)["needed"].to_numpy()
    rows = np.repeat(np.arange(len(full.count)), full.count)
    order = np.random.default_rng(seed).permutation(rows)
    generator = full.generator[order]
    before = np.zeros(len(order), int)
    for i in range(len(needed)):
        before[generator == i] = np.arange((generator == i).sum())
    truth = np.where(before < needed[generator], full.truth[order], -1)
    about = (full.votes[order], truth, generator, full.generators, full.judges)
    votes = panel.Votes(*about, calibration="random")
    share = full.labelled[:, 1] / full.items
    table = panel.model_assisted(votes).table
    covered = ((table["low"] <= share) & (share <= table["high"])).mean()
    width = (table["high"] - table["low"]).mean()
    error = np.abs(table["value"] - share).mean()
    found = {"covered": covered, "width": width, "error": error, "labels": needed.sum()}
    return {"method": "model_assisted, as many labels as asked for", **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("votes", nargs="?")
    parser.add_argument("--draws", type=int, default=10)
    asked = parser.parse_args()
    rows, simulated = [], asked.votes == "simulated"
    for seed in range(asked.draws):
        if simulated:
            rates = {"prevalence": (0.9, 0.75, 0.6), "shared_effect": 1.5}
            table = panel.simulate(**rates, labelled=300, random_seed=seed)
            full = panel.Votes.from_frame(table)
        else:
            full = read(asked.votes and Path(asked.votes))
        copied = with_copies(full, 3, seed)
        if simulated or not seed:
            rows += rows_of(full)
        rows += [{**row, "method": f"{row['method']}, copies"} for row in rows_of(copied)]
        rows.append(labels_drawn(full, seed))
    table = pd.DataFrame(rows).groupby("method", sort=False).mean()
    name = "simulated" if simulated else "real"
    table.to_csv(RESULTS / f"unlabelled_{name}.csv", float_format="%.4g")
    print(table.round(3).to_string())


if __name__ == "__main__":
    main()
