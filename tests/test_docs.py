"""The pages under docs run as printed, and every exported name has a use."""

import doctest
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
PAGES = sorted((TOP / "docs").glob("*.md"))
sys.path.insert(0, str(TOP / "tools"))

import draw_models  # noqa: E402
from structure import unused_names  # noqa: E402


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_runs_as_printed(page):
    text = page.read_text().replace("\n```", "\n\n```")  # the fence is no output
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
    examples = parser.get_doctest(text, {"__name__": "docs"}, page.name, str(page), 0)
    assert len(examples.examples) >= 5
    failed: list[str] = []
    runner.run(examples, out=failed.append)
    assert not failed, "".join(failed)


@pytest.mark.slow
def test_graphs_are_those_of_the_models():
    assert draw_models.PAGE.read_text() == draw_models.page()


def test_every_exported_name_is_used():
    """In a command, a notebook, the README or a page: else it is private, or goes."""
    assert not {module: names for module, names in unused_names(TOP).items() if names}
