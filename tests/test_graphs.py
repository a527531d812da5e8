"""Graphs of models on the site: every variable once, parents above children, nothing on another."""

import re
import sys
from itertools import combinations
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
sys.path.insert(0, str(TOP / "tools"))

from graph_svg import svg  # noqa: E402

GRAPHS = re.findall(
    r"^## (\S+)\n.*?```mermaid\n(.*?)```",
    (TOP / "docs" / "graphs" / "README.md").read_text(),
    re.MULTILINE | re.DOTALL,
)
BOX = re.compile(
    r'<rect x="(-?\d+)" y="(-?\d+)" width="(\d+)" height="(\d+)"[^>]*color-(\w+)'
    r"[^>]*/><text[^>]*>(\w+)</text>"
)
SMALL = """graph TD
prior[prior ~ Data]
prior@{ shape: db }
rate([rate ~ Beta])
rate@{ shape: rounded }
odds([odds ~ Deterministic])
odds@{ shape: rect }
passes([passes ~ Binomial])
passes@{ shape: rounded }
style passes fill:#757575
prior --> rate
rate --> odds
rate --> passes
subgraph "system (2)"
    rate
end
"""


def boxes(picture):
    """Left, top, width, height and colour of each variable."""
    return {m[6]: (*map(int, m.groups()[:4]), m[5]) for m in BOX.finditer(picture)}


def test_small_graph():
    picture = svg(SMALL)
    found = boxes(picture)
    assert set(found) == {"rate", "odds", "passes"}  # data are left out
    assert found["rate"][1] < found["passes"][1]
    assert {name: box[4] for name, box in found.items()} == {
        "rate": "background",
        "odds": "background",
        "passes": "surface",  # observed
    }
    assert "[system]" in picture
    assert picture.count("marker-end") == 2


@pytest.mark.parametrize(("name", "graph"), GRAPHS, ids=[name for name, _ in GRAPHS])
def test_graph_is_drawn_whole(name, graph):
    found = boxes(svg(graph))
    data = set(re.findall(r"^(\w+)@\{ shape: db \}", graph, re.MULTILINE))
    assert set(found) == set(re.findall(r"^(\w+)@\{ shape", graph, re.MULTILINE)) - data
    for parent, child in re.findall(r"^(\w+) --> (\w+)$", graph, re.MULTILINE):
        if {parent, child} <= set(found):
            assert found[parent][1] + found[parent][3] < found[child][1], (parent, child)
    for one, other in combinations(found.values(), 2):
        apart_x = one[0] + one[2] <= other[0] or other[0] + other[2] <= one[0]
        apart_y = one[1] + one[3] <= other[1] or other[1] + other[3] <= one[1]
        assert apart_x or apart_y


def test_modules_and_their_imports_are_drawn():
    text = (TOP / "CONTRIBUTING.md").read_text()
    picture = svg(re.search(r"```mermaid\n(.*?)```", text, re.DOTALL)[1])
    found = boxes(picture)
    assert {"core", "prevalence", "cli"} <= set(found)
    assert found["cli"][1] < found["prevalence"][1] < found["core"][1]
