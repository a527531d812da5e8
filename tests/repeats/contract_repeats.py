"""What the contract tests have to know of repeated scores."""

from contract import Module

import bayesjudge.repeats as module


def read(table):
    return module.Scores.from_frame(table, scale=range(1, 6), judge="judge", order="repeat")


def models():
    scores = read(module.simulate(items=4, judges=3, repeats=3, random_seed=1))
    return [(module.CumulativeLogit(), scores), (module.JudgeCutpoints(), scores)]


def sparse():
    """One judge, or one item."""
    one_judge, one_item = (
        read(module.simulate(items=items, judges=judges, repeats=3, random_seed=1))
        for items, judges in ((4, 1), (1, 3))
    )
    return [(module.CumulativeLogit(), one_judge), (module.JudgeCutpoints(), one_item)]


#: On the scale of the scores, from the latent standard deviations that `simulate` takes.
COMPONENTS = module.score_components(
    (0.05, 0.2, 0.4, 0.25, 0.1),
    scale=range(1, 6),
    item_scale=1.5,
    judge_scale=0.7,
    item_judge_scale=0.7,
)
CONTRACT = Module(
    module=module,
    read=read,
    closed_form=module.anova,
    truth={(name,): value for name, value in COMPONENTS.items()},
    models=models,
    sparse=sparse,
    of_the_text=True,
    not_narrowed=dict.fromkeys(
        ("mean_score", "repeat_sd", "judge_sd"),
        "copies of the items are no more judges, of whom these are means and spreads",
    ),
    moves={(name, "noise"): "by_level" for name in ("CumulativeLogit", "JudgeCutpoints")},
)
