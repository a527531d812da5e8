"""Studies run in their quick settings, with the data that they take by default."""

import re

import pytest

from tools.quick import QUICK, STUDIES, TOP, quick_of, run

NAMES = {f"{path.parent.name}/{path.name}": path for path in STUDIES if quick_of(path) is not None}
#: Studies that take longer than that, once compiled: each says so where its arguments stand.
SLOW = {"ratings/varierr.py", "repeats/cutpoints.py"}


def test_studies_have_quick_settings():
    every = {f"{path.parent.name}/{path.name}": path for path in STUDIES}
    assert every.keys() - NAMES.keys() == SLOW
    assert all("No quick setting:" in every[name].read_text() for name in SLOW)


def test_studies_of_the_sources_have_quick_settings():
    page = (TOP / "docs" / "sources.md").read_text()
    cited = set(re.findall(r"benchmarks/(\w+/\w+\.py)", page))
    assert len(cited) >= 9
    assert cited <= NAMES.keys()


@pytest.mark.study
@pytest.mark.parametrize("name", NAMES)
def test_it_runs_and_is_quick(name):
    code, seconds, printed = run(NAMES[name], quick_of(NAMES[name]))
    assert code == 0, printed
    assert seconds < QUICK
