"""Is the ratings model calibrated? Simulation-based calibration with NUTS.

    python benchmarks/ratings/sbc.py                    # 100 simulations a study
    python benchmarks/ratings/sbc.py --study errors     # one study only
    python benchmarks/ratings/sbc.py --simulations 500  # continues the last run
    python benchmarks/ratings/sbc.py --redraw           # the picture, from the stored ranks

Truths are drawn from the priors by NumPy: the model's own random draws are not used. Each of 40
items has three forced choices of every source. The studies:

``sets``     people; a fifth of the items have three response sets besides.
``choices``  people; none has, so that endorsements are identified by the prior only: uniform ranks
             there say that the intervals are as wide as they should be.
``three``    as ``choices``, with three options (seven response sets).
``errors``   as ``sets``, and people give a wrong response set at an unknown rate and skew.
``sources``  as ``sets``, people and two judges.
``strength`` as ``sets``, choices tied to one selection strength.
``tied``     people and a judge drawn together, item by item (`bayesjudge.ratings.tracking`), with
             everything that the fit would give known: the Gibbs sampler's own unknowns.

Writes ``sbc_STUDY.jsonl`` (every rank), ``sbc.csv`` (the tests),
``sbc_ranks.csv`` (how often each rank occurred) and, from that, ``sbc.png``: both
tables keep the studies that are not run again.

Quick: ``--simulations 2 --workers 1 --study choices``

Found: ranks of all 48 unknowns of the seven studies are uniform over 500 simulations, over 200 of
``tied`` (least adjusted p .74; spread of the ranks .96 to 1.05), and over 100 of ``errors``, which
alone was run again with the likelihood of today (least adjusted p 1).
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from bayesjudge import BetaPrior, lab, ratings
from bayesjudge.ratings.response_sets import (
    all_response_sets,
    choice_matrix,
    error_matrix,
    membership,
)
from bayesjudge.ratings.tracking import CHAINS, _draw_pair

RESULTS = Path(__file__).parent / "results"
SEED = 20_256
ITEMS, EACH = 40, 3


@dataclass(frozen=True)
class Study:
    """What is simulated, and what is ranked."""

    model: ratings.ResponseSets = ratings.ResponseSets()
    options: tuple[str, ...] = ("yes", "no")
    sources: tuple[str, ...] = ("people",)
    asked: int = 8
    ranked: tuple[str, ...] = ("endorsement", "concentration", "choice_of_2")

    @property
    def members(self) -> np.ndarray:
        """Which option is in which response set."""
        return membership(self.options, all_response_sets(self.options))


STUDIES = {
    "sets": Study(),
    "choices": Study(asked=0),
    "three": Study(options=("a", "b", "c"), asked=0),
    "errors": Study(
        model=ratings.ResponseSets(error=ratings.RaterErrors(BetaPrior(2, 18))),
        ranked=("endorsement", "concentration", "choice_of_2", "error_rate", "skew"),
    ),
    "sources": Study(sources=("people", "gpt", "claude")),
    "strength": Study(
        model=ratings.ResponseSets(choice=ratings.TiedChoice(1.0)),
        ranked=("endorsement", "concentration", "strength"),
    ),
    "tied": Study(sources=("people", "gpt"), ranked=("tracking", "judge_concentration")),
}


def draw_prior(rng: np.random.Generator, *, study: Study) -> dict[str, Any]:
    """Draw mean shares, concentrations and choices of every source, and people's errors."""
    n, members, model = len(study.sources), study.members, study.model
    tied, judge = isinstance(model.choice, ratings.TiedChoice), ratings.TrackingPrior()
    q, k = members.shape[1], len(study.options)
    share = rng.dirichlet(np.ones(q), n)
    size = np.exp(np.log(model.concentration) + model.concentration_spread * rng.normal(size=n))
    strength = rng.normal(0, model.choice.strength_sd if tied else 1.0, n)
    choice = np.empty((n, *members.shape))
    for s in range(n):
        choice[s] = choice_matrix(members, strength[s])
        if not tied:
            for v in range(q):
                held = np.flatnonzero(members[:, v])
                choice[s, held, v] = rng.dirichlet(np.ones(len(held)))
    pairs = [v for v in range(q) if members[:, v].sum() == 2]
    held = np.array([np.flatnonzero(members[:, v]) for v in pairs])
    as_people, leans, neither = rng.dirichlet([0.5, 0.5, 1.0])
    truths = {
        "set_share": share,
        "concentration": size,
        "strength": strength,
        "choice": choice,
        "choice_of_2": choice[:, held, np.array(pairs)[:, None]],
        "endorsement": share @ members.T,
        "tracking": np.array(1 - neither),
        "as_people": np.array(as_people),
        "lean": np.array(leans / (leans + neither)),
        "judge_concentration": np.exp(
            np.log(judge.concentration) + judge.concentration_spread * rng.normal()
        ),
        "rho": rng.dirichlet(np.ones(q)),
    }
    if model.error is not None:
        truths["error_rate"] = np.array(rng.beta(*model.error.rate))
        truths["skew"] = np.array(model.error.skew_sd * rng.normal())
    assert truths["choice_of_2"].shape == (n, k * (k - 1) // 2, 2)
    return {name: np.asarray(value) for name, value in truths.items()}


def draw_data(truths: Any, rng: np.random.Generator, *, study: Study) -> ratings.Ratings:
    """Draw items' shares, then choices of all and response sets of some."""
    n, members = len(study.sources), study.members
    q = members.shape[1]
    chosen = np.zeros((n, ITEMS, len(study.options)), int)
    endorsed = np.zeros((n, ITEMS, q), int)
    people = None
    for s in range(n):
        alpha = truths["concentration"][s] * truths["set_share"][s]
        if study is STUDIES["tied"] and people is not None:
            w = truths["lean"]
            alpha = truths["judge_concentration"] * (w * people + (1 - w) * truths["rho"])
        shares = rng.standard_gamma(np.broadcast_to(alpha, (ITEMS, q))) + 1e-300
        shares /= shares.sum(axis=1, keepdims=True)
        if study is STUDIES["tied"] and people is not None:
            u = truths["as_people"]
            shares = u * people + (1 - u) * shares
        people = shares if people is None else people
        if study.model.error is not None and s == 0:
            e = error_matrix(members, float(truths["error_rate"]), float(truths["skew"]))
            shares = shares @ e.T
        chosen[s] = rng.multinomial(EACH, shares @ truths["choice"][s].T)
        endorsed[s, : study.asked] = rng.multinomial(EACH, shares[: study.asked])
    return ratings.Ratings(
        chosen,
        study.options,
        "yes" if "yes" in study.options else "a",
        endorsed=endorsed,
        sources=study.sources,
    )


class Tied:
    """Chains of tracking, with what the fit would have found taken from the truths."""

    def __init__(self, study: Study) -> None:
        self.study, self.truths = study, {}

    def draw_data(self, truths: Any, rng: np.random.Generator) -> ratings.Ratings:
        """Draw, and remember from what."""
        self.truths = truths
        return draw_data(truths, rng, study=self.study)

    def __call__(self, data: ratings.Ratings, rng: np.random.Generator) -> lab.Draws:
        """Draw how far the judge tracks people, and how much it varies."""
        n = 5 * CHAINS
        alpha = self.truths["concentration"][:, None] * self.truths["set_share"]
        choice = self.truths["choice"]
        given = (np.broadcast_to(x, (n, *x.shape)) for x in (alpha, choice))
        prior, weights = ratings.TrackingPrior(), self.study.model.share
        found = _draw_pair(data, 1, weights, prior, *given, None, rng).tracked
        draws = {"tracking": found.tracking, "judge_concentration": found.concentration}
        return lab.Draws({k: v.reshape(-1, CHAINS).T for k, v in draws.items()})


def ranks_of(name: str, study: Study, simulations: int, workers: int | None) -> Any:
    """Run or continue one study."""
    settings = {
        "simulations": simulations,
        "random_seed": SEED,
        "path": RESULTS / f"sbc_{name}.jsonl",
    }
    prior = partial(draw_prior, study=study)
    if name == "tied":
        tied = Tied(study)  # remembers the truths of its last data: one process only
        return lab.sbc(tied, draw_prior=prior, draw_data=tied.draw_data, workers=1, **settings)
    return lab.sbc(
        lab.Nuts(ratings.build_model, study.model, study.ranked),
        draw_prior=prior,
        draw_data=partial(draw_data, study=study),
        workers=workers,
        **settings,
    )


def draw(counts: pd.DataFrame) -> None:
    """Draw every study's ranks; curves of one unknown share a colour."""
    names = [name for name in STUDIES if name in set(counts["study"])]
    columns = min(4, len(names))
    rows = -(-len(names) // columns)
    figure = plt.figure(figsize=(4 * columns, 3.4 * rows + 0.4), layout="constrained")
    curves: dict[str, Any] = {}
    for i, name in enumerate(names):
        here = counts[counts["study"] == name].set_index("quantity")["counts"]
        parts = []
        for quantity, text in here.items():
            times = np.array(text.split(), int)
            ranks = np.repeat(np.arange(times.size), times)
            parts.append(pd.DataFrame({"quantity": quantity, "rank": ranks}))
        study = lab.RankStudy(pd.concat(parts), times.size - 1, {})
        # shares of two options sum to 1: the second's curve is the first's, turned over
        shown = [q for q in here.index if not re.fullmatch(r"choice_of_2.*, 1\]", q)]
        ax = lab.plot_ranks(study, quantities=shown, ax=figure.add_subplot(rows, columns, i + 1))
        for line in ax.lines[1:]:  # the first is the axis
            kind = str(line.get_label()).partition("[")[0]
            first = curves.setdefault(kind, line)
            colour = f"C{len(curves) - 1}" if first is line else first.get_color()
            line.set(color=colour, alpha=0.8, lw=1)
        ax.get_legend().remove()
        n = int(np.array(here.iloc[0].split(), int).sum())
        ax.set_title(f"{name}: {n} simulations", fontsize=10, loc="left")
    figure.legend(curves.values(), curves, loc="outside lower center", ncols=7, frameon=False)
    figure.savefig(RESULTS / "sbc.png", dpi=80)


def kept(path: Path, names: list[str], made: list[pd.DataFrame]) -> pd.DataFrame:
    """Write new rows, and the old ones of other studies, in the order of the studies."""
    tables = made
    if path.exists():
        old = pd.read_csv(path)
        tables = [old[~old["study"].isin(names)], *made]
    order = {name: i for i, name in enumerate(STUDIES)}
    table = pd.concat(tables).sort_values("study", key=lambda x: x.map(order), kind="stable")
    table.to_csv(path, index=False, float_format="%.4g")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=100)
    parser.add_argument("--workers", type=int, help="processes; all cores by default")
    parser.add_argument("--study", choices=STUDIES, action="append", help="all by default")
    parser.add_argument("--redraw", action="store_true", help="run nothing, use what is stored")
    asked = parser.parse_args()
    if asked.redraw:
        return draw(pd.read_csv(RESULTS / "sbc_ranks.csv"))
    names = asked.study or list(STUDIES)
    tables, counts = [], []
    for name in names:
        found = ranks_of(name, STUDIES[name], asked.simulations, asked.workers)
        table = found.uniformity().reset_index()
        table.insert(0, "study", name)
        tables.append(table)
        print(table.round(4).to_string(index=False), flush=True)
        for quantity in table["quantity"]:
            times = np.bincount(found.ranks(quantity), minlength=found.retained + 1)
            row = {"study": name, "quantity": quantity, "counts": " ".join(map(str, times))}
            counts.append(pd.DataFrame([row]))
    kept(RESULTS / "sbc.csv", names, tables)
    return draw(kept(RESULTS / "sbc_ranks.csv", names, counts))


if __name__ == "__main__":
    main()
