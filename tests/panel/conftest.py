"""Real panels that live beside a developer's checkout, and one fit of each model a session."""

import numpy as np
import pandas as pd
import pytest
from conftest import shared

import bayesjudge as bj

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
def model_fit():
    """Return a fit of a model to simulated votes, sampled once a session."""
    made = {}

    def get(model, **simulation):
        key = (type(model), str(model), *sorted(simulation.items()))
        if key not in made:
            votes = bj.panel.Votes.from_frame(
                bj.panel.simulate(random_seed=3, **simulation), calibration="random"
            )
            made[key] = bj.panel.fit(votes, model, random_seed=3)
        return made[key]

    return get
