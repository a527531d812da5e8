"""Do a room's intervals and posteriors keep their word? Studies against known truth.

`sbc` draws truths from a model's prior, data from the truths, and ranks the truths in the
posteriors: uniform ranks are what a correct model and sampler give. `coverage` counts how often
intervals, of closed forms and fits alike, hold a truth that stays fixed. Both give every task its
own seed, run on all cores, and continue an interrupted study from its file.

A calibration study of a room is three callables, found by other processes by their names, so
that a script keeps them at its top level and runs under ``if __name__ == "__main__":``::

    from functools import partial
    import bayesjudge as bj
    from bayesjudge import lab

    room, design = bj.prevalence, "by_truth"
    rates = ("prevalence", "sensitivity", "specificity")

    def draw_prior(rng):                            # or lab.PriorDraws(room.build_model, ...)
        return {name: rng.beta(1, 1) for name in rates}

    draw_data = lab.Simulated(
        room.simulate,
        partial(room.Counts.from_frame, calibration=design),
        fixed={"items": 500, "labelled": 100, "calibration": design},
    )
    posterior = lab.Nuts(room.build_model, room.Priors(), rates)

    if __name__ == "__main__":
        study = lab.sbc(posterior, draw_prior=draw_prior, draw_data=draw_data, simulations=500,
                        random_seed=1, path="sbc_by_truth.jsonl")
        print(study.uniformity())
        lab.plot_ranks(study).figure.savefig("sbc_by_truth.png")

        covered = lab.coverage(
            {"Rogan-Gladen": room.rogan_gladen, "exact": room.exact,
             "NUTS": partial(room.fit, road="full", cores=1)},
            lab.grid(prevalence=[0.1, 0.5], sensitivity=[0.9], specificity=[0.7]),
            draw_data=draw_data, replications=20, batch=5, random_seed=1,
        )
        print(covered.table)
"""

from bayesjudge.lab.covering import CoverageStudy, coverage, grid
from bayesjudge.lab.model import Nuts, PriorDraws, Simulated
from bayesjudge.lab.plots import plot_coverage, plot_ranks
from bayesjudge.lab.ranks import RankStudy, sbc
from bayesjudge.lab.simulation import Draws

__all__ = [
    "CoverageStudy",
    "Draws",
    "Nuts",
    "PriorDraws",
    "RankStudy",
    "Simulated",
    "coverage",
    "grid",
    "plot_coverage",
    "plot_ranks",
    "sbc",
]
