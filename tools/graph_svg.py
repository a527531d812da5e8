"""Draw a model's graph, as PyMC writes it in Mermaid, as SVG: no script, nothing fetched.

Random variables are round, shaded if observed, and computed ones boxes; data are left out. Below
its name and distribution a variable has its dimensions. Layers go by the longest way from a root.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

NODE = re.compile(r"^(\w+)(?:\(\[|\[)(\w+) ~ ([^\])]+)")
NAME = re.compile(r"^(?!end$)\w+$")
SHAPE = re.compile(r"^(\w+)@\{ shape: (\w+) \}")
SHADED = re.compile(r"^style (\w+) fill")
EDGE = re.compile(r"^(\w+) --> (\w+)")
PLATE = re.compile(r'^subgraph "(.*)"')
#: Sizes in pixels: a letter, a line of text, the gaps between nodes and between layers.
LETTER, LINE, GAP, LAYER = 7.2, 15, 18, 96
BESIDE = 12.0  # what an edge on its way past a layer takes


@dataclass
class _Node:
    lines: list[str]
    shape: str = "rounded"
    observed: bool = False
    layer: int = 0
    x: float = 0.0
    width: float = field(default=BESIDE)


def svg(mermaid: str) -> str:
    """Turn the text of `pymc.model_to_mermaid` into an SVG picture.

    Parameters
    ----------
    mermaid : str
        Nodes, edges and plates, one a line.

    Returns
    -------
    str
        An ``<svg>`` element in the colour of the text around it.
    """
    nodes, edges = _read(mermaid)
    _set_layers(nodes, edges)
    ways = _split_long_edges(nodes, edges)
    _set_places(nodes, [step for way in ways for step in pairwise(way)])
    left = min(node.x - node.width / 2 for node in nodes.values()) - GAP
    right = max(node.x + node.width / 2 for node in nodes.values()) + GAP
    height = LAYER * (1 + max(node.layer for node in nodes.values()))
    size = f'viewBox="{left:.0f} 0 {right - left:.0f} {height}" width="{right - left:.0f}"'
    told = escape(", ".join(node.lines[0] for node in nodes.values() if node.lines))
    drawn = [_drawn_way([nodes[name] for name in way]) for way in ways]
    drawn += [_drawn_node(node) for node in nodes.values() if node.lines]
    return (
        f'<svg class="graph" role="img" aria-label="Graph of the model: {told}" {size} '
        'font-size="12" text-anchor="middle" '
        'fill="none" stroke="currentColor"><defs><marker id="tip" viewBox="0 0 8 8" refX="8" '
        'refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" '
        'fill="currentColor" stroke="none"/></marker></defs>' + "".join(drawn) + "</svg>"
    )


def _read(mermaid: str) -> tuple[dict[str, _Node], list[tuple[str, str]]]:
    """Variables, and edges between them; data are left out."""
    nodes: dict[str, _Node] = {}
    edges, plate = [], None
    for line in map(str.strip, mermaid.splitlines()):
        if found := PLATE.match(line):
            plate = re.sub(r" \(\d+\)", "", found[1]).replace(" x ", " × ")
        elif line == "end":
            plate = None
        elif plate and line in nodes:
            nodes[line].lines.append(f"[{plate}]")
        elif found := EDGE.match(line):
            edges.append((found[1], found[2]))
        elif found := SHAPE.match(line):
            nodes[found[1]].shape = found[2]
        elif found := SHADED.match(line):
            nodes[found[1]].observed = True
        elif found := NODE.match(line):
            kind = re.sub(r"(?<=CustomDist)_.*", "", found[3])
            nodes[found[1]] = _Node([found[2], *([] if kind == "Deterministic" else [f"~ {kind}"])])
        elif NAME.match(line):
            nodes[line] = _Node([line], shape="rect")
    nodes = {name: node for name, node in nodes.items() if node.shape != "db"}
    for node in nodes.values():
        node.width = LETTER * max(map(len, node.lines)) + 22
    return nodes, [edge for edge in edges if set(edge) <= set(nodes)]


def _set_layers(nodes: dict[str, _Node], edges: list[tuple[str, str]]) -> None:
    """Below all its parents; a root just above its first child."""
    for _ in nodes:
        for parent, child in edges:
            nodes[child].layer = max(nodes[child].layer, nodes[parent].layer + 1)
    for name in set(nodes) - {child for _, child in edges}:
        below = [nodes[child].layer for parent, child in edges if parent == name]
        nodes[name].layer = min(below, default=1) - 1


def _split_long_edges(nodes: dict[str, _Node], edges: list[tuple[str, str]]) -> list[list[str]]:
    """Each edge as a way from layer to layer, with a place in those that it passes."""
    ways = []
    for parent, child in edges:
        way = [parent]
        for layer in range(nodes[parent].layer + 1, nodes[child].layer):
            way.append(f"{parent}>{child}>{layer}")
            nodes[way[-1]] = _Node([], layer=layer)
        ways.append([*way, child])
    return ways


def _set_places(nodes: dict[str, _Node], steps: list[tuple[str, str]]) -> None:
    """Order each layer by the mean place of its neighbours, a few times up and down."""
    layers: dict[int, list[_Node]] = {}
    near: dict[int, list[_Node]] = {}
    for node in nodes.values():
        layers.setdefault(node.layer, []).append(node)
    for one, other in steps:
        near.setdefault(id(nodes[one]), []).append(nodes[other])
        near.setdefault(id(nodes[other]), []).append(nodes[one])
    for row in layers.values():
        _spread(row)
    for _ in range(12):
        for layer in sorted(layers):
            for node in layers[layer]:
                beside = [one.x for one in near.get(id(node), [])]
                node.x = sum(beside) / len(beside) if beside else node.x
            layers[layer].sort(key=lambda node: node.x)
            _spread(layers[layer])


def _spread(row: list[_Node]) -> None:
    """Put a layer side by side, as near to where its nodes want to be as the gaps let it."""
    wanted = sum(node.x for node in row) / len(row)
    at = wanted - sum(node.width + GAP for node in row) / 2
    for node in row:
        node.x = at + (node.width + GAP) / 2
        at += node.width + GAP


def _middle(node: _Node) -> float:
    return LAYER * (node.layer + 0.5)


def _half(node: _Node) -> float:
    return LINE * len(node.lines) / 2 + 7 if node.lines else 0


def _drawn_way(way: list[_Node]) -> str:
    """A curve, with a tip at the child."""
    path = f"M{way[0].x:.0f} {_middle(way[0]) + _half(way[0]):.0f}"
    for one, other in pairwise(way):
        start, end = _middle(one) + _half(one), _middle(other) - _half(other)
        bend = (start + end) / 2
        path += f"C{one.x:.0f} {bend:.0f} {other.x:.0f} {bend:.0f} {other.x:.0f} {end:.0f}"
    return f'<path d="{path}" opacity="0.7" marker-end="url(#tip)"/>'


def _drawn_node(node: _Node) -> str:
    """An ellipse or a box with its lines of text."""
    x, y, width, height = node.x, _middle(node), node.width, 2 * _half(node)
    round_ = height / 2 if node.shape == "rounded" else 3
    colour = "surface,#ddd" if node.observed else "background,#fff"
    top = y - LINE * (len(node.lines) / 2 - 0.75)
    text = "".join(
        f'<text x="{x:.0f}" y="{top + LINE * k:.0f}" fill="currentColor" stroke="none" '
        f'font-weight="{400 if k else 600}">{escape(line)}</text>'
        for k, line in enumerate(node.lines)
    )
    return (
        f'<rect x="{x - width / 2:.0f}" y="{y - height / 2:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" rx="{round_:.0f}" '
        f'style="fill:var(--pst-color-{colour})"/>{text}'
    )
