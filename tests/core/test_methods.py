"""The table of methods: code tells them apart by their ids, and no other file knows a title."""

import ast
from pathlib import Path

import pytest

import bayesjudge as bj
from bayesjudge.core import methods

METHODS = [one for one in vars(methods).values() if isinstance(one, methods.Method)]
TAKEN_APART = {"startswith", "endswith", "removeprefix", "removesuffix", "partition", "split"}
FOLDER = Path(methods.__file__).parents[1]


def test_ids_are_unique():
    ids = [one.id for one in METHODS]
    assert len(set(ids)) == len(ids)


def asked(tree):
    """Constants that code compares with, looks up by, or takes apart a string with."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            yield from (node.left, *node.comparators)
        if isinstance(node, ast.Dict):
            yield from node.keys
        called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if called and node.func.attr in TAKEN_APART:
            yield from node.args


@pytest.mark.slow
def test_nothing_is_decided_by_the_title_of_a_method():
    titles = {one.title for one in METHODS} | {one.brief for one in METHODS} - {"Dirichlet"}
    for path in sorted(FOLDER.rglob("*.py")):
        code = path.read_text(encoding="utf-8")
        every = asked(ast.parse(code)) if any(title in code for title in titles) else ()
        parts = [part for one in every if one is not None for part in ast.walk(one)]
        said = {one.value for one in parts if isinstance(one, ast.Constant)}
        assert not {one for one in said if isinstance(one, str)} & titles, path


def test_a_method_of_ones_own_needs_a_name_only():
    made = bj.Estimate({"rate": (0.5, 0.4, 0.6)}, method="by hand", ci_prob=0.95, source="me")
    assert made.method == bj.Method("by hand", "by hand")
    assert made.method.rank < methods.JUDGE.rank  # it is quoted before the judge's own number
    assert methods.HUMAN_ONLY.rank < made.method.rank


def test_a_setting_has_an_id_and_a_title_of_its_own():
    one = methods.RESPONSE_SETS.variant("tracking", "judges tracking people", also_brief=True)
    assert (one.id, one.setting) == ("nuts-response-sets:tracking", "tracking")
    assert str(one) == "Bayesian (NUTS), response sets, judges tracking people"
    assert one.brief == "Bayesian (NUTS), judges tracking people"
    assert one.computed == "sampled"
