"""What the contract tests have to know of the panel."""

from functools import partial

import numpy as np
from contract import Module

import bayesjudge.panel as module


def votes_of(**settings):
    """A small simulated panel."""
    return module.Votes.from_frame(
        module.simulate(items=40, random_seed=1, **settings), calibration="random"
    )


def models():
    """Every model with votes that it suits."""
    votes = votes_of(labelled=20)
    three = module.Votes(
        [[0, 1, 2], [1, 1, -1], [2, 2, 2]],
        [0, -1, 2],
        [0, 0, 0],
        ["g"],
        "abc",
        classes="lmh",
        calibration="random",
    )
    return [
        (module.PooledDawidSkene(), votes),
        (module.DawidSkene(), votes),
        (module.Correlated(nodes=7), votes),
        (module.MulticlassDawidSkene(), three),
        (module.BiasPooling(), votes),
        (module.VoteRegression(), votes),
    ]


def tables(rng):
    """Few items and many, votes missing, labels few."""
    judges = int(rng.integers(2, 6))
    table = module.simulate(
        prevalence=rng.beta(2, 1, size=int(rng.integers(1, 5))),
        sensitivity=rng.beta(4, 1, size=judges),
        specificity=rng.beta(4, 1, size=judges),
        items=int(np.exp(rng.uniform(np.log(4), np.log(60)))),
        labelled=int(rng.integers(2, 5)),
        missing=float(rng.choice([0, 0.1, 0.5])),
        random_seed=rng,
    )
    return table, partial(module.Votes.from_frame, calibration="random")


CONTRACT = Module(
    module=module,
    read=partial(module.Votes.from_frame, calibration="random"),
    closed_form=partial(module.model_assisted, target="population"),
    truth={("prevalence", f"g{i}"): share for i, share in ((1, 0.9), (2, 0.75), (3, 0.6))},
    models=models,
    of_the_text=True,
    tables=tables,
    moves={("MulticlassDawidSkene", "missing"): "response"},
    leaning={
        "Voting: valid if most of the votes given say so": "a tie is no majority: it fails an item"
    },
    not_narrowed={
        "Logit shift": "half an item of each kind pulls the biases of few items together; and true "
        "differences between generators are no smaller among more items",
    },
    not_narrowed_at_an_end=dict.fromkeys(
        ("Dawid-Skene, posterior mode", "Truth given votes (Laplace)"),
        "half an item of each kind weighs less among more items: a rate runs into 0 or 1, where "
        "the logit scale has next to no curvature, or another class takes the unlabelled items",
    ),
)
