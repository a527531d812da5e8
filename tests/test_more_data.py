"""Tables read in parts and added are what reading them at once gives, or refused with the remedy.

Never silently something else: not where an item has rows in both parts.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from conftest import MODULES
from refusals import refused

import bayesjudge as bj
from bayesjudge.core.storage import checksum

#: Modules whose data add up; of the others, two are refused.
ADDED = ("panel", "prevalence")
EACH = [pytest.param(one, id=one.name) for one in MODULES]


def parts_of(one, rng):
    """A random table in two parts, the items that both have, and the way to read it."""
    table, read = one.sample(rng)
    if "item" not in table:
        table = table.assign(item=np.arange(len(table)))
    units = table["item"].to_numpy()
    if rng.random() < 0.5:  # by item; else row by row, which cuts items in two
        units = np.unique(units, return_inverse=True)[1]
        first = (rng.random(units.max() + 1) < 0.5)[units]
    else:
        first = rng.random(len(table)) < 0.5
    halves = table[first], table[~first]
    by = [c for c in ("generator", "system", "stratum", "item") if c in table and c != one.name]
    names = [set(map(tuple, half[by].to_numpy().tolist())) for half in halves]
    return halves, names[0] & names[1], read


@pytest.mark.parametrize("one", EACH)
@pytest.mark.slow
def test_parts_are_the_whole_or_refused(one):
    rng = np.random.default_rng(13)
    found = {"same": 0, "shared": 0, "refused": 0}
    for _ in range(80 if one.name in ADDED else 20):
        halves, shared, read = parts_of(one, rng)
        try:
            parts = [read(half) for half in halves]
        except bj.InputError:  # a half without labels, for example
            continue
        if one.name not in ADDED:
            with refused(id="not-added"):
                parts[0] + parts[1]
            found["refused"] += 1
        elif shared:
            with refused(len(shared), id="items-twice"):
                parts[0] + parts[1]
            found["shared"] += 1
        else:
            whole = read(pd.concat(halves))
            assert checksum(parts[0] + parts[1]) == checksum(whole)
            found["same"] += 1
    wanted = {"panel": ("same", "shared"), "prevalence": ("same",)}.get(one.name, ("refused",))
    assert all(found[kind] for kind in wanted), found


@pytest.mark.slow
@pytest.mark.parametrize("one", [one for one in EACH if one.values[0].name in ADDED])
def test_a_table_is_not_added_twice(one):
    rng = np.random.default_rng(1)
    table, read = one.sample(rng)
    if "item" not in table:
        table = table.assign(item=np.arange(len(table)))
    data, judged = read(table), [name for name in ("verdict", "vote", "score") if name in table]
    few = table.dropna(subset=judged)[:2]
    with refused(id="items-twice"):
        data + read(table)
    with refused(id="items-twice"):
        (read(table[table["item"] != few["item"].iloc[0]]) + read(few.assign(truth=1))) + data


@pytest.mark.parametrize("one", [one for one in EACH if one.values[0].name in ADDED])
def test_data_of_unknown_items_are_added_on_an_assumption(one):
    """Counted by an engine, or given as arrays: results say what they assume."""
    data = replace(one.models()[0][1])
    made = one.module.closed_forms(data + data)
    ids = {assumption.id for estimate in made for assumption in estimate.assumptions}
    assert ids & {"items-differ", "rows-are-items"}
    assert not (data + data).distinct
