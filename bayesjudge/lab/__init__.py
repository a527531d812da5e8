"""Simulation-based calibration and coverage studies.

`sbc` draws truths from a model's prior, data from the truths, and ranks the truths in the
posteriors: uniform ranks are what a correct model and sampler give. `coverage` counts how often
intervals, of closed forms and fits alike, hold a truth that stays fixed. Both give every task its
own seed, run on all cores, and continue an interrupted study from its file.

A study of a module is a script: other processes find its functions by their names, so they stand
at its top level, and the script runs under ``if __name__ == "__main__":``::

    from functools import partial
    from bayesjudge import lab, prevalence

    rates = ("prevalence", "sensitivity", "specificity")

    def draw_prior(rng):                          # or lab.PriorDraws(prevalence.build_model, ...)
        return {name: rng.beta(1, 1) for name in rates}

    draw_data = lab.Simulated(
        prevalence.simulate,
        partial(prevalence.Counts.from_frame, calibration="by_truth"),
        fixed={"items": 500, "labelled": 100, "calibration": "by_truth"},
    )
    model = prevalence.ErrorRates(better_than_chance=False)
    posterior = lab.Nuts(prevalence.build_model, model, rates)

    if __name__ == "__main__":
        study = lab.sbc(posterior, draw_prior=draw_prior, draw_data=draw_data, simulations=500,
                        random_seed=1, path="sbc_by_truth.jsonl")
        print(study.uniformity())
        lab.plot_ranks(study).figure.savefig("sbc_by_truth.png")

        covered = lab.coverage(
            {"Rogan-Gladen": prevalence.rogan_gladen, "exact": prevalence.exact},
            lab.grid(prevalence=[0.1, 0.5], sensitivity=[0.9], specificity=[0.7]),
            draw_data=draw_data, replications=200, random_seed=1,
        )
        print(covered.table)
"""

from bayesjudge.lab.coverage import CoverageStudy, coverage, grid
from bayesjudge.lab.model import Nuts, PriorDraws, Simulated
from bayesjudge.lab.plots import plot_coverage, plot_ranks
from bayesjudge.lab.sbc import Draws, RankStudy, sbc

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
