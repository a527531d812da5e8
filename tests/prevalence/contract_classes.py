"""What the contract tests have to know of `bayesjudge.prevalence.classes`."""

from contract import Module

from bayesjudge import prevalence
from bayesjudge.prevalence import classes


def models():
    """Both models, on data that each suits."""
    table = classes.simulate(random_seed=1)
    by_verdict = classes.ClassCounts.from_frame(table, calibration="by_verdict")
    halves = table.assign(system=["x", "y"] * (len(table) // 2))
    two = classes.ClassCounts.from_frame(halves, calibration="random", by="system")
    return [(classes.Confusions(), two), (classes.PredictiveShares(), by_verdict)]


CONTRACT = Module(
    module=classes,
    read=lambda table: classes.ClassCounts.from_frame(table, calibration="random"),
    closed_form=prevalence.rogan_gladen,
    truth={("prevalence", "a"): 0.5, ("prevalence", "c"): 0.2, ("confusion", "a", "a"): 0.8},
    models=models,
    of_the_text=True,
    sparse=lambda: [(classes.Confusions(), CONTRACT.simulated(1))],
    moves={("Confusions", "pooling"): "full"},
)
