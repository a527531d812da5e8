"""What the contract tests have to know of `bayesjudge.prevalence.scores`."""

from contract import Module

from bayesjudge import prevalence
from bayesjudge.prevalence import scores


def models():
    """The three models, on data that each suits."""
    table = scores.simulate(random_seed=1)
    by_score = scores.Scores.from_frame(
        table, calibration="by_verdict", scale=(0, 1), edges=(0.2, 0.5)
    )
    numbers = scores.Scores.from_frame(
        scores.simulate(random_seed=1, numeric=True),
        calibration="random",
        scale=(0, 1),
        truth_scale=(1, 5),
    )
    return [
        (scores.ScoreGivenTruth(), CONTRACT.simulated(1)),
        (scores.TruthGivenScore(), by_score),
        (scores.RisingMean(), numbers),
    ]


CONTRACT = Module(
    module=scores,
    read=lambda table: scores.Scores.from_frame(table, calibration="random", scale=(0, 1)),
    closed_form=prevalence.difference,
    truth={("prevalence",): 2 / 7},
    mirrored=("score", "truth"),
    leaning={"Binned scores": "bins are cut from the lowest score on, and hold their lower edges"},
    models=models,
    of_the_text=True,
)
