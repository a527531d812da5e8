"""What the contract tests have to know of battles."""

import numpy as np
from contract import Module

import bayesjudge.leaderboard as module

LENGTHS = {"lengths": ("length_a", "length_b")}


def read(table):
    return module.Battles.from_frame(table, people="human")


def three(labelled):
    return module.simulate(
        strengths=(0.6, 0.1, -0.7), favours=(0.0, 0.3, 0.0), items=30, labelled=labelled,
        random_seed=1,
    )  # fmt: skip


def models():
    battles = module.Battles.from_frame(three(0.4), people="human", **LENGTHS)
    return [(module.CalibratedBattles(), battles)]


def sparse():
    """People alone; a judge that saw one order and no tie."""
    alone = module.Battles.from_frame(three(1), verdict=None, people="human", **LENGTHS)
    table = three(0.4)
    one = table[(table["model_a"] < table["model_b"]) & (table["winner"] != "tie")]
    one = one[one["human"] != "tie"]
    once = module.Battles.from_frame(one, people="human", **LENGTHS)
    return [(module.CalibratedBattles(), alone), (module.CalibratedBattles(), once)]


def tables(rng):
    """Two to four systems, few battles and many, labels few and all."""
    systems = int(rng.integers(2, 5))
    table = module.simulate(
        strengths=rng.normal(0, 0.7, systems),
        favours=rng.normal(0, 0.3, systems),
        items=int(np.exp(rng.uniform(np.log(8), np.log(40)))),
        labelled=float(rng.choice([0.3, 0.6, 1])),
        random_seed=rng,
    )
    return table, read


STRENGTHS = (0.8, 0.3, 0.0, -0.3, -0.8)
CONTRACT = Module(
    module=module,
    read=read,
    closed_form=module.power_tuned,
    truth={("strength", f"s{i + 1}"): value for i, value in enumerate(STRENGTHS)}
    | {("lead", "s5"): -1.6},
    models=models,
    sparse=sparse,
    of_the_text=True,
    tables=tables,
    moves={
        ("CalibratedBattles", "tie_location"): -0.5,
        ("CalibratedBattles", "target"): "equal length",
    },
)
