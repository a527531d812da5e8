"""`label-shift`: rare for random labels, whichever way they are read, and frequent for others."""

import itertools

import numpy as np
import pandas as pd
import pytest
from conftest import study_but

from bayesjudge import prevalence
from bayesjudge.prevalence import classes, items, scores
from bayesjudge.prevalence.cautions import SHIFT_P, shift_p_value


def alarms(estimate):
    return any(c.id == "label-shift" for c in estimate.cautions)


def noise(log, kinds):
    """The same for each system."""
    drawn = np.random.default_rng(0).integers(0, kinds, len(log))
    return drawn[log.groupby("system").cumcount()]


def by_counts(log):
    return alarms(prevalence.naive(prevalence.Counts.from_frame(log, by="system", **RANDOM)))


def by_items(log):
    read = items.Items.from_frame(log, by="system", repeats="system", **RANDOM)
    return alarms(prevalence.naive(read))


def by_classes(log):
    """The judge calls a part of what it passes by another name."""
    names = np.array(["no", "yes", "very"])
    two = 1 + noise(log, 2)
    truth = np.where(log["truth"].isna(), None, names[(log["truth"].fillna(0) * two).astype(int)])
    table = log.assign(verdict=names[log["verdict"] * two], truth=truth)
    read = classes.ClassCounts.from_frame(table, by="system", classes=names, **RANDOM)
    return alarms(prevalence.naive(read))


def by_scores(log):
    table = log.assign(score=1 + noise(log, 3) + 2 * log["verdict"])
    read = scores.read_systems(table, by="system", scale=(1, 5), **RANDOM)
    return any(alarms(prevalence.naive(one)) for one in read.values())


def by_pairs(log):
    table = log.assign(score=1 + noise(log, 3) + 2 * log["verdict"])
    read = scores.PairedScores.from_frame(table, by="system", item="item", scale=(1, 5), **RANDOM)
    return alarms(prevalence.paired_difference(read))


RANDOM = {"calibration": "random"}
READINGS = {by_counts: 1, by_items: 4, by_classes: 1, by_scores: 1}


def honest(seed, repeats, systems):
    """A random sample of items, or of rows, of systems that may be good nearly always."""
    rng = np.random.default_rng(seed)
    shares = rng.choice([0.03, 0.5, 0.9, 0.98, 0.995], systems)
    return items.simulate(
        systems={f"s{i:02}": float(x) for i, x in enumerate(shares)},
        items=int(rng.choice([60, 300])),
        repeats=repeats,
        labelled=int(rng.choice([15, 30])),
        label=str(rng.choice(["item", "row"])),
        icc=float(rng.choice([0, 0.5])),
        sensitivity=float(rng.choice([0.9, 1.0])),
        specificity=0.9,
        random_seed=rng,
    )


@pytest.mark.slow
@pytest.mark.parametrize("reading", [*READINGS, by_pairs])
@pytest.mark.parametrize("tables", study_but([20, 60], 20))
def test_random_labels_are_blamed_as_rarely_as_stated_whatever_the_number_of_systems(
    reading, tables
):
    tables, systems = (tables // 2, 8) if reading is by_pairs else (tables, 12)
    logs = (honest(seed, READINGS.get(reading, 1), systems) for seed in range(tables))
    told = sum(map(reading, logs))
    assert told <= tables * SHIFT_P + 4 * np.sqrt(tables * SHIFT_P)


def nearly(reading):
    """A log of one system whose shift is seen in a few of a thousand random samples."""
    about = {"items": 150, "repeats": READINGS[reading], "labelled": 30, "random_seed": 1}
    log = items.simulate(systems={"a": 0.5}, **about)
    passed = log.assign(item=log["item"] + 1000, verdict=1, truth=1.0)
    for more in range(100):
        log = pd.concat([log, passed[passed["item"] == 1000 + more]], ignore_index=True)
        if reading(log):
            return log
    raise AssertionError("never")


@pytest.mark.slow
@pytest.mark.parametrize("reading", READINGS)
def test_a_shift_that_one_of_many_systems_shows_by_chance_is_not_told(reading):
    log = nearly(reading)
    many = pd.concat([log.assign(system=f"s{i:02}") for i in range(50)])
    assert reading(log)
    assert not reading(many)


@pytest.mark.slow
@pytest.mark.parametrize("reading", READINGS)
def test_labels_on_what_the_judge_passes_are_blamed(reading):
    told = 0
    for seed in range(20):
        log = honest(seed, READINGS[reading], 2)
        log = log.assign(verdict=np.random.default_rng(seed).integers(0, 2, len(log)))
        log["truth"] = log["truth"].fillna(log["verdict"]).where(log["item"] < 60)
        others = (log["verdict"] == 0) & (log["item"] % 10 > 0)
        told += reading(log.assign(truth=log["truth"].mask(others)))
    assert told >= 16


def read(cells, count=None, repeats="system"):
    cells = np.array(cells)[:, None] if np.ndim(cells) == 3 else np.array(cells)
    count = np.ones(len(cells), int) if count is None else count
    systems = [f"s{i}" for i in range(cells.shape[1])]
    return items.Items(cells, count, systems, "random", repeats)


def test_few_labels_that_all_pass_are_no_shift():
    # the labelled outputs of a system that the judge passes 95 times of 100
    single = [[[0, 0], [0, 1], [0, 0]], [[0, 0], [0, 0], [0, 1]], [[0, 0], [0, 0], [1, 0]]]
    twice = 2 * np.array(single)
    for cells, repeats in ((single, None), (twice, "system"), (twice, "judge")):
        made = prevalence.naive(read(cells, [10, 85, 5], repeats))
        assert not alarms(made)
        made = prevalence.naive(read(cells, [200, 100, 100], repeats))
        assert alarms(made)


def test_without_repeats_it_is_the_test_of_counts():
    rng = np.random.default_rng(4)
    cells = np.zeros((12, 3, 3, 2), int)
    for pattern, system in np.ndindex(12, 3):
        cells[(pattern, system, *np.unravel_index(rng.integers(6), (3, 2)))] = 1
    one = read(cells, rng.integers(5, 40, 12), None)
    np.testing.assert_array_equal(one.shift_p_values, shift_p_value(one.pooled()))


def passes_by_chance(sizes, passes, labels):
    """Labelled passes and their probability, over items and rows that labels may fall on."""
    found = {0: 1.0}
    for size in set(sizes):
        mine = [i for i, n in enumerate(sizes) if n == size]
        orders = list(itertools.permutations([labels[i] for i in mine]))
        total = {}
        for order in orders:
            ways = {0: 1.0 / len(orders)}
            for i, m in zip(mine, order, strict=True):
                rows = [1] * passes[i] + [0] * (size - passes[i])
                drawn = [sum(one) for one in itertools.combinations(rows, m)]
                ways = added(ways, {k: drawn.count(k) / len(drawn) for k in set(drawn)})
            for k, p in ways.items():
                total[k] = total.get(k, 0.0) + p
        found = added(found, total)
    return found


def added(one, other):
    both = {}
    for (a, p), (b, q) in itertools.product(one.items(), other.items()):
        both[a + b] = both.get(a + b, 0.0) + p * q
    return both


@pytest.mark.parametrize(
    ("sizes", "passes", "labels", "hits"),
    [
        ("222222", "220001", "220000", "220000"),  # whole items
        ("222222", "221000", "211000", "211000"),  # rows
        ("3332222", "3102001", "3102001", "3102001"),  # of two sizes
        ("3332222", "0330222", "3002000", "0000000"),
    ],
)
def test_the_p_value_is_that_of_all_ways_in_which_labels_can_fall(sizes, passes, labels, hits):
    sizes, passes, labels, hits = (list(map(int, one)) for one in (sizes, passes, labels, hits))
    cells = np.zeros((len(sizes), 3, 2), int)
    for i, (n, k, m, a) in enumerate(zip(sizes, passes, labels, hits, strict=True)):
        cells[i] = [[0, 0], [m - a, a], [n - k - m + a, k - a]]
    ways = passes_by_chance(sizes, passes, labels)
    mean = sum(k * p for k, p in ways.items())
    far = abs(sum(hits) - mean)
    wanted = sum(p for k, p in ways.items() if abs(k - mean) >= far - 1e-9)
    (found,) = read(cells).shift_p_values
    assert wanted < 0.1
    assert found == pytest.approx(wanted, abs=4 * np.sqrt(wanted * (1 - wanted) / 5000) + 1 / 5000)


@pytest.mark.slow
def test_the_order_of_rows_and_how_they_are_counted_do_not_matter():
    log = items.simulate(systems=0.7, items=80, repeats=4, labelled=120, label="row", random_seed=3)
    passed = log["verdict"] == 1
    log["truth"] = log["truth"].where(passed | (log["item"] % 3 == 0))
    asked = {**RANDOM, "repeats": "system"}
    one = items.Items.from_frame(log, **asked).shift_p_values
    mixed = log.sample(frac=1, random_state=1).assign(item=lambda t: "x" + t["item"].astype(str))
    assert one == pytest.approx(items.Items.from_frame(mixed, **asked).shift_p_values)
    two = pd.concat([log.assign(system=name) for name in ("a", "b")])
    both = items.Items.from_frame(two, by="system", **asked).shift_p_values
    assert both == pytest.approx([one[0], one[0]])
