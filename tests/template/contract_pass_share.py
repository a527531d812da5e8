"""What the contract tests have to know of the template."""

import bayesjudge.pass_share as module
from contract import Module

CONTRACT = Module(
    module=module,
    read=module.Passes.from_frame,
    closed_form=module.wilson_share,
    truth={("prevalence", "s1"): 0.8, ("prevalence", "s2"): 0.5},
    models=lambda: [(module.PassShare(), module.Passes([20, 30], [15, 9], ["s1", "s2"]))],
)
