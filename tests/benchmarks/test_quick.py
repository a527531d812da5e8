"""Every study runs: in its quick setting, with the data that it takes by default."""

import tempfile
from pathlib import Path

import pytest

from tools.quick import LONGEST, STUDIES, copy_of_benchmarks, quick_of, run

#: Compile or sample for longer than a quick setting may take, or have none of their own yet.
WITHOUT = {
    "attempts": "coverage",
    "bias": "real sbc zero_one",
    "core": "faults first_answer loo_choice mutants predictive preview",
    "decide": "power shopping",
    "judge": "card coverage selection thresholds where worth",
    "leaderboard": "coverage",
    "panel": "against_stan code_feedback correlated labels longer_steps priors sbc speed systems",
    "prevalence": "classes methods people sbc sbc_designs sbc_items sbc_pooling speed splits",
    "ratings": "best experiment hidden one_rating sbc scale varierr",
    "readers": "by_item fuzz scale",
    "repeats": "cutpoints exchangeability judges killed noise sbc stopping throughput",
    "rubric": "coverage",
}
LEFT = {f"{folder}/{name}.py" for folder, names in WITHOUT.items() for name in names.split()}
NAMES = {f"{path.parent.name}/{path.name}": path for path in STUDIES}


def test_each_study_has_a_quick_setting():
    assert {name for name, path in NAMES.items() if quick_of(path) is None} == LEFT


@pytest.fixture(scope="module")
def tree():
    with tempfile.TemporaryDirectory() as folder:
        yield copy_of_benchmarks(Path(folder))


@pytest.mark.study
@pytest.mark.parametrize("name", sorted(NAMES.keys() - LEFT))
def test_it_runs_and_is_quick(name, tree):
    code, seconds, printed = run(NAMES[name], tree, quick_of(NAMES[name]))
    assert code == 0, printed
    assert seconds < LONGEST
