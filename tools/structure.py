"""Measure how the package is built, or draw its modules.

    python tools/structure.py              # the figures of this checkout
    python tools/structure.py ../other     # of another
    python tools/structure.py --picture    # draw modules and their imports in CONTRIBUTING.md

Files are read with `ast`; nothing is imported. An arrow is an import of one file by another, those
inside functions too. Levels are the longest way along the arrows, a circle (files that import each
other, directly or not) counted as one. Code is what is neither docstring, import, comment nor
blank. A name is used where it stands as a word in a command, a notebook, or code of the README or
of a page that somebody wrote.
"""

# ruff: noqa: D103
from __future__ import annotations

import argparse
import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median

PACKAGE = "bayesjudge"
#: Packages of which users import nothing.
INTERNAL = {f"{PACKAGE}.compiled"}
KINDS = ("code", "docstring", "imports", "comments", "blank")
Arrows = dict[str, set[str]]


def modules_of(root: Path) -> dict[str, Path]:
    """Every file of the package by its dotted name; a folder's own file has the folder's."""
    found = {}
    for path in sorted((root / PACKAGE).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def trees_of(root: Path) -> dict[str, ast.Module]:
    """Every file of the package, parsed."""
    return {name: ast.parse(path.read_text()) for name, path in modules_of(root).items()}


# Imports -----------------------------------------------------------------------------------------


def imports(tree: ast.AST, types: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """Import statements anywhere in a file, those under TYPE_CHECKING if `types`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif not types and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from (i for part in node.orelse for i in imports(part, types))
        else:
            yield from imports(node, types)


def arrows(trees: dict[str, ast.Module], types: bool = True) -> Arrows:
    """Which files each file imports."""
    found: Arrows = {}
    for name, tree in trees.items():
        targets = set()
        for node in imports(tree, types):
            if isinstance(node, ast.Import):
                targets |= {alias.name for alias in node.names}
            else:
                whole = {f"{node.module}.{alias.name}" for alias in node.names}
                # what is no file is a name inside the module
                targets |= {full if full in trees else str(node.module) for full in whole}
        found[name] = {target for target in targets if target in trees and target != name}
    return found


def components(graph: Arrows) -> list[set[str]]:
    """Files that import each other, by Tarjan's algorithm: those imported come first."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[set[str]] = []

    def visit(name: str) -> None:
        order[name] = low[name] = len(order)
        stack.append(name)
        for target in sorted(graph[name]):
            if target not in order:
                visit(target)
            if target in stack:
                low[name] = min(low[name], low[target])
        if low[name] == order[name]:
            cut = stack.index(name)
            found.append(set(stack[cut:]))
            del stack[cut:]

    for name in sorted(graph):
        if name not in order:
            visit(name)
    return found


def circles(graph: Arrows) -> list[list[str]]:
    """Files that import each other, directly or not."""
    return [sorted(part) for part in components(graph) if len(part) > 1]


def levels(graph: Arrows) -> int:
    """Count the files on the longest way along the arrows."""
    depth: dict[str, int] = {}
    for part in components(graph):
        below = {t for name in part for t in graph[name]} - part
        depth |= dict.fromkeys(part, 1 + max((depth[t] for t in below), default=0))
    return max(depth.values(), default=0)


def within(graph: Arrows, folder: str) -> Arrows:
    """Keep the files of a folder, its ``__init__.py`` too."""
    own = {name for name in graph if f"{name}.".startswith(f"{folder}.")}
    return {name: graph[name] & own for name in own}


# Lines and names ---------------------------------------------------------------------------------


def lines(path: Path, tree: ast.Module) -> Counter[str]:
    """Lines of a file by kind."""
    kind: dict[int, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            kind |= dict.fromkeys(range(node.lineno, (node.end_lineno or 0) + 1), "imports")
        body = getattr(node, "body", None)
        # a string that stands alone: a docstring, or documents what is above it
        for part in body if isinstance(body, list) else []:
            if isinstance(part, ast.Expr) and isinstance(getattr(part.value, "value", None), str):
                kind |= dict.fromkeys(range(part.lineno, (part.end_lineno or 0) + 1), "docstring")
    found: Counter[str] = Counter()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        text = line.strip()
        plain = "blank" if not text else "comments" if text.startswith("#") else "code"
        found[kind.get(number, plain)] += 1
    return found


def exported(tree: ast.Module) -> list[str]:
    """Names in ``__all__``, those added to it too."""
    return [
        name.value
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign)
        if "__all__" in ast.unparse(getattr(node, "targets", [getattr(node, "target", node)])[0])
        for name in ast.walk(node.value or node)
        if isinstance(name, ast.Constant) and isinstance(name.value, str)
    ]


def words_of_users(root: Path) -> set[str]:
    """Words of commands and notebooks, and of code in the README and in pages that people wrote."""
    texts = [path.read_text() for path in (root / PACKAGE / "cli").rglob("*.py")]
    texts += [path.read_text() for path in (root / "notebooks").glob("*.ipynb")]
    # docs/api and its like are made of the exports themselves
    written = (*(root / "docs").glob("*.md"), *(root / "docs" / "start").glob("*.md"))
    for page in (root / "README.md", *written):
        texts += re.findall(r"```.*?```|`[^`\n]+`", page.read_text(), flags=re.DOTALL)
    return {word for text in texts for word in re.findall(r"\w+", text)}


def unused_names(root: Path) -> dict[str, list[str]]:
    """By package, the exported names that no command, notebook or page uses."""
    words, found = words_of_users(root), {}
    for name, path in modules_of(root).items():
        if name in INTERNAL or path.name != "__init__.py":
            continue
        if names := exported(ast.parse(path.read_text())):
            found[name] = [one for one in names if one not in words]
    return found


def count_any(tree: ast.Module) -> int:
    """`Any` in annotations of parameters, results and variables."""
    notes = [
        getattr(node, name, None) for node in ast.walk(tree) for name in ("annotation", "returns")
    ]
    inside = (part for note in notes if note is not None for part in ast.walk(note))
    return sum(isinstance(part, ast.Name) and part.id == "Any" for part in inside)


# Output ------------------------------------------------------------------------------------------


def figures(root: Path) -> Iterator[str]:
    """Write one line a figure."""
    paths = modules_of(root)
    trees = trees_of(root)
    folders = Counter(str(path.parent.relative_to(root)) for path in paths.values())
    yield f"files: {len(paths)}"
    yield f"files a folder, most: {', '.join(f'{n} in {f}' for f, n in folders.most_common(3))}"
    for types in (True, False):
        graph = arrows(trees, types)
        found = circles(graph)
        yield f"TYPE_CHECKING {'counted' if types else 'left out'}:"
        yield f"  arrows {sum(map(len, graph.values()))}, levels {levels(graph)}"
        yield f"  circles {len(found)}{':' * bool(found)}"
        yield from (f"    {' <-> '.join(circle)}" for circle in found)
        for folder in sorted({name.rpartition(".")[0] for name in trees} - {"", PACKAGE}):
            own = within(graph, folder)
            told = f"arrows {sum(map(len, own.values()))}, levels {levels(own)}"
            yield f"  {folder}: files {len(own)}, {told}"
    by_file = [lines(path, trees[name]) for name, path in paths.items()]
    total = sum(by_file, Counter())
    told = ", ".join(f"{kind} {total[kind]}" for kind in KINDS)
    yield f"lines: {total.total()} ({told})"
    yield f"code lines a file, median: {median(found['code'] for found in by_file):g}"
    yield f"longest files: {', '.join(str(n) for n in sorted(f.total() for f in by_file)[-5:])}"
    unused = unused_names(root)
    for name, names in unused.items():
        yield f"exported by {name}: {len(exported(trees[name]))}, used by nobody: {len(names)}"
        if names:
            yield f"  {', '.join(names)}"
    yield f"exported names: {sum(len(exported(trees[name])) for name in unused)}"
    yield f"exported names used by nobody: {sum(map(len, unused.values()))}"
    yield f"Any in annotations: {sum(map(count_any, trees.values()))}"


def picture(root: Path) -> Iterator[str]:
    """Draw folders and their imports: an arrow that another way makes plain is left out."""
    graph: Arrows = {}
    for name, targets in arrows(trees_of(root)).items():
        top, others = (name.split(".")[1:2], [t.split(".")[1:2] for t in targets])
        if top:
            graph.setdefault(top[0], set()).update(o[0] for o in others if o and o != top)
    yield "graph TD"
    for name in sorted(graph):
        past: set[str] = set()
        ahead = [t for direct in graph[name] for t in graph.get(direct, ())]
        while ahead:
            one = ahead.pop()
            if one not in past:
                past.add(one)
                ahead += graph.get(one, ())
        yield f"    {name}"
        yield from (f"    {name} --> {target}" for target in sorted(graph[name] - past))


def with_picture(page: str, root: Path) -> str:
    """A page with the picture of the modules as it is now."""
    drawn = "\n".join(["```mermaid", *picture(root), "```"])
    new, found = re.subn(r"```mermaid\n.*?\n```", lambda _: drawn, page, flags=re.DOTALL)
    if found != 1:
        raise ValueError(f"a page with one picture was expected, this one has {found}")
    return new


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--picture", action="store_true", help="draw instead of measuring")
    asked = parser.parse_args()
    if asked.picture:
        page = asked.root / "CONTRIBUTING.md"
        page.write_text(with_picture(page.read_text(), asked.root))
    else:
        print("\n".join(figures(asked.root)))


if __name__ == "__main__":
    main()
