"""The contract's entry for `bayesjudge.bias`."""

import numpy as np
from contract import Module

from bayesjudge import bias


def read(table, **more):
    return bias.Shifts.from_frame(table, scale=(0, 100), design="item", rerun="rerun", **more)


def models():
    """Three perturbations and two judges: with fewer there is nothing to pool."""
    names = ("format", "length", "order")
    table = bias.simulate(
        perturbations=names, item_spread=3, mean_shift=1, items=10, judges=["a", "b"], random_seed=1
    )
    return [(bias.NormalShifts(), read(table, judge="judge"))]


def sparse():
    """One judge; two judges and one perturbation: nothing to pool."""
    few = bias.simulate(items=10, random_seed=1)
    several = {"mean_shift": 1, "item_spread": 3, "items": 10, "random_seed": 1}
    two = bias.simulate(perturbations=["format"], judges=["a", "b"], **several)
    return [(bias.NormalShifts(), data) for data in (read(few), read(two, judge="judge"))]


CONTRACT = Module(
    module=bias,
    read=read,
    closed_form=bias.variance_parts,
    # squares of the mean shift, the items' own shifts and twice the noise add up
    truth={
        ("mean_shift", "format"): 3.0,
        ("mean_shift", "order"): 0.0,
        ("rms_shift", "format"): np.sqrt(3.0**2 + 4.0**2 + 2 * 3.0**2),
        ("rms_shift", "order"): np.sqrt(2.0**2 + 2 * 3.0**2),
        ("repeat_noise",): np.sqrt(2) * 3.0,
    },
    models=models,
    sparse=sparse,
    of_the_text=True,
    moves={("NormalShifts", "unit"): 50.0},
)
