"""`make test` runs a third of the settings of slow tests; three thirds are all of them.

And of some tests one setting in so many is fast.
"""

from itertools import product
from types import SimpleNamespace

from conftest import pytest_collection_modifyitems as choose
from conftest import pytest_itemcollected as sort


def _kept(names, third):
    """Of tests called so, whose tier stands before a colon, those that run, and those left out."""
    items = [
        SimpleNamespace(
            nodeid=name, get_closest_marker=name.partition(":")[0].split("+").__contains__
        )
        for name in names
    ]
    left = []
    config = SimpleNamespace(
        getoption=lambda name: third,
        hook=SimpleNamespace(pytest_deselected=lambda items: left.extend(items)),
    )
    choose(config, items)
    return [item.nodeid for item in items], [item.nodeid for item in left]


NAMES = [
    *(f"slow:ten[{i}]" for i in range(10)),
    *(f"sampling:two[{i}]" for i in range(2)),
    "slow:alone",
    *(f"slow+every_setting:kept in a file[{i}]" for i in range(4)),
    *(f"sampling+own_model:{name}" for name in "abc"),
    *(f"fast[{i}]" for i in range(4)),
]


def test_each_test_runs_and_three_thirds_are_all():
    found = [_kept(NAMES, third)[0] for third in range(3)]
    for names in found:
        assert sum("own_model" in name for name in names) == 1
        tests = [
            {n.partition("[")[0] for n in some if "own_model" not in n} for some in (names, NAMES)
        ]
        assert tests[0] == tests[1]
        assert names == [name for name in NAMES if name in names]
        assert sum("ten" in name for name in names) in (3, 4)
    assert set().union(*found) == {*NAMES}
    assert sum(map(len, found)) == 10 + 3 + 3 * (1 + 1 + 4 + 4)


def test_what_is_left_out_is_counted_and_without_a_third_nothing_is():
    kept, left = _kept(NAMES, 0)
    assert sorted(kept + left) == sorted(NAMES)
    assert _kept(NAMES, None) == (NAMES, [])


def _is_slow(*indices, one_in=None, named=None, name=""):
    """Whether the setting of these values of each argument, of this name, is made slow."""
    marks, given = [], {"fast_one_in": one_in and (one_in,), "fast_named": named}
    sort(
        SimpleNamespace(
            get_closest_marker=lambda mark: given[mark] and SimpleNamespace(args=given[mark]),
            callspec=SimpleNamespace(indices=dict(enumerate(indices)), id=name),
            add_marker=marks.append,
        )
    )
    return marks == ["slow"]


def test_one_setting_in_so_many_is_fast_and_each_value_is_in_one():
    assert [_is_slow(i, one_in=3) for i in range(5)] == [False, True, True, False, True]
    fast = [(i, j) for i, j in product(range(3), range(6)) if not _is_slow(i, j, one_in=3)]
    assert len(fast) == 6
    assert [{*values} for values in zip(*fast, strict=True)] == [{*range(3)}, {*range(6)}]
    assert not _is_slow(1)


def test_settings_that_are_named_are_fast_and_the_others_slow():
    assert [_is_slow(named=("a", "b-1"), name=name) for name in ("a", "b", "b-1")] == [0, 1, 0]
