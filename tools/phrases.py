"""Count the assertions of tests that hold phrases, or the sentences in the package's code.

    python tools/phrases.py [FOLDER ...]           # assertions, by file
    python tools/phrases.py --package [CHECKOUT]   # strings of the code, here or of another time

A phrase is a string with three words or more between spaces, in an ``assert`` or in the ``match=``
of `pytest.raises` and `pytest.warns`: what a changed sentence breaks. Ids, lines of a shell and of
Python are none, and tests of the golden tier, which are of words, are not counted.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

WORD = re.compile(r"[A-Za-z]{2,}")
CODE = re.compile(r"--\w|^bayesjudge |\w=|\w\(|_\w+ ")
GOLDEN = {"test_golden.py", "test_screen_words.py"}


def assertions(tree: ast.AST) -> Iterator[ast.AST]:
    """Statements ``assert``, without their messages, and arguments ``match=``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            yield node.test
        elif isinstance(node, ast.keyword) and node.arg == "match":
            yield node.value


def holds_phrase(node: ast.AST) -> bool:
    """Whether a string of three words or more is in it."""
    strings = (one.value for one in ast.walk(node) if isinstance(one, ast.Constant))
    texts = (one for one in strings if isinstance(one, str) and not CODE.search(one))
    return any(sum(map(bool, map(WORD.search, one.split()))) > 2 for one in texts)


def count(file: Path) -> tuple[int, int]:
    """Assertions of a file, and those that hold a phrase."""
    found = [*assertions(ast.parse(file.read_text(encoding="utf-8")))]
    return len(found), sum(map(holds_phrase, found))


READS = {"startswith", "endswith", "removeprefix", "removesuffix", "split", "partition", "find",
         "index", "count", "match", "fullmatch", "search", "findall", "finditer", "sub", "replace",
         "compile"}  # fmt: skip
DECIDES = (ast.If, ast.IfExp, ast.For, ast.While, ast.ExceptHandler, ast.BoolOp, ast.comprehension)


def searched(tree: ast.AST) -> Iterator[ast.AST]:
    """What code compares, or looks for in a string."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            yield node
        called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if called and node.func.attr in READS:
            yield from node.args


def strings(tree: ast.AST) -> Iterator[str]:
    """Strings of the code, without docstrings."""
    documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if text and id(node) not in documents:
            yield node.value


def decisions(function: ast.AST) -> int:
    """Branches of a function, conditions inside expressions counted."""
    return sum(isinstance(node, DECIDES) for node in ast.walk(function))


def of_package(root: Path) -> None:
    """Print what code holds of sentences, and how many functions decide much."""
    from bayesjudge.core import methods

    known = (value for value in vars(methods).values() if isinstance(value, methods.Method))
    titles = {method.title for method in known if " " in method.title}
    files = {path: path.read_text(encoding="utf-8") for path in (root / "bayesjudge").rglob("*.py")}
    trees = {path: ast.parse(text) for path, text in files.items()}
    every = {path: [*strings(tree)] for path, tree in trees.items()}
    long = [text for texts in every.values() for text in texts if len(text.split()) > 2]
    asked = [node for tree in trees.values() for node in searched(tree) if holds_phrase(node)]
    functions = [(path, node) for path, tree in trees.items() for node in ast.walk(tree)
                 if isinstance(node, ast.FunctionDef)]  # fmt: skip
    many = [path for path, node in functions if decisions(node) > 10]
    most = max(decisions(node) for _, node in functions)
    print(f"sentences compared or searched: {len(asked)}")
    print(f"words of strings of three words or more: {sum(len(text.split()) for text in long):,}")
    knowing = [path for path, texts in every.items() if titles & {*texts}]
    print(f"files that hold a method's title: {len(knowing)}")
    of_commands = sum("cli" in path.parts for path in many)
    print(f"functions of more than 10 decisions: {len(many)}, {of_commands} in cli, most {most}")


def main(folders: list[str]) -> None:
    """Print the share by file, the most first, and of all."""
    if folders[:1] == ["--package"]:
        of_package(Path(*folders[1:]))
        return
    files = sorted(file for folder in folders for file in Path(folder).rglob("test_*.py"))
    counts = {file: count(file) for file in files if file.name not in GOLDEN}
    for file, (every, phrases) in sorted(counts.items(), key=lambda one: -one[1][1])[:25]:
        print(f"{phrases:5d} of {every:5d}  {file}")
    every, phrases = (sum(column) for column in zip(*counts.values(), strict=True))
    print(f"{phrases:5d} of {every:5d}  {100 * phrases / every:.0f} %")


if __name__ == "__main__":
    main(sys.argv[1:] or ["tests"])
