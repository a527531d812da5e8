"""Count the assertions of tests that hold phrases: ``python tools/phrases.py [FOLDER …]``.

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


def main(folders: list[str]) -> None:
    """Print the share by file, the most first, and of all."""
    files = sorted(file for folder in folders for file in Path(folder).rglob("test_*.py"))
    counts = {file: count(file) for file in files if file.name not in GOLDEN}
    for file, (every, phrases) in sorted(counts.items(), key=lambda one: -one[1][1])[:25]:
        print(f"{phrases:5d} of {every:5d}  {file}")
    every, phrases = (sum(column) for column in zip(*counts.values(), strict=True))
    print(f"{phrases:5d} of {every:5d}  {100 * phrases / every:.0f} %")


if __name__ == "__main__":
    main(sys.argv[1:] or ["tests"])
