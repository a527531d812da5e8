"""Do intervals of pass@k and pass^k cover, through a judge whose errors persist, and what is off?

    python benchmarks/attempts/intervals.py                      # 12 data sets a setting
    python benchmarks/attempts/intervals.py --worlds beta --simulations 150 \
        --output benchmarks/attempts/results/intervals.csv
    python benchmarks/attempts/intervals.py --worlds other --simulations 60 \
        --output benchmarks/attempts/results/intervals_other.csv
    python benchmarks/attempts/intervals.py --worlds tau-bench --simulations 300 \
        --output benchmarks/attempts/results/intervals_tau.csv
    python benchmarks/attempts/intervals.py --room --simulations 80 \
        --output benchmarks/attempts/results/intervals_room.csv

One agent with pass@1 of .5, 50 tasks, a judge with sensitivity .9 and specificity .8, labels at
random; nominal 95 % intervals of the population of tasks. World ``beta``: success is Beta with a
correlation of .4, errors of a task are one draw with the persistence as probability, as the model
has it. World ``other``: success is .05, .5 or .95 (a third of the tasks each), and each task has
error rates of its own, Beta with the persistence as correlation, which no model here assumes.
World ``tau-bench``: 100 tasks drawn from the 50 of tau-bench's airline, with their four outcomes,
and all attempts at 40 of them labelled.
Methods: the judge's own numbers, the closed form through the judge, and the exact posterior.
``intervals.png`` shows the bias of pass^4 in world ``beta``. ``--room`` tries other priors of the
tasks that are always or never done: the draws under the default one are weighed, in four settings
of world ``beta`` and, half as many data sets more, in world ``tau-bench``.

Quick: ``--simulations 1``

Found: in world ``beta`` (150 data sets a setting, standard error of a coverage .018), where no task
is always or never done, the model's room for such tasks costs: pass^4 is too high by .03 to .06, by
.092 at most at k of 8, and covers .94 on average (.913 or more; .926 at k of 8), pass@4 is too low
by up to .070 and covers .942, pass@8 by up to .098 and .914 (.880 or more); at k of 1 it is off by
.010 at most and covers .964. Before there was such room the model was off by .024 at most there.
The closed form is right without persistence up to k = 4, and off by .12 and .22 at pass^4 with .3
and .6, where it covers .94 and .86; the judge's own pass^4 is off by -.04, .01 and .05, its pass@4
by .13, .08 and .04 with coverage .25, .69 and .91. In world ``other`` (60 data sets a setting,
standard error .028) it covers .957 to .964 on average by quantity and k, .900 or more by cell, and
is off by .055 at most at k up to 4 and .078 at 8. On tasks of tau-bench (300 resamples) its pass^4
covers .960 (error .011), off by +.002, with a width of .193; its pass@4 covers .940, off by -.027;
the judge's own pass^4 covers .930 and its pass@4 .313. With less room (``--room``, 80 data sets a
setting of world ``beta``, 120 of ``tau-bench``, error of a coverage .012 over the four, .02) pass^4
is too high by .038 with the flat prior, .030 with Beta(1, 2) and .022 with Beta(1, 4) in world
``beta``, and covers .934, .944 and .959 (pass^8 .922, .941 and .956, pass@8 .900, .925 and .950);
on tasks of tau-bench it is off by +.007, +.001 and -.008 and covers .975, .967 and .950. So less
room is better where there are no such tasks and worse where there are: the flat prior stays.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from bayesjudge import attempts as module
from bayesjudge import datasets
from bayesjudge.attempts import Attempts
from bayesjudge.attempts.closed_form import unbiased
from bayesjudge.truth.importance import interval_of

TASKS, MEAN, CORRELATION, RATES, KS = 50, 0.5, 0.4, (0.9, 0.8), (1, 2, 4, 8)
SPIKES = np.array([0.05, 0.5, 0.95])
#: Of tasks resampled from tau-bench: how many, attempts, persistence, and labelled attempts.
TAU = ("tau-bench", 4, 0.3, 160)
DRAWN = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=12)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--seed", type=int, default=39)
    parser.add_argument("--worlds", nargs="+", default=["beta", "other", TAU[0]])
    parser.add_argument("--room", action="store_true", help="other priors of always and never")
    arguments = parser.parse_args()
    if arguments.room:
        table = rooms(arguments.simulations, arguments.seed)
        print(table.to_string(index=False))
        if arguments.output:
            table.to_csv(arguments.output, index=False)
        return
    settings: list[tuple[str, int, float, int]] = [
        (world, attempts, persistence, labels)
        for world in arguments.worlds
        if world != TAU[0]
        for attempts in (4, 8)
        for persistence in (0.0, 0.3, 0.6)
        for labels in (40, 100)
    ]
    settings += [TAU] * (TAU[0] in arguments.worlds)
    rows = []
    for number, setting in enumerate(settings):
        rng = np.random.default_rng([arguments.seed, number, setting[0] != "beta"])
        found = [row for _ in range(arguments.simulations) for row in of_one(*setting, rng)]
        rows.append(summarised(pd.DataFrame(found), setting))
    table = pd.concat(rows, ignore_index=True)
    print(table.to_string(index=False))
    for world, part in table.groupby("world"):
        worst = part[part.method == "model"].sort_values("coverage").iloc[0]
        print(f"{world}: the model covers least where\n{worst.to_string()}")
    if arguments.output:
        table.to_csv(arguments.output, index=False)
        if "beta" in arguments.worlds:
            draw(table).savefig(arguments.output.with_suffix(".png"), dpi=110)


def rooms(simulations: int, seed: int) -> pd.DataFrame:
    """Bias and coverage by the prior of always and never, of the same draws, weighed."""
    of_beta = [(0.0, 4, 100, 1), (0.3, 8, 100, 9), (0.3, 4, 100, 3), (0.3, 4, 40, 2)]
    settings = [(*TAU, 0, simulations + simulations // 2)]
    settings += [("beta", n, again, labels, i, simulations) for again, n, labels, i in of_beta]
    rows = []
    for world, attempts, persistence, labels, number, runs in settings:
        rng = np.random.default_rng([seed, number, world != "beta"])
        for _ in range(runs):
            data = drawn(world, attempts, persistence, labels, rng)
            posterior = module.exact(data)
            rest = [1 - posterior.values[name][:, 0] for name in ("always", "never")]
            for b in (1, 2, 4):
                weight = np.clip(rest[0] * rest[1], 1e-9, 1) ** (b - 1)
                weight /= weight.sum()
                about = {"world": world, "attempts": attempts, "persistence": persistence}
                about |= {"labels": labels, "prior": f"Beta(1, {b})"}
                for quantity, k in itertools.product(("pass_at_k", "pass_hat_k"), data.k[1:]):
                    draws, true = posterior.chance(quantity, k)[:, 0], truth_of(world, quantity, k)
                    value, low, high = interval_of(draws, weight, 0.95, "eti")
                    covered = {"bias": value - true, "coverage": low <= true <= high}
                    row = {"quantity": quantity, "k": k, **covered, "width": high - low}
                    rows.append(about | row)
    by = ["world", "attempts", "persistence", "labels", "prior", "quantity", "k"]
    table = pd.DataFrame(rows).groupby(by, sort=False)
    made = table.mean()
    made.insert(1, "bias_error", table["bias"].sem())
    return made.assign(data_sets=table.size()).reset_index().round(4)


def draw(table: pd.DataFrame) -> Figure:
    """Bias of pass^4 by persistence, a line a method and number of labels."""
    figure, axes = plt.subplots(1, 2, figsize=(8.5, 3.2), sharey=True, layout="constrained")
    shown = table[(table.world == "beta") & (table.quantity == "pass_hat_k") & (table.k == 4)]
    for ax, (attempts, part) in zip(axes, shown.groupby("attempts"), strict=True):
        for i, (method, own) in enumerate(part.groupby("method", sort=False)):
            for labels, line in own.groupby("labels"):
                ax.errorbar(
                    line.persistence, line.bias, 2 * line.bias_error, color=f"C{i}",
                    ls="-" if labels == 100 else ":", marker="o", ms=3,
                    label=f"{method}, {labels} labels",
                )  # fmt: skip
        ax.axhline(0, color="0.6", lw=0.8)
        ax.set(xlabel="persistence of the judge's errors", title=f"{attempts} attempts a task")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("bias of pass^4")
    axes[1].legend(frameon=False, fontsize=7)
    return figure


def of_one(
    world: str, attempts: int, persistence: float, labels: int, rng: np.random.Generator
) -> list[dict[str, object]]:
    """Every method's numbers of one data set, beside the truth."""
    data = drawn(world, attempts, persistence, labels, rng)
    made = {
        "judge": module.by_judge(data),
        "closed form": module.corrected(data),
        "model": module.exact(data).estimate(),
    }
    rows = []
    for name, estimate in made.items():
        for quantity in ("pass_at_k", "pass_hat_k"):
            for k in data.k:
                row = estimate[quantity, k]
                about = {"method": name, "quantity": quantity, "k": k}
                rows.append(about | {"truth": truth_of(world, quantity, k), **row._asdict()})
    return rows


def drawn(
    world: str, attempts: int, persistence: float, labels: int, rng: np.random.Generator
) -> Attempts:
    """Attempts of one world, as counts by task."""
    if world == TAU[0]:
        return resampled(attempts, persistence, labels, rng)
    size = (TASKS, attempts)
    if world == "beta":
        table = module.simulate(
            prevalence=(MEAN,), task_correlation=CORRELATION, sensitivity=RATES[0],
            specificity=RATES[1], persistence=persistence, tasks=TASKS, attempts=attempts,
            labels=labels, random_seed=rng,
        )  # fmt: skip
        return Attempts.from_frame(table, calibration="random", k=KS)
    good = rng.random(size) < rng.choice(SPIKES, TASKS)[:, None]
    hit, right = (own_rates(rate, persistence, rng)[:, None] for rate in RATES)
    passed = np.where(good, rng.random(size) < hit, rng.random(size) >= right)
    labelled = (np.argsort(rng.random(good.size)) < labels).reshape(size)
    truth = np.where(labelled, good, 2)
    cells = np.zeros((TASKS, 1, 3, 2), int)
    np.add.at(cells, (np.arange(TASKS)[:, None], 0, truth, passed.astype(int)), 1)
    return Attempts(cells, [str(i) for i in range(TASKS)], ["agent"], "random", KS)


def outcomes() -> np.ndarray:
    """The four outcomes of each task of tau-bench's airline."""
    tasks = datasets.tau_bench_airline().pivot(index="task", columns="trial", values="success")
    return tasks.to_numpy(float)


def resampled(attempts: int, persistence: float, labels: int, rng: np.random.Generator) -> Attempts:
    """Attempts at tasks of tau-bench through a judge that is simulated; whole tasks have labels."""
    rows = outcomes()
    good = rows[rng.integers(len(rows), size=DRAWN)] > 0
    once = rng.random((DRAWN, 1)) < persistence
    hit, right = (
        np.where(once, rng.random((DRAWN, 1)) < rate, rng.random(good.shape) < rate)
        for rate in RATES
    )
    labelled = rng.permutation(DRAWN)[:, None] < labels // attempts
    truth = np.where(labelled, good, 2)
    cells = np.zeros((DRAWN, 1, 3, 2), int)
    passed = np.where(good, hit, ~right).astype(int)
    np.add.at(cells, (np.arange(DRAWN)[:, None], 0, truth, passed), 1)
    ks = tuple(k for k in KS if k <= attempts)
    return Attempts(cells, [str(i) for i in range(DRAWN)], ["agent"], "random", ks)


def own_rates(rate: float, correlation: float, rng: np.random.Generator) -> np.ndarray:
    """A rate of each task, with a correlation of two errors at one task."""
    if correlation == 0:
        return np.full(TASKS, rate)
    weight = 1 / correlation - 1
    return rng.beta(rate * weight, (1 - rate) * weight, TASKS)


def truth_of(world: str, quantity: str, k: int) -> float:
    """The population's pass@k or pass^k."""
    if world == TAU[0]:
        rows = outcomes()
        count = rows.sum(axis=1) if quantity == "pass_hat_k" else (1 - rows).sum(axis=1)
        power = float(unbiased(count, rows.shape[1], k).mean())
    elif world == "other":
        p = SPIKES if quantity == "pass_hat_k" else 1 - SPIKES
        power = float((p**k).mean())
    else:
        weight = 1 / CORRELATION - 1
        a = (MEAN if quantity == "pass_hat_k" else 1 - MEAN) * weight
        steps = np.arange(k)
        power = float(np.prod((a + steps) / (weight + steps)))
    return power if quantity == "pass_hat_k" else 1 - power


def summarised(found: pd.DataFrame, setting: tuple[str, int, float, int]) -> pd.DataFrame:
    """Bias, coverage and width by method, quantity and k, with Monte Carlo errors."""
    found["covered"] = (found.low <= found.truth) & (found.truth <= found.high)
    found["error"], found["width"] = found.value - found.truth, found.high - found.low
    known = found[found.value.notna()]
    by = known.groupby(["method", "quantity", "k"], sort=False)
    table = by.agg(
        data_sets=("error", "size"),
        bias=("error", "mean"),
        bias_error=("error", "sem"),
        coverage=("covered", "mean"),
        width=("width", "mean"),
    ).reset_index()
    about = dict(zip(("world", "attempts", "persistence", "labels"), setting, strict=True))
    for at, (name, value) in enumerate(about.items()):
        table.insert(at, name, value)
    return table.round(4)


if __name__ == "__main__":
    main()
