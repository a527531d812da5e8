"""What the contract tests have to know of `bayesjudge.prevalence.items`."""

from dataclasses import replace

from contract import Module

from bayesjudge import prevalence
from bayesjudge.prevalence import items


def closed_form(data):
    """Rates and prevalence by Rogan-Gladen, and how alike rows of an item are."""
    rates, alike = prevalence.rogan_gladen(data), items.agreement_within(data)
    kinds = {**rates.interval, **dict.fromkeys(alike.quantities, alike.interval)}
    return replace(rates, quantities={**rates.quantities, **alike.quantities}, interval=kinds)


CONTRACT = Module(
    module=items,
    read=lambda table: items.Items.from_frame(
        table, by="system", calibration="random", repeats="system"
    ),
    closed_form=closed_form,
    truth={
        ("prevalence", "a"): 0.8,
        ("prevalence", "b"): 0.7,
        ("sensitivity", "a"): 0.9,
        ("specificity", "b"): 0.7,
    },
    ordered_pairs=True,
    drawn=frozenset({"sensitivity", "specificity"}),
    not_narrowed_at_an_end={
        "Difference (PPI++)": "of few labelled items the weight on the judge rests on imaginary "
        "ones too, of which nine copies have no more: a value may run with the weight to 0 or 1"
    },
    models=lambda: [(items.ItemEffects(), CONTRACT.simulated(1))],
    of_the_text=True,
)
