"""Studies run in their quick settings, with the data that they take by default."""

import re
import tempfile
from pathlib import Path

import pytest

from tools.quick import LONGEST, STUDIES, TOP, copy_of_benchmarks, quick_of, run

QUICK = {f"{path.parent.name}/{path.name}": path for path in STUDIES if quick_of(path) is not None}


def test_studies_have_quick_settings():
    """Those without one compile or sample for longer, or wait for theirs: none may lose its own."""
    assert len(QUICK) >= 118


def test_studies_of_the_sources_have_quick_settings():
    page = (TOP / "docs" / "sources.md").read_text()
    cited = set(re.findall(r"benchmarks/(\w+/\w+\.py)", page))
    assert len(cited) >= 9
    assert cited <= QUICK.keys()


@pytest.fixture(scope="module")
def tree():
    with tempfile.TemporaryDirectory() as folder:
        yield copy_of_benchmarks(Path(folder))


@pytest.mark.study
@pytest.mark.parametrize("name", QUICK)
def test_it_runs_and_is_quick(name, tree):
    code, seconds, printed = run(QUICK[name], tree, quick_of(QUICK[name]))
    assert code == 0, printed
    assert seconds < LONGEST
