"""What the top-level documents print runs as printed, and what they point at exists."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
FENCED = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)

each_document = pytest.mark.parametrize("name", DOCUMENTS)


def blocks(name):
    """Language, number of the first line, and text of each fenced block."""
    text = (TOP / name).read_text()
    for match in FENCED.finditer(text):
        yield match[1], text.count("\n", 0, match.start(2)) + 1, match[2]


def commands(text):
    """Yield the lines of a shell block that call the package, continued ones joined."""
    for line in text.replace("\\\n", " ").splitlines():
        command = line.strip().removeprefix("$ ")
        if command.startswith("bayesjudge "):
            yield command


@pytest.fixture
def shell(tmp_path):
    """Run a command in an empty folder, where ``bayesjudge`` is this checkout's."""
    bin_dir = tmp_path / "bin"
    bin_dir.mkdir()
    script = bin_dir / "bayesjudge"
    call = "import sys; from bayesjudge.cli import main; sys.exit(main())"
    script.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c '{call}' \"$@\"\n")
    script.chmod(0o755)
    env = os.environ | {
        "PATH": f"{bin_dir}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(TOP),
    }

    def run(command):
        return subprocess.run(
            command, shell=True, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300
        )

    return run


@pytest.mark.slow
def test_readme_runs_from_top_to_bottom(shell, tmp_path, monkeypatch, capsys):
    """A file that one block writes is there for the next; a block of text is what was printed.

    Commands for tables of the reader's own (``bash``) are run by tests/cli/test_first_try.py.
    """
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "readme"}
    ran = set()
    for language, line, text in blocks("README.md"):
        ran.add(language)
        if language == "python":
            capsys.readouterr()
            # empty lines in front make a traceback show the line in README.md
            exec(compile("\n" * (line - 1) + text, "README.md", "exec"), namespace)
        elif language == "text":
            assert capsys.readouterr().out == text
        elif language == "sh":
            for command in commands(text):
                done = shell(command)
                assert done.returncode == 0, f"README.md:{line}: {command}\n{done.stderr}"
    assert ran == {"python", "sh", "text", "bash"}


def test_numbers_that_the_readme_opens_with_are_those_that_it_prints():
    readme = (TOP / "README.md").read_text()
    opened = re.findall(r"(\d+) %", readme.split("\n\n")[1])
    printed = next(text for language, _, text in blocks("README.md") if language == "text")
    passed, good = re.search(r"judge passes (\d+) %", printed)[1], re.search(r"(\d+) %", printed)[1]
    assert opened == [passed, good]


@each_document
def test_make_targets_exist(name):
    targets = set(re.findall(r"^([a-z]+):", (TOP / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:`|^\$? ?)make ([a-z]+)", (TOP / name).read_text(), re.MULTILINE))
    assert named <= targets


@each_document
def test_links_inside_the_repository_lead_somewhere(name):
    text = FENCED.sub("", (TOP / name).read_text())
    links = {link for link in re.findall(r"\]\(([^)#\s]+)", text) if "://" not in link}
    assert not [link for link in links if not (TOP / link).exists()]


def test_readme_opens_with_the_two_commands():
    first = (TOP / "README.md").read_text().split("\n## ", 1)[0]
    assert "make demo" in first
    assert "make test" in first
