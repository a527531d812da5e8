"""What the contract tests have to know of `bayesjudge.prevalence.people`."""

from functools import partial

from contract import MIRROR, Module

from bayesjudge.prevalence import people

NAMES = ["ann1", "ann2"]


def read(table, **how):
    """A table of two people's labels."""
    return people.PeopleCounts.from_frame(table, truth=NAMES, **{"calibration": "random"} | how)


def models():
    """The model, on two systems: its judge has rates of its own on each."""
    table = people.simulate(items=200, labelled=100, shared=60, random_seed=1)
    table = table.assign(system=["x", "y"] * (len(table) // 2))
    return [(people.PeopleErrors(), read(table, by="system"))]


def tables(rng):
    """Good judges and bad, people who err and do not, of one system, several or strata."""
    sizes = {"items": int(rng.integers(5, 200)), "labelled": int(rng.integers(4, 80))}
    rates = {n: float(rng.beta(3, 1)) for n in ("prevalence", "sensitivity", "specificity")}
    table = people.simulate(**sizes, **rates, errors=rng.beta(1, 9, 2), random_seed=rng)
    how = {"calibration": str(rng.choice(["random", "by_verdict"]))}
    kind = str(rng.choice(["", "system", "stratum"]))
    if kind:
        table[kind] = rng.choice(list("ab"), len(table))
        how["by" if kind == "system" else "stratum"] = kind
    return table, partial(read, **how)


CONTRACT = Module(
    module=people,
    read=read,
    closed_form=people.exact,
    truth={("prevalence",): 0.8},
    models=models,
    of_the_text=True,
    sparse=lambda: [(people.PeopleErrors(), CONTRACT.simulated(1))],
    moves={("PeopleErrors", "pooling"): "full"},
    tables=tables,
    mirrored=("verdict", *NAMES),
    mirror=MIRROR | {name: (name, True) for name in ("people_pass", "overall_people_pass")},
)
