"""Nothing is decided by a sentence of our own: code asks ids and fields."""

import ast
import re
from pathlib import Path

import pytest

import bayesjudge as bj

PACKAGE = Path(bj.__file__).parent
#: Attributes that hold our sentences.
SENTENCES = {"message", "spelling", "sentence", "promise", "why", "note", "text"}
HOLDS_ONE = re.compile(rf"\.({'|'.join(SENTENCES)})\b")
READS = {
    *("startswith", "endswith", "split", "partition", "rpartition", "rsplit", "find", "index"),
    *("removesuffix", "removeprefix", "count"),
}


def reads_a_sentence(node):
    """A search in, or a split of, an attribute that holds a sentence."""
    if isinstance(node, ast.Compare) and any(isinstance(o, ast.In | ast.NotIn) for o in node.ops):
        return is_sentence(node.comparators[-1])
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    if isinstance(node.func.value, ast.Name) and node.func.value.id == "re":
        return any(map(is_sentence, node.args))
    return node.func.attr in READS and is_sentence(node.func.value)


def is_sentence(node):
    return isinstance(node, ast.Attribute) and node.attr in SENTENCES


@pytest.mark.slow
def test_no_code_reads_a_sentence_back():
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        name = str(path.relative_to(PACKAGE))
        code = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(code)) if HOLDS_ONE.search(code) else ():
            if reads_a_sentence(node):
                found.append(f"{name}:{node.lineno}: {ast.unparse(node)}")
    assert not found


def test_the_test_sees_such_code():
    seen = [
        "caution.text.startswith('x')",
        "'a' in error.message",
        "re.search('a', c.text)",
        "table.spelling.split('; ')",
    ]
    assert all(reads_a_sentence(ast.parse(one, mode="eval").body) for one in seen)
