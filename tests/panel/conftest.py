"""Real panels that live beside a developer's checkout, and one fit of each model a session."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import shared

import bayesjudge as bj
from bayesjudge.core.fit import Fit

LEVELS = {"fc": "partly_repaired", "fcnhp": "repaired"}


def code_feedback(level="fcnhp"):
    table = pd.read_csv(shared(f"data/code_feedback/votes_{LEVELS[level]}.csv.gz"))
    judges = list(table.columns[5:])
    return bj.panel.Votes.from_frame(table, judges=judges, truth="human")


def anesthesia():
    table = pd.read_csv(shared("data/anesthesia_caries/anesthesia.csv"))
    return bj.panel.Votes.from_frame(
        table,
        judge="rater",
        vote="rating",
        generator=None,
        truth=None,
        classes=[1, 2, 3, 4],
        repeated="keep",
    )


def caries():
    table = pd.read_csv(shared("data/anesthesia_caries/caries.csv"))
    rows = table.iloc[:, :5].to_numpy() - 1
    nobody, one = np.full(len(rows), -1), np.zeros(len(rows))
    judges = [f"dentist {j}" for j in range(1, 6)]
    return bj.panel.Votes(rows, nobody, one, ["teeth"], judges, count=table["n"])


def crowd(name):
    labels = pd.read_csv(shared(f"data/crowd/{name}/label.csv"))
    truth = pd.read_csv(shared(f"data/crowd/{name}/truth.csv"))
    table = labels.merge(truth, on="item")
    return bj.panel.Votes.from_frame(table, judge="worker", vote="label", generator=None)


@pytest.fixture(scope="session")
def model_fit(once):
    """Return a fit of a model to simulated votes, sampled once a run."""

    def get(model, **simulation):
        def sampled():
            table = bj.panel.simulate(random_seed=3, **simulation)
            votes = bj.panel.Votes.from_frame(table, calibration="random")
            return bj.panel.fit(votes, model, random_seed=3)

        return once(f"{type(model)} {model} {sorted(simulation.items())}", sampled)

    return get


def fit_of_draws(votes, model, draws, **values):
    """A fit whose draws all are these values, or, of one chain, these draws."""
    shown = {
        name: v if np.ndim(v) == 3 else np.broadcast_to(v, (1, draws, *np.shape(v)))
        for name, v in values.items()
    }
    dims = {"prevalence": "generator", "shared_effect": "truth"}
    by_judge = ("sensitivity", "specificity", "discrimination", "leniency")
    dims |= dict.fromkeys(by_judge, "judge")
    arrays = {name: (("chain", "draw", dims[name]), v) for name, v in shown.items()}
    coords = {"generator": list(votes.generators), "judge": list(votes.judges)}
    tree = xr.DataTree.from_dict({"posterior": xr.Dataset(arrays, coords)})
    tree.attrs = {"random_seed": 1}
    return Fit(tree, votes, model, tuple(values), method=model._method, source="")
