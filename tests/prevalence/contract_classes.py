"""What the contract tests have to know of `bayesjudge.prevalence.classes`."""

from contract import Module

from bayesjudge.prevalence import classes

CONTRACT = Module(
    module=classes,
    read=lambda table: classes.ClassCounts.from_frame(table, calibration="random"),
    closed_form=classes.class_shares,
    truth={("prevalence", "a"): 0.5, ("prevalence", "c"): 0.2, ("confusion", "a", "a"): 0.8},
    models=lambda: [(classes.Confusions(), CONTRACT.simulated(1))],
)
