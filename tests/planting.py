"""Find an expression or a statement of a function, and put another in its place.

Both are compared as Python reads them, so that no formatting of the code moves them: quotes, line
breaks, parentheses that change nothing and comments do not count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

Node = ast.expr | ast.stmt
#: What cannot stand in parentheses of its own, and an expression that is a statement.
PARTS = (ast.Slice, ast.Starred, ast.FormattedValue, ast.Expr)


def put(source: str, function: str, text: str, replacement: str) -> str:
    """The source with `replacement` for the place of `function` that reads like `text`.

    Parameters
    ----------
    source : str
        A file of Python.
    function : str
        ``Class.method``, the name of a class or function, or nothing for the whole file; where
        the text is there several times, which one follows: ``function#2``.
    text, replacement : str
        Expressions, or statements without a body of their own.

    Raises
    ------
    ValueError
        If the text is not there, or several times and the function does not say which one.
    """
    name, _, which = function.partition("#")
    tree = _tree(source)
    wanted, instead = _read(text), _read(replacement)
    roots = _named(tree, name) if name else [tree]
    alike = (n for root in roots for n in _nodes(root) if type(n) is type(wanted))
    reads = ast.unparse(wanted)
    found = [node for node in alike if ast.unparse(node) == reads]
    if not (which or len(found) == 1) or int(which or 1) > len(found):
        raise ValueError(f"{text!r} is {len(found)} times in {name or 'the file'}")
    if ast.unparse(instead) == reads:
        raise ValueError(f"{text!r} is replaced by itself")
    node = found[int(which or 1) - 1]
    begin, end = _span(source, node)
    # a call that is a statement may make way for one
    whole = isinstance(node, ast.stmt) or isinstance(instead, ast.stmt)
    return source[:begin] + (replacement if whole else f"({replacement})") + source[end:]


@lru_cache(maxsize=8)
def _tree(source: str) -> ast.Module:
    return ast.parse(source)


def _read(text: str) -> Node:
    """An expression, or a statement that is none."""
    (statement,) = ast.parse(text).body
    return statement.value if isinstance(statement, ast.Expr) else statement


def _named(tree: ast.AST, function: str) -> list[ast.AST]:
    """Every definition of that dotted name."""
    first, _, rest = function.partition(".")
    found: list[ast.AST] = []
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found += _named(node, function)
        elif node.name == first:
            found += _named(node, rest) if rest else [node]
    return found


def _nodes(node: ast.AST) -> Iterator[Node]:
    """Expressions and simple statements; an expression that is a statement comes once."""
    compound = hasattr(node, "body") and not isinstance(node, ast.IfExp | ast.Lambda)
    if isinstance(node, ast.expr | ast.stmt) and not isinstance(node, PARTS) and not compound:
        yield node
    for child in ast.iter_child_nodes(node):
        # neither the letters of an f-string nor how it writes a number are expressions
        letters = isinstance(node, ast.JoinedStr) and isinstance(child, ast.Constant)
        if not letters and child is not getattr(node, "format_spec", None):
            yield from _nodes(child)


def _span(source: str, node: Node) -> tuple[int, int]:
    """Where a node begins and ends, in letters; Python counts bytes of a line."""
    lines = source.splitlines(keepends=True)

    def at(line: int | None, column: int | None) -> int:
        before = sum(map(len, lines[: (line or 1) - 1]))
        return before + len(lines[(line or 1) - 1].encode()[:column].decode())

    return at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset)
