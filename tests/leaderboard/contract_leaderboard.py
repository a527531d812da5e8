"""What the contract tests have to know of battles."""

from contract import Module

import bayesjudge.leaderboard as module


def read(table):
    return module.Battles.from_frame(table, people="human")


def models():
    battles = read(module.simulate(strengths=(0.6, 0.1, -0.7), favours=(0.0, 0.3, 0.0),
                                   items=30, labelled=0.4, random_seed=1))  # fmt: skip
    return [(module.CalibratedBattles(), battles)]


def sparse():
    """People alone, and a judge that saw one order and no tie."""
    table = module.simulate(strengths=(0.6, 0.1, -0.7), favours=(0.0,) * 3, items=30, labelled=1,
                            random_seed=1)  # fmt: skip
    people = module.Battles.from_frame(table, verdict="human").people
    alone = module.Battles.from_frame(table, verdict=None, people="human")
    one = table[table["model_a"] < table["model_b"]]
    one = one[(one["winner"] != "tie") & (one["human"] != "tie")]
    assert people is not None
    return [(module.CalibratedBattles(), alone), (module.CalibratedBattles(), read(one))]


STRENGTHS = (0.8, 0.3, 0.0, -0.3, -0.8)
CONTRACT = Module(
    module=module,
    read=read,
    closed_form=module.power_tuned,
    truth={("strength", f"s{i + 1}"): value for i, value in enumerate(STRENGTHS)}
    | {("lead", "s1"): 0.5},
    models=models,
    sparse=sparse,
    of_the_text=True,
    moves={("CalibratedBattles", "equal_length"): False},
)
